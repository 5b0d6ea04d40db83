/*
 * mysqld.c - the life of a private database server: its directories, accounts, start, stop and death.
 *
 *   <volume>/mysql/            0700, the server user's, as is all below
 *     my.cnf                   0600; the only option file that is read
 *     data/  tmp/              data directory; temporary tables and files
 *     binlog/                  of a primary
 *   <volume of that part>/redo/, binlog/, tmp/   instead, 0700 and the server user's too, where the database names one
 *     mysql.sock               or in a short directory below $TMPDIR or /tmp, announced as left over
 *     mysqld.pid  error.log    the log is copied to the run directory when something fails
 *     init.sql                 0600, only during the first start: it holds the password
 *
 * What stb sets, and nothing besides the spec's options: datadir, tmpdir, socket, pid-file, log-error (ours), secure-file-priv (tmpdir: a
 * compiled-in one may not exist), where its volumes are other ones innodb-log-group-home-dir and log-bin, what its role takes (role.c; of a
 * single server skip-networking and skip-log-bin: nobody else connects, it has no replica, MySQL 8 would otherwise pay for one), for MySQL loose-mysqlx = OFF (it would open a port), for MariaDB basedir (where its share directory lies). Buffer pool,
 * flushing, performance_schema, character set and all else are the server's own defaults, which environment.json records.
 *
 * Servers clamp and ignore values without failing. So after every start the spec's options are compared with SHOW GLOBAL VARIABLES, and one
 * that is not in force fails the start. Options that show up in no variable cannot be compared; they are recorded as unverified.
 *
 * Accounts: MariaDB's system tables are made by feeding its SQL to --bootstrap, without the file that adds root accounts; MySQL's
 * --initialize-insecure leaves a root without password, which the first start locks. The first start runs init.sql, which creates
 * 'stb'@'localhost' with a random password that lives in our memory only from then on. mariadb-install-db was rejected: the server it
 * starts would be a grandchild that our death does not end, and it splits paths at blanks.
 *
 * Root: the server runs as `mysql` or `nobody` (spawn.c). The volume's own directory is root's and 0700, so it is opened to 0711: the user
 * can pass through it and list nothing, and all that lies in it stays as closed as it was.
 *
 * The server dies with the thread that started it (parent-death signal): start it from a thread that lives as long as the run.
 */
#include "runtime/base/clock.h"
#include "runtime/db/client.h"
#include "runtime/db/dialect.h"
#include "runtime/db/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define INIT_TIMEOUT_NS (300 * STB_NS_PER_S)
#define START_TIMEOUT_NS (60 * STB_NS_PER_S)
#define STOP_TIMEOUT_NS (60 * STB_NS_PER_S)
#define HURRIED_STOP_NS (8 * STB_NS_PER_S) /* once the run was told to stop */
#define LOOK_NS (STB_NS_PER_S / 10) /* how often the run is asked whether it is to stop */
#define KILL_TIMEOUT_NS (10 * STB_NS_PER_S)
#define PORT_TRIES 8
#define FULL_BYTES (1024 * 1024) /* of free space, or less: no server can work */

struct stb_mysqld {
	struct stb_mysqld_env env;
	const struct stb_plan_block *block;
	struct stb_server_binary binary;
	struct stb_server_user user;
	char label[160];  /* "database `fast`", "replica 2 of database `fast`" */
	char *dir, *data_dir, *tmp_dir, *config, *error_log, *pid_file, *init_file;
	char *redo_dir;   /* NULL: in data_dir */
	char *binlog_dir, *binlog; /* of a primary: the directory, and what the names of the files begin with */
	char *relay_log;  /* of a replica */
	uint16_t port;    /* of a primary */
	char *socket_dir; /* NULL: the socket lies in dir */
	char socket[STB_SOCKET_MAX + 1];
	char password[STB_PASSWORD_HEX];
	char replica_password[STB_PASSWORD_HEX];
	struct stb_db_address address;
	bool has_account;
	pid_t pid;        /* 0: not running */
	int status;       /* of the last one that ended */
	bool died;        /* by itself; status and log say why */
	char saved_log[PATH_MAX]; /* "" : not copied */
	struct stb_buf unverified; /* names of options, a line each */
};

