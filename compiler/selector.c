/*
 * selector.c - `where { AXIS = value }`: which cells. Used by axes, overrides, exclusions, reports and claims.
 *
 * A selector is a conjunction of terms; a term is the set of an axis's values that it lets pass, so matching is one
 * table look-up per term. Values are compared as the axis has them: names of blocks and points by name, numbers by
 * value (4096B is 4KiB) or by range, others by their text. `none` selects the cells without a value on that axis,
 * unless the axis has a value that is called none.
 */
#include "compiler/expand.h"

#include <string.h>

struct reader {
	struct stb_expansion *x;
	const struct stb_xmatrix *m;
	const struct stb_xaxis *axis;
	struct stb_xterm *term;
	bool ok;
};

const struct stb_stmt *stb_nested(const struct stb_block *b, const char *name)
{
	const struct stb_stmt *places[] = { b->profile_stmt, b->stmt };

	for (size_t p = 0; p < STB_LEN(places); p++) {
		for (uint32_t i = 0; places[p] && i < places[p]->n_body; i++) {
			const struct stb_stmt *s = places[p]->body[i];

			if (s->kind == STB_S_BLOCK && !strcmp(s->name.text, name))
				return s;
		}
	}
	return NULL;
}

uint32_t stb_xmatrix_axis(const struct stb_xmatrix *m, const char *name, uint32_t n_axes)
{
	for (uint32_t i = 0; i < n_axes; i++) {
		if (!strcmp(m->axes[i].name, name))
			return i;
	}
	return STB_NONE;
}

const struct stb_xterm *stb_xselect_term(const struct stb_xselect *s, uint32_t axis)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->terms[i].axis == axis)
			return &s->terms[i];
	}
	return NULL;
}

bool stb_xselect_match(const struct stb_xselect *s, const struct stb_xmatrix *m, const uint32_t *point)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct stb_xterm *t = &s->terms[i];
		const uint32_t v = point[t->axis];

		if (!t->allow[v == STB_NONE ? m->axes[t->axis].n_values : v])
			return false;
	}
	return true;
}

static bool allow_key(struct reader *r, const char *key)
{
	for (uint32_t i = 0; i < r->axis->n_values; i++) {
		if (!strcmp(r->axis->values[i].key, key)) {
			r->term->allow[i] = 1;
			return true;
		}
	}
	return false;
}

static const char *list_of_values(struct reader *r)
{
	const char *text = "";
	const uint32_t shown = STB_MIN(r->axis->n_values, 8u);

	for (uint32_t i = 0; i < shown; i++)
		text = stb_arena_printf(r->x->arena, "%s%s`%s`", text, i ? ", " : "", r->axis->values[i].key);
	if (shown < r->axis->n_values)
		text = stb_arena_printf(r->x->arena, "%s and %u more", text, r->axis->n_values - shown);
	return text;
}

static void unknown_value(struct reader *r, const struct stb_node *node, const char *text)
{
	struct stb_diag *d;
	const char **keys;
	const char *near;

	/* Under a profile the axis may have fewer values than the spec knows. */
	if (r->x->m->profile)
		return;
	keys = STB_NEW_ARRAY(r->x->arena, const char *, r->axis->n_values + 1);
	for (uint32_t i = 0; i < r->axis->n_values; i++)
		keys[i] = r->axis->values[i].key;
	near = stb_nearest(text, keys, r->axis->n_values);
	d = stb_diag(r->x->sink, STB_E0507, node->span, "axis `%s` of matrix `%s` has no value `%s`", r->axis->name,
		r->m->block->name, text);
	if (near) {
		stb_diag_here(r->x->sink, d, "did you mean `%s`?", near);
		stb_diag_fixit(r->x->sink, d, node->span, "%s", near);
	}
	stb_diag_label(r->x->sink, d, r->axis->span, "the axis is here");
	stb_diag_note(r->x->sink, d, "its values are %s", list_of_values(r));
	r->ok = false;
}

