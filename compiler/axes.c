/*
 * axes.c - a matrix as written to axes, overrides and exclusions.
 *
 * The runs that are compared come first, then axes by kind, in the order server, storage, volume, database, pin, workload; own axes follow
 * as written. That order is the nesting: the last axis varies fastest.
 */
#include "compiler/expand.h"
#include "compiler/fio_hint.h"

#include <string.h>

static const enum stb_kind binding_order[] = { STB_K_SERVER, STB_K_STORAGE, STB_K_VOLUME, STB_K_DATABASE,
	STB_K_PIN, STB_K_WORKLOAD };

/* Columns of results.csv, and words of selectors. */
static const char *const reserved[] = { "cell", "slot", "repetition", "metric", "unit", "value", "status", "run",
	"none" };

static struct stb_diag *bad(struct stb_expansion *x, struct stb_xmatrix *m, struct stb_diag *d)
{
	(void)x;
	m->bad = true;
	return d;
}

/* The text of `label = "..."` in an axis or a point; NULL where there is none. */
static const char *label_of(struct stb_expansion *x, const struct stb_stmt *s)
{
	struct stb_val v;

	for (uint32_t i = 0; i < s->n_body; i++) {
		const struct stb_stmt *a = s->body[i];

		if (a->kind == STB_S_ATTR && !strcmp(a->path->text, "label") &&
			stb_fold_any(x->m, a->value, &v, NULL) && v.type == STB_V_STRING)
			return v.str;
	}
	return NULL;
}

/* --- settings --- */

static void unknown_attr(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_xsetting *s,
	const struct stb_name *name)
{
	const char *names[256];
	size_t n = 0, n_rows;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const char *near;
	struct stb_diag *d;

	for (size_t i = 0; i < n_rows && n < STB_LEN(names); i++) {
		if (rows[i].kind == s->kind && !(rows[i].flags & STB_STRUCTURAL))
			names[n++] = rows[i].name;
	}
	near = stb_nearest(name->text, names, n);
	d = bad(x, m, stb_diag(x->sink, STB_E0516, name->span, "no %s has an attribute `%s`", stb_kind_name(s->kind),
		name->text));
	if (s->kind == STB_K_WORKLOAD && stb_fio_hint_attr(x->sink, d, name->span, name->text))
		return;
	if (near) {
		stb_diag_here(x->sink, d, "did you mean `%s`?", near);
		stb_diag_fixit(x->sink, d, name->span, "%s", near);
	}
}

static void unknown_block(struct stb_expansion *x, struct stb_xmatrix *m, enum stb_kind kind,
	const struct stb_name *name)
{
	const char **names = STB_NEW_ARRAY(x->arena, const char *, x->m->n_blocks + 1);
	const char *near;
	struct stb_diag *d;
	size_t n = 0;

	for (uint32_t i = 0; i < x->m->n_blocks; i++) {
		if (x->m->blocks[i]->kind == kind)
			names[n++] = x->m->blocks[i]->name;
	}
	near = stb_nearest(name->text, names, n);
	d = bad(x, m, stb_diag(x->sink, STB_E0516, name->span, "there is no %s `%s`", stb_kind_name(kind), name->text));
	if (near) {
		stb_diag_here(x->sink, d, "did you mean `%s`?", near);
		stb_diag_fixit(x->sink, d, name->span, "%s", near);
	}
}

static const char *path_key(struct stb_arena *a, const struct stb_name *path, uint32_t n)
{
	const char *key = path[0].text;

	for (uint32_t i = 1; i < n; i++)
		key = stb_arena_printf(a, "%s.%s", key, path[i].text);
	return key;
}

/* Whether the kind has an attribute of that name in some type. */
static bool kind_has(enum stb_kind kind, const char *name)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == kind && (!(rows[i].flags & STB_STRUCTURAL) || rows[i].flags & STB_ENTRIES) &&
			!strcmp(rows[i].name, name))
			return true;
	}
	return false;
}

/* The path of a setting: KIND.ATTR, KIND.NAME.ATTR, each with one more name where the attribute is an open map. */
static bool read_path(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_node *path,
	struct stb_xsetting *s)
{
	size_t n_types;
	const struct stb_schema_type *types = stb_schema_types(&n_types);
	const struct stb_name *names = path->names;
	struct stb_diag *d;

