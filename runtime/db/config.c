/* config.c - workload oltp and data set from blocks of the plan; what they ask for is judged here once, before anything runs. */
#include "runtime/db/oltp.h"

#include "runtime/base/process.h"

#include <stdio.h>
#include <string.h>

/* The ids are INTEGER columns. */
#define MAX_TABLE_SIZE INT32_MAX
#define MAX_STATEMENTS 1000000
#define OWN_FILES 64 /* that this process has open beside the connections */
#define MIN_RATE 1e-3
#define MAX_RATE 1e9
#define MAX_NS ((uint64_t)INT64_MAX / 4) /* times are added to a clock */

struct reading {
	struct stb_reader r;
	const struct stb_plan_block *block;
	struct stb_err *err;
	bool failed;
};

/* The first attribute that cannot be is the one reported. */
static void refuse(struct reading *in, const char *name, const char *why)
{
	if (in->failed)
		return;
	if (stb_reader_fault(&in->r, in->err)) { /* what is refused now is its echo */
		in->failed = true;
		return;
	}
	const struct stb_plan_attr *a = stb_plan_attr(in->block, name);

	in->failed = true;
	stb_err_set(in->err, 0, "%s `%s` cannot be carried out: `%s` %s", in->block->kind, in->block->name, name, why);
	if (a && a->span != STB_NONE)
		in->err->span = a->span + 1;
}

static uint64_t read_count(struct reading *in, const char *name, uint64_t min, uint64_t max)
{
	const uint64_t v = stb_read_u64(&in->r, name);
	char why[96];

	if (v < min || v > max) {
		snprintf(why, sizeof(why), "is %llu, and must lie between %llu and %llu", (unsigned long long)v, (unsigned long long)min,
			(unsigned long long)max);
		refuse(in, name, why);
		return min;
	}
	return v;
}

static double read_number(struct reading *in, const char *name, double fallback, double min, double max)
{
	const double v = stb_read_double_or(&in->r, name, fallback);
	char why[96];

	if (v >= min && v <= max)
		return v;
	snprintf(why, sizeof(why), "is %g, and must lie between %g and %g", v, min, max);
	refuse(in, name, why);
	return fallback;
}

static void read_keys(struct reading *in, struct stb_dataset *d)
{
	struct stb_dist_shape *shape = &d->shape;

	if (!stb_dist_shape_of(shape, stb_read_str(&in->r, "rand_type"))) {
		(void)stb_dist_shape_of(shape, "uniform");
		refuse(in, "rand_type", "is none of uniform, gaussian, special, pareto, zipfian");
	}
	if (stb_read_has(&in->r, "rand_spec_iter"))
		shape->iter = (uint32_t)read_count(in, "rand_spec_iter", 1, 1000);
	shape->pct = 100 * read_number(in, "rand_spec_pct", shape->pct / 100, 0, 1);
	shape->res = 100 * read_number(in, "rand_spec_res", shape->res / 100, 0, 0.99);
	shape->h = read_number(in, "rand_pareto_h", shape->h, 0.001, 0.999);
	shape->exponent = read_number(in, "rand_zipfian_exp", shape->exponent, 0, 10);
	stb_dist_init(&d->keys, shape, d->table_size);
}

