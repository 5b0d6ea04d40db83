/*
 * custom.h - the unusual ways of a worker: what the plain loop leaves out so that it stays lean. One branch a turn leads here.
 *
 *   several block sizes (sizes.h), skewed offsets (skew.h), trims
 *   made contents: refill_buffers, buffer_compress_percentage, verify (content.h)
 *   open loop: rate, rate_iops (pace.h); thinktime
 *
 * Clocks: data is made before the start is stamped, so latency holds none of it. Under a rate `lat` counts from the intended start and `svc` from
 * just before the I/O is handed to the engine; both end at the reaped completion. (slat and clat are not told apart then: what comes before the
 * hand-over is lateness.) A pause lies between a completion and the next start, in
 * neither of them.
 *
 * Waiting for a start: asleep in the kernel (in the engine's reap while I/O is in flight, so that completions are taken at once; else in
 * clock_nanosleep, timer slack 1 ns) until SPIN_NS before it, then reading the clock. A sleep ends some 10 to 60 us late on a busy machine, which
 * latency would be charged with; the spin costs an idle job at most SPIN_NS of CPU an I/O, 3% of a CPU at 1000 I/Os a second.
 */
#ifndef STB_IO_CUSTOM_H
#define STB_IO_CUSTOM_H

#include "runtime/io/content.h"
#include "runtime/io/loop.h"
#include "runtime/io/pace.h"
#include "runtime/io/sizes.h"

struct stb_io_custom {
	/* set in prepare */
	bool several, made, paced, pace_bytes;
	double mean_units;       /* of the schedule, an I/O: 1, or its mean size in bytes */
	uint64_t think_ns;
	uint64_t first_generation; /* that of the first pass, less one */

	/* changed by the loop */
	struct stb_sizes sizes;
	struct stb_content content;
	struct stb_pace pace;
	uint64_t pass;           /* verify: passes begun; the present one, from 1 */
	uint64_t think_until;
	uint64_t last_issue_ns;
	uint64_t scheduled, skipped;
	uint64_t bytes[STB_N_DIRS]; /* of completed I/Os */
	uint64_t *issued_ns;     /* a slot each */
	uint32_t *len;           /* a slot each: what was asked for */
	struct stb_hist svc[STB_N_DIRS];
};

/* Whether the workload needs one. */
bool stb_io_custom_needed(const struct stb_io_config *c);
/*
 * Makes one for a worker whose offsets are set up already. data, sizes and arrival are streams of the worker. Freed with
 * stb_io_custom_free().
 */
struct stb_io_custom *stb_io_custom_new(const struct stb_io_worker *w, uint64_t data_seed, const struct stb_rng *sizes, const struct stb_rng *arrival);
void stb_io_custom_free(struct stb_io_custom *x);

/* The rest is for the loop. */

/* A stage begins: counters are zero, the schedule counts from since_ns, which all workers share. Generations and places go on. */
void stb_io_custom_reset(struct stb_io_custom *x);
void stb_io_custom_start(struct stb_io_custom *x, uint64_t since_ns, uint64_t now);
/* Readies all that may start now. */
void stb_io_custom_fill(struct stb_io_worker *w, uint64_t now);
/* When something may start that no completion has to come for; UINT64_MAX: never. */
uint64_t stb_io_custom_next(const struct stb_io_worker *w);
/* Sleeps until then, a tenth of a second at most. Returns the clock. */
uint64_t stb_io_custom_sleep(const struct stb_io_worker *w, uint64_t now, uint64_t until);
/* A completion with all of its bytes, at now. */
void stb_io_custom_done(struct stb_io_worker *w, uint32_t slot, uint64_t now);
/* The loop is left: what the schedule had meant to start by then is skipped. */
void stb_io_custom_close(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns);

/* scheduled = issued + skipped, and svc counts what lat does. */
void stb_io_custom_assert(const struct stb_io_worker *w);

/* Of verified content: the generation that unit (of the least size) must have; false: nothing was written there. */
bool stb_io_custom_generation(const struct stb_io_worker *w, uint64_t unit, uint64_t *generation);
/* Passes that are complete. */
uint64_t stb_io_custom_passes(const struct stb_io_worker *w);

#define STB_IO_SPIN_NS 30000u

#endif
