/*
 * measure.c - one repetition of one cell: the phase in a child, what it was worth, and where it is written.
 *
 * How a repetition is judged:
 *
 *   ended by itself, in time             ok
 *   io, by size although a runtime was given   ended_by_size
 *   an error of the workload, or more errors than error_limit     invalid:errors
 *   its group could not be made, its server died, its process was killed     invalid:disturbed
 *   time over before 95% of what was asked     invalid:early
 *   no window of steady_state was steady within its limit     invalid:not_steady
 *   with a rate: less of it was met than rate_tolerance allows     invalid:rate
 *   semi-sync: it was off, or a commit went unacknowledged     invalid:fallback
 *   a loop device that works through the page cache     invalid:fallback
 *   a replica did not follow at the end, or died     invalid:disturbed
 *   beyond its time, or no counter moves; nothing completed at all     invalid:stalled
 *   interrupted                          no row: the repetition was not finished, and resume would do it again
 *
 * `errors` says something of what is measured, `disturbed` that what it stands on was not there or was taken away: nobody should read a
 * killed server as a storage class that makes errors. What was counted until then is kept with the status; where nothing was measured
 * there is no row, and the journal has status and reason.
 *
 * When the measuring process is lost its own figures are lost with it. Then the samples of the series are summed: totals and rates, no
 * latencies, and results.csv agrees with series.csv.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/run.h"
#include "runtime/io/io.h"

#include "runtime/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_NS (30 * STB_NS_PER_S)     /* beyond the asked time: drain, end_fsync */
#define STILL_NS (120 * STB_NS_PER_S)    /* without a counter that moves */
#define STILL_ARRIVALS 30                /* nor, at a low rate, for the time of so many arrivals */
#define LOAD_STILL_NS (300 * STB_NS_PER_S) /* an index build moves no counter */
#define TICK_NS (STB_NS_PER_S / 5)
#define EARLY_SHARE 0.95

struct sampler {
	struct stb_run *run;
	uint32_t cell, slot, repetition, group;
	bool is_io;
	struct stb_live_sum total;       /* of all samples so far */
	uint64_t sampled_ns;             /* up to where they reach */
	struct stb_live_sum shown;       /* at the last tick */
	uint64_t shown_at;
	uint32_t shown_stage;
	char figure[64];
	struct stb_buf series;
	struct stb_replica_watch *replicas; /* NULL: there are none */
	double lag_s;                       /* the greatest of the series; negative: none was seen */
};

static int run_io(const void *setup, struct stb_phase *phase)
{
	return stb_io_run(setup, phase);
}

static int run_oltp(const void *setup, struct stb_phase *phase)
{
	return stb_oltp_run(setup, phase);
}

static int run_load(const void *setup, struct stb_phase *phase)
{
	return stb_oltp_load(setup, phase);
}

/* Seconds to the nanosecond, with three decimals or as many as it takes: rounded times of short intervals would meet or drift. */
static void add_seconds(struct stb_buf *b, uint64_t ns)
{
	char digits[16];
	size_t n = 9;

	snprintf(digits, sizeof digits, "%09llu", (unsigned long long)(ns % STB_NS_PER_S));
	while (n > 3 && digits[n - 1] == '0')
		n--;
	stb_buf_printf(b, "%llu.%.*s", (unsigned long long)(ns / STB_NS_PER_S), (int)n, digits);
}

/* The rate over dt_ns, with so many decimals that times dt_ns it is the count again. */
static void add_point(struct sampler *s, uint64_t t_ns, const char *metric, uint64_t now, uint64_t before, uint64_t dt_ns)
{
	const uint64_t count = now > before ? now - before : 0;
	struct stb_metric m;

	stb_buf_printf(&s->series, "%.16s,%u,%u,", s->run->plan->cells[s->cell].id, s->slot, s->repetition);
	add_seconds(&s->series, t_ns);
	stb_buf_printf(&s->series, ",%s,%s,%.*f\n", metric, stb_metric_find(metric, &m) ? m.unit : "", dt_ns < 500 * STB_NS_PER_S ? 3 : 9,
		(double)count * 1e9 / (double)dt_ns);
}

