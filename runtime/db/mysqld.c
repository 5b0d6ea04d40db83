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
#include "runtime/db/client.h"
#include "runtime/db/mysqld.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_TIMEOUT_NS (60 * STB_NS_PER_S)
#define STOP_TIMEOUT_NS (60 * STB_NS_PER_S)
#define SLOW_STOP_TIMEOUT_NS (600 * STB_NS_PER_S) /* where all of the load is to be purged and merged first */
#define HURRIED_STOP_NS (8 * STB_NS_PER_S) /* once the run was told to stop */
#define KILL_TIMEOUT_NS (10 * STB_NS_PER_S)
#define PORT_TRIES 8
#define ANSWER_TIMEOUT_NS (30 * STB_NS_PER_S) /* for a connection, of a server that nobody works with */

void stb_mysqld_announce(const struct stb_mysqld *m, int made, const char *kind, const char *object)
{
	if (m->env.leftover)
		m->env.leftover(m->env.ctx, made, kind, object);
}

void stb_mysqld_announce_pid(const struct stb_mysqld *m, int made, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	stb_mysqld_announce(m, made, "pid", text);
}

char *stb_mysqld_join(const char *dir, const char *name)
{
	char *path = stb_xmalloc(strlen(dir) + strlen(name) + 2);

	sprintf(path, "%s/%s", dir, name);
	return path;
}

/* Starts the server with at most two more arguments and its log as output. */
int stb_mysqld_spawn(struct stb_mysqld *m, char *first, char *second, int stdin_fd, struct stb_err *err)
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
		stb_mysqld_announce_pid(m, 1, m->pid);
	else
		m->pid = 0;
	m->died = false;
	free(defaults);
	return r;
}

/* Kills what runs, for good. */
void stb_mysqld_kill(struct stb_mysqld *m)
{
	int status;

	if (m->pid <= 0)
		return;
	kill(m->pid, SIGKILL);
	(void)stb_wait_child(m->pid, KILL_TIMEOUT_NS, &status);
	stb_mysqld_announce_pid(m, 0, m->pid);
	m->pid = 0;
}

uint32_t stb_mysqld_is_stopped(const struct stb_mysqld *m)
{
	return m->env.stopped ? m->env.stopped(m->env.ctx) : 0;
}

/* What was begun is nobody's any more: no log is kept of it. */
int stb_mysqld_give_up(struct stb_mysqld *m, struct stb_err *err, const char *when)
{
	stb_mysqld_kill(m);
	return stb_err_set(err, 0, "%s: interrupted %s", m->label, when);
}

/* --- running ----------------------------------------------------------------------------------------------------------------------- */

/* Collects the end of the process if it has ended. */
static bool reap(struct stb_mysqld *m)
{
	int status;

	if (m->pid <= 0)
		return true;
	if (stb_wait_child(m->pid, 0, &status))
		return false;
	stb_mysqld_announce_pid(m, 0, m->pid);
	m->pid = 0;
	m->status = status;
	m->died = true;
	return true;
}

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
			return stb_mysqld_fail_dead(m, err, "while it started");
		if (stb_mysqld_is_stopped(m))
			return stb_mysqld_give_up(m, err, "while it started");
		if (stb_client_try(&c, &address, &limits, &code, text, sizeof(text)) == 0) {
			stb_client_close(c);
			return 0;
		}
		/* It serves nobody before init.sql was carried out: who is refused then will stay refused. */
		if (code == STB_MYSQL_ACCESS_DENIED || stb_clock_ns() >= until_ns)
			break;
		(void)stb_clock_sleep_until(stb_clock_ns() + 10 * 1000000ull);
	}
	stb_mysqld_kill(m);
	if (code == STB_MYSQL_ACCESS_DENIED)
		snprintf(what, sizeof(what), "the account `" STB_SERVER_ACCOUNT "` was not created");
	else
		snprintf(what, sizeof(what), "the server was not ready within %llu s (%s)", START_TIMEOUT_NS / STB_NS_PER_S, text);
	return stb_mysqld_fail(m, err, what);
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
		stb_mysqld_kill(m);
	return -1;
}

static int check_places(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_option_file f = stb_mysqld_options(m, NULL);
	struct stb_err ignored = {0};

	if (stb_role_places_in_force(&f, m->label, &m->address, err) == 0)
		return 0;
	if (stb_mysqld_stop(m, &ignored))
		stb_mysqld_kill(m);
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
	r = stb_mysqld_spawn(m, init, port[0] ? port : NULL, -1, err);
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
	m->stop_ns = STOP_TIMEOUT_NS;
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
		(void)stb_mysqld_fail_dead(m, err, "while it was in use");
	else if (err)
		stb_err_set(err, 0, "%s: the server is not running", m->label);
	return false;
}

