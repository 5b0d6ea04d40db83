/*
 * import_sysbench_line.c - the commands of sysbench on a command line (import_shell.h), with their configuration files, as options by the table.
 */
#include "compiler/import_sysbench.h"

#include "compiler/import_shell.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_WIDTH = 110 };

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

static bool read_config(struct stb_import *im, struct stb_sb_command *c, const char *path);

/* The option at word *i, which becomes the last word that belongs to it. false: what the command says is not known, and told. */
static bool read_option(struct stb_import *im, const struct stb_shell_command *line, uint32_t *i, struct stb_sb_command *c)
{
	const struct stb_shell_word *t = &line->words[*i];
	const char *name = t->text + 2, *sign = strchr(name, '=');
	struct stb_sb_option *o = add_option(im, c, name, sign ? (size_t)(sign - name) : strlen(name), t->span);

	o->words = stb_import_quote(im, t->text, strlen(t->text));
	if (sign) {
		set_value(im, o, sign + 1);
	} else if (takes_value(o->name) && *i + 1 < line->n && strncmp(t[1].text, "--", 2) != 0) {
		++*i;
		o->parted = true;
		o->span = stb_span_join(t->span, t[1].span);
		set_value(im, o, t[1].text);
	}
	if (strcmp(o->name, "config-file") != 0 || !*o->value)
		return true;
	return read_config(im, c, strcmp(o->value, "-") ? o->value : "./-"); /* to sysbench it is a file of that name */
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
		stb_import_leave(im, span, o->words, "sysbench does not follow a configuration file that another one names");
}

static bool read_config(struct stb_import *im, struct stb_sb_command *c, const char *path)
{
	const struct stb_source_file *f;
	uint32_t file, begin = 0;

	if (!stb_import_load(im, path, &file))
		return false;
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
	return true;
}

/* --- commands --------------------------------------------------------------------------------------------------------------------------- */

static bool is_action(const char *word)
{
	return stb_sb_has("prepare run cleanup help prewarm warmup", word);
}

static bool read_positional(struct stb_import *im, struct stb_sb_command *c, const struct stb_shell_word *t)
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

/* The command as a comment shows it, without secrets. */
static const char *shown(struct stb_import *im, uint32_t file, const struct stb_sb_command *c)
{
	struct stb_buf b;
	const char *text;
	size_t line = 0;

	stb_buf_init(&b);
	stb_buf_adds(&b, "sysbench");
	for (uint32_t i = 0; i < c->n + 2; i++) {
		const struct stb_sb_option *o = i && i <= c->n ? &c->options[i - 1] : NULL;
		const char *word = o ? o->words : i ? c->action : c->by_option ? NULL : c->test;

		if (!word || (o && o->span.file != file))
			continue;
		word = stb_import_quote(im, word, strlen(word));
		if (b.len - line + strlen(word) > SHOWN_WIDTH) {
			stb_buf_addc(&b, '\n');
			line = b.len;
			stb_buf_adds(&b, "   ");
		}
		stb_buf_printf(&b, " %s", word);
	}
	text = stb_arena_strdup(&im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static void resolve_rows(struct stb_sb_command *c)
{
	const char *version = stb_sb_version(c);

	for (uint32_t i = 0; i < c->n; i++)
		c->options[i].row = find_row(c->options[i].name, version);
}

static bool read_sysbench(struct stb_import *im, const struct stb_shell *s, uint32_t k, struct stb_sb_command *c)
{
	const struct stb_shell_command *line = &s->commands[k];

	*c = (struct stb_sb_command){ .span = line->span };
	for (uint32_t i = 0; i < line->n; i++) {
		const struct stb_shell_word *t = &line->words[i];

		if (!strncmp(t->text, "--", 2) && t->text[2] ? !read_option(im, line, &i, c) : !read_positional(im, c, t))
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
	c->text = shown(im, s->file, c);
	return true;
}

static bool is_secret_option(struct stb_import *im, const char *name, size_t len)
{
	return is_secret(dashed(im, name, len));
}

bool stb_sb_read(struct stb_import *im, const char *const *words, uint32_t n, struct stb_sb_line *out)
{
	struct stb_shell s = {
		.program = "sysbench", .hold = "it holds the client to something; give the workload a `client` server with cpus or a pin",
		.is_secret = is_secret_option,
	};

	*out = (struct stb_sb_line){ 0 };
	if (!stb_shell_read(im, &s, words, n))
		return false;
	out->commands = STB_NEW_ARRAY(&im->c->arena, struct stb_sb_command, s.n);
	for (; out->n < s.n; out->n++)
		if (!read_sysbench(im, &s, out->n, &out->commands[out->n]))
			return false;
	return true;
}
