/*
 * When a workload counts as steady: the criteria to the digit, the window that slides, and whole repetitions with counts that are given.
 */
#include "tests/unit/io_support.h"

#include "runtime/io/steady.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define S 1000000000ull

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)) + 1e-15;
}

Test(io_steady, slope_is_that_of_the_least_squares_line_by_the_mean)
{
	static const struct {
		double sample[6];
		uint32_t n;
		double slope;
	} cases[] = {
		{ { 100, 110 }, 2, 10.0 / 105 },
		{ { 5, 5, 5, 5 }, 4, 0 },
		{ { 100, 101, 102, 103, 104 }, 5, 1.0 / 102 },
		{ { 104, 103, 102, 101, 100 }, 5, -1.0 / 102 },
		{ { 1, 2, 3, 5 }, 4, 1.3 / 2.75 },     /* sum(xy) = 6.5, sum(xx) = 5 */
		{ { 0, 10, 0, 10, 0, 10 }, 6, 10.0 / 17.5 * 1.5 / 5 }, /* sum(xy) = 15, sum(xx) = 17.5 */
		{ { 1e9 + 1, 1e9 + 2, 1e9 + 3 }, 3, 1 / (1e9 + 2) },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		double turned[6];

		cr_expect(near(stb_steady_slope(cases[i].sample, cases[i].n, 0), cases[i].slope), "%zu: %.17g", i,
			stb_steady_slope(cases[i].sample, cases[i].n, 0));
		/* wherever the oldest lies in the ring */
		for (uint32_t oldest = 0; oldest < cases[i].n; oldest++) {
			for (uint32_t k = 0; k < cases[i].n; k++)
				turned[(oldest + k) % cases[i].n] = cases[i].sample[k];
			cr_expect(near(stb_steady_slope(turned, cases[i].n, oldest), cases[i].slope), "%zu from %u", i, oldest);
		}
	}
	cr_expect(isnan(stb_steady_slope((const double[]){ 0, 0, 0 }, 3, 0)), "nothing is not steady");
	cr_expect(isnan(stb_steady_slope((const double[]){ 1, NAN, 1 }, 3, 0)), "nor is what is not known");
}

Test(io_steady, deviation_is_the_greatest_distance_from_the_mean)
{
	cr_expect(near(stb_steady_deviation((const double[]){ 100, 110 }, 2), 5.0 / 105));
	cr_expect(near(stb_steady_deviation((const double[]){ 90, 100, 110, 140 }, 4), 30.0 / 110));
	cr_expect(near(stb_steady_deviation((const double[]){ 10, 100, 100 }, 3), 60.0 / 70));
	cr_expect_eq(stb_steady_deviation((const double[]){ 7, 7, 7 }, 3), 0);
	cr_expect(isnan(stb_steady_deviation((const double[]){ 0, 0 }, 2)));
	cr_expect(isnan(stb_steady_deviation((const double[]){ NAN, 3, 3 }, 3)));
	cr_expect(isnan(stb_steady_deviation((const double[]){ 3, 3, NAN }, 3)));
}

/* Feeds samples of a second each; returns after which one it is steady, 0 for none. */
static uint32_t feed(const struct stb_steady_ask *ask, const uint64_t *per_s, uint32_t n, struct stb_steadiness *proof)
{
	struct stb_steady_counts c = { 1000, 5, 77 };
	struct stb_steady s;
	uint32_t at = 0;

	stb_steady_init(&s, ask);
	stb_steady_start(&s, &c, proof);
	cr_expect(proof->asked && !proof->reached && !proof->judged);
	for (uint32_t i = 0; i < n && !at; i++) {
		c.ops += per_s[i];
		c.bytes += 4096 * per_s[i];
		c.lat_ns += 1000 * per_s[i] * (i + 1); /* i + 1 us */
		at = stb_steady_add(&s, &c, S, proof) ? i + 1 : 0;
	}
	stb_steady_fini(&s);
	return at;
}

