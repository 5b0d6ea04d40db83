/*
 * run.c - one repetition of an io workload: layout, workers, warm-up, measuring, merging.
 *
 *      main                              worker (one thread a job)
 *      ----                              ------
 *      layout
 *      create threads        ------->    open file, buffers, engine
 *      gate: all ready       <-------    arrive
 *      [stage WARMUP]        ------->    loop until ramp_time is over, drain
 *      gate                  <-------    arrive
 *      [stage SETTLE]        ------->    loop; told that it is enough, drain
 *      sample once a second until steady or `limit` is over
 *      gate                  <-------    arrive
 *      stage MEASURE, t0     ------->    loop; the last to leave it sets stage DRAIN; drain, end_fsync
 *      gate                  <-------    arrive
 *      window = latest end - t0; merge
 *      [stage VERIFY]        ------->    read back what was written, compare
 *      gate                  <-------    arrive
 *                                        close
 *
 * A gate is a mutex and a condition: a worker that failed still arrives, so nobody waits for ever, and what workers wrote before a gate is
 * the main thread's to read after it. Nothing is allocated between the first gate and the last.
 *
 * Warm-up drains before measuring starts, so every counted I/O lies wholly in the window and the accounting identity is exact; the byte
 * budget (size) starts anew with the measurement and is not eaten by the warm-up.
 *
 * With steady_state the load goes on after ramp_time until a window of samples is steady (steady.h), and what was done for it is warm-up too: the
 * result holds nothing but the whole runtime after it. It is decided here and not in the parent, whose samples come late when it is busy,
 * and by the one thread of this process that has nothing else to do. Where `limit` is over first it is measured all the same: the figures
 * are there to be looked at, and are marked.
 *
 * In a mix (exec/mix.c) the main thread waits for the other workloads before warm-up, before measuring and before reading back, while the workers wait
 * at their gate; and where some workload waits until it is steady, the load of all goes on until it is.
 */
#include "runtime/io/io.h"

#include "runtime/base/clock.h"
#include "runtime/io/custom.h"
#include "runtime/io/job.h"
#include "runtime/io/target.h"
#include "runtime/io/verify.h"
#include "runtime/result/meet.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define STACK_BYTES (512u << 10)
#define OTHERS_NS 5000000u /* how often the other workloads of a mix are looked after */

struct run;

struct job {
	struct stb_io_job io;
	struct run *run;
	pthread_t thread;
};

struct run {
	struct stb_io_config config;
	const struct stb_io_setup *setup;
	struct stb_phase *phase;
	struct stb_io_control control;
	struct stb_ticker ticker;
	struct stb_steady steady;
	struct job *jobs;
	uint32_t n_jobs;    /* threads that run */
	uint64_t since_ns, deadline_ns; /* of the stage */
	/* the gate */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint32_t arrived;
	uint32_t generation; /* how often the gate has opened */
	bool leave;          /* workers go home at the next opening */
};

/* --- the gate --- */

/* A worker waits for the main thread to open the gate. False: go home. */
static bool gate_arrive(struct run *r)
{
	uint32_t generation;
	bool leave;

	pthread_mutex_lock(&r->lock);
	generation = r->generation;
	r->arrived++;
	pthread_cond_broadcast(&r->cond);
	while (r->generation == generation)
		pthread_cond_wait(&r->cond, &r->lock);
	leave = r->leave;
	pthread_mutex_unlock(&r->lock);
	return !leave;
}

