/*
 * What the loop makes of an engine that goes wrong: nothing is lost, nothing is counted twice, the message names the place.
 */
#include "tests/unit/io_faulty.h"
#include "tests/unit/io_support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS 1000000ull

static char dir[128];

static void setup(void)
{
	test_scratch_make(dir, sizeof(dir), true);
}

static void teardown(void)
{
	test_scratch_remove(dir);
}

TestSuite(io_faulty, .init = setup, .fini = teardown, .timeout = 60);

static struct stb_phase *run_repetition(struct test_faulty *f, const struct test_block *t, uint32_t repetition, int *ret)
{
	const size_t size = (stb_phase_size(2) + 127) / 128 * 128;
	struct stb_phase *phase = aligned_alloc(128, size);
	struct stb_io_setup s = { .workload = &t->block, .dir = dir, .seed = 1, .cell = 42, .repetition = repetition };

	memset(phase, 0, size);
	phase->n_workers = 2;
	test_faulty_init(f);
	s.engine = &f->caps;
	*ret = stb_io_run(&s, phase);
	cr_expect_eq(phase->alloc_calls, 0);
	cr_expect_eq(phase->result.issued,
		phase->result.ok[STB_READ] + phase->result.ok[STB_WRITE] + phase->result.failed + phase->result.cancelled);
	return phase;
}

static struct stb_phase *run_on(struct test_faulty *f, const struct test_block *t, int *ret)
{
	return run_repetition(f, t, 1, ret);
}

static void workload(struct test_block *t, const char *rw, uint32_t depth, uint32_t batch)
{
	test_io_init(t);
	test_word(t, "ioengine", "io_uring"); /* depths; the engine is put in its place */
	test_word(t, "rw", rw);
	test_count(t, "iodepth", depth);
	test_count(t, "iodepth_batch", batch);
	test_bytes(t, "size", 256 * 4096);
}

Test(io_faulty, short_io_is_carried_on_and_counted_once)
{
	static const uint32_t depths[] = { 1, 2, 7, 32 };

	for (size_t i = 0; i < STB_LEN(depths); i++) {
		for (uint32_t every = 1; every <= 3; every++) {
			struct test_faulty f = { .short_every = every };
			unsigned char block[4096];
			struct test_block t;
			struct stb_phase *p;
			char path[256];
			int ret, fd;

			workload(&t, "randwrite", depths[i], 1);
			p = run_on(&f, &t, &ret);
			cr_assert_eq(ret, 0, "%s", p->err.what);
			cr_expect_eq(p->result.ok[STB_WRITE], 256);
			cr_expect_eq(p->result.bytes[STB_WRITE], 256 * 4096);
			cr_expect_eq(p->result.lat[STB_WRITE].count, 256);
			cr_expect_eq(p->result.clat[STB_WRITE].count, 256);
			cr_expect_eq(p->result.lat[STB_WRITE].sum, p->result.slat[STB_WRITE].sum + p->result.clat[STB_WRITE].sum);
			free(p);
			snprintf(path, sizeof(path), "%s/stb.data", dir);
			fd = open(path, O_RDONLY);
			cr_assert(fd >= 0);
			for (uint64_t at = 0; at < 256 * 4096; at += 4096) { /* each sector says where it belongs: also those behind the cut */
				cr_assert_eq(pread(fd, block, sizeof(block), (off_t)at), 4096);
				for (uint64_t k = 0; k < 4096; k += 512) {
					uint64_t where;

					memcpy(&where, block + k, 8);
					cr_assert_eq(where, at + k, "depth %u every %u", depths[i], every);
				}
			}
			close(fd);
			cr_assert_eq(unlink(path), 0);
		}
	}
}

Test(io_faulty, errors_below_the_limit_are_counted_and_borne)
{
	struct test_faulty f = { .error_every = 8, .errnum = EIO };
	struct test_block t;
	struct stb_phase *p;
	int ret;

	workload(&t, "randread", 1, 1);
	test_count(&t, "error_limit", 1000);
	p = run_on(&f, &t, &ret);
	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->result.failed, 32);
	cr_expect_eq(p->result.ok[STB_READ], 224);
	free(p);
}

Test(io_faulty, the_error_over_the_limit_names_its_place)
{
	static const uint32_t depths[] = { 1, 16 };

	for (size_t i = 0; i < STB_LEN(depths); i++) {
		struct test_faulty f = { .error_every = 5, .errnum = EIO };
		struct test_block t;
		struct stb_phase *p;
		int ret;

		workload(&t, "read", depths[i], 1);
		p = run_on(&f, &t, &ret);
		cr_expect_eq(ret, -1);
		cr_expect_eq(p->result.end, STB_END_ERROR);
		cr_expect_geq(p->result.failed, 1);
		cr_expect_not_null(strstr(p->err.what, "cannot read 4096 bytes at offset "), "%s", p->err.what);
		cr_expect_not_null(strstr(p->err.what, "`stb.data`"), "%s", p->err.what);
		cr_expect_not_null(strstr(p->err.remedy, "kernel log"), "%s", p->err.remedy);
		free(p);
	}
}

Test(io_faulty, late_completions_are_waited_for)
{
	static const uint32_t batches[] = { 1, 3, 8 };

	for (size_t i = 0; i < STB_LEN(batches); i++) {
		struct test_faulty f = { .late_every = 4, .short_every = 5 };
		struct test_block t;
		struct stb_phase *p;
		int ret;

		workload(&t, "randrw", 8, batches[i]);
		test_count(&t, "numjobs", 2);
		test_count(&t, "fsync", 7);
		p = run_on(&f, &t, &ret);
		cr_assert_eq(ret, 0, "%s", p->err.what);
		cr_expect_eq(p->result.ok[STB_READ] + p->result.ok[STB_WRITE], 512);
		cr_expect_gt(p->result.sync.count, 0);
		free(p);
	}
}

