/*
 * sysfs.c - reads the topology from what the kernel shows:
 *
 *   /sys/devices/system/cpu/online                        which CPUs there are
 *   /sys/devices/system/cpu/cpuN/topology/                package and thread siblings (missing: unknown)
 *   /sys/devices/system/node/online, nodeN/               nodes: cpulist, meminfo, distance (no directory: one node of everything)
 *   /proc/self/status                                     Cpus_allowed_list, Mems_allowed_list: affinity and cpuset together
 *
 * Node lists may name CPUs that are offline or, in a container, hidden; only what `online` names counts. libnuma would tell the same from the
 * same files, but only of the machine that it runs on.
 */
#include "runtime/host/sysfs.h"

#include "runtime/base/affinity.h"
#include "runtime/host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *root;
	struct stb_err *err;
	struct stb_topology_draft *d;
	struct stb_cpuset online;
};

/* The text of ROOT + path in the arena, or NULL. */
static char *text_of(struct reader *r, struct stb_arena *a, const char *path)
{
	return stb_host_read_text(a, stb_arena_printf(a, "%s%s", r->root, path));
}

static int refuse(struct reader *r, const char *path, const char *why)
{
	stb_err_set(r->err, 0, "cannot read the topology of this machine: `%s%s` %s", r->root, path, why);
	stb_err_remedy(r->err, "mount /sys and /proc, or give a saved topology with `--topology FILE`");
	return -1;
}

/* A list of the kernel's; empty is a list too. NULL text: -1. */
static int list_of(const char *text, uint32_t limit, struct stb_cpuset *out)
{
	struct stb_cpulist_error e;

	stb_cpuset_clear(out);
	if (!text)
		return -1;
	return *text ? stb_cpulist_parse(text, strlen(text), limit, out, &e) : 0;
}

static int read_online(struct reader *r, struct stb_arena *a)
{
	static const char path[] = "/sys/devices/system/cpu/online";

	if (list_of(text_of(r, a, path), STB_CPU_MAX, &r->online))
		return refuse(r, path, "is missing or no list of CPUs");
	if (stb_cpuset_empty(&r->online))
		return refuse(r, path, "is empty");
	return 0;
}

/* The number behind `key` and blanks anywhere in the text, in KiB, as bytes; -1 where there is none. */
static int64_t kib_behind(const char *text, const char *key)
{
	const char *p = text ? strstr(text, key) : NULL;
	char *end;

	if (!p)
		return -1;
	p += strlen(key);
	errno = 0;
	const unsigned long long kib = strtoull(p, &end, 10);

	return end == p || errno || kib > INT64_MAX / 1024 ? -1 : (int64_t)(kib * 1024);
}

/* No node directory: a kernel without NUMA, or a sandbox that hides it. */
static int one_node(struct reader *r, struct stb_arena *a)
{
	const int64_t bytes = kib_behind(text_of(r, a, "/proc/meminfo"), "MemTotal:");

	if (bytes < 0)
		return refuse(r, "/proc/meminfo", "does not tell MemTotal");
	r->d->n_nodes = 1;
	r->d->nodes[0] = (struct stb_numa_node){ .id = 0, .memory_bytes = (uint64_t)bytes };
	for (uint32_t cpu = stb_cpuset_next(&r->online, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&r->online, cpu + 1))
		r->d->node[cpu] = 0;
	return 0;
}

static int read_node(struct reader *r, struct stb_arena *a, struct stb_numa_node *n)
{
	const char *cpus = stb_arena_printf(a, "/sys/devices/system/node/node%" PRIu32 "/cpulist", n->id);
	const char *mem = stb_arena_printf(a, "/sys/devices/system/node/node%" PRIu32 "/meminfo", n->id);
	const int64_t bytes = kib_behind(text_of(r, a, mem), "MemTotal:");
	struct stb_cpuset set;

	if (bytes < 0)
		return refuse(r, mem, "does not tell MemTotal");
	n->memory_bytes = (uint64_t)bytes;
	if (list_of(text_of(r, a, cpus), STB_CPU_MAX, &set))
		return refuse(r, cpus, "is missing or no list of CPUs");
	stb_cpuset_intersect(&set, &r->online);
	for (uint32_t cpu = stb_cpuset_next(&set, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&set, cpu + 1)) {
		if (r->d->node[cpu] != STB_CPU_NONE)
			return refuse(r, cpus, "names a CPU that another node names too");
		r->d->node[cpu] = n->id;
	}
	return 0;
}

/* One row, as many numbers as there are nodes. False: no such row. */
static bool read_distances(struct reader *r, struct stb_arena *a, uint32_t from)
{
	const char *p = text_of(r, a, stb_arena_printf(a, "/sys/devices/system/node/node%" PRIu32 "/distance", r->d->nodes[from].id));

	for (uint32_t to = 0; p && to < r->d->n_nodes; to++) {
		char *end;
		const unsigned long v = strtoul(p, &end, 10);

		if (end == p || v > UINT8_MAX)
			return false;
		r->d->distances[(size_t)from * r->d->n_nodes + to] = (uint8_t)v;
		p = end;
	}
	return p && !*p;
}

