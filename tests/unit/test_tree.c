/* test_tree.c - copies of a directory: bytes, holes, blocks, owners; what is no file of a server; a copy that is ended, or finds no room. */
#include "runtime/base/tree.h"

#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1u << 20)
#define N_WRITERS 3
#define MOST_WRITTEN 500
#define ROUNDS 30

struct rig {
	char dir[64];
	int at;
	struct stb_err err;
};

static void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->dir, sizeof(r->dir), "/var/tmp/stb-unit-tree-XXXXXX");
	cr_assert(mkdtemp(r->dir));
	r->at = open(r->dir, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(r->at, 0);
	cr_assert_eq(mkdirat(r->at, "from", 0750), 0);
}

static void rig_fini(struct rig *r)
{
	struct stb_err err = {0};
	const char *name = strrchr(r->dir, '/') + 1;
	const int at = open("/var/tmp", O_RDONLY | O_DIRECTORY);

	close(r->at);
	cr_expect_eq(stb_tree_remove(at, name, NULL, r->dir, &err), 0, "%s", err.what);
	close(at);
}

static int make_file(const struct rig *r, const char *name, mode_t mode)
{
	const int fd = openat(r->at, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0, "%s", name);
	cr_assert_eq(fchmod(fd, mode), 0);
	return fd;
}

static struct stat stat_of(const struct rig *r, const char *name)
{
	struct stat st;

	cr_assert_eq(fstatat(r->at, name, &st, AT_SYMLINK_NOFOLLOW), 0, "%s", name);
	return st;
}

static void expect_same_bytes(const struct rig *r, const char *a, const char *b)
{
	const int x = openat(r->at, a, O_RDONLY), y = openat(r->at, b, O_RDONLY);
	static char one[MIB], other[MIB];
	ssize_t n;

	do {
		n = read(x, one, sizeof(one));
		cr_assert_eq(read(y, other, sizeof(other)), n);
		cr_assert(n >= 0 && memcmp(one, other, (size_t)n) == 0, "%s and %s differ", a, b);
	} while (n > 0);
	close(x);
	close(y);
}

Test(tree, a_copy_has_the_bytes_the_holes_and_the_blocks)
{
	struct rig r;
	struct stat st;
	uint64_t bytes = 0;
	char text[70000];

	rig_init(&r);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7 % 251);
	cr_assert_eq(mkdirat(r.at, "from/sbtest", 0700), 0);
	int fd = make_file(&r, "from/sbtest/t.ibd", 0660);

	cr_assert_eq(write(fd, text, sizeof(text)), (ssize_t)sizeof(text));
	close(fd);
	fd = make_file(&r, "from/holes", 0600); /* 3 MiB, of which a little in the middle */
	cr_assert_eq(pwrite(fd, text, 5000, MIB + 4096), 5000);
	cr_assert_eq(ftruncate(fd, 3 * MIB), 0);
	close(fd);
	fd = make_file(&r, "from/log", 0640); /* has its blocks, and little in them */
	const bool can_allocate = fallocate(fd, 0, 0, 4 * MIB) == 0;

	cr_assert_eq(pwrite(fd, text, 512, 0), 512);
	close(fd);
	close(make_file(&r, "from/empty", 0600));
	cr_assert_eq(stb_tree_bytes(r.at, "from", &bytes, &r.err), 0, "%s", r.err.what);
	cr_expect_geq(bytes, sizeof(text) + 5000 + (can_allocate ? 4 * MIB : 0));
	cr_expect_lt(bytes, 6 * MIB, "holes take no room: %llu", (unsigned long long)bytes);
	cr_assert_eq(stb_tree_copy(r.at, "from", "to", NULL, NULL, &r.err), 0, "%s", r.err.what);
	expect_same_bytes(&r, "from/sbtest/t.ibd", "to/sbtest/t.ibd");
	expect_same_bytes(&r, "from/holes", "to/holes");
	expect_same_bytes(&r, "from/log", "to/log");
	cr_expect_eq(stat_of(&r, "to/empty").st_size, 0);
	cr_expect_eq(stat_of(&r, "to").st_mode & 07777, 0750u);
	cr_expect_eq(stat_of(&r, "to/sbtest").st_mode & 07777, 0700u);
	cr_expect_eq(stat_of(&r, "to/sbtest/t.ibd").st_mode & 07777, 0660u);
	st = stat_of(&r, "to/holes");
	cr_expect_lt(st.st_blocks * 512, MIB, "the holes were filled");
	st = stat_of(&r, "to/log");
	if (can_allocate)
		cr_expect_geq(st.st_blocks * 512, 4 * MIB, "the blocks of the log were lost");
	cr_assert_eq(stb_tree_forget(r.at, "to", &r.err), 0, "%s", r.err.what);
	/* over what is there: nothing is changed */
	cr_expect_eq(stb_tree_copy(r.at, "from", "to", NULL, NULL, &r.err), -1);
	cr_expect(strstr(r.err.what, "File exists"), "%s", r.err.what);
	rig_fini(&r);
}

Test(tree, owners_are_kept)
{
	struct rig r;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	rig_init(&r);
	close(make_file(&r, "from/f", 0600));
	cr_assert_eq(fchownat(r.at, "from/f", 65534, 65534, 0), 0);
	cr_assert_eq(fchownat(r.at, "from", 65534, 65534, 0), 0);
	cr_assert_eq(stb_tree_copy(r.at, "from", "to", NULL, NULL, &r.err), 0, "%s", r.err.what);
	cr_expect_eq(stat_of(&r, "to/f").st_uid, 65534u);
	cr_expect_eq(stat_of(&r, "to").st_gid, 65534u);
	rig_fini(&r);
}

