/*
 * test_source.c - reading files of all kinds, and places in them.
 */
#include "compiler/source.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/stb-test-source-XXXXXX";

static void make_dir(void)
{
	cr_assert(mkdtemp(dir));
}

static void remove_dir(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static enum stb_source_status load(const char *path, int *err)
{
	struct stb_sources s;
	enum stb_source_status status;
	uint32_t file;

	stb_sources_init(&s);
	status = stb_sources_load(&s, path, NULL, &file, err);
	stb_sources_fini(&s);
	return status;
}

TestSuite(source, .init = make_dir, .fini = remove_dir);

Test(source, what_is_no_regular_file_is_not_opened)
{
	int err;

	cr_assert_eq(mkfifo(in_dir("fifo"), 0600), 0);
	cr_expect_eq(load(in_dir("fifo"), &err), STB_SOURCE_NOT_A_FILE);
	cr_expect_eq(load("/dev/zero", &err), STB_SOURCE_NOT_A_FILE);
	cr_expect_eq(load("/dev/tty", &err), STB_SOURCE_NOT_A_FILE);
	cr_expect_eq(load(dir, &err), STB_SOURCE_DIRECTORY);
	cr_expect_eq(symlink("fifo", in_dir("link")), 0);
	cr_expect_eq(load(in_dir("link"), &err), STB_SOURCE_NOT_A_FILE);
}

Test(source, what_cannot_be_opened_says_why)
{
	int err = 0;

	cr_expect_eq(load(in_dir("none"), &err), STB_SOURCE_ERRNO);
	cr_expect_eq(err, ENOENT);
	cr_expect_eq(symlink("loop", in_dir("loop")), 0);
	cr_expect_eq(load(in_dir("loop"), &err), STB_SOURCE_ERRNO);
	cr_expect_eq(err, ELOOP);
	cr_expect_eq(load("", &err), STB_SOURCE_ERRNO);
	cr_expect_eq(err, ENOENT);
}

/* The cap is exact; a sparse file is refused before it is read. */
Test(source, too_large)
{
	const char *path = in_dir("large");
	int fd = open(path, O_CREAT | O_WRONLY, 0600), err;

	cr_assert_eq(ftruncate(fd, STB_SOURCE_MAX_BYTES), 0);
	cr_expect_eq(load(path, &err), STB_SOURCE_OK);
	cr_assert_eq(ftruncate(fd, (off_t)STB_SOURCE_MAX_BYTES + 1), 0);
	cr_expect_eq(load(path, &err), STB_SOURCE_TOO_LARGE);
	cr_assert_eq(ftruncate(fd, (off_t)1 << 40), 0);
	cr_expect_eq(load(path, &err), STB_SOURCE_TOO_LARGE);
	close(fd);
}

/* Files of the kernel have no size to stat and are read all the same. */
Test(source, a_file_without_a_size)
{
	struct stb_sources s;
	uint32_t file;
	int err;

	stb_sources_init(&s);
	cr_assert_eq(stb_sources_load(&s, "/proc/self/status", "status", &file, &err), STB_SOURCE_OK);
	cr_expect_gt(s.files[file].len, 0);
	cr_expect_str_eq(s.files[file].name, "status");
	cr_expect_str_eq(s.files[file].path, "/proc/self/status");
	stb_sources_fini(&s);
}

Test(source, standard_input)
{
	struct stb_sources s;
	uint32_t file;
	int fds[2], err;

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], "stb 1\n", 6), 6);
	close(fds[1]);
	cr_assert_geq(dup2(fds[0], STDIN_FILENO), 0);
	stb_sources_init(&s);
	cr_assert_eq(stb_sources_load(&s, "-", NULL, &file, &err), STB_SOURCE_OK);
	cr_expect_eq(s.files[file].len, 6);
	cr_expect_str_eq(s.files[file].name, "standard input");
	stb_sources_fini(&s);
}

static void expect_position(const struct stb_sources *s, uint32_t offset, uint32_t line, uint32_t column)
{
	const struct stb_position p = stb_sources_position(s, 0, offset);

	cr_expect(p.line == line && p.column == column, "offset %u is %u:%u, not %u:%u", offset, p.line, p.column, line, column);
}

