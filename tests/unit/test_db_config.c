/* test_db_config.c - what a workload oltp asks for, the server's option file, paths, log tails, versions. */
#include "db_blocks.h"

#include "runtime/base/process.h"
#include "runtime/db/dialect.h"
#include "runtime/db/oltp.h"
#include "runtime/db/server.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct stb_arena arena;
static struct stb_err err;

static void setup(void)
{
	stb_arena_init(&arena);
	stb_err_clear(&err);
}

static void teardown(void)
{
	stb_arena_fini(&arena);
}

TestSuite(db_config, .init = setup, .fini = teardown);
TestSuite(db_place, .init = setup, .fini = teardown);

/* --- workload ------------------------------------------------------------------------------------------------------------------------ */

Test(db_config, statements_of_the_scripts)
{
	static const struct {
		const char *script;
		uint64_t handles; /* with 3 tables */
		bool transaction;
	} cases[] = {{"point_select", 3, false}, {"read_only", 5 * 3 + 2, true}, {"read_write", 9 * 3 + 2, true}, {"write_only", 4 * 3 + 2, true},
		{"insert", 0, false}, {"delete", 3, false}, {"update_index", 3, false}, {"update_non_index", 3, false},
		{"select_random_points", 1, false}, {"select_random_ranges", 1, false}, {"bulk_insert", 0, false}};

	for (unsigned i = 0; i < STB_LEN(cases); i++) {
		struct stb_plan_block *w = db_workload(&arena, cases[i].script);
		struct stb_oltp o;

		db_set_count(&arena, w, "tables", 3);
		cr_assert_eq(stb_oltp_read(&o, w, &err), 0, "%s", err.what);
		cr_expect_eq(stb_oltp_handles(&o), cases[i].handles, "%s: %lu", cases[i].script, stb_oltp_handles(&o));
		cr_expect_eq(o.transaction, cases[i].transaction);
		db_set_bool(&arena, w, "skip_trx", true);
		db_set_word(&arena, w, "db_ps_mode", "disable");
		cr_assert_eq(stb_oltp_read(&o, w, &err), 0);
		cr_expect_eq(stb_oltp_handles(&o), 0);
		cr_expect_not(o.transaction);
	}
}

/* point_select selects one row whatever point_selects says, as sysbench's script does. */
Test(db_config, point_select_is_one_statement)
{
	struct stb_plan_block *w = db_workload(&arena, "point_select");
	struct stb_oltp o;

	cr_assert_eq(stb_oltp_read(&o, w, &err), 0);
	cr_assert_eq(o.count[STB_SQL_POINT], 1);
	w = db_workload(&arena, "read_only");
	cr_assert_eq(stb_oltp_read(&o, w, &err), 0);
	cr_assert_eq(o.count[STB_SQL_POINT], 10);
	cr_assert_eq(o.count[STB_SQL_DELETE], 0);
}

static void refused(const struct stb_plan_block *w, const char *message)
{
	stb_err_clear(&err);
	cr_assert_eq(stb_oltp_preflight(w, &err), -1, "%s", message);
	cr_expect_str_eq(err.what, message);
}

