/*
 * dist.h - how row numbers are drawn: sysbench's --rand-type (semantics of 1.0.20), so that a key is as hot here as it is there.
 *
 * Over [1, n], with U uniform in [0, 1) and t = n - 1:
 *   uniform   1 + trunc(n U)
 *   gaussian  1 + trunc(n mean(12 U)): a bell in the middle, sigma about n/12
 *   special   one u: if 4 t u < t (a quarter of the draws) the bell over t, else 1 + trunc(u (d + 1) + t/2 - d/2), d = t/100, with that
 *             same u in [0.25, 1): three quarters of the draws fall evenly on 0.75% of the rows, between 49.75% and 50.5% of the table
 *   pareto    1 + trunc(n U^p), p = ln h / ln(1 - h), h = 0.2: the lowest numbers are the hottest
 *
 * Plain data; the stream belongs to the caller.
 */
#ifndef STB_DB_DIST_H
#define STB_DB_DIST_H

#include "runtime/base/rng.h"

enum stb_dist_type { STB_DIST_UNIFORM, STB_DIST_GAUSSIAN, STB_DIST_SPECIAL, STB_DIST_PARETO };

struct stb_dist {
	enum stb_dist_type type;
	uint64_t n;
	double exponent; /* pareto */
};

/* false: no such distribution. n at least 1. */
bool stb_dist_init(struct stb_dist *d, const char *rand_type, uint64_t n);
/* In [1, n]. */
uint64_t stb_dist_draw(const struct stb_dist *d, struct stb_rng *rng);

#endif
