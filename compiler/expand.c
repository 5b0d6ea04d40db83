/*
 * expand.c - matrices to cells.
 *
 * Cells are walked in nesting order, one at a time; beside what the plan says about a cell nothing is kept but two pointers, to its chain and to its
 * env (chain.c). What can be wrong in many cells at once (a reference that nothing binds, a setting that touches nothing, cells that are the
 * same) is counted while walking and told once, with the number of cells and the first of them (expand_tell.c).
 */
#include "compiler/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t default_max_cells = 100000;

const char *stb_xcell_label(const struct stb_expansion *x, uint32_t cell)
{
	const struct stb_plan_cell *c = &x->planned[cell];
	const struct stb_xmatrix *m = x->matrices[c->matrix];
	const char *text = NULL;

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (c->point[i] == STB_NONE || m->axes[i].run)
			continue;
		const char *key = m->axes[i].values[c->point[i]].key;

		text = text ? stb_arena_printf(x->arena, "%s / %s", text, key) : key;
	}
	return text ? text : m->block->name;
}

/* --- the cells of one matrix, in nesting order --- */

static void visit(struct stb_walk *w);

static bool walk_axis(struct stb_walk *w, uint32_t i)
{
	if (i == w->m->n_axes) {
		if (!w->counting)
			visit(w);
		return ++w->n <= w->limit;
	}
	const struct stb_xaxis *axis = &w->m->axes[i];

	if (!stb_xselect_match(&axis->where, w->m, w->point)) {
		w->point[i] = STB_NONE;
		return walk_axis(w, i + 1);
	}
	w->m->axes[i].holds = true;
	for (uint32_t v = 0; v < axis->n_values; v++) {
		w->point[i] = v;
		if (!walk_axis(w, i + 1))
			return false;
	}
	return true;
}

static const char *grouped(struct stb_arena *a, uint64_t n)
{
	char digits[32];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *out = stb_arena_alloc(a, (size_t)len * 2 + 1), *p = out;

	for (int i = 0; i < len; i++) {
		*p++ = digits[i];
		if (i + 1 < len && (len - i - 1) % 3 == 0)
			*p++ = ',';
	}
	return out;
}

/* Whether the product of the axes is within the limit, known before a single cell is made. */
static bool within_limit(struct stb_expansion *x, struct stb_xmatrix *m)
{
	const uint64_t limit = x->m->options->max_cells ? STB_MIN(x->m->options->max_cells, UINT32_MAX / 2) :
		default_max_cells;
	bool conditional = false, over = false;
	const char *axes = "";
	uint64_t product = 1;
	struct stb_diag *d;

	if (m->n_axes > STB_MAX_AXES) {
		stb_diag(x->sink, STB_E0505, m->block->span, "matrix `%s` has %u axes; %d is the most", m->block->name,
			m->n_axes, STB_MAX_AXES);
		return false;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		over = __builtin_mul_overflow(product, m->axes[i].n_values, &product) || over;
		conditional = conditional || m->axes[i].where.n;
		axes = stb_arena_printf(x->arena, "%s%s%s (%u)", axes, i ? " x " : "", m->axes[i].name,
			m->axes[i].n_values);
	}
	if (!over && product <= limit)
		return true;
	if (conditional) { /* the product is an upper bound only */
		struct stb_walk w = { .x = x, .m = m, .counting = true, .limit = limit };

		if (walk_axis(&w, 0))
			return true;
	}
	d = stb_diag(x->sink, STB_E0505, m->block->span,
		"matrix `%s` has %s%s cells, more than the %s that are allowed", m->block->name,
		conditional ? "up to " : "", over ? "over 10^18" : grouped(x->arena, product),
		grouped(x->arena, limit));
	stb_diag_note(x->sink, d, "its axes: %s = %s", axes, over ? "over 10^18" : grouped(x->arena, product));
	stb_diag_help(x->sink, d, "leave values out, or allow it with --max-cells %s",
		over ? "N" : stb_arena_printf(x->arena,
		"%" PRIu64, product));
	return false;
}

/* --- one cell --- */

