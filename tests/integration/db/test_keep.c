/* test_keep.c - loaded files that are set aside and given out as copies: the same tables each time, its logs too, whole or not at all. */
#include "support.h"

#include "runtime/db/client.h"
#include "runtime/db/server.h"
#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(db_keep, .timeout = 180);

static bool is_there(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void checksums(struct server *s, char out[400])
{
	char one[100];

	query_text(s, "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(CONCAT_WS(',', id, k, c, pad)))) FROM sbtest1", out, 100);
	query_text(s, "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(CONCAT_WS(',', id, k, c, pad)))) FROM sbtest2", one, sizeof(one));
	strcat(strcat(out, " / "), one);
	query_text(s, "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'sbtest1'", one, sizeof(one));
	strcat(strcat(out, " / "), one);
}

/* A repetition of a script that changes the tables. */
static void change(struct server *s, const struct stb_plan_block *w)
{
	const struct stb_oltp_setup setup = setup_of(s, w);
	struct stb_phase *phase = phase_new(stb_oltp_workers(w));

	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s", phase->err.what);
}

static struct stb_plan_block *two_tables(struct server *s, const char *script)
{
	struct stb_plan_block *w = db_workload(&s->arena, script);

	db_set_count(&s->arena, w, "tables", 2);
	db_set_count(&s->arena, w, "table_size", 3000);
	db_set_count(&s->arena, w, "events", 300);
	db_unset(w, "time");
	return w;
}

static void start(struct server *s)
{
	cr_assert_eq(stb_mysqld_start(s->mysqld, &s->err), 0, "%s", s->err.what);
	cr_assert_eq(stb_mysqld_wait_pool(s->mysqld, &s->err), 0, "%s", s->err.what);
}

Test(db_keep, every_copy_has_the_tables_as_they_were_loaded)
{
	static const char *const scripts[] = {"read_write", "delete", "insert", "update_index"};
	char loaded[400], now[400], pool[80], first_pool[80] = "", mysql[128];
	struct server s;

	if (!server_is_mariadb())
		cr_skip_test("needs MariaDB"); /* whose tables tell what is cached */
	server_init(&s);
	snprintf(mysql, sizeof(mysql), "%s/mysql", s.dir);
	server_up(&s);
	load(&s, two_tables(&s, "read_write"));
	checksums(&s, loaded);
	cr_assert_eq(stb_mysqld_stop_for_good(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_mysqld_keep(&s.mysqld, 1, &s.err), 0, "%s", s.err.what);
	cr_expect_not(is_there(mysql, "data"), "the server may never run on what was loaded");
	for (unsigned i = 0; i < STB_LEN(scripts); i++) {
		cr_assert_eq(stb_mysqld_restore(s.mysqld, &s.err), 0, "%s", s.err.what);
		cr_expect(is_there(mysql, "data") && is_there(mysql, "data.kept") && !is_there(mysql, "data.part"));
		start(&s);
		query_text(&s, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Innodb_buffer_pool_load_status'", pool,
			sizeof(pool));
		cr_expect(strstr(pool, "load completed"), "%s", pool);
		/* what the pool begins with is the same for each: compared without the tables being read */
		query_text(&s, "SELECT COUNT(*) FROM information_schema.INNODB_BUFFER_PAGE WHERE TABLE_NAME LIKE '%sbtest%'", pool, sizeof(pool));
		if (i)
			cr_expect_str_eq(pool, first_pool);
		strcpy(first_pool, pool);
		checksums(&s, now);
		cr_assert_str_eq(now, loaded, "before %s", scripts[i]);
		change(&s, two_tables(&s, scripts[i]));
		checksums(&s, now);
		cr_assert_str_neq(now, loaded, "%s changed nothing", scripts[i]);
		cr_assert_eq(stb_mysqld_stop(s.mysqld, &s.err), 0, "%s", s.err.what);
	}
	server_down(&s);
}

/* The parts that lie on volumes of their own, and the GTIDs of a primary. */
Test(db_keep, redo_and_binary_log_are_copied_with_the_data)
{
	char redo[128], binlog[128], tmp[128], loaded[400], now[400], gtid[100], gtid_now[100];
	struct server s;

	if (!server_is_mariadb())
		cr_skip_test("needs MariaDB"); /* whose GTIDs these are */
	server_init(&s);
	snprintf(redo, sizeof(redo), "%s/r", s.dir);
	snprintf(binlog, sizeof(binlog), "%s/b", s.dir);
	snprintf(tmp, sizeof(tmp), "%s/t", s.dir);
	cr_assert(!chmod(s.dir, 0711) && !mkdir(redo, 0700) && !mkdir(binlog, 0700) && !mkdir(tmp, 0700));
	const struct stb_mysqld_env env = {.run_dir = s.dir, .run_mark = "0123456789ab", .redo_dir = redo, .binlog_dir = binlog, .tmp_dir = tmp,
		.role = STB_MYSQLD_PRIMARY};

	cr_assert_eq(stb_mysqld_create(&s.mysqld, &env, s.block, s.dir, &s.err), 0, "%s", s.err.what);
	start(&s);
	load(&s, two_tables(&s, "read_write"));
	checksums(&s, loaded);
	query_text(&s, "SELECT @@GLOBAL.gtid_binlog_pos", gtid, sizeof(gtid));
	cr_assert(*gtid);
	cr_assert_eq(stb_mysqld_stop_for_good(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_mysqld_keep(&s.mysqld, 1, &s.err), 0, "%s", s.err.what);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(stb_mysqld_restore(s.mysqld, &s.err), 0, "%s", s.err.what);
		cr_expect(is_there(redo, "redo.kept") && is_there(redo, "redo") && is_there(binlog, "binlog.kept") && is_there(binlog, "binlog"));
		cr_expect(!is_there(redo, "redo.part") && !is_there(binlog, "binlog.part") && !is_there(tmp, "tmp.kept"));
		start(&s);
		checksums(&s, now);
		cr_assert_str_eq(now, loaded);
		query_text(&s, "SELECT @@GLOBAL.gtid_binlog_pos", gtid_now, sizeof(gtid_now));
		cr_assert_str_eq(gtid_now, gtid);
		change(&s, two_tables(&s, "write_only"));
		query_text(&s, "SELECT @@GLOBAL.gtid_binlog_pos", gtid_now, sizeof(gtid_now));
		cr_assert_str_neq(gtid_now, gtid);
		cr_assert_eq(stb_mysqld_stop(s.mysqld, &s.err), 0, "%s", s.err.what);
	}
	server_down(&s);
}

static uint32_t told_after(void *ctx)
{
	int *left = ctx;

	return *left < 0 ? 0 : --*left < 0; /* negative from the start: never */
}

Test(db_keep, a_copy_that_is_ended_has_no_name_to_start_on)
{
	char loaded[400], now[400], mysql[128];
	int left = -1;
	struct server s;

	server_init(&s);
	snprintf(mysql, sizeof(mysql), "%s/mysql", s.dir);
	const struct stb_mysqld_env env = {.run_dir = s.dir, .run_mark = "0123456789ab", .ctx = &left, .stopped = told_after};

	cr_assert_eq(stb_mysqld_create(&s.mysqld, &env, s.block, s.dir, &s.err), 0, "%s", s.err.what);
	start(&s);
	load(&s, two_tables(&s, "read_write"));
	checksums(&s, loaded);
	cr_assert_eq(stb_mysqld_stop_for_good(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_mysqld_keep(&s.mysqld, 1, &s.err), 0, "%s", s.err.what);
	for (int steps = 0; steps < 40; steps += 13) {
		left = steps;
		stb_err_clear(&s.err);
		cr_assert_eq(stb_mysqld_restore(s.mysqld, &s.err), -1);
		cr_expect(strstr(s.err.what, "interrupted"), "%s", s.err.what);
		cr_expect_not(is_there(mysql, "data"), "half a copy has the name of a whole one");
		cr_expect(is_there(mysql, "data.kept"));
	}
	left = -1;
	stb_err_clear(&s.err);
	cr_assert_eq(stb_mysqld_restore(s.mysqld, &s.err), 0, "%s", s.err.what);
	start(&s);
	checksums(&s, now);
	cr_assert_str_eq(now, loaded);
	server_down(&s);
}

Test(db_keep, where_there_is_no_room_the_files_stay_where_they_are)
{
	char loaded[400], now[400], mysql[128];
	struct server s;

	if (!server_is_mariadb())
		cr_skip_test("needs MariaDB"); /* whose files fit */
	server_init(&s);
	if (!test_own_mounts() || mount("stb-itest", s.dir, "tmpfs", MS_NODEV | MS_NOSUID, "size=90m,mode=0700")) {
		server_down(&s);
		cr_skip_test("needs root");
	}
	snprintf(mysql, sizeof(mysql), "%s/mysql", s.dir);
	server_up(&s);
	load(&s, two_tables(&s, "read_write"));
	checksums(&s, loaded);
	cr_assert_eq(stb_mysqld_stop_for_good(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_mysqld_keep(&s.mysqld, 1, &s.err), 1, "%s", s.err.what);
	cr_expect(strstr(s.err.what, "no room for a copy"), "%s", s.err.what);
	cr_expect(is_there(mysql, "data") && !is_there(mysql, "data.kept"));
	stb_err_clear(&s.err);
	cr_assert_eq(stb_mysqld_restore(s.mysqld, &s.err), 0, "%s", s.err.what);
	start(&s);
	checksums(&s, now);
	cr_assert_str_eq(now, loaded);
	cr_expect_eq(stb_mysqld_stop(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_expect_eq(umount2(s.dir, MNT_DETACH), 0);
	server_down(&s);
}

/* Without a clean stop nobody knows what the files hold: the replica's rules for its own are in run_fresh.sh. */
Test(db_keep, a_server_that_died_is_not_set_aside)
{
	struct server s;

	server_init(&s);
	server_up(&s);
	kill((pid_t)server_pid(&s), SIGKILL);
	while (stb_mysqld_alive(s.mysqld, NULL))
		usleep(1000);
	cr_assert_eq(stb_mysqld_stop_for_good(s.mysqld, &s.err), -1);
	cr_expect(strstr(s.err.what, "signal 9"), "%s", s.err.what);
	server_down(&s);
}
