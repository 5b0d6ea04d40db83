/*
 * interval.c - how sure a comparison is: a confidence interval of v/b from what was measured several times.
 *
 * On logarithms, since ratios multiply: the difference of the mean logarithms of cell and baseline, with Welch's standard error and degrees of
 * freedom (the two need not vary alike). One sample is a repetition; where there are three slots or more it is the mean of a slot, because
 * repetitions of one hour share what that hour was like. Fewer than three samples on either side say nothing about how they vary.
 *
 * Student's quantile is found by bisection on its distribution function (the incomplete beta function by its continued fraction): it is asked
 * for a few times a report, and any confidence and fractional degrees of freedom come out of the same few lines. A table would have neither.
 */
#include "runtime/report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_SAMPLES = 3 };

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m <= 500; m++) {
		for (int odd = 0; odd < 2; odd++) {
			const double t = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) :
						m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

			d = 1 + t * d;
			c = 1 + t / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			h *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stb_student_quantile(double confidence, double df)
{
	double low = 0, high = 1e6;

	for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
		const double t = (low + high) / 2;

		if (incomplete_beta(df / 2, 0.5, df / (df + t * t)) > 1 - confidence)
			low = t;
		else
			high = t;
	}
	return (low + high) / 2;
}

/* --- samples --- */

struct samples {
	double mean, variance; /* of logarithms */
	uint32_t n;
	bool zero;
};

struct slot {
	uint32_t slot, n;
	double sum;
};

static int by_slot(const void *a, const void *b)
{
	const uint32_t x = ((const struct slot *)a)->slot, y = ((const struct slot *)b)->slot;

	return (x > y) - (x < y);
}

/* Adds up what lies in one slot, in place; the number of slots. */
static uint32_t merge_slots(struct slot *s, uint32_t n)
{
	uint32_t kept = 0;

	qsort(s, n, sizeof(*s), by_slot);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && s[kept - 1].slot == s[i].slot) {
			s[kept - 1].sum += s[i].sum;
			s[kept - 1].n++;
		} else {
			s[kept++] = s[i];
		}
	}
	return kept;
}

static void describe(const double *v, uint32_t n, struct samples *out)
{
	double sum = 0, squares = 0;

	out->n = n;
	for (uint32_t i = 0; i < n; i++) {
		out->zero |= v[i] <= 0;
		sum += v[i] > 0 ? log(v[i]) : 0;
	}
	out->mean = n ? sum / n : 0;
	for (uint32_t i = 0; i < n && !out->zero; i++)
		squares += (log(v[i]) - out->mean) * (log(v[i]) - out->mean);
	out->variance = n > 1 ? squares / (n - 1) : 0;
}

static void gather(const struct stb_results *r, uint32_t cell, const char *metric, struct samples *out)
{
	const struct stb_result_row *first = stb_results_first(r, cell, metric), *row;
	uint32_t n = 0, n_slots;
	struct slot *slots;
	double *v;

	*out = (struct samples){ .n = 0 };
	for (row = first; row; row = stb_results_next(r, row))
		n += stb_status_valid(row->status);
	if (!n)
		return;
	v = stb_xcalloc(n, sizeof(*v));
	slots = stb_xcalloc(n, sizeof(*slots));
	n = 0;
	for (row = first; row; row = stb_results_next(r, row)) {
		if (!stb_status_valid(row->status))
			continue;
		slots[n] = (struct slot){ row->slot, 1, row->value };
		v[n++] = row->value;
	}
	n_slots = merge_slots(slots, n);
	if (n_slots >= LEAST_SAMPLES) {
		for (uint32_t i = 0; i < n_slots; i++)
			v[i] = slots[i].sum / slots[i].n;
		n = n_slots;
	}
	describe(v, n, out);
	free(slots);
	free(v);
}

/* --- the interval --- */

const char *stb_interval_get(const struct stb_results *r, uint32_t cell, uint32_t base, const char *metric, double confidence,
	struct stb_interval *out)
{
	return stb_interval_between(r, cell, r, base, metric, confidence, out);
}

const char *stb_interval_between(const struct stb_results *r, uint32_t cell, const struct stb_results *base_r, uint32_t base,
	const char *metric, double confidence, struct stb_interval *out)
{
	struct samples v, b = { .n = UINT32_MAX };
	double se2, df, half;

	gather(r, cell, metric, &v);
	if (base != STB_NONE)
		gather(base_r, base, metric, &b);
	*out = (struct stb_interval){ .n = STB_MIN(v.n, b.n) };
	if (out->n < LEAST_SAMPLES)
		return "no claim";
	if (v.zero || b.zero)
		return "a figure is 0";
	se2 = v.variance / v.n;
	df = v.n - 1;
	if (base != STB_NONE) {
		const double w = v.variance / v.n, u = b.variance / b.n;

		se2 = w + u;
		df = se2 > 0 ? se2 * se2 / (w * w / (v.n - 1) + u * u / (b.n - 1)) : df;
	}
	half = se2 > 0 ? stb_student_quantile(confidence, df) * sqrt(se2) : 0;
	out->low = exp(v.mean - (base == STB_NONE ? 0 : b.mean) - half);
	out->high = exp(v.mean - (base == STB_NONE ? 0 : b.mean) + half);
	return isfinite(out->low) && isfinite(out->high) ? NULL : "the figures are too far apart";
}