static void add_lag(struct sampler *s, uint64_t t_ns, uint64_t dt_ns)
{
	double lag_s;

	if (!stb_replica_watch_lag(s->replicas, t_ns - dt_ns, t_ns, &lag_s))
		return;
	stb_buf_printf(&s->series, "%.16s,%u,%u,", s->run->plan->cells[s->cell].id, s->slot, s->repetition);
	add_seconds(&s->series, t_ns);
	stb_buf_printf(&s->series, ",replica_lag,s,%.3f\n", lag_s);
	s->lag_s = STB_MAX(s->lag_s, lag_s);
}

static void sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	struct sampler *s = ctx;

	add_point(s, t_ns, s->is_io ? "iops" : "tps", sum->ops, s->total.ops, dt_ns);
	add_point(s, t_ns, s->is_io ? "bw_bytes" : "qps", sum->bytes, s->total.bytes, dt_ns);
	if (!s->is_io)
		add_point(s, t_ns, "errors_per_s", sum->errors, s->total.errors, dt_ns);
	add_lag(s, t_ns, dt_ns);
	s->total = *sum;
	s->sampled_ns = t_ns;
}

static const char *stage_name(uint32_t stage)
{
	static const char *const names[] = {
		[STB_STAGE_SETUP] = "set up",
		[STB_STAGE_LAYOUT] = "lay out",
		[STB_STAGE_WARMUP] = "warm up",
		[STB_STAGE_SETTLE] = "wait until steady",
		[STB_STAGE_MEASURE] = "measure",
		[STB_STAGE_DRAIN] = "drain",
		[STB_STAGE_VERIFY] = "verify",
		[STB_STAGE_DONE] = "done",
	};

	return stage < STB_LEN(names) ? names[stage] : "";
}

/* The live figure: completions a second since the figure before, or the share that is laid out. */
static void tick(void *ctx, const struct stb_phase *phase)
{
	struct sampler *s = ctx;
	const uint32_t stage = atomic_load(&phase->stage);
	const uint64_t now = stb_clock_ns();
	const struct stb_live_sum sum = stb_phase_sum(phase);
	const uint64_t total = atomic_load(&phase->progress_total);
	struct stb_buf text;

	stb_buf_init(&text);
	if ((stage == STB_STAGE_LAYOUT || stage == STB_STAGE_VERIFY) && total) {
		stb_buf_printf(&text, "%.0f%%", 100.0 * (double)atomic_load(&phase->progress_done) / (double)total);
	} else if ((stage == STB_STAGE_MEASURE || stage == STB_STAGE_SETTLE || stage == STB_STAGE_WARMUP) && stage == s->shown_stage &&
		sum.ops + sum.warm >= s->shown.ops + s->shown.warm) {
		stb_text_figure(&text, (double)(sum.ops + sum.warm - s->shown.ops - s->shown.warm) * 1e9 / (double)STB_MAX(now - s->shown_at, 1u));
		stb_buf_adds(&text, s->is_io ? " IOPS" : " tps");
	}
	s->shown = sum;
	s->shown_at = now;
	s->shown_stage = stage;
	stb_run_draw(s->run, stage_name(stage), stb_buf_str(&text));
	stb_buf_fini(&text);
}

static bool server_lives(void *ctx, struct stb_err *err)
{
	struct sampler *s = ctx;

	return !stb_group_server_died(s->run, s->group, err);
}

static uint64_t attr_u64(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, name);

	return a && a->val.den && a->val.num > 0 ? (uint64_t)(a->val.num / a->val.den) : 0;
}

/* What was asked for: 0 where only size or events bound it. */
static uint64_t asked_ns(const struct stb_plan_block *w, bool is_io)
{
	return attr_u64(w, is_io ? "runtime" : "time");
}

static double attr_double(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, name);

	return a && a->val.den ? stb_val_double(&a->val) : 0;
}

