/*
 * filter.c - between scanner and grammar: brackets are balanced and missing values put in before the grammar sees them.
 *
 *   scanner --raw tokens--> filter --tokens--> grammar
 *                            |  keeps the stack of open brackets (at most STB_AST_MAX_DEPTH: the one limit on nesting)
 *                            |  puts in   `]` `)` `}` that are missing, a BAD value after a sign that has none
 *                            |  drops     `]` `)` that close nothing, and the rest of a statement that had a syntax error
 *
 * Why here: a grammar that recovers from a missing bracket needs rules for it everywhere, and by the time it fails the place where the
 * bracket belongs is far behind. Here a look at the next few bytes is exact: `name =` never stands inside [ ] or ( ), nor behind a sign.
 *
 * Invariant: a `}` is handed on only while the grammar has a `{` of its own open, because both count the same braces: one at a syntax error
 * is taken off the stack again and skipped together with its partner.
 */
#include "compiler/scan.h"
#include "compiler/secret.h"

#include "stb.lex.h"

#include <ctype.h>
#include <string.h>

/* --- looking ahead ----------------------------------------------------------------------------------------------------------------- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Passes blanks, line ends and comments; *newline says whether a line ended. */
static uint32_t pass_blanks(const struct stb_parser *p, uint32_t i, bool *newline)
{
	*newline = false;
	for (; i < p->len; i++) {
		const char c = p->text[i];

		if (c == '#')
			while (i + 1 < p->len && p->text[i + 1] != '\n')
				i++;
		else if (c == '\n')
			*newline = true;
		else if (c != ' ' && c != '\t' && c != '\r' && c != 1)
			break;
	}
	return i;
}

/* Is there `name =`, `name.name =` or `name {` at i? Only a statement begins like this. */
static bool statement_at(const struct stb_parser *p, uint32_t i)
{
	if (i >= p->len || !is_word_char(p->text[i]) || isdigit((unsigned char)p->text[i]))
		return false;
	while (i < p->len && (is_word_char(p->text[i]) || p->text[i] == '.'))
		i++;
	while (i < p->len && (p->text[i] == ' ' || p->text[i] == '\t'))
		i++;
	return i < p->len && (p->text[i] == '=' || p->text[i] == '{' || p->text[i] == ':');
}

static bool reserved_at(const struct stb_parser *p, uint32_t i)
{
	static const char *const words[] = { "include", "let", "param" };

	for (size_t w = 0; w < STB_LEN(words); w++) {
		const size_t len = strlen(words[w]);

		if (i + len < p->len && !memcmp(p->text + i, words[w], len) && !is_word_char(p->text[i + len]))
			return true;
	}
	return false;
}

/* After a sign or an operator: does a statement, a `}` or the end follow where a value belongs? */
static bool value_missing(const struct stb_parser *p)
{
	bool newline;
	const uint32_t i = pass_blanks(p, p->offset, &newline);

	if (i >= p->len || p->text[i] == '}')
		return true;
	return newline && (statement_at(p, i) || reserved_at(p, i));
}

/* --- raw tokens -------------------------------------------------------------------------------------------------------------------- */

/* Whether the grammar takes a node with the token: the scanner must have made one (all of them lie in the same place of the union). */
static bool carries_node(int kind)
{
	return kind == STB_T_QUANTITY || kind == STB_T_STRING || kind == STB_T_TIME || kind == STB_T_BOOL || kind == STB_T_BAD;
}

/* The sign between name and value, or the value of one who forgot it. */
static bool gives_value(int kind)
{
	return kind == STB_T_EQUALS || kind == STB_T_WRONG_EQUALS || kind == STB_T_STRING;
}

/* The next token of the scanner, or the one that was held back. The end has the place behind the last token. */
static int take_raw(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span *at)
{
	const int before = p->raw.kind;
	int kind;

	if (p->held->set) {
		p->held->set = false;
		*v = p->held->value;
		*at = p->held->at;
		return p->held->kind;
	}
	*v = (STB_YYSTYPE){ 0 };
	kind = stb_yylex(v, at, p->scanner);
	STB_ASSERT(!carries_node(kind) || v->STB_T_BAD);
	if (kind == STB_T_END)
		*at = (struct stb_span){ p->file, p->raw.span.end, p->raw.span.end };
	const uint32_t line = stb_parser_line(p, at->begin);

	if (line != p->raw.line)
		p->first_on_line = *at;
	p->raw = (struct stb_lexeme){ kind, *at, line };
	if (kind == STB_T_IDENT)
		p->last_word = v->STB_T_IDENT;
	if (before == STB_T_IDENT && gives_value(kind) && stb_secret_name(p->last_word.text))
		stb_secret_mask(p->sink, p->file, kind == STB_T_STRING ? at->begin : p->offset);
	return kind;
}

static void hold(struct stb_parser *p, int kind, const STB_YYSTYPE *v, struct stb_span at)
{
	*p->held = (struct stb_held){ true, kind, *v, at };
}

/* --- brackets ---------------------------------------------------------------------------------------------------------------------- */

