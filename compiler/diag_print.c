/*
 * diag_print.c - how diagnostics look: for people, as JSON, as GitHub workflow commands (as SARIF: diag_sarif.c).
 *
 * A source line is laid out as glyphs (source.h), so text and carets are made by the same walk and cannot drift apart:
 *
 *   bytes     size = "容量<ESC>"          masked bytes become one glyph `***`, what is not printable becomes U+FFFD
 *   carets           ^^^^^^^               one caret a column, tabs repeated as tabs in front of them
 *
 * Everything that is quoted from a spec passes stb_diag_show(), in every format: escape sequences must not reach a terminal, invalid UTF-8
 * must not reach JSON, and masked bytes must not reach anything.
 */
#include "compiler/diag_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINE_COLUMNS = 110, /* of a source line that are shown */
	LINE_BYTES = 8 * LINE_COLUMNS, /* and no more than that of combining marks */
	LEAD_COLUMNS = 40,  /* shown before the span where a line is clipped */
	MIN_MASK_BYTES = 3, /* shorter text is not looked for in messages: it would be found everywhere */
};

#define REPLACEMENT "\xEF\xBF\xBD"

const char *stb_diag_severity(enum stb_severity severity)
{
	switch (severity) {
	case STB_SEV_ERROR:
		return "error";
	case STB_SEV_WARNING:
		return "warning";
	case STB_SEV_NOTE:
		return "note";
	}
	STB_BUG("unknown severity");
}

/* --- masks ------------------------------------------------------------------------------------------------------------------------- */

/* The end of the masked bytes that begin at or cover offset, or 0. */
static uint32_t masked_until(const struct stb_sink *s, uint32_t file, uint32_t offset)
{
	if (s->masks_full)
		return s->sources->files[file].len;
	for (uint32_t i = 0; i < s->n_masks; i++) {
		const struct stb_span m = s->masks[i];

		if (m.file == file && offset >= m.begin && offset < m.end)
			return m.end;
	}
	return 0;
}

/* The length of the masked text that stands at p, or 0. Quotes around a secret do not belong to it. */
static size_t masked_at(const struct stb_sink *s, const char *p, size_t len)
{
	if (s->masks_full)
		return len;
	for (uint32_t i = 0; i < s->n_masks; i++) {
		struct stb_span m = s->masks[i];
		const char *bytes = s->sources->files[m.file].bytes;

		if (m.end - m.begin >= 1 && (bytes[m.begin] == '"' || bytes[m.begin] == '\''))
			m.begin++;
		if (m.end - m.begin >= 1 && (bytes[m.end - 1] == '"' || bytes[m.end - 1] == '\''))
			m.end--;
		const size_t n = m.end - m.begin;

		if (n >= MIN_MASK_BYTES && n <= len && *p == bytes[m.begin] && !memcmp(p, bytes + m.begin, n))
			return n;
	}
	for (uint32_t i = 0; i < s->n_mask_texts; i++) {
		const size_t n = strlen(s->mask_texts[i]);

		if (n >= MIN_MASK_BYTES && n <= len && *p == *s->mask_texts[i] && !memcmp(p, s->mask_texts[i], n))
			return n;
	}
	return 0;
}

/* A diagnostic's own mask holds for the whole sink: another one may quote the same line. */
static void collect_masks(struct stb_sink *s)
{
	for (uint32_t i = 0; i < s->n_diags; i++) {
		const struct stb_span m = s->diags[i]->mask;

		if (m.file < s->sources->n_files && m.end <= s->sources->files[m.file].len)
			stb_sink_mask(s, m);
		s->diags[i]->mask = STB_NO_SPAN;
	}
}

void stb_diag_show(const struct stb_sink *s, struct stb_buf *b, const char *text)
{
	const size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		const size_t masked = masked_at(s, text + i, len - i);

		if (masked) {
			stb_buf_adds(b, "***");
			i += masked;
			continue;
		}
		const struct stb_glyph g = stb_glyph_at(text + i, len - i);

		if (g.printable)
			stb_buf_add(b, text + i, g.bytes);
		else
			stb_buf_adds(b, REPLACEMENT);
		i += g.bytes;
	}
}

bool stb_diag_is_masked(const struct stb_sink *s, const char *text)
{
	const size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (masked_at(s, text + i, len - i))
			return true;
	return false;
}

static const char *file_name(const struct stb_sink *s, uint32_t file)
{
	return file < s->sources->n_files ? s->sources->files[file].name : NULL;
}

