/*
 * plan_fixture.c - plans made by hand for tests.
 */
#include "tests/unit/plan_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stb_plan_attr attr(const char *name, struct stb_val v, bool is_default, enum stb_ident ident)
{
	return (struct stb_plan_attr){
		.name = name, .val = v, .ident = ident, .is_default = is_default, .span = STB_NONE,
		.origin = is_default ? STB_FROM_DEFAULT : STB_FROM_LINE };
}

static void set_attrs(struct stb_plan *p, struct stb_plan_block *b, const struct stb_plan_attr *attrs, uint32_t n)
{
	b->attrs = STB_NEW_ARRAY(&p->arena, struct stb_plan_attr, n);
	memcpy(b->attrs, attrs, n * sizeof(*attrs));
	b->n_attrs = n;
}

static struct stb_plan_block block(const char *kind, const char *type, const char *name)
{
	return (struct stb_plan_block){ .kind = kind, .type = type, .name = name, .span = STB_NONE };
}

enum { STORAGE, VOLUME, WORKLOAD, DATABASE, DATASET, SERVER, N_BLOCKS };

static void make_blocks(struct stb_plan *p, enum stb_server_kind server)
{
	const struct stb_plan_attr workload[] = {
		attr("size", stb_val_num(STB_V_BYTES, 64 << 20, 1), false, STB_ID),
		attr("numjobs", stb_val_num(STB_V_COUNT, 4, 1), false, STB_ID),
		attr("shared_file", stb_val_bool(false), true, STB_ID),
	};
	const struct stb_plan_attr dataset[] = { attr("dataset", stb_val_str(STB_V_WORD, "create"), true, STB_ID) };

	p->n_blocks = N_BLOCKS;
	p->blocks = STB_NEW_ARRAY(&p->arena, struct stb_plan_block, p->n_blocks);
	p->blocks[STORAGE] = block("storage", "directory", "disk");
	p->blocks[VOLUME] = block("volume", "", "data");
	p->blocks[WORKLOAD] = block("workload", server == STB_TEST_NO_SERVER ? "io" : "oltp", "work");
	p->blocks[DATABASE] = block("database", server == STB_TEST_EXTERNAL ? "external" : "mysql", "db");
	p->blocks[DATASET] = block("dataset", "", "set");
	p->blocks[SERVER] = block("server", "external", "small");
	set_attrs(p, &p->blocks[WORKLOAD], workload, STB_LEN(workload));
	set_attrs(p, &p->blocks[DATASET], dataset, STB_LEN(dataset));
}

static void make_groups(struct stb_plan *p, enum stb_server_kind server, uint32_t n)
{
	p->n_groups = n;
	p->groups = STB_NEW_ARRAY(&p->arena, struct stb_plan_group, n);
	for (uint32_t i = 0; i < n; i++) {
		struct stb_plan_group *g = &p->groups[i];
		char name[32];

		snprintf(name, sizeof(name), "group %u", i);
		stb_hash_hex(name, strlen(name), g->id);
		g->server = STB_NONE;
		g->database = server == STB_TEST_NO_SERVER ? STB_NONE : DATABASE;
		g->dataset = server == STB_TEST_NO_SERVER ? STB_NONE : DATASET;
		g->n_mounts = server == STB_TEST_EXTERNAL ? 0 : 1;
		g->mounts = STB_NEW_ARRAY(&p->arena, struct stb_plan_mount, 1);
		g->mounts[0] = (struct stb_plan_mount){ .role = "data", .volume = VOLUME, .storage = STORAGE };
		g->load_bytes = 1000000;
		g->space_bytes = 5000000;
		g->provision_ns = 2000000000;
	}
}

static void make_axes(struct stb_plan *p, struct stb_plan_matrix *m)
{
	m->n_axes = 2;
	m->axes = STB_NEW_ARRAY(&p->arena, struct stb_plan_axis, 2);
	for (uint32_t a = 0; a < 2; a++) {
		struct stb_plan_axis *x = &m->axes[a];

		x->name = x->label = a ? "other" : "cell";
		x->kind = "";
		x->n_values = a ? 2 : m->n_cells;
		x->values = STB_NEW_ARRAY(&p->arena, struct stb_plan_axis_value, x->n_values);
		for (uint32_t i = 0; i < x->n_values; i++)
			x->values[i].key = x->values[i].label = stb_arena_printf(&p->arena, "v%u", i);
	}
}

