/*
 * remaining.h - the steps of a run that are still to be carried out: those of the plan without the repetitions that are there already.
 *
 * A `stb run` has everything to do; `stb resume` what its earlier sessions did not get done, `stb run --reuse` what no other run has done.
 */
#ifndef STB_REMAINING_H
#define STB_REMAINING_H

#include "runtime/plan/plan.h"

struct stb_done_key {
	uint32_t cell; /* the first of equal ones */
	uint32_t slot, repetition; /* 1-based */
};

struct stb_done { /* a set; zero is the empty one */
	struct stb_done_key *keys;
	size_t n, cap;
	bool sorted;
};

void stb_done_add(struct stb_done *d, uint32_t cell, uint32_t slot, uint32_t repetition);
bool stb_done_has(struct stb_done *d, uint32_t cell, uint32_t slot, uint32_t repetition);
void stb_done_fini(struct stb_done *d);

struct stb_remaining; /* iterator */

/* keep: as for stb_steps_new(). done is borrowed; NULL: nothing is done, and the steps are those of the plan. */
struct stb_remaining *stb_remaining_new(const struct stb_plan *p, const uint8_t *keep, struct stb_done *done);
bool stb_remaining_next(struct stb_remaining *t, struct stb_step *out);
void stb_remaining_free(struct stb_remaining *t);

#endif
