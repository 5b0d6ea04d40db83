/*
 * Distributions of offsets, with fixed seeds: each draws what its formula says, and stays in the region.
 */
#include "runtime/io/skew.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200000 };

static void make(struct stb_skew *s, const char *text, uint64_t n, struct stb_rng *rng)
{
	struct stb_skew_spec spec;
	uint32_t zone;

	stb_rng_seed(rng, 7);
	cr_assert(stb_skew_parse(text, &spec), "%s", text);
	cr_assert(stb_skew_fits(&spec, n, &zone), "%s", text);
	stb_skew_init(s, &spec, n, rng);
}

/* Pearson's statistic for observed counts, cells expected below 20 left out; cells is how many were taken. */
static double chi_square(const uint64_t *count, const double *p, uint64_t n, int *cells)
{
	double x = 0;

	*cells = 0;
	for (uint64_t i = 0; i < n; i++) {
		const double want = p[i] * DRAWS;

		if (want < 20)
			continue;
		x += ((double)count[i] - want) * ((double)count[i] - want) / want;
		(*cells)++;
	}
	return x;
}

static void zipf_of(double t, uint64_t n)
{
	uint64_t *count = calloc(n, sizeof(*count));
	double *p = calloc(n, sizeof(*p)), sum = 0, x;
	struct stb_skew s;
	struct stb_rng rng;
	char text[32];
	int cells;

	snprintf(text, sizeof(text), "zipf(%g)", t);
	make(&s, text, n, &rng);
	for (uint64_t k = 0; k < n; k++)
		sum += p[k] = pow((double)(k + 1), -t);
	for (uint64_t k = 0; k < n; k++)
		p[k] /= sum;
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t k = stb_skew_rank(&s, &rng);

		cr_assert_lt(k, n);
		count[k]++;
	}
	x = chi_square(count, p, n, &cells);
	/* mean cells, standard deviation sqrt(2 cells): five of them is beyond any fixed seed that is right */
	cr_expect(x <= cells + 5 * sqrt(2.0 * cells), "zipf(%g) of %lu: %g over %d cells", t, n, x, cells);
	free(count);
	free(p);
}

Test(io_skew, zipf_is_exact_for_all_exponents_and_sizes)
{
	static const double exponents[] = { 0.1, 0.5, 0.99, 1.01, 1.2, 2, 5, 9.9 };
	static const uint64_t sizes[] = { 1, 2, 3, 10, 1000, 65537 };

	for (size_t e = 0; e < STB_LEN(exponents); e++) {
		for (size_t i = 0; i < STB_LEN(sizes); i++)
			zipf_of(exponents[e], sizes[i]);
	}
}

Test(io_skew, zipf_stays_inside_huge_regions)
{
	static const char *const texts[] = { "zipf(0.1)", "zipf(0.999)", "zipf(1.001)", "zipf(1.2)", "zipf(9)" };
	struct stb_skew s;
	struct stb_rng rng;

	for (size_t i = 0; i < STB_LEN(texts); i++) {
		make(&s, texts[i], (1ull << 42) + 3, &rng);
		for (int k = 0; k < 20000; k++)
			cr_assert_lt(stb_skew_draw(&s, &rng), s.n, "%s", texts[i]);
	}
}

static int descending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* 20% of the ranks take 80% of the draws, and they are not neighbours. */
Test(io_skew, pareto_is_eighty_to_twenty_and_scattered)
{
	enum { N = 1000 };
	uint64_t count[N] = { 0 }, hot = 0;
	struct stb_skew s;
	struct stb_rng rng;
	int first_half = 0;

	make(&s, "pareto(0.2)", N, &rng);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t k = stb_skew_rank(&s, &rng);

		cr_assert_lt(k, N);
		hot += k < N / 5;
	}
	cr_expect(fabs((double)hot / DRAWS - 0.8) < 0.005, "%g", (double)hot / DRAWS);
	for (int i = 0; i < DRAWS; i++)
		count[stb_skew_draw(&s, &rng)]++;
	for (int i = 0; i < N / 2; i++)
		first_half += count[i] > DRAWS / N * 2;
	qsort(count, N, sizeof(count[0]), descending);
	hot = 0;
	for (int i = 0; i < N / 5; i++)
		hot += count[i];
	cr_expect(fabs((double)hot / DRAWS - 0.8) < 0.01, "scattering keeps the shares: %g", (double)hot / DRAWS);
	cr_expect(first_half > 10 && first_half < 100, "hot blocks lie all over the region: %d in the first half", first_half);
}

