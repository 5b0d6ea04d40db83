/*
 * topology_file.c - topologies as files: strict reading of bytes that nobody has vouched for, and the one form in which they are written.
 *
 *   {
 *     "stb_topology": 1,
 *     "allowed_cpus": "0-63",           left out: all
 *     "allowed_nodes": "0-1",           memory; left out: all
 *     "nodes": [                        ascending ids; the one list that must be there
 *       {"id": 0, "cpus": "0-15,32-47", "memory_bytes": 405673762816, "distances": [10, 21]},
 *       ...                             no "cpus": memory only; distances to the nodes in the order of this list, in all or in none
 *     ],
 *     "packages": [{"id": 0, "cpus": "0-15,32-47"}, ...],   left out: unknown
 *     "siblings": ["0,32", "1,33", ...]                     threads that share a core; a CPU that is not listed has its own
 *   }
 *
 * Lists are written as in a pin (cpulist.h), so that a file is short enough to be written by hand. The first thing that is wrong is the error;
 * what is read after it is harmless, so that reading has no error paths of its own. Work is bounded: a CPU may stand in one node, one package
 * and one list of siblings, and every list costs at most STB_CPU_MAX.
 */
#include "runtime/base/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES (16 << 20)
#define MAX_MEMORY_BYTES (1ull << 60)
#define VERSION 1

/* --- reading ------------------------------------------------------------------------------------------------------------------------- */

struct reader {
	const char *name;
	struct stb_err *err;
	struct stb_topology_draft *d;
	struct stb_cpuset set, online; /* the list in hand; all CPUs of all nodes */
	char where[48];                /* "nodes[3]: " */
	bool failed;
};

STB_PRINTF(2, 3) static void fail(struct reader *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (r->failed)
		return;
	r->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stb_err_set(r->err, 0, "cannot use topology `%s`: %s%s", r->name, r->where, text);
	stb_err_remedy(r->err, "make it again with `stb topology --save FILE`");
}

/* Refuses members of an object that are not in the list of names, which NULL ends. */
static bool members(struct reader *r, json_t *o, const char *const *known)
{
	const char *key;
	json_t *v;

	if (!json_is_object(o)) {
		fail(r, "not an object");
		return false;
	}
	json_object_foreach(o, key, v) {
		const char *const *k = known;

		while (*k && strcmp(*k, key))
			k++;
		if (!*k) {
			fail(r, "`%.60s` is not known to this version", key);
			return false;
		}
	}
	return true;
}

static uint64_t whole(struct reader *r, json_t *v, const char *key, uint64_t max)
{
	if (!v)
		fail(r, "`%s` is missing", key);
	else if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > max)
		fail(r, "`%s` is not a whole number from 0 to %" PRIu64, key, max);
	else
		return (uint64_t)json_integer_value(v);
	return 0;
}

/* A list of numbers below limit into r->set. */
static bool list(struct reader *r, json_t *v, const char *key, uint32_t limit)
{
	struct stb_cpulist_error e;

	stb_cpuset_clear(&r->set);
	if (!json_is_string(v)) {
		fail(r, "`%s` is not a list of numbers in a string", key);
		return false;
	}
	if (!stb_cpulist_parse(json_string_value(v), json_string_length(v), limit, &r->set, &e))
		return true;
	fail(r, "`%s`, column %" PRIu32 ": %s%s%s", key, e.at + 1, e.reason, *e.remedy ? "; " : "", e.remedy);
	return false;
}

static json_t *array(struct reader *r, json_t *top, const char *key)
{
	json_t *v = json_object_get(top, key);

	if (v && !json_is_array(v))
		fail(r, "`%s` is not a list", key);
	return r->failed ? NULL : v;
}

/* The members of r->set get `value` in the table, unless they have one. */
static void assign(struct reader *r, uint32_t table[STB_CPU_MAX], uint32_t value, const char *what)
{
	for (uint32_t cpu = stb_cpuset_next(&r->set, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&r->set, cpu + 1)) {
		if (table[cpu] != STB_CPU_NONE) {
			fail(r, "pCPU %" PRIu32 " stands in two %s", cpu, what);
			return;
		}
		table[cpu] = value;
	}
}

