/* steady.c - see steady.h. */
#include "runtime/io/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double mean_of(const double *sample, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += sample[i];
	return sum / n;
}

/* With x from -(n-1)/2 to (n-1)/2 the slope is sum(xy)/sum(xx), and sum(xx) is n(n^2-1)/12: no two large sums are subtracted. */
double stb_steady_slope(const double *sample, uint32_t n, uint32_t oldest)
{
	const double middle = (n - 1) / 2.0, mean = mean_of(sample, n);
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (i - middle) * (sample[(oldest + i) % n] - mean);
	return mean > 0 ? sum / ((double)n * ((double)n * n - 1) / 12) / mean : NAN;
}

double stb_steady_deviation(const double *sample, uint32_t n)
{
	const double mean = mean_of(sample, n);
	double most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fabs(sample[i] - mean));
	return mean > 0 ? most / mean : NAN;
}

void stb_steady_init(struct stb_steady *s, const struct stb_steady_ask *ask)
{
	*s = (struct stb_steady){ .ask = *ask };
	if (ask->metric != STB_STEADY_NONE)
		s->sample = stb_xcalloc(ask->samples, sizeof(*s->sample));
}

void stb_steady_fini(struct stb_steady *s)
{
	free(s->sample);
	s->sample = NULL;
}

void stb_steady_start(struct stb_steady *s, const struct stb_steady_counts *now, struct stb_steadiness *proof)
{
	s->n = 0;
	s->spent_ns = 0;
	s->before = *now;
	*proof = (struct stb_steadiness){ .asked = true };
}

static double sample_of(const struct stb_steady *s, const struct stb_steady_counts *now, uint64_t dt_ns)
{
	const uint64_t ops = now->ops - s->before.ops;

	switch (s->ask.metric) {
	case STB_STEADY_NONE:
		break;
	case STB_STEADY_IOPS:
		return (double)ops * 1e9 / (double)dt_ns;
	case STB_STEADY_BW:
		return (double)(now->bytes - s->before.bytes) * 1e9 / (double)dt_ns;
	case STB_STEADY_LAT:
		return ops ? (double)(now->lat_ns - s->before.lat_ns) / (double)ops / 1e6 : NAN;
	}
	STB_BUG("nothing is watched");
}

bool stb_steady_add(struct stb_steady *s, const struct stb_steady_counts *now, uint64_t dt_ns, struct stb_steadiness *proof)
{
	const uint32_t n = s->ask.samples;
	double found;

	s->sample[s->n++ % n] = sample_of(s, now, STB_MAX(dt_ns, (uint64_t)1));
	s->before = *now;
	s->spent_ns += dt_ns;
	proof->after_ns = s->spent_ns;
	if (s->n < n)
		return false;
	found = s->ask.slope ? stb_steady_slope(s->sample, n, (uint32_t)(s->n % n)) : stb_steady_deviation(s->sample, n);
	if (isnan(found))
		return false;
	proof->reached = fabs(found) < s->ask.most;
	if (proof->reached || !proof->judged || fabs(found) < fabs(proof->found)) {
		proof->found = found;
		proof->mean = mean_of(s->sample, n);
		proof->found_at_ns = s->spent_ns;
	}
	proof->judged = true;
	return proof->reached;
}
