/*
 * cost.c - what a cell needs and takes: bytes, space and time, for the plan's head and for the rule that refuses what
 * does not fit.
 *
 * Estimates of a plan, the same on every machine, so they come from the constants below and never from a measurement:
 *
 *   layout, fill        200 MB/s   sequential writes of a modest SSD
 *   an unbounded pass   100 MB/s   an io workload with neither runtime nor time_based: its bytes at this rate
 *   loading             20,000 rows/s, 240 bytes a row with index (sysbench's rows in InnoDB pages that are 15/16 full)
 *   a transaction       500/s, where only events bound an oltp workload
 *   an empty server     48 MiB of system tables, undo and temporary space, and its redo log (100 MiB unless options say so)
 *   on other volumes    the redo log; a binary log as large as the data, and 1 MiB; 4 MiB of temporary files and 48 bytes a row for its index
 *   server              8 s to initialise, start and stop; a file system 1 s to make and mount, a directory 50 ms
 *   a copy              of data set and server files at the rate of a layout, and 3 s to stop and start
 *   reserve             ext4 10% (journal, inode tables, 5% for root), xfs 64 MiB and 2%, btrfs 64 MiB and 10%, otherwise none
 *   a replica           its own server, and the data once more
 *   a written statement 32 KiB: two pages, by way of the redo log and the doublewrite buffer
 *
 * All sums saturate: a spec may ask for more bytes than 64 bits count.
 */
#include "compiler/expand.h"
#include "runtime/base/clock.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t layout_per_s = 200000000, pass_per_s = 100000000, rows_per_s = 20000, row_bytes = 240,
	events_per_s = 500, sort_bytes = 48, binlog_base_bytes = 1u << 20, tmp_base_bytes = 4u << 20;
static const uint64_t server_base_bytes = 48u << 20, redo_bytes = 100u << 20, statement_bytes = 32u << 10;
static const uint64_t server_ns = 8 * STB_NS_PER_S, mkfs_ns = STB_NS_PER_S,
	restart_ns = 3 * STB_NS_PER_S, directory_ns = STB_NS_PER_S / 20;

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

