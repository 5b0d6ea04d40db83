/*
 * repetition.h - one repetition of one cell, shared by the files that carry it out; nobody else includes it.
 *
 *   measure.c   sets it up, runs its children
 *   live.c      what is seen of them: the series, the live figures
 *   verdict.c   what it is worth, of what its workloads are
 *   figures.c   its rows, its record, what is said of it
 */
#ifndef STB_REPETITION_H
#define STB_REPETITION_H

#include "runtime/exec/mix.h"
#include "runtime/exec/run.h"
#include "runtime/io/io.h"

/* A workload of the repetition with all that is seen of it: the cell's own, or a member of its mix. */
struct stb_work {
	struct stb_run *run;
	struct stb_repetition *of;       /* NULL: it is no repetition, but a fill or a load */
	const struct stb_plan_block *workload;
	uint32_t member;                 /* STB_NONE: the cell's own */
	uint32_t group;
	bool is_io;
	struct stb_io_setup io;
	struct stb_oltp_setup oltp;
	struct stb_child_job job;
	struct stb_phase *phase;
	char stat_file[STB_BLOCKSTAT_PATH];
	/* what is seen of it */
	struct stb_live_sum total;       /* of all samples so far */
	uint64_t sampled_ns;             /* up to where they reach */
	struct stb_live_sum shown;       /* at the last tick */
	uint64_t shown_at;
	uint32_t shown_stage;
	char figure[32];
};

struct stb_repetition {
	uint32_t cell, slot, number;
	const char *label;
	struct stb_work works[STB_MAX_MEMBERS];
	uint32_t n;
	struct stb_buf series;
	struct stb_replica_watch *replicas; /* NULL: there are none */
	double lag_s;                       /* the greatest that was seen; negative: none was */
	uint64_t lag_ns;                    /* up to where it stands in the series */
};

/* What the children came to. */
struct stb_outcome {
	struct stb_mix_member members[STB_MAX_MEMBERS];
	uint32_t culprit;        /* who failed first; STB_NONE: nobody */
	enum stb_status status;
	struct stb_err err;      /* why it is not valid */
	uint32_t blamed;         /* whose status it is; STB_NONE: that of all */
};

/* live.c: calls of struct stb_child_job, whose ctx is a struct stb_work */
void stb_live_sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns);
void stb_live_tick(void *ctx, const struct stb_phase *phase);

/* verdict.c: status, reason and whose they are. */
void stb_repetition_judge(struct stb_run *run, const struct stb_repetition *r, struct stb_outcome *o);

/* figures.c */
void stb_repetition_record(struct stb_run *run, struct stb_repetition *r, struct stb_outcome *o);
/* One that could not even begin: nothing was measured, so there is no row; the journal tells of it. */
void stb_repetition_record_unrun(struct stb_run *run, const struct stb_repetition *r, const char *why);

#endif