/* The settings of the cell's own axes and of the overrides that select it. */
static void gather_active(struct stb_walk *w)
{
	struct stb_xsettings *to = &w->active;

	to->n = 0;
	for (uint32_t i = 0; i < w->m->n_axes; i++) {
		if (w->point[i] == STB_NONE)
			continue;
		const struct stb_xsettings *from = &w->m->axes[i].values[w->point[i]].settings;

		for (uint32_t k = 0; k < from->n; k++) {
			STB_ARENA_GROW(w->x->arena, to->items, to->n, to->cap);
			to->items[to->n++] = from->items[k];
		}
	}
	for (uint32_t o = 0; o < w->m->n_overrides; o++) {
		struct stb_xoverride *over = &w->m->overrides[o];

		if (!stb_xselect_match(&over->where, w->m, w->point))
			continue;
		over->n_cells++;
		for (uint32_t k = 0; k < over->settings.n; k++) {
			STB_ARENA_GROW(w->x->arena, to->items, to->n, to->cap);
			to->items[to->n++] = over->settings.items[k];
		}
	}
}

static bool excluded(struct stb_walk *w)
{
	bool out = false;

	for (uint32_t i = 0; i < w->m->n_excludes; i++) {
		if (stb_xselect_match(&w->m->excludes[i].where, w->m, w->point)) {
			w->m->excludes[i].n_cells++;
			out = true;
		}
	}
	return out;
}

/* The same cells once more, of another run. */
static bool is_later_run(const struct stb_xmatrix *m, const struct stb_plan_cell *c)
{
	return m->run_axis != STB_NONE && c->point[m->run_axis];
}

/* Sixteen digits are what people see and type, so two cells of a matrix that share them are refused as well. */
static void note_id(struct stb_walk *w, uint32_t cell)
{
	struct stb_plan_cell *cells = w->x->planned;
	const uint32_t other = stb_plan_ids_put(&w->x->ids, cells, cell, 16);

	if (other == STB_NONE)
		return;
	if (!strcmp(cells[other].id, cells[cell].id))
		cells[cell].same_as = cells[other].same_as;
	if (cells[other].matrix != w->m->index || is_later_run(w->m, &cells[cell]))
		return;
	if (!w->n_same++) {
		w->same_a = is_later_run(w->m, &cells[other]) ? cells[other].same_as : other;
		w->same_b = cell;
	}
}

static void note_ids(struct stb_walk *w)
{
	const struct stb_plan_cell *cells = w->x->planned;

	for (uint32_t i = w->m->first_cell; i < w->x->n_cells; i++) {
		if (w->x->n_cells - i > STB_PLAN_IDS_AHEAD)
			stb_plan_ids_expect(&w->x->ids, &cells[i + STB_PLAN_IDS_AHEAD]);
		if (cells[i].id[0])
			note_id(w, i);
	}
}

static void resolve(struct stb_walk *w, uint32_t cell)
{
	const struct stb_chain *chain = stb_chain_find(w, cell);
	const struct stb_env *env = stb_env_find(w, chain, cell);

	for (uint32_t i = 0; i < w->active.n; i++) {
		struct stb_xsetting *s = w->active.items[i];

		if (s->seen != cell + 1 && !s->missed++)
			s->first_missed = cell;
	}
	w->x->cells[cell] = (struct stb_xcell){ chain ? chain->index : STB_NONE, env ? env->index : STB_NONE };
	if (chain && !w->n_lacks)
		stb_identity_cell(env, chain, w->x->planned[cell].id);
}

static void visit(struct stb_walk *w)
{
	struct stb_expansion *x = w->x;
	const uint32_t cell = x->n_cells;

	if (excluded(w))
		return;
	STB_ASSERT(cell < x->cap_cells);
	x->n_cells++;
	x->planned[cell] = (struct stb_plan_cell){ .matrix = w->m->index, .point = w->points, .same_as = cell };
	memcpy(w->points, w->point, w->m->n_axes * sizeof(*w->point));
	w->points += w->m->n_axes;
	w->m->n_cells++;
	gather_active(w);
	resolve(w, cell);
}