static void gate_wait_all(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->arrived < r->n_jobs)
		pthread_cond_wait(&r->cond, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

/* The same until an instant of CLOCK_MONOTONIC. False: not all are there yet. */
static bool gate_wait_until(struct run *r, uint64_t at_ns)
{
	const struct timespec at = { (time_t)(at_ns / STB_NS_PER_S), (long)(at_ns % STB_NS_PER_S) };
	bool all;

	pthread_mutex_lock(&r->lock);
	while (r->arrived < r->n_jobs && pthread_cond_clockwait(&r->cond, &r->lock, CLOCK_MONOTONIC, &at) != ETIMEDOUT)
		;
	all = r->arrived == r->n_jobs;
	pthread_mutex_unlock(&r->lock);
	return all;
}

static void gate_open(struct run *r, bool leave)
{
	pthread_mutex_lock(&r->lock);
	r->arrived = 0;
	r->leave = leave;
	r->generation++;
	pthread_cond_broadcast(&r->cond);
	pthread_mutex_unlock(&r->lock);
}

/* --- a worker --- */

static void job_failed(struct job *j)
{
	uint32_t none = 0;

	atomic_compare_exchange_strong(&j->run->control.culprit, &none, j->io.w.index + 1);
	atomic_store(&j->run->control.abort, STB_IO_FAILED);
}

static void on_drain(struct stb_io_worker *w)
{
	struct job *j = (struct job *)((char *)w - offsetof(struct job, io.w));

	if (atomic_fetch_add(&w->control->draining, 1) + 1 == j->run->n_jobs)
		stb_phase_enter(j->run->phase, STB_STAGE_DRAIN, stb_clock_ns());
}

static void job_end_fsync(struct job *j)
{
	struct stb_io_worker *w = &j->io.w;
	int ret;

	if (!w->config->end_fsync || !w->config->writes || w->end == STB_IO_LOOP_ERROR)
		return;
	ret = w->engine.ops->sync(&w->engine, false);
	w->end_ns = stb_ticker_ns(w->ticker);
	if (ret) {
		stb_err_set(&w->err, -ret, "cannot fsync `%s` at the end of workload `%s`", w->name, w->config->block->name);
		stb_err_remedy(&w->err, "see the kernel log; a full or failing device shows here first");
		stb_io_config_blame(w->config, "end_fsync", &w->err);
		w->end = STB_IO_LOOP_ERROR;
		job_failed(j);
	}
}

/* What a job moves that ends with its size: its region, as often as loops says. */
static uint64_t all_blocks(const struct stb_io_config *c)
{
	uint64_t n;

	return __builtin_mul_overflow(c->n_blocks, c->loops, &n) ? UINT64_MAX - 1 : n;
}

/* Whether there is load between ramp_time and measuring: until this workload is steady, or another one of its mix is. */
static bool settles(const struct run *r)
{
	return r->config.steady.metric != STB_STEADY_NONE || r->phase->meet.settles;
}

static void *job_main(void *arg)
{
	struct job *j = arg;
	struct stb_io_worker *w = &j->io.w;
	const struct stb_io_config *c = w->config;
	char name[16];

	snprintf(name, sizeof(name), "stb-io-%u", w->index);
	(void)pthread_setname_np(pthread_self(), name);
#ifndef __SANITIZE_THREAD__ /* which takes equal numbers in two tables for one file */
	(void)unshare(CLONE_FILES); /* a descriptor table of one's own: the kernel then takes no reference on the file for each system call */
#endif
	if (stb_io_job_prepare(&j->io))
		job_failed(j);
	if (!gate_arrive(j->run))
		goto out;
	for (int warm = (c->ramp_ns > 0) + settles(j->run); warm; warm--) {
		stb_io_worker_reset(w);
		w->since_ns = j->run->since_ns;
		stb_io_loop(w, j->run->deadline_ns, UINT64_MAX, NULL);
		stb_io_worker_assert(w);
		if (!gate_arrive(j->run))
			goto out;
	}
	w->tells_latency = false;
	stb_io_worker_reset(w);
	w->since_ns = j->run->since_ns;
	stb_io_loop(w, j->run->deadline_ns, c->time_based ? UINT64_MAX : all_blocks(c), on_drain);
	job_end_fsync(j);
	if (!gate_arrive(j->run))
		goto out;
	if (stb_io_verify(w, j->run->phase))
		job_failed(j);
	(void)gate_arrive(j->run);
out:
	stb_io_job_release(&j->io);
	return NULL;
}

/* --- the main thread --- */

static int start_threads(struct run *r, struct stb_err *err)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int ret = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the main thread */
	while (r->n_jobs < r->config.jobs && !ret) {
		ret = pthread_create(&r->jobs[r->n_jobs].thread, &attr, job_main, &r->jobs[r->n_jobs]);
		if (!ret)
			r->n_jobs++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (ret) {
		stb_err_set(err, ret, "cannot start thread %u of %u for workload `%s`", r->n_jobs + 1, r->config.jobs, r->config.block->name);
		stb_err_remedy(err, "lower numjobs, or raise the limits on processes (ulimit -u, cgroup pids.max)");
		stb_io_config_blame(&r->config, "numjobs", err);
		return -1;
	}
	return 0;
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * STB_NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

/*
 * The kernel's threads that io_uring starts for us (iou-wrk-*, iou-sqp-*) belong to our process, so their time is in RUSAGE_SELF, while they run
 * and when they have ended, and in the parent's wait4 too. Seen on Linux 6.18: 1500 forced asynchronous writes of 1 MiB cost 0.12 s, of which
 * 0.11 s are the worker's; with SQPOLL 0.65 of 0.67 s are those of the two threads.
 */
static void cpu_now(uint64_t *user_ns, uint64_t *sys_ns)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	*user_ns = ns_of(u.ru_utime);
	*sys_ns = ns_of(u.ru_stime);
}

static void reset_live(struct run *r)
{
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		atomic_store_explicit(&r->phase->live[i].ops, 0, memory_order_relaxed);
		atomic_store_explicit(&r->phase->live[i].bytes, 0, memory_order_relaxed);
		atomic_store_explicit(&r->phase->live[i].errors, 0, memory_order_relaxed);
		atomic_store_explicit(&r->phase->live[i].lat_ns, 0, memory_order_relaxed);
	}
}

