/*
 * ast_build.c - the constructors that the grammar's actions call. They copy lists into exact arrays and keep trees shallow.
 */
#include "compiler/ast_build.h"

#include "runtime/base/buf.h"

#include <string.h>

struct stb_node *stb_build_node(struct stb_parser *p, enum stb_node_kind kind, struct stb_span at)
{
	struct stb_node *n = STB_NEW(p->arena, struct stb_node);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

struct stb_node *stb_build_bad(struct stb_parser *p, struct stb_span at)
{
	return stb_build_node(p, STB_N_BAD, at);
}

/*
 * Long sums make deep trees without any bracket, which the token filter does not see; every pass may recurse over what comes out here.
 */
static struct stb_node *with_items(struct stb_parser *p, enum stb_node_kind kind, struct stb_span at, struct stb_node **items, uint32_t n)
{
	struct stb_node *node = stb_build_node(p, kind, at);

	node->items = items;
	node->n_items = n;
	for (uint32_t i = 0; i < n; i++)
		if (items[i])
			node->depth = STB_MAX(node->depth, items[i]->depth + 1);
	if (node->depth <= STB_AST_MAX_DEPTH)
		return node;
	if (!p->stopped)
		stb_parser_too_deep(p, at);
	return stb_build_bad(p, at);
}

/* --- statements -------------------------------------------------------------------------------------------------------------------- */

void stb_build_header(struct stb_parser *p, struct stb_span at, const struct stb_node *version)
{
	struct stb_diag *d;

	p->ast->version_span = at;
	if (version->kind == STB_N_BAD)
		return;
	if (version->num.type == STB_V_COUNT && version->num.den == 1 && strspn(version->text, "0123456789") == version->text_len) {
		p->ast->version = version->num.num;
		if (version->num.num == 1)
			return;
		d = stb_parser_error(p, STB_E0106, version->span, "version %s of the language is not supported", version->text);
		stb_diag_help(p->sink, d, "this stb reads version 1; a newer file needs a newer stb");
		p->stopped = true;
		return;
	}
	p->ast->version = 0;
	d = stb_parser_error(p, STB_E0106, version->span, "`%s` is not a version of the language", stb_parser_spelling(p, version->span));
	stb_diag_here(p->sink, d, "write `stb 1`");
	stb_diag_fixit(p->sink, d, version->span, "1");
}

static void add_top(struct stb_parser *p, struct stb_stmt *s)
{
	STB_ARENA_GROW(p->arena, p->ast->stmts, p->ast->n_stmts, p->cap_stmts);
	p->ast->stmts[p->ast->n_stmts++] = s;
}

/* One report for a run of them: they have one cause, a brace too many or too few before. */
static void report_outside(struct stb_parser *p, const struct stb_stmt *s)
{
	struct stb_diag *d;

	if (p->outside || p->unopened > 0 || stb_parser_quiet(p, s->span))
		return;
	p->outside = true;
	d = stb_parser_error(p, STB_E0116, s->path->span, "`%s` stands outside of any block", s->path->text);
	stb_diag_here(p->sink, d, "an attribute belongs into a block");
	if (p->last_close.file != STB_NO_FILE)
		stb_diag_label(p->sink, d, p->last_close, "the block before ends here");
	else
		stb_diag_help(p->sink, d, "a value that several blocks use is `let %s = ...`", s->path->text);
}

void stb_build_top(struct stb_parser *p, struct stb_stmt *s)
{
	if (!s)
		return;
	add_top(p, s);
	switch (s->kind) {
	case STB_S_ATTR:
		report_outside(p, s);
		return;
	case STB_S_BLOCK:
		p->outside = false;
		p->last_close = (struct stb_span){ p->file, s->span.end - (s->span.end > s->open.end), s->span.end };
		return;
	case STB_S_INCLUDE:
	case STB_S_LET:
	case STB_S_PARAM:
		return;
	}
}

struct stb_stmts *stb_build_stmts(struct stb_parser *p)
{
	return STB_NEW(p->arena, struct stb_stmts);
}

struct stb_stmts *stb_build_member(struct stb_parser *p, struct stb_stmts *list, struct stb_stmt *s)
{
	struct stb_diag *d;

