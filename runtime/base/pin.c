/*
 * pin.c - judges a pin and works out its table.
 *
 *   spec --read_rules--> sets of vCPUs and of pCPUs a rule --bind--> runs of vCPUs with the same rules --> slots
 *                                                          smart --------------------------------------> slots
 *
 * Neighbouring vCPUs that the same rules name have the same pCPUs, so the union is worked out once a run rather than once a vCPU: the places
 * where runs begin are the bits in which the rules' vCPU sets differ from themselves shifted by one. What a run costs is counted against a
 * limit, since rules may come from anywhere.
 *
 * Without a topology a rule by node has no pCPUs and a rule by pCPUs has no node; then what needs both is not judged.
 */
#include "runtime/base/pin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANGES 1000000u
#define MAX_UNIONS 200000u
#define MAX_SAID 100u
#define MAX_LIST_TEXT 60u

const char *stb_mempolicy_name(enum stb_mempolicy m)
{
	switch (m) {
	case STB_MEM_DEFAULT:
		return "default";
	case STB_MEM_LOCAL:
		return "local";
	case STB_MEM_INTERLEAVE:
		return "interleave";
	case STB_MEM_BIND:
		return "bind";
	case STB_MEM_PREFERRED:
		return "preferred";
	}
	return NULL;
}

bool stb_pin_is_warning(enum stb_pin_code c)
{
	return c == STB_PIN_OVERCOMMIT || c == STB_PIN_FAR_MEMORY;
}

struct rule {
	struct stb_cpuset vcpus, cpus, nodes;
};

/* vCPUs next to each other with the same rules. */
struct run {
	uint32_t first, last;
};

struct judge {
	const struct stb_pin_spec *p;
	const struct stb_topology *t;
	stb_pin_say *say;
	void *arg;
	struct rule *rules;
	struct stb_pin_result *r;
	struct run *runs;
	uint32_t n_runs, cap_runs, cap_ranges, n_unions, n_errors, n_said;
	bool any_node_rule;
};

/* Where something is wrong. */
struct place {
	enum stb_pin_field field;
	uint32_t rule, at, len;
};

STB_PRINTF(5, 6) static void say(struct judge *j, enum stb_pin_code code, struct place where, const char *remedy, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	j->n_errors += !stb_pin_is_warning(code);
	if (!j->say || j->n_said++ >= MAX_SAID)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	j->say(j->arg, &(struct stb_pin_diag){ .code = code, .field = where.field, .rule = where.rule, .at = where.at, .len = where.len,
		.text = text, .remedy = remedy });
}

static struct place at(enum stb_pin_field field)
{
	return (struct place){ .field = field };
}

static struct place at_rule(enum stb_pin_field field, uint32_t rule)
{
	return (struct place){ .field = field, .rule = rule };
}

struct text {
	char s[MAX_LIST_TEXT + 32];
};

/* "vCPU 3", "vCPUs 3-5,9"; a long list is cut behind a comma. */
static struct text named(const char *one, const struct stb_cpuset *set)
{
	struct stb_buf b;
	struct text out;
	size_t n;

	stb_buf_init(&b);
	stb_cpulist_print(set, &b);
	n = b.len;
	if (n > MAX_LIST_TEXT) {
		for (n = MAX_LIST_TEXT; n && b.data[n - 1] != ','; n--)
			;
	}
	snprintf(out.s, sizeof(out.s), "%s%s %.*s%s", one, stb_cpuset_count(set) == 1 ? "" : "s", (int)n, stb_buf_str(&b),
		n < b.len ? "..." : "");
	stb_buf_fini(&b);
	return out;
}

/* "nodes 0 and 1", "nodes 0-2" */
static struct text several_nodes(const struct stb_cpuset *set)
{
	const uint32_t first = stb_cpuset_next(set, 0), second = stb_cpuset_next(set, first + 1);
	struct text out;

	if (stb_cpuset_count(set) != 2)
		return named("node", set);
	snprintf(out.s, sizeof(out.s), "nodes %" PRIu32 " and %" PRIu32, first, second);
	return out;
}

static struct text named_range(const char *one, uint32_t first, uint32_t last)
{
	struct stb_cpuset s = { 0 };

	stb_cpuset_add_range(&s, first, last);
	return named(one, &s);
}

/* --- the text of the pin --------------------------------------------------------------------------------------------------------------- */

