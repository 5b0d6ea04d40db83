/* test_replication.c - a primary and its replica: what is seen of them when it is well, cut off, stopped, behind; and that it is waited for. */
#include "support.h"

#include "runtime/db/server.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(db_replication, .timeout = 180);

struct pair {
	struct server primary, replica;
	struct stb_mysqld *replicas[1];
	struct stb_replication r;
	struct stb_replication_probe *probe;
	struct stb_replication_state now;
};

static void make(struct server *s, enum stb_mysqld_role role)
{
	const struct stb_mysqld_env env = {.run_dir = s->dir, .run_mark = "0123456789ab", .role = role, .number = role == STB_MYSQLD_REPLICA,
		.semi_sync = true};

	if (role == STB_MYSQLD_PRIMARY)
		db_set(&s->arena, s->block, "options.rpl_semi_sync_master_timeout", stb_val_str(STB_V_STRING, "300"));
	cr_assert_eq(stb_mysqld_create(&s->mysqld, &env, s->block, s->dir, &s->err), 0, "%s", s->err.what);
	cr_assert_eq(stb_mysqld_start(s->mysqld, &s->err), 0, "%s", s->err.what);
}

static void pair_up(struct pair *p)
{
	struct stb_err err = {0};

	if (!server_is_mariadb())
		cr_skip_test("needs MariaDB"); /* whose words the tests speak */
	memset(p, 0, sizeof(*p));
	server_init(&p->primary);
	server_init(&p->replica);
	make(&p->primary, STB_MYSQLD_PRIMARY);
	make(&p->replica, STB_MYSQLD_REPLICA);
	p->replicas[0] = p->replica.mysqld;
	p->r = (struct stb_replication){.primary = p->primary.mysqld, .replicas = p->replicas, .n = 1, .semi_sync = true};
	cr_assert_eq(stb_replication_start(&p->r, &err), 0, "%s", err.what);
	p->probe = stb_replication_probe_new(&p->r);
	execute(&p->primary, "CREATE TABLE t (i INT)");
}

static void pair_down(struct pair *p)
{
	stb_replication_probe_free(p->probe);
	server_down(&p->replica);
	server_down(&p->primary);
}

static const struct stb_replication_state *look(struct pair *p)
{
	stb_replication_look(p->probe, &p->now);
	cr_assert(p->now.known);
	return &p->now;
}

static void settle(struct pair *p)
{
	struct stb_err err = {0};
	char here[40], there[40];

	cr_assert_eq(stb_replication_settle(&p->r, &err), 0, "%s", err.what);
	query_text(&p->primary, "SELECT COUNT(*) FROM t", here, sizeof(here));
	query_text(&p->replica, "SELECT COUNT(*) FROM t", there, sizeof(there));
	cr_assert_str_eq(here, there, "it had not caught up");
}

Test(db_replication, commits_are_acknowledged_until_the_replica_is_cut_off)
{
	struct pair p;

	pair_up(&p);
	execute(&p.primary, "INSERT INTO t VALUES (1)");
	settle(&p);
	cr_expect(look(&p)->heard[0] && p.now.on && p.now.clients == 1 && !p.now.trouble[0], "%s", p.now.trouble);
	const uint64_t yes = p.now.yes_tx, off_times = p.now.off_times;

	cr_expect_gt(yes, 0);
	cr_expect_eq(p.now.no_tx, 0);
	kill((pid_t)stb_mysqld_pid(p.replica.mysqld), SIGSTOP);
	execute(&p.primary, "INSERT INTO t VALUES (2)"); /* returns after the timeout */
	look(&p);
	cr_expect_not(p.now.on);
	cr_expect_eq(p.now.no_tx, 1, "%llu", (unsigned long long)p.now.no_tx);
	cr_expect_eq(p.now.off_times, off_times + 1);
	cr_expect_eq(p.now.yes_tx, yes);
	cr_expect_not(p.now.heard[0]);
	cr_expect(strstr(p.now.trouble, "replica 1 of database `db` does not answer"), "%s", p.now.trouble);
	kill((pid_t)stb_mysqld_pid(p.replica.mysqld), SIGCONT);
	settle(&p);
	cr_expect(look(&p)->on && p.now.heard[0] && !p.now.trouble[0], "%s", p.now.trouble);
	cr_expect_eq(p.now.off_times, off_times + 1, "that it was off is not forgotten");
	pair_down(&p);
}

/* Off is off, whoever commits. */
Test(db_replication, that_it_was_off_is_counted_without_a_commit)
{
	struct pair p;

	pair_up(&p);
	settle(&p);
	look(&p);
	execute(&p.primary, "SET GLOBAL rpl_semi_sync_master_enabled = OFF");
	cr_expect_not(look(&p)->on);
	cr_expect_eq(p.now.no_tx, 0);
	pair_down(&p);
}

Test(db_replication, one_that_does_not_follow_is_named_and_not_waited_for_for_ever)
{
	struct stb_err err = {0};
	struct pair p;

	pair_up(&p);
	execute(&p.replica, "STOP SLAVE SQL_THREAD");
	execute(&p.primary, "INSERT INTO t VALUES (1)");
	look(&p);
	cr_expect_not(p.now.heard[0]);
	cr_expect(strstr(p.now.trouble, "replica 1 of database `db` does not follow"), "%s", p.now.trouble);
	cr_expect_eq(stb_replication_settle(&p.r, &err), -1);
	cr_expect(strstr(err.what, "does not follow"), "%s", err.what);
	execute(&p.replica, "START SLAVE SQL_THREAD");
	settle(&p);
	/* and an error of its own is told */
	execute(&p.replica, "SET GLOBAL read_only = OFF");
	execute(&p.replica, "DROP TABLE t");
	execute(&p.primary, "INSERT INTO t VALUES (2)");
	for (int i = 0; i < 300 && !strstr(look(&p)->trouble, "doesn't exist"); i++)
		usleep(20000);
	cr_expect(strstr(p.now.trouble, "does not follow: ") && strstr(p.now.trouble, "sbtest.t"), "%s", p.now.trouble);
	pair_down(&p);
}

Test(db_replication, lag_is_seen_and_waited_out)
{
	double lag_s = 0;
	struct pair p;

	pair_up(&p);
	settle(&p);
	execute(&p.replica, "STOP SLAVE");
	execute(&p.replica, "CHANGE MASTER TO MASTER_DELAY = 4");
	execute(&p.replica, "START SLAVE");
	execute(&p.primary, "INSERT INTO t VALUES (1)");
	for (int i = 0; i < 300 && lag_s < 1; i++) {
		lag_s = look(&p)->heard[0] ? p.now.lag_s : lag_s;
		usleep(20000);
	}
	cr_expect_geq(lag_s, 1);
	settle(&p);
	pair_down(&p);
}