Test(io_steady, the_window_slides_until_one_is_steady)
{
	static const uint64_t per_s[] = { 1000, 600, 400, 300, 250, 250, 250, 250 };
	struct stb_steady_ask ask = { STB_STEADY_IOPS, true, 0.0001, 3, 10 * S };
	struct stb_steadiness p;

	cr_expect_eq(feed(&ask, per_s, 8, &p), 7);
	cr_expect(p.reached && p.judged);
	cr_expect_eq(p.after_ns, 7 * S);
	cr_expect_eq(p.found_at_ns, 7 * S);
	cr_expect(near(p.mean, 250));
	cr_expect_eq(p.found, 0);
	ask.most = 0.25;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 5, "400, 300, 250: -75 by 316.7");
	ask.most = 0.1;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 6, "300, 250, 250: -25 by 266.7");
	cr_expect(near(p.found, -25 / (800.0 / 3)));
	ask.slope = false; /* 33.3 by 266.7 */
	cr_expect_eq(feed(&ask, per_s, 8, &p), 7);
	ask.most = 0.126;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 6);
	cr_expect(near(p.found, 0.125));
	ask.most = 0.1;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 7);
	ask.metric = STB_STEADY_BW;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 7);
	cr_expect(near(p.mean, 250 * 4096));
	ask.metric = STB_STEADY_LAT; /* grows by 1 us a second */
	ask.most = 0.2;
	cr_expect_eq(feed(&ask, per_s, 8, &p), 7, "5, 6, 7: 1 by 6");
	cr_expect(near(p.mean, 0.006));
	ask = (struct stb_steady_ask){ STB_STEADY_IOPS, false, 0.25, 2, 10 * S };
	cr_expect_eq(feed(&ask, (const uint64_t[]){ 6, 10, 6 }, 3, &p), 0, "below it, not at it");
}

Test(io_steady, what_is_found_of_an_unsteady_one_is_its_steadiest_window)
{
	static const uint64_t per_s[] = { 100, 200, 100, 110, 100, 300, 0, 300 };
	struct stb_steady_ask ask = { STB_STEADY_IOPS, false, 0.001, 2, 10 * S };
	struct stb_steadiness p;

	cr_expect_eq(feed(&ask, per_s, 8, &p), 0);
	cr_expect(p.judged && !p.reached);
	cr_expect(near(p.found, 5.0 / 105));
	cr_expect_eq(p.found_at_ns, 4 * S);
	cr_expect_eq(p.after_ns, 8 * S);
	ask.samples = 20; /* never full */
	cr_expect_eq(feed(&ask, per_s, 8, &p), 0);
	cr_expect_not(p.judged);
}

Test(io_steady, seconds_without_a_completion_are_never_steady)
{
	static const uint64_t none[] = { 0, 0, 0, 0 }, gaps[] = { 100, 0, 100, 0, 100, 100 };
	struct stb_steady_ask ask = { STB_STEADY_IOPS, true, 1, 2, 10 * S };
	struct stb_steadiness p;

	for (int m = STB_STEADY_IOPS; m <= STB_STEADY_LAT; m++) {
		ask.metric = (enum stb_steady_metric)m;
		cr_expect_eq(feed(&ask, none, 4, &p), 0);
		cr_expect_not(p.judged);
	}
	cr_expect_eq(feed(&ask, gaps, 6, &p), 6, "latency of a second in which nothing came back");
}

/* --- whole repetitions --- */

struct series {
	const uint64_t *per_s; /* the last one goes on */
	uint32_t n, asked;
	uint64_t ops;
};

static void count(void *ctx, uint32_t sample, struct stb_steady_counts *out)
{
	struct series *s = ctx;

	cr_expect_eq(sample, s->asked);
	s->asked++;
	if (sample)
		s->ops += s->per_s[STB_MIN(sample, s->n) - 1];
	*out = (struct stb_steady_counts){ s->ops, 4096 * s->ops, 1000 * s->ops };
}