	if (path->n_names < 2 || !stb_kind_find(names[0].text, &s->kind) || s->kind >= STB_K_MATRIX ||
		s->kind == STB_K_SUITE) {
		d = bad(x, m, stb_diag(x->sink, STB_E0516, path->span, "`%s` does not say what it sets", path->text));
		stb_diag_help(x->sink, d,
			"write KIND.ATTRIBUTE (workload.iodepth) or KIND.NAME.ATTRIBUTE, with a kind of "
					  "server, storage, volume, database, pin, workload");
		return false;
	}
	s->span = path->span;
	s->text = path->text;
	s->path = &path->names[1];
	s->n_path = path->n_names - 1;
	for (size_t i = 0; i < n_types; i++) {
		if (types[i].kind == s->kind && !s->n_types++)
			s->types = &types[i];
	}
	if (!kind_has(s->kind, names[1].text) && path->n_names > 2) {
		if (!stb_model_find(x->m, s->kind, names[1].text)) {
			unknown_block(x, m, s->kind, &names[1]);
			return false;
		}
		s->block_name = names[1].text;
		s->path++;
		s->n_path--;
	}
	if (!kind_has(s->kind, s->path[0].text)) {
		unknown_attr(x, m, s, &s->path[0]);
		return false;
	}
	return true;
}

/* Whether a block that the setting may touch is of its type number t. */
static bool is_declared(const struct stb_expansion *x, const struct stb_xsetting *s, uint32_t t)
{
	for (uint32_t i = 0; i < x->m->n_blocks; i++) {
		const struct stb_block *b = x->m->blocks[i];

		if (b->type == &s->types[t] && (!s->block_name || !strcmp(b->name, s->block_name)))
			return true;
	}
	return false;
}

static bool has_declared_row(const struct stb_expansion *x, const struct stb_xsetting *s, const char *key)
{
	for (uint32_t t = 0; t < s->n_types; t++) {
		if (stb_schema_attr(s->kind, s->types[t].type, key) && is_declared(x, s, t))
			return true;
	}
	return false;
}

/*
 * The setting with its value folded for every type of the kind that has the attribute and a block in the spec: `rate` is one thing of an io
 * workload and another of an oltp one. NULL: reported.
 */
static struct stb_xsetting *make_setting(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_node *path,
	const struct stb_node *value, enum stb_origin origin, const char *axis)
{
	struct stb_xsetting *s = STB_NEW(x->arena, struct stb_xsetting);
	struct stb_setting *last = NULL;

	s->origin = origin;
	s->axis = axis;
	s->value = value;
	s->first_missed = STB_NONE;
	if (!read_path(x, m, path, s))
		return NULL;
	s->made = STB_NEW_ARRAY(x->arena, struct stb_setting *, s->n_types);
	const char *key = path_key(x->arena, s->path, s->n_path);
	const bool declared = has_declared_row(x, s, key);

	for (uint32_t t = 0; t < s->n_types; t++) {
		const struct stb_schema_attr *row = stb_schema_attr(s->kind, s->types[t].type, key);

		if (declared && !is_declared(x, s, t))
			continue;
		if (!row || !strcmp(row->name, "label") || !strcmp(row->name, "note") || !strcmp(row->name, "like"))
			continue;
		if (!last || last->row != row) { /* types that share a row share the value */
			last = STB_NEW(x->arena, struct stb_setting);
			if (!stb_setting_make(x->m, s->kind, s->types[t].type, s->path, s->n_path, value, origin,
				last)) {
				m->bad = true;
				return NULL;
			}
			last->origin = origin;
		}
		s->made[t] = last;
	}
	if (!last) {
		bad(x, m, stb_diag(x->sink, STB_E0516, path->span, "`%s` cannot be set in a matrix", path->text));
		return NULL;
	}
	return s;
}

struct stb_setting *stb_xsetting_for(const struct stb_xsetting *s, const struct stb_block *block)
{
	if (s->kind != block->kind || (s->block_name && strcmp(s->block_name, block->name)))
		return NULL;
	for (uint32_t t = 0; t < s->n_types; t++) {
		if (&s->types[t] == block->type)
			return s->made[t];
	}
	return NULL;
}

static void add_setting(struct stb_expansion *x, struct stb_xsettings *to, struct stb_xsetting *s)
{
	if (!s)
		return;
	STB_ARENA_GROW(x->arena, to->items, to->n, to->cap);
	to->items[to->n++] = s;
}

/* --- axes --- */

