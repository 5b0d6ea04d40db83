/* test_storage_loop.c - volumes in memory and behind loop devices: their life, their file systems, and what they refuse. */
#include "runtime/io/engine.h"
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	rig_preflight_says(&r, 65 * MIB, "65 MiB are needed and 64 MiB are there");
	v = rig_provision(&r);
	cr_expect(stb_fs_is_mount(stb_volume_dir(v)));
	cr_expect_eq(stb_place_free_bytes(stb_volume_dir(v)), 64 * MIB);
	rig_write_file(stb_volume_dir(v), "x", "x");
	rig_remove(&r, v);
	rig_left_nothing(r.dir);
	cr_expect_eq(rig_entries(r.dir), 0);
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
	v = rig_provision(&r);
	cr_assert_eq(stat(stb_volume_device(v), &st), 0);
	cr_expect(S_ISBLK(st.st_mode));
	if (!strcmp(filesystem, "none")) {
		cr_expect_null(stb_volume_dir(v));
	} else {
		cr_expect(stb_fs_is_mount(stb_volume_dir(v)));
		cr_assert_eq(stat(stb_volume_dir(v), &st), 0);
		cr_expect_eq(st.st_mode & 07777, 0700);
		rig_write_file(stb_volume_dir(v), "x", "x");
		if (with_options)
			cr_expect(rig_file_holds("/proc/self/mounts", "noatime"));
	}
	rig_remove(&r, v);
	rig_left_nothing(r.dir);
	cr_expect_eq(rig_entries(r.dir), 0);
	rig_fini(&r);
}

Test(storage, loop_ext4_leaves_nothing)
{
	rig_need_loop();
	loop_life("ext4", 64 * MIB, false);
	loop_life("ext4", 64 * MIB, true);
}

Test(storage, loop_xfs_leaves_nothing)
{
	rig_need_loop();
	if (!rig_file_holds("/proc/filesystems", "xfs"))
		cr_skip_test("no xfs in this kernel");
	loop_life("xfs", 320 * MIB, false);
	loop_life("xfs", 320 * MIB, true);
}

Test(storage, loop_raw_leaves_nothing)
{
	rig_need_loop();
	loop_life("none", 16 * MIB, false);
}

Test(storage, several_loop_volumes_live_side_by_side)
{
	struct rig r;
	struct stb_volume *v[3];

	rig_need_loop();
	rig_init(&r, "loop");
	for (int i = 0; i < 3; i++)
		v[i] = rig_provision(&r);
	cr_expect_str_neq(stb_volume_device(v[0]), stb_volume_device(v[1]));
	cr_expect_str_neq(stb_volume_device(v[1]), stb_volume_device(v[2]));
	for (int i = 0; i < 2; i++) {
		struct stb_err err;

		stb_err_clear(&err);
		cr_expect_eq(stb_volume_remove(v[i], &err), 0, "%s", err.what);
	}
	rig_remove(&r, v[2]);
	rig_left_nothing(r.dir);
	rig_fini(&r);
}

Test(storage, preflight_of_a_loop_volume)
{
	struct rig r;

	rig_need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "xfs");
	rig_preflight_says(&r, 1, "xfs needs 300 MiB");
	test_word(&r.volume, "filesystem", "btrfs");
	rig_preflight_says(&r, 1, "none of ext4, xfs, none");
	test_word(&r.volume, "filesystem", "ext4");
	test_bytes(&r.volume, "size", 65 * MIB);
	rig_preflight_says(&r, 1, "asks for 65 MiB");
	test_bytes(&r.volume, "size", 5000);
	rig_preflight_says(&r, 1, "multiple of 4096");
	test_bytes(&r.volume, "size", 1ull << 61);
	test_bytes(&r.storage, "size", 1ull << 61);
	rig_preflight_says(&r, 1ull << 60, "MiB are needed and");
	rig_fini(&r);
}

Test(storage, a_failed_mkfs_leaves_nothing)
{
	struct stb_val item = stb_val_str(STB_V_STRING, "-I 7");
	struct stb_val list = { .type = STB_V_LIST, .items = &item, .n_items = 1 };
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;

	rig_need_loop();
	rig_init(&r, "loop");
	test_set(&r.volume, "mkfs_options", list);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_provision(&v, rig_env(&r), &r.mount, &err), -1);
	cr_expect_not_null(strstr(err.what, "cannot make ext4 for volume `vol`"), "%s", err.what);
	cr_expect_eq(r.n_left, 0);
	rig_left_nothing(r.dir);
	cr_expect_eq(rig_entries(r.dir), 0);
	rig_fini(&r);
}

