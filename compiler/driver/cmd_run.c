/* cmd_run.c - `stb run`, `stb resume` and `stb clean`: from the command line to runtime/exec. */
#include "compiler/driver/driver.h"
#include "runtime/base/clock.h"

#include <stdlib.h>
#include <string.h>

int stb_cmd_run(const struct stb_args *a)
{
	struct stb_compilation c;
	struct stb_plan *p;
	uint8_t *keep = NULL;
	char name[17], dir[64];
	int code = STB_EXIT_SPEC;

	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, a->operands[0], NULL);
	if (!p)
		goto out;
	if (!p->n_cells) {
		fprintf(stderr, "stb: error: `%s` has nothing to run: no matrix is declared\n"
			"  what to do: add a matrix, as in `matrix m { storage = disk  workload = [w] }`; `stb explain matrix` tells more\n",
			a->operands[0]);
		goto out;
	}
	keep = stb_xmalloc((size_t)p->n_cells + 1);
	memset(keep, 1, (size_t)p->n_cells + 1);
	if (a->only) {
		code = stb_driver_only(p, "--only", a->only, keep, stderr);
		if (code)
			goto out;
	}
	stb_clock_utc_name(name);
	snprintf(dir, sizeof dir, "stb-run-%s", name);
	code = stb_exec_run(&(struct stb_exec_options){
		.plan = p,
		.keep = keep,
		.only = a->only,
		.dir = a->output ? a->output : dir,
		.dir_may_change = !a->output,
		.spec = a->operands[0],
		.version = stb_version,
		.commit = stb_commit,
		.reuse = a->reuse,
		.n_reuse = a->n_reuse,
	});
out:
	free(keep);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	return code;
}

int stb_cmd_resume(const struct stb_args *a)
{
	return stb_exec_resume(a->operands[0], stb_version, stb_commit);
}

int stb_cmd_clean(const struct stb_args *a)
{
	return stb_exec_clean(a->operands[0]);
}
