/*
 * The engine contract, the same over every engine; and how io_uring is refused.
 */
#include "runtime/io/engine.h"
#include "runtime/io/io.h"
#include "tests/unit/io_support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BS 4096u

struct rig {
	char dir[128], path[160];
	int fd;
	uint32_t depth;
	struct stb_io_req *reqs;
	struct stb_io_done *done;
	unsigned char *buffers;
	struct stb_io_engine e;
	struct stb_io_ring_ask ring;
	struct stb_io_used used;
};

/* Opens with what r->ring asks for. */
static bool rig_open_as(struct rig *r, const struct stb_io_caps *c, uint32_t depth, int fd)
{
	struct stb_io_open o;
	struct stb_err err;

	stb_err_clear(&err);
	r->fd = fd;
	r->depth = depth;
	r->reqs = calloc(depth, sizeof(*r->reqs));
	r->done = calloc(depth, sizeof(*r->done));
	r->buffers = aligned_alloc(4096, (size_t)depth * BS);
	memset(r->buffers, 0, (size_t)depth * BS);
	memset(&r->used, 0, sizeof(r->used));
	o = (struct stb_io_open){ .fd = fd, .depth = depth, .reqs = r->reqs, .buffers = r->buffers, .buffer_bytes = (uint64_t)depth * BS,
		.stride = BS, .ring = r->ring, .used = &r->used };
	r->e.ops = c->ops;
	cr_assert_eq(c->ops->open(&r->e, &o, &err), 0, "%s: %s", c->name, err.what);
	return true;
}

static bool rig_open(struct rig *r, const struct stb_io_caps *c, uint32_t depth, int fd)
{
	const struct stb_io_ring_ask nothing = { STB_IO_IF_POSSIBLE, STB_IO_IF_POSSIBLE, false, false };

	r->ring = nothing;
	return rig_open_as(r, c, depth, fd);
}
static void rig_close(struct rig *r)
{
	r->e.ops->close(&r->e);
	free(r->reqs);
	free(r->done);
	free(r->buffers);
}

