/*
 * topology.c - makes a topology of what is said of each CPU, answers questions about it, and shows it.
 *
 * Arrays are sorted by id and looked up by bisection, since ids have gaps (offline CPUs, hot-plugged nodes). A core is named by the least id of
 * its threads: the kernel's core_id repeats in every package and die, this does not.
 */
#include "runtime/base/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN_DISTANCES 16

struct stb_topology_draft *stb_topology_draft_new(void)
{
	struct stb_topology_draft *d = stb_xcalloc(1, sizeof(*d));

	memset(d->node, 0xff, sizeof(d->node)); /* STB_CPU_NONE */
	memset(d->package, 0xff, sizeof(d->package));
	memset(d->core, 0xff, sizeof(d->core));
	memset(&d->allowed_cpus, 0xff, sizeof(d->allowed_cpus));
	memset(&d->allowed_nodes, 0xff, sizeof(d->allowed_nodes));
	return d;
}

struct stb_topology *stb_topology_make(const struct stb_topology_draft *d)
{
	struct stb_topology *t = stb_xcalloc(1, sizeof(*t));
	uint32_t i = 0;

	stb_arena_init(&t->arena);
	for (uint32_t id = 0; id < STB_CPU_MAX; id++)
		t->n_cpus += d->node[id] != STB_CPU_NONE;
	t->n_nodes = d->n_nodes;
	t->cpus = STB_NEW_ARRAY(&t->arena, struct stb_cpu, t->n_cpus);
	t->nodes = STB_NEW_ARRAY(&t->arena, struct stb_numa_node, t->n_nodes);
	for (uint32_t k = 0; k < t->n_nodes; k++) {
		t->nodes[k] = d->nodes[k];
		t->nodes[k].n_cpus = 0;
		t->nodes[k].allowed = stb_cpuset_has(&d->allowed_nodes, d->nodes[k].id);
	}
	for (uint32_t id = 0; id < STB_CPU_MAX; id++) {
		if (d->node[id] == STB_CPU_NONE)
			continue;
		t->cpus[i++] = (struct stb_cpu){ .id = id, .node = d->node[id], .package = d->package[id],
			.core = d->core[id] == STB_CPU_NONE ? id : d->core[id], .allowed = stb_cpuset_has(&d->allowed_cpus, id) };
		struct stb_numa_node *node = (struct stb_numa_node *)stb_topology_node(t, d->node[id]);

		STB_ASSERT(node);
		node->n_cpus++;
	}
	if (d->distances) {
		const size_t n = (size_t)t->n_nodes * t->n_nodes;

		t->distances = stb_arena_alloc(&t->arena, n);
		memcpy(t->distances, d->distances, n);
	}
	return t;
}

void stb_topology_free(struct stb_topology *t)
{
	if (!t)
		return;
	stb_arena_fini(&t->arena);
	free(t);
}

/* --- questions ----------------------------------------------------------------------------------------------------------------------- */

/* Both structures begin with their id. */
static int by_id(const void *key, const void *element)
{
	const uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)element;

	return a < b ? -1 : a > b;
}

const struct stb_cpu *stb_topology_cpu(const struct stb_topology *t, uint32_t id)
{
	return bsearch(&id, t->cpus, t->n_cpus, sizeof(*t->cpus), by_id);
}

const struct stb_numa_node *stb_topology_node(const struct stb_topology *t, uint32_t id)
{
	return bsearch(&id, t->nodes, t->n_nodes, sizeof(*t->nodes), by_id);
}

void stb_topology_node_cpus(const struct stb_topology *t, uint32_t node, struct stb_cpuset *out)
{
	stb_cpuset_clear(out);
	for (uint32_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i].node == node && t->cpus[i].allowed)
			stb_cpuset_add(out, t->cpus[i].id);
	}
}

/* --- the table ----------------------------------------------------------------------------------------------------------------------- */

enum { COL_NODE, COL_MEMORY, COL_N_CPUS, COL_CORES, COL_PACKAGES, COL_CPUS, N_COLUMNS };

static const char *const headings[N_COLUMNS] = { "node", "memory", "pCPUs", "cores", "packages", "pCPU list" };

/* What one node is made of; node STB_CPU_NONE: the whole machine. */
struct parts {
	struct stb_cpuset cpus, packages, cores;
};

static void collect(const struct stb_topology *t, uint32_t node, struct parts *p)
{
	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < t->n_cpus; i++) {
		const struct stb_cpu *c = &t->cpus[i];

		if (node != STB_CPU_NONE && c->node != node)
			continue;
		stb_cpuset_add(&p->cpus, c->id);
		stb_cpuset_add(&p->cores, c->core);
		if (c->package < STB_CPU_MAX)
			stb_cpuset_add(&p->packages, c->package);
	}
}

static void add_memory(struct stb_buf *b, uint64_t bytes)
{
	if (!bytes)
		stb_buf_adds(b, "-");
	else if (bytes >= 1ull << 30)
		stb_buf_printf(b, "%.1f GiB", (double)bytes / (double)(1ull << 30));
	else
		stb_buf_printf(b, "%.1f MiB", (double)bytes / (double)(1ull << 20));
}

static void add_list(struct stb_buf *b, const struct stb_cpuset *s)
{
	if (stb_cpuset_empty(s))
		stb_buf_adds(b, "-");
	else
		stb_cpulist_print(s, b);
}