/* Against what was due, not against the rate: arrivals are random, and fewer than asked for are no fault of what is measured. */
static bool misses_rate(const struct stb_plan_block *w, bool is_io, uint64_t ok, const struct stb_measure *m, struct stb_err *err)
{
	const double tolerance = attr_double(w, "rate_tolerance"), window_s = (double)STB_MAX(m->window_ns, 1u) / 1e9;

	if (!m->scheduled || (double)ok >= (double)m->scheduled * (1 - tolerance))
		return false;
	stb_err_set(err, 0, "the rate was not met: of %.4g %s/s that %s %.4g were done, and rate_tolerance = %g%%",
		(double)m->scheduled / window_s, is_io ? "I/Os" : "transactions", is_io ? "were due" : "arrived", (double)ok / window_s,
		100 * tolerance);
	return true;
}

static void blame_unsteady(const struct stb_plan_block *w, const struct stb_steadiness *s, struct stb_err *err)
{
	const struct stb_plan_attr *metric = stb_plan_attr(w, "steady_state.metric"), *slope = stb_plan_attr(w, "steady_state.slope");
	const char *criterion = slope ? "slope" : "deviation", *name = metric ? metric->val.str : "";
	const double limit_s = attr_double(w, "steady_state.limit") / 1e9, window_s = attr_double(w, "steady_state.window") / 1e9;
	const double most = 100 * attr_double(w, slope ? "steady_state.slope" : "steady_state.deviation");

	if (s->judged)
		stb_err_set(err, 0, "%s was not steady within %.9g s: the steadiest %.9g s have a %s of %.3g%%%s, and %s = %.9g%%", name, limit_s,
			window_s, criterion, 100 * s->found, slope ? " a second" : "", criterion, most);
	else
		stb_err_set(err, 0, "%s was not steady within %.9g s: in no %.9g s of them something was completed in each second", name, limit_s,
			window_s);
	stb_err_remedy(err, "give steady_state a longer limit or a longer window, or a greater %s; see what else uses the device", criterion);
	err->span = metric && metric->span != STB_NONE ? metric->span + 1 : 0;
}

/* The time from one start to the next at a rate of one job. */
static double gap_s(const struct stb_plan_block *w, bool is_io)
{
	const double rate = attr_double(w, is_io ? "rate_iops" : "rate"), bytes = is_io ? attr_double(w, "rate") : 0;

	if (bytes > 0)
		return (double)stb_io_greatest_bs_of(w) / bytes;
	return rate > 0 ? 1 / rate : 0;
}

/* A counter may stand still between arrivals, and in pauses. */
static uint64_t still_ns(const struct stb_plan_block *w, bool is_io)
{
	const double gap = STILL_ARRIVALS * gap_s(w, is_io) * 1e9;
	const uint64_t pause = is_io ? attr_u64(w, "thinktime") : 0;

	return STILL_NS + pause + (gap > (double)STILL_NS ? (uint64_t)STB_MIN(gap, 0x1p62) : 0);
}

static enum stb_status judge(const struct stb_plan_block *w, bool is_io, enum stb_child_fate fate, const struct stb_measure *m,
	struct stb_err *err)
{
	const uint64_t asked = asked_ns(w, is_io);
	const struct stb_plan_attr *limit = stb_plan_attr(w, "error_limit");
	uint64_t ok = 0;

