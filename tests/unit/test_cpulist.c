/* test_cpulist.c - CPU lists: what reads, what does not and where exactly, and the canonical form. */
#include "runtime/base/cpulist.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_list(const char *text, const char *canonical)
{
	struct stb_cpulist_error e = { 0 };
	struct stb_cpuset s;
	struct stb_buf b;

	stb_buf_init(&b);
	cr_assert_eq(stb_cpulist_parse(text, strlen(text), STB_CPU_MAX, &s, &e), 0, "%s: %s", text, e.reason);
	stb_cpulist_print(&s, &b);
	cr_expect_str_eq(stb_buf_str(&b), canonical, "%s", text);
	stb_buf_fini(&b);
}

static void expect_error(const char *text, size_t len, uint32_t limit, uint32_t at, uint32_t e_len, const char *reason)
{
	struct stb_cpulist_error e = { 0 };
	struct stb_cpuset s;

	cr_assert_eq(stb_cpulist_parse(text, len, limit, &s, &e), -1, "`%s` reads", text);
	cr_expect_str_eq(e.reason, reason, "`%s`", text);
	cr_expect_eq(e.at, at, "`%s`: at %u", text, e.at);
	cr_expect_eq(e.len, e_len, "`%s`: len %u", text, e.len);
	cr_expect(stb_cpuset_empty(&s), "`%s` leaves something", text);
}

#define EXPECT_ERROR(text, at, len, reason) expect_error((text), sizeof(text) - 1, STB_CPU_MAX, (at), (len), (reason))

Test(cpulist, an_exclusion_wins_wherever_it_stands)
{
	expect_list("1-7,^2,^3,^4,10", "1,5-7,10");
	expect_list("^2,^3,^4,10,1-7", "1,5-7,10");
	expect_list("1-7,^2-4,10", "1,5-7,10");
	expect_list("^3,0-3,3", "0-2");
	expect_list("0-3,^9", "0-3");
}

Test(cpulist, the_canonical_form_is_ascending_and_joined)
{
	expect_list("0", "0");
	expect_list("5,4,3", "3-5");
	expect_list("0-1,2-3", "0-3");
	expect_list("7-7", "7");
	expect_list("60-70,^64", "60-63,65-70");
	expect_list("63-64", "63-64");
	expect_list("0-65535", "0-65535");
	expect_list("65535,0-65535,^1-65534", "0,65535");
	expect_list("64-127,^64,^127", "65-126");
}

Test(cpulist, an_error_tells_its_place)
{
	EXPECT_ERROR("", 0, 0, "the list is empty");
	EXPECT_ERROR("0,", 2, 0, "a number is missing at the end");
	EXPECT_ERROR(",0", 0, 1, "a number is missing before `,`");
	EXPECT_ERROR("0,,1", 2, 1, "a number is missing before `,`");
	EXPECT_ERROR("0,^", 2, 1, "`^` excludes nothing");
	EXPECT_ERROR("0,^^1", 3, 1, "`^` stands where a number was expected");
	EXPECT_ERROR("7-1", 0, 3, "7-1 runs downward");
	EXPECT_ERROR("0,12-3,4", 2, 4, "12-3 runs downward");
	EXPECT_ERROR("4-", 0, 2, "the range from 4 has no end");
	EXPECT_ERROR("4-,5", 0, 2, "the range from 4 has no end");
	EXPECT_ERROR("-4", 0, 1, "`-` stands where a number was expected");
	EXPECT_ERROR("1-2-3", 3, 1, "`-` stands where `,` was expected");
	EXPECT_ERROR("0, 1", 2, 1, "` ` stands where a number was expected");
	EXPECT_ERROR("0..3", 1, 1, "`.` stands where `,` was expected");
	EXPECT_ERROR("0-3;5", 3, 1, "`;` stands where `,` was expected");
	EXPECT_ERROR("a", 0, 1, "`a` stands where a number was expected");
	EXPECT_ERROR("0-\xe3\x81\x82", 2, 3, "`\xe3\x81\x82` stands where a number was expected");
	EXPECT_ERROR("0,\xff", 2, 1, "byte 0xff stands where a number was expected");
	EXPECT_ERROR("0\0", 1, 1, "byte 0x00 stands where `,` was expected");
	EXPECT_ERROR("0,07", 2, 2, "`07` begins with a zero");
	EXPECT_ERROR("0-65536", 2, 5, "65536 is too large");
	EXPECT_ERROR("99999999999999999999999", 0, 23, "99999999999999999999 is too large");
	EXPECT_ERROR("^3", 0, 2, "the exclusions leave nothing");
	EXPECT_ERROR("1-2,^0-9", 0, 8, "the exclusions leave nothing");
	expect_error("0-48", 4, 48, 2, 2, "48 is too large");
}

/* Sets that were made at random read back as they were; the bits are found one by one as well as by runs. */
Test(cpulist, what_is_printed_reads_back)
{
	struct stb_cpuset s, back;
	struct stb_cpulist_error e;
	struct stb_buf b;
	uint32_t x = 1;

	stb_buf_init(&b);
	for (int round = 0; round < 200; round++) {
		uint32_t n = 0;

		stb_cpuset_clear(&s);
		stb_buf_clear(&b);
		for (int i = 0; i <= round; i++) {
			x = x * 1664525 + 1013904223;
			const uint32_t first = x >> 16, len = (x >> 8) % 200;

			stb_cpuset_add_range(&s, first, STB_MIN(first + len, STB_CPU_MAX - 1));
		}
		for (uint32_t c = stb_cpuset_next(&s, 0); c != STB_CPU_NONE; c = stb_cpuset_next(&s, c + 1))
			n += stb_cpuset_has(&s, c);
		cr_assert_eq(n, stb_cpuset_count(&s));
		stb_cpulist_print(&s, &b);
		cr_assert_eq(stb_cpulist_parse(b.data, b.len, STB_CPU_MAX, &back, &e), 0);
		cr_assert_eq(memcmp(&s, &back, sizeof(s)), 0);
	}
	stb_buf_fini(&b);
}
