/*
 * json_load.c - makes a plan of its JSON form (json.h).
 *
 * What was read passes stb_plan_verify(), and its hash must be the one that it states. Depth is bounded by jansson (2048) and, for values, by
 * json_read.c; the memory that a file can ask for is bounded by its size, but for the cells' coordinates, which are counted.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/buf.h"
#include "runtime/plan/json.h"
#include "runtime/plan/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_AXES = 1000 };

#define MAX_FILE_BYTES (1ll << 30)
#define MAX_COORDINATES 50000000ull

struct loader {
	struct stb_json_reader r;
	struct stb_plan *p;
	json_t *index; /* per matrix: {"axes": {name: i}, "values": [{key: i}, ...]} */
	uint64_t n_coordinates;
	uint32_t last_mix;   /* of the cell before that has one */
};

/* --- parts of a plan ----------------------------------------------------------------------------------------------------------------- */

static void load_suite(struct loader *l, struct stb_json_object *top)
{
	struct stb_json_object o = stb_json_enter(&l->r, stb_json_must_take(&l->r, top, "suite"));

	l->p->suite = stb_json_take_str_or_null(&l->r, &o, "name");
	l->p->title = stb_json_take_str_or_null(&l->r, &o, "title");
	l->p->description = stb_json_take_str_or_null(&l->r, &o, "description");
	l->p->source = stb_json_take_str_or_null(&l->r, &o, "source");
	l->p->licence = stb_json_take_str_or_null(&l->r, &o, "licence");
	stb_json_leave(&l->r, &o);
	l->p->profile = stb_json_take_str_or_null(&l->r, top, "profile");
	l->p->params = stb_json_take_texts(&l->r, top, "params", &l->p->n_params);
}

static struct stb_plan_attr *find_attr(struct stb_plan_block *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!strcmp(b->attrs[i].name, name))
			return &b->attrs[i];
	}
	return NULL;
}

enum mark { MARK_DEFAULT, MARK_ADDRESS, MARK_NO_ID };

static void mark_attrs(struct loader *l, struct stb_json_object *o, const char *key, struct stb_plan_block *b, enum mark mark)
{
	json_t *list = stb_json_take(o, key), *name;
	size_t i;

	if (list && !json_is_array(list))
		stb_json_fail(&l->r, "`%s` is not an array", key);
	json_array_foreach(list, i, name) {
		struct stb_plan_attr *a = json_is_string(name) ? find_attr(b, json_string_value(name)) : NULL;

		if (!a) {
			stb_json_fail(&l->r, "`%s` names no attribute", key);
			return;
		}
		if (mark == MARK_DEFAULT)
			a->is_default = true;
		else
			a->ident = mark == MARK_ADDRESS ? STB_ADDRESS : STB_NO_ID;
	}
}

static void load_block(struct loader *l, json_t *json, struct stb_plan_block *b)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	const char *name;
	json_t *attrs, *val;
	uint32_t i = 0;

	b->file = l->r.path;
	b->kind = stb_json_take_str(&l->r, &o, "kind");
	if (json_object_get(json, "not_run"))
		b->not_run = stb_json_take_str(&l->r, &o, "not_run");
	if (json_object_get(json, "not_run_attr"))
		b->not_run_attr = stb_json_take_str(&l->r, &o, "not_run_attr");
	if (json_object_get(json, "not_run_change"))
		b->not_run_change = stb_json_take_str(&l->r, &o, "not_run_change");
	b->type = stb_json_take_str(&l->r, &o, "type");
	b->name = stb_json_take_str(&l->r, &o, "name");
	b->label = stb_json_take_str_or_null(&l->r, &o, "label");
	b->note = stb_json_take_str_or_null(&l->r, &o, "note");
	b->span = STB_NONE;
	attrs = stb_json_must_take(&l->r, &o, "attrs");
	if (!json_is_object(attrs))
		stb_json_fail(&l->r, "`attrs` is not an object");
	b->n_attrs = (uint32_t)json_object_size(attrs);
	b->attrs = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_attr, b->n_attrs);
	json_object_foreach(attrs, name, val) {
		struct stb_plan_attr *a = &b->attrs[i++];

		a->name = stb_arena_strdup(&l->p->arena, name);
		a->val = stb_json_load_val(&l->r, val, 0);
		a->span = STB_NONE;
	}
	mark_attrs(l, &o, "default", b, MARK_DEFAULT);
	mark_attrs(l, &o, "address", b, MARK_ADDRESS);
	mark_attrs(l, &o, "no_id", b, MARK_NO_ID);
	stb_json_leave(&l->r, &o);
}