/* Whether all of r->set is in the set of those that exist. */
static bool exist(struct reader *r, const struct stb_cpuset *there, const char *key, const char *what)
{
	struct stb_cpuset rest = r->set;

	stb_cpuset_subtract(&rest, there);
	if (stb_cpuset_empty(&rest))
		return true;
	fail(r, "`%s` names %s %" PRIu32 ", which is in no node", key, what, stb_cpuset_next(&rest, 0));
	return false;
}

static void read_distances(struct reader *r, json_t *v, uint32_t from, size_t n_nodes)
{
	size_t to;
	json_t *d;

	if ((v != NULL) != (r->d->distances != NULL) && from) {
		fail(r, "`distances` are stated for some nodes and not for others");
		return;
	}
	if (!v)
		return;
	if (!json_is_array(v) || json_array_size(v) != n_nodes) {
		fail(r, "`distances` is not a list of %zu numbers, one a node", n_nodes);
		return;
	}
	if (!r->d->distances)
		r->d->distances = stb_xcalloc(n_nodes, n_nodes);
	json_array_foreach(v, to, d)
		r->d->distances[from * n_nodes + to] = (uint8_t)whole(r, d, "distances", UINT8_MAX);
}

static void read_node(struct reader *r, json_t *json, uint32_t i, size_t n_nodes)
{
	static const char *const known[] = { "id", "cpus", "memory_bytes", "distances", NULL };
	struct stb_numa_node *node = &r->d->nodes[i];
	json_t *cpus;

	if (!members(r, json, known))
		return;
	node->id = (uint32_t)whole(r, json_object_get(json, "id"), "id", STB_NODE_MAX - 1);
	if (i && node->id <= node[-1].id)
		fail(r, "node %" PRIu32 " stands behind node %" PRIu32, node->id, node[-1].id);
	node->memory_bytes = whole(r, json_object_get(json, "memory_bytes"), "memory_bytes", MAX_MEMORY_BYTES);
	cpus = json_object_get(json, "cpus");
	if (cpus && list(r, cpus, "cpus", STB_CPU_MAX)) {
		assign(r, r->d->node, node->id, "nodes");
		stb_cpuset_unite(&r->online, &r->set);
	}
	read_distances(r, json_object_get(json, "distances"), i, n_nodes);
}

static void read_nodes(struct reader *r, json_t *top)
{
	json_t *nodes = array(r, top, "nodes"), *v;
	size_t i, n = json_array_size(nodes);

	if (!n || n > STB_NODE_MAX) {
		fail(r, "`nodes` is not a list of 1 to %u nodes", STB_NODE_MAX);
		return;
	}
	json_array_foreach(nodes, i, v) {
		snprintf(r->where, sizeof(r->where), "nodes[%zu]: ", i);
		read_node(r, v, (uint32_t)i, n);
		if (r->failed)
			return;
	}
	r->where[0] = '\0';
	r->d->n_nodes = (uint32_t)n;
	if (stb_cpuset_empty(&r->online))
		fail(r, "no node has a pCPU");
}

static void read_packages(struct reader *r, json_t *top)
{
	static const char *const known[] = { "id", "cpus", NULL };
	struct stb_cpuset seen = { 0 };
	size_t i;
	json_t *v;

	json_array_foreach(array(r, top, "packages"), i, v) {
		snprintf(r->where, sizeof(r->where), "packages[%zu]: ", i);
		if (!members(r, v, known))
			return;
		const uint32_t id = (uint32_t)whole(r, json_object_get(v, "id"), "id", STB_CPU_MAX - 1);

		if (!r->failed && stb_cpuset_has(&seen, id))
			fail(r, "package %" PRIu32 " is there twice", id);
		stb_cpuset_add(&seen, id);
		if (list(r, json_object_get(v, "cpus"), "cpus", STB_CPU_MAX) && exist(r, &r->online, "cpus", "pCPU"))
			assign(r, r->d->package, id, "packages");
		if (r->failed)
			return;
	}
	r->where[0] = '\0';
}

static void read_siblings(struct reader *r, json_t *top)
{
	size_t i;
	json_t *v;

	json_array_foreach(array(r, top, "siblings"), i, v) {
		snprintf(r->where, sizeof(r->where), "siblings[%zu]: ", i);
		if (list(r, v, "siblings", STB_CPU_MAX) && exist(r, &r->online, "siblings", "pCPU"))
			assign(r, r->d->core, stb_cpuset_next(&r->set, 0), "lists of siblings");
		if (r->failed)
			return;
	}
	r->where[0] = '\0';
}