static void read_made(struct reading *in, struct stb_dataset *d)
{
	d->tables = (uint32_t)read_count(in, "tables", 1, STB_OLTP_MAX_TABLES);
	d->table_size = read_count(in, "table_size", 1, MAX_TABLE_SIZE);
	d->auto_inc = stb_read_bool(&in->r, "auto_inc");
	d->create_secondary = stb_read_bool(&in->r, "create_secondary");
	d->engine = stb_read_str(&in->r, "storage_engine");
	if (strlen(d->engine) > 32 || strspn(d->engine, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != strlen(d->engine) ||
		!d->engine[0])
		refuse(in, "storage_engine", "is no name of an engine");
	read_keys(in, d);
}

/* A data set names its script only where the tables depend on it. */
static void read_dataset(struct reading *in, struct stb_dataset *d)
{
	static const char *const not_bulk[] = {"tables", "table_size", "auto_inc", "create_secondary", "storage_engine", "rand_type"};
	const char *dataset = stb_read_str(&in->r, "dataset"), *script = stb_read_str_or(&in->r, "script", "");

	d->use = strcmp(dataset, "use") == 0;
	if (!d->use && strcmp(dataset, "create") != 0)
		refuse(in, "dataset", "is neither create nor use");
	d->bulk = strcmp(script, "bulk_insert") == 0;
	if (d->bulk) {
		d->tables = (uint32_t)read_count(in, "threads", 1, STB_OLTP_MAX_THREADS);
		for (uint32_t i = 0; i < STB_LEN(not_bulk); i++)
			stb_read_skip(&in->r, not_bulk[i]); /* check refuses to have them stated beside bulk_insert */
	} else {
		read_made(in, d);
	}
	d->empty = d->bulk || (strcmp(script, "insert") == 0 && !d->auto_inc);
}

int stb_dataset_read(struct stb_dataset *d, const struct stb_plan_block *dataset, struct stb_err *err)
{
	struct reading in = {.block = dataset, .err = err};

	memset(d, 0, sizeof(*d));
	stb_reader_init(&in.r, dataset);
	read_dataset(&in, d);
	if (in.failed)
		return -1;
	return stb_reader_done(&in.r, err);
}

static void read_script(struct reading *in, struct stb_oltp *o)
{
	static const char *const names[] = {[STB_POINT_SELECT] = "point_select", [STB_READ_ONLY] = "read_only",
		[STB_READ_WRITE] = "read_write", [STB_WRITE_ONLY] = "write_only", [STB_INSERT] = "insert", [STB_DELETE] = "delete",
		[STB_UPDATE_INDEX] = "update_index", [STB_UPDATE_NON_INDEX] = "update_non_index", [STB_RANDOM_POINTS] = "select_random_points",
		[STB_RANDOM_RANGES] = "select_random_ranges", [STB_BULK_INSERT] = "bulk_insert"};
	const char *script = stb_read_str(&in->r, "script");
	uint32_t i = 0;

	while (i < STB_LEN(names) && strcmp(names[i], script) != 0)
		i++;
	if (i == STB_LEN(names))
		refuse(in, "script", "is none of sysbench's scripts");
	else
		o->script = (enum stb_script)i;
}

/* Scripts that repeat one statement as often as its count says. */
static bool is_only(enum stb_script script, enum stb_sql sql)
{
	return (script == STB_UPDATE_INDEX && sql == STB_SQL_INDEX_UPDATE) || (script == STB_UPDATE_NON_INDEX && sql == STB_SQL_NON_INDEX_UPDATE);
}

/* Whether events are transactions: the other scripts run statements that commit by themselves. */
static bool has_transactions(enum stb_script script)
{
	return script == STB_READ_ONLY || script == STB_READ_WRITE || script == STB_WRITE_ONLY;
}

/* Every count is read, whatever the script: a count that the script does not use is no error here, and so counts as understood. */
static void read_counts(struct reading *in, struct stb_oltp *o)
{
	static const struct {
		const char *name;
		enum stb_sql sql;
		bool writes;
	} counts[] = {
		{"point_selects", STB_SQL_POINT, false},
		{"simple_ranges", STB_SQL_SIMPLE_RANGE, false},
		{"sum_ranges", STB_SQL_SUM_RANGE, false},
		{"order_ranges", STB_SQL_ORDER_RANGE, false},
		{"distinct_ranges", STB_SQL_DISTINCT_RANGE, false},
		{"index_updates", STB_SQL_INDEX_UPDATE, true},
		{"non_index_updates", STB_SQL_NON_INDEX_UPDATE, true},
		{"delete_inserts", STB_SQL_DELETE, true},
	};
	uint64_t statements = 0;

	for (uint32_t i = 0; i < STB_LEN(counts); i++) {
		const uint64_t n = read_count(in, counts[i].name, 0, MAX_STATEMENTS);
		const bool reads = o->script == STB_READ_ONLY || o->script == STB_READ_WRITE;
		const bool writes = o->script == STB_WRITE_ONLY || o->script == STB_READ_WRITE;

		if ((counts[i].writes ? writes : reads) || is_only(o->script, counts[i].sql))
			statements += o->count[counts[i].sql] = n;
	}
	if (o->script == STB_POINT_SELECT)
		statements = o->count[STB_SQL_POINT] = 1; /* sysbench's script forces it */
	if (o->script == STB_INSERT)
		statements = o->count[STB_SQL_INSERT] = 1;
	if (o->script == STB_DELETE)
		statements = o->count[STB_SQL_DELETE] = 1;
	if (o->script == STB_RANDOM_POINTS || o->script == STB_RANDOM_RANGES || o->script == STB_BULK_INSERT)
		statements = 1;
	if (statements == 0)
		refuse(in, "script", "has no statement left: every count that it uses is 0");
}

static void read_ignored(struct reading *in, struct stb_oltp *o)
{
	const struct stb_val *list = stb_read_list(&in->r, "ignore_errors", STB_V_COUNT);

	for (uint32_t i = 0; list && i < list->n_items; i++) {
		const struct stb_val *v = &list->items[i];

		if (i == STB_OLTP_MAX_IGNORED || v->den != 1 || v->num < 1 || v->num > 65535) {
			refuse(in, "ignore_errors", "must be at most 64 error numbers between 1 and 65535");
			return;
		}
		o->ignore[o->n_ignore++] = (uint32_t)v->num;
	}
}

int stb_oltp_read(struct stb_oltp *o, const struct stb_plan_block *workload, struct stb_err *err)
{
	struct reading in = {.block = workload, .err = err};
	const char *mode, *retry;
	bool skip_trx;

	memset(o, 0, sizeof(*o));
	stb_reader_init(&in.r, workload);
	read_dataset(&in, &o->data);
	read_script(&in, o);
	read_counts(&in, o);
	read_ignored(&in, o);
	o->threads = (uint32_t)read_count(&in, "threads", 1, STB_OLTP_MAX_THREADS);
	o->time_ns = stb_read_u64_or(&in.r, "time", UINT64_MAX);
	o->events = stb_read_u64_or(&in.r, "events", UINT64_MAX);
	o->warmup_ns = stb_read_u64(&in.r, "warmup_time");
	o->rate = stb_read_double_or(&in.r, "rate", 0);
	o->range_size = read_count(&in, "range_size", 1, MAX_TABLE_SIZE);
	o->points = (uint32_t)read_count(&in, "random_points", 1, STB_OLTP_MAX_POINTS);
	o->ranges = (uint32_t)read_count(&in, "number_of_ranges", 1, STB_OLTP_MAX_POINTS);
	o->delta = read_count(&in, "delta", 0, MAX_TABLE_SIZE);
	o->reconnect = stb_read_u64(&in.r, "reconnect");
	retry = stb_read_str(&in.r, "retry");
	o->rollback = strcmp(retry, "rollback") == 0;
	mode = stb_read_str(&in.r, "db_ps_mode");
	skip_trx = stb_read_bool(&in.r, "skip_trx");
	/* as in sysbench, inserts are always text */
	o->prepared = strcmp(mode, "auto") == 0 && o->script != STB_INSERT && o->script != STB_BULK_INSERT;
	o->transaction = !skip_trx && has_transactions(o->script);
	stb_read_skip(&in.r, "database");    /* exec: the plan's groups bind it */
	/* exec judges these two after the repetition, against measure.errors and what was achieved */
	(void)stb_read_u64_or(&in.r, "error_limit", 0);
	(void)read_number(&in, "rate_tolerance", 0, 0, 1);
	if (strcmp(mode, "auto") != 0 && strcmp(mode, "disable") != 0)
		refuse(&in, "db_ps_mode", "is neither auto nor disable");
	if (!o->rollback && strcmp(retry, "sysbench") != 0)
		refuse(&in, "retry", "is neither rollback nor sysbench");
	if (o->rate < 0 || (o->rate > 0 && o->rate < MIN_RATE) || o->rate > MAX_RATE)
		refuse(&in, "rate", "lies outside of what can be asked for");
	if (o->time_ns == UINT64_MAX && o->events == UINT64_MAX)
		refuse(&in, "time", "and `events` are both absent: nothing would end the run");
	if ((o->time_ns > MAX_NS && o->time_ns != UINT64_MAX) || o->warmup_ns > MAX_NS)
		refuse(&in, o->warmup_ns > MAX_NS ? "warmup_time" : "time", "is more than 70 years");
	if (o->time_ns == 0 || o->events == 0)
		refuse(&in, o->time_ns == 0 ? "time" : "events", "is 0: nothing would be measured");
	if (in.failed)
		return -1;
	return stb_reader_done(&in.r, err);
}

uint64_t stb_oltp_handles(const struct stb_oltp *o)
{
	uint64_t kinds = 0;

	if (!o->prepared)
		return 0;
	if (o->script == STB_RANDOM_POINTS || o->script == STB_RANDOM_RANGES)
		return 1; /* of the first table */
	for (uint32_t i = 0; i < STB_N_SQL; i++)
		kinds += o->count[i] > 0;
	kinds += o->count[STB_SQL_DELETE] > 0 && o->script != STB_DELETE; /* its insert */
	return kinds * o->data.tables + (o->transaction ? 2 : 0);
}

void stb_oltp_add_room(struct stb_db_room *r, const struct stb_plan_block *workload)
{
	struct stb_err ignored = {0};
	struct stb_oltp o;

	if (stb_oltp_read(&o, workload, &ignored))
		return;
	r->threads += o.threads;
	r->prepared += stb_oltp_handles(&o) * o.threads;
}

uint32_t stb_oltp_workers(const struct stb_plan_block *workload)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, "threads");

	return a && a->val.num > 0 && a->val.num <= STB_OLTP_MAX_THREADS ? (uint32_t)a->val.num : 1;
}

int stb_oltp_preflight(const struct stb_plan_block *workload, struct stb_err *err)
{
	const uint64_t limit = stb_process_open_files();
	struct stb_oltp o;

	if (stb_oltp_read(&o, workload, err))
		return -1;
	const uint64_t need = (uint64_t)o.threads + OWN_FILES;

	if (need <= limit)
		return 0;
	stb_err_set(err, 0, "workload `%s` cannot be run: %u connections need %llu open files, this process may have %llu", workload->name, o.threads,
		(unsigned long long)need, (unsigned long long)limit);
	stb_err_remedy(err, "raise the limit (ulimit -n %llu), or use fewer threads", (unsigned long long)need);
	return -1;
}
