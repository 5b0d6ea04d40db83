/*
 * fmt.c - the canonical form of a spec.
 *
 *   text --parse--> tree + comments --for each container: attach, order, print--> text
 *
 * What is decided here and nowhere else:
 *
 * - One attribute a line; a nested block with nothing but one attribute stays on one line where it fits.
 * - Within a block: attributes in the order of their schema rows, then nested blocks in that order; blocks of one row (axes, which nest as
 *   written; points, overrides) keep their order. What the schema does not know stays at its index. The top of a file keeps its order.
 * - `=` is aligned over a run of attributes without a blank line between them, and so are the comments behind them.
 * - Blank lines stay, at most one; a block at the top always has one around it.
 *
 * Everything is decided by what was written, never by how it was laid out, except blank lines and whether a comment stands behind something
 * or on a line of its own. That is why formatting twice gives the same as once. Rejected: printing from a token stream, which keeps comments
 * for free but cannot put attributes into their order.
 */
#include "compiler/fmt.h"

#include "compiler/fmt_parts.h"
#include "compiler/parse.h"
#include "compiler/schema.h"

#include <string.h>

struct place { /* where in the schema the statements of a block are looked up */
	bool known;
	enum stb_kind kind;
	const char *type;   /* NULL: any */
	const char *nested; /* NULL, or the nested block: rows "axis.set" */
};

static const struct place nowhere = { 0 };

/* --- order --------------------------------------------------------------------------------------------------------------------------- */

/* The row's place in the schema, -1 where there is none. */
static int row_index(const struct place *at, const char *name)
{
	size_t n, prefix = at->nested ? strlen(at->nested) : 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		const char *rest = rows[i].name;

		if (rows[i].kind != at->kind || (at->type && !stb_schema_applies(&rows[i], at->type)))
			continue;
		if (prefix) {
			if (strncmp(rest, at->nested, prefix) || rest[prefix] != '.')
				continue;
			rest += prefix + 1;
		}
		if (!strcmp(rest, name))
			return (int)i;
	}
	return -1;
}

enum { BLOCK_RANK = 1 << 20 };

static int rank(const struct place *at, const struct stb_stmt *s)
{
	int row;

	if (!at->known)
		return -1;
	switch (s->kind) {
	case STB_S_ATTR:
		row = row_index(at, s->path->text);
		return row >= 0 || s->path->n_names == 1 ? row : row_index(at, s->path->names[0].text); /* options.NAME */
	case STB_S_BLOCK:
		row = row_index(at, s->name.text);
		return row < 0 ? row : row + BLOCK_RANK;
	case STB_S_INCLUDE:
	case STB_S_LET:
	case STB_S_PARAM:
		break;
	}
	return -1;
}

struct ranked {
	struct stb_fmt_piece piece;
	int rank;
};

/* Stable. Bodies are mostly in order already or short; an unordered one of many attributes has many times the same, which cost nothing. */
static void merge_sort(struct ranked *v, struct ranked *spare, uint32_t n)
{
	const uint32_t half = n / 2;
	uint32_t a = 0, b = half;

	if (n < 2)
		return;
	merge_sort(v, spare, half);
	merge_sort(v + half, spare, n - half);
	for (uint32_t i = 0; i < n; i++)
		spare[i] = b >= n || (a < half && v[a].rank <= v[b].rank) ? v[a++] : v[b++];
	memcpy(v, spare, n * sizeof(*v));
}

/* Those that have a rank change places among themselves. */
static void put_in_order(struct stb_fmt *f, const struct place *at, struct stb_fmt_piece *pieces, uint32_t n)
{
	struct ranked *v = STB_NEW_ARRAY(f->arena, struct ranked, n), *spare = STB_NEW_ARRAY(f->arena, struct ranked, n);
	uint32_t *free_places = STB_NEW_ARRAY(f->arena, uint32_t, n), n_ranked = 0;

	for (uint32_t i = 0; i < n; i++) {
		const int r = rank(at, pieces[i].stmt);

		if (r < 0)
			continue;
		free_places[n_ranked] = i;
		v[n_ranked++] = (struct ranked){ pieces[i], r };
	}
	merge_sort(v, spare, n_ranked);
	for (uint32_t i = 0; i < n_ranked; i++)
		pieces[free_places[i]] = v[i].piece;
}