/* The path of a file as it opens from here, which its name, relative to a repository, need not; its name where it was not opened by a path. */
static const char *file_from_here(const struct stb_sink *s, uint32_t file)
{
	const char *path = file < s->sources->n_files ? s->sources->files[file].path : NULL;
	char here[PATH_MAX];
	size_t len;

	if (!s->from_here || !path || !strcmp(path, "-"))
		return file_name(s, file);
	if (path[0] != '/' || !getcwd(here, sizeof(here)))
		return path;
	len = strlen(here);
	return len > 1 && !strncmp(path, here, len) && path[len] == '/' ? path + len + 1 : path;
}

/* --- for people -------------------------------------------------------------------------------------------------------------------- */

struct snippet { /* one marked place */
	struct stb_span span;
	const char *text;
	struct stb_position at;
	bool primary;
};

struct layout {
	struct stb_buf line; /* as shown */
	struct stb_buf marks; /* blanks, then carets */
};

/* Where to begin showing a line so that the span is in sight. */
static uint32_t clip_begin(const char *line, uint32_t len, uint32_t begin)
{
	uint32_t at = STB_MIN(begin, len), columns = 0;

	if (at <= LINE_COLUMNS - LEAD_COLUMNS)
		return 0;
	while (at > 0 && columns < LEAD_COLUMNS) {
		at--;
		if (((unsigned char)line[at] & 0xC0) != 0x80)
			columns++;
	}
	return at;
}

/* As masked_until, or where the same bytes stand elsewhere; 0. */
static uint32_t masked_end(const struct stb_sink *s, uint32_t file, uint32_t offset, uint32_t len)
{
	const uint32_t end = masked_until(s, file, offset);
	const size_t n = end ? 0 : masked_at(s, s->sources->files[file].bytes + offset, len);

	return end ? end : n ? offset + (uint32_t)n : 0;
}

/* Lays out the line and the marks for bytes [begin, end) of it. A span without bytes is marked by one caret. */
static void lay_out(const struct stb_sink *s, uint32_t file, const char *line, uint32_t len, uint32_t begin, uint32_t end, uint32_t clip,
	char mark, struct layout *out)
{
	const uint32_t offset = (uint32_t)(line - s->sources->files[file].bytes);
	uint32_t columns = 0, marked = 0;

	if (clip > 0) {
		stb_buf_adds(&out->line, "…");
		stb_buf_addc(&out->marks, ' ');
	}
	for (uint32_t i = clip; i < len;) {
		const uint32_t mask_end = masked_end(s, file, offset + i, len - i);
		struct stb_glyph g = stb_glyph_at(line + i, len - i);

		if (mask_end) {
			g = (struct stb_glyph){ 0, STB_MIN(mask_end - offset, len) - i, 3, true };
			stb_buf_adds(&out->line, "***");
		} else if (g.printable || line[i] == '\t') {
			stb_buf_add(&out->line, line + i, g.bytes);
		} else {
			stb_buf_adds(&out->line, REPLACEMENT);
		}
		if (i + g.bytes > begin && i < end) {
			stb_buf_fill(&out->marks, mark, g.width);
			marked += g.width;
		} else if (i + g.bytes <= begin) {
			if (line[i] == '\t')
				stb_buf_addc(&out->marks, '\t');
			else
				stb_buf_fill(&out->marks, ' ', g.width);
		}
		i += g.bytes;
		columns += g.width;
		if ((columns >= LINE_COLUMNS || i - clip >= LINE_BYTES) && i < len) {
			stb_buf_adds(&out->line, "…");
			break;
		}
	}
	if (!marked)
		stb_buf_addc(&out->marks, mark);
}

static void print_snippet(const struct stb_sink *s, const struct snippet *sn, bool with_line, int gutter, FILE *out)
{
	uint32_t len;
	const char *line = stb_sources_line(s->sources, sn->span.file, sn->at.line, &len);
	const uint32_t offset = s->sources->files[sn->span.file].lines[sn->at.line - 1];
	const uint32_t begin = STB_MIN(sn->span.begin - offset, len);
	const uint32_t end = STB_MAX(begin, STB_MIN(sn->span.end - offset, len));
	const uint32_t clip = clip_begin(line, len, begin);
	struct layout l;

	stb_buf_init(&l.line);
	stb_buf_init(&l.marks);
	lay_out(s, sn->span.file, line, len, begin, end, clip, sn->primary ? '^' : '~', &l);
	if (with_line || clip > 0)
		fprintf(out, "%*u |%s%s\n", gutter, sn->at.line, l.line.len ? " " : "", stb_buf_str(&l.line));
	if (sn->text) {
		stb_buf_addc(&l.marks, ' ');
		stb_diag_show(s, &l.marks, sn->text);
	}
	fprintf(out, "%*s | %s\n", gutter, "", stb_buf_str(&l.marks));
	stb_buf_fini(&l.line);
	stb_buf_fini(&l.marks);
}

