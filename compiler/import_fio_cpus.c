/* import_fio_cpus.c - where fio jobs run, as a pin; and which figures they show, as the metrics of a report. */
#include "compiler/import_fio.h"

#include "runtime/base/cpulist.h"
#include "runtime/base/metric.h"

#include <inttypes.h>
#include <string.h>

#define ATTR(...) stb_import_attr(x->im, __VA_ARGS__)

static struct stb_arena *arena(struct stb_fio_import *x)
{
	return &x->im->c->arena;
}

/* --- CPUs ------------------------------------------------------------------------------------------------------------------------------ */

static bool read_cpus(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_cpuset *set)
{
	struct stb_fio_option *o = j->sym[STB_FIO_CPUS];
	const char *text = stb_fio_word(x, j, STB_FIO_CPUS);
	struct stb_cpulist_error err;
	uint64_t mask;

	if (!text)
		return false;
	stb_cpuset_clear(set);
	if (!strcmp(o->name, "cpumask")) {
		if (!stb_fio_read_number(x, j, o, text, &mask))
			return false;
		for (uint32_t i = 0; i < 64; i++)
			if (mask >> i & 1)
				stb_cpuset_add(set, i);
		return !stb_cpuset_empty(set);
	}
	if (!stb_cpulist_parse(text, strlen(text), STB_CPU_MAX, set, &err))
		return true;
	stb_fio_bad(x, o, "%s", err.reason);
	return false;
}

static const char *cpus_rule(struct stb_fio_import *x, const struct stb_cpuset *set)
{
	struct stb_buf b;
	const char *rule;

	stb_buf_init(&b);
	stb_cpulist_print(set, &b);
	rule = stb_arena_printf(arena(x), "cpus = \"%s\"", stb_buf_str(&b));
	stb_buf_fini(&b);
	return rule;
}

/* shared: one vCPU that may run on all of them; split: one vCPU for each. */
static bool pin_cpus(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_pin *pin)
{
	const char *policy = stb_fio_word(x, j, STB_FIO_CPUS_POLICY);
	struct stb_cpuset *set = STB_NEW(arena(x), struct stb_cpuset), *one = STB_NEW(arena(x), struct stb_cpuset);
	const char **rules;
	uint32_t n = 0;

	if (!read_cpus(x, j, set))
		return false;
	if (policy && strcmp(policy, "split") && strcmp(policy, "shared")) {
		stb_fio_bad(x, j->sym[STB_FIO_CPUS_POLICY], "that is none of shared and split");
		return false;
	}
	if (policy && !strcmp(policy, "split")) {
		rules = STB_NEW_ARRAY(arena(x), const char *, stb_cpuset_count(set));
		for (uint32_t c = stb_cpuset_next(set, 0); c != STB_CPU_NONE; c = stb_cpuset_next(set, c + 1)) {
			stb_cpuset_clear(one);
			stb_cpuset_add(one, c);
			rules[n++] = cpus_rule(x, one);
		}
	} else {
		rules = STB_NEW_ARRAY(arena(x), const char *, 1);
		rules[n++] = cpus_rule(x, set);
	}
	pin->rules = rules;
	pin->n_vcpus = n;
	return true;
}

static bool pin_node(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_pin *pin)
{
	const char *text = stb_fio_word(x, j, STB_FIO_NUMA_NODES), **rules;

	if (!text)
		return false;
	if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 4) {
		stb_fio_refuse(x, j->sym[STB_FIO_NUMA_NODES], "the pCPUs of a vCPU lie in one NUMA node");
		return false;
	}
	rules = STB_NEW_ARRAY(arena(x), const char *, 1);
	rules[0] = stb_arena_printf(arena(x), "node = %s", text + strspn(text, "0") - (strspn(text, "0") == strlen(text)));
	pin->rules = rules;
	pin->n_vcpus = 1;
	return true;
}

static bool pin_memory(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_pin *pin)
{
	static const struct {
		const char *fio, *ours;
	} policies[] = { { "default", "default" }, { "prefer", "preferred" }, { "bind", "bind" }, { "interleave", "interleave" }, { "local", "local" } };
	const char *text = stb_fio_word(x, j, STB_FIO_NUMA_POLICY);
	const size_t n = text ? strcspn(text, ":") : 0;

	for (size_t i = 0; text && i < STB_LEN(policies); i++)
		if (strlen(policies[i].fio) == n && !memcmp(policies[i].fio, text, n)) {
			pin->mempolicy = policies[i].ours;
			pin->memnodes = text[n] ? text + n + 1 : NULL;
			return true;
		}
	if (text)
		stb_fio_bad(x, j->sym[STB_FIO_NUMA_POLICY], "that is none of default, prefer, bind, interleave and local");
	return !text;
}

