/*
 * mysqld_make.c - a private server before it runs: what its block asks for, its directories, its option file, its empty data directory.
 */
#include "runtime/base/process.h"
#include "runtime/db/dialect.h"
#include "runtime/db/mysqld.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INIT_TIMEOUT_NS (300 * STB_NS_PER_S)

int stb_mysqld_read(const struct stb_plan_block *database, const char **version, struct stb_err *err)
{
	struct stb_reader r;
	uint32_t pos = 0;
	const struct stb_plan_attr *a;

	stb_reader_init(&r, database);
	*version = stb_read_str_or(&r, "version", NULL);
	stb_read_skip(&r, "topology"); /* exec: which servers are made; stb_mysqld_env says what each is for */
	stb_read_skip(&r, "replicas");
	stb_read_skip(&r, "volume"); /* exec: their directories are where the server is made */
	stb_read_skip(&r, "redo_volume");
	stb_read_skip(&r, "binlog_volume");
	stb_read_skip(&r, "tmp_volume");
	while ((a = stb_read_option(&r, &pos)))
		; /* stb_option_file() writes them */
	return stb_reader_done(&r, err);
}

int stb_mysqld_preflight(const struct stb_plan_block *database, struct stb_err *err)
{
	struct stb_server_binary binary;
	struct stb_server_user user;
	char sql[PATH_MAX], basedir[PATH_MAX];
	const char *version;

	if (stb_mysqld_read(database, &version, err) || stb_server_find(&binary, version, err) || stb_server_user(&user, err))
		goto fail;
	if (binary.mariadb && stb_server_find_sql(&binary, sql, basedir, err))
		goto fail;
	return 0;
fail:
	if (err->span == 0 && database->span != STB_NONE)
		err->span = database->span + 1;
	return -1;
}

/*
 * As the servers reckon: some for themselves and two for each of the least number of tables that they keep open, the rest for connections. What is
 * left for those becomes max_connections, where it is less; where there is nothing left they go on as if there were enough, until an open fails.
 */
#define FILES_OF_MARIADB (30 + 2 * 200)
#define FILES_OF_MYSQL (10 + 2 * 400)

int stb_mysqld_preflight_files(const struct stb_plan_block *database, const struct stb_db_room *r, uint64_t *need, struct stb_err *err)
{
	const struct stb_plan_attr *stated = stb_plan_attr(database, "options.max_connections");
	const uint64_t have = stb_process_most_open_files();
	uint64_t connections = r->threads + r->own;
	struct stb_server_binary binary;
	const char *version;

	*need = 0;
	if (stb_mysqld_read(database, &version, err) || stb_server_find(&binary, version, err))
		return -1;
	if (stated && stated->val.str)
		connections = STB_MAX(connections, strtoull(stated->val.str, NULL, 10)); /* another value than the spec's is refused */
	*need = connections + (binary.mariadb ? FILES_OF_MARIADB : FILES_OF_MYSQL);
	if (*need <= have)
		return 0;
	stb_err_set(err, 0, "database `%s` cannot be run: %s needs %llu open files for %llu connections, and may have %llu here", database->name,
		binary.path, (unsigned long long)*need, (unsigned long long)connections, (unsigned long long)have);
	stb_err_remedy(err, "raise the hard limit (ulimit -Hn %llu, as root), or use fewer threads%s", (unsigned long long)*need,
		stated ? " and a lower max_connections" : "");
	return -1;
}

int stb_mysqld_binary(const struct stb_plan_block *database, struct stb_arena *a, const char **path, const char **version,
	struct stb_err *err)
{
	struct stb_server_binary binary;
	const char *asked;

	if (stb_mysqld_read(database, &asked, err) || stb_server_find(&binary, asked, err))
		return -1;
	*path = stb_arena_strdup(a, binary.path);
	*version = stb_arena_strdup(a, binary.version);
	return 0;
}

int stb_mysqld_check_dir(const char *dir, struct stb_err *err)
{
	struct stb_server_user user;

	if (stb_server_user(&user, err))
		return -1;
	return stb_server_place_check(dir, &user, err);
}

