/*
 * fmt_value.c - values as they are written: on one line where there is room, else lists with one item a line.
 *
 * The author's units and parentheses stay; digits that are grouped are grouped in threes; strings use the escapes that they need.
 */
#include "compiler/fmt_parts.h"

#include <ctype.h>
#include <string.h>

/* --- on one line --------------------------------------------------------------------------------------------------------------------- */

static void add_quantity(struct stb_buf *out, const char *s, size_t len)
{
	const size_t whole = strspn(s, "0123456789_");
	size_t digits = 0, left;

	if (!memchr(s, '_', len)) {
		stb_buf_add(out, s, len);
		return;
	}
	for (size_t i = 0; i < whole; i++)
		digits += s[i] != '_';
	left = digits;
	for (size_t i = 0; i < whole; i++) {
		if (s[i] == '_')
			continue;
		if (left != digits && left % 3 == 0)
			stb_buf_addc(out, '_');
		stb_buf_addc(out, s[i]);
		left--;
	}
	for (size_t i = whole; i < len; i++)
		if (s[i] != '_')
			stb_buf_addc(out, s[i]);
}

/* The inside of a string: what the scanner would not take as it is, and what would mean something else, becomes an escape. */
static void add_literal(struct stb_buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		const struct stb_glyph g = stb_glyph_at(s + i, len - i);

		if (s[i] == '"' || s[i] == '\\' || (s[i] == '$' && i + 1 < len && s[i + 1] == '{')) {
			stb_buf_addc(out, '\\');
			stb_buf_addc(out, s[i]);
		} else if (s[i] == '\n') {
			stb_buf_adds(out, "\\n");
		} else if (s[i] == '\t') {
			stb_buf_adds(out, "\\t");
		} else if (!g.printable) {
			stb_buf_printf(out, "\\u{%x}", g.code_point);
		} else {
			stb_buf_add(out, s + i, g.bytes);
		}
		i += g.bytes;
	}
}

void stb_fmt_string(struct stb_buf *out, const char *text, size_t len)
{
	stb_buf_addc(out, '"');
	add_literal(out, text, len);
	stb_buf_addc(out, '"');
}

static void add_string(struct stb_buf *out, const struct stb_node *n)
{
	stb_buf_addc(out, '"');
	for (uint32_t i = 0; i < n->n_parts; i++) {
		if (n->parts[i].is_name)
			stb_buf_printf(out, "${%s}", n->parts[i].text);
		else
			add_literal(out, n->parts[i].text, n->parts[i].len);
	}
	stb_buf_addc(out, '"');
}

static const char *operator_text(enum stb_node_kind kind)
{
	return kind == STB_N_ADD ? " + " : kind == STB_N_SUB ? " - " : kind == STB_N_MUL ? " * " : " / ";
}

static void add_value(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent, size_t limit);

static void add_items(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent, size_t limit)
{
	for (uint32_t i = 0; i < n->n_items && out->len <= limit; i++) {
		if (i)
			stb_buf_adds(out, ", ");
		add_value(f, out, n->items[i], indent, limit);
	}
}

static void add_broken(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent);

/* Where the inside of the brackets begins and ends. */
static void inside(const struct stb_fmt *f, const struct stb_node *n, uint32_t *open, uint32_t *close)
{
	const char *s = f->file->bytes;
	uint32_t i = n->span.begin;

	if (n->kind == STB_N_CALL) { /* blanks and comments may stand between the name and its bracket */
		for (i = n->names[0].span.end; s[i] != '('; i++)
			if (s[i] == '#')
				while (s[i + 1] != '\n')
					i++;
	}
	*open = i + 1;
	*close = n->span.end - 1;
}

/* Lists and calls may hold comments, except in parentheses: those comments belong to what is around (no one writes this). */
static bool is_container(const struct stb_node *n)
{
	return !n->parens && (n->kind == STB_N_LIST || n->kind == STB_N_CALL);
}

static bool holds_comments(const struct stb_fmt *f, const struct stb_node *n)
{
	uint32_t open, close;

	if (!is_container(n) || !stb_fmt_has_comments(f, n->span.begin, n->span.end))
		return false;
	inside(f, n, &open, &close);
	return stb_fmt_has_comments(f, open, close);
}

