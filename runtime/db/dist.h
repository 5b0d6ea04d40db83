/*
 * dist.h - how row numbers are drawn: sysbench's --rand-type (semantics of 1.0.20), so that a key is as hot here as it is there.
 *
 * Over [1, n], with U uniform in [0, 1) and t = n - 1:
 *   uniform   1 + trunc(n U)
 *   gaussian  1 + trunc(n mean(iter U)): a bell in the middle, sigma about n/12 with 12 draws
 *   special   one u: if 100 u < 100 - res (a quarter of the draws) the bell over t, else 1 + trunc(u (d + 1) + t/2 - d/2), d = t pct/100,
 *             with that same u: with res = 75 it is in [0.25, 1), and three quarters of the draws fall evenly on 0.75% of the rows, between
 *             49.75% and 50.5% of the table
 *   pareto    1 + trunc(n U^p), p = ln h / ln(1 - h), h = 0.2: the lowest numbers are the hottest
 *   zipfian   k with a probability proportional to k^-e, e = 0.8: the lowest number is the hottest. As in sysbench's unreleased master; 1.0.20
 *             has none. Drawn by rejection-inversion (Hoermann, Derflinger: "Rejection-inversion to generate variates from monotone discrete
 *             distributions", 1996), which needs no table and in nearly every case one try
 *
 * Plain data; the stream belongs to the caller.
 */
#ifndef STB_DB_DIST_H
#define STB_DB_DIST_H

#include "runtime/base/rng.h"

enum stb_dist_type { STB_DIST_UNIFORM, STB_DIST_GAUSSIAN, STB_DIST_SPECIAL, STB_DIST_PARETO, STB_DIST_ZIPFIAN };

/* What is asked for, whatever the number of rows. */
struct stb_dist_shape {
	enum stb_dist_type type;
	uint32_t iter;   /* draws that a bell averages: gaussian, special */
	double pct, res; /* special: percent of the rows that are meant to be hot, and of the draws that go there (below 100) */
	double h;        /* pareto, within (0, 1) */
	double exponent; /* zipfian, not negative */
};

struct stb_dist {
	struct stb_dist_shape shape;
	uint64_t n;
	double power;               /* pareto */
	double area_1, area_n, cut; /* zipfian: the integral's ends, and the distance below which no draw is rejected */
};

/* The defaults of a type; false: no such distribution. */
bool stb_dist_shape_of(struct stb_dist_shape *shape, const char *rand_type);
/* n at least 1. */
void stb_dist_init(struct stb_dist *d, const struct stb_dist_shape *shape, uint64_t n);
/* In [1, n]. */
uint64_t stb_dist_draw(const struct stb_dist *d, struct stb_rng *rng);

#endif