static void make_matrix(struct stb_plan *p, uint32_t index, const struct stb_matrix_shape *s, uint32_t first_cell)
{
	static const uint32_t at[] = { 180, 540, 900, 1260 };
	struct stb_plan_matrix *m = &p->matrices[index];

	m->name = stb_arena_printf(&p->arena, "m%u", index);
	m->repeat = s->repeat;
	m->order = s->order;
	m->fresh = s->fresh;
	m->seed = 1;
	m->cooldown_ns = s->cooldown_ns;
	m->interval_ns = 1000000000;
	m->schedule_days = s->days;
	m->n_schedule_at = s->days ? s->n_at : 0;
	m->schedule_at = STB_NEW_ARRAY(&p->arena, uint32_t, 4);
	memcpy(m->schedule_at, at, sizeof(at));
	m->first_cell = first_cell;
	m->n_cells = s->cells;
	m->span = STB_NONE;
	make_axes(p, m);
	for (uint32_t i = 0; i < s->cells; i++) {
		struct stb_plan_cell *c = &p->cells[first_cell + i];
		char name[32];

		snprintf(name, sizeof(name), "cell %u", first_cell + i);
		stb_hash_hex(name, strlen(name), c->id);
		c->matrix = index;
		c->point = STB_NEW_ARRAY(&p->arena, uint32_t, 2);
		c->point[0] = i;
		c->point[1] = i % 3 == 2 ? STB_NONE : i % 3;
		c->workload = WORKLOAD;
		c->server = c->client = c->pin = c->client_pin = STB_NONE;
		c->group = i % s->groups;
		c->same_as = first_cell + i;
		c->measure_ns = 10000000000;
		c->write_bytes = 4096;
	}
}

struct stb_plan *stb_test_plan(enum stb_server_kind server, const struct stb_matrix_shape *shapes, uint32_t n)
{
	struct stb_plan *p = stb_plan_new();
	uint32_t groups = 0, cells = 0;

	for (uint32_t i = 0; i < n; i++) {
		groups = STB_MAX(groups, shapes[i].groups);
		cells += shapes[i].cells;
	}
	make_blocks(p, server);
	make_groups(p, server, groups);
	p->n_matrices = n;
	p->matrices = STB_NEW_ARRAY(&p->arena, struct stb_plan_matrix, n);
	p->n_cells = cells;
	p->cells = STB_NEW_ARRAY(&p->arena, struct stb_plan_cell, cells);
	cells = 0;
	for (uint32_t i = 0; i < n; i++) {
		make_matrix(p, i, &shapes[i], cells);
		cells += shapes[i].cells;
	}
	stb_plan_seal(p);
	return p;
}

static struct stb_val list_of(struct stb_plan *p, enum stb_vtype type, struct stb_val a, struct stb_val b)
{
	struct stb_val v = { .type = type, .n_items = 2, .items = STB_NEW_ARRAY(&p->arena, struct stb_val, 2) };

	v.items[0] = a;
	v.items[1] = b;
	return v;
}

static struct stb_val map_of(struct stb_plan *p, const char *key, struct stb_val item)
{
	struct stb_val v = { .type = STB_V_MAP, .n_items = 1, .items = STB_NEW_ARRAY(&p->arena, struct stb_val, 1),
		.keys = STB_NEW_ARRAY(&p->arena, const char *, 1) };

	v.keys[0] = key;
	v.items[0] = item;
	return v;
}

static struct stb_selector select_one(struct stb_plan *p, uint32_t axis, uint32_t value)
{
	struct stb_selector s = { .n_terms = 1, .terms = STB_NEW_ARRAY(&p->arena, struct stb_selector_term, 1) };

	s.terms[0] = (struct stb_selector_term){ .axis = axis, .n_values = 2, .values = STB_NEW_ARRAY(&p->arena, uint32_t, 2) };
	s.terms[0].values[0] = value;
	s.terms[0].values[1] = STB_NONE;
	return s;
}