static bool read_list(struct judge *j, const char *list, uint32_t limit, struct place where, struct stb_cpuset *out)
{
	struct stb_cpulist_error e;

	if (!stb_cpulist_parse(list, strlen(list), limit, out, &e))
		return true;
	where.at = e.at;
	where.len = e.len;
	if (where.field == STB_PIN_AT_RULE && e.too_large && limit < STB_CPU_MAX)
		say(j, STB_PIN_NO_SUCH_VCPU, where, "vCPUs count from 0 to one less than `vcpus`", "there is no vCPU %.*s: `vcpus` is %" PRIu64,
			(int)STB_MIN(e.len, 20), list + e.at, j->p->vcpus);
	else
		say(j, STB_PIN_BAD_LIST, where, *e.remedy ? e.remedy : NULL, "%s", e.reason);
	return false;
}

static bool read_rule(struct judge *j, uint32_t i)
{
	const struct stb_pin_rule *rule = &j->p->rules[i];
	struct rule *out = &j->rules[i];
	bool good = read_list(j, rule->vcpus, (uint32_t)j->p->vcpus, at_rule(STB_PIN_AT_RULE, i), &out->vcpus);

	if (rule->cpus && rule->node != STB_PIN_NO_NODE) {
		say(j, STB_PIN_RULE_FORM, at_rule(STB_PIN_AT_RULE_NODE, i), "leave one of them out, or write two rules, whose union holds",
			"the rule has `node` and `cpus`");
		return false;
	}
	if (rule->cpus)
		return read_list(j, rule->cpus, STB_CPU_MAX, at_rule(STB_PIN_AT_RULE_CPUS, i), &out->cpus) && good;
	j->any_node_rule = true;
	if (rule->node == STB_PIN_NO_NODE) {
		say(j, STB_PIN_RULE_FORM, at_rule(STB_PIN_AT_RULE, i), "write `node = 0`, or `cpus = \"0-3\"`", "the rule binds to nothing");
		return false;
	}
	if (rule->node >= STB_NODE_MAX) {
		say(j, STB_PIN_NO_SUCH_NODE, at_rule(STB_PIN_AT_RULE_NODE, i), NULL, "there can be no node %" PRIu64 ": the highest is %u",
			rule->node, STB_NODE_MAX - 1);
		return false;
	}
	stb_cpuset_add(&out->nodes, (uint32_t)rule->node);
	return good;
}

static void check_coverage(struct judge *j)
{
	struct stb_cpuset missing = { 0 };

	stb_cpuset_add_range(&missing, 0, (uint32_t)j->p->vcpus - 1);
	for (uint32_t i = 0; i < j->p->n_rules; i++)
		stb_cpuset_subtract(&missing, &j->rules[i].vcpus);
	if (!stb_cpuset_empty(&missing))
		say(j, STB_PIN_UNBOUND, at(STB_PIN_AT_VCPUS), "write a rule for every vCPU, or fewer `vcpus`", "no rule binds %s",
			named("vCPU", &missing).s);
}

/* vcpus, strategy and the rules by themselves. False: there is nothing to go on with. */
static bool read_rules(struct judge *j)
{
	const struct stb_pin_spec *p = j->p;
	bool good = true;

	if (!p->vcpus || p->vcpus > STB_CPU_MAX) {
		say(j, STB_PIN_BAD_VCPUS, at(STB_PIN_AT_VCPUS), NULL, "`vcpus` is %" PRIu64 ", and from 1 to %u can be bound", p->vcpus, STB_CPU_MAX);
		return false;
	}
	if (p->n_rules > STB_PIN_MAX_RULES) {
		say(j, STB_PIN_BAD_VCPUS, at_rule(STB_PIN_AT_RULE, STB_PIN_MAX_RULES), "bind several vCPUs with one rule",
			"a pin has at most %u rules", STB_PIN_MAX_RULES);
		return false;
	}
	if (p->strategy == STB_PIN_SMART && p->n_rules) {
		say(j, STB_PIN_RULE_FORM, at_rule(STB_PIN_AT_RULE, 0), "leave out `strategy`, or the rules",
			"`strategy = smart` binds every vCPU, and there are rules as well");
		return false;
	}
	if (p->strategy == STB_PIN_SMART)
		return true;
	if (!p->n_rules) {
		say(j, STB_PIN_UNBOUND, at(STB_PIN_AT_BLOCK), "write `strategy = smart`, or rules such as `vcpu \"0-3\" { node = 0 }`",
			"no vCPU is bound: there is neither a strategy nor a rule");
		return false;
	}
	j->rules = stb_xcalloc(p->n_rules, sizeof(*j->rules));
	for (uint32_t i = 0; i < p->n_rules; i++)
		good = read_rule(j, i) && good;
	if (good)
		check_coverage(j);
	return good;
}