static void row(const struct stb_topology *t, const struct stb_numa_node *n, struct parts *p, struct stb_buf cell[N_COLUMNS])
{
	collect(t, n->id, p);
	for (int c = 0; c < N_COLUMNS; c++)
		stb_buf_clear(&cell[c]);
	stb_buf_printf(&cell[COL_NODE], "%u", n->id);
	add_memory(&cell[COL_MEMORY], n->memory_bytes);
	stb_buf_printf(&cell[COL_N_CPUS], "%u", n->n_cpus);
	stb_buf_printf(&cell[COL_CORES], "%u", stb_cpuset_count(&p->cores));
	add_list(&cell[COL_PACKAGES], &p->packages);
	add_list(&cell[COL_CPUS], &p->cpus);
}

static size_t width_of(const char *s)
{
	return stb_display_width(s, strlen(s));
}

/* Numbers to the right, the list to the left; nothing behind the last column. */
static void put_cell(struct stb_buf *out, const char *s, size_t width, bool left, bool last)
{
	const size_t w = width_of(s), gap = width > w ? width - w : 0;

	if (!left)
		stb_buf_fill(out, ' ', gap);
	stb_buf_adds(out, s);
	if (left && !last)
		stb_buf_fill(out, ' ', gap);
}

static void put_distances(const struct stb_topology *t, uint32_t from, struct stb_buf *out)
{
	for (uint32_t to = 0; to < t->n_nodes; to++) {
		char heading[24], value[24];

		snprintf(heading, sizeof(heading), "to %u", t->nodes[to].id);
		snprintf(value, sizeof(value), "%u", from == STB_CPU_NONE ? 0u : t->distances[(size_t)from * t->n_nodes + to]);
		stb_buf_adds(out, "  ");
		put_cell(out, from == STB_CPU_NONE ? heading : value, width_of(heading), false, false);
	}
	stb_buf_addc(out, '\n');
}

static void print_nodes(const struct stb_topology *t, struct parts *p, struct stb_buf *out)
{
	const bool distances = t->distances && t->n_nodes <= MAX_SHOWN_DISTANCES;
	struct stb_buf cell[N_COLUMNS];
	size_t width[N_COLUMNS];

	for (int c = 0; c < N_COLUMNS; c++) {
		stb_buf_init(&cell[c]);
		width[c] = width_of(headings[c]);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		row(t, &t->nodes[i], p, cell);
		for (int c = 0; c < N_COLUMNS; c++)
			width[c] = STB_MAX(width[c], width_of(stb_buf_str(&cell[c])));
	}
	for (uint32_t i = 0; i <= t->n_nodes; i++) {
		if (i)
			row(t, &t->nodes[i - 1], p, cell);
		for (int c = 0; c < N_COLUMNS; c++) {
			const bool last = c == COL_CPUS && !distances;

			stb_buf_adds(out, c ? "  " : "");
			put_cell(out, i ? stb_buf_str(&cell[c]) : headings[c], width[c], c == COL_CPUS, last);
		}
		if (distances)
			put_distances(t, i ? i - 1 : STB_CPU_NONE, out);
		else
			stb_buf_addc(out, '\n');
	}
	for (int c = 0; c < N_COLUMNS; c++)
		stb_buf_fini(&cell[c]);
	if (t->distances && !distances)
		stb_buf_printf(out, "distances between more than %d nodes are left out here\n", MAX_SHOWN_DISTANCES);
}

static void count_of(struct stb_buf *out, uint32_t n, const char *what)
{
	stb_buf_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void print_limits(const struct stb_topology *t, struct parts *p, struct stb_buf *out)
{
	uint32_t n_cpus = 0, n_nodes = 0;

	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < t->n_cpus; i++) {
		n_cpus += t->cpus[i].allowed;
		if (t->cpus[i].allowed)
			stb_cpuset_add(&p->cpus, t->cpus[i].id);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		n_nodes += t->nodes[i].allowed;
		if (t->nodes[i].allowed)
			stb_cpuset_add(&p->packages, t->nodes[i].id);
	}
	if (n_cpus < t->n_cpus) {
		stb_buf_printf(out, "this process may run on %u of the %u pCPUs: ", n_cpus, t->n_cpus);
		add_list(out, &p->cpus);
		stb_buf_addc(out, '\n');
	}
	if (n_nodes < t->n_nodes) {
		stb_buf_printf(out, "this process may have memory on %u of the %u nodes: ", n_nodes, t->n_nodes);
		add_list(out, &p->packages);
		stb_buf_addc(out, '\n');
	}
}

void stb_topology_print(const struct stb_topology *t, struct stb_buf *out)
{
	struct parts *p = stb_xmalloc(sizeof(*p));

	collect(t, STB_CPU_NONE, p);
	count_of(out, t->n_nodes, "node");
	stb_buf_adds(out, ", ");
	if (!stb_cpuset_empty(&p->packages)) {
		count_of(out, stb_cpuset_count(&p->packages), "package");
		stb_buf_adds(out, ", ");
	}
	count_of(out, stb_cpuset_count(&p->cores), "core");
	stb_buf_adds(out, ", ");
	count_of(out, t->n_cpus, "pCPU");
	stb_buf_adds(out, "\n\n");
	print_nodes(t, p, out);
	print_limits(t, p, out);
	free(p);
}