static int scratch_file(struct rig *r, uint64_t size)
{
	int fd;

	test_scratch_make(r->dir, sizeof(r->dir), true);
	snprintf(r->path, sizeof(r->path), "%s/f", r->dir);
	fd = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static void ask(struct rig *r, uint32_t slot, enum stb_dir dir, uint64_t offset, uint32_t len)
{
	r->reqs[slot] = (struct stb_io_req){ .offset = offset, .buf = r->buffers + (size_t)slot * BS, .len = len, .dir = (uint8_t)dir };
}

/* Submits the first n slots and collects their results by slot. */
static void round_trip(struct rig *r, uint32_t n, int32_t *res)
{
	uint32_t slots[64], taken = 0, got = 0;
	bool seen[64] = { false };

	for (uint32_t i = 0; i < n; i++)
		slots[i] = i;
	while (got < n) {
		int ret = 0;

		if (taken < n) {
			ret = r->e.ops->submit(&r->e, slots + taken, n - taken);
			cr_assert(ret >= 0, "submit: %d", ret);
			taken += (uint32_t)ret;
		}
		ret = r->e.ops->reap(&r->e, r->done, 1, r->depth, 5000000000ull);
		cr_assert(ret > 0, "reap: %d with %u of %u", ret, got, n);
		for (int i = 0; i < ret; i++) {
			cr_assert_lt(r->done[i].slot, n);
			cr_assert_not(seen[r->done[i].slot], "slot %u came back twice", r->done[i].slot);
			seen[r->done[i].slot] = true;
			res[r->done[i].slot] = r->done[i].res;
		}
		got += (uint32_t)ret;
	}
	cr_expect_eq(r->e.ops->reap(&r->e, r->done, 1, r->depth, 1000000), 0, "more came back than went in");
}

/* Engines that the machine lets us use. */
static bool usable(const struct stb_io_caps *c)
{
	struct stb_err err;

	stb_err_clear(&err);
	return c->ops->probe(1, 1, &err) == 0;
}

#define FOR_EACH_ENGINE(c)                                                                                   \
	for (int i_ = 0; i_ < STB_IO_N_ENGINES; i_++)                                                        \
		for (const struct stb_io_caps *c = stb_io_caps((enum stb_io_engine_id)i_); c && usable(c); c = NULL)

Test(io_engine, what_is_written_is_read_back_at_every_depth)
{
	FOR_EACH_ENGINE(c) {
		for (uint32_t depth = 1; depth <= 64 && depth <= c->max_depth; depth = depth * 2 + (depth == 4)) {
			struct rig r;
			int32_t res[64];

			rig_open(&r, c, depth, scratch_file(&r, 0));
			for (uint32_t i = 0; i < depth; i++) {
				ask(&r, i, STB_WRITE, (uint64_t)(depth - 1 - i) * BS, BS);
				memset(r.reqs[i].buf, (int)(i + 1), BS);
			}
			round_trip(&r, depth, res);
			for (uint32_t i = 0; i < depth; i++) {
				cr_expect_eq(res[i], BS, "%s depth %u", c->name, depth);
				memset(r.buffers + (size_t)i * BS, 0xee, BS);
				ask(&r, i, STB_READ, (uint64_t)(depth - 1 - i) * BS, BS);
			}
			round_trip(&r, depth, res);
			for (uint32_t i = 0; i < depth && !c->ops->no_file; i++) {
				cr_expect_eq(res[i], BS);
				cr_expect(r.reqs[i].buf[0] == i + 1 && r.reqs[i].buf[BS - 1] == i + 1, "%s depth %u slot %u", c->name,
					depth, i);
			}
			cr_expect_eq(r.e.ops->sync(&r.e, true), 0);
			cr_expect_eq(r.e.ops->sync(&r.e, false), 0);
			close(r.fd);
			rig_close(&r);
			test_scratch_remove(r.dir);
		}
	}
}

/* Registered or not, polled by the kernel or not: the same I/O; and it says what it has come to use. */
Test(io_engine, a_ring_does_the_same_in_every_way)
{
	const struct stb_io_caps *c = stb_io_caps(STB_IO_IO_URING);

	if (!usable(c))
		cr_skip_test("io_uring is not allowed here");
	for (int way = 0; way < 18; way++) {
		struct rig r;
		int32_t res[64];

		r.ring = (struct stb_io_ring_ask){ (enum stb_io_ask)(way % 3), (enum stb_io_ask)(way / 3 % 3), way >= 9, false };
		rig_open_as(&r, c, 8, scratch_file(&r, 0));
		for (int round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < 8; i++) {
				ask(&r, i, STB_WRITE, (uint64_t)i * BS, BS);
				memset(r.reqs[i].buf, way + round + (int)i, BS);
			}
			round_trip(&r, 8, res);
			for (uint32_t i = 0; i < 8; i++) {
				cr_expect_eq(res[i], BS, "way %d: %d", way, res[i]);
				ask(&r, i, STB_READ, (uint64_t)(7 - i) * BS, BS);
			}
			round_trip(&r, 8, res);
			for (uint32_t i = 0; i < 8; i++)
				cr_expect(res[i] == BS && r.buffers[i * BS + 9] == (unsigned char)(way + round + 7 - (int)i), "way %d", way);
		}
		cr_expect_eq(strstr(r.used.with, "registered file") != NULL, r.ring.registerfiles != STB_IO_NO, "way %d: %s", way, r.used.with);
		cr_expect_eq(strstr(r.used.with, "registered buffers") != NULL, r.ring.fixedbufs != STB_IO_NO, "way %d: %s", way, r.used.with);
		cr_expect_eq(strstr(r.used.with, "sqpoll") != NULL, r.ring.sqpoll, "way %d: %s", way, r.used.with);
		close(r.fd);
		rig_close(&r);
		test_scratch_remove(r.dir);
	}
}

Test(io_engine, libaio_says_how_it_reaps)
{
	const struct stb_io_caps *c = stb_io_caps(STB_IO_LIBAIO);
	struct rig r;

	if (!usable(c))
		cr_skip_test("libaio is not allowed here");
	rig_open(&r, c, 4, scratch_file(&r, BS));
	cr_expect(strstr(r.used.with, "reaping in user space") || strstr(r.used.without, "reaping in user space"));
	close(r.fd);
	rig_close(&r);
	test_scratch_remove(r.dir);
}

