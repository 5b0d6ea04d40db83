/*
 * Whole repetitions: what is counted, what ends them, what is in the files afterwards, what is refused.
 */
#include "tests/unit/io_support.h"

#include "runtime/io/engine.h"
#include "runtime/io/target.h"
#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ll
#define KIB 1024ull

static char dir[128];

static void setup(void)
{
	test_scratch_make(dir, sizeof(dir), true);
}

static void teardown(void)
{
	test_scratch_remove(dir);
}

TestSuite(io_run, .init = setup, .fini = teardown, .timeout = 60);

static bool usable(const char *engine)
{
	struct stb_err err;

	stb_err_clear(&err);
	return stb_io_caps_find(engine)->ops->probe(8, 2, &err) == 0;
}

static struct stb_phase *must_run(const struct test_block *t)
{
	int ret;
	struct stb_phase *p = test_io_run(t, dir, NULL, &ret);

	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->alloc_calls, 0);
	cr_expect_eq(atomic_load(&p->stage), STB_STAGE_DONE);
	cr_expect_eq(p->result.issued, p->result.ok[0] + p->result.ok[1] + p->result.failed + p->result.cancelled);
	cr_expect_eq(p->result.lat[0].count, p->result.ok[0]);
	cr_expect_eq(p->result.lat[1].count, p->result.ok[1]);
	return p;
}

static struct stb_err must_fail(const struct test_block *t)
{
	int ret;
	struct stb_phase *p = test_io_run(t, dir, NULL, &ret);
	struct stb_err err = p->err;

	cr_assert_eq(ret, -1);
	cr_expect_eq(p->result.end, STB_END_ERROR);
	cr_expect(err.set && err.what[0]);
	free(p);
	return err;
}

static void file_path(char *out, size_t size, const char *name)
{
	snprintf(out, size, "%s/%s", dir, name);
}

/* --- how it ends and what is counted --- */

Test(io_run, every_engine_and_depth_does_exactly_its_size)
{
	static const char *const engines[] = { "psync", "libaio", "io_uring", "null" };
	static const char *const rws[] = { "read", "write", "randread", "randwrite", "rw", "randrw" };
	static const uint32_t depths[] = { 1, 3, 16, 64 };

	for (size_t e = 0; e < STB_LEN(engines); e++) {
		if (!usable(engines[e]))
			continue;
		for (size_t d = 0; d < STB_LEN(depths) && depths[d] <= stb_io_caps_find(engines[e])->max_depth; d++) {
			for (size_t k = 0; k < STB_LEN(rws); k++) {
				struct test_block t;
				struct stb_phase *p;

				test_io_init(&t);
				test_word(&t, "ioengine", engines[e]);
				test_word(&t, "rw", rws[k]);
				test_count(&t, "iodepth", depths[d]);
				test_count(&t, "numjobs", 2);
				test_bytes(&t, "size", 256 * KIB + 100); /* the rest of a block is left out */
				p = must_run(&t);
				cr_expect_eq(p->result.end, STB_END_SIZE);
				cr_expect_eq(p->result.issued, 128, "%s %s %u: %lu", engines[e], rws[k], depths[d], p->result.issued);
				cr_expect_eq(p->result.bytes[0] + p->result.bytes[1], 512 * KIB);
				cr_expect_eq(p->result.failed + p->result.cancelled, 0);
				cr_expect_gt(p->result.window_ns, 0);
				cr_expect_eq(atomic_load(&p->live[0].ops) + atomic_load(&p->live[1].ops), 128);
				cr_expect_eq(atomic_load(&p->live[0].bytes), 256 * KIB);
				free(p);
			}
		}
	}
}

Test(io_run, time_based_goes_on_until_the_runtime_and_ramp_is_not_counted)
{
	struct test_block t;
	struct stb_phase *p;

	test_io_init(&t);
	test_bytes(&t, "size", 16 * KIB);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 100 * MS);
	test_ns(&t, "ramp_time", 50 * MS);
	p = must_run(&t);
	cr_expect_eq(p->result.end, STB_END_TIME);
	cr_expect_gt(p->result.ok[0], 4, "one pass only");
	cr_expect_geq(p->result.window_ns, 100 * MS);
	cr_expect_leq(p->result.lat[0].max, p->result.window_ns);
	free(p);
}

