/* test_outfile.c - files appear whole or not at all, and what is no file is written to and never replaced. */
#include "runtime/exec/outfile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/stb-out-XXXXXX";

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	char cmd[100];

	snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
	cr_assert_eq(system(cmd), 0);
}

TestSuite(outfile, .init = make_dir, .fini = remove_dir);

static bool holds(const char *path, const char *text)
{
	char got[100];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		return false;
	n = fread(got, 1, sizeof got - 1, f);
	fclose(f);
	got[n] = '\0';
	return !strcmp(got, text);
}

Test(outfile, makes_and_replaces)
{
	struct stb_err err;
	struct stat st;

	stb_err_clear(&err);
	cr_assert_eq(stb_outfile_write("a", "one", 3, &err), 0);
	cr_assert(holds("a", "one"));
	chmod("a", 0600);
	cr_assert_eq(stb_outfile_write("a", "two!", 4, &err), 0);
	cr_assert(holds("a", "two!"));
	cr_assert_eq(stat("a", &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600u);
}

Test(outfile, a_link_keeps_pointing)
{
	struct stb_err err;
	struct stat st;

	stb_err_clear(&err);
	cr_assert_eq(stb_outfile_write("real", "x", 1, &err), 0);
	cr_assert_eq(symlink("real", "link"), 0);
	cr_assert_eq(stb_outfile_write("link", "y", 1, &err), 0);
	cr_assert(holds("real", "y"));
	cr_assert_eq(lstat("link", &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
}

Test(outfile, a_device_stays_one)
{
	struct stb_err err;
	struct stat st;

	stb_err_clear(&err);
	cr_assert_eq(stb_outfile_write("/dev/null", "x", 1, &err), 0);
	cr_assert_eq(stat("/dev/null", &st), 0);
	cr_assert(S_ISCHR(st.st_mode));
	cr_assert_eq(stb_outfile_write("/dev/full", "x", 1, &err), -1);
	cr_assert_not_null(strstr(err.what, "/dev/full"));
}

Test(outfile, failure_leaves_nothing)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_outfile_write("no/such/place", "x", 1, &err), -1);
	cr_assert(err.set);
	cr_assert_neq(*err.remedy, '\0');
	stb_err_clear(&err);
	cr_assert_eq(stb_outfile_write(".", "x", 1, &err), -1);
	cr_assert_eq(system("test -z \"$(ls -A)\""), 0);
}