Test(db_config, what_cannot_be_is_refused)
{
	struct stb_plan_block *w = db_workload(&arena, "read_write");

	cr_assert_eq(stb_oltp_preflight(w, &err), 0, "%s", err.what);
	db_set_count(&arena, w, "threads", 0);
	refused(w, "workload `load` cannot be carried out: `threads` is 0, and must lie between 1 and 16384");
	db_set_count(&arena, w, "threads", 2);
	db_set_count(&arena, w, "table_size", (int64_t)INT32_MAX + 1);
	refused(w, "workload `load` cannot be carried out: `table_size` is 2147483648, and must lie between 1 and 2147483647");
	db_set_count(&arena, w, "table_size", 10);
	db_set_word(&arena, w, "rand_type", "zipf");
	refused(w, "workload `load` cannot be carried out: `rand_type` is none of uniform, gaussian, special, pareto, zipfian");
	db_set_word(&arena, w, "rand_type", "zipfian");
	db_set(&arena, w, "rand_zipfian_exp", stb_val_num(STB_V_COUNT, 11, 1));
	refused(w, "workload `load` cannot be carried out: `rand_zipfian_exp` is 11, and must lie between 0 and 10");
	db_set(&arena, w, "rand_zipfian_exp", stb_val_num(STB_V_COUNT, 11, 10));
	db_set_word(&arena, w, "retry", "never");
	refused(w, "workload `load` cannot be carried out: `retry` is neither rollback nor sysbench");
	db_set_word(&arena, w, "retry", "sysbench");
	db_set_word(&arena, w, "rand_type", "pareto");
	db_set_word(&arena, w, "storage_engine", "innodb */; DROP DATABASE x; /*");
	refused(w, "workload `load` cannot be carried out: `storage_engine` is no name of an engine");
	db_set_word(&arena, w, "storage_engine", "innodb");
	db_set_list(&arena, w, "ignore_errors", (const int64_t[]){0}, 1);
	refused(w, "workload `load` cannot be carried out: `ignore_errors` must be at most 64 error numbers between 1 and 65535");
	db_set_list(&arena, w, "ignore_errors", NULL, 0);
	db_unset(w, "time");
	refused(w, "workload `load` cannot be carried out: `time` and `events` are both absent: nothing would end the run");
	db_set_count(&arena, w, "events", 1);
	cr_assert_eq(stb_oltp_preflight(w, &err), 0, "%s", err.what);
}

Test(db_config, a_script_without_statements_is_refused)
{
	static const char *const writes[] = {"index_updates", "non_index_updates", "delete_inserts"};
	struct stb_plan_block *w = db_workload(&arena, "write_only");

	for (unsigned i = 0; i < STB_LEN(writes); i++)
		db_set_count(&arena, w, writes[i], 0);
	refused(w, "workload `load` cannot be carried out: `script` has no statement left: every count that it uses is 0");
	db_set_count(&arena, w, "delete_inserts", 1);
	cr_assert_eq(stb_oltp_preflight(w, &err), 0, "%s", err.what);
}

Test(db_config, parameters_of_the_distribution)
{
	struct stb_plan_block *w = db_workload(&arena, "read_only");
	struct stb_oltp o;

	db_set_count(&arena, w, "rand_spec_iter", 5);
	db_set(&arena, w, "rand_spec_pct", stb_val_num(STB_V_SHARE, 1, 50));
	db_set(&arena, w, "rand_spec_res", stb_val_num(STB_V_SHARE, 3, 5));
	cr_assert_eq(stb_oltp_read(&o, w, &err), 0, "%s", err.what);
	cr_expect_eq(o.data.shape.type, STB_DIST_SPECIAL);
	cr_expect_eq(o.data.shape.iter, 5);
	cr_expect_float_eq(o.data.shape.pct, 2, 1e-9);
	cr_expect_float_eq(o.data.shape.res, 60, 1e-9);
	cr_expect_float_eq(o.data.shape.h, 0.2, 1e-9);
	cr_expect_float_eq(o.data.shape.exponent, 0.8, 1e-9);
}

/* Tables depend on the script in two cases only: bulk_insert has one a thread, insert without auto_inc begins with none of the rows. */
Test(db_config, tables_of_scripts)
{
	struct stb_plan_block *w = db_workload(&arena, "bulk_insert");
	struct stb_dataset d;
	struct stb_oltp o;

	db_set_count(&arena, w, "threads", 6);
	cr_assert_eq(stb_oltp_read(&o, w, &err), 0, "%s", err.what);
	cr_expect(o.data.bulk && o.data.empty && o.data.tables == 6 && !o.prepared);
	cr_assert_eq(stb_dataset_read(&d, db_dataset(&arena, w), &err), 0, "%s", err.what);
	cr_expect(d.bulk && d.empty && d.tables == 6 && !d.use);
	w = db_workload(&arena, "insert");
	cr_assert_eq(stb_dataset_read(&d, db_dataset(&arena, w), &err), 0, "%s", err.what);
	cr_expect(!d.bulk && !d.empty);
	db_set_bool(&arena, w, "auto_inc", false);
	cr_assert_eq(stb_dataset_read(&d, db_dataset(&arena, w), &err), 0, "%s", err.what);
	cr_expect(!d.bulk && d.empty && d.tables == 1);
}

