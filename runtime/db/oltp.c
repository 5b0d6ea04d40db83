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
 * - Workers share no written cache line but that counter. Everything is allocated before the barrier.
 * - The main thread waits with deadlines and never on a worker: when the server stalls, it says so after GRACE_NS and returns, with the threads
 *   still in their calls. The process that called is expected to end then; what such a thread uses is left allocated. The workers' connections
 *   have no read timeout of their own (the library would set up a timer for every read, 5% of a point select); a server that falls silent
 *   in the middle is noticed by the main thread, from the live counters.
 */
#include "runtime/base/clock.h"
#include "runtime/db/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define GRACE_NS (10 * STB_NS_PER_S)      /* beyond the time limit, or after stop */
#define STOP_POLL_NS (50 * 1000000ull)
#define CONNECT_TIMEOUT_S 20
#define IO_TIMEOUT_S 60                   /* of the looks before the run */
#define SILENCE_NS (300 * STB_NS_PER_S)   /* without the end of any event: far above lock wait timeouts */
#define SETUP_TIMEOUT_NS (120 * STB_NS_PER_S)
#define STACK_BYTES (256 * 1024)
#define STALL_REMEDY "look at the server's error log and at the storage below it"

struct counts {
	uint64_t events, reads, writes, others, errors, reconnects, cancelled;
};

struct run;

struct worker {
	struct run *run;
	struct stb_session session;
	struct stb_live *live;
	struct counts warm, measured;
	struct stb_hist lat;
	uint64_t end_ns;
	_Atomic bool done; /* counters are final */
	pthread_t thread;
} STB_ALIGNED(128);

