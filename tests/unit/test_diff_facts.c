/*
 * test_diff_facts.c - nothing that a plan says can change without a line of `stb diff`: every value of a plan's JSON is changed, one at a time.
 * A field that is new in the plan fails here until the comparison knows it.
 */
#include "compiler/compile.h"
#include "compiler/diff.h"
#include "runtime/base/buf.h"
#include "runtime/plan/json.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Names of what follows from the rest of a plan: hashes, costs (which have lines of their own), indices, what this version cannot run. */
static bool follows(const char *key)
{
	static const char *const derived[] = {
		"id", "same_as", "default", "described", "not_run", "not_run_attr", "not_run_change", "not_run_block", "notes", "mounts", "load_bytes", "space_bytes",
		"provision_ns", "measure_ns", "write_bytes", "workload", "server", "client", "group", "dataset", "database", "privileges",
		"address", "fills",
	};

	for (size_t i = 0; i < STB_LEN(derived); i++)
		if (!strcmp(key, derived[i]))
			return true;
	return false;
}

/* A data set is what an oltp workload says of it; an axis by kind is called after its blocks. */
static bool repeats(const json_t *item)
{
	const char *kind = json_string_value(json_object_get(item, "kind"));

	return kind && !strcmp(kind, "dataset");
}

static bool named_by_blocks(const json_t *axis, const char *key)
{
	return json_object_get(axis, "kind") && json_object_get(axis, "values") && (!strcmp(key, "kind") || !strcmp(key, "values"));
}

struct tour {
	const struct stb_plan *before;
	json_t *root;
	uint32_t n_changed, n_silent;
	struct stb_buf silent;
	char seen[4096][96]; /* kinds of places that were changed already */
	uint32_t n_seen;
};

/* "cells[].id" once is enough: places of one kind differ in the number only. */
static bool first_of_kind(struct tour *t, const char *path)
{
	char kind[96];
	size_t n = 0;

	for (; *path && n < sizeof(kind) - 1; path++)
		if (*path < '0' || *path > '9')
			kind[n++] = *path;
	kind[n] = 0;
	for (uint32_t i = 0; i < t->n_seen; i++)
		if (!strcmp(t->seen[i], kind))
			return false;
	if (t->n_seen < STB_LEN(t->seen))
		memcpy(t->seen[t->n_seen++], kind, sizeof(kind));
	return true;
}

static const char *path_end(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot : path;
}

/*
 * By a line that says what: that the plan is another one is the last resort, and good enough only for what no compiler makes, one variant of
 * a block with a name or a reference of its own.
 */
static bool told(const struct stb_diff *d, const char *path)
{
	const char *end = path_end(path);

	if (d->n_lines == 1 && d->lines[0].attribute && !strcmp(d->lines[0].attribute, "hash"))
		return !strcmp(end, ".name") || !strcmp(end, ".ref");
	return d->n_lines > 0;
}

/* Whether the changed document is a plan, and then whether the change is told. */
static void judge(struct tour *t, const char *path)
{
	struct stb_plan *after = NULL;
	struct stb_err err = { 0 };
	char *text = json_dumps(t->root, 0);
	struct stb_diff *d;

	if (!stb_plan_parse_bytes(&after, "plan.json", text, strlen(text), &err)) {
		stb_plan_seal(after);
		d = stb_diff_plans(t->before, after);
		t->n_changed++;
		if (strcmp(t->before->hash, after->hash) && !told(d, path)) {
			t->n_silent++;
			stb_buf_printf(&t->silent, " %s", path);
		}
		stb_diff_free(d);
		stb_plan_free(after);
	}
	free(text);
}

static void visit(struct tour *t, json_t *parent, const char *key, size_t index, json_t *v, const char *path);

/* Many values are stated only where there are some. */
static void leave_out(struct tour *t, json_t *parent, const char *key, const char *path)
{
	char place[520];
	json_t *copy;

	snprintf(place, sizeof(place), "-%s", path);
	if (!first_of_kind(t, place))
		return;
	copy = json_copy(parent);
	json_object_del(parent, key);
	judge(t, place);
	json_object_clear(parent); /* in the order that it had */
	json_object_update(parent, copy);
	json_decref(copy);
}

static void walk(struct tour *t, json_t *v, const char *path)
{
	json_t *keys = json_array(), *item;
	char below[512];
	const char *key;
	size_t i;

	json_object_foreach(v, key, item)
		json_array_append_new(keys, json_string(key));
	json_array_foreach(keys, i, item) {
		key = json_string_value(item);
		if (!*path && (!strcmp(key, "source") || !strcmp(key, "hash") || !strcmp(key, "stb_plan")))
			continue;
		if (follows(key) || named_by_blocks(v, key))
			continue;
		snprintf(below, sizeof(below), "%s.%s", path, key);
		visit(t, v, key, 0, json_object_get(v, key), below);
		if (strcmp(path_end(path), ".axes")) /* a cell has the values that its id was made of */
			leave_out(t, v, key, below);
	}
	json_decref(keys);
	if (!json_is_array(v))
		return;
	json_array_foreach(v, i, item) {
		if (repeats(item))
			continue;
		snprintf(below, sizeof(below), "%s[%zu]", path, i);
		visit(t, v, NULL, i, item, below);
	}
}

static void put(json_t *parent, const char *key, size_t index, json_t *v)
{
	if (key)
		json_object_set(parent, key, v);
	else
		json_array_set(parent, index, v);
}

