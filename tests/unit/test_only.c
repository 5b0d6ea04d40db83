/* test_only.c - `--only`: which cells a selector or an id keeps, and that a slip is an error rather than everything or nothing. */
#include "compiler/driver/driver.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char spec[] = "stb 1\n"
			   "storage directory a { path = \"/var/tmp\" }\n"
			   "storage directory b { path = \"/var/tmp\" }\n"
			   "volume v {}\n"
			   "workload io w {\n volume = v\n size = 1MiB\n rw = randwrite\n runtime = 1s\n ioengine = libaio\n direct = true\n}\n"
			   "matrix m {\n storage = [a, b]\n workload = [w]\n"
			   " axis depth {\n set = workload.iodepth\n values = [1, 4, 16]\n }\n"
			   " axis block {\n set = workload.bs\n values = [4KiB, 64KiB]\n }\n}\n";

static struct stb_compilation c;
static struct stb_plan *plan;
static uint8_t *keep;
static char *message;

static void compile(void)
{
	stb_compilation_init(&c);
	plan = stb_compile_bytes(&c, "x.stb", spec, strlen(spec), NULL);
	if (!plan)
		stb_sink_print(&c.sink, STB_DIAG_HUMAN, stderr);
	cr_assert_not_null(plan);
	keep = malloc(plan->n_cells);
	memset(keep, 1, plan->n_cells);
}

static void drop(void)
{
	free(keep);
	free(message);
	stb_plan_free(plan);
	stb_compilation_fini(&c);
}

TestSuite(only, .init = compile, .fini = drop);

/* Cells kept, or -1 where it is refused. */
static int kept(const char *only)
{
	size_t len;
	FILE *mem;
	int n = 0, code;

	free(message);
	mem = open_memstream(&message, &len);
	memset(keep, 1, plan->n_cells);
	code = stb_driver_only(plan, "--only", only, keep, mem);
	fclose(mem);
	if (code) {
		cr_assert_eq(code, STB_EXIT_USAGE);
		cr_assert_neq(*message, '\0', "`%s`", only);
		return -1;
	}
	for (uint32_t i = 0; i < plan->n_cells; i++)
		n += keep[i];
	return n;
}

Test(only, axes_narrow_down)
{
	cr_assert_eq(kept("storage = a"), 6);
	cr_assert_eq(kept("storage = a  depth = 4"), 2);
	cr_assert_eq(kept("storage = a  depth = 4  block = 64KiB"), 1);
	cr_assert_eq(kept("storage = [a, b]"), 12);
	cr_assert_eq(kept("depth = [1, 16]"), 8);
	cr_assert_eq(kept("storage = \"b\""), 6);
}

Test(only, numbers_by_worth_and_ranges)
{
	cr_assert_eq(kept("block = 65536B"), 6);
	cr_assert_eq(kept("depth = 2..16"), 8);
	cr_assert_eq(kept("depth = *..4"), 8);
	cr_assert_eq(kept("depth = 4..*"), 8);
	cr_assert_eq(kept("block = 1KiB..8KiB"), 6);
	cr_assert_eq(kept("depth = 5..15"), -1);
	cr_assert_eq(kept("block = 1..100000"), -1, "counts are no bytes");
}

Test(only, ids)
{
	char prefix[13];

	snprintf(prefix, sizeof prefix, "%.12s", plan->cells[3].id);
	cr_assert_eq(kept(prefix), 1);
	cr_assert_eq(keep[3], 1);
	cr_assert_eq(kept(plan->cells[0].id), 1);
	cr_assert_eq(kept("ffffffffffff"), -1);
	cr_expect_not_null(strstr(message, "beginning of a cell id"), "%s", message);
}

/* However few digits, and whatever else they could be read as (a number, a name, 22e). */
Test(only, every_prefix_of_an_id_is_one)
{
	for (uint32_t i = 0; i < plan->n_cells; i++) {
		for (size_t len = 1; len < 20; len++) {
			char prefix[32];
			int n;

			snprintf(prefix, sizeof(prefix), "%.*s", (int)len, plan->cells[i].id);
			n = kept(prefix);
			cr_expect_geq(n, 1, "%s: %s", prefix, message);
			cr_expect_eq(keep[i], 1);
			for (char *p = prefix; *p; p++)
				*p = *p >= 'a' ? (char)(*p - 32) : *p;
			cr_expect_eq(kept(prefix), n, "%s", prefix);
		}
	}
	cr_expect_eq(kept("0000"), -1);
	cr_expect_null(strstr(message, "E0"), "no syntax error: %s", message);
}

Test(only, slips_are_errors)
{
	cr_assert_eq(kept("sotrage = a"), -1);
	cr_assert_not_null(strstr(message, "did you mean `storage`"));
	cr_assert_eq(kept("storage = c"), -1);
	cr_assert_not_null(strstr(message, "`c`"));
	cr_assert_eq(kept("storage = [a, c]"), -1, "one of two is still a slip");
	cr_assert_eq(kept("storage = none"), -1, "every cell has a storage");
	cr_assert_eq(kept("storage"), -1);
	cr_assert_eq(kept("storage = "), -1);
	cr_assert_eq(kept("storage = a }"), -1);
	cr_assert_eq(kept("x { }"), -1);
	cr_assert_eq(kept("storage = a + b"), -1);
	cr_assert_eq(kept("storage = ["), -1);
	cr_assert_eq(kept(""), -1, "an empty variable in a script must not run everything");
	cr_assert_eq(kept("  "), -1);
}
