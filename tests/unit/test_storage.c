/*
 * Volumes: what is made, what is refused, that nothing is left, and that nothing of anybody else's is touched.
 */
#include "runtime/io/engine.h"
#include "runtime/storage/volume.h"
#include "tests/unit/io_support.h"
#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK TEST_MARK
#define MIB (1ull << 20)

/* A plan of one storage class and one volume, with what was announced and not withdrawn. */
struct rig {
	char dir[128];
	struct test_block storage, volume;
	struct stb_plan_block blocks[2];
	struct stb_plan plan;
	struct stb_plan_mount mount;
	struct stb_storage_env env;
	int n_left;
	char left[16][2][300]; /* kind, object */
};

static void announce(void *ctx, int made, const char *kind, const char *object)
{
	struct rig *r = ctx;

	if (made) {
		cr_assert_lt(r->n_left, 16);
		snprintf(r->left[r->n_left][0], 300, "%s", kind);
		snprintf(r->left[r->n_left++][1], 300, "%s", object);
		return;
	}
	for (int i = r->n_left - 1; i >= 0; i--) {
		if (!strcmp(r->left[i][0], kind) && !strcmp(r->left[i][1], object)) {
			memmove(&r->left[i], &r->left[i + 1], sizeof(r->left[0]) * (size_t)(r->n_left - i - 1));
			r->n_left--;
			return;
		}
	}
	cr_assert_fail("%s %s was withdrawn and never announced", kind, object);
}

static void rig_init(struct rig *r, const char *type)
{
	memset(r, 0, sizeof(*r));
	test_scratch_make(r->dir, sizeof(r->dir), false);
	test_block_init(&r->storage, "storage", type, "disk");
	test_block_init(&r->volume, "volume", "", "vol");
	test_set(&r->volume, "storage", stb_val_str(STB_V_REF, "disk"));
	if (!strcmp(type, "directory"))
		test_string(&r->storage, "path", r->dir);
	else
		test_bytes(&r->storage, "size", 64 * MIB);
	r->mount = (struct stb_plan_mount){ .role = "data", .volume = 1, .storage = 0 };
}

static const struct stb_storage_env *rig_env(struct rig *r)
{
	r->blocks[0] = r->storage.block;
	r->blocks[1] = r->volume.block;
	r->blocks[0].attrs = r->storage.attrs;
	r->blocks[1].attrs = r->volume.attrs;
	r->plan.blocks = r->blocks;
	r->plan.n_blocks = 2;
	r->env = (struct stb_storage_env){ .plan = &r->plan, .run_dir = r->dir, .run_mark = MARK, .ctx = r, .leftover = announce };
	return &r->env;
}

static void rig_fini(struct rig *r)
{
	test_scratch_remove(r->dir);
}

static struct stb_volume *provision(struct rig *r)
{
	struct stb_volume *v = NULL;
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_volume_preflight(rig_env(r), &r->mount, 1 * MIB, &err), 0, "%s", err.what);
	cr_assert_eq(stb_volume_provision(&v, rig_env(r), &r->mount, &err), 0, "%s", err.what);
	return v;
}

static void remove_volume(struct rig *r, struct stb_volume *v)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(v, &err), 0, "%s", err.what);
	cr_expect_eq(r->n_left, 0, "%s %s is left", r->left[0][0], r->left[0][1]);
}

static bool file_holds(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text);
	if (f)
		fclose(f);
	return found;
}

/* Neither a mount nor a loop device below dir. */
static void nothing_left(const char *dir)
{
	char backing[4200], device[32];

	cr_expect_not(file_holds("/proc/self/mounts", dir), "something is mounted below %s", dir);
	for (int i = 0; i < 64; i++) {
		snprintf(device, sizeof(device), "/dev/loop%d", i);
		if (stb_loop_backing(device, backing, sizeof(backing)))
			cr_expect_null(strstr(backing, dir), "%s serves %s", device, backing);
	}
}

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	cr_assert_not_null(d, "%s", dir);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	cr_assert_not_null(f, "%s: %s", path, strerror(errno));
	fputs(text, f);
	fclose(f);
}

