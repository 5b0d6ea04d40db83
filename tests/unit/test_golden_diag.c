/*
 * test_golden_diag.c - what a user reads about each mistake: every spec of tests/golden/diag is compiled bare and under its profiles, and the
 * whole text compared. A spec may begin with comments that stand for the command line:
 *
 *   # --set NAME=VALUE      # --profile NAME      # --max-cells N      # --topology FILE
 */
#include <criterion/criterion.h>

#include "tests/support/golden.h"
#include "compiler/compile.h"
#include "runtime/base/topology.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SET = 4 };

struct line {
	struct stb_compile_options o;
	const char *set[MAX_SET];
	struct stb_topology *topology;
	struct stb_arena arena;
};

static struct stb_topology *load_topology(const char *path)
{
	struct stb_topology *t;
	struct stb_err err;

	stb_err_clear(&err);
	t = stb_topology_load(path, &err);
	cr_assert(t, "%s: %s", path, err.what);
	return t;
}

/* The options in the comments at the top of a spec. */
static void read_options(const char *path, struct line *l)
{
	FILE *f = fopen(path, "r");
	char text[256];

	while (f && fgets(text, sizeof(text), f) && text[0] == '#') {
		char *value = stb_arena_strdup(&l->arena, text + strcspn(text, "-"));

		value[strcspn(value, "\n")] = '\0';
		if (strncmp(value, "--set ", 6) == 0 && l->o.n_set < MAX_SET)
			l->set[l->o.n_set++] = value + 6;
		else if (strncmp(value, "--profile ", 10) == 0)
			l->o.profile = value + 10;
		else if (strncmp(value, "--max-cells ", 12) == 0)
			l->o.max_cells = strtoull(value + 12, NULL, 10);
		else if (strncmp(value, "--topology ", 11) == 0)
			l->topology = load_topology(value + 11);
	}
	if (f)
		fclose(f);
	l->o.set = l->set;
	l->o.topology = l->topology;
	l->o.check_profiles = !l->o.profile;
}

static void print_diagnostics(const char *path, const char *name, FILE *out)
{
	struct stb_compilation c;
	struct line l = { .o.max_cells = 0 };
	struct stb_plan *plan;

	(void)name;
	stb_arena_init(&l.arena);
	read_options(path, &l);
	stb_compilation_init(&c);
	plan = stb_compile_file(&c, path, &l.o);
	if (plan)
		stb_plan_free(plan);
	cr_expect_eq(plan == NULL, c.sink.n_errors > 0, "%s: a plan and errors exclude each other", path);
	stb_sink_print(&c.sink, STB_DIAG_HUMAN, out);
	stb_compilation_fini(&c);
	stb_topology_free(l.topology);
	stb_arena_fini(&l.arena);
}

Test(golden, every_mistake_is_told_as_it_should_be)
{
	cr_expect_geq(golden_dir("tests/golden/diag", "diag", print_diagnostics), 40);
}

/* Whether a code stands in one of the golden files, or in the name of a test that makes its own files. */
static bool has_golden(const char *code)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -qs '\\[%s\\]' tests/golden/diag/*.diag tests/golden/syntax/*.diag tests/golden/import/*.diag tests/golden/import/*/*.diag", code);
	return system(command) == 0;
}

Test(golden, every_code_has_one)
{
	/* what needs large files, many files or no file: test_resolve.c, test_check.c, test_num.c and the integration tests */
	static const char *const elsewhere[] = { "E0101", "E0214", "E0219", "E0220", "E0322" };

	for (unsigned i = 0; i < STB_N_CODES; i++) {
		const char *code = stb_code_info((enum stb_code)i)->name;
		bool known = false;

		for (size_t j = 0; j < STB_LEN(elsewhere); j++)
			known |= strcmp(code, elsewhere[j]) == 0;
		if (!known)
			cr_expect(has_golden(code), "no golden file shows %s", code);
	}
}
