/*
 * needs.h - what a run needs of the machine, one by one, judged before anything is touched.
 *
 * One walk with two users: `stb run` stops at the first that is lacking, `stb doctor` lists them all. So the two cannot disagree.
 */
#ifndef STB_NEEDS_H
#define STB_NEEDS_H

#include "runtime/exec/run.h"

struct stb_need {
	const char *what;          /* "workload w", "storage disk" */
	const char *need;          /* "ioengine io_uring", "mkfs.xfs" */
	const char *have;          /* what there is, where it is known; else NULL */
	bool asked;                /* false: nobody looked, since that would connect somewhere */
	const struct stb_err *err; /* .set: it is lacking; why, what to do, and the spec line */
};

/* Anything but 0 ends the walk. The texts are valid during the call. */
typedef int stb_need_fn(void *ctx, const struct stb_need *need);

/* connect: external databases are asked. 0, or what fn said. Touches nothing. */
int stb_run_needs(struct stb_run *run, bool connect, stb_need_fn *fn, void *ctx);

#endif