static void need_loop(void)
{
	struct stb_err err;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	stb_err_clear(&err);
	if (stb_loop_check(&err))
		cr_skip_test("needs loop devices");
}

/* --- directory --- */

Test(storage, directory_makes_one_marked_place_and_removes_it_whole)
{
	struct rig r;
	struct stb_volume *v, *w;
	struct stb_err err;
	struct stat st;
	char path[512];

	rig_init(&r, "directory");
	write_file(r.dir, "precious", "x");
	umask(0);
	v = provision(&r);
	w = provision(&r);
	cr_expect_null(stb_volume_device(v));
	cr_assert_eq(stat(stb_volume_dir(v), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
	cr_expect_str_neq(stb_volume_dir(v), stb_volume_dir(w));
	cr_expect_not_null(strstr(stb_volume_dir(v), "/stb-" MARK "-1/"));
	snprintf(path, sizeof(path), "%s/a", stb_volume_dir(v));
	cr_assert_eq(mkdir(path, 0700), 0);
	write_file(path, "b", "x");
	cr_assert_eq(symlink(r.dir, strcat(path, "/link")), 0);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(w, &err), 0, "%s", err.what);
	remove_volume(&r, v);
	cr_expect_eq(entries(r.dir), 1);
	snprintf(path, sizeof(path), "%s/precious", r.dir);
	cr_expect_eq(access(path, F_OK), 0);
	rig_fini(&r);
}

static void preflight_says(struct rig *r, uint64_t need, const char *want)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_expect_eq(stb_volume_preflight(rig_env(r), &r->mount, need, &err), -1, "%s", want);
	cr_expect_not_null(strstr(err.what, want), "%s, not: %s", err.what, want);
}

Test(storage, preflight_of_a_directory)
{
	struct rig r;
	char path[200];

	rig_init(&r, "directory");
	preflight_says(&r, 1ull << 60, "1099511627776 MiB are needed and");
	test_bytes(&r.storage, "size", 10 * MIB);
	preflight_says(&r, 11 * MIB, "11 MiB are needed and 10 MiB are there");
	snprintf(path, sizeof(path), "%s/no/such", r.dir);
	test_string(&r.storage, "path", path);
	preflight_says(&r, 1, "No such file or directory");
	write_file(r.dir, "file", "x");
	snprintf(path, sizeof(path), "%s/file", r.dir);
	preflight_says(&r, 1, "not a directory");
	snprintf(path, sizeof(path), "%s/file/below", r.dir);
	preflight_says(&r, 1, "Not a directory");
	test_string(&r.storage, "path", r.dir);
	test_word(&r.volume, "filesystem", "ext4");
	preflight_says(&r, 1, "brings its own");
	cr_expect_eq(entries(r.dir), 1, "preflight wrote something");
	rig_fini(&r);
}

