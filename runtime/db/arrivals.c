/* arrivals.c - see arrivals.h. The lock is held for one random word and one logarithm, tens of nanoseconds. */
#include "runtime/db/arrivals.h"

#include "runtime/base/clock.h"

#include <math.h>

void stb_arrivals_init(struct stb_arrivals *a, double rate, const struct stb_rng *rng)
{
	pthread_mutex_init(&a->lock, NULL);
	a->rng = *rng;
	a->mean_ns = rate > 0 ? (double)STB_NS_PER_S / rate : 0;
	a->offset_ns = 0;
	a->start_ns = 0;
}

void stb_arrivals_start(struct stb_arrivals *a, uint64_t start_ns)
{
	a->start_ns = start_ns;
}

void stb_arrivals_fini(struct stb_arrivals *a)
{
	pthread_mutex_destroy(&a->lock);
}

uint64_t stb_arrivals_next(struct stb_arrivals *a)
{
	pthread_mutex_lock(&a->lock);
	/* 1 - U lies in (0, 1] */
	a->offset_ns -= a->mean_ns * log1p(-stb_rng_unit(&a->rng));
	const double at = a->offset_ns;

	pthread_mutex_unlock(&a->lock);
	return a->start_ns + (uint64_t)STB_MIN(at, 9e18);
}
