/*
 * test_pin.c - pins without a machine and on the saved topologies of tests/golden/topology: NAME.json is shown as NAME.table, and NAME.pins is
 * what each of the pins below comes to there.
 */
#include "runtime/base/pin.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define DIR "tests/golden/topology"

struct sample {
	struct stb_pin_spec spec;
	struct stb_pin_rule rules[4];
};

#define BY_NODE(vcpus, n) { (vcpus), NULL, (n) }
#define BY_CPUS(vcpus, cpus) { (vcpus), (cpus), STB_PIN_NO_NODE }

static const struct sample samples[] = {
	{ { .name = "published", .vcpus = 48, .strategy = STB_PIN_SMART, .mempolicy = STB_MEM_LOCAL }, { { 0 } } },
	{ { .name = "smart_small", .vcpus = 3, .strategy = STB_PIN_SMART, .mempolicy = STB_MEM_INTERLEAVE }, { { 0 } } },
	{ { .name = "smart_wraps", .vcpus = 65, .strategy = STB_PIN_SMART }, { { 0 } } },
	{ { .name = "by_hand", .vcpus = 48, .mempolicy = STB_MEM_BIND, .memnodes = "0-1", .n_rules = 2 },
		{ BY_NODE("0-31", 1), BY_CPUS("32-47", "0-15,^3") } },
	{ { .name = "node_0", .vcpus = 4, .mempolicy = STB_MEM_LOCAL, .n_rules = 1 }, { BY_NODE("0-3", 0) } },
	{ { .name = "node_2", .vcpus = 4, .mempolicy = STB_MEM_LOCAL, .n_rules = 1 }, { BY_NODE("0-3", 2) } },
	{ { .name = "node_3", .vcpus = 1, .mempolicy = STB_MEM_PREFERRED, .memnodes = "3", .n_rules = 1 }, { BY_NODE("0", 3) } },
	{ { .name = "far_memory", .vcpus = 2, .mempolicy = STB_MEM_BIND, .memnodes = "2-3", .n_rules = 1 }, { BY_NODE("0-1", 0) } },
	{ { .name = "union", .vcpus = 4, .n_rules = 3 }, { BY_CPUS("0-3", "4"), BY_CPUS("2-3", "6"), BY_CPUS("^2,0-3", "4-6,^5") } },
	{ { .name = "two_nodes", .vcpus = 4, .n_rules = 3 }, { BY_NODE("0-3", 0), BY_CPUS("2-3", "16,128"), BY_NODE("3", 1) } },
	{ { .name = "one_cpu_twice", .vcpus = 3, .n_rules = 3 }, { BY_CPUS("0", "4"), BY_CPUS("1", "6"), BY_CPUS("2", "4") } },
	{ { .name = "slip", .vcpus = 4, .n_rules = 4 }, { BY_CPUS("0", "4"), BY_CPUS("1", "0-2,^1"), BY_CPUS("2", "4"), BY_CPUS("3", "6") } },
};

static void put_diag(void *arg, const struct stb_pin_diag *d)
{
	static const char *const fields[] = { "block", "vcpus", "strategy", "mempolicy", "memnodes", "rule", "rule node", "rule cpus" };
	FILE *out = arg;

	fprintf(out, "%s at %s", stb_pin_is_warning(d->code) ? "warning" : "error", fields[d->field]);
	if (d->field >= STB_PIN_AT_RULE)
		fprintf(out, " %u", d->rule);
	if (d->at || d->len)
		fprintf(out, ", byte %u+%u", d->at, d->len);
	fprintf(out, ": %s\n", d->text);
	if (d->remedy)
		fprintf(out, "  what to do: %s\n", d->remedy);
}

static struct stb_topology *load(const char *path)
{
	struct stb_err err = { 0 };
	struct stb_topology *t = stb_topology_load(path, &err);

	cr_assert(t, "%s", err.what);
	return t;
}