/* --- memory ---------------------------------------------------------------------------------------------------------------------------- */

/* Members of the set that are no nodes, or have no memory that this process may use, each kind with its reason. */
static void check_memory_nodes(struct judge *j, const struct stb_cpuset *set)
{
	static const char *const reasons[] = { "not there", "without memory", "not allowed to this process (cpuset)" };
	struct stb_cpuset bad[STB_LEN(reasons)];

	memset(bad, 0, sizeof(bad));
	for (uint32_t id = stb_cpuset_next(set, 0); id != STB_CPU_NONE; id = stb_cpuset_next(set, id + 1)) {
		const struct stb_numa_node *n = stb_topology_node(j->t, id);

		if (!n)
			stb_cpuset_add(&bad[0], id);
		else if (!n->memory_bytes)
			stb_cpuset_add(&bad[1], id);
		else if (!n->allowed)
			stb_cpuset_add(&bad[2], id);
	}
	for (size_t i = 0; i < STB_LEN(reasons); i++) {
		if (!stb_cpuset_empty(&bad[i]))
			say(j, STB_PIN_NO_MEMORY, at(STB_PIN_AT_MEMNODES), "`stb topology` shows the nodes and their memory",
				"memory cannot come from %s: %s", named("node", &bad[i]).s, reasons[i]);
	}
}

static void read_memory(struct judge *j)
{
	const struct stb_pin_spec *p = j->p;
	struct stb_cpuset *set = &j->r->memnodes;
	const bool needs = p->mempolicy == STB_MEM_BIND || p->mempolicy == STB_MEM_PREFERRED;
	const char *policy = stb_mempolicy_name(p->mempolicy);

	j->r->mempolicy = p->mempolicy;
	if (!p->memnodes && needs)
		say(j, STB_PIN_MEMNODES, at(STB_PIN_AT_MEMPOLICY), "write `memnodes = \"0\"`", "`mempolicy = %s` needs `memnodes`", policy);
	if (p->memnodes && !needs && p->mempolicy != STB_MEM_INTERLEAVE) {
		say(j, STB_PIN_MEMNODES, at(STB_PIN_AT_MEMNODES), "leave it out, or choose bind, preferred or interleave",
			"`memnodes` has no meaning with `mempolicy = %s`", policy);
		return;
	}
	if (p->memnodes) {
		if (!read_list(j, p->memnodes, STB_NODE_MAX, at(STB_PIN_AT_MEMNODES), set))
			return;
		if (p->mempolicy == STB_MEM_PREFERRED && stb_cpuset_count(set) > 1)
			say(j, STB_PIN_MEMNODES, at(STB_PIN_AT_MEMNODES), "name one node, or write `mempolicy = bind`",
				"`mempolicy = preferred` takes one node, and there are %" PRIu32, stb_cpuset_count(set));
		if (j->t)
			check_memory_nodes(j, set);
	} else if (p->mempolicy == STB_MEM_INTERLEAVE && j->t) {
		for (uint32_t i = 0; i < j->t->n_nodes; i++) {
			if (j->t->nodes[i].allowed && j->t->nodes[i].memory_bytes)
				stb_cpuset_add(set, j->t->nodes[i].id);
		}
	}
}

/* --- the rules on a topology ----------------------------------------------------------------------------------------------------------- */