static void load_axis(struct loader *l, json_t *json, struct stb_plan_axis *x, json_t *index)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	json_t *values, *keys = json_object();

	x->name = stb_json_take_str(&l->r, &o, "name");
	x->label = stb_json_take_str(&l->r, &o, "label");
	x->kind = stb_json_take_str(&l->r, &o, "kind");
	x->described = stb_json_take_flag(&l->r, &o, "described");
	values = stb_json_take_array(&l->r, &o, "values", &x->n_values);
	x->values = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_axis_value, x->n_values);
	for (uint32_t i = 0; i < x->n_values; i++) {
		struct stb_json_object v = stb_json_enter(&l->r, json_array_get(values, i));

		x->values[i].key = stb_json_take_str(&l->r, &v, "key");
		x->values[i].label = stb_json_take_str(&l->r, &v, "label");
		stb_json_leave(&l->r, &v);
		json_object_set_new(keys, x->values[i].key, json_integer(i));
	}
	stb_json_leave(&l->r, &o);
	json_array_append_new(json_object_get(index, "values"), keys);
}

static void load_schedule(struct loader *l, struct stb_json_object *o, struct stb_plan_matrix *m)
{
	json_t *list;

	m->not_run_span = STB_NONE;
	if (json_object_get(o->json, "not_run"))
		m->not_run = stb_json_take_str(&l->r, o, "not_run");
	if (!json_object_get(o->json, "schedule_days"))
		return;
	m->schedule_days = stb_json_take_u32(&l->r, o, "schedule_days");
	list = stb_json_take_array(&l->r, o, "schedule_at", &m->n_schedule_at);
	m->schedule_at = STB_NEW_ARRAY(&l->p->arena, uint32_t, m->n_schedule_at);
	for (uint32_t i = 0; i < m->n_schedule_at; i++) {
		struct stb_val v = { 0 };

		if (!stb_json_load_clock(json_array_get(list, i), &v))
			stb_json_fail(&l->r, "`schedule_at` holds no time of day");
		m->schedule_at[i] = (uint32_t)v.num;
	}
}

/* Looks name up in an index object; false with the error set. */
static bool look_up(struct loader *l, json_t *index, const char *what, const char *name, uint32_t *out)
{
	json_t *i = name ? json_object_get(index, name) : NULL;

	if (!i)
		stb_json_fail(&l->r, "there is no %s `%s`", what, name ? name : "");
	*out = (uint32_t)json_integer_value(i);
	return i != NULL;
}

static bool find_axis(struct loader *l, uint32_t matrix, const char *name, uint32_t *out)
{
	return look_up(l, json_object_get(json_array_get(l->index, matrix), "axes"), "axis", name, out);
}

static bool find_value(struct loader *l, uint32_t matrix, uint32_t axis, json_t *key, uint32_t *out)
{
	json_t *values = json_object_get(json_array_get(l->index, matrix), "values");

	return look_up(l, json_array_get(values, axis), "axis value", json_string_value(key), out);
}

static void load_term(struct loader *l, json_t *json, uint32_t matrix, struct stb_selector_term *t)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	const char *axis = stb_json_take_str(&l->r, &o, "axis");
	json_t *values = stb_json_take_array(&l->r, &o, "values", &t->n_values);

	stb_json_leave(&l->r, &o);
	t->values = STB_NEW_ARRAY(&l->p->arena, uint32_t, t->n_values);
	if (l->r.failed || !find_axis(l, matrix, axis, &t->axis))
		return;
	for (uint32_t i = 0; i < t->n_values; i++) {
		json_t *key = json_array_get(values, i);

		if (json_is_null(key))
			t->values[i] = STB_NONE;
		else if (!find_value(l, matrix, t->axis, key, &t->values[i]))
			return;
	}
}

