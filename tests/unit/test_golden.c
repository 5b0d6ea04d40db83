/*
 * test_golden.c - whole specs: the plan that the compiler makes of a right one, byte for byte. What it says about wrong ones: test_golden_diag.c.
 *
 * The first line of a spec may state how it is compiled: `# --profile NAME`, `# --set NAME=VALUE`, `# --max-cells N`. Without it the spec is
 * checked bare and under each profile, as `stb check` does.
 */
#include "compiler/compile.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct compiled {
	struct stb_compilation c;
	struct stb_plan *plan;
	char options[256];
	const char *set;
};

static void read_options(struct compiled *k, const char *path, struct stb_compile_options *o)
{
	FILE *f = fopen(path, "r");
	char *value;

	cr_assert(f, "cannot read %s", path);
	if (!fgets(k->options, sizeof(k->options), f))
		k->options[0] = '\0';
	fclose(f);
	k->options[strcspn(k->options, "\n")] = '\0';
	o->check_profiles = true;
	if (strncmp(k->options, "# --", 4))
		return;
	value = strpbrk(k->options + 2, " ");
	cr_assert(value, "%s: an option without a value", path);
	*value++ = '\0';
	if (!strcmp(k->options, "# --profile"))
		o->profile = value;
	else if (!strcmp(k->options, "# --max-cells"))
		o->max_cells = strtoull(value, NULL, 10);
	else
		cr_assert_str_eq(k->options, "# --set", "%s", path);
	if (!strcmp(k->options, "# --set")) {
		k->set = value;
		o->set = &k->set;
		o->n_set = 1;
	}
}

static void compile(struct compiled *k, const char *path)
{
	struct stb_compile_options o = { 0 };

	*k = (struct compiled){ 0 };
	read_options(k, path, &o);
	stb_compilation_init(&k->c);
	k->plan = stb_compile_file(&k->c, path, &o);
}

static void finish(struct compiled *k)
{
	if (k->plan)
		stb_plan_free(k->plan);
	stb_compilation_fini(&k->c);
}

static void print_plan(const char *path, FILE *out, void (*print)(const struct stb_plan *p, FILE *out))
{
	struct compiled k;

	compile(&k, path);
	cr_assert(k.plan, "%s has errors", path);
	print(k.plan, out);
	finish(&k);
}

static void print_text(const char *path, const char *name, FILE *out)
{
	(void)name;
	print_plan(path, out, stb_plan_print_text);
}

static void print_json(const char *path, const char *name, FILE *out)
{
	(void)name;
	print_plan(path, out, stb_plan_print_json);
}

Test(golden, plans)
{
	cr_expect_geq(golden_dir("tests/golden/plan", "plan", print_text), 3);
	cr_expect_geq(golden_dir("tests/golden/plan", "json", print_json), 3);
}

/* What a spec says on purpose, with the reason beside it: servers of one's own, loaded beforehand, that nothing restores. */
static uint32_t meant(const struct stb_sink *s, const char *name)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_diags && !strcmp(name, "nifcloud-rdb-disks.stb"); i++)
		n += s->diags[i]->code == STB_W0439;
	return n;
}

static void expect_clean(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned n = 0;

	cr_assert(d, "no %s", dir);
	while ((e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');
		struct compiled k;
		char path[512];

		if (!dot || strcmp(dot, ".stb"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		compile(&k, path);
		cr_expect(k.plan, "%s makes no plan", path);
		cr_expect_eq(k.c.sink.n_errors + k.c.sink.n_warnings, meant(&k.c.sink, e->d_name), "%s is not clean", path);
		finish(&k);
		n++;
	}
	closedir(d);
	cr_expect(n, "no specs in %s", dir);
}

/* What people copy from is checked and planned, under every profile too. */
Test(golden, specs_are_clean)
{
	expect_clean("specs");
	expect_clean("tests/golden/recorded");
}

/* E0219: there is no folder that an include could be relative to. */
Test(golden, a_text_that_is_no_file_includes_nothing)
{
	static const char text[] = "stb 1\ninclude \"other.stb\"\n";
	struct stb_compilation c;

	stb_compilation_init(&c);
	cr_expect_null(stb_compile_bytes(&c, "x.stb", text, strlen(text), NULL));
	cr_assert_eq(c.sink.n_diags, 1);
	cr_expect_eq(c.sink.diags[0]->code, STB_E0219);
	stb_compilation_fini(&c);
}

static bool is_shown(const char *dir, const char *code)
{
	char prefix[16];
	bool found = false;
	DIR *d = opendir(dir);
	struct dirent *e;

	snprintf(prefix, sizeof(prefix), "%s_", code);
	for (char *p = prefix; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	while (d && (e = readdir(d)))
		found = found || !strncmp(e->d_name, prefix, strlen(prefix));
	if (d)
		closedir(d);
	return found;
}

/*
 * E01xx are the parser's and have goldens of their own. E0214 needs a file too large to keep (test_resolve.c), E0219 a text that is no file (above).
 * x08xx is said about other tools' files (test_import.c).
 */
Test(golden, every_code_has_a_wrong_spec)
{
	for (int i = 0; i < STB_N_CODES; i++) {
		const char *name = stb_code_info((enum stb_code)i)->name;

		if (strncmp(name, "E01", 3) && strncmp(name + 1, "08", 2) && strcmp(name, "E0214") && strcmp(name, "E0219"))
			cr_expect(is_shown("tests/golden/diag", name), "%s has no spec in tests/golden/diag", name);
	}
}

static uint32_t cells_of(const struct stb_plan *p, const char *workload)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_cells; i++)
		n += !strcmp(p->blocks[p->cells[i].workload].name, workload);
	return n;
}

/* The published matrix: write-only on the single configuration only; three days, four times a day, three repetitions each time. */
Test(golden, the_managed_databases_are_measured_1296_times)
{
	struct compiled k;
	struct stb_steps *steps;
	struct stb_step step;
	uint64_t measured = 0;

	compile(&k, "specs/nifcloud-rdb-disks.stb");
	cr_assert(k.plan);
	cr_expect_eq(cells_of(k.plan, "read_write"), 27);
	cr_expect_eq(cells_of(k.plan, "write_only"), 9);
	cr_expect_eq(k.plan->n_cells, 36);
	steps = stb_steps_new(k.plan, NULL);
	while (stb_steps_next(steps, &step))
		measured += step.op == STB_OP_MEASURE;
	stb_steps_free(steps);
	cr_expect_eq(measured, 1296);
	finish(&k);
}
