/*
 * test_mix.c - the workloads of a mix: set up one after the other, one start, each to its own end, the end of all where one fails; and whoever
 * never comes to a line holds nobody up.
 */
#include "runtime/exec/mix.h"
#include "runtime/plan/plan.h"
#include "runtime/result/meet.h"

#include "runtime/base/clock.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u

static struct stb_signals signals = { .fd = -1 };

enum seen { SET_UP_FROM, SET_UP_TO, WARM_FROM, WARM_TO, FROM, TO, READ_BACK };

/* What a member does, in milliseconds, and where it told when. Instants lie in the histograms of its phase: shared, and of no other use here. */
struct plan {
	uint64_t set_up, warm, measured;
	uint64_t settle;     /* after its warm-up, until it is steady */
	uint64_t slow_start; /* from the line to what is told of it */
	uint32_t outlasts;   /* the member + 1 that ends before it does; 0: it ends by its own time */
	bool steady, fails_set_up, fails_measuring, dies, verifies;
	enum seen dies_after; /* 0: it does not */
};

static struct stb_phase *phases[4]; /* of all members, who share them */

static uint64_t *seen(struct stb_phase *p, enum seen what)
{
	return &p->result.lat[0].bucket[what];
}

static void spend(struct stb_phase *p, uint64_t until_ns)
{
	while (stb_clock_ns() < until_ns && !atomic_load(&p->stop)) {
		atomic_fetch_add(&p->live[0].ops, 1);
		usleep(500);
	}
}

static void pass(struct stb_phase *p, const struct plan *plan, enum seen what)
{
	*seen(p, what) = stb_clock_ns();
	if (what == plan->dies_after)
		raise(SIGKILL);
}

static void wait_for_end_of(struct stb_phase *p, struct stb_phase *other)
{
	const uint64_t until = stb_clock_ns() + 20000ull * MS;

	while (!__atomic_load_n(seen(other, TO), __ATOMIC_ACQUIRE) && stb_clock_ns() < until)
		spend(p, stb_clock_ns() + MS);
}

static int work(const void *setup, struct stb_phase *p)
{
	const struct plan *plan = setup;
	uint64_t from;

	*seen(p, SET_UP_FROM) = stb_clock_ns();
	spend(p, stb_clock_ns() + plan->set_up * MS);
	if (plan->fails_set_up)
		return stb_err_set(&p->err, 0, "nothing to be had");
	pass(p, plan, SET_UP_TO);
	from = stb_meet_wait(p, STB_LINE_READY);
	if (!from)
		return 0;
	if (plan->warm) {
		stb_phase_enter(p, plan->steady ? STB_STAGE_SETUP : STB_STAGE_WARMUP, from);
		*seen(p, WARM_FROM) = from;
		spend(p, from + plan->warm * MS);
		pass(p, plan, WARM_TO);
	}
	spend(p, stb_clock_ns() + plan->settle * MS);
	if (p->meet.settles && !stb_meet_wait(p, STB_LINE_STEADY))
		return 0;
	from = stb_meet_wait(p, STB_LINE_START);
	if (!from)
		return 0;
	*seen(p, FROM) = from;
	spend(p, stb_clock_ns() + plan->slow_start * MS);
	stb_phase_enter(p, STB_STAGE_MEASURE, from);
	spend(p, from + plan->measured * MS);
	if (plan->outlasts)
		wait_for_end_of(p, phases[plan->outlasts - 1]);
	if (plan->dies)
		raise(SIGKILL);
	if (plan->fails_measuring)
		return stb_err_set(&p->err, 0, "it broke");
	*seen(p, TO) = stb_clock_ns();
	p->result.window_ns = *seen(p, TO) - from;
	p->result.end = atomic_load(&p->stop) ? STB_END_STOPPED : STB_END_TIME;
	stb_meet_reach(p, STB_LINE_END);
	if (plan->dies_after == READ_BACK)
		pass(p, plan, READ_BACK);
	if (plan->verifies && stb_meet_wait(p, STB_LINE_END))
		*seen(p, READ_BACK) = stb_clock_ns();
	return 0;
}

struct fixture {
	struct stb_child_job jobs[4];
	struct stb_mix_member members[4];
	uint32_t n, culprit;
};

static void ignore(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	(void)ctx;
	(void)sum;
	(void)t_ns;
	(void)dt_ns;
}

