/* dist.c - see dist.h for the formulas and why they are these. */
#include "runtime/db/dist.h"

#include <math.h>
#include <string.h>

#define BELL_DRAWS 12
#define SPECIAL_PCT 1      /* of the rows are meant to be hot */
#define SPECIAL_RES_PCT 75 /* of the draws go there */
#define PARETO_H 0.2

bool stb_dist_init(struct stb_dist *d, const char *rand_type, uint64_t n)
{
	static const char *const names[] = {[STB_DIST_UNIFORM] = "uniform", [STB_DIST_GAUSSIAN] = "gaussian",
		[STB_DIST_SPECIAL] = "special", [STB_DIST_PARETO] = "pareto"};

	STB_ASSERT(n > 0);
	for (unsigned i = 0; i < STB_LEN(names); i++) {
		if (strcmp(names[i], rand_type) == 0) {
			*d = (struct stb_dist){.type = (enum stb_dist_type)i, .n = n};
			d->exponent = log(PARETO_H) / log(1 - PARETO_H);
			return true;
		}
	}
	return false;
}

static double bell(struct stb_rng *rng)
{
	double sum = 0;

	for (int i = 0; i < BELL_DRAWS; i++)
		sum += stb_rng_unit(rng);
	return sum / BELL_DRAWS;
}

static double draw_special(double t, struct stb_rng *rng)
{
	const double u = stb_rng_unit(rng);

	if (u * 100 / (100 - SPECIAL_RES_PCT) < 1 && t > 0)
		return t * bell(rng);
	const double d = t * SPECIAL_PCT / 100;

	return u * (d + 1) + t / 2 - d / 2;
}

uint64_t stb_dist_draw(const struct stb_dist *d, struct stb_rng *rng)
{
	double offset = 0;

	switch (d->type) {
	case STB_DIST_UNIFORM:
		return 1 + stb_rng_below(rng, d->n);
	case STB_DIST_GAUSSIAN:
		offset = (double)d->n * bell(rng);
		break;
	case STB_DIST_SPECIAL:
		offset = draw_special((double)(d->n - 1), rng);
		break;
	case STB_DIST_PARETO:
		offset = (double)d->n * pow(stb_rng_unit(rng), d->exponent);
		break;
	}
	/* Rounding of large products can reach the end of the half-open interval. */
	const uint64_t whole = offset > 0 ? (uint64_t)offset : 0;

	return 1 + STB_MIN(whole, d->n - 1);
}
