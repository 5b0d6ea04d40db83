/*
 * explain_cell.c - `stb explain CELL FILE`: the blocks of a cell with every effective value, and where it comes from.
 *
 * Read from the plan, which states for each attribute its origin and the line, so that what is explained is what would be run.
 */
#include "compiler/driver/reference.h"

#include "compiler/schema.h"

#include <stdlib.h>
#include <string.h>

struct printer {
	const struct stb_plan *p;
	struct stb_arena scratch;
	uint8_t *shown; /* per block: it stands under this cell already */
	uint32_t n_shown;
};

static void pad(const char *s, size_t width)
{
	const size_t w = stb_display_width(s, strlen(s));

	fputs(s, stdout);
	for (size_t i = w; i < width; i++)
		putchar(' ');
}

/* The axis of the cell that gave the value: the binding one of its kind, else the one that has the value's own spelling; NULL: several do. */
static const char *axis_of(struct printer *t, const struct stb_plan_cell *c, const struct stb_plan_attr *a)
{
	const struct stb_plan_matrix *m = &t->p->matrices[c->matrix];
	const char *label = stb_val_label(&t->scratch, &a->val), *found = NULL;

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (c->point[i] == STB_NONE || (a->val.type == STB_V_REF) != (m->axes[i].kind[0] != '\0') ||
			strcmp(m->axes[i].values[c->point[i]].key, label))
			continue;
		if (found)
			return NULL;
		found = m->axes[i].name;
	}
	return found;
}

static const char *origin_text(struct printer *t, const struct stb_plan_cell *c, const struct stb_plan_attr *a)
{
	const char *axis;

	switch (a->origin) {
	case STB_FROM_DEFAULT:
		return "default";
	case STB_FROM_LINE:
		return "line";
	case STB_FROM_OVERRIDE:
		return "override";
	case STB_FROM_PROFILE:
		return stb_arena_printf(&t->scratch, "profile %s", t->p->profile ? t->p->profile : "");
	case STB_FROM_AXIS:
		axis = axis_of(t, c, a);
		return axis ? stb_arena_printf(&t->scratch, "axis %s", axis) : "axis";
	case STB_FROM_PARAM:
		return "param";
	}
	return "";
}

static void print_attrs(struct printer *t, const struct stb_plan_cell *c, const struct stb_plan_block *b)
{
	size_t name = 0, value = 0, origin = 0;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *a = &b->attrs[i];
		const char *text = stb_val_text(&t->scratch, &a->val), *from = origin_text(t, c, a);

		name = STB_MAX(name, stb_display_width(a->name, strlen(a->name)));
		value = STB_MAX(value, stb_display_width(text, strlen(text)));
		origin = STB_MAX(origin, stb_display_width(from, strlen(from)));
	}
	value = STB_MIN(value, (size_t)40);
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *a = &b->attrs[i];
		const char *where = stb_plan_where(&t->scratch, t->p, a->span);

		fputs("    ", stdout);
		pad(a->name, name);
		fputs(" = ", stdout);
		pad(stb_val_text(&t->scratch, &a->val), value);
		fputs("  ", stdout);
		pad(origin_text(t, c, a), *where ? origin + 2 : 0);
		printf("%s\n", where);
	}
}

static void print_block(struct printer *t, const struct stb_plan_cell *c, uint32_t index)
{
	const struct stb_plan_block *b = index == STB_NONE ? NULL : &t->p->blocks[index];

	if (!b || t->shown[index])
		return;
	t->shown[index] = 1;
	t->n_shown++;
	printf("\n  %s%s%s %s  %s\n", b->kind, *b->type ? " " : "", b->type, b->name, stb_plan_where(&t->scratch, t->p, b->span));
	print_attrs(t, c, b);
}

