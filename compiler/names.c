/*
 * names.c - names in expressions: lets and params with their values, and what is said of a name that nobody knows, or that is none.
 *
 * Lets are evaluated when first needed and remember that they are being evaluated, so a cycle is found where it closes.
 */
#include "compiler/eval.h"

#include <string.h>

enum { MAX_SUGGESTIONS = 1000 };

enum { LET_NEW, LET_RUNNING, LET_DONE, LET_BAD };

/* Names that a suggestion may come from; at most MAX_SUGGESTIONS. kind < 0: lets and params. */
static const char **known_names(struct stb_model *m, int kind, size_t *n)
{
	const uint32_t all = kind < 0 ? m->n_lets : m->n_blocks;
	const char **names = STB_NEW_ARRAY(&m->c->arena, const char *, STB_MIN(all, MAX_SUGGESTIONS));

	*n = 0;
	for (uint32_t i = 0; i < all && *n < MAX_SUGGESTIONS; i++) {
		if (kind < 0)
			names[(*n)++] = m->lets[i]->name;
		else if ((int)m->blocks[i]->kind == kind)
			names[(*n)++] = m->blocks[i]->name;
	}
	return names;
}

const char *stb_nearest_let(struct stb_model *m, const char *name)
{
	size_t n;
	const char **names = known_names(m, -1, &n);

	return stb_nearest(name, names, n);
}

void stb_report_unknown_name(struct stb_model *m, const struct stb_node *node, int kind)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0305, node->span, "there is no %s called `%s`",
		kind < 0 ? "let or param" : stb_kind_name((enum stb_kind)kind), node->text);
	const char **names, *near;
	struct stb_buf all;
	size_t n;

	if (d == &s->scratch) /* one of very many: nobody reads it */
		return;
	names = known_names(m, kind, &n);
	near = stb_nearest(node->text, names, n);
	if (near) {
		stb_diag_here(s, d, "did you mean `%s`?", near);
		stb_diag_fixit(s, d, node->span, "%s", near);
		return;
	}
	stb_buf_init(&all);
	for (size_t i = 0; i < n && i < 12; i++)
		stb_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	if (n > 12)
		stb_buf_adds(&all, ", ...");
	if (n)
		stb_diag_help(s, d, "declared: %s", stb_buf_str(&all));
	else
		stb_diag_help(s, d, "none is declared in this spec");
	stb_buf_fini(&all);
}

bool stb_is_dashed_word(const struct stb_model *m, const struct stb_node *node)
{
	if (node->kind != STB_N_SUB || node->parens)
		return false;
	const struct stb_node *left = node->items[0], *right = node->items[1];

	if (left->span.end + 1 != right->span.begin || right->kind == STB_N_STRING)
		return false;
	if (left->kind == STB_N_PATH)
		return left->n_names > 1 || !stb_let_find(m, left->text);
	return stb_is_dashed_word(m, left);
}

void stb_report_dashed_word(struct stb_model *m, const struct stb_node *node, enum stb_dashed as)
{
	struct stb_sink *s = &m->c->sink;
	const char *text = stb_source_text(m, node->span);
	char *plain = stb_arena_strdup(&m->c->arena, text);

	for (char *p = plain; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	struct stb_diag *d = stb_diag(s, STB_E0307, node->span, "`%s` reads as a subtraction", text);

	switch (as) {
	case STB_DASHED_TEXT:
		stb_diag_here(s, d, "text stands in quotes: write \"%s\"", text);
		stb_diag_fixit(s, d, node->span, "\"%s\"", text);
		return;
	case STB_DASHED_NAME:
		stb_diag_here(s, d, "names hold no dash: write %s", plain);
		stb_diag_fixit(s, d, node->span, "%s", plain);
		return;
	case STB_DASHED_UNKNOWN:
		stb_diag_here(s, d, "quote it, or write %s", plain);
		return;
	}
}

static void report_cycle(struct stb_model *m, const struct stb_let *let)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0315, let->span, "`%s` is defined by itself", let->name);
	struct stb_buf chain;

	stb_buf_init(&chain);
	stb_buf_adds(&chain, let->name);
	for (const struct stb_let *p = m->evaluating; p && p != let; p = p->via) {
		struct stb_buf longer;

		stb_diag_label(s, d, p->span, "`%s` needs it", p->name);
		stb_buf_init(&longer);
		stb_buf_printf(&longer, "%s -> %s", p->name, stb_buf_str(&chain));
		stb_buf_fini(&chain);
		chain = longer;
		if (chain.len > 400)
			break;
	}
	stb_diag_note(s, d, "%s -> %s", let->name, stb_buf_str(&chain));
	stb_diag_help(s, d, "give one of them a value that does not need the others");
	stb_buf_fini(&chain);
}

/* What --set says, read as the type of the default. Text needs no quotes there. */
static bool set_value(struct stb_model *m, struct stb_let *let, const struct stb_val *def, struct stb_val *out)
{
	struct stb_sink *s = &m->c->sink;

	if (def->type == STB_V_STRING && let->set_text[0] != '"') {
		*out = stb_val_str(STB_V_STRING, let->set_text);
		return true;
	}
	if (!let->set) /* could not be read: reported */
		return false;
	if (def->type == STB_V_SECRET && let->set->kind != STB_N_CALL) {
		stb_diag(s, STB_E0706, STB_NO_SPAN, "--set %s: a secret is given as env(\"NAME\") or file(\"PATH\")", let->name);
		return false;
	}
	if (!stb_eval(m, NULL, let->set, false, out))
		return false;
	if (out->type != def->type) {
		struct stb_diag *d = stb_diag(s, STB_E0706, let->set->span, "--set %s: `%s` is %s, but the param is %s", let->name,
			let->set_text, stb_type_phrase(out->type), stb_type_phrase(def->type));

		stb_diag_label(s, d, let->span, "its default is %s", stb_val_text(&m->c->arena, def));
		stb_diag_help(s, d, "write it like the default, with its unit: --set %s=%s", let->name, stb_val_text(&m->c->arena, def));
		return false;
	}
	return true;
}

bool stb_let_value(struct stb_model *m, struct stb_let *let, struct stb_val *out)
{
	const struct stb_let *outer = m->evaluating;
	bool ok;

	let->used = true;
	if (let->state == LET_RUNNING) {
		report_cycle(m, let);
		let->state = LET_BAD;
	}
	if (let->state == LET_DONE)
		*out = let->val;
	if (let->state != LET_NEW)
		return let->state == LET_DONE;

	let->state = LET_RUNNING;
	let->via = outer;
	m->evaluating = let;
	ok = stb_eval(m, NULL, let->node, false, out);
	if (ok && let->set_text) {
		const struct stb_val def = *out;

		ok = set_value(m, let, &def, out);
	}
	m->evaluating = outer;
	if (!ok || let->state == LET_BAD) {
		let->state = LET_BAD;
		return false;
	}
	let->state = LET_DONE;
	let->val = *out;
	return true;
}