/* Root can write anywhere but on a read-only mount. */
Test(storage, preflight_of_a_directory_that_cannot_be_written)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	pid = fork();
	if (pid == 0) {
		struct rig r;
		struct stb_err err;
		int ok;

		rig_init(&r, "directory");
		if (!test_own_mounts() ||
			mount(r.dir, r.dir, NULL, MS_BIND, NULL) || mount(NULL, r.dir, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL))
			_exit(2);
		stb_err_clear(&err);
		ok = stb_volume_preflight(rig_env(&r), &r.mount, 1, &err) == -1 && strstr(err.what, "cannot write in directory `") &&
			strstr(err.what, "Read-only file system") && err.remedy[0];
		umount(r.dir);
		rig_fini(&r);
		_exit(ok ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(storage, external_is_not_provisioned)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;

	stb_err_clear(&err);
	rig_init(&r, "external");
	preflight_says(&r, 1, "described, not provisioned");
	cr_expect_eq(stb_volume_provision(&v, rig_env(&r), &r.mount, &err), -1);
	cr_expect_null(v);
	rig_fini(&r);
}

/* --- removal --- */

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
	write_file(outside, "precious", "x");
	v = provision(&r);
	snprintf(path, sizeof(path), "%s/link", stb_volume_dir(v));
	cr_assert_eq(symlink(outside, path), 0);
	remove_volume(&r, v);
	cr_expect_eq(entries(outside), 1);
	/* the tree itself swapped for a link */
	snprintf(path, sizeof(path), "%s/swapped", r.dir);
	cr_assert_eq(symlink(outside, path), 0);
	stb_err_clear(&err);
	fd = open(r.dir, O_RDONLY | O_DIRECTORY);
	cr_expect_eq(stb_tree_remove(fd, "swapped", path, &err), -1);
	cr_expect_eq(stb_tree_remove(fd, "not there", path, &err), 0);
	cr_expect_eq(entries(outside), 1);
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
	stb_err_clear(&err);
	cr_expect_eq(stb_tree_remove(fd, "d", "d", &err), -1);
	cr_expect_not_null(strstr(err.what, "deeper than 64"), "%s", err.what);
	/* take the bottom away by hand */
	at = dup(fd);
	for (int i = 0; i < 30; i++) {
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);

		close(at);
		at = next;
	}
	cr_expect_eq(stb_tree_remove(at, "d", "d", &err), 0);
	close(at);
	cr_expect_eq(stb_tree_remove(fd, "d", "d", &err), 0);
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
		v = provision(&r);
		if (!test_own_mounts())
			_exit(2);
		snprintf(path, sizeof(path), "%s/m", stb_volume_dir(v));
		if (mkdir(path, 0700) || mount(r.dir, path, NULL, MS_BIND, NULL))
			_exit(2);
		write_file(path, "precious", "x");
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

/* --- tmpfs and loop --- */

