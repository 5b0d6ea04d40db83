/* cmd_report.c - `stb report`: tables and claims of a spec from results that lie in files. */
#include "compiler/driver/driver.h"
#include "runtime/exec/outfile.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse(const struct stb_plan *p, const struct stb_err *err)
{
	stb_exec_print_error(p, err, stderr);
	return STB_EXIT_ENVIRONMENT;
}

/* Every claim that does not hold, one line each. */
static int check_claims(const struct stb_results *r)
{
	struct stb_buf why;
	const char *line;
	uint32_t failed;

	if (!r->plan->n_claims) {
		fprintf(stderr, "stb: nothing could be judged: the spec makes no claim\n"
			"  what to do: write a `claim` block, or leave out --check\n");
		return STB_EXIT_CLAIM;
	}
	stb_buf_init(&why);
	failed = stb_claims_failed(r, &why);
	for (line = stb_buf_str(&why); *line; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "stb: %.*s\n", (int)strcspn(line, "\n"), line);
	stb_buf_fini(&why);
	return failed ? STB_EXIT_CLAIM : STB_EXIT_OK;
}

static int print_or_write(const struct stb_args *a, const struct stb_results *r)
{
	struct stb_buf md;
	struct stb_err err;
	int code = STB_EXIT_OK;

	stb_err_clear(&err);
	if (a->output) {
		if (stb_exec_write_report(r, a->output, stb_args_format(a, "md") || !a->format,
			    stb_args_format(a, "csv") || !a->format, &err))
			return refuse(r->plan, &err);
		return STB_EXIT_OK;
	}
	stb_buf_init(&md);
	stb_report_markdown(r, &md);
	fwrite(stb_buf_str(&md), 1, md.len, stdout);
	stb_buf_fini(&md);
	return code;
}

/* PATH, or RUN=PATH where a matrix compares runs; a file of that very name is a path. */
static int read_results(struct stb_results *r, struct stb_plan *p, const char *text, struct stb_err *err)
{
	const char *equals = strchr(text, '='), *run = NULL;

	if (equals && equals > text && access(text, F_OK) && !memchr(text, '/', (size_t)(equals - text))) {
		run = stb_arena_strndup(&p->arena, text, (size_t)(equals - text));
		text = equals + 1;
	}
	return stb_results_reading(r, run, err) || stb_results_read(r, text, err) ? -1 : 0;
}

int stb_cmd_report(const struct stb_args *a)
{
	struct stb_compilation c;
	struct stb_plan *p;
	struct stb_results *r = NULL;
	struct stb_err err;
	int code = STB_EXIT_SPEC;

	if (!a->n_results) {
		fprintf(stderr, "stb: error: `stb report` has no results to report on\n"
			"  what to do: name the run's directory or a CSV file with --results\n");
		return STB_EXIT_USAGE;
	}
	if (!a->output && a->format && strcmp(a->format, "md")) {
		fprintf(stderr, "stb: error: `--format %s` makes several files and has no directory for them\n"
			"  what to do: name one with -o DIR\n", a->format);
		return STB_EXIT_USAGE;
	}
	stb_err_clear(&err);
	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, a->operands[0], NULL);
	if (!p)
		goto out;
	r = stb_results_new(p);
	for (uint32_t i = 0; i < a->n_results; i++)
		if (read_results(r, p, a->results[i], &err)) {
			code = refuse(p, &err);
			goto out;
		}
	stb_exec_print_notes(r, stderr);
	code = print_or_write(a, r);
	if (!code && a->check)
		code = check_claims(r);
out:
	stb_results_free(r);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	return code;
}
