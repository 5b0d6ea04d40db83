/*
 * crew.h - the connections of an OLTP repetition and the threads that serve them. Inside this room; oltp.c leads.
 *
 * Owns the connections. What oltp.c and the threads share is under `lock` or atomic, as marked.
 */
#ifndef STB_DB_CREW_H
#define STB_DB_CREW_H

#include "runtime/db/arrivals.h"
#include "runtime/db/near.h"
#include "runtime/db/session.h"
#include "runtime/db/status.h"

#include <pthread.h>

#define STB_MAX_OPENERS 64
#define STB_STOP_POLL_NS (50 * 1000000ull) /* how long anybody sleeps before looking whether to stop */

struct stb_crew_counts {
	uint64_t events, reads, writes, others, errors, reconnects, cancelled;
	uint64_t due; /* with a rate: arrivals that were taken, begun in time or not */
	struct stb_error_counts codes;
};

/* Whose a loop's figures are: a thread that hangs in a call is left there, and they are taken from it. */
enum stb_loop_hold { STB_LOOP_OWN, STB_LOOP_IN_CALL, STB_LOOP_TAKEN };

struct stb_crew;
struct stb_loop;

struct stb_conn {
	struct stb_session session;
	struct stb_near near;
	uint64_t look_ns;               /* when to look again where that runs */
	_Atomic(struct stb_loop *) loop; /* that has it now; who gives it away writes it */
	uint64_t due_ns, began_ns; /* of the event under way; the same without a rate */
	uint64_t events, busy_ns;  /* measured, for the fairness */
	uint32_t generation;       /* of the socket that is watched */
	bool waiting;              /* a statement is under way */
} STB_ALIGNED(128);

/* A thread and, to begin with, the connections first, first + n_loops, ... */
struct stb_loop {
	struct stb_crew *crew;
	struct stb_live *live;
	uint32_t first;
	int epoll; /* of many connections; open for as long as there is the crew, since others put connections in it */
	struct stb_crew_counts warm, measured;
	struct stb_hist lat;
	struct stb_hist *svc; /* with a rate */
	uint64_t end_ns;
	_Atomic bool done;    /* the figures above are final */
	_Atomic uint32_t hold; /* enum stb_loop_hold; of a loop with one connection */
	pthread_t thread;
} STB_ALIGNED(128);

struct stb_crew {
	const struct stb_oltp *o;
	struct stb_phase *phase;
	struct stb_conn *conns; /* [o->threads] */
	struct stb_loop *loops; /* [n_loops] */
	uint32_t n_loops, n_openers;
	int over; /* an eventfd in the epoll of every loop: no connection is served any more */
	int *cpus; /* [n_cpus] that may be used; loop i is that of cpus[i % n_cpus], where it has one */
	uint32_t n_cpus;
	pthread_t openers[STB_MAX_OPENERS];
	uint64_t start_ns; /* written before the barrier opens, read afterwards */
	/* so are these but in the warm-up of a mix, whose end is not known when it begins: then they lie beyond all time until it is */
	_Atomic uint64_t measure_from_ns, deadline_ns;
	/* under lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t n_ready;   /* open connections */
	uint32_t n_near;    /* of them those whose server thread can be followed */
	uint32_t n_running; /* threads */
	bool open;          /* the barrier */
	bool failed;        /* phase->err is set */
	bool stalled;       /* and says that the server gave no answer */
	/* of oltp.c alone */
	uint64_t seen_ops, seen_ns; /* the live counters' sum, and when it last changed */
	uint64_t silence_ns;
	uint64_t given_up_ns; /* when it ended without answers: what was under way went on until then; 0: it did not */
	struct stb_status status;
	/* read in the measured phase */
	_Atomic bool quit;    /* begin nothing more */
	_Atomic bool give_up; /* nor wait for answers */
	_Atomic uint32_t n_active;   /* connections of loops with many that are served, or will be */
	_Atomic uint32_t unanswered; /* connections that were given up */
	_Atomic uint32_t opened;     /* connections that an opener has taken */
	_Atomic uint32_t unique STB_ALIGNED(128);
	_Atomic uint64_t taken STB_ALIGNED(128); /* of the events */
	struct stb_arrivals arrivals STB_ALIGNED(128);
};

static inline uint64_t stb_crew_measure_from(const struct stb_crew *crew)
{
	return atomic_load_explicit(&crew->measure_from_ns, memory_order_relaxed);
}

static inline uint64_t stb_crew_deadline(const struct stb_crew *crew)
{
	return atomic_load_explicit(&crew->deadline_ns, memory_order_relaxed);
}

/* Takes the memory and what threads wait by; crew->o and phase are set, over is -1, the rest is zero. 0 or -errno; stb_crew_fini() follows either way. */
STB_NODISCARD int stb_crew_init(struct stb_crew *crew, const struct stb_oltp_setup *setup);
/*
 * Starts the threads: those that open the connections, and end, and those that serve them once the barrier is open. A failure is reported as
 * one of the crew's (failed, phase->err, quit).
 */
void stb_crew_start(struct stb_crew *crew);
/* Once the barrier is open: how the connections are served. */
struct stb_client_threads stb_crew_threads(const struct stb_crew *crew);
/*
 * Once nobody waits for answers: whether a loop's figures are final, since it has ended or hangs in a call; then they are taken from it, and what
 * it did not finish counts as cancelled. false: it is in the middle of something, for longer than that takes.
 */
bool stb_crew_take(struct stb_loop *l);
/* After all threads have ended; joins them. Also without stb_crew_init(). */
void stb_crew_fini(struct stb_crew *crew);
/* Sets failed and quit; the first failure is the one that phase->err tells. */
void stb_crew_fail(struct stb_crew *crew, const char *what);

#endif
