/*
 * Whole repetitions in the unusual ways of custom.c, with every engine: accounting, no allocation while measuring, and what is in the file after.
 */
#include "tests/unit/io_support.h"

#include "runtime/io/engine.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

TestSuite(io_ways, .init = setup, .fini = teardown, .timeout = 60);

static const struct {
	const char *name;
	uint32_t depth;
} engines[] = { { "psync", 1 }, { "libaio", 8 }, { "io_uring", 8 }, { "null", 8 } };

static bool begin(struct test_block *t, size_t engine)
{
	struct stb_err err;

	stb_err_clear(&err);
	test_io_init(t);
	test_word(t, "ioengine", engines[engine].name);
	test_count(t, "iodepth", engines[engine].depth);
	return stb_io_caps_find(engines[engine].name)->ops->probe(8, 2, &err) == 0;
}

static struct stb_phase *must_run(const struct test_block *t)
{
	int ret;
	struct stb_phase *p = test_io_run(t, dir, NULL, &ret);
	const struct stb_measure *m = &p->result;

	cr_assert_eq(ret, 0, "%s", p->err.what);
	cr_expect_eq(p->alloc_calls, 0);
	cr_expect_eq(m->issued, m->ok[0] + m->ok[1] + m->ok[2] + m->failed + m->cancelled);
	for (int d = 0; d < STB_N_DIRS; d++) {
		cr_expect_eq(m->lat[d].count, m->ok[d]);
		cr_expect_eq(m->svc[d].count, m->scheduled ? m->ok[d] : 0);
	}
	cr_expect(!m->scheduled || m->scheduled == m->issued + m->skipped);
	return p;
}

static void two_sizes(struct test_block *t, struct stb_val items[4])
{
	items[0] = stb_val_num(STB_V_BYTES, 4096, 1);
	items[1] = stb_val_num(STB_V_BYTES, 32768, 1);
	items[2] = stb_val_num(STB_V_SHARE, 3, 4);
	items[3] = stb_val_num(STB_V_SHARE, 1, 4);
	test_set(t, "bs", (struct stb_val){ .type = STB_V_LIST, .den = 1, .items = items, .n_items = 2 });
	test_set(t, "bs_percent", (struct stb_val){ .type = STB_V_LIST, .den = 1, .items = items + 2, .n_items = 2 });
}

Test(io_ways, several_sizes_move_the_region_once)
{
	static const char *const words[] = { "read", "write", "randread", "randwrite", "randrw" };

	for (size_t e = 0; e < STB_LEN(engines); e++) {
		for (size_t i = 0; i < STB_LEN(words); i++) {
			struct test_block t;
			struct stb_val items[4];
			struct stb_phase *p;

			if (!begin(&t, e))
				continue;
			two_sizes(&t, items);
			test_word(&t, "rw", words[i]);
			p = must_run(&t);
			cr_expect_eq(p->result.bytes[0] + p->result.bytes[1], 1 << 20, "%s %s", engines[e].name, words[i]);
			cr_expect_eq(p->result.end, STB_END_SIZE);
			free(p);
		}
	}
}

Test(io_ways, skewed_and_paused_and_rated_runs_add_up)
{
	static const char *const skews[] = { "zipf(1.2)", "pareto(0.2)", "normal(10%)", "zoned([90%, 10%], [10%, 90%])" };

	for (size_t e = 0; e < STB_LEN(engines); e++) {
		for (size_t i = 0; i < STB_LEN(skews); i++) {
			struct test_block t;
			struct stb_phase *p;

			if (!begin(&t, e))
				continue;
			test_word(&t, "random_distribution", skews[i]);
			test_count(&t, "numjobs", 2);
			p = must_run(&t);
			cr_expect_eq(p->result.bytes[0], 2 << 20);
			free(p);
			test_ns(&t, "runtime", 100 * MS);
			test_ns(&t, "ramp_time", 20 * MS);
			test_bool(&t, "time_based", true);
			if (i == 0)
				test_ns(&t, "thinktime", 2 * MS);
			else
				test_set(&t, "rate_iops", stb_val_num(STB_V_RATE, 2000, 1));
			test_word(&t, "rate_process", i == 1 ? "poisson" : "linear");
			p = must_run(&t);
			cr_expect_gt(p->result.ok[0], 0);
			if (i == 0)
				cr_expect(p->result.ok[0] <= 2 * 51, "%lu", p->result.ok[0]);
			if (i > 1)
				cr_expect(p->result.scheduled > 0 && p->result.scheduled <= 402, "%s: %lu due in 100 ms at twice 2000/s",
					engines[e].name, p->result.scheduled);
			free(p);
		}
	}
}

