/*
 * crew.c - who serves the connections of an OLTP repetition.
 *
 * `threads` connections each have one statement under way, as sysbench's threads have. They are served by a few threads a CPU, each of which
 * waits for all of its connections at once:
 *
 *     epoll_wait ---> for each answer: read it, account, send the next statement --+
 *         ^                                                                        |
 *         +------------------------------------------------------------------------+
 *
 * A thread a connection pays a wake-up and a switch of the CPU for each statement, on a machine that the server needs; this way a wait is
 * shared by all answers that have come, and the statements cost about two thirds of the CPU time (tests/bench). Connections wait for answers
 * without having read a byte, and then read blocking: a connection does not change its mode, and no answer is read twice.
 *
 * A few, because the kernel shares the CPU out between threads, ours and the server's: one that serves 128 connections has always had more than
 * its share, and each server thread that it wakes takes the CPU from it at once. One that serves 32 has it until its answers are dealt with
 * (seen with 256 on two CPUs: 0.2 switches a statement less, and a tenth less CPU time on both sides). Many threads would find one answer at
 * each wait.
 *
 * Where the server's threads are known (near.c) and may run on our CPUs, each of our threads is bound to one CPU, and a connection goes where its
 * server thread is; that is looked up a few times a second. Without it half of the wake-ups crossed CPUs on a machine with two; with it more than
 * nine of ten stay, and a wake-up costs about half. Who gives a connection away puts it into the other thread's epoll and does not touch it again.
 * One that was opened again has another server thread, which nobody asks for in the middle of a run: it stays where it is.
 *
 * One connection a thread, and no epoll, serves where the wait is not only for the server: with a rate (the thread sleeps until the next
 * arrival), with `reconnect` (a connection that is being opened would hold up the others), where the client library cannot split prepared
 * statements, and where there are no more connections than CPUs.
 *
 * The clock is read once an event; latency is from the end of the connection's event before to the end of this one, tries again included. An
 * event that spans an instant (start of the measurement, end) counts where it ends; the time limit is looked at before an event.
 */
#include "runtime/db/crew.h"

#include "runtime/base/affinity.h"
#include "runtime/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_S 20
#define STACK_BYTES (256 * 1024)
#define MAX_ANSWERS 64 /* of one wait */
#define LOOK_NS (STB_NS_PER_S / 4) /* how often it is looked where a connection's server thread is, */
#define ONE_LOOK_NS 1000000u       /* but by all together no oftener than so: a look costs some microseconds */
#define MAX_NEAR 1024              /* connections that are asked for their threads: for each the server goes through all of its threads */
#define LOOP_CONNECTIONS 32
#define LOOPS_PER_CPU 4
#define TAKE_NS (STB_NS_PER_S / 10) /* far above what a thread does between two calls */
#define TAKE_PAUSE_NS 1000000u

/* What a message ends with is the server's number, or the library's: "... (1114)". 0: it does not. */
static unsigned number_of(const char *what)
{
	const char *last = strrchr(what, '(');
	char *end;
	unsigned long n;

	if (!last)
		return 0;
	n = strtoul(last + 1, &end, 10);
	return end > last + 1 && !strcmp(end, ")") && n <= UINT16_MAX ? (unsigned)n : 0;
}

static const char *remedy_of(const char *what)
{
	static const struct {
		unsigned number;
		const char *remedy;
	} known[] = {
		{1021, "give the volume more space, or let the workload write less"},
		{1114, "give the volume more space, or let the workload write less"},
		{1290, "let the server be written to (read_only, super_read_only)"},
		{1836, "let the server be written to (read_only, super_read_only)"},
		{2006, "look at the server's error log; add the number to ignore_errors where losing connections is what is measured"},
		{2013, "look at the server's error log; add the number to ignore_errors where losing connections is what is measured"},
	};
	const unsigned number = number_of(what);
	const char *remedy = number ? stb_client_remedy(number, what) : "look at the limits of this process (ulimit -n, memory)";

	if (remedy)
		return remedy;
	for (size_t i = 0; i < STB_LEN(known); i++)
		if (known[i].number == number)
			return known[i].remedy;
	return "put it right on the server, or add the error's number to ignore_errors where it belongs to what is measured";
}