static void place_cpus(struct judge *j, uint32_t i)
{
	struct rule *rule = &j->rules[i];
	struct stb_cpuset offline = { 0 }, forbidden = { 0 };

	for (uint32_t id = stb_cpuset_next(&rule->cpus, 0); id != STB_CPU_NONE; id = stb_cpuset_next(&rule->cpus, id + 1)) {
		const struct stb_cpu *c = stb_topology_cpu(j->t, id);

		if (!c)
			stb_cpuset_add(&offline, id);
		else if (!c->allowed)
			stb_cpuset_add(&forbidden, id);
		else
			stb_cpuset_add(&rule->nodes, c->node);
	}
	if (!stb_cpuset_empty(&offline))
		say(j, STB_PIN_NO_SUCH_CPU, at_rule(STB_PIN_AT_RULE_CPUS, i), "`stb topology` shows the pCPUs there are",
			"cannot bind to %s: not there, or offline", named("pCPU", &offline).s);
	if (!stb_cpuset_empty(&forbidden))
		say(j, STB_PIN_NO_SUCH_CPU, at_rule(STB_PIN_AT_RULE_CPUS, i), "widen the cpuset or the affinity that stb is started with",
			"cannot bind to %s: not allowed to this process (cpuset or affinity)", named("pCPU", &forbidden).s);
}

static void place_node(struct judge *j, uint32_t i)
{
	struct rule *rule = &j->rules[i];
	const uint32_t id = (uint32_t)j->p->rules[i].node;
	const struct stb_numa_node *n = stb_topology_node(j->t, id);
	const char *why = NULL;

	stb_topology_node_cpus(j->t, id, &rule->cpus);
	if (!n)
		why = "there is none";
	else if (!n->n_cpus)
		why = "it has memory only";
	else if (stb_cpuset_empty(&rule->cpus))
		why = "this process may use none of its pCPUs (cpuset or affinity)";
	if (!why)
		return;
	stb_cpuset_clear(&rule->nodes);
	say(j, STB_PIN_NO_SUCH_NODE, at_rule(STB_PIN_AT_RULE_NODE, i), "`stb topology` shows the nodes and their pCPUs",
		"cannot bind to node %" PRIu32 ": %s", id, why);
}

static void place_rules(struct judge *j)
{
	for (uint32_t i = 0; i < j->p->n_rules; i++) {
		if (j->p->rules[i].cpus)
			place_cpus(j, i);
		else
			place_node(j, i);
	}
}

/* --- vCPUs to slots -------------------------------------------------------------------------------------------------------------------- */

static bool add_range(struct judge *j, uint32_t first, uint32_t last)
{
	if (j->r->n_ranges >= MAX_RANGES) {
		say(j, STB_PIN_TOO_LARGE, at(STB_PIN_AT_BLOCK), "write longer ranges, or fewer rules",
			"the table of this pin has more than %u ranges of pCPUs", MAX_RANGES);
		return false;
	}
	STB_GROW(j->r->ranges, j->r->n_ranges, j->cap_ranges);
	j->r->ranges[j->r->n_ranges++] = (struct stb_pin_range){ first, last };
	return true;
}

/* The slots of a run; node STB_CPU_NONE where it is not known. */
static bool fill_slots(struct judge *j, struct run run, const struct stb_cpuset *cpus, uint32_t node)
{
	const uint32_t begin = j->r->n_ranges;
	uint32_t last = 0;

	for (uint32_t first = 0; stb_cpuset_next_range(cpus, &first, &last); first = last + 1) {
		if (!add_range(j, first, last))
			return false;
	}
	for (uint32_t v = run.first; v <= run.last; v++)
		j->r->slots[v] = (struct stb_pin_slot){ node, begin, j->r->n_ranges - begin };
	stb_cpuset_unite(&j->r->cpus, cpus);
	STB_GROW(j->runs, j->n_runs, j->cap_runs);
	j->runs[j->n_runs++] = run;
	return true;
}

/* One run of vCPUs: the union of the rules that name it. False: no use going on. */
static bool bind_run(struct judge *j, struct run run)
{
	struct stb_cpuset cpus = { 0 }, nodes = { 0 };
	struct place culprit = { 0 };

	for (uint32_t i = 0; i < j->p->n_rules; i++) {
		if (!stb_cpuset_has(&j->rules[i].vcpus, run.first))
			continue;
		if (++j->n_unions > MAX_UNIONS) {
			say(j, STB_PIN_TOO_LARGE, at(STB_PIN_AT_BLOCK), "write fewer rules for each vCPU", "the rules of this pin overlap too often");
			return false;
		}
		const uint32_t before = stb_cpuset_count(&nodes);

		stb_cpuset_unite(&cpus, &j->rules[i].cpus);
		stb_cpuset_unite(&nodes, &j->rules[i].nodes);
		if (stb_cpuset_count(&nodes) > STB_MAX(before, 1))
			culprit = at_rule(j->p->rules[i].cpus ? STB_PIN_AT_RULE_CPUS : STB_PIN_AT_RULE_NODE, i);
	}
	if (stb_cpuset_count(&nodes) > 1) {
		say(j, STB_PIN_SEVERAL_NODES, culprit, "keep the pCPUs of each vCPU in one node", "%s %s pCPUs of %s",
			named_range("vCPU", run.first, run.last).s, run.first == run.last ? "has" : "have", several_nodes(&nodes).s);
		return true;
	}
	return fill_slots(j, run, &cpus, stb_cpuset_next(&nodes, 0));
}