static struct stb_xaxis *add_axis(struct stb_expansion *x, struct stb_xmatrix *m, const char *name,
	struct stb_span span)
{
	STB_ARENA_GROW(x->arena, m->axes, m->n_axes, m->cap_axes);
	struct stb_xaxis *axis = &m->axes[m->n_axes++];

	*axis = (struct stb_xaxis){ .name = name, .label = name, .kind = -1, .span = span };
	return axis;
}

/* Adds a value; NULL when the axis has one of that name (reported). */
static struct stb_xvalue *add_value(struct stb_expansion *x, struct stb_xmatrix *m, struct stb_xaxis *axis,
	const char *key, struct stb_span span)
{
	for (uint32_t i = 0; i < axis->n_values; i++) {
		if (!strcmp(axis->values[i].key, key)) {
			struct stb_diag *d = bad(x, m, stb_diag(x->sink, STB_E0504, span, "axis `%s` has `%s` twice",
				axis->name, key));

			stb_diag_label(x->sink, d, axis->values[i].span, "first here");
			return NULL;
		}
	}
	STB_ARENA_GROW(x->arena, axis->values, axis->n_values, axis->cap_values);
	struct stb_xvalue *v = &axis->values[axis->n_values++];

	*v = (struct stb_xvalue){ .key = key, .label = key, .span = span };
	return v;
}

static struct stb_span item_span(const struct stb_setting *s, uint32_t i)
{
	if (s->node && s->node->kind == STB_N_LIST && i < s->node->n_items)
		return s->node->items[i]->span;
	return s->value_span;
}

/* Whether the block is described: of type external, or a volume of such a class, also where the storage axis says so. */
static bool is_external(const struct stb_model *m, const struct stb_xmatrix *x, const struct stb_block *b)
{
	const struct stb_setting *s = b->kind == STB_K_VOLUME ? stb_block_setting(b, "storage") : NULL;
	const uint32_t axis = stb_xmatrix_axis(x, "storage", x->n_axes);

	if (b->kind != STB_K_VOLUME)
		return !strcmp(b->type->type, "external");
	if (s && s->val.type == STB_V_REF)
		b = stb_model_find(m, STB_K_STORAGE, s->val.str);
	else if (axis != STB_NONE)
		return x->axes[axis].described;
	else
		b = NULL;
	return b && !strcmp(b->type->type, "external");
}

static void read_binding_axis(struct stb_expansion *x, struct stb_xmatrix *m, enum stb_kind kind)
{
	const struct stb_setting *s = stb_block_setting(m->block, stb_kind_name(kind));
	const struct stb_val *items;
	struct stb_xaxis *axis;
	uint32_t n, n_external = 0;

	if (!s || s->val.type == STB_V_NONE)
		return;
	axis = add_axis(x, m, stb_kind_name(kind), s->key_span);
	axis->kind = (int)kind;
	items = s->val.type == STB_V_LIST ? s->val.items : &s->val;
	n = s->val.type == STB_V_LIST ? s->val.n_items : 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_block *b = items[i].str ? stb_model_find(x->m, kind, items[i].str) : NULL;
		struct stb_xvalue *v;

		if (!b) { /* reported by check */
			m->bad = true;
			continue;
		}
		v = add_value(x, m, axis, b->name, item_span(s, i));
		if (!v)
			continue;
		v->block = b;
		v->label = b->label ? b->label : b->name;
		n_external += is_external(x->m, m, b);
	}
	if (!axis->n_values && !m->bad)
		bad(x, m, stb_diag(x->sink, STB_E0503, s->value_span, "axis `%s` has no values", axis->name));
	axis->described = kind != STB_K_WORKLOAD && axis->n_values && n_external == axis->n_values;
	if (kind != STB_K_WORKLOAD && n_external && n_external < axis->n_values) {
		struct stb_diag *d = bad(x, m, stb_diag(x->sink, STB_E0511, s->value_span,
			"axis `%s` mixes described and real %s", axis->name,
			kind == STB_K_DATABASE ? "databases" : kind == STB_K_VOLUME ? "volumes" : "blocks"));

		for (uint32_t i = 0; i < axis->n_values; i++) {
			if (is_external(x->m, m, axis->values[i].block))
				stb_diag_label(x->sink, d, axis->values[i].block->span, "described: it is `external`");
		}
		stb_diag_help(x->sink, d,
			"compare described ones with described ones; give the others a matrix of their own");
	}
}