static void print_table(const char *path, const char *name, FILE *out)
{
	struct stb_topology *t = load(path);
	struct stb_buf b;

	(void)name;
	stb_buf_init(&b);
	stb_topology_print(t, &b);
	fputs(stb_buf_str(&b), out);
	stb_buf_fini(&b);
	stb_topology_free(t);
}

static void print_pins(const char *path, const char *name, FILE *out)
{
	struct stb_topology *t = load(path);
	struct stb_pin_result r;
	struct stb_buf b;

	(void)name;
	stb_buf_init(&b);
	for (size_t i = 0; i < STB_LEN(samples); i++) {
		struct stb_pin_spec p = samples[i].spec;

		p.rules = samples[i].rules;
		fprintf(out, "%s== %s\n", i ? "\n" : "", p.name);
		if (stb_pin_resolve(&p, t, &r, put_diag, out))
			continue;
		stb_buf_clear(&b);
		stb_pin_print(&r, &b);
		fputs(stb_buf_str(&b), out);
		stb_pin_result_fini(&r);
	}
	stb_buf_fini(&b);
	stb_topology_free(t);
}

Test(pin, saved_topologies)
{
	cr_expect_geq(golden_dir_of(DIR, "json", "table", print_table), 5);
	cr_expect_geq(golden_dir_of(DIR, "json", "pins", print_pins), 5);
}

/* The published case, asserted and not only recorded: 48 vCPUs, 32 on node 1 and 16 on node 0, one to one. */
Test(pin, the_published_table)
{
	const struct stb_pin_spec p = { .name = "vnuma", .vcpus = 48, .strategy = STB_PIN_SMART, .mempolicy = STB_MEM_LOCAL };
	struct stb_topology *t = load(DIR "/two_nodes.json");
	struct stb_cpuset seen = { 0 }, cpus;
	struct stb_pin_result r;

	cr_assert_eq(stb_pin_resolve(&p, t, &r, put_diag, stderr), 0);
	for (uint32_t v = 0; v < 48; v++) {
		stb_pin_worker_cpus(&r, v, &cpus);
		cr_expect_eq(stb_pin_worker_node(&r, v), v < 32 ? 1 : 0);
		cr_expect_eq(stb_cpuset_count(&cpus), 1);
		cr_expect_not(stb_cpuset_has(&seen, stb_cpuset_next(&cpus, 0)));
		stb_cpuset_unite(&seen, &cpus);
	}
	cr_expect_eq(memcmp(&seen, &r.cpus, sizeof(seen)), 0); /* what a server gets is the union */
	stb_pin_worker_cpus(&r, 48, &cpus);
	cr_expect_eq(stb_cpuset_next(&cpus, 0), 16); /* worker 48 has slot 0 again */
	stb_pin_worker_cpus(&r, UINT64_MAX, &cpus);
	cr_expect_eq(stb_cpuset_count(&cpus), 1);
	stb_pin_result_fini(&r);
	stb_topology_free(t);
}

/* What is said of a pin without a machine, all of it. */
static char *judged(struct stb_pin_spec p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%d\n", stb_pin_resolve(&p, NULL, NULL, put_diag, out));
	fclose(out);
	return text;
}

static void expect_judged(struct stb_pin_spec p, const struct stb_pin_rule *rules, uint32_t n, const char *expected)
{
	p.rules = rules;
	p.n_rules = n;
	char *found = judged(p);

	cr_expect_str_eq(found, expected);
	free(found);
}

#define RULES(...) (const struct stb_pin_rule[]){ __VA_ARGS__ }, (uint32_t)STB_LEN(((const struct stb_pin_rule[]){ __VA_ARGS__ }))

