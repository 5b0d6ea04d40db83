/*
 * oltp.c - one repetition of an OLTP workload: its limits, its end and its sum.
 *
 *   main     open all | barrier | WARMUP ......... | MEASURE .................. | DRAIN ... | sum up
 *   crew                        | event event ... event ... event event event ... end
 *                                                   ^ measure_from                ^ deadline
 *
 * - Both instants are fixed when the barrier opens; the threads of the crew (crew.c) compare them with the clock that they read once an
 *   event, so nothing has to be switched and nobody is told anything. An event that spans an instant counts where it ends.
 * - The time limit is looked at before an event; an event under way ends and counts, and the window ends with the last of them (as
 *   sysbench counts). A limit on events is one shared counter, taken from before an event; warm-up takes nothing from it.
 * - With a rate (an open loop) an event begins when it arrives (arrivals.h), or as soon after as a connection is free. Latency is then from
 *   the arrival, service time (svc) from the start. What has arrived and was not begun when the time is over is not begun: rate_achieved tells.
 * - In a mix (exec/mix.c) the barrier opens when all its workloads are ready, and the warm-up goes on until all are warm: `measure_from` and
 *   `deadline` are set then, a moment ahead.
 * - What threads write for every event is their own, but for those counters, the next number of an insert and the next arrival, each in a cache
 *   line of its own; a connection is written by the thread that has it. Everything is allocated before the barrier.
 * - The main thread waits with deadlines and never on an answer: when the server stalls, it says so after GRACE_NS, and the window ends there, since
 *   what was under way went on for so long. Threads that wait for many connections leave then, with all that they counted; one that hangs in a call
 *   is left there, and what it counted before is taken from it: the process that called is expected to end, and what such a thread uses is left
 *   allocated. The connections have no read timeout of their own (the library would set up a timer for
 *   every read, 5% of a point select); a server that falls silent in the middle is noticed by the main thread, from the live counters.
 */
#include "runtime/base/clock.h"
#include "runtime/db/crew.h"
#include "runtime/result/meet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define GRACE_NS (10 * STB_NS_PER_S)      /* beyond the time limit, or after stop */
#define LEAVE_NS STB_NS_PER_S             /* for the crew, when told to give up */
#define SILENCE_NS (300 * STB_NS_PER_S)   /* without the end of any event: far above lock wait timeouts */
#define SILENCE_ARRIVALS 30               /* nor, at a low rate, for the time of so many arrivals */
#define MEET_NS 2000000u                   /* how often the other workloads of a mix are looked after */
#define SETUP_TIMEOUT_NS (120 * STB_NS_PER_S)
#define STALL_REMEDY "look at the server's error log and at the storage below it"

/* --- the main thread ----------------------------------------------------------------------------------------------------------------- */

/* Ends the run when no event has ended for silence_ns. Holds the lock. */
static void watch_silence(struct stb_crew *crew, uint64_t now_ns)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; crew->open && i < crew->o->threads; i++)
		ops += atomic_load_explicit(&crew->phase->live[i].warm, memory_order_relaxed) +
			atomic_load_explicit(&crew->phase->live[i].ops, memory_order_relaxed) +
			atomic_load_explicit(&crew->phase->live[i].errors, memory_order_relaxed);
	if (crew->seen_ns == 0 || !crew->open || ops != crew->seen_ops) {
		crew->seen_ops = ops;
		crew->seen_ns = now_ns;
	}
	if (now_ns - crew->seen_ns <= crew->silence_ns || crew->failed)
		return;
	crew->failed = crew->stalled = true;
	atomic_store(&crew->quit, true);
	stb_err_set(&crew->phase->err, 0, "the server stalled: no transaction ended for %llu s",
		(unsigned long long)(crew->silence_ns / STB_NS_PER_S));
	stb_err_remedy(&crew->phase->err, STALL_REMEDY);
}

/*
 * Waits until at_ns, passing the parent's stop on; ends early when a connection failed, the crew was asked to quit, all threads are done or
 * ready_count > 0 connections are open. Holds the lock.
 */
static void wait_until(struct stb_crew *crew, uint64_t at_ns, uint32_t ready_count)
{
	for (;;) {
		const uint64_t now = stb_clock_ns();

		watch_silence(crew, now);
		if (atomic_load(&crew->phase->stop))
			atomic_store(&crew->quit, true);
		if (now >= at_ns || crew->n_running == 0 || atomic_load(&crew->quit) || (ready_count && crew->n_ready >= ready_count))
			return;
		const uint64_t next = STB_MIN(at_ns, now + STB_STOP_POLL_NS);
		const struct timespec ts = {.tv_sec = (time_t)(next / STB_NS_PER_S), .tv_nsec = (long)(next % STB_NS_PER_S)};

		pthread_cond_timedwait(&crew->changed, &crew->lock, &ts);
	}
}

