/*
 * measure.c - one repetition of one cell: the phase in a child, or of a mix one in a child for each member; the figures, and where they are written.
 *
 * When the measuring process is lost its own figures are lost with it. Then the samples of the series are summed: totals and rates, no
 * latencies, and results.csv agrees with series.csv.
 */
#include "runtime/exec/judge.h"
#include "runtime/exec/message.h"
#include "runtime/exec/mix.h"
#include "runtime/exec/run.h"
#include "runtime/io/io.h"

#include "runtime/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_NS (30 * STB_NS_PER_S)     /* beyond the asked time: drain, end_fsync */
#define LOAD_STILL_NS (300 * STB_NS_PER_S) /* an index build moves no counter */
#define TICK_NS (STB_NS_PER_S / 5)
#define TOGETHER_SHARE 0.95

/* A workload of the repetition with all that is seen of it: the cell's own, or a member of its mix. */
struct work {
	struct stb_run *run;
	struct repetition *of;           /* NULL: it is no repetition, but a fill or a load */
	const struct stb_plan_block *workload;
	uint32_t member;                 /* STB_NONE: the cell's own */
	uint32_t group;
	bool is_io;
	struct stb_io_setup io;
	struct stb_oltp_setup oltp;
	struct stb_child_job job;
	struct stb_phase *phase;
	char stat_file[STB_BLOCKSTAT_PATH];
	/* what is seen of it */
	struct stb_live_sum total;       /* of all samples so far */
	uint64_t sampled_ns;             /* up to where they reach */
	struct stb_live_sum shown;       /* at the last tick */
	uint64_t shown_at;
	uint32_t shown_stage;
	char figure[32];
};

struct repetition {
	uint32_t cell, slot, number;
	const char *label;
	struct work works[STB_MAX_MEMBERS];
	uint32_t n;
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

/* The workload by which the server is looked at; of those of a mix the first one with a database. NULL: there is none. */
static struct work *first_on_server(struct repetition *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (!r->works[i].is_io)
			return &r->works[i];
	return NULL;
}

/* "CELL,SLOT,REPETITION,T,": what a line of the series begins with. */
static void begin_point(struct work *w, uint64_t t_ns)
{
	struct repetition *r = w->of;

	stb_buf_printf(&r->series, "%.16s,%u,%u,", w->run->plan->cells[r->cell].id, r->slot, r->number);
	add_seconds(&r->series, t_ns);
}

/* The rate over dt_ns, with so many decimals that times dt_ns it is the count again. */
static void add_point(struct work *w, uint64_t t_ns, const char *metric, uint64_t now, uint64_t before, uint64_t dt_ns)
{
	const uint64_t count = now > before ? now - before : 0;
	const bool member = w->member != STB_NONE;
	struct stb_metric m;

	begin_point(w, t_ns);
	stb_buf_printf(&w->of->series, ",%s%s%s,%s,%.*f\n", member ? w->workload->name : "", member ? "." : "", metric,
		stb_metric_find(metric, &m) ? m.unit : "", dt_ns < 500 * STB_NS_PER_S ? 3 : 9, (double)count * 1e9 / (double)dt_ns);
}

/* Of the server, by the samples of the first workload on it. */
static void add_lag(struct work *w, uint64_t t_ns, uint64_t dt_ns)
{
	struct repetition *r = w->of;
	double lag_s;

	if (w != first_on_server(r) || !stb_replica_watch_lag(r->replicas, t_ns - dt_ns, t_ns, &lag_s))
		return;
	begin_point(w, t_ns);
	stb_buf_printf(&r->series, ",replica_lag,s,%.3f\n", lag_s);
	r->lag_s = STB_MAX(r->lag_s, lag_s);
}

static void sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	struct work *w = ctx;