/* The volume's directory is passable for the server's user; see the head of this file. */
static int open_volume_dir(const char *dir, const struct stb_server_user *user, struct stb_err *err)
{
	struct stat st;

	if (!user->drop)
		return 0;
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return stb_err_set(err, errno, "cannot open the volume's directory `%s`", dir);
	int r = 0;

	if (fstat(fd, &st) || ((st.st_mode & 0011) != 0011 && fchmod(fd, (st.st_mode & 07777) | 0011)))
		r = stb_err_set(err, errno, "cannot let user `%s` pass through the volume's directory `%s`", user->name, dir);
	close(fd);
	return r;
}

/* A directory of the server's, on another volume where there is one for that part. */
static int make_place(struct stb_mysqld *m, const char *path, const char *volume_dir, struct stb_err *err)
{
	if (volume_dir && (open_volume_dir(volume_dir, &m->user, err) || stb_server_place_check(volume_dir, &m->user, err)))
		return -1;
	return stb_server_place_mkdir(path, &m->user, err);
}

static int make_places(struct stb_mysqld *m, const char *volume_dir, struct stb_err *err)
{
	bool own_dir;

	if (open_volume_dir(volume_dir, &m->user, err) || stb_server_place_check(volume_dir, &m->user, err) ||
		stb_server_place_socket(m->socket, &own_dir, m->dir, m->env.run_mark ? m->env.run_mark : "run", &m->user, err))
		return -1;
	if (stb_server_place_mkdir(m->dir, &m->user, err) || stb_server_place_mkdir(m->data_dir, &m->user, err) ||
		make_place(m, m->tmp_dir, m->env.tmp_dir, err) || (m->redo_dir && make_place(m, m->redo_dir, m->env.redo_dir, err)) ||
		(m->binlog_dir && make_place(m, m->binlog_dir, m->env.binlog_dir, err)) || stb_server_place_write(m->error_log, &m->user, "", 0, err))
		return -1;
	if (!own_dir)
		return 0;
	char *dir = stb_xstrdup(m->socket);

	*strrchr(dir, '/') = '\0';
	stb_mysqld_announce(m, 1, "socket", dir);
	if (stb_server_place_mkdir(dir, &m->user, err)) {
		stb_mysqld_announce(m, 0, "socket", dir);
		free(dir);
		return -1;
	}
	m->socket_dir = dir;
	return 0;
}

struct stb_option_file stb_mysqld_options(const struct stb_mysqld *m, const char *basedir)
{
	return (struct stb_option_file){.mariadb = m->binary.mariadb, .basedir = basedir, .data_dir = m->data_dir, .tmp_dir = m->tmp_dir,
		.socket = m->socket, .pid_file = m->pid_file, .error_log = m->error_log, .redo_dir = m->redo_dir, .binlog = m->binlog,
		.relay_log = m->relay_log, .role = m->env.role, .server_id = 1 + m->env.number, .semi_sync = m->env.semi_sync};
}

static int write_config(struct stb_mysqld *m, const char *basedir, bool without_plugins, struct stb_err *err)
{
	struct stb_option_file f = stb_mysqld_options(m, basedir);
	struct stb_buf text;
	int r;

	f.without_plugins = without_plugins;
	(void)unlink(m->config);
	stb_buf_init(&text);
	r = stb_option_file(&text, &f, m->block, err);
	if (r == 0)
		r = stb_server_place_write(m->config, &m->user, text.data, text.len, err);
	stb_buf_fini(&text);
	return r;
}