Test(storage, without_root_loop_and_tmpfs_are_refused_in_preflight)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		cr_skip_test("needs root to drop it");
	pid = fork();
	if (pid == 0) {
		static const char *const types[] = { "tmpfs", "loop" };
		int ok = 1;

		for (size_t i = 0; i < STB_LEN(types); i++) {
			struct rig r;
			struct stb_err err;

			rig_init(&r, types[i]);
			stb_err_clear(&err);
			if (seteuid(65534))
				_exit(2);
			ok &= stb_volume_preflight(rig_env(&r), &r.mount, 1, &err) == -1 && strstr(err.what, "needs root") &&
				strstr(err.remedy, "directory class");
			if (seteuid(0))
				_exit(2);
			rig_fini(&r);
		}
		_exit(ok ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(storage, tmpfs_comes_and_goes)
{
	struct rig r;
	struct stb_volume *v;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	rig_init(&r, "tmpfs");
	preflight_says(&r, 65 * MIB, "65 MiB are needed and 64 MiB are there");
	v = provision(&r);
	cr_expect(stb_fs_is_mount(stb_volume_dir(v)));
	cr_expect_eq(stb_place_free_bytes(stb_volume_dir(v)), 64 * MIB);
	write_file(stb_volume_dir(v), "x", "x");
	remove_volume(&r, v);
	nothing_left(r.dir);
	cr_expect_eq(entries(r.dir), 0);
	rig_fini(&r);
}

static void loop_life(const char *filesystem, uint64_t size, bool with_options)
{
	struct stb_val mkfs_items[] = { stb_val_str(STB_V_STRING, !strcmp(filesystem, "xfs") ? "-m reflink=0" : "-m"),
		stb_val_str(STB_V_STRING, !strcmp(filesystem, "xfs") ? "-K" : "0") };
	struct stb_val mount_items[] = { stb_val_str(STB_V_STRING, "noatime"), stb_val_str(STB_V_STRING, "nodiscard") };
	struct stb_val mkfs = { .type = STB_V_LIST, .items = mkfs_items, .n_items = 2 };
	struct stb_val mounting = { .type = STB_V_LIST, .items = mount_items, .n_items = 2 };
	struct rig r;
	struct stb_volume *v;
	struct stat st;

	rig_init(&r, "loop");
	test_bytes(&r.storage, "size", size);
	test_word(&r.volume, "filesystem", filesystem);
	if (with_options) {
		test_set(&r.volume, "mkfs_options", mkfs);
		test_set(&r.volume, "mount_options", mounting);
	}
	v = provision(&r);
	cr_assert_eq(stat(stb_volume_device(v), &st), 0);
	cr_expect(S_ISBLK(st.st_mode));
	if (!strcmp(filesystem, "none")) {
		cr_expect_null(stb_volume_dir(v));
	} else {
		cr_expect(stb_fs_is_mount(stb_volume_dir(v)));
		cr_assert_eq(stat(stb_volume_dir(v), &st), 0);
		cr_expect_eq(st.st_mode & 07777, 0700);
		write_file(stb_volume_dir(v), "x", "x");
		if (with_options)
			cr_expect(file_holds("/proc/self/mounts", "noatime"));
	}
	remove_volume(&r, v);
	nothing_left(r.dir);
	cr_expect_eq(entries(r.dir), 0);
	rig_fini(&r);
}

Test(storage, loop_ext4_leaves_nothing)
{
	need_loop();
	loop_life("ext4", 64 * MIB, false);
	loop_life("ext4", 64 * MIB, true);
}

Test(storage, loop_xfs_leaves_nothing)
{
	need_loop();
	if (!file_holds("/proc/filesystems", "xfs"))
		cr_skip_test("no xfs in this kernel");
	loop_life("xfs", 320 * MIB, false);
	loop_life("xfs", 320 * MIB, true);
}

Test(storage, loop_raw_leaves_nothing)
{
	need_loop();
	loop_life("none", 16 * MIB, false);
}

Test(storage, several_loop_volumes_live_side_by_side)
{
	struct rig r;
	struct stb_volume *v[3];

	need_loop();
	rig_init(&r, "loop");
	for (int i = 0; i < 3; i++)
		v[i] = provision(&r);
	cr_expect_str_neq(stb_volume_device(v[0]), stb_volume_device(v[1]));
	cr_expect_str_neq(stb_volume_device(v[1]), stb_volume_device(v[2]));
	for (int i = 0; i < 2; i++) {
		struct stb_err err;

		stb_err_clear(&err);
		cr_expect_eq(stb_volume_remove(v[i], &err), 0, "%s", err.what);
	}
	remove_volume(&r, v[2]);
	nothing_left(r.dir);
	rig_fini(&r);
}

Test(storage, preflight_of_a_loop_volume)
{
	struct rig r;

	need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "xfs");
	preflight_says(&r, 1, "xfs needs 300 MiB");
	test_word(&r.volume, "filesystem", "btrfs");
	preflight_says(&r, 1, "none of ext4, xfs, none");
	test_word(&r.volume, "filesystem", "ext4");
	test_bytes(&r.volume, "size", 65 * MIB);
	preflight_says(&r, 1, "asks for 65 MiB");
	test_bytes(&r.volume, "size", 5000);
	preflight_says(&r, 1, "multiple of 4096");
	test_bytes(&r.volume, "size", 1ull << 61);
	test_bytes(&r.storage, "size", 1ull << 61);
	preflight_says(&r, 1ull << 60, "MiB are needed and");
	rig_fini(&r);
}

Test(storage, a_failed_mkfs_leaves_nothing)
{
	struct stb_val item = stb_val_str(STB_V_STRING, "-I 7");
	struct stb_val list = { .type = STB_V_LIST, .items = &item, .n_items = 1 };
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;

	need_loop();
	rig_init(&r, "loop");
	test_set(&r.volume, "mkfs_options", list);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_provision(&v, rig_env(&r), &r.mount, &err), -1);
	cr_expect_not_null(strstr(err.what, "cannot make ext4 for volume `vol`"), "%s", err.what);
	cr_expect_eq(r.n_left, 0);
	nothing_left(r.dir);
	cr_expect_eq(entries(r.dir), 0);
	rig_fini(&r);
}