static void bind_by_rules(struct judge *j)
{
	struct stb_cpuset begins = { 0 };
	const uint32_t n = j->r->n_slots;

	for (uint32_t i = 0; i < j->p->n_rules; i++) {
		uint32_t last = 0;

		for (uint32_t first = 0; stb_cpuset_next_range(&j->rules[i].vcpus, &first, &last); first = last + 1) {
			stb_cpuset_add(&begins, first);
			if (last + 1 < n)
				stb_cpuset_add(&begins, last + 1);
		}
	}
	for (uint32_t v = 0, next; v < n; v = next) {
		next = stb_cpuset_next(&begins, v + 1);
		next = STB_MIN(next, n);
		if (!bind_run(j, (struct run){ v, next - 1 }))
			return;
	}
}

/* One vCPU to one pCPU, highest node first, and over again from there. */
static void bind_smart(struct judge *j)
{
	const struct stb_topology *t = j->t;
	const struct stb_cpu **order = stb_xcalloc(t->n_cpus, sizeof(*order));
	uint32_t n = 0;

	for (uint32_t k = t->n_nodes; k-- > 0;) {
		for (uint32_t i = 0; t->nodes[k].n_cpus && i < t->n_cpus; i++) {
			if (t->cpus[i].node == t->nodes[k].id && t->cpus[i].allowed)
				order[n++] = &t->cpus[i];
		}
	}
	if (!n)
		say(j, STB_PIN_NO_SUCH_CPU, at(STB_PIN_AT_STRATEGY), "widen the cpuset or the affinity that stb is started with",
			"this process may use no pCPU");
	for (uint32_t v = 0; n && v < j->r->n_slots; v++) {
		const struct stb_cpu *c = order[v % n];

		if (!add_range(j, c->id, c->id))
			break;
		j->r->slots[v] = (struct stb_pin_slot){ c->node, v, 1 };
		stb_cpuset_add(&j->r->cpus, c->id);
	}
	free(order);
}

/* --- warnings -------------------------------------------------------------------------------------------------------------------------- */

#define SLOW "they take turns, which is slow; bind fewer vCPUs, or to more pCPUs"

/* A node's vCPUs, and the pCPUs there that the pin uses. */
struct load {
	struct stb_cpuset vcpus, cpus;
};

static bool is_overcommitted(const struct load *l)
{
	return stb_cpuset_count(&l->vcpus) > stb_cpuset_count(&l->cpus);
}

static void load_of(const struct judge *j, const struct stb_numa_node *n, struct load *l)
{
	stb_cpuset_clear(&l->vcpus);
	for (uint32_t v = 0; v < j->r->n_slots; v++) {
		if (j->r->slots[v].node == n->id)
			stb_cpuset_add(&l->vcpus, v);
	}
	stb_topology_node_cpus(j->t, n->id, &l->cpus);
	stb_cpuset_intersect(&l->cpus, &j->r->cpus);
}

/* Tells the nodes with more vCPUs than pCPUs, unless all are that are used: then that is told at once. False: there is none. */
static bool check_nodes(struct judge *j)
{
	struct load l;
	uint32_t n_used = 0, n_over = 0;

	for (uint32_t i = 0; i < j->t->n_nodes; i++) {
		load_of(j, &j->t->nodes[i], &l);
		n_used += !stb_cpuset_empty(&l.vcpus);
		n_over += is_overcommitted(&l);
	}
	for (uint32_t i = 0; n_over && n_over < n_used && i < j->t->n_nodes; i++) {
		load_of(j, &j->t->nodes[i], &l);
		if (is_overcommitted(&l))
			say(j, STB_PIN_OVERCOMMIT, at(STB_PIN_AT_VCPUS), SLOW, "%" PRIu32 " vCPUs share %" PRIu32 " pCPU%s of node %" PRIu32 ": %s",
				stb_cpuset_count(&l.vcpus), stb_cpuset_count(&l.cpus), stb_cpuset_count(&l.cpus) == 1 ? "" : "s",
				j->t->nodes[i].id, named("vCPU", &l.vcpus).s);
	}
	return n_over && n_over < n_used;
}