/* Primary's file first, then by place; at one place the primary first. */
static bool snippet_before(const struct snippet *a, const struct snippet *b, uint32_t first_file)
{
	if (a->span.file != b->span.file) {
		if (a->span.file == first_file || b->span.file == first_file)
			return a->span.file == first_file;
		return a->span.file < b->span.file;
	}
	if (a->span.begin != b->span.begin)
		return a->span.begin < b->span.begin;
	return a->primary && !b->primary;
}

static bool add_snippet(const struct stb_sink *s, struct snippet *list, uint32_t *n, struct stb_span span, const char *text,
	bool primary, uint32_t first_file)
{
	uint32_t i = *n;

	if (span.file >= s->sources->n_files)
		return false;
	/* A span from a caller's mistake must not read beyond the text. */
	span.begin = STB_MIN(span.begin, s->sources->files[span.file].len);
	span.end = STB_MAX(span.begin, STB_MIN(span.end, s->sources->files[span.file].len));
	const struct snippet sn = { span, text, stb_sources_position(s->sources, span.file, span.begin), primary };

	for (; i > 0 && snippet_before(&sn, &list[i - 1], first_file); i--)
		list[i] = list[i - 1];
	list[i] = sn;
	(*n)++;
	return true;
}

static void print_place(const struct stb_sink *s, int gutter, const char *arrow, const struct snippet *sn, FILE *out)
{
	struct stb_buf name;

	stb_buf_init(&name);
	stb_diag_show(s, &name, file_from_here(s, sn->span.file));
	fprintf(out, "%*s%s %s:%u:%u\n", gutter, "", arrow, stb_buf_str(&name), sn->at.line, sn->at.column);
	stb_buf_fini(&name);
}

static void print_snippets(const struct stb_sink *s, const struct snippet *list, uint32_t n, const struct snippet *primary, int gutter,
	FILE *out)
{
	uint32_t file = primary->span.file, line = 0;

	print_place(s, gutter, "-->", primary, out);
	fprintf(out, "%*s |\n", gutter, "");
	for (uint32_t i = 0; i < n; i++) {
		const bool other_file = list[i].span.file != file;

		if (other_file) {
			fprintf(out, "%*s |\n", gutter, "");
			print_place(s, gutter, ":::", &list[i], out);
			fprintf(out, "%*s |\n", gutter, "");
			line = 0;
		} else if (line && list[i].at.line > line + 1) {
			fprintf(out, "%*s ...\n", gutter, "");
		}
		print_snippet(s, &list[i], other_file || list[i].at.line != line, gutter, out);
		file = list[i].span.file;
		line = list[i].at.line;
	}
}

/* A fix is shown where neither the words of the diagnostic hold it already nor does it delete or break lines. */
static bool worth_showing(const struct stb_diag *d, const char *fix)
{
	bool found;

	fix += strspn(fix, " ");
	if (!*fix || strchr(fix, '\n'))
		return false;
	found = strstr(d->text, fix) || (d->label && strstr(d->label, fix));
	for (uint32_t i = 0; i < d->n_notes && !found; i++)
		found = strstr(d->notes[i], fix);
	return !found;
}

static void print_line(const struct stb_sink *s, int gutter, const char *prefix, const char *text, const char *suffix, FILE *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_diag_show(s, &b, text);
	fprintf(out, "%*s = %s%s%s\n", gutter, "", prefix, stb_buf_str(&b), suffix);
	stb_buf_fini(&b);
}

static int gutter_width(const struct snippet *list, uint32_t n)
{
	uint32_t last = 1;
	int width = 0;

	for (uint32_t i = 0; i < n; i++)
		last = STB_MAX(last, list[i].at.line);
	for (; last; last /= 10)
		width++;
	return width;
}

static void print_remarks(const struct stb_sink *s, const struct stb_diag *d, int gutter, bool below_snippet, FILE *out)
{
	uint32_t fixes = 0;

	for (uint32_t i = 0; i < d->n_fixits; i++)
		fixes += worth_showing(d, d->fixits[i].text);
	if (below_snippet && (d->n_notes || fixes))
		fprintf(out, "%*s |\n", gutter, "");
	for (uint32_t i = 0; i < d->n_notes; i++)
		print_line(s, gutter, "", d->notes[i], "", out);
	for (uint32_t i = 0; i < d->n_fixits; i++)
		if (worth_showing(d, d->fixits[i].text))
			print_line(s, gutter, "fix: write `", d->fixits[i].text, "`", out);
}

