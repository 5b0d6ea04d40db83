/*
 * fmt_comment.c - comments: where they are and what they belong to. The roles are drawn in fmt_parts.h.
 */
#include "compiler/fmt_parts.h"

#include <string.h>

/* --- finding ------------------------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static uint32_t line_of(const struct stb_source_file *f, uint32_t offset)
{
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

/* Whether only blanks (and a byte order mark) stand on a line before an offset on it. */
static bool first_on_line(const struct stb_source_file *f, uint32_t line, uint32_t offset)
{
	uint32_t i = f->lines[line];

	if (i == 0 && f->len >= 3 && !memcmp(f->bytes, "\xEF\xBB\xBF", 3))
		i = 3;
	while (i < offset && is_blank(f->bytes[i]))
		i++;
	return i == offset;
}

static bool line_is_blank(const struct stb_source_file *f, uint32_t line)
{
	uint32_t i = f->lines[line];

	while (i < f->len && is_blank(f->bytes[i]))
		i++;
	return i < f->len && f->bytes[i] == '\n';
}

bool stb_fmt_blank_before(const struct stb_fmt *f, uint32_t offset)
{
	const uint32_t line = line_of(f->file, offset);

	return line > 0 && first_on_line(f->file, line, offset) && line_is_blank(f->file, line - 1);
}

static void add_comment(struct stb_fmt *f, uint32_t begin, uint32_t end)
{
	const uint32_t line = line_of(f->file, begin);
	struct stb_comment *c, *before;

	while (is_blank(f->file->bytes[end - 1]))
		end--;
	STB_ARENA_GROW(f->arena, f->comments, f->n_comments, f->cap_comments);
	c = &f->comments[f->n_comments++];
	*c = (struct stb_comment){ .begin = begin, .end = end, .line = line, .inner_of = UINT32_MAX };
	c->column = stb_sources_position(f->src, (uint32_t)(f->file - f->src->files), begin).column;
	c->own_line = first_on_line(f->file, line, begin);
	c->blank_before = c->own_line && line > 0 && line_is_blank(f->file, line - 1);
	if (f->n_comments < 2 || !c->own_line)
		return;
	before = c - 1;
	c->continues = before->line + 1 == line && before->column == c->column && (!before->own_line || before->continues);
}

/* The text has no syntax errors: every string ends on its line, and there is no other place where `#` is not a comment. */
void stb_fmt_find_comments(struct stb_fmt *f)
{
	const char *s = f->file->bytes;
	const uint32_t len = f->file->len;

	for (uint32_t i = 0; i < len; i++) {
		if (s[i] == '"') {
			for (i++; i < len && s[i] != '"'; i++)
				i += s[i] == '\\';
		} else if (s[i] == '#') {
			const char *end = memchr(s + i, '\n', len - i);
			const uint32_t stop = end ? (uint32_t)(end - s) : len;

			add_comment(f, i, stop);
			i = stop;
		}
	}
}

/* --- belonging ----------------------------------------------------------------------------------------------------------------------- */

