/*
 * diff.c - what a change of a spec means for what is measured.
 *
 * The two plans are compared block by block for every pair of cells; blocks of the plan stand once per variant, so a pair of blocks is
 * compared once however many cells it serves. What comes out is gathered twice:
 *
 *   one line of the spec   a value written once reaches several blocks (a storage class's options, say, those of its volumes): one entry
 *   one meaning            the same change of the same attribute in several blocks of a kind is one line of output that names them all
 *
 * A changed line that touches 300 cells so is one line with the count. Cells count once a line, however many of their blocks it touches.
 */
#include "compiler/diff_parts.h"

#include <stdlib.h>
#include <string.h>

struct group { /* a line to be */
	struct stb_diff_line line;
	const char *kind;
	const char **names, **places;
	uint32_t n_names, cap_names, n_places, cap_places;
	uint32_t last_cell;
};

struct pairing { /* two blocks that were compared, and the groups that this touches */
	uint32_t *groups;
	uint32_t n, cap;
};

enum { MAX_USED = 64 };

struct reached { /* blocks that another names */
	uint32_t v[MAX_USED], n;
};

/* Made when first asked for. What a database reaches hangs on what axes bind, which is one in a group. */
struct known {
	struct reached **by_block, **by_group;
};

struct gather {
	struct stb_diffing *x;
	struct stb_diff_map by_line, by_meaning, by_pair;
	struct group *groups;
	uint32_t n_groups, cap_groups;
	struct pairing *pairs;
	uint32_t n_pairs, cap_pairs;
	struct known before, after;
};

/* --- lines --------------------------------------------------------------------------------------------------------------------------- */

struct stb_diff_line *stb_diff_line(struct stb_diffing *x, enum stb_change_of of, enum stb_change change, const char *what)
{
	struct stb_diff *d = x->d;

	STB_ARENA_GROW(x->arena, d->lines, d->n_lines, d->cap_lines);
	d->lines[d->n_lines] = (struct stb_diff_line){ .of = of, .change = change, .what = what, .where = "" };
	return &d->lines[d->n_lines++];
}

const char *stb_diff_where(struct stb_diffing *x, const struct stb_plan *p, uint32_t span)
{
	if (span == STB_NONE || span >= p->n_spans || p->spans[span].file >= p->n_files)
		return "";
	return stb_arena_printf(x->arena, "%s:%u", p->files[p->spans[span].file].name, p->spans[span].line);
}

/* Adds a text to a short list unless it is there. */
static void note_once(struct stb_arena *a, const char ***list, uint32_t *n, uint32_t *cap, const char *text)
{
	for (uint32_t i = 0; i < *n; i++)
		if (!strcmp((*list)[i], text))
			return;
	STB_ARENA_GROW(a, *list, *n, *cap);
	(*list)[(*n)++] = text;
}

enum { LISTED = 4 };

static const char *joined(struct stb_arena *a, const char *const *list, uint32_t n)
{
	const char *text = n ? list[0] : "";

	for (uint32_t i = 1; i < n && i < LISTED; i++)
		text = stb_arena_printf(a, "%s, %s", text, list[i]);
	return n > LISTED ? stb_arena_printf(a, "%s and %u more", text, n - LISTED) : text;
}

/* --- blocks -------------------------------------------------------------------------------------------------------------------------- */

/*
 * References that a group and a cell do not resolve for us: workloads of a mix and fills, further volumes, pins. They are found by name;
 * where the plan has several variants of a block, by what the axes of the cell bind.
 */
static const char *kind_of_reference(const char *attribute, bool *indirect)
{
	static const char *const kinds[][2] = {
		{ "run", "workload" }, { "prepare", "workload" }, { "redo_volume", "volume" }, { "binlog_volume", "volume" },
		{ "tmp_volume", "volume" }, { "client", "server" }, { "pin", "pin" }, { "volume", "volume" }, { "storage", "storage" },
		{ "database", "database" }, { "server", "server" },
	};

	for (size_t i = 0; i < STB_LEN(kinds); i++) {
		if (strcmp(kinds[i][0], attribute))
			continue;
		*indirect = i < 7;
		return kinds[i][1];
	}
	return NULL;
}

