/*
 * loop.c - the measured loop. No logging, no allocation, no lock; the only shared line written is the worker's own stb_live.
 *
 *     fill:    free slots -> offset, direction, stamp -> ready          one function of a few, chosen in prepare; custom.c has the unusual ones
 *     submit:  the engine gets all that is ready, in parts              a clock read before each, unless nothing is in flight
 *     reap:    at least iodepth_batch of them come back                 a clock read after it
 *     collect: account each completion; publish
 *
 * The clock is read once or twice a turn, never once an I/O: the completion time of what was reaped is the start of what is filled next. With
 * psync a turn is one I/O, so its latency runs from the end of the I/O before (some 20 ns of our own work are in it); with an asynchronous
 * engine a batch shares its stamps. The three latencies:
 *
 *     start -------- slat -------- issue ---------------- clat ---------------- completion
 *     offset chosen                just before the system                       just after the call
 *                                  call that submits                            that reaped it
 *     <-------------------------------- lat ---------------------------------->
 *
 * fio's clat starts when io_submit or io_uring_enter has returned; here one call submits and waits, so issue is before it, and what fio counts
 * as slat of the call itself is part of clat. lat is the same in both. An I/O of psync or null is done within its submission: clat is lat, and there
 * is no slat (as with fio's psync).
 *
 * A part is four I/Os. A device that is told of many at once begins when the last one has been prepared, and its answers come in one lump, so
 * the more is handed over at once the longer it idles in between: on a virtio disk, depth 32, all at once gave 0.85 of the IOPS of one by one,
 * and parts of four gave the same IOPS as one by one for 0.8 of its CPU time. With iodepth_batch, what was waited for goes as a whole.
 *
 * Completions of one batch that share start and issue are counted together (one histogram update for all of them).
 *
 * What a step costs, for one 4 KiB I/O (AMD EPYC, 2.6 GHz, gcc -O2):
 *
 *     direction by threshold           1 ns   only with mixed rw
 *     offset                       1 - 15 ns   sequential or uniform; permuted
 *     stamp of written sectors         3 ns   16 bytes of each 512, in a buffer that stays in the cache
 *     three calls, engine and fill     4 ns   a turn
 *     the clock                       10 ns   rdtsc, a read (clock_gettime 25 ns)
 *     histograms                   3 - 9 ns   a group of equal completions
 *     counters, live                   2 ns   a turn
 *     the system call          400 ns and up
 *
 * Written data: every slot's buffer holds random bytes from prepare on, and each 512-byte sector of a write gets a fresh 16-byte stamp, so no
 * two sectors written are alike (nothing compresses or deduplicates) and the buffer stays in the cache. Rejected: a large pool with a rolling
 * offset, which writes the same few thousand blocks again and again and reads every one of them from memory.
 *
 * With depth 1 and an engine that keeps nothing in flight there is nothing to hand over and to wait for: singles() performs one I/O after the
 * other, with the same draws, stamps and accounts. It leaves what is not the rule (a short I/O, an error) to the turn. That takes 123 instructions
 * an I/O with the null engine instead of 400, and 166 with psync instead of 425 (tests/bench/instructions).
 *
 * fsync and fdatasync after every N writes: when N have been issued no more I/O is, the N complete, then the sync is made; so a sync covers
 * exactly the writes before it, and its latency is apart from theirs.
 */
#include "runtime/io/loop.h"

#include "runtime/base/clock.h"
#include "runtime/io/custom.h"
#include "runtime/io/target.h"

#include <errno.h>
#include <string.h>

#define SECTOR 512u
#define WAIT_NS STB_NS_PER_S               /* how long a turn sleeps before it looks at stop again */
#define SPELL_NS 50000u                    /* after as long a look at stop, and the counters are shown */
#define DRAIN_NS (60 * STB_NS_PER_S)       /* after the end, before what is in flight is cancelled */
#define CANCEL_NS (10 * STB_NS_PER_S)      /* after that, before we give up */

