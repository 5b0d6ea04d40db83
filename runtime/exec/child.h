/*
 * child.h - a measured phase in a forked child, watched from here; of a mix several at once, each in one of its own.
 *
 *   parent (one thread)                          child
 *     maps struct stb_phase, shared  --fork-->   own process group, dies with the parent
 *     poll: pidfd, signals, next deadline        job->run(setup, phase): threads, counters, histograms
 *     reads live counters, samples               _exit
 *     says stop, then kills by pid
 *
 * Counting in shared memory means that nothing is lost when the child dies, and that a broken engine or client library takes one
 * repetition with it and not the run. A thread would be cheaper to start, but could be neither killed nor outlived.
 */
#ifndef STB_CHILD_H
#define STB_CHILD_H

#include "runtime/exec/readings.h"
#include "runtime/exec/signals.h"

#include <sys/types.h>

enum stb_child_fate {
	STB_CHILD_DONE,        /* ended by itself and called it good */
	STB_CHILD_FAILED,      /* ended by itself with an error */
	STB_CHILD_DIED,        /* killed by a signal that was not ours */
	STB_CHILD_HUNG,        /* beyond its limit, or nothing moved for too long */
	STB_CHILD_ABANDONED,   /* what it works on is gone (job->watch said so) */
	STB_CHILD_INTERRUPTED, /* a signal, or stb_child_stop(), asked it to stop; what was counted so far stands */
};

struct stb_child_job {
	int (*run)(const void *setup, struct stb_phase *phase); /* in the child; -1 with phase->err */
	const void *setup;
	struct stb_signals *signals;
	uint64_t limit_ns;     /* greatest length of warm-up, settling and measure, each; 0: none */
	uint64_t still_ns;     /* greatest time in which no counter moves; 0: none */
	uint64_t grace_ns;     /* beyond a limit, and between stop and kill */
	uint64_t interval_ns;  /* of samples; 0: none */
	uint64_t tick_ns;      /* of progress */
	void *ctx;
	/*
	 * The samples of the measure stage (readings.h). Called after the child has ended, in order: only then is it known where its window ended and
	 * what it counted there, so that the samples together hold exactly that. Where the child left no window that is the end of the
	 * drain, or of the child: a stall is in it.
	 */
	stb_sample_fn *sample;
	void (*tick)(void *ctx, const struct stb_phase *phase);  /* may be NULL */
	bool (*watch)(void *ctx, struct stb_err *err);           /* false: give up; may be NULL */
};

/* Shared memory for a phase with n_workers; histograms are empty. NULL with *err. */
STB_NODISCARD struct stb_phase *stb_phase_map(uint32_t n_workers, struct stb_err *err);
void stb_phase_unmap(struct stb_phase *phase);

/* Forks, watches until the child has ended and is waited for. *err says why where the fate is neither DONE nor INTERRUPTED. */
enum stb_child_fate stb_child_run(const struct stb_child_job *job, struct stb_phase *phase, struct stb_err *err);

/*
 * The same in pieces, for several children at a time. Each that was started has to be ended; one stays where stb_child_end() is not reached
 * for it, until the parent ends.
 */
struct stb_child;

/* Forks. NULL with *err. */
STB_NODISCARD struct stb_child *stb_child_start(const struct stb_child_job *job, struct stb_phase *phase, struct stb_err *err);
/* Sleeps until something is to be done for one of them, until_ns (CLOCK_MONOTONIC) at the latest, and does it. */
void stb_children_step(struct stb_child *const *children, uint32_t n, uint64_t until_ns);
bool stb_child_lives(const struct stb_child *c);
/* Whether it was asked to stop already, by whomever. */
bool stb_child_stopped(const struct stb_child *c);
/* It waits for others: how long, and without a counter that moves, is not its own doing. What it does next has all of its time again. */
void stb_child_hold(struct stb_child *c, bool waits);
/* Asks it to finish, though nothing is wrong with it. */
void stb_child_stop(struct stb_child *c);
/* Of one that lives no more: tells its samples, frees it. *err as in stb_child_run(). */
enum stb_child_fate stb_child_end(struct stb_child *c, struct stb_err *err);

#endif
