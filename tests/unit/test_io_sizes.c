/*
 * Several block sizes: coverage, shares, and what was covered when a pass is cut short.
 */
#include "runtime/io/sizes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct many {
	struct stb_sizes z;
	struct stb_offsets o;
};

static void make(struct many *m, enum stb_offset_mode mode, uint32_t n, const uint32_t *units, const double *share, uint64_t n_units)
{
	struct stb_rng rng;

	stb_rng_seed(&rng, 3);
	stb_offsets_init(&m->o, mode, n_units, &rng);
	stb_rng_seed(&rng, 4);
	stb_sizes_init(&m->z, n, units, share, n_units, mode == STB_OFFSET_PERMUTED, &rng);
}

/* One pass: every unit once, sizes whole and aligned. Counts I/Os by their place in units[]. */
static void one_pass(struct many *m, uint64_t n_units, uint64_t *count)
{
	unsigned char *seen = calloc(n_units, 1);
	uint64_t left = n_units;

	while (left) {
		uint32_t units, i = 0;
		const uint64_t at = stb_sizes_next(&m->z, &m->o, STB_WRITE, &units);

		cr_assert(at + units <= n_units);
		while (m->z.units[i] != units)
			i++;
		cr_assert_lt(i, m->z.n);
		count[i]++;
		cr_assert_eq(at % units, 0);
		for (uint64_t k = at; k < at + units; k++) {
			cr_assert_eq(seen[k], 0, "unit %lu twice", k);
			seen[k] = 1;
		}
		left -= units;
	}
	free(seen);
}

Test(io_sizes, a_permuted_pass_covers_once_with_exact_shares)
{
	static const uint32_t units[] = { 1, 4, 16 };
	static const double share[] = { 0.5, 0.3, 0.2 };
	static const uint64_t sizes[] = { 16, 32, 48, 16 * 17, 16 * 1000, 16 * 1009, 16 * 1024 };

	for (size_t s = 0; s < STB_LEN(sizes); s++) {
		uint64_t first[3] = { 0 };
		struct many m;

		make(&m, STB_OFFSET_PERMUTED, 3, units, share, sizes[s]);
		for (int pass = 0; pass < 3; pass++) {
			uint64_t count[3] = { 0 };

			one_pass(&m, sizes[s], count);
			cr_expect(stb_sizes_at_pass(&m.z));
			if (pass == 0)
				memcpy(first, count, sizeof(first));
			cr_expect(!memcmp(first, count, sizeof(first)), "each pass is divided alike");
		}
		if (sizes[s] >= 16000) {
			const double all = (double)(first[0] + first[1] + first[2]);

			for (int i = 0; i < 3; i++) /* within one cell of 16 units */
				cr_expect(fabs((double)first[i] - share[i] * all) <= 16, "%lu of %g", first[i], all);
		}
	}
}

Test(io_sizes, a_size_without_a_share_is_never_used)
{
	static const uint32_t units[] = { 1, 8 };
	static const double share[] = { 0, 1 };
	uint64_t count[2] = { 0 };
	struct many m;

	make(&m, STB_OFFSET_PERMUTED, 2, units, share, 8 * 31);
	one_pass(&m, 8 * 31, count);
	cr_expect_eq(count[0], 0);
	cr_expect_eq(count[1], 31);
}

Test(io_sizes, what_a_pass_has_covered_is_known_at_every_point_of_it)
{
	enum { N = 8 * 37 };
	static const uint32_t units[] = { 2, 1, 8 };
	static const double share[] = { 0.4, 0.4, 0.2 };
	unsigned char seen[N] = { 0 };
	struct many m;

	make(&m, STB_OFFSET_PERMUTED, 3, units, share, N);
	for (int pass = 0; pass < 2; pass++) {
		memset(seen, 0, sizeof(seen));
		do {
			uint32_t n;
			const uint64_t at = stb_sizes_next(&m.z, &m.o, STB_WRITE, &n);

			memset(seen + at, 1, n);
			for (uint64_t k = 0; k < N; k++)
				cr_assert_eq(stb_sizes_covered(&m.z, k), (bool)seen[k], "unit %lu", k);
		} while (!stb_sizes_at_pass(&m.z));
	}
}

Test(io_sizes, draws_have_their_shares)
{
	static const enum stb_offset_mode modes[] = { STB_OFFSET_SEQUENTIAL, STB_OFFSET_UNIFORM };
	static const uint32_t units[] = { 1, 16 };
	static const double share[] = { 0.7, 0.3 };
	enum { DRAWS = 100000, N = 1 << 20 };

	for (size_t s = 0; s < STB_LEN(modes); s++) {
		struct many m;
		int small = 0;
		uint64_t expect = 0;

		make(&m, modes[s], 2, units, share, N);
		for (int i = 0; i < DRAWS; i++) {
			uint32_t n;
			const uint64_t at = stb_sizes_next(&m.z, &m.o, STB_READ, &n);

			cr_assert(at + n <= N);
			small += n == 1;
			if (modes[s] == STB_OFFSET_SEQUENTIAL) {
				cr_assert_eq(at, expect);
				expect = at + n == N ? 0 : at + n;
			}
		}
		cr_expect(fabs((double)small / DRAWS - 0.7) < 0.01, "%d", small);
	}
}

/* The way back of the permutation, for the sizes where cycle walking and odd numbers of bits matter. */
Test(io_sizes, permutations_can_be_undone)
{
	struct stb_perm p;
	struct stb_rng rng;

	stb_rng_seed(&rng, 11);
	for (uint64_t n = 1; n <= 130; n++) {
		stb_perm_init(&p, n, &rng);
		for (uint64_t i = 0; i < n; i++)
			cr_assert_eq(stb_perm_index(&p, stb_perm_at(&p, i)), i);
	}
	for (int k = 10; k < 63; k++) {
		for (int d = -1; d <= 1; d++) {
			stb_perm_init(&p, (1ull << k) + (uint64_t)d, &rng);
			for (int j = 0; j < 50; j++) {
				const uint64_t i = stb_rng_below(&rng, p.n);

				cr_assert_eq(stb_perm_index(&p, stb_perm_at(&p, i)), i);
			}
		}
	}
}