/* Room for all cells of the matrix: they are counted, because doubling would hold several copies. */
static void make_room(struct stb_walk *w)
{
	struct stb_walk count = { .x = w->x, .m = w->m, .counting = true, .limit = UINT64_MAX };
	struct stb_expansion *x = w->x;

	walk_axis(&count, 0);
	w->points = STB_NEW_ARRAY(x->plan_arena, uint32_t, count.n * w->m->n_axes);
	if (x->n_cells + count.n > x->cap_cells) {
		struct stb_plan_cell *planned = x->planned;
		struct stb_xcell *cells = x->cells;

		STB_ASSERT(count.n < UINT32_MAX / 4 && x->cap_cells < UINT32_MAX / 4);
		x->cap_cells = STB_MAX(x->n_cells + (uint32_t)count.n, x->cap_cells * 2);
		x->planned = STB_NEW_ARRAY(x->plan_arena, struct stb_plan_cell, x->cap_cells);
		x->cells = STB_NEW_ARRAY(x->arena, struct stb_xcell, x->cap_cells);
		if (x->n_cells) {
			memcpy(x->planned, planned, x->n_cells * sizeof(*planned));
			memcpy(x->cells, cells, x->n_cells * sizeof(*cells));
		}
	}
	stb_plan_ids_reserve(&x->ids, x->planned, x->n_cells + (uint32_t)count.n);
}

static bool only_io(const struct stb_model *model)
{
	for (uint32_t i = 0; i < model->n_blocks; i++) {
		if (model->blocks[i]->kind == STB_K_WORKLOAD && strcmp(model->blocks[i]->type->type, "io"))
			return false;
	}
	return true;
}

static bool list_has_others(const struct stb_xsettings *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i]->kind != STB_K_WORKLOAD)
			return true;
	}
	return false;
}

static bool only_loads(const struct stb_xmatrix *m)
{
	for (uint32_t i = 0; i < m->n_overrides; i++) {
		if (list_has_others(&m->overrides[i].settings))
			return false;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			if (list_has_others(&m->axes[i].values[v].settings))
				return false;
		}
	}
	return true;
}

static bool list_wants_cell(const struct stb_xsettings *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		for (uint32_t t = 0; t < list->items[i]->n_types; t++) {
			if (list->items[i]->made[t] && stb_wants_cell(list->items[i]->made[t]))
				return true;
		}
	}
	return false;
}

static bool wants_cell(const struct stb_model *model, const struct stb_xmatrix *m)
{
	for (uint32_t i = 0; i < model->n_blocks; i++) {
		for (uint32_t k = 0; k < model->blocks[i]->n_settings; k++) {
			if (stb_wants_cell(&model->blocks[i]->settings[k]))
				return true;
		}
	}
	for (uint32_t i = 0; i < m->n_overrides; i++) {
		if (list_wants_cell(&m->overrides[i].settings))
			return true;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			if (list_wants_cell(&m->axes[i].values[v].settings))
				return true;
		}
	}
	return false;
}

static void expand_matrix(struct stb_expansion *x, const struct stb_block *block)
{
	struct stb_xmatrix *m = stb_xmatrix_read(x, block);
	struct stb_walk w = { .x = x, .m = m, .limit = UINT64_MAX };

	m->index = x->n_matrices;
	m->first_cell = x->n_cells;
	STB_ARENA_GROW(x->arena, x->matrices, x->n_matrices, x->cap_matrices);
	x->matrices[x->n_matrices++] = m;
	if (m->bad)
		return;
	if (!within_limit(x, m)) {
		m->bad = true;
		return;
	}
	stb_intern_init(&w.chains, x->arena);
	w.workload = stb_xmatrix_axis(m, "workload", m->n_axes);
	w.tail = stb_identity_tail(x->arena, m->fresh);
	w.tail_len = strlen(w.tail);
	w.only_io = only_io(x->m);
	w.only_loads = only_loads(m);
	w.by_cell = wants_cell(x->m, m);
	make_room(&w);
	w.n_errors_before = x->sink->n_errors;
	walk_axis(&w, 0);
	note_ids(&w);
	stb_walk_tell(&w);
	if (!m->n_cells)
		stb_diag(x->sink, STB_E0519, block->span,
			"no cell of matrix `%s` is left: its exclusions cover all of them", block->name);
	if (w.n_lacks)
		m->bad = true;
}

void stb_expand(struct stb_expansion *x)
{
	stb_plan_ids_init(&x->ids);
	stb_intern_init(&x->by_source, x->arena);
	stb_intern_init(&x->by_content, x->arena);
	stb_intern_init(&x->by_scope, x->arena);
	stb_intern_init(&x->by_env, x->arena);
	stb_intern_init(&x->texts, x->arena);
	stb_intern_init(&x->reported, x->arena);
	for (uint32_t i = 0; i < x->m->n_blocks; i++) {
		if (x->m->blocks[i]->kind == STB_K_MATRIX)
			expand_matrix(x, x->m->blocks[i]);
	}
	stb_plan_ids_fini(&x->ids);
}