/* The first comment at or behind an offset. */
static uint32_t comment_from(const struct stb_fmt *f, uint32_t offset)
{
	uint32_t low = 0, high = f->n_comments;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (f->comments[mid].begin < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool stb_fmt_has_comments(const struct stb_fmt *f, uint32_t begin, uint32_t end)
{
	const uint32_t i = comment_from(f, begin);

	return i < f->n_comments && f->comments[i].begin < end;
}

static bool in_own_container(const struct stb_fmt *f, const struct stb_fmt_piece *p, uint32_t offset)
{
	if (p->node)
		return stb_fmt_in_brackets(f, p->node, offset);
	if (!p->stmt)
		return false;
	if (p->stmt->kind == STB_S_BLOCK)
		return offset >= p->stmt->open.end;
	return p->stmt->value && stb_fmt_in_brackets(f, p->stmt->value, offset);
}

/* Comments of a gap from *next on up to `until`: the first ones stand behind what ended on `line`, the others on lines of their own. */
static struct stb_comments take_behind(const struct stb_fmt *f, uint32_t *next, uint32_t until, uint32_t line)
{
	struct stb_comments taken = { *next, *next };

	while (*next < f->n_comments && f->comments[*next].begin < until) {
		const struct stb_comment *c = &f->comments[*next];

		if (c->line != line && !(c->continues && taken.end > taken.first))
			break;
		taken.end = ++*next;
	}
	return taken;
}

static struct stb_comments take_all(const struct stb_fmt *f, uint32_t *next, uint32_t until)
{
	struct stb_comments taken = { *next, *next };

	while (*next < f->n_comments && f->comments[*next].begin < until)
		taken.end = ++*next;
	return taken;
}

static struct stb_comments take_within(struct stb_fmt *f, uint32_t *next, const struct stb_fmt_piece *p)
{
	const struct stb_comments taken = take_all(f, next, p->end);

	for (uint32_t i = taken.first; i < taken.end; i++) {
		if (!in_own_container(f, p, f->comments[i].begin))
			f->comments[i].inner_of = p->begin;
	}
	return taken;
}

void stb_fmt_attach(struct stb_fmt *f, struct stb_fmt_piece *pieces, uint32_t n, uint32_t open, uint32_t close,
	struct stb_comments *opening, struct stb_comments *tail)
{
	uint32_t next = comment_from(f, open);

	*opening = (struct stb_comments){ next, next };
	if (open)
		*opening = take_behind(f, &next, n ? pieces[0].begin : close, line_of(f->file, open - 1));
	for (uint32_t i = 0; i < n; i++) {
		struct stb_fmt_piece *p = &pieces[i];

		p->lead = take_all(f, &next, p->begin);
		p->blank_before = stb_fmt_blank_before(f, p->begin);
		p->within = take_within(f, &next, p);
		p->trail = take_behind(f, &next, i + 1 < n ? pieces[i + 1].begin : close, line_of(f->file, p->end - 1));
	}
	*tail = take_all(f, &next, close);
}

bool stb_fmt_inner_goes_behind(const struct stb_fmt *f, const struct stb_fmt_piece *p, bool free, struct stb_comments *which)
{
	uint32_t n = 0;

	for (uint32_t i = p->within.first; i < p->within.end; i++) {
		if (f->comments[i].inner_of != p->begin)
			continue;
		*which = (struct stb_comments){ i, i + 1 };
		n++;
	}
	return free && n == 1;
}

/* --- printing ------------------------------------------------------------------------------------------------------------------------ */

static void print_text(const struct stb_fmt *f, struct stb_buf *out, const struct stb_comment *c)
{
	stb_buf_add(out, f->file->bytes + c->begin, c->end - c->begin);
}

void stb_fmt_own_lines(const struct stb_fmt *f, struct stb_buf *out, struct stb_comments range, uint32_t indent, bool *fresh)
{
	for (uint32_t i = range.first; i < range.end; i++) {
		const struct stb_comment *c = &f->comments[i];

		if (c->blank_before && !*fresh)
			stb_buf_addc(out, '\n');
		stb_fmt_newline(out, indent);
		print_text(f, out, c);
		*fresh = false;
	}
}

void stb_fmt_inner_lines(const struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *p, uint32_t indent, bool *fresh)
{
	for (uint32_t i = p->within.first; i < p->within.end; i++) {
		if (f->comments[i].inner_of != p->begin)
			continue;
		stb_fmt_newline(out, indent);
		print_text(f, out, &f->comments[i]);
		*fresh = false;
	}
}

void stb_fmt_behind(const struct stb_fmt *f, struct stb_buf *out, struct stb_comments range, uint32_t column)
{
	for (uint32_t i = range.first; i < range.end; i++) {
		if (i == range.first) {
			const uint32_t width = stb_fmt_last_width(out->data, out->len);

			stb_buf_fill(out, ' ', column > width ? column - width : 0);
		} else {
			stb_fmt_newline(out, column);
		}
		print_text(f, out, &f->comments[i]);
	}
}

/* A line end comes before each line of a container; at the top of the file there is none to end. */
void stb_fmt_newline(struct stb_buf *out, uint32_t indent)
{
	if (out->len > 0)
		stb_buf_addc(out, '\n');
	stb_buf_fill(out, ' ', indent);
}

uint32_t stb_fmt_last_width(const char *text, size_t len)
{
	const char *end = len ? memrchr(text, '\n', len) : NULL;
	const size_t skip = end ? (size_t)(end - text) + 1 : 0;

	return (uint32_t)stb_display_width(text + skip, len - skip);
}