static void print_human(const struct stb_sink *s, const struct stb_diag *d, FILE *out)
{
	const struct stb_code_info *info = stb_code_info(d->code);
	struct snippet *list = stb_xcalloc(d->n_labels + 1, sizeof(*list));
	const struct snippet *primary = list;
	struct stb_buf text;
	uint32_t n = 0;
	int gutter;

	if (add_snippet(s, list, &n, d->span, d->label, true, d->span.file)) {
		for (uint32_t i = 0; i < d->n_labels; i++)
			add_snippet(s, list, &n, d->labels[i].span, d->labels[i].text, false, d->span.file);
		while (!primary->primary)
			primary++;
	}
	gutter = gutter_width(list, n);
	stb_buf_init(&text);
	stb_diag_show(s, &text, d->text);
	fprintf(out, "%s[%s]: %s\n", stb_diag_severity(info->severity), info->name, stb_buf_str(&text));
	stb_buf_fini(&text);
	if (n)
		print_snippets(s, list, n, primary, gutter, out);
	print_remarks(s, d, gutter, n > 0, out);
	free(list);
}

/* --- JSON -------------------------------------------------------------------------------------------------------------------------- */

json_t *stb_diag_json_text(const struct stb_sink *s, const char *text)
{
	struct stb_buf b;
	json_t *j;

	if (!text)
		return json_null();
	stb_buf_init(&b);
	stb_diag_show(s, &b, text);
	j = json_stringn(stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return j ? j : json_null();
}

static void json_place(const struct stb_sink *s, json_t *j, struct stb_span span)
{
	if (span.file >= s->sources->n_files) {
		json_object_set_new(j, "file", json_null());
		return;
	}
	const struct stb_position from = stb_sources_position(s->sources, span.file, span.begin);
	const struct stb_position to = stb_sources_position(s->sources, span.file, span.end);

	json_object_set_new(j, "file", stb_diag_json_text(s, file_name(s, span.file)));
	json_object_set_new(j, "line", json_integer(from.line));
	json_object_set_new(j, "column", json_integer(from.column));
	json_object_set_new(j, "end_line", json_integer(to.line));
	json_object_set_new(j, "end_column", json_integer(to.column));
}

static json_t *json_diag(const struct stb_sink *s, const struct stb_diag *d)
{
	const struct stb_code_info *info = stb_code_info(d->code);
	json_t *j = json_object(), *labels = json_array(), *notes = json_array(), *fixits = json_array();

	json_object_set_new(j, "code", json_string(info->name));
	json_object_set_new(j, "severity", json_string(stb_diag_severity(info->severity)));
	json_object_set_new(j, "message", stb_diag_json_text(s, d->text));
	json_place(s, j, d->span);
	json_object_set_new(j, "label", stb_diag_json_text(s, d->label));
	for (uint32_t i = 0; i < d->n_labels; i++) {
		json_t *label = json_object();

		json_place(s, label, d->labels[i].span);
		json_object_set_new(label, "message", stb_diag_json_text(s, d->labels[i].text));
		json_array_append_new(labels, label);
	}
	for (uint32_t i = 0; i < d->n_notes; i++)
		json_array_append_new(notes, stb_diag_json_text(s, d->notes[i]));
	for (uint32_t i = 0; i < d->n_fixits; i++) {
		json_t *fixit;

		if (stb_diag_is_masked(s, d->fixits[i].text))
			continue;
		fixit = json_object();
		json_place(s, fixit, d->fixits[i].span);
		json_object_set_new(fixit, "text", stb_diag_json_text(s, d->fixits[i].text));
		json_array_append_new(fixits, fixit);
	}
	json_object_set_new(j, "labels", labels);
	json_object_set_new(j, "notes", notes);
	json_object_set_new(j, "fixits", fixits);
	return j;
}

/* --- GitHub workflow commands ------------------------------------------------------------------------------------------------------ */

/* Data may not hold % and line ends, properties neither those nor their separators. */
static void github_escape(struct stb_buf *b, const char *text, bool property)
{
	for (; *text; text++) {
		if (*text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ',')))
			stb_buf_printf(b, "%%%02X", (unsigned)(unsigned char)*text);
		else
			stb_buf_addc(b, *text);
	}
}