static int partner(int opener)
{
	return opener == STB_T_LBRACE ? STB_T_RBRACE : opener == STB_T_LBRACKET ? STB_T_RBRACKET : STB_T_RPAREN;
}

static const char *sign(int kind)
{
	switch (kind) {
	case STB_T_LBRACE:
		return "{";
	case STB_T_RBRACE:
		return "}";
	case STB_T_LBRACKET:
		return "[";
	case STB_T_RBRACKET:
		return "]";
	case STB_T_LPAREN:
		return "(";
	default:
		return ")";
	}
}

static struct stb_opener *top(struct stb_parser *p)
{
	return p->depth ? &p->open[p->depth - 1] : NULL;
}

static uint32_t indent_of_line(const struct stb_parser *p)
{
	const struct stb_source_file *f = &p->src->files[p->file];

	return p->first_on_line.begin - f->lines[stb_parser_line(p, p->first_on_line.begin)];
}

static void push(struct stb_parser *p, int kind, struct stb_span at)
{
	struct stb_opener *outer = top(p);
	const struct stb_opener o = {
		.kind = kind, .span = at, .line = stb_parser_line(p, at.begin), .indent = indent_of_line(p), .suspect = STB_NO_SPAN,
	};

	if (p->depth == STB_AST_MAX_DEPTH) {
		stb_parser_too_deep(p, at);
		return;
	}
	if (kind == STB_T_LBRACE && outer && outer->kind == STB_T_LBRACE && outer->suspect.file == STB_NO_FILE && o.line > outer->line &&
		o.indent <= outer->indent)
		outer->suspect = p->first_on_line;
	p->open[p->depth++] = o;
}

/* A `]` or `)` is missing behind the last token. */
static void report_unclosed(struct stb_parser *p, const struct stb_opener *o)
{
	struct stb_diag *d;

	if (stb_parser_quiet(p, p->last.span) || stb_parser_quiet(p, o->span))
		return;
	d = stb_parser_error(p, STB_E0108, p->last.span, "`%s` is missing", sign(partner(o->kind)));
	stb_diag_here(p->sink, d, "after this");
	stb_diag_label(p->sink, d, o->span, "this `%s` is not closed", sign(o->kind));
	stb_diag_fixit(p->sink, d, (struct stb_span){ p->file, p->last.span.end, p->last.span.end }, "%s", sign(partner(o->kind)));
}

/* The file ends with open brackets: one report, at the block that was probably left open. */
static void report_open_at_end(struct stb_parser *p, struct stb_span end)
{
	const struct stb_opener *o = top(p);
	struct stb_span at = end;
	struct stb_diag *d;

	for (uint32_t i = 0; i < p->depth; i++) {
		if (p->open[i].suspect.file != STB_NO_FILE) {
			o = &p->open[i];
			at = o->suspect;
			break;
		}
	}
	d = stb_parser_error(p, STB_E0108, at, "`%s` is missing", sign(partner(o->kind)));
	stb_diag_here(p->sink, d, at.begin == end.begin ? "the file ends before it" : "before this, to judge by the indentation");
	stb_diag_label(p->sink, d, o->span, "this `%s` is not closed", sign(o->kind));
}

/* A `]` or `)` that closes nothing is dropped. */
static void report_unopened(struct stb_parser *p, int kind, struct stb_span at)
{
	struct stb_diag *d;

	if (stb_parser_quiet(p, at))
		return;
	d = stb_parser_error(p, STB_E0108, at, "`%s` closes nothing", sign(kind));
	stb_diag_here(p->sink, d, "there is no `%s` open", kind == STB_T_RBRACKET ? "[" : "(");
}

/* Puts in the partner of the innermost bracket, in front of the token that is held. */
static int put_in_partner(struct stb_parser *p, struct stb_span *at)
{
	*at = (struct stb_span){ p->file, p->last.span.end, p->last.span.end };
	return partner(p->open[--p->depth].kind);
}

/* --- skipping after a syntax error ------------------------------------------------------------------------------------------------- */

static bool begins_statement(int kind)
{
	return kind == STB_T_IDENT || kind == STB_T_INCLUDE || kind == STB_T_LET || kind == STB_T_PARAM || kind == STB_T_STRING;
}

/* Is this token still a part of the statement that is given up? A block is skipped as a whole. */
static bool skipped(struct stb_parser *p, int kind, struct stb_span at)
{
	const uint32_t line = stb_parser_line(p, at.begin);

	if (!p->skipping)
		return false;
	if (kind == STB_T_END || (p->skip_depth == 0 && (kind == STB_T_RBRACE || (line > p->skip_line && begins_statement(kind))))) {
		p->skipping = false;
		return false;
	}
	if (kind == STB_T_LBRACE) {
		p->skip_depth++;
	} else if (kind == STB_T_RBRACE) {
		p->skip_depth--;
		p->skip_line = line;
		p->spoiled[line] = true;
	}
	return true;
}

