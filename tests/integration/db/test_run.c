/* test_run.c - data set and scripts against a real private server: what is loaded, what is sent, what is counted. */
#include "support.h"

#include "runtime/db/client.h"
#include "runtime/db/oltp.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(db_run, .timeout = 120);

/* --- load ---------------------------------------------------------------------------------------------------------------------------- */

Test(db_run, loaded_rows_are_as_the_templates_say)
{
	struct server s;
	char cell[600];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_write");

	db_set_count(&s.arena, w, "tables", 3);
	db_set_count(&s.arena, w, "table_size", 7001);
	load(&s, w);
	for (int i = 1; i <= 3; i++) {
		char sql[300];

		snprintf(sql, sizeof(sql), "SELECT CONCAT_WS(' ', COUNT(*), MIN(id), MAX(id), MIN(k) >= 1, MAX(k) <= 7001, "
			"SUM(c REGEXP '^([0-9]{11}-){9}[0-9]{11}$'), SUM(pad REGEXP '^([0-9]{11}-){4}[0-9]{11}$')) FROM sbtest%d", i);
		query_text(&s, sql, cell, sizeof(cell));
		cr_assert_str_eq(cell, "7001 1 7001 1 1 7001 7001");
	}
	query_text(&s, "SELECT GROUP_CONCAT(CONCAT(INDEX_NAME, ':', COLUMN_NAME) ORDER BY INDEX_NAME) FROM information_schema.STATISTICS "
		"WHERE TABLE_NAME = 'sbtest2'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "k_2:k,PRIMARY:id");
	query_text(&s, "SELECT CONCAT_WS(' ', DATA_TYPE, COLUMN_DEFAULT, IS_NULLABLE) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sbtest1' "
		"AND COLUMN_NAME = 'k'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "int 0 NO");
	/* three quarters of k lie on 0.75% of the rows: the distribution is followed at load time */
	query_text(&s, "SELECT ROUND(100 * AVG(k BETWEEN 7001 * 0.497 AND 7001 * 0.506)) FROM sbtest1", cell, sizeof(cell));
	cr_assert(atoi(cell) >= 72 && atoi(cell) <= 80, "%s", cell);
	/* the next id that the server gives */
	execute(&s, "INSERT INTO sbtest3 (k, c, pad) VALUES (1, '', '')");
	query_text(&s, "SELECT MAX(id) FROM sbtest3", cell, sizeof(cell));
	cr_assert_str_eq(cell, "7002");
	server_down(&s);
}

Test(db_run, the_same_seed_loads_the_same_rows)
{
	struct server s;
	char first[64], second[64], parts[64];
	static const char sum[] = "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(CONCAT_WS(',', id, k, c, pad)))) FROM sbtest1";

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	db_set_count(&s.arena, w, "table_size", 5000); /* one table: loaded in parts where there are two processors */
	load(&s, w);
	query_text(&s, sum, first, sizeof(first));
	load(&s, w); /* again: its own tables are dropped and made anew */
	query_text(&s, sum, second, sizeof(second));
	cr_assert_str_eq(first, second);
	db_set_count(&s.arena, w, "tables", 40); /* more tables than processors: each in one piece */
	load(&s, w);
	query_text(&s, sum, parts, sizeof(parts));
	cr_assert_str_eq(first, parts);
	server_down(&s);
}

Test(db_run, without_secondary_index_and_auto_inc)
{
	struct server s;
	char cell[600];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	db_set_bool(&s.arena, w, "create_secondary", false);
	db_set_bool(&s.arena, w, "auto_inc", false);
	load(&s, w);
	query_text(&s, "SELECT CONCAT_WS(' ', COUNT(*), MIN(id), MAX(id)) FROM sbtest1", cell, sizeof(cell));
	cr_assert_str_eq(cell, "1000 1 1000");
	query_text(&s, "SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_NAME = 'sbtest1'), EXTRA = '') "
		"FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sbtest1' AND COLUMN_NAME = 'id'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "1 1");
	server_down(&s);
}

static void refuses(struct server *s, const struct stb_plan_block *w, const char *message)
{
	const struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase = phase_new(1);

	cr_assert_eq(stb_oltp_load(&setup, phase), -1);
	cr_assert_str_eq(phase->err.what, message);
	cr_assert(phase->err.remedy[0]);
}

Test(db_run, tables_of_unknown_origin_are_left_alone)
{
	struct server s;
	char cell[64];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	execute(&s, "CREATE TABLE sbtest1 (id INT PRIMARY KEY)");
	execute(&s, "INSERT INTO sbtest1 VALUES (42)");
	refuses(&s, w, "cannot load the data set: the schema has table `sbtest1`, which stb did not make");
	query_text(&s, "SELECT CONCAT_WS(' ', MAX(id), (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sbtest')) FROM sbtest1",
		cell, sizeof(cell));
	cr_assert_str_eq(cell, "42 1");
	/* a table beyond those that the marker names */
	execute(&s, "DROP TABLE sbtest1");
	load(&s, w);
	execute(&s, "CREATE TABLE sbtest7 (id INT PRIMARY KEY)");
	refuses(&s, w, "cannot load the data set: the schema has table `sbtest7`, which stb did not make");
	execute(&s, "DROP TABLE sbtest7");
	load(&s, w);
	/* a marker that is not stb's */
	execute(&s, "DROP TABLE stb_dataset, sbtest1");
	execute(&s, "CREATE TABLE stb_dataset (id INT)");
	refuses(&s, w, "cannot load the data set: table `stb_dataset` is there and was not written by this stb");
	server_down(&s);
}

Test(db_run, a_data_set_to_use_is_compared_first)
{
	struct server s;
	char count[64];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	load(&s, w);
	db_set_word(&s.arena, w, "dataset", "use");
	load(&s, w);
	query_text(&s, "SELECT COUNT(*) FROM sbtest1", count, sizeof(count));
	cr_assert_str_eq(count, "1000");
	db_set_count(&s.arena, w, "table_size", 999);
	refuses(&s, w, "cannot use the data set: `sbtest1` has ids 1..1000, the workload says 1..999");
	db_set_count(&s.arena, w, "table_size", 1000);
	db_set_bool(&s.arena, w, "create_secondary", false);
	refuses(&s, w, "cannot use the data set: `sbtest1` has keys primary key, k, the workload says primary key");
	db_set_bool(&s.arena, w, "create_secondary", true);
	db_set_word(&s.arena, w, "storage_engine", "aria");
	refuses(&s, w, "cannot use the data set: `sbtest1` has storage_engine InnoDB, the workload says aria");
	db_set_word(&s.arena, w, "storage_engine", "innodb");
	db_set_count(&s.arena, w, "tables", 2);
	refuses(&s, w, "cannot use the data set: table `sbtest2` does not exist");
	execute(&s, "CREATE TABLE sbtest2 LIKE sbtest1");
	execute(&s, "ALTER TABLE sbtest2 DROP COLUMN pad");
	refuses(&s, w, "cannot use the data set: `sbtest2` has columns id int, k int, c char(120), the workload says id int, k int, c char(120), "
		"pad char(60)");
	server_down(&s);
}

/* A load that is killed half way leaves tables that the next one knows as stb's, and makes anew. */
Test(db_run, a_load_that_was_cut_short_is_done_again)
{
	struct server s;
	char cell[64];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	db_set_count(&s.arena, w, "tables", 5);
	db_set_count(&s.arena, w, "table_size", 200000);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(1);
	const pid_t loader = fork();

	if (loader == 0) {
		(void)stb_oltp_load(&setup, phase);
		_exit(0);
	}
	while (atomic_load(&phase->progress_done) < 2000)
		usleep(1000);
	kill(loader, SIGKILL);
	waitpid(loader, NULL, 0);
	query_text(&s, "SELECT value FROM stb_dataset WHERE name = 'complete'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "0");
	db_set_count(&s.arena, w, "tables", 2);
	db_set_count(&s.arena, w, "table_size", 3000);
	load(&s, w);
	query_text(&s, "SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM sbtest1), (SELECT COUNT(*) FROM sbtest2), COUNT(*)) "
		"FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sbtest'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "3000 3000 3"); /* with the marker */
	query_text(&s, "SELECT value FROM stb_dataset WHERE name = 'complete'", cell, sizeof(cell));
	cr_assert_str_eq(cell, "1");
	server_down(&s);
}

Test(db_run, cleanup_drops_what_stb_made_and_nothing_else)
{
	struct server s;
	char cell[64];
	static const char tables[] = "SELECT COALESCE(GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME), '') FROM information_schema.TABLES "
		"WHERE TABLE_SCHEMA = 'sbtest'";

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_only");

	db_set_count(&s.arena, w, "tables", 3);
	const struct stb_oltp_setup setup = setup_of(&s, w);

	execute(&s, "CREATE TABLE sbtest1 (id INT PRIMARY KEY)");
	cr_assert_eq(stb_oltp_cleanup(&setup, &s.err), STB_UNDO_GONE, "%s", s.err.what); /* no marker: not ours */
	query_text(&s, tables, cell, sizeof(cell));
	cr_assert_str_eq(cell, "sbtest1");
	execute(&s, "DROP TABLE sbtest1");
	execute(&s, "CREATE TABLE theirs (id INT PRIMARY KEY)");
	load(&s, w);
	execute(&s, "CREATE TABLE sbtest4 (id INT PRIMARY KEY)");
	struct stb_oltp_setup other = setup;

	other.run_mark = "0123456789ab";
	cr_assert_eq(stb_oltp_cleanup(&other, &s.err), STB_UNDO_FOREIGN, "%s", s.err.what);
	query_text(&s, tables, cell, sizeof(cell));
	cr_assert_str_eq(cell, "sbtest1,sbtest2,sbtest3,sbtest4,stb_dataset,theirs");
	cr_assert_eq(stb_oltp_cleanup(&setup, &s.err), STB_UNDONE, "%s", s.err.what);
	query_text(&s, tables, cell, sizeof(cell));
	cr_assert_str_eq(cell, "sbtest4,theirs");
	server_down(&s);
}

/* --- scripts ------------------------------------------------------------------------------------------------------------------------- */

struct expected {
	const char *script;
	bool prepared, skip_trx;
	uint64_t selects, updates, deletes, inserts, begins, commits; /* per event */
	uint64_t reads, writes, others;
};

static uint64_t com(struct server *s, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "Com_%s", name);
	return status_of(s, full);
}

/* Runs 50 events and compares what the server counted, and what stb counted, with the table of the scripts. */
static void check_script(struct server *s, const struct expected *e, uint32_t repetition)
{
	static const char *const names[] = {"select", "update", "delete", "insert", "begin", "commit"};
	const uint64_t per_event[] = {e->selects, e->updates, e->deletes, e->inserts, e->begins, e->commits}, n = 50;
	struct stb_plan_block *w = db_workload(&s->arena, e->script);
	uint64_t before[6], executed, after;

	db_set_count(&s->arena, w, "tables", 2);
	db_set_count(&s->arena, w, "threads", 3);
	db_set_count(&s->arena, w, "events", (int64_t)n);
	db_unset(w, "time");
	db_set_word(&s->arena, w, "db_ps_mode", e->prepared ? "auto" : "disable");
	db_set_bool(&s->arena, w, "skip_trx", e->skip_trx);
	db_set_word(&s->arena, w, "rand_type", "uniform");
	struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase = phase_new(3);

	setup.repetition = repetition; /* else the same values are written again, and a row that does not change is not counted as written */

	for (unsigned i = 0; i < 6; i++)
		before[i] = com(s, names[i]);
	executed = com(s, "stmt_execute");
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	after = com(s, "stmt_execute") - executed;
	const struct stb_measure *m = &phase->result;

	cr_expect_eq(m->ok[0], n, "%s: %lu events", e->script, m->ok[0]);
	cr_expect_eq(m->end, STB_END_EVENTS);
	cr_expect_eq(m->issued, m->ok[0] + m->failed + m->cancelled);
	cr_expect_eq(m->lat[0].count, n);
	cr_expect(m->lat[0].min > 0 && m->lat[0].max <= m->window_ns);
	cr_expect_eq(phase->alloc_calls, 0, "%lu allocations", phase->alloc_calls);
	cr_expect(m->server.has_cpu && m->server.cpu_ns > 0);
	cr_expect(m->server.count[STB_SERVER_ROWS_READ] >= n * e->selects, "%s: %lu rows read", e->script,
		m->server.count[STB_SERVER_ROWS_READ]);
	/* with errors that were tried again there are more statements than of the events alone */
	cr_expect_eq(m->errors, 0, "%s: %lu errors", e->script, m->errors);
	if (m->errors == 0) {
		cr_expect_eq(m->queries_read, n * e->reads, "%s: %lu reads", e->script, m->queries_read);
		cr_expect_eq(m->queries_write, n * e->writes, "%s: %lu writes", e->script, m->queries_write);
		cr_expect_eq(m->queries_other, n * e->others, "%s: %lu others", e->script, m->queries_other);
		cr_expect_eq(m->server.count[STB_SERVER_ROWS_INSERTED], n * e->inserts, "%s: %lu rows inserted", e->script,
			m->server.count[STB_SERVER_ROWS_INSERTED]);
		cr_expect_eq(m->server.count[STB_SERVER_ROWS_DELETED], n * e->deletes, "%s: %lu rows deleted", e->script,
			m->server.count[STB_SERVER_ROWS_DELETED]);
		for (unsigned i = 1; i < 6; i++)
			cr_expect_eq(com(s, names[i]) - before[i], n * per_event[i], "%s: Com_%s", e->script, names[i]);
		/* our own looks at the server are SELECTs too: a few before the run, and one for each number here */
		const uint64_t selects = com(s, "select") - before[0];

		cr_expect(selects >= n * e->selects && selects <= n * e->selects + 48, "%s: %lu selects", e->script, selects);
	}
	const uint64_t all = n * (e->reads + e->writes + e->others);

	const uint64_t text = server_is_mariadb() ? 0 : n * e->begins; /* MySQL prepares no BEGIN */

	cr_expect_eq(after, e->prepared && strcmp(e->script, "insert") != 0 ? all - text : 0, "%s: %lu executions", e->script, after);
}

Test(db_run, every_script_sends_what_its_table_says)
{
	static const struct expected table[] = {
		{"point_select", true, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
		{"point_select", false, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
		{"read_only", true, false, 14, 0, 0, 0, 1, 1, 14, 0, 2},
		{"read_only", false, true, 14, 0, 0, 0, 0, 0, 14, 0, 0},
		{"read_write", true, false, 14, 2, 1, 1, 1, 1, 14, 4, 2},
		{"read_write", false, false, 14, 2, 1, 1, 1, 1, 14, 4, 2},
		{"read_write", true, true, 14, 2, 1, 1, 0, 0, 14, 4, 0},
		{"write_only", true, false, 0, 2, 1, 1, 1, 1, 0, 4, 2},
		{"write_only", false, true, 0, 2, 1, 1, 0, 0, 0, 4, 0},
		{"update_index", true, false, 0, 1, 0, 0, 0, 0, 0, 1, 0},
		{"update_non_index", false, false, 0, 1, 0, 0, 0, 0, 0, 1, 0},
		{"insert", true, false, 0, 0, 0, 1, 0, 0, 0, 1, 0},
		{"select_random_points", true, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
		{"select_random_points", false, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
		{"select_random_ranges", true, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
		{"select_random_ranges", false, false, 1, 0, 0, 0, 0, 0, 1, 0, 0},
	};
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_write");

	db_set_count(&s.arena, w, "tables", 2);
	db_set_count(&s.arena, w, "table_size", 100000); /* wide enough for three workers to meet hardly ever */
	load(&s, w);
	for (unsigned i = 0; i < STB_LEN(table); i++)
		check_script(&s, &table[i], i + 1);
	server_down(&s);
}

Test(db_run, inserts_without_auto_inc_never_collide_over_runs)
{
	struct server s;
	char cell[64];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "insert");

	db_set_bool(&s.arena, w, "auto_inc", false);
	db_set_count(&s.arena, w, "tables", 2);
	db_set_count(&s.arena, w, "threads", 4);
	db_set_count(&s.arena, w, "events", 500);
	db_unset(w, "time");
	load(&s, w);
	for (int i = 0; i < 4; i++) {
		const struct stb_oltp_setup setup = setup_of(&s, w);
		struct stb_phase *phase = phase_new(4);

		cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
		cr_assert_eq(phase->result.ok[0], 500);
	}
	query_text(&s, "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)", cell, sizeof(cell));
	cr_assert_str_eq(cell, "2000"); /* and none was loaded before */
	server_down(&s);
}

Test(db_run, bulk_inserts_count_rows_and_go_on_where_they_ended)
{
	struct server s;
	char cell[64];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "bulk_insert");

	db_set_count(&s.arena, w, "threads", 3);
	db_set_count(&s.arena, w, "events", 200000);
	db_unset(w, "time");
	load(&s, w);
	for (int i = 1; i <= 2; i++) {
		const struct stb_oltp_setup setup = setup_of(&s, w);
		struct stb_phase *phase = phase_new(3);
		char expected[64];

		cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
		cr_assert_eq(phase->result.ok[0], 200000);
		/* 512 KiB hold between 30,000 and 60,000 rows, and each worker sends a rest */
		cr_assert(phase->result.queries_write >= 5 && phase->result.queries_write <= 12, "%lu", phase->result.queries_write);
		cr_assert_eq(phase->result.queries_read + phase->result.queries_other, 0);
		cr_assert_eq(phase->alloc_calls, 0);
		query_text(&s, "SELECT CONCAT_WS(' ', COUNT(*), SUM(id = k), (SELECT MAX(id) FROM sbtest1) + (SELECT MAX(id) FROM sbtest2) + "
			"(SELECT MAX(id) FROM sbtest3)) FROM (SELECT * FROM sbtest1 UNION ALL SELECT * FROM sbtest2 UNION ALL SELECT * FROM sbtest3) t",
			cell, sizeof(cell));
		snprintf(expected, sizeof(expected), "%d %d %d", 200000 * i, 200000 * i, 200000 * i);
		cr_assert_str_eq(cell, expected);
	}
	server_down(&s);
}

/* --- open loop ------------------------------------------------------------------------------------------------------------------------ */

Test(db_run, arrivals_are_served_and_those_that_are_not_are_known)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	load(&s, w);
	db_set(&s.arena, w, "rate", stb_val_num(STB_V_RATE, 300, 1));
	db_set_time(&s.arena, w, "time", 2000);
	db_set_time(&s.arena, w, "warmup_time", 200);
	struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	const struct stb_measure *m = &phase->result;

	cr_assert_eq(m->end, STB_END_TIME);
	cr_assert(m->window_ns >= 2000000000);
	/* 600 are expected, with a standard deviation of 24 */
	cr_assert(m->scheduled > 450 && m->scheduled < 750, "%lu arrived", m->scheduled);
	cr_assert(m->ok[0] <= m->scheduled + 2, "%lu of %lu", m->ok[0], m->scheduled); /* two may span the end of the warm-up */
	cr_assert_eq(m->lat[0].count, m->ok[0]);
	cr_assert_eq(m->svc[0].count, m->ok[0]);
	cr_assert(m->lat[0].sum >= m->svc[0].sum, "latency begins when an event is due");
	cr_assert_eq(phase->alloc_calls, 0);

	/* more than the server can do */
	db_set(&s.arena, w, "rate", stb_val_num(STB_V_RATE, 5000000, 1));
	db_set_time(&s.arena, w, "time", 500);
	setup = setup_of(&s, w);
	phase = phase_new(2);
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	m = &phase->result;
	cr_assert(m->scheduled > 2000000, "%lu arrived", m->scheduled);
	cr_assert(m->ok[0] > 0 && m->ok[0] < m->scheduled / 2);
	cr_assert(m->lat[0].max > 10 * m->svc[0].min, "waiting counts as latency");

	/* a number of events ends it too, and of all of them each is done once */
	db_set_count(&s.arena, w, "events", 50);
	db_unset(w, "time");
	setup = setup_of(&s, w);
	phase = phase_new(2);
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.end, STB_END_EVENTS);
	cr_assert_eq(phase->result.ok[0], 50);
	server_down(&s);
}

Test(db_run, warm_up_is_not_counted_and_time_ends_the_run)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_time(&s.arena, w, "time", 300);
	db_set_time(&s.arena, w, "warmup_time", 300);
	load(&s, w);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);
	const uint64_t before = status_of(&s, "Com_stmt_execute");

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	const uint64_t sent = status_of(&s, "Com_stmt_execute") - before;

	cr_assert_eq(phase->result.end, STB_END_TIME);
	cr_assert(phase->result.window_ns >= 300000000);
	cr_assert_gt(phase->result.ok[0], 0);
	cr_assert_lt(phase->result.ok[0], sent); /* the rest was warm-up */
	cr_assert_eq(phase->result.queries_read, phase->result.ok[0]);
	cr_assert(phase->result.cpu_user_ns + phase->result.cpu_sys_ns > 0);
	cr_assert_eq(atomic_load(&phase->live[0].ops) + atomic_load(&phase->live[1].ops), phase->result.ok[0]);
	cr_assert_eq(phase->alloc_calls, 0);
	server_down(&s);
}

/* Until the workers have done something. */
static void wait_for_events(struct stb_phase *phase)
{
	while (atomic_load(&phase->live[0].ops) < 5 || atomic_load(&phase->live[1].ops) < 5)
		usleep(1000);
}

/* --- errors -------------------------------------------------------------------------------------------------------------------------- */

/* Errors by code are the errors, and only codes that were to be ignored. */
static void check_codes(const struct stb_measure *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->codes.n; i++) {
		const uint32_t code = m->codes.of[i].code;

		cr_expect(code == 1213 || code == 1205 || code == 1020, "%u", code);
		cr_expect_gt(m->codes.of[i].count, 0);
		sum += m->codes.of[i].count;
	}
	cr_expect_eq(sum, m->errors);
}

static void check_fairness(const struct stb_measure *m, double events, double threads)
{
	cr_expect_float_eq(m->fairness.events_mean, events / threads, 1e-6);
	cr_expect(m->fairness.events_stddev >= 0 && m->fairness.events_stddev < events);
	/* the time in events is what the latencies add up to */
	cr_expect_float_eq(m->fairness.busy_mean_s * threads, (double)m->lat[0].sum / 1e9, 1e-6);
}

Test(db_run, deadlocks_are_tried_again_and_counted)
{
	struct server s;
	char cell[64];

	server_init(&s);
	db_set(&s.arena, s.block, "options.innodb_lock_wait_timeout", stb_val_str(STB_V_STRING, "1"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "write_only");

	db_set_count(&s.arena, w, "table_size", 4);
	db_set_count(&s.arena, w, "threads", 8);
	db_set_count(&s.arena, w, "events", 400);
	db_set_count(&s.arena, w, "index_updates", 4);
	db_unset(w, "time");
	load(&s, w);
	struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(8);

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.ok[0], 400);
	cr_assert_gt(phase->result.errors, 0);
	cr_assert_eq(phase->alloc_calls, 0);
	check_codes(&phase->result);
	cr_assert_eq(com(&s, "rollback"), phase->result.errors);
	check_fairness(&phase->result, 400, 8);
	query_text(&s, "SELECT CONCAT_WS(' ', COUNT(*), MIN(id), MAX(id)) FROM sbtest1", cell, sizeof(cell)); /* no half transaction */
	cr_assert_str_eq(cell, "4 1 4");

	/* as sysbench does it: nothing is sent */
	const uint64_t rollbacks = com(&s, "rollback");

	db_set_word(&s.arena, w, "retry", "sysbench");
	setup = setup_of(&s, w);
	phase = phase_new(8);
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.ok[0], 400);
	cr_assert_gt(phase->result.errors, 0);
	cr_assert_eq(com(&s, "rollback"), rollbacks);
	db_set_word(&s.arena, w, "retry", "rollback");

	/* not to be ignored: the first one ends the run */
	db_set_list(&s.arena, w, "ignore_errors", NULL, 0);
	setup = setup_of(&s, w);
	phase = phase_new(8);
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_assert(strstr(phase->err.what, "(1213)") && strstr(phase->err.what, "sbtest1"), "%s", phase->err.what);
	cr_assert_eq(phase->result.end, STB_END_ERROR);
	cr_assert_eq(phase->result.issued, phase->result.ok[0] + phase->result.failed + phase->result.cancelled);
	cr_assert_eq(phase->result.failed, 1);
	server_down(&s);
}

Test(db_run, limits_of_the_server_are_checked_before)
{
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.max_connections", stb_val_str(STB_V_STRING, "20"));
	db_set(&s.arena, s.block, "options.max_prepared_stmt_count", stb_val_str(STB_V_STRING, "100"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_write");

	load(&s, w);
	db_set_count(&s.arena, w, "threads", 20);
	struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(20);

	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_assert_str_eq(phase->err.what, "cannot connect 20 threads: the server allows 20 connections (max_connections), stb has 1 of its own, 0 are taken");
	cr_assert_str_eq(phase->err.remedy, "set database option max_connections to at least 21, or use fewer threads");
	db_set_count(&s.arena, w, "threads", 10);
	setup = setup_of(&s, w);
	phase = phase_new(10);
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_assert_str_eq(phase->err.what, "cannot prepare 110 statements (10 threads x 11): the server allows 100 (max_prepared_stmt_count), "
		"0 are taken");
	db_set_count(&s.arena, w, "threads", 9); /* 99 fit */
	db_set_time(&s.arena, w, "time", 100);
	setup = setup_of(&s, w);
	phase = phase_new(9);
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	server_down(&s);
}

/* Opens with the limit as it is: by then there are fewer files than when it was looked at before the run. */
Test(db_run, a_limit_on_open_files_that_is_met_is_told_as_such)
{
	const struct rlimit few = {.rlim_cur = 24, .rlim_max = 24};
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	load(&s, w);
	db_set_count(&s.arena, w, "threads", 40);
	db_set_list(&s.arena, w, "ignore_errors", (const int64_t[]){1213, 2002, 2001, 2004}, 4); /* what is not to be had is no answer of the server */
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(40);
	const pid_t limited = fork();

	if (limited == 0) {
		if (setrlimit(RLIMIT_NOFILE, &few))
			_exit(2);
		_exit(stb_oltp_run(&setup, phase) == -1 ? 0 : 1);
	}
	int status;

	waitpid(limited, &status, 0);
	cr_expect_eq(status, 0);
	cr_expect(strstr(phase->err.what, "(24)"), "%s", phase->err.what);
	cr_expect_str_eq(phase->err.remedy, "raise the limit on open files (ulimit -n), or use fewer threads", "%s: %s", phase->err.what, phase->err.remedy);
	server_down(&s);
}

/* The account's own limit, which is met in the middle of set-up where nobody asked for it before. */
Test(db_run, what_an_account_may_not_have_is_told_as_such)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	load(&s, w);
	execute(&s, "ALTER USER stb@localhost WITH MAX_USER_CONNECTIONS 3");
	db_set_count(&s.arena, w, "threads", 8);
	struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(8);

	cr_expect_eq(stb_oltp_run(&setup, phase), -1);
	cr_expect(strstr(phase->err.what, "(1226)") || strstr(phase->err.what, "(1203)"), "%s", phase->err.what);
	cr_expect(strstr(phase->err.remedy, "or use fewer threads"), "%s", phase->err.remedy);
	setup.private_server = false; /* one that is not stb's is asked */
	phase = phase_new(8);
	cr_expect_eq(stb_oltp_run(&setup, phase), -1);
	cr_expect_str_eq(phase->err.what, "cannot connect 8 threads: the server allows the user 3 connections (max_user_connections), and stb has 1 of its own");
	server_down(&s);
}

static void refuses_run(struct server *s, const struct stb_plan_block *w, const char *message)
{
	const struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase = phase_new(2);

	cr_assert_eq(stb_oltp_run(&setup, phase), -1, "%s", message);
	cr_assert_str_eq(phase->err.what, message);
	cr_assert(phase->err.remedy[0]);
	cr_assert_eq(phase->result.window_ns, 0);
}

/* Nobody answers there: that is before there are connections, or what waits for them. */
Test(db_run, a_refused_run_closes_nothing_of_others)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct stb_arena arena;

	stb_arena_init(&arena);
	struct stb_plan_block *w = db_workload(&arena, "point_select");
	const struct stb_oltp_setup setup = {.workload = w, .dataset = db_dataset(&arena, w), .run_mark = "abcdefabcdef",
		.addr = {.socket = "/nonexistent", .user = "stb", .schema = "stb"}};
	struct stb_phase *phase = phase_new(2);

	cr_assert_neq(dup2(null, STDIN_FILENO), -1);
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_expect_neq(fcntl(STDIN_FILENO, F_GETFD), -1);
	db_set_count(&arena, w, "threads", 0);
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_expect_neq(fcntl(STDIN_FILENO, F_GETFD), -1);
	stb_arena_fini(&arena);
}

/* Rows that were loaded are not there: what helps depends on what the matrix says of fresh data, and on whose the tables are. */
static void gone_by_fresh(struct server *s, struct stb_plan_block *w)
{
	static const char *const remedies[] = {
		[STB_FRESH_ONCE] = "set fresh = repetition in matrix `m`: with fresh = once it meets what the measurements before left of the rows",
		[STB_FRESH_GROUP] = "set fresh = repetition in matrix `m`: with fresh = group it meets what the measurements before left of the rows",
		[STB_FRESH_CELL] = "set fresh = repetition in matrix `m`: with fresh = cell it meets what the measurements before left of the rows",
		[STB_FRESH_REPETITION] = "find out who else writes to these tables: they were loaded for this measurement alone",
	};
	struct stb_plan_matrix m = {.name = "m", .span = 4};
	struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase;

	setup.matrix = &m;
	for (size_t i = 0; i < STB_LEN(remedies); i++) {
		m.fresh = (enum stb_fresh)i;
		phase = phase_new(2);
		cr_assert_eq(stb_oltp_run(&setup, phase), -1);
		cr_assert_str_eq(phase->err.remedy, remedies[i]);
		cr_assert_eq(phase->err.span, m.fresh == STB_FRESH_REPETITION ? 0 : 5);
	}
	db_set_word(&s->arena, w, "dataset", "use");
	phase = phase_new(2);
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_assert_str_eq(phase->err.remedy,
		"load them anew, and measure what takes rows away on tables of stb's own (`dataset = create`): nothing restores these");
	cr_assert_eq(phase->err.span, 0); /* the workload, which the caller names */
	db_set_word(&s->arena, w, "dataset", "create");
}

Test(db_run, tables_are_looked_at_before_a_run)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	refuses_run(&s, w, "cannot use the data set: table `sbtest1` does not exist");
	load(&s, w);
	db_set_bool(&s.arena, w, "auto_inc", false);
	refuses_run(&s, w, "cannot use the data set: `sbtest1` has auto_inc true, the workload says false");
	db_set_bool(&s.arena, w, "auto_inc", true);
	execute(&s, "DELETE FROM sbtest1 WHERE id > 500");
	refuses_run(&s, w, "cannot use the data set: `sbtest1` has ids 1..500, the workload says 1..1000");
	gone_by_fresh(&s, w);
	execute(&s, "DELETE FROM sbtest1");
	refuses_run(&s, w, "cannot use the data set: `sbtest1` has ids none (it is empty), the workload says 1..1000");
	db_set_word(&s.arena, w, "script", "delete"); /* which goes on to the last row and beyond */
	db_set_time(&s.arena, w, "time", 100);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.queries_write, 0);
	cr_assert_eq(phase->result.queries_other, phase->result.ok[0]);
	server_down(&s);
}

