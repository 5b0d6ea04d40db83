/*
 * demand.c - see demand.h. The workloads of a mix are on the server at the same time: what they ask is added up. Of two measurements that follow each
 * other the greater one counts.
 */
#include "runtime/exec/demand.h"

#include <string.h>

struct sum {
	unsigned rights;
	struct stb_db_room room;
	uint32_t n_workloads;
};

static void add(struct sum *s, const struct stb_plan_block *workload)
{
	if (strcmp(workload->type, "oltp"))
		return;
	s->rights |= stb_oltp_rights(workload);
	stb_oltp_add_room(&s->room, workload);
	s->n_workloads++;
}

/* Of a cell that has a database. */
static struct sum sum_of(const struct stb_plan *p, uint32_t cell)
{
	const struct stb_plan_group *g = &p->groups[p->cells[cell].group];
	const struct stb_plan_block *db = &p->blocks[g->database];
	const bool external = !strcmp(db->type, "external");
	const uint32_t dataset = g->dataset;
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);
	struct sum s = { .rights = 0 };
	bool semi_sync;

	for (uint32_t i = 0; i < mix->n; i++)
		add(&s, &p->blocks[mix->members[i]]);
	if (!mix->n)
		add(&s, &p->blocks[p->cells[cell].workload]);
	s.room.own = stb_plan_own_connections(s.n_workloads, external && dataset != STB_NONE && stb_oltp_tables(&p->blocks[dataset]),
		external ? 0 : stb_replication_of(db, &semi_sync));
	return s;
}

static void note(struct stb_demand *d, const struct sum *s, uint32_t workload)
{
	d->rights |= s->rights;
	if (s->room.threads + s->room.own > d->room.threads + d->room.own) {
		d->room.threads = s->room.threads;
		d->room.own = s->room.own;
		d->connects = workload;
	}
	if (s->room.prepared > d->room.prepared) {
		d->room.prepared = s->room.prepared;
		d->prepares = workload;
	}
}

struct stb_demand *stb_demand_new(struct stb_run *run)
{
	const struct stb_plan *p = run->plan;
	struct stb_demand *demand = stb_xcalloc((size_t)p->n_blocks + 1, sizeof *demand);
	struct stb_remaining *it = stb_remaining_new(p, run->o->keep, &run->present);
	struct stb_step step;

	while (stb_remaining_next(it, &step)) {
		const uint32_t db = step.op == STB_OP_MEASURE ? p->groups[step.group].database : STB_NONE; /* others may have no group */
		struct sum s;

		if (db == STB_NONE)
			continue;
		s = sum_of(p, step.cell);
		note(&demand[db], &s, p->cells[step.cell].workload);
	}
	stb_remaining_free(it);
	return demand;
}