static void take_selector(struct loader *l, struct stb_json_object *o, const char *key, uint32_t matrix, struct stb_selector *s)
{
	json_t *terms = stb_json_take_array(&l->r, o, key, &s->n_terms);

	s->terms = STB_NEW_ARRAY(&l->p->arena, struct stb_selector_term, s->n_terms);
	for (uint32_t i = 0; i < s->n_terms && !l->r.failed; i++)
		load_term(l, json_array_get(terms, i), matrix, &s->terms[i]);
}

static void load_excludes(struct loader *l, struct stb_json_object *o, uint32_t matrix, struct stb_plan_matrix *m)
{
	json_t *list;

	if (!json_object_get(o->json, "excludes"))
		return;
	list = stb_json_take_array(&l->r, o, "excludes", &m->n_excludes);
	m->excludes = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_exclude, m->n_excludes);
	for (uint32_t i = 0; i < m->n_excludes && !l->r.failed; i++) {
		struct stb_json_object e = stb_json_enter(&l->r, json_array_get(list, i));

		take_selector(l, &e, "where", matrix, &m->excludes[i].where);
		m->excludes[i].reason = stb_json_take_str(&l->r, &e, "reason");
		stb_json_leave(&l->r, &e);
	}
}

static void load_matrix(struct loader *l, json_t *json, struct stb_plan_matrix *m)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	json_t *axes, *index = json_pack("{s{}s[]}", "axes", "values");

	m->name = stb_json_take_str(&l->r, &o, "name");
	m->label = stb_json_take_str_or_null(&l->r, &o, "label");
	m->note = stb_json_take_str_or_null(&l->r, &o, "note");
	m->span = STB_NONE;
	axes = stb_json_take_array(&l->r, &o, "axes", &m->n_axes);
	if (m->n_axes > MAX_AXES) {
		stb_json_fail(&l->r, "more than %d axes", MAX_AXES);
		m->n_axes = 0;
	}
	m->axes = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_axis, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		load_axis(l, json_array_get(axes, i), &m->axes[i], index);
		json_object_set_new(json_object_get(index, "axes"), m->axes[i].name, json_integer(i));
	}
	json_array_append_new(l->index, index);
	m->repeat = stb_json_take_u32(&l->r, &o, "repeat");
	STB_JSON_TAKE_ENUM(&l->r, &o, "order", stb_order_name, STB_ORDER_SHUFFLED + 1u, m->order);
	STB_JSON_TAKE_ENUM(&l->r, &o, "fresh", stb_fresh_name, STB_FRESH_REPETITION + 1u, m->fresh);
	m->seed = stb_json_take_u64(&l->r, &o, "seed");
	m->cooldown_ns = stb_json_take_u64(&l->r, &o, "cooldown_ns");
	m->interval_ns = stb_json_take_u64(&l->r, &o, "interval_ns");
	load_schedule(l, &o, m);
	load_excludes(l, &o, (uint32_t)(m - l->p->matrices), m);
	m->first_cell = stb_json_take_u32(&l->r, &o, "first_cell");
	m->n_cells = stb_json_take_u32(&l->r, &o, "n_cells");
	stb_json_leave(&l->r, &o);
}

/* A list of blocks[], which may be left out. */
static uint32_t *take_blocks(struct loader *l, struct stb_json_object *o, const char *key, uint32_t *n)
{
	json_t *list = json_object_get(o->json, key) ? stb_json_take_array(&l->r, o, key, n) : NULL;
	uint32_t *blocks = list ? STB_NEW_ARRAY(&l->p->arena, uint32_t, *n) : NULL;

	for (uint32_t i = 0; list && i < *n; i++) {
		json_t *v = json_array_get(list, i);
		const json_int_t index = json_integer_value(v);

		blocks[i] = (uint32_t)index;
		if (!json_is_integer(v) || index < 0 || index >= UINT32_MAX)
			stb_json_fail(&l->r, "`%s` holds what is no block", key);
	}
	return blocks;
}

