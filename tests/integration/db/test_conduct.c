/* test_conduct.c - how a run conducts itself towards server and clock: it scans nothing before, repeats no values, ends by what it was told. */
#include "support.h"

#include "runtime/db/client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(db_conduct, .timeout = 120);

static struct stb_phase *run(struct server *s, const struct stb_plan_block *w)
{
	const struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase = phase_new(stb_oltp_workers(w));

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
	return phase;
}

/* By the server's handlers, in whatever order. What it reads of its own information_schema counts too. */
static uint64_t rows_read(struct server *s)
{
	static const char *const handlers[] = {"Handler_read_first", "Handler_read_key", "Handler_read_last", "Handler_read_next", "Handler_read_prev",
		"Handler_read_rnd", "Handler_read_rnd_next"};
	uint64_t n = 0;

	for (unsigned i = 0; i < STB_LEN(handlers); i++)
		n += status_of(s, handlers[i]);
	return n;
}

#define OWN_ROWS 4000 /* of the information_schema, at most; a scan reads 20000 */

Test(db_conduct, the_check_before_a_run_reads_both_ends_and_no_more)
{
	struct server s;
	uint64_t rows, pages;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_count(&s.arena, w, "tables", 2);
	db_set_count(&s.arena, w, "table_size", 20000);
	db_set_count(&s.arena, w, "threads", 1);
	db_set_count(&s.arena, w, "events", 1);
	db_unset(w, "time");
	load(&s, w);
	/* counted at all: a scan is seen */
	rows = rows_read(&s);
	execute(&s, "SELECT SUM(k) FROM sbtest1 IGNORE INDEX (k_1)");
	cr_assert_geq(rows_read(&s) - rows, 20000);

	/* started anew with an empty buffer pool, so that pages are counted too */
	execute(&s, "SET GLOBAL innodb_buffer_pool_dump_at_shutdown = OFF");
	cr_assert_eq(stb_mysqld_stop(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_mysqld_start(s.mysqld, &s.err), 0, "%s", s.err.what);
	rows = rows_read(&s);
	pages = status_of(&s, "Innodb_buffer_pool_reads");
	run(&s, w);
	rows = rows_read(&s) - rows;
	cr_expect_leq(rows, OWN_ROWS, "%llu rows", (unsigned long long)rows);
	/* the tables have some 280 pages each: a way down the tree at both ends, and what the server reads to open them */
	pages = status_of(&s, "Innodb_buffer_pool_reads") - pages;
	cr_expect_leq(pages, server_is_mariadb() ? 100 : 400, "%llu pages", (unsigned long long)pages);

	/* and a data set that is to be used is looked at in the same way */
	db_set_word(&s.arena, w, "dataset", "use");
	rows = rows_read(&s);
	load(&s, w);
	rows = rows_read(&s) - rows;
	cr_expect_leq(rows, OWN_ROWS, "%llu rows", (unsigned long long)rows);
	server_down(&s);
}

Test(db_conduct, more_threads_than_tables_load_the_rows_once)
{
	struct server s;
	char cell[80];

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_count(&s.arena, w, "tables", 1);
	db_set_count(&s.arena, w, "table_size", 30000);
	const uint64_t before = status_of(&s, "Connections");

	load(&s, w);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) /* the one that claims, two or more that fill, and the two that ask */
		cr_expect_geq(status_of(&s, "Connections") - before, 4);
	query_text(&s, "SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id)) FROM sbtest1", cell, sizeof(cell));
	cr_expect_str_eq(cell, "30000 30000 1 30000");
	server_down(&s);
}

/* sysbench would end after 10 s, since its time is 10 unless it is said to be 0. */
Test(db_conduct, events_alone_end_a_run_however_long_it_takes)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "point_select");

	db_set_count(&s.arena, w, "events", 45);
	db_set(&s.arena, w, "rate", stb_val_num(STB_V_RATE, 3, 1));
	db_unset(w, "time");
	load(&s, w);
	const struct stb_phase *phase = run(&s, w);

	cr_expect_eq(phase->result.end, STB_END_EVENTS);
	cr_expect_eq(phase->result.ok[0], 45);
	cr_expect_gt(phase->result.window_ns, 10000000000u, "45 arrivals at 3 a second, from this seed, are over after 10 s");
	server_down(&s);
}

