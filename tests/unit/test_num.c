/* test_num.c - exact arithmetic and its dimensions, through specs: what a user writes and what the attribute then holds. */
#include <criterion/criterion.h>

#include "compiler/num.h"
#include "tests/unit/spec.h"

#include <stdlib.h>
#include <string.h>

static const char *value_of(struct spec *s, const char *expression, const char *attr)
{
	char text[512];

	memset(s, 0, sizeof(*s));
	snprintf(text, sizeof(text), "stb 1\nworkload io w { %s = %s }\nworkload oltp o { %s = %s }\n", "size", "1GiB", attr, expression);
	spec_open(s, text);
	return spec_value(s, STB_K_WORKLOAD, "o", attr);
}

static void expect(const char *attr, const char *expression, const char *want)
{
	struct spec s;
	const char *got = value_of(&s, expression, attr);

	cr_expect_str_eq(got, want, "%s = %s: %s, not %s", attr, expression, got, want);
	cr_expect_eq(s.c.sink.n_errors, 0);
	spec_close(&s);
}

static void refuse(const char *attr, const char *expression, enum stb_code code)
{
	struct spec s;
	const char *got = value_of(&s, expression, attr);

	cr_expect_str_eq(got, "-", "%s = %s gave %s", attr, expression, got);
	cr_expect_eq(spec_count(&s, code), 1, "%s = %s: not %s", attr, expression, stb_code_info(code)->name);
	cr_expect_eq(s.c.sink.n_errors, 1, "%s = %s: %u errors", attr, expression, s.c.sink.n_errors);
	spec_close(&s);
}

Test(num, is_exact_where_floating_point_is_not)
{
	expect("threads", "70% * 10", "7");
	expect("threads", "0.1 * 30", "3");
	expect("threads", "1 / 3 * 3", "1");
	expect("threads", "9_007_199_254_740_993 / 9_007_199_254_740_993", "1");
	expect("time", "1d / 86_400", "1s");
	expect("time", "0.001ms * 1_000", "1ms");
}

Test(num, follows_precedence_and_signs)
{
	expect("threads", "2 + 3 * 4", "14");
	expect("threads", "(2 + 3) * 4", "20");
	expect("threads", "20 - 3 - 4", "13");
	expect("threads", "64 / 4 / 2", "8");
	expect("threads", "-(-8)", "8");
	expect("threads", "-2 * -4", "8");
	expect("threads", "max(1, min(64, 8), 3)", "8");
}

Test(num, products_end_in_their_type)
{
	expect("threads", "1GiB / 64MiB", "16");
	expect("threads", "60s / 500ms", "120");
	expect("threads", "100/s * 2s", "200");
	expect("threads", "(100 / 1s) * 2s", "200");
	expect("threads", "100MiB/s * 2s / 50MiB", "4");
	expect("time", "1GiB / (512MiB/s)", "2s");
	expect("time", "100 / (50/s)", "2s");
	expect("threads", "50% / 25%", "2");
	expect("threads", "8 / 50%", "16");
	expect("threads", "(1KiB * 1KiB) / (1KiB * 256B)", "4");
}

Test(num, refuses_what_does_not_go_together)
{
	refuse("threads", "1 + 50%", STB_E0310);
	refuse("threads", "1KiB + 1s", STB_E0310);
	refuse("threads", "1KiB * 1KiB", STB_E0310);
	refuse("threads", "min(1KiB, 1s)", STB_E0310);
	refuse("threads", "03:00 + 1", STB_E0310);
	refuse("threads", "\"1\" + 1", STB_E0310);
	refuse("threads", "true + 1", STB_E0310);
	refuse("threads", "[1] + 1", STB_E0310);
	refuse("time", "1GiB", STB_E0301);
	refuse("time", "5", STB_E0301);
	refuse("time", "500/s", STB_E0301);
	refuse("threads", "50%", STB_E0301);
}

Test(num, refuses_fractions_of_whole_things)
{
	refuse("threads", "16 / 3", STB_E0302);
	refuse("threads", "1.5", STB_E0302);
	refuse("time", "1ns / 2", STB_E0302);
	expect("threads", "1.5 * 2", "3");
}

Test(num, overflow_and_zero_are_said)
{
	refuse("threads", "9_223_372_036_854_775_807 + 1", STB_E0311);
	refuse("threads", "9_223_372_036_854_775_807 * 2", STB_E0311);
	refuse("threads", "1 / 9_223_372_036_854_775_807 / 3", STB_E0311);
	refuse("time", "1 / (1/s) * 9_223_372_037", STB_E0311);
	refuse("threads", "1 / 0", STB_E0312);
	refuse("threads", "1 / (5 - 5)", STB_E0312);
	expect("threads", "9_223_372_036_854_775_807 - 9_223_372_036_854_775_806", "1");
	refuse("threads", "9_223_372_036_854_775_807 * 9_223_372_036_854_775_807 / 9_223_372_036_854_775_807", STB_E0311);
}

Test(num, bounds_include_their_ends)
{
	expect("threads", "1", "1");
	expect("threads", "16384", "16384");
	refuse("threads", "0", STB_E0303);
	refuse("threads", "16385", STB_E0303);
	refuse("threads", "-1", STB_E0303);
	refuse("threads", "1..4", STB_E0309);
	refuse("threads", "[1, 2]", STB_E0301);
}

Test(num, lets_carry_types_and_are_checked_unused)
{
	struct spec s = { 0 };

	spec_open(&s, "stb 1\nlet a = b * 2\nlet b = 4KiB\nlet unused = 1KiB + 1s\nworkload io w { bs = a }\n");
	cr_expect_str_eq(spec_value(&s, STB_K_WORKLOAD, "w", "bs"), "8KiB");
	cr_expect_eq(spec_count(&s, STB_E0310), 1);
	cr_expect_eq(s.c.sink.n_errors, 1);
	spec_close(&s);
}

Test(num, a_cycle_of_lets_is_reported_once)
{
	struct spec s = { 0 };
	char *text;

	spec_open(&s, "stb 1\nlet a = b\nlet b = c + 1\nlet c = a\nlet d = a\nworkload io w { iodepth = d }\n");
	cr_expect_eq(spec_count(&s, STB_E0315), 1);
	cr_expect_eq(s.c.sink.n_errors, 1);
	text = spec_text(&s, STB_DIAG_HUMAN);
	cr_expect(strstr(text, "a -> b -> c -> a"), "%s", text);
	free(text);
	spec_close(&s);
}

Test(num, deep_expressions_end_in_a_diagnostic)
{
	struct stb_buf b;
	struct spec s = { 0 };

	stb_buf_init(&b);
	stb_buf_adds(&b, "stb 1\nlet a0 = 1\n");
	for (int i = 1; i <= 5000; i++)
		stb_buf_printf(&b, "let a%d = a%d + 1\n", i, i - 1);
	stb_buf_adds(&b, "let z5001 = z5000\n");
	for (int i = 5000; i > 0; i--)
		stb_buf_printf(&b, "let z%d = z%d + 1\n", i, i - 1);
	stb_buf_adds(&b, "let z0 = 1\n");
	spec_open(&s, stb_buf_str(&b));
	cr_expect_gt(spec_count(&s, STB_E0322), 0);
	stb_buf_fini(&b);
	spec_close(&s);
}
