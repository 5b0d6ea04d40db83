/*
 * offset.h - which block comes next. One generator a worker; plain data, no memory besides.
 *
 * Random with exactly-once coverage (fio keeps a bitmap for this) is a keyed permutation of [0, n): the i-th I/O of a pass goes to block
 * perm(i), every pass has a new key. perm is an alternating Feistel network over the smallest domain 2^b >= n, b = lo + hi bits:
 *
 *      hi ^= F(lo, k0)   lo ^= F(hi, k1)   hi ^= F(lo, k2)   ...            each line is its own inverse, so the whole is a permutation
 *
 * A value outside [0, n) is put through again (cycle walking): the walk follows one cycle of the permutation and began inside [0, n), so
 * it ends inside, and two starts cannot end in one value. Since 2^b < 2n, a value takes fewer than two rounds on average.
 *
 * Rejected: a bitmap (a cache miss per I/O, and late in a pass next-free search clusters the I/O); an LFSR (the same order every pass).
 * Source: Black, Rogaway: "Ciphers with Arbitrary Finite Domains", CT-RSA 2002. Not for secrecy: F is one multiplication.
 */
#ifndef STB_IO_OFFSET_H
#define STB_IO_OFFSET_H

#include "runtime/base/rng.h"
#include "runtime/result/measure.h"

#define STB_PERM_ROUNDS 6

struct stb_perm {
	uint64_t n;
	uint64_t key[STB_PERM_ROUNDS];
	uint64_t lo_mask, hi_mask;
	uint32_t lo_bits;
};

static inline uint64_t stb_perm_f(uint64_t x, uint64_t key)
{
	x = (x ^ key) * 0x9e3779b97f4a7c15ull;
	return x >> 32;
}

/* The i-th value of the permutation, i < n. */
static inline uint64_t stb_perm_at(const struct stb_perm *p, uint64_t i)
{
	do {
		uint64_t lo = i & p->lo_mask, hi = i >> p->lo_bits;

		for (uint32_t r = 0; r < STB_PERM_ROUNDS; r += 2) {
			hi ^= stb_perm_f(lo, p->key[r]) & p->hi_mask;
			lo ^= stb_perm_f(hi, p->key[r + 1]) & p->lo_mask;
		}
		i = (hi << p->lo_bits) | lo;
	} while (i >= p->n);
	return i;
}

/* The i at which v stands, v < n: the rounds backwards. A walk back stays on the cycle that the walk there was on. */
static inline uint64_t stb_perm_index(const struct stb_perm *p, uint64_t v)
{
	do {
		uint64_t lo = v & p->lo_mask, hi = v >> p->lo_bits;

		for (uint32_t r = STB_PERM_ROUNDS; r > 0; r -= 2) {
			lo ^= stb_perm_f(hi, p->key[r - 1]) & p->lo_mask;
			hi ^= stb_perm_f(lo, p->key[r - 2]) & p->hi_mask;
		}
		v = (hi << p->lo_bits) | lo;
	} while (v >= p->n);
	return v;
}

/* A permutation of [0, n), 1 <= n <= 2^63, keyed from the stream. */
void stb_perm_init(struct stb_perm *p, uint64_t n, struct stb_rng *rng);

enum stb_offset_mode { STB_OFFSET_SEQUENTIAL, STB_OFFSET_UNIFORM, STB_OFFSET_PERMUTED, STB_OFFSET_SKEWED };

struct stb_skew;
uint64_t stb_skew_draw(const struct stb_skew *s, struct stb_rng *rng); /* skew.h */

struct stb_offsets {
	enum stb_offset_mode mode;
	uint64_t n;               /* blocks */
	uint64_t next[STB_N_DIRS]; /* sequential: per direction, as in fio; permuted: [0] is i */
	struct stb_rng rng;
	struct stb_perm perm;
	const struct stb_skew *skew; /* skewed; borrowed */
};

/* Of a skewed mode the caller sets `skew` afterwards. */
void stb_offsets_init(struct stb_offsets *o, enum stb_offset_mode mode, uint64_t n_blocks, const struct stb_rng *rng);

/* The same with the mode known to the compiler; mode is o->mode. */
static inline uint64_t stb_offsets_next_as(struct stb_offsets *o, enum stb_offset_mode mode, enum stb_dir dir)
{
	uint64_t block;

	switch (mode) {
	case STB_OFFSET_SEQUENTIAL:
		block = o->next[dir];
		o->next[dir] = block + 1 == o->n ? 0 : block + 1;
		return block;
	case STB_OFFSET_UNIFORM:
		return stb_rng_below(&o->rng, o->n);
	case STB_OFFSET_SKEWED:
		return stb_skew_draw(o->skew, &o->rng);
	case STB_OFFSET_PERMUTED:
		break;
	}
	if (o->next[0] == o->n) {
		stb_perm_init(&o->perm, o->n, &o->rng);
		o->next[0] = 0;
	}
	return stb_perm_at(&o->perm, o->next[0]++);
}

/* The block of the next I/O in direction dir (STB_READ or STB_WRITE). About 1 ns sequential or uniform, 10 to 20 ns permuted. */
static inline uint64_t stb_offsets_next(struct stb_offsets *o, enum stb_dir dir)
{
	return stb_offsets_next_as(o, o->mode, dir);
}

#endif
