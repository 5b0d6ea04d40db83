/*
 * cmd_doctor.c - `stb doctor`: what a spec, or stb itself, needs that this machine lacks.
 *
 * The spec is compiled twice: by itself (what is wrong then is the spec's fault, exit 1), and on this machine's topology, where pins that cannot be
 * are what the machine lacks.
 */
#include "compiler/driver/driver.h"
#include "runtime/base/topology.h"
#include "runtime/host/sysfs.h"

#include <stdlib.h>
#include <string.h>

/* false after a message: a pin of the spec cannot be had here. */
static bool check_pins(const struct stb_args *a)
{
	struct stb_topology *t;
	struct stb_compilation c;
	struct stb_compile_options o = { .profile = a->profile, .set = a->set, .n_set = a->n_set, .max_cells = a->max_cells };
	struct stb_plan *p;
	struct stb_err err;
	bool good = true;

	stb_err_clear(&err);
	t = stb_host_topology("", &err);
	if (!t)
		return true; /* nothing to judge by */
	o.topology = t;
	stb_compilation_init(&c);
	p = stb_compile_file(&c, a->operands[0], &o);
	if (!p || c.sink.n_errors) {
		stb_sink_print(&c.sink, STB_DIAG_HUMAN, stderr);
		good = false;
	}
	stb_plan_free(p);
	stb_compilation_fini(&c);
	stb_topology_free(t);
	return good;
}

int stb_cmd_doctor(const struct stb_args *a)
{
	const bool json = stb_args_format(a, "json");
	struct stb_compilation c;
	struct stb_plan *p;
	uint8_t *keep = NULL;
	int code = STB_EXIT_SPEC;

	if (!a->n_operands)
		return stb_exec_doctor_self(json);
	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, a->operands[0], NULL);
	if (!p)
		goto out;
	keep = stb_xmalloc((size_t)p->n_cells + 1);
	memset(keep, 1, (size_t)p->n_cells + 1);
	if (a->only) {
		code = stb_driver_only(p, "--only", a->only, keep, stderr);
		if (code)
			goto out;
	}
	code = stb_exec_doctor(&(struct stb_exec_options){ .plan = p, .keep = keep, .only = a->only, .dir = "stb-run", .dir_may_change = true,
		.spec = a->operands[0], .version = stb_version, .commit = stb_commit }, check_pins(a), a->connect, json);
out:
	free(keep);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	return code;
}