Test(io_engine, short_file_gives_the_bytes_there_are)
{
	FOR_EACH_ENGINE(c) {
		struct rig r;
		int32_t res[64];

		if (c->ops->no_file)
			continue;
		rig_open(&r, c, 1, scratch_file(&r, BS + 100));
		ask(&r, 0, STB_READ, BS, BS);
		round_trip(&r, 1, res);
		cr_expect_eq(res[0], 100, "%s: %d", c->name, res[0]);
		ask(&r, 0, STB_READ, 3 * BS, BS);
		round_trip(&r, 1, res);
		cr_expect_eq(res[0], 0, "%s past the end: %d", c->name, res[0]);
		close(r.fd);
		rig_close(&r);
		test_scratch_remove(r.dir);
	}
}

Test(io_engine, errors_come_back_as_results)
{
	FOR_EACH_ENGINE(c) {
		struct rig r;
		int32_t res[64];
		int fd;

		if (c->ops->no_file)
			continue;
		fd = scratch_file(&r, BS);
		close(fd);
		fd = open(r.path, O_RDONLY | O_CLOEXEC);
		rig_open(&r, c, 1, fd);
		ask(&r, 0, STB_WRITE, 0, BS);
		if (c->sync || strcmp(c->name, "libaio")) {
			round_trip(&r, 1, res);
			cr_expect_eq(res[0], -EBADF, "%s: %d", c->name, res[0]);
		} else { /* the kernel refuses this one at io_submit */
			const uint32_t slot = 0;

			cr_expect_eq(r.e.ops->submit(&r.e, &slot, 1), -EBADF);
		}
		ask(&r, 0, STB_READ, 0, BS);
		round_trip(&r, 1, res);
		cr_expect_eq(res[0], BS, "%s is unusable after an error", c->name);
		close(r.fd);
		rig_close(&r);
		test_scratch_remove(r.dir);
	}
}

Test(io_engine, waits_for_nothing_when_nothing_is_in_flight)
{
	FOR_EACH_ENGINE(c) {
		struct rig r;

		rig_open(&r, c, 1, scratch_file(&r, BS));
		cr_expect_eq(r.e.ops->reap(&r.e, r.done, 1, 1, 0), 0);
		cr_expect_eq(r.e.ops->submit(&r.e, NULL, 0), 0);
		cr_expect_eq(r.e.ops->cancel(&r.e), 0);
		close(r.fd);
		rig_close(&r);
		test_scratch_remove(r.dir);
	}
}

/* A read from an empty pipe never ends by itself: the wait must, and cancel must bring the request back. */
Test(io_engine, waiting_ends_and_cancel_brings_back_what_hangs)
{
	const struct stb_io_caps *c = stb_io_caps(STB_IO_IO_URING);
	struct rig r;
	uint32_t slots[2] = { 0, 1 };
	int pipes[2], got = 0;

	if (!usable(c))
		cr_skip_test("io_uring is not allowed here");
	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	rig_open(&r, c, 2, pipes[0]);
	ask(&r, 0, STB_READ, 0, BS);
	ask(&r, 1, STB_READ, 0, BS);
	cr_assert_eq(r.e.ops->submit(&r.e, slots, 2), 2);
	cr_expect_eq(r.e.ops->reap(&r.e, r.done, 1, 2, 20000000), 0);
	cr_expect_eq(r.e.ops->cancel(&r.e), 0);
	for (int i = 0; i < 20 && got < 2; i++) {
		int ret = r.e.ops->reap(&r.e, r.done, 1, 2, 1000000000);

		cr_assert(ret >= 0);
		for (int k = 0; k < ret; k++)
			cr_expect(r.done[k].res == -ECANCELED || r.done[k].res == -EINTR, "%d", r.done[k].res);
		got += ret;
	}
	cr_expect_eq(got, 2);
	rig_close(&r);
	close(pipes[0]);
	close(pipes[1]);
}