static void fail(struct stb_io_worker *w)
{
	uint32_t none = 0;

	w->end = STB_IO_LOOP_ERROR;
	atomic_compare_exchange_strong(&w->control->culprit, &none, w->index + 1);
	atomic_store_explicit(&w->control->abort, STB_IO_FAILED, memory_order_relaxed);
}

static inline bool told_to_stop(const struct stb_io_worker *w)
{
	return atomic_load_explicit(w->stop, memory_order_relaxed) | atomic_load_explicit(&w->control->abort, memory_order_relaxed);
}

/* How many of n I/Os may be filled before something that only happens now and then is due. */
static inline uint32_t lean_stretch(const struct stb_io_worker *w, uint64_t n)
{
	n = STB_MIN(n, w->budget);
	n = STB_MIN(n, w->pass_left);
	n = STB_MIN(n, w->until_fsync);
	return (uint32_t)STB_MIN(n, w->until_fdatasync);
}

/* Length and buffer of a slot never change here; direction only where directions are mixed. 1 for a write. */
static inline __attribute__((always_inline)) uint32_t draw(struct stb_io_worker *w, struct stb_io_req *r, uint64_t now,
	enum stb_offset_mode mode, bool mixed, bool stamps)
{
	if (mixed)
		r->dir = (stb_rng_next(&w->mix) >> 11) < w->read_below ? STB_READ : STB_WRITE;
	r->offset = w->base + stb_offsets_next_as(&w->offsets, mode, (enum stb_dir)r->dir) * w->bs;
	r->start_ns = now;
	if (!stamps || r->dir != STB_WRITE)
		return 0;
	stb_io_stamp(w, r);
	return 1;
}

/* n have been drawn, `writes` of them writes, within a stretch. Returns the clock, which the next I/O starts at. */
static inline __attribute__((always_inline)) uint64_t drawn(struct stb_io_worker *w, uint32_t n, uint32_t writes, uint64_t now, bool stamps)
{
	w->issued += n;
	w->budget -= n;
	w->until_fsync -= writes;
	w->until_fdatasync -= writes;
	w->sync_due = stamps && (w->until_fsync == 0 || w->until_fdatasync == 0);
	w->pass_left -= n;
	if (__builtin_expect(w->pass_left == 0, 0)) {
		stb_io_target_invalidate(w->fd, w->raw);
		w->pass_left = w->pass_blocks;
		now = stb_ticker_ns(w->ticker); /* not charged to the next I/O */
	}
	return now;
}

static inline __attribute__((always_inline)) void fill_lean(struct stb_io_worker *w, uint64_t now, enum stb_offset_mode mode, bool mixed,
	bool stamps)
{
	while (w->n_free && w->budget && !w->sync_due) {
		const uint32_t n = lean_stretch(w, w->n_free);
		const uint32_t *slots = w->free + (w->n_free - n);
		uint32_t *ready = w->ready + w->n_ready;
		uint32_t writes = 0;

		for (uint32_t i = 0; i < n; i++) {
			writes += draw(w, &w->reqs[slots[i]], now, mode, mixed, stamps);
			ready[i] = slots[i];
		}
		w->n_free -= n;
		w->n_ready += n;
		now = drawn(w, n, writes, now, stamps);
	}
}

static void reset_request(const struct stb_io_worker *w, uint32_t slot)
{
	struct stb_io_req *r = &w->reqs[slot];

	r->buf = w->buffers + slot * w->stride;
	r->len = w->bs;
}

/* --- what is not the rule --- */

