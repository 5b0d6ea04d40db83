/* test_server.c - a private server's life: files, accounts, ends of every kind; what an external one is asked. */
#include "support.h"

#include "runtime/db/client.h"
#include "runtime/db/server.h"
#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(db_server, .timeout = 120);

static void path_of(const struct server *s, const char *name, char out[128])
{
	snprintf(out, 128, "%s/mysql/%s", s->dir, name);
}

static bool exists(const struct server *s, const char *name)
{
	char path[128];

	path_of(s, name, path);
	return access(path, F_OK) == 0;
}

static mode_t mode_of(const struct server *s, const char *name)
{
	char path[128];
	struct stat st;

	path_of(s, name, path);
	cr_assert_eq(lstat(path, &st), 0, "%s", path);
	/* everything below the volume's directory belongs to whom the server runs as */
	if (geteuid() == 0)
		cr_assert_neq(st.st_uid, 0, "%s belongs to root", path);
	return st.st_mode & 07777;
}

/* Bytes of a file of /proc or of a log, NUL-terminated; NULs in it become blanks. */
static char *slurp(const char *path)
{
	const size_t size = 1 << 20;
	char *text = stb_xcalloc(1, size);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	cr_assert_geq(fd, 0, "%s", path);
	while (n + 1 < size && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

static bool process_holds(long pid, const char *file, const char *needle)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
	char *text = slurp(path);
	const bool found = strstr(text, needle) != NULL;

	free(text);
	return found;
}

Test(db_server, lives_in_its_own_directory_with_its_own_account)
{
	struct server s;
	char cell[200];

	setenv("MYSQL_PWD", "wrong", 1);
	setenv("MYSQL_HOME", "/nonexistent", 1);
	server_init(&s);
	server_up(&s);
	const struct stb_db_address *a = stb_mysqld_address(s.mysqld);

	cr_assert(strncmp(a->socket, s.dir, strlen(s.dir)) == 0);
	cr_assert_eq(strlen(a->password), 32);
	cr_assert_eq(mode_of(&s, ""), 0700);
	cr_assert_eq(mode_of(&s, "data"), 0700);
	cr_assert_eq(mode_of(&s, "my.cnf"), 0600);
	cr_assert_eq(mode_of(&s, "error.log"), 0600);
	cr_assert_not(exists(&s, "init.sql"), "the password is still on disk");
	query_text(&s, "SELECT GROUP_CONCAT(CONCAT(User, '@', Host) ORDER BY User) FROM mysql.user", cell, sizeof(cell));
	cr_assert_str_eq(cell, server_is_mariadb() ? "mariadb.sys@localhost,stb@localhost" :
		"mysql.infoschema@localhost,mysql.session@localhost,mysql.sys@localhost,root@localhost,stb@localhost");
	query_text(&s, "SELECT CONCAT_WS(' ', @@skip_networking = 1, @@log_bin = 1, @@port, DATABASE())", cell, sizeof(cell));
	cr_assert_str_eq(cell, "1 0 0 sbtest");
	query_text(&s, "SELECT @@version", cell, sizeof(cell));
	cr_assert_str_eq(cell, stb_mysqld_version(s.mysqld));
	query_text(&s, "SELECT @@innodb_buffer_pool_size", cell, sizeof(cell));
	cr_assert_str_eq(cell, "33554432");

	/* nothing of our environment, no password in sight, no descriptor of ours, a session of its own */
	const long pid = server_pid(&s);

	cr_assert(process_holds(pid, "cmdline", "--defaults-file="));
	cr_assert_not(process_holds(pid, "cmdline", a->password));
	cr_assert_not(process_holds(pid, "environ", "MYSQL_"));
	cr_assert_not(process_holds(pid, "environ", "HOME="));
	cr_assert_eq(getsid((pid_t)pid), (pid_t)pid);
	char log[128];

	path_of(&s, "error.log", log);
	char *text = slurp(log);

	cr_assert_not(strstr(text, a->password));
	free(text);

	/* no other way in */
	struct stb_db_address other = *a;
	struct stb_client *c;
	const struct stb_client_limits limits = {5, 5};
	struct stb_err err = {0};

	other.password = NULL; /* stays empty, whatever MYSQL_PWD says */
	cr_assert_eq(stb_client_open(&c, &other, &limits, &err), -1);
	cr_assert(strstr(err.what, "using password: NO"), "%s", err.what);
	stb_err_clear(&err);
	other.user = "root";
	cr_assert_eq(stb_client_open(&c, &other, &limits, &err), -1);
	other = *a;
	other.password = "hunter2-not-to-be-shown";
	stb_err_clear(&err);
	cr_assert_eq(stb_client_open(&c, &other, &limits, &err), -1);
	cr_assert_not(strstr(err.what, "hunter2"));
	cr_assert(strstr(err.remedy, "password"));
	server_down(&s);
	cr_assert_eq(access(s.dir, F_OK), -1);
}

Test(db_server, stops_and_starts_again_with_its_data)
{
	struct server s;
	char cell[32];

	server_init(&s);
	server_up(&s);
	execute(&s, "CREATE TABLE t (i INT)");
	execute(&s, "INSERT INTO t VALUES (5)");
	cr_assert(stb_mysqld_alive(s.mysqld, NULL));
	cr_assert_eq(stb_mysqld_stop(s.mysqld, &s.err), 0, "%s", s.err.what);
	cr_assert_not(stb_mysqld_alive(s.mysqld, &s.err));
	cr_assert_str_eq(s.err.what, "database `db`: the server is not running");
	stb_err_clear(&s.err);
	cr_assert_eq(stb_mysqld_start(s.mysqld, &s.err), 0, "%s", s.err.what);
	query_text(&s, "SELECT i FROM t", cell, sizeof(cell));
	cr_assert_str_eq(cell, "5");
	server_down(&s);
}

Test(db_server, an_option_that_it_does_not_know_is_quoted)
{
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "options.innodb_bufer_pool_size", stb_val_str(STB_V_STRING, "1"));
	cr_assert_eq(server_try(&s), -1);
	cr_assert(strstr(s.err.what, "unknown variable 'innodb_bufer_pool_size=1'"), "%s", s.err.what);
	cr_assert(strstr(s.err.remedy, "does not know that option"), "%s", s.err.remedy);
	server_down(&s);
}