/* How many references of the block are what the axes by kind of the cell say. */
static uint32_t agreement(const struct stb_plan *p, const struct stb_plan_block *b, const struct stb_plan_cell *c)
{
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_axes; i++) {
		const struct stb_plan_attr *a = *m->axes[i].kind && c->point[i] != STB_NONE ? stb_plan_attr(b, m->axes[i].kind) : NULL;

		n += a && a->val.type == STB_V_REF && !strcmp(a->val.str, m->axes[i].values[c->point[i]].key);
	}
	return n;
}

/* The variant of a block that the cell has, as far as that can be told (NULL: no cell); STB_NONE where several could be it. */
static uint32_t variant(const struct stb_plan *p, const char *kind, const char *name, const struct stb_plan_cell *c)
{
	uint32_t found = STB_NONE, best = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct stb_plan_block *b = &p->blocks[i];
		uint32_t n;

		if (strcmp(b->kind, kind) || strcmp(b->name, name))
			continue;
		n = 1 + (c ? agreement(p, b, c) : 0);
		if (n >= best)
			found = n > best ? i : STB_NONE;
		best = STB_MAX(best, n);
	}
	return found;
}

static void reach(const struct stb_plan *p, uint32_t block, const struct stb_plan_cell *c, bool first, struct reached *r);

static void reach_name(const struct stb_plan *p, const char *kind, const struct stb_val *v, const struct stb_plan_cell *c,
	struct reached *r)
{
	const uint32_t block = v->type == STB_V_REF ? variant(p, kind, v->str, c) : STB_NONE;

	for (uint32_t i = 0; v->type == STB_V_LIST && i < v->n_items; i++)
		reach_name(p, kind, &v->items[i], c, r);
	if (block == STB_NONE || r->n == MAX_USED)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->v[i] == block)
			return;
	r->v[r->n++] = block;
	reach(p, block, c, false, r);
}

/* Of the blocks that a cell names itself, only what it does not resolve; of the others, all. Ends: each block is reached once. */
static void reach(const struct stb_plan *p, uint32_t block, const struct stb_plan_cell *c, bool first, struct reached *r)
{
	const struct stb_plan_block *b = &p->blocks[block];

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		bool indirect = false;
		const char *kind = b->attrs[i].val.type == STB_V_REF || b->attrs[i].val.type == STB_V_LIST ?
			kind_of_reference(b->attrs[i].name, &indirect) : NULL;

		if (kind && (indirect || !first))
			reach_name(p, kind, &b->attrs[i].val, c, r);
	}
}

/* c: NULL where what the block reaches does not hang on the cell. */
static void add_reached(struct stb_arena *a, const struct stb_plan *p, struct reached **cache, uint32_t block, const struct stb_plan_cell *c,
	uint32_t used[MAX_USED], uint32_t *n)
{
	if (block == STB_NONE)
		return;
	if (!*cache) {
		*cache = STB_NEW(a, struct reached);
		/* of a database that is only described the group does not resolve the volume */
		reach(p, block, c, !c || p->groups[c->group].n_mounts, *cache);
	}
	for (uint32_t i = 0; i < (*cache)->n && *n < MAX_USED; i++)
		used[(*n)++] = (*cache)->v[i];
}

static struct reached **of_block(struct known *known, uint32_t block)
{
	return block == STB_NONE ? NULL : &known->by_block[block];
}