/* runs = [base, branch]: an axis whose values are carried out one by one, by whoever runs the spec. */
static void read_runs(struct stb_expansion *x, struct stb_xmatrix *m)
{
	const struct stb_setting *s = stb_block_setting(m->block, "runs");
	struct stb_xaxis *axis;

	m->run_axis = STB_NONE;
	if (!s || s->val.type != STB_V_LIST)
		return;
	m->run_axis = m->n_axes;
	axis = add_axis(x, m, "run", s->key_span);
	axis->run = true;
	for (uint32_t i = 0; i < s->val.n_items; i++) {
		if (strcmp(s->val.items[i].str, "none"))
			(void)add_value(x, m, axis, s->val.items[i].str, item_span(s, i));
		else
			bad(x, m, stb_diag(x->sink, STB_E0218, item_span(s, i), "no run can be called `none`: it is a word of selectors"));
	}
	if (!axis->n_values && !m->bad)
		bad(x, m, stb_diag(x->sink, STB_E0503, s->value_span, "axis `run` has no values"));
}

static void check_axis_name(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_word *word)
{
	enum stb_kind kind;
	const char *what = NULL;

	if (stb_kind_find(word->text, &kind))
		what = "a block kind";
	else if (stb_schema_attr(STB_K_MATRIX, "", word->text))
		what = "an attribute of matrices";
	for (size_t i = 0; !what && i < STB_LEN(reserved); i++) {
		if (!strcmp(reserved[i], word->text))
			what = i < 7 ? "a column of results.csv" : "a word of selectors";
	}
	if (what)
		bad(x, m, stb_diag(x->sink, STB_E0502, word->span, "an axis cannot be called `%s`: that is %s",
			word->text, what));
	for (uint32_t i = 0; i + 1 < m->n_axes; i++) {
		if (!strcmp(m->axes[i].name, word->text)) {
			struct stb_diag *d = bad(x, m, stb_diag(x->sink, STB_E0504, word->span,
				"matrix `%s` has two axes `%s`", m->block->name, word->text));

			stb_diag_label(x->sink, d, m->axes[i].span, "first here");
		}
	}
}

static void read_values(struct stb_expansion *x, struct stb_xmatrix *m, struct stb_xaxis *axis,
	const struct stb_stmt *set, const struct stb_stmt *values)
{
	const struct stb_node *list = values->value;
	const bool is_list = list->kind == STB_N_LIST;
	const uint32_t n = is_list ? list->n_items : 1;

	if (set->value->kind != STB_N_PATH) {
		if (set->value->kind != STB_N_BAD)
			bad(x, m, stb_diag(x->sink, STB_E0516, set->value->span,
				"set takes the path of an attribute, such as workload.iodepth"));
		m->bad = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_node *item = is_list ? list->items[i] : list;
		struct stb_xsetting *s = make_setting(x, m, set->value, item, STB_FROM_AXIS, axis->name);
		const struct stb_setting *made = NULL;
		struct stb_xvalue *v;
		struct stb_val as_written;

		if (!s)
			return;
		for (uint32_t t = 0; t < s->n_types && !made; t++)
			made = s->made[t];
		as_written = made->val;
		if (made->row->flags & STB_OPEN_MAP) { /* ON and OFF are what the server reads, not what was written */
			if (!stb_fold_any(x->m, item, &as_written, NULL)) {
				m->bad = true;
				return;
			}
		} else {
			axis->row = made->row;
		}
		v = add_value(x, m, axis, stb_val_label(x->arena, &as_written), item->span);
		if (!v)
			return;
		v->val = as_written;
		add_setting(x, &v->settings, s);
	}
}

static void read_point(struct stb_expansion *x, struct stb_xmatrix *m, struct stb_xaxis *axis, const struct stb_stmt *s)
{
	struct stb_xvalue *v;
	const char *label = label_of(x, s);

	if (s->n_words != 1 || s->words[0].kind != STB_W_IDENT) {
		bad(x, m, stb_diag(x->sink, STB_E0503, s->name.span,
			"a point has one name: point NAME { PATH = value }"));
		return;
	}
	v = add_value(x, m, axis, s->words[0].text, s->words[0].span);
	if (!v)
		return;
	if (label)
		v->label = label;
	for (uint32_t i = 0; i < s->n_body; i++) {
		const struct stb_stmt *a = s->body[i];

		if (a->kind != STB_S_ATTR) {
			bad(x, m, stb_diag(x->sink, STB_E0503, a->span, "a point holds PATH = value and nothing else"));
			continue;
		}
		if (strcmp(a->path->text, "label"))
			add_setting(x, &v->settings, make_setting(x, m, a->path, a->value, STB_FROM_AXIS, axis->name));
	}
	if (!v->settings.n && !m->bad)
		bad(x, m, stb_diag(x->sink, STB_E0503, s->words[0].span, "point `%s` sets nothing", v->key));
}

