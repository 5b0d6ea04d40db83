/*
 * judge.h - what a workload of a repetition is worth, and what it asked for. Called by measure.c and verdict.c.
 */
#ifndef STB_JUDGE_H
#define STB_JUDGE_H

#include "runtime/exec/child.h"
#include "runtime/plan/plan.h"
#include "runtime/result/status.h"

/* A whole number or a time of a block; 0 where it has none. */
uint64_t stb_judge_u64(const struct stb_plan_block *b, const char *name);
/* How long it is to be measured: 0 where only size or events bound it. */
uint64_t stb_judge_asked_ns(const struct stb_plan_block *w, bool is_io);
/* For how long its counters may stand still: between arrivals, and in pauses. */
uint64_t stb_judge_still_ns(const struct stb_plan_block *w, bool is_io);
/* *err says why it is not valid, where it does not already. */
enum stb_status stb_judge(const struct stb_plan_block *w, bool is_io, enum stb_child_fate fate, const struct stb_measure *m, struct stb_err *err);

#endif