static void github_text(const struct stb_sink *s, struct stb_buf *b, const char *text, bool property)
{
	struct stb_buf shown;

	stb_buf_init(&shown);
	stb_diag_show(s, &shown, text);
	github_escape(b, stb_buf_str(&shown), property);
	stb_buf_fini(&shown);
}

static void print_github(const struct stb_sink *s, const struct stb_diag *d, FILE *out)
{
	const struct stb_code_info *info = stb_code_info(d->code);
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_printf(&b, "::%s ", info->severity == STB_SEV_NOTE ? "notice" : stb_diag_severity(info->severity));
	if (d->span.file < s->sources->n_files) {
		const struct stb_position from = stb_sources_position(s->sources, d->span.file, d->span.begin);
		const struct stb_position to = stb_sources_position(s->sources, d->span.file, d->span.end);

		stb_buf_adds(&b, "file=");
		github_text(s, &b, file_name(s, d->span.file), true);
		stb_buf_printf(&b, ",line=%u,col=%u,endLine=%u,endColumn=%u,", from.line, from.column, to.line, to.column);
	}
	stb_buf_printf(&b, "title=%s::", info->name);
	github_text(s, &b, d->text, false);
	if (d->label) {
		stb_buf_adds(&b, ": ");
		github_text(s, &b, d->label, false);
	}
	for (uint32_t i = 0; i < d->n_notes; i++) {
		stb_buf_adds(&b, "%0A");
		github_text(s, &b, d->notes[i], false);
	}
	fprintf(out, "%s\n", stb_buf_str(&b));
	stb_buf_fini(&b);
}

/* --- the sink ---------------------------------------------------------------------------------------------------------------------- */

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* The text decides at last, so that the order does not hang on that of the passes. STB_NO_FILE + 1 is 0: no place comes first. */
static int compare(const void *pa, const void *pb)
{
	const struct stb_diag *a = *(struct stb_diag *const *)pa, *b = *(struct stb_diag *const *)pb;
	int c = compare_u32(a->span.file + 1, b->span.file + 1);

	c = c ? c : compare_u32(a->span.begin, b->span.begin);
	c = c ? c : compare_u32(a->code, b->code);
	c = c ? c : compare_u32(a->span.end, b->span.end);
	return c ? c : strcmp(a->text, b->text);
}

static void sort_unique(struct stb_sink *s)
{
	uint32_t n = 0;

	if (s->n_diags)
		qsort(s->diags, s->n_diags, sizeof(struct stb_diag *), compare);
	for (uint32_t i = 0; i < s->n_diags; i++)
		if (n == 0 || compare(&s->diags[n - 1], &s->diags[i]))
			s->diags[n++] = s->diags[i];
	s->n_diags = n;
}

static void print_sarif(const struct stb_sink *s, const struct stb_diag *last, FILE *out)
{
	const struct stb_diag **all = stb_xcalloc(s->n_diags + 1, sizeof(struct stb_diag *));
	json_t *log;

	for (uint32_t i = 0; i < s->n_diags; i++)
		all[i] = s->diags[i];
	all[s->n_diags] = last;
	log = stb_diag_sarif(s, all, s->n_diags + !!last);
	json_dumpf(log, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(log);
	free(all);
}

void stb_sink_print(struct stb_sink *s, enum stb_diag_format format, FILE *out)
{
	const struct stb_diag too_many = {
		.code = STB_E0115,
		.span = STB_NO_SPAN,
		.text = "too many diagnostics: only the first are shown; mend these and check again",
	};
	json_t *array;

	collect_masks(s);
	sort_unique(s);
	switch (format) {
	case STB_DIAG_HUMAN:
		for (uint32_t i = 0; i < s->n_diags; i++) {
			print_human(s, s->diags[i], out);
			fputc('\n', out);
		}
		if (s->n_dropped)
			print_human(s, &too_many, out);
		return;
	case STB_DIAG_JSON:
		array = json_array();
		for (uint32_t i = 0; i < s->n_diags; i++)
			json_array_append_new(array, json_diag(s, s->diags[i]));
		if (s->n_dropped)
			json_array_append_new(array, json_diag(s, &too_many));
		json_dumpf(array, out, JSON_INDENT(2));
		fputc('\n', out);
		json_decref(array);
		return;
	case STB_DIAG_GITHUB:
		for (uint32_t i = 0; i < s->n_diags; i++)
			print_github(s, s->diags[i], out);
		if (s->n_dropped)
			print_github(s, &too_many, out);
		return;
	case STB_DIAG_SARIF:
		print_sarif(s, s->n_dropped ? &too_many : NULL, out);
		return;
	}
}
