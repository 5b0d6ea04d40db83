/*
 * pin_share.c - whether two pins, a server's and a client's, share pCPUs.
 *
 * On a topology both are resolved and their unions compared. Without one, what is named tells part of it: pCPUs and nodes that both name are
 * shared whatever the machine, and pins that only name pCPUs, or only nodes, are apart where the names are.
 */
#include "runtime/base/pin.h"

#include <stdlib.h>
#include <string.h>

/* What the text alone says: the pCPUs that are named, the nodes that are named. */
struct claims {
	struct stb_cpuset cpus, nodes;
	bool smart;
};

static bool claims_of(const struct stb_pin_spec *p, struct claims *c)
{
	struct stb_cpuset s;
	struct stb_cpulist_error e;

	memset(c, 0, sizeof(*c));
	c->smart = p->strategy == STB_PIN_SMART;
	if (stb_pin_resolve(p, NULL, NULL, NULL, NULL))
		return false;
	for (uint32_t i = 0; i < p->n_rules; i++) {
		if (!p->rules[i].cpus)
			stb_cpuset_add(&c->nodes, (uint32_t)p->rules[i].node);
		else if (!stb_cpulist_parse(p->rules[i].cpus, strlen(p->rules[i].cpus), STB_CPU_MAX, &s, &e))
			stb_cpuset_unite(&c->cpus, &s);
	}
	return true;
}

static enum stb_pin_sharing shares_by_text(const struct stb_pin_spec *a, const struct stb_pin_spec *b, struct stb_cpuset *shared)
{
	struct claims *c = stb_xcalloc(2, sizeof(*c));
	enum stb_pin_sharing answer = STB_PIN_SHARE_UNKNOWN;

	if (!claims_of(a, &c[0]) || !claims_of(b, &c[1]))
		goto out;
	/* two pins of one kind only can be compared in full */
	const bool cpus_only = !c[0].smart && !c[1].smart && stb_cpuset_empty(&c[0].nodes) && stb_cpuset_empty(&c[1].nodes);
	const bool nodes_only = !c[0].smart && !c[1].smart && stb_cpuset_empty(&c[0].cpus) && stb_cpuset_empty(&c[1].cpus);

	stb_cpuset_intersect(&c[0].cpus, &c[1].cpus);
	stb_cpuset_intersect(&c[0].nodes, &c[1].nodes);
	*shared = c[0].cpus;
	if ((c[0].smart && c[1].smart) || !stb_cpuset_empty(&c[0].cpus) || !stb_cpuset_empty(&c[0].nodes))
		answer = STB_PIN_SHARE_YES; /* two smart pins begin with the same pCPU */
	else if (cpus_only || nodes_only)
		answer = STB_PIN_SHARE_NO;
out:
	free(c);
	return answer;
}

enum stb_pin_sharing stb_pin_shares(const struct stb_pin_spec *a, const struct stb_pin_spec *b, const struct stb_topology *t,
	struct stb_cpuset *shared)
{
	struct stb_pin_result *r = stb_xcalloc(2, sizeof(*r));
	struct stb_cpuset own = { 0 };
	enum stb_pin_sharing answer = STB_PIN_SHARE_UNKNOWN;

	if (!t) {
		answer = shares_by_text(a, b, &own);
	} else if (!stb_pin_resolve(a, t, &r[0], NULL, NULL) && !stb_pin_resolve(b, t, &r[1], NULL, NULL)) {
		own = r[0].cpus;
		stb_cpuset_intersect(&own, &r[1].cpus);
		answer = stb_cpuset_empty(&own) ? STB_PIN_SHARE_NO : STB_PIN_SHARE_YES;
	}
	stb_pin_result_fini(&r[0]);
	stb_pin_result_fini(&r[1]);
	free(r);
	if (shared)
		*shared = own;
	return answer;
}