static void blame_io(struct stb_io_worker *w, uint32_t slot, int errnum)
{
	static const char *const verbs[STB_N_DIRS] = { "read", "write", "trim" };
	const struct stb_io_config *c = w->config;
	const struct stb_io_req *r = &w->reqs[slot];
	const uint32_t asked = w->custom ? w->custom->len[slot] : w->bs;
	const char *verb = verbs[r->dir];
	const unsigned long long offset = r->offset - (asked - r->len);

	if (errnum)
		stb_err_set(&w->err, errnum, "cannot %s %u bytes at offset %llu of `%s` (workload `%s`)", verb, asked, offset, w->name,
			c->block->name);
	else
		stb_err_set(&w->err, 0, "short %s at offset %llu of `%s` (workload `%s`): expected %u bytes, got %u", verb, offset, w->name,
			c->block->name, asked, asked - r->len);
	if (errnum == EOPNOTSUPP && r->dir == STB_TRIM)
		stb_err_remedy(&w->err, "put the volume on a device or file system that can discard blocks");
	else if (errnum == EINVAL && w->direct)
		stb_err_remedy(&w->err, "bs must be a multiple of the logical block size under the volume (often 4096); or set direct = false");
	else if (errnum == EOPNOTSUPP && c->ring.hipri)
		stb_err_remedy(&w->err, "the device cannot be polled for completions: set hipri = false");
	else if (errnum == ENOSPC)
		stb_err_remedy(&w->err, "lower size or numjobs, or give the volume more room");
	else if (errnum == EIO)
		stb_err_remedy(&w->err, "see the kernel log; a loop image reports this when the file system under it is full");
	else if (!errnum)
		stb_err_remedy(&w->err, "the file became shorter during the run; see what else writes to it");
	stb_io_config_blame(c, "size", &w->err);
}

static inline void count(struct stb_io_worker *w, enum stb_dir dir, uint64_t start, uint64_t issue, uint64_t now, uint32_t n)
{
	stb_hist_add_n(&w->lat[dir], now - start, n);
	if (w->split) {
		stb_hist_add_n(&w->slat[dir], issue - start, n);
		stb_hist_add_n(&w->clat[dir], now - issue, n);
	}
	w->ok[dir] += n;
}

/* A completion that is not simply all of the bytes, or of a request that was submitted more than once. */
static __attribute__((noinline, cold)) void settle(struct stb_io_worker *w, uint32_t slot, int32_t res, uint64_t now)
{
	struct stb_io_req *r = &w->reqs[slot];
	const int errnum = res < 0 ? -res : 0;

	if (res > 0 && (uint32_t)res < r->len) {
		r->offset += (uint32_t)res;
		r->buf += res;
		r->len -= (uint32_t)res;
		/* A direct remainder that is not aligned would be refused with EINVAL and hide that the file has ended. */
		if (!w->direct || (uint32_t)res % SECTOR == 0) {
			w->ready[w->n_ready++] = slot;
			return;
		}
	}
	if (errnum == EAGAIN || errnum == EINTR) {
		w->ready[w->n_ready++] = slot;
		return;
	}
	w->free[w->n_free++] = slot;
	if (res > 0 && (uint32_t)res == r->len) { /* the remainder of a short one */
		count(w, (enum stb_dir)r->dir, r->start_ns, r->issue_ns, now, 1);
		if (w->custom)
			stb_io_custom_done(w, slot, now);
	} else if (errnum == ECANCELED) {
		w->cancelled++;
	} else {
		w->failed++;
		if (atomic_fetch_add_explicit(&w->control->failed, 1, memory_order_relaxed) + 1 > w->config->error_limit && !w->err.set) {
			blame_io(w, slot, errnum);
			fail(w);
		}
	}
	reset_request(w, slot);
}

static __attribute__((noinline, cold)) void engine_failed(struct stb_io_worker *w, int ret, const char *what)
{
	if (!w->err.set) {
		stb_err_set(&w->err, -ret, "engine `%s` cannot %s I/O of `%s` (workload `%s`)", w->config->engine->name, what, w->name,
			w->config->block->name);
		stb_err_remedy(&w->err, "try another ioengine, or a smaller iodepth");
		stb_io_config_blame(w->config, "ioengine", &w->err);
	}
	w->engine_broken = true;
	fail(w);
}