bool stb_mysqld_answers(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 1, .io_timeout_s = 1}; /* short: a signal of the run has to be seen */
	const uint64_t until_ns = stb_clock_ns() + ANSWER_TIMEOUT_NS;
	struct stb_db_address address = m->address;
	char text[256], what[STB_ERR_TEXT / 2];
	struct stb_client *c;
	unsigned code;

	address.schema = NULL;
	for (;;) {
		if (!stb_mysqld_alive(m, err))
			return false;
		if (stb_client_try(&c, &address, &limits, &code, text, sizeof(text)) == 0) {
			stb_client_close(c);
			return true;
		}
		/* a refusal is an answer, too; and at the end of the run nobody needs one */
		if (!stb_client_is_own(code) || stb_mysqld_is_stopped(m))
			return true;
		if (stb_clock_ns() >= until_ns)
			break;
		(void)stb_clock_sleep_until(stb_clock_ns() + STB_MYSQLD_LOOK_NS);
	}
	stb_mysqld_kill(m);
	snprintf(what, sizeof(what), "the server gave no answer for %llu s (%s) and was killed", ANSWER_TIMEOUT_NS / STB_NS_PER_S, text);
	(void)stb_mysqld_fail(m, err, what);
	if (!err->remedy[0])
		stb_err_remedy(err, "see whether somebody stopped it, or the storage below it hangs");
	return false;
}

/* 0, or 1 when the server has not ended by the time that it has (stop_ns): less of it once the run was told to stop, and none when told again. */
static int wait_stopped(const struct stb_mysqld *m, uint64_t *waited_ns, int *status)
{
	const uint64_t since_ns = stb_clock_ns();
	uint64_t told_ns = 0;

	while (stb_wait_child(m->pid, STB_MYSQLD_LOOK_NS, status)) {
		const uint64_t now_ns = stb_clock_ns();
		const uint32_t told = stb_mysqld_is_stopped(m);

		if (told && !told_ns)
			told_ns = now_ns;
		*waited_ns = now_ns - since_ns;
		if (told > 1 || (told && now_ns - told_ns > HURRIED_STOP_NS) || *waited_ns > m->stop_ns)
			return 1;
	}
	return 0;
}

/* Nothing is left to be purged or merged. */
static int ask_for_slow_shutdown(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 10, .io_timeout_s = 60};
	static const char sql[] = "SET GLOBAL innodb_fast_shutdown = 0";
	struct stb_db_address address = m->address;
	struct stb_reply reply;
	struct stb_client *c;
	int r;

	address.schema = NULL;
	if (stb_client_open(&c, &address, &limits, err))
		return -1;
	r = stb_client_query(c, sql, strlen(sql), &reply);
	if (r)
		stb_err_set(err, 0, "%s: `%s` failed: %s (%u)", m->label, sql, stb_client_text(c), stb_client_code(c));
	stb_client_close(c);
	return r;
}

int stb_mysqld_stop_for_good(struct stb_mysqld *m, struct stb_err *err)
{
	if (m->pid > 0 && !reap(m) && ask_for_slow_shutdown(m, err))
		return -1;
	m->stop_ns = SLOW_STOP_TIMEOUT_NS;
	return stb_mysqld_stop(m, err);
}

int stb_mysqld_stop(struct stb_mysqld *m, struct stb_err *err)
{
	uint64_t waited_ns = 0;
	char what[96];
	int status;

	if (m->pid <= 0)
		return m->died ? stb_mysqld_fail_dead(m, err, "before it was stopped") : 0;
	if (reap(m))
		return stb_mysqld_fail_dead(m, err, "before it was stopped");
	kill(m->pid, SIGTERM);
	if (wait_stopped(m, &waited_ns, &status)) {
		stb_mysqld_kill(m);
		snprintf(what, sizeof(what), "the server did not shut down within %llu s and was killed", (unsigned long long)(waited_ns / STB_NS_PER_S));
		return stb_mysqld_fail(m, err, what);
	}
	stb_mysqld_announce_pid(m, 0, m->pid);
	m->pid = 0;
	m->status = status;
	if (status == 0)
		return 0;
	return stb_mysqld_fail_dead(m, err, "while it shut down");
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
		stb_mysqld_kill(m);
	if (m->socket_dir) {
		(void)unlink(m->socket);
		char *lock = stb_mysqld_join(m->socket_dir, "mysql.sock.lock"); /* MySQL's */

		(void)unlink(lock);
		free(lock);
		if (rmdir(m->socket_dir) == 0 || errno == ENOENT)
			stb_mysqld_announce(m, 0, "socket", m->socket_dir);
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