	for (int d = 0; d < STB_N_DIRS; d++)
		ok += m->ok[d];
	switch (fate) {
	case STB_CHILD_HUNG:
		return STB_STATUS_STALLED;
	case STB_CHILD_FAILED:
		return m->end == STB_END_STALLED ? STB_STATUS_STALLED : STB_STATUS_ERRORS;
	case STB_CHILD_DIED:
	case STB_CHILD_ABANDONED:
		return STB_STATUS_DISTURBED;
	case STB_CHILD_INTERRUPTED:
	case STB_CHILD_DONE:
		break;
	}
	if (m->end == STB_END_ERROR) {
		if (!err->set)
			stb_err_set(err, 0, "the measurement ended with an error");
		return STB_STATUS_ERRORS;
	}
	if (!is_io && limit && limit->val.type != STB_V_NONE && m->errors > attr_u64(w, "error_limit")) {
		stb_err_set(err, 0, "%llu errors were retried, more than error_limit = %llu", (unsigned long long)m->errors,
			(unsigned long long)attr_u64(w, "error_limit"));
		return STB_STATUS_ERRORS;
	}
	if (!ok) {
		stb_err_set(err, 0, "nothing was completed in the measured time");
		return STB_STATUS_STALLED;
	}
	if (m->end == STB_END_STOPPED || (m->end == STB_END_TIME && (double)m->window_ns < EARLY_SHARE * (double)asked)) {
		stb_err_set(err, 0, "the measurement ended after %.1f s of %.1f s", (double)m->window_ns / 1e9, (double)asked / 1e9);
		return STB_STATUS_EARLY;
	}
	if (misses_rate(w, is_io, ok, m, err))
		return STB_STATUS_RATE;
	if (m->steady.asked && !m->steady.reached) {
		blame_unsteady(w, &m->steady, err);
		return STB_STATUS_NOT_STEADY;
	}
	return is_io && asked && m->end == STB_END_SIZE ? STB_STATUS_ENDED_BY_SIZE : STB_STATUS_OK;
}

static void say_done(struct stb_run *run, const char *label, uint32_t repetition, size_t from, enum stb_status status, bool is_io)
{
	double rate = 0, p95 = 0;
	bool has_p95 = false, has_rate = false;
	struct stb_buf b;

	for (size_t i = from; i < run->results->n_rows; i++) {
		const struct stb_result_row *r = &run->results->rows[i];

		if (!strcmp(r->metric, is_io ? "iops" : "tps"))
			rate = r->value, has_rate = true;
		if (!strcmp(r->metric, "lat_p95"))
			has_p95 = stb_metric_convert(r->value, r->unit, "ms", &p95);
	}
	stb_buf_init(&b);
	if (has_rate) {
		stb_text_figure(&b, rate);
		stb_buf_adds(&b, is_io ? " IOPS" : " tps");
	} else {
		stb_buf_adds(&b, "nothing was measured");
	}
	if (has_p95) {
		stb_buf_adds(&b, ", p95 ");
		stb_text_latency(&b, p95);
	}
	if (status != STB_STATUS_OK)
		stb_buf_printf(&b, "  [%s]", stb_status_text(status));
	stb_progress_say(&run->progress, "[%*llu/%llu] %s #%u: %s", run->n_measurements > 99 ? 3 : run->n_measurements > 9 ? 2 : 1,
		(unsigned long long)run->done, (unsigned long long)run->n_measurements, label, repetition, stb_buf_str(&b));
	stb_buf_fini(&b);
}

/* A repetition that could not even begin: nothing was measured, so there is no row; the journal tells of it. */
static void record_unrun(struct stb_run *run, const char *label, uint32_t cell, uint32_t slot, uint32_t repetition, bool is_io,
	const char *why)
{
	const size_t from = run->results->n_rows;

	stb_run_fail(run, cell, slot, repetition, "%s", why);
	stb_record_result(run, cell, slot, repetition, from, STB_STATUS_DISTURBED, why, NULL, NULL);
	run->done++;
	say_done(run, label, repetition, from, STB_STATUS_DISTURBED, is_io);
}

struct work {
	struct stb_io_setup io;
	struct stb_oltp_setup oltp;
	struct stb_child_job job;
	uint32_t n_workers;
	char stat_file[STB_BLOCKSTAT_PATH];
};

/* The count of the device under the data volume; "" where there is none. */
static void find_device(const struct stb_run *run, uint32_t group, char out[STB_BLOCKSTAT_PATH])
{
	const struct stb_plan_group *pg = &run->plan->groups[group];

	out[0] = 0;
	for (uint32_t i = 0; i < pg->n_mounts; i++) {
		const struct stb_volume *v = strcmp(pg->mounts[i].role, "data") ? NULL : run->groups[group].volumes[i];

		if (v)
			stb_blockstat_find("", stb_volume_dir(v) ? stb_volume_dir(v) : stb_volume_device(v), out);
	}
}