Test(db_config, an_attribute_that_nobody_reads_is_refused)
{
	struct stb_plan_block *w = db_workload(&arena, "read_write");

	db_set_count(&arena, w, "think_time", 5);
	cr_assert_eq(stb_oltp_preflight(w, &err), -1);
	cr_assert(strstr(err.what, "think_time"), "%s", err.what);
}

/* --- option file --------------------------------------------------------------------------------------------------------------------- */

static const struct stb_option_file files = {.mariadb = true, .basedir = "/usr", .data_dir = "/v x/data", .tmp_dir = "/v x/tmp", .socket = "/v x/s#",
	.pid_file = "/v x/pid", .error_log = "/v x/log"};

Test(db_config, option_file)
{
	struct stb_plan_block *b = db_mysql(&arena);
	struct stb_buf text;

	db_set(&arena, b, "options.innodb_buffer_pool_size", stb_val_str(STB_V_STRING, "1073741824"));
	db_set(&arena, b, "options.skip-networking", stb_val_str(STB_V_STRING, "OFF"));
	stb_buf_init(&text);
	cr_assert_eq(stb_option_file(&text, &files, b, &err), 0, "%s", err.what);
	cr_assert_str_eq(stb_buf_str(&text), "[mysqld]\n"
		"innodb_buffer_pool_size = \"1073741824\"\n"
		"skip-networking = \"OFF\"\n"
		"skip-networking\nskip-log-bin\n"
		"basedir = \"/usr\"\ndatadir = \"/v x/data\"\ntmpdir = \"/v x/tmp\"\nsecure-file-priv = \"/v x/tmp\"\nsocket = \"/v x/s#\"\n"
		"pid-file = \"/v x/pid\"\nlog-error = \"/v x/log\"\n");
	stb_buf_fini(&text);
}

/* The lines of each role, in either family's words; parts on volumes of their own. */
Test(db_config, option_file_of_each_role)
{
	static const struct {
		bool mariadb, semi_sync;
		enum stb_mysqld_role role;
		const char *lines, *lacks;
	} cases[] = {
		{true, false, STB_MYSQLD_ALONE, "innodb-log-group-home-dir = \"/r/redo\"\nskip-networking\nskip-log-bin\n", "server-id"},
		{true, false, STB_MYSQLD_PRIMARY, "bind-address = 127.0.0.1\nlog-bin = \"/b/log\"\nserver-id = 3\ngtid-strict-mode = ON\n", "semi-sync"},
		{true, true, STB_MYSQLD_PRIMARY, "gtid-strict-mode = ON\nrpl-semi-sync-master-enabled = ON\n", "skip-networking"},
		{true, true, STB_MYSQLD_REPLICA, "skip-networking\nskip-log-bin\nread-only = ON\nskip-slave-start\nrelay-log = \"/d/relay\"\nserver-id = 3\n"
			"gtid-strict-mode = ON\nrpl-semi-sync-slave-enabled = ON\n", "bind-address"},
		{false, true, STB_MYSQLD_PRIMARY, "gtid-mode = ON\nenforce-gtid-consistency = ON\nplugin-load-add = semisync_source.so\n"
			"plugin-load-add = semisync_replica.so\nloose-rpl-semi-sync-source-enabled = ON\n", "gtid-strict-mode"},
		{false, false, STB_MYSQLD_REPLICA, "skip-replica-start\nrelay-log = \"/d/relay\"\nserver-id = 3\ngtid-mode = ON\n", "semisync"},
	};

	for (unsigned i = 0; i < STB_LEN(cases); i++) {
		struct stb_option_file f = files;
		struct stb_buf text;

		f.mariadb = cases[i].mariadb;
		f.role = cases[i].role;
		f.semi_sync = cases[i].semi_sync;
		f.server_id = 3;
		f.redo_dir = "/r/redo";
		f.binlog = "/b/log";
		f.relay_log = "/d/relay";
		stb_buf_init(&text);
		cr_assert_eq(stb_option_file(&text, &f, db_mysql(&arena), &err), 0, "%s", err.what);
		cr_expect(strstr(stb_buf_str(&text), cases[i].lines), "%u: %s", i, stb_buf_str(&text));
		cr_expect(!strstr(stb_buf_str(&text), cases[i].lacks), "%u: %s", i, stb_buf_str(&text));
		stb_buf_fini(&text);
	}
}

