/* custom.c - see custom.h. */
#include "runtime/io/custom.h"

#include "runtime/base/clock.h"
#include "runtime/io/target.h"

#include <stdlib.h>
#include <time.h>

#define NAP_NS (STB_NS_PER_S / 10) /* how long nobody looks at stop */

bool stb_io_custom_needed(const struct stb_io_config *c)
{
	return c->n_sizes > 1 || c->trims || (c->random && c->skew.kind != STB_SKEW_NONE) || c->made || c->per_s > 0 || c->think_ns;
}

struct stb_io_custom *stb_io_custom_new(const struct stb_io_worker *w, uint64_t data_seed, const struct stb_rng *sizes, const struct stb_rng *arrival)
{
	const struct stb_io_config *c = w->config;
	struct stb_io_custom *x = stb_xcalloc(1, sizeof(*x));
	struct timespec now;

	x->several = c->n_sizes > 1;
	x->made = c->made;
	x->think_ns = c->think_ns;
	x->issued_ns = stb_xcalloc(w->depth, sizeof(*x->issued_ns));
	x->len = stb_xcalloc(w->depth, sizeof(*x->len));
	if (x->several)
		stb_sizes_init(&x->sizes, c->n_sizes, c->size_units, c->size_share, c->n_blocks, w->offsets.mode == STB_OFFSET_PERMUTED, sizes);
	if (x->made)
		stb_content_init(&x->content, c->verify, c->compress, c->bs_bytes, data_seed);
	/* later runs have later generations, also on a volume that outlives them; reboots in between too */
	clock_gettime(CLOCK_REALTIME, &now);
	x->first_generation = (uint64_t)now.tv_sec * STB_NS_PER_S + (uint64_t)now.tv_nsec;
	x->paced = c->per_s > 0;
	x->pace_bytes = c->per_s_bytes;
	x->mean_units = 1;
	if (x->pace_bytes) {
		x->mean_units = 0;
		for (uint32_t i = 0; i < c->n_sizes; i++)
			x->mean_units += c->size_share[i] * c->size_units[i] * c->bs_bytes;
	}
	if (x->paced)
		stb_pace_init(&x->pace, c->per_s, c->poisson, arrival);
	stb_io_custom_reset(x);
	return x;
}

void stb_io_custom_free(struct stb_io_custom *x)
{
	if (!x)
		return;
	free(x->issued_ns);
	free(x->len);
	free(x);
}

void stb_io_custom_reset(struct stb_io_custom *x)
{
	x->scheduled = x->skipped = 0;
	for (int d = 0; d < STB_N_DIRS; d++) {
		x->bytes[d] = 0;
		if (x->paced)
			stb_hist_init(&x->svc[d]);
	}
}

void stb_io_custom_start(struct stb_io_custom *x, uint64_t since_ns, uint64_t now)
{
	x->think_until = x->last_issue_ns = now;
	if (x->paced)
		stb_pace_start(&x->pace, since_ns, x->mean_units);
}

/* --- verify: which pass --- */

/* Whether the next I/O begins a pass. Verified workloads write each block once a pass: sequential or permuted. */
static bool at_pass(const struct stb_io_worker *w)
{
	if (w->offsets.mode == STB_OFFSET_SEQUENTIAL)
		return w->offsets.next[STB_WRITE] == 0;
	if (w->custom->several)
		return stb_sizes_at_pass(&w->custom->sizes);
	return w->offsets.next[0] == 0 || w->offsets.next[0] == w->offsets.n;
}

static bool covered(const struct stb_io_worker *w, uint64_t unit)
{
	const struct stb_offsets *o = &w->offsets;

	if (at_pass(w))
		return true;
	if (o->mode == STB_OFFSET_SEQUENTIAL)
		return unit < o->next[STB_WRITE];
	if (w->custom->several)
		return stb_sizes_covered(&w->custom->sizes, unit);
	return stb_perm_index(&o->perm, unit) < o->next[0];
}

uint64_t stb_io_custom_passes(const struct stb_io_worker *w)
{
	return w->custom->pass && !at_pass(w) ? w->custom->pass - 1 : w->custom->pass;
}

bool stb_io_custom_generation(const struct stb_io_worker *w, uint64_t unit, uint64_t *generation)
{
	const struct stb_io_custom *x = w->custom;
	const uint64_t pass = x->pass && !covered(w, unit) ? x->pass - 1 : x->pass;

	*generation = x->first_generation + pass;
	return pass > 0;
}

/* --- starting --- */

static bool is_verified(const struct stb_io_custom *x)
{
	return x->made && x->content.digest != STB_DIGEST_NONE;
}

static bool may_start(const struct stb_io_worker *w, uint64_t now)
{
	const struct stb_io_custom *x = w->custom;
	const bool busy = w->inflight || w->n_ready;

	if (x->think_ns && (busy || now < x->think_until))
		return false;
	if (x->paced && now < stb_pace_next(&x->pace))
		return false;
	/* A block's next generation is not written while its last one may be in flight. */
	return !(busy && is_verified(x) && at_pass(w));
}

static enum stb_dir pick_direction(struct stb_io_worker *w)
{
	if (w->config->trims)
		return STB_TRIM;
	if (w->read_below == 1ull << 53)
		return STB_READ;
	if (w->read_below == 0)
		return STB_WRITE;
	return (stb_rng_next(&w->mix) >> 11) < w->read_below ? STB_READ : STB_WRITE;
}