Test(db_run, a_server_that_is_killed_ends_the_run_and_tells_its_signal)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_write");

	db_set_time(&s.arena, w, "time", 60000);
	load(&s, w);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);
	const long pid = server_pid(&s);
	const pid_t killer = fork();

	if (killer == 0) {
		wait_for_events(phase);
		kill((pid_t)pid, SIGKILL);
		_exit(0);
	}
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_assert(strstr(phase->err.what, "(2013)") || strstr(phase->err.what, "(2006)"), "%s", phase->err.what);
	cr_assert_gt(phase->result.ok[0], 0); /* what was counted is kept */
	cr_assert_eq(phase->result.lat[0].count, phase->result.ok[0]);
	while (stb_mysqld_alive(s.mysqld, &s.err))
		usleep(1000);
	cr_assert(strstr(s.err.what, "database `db`: the server was killed by signal 9 (Killed) while it was in use, and not by stb"), "%s",
		s.err.what);
	cr_assert(strstr(s.err.remedy, s.dir), "%s", s.err.remedy);
	cr_assert_eq(stb_mysqld_stop(s.mysqld, &s.err), -1);
	server_down(&s);
}

/* What was done before a stall is kept, and its time counts: until the run gave up waiting. */
static void check_stalled(const struct stb_phase *phase, uint32_t connections)
{
	const struct stb_measure *m = &phase->result;
	uint64_t seen = 0;

	for (uint32_t i = 0; i < phase->n_workers; i++)
		seen += atomic_load(&phase->live[i].ops);
	cr_expect_eq(m->end, STB_END_STALLED);
	cr_expect_gt(m->ok[0], 0);
	cr_expect_eq(m->ok[0], seen, "%llu of %llu", (unsigned long long)m->ok[0], (unsigned long long)seen);
	cr_expect_eq(m->lat[0].count, m->ok[0]);
	cr_expect_eq(m->issued, m->ok[0] + m->failed + m->cancelled);
	cr_expect_eq(m->failed + m->cancelled, connections);
	cr_expect_geq(m->window_ns, 12000000000u, "2 s, and 10 s in which no answer came: %llu", (unsigned long long)m->window_ns);
	cr_expect_leq(m->window_ns, 60000000000u);
}