static void read_allowed(struct reader *r, json_t *top)
{
	json_t *cpus = json_object_get(top, "allowed_cpus"), *nodes = json_object_get(top, "allowed_nodes");
	struct stb_cpuset there = { 0 };

	if (cpus && list(r, cpus, "allowed_cpus", STB_CPU_MAX) && exist(r, &r->online, "allowed_cpus", "pCPU"))
		r->d->allowed_cpus = r->set;
	for (uint32_t i = 0; i < r->d->n_nodes; i++)
		stb_cpuset_add(&there, r->d->nodes[i].id);
	if (nodes && list(r, nodes, "allowed_nodes", STB_NODE_MAX)) {
		stb_cpuset_subtract(&r->set, &there);
		if (!stb_cpuset_empty(&r->set))
			fail(r, "`allowed_nodes` names node %" PRIu32 ", which is not there", stb_cpuset_next(&r->set, 0));
		else if (list(r, nodes, "allowed_nodes", STB_NODE_MAX))
			r->d->allowed_nodes = r->set;
	}
}

static void read_top(struct reader *r, json_t *top)
{
	static const char *const known[] = { "stb_topology", "allowed_cpus", "allowed_nodes", "nodes", "packages", "siblings", NULL };

	if (json_is_object(top) && !json_object_get(top, "stb_topology")) {
		fail(r, "`stb_topology` is missing: it is something else");
		return;
	}
	if (json_is_object(top) && whole(r, json_object_get(top, "stb_topology"), "stb_topology", UINT32_MAX) != VERSION) {
		fail(r, "its form is not version %d, the one that is known", VERSION);
		return;
	}
	if (!members(r, top, known))
		return;
	read_nodes(r, top);
	if (!r->failed)
		read_packages(r, top);
	if (!r->failed)
		read_siblings(r, top);
	if (!r->failed)
		read_allowed(r, top);
}

struct stb_topology *stb_topology_parse(const char *name, const char *text, size_t len, struct stb_err *err)
{
	struct reader *r = stb_xcalloc(1, sizeof(*r));
	struct stb_topology *t = NULL;
	json_error_t e;
	json_t *top;

	r->name = name;
	r->err = err;
	r->d = stb_topology_draft_new();
	top = len > MAX_FILE_BYTES ? NULL : json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (len > MAX_FILE_BYTES)
		fail(r, "it is larger than %dMiB", MAX_FILE_BYTES >> 20);
	else if (!top)
		fail(r, "line %d, column %d: %s", e.line, e.column, e.text);
	else
		read_top(r, top);
	if (!r->failed)
		t = stb_topology_make(r->d);
	json_decref(top);
	free(r->d->distances);
	free(r->d);
	free(r);
	return t;
}

struct stb_topology *stb_topology_load(const char *path, struct stb_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not hold us up before it is refused */
	struct stb_topology *t = NULL;
	struct stat st;
	char *text;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0) {
		stb_err_set(err, errno, "cannot open topology `%s`", path);
		stb_err_remedy(err, "give a file that `stb topology --save FILE` wrote");
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE_BYTES) {
		stb_err_set(err, 0, "cannot read topology `%s`: it is not a regular file of at most %dMiB", path, MAX_FILE_BYTES >> 20);
		stb_err_remedy(err, "give a file that `stb topology --save FILE` wrote");
		close(fd);
		return NULL;
	}
	text = stb_xmalloc((size_t)st.st_size + 1);
	while (len < (size_t)st.st_size && n) {
		n = read(fd, text + len, (size_t)st.st_size - len);
		if (n < 0 && errno != EINTR) {
			stb_err_set(err, errno, "cannot read topology `%s`", path);
			goto out;
		}
		len += n > 0 ? (size_t)n : 0;
	}
	t = stb_topology_parse(path, text, len, err);
out:
	free(text);
	close(fd);
	return t;
}

/* --- writing ------------------------------------------------------------------------------------------------------------------------- */

static void put_list(struct stb_buf *out, const struct stb_cpuset *s)
{
	stb_buf_addc(out, '"');
	stb_cpulist_print(s, out);
	stb_buf_addc(out, '"');
}

