/*
 * hist.h - latency histogram: log-linear buckets, 64 a power of two, over all of uint64 nanoseconds.
 *
 *   v < 128                    bucket v                                        exact
 *   otherwise, m = msb of v    bucket ((m - 5) << 6) + ((v >> (m - 6)) & 63)   width 2^(m-6)
 *
 * Proof of the bound: a bucket at m covers [L, L + 2^(m-6)) with L >= 2^m, and the middle is at most 2^(m-7) from any member, so the
 * relative error of reporting the middle is at most 2^(m-7) / 2^m = 1/128. The layout is fio's (stat.h), so its logs compare bucket by
 * bucket, but it does not saturate at 17 s. Minimum, maximum, sum and count are exact beside it. Percentiles are clamped to
 * [min, max], so a single sample reports itself.
 *
 * Plain data of fixed size (it lives in shared memory); one writer.
 */
#ifndef STB_HIST_H
#define STB_HIST_H

#include "runtime/base/base.h"

#define STB_HIST_BUCKETS (((63 - 5) << 6) + 64)

struct stb_hist {
	uint64_t count;
	uint64_t min, max;
	unsigned __int128 sum, sum_sq;
	uint64_t bucket[STB_HIST_BUCKETS];
};

static inline uint32_t stb_hist_index(uint64_t v)
{
	if (v < 128)
		return (uint32_t)v;
	const uint32_t m = 63 - (uint32_t)__builtin_clzll(v);

	return ((m - 5) << 6) + (uint32_t)((v >> (m - 6)) & 63);
}

/* n equal values at once: what a batch shares costs the same as one. */
static inline void stb_hist_add_n(struct stb_hist *h, uint64_t v, uint64_t n)
{
	h->bucket[stb_hist_index(v)] += n;
	h->count += n;
	h->sum += (unsigned __int128)v * n;
	h->sum_sq += (unsigned __int128)v * v * n;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

static inline void stb_hist_add(struct stb_hist *h, uint64_t v)
{
	stb_hist_add_n(h, v, 1);
}

void stb_hist_init(struct stb_hist *h); /* min is UINT64_MAX while empty */
void stb_hist_merge(struct stb_hist *into, const struct stb_hist *from);
uint64_t stb_hist_lower(uint32_t index); /* least value of a bucket */
uint64_t stb_hist_upper(uint32_t index); /* greatest value of a bucket */
/*
 * The value at fraction num/den of the samples (99.9% is 999/1000): middle of the first bucket whose cumulative count reaches
 * ceil(count * num / den), clamped to [min, max]. 0 when empty.
 */
uint64_t stb_hist_percentile(const struct stb_hist *h, uint64_t num, uint64_t den);
double stb_hist_mean(const struct stb_hist *h);
double stb_hist_stddev(const struct stb_hist *h); /* sample (n - 1); 0 below two samples */

#endif