Test(storage, guard_refuses_what_is_not_empty)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;

	rig_need_loop();
	rig_init(&r, "loop");
	test_word(&r.volume, "filesystem", "none");
	v = rig_provision(&r);
	stb_err_clear(&err);
	cr_expect_eq(stb_loop_guard(v, &err), 0, "%s", err.what);
	v->spec.filesystem = "ext4";
	cr_assert_eq(stb_fs_make(v, &err), 0, "%s", err.what);
	cr_expect_eq(stb_loop_guard(v, &err), -1);
	cr_expect_not_null(strstr(err.what, "it holds ext4"), "%s", err.what);
	rig_remove(&r, v);
	rig_fini(&r);
}

Test(storage, a_busy_mount_is_reported_and_not_left_mounted)
{
	struct rig r;
	struct stb_volume *v;
	struct stb_err err;
	char path[512];
	int fd;

	rig_need_loop();
	rig_init(&r, "loop");
	v = rig_provision(&r);
	snprintf(path, sizeof(path), "%s/held", stb_volume_dir(v));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(fd >= 0);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(v, &err), -1);
	cr_expect_not_null(strstr(err.what, "could only be detached"), "%s", err.what);
	cr_expect_not(rig_file_holds("/proc/self/mounts", r.dir));
	cr_expect_eq(r.n_left, 1, "the device is still ours");
	cr_expect_str_eq(r.left[0][0], "loop");
	close(fd);
	usleep(300000);
	rig_left_nothing(r.dir);
	rig_fini(&r);
}

Test(storage, a_full_file_system_fails_the_workload_with_the_place)
{
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	int ret;

	rig_need_loop();
	rig_init(&r, "loop");
	v = rig_provision(&r);
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
	rig_remove(&r, v);
	rig_fini(&r);
}

Test(storage, raw_volumes_are_filled_before_they_are_read)
{
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	int ret;

	rig_need_loop();
	rig_init(&r, "loop");
	test_bytes(&r.storage, "size", 8 * MIB);
	test_word(&r.volume, "filesystem", "none");
	v = rig_provision(&r);
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
	rig_remove(&r, v);
	rig_fini(&r);
}

/* Every byte of [from, to) of the device, without the page cache. */
static void holds_byte(const char *device, uint64_t from, uint64_t to, unsigned char want)
{
	unsigned char *buf = aligned_alloc(4096, MIB), *same = malloc(MIB);
	int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);

	cr_assert(fd >= 0 && buf && same);
	memset(same, want, MIB);
	for (uint64_t at = from; at < to; at += MIB) {
		cr_assert_eq(pread(fd, buf, MIB, (off_t)at), (ssize_t)MIB);
		cr_expect_eq(memcmp(buf, same, MIB), 0, "MiB %llu is not all %d", (unsigned long long)(at / MIB), want);
	}
	close(fd);
	free(buf);
	free(same);
}

Test(storage, a_trimmed_region_of_a_device_reads_as_zeros_and_the_rest_stays)
{
	struct rig r;
	struct stb_volume *v;
	struct test_block t;
	struct stb_phase *p;
	struct stat st;
	unsigned char *data;
	int ret, fd;

	rig_need_loop();
	rig_init(&r, "loop");
	test_bytes(&r.storage, "size", 8 * MIB);
	test_word(&r.volume, "filesystem", "none");
	v = rig_provision(&r);
	data = malloc(8 * MIB);
	cr_assert_not_null(data);
	memset(data, 0xa5, 8 * MIB);
	fd = open(stb_volume_device(v), O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && pwrite(fd, data, 8 * MIB, 0) == (ssize_t)(8 * MIB) && fsync(fd) == 0);
	close(fd);
	free(data);
	test_io_init(&t);
	test_word(&t, "rw", "trim");
	test_bytes(&t, "bs", 64 << 10);
	test_bytes(&t, "offset", 2 * MIB);
	test_bytes(&t, "size", 4 * MIB);
	p = test_io_run(&t, NULL, stb_volume_device(v), &ret);
	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->result.ok[STB_TRIM], 64);
	cr_expect_eq(p->result.bytes[STB_TRIM], 4 * MIB);
	cr_expect_eq(p->result.lat[STB_TRIM].count, 64);
	cr_expect_eq(p->result.ok[STB_READ] + p->result.ok[STB_WRITE], 0);
	free(p);
	holds_byte(stb_volume_device(v), 0, 2 * MIB, 0xa5);
	holds_byte(stb_volume_device(v), 2 * MIB, 6 * MIB, 0);
	holds_byte(stb_volume_device(v), 6 * MIB, 8 * MIB, 0xa5);
	cr_assert_eq(stat(v->image, &st), 0);
	cr_expect_leq((uint64_t)st.st_blocks * 512, 5 * MIB, "the image has given the space back");
	rig_remove(&r, v);
	rig_fini(&r);
}

static bool loop_is_direct(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/loop/dio", strrchr(device, '/') + 1);
	return rig_file_holds(path, "1");
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

	rig_need_loop();
	rig_init(&r, "loop");
	v = rig_provision(&r);
	if (!loop_is_direct(stb_volume_device(v))) {
		rig_remove(&r, v);
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
	rig_remove(&r, v);
	rig_fini(&r);
}