static void save_nodes(const struct stb_topology *t, struct stb_cpuset *s, struct stb_buf *out)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct stb_numa_node *n = &t->nodes[i];

		stb_buf_printf(out, "    {\"id\": %" PRIu32, n->id);
		stb_cpuset_clear(s);
		for (uint32_t k = 0; k < t->n_cpus; k++) {
			if (t->cpus[k].node == n->id)
				stb_cpuset_add(s, t->cpus[k].id);
		}
		if (n->n_cpus) {
			stb_buf_adds(out, ", \"cpus\": ");
			put_list(out, s);
		}
		stb_buf_printf(out, ", \"memory_bytes\": %" PRIu64, n->memory_bytes);
		for (uint32_t k = 0; t->distances && k < t->n_nodes; k++)
			stb_buf_printf(out, "%s%u", k ? ", " : ", \"distances\": [", t->distances[(size_t)i * t->n_nodes + k]);
		stb_buf_adds(out, t->distances ? "]}" : "}");
		stb_buf_adds(out, i + 1 < t->n_nodes ? ",\n" : "\n");
	}
}

static int by_group(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t package_of(const struct stb_cpu *c)
{
	return c->package;
}

static uint32_t core_of(const struct stb_cpu *c)
{
	return c->core;
}

/* The CPUs of each group, one line a group that has at least `least` members, by ascending group. */
static void save_groups(const struct stb_topology *t, uint32_t (*group_of)(const struct stb_cpu *c), uint32_t least, bool named,
	struct stb_buf *out)
{
	uint64_t *keys = stb_xcalloc(t->n_cpus, sizeof(*keys));
	struct stb_cpuset *s = stb_xmalloc(sizeof(*s));
	const char *before = "";

	for (uint32_t i = 0; i < t->n_cpus; i++)
		keys[i] = (uint64_t)group_of(&t->cpus[i]) << 32 | t->cpus[i].id;
	qsort(keys, t->n_cpus, sizeof(*keys), by_group);
	for (uint32_t i = 0, k; i < t->n_cpus; i = k) {
		const uint32_t group = (uint32_t)(keys[i] >> 32);

		for (k = i + 1; k < t->n_cpus && keys[k] >> 32 == group;)
			k++;
		if (group == STB_CPU_NONE || k - i < least)
			continue;
		stb_cpuset_clear(s);
		for (uint32_t m = i; m < k; m++)
			stb_cpuset_add(s, (uint32_t)keys[m]);
		stb_buf_adds(out, before);
		if (named)
			stb_buf_printf(out, "\n    {\"id\": %" PRIu32 ", \"cpus\": ", group);
		else
			stb_buf_adds(out, "\n    ");
		put_list(out, s);
		stb_buf_adds(out, named ? "}" : "");
		before = ",";
	}
	stb_buf_adds(out, *before ? "\n  ]" : "]");
	free(s);
	free(keys);
}

void stb_topology_save(const struct stb_topology *t, struct stb_buf *out)
{
	struct stb_cpuset *s = stb_xcalloc(1, sizeof(*s));

	for (uint32_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i].allowed)
			stb_cpuset_add(s, t->cpus[i].id);
	}
	stb_buf_printf(out, "{\n  \"stb_topology\": %d,\n", VERSION);
	if (!stb_cpuset_empty(s)) {
		stb_buf_adds(out, "  \"allowed_cpus\": ");
		put_list(out, s);
		stb_buf_adds(out, ",\n");
	}
	stb_cpuset_clear(s);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (t->nodes[i].allowed)
			stb_cpuset_add(s, t->nodes[i].id);
	}
	if (!stb_cpuset_empty(s)) {
		stb_buf_adds(out, "  \"allowed_nodes\": ");
		put_list(out, s);
		stb_buf_adds(out, ",\n");
	}
	stb_buf_adds(out, "  \"nodes\": [\n");
	save_nodes(t, s, out);
	stb_buf_adds(out, "  ],\n  \"packages\": [");
	save_groups(t, package_of, 1, true, out);
	stb_buf_adds(out, ",\n  \"siblings\": [");
	save_groups(t, core_of, 2, false, out);
	stb_buf_adds(out, "\n}\n");
	free(s);
}