void stb_crew_fail(struct stb_crew *crew, const char *what)
{
	pthread_mutex_lock(&crew->lock);
	if (!crew->failed) {
		stb_err_set(&crew->phase->err, 0, "the OLTP workload was stopped: %s", what);
		stb_err_remedy(&crew->phase->err, "%s", remedy_of(what));
	}
	crew->failed = true;
	atomic_store(&crew->quit, true);
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

static bool quitting(const struct stb_crew *crew)
{
	return atomic_load_explicit(&crew->quit, memory_order_relaxed);
}

static bool take_event(struct stb_crew *crew)
{
	return crew->o->events == UINT64_MAX ||
		atomic_fetch_add_explicit(&crew->taken, 1, memory_order_relaxed) < crew->o->events;
}

/* Looked at before every event; takes one of the limited number. */
static bool may_begin(struct stb_crew *crew, uint64_t now)
{
	return !quitting(crew) && now < stb_crew_deadline(crew) && (now < stb_crew_measure_from(crew) || take_event(crew));
}

/* --- accounts ------------------------------------------------------------------------------------------------------------------------ */

/* Adds the event's counters to a set and shows the set. */
static void account(struct stb_loop *l, struct stb_session *s, struct stb_crew_counts *set)
{
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
	if (set == &l->warm) { /* a slow event of the warm-up ends when others count already */
		atomic_store_explicit(&l->live->warm, set->events + set->errors, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&l->live->ops, set->events, memory_order_relaxed);
	atomic_store_explicit(&l->live->bytes, set->reads + set->writes + set->others, memory_order_relaxed);
	atomic_store_explicit(&l->live->errors, set->errors, memory_order_relaxed);
}

/* Counts an event that ended now. false: it ends the run. */
static bool settle(struct stb_loop *l, struct stb_conn *c, enum stb_event r, uint64_t now)
{
	struct stb_crew *crew = l->crew;
	const uint64_t from = stb_crew_measure_from(crew);
	bool measured = now >= from;

	if (measured && c->due_ns < from)
		measured = take_event(crew); /* spans the border: counts here if there is room */
	struct stb_crew_counts *set = measured ? &l->measured : &l->warm;

	if (r == STB_EVENT_DONE)
		set->events++;
	else
		set->cancelled++;
	if (r == STB_EVENT_DONE && measured) {
		c->events++;
		c->busy_ns += now - c->began_ns;
		stb_hist_add(&l->lat, now - c->due_ns);
		if (l->svc)
			stb_hist_add(l->svc, now - c->began_ns);
	}
	account(l, &c->session, set);
	l->end_ns = now;
	if (r != STB_EVENT_FAILED)
		return true;
	stb_crew_fail(crew, c->session.failure);
	return false;
}

/* What a script holds back until the end belongs to the events that are counted. */
static void finish(struct stb_loop *l, struct stb_session *s)
{
	const enum stb_event r = stb_session_finish(s);

	if (s->write_count + s->error_count == 0 && r == STB_EVENT_DONE)
		return;
	l->end_ns = stb_clock_ns();
	account(l, s, l->end_ns >= stb_crew_measure_from(l->crew) ? &l->measured : &l->warm);
	if (r == STB_EVENT_FAILED)
		stb_crew_fail(l->crew, s->failure);
}

/* --- many connections ---------------------------------------------------------------------------------------------------------------- */

static void watch(struct stb_loop *l, struct stb_conn *c)
{
	/* Edges will do: an answer is read whole, and nothing follows it that was not asked for. Level would look at each socket twice. */
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = c};

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, stb_client_socket(c->session.client), &ev))
		stb_crew_fail(l->crew, "a connection cannot be waited for (epoll_ctl)");
}

/* false: it still is, and the run has failed. */
static bool unwatch(struct stb_loop *l, struct stb_conn *c)
{
	if (!epoll_ctl(l->epoll, EPOLL_CTL_DEL, stb_client_socket(c->session.client), NULL))
		return true;
	stb_crew_fail(l->crew, "a connection cannot be given away (epoll_ctl)");
	return false;
}

/* Which of the threads of a CPU serves a connection; NULL: there is none. */
static struct stb_loop *loop_on(struct stb_crew *crew, int cpu, const struct stb_conn *c)
{
	for (uint32_t i = 0; i < crew->n_cpus; i++)
		if (crew->cpus[i] == cpu) {
			const uint32_t n = (crew->n_loops - i + crew->n_cpus - 1) / crew->n_cpus;

			return &crew->loops[i + crew->n_cpus * ((uint32_t)(c - crew->conns) % n)];
		}
	return NULL;
}

