/*
 * judge.c - what a repetition is worth, of one workload by what it asked for and how its process ended.
 *
 *   ended by itself, in time             ok
 *   io, by size although a runtime was given   ended_by_size
 *   an error of the workload, or more errors than error_limit     invalid:errors
 *   its group could not be made, its server died, its process was killed     invalid:disturbed
 *   time over before 95% of what was asked     invalid:early
 *   no window of steady_state was steady within its limit     invalid:not_steady
 *   with a rate: less of it was met than rate_tolerance allows     invalid:rate
 *   semi-sync: it was off, or a commit went unacknowledged     invalid:fallback
 *   a loop device that works through the page cache     invalid:fallback
 *   a replica did not follow at the end, or died     invalid:disturbed
 *   beyond its time, or no counter moves; nothing completed at all     invalid:stalled
 *   interrupted                          no row: the repetition was not finished, and resume would do it again
 *
 * `errors` says something of what is measured, `disturbed` that what it stands on was not there or was taken away: nobody should read a
 * killed server as a storage class that makes errors. What was counted until then is kept with the status; where nothing was measured
 * there is no row, and the journal has status and reason.
 *
 * A mix is worth what the least of its members is, and ended by size where one of them left the others alone, which nobody can do who runs alone:
 * verdict.c.
 */
#include "runtime/exec/judge.h"
#include "runtime/io/io.h"

#include "runtime/base/clock.h"

#include <string.h>

#define STILL_NS (120 * STB_NS_PER_S)    /* without a counter that moves */
#define STILL_ARRIVALS 30                /* nor, at a low rate, for the time of so many arrivals */
#define EARLY_SHARE 0.95

uint64_t stb_judge_u64(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, name);

	return a && a->val.den && a->val.num > 0 ? (uint64_t)(a->val.num / a->val.den) : 0;
}

/* What was asked for: 0 where only size or events bound it. */
uint64_t stb_judge_asked_ns(const struct stb_plan_block *w, bool is_io)
{
	return stb_judge_u64(w, is_io ? "runtime" : "time");
}

static double attr_double(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, name);

	return a && a->val.den ? stb_val_double(&a->val) : 0;
}

/* Against what was due, not against the rate: arrivals are random, and fewer than asked for are no fault of what is measured. */
static bool misses_rate(const struct stb_plan_block *w, bool is_io, uint64_t ok, const struct stb_measure *m, struct stb_err *err)
{
	const double tolerance = attr_double(w, "rate_tolerance"), window_s = (double)STB_MAX(m->window_ns, 1u) / 1e9;

	if (!m->scheduled || (double)ok >= (double)m->scheduled * (1 - tolerance))
		return false;
	stb_err_set(err, 0, "the rate was not met: of %.1f %s/s that %s %.1f were done, and rate_tolerance = %g%%",
		(double)m->scheduled / window_s, is_io ? "I/Os" : "transactions", is_io ? "were due" : "arrived", (double)ok / window_s,
		100 * tolerance);
	stb_err_remedy(err, "ask for a lower rate, or let more %s at the same time; what may be missed is rate_tolerance",
		is_io ? "I/Os be under way (iodepth, numjobs)" : "connections work (threads)");
	return true;
}

static void blame_unsteady(const struct stb_plan_block *w, const struct stb_steadiness *s, struct stb_err *err)
{
	const struct stb_plan_attr *metric = stb_plan_attr(w, "steady_state.metric"), *slope = stb_plan_attr(w, "steady_state.slope");
	const char *criterion = slope ? "slope" : "deviation", *name = metric ? metric->val.str : "";
	const double limit_s = attr_double(w, "steady_state.limit") / 1e9, window_s = attr_double(w, "steady_state.window") / 1e9;
	const double most = 100 * attr_double(w, slope ? "steady_state.slope" : "steady_state.deviation");

	if (s->judged)
		stb_err_set(err, 0, "%s was not steady within %.9g s: the steadiest %.9g s have a %s of %.3g%%%s, and %s = %.9g%%", name, limit_s,
			window_s, criterion, 100 * s->found, slope ? " a second" : "", criterion, most);
	else
		stb_err_set(err, 0, "%s was not steady within %.9g s: in no %.9g s of them something was completed in each second", name, limit_s,
			window_s);
	stb_err_remedy(err, "give steady_state a longer limit or a longer window, or a greater %s; see what else uses the device", criterion);
	err->span = metric && metric->span != STB_NONE ? metric->span + 1 : 0;
}