static void try(struct tour *t, json_t *parent, const char *key, size_t index, json_t *v, const char *path, json_t *instead)
{
	json_incref(v);
	put(parent, key, index, instead);
	judge(t, path);
	put(parent, key, index, v);
	json_decref(v);
	json_decref(instead);
}

static void visit(struct tour *t, json_t *parent, const char *key, size_t index, json_t *v, const char *path)
{
	if (json_is_object(v) || json_is_array(v)) {
		walk(t, v, path);
		return;
	}
	if (!first_of_kind(t, path))
		return;
	if (json_is_integer(v)) {
		try(t, parent, key, index, v, path, json_integer(json_integer_value(v) + 1));
		if (json_integer_value(v) > 0)
			try(t, parent, key, index, v, path, json_integer(json_integer_value(v) - 1));
	} else if (json_is_boolean(v)) {
		try(t, parent, key, index, v, path, json_boolean(!json_is_true(v)));
	} else if (json_is_string(v)) {
		try(t, parent, key, index, v, path, json_sprintf("%sx", json_string_value(v)));
	} else if (json_is_null(v)) {
		try(t, parent, key, index, v, path, json_string("x"));
		try(t, parent, key, index, v, path, json_integer(1));
	}
}

static void every_change_is_told(const char *name, struct stb_compilation *c, struct stb_plan *before, uint32_t least)
{
	struct tour *t = calloc(1, sizeof(*t));
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	if (!before)
		stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
	cr_assert(before && t && out, "%s", name);
	stb_plan_print_json(before, out);
	fclose(out);
	t->before = before;
	t->root = json_loads(json, 0, NULL);
	cr_assert(t->root);
	stb_buf_init(&t->silent);
	walk(t, t->root, "");
	cr_expect_eq(t->n_silent, 0, "%s: changed without a line:%s", name, stb_buf_str(&t->silent));
	cr_expect_geq(t->n_changed, least, "%s: only %u changes were tried", name, t->n_changed);
	stb_buf_fini(&t->silent);
	json_decref(t->root);
	free(json);
	free(t);
}

static void of_file(const char *path, uint32_t least)
{
	struct stb_compilation c;
	struct stb_plan *p;

	stb_compilation_init(&c);
	p = stb_compile_file(&c, path, NULL);
	every_change_is_told(path, &c, p, least);
	stb_plan_free(p);
	stb_compilation_fini(&c);
}

Test(diff_facts, no_change_of_a_published_plan_is_silent)
{
	of_file("specs/nifcloud-rdb-disks.stb", 40);
	of_file("specs/regression-gate.stb", 40);
	of_file("specs/gce-local-ssd.stb", 40);
	of_file("specs/ack-nvm-volumes.stb", 40);
}

/* All that reports, claims and matrices can say. */
Test(diff_facts, no_change_of_a_plan_is_silent)
{
	static const char spec[] =
		"stb 1\n"
		"suite s { title = \"t\"  description = \"d\"  source = \"x\"  licence = \"MIT\" }\n"
		"storage loop a { size = 4GiB  label = \"A\"  note = \"n\"  limits { read_iops = 100/s } }\n"
		"storage device b { serial = \"S1\"  erase = \"S1\" }\n"
		"volume v { size = 2GiB }\n"
		"workload io w { volume = v  rw = randread  size = 1GiB  ioengine = libaio  direct = true  time_based = true  runtime = 10s\n"
		"  steady_state { metric = iops  slope = 1%  window = 30s  limit = 60s } }\n"
		"matrix m { storage = [a, b]  workload = w  label = \"M\"  note = \"n\"\n"
		"  axis depth { label = \"D\"  set = workload.iodepth  values = [1, 2, 4] }\n"
		"  axis way { point x { label = \"X\"  workload.bs = 4KiB } point y { workload.bs = 8KiB } }\n"
		"  exclude { reason = \"r\"  where { storage = a  depth = 4 } }\n"
		"  repeat = 3  order = shuffled  fresh = cell  seed = 7  cooldown = 1s  interval = 2s\n"
		"  schedule { days = 3  at = [03:00, 09:00] } }\n"
		"report r { from = m  label = \"R\"  note = \"n\"  where { depth = [1, 2] }  split = way  rows = storage  columns = depth\n"
		"  metrics = [iops, lat_p99]  show = [value, percent, ci]  baseline { storage = b }  summary = geomean  aggregate = median\n"
		"  units { lat_p99 = \"ms\" }  decimals { iops = 0 }  headings { iops = \"I/Os\" }  chart = bar }\n"
		"report f { from = m  rows = storage  fold = [depth, way]  metrics = [iops]  show = [range]  baseline { storage = b } }\n"
		"claim c { label = \"C\"  note = \"n\"  from = m  metric = iops  where { storage = a  depth = 1  way = x }\n"
		"  baseline { storage = b }  percent = 90%..110%  confidence = 95% }\n"
		"claim l { from = m  metric = lat_p99  where { storage = a  depth = 1  way = x }  value = 5ms  aggregate = median }\n"
		"claim k { from = m  metric = lat_p99  where { storage = a  depth = 1  way = x }  baseline { storage = b }  improvement = 8.41% }\n";
	struct stb_compilation c;
	struct stb_plan *p;

	stb_compilation_init(&c);
	p = stb_compile_bytes(&c, "x.stb", spec, sizeof(spec) - 1, NULL);
	every_change_is_told("everything", &c, p, 120);
	stb_plan_free(p);
	stb_compilation_fini(&c);
}