	if (!s)
		return list;
	switch (s->kind) {
	case STB_S_INCLUDE:
	case STB_S_LET:
	case STB_S_PARAM:
		if (stb_parser_quiet(p, s->span))
			return list;
		d = stb_parser_error(p, STB_E0116, s->span, "`%s` stands inside a block", stb_parser_spelling(p, s->span));
		stb_diag_here(p->sink, d, "it belongs to the top of the file");
		return list;
	case STB_S_ATTR:
	case STB_S_BLOCK:
		break;
	}
	STB_ARENA_GROW(p->arena, list->v, list->n, list->cap);
	list->v[list->n++] = s;
	return list;
}

static struct stb_stmt *new_stmt(struct stb_parser *p, enum stb_stmt_kind kind, struct stb_span at)
{
	struct stb_stmt *s = STB_NEW(p->arena, struct stb_stmt);

	s->kind = kind;
	s->span = at;
	return s;
}

struct stb_stmt *stb_build_include(struct stb_parser *p, struct stb_span at, struct stb_node *path)
{
	struct stb_stmt *s = new_stmt(p, STB_S_INCLUDE, at);

	s->value = path;
	return s;
}

struct stb_stmt *stb_build_binding(struct stb_parser *p, struct stb_span at, enum stb_stmt_kind kind, struct stb_name name,
	struct stb_node *value)
{
	struct stb_stmt *s = new_stmt(p, kind, at);

	s->name = name;
	s->value = value;
	return s;
}

struct stb_stmt *stb_build_block(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words,
	struct stb_span open, const struct stb_stmts *body)
{
	struct stb_stmt *s = new_stmt(p, STB_S_BLOCK, at);

	s->name = kind;
	s->open = open;
	s->n_words = words ? words->n : 0;
	s->words = STB_NEW_ARRAY(p->arena, struct stb_word, s->n_words);
	for (uint32_t i = 0; i < s->n_words; i++) {
		s->words[i] = words->v[i].word;
		if (words->v[i].bare && !stb_parser_quiet(p, s->words[i].span)) {
			const char *text = stb_parser_spelling(p, s->words[i].span);
			struct stb_diag *d = stb_parser_error(p, STB_E0110, s->words[i].span, "`%s` is not a name", text);

			stb_diag_here(p->sink, d, "write `\"%s\"`", text);
			stb_diag_fixit(p->sink, d, s->words[i].span, "\"%s\"", text);
		}
	}
	s->body = body->v;
	s->n_body = body->n;
	return s;
}

struct stb_stmt *stb_build_attribute(struct stb_parser *p, struct stb_span at, struct stb_node *path, struct stb_node *value)
{
	struct stb_stmt *s = new_stmt(p, STB_S_ATTR, at);

	s->path = path;
	s->value = value;
	return s;
}

/* --- words and names --------------------------------------------------------------------------------------------------------------- */

struct stb_words *stb_build_words(struct stb_parser *p, struct stb_words *list, struct stb_word_item word)
{
	if (!list)
		list = STB_NEW(p->arena, struct stb_words);
	STB_ARENA_GROW(p->arena, list->v, list->n, list->cap);
	list->v[list->n++] = word;
	return list;
}

struct stb_word_item stb_build_word_ident(struct stb_parser *p, struct stb_name name)
{
	(void)p;
	return (struct stb_word_item){ { STB_W_IDENT, name.text, name.span }, false };
}

struct stb_word_item stb_build_word_string(struct stb_parser *p, const struct stb_node *string)
{
	const char *text = string->text ? string->text : "";

