/*
 * mix.h - the workloads of a mix, at the same time. Called by measure.c.
 */
#ifndef STB_MIX_H
#define STB_MIX_H

#include "runtime/exec/child.h"

struct stb_mix_member {
	const struct stb_child_job *job;
	struct stb_phase *phase;
	uint64_t warm_ns;   /* its ramp_time or warmup_time */
	/* what came of it */
	enum stb_child_fate fate;
	struct stb_err err;
};

/* Runs them from set-up to the last end. settles: some member has steady_state. The member that failed first, and with it the mix; STB_NONE: none. */
uint32_t stb_mix_run(struct stb_mix_member *members, uint32_t n, bool settles);

#endif
