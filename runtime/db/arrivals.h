/*
 * arrivals.h - when the transactions of an open loop are to begin: a Poisson process, whatever the server makes of it.
 *
 * One stream for all workers: a worker that is free takes the next arrival and waits for it, or begins at once if it is due already. That is
 * one queue before many servers, as in sysbench, but without a thread that fills it, without an end of the queue, and with the intended
 * time of each arrival kept, so that nothing that delays a start can hide from the latency.
 */
#ifndef STB_DB_ARRIVALS_H
#define STB_DB_ARRIVALS_H

#include "runtime/base/rng.h"

#include <pthread.h>

struct stb_arrivals {
	pthread_mutex_t lock;
	struct stb_rng rng;
	double mean_ns, offset_ns; /* between arrivals; of the last one from start_ns */
	uint64_t start_ns;
};

/* rng is the caller's stream, and copied. Before any worker asks. */
void stb_arrivals_init(struct stb_arrivals *a, double rate, const struct stb_rng *rng);
void stb_arrivals_start(struct stb_arrivals *a, uint64_t start_ns);
void stb_arrivals_fini(struct stb_arrivals *a);
/* The instant of the next arrival; each is given out once, in order. */
uint64_t stb_arrivals_next(struct stb_arrivals *a);

#endif