/* The value, or at least `limit` bytes of it where it is longer. Only comments make several lines of it. */
static void add_value(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent, size_t limit)
{
	if (out->len > limit)
		return;
	if (holds_comments(f, n)) {
		add_broken(f, out, n, indent);
		return;
	}
	if (n->parens)
		stb_buf_addc(out, '(');
	switch (n->kind) {
	case STB_N_QUANTITY:
		add_quantity(out, n->text, n->text_len);
		break;
	case STB_N_STRING:
		add_string(out, n);
		break;
	case STB_N_BOOL:
		stb_buf_adds(out, n->num.num ? "true" : "false");
		break;
	case STB_N_TIME:
		stb_buf_printf(out, "%02d:%02d", (int)(n->num.num / 60), (int)(n->num.num % 60));
		break;
	case STB_N_LIST:
		stb_buf_addc(out, '[');
		add_items(f, out, n, indent, limit);
		stb_buf_addc(out, ']');
		break;
	case STB_N_PATH:
		stb_buf_add(out, n->text, n->text_len);
		break;
	case STB_N_CALL:
		stb_buf_printf(out, "%s(", n->text);
		add_items(f, out, n, indent, limit);
		stb_buf_addc(out, ')');
		break;
	case STB_N_NEG:
		stb_buf_addc(out, '-');
		add_value(f, out, n->items[0], indent, limit);
		break;
	case STB_N_ADD:
	case STB_N_SUB:
	case STB_N_MUL:
	case STB_N_DIV:
		add_value(f, out, n->items[0], indent, limit);
		stb_buf_adds(out, operator_text(n->kind));
		add_value(f, out, n->items[1], indent, limit);
		break;
	case STB_N_RANGE:
		for (uint32_t i = 0; i < 2; i++) {
			if (n->items[i])
				add_value(f, out, n->items[i], indent, limit);
			else
				stb_buf_addc(out, '*');
			if (i == 0)
				stb_buf_adds(out, "..");
		}
		break;
	case STB_N_BAD:
		STB_BUG("a bad value in a tree without errors");
	}
	if (n->parens)
		stb_buf_addc(out, ')');
}

/* --- on several lines ---------------------------------------------------------------------------------------------------------------- */

bool stb_fmt_in_brackets(const struct stb_fmt *f, const struct stb_node *n, uint32_t offset)
{
	uint32_t open, close;

	if (!n || offset < n->span.begin || offset >= n->span.end)
		return false;
	if (n->kind == STB_N_LIST || n->kind == STB_N_CALL) {
		if (n->parens)
			return false;
		inside(f, n, &open, &close);
		return offset >= open && offset < close;
	}
	for (uint32_t i = 0; i < n->n_items; i++)
		if (stb_fmt_in_brackets(f, n->items[i], offset))
			return true;
	return false;
}

static void add_broken(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent)
{
	struct stb_fmt_piece *pieces = STB_NEW_ARRAY(f->arena, struct stb_fmt_piece, n->n_items);
	struct stb_comments opening, tail, behind;
	uint32_t open, close;
	bool fresh = true;

	for (uint32_t i = 0; i < n->n_items; i++)
		pieces[i] = (struct stb_fmt_piece){ .begin = n->items[i]->span.begin, .end = n->items[i]->span.end, .node = n->items[i] };
	inside(f, n, &open, &close);
	stb_fmt_attach(f, pieces, n->n_items, open, close, &opening, &tail);
	if (n->kind == STB_N_CALL)
		stb_buf_adds(out, n->text);
	stb_buf_addc(out, n->kind == STB_N_CALL ? '(' : '[');
	stb_fmt_behind(f, out, opening, stb_fmt_last_width(out->data, out->len) + STB_FMT_COMMENT_GAP);
	for (uint32_t i = 0; i < n->n_items; i++) {
		struct stb_fmt_piece *p = &pieces[i];

		behind = p->trail;
		stb_fmt_own_lines(f, out, p->lead, indent + STB_FMT_INDENT, &fresh);
		if (!stb_fmt_inner_goes_behind(f, p, behind.first == behind.end, &behind)) {
			behind = p->trail;
			stb_fmt_inner_lines(f, out, p, indent + STB_FMT_INDENT, &fresh);
		}
		if (p->blank_before && !fresh)
			stb_buf_addc(out, '\n');
		stb_fmt_newline(out, indent + STB_FMT_INDENT);
		stb_fmt_value(f, out, p->node, indent + STB_FMT_INDENT, indent + STB_FMT_INDENT);
		stb_buf_addc(out, ',');
		stb_fmt_behind(f, out, behind, stb_fmt_last_width(out->data, out->len) + STB_FMT_COMMENT_GAP);
		fresh = false;
	}
	stb_fmt_own_lines(f, out, tail, indent + STB_FMT_INDENT, &fresh);
	stb_fmt_newline(out, indent);
	stb_buf_addc(out, n->kind == STB_N_CALL ? ')' : ']');
}

void stb_fmt_value(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent, uint32_t column)
{
	const size_t before = out->len;

	if (n->kind != STB_N_LIST || !is_container(n) || n->n_items == 0 || holds_comments(f, n)) {
		add_value(f, out, n, indent, SIZE_MAX);
		return;
	}
	const size_t limit = before + (size_t)4 * STB_FMT_COLUMNS; /* whatever is longer than this is broken, and not looked at any further */

	add_value(f, out, n, indent, limit);
	if (out->len <= limit && column + stb_display_width(out->data + before, out->len - before) <= STB_FMT_COLUMNS)
		return;
	out->len = before;
	out->data[before] = '\0';
	add_broken(f, out, n, indent);
}
