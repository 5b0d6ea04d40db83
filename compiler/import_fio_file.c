/*
 * import_fio_file.c - reads a fio job file as fio does.
 *
 * A line is a section `[name]`, an option `name=value` or `name`, `include FILE`, or empty; `;` and `#` begin a comment anywhere on it, also
 * within brackets and quotes and behind a backslash. A section's name ends with the last character of its line, so that it may hold `]`. One that
 * begins with "global" holds for the sections behind it. An include stands for its lines, which hold no sections; its name is tried as it is and then
 * beside the file that has it.
 *
 * Where fio goes on in silence with something that nobody meant (a section without its `]`, be it in a comment, loses the last letter of its name, a
 * long name or line is cut, a variable that is not set becomes nothing), this is an error. Limits keep files that are no job files from filling the
 * memory.
 */
#include "compiler/import_fio.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 4095, LONGEST_NAME = 254, MAX_OPTIONS = 10000, MAX_SECTIONS = 1000, MAX_INCLUDES = 200, MAX_DEPTH = 16 };

#define COMMENT ";#"

struct reader {
	struct stb_import *im;
	struct stb_fio_file *f;
	struct stb_fio_section *section; /* NULL: before the first */
	uint32_t files[MAX_DEPTH];       /* being read, outermost first */
	uint32_t depth;
};

STB_PRINTF(3, 4) static bool fail(struct reader *r, struct stb_span span, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stb_diag(&r->im->c->sink, STB_E0804, span, "%s", text);
	return false;
}

static const char *quote(struct reader *r, const char *s)
{
	return stb_import_quote(r->im, s, strlen(s));
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c > 0 && c < ' ') || c == 0x7f;
}

static void trim(const char **s, size_t *len)
{
	while (*len && is_blank(**s))
		(*s)++, (*len)--;
	while (*len && is_blank((*s)[*len - 1]))
		(*len)--;
}

/* --- ${NAME} ------------------------------------------------------------------------------------------------------------------------- */

static bool add_variable(struct reader *r, struct stb_buf *out, const char *name, struct stb_span span)
{
	const char *value = getenv(name);

	if (!value)
		return fail(r, span, "`${%s}` is not set in the environment; fio would put nothing in its place", quote(r, name));
	if (strlen(value) > LONGEST_LINE || strchr(value, '\n'))
		return fail(r, span, "`${%s}` holds something that is no part of a line", quote(r, name));
	if (strpbrk(value, COMMENT))
		return fail(r, span, "`${%s}` is `%s`: its `%c` begins a comment, and fio would take what stands before it", quote(r, name), quote(r, value),
			*strpbrk(value, COMMENT));
	stb_diag(&r->im->c->sink, STB_W0802, span, "`${%s}` was taken from the environment of this import: `%s`", quote(r, name), quote(r, value));
	stb_buf_adds(out, value);
	return true;
}