	add_point(w, t_ns, w->is_io ? "iops" : "tps", sum->ops, w->total.ops, dt_ns);
	add_point(w, t_ns, w->is_io ? "bw_bytes" : "qps", sum->bytes, w->total.bytes, dt_ns);
	if (!w->is_io)
		add_point(w, t_ns, "errors_per_s", sum->errors, w->total.errors, dt_ns);
	add_lag(w, t_ns, dt_ns);
	w->total = *sum;
	w->sampled_ns = t_ns;
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
static void look_at(struct work *w)
{
	const struct stb_phase *phase = w->phase;
	const uint32_t stage = atomic_load(&phase->stage);
	const uint64_t now = stb_clock_ns(), total = atomic_load(&phase->progress_total);
	const struct stb_live_sum sum = stb_phase_sum(phase);
	struct stb_buf text;

	stb_buf_init(&text);
	if ((stage == STB_STAGE_LAYOUT || stage == STB_STAGE_VERIFY) && total) {
		stb_buf_printf(&text, "%.0f%%", 100.0 * (double)atomic_load(&phase->progress_done) / (double)total);
	} else if ((stage == STB_STAGE_MEASURE || stage == STB_STAGE_SETTLE || stage == STB_STAGE_WARMUP) && stage == w->shown_stage &&
		sum.ops + sum.warm >= w->shown.ops + w->shown.warm) {
		stb_text_figure(&text, (double)(sum.ops + sum.warm - w->shown.ops - w->shown.warm) * 1e9 / (double)STB_MAX(now - w->shown_at, 1u));
		stb_buf_adds(&text, w->is_io ? " IOPS" : " tps");
	}
	w->shown = sum;
	w->shown_at = now;
	w->shown_stage = stage;
	snprintf(w->figure, sizeof w->figure, "%s", stb_buf_str(&text));
	stb_buf_fini(&text);
}

static void tick(void *ctx, const struct stb_phase *phase)
{
	struct work *w = ctx;
	uint32_t stage;
	struct stb_buf text;

	(void)phase;
	look_at(w);
	if (!w->of || w->of->n == 1) {
		stb_run_draw(w->run, stage_name(w->shown_stage), w->figure);
		return;
	}
	stb_buf_init(&text);
	stage = w->shown_stage; /* of a mix, that of who is least far */
	for (uint32_t i = 0; i < w->of->n; i++) {
		const struct work *other = &w->of->works[i];

		stage = STB_MIN(stage, other->shown_stage);
		if (other->figure[0])
			stb_buf_printf(&text, "%s%s %s", text.len ? ", " : "", other->workload->name, other->figure);
	}
	stb_run_draw(w->run, stage_name(stage), stb_buf_str(&text));
	stb_buf_fini(&text);
}

static bool server_lives(void *ctx, struct stb_err *err)
{
	struct work *w = ctx;

	return !stb_group_server_died(w->run, w->group, err);
}

/* "1234 IOPS, p95 0.21 ms" of the rows from `from` on. */
static void add_figures(const struct stb_run *run, const struct work *w, size_t from, struct stb_buf *out)
{
	double rate = 0, p95 = 0;
	bool has_p95 = false, has_rate = false;

	for (size_t i = from; i < run->results->n_rows; i++) {
		const struct stb_result_row *r = &run->results->rows[i];
		const char *name;

		if (stb_metric_member(run->plan, w->of->cell, r->metric, &name) != w->member)
			continue;
		if (!strcmp(name, w->is_io ? "iops" : "tps"))
			rate = r->value, has_rate = true;
		if (!strcmp(name, "lat_p95"))
			has_p95 = stb_metric_convert(r->value, r->unit, "ms", &p95);
	}
	if (has_rate) {
		stb_text_figure(out, rate);
		stb_buf_adds(out, w->is_io ? " IOPS" : " tps");
	} else {
		stb_buf_adds(out, "nothing was measured");
	}
	if (has_p95) {
		stb_buf_adds(out, ", p95 ");
		stb_text_latency(out, p95);
	}
}

static void say_done(struct stb_run *run, const struct repetition *r, size_t from, enum stb_status status)
{
	struct stb_buf b;

	stb_buf_init(&b);
	if (!r->n)
		stb_buf_adds(&b, "nothing was measured");
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->n > 1)
			stb_buf_printf(&b, "%s%s ", i ? "; " : "", r->works[i].workload->name);
		add_figures(run, &r->works[i], from, &b);
	}
	if (status != STB_STATUS_OK)
		stb_buf_printf(&b, "  [%s]", stb_status_text(status));
	stb_progress_say(&run->progress, "[%*llu/%llu] %s #%u: %s", run->n_measurements > 99 ? 3 : run->n_measurements > 9 ? 2 : 1,
		(unsigned long long)run->done, (unsigned long long)run->n_measurements, r->label, r->number, stb_buf_str(&b));
	stb_buf_fini(&b);
}

