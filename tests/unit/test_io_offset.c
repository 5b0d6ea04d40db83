/*
 * Offsets: a permutation is one, and each mode covers what it promises.
 */
#include "runtime/io/offset.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void each_value_once(uint64_t n, uint64_t seed)
{
	unsigned char *seen = calloc(n, 1);
	struct stb_perm p;
	struct stb_rng rng;

	stb_rng_seed(&rng, seed);
	stb_perm_init(&p, n, &rng);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t v = stb_perm_at(&p, i);

		cr_assert_lt(v, n, "perm(%lu) = %lu of %lu", i, v, n);
		cr_assert_eq(seen[v], 0, "value %lu twice, n %lu seed %lu", v, n, seed);
		seen[v] = 1;
	}
	free(seen);
}

Test(io_offset, permutation_hits_every_block_once)
{
	for (uint64_t n = 1; n <= 300; n++)
		each_value_once(n, n * 7);
	for (uint64_t seed = 0; seed < 20; seed++)
		each_value_once(17, seed);
	each_value_once(65535, 1);
	each_value_once(65536, 2);
	each_value_once(65537, 3);
	each_value_once(262144, 4);
	each_value_once(1000003, 5);
}

Test(io_offset, permutation_stays_in_huge_domains)
{
	static const uint64_t sizes[] = { (1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1, (1ull << 51) + 12345, 1ull << 62, (1ull << 62) + 1 };
	struct stb_perm p;
	struct stb_rng rng;

	stb_rng_seed(&rng, 1);
	for (size_t k = 0; k < STB_LEN(sizes); k++) {
		stb_perm_init(&p, sizes[k], &rng);
		for (uint64_t i = 0; i < 1000; i++) {
			cr_assert_lt(stb_perm_at(&p, i), sizes[k]);
			cr_assert_lt(stb_perm_at(&p, sizes[k] - 1 - i), sizes[k]);
		}
	}
}

Test(io_offset, passes_differ_and_each_covers_all)
{
	enum { N = 1000 };
	struct stb_offsets o;
	struct stb_rng rng;
	uint64_t first[N];
	int same = 0;

	stb_rng_seed(&rng, 9);
	stb_offsets_init(&o, STB_OFFSET_PERMUTED, N, &rng);
	for (int pass = 0; pass < 3; pass++) {
		unsigned char seen[N] = { 0 };

		for (int i = 0; i < N; i++) {
			const uint64_t v = stb_offsets_next(&o, STB_WRITE);

			cr_assert_lt(v, N);
			cr_assert_eq(seen[v], 0);
			seen[v] = 1;
			if (pass == 0)
				first[i] = v;
			else
				same += first[i] == v;
		}
	}
	cr_expect_lt(same, 30, "two passes in the same order");
}

/* Not in order: neighbours in time are hardly ever neighbours in place. */
Test(io_offset, permutation_scatters)
{
	struct stb_perm p;
	struct stb_rng rng;
	int near = 0;

	stb_rng_seed(&rng, 3);
	stb_perm_init(&p, 1 << 20, &rng);
	for (uint64_t i = 0; i + 1 < 100000; i++) {
		const int64_t d = (int64_t)stb_perm_at(&p, i) - (int64_t)stb_perm_at(&p, i + 1);

		near += d > -16 && d < 16;
	}
	cr_expect_lt(near, 30);
}

Test(io_offset, sequential_wraps_per_direction)
{
	struct stb_offsets o;
	struct stb_rng rng;

	stb_rng_seed(&rng, 1);
	stb_offsets_init(&o, STB_OFFSET_SEQUENTIAL, 3, &rng);
	cr_expect_eq(stb_offsets_next(&o, STB_READ), 0);
	cr_expect_eq(stb_offsets_next(&o, STB_READ), 1);
	cr_expect_eq(stb_offsets_next(&o, STB_WRITE), 0);
	cr_expect_eq(stb_offsets_next(&o, STB_READ), 2);
	cr_expect_eq(stb_offsets_next(&o, STB_READ), 0);
	cr_expect_eq(stb_offsets_next(&o, STB_WRITE), 1);
}

Test(io_offset, uniform_stays_inside_and_repeats)
{
	struct stb_offsets o;
	struct stb_rng rng;
	unsigned count[64] = { 0 };

	stb_rng_seed(&rng, 1);
	stb_offsets_init(&o, STB_OFFSET_UNIFORM, 64, &rng);
	for (int i = 0; i < 64000; i++)
		count[stb_offsets_next(&o, STB_READ)]++;
	for (int i = 0; i < 64; i++)
		cr_expect(count[i] > 800 && count[i] < 1200, "block %d: %u of 1000", i, count[i]);
}