static void load_group(struct loader *l, json_t *json, struct stb_plan_group *g)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	json_t *mounts;

	stb_json_take_hash(&l->r, &o, "id", g->id);
	g->server = stb_json_take_index(&l->r, &o, "server");
	g->database = stb_json_take_index(&l->r, &o, "database");
	g->dataset = stb_json_take_index(&l->r, &o, "dataset");
	mounts = stb_json_take_array(&l->r, &o, "mounts", &g->n_mounts);
	g->mounts = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_mount, g->n_mounts);
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		json_t *mount = json_array_get(mounts, i);
		struct stb_json_object m = stb_json_enter(&l->r, mount);

		g->mounts[i].role = stb_json_take_str(&l->r, &m, "role");
		g->mounts[i].volume = stb_json_take_u32(&l->r, &m, "volume");
		g->mounts[i].storage = stb_json_take_u32(&l->r, &m, "storage");
		if (json_object_get(mount, "space_bytes"))
			g->mounts[i].space_bytes = stb_json_take_u64(&l->r, &m, "space_bytes");
		stb_json_leave(&l->r, &m);
	}
	g->fills = take_blocks(l, &o, "fills", &g->n_fills);
	g->load_bytes = stb_json_take_u64(&l->r, &o, "load_bytes");
	g->space_bytes = stb_json_take_u64(&l->r, &o, "space_bytes");
	g->provision_ns = stb_json_take_u64(&l->r, &o, "provision_ns");
	if (json_object_get(json, "copy_bytes")) {
		g->copy_bytes = stb_json_take_u64(&l->r, &o, "copy_bytes");
		g->restore_ns = stb_json_take_u64(&l->r, &o, "restore_ns");
	}
	g->not_run = stb_json_take_str_or_null(&l->r, &o, "not_run");
	g->not_run_block = stb_json_take_index(&l->r, &o, "not_run_block");
	stb_json_leave(&l->r, &o);
}

/* The matrix that `matrix` names, or NULL with the error set. */
static const struct stb_plan_matrix *take_matrix(struct loader *l, struct stb_json_object *o, uint32_t *index)
{
	*index = stb_json_take_u32(&l->r, o, "matrix");
	if (*index < l->p->n_matrices)
		return &l->p->matrices[*index];
	stb_json_fail(&l->r, "`matrix` is not there");
	return NULL;
}

static void load_point(struct loader *l, struct stb_json_object *o, const struct stb_plan_matrix *m, struct stb_plan_cell *c)
{
	json_t *axes = stb_json_must_take(&l->r, o, "axes"), *key;
	const char *name;

	l->n_coordinates += m->n_axes;
	if (l->n_coordinates > MAX_COORDINATES)
		stb_json_fail(&l->r, "the cells have more than %llu coordinates", MAX_COORDINATES);
	if (l->r.failed)
		return;
	c->point = STB_NEW_ARRAY(&l->p->arena, uint32_t, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++)
		c->point[i] = STB_NONE;
	if (!json_is_object(axes))
		stb_json_fail(&l->r, "`axes` is not an object");
	json_object_foreach(axes, name, key) {
		uint32_t axis;

		if (!find_axis(l, c->matrix, name, &axis) || !find_value(l, c->matrix, axis, key, &c->point[axis]))
			return;
	}
}

static void take_mix(struct loader *l, struct stb_json_object *o, struct stb_plan_cell *c)
{
	struct stb_plan_mix mix = { 0 };
	const uint32_t *members = take_blocks(l, o, "members", &mix.n);

	if (mix.n > STB_MAX_MEMBERS)
		stb_json_fail(&l->r, "`members` are more than %d", STB_MAX_MEMBERS);
	else if (mix.n)
		memcpy(mix.members, members, mix.n * sizeof(*members));
	if (mix.n && mix.n <= STB_MAX_MEMBERS)
		c->mix = l->last_mix && !memcmp(&l->p->mixes[l->last_mix - 1], &mix, sizeof(mix)) ? l->last_mix : stb_plan_add_mix(l->p, &mix);
	l->last_mix = c->mix ? c->mix : l->last_mix;
}

