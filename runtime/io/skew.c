/* skew.c - see skew.h for the distributions and where they are from. */
#include "runtime/io/skew.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- from text: what the compiler has made of the spec, so spelling is canonical, but a plan may come from a file --- */

/* 1.2, 60%, 1/3 and 100%/3: how values print. */
static bool read_number(const char **p, bool share, double *out)
{
	char *end;
	double v = strtod(*p, &end);

	if (end == *p)
		return false;
	if (*end == '%') {
		v /= 100;
		end++;
	} else if (share) {
		return false;
	}
	if (*end == '/') {
		const char *divisor = end + 1;
		const double d = strtod(divisor, &end);

		if (end == divisor || !(d > 0))
			return false;
		v /= d;
	}
	*p = end;
	*out = v;
	return isfinite(v);
}

static bool skip(const char **p, const char *text)
{
	const size_t n = strlen(text);

	if (strncmp(*p, text, n))
		return false;
	*p += n;
	return true;
}

static bool read_zones(const char *p, struct stb_skew_spec *spec)
{
	double access = 0, region = 0;

	do {
		const uint32_t i = spec->n_zones;

		if (i == STB_SKEW_ZONES || !skip(&p, "[") || !read_number(&p, true, &spec->access[i]) || !skip(&p, ", ") ||
			!read_number(&p, true, &spec->region[i]) || !skip(&p, "]") || !(spec->access[i] > 0) || !(spec->region[i] > 0))
			return false;
		access += spec->access[i];
		region += spec->region[i];
		spec->n_zones++;
	} while (skip(&p, ", "));
	return !strcmp(p, ")") && fabs(access - 1) < 1e-9 && fabs(region - 1) < 1e-9;
}

bool stb_skew_parse(const char *text, struct stb_skew_spec *spec)
{
	const char *p = text;

	memset(spec, 0, sizeof(*spec));
	if (!strcmp(text, "random"))
		return true;
	if (skip(&p, "zoned(")) {
		spec->kind = STB_SKEW_ZONED;
		return read_zones(p, spec);
	}
	spec->kind = skip(&p, "zipf(") ? STB_SKEW_ZIPF : skip(&p, "pareto(") ? STB_SKEW_PARETO : skip(&p, "normal(") ? STB_SKEW_NORMAL :
		STB_SKEW_NONE;
	return spec->kind != STB_SKEW_NONE && read_number(&p, spec->kind == STB_SKEW_NORMAL, &spec->parameter) && !strcmp(p, ")") &&
		spec->parameter > 0 && spec->parameter < (spec->kind == STB_SKEW_ZIPF ? 10 : 1);
}

/* Where the zone after the first k begins. The last one ends with the region, whatever rounding says. */
static uint64_t zone_end(const struct stb_skew_spec *spec, uint32_t k, double share, uint64_t n)
{
	const uint64_t end = (uint64_t)llround(share * (double)n);

	return k == spec->n_zones ? n : STB_MIN(end, n);
}

bool stb_skew_fits(const struct stb_skew_spec *spec, uint64_t n_blocks, uint32_t *zone)
{
	uint64_t before = 0;
	double share = 0;

	for (uint32_t k = 0; k < spec->n_zones; k++) {
		uint64_t end;

		share += spec->region[k];
		end = zone_end(spec, k + 1, share, n_blocks);
		if (end <= before) {
			*zone = k;
			return false;
		}
		before = end;
	}
	return true;
}

/* --- zipf --- */

/* The integral of 1/x^t from 1 to x, which is ln x at t = 1. */
static double integral(double t, double x)
{
	const double l = log(x), y = (1 - t) * l;

	return fabs(y) > 1e-8 ? expm1(y) / y * l : l * (1 + y / 2);
}

static double inverse_integral(double t, double h)
{
	double y = h * (1 - t);

	y = STB_MAX(y, -1.0); /* rounding may step outside */
	return exp(fabs(y) > 1e-8 ? log1p(y) / y * h : h * (1 - y / 2));
}

static uint64_t draw_zipf(const struct stb_skew *s, struct stb_rng *rng)
{
	const double t = s->exponent, n = (double)s->n;

	for (;;) {
		const double u = s->h_last + stb_rng_unit(rng) * (s->h_first - s->h_last), x = inverse_integral(t, u);
		const double k = STB_MIN(STB_MAX(floor(x + 0.5), 1.0), n);

		if (k - x <= s->shift || u >= integral(t, k + 0.5) - exp(-t * log(k)))
			return (uint64_t)k - 1;
	}
}

/* --- all --- */

void stb_skew_init(struct stb_skew *s, const struct stb_skew_spec *spec, uint64_t n_blocks, struct stb_rng *key)
{
	const double t = spec->parameter, n = (double)n_blocks;
	double access = 0, region = 0;

	memset(s, 0, sizeof(*s));
	s->kind = spec->kind;
	s->n = n_blocks;
	stb_perm_init(&s->scatter, n_blocks, key);
	switch (spec->kind) {
	case STB_SKEW_NONE:
		STB_BUG("nothing is skewed");
	case STB_SKEW_ZIPF:
		s->exponent = t;
		s->h_first = integral(t, 1.5) - 1;
		s->h_last = integral(t, n + 0.5);
		s->shift = 2 - inverse_integral(t, integral(t, 2.5) - exp(-t * log(2)));
		break;
	case STB_SKEW_PARETO:
		s->exponent = log(t) / log(1 - t);
		break;
	case STB_SKEW_NORMAL:
		s->exponent = t * n;
		break;
	case STB_SKEW_ZONED:
		s->n_zones = spec->n_zones;
		for (uint32_t i = 0; i < spec->n_zones; i++) {
			access += spec->access[i];
			region += spec->region[i];
			s->access[i] = access;
			s->first[i + 1] = zone_end(spec, i + 1, region, n_blocks);
		}
		break;
	}
}

uint64_t stb_skew_rank(const struct stb_skew *s, struct stb_rng *rng)
{
	if (s->kind == STB_SKEW_ZIPF)
		return draw_zipf(s, rng);
	return STB_MIN((uint64_t)((double)s->n * pow(stb_rng_unit(rng), s->exponent)), s->n - 1);
}

/* Box and Muller's; the second of the pair is left, so that a generator has no state but its stream. */
static uint64_t draw_normal(const struct stb_skew *s, struct stb_rng *rng)
{
	const double n = (double)s->n;

	for (;;) {
		const double z = sqrt(-2 * log(1 - stb_rng_unit(rng))) * cos(2 * M_PI * stb_rng_unit(rng));
		const double at = floor(n / 2 + z * s->exponent);

		if (at >= 0 && at < n)
			return (uint64_t)at;
	}
}

static uint64_t draw_zoned(const struct stb_skew *s, struct stb_rng *rng)
{
	const double u = stb_rng_unit(rng);
	uint32_t zone = 0;

	while (zone + 1 < s->n_zones && u >= s->access[zone])
		zone++;
	return s->first[zone] + stb_rng_below(rng, s->first[zone + 1] - s->first[zone]);
}

uint64_t stb_skew_draw(const struct stb_skew *s, struct stb_rng *rng)
{
	switch (s->kind) {
	case STB_SKEW_ZIPF:
	case STB_SKEW_PARETO:
		return stb_perm_at(&s->scatter, stb_skew_rank(s, rng));
	case STB_SKEW_NORMAL:
		return draw_normal(s, rng);
	case STB_SKEW_ZONED:
		return draw_zoned(s, rng);
	case STB_SKEW_NONE:
		break;
	}
	STB_BUG("nothing is skewed");
}
