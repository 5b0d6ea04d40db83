/* child.c - see child.h. */
#include "runtime/exec/child.h"

#include "runtime/base/clock.h"
#include "runtime/plan/plan.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLIND_POLL_NS 20000000u /* without a pidfd: how often the child is looked at */
#define DEAF_NS (60 * STB_NS_PER_S) /* after SIGKILL: then it sits in the kernel, and is left there */

struct stb_child {
	const struct stb_child_job *job;
	struct stb_phase *phase;
	struct stb_err err;
	pid_t pid;
	int pidfd;
	int status;                   /* of wait(), once it lives no more */
	bool ended;
	uint64_t ended_at;
	bool waits;                   /* for other children */
	uint64_t waited_until;        /* when it was last seen to: time limits count from there */
	uint64_t next_tick;
	uint64_t next_reading;        /* UINT64_MAX: there is nothing to read, not yet or no more */
	struct stb_readings readings; /* behind the end of each interval */
	struct stb_live_sum moved;    /* counters when they last moved */
	uint64_t moved_progress, moved_at;
	uint32_t moved_stage;
	uint64_t stop_at;             /* when stop was said; 0: not yet */
	bool killed;
	enum stb_child_fate fate;     /* why it was stopped */
};

struct stb_phase *stb_phase_map(uint32_t n_workers, struct stb_err *err)
{
	struct stb_phase *p = mmap(NULL, stb_phase_size(n_workers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		-1, 0);

	if (p == MAP_FAILED) {
		stb_err_set(err, errno, "cannot map %zu bytes for the counters of %u workers", stb_phase_size(n_workers), n_workers);
		return NULL;
	}
	p->n_workers = n_workers;
	for (int d = 0; d < STB_N_DIRS; d++) {
		stb_hist_init(&p->result.lat[d]);
		stb_hist_init(&p->result.svc[d]);
	}
	stb_hist_init(&p->result.sync);
	return p;
}

void stb_phase_unmap(struct stb_phase *phase)
{
	if (phase)
		munmap(phase, stb_phase_size(phase->n_workers));
}

static STB_NORETURN void be_child(const struct stb_child_job *job, struct stb_phase *phase, pid_t parent)
{
	/* A Ctrl-C reaches the terminal's foreground group: the parent alone decides what it means. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the line above */
		_exit(1);
	stb_signals_child(job->signals);
	_exit(job->run(job->setup, phase) ? 1 : 0);
}

static void ask_to_stop(struct stb_child *w, enum stb_child_fate why)
{
	if (w->stop_at)
		return;
	w->fate = why;
	w->stop_at = stb_clock_ns();
	atomic_store(&w->phase->stop, 1);
}

/* Reads the counters behind the end of each interval, as soon as there is somebody awake. */
static void read_counters(struct stb_child *w, uint64_t now)
{
	const uint64_t since = atomic_load(&w->phase->measure_since_ns), interval = w->job->interval_ns;

	if (!interval || !w->job->sample || !since)
		return;
	/* the window may reach into the drain, and may end within it: tell_samples() knows */
	if (atomic_load(&w->phase->stage) > STB_STAGE_DRAIN) {
		w->next_reading = UINT64_MAX;
		return;
	}
	if (w->next_reading == UINT64_MAX)
		w->next_reading = since + interval;
	if (now < w->next_reading)
		return;
	stb_readings_take(&w->readings, w->phase, since);
	w->next_reading += ((now - w->next_reading) / interval + 1) * interval;
}

/* What the repetition counted: the result, or what the counters say where the child was lost before it could sum up. */
static struct stb_live_sum counted(const struct stb_phase *phase)
{
	const struct stb_measure *m = &phase->result;
	struct stb_live_sum sum = { .bytes = m->queries_read + m->queries_write + m->queries_other, .errors = m->errors };

