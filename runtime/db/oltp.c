/*
 * oltp.c - one repetition of an OLTP workload: workers, their limits and what they count.
 *
 *   main     connect all | barrier | WARMUP ......... | MEASURE .................. | DRAIN ... | sum up
 *   worker                         | event event ... event ... event event event ... end
 *                                                    ^ measure_from                ^ deadline
 *
 * - One thread and one connection a worker. Both instants are fixed when the barrier opens; a worker compares them with the clock that it
 *   reads once an event, so nothing has to be switched and nobody is told anything. An event that spans an instant counts where it ends.
 * - The time limit is looked at before an event; an event under way ends and counts, and the window ends with the last of them (as
 *   sysbench counts). A limit on events is one shared counter, taken from before an event; warm-up takes nothing from it.
 * - Latency is from the end of the worker's event before to the end of this one, tries again included: one clock read an event.
 * - With a rate (an open loop) an event begins when it arrives (arrivals.h), or as soon after as a worker is free. Latency is then from the
 *   arrival, service time (svc) from the start. What has arrived and was not begun when the time is over is not begun: rate_achieved tells.
 * - Workers share no written cache line but that counter. Everything is allocated before the barrier.
 * - The main thread waits with deadlines and never on a worker: when the server stalls, it says so after GRACE_NS and returns, with the threads
 *   still in their calls. The process that called is expected to end then; what such a thread uses is left allocated. The workers' connections
 *   have no read timeout of their own (the library would set up a timer for every read, 5% of a point select); a server that falls silent
 *   in the middle is noticed by the main thread, from the live counters.
 */
#include "runtime/base/clock.h"
#include "runtime/db/arrivals.h"
#include "runtime/db/session.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define GRACE_NS (10 * STB_NS_PER_S)      /* beyond the time limit, or after stop */
#define STOP_POLL_NS (50 * 1000000ull)
#define CONNECT_TIMEOUT_S 20
#define SILENCE_NS (300 * STB_NS_PER_S)   /* without the end of any event: far above lock wait timeouts */
#define SILENCE_ARRIVALS 30               /* nor, at a low rate, for the time of so many arrivals */
#define SETUP_TIMEOUT_NS (120 * STB_NS_PER_S)
#define STACK_BYTES (256 * 1024)
#define STALL_REMEDY "look at the server's error log and at the storage below it"

struct counts {
	uint64_t events, reads, writes, others, errors, reconnects, cancelled;
	uint64_t busy_ns; /* in events */
	uint64_t due;     /* with a rate: arrivals that the worker took, begun in time or not */
	struct stb_error_counts codes;
};

struct run;

struct worker {
	struct run *run;
	struct stb_session session;
	struct stb_live *live;
	struct counts warm, measured;
	struct stb_hist lat;
	struct stb_hist *svc; /* with a rate */
	uint64_t end_ns;
	_Atomic bool done; /* counters are final */
	pthread_t thread;
} STB_ALIGNED(128);

struct run {
	const struct stb_oltp *o;
	struct stb_phase *phase;
	/* written before the barrier opens, read afterwards */
	uint64_t start_ns, measure_from_ns, deadline_ns;
	uint64_t silence_ns;
	/* under lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t n_ready, n_running;
	bool open;      /* the barrier */
	bool failed;    /* phase->err is set */
	bool stalled;   /* and says that the server gave no answer */
	uint64_t seen_ops, seen_ns; /* the live counters' sum, and when it last changed */
	/* read in the measured phase */
	_Atomic bool quit;
	_Atomic uint32_t unique STB_ALIGNED(128);
	_Atomic uint64_t taken STB_ALIGNED(128); /* of the events */
	struct stb_arrivals arrivals STB_ALIGNED(128);
};

static void report_failure(struct run *run, const char *what)
{
	pthread_mutex_lock(&run->lock);
	if (!run->failed)
		stb_err_set(&run->phase->err, 0, "the OLTP workload was stopped: %s", what);
	run->failed = true;
	atomic_store(&run->quit, true);
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
}

/* --- worker -------------------------------------------------------------------------------------------------------------------------- */

static bool take_event(struct run *run)
{
	return run->o->events == UINT64_MAX ||
		atomic_fetch_add_explicit(&run->taken, 1, memory_order_relaxed) < run->o->events;
}

