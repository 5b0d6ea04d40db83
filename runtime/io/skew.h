/*
 * skew.h - random offsets that prefer some blocks: random_distribution other than `random`. One generator a worker.
 *
 *   zipf(t)     rank k of n with probability in proportion to 1/k^t, exactly, by rejection-inversion: no sum over n blocks to begin with, and
 *               t may lie on either side of 1. (fio approximates with a sum that it cuts off after 10 million terms.)
 *   pareto(h)   rank floor(n U^p), p = ln h / ln(1 - h), as fio: h = 0.2 gives 80% of the draws to 20% of the ranks
 *   normal(d)   a bell in the middle of the region, standard deviation d of it; what falls outside is drawn again
 *   zoned(...)  a share of the draws to each share of the region, evenly inside
 *
 * Ranks of zipf and pareto are scattered: rank k is block perm(k) of a keyed permutation, so hot blocks lie all over the region, as in fio, whose
 * hash however maps several ranks to one block. The workers of a shared file have one key, so that they heat the same blocks.
 *
 * Source: Hörmann, Derflinger: "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.
 */
#ifndef STB_IO_SKEW_H
#define STB_IO_SKEW_H

#include "runtime/base/err.h"
#include "runtime/io/offset.h"

#define STB_SKEW_ZONES 256

enum stb_skew_kind { STB_SKEW_NONE, STB_SKEW_ZIPF, STB_SKEW_PARETO, STB_SKEW_NORMAL, STB_SKEW_ZONED };

/* As written. */
struct stb_skew_spec {
	enum stb_skew_kind kind;
	double parameter;
	uint32_t n_zones;
	double access[STB_SKEW_ZONES], region[STB_SKEW_ZONES]; /* each adds up to 1 */
};

struct stb_skew {
	enum stb_skew_kind kind;
	uint64_t n;
	struct stb_perm scatter;
	double exponent; /* of zipf; p of pareto; the deviation of normal in blocks */
	double h_first, h_last, shift; /* zipf: the ends of the integral, and what is accepted without computing */
	uint32_t n_zones;
	double access[STB_SKEW_ZONES]; /* up to and with the zone */
	uint64_t first[STB_SKEW_ZONES + 1];
};

/* Reads "zipf(1.2)", "zoned([60%, 10%], [40%, 90%])", "random" (kind NONE). false: no such distribution, or a parameter outside its range. */
bool stb_skew_parse(const char *text, struct stb_skew_spec *spec);
/* Whether each zone has a block of its own in a region of n_blocks; else *zone, counted from 0, is the first that has none. */
bool stb_skew_fits(const struct stb_skew_spec *spec, uint64_t n_blocks, uint32_t *zone);
/* spec is not NONE and fits; n_blocks below 2^53. The key of scattering is drawn from *key. */
void stb_skew_init(struct stb_skew *s, const struct stb_skew_spec *spec, uint64_t n_blocks, struct stb_rng *key);
/* A block below n. 20 to 100 ns. */
uint64_t stb_skew_draw(const struct stb_skew *s, struct stb_rng *rng);
/* The rank behind a draw of zipf or pareto, before it is scattered; for tests. */
uint64_t stb_skew_rank(const struct stb_skew *s, struct stb_rng *rng);

#endif