static void load_cell(struct loader *l, json_t *json, uint32_t index, struct stb_plan_cell *c)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	const struct stb_plan_matrix *m;
	json_t *bytes;

	stb_json_take_hash(&l->r, &o, "id", c->id);
	m = take_matrix(l, &o, &c->matrix);
	if (!m)
		return;
	load_point(l, &o, m, c);
	c->workload = stb_json_take_u32(&l->r, &o, "workload");
	take_mix(l, &o, c);
	c->server = stb_json_take_index(&l->r, &o, "server");
	c->client = stb_json_take_index(&l->r, &o, "client");
	c->pin = stb_json_take_index(&l->r, &o, "pin");
	c->client_pin = stb_json_take_index(&l->r, &o, "client_pin");
	c->group = stb_json_take_u32(&l->r, &o, "group");
	c->same_as = json_object_get(o.json, "same_as") ? stb_json_take_u32(&l->r, &o, "same_as") : index;
	c->measure_ns = stb_json_take_u64(&l->r, &o, "measure_ns");
	bytes = stb_json_must_take(&l->r, &o, "write_bytes");
	if (json_is_string(bytes) && !strcmp(json_string_value(bytes), "unbounded"))
		c->write_bytes = STB_UNBOUNDED;
	else
		c->write_bytes = stb_json_u64_of(&l->r, bytes, "write_bytes");
	stb_json_leave(&l->r, &o);
}

static bool take_baseline(struct loader *l, struct stb_json_object *o, uint32_t matrix, struct stb_selector *s)
{
	if (!json_object_get(o->json, "baseline"))
		return false;
	take_selector(l, o, "baseline", matrix, s);
	return true;
}

static uint32_t take_axis(struct loader *l, struct stb_json_object *o, const char *key, uint32_t matrix)
{
	uint32_t axis = STB_NONE;

	if (json_object_get(o->json, key))
		find_axis(l, matrix, stb_json_take_str(&l->r, o, key), &axis);
	return axis;
}

static void take_views(struct loader *l, struct stb_json_object *o, struct stb_plan_report *r)
{
	const char **names = stb_json_take_texts(&l->r, o, "show", &r->n_views);

	r->views = STB_NEW_ARRAY(&l->p->arena, enum stb_view, r->n_views);
	for (uint32_t i = 0; i < r->n_views; i++) {
		unsigned v = 0;

		while (v <= STB_VIEW_N && strcmp(names[i], stb_view_name(v)))
			v++;
		if (v > STB_VIEW_N) {
			stb_json_fail(&l->r, "there is no view `%s`", names[i]);
			return;
		}
		r->views[i] = v;
	}
}

static void load_report(struct loader *l, json_t *json, struct stb_plan_report *r)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	const char **fold;

	r->name = stb_json_take_str(&l->r, &o, "name");
	r->label = stb_json_take_str_or_null(&l->r, &o, "label");
	r->note = stb_json_take_str_or_null(&l->r, &o, "note");
	r->span = STB_NONE;
	if (!take_matrix(l, &o, &r->matrix))
		return;
	take_selector(l, &o, "where", r->matrix, &r->where);
	r->has_baseline = take_baseline(l, &o, r->matrix, &r->baseline);
	r->split = take_axis(l, &o, "split", r->matrix);
	r->rows = take_axis(l, &o, "rows", r->matrix);
	r->columns = take_axis(l, &o, "columns", r->matrix);
	fold = stb_json_take_texts(&l->r, &o, "fold", &r->n_fold);
	r->fold = STB_NEW_ARRAY(&l->p->arena, uint32_t, r->n_fold);
	for (uint32_t i = 0; i < r->n_fold; i++)
		find_axis(l, r->matrix, fold[i], &r->fold[i]);
	r->metrics = stb_json_take_texts(&l->r, &o, "metrics", &r->n_metrics);
	take_views(l, &o, r);
	STB_JSON_TAKE_ENUM(&l->r, &o, "aggregate", stb_aggregate_name, STB_AGG_MEDIAN + 1u, r->aggregate);
	r->geomean = stb_json_take_flag(&l->r, &o, "geomean");
	if (json_object_get(json, "chart"))
		r->chart = stb_json_take_str(&l->r, &o, "chart");
	r->units = stb_json_take_val(&l->r, &o, "units");
	r->decimals = stb_json_take_val(&l->r, &o, "decimals");
	r->headings = stb_json_take_val(&l->r, &o, "headings");
	stb_json_leave(&l->r, &o);
}