/* Adds the event's counters to a set and shows the set. */
static void account(struct worker *w, struct counts *set)
{
	struct stb_session *s = &w->session;

	set->reads += s->read_count;
	set->writes += s->write_count;
	set->others += s->other_count;
	set->errors += s->error_count;
	set->reconnects += s->reconnect_count;
	if (s->error_count > 0) {
		for (uint32_t i = 0; i < s->errors.n; i++)
			stb_error_counts_add(&set->codes, s->errors.of[i].code, s->errors.of[i].count);
		s->errors.n = 0;
	}
	s->read_count = s->write_count = s->other_count = s->error_count = s->reconnect_count = 0;
	if (set == &w->warm) { /* a slow event of the warm-up ends when others count already */
		atomic_store_explicit(&w->live->warm, set->events + set->errors, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&w->live->ops, set->events, memory_order_relaxed);
	atomic_store_explicit(&w->live->bytes, set->reads + set->writes + set->others, memory_order_relaxed);
	atomic_store_explicit(&w->live->errors, set->errors, memory_order_relaxed);
}

/* Counts an event that was due at `due`, began at `began` (the same without a rate) and ended at `now`. false: it ends the run. */
static bool settle(struct worker *w, enum stb_event r, uint64_t due, uint64_t began, uint64_t now)
{
	struct run *run = w->run;
	bool measured = now >= run->measure_from_ns;

	if (measured && due < run->measure_from_ns)
		measured = take_event(run); /* spans the border: counts here if there is room */
	struct counts *set = measured ? &w->measured : &w->warm;

	if (r == STB_EVENT_DONE)
		set->events++;
	else
		set->cancelled++;
	set->busy_ns += now - began;
	if (r == STB_EVENT_DONE && measured) {
		stb_hist_add(&w->lat, now - due);
		if (w->svc)
			stb_hist_add(w->svc, now - began);
	}
	account(w, set);
	if (r != STB_EVENT_FAILED)
		return true;
	report_failure(run, w->session.failure);
	return false;
}

static bool quitting(const struct run *run)
{
	return atomic_load_explicit(&run->quit, memory_order_relaxed);
}

/* Returns the end of the last event. */
static uint64_t work(struct worker *w)
{
	struct run *run = w->run;
	uint64_t now = stb_clock_ns();

	while (!quitting(run) && now < run->deadline_ns) {
		const uint64_t began = now;

		if (began >= run->measure_from_ns && !take_event(run))
			break;
		const enum stb_event r = stb_session_event(&w->session);

		now = stb_clock_ns();
		if (!settle(w, r, began, began, now))
			break;
	}
	return now;
}

/* In steps, so that a stop is noticed; the time it is then. */
static uint64_t sleep_until(const struct run *run, uint64_t at_ns)
{
	uint64_t now = stb_clock_ns();

	while (now < at_ns && !quitting(run)) {
		(void)stb_clock_sleep_until(STB_MIN(at_ns, now + STOP_POLL_NS));
		now = stb_clock_ns();
	}
	return now;
}

static uint64_t work_at_rate(struct worker *w)
{
	struct run *run = w->run;
	uint64_t end_ns = run->start_ns;

	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* of this thread: else each start would be up to 50 us late */
	while (!quitting(run)) {
		const uint64_t due = stb_arrivals_next(&run->arrivals);
		const bool measured = due >= run->measure_from_ns;

		if (measured && due < run->deadline_ns && !take_event(run))
			break;
		w->measured.due += measured && due < run->deadline_ns;
		const uint64_t began = sleep_until(run, STB_MIN(due, run->deadline_ns));

		if (began < due || began >= run->deadline_ns) { /* stopped, or time is over */
			if (measured && due < run->deadline_ns)
				atomic_fetch_sub(&run->taken, 1);
			end_ns = STB_MAX(end_ns, began);
			break;
		}
		const enum stb_event r = stb_session_event(&w->session);

		end_ns = stb_clock_ns();
		if (!settle(w, r, due, began, end_ns))
			break;
	}
	return end_ns;
}

/* What a script holds back until the end belongs to the events that are counted. */
static uint64_t finish(struct worker *w, uint64_t end_ns)
{
	const enum stb_event r = stb_session_finish(&w->session);

	if (w->session.write_count + w->session.error_count == 0 && r == STB_EVENT_DONE)
		return end_ns;
	end_ns = stb_clock_ns();
	account(w, end_ns >= w->run->measure_from_ns ? &w->measured : &w->warm);
	if (r == STB_EVENT_FAILED)
		report_failure(w->run, w->session.failure);
	return end_ns;
}

static bool wait_for_barrier(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	run->n_ready++;
	pthread_cond_broadcast(&run->changed);
	while (!run->open && !atomic_load(&run->quit))
		pthread_cond_wait(&run->changed, &run->lock);
	const bool go = run->open;

	pthread_mutex_unlock(&run->lock);
	return go;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct run *run = w->run;

	stb_client_thread_begin();
	if (stb_session_open(&w->session))
		report_failure(run, w->session.failure);
	else if (wait_for_barrier(run))
		w->end_ns = finish(w, run->o->rate > 0 ? work_at_rate(w) : work(w));
	atomic_store_explicit(&w->done, true, memory_order_release);
	pthread_mutex_lock(&run->lock);
	run->n_running--;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	/* Closing sends one message a statement: outside the window, and after the counters are final. */
	stb_session_close(&w->session);
	stb_client_thread_end();
	return NULL;
}

/* --- set-up -------------------------------------------------------------------------------------------------------------------------- */

static struct worker *make_workers(struct run *run, const struct stb_oltp_setup *setup)
{
	const struct stb_oltp *o = run->o;
	struct worker *workers = aligned_alloc(128, sizeof(struct worker) * o->threads);

	if (!workers)
		return NULL;
	memset(workers, 0, sizeof(struct worker) * o->threads);
	for (uint32_t i = 0; i < o->threads; i++) {
		struct worker *w = &workers[i];

		w->run = run;
		w->live = &run->phase->live[i];
		stb_hist_init(&w->lat);
		if (o->rate > 0) {
			w->svc = stb_xmalloc(sizeof(*w->svc));
			stb_hist_init(w->svc);
		}
		w->session.o = o;
		w->session.addr = &setup->addr;
		w->session.limits = (struct stb_client_limits){.connect_timeout_s = CONNECT_TIMEOUT_S};
		w->session.quit = &run->quit;
		w->session.worker = i;
		w->session.unique = o->data.auto_inc ? NULL : &run->unique;
		stb_rng_stream(&w->session.rng, setup->seed, setup->cell, setup->repetition, i, STB_RNG_KEYS);
	}
	return workers;
}

static void free_workers(const struct run *run, struct worker *workers)
{
	for (uint32_t i = 0; workers && i < run->o->threads; i++)
		free(workers[i].svc);
	free(workers);
}

static int start_workers(struct run *run, struct worker *workers, uint32_t *n_started)
{
	pthread_attr_t attr;
	int r = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (*n_started = 0; *n_started < run->o->threads && r == 0; *n_started += r == 0) {
		pthread_mutex_lock(&run->lock);
		run->n_running++;
		pthread_mutex_unlock(&run->lock);
		r = pthread_create(&workers[*n_started].thread, &attr, worker_main, &workers[*n_started]);
		if (r) {
			pthread_mutex_lock(&run->lock);
			run->n_running--;
			pthread_mutex_unlock(&run->lock);
		}
	}
	pthread_attr_destroy(&attr);
	if (r) {
		char what[128];

		snprintf(what, sizeof(what), "thread %u of %u cannot be started: %s", *n_started + 1, run->o->threads, strerror(r));
		report_failure(run, what);
		stb_err_remedy(&run->phase->err, "use fewer threads, or raise the limit on processes (ulimit -u, the container's pids limit)");
		return -1;
	}
	return 0;
}

/* --- the main thread ----------------------------------------------------------------------------------------------------------------- */

static void set_stage(struct stb_phase *phase, enum stb_stage stage, uint64_t since_ns)
{
	atomic_store(&phase->stage_since_ns, since_ns);
	atomic_store(&phase->stage, (uint32_t)stage);
}

/* Ends the run when no event has ended for silence_ns. Holds the lock. */
static void watch_silence(struct run *run, uint64_t now_ns)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; run->open && i < run->o->threads; i++)
		ops += atomic_load_explicit(&run->phase->live[i].warm, memory_order_relaxed) +
			atomic_load_explicit(&run->phase->live[i].ops, memory_order_relaxed) +
			atomic_load_explicit(&run->phase->live[i].errors, memory_order_relaxed);
	if (run->seen_ns == 0 || !run->open || ops != run->seen_ops) {
		run->seen_ops = ops;
		run->seen_ns = now_ns;
	}
	if (now_ns - run->seen_ns <= run->silence_ns || run->failed)
		return;
	run->failed = run->stalled = true;
	atomic_store(&run->quit, true);
	stb_err_set(&run->phase->err, 0, "the server stalled: no transaction ended for %llu s",
		(unsigned long long)(run->silence_ns / STB_NS_PER_S));
	stb_err_remedy(&run->phase->err, STALL_REMEDY);
}

