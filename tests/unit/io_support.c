/*
 * The shared helpers of the io and storage tests.
 */
#include "tests/unit/io_support.h"

#include "runtime/base/process.h"
#include "runtime/storage/volume.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

struct stb_phase *test_io_run(const struct test_block *t, const char *dir, const char *device, int *ret)
{
	const uint32_t n = stb_io_workers(&t->block);
	const size_t size = (stb_phase_size(n) + 127) / 128 * 128;
	struct stb_phase *phase = aligned_alloc(128, size);
	struct stb_io_setup s = { .workload = &t->block, .dir = dir, .device = device, .seed = 1, .cell = 42, .repetition = 1 };

	memset(phase, 0, size);
	phase->n_workers = n;
	*ret = stb_io_run(&s, phase);
	return phase;
}

/* Takes away what a test that was killed has left in parent: our names carry the number of the process that made them. */
static void sweep(const char *parent)
{
	DIR *d = opendir(parent);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[600];
		struct stb_err err;
		int pid;

		if (sscanf(e->d_name, "stb-unit.%d.", &pid) != 1 || pid <= 1 || stb_process_start(pid))
			continue;
		for (int n = 1; n <= 3; n++) {
			snprintf(path, sizeof(path), "%s/%s/stb-" TEST_MARK "-%d/" STB_STORAGE_VOL, parent, e->d_name, n);
			if (stb_fs_is_mount(path))
				(void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
		}
		stb_err_clear(&err);
		if (stb_tree_remove(dirfd(d), e->d_name, NULL, e->d_name, &err))
			fprintf(stderr, "%s\n", err.what);
	}
	if (d)
		closedir(d);
}

void test_scratch_make(char *path, size_t size, bool in_memory)
{
	const char *tmp = getenv("TMPDIR");
	const char *parent = in_memory ? "/dev/shm" : tmp && *tmp ? tmp : "/var/tmp";

	sweep(parent);
	snprintf(path, size, "%s/stb-unit.%d.XXXXXX", parent, (int)getpid());
	cr_assert_not_null(mkdtemp(path), "cannot make %s", path);
}

void test_scratch_remove(const char *path)
{
	struct stb_err err;
	char parent[256];
	char *slash;
	int fd;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = 0;
	fd = open(parent, O_RDONLY | O_DIRECTORY);
	cr_assert(fd >= 0);
	stb_err_clear(&err);
	cr_expect_eq(stb_tree_remove(fd, slash + 1, NULL, path, &err), 0, "%s", err.what);
	close(fd);
}
