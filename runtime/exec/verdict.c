/*
 * verdict.c - what a repetition is worth: of what each of its workloads is worth (judge.c), and of what they stand on.
 */
#include "runtime/exec/judge.h"
#include "runtime/exec/repetition.h"

/*
 * An error may only be the echo of a server that died: then that is the reason, whichever workload noticed it first, and one that works on the server
 * tells of it. Its end is told once, so that where one process was asked to stop for it nobody else hears of it.
 */
static void blame_server(struct stb_run *run, const struct stb_repetition *r, struct stb_outcome *o)
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
static void judge_replicas(struct stb_run *run, const struct stb_repetition *r, struct stb_outcome *o)
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
static void judge_volumes(struct stb_run *run, uint32_t group, struct stb_outcome *o)
{
	const struct stb_group_run *g = &run->groups[group];
	const uint32_t n = g->volumes ? run->plan->groups[group].n_mounts * (1 + g->n_replicas) : 0;

	for (uint32_t i = 0; i < n && stb_status_valid(o->status); i++)
		if (g->volumes[i] && stb_volume_fell_back(g->volumes[i], &o->err))
			o->status = STB_STATUS_FALLBACK;
}

/* Whether a member of a mix ended by its size or its events while others went on for a part of their time that is worth telling. */
static bool ended_apart(const struct stb_repetition *r)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < r->n; i++)
		longest = STB_MAX(longest, r->works[i].phase->result.window_ns);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_measure *m = &r->works[i].phase->result;

		if ((m->end == STB_END_SIZE || m->end == STB_END_EVENTS) && 100 * (double)m->window_ns < STB_TOGETHER_PERCENT * (double)longest)
			return true;
	}
	return false;
}

/*
 * A mix is worth what the least of its members is. Where one failed it is that one: the others were stopped, and say nothing of themselves;
 * else the first that is not valid; else one that ended by size.
 */
void stb_repetition_judge(struct stb_run *run, const struct stb_repetition *r, struct stb_outcome *o)
{
	o->status = STB_STATUS_OK;
	o->blamed = STB_NONE;
	stb_err_clear(&o->err);
	blame_server(run, r, o);
	for (uint32_t i = 0; i < r->n && stb_status_valid(o->status); i++) {
		const struct stb_work *w = &r->works[i];
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