Test(db_server, what_stb_owns_wins_and_values_are_data)
{
	struct server s;
	char cell[300];

	server_init(&s);
	db_set(&s.arena, s.block, "options.datadir", stb_val_str(STB_V_STRING, "elsewhere"));
	db_set(&s.arena, s.block, "options.skip_networking", stb_val_str(STB_V_STRING, "OFF"));
	db_set(&s.arena, s.block, "options.init_connect", stb_val_str(STB_V_STRING, "SET @x = 1 # not a comment"));
	server_up(&s);
	query_text(&s, "SELECT CONCAT_WS(' ', @@datadir, @@skip_networking = 1)", cell, sizeof(cell));
	cr_assert(strncmp(cell, s.dir, strlen(s.dir)) == 0 && strstr(cell, "/mysql/data/ 1"), "%s", cell);
	query_text(&s, "SELECT @@init_connect", cell, sizeof(cell));
	cr_assert_str_eq(cell, "SET @x = 1 # not a comment");
	server_down(&s);
}

Test(db_server, values_are_the_same_however_they_are_written)
{
	static const char *const options[][2] = {
		{"sql_mode", "ANSI"}, {"log_output", "table,FILE"},
		{"transaction-isolation", "read-committed"}, {"innodb_stats_method", "NULLS_UNEQUAL"},
		{"innodb_adaptive_hash_index", "true"}, {"slow_query_log", "1"}, {"innodb_file_per_table", "on"}, {"max_allowed_packet", "1M"},
		{"long_query_time", "2"}, {"completion_type", "chain"}, {"optimizer_switch", "MRR=on"},
		{"read_buffer_size", "128k"}, {"concurrent_insert", "ALWAYS"}, {"innodb_checksum_algorithm", "CRC32"}, {"loose_no_such", "1"},
		{"default_storage_engine", "innodb"}, {"skip_innodb_doublewrite", "1"}, {"tls_version", "TLSv1.3,tlsv1.2"},
		/* the number of a word, of which MySQL does not tell which word that is, and a name that it has given up */
		{"innodb_flush_method", "0"}, {"binlog_format", "1"}, {"innodb_change_buffering", "0"}, {"character_set_server", "utf8"},
	};
	const unsigned n = STB_LEN(options) - (server_is_mariadb() ? 0 : 4);
	struct server s;

	server_init(&s);
	for (unsigned i = 0; i < n; i++) {
		char name[80];

		snprintf(name, sizeof(name), "options.%s", options[i][0]);
		db_set(&s.arena, s.block, stb_arena_strdup(&s.arena, name), stb_val_str(STB_V_STRING, options[i][1]));
	}
	server_up(&s);
	server_down(&s);
}