/* Lets the waiting workers into a stage that ends `span_ns` (0: no time limit) after `from_ns` (0: from now). Returns when it began. */
static uint64_t enter_stage(struct run *r, enum stb_stage stage, uint64_t from_ns, uint64_t span_ns)
{
	const uint64_t clock = stb_clock_ns(), late = from_ns && clock > from_ns ? clock - from_ns : 0;
	uint64_t now;

	reset_live(r);
	stb_phase_enter(r->phase, stage, stb_clock_ns());
	now = stb_ticker_ns(&r->ticker); /* of another scale than the clock, by a little */
	r->since_ns = now;
	r->deadline_ns = span_ns ? now + span_ns - STB_MIN(late, span_ns) : UINT64_MAX;
	gate_open(r, false);
	return now;
}

static bool must_leave(const struct run *r)
{
	return atomic_load(&r->control.abort) || atomic_load(&r->phase->stop);
}

static enum stb_end how_it_ended(const struct run *r)
{
	bool by_size = true, stopped = false;

	if (atomic_load(&r->control.abort))
		return STB_END_ERROR;
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		by_size &= r->jobs[i].io.w.end == STB_IO_LOOP_SIZE;
		stopped |= r->jobs[i].io.w.end == STB_IO_LOOP_STOPPED;
	}
	return stopped ? STB_END_STOPPED : by_size ? STB_END_SIZE : STB_END_TIME;
}

/* What layout had to do without is there already. All jobs ask for the same; where a limit was reached, the later ones have less, and the first of those is shown. */
static void record_used(const struct run *r, struct stb_measure *m)
{
	const struct job *shown = &r->jobs[0];

	for (uint32_t i = 0; i < r->n_jobs && !shown->io.used.without[0]; i++)
		shown = &r->jobs[i];
	memcpy(m->engine_with, shown->io.used.with, sizeof(m->engine_with));
	if (shown->io.used.without[0])
		stb_io_used_add(m->engine_without, "%s", shown->io.used.without);
}

static void merge(struct run *r, uint64_t t0)
{
	struct stb_measure *m = &r->phase->result;
	uint64_t end = t0;

	for (uint32_t i = 0; i < r->n_jobs; i++) {
		const struct stb_io_worker *w = &r->jobs[i].io.w;

		stb_io_worker_assert(w);
		m->issued += w->issued;
		m->failed += w->failed;
		m->cancelled += w->cancelled;
		for (int d = 0; d < STB_N_DIRS; d++) {
			m->ok[d] += w->ok[d];
			m->bytes[d] += w->custom ? w->custom->bytes[d] : w->ok[d] * w->bs;
			stb_hist_merge(&m->lat[d], &w->lat[d]);
			stb_hist_merge(&m->slat[d], &w->slat[d]);
			stb_hist_merge(&m->clat[d], &w->clat[d]);
			if (w->custom && w->custom->paced)
				stb_hist_merge(&m->svc[d], &w->custom->svc[d]);
		}
		if (w->custom) {
			m->scheduled += w->custom->scheduled;
			m->skipped += w->custom->skipped;
		}
		stb_hist_merge(&m->sync, &w->sync);
		end = STB_MAX(end, w->end_ns);
	}
	record_used(r, m);
	m->window_ns = end - t0;
	STB_ASSERT(m->issued == m->ok[STB_READ] + m->ok[STB_WRITE] + m->ok[STB_TRIM] + m->failed + m->cancelled);
	STB_ASSERT(!m->scheduled || m->scheduled == m->issued + m->skipped);
}

