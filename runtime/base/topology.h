/*
 * topology.h - the processors, NUMA nodes and node memories of a machine, as plain data that can be saved, loaded and written by hand.
 *
 * Owns its memory through an arena. Constant once it is made. Made by the loader here and by runtime/host/sysfs.c; read by the pin rules.
 * The file form is described in topology.c.
 */
#ifndef STB_TOPOLOGY_H
#define STB_TOPOLOGY_H

#include "runtime/base/arena.h"
#include "runtime/base/cpulist.h"
#include "runtime/base/err.h"

#define STB_NODE_MAX 1024u /* node numbers 0 to 1023, as in the kernel */

struct stb_cpu {
	uint32_t id;
	uint32_t node;    /* id of its node */
	uint32_t package; /* socket; STB_CPU_NONE where unknown */
	uint32_t core;    /* the least CPU id among the threads of its core (itself where it has no siblings) */
	bool allowed;     /* this process may run there (affinity, cpuset) */
};

struct stb_numa_node {
	uint32_t id;
	uint32_t n_cpus;         /* online ones, allowed or not; 0: memory only */
	uint64_t memory_bytes;   /* 0: CPUs only */
	bool allowed;            /* this process may have memory there (cpuset) */
};

struct stb_topology {
	struct stb_arena arena;
	struct stb_cpu *cpus;    /* online ones, by ascending id; at least one */
	uint32_t n_cpus;
	struct stb_numa_node *nodes;  /* by ascending id; at least one */
	uint32_t n_nodes;
	uint8_t *distances;      /* [from * n_nodes + to], positions in nodes; NULL: unknown */
};

/* How a topology is put together: what is said of each CPU number, in any order. About 1 MiB: not for the stack. */
struct stb_topology_draft {
	uint32_t node[STB_CPU_MAX];    /* node id; STB_CPU_NONE: there is no such CPU */
	uint32_t package[STB_CPU_MAX];
	uint32_t core[STB_CPU_MAX];    /* STB_CPU_NONE: a core of its own */
	struct stb_cpuset allowed_cpus, allowed_nodes;
	struct stb_numa_node nodes[STB_NODE_MAX]; /* by ascending id: id, memory_bytes */
	uint32_t n_nodes;
	uint8_t *distances;            /* as in stb_topology; copied */
};
STB_NODISCARD struct stb_topology_draft *stb_topology_draft_new(void); /* no CPU, no node, everything allowed; free() */
/* Every CPU's node must be among the nodes (a bug otherwise). */
STB_NODISCARD struct stb_topology *stb_topology_make(const struct stb_topology_draft *d);
void stb_topology_free(struct stb_topology *t); /* NULL is fine */

/*
 * From the bytes of a saved topology, which nobody has vouched for; `name` is for messages. NULL with *err where anything is unknown, missing,
 * twice there or contradicts itself.
 */
STB_NODISCARD struct stb_topology *stb_topology_parse(const char *name, const char *text, size_t len, struct stb_err *err);
/* The same from a file. */
STB_NODISCARD struct stb_topology *stb_topology_load(const char *path, struct stb_err *err);
/* The file form; the same topology gives the same bytes. */
void stb_topology_save(const struct stb_topology *t, struct stb_buf *out);
/* A table for people. */
void stb_topology_print(const struct stb_topology *t, struct stb_buf *out);

const struct stb_cpu *stb_topology_cpu(const struct stb_topology *t, uint32_t id);   /* NULL: not online */
const struct stb_numa_node *stb_topology_node(const struct stb_topology *t, uint32_t id); /* NULL: not there */
/* CPUs of a node that this process may use. */
void stb_topology_node_cpus(const struct stb_topology *t, uint32_t node, struct stb_cpuset *out);

#endif