/* The blocks that a cell uses, storage first, data sets left out: they repeat what the workload says. Their number. */
static uint32_t used_blocks(struct stb_arena *a, const struct stb_plan *p, struct known *known, uint32_t cell, uint32_t used[MAX_USED])
{
	const struct stb_plan_cell *c = &p->cells[cell];
	const struct stb_plan_group *g = &p->groups[c->group];
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_mounts && n + 8 < MAX_USED; i++) {
		used[n++] = g->mounts[i].storage;
		used[n++] = g->mounts[i].volume;
	}
	used[n++] = g->database;
	used[n++] = c->server;
	used[n++] = c->client;
	used[n++] = c->workload;
	add_reached(a, p, &known->by_group[c->group], g->database, c, used, &n);
	add_reached(a, p, of_block(known, c->server), c->server, NULL, used, &n);
	add_reached(a, p, of_block(known, c->client), c->client, NULL, used, &n);
	add_reached(a, p, of_block(known, c->workload), c->workload, NULL, used, &n);
	return n;
}

static uint32_t group_of(struct gather *g, const char *kind, enum stb_change change, const char *attribute, const char *before,
	const char *after)
{
	struct stb_arena *a = g->x->arena;
	const char *key = stb_arena_printf(a, "%s\1%s\1%d\1%s\1%s", kind, attribute ? attribute : "", change, before ? before : "\2",
		after ? after : "\2");
	bool is_new;
	uint32_t *place = stb_diff_map_put(&g->by_meaning, key, &is_new);

	if (is_new) {
		STB_ARENA_GROW(a, g->groups, g->n_groups, g->cap_groups);
		g->groups[g->n_groups] = (struct group){ .kind = kind, .last_cell = STB_NONE };
		g->groups[g->n_groups].line = (struct stb_diff_line){ .of = STB_OF_BLOCK, .change = change, .attribute = attribute,
			.before = before, .after = after };
		*place = g->n_groups++;
	}
	return *place;
}

static void touch(struct gather *g, struct pairing *p, uint32_t group, const char *name, const char *where)
{
	struct stb_arena *a = g->x->arena;
	struct group *to = &g->groups[group];

	note_once(a, &to->names, &to->n_names, &to->cap_names, name);
	if (*where)
		note_once(a, &to->places, &to->n_places, &to->cap_places, where);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->groups[i] == group)
			return;
	STB_ARENA_GROW(a, p->groups, p->n, p->cap);
	p->groups[p->n++] = group;
}

/* An attribute's value before and after; either may be missing. */
static void compare_attr(struct gather *g, struct pairing *p, const struct stb_plan_block *block, const struct stb_plan_attr *before,
	const struct stb_plan_attr *after)
{
	struct stb_diffing *x = g->x;
	const struct stb_val old = before ? stb_diff_renamed(x, &before->val) : (struct stb_val){ .type = STB_V_NONE };
	const char *from = before ? stb_val_text(x->arena, &old) : NULL, *to = after ? stb_val_text(x->arena, &after->val) : NULL;
	const char *name = (before ? before : after)->name, *where;
	uint32_t *place;
	bool is_new;

	if (before && after && stb_val_equal(&old, &after->val))
		return;
	where = after ? stb_diff_where(x, x->after, after->span) : "";
	if (!*where && before)
		where = stb_diff_where(x, x->before, before->span);
	if (*where) {
		place = stb_diff_map_put(&g->by_line, stb_arena_printf(x->arena, "%s\1%s\1%s\1%s", where, name, from ? from : "\2", to ? to : "\2"),
			&is_new);
		if (is_new)
			*place = group_of(g, block->kind, STB_CHANGED, name, from, to);
		else if (strcmp(g->groups[*place].kind, block->kind)) { /* it reaches a block of another kind from here: said already */
			STB_ARENA_GROW(x->arena, p->groups, p->n, p->cap);
			p->groups[p->n++] = *place;
			return;
		}
	} else {
		place = NULL;
	}
	const uint32_t group = place ? *place : group_of(g, block->kind, STB_CHANGED, name, from, to);

	g->groups[group].line.address = (after ? after : before)->ident == STB_ADDRESS;
	touch(g, p, group, block->name, where);
}