/*
 * Waits until at_ns, passing the parent's stop on; ends early when a worker failed, was asked to quit, or all of them are done or ready
 * (ready_count > 0). Holds the lock.
 */
static void wait_until(struct run *run, uint64_t at_ns, uint32_t ready_count)
{
	for (;;) {
		const uint64_t now = stb_clock_ns();

		watch_silence(run, now);
		if (atomic_load(&run->phase->stop))
			atomic_store(&run->quit, true);
		if (now >= at_ns || run->n_running == 0 || atomic_load(&run->quit) || (ready_count && run->n_ready >= ready_count))
			return;
		const uint64_t next = STB_MIN(at_ns, now + STOP_POLL_NS);
		const struct timespec ts = {.tv_sec = (time_t)(next / STB_NS_PER_S), .tv_nsec = (long)(next % STB_NS_PER_S)};

		pthread_cond_timedwait(&run->changed, &run->lock, &ts);
	}
}

/* The same, but quitting does not end it. Holds the lock. */
static void wait_for_end(struct run *run, uint64_t at_ns)
{
	while (run->n_running > 0) {
		const uint64_t now = stb_clock_ns();

		if (now >= at_ns)
			return;
		const uint64_t next = STB_MIN(at_ns, now + STOP_POLL_NS);
		const struct timespec ts = {.tv_sec = (time_t)(next / STB_NS_PER_S), .tv_nsec = (long)(next % STB_NS_PER_S)};

		pthread_cond_timedwait(&run->changed, &run->lock, &ts);
	}
}

