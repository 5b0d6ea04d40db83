/*
 * offset.c - setting generators up; the per-I/O part is inline in offset.h.
 */
#include "runtime/io/offset.h"

void stb_perm_init(struct stb_perm *p, uint64_t n, struct stb_rng *rng)
{
	const uint32_t bits = n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0;
	const uint32_t hi_bits = bits - bits / 2;

	p->n = n;
	p->lo_bits = bits / 2;
	p->lo_mask = (1ull << p->lo_bits) - 1;
	p->hi_mask = (1ull << hi_bits) - 1; /* at most 32 bits: all of F's output */
	for (uint32_t i = 0; i < STB_PERM_ROUNDS; i++)
		p->key[i] = stb_rng_next(rng);
}

void stb_offsets_init(struct stb_offsets *o, enum stb_offset_mode mode, uint64_t n_blocks, const struct stb_rng *rng)
{
	*o = (struct stb_offsets){ .mode = mode, .n = n_blocks, .rng = *rng };
	if (mode == STB_OFFSET_PERMUTED)
		stb_perm_init(&o->perm, n_blocks, &o->rng);
}