static void compare_blocks(struct gather *g, struct pairing *p, const struct stb_plan_block *before, const struct stb_plan_block *after)
{
	struct stb_diffing *x = g->x;
	const bool same_type = !strcmp(before->type, after->type);
	const char *where = stb_diff_where(x, x->after, after->span);

	if (strcmp(before->name, after->name))
		touch(g, p, group_of(g, after->kind, STB_RENAMED, NULL, before->name, after->name), after->name, where);
	if (!same_type)
		touch(g, p, group_of(g, after->kind, STB_CHANGED, "type", before->type, after->type), after->name, where);
	for (uint32_t i = 0; i < after->n_attrs; i++) {
		const struct stb_plan_attr *new = &after->attrs[i], *old = stb_plan_attr(before, new->name);

		if (old || same_type || !new->is_default) /* what only the other type has is a consequence */
			compare_attr(g, p, after, old, new);
	}
	for (uint32_t i = 0; i < before->n_attrs; i++) {
		const struct stb_plan_attr *old = &before->attrs[i];

		if (!stb_plan_attr(after, old->name) && (same_type || !old->is_default))
			compare_attr(g, p, after, old, NULL);
	}
}

static uint32_t pair_of(struct gather *g, uint32_t before, uint32_t after)
{
	char key[32];
	bool is_new;
	uint32_t *place;

	snprintf(key, sizeof(key), "%u %u", before, after);
	place = stb_diff_map_put(&g->by_pair, key, &is_new);
	if (!is_new)
		return *place;
	STB_ARENA_GROW(g->x->arena, g->pairs, g->n_pairs, g->cap_pairs);
	g->pairs[g->n_pairs] = (struct pairing){ 0 };
	*place = g->n_pairs++;
	const uint32_t index = *place;

	compare_blocks(g, &g->pairs[index], &g->x->before->blocks[before], &g->x->after->blocks[after]);
	return index;
}

static void compare_cell(struct gather *g, uint32_t before, uint32_t after)
{
	const struct stb_plan *a = g->x->before, *b = g->x->after;
	uint32_t old[MAX_USED], new[MAX_USED];
	const uint32_t n_old = used_blocks(g->x->arena, a, &g->before, before, old), n_new = used_blocks(g->x->arena, b, &g->after, after, new);

	for (uint32_t i = 0; i < n_new; i++) {
		for (uint32_t k = 0; new[i] != STB_NONE && k < n_old; k++) {
			const struct stb_plan_block *o = old[k] == STB_NONE ? NULL : &a->blocks[old[k]], *n = &b->blocks[new[i]];

			if (!o || strcmp(o->kind, n->kind) || strcmp(stb_diff_name(g->x, o->kind, o->name), n->name))
				continue;
			const uint32_t pair = pair_of(g, old[k], new[i]);
			const struct pairing *p = &g->pairs[pair];

			for (uint32_t j = 0; j < p->n; j++) {
				struct group *to = &g->groups[p->groups[j]];

				to->line.n_cells += to->last_cell != after;
				to->last_cell = after;
			}
			break;
		}
	}
}

static void know(struct stb_arena *a, const struct stb_plan *p, struct known *known)
{
	known->by_block = STB_NEW_ARRAY(a, struct reached *, p->n_blocks);
	known->by_group = STB_NEW_ARRAY(a, struct reached *, p->n_groups);
}

static void compare_cells(struct stb_diffing *x)
{
	struct gather g = { .x = x };

	know(x->arena, x->before, &g.before);
	know(x->arena, x->after, &g.after);
	stb_diff_map_init(&g.by_line, x->arena, 16);
	stb_diff_map_init(&g.by_meaning, x->arena, 16);
	stb_diff_map_init(&g.by_pair, x->arena, 16);
	for (uint32_t i = 0; i < x->after->n_cells; i++)
		if (x->d->partner[i] != STB_NONE)
			compare_cell(&g, x->d->partner[i], i);
	for (uint32_t i = 0; i < g.n_groups; i++) {
		struct group *from = &g.groups[i];
		const char *names = joined(x->arena, from->names, from->n_names);
		struct stb_diff_line *to = stb_diff_line(x, STB_OF_BLOCK, from->line.change, NULL);

		*to = from->line;
		to->what = from->line.change == STB_RENAMED ? from->kind : stb_arena_printf(x->arena, "%s %s", from->kind, names);
		to->where = joined(x->arena, from->places, from->n_places);
	}
}

