/*
 * pin.h - the pin rules: which pCPUs each vCPU of a pin may run on, and where its memory comes from.
 *
 * Pure functions over plain data. A spec is judged without a machine (topology NULL: syntax, coverage, contradictions) or on one. Everything
 * that is wrong goes to a callback, one call each, in a fixed order; the compiler makes diagnostics of it, the runtime an error.
 */
#ifndef STB_PIN_H
#define STB_PIN_H

#include "runtime/base/cpulist.h"
#include "runtime/base/topology.h"

#define STB_PIN_MAX_RULES 4096u

enum stb_pin_strategy {
	STB_PIN_MANUAL, /* by rules; what holds where no strategy is written */
	STB_PIN_SMART,  /* one vCPU to one pCPU, from the highest node downward */
};

enum stb_mempolicy {
	STB_MEM_DEFAULT,
	STB_MEM_LOCAL,
	STB_MEM_INTERLEAVE,
	STB_MEM_BIND,
	STB_MEM_PREFERRED,
};
const char *stb_mempolicy_name(enum stb_mempolicy m); /* "default" "local" "interleave" "bind" "preferred"; NULL past the last */

/* vcpu "LIST" { node = N } or vcpu "LIST" { cpus = "LIST" } */
struct stb_pin_rule {
	const char *vcpus;
	const char *cpus; /* NULL: left out */
	uint64_t node;    /* STB_PIN_NO_NODE: left out */
};
#define STB_PIN_NO_NODE UINT64_MAX

struct stb_pin_spec {
	const char *name;
	uint64_t vcpus;
	enum stb_pin_strategy strategy;
	enum stb_mempolicy mempolicy;
	const char *memnodes; /* a list of node ids; NULL: left out */
	bool exclusive;
	const struct stb_pin_rule *rules;
	uint32_t n_rules;
};

enum stb_pin_code {
	STB_PIN_BAD_LIST,       /* a list that does not read, or leaves nothing: `at`, `len` say where */
	STB_PIN_BAD_VCPUS,      /* vcpus is 0 or more than STB_CPU_MAX; more rules than STB_PIN_MAX_RULES */
	STB_PIN_NO_SUCH_VCPU,   /* a rule for vCPU 48 of 48 */
	STB_PIN_RULE_FORM,      /* a rule with both or neither of node and cpus; rules beside `smart` */
	STB_PIN_UNBOUND,        /* vCPUs that no rule binds; neither rules nor a strategy */
	STB_PIN_SEVERAL_NODES,  /* one vCPU on pCPUs of several nodes */
	STB_PIN_NO_SUCH_CPU,    /* not online on this topology, or not allowed to this process */
	STB_PIN_NO_SUCH_NODE,   /* not there, without CPUs, or none of them allowed */
	STB_PIN_MEMNODES,       /* missing for bind and preferred, several for preferred, refused for default and local */
	STB_PIN_NO_MEMORY,      /* memnodes on a node without memory, not there, or not allowed */
	STB_PIN_OVERCOMMIT,     /* warning: more vCPUs than pCPUs */
	STB_PIN_FAR_MEMORY,     /* warning: `local` on a node without memory */
	STB_PIN_TOO_LARGE,      /* the resolved table would have more than a million ranges */
	STB_N_PIN_CODES
};
bool stb_pin_is_warning(enum stb_pin_code c);

/* The place that is meant. */
enum stb_pin_field {
	STB_PIN_AT_BLOCK,
	STB_PIN_AT_VCPUS,      /* vcpus = */
	STB_PIN_AT_STRATEGY,
	STB_PIN_AT_MEMPOLICY,
	STB_PIN_AT_MEMNODES,
	STB_PIN_AT_RULE,       /* the rule's list of vCPUs (its header) */
	STB_PIN_AT_RULE_NODE,
	STB_PIN_AT_RULE_CPUS,
};

struct stb_pin_diag {
	enum stb_pin_code code;
	enum stb_pin_field field;
	uint32_t rule;       /* index into the rules where the field is a rule's */
	uint32_t at, len;    /* bytes of the field's text; both 0: all of it */
	const char *text;    /* "vCPU 3 has pCPUs of nodes 0 and 1"; valid during the call */
	const char *remedy;  /* or NULL */
};
typedef void stb_pin_say(void *arg, const struct stb_pin_diag *d);

struct stb_pin_range {
	uint32_t first, last;
};

struct stb_pin_slot {
	uint32_t node;              /* id */
	uint32_t range, n_ranges;   /* into ranges; equal neighbours share theirs */
};

/* What a pin comes to on one topology. */
struct stb_pin_result {
	struct stb_pin_slot *slots;     /* one a vCPU */
	uint32_t n_slots;
	struct stb_pin_range *ranges;   /* of pCPU ids, ascending within a slot */
	uint32_t n_ranges;
	struct stb_cpuset cpus;         /* all of them: what a database server gets */
	enum stb_mempolicy mempolicy;
	struct stb_cpuset memnodes;     /* for bind, preferred, interleave (all allowed nodes with memory where none are named); else empty */
};

/*
 * Judges `p` on `t`, or by itself where t is NULL (then r must be NULL). Returns 0 where nothing but warnings was said; with r, *r is then
 * filled (fini it). -1 otherwise, *r is empty. say may be NULL.
 */
STB_NODISCARD int stb_pin_resolve(const struct stb_pin_spec *p, const struct stb_topology *t, struct stb_pin_result *r, stb_pin_say *say,
	void *arg);
void stb_pin_result_fini(struct stb_pin_result *r);

/* The pCPUs of worker i (from 0): those of slot i modulo vcpus. */
void stb_pin_worker_cpus(const struct stb_pin_result *r, uint64_t worker, struct stb_cpuset *out);
uint32_t stb_pin_worker_node(const struct stb_pin_result *r, uint64_t worker);

/*
 * Whether two pins (a server's and a client's) share pCPUs. With a topology the answer is YES or NO and the shared ones are in *shared (may be
 * NULL); without one it is what can be told from the text, and *shared holds the pCPUs that both name. Pins that do not resolve: UNKNOWN.
 */
enum stb_pin_sharing {
	STB_PIN_SHARE_NO,
	STB_PIN_SHARE_YES,
	STB_PIN_SHARE_UNKNOWN,
};
enum stb_pin_sharing stb_pin_shares(const struct stb_pin_spec *a, const struct stb_pin_spec *b, const struct stb_topology *t,
	struct stb_cpuset *shared);

/* The table vCPU -> pCPUs -> node, for people; runs of vCPUs with equal pCPUs are one line. */
void stb_pin_print(const struct stb_pin_result *r, struct stb_buf *out);

#endif