/* MySQL makes a data directory without plugins, and would not know their options. */
Test(db_config, options_of_a_plugin_are_left_out_where_there_is_none)
{
	struct stb_option_file f = files;
	struct stb_plan_block *b = db_mysql(&arena);

	db_set(&arena, b, "options.rpl_semi_sync_source_timeout", stb_val_str(STB_V_STRING, "500"));
	db_set(&arena, b, "options.rpl-semi-sync-source-wait-point", stb_val_str(STB_V_STRING, "AFTER_COMMIT"));
	db_set(&arena, b, "options.rpl_stop_replica_timeout", stb_val_str(STB_V_STRING, "7"));
	for (int without = 0; without < 2; without++) {
		struct stb_buf text;

		f.without_plugins = without;
		stb_buf_init(&text);
		cr_assert_eq(stb_option_file(&text, &f, b, &err), 0, "%s", err.what);
		cr_expect_eq(strstr(stb_buf_str(&text), "rpl_semi_sync_source_timeout = \"500\"\n") == NULL, without);
		cr_expect_eq(strstr(stb_buf_str(&text), "rpl-semi-sync-source-wait-point") == NULL, without);
		cr_expect(strstr(stb_buf_str(&text), "rpl_stop_replica_timeout"));
		stb_buf_fini(&text);
	}
}

/* One that an ordinary user may listen on. */
Test(db_config, ports_are_free)
{
	const uint16_t port = stb_role_port(&err);

	cr_assert(port >= 1024, "%u %s", port, err.what);
}

/* How many servers a database has, of every kind of block. */
Test(db_config, replicas_of_a_database)
{
	struct stb_plan_block *b = db_mysql(&arena);
	bool semi_sync;

	cr_assert_eq(stb_replication_of(b, &semi_sync), 0);
	cr_assert_not(semi_sync);
	db_unset(b, "topology");
	db_set_word(&arena, b, "topology", "semisync_replica");
	cr_assert_eq(stb_replication_of(b, &semi_sync), 1);
	cr_assert(semi_sync);
	db_set_count(&arena, b, "replicas", 3);
	cr_assert_eq(stb_replication_of(b, &semi_sync), 3);
	db_unset(b, "topology");
	db_set_word(&arena, b, "topology", "async_replica");
	cr_assert_eq(stb_replication_of(b, &semi_sync), 3);
	cr_assert_not(semi_sync);
	db_unset(b, "topology");
	db_set_word(&arena, b, "topology", "single");
	cr_assert_eq(stb_replication_of(b, &semi_sync), 0);
}

/* A plan that was edited by hand must not get a line of its own into the file. */
Test(db_config, option_file_takes_no_second_line)
{
	static const char *const names[] = {"a\nplugin_load", "a=b", "", "a b", "[mysqld]"};
	static const char *const values[] = {"1\nplugin_load = x", "a\"b", "a\\b", "\x01"};
	struct stb_buf text;

	stb_buf_init(&text);
	for (unsigned i = 0; i < STB_LEN(names); i++) {
		struct stb_plan_block *b = db_mysql(&arena);

		db_set(&arena, b, stb_arena_printf(&arena, "options.%s", names[i]), stb_val_str(STB_V_STRING, "1"));
		cr_expect_eq(stb_option_file(&text, &files, b, &err), -1, "%s", names[i]);
	}
	for (unsigned i = 0; i < STB_LEN(values); i++) {
		struct stb_plan_block *b = db_mysql(&arena);

		db_set(&arena, b, "options.sql_mode", stb_val_str(STB_V_STRING, values[i]));
		cr_expect_eq(stb_option_file(&text, &files, b, &err), -1, "%s", values[i]);
	}
	stb_buf_fini(&text);
}

