/*
 * profile.c - lays a profile over the checked model.
 *
 * Three rounds, so that the order of the entries means nothing: named entries of another type replace their blocks; entries with `*` reach
 * the blocks that then have their type; named entries set what they name, over what `*` set.
 */
#include "compiler/check.h"
#include "compiler/resolve.h"

#include <string.h>

struct entry {
	struct stb_head head;
	const struct stb_stmt *stmt;
	struct stb_block body; /* its settings, label and note */
	bool star;
	bool hit;
};

struct profile {
	struct stb_model *m;
	struct entry *entries;
	uint32_t n_entries;
};

static const struct stb_profile *find_profile(struct stb_model *m, const char *name)
{
	struct stb_sink *s = &m->c->sink;
	const char **names = STB_NEW_ARRAY(&m->c->arena, const char *, m->n_profiles);
	struct stb_diag *d;

	for (uint32_t i = 0; i < m->n_profiles; i++) {
		if (strcmp(m->profiles[i].name, name) == 0)
			return &m->profiles[i];
		names[i] = m->profiles[i].name;
	}
	const char *near = stb_nearest(name, names, m->n_profiles);

	d = stb_diag(s, STB_E0701, STB_NO_SPAN, "the spec has no profile `%s`", name);
	if (near)
		stb_diag_help(s, d, "did you mean `%s`?", near);
	else if (m->n_profiles == 0)
		stb_diag_help(s, d, "it declares none; one is declared as `profile NAME { ... }`");
	for (uint32_t i = 0; !near && i < m->n_profiles && i < 8; i++)
		stb_diag_help(s, d, "there is `%s`", names[i]);
	return NULL;
}

/* Nested blocks that name cells or axes need one block at hand. */
static void refuse_nested_star(struct stb_model *m, const struct entry *e)
{
	struct stb_sink *s = &m->c->sink;

	for (uint32_t i = 0; i < e->stmt->n_body; i++) {
		const struct stb_stmt *each = e->stmt->body[i];
		const struct stb_schema_attr *row;

		if (each->kind != STB_S_BLOCK)
			continue;
		row = stb_schema_attr(e->head.kind, e->head.type->type, each->name.text);
		if (row && row->flags & STB_STRUCTURAL && !(row->flags & STB_ENTRIES))
			stb_diag(s, STB_E0707, each->name.span, "`%s` cannot stand in an entry for `*`: name the one block it is meant for", row->name);
	}
}

static bool read_entry(struct stb_model *m, const struct stb_stmt *stmt, struct entry *e)
{
	struct stb_sink *s = &m->c->sink;

	if (stmt->kind == STB_S_ATTR) {
		struct stb_diag *d = stb_diag(s, STB_E0707, stmt->span, "a profile holds entries, not attributes");

		stb_diag_help(s, d, "write `KIND TYPE NAME { %s = ... }` inside it", stmt->path ? stmt->path->text : "x");
		return false;
	}
	if (stmt->kind != STB_S_BLOCK || !stb_head_read(m, stmt, true, &e->head))
		return false;
	if (e->head.kind == STB_K_PROFILE) {
		stb_diag(s, STB_E0707, stmt->name.span, "profiles do not nest");
		return false;
	}
	e->stmt = stmt;
	e->star = strcmp(e->head.name, "*") == 0;
	e->body = (struct stb_block){
		.kind = e->head.kind, .type = e->head.type, .name = e->head.name, .span = e->head.span, .stmt = stmt
	};
	stb_check_body(m, &e->body, stmt, STB_FROM_PROFILE);
	if (e->star)
		refuse_nested_star(m, e);
	return true;
}

static bool same_target(const struct entry *a, const struct entry *b)
{
	if (a->head.kind != b->head.kind || strcmp(a->head.name, b->head.name) != 0)
		return false;
	return !a->star || a->head.type == b->head.type;
}