static int by_ranges(const void *a, const void *b, void *arg)
{
	const struct stb_pin_result *r = arg;
	const struct run *x = a, *y = b;
	const struct stb_pin_slot *s = &r->slots[x->first], *t = &r->slots[y->first];
	const uint32_t n = STB_MIN(s->n_ranges, t->n_ranges);
	const int d = memcmp(&r->ranges[s->range], &r->ranges[t->range], n * sizeof(*r->ranges));

	if (d)
		return d;
	if (s->n_ranges != t->n_ranges)
		return s->n_ranges < t->n_ranges ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static bool same_ranges(const struct stb_pin_result *r, const struct run *x, const struct run *y)
{
	const struct stb_pin_slot *s = &r->slots[x->first], *t = &r->slots[y->first];

	return s->n_ranges == t->n_ranges && !memcmp(&r->ranges[s->range], &r->ranges[t->range], s->n_ranges * sizeof(*r->ranges));
}

static uint32_t count_cpus(const struct stb_pin_result *r, const struct stb_pin_slot *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_ranges; i++)
		n += r->ranges[s->range + i].last - r->ranges[s->range + i].first + 1;
	return n;
}

/* vCPUs with the very same pCPUs that are more than these: the slip in a list of one to one. */
static void check_equal_sets(struct judge *j)
{
	if (j->n_runs) /* none where strategy = smart */
		qsort_r(j->runs, j->n_runs, sizeof(*j->runs), by_ranges, j->r);
	for (uint32_t i = 0, k; i < j->n_runs; i = k) {
		const struct stb_pin_slot *s = &j->r->slots[j->runs[i].first];
		struct stb_cpuset vcpus = { 0 }, cpus;

		for (k = i; k < j->n_runs && same_ranges(j->r, &j->runs[i], &j->runs[k]); k++)
			stb_cpuset_add_range(&vcpus, j->runs[k].first, j->runs[k].last);
		if (stb_cpuset_count(&vcpus) <= count_cpus(j->r, s))
			continue;
		stb_pin_worker_cpus(j->r, j->runs[i].first, &cpus);
		say(j, STB_PIN_OVERCOMMIT, at(STB_PIN_AT_VCPUS), SLOW, "%s share %s", named("vCPU", &vcpus).s, named("pCPU", &cpus).s);
	}
}

/* Told once: of some nodes, of all that is used, or of vCPUs with the same pCPUs. */
static void check_overcommit(struct judge *j)
{
	const uint32_t n_cpus = stb_cpuset_count(&j->r->cpus);

	if (j->t && check_nodes(j))
		return;
	if (j->r->n_slots > n_cpus)
		say(j, STB_PIN_OVERCOMMIT, at(STB_PIN_AT_VCPUS), SLOW, "%" PRIu32 " vCPUs share %" PRIu32 " pCPU%s", j->r->n_slots, n_cpus,
			n_cpus == 1 ? "" : "s");
	else
		check_equal_sets(j);
}

static void check_local_memory(struct judge *j)
{
	struct stb_cpuset far = { 0 };

	for (uint32_t v = 0; v < j->r->n_slots; v++) {
		const struct stb_numa_node *n = stb_topology_node(j->t, j->r->slots[v].node);

		if (n && (!n->memory_bytes || !n->allowed))
			stb_cpuset_add(&far, n->id);
	}
	if (!stb_cpuset_empty(&far))
		say(j, STB_PIN_FAR_MEMORY, at(STB_PIN_AT_MEMPOLICY), "bind to nodes with memory, or choose the memory with `memnodes`",
			"`mempolicy = local` on %s, which %s this process no memory: it comes from another node", named("node", &far).s,
			stb_cpuset_count(&far) == 1 ? "gives" : "give");
}

/* --- the whole ------------------------------------------------------------------------------------------------------------------------- */