Test(db_config, version_prefixes_end_where_numbers_end)
{
	cr_assert(stb_version_matches("10.11.19-MariaDB", "10.11"));
	cr_assert(stb_version_matches("10.11.19-MariaDB", "10"));
	cr_assert(stb_version_matches("10.11.19-MariaDB", "10.11.19-MariaDB"));
	cr_assert(stb_version_matches("8.0.36", ""));
	cr_assert(stb_version_matches("8.0.36", "8."));
	cr_assert_not(stb_version_matches("10.11.19-MariaDB", "10.1"));
	cr_assert_not(stb_version_matches("10.11.19-MariaDB", "1"));
	cr_assert_not(stb_version_matches("8.0", "8.0.36"));
}

/* --- places -------------------------------------------------------------------------------------------------------------------------- */

static const struct stb_server_user self = {.drop = false, .name = "you"};

static void check_socket(size_t dir_len, bool short_enough)
{
	char dir[300], out[STB_SOCKET_MAX + 1];
	bool own_dir;

	memset(dir, 'd', dir_len);
	dir[0] = '/';
	dir[dir_len] = '\0';
	cr_assert_eq(stb_server_place_socket(out, &own_dir, dir, "0123456789ab", &self, &err), 0, "%s", err.what);
	cr_assert_leq(strlen(out), 107);
	cr_assert_eq(own_dir, !short_enough);
	if (short_enough)
		cr_assert_eq(strncmp(out, dir, dir_len), 0);
	else
		cr_assert_eq(strncmp(out, "/tmp/stb-0123456789ab-", 22), 0, "%s", out);
}

Test(db_place, socket_paths_take_107_bytes)
{
	unsetenv("TMPDIR");
	check_socket(107 - strlen("/mysql.sock"), true);
	check_socket(108 - strlen("/mysql.sock"), false);
	check_socket(299, false);
	setenv("TMPDIR", "relative", 1);
	check_socket(200, false);
	char dir[256], out[STB_SOCKET_MAX + 1];
	bool own_dir;

	memset(dir, 'd', sizeof(dir) - 1);
	dir[0] = '/';
	dir[sizeof(dir) - 1] = '\0';
	/* a mark so long that no directory helps */
	cr_assert_eq(stb_server_place_socket(out, &own_dir, dir, dir, &self, &err), -1);
	cr_assert(strstr(err.what, "107 bytes"), "%s", err.what);
	cr_assert(err.remedy[0]);
}

/* What one family is told to write instead the other one lacks, and the other way round. */
Test(db_place, an_option_of_the_other_family_has_a_counterpart)
{
	const struct stb_dialect *mariadb = stb_dialect_of(true), *mysql = stb_dialect_of(false);

	cr_assert_str_eq(stb_dialect_instead(mysql, "innodb_log_file_size"), "`innodb_redo_log_capacity`, the size of the whole redo log");
	cr_assert_str_eq(stb_dialect_instead(mariadb, "innodb_redo_log_capacity"), "`innodb_log_file_size`");
	cr_assert_null(stb_dialect_instead(mariadb, "innodb_log_file_size"));
	cr_assert_null(stb_dialect_instead(mysql, "innodb_redo_log_capacity"));
	cr_assert_null(stb_dialect_instead(mysql, "no_such_thing"));
	cr_assert_null(stb_dialect_instead(mysql, ""));
}

static int try_file(const char *text, char tail[512])
{
	char path[] = "/tmp/stb-log-XXXXXX";
	const int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	stb_log_tail(path, tail, 512);
	unlink(path);
	return (int)strlen(tail);
}

