/*
 * ids.h - which cells have an id: a table of numbers, 8 bytes a slot, because a plan may have millions of cells.
 *
 * A slot is half of a 64-bit hash of the id's first digits and the cell's number + 1; the other half says where it lies. The cells themselves
 * are looked at only where that much agrees.
 */
#ifndef STB_PLAN_IDS_H
#define STB_PLAN_IDS_H

#include "runtime/plan/plan.h"

struct stb_plan_ids {
	uint64_t *slots;
	uint32_t n, cap;
};

void stb_plan_ids_init(struct stb_plan_ids *t);
void stb_plan_ids_fini(struct stb_plan_ids *t);
/* Room for n ids in all; it grows by itself, too, but looks at all cells each time. */
void stb_plan_ids_reserve(struct stb_plan_ids *t, const struct stb_plan_cell *cells, uint32_t n);
/* Says that the cell is going to be put in soon: a table of a million ids lies in memory, not in a cache. */
void stb_plan_ids_expect(const struct stb_plan_ids *t, const struct stb_plan_cell *cell);
enum { STB_PLAN_IDS_AHEAD = 16 }; /* a good number of cells to say it before */
/*
 * Puts in cells[index]; if a cell is there whose id begins with the same `digits` digits (16 or more), takes its place and returns it, the
 * latest of its kind. STB_NONE: there was none.
 */
uint32_t stb_plan_ids_put(struct stb_plan_ids *t, const struct stb_plan_cell *cells, uint32_t index, size_t digits);

#endif
