/* test_storage_undo.c - what a killed run left is removed, and nothing of anybody else's is touched. */
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int undo(const char *mark, const char *kind, const char *object)
{
	struct stb_err err;

	stb_err_clear(&err);
	return stb_storage_undo(mark, kind, object, &err);
}

/* As after a SIGKILL: the child is gone, what it announced is all that is known. */
static void killed_run(const char *type, const char *filesystem)
{
	struct rig r;
	char left[16][2][300], backing[4200];
	int pipes[2], n, status;
	ssize_t got;
	pid_t pid;

	rig_init(&r, type);
	if (filesystem)
		test_word(&r.volume, "filesystem", filesystem);
	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)rig_provision(&r);
		got = write(pipes[1], r.left, sizeof(r.left[0]) * (size_t)r.n_left);
		_exit(got < 0);
	}
	close(pipes[1]);
	got = read(pipes[0], left, sizeof(left));
	close(pipes[0]);
	waitpid(pid, &status, 0);
	cr_assert(got > 0);
	n = (int)((size_t)got / sizeof(left[0]));
	for (int i = n - 1; i >= 0; i--) {
		cr_expect_eq(undo("other-mark", left[i][0], left[i][1]), !strcmp(left[i][0], "loop")
			? (stb_loop_backing(left[i][1], backing, sizeof(backing)) ? STB_UNDO_FOREIGN : STB_UNDO_GONE) : STB_UNDO_FAILED);
		cr_expect(undo(TEST_MARK, left[i][0], left[i][1]) >= 0, "%s %s", left[i][0], left[i][1]);
		cr_expect_eq(undo(TEST_MARK, left[i][0], left[i][1]), STB_UNDO_GONE, "twice: %s %s", left[i][0], left[i][1]);
	}
	usleep(200000);
	rig_left_nothing(r.dir);
	cr_expect_eq(rig_entries(r.dir), 0, "%s", type);
	rig_fini(&r);
}

Test(storage, undo_cleans_after_a_killed_run)
{
	killed_run("directory", NULL);
	if (geteuid() != 0)
		cr_skip_test("needs root");
	killed_run("tmpfs", NULL);
	rig_need_loop();
	killed_run("loop", "ext4");
	killed_run("loop", "none");
}

Test(storage, undo_touches_only_what_carries_the_mark)
{
	struct rig r;
	char path[512], other[512];

	rig_init(&r, "directory");
	snprintf(path, sizeof(path), "%s/data", r.dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	rig_write_file(path, "precious", "x");
	cr_expect_eq(undo(TEST_MARK, "dir", path), -1);
	cr_expect_eq(undo(TEST_MARK, "dir", r.dir), -1);
	cr_expect_eq(undo(TEST_MARK, "dir", "/"), -1);
	cr_expect_eq(undo(TEST_MARK, "dir", ""), -1);
	cr_expect_eq(undo(TEST_MARK, "dir", "stb-" TEST_MARK "-1"), -1, "relative");
	cr_expect_eq(undo(TEST_MARK, "bomb", path), -1);
	cr_expect_eq(undo("", "dir", path), -1);
	cr_expect_eq(undo("../x", "dir", path), -1);
	cr_expect_eq(undo(TEST_MARK, "loop", "/dev/sda"), -1);
	cr_expect_eq(undo(TEST_MARK, "loop", "/dev/loop/../sda"), -1);
	/* the name alone is not enough: no mark file, a wrong one, a link, a way out */
	snprintf(other, sizeof(other), "%s/stb-" TEST_MARK "-7", r.dir);
	cr_assert_eq(mkdir(other, 0700), 0);
	cr_expect_eq(undo(TEST_MARK, "dir", other), 0, "an empty one was made before its mark file");
	cr_assert_eq(mkdir(other, 0700), 0);
	rig_write_file(other, "precious", "x");
	cr_expect_eq(undo(TEST_MARK, "dir", other), -1);
	rig_write_file(other, "mark", TEST_MARK "x");
	cr_expect_eq(undo(TEST_MARK, "dir", other), -1);
	cr_expect_eq(rig_entries(other), 2);
	snprintf(other, sizeof(other), "%s/stb-" TEST_MARK "-8", r.dir);
	cr_assert_eq(symlink(path, other), 0);
	cr_expect_eq(undo(TEST_MARK, "dir", other), -1);
	snprintf(other, sizeof(other), "%s/stb-" TEST_MARK "-9/../data", r.dir);
	cr_expect_eq(undo(TEST_MARK, "dir", other), -1);
	snprintf(other, sizeof(other), "%s/stb-" TEST_MARK "-7x", r.dir);
	cr_expect_eq(undo(TEST_MARK, "dir", other), -1);
	cr_expect_eq(rig_entries(path), 1);
	rig_fini(&r);
}

/* A loop device of somebody else's stays attached. */
Test(storage, undo_leaves_foreign_loop_devices_alone)
{
	struct rig r;
	struct stb_volume *v;
	char backing[4200];

	rig_need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = rig_provision(&r);
	cr_expect_eq(undo("other-mark", "loop", stb_volume_device(v)), STB_UNDO_FOREIGN);
	cr_expect(stb_loop_backing(stb_volume_device(v), backing, sizeof(backing)));
	rig_remove(&r, v);
	rig_fini(&r);
}

/* Asked to detach a device that is in use, the kernel only notes the wish: undone is what is gone. */
Test(storage, undo_of_a_busy_loop_device_is_no_success)
{
	struct rig r;
	struct stb_volume *v;
	char device[64];
	int fd;

	rig_need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = rig_provision(&r);
	snprintf(device, sizeof(device), "%s", stb_volume_device(v));
	fd = open(device, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0);
	cr_expect_eq(undo(TEST_MARK, "loop", device), STB_UNDO_FAILED);
	close(fd);
	rig_remove(&r, v);
	cr_expect_eq(undo(TEST_MARK, "loop", device), STB_UNDO_GONE);
	rig_fini(&r);
}
