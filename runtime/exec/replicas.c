/*
 * replicas.c - the replicas of a group, and the watch over them while a repetition is measured.
 *
 * The watch is a process of its own: a replica that stands still must hold up neither the measuring nor whoever watches that. It looks
 * when the measure stage begins, then every interval, and once more when the stage is over, and leaves what it saw in shared memory. Of a mix
 * it lasts until the last of the workloads on the server is over.
 *
 *   lag          what the replica furthest behind says of itself, in seconds; a replica that gives no answer, or does not follow, is as far
 *                behind as it has not been heard of
 *   semi-sync    by the primary's own counts from before to after: it must never have been off, and no commit may have gone unacknowledged
 */
#include "runtime/exec/run.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_POINTS 65536
#define STAGE_POLL_NS (STB_NS_PER_S / 50)
#define LEAST_PERIOD_NS (STB_NS_PER_S / 10)
#define MOST_PERIOD_NS STB_NS_PER_S

struct point {
	uint64_t t_ns; /* of the measure stage */
	double lag_s;
};

/* Written by the watching process alone. */
struct seen {
	_Atomic uint32_t n;
	_Atomic bool off;     /* semi-synchronous replication was, at a look */
	uint64_t period_ns;   /* of looks */
	struct point points[MAX_POINTS];
};

struct stb_replica_watch {
	struct stb_replication r;
	struct stb_replication_state before;
	struct stb_replication_probe *probe; /* of this process */
	struct seen *seen;
	pid_t pid;
};

struct stb_replication stb_group_replication(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];

	return (struct stb_replication){ .primary = g->mysqld, .replicas = g->replicas, .n = g->mysqld ? g->n_replicas : 0,
		.semi_sync = g->semi_sync, .stop = stb_run_interrupted, .ctx = run };
}

int stb_group_settle(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	const struct stb_replication r = stb_group_replication(run, group);

	return r.n && run->groups[group].running ? stb_replication_settle(&r, err) : 0;
}

/* --- the watching process ------------------------------------------------------------------------------------------------------------ */

struct watcher {
	const struct stb_replication *r;
	struct stb_replication_probe *probe;
	struct seen *seen;
	uint64_t heard_at[STB_MAX_REPLICAS];
	uint64_t measure_since;
};

static void look(struct watcher *w)
{
	const uint32_t n = atomic_load(&w->seen->n);
	struct stb_replication_state s;
	double lag_s;

	stb_replication_look(w->probe, &s);
	const uint64_t now = stb_clock_ns();

	lag_s = s.lag_s;
	for (uint32_t i = 0; i < w->r->n; i++) {
		if (s.heard[i])
			w->heard_at[i] = now;
		else
			lag_s = STB_MAX(lag_s, (double)(now - w->heard_at[i]) / 1e9);
	}
	if (s.known && !s.on)
		atomic_store(&w->seen->off, true);
	if (n == MAX_POINTS || now < w->measure_since)
		return;
	w->seen->points[n] = (struct point){ now - w->measure_since, lag_s };
	atomic_store(&w->seen->n, n + 1);
}

/* When the first of them began to measure; 0: none has. */
static uint64_t begun_ns(const struct stb_phase *const *phases, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&phases[i]->stage) == STB_STAGE_MEASURE)
			return atomic_load(&phases[i]->stage_since_ns);
	return 0;
}

static bool all_over(const struct stb_phase *const *phases, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&phases[i]->stage) <= STB_STAGE_MEASURE)
			return false;
	return true;
}

static STB_NORETURN void be_watcher(const struct stb_replication *r, struct seen *seen, const struct stb_phase *const *phases, uint32_t n_phases)
{
	struct watcher w = { .r = r, .probe = stb_replication_probe_new(r), .seen = seen };
	uint64_t next = 0;

	for (uint32_t i = 0; i < r->n; i++)
		w.heard_at[i] = stb_clock_ns();
	for (;;) {
		if (!w.measure_since)
			w.measure_since = next = begun_ns(phases, n_phases);
		if (w.measure_since && all_over(phases, n_phases))
			break;
		if (w.measure_since && stb_clock_ns() >= next) {
			look(&w);
			next = STB_MAX(next + seen->period_ns, stb_clock_ns());
		}
		(void)stb_clock_sleep_until(stb_clock_ns() + STAGE_POLL_NS);
	}
	look(&w);
	for (;;) /* it is ended from outside, at a moment that it cannot know */
		pause();
}

