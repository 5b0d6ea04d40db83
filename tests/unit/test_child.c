/* test_child.c - a measured phase in a child: every way it can end is told apart, what it counted survives it, and it is always waited for. */
#include "runtime/exec/child.h"

#include "runtime/base/clock.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct stb_signals signals = { .fd = -1 };

struct seen {
	uint32_t samples, ticks;
	uint64_t last_t_ns, ops, longest_ns;
};

static void stage(struct stb_phase *p, enum stb_stage s)
{
	stb_phase_enter(p, s, stb_clock_ns());
}

static int work(const void *setup, struct stb_phase *p)
{
	const uint64_t ms = *(const uint64_t *)setup, t0 = stb_clock_ns();

	stage(p, STB_STAGE_MEASURE);
	while (stb_clock_ns() < t0 + ms * 1000000u && !atomic_load(&p->stop)) {
		atomic_fetch_add(&p->live[0].ops, 1);
		usleep(1000);
	}
	p->result.window_ns = stb_clock_ns() - t0;
	p->result.ok[STB_WRITE] = atomic_load(&p->live[0].ops);
	p->result.end = atomic_load(&p->stop) ? STB_END_STOPPED : STB_END_TIME;
	stage(p, STB_STAGE_DONE);
	return 0;
}

static int refuse(const void *setup, struct stb_phase *p)
{
	(void)setup;
	atomic_store(&p->live[0].ops, 17);
	return stb_err_set(&p->err, 0, "no such luck");
}

static int crash(const void *setup, struct stb_phase *p)
{
	(void)setup;
	atomic_store(&p->live[0].ops, 3);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

static int leave(const void *setup, struct stb_phase *p)
{
	(void)setup;
	(void)p;
	_exit(9);
}

/* Neither counts nor listens. */
static int hang(const void *setup, struct stb_phase *p)
{
	(void)setup;
	stage(p, STB_STAGE_MEASURE);
	while (!usleep(1000000))
		;
	return 0;
}

static void on_sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	struct seen *s = ctx;

	cr_assert_gt(dt_ns, 0u);
	cr_assert_eq(t_ns, s->last_t_ns + dt_ns, "samples follow each other without a gap");
	cr_assert_geq(sum->ops, s->ops);
	s->last_t_ns = t_ns;
	s->longest_ns = STB_MAX(s->longest_ns, dt_ns);
	s->ops = sum->ops;
	s->samples++;
}

static void on_tick(void *ctx, const struct stb_phase *p)
{
	(void)p;
	((struct seen *)ctx)->ticks++;
}

static struct stb_child_job job(int (*run)(const void *, struct stb_phase *), const uint64_t *ms, struct seen *seen)
{
	return (struct stb_child_job){ .run = run, .setup = ms, .signals = &signals, .grace_ns = 300000000u, .interval_ns = 50000000u,
		.tick_ns = 20000000u, .ctx = seen, .sample = on_sample, .tick = on_tick };
}

static enum stb_child_fate go(struct stb_child_job *j, struct stb_phase **phase, struct stb_err *err)
{
	enum stb_child_fate fate;

	stb_err_clear(err);
	*phase = stb_phase_map(2, err);
	cr_assert_not_null(*phase);
	fate = stb_child_run(j, *phase, err);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "every child is waited for");
	return fate;
}

Test(child, ends_well_and_is_sampled)
{
	const uint64_t ms = 400;
	struct seen seen = { 0 };
	struct stb_child_job j = job(work, &ms, &seen);
	struct stb_phase *p;
	struct stb_err err;

	cr_assert_eq(go(&j, &p, &err), STB_CHILD_DONE);
	cr_assert_not(err.set);
	cr_assert_gt(p->result.ok[STB_WRITE], 0u);
	cr_assert_geq(seen.samples, 2u);
	cr_assert_gt(seen.ticks, 0u);
	cr_assert_eq(seen.ops, p->result.ok[STB_WRITE], "the last sample sees all");
	cr_assert_eq(seen.last_t_ns, p->result.window_ns, "the last sample ends with the window");
	stb_phase_unmap(p);
}

/* Ends its window `ms` and a moment after its start, with operations in that moment and in the drain. */
struct tail {
	uint64_t ms, tail_us, drain_ms;
};

static int work_with_tail(const void *setup, struct stb_phase *p)
{
	const struct tail *t = setup;
	const uint64_t t0 = stb_clock_ns();

	stage(p, STB_STAGE_MEASURE);
	stb_clock_sleep_until(t0 + t->ms * 1000000u);
	atomic_fetch_add(&p->live[0].ops, 1);
	stb_clock_sleep_until(t0 + t->ms * 1000000u + t->tail_us * 1000u);
	atomic_fetch_add(&p->live[0].ops, 1);
	atomic_fetch_add(&p->live[1].ops, 5);
	stage(p, STB_STAGE_DRAIN);
	stb_clock_sleep_until(stb_clock_ns() + t->drain_ms * 1000000u);
	atomic_fetch_add(&p->live[0].ops, 1);
	p->result.window_ns = stb_clock_ns() - t0;
	p->result.ok[STB_READ] = 5;
	p->result.ok[STB_WRITE] = 3;
	usleep(120000); /* what comes after the window, as closing connections does: it has no samples */
	stage(p, STB_STAGE_DONE);
	return 0;
}