static void set_up(struct stb_run *run, uint32_t cell, uint32_t repetition, bool is_io, struct work *w)
{
	const struct stb_plan *p = run->plan;
	const struct stb_plan_cell *c = &p->cells[cell];
	const struct stb_plan_group *pg = &p->groups[c->group];
	const struct stb_plan_block *workload = &p->blocks[c->workload];
	struct stb_group_run *g = &run->groups[c->group];
	const uint64_t seed = p->matrices[c->matrix].seed, id = stb_hash_u64(c->id);
	const uint64_t asked = asked_ns(workload, is_io);
	const uint64_t warm = attr_u64(workload, is_io ? "ramp_time" : "warmup_time");

	memset(w, 0, sizeof *w);
	if (is_io) {
		w->io = (struct stb_io_setup){ .plan = p, .workload = workload, .seed = seed, .cell = id, .repetition = repetition };
		for (uint32_t i = 0; i < pg->n_mounts; i++)
			if (!strcmp(pg->mounts[i].role, "data")) {
				w->io.dir = stb_volume_dir(g->volumes[i]);
				w->io.device = stb_volume_device(g->volumes[i]);
			}
		find_device(run, c->group, w->stat_file);
		w->io.stat_file = w->stat_file;
		w->job.run = run_io;
		w->job.setup = &w->io;
		w->n_workers = stb_io_workers(workload);
	} else {
		w->oltp = (struct stb_oltp_setup){ .plan = p, .workload = workload, .seed = seed, .cell = id, .repetition = repetition,
			.dataset = pg->dataset == STB_NONE ? NULL : &p->blocks[pg->dataset], .private_server = g->mysqld != NULL,
			.server_pid = g->mysqld ? stb_mysqld_pid(g->mysqld) : 0,
			.addr = g->mysqld ? *stb_mysqld_address(g->mysqld) : g->external };
		if (g->mysqld)
			find_device(run, c->group, w->stat_file);
		w->oltp.stat_file = w->stat_file;
		w->job.run = run_oltp;
		w->job.setup = &w->oltp;
		w->n_workers = stb_oltp_workers(workload);
	}
	w->job.signals = &run->signals;
	w->job.limit_ns = asked ? STB_MAX(STB_MAX(asked, warm), attr_u64(workload, "steady_state.limit")) : 0;
	w->job.still_ns = still_ns(workload, is_io);
	w->job.grace_ns = GRACE_NS;
	w->job.interval_ns = p->matrices[c->matrix].interval_ns;
	w->job.tick_ns = TICK_NS;
	w->job.sample = sample;
	w->job.tick = tick;
	w->job.watch = server_lives;
}

/* The child's error may only be the echo of a server that died: then that is the reason, and the child's fate. */
static enum stb_child_fate blame_server(struct stb_run *run, uint32_t group, enum stb_child_fate fate, struct stb_err *err)
{
	struct stb_err died;

	if (fate != STB_CHILD_FAILED || !run->groups[group].mysqld)
		return fate;
	if (!stb_group_server_ends(run, group, &died))
		return fate;
	*err = died;
	return STB_CHILD_ABANDONED;
}

/*
 * Whether the replicas did as they should while it was measured. What went wrong with the measuring itself is the better reason, but for a
 * server that gave no answer since it waited for its replicas.
 */
static enum stb_status judge_replicas(const struct sampler *s, enum stb_status status, struct stb_err *err)
{
	struct stb_err why;
	enum stb_status of_replicas;

	if (!s->replicas || status == STB_STATUS_DISTURBED)
		return status;
	stb_err_clear(&why);
	of_replicas = stb_replica_watch_end(s->replicas, &why);
	if (of_replicas == STB_STATUS_OK || (!stb_status_valid(status) && of_replicas != STB_STATUS_FALLBACK))
		return status;
	*err = why;
	if (of_replicas == STB_STATUS_DISTURBED && stb_group_server_ends(s->run, s->group, &why))
		*err = why;
	return of_replicas;
}