/* The ramp must not eat the bytes that the measurement is to do. */
Test(io_run, size_counts_from_the_end_of_the_ramp)
{
	struct test_block t;
	struct stb_phase *p;

	test_io_init(&t);
	test_bytes(&t, "size", 64 * KIB);
	test_ns(&t, "ramp_time", 20 * MS);
	p = must_run(&t);
	cr_expect_eq(p->result.end, STB_END_SIZE);
	cr_expect_eq(p->result.ok[0], 16);
	free(p);
}

Test(io_run, runtime_ends_what_size_would_not)
{
	struct test_block t;
	struct stb_phase *p;

	test_io_init(&t);
	test_word(&t, "ioengine", "null");
	test_bytes(&t, "size", 1ull << 60);
	test_ns(&t, "runtime", 30 * MS);
	p = must_run(&t);
	cr_expect_eq(p->result.end, STB_END_TIME);
	cr_expect_gt(p->result.ok[0], 0);
	free(p);
}

struct stopper {
	struct stb_phase *phase;
};

static void *stop_later(void *arg)
{
	struct stb_phase *phase = arg;

	while (atomic_load(&phase->stage) != STB_STAGE_MEASURE)
		usleep(1000);
	usleep(20000);
	atomic_store(&phase->stop, 1);
	return NULL;
}

Test(io_run, the_parent_can_stop_it)
{
	struct test_block t;
	struct stb_phase *phase = aligned_alloc(128, (stb_phase_size(2) + 127) / 128 * 128);
	struct stb_io_setup s = { .workload = &t.block, .dir = dir, .seed = 1, .cell = 1, .repetition = 1 };
	pthread_t thread;

	test_io_init(&t);
	test_count(&t, "numjobs", 2);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 3600 * 1000 * MS);
	memset(phase, 0, stb_phase_size(2));
	phase->n_workers = 2;
	pthread_create(&thread, NULL, stop_later, phase);
	cr_expect_eq(stb_io_run(&s, phase), 0);
	pthread_join(thread, NULL);
	cr_expect_eq(phase->result.end, STB_END_STOPPED);
	cr_expect_gt(phase->result.ok[0], 0, "what was counted is kept");
	free(phase);
}

Test(io_run, mix_is_what_was_asked)
{
	static const int shares[] = { 0, 1, 30, 70, 99, 100 };

	for (size_t i = 0; i < STB_LEN(shares); i++) {
		struct test_block t;
		struct stb_phase *p;
		double got;

		test_io_init(&t);
		test_word(&t, "ioengine", "null");
		test_word(&t, "rw", "randrw");
		test_set(&t, "rwmixread", stb_val_num(STB_V_SHARE, shares[i], 100));
		test_bytes(&t, "size", 100000 * 4096ull);
		p = must_run(&t);
		got = 100.0 * (double)p->result.ok[STB_READ] / (double)p->result.issued;
		cr_expect(got >= shares[i] - 1 && got <= shares[i] + 1, "%d%%: %f", shares[i], got);
		if (shares[i] % 100 == 0)
			cr_expect_eq(p->result.ok[shares[i] ? STB_WRITE : STB_READ], 0);
		free(p);
	}
}

Test(io_run, syncs_are_apart_from_writes)
{
	static const struct {
		uint32_t fsync, fdatasync, depth;
		uint64_t want;
	} cases[] = { { 1, 0, 1, 64 }, { 0, 1, 8, 64 }, { 0, 10, 8, 6 }, { 4, 8, 4, 16 }, { 3, 5, 1, 21 + 12 - 4 }, { 0, 0, 1, 0 } };

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct test_block t;
		struct stb_phase *p;

		test_io_init(&t);
		test_word(&t, "rw", "randwrite");
		if (cases[i].depth > 1 && usable("io_uring"))
			test_word(&t, "ioengine", "io_uring");
		test_count(&t, "iodepth", usable("io_uring") ? cases[i].depth : 1);
		test_bytes(&t, "size", 64 * 4096);
		test_count(&t, "fsync", cases[i].fsync);
		test_count(&t, "fdatasync", cases[i].fdatasync);
		test_bool(&t, "end_fsync", true);
		p = must_run(&t);
		cr_expect_eq(p->result.ok[STB_WRITE], 64);
		cr_expect_eq(p->result.sync.count, cases[i].want, "case %zu: %lu", i, p->result.sync.count);
		free(p);
	}
}

