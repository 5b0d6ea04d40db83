/*
 * slip.c - what people often write instead of the language: reported with what to write, then taken for what was meant.
 *
 * A slip on a line that is spoiled already is a consequence and stays silent (stb_parser_quiet).
 */
#include "compiler/ast_build.h"

#include "stb.tab.h"

#include <ctype.h>
#include <string.h>

/* The empty place behind a span: where something is missing. */
static struct stb_span after(struct stb_span at)
{
	return (struct stb_span){ at.file, at.end, at.end };
}

void stb_slip_no_header(struct stb_parser *p, struct stb_span at)
{
	const bool empty = p->last.kind == STB_T_END;
	struct stb_diag *d;

	if (p->stopped || stb_parser_quiet(p, p->last.span))
		return;
	d = stb_parser_error(p, STB_E0106, p->last.span, empty ? "the file is empty" : "the file does not begin with `stb 1`");
	stb_diag_here(p->sink, d, empty ? "a spec begins with `stb 1`" : "put `stb 1` on a line before this");
	stb_diag_fixit(p->sink, d, at, "stb 1\n\n");
}

void stb_slip_no_version(struct stb_parser *p, struct stb_span at)
{
	struct stb_diag *d = stb_parser_error(p, STB_E0106, at, "`stb` is not followed by the version of the language");

	stb_diag_here(p->sink, d, "write `stb 1`");
	stb_diag_fixit(p->sink, d, after(at), " 1");
}

void stb_slip_unopened(struct stb_parser *p, struct stb_span at)
{
	struct stb_diag *d;

	if (p->unopened > 0) {
		p->unopened--;
		return;
	}
	if (p->outside) { /* reported by the attributes before it */
		p->outside = false;
		return;
	}
	if (stb_parser_quiet(p, at))
		return;
	d = stb_parser_error(p, STB_E0108, at, "`}` closes nothing");
	stb_diag_here(p->sink, d, "there is no `{` open");
	if (p->last_close.file != STB_NO_FILE)
		stb_diag_label(p->sink, d, p->last_close, "the block before ends here");
}

void stb_slip_separator(struct stb_parser *p, struct stb_span at)
{
	struct stb_diag *d;

	if (stb_parser_quiet(p, at))
		return;
	d = stb_parser_error(p, STB_E0109, at, "statements are not separated by `%s`", stb_parser_spelling(p, at));
	stb_diag_here(p->sink, d, "leave it out");
	stb_diag_fixit(p->sink, d, at, "%s", "");
}

void stb_slip_sign(struct stb_parser *p, struct stb_span at)
{
	struct stb_diag *d;

	if (stb_parser_quiet(p, at))
		return;
	d = stb_parser_error(p, STB_E0109, at, "`%s` between a name and its value", stb_parser_spelling(p, at));
	stb_diag_here(p->sink, d, "write `=`");
	stb_diag_fixit(p->sink, d, at, "=");
}

struct stb_stmt *stb_slip_sign_before_block(struct stb_parser *p, struct stb_span at, const struct stb_node *path, struct stb_span sign,
	struct stb_span open, const struct stb_stmts *body)
{
	if (!stb_parser_quiet(p, sign)) {
		struct stb_diag *d = stb_parser_error(p, STB_E0109, sign, "`%s {`: a block takes no sign before its brace",
			stb_parser_spelling(p, sign));

		stb_diag_here(p->sink, d, "leave it out");
		stb_diag_fixit(p->sink, d, sign, "%s", "");
	}
	if (path->n_names != 1)
		return NULL;
	return stb_build_block(p, at, path->names[0], NULL, open, body);
}

static void report_no_sign(struct stb_parser *p, struct stb_span name, struct stb_span value)
{
	struct stb_diag *d;

	if (stb_parser_quiet(p, value))
		return;
	d = stb_parser_error(p, STB_E0109, value, "`=` is missing between `%s` and its value", stb_parser_spelling(p, name));
	stb_diag_here(p->sink, d, "write `= %s`", stb_parser_spelling(p, value));
	stb_diag_fixit(p->sink, d, after(name), " =");
}

struct stb_stmt *stb_slip_no_sign(struct stb_parser *p, struct stb_span at, struct stb_node *path, struct stb_node *value)
{
	report_no_sign(p, path->span, value->span);
	return stb_build_attribute(p, at, path, value);
}