/* What the spec says of the ring reaches it: the result tells. */
Test(io_ways, options_of_a_ring_are_had_or_left_out_as_asked)
{
	static const char *const options[] = { "registerfiles", "fixedbufs", "sqpoll" };
	static const char *const words[] = { "registered file", "registered buffers", "sqpoll" };

	for (size_t i = 0; i < STB_LEN(options); i++) {
		for (int on = 0; on < 2; on++) {
			struct test_block t;
			struct stb_phase *p;

			if (!begin(&t, 2))
				cr_skip_test("io_uring is not allowed here");
			test_bool(&t, options[i], on);
			p = must_run(&t);
			cr_expect_eq(strstr(p->result.engine_with, words[i]) != NULL, on, "%s = %d: %s", options[i], on, p->result.engine_with);
			cr_expect_null(strstr(p->result.engine_without, words[i]), "what was not wanted is not missed: %s", p->result.engine_without);
			free(p);
		}
	}
}

/* A worker that hardly does anything beside a kernel thread that polls without a pause: the CPU time is that thread's, and is counted. */
Test(io_ways, cpu_time_holds_that_of_the_kernel_threads_of_a_ring)
{
	struct test_block t;
	struct stb_phase *p;

	if (!begin(&t, 2))
		cr_skip_test("io_uring is not allowed here");
	test_bool(&t, "sqpoll", true);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 1500 * MS); /* of which the thread has a fiftieth even where others want the CPU as well */
	test_set(&t, "rate_iops", stb_val_num(STB_V_RATE, 4, 1));
	p = must_run(&t);
	cr_expect_leq(p->result.ok[STB_READ], 6);
	cr_expect_geq(p->result.cpu_user_ns + p->result.cpu_sys_ns, 30 * MS, "%lu ns", p->result.cpu_user_ns + p->result.cpu_sys_ns);
	free(p);
}

/* Schedules begin at one instant, not when each worker happens to wake up: at a million a second a worker that is a microsecond late would lack one. */
Test(io_ways, all_jobs_are_due_from_the_same_instant)
{
	for (int ramp = 0; ramp < 2; ramp++) {
		struct test_block t;
		struct stb_phase *p;

		cr_assert(begin(&t, 3));
		test_count(&t, "numjobs", 8);
		test_set(&t, "rate_iops", stb_val_num(STB_V_RATE, 1000000, 1));
		test_word(&t, "rate_process", "linear");
		test_bool(&t, "time_based", true);
		test_ns(&t, "ramp_time", ramp * 20 * MS);
		test_ns(&t, "runtime", 50 * MS);
		p = must_run(&t);
		cr_expect_eq(p->result.scheduled, 8 * 50000, "%lu due", p->result.scheduled);
		free(p);
	}
}

Test(io_ways, a_rate_ends_with_the_size_and_is_met)
{
	for (size_t e = 0; e < STB_LEN(engines); e++) {
		struct test_block t;
		struct stb_phase *p;

		if (!begin(&t, e))
			continue;
		test_set(&t, "rate", stb_val_num(STB_V_BYTE_RATE, 10 << 20, 1));
		p = must_run(&t);
		cr_expect_eq(p->result.issued, 256);
		cr_expect_eq(p->result.end, STB_END_SIZE);
		free(p);
	}
}