/* A repetition that could not even begin: nothing was measured, so there is no row; the journal tells of it. */
static void record_unrun(struct stb_run *run, const struct repetition *r, const char *why)
{
	const size_t from = run->results->n_rows;

	stb_run_fail(run, r->cell, r->slot, r->number, "%s", why);
	stb_record_result(run, r->cell, r->slot, r->number, from, STB_STATUS_DISTURBED, why, NULL, NULL);
	run->done++;
	say_done(run, r, from, STB_STATUS_DISTURBED);
}

/* --- set-up ---------------------------------------------------------------------------------------------------------------------------- */

/* The volume that a workload's, or a private database's, files lie on; NULL: none that was provisioned. */
static const struct stb_volume *volume_of(const struct stb_run *run, uint32_t group, const struct stb_plan_block *workload)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	const struct stb_plan_mount *m = stb_plan_mount_of(run->plan, group, workload);

	return m && run->groups[group].volumes ? run->groups[group].volumes[m - pg->mounts] : NULL;
}

/* The count of the device under it; "" where there is none. */
static void find_device(const struct stb_volume *v, char out[STB_BLOCKSTAT_PATH])
{
	out[0] = 0;
	if (v)
		stb_blockstat_find("", stb_volume_dir(v) ? stb_volume_dir(v) : stb_volume_device(v), out);
}

static void set_up_io(struct work *w, const struct stb_volume *v)
{
	w->io.dir = v ? stb_volume_dir(v) : NULL;
	w->io.device = v ? stb_volume_device(v) : NULL;
	find_device(v, w->stat_file);
	w->io.stat_file = w->stat_file;
	w->job.run = run_io;
	w->job.setup = &w->io;
}

static void set_up_oltp(struct work *w, const struct stb_volume *v)
{
	const struct stb_plan *p = w->run->plan;
	const struct stb_plan_group *pg = &p->groups[w->group];
	const struct stb_group_run *g = &w->run->groups[w->group];

	w->oltp.dataset = pg->dataset == STB_NONE ? NULL : &p->blocks[pg->dataset];
	w->oltp.private_server = g->mysqld != NULL;
	w->oltp.server_pid = g->mysqld ? stb_mysqld_pid(g->mysqld) : 0;
	w->oltp.addr = g->mysqld ? *stb_mysqld_address(g->mysqld) : g->external;
	if (g->mysqld)
		find_device(v, w->stat_file);
	w->oltp.stat_file = w->stat_file;
	w->job.run = run_oltp;
	w->job.setup = &w->oltp;
}

static uint64_t warm_ns(const struct work *w)
{
	return stb_judge_u64(w->workload, w->is_io ? "ramp_time" : "warmup_time");
}

/* The streams of a member are its own; those of a cell's own workload are the cell's. */
static uint64_t stream_of(const struct work *w)
{
	const uint64_t id = stb_hash_u64(w->run->plan->cells[w->of->cell].id);

	return w->member == STB_NONE ? id : id + 0x9e3779b97f4a7c15u * (w->member + 1);
}

static void set_up(struct work *w, struct stb_run *run, struct repetition *r, const struct stb_plan_block *workload, uint32_t member)
{
	const struct stb_plan *p = run->plan;
	const struct stb_plan_cell *c = &p->cells[r->cell];
	const uint64_t seed = p->matrices[c->matrix].seed;
	const struct stb_volume *v = volume_of(run, c->group, workload);
	uint64_t asked;

	*w = (struct work){ .run = run, .of = r, .workload = workload, .member = member, .group = c->group, .is_io = !strcmp(workload->type, "io") };
	w->io = (struct stb_io_setup){ .plan = p, .workload = workload, .seed = seed, .cell = stream_of(w), .repetition = r->number };
	w->oltp = (struct stb_oltp_setup){ .plan = p, .workload = workload, .seed = seed, .cell = stream_of(w), .repetition = r->number };
	if (w->is_io)
		set_up_io(w, v);
	else
		set_up_oltp(w, v);
	asked = stb_judge_asked_ns(workload, w->is_io);
	w->job.signals = &run->signals;
	w->job.limit_ns = asked ? STB_MAX(STB_MAX(asked, warm_ns(w)), stb_judge_u64(workload, "steady_state.limit")) : 0;
	w->job.still_ns = stb_judge_still_ns(workload, w->is_io);
	w->job.grace_ns = GRACE_NS;
	w->job.interval_ns = p->matrices[c->matrix].interval_ns;
	w->job.tick_ns = TICK_NS;
	w->job.ctx = w;
	w->job.sample = sample;
	w->job.tick = tick;
	w->job.watch = server_lives;
}