Test(db_place, log_tails_prefer_errors)
{
	char tail[512];

	try_file("2026-11-30 10:41:00 0 [Note] Starting\n"
		 "2026-11-30 10:41:00 0 [ERROR] mariadbd: unknown variable 'foo=1'\n"
		 "2026-11-30 10:41:00 0 [ERROR] Aborting\n"
		 "2026-11-30 10:41:00 0 [Note] bye\n", tail);
	cr_assert_str_eq(tail, "[ERROR] mariadbd: unknown variable 'foo=1'");
	try_file("2026-11-30T17:00:00.123456Z 0 [System] [MY-013169] [Server] /usr/sbin/mysqld initializing of server in progress\n"
		 "2026-11-30T17:00:00.123456Z 0 [ERROR] [MY-000067] [Server] unknown variable 'foo=1'.\n"
		 "2026-11-30T17:00:00.123456Z 0 [ERROR] [MY-013236] [Server] The designated data directory /d/ is unusable.\n"
		 "2026-11-30T17:00:00.123456Z 0 [ERROR] [MY-010119] [Server] Aborting\n", tail);
	cr_assert_str_eq(tail, "[ERROR] [MY-000067] [Server] unknown variable 'foo=1'.");
	try_file("one\n\ntwo\n2026-11-30T10:41:00.123456Z 0 [Note] three\nfour\r\nfive \x1b[31m\n", tail);
	cr_assert_str_eq(tail, "one; two; four ; five  [31m");
	try_file("2026-11-30 10:41:00 0 [Note] InnoDB: Loading buffer pool(s)\n2026-11-30 10:41:01 0 [Note] ready for connections.\n"
		 "Version: '10.11.19-MariaDB'  socket: '/x'  port: 0\n", tail);
	cr_assert_str_eq(tail, "", "routine notes are the cause of nothing");
	try_file("2026-11-30 10:41:00 0 [Note] ready\n2026-11-30 10:41:00 0 [Warning] low on memory\n", tail);
	cr_assert_str_eq(tail, "[Warning] low on memory");
	cr_assert_eq(try_file("", tail), 0);
	stb_log_tail("/nonexistent/log", tail, sizeof(tail));
	cr_assert_str_eq(tail, "");
}

Test(db_place, a_long_log_line_is_cut)
{
	char *text = stb_xcalloc(1, 100001), tail[512];

	memset(text, 'x', 100000);
	cr_assert_eq(try_file(text, tail), 511);
	free(text);
}

Test(db_place, files_are_private_and_never_replaced)
{
	char dir[] = "/tmp/stb-place-XXXXXX", path[64];
	struct stat st;

	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	umask(0);
	cr_assert_eq(stb_server_place_write(path, &self, "abc", 3, &err), 0, "%s", err.what);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600);
	cr_assert_eq(st.st_size, 3);
	cr_assert_eq(stb_server_place_write(path, &self, "d", 1, &err), -1);
	cr_assert(strstr(err.what, "File exists"), "%s", err.what);
	unlink(path);
	cr_assert_eq(symlink("/tmp/stb-place-elsewhere", path), 0);
	cr_assert_eq(stb_server_place_write(path, &self, "d", 1, &err), -1);
	cr_assert_eq(access("/tmp/stb-place-elsewhere", F_OK), -1);
	unlink(path);
	rmdir(dir);
}

Test(db_place, the_first_directory_that_bars_the_way_is_named)
{
	char dir[] = "/tmp/stb-place-XXXXXX", inner[64];
	const struct stb_server_user nobody = {.drop = true, .uid = 65534, .gid = 65534, .name = "nobody"};

	if (geteuid() != 0)
		cr_skip_test("needs root");
	cr_assert(mkdtemp(dir));
	snprintf(inner, sizeof(inner), "%s/a", dir);
	cr_assert_eq(mkdir(inner, 0755), 0);
	chmod(inner, 0755);
	cr_expect_eq(stb_server_place_check(inner, &nobody, &err), -1);
	cr_expect(strstr(err.what, "`nobody`") && strstr(err.what, dir) && !strstr(err.what, inner), "%s", err.what);
	chmod(dir, 0711);
	stb_err_clear(&err);
	cr_expect_eq(stb_server_place_check(inner, &nobody, &err), 0, "%s", err.what);
	chmod(inner, 0700);
	cr_expect_eq(stb_server_place_check(inner, &nobody, &err), -1);
	cr_expect(strstr(err.what, inner), "%s", err.what);
	cr_expect_eq(stb_server_place_check("/tmp/stb-no-such-directory", &nobody, &err), -1);
	rmdir(inner);
	rmdir(dir);
}