Test(io_faulty, an_engine_that_fails_says_which_and_what)
{
	struct test_faulty f = { .submit_error = ENXIO };
	struct test_block t;
	struct stb_phase *p;
	int ret;

	workload(&t, "randread", 4, 1);
	p = run_on(&f, &t, &ret);
	cr_expect_eq(ret, -1);
	cr_expect_not_null(strstr(p->err.what, "engine `faulty` cannot submit I/O of `stb.data`"), "%s", p->err.what);
	cr_expect_eq(p->result.cancelled, p->result.issued);
	free(p);
}

/* As fio defines a run's time: to the last completion, and over the fsync at the end; which is no I/O and has no latency. */
Test(io_faulty, the_window_holds_the_drain_and_the_last_sync)
{
	struct test_faulty f = { .late_every = 2, .reap_ns = 60 * MS, .sync_ns = 50 * MS };
	struct test_block t;
	struct stb_phase *p;
	int ret;

	workload(&t, "randwrite", 4, 1);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 20 * MS);
	test_bool(&t, "end_fsync", true);
	p = run_on(&f, &t, &ret);
	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->result.end, STB_END_TIME);
	cr_expect_eq(p->result.ok[STB_WRITE], p->result.issued, "what was in flight when the time was over is counted");
	cr_expect_geq(p->result.ok[STB_WRITE], 4);
	cr_expect_geq(p->result.window_ns, 170 * MS, "%lu", p->result.window_ns); /* a reap, one more to drain, the sync */
	cr_expect_leq(p->result.lat[STB_WRITE].max, p->result.window_ns - 50 * MS);
	cr_expect_eq(p->result.sync.count, 0);
	free(p);
}

/* At 1000/s a stall of 100 ms is met by the hundred I/Os that were due in it, and by one that was under way. */
Test(io_faulty, a_stall_is_charged_to_all_that_was_due_in_it)
{
	struct test_faulty f = { .stall_at = 60, .stall_ns = 100 * MS };
	struct test_block t;
	struct stb_phase *p;
	int ret;

	workload(&t, "randread", 64, 1);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 300 * MS);
	test_set(&t, "rate_iops", stb_val_num(STB_V_RATE, 1000, 1));
	test_word(&t, "rate_process", "linear");
	p = run_on(&f, &t, &ret);
	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->result.scheduled, 300);
	cr_expect_geq(p->result.lat[STB_READ].max, 90 * MS);
	cr_expect_geq(stb_hist_percentile(&p->result.lat[STB_READ], 75, 100), 10 * MS, "a third is late, by 50 ms on average");
	cr_expect_lt(stb_hist_percentile(&p->result.svc[STB_READ], 90, 100), stb_hist_percentile(&p->result.lat[STB_READ], 75, 100));
	free(p);
}

Test(io_faulty, files_are_opened_as_sync_says)
{
	static const struct {
		const char *word;
		int want;
	} cases[] = { { "none", 0 }, { "dsync", O_DSYNC }, { "sync", O_SYNC } };

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct test_faulty f = { .flags = 0 };
		struct test_block t;
		int ret;

		workload(&t, "write", 1, 1);
		test_word(&t, "sync", cases[i].word);
		free(run_on(&f, &t, &ret));
		cr_expect_eq(ret, 0);
		cr_expect_eq(f.flags & O_SYNC, cases[i].want, "%s: %o", cases[i].word, f.flags);
		cr_expect_eq(f.flags & (O_DIRECT | O_NONBLOCK), 0);
	}
}

/* Seen before the first byte is written: the first write fails. */
Test(io_faulty, space_is_reserved_as_fallocate_says)
{
	static const char *const words[] = { "none", "native" };

	for (size_t i = 0; i < STB_LEN(words); i++) {
		struct test_faulty f = { .error_every = 1, .errnum = EIO };
		struct test_block t;
		char path[256];
		struct stat st;
		int ret;

		workload(&t, "write", 1, 1);
		test_word(&t, "fallocate", words[i]);
		free(run_on(&f, &t, &ret));
		cr_expect_eq(ret, -1);
		snprintf(path, sizeof(path), "%s/stb.data", dir);
		cr_assert_eq(stat(path, &st), 0);
		cr_expect_eq(st.st_blocks * 512, i ? 256 * 4096 : 0, "%s", words[i]);
		cr_expect_eq(st.st_size, i ? 256 * 4096 : 0, "%s", words[i]);
	}
}

Test(io_faulty, randrepeat_says_whether_repetitions_do_the_same)
{
	static const char *const rws[] = { "randread", "randrw" };

	for (int i = 0; i < 4; i++) {
		uint64_t traces[2];

		for (uint32_t repetition = 1; repetition <= 2; repetition++) {
			struct test_faulty f = { .flags = 0 };
			struct test_block t;
			int ret;

			workload(&t, rws[i / 2], 4, 1);
			test_bool(&t, "randrepeat", i % 2);
			free(run_repetition(&f, &t, repetition, &ret));
			cr_assert_eq(ret, 0);
			traces[repetition - 1] = f.trace;
		}
		cr_expect_eq(traces[0] == traces[1], i % 2, "%s, randrepeat = %d", rws[i / 2], i % 2);
	}
}