static bool is_name(const char *s)
{
	if (!s || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

struct stb_stmt *stb_slip_quoted_name(struct stb_parser *p, struct stb_span at, const struct stb_node *name, struct stb_node *value)
{
	struct stb_names *names;
	struct stb_diag *d;

	if (!stb_parser_quiet(p, name->span)) {
		d = stb_parser_error(p, STB_E0109, name->span, "the name of an attribute stands without quotes");
		if (is_name(name->text)) {
			stb_diag_here(p->sink, d, "write `%s`", name->text);
			stb_diag_fixit(p->sink, d, name->span, "%s", name->text);
		}
	}
	if (!is_name(name->text))
		return NULL;
	names = stb_build_names(p, NULL, (struct stb_name){ name->text, name->span });
	return stb_build_attribute(p, at, stb_build_path(p, name->span, names), value);
}

/* Is there anything but blanks before this place on its line, an opening brace apart? */
static bool first_on_line(const struct stb_parser *p, struct stb_span at)
{
	uint32_t i = at.begin;

	while (i > 0 && (p->text[i - 1] == ' ' || p->text[i - 1] == '\t'))
		i--;
	return i == 0 || strchr("\n{}", p->text[i - 1]);
}

/*
 * `kind` and n words behind it, and then neither `=` nor `{`. What was meant shows in the words: a number or a string is a value whose `=`
 * is missing, at the top only a block can be meant, and a word that continues a line is a part of a text.
 */
static void report_incomplete(struct stb_parser *p, struct stb_name kind, const struct stb_words *words, uint32_t n)
{
	const struct stb_span all = n ? stb_span_join(kind.span, words->v[n - 1].word.span) : kind.span;
	const char *text = stb_parser_spelling(p, all);
	struct stb_diag *d;

	if (stb_parser_quiet(p, all))
		return;
	if (!first_on_line(p, kind.span)) {
		d = stb_parser_error(p, STB_E0110, all, "`%s` is neither an attribute nor a block", text);
		stb_diag_here(p->sink, d, "a text of several words stands in double quotes");
		return;
	}
	if (n && (words->v[0].bare || (words->v[0].word.kind == STB_W_STRING && p->depth > 0))) {
		report_no_sign(p, kind.span, words->v[0].word.span);
		return;
	}
	p->unopened++;
	if (n && p->depth == 0) {
		d = stb_parser_error(p, STB_E0108, all, "the block `%s` has no `{`", text);
		stb_diag_here(p->sink, d, "write `%s {`", text);
		stb_diag_fixit(p->sink, d, after(all), " {");
		return;
	}
	d = stb_parser_error(p, STB_E0107, all, "`%s` is neither an attribute nor a block", text);
	stb_diag_here(p->sink, d, "`=` or `{` is missing");
	if (n)
		stb_diag_help(p->sink, d, "an attribute is `%s = %s`, a block is `%s { ... }`", kind.text,
			stb_parser_spelling(p, stb_span_join(words->v[0].word.span, words->v[n - 1].word.span)), text);
	else
		stb_diag_help(p->sink, d, "an attribute is `%s = value`, a block is `%s { ... }`", text, text);
}

/* Each line of them is a statement of its own. */
static void report_lines(struct stb_parser *p, struct stb_name kind, const struct stb_words *words, uint32_t n)
{
	uint32_t begin = 0;

	for (uint32_t i = 0; i <= n; i++) {
		const struct stb_span at = i < n ? words->v[i].word.span : STB_NO_SPAN;
		const struct stb_words line = { words->v + begin, i - begin, 0 };

		if (i < n && stb_parser_line(p, at.begin) == stb_parser_line(p, kind.span.begin))
			continue;
		report_incomplete(p, kind, &line, line.n);
		if (i < n)
			kind = (struct stb_name){ words->v[i].word.text, at };
		begin = i + 1;
	}
}

struct stb_stmt *stb_slip_words(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words)
{
	(void)at;
	report_lines(p, kind, words, words->n);
	return NULL;
}

struct stb_stmt *stb_slip_words_before_sign(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words,
	const struct stb_names *rest, struct stb_node *value)
{
	const struct stb_word_item *last = &words->v[words->n - 1];
	const struct stb_span left = words->n > 1 ? words->v[words->n - 2].word.span : kind.span;
	const struct stb_span all = stb_span_join(kind.span, last->word.span);
	struct stb_names *names;
	struct stb_diag *d;

	(void)at;
	if (stb_parser_line(p, left.begin) != stb_parser_line(p, last->word.span.begin) ||
		(words->n > 1 && (words->v[0].bare || words->v[0].word.kind == STB_W_STRING))) {
		report_lines(p, kind, words, words->n - 1);
	} else if (!stb_parser_quiet(p, all)) {
		d = stb_parser_error(p, STB_E0107, all, "`%s` before `=` is not the name of one attribute", stb_parser_spelling(p, all));
		if (words->n == 1 && last->word.kind == STB_W_IDENT)
			stb_diag_here(p->sink, d, "write `%s.%s`, or put `%s` into its own block", kind.text, last->word.text,
				last->word.text);
		stb_diag_help(p->sink, d, "a text of several words stands in double quotes");
	}
	if (last->word.kind != STB_W_IDENT)
		return NULL;
	names = stb_build_names(p, NULL, (struct stb_name){ last->word.text, last->word.span });
	for (uint32_t i = 0; rest && i < rest->n; i++)
		names = stb_build_names(p, names, rest->v[i]);
	return stb_build_attribute(p, stb_span_join(last->word.span, value->span),
		stb_build_path(p, stb_span_join(last->word.span, names->v[names->n - 1].span), names), value);
}

struct stb_word_item stb_slip_word(struct stb_parser *p, const struct stb_node *bare)
{
	const size_t len = bare->span.end - bare->span.begin;
	const char *text = stb_arena_strndup(p->arena, p->text + bare->span.begin, len);

	return (struct stb_word_item){ { STB_W_STRING, text, bare->span }, true };
}

struct stb_word_item stb_slip_hyphen(struct stb_parser *p, struct stb_span at, struct stb_word_item left)
{
	char *meant;
	struct stb_diag *d;

	while (at.end < p->len && (isalnum((unsigned char)p->text[at.end]) || (p->text[at.end] && strchr("_-", p->text[at.end]))))
		at.end++;
	meant = stb_arena_strndup(p->arena, p->text + at.begin, at.end - at.begin);
	for (char *s = meant; *s; s++)
		if (!isalnum((unsigned char)*s))
			*s = '_';
	left.word.text = meant;
	left.word.span = at;
	if (stb_parser_quiet(p, at))
		return left;
	d = stb_parser_error(p, STB_E0107, at, "`%s` is not a name: it reads as a subtraction", stb_parser_spelling(p, at));
	stb_diag_here(p->sink, d, "write `%s`", meant);
	stb_diag_fixit(p->sink, d, at, "%s", meant);
	return left;
}

struct stb_node *stb_slip_range(struct stb_parser *p, struct stb_span at, const char *reason)
{
	if (!stb_parser_quiet(p, at)) {
		struct stb_diag *d = stb_parser_error(p, STB_E0112, at, "`%s` is not a range: %s", stb_parser_spelling(p, at), reason);

		stb_diag_help(p->sink, d, "`64..*` is at least 64, `*..64` at most 64, `8..64` between the two");
	}
	return stb_build_bad(p, at);
}

struct stb_node *stb_slip_star(struct stb_parser *p, struct stb_span at)
{
	if (!stb_parser_quiet(p, at)) {
		struct stb_diag *d = stb_parser_error(p, STB_E0107, at, "`*` alone is not a value");

		stb_diag_help(p->sink, d, "it is the open end of a range: `64..*` is at least 64; what is left out of a selector may be anything");
	}
	return stb_build_bad(p, at);
}

struct stb_nodes *stb_slip_no_comma(struct stb_parser *p, struct stb_nodes *list, struct stb_node *item)
{
	if (!stb_parser_quiet(p, item->span)) {
		struct stb_diag *d = stb_parser_error(p, STB_E0109, item->span, "`,` is missing before `%s`", stb_parser_spelling(p, item->span));

		stb_diag_here(p->sink, d, "values in brackets are separated by `,`");
		stb_diag_fixit(p->sink, d, after(list->v[list->n - 1]->span), ",");
	}
	return stb_build_items(p, list, item);
}
