/*
 * rules_io.c - rules of io workloads. What an engine can do is data of the runtime (runtime/io/caps.def).
 */
#include "compiler/rules.h"
#include "runtime/io/skew.h"

#include <inttypes.h>
#include <string.h>

struct engine {
	const char *name;
	bool sync;
	uint64_t max_depth;
};

static const struct engine engines[] = {
#define STB_IO_ENGINE(sym, name_, sync_, max_depth_, direct_, needs_) { name_, sync_, max_depth_ },
#include "runtime/io/caps.def"
#undef STB_IO_ENGINE
};

static const struct engine *engine_of(const struct stb_eblock *w)
{
	for (size_t i = 0; i < STB_LEN(engines); i++) {
		if (stb_eattr_is(w, "ioengine", engines[i].name))
			return &engines[i];
	}
	return NULL;
}

static bool is_null(const struct stb_eblock *w)
{
	return stb_eattr_is(w, "ioengine", "null");
}

static bool is_raw(const struct stb_rules_run *r)
{
	return stb_eattr_is(r->s->volume, "filesystem", "none");
}

static void depth_of_sync_engine(struct stb_rules_run *r)
{
	const struct stb_eattr *depth = stb_eattr(r->w, "iodepth"), *engine = stb_eattr(r->w, "ioengine");
	const struct engine *e = engine_of(r->w);
	struct stb_diag *d;

	if (!e || !e->sync || !depth || stb_eattr_u64(r->w, "iodepth", 1) <= 1)
		return;
	d = stb_find(r, STB_E0401, r->w, depth, r->w, engine, "`%s` cannot be had with `%s`", stb_attr_text(r, depth),
		stb_attr_text(r, engine));
	if (!d)
		return;
	stb_find_other(r, d, r->w, engine, "this engine does one I/O at a time");
	if (depth->origin == STB_FROM_LINE)
		stb_diag_fixit(r->x->sink, d, depth->span, "iodepth = 1");
	stb_diag_help(r->x->sink, d,
		"write iodepth = 1, or take ioengine = io_uring or libaio to have %" PRIu64 " in flight",
		stb_eattr_u64(r->w, "iodepth", 1));
}

static void depth_of_async_engine(struct stb_rules_run *r)
{
	const struct stb_eattr *depth = stb_eattr(r->w, "iodepth"), *engine = stb_eattr(r->w, "ioengine");
	const struct engine *e = engine_of(r->w);
	struct stb_diag *d;

	if (!e || e->sync || !depth || stb_eattr_u64(r->w, "iodepth", 1) <= e->max_depth)
		return;
	d = stb_find(r, STB_E0402, r->w, depth, r->w, engine, "`%s` is more than engine `%s` holds",
		stb_attr_text(r, depth), e->name);
	if (d)
		stb_diag_help(r->x->sink, d, "it holds up to %" PRIu64 " per job; more jobs hold more", e->max_depth);
}

static void direct_block_size(struct stb_rules_run *r)
{
	const struct stb_eattr *bs = stb_eattr(r->w, "bs"), *direct = stb_eattr(r->w, "direct");
	uint64_t n = stb_eattr_u64(r->w, "bs", 512);
	struct stb_diag *d;

	for (uint32_t i = 0; bs && i < bs->val.n_items && n % 512 == 0; i++)
		n = (uint64_t)bs->val.items[i].num;
	if (!stb_eattr_true(r->w, "direct") || n % 512 == 0)
		return;
	d = stb_find(r, STB_E0403, r->w, bs, r->w, direct,
		"`%s` (%" PRIu64 " bytes) is no multiple of 512, which direct I/O needs", stb_attr_text(r, bs), n);
	if (!d)
		return;
	stb_find_other(r, d, r->w, direct, "direct I/O is asked for here");
	if (n > 512 && n % 1000 == 0)
		stb_diag_help(r->x->sink, d, "4KB is 4000 bytes, 4KiB is 4096");
	stb_diag_note(r->x->sink, d, "devices with sectors of 4096 bytes need multiples of 4KiB");
}