static void load_claim(struct loader *l, json_t *json, struct stb_plan_claim *c)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);

	c->name = stb_json_take_str(&l->r, &o, "name");
	c->label = stb_json_take_str_or_null(&l->r, &o, "label");
	c->note = stb_json_take_str_or_null(&l->r, &o, "note");
	c->span = STB_NONE;
	if (!take_matrix(l, &o, &c->matrix))
		return;
	c->metric = stb_json_take_str(&l->r, &o, "metric");
	take_selector(l, &o, "where", c->matrix, &c->where);
	c->has_baseline = take_baseline(l, &o, c->matrix, &c->baseline);
	STB_JSON_TAKE_ENUM(&l->r, &o, "form", stb_view_name, STB_VIEW_N + 1u, c->form);
	c->expect = stb_json_take_val(&l->r, &o, "expect");
	c->digits = stb_json_take_u32(&l->r, &o, "digits");
	c->unit = stb_json_take_str_or_null(&l->r, &o, "unit");
	STB_JSON_TAKE_ENUM(&l->r, &o, "aggregate", stb_aggregate_name, STB_AGG_MEDIAN + 1u, c->aggregate);
	if (json_object_get(json, "confidence"))
		c->confidence = stb_json_take_val(&l->r, &o, "confidence");
	c->asserted = stb_json_take_flag(&l->r, &o, "asserted");
	stb_json_leave(&l->r, &o);
}

/* --- where things were written ------------------------------------------------------------------------------------------------------- */

/* Where the place of "blocks[3].bs" is kept, and the attribute it belongs to; NULL with the error set. */
static uint32_t *find_owner(struct loader *l, const char *owner, struct stb_plan_attr **attr)
{
	struct stb_plan *p = l->p;
	const size_t list_len = strcspn(owner, "[");
	unsigned long long index;
	char *rest;

	*attr = NULL;
	if (owner[list_len] != '[' || owner[list_len + 1] < '0' || owner[list_len + 1] > '9')
		goto unknown;
	errno = 0;
	index = strtoull(owner + list_len + 1, &rest, 10);
	if (errno || *rest != ']')
		goto unknown;
	rest++;
	if (!strncmp(owner, "blocks[", list_len + 1) && index < p->n_blocks) {
		if (!*rest)
			return &p->blocks[index].span;
		*attr = *rest == '.' ? find_attr(&p->blocks[index], rest + 1) : NULL;
		if (*attr)
			return &(*attr)->span;
	}
	if (!strncmp(owner, "matrices[", list_len + 1) && index < p->n_matrices && !*rest)
		return &p->matrices[index].span;
	if (!strncmp(owner, "reports[", list_len + 1) && index < p->n_reports && !*rest)
		return &p->reports[index].span;
	if (!strncmp(owner, "claims[", list_len + 1) && index < p->n_claims && !*rest)
		return &p->claims[index].span;
unknown:
	stb_json_fail(&l->r, "there is no `%s`", owner);
	return NULL;
}

