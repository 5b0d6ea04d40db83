/*
 * test_val.c - values: reduction, exact comparison, and how each type is spelled.
 */
#include "runtime/base/val.h"

#include <criterion/criterion.h>
#include <string.h>

static void spelled(struct stb_val v, const char *text, const char *label)
{
	struct stb_arena a;

	stb_arena_init(&a);
	cr_assert_str_eq(stb_val_text(&a, &v), text);
	cr_assert_str_eq(stb_val_label(&a, &v), label ? label : text);
	stb_arena_fini(&a);
}

Test(val, reduces)
{
	struct stb_val v = stb_val_num(STB_V_SHARE, 70, -100);

	cr_assert(v.num == -7 && v.den == 10);
	v = stb_val_num(STB_V_COUNT, 0, 5);
	cr_assert(v.num == 0 && v.den == 1);
	v = stb_val_num(STB_V_COUNT, INT64_MIN, INT64_MIN);
	cr_assert(v.num == 1 && v.den == 1);
	v = stb_val_num(STB_V_COUNT, INT64_MIN, -1);
	cr_assert(v.num == INT64_MAX && v.den == 1);
}

Test(val, compares_exactly)
{
	const struct stb_val third = stb_val_num(STB_V_COUNT, 1, 3), more = stb_val_num(STB_V_COUNT, 333333333333333334, 1000000000000000000);
	const struct stb_val big = stb_val_num(STB_V_COUNT, INT64_MAX, 2), bigger = stb_val_num(STB_V_COUNT, INT64_MAX - 1, 1);

	cr_assert_eq(stb_val_cmp(&third, &more), -1);
	cr_assert_eq(stb_val_cmp(&more, &third), 1);
	cr_assert_eq(stb_val_cmp(&third, &third), 0);
	cr_assert_eq(stb_val_cmp(&big, &bigger), -1);
}

Test(val, numbers_are_spelled_canonically)
{
	spelled(stb_val_num(STB_V_BYTES, 4096, 1), "4KiB", NULL);
	spelled(stb_val_num(STB_V_BYTES, 2000000000, 1), "2GB", NULL);
	spelled(stb_val_num(STB_V_BYTES, 1024000, 1), "1000KiB", NULL);
	spelled(stb_val_num(STB_V_BYTES, 1536, 1), "1536B", NULL);
	spelled(stb_val_num(STB_V_BYTES, 0, 1), "0B", NULL);
	spelled(stb_val_num(STB_V_BYTES, 1, 3), "1B/3", NULL);
	spelled(stb_val_num(STB_V_TIME, 90000000000, 1), "90s", NULL);
	spelled(stb_val_num(STB_V_TIME, 0, 1), "0s", NULL);
	spelled(stb_val_num(STB_V_TIME, 5, 2), "2.5ns", NULL);
	spelled(stb_val_num(STB_V_SHARE, 7, 10), "70%", NULL);
	spelled(stb_val_num(STB_V_SHARE, 1, 3), "100%/3", NULL);
	spelled(stb_val_num(STB_V_SHARE, 841, 10000), "8.41%", NULL);
	spelled(stb_val_num(STB_V_RATE, 1000, 1), "1000/s", NULL);
	spelled(stb_val_num(STB_V_RATE, 1, 3), "1/s/3", NULL);
	spelled(stb_val_num(STB_V_BYTE_RATE, 10485760, 1), "10MiB/s", NULL);
	spelled(stb_val_num(STB_V_COUNT, -5, 2), "-2.5", NULL);
	spelled(stb_val_num(STB_V_COUNT, INT64_MAX, 1), "9223372036854775807", NULL);
	spelled(stb_val_num(STB_V_CLOCK, 183, 1), "03:03", NULL);
	spelled(stb_val_bool(true), "true", NULL);
}

Test(val, texts_are_quoted_where_a_spec_would)
{
	spelled(stb_val_str(STB_V_STRING, "a\"b\\\n\t${x}$\x1b"), "\"a\\\"b\\\\\\n\\t\\${x}$\\u{1b}\"", "a\"b\\\n\t${x}$\x1b");
	spelled(stb_val_str(STB_V_STRING, "標準"), "\"標準\"", "標準");
	spelled(stb_val_str(STB_V_WORD, "psync"), "psync", NULL);
	spelled(stb_val_str(STB_V_SECRET, "env:DB_PASSWORD"), "env(\"DB_PASSWORD\")", NULL);
}

Test(val, composites)
{
	struct stb_val items[2] = { stb_val_num(STB_V_COUNT, 2, 1), stb_val_num(STB_V_COUNT, 3, 1) };
	const char *keys[2] = { "x", "y" };
	struct stb_val v = { .type = STB_V_LIST, .items = items, .n_items = 2 }, other = v;
	struct stb_val open_end[2] = { stb_val_num(STB_V_SHARE, 97, 100), { .type = STB_V_NONE } };

	spelled(v, "[2, 3]", NULL);
	other.n_items = 1;
	cr_assert(!stb_val_equal(&v, &other));
	v.type = STB_V_RANGE;
	spelled(v, "2..3", NULL);
	v.type = STB_V_MAP;
	v.keys = keys;
	spelled(v, "{ x = 2  y = 3 }", NULL);
	v = (struct stb_val){ .type = STB_V_RANGE, .items = open_end, .n_items = 2 };
	spelled(v, "97%..*", NULL);
	v = (struct stb_val){ .type = STB_V_LIST };
	spelled(v, "[]", NULL);
}

Test(val, equality_is_deep_and_typed)
{
	struct stb_val a = stb_val_num(STB_V_COUNT, 1, 1), b = stb_val_num(STB_V_BYTES, 1, 1);

	cr_assert(!stb_val_equal(&a, &b));
	a = stb_val_str(STB_V_WORD, "x");
	b = stb_val_str(STB_V_STRING, "x");
	cr_assert(!stb_val_equal(&a, &b));
	b = stb_val_str(STB_V_WORD, strdupa("x"));
	cr_assert(stb_val_equal(&a, &b));
}