struct run {
	const struct stb_oltp *o;
	struct stb_phase *phase;
	/* written before the barrier opens, read afterwards */
	uint64_t start_ns, measure_from_ns, deadline_ns;
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
	s->read_count = s->write_count = s->other_count = s->error_count = s->reconnect_count = 0;
	if (set == &w->warm) { /* a slow event of the warm-up ends when others count already */
		atomic_store_explicit(&w->live->warm, set->events + set->errors, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&w->live->ops, set->events, memory_order_relaxed);
	atomic_store_explicit(&w->live->bytes, set->reads + set->writes + set->others, memory_order_relaxed);
	atomic_store_explicit(&w->live->errors, set->errors, memory_order_relaxed);
}

static void work(struct worker *w)
{
	struct run *run = w->run;
	uint64_t now = stb_clock_ns();

	while (!atomic_load_explicit(&run->quit, memory_order_relaxed) && now < run->deadline_ns) {
		const uint64_t began = now;

		if (began >= run->measure_from_ns && !take_event(run))
			break;
		const enum stb_event r = stb_session_event(&w->session);

		now = stb_clock_ns();
		bool measured = now >= run->measure_from_ns;

		if (measured && began < run->measure_from_ns)
			measured = take_event(run); /* spans the border: counts here if there is room */
		struct counts *set = measured ? &w->measured : &w->warm;

		if (r == STB_EVENT_DONE)
			set->events++;
		else
			set->cancelled++;
		if (r == STB_EVENT_DONE && measured)
			stb_hist_add(&w->lat, now - began);
		account(w, set);
		if (r == STB_EVENT_FAILED) {
			report_failure(run, w->session.failure);
			break;
		}
	}
	w->end_ns = now;
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
		work(w);
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

/* --- before the run ------------------------------------------------------------------------------------------------------------------ */

static int read_number(struct stb_client *c, const char *sql, uint64_t *out, struct stb_err *err)
{
	char cell[32];
	bool found;

	if (stb_client_cell(c, sql, cell, sizeof(cell), &found))
		return stb_err_set(err, 0, "cannot read the server's limits (`%s`): %s (%u)", sql, stb_client_text(c), stb_client_code(c));
	*out = found ? strtoull(cell, NULL, 10) : 0;
	return 0;
}

/* Other connections. Those of a repetition before may still be closing on the server's side: looked at again for a while if they are too many. */
static int read_connected(struct stb_client *c, uint64_t room, uint64_t *out, struct stb_err *err)
{
	static const char sql[] = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon' AND ID <> CONNECTION_ID()";
	const uint64_t give_up_ns = stb_clock_ns() + 2 * STB_NS_PER_S;

	for (;;) {
		if (read_number(c, sql, out, err))
			return -1;
		if (*out <= room || stb_clock_ns() > give_up_ns)
			return 0;
		(void)stb_clock_sleep_until(stb_clock_ns() + STB_NS_PER_S / 20);
	}
}

static const char *where_to_set(const struct stb_oltp_setup *setup)
{
	return setup->private_server ? "set database option" : "raise the server's";
}

/* The server holds all connections and prepared statements, which it would otherwise refuse one by one in the middle of set-up. */
static int check_limits(struct stb_client *c, const struct stb_oltp_setup *setup, const struct stb_oltp *o, struct stb_err *err)
{
	const uint64_t handles = stb_oltp_handles(o) * o->threads;
	uint64_t max_connections, connected, max_prepared, prepared;

	if (read_number(c, "SELECT @@GLOBAL.max_connections", &max_connections, err) ||
		read_connected(c, max_connections > o->threads ? max_connections - o->threads : 0, &connected, err) ||
		read_number(c, "SELECT @@GLOBAL.max_prepared_stmt_count", &max_prepared, err))
		return -1;
	if (o->threads + connected > max_connections) {
		stb_err_set(err, 0, "cannot connect %u threads: the server allows %llu connections (max_connections), %llu are taken", o->threads,
			(unsigned long long)max_connections, (unsigned long long)connected);
		stb_err_remedy(err, "%s max_connections to at least %llu, or use fewer threads", where_to_set(setup),
			(unsigned long long)(o->threads + connected));
		return -1;
	}
	if (handles == 0)
		return 0;
	if (read_number(c, "SELECT COALESCE(MAX(VARIABLE_VALUE), 0) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Prepared_stmt_count'",
		    &prepared, err))
		prepared = 0; /* MySQL keeps it elsewhere, and under a setting: the limit alone is looked at then */
	stb_err_clear(err);
	if (handles + prepared > max_prepared) {
		stb_err_set(err, 0,
			"cannot prepare %llu statements (%u threads x %llu): the server allows %llu (max_prepared_stmt_count), %llu are taken",
			(unsigned long long)handles, o->threads, (unsigned long long)stb_oltp_handles(o), (unsigned long long)max_prepared,
			(unsigned long long)prepared);
		stb_err_remedy(err, "%s max_prepared_stmt_count to at least %llu, or use fewer threads or tables, or `db_ps_mode = disable`",
			where_to_set(setup), (unsigned long long)(handles + prepared));
		return -1;
	}
	return 0;
}

static int look_first(struct run *run, const struct stb_oltp_setup *setup, struct stb_err *err)
{
	const struct stb_oltp *o = run->o;
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_client *c;
	uint32_t start = 0;
	int r;

	if (stb_client_open(&c, &setup->addr, &limits, err))
		return -1;
	r = check_limits(c, setup, o, err);
	if (r == 0 && o->script == STB_INSERT && !o->data.auto_inc)
		r = stb_unique_start(c, o->data.tables, o->threads, &start, err);
	atomic_store(&run->unique, start);
	stb_client_close(c);
	return r;
}

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
		w->session.o = o;
		w->session.addr = &setup->addr;
		w->session.limits = (struct stb_client_limits){.connect_timeout_s = CONNECT_TIMEOUT_S};
		w->session.quit = &run->quit;
		w->session.unique = o->data.auto_inc ? NULL : &run->unique;
		stb_rng_stream(&w->session.rng, setup->seed, setup->cell, setup->repetition, i, STB_RNG_KEYS);
	}
	return workers;
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

/* Ends the run when no event has ended for SILENCE_NS. Holds the lock. */
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
	if (now_ns - run->seen_ns <= SILENCE_NS || run->failed)
		return;
	run->failed = run->stalled = true;
	atomic_store(&run->quit, true);
	stb_err_set(&run->phase->err, 0, "the server stalled: no transaction ended for %llu s", (unsigned long long)(SILENCE_NS / STB_NS_PER_S));
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
		stb_hist_merge(&m->lat[0], &w->lat);
		last_ns = STB_MAX(last_ns, w->end_ns);
	}
	if (run->open && last_ns > run->measure_from_ns)
		m->window_ns = last_ns - run->measure_from_ns;
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

static void init_result(struct stb_measure *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_init(&m->lat[i]);
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
	uint32_t n_started = 0;
	bool ended = true;

	init_result(&phase->result);
	if (!job)
		return stb_err_set(&phase->err, ENOMEM, "cannot start the OLTP workload");
	memset(job, 0, sizeof(*job));
	job->setup = *setup;
	init_run(&job->run, &job->o, phase);
	set_stage(phase, STB_STAGE_SETUP, stb_clock_ns());
	stb_client_setup();
	if (stb_oltp_read(&job->o, setup->workload, &phase->err) || look_first(&job->run, &job->setup, &phase->err)) {
		job->run.failed = true;
		goto out;
	}
	if (phase->n_workers < job->o.threads)
		STB_BUG("the phase has fewer places than the workload has threads");
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
	if (ended)
		for (uint32_t i = 0; i < n_started; i++)
			pthread_join(workers[i].thread, NULL);
	sum_up(&job->run, workers, n_started);
out:
	set_stage(phase, STB_STAGE_DONE, stb_clock_ns());
	const bool failed = job->run.failed;

	if (ended) { /* else the hanging threads use it */
		free(workers);
		pthread_cond_destroy(&job->run.changed);
		pthread_mutex_destroy(&job->run.lock);
		free(job);
	}
	return failed ? -1 : 0;
}