static void load_place(struct loader *l, json_t *json, struct stb_plan_span *s)
{
	struct stb_json_object o = stb_json_enter(&l->r, json);
	struct stb_plan_attr *attr;
	uint32_t *span = find_owner(l, stb_json_take_str(&l->r, &o, "owner"), &attr);

	if (!span)
		return;
	if (json_object_get(json, "origin")) {
		enum stb_origin origin = STB_FROM_DEFAULT;

		STB_JSON_TAKE_ENUM(&l->r, &o, "origin", stb_origin_name, STB_FROM_PARAM + 1u, origin);
		if (!attr)
			stb_json_fail(&l->r, "only attributes have an origin");
		else
			attr->origin = origin;
	}
	if (json_object_get(json, "file")) {
		*span = (uint32_t)(s - l->p->spans);
		s->file = stb_json_take_u32(&l->r, &o, "file");
		s->line = stb_json_take_u32(&l->r, &o, "line");
		s->column = stb_json_take_u32(&l->r, &o, "column");
		s->width = stb_json_take_u32(&l->r, &o, "width");
	}
	stb_json_leave(&l->r, &o);
}

static void load_source(struct loader *l, struct stb_json_object *top)
{
	struct stb_json_object o = stb_json_enter(&l->r, stb_json_must_take(&l->r, top, "source"));
	char spec[STB_HASH_HEX] = "", computed[STB_HASH_HEX];
	json_t *files, *spans;

	stb_json_take_hash(&l->r, &o, "spec", spec);
	files = stb_json_take_array(&l->r, &o, "files", &l->p->n_files);
	l->p->files = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_file, l->p->n_files);
	for (uint32_t i = 0; i < l->p->n_files && !l->r.failed; i++) {
		struct stb_json_object f = stb_json_enter(&l->r, json_array_get(files, i));

		l->p->files[i].name = stb_json_take_str(&l->r, &f, "name");
		stb_json_take_hash(&l->r, &f, "sha256", l->p->files[i].sha256);
		stb_json_leave(&l->r, &f);
	}
	if (l->r.failed)
		return;
	stb_plan_spec_hash(l->p, computed);
	if (strcmp(spec, computed))
		stb_json_fail(&l->r, "`source.spec` is not the hash of its files");
	spans = stb_json_take_array(&l->r, &o, "spans", &l->p->n_spans);
	l->p->spans = STB_NEW_ARRAY(&l->p->arena, struct stb_plan_span, l->p->n_spans);
	for (uint32_t i = 0; i < l->p->n_spans && !l->r.failed; i++) {
		stb_json_at(&l->r, "source.spans", i);
		load_place(l, json_array_get(spans, i), &l->p->spans[i]);
	}
	stb_json_leave(&l->r, &o);
}

/* --- the whole ----------------------------------------------------------------------------------------------------------------------- */

/* Reads the array `key` of the top object into items, one by one. */
#define LOAD_ARRAY(l, top, key, type, items, n, load_one)                                                    \
	do {                                                                                                 \
		json_t *list_ = stb_json_take_array(&(l)->r, (top), (key), &(n));                            \
		(items) = STB_NEW_ARRAY(&(l)->p->arena, type, (n));                                          \
		for (uint32_t i = 0; i < (n) && !(l)->r.failed; i++) {                                       \
			stb_json_at(&(l)->r, (key), i);                                                      \
			load_one;                                                                            \
		}                                                                                            \
		(l)->r.where[0] = '\0';                                                                      \
	} while (0)

static void load_top(struct loader *l, json_t *root)
{
	struct stb_json_object top = stb_json_enter(&l->r, root);
	struct stb_plan *p = l->p;

	if (stb_json_take_u64(&l->r, &top, "stb_plan") != STB_PLAN_FORM)
		stb_json_fail(&l->r, "`stb_plan` is not %d: it was made by another version", STB_PLAN_FORM);
	load_suite(l, &top);
	LOAD_ARRAY(l, &top, "blocks", struct stb_plan_block, p->blocks, p->n_blocks,
		load_block(l, json_array_get(list_, i), &p->blocks[i]));
	LOAD_ARRAY(l, &top, "matrices", struct stb_plan_matrix, p->matrices, p->n_matrices,
		load_matrix(l, json_array_get(list_, i), &p->matrices[i]));
	LOAD_ARRAY(l, &top, "groups", struct stb_plan_group, p->groups, p->n_groups,
		load_group(l, json_array_get(list_, i), &p->groups[i]));
	LOAD_ARRAY(l, &top, "cells", struct stb_plan_cell, p->cells, p->n_cells,
		load_cell(l, json_array_get(list_, i), i, &p->cells[i]));
	LOAD_ARRAY(l, &top, "reports", struct stb_plan_report, p->reports, p->n_reports,
		load_report(l, json_array_get(list_, i), &p->reports[i]));
	LOAD_ARRAY(l, &top, "claims", struct stb_plan_claim, p->claims, p->n_claims,
		load_claim(l, json_array_get(list_, i), &p->claims[i]));
	p->privileges = stb_json_take_texts(&l->r, &top, "privileges", &p->n_privileges);
	p->devices = stb_json_take_texts(&l->r, &top, "devices", &p->n_devices);
	p->secrets = stb_json_take_texts(&l->r, &top, "secrets", &p->n_secrets);
	p->notes = stb_json_take_texts(&l->r, &top, "notes", &p->n_notes);
	stb_json_take_hash(&l->r, &top, "hash", p->hash);
	if (!l->r.failed)
		load_source(l, &top);
	stb_json_leave(&l->r, &top);
}