/* Wherever the window ends between two samples, in however long a drain: what was counted is in the samples, and they end with the window. */
Test(child, samples_hold_all_that_was_counted)
{
	static const struct tail tails[] = {
		{ 100, 0, 0 }, { 100, 1, 0 }, { 100, 20, 0 }, { 100, 100, 0 }, { 100, 1000, 0 }, { 100, 10000, 0 }, { 100, 24000, 0 },
		{ 100, 26000, 0 }, { 100, 49990, 0 }, { 0, 1, 0 }, { 0, 30000, 0 }, { 30, 0, 170 }, { 100, 20, 1 }, { 100, 0, 60 },
	};

	for (size_t i = 0; i < STB_LEN(tails); i++) {
		struct seen seen = { 0 };
		struct stb_child_job j = job(work_with_tail, (const uint64_t *)&tails[i], &seen);
		struct stb_phase *p;
		struct stb_err err;

		cr_assert_eq(go(&j, &p, &err), STB_CHILD_DONE);
		cr_expect_eq(seen.ops, 8u, "case %zu: %llu", i, (unsigned long long)seen.ops);
		cr_expect_eq(seen.last_t_ns, p->result.window_ns, "case %zu", i);
		cr_expect_leq(seen.samples, p->result.window_ns / j.interval_ns + 1, "case %zu", i);
		stb_phase_unmap(p);
	}
}

/* Counts until it is told that nobody looked for a while, and for a moment after that; at most for 20 s. */
static int work_past_it(const void *setup, struct stb_phase *p)
{
	const uint64_t t0 = stb_clock_ns();

	(void)setup;
	stage(p, STB_STAGE_MEASURE);
	for (int more = 60; more && stb_clock_ns() < t0 + 20 * STB_NS_PER_S; more -= atomic_load(&p->stop)) {
		atomic_fetch_add(&p->live[0].ops, 1);
		usleep(1000);
	}
	p->result.window_ns = stb_clock_ns() - t0;
	p->result.ok[STB_WRITE] = atomic_load(&p->live[0].ops);
	stage(p, STB_STAGE_DONE);
	return 0;
}

/* Sleeps for six intervals while it is measured, so that nobody looks at the child meanwhile, and tells it then. */
static void oversleep(void *ctx, const struct stb_phase *p)
{
	struct seen *s = ctx;

	if (atomic_load(&p->stage) != STB_STAGE_MEASURE || s->ticks++)
		return;
	(void)stb_clock_sleep_until(stb_clock_ns() + 6 * 50000000u);
	atomic_store(&((struct stb_phase *)p)->stop, 1);
}

/* While the parent was held up, and until the window was over or not: what was counted then is one sample of its true length. */
Test(child, nobody_looks_for_a_while)
{
	static int (*const works[])(const void *, struct stb_phase *) = { work_past_it, work };
	const uint64_t ms = 100; /* of the other: it ends meanwhile */

	for (size_t i = 0; i < STB_LEN(works); i++) {
		struct seen seen = { 0 };
		struct stb_child_job j = job(works[i], &ms, &seen);
		struct stb_phase *p;
		struct stb_err err;

		j.tick = oversleep;
		cr_assert_eq(go(&j, &p, &err), STB_CHILD_DONE);
		cr_expect_eq(seen.ops, p->result.ok[STB_WRITE]);
		cr_expect_eq(seen.last_t_ns, p->result.window_ns, "the window is that of the child, whoever saw it begin or end");
		cr_expect(i || seen.longest_ns >= 5 * j.interval_ns, "%llu", (unsigned long long)seen.longest_ns);
		stb_phase_unmap(p);
	}
}

/* Reads back for half a second, or waits for the other workloads of a mix. */
static int work_then_verify(const void *setup, struct stb_phase *p)
{
	const uint64_t t0 = stb_clock_ns();

	(void)setup;
	stage(p, STB_STAGE_MEASURE);
	usleep(60000);
	p->result.window_ns = stb_clock_ns() - t0;
	stage(p, STB_STAGE_VERIFY);
	usleep(500000);
	return 0;
}

/* It would take from those that are still measured. */
Test(child, costs_its_parent_nothing_after_the_window)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(work_then_verify, NULL, &seen);
	struct timespec before, after;
	struct stb_phase *p;
	struct stb_err err;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_DONE);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	cr_expect_lt((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000, 200, "milliseconds of CPU in 500");
	stb_phase_unmap(p);
}

/* A stall, into the drain; the window is not known to the child. */
struct stall {
	uint64_t measure_ms, drain_ms;
	bool dies;
};

