/* test_near.c - many connections a thread: they go where the server's threads are, and none is lost on the way, whatever ends the run. */
#include "support.h"

#include "runtime/db/near.h"
#include "runtime/db/server.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 16

TestSuite(db_near, .timeout = 240);

/* --- which thread it is -------------------------------------------------------------------------------------------------------------- */

/* false: it cannot be; one that has ended needs it no more. */
static bool bind(pid_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return !sched_setaffinity(thread, sizeof(set), &set) || errno == ESRCH;
}

/* The first two CPUs that may be used; false: there is one. */
static bool two_cpus(int cpu[2])
{
	cpu_set_t set;
	int n = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET((size_t)i, &set))
			cpu[n++] = i;
	return n == 2;
}

Test(db_near, a_thread_is_where_it_ran_last)
{
	const pid_t me = (pid_t)syscall(SYS_gettid);
	int cpu[2];

	if (!two_cpus(cpu))
		cr_skip_test("one CPU only");
	for (int i = 0; i < 2; i++) {
		cr_assert(bind(me, cpu[i]));
		cr_expect_eq(stb_near_cpu(&(struct stb_near){.process = getpid(), .thread = me}), cpu[i]);
	}
	/* a thread, but of another process; and none */
	cr_expect_eq(stb_near_cpu(&(struct stb_near){.process = getppid(), .thread = me}), -1);
	cr_expect_eq(stb_near_cpu(&(struct stb_near){.process = getpid(), .thread = INT32_MAX}), -1);
}

static struct stb_near ask(struct server *s)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 20};
	struct stb_client *c;

	cr_assert_eq(stb_client_open(&c, stb_mysqld_address(s->mysqld), &limits, &s->err), 0, "%s", s->err.what);
	const struct stb_near n = stb_near_ask(c);

	stb_client_close(c);
	return n;
}

Test(db_near, a_connection_tells_its_thread_of_the_server)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	const struct stb_near n = ask(&s);

	cr_expect_eq(n.process, server_pid(&s));
	cr_expect_gt(n.thread, 0);
	cr_expect_neq(n.thread, n.process, "the main thread serves nobody");
	server_down(&s);
}

Test(db_near, threads_of_a_pool_belong_to_no_connection)
{
	struct server s;

	if (!server_is_mariadb())
		cr_skip_test("MySQL has its thread pool in another edition");
	server_init(&s);
	db_set(&s.arena, s.block, "options.thread_handling", stb_val_str(STB_V_STRING, "pool-of-threads"));
	server_up(&s);
	cr_expect_eq(ask(&s).thread, 0);
	server_down(&s);
}

/* --- runs ---------------------------------------------------------------------------------------------------------------------------- */

struct run {
	struct server server;
	struct stb_plan_block *workload;
	struct stb_phase *phase;
};

static void begin(struct run *r, const char *script, uint32_t ms)
{
	server_init(&r->server);
	server_up(&r->server);
	r->workload = db_workload(&r->server.arena, script);
	db_set_count(&r->server.arena, r->workload, "threads", THREADS);
	db_set_time(&r->server.arena, r->workload, "time", ms);
	db_set_word(&r->server.arena, r->workload, "db_ps_mode", "disable"); /* every client library can split statements that are text */
	load(&r->server, r->workload);
	r->phase = phase_new(THREADS);
}

static int carry_out(struct run *r)
{
	const struct stb_oltp_setup setup = setup_of(&r->server, r->workload);

	return stb_oltp_run(&setup, r->phase);
}

static uint64_t ops_of(const struct stb_phase *phase, uint32_t from, uint32_t step)
{
	uint64_t sum = 0;

	for (uint32_t i = from; i < THREADS; i += step)
		sum += atomic_load(&phase->live[i].ops);
	return sum;
}

static bool is_over(const struct stb_phase *phase)
{
	return atomic_load(&phase->stage) == STB_STAGE_DONE;
}

static void wait_for_ops(const struct stb_phase *phase)
{
	while (ops_of(phase, 0, 1) < 5 * THREADS && !is_over(phase))
		usleep(1000);
}

