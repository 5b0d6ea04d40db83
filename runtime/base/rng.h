/*
 * rng.h - random streams: xoshiro256** seeded by splitmix64 (Blackman, Vigna: "Scrambled linear pseudorandom number generators").
 *
 * A stream belongs to one worker and one purpose; it is never shared, so no locks.
 */
#ifndef STB_RNG_H
#define STB_RNG_H

#include "runtime/base/base.h"

struct stb_rng {
	uint64_t s[4];
};

enum stb_rng_purpose { STB_RNG_OFFSET = 1, STB_RNG_MIX, STB_RNG_DATA, STB_RNG_ARRIVAL, STB_RNG_KEYS, STB_RNG_LOAD, STB_RNG_ORDER,
	STB_RNG_SIZE, STB_RNG_SCATTER, STB_RNG_CONTENT };

/*
 * The stream for (seed of the matrix, cell id as its first 8 bytes, repetition, worker, purpose). Same arguments, same stream, on
 * every machine. With randrepeat the caller passes repetition 0 every time.
 */
void stb_rng_stream(struct stb_rng *r, uint64_t seed, uint64_t cell, uint32_t repetition, uint32_t worker,
	enum stb_rng_purpose purpose);
void stb_rng_seed(struct stb_rng *r, uint64_t seed);

static inline uint64_t stb_rotl64(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* 64 random bits; about a nanosecond. */
static inline uint64_t stb_rng_next(struct stb_rng *r)
{
	const uint64_t result = stb_rotl64(r->s[1] * 5, 7) * 9;
	const uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = stb_rotl64(r->s[3], 45);
	return result;
}

/* Uniform in [0, n), n > 0, by multiply-shift (Lemire); the bias is below n / 2^64. */
static inline uint64_t stb_rng_below(struct stb_rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)stb_rng_next(r) * n) >> 64);
}

/* Uniform in [0, 1). */
static inline double stb_rng_unit(struct stb_rng *r)
{
	return (double)(stb_rng_next(r) >> 11) * 0x1.0p-53;
}

#endif