/* The time that n things take at a rate per second. */
static uint64_t time_for(uint64_t n, uint64_t per_s)
{
	const unsigned __int128 ns = (unsigned __int128)n * STB_NS_PER_S / per_s;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

bool stb_io_reads(const struct stb_eblock *w)
{
	return !stb_eattr_is(w, "rw", "write") && !stb_eattr_is(w, "rw", "randwrite") && !stb_eattr_is(w, "rw", "trim");
}

bool stb_io_writes(const struct stb_eblock *w)
{
	return !stb_eattr_is(w, "rw", "read") && !stb_eattr_is(w, "rw", "randread") && !stb_eattr_is(w, "rw", "trim");
}

bool stb_io_random(const struct stb_eblock *w)
{
	return stb_eattr_is(w, "rw", "randread") || stb_eattr_is(w, "rw", "randwrite") ||
		stb_eattr_is(w, "rw", "randrw");
}

bool stb_io_permuted(const struct stb_eblock *w)
{
	return stb_io_random(w) && !stb_eattr_true(w, "norandommap") && stb_eattr_is(w, "random_distribution", "random");
}

bool stb_io_trims(const struct stb_eblock *w)
{
	return stb_eattr_is(w, "rw", "trim");
}

static void raise(uint64_t *most, const struct stb_val *v)
{
	if (v->num > 0 && v->den > 0 && (uint64_t)v->num / (uint64_t)v->den > *most)
		*most = (uint64_t)v->num / (uint64_t)v->den;
}

uint64_t stb_io_greatest_bs(const struct stb_eblock *w)
{
	const struct stb_eattr *bs = stb_eattr(w, "bs");
	uint64_t most = 0;

	for (uint32_t i = 0; bs && i < bs->val.n_items; i++)
		raise(&most, &bs->val.items[i]);
	if (bs && bs->val.type == STB_V_BYTES)
		raise(&most, &bs->val);
	return most;
}

bool stb_oltp_writes(const struct stb_eblock *w)
{
	return !stb_eattr_is(w, "script", "point_select") && !stb_eattr_is(w, "script", "read_only") &&
		!stb_eattr_is(w, "script", "select_random_points") && !stb_eattr_is(w, "script", "select_random_ranges");
}

/* Scripts of one statement, which commits by itself. */
bool stb_oltp_single(const struct stb_eblock *w)
{
	return !stb_eattr_is(w, "script", "read_write") && !stb_eattr_is(w, "script", "read_only") &&
		!stb_eattr_is(w, "script", "write_only");
}

uint64_t stb_oltp_statements(const struct stb_eblock *w)
{
	const uint64_t tables = stb_eattr_u64(w, "tables", 1), transaction = stb_eattr_true(w, "skip_trx") ? 0 : 2;

	if (stb_eattr_is(w, "db_ps_mode", "disable") || stb_eattr_is(w, "script", "insert") ||
		stb_eattr_is(w, "script", "bulk_insert"))
		return 0;
	if (stb_eattr_is(w, "script", "select_random_points") || stb_eattr_is(w, "script", "select_random_ranges"))
		return 1; /* of the first table */
	if (stb_oltp_single(w))
		return tables;
	if (stb_eattr_is(w, "script", "read_only"))
		return add(mul(tables, 5), transaction);
	if (stb_eattr_is(w, "script", "write_only"))
		return add(mul(tables, 4), transaction);
	return add(mul(tables, 9), transaction);
}

const char *stb_bytes_text(struct stb_arena *a, uint64_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	const struct stb_val exact = stb_val_num(STB_V_BYTES, n > INT64_MAX ? INT64_MAX : (int64_t)n, 1);
	const char *text = stb_val_label(a, &exact);
	double v = (double)n;
	size_t u = 0;

	if (strspn(text, "0123456789") <= 4)
		return text;
	for (; v >= 1024 && u + 1 < STB_LEN(units); u++)
		v /= 1024;
	return stb_arena_printf(a, "%.1f%s (%" PRIu64 "B)", v, units[u], n);
}

/* --- io --- */

/* The time that a number of I/Os or bytes takes under a rate of one job, 0 where there is none. */
static uint64_t rated_ns(const struct stb_eblock *w, uint64_t bytes)
{
	const struct stb_eattr *iops = stb_eattr(w, "rate_iops"), *rate = stb_eattr(w, "rate");
	const uint64_t bs = STB_MAX(stb_io_greatest_bs(w), 1);
	long double s = 0;

	if (iops && iops->val.num > 0)
		s = (long double)(bytes / bs) * (long double)iops->val.den / (long double)iops->val.num;
	if (rate && rate->val.num > 0)
		s = STB_MAX(s, (long double)bytes * (long double)rate->val.den / (long double)rate->val.num);
	s *= STB_NS_PER_S;
	return s >= (long double)(UINT64_MAX / 2) ? UINT64_MAX : (uint64_t)s;
}

static void cost_io(const struct stb_scope *s, struct stb_cost *c)
{
	const struct stb_eblock *w = s->workload;
	const uint64_t jobs = stb_eattr_u64(w, "numjobs", 1), size = stb_eattr_u64(w, "size", 0);
	const bool raw = stb_eattr_is(s->volume, "filesystem", "none"), null = stb_eattr_is(w, "ioengine", "null");
	const uint64_t once = mul(size, jobs), loops = stb_eattr_u64(w, "loops", 1), moved = mul(once, loops),
		runtime = stb_eattr_u64(w, "runtime", 0),
		ramp = add(stb_eattr_u64(w, "ramp_time", 0), stb_eattr_u64(w, "steady_state.limit", 0)),
		offset = stb_eattr_u64(w, "offset", 0);
	const struct stb_eattr *mix = stb_eattr(w, "rwmixread");

	if (!null) {
		c->file_bytes = raw || stb_eattr_true(w, "shared_file") ? add(size, offset) : mul(add(size, offset), jobs);
		/* a raw volume that is said to be filled (prepare) is read as it is */
		c->layout_bytes = (stb_io_reads(w) || stb_io_trims(w)) && !(raw && stb_eattr(w, "prepare")) ? c->file_bytes : 0;
	}
	c->measure_ns = add(ramp, runtime ? runtime : STB_MAX(time_for(moved, pass_per_s), rated_ns(w, mul(size, loops))));
	if (!stb_io_writes(w) || null)
		c->write_bytes = 0;
	else if (stb_eattr_true(w, "time_based"))
		c->write_bytes = STB_UNBOUNDED;
	else if (stb_io_reads(w) && mix && mix->val.den > 0)
		c->write_bytes = (uint64_t)((double)moved * (1.0 - stb_val_double(&mix->val)));
	else
		c->write_bytes = moved;
}

/* --- oltp --- */

static uint64_t written_statements(const struct stb_eblock *w)
{
	if (!stb_oltp_writes(w))
		return 0;
	if (stb_eattr_is(w, "script", "update_index"))
		return stb_eattr_u64(w, "index_updates", 1);
	if (stb_eattr_is(w, "script", "update_non_index"))
		return stb_eattr_u64(w, "non_index_updates", 1);
	if (stb_oltp_single(w))
		return 1;
	return stb_eattr_u64(w, "index_updates", 1) + stb_eattr_u64(w, "non_index_updates", 1) +
		2 * stb_eattr_u64(w, "delete_inserts", 1);
}

static uint64_t redo_log_bytes(const struct stb_eblock *db)
{
	const struct stb_eattr *a = stb_eattr(db, "options.innodb_log_file_size");
	uint64_t n = 0;

	if (!a)
		a = stb_eattr(db, "options.innodb_redo_log_capacity");
	if (!a || !a->val.str)
		return redo_bytes;
	for (const char *p = a->val.str; *p >= '0' && *p <= '9'; p++)
		n = add(mul(n, 10), (uint64_t)(*p - '0'));
	return n;
}

static void cost_oltp(const struct stb_scope *s, struct stb_cost *c)
{
	const struct stb_eblock *w = s->workload;
	const uint64_t rows = mul(stb_eattr_u64(w, "tables", 1), stb_eattr_u64(w, "table_size", 0));
	const uint64_t time = stb_eattr_u64(w, "time", 0), events = stb_eattr_u64(w, "events", 0);
	const bool create = !stb_eattr_is(w, "dataset", "use");
	/* sysbench loads no rows for insert without auto_inc, and bulk_insert starts from tables of its own */
	const bool empty = stb_eattr_is(w, "script", "bulk_insert") ||
		(stb_eattr_is(w, "script", "insert") && !stb_eattr_true(w, "auto_inc"));

	if (create && !empty) {
		c->dataset_bytes = mul(rows, row_bytes);
		c->provision_ns = add(c->provision_ns, time_for(rows, rows_per_s));
	}
	if (!strcmp(s->database->block->type->type, "mysql")) {
		const uint64_t servers = 1 + stb_eattr_u64(s->database, "replicas", 0);

		c->redo_bytes = redo_log_bytes(s->database);
		c->binlog_bytes = add(c->dataset_bytes, binlog_base_bytes);
		c->tmp_bytes = add(tmp_base_bytes, create && !empty ? mul(rows, sort_bytes) : 0);
		c->server_bytes = add(server_base_bytes, stb_eattr(s->database, "redo_volume") ? 0 : c->redo_bytes);
		c->provision_ns = mul(add(c->provision_ns, server_ns), servers);
	}
	c->measure_ns = add(stb_eattr_u64(w, "warmup_time", 0), time ? time : time_for(events, events_per_s));
	if (!stb_oltp_writes(w))
		c->write_bytes = 0;
	else if (events)
		c->write_bytes = mul(mul(events, written_statements(w)), statement_bytes);
	else
		c->write_bytes = STB_UNBOUNDED;
}

/* --- the volume --- */

uint64_t stb_volume_bytes(const struct stb_eblock *volume, const struct stb_eblock *storage)
{
	return stb_eattr(volume, "size") ? stb_eattr_u64(volume, "size", 0) : stb_eattr_u64(storage, "size", STB_UNBOUNDED);
}

static void cost_volume(const struct stb_scope *s, struct stb_cost *c)
{
	c->have_bytes = stb_volume_bytes(s->volume, s->storage);
	if (!stb_is_block_class(s->storage)) {
		c->provision_ns = add(c->provision_ns, directory_ns);
		return;
	}
	if (c->have_bytes == STB_UNBOUNDED) {
		c->provision_ns = add(c->provision_ns, mkfs_ns);
		return;
	}
	if (stb_eattr_is(s->volume, "filesystem", "ext4")) {
		c->reserve_bytes = c->have_bytes / 10;
		c->mkfs_bytes = c->have_bytes / 64;
	} else if (stb_eattr_is(s->volume, "filesystem", "xfs")) {
		c->reserve_bytes = (64u << 20) + c->have_bytes / 50;
		c->mkfs_bytes = 64u << 20;
	} else if (stb_eattr_is(s->volume, "filesystem", "btrfs")) {
		c->reserve_bytes = add(64u << 20, c->have_bytes / 10);
		c->mkfs_bytes = 8u << 20;
	}
	c->provision_ns = add(c->provision_ns, mkfs_ns);
}

static void add_cost(struct stb_cost *to, const struct stb_cost *part)
{
	to->layout_bytes = add(to->layout_bytes, part->layout_bytes);
	to->dataset_bytes = add(to->dataset_bytes, part->dataset_bytes);
	to->file_bytes = add(to->file_bytes, part->file_bytes);
	to->server_bytes = STB_MAX(to->server_bytes, part->server_bytes);
	to->redo_bytes = STB_MAX(to->redo_bytes, part->redo_bytes);
	to->binlog_bytes = STB_MAX(to->binlog_bytes, part->binlog_bytes);
	to->tmp_bytes = STB_MAX(to->tmp_bytes, part->tmp_bytes);
	to->reserve_bytes = STB_MAX(to->reserve_bytes, part->reserve_bytes);
	to->mkfs_bytes = STB_MAX(to->mkfs_bytes, part->mkfs_bytes);
	to->have_bytes = STB_MIN(to->have_bytes, part->have_bytes);
	to->measure_ns = STB_MAX(to->measure_ns, part->measure_ns);
	to->write_bytes = add(to->write_bytes, part->write_bytes); /* STB_UNBOUNDED saturates */
	to->provision_ns = add(to->provision_ns, part->provision_ns);
}

bool stb_io_same_file(const struct stb_scope *a, const struct stb_scope *b)
{
	const struct stb_eattr *name = stb_eattr(a->workload, "filename");

	if (a->database || b->database || !a->volume || a->volume != b->volume)
		return false;
	return stb_eattr_is(a->volume, "filesystem", "none") ||
		(name && stb_eattr_is(b->workload, "filename", name->val.str) && stb_io_one_file(a->workload) == stb_io_one_file(b->workload));
}

bool stb_io_one_file(const struct stb_eblock *w)
{
	return stb_eattr_u64(w, "numjobs", 1) == 1 || stb_eattr_true(w, "shared_file");
}

/* Takes out of a part's costs what a part before it brings already: the server and its data set, the volume, the file. */
static void count_once(const struct stb_scope *s, uint32_t index, struct stb_cost *part)
{
	const struct stb_scope *of = s->parts[index];
	struct stb_cost before, volume = { .have_bytes = STB_UNBOUNDED };
	bool has_volume = false;

	for (uint32_t i = 0; i < index; i++) {
		const struct stb_scope *other = s->parts[i];

		if (other->database && other->database == of->database)
			part->provision_ns = part->dataset_bytes = 0;
		has_volume = has_volume || (other->volume && other->volume == of->volume);
		if (!stb_io_same_file(other, of))
			continue;
		stb_cost(other, &before);
		part->file_bytes -= STB_MIN(part->file_bytes, before.file_bytes);
		part->layout_bytes -= STB_MIN(part->layout_bytes, before.layout_bytes);
	}
	if (!has_volume || !of->storage || stb_on_external_database(of))
		return;
	cost_volume(of, &volume);
	part->provision_ns -= STB_MIN(part->provision_ns, volume.provision_ns);
}

/* What runs at the same time takes the time of the longest and the space of all. */
static void cost_mix(const struct stb_scope *s, struct stb_cost *c)
{
	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct stb_cost part;

		stb_cost(s->parts[i], &part);
		count_once(s, i, &part);
		add_cost(c, &part);
	}
	c->need_bytes = add(c->file_bytes, add(c->dataset_bytes, c->server_bytes));
}

