/*
 * diff_match.c - what of two plans belongs together: blocks whose name alone changed, matrices, cells.
 *
 * Blocks are told apart by name; of those that stand in one plan only, two with the same kind, type and attributes are one block that was
 * renamed. References are compared through the renames found so far, so a storage class and the volume that names it may change names at once.
 *
 * Cells of two matrices with one name are paired by where they stand on the axes (through the renames), what is left by id. So a changed
 * attribute is a change of the cells and not a loss of the old ones and a gain of new ones, and an axis that is added leaves its old point in
 * place.
 */
#include "compiler/diff_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- a map --------------------------------------------------------------------------------------------------------------------------- */

void stb_diff_map_init(struct stb_diff_map *m, struct stb_arena *a, size_t expected)
{
	*m = (struct stb_diff_map){ .arena = a, .cap = 16 };
	while (m->cap < expected * 2)
		m->cap *= 2;
	m->keys = STB_NEW_ARRAY(a, const char *, m->cap);
	m->values = STB_NEW_ARRAY(a, uint32_t, m->cap);
}

static size_t slot_of(const struct stb_diff_map *m, const char *key)
{
	uint64_t hash = 14695981039346656037u;
	size_t i;

	for (const char *p = key; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	for (i = (hash ^ hash >> 32) & (m->cap - 1); m->keys[i] && strcmp(m->keys[i], key); i = (i + 1) & (m->cap - 1))
		;
	return i;
}

uint32_t *stb_diff_map_put(struct stb_diff_map *m, const char *key, bool *is_new)
{
	size_t i;

	if (m->n * 2 >= m->cap) {
		struct stb_diff_map bigger;

		stb_diff_map_init(&bigger, m->arena, m->cap);
		for (size_t k = 0; k < m->cap; k++) {
			if (!m->keys[k])
				continue;
			i = slot_of(&bigger, m->keys[k]);
			bigger.keys[i] = m->keys[k];
			bigger.values[i] = m->values[k];
		}
		bigger.n = m->n;
		*m = bigger;
	}
	i = slot_of(m, key);
	*is_new = !m->keys[i];
	if (*is_new) {
		m->keys[i] = stb_arena_strdup(m->arena, key);
		m->values[i] = STB_NONE;
		m->n++;
	}
	return &m->values[i];
}

uint32_t stb_diff_map_get(const struct stb_diff_map *m, const char *key)
{
	const size_t i = slot_of(m, key);

	return m->keys[i] ? m->values[i] : STB_NONE;
}

bool stb_diff_map_has(const struct stb_diff_map *m, const char *key)
{
	return m->keys[slot_of(m, key)] != NULL;
}

/* --- names --------------------------------------------------------------------------------------------------------------------------- */

static void add_rename(struct stb_diffing *x, const char *kind, const char *before, const char *after)
{
	STB_ARENA_GROW(x->arena, x->renames, x->n_renames, x->cap_renames);
	x->renames[x->n_renames++] = (struct stb_diff_rename){ kind, before, after };
}

static bool is_block_kind(const char *kind)
{
	return strncmp(kind, "axis ", 5) && strcmp(kind, "matrix");
}

const char *stb_diff_name(const struct stb_diffing *x, const char *kind, const char *before)
{
	for (uint32_t i = 0; i < x->n_renames; i++) {
		const struct stb_diff_rename *r = &x->renames[i];

		if (!strcmp(r->before, before) && (kind ? !strcmp(r->kind, kind) : is_block_kind(r->kind)))
			return r->after;
	}
	return before;
}

static const char *axis_kind(const struct stb_diffing *x, uint32_t matrix_before)
{
	return stb_arena_printf(x->arena, "axis %s", x->before->matrices[matrix_before].name);
}

const char *stb_diff_axis_name(const struct stb_diffing *x, uint32_t matrix_before, uint32_t axis)
{
	const char *name = x->before->matrices[matrix_before].axes[axis].name;

	return x->n_renames ? stb_diff_name(x, axis_kind(x, matrix_before), name) : name;
}

const char *stb_diff_key(const struct stb_diffing *x, const struct stb_plan_axis *axis_before, uint32_t value)
{
	const char *key = axis_before->values[value].key;

	return *axis_before->kind ? stb_diff_name(x, axis_before->kind, key) : key;
}

struct stb_val stb_diff_renamed(const struct stb_diffing *x, const struct stb_val *v)
{
	struct stb_val out = *v;

	if (!x->n_renames)
		return out;
	if (v->type == STB_V_REF)
		out.str = stb_diff_name(x, NULL, v->str);
	if (v->type != STB_V_LIST || !v->n_items)
		return out;
	out.items = STB_NEW_ARRAY(x->arena, struct stb_val, v->n_items);
	for (uint32_t i = 0; i < v->n_items; i++)
		out.items[i] = stb_diff_renamed(x, &v->items[i]);
	return out;
}

/* --- renamed blocks ------------------------------------------------------------------------------------------------------------------ */

/* Kinds that are named by others come first. */
static const char *const kinds[] = { "pin", "server", "storage", "volume", "database", "workload" };

static bool has_block(const struct stb_plan *p, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (!strcmp(p->blocks[i].kind, kind) && !strcmp(p->blocks[i].name, name))
			return true;
	return false;
}

/* Not the first of its name: variants are neighbours. */
static bool is_variant(const struct stb_plan *p, uint32_t i)
{
	return i && !strcmp(p->blocks[i - 1].kind, p->blocks[i].kind) && !strcmp(p->blocks[i - 1].name, p->blocks[i].name);
}

/* All that a block is but its name, over all its variants; of `before` in the names of `after`. */
static const char *signature(struct stb_diffing *x, const struct stb_plan *p, uint32_t block)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	for (uint32_t i = block; i < p->n_blocks; i++) {
		const struct stb_plan_block *v = &p->blocks[i];

		if (strcmp(v->kind, p->blocks[block].kind) || strcmp(v->name, p->blocks[block].name))
			break; /* variants are neighbours */
		stb_buf_printf(&b, "%s\n", v->type);
		for (uint32_t k = 0; k < v->n_attrs; k++) {
			const struct stb_val val = p == x->before ? stb_diff_renamed(x, &v->attrs[k].val) : v->attrs[k].val;

			stb_buf_printf(&b, "%s=", v->attrs[k].name);
			stb_val_print(&b, &val);
			stb_buf_addc(&b, '\n');
		}
	}
	text = stb_arena_strndup(x->arena, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

static void find_renamed_blocks(struct stb_diffing *x, const char *kind)
{
	const struct stb_plan *before = x->before, *after = x->after;
	struct stb_diff_map gone;
	bool is_new;

	stb_diff_map_init(&gone, x->arena, 16);
	for (uint32_t i = 0; i < before->n_blocks; i++) {
		const struct stb_plan_block *b = &before->blocks[i];

		if (strcmp(b->kind, kind) || is_variant(before, i) || has_block(after, kind, b->name))
			continue;
		uint32_t *place = stb_diff_map_put(&gone, signature(x, before, i), &is_new);

		if (is_new)
			*place = i;
	}
	if (!gone.n)
		return;
	for (uint32_t i = 0; i < after->n_blocks; i++) {
		const struct stb_plan_block *b = &after->blocks[i];

		if (strcmp(b->kind, kind) || is_variant(after, i) || has_block(before, kind, b->name))
			continue;
		uint32_t *place = stb_diff_map_put(&gone, signature(x, after, i), &is_new);

		if (!is_new && *place != STB_NONE) {
			add_rename(x, kind, before->blocks[*place].name, b->name);
			*place = STB_NONE; /* taken */
		}
	}
}

/* --- matrices and axes --------------------------------------------------------------------------------------------------------------- */

static bool same_values(const struct stb_diffing *x, const struct stb_plan_axis *a, const struct stb_plan_axis *b)
{
	if (a->n_values != b->n_values || strcmp(a->kind, b->kind))
		return false;
	for (uint32_t i = 0; i < a->n_values; i++)
		if (strcmp(stb_diff_key(x, a, i), b->values[i].key))
			return false;
	return true;
}

static bool has_axis(const struct stb_plan_matrix *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_axes; i++)
		if (!strcmp(m->axes[i].name, name))
			return true;
	return false;
}

static void find_renamed_axes(struct stb_diffing *x, uint32_t before, uint32_t after)
{
	const struct stb_plan_matrix *a = &x->before->matrices[before], *b = &x->after->matrices[after];
	bool *taken = STB_NEW_ARRAY(x->arena, bool, b->n_axes);

	for (uint32_t i = 0; i < a->n_axes; i++) {
		if (has_axis(b, a->axes[i].name))
			continue;
		for (uint32_t k = 0; k < b->n_axes; k++) {
			if (taken[k] || has_axis(a, b->axes[k].name) || !same_values(x, &a->axes[i], &b->axes[k]))
				continue;
			taken[k] = true;
			add_rename(x, axis_kind(x, before), a->axes[i].name, b->axes[k].name);
			break;
		}
	}
}

static uint32_t find_matrix(const struct stb_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_matrices; i++)
		if (!strcmp(p->matrices[i].name, name))
			return i;
	return STB_NONE;
}

