/* import.c - the spec writer and the account of the importers. Form is left to the formatter: text is put together here in any order. */
#include "compiler/import.h"

#include "compiler/fmt.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void stb_import_init(struct stb_import *im, struct stb_compilation *c, const char *tool)
{
	*im = (struct stb_import){ .c = c, .tool = tool };
	stb_buf_init(&im->spec);
	stb_buf_adds(&im->spec, "stb 1\n\n");
}

void stb_import_fini(struct stb_import *im)
{
	stb_buf_fini(&im->spec);
	*im = (struct stb_import){ 0 };
}

bool stb_import_load(struct stb_import *im, const char *path, uint32_t *file)
{
	if (!im->sealed)
		return stb_compile_load(im->c, path, NULL, file);
	stb_diag(&im->c->sink, STB_E0804, STB_NO_SPAN, "no other file is opened");
	return false;
}

/* --- text ---------------------------------------------------------------------------------------------------------------------------- */

/* Characters of text that a spec may hold; everything else is U+FFFD. */
static void add_printable(struct stb_buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		const struct stb_glyph g = stb_glyph_at(s + i, len - i);

		if (s[i] == '\t')
			stb_buf_addc(b, ' ');
		else if (g.printable)
			stb_buf_add(b, s + i, g.bytes);
		else
			stb_buf_adds(b, "\xEF\xBF\xBD");
		i += g.bytes;
	}
}

bool stb_import_is_text(const char *text)
{
	const size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		const struct stb_glyph g = stb_glyph_at(text + i, len - i);

		if (!g.printable)
			return false;
		i += g.bytes;
	}
	return true;
}

