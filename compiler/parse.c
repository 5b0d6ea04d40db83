/*
 * parse.c - one buffer to one tree: sets the scanner, the filter and the grammar up, and words what the grammar does not understand.
 *
 *   file -> stb_scan_text (is it text?) -> flex -> filter.c -> bison -> ast_build.c, slip.c
 *
 * One error a line: what the grammar finds on a line that is reported already is nearly always a consequence.
 */
#include "compiler/parse.h"

#include "compiler/scan.h"
#include "runtime/base/buf.h"

#include "stb.lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPELLING_BYTES = 48,
	ARENA_LIMIT_BYTES = 1 << 28,
};

int stb_yyparse(struct stb_parser *p);

/* --- errors ------------------------------------------------------------------------------------------------------------------------ */

uint32_t stb_parser_line(const struct stb_parser *p, uint32_t offset)
{
	const struct stb_source_file *f = &p->src->files[p->file];
	uint32_t low = 0, high = f->n_lines;

	while (high - low > 1) {
		const uint32_t mid = low + (high - low) / 2;

		if (f->lines[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

bool stb_parser_quiet(const struct stb_parser *p, struct stb_span at)
{
	return p->stopped || p->spoiled[stb_parser_line(p, at.begin)];
}

struct stb_diag *stb_parser_error(struct stb_parser *p, enum stb_code code, struct stb_span at, const char *fmt, ...)
{
	struct stb_diag *d;
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d = stb_diag(p->sink, code, at, "%s", text);
	p->spoiled[stb_parser_line(p, at.begin)] = true;
	return d;
}

const char *stb_parser_spelling(struct stb_parser *p, struct stb_span at)
{
	const char *s = p->src->files[p->file].bytes;
	uint32_t end = at.begin;
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	while (end < at.end && s[end] != '\n' && end - at.begin < SPELLING_BYTES)
		end += stb_glyph_at(s + end, at.end - end).bytes;
	for (uint32_t i = at.begin; i < end; i++)
		stb_buf_addc(&b, s[i] ? s[i] : '?');
	if (end < at.end)
		stb_buf_adds(&b, "...");
	text = stb_arena_strdup(p->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

void stb_parser_too_deep(struct stb_parser *p, struct stb_span at)
{
	struct stb_diag *d;

	if (p->stopped)
		return;
	d = stb_parser_error(p, STB_E0111, at, "nesting is deeper than %d levels", STB_AST_MAX_DEPTH);
	stb_diag_here(p->sink, d, "reading stops here");
	if (p->depth > 0)
		stb_diag_label(p->sink, d, p->open[0].span, "the outermost open bracket");
	p->stopped = true;
}

/* --- syntax errors in words -------------------------------------------------------------------------------------------------------- */

static bool is_reserved(int kind)
{
	return kind == STB_T_STB || kind == STB_T_INCLUDE || kind == STB_T_LET || kind == STB_T_PARAM || kind == STB_T_BOOL;
}

static bool ends_something(int kind)
{
	return kind == STB_T_RBRACE || kind == STB_T_RBRACKET || kind == STB_T_RPAREN || kind == STB_T_COMMA || kind == STB_T_SEMICOLON;
}

static void missing_value(struct stb_parser *p, const struct stb_lexeme *t, const struct stb_lexeme *before)
{
	struct stb_diag *d;

	if (t->kind == STB_T_END || ends_something(t->kind) || t->line != before->line) {
		d = stb_parser_error(p, STB_E0112, before->span, "`%s` is not followed by a value", stb_parser_spelling(p, before->span));
		stb_diag_here(p->sink, d, "the value is missing");
		return;
	}
	d = stb_parser_error(p, STB_E0107, t->span, "`%s` does not begin a value", stb_parser_spelling(p, t->span));
	stb_diag_help(p->sink, d, "a value is a quantity, a name, true, false, a list [a, b], a range, or text in double quotes");
}

static void after_name(struct stb_parser *p, const struct stb_lexeme *t, const struct stb_lexeme *before, unsigned expected)
{
	const char *name = stb_parser_spelling(p, before->span), *found = stb_parser_spelling(p, t->span);
	struct stb_diag *d;

	if (t->kind == STB_T_MINUS && t->span.begin == before->span.end) {
		struct stb_span all = { p->file, before->span.begin, t->span.end };

		while (all.end < p->len && (isalnum((unsigned char)p->text[all.end]) || p->text[all.end] == '_' || p->text[all.end] == '-'))
			all.end++;
		d = stb_parser_error(p, STB_E0107, all, "`%s` is not a name: it reads as a subtraction", stb_parser_spelling(p, all));
		stb_diag_here(p->sink, d, "names are made of A-Z, a-z, 0-9 and `_`");
		return;
	}
	if (t->line != before->line || t->kind == STB_T_END || t->kind == STB_T_RBRACE) {
		d = stb_parser_error(p, STB_E0107, before->span, "`%s` is neither an attribute nor a block", name);
		stb_diag_here(p->sink, d, "%s is missing", expected & STB_EXPECT_LBRACE ? "`=` or `{`" : "`=`");
		return;
	}
	if (!(expected & STB_EXPECT_LBRACE)) {
		d = stb_parser_error(p, STB_E0107, t->span, "`%s` after `%s`", found, name);
		stb_diag_here(p->sink, d, "`=` belongs here");
		return;
	}
	d = stb_parser_error(p, STB_E0107, t->span, "`%s` after the name `%s`", found, name);
	stb_diag_help(p->sink, d, "an attribute is `name = value`, a block is `kind name { ... }`");
}

static void after_value(struct stb_parser *p, const struct stb_lexeme *t, const struct stb_lexeme *before)
{
	struct stb_diag *d;

	d = stb_parser_error(p, STB_E0107, t->span, "`%s` after the value `%s`", stb_parser_spelling(p, t->span),
		stb_parser_spelling(p, before->span));
	if (t->kind == STB_T_EQUALS)
		stb_diag_help(p->sink, d, "an attribute has one `=`");
	else if (t->kind == STB_T_LPAREN)
		stb_diag_help(p->sink, d, "a function has a name of one word, as in zipf(1.2)");
	else
		stb_diag_help(p->sink, d, "text that is more than a name, with blanks or signs in it, stands in double quotes");
}

static void in_brackets(struct stb_parser *p, const struct stb_lexeme *t, const char *closing)
{
	struct stb_diag *d = stb_parser_error(p, STB_E0107, t->span, "`%s` where `,` or `%s` belongs", stb_parser_spelling(p, t->span), closing);

	if (t->kind == STB_T_LBRACE)
		stb_diag_help(p->sink, d, "a block cannot stand inside a list or a call");
}

static void not_a_statement(struct stb_parser *p, const struct stb_lexeme *t)
{
	struct stb_diag *d = stb_parser_error(p, STB_E0107, t->span, "`%s` begins no statement", stb_parser_spelling(p, t->span));

	stb_diag_help(p->sink, d, "an attribute is `name = value`, a block is `kind name { ... }`");
}

static bool ends_value(int kind)
{
	return kind == STB_T_IDENT || kind == STB_T_QUANTITY || kind == STB_T_STRING || kind == STB_T_TIME || kind == STB_T_BOOL ||
		kind == STB_T_RBRACKET || kind == STB_T_RPAREN;
}

void stb_parser_unexpected(struct stb_parser *p, unsigned expected)
{
	const struct stb_lexeme t = p->last, before = p->before;
	const bool spoiled = stb_parser_quiet(p, t.span);
	const char *text = stb_parser_spelling(p, t.span), *left = stb_parser_spelling(p, before.span);
	struct stb_diag *d;

	if (expected & STB_EXPECT_HEADER) {
		stb_slip_no_header(p, (struct stb_span){ p->file, 0, 0 });
		p->stopped = true; /* nothing like a spec */
		return;
	}
	stb_parser_resync(p);
	if (spoiled)
		return;
	if (is_reserved(t.kind) && (expected & STB_EXPECT_NAME) && !(expected & (STB_EXPECT_STATEMENT | STB_EXPECT_VALUE))) {
		d = stb_parser_error(p, STB_E0107, t.span, "`%s` is a reserved word", text);
		stb_diag_here(p->sink, d, "another name is needed");
	} else if (before.kind == STB_T_INCLUDE) {
		d = stb_parser_error(p, STB_E0107, before.span, "`include` is not followed by a path");
		stb_diag_here(p->sink, d, "write `include \"path.stb\"`");
	} else if (before.kind == STB_T_LET || before.kind == STB_T_PARAM) {
		d = stb_parser_error(p, STB_E0107, before.span, "`%s` is not followed by a name", left);
		stb_diag_here(p->sink, d, "write `%s name = value`", left);
	} else if (expected & STB_EXPECT_VALUE && !(expected & (STB_EXPECT_STATEMENT | STB_EXPECT_RBRACKET | STB_EXPECT_RPAREN))) {
		missing_value(p, &t, &before);
	} else if (expected & STB_EXPECT_VALUE) {
		d = stb_parser_error(p, STB_E0107, t.span, "`%s` does not begin a value", text);
		stb_diag_help(p->sink, d, "what stands between brackets is a list of values separated by `,`");
	} else if (expected & STB_EXPECT_RBRACKET) {
		in_brackets(p, &t, "]");
	} else if (expected & STB_EXPECT_RPAREN) {
		in_brackets(p, &t, ")");
	} else if (expected & STB_EXPECT_EQUALS && before.kind == STB_T_IDENT) {
		after_name(p, &t, &before, expected);
	} else if (ends_value(before.kind) && t.line == before.line && (p->value || p->start || expected & STB_EXPECT_STATEMENT || expected & STB_EXPECT_END)) {
		after_value(p, &t, &before);
	} else if (expected & STB_EXPECT_STATEMENT) {
		not_a_statement(p, &t);
	} else {
		d = stb_parser_error(p, STB_E0107, t.span, "`%s` after `%s` is not understood", text, left);
		if (expected & STB_EXPECT_NAME)
			stb_diag_here(p->sink, d, "a name is missing before this");
	}
}

/* --- entry points ------------------------------------------------------------------------------------------------------------------ */

/* Reads the file as what `start` says; results are left in *p. */
static void run(struct stb_parser *p, int start)
{
	struct stb_held held = { 0 };

	p->start = start;
	p->held = &held;
	p->len = p->src->files[p->file].len;
	p->raw = (struct stb_lexeme){ start, { p->file, 0, 0 }, UINT32_MAX };
	p->last_close = STB_NO_SPAN;
	p->last_error = (struct stb_lexeme){ -1, STB_NO_SPAN, 0 };
	p->arena_limit_bytes = p->arena->used_bytes + ARENA_LIMIT_BYTES;
	p->spoiled = stb_xcalloc(p->src->files[p->file].n_lines, sizeof(*p->spoiled));
	p->text = stb_scan_text(p);
	if (!p->stopped) {
		stb_yylex_init_extra(p, &p->scanner);
		/* flex gets its own copy: it writes into its buffer, and the filter looks ahead in this one */
		stb_yy_scan_bytes(p->text, (int)p->len, p->scanner);
		stb_yyparse(p);
		stb_yylex_destroy(p->scanner);
	}
	free(p->text);
	free(p->spoiled);
	p->text = NULL;
	p->spoiled = NULL;
}

static struct stb_parser *new_parser(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink)
{
	struct stb_parser *p = stb_xcalloc(1, sizeof(*p));

	p->arena = a;
	p->src = src;
	p->file = file;
	p->sink = sink;
	p->ast = STB_NEW(a, struct stb_ast);
	p->ast->file = file;
	p->ast->version_span = STB_NO_SPAN;
	return p;
}

struct stb_ast *stb_parse(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink)
{
	struct stb_parser *p = new_parser(a, src, file, sink);
	struct stb_ast *ast = p->ast;

	run(p, STB_T_START_FILE);
	free(p);
	return ast;
}

struct stb_node *stb_parse_value(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink)
{
	struct stb_parser *p = new_parser(a, src, file, sink);
	const uint32_t errors_before = sink->n_errors;
	struct stb_node *value;

	run(p, STB_T_START_VALUE);
	value = sink->n_errors == errors_before ? p->value : NULL;
	free(p);
	return value;
}

struct stb_stmt **stb_parse_selector(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink,
	uint32_t *n)
{
	struct stb_parser *p = new_parser(a, src, file, sink);
	const uint32_t errors_before = sink->n_errors;
	struct stb_stmts *list;

	run(p, STB_T_START_SELECTOR);
	list = p->selector;
	free(p);
	*n = 0;
	for (uint32_t i = 0; list && i < list->n; i++) {
		if (list->v[i]->kind == STB_S_ATTR)
			continue;
		struct stb_diag *d = stb_diag(sink, STB_E0116, list->v[i]->span, "a block in a selector");

		stb_diag_help(sink, d, "a selector holds `axis = value`, `axis = [a, b]` and `axis = 8..64`");
	}
	if (sink->n_errors != errors_before || !list)
		return NULL;
	*n = list->n;
	return list->n ? list->v : STB_NEW(a, struct stb_stmt *);
}
