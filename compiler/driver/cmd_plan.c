/* cmd_plan.c - `stb plan`, and the compilation that plan, run and report share. */
#include "compiler/driver/driver.h"
#include "runtime/base/topology.h"
#include "runtime/exec/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stb_plan *stb_driver_compile(struct stb_compilation *c, const struct stb_args *a, const char *path,
	const struct stb_topology *topology)
{
	struct stb_compile_options o = {
		.profile = a->profile, .set = a->set, .n_set = a->n_set, .max_cells = a->max_cells, .topology = topology,
	};
	struct stb_plan *p = stb_compile_file(c, path, &o);

	/* what is only a note is said by `stb check`, and by the plan itself */
	if (c->sink.n_errors || c->sink.n_warnings)
		stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
	if (p && !c->sink.n_errors)
		return p;
	stb_plan_free(p);
	return NULL;
}

static void print_plan(const struct stb_plan *p, const uint8_t *keep, bool json, FILE *out)
{
	if (json)
		stb_plan_print_json(p, out);
	else
		stb_plan_print_part(p, keep, out);
}

/* Into memory first: the file appears whole or not at all. */
static int write_plan(const struct stb_plan *p, const uint8_t *keep, bool json, const char *path)
{
	struct stb_err err;
	char *data = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&data, &len);
	int code = STB_EXIT_OK;

	stb_err_clear(&err);
	if (!mem) {
		stb_err_set(&err, errno, "cannot write the plan");
		stb_exec_print_error(p, &err, stderr);
		return STB_EXIT_ENVIRONMENT;
	}
	print_plan(p, keep, json, mem);
	if (fclose(mem) || stb_outfile_write(path, data, len, &err)) {
		stb_exec_print_error(p, &err, stderr);
		code = STB_EXIT_ENVIRONMENT;
	}
	free(data);
	return code;
}

int stb_cmd_plan(const struct stb_args *a)
{
	const bool json = stb_args_format(a, "json");
	struct stb_topology *topology = NULL;
	struct stb_compilation c;
	struct stb_plan *p;
	struct stb_err err;
	uint8_t *keep = NULL;
	int code = STB_EXIT_SPEC;

	if (json && a->only) {
		fprintf(stderr, "stb: error: `--only` does not go with `--format json`: that is the whole plan, with its hash\n"
			"  what to do: leave one of them out\n");
		return STB_EXIT_USAGE;
	}
	stb_err_clear(&err);
	if (a->topology && !(topology = stb_topology_load(a->topology, &err))) {
		stb_exec_print_error(NULL, &err, stderr);
		return STB_EXIT_ENVIRONMENT;
	}
	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, a->operands[0], topology);
	if (!p)
		goto out;
	if (a->only) {
		keep = stb_xmalloc((size_t)p->n_cells + 1);
		memset(keep, 1, (size_t)p->n_cells + 1);
		code = stb_driver_only(p, "--only", a->only, keep, stderr);
		if (code)
			goto out;
	}
	code = STB_EXIT_OK;
	if (a->output)
		code = write_plan(p, keep, json, a->output);
	else
		print_plan(p, keep, json, stdout);
out:
	free(keep);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	stb_topology_free(topology);
	return code;
}