Test(db_server, an_sql_mode_is_what_the_server_makes_of_it)
{
	static const struct {
		const char *asked, *in_force;
		bool same;
	} modes[] = {{"traditional,ansi_quotes", "TRADITIONAL,ANSI_QUOTES", true}, {"4", "ANSI_QUOTES", true}, {"", "", true},
		{"ANSI", "ANSI_QUOTES", false}, {"ANSI", "", false}, {"NO_SUCH_MODE", "", false}, {"x' OR 1", "", false}};
	struct server s;

	server_init(&s);
	server_up(&s);
	for (unsigned i = 0; i < STB_LEN(modes); i++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SET GLOBAL sql_mode = '%s'", modes[i].in_force);
		execute(&s, sql);
		db_set(&s.arena, s.block, "options.sql_mode", stb_val_str(STB_V_STRING, modes[i].asked));
		stb_err_clear(&s.err);
		cr_expect_eq(stb_db_external_assert(s.block, stb_mysqld_address(s.mysqld), &s.err) == 0, modes[i].same, "%s and %s: %s", modes[i].asked,
			modes[i].in_force, s.err.what);
		cr_expect(modes[i].same || strstr(s.err.what, "sql_mode"), "%s", s.err.what);
	}
	server_down(&s);
}

Test(db_server, another_version_is_refused_with_the_one_found)
{
	struct server s;

	server_init(&s);
	db_set(&s.arena, s.block, "version", stb_val_str(STB_V_STRING, "3.23"));
	cr_assert_eq(stb_mysqld_preflight(s.block, &s.err), -1);
	cr_assert(strstr(s.err.what, "no database server of version `3.23` was found, only `/"), "%s", s.err.what);
	cr_assert(!server_is_mariadb() || strstr(s.err.what, "MariaDB"), "%s", s.err.what);
	server_down(&s);
}

/* A process that starts a server and is killed: the kernel takes the server along. */
Test(db_server, does_not_outlive_a_killed_parent)
{
	struct server s;
	int ready[2], status;
	long pid = 0;

	server_init(&s);
	cr_assert_eq(pipe(ready), 0);
	const pid_t child = fork();

	if (child == 0) {
		if (server_try(&s))
			_exit(1);
		pid = server_pid(&s);
		if (write(ready[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &pid, sizeof(pid)), (ssize_t)sizeof(pid), "the child could not start a server");
	cr_assert_eq(kill((pid_t)pid, 0), 0);
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, &status, 0), child);
	for (int i = 0; i < 1000; i++) { /* ours to reap or not, it is gone or a zombie of init */
		char path[64];

		snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
		if (access(path, F_OK))
			break;
		char *text = slurp(path);
		const bool empty = !text[0];

		free(text);
		if (empty)
			break;
		cr_assert_lt(i, 999, "the server still runs");
		usleep(10000);
	}
	server_down(&s);
}

