/* test_storage_removal.c - the removal of a tree: no symlink is followed, no mount crossed, and depth is bounded. */
#include "tests/support/mounts.h"
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Test(storage, removal_follows_no_symlink_and_crosses_no_mount)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;
	char path[512], outside[512];
	int fd;

	rig_init(&r, "directory");
	snprintf(outside, sizeof(outside), "%s/outside", r.dir);
	cr_assert_eq(mkdir(outside, 0700), 0);
	rig_write_file(outside, "precious", "x");
	v = rig_provision(&r);
	snprintf(path, sizeof(path), "%s/link", stb_volume_dir(v));
	cr_assert_eq(symlink(outside, path), 0);
	rig_remove(&r, v);
	cr_expect_eq(rig_entries(outside), 1);
	/* the tree itself swapped for a link */
	snprintf(path, sizeof(path), "%s/swapped", r.dir);
	cr_assert_eq(symlink(outside, path), 0);
	stb_err_clear(&err);
	fd = open(r.dir, O_RDONLY | O_DIRECTORY);
	cr_expect_eq(stb_tree_remove(fd, "swapped", NULL, path, &err), -1);
	cr_expect_eq(stb_tree_remove(fd, "not there", NULL, path, &err), 0);
	cr_expect_eq(rig_entries(outside), 1);
	close(fd);
	rig_fini(&r);
}

Test(storage, removal_is_bounded_in_depth)
{
	struct rig r;
	struct stb_err err;
	int fd, at;

	rig_init(&r, "directory");
	fd = open(r.dir, O_RDONLY | O_DIRECTORY);
	at = dup(fd);
	for (int i = 0; i < 70; i++) {
		int next;

		cr_assert_eq(mkdirat(at, "d", 0700), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
	close(openat(fd, "d/keep", O_CREAT | O_WRONLY, 0600));
	close(openat(fd, "d/gone", O_CREAT | O_WRONLY, 0600));
	stb_err_clear(&err);
	cr_expect_eq(stb_tree_remove(fd, "d", "keep", "d", &err), -1);
	cr_expect_not_null(strstr(err.what, "deeper than 64"), "%s", err.what);
	cr_expect_eq(faccessat(fd, "d/keep", F_OK, 0), 0, "what says whose it is stays as long as anything does");
	/* take the bottom away by hand */
	at = dup(fd);
	for (int i = 0; i < 30; i++) {
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);

		close(at);
		at = next;
	}
	cr_expect_eq(stb_tree_remove(at, "d", NULL, "d", &err), 0);
	close(at);
	cr_expect_eq(stb_tree_remove(fd, "d", "keep", "d", &err), 0);
	close(fd);
	rig_fini(&r);
}

Test(storage, removal_stops_at_a_mount)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	pid = fork();
	if (pid == 0) {
		struct rig r;
		struct stb_volume *v;
		struct stb_err err;
		char path[512];
		int ok;

		rig_init(&r, "directory");
		v = rig_provision(&r);
		if (!test_own_mounts())
			_exit(2);
		snprintf(path, sizeof(path), "%s/m", stb_volume_dir(v));
		if (mkdir(path, 0700) || mount(r.dir, path, NULL, MS_BIND, NULL))
			_exit(2);
		rig_write_file(path, "precious", "x");
		stb_err_clear(&err);
		ok = stb_volume_remove(v, &err) == -1 && strstr(err.what, "something else is mounted there") && r.n_left == 1;
		umount(path);
		snprintf(path, sizeof(path), "%s/precious", r.dir);
		ok = ok && access(path, F_OK) == 0;
		rig_fini(&r);
		_exit(ok ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
