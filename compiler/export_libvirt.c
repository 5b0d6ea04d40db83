/*
 * export_libvirt.c - the pin of a cell as a part of a libvirt domain: vcpupin, numatune and the NUMA cells of the guest.
 *
 * What each memory policy becomes:
 *
 *   local        a guest cell for every node that has vCPUs, in the order of their first vCPU, its memory strictly from that
 *                node, or from the nearest where it has none
 *   bind         strict on memnodes      preferred   preferred on memnodes      interleave   interleave over memnodes
 *   default      nothing: the host decides
 *
 * Only `local` has guest cells: under the others memory does not lie by vCPU, and cells would tell the guest that it does. The memory of the
 * server is divided among the cells by their vCPUs, in whole MiB.
 */
#include "compiler/export.h"
#include "compiler/pins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

struct cell { /* of the guest */
	uint32_t node;          /* of the host */
	struct stb_cpuset *vcpus;
	uint64_t n_vcpus;
	uint64_t memory_kib;
};

struct domain {
	struct stb_export *e;
	const struct stb_plan_block *pin, *server;
	struct stb_pin_spec spec;
	struct stb_pin_result r;
	struct cell *cells;
	uint32_t n_cells;
};

/* --- cells --------------------------------------------------------------------------------------------------------------------------- */

static struct cell *cell_of(struct domain *d, uint32_t node)
{
	for (uint32_t i = 0; i < d->n_cells; i++)
		if (d->cells[i].node == node)
			return &d->cells[i];
	d->cells[d->n_cells] = (struct cell){ .node = node, .vcpus = STB_NEW(&d->e->arena, struct stb_cpuset) };
	return &d->cells[d->n_cells++];
}

/* The last takes what is left of a division. */
static void divide_memory(struct domain *d, uint64_t bytes)
{
	uint64_t left = bytes / KIB;

	for (uint32_t i = 0; i < d->n_cells; i++) {
		struct cell *c = &d->cells[i];

		c->memory_kib = i + 1 == d->n_cells ? left : (uint64_t)((__uint128_t)bytes * c->n_vcpus / d->r.n_slots / MIB) * (MIB / KIB);
		left -= c->memory_kib;
	}
}

static void make_cells(struct domain *d)
{
	d->cells = STB_NEW_ARRAY(&d->e->arena, struct cell, d->e->topology->n_nodes);
	for (uint32_t i = 0; i < d->r.n_slots; i++) {
		struct cell *c = cell_of(d, d->r.slots[i].node);

		stb_cpuset_add(c->vcpus, i);
		c->n_vcpus++;
	}
	divide_memory(d, stb_export_u64(d->server, "memory", 0));
}

static uint32_t position(const struct stb_topology *t, uint32_t node)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].id == node)
			return i;
	STB_BUG("a pin on a node that is not there");
}

/* Where the memory of a node's cell comes from: that node, or the nearest with memory; STB_CPU_NONE: there is none. */
static uint32_t memory_node(const struct stb_topology *t, uint32_t node)
{
	const uint32_t from = position(t, node);
	uint32_t best = STB_CPU_NONE;
	unsigned least = UINT32_MAX;

	if (t->nodes[from].memory_bytes)
		return node;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const unsigned distance = t->distances ? t->distances[from * t->n_nodes + i] : 0;

		if (t->nodes[i].memory_bytes && t->nodes[i].allowed && distance < least) {
			least = distance;
			best = t->nodes[i].id;
		}
	}
	return best;
}

/* --- XML ----------------------------------------------------------------------------------------------------------------------------- */

static void put_set(struct stb_buf *b, const char *name, const struct stb_cpuset *set)
{
	stb_buf_printf(b, " %s='", name);
	stb_cpulist_print(set, b);
	stb_buf_addc(b, '\'');
}

static void put_head(struct domain *d)
{
	const uint64_t memory = stb_export_u64(d->server, "memory", 0);
	struct stb_buf *b = &d->e->out;

	stb_buf_adds(b, "<domain>\n");
	if (memory)
		stb_buf_printf(b, "  <memory unit='KiB'>%" PRIu64 "</memory>\n", memory / KIB);
	stb_buf_adds(b, "  <vcpu placement='static'");
	put_set(b, "cpuset", &d->r.cpus);
	stb_buf_printf(b, ">%" PRIu32 "</vcpu>\n", d->r.n_slots);
}

static void put_cputune(struct domain *d)
{
	struct stb_buf *b = &d->e->out;

	stb_buf_adds(b, "  <cputune>\n");
	for (uint32_t i = 0; i < d->r.n_slots; i++) {
		struct stb_cpuset cpus;

		stb_pin_worker_cpus(&d->r, i, &cpus);
		stb_buf_printf(b, "    <vcpupin vcpu='%" PRIu32 "'", i);
		put_set(b, "cpuset", &cpus);
		stb_buf_adds(b, "/>\n");
	}
	stb_buf_adds(b, "  </cputune>\n");
}