static uint64_t add_ns(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void open_barrier(struct run *run)
{
	run->start_ns = stb_clock_ns();
	run->measure_from_ns = add_ns(run->start_ns, run->o->warmup_ns);
	run->deadline_ns = add_ns(run->measure_from_ns, run->o->time_ns);
	stb_arrivals_start(&run->arrivals, run->start_ns);
	set_stage(run->phase, run->o->warmup_ns ? STB_STAGE_WARMUP : STB_STAGE_MEASURE, run->start_ns);
	run->open = true;
	pthread_cond_broadcast(&run->changed);
}

struct usage {
	uint64_t user_ns, sys_ns, alloc_calls;
};

static struct usage take_usage(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (struct usage){
		.user_ns = (uint64_t)ru.ru_utime.tv_sec * STB_NS_PER_S + (uint64_t)ru.ru_utime.tv_usec * 1000,
		.sys_ns = (uint64_t)ru.ru_stime.tv_sec * STB_NS_PER_S + (uint64_t)ru.ru_stime.tv_usec * 1000,
		.alloc_calls = stb_alloc_count(),
	};
}

/* Steers a run from the barrier to the last worker's end. false: the workers did not all end. Holds the lock. */
static bool steer(struct run *run)
{
	struct stb_phase *phase = run->phase;
	struct usage before, after;

	wait_until(run, add_ns(stb_clock_ns(), SETUP_TIMEOUT_NS), run->o->threads);
	if (!atomic_load(&run->quit) && run->n_ready < run->o->threads) {
		run->failed = true;
		atomic_store(&run->quit, true);
		stb_err_set(&phase->err, 0, "the OLTP workload was stopped: %u of %u connections were not ready after %llu s",
			run->o->threads - run->n_ready, run->o->threads, (unsigned long long)(SETUP_TIMEOUT_NS / STB_NS_PER_S));
		stb_err_remedy(&phase->err, "look at the server's log and load; use fewer threads or tables");
	}
	if (atomic_load(&run->quit)) {
		pthread_cond_broadcast(&run->changed);
		wait_for_end(run, add_ns(stb_clock_ns(), GRACE_NS));
		return run->n_running == 0;
	}
	open_barrier(run);
	wait_until(run, run->measure_from_ns, 0);
	before = take_usage();
	if (run->o->warmup_ns && !atomic_load(&run->quit))
		set_stage(phase, STB_STAGE_MEASURE, run->measure_from_ns);
	wait_until(run, run->deadline_ns, 0);
	set_stage(phase, STB_STAGE_DRAIN, stb_clock_ns());
	wait_for_end(run, add_ns(stb_clock_ns(), GRACE_NS));
	after = take_usage();
	phase->result.cpu_user_ns = after.user_ns - before.user_ns;
	phase->result.cpu_sys_ns = after.sys_ns - before.sys_ns;
	phase->alloc_calls = after.alloc_calls - before.alloc_calls;
	return run->n_running == 0;
}

/* Mean and standard deviation over the threads: whether some were served at the cost of others. */
static struct stb_fairness fairness(const struct worker *workers, uint32_t n)
{
	struct stb_fairness f = {0};

	for (uint32_t i = 0; i < n; i++) {
		f.events_mean += (double)workers[i].measured.events / n;
		f.busy_mean_s += (double)workers[i].measured.busy_ns / 1e9 / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		const double events = (double)workers[i].measured.events - f.events_mean;
		const double busy_s = (double)workers[i].measured.busy_ns / 1e9 - f.busy_mean_s;

		f.events_stddev += events * events / n;
		f.busy_stddev_s += busy_s * busy_s / n;
	}
	f.events_stddev = sqrt(f.events_stddev);
	f.busy_stddev_s = sqrt(f.busy_stddev_s);
	return f;
}

/* About how many arrivals no worker got to before the end. */
static uint64_t waiting(struct run *run, uint64_t end_ns)
{
	const uint64_t last_ns = run->o->rate > 0 && run->open ? stb_arrivals_next(&run->arrivals) : UINT64_MAX;

	return last_ns < end_ns ? (uint64_t)((double)(end_ns - last_ns) / 1e9 * run->o->rate) + 1 : 0;
}

/* Counters of the workers that ended; of one that hangs nothing is taken, so that histogram and counts agree. */
static void sum_up(struct run *run, const struct worker *workers, uint32_t n_started)
{
	struct stb_measure *m = &run->phase->result;
	uint64_t last_ns = 0, cancelled = 0;

	for (uint32_t i = 0; i < n_started; i++) {
		const struct worker *w = &workers[i];

		if (!atomic_load_explicit(&w->done, memory_order_acquire))
			continue;
		m->ok[0] += w->measured.events;
		cancelled += w->measured.cancelled;
		m->queries_read += w->measured.reads;
		m->queries_write += w->measured.writes;
		m->queries_other += w->measured.others;
		m->errors += w->measured.errors;
		m->reconnects += w->measured.reconnects;
		m->scheduled += w->measured.due;
		for (uint32_t k = 0; k < w->measured.codes.n; k++)
			stb_error_counts_add(&m->codes, w->measured.codes.of[k].code, w->measured.codes.of[k].count);
		stb_hist_merge(&m->lat[0], &w->lat);
		if (w->svc)
			stb_hist_merge(&m->svc[0], w->svc);
		last_ns = STB_MAX(last_ns, w->end_ns);
	}
	if (run->open && last_ns > run->measure_from_ns)
		m->window_ns = last_ns - run->measure_from_ns;
	m->scheduled += waiting(run, STB_MIN(last_ns, run->deadline_ns));
	m->failed = run->failed && cancelled ? 1 : 0; /* the event that ended the run */
	m->cancelled = cancelled - m->failed;
	m->issued = m->ok[0] + m->failed + m->cancelled;
}

static void set_end(struct run *run)
{
	struct stb_measure *m = &run->phase->result;

	if (run->failed)
		m->end = run->stalled ? STB_END_STALLED : STB_END_ERROR;
	else if (atomic_load(&run->quit))
		m->end = STB_END_STOPPED;
	else if (run->o->events != UINT64_MAX && atomic_load(&run->taken) >= run->o->events)
		m->end = STB_END_EVENTS;
	else
		m->end = STB_END_TIME;
}

static void init_run(struct run *run, const struct stb_oltp *o, struct stb_phase *phase)
{
	pthread_condattr_t attr;

	*run = (struct run){.o = o, .phase = phase};
	pthread_mutex_init(&run->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&run->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void init_arrivals(struct run *run, const struct stb_oltp_setup *setup)
{
	struct stb_rng rng;

	stb_rng_stream(&rng, setup->seed, setup->cell, setup->repetition, 0, STB_RNG_ARRIVAL);
	stb_arrivals_init(&run->arrivals, run->o->rate, &rng);
	run->silence_ns = SILENCE_NS;
	if (run->o->rate > 0)
		run->silence_ns = STB_MAX(SILENCE_NS, (uint64_t)(SILENCE_ARRIVALS / run->o->rate * 1e9));
}

static void init_result(struct stb_measure *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < STB_N_DIRS; i++) {
		stb_hist_init(&m->lat[i]);
		stb_hist_init(&m->slat[i]);
		stb_hist_init(&m->clat[i]);
		stb_hist_init(&m->svc[i]);
	}
	stb_hist_init(&m->sync);
	m->end = STB_END_ERROR;
}

/* What workers use, in one block, because it outlives the call when they hang. */
struct job {
	struct stb_oltp o;
	struct stb_oltp_setup setup;
	struct run run;
};

static void say_stalled(struct run *run)
{
	if (run->failed)
		return;
	run->failed = run->stalled = true;
	stb_err_set(&run->phase->err, 0, "the server stalled: %u of %u connections had no answer %llu s after the run was to end", run->n_running,
		run->o->threads, (unsigned long long)(GRACE_NS / STB_NS_PER_S));
	stb_err_remedy(&run->phase->err, STALL_REMEDY);
}

int stb_oltp_run(const struct stb_oltp_setup *setup, struct stb_phase *phase)
{
	struct job *job = aligned_alloc(128, (sizeof(*job) + 127) / 128 * 128);
	struct worker *workers = NULL;
	uint32_t n_started = 0, start = 0;
	bool ended = true;

	init_result(&phase->result);
	if (!job)
		return stb_err_set(&phase->err, ENOMEM, "cannot start the OLTP workload");
	memset(job, 0, sizeof(*job));
	job->setup = *setup;
	init_run(&job->run, &job->o, phase);
	set_stage(phase, STB_STAGE_SETUP, stb_clock_ns());
	stb_client_setup();
	const int unreadable = stb_oltp_read(&job->o, setup->workload, &phase->err);

	init_arrivals(&job->run, setup);
	if (unreadable || stb_oltp_look(&job->setup, &job->o, &start, &phase->err)) {
		job->run.failed = true;
		goto out;
	}
	if (phase->n_workers < job->o.threads)
		STB_BUG("the phase has fewer places than the workload has threads");
	atomic_store(&job->run.unique, start);
	workers = make_workers(&job->run, &job->setup);
	if (!workers) {
		stb_err_set(&phase->err, ENOMEM, "cannot hold the state of %u threads", job->o.threads);
		job->run.failed = true;
		goto out;
	}
	(void)start_workers(&job->run, workers, &n_started); /* a failure makes the run quit */
	pthread_mutex_lock(&job->run.lock);
	ended = steer(&job->run);
	if (!ended)
		say_stalled(&job->run);
	set_end(&job->run);
	pthread_mutex_unlock(&job->run.lock);
	for (uint32_t i = 0; i < n_started && ended; i++)
		pthread_join(workers[i].thread, NULL);
	if (ended)
		phase->result.fairness = fairness(workers, n_started);
	sum_up(&job->run, workers, n_started);
out:
	set_stage(phase, STB_STAGE_DONE, stb_clock_ns());
	const bool failed = job->run.failed;

	if (ended) { /* else the hanging threads use it */
		free_workers(&job->run, workers);
		stb_arrivals_fini(&job->run.arrivals);
		pthread_cond_destroy(&job->run.changed);
		pthread_mutex_destroy(&job->run.lock);
		free(job);
	}
	return failed ? -1 : 0;
}