/* --- the rule --- */

static inline void collect(struct stb_io_worker *w, uint32_t n, uint64_t now)
{
	uint64_t start = 0, issue = 0;
	uint32_t alike = 0; /* so many with this start, issue and direction are yet to be counted */
	enum stb_dir dir = STB_READ;

	for (uint32_t i = 0; i < n; i++) {
		const struct stb_io_done d = w->done[i];
		const struct stb_io_req *r = &w->reqs[d.slot];

		if (__builtin_expect(d.res != (int32_t)w->bs, 0)) {
			settle(w, d.slot, d.res, now);
			continue;
		}
		if (r->start_ns != start || r->issue_ns != issue || r->dir != (uint8_t)dir) {
			if (alike)
				count(w, dir, start, issue, now, alike);
			alike = 0;
			start = r->start_ns;
			issue = r->issue_ns;
			dir = (enum stb_dir)r->dir;
		}
		alike++;
		w->free[w->n_free++] = d.slot;
	}
	if (alike)
		count(w, dir, start, issue, now, alike);
}

/* Of requests that differ in size, or whose starts are apart. */
static __attribute__((noinline)) void collect_custom(struct stb_io_worker *w, uint32_t n, uint64_t now)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_io_done d = w->done[i];
		const struct stb_io_req *r = &w->reqs[d.slot];

		if (d.res != (int32_t)w->custom->len[d.slot]) {
			settle(w, d.slot, d.res, now);
			continue;
		}
		count(w, (enum stb_dir)r->dir, r->start_ns, r->issue_ns, now, 1);
		stb_io_custom_done(w, d.slot, now);
		w->free[w->n_free++] = d.slot;
	}
}

static inline void publish(struct stb_io_worker *w)
{
	const uint64_t ops = w->ok[STB_READ] + w->ok[STB_WRITE] + w->ok[STB_TRIM];
	uint64_t bytes = ops * w->bs;

	if (__builtin_expect(w->custom != NULL, 0))
		bytes = w->custom->bytes[STB_READ] + w->custom->bytes[STB_WRITE] + w->custom->bytes[STB_TRIM];
	atomic_store_explicit(&w->live->ops, ops, memory_order_relaxed);
	atomic_store_explicit(&w->live->bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&w->live->errors, w->failed, memory_order_relaxed);
	if (__builtin_expect(w->tells_latency, 0))
		atomic_store_explicit(&w->live->lat_ns, (uint64_t)(w->lat[STB_READ].sum + w->lat[STB_WRITE].sum + w->lat[STB_TRIM].sum),
			memory_order_relaxed);
}

/* In parts, so that the device works on the first ones while the rest is handed over. False: the engine has failed. */
static inline bool submit(struct stb_io_worker *w)
{
	uint32_t at = 0;
	int ret = 0;

	while (at < w->n_ready) {
		const uint32_t *part = w->ready + at;
		const uint32_t n = STB_MIN(w->n_ready - at, w->part);

		if (w->split) {
			const uint64_t now = stb_ticker_ns(w->ticker);

			for (uint32_t i = 0; i < n; i++)
				w->reqs[part[i]].issue_ns = now;
		}
		ret = w->engine.ops->submit(&w->engine, part, n);
		if (__builtin_expect(ret != (int)n, 0)) {
			at += ret > 0 ? (uint32_t)ret : 0;
			break;
		}
		at += n;
	}
	w->n_ready -= at;
	w->inflight += at;
	if (__builtin_expect(w->n_ready, 0)) {
		memmove(w->ready, w->ready + at, w->n_ready * sizeof(*w->ready));
		if (ret < 0 || (ret == 0 && w->inflight == 0)) {
			engine_failed(w, ret < 0 ? ret : -EAGAIN, "submit");
			return false;
		}
	}
	return true;
}