/* Some connections wait for rows that somebody else has locked, and the others go on to the end of the time. */
Test(db_run, connections_that_wait_to_the_end_are_a_stall)
{
	static const char *const hold[] = {"BEGIN", "UPDATE sbtest1 SET k = k + 1 WHERE id <= 100"};
	const struct stb_client_limits limits = {5, 60};
	struct stb_client *holder;
	struct stb_reply reply;
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.innodb_lock_wait_timeout", stb_val_str(STB_V_STRING, "600"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "update_non_index");

	db_set_count(&s.arena, w, "table_size", 2000);
	db_set_word(&s.arena, w, "rand_type", "uniform");
	db_set(&s.arena, w, "rate", stb_val_num(STB_V_RATE, 50, 1)); /* a twentieth of a hundred meet them: by far not all connections */
	db_set_count(&s.arena, w, "threads", 8);
	db_set_time(&s.arena, w, "time", 2000);
	load(&s, w);
	cr_assert_eq(stb_client_open(&holder, stb_mysqld_address(s.mysqld), &limits, &s.err), 0, "%s", s.err.what);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(8);
	const pid_t locker = fork();

	if (locker == 0) {
		wait_for_events(phase);
		for (unsigned i = 0; i < STB_LEN(hold); i++)
			(void)!stb_client_query(holder, hold[i], strlen(hold[i]), &reply);
		pause();
	}
	cr_expect_eq(stb_oltp_run(&setup, phase), -1);
	kill(locker, SIGKILL);
	waitpid(locker, NULL, 0);
	stb_client_close(holder);
	cr_expect(strstr(phase->err.what, " of 8 connections had no answer 10 s after the run was to end"), "%s", phase->err.what);
	check_stalled(phase, (uint32_t)strtoul(phase->err.what + strlen("the server stalled: "), NULL, 10));
	server_down(&s);
}