static void announce(const struct stb_mysqld *m, int made, const char *kind, const char *object)
{
	if (m->env.leftover)
		m->env.leftover(m->env.ctx, made, kind, object);
}

static void announce_pid(const struct stb_mysqld *m, int made, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	announce(m, made, "pid", text);
}

static char *join(const char *dir, const char *name)
{
	char *path = stb_xmalloc(strlen(dir) + strlen(name) + 2);

	sprintf(path, "%s/%s", dir, name);
	return path;
}

/* --- failures ------------------------------------------------------------------------------------------------------------------------ */

/* The volume goes away; the log of a failure stays in the run directory. */
static void save_log(struct stb_mysqld *m)
{
	char name[80], buffer[65536];
	int in, out = -1;
	ssize_t n;

	if (!m->env.run_dir || m->saved_log[0])
		return;
	snprintf(name, sizeof(name), "%s", m->block->name);
	for (char *p = name; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *p))
			*p = '_';
	in = open(m->error_log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return;
	for (int i = 1; i < 1000 && out < 0; i++) {
		if (snprintf(m->saved_log, sizeof(m->saved_log), "%s/%s-%d.log", m->env.run_dir, name, i) >= (int)sizeof(m->saved_log))
			break;
		out = open(m->saved_log, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	while (out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	if (out < 0)
		m->saved_log[0] = '\0';
	else
		close(out);
	close(in);
}

/* The log may say so, unless there was no room for the log either. */
static bool volume_full(const struct stb_mysqld *m, const char *log_tail)
{
	struct statvfs fs;

	if (strstr(log_tail, "No space left") || strstr(log_tail, "out of disk space") || strstr(log_tail, "Disk full") ||
		strstr(log_tail, "Disk got full"))
		return true;
	return statvfs(m->data_dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES;
}

/* "[ERROR] [MY-000067] [Server] unknown variable 'innodb_log_file_size=8388608'." */
static void suggest_option(const struct stb_mysqld *m, struct stb_err *err, const char *complaint)
{
	const struct stb_dialect *words = stb_dialect_of(m->binary.mariadb);
	const char *name = strchr(complaint, '\'');
	char option[80] = "";

	if (name) {
		name += 1 + strspn(name + 1, "-");
		snprintf(option, sizeof(option), "%.*s", (int)strcspn(name, "='"), name);
	}
	for (char *p = option; *p; p++)
		if (*p == '-')
			*p = '_';
	const char *instead = stb_dialect_instead(words, option);

	if (instead)
		stb_err_remedy(err, "%s %s does not know that option: it has %s", words->name, m->binary.version, instead);
	else
		stb_err_remedy(err, "%s %s does not know that option: correct or remove it in `options`", words->name, m->binary.version);
}

/* "what: last lines of the log", with where the log is kept as the remedy. */
static int fail_with_log(struct stb_mysqld *m, struct stb_err *err, const char *what)
{
	char tail[STB_ERR_TEXT / 2];
	const char *unknown;

	stb_log_tail(m->error_log, tail, sizeof(tail));
	save_log(m);
	stb_err_set(err, 0, "%s: %s%s%s", m->label, what, tail[0] ? "; its log says: " : "; its log holds no error", tail);
	if (m->block->span != STB_NONE)
		err->span = m->block->span + 1;
	if (m->pid == 0 && !m->has_account && ((unknown = strstr(tail, "unknown variable")) || (unknown = strstr(tail, "unknown option"))))
		suggest_option(m, err, unknown);
	else if (volume_full(m, tail))
		stb_err_remedy(err, "the volume is full: give it more `size`");
	else if (m->saved_log[0])
		stb_err_remedy(err, "read the server's log, kept in `%s`", m->saved_log);
	return -1;
}

/* Collects the end of the process if it has ended. */
static bool reap(struct stb_mysqld *m)
{
	int status;

	if (m->pid <= 0)
		return true;
	if (stb_wait_child(m->pid, 0, &status))
		return false;
	announce_pid(m, 0, m->pid);
	m->pid = 0;
	m->status = status;
	m->died = true;
	return true;
}

/* Whoever is killed from outside writes no reason into its log: what stands there is about something else. */
static int fail_killed(struct stb_mysqld *m, struct stb_err *err, const char *what)
{
	save_log(m);
	stb_err_set(err, 0, "%s: %s, and not by stb", m->label, what);
	if (m->block->span != STB_NONE)
		err->span = m->block->span + 1;
	if (WTERMSIG(m->status) == SIGXFSZ)
		stb_err_remedy(err, "a file may not grow that far in this shell: raise the limit (`ulimit -f unlimited`)");
	else
		stb_err_remedy(err, "find out who did: the kernel where memory ran out (`dmesg` names the process), a cgroup's memory limit, a person%s%s",
			m->saved_log[0] ? "; the server's log is kept in " : "", m->saved_log);
	return -1;
}

static int fail_dead(struct stb_mysqld *m, struct stb_err *err, const char *when)
{
	char words[96], what[160];

	stb_status_words(m->status, words, sizeof(words));
	snprintf(what, sizeof(what), "the server %s %s", words, when);
	/* the others it catches itself, and says in its log what it was doing */
	if (WIFSIGNALED(m->status) && (WTERMSIG(m->status) == SIGKILL || WTERMSIG(m->status) == SIGTERM || WTERMSIG(m->status) == SIGXFSZ))
		return fail_killed(m, err, what);
	return fail_with_log(m, err, what);
}

/* --- creating ------------------------------------------------------------------------------------------------------------------------ */

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
	announce(m, 1, "socket", dir);
	if (stb_server_place_mkdir(dir, &m->user, err)) {
		announce(m, 0, "socket", dir);
		free(dir);
		return -1;
	}
	m->socket_dir = dir;
	return 0;
}

static struct stb_option_file options_of(const struct stb_mysqld *m, const char *basedir)
{
	return (struct stb_option_file){.mariadb = m->binary.mariadb, .basedir = basedir, .data_dir = m->data_dir, .tmp_dir = m->tmp_dir,
		.socket = m->socket, .pid_file = m->pid_file, .error_log = m->error_log, .redo_dir = m->redo_dir, .binlog = m->binlog,
		.relay_log = m->relay_log, .role = m->env.role, .server_id = 1 + m->env.number, .semi_sync = m->env.semi_sync};
}

static int write_config(struct stb_mysqld *m, const char *basedir, bool without_plugins, struct stb_err *err)
{
	struct stb_option_file f = options_of(m, basedir);
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

/* --- initialising -------------------------------------------------------------------------------------------------------------------- */

/* Starts the server with at most two more arguments and its log as output. */
static int spawn_server(struct stb_mysqld *m, char *first, char *second, int stdin_fd, struct stb_err *err)
{
	char *defaults = stb_xmalloc(strlen(m->config) + 32);
	char *const argv[] = {m->binary.path, defaults, first ? first : second, first ? second : NULL, NULL};
	const int log_fd = open(m->error_log, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	int r;

	sprintf(defaults, "--defaults-file=%s", m->config);
	if (log_fd < 0)
		r = stb_err_set(err, errno, "cannot open the server's log `%s`", m->error_log);
	else
		r = stb_spawn(&m->pid, m->binary.path, argv, &m->user, stdin_fd, log_fd, err);
	if (log_fd >= 0)
		close(log_fd);
	if (r == 0)
		announce_pid(m, 1, m->pid);
	else
		m->pid = 0;
	m->died = false;
	free(defaults);
	return r;
}

/* Kills what runs, for good. */
static void kill_server(struct stb_mysqld *m)
{
	int status;

	if (m->pid <= 0)
		return;
	kill(m->pid, SIGKILL);
	(void)stb_wait_child(m->pid, KILL_TIMEOUT_NS, &status);
	announce_pid(m, 0, m->pid);
	m->pid = 0;
}

static uint32_t is_stopped(const struct stb_mysqld *m)
{
	return m->env.stopped ? m->env.stopped(m->env.ctx) : 0;
}

/* What was begun is nobody's any more: no log is kept of it. */
static int give_up(struct stb_mysqld *m, struct stb_err *err, const char *when)
{
	kill_server(m);
	return stb_err_set(err, 0, "%s: interrupted %s", m->label, when);
}

static int initialise(struct stb_mysqld *m, const char *sql_dir, struct stb_err *err)
{
	const uint64_t until_ns = stb_clock_ns() + INIT_TIMEOUT_NS;
	int stdin_fd = -1, status, r;

	if (m->binary.mariadb && (stdin_fd = stb_bootstrap_sql(sql_dir, err)) < 0)
		return -1;
	char how[32], no_log[] = "--skip-log-bin"; /* nobody follows this */

	snprintf(how, sizeof(how), "%s", stb_dialect_of(m->binary.mariadb)->initialise);
	r = spawn_server(m, how, no_log, stdin_fd, err);
	if (stdin_fd >= 0)
		close(stdin_fd);
	if (r)
		return -1;
	while (stb_wait_child(m->pid, LOOK_NS, &status)) {
		if (is_stopped(m))
			return give_up(m, err, "while its data directory was initialised");
		if (stb_clock_ns() < until_ns)
			continue;
		kill_server(m);
		return fail_with_log(m, err, "its data directory was not initialised within 300 s");
	}
	announce_pid(m, 0, m->pid);
	m->pid = 0;
	if (status == 0)
		return 0;
	char words[96], what[160];

	stb_status_words(status, words, sizeof(words));
	snprintf(what, sizeof(what), "its data directory cannot be initialised: the server %s", words);
	return fail_with_log(m, err, what);
}

static void name_places(struct stb_mysqld *m)
{
	const struct stb_mysqld_env *env = &m->env;

	if (env->role == STB_MYSQLD_REPLICA)
		snprintf(m->label, sizeof(m->label), "replica %u of database `%.100s`", env->number, m->block->name);
	else
		snprintf(m->label, sizeof(m->label), "database `%.100s`", m->block->name);
	m->tmp_dir = join(env->tmp_dir ? env->tmp_dir : m->dir, "tmp");
	if (env->redo_dir)
		m->redo_dir = join(env->redo_dir, "redo");
	if (env->role == STB_MYSQLD_PRIMARY) {
		m->binlog_dir = join(env->binlog_dir ? env->binlog_dir : m->dir, "binlog");
		m->binlog = join(m->binlog_dir, "log");
	}
	if (env->role == STB_MYSQLD_REPLICA)
		m->relay_log = join(m->data_dir, "relay");
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
	m->dir = join(real, "mysql");
	m->data_dir = join(m->dir, "data");
	name_places(m);
	m->config = join(m->dir, "my.cnf");
	m->error_log = join(m->dir, "error.log");
	m->pid_file = join(m->dir, "mysqld.pid");
	m->init_file = join(m->dir, "init.sql");
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

/* --- running ------------------------------------------------------------------------------------------------------------------------- */

static int write_init_file(struct stb_mysqld *m, struct stb_err *err)
{
	struct stb_buf sql;
	int r;

	stb_buf_init(&sql);
	stb_role_accounts(&sql, m->binary.mariadb, m->env.role, m->password, m->replica_password);
	(void)unlink(m->init_file); /* of a start that failed */
	r = stb_server_place_write(m->init_file, &m->user, sql.data, sql.len, err);
	explicit_bzero(sql.data, sql.len);
	stb_buf_fini(&sql);
	return r;
}

/* Until a connection succeeds, the process ends, or the time is over. */
static int wait_ready(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 1, .io_timeout_s = 1}; /* short: a signal of the run has to be seen */
	const uint64_t until_ns = stb_clock_ns() + START_TIMEOUT_NS;
	struct stb_db_address address = m->address;
	unsigned code;
	char text[256], what[STB_ERR_TEXT / 2];

	address.schema = NULL;
	for (;;) {
		struct stb_client *c;

		if (reap(m))
			return fail_dead(m, err, "while it started");
		if (is_stopped(m))
			return give_up(m, err, "while it started");
		if (stb_client_try(&c, &address, &limits, &code, text, sizeof(text)) == 0) {
			stb_client_close(c);
			return 0;
		}
		/* It serves nobody before init.sql was carried out: who is refused then will stay refused. */
		if (code == STB_MYSQL_ACCESS_DENIED || stb_clock_ns() >= until_ns)
			break;
		(void)stb_clock_sleep_until(stb_clock_ns() + 10 * 1000000ull);
	}
	kill_server(m);
	if (code == STB_MYSQL_ACCESS_DENIED)
		snprintf(what, sizeof(what), "the account `" STB_SERVER_ACCOUNT "` was not created");
	else
		snprintf(what, sizeof(what), "the server was not ready within %llu s (%s)", START_TIMEOUT_NS / STB_NS_PER_S, text);
	return fail_with_log(m, err, what);
}

/* A server that runs with other values than the spec's is not the one that is to be measured: it is stopped again. */
static int check_options(struct stb_mysqld *m, struct stb_err *err)
{
	struct stb_db_address address = m->address;
	struct stb_err ignored = {0};

	address.schema = NULL;
	stb_buf_clear(&m->unverified);
	if (stb_db_options_in_force(m->block, &address, &m->unverified, err) == 0)
		return 0;
	if (stb_mysqld_stop(m, &ignored))
		kill_server(m);
	return -1;
}

static int check_places(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_option_file f = options_of(m, NULL);
	struct stb_err ignored = {0};

	if (stb_role_places_in_force(&f, m->label, &m->address, err) == 0)
		return 0;
	if (stb_mysqld_stop(m, &ignored))
		kill_server(m);
	return -1;
}

/* Whether the start failed since somebody else took the port in between. */
static bool port_was_taken(struct stb_mysqld *m)
{
	char tail[STB_ERR_TEXT / 2];

	if (m->env.role != STB_MYSQLD_PRIMARY || m->pid > 0)
		return false;
	stb_log_tail(m->error_log, tail, sizeof(tail));
	if (!strstr(tail, "Bind on TCP/IP port"))
		return false;
	if (truncate(m->error_log, 0)) /* else the next look would find it again */
		return false;
	if (m->saved_log[0])
		(void)unlink(m->saved_log);
	m->saved_log[0] = '\0';
	return true;
}

static int start_once(struct stb_mysqld *m, struct stb_err *err)
{
	char *init = NULL, port[24] = "";
	int r = 0;

	if (m->env.role == STB_MYSQLD_PRIMARY) {
		m->port = stb_role_port(err);
		if (!m->port)
			return -1;
		snprintf(port, sizeof(port), "--port=%u", m->port);
	}
	if (!m->has_account) {
		if (write_init_file(m, err))
			return -1;
		init = stb_xmalloc(strlen(m->init_file) + 16);
		sprintf(init, "--init-file=%s", m->init_file);
	}
	r = spawn_server(m, init, port[0] ? port : NULL, -1, err);
	if (r == 0)
		r = wait_ready(m, err);
	free(init);
	(void)unlink(m->init_file);
	return r;
}

int stb_mysqld_start(struct stb_mysqld *m, struct stb_err *err)
{
	STB_ASSERT(m->pid == 0);
	stb_client_setup();
	for (int tries = 0; start_once(m, err); tries++) {
		if (tries == PORT_TRIES || !port_was_taken(m))
			return -1;
		stb_err_clear(err);
	}
	m->has_account = true;
	return check_options(m, err) || check_places(m, err) ? -1 : 0;
}

const char *stb_mysqld_unverified(const struct stb_mysqld *m)
{
	return stb_buf_str(&m->unverified);
}

bool stb_mysqld_alive(struct stb_mysqld *m, struct stb_err *err)
{
	if (m->pid > 0 && !reap(m))
		return true;
	if (err && m->died)
		(void)fail_dead(m, err, "while it was in use");
	else if (err)
		stb_err_set(err, 0, "%s: the server is not running", m->label);
	return false;
}

/* 0, or 1 when the server has not ended by the time that it has: less of it once the run was told to stop, and none when told again. */
static int wait_stopped(const struct stb_mysqld *m, uint64_t *waited_ns, int *status)
{
	const uint64_t since_ns = stb_clock_ns();
	uint64_t told_ns = 0;

	while (stb_wait_child(m->pid, LOOK_NS, status)) {
		const uint64_t now_ns = stb_clock_ns();
		const uint32_t told = is_stopped(m);

		if (told && !told_ns)
			told_ns = now_ns;
		*waited_ns = now_ns - since_ns;
		if (told > 1 || (told && now_ns - told_ns > HURRIED_STOP_NS) || *waited_ns > STOP_TIMEOUT_NS)
			return 1;
	}
	return 0;
}

int stb_mysqld_stop(struct stb_mysqld *m, struct stb_err *err)
{
	uint64_t waited_ns = 0;
	char what[96];
	int status;

	if (m->pid <= 0)
		return m->died ? fail_dead(m, err, "before it was stopped") : 0;
	if (reap(m))
		return fail_dead(m, err, "before it was stopped");
	kill(m->pid, SIGTERM);
	if (wait_stopped(m, &waited_ns, &status)) {
		kill_server(m);
		snprintf(what, sizeof(what), "the server did not shut down within %llu s and was killed", (unsigned long long)(waited_ns / STB_NS_PER_S));
		return fail_with_log(m, err, what);
	}
	announce_pid(m, 0, m->pid);
	m->pid = 0;
	m->status = status;
	if (status == 0)
		return 0;
	return fail_dead(m, err, "while it shut down");
}

const struct stb_db_address *stb_mysqld_address(const struct stb_mysqld *m)
{
	return &m->address;
}

pid_t stb_mysqld_pid(const struct stb_mysqld *m)
{
	return m->pid;
}

const char *stb_mysqld_label(const struct stb_mysqld *m)
{
	return m->label;
}

bool stb_mysqld_is_mariadb(const struct stb_mysqld *m)
{
	return m->binary.mariadb;
}

uint16_t stb_mysqld_port(const struct stb_mysqld *m, const char **password)
{
	*password = m->replica_password;
	return m->port;
}

const char *stb_mysqld_version(const struct stb_mysqld *m)
{
	return m->binary.version;
}

void stb_mysqld_free(struct stb_mysqld *m)
{
	struct stb_err ignored = {0};

	if (!m)
		return;
	if (m->pid > 0 && stb_mysqld_stop(m, &ignored))
		kill_server(m);
	if (m->socket_dir) {
		(void)unlink(m->socket);
		char *lock = join(m->socket_dir, "mysql.sock.lock"); /* MySQL's */

		(void)unlink(lock);
		free(lock);
		if (rmdir(m->socket_dir) == 0 || errno == ENOENT)
			announce(m, 0, "socket", m->socket_dir);
	}
	explicit_bzero(m->password, sizeof(m->password));
	explicit_bzero(m->replica_password, sizeof(m->replica_password));
	free(m->redo_dir);
	free(m->binlog_dir);
	free(m->binlog);
	free(m->relay_log);
	stb_buf_fini(&m->unverified);
	free(m->socket_dir);
	free(m->dir);
	free(m->data_dir);
	free(m->tmp_dir);
	free(m->config);
	free(m->error_log);
	free(m->pid_file);
	free(m->init_file);
	free(m);
}