/* --- processes ----------------------------------------------------------------------------------------------------------------------- */

Test(db_place, what_cannot_be_started_says_why)
{
	char *const argv[] = {(char[]){"x"}, NULL};
	pid_t pid;

	cr_assert_eq(stb_spawn(&pid, "/nonexistent/server", argv, &self, -1, 2, &err), -1);
	cr_assert_str_eq(err.what, "cannot start `/nonexistent/server`: No such file or directory");
}

Test(db_place, a_child_that_ends_is_described)
{
	char *const argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"exit 3"}, NULL};
	char *const kill_argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"kill -SEGV $$"}, NULL};
	char words[96];
	int status;
	pid_t pid;

	cr_assert_eq(stb_spawn(&pid, "/bin/sh", argv, &self, -1, 2, &err), 0, "%s", err.what);
	cr_assert_eq(stb_wait_child(pid, 10000000000, &status), 0);
	stb_status_words(status, words, sizeof(words));
	cr_assert_str_eq(words, "exited with status 3");
	cr_assert_eq(stb_spawn(&pid, "/bin/sh", kill_argv, &self, -1, 2, &err), 0, "%s", err.what);
	cr_assert_eq(stb_wait_child(pid, 10000000000, &status), 0);
	stb_status_words(status, words, sizeof(words));
	cr_assert_str_eq(words, "was killed by signal 11 (Segmentation fault)");
}

Test(db_place, waiting_has_an_end)
{
	char *const argv[] = {(char[]){"/bin/sleep"}, (char[]){"60"}, NULL};
	int status;
	pid_t pid;

	cr_assert_eq(stb_spawn(&pid, "/bin/sleep", argv, &self, -1, 2, &err), 0, "%s", err.what);
	cr_assert_eq(stb_wait_child(pid, 20000000, &status), 1);
	kill(pid, SIGKILL);
	cr_assert_eq(stb_wait_child(pid, 10000000000, &status), 0);
}

Test(db_place, no_server_anywhere_names_where_was_looked)
{
	struct stb_server_binary b;

	setenv("PATH", "relative:/tmp/stb-no-such-dir:", 1);
	if (access("/usr/sbin/mariadbd", X_OK) == 0 || access("/usr/sbin/mysqld", X_OK) == 0) {
		cr_assert_eq(stb_server_find(&b, NULL, &err), 0);
		cr_assert(b.version[0]);
		return;
	}
	cr_assert_eq(stb_server_find(&b, NULL, &err), -1);
	cr_assert(strstr(err.what, "/tmp/stb-no-such-dir, /usr/sbin, /usr/local/sbin, /usr/libexec"), "%s", err.what);
	cr_assert(strstr(err.remedy, "mariadb-server-core"));
}

/* --- secrets ------------------------------------------------------------------------------------------------------------------------- */

static int address_with(const char *reference, struct stb_db_address *a)
{
	struct stb_plan_block *b = db_mysql(&arena);

	b->type = "external";
	db_unset(b, "topology");
	db_set(&arena, b, "host", stb_val_str(STB_V_STRING, "127.0.0.1"));
	db_set_count(&arena, b, "port", 3306);
	db_set(&arena, b, "password", stb_val_str(STB_V_SECRET, reference));
	stb_err_clear(&err);
	return stb_db_external_address(b, &arena, a, &err);
}

