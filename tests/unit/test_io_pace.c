/*
 * Schedules: exact where they are linear, exponential where they are poisson, and what was skipped is counted.
 */
#include "runtime/base/clock.h"
#include "runtime/io/pace.h"

#include <criterion/criterion.h>
#include <math.h>

static void make(struct stb_pace *p, double per_s, bool poisson, uint64_t start, double mean)
{
	struct stb_rng rng;

	stb_rng_seed(&rng, 5);
	stb_pace_init(p, per_s, poisson, &rng);
	stb_pace_start(p, start, mean);
}

Test(io_pace, linear_starts_do_not_drift)
{
	static const double rates[] = { 0.001, 0.5, 3, 7, 1000, 999983, 1e9 };

	for (size_t r = 0; r < STB_LEN(rates); r++) {
		struct stb_pace p;

		make(&p, rates[r], false, 12345, 1);
		for (int i = 0; i < 100000; i++) {
			const double want = 12345 + (double)i * 1e9 / rates[r];

			cr_assert(fabs((double)stb_pace_next(&p) - floor(want)) <= 1 + want * 1e-12, "rate %g, I/O %d: %lu", rates[r], i,
				stb_pace_next(&p));
			stb_pace_take(&p, 1);
		}
		cr_expect_eq(p.issued, 100000);
	}
}

Test(io_pace, a_byte_rate_counts_what_went_before)
{
	struct stb_pace p;

	make(&p, 1 << 20, false, 0, 4096); /* 1 MiB/s */
	stb_pace_take(&p, 1 << 19);
	cr_expect_eq(stb_pace_next(&p), STB_NS_PER_S / 2);
	stb_pace_take(&p, 1 << 18);
	cr_expect_eq(stb_pace_next(&p), STB_NS_PER_S * 3 / 4);
}

Test(io_pace, poisson_gaps_are_exponential)
{
	enum { N = 100000 };
	struct stb_pace p;
	double sum = 0, squares = 0, above = 0;
	uint64_t before;

	make(&p, 1000, true, 0, 1);
	cr_expect_gt(stb_pace_next(&p), 0);
	before = stb_pace_next(&p);
	for (int i = 0; i < N; i++) {
		double gap;

		stb_pace_take(&p, 1);
		gap = (double)(stb_pace_next(&p) - before);
		before = stb_pace_next(&p);
		sum += gap;
		squares += gap * gap;
		above += gap > 1e6;
	}
	cr_expect(fabs(sum / N - 1e6) < 1.5e4, "mean %g", sum / N);
	cr_expect(fabs(sqrt(squares / N - sum / N * (sum / N)) - 1e6) < 2e4);
	cr_expect(fabs(above / N - exp(-1)) < 0.01);
}

Test(io_pace, what_was_meant_to_start_and_did_not_is_skipped)
{
	struct stb_pace p;

	make(&p, 1000, false, 1000000, 1);
	cr_expect_eq(stb_pace_skipped(&p, 999999, 1), 0);
	cr_expect_eq(stb_pace_skipped(&p, 1000000, 1), 1);
	for (int i = 0; i < 400; i++)
		stb_pace_take(&p, 1);
	/* I/Os at 1.000 s + 0, 1, ..., 999 ms are meant to start before its end */
	cr_expect_eq(p.issued + stb_pace_skipped(&p, 1000000 + STB_NS_PER_S - 1, 1), 1000);
	make(&p, 1000, true, 0, 1);
	cr_expect(fabs((double)stb_pace_skipped(&p, STB_NS_PER_S, 1) - 1000) < 10);
}

Test(io_pace, extremes_stay_in_order)
{
	static const double rates[] = { 0.001, 1e12 };
	static const uint32_t units[] = { 1, 1u << 30 };

	for (size_t r = 0; r < STB_LEN(rates); r++) {
		for (size_t u = 0; u < STB_LEN(units); u++) {
			struct stb_pace p;
			uint64_t before = 0;

			make(&p, rates[r], u & 1, 1ull << 60, units[u]);
			for (int i = 0; i < 10000; i++) {
				cr_assert(stb_pace_next(&p) >= before);
				before = stb_pace_next(&p);
				stb_pace_take(&p, units[u]);
			}
		}
	}
}
