/*
 * text.c - Markdown as text.
 *
 * A report is read in two ways: rendered by a forge and raw in a terminal or a diff. So columns are padded to the display width of their
 * widest field (East Asian wide characters take two columns), and escapes are set only where a character would otherwise be markup:
 * rand_write_4k stays as it is, since an underscore within a word is none.
 *
 * Footnotes are a list below their table and not Markdown's own footnotes, which forges collect at the end of the page, far from the figure.
 */
#include "runtime/report/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at s, of n bytes at most; invalid bytes count one. */
static size_t char_len(const unsigned char *s)
{
	const size_t want = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC0 ? 2 : 1;
	size_t n = 1;

	while (n < want && (s[n] & 0xC0) == 0x80)
		n++;
	return n;
}

/* U+0080-9F, U+200E/F, U+202A-E, U+2066-9: steer a terminal or turn the reading direction. */
static bool is_steering(const unsigned char *s, size_t len)
{
	if (len == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (len == 2)
		return s[0] == 0xC2 && s[1] < 0xA0;
	if (len != 3 || s[0] != 0xE2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xAA && s[2] <= 0xAE))) ||
		(s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9);
}

static void escape(struct stb_buf *out, const char *s, const char *end, bool lines)
{
	const char *const begin = s;

	for (size_t len; s < end; s += len) {
		const unsigned char c = (unsigned char)*s;

		len = STB_MIN(char_len((const unsigned char *)s), (size_t)(end - s));
		if (c == '\r' && s + 1 < end && s[1] == '\n')
			continue;
		if (c == '\n' && lines)
			stb_buf_addc(out, '\n');
		else if (c == '\n' || c == '\t' || c == '\r')
			stb_buf_addc(out, ' ');
		else if (is_steering((const unsigned char *)s, len))
			stb_buf_adds(out, "\xEF\xBF\xBD");
		else if (c == '&')
			stb_buf_adds(out, "&amp;");
		else if (c == '<')
			stb_buf_adds(out, "&lt;");
		else if (c == '>')
			stb_buf_adds(out, "&gt;");
		else if (c == '@')
			stb_buf_adds(out, "@\xE2\x80\x8B"); /* zero width space */
		else if (c == '_' && s > begin && isalnum((unsigned char)s[-1]) && s + 1 < end && isalnum((unsigned char)s[1]))
			stb_buf_addc(out, '_');
		else if (strchr("\\|`*_[]~", c)) {
			stb_buf_addc(out, '\\');
			stb_buf_addc(out, (char)c);
		} else
			stb_buf_add(out, s, len);
	}
}

void stb_md_text(struct stb_buf *out, const char *s)
{
	escape(out, s, s + strlen(s), false);
}

/* Whether what ends before s would become a link with what follows. */
static bool joins_link(const char *begin, const char *s)
{
	if (s - begin >= 1 && s[-1] == ':' && s[0] == '/' && s[1] == '/')
		return true;
	if (s - begin >= 3 && !strncasecmp(s - 3, "www", 3) && *s == '.')
		return true;
	return s > begin && (s[-1] == '#' || (s[-1] == '-' && s - begin >= 3 && !strncasecmp(s - 3, "gh-", 3))) &&
		isdigit((unsigned char)*s);
}

void stb_md_untrusted(struct stb_buf *out, const char *s)
{
	const char *from = s;

	for (const char *p = s; *p; p++) {
		if (!joins_link(s, p) && *p != '$')
			continue;
		escape(out, from, p, false);
		stb_buf_adds(out, *p == '$' ? "\\" : "\xE2\x80\x8B"); /* zero width space */
		from = p;
	}
	escape(out, from, s + strlen(s), false);
}

void stb_md_prose(struct stb_buf *out, const char *s)
{
	while (*s) {
		const size_t len = strcspn(s, "\n");
		const char *end = s + len;

		while (s < end && (*s == ' ' || *s == '\t'))
			s++; /* indented text would be code */
		if (s < end && strchr("#-+=", *s))
			stb_buf_addc(out, '\\');
		escape(out, s, end, true);
		stb_buf_addc(out, '\n');
		s = *end ? end + 1 : end;
	}
}

void stb_table_init(struct stb_table *t, uint32_t n_cols, uint32_t n_left)
{
	memset(t, 0, sizeof(*t));
	stb_arena_init(&t->arena);
	t->n_cols = n_cols;
	t->n_left = n_left;
}

void stb_table_fini(struct stb_table *t)
{
	stb_arena_fini(&t->arena);
}

void stb_table_row(struct stb_table *t)
{
	STB_ARENA_GROW(&t->arena, t->rows, t->n_rows, t->cap_rows);
	t->rows[t->n_rows] = STB_NEW_ARRAY(&t->arena, const char *, t->n_cols);
	for (uint32_t i = 0; i < t->n_cols; i++)
		t->rows[t->n_rows][i] = "";
	t->n_rows++;
}

void stb_table_set(struct stb_table *t, uint32_t col, const char *text)
{
	STB_ASSERT(t->n_rows && col < t->n_cols);
	t->rows[t->n_rows - 1][col] = stb_arena_strdup(&t->arena, text);
}

uint32_t stb_table_note(struct stb_table *t, const char *text)
{
	for (uint32_t i = 0; i < t->n_notes; i++) {
		if (!strcmp(t->notes[i], text))
			return i + 1;
	}
	STB_ARENA_GROW(&t->arena, t->notes, t->n_notes, t->cap_notes);
	t->notes[t->n_notes++] = stb_arena_strdup(&t->arena, text);
	return t->n_notes;
}

static void print_row(const struct stb_table *t, const char **row, const size_t *width, struct stb_buf *out)
{
	for (uint32_t i = 0; i < t->n_cols; i++) {
		const size_t pad = width[i] - stb_display_width(row[i], strlen(row[i]));

		stb_buf_adds(out, i ? " | " : "| ");
		if (i >= t->n_left)
			stb_buf_fill(out, ' ', pad);
		stb_buf_adds(out, row[i]);
		if (i < t->n_left)
			stb_buf_fill(out, ' ', pad);
	}
	stb_buf_adds(out, " |\n");
}

void stb_table_print(const struct stb_table *t, struct stb_buf *out)
{
	size_t *width;

	if (!t->n_rows || !t->n_cols)
		return;
	width = stb_xcalloc(t->n_cols, sizeof(*width));
	for (uint32_t i = 0; i < t->n_cols; i++) {
		width[i] = 3;
		for (uint32_t k = 0; k < t->n_rows; k++)
			width[i] = STB_MAX(width[i], stb_display_width(t->rows[k][i], strlen(t->rows[k][i])));
	}
	print_row(t, t->rows[0], width, out);
	for (uint32_t i = 0; i < t->n_cols; i++) {
		stb_buf_adds(out, i ? " | " : "| ");
		stb_buf_fill(out, '-', width[i] - (i >= t->n_left));
		if (i >= t->n_left)
			stb_buf_addc(out, ':');
	}
	stb_buf_adds(out, " |\n");
	for (uint32_t k = 1; k < t->n_rows; k++)
		print_row(t, t->rows[k], width, out);
	stb_buf_addc(out, '\n');
	for (uint32_t i = 0; i < t->n_notes; i++)
		stb_buf_printf(out, "- [%u] %s\n", i + 1, t->notes[i]);
	if (t->n_notes)
		stb_buf_addc(out, '\n');
	free(width);
}