/* Where the statements inside a block are looked up. */
static struct place inside(const struct place *at, const struct stb_stmt *block, bool top)
{
	struct place in = nowhere;

	if (at->known && at->kind == STB_K_PROFILE)
		top = true; /* KIND TYPE NAME { ... } */
	if (!top) {
		in = *at;
		in.nested = block->name.text;
		return in;
	}
	in.known = stb_kind_find(block->name.text, &in.kind);
	if (in.known && stb_kind_has_types(in.kind) && block->n_words > 1)
		in.type = block->words[0].text;
	return in;
}

/* --- statements ---------------------------------------------------------------------------------------------------------------------- */

static void add_head(struct stb_buf *out, const struct stb_stmt *s)
{
	stb_buf_adds(out, s->name.text);
	for (uint32_t i = 0; i < s->n_words; i++) {
		stb_buf_addc(out, ' ');
		if (s->words[i].kind == STB_W_STRING)
			stb_fmt_string(out, s->words[i].text, strlen(s->words[i].text));
		else
			stb_buf_adds(out, s->words[i].text);
	}
	stb_buf_adds(out, " {");
}

/* What stands before the sign. */
static void add_name(struct stb_buf *out, const struct stb_stmt *s)
{
	if (s->kind == STB_S_ATTR)
		stb_buf_add(out, s->path->text, s->path->text_len);
	else
		stb_buf_printf(out, "%s %s", s->kind == STB_S_LET ? "let" : "param", s->name.text);
}

static bool has_sign(const struct stb_fmt_piece *p)
{
	return p->stmt && (p->stmt->kind == STB_S_ATTR || p->stmt->kind == STB_S_LET || p->stmt->kind == STB_S_PARAM);
}

static uint32_t name_width(const struct stb_stmt *s)
{
	struct stb_buf b;
	uint32_t width;

	if (s->kind == STB_S_ATTR)
		return s->path->text_len;
	stb_buf_init(&b);
	add_name(&b, s);
	width = (uint32_t)b.len;
	stb_buf_fini(&b);
	return width;
}

/* `where { storage = disk }`; false: it does not fit or holds more than one attribute. Its comments, if any, need lines of their own. */
static bool add_one_line(struct stb_fmt *f, struct stb_buf *out, const struct stb_stmt *s, uint32_t indent)
{
	const struct stb_stmt *only = s->n_body == 1 && s->body[0]->kind == STB_S_ATTR ? s->body[0] : NULL;
	const size_t before = out->len;

	if (!only || stb_fmt_has_comments(f, s->open.end, s->span.end))
		return false;
	add_head(out, s);
	stb_buf_addc(out, ' ');
	add_name(out, only);
	stb_buf_adds(out, " = ");
	stb_fmt_value(f, out, only->value, indent, stb_fmt_last_width(out->data, out->len));
	stb_buf_adds(out, " }");
	if (!memchr(out->data + before, '\n', out->len - before) && stb_fmt_last_width(out->data, out->len) <= STB_FMT_COLUMNS)
		return true;
	out->len = before;
	out->data[before] = '\0';
	return false;
}

static void add_body(struct stb_fmt *f, struct stb_buf *out, const struct stb_stmt *s, const struct place *at, uint32_t indent);

static void add_block(struct stb_fmt *f, struct stb_buf *out, const struct stb_stmt *s, const struct place *at, uint32_t indent, bool top)
{
	const struct place in = inside(at, s, top);

	if (!top && add_one_line(f, out, s, indent))
		return;
	add_head(out, s);
	if (s->n_body == 0 && !stb_fmt_has_comments(f, s->open.end, s->span.end))
		stb_buf_adds(out, " }");
	else
		add_body(f, out, s, &in, indent);
}

/* --- runs of attributes -------------------------------------------------------------------------------------------------------------- */