static const struct stb_let *find_let(const struct stb_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_lets; i++) {
		if (!strcmp(m->lets[i]->name, name))
			return m->lets[i];
	}
	return NULL;
}

/* A value as the axis's attribute has it, or, where there is none, of whatever type it is. */
static bool fold(struct reader *r, const struct stb_node *node, struct stb_val *out)
{
	bool ok;

	if (r->axis->row && r->axis->row->type != STB_V_WORD && r->axis->row->type != STB_V_LIST)
		ok = stb_fold(r->x->m, r->axis->row, node, out, NULL);
	else
		ok = stb_fold_any(r->x->m, node, out, NULL);
	if (!ok)
		r->ok = false;
	return ok;
}

static void read_value(struct reader *r, const struct stb_node *node)
{
	struct stb_val v;
	bool found = false;

	if (!fold(r, node, &v))
		return;
	for (uint32_t i = 0; i < r->axis->n_values; i++) {
		if (r->axis->values[i].val.type != STB_V_NONE && stb_val_equal(&r->axis->values[i].val, &v)) {
			r->term->allow[i] = 1;
			found = true;
		}
	}
	if (!found && !allow_key(r, stb_val_label(r->x->arena, &v)))
		unknown_value(r, node, stb_val_label(r->x->arena, &v));
}

static bool is_number(enum stb_vtype t)
{
	return t == STB_V_COUNT || t == STB_V_BYTES || t == STB_V_TIME || t == STB_V_SHARE || t == STB_V_RATE ||
		t == STB_V_BYTE_RATE;
}

static void read_range(struct reader *r, const struct stb_node *node)
{
	struct stb_val from = { 0 }, to = { 0 };
	bool any = false;

	if (!r->axis->row || !is_number(r->axis->row->type)) {
		stb_diag(r->x->sink, STB_E0507, node->span,
			"axis `%s` has no numbers, so a range selects nothing there", r->axis->name);
		r->ok = false;
		return;
	}
	if ((node->items[0] && !fold(r, node->items[0], &from)) || (node->items[1] && !fold(r, node->items[1], &to)))
		return;
	for (uint32_t i = 0; i < r->axis->n_values; i++) {
		const struct stb_val *v = &r->axis->values[i].val;

		if ((node->items[0] && stb_val_cmp(v, &from) < 0) || (node->items[1] && stb_val_cmp(v, &to) > 0))
			continue;
		r->term->allow[i] = 1;
		any = true;
	}
	if (!any && !r->x->m->profile) {
		struct stb_diag *d = stb_diag(r->x->sink, STB_E0507, node->span,
			"axis `%s` of matrix `%s` has no value in this range", r->axis->name, r->m->block->name);

		stb_diag_note(r->x->sink, d, "its values are %s", list_of_values(r));
		r->ok = false;
	}
}

/* Recursion ends: the parser limits nesting (STB_AST_MAX_DEPTH), and a list in a list is refused here. */
static void read_node(struct reader *r, const struct stb_node *node, bool in_list)
{
	switch (node->kind) {
	case STB_N_BAD:
		r->ok = false;
		return;
	case STB_N_LIST:
		if (in_list) {
			stb_diag(r->x->sink, STB_E0507, node->span, "a selector takes a value or a list of values");
			r->ok = false;
			return;
		}
		for (uint32_t i = 0; i < node->n_items; i++)
			read_node(r, node->items[i], true);
		return;
	case STB_N_RANGE:
		read_range(r, node);
		return;
	case STB_N_PATH:
		if (allow_key(r, node->text))
			return;
		if (node->n_names == 1 && !strcmp(node->text, "none")) {
			r->term->allow[r->axis->n_values] = 1;
			return;
		}
		if (node->n_names == 1 && find_let(r->x->m, node->text))
			read_value(r, node);
		else
			unknown_value(r, node, node->text);
		return;
	case STB_N_QUANTITY:
	case STB_N_STRING:
	case STB_N_BOOL:
	case STB_N_TIME:
	case STB_N_CALL:
	case STB_N_NEG:
	case STB_N_ADD:
	case STB_N_SUB:
	case STB_N_MUL:
	case STB_N_DIV:
		read_value(r, node);
		return;
	}
}

