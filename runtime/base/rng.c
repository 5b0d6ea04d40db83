/*
 * rng.c - seeding of random streams.
 */
#include "runtime/base/rng.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15ull);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

/* splitmix64 is a bijection of its state, so four outputs in a row are never all zero: a legal state of the generator. */
void stb_rng_seed(struct stb_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix64(&seed);
}

void stb_rng_stream(struct stb_rng *r, uint64_t seed, uint64_t cell, uint32_t repetition, uint32_t worker,
	enum stb_rng_purpose purpose)
{
	const uint64_t parts[] = { cell, repetition, worker, (uint64_t)purpose };
	uint64_t state = seed;

	/* Each part passes through the mixer before the next joins, so (1, 2) and (2, 1) part ways. */
	for (size_t i = 0; i < STB_LEN(parts); i++)
		state = splitmix64(&state) ^ parts[i];
	stb_rng_seed(r, splitmix64(&state));
}
