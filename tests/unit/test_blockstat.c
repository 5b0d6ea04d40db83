/*
 * What the kernel counts of a block device: which device a path lies on, the file's fields, what has none.
 */
#include "runtime/base/blockstat.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char root[64], dir[160];

/* A /sys of our own that knows the device under root. */
static void setup(void)
{
	static const char *const made[] = { "sys", "sys/dev", "sys/dev/block" };
	char path[200];
	struct stat st;

	snprintf(root, sizeof(root), "/tmp/stb-test-blockstat-XXXXXX");
	cr_assert(mkdtemp(root));
	for (size_t i = 0; i < STB_LEN(made); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, made[i]);
		cr_assert_eq(mkdir(path, 0700), 0);
	}
	cr_assert_eq(stat(root, &st), 0);
	snprintf(dir, sizeof(dir), "%s/sys/dev/block/%u:%u", root, major(st.st_dev), minor(st.st_dev));
	cr_assert_eq(mkdir(dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/queue", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	cr_expect_eq(system(command), 0);
}

TestSuite(blockstat, .init = setup, .fini = teardown);

static void put(const char *name, const char *text)
{
	char path[220];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

Test(blockstat, counts_of_the_device_under_a_path)
{
	char file[STB_BLOCKSTAT_PATH];
	struct stb_blockstat a, b, d;

	put("stat", "      10        1     2000      123        7        2     3000      456        0      579      888        0        0        0        0\n");
	stb_blockstat_find(root, root, file);
	cr_assert(strstr(file, dir) == file, "%s", file);
	a = stb_blockstat_read(file);
	cr_expect(a.known);
	cr_expect_eq(a.read_ios, 10);
	cr_expect_eq(a.read_bytes, 2000 * 512);
	cr_expect_eq(a.write_ios, 7);
	cr_expect_eq(a.write_bytes, 3000 * 512);
	put("stat", "12 1 2016 123 7 2 3001 456 0 579 888\n"); /* of an older kernel */
	b = stb_blockstat_read(file);
	d = stb_blockstat_between(&a, &b);
	cr_expect(d.known && d.read_ios == 2 && d.read_bytes == 16 * 512 && d.write_ios == 0 && d.write_bytes == 512);
	d = stb_blockstat_between(&b, &a);
	cr_expect_not(d.known, "counters that went back say nothing");
	put("queue/iostats", "1\n");
	stb_blockstat_find(root, root, file);
	cr_expect(file[0]);
}

Test(blockstat, what_has_none)
{
	static const char *const texts[] = { "", "1 2 3 4 5 6\n", "1 2 x 4 5 6 7\n", "- 2 3 4 5 6 7\n" };
	char file[STB_BLOCKSTAT_PATH];

	stb_blockstat_find(root, root, file);
	cr_expect_str_eq(file, "", "no file");
	for (size_t i = 0; i < STB_LEN(texts); i++) {
		put("stat", texts[i]);
		stb_blockstat_find(root, root, file);
		cr_expect_str_eq(file, "", "%zu", i);
	}
	put("stat", "1 2 3 4 5 6 7 8 9 10 11\n");
	put("queue/iostats", "0\n");
	stb_blockstat_find(root, root, file);
	cr_expect_str_eq(file, "", "it does not count");
	stb_blockstat_find(root, "/nowhere/at/all", file);
	cr_expect_str_eq(file, "");
	stb_blockstat_find("", "/proc", file);
	cr_expect_str_eq(file, "", "no device lies below");
	cr_expect_not(stb_blockstat_read("").known);
}