static void judge(struct judge *j)
{
	const bool readable = read_rules(j);

	read_memory(j);
	if (!readable || (!j->t && j->p->strategy == STB_PIN_SMART))
		return;
	j->r->n_slots = (uint32_t)j->p->vcpus;
	j->r->slots = stb_xcalloc(j->r->n_slots, sizeof(*j->r->slots));
	if (j->p->strategy == STB_PIN_SMART) {
		bind_smart(j);
	} else {
		if (j->t)
			place_rules(j);
		bind_by_rules(j);
	}
	if (j->n_errors)
		return;
	if (j->t || !j->any_node_rule)
		check_overcommit(j);
	if (j->t && j->p->mempolicy == STB_MEM_LOCAL)
		check_local_memory(j);
}

int stb_pin_resolve(const struct stb_pin_spec *p, const struct stb_topology *t, struct stb_pin_result *r, stb_pin_say *tell, void *arg)
{
	struct stb_pin_result *own = stb_xcalloc(1, sizeof(*own));
	struct judge j = { .p = p, .t = t, .say = tell, .arg = arg, .r = own };
	const bool keep = r != NULL;

	STB_ASSERT(t || !r);
	judge(&j);
	free(j.rules);
	free(j.runs);
	if (keep)
		memset(r, 0, sizeof(*r));
	if (keep && !j.n_errors)
		*r = *own;
	else
		stb_pin_result_fini(own);
	free(own);
	return j.n_errors ? -1 : 0;
}

void stb_pin_result_fini(struct stb_pin_result *r)
{
	free(r->slots);
	free(r->ranges);
	memset(r, 0, sizeof(*r));
}

void stb_pin_worker_cpus(const struct stb_pin_result *r, uint64_t worker, struct stb_cpuset *out)
{
	const struct stb_pin_slot *s = &r->slots[worker % r->n_slots];

	stb_cpuset_clear(out);
	for (uint32_t i = 0; i < s->n_ranges; i++)
		stb_cpuset_add_range(out, r->ranges[s->range + i].first, r->ranges[s->range + i].last);
}

uint32_t stb_pin_worker_node(const struct stb_pin_result *r, uint64_t worker)
{
	return r->slots[worker % r->n_slots].node;
}

/* --- the table ------------------------------------------------------------------------------------------------------------------------- */

static bool single(const struct stb_pin_result *r, uint32_t v)
{
	return count_cpus(r, &r->slots[v]) == 1;
}

/* The last vCPU of the line that begins with v: equal pCPUs, or one pCPU each in ascending order. */
static uint32_t line_end(const struct stb_pin_result *r, uint32_t v, bool *one_to_one)
{
	const struct stb_pin_slot *s = r->slots;
	uint32_t end = v;

	*one_to_one = false;
	while (end + 1 < r->n_slots && s[end + 1].node == s[v].node &&
		same_ranges(r, &(struct run){ v, v }, &(struct run){ end + 1, end + 1 }))
		end++;
	if (end > v || !single(r, v))
		return end;
	while (end + 1 < r->n_slots && s[end + 1].node == s[v].node && single(r, end + 1) &&
		r->ranges[s[end + 1].range].first > r->ranges[s[end].range].first)
		end++;
	*one_to_one = end > v;
	return end;
}

void stb_pin_print(const struct stb_pin_result *r, struct stb_buf *out)
{
	struct stb_cpuset s, more;
	bool one_to_one;

	stb_buf_adds(out, "vCPUs        node  pCPUs\n");
	for (uint32_t v = 0, end; v < r->n_slots; v = end + 1) {
		char vcpus[24];

		end = line_end(r, v, &one_to_one);
		snprintf(vcpus, sizeof(vcpus), end > v ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, v, end);
		stb_buf_printf(out, "%-11s  %4" PRIu32 "  ", vcpus, r->slots[v].node);
		stb_pin_worker_cpus(r, v, &s);
		for (uint32_t w = v + 1; one_to_one && w <= end; w++) {
			stb_pin_worker_cpus(r, w, &more);
			stb_cpuset_unite(&s, &more);
		}
		stb_cpulist_print(&s, out);
		stb_buf_adds(out, one_to_one ? " (one to one)\n" : "\n");
	}
	stb_buf_printf(out, "memory: %s", stb_mempolicy_name(r->mempolicy));
	if (!stb_cpuset_empty(&r->memnodes)) {
		stb_buf_adds(out, stb_cpuset_count(&r->memnodes) == 1 ? " node " : " nodes ");
		stb_cpulist_print(&r->memnodes, out);
	}
	stb_buf_addc(out, '\n');
}