/* All workers are at the gate behind the measurement. Returns with all of them at the last one. */
static void verify(struct run *r)
{
	struct stb_measure *m = &r->phase->result;

	atomic_store_explicit(&r->phase->progress_done, 0, memory_order_relaxed);
	atomic_store_explicit(&r->phase->progress_total, r->config.n_blocks * r->config.bs_bytes * r->n_jobs, memory_order_relaxed);
	stb_phase_enter(r->phase, STB_STAGE_VERIFY, stb_clock_ns());
	gate_open(r, false);
	gate_wait_all(r);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		m->verified += r->jobs[i].io.w.verified;
		m->mismatches += r->jobs[i].io.w.mismatches;
	}
	if (atomic_load(&r->control.abort))
		m->end = STB_END_ERROR;
}

/* The first mismatch, and how many there are. */
static void count_mismatches(const struct stb_measure *m, struct stb_err *err)
{
	struct stb_err first = *err;

	stb_err_set(err, 0, "%llu of %llu blocks read back are not what was written: %.700s", (unsigned long long)m->mismatches,
		(unsigned long long)m->verified, first.what);
	stb_err_remedy(err, "%s", first.remedy);
	err->span = first.span;
}

static void count_live(const struct run *r, uint32_t sample, struct stb_steady_counts *out)
{
	const struct stb_steady_hook *hook = r->setup->steady_hook;

	*out = (struct stb_steady_counts){ 0 };
	if (hook) {
		hook->count(hook->ctx, sample, out);
		return;
	}
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		out->ops += atomic_load_explicit(&r->phase->live[i].ops, memory_order_relaxed);
		out->bytes += atomic_load_explicit(&r->phase->live[i].bytes, memory_order_relaxed);
		out->lat_ns += atomic_load_explicit(&r->phase->live[i].lat_ns, memory_order_relaxed);
	}
}

/* The load goes on until every workload of the mix is steady; where a worker has failed, no longer. */
static void wait_for_others(struct run *r)
{
	stb_meet_reach(r->phase, STB_LINE_STEADY);
	while (r->phase->meet.used && !atomic_load(&r->phase->stop) && !stb_meet_opens(r->phase, STB_LINE_STEADY) &&
		!gate_wait_until(r, stb_clock_ns() + OTHERS_NS))
		;
}

/*
 * Lets the workers run until they are steady or the limit is over. Returns with all of them at the gate behind it. Each sample is at least its
 * length: where this thread comes late the next one begins late, since a rate over what is left of a second is none.
 */
static void settle(struct run *r)
{
	const struct stb_steady_hook *hook = r->setup->steady_hook;
	const uint64_t length = hook ? hook->sample_ns : STB_STEADY_SAMPLE_NS, most = r->steady.ask.limit_ns / STB_STEADY_SAMPLE_NS;
	struct stb_steadiness *proof = &r->phase->result.steady;
	struct stb_steady_counts counts = { 0 };
	uint32_t enough = STB_IO_ENOUGH, go_on = STB_IO_GO_ON, sample = 0;
	uint64_t start, before;

	enter_stage(r, STB_STAGE_SETTLE, 0, 0);
	start = before = stb_clock_ns();
	if (hook)
		count_live(r, 0, &counts);
	if (most)
		stb_steady_start(&r->steady, &counts, proof);
	while (sample < most && (hook || before - start < most * length) && !gate_wait_until(r, before + length)) {
		const uint64_t now = stb_clock_ns();

		count_live(r, ++sample, &counts);
		if (stb_steady_add(&r->steady, &counts, hook ? STB_STEADY_SAMPLE_NS : now - before, proof))
			break;
		before = now;
	}
	wait_for_others(r);
	(void)atomic_compare_exchange_strong(&r->control.abort, &go_on, STB_IO_ENOUGH);
	gate_wait_all(r);
	(void)atomic_compare_exchange_strong(&r->control.abort, &enough, STB_IO_GO_ON);
}

