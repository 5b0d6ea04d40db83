/*
 * hist.c - reading a histogram. The layout and its error bound are in hist.h.
 */
#include "runtime/base/hist.h"

#include <math.h>
#include <string.h>

void stb_hist_init(struct stb_hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void stb_hist_merge(struct stb_hist *into, const struct stb_hist *from)
{
	if (!from->count)
		return;
	into->count += from->count;
	into->sum += from->sum;
	into->sum_sq += from->sum_sq;
	into->min = STB_MIN(into->min, from->min);
	into->max = STB_MAX(into->max, from->max);
	for (size_t i = 0; i < STB_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

static uint32_t width_shift(uint32_t index)
{
	return index < 128 ? 0 : (index >> 6) - 1;
}

uint64_t stb_hist_lower(uint32_t index)
{
	const uint32_t shift = width_shift(index);

	return index < 128 ? index : (64 + (uint64_t)(index & 63)) << shift;
}

uint64_t stb_hist_upper(uint32_t index)
{
	return stb_hist_lower(index) + ((1ull << width_shift(index)) - 1);
}

static uint64_t middle(uint32_t index)
{
	return stb_hist_lower(index) + ((1ull << width_shift(index)) >> 1);
}

uint64_t stb_hist_percentile(const struct stb_hist *h, uint64_t num, uint64_t den)
{
	unsigned __int128 rank;
	uint64_t seen = 0;

	STB_ASSERT(den > 0);
	if (!h->count)
		return 0;
	if (!num)
		return h->min;
	if (num >= den)
		return h->max;
	rank = ((unsigned __int128)h->count * num + den - 1) / den;
	for (uint32_t i = 0; i < STB_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return STB_MIN(STB_MAX(middle(i), h->min), h->max);
	}
	return h->max;
}

double stb_hist_mean(const struct stb_hist *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : 0;
}

/*
 * Around the integer q = floor(mean): sum((v - q)^2) = sum_sq - 2 q sum + n q^2. The three terms are taken modulo 2^128 and the true
 * result is small, so nothing is lost to cancellation. With r = sum - n q the rest is r^2 / n.
 */
double stb_hist_stddev(const struct stb_hist *h)
{
	const unsigned __int128 n = h->count;
	unsigned __int128 q, r, around;
	long double squares;

	if (h->count < 2)
		return 0;
	q = h->sum / n;
	r = h->sum % n;
	around = h->sum_sq - 2 * q * h->sum + n * q * q;
	squares = (long double)around - (long double)r * (long double)r / (long double)n;
	return squares > 0 ? (double)sqrtl(squares / (long double)(n - 1)) : 0;
}