Test(db_place, secrets_are_read_and_never_shown)
{
	static const char *const lines[] = { "hunter\n# old\n", "hunter\n\n", "\nhunter", "hunter\r\nsecond\r\n", "hunter\nsecond" };
	char path[] = "/tmp/stb-secret-XXXXXX", reference[64], big[5000];
	struct stb_db_address a;
	const int fd = mkstemp(path);

	snprintf(reference, sizeof(reference), "file:%s", path);
	cr_assert_eq(write(fd, "two words \n", 11), 11);
	cr_assert_eq(address_with(reference, &a), 0, "%s", err.what);
	cr_assert_str_eq(a.password, "two words ");
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(address_with(reference, &a), 0, "%s", err.what);
	cr_assert_str_eq(a.password, ""); /* an empty password stays one */
	cr_assert_eq(pwrite(fd, "hunter\0two", 10, 0), 10);
	cr_assert_eq(address_with(reference, &a), -1);
	cr_assert(strstr(err.what, path) && strstr(err.what, "NUL") && !strstr(err.what, "hunter"), "%s", err.what);
	for (size_t i = 0; i < STB_LEN(lines); i++) {
		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, lines[i], strlen(lines[i]), 0), (ssize_t)strlen(lines[i]));
		cr_assert_eq(address_with(reference, &a), -1, "%s", lines[i]);
		cr_assert(strstr(err.what, path) && strstr(err.what, "more than one line") && !strstr(err.what, "hunter"), "%s", err.what);
	}
	memset(big, 'h', sizeof(big));
	cr_assert_eq(pwrite(fd, big, sizeof(big), 0), (ssize_t)sizeof(big));
	cr_assert_eq(address_with(reference, &a), -1);
	cr_assert(strstr(err.what, "more than 4096 bytes") && !strstr(err.what, "hhh"), "%s", err.what);
	close(fd);
	unlink(path);
	cr_assert_eq(address_with(reference, &a), -1);
	cr_assert(strstr(err.what, "No such file"), "%s", err.what);

	setenv("STB_TEST_SECRET", "hunter2", 1);
	cr_assert_eq(address_with("env:STB_TEST_SECRET", &a), 0);
	cr_assert_str_eq(a.password, "hunter2");
	unsetenv("STB_TEST_SECRET");
	cr_assert_eq(address_with("env:STB_TEST_SECRET", &a), -1);
	cr_assert_str_eq(err.what, "cannot read the password: environment variable `STB_TEST_SECRET` is not set");
	cr_assert_eq(address_with("hunter2", &a), -1);
}

Test(db_place, addresses_may_come_from_the_environment)
{
	struct stb_plan_block *b = db_mysql(&arena);
	struct stb_db_address a;

	b->type = "external";
	db_unset(b, "topology");
	db_set(&arena, b, "host", stb_val_str(STB_V_SECRET, "env:STB_TEST_HOST"));
	db_set(&arena, b, "schema", stb_val_str(STB_V_STRING, "env:plain"));
	stb_err_clear(&err);
	setenv("STB_TEST_HOST", "192.0.2.7", 1);
	cr_assert_eq(stb_db_external_address(b, &arena, &a, &err), 0, "%s", err.what);
	cr_assert_str_eq(a.host, "192.0.2.7");
	cr_assert_str_eq(a.schema, "env:plain"); /* text that only looks like a reference */
	unsetenv("STB_TEST_HOST");
	cr_assert_eq(stb_db_external_address(b, &arena, &a, &err), -1);
	cr_assert_str_eq(err.what, "cannot read the host: environment variable `STB_TEST_HOST` is not set");
}

/* The limits are those of this test's process alone. */
Test(db_config, connections_are_open_files)
{
	const struct rlimit limits = {.rlim_cur = 100, .rlim_max = 300};
	struct stb_plan_block *w = db_workload(&arena, "point_select");
	struct rlimit now;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limits), 0);
	stb_process_raise_open_files();
	db_set_count(&arena, w, "threads", 236);
	cr_expect_eq(stb_oltp_preflight(w, &err), 0, "%s", err.what);
	cr_expect(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 300, "the soft limit is no limit");
	db_set_count(&arena, w, "threads", 256);
	cr_expect_eq(stb_oltp_preflight(w, &err), -1);
	cr_expect_str_eq(err.what, "workload `load` cannot be run: 256 connections need 320 open files, this process may have 300");
	cr_expect_str_eq(err.remedy, "raise the limit (ulimit -n 320), or use fewer threads");
}