Test(storage, guard_refuses_what_is_not_empty)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;

	need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = provision(&r);
	stb_err_clear(&err);
	cr_expect_eq(stb_loop_guard(v, &err), 0, "%s", err.what);
	v->spec.filesystem = "ext4";
	cr_assert_eq(stb_fs_make(v, &err), 0, "%s", err.what);
	cr_expect_eq(stb_loop_guard(v, &err), -1);
	cr_expect_not_null(strstr(err.what, "it holds ext4"), "%s", err.what);
	remove_volume(&r, v);
	rig_fini(&r);
}

Test(storage, a_busy_mount_is_reported_and_not_left_mounted)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;
	char path[512];
	int fd;

	need_loop();
	rig_init(&r, "loop");
	v = provision(&r);
	snprintf(path, sizeof(path), "%s/held", stb_volume_dir(v));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(fd >= 0);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(v, &err), -1);
	cr_expect_not_null(strstr(err.what, "could only be detached"), "%s", err.what);
	cr_expect_not(file_holds("/proc/self/mounts", r.dir));
	cr_expect_eq(r.n_left, 1, "the device is still ours");
	cr_expect_str_eq(r.left[0][0], "loop");
	close(fd);
	usleep(300000);
	nothing_left(r.dir);
	rig_fini(&r);
}

Test(storage, a_full_file_system_fails_the_workload_with_the_place)
{
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	int ret;

	need_loop();
	rig_init(&r, "loop");
	v = provision(&r);
	test_io_init(&t);
	test_bytes(&t, "size", 200 * MIB);
	p = test_io_run(&t, stb_volume_dir(v), NULL, &ret);
	cr_expect_eq(ret, -1);
	cr_expect_not_null(strstr(p->err.what, "they need 200 MiB and "), "%s", p->err.what);
	free(p);
	/* nothing is reserved, so the loop itself runs into it */
	test_word(&t, "rw", "write");
	test_word(&t, "fallocate", "none");
	test_bytes(&t, "bs", MIB);
	p = test_io_run(&t, stb_volume_dir(v), NULL, &ret);
	cr_expect_eq(ret, -1);
	cr_expect(strstr(p->err.what, "cannot write 1048576 bytes at offset") && strstr(p->err.what, "No space left"), "%s", p->err.what);
	cr_expect_not_null(strstr(p->err.remedy, "lower size"));
	cr_expect_eq(p->result.issued, p->result.ok[1] + p->result.failed + p->result.cancelled);
	free(p);
	remove_volume(&r, v);
	rig_fini(&r);
}

Test(storage, raw_volumes_are_filled_before_they_are_read)
{
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	int ret;

	need_loop();
	rig_init(&r, "loop");
	test_bytes(&r.storage, "size", 8 * MIB);
	test_word(&r.volume, "filesystem", "none");
	v = provision(&r);
	test_io_init(&t);
	test_bytes(&t, "size", 8 * MIB);
	test_bool(&t, "direct", true);
	p = test_io_run(&t, NULL, stb_volume_device(v), &ret);
	cr_expect_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(atomic_load(&p->progress_total), 8 * MIB);
	cr_expect_eq(p->result.ok[0], 2048);
	free(p);
	p = test_io_run(&t, NULL, stb_volume_device(v), &ret);
	cr_expect_eq(atomic_load(&p->progress_total), 0, "filled again");
	free(p);
	test_bytes(&t, "size", 9 * MIB);
	p = test_io_run(&t, NULL, stb_volume_device(v), &ret);
	cr_expect_not_null(strstr(p->err.what, "needs a device of 9 MiB"), "%s", p->err.what);
	free(p);
	test_bytes(&t, "size", MIB);
	test_count(&t, "numjobs", 2);
	p = test_io_run(&t, NULL, stb_volume_device(v), &ret);
	cr_expect_not_null(strstr(p->err.what, "on a raw volume"), "%s", p->err.what);
	free(p);
	remove_volume(&r, v);
	rig_fini(&r);
}