static int cpu_of(const struct stb_loop *l)
{
	return l->crew->cpus[l->first % l->crew->n_cpus];
}

/* Gives the connection to a thread that is where the server's is. To be called last: it may be another's afterwards. */
static void follow(struct stb_loop *l, struct stb_conn *c, uint64_t now)
{
	if (now < c->look_ns)
		return;
	c->look_ns = now + STB_MAX(LOOK_NS, (uint64_t)l->crew->o->threads * ONE_LOOK_NS);
	const int cpu = stb_near_cpu(&c->near);
	struct stb_loop *to = cpu == cpu_of(l) ? NULL : loop_on(l->crew, cpu, c);

	if (!to || !unwatch(l, c))
		return;
	atomic_store(&c->loop, to);
	watch(to, c);
}

/* Nobody waits for the next of an event that will not come. */
static void retire(struct stb_loop *l, struct stb_conn *c)
{
	c->waiting = false;
	finish(l, &c->session);
	if (atomic_fetch_sub(&l->crew->n_active, 1) == 1)
		(void)eventfd_write(l->crew->over, 1);
}

/* From one event to the next until a statement is under way, or no event may begin. r is how the event ended that did at `now`. */
static void go_on(struct stb_loop *l, struct stb_conn *c, enum stb_event r, uint64_t now)
{
	const bool ended = r != STB_EVENT_WAITING;

	while (r != STB_EVENT_WAITING) {
		if (!settle(l, c, r, now) || !may_begin(l->crew, now)) {
			retire(l, c);
			return;
		}
		c->due_ns = c->began_ns = now;
		r = stb_session_begin(&c->session);
		if (r != STB_EVENT_WAITING)
			now = stb_clock_ns();
	}
	if (c->generation != c->session.generation) { /* opened again: another socket, often of the same number, and another thread of the server */
		c->generation = c->session.generation;
		c->look_ns = UINT64_MAX;
		watch(l, c);
	}
	if (ended)
		follow(l, c, now);
}

static void first_event(struct stb_loop *l, struct stb_conn *c)
{
	const uint64_t now = stb_clock_ns();

	if (!may_begin(l->crew, now)) {
		retire(l, c);
		return;
	}
	c->waiting = true;
	c->due_ns = c->began_ns = now;
	c->generation = c->session.generation;
	watch(l, c);
	const enum stb_event r = stb_session_begin(&c->session);

	go_on(l, c, r, stb_clock_ns());
}

static void give_up(struct stb_loop *l)
{
	struct stb_crew *crew = l->crew;

	for (uint32_t i = 0; i < crew->o->threads; i++)
		if (atomic_load(&crew->conns[i].loop) == l) {
			l->measured.cancelled += crew->conns[i].waiting;
			atomic_fetch_add(&crew->unanswered, crew->conns[i].waiting);
		}
}

/* Where all server threads can be followed; nobody writes that once the barrier is open. */
static bool is_near(const struct stb_crew *crew)
{
	return crew->n_near == crew->o->threads;
}

struct stb_client_threads stb_crew_threads(const struct stb_crew *crew)
{
	return (struct stb_client_threads){.n = crew->n_loops, .near = is_near(crew)};
}

static void bind_to_cpu(const struct stb_loop *l)
{
	(void)stb_affinity_bind((uint32_t)cpu_of(l)); /* refused: the CPU was taken from us; it works as well elsewhere */
}

static void serve_many(struct stb_loop *l)
{
	struct stb_crew *crew = l->crew;
	struct epoll_event ready[MAX_ANSWERS];

	if (is_near(crew))
		bind_to_cpu(l);
	for (uint32_t i = l->first; i < crew->o->threads; i += crew->n_loops) {
		crew->conns[i].look_ns = is_near(crew) ? 0 : UINT64_MAX;
		first_event(l, &crew->conns[i]);
	}
	while (atomic_load_explicit(&crew->n_active, memory_order_relaxed) > 0) {
		const int n = epoll_wait(l->epoll, ready, MAX_ANSWERS, (int)(STB_STOP_POLL_NS / 1000000));

		for (int i = 0; i < n; i++) {
			struct stb_conn *c = ready[i].data.ptr;

			if (!c || !c->waiting) /* all is over, or the server has closed one that is done */
				continue;
			const enum stb_event r = stb_session_continue(&c->session);

			go_on(l, c, r, r == STB_EVENT_WAITING ? 0 : stb_clock_ns());
		}
		if (n <= 0 && atomic_load(&crew->give_up)) {
			give_up(l);
			break;
		}
	}
}