Test(db_run, a_server_that_stalls_does_not_hold_the_run)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_time(&s.arena, w, "time", 2000);
	load(&s, w);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);
	const long pid = server_pid(&s);
	const pid_t stopper = fork();

	if (stopper == 0) {
		wait_for_events(phase);
		kill((pid_t)pid, SIGSTOP);
		_exit(0);
	}
	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	kill((pid_t)pid, SIGCONT);
	cr_assert_str_eq(phase->err.what, "the server stalled: 2 of 2 connections had no answer 10 s after the run was to end");
	check_stalled(phase, 2);
	server_down(&s);
}

Test(db_run, a_lost_connection_that_is_to_be_ignored_is_made_again)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "read_write");

	db_set_list(&s.arena, w, "ignore_errors", (const int64_t[]){1213, 1020, 1205, 2006, 2013, 1927}, 6);
	db_set_time(&s.arena, w, "time", 2000);
	load(&s, w);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);
	const pid_t killer = fork();

	if (killer == 0) { /* the connections that are in the middle of something */
		char id[32];

		wait_for_events(phase);
		query_text(&s, "SELECT MIN(ID) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = 'stb'", id, sizeof(id));
		char sql[64];

		snprintf(sql, sizeof(sql), "KILL %s", id);
		execute(&s, sql);
		_exit(0);
	}
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.reconnects, 1, "%lu", phase->result.reconnects);
	cr_assert_geq(phase->result.errors, 1);
	cr_assert_eq(phase->alloc_calls, 0);
	server_down(&s);
}