static bool loop_is_direct(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/loop/dio", strrchr(device, '/') + 1);
	return file_holds(path, "1");
}

/* The image loses its second half: reads of what lay there fail with EIO, the others do not. */
Test(storage, error_limit_says_how_many_errors_are_borne)
{
	static const char *const engines[] = { "psync", "libaio", "io_uring" };
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	struct stb_err err;
	int ret;

	need_loop();
	rig_init(&r, "loop");
	v = provision(&r);
	if (!loop_is_direct(stb_volume_device(v))) {
		remove_volume(&r, v);
		rig_fini(&r);
		cr_skip_test("needs loop devices with direct I/O below");
	}
	test_io_init(&t);
	test_bytes(&t, "size", 40 * MIB);
	test_bool(&t, "direct", true);
	p = test_io_run(&t, stb_volume_dir(v), NULL, &ret);
	cr_assert_eq(ret, 0, "%s", p->err.what);
	free(p);
	cr_assert_eq(truncate(v->image, 32 * MIB), 0);
	for (size_t e = 0; e < STB_LEN(engines); e++) {
		stb_err_clear(&err);
		if (stb_io_caps_find(engines[e])->ops->probe(8, 1, &err))
			continue;
		test_word(&t, "ioengine", engines[e]);
		test_count(&t, "iodepth", e ? 8 : 1);
		test_count(&t, "error_limit", 100000);
		p = test_io_run(&t, stb_volume_dir(v), NULL, &ret);
		cr_expect_eq(ret, 0, "%s", p->err.what);
		cr_expect_eq(p->result.end, STB_END_SIZE);
		cr_expect_eq(atomic_load(&p->progress_total), 0, "laid out again");
		cr_expect_eq(p->result.issued, 10240);
		cr_expect_gt(p->result.failed, 100, "%s: %lu", engines[e], p->result.failed);
		cr_expect_gt(p->result.ok[STB_READ], 100);
		cr_expect_eq(p->result.issued, p->result.ok[STB_READ] + p->result.failed);
		free(p);
		test_count(&t, "error_limit", 10);
		p = test_io_run(&t, stb_volume_dir(v), NULL, &ret);
		cr_expect_eq(ret, -1);
		cr_expect_geq(p->result.failed, 11);
		cr_expect_leq(p->result.failed, 11 + 8);
		cr_expect_not_null(strstr(p->err.what, "cannot read 4096 bytes at offset"), "%s", p->err.what);
		cr_expect_not_null(strstr(p->err.what, "Input/output error"), "%s", p->err.what);
		cr_expect_not_null(strstr(p->err.remedy, "loop image"), "%s", p->err.remedy);
		cr_expect_eq(p->result.issued, p->result.ok[STB_READ] + p->result.failed + p->result.cancelled);
		free(p);
	}
	remove_volume(&r, v);
	rig_fini(&r);
}

/* --- options --- */

static bool words_ok(const char *filesystem, enum stb_fs_where where, const char *a, const char *b)
{
	struct stb_val items[] = { stb_val_str(STB_V_STRING, a), stb_val_str(STB_V_STRING, b) };
	struct stb_val list = { .type = STB_V_LIST, .items = items, .n_items = b ? 2 : 1 };
	struct stb_fs_words w;

	return stb_fs_words(&w, filesystem, where, &list);
}

