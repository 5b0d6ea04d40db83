/*
 * import_shell.c - parts a command line into words as a shell does.
 *
 * Of the shell's grammar only what stands in published command lines: quotes, backslashes, comments, redirections, and what parts commands.
 * Nothing is expanded: `$NAME` stays as it is, and what becomes of it is for the option to say. Words of the command line are quoted into one
 * text first, so that there is one reader, and messages show the place in it.
 */
#include "compiler/import_shell.h"

#include <string.h>

enum {
	TEXT_MAX = 256 * 1024,
	WORDS_MAX = 20000,
};

enum kind { WORD, END }; /* END: of a command */

struct token {
	enum kind kind;
	const char *text;
	struct stb_span span;
	bool piped;      /* END: the next command reads this one's output */
	bool shell;      /* a redirection: the shell's own */
};

struct reader {
	struct stb_import *im;
	struct stb_shell *out;
	const char *text;
	uint32_t at, len;
	struct token *tokens;
	uint32_t n, cap;
};

static struct stb_span span_of(const struct reader *r, uint32_t begin, uint32_t end)
{
	return (struct stb_span){ .file = r->out->file, .begin = begin, .end = end };
}

static struct token *add_token(struct reader *r, enum kind kind, uint32_t begin)
{
	STB_ARENA_GROW(&r->im->c->arena, r->tokens, r->n, r->cap);
	r->tokens[r->n] = (struct token){ .kind = kind, .text = "", .span = span_of(r, begin, r->at) };
	return &r->tokens[r->n++];
}

/* Behind an opening quote; appends what stands in it. */
static bool read_quoted(struct reader *r, char quote, struct stb_buf *word)
{
	const uint32_t begin = r->at - 1;

	for (; r->at < r->len; r->at++) {
		const char c = r->text[r->at];

		if (c == quote) {
			r->at++;
			return true;
		}
		if (quote == '"' && c == '\\' && r->at + 1 < r->len && strchr("\"\\$`\n", r->text[r->at + 1])) {
			r->at++;
			if (r->text[r->at] != '\n')
				stb_buf_addc(word, r->text[r->at]);
			continue;
		}
		stb_buf_addc(word, c);
	}
	stb_sink_mask(&r->im->c->sink, span_of(r, begin + 1, r->len)); /* nobody knows what it would have been */
	stb_diag(&r->im->c->sink, STB_E0804, span_of(r, begin, begin + 1), "a quote of the command line is not closed");
	return false;
}

static bool read_word(struct reader *r)
{
	const uint32_t begin = r->at;
	struct stb_buf word;
	bool good = true;

	stb_buf_init(&word);
	while (good && r->at < r->len && !strchr(" \t\r\n;|&<>", r->text[r->at])) {
		const char c = r->text[r->at++];

		if (c == '\'' || c == '"')
			good = read_quoted(r, c, &word);
		else if (c == '\\' && r->at < r->len && r->text[r->at] == '\n')
			r->at++;
		else if (c == '\\' && r->at < r->len)
			stb_buf_addc(&word, r->text[r->at++]);
		else
			stb_buf_addc(&word, c);
	}
	if (good)
		add_token(r, WORD, begin)->text = stb_arena_strdup(&r->im->c->arena, stb_buf_str(&word));
	stb_buf_fini(&word);
	return good;
}

/* `>file`, `2>&1`: with the word behind it, which belongs to it. */
static bool read_redirection(struct reader *r)
{
	const uint32_t begin = r->at;

	while (r->at < r->len && strchr("<>&", r->text[r->at]))
		r->at++;
	while (r->at < r->len && strchr(" \t", r->text[r->at]))
		r->at++;
	if (r->at < r->len && !strchr("\n;|", r->text[r->at])) {
		if (!read_word(r))
			return false;
		r->n--;
	}
	if (r->n && r->tokens[r->n - 1].kind == WORD && r->tokens[r->n - 1].span.end == begin && strspn(r->tokens[r->n - 1].text, "012") == 1 &&
		!r->tokens[r->n - 1].text[1])
		r->n--; /* the number of a stream */
	add_token(r, WORD, begin)->shell = true;
	return true;
}

/* A line that begins with an option goes on with the command before it: published command lines are often broken without a backslash. */
static bool goes_on(const struct reader *r)
{
	uint32_t at = r->at + 1;

	while (at < r->len && strchr(" \t\r\n", r->text[at]))
		at++;
	return at + 1 < r->len && r->text[at] == '-' && r->text[at + 1] == '-';
}