/* The time from one start to the next at a rate of one job. */
static double gap_s(const struct stb_plan_block *w, bool is_io)
{
	const double rate = attr_double(w, is_io ? "rate_iops" : "rate"), bytes = is_io ? attr_double(w, "rate") : 0;

	if (bytes > 0)
		return (double)stb_io_greatest_bs_of(w) / bytes;
	return rate > 0 ? 1 / rate : 0;
}

/* A counter may stand still between arrivals, and in pauses. */
uint64_t stb_judge_still_ns(const struct stb_plan_block *w, bool is_io)
{
	const double gap = STILL_ARRIVALS * gap_s(w, is_io) * 1e9;
	const uint64_t pause = is_io ? stb_judge_u64(w, "thinktime") : 0;

	return STILL_NS + pause + (gap > (double)STILL_NS ? (uint64_t)STB_MIN(gap, 0x1p62) : 0);
}

enum stb_status stb_judge(const struct stb_plan_block *w, bool is_io, enum stb_child_fate fate, const struct stb_measure *m, struct stb_err *err)
{
	const uint64_t asked = stb_judge_asked_ns(w, is_io);
	const struct stb_plan_attr *limit = stb_plan_attr(w, "error_limit");
	uint64_t ok = 0;

	for (int d = 0; d < STB_N_DIRS; d++)
		ok += m->ok[d];
	switch (fate) {
	case STB_CHILD_HUNG:
		return STB_STATUS_STALLED;
	case STB_CHILD_FAILED:
		return m->end == STB_END_STALLED ? STB_STATUS_STALLED : STB_STATUS_ERRORS;
	case STB_CHILD_DIED:
	case STB_CHILD_ABANDONED:
		return STB_STATUS_DISTURBED;
	case STB_CHILD_INTERRUPTED:
	case STB_CHILD_DONE:
		break;
	}
	if (m->end == STB_END_ERROR) {
		if (!err->set)
			stb_err_set(err, 0, "the measurement ended with an error");
		return STB_STATUS_ERRORS;
	}
	if (!is_io && limit && limit->val.type != STB_V_NONE && m->errors > stb_judge_u64(w, "error_limit")) {
		stb_err_set(err, 0, "%llu errors were retried, more than error_limit = %llu", (unsigned long long)m->errors,
			(unsigned long long)stb_judge_u64(w, "error_limit"));
		stb_err_remedy(err, "see in journal.jsonl which errors they were; use fewer threads or larger tables where they are deadlocks, or a "
				    "greater error_limit where they belong to what is measured");
		return STB_STATUS_ERRORS;
	}
	if (!ok) {
		stb_err_set(err, 0, "nothing was completed in the measured time");
		stb_err_remedy(err, "give it more time (%s); see what else uses the %s", is_io ? "runtime" : "time", is_io ? "device" : "server");
		return STB_STATUS_STALLED;
	}
	if (m->end == STB_END_STOPPED || (m->end == STB_END_TIME && (double)m->window_ns < EARLY_SHARE * (double)asked)) {
		stb_err_set(err, 0, "the measurement ended after %.1f s of %.1f s", (double)m->window_ns / 1e9, (double)asked / 1e9);
		return STB_STATUS_EARLY;
	}
	if (misses_rate(w, is_io, ok, m, err))
		return STB_STATUS_RATE;
	if (m->steady.asked && !m->steady.reached) {
		blame_unsteady(w, &m->steady, err);
		return STB_STATUS_NOT_STEADY;
	}
	return is_io && asked && m->end == STB_END_SIZE ? STB_STATUS_ENDED_BY_SIZE : STB_STATUS_OK;
}
