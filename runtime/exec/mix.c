/*
 * mix.c - the workloads of a mix, at the same time.
 *
 * Each member is a process of its own, as a workload that runs alone is, with its own counters in shared memory; so its CPU time is its own, a broken
 * engine takes one member with it, and neither the loop of io nor the crew of OLTP knows of mixes. This process leads: it opens the lines that all
 * members wait at (enum stb_line).
 *
 *             set up    READY         warm up            START        measure            END
 *   member a  =========>|  . . . ====================>...|============================>|
 *   member b   (a's turn)=======>|     . . . ==========>.|=================>|(size).....|=> reads back
 *                                ^ all are ready         ^ t0: all are warm             ^ nobody measures
 *
 * - Members are set up one after the other, in the order of `run`: files are laid out by one at a time, as they would be alone, and the connections
 *   of one that is ready count when the next one looks whether there is room for its own.
 * - Each warms up for as long as it says, and all warm-ups end together: the longest begins first. One without begins at t0, so that what is to be
 *   measured cold is. An io workload drains before t0; the load of an OLTP workload goes on to it.
 * - With steady_state in any of them, none ends its warm-up before all that wait for it are steady: STEADY. What is steady is the load of all, for which
 *   reason the compiler wants a warm-up of the others.
 * - t0 is one instant, told AHEAD_NS before: each member sleeps to it by its own clock read, and a time limit counts from it, so that equal times end
 *   together.
 * - Each member ends as it does alone: after its time, its size, its events. The others go on: what one ends by is no reason to cut off what another
 *   was asked for, and size-bound members do exactly the I/Os that they do alone (as fio's jobs do). For how long all of them ran is a figure of the
 *   mix (overlap), and the plan warns of different times.
 * - Where one fails all others are asked to stop at once. What they counted until then is kept.
 *
 * Rejected: threads of one process, whose CPU time nobody can divide, and where a crash of one takes the figures of all with it; a common barrier in
 * shared memory, which a member that is killed leaves closed.
 */
#include "runtime/exec/mix.h"

#include "runtime/base/clock.h"
#include "runtime/plan/plan.h"

#include <string.h>

#define AHEAD_NS 20000000u /* from telling an instant to it */
#define LOOK_NS 2000000u   /* how often members are looked at before they are measured, and behind it */

struct mix {
	struct stb_mix_member *members;
	struct stb_child *children[STB_MAX_MEMBERS]; /* that were started and have not ended */
	uint32_t n, n_started;
	uint32_t opened;  /* lines */
	bool over;        /* everybody was asked to stop, nobody else is started */
	uint32_t culprit;
};

static bool lives(const struct mix *m, uint32_t i)
{
	return m->children[i] != NULL;
}

static uint32_t reached(const struct mix *m, uint32_t i)
{
	return atomic_load(&m->members[i].phase->meet.reached);
}

static bool any_lives(const struct mix *m)
{
	for (uint32_t i = 0; i < m->n_started; i++)
		if (lives(m, i))
			return true;
	return false;
}

static bool all_reached(const struct mix *m, uint32_t line)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (i >= m->n_started || (lives(m, i) && reached(m, i) <= line))
			return false;
	return true;
}

static uint64_t longest_warm_up(const struct mix *m)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < m->n; i++)
		longest = STB_MAX(longest, m->members[i].warm_ns);
	return longest;
}

/* A member without a warm-up goes on to the next line, and waits there. */
static uint64_t begin_of_warm_up(const struct mix *m, uint32_t i, uint64_t at_ns)
{
	const uint64_t warm = m->members[i].warm_ns;

	return warm ? at_ns + longest_warm_up(m) - warm : at_ns;
}

static void open_line(struct mix *m, enum stb_line line)
{
	const uint64_t now = stb_clock_ns(), at = line == STB_LINE_READY || line == STB_LINE_START ? now + AHEAD_NS : now;

	for (uint32_t i = 0; i < m->n; i++)
		atomic_store(&m->members[i].phase->meet.open_ns[line], line == STB_LINE_READY ? begin_of_warm_up(m, i, at) : at);
	m->opened++;
}

/* Those that wait for others are not watched for standing still. */
static void hold_waiting(struct mix *m, uint64_t now)
{
	for (uint32_t i = 0; i < m->n_started; i++) {
		const uint32_t lines = lives(m, i) ? reached(m, i) : 0;
		const uint64_t opens = lines ? atomic_load(&m->members[i].phase->meet.open_ns[lines - 1]) : 0;

		if (lives(m, i))
			stb_child_hold(m->children[i], lines && (!opens || opens > now));
	}
}

static void stop_all(struct mix *m)
{
	m->over = true;
	for (uint32_t i = 0; i < m->n_started; i++)
		if (lives(m, i))
			stb_child_stop(m->children[i]);
}

static void blame(struct mix *m, uint32_t i)
{
	if (m->culprit == STB_NONE)
		m->culprit = i;
	stop_all(m);
}

static void start_next(struct mix *m)
{
	const uint32_t i = m->n_started;
	struct stb_mix_member *one = &m->members[i];

	m->children[i] = stb_child_start(one->job, one->phase, &one->err);
	m->n_started++;
	if (m->children[i])
		return;
	one->fate = STB_CHILD_FAILED;
	blame(m, i);
}

/* Takes leave of those that have ended; one that failed, or was stopped by whomever, ends the mix. */
static void look_for_ends(struct mix *m)
{
	for (uint32_t i = 0; i < m->n_started; i++) {
		struct stb_mix_member *one = &m->members[i];

		if (!lives(m, i))
			continue;
		if (stb_child_lives(m->children[i])) {
			if (stb_child_stopped(m->children[i]) && !m->over)
				stop_all(m);
			continue;
		}
		one->fate = stb_child_end(m->children[i], &one->err);
		m->children[i] = NULL;
		if (one->fate == STB_CHILD_INTERRUPTED)
			stop_all(m);
		else if (one->fate != STB_CHILD_DONE)
			blame(m, i);
	}
}

static void lead(struct mix *m)
{
	if (m->n_started < m->n && (!m->n_started || !lives(m, m->n_started - 1) || reached(m, m->n_started - 1)))
		start_next(m);
	while (!m->over && m->opened < STB_N_LINES && all_reached(m, m->opened))
		open_line(m, (enum stb_line)m->opened);
	hold_waiting(m, stb_clock_ns());
}

static void step(struct mix *m)
{
	struct stb_child *alive[STB_MAX_MEMBERS];
	const bool measuring = m->opened > STB_LINE_START && m->opened < STB_N_LINES;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_started; i++)
		if (lives(m, i))
			alive[n++] = m->children[i];
	if (n)
		stb_children_step(alive, n, measuring || m->over ? UINT64_MAX : stb_clock_ns() + LOOK_NS);
}

uint32_t stb_mix_run(struct stb_mix_member *members, uint32_t n, bool settles)
{
	struct mix m = { .members = members, .n = n, .culprit = STB_NONE };

	STB_ASSERT(n && n <= STB_MAX_MEMBERS);
	for (uint32_t i = 0; i < n; i++) {
		members[i].phase->meet.used = true;
		members[i].phase->meet.settles = settles;
		members[i].fate = STB_CHILD_INTERRUPTED;
		stb_err_clear(&members[i].err);
	}
	do {
		if (!m.over)
			lead(&m);
		step(&m);
		look_for_ends(&m);
	} while (any_lives(&m) || (!m.over && m.n_started < n));
	return m.culprit;
}