/* Own axes are read as they stand, so that a later one is not there yet. */
static bool comes_later(const struct stb_xmatrix *m, const char *name)
{
	for (uint32_t i = 0; m->block->stmt && i < m->block->stmt->n_body; i++) {
		const struct stb_stmt *s = m->block->stmt->body[i];

		if (s->kind == STB_S_BLOCK && !strcmp(s->name.text, "axis") && s->n_words == 1 &&
			!strcmp(s->words[0].text, name))
			return true;
	}
	return false;
}

static void unknown_axis(struct stb_expansion *x, const struct stb_xmatrix *m, uint32_t n_axes,
	const struct stb_stmt *attr)
{
	const char *name = attr->path->text;
	const char **names = STB_NEW_ARRAY(x->arena, const char *, m->n_axes + 1);
	struct stb_diag *d;
	const char *near;

	if (stb_xmatrix_axis(m, name, m->n_axes) != STB_NONE || comes_later(m, name)) {
		d = stb_diag(x->sink, STB_E0518, attr->path->span, "axis `%s` is not there yet where this one begins",
			name);
		stb_diag_help(x->sink, d, "the where of an axis can name the axes by kind and those written before it");
		return;
	}
	for (uint32_t i = 0; i < n_axes; i++)
		names[i] = m->axes[i].name;
	near = stb_nearest(name, names, n_axes);
	d = stb_diag(x->sink, STB_E0506, attr->path->span, "matrix `%s` has no axis `%s`", m->block->name, name);
	if (near) {
		stb_diag_here(x->sink, d, "did you mean `%s`?", near);
		stb_diag_fixit(x->sink, d, attr->path->span, "%s", near);
	}
}

static void read_term(struct stb_expansion *x, const struct stb_xmatrix *m, uint32_t n_axes,
	const struct stb_stmt *attr, struct stb_xselect *out)
{
	struct reader r = { .x = x, .m = m, .ok = true };
	uint32_t axis;

	if (attr->kind != STB_S_ATTR) {
		stb_diag(x->sink, STB_E0506, attr->span, "a selector holds AXIS = VALUE and nothing else");
		out->bad = true;
		return;
	}
	axis = stb_xmatrix_axis(m, attr->path->text, n_axes);
	if (axis == STB_NONE) {
		unknown_axis(x, m, n_axes, attr);
		out->bad = true;
		return;
	}
	if (stb_xselect_term(out, axis)) {
		struct stb_diag *d = stb_diag(x->sink, STB_E0506, attr->path->span,
			"axis `%s` stands twice in one selector", m->axes[axis].name);

		stb_diag_help(x->sink, d, "give its values as one list: %s = [a, b]", m->axes[axis].name);
		out->bad = true;
		return;
	}
	STB_ARENA_GROW(x->arena, out->terms, out->n, out->cap);
	r.term = &out->terms[out->n++];
	r.axis = &m->axes[axis];
	*r.term = (struct stb_xterm){ axis, STB_NEW_ARRAY(x->arena, uint8_t, m->axes[axis].n_values + 1) };
	read_node(&r, attr->value, false);
	if (!r.ok)
		out->bad = true;
}

bool stb_xselect_read(struct stb_expansion *x, const struct stb_xmatrix *m, uint32_t n_axes,
	const struct stb_stmt *where, struct stb_xselect *out)
{
	*out = (struct stb_xselect){ .span = where->span };
	for (uint32_t i = 0; i < where->n_body; i++)
		read_term(x, m, n_axes, where->body[i], out);
	return !out->bad;
}