	if (string->kind == STB_N_STRING && !string->text) {
		struct stb_diag *d = stb_parser_error(p, STB_E0105, string->span, "a name in the head of a block cannot hold ${...}");

		stb_diag_help(p->sink, d, "write it out; heads are read before any value is known");
	}
	return (struct stb_word_item){ { STB_W_STRING, text, string->span }, false };
}

struct stb_word_item stb_build_word_star(struct stb_parser *p, struct stb_span at)
{
	(void)p;
	return (struct stb_word_item){ { STB_W_STAR, "*", at }, false };
}

struct stb_names *stb_build_names(struct stb_parser *p, struct stb_names *list, struct stb_name name)
{
	if (!list)
		list = STB_NEW(p->arena, struct stb_names);
	STB_ARENA_GROW(p->arena, list->v, list->n, list->cap);
	list->v[list->n++] = name;
	return list;
}

struct stb_node *stb_build_path(struct stb_parser *p, struct stb_span at, const struct stb_names *names)
{
	struct stb_node *n = stb_build_node(p, STB_N_PATH, at);
	struct stb_buf b;

	n->names = names->v;
	n->n_names = names->n;
	if (names->n == 1) {
		n->text = names->v[0].text;
		n->text_len = (uint32_t)strlen(n->text);
		return n;
	}
	stb_buf_init(&b);
	for (uint32_t i = 0; i < names->n; i++) {
		if (i)
			stb_buf_addc(&b, '.');
		stb_buf_adds(&b, names->v[i].text);
	}
	n->text = stb_arena_strndup(p->arena, stb_buf_str(&b), b.len);
	n->text_len = (uint32_t)b.len;
	stb_buf_fini(&b);
	return n;
}

/* --- values ------------------------------------------------------------------------------------------------------------------------ */

struct stb_nodes *stb_build_items(struct stb_parser *p, struct stb_nodes *list, struct stb_node *item)
{
	if (!list)
		list = STB_NEW(p->arena, struct stb_nodes);
	STB_ARENA_GROW(p->arena, list->v, list->n, list->cap);
	list->v[list->n++] = item;
	return list;
}

struct stb_node *stb_build_list(struct stb_parser *p, struct stb_span at, const struct stb_nodes *items)
{
	return with_items(p, STB_N_LIST, at, items ? items->v : NULL, items ? items->n : 0);
}

struct stb_node *stb_build_call(struct stb_parser *p, struct stb_span at, struct stb_name function, const struct stb_nodes *arguments)
{
	struct stb_node *n = with_items(p, STB_N_CALL, at, arguments ? arguments->v : NULL, arguments ? arguments->n : 0);

	n->text = function.text;
	n->text_len = (uint32_t)strlen(function.text);
	n->names = STB_NEW(p->arena, struct stb_name);
	*n->names = function;
	n->n_names = 1;
	return n;
}

static struct stb_node *pair(struct stb_parser *p, enum stb_node_kind kind, struct stb_span at, struct stb_node *a, struct stb_node *b)
{
	struct stb_node **items = STB_NEW_ARRAY(p->arena, struct stb_node *, 2);

	items[0] = a;
	items[1] = b;
	return with_items(p, kind, at, items, 2);
}

struct stb_node *stb_build_range(struct stb_parser *p, struct stb_span at, struct stb_node *low, struct stb_node *high)
{
	return pair(p, STB_N_RANGE, at, low, high);
}

struct stb_node *stb_build_binary(struct stb_parser *p, struct stb_span at, enum stb_node_kind kind, struct stb_node *a, struct stb_node *b)
{
	return pair(p, kind, at, a, b);
}

struct stb_node *stb_build_negative(struct stb_parser *p, struct stb_span at, struct stb_node *a)
{
	struct stb_node **items = STB_NEW(p->arena, struct stb_node *);

	items[0] = a;
	return with_items(p, STB_N_NEG, at, items, 1);
}

struct stb_node *stb_build_parens(struct stb_span at, struct stb_node *inner)
{
	inner->parens = true;
	inner->span = at;
	return inner;
}
