/*
 * test_hist.c - the histogram's error bound as a property, percentiles against sorted samples, merging.
 */
#include "runtime/base/hist.h"
#include "runtime/base/rng.h"

#include <criterion/criterion.h>
#include <string.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static struct stb_hist *new_hist(void)
{
	struct stb_hist *h = stb_xmalloc(sizeof(*h));

	stb_hist_init(h);
	return h;
}

static void check_value(uint64_t v)
{
	const uint32_t i = stb_hist_index(v);
	struct stb_hist *h = new_hist();
	uint64_t shown, off;

	cr_assert(i < STB_HIST_BUCKETS, "%" PRIu64, v);
	cr_assert(stb_hist_lower(i) <= v && v <= stb_hist_upper(i), "%" PRIu64 " is not in [%" PRIu64 ", %" PRIu64 "]", v,
		stb_hist_lower(i), stb_hist_upper(i));
	/* neighbours keep min and max out of the way of the bucket's middle */
	stb_hist_add(h, 0);
	stb_hist_add(h, v);
	stb_hist_add(h, UINT64_MAX);
	shown = stb_hist_percentile(h, 1, 2);
	off = shown > v ? shown - v : v - shown;
	cr_assert(v < 128 ? off == 0 : off <= v / 128, "%" PRIu64 " is shown as %" PRIu64, v, shown);
	free(h);
}

Test(hist, error_is_at_most_one_in_128)
{
	struct stb_rng r;

	for (int m = 0; m < 64; m++) {
		check_value(1ull << m);
		check_value((1ull << m) - 1);
		check_value((1ull << m) + 1);
		check_value((1ull << m) + (m > 6 ? (1ull << (m - 6)) - 1 : 0));
	}
	check_value(UINT64_MAX);
	stb_rng_seed(&r, 7);
	for (int i = 0; i < 3000; i++)
		check_value(stb_rng_next(&r) >> stb_rng_below(&r, 64));
}

Test(hist, buckets_tile_the_line)
{
	for (uint32_t i = 0; i + 1 < STB_HIST_BUCKETS; i++)
		cr_assert_eq(stb_hist_upper(i) + 1, stb_hist_lower(i + 1), "after bucket %" PRIu32, i);
	cr_assert_eq(stb_hist_lower(0), 0);
	cr_assert_eq(stb_hist_upper(STB_HIST_BUCKETS - 1), UINT64_MAX);
}

Test(hist, one_sample_is_every_percentile)
{
	struct stb_hist *h = new_hist();

	cr_assert_eq(stb_hist_percentile(h, 95, 100), 0);
	stb_hist_add(h, 241470000);
	for (uint64_t p = 0; p <= 1000; p++)
		cr_assert_eq(stb_hist_percentile(h, p, 1000), 241470000);
	cr_assert_eq(stb_hist_stddev(h), 0);
	free(h);
}

Test(hist, long_latencies_are_not_cut_off)
{
	struct stb_hist *h = new_hist();
	uint64_t p95;

	for (int i = 0; i < 1000; i++)
		stb_hist_add(h, 150000000000 + (uint64_t)i);
	p95 = stb_hist_percentile(h, 95, 100);
	cr_assert(p95 >= 150000000000 - 150000000000 / 128 && p95 <= h->max);
	free(h);
}

Test(hist, merged_percentile_is_of_all_samples)
{
	struct stb_hist *a = new_hist(), *b = new_hist();
	const uint64_t ms = 1000000;
	uint64_t p99;

	for (int i = 0; i < 9900; i++)
		stb_hist_add(a, ms);
	for (int i = 0; i < 100; i++)
		stb_hist_add(a, 10 * ms);
	for (int i = 0; i < 100; i++)
		stb_hist_add(b, 100 * ms);
	stb_hist_merge(a, b);
	p99 = stb_hist_percentile(a, 99, 100);
	cr_assert(p99 >= 10 * ms - 10 * ms / 128 && p99 <= 10 * ms + 10 * ms / 128, "%" PRIu64, p99);
	cr_assert_eq(a->max, 100 * ms);
	cr_assert_eq(a->min, ms);
	cr_assert_eq(a->count, 10100);
	/* an empty histogram changes nothing, least of all the minimum */
	stb_hist_init(b);
	stb_hist_merge(a, b);
	cr_assert_eq(a->min, ms);
	stb_hist_merge(b, a);
	cr_assert_eq(b->min, ms);
	cr_assert_eq(b->count, 10100);
	free(a);
	free(b);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

Test(hist, percentiles_follow_the_sorted_samples)
{
	enum { N = 997 };
	static const struct {
		uint64_t num, den;
	} fractions[] = { { 1, 1000 }, { 5, 100 }, { 1, 2 }, { 95, 100 }, { 999, 1000 }, { 9999, 10000 }, { 1, 1 }, { 0, 1 } };
	struct stb_hist *h = new_hist();
	uint64_t v[N];
	struct stb_rng r;

	stb_rng_seed(&r, 99);
	for (int i = 0; i < N; i++) {
		v[i] = stb_rng_next(&r) >> (20 + stb_rng_below(&r, 40));
		stb_hist_add(h, v[i]);
	}
	qsort(v, N, sizeof(*v), by_value);
	for (size_t i = 0; i < STB_LEN(fractions); i++) {
		const uint64_t rank = (N * fractions[i].num + fractions[i].den - 1) / fractions[i].den;
		const uint64_t exact = v[rank ? rank - 1 : 0];
		const uint64_t shown = stb_hist_percentile(h, fractions[i].num, fractions[i].den);

		cr_assert(shown >= h->min && shown <= h->max);
		cr_assert(shown + exact / 128 >= exact && shown <= exact + exact / 128, "%" PRIu64 "/%" PRIu64, fractions[i].num,
			fractions[i].den);
	}
	free(h);
}

Test(hist, mean_and_stddev_survive_large_offsets)
{
	struct stb_hist *h = new_hist();
	const uint64_t base = 1ull << 50; /* 13 days: squares are near 2^100 */

	for (int i = 0; i < 1000; i++)
		stb_hist_add(h, base + (uint64_t)(i % 2) * 2);
	cr_assert_eq(stb_hist_mean(h), (double)(base + 1));
	cr_assert(fabs(stb_hist_stddev(h) - sqrt(1000.0 / 999.0)) < 1e-9, "%.12f", stb_hist_stddev(h));
	free(h);
}

Test(hist, adding_several_equals_adding_each)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 1000003, UINT64_MAX };
	static struct stb_hist one, many;

	stb_hist_init(&one);
	stb_hist_init(&many);
	for (size_t i = 0; i < STB_LEN(values); i++) {
		for (uint64_t n = 0; n <= i; n++)
			stb_hist_add(&one, values[i]);
		stb_hist_add_n(&many, values[i], i + 1);
	}
	cr_expect_eq(memcmp(&one, &many, sizeof(one)), 0);
}
