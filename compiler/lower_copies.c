/*
 * lower_copies.c - where a data set is loaded once and given out as copies of the server's files, instead of being loaded again and again.
 *
 * The rule depends on the plan alone: a matrix does so where it would provision a group directly after that same group (its cells or repetitions
 * are to be fresh, and several in a row share their provisioning), and where every volume of a stated size has room for the data twice. Then
 * it does so for all of its groups, those with a single cell included, so that every cell stands on the same. Whether directories have room
 * only the machine knows; where they have not, the run says so and loads anew.
 */
#include "compiler/expand.h"

#include <inttypes.h>
#include <stdlib.h>

/* Which matrices would make a group anew right after itself. */
static void find_repeated(const struct stb_plan *p, bool *repeats)
{
	uint8_t *runs = stb_plan_runnable(p, NULL);
	struct stb_steps *it = stb_steps_new(p, runs);
	uint32_t removed = STB_NONE, matrix = STB_NONE;
	struct stb_step s;

	while (stb_steps_next(it, &s)) {
		if (s.op == STB_OP_PROVISION && s.group == removed && s.matrix == matrix)
			repeats[s.matrix] = true;
		removed = s.op == STB_OP_DEPROVISION ? s.group : STB_NONE;
		matrix = s.matrix;
	}
	stb_steps_free(it);
	free(runs);
}

/* Whether the matrix has cells on private servers with data to be loaded, and none of them lacks the room. */
static bool has_room(const struct stb_plan *p, const struct stb_plan_matrix *m, const uint64_t *copy_bytes)
{
	bool any = false;

	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++) {
		const struct stb_plan_group *g = &p->groups[p->cells[i].group];

		if (g->dataset == STB_NONE || g->not_run)
			continue;
		if (!copy_bytes[p->cells[i].group])
			return false;
		any = true;
	}
	return any;
}

void stb_lower_copies(struct stb_lowering *l, const char **notes, uint32_t *n_notes)
{
	struct stb_plan *p = l->plan;
	uint64_t *copy_bytes = STB_NEW_ARRAY(l->x->arena, uint64_t, p->n_groups + 1);
	bool *repeats = STB_NEW_ARRAY(l->x->arena, bool, p->n_matrices + 1);

	for (uint32_t i = 0; i < p->n_groups; i++) {
		copy_bytes[i] = p->groups[i].copy_bytes;
		p->groups[i].copy_bytes = 0;
	}
	find_repeated(p, repeats);
	for (uint32_t i = 0; i < p->n_matrices; i++) {
		const struct stb_plan_matrix *m = &p->matrices[i];

		if (!repeats[i] || !has_room(p, m, copy_bytes))
			continue;
		for (uint32_t k = m->first_cell; k < m->first_cell + m->n_cells; k++)
			p->groups[p->cells[k].group].copy_bytes = copy_bytes[p->cells[k].group];
		notes[(*n_notes)++] = stb_arena_printf(l->x->arena,
			"matrix `%s` loads a group's data once and gives each %s a copy of the server's files as they were then; "
			"the server is started on it, so its caches hold what it reads in by itself (innodb_buffer_pool_load_at_startup)",
			m->name, m->fresh == STB_FRESH_CELL ? "cell" : "repetition");
	}
	for (uint32_t i = 0; i < p->n_groups; i++)
		if (!p->groups[i].copy_bytes)
			p->groups[i].restore_ns = 0;
}