/* Of the matrices of `before` that are not taken, the one that shares most cells with one of `after`; STB_NONE: none shares any. */
static uint32_t most_alike(struct stb_diffing *x, const bool *taken, const struct stb_plan_matrix *m)
{
	const struct stb_plan *p = x->before;
	uint32_t *shared = STB_NEW_ARRAY(x->arena, uint32_t, p->n_matrices), best = STB_NONE;
	struct stb_diff_map ids;
	bool is_new;

	stb_diff_map_init(&ids, x->arena, m->n_cells);
	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++)
		stb_diff_map_put(&ids, x->after->cells[i].id, &is_new);
	for (uint32_t k = 0; k < p->n_matrices; k++) {
		const struct stb_plan_matrix *old = &p->matrices[k];

		for (uint32_t i = old->first_cell; !taken[k] && i < old->first_cell + old->n_cells; i++)
			shared[k] += stb_diff_map_has(&ids, p->cells[i].id);
		if (shared[k] && (best == STB_NONE || shared[k] > shared[best]))
			best = k;
	}
	return best;
}

static void match_matrices(struct stb_diffing *x)
{
	bool *taken = STB_NEW_ARRAY(x->arena, bool, x->before->n_matrices);

	x->matrix_partner = STB_NEW_ARRAY(x->arena, uint32_t, x->after->n_matrices);
	for (uint32_t i = 0; i < x->after->n_matrices; i++) {
		x->matrix_partner[i] = find_matrix(x->before, x->after->matrices[i].name);
		if (x->matrix_partner[i] != STB_NONE)
			taken[x->matrix_partner[i]] = true;
	}
	for (uint32_t i = 0; i < x->after->n_matrices; i++) {
		const struct stb_plan_matrix *m = &x->after->matrices[i];

		if (x->matrix_partner[i] == STB_NONE) {
			const uint32_t k = most_alike(x, taken, m);

			x->matrix_partner[i] = k;
			if (k == STB_NONE)
				continue;
			taken[k] = true;
			add_rename(x, "matrix", x->before->matrices[k].name, m->name);
		}
		find_renamed_axes(x, x->matrix_partner[i], i);
	}
}