Test(tree, what_is_no_file_is_refused_by_name)
{
	static const char *const kinds[] = {"link", "fifo"};

	for (unsigned i = 0; i < STB_LEN(kinds); i++) {
		struct rig r;

		rig_init(&r);
		if (i == 0)
			cr_assert_eq(symlinkat("/etc/passwd", r.at, "from/link"), 0);
		else
			cr_assert_eq(mkfifoat(r.at, "from/fifo", 0600), 0);
		cr_expect_eq(stb_tree_copy(r.at, "from", "to", NULL, NULL, &r.err), -1);
		cr_expect(strstr(r.err.what, kinds[i]), "%s", r.err.what);
		stb_err_clear(&r.err);
		cr_expect_eq(stb_tree_copy(r.at, "none", "to2", NULL, NULL, &r.err), -1);
		cr_expect(strstr(r.err.what, "No such file"), "%s", r.err.what);
		rig_fini(&r);
	}
}

static bool after_some(void *ctx)
{
	int *left = ctx;

	return --*left < 0;
}

Test(tree, a_copy_can_be_ended_at_any_moment)
{
	struct rig r;

	rig_init(&r);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "from/f%d", i);
		const int fd = make_file(&r, name, 0600);

		for (int k = 0; k < 3; k++) {
			static char chunk[MIB];

			memset(chunk, 'a' + k, sizeof(chunk));
			cr_assert_eq(write(fd, chunk, sizeof(chunk)), (ssize_t)sizeof(chunk));
		}
		close(fd);
	}
	for (int steps = 0;; steps++) {
		int left = steps;

		stb_err_clear(&r.err);
		const int rc = stb_tree_copy(r.at, "from", "to", after_some, &left, &r.err);

		if (rc == 0)
			break;
		cr_assert_lt(steps, 50);
		cr_assert_str_eq(r.err.what, "interrupted");
		cr_assert_eq(stb_tree_remove(r.at, "to", NULL, "to", &r.err), 0);
	}
	expect_same_bytes(&r, "from/f2", "to/f2");
	rig_fini(&r);
}

/* Puts one thing after the other into the directory, until that is gone or there were so many that no removal could keep up; ends with the test. */
static pid_t start_writer(const struct rig *r, int number)
{
	const pid_t writer = fork();
	char name[64];

	cr_assert_geq(writer, 0);
	if (writer > 0)
		return writer;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < MOST_WRITTEN; i++) {
		snprintf(name, sizeof(name), "from/%d.%u", number, i);
		const int fd = openat(r->at, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd < 0)
			_exit(0);
		close(fd);
	}
	_exit(0);
}

/* Whoever comes next knows by it that the directory is ours. */
Test(tree, what_goes_last_stays_while_anything_else_is_there)
{
	static const char text[] = "0123456789ab";
	int n_left = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct rig r;
		char got[32] = "";

		rig_init(&r);
		int fd = make_file(&r, "from/mark", 0600);

		cr_assert_eq(write(fd, text, sizeof(text)), (ssize_t)sizeof(text));
		close(fd);
		pid_t writers[N_WRITERS];

		for (int k = 0; k < N_WRITERS; k++)
			writers[k] = start_writer(&r, k);
		usleep((useconds_t)(i % 4) * 300);
		const int failed = stb_tree_remove(r.at, "from", "mark", "from", &r.err);

		for (int k = 0; k < N_WRITERS; k++) {
			kill(writers[k], SIGKILL);
			waitpid(writers[k], NULL, 0);
		}
		fd = openat(r.at, "from/mark", O_RDONLY);
		if (failed) {
			cr_expect(strstr(r.err.what, "cannot remove `from`"), "%s", r.err.what);
			cr_expect_geq(fd, 0, "round %d: it is not there, and the directory is", i);
			cr_expect_eq(read(fd, got, sizeof(got)), (ssize_t)sizeof(text));
			cr_expect_str_eq(got, text);
			n_left++;
			stb_err_clear(&r.err);
			cr_expect_eq(stb_tree_remove(r.at, "from", "mark", "from", &r.err), 0, "%s", r.err.what);
		}
		cr_expect_eq(faccessat(r.at, "from", F_OK, 0), -1);
		if (fd >= 0)
			close(fd);
		rig_fini(&r);
	}
	cr_log_info("%d of %d were disturbed", n_left, ROUNDS);
}

Test(tree, no_room_is_told_by_its_code)
{
	struct rig r;

	rig_init(&r);
	const int fd = make_file(&r, "from/f", 0600);

	cr_assert_eq(ftruncate(fd, 0), 0);
	close(fd);
	if (!test_own_mounts() || mount("stb-unit", r.dir, "tmpfs", MS_NODEV | MS_NOSUID, "size=3m,mode=0700")) {
		rig_fini(&r);
		cr_skip_test("needs root");
	}
	close(r.at);
	r.at = open(r.dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(mkdirat(r.at, "from", 0700), 0);
	const int full = make_file(&r, "from/f", 0600);
	static char chunk[2 * MIB];

	cr_assert_eq(write(full, chunk, sizeof(chunk)), (ssize_t)sizeof(chunk));
	close(full);
	cr_expect_eq(stb_tree_copy(r.at, "from", "to", NULL, NULL, &r.err), -1);
	cr_expect_eq(r.err.code, ENOSPC, "%s", r.err.what);
	close(r.at);
	cr_expect_eq(umount2(r.dir, MNT_DETACH), 0);
	r.at = open(r.dir, O_RDONLY | O_DIRECTORY);
	rig_fini(&r);
}
