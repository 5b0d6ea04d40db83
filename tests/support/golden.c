/*
 * golden.c - see golden.h. The first differing line is shown with both sides, so that most failures need no look at the files.
 */
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_suffix(const char *s, const char *suffix)
{
	const size_t n = strlen(s), m = strlen(suffix);

	return n > m && !strcmp(s + n - m, suffix);
}

/* The whole file with a NUL behind it, or NULL. free() it. */
static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	FILE *out;
	int c;

	if (!f)
		return NULL;
	out = open_memstream(&text, len);
	while ((c = fgetc(f)) != EOF)
		fputc(c, out);
	fclose(out);
	fclose(f);
	return text;
}

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "wb");

	cr_assert(f, "cannot write %s: %s", path, strerror(errno));
	fwrite(text, 1, len, f);
	fclose(f);
}

static void show_difference(const char *path, const char *expected, const char *found)
{
	unsigned line = 1;

	while (*expected && *found) {
		const size_t n = strcspn(expected, "\n"), m = strcspn(found, "\n");

		if (n != m || memcmp(expected, found, n))
			break;
		expected += n + (expected[n] == '\n');
		found += m + (found[m] == '\n');
		line++;
	}
	cr_expect_fail("%s:%u differs\n  expected: %.*s\n  found:    %.*s\n(STB_UPDATE_GOLDEN=1 rewrites it)", path, line,
		(int)strcspn(expected, "\n"), expected, (int)strcspn(found, "\n"), found);
}

static void compare(const char *golden, const char *text, size_t len)
{
	size_t expected_len = 0;
	char *expected;

	if (getenv("STB_UPDATE_GOLDEN")) {
		write_file(golden, text, len);
		return;
	}
	expected = read_file(golden, &expected_len);
	if (!expected)
		cr_expect_fail("%s is missing (STB_UPDATE_GOLDEN=1 writes it)", golden);
	else if (expected_len != len || memcmp(expected, text, len))
		show_difference(golden, expected, text);
	free(expected);
}

static void expect_no_orphans(const char *dir, const char *input_ext, const char *ext)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char suffix[64], spec[512];

	snprintf(suffix, sizeof(suffix), ".%s", ext);
	while (d && (e = readdir(d))) {
		FILE *f;

		if (!has_suffix(e->d_name, suffix))
			continue;
		snprintf(spec, sizeof(spec), "%s/%.*s.%s", dir, (int)(strlen(e->d_name) - strlen(suffix)), e->d_name, input_ext);
		f = fopen(spec, "rb");
		cr_expect(f, "%s/%s has no %s", dir, e->d_name, spec);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

size_t golden_dir_of(const char *dir, const char *input_ext, const char *ext, golden_fn *produce)
{
	struct dirent **list;
	const int n = scandir(dir, &list, NULL, alphasort);
	size_t n_inputs = 0;
	char suffix[64];

	snprintf(suffix, sizeof(suffix), ".%s", input_ext);
	for (int i = 0; i < n; i++) {
		char path[512], golden[512], *text = NULL;
		size_t len = 0;
		FILE *out;

		if (!has_suffix(list[i]->d_name, suffix)) {
			free(list[i]);
			continue;
		}
		out = open_memstream(&text, &len);
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		snprintf(golden, sizeof(golden), "%.*s%s", (int)(strlen(path) - strlen(input_ext)), path, ext);
		produce(path, list[i]->d_name, out);
		fclose(out);
		compare(golden, text, len);
		free(text);
		free(list[i]);
		n_inputs++;
	}
	if (n >= 0)
		free(list);
	cr_assert(n_inputs, "%s holds no .%s; tests run from the top of the repository", dir, input_ext);
	expect_no_orphans(dir, input_ext, ext);
	return n_inputs;
}

size_t golden_dir(const char *dir, const char *ext, golden_fn *produce)
{
	return golden_dir_of(dir, "stb", ext, produce);
}