/* The same, but quitting does not end it. Holds the lock. */
static void wait_for_end(struct stb_crew *crew, uint64_t at_ns)
{
	while (crew->n_running > 0) {
		const uint64_t now = stb_clock_ns();

		if (now >= at_ns)
			return;
		const uint64_t next = STB_MIN(at_ns, now + STB_STOP_POLL_NS);
		const struct timespec ts = {.tv_sec = (time_t)(next / STB_NS_PER_S), .tv_nsec = (long)(next % STB_NS_PER_S)};

		pthread_cond_timedwait(&crew->changed, &crew->lock, &ts);
	}
}

static uint64_t add_ns(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* From an instant on, or from now where this thread comes late: others have been counting as warm-up. The end is that of the instant. */
static void set_limits(struct stb_crew *crew, uint64_t from_ns)
{
	atomic_store_explicit(&crew->deadline_ns, add_ns(from_ns, crew->o->time_ns), memory_order_relaxed);
	atomic_store_explicit(&crew->measure_from_ns, STB_MAX(from_ns, stb_clock_ns()), memory_order_relaxed);
}

/* The other workloads of a mix are waited for. false: there is no going on. Holds the lock. */
static bool meet(struct stb_crew *crew, enum stb_line line)
{
	uint64_t opens;

	stb_meet_reach(crew->phase, line);
	while (!(opens = stb_meet_opens(crew->phase, line)) && !atomic_load(&crew->quit) && (crew->n_running > 0 || !crew->open))
		wait_until(crew, add_ns(stb_clock_ns(), MEET_NS), 0);
	return opens && !atomic_load(&crew->quit);
}

static void open_barrier(struct stb_crew *crew)
{
	const bool warm = crew->o->warmup_ns > 0;

	crew->start_ns = stb_meet_opens(crew->phase, warm ? STB_LINE_READY : STB_LINE_START);
	wait_until(crew, crew->start_ns, 0);
	set_limits(crew, warm && crew->phase->meet.used ? UINT64_MAX : add_ns(crew->start_ns, crew->o->warmup_ns));
	stb_arrivals_start(&crew->arrivals, crew->start_ns);
	stb_phase_enter(crew->phase, crew->o->warmup_ns ? STB_STAGE_WARMUP : STB_STAGE_MEASURE, crew->start_ns);
	crew->open = true;
	pthread_cond_broadcast(&crew->changed);
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

static void say_stalled(struct stb_crew *crew)
{
	const uint32_t silent = atomic_load(&crew->unanswered) + crew->n_running;

	atomic_store(&crew->quit, true);
	if (crew->failed)
		return;
	crew->failed = crew->stalled = true;
	stb_err_set(&crew->phase->err, 0, "the server stalled: %u of %u connections had no answer %llu s after the run was to end", silent,
		crew->o->threads, (unsigned long long)(GRACE_NS / STB_NS_PER_S));
	stb_err_remedy(&crew->phase->err, STALL_REMEDY);
}

/* Asks the server how it stands; nobody waits for that. Holds the lock before and after. */
static void look_at_server(struct stb_crew *crew, struct stb_server_change *change)
{
	pthread_mutex_unlock(&crew->lock);
	stb_status_look(&crew->status, change);
	pthread_mutex_lock(&crew->lock);
}

/* Nothing was begun. */
static bool leave_early(struct stb_crew *crew)
{
	atomic_store(&crew->quit, true);
	pthread_cond_broadcast(&crew->changed);
	wait_for_end(crew, add_ns(stb_clock_ns(), GRACE_NS));
	return crew->n_running == 0;
}

/* Of a mix: at least as long as warmup_time says, and until all its workloads are warm. */
static void warm_up_together(struct stb_crew *crew)
{
	wait_until(crew, add_ns(crew->start_ns, crew->o->warmup_ns), 0);
	if (meet(crew, STB_LINE_START))
		set_limits(crew, stb_meet_opens(crew->phase, STB_LINE_START));
}

/* Steers a run from the barrier to the last thread's end. false: not all of them ended. Holds the lock. */
static bool steer(struct stb_crew *crew, const struct stb_oltp_setup *setup)
{
	struct stb_phase *phase = crew->phase;
	const char *stat_file = setup->stat_file ? setup->stat_file : "";
	struct stb_blockstat device, device_after;
	struct usage before, after;

	wait_until(crew, add_ns(stb_clock_ns(), SETUP_TIMEOUT_NS), crew->o->threads);
	if (!atomic_load(&crew->quit) && crew->n_ready < crew->o->threads) {
		crew->failed = true;
		atomic_store(&crew->quit, true);
		stb_err_set(&phase->err, 0, "the OLTP workload was stopped: %u of %u connections were not ready after %llu s",
			crew->o->threads - crew->n_ready, crew->o->threads, (unsigned long long)(SETUP_TIMEOUT_NS / STB_NS_PER_S));
		stb_err_remedy(&phase->err, "look at the server's log and load; use fewer threads or tables");
	}
	if (atomic_load(&crew->quit))
		return leave_early(crew);
	stb_status_open(&crew->status, &setup->addr, setup->server_pid, crew->o->data.engine); /* the others sleep at the barrier, and nothing else wants the lock */
	if (!meet(crew, STB_LINE_READY) || (!crew->o->warmup_ns && !meet(crew, STB_LINE_START))) {
		stb_status_close(&crew->status);
		return leave_early(crew);
	}
	if (!crew->o->warmup_ns)
		look_at_server(crew, NULL);
	open_barrier(crew);
	if (crew->o->warmup_ns && phase->meet.used)
		warm_up_together(crew);
	wait_until(crew, stb_crew_measure_from(crew), 0);
	if (crew->o->warmup_ns)
		look_at_server(crew, NULL);
	before = take_usage();
	device = stb_blockstat_read(stat_file);
	if (crew->o->warmup_ns && !atomic_load(&crew->quit))
		stb_phase_enter(phase, STB_STAGE_MEASURE, stb_crew_measure_from(crew));
	wait_until(crew, stb_crew_deadline(crew), 0);
	stb_phase_enter(phase, STB_STAGE_DRAIN, stb_clock_ns());
	wait_for_end(crew, add_ns(stb_clock_ns(), GRACE_NS));
	if (crew->n_running > 0) {
		crew->given_up_ns = stb_clock_ns();
		atomic_store(&crew->give_up, true);
		wait_for_end(crew, add_ns(stb_clock_ns(), LEAVE_NS));
		say_stalled(crew);
	}
	stb_meet_reach(phase, STB_LINE_END);
	after = take_usage();
	device_after = stb_blockstat_read(stat_file);
	phase->result.device = stb_blockstat_between(&device, &device_after);
	if (crew->n_running == 0 && !crew->failed)
		look_at_server(crew, &phase->result.server);
	stb_status_close(&crew->status);
	phase->result.cpu_user_ns = after.user_ns - before.user_ns;
	phase->result.cpu_sys_ns = after.sys_ns - before.sys_ns;
	phase->alloc_calls = after.alloc_calls - before.alloc_calls;
	return crew->n_running == 0;
}

/* Mean and standard deviation over the connections: whether some were served at the cost of others. */
static struct stb_fairness fairness(const struct stb_crew *crew)
{
	const uint32_t n = crew->o->threads;
	struct stb_fairness f = {0};

	for (uint32_t i = 0; i < n; i++) {
		f.events_mean += (double)crew->conns[i].events / n;
		f.busy_mean_s += (double)crew->conns[i].busy_ns / 1e9 / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		const double events = (double)crew->conns[i].events - f.events_mean;
		const double busy_s = (double)crew->conns[i].busy_ns / 1e9 - f.busy_mean_s;

		f.events_stddev += events * events / n;
		f.busy_stddev_s += busy_s * busy_s / n;
	}
	f.events_stddev = sqrt(f.events_stddev);
	f.busy_stddev_s = sqrt(f.busy_stddev_s);
	return f;
}

/* About how many arrivals no worker got to before the end. */
static uint64_t waiting(struct stb_crew *crew, uint64_t end_ns)
{
	const uint64_t last_ns = crew->o->rate > 0 && crew->open ? stb_arrivals_next(&crew->arrivals) : UINT64_MAX;

	return last_ns < end_ns ? (uint64_t)((double)(end_ns - last_ns) / 1e9 * crew->o->rate) + 1 : 0;
}

/* Of all threads, those included that hang. */
static bool take_all(struct stb_crew *crew)
{
	for (uint32_t i = 0; crew->loops && i < crew->n_loops; i++)
		if (!stb_crew_take(&crew->loops[i]))
			return false;
	return true;
}

/*
 * The threads' counters. Where one of them hangs so that its own cannot be had, none are taken and there is no window: the live counters, which have
 * all that was done, stand for them (exec/figures.c).
 */
static void sum_up(struct stb_crew *crew)
{
	struct stb_measure *m = &crew->phase->result;
	uint64_t last_ns = crew->given_up_ns, cancelled = 0;

	if (!take_all(crew))
		return;
	for (uint32_t i = 0; crew->loops && i < crew->n_loops; i++) {
		const struct stb_loop *l = &crew->loops[i];

		m->ok[0] += l->measured.events;
		cancelled += l->measured.cancelled;
		m->queries_read += l->measured.reads;
		m->queries_write += l->measured.writes;
		m->queries_other += l->measured.others;
		m->errors += l->measured.errors;
		m->reconnects += l->measured.reconnects;
		m->scheduled += l->measured.due;
		for (uint32_t k = 0; k < l->measured.codes.n; k++)
			stb_error_counts_add(&m->codes, l->measured.codes.of[k].code, l->measured.codes.of[k].count);
		stb_hist_merge(&m->lat[0], &l->lat);
		if (l->svc)
			stb_hist_merge(&m->svc[0], l->svc);
		last_ns = STB_MAX(last_ns, l->end_ns);
	}
	if (crew->open && last_ns > stb_crew_measure_from(crew))
		m->window_ns = last_ns - stb_crew_measure_from(crew);
	m->scheduled += waiting(crew, STB_MIN(last_ns, stb_crew_deadline(crew)));
	if (crew->open)
		m->clients = stb_crew_threads(crew);
	m->failed = crew->failed && cancelled ? 1 : 0; /* the event that ended the run */
	m->cancelled = cancelled - m->failed;
	m->issued = m->ok[0] + m->failed + m->cancelled;
}

static void set_end(struct stb_crew *crew)
{
	struct stb_measure *m = &crew->phase->result;

	if (crew->failed)
		m->end = crew->stalled ? STB_END_STALLED : STB_END_ERROR;
	else if (atomic_load(&crew->quit))
		m->end = STB_END_STOPPED;
	else if (crew->o->events != UINT64_MAX && atomic_load(&crew->taken) >= crew->o->events)
		m->end = STB_END_EVENTS;
	else
		m->end = STB_END_TIME;
}

static void init_run(struct stb_crew *crew, const struct stb_oltp *o, struct stb_phase *phase)
{
	pthread_condattr_t attr;

	*crew = (struct stb_crew){.o = o, .phase = phase, .over = -1};
	pthread_mutex_init(&crew->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void init_arrivals(struct stb_crew *crew, const struct stb_oltp_setup *setup)
{
	struct stb_rng rng;

	stb_rng_stream(&rng, setup->seed, setup->cell, setup->repetition, 0, STB_RNG_ARRIVAL);
	stb_arrivals_init(&crew->arrivals, crew->o->rate, &rng);
	crew->silence_ns = SILENCE_NS;
	if (crew->o->rate > 0)
		crew->silence_ns = STB_MAX(SILENCE_NS, (uint64_t)(SILENCE_ARRIVALS / crew->o->rate * 1e9));
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
	struct stb_crew crew;
};

int stb_oltp_run(const struct stb_oltp_setup *setup, struct stb_phase *phase)
{
	struct job *job = aligned_alloc(128, (sizeof(*job) + 127) / 128 * 128);
	uint32_t start = 0;
	bool ended = true;

	init_result(&phase->result);
	if (!job)
		return stb_err_set(&phase->err, ENOMEM, "cannot start the OLTP workload");
	memset(job, 0, sizeof(*job));
	job->setup = *setup;
	init_run(&job->crew, &job->o, phase);
	stb_phase_enter(phase, STB_STAGE_SETUP, stb_clock_ns());
	stb_client_setup();
	const int unreadable = stb_oltp_read(&job->o, setup->workload, &phase->err);

	init_arrivals(&job->crew, setup);
	if (unreadable || stb_oltp_look(&job->setup, &job->o, &start, &phase->err)) {
		job->crew.failed = true;
		goto out;
	}
	if (phase->n_workers < job->o.threads)
		STB_BUG("the phase has fewer places than the workload has threads");
	atomic_store(&job->crew.unique, start);
	const int r = stb_crew_init(&job->crew, &job->setup);

	if (r) {
		stb_err_set(&phase->err, -r, "cannot set up %u connections", job->o.threads);
		stb_err_remedy(&phase->err, "use fewer threads, or raise the limits of this process (ulimit -n, memory)");
		job->crew.failed = true;
		goto out;
	}
	stb_crew_start(&job->crew);
	pthread_mutex_lock(&job->crew.lock);
	ended = steer(&job->crew, &job->setup);
	if (!ended)
		say_stalled(&job->crew);
	set_end(&job->crew);
	pthread_mutex_unlock(&job->crew.lock);
	if (ended)
		phase->result.fairness = fairness(&job->crew);
	sum_up(&job->crew);
out:
	stb_phase_enter(phase, STB_STAGE_DONE, stb_clock_ns());
	const bool failed = job->crew.failed;

	if (ended) { /* else the hanging threads use it */
		stb_crew_fini(&job->crew);
		stb_arrivals_fini(&job->crew.arrivals);
		pthread_cond_destroy(&job->crew.changed);
		pthread_mutex_destroy(&job->crew.lock);
		free(job);
	}
	return failed ? -1 : 0;
}