/* Whether the volumes were what the spec asked for. */
static enum stb_status judge_volumes(const struct stb_run *run, uint32_t group, enum stb_status status, struct stb_err *err)
{
	const struct stb_group_run *g = &run->groups[group];
	const uint32_t n = g->volumes ? run->plan->groups[group].n_mounts * (1 + g->n_replicas) : 0;

	for (uint32_t i = 0; i < n && stb_status_valid(status); i++)
		if (g->volumes[i] && stb_volume_fell_back(g->volumes[i], err))
			status = STB_STATUS_FALLBACK;
	return status;
}

/* After a repetition of I/O that failed: what has become of its target, for whoever looks there, and for the cells that follow on it. */
static void say_target(const struct stb_run *run, uint32_t group, const struct stb_plan_block *workload, const struct stb_measure *m)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	const struct stb_plan_attr *rw = stb_plan_attr(workload, "rw");
	const bool only_reads = rw && rw->val.str && strstr(rw->val.str, "read");
	const uint64_t written = m->ok[STB_WRITE] + m->ok[STB_TRIM];

	if (!pg->n_mounts)
		return;
	fprintf(stderr, "  state of the target: ");
	if (!m->issued)
		fprintf(stderr, "nothing was measured on it");
	else if (only_reads)
		fprintf(stderr, "it was only read");
	else
		fprintf(stderr, "%llu of %llu I/Os were done, %llu of them writes or trims", (unsigned long long)(m->ok[STB_READ] + written),
			(unsigned long long)m->issued, (unsigned long long)written);
	fprintf(stderr, "; volume `%s` stays as it is until it is provisioned anew or removed\n", run->plan->blocks[pg->mounts[0].volume].name);
}

static void add_lag_row(struct sampler *s, enum stb_status status)
{
	struct stb_err err;

	if (s->lag_s >= 0 &&
		stb_results_add(s->run->results, s->cell, s->slot, s->repetition, "replica_lag", s->lag_s, status, &err))
		STB_BUG("the key of a repetition is there already");
}

void stb_run_measure(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_plan_cell *c = &run->plan->cells[cell];
	const struct stb_plan_block *workload = &run->plan->blocks[c->workload];
	const bool is_io = !strcmp(workload->type, "io");
	const char *label = stb_plan_cell_label(&run->arena, run->plan, cell);
	struct sampler s = { .run = run, .cell = cell, .slot = slot, .repetition = repetition, .group = c->group, .is_io = is_io, .lag_s = -1 };
	const size_t from = run->results->n_rows;
	struct stb_phase *phase = NULL;
	struct stb_err err;
	struct work w;

	stb_err_clear(&err);
	stb_buf_init(&s.series);
	if (!stb_group_ready(run, c->matrix, c->group)) {
		if (run->signals.first)
			goto out;
		record_unrun(run, label, cell, slot, repetition, is_io, run->groups[c->group].why.what);
		goto out;
	}
	if (stb_signals_check(&run->signals))
		goto out;
	set_up(run, cell, repetition, is_io, &w);
	w.job.ctx = &s;
	phase = stb_phase_map(w.n_workers, &err);
	if (!phase) {
		record_unrun(run, label, cell, slot, repetition, is_io, err.what);
		goto out;
	}
	if (stb_replica_watch_begin(&s.replicas, run, c->group, phase, run->plan->matrices[c->matrix].interval_ns, &err)) {
		record_unrun(run, label, cell, slot, repetition, is_io, err.what);
		goto out;
	}
	stb_record_cell(run, "begin", cell, slot, repetition, NULL);
	run->what = stb_arena_printf(&run->arena, "%s #%u", label, repetition);

	const enum stb_child_fate fate = blame_server(run, c->group, stb_child_run(&w.job, phase, &err), &err);

	if (fate == STB_CHILD_INTERRUPTED) {
		stb_err_set(&err, 0, "interrupted");
		stb_record_cell(run, "end", cell, slot, repetition, &err);
		goto out;
	}

	const enum stb_status status = judge_volumes(run, c->group, judge_replicas(&s, judge(workload, is_io, fate, &phase->result, &err), &err),
		&err);

	if (is_io)
		stb_record_engine(run, cell, &phase->result);

	stb_record_cell(run, "end", cell, slot, repetition, &err);
	if (phase->result.window_ns)
		stb_results_add_measure(run->results, cell, slot, repetition, &phase->result, status);
	else
		stb_results_add_partial(run->results, cell, slot, repetition, s.total.ops, s.total.bytes, s.total.errors, s.sampled_ns,
			status);
	add_lag_row(&s, status);
	stb_record_result(run, cell, slot, repetition, from, status, stb_status_valid(status) ? NULL : err.what, &phase->result, &s.series);
	run->done++;
	say_done(run, label, repetition, from, status, is_io);
	if (!stb_status_valid(status)) {
		if (!err.span && workload->span != STB_NONE)
			err.span = workload->span + 1;
		stb_run_fail(run, cell, slot, repetition, "%s", err.what);
		stb_run_say_error(run, &err);
		if (is_io && status == STB_STATUS_ERRORS)
			say_target(run, c->group, workload, &phase->result);
	}
	if (phase->alloc_calls)
		stb_progress_say(&run->progress, "stb: bug: %llu allocations in the measured phase of %s",
			(unsigned long long)phase->alloc_calls, label);
out:
	stb_replica_watch_free(s.replicas);
	stb_phase_unmap(phase);
	stb_buf_fini(&s.series);
}