/* Statements that change c carry 120 random digits: one that was tried again with the same values would stand in the log twice. */
static void expect_new_values(struct server *s, struct stb_plan_block *w, const char *retry)
{
	char cell[80];

	execute(s, "SET GLOBAL general_log = OFF");
	execute(s, "TRUNCATE mysql.general_log");
	execute(s, "SET GLOBAL general_log = ON");
	db_set_word(&s->arena, w, "retry", retry);
	const struct stb_phase *phase = run(s, w);

	execute(s, "SET GLOBAL general_log = OFF");
	cr_expect_gt(phase->result.errors, 0, "%s: nothing was tried again", retry);
	query_text(s, "SELECT COUNT(*) > 0 FROM mysql.general_log WHERE argument LIKE 'UPDATE sbtest% SET c=%'", cell, sizeof(cell));
	cr_expect_str_eq(cell, "1");
	query_text(s, "SELECT COUNT(*) - COUNT(DISTINCT argument) FROM mysql.general_log WHERE argument LIKE 'UPDATE sbtest% SET c=%'", cell, sizeof(cell));
	cr_expect_str_eq(cell, "0", "%s: %s statements were sent again as they were", retry, cell);
	query_text(s, "SELECT COUNT(*) > 0 FROM mysql.general_log WHERE argument = 'ROLLBACK'", cell, sizeof(cell));
	cr_expect_str_eq(cell, strcmp(retry, "rollback") ? "0" : "1");
}

Test(db_conduct, what_is_tried_again_has_new_values)
{
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.innodb_lock_wait_timeout", stb_val_str(STB_V_STRING, "1"));
	db_set(&s.arena, s.block, "options.log_output", stb_val_str(STB_V_STRING, "TABLE"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "write_only");

	db_set_count(&s.arena, w, "table_size", 4);
	db_set_count(&s.arena, w, "threads", 8);
	db_set_count(&s.arena, w, "events", 300);
	db_set_count(&s.arena, w, "index_updates", 4);
	db_set_word(&s.arena, w, "db_ps_mode", "disable"); /* values are in the text */
	db_unset(w, "time");
	load(&s, w);
	expect_new_values(&s, w, "rollback");
	expect_new_values(&s, w, "sysbench");
	server_down(&s);
}

/* A row that somebody keeps locked: with the same values it would be waited for again and again. */
Test(db_conduct, a_lock_that_is_not_had_in_time_is_counted_as_1205)
{
	const struct stb_client_limits limits = {5, 60};
	static const char *const hold[] = {"BEGIN", "UPDATE sbtest1 SET k = k + 1 WHERE id = 1"};
	struct stb_client *holder;
	struct stb_reply reply;
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.innodb_lock_wait_timeout", stb_val_str(STB_V_STRING, "1"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "update_non_index");

	db_set_count(&s.arena, w, "table_size", 2);
	db_set_word(&s.arena, w, "rand_type", "uniform");
	db_set_count(&s.arena, w, "events", 12);
	db_unset(w, "time");
	load(&s, w);
	cr_assert_eq(stb_client_open(&holder, stb_mysqld_address(s.mysqld), &limits, &s.err), 0, "%s", s.err.what);
	for (unsigned i = 0; i < STB_LEN(hold); i++)
		cr_assert_eq(stb_client_query(holder, hold[i], strlen(hold[i]), &reply), 0);
	const struct stb_phase *phase = run(&s, w);

	cr_expect_eq(phase->result.ok[0], 12, "all events are done in the end, on the row that is free");
	cr_expect_gt(phase->result.errors, 0);
	cr_expect_eq(phase->result.codes.n, 1);
	cr_expect_eq(phase->result.codes.of[0].code, 1205);
	cr_expect_eq(phase->result.codes.of[0].count, phase->result.errors);
	stb_client_close(holder);
	server_down(&s);
}

/* Nothing that was not there before a server with too few connections refused is there afterwards: it is refused before the run. */
Test(db_conduct, limits_are_asked_before_anything_is_sent)
{
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.max_connections", stb_val_str(STB_V_STRING, "15"));
	server_up(&s);
	struct stb_plan_block *w = db_workload(&s.arena, "write_only");

	load(&s, w);
	db_set_count(&s.arena, w, "threads", 40);
	const struct stb_oltp_setup setup = setup_of(&s, w);
	struct stb_phase *phase = phase_new(40);
	const uint64_t refused = status_of(&s, "Connection_errors_max_connections"), updates = status_of(&s, "Com_update");

	cr_assert_eq(stb_oltp_run(&setup, phase), -1);
	cr_expect(strstr(phase->err.what, "max_connections"), "%s", phase->err.what);
	cr_expect_eq(status_of(&s, "Connection_errors_max_connections"), refused, "it was tried all the same");
	cr_expect_eq(status_of(&s, "Com_update"), updates);
	cr_expect_eq(status_of(&s, "Com_stmt_prepare"), 0);
	server_down(&s);
}