static bool bind_server(struct server *s, int cpu)
{
	char path[64];
	bool bound = true;

	snprintf(path, sizeof(path), "/proc/%ld/task", server_pid(s));
	DIR *tasks = opendir(path);

	for (struct dirent *e; tasks && (e = readdir(tasks)); )
		if (e->d_name[0] != '.')
			bound = bind(atoi(e->d_name), cpu) && bound;
	if (tasks)
		closedir(tasks);
	return tasks && bound;
}

/* What the run's figures must say of themselves, moved about or not: each event once. */
static void check_sums(const struct stb_phase *phase)
{
	cr_expect_eq(ops_of(phase, 0, 1), phase->result.ok[0]);
	cr_expect_eq(phase->result.queries_read, phase->result.ok[0]);
	cr_expect_eq(phase->result.lat[0].count, phase->result.ok[0]);
	cr_expect_float_eq(phase->result.fairness.events_mean * THREADS, (double)phase->result.ok[0], 1e-3);
	cr_expect_eq(phase->result.errors, 0);
	cr_expect_eq(phase->alloc_calls, 0);
}

/* With as many CPUs as connections there is a thread for each. */
static void check_near(const struct stb_phase *phase)
{
	cr_expect_eq(phase->result.clients.near, phase->result.clients.n < THREADS);
}

/* Whether the loops of one CPU come to stand still while those of another go on. Loop i is that of the CPU i % n. */
static bool moves(const struct stb_phase *phase, uint32_t from, uint32_t to, uint32_t n_cpus)
{
	for (int tries = 0; tries < 100 && !is_over(phase); tries++) {
		const uint64_t rests = ops_of(phase, from, n_cpus), goes_on = ops_of(phase, to, n_cpus);

		usleep(300000);
		if (ops_of(phase, from, n_cpus) == rests && ops_of(phase, to, n_cpus) > goes_on)
			return true;
	}
	return false;
}

/* The child moves the server from one CPU to the other; the exit status says what it saw. */
Test(db_near, connections_go_where_the_servers_threads_are)
{
	struct run r;
	cpu_set_t set;
	int cpu[2], status;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	const uint32_t n_cpus = (uint32_t)CPU_COUNT(&set);

	if (!two_cpus(cpu) || n_cpus * 2 > THREADS)
		cr_skip_test("needs two to eight CPUs");
	begin(&r, "point_select", 120000);
	const pid_t mover = fork();

	if (mover == 0) {
		bool seen = true;

		wait_for_ops(r.phase);
		for (uint32_t here = 0; here < 2 && seen; here++)
			seen = bind_server(&r.server, cpu[here]) && moves(r.phase, 1 - here, here, n_cpus);
		atomic_store(&r.phase->stop, 1);
		_exit(!seen);
	}
	cr_assert_eq(carry_out(&r), 0, "%s", r.phase->err.what);
	waitpid(mover, &status, 0);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	cr_expect_eq(r.phase->result.end, STB_END_STOPPED);
	check_sums(r.phase);
	check_near(r.phase);
	server_down(&r.server);
}

/* What the server's threads do elsewhere is known, but nothing to go after. */
Test(db_near, a_server_on_other_cpus_is_not_near)
{
	struct run r;
	int cpu[2];

	if (!two_cpus(cpu))
		cr_skip_test("one CPU only");
	cr_assert(bind(0, cpu[0])); /* and the server, which is started from here */
	begin(&r, "point_select", 300);
	cr_assert(bind(0, cpu[1]));
	cr_assert_eq(carry_out(&r), 0, "%s", r.phase->err.what);
	cr_expect_eq(r.phase->result.clients.n, 1, "%u", r.phase->result.clients.n);
	cr_expect_not(r.phase->result.clients.near);
	cr_expect_gt(r.phase->result.ok[0], 0);
	check_sums(r.phase);
	server_down(&r.server);
}