int stb_run_fill(struct stb_run *run, uint32_t group, const struct stb_plan_block *workload, struct stb_err *err)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	/* what is filled depends on the group, not on the cell that happens to come first */
	struct stb_io_setup setup = { .plan = run->plan, .workload = workload, .seed = 1, .cell = stb_hash_u64(pg->id), .repetition = 1 };
	struct sampler s = { .run = run, .group = group, .is_io = true };
	struct stb_child_job job = { .run = run_io, .setup = &setup, .signals = &run->signals, .still_ns = still_ns(workload, true),
		.grace_ns = GRACE_NS, .tick_ns = TICK_NS, .ctx = &s, .tick = tick };
	struct stb_phase *phase = stb_phase_map(stb_io_workers(workload), err);
	enum stb_child_fate fate;

	if (!phase)
		return -1;
	for (uint32_t i = 0; i < pg->n_mounts; i++) {
		if (strcmp(pg->mounts[i].role, "data"))
			continue;
		setup.dir = stb_volume_dir(run->groups[group].volumes[i]);
		setup.device = stb_volume_device(run->groups[group].volumes[i]);
	}
	fate = stb_child_run(&job, phase, err);
	stb_phase_unmap(phase);
	if (fate == STB_CHILD_INTERRUPTED)
		stb_err_set(err, 0, "interrupted");
	return fate == STB_CHILD_DONE ? 0 : -1;
}

int stb_run_load(struct stb_run *run, const struct stb_oltp_setup *setup, struct stb_err *err)
{
	struct sampler s = { .run = run };
	struct stb_child_job job = { .run = run_load, .setup = setup, .signals = &run->signals, .still_ns = LOAD_STILL_NS,
		.grace_ns = GRACE_NS, .tick_ns = TICK_NS, .ctx = &s, .tick = tick };
	/* one line of live counters; the load counts in progress_done */
	struct stb_phase *phase = stb_phase_map(1, err);
	enum stb_child_fate fate;

	if (!phase)
		return -1;
	fate = stb_child_run(&job, phase, err);
	stb_phase_unmap(phase);
	if (fate == STB_CHILD_INTERRUPTED)
		stb_err_set(err, 0, "interrupted");
	return fate == STB_CHILD_DONE ? 0 : -1;
}