Test(io_run, loops_go_over_the_region_again)
{
	struct test_block t;
	struct stb_phase *p;

	test_io_init(&t);
	test_word(&t, "rw", "randwrite");
	test_bytes(&t, "size", 16 * 4096);
	test_count(&t, "loops", 3);
	test_count(&t, "numjobs", 2);
	test_word(&t, "sync", "dsync");
	p = must_run(&t);
	cr_expect_eq(p->result.ok[STB_WRITE], 3 * 16 * 2);
	free(p);
}

/* --- files --- */

Test(io_run, jobs_have_files_of_their_own_or_share_one)
{
	struct test_block t;
	struct stb_phase *p;
	char path[256];
	struct stat st;

	test_io_init(&t);
	test_count(&t, "numjobs", 3);
	test_string(&t, "filename", "deep/er/f");
	p = must_run(&t);
	free(p);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "deep/er/f.%d", i);
		file_path(path, sizeof(path), name);
		cr_expect_eq(stat(path, &st), 0, "%s", path);
		cr_expect_eq(st.st_size, 1 << 20);
	}
	test_bool(&t, "shared_file", true);
	p = must_run(&t);
	cr_expect_eq(p->result.ok[STB_READ], 3 * 256, "every job covers the whole file");
	free(p);
	file_path(path, sizeof(path), "deep/er/f");
	cr_expect_eq(stat(path, &st), 0);
}

Test(io_run, layout_fills_holes_and_keeps_what_is_full)
{
	struct test_block t;
	char path[256];
	unsigned char a[4096], b[4096], zero[4096] = { 0 };
	struct stb_phase *p;
	int fd;

	test_io_init(&t);
	file_path(path, sizeof(path), "stb.data");
	/* right size, one block of data, a hole behind it */
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, 1 << 20), 0);
	cr_assert_eq(pwrite(fd, "x", 1, 0), 1);
	p = must_run(&t);
	cr_expect_eq(atomic_load(&p->progress_total), 1 << 20);
	cr_expect_eq(atomic_load(&p->progress_done), 1 << 20);
	free(p);
	for (off_t at = 0; at < 1 << 20; at += 4096) {
		cr_assert_eq(pread(fd, a, sizeof(a), at), 4096);
		cr_assert_neq(memcmp(a, zero, sizeof(a)), 0, "a hole at %ld", (long)at);
	}
	cr_assert_eq(pwrite(fd, "mine", 4, 8192), 4);
	p = must_run(&t);
	cr_expect_eq(atomic_load(&p->progress_total), 0, "laid out again");
	free(p);
	cr_assert_eq(pread(fd, b, sizeof(b), 8192), 4096);
	cr_expect_eq(memcmp(b, "mine", 4), 0);
	/* too short: again */
	cr_assert_eq(ftruncate(fd, 5000), 0);
	p = must_run(&t);
	cr_expect_eq(atomic_load(&p->progress_total), 1 << 20);
	free(p);
	close(fd);
}

Test(io_run, writing_alone_needs_no_layout)
{
	struct test_block t;
	struct stb_phase *p;
	struct stat st;
	char path[256];

	test_io_init(&t);
	test_word(&t, "rw", "randwrite");
	test_bytes(&t, "size", 1 << 20);
	test_ns(&t, "runtime", 1 * MS);
	p = must_run(&t);
	cr_expect_eq(atomic_load(&p->progress_total), 0);
	free(p);
	file_path(path, sizeof(path), "stb.data");
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_size, 1 << 20, "fallocate = native reserves the whole file");
}