/* Submits, reaps at least min (waiting for wait_ns at most), accounts. Returns the clock after the reap; an engine that fails sets w->end. */
static inline uint64_t turn(struct stb_io_worker *w, uint32_t min, uint64_t wait_ns)
{
	uint64_t now;
	int ret;

	if (w->n_ready && !submit(w))
		return stb_ticker_ns(w->ticker);
	ret = w->engine.ops->reap(&w->engine, w->done, min, w->depth, wait_ns);
	now = stb_ticker_ns(w->ticker);
	if (__builtin_expect(ret < 0, 0)) {
		engine_failed(w, ret, "reap");
		return now;
	}
	w->inflight -= (uint32_t)ret;
	if (__builtin_expect(w->custom != NULL, 0))
		collect_custom(w, (uint32_t)ret, now);
	else
		collect(w, (uint32_t)ret, now);
	publish(w);
	return now;
}

/* All writes before it are complete. Returns the clock afterwards. */
static uint64_t sync_now(struct stb_io_worker *w, uint64_t before)
{
	const bool data_only = w->until_fsync != 0; /* when both are due, fsync does the work of both */
	const int ret = w->engine.ops->sync(&w->engine, data_only);
	const uint64_t now = stb_ticker_ns(w->ticker);

	if (w->until_fsync == 0)
		w->until_fsync = w->fsync_every;
	if (w->until_fdatasync == 0)
		w->until_fdatasync = w->fdatasync_every;
	w->sync_due = false;
	if (ret < 0 && !w->err.set) {
		stb_err_set(&w->err, -ret, "cannot %s `%s` (workload `%s`)", data_only ? "fdatasync" : "fsync", w->name,
			w->config->block->name);
		stb_err_remedy(&w->err, "see the kernel log; a full or failing device shows here first");
		stb_io_config_blame(w->config, data_only ? "fdatasync" : "fsync", &w->err);
	}
	if (ret < 0)
		fail(w);
	else
		stb_hist_add(&w->sync, now - before);
	return now;
}

static void drop_ready(struct stb_io_worker *w)
{
	w->cancelled += w->n_ready;
	while (w->n_ready)
		w->free[w->n_free++] = w->ready[--w->n_ready];
}

/* Waits for what is in flight; what will not come is cancelled, and what will not even be cancelled makes the worker stuck. */
static uint64_t drain(struct stb_io_worker *w, uint64_t now)
{
	uint64_t limit = now + DRAIN_NS;
	bool cancelled = false;

	if (w->end == STB_IO_LOOP_ERROR)
		drop_ready(w);
	while (w->inflight || w->n_ready) {
		const bool broken = w->end == STB_IO_LOOP_ERROR;

		now = turn(w, w->batch, WAIT_NS);
		if (!broken && w->end == STB_IO_LOOP_ERROR)
			drop_ready(w);
		if (w->engine_broken)
			limit = STB_MIN(limit, now + STB_NS_PER_S);
		if (w->inflight == 0 || now < limit)
			continue;
		if (cancelled) {
			w->stuck = true;
			w->cancelled += w->inflight;
			if (!w->err.set)
				stb_err_set(&w->err, 0, "%u I/Os of `%s` (workload `%s`) have not come back after %llu s", w->inflight, w->name,
					w->config->block->name, (DRAIN_NS + CANCEL_NS) / STB_NS_PER_S);
			stb_err_remedy(&w->err, "see the kernel log for the device under the volume");
			fail(w);
			break;
		}
		drop_ready(w);
		w->engine.ops->cancel(&w->engine);
		cancelled = true;
		limit = now + CANCEL_NS;
	}
	return now;
}

/* What came of the only request is not simply all of its bytes: the turn goes on with it. */
static __attribute__((noinline, cold)) uint64_t odd_single(struct stb_io_worker *w, int32_t res, uint64_t now)
{
	w->n_free = 0;
	settle(w, 0, res, now);
	while (w->n_ready && w->end != STB_IO_LOOP_ERROR)
		now = turn(w, 1, WAIT_NS);
	return now;
}

