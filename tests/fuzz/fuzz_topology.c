/*
 * fuzz_topology.c - topology files, CPU lists and pins as bytes.
 *
 *   TOPOLOGY
 *   %                     a line of its own; what follows is one pin
 *   VCPUS POLICY MEMNODES    POLICY is a digit; MEMNODES `-` for none
 *   LIST nNODE            rules; without any the pin is `smart`
 *   LIST LIST
 *
 * What reads must come back the same from what is written, and a pin that resolves must keep its promises: every vCPU on allowed pCPUs of one
 * node. The pin is judged by itself as well, and on a fixed machine where the topology does not read.
 */
#include "runtime/base/pin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                            \
	do {                                                     \
		if (!(cond)) {                                   \
			fprintf(stderr, "not so: " #cond "\n");  \
			abort();                                 \
		}                                                \
	} while (0)

static const char fallback[] = "{\"stb_topology\": 1, \"allowed_cpus\": \"0-6\", \"nodes\": ["
	"{\"id\": 0, \"cpus\": \"0-3\", \"memory_bytes\": 1}, {\"id\": 2, \"cpus\": \"4-7\", \"memory_bytes\": 0}]}";

static void list_there_and_back(const char *text, size_t len)
{
	struct stb_cpuset s, back;
	struct stb_cpulist_error e;
	struct stb_buf b;

	if (stb_cpulist_parse(text, len, STB_CPU_MAX, &s, &e)) {
		REQUIRE(*e.reason && (size_t)e.at + e.len <= len);
		return;
	}
	stb_buf_init(&b);
	stb_cpulist_print(&s, &b);
	REQUIRE(!stb_cpulist_parse(b.data, b.len, STB_CPU_MAX, &back, &e) && !memcmp(&s, &back, sizeof(s)));
	stb_buf_fini(&b);
}

static void topology_there_and_back(const struct stb_topology *t)
{
	struct stb_buf one, two;
	struct stb_err err = { 0 };
	struct stb_topology *back;

	stb_buf_init(&one);
	stb_buf_init(&two);
	stb_topology_save(t, &one);
	back = stb_topology_parse("saved", one.data, one.len, &err);
	REQUIRE(back);
	stb_topology_save(back, &two);
	REQUIRE(one.len == two.len && !memcmp(one.data, two.data, one.len));
	stb_buf_clear(&one);
	stb_topology_print(t, &one);
	stb_topology_free(back);
	stb_buf_fini(&one);
	stb_buf_fini(&two);
}

static void count(void *arg, const struct stb_pin_diag *d)
{
	uint32_t *n = arg;

	REQUIRE(*d->text);
	*n += !stb_pin_is_warning(d->code);
}

static void check_slots(const struct stb_pin_result *r, const struct stb_topology *t)
{
	struct stb_cpuset cpus;
	struct stb_buf b;

	for (uint32_t v = 0; v < r->n_slots; v += 1 + r->n_slots / 64) {
		stb_pin_worker_cpus(r, v, &cpus);
		REQUIRE(!stb_cpuset_empty(&cpus));
		for (uint32_t c = stb_cpuset_next(&cpus, 0); c != STB_CPU_NONE; c = stb_cpuset_next(&cpus, c + 1)) {
			const struct stb_cpu *cpu = stb_topology_cpu(t, c);

			REQUIRE(cpu && cpu->allowed && cpu->node == stb_pin_worker_node(r, v) && stb_cpuset_has(&r->cpus, c));
		}
	}
	stb_buf_init(&b);
	stb_pin_print(r, &b);
	stb_buf_fini(&b);
}

static void judge(const struct stb_pin_spec *p, const struct stb_topology *t)
{
	struct stb_pin_result r;
	uint32_t n_errors = 0, n_alone = 0;
	const int alone = stb_pin_resolve(p, NULL, NULL, count, &n_alone);
	const int placed = stb_pin_resolve(p, t, &r, count, &n_errors);

	REQUIRE((alone != 0) == (n_alone > 0) && (placed != 0) == (n_errors > 0));
	REQUIRE(!alone || placed); /* what is wrong by itself is wrong everywhere */
	if (!placed) {
		check_slots(&r, t);
		stb_pin_result_fini(&r);
		REQUIRE(stb_pin_shares(p, p, t, NULL) == STB_PIN_SHARE_YES);
		REQUIRE(stb_pin_shares(p, p, NULL, NULL) != STB_PIN_SHARE_NO);
	}
}

/* The pin in text, which is changed. */
static void read_pin(char *text, const struct stb_topology *t)
{
	struct stb_pin_rule rules[64];
	struct stb_pin_spec p = { .name = "p", .rules = rules };
	char *lines = NULL, *words = NULL, *line = strtok_r(text, "\n", &lines);
	const char *w = line ? strtok_r(line, " ", &words) : NULL;

	p.vcpus = w ? strtoull(w, NULL, 10) : 0;
	w = w ? strtok_r(NULL, " ", &words) : NULL;
	p.mempolicy = w && *w >= '0' && *w < '5' ? (enum stb_mempolicy)(*w - '0') : STB_MEM_LOCAL;
	w = w ? strtok_r(NULL, " ", &words) : NULL;
	p.memnodes = w && strcmp(w, "-") ? w : NULL;
	while (line && p.n_rules < STB_LEN(rules) && (line = strtok_r(NULL, "\n", &lines))) {
		struct stb_pin_rule *rule = &rules[p.n_rules++];
		const char *vcpus = strtok_r(line, " ", &words), *to = vcpus ? strtok_r(NULL, " ", &words) : NULL;

		*rule = (struct stb_pin_rule){ vcpus ? vcpus : "", to, STB_PIN_NO_NODE };
		if (to && *to == 'n')
			*rule = (struct stb_pin_rule){ vcpus, NULL, strtoull(to + 1, NULL, 10) };
	}
	p.strategy = p.n_rules ? STB_PIN_MANUAL : STB_PIN_SMART;
	judge(&p, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char separator[] = "\n%\n";
	const char *text = (const char *)data;
	const char *pin = size ? memmem(text, size, separator, strlen(separator)) : NULL;
	const size_t len = pin ? (size_t)(pin - text) : size;
	struct stb_err err = { 0 };
	struct stb_topology *t;

	if (size > 1 << 16)
		return 0;
	list_there_and_back(text, len);
	t = stb_topology_parse("fuzz", text, len, &err);
	REQUIRE(t || (err.set && *err.what && *err.remedy));
	if (t)
		topology_there_and_back(t);
	else
		t = stb_topology_parse("fallback", fallback, strlen(fallback), &err);
	REQUIRE(t);
	if (pin) {
		const size_t n = size - len - strlen(separator);
		char *copy = stb_xcalloc(1, n + 1);

		memcpy(copy, pin + strlen(separator), n);
		read_pin(copy, t);
		free(copy);
	}
	stb_topology_free(t);
	return 0;
}