/* 25 events a connection: of a worker's n events the connection is given up (n - 1) / 25 times. */
Test(db_run, connections_are_given_up_as_often_as_asked)
{
	struct server s;

	for (int prepared = 0; prepared < 2; prepared++) {
		server_init(&s);
		server_up(&s);
		struct stb_plan_block *w = db_workload(&s.arena, "read_write");

		db_set_count(&s.arena, w, "reconnect", 25);
		db_set_count(&s.arena, w, "threads", 1);
		db_set_count(&s.arena, w, "events", 200);
		db_set_word(&s.arena, w, "db_ps_mode", prepared ? "auto" : "disable");
		db_unset(w, "time");
		load(&s, w);
		const struct stb_oltp_setup setup = setup_of(&s, w);
		struct stb_phase *phase = phase_new(1);
		const uint64_t before = status_of(&s, "Connections");

		cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
		cr_assert_eq(phase->result.ok[0], 200);
		cr_assert_eq(phase->result.reconnects, 7);
		cr_assert_eq(phase->result.errors, 0);
		cr_assert_eq(phase->alloc_calls, 0);
		/* the look before the run, the one at the server's status, the worker, the seven, and our question */
		cr_assert_eq(status_of(&s, "Connections") - before, 1 + 1 + 1 + 7 + 1);
		server_down(&s);
	}
}

Test(db_run, stop_ends_a_run_and_a_load)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_time(&s.arena, w, "time", 60000);
	load(&s, w);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(2);
	const pid_t parent = fork();

	if (parent == 0) {
		wait_for_events(phase);
		atomic_store(&phase->stop, 1);
		_exit(0);
	}
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	cr_assert_eq(phase->result.end, STB_END_STOPPED);
	cr_assert(phase->result.window_ns < 50000000000);
	struct stb_phase *loading = phase_new(1);

	atomic_store(&loading->stop, 1);
	cr_assert_eq(stb_oltp_load(&setup, loading), -1);
	cr_assert_str_eq(loading->err.what, "cannot load the data set: it was stopped");
	server_down(&s);
}