static int work_and_stall(const void *setup, struct stb_phase *p)
{
	const struct stall *s = setup;
	const uint64_t t0 = stb_clock_ns();

	stage(p, STB_STAGE_MEASURE);
	atomic_fetch_add(&p->live[0].ops, 7);
	stb_clock_sleep_until(t0 + s->measure_ms * 1000000u);
	if (s->drain_ms)
		stage(p, STB_STAGE_DRAIN);
	stb_clock_sleep_until(t0 + (s->measure_ms + s->drain_ms) * 1000000u);
	if (s->dies)
		_exit(9);
	stage(p, STB_STAGE_DONE);
	usleep(120000);
	return stb_err_set(&p->err, 0, "it stalled");
}

/* Zeros, not missing samples, however far it got. */
Test(child, a_stall_is_sampled_to_its_end)
{
	static const struct stall stalls[] = { { 300, 0, true }, { 120, 200, true }, { 120, 200, false }, { 40, 300, false } };

	for (size_t i = 0; i < STB_LEN(stalls); i++) {
		const uint64_t ms = stalls[i].measure_ms + stalls[i].drain_ms;
		struct seen seen = { 0 };
		struct stb_child_job j = job(work_and_stall, (const uint64_t *)&stalls[i], &seen);
		struct stb_phase *p;
		struct stb_err err;

		cr_assert_eq(go(&j, &p, &err), STB_CHILD_FAILED);
		cr_expect_eq(seen.ops, 7u, "case %zu", i);
		cr_expect_geq(seen.last_t_ns, ms * 1000000u, "case %zu: %llu", i, (unsigned long long)seen.last_t_ns);
		cr_expect_geq(seen.samples, ms / 50 - 1, "case %zu: %u", i, (unsigned)seen.samples);
		stb_phase_unmap(p);
	}
}

Test(child, its_error_is_taken_over)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(refuse, NULL, &seen);
	struct stb_phase *p;
	struct stb_err err;

	cr_assert_eq(go(&j, &p, &err), STB_CHILD_FAILED);
	cr_assert_str_eq(err.what, "no such luck");
	cr_assert_eq(stb_phase_sum(p).ops, 17u);
	stb_phase_unmap(p);
}

Test(child, a_crash_is_told_and_counters_survive)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(crash, NULL, &seen);
	struct stb_phase *p;
	struct stb_err err;

	cr_assert_eq(go(&j, &p, &err), STB_CHILD_DIED);
	cr_assert_not_null(strstr(err.what, "signal 11"));
	cr_assert_eq(stb_phase_sum(p).ops, 3u);
	stb_phase_unmap(p);
}

Test(child, an_exit_without_a_reason_is_a_failure)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(leave, NULL, &seen);
	struct stb_phase *p;
	struct stb_err err;

	cr_assert_eq(go(&j, &p, &err), STB_CHILD_FAILED);
	cr_assert_not_null(strstr(err.what, "status 9"));
	stb_phase_unmap(p);
}

Test(child, beyond_its_time_it_is_killed)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(hang, NULL, &seen);
	struct stb_phase *p;
	struct stb_err err;

	j.limit_ns = 100000000u;
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_HUNG);
	cr_assert_not_null(strstr(err.what, "killed"));
	stb_phase_unmap(p);
}

Test(child, standing_still_is_noticed_without_a_time)
{
	struct seen seen = { 0 };
	struct stb_child_job j = job(hang, NULL, &seen);
	struct stb_phase *p;
	struct stb_err err;

	j.still_ns = 200000000u;
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_HUNG);
	stb_phase_unmap(p);
}

static bool never(void *ctx, struct stb_err *err)
{
	(void)ctx;
	stb_err_set(err, 0, "the server is gone");
	return false;
}

Test(child, is_given_up_when_what_it_works_on_is_gone)
{
	const uint64_t ms = 60000;
	struct seen seen = { 0 };
	struct stb_child_job j = job(work, &ms, &seen);
	struct stb_phase *p;
	struct stb_err err;

	j.watch = never;
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_ABANDONED);
	cr_assert_str_eq(err.what, "the server is gone");
	stb_phase_unmap(p);
}

static void raise_term(void *ctx, const struct stb_phase *p)
{
	(void)ctx;
	if (stb_phase_sum(p).ops > 3)
		kill(getpid(), SIGTERM);
}

Test(child, a_signal_stops_it_in_order)
{
	const uint64_t ms = 60000;
	struct seen seen = { 0 };
	struct stb_signals s;
	struct stb_child_job j = job(work, &ms, &seen);
	struct stb_phase *p;
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_signals_open(&s, &err), 0);
	j.signals = &s;
	j.tick = raise_term;
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_INTERRUPTED);
	cr_assert_eq(s.first, SIGTERM);
	cr_assert_eq(p->result.end, STB_END_STOPPED);
	cr_assert_gt(p->result.ok[STB_WRITE], 3u);
	stb_phase_unmap(p);
	/* nothing is begun any more */
	cr_assert_eq(go(&j, &p, &err), STB_CHILD_INTERRUPTED);
	cr_assert_eq(stb_phase_sum(p).ops, 0u);
	stb_phase_unmap(p);
	stb_signals_close(&s);
}