/* No two sectors that are written are alike, and every block is written once a pass. */
Test(io_run, written_sectors_all_differ)
{
	enum { SECTORS = 2048 };
	struct test_block t;
	unsigned char *data = malloc(SECTORS * 512);
	char path[256];
	int fd;

	test_io_init(&t);
	test_word(&t, "rw", "randwrite");
	test_word(&t, "fallocate", "none");
	free(must_run(&t));
	file_path(path, sizeof(path), "stb.data");
	fd = open(path, O_RDONLY);
	cr_assert_eq(read(fd, data, SECTORS * 512), SECTORS * 512);
	close(fd);
	for (int i = 0; i < SECTORS; i++) {
		uint64_t where;

		memcpy(&where, data + i * 512, 8);
		cr_assert_eq(where, (uint64_t)i * 512, "sector %d was not written", i);
		for (int k = i + 1; k < SECTORS && k < i + 64; k++)
			cr_assert_neq(memcmp(data + i * 512, data + k * 512, 512), 0);
	}
	free(data);
}

/* --- what is refused --- */

static void refuses(struct test_block *t, const char *want)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_expect_eq(stb_io_preflight(&t->block, &err), -1);
	cr_expect_not_null(strstr(err.what, want), "%s", err.what);
	test_io_init(t);
}

Test(io_run, preflight_refuses_what_cannot_be)
{
	struct test_block t;
	struct stb_err err;

	stb_err_clear(&err);
	test_io_init(&t);
	cr_expect_eq(stb_io_preflight(&t.block, &err), 0, "%s", err.what);
	test_count(&t, "iodepth", 16);
	refuses(&t, "engine `psync` can have 1 to 1");
	test_count(&t, "iodepth", 0);
	refuses(&t, "iodepth = 0");
	test_bytes(&t, "size", 4095);
	refuses(&t, "less than one block");
	test_bytes(&t, "bs", 0);
	refuses(&t, "bs = 0");
	test_bytes(&t, "bs", 2ull << 30);
	refuses(&t, "1 GiB");
	test_bytes(&t, "bs", 1000);
	test_bool(&t, "direct", true);
	refuses(&t, "multiple of 512");
	test_count(&t, "numjobs", 5000);
	refuses(&t, "numjobs = 5000");
	test_bool(&t, "time_based", true);
	refuses(&t, "time_based without a runtime");
	test_word(&t, "ioengine", "sync");
	refuses(&t, "ioengine = sync");
	test_word(&t, "ioengine", "null");
	test_count(&t, "iodepth", 4096);
	test_count(&t, "numjobs", 4096);
	test_bytes(&t, "bs", 1ull << 30);
	test_bytes(&t, "size", 1ull << 40);
	refuses(&t, "for buffers");
	test_count(&t, "an_attribute_of_next_year", 1);
	refuses(&t, "an_attribute_of_next_year");
}

Test(io_run, filename_stays_inside)
{
	static const char *const bad[] = { "", "/etc/passwd", "../x", "a/../../x", "a//b", "./x", "a/.", "..", "a/", "a\nb", "\x1b[31m" };
	static const char *const good[] = { "x", "..x", "a/b", "...", "名前", "a b" };

	for (size_t i = 0; i < STB_LEN(bad); i++) {
		struct test_block t;

		cr_expect_not_null(stb_io_filename_fault(bad[i]), "%s", bad[i]);
		test_io_init(&t);
		test_string(&t, "filename", bad[i]);
		refuses(&t, "cannot use filename");
	}
	for (size_t i = 0; i < STB_LEN(good); i++)
		cr_expect_null(stb_io_filename_fault(good[i]), "%s", good[i]);
}

