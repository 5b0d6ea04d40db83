/*
 * like.c - `like = NAME`: a block starts from another one of its kind and type.
 *
 * What the other one says is laid under the block: settings one by one (entries of options, limits and the like by their names), nested blocks
 * by what they are: `where` and `baseline` of the block stand in for the other's, an axis for the axis of its name, exclusions and overrides
 * are added, vcpu rules stand in for all of the other's. Label and note are the block's own, or none. It is part of the declaration: a profile
 * that changes the other one does not reach this one.
 */
#include "compiler/check.h"

#include <string.h>

enum state { NEW, RUNNING, DONE };

static bool says(const struct stb_block *b, const char *key)
{
	return stb_block_setting(b, key) != NULL;
}

static void lay_settings(struct stb_model *m, struct stb_block *b, const struct stb_block *from)
{
	const uint32_t own = b->n_settings;
	bool rules = false;

	for (uint32_t i = 0; i < own; i++)
		rules = rules || b->settings[i].row->flags & STB_BY_TEXT;
	for (uint32_t i = 0; i < from->n_settings; i++) {
		const struct stb_setting *t = &from->settings[i];

		if (says(b, t->key) || (rules && t->row->flags & STB_BY_TEXT))
			continue;
		STB_ARENA_GROW(&m->c->arena, b->settings, b->n_settings, b->cap_settings);
		b->settings[b->n_settings++] = *t;
	}
}

/* Whether a nested block of `own` stands in for this one of the other. */
static bool stands_in(const struct stb_stmt *own, const struct stb_stmt *other)
{
	const bool axis = strcmp(other->name.text, "axis") == 0;

	if (strcmp(other->name.text, "exclude") == 0 || strcmp(other->name.text, "override") == 0)
		return false;
	for (uint32_t i = 0; i < own->n_body; i++) {
		const struct stb_stmt *s = own->body[i];

		if (s->kind != STB_S_BLOCK || strcmp(s->name.text, other->name.text) != 0)
			continue;
		if (!axis || (s->n_words == 1 && other->n_words == 1 && strcmp(s->words[0].text, other->words[0].text) == 0))
			return true;
	}
	return false;
}

/* The statement as if the other's nested blocks had been written before its own. */
static void lay_nested(struct stb_model *m, struct stb_block *b, const struct stb_block *from)
{
	struct stb_stmt *merged = STB_NEW(&m->c->arena, struct stb_stmt);

	*merged = *b->stmt;
	merged->body = STB_NEW_ARRAY(&m->c->arena, struct stb_stmt *, b->stmt->n_body + from->stmt->n_body);
	merged->n_body = 0;
	for (uint32_t i = 0; i < from->stmt->n_body; i++) {
		if (from->stmt->body[i]->kind == STB_S_BLOCK && !stands_in(b->stmt, from->stmt->body[i]))
			merged->body[merged->n_body++] = from->stmt->body[i];
	}
	for (uint32_t i = 0; i < b->stmt->n_body; i++)
		merged->body[merged->n_body++] = b->stmt->body[i];
	b->stmt = merged;
}

static void report_cycle(struct stb_model *m, const struct stb_block *b)
{
	const struct stb_block *next = stb_model_find(m, b->kind, b->like);
	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0225, b->like_span, "%s `%s` starts from itself", stb_kind_name(b->kind), b->name);

	for (unsigned n = 0; next && next != b && next->like && n < 8; n++) {
		stb_diag_label(&m->c->sink, d, next->like_span, "by way of `%s`", next->name);
		next = stb_model_find(m, b->kind, next->like);
	}
	stb_diag_help(&m->c->sink, d, "take `like` out of one of them");
}

/* Chains are followed with a list rather than by recursion: they may be as long as the spec. */
static void apply(struct stb_model *m, struct stb_block **chain, struct stb_block *first)
{
	uint32_t n = 0;

	for (struct stb_block *b = first; b && b->like_state != DONE;) {
		if (b->like_state == RUNNING) {
			report_cycle(m, b);
			while (n > 0)
				chain[--n]->like_state = DONE;
			return;
		}
		b->like_state = RUNNING;
		chain[n++] = b;
		b = b->like ? stb_model_find(m, b->kind, b->like) : NULL;
	}
	while (n > 0) {
		struct stb_block *b = chain[--n];
		const struct stb_block *from = b->like ? stb_model_find(m, b->kind, b->like) : NULL;

		b->like_state = DONE;
		if (!from)
			continue;
		if (from->type != b->type) {
			struct stb_diag *d = stb_diag(&m->c->sink, STB_E0224, b->like_span, "%s %s `%s` cannot start from `%s`, which is of type %s",
				stb_kind_name(b->kind), b->type->type, b->name, from->name, from->type->type);

			stb_diag_label(&m->c->sink, d, from->span, "declared here");
			continue;
		}
		lay_settings(m, b, from);
		lay_nested(m, b, from);
	}
}

void stb_like_apply(struct stb_model *m)
{
	struct stb_block **chain = STB_NEW_ARRAY(&m->c->arena, struct stb_block *, m->n_blocks + 1);

	for (uint32_t i = 0; i < m->n_blocks; i++) {
		if (m->blocks[i]->like)
			apply(m, chain, m->blocks[i]);
	}
}