	if (!m->window_ns)
		return stb_phase_sum(phase);
	for (int d = 0; d < STB_N_DIRS; d++) {
		sum.ops += m->ok[d];
		sum.bytes += m->bytes[d];
	}
	return sum;
}

/* The samples from the first to the end of the window, once the child has ended. */
static void tell_samples(struct stb_child *w)
{
	const uint64_t since = atomic_load(&w->phase->measure_since_ns), until = atomic_load(&w->phase->measure_until_ns);
	const uint64_t over = until ? until : w->ended_at, window = w->phase->result.window_ns;
	const struct stb_reading end = { counted(w->phase), window ? window : over > since ? over - since : 0 };

	if (since && w->job->interval_ns && w->job->sample)
		stb_readings_tell(&w->readings, w->job->interval_ns, &end, w->job->sample, w->job->ctx);
}

/* Too long in a timed stage, or too long without a counter that moves. */
static void check_limits(struct stb_child *w, uint64_t now)
{
	const struct stb_child_job *job = w->job;
	const uint32_t stage = atomic_load(&w->phase->stage);
	const uint64_t began = atomic_load(&w->phase->stage_since_ns), since = began ? STB_MAX(began, w->waited_until) : 0;
	const struct stb_live_sum sum = stb_phase_sum(w->phase);
	const uint64_t progress = atomic_load(&w->phase->progress_done);

	if (memcmp(&sum, &w->moved, sizeof sum) || stage != w->moved_stage || progress != w->moved_progress) {
		w->moved = sum;
		w->moved_stage = stage;
		w->moved_progress = progress;
		w->moved_at = now;
	}
	if (w->waits)
		w->moved_at = w->waited_until = now;
	if (w->stop_at || w->waits)
		return;
	if (job->limit_ns && (stage == STB_STAGE_WARMUP || stage == STB_STAGE_SETTLE || stage == STB_STAGE_MEASURE) && since &&
		now > since + job->limit_ns + job->grace_ns) {
		stb_err_set(&w->err, 0, "the measuring process did not end %llu s after its time was over",
			(unsigned long long)(job->grace_ns / STB_NS_PER_S));
		ask_to_stop(w, STB_CHILD_HUNG);
	} else if (job->still_ns && now > w->moved_at + job->still_ns) {
		stb_err_set(&w->err, 0, "nothing was completed for %llu s", (unsigned long long)(job->still_ns / STB_NS_PER_S));
		ask_to_stop(w, STB_CHILD_HUNG);
	}
	if (w->stop_at)
		stb_err_remedy(&w->err, "look at the kernel's log and the device; the repetition is marked and the run goes on");
}

static void step(struct stb_child *w)
{
	const struct stb_child_job *job = w->job;
	const uint64_t now = stb_clock_ns();

	read_counters(w, now);
	if (stb_signals_check(job->signals))
		ask_to_stop(w, STB_CHILD_INTERRUPTED);
	if (now >= w->next_tick) {
		w->next_tick = now + job->tick_ns;
		check_limits(w, now);
		if (!w->stop_at && job->watch && !job->watch(job->ctx, &w->err))
			ask_to_stop(w, STB_CHILD_ABANDONED);
		if (job->tick)
			job->tick(job->ctx, w->phase);
	}
	if (w->stop_at && !w->killed && now > w->stop_at + job->grace_ns) {
		kill(w->pid, SIGKILL); /* not waited for yet, so the number is still its own */
		w->killed = true;
	}
}

/* When something is to be done for it again. */
static uint64_t next_look(const struct stb_child *w)
{
	const uint64_t now = stb_clock_ns();
	const uint64_t until = STB_MIN(w->next_tick, w->next_reading);

	return w->pidfd < 0 ? STB_MIN(until, now + BLIND_POLL_NS) : until;
}

static bool deaf(const struct stb_child *w)
{
	return w->killed && stb_clock_ns() > w->stop_at + w->job->grace_ns + DEAF_NS;
}

/* What a signal that stb did not send means for somebody who wants the repetition. */
static const char *signal_remedy(int sig)
{
	static const struct {
		int sig;
		const char *remedy;
	} known[] = {
		{ SIGXFSZ, "a file may not grow that far in this shell: raise the limit (`ulimit -f unlimited`), or give the volume a smaller `size`" },
		{ SIGXCPU, "its CPU time is limited in this shell: raise the limit (`ulimit -t unlimited`)" },
		{ SIGKILL, "somebody or something killed it: the kernel where memory ran out (`dmesg` names the process), a cgroup's memory limit, a "
			   "batch system, a person" },
		{ SIGBUS, "memory that maps a file lost what is behind it: the file was cut short, its file system is full, or the device failed "
			  "(`dmesg`)" },
		{ SIGSEGV, "this is a fault of stb or of a library that the engine uses: report it with the spec and what `stb version` says" },
		{ SIGABRT, "this is a fault of stb or of a library that the engine uses: report it with the message before and the spec" },
		{ SIGILL, "the program was built for another processor: build stb on this machine" },
		{ SIGSYS, "a filter of system calls forbids what the engine does (a container's seccomp profile): allow it, or name another engine" },
		{ SIGTERM, "somebody ended it: to stop a run, signal the process of stb itself" },
	};

	for (size_t i = 0; i < STB_LEN(known); i++)
		if (known[i].sig == sig)
			return known[i].remedy;
	return "stb did not send it: find out who did";
}

static enum stb_child_fate judge(struct stb_child *w, int status)
{
	if (deaf(w)) {
		stb_err_set(&w->err, 0, "the measuring process %d cannot be killed", (int)w->pid);
		stb_err_remedy(&w->err, "it waits for a device: look at the kernel's log, then run stb clean");
		return STB_CHILD_HUNG;
	}
	if (w->stop_at) { /* stopped by us; w->err says why */
		if (w->fate == STB_CHILD_HUNG && w->killed && strlen(w->err.what) < sizeof w->err.what - 32)
			strcat(w->err.what, "; it had to be killed");
		return w->fate;
	}
	if (WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status));