/* Not that of a disk under a directory, which is known when the cell is run; a zram device always has blocks of this size. */
enum { ZRAM_BLOCK = 4096 };

static void block_of_zram(struct stb_rules_run *r)
{
	const struct stb_eattr *bs = stb_eattr(r->w, "bs"), *direct = stb_eattr(r->w, "direct"), *rw = stb_eattr(r->w, "rw");
	const bool trims = stb_io_trims(r->w);
	uint64_t n = stb_eattr_u64(r->w, "bs", ZRAM_BLOCK);
	struct stb_diag *d;

	for (uint32_t i = 0; bs && i < bs->val.n_items && n % ZRAM_BLOCK == 0; i++)
		n = (uint64_t)bs->val.items[i].num;
	if (strcmp(r->s->storage->block->type->type, "zram") || n % ZRAM_BLOCK == 0 || is_null(r->w) ||
		!(stb_eattr_true(r->w, "direct") ? n % 512 == 0 : trims && is_raw(r))) /* of others with direct, direct_block_size tells */
		return;
	d = stb_find(r, STB_E0403, r->w, bs, r->w, trims ? rw : direct, "`%s` is no multiple of %d bytes, the blocks of zram `%s`", stb_attr_text(r, bs),
		ZRAM_BLOCK, r->s->storage->block->name);
	if (!d)
		return;
	if (trims)
		stb_find_other(r, d, r->w, rw, "trims are made in blocks of the device");
	else
		stb_find_other(r, d, r->w, direct, "direct I/O is asked for here");
	stb_diag_help(r->x->sink, d, "write bs = 4KiB or a multiple of it");
}

static uint64_t least_bs(const struct stb_eblock *w)
{
	const struct stb_eattr *bs = stb_eattr(w, "bs");
	uint64_t least = stb_io_greatest_bs(w);

	for (uint32_t i = 0; bs && i < bs->val.n_items; i++) {
		if (bs->val.items[i].den == 1 && bs->val.items[i].num > 0)
			least = STB_MIN(least, (uint64_t)bs->val.items[i].num);
	}
	return least;
}

static void size_of_blocks(struct stb_rules_run *r)
{
	const struct stb_eattr *size = stb_eattr(r->w, "size"), *bs = stb_eattr(r->w, "bs");
	const uint64_t n = stb_eattr_u64(r->w, "size", 0), b = stb_io_greatest_bs(r->w);
	struct stb_diag *d;

	if (!size || !b || n % b == 0)
		return;
	if (bs->val.type == STB_V_LIST && n > b && !stb_io_permuted(r->w) && n % least_bs(r->w) == 0)
		return; /* the last I/O of a region is cut */
	d = stb_find(r, STB_E0404, r->w, size, r->w, bs, n < b ? "`%s` is smaller than one block of %s" :
		"`%s` is no multiple of %s", stb_attr_text(r, size), stb_attr_text(r, bs));
	if (!d)
		return;
	stb_find_other(r, d, r->w, bs, "the block");
	if (n > b)
		stb_diag_help(r->x->sink, d, "the nearest multiple below is %s",
			stb_bytes_text(r->x->arena, n / b * b));
}

static void async_buffered(struct stb_rules_run *r)
{
	const struct stb_eattr *engine = stb_eattr(r->w, "ioengine"), *direct = stb_eattr(r->w, "direct");
	const struct engine *e = engine_of(r->w);
	struct stb_diag *d;

	if (!e || e->sync || is_null(r->w) || stb_eattr_true(r->w, "direct"))
		return;
	d = stb_find(r, STB_W0405, r->w, engine, r->w, direct,
		"`%s` without direct works in the page cache, where the depth asked for is not reached",
		stb_attr_text(r, engine));
	if (!d)
		return;
	stb_find_other(r, d, r->w, direct, "direct is off");
	stb_diag_help(r->x->sink, d,
		"set direct = true to measure the device; compare depth_mean with iodepth in the results");
}