static int read_nodes(struct reader *r, struct stb_arena *a)
{
	static const char path[] = "/sys/devices/system/node/online";
	const char *text = text_of(r, a, path);
	struct stb_cpuset ids;
	bool distances = true;

	if (!text)
		return one_node(r, a);
	if (list_of(text, STB_NODE_MAX, &ids) || stb_cpuset_empty(&ids))
		return refuse(r, path, "is no list of nodes");
	for (uint32_t id = stb_cpuset_next(&ids, 0); id != STB_CPU_NONE; id = stb_cpuset_next(&ids, id + 1)) {
		struct stb_numa_node *n = &r->d->nodes[r->d->n_nodes++];

		n->id = id;
		if (read_node(r, a, n))
			return -1;
	}
	for (uint32_t cpu = stb_cpuset_next(&r->online, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&r->online, cpu + 1)) {
		if (r->d->node[cpu] == STB_CPU_NONE)
			return refuse(r, path, "and the nodes below it leave out a CPU that is online");
	}
	r->d->distances = stb_xcalloc(r->d->n_nodes, r->d->n_nodes);
	for (uint32_t i = 0; i < r->d->n_nodes && distances; i++)
		distances = read_distances(r, a, i);
	if (!distances) {
		free(r->d->distances);
		r->d->distances = NULL;
	}
	return 0;
}

/* Package and core of one CPU; unknown where the kernel does not tell. */
static void read_cpu(struct reader *r, uint32_t cpu)
{
	struct stb_arena a;
	struct stb_cpuset siblings;
	const char *text;
	char *end;

	stb_arena_init(&a);
	text = text_of(r, &a, stb_arena_printf(&a, "/sys/devices/system/cpu/cpu%" PRIu32 "/topology/physical_package_id", cpu));
	if (text) {
		const long id = strtol(text, &end, 10);

		if (end != text && !*end && id >= 0 && id < STB_CPU_MAX) /* -1: not told */
			r->d->package[cpu] = (uint32_t)id;
	}
	text = text_of(r, &a, stb_arena_printf(&a, "/sys/devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list", cpu));
	if (text && !list_of(text, STB_CPU_MAX, &siblings)) {
		stb_cpuset_intersect(&siblings, &r->online);
		if (stb_cpuset_has(&siblings, cpu))
			r->d->core[cpu] = stb_cpuset_next(&siblings, 0);
	}
	stb_arena_fini(&a);
}

/* The list on the line that begins with key. */
static int allowed_list(const char *status, const char *key, uint32_t limit, struct stb_arena *a, struct stb_cpuset *out)
{
	const char *p = status ? strstr(status, key) : NULL;

	if (!p)
		return -1;
	p += strlen(key);
	p += strspn(p, " \t");
	return list_of(stb_arena_strndup(a, p, strcspn(p, "\n")), limit, out);
}

static int read_allowed(struct reader *r, struct stb_arena *a)
{
	static const char path[] = "/proc/self/status";
	const char *status = text_of(r, a, path);
	struct stb_cpuset set, nodes = { 0 };

	if (!allowed_list(status, "\nCpus_allowed_list:", STB_CPU_MAX, a, &set) || (!*r->root && !stb_affinity_get(0, &set)))
		r->d->allowed_cpus = set;
	stb_cpuset_intersect(&r->d->allowed_cpus, &r->online);
	if (!allowed_list(status, "\nMems_allowed_list:", STB_NODE_MAX, a, &set))
		r->d->allowed_nodes = set;
	for (uint32_t i = 0; i < r->d->n_nodes; i++)
		stb_cpuset_add(&nodes, r->d->nodes[i].id);
	stb_cpuset_intersect(&r->d->allowed_nodes, &nodes);
	if (stb_cpuset_empty(&r->d->allowed_cpus))
		return refuse(r, path, "allows no CPU that is online");
	if (stb_cpuset_empty(&r->d->allowed_nodes))
		return refuse(r, path, "allows memory of no node that is there");
	return 0;
}

struct stb_topology *stb_host_topology(const char *root, struct stb_err *err)
{
	struct reader *r = stb_xcalloc(1, sizeof(*r));
	struct stb_topology *t = NULL;
	struct stb_arena a;

	stb_arena_init(&a);
	r->root = root;
	r->err = err;
	r->d = stb_topology_draft_new();
	if (read_online(r, &a) || read_nodes(r, &a) || read_allowed(r, &a))
		goto out;
	for (uint32_t cpu = stb_cpuset_next(&r->online, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&r->online, cpu + 1))
		read_cpu(r, cpu);
	t = stb_topology_make(r->d);
out:
	stb_arena_fini(&a);
	free(r->d->distances);
	free(r->d);
	free(r);
	return t;
}