/* All workers are at the first gate. Returns with all of them at the last one, or with `abort` or `stop` set. */
static void measure(struct run *r)
{
	struct stb_measure *m = &r->phase->result;
	const uint64_t allocs = stb_alloc_count();
	const char *stat_file = r->setup->stat_file ? r->setup->stat_file : "";
	struct stb_blockstat before, after;
	uint64_t user0, sys0, t0, from;

	m->end = STB_END_STOPPED;
	from = stb_meet_wait(r->phase, STB_LINE_READY);
	if (!from)
		return;
	if (r->config.ramp_ns) {
		enter_stage(r, STB_STAGE_WARMUP, r->phase->meet.used ? from : 0, r->config.ramp_ns);
		gate_wait_all(r);
		if (must_leave(r))
			return;
	}
	if (settles(r)) {
		settle(r);
		if (must_leave(r))
			return;
	}
	from = stb_meet_wait(r->phase, STB_LINE_START);
	if (!from)
		return;
	atomic_store(&r->control.failed, 0);
	before = stb_blockstat_read(stat_file);
	cpu_now(&user0, &sys0);
	t0 = enter_stage(r, STB_STAGE_MEASURE, r->phase->meet.used ? from : 0, r->config.runtime_ns);
	gate_wait_all(r);
	stb_meet_reach(r->phase, STB_LINE_END);
	cpu_now(&m->cpu_user_ns, &m->cpu_sys_ns);
	m->cpu_user_ns -= user0;
	m->cpu_sys_ns -= sys0;
	after = stb_blockstat_read(stat_file);
	m->device = stb_blockstat_between(&before, &after);
	r->phase->alloc_calls = stb_alloc_count() - allocs;
	m->end = how_it_ended(r);
	merge(r, t0);
}

static void init_result(struct stb_phase *phase)
{
	memset(&phase->result, 0, sizeof(phase->result));
	for (int d = 0; d < STB_N_DIRS; d++) {
		stb_hist_init(&phase->result.lat[d]);
		stb_hist_init(&phase->result.slat[d]);
		stb_hist_init(&phase->result.clat[d]);
		stb_hist_init(&phase->result.svc[d]);
	}
	stb_hist_init(&phase->result.sync);
	phase->alloc_calls = 0;
	stb_err_clear(&phase->err);
}

/* Threads from start to join. 0 or -1 with phase->err. */
static int run_jobs(struct run *r)
{
	struct stb_phase *phase = r->phase;
	const bool started = start_threads(r, &phase->err) == 0;
	uint32_t culprit;

	if (!started)
		atomic_store(&r->control.abort, STB_IO_FAILED);
	gate_wait_all(r);
	if (!must_leave(r))
		measure(r);
	if (r->config.verify != STB_DIGEST_NONE && !must_leave(r) && phase->result.window_ns && stb_meet_wait(phase, STB_LINE_END))
		verify(r);
	gate_open(r, true);
	for (uint32_t i = 0; i < r->n_jobs; i++)
		pthread_join(r->jobs[i].thread, NULL);
	culprit = atomic_load(&r->control.culprit);
	if (started && culprit)
		phase->err = r->jobs[culprit - 1].io.w.err;
	if (started && culprit && phase->result.mismatches)
		count_mismatches(&phase->result, &phase->err);
	if (atomic_load(&r->control.abort)) {
		phase->result.end = culprit && r->jobs[culprit - 1].io.w.stuck ? STB_END_STALLED : STB_END_ERROR;
		return -1;
	}
	return 0;
}

int stb_io_run(const struct stb_io_setup *s, struct stb_phase *phase)
{
	struct run r = { .setup = s, .phase = phase, .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	size_t bytes;
	int ret;

	init_result(phase);
	phase->result.end = STB_END_ERROR;
	if (stb_io_config_read(&r.config, s->workload, &phase->err))
		return -1;
	if (s->engine)
		r.config.engine = s->engine;
	STB_ASSERT(phase->n_workers >= r.config.jobs && (s->dir || s->device || r.config.engine->ops->no_file));
	if (!r.config.engine->ops->no_file && stb_io_layout(&r.config, s, phase, &phase->err))
		return -1;
	phase->result.end = STB_END_STOPPED;
	if (atomic_load(&phase->stop)) {
		stb_phase_enter(phase, STB_STAGE_DONE, stb_clock_ns());
		return 0;
	}
	stb_phase_enter(phase, STB_STAGE_SETUP, stb_clock_ns());
	stb_ticker_init(&r.ticker);
	bytes = (sizeof(struct job) + 127) / 128 * 128 * r.config.jobs;
	r.jobs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r.jobs == MAP_FAILED)
		return stb_err_set(&phase->err, errno, "cannot get memory for %u workers", r.config.jobs);
	for (uint32_t i = 0; i < r.config.jobs; i++) {
		r.jobs[i].run = &r;
		stb_io_job_init(&r.jobs[i].io, &r.config, s, phase, i);
		r.jobs[i].io.w.control = &r.control;
		r.jobs[i].io.w.ticker = &r.ticker;
	}
	stb_steady_init(&r.steady, &r.config.steady);
	ret = run_jobs(&r);
	stb_steady_fini(&r.steady);
	munmap(r.jobs, bytes);
	stb_phase_enter(phase, STB_STAGE_DONE, stb_clock_ns());
	return ret;
}