Test(db_near, a_number_of_events_is_kept_to)
{
	struct run r;

	begin(&r, "point_select", 1000);
	db_unset(r.workload, "time");
	db_set_count(&r.server.arena, r.workload, "events", 5001);
	cr_assert_eq(carry_out(&r), 0, "%s", r.phase->err.what);
	cr_expect_eq(r.phase->result.ok[0], 5001);
	check_sums(r.phase);
	check_near(r.phase);
	server_down(&r.server);
}

/* Kills a connection of the run and waits until another one stands in for it: by the id, which is greater than that of ours. false: no such thing. */
static bool kill_one(struct server *s, const struct stb_phase *phase)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 20};
	struct stb_reply reply;
	struct stb_client *c;
	char id[32] = "", n[32] = "0", sql[64];
	bool found;

	if (stb_client_open(&c, stb_mysqld_address(s->mysqld), &limits, &s->err) ||
		stb_client_cell(c, "SELECT MIN(ID) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = 'stb'", id, sizeof(id), &found))
		return false;
	snprintf(sql, sizeof(sql), "KILL %s", id);
	if (stb_client_query(c, sql, strlen(sql), &reply))
		return false;
	while (!strcmp(n, "0") && !is_over(phase)) {
		usleep(10000);
		if (stb_client_cell(c, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID > CONNECTION_ID() AND USER = 'stb'", n, sizeof(n), &found))
			return false;
	}
	stb_client_close(c);
	return !is_over(phase);
}

Test(db_near, one_that_is_opened_again_goes_on)
{
	struct run r;
	int status;

	begin(&r, "read_write", 60000);
	db_set_list(&r.server.arena, r.workload, "ignore_errors", (const int64_t[]){1213, 1020, 1205, 2006, 2013, 1927}, 6);
	const pid_t killer = fork();

	if (killer == 0) {
		wait_for_ops(r.phase);
		const bool seen = kill_one(&r.server, r.phase);

		usleep(300000); /* it goes on for a while */
		atomic_store(&r.phase->stop, 1);
		_exit(!seen);
	}
	cr_assert_eq(carry_out(&r), 0, "%s", r.phase->err.what);
	waitpid(killer, &status, 0);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	cr_expect_eq(r.phase->result.reconnects, 1, "%lu", r.phase->result.reconnects);
	cr_expect_eq(r.phase->result.end, STB_END_STOPPED);
	server_down(&r.server);
}

/* A signal to the server in the middle of a run. */
static void run_with_signal(struct run *r, uint32_t ms, int signo)
{
	begin(r, "point_select", ms);
	const long pid = server_pid(&r->server);
	const pid_t sender = fork();

	if (sender == 0) {
		wait_for_ops(r->phase);
		kill((pid_t)pid, signo);
		_exit(0);
	}
	cr_assert_eq(carry_out(r), -1);
	waitpid(sender, NULL, 0);
}

Test(db_near, a_server_that_stalls_does_not_hold_the_run)
{
	struct run r;

	run_with_signal(&r, 3000, SIGSTOP);
	kill((pid_t)server_pid(&r.server), SIGCONT);
	cr_expect_str_eq(r.phase->err.what, "the server stalled: 16 of 16 connections had no answer 10 s after the run was to end");
	cr_expect_eq(r.phase->result.end, STB_END_STALLED);
	cr_expect_eq(r.phase->result.cancelled + r.phase->result.failed, THREADS);
	cr_expect_geq(r.phase->result.window_ns, 13000000000u, "3 s, and 10 s in which no answer came");
	check_sums(r.phase);
	server_down(&r.server);
}

Test(db_near, a_server_that_is_killed_ends_the_run)
{
	struct run r;

	run_with_signal(&r, 60000, SIGKILL);
	cr_expect(strstr(r.phase->err.what, "(2013)") || strstr(r.phase->err.what, "(2006)"), "%s", r.phase->err.what);
	cr_expect_eq(r.phase->result.end, STB_END_ERROR);
	cr_expect_gt(r.phase->result.ok[0], 0);
	server_down(&r.server);
}