/* --- from outside -------------------------------------------------------------------------------------------------------------------- */

int stb_replica_watch_begin(struct stb_replica_watch **out, struct stb_run *run, uint32_t group, const struct stb_phase *const *phases,
	uint32_t n_phases, uint64_t interval_ns, struct stb_err *err)
{
	const struct stb_replication r = stb_group_replication(run, group);
	const pid_t parent = getpid();
	struct stb_replica_watch *w;

	*out = NULL;
	if (!r.n)
		return 0;
	w = stb_xcalloc(1, sizeof *w);
	w->r = r;
	w->probe = stb_replication_probe_new(&w->r);
	w->seen = mmap(NULL, sizeof *w->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w->seen == MAP_FAILED) {
		w->seen = NULL;
		stb_err_set(err, errno, "cannot map memory for the watch over the replicas");
		goto fail;
	}
	w->seen->period_ns = STB_MIN(STB_MAX(interval_ns, LEAST_PERIOD_NS), MOST_PERIOD_NS);
	stb_replication_look(w->probe, &w->before);
	if (w->before.trouble[0] || !w->before.known || (r.semi_sync && !w->before.on)) {
		stb_err_set(err, 0, "%s", w->before.trouble[0] ? w->before.trouble : !w->before.known ? "the primary does not answer" :
			"semi-synchronous replication is off before the measurement");
		stb_err_remedy(err, "see the error logs of the primary and of its replicas");
		goto fail;
	}
	w->pid = fork();
	if (w->pid < 0) {
		stb_err_set(err, errno, "cannot fork the process that watches the replicas");
		goto fail;
	}
	if (!w->pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		stb_signals_child(&run->signals);
		be_watcher(&w->r, w->seen, phases, n_phases);
	}
	*out = w;
	return 0;
fail:
	stb_replica_watch_free(w);
	return -1;
}

/* A look that takes long waits for a replica that gives no answer: it has not been heard of since the look before. */
bool stb_replica_watch_lag(const struct stb_replica_watch *w, uint64_t from_ns, uint64_t to_ns, double *lag_s)
{
	const uint32_t n = w ? atomic_load(&w->seen->n) : 0;
	bool inside = false;
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < n && w->seen->points[i].t_ns <= to_ns; i++) {
		const struct point *p = &w->seen->points[i];

		*lag_s = inside ? STB_MAX(*lag_s, p->lag_s) : p->lag_s;
		inside = p->t_ns > from_ns;
		last_ns = p->t_ns;
	}
	if (n && to_ns != UINT64_MAX && to_ns - last_ns > 2 * w->seen->period_ns)
		*lag_s = STB_MAX(*lag_s, (double)(to_ns - last_ns) / 1e9);
	return n > 0 && w->seen->points[0].t_ns <= to_ns;
}

static void end_watcher(struct stb_replica_watch *w)
{
	if (w->pid <= 0)
		return;
	kill(w->pid, SIGKILL); /* not waited for yet, so the number is still its own */
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

enum stb_status stb_replica_watch_end(struct stb_replica_watch *w, struct stb_err *err)
{
	const struct stb_replication_state *before = &w->before;
	struct stb_replication_state after;

	end_watcher(w);
	stb_replication_look(w->probe, &after);
	if (w->r.semi_sync && after.known) {
		const unsigned long long no_tx = (unsigned long long)(after.no_tx - before->no_tx);

		if (no_tx)
			stb_err_set(err, 0, "semi-synchronous replication fell back: %llu commits went unacknowledged by any replica", no_tx);
		else if (!after.on || after.off_times != before->off_times || atomic_load(&w->seen->off))
			stb_err_set(err, 0, "semi-synchronous replication was off for a while");
		if (err->set) {
			stb_err_remedy(err, "find out why no replica answered within rpl_semi_sync_master_timeout: its error log, its storage");
			return STB_STATUS_FALLBACK;
		}
	}
	if (after.known && !after.trouble[0])
		return STB_STATUS_OK;
	stb_err_set(err, 0, "after the measurement %s", after.trouble[0] ? after.trouble : "the primary does not answer");
	return STB_STATUS_DISTURBED;
}

void stb_replica_watch_free(struct stb_replica_watch *w)
{
	if (!w)
		return;
	end_watcher(w);
	stb_replication_probe_free(w->probe);
	if (w->seen)
		munmap(w->seen, sizeof *w->seen);
	free(w);
}