static void set_up_all(struct stb_run *run, struct repetition *r)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(run->plan, r->cell);

	for (; r->n < mix->n; r->n++)
		set_up(&r->works[r->n], run, r, &run->plan->blocks[mix->members[r->n]], r->n);
	if (!r->n)
		set_up(&r->works[r->n++], run, r, &run->plan->blocks[run->plan->cells[r->cell].workload], STB_NONE);
}

static int map_phases(struct repetition *r, struct stb_err *err)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct work *w = &r->works[i];

		w->phase = stb_phase_map(w->is_io ? stb_io_workers(w->workload) : stb_oltp_workers(w->workload), err);
		if (!w->phase)
			return -1;
	}
	return 0;
}

/* --- one repetition -------------------------------------------------------------------------------------------------------------------- */

/* What the children came to. */
struct outcome {
	struct stb_mix_member members[STB_MAX_MEMBERS];
	uint32_t culprit;        /* who failed first; STB_NONE: nobody */
	enum stb_status status;
	struct stb_err err;      /* why it is not valid */
	uint32_t blamed;         /* whose status it is; STB_NONE: that of all */
};

static void run_children(struct repetition *r, struct outcome *o)
{
	bool settles = false;

	o->culprit = STB_NONE;
	for (uint32_t i = 0; i < r->n; i++) {
		struct work *w = &r->works[i];

		o->members[i] = (struct stb_mix_member){ .job = &w->job, .phase = w->phase, .warm_ns = warm_ns(w) };
		settles = settles || stb_plan_attr(w->workload, "steady_state.metric");
	}
	if (r->n > 1) {
		o->culprit = stb_mix_run(o->members, r->n, settles);
		return;
	}
	stb_err_clear(&o->members[0].err);
	o->members[0].fate = stb_child_run(&r->works[0].job, r->works[0].phase, &o->members[0].err);
	if (o->members[0].fate != STB_CHILD_DONE && o->members[0].fate != STB_CHILD_INTERRUPTED)
		o->culprit = 0;
}

/*
 * An error may only be the echo of a server that died: then that is the reason, whichever workload noticed it first, and one that works on the server
 * tells of it. Its end is told once, so that where one process was asked to stop for it nobody else hears of it.
 */
static void blame_server(struct stb_run *run, const struct repetition *r, struct outcome *o)
{
	const uint32_t group = run->plan->cells[r->cell].group;
	const struct stb_err *known = NULL;
	uint32_t user = o->culprit;
	struct stb_err died;

	if (user == STB_NONE || (r->works[user].is_io && o->members[user].fate != STB_CHILD_ABANDONED))
		return;
	for (uint32_t i = 0; i < r->n && !known; i++)
		known = o->members[i].fate == STB_CHILD_ABANDONED ? &o->members[i].err : NULL;
	if (!known && o->members[user].fate == STB_CHILD_FAILED && run->groups[group].mysqld && stb_group_server_ends(run, group, &died))
		known = &died;
	for (uint32_t i = 0; r->works[user].is_io && i < r->n; i++)
		user = r->works[i].is_io ? user : i;
	if (!known || r->works[user].is_io)
		return;
	died = *known;
	o->members[user].err = died;
	o->members[user].fate = STB_CHILD_ABANDONED;
	o->culprit = user;
}

/*
 * Whether the replicas did as they should while it was measured. What went wrong with the measuring itself is the better reason, but for a
 * server that gave no answer since it waited for its replicas.
 */
static void judge_replicas(struct stb_run *run, const struct repetition *r, struct outcome *o)
{
	struct stb_err why;
	enum stb_status of_replicas;

	if (!r->replicas || o->status == STB_STATUS_DISTURBED)
		return;
	stb_err_clear(&why);
	of_replicas = stb_replica_watch_end(r->replicas, &why);
	if (of_replicas == STB_STATUS_OK || (!stb_status_valid(o->status) && of_replicas != STB_STATUS_FALLBACK))
		return;
	o->err = why;
	o->blamed = STB_NONE;
	if (of_replicas == STB_STATUS_DISTURBED && stb_group_server_ends(run, run->plan->cells[r->cell].group, &why))
		o->err = why;
	o->status = of_replicas;
}

