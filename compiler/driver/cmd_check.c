/* cmd_check.c - `stb check` and `stb explain`: what is wrong with a spec, and what things mean. Nothing is touched. */
#include "compiler/driver/driver.h"
#include "compiler/schema.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static enum stb_diag_format diag_format(const struct stb_args *a)
{
	if (stb_args_format(a, "json"))
		return STB_DIAG_JSON;
	return stb_args_format(a, "github") ? STB_DIAG_GITHUB : STB_DIAG_HUMAN;
}

static void print_summary(const struct stb_sink *s, const struct stb_plan *p, const char *path)
{
	printf("%s: ", path);
	if (s->n_errors)
		printf("%u error%s", s->n_errors, s->n_errors == 1 ? "" : "s");
	else
		printf("ok");
	if (s->n_warnings)
		printf(", %u warning%s", s->n_warnings, s->n_warnings == 1 ? "" : "s");
	if (p)
		printf(" (%u cell%s in %u matri%s)", p->n_cells, p->n_cells == 1 ? "" : "s", p->n_matrices,
			p->n_matrices == 1 ? "x" : "ces");
	putchar('\n');
}

/* Adds a JSON array of diagnostics to `all`: several files make one document. */
static void gather(struct stb_sink *sink, json_t *all)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	json_t *some;

	if (!mem)
		STB_BUG("out of memory");
	stb_sink_print(sink, STB_DIAG_JSON, mem);
	fclose(mem);
	some = json_loadb(text, len, 0, NULL);
	STB_ASSERT(json_is_array(some));
	json_array_extend(all, some);
	json_decref(some);
	free(text);
}

static int check_file(const struct stb_args *a, const char *path, enum stb_diag_format format, json_t *all)
{
	struct stb_compile_options o = { .profile = a->profile, .set = a->set, .n_set = a->n_set, .check_profiles = !a->profile };
	struct stb_compilation c;
	struct stb_plan *p;
	int code;

	stb_compilation_init(&c);
	p = stb_compile_file(&c, path, &o);
	code = !p || c.sink.n_errors ? STB_EXIT_SPEC : STB_EXIT_OK;
	switch (format) {
	case STB_DIAG_HUMAN:
		stb_sink_print(&c.sink, format, stderr);
		print_summary(&c.sink, p, path);
		break;
	case STB_DIAG_GITHUB:
		stb_sink_print(&c.sink, format, stdout);
		break;
	case STB_DIAG_JSON:
		gather(&c.sink, all);
		break;
	}
	stb_plan_free(p);
	stb_compilation_fini(&c);
	return code;
}

/*
 * Diagnostics for people go to standard error, with a line per file on standard output; those for programs go to standard output.
 */
int stb_cmd_check(const struct stb_args *a)
{
	const enum stb_diag_format format = diag_format(a);
	json_t *all = json_array();
	int code = STB_EXIT_OK;

	for (uint32_t i = 0; i < a->n_operands; i++)
		if (check_file(a, a->operands[i], format, all))
			code = STB_EXIT_SPEC;
	if (format == STB_DIAG_JSON) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(all);
	return code;
}

int stb_cmd_explain(const struct stb_args *a)
{
	char topic[200];

	/* `explain workload io` is one topic in two words */
	snprintf(topic, sizeof topic, "%s%s%s", a->n_operands ? a->operands[0] : "", a->n_operands > 1 ? " " : "",
		a->n_operands > 1 ? a->operands[1] : "");
	if (*topic != '-' && stb_schema_explain(topic, stdout))
		return STB_EXIT_OK;
	if (stb_help_option(topic, stdout))
		return STB_EXIT_OK;
	const char *near = stb_schema_nearest_topic(topic);

	fprintf(stderr, "stb: error: there is nothing known as `%s`\n", topic);
	if (near)
		fprintf(stderr, "  what to do: did you mean `stb explain %s`?\n", near);
	else
		fprintf(stderr, "  what to do: `stb explain` lists the topics\n");
	return STB_EXIT_USAGE;
}