static bool substitute(struct reader *r, const char *s, size_t len, struct stb_span span, const char **out)
{
	struct stb_buf b;
	bool good = true;

	stb_buf_init(&b);
	for (size_t i = 0; i < len && good; i++) {
		const char *end = s[i] == '$' && i + 1 < len && s[i + 1] == '{' ? memchr(s + i, '}', len - i) : NULL;

		if (end) {
			good = add_variable(r, &b, stb_arena_strndup(&r->im->c->arena, s + i + 2, (size_t)(end - s) - i - 2), span);
			i = (size_t)(end - s);
		} else {
			stb_buf_addc(&b, s[i]);
		}
	}
	*out = stb_arena_strdup(&r->im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return good;
}

/* --- sections and options, also of a command line -------------------------------------------------------------------------------------- */

struct stb_fio_section *stb_fio_add_section(struct stb_import *im, struct stb_fio_file *f, const char *name, struct stb_span span)
{
	if (f->n >= MAX_SECTIONS) {
		stb_diag(&im->c->sink, STB_E0804, span, "more than %d sections", MAX_SECTIONS);
		return NULL;
	}
	STB_ARENA_GROW(&im->c->arena, f->sections, f->n, f->cap);
	f->sections[f->n] = (struct stb_fio_section){ .name = name, .span = span, .global = !strncmp(name, "global", 6), .group = f->group };
	return &f->sections[f->n++];
}

struct stb_fio_option *stb_fio_add_option(struct stb_import *im, struct stb_fio_file *f, struct stb_fio_section *s, struct stb_span span)
{
	if (f->n_options++ >= MAX_OPTIONS) {
		stb_diag(&im->c->sink, STB_E0804, span, "more than %d options", MAX_OPTIONS);
		return NULL;
	}
	STB_ARENA_GROW(&im->c->arena, s->options, s->n, s->cap);
	s->options[s->n] = (struct stb_fio_option){ .span = span };
	return &s->options[s->n++];
}

/* --- lines --------------------------------------------------------------------------------------------------------------------------- */

/* s[0] is `[`. behind: what stands behind the text on its line, a comment or "". */
static bool begin_section(struct reader *r, const char *s, size_t len, const char *behind, struct stb_span span)
{
	const char *name = stb_arena_strndup(&r->im->c->arena, s + 1, len - 1);
	const size_t n = strlen(name);

	if (r->depth > 1)
		return fail(r, span, "an included file holds a section; only options can be included");
	if (n && name[n - 1] != ']' && memchr(name, ']', n))
		return fail(r, span, "text behind the `]` of a section");
	if (!n || name[n - 1] != ']') {
		if (strchr(behind, ']'))
			return fail(r, span, "section without its `]`: `%c` begins a comment in a section's name too; fio would call it `%s`", *behind,
				stb_import_quote(r->im, name, n ? n - 1 : 0));
		return fail(r, span, "section without its `]`");
	}
	if (n == 1)
		return fail(r, span, "section without a name");
	if (n - 1 > LONGEST_NAME)
		return fail(r, span, "section with a name of %zu bytes; fio cuts names after %d", n - 1, LONGEST_NAME);
	r->section = stb_fio_add_section(r->im, r->f, stb_arena_strndup(&r->im->c->arena, name, n - 1), span);
	return r->section;
}

/* A comment that begins within quotes, or behind a backslash: whoever wrote that meant none. */
static bool is_meant(const char *s, size_t len, const char *behind)
{
	bool quoted = false;

	for (size_t i = 0; i < len; i++)
		quoted = quoted != (s[i] == '"');
	return !*behind || (!(quoted && strchr(behind, '"')) && s[len - 1] != '\\');
}

static bool add_option(struct reader *r, const char *s, size_t len, const char *behind, struct stb_span span)
{
	struct stb_fio_option *o;
	const char *text, *equals, *name;
	size_t n;

	if (!r->section)
		return fail(r, span, "`%s` stands before the first section", stb_import_quote(r->im, s, len));
	if (!substitute(r, s, len, span, &text))
		return false;
	o = stb_fio_add_option(r->im, r->f, r->section, span);
	if (!o)
		return false;
	equals = strchr(text, '=');
	name = text;
	n = equals ? (size_t)(equals - text) : strlen(text);
	trim(&name, &n);
	o->words = stb_import_quote(r->im, s, len);
	o->name = stb_arena_strndup(&r->im->c->arena, name, n);
	if (equals) {
		const char *value = equals + 1;

		n = strlen(value);
		trim(&value, &n);
		o->value = stb_arena_strndup(&r->im->c->arena, value, n);
	}
	if (!is_meant(s, len, behind))
		stb_import_differs(r->im, span, o->words, "`%c` begins a comment for fio, also in quotes and behind a backslash", *behind);
	return *o->name || fail(r, span, "`%s` has no name before its `=`", o->words);
}

static bool read_file(struct reader *r, uint32_t file);

/* fio takes the name as it stands, and where that is not there, beside the including file. */
static const char *find_include(struct reader *r, const char *name)
{
	const char *path = r->im->c->sources.files[r->files[r->depth - 1]].path, *slash = strrchr(path, '/');

	if (access(name, F_OK) == 0 || !slash)
		return name;
	return stb_arena_printf(&r->im->c->arena, "%.*s%s", (int)(slash - path) + 1, path, name);
}

static bool same_file(const char *a, const char *b)
{
	char *x = realpath(a, NULL), *y = realpath(b, NULL);
	const bool same = x && y && !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

static bool include(struct reader *r, const char *s, size_t len, struct stb_span span)
{
	struct stb_compilation *c = r->im->c;
	const char *name, *path;
	uint32_t file;

	if (!r->section)
		return fail(r, span, "an include stands before the first section");
	s += strlen("include") + 1;
	len -= strlen("include") + 1;
	trim(&s, &len);
	if (!len)
		return fail(r, span, "include without a file");
	name = stb_arena_strndup(&c->arena, s, len);
	path = find_include(r, name);
	if (r->depth == MAX_DEPTH || r->f->n_includes++ == MAX_INCLUDES)
		return fail(r, span, "more includes than a job file has: %d in all, %d deep", MAX_INCLUDES, MAX_DEPTH);
	for (uint32_t i = 0; i < r->depth; i++)
		if (same_file(path, c->sources.files[r->files[i]].path))
			return fail(r, span, "`%s` includes itself", quote(r, name));
	if (!stb_import_load(r->im, path, &file))
		return fail(r, span, "`%s` cannot be included", quote(r, name));
	return read_file(r, file);
}

static bool read_line(struct reader *r, uint32_t file, uint32_t begin, const char *s, size_t len)
{
	const char *start = s, *behind = "";
	struct stb_span span;

	for (size_t i = 0; i < len; i++)
		if (strchr(COMMENT, s[i])) {
			behind = stb_arena_strndup(&r->im->c->arena, s + i, len - i);
			len = i;
		}
	trim(&s, &len);
	if (!len)
		return true;
	span = (struct stb_span){ file, begin + (uint32_t)(s - start), begin + (uint32_t)(s - start + (ptrdiff_t)len) };
	if (len > LONGEST_LINE)
		return fail(r, (struct stb_span){ file, span.begin, span.begin + 1 },
			"line of %zu bytes; fio cuts lines after %d and reads the rest as another one", len, LONGEST_LINE);
	if (*s == '[')
		return begin_section(r, s, len, behind, span);
	if (len > strlen("include") && !memcmp(s, "include", strlen("include")) && (is_blank(s[7]) || s[7] == '='))
		return include(r, s, len, span);
	return add_option(r, s, len, behind, span);
}

static bool read_file(struct reader *r, uint32_t file)
{
	/* read anew where needed: an include may move the array of files */
	const char *bytes = r->im->c->sources.files[file].bytes;
	const uint32_t len = r->im->c->sources.files[file].len;
	const char *nul = len ? memchr(bytes, '\0', len) : NULL;
	bool good = true;

	if (len >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3))
		return fail(r, (struct stb_span){ file, 0, 3 }, "byte-order mark: fio takes it for part of the first line; save the file without it");
	if (nul)
		return fail(r, (struct stb_span){ file, (uint32_t)(nul - bytes), (uint32_t)(nul - bytes) + 1 }, "NUL byte: this is no text");
	r->files[r->depth++] = file;
	for (uint32_t i = 0; i < len && good;) {
		const char *end = memchr(bytes + i, '\n', len - i);
		const uint32_t n = end ? (uint32_t)(end - bytes) - i : len - i;

		good = read_line(r, file, i, bytes + i, n);
		i += n + 1;
	}
	r->depth--;
	return good;
}

bool stb_fio_read(struct stb_import *im, uint32_t file, struct stb_fio_file *f)
{
	struct reader r = { .im = im, .f = f };

	if (!read_file(&r, file))
		return false;
	if (r.section)
		return true;
	return fail(&r, (struct stb_span){ file, 0, 0 }, "no section: a job file has at least one `[name]`");
}