Test(io_skew, normal_is_a_bell_in_the_middle)
{
	enum { N = 10001 };
	double sum = 0, squares = 0;
	uint64_t within = 0;
	struct stb_skew s;
	struct stb_rng rng;

	make(&s, "normal(10%)", N, &rng);
	for (int i = 0; i < DRAWS; i++) {
		const double v = (double)stb_skew_draw(&s, &rng);

		cr_assert(v < N);
		sum += v;
		squares += v * v;
		within += fabs(v - N / 2.0) < N * 0.1;
	}
	sum /= DRAWS;
	cr_expect(fabs(sum - N / 2.0) < 15, "mean %g", sum);
	cr_expect(fabs(sqrt(squares / DRAWS - sum * sum) - N * 0.1) < 10, "deviation %g", sqrt(squares / DRAWS - sum * sum));
	cr_expect(fabs((double)within / DRAWS - 0.6827) < 0.005, "within one deviation: %g", (double)within / DRAWS);
	make(&s, "normal(99%)", 3, &rng); /* mostly outside, and drawn again */
	for (int i = 0; i < 1000; i++)
		cr_assert_lt(stb_skew_draw(&s, &rng), 3);
}

Test(io_skew, zones_get_their_shares_evenly)
{
	enum { N = 1000 };
	uint64_t count[N] = { 0 }, zone[3] = { 0 };
	double p[N];
	struct stb_skew s;
	struct stb_rng rng;
	int cells;

	make(&s, "zoned([60%, 10%], [30%, 20%], [10%, 70%])", N, &rng);
	for (int i = 0; i < DRAWS; i++)
		count[stb_skew_draw(&s, &rng)]++;
	for (int i = 0; i < N; i++) {
		zone[i < 100 ? 0 : i < 300 ? 1 : 2] += count[i];
		p[i] = i < 100 ? 0.6 / 100 : i < 300 ? 0.3 / 200 : 0.1 / 700;
	}
	cr_expect(fabs((double)zone[0] / DRAWS - 0.6) < 0.005);
	cr_expect(fabs((double)zone[1] / DRAWS - 0.3) < 0.005);
	cr_expect_lt(chi_square(count, p, N, &cells), N + 5 * sqrt(2.0 * N));
}

Test(io_skew, what_is_written_is_read_or_refused)
{
	static const char *const good[] = { "random", "zipf(1.2)", "zipf(1/3)", "pareto(0.2)", "normal(10%)", "normal(100%/3)",
		"zoned([100%, 100%])", "zoned([60%, 10%], [40%, 90%])" };
	static const char *const bad[] = { "", "zipf", "zipf()", "zipf(0)", "zipf(10)", "zipf(-1)", "zipf(1.2", "zipf(1.2)x", "pareto(1)",
		"normal(0.1)", "normal(100%)", "zoned()", "zoned([60%, 10%])", "zoned([60%, 50%], [50%, 50%])", "zoned([0%, 50%], [100%, 50%])",
		"zoned([50%, 50%] [50%, 50%])", "zipf(nan)", "zipf(1e400)", "zipf(1/0)" };
	struct stb_skew_spec spec;
	uint32_t zone = 9;

	for (size_t i = 0; i < STB_LEN(good); i++)
		cr_expect(stb_skew_parse(good[i], &spec), "%s", good[i]);
	for (size_t i = 0; i < STB_LEN(bad); i++)
		cr_expect(!stb_skew_parse(bad[i], &spec), "%s", bad[i]);
	cr_assert(stb_skew_parse("zoned([50%, 1%], [50%, 99%])", &spec));
	cr_expect(stb_skew_fits(&spec, 100, &zone) && !stb_skew_fits(&spec, 10, &zone), "a zone without a block of its own");
	cr_expect_eq(zone, 0);
}

Test(io_skew, same_seed_same_draws)
{
	struct stb_skew a, b;
	struct stb_rng x, y;

	make(&a, "zipf(1.2)", 12345, &x);
	make(&b, "zipf(1.2)", 12345, &y);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(stb_skew_draw(&a, &x), stb_skew_draw(&b, &y));
}