static void read_own_axis(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_stmt *s)
{
	const struct stb_stmt *set = NULL, *values = NULL, *where = NULL;
	uint32_t n_points = 0;
	const char *label = label_of(x, s);

	if (s->n_words != 1 || s->words[0].kind != STB_W_IDENT) {
		bad(x, m, stb_diag(x->sink, STB_E0503, s->name.span, "an axis has one name: axis NAME { ... }"));
		return;
	}
	struct stb_xaxis *axis = add_axis(x, m, s->words[0].text, s->words[0].span);

	check_axis_name(x, m, &s->words[0]);
	if (label)
		axis->label = label;
	for (uint32_t i = 0; i < s->n_body; i++) {
		const struct stb_stmt *a = s->body[i];
		const struct stb_stmt **slot = NULL;
		const char *name = a->kind == STB_S_ATTR ? a->path->text : a->name.text;

		if (a->kind == STB_S_BLOCK && !strcmp(name, "point")) {
			n_points++;
			read_point(x, m, axis, a);
			continue;
		}
		if (a->kind == STB_S_ATTR && !strcmp(name, "label"))
			continue;
		if (a->kind == STB_S_ATTR && !strcmp(name, "set"))
			slot = &set;
		else if (a->kind == STB_S_ATTR && !strcmp(name, "values"))
			slot = &values;
		else if (a->kind == STB_S_BLOCK && !strcmp(name, "where"))
			slot = &where;
		if (!slot || *slot) {
			bad(x, m, stb_diag(x->sink, STB_E0503, a->kind == STB_S_ATTR ? a->path->span : a->name.span,
				"%s `%s` in axis `%s`", slot ? "a second" : "there is no", name, axis->name));
			continue;
		}
		*slot = a;
	}
	if (where && !stb_xselect_read(x, m, m->n_axes - 1, where, &axis->where))
		m->bad = true;
	if (set && values && !n_points) {
		read_values(x, m, axis, set, values);
	} else if (set || values || !n_points) {
		struct stb_diag *d;

		if (n_points)
			d = stb_diag(x->sink, STB_E0503, axis->span, "axis `%s` has points and `%s`", axis->name,
				set ? "set" : "values");
		else if (set || values)
			d = stb_diag(x->sink, STB_E0503, axis->span, "axis `%s` is incomplete: it has no `%s`", axis->name,
				set ? "values" : "set");
		else
			d = stb_diag(x->sink, STB_E0503, axis->span, "axis `%s` is empty", axis->name);
		m->bad = true;
		stb_diag_help(x->sink, d, "an axis takes either set and values, or points");
	}
	if (!axis->n_values && !m->bad)
		bad(x, m, stb_diag(x->sink, STB_E0503, axis->span, "axis `%s` has no values", axis->name));
}

/* --- overrides and exclusions --- */

static void read_override(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_stmt *s,
	enum stb_origin origin)
{
	STB_ARENA_GROW(x->arena, m->overrides, m->n_overrides, m->cap_overrides);
	struct stb_xoverride *o = &m->overrides[m->n_overrides++];

	*o = (struct stb_xoverride){ .span = s->name.span };
	for (uint32_t i = 0; i < s->n_body; i++) {
		const struct stb_stmt *a = s->body[i];

		if (a->kind == STB_S_ATTR) {
			add_setting(x, &o->settings, make_setting(x, m, a->path, a->value, origin, NULL));
		} else if (a->kind == STB_S_BLOCK && !strcmp(a->name.text, "where")) {
			if (!stb_xselect_read(x, m, m->n_axes, a, &o->where))
				m->bad = true;
		} else {
			bad(x, m, stb_diag(x->sink, STB_E0521, a->span,
				"an override holds where and PATH = value, nothing else"));
		}
	}
	if (!o->settings.n && !m->bad)
		bad(x, m, stb_diag(x->sink, STB_E0521, s->name.span, "this override sets nothing"));
}

