/* cmd_check.c - `stb check`: what is wrong with a spec. Nothing is touched. */
#include "compiler/driver/driver.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static enum stb_diag_format diag_format(const struct stb_args *a)
{
	if (stb_args_format(a, "json"))
		return STB_DIAG_JSON;
	if (stb_args_format(a, "sarif"))
		return STB_DIAG_SARIF;
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

/* Where a document keeps its diagnostics: a JSON array is the list itself, a SARIF log has it in its one run. */
static json_t *list_of(json_t *document)
{
	return json_is_array(document) ? document : json_object_get(json_array_get(json_object_get(document, "runs"), 0), "results");
}

/* Adds what is said of one file to `all`, NULL for the first: several files make one document. */
static json_t *gather(struct stb_sink *sink, enum stb_diag_format format, json_t *all)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	json_t *some;

	if (!mem)
		STB_BUG("out of memory");
	stb_sink_print(sink, format, mem);
	fclose(mem);
	some = json_loadb(text, len, 0, NULL);
	STB_ASSERT(some);
	free(text);
	if (!all)
		return some;
	json_array_extend(list_of(all), list_of(some));
	json_decref(some);
	return all;
}

static void print_all(json_t *all, enum stb_diag_format format)
{
	if (format == STB_DIAG_SARIF) {
		json_t *tool = json_object_get(json_array_get(json_object_get(all, "runs"), 0), "tool");

		json_object_set_new(json_object_get(tool, "driver"), "version", json_string(stb_version));
	}
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static int check_file(const struct stb_args *a, const char *path, enum stb_diag_format format, json_t **all)
{
	struct stb_compile_options o = { .profile = a->profile, .set = a->set, .n_set = a->n_set, .check_profiles = !a->profile,
		.max_cells = a->max_cells };
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
	case STB_DIAG_SARIF:
		*all = gather(&c.sink, format, *all);
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
	json_t *all = NULL;
	int code = STB_EXIT_OK;

	for (uint32_t i = 0; i < a->n_operands; i++)
		if (check_file(a, a->operands[i], format, &all))
			code = STB_EXIT_SPEC;
	if (all)
		print_all(all, format);
	return code;
}