/* Whether the volumes were what the spec asked for. */
static void judge_volumes(struct stb_run *run, uint32_t group, struct outcome *o)
{
	const struct stb_group_run *g = &run->groups[group];
	const uint32_t n = g->volumes ? run->plan->groups[group].n_mounts * (1 + g->n_replicas) : 0;

	for (uint32_t i = 0; i < n && stb_status_valid(o->status); i++)
		if (g->volumes[i] && stb_volume_fell_back(g->volumes[i], &o->err))
			o->status = STB_STATUS_FALLBACK;
}

/* Whether a member of a mix ended by its size or its events while others went on for a part of their time that is worth telling. */
static bool ended_apart(const struct repetition *r)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < r->n; i++)
		longest = STB_MAX(longest, r->works[i].phase->result.window_ns);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_measure *m = &r->works[i].phase->result;

		if ((m->end == STB_END_SIZE || m->end == STB_END_EVENTS) && (double)m->window_ns < TOGETHER_SHARE * (double)longest)
			return true;
	}
	return false;
}

/*
 * A mix is worth what the least of its members is. Where one failed it is that one: the others were stopped, and say nothing of themselves;
 * else the first that is not valid; else one that ended by size.
 */
static void judge(struct stb_run *run, const struct repetition *r, struct outcome *o)
{
	o->status = STB_STATUS_OK;
	o->blamed = STB_NONE;
	stb_err_clear(&o->err);
	blame_server(run, r, o);
	for (uint32_t i = 0; i < r->n && stb_status_valid(o->status); i++) {
		const struct work *w = &r->works[i];
		struct stb_mix_member *m = &o->members[i];
		enum stb_status status;

		if (o->culprit != STB_NONE && o->culprit != i)
			continue;
		status = stb_judge(w->workload, w->is_io, m->fate, &w->phase->result, &m->err);
		if (status == STB_STATUS_OK)
			continue;
		o->status = status;
		o->blamed = i;
		o->err = m->err;
	}
	if (o->status == STB_STATUS_OK && ended_apart(r))
		o->status = STB_STATUS_ENDED_BY_SIZE;
	judge_replicas(run, r, o);
	if (stb_status_valid(o->status)) { /* who ended by size is told by the figures */
		o->blamed = STB_NONE;
		judge_volumes(run, run->plan->cells[r->cell].group, o);
		if (stb_status_valid(o->status))
			return;
	}
	if (!o->err.span && r->works[0].workload->span != STB_NONE && o->blamed == STB_NONE)
		o->err.span = r->works[0].workload->span + 1;
	if (o->blamed == STB_NONE)
		return;
	if (!o->err.span && r->works[o->blamed].workload->span != STB_NONE)
		o->err.span = r->works[o->blamed].workload->span + 1;
	if (r->n > 1 && o->err.set)
		stb_err_wrap(&o->err, "workload `%s` of the mix", r->works[o->blamed].workload->name);
}

/* After a repetition of I/O that failed: what has become of its target, for whoever looks there, and for the cells that follow on it. */
static void say_target(const struct stb_run *run, const struct work *w)
{
	const struct stb_plan_mount *mount = stb_plan_mount_of(run->plan, w->group, w->workload);
	const struct stb_plan_attr *rw = stb_plan_attr(w->workload, "rw");
	const struct stb_measure *m = &w->phase->result;
	const bool only_reads = rw && rw->val.str && strstr(rw->val.str, "read");
	const uint64_t written = m->ok[STB_WRITE] + m->ok[STB_TRIM];

	if (!mount)
		return;
	fprintf(stderr, "  state of the target: ");
	if (!m->issued)
		fprintf(stderr, "nothing was measured on it");
	else if (only_reads)
		fprintf(stderr, "it was only read");
	else
		fprintf(stderr, "%llu of %llu I/Os were done, %llu of them writes or trims", (unsigned long long)(m->ok[STB_READ] + written),
			(unsigned long long)m->issued, (unsigned long long)written);
	fprintf(stderr, "; volume `%s` stays as it is until it is provisioned anew or removed\n", run->plan->blocks[mount->volume].name);
}