int stb_plan_parse_bytes(struct stb_plan **out, const char *path, const char *bytes, size_t len, struct stb_err *err)
{
	struct loader l = { .p = stb_plan_new() };
	json_error_t where;
	json_t *root;

	l.r = (struct stb_json_reader){ .arena = &l.p->arena, .err = err, .path = stb_arena_strdup(&l.p->arena, path) };
	l.index = json_array();
	root = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		stb_json_fail(&l.r, "line %d, column %d: %s", where.line, where.column, where.text);
	else
		load_top(&l, root);
	if (!l.r.failed && stb_plan_verify(l.p, err)) {
		stb_err_wrap(err, "cannot load plan `%s`", path);
		l.r.failed = true;
	}
	json_decref(root);
	json_decref(l.index);
	if (l.r.failed) {
		stb_plan_free(l.p);
		l.p = NULL;
	}
	*out = l.p;
	return l.p ? 0 : -1;
}

int stb_plan_load_bytes(struct stb_plan **out, const char *path, const char *bytes, size_t len, struct stb_err *err)
{
	char stated[STB_HASH_HEX];

	if (stb_plan_parse_bytes(out, path, bytes, len, err))
		return -1;
	memcpy(stated, (*out)->hash, sizeof(stated));
	stb_plan_seal(*out);
	if (!strcmp(stated, (*out)->hash))
		return 0;
	stb_err_set(err, 0, "cannot load plan `%s`: it was changed after it was made: its hash is %.16s, not %.16s", path, (*out)->hash,
		stated);
	stb_err_remedy(err, "make the plan again from its spec with `stb plan --format json`");
	stb_plan_free(*out);
	*out = NULL;
	return -1;
}

/* The bytes of a regular file, malloced; NULL with *err. */
static char *read_file(const char *path, size_t *len, struct stb_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0) {
		stb_err_set(err, errno, "cannot open plan `%s`", path);
		stb_err_remedy(err, "give the plan.json of a run directory, or the output of `stb plan --format json`");
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE_BYTES) {
		stb_err_set(err, 0, "cannot read plan `%s`: it is not a regular file of at most 1GiB", path);
		stb_err_remedy(err, "give the plan.json of a run directory, or the output of `stb plan --format json`");
		goto out;
	}
	bytes = stb_xmalloc((size_t)st.st_size + 1);
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n) {
		n = read(fd, bytes + *len, (size_t)st.st_size - *len);
		if (n > 0 || (n < 0 && errno == EINTR)) {
			n = n < 0 ? 0 : n;
			continue;
		}
		if (!n)
			break;
		stb_err_set(err, errno, "cannot read plan `%s`", path);
		free(bytes);
		bytes = NULL;
		goto out;
	}
out:
	close(fd);
	return bytes;
}

int stb_plan_load(struct stb_plan **out, const char *path, struct stb_err *err)
{
	size_t len = 0;
	char *bytes = read_file(path, &len, err);
	int rc;

	*out = NULL;
	if (!bytes)
		return -1;
	rc = stb_plan_load_bytes(out, path, bytes, len, err);
	free(bytes);
	return rc;
}