Test(io_ways, what_is_written_verifies)
{
	static const char *const digests[] = { "crc32c", "md5", "sha256" };

	for (size_t e = 0; e + 1 < STB_LEN(engines); e++) {
		for (int way = 0; way < 8; way++) {
			struct test_block t;
			struct stb_val items[4];
			struct stb_phase *p;

			if (!begin(&t, e))
				continue;
			test_word(&t, "rw", way & 1 ? "randwrite" : "write");
			test_word(&t, "verify", digests[way % 3]);
			test_bytes(&t, "offset", 64 * KIB);
			test_count(&t, "numjobs", 2);
			if (way & 2)
				two_sizes(&t, items);
			if (way & 4) { /* ends anywhere in a pass */
				test_ns(&t, "runtime", 30 * MS + way * MS);
				test_bool(&t, "time_based", true);
			} else {
				test_count(&t, "loops", 3);
			}
			p = must_run(&t);
			cr_expect_eq(p->result.mismatches, 0);
			cr_expect(p->result.verified > 0 && p->result.verified <= 512, "%lu", p->result.verified);
			cr_expect((way & 4) || p->result.verified == 512);
			free(p);
		}
	}
}

Test(io_ways, a_trimmed_file_is_empty_and_an_offset_leaves_what_is_before)
{
	struct test_block t;
	char path[256];
	struct stat st;

	cr_assert(begin(&t, 0));
	snprintf(path, sizeof(path), "%s/stb.data", dir);
	test_bytes(&t, "offset", 256 * KIB);
	free(must_run(&t)); /* lays out what is read */
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_size, (1 << 20) + 256 * 1024);
	cr_expect_eq(st.st_blocks, (1 << 20) / 512, "before the region there is a hole");
	test_word(&t, "rw", "trim");
	test_bytes(&t, "bs", 64 * KIB);
	struct stb_phase *p = must_run(&t);
	cr_expect_eq(p->result.ok[STB_TRIM], 16);
	cr_expect_eq(p->result.bytes[STB_TRIM], 1 << 20);
	free(p);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_blocks, 0, "all of it is a hole");
}

Test(io_ways, compressible_data_is_in_the_file)
{
	static unsigned char data[1 << 20];
	struct test_block t;
	char path[256];
	size_t zeros = 0;
	int fd;

	cr_assert(begin(&t, 0));
	snprintf(path, sizeof(path), "%s/stb.data", dir);
	test_word(&t, "rw", "randwrite");
	test_set(&t, "buffer_compress_percentage", stb_val_num(STB_V_SHARE, 3, 4));
	free(must_run(&t));
	fd = open(path, O_RDONLY);
	cr_assert_eq(read(fd, data, sizeof(data)), (ssize_t)sizeof(data));
	close(fd);
	for (size_t i = 0; i < sizeof(data); i++)
		zeros += !data[i];
	/* three quarters, and of the random rest 1 in 256 */
	cr_expect(zeros > 786432 && zeros < 786432 + 1500, "%zu", zeros);
}

Test(io_ways, what_cannot_be_is_refused_before_anything_is_touched)
{
	static const struct {
		const char *attr, *word, *want;
	} cases[] = {
		{ "random_distribution", "zipf(0)", "random_distribution = zipf(0)" },
		{ "random_distribution", "zoned([50%, 0.001%], [50%, 99.999%])", "zone 1 of workload" },
		{ "verify", "xxhash", "verify = xxhash" },
		{ "verify", "crc32c", "does not write each block" },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct test_block t;
		struct stb_err err;

		test_io_init(&t);
		test_word(&t, cases[i].attr, cases[i].word);
		stb_err_clear(&err);
		cr_expect_eq(stb_io_preflight(&t.block, &err), -1, "%s", cases[i].word);
		cr_expect_not_null(strstr(err.what, cases[i].want), "%s", err.what);
	}
}
