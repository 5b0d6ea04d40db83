/* cmd_diff.c - `stb diff`: what a change of a spec means. Both sides are compiled; each is a file or REV:PATH of git. */
#include "compiler/driver/diff_print.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/git.h"

#include <string.h>

/* What git names as the side of a file that is new or gone. */
static bool is_nothing(const char *operand)
{
	return !strcmp(operand, "/dev/null");
}

/* 0 and the plan, or an exit code after a message. */
static int compile_side(struct stb_compilation *c, const struct stb_args *a, const char *operand, struct stb_plan **plan)
{
	struct stb_compile_options o = { .profile = a->profile, .set = a->set, .n_set = a->n_set, .max_cells = a->max_cells };
	const char *path = operand;
	bool revision;
	size_t rev_len;
	struct stb_git g;
	struct stb_err err;

	if (is_nothing(operand)) {
		*plan = stb_plan_new();
		stb_plan_seal(*plan);
		return STB_EXIT_OK;
	}
	revision = stb_git_is_revision(operand, &rev_len);
	stb_err_clear(&err);
	if (revision && stb_git_open(&g, operand, &path, &err)) {
		stb_exec_print_error(NULL, &err, stderr);
		return STB_EXIT_SPEC;
	}
	o.loader = revision ? &g.loader : NULL;
	*plan = stb_compile_file(c, path, &o);
	if (revision)
		stb_git_close(&g);
	if (*plan)
		return STB_EXIT_OK;
	fprintf(stderr, "stb: error: `%s` is no plan to compare\n", operand);
	stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
	return STB_EXIT_SPEC;
}

static enum stb_diff_format format_of(const struct stb_args *a)
{
	if (stb_args_format(a, "json"))
		return STB_DIFF_JSON;
	return stb_args_format(a, "markdown") ? STB_DIFF_MARKDOWN : STB_DIFF_TEXT;
}

int stb_cmd_diff(const struct stb_args *a)
{
	struct stb_compilation old, new;
	struct stb_plan *before = NULL, *after = NULL;
	struct stb_diff *d;
	int code, other;

	stb_compilation_init(&old);
	stb_compilation_init(&new);
	code = compile_side(&old, a, a->operands[0], &before);
	other = compile_side(&new, a, a->operands[1], &after); /* both say what is wrong with them */
	if (!code)
		code = other;
	if (!code) {
		d = stb_diff_plans(before, after);
		stb_diff_print(d, a->operands[0], a->operands[1], format_of(a), stdout);
		if (a->exit_code && d->n_lines)
			code = STB_EXIT_CLAIM;
		stb_diff_free(d);
	}
	stb_plan_free(before);
	stb_plan_free(after);
	stb_compilation_fini(&new);
	stb_compilation_fini(&old);
	return code;
}