static void put_local(struct domain *d)
{
	struct stb_cpuset *nodes = STB_NEW(&d->e->arena, struct stb_cpuset);
	struct stb_buf *b = &d->e->out;

	for (uint32_t i = 0; i < d->n_cells; i++) {
		const uint32_t node = d->cells[i].node, from = memory_node(d->e->topology, node);

		if (from != node)
			stb_export_leave(d->e, d->pin, "mempolicy", "node %" PRIu32 " has no memory: guest cell %" PRIu32 " takes that of the nearest",
				node, i);
		if (from != STB_CPU_NONE)
			stb_cpuset_add(nodes, from);
	}
	if (stb_cpuset_empty(nodes))
		return;
	stb_buf_adds(b, "  <numatune>\n    <memory mode='strict'");
	put_set(b, "nodeset", nodes);
	stb_buf_adds(b, "/>\n");
	for (uint32_t i = 0; i < d->n_cells; i++)
		stb_buf_printf(b, "    <memnode cellid='%" PRIu32 "' mode='strict' nodeset='%" PRIu32 "'/>\n", i,
			memory_node(d->e->topology, d->cells[i].node));
	stb_buf_adds(b, "  </numatune>\n");
}

static void put_mode(struct domain *d, const char *mode)
{
	struct stb_buf *b = &d->e->out;

	stb_buf_printf(b, "  <numatune>\n    <memory mode='%s'", mode);
	put_set(b, "nodeset", &d->r.memnodes);
	stb_buf_adds(b, "/>\n  </numatune>\n");
}

static void put_numatune(struct domain *d)
{
	switch (d->r.mempolicy) {
	case STB_MEM_DEFAULT:
		return;
	case STB_MEM_LOCAL:
		put_local(d);
		return;
	case STB_MEM_BIND:
		put_mode(d, "strict");
		return;
	case STB_MEM_PREFERRED:
		put_mode(d, "preferred");
		return;
	case STB_MEM_INTERLEAVE:
		put_mode(d, "interleave");
		return;
	}
}

static void put_distances(struct domain *d, const struct cell *from)
{
	const struct stb_topology *t = d->e->topology;
	struct stb_buf *b = &d->e->out;

	stb_buf_adds(b, "        <distances>\n");
	for (uint32_t i = 0; i < d->n_cells; i++)
		stb_buf_printf(b, "          <sibling id='%" PRIu32 "' value='%u'/>\n", i,
			t->distances[position(t, from->node) * t->n_nodes + position(t, d->cells[i].node)]);
	stb_buf_adds(b, "        </distances>\n");
}

static void put_guest_cells(struct domain *d)
{
	const bool distances = d->e->topology->distances && d->n_cells > 1;
	struct stb_buf *b = &d->e->out;

	if (!d->cells)
		return;
	stb_buf_adds(b, "  <cpu>\n    <numa>\n");
	for (uint32_t i = 0; i < d->n_cells; i++) {
		stb_buf_printf(b, "      <cell id='%" PRIu32 "'", i);
		put_set(b, "cpus", d->cells[i].vcpus);
		if (d->cells[i].memory_kib)
			stb_buf_printf(b, " memory='%" PRIu64 "' unit='KiB'", d->cells[i].memory_kib);
		stb_buf_adds(b, distances ? ">\n" : "/>\n");
		if (distances) {
			put_distances(d, &d->cells[i]);
			stb_buf_adds(b, "      </cell>\n");
		}
	}
	stb_buf_adds(b, "    </numa>\n  </cpu>\n");
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

bool stb_export_libvirt_applies(const struct stb_export *e)
{
	return e->plan->cells[e->cell].pin != STB_NONE;
}

void stb_export_libvirt(struct stb_export *e)
{
	struct domain d = { .e = e, .pin = &e->plan->blocks[e->plan->cells[e->cell].pin], .server = stb_export_server(e) };

	stb_pin_read_planned(&e->arena, d.pin, &d.spec);
	if (stb_pin_resolve(&d.spec, e->topology, &d.r, NULL, NULL)) {
		stb_export_refuse(e, d.pin, NULL, "it does not hold on this topology; `stb check` and `stb plan --topology` say why");
		stb_export_end(e);
		return;
	}
	if (d.r.mempolicy == STB_MEM_LOCAL)
		make_cells(&d);
	stb_export_comment(e, "pin %s of server %s: these elements belong into the definition of the domain (virsh edit).", d.pin->name, d.server->name);
	put_head(&d);
	if (d.cells && !stb_export_val(d.server, "memory"))
		stb_export_refuse(e, d.server, "memory", "guest cells need the memory of the guest; write it on the server");
	put_cputune(&d);
	put_numatune(&d);
	put_guest_cells(&d);
	stb_buf_adds(&e->out, "</domain>\n");
	stb_pin_result_fini(&d.r);
	stb_export_end(e);
}