static void go(struct fixture *f, const struct plan *plans, uint32_t n, uint64_t still_ns, uint64_t limit_ns)
{
	bool settles = false;
	struct stb_err err;

	memset(f, 0, sizeof(*f));
	f->n = n;
	for (uint32_t i = 0; i < n; i++) {
		f->jobs[i] = (struct stb_child_job){ .run = work, .setup = &plans[i], .signals = &signals, .grace_ns = 300 * MS, .still_ns = still_ns,
			.limit_ns = limit_ns, .interval_ns = 50 * MS, .tick_ns = 20 * MS, .sample = ignore };
		stb_err_clear(&err);
		f->members[i] = (struct stb_mix_member){ .job = &f->jobs[i], .phase = stb_phase_map(1, &err), .warm_ns = plans[i].warm * MS };
		cr_assert_not_null(f->members[i].phase);
		phases[i] = f->members[i].phase;
		settles = settles || plans[i].steady;
	}
	f->culprit = stb_mix_run(f->members, n, settles);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "every child is waited for");
}

static void done(struct fixture *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		stb_phase_unmap(f->members[i].phase);
}

static uint64_t at(const struct fixture *f, uint32_t i, enum seen what)
{
	return *seen(f->members[i].phase, what);
}

Test(mix, one_start_and_each_to_its_own_end)
{
	static const struct plan plans[] = { { .set_up = 30, .warm = 150, .measured = 20, .outlasts = 2 },
		{ .set_up = 30, .measured = 50, .verifies = true }, { .set_up = 1, .warm = 30, .measured = 20 } };
	struct fixture f;

	go(&f, plans, 3, 0, 0);
	cr_expect_eq(f.culprit, STB_NONE);
	for (uint32_t i = 0; i < 3; i++)
		cr_expect_eq(f.members[i].fate, STB_CHILD_DONE);
	for (uint32_t i = 0; i + 1 < 3; i++) {
		cr_expect_geq(at(&f, i + 1, SET_UP_FROM), at(&f, i, SET_UP_TO), "one is set up when the one before is ready");
		cr_expect_eq(at(&f, i, FROM), at(&f, i + 1, FROM), "one instant");
	}
	cr_expect_eq(at(&f, 2, WARM_FROM) + 30 * MS, at(&f, 0, WARM_FROM) + 150 * MS, "warm-ups end together, so that the shorter one begins later");
	cr_expect_eq(at(&f, 1, WARM_FROM), 0u, "what is measured cold does nothing before");
	cr_expect_geq(at(&f, 1, FROM), at(&f, 0, WARM_TO));
	cr_expect_leq(at(&f, 1, TO), at(&f, 0, TO), "who has done its size ends, and waits for nobody");
	cr_expect_geq(at(&f, 1, READ_BACK), at(&f, 0, TO), "and reads back when nobody is measured any more");
	done(&f);
}

Test(mix, steady_members_are_waited_for)
{
	static const struct plan plans[] = { { .warm = 20, .measured = 20 }, { .warm = 150, .steady = true, .measured = 20 } };
	struct fixture f;

	go(&f, plans, 2, 0, 0);
	cr_expect_eq(f.culprit, STB_NONE);
	cr_expect_eq(at(&f, 0, FROM), at(&f, 1, FROM));
	cr_expect_geq(at(&f, 0, FROM), at(&f, 1, WARM_TO));
	done(&f);
}

/* Each way of failing, of each member: it is the culprit, and the others are stopped with what they counted. */
Test(mix, one_that_fails_ends_all)
{
	static const struct plan failures[] = { { .fails_measuring = true, .measured = 30 }, { .dies = true, .measured = 30 }, { .fails_set_up = true } };
	static const enum stb_child_fate fates[] = { STB_CHILD_FAILED, STB_CHILD_DIED, STB_CHILD_FAILED };

	for (size_t k = 0; k < STB_LEN(failures); k++) {
		for (uint32_t who = 0; who < 3; who++) {
			struct plan plans[] = { { .measured = 20000 }, { .measured = 20000 }, { .measured = 20000 } };
			const uint64_t before = stb_clock_ns();
			struct fixture f;

			plans[who] = failures[k];
			go(&f, plans, 3, 0, 0);
			cr_expect_eq(f.culprit, who);
			cr_expect_eq(f.members[who].fate, fates[k]);
			cr_expect(f.members[who].err.set);
			cr_expect_lt(stb_clock_ns() - before, 15000ull * MS, "nobody went on to its own end");
			for (uint32_t i = 0; i < 3; i++) {
				const bool kept = i == who || failures[k].fails_set_up || f.members[i].phase->result.window_ns > 0;

				cr_expect(kept, "failure %zu of %u: member %u", k, who, i);
				cr_expect(i == who || !f.members[i].err.set, "one message");
			}
			done(&f);
		}
	}
}

