/*
 * expand_tell.c - what can be wrong in many cells at once: told once, with the number of cells and the first of them.
 */
#include "compiler/walk.h"

#include <string.h>

void stb_tell_cells(struct stb_expansion *x, struct stb_diag *d, const struct stb_xmatrix *m, uint32_t n,
	uint32_t first)
{
	if (m->n_cells < 2)
		return;
	if (n == m->n_cells)
		stb_diag_note(x->sink, d, "in all %u cells of matrix `%s`", n, m->block->name);
	else
		stb_diag_note(x->sink, d, "in %u of %u cells of matrix `%s`, first: %s", n, m->n_cells, m->block->name,
			stb_xcell_label(x, first));
}

static void report_lacks(struct stb_walk *w)
{
	for (uint32_t i = 0; i < w->n_lacks; i++) {
		const struct stb_lack *l = &w->lacks[i];
		const char *kind = stb_kind_name(l->block->kind);
		struct stb_diag *d = stb_diag(w->x->sink, STB_E0509, l->block->span,
			"nothing says which %s %s `%s` uses", stb_kind_name((enum stb_kind)l->row->ref_kind), kind,
			l->block->name);

		stb_tell_cells(w->x, d, w->m, l->n_cells, l->first_cell);
		stb_diag_help(w->x->sink, d, "write `%s = NAME` in it, or give matrix `%s` an axis `%s`", l->row->name,
			w->m->block->name, stb_kind_name((enum stb_kind)l->row->ref_kind));
	}
}

static void report_selectors(struct stb_walk *w)
{
	struct stb_xmatrix *m = w->m;

	if (w->x->m->profile) /* judged on the bare spec */
		return;
	for (uint32_t i = 0; i < m->n_excludes; i++) {
		if (!m->excludes[i].n_cells)
			stb_diag(w->x->sink, STB_E0508, m->excludes[i].where.span,
				"this exclusion matches no cell of matrix `%s`", m->block->name);
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!m->axes[i].holds)
			stb_diag(w->x->sink, STB_E0508, m->axes[i].where.span,
				"the where of axis `%s` matches no cell of matrix `%s`", m->axes[i].name,
				m->block->name);
	}
	for (uint32_t i = 0; i < m->n_overrides; i++) {
		if (!m->overrides[i].n_cells && m->n_cells)
			stb_diag(w->x->sink, STB_E0508, m->overrides[i].where.span,
				"this override matches no cell of matrix `%s`", m->block->name);
	}
}

/* Settings that stand at one place in the spec (an axis has one a value) are told once. */
static void report_missed(struct stb_walk *w, struct stb_xsetting *const *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_xsetting *s = items[i];
		uint32_t missed = s->missed;
		struct stb_diag *d;

		if (!missed || (s->origin != STB_FROM_AXIS && w->x->m->profile))
			continue;
		for (uint32_t k = 0; k < n; k++) {
			if (k != i && items[k]->span.begin == s->span.begin && items[k]->span.file == s->span.file) {
				missed += items[k]->missed;
				items[k]->missed = 0;
			}
		}
		d = stb_diag(w->x->sink, STB_E0515, s->span, "`%s` touches no block of the cell", s->text);
		stb_tell_cells(w->x, d, w->m, missed, s->first_missed);
		stb_diag_help(w->x->sink, d, "say with `where { ... }` in which cells %s holds",
			s->origin == STB_FROM_AXIS ? "the axis" : "the override");
	}
}

static void report_missed_axis(struct stb_walk *w, const struct stb_xaxis *axis)
{
	struct stb_xsettings all = { 0 };

	for (uint32_t v = 0; v < axis->n_values; v++) {
		for (uint32_t i = 0; i < axis->values[v].settings.n; i++) {
			STB_ARENA_GROW(w->x->arena, all.items, all.n, all.cap);
			all.items[all.n++] = axis->values[v].settings.items[i];
		}
	}
	report_missed(w, all.items, all.n);
}

static void report_axes(struct stb_walk *w)
{
	for (uint32_t i = 0; i < w->m->n_axes; i++) {
		const struct stb_xaxis *axis = &w->m->axes[i];
		struct stb_diag *d;

		report_missed_axis(w, axis);
		if (axis->kind < 0 || axis->kind == STB_K_WORKLOAD || axis->described || axis->taken || w->n_lacks)
			continue;
		if (axis->kind == STB_K_SERVER) {
			d = stb_diag(w->x->sink, STB_E0510, axis->span, "nothing in matrix `%s` runs in the servers of its axis",
				w->m->block->name);
			stb_diag_note(w->x->sink, d, "I/O and private databases run in the server of a cell; here all databases are external");
			stb_diag_help(w->x->sink, d, "describe the servers with type external, or place the load with `client`");
			continue;
		}
		d = stb_diag(w->x->sink, STB_E0510, axis->span, "no block of matrix `%s` takes its %s from axis `%s`",
			w->m->block->name, axis->name, axis->name);
		stb_diag_note(w->x->sink, d,
			"an axis by kind binds the blocks that leave out `%s`; here none needs one or all name theirs",
			axis->name);
		stb_diag_help(w->x->sink, d, "leave `%s` out where the axis should bind it, or remove the axis",
			axis->name);
	}
}

static void report_same(struct stb_walk *w)
{
	const uint32_t *a, *b;
	struct stb_diag *d;

	if (!w->n_same || w->x->sink->n_errors > w->n_errors_before)
		return;
	a = w->x->planned[w->same_a].point;
	b = w->x->planned[w->same_b].point;
	d = stb_diag(w->x->sink, STB_E0517, w->m->block->span, "matrix `%s` has cells that are the same: %s and %s",
		w->m->block->name, stb_xcell_label(w->x, w->same_a), stb_xcell_label(w->x, w->same_b));
	if (w->n_same > 1)
		stb_diag_note(w->x->sink, d, "%u of its %u cells repeat another one", w->n_same, w->m->n_cells);
	for (uint32_t i = 0; i < w->m->n_axes; i++) {
		if (a[i] != b[i])
			stb_diag_label(w->x->sink, d, w->m->axes[i].span, "axis `%s` changes nothing between them",
				w->m->axes[i].name);
	}
	stb_diag_help(w->x->sink, d,
		"exclude what repeats, or put workloads that do not use the axis in a matrix of their own");
}

void stb_walk_tell(struct stb_walk *w)
{
	report_lacks(w);
	report_selectors(w);
	for (uint32_t i = 0; i < w->m->n_overrides; i++)
		report_missed(w, w->m->overrides[i].settings.items, w->m->overrides[i].settings.n);
	report_axes(w);
	report_same(w);
}
