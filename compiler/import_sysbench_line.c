/*
 * import_sysbench_line.c - a sysbench command line, or a shell script with several, as options by the table.
 *
 * Of the shell's grammar only what stands in published command lines: quotes, backslashes, comments, and what parts commands. Nothing is
 * expanded: `$NAME` stays as it is, and what becomes of it is for the option to say. Words of the command line are quoted into one text first,
 * so that there is one reader, and messages show the place in it.
 */
#include "compiler/import_sysbench.h"

#include <stdio.h>
#include <string.h>

enum {
	TEXT_MAX = 256 * 1024,
	WORDS_MAX = 20000,
	SHOWN_WIDTH = 110,
};

const struct stb_sb_row *stb_sb_rows(size_t *n)
{
	static const struct stb_sb_row rows[] = {
#define STB_SBOPT(name, aliases, versions, arg, scripts, part, attr, neutral, fate, reason) \
	{ name, aliases, versions, STB_SB_##arg, scripts, STB_SB_##part, attr, neutral, STB_SB_##fate, reason },
#include "compiler/import_sysbench.def"
#undef STB_SBOPT
	};

	*n = STB_LEN(rows);
	return rows;
}

bool stb_sb_has(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = list; n && (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

static bool is_named(const struct stb_sb_row *r, const char *name)
{
	return !strcmp(r->name, name) || stb_sb_has(r->aliases, name);
}

/* The row of a name in a version, else of any version. */
static const struct stb_sb_row *find_row(const char *name, const char *version)
{
	const struct stb_sb_row *any = NULL;
	size_t n;
	const struct stb_sb_row *rows = stb_sb_rows(&n);

	for (size_t i = 0; i < n; i++) {
		if (!is_named(&rows[i], name))
			continue;
		if (stb_sb_has(rows[i].versions, version))
			return &rows[i];
		any = any ? any : &rows[i];
	}
	return any;
}

/* --- words, as a shell parts them ------------------------------------------------------------------------------------------------------- */

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
	const char *text;
	uint32_t file, at, len;
	struct token *tokens;
	uint32_t n, cap;
};

static struct stb_span span_of(const struct reader *r, uint32_t begin, uint32_t end)
{
	return (struct stb_span){ .file = r->file, .begin = begin, .end = end };
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

/* --- options ---------------------------------------------------------------------------------------------------------------------------- */

static bool is_secret(const char *name)
{
	const struct stb_sb_row *row = find_row(name, "1.0");

	return row ? row->arg == STB_SB_SECRET : strstr(name, "pass") || strstr(name, "pwd") || strstr(name, "secret");
}

static const char *dashed(struct stb_import *im, const char *name, size_t len)
{
	char *s = stb_arena_strndup(&im->c->arena, name, len);

	for (char *p = s; *p; p++)
		if (*p == '_')
			*p = '-';
	return s;
}

static struct stb_sb_option *add_option(struct stb_import *im, struct stb_sb_command *c, const char *written, size_t len, struct stb_span span)
{
	struct stb_sb_option *o;

	STB_ARENA_GROW(&im->c->arena, c->options, c->n, c->cap);
	o = &c->options[c->n++];
	*o = (struct stb_sb_option){ .name = dashed(im, written, len), .value = "", .span = span };
	return o;
}

/* A reference of the shell is no secret. */
static bool is_hidden(const char *name, const char *value)
{
	return *value && *value != '$' && is_secret(name);
}

static void set_value(struct stb_import *im, struct stb_sb_option *o, const char *value)
{
	const char *words = stb_arena_printf(&im->c->arena, "--%s=%s", o->name, is_hidden(o->name, value) ? "***" : value);

	o->has_value = true;
	o->value = value;
	o->words = stb_import_quote(im, words, strlen(words));
}

static bool takes_value(const char *name)
{
	const struct stb_sb_row *row = find_row(name, "1.0");

	return row && row->arg != STB_SB_BOOL;
}

/* The value begins where the written text of the word has its `=`. */
static struct stb_span behind_sign(const struct reader *r, struct stb_span span)
{
	const char *sign = memchr(r->text + span.begin, '=', span.end - span.begin);

	if (sign)
		span.begin = (uint32_t)(sign - r->text) + 1;
	return span;
}

static void read_config(struct stb_import *im, struct stb_sb_command *c, const char *path);

/* The option at token i; the last token that belongs to it. */
static uint32_t read_option(struct reader *r, struct stb_sb_command *c, uint32_t i, uint32_t end)
{
	const struct token *t = &r->tokens[i];
	const char *name = t->text + 2, *sign = strchr(name, '=');
	struct stb_sb_option *o = add_option(r->im, c, name, sign ? (size_t)(sign - name) : strlen(name), t->span);

	o->words = stb_import_quote(r->im, t->text, strlen(t->text));
	if (sign) {
		set_value(r->im, o, sign + 1);
	} else if (takes_value(o->name) && i + 1 < end && strncmp(r->tokens[i + 1].text, "--", 2) != 0) {
		i++;
		o->parted = true;
		o->span = stb_span_join(t->span, r->tokens[i].span);
		set_value(r->im, o, r->tokens[i].text);
	}
	if (!strcmp(o->name, "config-file") && *o->value && strcmp(o->value, "-") != 0)
		read_config(r->im, c, o->value);
	return i;
}

/* A line of a configuration file: NAME=VALUE without blanks, or NAME. */
static void read_config_line(struct stb_import *im, struct stb_sb_command *c, uint32_t file, const char *bytes, uint32_t begin, uint32_t end)
{
	const char *sign = memchr(bytes + begin, '=', end - begin);
	const struct stb_span span = { .file = file, .begin = begin, .end = end };
	struct stb_sb_option *o;

	if (begin == end || bytes[begin] == '#')
		return;
	if (memchr(bytes + begin, ' ', sign ? (size_t)(sign - bytes) - begin : end - begin) || bytes[begin] == '[' || bytes[begin] == '-') {
		stb_import_leave(im, span, stb_import_quote(im, bytes + begin, end - begin), "sysbench reads only NAME=VALUE there and ignores the line");
		return;
	}
	o = add_option(im, c, bytes + begin, sign ? (size_t)(sign - bytes) - begin : end - begin, span);
	o->words = stb_import_quote(im, bytes + begin, end - begin);
	if (sign && is_secret(o->name))
		stb_sink_mask(&im->c->sink, (struct stb_span){ .file = file, .begin = (uint32_t)(sign + 1 - bytes), .end = end });
	if (sign)
		set_value(im, o, stb_arena_strndup(&im->c->arena, sign + 1, end - (size_t)(sign + 1 - bytes)));
	if (!strcmp(o->name, "config-file"))
		stb_import_refuse(im, span, o->words, "a configuration file that names another is not followed");
}

static void read_config(struct stb_import *im, struct stb_sb_command *c, const char *path)
{
	const struct stb_source_file *f;
	uint32_t file, begin = 0;

	if (!stb_compile_load(im->c, path, NULL, &file))
		return;
	f = &im->c->sources.files[file];
	while (begin < f->len) {
		const char *nl = memchr(f->bytes + begin, '\n', f->len - begin);
		uint32_t end = nl ? (uint32_t)(nl - f->bytes) : (uint32_t)f->len, stop = end;

		while (stop > begin && strchr(" \t\r", f->bytes[stop - 1]))
			stop--;
		while (begin < stop && strchr(" \t", f->bytes[begin]))
			begin++;
		read_config_line(im, c, file, f->bytes, begin, stop);
		begin = end + 1;
	}
}

/* --- commands --------------------------------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_action(const char *word)
{
	return stb_sb_has("prepare run cleanup help prewarm warmup", word);
}

static bool read_positional(struct stb_import *im, struct stb_sb_command *c, const struct token *t)
{
	if (is_action(t->text) && !c->action) {
		c->action = t->text;
	} else if (!c->test && !c->action) {
		c->test = t->text;
		c->test_span = t->span;
	} else {
		stb_diag(&im->c->sink, STB_E0804, t->span, "`%s` is no word that sysbench takes here", stb_import_quote(im, t->text, strlen(t->text)));
		return false;
	}
	return true;
}

/* Words of another program, or in front of sysbench: the first is shown up to a `=`, of the others nobody knows whether they are secret. */
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

/* What stands in front of sysbench: of no consequence, or a hold on the client. */
static void judge_front(struct reader *r, uint32_t first, uint32_t program)
{
	const char *name = base_name(r->tokens[first].text);
	struct stb_span span;
	const char *words = first_word(r, first, program, &span);

	if (stb_sb_has("sudo time nohup exec env command", name) || strchr(name, '='))
		stb_import_leave(r->im, span, words, "it belongs to the shell");
	else
		stb_import_refuse(r->im, span, words, "it holds the client to something; give the workload a `client` server with cpus or a pin");
}

static void leave_shell(struct reader *r, uint32_t first, uint32_t end, const char *why)
{
	struct stb_span span;
	const char *words = first_word(r, first, end, &span);

	stb_import_leave(r->im, span, *words ? words : ">", "%s", why);
}

/* The command as a comment shows it, without secrets. */
static const char *shown(struct reader *r, const struct stb_sb_command *c)
{
	struct stb_buf b;
	const char *text;
	size_t line = 0;

	stb_buf_init(&b);
	stb_buf_adds(&b, "sysbench");
	for (uint32_t i = 0; i < c->n + 2; i++) {
		const struct stb_sb_option *o = i && i <= c->n ? &c->options[i - 1] : NULL;
		const char *word = o ? o->words : i ? c->action : c->by_option ? NULL : c->test;

		if (!word || (o && o->span.file != r->file))
			continue;
		word = stb_import_quote(r->im, word, strlen(word));
		if (b.len - line + strlen(word) > SHOWN_WIDTH) {
			stb_buf_addc(&b, '\n');
			line = b.len;
			stb_buf_adds(&b, "   ");
		}
		stb_buf_printf(&b, " %s", word);
	}
	text = stb_arena_strdup(&r->im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static void resolve_rows(struct stb_sb_command *c)
{
	const char *version = stb_sb_version(c);

	for (uint32_t i = 0; i < c->n; i++)
		c->options[i].row = find_row(c->options[i].name, version);
}

/* The words of sysbench, from the one behind its name on. */
static bool read_sysbench(struct reader *r, uint32_t first, uint32_t end, struct stb_sb_command *c)
{
	for (uint32_t i = first; i < end; i++) {
		const struct token *t = &r->tokens[i];

		if (t->shell)
			leave_shell(r, i, i + 1, "it belongs to the shell");
		else if (!strncmp(t->text, "--", 2) && t->text[2])
			i = read_option(r, c, i, end);
		else if (!read_positional(r->im, c, t))
			return false;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		if (strcmp(c->options[i].name, "test") != 0)
			continue;
		c->options[i].done = true;
		c->test = c->options[i].value;
		c->test_span = c->options[i].span;
		c->by_option = true;
	}
	resolve_rows(c);
	c->text = shown(r, c);
	return true;
}

static uint32_t find_program(const struct reader *r, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (!r->tokens[i].shell && !strcmp(base_name(r->tokens[i].text), "sysbench"))
			return i;
	return end;
}

static bool read_command(struct reader *r, uint32_t first, uint32_t end, bool piped, bool alone, struct stb_sb_line *out)
{
	uint32_t program;
	struct stb_sb_command *c;

	if (first == end)
		return true;
	program = find_program(r, first, end);
	if (piped || (program == end && !alone)) {
		leave_shell(r, first, end, "it is no sysbench command");
		return true;
	}
	STB_ARENA_GROW(&r->im->c->arena, out->commands, out->n, out->cap);
	c = &out->commands[out->n++];
	*c = (struct stb_sb_command){ .span = stb_span_join(r->tokens[first].span, r->tokens[end - 1].span) };
	if (program < end && program > first)
		judge_front(r, first, program);
	return read_sysbench(r, program == end ? first : program + 1, end, c);
}

/*
 * Everything that may be a secret, before anything is said of the text: of sysbench's own options the passwords, of other programs all words
 * but the first, in front of sysbench the values of variables and all words behind the first.
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

		if (strncmp(t->text, "--", 2) != 0 || !is_secret(dashed(r->im, t->text + 2, sign ? (size_t)(sign - t->text) - 2 : strlen(t->text + 2))))
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

static bool read_commands(struct reader *r, struct stb_sb_line *out)
{
	uint32_t first = 0, n_commands = 0;
	bool piped = false;

	for (uint32_t i = 0; i < r->n; i++)
		n_commands += r->tokens[i].kind == END && i && r->tokens[i - 1].kind != END;
	mask_secrets(r, n_commands == 1);
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->tokens[i].kind != END)
			continue;
		if (!read_command(r, first, i, piped, n_commands == 1, out))
			return false;
		piped = r->tokens[i].piped;
		first = i + 1;
	}
	return true;
}

bool stb_sb_read(struct stb_import *im, const char *const *words, uint32_t n, struct stb_sb_line *out)
{
	struct reader r = { .im = im };
	uint64_t len = 0;

	*out = (struct stb_sb_line){ 0 };
	for (uint32_t i = 0; i < n; i++)
		len += strlen(words[i]) + 3;
	if (len > TEXT_MAX) {
		stb_diag(&im->c->sink, STB_E0804, STB_NO_SPAN, "the command line is longer than %d bytes", TEXT_MAX);
		return false;
	}
	r.text = n == 1 ? words[0] : quote_words(im, words, n);
	r.len = (uint32_t)strlen(r.text);
	r.file = stb_sources_add(&im->c->sources, "<command line>", r.text, r.len);
	if (!read_tokens(&r) || !read_commands(&r, out))
		return false;
	if (!out->n)
		stb_diag(&im->c->sink, STB_E0804, STB_NO_SPAN, "there is no sysbench command in what was given");
	return out->n;
}

/* --- the version ------------------------------------------------------------------------------------------------------------------------ */

static bool ends_in_lua(const char *test)
{
	const size_t n = strlen(test);

	return n > 4 && !strcmp(test + n - 4, ".lua");
}

/*
 * The C test of 0.4 is --test=oltp and nothing else. Scripts of the 0.5 kind are known by their names, or by options that begin with oltp-, which
 * the scripts of 1.0 do not take; sysbench 1.0 runs them as well.
 */
const char *stb_sb_version(const struct stb_sb_command *c)
{
	static const char legacy[] = "oltp oltp_simple select insert delete update_index update_non_index parallel_prepare";
	static const char bundled[] = "oltp_delete oltp_insert oltp_point_select oltp_read_only oltp_read_write oltp_update_index "
				      "oltp_update_non_index oltp_write_only";
	const char *base = c->test ? base_name(c->test) : "";
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)STB_MIN(strlen(base) - (ends_in_lua(base) ? 4 : 0), sizeof(name) - 1), base);
	if (c->by_option && !strcmp(c->test, "oltp"))
		return "0.4";
	if (stb_sb_has(legacy, name))
		return "0.5";
	for (uint32_t i = 0; i < c->n && !stb_sb_has(bundled, name); i++)
		if (!strncmp(c->options[i].name, "oltp-", 5))
			return "0.5";
	return "1.0";
}