const char *stb_import_quote(struct stb_import *im, const char *text, size_t len)
{
	size_t shown = STB_MIN(len, (size_t)STB_IMPORT_MAX_QUOTE);
	struct stb_buf b;
	const char *s;

	while (shown < len && shown && ((unsigned char)text[shown] & 0xC0) == 0x80) /* not in the middle of a character */
		shown--;
	stb_buf_init(&b);
	add_printable(&b, text, shown);
	if (shown < len)
		stb_buf_printf(&b, "... (%zu bytes more)", len - shown);
	s = stb_arena_strdup(&im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return s;
}

STB_PRINTF(2, 0) static const char *vformat(struct stb_import *im, const char *fmt, va_list ap)
{
	va_list again;
	int len;
	char *s;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	STB_ASSERT(len >= 0);
	s = stb_arena_alloc(&im->c->arena, (size_t)len + 1);
	vsnprintf(s, (size_t)len + 1, fmt, ap);
	return s;
}

static bool is_ident_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static bool is_taken(const struct stb_import *im, const char *name)
{
	static const char *const reserved[] = { "stb", "include", "let", "param", "true", "false", "none" };

	for (size_t i = 0; i < STB_LEN(reserved); i++)
		if (!strcmp(reserved[i], name))
			return true;
	for (uint32_t i = 0; i < im->n_names; i++)
		if (!strcmp(im->names[i], name))
			return true;
	return false;
}

const char *stb_import_ident(struct stb_import *im, const char *text)
{
	enum { LONGEST = 60 };
	char base[LONGEST + 2];
	size_t n = 0;

	if (*text >= '0' && *text <= '9')
		base[n++] = '_';
	for (const char *p = text; *p && n < LONGEST; p++) {
		if (is_ident_char(*p, n == 0))
			base[n++] = *p;
		else if (n && base[n - 1] != '_')
			base[n++] = '_';
	}
	while (n > 1 && base[n - 1] == '_')
		n--;
	if (!n || (n == 1 && base[0] == '_')) {
		memcpy(base, "job", 3);
		n = 3;
	}
	base[n] = '\0';
	return stb_arena_strdup(&im->c->arena, base);
}

const char *stb_import_name(struct stb_import *im, const char *text)
{
	const char *base = stb_import_ident(im, text), *name = base;

	for (uint32_t i = 2; is_taken(im, name); i++)
		name = stb_arena_printf(&im->c->arena, "%s_%" PRIu32, base, i);
	STB_ARENA_GROW(&im->c->arena, im->names, im->n_names, im->cap_names);
	im->names[im->n_names++] = name;
	return name;
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

struct scale {
	const char *unit;
	uint64_t size;
};

/* In the unit that divides it and gives the least number; of two that do, the first. */
static const char *in_units(struct stb_import *im, uint64_t n, const struct scale *scales, size_t n_scales)
{
	const struct scale *best = &scales[n_scales - 1];

	for (size_t i = 0; n && i < n_scales; i++)
		if (n % scales[i].size == 0 && n / scales[i].size < n / best->size)
			best = &scales[i];
	return stb_arena_printf(&im->c->arena, "%" PRIu64 "%s", n / best->size, best->unit);
}

const char *stb_import_bytes(struct stb_import *im, uint64_t bytes)
{
	static const struct scale scales[] = { { "TiB", 1ull << 40 }, { "GiB", 1ull << 30 }, { "MiB", 1ull << 20 }, { "KiB", 1ull << 10 },
		{ "GB", 1000000000 }, { "MB", 1000000 }, { "KB", 1000 }, { "B", 1 } };

	return in_units(im, bytes, scales, STB_LEN(scales));
}

const char *stb_import_time(struct stb_import *im, uint64_t ns)
{
	static const struct scale scales[] = { { "d", 86400000000000ull }, { "h", 3600000000000ull }, { "min", 60000000000ull },
		{ "s", 1000000000ull }, { "ms", 1000000ull }, { "us", 1000ull }, { "ns", 1 } };

	return ns ? in_units(im, ns, scales, STB_LEN(scales)) : "0s";
}

/* --- statements ---------------------------------------------------------------------------------------------------------------------- */

void stb_import_open(struct stb_import *im, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	stb_buf_printf(&im->spec, "%s%s {\n", im->depth ? "" : "\n", vformat(im, fmt, ap));
	va_end(ap);
	im->depth++;
}

void stb_import_close(struct stb_import *im)
{
	STB_ASSERT(im->depth);
	im->depth--;
	stb_buf_adds(&im->spec, "}\n");
}

void stb_import_attr(struct stb_import *im, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	stb_buf_printf(&im->spec, "%s = %s\n", name, vformat(im, fmt, ap));
	va_end(ap);
}

void stb_import_text(struct stb_import *im, const char *name, const char *text)
{
	struct stb_buf b;
	const size_t len = strlen(text);

	stb_buf_init(&b);
	for (size_t i = 0; i < len;) {
		const struct stb_glyph g = stb_glyph_at(text + i, len - i);

		if (text[i] == '\n')
			stb_buf_adds(&b, "\\n");
		else if (text[i] == '\t')
			stb_buf_adds(&b, "\\t");
		else if (strchr("\"\\$", text[i]))
			stb_buf_printf(&b, "\\%c", text[i]);
		else
			add_printable(&b, text + i, g.bytes);
		i += g.bytes;
	}
	stb_buf_printf(&im->spec, "%s = \"%s\"\n", name, stb_buf_str(&b));
	stb_buf_fini(&b);
}

void stb_import_comment(struct stb_import *im, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = vformat(im, fmt, ap);
	va_end(ap);
	if (!im->depth && im->spec.len > 2 && !strcmp(im->spec.data + im->spec.len - 3, "\n}\n")) /* behind a block */
		stb_buf_addc(&im->spec, '\n');
	stb_buf_adds(&im->spec, "# ");
	add_printable(&im->spec, text, strlen(text));
	stb_buf_addc(&im->spec, '\n');
}

/* --- the account --------------------------------------------------------------------------------------------------------------------- */

#define FORMATTED(text)                                                                                      \
	va_list ap;                                                                                          \
	va_start(ap, fmt);                                                                                   \
	const char *text = vformat(im, fmt, ap);                                                             \
	va_end(ap)

void stb_import_refuse(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...)
{
	FORMATTED(why);
	struct stb_diag *d = stb_diag(&im->c->sink, STB_E0801, span, "%s: `%s` has no counterpart: %s", im->tool, words, why);

	stb_diag_note(&im->c->sink, d, "it changes what is measured; the spec keeps it as a comment");
	stb_import_comment(im, "NOT TRANSLATED, changes what is measured: %s (%s)", words, why);
}

void stb_import_leave(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...)
{
	FORMATTED(why);
	stb_diag(&im->c->sink, STB_W0801, span, "%s: `%s` is left out: %s", im->tool, words, why);
	stb_import_comment(im, "left out: %s (%s)", words, why);
}

void stb_import_bad(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...)
{
	FORMATTED(why);
	stb_diag(&im->c->sink, STB_E0803, span, "%s: `%s` cannot be read: %s", im->tool, words, why);
	stb_import_comment(im, "NOT TRANSLATED, cannot be read: %s (%s)", words, why);
}

void stb_import_differs(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...)
{
	FORMATTED(how);
	stb_diag(&im->c->sink, STB_W0803, span, "%s: `%s`: %s", im->tool, words, how);
	stb_import_comment(im, "%s: %s", words, how);
}

void stb_import_idle(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...)
{
	FORMATTED(why);
	stb_diag(&im->c->sink, STB_N0801, span, "%s: `%s` does nothing: %s", im->tool, words, why);
	stb_import_comment(im, "without effect: %s (%s)", words, why);
}

/* --- the end ------------------------------------------------------------------------------------------------------------------------- */

/* Of what the check of the spec said, its notes: they belong to `stb check`. */
static void drop_notes(struct stb_sink *s, uint32_t first)
{
	uint32_t kept = first;

	for (uint32_t i = first; i < s->n_diags; i++) {
		const enum stb_severity severity = stb_code_info(s->diags[i]->code)->severity;

		if (severity == STB_SEV_NOTE)
			s->n_kept[severity]--;
		else
			s->diags[kept++] = s->diags[i];
	}
	s->n_diags = kept;
}

bool stb_import_finish(struct stb_import *im, struct stb_buf *out)
{
	struct stb_compilation *c = im->c;
	const uint32_t said = c->sink.n_diags;
	struct stb_plan *plan;
	uint32_t file;

	STB_ASSERT(!im->depth);
	file = stb_sources_add(&c->sources, "<spec>", stb_buf_str(&im->spec), im->spec.len);
	if (!stb_fmt(&c->arena, &c->sources, file, &c->sink, out)) {
		stb_buf_add(out, im->spec.data, im->spec.len);
		return false;
	}
	if (c->sink.n_errors) /* what is missing was told; what follows from it is no news */
		return true;
	plan = stb_compile_bytes(c, "<spec>", stb_buf_str(out), out->len, NULL);
	stb_plan_free(plan);
	drop_notes(&c->sink, said);
	return true;
}