Test(io_run, symlinks_are_not_followed)
{
	struct test_block t;
	char path[256], outside[128], victim[200];
	struct stb_err err;
	struct stat st;

	test_scratch_make(outside, sizeof(outside), true);
	snprintf(victim, sizeof(victim), "%s/victim", outside);
	test_io_init(&t);
	file_path(path, sizeof(path), "stb.data");
	cr_assert_eq(symlink(victim, path), 0);
	err = must_fail(&t);
	cr_expect_not_null(strstr(err.what, "symbolic link"), "%s", err.what);
	cr_expect_neq(stat(victim, &st), 0, "it was written through the link");
	file_path(path, sizeof(path), "sub");
	cr_assert_eq(symlink(outside, path), 0);
	test_string(&t, "filename", "sub/x");
	err = must_fail(&t);
	cr_expect_not_null(strstr(err.what, "symbolic link"), "%s", err.what);
	snprintf(victim, sizeof(victim), "%s/x", outside);
	cr_expect_neq(stat(victim, &st), 0);
	file_path(path, sizeof(path), "pipe");
	cr_assert_eq(mkfifo(path, 0600), 0);
	test_string(&t, "filename", "pipe");
	err = must_fail(&t);
	cr_expect_not_null(strstr(err.what, "not a regular file"), "%s", err.what);
	test_scratch_remove(outside);
}

Test(io_run, a_file_that_shrinks_is_an_error_with_the_place)
{
	static const char *const engines[] = { "psync", "libaio", "io_uring" };

	for (size_t e = 0; e < STB_LEN(engines); e++) {
		struct test_block t;
		struct stb_phase *phase;
		struct stb_io_setup s = { .workload = &t.block, .dir = dir, .seed = 1, .cell = 1, .repetition = 1 };
		pid_t pid;
		int status;

		if (!usable(engines[e]))
			continue;
		test_io_init(&t);
		test_word(&t, "ioengine", engines[e]);
		test_word(&t, "rw", "read");
		test_bytes(&t, "size", 8192);
		test_bool(&t, "time_based", true);
		test_ns(&t, "runtime", 20000 * MS);
		phase = aligned_alloc(128, (stb_phase_size(1) + 127) / 128 * 128);
		memset(phase, 0, stb_phase_size(1));
		phase->n_workers = 1;
		pid = fork();
		if (pid == 0) {
			char path[256];

			usleep(100000);
			file_path(path, sizeof(path), "stb.data");
			_exit(truncate(path, 6000) != 0);
		}
		cr_expect_eq(stb_io_run(&s, phase), -1);
		waitpid(pid, &status, 0);
		cr_expect_not_null(strstr(phase->err.what, "short read at offset 4096 of `stb.data`"), "%s: %s", engines[e], phase->err.what);
		cr_expect_not_null(strstr(phase->err.what, "expected 4096 bytes, got 1904"), "%s", phase->err.what);
		cr_expect_eq(phase->result.failed, 1);
		free(phase);
	}
}

/* ramfs never has O_DIRECT; a mount of our own in a namespace of our own. */
Test(io_run, refused_o_direct_names_file_system_and_remedy)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		cr_skip_test("needs root: mounts a ramfs");
	pid = fork();
	if (pid == 0) {
		struct test_block t;
		struct stb_phase *p;
		int ret, ok;

		if (!test_own_mounts() ||
			mount("ramfs", dir, "ramfs", MS_NOSUID | MS_NODEV, NULL))
			_exit(2);
		test_io_init(&t);
		test_bool(&t, "direct", true);
		p = test_io_run(&t, dir, NULL, &ret);
		ok = ret == -1 && strstr(p->err.what, "ramfs refuses O_DIRECT") && strstr(p->err.what, "stb.data") &&
			strstr(p->err.remedy, "direct = false");
		_exit(ok ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		cr_skip_test("needs root that may mount");
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(io_run, layout_says_need_and_have)
{
	struct test_block t;
	struct stb_err err;
	char path[256];
	struct stat st;

	test_io_init(&t);
	test_bytes(&t, "size", 1ull << 50);
	err = must_fail(&t);
	cr_expect_not_null(strstr(err.what, "need 1073741824 MiB and "), "%s", err.what);
	cr_expect_not_null(strstr(err.what, "are free"));
	test_word(&t, "rw", "write");
	err = must_fail(&t);
	cr_expect_not_null(strstr(err.what, "need 1073741824 MiB"), "%s", err.what);
	file_path(path, sizeof(path), "stb.data");
	cr_expect(stat(path, &st) == 0 && st.st_blocks == 0, "something was written");
}