static void size_or_runtime(struct stb_rules_run *r)
{
	const struct stb_eattr *runtime = stb_eattr(r->w, "runtime"), *size = stb_eattr(r->w, "size");

	if (!runtime || !size || stb_eattr_true(r->w, "time_based"))
		return;
	stb_find(r, STB_N0406, r->w, runtime, r->w, size,
		"workload `%s` ends after %s per job or after %s, whichever is first; time_based = true keeps it going for the whole runtime",
		r->w->block->name, stb_val_label(r->x->arena, &size->val), stb_val_label(r->x->arena, &runtime->val));
}

static void time_based_runtime(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "time_based");
	struct stb_diag *d;

	if (!stb_eattr_true(r->w, "time_based") || stb_eattr(r->w, "runtime"))
		return;
	d = stb_find(r, STB_E0407, r->w, a, NULL, NULL, "`time_based = true` without a runtime never ends");
	if (d)
		stb_diag_help(r->x->sink, d, "state how long, for example runtime = 30s");
}

static void mix_of_one_direction(struct stb_rules_run *r)
{
	if (!stb_io_reads(r->w) || !stb_io_writes(r->w))
		stb_without_effect(r, STB_E0408, r->w, "rwmixread", r->w, "rw", "the workload has one direction only");
}

static void sync_of_reads(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "fsync", "fdatasync", "end_fsync", "sync" };

	for (size_t i = 0; i < STB_LEN(attrs) && !stb_io_writes(r->w); i++)
		stb_without_effect(r, STB_E0409, r->w, attrs[i], r->w, "rw", "the workload writes nothing");
}

static void random_of_sequential(struct stb_rules_run *r)
{
	if (stb_io_random(r->w))
		return;
	stb_without_effect(r, STB_E0410, r->w, "norandommap", r->w, "rw", "the offsets are sequential");
	stb_without_effect(r, STB_E0410, r->w, "randrepeat", r->w, "rw", "the offsets are sequential");
	stb_without_effect(r, STB_E0410, r->w, "random_distribution", r->w, "rw", "the offsets are sequential");
}

static void invalidate_direct(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "invalidate");

	if (a && a->origin != STB_FROM_DEFAULT && stb_eattr_true(r->w, "direct"))
		stb_find(r, STB_N0411, r->w, a, r->w, stb_eattr(r->w, "direct"),
			"`%s` of workload `%s` does nothing: direct I/O does not go through the page cache",
			stb_attr_text(r, a), r->w->block->name);
}

static void direct_tmpfs(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "direct");
	struct stb_diag *d;

	if (!stb_eattr_true(r->w, "direct") || is_null(r->w) || strcmp(r->s->storage->block->type->type, "tmpfs"))
		return;
	d = stb_find(r, STB_W0412, r->w, a, NULL, NULL, "direct I/O on tmpfs `%s` is refused by kernels before 6.6",
		r->s->storage->block->name);
	if (d)
		stb_diag_label(r->x->sink, d, r->s->storage->block->span, "memory has no device to go to directly");
}

static void file_of_raw(struct stb_rules_run *r)
{
	if (!is_raw(r))
		return;
	stb_without_effect(r, STB_E0414, r->w, "filename", r->s->volume, "filesystem", "the volume is a raw device");
	stb_without_effect(r, STB_E0414, r->w, "fallocate", r->s->volume, "filesystem", "the volume is a raw device");
}

static void fallocate_of_reads(struct stb_rules_run *r)
{
	if ((stb_io_reads(r->w) || stb_io_trims(r->w)) && !is_raw(r))
		stb_without_effect(r, STB_E0415, r->w, "fallocate", r->w, "rw",
			stb_io_trims(r->w) ? "a file that is trimmed is filled before it is measured" : "a file that is read is filled before it is measured");
}