Test(source, positions)
{
	/*                    0123 4   5 678   9 */
	const char text[] = "ab\tc\r\n\n\xE6\xA8\x99x\xCC\x81y\0z\xFFw";
	struct stb_sources s;
	uint32_t len;

	stb_sources_init(&s);
	stb_sources_add(&s, "x", text, sizeof(text) - 1);
	expect_position(&s, 0, 1, 1);
	expect_position(&s, 2, 1, 3);
	expect_position(&s, 3, 1, 9); /* behind the tab */
	expect_position(&s, 6, 2, 1); /* an empty line */
	expect_position(&s, 7, 3, 1);
	expect_position(&s, 10, 3, 3); /* behind a wide character */
	expect_position(&s, 13, 3, 4); /* a combining accent takes no column */
	expect_position(&s, 15, 3, 6); /* a NUL takes one */
	expect_position(&s, 17, 3, 8); /* and so does a byte that is no UTF-8 */
	expect_position(&s, 18, 3, 9);
	expect_position(&s, 1000, 3, 9); /* past the end is the end */
	cr_expect(!memcmp(stb_sources_line(&s, 0, 1, &len), "ab\tc", 4) && len == 4, "a line ends before its CR LF");
	stb_sources_line(&s, 0, 2, &len);
	cr_expect_eq(len, 0);
	stb_sources_line(&s, 0, 3, &len);
	cr_expect_eq(len, sizeof(text) - 1 - 7);
	stb_sources_line(&s, 0, 4, &len);
	cr_expect_eq(len, 0);
	stb_sources_line(&s, 7, 1, &len);
	cr_expect_eq(len, 0);
	stb_sources_fini(&s);
}

Test(source, an_empty_file_has_one_line)
{
	struct stb_sources s;

	stb_sources_init(&s);
	stb_sources_add(&s, "x", "", 0);
	cr_expect_eq(s.files[0].n_lines, 1);
	expect_position(&s, 0, 1, 1);
	stb_sources_fini(&s);
}

Test(source, spans_join)
{
	const struct stb_span a = { 0, 4, 6 }, b = { 0, 1, 5 }, other = { 1, 0, 9 };
	struct stb_span j = stb_span_join(a, b);

	cr_expect(j.file == 0 && j.begin == 1 && j.end == 6);
	j = stb_span_join(STB_NO_SPAN, a);
	cr_expect(j.begin == 4 && j.end == 6);
	j = stb_span_join(a, STB_NO_SPAN);
	cr_expect(j.begin == 4 && j.end == 6);
	j = stb_span_join(a, other);
	cr_expect(j.file == 0 && j.end == 6);
}

Test(source, glyphs)
{
	static const struct {
		const char *text;
		uint32_t bytes, width;
		bool printable;
	} cases[] = {
		{ "a", 1, 1, true },
		{ "\t", 1, 1, false },
		{ "\x7F", 1, 1, false },
		{ "\xE6\xA8\x99", 3, 2, true },
		{ "\xCC\x81", 2, 0, true },
		{ "\xF0\x9F\x98\x80", 4, 2, true },
		{ "\xE6\xA8", 1, 1, false },	   /* cut off */
		{ "\xC0\xAF", 1, 1, false },	   /* overlong */
		{ "\xED\xA0\x80", 1, 1, false },   /* a surrogate */
		{ "\xF4\x90\x80\x80", 1, 1, false }, /* beyond Unicode */
		{ "\xC2\x85", 2, 1, false },	   /* a control character of two bytes */
		{ "\xE2\x80\xAE", 3, 1, false },   /* reorders text */
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const struct stb_glyph g = stb_glyph_at(cases[i].text, strlen(cases[i].text));

		cr_expect(g.bytes == cases[i].bytes && g.width == cases[i].width && g.printable == cases[i].printable,
			"case %zu: %u bytes, width %u, %sprintable", i, g.bytes, g.width, g.printable ? "" : "not ");
	}
}
