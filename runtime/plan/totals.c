/*
 * totals.c - what a plan costs, by walking its steps: whatever order and fresh say is counted as it will be carried out.
 */
#include "runtime/plan/plan.h"

#include <stdlib.h>
#include <string.h>

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void count_measurement(const struct stb_plan_cell *c, struct stb_plan_totals *out)
{
	out->n_measurements++;
	add(&out->time_ns, c->measure_ns);
	if (c->write_bytes == STB_UNBOUNDED)
		out->write_unbounded = true;
	else
		add(&out->write_bytes, c->write_bytes);
}

uint64_t stb_plan_group_space(const struct stb_plan_group *g)
{
	uint64_t bytes = g->space_bytes;

	for (uint32_t i = 0; i < g->n_mounts; i++)
		add(&bytes, g->mounts[i].space_bytes);
	return bytes;
}

uint8_t *stb_plan_runnable(const struct stb_plan *p, const uint8_t *keep)
{
	uint8_t *runs = stb_xcalloc(p->n_cells, 1);

	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct stb_plan_cell *c = &p->cells[i];
		const struct stb_plan_mix *mix = stb_plan_mix_of(p, i);

		runs[i] = (!keep || keep[i]) && !p->groups[c->group].not_run && !p->blocks[c->workload].not_run;
		for (uint32_t k = 0; k < mix->n; k++)
			runs[i] = runs[i] && !p->blocks[mix->members[k]].not_run;
	}
	return runs;
}

void stb_plan_totals(const struct stb_plan *p, const uint8_t *keep, struct stb_plan_totals *out)
{
	struct stb_steps *it = stb_steps_new(p, keep);
	uint8_t *kept = stb_xcalloc((size_t)p->n_groups + 1, 1);
	uint64_t space_bytes = 0;
	struct stb_step s;

	memset(out, 0, sizeof(*out));
	while (stb_steps_next(it, &s)) {
		switch (s.op) {
		case STB_OP_PROVISION:
			out->n_provisions++;
			add(&out->time_ns, p->groups[s.group].provision_ns);
			add(&out->load_bytes, p->groups[s.group].load_bytes);
			add(&space_bytes, stb_plan_group_space(&p->groups[s.group]));
			out->peak_space_bytes = STB_MAX(out->peak_space_bytes, space_bytes);
			break;
		case STB_OP_KEEP:
			kept[s.group] = 1;
			add(&space_bytes, p->groups[s.group].copy_bytes);
			out->peak_space_bytes = STB_MAX(out->peak_space_bytes, space_bytes);
			break;
		case STB_OP_RESTORE:
			out->n_restores++;
			add(&out->time_ns, p->groups[s.group].restore_ns);
			add(&out->load_bytes, p->groups[s.group].copy_bytes);
			break;
		case STB_OP_DEPROVISION:
			space_bytes -= STB_MIN(space_bytes, stb_plan_group_space(&p->groups[s.group]));
			space_bytes -= kept[s.group] ? STB_MIN(space_bytes, p->groups[s.group].copy_bytes) : 0;
			kept[s.group] = 0;
			break;
		case STB_OP_COOLDOWN:
			add(&out->time_ns, s.wait_ns);
			break;
		case STB_OP_MEASURE:
			count_measurement(&p->cells[s.cell], out);
			break;
		case STB_OP_WAIT_SLOT:
		case STB_OP_START:
		case STB_OP_LOAD:
		case STB_OP_STOP:
			break;
		}
	}
	stb_steps_free(it);
	free(kept);
}