/* --- cells --------------------------------------------------------------------------------------------------------------------------- */

struct step { /* one axis of a key */
	const char *name;
	uint32_t axis;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct step *)a)->name, ((const struct step *)b)->name);
}

struct keys { /* how the cells of a matrix are named */
	const struct stb_plan_matrix *matrix;
	struct step *steps;
	const char ***texts; /* [axis][value] */
};

static void prepare_keys(struct stb_diffing *x, struct keys *k, bool is_before, uint32_t matrix)
{
	const struct stb_plan_matrix *m = &(is_before ? x->before : x->after)->matrices[matrix];

	k->matrix = m;
	k->steps = STB_NEW_ARRAY(x->arena, struct step, m->n_axes);
	k->texts = STB_NEW_ARRAY(x->arena, const char **, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		k->steps[i] = (struct step){ is_before ? stb_diff_axis_name(x, matrix, i) : m->axes[i].name, i };
		k->texts[i] = STB_NEW_ARRAY(x->arena, const char *, m->axes[i].n_values);
		for (uint32_t v = 0; v < m->axes[i].n_values; v++)
			k->texts[i][v] = is_before ? stb_diff_key(x, &m->axes[i], v) : m->axes[i].values[v].key;
	}
	qsort(k->steps, m->n_axes, sizeof(*k->steps), by_name);
}

