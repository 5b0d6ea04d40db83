/* test_progress.c - the progress line keeps to its columns whatever the names are, and drops the least important first. */
#include "runtime/exec/progress.h"

#include <criterion/criterion.h>
#include <string.h>

static struct stb_progress_view view(const char *what)
{
	return (struct stb_progress_view){ .share = 0.5, .done = 7, .total = 24, .what = what, .phase = "measure", .figure = "12.3k IOPS",
		.left_ns = 42000000000u, .left_known = true };
}

static void line(struct stb_buf *b, const struct stb_progress_view *v, size_t columns)
{
	stb_buf_init(b);
	stb_progress_line(b, v, columns);
}

Test(progress, shows_all_on_a_wide_terminal)
{
	const struct stb_progress_view v = view("disk / randwrite #2");
	struct stb_buf b;

	line(&b, &v, 100);
	cr_assert_str_eq(stb_buf_str(&b), "[############............]  7/24 disk / randwrite #2  measure  12.3k IOPS  0:42 left");
	stb_buf_fini(&b);
}

Test(progress, never_exceeds_its_columns)
{
	static const char *const names[] = { "a", "disk / randwrite_4k #2", "標準フラッシュ / 読み書き #1",
		"a name that is far longer than anybody's terminal is wide, as names that people give to things sometimes are" };

	for (size_t n = 0; n < STB_LEN(names); n++)
		for (size_t columns = 0; columns <= 160; columns++) {
			const struct stb_progress_view v = view(names[n]);
			struct stb_buf b;

			line(&b, &v, columns);
			cr_assert_leq(stb_display_width(stb_buf_str(&b), b.len), columns, "%zu columns: `%s`", columns, stb_buf_str(&b));
			stb_buf_fini(&b);
		}
}

Test(progress, cuts_wide_characters_whole)
{
	for (size_t columns = 20; columns < 80; columns++) {
		const struct stb_progress_view v = view("標準フラッシュ標準フラッシュ標準フラッシュ");
		struct stb_buf b;

		line(&b, &v, columns);
		/* a cut character would be an invalid byte, whose width is one each */
		for (size_t i = 0; i < b.len; i++) {
			const unsigned char c = (unsigned char)b.data[i];

			if (c >= 0xe0)
				cr_assert(i + 2 < b.len && ((unsigned char)b.data[i + 2] & 0xc0) == 0x80, "%zu columns", columns);
		}
		stb_buf_fini(&b);
	}
}

Test(progress, share_outside_its_range_does_no_harm)
{
	struct stb_progress_view v = view("x");
	struct stb_buf b;

	v.share = 7;
	line(&b, &v, 100);
	cr_assert_not_null(strstr(stb_buf_str(&b), "[########################]"));
	stb_buf_fini(&b);
	v.share = -1;
	line(&b, &v, 100);
	cr_assert_not_null(strstr(stb_buf_str(&b), "[........................]"));
	stb_buf_fini(&b);
}

Test(progress, says_hours_and_nothing_when_unknown)
{
	struct stb_progress_view v = view("x");
	struct stb_buf b;

	v.left_ns = 3723ull * 1000000000u;
	line(&b, &v, 100);
	cr_assert_not_null(strstr(stb_buf_str(&b), "1:02:03 left"));
	stb_buf_fini(&b);
	v.left_known = false;
	line(&b, &v, 100);
	cr_assert_null(strstr(stb_buf_str(&b), "left"));
	stb_buf_fini(&b);
}
