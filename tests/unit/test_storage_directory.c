/* test_storage_directory.c - volumes in a directory: what is made, what is refused, and that all of it and nothing else is removed. */
#include "tests/support/mounts.h"
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Test(storage, directory_makes_one_marked_place_and_removes_it_whole)
{
	struct rig r;
	struct stb_volume *v, *w;
	struct stb_err err;
	struct stat st;
	char path[512];

	rig_init(&r, "directory");
	rig_write_file(r.dir, "precious", "x");
	umask(0);
	v = rig_provision(&r);
	w = rig_provision(&r);
	cr_expect_null(stb_volume_device(v));
	cr_assert_eq(stat(stb_volume_dir(v), &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
	cr_expect_str_neq(stb_volume_dir(v), stb_volume_dir(w));
	cr_expect_not_null(strstr(stb_volume_dir(v), "/stb-" TEST_MARK "-1/"));
	snprintf(path, sizeof(path), "%s/a", stb_volume_dir(v));
	cr_assert_eq(mkdir(path, 0700), 0);
	rig_write_file(path, "b", "x");
	cr_assert_eq(symlink(r.dir, strcat(path, "/link")), 0);
	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(w, &err), 0, "%s", err.what);
	rig_remove(&r, v);
	cr_expect_eq(rig_entries(r.dir), 1);
	snprintf(path, sizeof(path), "%s/precious", r.dir);
	cr_expect_eq(access(path, F_OK), 0);
	rig_fini(&r);
}

Test(storage, preflight_of_a_directory)
{
	struct rig r;
	char path[200];

	rig_init(&r, "directory");
	rig_preflight_says(&r, 1ull << 60, "1099511627776 MiB are needed and");
	test_bytes(&r.storage, "size", 10 * MIB);
	rig_preflight_says(&r, 11 * MIB, "11 MiB are needed and 10 MiB are there");
	snprintf(path, sizeof(path), "%s/no/such", r.dir);
	test_string(&r.storage, "path", path);
	rig_preflight_says(&r, 1, "No such file or directory");
	rig_write_file(r.dir, "file", "x");
	snprintf(path, sizeof(path), "%s/file", r.dir);
	rig_preflight_says(&r, 1, "not a directory");
	snprintf(path, sizeof(path), "%s/file/below", r.dir);
	rig_preflight_says(&r, 1, "Not a directory");
	test_string(&r.storage, "path", r.dir);
	test_word(&r.volume, "filesystem", "ext4");
	rig_preflight_says(&r, 1, "brings its own");
	cr_expect_eq(rig_entries(r.dir), 1, "preflight wrote something");
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
	rig_preflight_says(&r, 1, "described, not provisioned");
	cr_expect_eq(stb_volume_provision(&v, rig_env(&r), &r.mount, &err), -1);
	cr_expect_null(v);
	rig_fini(&r);
}
