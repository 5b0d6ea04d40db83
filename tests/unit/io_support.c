/*
 * The shared helpers of the io and storage tests.
 */
#include "tests/unit/io_support.h"

#include "runtime/storage/volume.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void test_scratch_make(char *path, size_t size, bool in_memory)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, size, "%s/stb-unit.XXXXXX", in_memory ? "/dev/shm" : tmp && *tmp ? tmp : "/var/tmp");
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
	cr_expect_eq(stb_tree_remove(fd, slash + 1, path, &err), 0, "%s", err.what);
	close(fd);
}
