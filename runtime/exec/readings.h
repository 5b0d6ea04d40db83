/*
 * readings.h - from readings of live counters, made whenever somebody was awake to make them, to the samples of a series, one an interval.
 *
 *   intervals   0         1         2         3         4         5        end
 *   readings               *           *                         *  *
 *   samples     |---------|---------|-----------------------------|---------|
 *
 * A reading is made after its boundary, never at it: what was counted at the boundary is taken from the readings before and behind it, as if between
 * the two everything came evenly. That is said of less than half an interval only. A boundary that no reading is that near to, as 3 and 4 above, is no end of
 * a sample: the sample goes on to the next that has one, and its length tells that nobody knows how what it counted was spread. So a series never has a burst
 * or a stall that was the watcher's own, and its samples hold exactly what was counted.
 */
#ifndef STB_READINGS_H
#define STB_READINGS_H

#include "runtime/result/measure.h"

struct stb_live_sum {
	uint64_t ops, bytes, errors; /* as in struct stb_live */
	uint64_t warm;
};

/* What had been counted when, after the start of the measure stage. */
struct stb_reading {
	struct stb_live_sum sum;
	uint64_t t_ns;
};

struct stb_readings { /* zeroed: none */
	struct stb_reading *of; /* ascending in time */
	size_t n, cap;
};

/* What had been counted at t_ns; dt_ns since the sample before. */
typedef void stb_sample_fn(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns);

struct stb_live_sum stb_phase_sum(const struct stb_phase *phase);

/* Reads the counters of a phase that is measured since since_ns (CLOCK_MONOTONIC). Allocates. */
void stb_readings_take(struct stb_readings *r, const struct stb_phase *phase, uint64_t since_ns);
/*
 * Tells the samples up to `end`, which holds all that was counted: readings behind it, or of more, are taken for it. The last sample ends there; where
 * less than half an interval is left for it, it is one with the sample before, since a rate over a few microseconds is none.
 */
void stb_readings_tell(const struct stb_readings *r, uint64_t interval_ns, const struct stb_reading *end, stb_sample_fn *tell, void *ctx);
void stb_readings_fini(struct stb_readings *r);

#endif
