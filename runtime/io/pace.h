/*
 * pace.h - when I/Os are meant to start under rate or rate_iops (open loop). One schedule a worker, all of them from one
 * instant, the common start of the stage: what a worker's own start is late counts as late. Plain data.
 *
 * An intended start does not wait for anything: what the device delays is late, and late I/Os are issued as soon as a slot is free, as many as
 * it takes to catch up (as in fio). Latency counts from the intended start, so a stall is seen by every I/O that was meant to start in it.
 *
 *   linear    the k-th I/O at start + k / rate (or the bytes before it / rate). Kept in 2^-64 ns, so that no error adds up
 *   poisson   gaps drawn from an exponential distribution with that mean, from a stream of its own
 *
 * Accounting: scheduled = issued + skipped. At the end, what was meant to start before then and has not is skipped: of linear that is exact, of
 * poisson (and of sizes that are drawn) its expected number, since drawing a long backlog could take longer than the run.
 */
#ifndef STB_IO_PACE_H
#define STB_IO_PACE_H

#include "runtime/base/rng.h"

struct stb_pace {
	bool poisson;
	unsigned __int128 gap;  /* between two units, in 2^-64 ns; a unit is an I/O or a byte */
	unsigned __int128 next; /* when the next I/O is meant to start */
	struct stb_rng rng;
	uint64_t issued;
};

/* per_s: units per second, from 0.001 to 2^50. */
void stb_pace_init(struct stb_pace *p, double per_s, bool poisson, const struct stb_rng *rng);
/* The schedule begins now: linear with an I/O, poisson with a gap (of mean_units). */
void stb_pace_start(struct stb_pace *p, uint64_t now_ns, double mean_units);
/* When the next I/O is meant to start, in ns. */
static inline uint64_t stb_pace_next(const struct stb_pace *p)
{
	return (uint64_t)(p->next >> 64);
}
/* That I/O, of so many units, is issued: on to the one after it. */
void stb_pace_take(struct stb_pace *p, uint32_t units);
/* How many I/Os of mean_units were meant to start by end_ns and were not issued. */
uint64_t stb_pace_skipped(const struct stb_pace *p, uint64_t end_ns, double mean_units);

#endif