static void place(struct stb_io_worker *w, struct stb_io_req *r, uint32_t *units)
{
	struct stb_io_custom *x = w->custom;
	uint64_t at;

	if (is_verified(x) && at_pass(w)) {
		x->pass++;
		x->content.generation = x->first_generation + x->pass;
	}
	*units = 1;
	if (x->several)
		at = stb_sizes_next(&x->sizes, &w->offsets, (enum stb_dir)r->dir, units);
	else
		at = stb_offsets_next(&w->offsets, (enum stb_dir)r->dir);
	*units = (uint32_t)STB_MIN((uint64_t)*units, w->budget);
	r->offset = w->base + at * w->bs;
	r->len = *units * w->bs;
}

static void write_data(struct stb_io_worker *w, const struct stb_io_req *r)
{
	struct stb_io_custom *x = w->custom;

	if (x->made)
		stb_content_fill(&x->content, r->buf, r->offset, r->len);
	else
		stb_io_stamp(w, r);
	w->until_fsync--;
	w->until_fdatasync--;
	w->sync_due = w->until_fsync == 0 || w->until_fdatasync == 0;
}

static uint64_t start_one(struct stb_io_worker *w, uint64_t now)
{
	struct stb_io_custom *x = w->custom;
	const uint32_t slot = w->free[--w->n_free];
	struct stb_io_req *r = &w->reqs[slot];
	uint32_t units;

	r->dir = (uint8_t)pick_direction(w);
	r->buf = w->buffers + slot * w->stride;
	place(w, r, &units);
	if (r->dir == STB_WRITE)
		write_data(w, r);
	if (x->made || x->paced)
		now = stb_ticker_ns(w->ticker);
	r->start_ns = now;
	x->issued_ns[slot] = x->last_issue_ns = now;
	x->len[slot] = r->len;
	if (x->paced) {
		r->start_ns = stb_pace_next(&x->pace);
		stb_pace_take(&x->pace, x->pace_bytes ? r->len : 1);
	}
	w->ready[w->n_ready++] = slot;
	w->issued++;
	w->budget -= units;
	if (w->pass_left > units) {
		w->pass_left -= units;
		return now;
	}
	w->pass_left = w->pass_blocks;
	if (w->pass_blocks == UINT64_MAX)
		return now;
	stb_io_target_invalidate(w->fd, w->raw);
	return stb_ticker_ns(w->ticker);
}

void stb_io_custom_fill(struct stb_io_worker *w, uint64_t now)
{
	while (w->n_free && w->budget && !w->sync_due && may_start(w, now))
		now = start_one(w, now);
}

uint64_t stb_io_custom_next(const struct stb_io_worker *w)
{
	const struct stb_io_custom *x = w->custom;
	const bool busy = w->inflight || w->n_ready;
	uint64_t at = 0;

	if (!w->n_free || !w->budget || w->sync_due || (busy && (x->think_ns || (is_verified(x) && at_pass(w)))))
		return UINT64_MAX;
	if (x->think_ns)
		at = x->think_until;
	if (x->paced)
		at = STB_MAX(at, stb_pace_next(&x->pace));
	return at;
}

/* Instants are the ticker's, sleeping is the kernel's clock: spans are all that the two share. */
static void sleep_for(uint64_t span_ns)
{
	(void)stb_clock_sleep_until(stb_clock_ns() + span_ns);
}

uint64_t stb_io_custom_sleep(const struct stb_io_worker *w, uint64_t now, uint64_t until)
{
	if (until > now && until - now > NAP_NS) {
		sleep_for(NAP_NS);
		return stb_ticker_ns(w->ticker);
	}
	if (until > now && until - now > STB_IO_SPIN_NS)
		sleep_for(until - now - STB_IO_SPIN_NS);
	do {
		now = stb_ticker_ns(w->ticker);
	} while (now < until);
	return now;
}

void stb_io_custom_done(struct stb_io_worker *w, uint32_t slot, uint64_t now)
{
	struct stb_io_custom *x = w->custom;
	const uint8_t dir = w->reqs[slot].dir;

	x->bytes[dir] += x->len[slot];
	x->think_until = now + x->think_ns;
	if (x->paced)
		stb_hist_add(&x->svc[dir], now - x->issued_ns[slot]);
}

void stb_io_custom_close(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns)
{
	struct stb_io_custom *x = w->custom;
	/* A job that ends with its size has met its schedule when its last I/O started in time. */
	const uint64_t end = w->end == STB_IO_LOOP_SIZE ? x->last_issue_ns : STB_MIN(now, deadline_ns - 1);

	if (!x->paced)
		return;
	STB_ASSERT(x->pace.issued == w->issued);
	x->skipped = stb_pace_skipped(&x->pace, end, x->mean_units);
	x->scheduled = x->pace.issued + x->skipped;
}

void stb_io_custom_assert(const struct stb_io_worker *w)
{
	const struct stb_io_custom *x = w->custom;

	for (int d = 0; d < STB_N_DIRS; d++)
		STB_ASSERT(x->svc[d].count == (x->paced ? w->ok[d] : 0));
	STB_ASSERT(!x->paced || x->scheduled == w->issued + x->skipped);
}