Test(pin, without_a_machine)
{
	const struct stb_pin_spec four = { .vcpus = 4 };

	expect_judged(four, NULL, 0, "error at block: no vCPU is bound: there is neither a strategy nor a rule\n"
		"  what to do: write `strategy = smart`, or rules such as `vcpu \"0-3\" { node = 0 }`\n-1\n");
	expect_judged(four, RULES(BY_NODE("0-3", 7)), "0\n");
	expect_judged(four, RULES(BY_NODE("0", 1), BY_NODE("2", 1)), "error at vcpus: no rule binds vCPUs 1,3\n"
		"  what to do: write a rule for every vCPU, or fewer `vcpus`\n-1\n");
	expect_judged(four, RULES(BY_NODE("0-4", 1)), "error at rule 0, byte 2+1: there is no vCPU 4: `vcpus` is 4\n"
		"  what to do: vCPUs count from 0 to one less than `vcpus`\n-1\n");
	expect_judged(four, RULES(BY_NODE("0-3", 0), BY_CPUS("2", "0-1,x")),
		"error at rule cpus 1, byte 4+1: `x` stands where a number was expected\n-1\n");
	expect_judged(four, RULES(BY_NODE("0-3", 0), BY_NODE("1-2", 1)), "error at rule node 1: vCPUs 1-2 have pCPUs of nodes 0 and 1\n"
		"  what to do: keep the pCPUs of each vCPU in one node\n-1\n");
	expect_judged(four, RULES(BY_CPUS("0-3", "0-2")), "warning at vcpus: 4 vCPUs share 3 pCPUs\n"
		"  what to do: they take turns, which is slow; bind fewer vCPUs, or to more pCPUs\n0\n");
	expect_judged(four, RULES({ "0-3", NULL, STB_PIN_NO_NODE }), "error at rule 0: the rule binds to nothing\n"
		"  what to do: write `node = 0`, or `cpus = \"0-3\"`\n-1\n");
	expect_judged(four, RULES({ "0-3", "0-3", 0 }), "error at rule node 0: the rule has `node` and `cpus`\n"
		"  what to do: leave one of them out, or write two rules, whose union holds\n-1\n");
	expect_judged(four, RULES(BY_NODE("0-3", 1024)), "error at rule node 0: there can be no node 1024: the highest is 1023\n-1\n");
	expect_judged((struct stb_pin_spec){ .vcpus = 4, .strategy = STB_PIN_SMART }, RULES(BY_NODE("0-3", 0)),
		"error at rule 0: `strategy = smart` binds every vCPU, and there are rules as well\n"
		"  what to do: leave out `strategy`, or the rules\n-1\n");
}

Test(pin, counts_have_limits)
{
	struct stb_pin_spec p = { .vcpus = 0, .strategy = STB_PIN_SMART };

	cr_expect_eq(stb_pin_resolve(&p, NULL, NULL, NULL, NULL), -1);
	p.vcpus = STB_CPU_MAX;
	cr_expect_eq(stb_pin_resolve(&p, NULL, NULL, NULL, NULL), 0);
	p.vcpus = UINT64_MAX;
	cr_expect_eq(stb_pin_resolve(&p, NULL, NULL, NULL, NULL), -1);
}

static void expect_memory(enum stb_mempolicy policy, const char *memnodes, const char *expected)
{
	expect_judged((struct stb_pin_spec){ .vcpus = 1, .strategy = STB_PIN_SMART, .mempolicy = policy, .memnodes = memnodes }, NULL, 0, expected);
}

Test(pin, memnodes_fit_the_policy)
{
	expect_memory(STB_MEM_LOCAL, NULL, "0\n");
	expect_memory(STB_MEM_INTERLEAVE, NULL, "0\n");
	expect_memory(STB_MEM_INTERLEAVE, "0-1", "0\n");
	expect_memory(STB_MEM_BIND, "0-1,^0", "0\n");
	expect_memory(STB_MEM_PREFERRED, "1", "0\n");
	expect_memory(STB_MEM_BIND, NULL, "error at mempolicy: `mempolicy = bind` needs `memnodes`\n  what to do: write `memnodes = \"0\"`\n-1\n");
	expect_memory(STB_MEM_PREFERRED, "0-1", "error at memnodes: `mempolicy = preferred` takes one node, and there are 2\n"
		"  what to do: name one node, or write `mempolicy = bind`\n-1\n");
	expect_memory(STB_MEM_LOCAL, "0", "error at memnodes: `memnodes` has no meaning with `mempolicy = local`\n"
		"  what to do: leave it out, or choose bind, preferred or interleave\n-1\n");
	expect_memory(STB_MEM_DEFAULT, "0", "error at memnodes: `memnodes` has no meaning with `mempolicy = default`\n"
		"  what to do: leave it out, or choose bind, preferred or interleave\n-1\n");
	expect_memory(STB_MEM_BIND, "0-1024", "error at memnodes, byte 2+4: 1024 is too large\n  what to do: the highest number is 1023\n-1\n");
}