struct line {
	struct stb_buf text;
	struct stb_comments behind;
	bool several; /* its value takes several lines */
};

static bool blank_anywhere(const struct stb_fmt *f, const struct stb_fmt_piece *p)
{
	for (uint32_t i = p->lead.first; i < p->lead.end; i++)
		if (f->comments[i].blank_before)
			return true;
	return p->blank_before;
}

/* The attributes from the first on that are aligned with each other. */
static uint32_t run_length(const struct stb_fmt *f, const struct stb_fmt_piece *p, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && has_sign(&p[i]) && !blank_anywhere(f, &p[i]))
		i++;
	return i;
}

static void add_before(struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *p, uint32_t indent, bool *fresh)
{
	stb_fmt_own_lines(f, out, p->lead, indent, fresh);
	if (p->blank_before && !*fresh)
		stb_buf_addc(out, '\n');
}

static void add_run(struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *p, uint32_t n, uint32_t indent, bool *fresh)
{
	struct line *lines = STB_NEW_ARRAY(f->arena, struct line, n);
	uint32_t width = 0, column = 0;

	for (uint32_t i = 0; i < n; i++)
		width = STB_MAX(width, name_width(p[i].stmt));
	for (uint32_t i = 0; i < n; i++) {
		struct line *l = &lines[i];

		stb_buf_init(&l->text);
		stb_buf_fill(&l->text, ' ', indent);
		add_name(&l->text, p[i].stmt);
		stb_buf_fill(&l->text, ' ', indent + width - l->text.len);
		stb_buf_adds(&l->text, " = ");
		stb_fmt_value(f, &l->text, p[i].stmt->value, indent, indent + width + 3);
		l->several = memchr(l->text.data, '\n', l->text.len) != NULL;
		l->behind = p[i].trail;
		if (!stb_fmt_inner_goes_behind(f, &p[i], l->behind.first == l->behind.end, &l->behind))
			l->behind = p[i].trail;

		const uint32_t own = stb_fmt_last_width(l->text.data, l->text.len);

		if (l->behind.first < l->behind.end && !l->several && own <= STB_FMT_COMMENT_COLUMN)
			column = STB_MAX(column, own + STB_FMT_COMMENT_GAP);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct line *l = &lines[i];
		const uint32_t own = stb_fmt_last_width(l->text.data, l->text.len) + STB_FMT_COMMENT_GAP;

		add_before(f, out, &p[i], indent, fresh);
		if (l->behind.first == p[i].trail.first && l->behind.end == p[i].trail.end)
			stb_fmt_inner_lines(f, out, &p[i], indent, fresh);
		stb_fmt_newline(out, 0);
		stb_buf_add(out, l->text.data, l->text.len);
		stb_fmt_behind(f, out, l->behind, l->several ? own : STB_MAX(own, column));
		stb_buf_fini(&l->text);
		*fresh = false;
	}
}

/* --- containers ---------------------------------------------------------------------------------------------------------------------- */

/* A statement that stands by itself: a block, an include, the header. */
static void add_single(struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *p, const struct place *at, uint32_t indent,
	bool top, bool *fresh)
{
	const bool block = p->stmt && p->stmt->kind == STB_S_BLOCK;
	const bool free_behind = p->trail.first == p->trail.end;
	struct stb_comments inner = { 0, 0 };
	const bool goes_behind = stb_fmt_inner_goes_behind(f, p, free_behind && !block, &inner);

	add_before(f, out, p, indent, fresh);
	if (!goes_behind)
		stb_fmt_inner_lines(f, out, p, indent, fresh);
	stb_fmt_newline(out, indent);
	if (block)
		add_block(f, out, p->stmt, at, indent, top);
	else if (p->stmt) {
		stb_buf_adds(out, "include ");
		stb_fmt_value(f, out, p->stmt->value, indent, 0);
	} else {
		stb_buf_adds(out, "stb 1");
	}
	stb_fmt_behind(f, out, goes_behind ? inner : p->trail, stb_fmt_last_width(out->data, out->len) + STB_FMT_COMMENT_GAP);
	*fresh = false;
}

