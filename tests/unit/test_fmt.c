/*
 * test_fmt.c - the canonical form: what it looks like (goldens), that it is its own canonical form, that no comment is lost, and that files
 * with errors are left alone.
 */
#include "compiler/compile.h"
#include "compiler/fmt.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* The canonical form, NULL where there are errors; free() it. */
static char *formatted(const char *text, size_t len, size_t *out_len)
{
	struct stb_compilation c;
	struct stb_buf out;
	char *result = NULL;
	uint32_t file;

	stb_compilation_init(&c);
	stb_buf_init(&out);
	file = stb_sources_add(&c.sources, "test.stb", text, len);
	if (stb_fmt(&c.arena, &c.sources, file, &c.sink, &out)) {
		*out_len = out.len;
		result = stb_buf_take(&out);
	} else {
		cr_expect_eq(out.len, 0, "something was printed in spite of errors");
	}
	stb_buf_fini(&out);
	stb_compilation_fini(&c);
	return result;
}

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 20);

	cr_assert(f, "cannot read %s", path);
	*len = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

static size_t count(const char *text, size_t len, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == c;
	return n;
}

static void print_formatted(const char *path, const char *name, FILE *out)
{
	size_t len, once_len = 0, twice_len = 0;
	char *text = read_all(path, &len);
	char *once = formatted(text, len, &once_len), *twice;

	(void)name;
	cr_assert(once, "%s has syntax errors", path);
	fwrite(once, 1, once_len, out);
	cr_expect_eq(count(text, len, '#'), count(once, once_len, '#'), "%s: comments were lost or doubled", path);
	twice = formatted(once, once_len, &twice_len);
	cr_expect(twice && once_len == twice_len && !memcmp(once, twice, once_len), "%s: formatting twice is not formatting once:\n%s", path,
		twice ? twice : "(has errors)");
	free(twice);
	free(once);
	free(text);
}

Test(fmt, goldens)
{
	cr_expect_geq(golden_dir("tests/golden/fmt", "fmt", print_formatted), 5);
}

/* Text of a body before and after, without the header. */
static void expect(const char *before, const char *after)
{
	size_t len = 0;
	char *text = stb_xmalloc(strlen(before) + 32), *got;

	sprintf(text, "stb 1\n%s", before);
	got = formatted(text, strlen(text), &len);
	cr_assert(got, "errors in: %s", before);
	cr_expect_str_eq(got + strlen("stb 1\n"), after);
	free(got);
	free(text);
}

Test(fmt, keeps_units_and_digits)
{
	expect("let a=1024MiB", "let a = 1024MiB\n");
	expect("let a=8.410%", "let a = 8.410%\n");
	expect("let a = 1_00_00", "let a = 10_000\n");
	expect("let a = 10000", "let a = 10000\n");
	expect("let a = 10/s", "let a = 10/s\n");
	expect("let a = 10/ size", "let a = 10 / size\n");
}

Test(fmt, escapes_only_what_needs_it)
{
	expect("let a = \"\\u{41}\\u{2028}\\u{7}\"", "let a = \"A\\u{2028}\\u{7}\"\n");
	expect("let a = \"\\$ \\${b} $\\u{7b}b}\"", "let a = \"$ \\${b} \\${b}\"\n");
	expect("let a = \"$${b}\"", "let a = \"$${b}\"\n");
}

Test(fmt, a_comment_moves_with_its_attribute)
{
	expect("workload io w {\n# about bs\n\n# really\nbs = 4KiB # four\nsize = 1MiB\n}",
		"\nworkload io w {\n  size = 1MiB\n  # about bs\n\n  # really\n  bs = 4KiB  # four\n}\n");
}

Test(fmt, blank_lines_are_kept_once)
{
	expect("\n\n\nlet a = 1\n\n\n\nlet b = 2\n\n\n", "\nlet a = 1\n\nlet b = 2\n");
	expect("volume v {\n\n  size = 1MiB\n\n\n  note = \"x\"\n\n}\n\n\n", "\nvolume v {\n  size = 1MiB\n\n  note = \"x\"\n}\n");
}

Test(fmt, refuses_what_has_errors)
{
	static const char *const wrong[] = { "", "stb 1 volume v {", "stb 1 let a = 010", "stb 1 let a = \"x", "stb 1 volume v { a = 1, b = 2 }",
		"stb 2", "volume v { }", "stb 1 let a = 4k" };
	size_t len;

	for (size_t i = 0; i < STB_LEN(wrong); i++)
		cr_expect_null(formatted(wrong[i], strlen(wrong[i]), &len), "%s", wrong[i]);
}

Test(fmt, our_own_specs_are_in_form)
{
	DIR *d = opendir("specs");
	struct dirent *e;
	unsigned n = 0;

	cr_assert(d);
	while ((e = readdir(d))) {
		size_t len, after_len = 0;
		char path[512], *text, *after;

		if (!strstr(e->d_name, ".stb"))
			continue;
		snprintf(path, sizeof(path), "specs/%s", e->d_name);
		text = read_all(path, &len);
		after = formatted(text, len, &after_len);
		cr_expect(after && len == after_len && !memcmp(text, after, len), "%s: run build/release/stb fmt -w specs/*.stb", path);
		free(text);
		free(after);
		n++;
	}
	closedir(d);
	cr_expect_geq(n, 11);
}

Test(fmt, deep_nesting_is_no_trouble)
{
	struct stb_buf b;
	size_t len;
	char *once, *twice;

	stb_buf_init(&b);
	stb_buf_adds(&b, "stb 1\n");
	for (int i = 0; i < 100; i++)
		stb_buf_adds(&b, "a { # c\n");
	stb_buf_adds(&b, "x = ");
	for (int i = 0; i < 90; i++)
		stb_buf_adds(&b, "[1, ");
	for (int i = 0; i < 90; i++)
		stb_buf_adds(&b, "]");
	for (int i = 0; i < 100; i++)
		stb_buf_adds(&b, "}");
	once = formatted(b.data, b.len, &len);
	cr_assert(once);
	twice = formatted(once, len, &len);
	cr_expect_str_eq(once, twice);
	free(once);
	free(twice);
	stb_buf_fini(&b);
}