static const char *cell_key(const struct keys *k, const struct stb_plan_cell *c, struct stb_buf *b)
{
	stb_buf_clear(b);
	for (uint32_t i = 0; i < k->matrix->n_axes; i++) {
		const uint32_t value = c->point[k->steps[i].axis];

		if (value == STB_NONE)
			continue;
		stb_buf_adds(b, k->steps[i].name);
		stb_buf_addc(b, '\1');
		stb_buf_adds(b, k->texts[k->steps[i].axis][value]);
		stb_buf_addc(b, '\2');
	}
	return stb_buf_str(b);
}

static void pair(struct stb_diffing *x, bool *taken, uint32_t before, uint32_t after)
{
	if (before == STB_NONE || taken[before] || x->d->partner[after] != STB_NONE)
		return;
	x->d->partner[after] = before;
	taken[before] = true;
}

static void pair_by_key(struct stb_diffing *x, bool *taken, uint32_t before, uint32_t after)
{
	const struct stb_plan_matrix *a = &x->before->matrices[before], *b = &x->after->matrices[after];
	struct stb_diff_map places;
	struct keys keys;
	struct stb_buf text;
	bool is_new;

	stb_buf_init(&text);
	stb_diff_map_init(&places, x->arena, a->n_cells);
	prepare_keys(x, &keys, true, before);
	for (uint32_t i = a->first_cell; i < a->first_cell + a->n_cells; i++)
		*stb_diff_map_put(&places, cell_key(&keys, &x->before->cells[i], &text), &is_new) = i;
	prepare_keys(x, &keys, false, after);
	for (uint32_t i = b->first_cell; i < b->first_cell + b->n_cells; i++)
		pair(x, taken, stb_diff_map_get(&places, cell_key(&keys, &x->after->cells[i], &text)), i);
	stb_buf_fini(&text);
}

/* What is left: the same work at another place of the matrix, or in another matrix. */
static void pair_by_id(struct stb_diffing *x, bool *taken)
{
	const struct stb_plan *before = x->before, *after = x->after;
	struct stb_diff_map ids, left;
	bool is_new;

	stb_diff_map_init(&ids, x->arena, before->n_cells);
	stb_diff_map_init(&left, x->arena, 16);
	for (uint32_t i = 0; i < before->n_cells; i++) {
		*stb_diff_map_put(&ids, before->cells[i].id, &is_new) = i;
		if (!taken[i])
			*stb_diff_map_put(&left, before->cells[i].id, &is_new) = i;
	}
	for (uint32_t i = 0; i < after->n_cells; i++) {
		x->d->kept[i] = stb_diff_map_get(&ids, after->cells[i].id) != STB_NONE;
		if (x->d->partner[i] == STB_NONE)
			pair(x, taken, stb_diff_map_get(&left, after->cells[i].id), i);
	}
}

void stb_diff_match(struct stb_diffing *x)
{
	struct stb_diff *d = x->d;
	bool *taken = STB_NEW_ARRAY(x->arena, bool, x->before->n_cells);

	for (size_t i = 0; i < STB_LEN(kinds); i++)
		find_renamed_blocks(x, kinds[i]);
	match_matrices(x);
	d->partner = STB_NEW_ARRAY(x->arena, uint32_t, x->after->n_cells);
	d->kept = STB_NEW_ARRAY(x->arena, bool, x->after->n_cells);
	d->gone = STB_NEW_ARRAY(x->arena, uint32_t, x->before->n_cells);
	memset(d->partner, 0xFF, x->after->n_cells * sizeof(*d->partner)); /* STB_NONE */
	for (uint32_t i = 0; i < x->after->n_matrices; i++)
		if (x->matrix_partner[i] != STB_NONE)
			pair_by_key(x, taken, x->matrix_partner[i], i);
	pair_by_id(x, taken);
	for (uint32_t i = 0; i < x->before->n_cells; i++)
		if (!taken[i])
			d->gone[d->n_gone++] = i;
	for (uint32_t i = 0; i < x->after->n_cells; i++) {
		d->n_added += d->partner[i] == STB_NONE;
		d->n_kept += d->kept[i];
		d->n_changed += d->partner[i] != STB_NONE && strcmp(x->before->cells[d->partner[i]].id, x->after->cells[i].id);
	}
}
