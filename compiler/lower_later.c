/*
 * lower_later.c - what the plan says a run will not carry out, and what would have to change.
 *
 * Two reasons. Some of the language is checked, planned and compared before the runtime has it: the schema's rows say so (`later`), from which
 * `stb explain`, the reference and the refusal of `stb run` come alike. And some blocks describe: an external storage class is there for
 * recorded figures, and nothing can be provisioned on it.
 *
 * Both are told at the block that they are about, with the attribute, so that the refusal names the line. A group repeats the reason of
 * the first of its blocks that has one: then none of its cells is carried out.
 */
#include "compiler/expand.h"

#include <string.h>

static bool has_word(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = words; n && (p = strstr(p, word)); p += n) {
		if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	}
	return false;
}

/* Whether this value is one that is not carried out. */
static bool is_later(const struct stb_lowering *l, const struct stb_schema_attr *row, const struct stb_val *val)
{
	const struct stb_block *named;

	if (!row->later)
		return false;
	if (!strcmp(row->later, "*"))
		return true;
	if (!strcmp(row->later, "[]"))
		return val->type == STB_V_LIST && val->n_items;
	if (val->type == STB_V_REF) {
		named = stb_model_find(l->x->m, (enum stb_kind)row->ref_kind, val->str);
		return named && has_word(row->later, named->type->type);
	}
	for (uint32_t i = 0; i < val->n_items; i++) {
		if (val->items[i].str && has_word(row->later, val->items[i].str))
			return true;
	}
	return val->str && has_word(row->later, val->str);
}

struct change {
	const char *leave; /* "`a`, `b`" */
	const char *write; /* "one value for `bs`, another `rw`" */
};

/* What would have to be written instead. Of a block of entries (steady_state { }) all go, so the block is named, once. */
static void add_change(struct stb_lowering *l, const struct stb_eattr *a, struct change *c)
{
	const struct stb_schema_attr *row = a->row;
	const char *dot = strchr(row->name, '.'), *name;

	name = stb_arena_printf(l->x->arena, "`%.*s`", (int)(dot ? dot - row->name : (long)strlen(row->name)), row->name);
	if ((row->flags & STB_OR_LIST && a->val.type == STB_V_LIST) || row->flags & STB_REQUIRED)
		c->write = stb_arena_printf(l->x->arena, "%s%s%s %s", c->write ? c->write : "", c->write ? ", " : "",
			row->flags & STB_OR_LIST ? "one value for" : "another", name);
	else if (!c->leave || !strstr(c->leave, name))
		c->leave = stb_arena_printf(l->x->arena, "%s%s%s", c->leave ? c->leave : "", c->leave ? ", " : "", name);
}

/* The class's file system and its options are the volume's where the volume has none; there they are looked at. */
static bool of_volume(const struct stb_eblock *b, const struct stb_schema_attr *row)
{
	return b->block->kind == STB_K_STORAGE && stb_is_from_class(row);
}

void stb_lower_later(struct stb_lowering *l, const struct stb_eblock *b, struct stb_plan_block *to)
{
	struct change change = { NULL, NULL };
	const char *all = NULL;
	uint32_t n = 0;

	if (b->block->type->later) {
		to->not_run = stb_arena_printf(l->a, "this version of stb checks and plans %s%s%s, but does not carry it out", to->kind,
			*to->type ? " " : "", to->type);
		return;
	}
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_eattr *a = &b->attrs[i];

		if (a->is_default || of_volume(b, a->row) || !is_later(l, a->row, &a->val))
			continue;
		all = stb_arena_printf(l->x->arena, "%s%s`%s = %s`", all ? all : "", all ? ", " : "", a->name,
			stb_val_text(l->x->arena, &a->val));
		add_change(l, a, &change);
		if (!to->not_run_attr)
			to->not_run_attr = stb_lower_str(l, a->name);
		n++;
	}
	if (!n)
		return;
	to->not_run = stb_arena_printf(l->a, "this version of stb checks and plans %s, but does not carry %s out", all, n > 1 ? "them" : "it");
	to->not_run_change = stb_arena_printf(l->a, "%s%s%s%s%s%s", change.write ? "write " : "", change.write ? change.write : "",
		change.write && change.leave ? "; " : "", change.leave ? "leave " : "", change.leave ? change.leave : "", change.leave ? " out" : "");
}

/* --- groups -------------------------------------------------------------------------------------------------------------------------- */

static void refuse(struct stb_plan_group *g, const struct stb_eblock *b, const char *why)
{
	if (g->not_run)
		return;
	g->not_run = why;
	g->not_run_block = b->plan_block;
}

static void take_block(struct stb_lowering *l, struct stb_plan_group *g, const struct stb_eblock *b)
{
	const struct stb_plan_block *p = b ? &l->plan->blocks[b->plan_block] : NULL;

	if (p && p->not_run)
		refuse(g, b, stb_arena_printf(l->a, "%s%s%s `%s`: %s", p->kind, *p->type ? " " : "", p->type, p->name, p->not_run));
}

static void take_mount(struct stb_lowering *l, struct stb_plan_group *g, const struct stb_eblock *volume, const struct stb_eblock *storage)
{
	if (!strcmp(storage->block->type->type, "external"))
		refuse(g, storage, stb_arena_printf(l->a, "storage external `%s` is described, not provisioned", storage->block->name));
	take_block(l, g, storage);
	take_block(l, g, volume);
}

void stb_lower_group_later(struct stb_lowering *l, const struct stb_scope *s, struct stb_plan_group *g)
{
	const uint32_t axis = stb_xmatrix_axis(s->matrix, "server", s->matrix->n_axes);
	const struct stb_eblock *db = s->database;

	if (stb_on_external_database(s)) { /* its volume and its server only describe */
		if (!stb_eattr(db, "host") && !stb_eattr(db, "socket"))
			refuse(g, db, stb_arena_printf(l->a, "database external `%s` has neither host nor socket: it is described, not reachable",
				db->block->name));
	} else if (s->volume) {
		take_mount(l, g, s->volume, s->storage);
	}
	take_block(l, g, db);
	for (uint32_t i = 0; i < s->n_mounts; i++)
		take_mount(l, g, s->mounts[i].volume, s->mounts[i].storage);
	if (stb_on_external_database(s) && !s->n_mounts)
		return;
	take_block(l, g, s->server);
	if (s->server && axis != STB_NONE && s->matrix->axes[axis].n_values > 1)
		refuse(g, s->server, stb_arena_printf(l->a, "server external `%s` is described: the work cannot be placed on it",
			s->server->block->name));
}

/* --- matrices ------------------------------------------------------------------------------------------------------------------------ */

void stb_lower_matrix_later(struct stb_lowering *l, const struct stb_block *b, struct stb_plan_matrix *to)
{
	static const char *const attrs[] = { "schedule.days", "schedule.at" };

	to->not_run_span = STB_NONE;
	for (size_t i = 0; i < STB_LEN(attrs) && !to->not_run; i++) {
		const struct stb_setting *s = stb_block_setting(b, attrs[i]);

		if (!s || s->val.type == STB_V_NONE || !s->row->later)
			continue;
		to->not_run = stb_arena_printf(l->a, "this version of stb checks and plans `%s = %s`, but does not carry it out", attrs[i],
			stb_val_text(l->x->arena, &s->val));
		to->not_run_span = stb_lower_span(l, s->key_span);
	}
}