static void add_device(struct stb_blockstat *to, const struct stb_blockstat *from)
{
	to->known = true;
	to->read_ios += from->read_ios;
	to->read_bytes += from->read_bytes;
	to->write_ios += from->write_ios;
	to->write_bytes += from->write_bytes;
}

/* Of the workloads on one device, the one that was measured longest tells what the device did. */
static bool tells_of_device(const struct repetition *r, uint32_t index)
{
	const struct work *w = &r->works[index];

	if (!w->phase->result.device.known)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct work *other = &r->works[i];
		const uint64_t mine = w->phase->result.window_ns, its = other->phase->result.window_ns;

		if (i != index && !strcmp(other->stat_file, w->stat_file) && (its > mine || (its == mine && i < index)))
			return false;
	}
	return true;
}

static void sum_up_mix(const struct repetition *r, struct stb_mix_measure *out)
{
	const struct stb_measure *on_server = NULL; /* of who was measured longest, and with it the events of all */

	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_measure *m = &r->works[i].phase->result;

		out->overlap_ns = i ? STB_MIN(out->overlap_ns, m->window_ns) : m->window_ns;
		out->all_ns = STB_MAX(out->all_ns, m->window_ns);
		out->events += r->works[i].is_io ? 0 : m->ok[0];
		if (tells_of_device(r, i))
			add_device(&out->device, &m->device);
		if (!r->works[i].is_io && (!on_server || m->window_ns > on_server->window_ns))
			on_server = m;
	}
	if (on_server)
		out->server = on_server->server;
}

static void add_rows(struct stb_run *run, struct repetition *r, enum stb_status status)
{
	struct stb_mix_measure mix;
	struct stb_err err;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct work *w = &r->works[i];
		const struct stb_measure *m = &w->phase->result;

		if (!m->window_ns)
			stb_results_add_partial(run->results, r->cell, r->slot, r->number, w->member, w->total.ops, w->total.bytes, w->total.errors,
				w->sampled_ns, status);
		else if (w->member == STB_NONE)
			stb_results_add_measure(run->results, r->cell, r->slot, r->number, m, status);
		else
			stb_results_add_member(run->results, r->cell, r->slot, r->number, w->member, m, status);
	}
	if (r->n > 1) {
		sum_up_mix(r, &mix);
		stb_results_add_mix(run->results, r->cell, r->slot, r->number, &mix, status);
	}
	stb_err_clear(&err);
	if (r->lag_s >= 0 && stb_results_add(run->results, r->cell, r->slot, r->number, "replica_lag", r->lag_s, status, &err))
		STB_BUG("the key of a repetition is there already");
}

static void record(struct stb_run *run, struct repetition *r, struct outcome *o)
{
	const size_t from = run->results->n_rows;
	const struct stb_measure *measures[STB_MAX_MEMBERS];

	for (uint32_t i = 0; i < r->n; i++) {
		measures[i] = &r->works[i].phase->result;
		if (r->works[i].is_io)
			stb_record_engine(run, r->works[i].workload, measures[i]);
	}
	stb_record_cell(run, "end", r->cell, r->slot, r->number, &o->err);
	add_rows(run, r, o->status);
	stb_record_result(run, r->cell, r->slot, r->number, from, o->status, stb_status_valid(o->status) ? NULL : o->err.what, measures, &r->series);
	run->done++;
	say_done(run, r, from, o->status);
	if (!stb_status_valid(o->status)) {
		stb_run_fail(run, r->cell, r->slot, r->number, "%s", o->err.what);
		stb_run_say_error(run, &o->err);
		if (o->status == STB_STATUS_ERRORS && o->blamed != STB_NONE && r->works[o->blamed].is_io)
			say_target(run, &r->works[o->blamed]);
	}
	for (uint32_t i = 0; i < r->n; i++)
		if (r->works[i].phase->alloc_calls)
			stb_progress_say(&run->progress, "stb: bug: %llu allocations in the measured phase of %s",
				(unsigned long long)r->works[i].phase->alloc_calls, r->label);
}