static void read_entries(struct profile *p, const struct stb_stmt *stmt)
{
	struct stb_sink *s = &p->m->c->sink;

	p->entries = STB_NEW_ARRAY(&p->m->c->arena, struct entry, stmt->n_body);
	for (uint32_t i = 0; i < stmt->n_body && p->n_entries < 10000; i++) {
		struct entry *e = &p->entries[p->n_entries];
		const struct entry *other = NULL;

		if (!read_entry(p->m, stmt->body[i], e))
			continue;
		for (uint32_t j = 0; j < p->n_entries && !other; j++) {
			if (same_target(&p->entries[j], e))
				other = &p->entries[j];
		}
		if (other) {
			struct stb_diag *d = stb_diag(s, STB_E0703, e->head.span, "the profile has two entries for `%s`", e->head.name);

			stb_diag_label(s, d, other->head.span, "first here");
			continue;
		}
		p->n_entries++;
	}
}

/* The vcpu rules of an entry stand in for those of the block: beside them they could only add. */
static void drop_rules(const struct entry *e, struct stb_block *b)
{
	bool rules = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->body.n_settings; i++)
		rules = rules || e->body.settings[i].row->flags & STB_BY_TEXT;
	for (uint32_t i = 0; rules && i < b->n_settings; i++) {
		if (!(b->settings[i].row->flags & STB_BY_TEXT))
			b->settings[n++] = b->settings[i];
	}
	if (rules)
		b->n_settings = n;
}

static void lay(struct stb_model *m, struct entry *e, struct stb_block *b)
{
	e->hit = true;
	drop_rules(e, b);
	for (uint32_t i = 0; i < e->body.n_settings; i++) {
		const struct stb_setting *t = &e->body.settings[i];

		if (strcmp(t->key, "label") == 0) /* = none */
			b->label = NULL;
		else if (strcmp(t->key, "note") == 0)
			b->note = NULL;
		else
			stb_block_set(m, b, t);
	}
	if (e->body.label)
		b->label = e->body.label;
	if (e->body.note)
		b->note = e->body.note;
	if (!e->star || !b->profile_stmt)
		b->profile_stmt = e->stmt;
}

static void replace_types(struct profile *p)
{
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct entry *e = &p->entries[i];
		struct stb_block *b = e->star ? NULL : stb_model_find(p->m, e->head.kind, e->head.name);

		if (!b || b->type == e->head.type)
			continue;
		b->type = e->head.type;
		b->n_settings = 0;
		b->replaced = true;
	}
}

static void lay_all(struct profile *p, bool star)
{
	for (uint32_t i = 0; i < p->n_entries; i++) {
		struct entry *e = &p->entries[i];

		if (e->star != star)
			continue;
		if (!star) {
			struct stb_block *b = stb_model_find(p->m, e->head.kind, e->head.name);

			if (b)
				lay(p->m, e, b);
			continue;
		}
		for (uint32_t j = 0; j < p->m->n_blocks; j++) {
			struct stb_block *b = p->m->blocks[j];

			if (b->kind == e->head.kind && b->type == e->head.type)
				lay(p->m, e, b);
		}
	}
}

static void report_misses(struct profile *p)
{
	struct stb_sink *s = &p->m->c->sink;
	const char *names[256];

	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct entry *e = &p->entries[i];
		const char *kind = stb_kind_name(e->head.kind);
		struct stb_diag *d;
		size_t n = 0;

		if (e->hit)
			continue;
		if (e->star) {
			stb_diag(s, STB_E0702, e->head.span, "the spec has no %s%s%s", kind, e->head.type->type[0] ? " " : "", e->head.type->type);
			continue;
		}
		d = stb_diag(s, STB_E0702, e->head.span, "the spec has no %s `%s`", kind, e->head.name);
		for (uint32_t j = 0; j < p->m->n_blocks && n < STB_LEN(names); j++) {
			if (p->m->blocks[j]->kind == e->head.kind)
				names[n++] = p->m->blocks[j]->name;
		}
		const char *near = stb_nearest(e->head.name, names, n);

		if (near) {
			stb_diag_here(s, d, "did you mean `%s`?", near);
			stb_diag_fixit(s, d, e->head.name_span, "%s", near);
		}
	}
}

void stb_profile_apply(struct stb_model *m, const char *name)
{
	const struct stb_profile *found = name ? find_profile(m, name) : NULL;
	struct profile p = { .m = m };

	if (!found)
		return;
	m->profile = found->name;
	read_entries(&p, found->stmt);
	replace_types(&p);
	lay_all(&p, true);
	lay_all(&p, false);
	report_misses(&p);
	for (uint32_t i = 0; i < m->n_blocks; i++)
		stb_check_required(m, m->blocks[i]);
}
