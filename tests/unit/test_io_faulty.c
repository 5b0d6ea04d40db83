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
#include <unistd.h>

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

static struct stb_phase *run_on(struct test_faulty *f, const struct test_block *t, int *ret)
{
	const size_t size = (stb_phase_size(2) + 127) / 128 * 128;
	struct stb_phase *phase = aligned_alloc(128, size);
	struct stb_io_setup s = { .workload = &t->block, .dir = dir, .seed = 1, .cell = 42, .repetition = 1 };

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
