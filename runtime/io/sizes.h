/*
 * sizes.h - several block sizes in one workload: which size the next I/O has, and where it goes. One generator a worker.
 *
 * All sizes are multiples of the least one, the unit in which places are counted here. bs_percent is by number of I/Os, as in fio.
 *
 *   sequential        the size is drawn; what is left of the region cuts the last I/O
 *   uniform, skewed   the size is drawn; the place is any unit from which it fits (a skewed one that is too far back moves up to there)
 *   permuted          a pass is a tiling of the region that is drawn anew each time, below; the shares are exact
 *
 * Exactly-once coverage with several sizes. fio keeps a map and cuts an I/O to the free run that it finds, so late in a pass its sizes are not
 * those that were asked for. Here each size divides the greatest one, and the region is a row of cells of the greatest size. Each cell is
 * filled with one size; how many cells a size gets follows from its share by largest remainder. Two permutations (offset.h) then say everything:
 *
 *      i-th I/O of the pass -> order(i) = a number below all I/Os -> its size, and the k-th I/O of that size
 *                           -> the k / per_cell-th cell of that size -> place(cell) in the region, and the k % per_cell-th part of it
 *
 * So every unit is touched once, by I/Os of their full size in random order all over the region, and there is no map. The price is that shares
 * hold to within one cell, and that each pass has the same number of cells a size. Both steps can be undone, which tells verify whether the
 * pass that was going on at the end came by a unit (stb_sizes_covered).
 */
#ifndef STB_IO_SIZES_H
#define STB_IO_SIZES_H

#include "runtime/io/offset.h"

#define STB_SIZES 64

struct stb_sizes {
	uint32_t n;
	uint32_t units[STB_SIZES];   /* by the least size */
	double below[STB_SIZES];     /* a draw below it is of this size or one before */
	struct stb_rng rng;          /* draws sizes */
	/* permuted */
	uint64_t cells, per_pass;    /* cells of the region; I/Os of a pass */
	uint64_t first_cell[STB_SIZES + 1], first_io[STB_SIZES + 1];
	uint32_t per_cell[STB_SIZES], cell_units;
	struct stb_perm order, place;
	uint64_t next;
};

/*
 * n sizes in units, the least of them 1, and their shares, which add up to 1. With `permuted` each divides the greatest and that divides n_units.
 * *rng draws sizes from now on, and the keys.
 */
void stb_sizes_init(struct stb_sizes *z, uint32_t n, const uint32_t *units, const double *share, uint64_t n_units, bool permuted,
	const struct stb_rng *rng);

/* The next I/O: returns the unit it begins at, and its length in *units. o is of n_units blocks, of the mode that the sizes were made for. */
uint64_t stb_sizes_next(struct stb_sizes *z, struct stb_offsets *o, enum stb_dir dir, uint32_t *units);

/* Permuted: whether no I/O of the present pass was drawn yet (or the one before is complete). */
static inline bool stb_sizes_at_pass(const struct stb_sizes *z)
{
	return z->next == 0 || z->next == z->per_pass;
}

/* Permuted: whether the present pass has drawn the I/O that covers the unit. */
bool stb_sizes_covered(const struct stb_sizes *z, uint64_t unit);

#endif
