/*
 * measure.c - one repetition of one cell: the phase in a child, or of a mix one in a child for each member; and what runs like one and is none, a
 * fill or a load. repetition.h says where the rest is.
 */
#include "runtime/exec/judge.h"
#include "runtime/exec/repetition.h"

#include "runtime/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_NS (30 * STB_NS_PER_S)     /* beyond the asked time: drain, end_fsync */
#define LOAD_STILL_NS (300 * STB_NS_PER_S) /* an index build moves no counter */
#define TICK_NS (STB_NS_PER_S / 5)

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

static bool server_lives(void *ctx, struct stb_err *err)
{
	struct stb_work *w = ctx;

	return !stb_group_server_died(w->run, w->group, err);
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

static void set_up_io(struct stb_work *w, const struct stb_volume *v)
{
	w->io.dir = v ? stb_volume_dir(v) : NULL;
	w->io.device = v ? stb_volume_device(v) : NULL;
	find_device(v, w->stat_file);
	w->io.stat_file = w->stat_file;
	w->job.run = run_io;
	w->job.setup = &w->io;
}

static void set_up_oltp(struct stb_work *w, const struct stb_volume *v)
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

static uint64_t warm_ns(const struct stb_work *w)
{
	return stb_judge_u64(w->workload, w->is_io ? "ramp_time" : "warmup_time");
}

/* The streams of a member are its own; those of a cell's own workload are the cell's. */
static uint64_t stream_of(const struct stb_work *w)
{
	const uint64_t id = stb_hash_u64(w->run->plan->cells[w->of->cell].id);

	return w->member == STB_NONE ? id : id + 0x9e3779b97f4a7c15u * (w->member + 1);
}

static void set_up(struct stb_work *w, struct stb_run *run, struct stb_repetition *r, const struct stb_plan_block *workload, uint32_t member)
{
	const struct stb_plan *p = run->plan;
	const struct stb_plan_cell *c = &p->cells[r->cell];
	const uint64_t seed = p->matrices[c->matrix].seed;
	const struct stb_volume *v = volume_of(run, c->group, workload);
	uint64_t asked;

	*w = (struct stb_work){ .run = run, .of = r, .workload = workload, .member = member, .group = c->group, .is_io = !strcmp(workload->type, "io") };
	w->io = (struct stb_io_setup){ .plan = p, .workload = workload, .seed = seed, .cell = stream_of(w), .repetition = r->number };
	w->oltp = (struct stb_oltp_setup){ .plan = p, .workload = workload, .matrix = &p->matrices[c->matrix], .seed = seed, .cell = stream_of(w),
		.repetition = r->number };
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
	w->job.sample = stb_live_sample;
	w->job.tick = stb_live_tick;
	w->job.watch = server_lives;
}

static void set_up_all(struct stb_run *run, struct stb_repetition *r)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(run->plan, r->cell);

	for (; r->n < mix->n; r->n++)
		set_up(&r->works[r->n], run, r, &run->plan->blocks[mix->members[r->n]], r->n);
	if (!r->n)
		set_up(&r->works[r->n++], run, r, &run->plan->blocks[run->plan->cells[r->cell].workload], STB_NONE);
}

/* For as long as any workload is on the server. */
static int watch_replicas(struct stb_run *run, struct stb_repetition *r, struct stb_err *err)
{
	const struct stb_plan_cell *c = &run->plan->cells[r->cell];
	const struct stb_phase *phases[STB_MAX_MEMBERS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (!r->works[i].is_io)
			phases[n++] = r->works[i].phase;
	return n ? stb_replica_watch_begin(&r->replicas, run, c->group, phases, n, run->plan->matrices[c->matrix].interval_ns, err) : 0;
}

static int map_phases(struct stb_repetition *r, struct stb_err *err)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct stb_work *w = &r->works[i];

		w->phase = stb_phase_map(w->is_io ? stb_io_workers(w->workload) : stb_oltp_workers(w->workload), err);
		if (!w->phase)
			return -1;
	}
	return 0;
}

/* --- one repetition -------------------------------------------------------------------------------------------------------------------- */

static void run_children(struct stb_repetition *r, struct stb_outcome *o)
{
	bool settles = false;

	o->culprit = STB_NONE;
	for (uint32_t i = 0; i < r->n; i++) {
		struct stb_work *w = &r->works[i];

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

/* Without anybody at fault. One that had ended before is redone with the others. */
static bool interrupted(struct stb_run *run, const struct stb_repetition *r, const struct stb_outcome *o)
{
	if (r->n > 1 && stb_signals_check(&run->signals))
		return true;
	for (uint32_t i = 0; i < r->n && o->culprit == STB_NONE; i++)
		if (o->members[i].fate == STB_CHILD_INTERRUPTED)
			return true;
	return false;
}

/* From set-up to the record; nothing is recorded of a repetition that was interrupted. */
static void carry_out(struct stb_run *run, struct stb_repetition *r)
{
	struct stb_outcome *o = stb_xcalloc(1, sizeof *o);

	set_up_all(run, r);
	if (map_phases(r, &o->err) || watch_replicas(run, r, &o->err)) {
		stb_repetition_record_unrun(run, r, o->err.what);
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
	stb_repetition_judge(run, r, o);
	stb_repetition_record(run, r, o);
out:
	stb_replica_watch_free(r->replicas);
	for (uint32_t i = 0; i < r->n; i++)
		stb_phase_unmap(r->works[i].phase);
	free(o);
}

void stb_run_measure(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const uint32_t group = run->plan->cells[cell].group;
	struct stb_repetition *r = stb_xcalloc(1, sizeof *r);

	*r = (struct stb_repetition){ .cell = cell, .slot = slot, .number = repetition, .lag_s = -1 };
	r->label = stb_plan_cell_label(&run->arena, run->plan, cell);
	stb_buf_init(&r->series);
	if (!stb_group_ready(run, run->plan->cells[cell].matrix, group)) {
		if (!run->signals.first)
			stb_repetition_record_unrun(run, r, run->groups[group].why.what);
	} else if (!stb_signals_check(&run->signals)) {
		carry_out(run, r);
	}
	stb_buf_fini(&r->series);
	free(r);
}

/* --- what is not measured -------------------------------------------------------------------------------------------------------------- */

static int run_unmeasured(struct stb_work *w, uint32_t workers, struct stb_err *err)
{
	enum stb_child_fate fate;

	w->job.signals = &w->run->signals;
	w->job.grace_ns = GRACE_NS;
	w->job.tick_ns = TICK_NS;
	w->job.ctx = w;
	w->job.tick = stb_live_tick;
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
	struct stb_work w = { .run = run, .workload = workload, .group = group, .is_io = true, .member = STB_NONE };

	/* what is filled depends on the group, not on the cell that happens to come first */
	w.io = (struct stb_io_setup){ .plan = run->plan, .workload = workload, .seed = 1, .cell = stb_hash_u64(run->plan->groups[group].id),
		.repetition = 1 };
	set_up_io(&w, v);
	w.job.still_ns = stb_judge_still_ns(workload, true);
	return run_unmeasured(&w, stb_io_workers(workload), err);
}

int stb_run_load(struct stb_run *run, const struct stb_oltp_setup *setup, struct stb_err *err)
{
	struct stb_work w = { .run = run, .member = STB_NONE, .job = { .run = run_load, .setup = setup, .still_ns = LOAD_STILL_NS } };

	return run_unmeasured(&w, 1, err); /* one line of live counters; the load counts in progress_done */
}