/* Whoever waits for others is not taken for one that hangs; who does hang, is. */
Test(mix, waiting_is_no_hanging)
{
	static const struct plan plans[] = { { .measured = 10, .verifies = true }, { .set_up = 1500, .measured = 1500 } };
	struct fixture f;

	go(&f, plans, 2, 800 * MS, 0);
	cr_expect_eq(f.culprit, STB_NONE, "%s", f.culprit == STB_NONE ? "" : f.members[f.culprit].err.what);
	cr_expect_neq(at(&f, 0, READ_BACK), 0u);
	done(&f);
}

/* Those that warm up and go on until others are steady are not beyond their own time, not either in the moment in which the others are. */
Test(mix, a_warm_up_for_others_is_not_beyond_its_time)
{
	static const struct plan plans[] = { { .warm = 10, .measured = 30, .slow_start = 150 }, { .warm = 10, .settle = 2000, .steady = true, .measured = 30 } };
	struct fixture f;

	go(&f, plans, 2, 0, 800 * MS);
	cr_expect_eq(f.culprit, STB_NONE, "%s", f.culprit == STB_NONE ? "" : f.members[f.culprit].err.what);
	done(&f);
}

/* Everybody is asked to stop, at any time from the first set-up on: all end, nobody is at fault, and nobody else is begun. */
Test(mix, stopped_in_every_phase)
{
	static const struct plan plans[] = { { .set_up = 60, .warm = 60, .measured = 200, .verifies = true }, { .set_up = 60, .measured = 80, .verifies = true },
		{ .set_up = 60, .warm = 120, .steady = true, .measured = 300 } };

	for (uint32_t at_ms = 1; at_ms < 660; at_ms += 47) {
		struct sigevent by_signal = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
		const struct itimerspec once = { .it_value = { .tv_nsec = (long)(at_ms * MS) } };
		const uint64_t before = stb_clock_ns();
		bool begun = true;
		struct stb_err err;
		struct fixture f;
		timer_t timer;

		memset(&signals, 0, sizeof(signals));
		cr_assert_eq(stb_signals_open(&signals, &err), 0);
		cr_assert_eq(timer_create(CLOCK_MONOTONIC, &by_signal, &timer), 0);
		cr_assert_eq(timer_settime(timer, 0, &once, NULL), 0);
		go(&f, plans, 3, 0, 0);
		cr_expect_eq(f.culprit, STB_NONE);
		cr_expect_lt(stb_clock_ns() - before, 15000ull * MS);
		for (uint32_t i = 0; i < 3; i++) {
			cr_expect(f.members[i].fate == STB_CHILD_DONE || f.members[i].fate == STB_CHILD_INTERRUPTED);
			cr_expect(!f.members[i].err.set, "%s", f.members[i].err.what);
			cr_expect(begun || !at(&f, i, SET_UP_FROM));
			begun = begun && at(&f, i, SET_UP_FROM);
		}
		timer_delete(timer);
		stb_signals_close(&signals);
		done(&f);
	}
}

/* Each member of three, set up while others wait, warm or measure already, fails or dies there: the rest is not begun, or ends. */
Test(mix, lost_between_the_lines)
{
	static const struct plan lost[] = { { .set_up = 40, .dies_after = SET_UP_TO }, { .warm = 40, .dies_after = WARM_TO },
		{ .warm = 40, .steady = true, .dies_after = WARM_TO }, { .measured = 40, .dies_after = READ_BACK } };

	for (size_t k = 0; k < STB_LEN(lost); k++) {
		for (uint32_t who = 0; who < 3; who++) {
			struct plan plans[] = { { .warm = 10, .measured = 20000 }, { .warm = 60, .measured = 20000 }, { .warm = 10, .measured = 20000 } };
			const uint64_t before = stb_clock_ns();
			struct fixture f;

			plans[who] = lost[k];
			go(&f, plans, 3, 0, 0);
			cr_expect_eq(f.culprit, who, "%zu of %u", k, who);
			cr_expect_eq(f.members[who].fate, STB_CHILD_DIED);
			cr_expect_lt(stb_clock_ns() - before, 15000ull * MS);
			for (uint32_t i = 0; i < 3; i++) {
				cr_expect(i == who || f.members[i].fate == STB_CHILD_INTERRUPTED);
				cr_expect(i == who || !f.members[i].err.set, "one message");
				cr_expect(lost[k].dies_after != SET_UP_TO || i <= who || !at(&f, i, SET_UP_FROM), "nobody else is set up");
			}
			done(&f);
		}
	}
}