Test(io_engine, table_names_every_engine_once)
{
	struct stb_io_engine_info info[STB_IO_N_ENGINES];

	cr_assert_eq(stb_io_engines(info, STB_IO_N_ENGINES), STB_IO_N_ENGINES);
	for (uint32_t i = 0; i < STB_IO_N_ENGINES; i++) {
		cr_expect_eq(stb_io_caps_find(info[i].name), stb_io_caps((enum stb_io_engine_id)i));
		cr_expect_eq(info[i].available, info[i].reason[0] == 0, "%s: %s", info[i].name, info[i].reason);
	}
	cr_expect_null(stb_io_caps_find("sync"));
	cr_expect_eq(stb_io_caps_find("psync")->max_depth, 1);
}

/* --- io_uring refused --- */

static void sysctl_says(const char *text, char *path, size_t size, char *dir, size_t dir_size)
{
	FILE *f;

	test_scratch_make(dir, dir_size, true);
	snprintf(path, size, "%s/io_uring_disabled", dir);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

Test(io_engine, uring_forbidden_has_three_messages)
{
	char path[200], dir[128];
	struct stb_err err;

	stb_err_clear(&err);
	sysctl_says("1\n", path, sizeof(path), dir, sizeof(dir));
	stb_io_uring_explain(EPERM, path, &err);
	cr_expect_not_null(strstr(err.what, "kernel.io_uring_disabled = 1"), "%s", err.what);
	cr_expect_not_null(strstr(err.remedy, "run as root"), "%s", err.remedy);
	test_scratch_remove(dir);
	sysctl_says("2\n", path, sizeof(path), dir, sizeof(dir));
	stb_io_uring_explain(EPERM, path, &err);
	cr_expect_not_null(strstr(err.what, "kernel.io_uring_disabled = 2"), "%s", err.what);
	test_scratch_remove(dir);
	sysctl_says("0\n", path, sizeof(path), dir, sizeof(dir));
	stb_io_uring_explain(EPERM, path, &err);
	cr_expect_not_null(strstr(err.what, "sandbox"), "%s", err.what);
	test_scratch_remove(dir);
	stb_io_uring_explain(EPERM, "/nonexistent/x", &err);
	cr_expect_not_null(strstr(err.what, "sandbox"), "%s", err.what);
	stb_io_uring_explain(ENOSYS, "/nonexistent/x", &err);
	cr_expect_not_null(strstr(err.what, "kernel has none"), "%s", err.what);
	stb_io_uring_explain(ENOMEM, "/nonexistent/x", &err);
	cr_expect_not_null(strstr(err.remedy, "locked memory"), "%s", err.remedy);
}

/* In a child: forbids io_uring_setup with errnum, then asks preflight. Exit code 0: the message holds want. */
static void refused_by_seccomp(int errnum, const char *want)
{
	int status;
	pid_t pid = fork();

	cr_assert(pid >= 0);
	if (pid == 0) {
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog prog = { .len = STB_LEN(code), .filter = code };
		struct test_block t;
		struct stb_err err;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
			_exit(2);
		stb_err_clear(&err);
		test_io_init(&t);
		test_word(&t, "ioengine", "io_uring");
		if (stb_io_preflight(&t.block, &err) == 0)
			_exit(3);
		_exit(strstr(err.what, want) && err.remedy[0] ? 0 : 4);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "errno %d: exit %d", errnum, WEXITSTATUS(status));
}

Test(io_engine, preflight_says_why_io_uring_is_refused)
{
	if (!usable(stb_io_caps(STB_IO_IO_URING)))
		cr_skip_test("io_uring is not allowed here");
	refused_by_seccomp(EPERM, "sandbox");
	refused_by_seccomp(ENOSYS, "kernel has none");
}

/* In a child without privileges and with a small limit: what was asked for by name is refused with the limit, what was not is done without. */
Test(io_engine, buffers_over_the_limit_of_locked_memory)
{
	const struct stb_io_caps *c = stb_io_caps(STB_IO_IO_URING);
	int status;
	pid_t pid;

	if (!usable(c))
		cr_skip_test("io_uring is not allowed here");
	pid = fork();
	cr_assert(pid >= 0);
	if (pid == 0) {
		const struct rlimit small = { 64 << 10, 64 << 10 };
		struct stb_io_req reqs[64];
		struct stb_io_used used = { "", "" };
		unsigned char *buffers = aligned_alloc(4096, 64 * BS);
		struct stb_io_open o = { .fd = 0, .depth = 64, .reqs = reqs, .buffers = buffers, .buffer_bytes = 64 * BS, .stride = BS, .used = &used };
		struct stb_io_engine e = { .ops = c->ops };
		const uid_t user = 200000 + (uid_t)getpid(); /* nobody else's: the limit is for all that a user has locked */
		struct stb_err err;

		o.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (setrlimit(RLIMIT_MEMLOCK, &small) || (geteuid() == 0 && setresuid(user, user, user)))
			_exit(2);
		stb_err_clear(&err);
		if (c->ops->open(&e, &o, &err) || !strstr(used.without, "registered buffers (") || !strstr(used.without, "ulimit -l")) {
			fprintf(stderr, "with %s, without %s: %s\n", used.with, used.without, err.what);
			_exit(3);
		}
		c->ops->close(&e);
		o.ring.fixedbufs = STB_IO_YES;
		if (c->ops->open(&e, &o, &err) == 0 || !strstr(err.what, "ulimit -l) is 64 KiB") || !strstr(err.remedy, "fixedbufs = false"))
			_exit(4);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit %d", WEXITSTATUS(status));
}

static void queue_says(const char *root, dev_t dev, const char *sub, const char *text)
{
	char path[400], cmd[500];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u%s", root, major(dev), minor(dev), sub);
	snprintf(cmd, sizeof(cmd), "%s/queue", path);
	for (char *p = cmd + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		(void)mkdir(cmd, 0700);
		*p = '/';
	}
	(void)mkdir(cmd, 0700);
	snprintf(path, sizeof(path), "%.380s/io_poll", cmd);
	f = fopen(path, "w");
	cr_assert_not_null(f, "%s", path);
	fputs(text, f);
	fclose(f);
}

Test(io_engine, polling_needs_a_device_with_poll_queues)
{
	struct rig r;
	struct stb_err err;
	struct stat st;
	int fd = scratch_file(&r, BS);

	stb_err_clear(&err);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(stb_io_uring_check_polling(fd, r.dir, &err), -1);
	cr_expect_not_null(strstr(err.what, "no block device with poll queues"), "%s", err.what);
	queue_says(r.dir, st.st_dev, "", "0\n");
	cr_expect_eq(stb_io_uring_check_polling(fd, r.dir, &err), -1);
	cr_expect_not_null(strstr(err.what, "has no poll queues"), "%s", err.what);
	cr_expect_not_null(strstr(err.remedy, "poll_queues"), "%s", err.remedy);
	queue_says(r.dir, st.st_dev, "", "1\n");
	cr_expect_eq(stb_io_uring_check_polling(fd, r.dir, &err), 0);
	close(fd);
	test_scratch_remove(r.dir);
}

Test(io_engine, files_without_nonblocking_io_are_known)
{
	static const struct {
		const char *path;
		bool blocks;
	} cases[] = { { "/proc/self/limits", true }, { "/proc/self/cmdline", true }, { "/dev/null", false }, { "/dev/zero", false } };

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const int fd = open(cases[i].path, O_RDONLY | O_CLOEXEC);

		cr_assert(fd >= 0, "%s", cases[i].path);
		cr_expect_eq(stb_io_uring_blocks(fd), cases[i].blocks, "%s", cases[i].path);
		cr_expect_eq(lseek(fd, 0, SEEK_CUR), 0, "%s", cases[i].path);
		close(fd);
	}
}

Test(io_engine, libaio_says_when_its_events_are_used_up)
{
	char dir[128], path[200];
	struct stb_err err;
	FILE *f;

	stb_err_clear(&err);
	test_scratch_make(dir, sizeof(dir), true);
	snprintf(path, sizeof(path), "%s/aio-max-nr", dir);
	f = fopen(path, "w");
	fputs("65536\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/aio-nr", dir);
	f = fopen(path, "w");
	fputs("65000\n", f);
	fclose(f);
	stb_io_libaio_explain(EAGAIN, 4096, dir, &err);
	cr_expect_not_null(strstr(err.what, "65000 of the 65536"), "%s", err.what);
	cr_expect_not_null(strstr(err.remedy, "fs.aio-max-nr"));
	test_scratch_remove(dir);
}