static enum stb_pin_sharing share(const struct stb_pin_rule *a, const struct stb_pin_rule *b, const struct stb_topology *t, const char *expected)
{
	const struct stb_pin_spec p = { .vcpus = 1, .strategy = a ? STB_PIN_MANUAL : STB_PIN_SMART, .rules = a, .n_rules = a != NULL };
	const struct stb_pin_spec q = { .vcpus = 1, .strategy = b ? STB_PIN_MANUAL : STB_PIN_SMART, .rules = b, .n_rules = b != NULL };
	struct stb_cpuset shared;
	struct stb_buf text;
	const enum stb_pin_sharing answer = stb_pin_shares(&p, &q, t, &shared);

	stb_buf_init(&text);
	stb_cpulist_print(&shared, &text);
	cr_expect_str_eq(stb_buf_str(&text), expected);
	stb_buf_fini(&text);
	return answer;
}

Test(pin, two_pins_share)
{
	const struct stb_pin_rule low = BY_CPUS("0", "0-3"), high = BY_CPUS("0", "4-7"), middle = BY_CPUS("0", "3-4");
	const struct stb_pin_rule node0 = BY_NODE("0", 0), node1 = BY_NODE("0", 1), wrong = BY_CPUS("0", "9999");
	struct stb_topology *t = load(DIR "/two_nodes.json");

	cr_expect_eq(share(&low, &high, NULL, ""), STB_PIN_SHARE_NO);
	cr_expect_eq(share(&low, &middle, NULL, "3"), STB_PIN_SHARE_YES);
	cr_expect_eq(share(&node0, &node1, NULL, ""), STB_PIN_SHARE_NO);
	cr_expect_eq(share(&node1, &node1, NULL, ""), STB_PIN_SHARE_YES);
	cr_expect_eq(share(&low, &node1, NULL, ""), STB_PIN_SHARE_UNKNOWN);
	cr_expect_eq(share(NULL, NULL, NULL, ""), STB_PIN_SHARE_YES);
	cr_expect_eq(share(NULL, &low, NULL, ""), STB_PIN_SHARE_UNKNOWN);
	cr_expect_eq(share(&low, &node1, t, ""), STB_PIN_SHARE_NO);
	cr_expect_eq(share(&low, &node0, t, "0-3"), STB_PIN_SHARE_YES);
	cr_expect_eq(share(NULL, &node1, t, "16"), STB_PIN_SHARE_YES);
	cr_expect_eq(share(&wrong, &node1, t, ""), STB_PIN_SHARE_UNKNOWN);
	stb_topology_free(t);
}

/* Every second vCPU by each rule, over and over: much work for little text has an end. */
Test(pin, overlapping_rules_are_bounded)
{
	static struct stb_pin_rule rules[STB_PIN_MAX_RULES];
	struct stb_pin_spec p = { .vcpus = 2000, .rules = rules, .n_rules = STB_PIN_MAX_RULES };
	struct stb_buf list;

	stb_buf_init(&list);
	for (int i = 0; i < 1000; i++)
		stb_buf_printf(&list, "%s%d", i ? "," : "", 2 * i);
	for (uint32_t i = 0; i < STB_PIN_MAX_RULES; i++)
		rules[i] = (struct stb_pin_rule)BY_NODE(i ? stb_buf_str(&list) : "0-1999", 0);
	cr_expect_eq(stb_pin_resolve(&p, NULL, NULL, NULL, NULL), -1);
	p.n_rules = 100;
	cr_expect_eq(stb_pin_resolve(&p, NULL, NULL, NULL, NULL), 0);
	stb_buf_fini(&list);
}