Test(db_server, a_long_path_gets_a_short_socket)
{
	struct server s;
	char deep[256];
	struct stb_err err = {0};

	server_init(&s);
	snprintf(deep, sizeof(deep), "%s/%0100d", s.dir, 7);
	cr_assert_eq(mkdir(deep, 0755), 0);
	if (geteuid() == 0)
		cr_assert_eq(chmod(s.dir, 0711), 0);
	const struct stb_mysqld_env env = {.run_dir = s.dir, .run_mark = "0123456789ab"};

	unsetenv("TMPDIR");
	cr_assert_eq(stb_mysqld_create(&s.mysqld, &env, s.block, deep, &err), 0, "%s", err.what);
	cr_assert_eq(stb_mysqld_start(s.mysqld, &err), 0, "%s", err.what);
	char socket[STB_SOCKET_MAX + 1];

	snprintf(socket, sizeof(socket), "%s", stb_mysqld_address(s.mysqld)->socket);
	cr_assert(strncmp(socket, "/tmp/stb-0123456789ab-", 22) == 0, "%s", socket);
	*strrchr(socket, '/') = '\0';
	struct stat st;

	cr_assert_eq(lstat(socket, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0700);
	stb_mysqld_free(s.mysqld);
	s.mysqld = NULL;
	cr_assert_eq(lstat(socket, &st), -1, "the socket's directory is left over");
	server_down(&s);
}

Test(db_server, a_parent_that_bars_the_way_is_named_before_anything_is_made)
{
	struct server s;
	char inner[128], expected[256];

	if (geteuid() != 0)
		cr_skip_test("needs root");
	server_init(&s); /* mode 0700, root's */
	snprintf(inner, sizeof(inner), "%s/volume", s.dir);
	cr_assert_eq(mkdir(inner, 0700), 0);
	const struct stb_mysqld_env env = {.run_mark = "0123456789ab"};

	cr_assert_eq(stb_mysqld_create(&s.mysqld, &env, s.block, inner, &s.err), -1);
	snprintf(expected, sizeof(expected), "as whom the database server runs, cannot enter the directory `%s` above its data: Permission denied",
		s.dir);
	cr_assert(strstr(s.err.what, expected), "%s", s.err.what);
	cr_assert(strstr(s.err.remedy, s.dir), "%s", s.err.remedy);
	snprintf(expected, sizeof(expected), "%s/mysql", inner);
	cr_assert_eq(access(expected, F_OK), -1);
	server_down(&s);
}

/* A small tmpfs that only this process and its children see; gone with them. */
Test(db_server, a_full_volume_is_named)
{
	struct server s;

	server_init(&s);
	if (!test_own_mounts() ||
		mount("stb-itest", s.dir, "tmpfs", MS_NODEV | MS_NOSUID, "size=30m,mode=0700")) {
		server_down(&s);
		cr_skip_test("needs root");
	}
	cr_assert_eq(server_try(&s), -1);
	cr_expect(strstr(s.err.what, "its data directory cannot be initialised"), "%s", s.err.what);
	cr_expect_str_eq(s.err.remedy, "the volume is full: give it more `size`", "%s", s.err.what);
	cr_expect_eq(umount2(s.dir, MNT_DETACH), 0);
	server_down(&s);
}

/* --- an external one ----------------------------------------------------------------------------------------------------------------- */

static struct stb_plan_block *external(struct server *s, const char *password)
{
	struct stb_plan_block *b = db_mysql(&s->arena);
	const struct stb_db_address *a = stb_mysqld_address(s->mysqld);

	b->type = "external";
	b->name = "ext";
	db_unset(b, "volume");
	db_unset(b, "topology");
	db_set(&s->arena, b, "socket", stb_val_str(STB_V_STRING, a->socket));
	db_set(&s->arena, b, "user", stb_val_str(STB_V_STRING, "stb"));
	db_set(&s->arena, b, "password", stb_val_str(STB_V_SECRET, password));
	db_set(&s->arena, b, "schema", stb_val_str(STB_V_STRING, "sbtest"));
	db_set_count(&s->arena, b, "port", 3306);
	return b;
}

Test(db_server, an_external_one_is_compared_with_the_spec)
{
	struct server s;
	struct stb_db_address a;
	char path[128];

	server_init(&s);
	server_up(&s);
	setenv("STB_ITEST_PASSWORD", stb_mysqld_address(s.mysqld)->password, 1);
	struct stb_plan_block *b = external(&s, "env:STB_ITEST_PASSWORD");

	db_set(&s.arena, b, "version", stb_val_str(STB_V_STRING, "10"));
	db_set(&s.arena, b, "options.innodb-flush-log-at-trx-commit", stb_val_str(STB_V_STRING, "0"));
	db_set(&s.arena, b, "options.innodb_buffer_pool_size", stb_val_str(STB_V_STRING, "32M"));
	db_set(&s.arena, b, "options.skip_networking", stb_val_str(STB_V_STRING, "ON"));
	cr_assert_eq(stb_db_external_address(b, &s.arena, &a, &s.err), 0, "%s", s.err.what);
	if (strncmp(stb_mysqld_version(s.mysqld), "10.", 3) == 0)
		cr_assert_eq(stb_db_external_assert(b, &a, &s.err), 0, "%s", s.err.what);

	db_set(&s.arena, b, "version", stb_val_str(STB_V_STRING, "5.1"));
	cr_assert_eq(stb_db_external_assert(b, &a, &s.err), -1);
	cr_assert(strstr(s.err.what, "database `ext` is not as the spec says: its version is `"), "%s", s.err.what);
	db_unset(b, "version");
	db_set(&s.arena, b, "options.innodb_flush_log_at_trx_commit", stb_val_str(STB_V_STRING, "1"));
	cr_assert_eq(stb_db_external_assert(b, &a, &s.err), -1);
	cr_assert_str_eq(s.err.what, "database `ext` is not as the spec says: `innodb_flush_log_at_trx_commit` is `0` there, the spec says `1`");
	db_unset(b, "options.innodb_flush_log_at_trx_commit");
	db_set(&s.arena, b, "options.no_such_thing", stb_val_str(STB_V_STRING, "1"));
	cr_assert_eq(stb_db_external_assert(b, &a, &s.err), -1);
	cr_assert_str_eq(s.err.what, "database `ext` is not as the spec says: the server has no variable `no_such_thing`");

	/* the same password from a file, with the newline that editors add */
	snprintf(path, sizeof(path), "%s/secret", s.dir);
	FILE *f = fopen(path, "w");

	fprintf(f, "%s\n", stb_mysqld_address(s.mysqld)->password);
	fclose(f);
	char reference[160];

	snprintf(reference, sizeof(reference), "file:%s", path);
	b = external(&s, reference);
	stb_err_clear(&s.err);
	cr_assert_eq(stb_db_external_address(b, &s.arena, &a, &s.err), 0, "%s", s.err.what);
	cr_assert_eq(stb_db_external_assert(b, &a, &s.err), 0, "%s", s.err.what);

	struct stb_buf text;

	stb_buf_init(&text);
	cr_assert_eq(stb_db_variables(&a, &text, &s.err), 0, "%s", s.err.what);
	cr_assert(strstr(stb_buf_str(&text), "\ninnodb_flush_log_at_trx_commit\t0\n"));
	cr_assert_not(strstr(stb_buf_str(&text), a.password));
	stb_buf_fini(&text);
	server_down(&s);
}