static void every_value_type(struct stb_plan *p, struct stb_plan_block *b)
{
	const struct stb_val none = { .type = STB_V_NONE };
	const struct stb_plan_attr attrs[] = {
		attr("none", none, false, STB_ID),
		attr("bool", stb_val_bool(true), false, STB_ID),
		attr("count", stb_val_num(STB_V_COUNT, -16, 1), false, STB_ID),
		attr("half", stb_val_num(STB_V_COUNT, 5, 2), false, STB_ID),
		attr("largest", stb_val_num(STB_V_COUNT, INT64_MAX, 1), false, STB_ID),
		attr("bytes", stb_val_num(STB_V_BYTES, 4096, 1), true, STB_ID),
		attr("third", stb_val_num(STB_V_BYTES, 1, 3), false, STB_ID),
		attr("time", stb_val_num(STB_V_TIME, 5000000000, 1), false, STB_ID),
		attr("share", stb_val_num(STB_V_SHARE, 7, 10), false, STB_ID),
		attr("share3", stb_val_num(STB_V_SHARE, 1, 3), false, STB_ID),
		attr("share_fine", stb_val_num(STB_V_SHARE, 1, INT64_MAX), false, STB_ID),
		attr("share_huge", stb_val_num(STB_V_SHARE, INT64_MAX, 2), false, STB_ID),
		attr("rate", stb_val_num(STB_V_RATE, 1000, 1), false, STB_ID),
		attr("byte_rate", stb_val_num(STB_V_BYTE_RATE, 1, 7), false, STB_ID),
		attr("clock", stb_val_num(STB_V_CLOCK, 183, 1), false, STB_ID),
		attr("string", stb_val_str(STB_V_STRING, "\"q\" \\ \n\t\x01 標準"), false, STB_NO_ID),
		attr("word", stb_val_str(STB_V_WORD, "psync"), true, STB_ID),
		attr("ref", stb_val_str(STB_V_REF, "data"), false, STB_ID),
		attr("secret", stb_val_str(STB_V_SECRET, "env:DB_PASSWORD"), false, STB_ADDRESS),
		attr("list", list_of(p, STB_V_LIST, stb_val_num(STB_V_COUNT, 1213, 1), stb_val_str(STB_V_STRING, "x")), false, STB_ID),
		attr("empty", (struct stb_val){ .type = STB_V_LIST }, false, STB_ID),
		attr("range", list_of(p, STB_V_RANGE, stb_val_num(STB_V_SHARE, 97, 100), none), false, STB_ID),
		attr("map", map_of(p, "k", stb_val_num(STB_V_TIME, 1, 1)), false, STB_ID),
		attr("options.max_connections", stb_val_str(STB_V_STRING, "100"), false, STB_ID),
	};

	set_attrs(p, b, attrs, STB_LEN(attrs));
	b->attrs[1].span = 1;
	b->attrs[2].span = 2;
	b->attrs[2].origin = STB_FROM_PROFILE;
	b->attrs[3].origin = STB_FROM_PARAM;
}

static void add_report(struct stb_plan *p)
{
	static const char *metrics[] = { "iops", "read.lat_p999" };
	static enum stb_view views[] = { STB_VIEW_VALUE, STB_VIEW_PERCENT };
	static uint32_t fold[] = { 1 };

	p->n_reports = 1;
	p->reports = STB_NEW(&p->arena, struct stb_plan_report);
	*p->reports = (struct stb_plan_report){ .name = "speed", .label = "速さ", .matrix = 0, .where = select_one(p, 1, 0),
		.baseline = select_one(p, 0, 1), .has_baseline = true, .split = STB_NONE, .rows = 0, .columns = STB_NONE, .fold = fold,
		.n_fold = 1, .metrics = metrics, .n_metrics = 2, .views = views, .n_views = 2, .aggregate = STB_AGG_MEDIAN,
		.geomean = true, .chart = "bar", .units = map_of(p, "iops", stb_val_str(STB_V_STRING, "1/s")),
		.decimals = map_of(p, "iops", stb_val_num(STB_V_COUNT, 2, 1)), .span = STB_NONE };
	p->n_claims = 1;
	p->claims = STB_NEW(&p->arena, struct stb_plan_claim);
	*p->claims = (struct stb_plan_claim){ .name = "fast", .note = "seen twice", .matrix = 1, .metric = "iops",
		.where = select_one(p, 0, 0), .form = STB_VIEW_VALUE, .digits = 2, .unit = "%", .confidence = stb_val_num(STB_V_SHARE, 19, 20),
		.asserted = true, .span = 0,
		.expect = list_of(p, STB_V_RANGE, (struct stb_val){ .type = STB_V_NONE }, stb_val_num(STB_V_SHARE, 11, 10)) };
}