/* Fills run once a provisioning, before anything is laid out: their time and what they write is provisioning's. */
static void cost_fills(const struct stb_scope *s, struct stb_cost *c)
{
	uint64_t written = 0;

	for (uint32_t i = 0; i < s->n_fills; i++) {
		struct stb_cost fill;

		stb_cost(s->fills[i], &fill);
		written = add(written, fill.write_bytes == STB_UNBOUNDED ? fill.file_bytes : fill.write_bytes);
		c->file_bytes = STB_MAX(c->file_bytes, fill.file_bytes);
		c->provision_ns = add(c->provision_ns, fill.measure_ns);
	}
	c->layout_bytes = STB_MAX(c->layout_bytes, written); /* what a fill wrote need not be laid out again */
}

/* What copying a loaded server's files takes. */
static void cost_copy(const struct stb_scope *s, struct stb_cost *c)
{
	const uint64_t servers = 1 + stb_eattr_u64(s->database, "replicas", 0), bytes = add(c->dataset_bytes, c->server_bytes);
	const uint64_t taken = add(c->need_bytes, c->reserve_bytes);

	if (c->have_bytes != STB_UNBOUNDED && (taken > c->have_bytes || c->have_bytes - taken < bytes))
		return;
	c->copy_bytes = bytes;
	c->restore_ns = mul(add(time_for(bytes, layout_per_s), restart_ns), servers);
}

void stb_cost(const struct stb_scope *s, struct stb_cost *c)
{
	const bool oltp = !strcmp(s->workload->block->type->type, "oltp");

	*c = (struct stb_cost){ .have_bytes = STB_UNBOUNDED };
	if (!strcmp(s->workload->block->type->type, "mix")) {
		cost_mix(s, c);
		return;
	}
	if (oltp)
		cost_oltp(s, c);
	else
		cost_io(s, c);
	/* The volume of an external database is a description: nothing is laid out on it by us. */
	if (s->volume && s->storage && !(oltp && strcmp(s->database->block->type->type, "mysql")))
		cost_volume(s, c);
	c->provision_ns = add(c->provision_ns, time_for(c->layout_bytes, layout_per_s));
	cost_fills(s, c);
	c->need_bytes = add(c->file_bytes, add(c->dataset_bytes, c->server_bytes));
	if (oltp && !strcmp(s->database->block->type->type, "mysql") && !stb_eattr_is(s->workload, "dataset", "use"))
		cost_copy(s, c);
}