Test(storage, options_come_from_the_table_or_not_at_all)
{
	static const struct {
		const char *filesystem;
		enum stb_fs_where where;
		const char *a, *b;
		bool ok;
	} cases[] = {
		{ "ext4", STB_FS_MKFS, "-m", "0", true },
		{ "ext4", STB_FS_MKFS, "-m 0", NULL, true },
		{ "ext4", STB_FS_MKFS, "-O", "^has_journal,metadata_csum", true },
		{ "ext4", STB_FS_MKFS, "-O", "journal_dev", false },
		{ "ext4", STB_FS_MKFS, "-O", "has_journal,journal_dev", false },
		{ "ext4", STB_FS_MKFS, "-O", "extent,", false },
		{ "ext4", STB_FS_MOUNT, "errors=panic", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=ordered", NULL, true },
		{ "ext4", STB_FS_MOUNT, "data=sideways", NULL, false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=16,stripe_width=32,nodiscard", true },
		{ "xfs", STB_FS_MKFS, "-d", "agcount=4,su=64k", true },
		{ "xfs", STB_FS_MKFS, "-K", NULL, true },
		{ "ext4", STB_FS_MKFS, "-m", NULL, false },
		{ "ext4", STB_FS_MKFS, "/dev/sda", NULL, false },
		{ "ext4", STB_FS_MKFS, "-m 0", "/dev/sda", false },
		{ "ext4", STB_FS_MKFS, "-m 0 /dev/sda", NULL, false },
		{ "ext4", STB_FS_MKFS, "-m 0", "100", false },
		{ "ext4", STB_FS_MKFS, "-J", "device=/dev/sda", false },
		{ "ext4", STB_FS_MKFS, "-J", "size=64", true },
		{ "ext4", STB_FS_MKFS, "-d", "/etc", false },
		{ "ext4", STB_FS_MKFS, "-L", "../x", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=1k", false },
		{ "ext4", STB_FS_MKFS, "-E", "nodiscard=1", false },
		{ "ext4", STB_FS_MKFS, "-E", "", false },
		{ "ext4", STB_FS_MKFS, "-E", ",", false },
		{ "ext4", STB_FS_MKFS, "-E", "-E", false },
		{ "ext4", STB_FS_MKFS, "-E stride=1", "-E stride=2", false },
		{ "ext4", STB_FS_MKFS, "-F", NULL, false },
		{ "ext4", STB_FS_MKFS, "--", NULL, false },
		{ "ext4", STB_FS_MKFS, "-", NULL, false },
		{ "xfs", STB_FS_MKFS, "-d", "name=/dev/sda", false },
		{ "xfs", STB_FS_MKFS, "-l", "logdev=/dev/sda", false },
		{ "xfs", STB_FS_MKFS, "-p", "/etc/proto", false },
		{ "none", STB_FS_MKFS, "-m 0", NULL, false },
		{ "ext4", STB_FS_MOUNT, "noatime", "data=writeback", true },
		{ "xfs", STB_FS_MOUNT, "allocsize=64m", NULL, true },
		{ "ext4", STB_FS_MOUNT, "noatime,dev", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=/x", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=a,suid", NULL, false },
		{ "ext4", STB_FS_MOUNT, "suid", NULL, false },
		{ "ext4", STB_FS_MOUNT, "journal_dev=1", NULL, false },
		{ "ext4", STB_FS_MOUNT, "usrjquota=x", NULL, false },
		{ "xfs", STB_FS_MOUNT, "logdev=/dev/sda", NULL, false },
		{ "ext4", STB_FS_MOUNT, "", NULL, false },
		{ "ext4", STB_FS_MOUNT, "=", NULL, false },
		{ "ext4", STB_FS_MOUNT, "-m", NULL, false },
	};
	char many[200] = "";

	for (size_t i = 0; i < STB_LEN(cases); i++)
		cr_expect_eq(words_ok(cases[i].filesystem, cases[i].where, cases[i].a, cases[i].b), cases[i].ok, "%s %s %s", cases[i].filesystem,
			cases[i].a, cases[i].b ? cases[i].b : "");
	for (int i = 0; i < 66; i++)
		strcat(many, "-K ");
	cr_expect_not(words_ok("xfs", STB_FS_MKFS, many, NULL));
	memset(many, 'x', 150);
	cr_expect_not(words_ok("xfs", STB_FS_MKFS, many, NULL));
	cr_expect_not(words_ok("xfs", STB_FS_MOUNT, many, NULL));
}

/* --- undo --- */

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
		(void)provision(&r);
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
		cr_expect(undo(MARK, left[i][0], left[i][1]) >= 0, "%s %s", left[i][0], left[i][1]);
		cr_expect_eq(undo(MARK, left[i][0], left[i][1]), STB_UNDO_GONE, "twice: %s %s", left[i][0], left[i][1]);
	}
	usleep(200000);
	nothing_left(r.dir);
	cr_expect_eq(entries(r.dir), 0, "%s", type);
	rig_fini(&r);
}

Test(storage, undo_cleans_after_a_killed_run)
{
	killed_run("directory", NULL);
	if (geteuid() != 0)
		cr_skip_test("needs root");
	killed_run("tmpfs", NULL);
	need_loop();
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
	write_file(path, "precious", "x");
	cr_expect_eq(undo(MARK, "dir", path), -1);
	cr_expect_eq(undo(MARK, "dir", r.dir), -1);
	cr_expect_eq(undo(MARK, "dir", "/"), -1);
	cr_expect_eq(undo(MARK, "dir", ""), -1);
	cr_expect_eq(undo(MARK, "dir", "stb-" MARK "-1"), -1, "relative");
	cr_expect_eq(undo(MARK, "bomb", path), -1);
	cr_expect_eq(undo("", "dir", path), -1);
	cr_expect_eq(undo("../x", "dir", path), -1);
	cr_expect_eq(undo(MARK, "loop", "/dev/sda"), -1);
	cr_expect_eq(undo(MARK, "loop", "/dev/loop/../sda"), -1);
	/* the name alone is not enough: no mark file, a wrong one, a link, a way out */
	snprintf(other, sizeof(other), "%s/stb-" MARK "-7", r.dir);
	cr_assert_eq(mkdir(other, 0700), 0);
	cr_expect_eq(undo(MARK, "dir", other), 0, "an empty one was made before its mark file");
	cr_assert_eq(mkdir(other, 0700), 0);
	write_file(other, "precious", "x");
	cr_expect_eq(undo(MARK, "dir", other), -1);
	write_file(other, "mark", MARK "x");
	cr_expect_eq(undo(MARK, "dir", other), -1);
	cr_expect_eq(entries(other), 2);
	snprintf(other, sizeof(other), "%s/stb-" MARK "-8", r.dir);
	cr_assert_eq(symlink(path, other), 0);
	cr_expect_eq(undo(MARK, "dir", other), -1);
	snprintf(other, sizeof(other), "%s/stb-" MARK "-9/../data", r.dir);
	cr_expect_eq(undo(MARK, "dir", other), -1);
	snprintf(other, sizeof(other), "%s/stb-" MARK "-7x", r.dir);
	cr_expect_eq(undo(MARK, "dir", other), -1);
	cr_expect_eq(entries(path), 1);
	rig_fini(&r);
}

/* A loop device of somebody else's stays attached. */
Test(storage, undo_leaves_foreign_loop_devices_alone)
{
	struct rig r;
	struct stb_volume *v;
	char backing[4200];

	need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = provision(&r);
	cr_expect_eq(undo("other-mark", "loop", stb_volume_device(v)), STB_UNDO_FOREIGN);
	cr_expect(stb_loop_backing(stb_volume_device(v), backing, sizeof(backing)));
	remove_volume(&r, v);
	rig_fini(&r);
}

/* Asked to detach a device that is in use, the kernel only notes the wish: undone is what is gone. */
Test(storage, undo_of_a_busy_loop_device_is_no_success)
{
	struct rig r;
	struct stb_volume *v;
	char device[64];
	int fd;

	need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = provision(&r);
	snprintf(device, sizeof(device), "%s", stb_volume_device(v));
	fd = open(device, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0);
	cr_expect_eq(undo(MARK, "loop", device), STB_UNDO_FAILED);
	close(fd);
	remove_volume(&r, v);
	cr_expect_eq(undo(MARK, "loop", device), STB_UNDO_GONE);
	rig_fini(&r);
}
