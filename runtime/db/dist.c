/* dist.c - see dist.h for the formulas and why they are these. */
#include "runtime/db/dist.h"

#include <math.h>
#include <string.h>

static const struct stb_dist_shape defaults = {.iter = 12, .pct = 1, .res = 75, .h = 0.2, .exponent = 0.8};

bool stb_dist_shape_of(struct stb_dist_shape *shape, const char *rand_type)
{
	static const char *const names[] = {[STB_DIST_UNIFORM] = "uniform", [STB_DIST_GAUSSIAN] = "gaussian",
		[STB_DIST_SPECIAL] = "special", [STB_DIST_PARETO] = "pareto", [STB_DIST_ZIPFIAN] = "zipfian"};

	for (unsigned i = 0; i < STB_LEN(names); i++) {
		if (strcmp(names[i], rand_type) == 0) {
			*shape = defaults;
			shape->type = (enum stb_dist_type)i;
			return true;
		}
	}
	return false;
}

/* --- zipfian: the area below x^-e from 1 to x, its inverse, and both where e is near 1 and the closed forms lose all digits -------------- */

/* (exp(x) - 1) / x */
static double expm1_by(double x)
{
	return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

/* ln(1 + x) / x */
static double log1p_by(double x)
{
	return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

static double area(double x, double exponent)
{
	const double log_x = log(x);

	return log_x * expm1_by((1 - exponent) * log_x);
}

static double area_inverse(double a, double exponent)
{
	/* rounding may pass the pole by a little */
	const double t = STB_MAX(a * (1 - exponent), -1.0);

	return exp(log1p_by(t) * a);
}

static double weight(double x, double exponent)
{
	return exp(-exponent * log(x));
}

static uint64_t draw_zipfian(const struct stb_dist *d, struct stb_rng *rng)
{
	const double e = d->shape.exponent;

	for (;;) {
		const double a = d->area_n + stb_rng_unit(rng) * (d->area_1 - d->area_n);
		const double x = area_inverse(a, e);
		const double k = STB_MIN(STB_MAX(floor(x + 0.5), 1.0), (double)d->n);

		if (k - x <= d->cut || a >= area(k + 0.5, e) - weight(k, e))
			return (uint64_t)k;
	}
}

/* --- all ----------------------------------------------------------------------------------------------------------------------------- */

void stb_dist_init(struct stb_dist *d, const struct stb_dist_shape *shape, uint64_t n)
{
	const double e = shape->exponent;

	STB_ASSERT(n > 0 && shape->iter > 0 && shape->res < 100);
	*d = (struct stb_dist){.shape = *shape, .n = n};
	d->power = log(shape->h) / log(1 - shape->h);
	d->area_1 = area(1.5, e) - 1;
	d->area_n = area((double)n + 0.5, e);
	d->cut = 2 - area_inverse(area(2.5, e) - weight(2, e), e);
}

static double bell(const struct stb_dist *d, struct stb_rng *rng)
{
	double sum = 0;

	for (uint32_t i = 0; i < d->shape.iter; i++)
		sum += stb_rng_unit(rng);
	return sum / d->shape.iter;
}

static double draw_special(const struct stb_dist *d, struct stb_rng *rng)
{
	const double t = (double)(d->n - 1), u = stb_rng_unit(rng);

	if (u * 100 < 100 - d->shape.res && t > 0)
		return t * bell(d, rng);
	const double hot = t * d->shape.pct / 100;

	return u * (hot + 1) + t / 2 - hot / 2;
}

uint64_t stb_dist_draw(const struct stb_dist *d, struct stb_rng *rng)
{
	double offset = 0;

	switch (d->shape.type) {
	case STB_DIST_UNIFORM:
		return 1 + stb_rng_below(rng, d->n);
	case STB_DIST_GAUSSIAN:
		offset = (double)d->n * bell(d, rng);
		break;
	case STB_DIST_SPECIAL:
		offset = draw_special(d, rng);
		break;
	case STB_DIST_PARETO:
		offset = (double)d->n * pow(stb_rng_unit(rng), d->power);
		break;
	case STB_DIST_ZIPFIAN:
		return draw_zipfian(d, rng);
	}
	/* Rounding of large products can reach the end of the half-open interval. */
	const uint64_t whole = offset > 0 ? (uint64_t)offset : 0;

	return 1 + STB_MIN(whole, d->n - 1);
}