static bool read_tokens(struct reader *r)
{
	while (r->at < r->len) {
		const char c = r->text[r->at];
		const uint32_t begin = r->at;
		bool good = true;

		if (r->n > WORDS_MAX) {
			stb_diag(&r->im->c->sink, STB_E0804, span_of(r, begin, begin + 1), "the command line has more than %d words", WORDS_MAX);
			return false;
		}
		if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && goes_on(r))) {
			r->at++;
		} else if (c == '\\' && r->at + 1 < r->len && r->text[r->at + 1] == '\n') {
			r->at += 2;
		} else if (c == '#') {
			while (r->at < r->len && r->text[r->at] != '\n')
				r->at++;
		} else if (c == '\n' || c == ';' || c == '|' || (c == '&' && (r->at + 1 >= r->len || r->text[r->at + 1] != '>'))) {
			const bool twice = r->at + 1 < r->len && r->text[r->at + 1] == c;

			r->at += 1 + (twice && c != '\n');
			add_token(r, END, begin)->piped = c == '|' && !twice;
		} else if (c == '<' || c == '>' || c == '&') {
			good = read_redirection(r);
		} else {
			good = read_word(r);
		}
		if (!good)
			return false;
	}
	add_token(r, END, r->len);
	return true;
}

/* Words as one text that reads as them again. */
static const char *quote_words(struct stb_import *im, const char *const *words, uint32_t n)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	for (uint32_t i = 0; i < n; i++) {
		const bool plain = *words[i] && !words[i][strcspn(words[i], " \t\r\n;|&<>#'\"\\")];

		stb_buf_adds(&b, i ? " " : "");
		if (!plain)
			stb_buf_addc(&b, '\'');
		for (const char *p = words[i]; *p; p++) {
			if (*p == '\'' && !plain)
				stb_buf_adds(&b, "'\\''");
			else
				stb_buf_addc(&b, *p);
		}
		if (!plain)
			stb_buf_addc(&b, '\'');
	}
	text = stb_arena_strdup(&im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

/* --- commands --------------------------------------------------------------------------------------------------------------------------- */

const char *stb_shell_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t find_program(const struct reader *r, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (!r->tokens[i].shell && !strcmp(stb_shell_base_name(r->tokens[i].text), r->out->program))
			return i;
	return end;
}

/* The value begins where the written text of the word has its `=`. */
static struct stb_span behind_sign(const struct reader *r, struct stb_span span)
{
	const char *sign = memchr(r->text + span.begin, '=', span.end - span.begin);

	if (sign)
		span.begin = (uint32_t)(sign - r->text) + 1;
	return span;
}

/*
 * Everything that may be a secret, before anything is said of the text: of the program's own options the secret ones, of other programs all words
 * but the first, in front of it the values of variables and all words behind the first.
 */
static void mask_command(struct reader *r, uint32_t first, uint32_t end, bool alone)
{
	const uint32_t program = find_program(r, first, end);
	struct stb_span rest;

	if (first < end && program > first && !(program == end && alone)) {
		rest = stb_span_join(r->tokens[first].span, r->tokens[program - 1].span);
		rest.begin = strchr(r->tokens[first].text, '=') ? behind_sign(r, r->tokens[first].span).begin : r->tokens[first].span.end;
		if (rest.begin < rest.end)
			stb_sink_mask(&r->im->c->sink, rest);
	}
	for (uint32_t i = program == end ? first : program; i < end; i++) {
		const struct token *t = &r->tokens[i];
		const char *sign = strchr(t->text, '=');

		if (strncmp(t->text, "--", 2) != 0 || !r->out->is_secret ||
			!r->out->is_secret(r->im, t->text + 2, sign ? (size_t)(sign - t->text) - 2 : strlen(t->text + 2)))
			continue;
		if (sign && sign[1] && sign[1] != '$')
			stb_sink_mask(&r->im->c->sink, behind_sign(r, t->span));
		else if (!sign && i + 1 < end && r->tokens[i + 1].text[0] != '$')
			stb_sink_mask(&r->im->c->sink, r->tokens[i + 1].span);
	}
}

static void mask_secrets(struct reader *r, bool alone)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->tokens[i].kind != END)
			continue;
		mask_command(r, first, i, alone);
		first = i + 1;
	}
}