/* --- cells that come and go ---------------------------------------------------------------------------------------------------------- */

static bool has_value(const struct stb_diffing *x, bool is_before, uint32_t matrix, const char *axis, const char *key)
{
	const struct stb_plan_matrix *m = &(is_before ? x->before : x->after)->matrices[matrix];

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (strcmp(is_before ? stb_diff_axis_name(x, matrix, i) : m->axes[i].name, axis))
			continue;
		for (uint32_t k = 0; k < m->axes[i].n_values; k++)
			if (!strcmp(is_before ? stb_diff_key(x, &m->axes[i], k) : m->axes[i].values[k].key, key))
				return true;
	}
	return false;
}

static uint32_t partner_matrix(const struct stb_diffing *x, bool is_before, uint32_t matrix)
{
	if (!is_before)
		return x->matrix_partner[matrix];
	for (uint32_t i = 0; i < x->after->n_matrices; i++)
		if (x->matrix_partner[i] == matrix)
			return i;
	return STB_NONE;
}

/* What names the cells: `threads = 512` where the value is what came or went, NULL where no value alone says it. */
static const char *value_that_differs(struct stb_diffing *x, bool is_before, uint32_t matrix, uint32_t other, const uint32_t *point)
{
	const struct stb_plan_matrix *m = &(is_before ? x->before : x->after)->matrices[matrix];

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (point[i] == STB_NONE)
			continue;
		const char *axis = is_before ? stb_diff_axis_name(x, matrix, i) : m->axes[i].name;
		const char *key = is_before ? stb_diff_key(x, &m->axes[i], point[i]) : m->axes[i].values[point[i]].key;

		if (!has_value(x, !is_before, other, axis, key))
			return stb_arena_printf(x->arena, "%s = %s", m->axes[i].name, m->axes[i].values[point[i]].key);
	}
	return NULL;
}

enum { NAMED_CELLS = 5 };

/* The cells of one matrix that are in one of the plans only. */
static void list_cells(struct stb_diffing *x, bool is_before, uint32_t matrix, const uint32_t *cells, uint32_t n)
{
	const struct stb_plan *p = is_before ? x->before : x->after;
	const struct stb_plan_matrix *m = &p->matrices[matrix];
	const uint32_t other = partner_matrix(x, is_before, matrix), first = x->d->n_lines;
	const enum stb_change change = is_before ? STB_REMOVED : STB_ADDED;
	const char *what = stb_arena_printf(x->arena, "matrix %s", m->name), *where = stb_diff_where(x, p, m->span);
	struct stb_diff_map lines;
	uint32_t rest = 0;

	if (other == STB_NONE)
		return; /* the matrix came or went as a whole, which is said of it */
	stb_diff_map_init(&lines, x->arena, 16);
	for (uint32_t i = 0; i < n; i++) {
		const char *text = value_that_differs(x, is_before, matrix, other, p->cells[cells[i]].point);
		struct stb_diff_line *l;
		bool is_new;

		if (!text && n > NAMED_CELLS) {
			rest++;
			continue;
		}
		if (!text)
			text = stb_plan_cell_label(x->arena, p, cells[i]);
		uint32_t *place = stb_diff_map_put(&lines, text, &is_new);

		if (is_new) {
			*place = x->d->n_lines;
			l = stb_diff_line(x, STB_OF_CELLS, change, what);
			l->where = where;
			*(is_before ? &l->before : &l->after) = text;
		}
		x->d->lines[*place].n_cells++;
	}
	if (!rest)
		return;
	struct stb_diff_line *l = stb_diff_line(x, STB_OF_CELLS, change, what);

	l->where = where;
	l->n_cells = rest;
	*(is_before ? &l->before : &l->after) = x->d->n_lines - first > 1 ? "others" : NULL;
}