static void jobs_of_raw(struct stb_rules_run *r)
{
	const struct stb_eattr *jobs = stb_eattr(r->w, "numjobs");
	struct stb_diag *d;

	if (!is_raw(r) || is_null(r->w) || stb_eattr_u64(r->w, "numjobs", 1) < 2 || stb_eattr_true(r->w, "shared_file"))
		return;
	d = stb_find(r, STB_E0416, r->w, jobs, r->s->volume, stb_eattr(r->s->volume, "filesystem"),
		"`%s` on a raw volume: all jobs meet on one device, and shared_file does not say that they may",
		stb_attr_text(r, jobs));
	if (d)
		stb_diag_help(r->x->sink, d, "set shared_file = true, or numjobs = 1");
}

static void jobs_total(struct stb_rules_run *r)
{
	const struct stb_eattr *jobs = stb_eattr(r->w, "numjobs"), *size = stb_eattr(r->w, "size");
	const uint64_t n = stb_eattr_u64(r->w, "numjobs", 1);

	if (n < 2 || !size || is_null(r->w) || is_raw(r))
		return;
	if (stb_eattr_true(r->w, "shared_file"))
		stb_find(r, STB_N0417, r->w, jobs, r->w, size,
			"the %" PRIu64 " jobs of workload `%s` share one file of %s; each goes over all of it", n,
			r->w->block->name, stb_bytes_text(r->x->arena, r->cost.file_bytes));
	else
		stb_find(r, STB_N0417, r->w, jobs, r->w, size,
			"the %" PRIu64 " jobs of workload `%s` have a file of %s each, %s together", n,
			r->w->block->name, stb_val_label(r->x->arena, &size->val),
			stb_bytes_text(r->x->arena, r->cost.file_bytes));
}

/* Also used for data sets: rules_oltp.c. */
void stb_rule_fits(struct stb_rules_run *r, const struct stb_eattr *size, const char *what, bool plural)
{
	struct stb_arena *a = r->x->arena;
	const struct stb_cost *c = &r->cost;
	const struct stb_eblock *limit = stb_eattr(r->s->volume, "size") ? r->s->volume : r->s->storage;
	struct stb_diag *d;

	if (c->have_bytes == STB_UNBOUNDED || (c->need_bytes <= c->have_bytes &&
		c->have_bytes - c->need_bytes >= c->reserve_bytes))
		return;
	d = stb_find(r, STB_E0418, r->w, size, limit, stb_eattr(limit, "size"),
		"%s of workload `%s` need%s %s, and %s `%s` has %s%s%s", what, r->w->block->name, plural ? "" : "s",
		stb_bytes_text(a, c->need_bytes), stb_kind_name(limit->block->kind), limit->block->name,
		stb_bytes_text(a, c->have_bytes), c->reserve_bytes ? " less a reserve of " : "",
		c->reserve_bytes ? stb_bytes_text(a, c->reserve_bytes) : "");
	if (!d)
		return;
	stb_find_other(r, d, limit, stb_eattr(limit, "size"), "the size is here");
	if (c->reserve_bytes)
		stb_diag_note(r->x->sink, d, "the reserve is what file system %s keeps for itself", stb_val_label(a,
			&stb_eattr(r->s->volume, "filesystem")->val));
	if (c->server_bytes)
		stb_diag_note(r->x->sink, d, "the data set takes %s, the server's own files %s",
			stb_bytes_text(a, c->dataset_bytes), stb_bytes_text(a, c->server_bytes));
}

static void fits_io(struct stb_rules_run *r)
{
	const bool files = stb_eattr_u64(r->w, "numjobs", 1) > 1 && !stb_eattr_true(r->w, "shared_file") && !is_raw(r);

	stb_rule_fits(r, stb_eattr(r->w, "size"), files ? "the files" : is_raw(r) ? "the region" : "the file", files);
}

/* --- sizes, engine, data --- */