/* Words of another program, or in front of the program: the first is shown up to a `=`, of the others nobody knows whether they are secret. */
static const char *first_word(struct reader *r, uint32_t first, uint32_t end, struct stb_span *span)
{
	const struct token *t = &r->tokens[first];
	const size_t len = strcspn(t->text, "=");
	struct stb_span rest = stb_span_join(t->span, r->tokens[end - 1].span);

	*span = t->span;
	rest.begin = t->text[len] ? behind_sign(r, t->span).begin : t->span.end;
	return stb_import_quote(r->im, stb_arena_printf(&r->im->c->arena, "%.*s%s", (int)len, t->text, rest.begin < rest.end ? " ..." : ""),
		len + (rest.begin < rest.end ? 4 : 0));
}

/* What stands in front of the program: of no consequence, or a hold on the client. */
static void judge_front(struct reader *r, uint32_t first, uint32_t program)
{
	static const char *const harmless[] = { "sudo", "time", "nohup", "exec", "env", "command" };
	const char *name = stb_shell_base_name(r->tokens[first].text);
	struct stb_span span;
	const char *words = first_word(r, first, program, &span);

	for (size_t i = 0; i < STB_LEN(harmless); i++)
		if (!strcmp(harmless[i], name) || strchr(name, '=')) {
			stb_import_leave(r->im, span, words, "it belongs to the shell");
			return;
		}
	stb_import_refuse(r->im, span, words, "%s", r->out->hold);
}

static void leave_shell(struct reader *r, uint32_t first, uint32_t end, const char *why)
{
	struct stb_span span;
	const char *words = first_word(r, first, end, &span);

	stb_import_leave(r->im, span, *words ? words : ">", "%s", why);
}

static void add_command(struct reader *r, uint32_t first, uint32_t end, bool piped, bool alone)
{
	struct stb_arena *a = &r->im->c->arena;
	struct stb_shell_word *words;
	struct stb_shell_command *c;
	uint32_t program;

	if (first == end)
		return;
	program = find_program(r, first, end);
	if (piped || (program == end && !alone)) {
		leave_shell(r, first, end, stb_arena_printf(a, "it is no %s command", r->out->program));
		return;
	}
	if (program < end && program > first)
		judge_front(r, first, program);
	words = STB_NEW_ARRAY(a, struct stb_shell_word, end - first + 1);
	STB_ARENA_GROW(a, r->out->commands, r->out->n, r->out->cap);
	c = &r->out->commands[r->out->n++];
	*c = (struct stb_shell_command){ .words = words, .span = stb_span_join(r->tokens[first].span, r->tokens[end - 1].span) };
	for (uint32_t i = program == end ? first : program + 1; i < end; i++) {
		if (r->tokens[i].shell)
			leave_shell(r, i, i + 1, "it belongs to the shell");
		else
			words[c->n++] = (struct stb_shell_word){ r->tokens[i].text, r->tokens[i].span };
	}
}

static void find_commands(struct reader *r)
{
	uint32_t first = 0, n_commands = 0;
	bool piped = false;

	for (uint32_t i = 0; i < r->n; i++)
		n_commands += r->tokens[i].kind == END && i && r->tokens[i - 1].kind != END;
	mask_secrets(r, n_commands == 1);
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->tokens[i].kind != END)
			continue;
		add_command(r, first, i, piped, n_commands == 1);
		piped = r->tokens[i].piped;
		first = i + 1;
	}
}

bool stb_shell_read(struct stb_import *im, struct stb_shell *s, const char *const *words, uint32_t n)
{
	struct reader r = { .im = im, .out = s };
	uint64_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += strlen(words[i]) + 3;
	if (len > TEXT_MAX) {
		stb_diag(&im->c->sink, STB_E0804, STB_NO_SPAN, "the command line is longer than %d bytes", TEXT_MAX);
		return false;
	}
	r.text = n == 1 ? words[0] : quote_words(im, words, n);
	r.len = (uint32_t)strlen(r.text);
	s->file = stb_sources_add(&im->c->sources, "<command line>", r.text, r.len);
	if (!read_tokens(&r))
		return false;
	find_commands(&r);
	if (!s->n)
		stb_diag(&im->c->sink, STB_E0804, STB_NO_SPAN, "there is no %s command in what was given", s->program);
	return s->n;
}