static struct stb_phase *run_series(struct series *series, const char *criterion, int64_t per_mille, uint64_t window_ns, uint64_t limit_ns,
	uint64_t ramp_ns)
{
	const struct stb_steady_hook hook = { 2 * MS, series, count };
	struct test_block t;
	struct stb_io_setup s = { .workload = &t.block, .seed = 1, .cell = 1, .repetition = 1, .steady_hook = &hook };
	struct stb_phase *phase = aligned_alloc(128, (stb_phase_size(2) + 127) / 128 * 128);

	test_io_init(&t);
	test_word(&t, "ioengine", "null");
	test_count(&t, "numjobs", 2);
	test_bool(&t, "time_based", true);
	test_ns(&t, "runtime", 20 * MS);
	test_ns(&t, "ramp_time", ramp_ns);
	test_word(&t, "steady_state.metric", "iops");
	test_set(&t, criterion, stb_val_num(STB_V_SHARE, per_mille, 1000));
	test_ns(&t, "steady_state.window", window_ns);
	test_ns(&t, "steady_state.limit", limit_ns);
	memset(phase, 0, stb_phase_size(2));
	phase->n_workers = 2;
	cr_assert_eq(stb_io_run(&s, phase), 0, "%s", phase->err.what);
	cr_expect_eq(phase->result.end, STB_END_TIME);
	cr_expect_eq(phase->alloc_calls, 0);
	cr_expect_geq(phase->result.window_ns, 20 * MS);
	cr_expect_eq(phase->result.issued, phase->result.ok[STB_READ]);
	cr_expect_eq(phase->result.lat[STB_READ].count, phase->result.issued);
	/* what was done until then is not in it: neither in the counters of the workers */
	cr_expect_eq(atomic_load(&phase->live[0].ops) + atomic_load(&phase->live[1].ops), phase->result.issued);
	return phase;
}

Test(io_steady, measuring_begins_with_the_steady_window, .timeout = 60)
{
	static const uint64_t per_s[] = { 900, 500, 300, 200, 200, 201 };
	struct series series = { per_s, 6, 0, 0 };
	struct stb_phase *p = run_series(&series, "steady_state.slope", 10, 3 * S, 20 * S, 0);

	cr_expect(p->result.steady.asked && p->result.steady.reached);
	cr_expect_eq(p->result.steady.after_ns, 6 * S);
	cr_expect(near(p->result.steady.found, 0.5 / (601.0 / 3)), "%g", p->result.steady.found);
	cr_expect_eq(series.asked, 7);
	free(p);
	/* after ramp_time, which is not looked at */
	series = (struct series){ per_s, 6, 0, 0 };
	p = run_series(&series, "steady_state.deviation", 4, 2 * S, 20 * S, 5 * MS);
	cr_expect(p->result.steady.reached);
	cr_expect_eq(p->result.steady.after_ns, 5 * S);
	cr_expect_eq(p->result.steady.found, 0);
	free(p);
}

Test(io_steady, an_unsteady_one_is_measured_all_the_same_and_says_so, .timeout = 60)
{
	static const uint64_t per_s[] = { 100, 200, 100, 200, 100, 200, 100, 200, 100, 200, 100, 200 };
	struct series series = { per_s, 12, 0, 0 };
	struct stb_phase *p = run_series(&series, "steady_state.deviation", 10, 2 * S, 7 * S + S / 2, 0);

	cr_expect(p->result.steady.asked && p->result.steady.judged && !p->result.steady.reached);
	cr_expect_eq(p->result.steady.after_ns, 7 * S);
	cr_expect(near(p->result.steady.found, 50.0 / 150));
	cr_expect_gt(p->result.ok[STB_READ], 0);
	free(p);
}

/* The counts of the workers themselves, at the pace of the clock: two samples of a second each. */
Test(io_steady, the_workers_are_watched, .timeout = 60)
{
	static const char *const metrics[] = { "iops", "bw_bytes", "lat_mean" };

	for (size_t i = 0; i < STB_LEN(metrics); i++) {
		struct test_block t;
		struct stb_phase *p;
		int ret;

		test_io_init(&t);
		test_word(&t, "ioengine", "null");
		test_bool(&t, "time_based", true);
		test_ns(&t, "runtime", 20 * MS);
		test_word(&t, "steady_state.metric", metrics[i]);
		test_set(&t, "steady_state.deviation", stb_val_num(STB_V_SHARE, 1, 1));
		test_ns(&t, "steady_state.window", 2 * S);
		test_ns(&t, "steady_state.limit", 20 * S);
		p = test_io_run(&t, NULL, NULL, &ret);
		cr_assert_eq(ret, 0, "%s", p->err.what);
		cr_expect(p->result.steady.reached && p->result.steady.after_ns >= 2 * S);
		cr_expect_gt(p->result.steady.mean, 0, "%s", metrics[i]);
		free(p);
	}
}