static void add_exclude(struct stb_plan *p, struct stb_plan_matrix *m)
{
	struct stb_selector_term *t = STB_NEW(&p->arena, struct stb_selector_term);

	t->axis = 0;
	t->n_values = 2;
	t->values = STB_NEW_ARRAY(&p->arena, uint32_t, 2);
	t->values[0] = 1;
	t->values[1] = STB_NONE;
	m->n_excludes = 1;
	m->excludes = STB_NEW(&p->arena, struct stb_plan_exclude);
	m->excludes[0] = (struct stb_plan_exclude){ .where = { t, 1 }, .reason = "not measured" };
}

struct stb_plan *stb_test_rich_plan(void)
{
	static const struct stb_matrix_shape shapes[] = {
		{ .groups = 2, .cells = 4, .repeat = 2, .order = STB_ORDER_BALANCED, .fresh = STB_FRESH_GROUP, .cooldown_ns = 30000000000 },
		{ .groups = 1, .cells = 2, .repeat = 1, .order = STB_ORDER_SHUFFLED, .fresh = STB_FRESH_GROUP, .days = 2, .n_at = 3 },
	};
	static const char *params[] = { "jobs=4" }, *secrets[] = { "env:DB_PASSWORD" }, *notes[] = { "first note", "第二" };
	static const char *privileges[] = { "root: mounts ext4 on a loop device (storage fast)" };
	struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, shapes, STB_LEN(shapes));

	p->suite = "demo";
	p->title = "速い or 遅い";
	p->source = "https://example.org/";
	p->profile = "laptop";
	p->params = params;
	p->n_params = 1;
	p->privileges = privileges;
	p->n_privileges = 1;
	p->secrets = secrets;
	p->n_secrets = 1;
	p->notes = notes;
	p->n_notes = 2;
	every_value_type(p, &p->blocks[DATABASE]);
	p->blocks[WORKLOAD].type = "io";
	p->blocks[STORAGE].label = "磁気ディスク";
	p->blocks[STORAGE].span = 0;
	p->matrices[0].label = "行列";
	p->matrices[0].seed = UINT64_MAX;
	p->matrices[0].axes[0].values[0].label = "標準";
	p->matrices[0].axes[0].described = true;
	p->matrices[1].span = 2;
	add_exclude(p, &p->matrices[1]);
	p->groups[1].not_run = "storage external disk is described, not provisioned";
	p->cells[1].write_bytes = STB_UNBOUNDED;
	p->cells[2].server = p->cells[2].client = SERVER;
	memcpy(p->cells[4].id, p->cells[0].id, STB_HASH_HEX); /* equal cells of two matrices */
	p->cells[4].same_as = 0;
	p->n_files = 2;
	p->files = STB_NEW_ARRAY(&p->arena, struct stb_plan_file, 2);
	p->files[0].name = "specs/x.stb";
	p->files[1].name = "specs/common.stb";
	stb_hash_hex("a", 1, p->files[0].sha256);
	stb_hash_hex("b", 1, p->files[1].sha256);
	p->n_spans = 3;
	p->spans = STB_NEW_ARRAY(&p->arena, struct stb_plan_span, 3);
	p->spans[0] = (struct stb_plan_span){ .file = 0, .line = 3, .column = 1, .width = 24 };
	p->spans[1] = (struct stb_plan_span){ .file = 1, .line = 4, .column = 3, .width = 4 };
	p->spans[2] = (struct stb_plan_span){ .file = 0, .line = 9, .column = 3, .width = 6 };
	add_report(p);
	stb_plan_seal(p);
	return p;
}

static char *capture(const struct stb_plan *p, void (*print)(const struct stb_plan *, FILE *))
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	print(p, f);
	fclose(f);
	return text;
}

char *stb_test_json(const struct stb_plan *p)
{
	return capture(p, stb_plan_print_json);
}

char *stb_test_text(const struct stb_plan *p)
{
	return capture(p, stb_plan_print_text);
}