bool stb_fio_read_pin(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_pin *pin)
{
	const bool cpus = j->sym[STB_FIO_CPUS], node = j->sym[STB_FIO_NUMA_NODES];

	*pin = (struct stb_fio_pin){ 0 };
	if (cpus ? !pin_cpus(x, j, pin) : node && !pin_node(x, j, pin))
		return false;
	if (cpus && node)
		stb_fio_refuse(x, j->sym[STB_FIO_NUMA_NODES], "cpus_allowed says already where it runs");
	if (!cpus)
		stb_fio_idle(j->sym[STB_FIO_CPUS_POLICY], "it belongs to cpus_allowed");
	if (pin->n_vcpus)
		return pin_memory(x, j, pin);
	if (j->sym[STB_FIO_NUMA_POLICY])
		stb_fio_refuse(x, j->sym[STB_FIO_NUMA_POLICY], "memory follows the CPUs of a pin, and this job has none");
	return true;
}

void stb_fio_put_pin(struct stb_fio_import *x, const struct stb_fio_pin *pin)
{
	stb_import_open(x->im, "pin fio_cpus");
	ATTR("vcpus", "%u", pin->n_vcpus);
	for (uint32_t i = 0; i < pin->n_vcpus; i++) {
		stb_import_open(x->im, "vcpu \"%u\"", i);
		stb_buf_printf(&x->im->spec, "%s\n", pin->rules[i]);
		stb_import_close(x->im);
	}
	if (pin->mempolicy)
		ATTR("mempolicy", "%s", pin->mempolicy);
	if (pin->memnodes)
		stb_import_text(x->im, "memnodes", pin->memnodes);
	stb_import_close(x->im);
	stb_import_open(x->im, "server host this_host");
	ATTR("pin", "fio_cpus");
	stb_import_close(x->im);
}

/* --- figures --------------------------------------------------------------------------------------------------------------------------- */

/* 99.9 is p999, 5 is p5; NULL: no percentile that a metric can name. */
static const char *percentile(struct stb_fio_import *x, const char *s, size_t len)
{
	const char *n = stb_fio_decimal(arena(x), s, len);
	size_t whole = n ? strcspn(n, ".") : 0, all = n ? strlen(n) : 0;
	struct stb_metric m;
	const char *name;

	if (!n)
		return NULL;
	if (whole < all)
		while (n[all - 1] == '0' || n[all - 1] == '.') {
			if (n[--all] == '.')
				break;
		}
	name = whole < all ? stb_arena_printf(arena(x), "lat_p%s%.*s%.*s", whole < 2 ? "0" : "", (int)whole, n, (int)(all - whole - 1), n + whole + 1) :
		stb_arena_printf(arena(x), "lat_p%.*s", (int)whole, n);
	return stb_metric_find(name, &m) ? name : NULL;
}

const char *stb_fio_metrics(struct stb_fio_import *x)
{
	struct stb_buf b;
	struct stb_fio_option *o = NULL;
	const char *all;

	stb_buf_init(&b);
	stb_buf_adds(&b, "iops, bw_bytes, lat_mean");
	for (uint32_t i = 0; i < x->n_jobs; i++)
		if (x->jobs[i].sym[STB_FIO_PERCENTILES]) {
			if (o && o != x->jobs[i].sym[STB_FIO_PERCENTILES])
				stb_fio_leave(x, o, "the report shows the percentiles of the last job that names some");
			o = x->jobs[i].sym[STB_FIO_PERCENTILES];
		}
	for (const char *p = o && o->value ? o->value : "50:95:99:99.9"; *p; p += *p == ':') {
		const size_t len = strcspn(p, ":");
		const char *name = percentile(x, p, len);

		if (name)
			stb_buf_printf(&b, ", %s", name);
		else if (o)
			stb_fio_bad(x, o, "`%.*s` is no percentile", (int)STB_MIN(len, 40u), p);
		p += len;
	}
	if (o)
		o->used = true;
	all = stb_arena_strdup(arena(x), stb_buf_str(&b));
	stb_buf_fini(&b);
	return all;
}