/* --- one connection ------------------------------------------------------------------------------------------------------------------ */

static void enter_call(struct stb_loop *l)
{
	atomic_store_explicit(&l->hold, STB_LOOP_IN_CALL, memory_order_release);
}

/* false: it took so long that nobody waited for it, and the loop's figures are not its own any more. */
static bool leave_call(struct stb_loop *l)
{
	uint32_t hold = STB_LOOP_IN_CALL;

	return atomic_compare_exchange_strong_explicit(&l->hold, &hold, STB_LOOP_OWN, memory_order_acquire, memory_order_relaxed);
}

bool stb_crew_take(struct stb_loop *l)
{
	const uint64_t until_ns = stb_clock_ns() + TAKE_NS;

	while (!atomic_load_explicit(&l->done, memory_order_acquire)) {
		uint32_t hold = STB_LOOP_IN_CALL;

		if (atomic_compare_exchange_strong_explicit(&l->hold, &hold, STB_LOOP_TAKEN, memory_order_acquire, memory_order_relaxed)) {
			l->measured.cancelled++;
			return true;
		}
		if (stb_clock_ns() >= until_ns)
			return false;
		(void)stb_clock_sleep_until(stb_clock_ns() + TAKE_PAUSE_NS);
	}
	return true;
}

/* An event by itself. false: it was given up, and there is no going on. */
static bool serve_event(struct stb_loop *l, struct stb_conn *c, enum stb_event *r)
{
	enter_call(l);
	*r = stb_session_event(&c->session);
	return leave_call(l);
}

static void serve_one(struct stb_loop *l)
{
	struct stb_crew *crew = l->crew;
	struct stb_conn *c = &crew->conns[l->first];
	uint64_t now = stb_clock_ns();

	while (may_begin(crew, now)) {
		enum stb_event r;

		c->due_ns = c->began_ns = now;
		if (!serve_event(l, c, &r))
			return;
		now = stb_clock_ns();
		if (!settle(l, c, r, now))
			break;
	}
	finish(l, &c->session);
}

/* Until an event is due or time is over. In steps, so that a stop is noticed; the time it is then. */
static uint64_t sleep_until(const struct stb_crew *crew, uint64_t due_ns)
{
	uint64_t now = stb_clock_ns(), until;

	while (now < (until = STB_MIN(due_ns, stb_crew_deadline(crew))) && !quitting(crew)) {
		(void)stb_clock_sleep_until(STB_MIN(until, now + STB_STOP_POLL_NS));
		now = stb_clock_ns();
	}
	return now;
}

/* Whether an event that is due then counts, if there is one left for it: *none says that there is not. Asked anew where a mix began to be measured. */
static bool takes_due(struct stb_loop *l, uint64_t due_ns, bool *none)
{
	struct stb_crew *crew = l->crew;

	if (due_ns < stb_crew_measure_from(crew) || due_ns >= stb_crew_deadline(crew))
		return false;
	*none = !take_event(crew);
	l->measured.due += !*none;
	return !*none;
}

static void serve_arrivals(struct stb_loop *l)
{
	struct stb_crew *crew = l->crew;
	struct stb_conn *c = &crew->conns[l->first];

	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* of this thread: else each start would be up to 50 us late */
	l->end_ns = crew->start_ns;
	while (!quitting(crew)) {
		const uint64_t due = stb_arrivals_next(&crew->arrivals);
		bool none = false, taken = takes_due(l, due, &none);

		if (none)
			break;
		const uint64_t began = sleep_until(crew, due);

		taken = taken || takes_due(l, due, &none);
		if (none)
			break;
		if (began < due || began >= stb_crew_deadline(crew)) { /* stopped, or time is over */
			if (taken)
				atomic_fetch_sub(&crew->taken, 1);
			l->end_ns = STB_MAX(l->end_ns, began);
			break;
		}
		c->due_ns = due;
		c->began_ns = began;
		enum stb_event r;

		if (!serve_event(l, c, &r))
			return;
		if (!settle(l, c, r, stb_clock_ns()))
			break;
	}
	finish(l, &c->session);
}