static void add_pieces(struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *pieces, uint32_t n, const struct place *at,
	uint32_t indent, bool top, bool *fresh)
{
	for (uint32_t i = 0; i < n;) {
		const uint32_t run = has_sign(&pieces[i]) ? run_length(f, pieces + i, n - i) : 1;

		if (has_sign(&pieces[i]))
			add_run(f, out, pieces + i, run, indent, fresh);
		else
			add_single(f, out, &pieces[i], at, indent, top, fresh);
		i += run;
	}
}

static void add_body(struct stb_fmt *f, struct stb_buf *out, const struct stb_stmt *s, const struct place *at, uint32_t indent)
{
	struct stb_fmt_piece *pieces = STB_NEW_ARRAY(f->arena, struct stb_fmt_piece, s->n_body);
	struct stb_comments opening, tail;
	bool fresh = true;

	for (uint32_t i = 0; i < s->n_body; i++)
		pieces[i] = (struct stb_fmt_piece){ .begin = s->body[i]->span.begin, .end = s->body[i]->span.end, .stmt = s->body[i] };
	stb_fmt_attach(f, pieces, s->n_body, s->open.end, s->span.end - 1, &opening, &tail);
	put_in_order(f, at, pieces, s->n_body);
	stb_fmt_behind(f, out, opening, stb_fmt_last_width(out->data, out->len) + STB_FMT_COMMENT_GAP);
	add_pieces(f, out, pieces, s->n_body, at, indent + STB_FMT_INDENT, false, &fresh);
	stb_fmt_own_lines(f, out, tail, indent + STB_FMT_INDENT, &fresh);
	stb_fmt_newline(out, indent);
	stb_buf_addc(out, '}');
}

/* A block at the top has a blank line around it: put in where none was written. */
static void separate_blocks(struct stb_fmt *f, struct stb_fmt_piece *pieces, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const bool block = pieces[i].stmt->kind == STB_S_BLOCK || (pieces[i - 1].stmt && pieces[i - 1].stmt->kind == STB_S_BLOCK);

		if (!block || blank_anywhere(f, &pieces[i]))
			continue;
		if (pieces[i].lead.first < pieces[i].lead.end)
			f->comments[pieces[i].lead.first].blank_before = true;
		else
			pieces[i].blank_before = true;
	}
}

static void add_file(struct stb_fmt *f, struct stb_buf *out, const struct stb_ast *ast)
{
	const uint32_t n = ast->n_stmts + 1;
	struct stb_fmt_piece *pieces = STB_NEW_ARRAY(f->arena, struct stb_fmt_piece, n);
	struct stb_comments opening, tail;
	bool fresh = true;

	pieces[0] = (struct stb_fmt_piece){ .begin = ast->version_span.begin, .end = ast->version_span.end };
	for (uint32_t i = 1; i < n; i++) {
		const struct stb_stmt *s = ast->stmts[i - 1];

		pieces[i] = (struct stb_fmt_piece){ .begin = s->span.begin, .end = s->span.end, .stmt = s };
	}
	stb_fmt_attach(f, pieces, n, 0, f->file->len, &opening, &tail);
	separate_blocks(f, pieces, n);
	add_pieces(f, out, pieces, n, &nowhere, 0, true, &fresh);
	stb_fmt_own_lines(f, out, tail, 0, &fresh);
	stb_buf_addc(out, '\n');
}

bool stb_fmt(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink, struct stb_buf *out)
{
	struct stb_fmt f = { .arena = a, .src = src, .file = &src->files[file] };
	const uint32_t errors = sink->n_errors;
	const struct stb_ast *ast = stb_parse(a, src, file, sink);
	struct stb_buf text;

	if (sink->n_errors != errors)
		return false;
	stb_fmt_find_comments(&f);
	stb_buf_init(&text); /* of its own: the parts ask whether anything was printed yet */
	add_file(&f, &text, ast);
	stb_buf_add(out, text.data, text.len);
	stb_buf_fini(&text);
	return true;
}