static void sizes_and_shares(struct stb_rules_run *r)
{
	const struct stb_eattr *bs = stb_eattr(r->w, "bs"), *shares = stb_eattr(r->w, "bs_percent");
	const bool list = bs && bs->val.type == STB_V_LIST;
	struct stb_val sum = { .type = STB_V_SHARE, .den = 1 };
	struct stb_diag *d = NULL;

	if (!list && !shares)
		return;
	if (!list)
		d = stb_find(r, STB_E0490, r->w, shares, r->w, bs, "`%s` divides I/Os among sizes, and bs is one size", stb_attr_text(r, shares));
	else if (!shares)
		d = stb_find(r, STB_E0490, r->w, bs, NULL, NULL, "`%s` does not say how often each size is drawn", stb_attr_text(r, bs));
	else if (shares->val.n_items != bs->val.n_items)
		d = stb_find(r, STB_E0490, r->w, shares, r->w, bs, "bs has %u sizes, and bs_percent %u shares", bs->val.n_items,
			shares->val.n_items);
	else if (!stb_shares_sum(&shares->val, &sum) || sum.num != sum.den)
		d = stb_find(r, STB_E0490, r->w, shares, r->w, bs, "the shares of bs_percent add up to %s, not to 100%%",
			stb_val_text(r->x->arena, &sum));
	if (!d)
		return;
	if (list && shares)
		stb_find_other(r, d, r->w, bs, "the sizes");
	stb_diag_help(r->x->sink, d, list ? "write one share for each size, together 100%%: bs = [4KiB, 64KiB]  bs_percent = [70%%, 30%%]" :
		"write bs as a list, or leave bs_percent out");
}

/* Places are counted in the least size; a pass that touches each block once tiles the region with the greatest (runtime/io/sizes.h). */
static void sizes_of_each_other(struct stb_rules_run *r)
{
	const struct stb_eattr *bs = stb_eattr(r->w, "bs");
	const uint64_t least = least_bs(r->w), most = stb_io_greatest_bs(r->w);
	struct stb_diag *d;

	if (bs && bs->val.type == STB_V_LIST && bs->val.n_items > 64)
		stb_find(r, STB_E0490, r->w, bs, NULL, NULL, "bs has %u sizes; at most 64 are drawn from", bs->val.n_items);
	for (uint32_t i = 0; bs && least && i < bs->val.n_items; i++) {
		const uint64_t n = bs->val.items[i].den == 1 ? (uint64_t)bs->val.items[i].num : 0;
		const bool whole = n % least == 0;

		if (!n || (whole && (!stb_io_permuted(r->w) || most % n == 0)))
			continue;
		if (!whole)
			d = stb_find(r, STB_E0530, r->w, bs, NULL, NULL, "%s in `%s` is no multiple of the least size, %s",
				stb_bytes_text(r->x->arena, n), stb_attr_text(r, bs), stb_bytes_text(r->x->arena, least));
		else
			d = stb_find(r, STB_E0530, r->w, bs, r->w, stb_eattr(r->w, "norandommap"),
				"%s in `%s` does not divide the greatest size, %s: a pass cannot touch each block once",
				stb_bytes_text(r->x->arena, n), stb_attr_text(r, bs), stb_bytes_text(r->x->arena, most));
		if (d)
			stb_diag_help(r->x->sink, d, whole ? "take sizes that divide the greatest one, or set norandommap = true" :
				"I/Os of all sizes begin at multiples of the least one");
		return;
	}
}

static void batch_of_depth(struct stb_rules_run *r)
{
	const struct stb_eattr *batch = stb_eattr(r->w, "iodepth_batch"), *depth = stb_eattr(r->w, "iodepth");
	struct stb_diag *d;

	if (!batch || stb_eattr_u64(r->w, "iodepth_batch", 1) <= stb_eattr_u64(r->w, "iodepth", 1))
		return;
	d = stb_find(r, STB_E0491, r->w, batch, r->w, depth, "`%s` is more than `iodepth = %" PRIu64 "` ever has in flight",
		stb_attr_text(r, batch), stb_eattr_u64(r->w, "iodepth", 1));
	if (!d)
		return;
	stb_find_other(r, d, r->w, depth, "the depth");
	stb_diag_help(r->x->sink, d, "write iodepth_batch = %" PRIu64 " at most", stb_eattr_u64(r->w, "iodepth", 1));
}