void stb_parser_resync(struct stb_parser *p)
{
	const struct stb_lexeme *t = &p->last;
	const bool again = p->last_error.kind == t->kind && p->last_error.span.begin == t->span.begin;
	const bool brace = t->kind == STB_T_LBRACE && p->depth > 0;

	p->last_error = *t;
	if (t->kind == STB_T_END) {
		p->keep = true;
		p->stopped = p->stopped || again; /* the end cannot be skipped */
		return;
	}
	p->depth -= brace;
	while (p->depth > 0 && p->open[p->depth - 1].kind != STB_T_LBRACE)
		p->depth--;
	p->keep = !again && (t->kind == STB_T_RBRACE || t->kind == STB_T_UNOPENED || (begins_statement(t->kind) && t->line != p->before.line));
	p->skipping = !p->keep && t->kind != STB_T_RBRACE && t->kind != STB_T_UNOPENED;
	p->skip_line = t->line;
	p->skip_depth = brace;
}

/* --- the filter -------------------------------------------------------------------------------------------------------------------- */

static bool too_much(struct stb_parser *p, struct stb_span at)
{
	if (p->sink->n_errors > STB_DIAG_MAX_ERRORS) {
		p->stopped = true;
	} else if (p->arena->used_bytes > p->arena_limit_bytes) {
		stb_parser_error(p, STB_E0111, at, "the spec is too large to be read");
		p->stopped = true;
	}
	return p->stopped;
}

/* Brackets and what stands among them. Returns the token to hand on, or -1 where it was dropped. */
static int balance(struct stb_parser *p, int kind, const STB_YYSTYPE *v, struct stb_span *at)
{
	const struct stb_opener *o = top(p);
	const bool in_value = o && o->kind != STB_T_LBRACE;

	switch (kind) {
	case STB_T_LBRACE:
	case STB_T_LBRACKET:
	case STB_T_LPAREN:
		push(p, kind, *at);
		return kind;
	case STB_T_END:
		if (!o)
			return kind;
		if (!stb_parser_quiet(p, *at) || !in_value)
			report_open_at_end(p, *at);
		p->depth = 0;
		p->stopped = true;
		return kind;
	case STB_T_RBRACE:
	case STB_T_RBRACKET:
	case STB_T_RPAREN:
		if (o && partner(o->kind) == kind) {
			p->depth--;
			return kind;
		}
		if (in_value) {
			report_unclosed(p, o);
			hold(p, kind, v, *at);
			return put_in_partner(p, at);
		}
		if (kind == STB_T_RBRACE) /* whether that is news is known when what stands before it has been read */
			return STB_T_UNOPENED;
		report_unopened(p, kind, *at);
		return -1;
	case STB_T_IDENT:
		if (in_value && stb_parser_line(p, at->begin) != p->last.line && statement_at(p, at->begin)) {
			report_unclosed(p, o);
			hold(p, kind, v, *at);
			return put_in_partner(p, at);
		}
		return kind;
	default:
		return kind;
	}
}

static bool wants_value(int kind)
{
	switch (kind) {
	case STB_T_EQUALS:
	case STB_T_WRONG_EQUALS:
	case STB_T_DOTDOT:
	case STB_T_PLUS:
	case STB_T_SLASH:
	case STB_T_START_VALUE:
		return true;
	default:
		return false;
	}
}

/* A BAD value where none follows a sign. */
static bool put_in_value(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span *at)
{
	const struct stb_span sign_at = p->last.span;
	struct stb_diag *d;

	if (p->held->set || !wants_value(p->last.kind) || !value_missing(p))
		return false;
	*at = (struct stb_span){ p->file, sign_at.end, sign_at.end };
	v->STB_T_BAD = stb_build_bad(p, *at);
	if (stb_parser_quiet(p, sign_at))
		return true;
	if (p->last.kind == STB_T_START_VALUE) {
		stb_parser_error(p, STB_E0112, *at, "there is no value");
		return true;
	}
	d = stb_parser_error(p, STB_E0112, sign_at, "`%s` is not followed by a value", stb_parser_spelling(p, sign_at));
	stb_diag_here(p->sink, d, "the value is missing");
	return true;
}

static int next(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span *at)
{
	int kind;

	if (put_in_value(p, v, at))
		return STB_T_BAD;
	do {
		kind = take_raw(p, v, at);
		if (too_much(p, *at))
			return STB_T_END;
		if (skipped(p, kind, *at))
			kind = -1;
		else
			kind = balance(p, kind, v, at);
	} while (kind == -1);
	p->minus_run = kind == STB_T_MINUS ? p->minus_run + 1 : 0;
	if (p->minus_run > STB_AST_MAX_DEPTH)
		stb_parser_too_deep(p, *at);
	return p->stopped ? STB_T_END : kind;
}

int stb_parser_token(STB_YYSTYPE *v, struct stb_span *at, struct stb_parser *p)
{
	int kind;

	if (p->start) {
		kind = p->start;
		*at = (struct stb_span){ p->file, 0, 0 };
		p->start = 0;
	} else if (p->stopped) {
		kind = STB_T_END;
		*at = p->last.span;
	} else {
		kind = next(p, v, at);
	}
	p->before = p->last;
	p->last = (struct stb_lexeme){ kind, *at, stb_parser_line(p, at->begin) };
	return kind;
}