		stb_err_set(&w->err, 0, "the measuring process was killed by signal %d (%s%s: %s)", WTERMSIG(status), name ? "SIG" : "",
			name ? name : "no name", strsignal(WTERMSIG(status)));
		stb_err_remedy(&w->err, "%s", signal_remedy(WTERMSIG(status)));
		return STB_CHILD_DIED;
	}
	if (w->phase->err.set) {
		w->err = w->phase->err;
		return STB_CHILD_FAILED;
	}
	if (WEXITSTATUS(status)) {
		stb_err_set(&w->err, 0, "the measuring process ended with status %d and no reason", WEXITSTATUS(status));
		return STB_CHILD_FAILED;
	}
	return STB_CHILD_DONE;
}

struct stb_child *stb_child_start(const struct stb_child_job *job, struct stb_phase *phase, struct stb_err *err)
{
	struct stb_child *w = stb_xcalloc(1, sizeof(*w));
	const pid_t parent = getpid();

	w->job = job;
	w->phase = phase;
	w->pidfd = -1;
	w->next_reading = UINT64_MAX;
	w->pid = fork();
	if (w->pid < 0) {
		stb_err_set(err, errno, "cannot fork the measuring process");
		free(w);
		return NULL;
	}
	if (!w->pid)
		be_child(job, phase, parent);
	setpgid(w->pid, w->pid); /* whoever comes first */
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	w->moved_at = stb_clock_ns();
	w->next_tick = w->moved_at + job->tick_ns;
	return w;
}

bool stb_child_lives(const struct stb_child *w)
{
	return !w->ended;
}

bool stb_child_stopped(const struct stb_child *w)
{
	return w->stop_at != 0;
}

void stb_child_hold(struct stb_child *w, bool waits)
{
	w->waits = waits;
}

void stb_child_stop(struct stb_child *w)
{
	ask_to_stop(w, STB_CHILD_INTERRUPTED);
}

static void look_for_end(struct stb_child *w)
{
	const pid_t got = waitpid(w->pid, &w->status, WNOHANG);

	w->ended = got == w->pid || (got < 0 && errno != EINTR) || deaf(w);
	w->ended_at = stb_clock_ns();
}

void stb_children_step(struct stb_child *const *children, uint32_t n, uint64_t until_ns)
{
	struct pollfd fds[STB_MAX_MEMBERS + 1];
	const uint64_t now = stb_clock_ns();
	struct timespec ts = { 0, 0 };
	nfds_t n_fds = 0;

	STB_ASSERT(n && n <= STB_MAX_MEMBERS);
	fds[n_fds++] = (struct pollfd){ .fd = children[0]->job->signals->fd, .events = POLLIN };
	for (uint32_t i = 0; i < n; i++) {
		if (children[i]->ended)
			continue;
		fds[n_fds++] = (struct pollfd){ .fd = children[i]->pidfd, .events = POLLIN };
		until_ns = STB_MIN(until_ns, next_look(children[i]));
	}
	if (until_ns > now) {
		ts.tv_sec = (time_t)((until_ns - now) / STB_NS_PER_S);
		ts.tv_nsec = (long)((until_ns - now) % STB_NS_PER_S);
	}
	if (ppoll(fds, n_fds, &ts, NULL) < 0 && errno != EINTR)
		usleep(1000);
	for (uint32_t i = 0; i < n; i++) {
		if (!children[i]->ended)
			look_for_end(children[i]);
		if (!children[i]->ended)
			step(children[i]);
	}
}

enum stb_child_fate stb_child_end(struct stb_child *w, struct stb_err *err)
{
	enum stb_child_fate fate;

	tell_samples(w);
	stb_readings_fini(&w->readings);
	if (w->pidfd >= 0)
		close(w->pidfd);
	fate = judge(w, w->status);
	if (w->err.set)
		*err = w->err;
	free(w);
	return fate;
}

enum stb_child_fate stb_child_run(const struct stb_child_job *job, struct stb_phase *phase, struct stb_err *err)
{
	struct stb_child *w;

	if (stb_signals_check(job->signals))
		return STB_CHILD_INTERRUPTED;
	w = stb_child_start(job, phase, err);
	if (!w)
		return STB_CHILD_FAILED;
	for (look_for_end(w); stb_child_lives(w);)
		stb_children_step(&w, 1, UINT64_MAX);
	return stb_child_end(w, err);
}