/* Fills and performs one request after the other, until something else is due, for SPELL_NS at most. Returns the clock. */
static inline __attribute__((always_inline)) uint64_t singles(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns,
	enum stb_offset_mode mode, bool mixed, bool stamps)
{
	int32_t (*const perform)(struct stb_io_engine *, const struct stb_io_req *) = w->engine.ops->perform;
	const uint64_t until = STB_MIN(deadline_ns, now + SPELL_NS);
	const uint32_t n = lean_stretch(w, UINT32_MAX);
	struct stb_io_req *r = &w->reqs[0];
	uint32_t i = 0, writes = 0;
	int32_t res;

	if (n == 0)
		return now;
	do {
		const uint64_t start = now;

		writes += draw(w, r, start, mode, mixed, stamps);
		res = perform(&w->engine, r);
		now = stb_ticker_ns(w->ticker);
		i++;
		if (__builtin_expect(res != (int32_t)w->bs, 0))
			break;
		count(w, (enum stb_dir)r->dir, start, start, now, 1);
	} while (i < n && now < until);
	if (__builtin_expect(res != (int32_t)w->bs, 0))
		now = odd_single(w, res, now);
	now = drawn(w, i, writes, now, stamps);
	publish(w);
	return now;
}

/* Both, with what is known in prepare known to the compiler. */
#define WAYS(name, mode, mixed, stamps)                                                                      \
	static void fill_##name(struct stb_io_worker *w, uint64_t now)                                       \
	{                                                                                                    \
		fill_lean(w, now, (mode), (mixed), (stamps));                                                \
	}                                                                                                    \
	static uint64_t singles_##name(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns)          \
	{                                                                                                    \
		return singles(w, now, deadline_ns, (mode), (mixed), (stamps));                              \
	}

WAYS(seq_read, STB_OFFSET_SEQUENTIAL, false, false)
WAYS(seq_write, STB_OFFSET_SEQUENTIAL, false, true)
WAYS(seq_mixed, STB_OFFSET_SEQUENTIAL, true, true)
WAYS(uniform_read, STB_OFFSET_UNIFORM, false, false)
WAYS(uniform_write, STB_OFFSET_UNIFORM, false, true)
WAYS(uniform_mixed, STB_OFFSET_UNIFORM, true, true)
WAYS(permuted_read, STB_OFFSET_PERMUTED, false, false)
WAYS(permuted_write, STB_OFFSET_PERMUTED, false, true)
WAYS(permuted_mixed, STB_OFFSET_PERMUTED, true, true)

void stb_io_worker_choose(struct stb_io_worker *w)
{
#define BOTH(name) { fill_##name, singles_##name }
	static const struct {
		void (*fill)(struct stb_io_worker *w, uint64_t now);
		uint64_t (*singles)(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns);
	} ways[][3] = {
		[STB_OFFSET_SEQUENTIAL] = { BOTH(seq_read), BOTH(seq_write), BOTH(seq_mixed) },
		[STB_OFFSET_UNIFORM] = { BOTH(uniform_read), BOTH(uniform_write), BOTH(uniform_mixed) },
		[STB_OFFSET_PERMUTED] = { BOTH(permuted_read), BOTH(permuted_write), BOTH(permuted_mixed) },
	};
#undef BOTH
	const bool reads = w->read_below == STB_IO_ALWAYS, writes = w->read_below == 0;
	const int kind = reads ? 0 : writes ? 1 : 2;

	w->fill = stb_io_custom_fill;
	w->singles = NULL;
	if (!w->custom) {
		w->fill = ways[w->offsets.mode][kind].fill;
		if (w->depth == 1 && w->config->engine->ops->perform)
			w->singles = ways[w->offsets.mode][kind].singles;
	}
	for (uint32_t i = 0; i < w->depth; i++) {
		reset_request(w, i);
		w->reqs[i].dir = writes ? STB_WRITE : STB_READ;
	}
}