static void ring_attributes(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "registerfiles", "fixedbufs", "sqpoll", "hipri" };

	for (size_t i = 0; i < STB_LEN(attrs) && !stb_eattr_is(r->w, "ioengine", "io_uring"); i++)
		stb_without_effect(r, STB_E0492, r->w, attrs[i], r->w, "ioengine", "only io_uring has a ring");
}

static void polled_buffered(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "hipri"), *direct = stb_eattr(r->w, "direct");
	struct stb_diag *d;

	if (!stb_eattr_true(r->w, "hipri") || stb_eattr_true(r->w, "direct") || !stb_eattr_is(r->w, "ioengine", "io_uring"))
		return;
	d = stb_find(r, STB_E0493, r->w, a, r->w, direct, "`hipri = true` without direct: the page cache has nothing to poll");
	if (!d)
		return;
	stb_find_other(r, d, r->w, direct, "direct is off");
	stb_diag_help(r->x->sink, d, "set direct = true");
}

enum { LEAST_VERIFIED = 128 }; /* runtime/io/content.h */

static void verify_impossible(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "verify"), *because = NULL;
	const char *why = NULL;
	struct stb_diag *d;

	if (!a || stb_eattr_is(r->w, "verify", "none")) {
		stb_without_effect(r, STB_E0494, r->w, "verify_fatal", r->w, "verify", "nothing is verified");
		return;
	}
	if (!stb_io_writes(r->w)) {
		because = stb_eattr(r->w, "rw");
		why = "the workload writes nothing that could be read back";
	} else if (stb_io_reads(r->w)) {
		because = stb_eattr(r->w, "rw");
		why = "which blocks are written, and which are read and keep what they had, is drawn";
	} else if (is_null(r->w)) {
		because = stb_eattr(r->w, "ioengine");
		why = "engine null moves no data";
	} else if (stb_eattr_true(r->w, "shared_file") && stb_eattr_u64(r->w, "numjobs", 1) > 1) {
		because = stb_eattr(r->w, "shared_file");
		why = "the jobs overwrite each other's blocks";
	} else if (stb_io_random(r->w) && stb_eattr_true(r->w, "norandommap")) {
		because = stb_eattr(r->w, "norandommap");
		why = "without a map blocks are overwritten in an order that nobody keeps";
	} else if (stb_io_random(r->w) && !stb_eattr_is(r->w, "random_distribution", "random")) {
		because = stb_eattr(r->w, "random_distribution");
		why = "blocks are overwritten in an order that nobody keeps";
	} else if (stb_eattr_u64(r->w, "error_limit", 0)) {
		because = stb_eattr(r->w, "error_limit");
		why = "after a write that failed nobody knows what its block holds";
	} else if (least_bs(r->w) < LEAST_VERIFIED) {
		because = stb_eattr(r->w, "bs");
		why = "the header of a block takes 80 bytes, and 128 are the least";
	}
	if (!why)
		return;
	d = stb_find(r, STB_E0494, r->w, a, r->w, because, "`%s` cannot work: %s", stb_attr_text(r, a), why);
	if (d && because)
		stb_find_other(r, d, r->w, because, "because of this");
}

static void verify_off(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "verify");

	if (stb_io_writes(r->w) && !is_null(r->w) && stb_eattr_is(r->w, "verify", "none"))
		stb_find(r, STB_N0491, r->w, a, NULL, NULL, "what workload `%s` writes is not read back and compared: verify is off",
			r->w->block->name);
}