static void read_exclude(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_stmt *s)
{
	STB_ARENA_GROW(x->arena, m->excludes, m->n_excludes, m->cap_excludes);
	struct stb_xexclude *e = &m->excludes[m->n_excludes++];
	bool has_where = false;
	struct stb_val v;

	*e = (struct stb_xexclude){ .span = s->name.span };
	for (uint32_t i = 0; i < s->n_body; i++) {
		const struct stb_stmt *a = s->body[i];

		if (a->kind == STB_S_BLOCK && !strcmp(a->name.text, "where") && a->n_body) {
			has_where = true;
			if (!stb_xselect_read(x, m, m->n_axes, a, &e->where))
				m->bad = true;
		} else if (a->kind == STB_S_ATTR && !strcmp(a->path->text, "reason")) {
			if (stb_fold_any(x->m, a->value, &v, NULL) && v.type == STB_V_STRING && v.str[0])
				e->reason = v.str;
		}
	}
	if ((!e->reason || !has_where) && !m->bad) {
		struct stb_diag *d = bad(x, m, stb_diag(x->sink, STB_E0520, s->name.span, "an exclusion needs %s",
			!has_where ? "a where that says which cells" : "a reason"));

		stb_diag_help(x->sink, d, "exclude { reason = \"why\"  where { AXIS = value } }");
	}
}

/* --- the matrix --- */

static enum stb_fresh read_fresh(const struct stb_block *b)
{
	static const char *const words[] = { "once", "group", "cell", "repetition" };
	const struct stb_setting *s = stb_block_setting(b, "fresh");

	for (size_t i = 0; s && s->val.str && i < STB_LEN(words); i++) {
		if (!strcmp(words[i], s->val.str))
			return (enum stb_fresh)i;
	}
	return STB_FRESH_GROUP;
}

/* Whether the profile's entry for the matrix has an axis of that name, which then stands in for the matrix's own. */
static bool replaced_axis(const struct stb_block *b, const struct stb_stmt *axis)
{
	for (uint32_t i = 0; b->profile_stmt && i < b->profile_stmt->n_body; i++) {
		const struct stb_stmt *s = b->profile_stmt->body[i];

		if (s->kind == STB_S_BLOCK && !strcmp(s->name.text, "axis") && s->n_words == 1 && axis->n_words == 1 &&
			!strcmp(s->words[0].text, axis->words[0].text))
			return true;
	}
	return false;
}

static void read_nested(struct stb_expansion *x, struct stb_xmatrix *m, const struct stb_stmt *s, bool axes,
	bool of_profile)
{
	if (s->kind != STB_S_BLOCK)
		return;
	if (axes) {
		if (!strcmp(s->name.text, "axis") && (of_profile || !replaced_axis(m->block, s)))
			read_own_axis(x, m, s);
	} else if (!strcmp(s->name.text, "override")) {
		read_override(x, m, s, of_profile ? STB_FROM_PROFILE : STB_FROM_OVERRIDE);
	} else if (!strcmp(s->name.text, "exclude")) {
		read_exclude(x, m, s);
	}
}

struct stb_xmatrix *stb_xmatrix_read(struct stb_expansion *x, const struct stb_block *block)
{
	struct stb_xmatrix *m = STB_NEW(x->arena, struct stb_xmatrix);
	const struct stb_stmt *places[] = { block->stmt, block->profile_stmt };

	m->block = block;
	m->fresh = read_fresh(block);
	read_runs(x, m);
	for (size_t i = 0; i < STB_LEN(binding_order); i++)
		read_binding_axis(x, m, binding_order[i]);
	m->n_leading = m->n_axes;
	/* Own axes first, so that overrides and exclusions can name all of them wherever they stand. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t p = 0; p < STB_LEN(places); p++) {
			for (uint32_t i = 0; places[p] && i < places[p]->n_body; i++)
				read_nested(x, m, places[p]->body[i], pass == 0, p == 1);
		}
	}
	if (stb_xmatrix_axis(m, "workload", m->n_axes) == STB_NONE && !m->bad) {
		struct stb_diag *d = bad(x, m, stb_diag(x->sink, STB_E0501, block->span, "matrix `%s` has no workload",
			block->name));

		stb_diag_help(x->sink, d, "say what is run in each cell: workload = NAME, or a list of names");
	}
	return m;
}