/* A turn under a schedule or with pauses: waits for completions and for the next start at the same time. */
static __attribute__((noinline)) uint64_t custom_turn(struct stb_io_worker *w, uint64_t deadline_ns)
{
	const uint64_t now = stb_ticker_ns(w->ticker), next = stb_io_custom_next(w), at = STB_MIN(next, deadline_ns);

	if (!w->n_ready && !w->inflight)
		return stb_io_custom_sleep(w, now, at);
	if (next == UINT64_MAX)
		return turn(w, w->batch, WAIT_NS);
	if (at <= now || at - now <= STB_IO_SPIN_NS)
		return turn(w, 0, 0);
	return turn(w, 1, STB_MIN(at - now - STB_IO_SPIN_NS, WAIT_NS));
}

void stb_io_loop(struct stb_io_worker *w, uint64_t deadline_ns, uint64_t budget, void (*on_drain)(struct stb_io_worker *w))
{
	uint64_t now = stb_ticker_ns(w->ticker);

	w->budget = budget;
	w->end = STB_IO_LOOP_TIME;
	if (w->custom)
		stb_io_custom_start(w->custom, w->since_ns, now);
	for (;;) {
		if (w->singles) {
			now = w->singles(w, now, deadline_ns);
		} else {
			w->fill(w, now);
			now = __builtin_expect(w->custom != NULL, 0) ? custom_turn(w, deadline_ns) : turn(w, w->batch, WAIT_NS);
		}
		if (w->sync_due && w->inflight == 0 && w->n_ready == 0)
			now = sync_now(w, now);
		if (w->end == STB_IO_LOOP_ERROR)
			break;
		if (w->budget == 0) {
			w->end = STB_IO_LOOP_SIZE;
			break;
		}
		if (now >= deadline_ns)
			break;
		if (told_to_stop(w)) {
			w->end = STB_IO_LOOP_STOPPED;
			break;
		}
	}
	if (w->custom)
		stb_io_custom_close(w, now, deadline_ns);
	if (on_drain)
		on_drain(w);
	now = drain(w, now);
	if (w->sync_due && !w->stuck && w->end != STB_IO_LOOP_ERROR)
		now = sync_now(w, now);
	publish(w);
	w->end_ns = now;
}

/* Histograms are zero at birth: one that has counted nothing need not be touched, and of 30 KiB little is. */
static void renew(struct stb_hist *h)
{
	if (h->count)
		stb_hist_init(h);
	else
		h->min = UINT64_MAX;
}

void stb_io_worker_reset(struct stb_io_worker *w)
{
	w->issued = w->failed = w->cancelled = 0;
	w->until_fsync = w->fsync_every;
	w->until_fdatasync = w->fdatasync_every;
	w->pass_left = w->pass_blocks;
	w->sync_due = false;
	for (int d = 0; d < STB_N_DIRS; d++) {
		w->ok[d] = 0;
		renew(&w->lat[d]);
		renew(&w->slat[d]);
		renew(&w->clat[d]);
	}
	renew(&w->sync);
	if (w->custom)
		stb_io_custom_reset(w->custom);
}

void stb_io_worker_assert(const struct stb_io_worker *w)
{
	uint64_t done = w->failed + w->cancelled;

	for (int d = 0; d < STB_N_DIRS; d++) {
		done += w->ok[d];
		STB_ASSERT(w->lat[d].count == w->ok[d]);
		STB_ASSERT(w->clat[d].count == (w->split ? w->ok[d] : 0) && w->slat[d].count == w->clat[d].count);
		STB_ASSERT(!w->split || w->lat[d].sum == w->slat[d].sum + w->clat[d].sum);
	}
	STB_ASSERT(w->issued == done);
	if (w->custom)
		stb_io_custom_assert(w);
}