static void offset_of_blocks(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "offset"), *bs = stb_eattr(r->w, "bs");
	const uint64_t n = stb_eattr_u64(r->w, "offset", 0);
	uint64_t b = stb_eattr_u64(r->w, "bs", 0);
	struct stb_diag *d;

	for (uint32_t i = 0; bs && i < bs->val.n_items; i++) {
		if (!b || n % b == 0)
			b = (uint64_t)bs->val.items[i].num;
	}
	if (!n || !b || n % b == 0)
		return;
	d = stb_find(r, STB_E0527, r->w, a, r->w, bs, "`%s` is no multiple of a block of %s", stb_attr_text(r, a),
		stb_bytes_text(r->x->arena, b));
	if (!d)
		return;
	stb_find_other(r, d, r->w, bs, "the block");
	stb_diag_help(r->x->sink, d, "blocks are aligned to their size; the nearest multiple below is %s",
		stb_bytes_text(r->x->arena, n / b * b));
}

static void attributes_without_effect(struct stb_rules_run *r)
{
	static const char *const data[] = { "refill_buffers", "buffer_compress_percentage" };
	static const char *const access[] = { "direct", "invalidate" };
	static const char *const files[] = { "fallocate", "fsync", "fdatasync", "end_fsync", "sync" }; /* of reads: E0415, E0409 */

	for (size_t i = 0; i < STB_LEN(access) && is_null(r->w); i++)
		stb_without_effect(r, STB_E0528, r->w, access[i], r->w, "ioengine", "the engine null opens no file and moves nothing");
	for (size_t i = 0; i < STB_LEN(files) && is_null(r->w) && stb_io_writes(r->w); i++)
		stb_without_effect(r, STB_E0528, r->w, files[i], r->w, "ioengine", "the engine null writes nothing that could be laid out or synced");
	for (size_t i = 0; i < STB_LEN(data) && (!stb_io_writes(r->w) || is_null(r->w)); i++)
		stb_without_effect(r, STB_E0528, r->w, data[i], r->w, is_null(r->w) ? "ioengine" : "rw", "the workload writes nothing");
	if (stb_eattr_true(r->w, "time_based"))
		stb_without_effect(r, STB_E0528, r->w, "loops", r->w, "time_based", "the runtime ends the job, however often it went over its region");
}

static void trims(struct stb_rules_run *r)
{
	const struct stb_eattr *rw = stb_eattr(r->w, "rw"), *engine = stb_eattr(r->w, "ioengine"), *loops = stb_eattr(r->w, "loops"),
		*jobs = stb_eattr(r->w, "numjobs");
	const struct engine *e = engine_of(r->w);
	struct stb_diag *d = NULL;

	if (!stb_io_trims(r->w))
		return;
	stb_without_effect(r, STB_E0528, r->w, "direct", r->w, "rw", "a trim moves no data");
	stb_without_effect(r, STB_E0528, r->w, "invalidate", r->w, "rw", "a trim does not go through the page cache");
	if (e && !e->sync && !is_null(r->w))
		d = stb_find(r, STB_E0531, r->w, engine, r->w, rw, "`%s` cannot trim: the kernel trims one range at a time", stb_attr_text(r, engine));
	if (d)
		stb_diag_help(r->x->sink, d, "write ioengine = psync; more jobs have more trims in flight");
	if (stb_eattr_true(r->w, "time_based") || stb_eattr_u64(r->w, "loops", 1) > 1)
		stb_find(r, STB_W0493, r->w, stb_eattr_true(r->w, "time_based") ? stb_eattr(r->w, "time_based") : loops, r->w, rw,
			"workload `%s` trims the same blocks again and again, and only the first time there is something to discard", r->w->block->name);
	if (stb_eattr_u64(r->w, "numjobs", 1) < 2 || !stb_io_one_file(r->w))
		return;
	d = stb_find(r, STB_W0493, r->w, jobs, r->w, stb_eattr(r->w, "shared_file"),
		"each of the %" PRIu64 " jobs of workload `%s` trims every block of the %s that they share, and only the first finds something to discard",
		stb_eattr_u64(r->w, "numjobs", 1), r->w->block->name, is_raw(r) ? "device" : "file");
	if (!d)
		return;
	stb_find_other(r, d, r->w, stb_eattr(r->w, "shared_file"), "the jobs share it");
	stb_diag_help(r->x->sink, d, is_raw(r) ? "set numjobs = 1" : "give each job a file of its own, which is the default, or set numjobs = 1");
}