/* --- threads ------------------------------------------------------------------------------------------------------------------------- */

static void leave(struct stb_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->n_running--;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

static bool serves_many(const struct stb_crew *crew)
{
	return crew->n_loops < crew->o->threads;
}

/* Whether the server's thread is known and may run where ours do: one that the server keeps to other CPUs is out of reach. */
static bool can_follow(const struct stb_crew *crew, const struct stb_near *n)
{
	struct stb_cpuset set;

	if (n->thread == 0 || stb_affinity_get(n->thread, &set))
		return false;
	for (uint32_t i = 0; i < crew->n_cpus; i++)
		if (stb_cpuset_has(&set, (uint32_t)crew->cpus[i]))
			return true;
	return false;
}

/* Connecting and preparing are all round trips: many at a time. */
static void *opener_main(void *arg)
{
	struct stb_crew *crew = arg;
	uint32_t i;

	stb_client_thread_begin();
	while (!quitting(crew) && (i = atomic_fetch_add(&crew->opened, 1)) < crew->o->threads) {
		struct stb_session *s = &crew->conns[i].session;

		if (stb_session_open(s)) {
			stb_crew_fail(crew, s->failure);
			break;
		}
		if (serves_many(crew) && crew->o->threads <= MAX_NEAR)
			crew->conns[i].near = stb_near_ask(s->client);
		const bool near = can_follow(crew, &crew->conns[i].near);

		pthread_mutex_lock(&crew->lock);
		crew->n_near += near;
		crew->n_ready++;
		pthread_cond_broadcast(&crew->changed);
		pthread_mutex_unlock(&crew->lock);
	}
	stb_client_thread_end();
	leave(crew);
	return NULL;
}

static bool wait_for_barrier(struct stb_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (!crew->open && !atomic_load(&crew->quit))
		pthread_cond_wait(&crew->changed, &crew->lock);
	const bool go = crew->open;

	pthread_mutex_unlock(&crew->lock);
	return go;
}

static void *loop_main(void *arg)
{
	struct stb_loop *l = arg;
	struct stb_crew *crew = l->crew;

	stb_client_thread_begin();
	if (wait_for_barrier(crew)) {
		if (crew->o->rate > 0)
			serve_arrivals(l);
		else if (serves_many(crew))
			serve_many(l);
		else
			serve_one(l);
	}
	atomic_store_explicit(&l->done, true, memory_order_release);
	stb_client_thread_end();
	leave(crew);
	return NULL;
}

/* At least one a CPU, at most a few, and in between so many connections each. */
static uint32_t count_loops(const struct stb_crew *crew)
{
	const struct stb_oltp *o = crew->o;

	if (o->rate > 0 || o->reconnect || (o->prepared && !stb_client_can_split()) || crew->n_cpus == 0)
		return o->threads;
	const uint32_t wanted = o->threads / LOOP_CONNECTIONS;

	return STB_MIN(o->threads, STB_MAX(crew->n_cpus, STB_MIN(wanted, LOOPS_PER_CPU * crew->n_cpus)));
}

static void list_cpus(struct stb_crew *crew)
{
	struct stb_cpuset set;

	if (stb_affinity_get(0, &set))
		return;
	crew->cpus = stb_xcalloc(stb_cpuset_count(&set), sizeof(*crew->cpus));
	for (uint32_t cpu = stb_cpuset_next(&set, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&set, cpu + 1))
		crew->cpus[crew->n_cpus++] = (int)cpu;
}

/* The loops' epolls, and in each of them what tells that all is over. 0 or -errno. */
static int open_epolls(struct stb_crew *crew)
{
	crew->over = eventfd(0, EFD_CLOEXEC);
	if (crew->over < 0)
		return -errno;
	for (uint32_t i = 0; i < crew->n_loops; i++) {
		struct epoll_event over = {.events = EPOLLIN};

		crew->loops[i].epoll = epoll_create1(EPOLL_CLOEXEC);
		if (crew->loops[i].epoll < 0 || epoll_ctl(crew->loops[i].epoll, EPOLL_CTL_ADD, crew->over, &over))
			return -errno;
	}
	return 0;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = aligned_alloc(128, n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

static int init_loops(struct stb_crew *crew)
{
	crew->loops = zeroed(crew->n_loops, sizeof(*crew->loops));
	if (!crew->loops)
		return -ENOMEM;
	for (uint32_t i = 0; i < crew->n_loops; i++) {
		struct stb_loop *l = &crew->loops[i];

		l->crew = crew;
		l->live = &crew->phase->live[i];
		l->first = i;
		l->epoll = -1;
		stb_hist_init(&l->lat);
		if (crew->o->rate > 0) {
			l->svc = stb_xmalloc(sizeof(*l->svc));
			stb_hist_init(l->svc);
		}
	}
	return 0;
}

static int init_conns(struct stb_crew *crew, const struct stb_oltp_setup *setup)
{
	const struct stb_oltp *o = crew->o;

	crew->conns = zeroed(o->threads, sizeof(*crew->conns));
	if (!crew->conns)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->threads; i++) {
		struct stb_session *s = &crew->conns[i].session;

		atomic_init(&crew->conns[i].loop, &crew->loops[i % crew->n_loops]);
		s->o = o;
		s->addr = &setup->addr;
		s->limits = (struct stb_client_limits){.connect_timeout_s = CONNECT_TIMEOUT_S};
		s->quit = &crew->quit;
		s->worker = i;
		s->unique = o->data.auto_inc ? NULL : &crew->unique;
		stb_rng_stream(&s->rng, setup->seed, setup->cell, setup->repetition, i, STB_RNG_KEYS);
	}
	atomic_init(&crew->n_active, o->threads);
	return 0;
}

int stb_crew_init(struct stb_crew *crew, const struct stb_oltp_setup *setup)
{
	int r;

	list_cpus(crew);
	crew->n_loops = count_loops(crew);
	r = init_loops(crew);
	if (!r)
		r = init_conns(crew, setup);
	return r || !serves_many(crew) ? r : open_epolls(crew);
}

static int start(struct stb_crew *crew, pthread_t *thread, void *(*main)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_mutex_lock(&crew->lock);
	const int r = pthread_create(thread, &attr, main, arg);

	crew->n_running += r == 0;
	pthread_mutex_unlock(&crew->lock);
	pthread_attr_destroy(&attr);
	return r;
}

void stb_crew_start(struct stb_crew *crew)
{
	const uint32_t n_openers = STB_MIN(crew->o->threads, STB_MAX_OPENERS);
	char what[128];
	int r = 0;

	for (uint32_t i = 0; i < crew->n_loops && r == 0; i++) {
		r = start(crew, &crew->loops[i].thread, loop_main, &crew->loops[i]);
		if (r)
			crew->loops[i].thread = 0;
	}
	for (; crew->n_openers < n_openers && r == 0; crew->n_openers += r == 0)
		r = start(crew, &crew->openers[crew->n_openers], opener_main, crew);
	if (r == 0)
		return;
	snprintf(what, sizeof(what), "a thread cannot be started: %s", strerror(r));
	stb_crew_fail(crew, what);
	stb_err_remedy(&crew->phase->err, "use fewer threads, or raise the limit on processes (ulimit -u, the container's pids limit)");
}

void stb_crew_fini(struct stb_crew *crew)
{
	for (uint32_t i = 0; i < crew->n_openers; i++)
		pthread_join(crew->openers[i], NULL);
	for (uint32_t i = 0; crew->loops && i < crew->n_loops; i++) {
		if (crew->loops[i].thread)
			pthread_join(crew->loops[i].thread, NULL);
		if (crew->loops[i].epoll >= 0)
			close(crew->loops[i].epoll);
		free(crew->loops[i].svc);
	}
	if (crew->over >= 0)
		close(crew->over);
	/* One that waits for an answer would wait for it in closing, too. The process ends soon. */
	for (uint32_t i = 0; crew->conns && i < crew->o->threads; i++)
		if (!crew->conns[i].waiting || !atomic_load(&crew->give_up))
			stb_session_close(&crew->conns[i].session);
	free(crew->cpus);
	free(crew->loops);
	free(crew->conns);
}