static int initialise(struct stb_mysqld *m, const char *sql_dir, struct stb_err *err)
{
	const uint64_t until_ns = stb_clock_ns() + INIT_TIMEOUT_NS;
	int stdin_fd = -1, status, r;

	if (m->binary.mariadb && (stdin_fd = stb_bootstrap_sql(sql_dir, err)) < 0)
		return -1;
	char how[32], no_log[] = "--skip-log-bin"; /* nobody follows this */

	snprintf(how, sizeof(how), "%s", stb_dialect_of(m->binary.mariadb)->initialise);
	r = stb_mysqld_spawn(m, how, no_log, stdin_fd, err);
	if (stdin_fd >= 0)
		close(stdin_fd);
	if (r)
		return -1;
	while (stb_wait_child(m->pid, STB_MYSQLD_LOOK_NS, &status)) {
		if (stb_mysqld_is_stopped(m))
			return stb_mysqld_give_up(m, err, "while its data directory was initialised");
		if (stb_clock_ns() < until_ns)
			continue;
		stb_mysqld_kill(m);
		return stb_mysqld_fail(m, err, "its data directory was not initialised within 300 s");
	}
	stb_mysqld_announce_pid(m, 0, m->pid);
	m->pid = 0;
	if (status == 0)
		return 0;
	char words[96], what[160];

	stb_status_words(status, words, sizeof(words));
	snprintf(what, sizeof(what), "its data directory cannot be initialised: the server %s", words);
	return stb_mysqld_fail(m, err, what);
}

static void name_places(struct stb_mysqld *m)
{
	const struct stb_mysqld_env *env = &m->env;

	if (env->role == STB_MYSQLD_REPLICA)
		snprintf(m->label, sizeof(m->label), "replica %u of database `%.100s`", env->number, m->block->name);
	else
		snprintf(m->label, sizeof(m->label), "database `%.100s`", m->block->name);
	m->tmp_dir = stb_mysqld_join(env->tmp_dir ? env->tmp_dir : m->dir, "tmp");
	if (env->redo_dir)
		m->redo_dir = stb_mysqld_join(env->redo_dir, "redo");
	if (env->role == STB_MYSQLD_PRIMARY) {
		m->binlog_dir = stb_mysqld_join(env->binlog_dir ? env->binlog_dir : m->dir, "binlog");
		m->binlog = stb_mysqld_join(m->binlog_dir, "log");
	}
	if (env->role == STB_MYSQLD_REPLICA)
		m->relay_log = stb_mysqld_join(m->data_dir, "relay");
}

int stb_mysqld_create(struct stb_mysqld **out, const struct stb_mysqld_env *env, const struct stb_plan_block *database, const char *dir,
	struct stb_err *err)
{
	struct stb_mysqld *m = stb_xcalloc(1, sizeof(*m));
	char sql_dir[PATH_MAX], basedir[PATH_MAX], real[PATH_MAX];
	const char *version;
	bool later; /* the plugin's options */

	*out = NULL;
	m->env = *env;
	m->block = database;
	if (!realpath(dir, real)) {
		stb_err_set(err, errno, "cannot resolve the volume's directory `%s`", dir);
		goto fail;
	}
	m->dir = stb_mysqld_join(real, "mysql");
	m->data_dir = stb_mysqld_join(m->dir, "data");
	name_places(m);
	m->config = stb_mysqld_join(m->dir, "my.cnf");
	m->error_log = stb_mysqld_join(m->dir, "error.log");
	m->pid_file = stb_mysqld_join(m->dir, "mysqld.pid");
	m->init_file = stb_mysqld_join(m->dir, "init.sql");
	if (stb_mysqld_read(database, &version, err) || stb_server_find(&m->binary, version, err) || stb_server_user(&m->user, err) ||
		(m->binary.mariadb && stb_server_find_sql(&m->binary, sql_dir, basedir, err)) || stb_role_password(m->password, err) ||
		stb_role_password(m->replica_password, err) || make_places(m, real, err))
		goto fail;
	const char *const base = m->binary.mariadb ? basedir : NULL;

	later = env->semi_sync && !m->binary.mariadb;
	if (write_config(m, base, later, err) || initialise(m, sql_dir, err) || (later && write_config(m, base, false, err)))
		goto fail;
	m->address = (struct stb_db_address){.host = "localhost", .socket = m->socket, .user = STB_SERVER_ACCOUNT, .password = m->password,
		.schema = STB_SERVER_SCHEMA};
	*out = m;
	return 0;
fail:
	stb_mysqld_free(m);
	return -1;
}