static void list_all_cells(struct stb_diffing *x, bool is_before)
{
	const struct stb_plan *p = is_before ? x->before : x->after;
	uint32_t *cells = STB_NEW_ARRAY(x->arena, uint32_t, p->n_cells), next = 0;

	for (uint32_t m = 0; m < p->n_matrices; m++) {
		const uint32_t first = p->matrices[m].first_cell, end = first + p->matrices[m].n_cells;
		uint32_t n = 0;

		for (uint32_t i = first; i < end && !is_before; i++)
			if (x->d->partner[i] == STB_NONE)
				cells[n++] = i;
		for (; is_before && next < x->d->n_gone && x->d->gone[next] < end; next++)
			if (x->d->gone[next] >= first)
				cells[n++] = x->d->gone[next];
		list_cells(x, is_before, m, cells, n);
	}
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

static int by_subject(const void *a, const void *b)
{
	const struct stb_diff_line *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return x->change < y->change ? -1 : x->change > y->change;
}

/* qsort is not stable, and lines of one subject stay in the order in which they were found. */
static void sort_lines(struct stb_diff *d)
{
	for (uint32_t i = 1; i < d->n_lines; i++) {
		const struct stb_diff_line l = d->lines[i];
		uint32_t k = i;

		for (; k > 0 && by_subject(&d->lines[k - 1], &l) > 0; k--)
			d->lines[k] = d->lines[k - 1];
		d->lines[k] = l;
	}
}

static const char *short_id(struct stb_arena *a, const char *id)
{
	return stb_arena_printf(a, "%.16s", id);
}

/*
 * Cells with another id that no line speaks of: in a variant of a mix's part, say. And a plan that is another one, though this comparison
 * found nothing. Nothing is passed over in silence.
 */
static void say_unexplained(struct stb_diffing *x)
{
	struct stb_diff_line *l;
	uint32_t first = 0;

	if (x->d->n_lines || x->d->reordered)
		return;
	if (!x->d->n_changed) {
		l = stb_diff_line(x, STB_OF_MATRIX, STB_CHANGED, "plan");
		l->attribute = "hash";
		l->before = short_id(x->arena, x->before->hash);
		l->after = short_id(x->arena, x->after->hash);
		return;
	}
	while (x->d->partner[first] == STB_NONE || x->d->kept[first])
		first++;
	l = stb_diff_line(x, STB_OF_CELLS, STB_CHANGED, "identity of cells, first");
	l->before = short_id(x->arena, x->before->cells[x->d->partner[first]].id);
	l->after = short_id(x->arena, x->after->cells[first].id);
	l->n_cells = x->d->n_changed;
}

static bool is_reordered(const struct stb_diffing *x)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < x->after->n_matrices; i++) {
		if (x->matrix_partner[i] == STB_NONE)
			continue;
		if (x->matrix_partner[i] < last)
			return true;
		last = x->matrix_partner[i];
	}
	return false;
}

struct stb_diff *stb_diff_plans(const struct stb_plan *before, const struct stb_plan *after)
{
	struct stb_diff *d = stb_xcalloc(1, sizeof(*d));
	struct stb_diffing x = { .d = d, .arena = &d->arena, .before = before, .after = after };

	stb_arena_init(&d->arena);
	d->before = before;
	d->after = after;
	stb_plan_totals(before, NULL, &d->cost_before);
	stb_plan_totals(after, NULL, &d->cost_after);
	stb_diff_match(&x);
	d->reordered = is_reordered(&x);
	if (strcmp(before->hash, after->hash)) {
		compare_cells(&x);
		list_all_cells(&x, false);
		list_all_cells(&x, true);
		stb_diff_facts(&x);
		say_unexplained(&x);
		sort_lines(d);
	}
	return d;
}

void stb_diff_free(struct stb_diff *d)
{
	if (!d)
		return;
	stb_arena_fini(&d->arena);
	free(d);
}