static void pauses_of_depth(struct stb_rules_run *r)
{
	const struct stb_eattr *depth = stb_eattr(r->w, "iodepth"), *pause = stb_eattr(r->w, "thinktime");

	if (pause && pause->val.num > 0 && depth && stb_eattr_u64(r->w, "iodepth", 1) > 1)
		stb_find(r, STB_W0494, r->w, pause, r->w, depth, "`%s` leaves one I/O in flight, whatever `%s` says: a job pauses after each",
			stb_attr_text(r, pause), stb_attr_text(r, depth));
}

static void distribution_repeats(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "random_distribution");

	if (a && stb_io_random(r->w) && !stb_eattr_is(r->w, "random_distribution", "random") && !stb_eattr_true(r->w, "norandommap"))
		stb_find(r, STB_N0492, r->w, a, NULL, NULL,
			"workload `%s` draws blocks more than once and may leave some out: `%s` works without a map, as norandommap does",
			r->w->block->name, stb_attr_text(r, a));
}

/* By the arithmetic with which the offsets are drawn. */
static void zones_of_blocks(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "random_distribution"), *size = stb_eattr(r->w, "size");
	const uint64_t bs = least_bs(r->w), n_blocks = bs ? stb_eattr_u64(r->w, "size", 0) / bs : 0;
	struct stb_skew_spec spec;
	struct stb_diag *d;
	uint32_t zone;

	if (!a || !a->val.str || !size || !n_blocks || !stb_io_random(r->w) || !stb_skew_parse(a->val.str, &spec) ||
		stb_skew_fits(&spec, n_blocks, &zone))
		return;
	d = stb_find(r, STB_E0532, r->w, a, r->w, size, "zone %u of workload `%s` has no block of its own: it covers %.4g%% of %" PRIu64 " block%s of %s",
		zone + 1, r->w->block->name, spec.region[zone] * 100, n_blocks, n_blocks == 1 ? "" : "s", stb_bytes_text(r->x->arena, bs));
	if (!d)
		return;
	stb_find_other(r, d, r->w, size, "the region of a job");
	stb_diag_help(r->x->sink, d, "make size larger or bs smaller, or give the zone a greater share of the region");
}

static void wraps(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "runtime"), *size = stb_eattr(r->w, "size");

	if (a && size && stb_eattr_true(r->w, "time_based"))
		stb_find(r, STB_N0494, r->w, a, r->w, size, "workload `%s` goes over its %s again and again for %s", r->w->block->name,
			stb_val_label(r->x->arena, &size->val), stb_val_label(r->x->arena, &a->val));
}

typedef void look_fn(struct stb_rules_run *r);

static look_fn *const table[] = {
#define LOOK_IO(look) look,
#define LOOK_OLTP(look)
#define LOOK_VOLUME(look)
#define LOOK_MIX(look)
#define LOOK_SERVER(look)
#define LOOK_DATABASE(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)
#include "compiler/rules.def"
#undef STB_RULE
};

void stb_rules_look_io(struct stb_rules_run *r)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		table[i](r);
}

void stb_rules_look_io_alone(struct stb_rules_run *r)
{
	static look_fn *const alone[] = {
		depth_of_sync_engine, depth_of_async_engine, direct_block_size, size_of_blocks, time_based_runtime, mix_of_one_direction, sync_of_reads,
		random_of_sequential, sizes_and_shares, sizes_of_each_other, batch_of_depth, ring_attributes, polled_buffered, verify_impossible,
		offset_of_blocks, stb_rule_two_rates, stb_rule_without_rate,
	};

	for (size_t i = 0; i < STB_LEN(alone); i++)
		alone[i](r);
}