/* All blocks of that name, unless one is shown: where an axis or an override makes several of one, the plan does not say which is whose. */
static void print_named(struct printer *t, const struct stb_plan_cell *c, const char *kind, const char *name)
{
	const struct stb_plan *p = t->p;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (t->shown[i] && !strcmp(p->blocks[i].kind, kind) && !strcmp(p->blocks[i].name, name))
			return;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (!strcmp(p->blocks[i].kind, kind) && !strcmp(p->blocks[i].name, name))
			print_block(t, c, i);
}

/* What a block names and the plan does not place in the cell by itself: a server's pin, a described volume. */
static void print_references(struct printer *t, const struct stb_plan_cell *c, const struct stb_plan_block *b)
{
	enum stb_kind kind;

	for (uint32_t i = 0; i < b->n_attrs && stb_kind_find(b->kind, &kind); i++) {
		const struct stb_schema_attr *row = stb_schema_attr(kind, b->type, b->attrs[i].name);
		const struct stb_val *v = &b->attrs[i].val;

		if (!row || row->ref_kind < 0)
			continue;
		const char *to = stb_kind_name((enum stb_kind)row->ref_kind);

		if (v->type == STB_V_REF)
			print_named(t, c, to, v->str);
		for (uint32_t k = 0; v->type == STB_V_LIST && k < v->n_items; k++)
			if (v->items[k].type == STB_V_REF)
				print_named(t, c, to, v->items[k].str);
	}
}

static void print_cell(struct printer *t, uint32_t index)
{
	const struct stb_plan_cell *c = &t->p->cells[index];
	const struct stb_plan_matrix *m = &t->p->matrices[c->matrix];
	const struct stb_plan_group *g = &t->p->groups[c->group];
	const struct stb_plan_mix *mix = stb_plan_mix_of(t->p, index);

	memset(t->shown, 0, t->p->n_blocks);
	t->n_shown = 0;
	printf("cell %.16s of matrix %s  %s\n", c->id, m->name, stb_plan_where(&t->scratch, t->p, m->span));
	for (uint32_t i = 0; i < m->n_axes; i++)
		if (c->point[i] != STB_NONE)
			printf("  %s = %s\n", m->axes[i].name, m->axes[i].values[c->point[i]].key);
	if (c->same_as != index)
		printf("  measured in matrix %s, whose cell is equal\n", t->p->matrices[t->p->cells[c->same_as].matrix].name);
	print_block(t, c, c->workload);
	for (uint32_t i = 0; i < mix->n; i++)
		print_block(t, c, mix->members[i]);
	for (uint32_t i = 0; i < g->n_fills; i++)
		print_block(t, c, g->fills[i]);
	print_block(t, c, c->server);
	print_block(t, c, c->client);
	print_block(t, c, g->database);
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		print_block(t, c, g->mounts[i].volume);
		print_block(t, c, g->mounts[i].storage);
	}
	for (uint32_t before = 0; before < t->n_shown;) { /* what these name, and what that names */
		before = t->n_shown;
		for (uint32_t i = 0; i < t->p->n_blocks; i++)
			if (t->shown[i])
				print_references(t, c, &t->p->blocks[i]);
	}
}

static int print_cells(const struct stb_plan *p, const char *which)
{
	struct printer t = { .p = p };
	uint8_t *keep = stb_xcalloc(p->n_cells + 1, 1);
	const char *between = "";
	int code;

	memset(keep, 1, p->n_cells);
	code = stb_driver_only(p, "--only", which, keep, stderr);
	t.shown = stb_xcalloc(p->n_blocks + 1, 1);
	for (uint32_t i = 0; !code && i < p->n_cells; i++) {
		if (!keep[i])
			continue;
		stb_arena_init(&t.scratch);
		fputs(between, stdout);
		print_cell(&t, i);
		between = "\n";
		stb_arena_fini(&t.scratch);
	}
	free(t.shown);
	free(keep);
	return code;
}

int stb_explain_cell(const struct stb_args *a, const char *cell, const char *path)
{
	struct stb_compilation c;
	struct stb_plan *p;
	int code = STB_EXIT_SPEC;

	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, path, NULL);
	if (p)
		code = print_cells(p, cell);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	return code;
}