/* Without anybody at fault. One that had ended before is redone with the others. */
static bool interrupted(struct stb_run *run, const struct repetition *r, const struct outcome *o)
{
	if (r->n > 1 && stb_signals_check(&run->signals))
		return true;
	for (uint32_t i = 0; i < r->n && o->culprit == STB_NONE; i++)
		if (o->members[i].fate == STB_CHILD_INTERRUPTED)
			return true;
	return false;
}

/* From set-up to the record; nothing is recorded of a repetition that was interrupted. */
static void carry_out(struct stb_run *run, struct repetition *r)
{
	const struct stb_plan_cell *c = &run->plan->cells[r->cell];
	struct outcome *o = stb_xcalloc(1, sizeof *o);
	const struct work *on_server;

	set_up_all(run, r);
	on_server = first_on_server(r);
	if (map_phases(r, &o->err) || stb_replica_watch_begin(&r->replicas, run, c->group, on_server ? on_server->phase : r->works[0].phase,
					      run->plan->matrices[c->matrix].interval_ns, &o->err)) {
		record_unrun(run, r, o->err.what);
		goto out;
	}
	stb_record_cell(run, "begin", r->cell, r->slot, r->number, NULL);
	run->what = stb_arena_printf(&run->arena, "%s #%u", r->label, r->number);
	run_children(r, o);
	if (interrupted(run, r, o)) {
		stb_err_set(&o->err, 0, "interrupted");
		stb_record_cell(run, "end", r->cell, r->slot, r->number, &o->err);
		goto out;
	}
	judge(run, r, o);
	record(run, r, o);
out:
	stb_replica_watch_free(r->replicas);
	for (uint32_t i = 0; i < r->n; i++)
		stb_phase_unmap(r->works[i].phase);
	free(o);
}

void stb_run_measure(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const uint32_t group = run->plan->cells[cell].group;
	struct repetition *r = stb_xcalloc(1, sizeof *r);

	*r = (struct repetition){ .cell = cell, .slot = slot, .number = repetition, .lag_s = -1 };
	r->label = stb_plan_cell_label(&run->arena, run->plan, cell);
	stb_buf_init(&r->series);
	if (!stb_group_ready(run, run->plan->cells[cell].matrix, group)) {
		if (!run->signals.first)
			record_unrun(run, r, run->groups[group].why.what);
	} else if (!stb_signals_check(&run->signals)) {
		carry_out(run, r);
	}
	stb_buf_fini(&r->series);
	free(r);
}

/* --- what is not measured -------------------------------------------------------------------------------------------------------------- */

static int run_unmeasured(struct work *w, uint32_t workers, struct stb_err *err)
{
	enum stb_child_fate fate;

	w->job.signals = &w->run->signals;
	w->job.grace_ns = GRACE_NS;
	w->job.tick_ns = TICK_NS;
	w->job.ctx = w;
	w->job.tick = tick;
	w->phase = stb_phase_map(workers, err);
	if (!w->phase)
		return -1;
	fate = stb_child_run(&w->job, w->phase, err);
	stb_phase_unmap(w->phase);
	if (fate == STB_CHILD_INTERRUPTED)
		stb_err_set(err, 0, "interrupted");
	return fate == STB_CHILD_DONE ? 0 : -1;
}

int stb_run_fill(struct stb_run *run, uint32_t group, const struct stb_plan_block *workload, struct stb_err *err)
{
	const struct stb_volume *v = volume_of(run, group, workload);
	struct work w = { .run = run, .workload = workload, .group = group, .is_io = true, .member = STB_NONE };

	/* what is filled depends on the group, not on the cell that happens to come first */
	w.io = (struct stb_io_setup){ .plan = run->plan, .workload = workload, .seed = 1, .cell = stb_hash_u64(run->plan->groups[group].id),
		.repetition = 1 };
	set_up_io(&w, v);
	w.job.still_ns = stb_judge_still_ns(workload, true);
	return run_unmeasured(&w, stb_io_workers(workload), err);
}

int stb_run_load(struct stb_run *run, const struct stb_oltp_setup *setup, struct stb_err *err)
{
	struct work w = { .run = run, .member = STB_NONE, .job = { .run = run_load, .setup = setup, .still_ns = LOAD_STILL_NS } };

	return run_unmeasured(&w, 1, err); /* one line of live counters; the load counts in progress_done */
}
