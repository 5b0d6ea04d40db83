/*
 * place.c - where a private server lives: directories that it can reach, a socket path that fits, its option file.
 *
 * A server that runs as another user than stb can fail at any directory above its own, with a message that names its own. So every parent is
 * tried first, as that user, by the kernel: a child becomes the user and asks access(2), which knows of access lists and mount options.
 */
#include "runtime/db/dialect.h"
#include "runtime/db/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_TAIL_BYTES 16384
#define LOG_TAIL_LINES 4

/* Length of the first prefix of the absolute path that cannot be entered, 0 where all can. path is written to and restored. */
static size_t first_barred(char *path)
{
	for (size_t i = 1;; i++) {
		const char c = path[i];

		if (c != '/' && c != '\0')
			continue;
		path[i] = '\0';
		const int r = access(path, X_OK);

		path[i] = c;
		if (r)
			return i;
		if (c == '\0')
			return 0;
	}
}

/* In a child that becomes the user: the prefix's length through a pipe. -1: that child could not be had. */
static ssize_t first_barred_as(char *path, const struct stb_server_user *user)
{
	size_t barred = 0;
	int fd[2], status;

	if (pipe2(fd, O_CLOEXEC))
		return -1;
	const pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(1, &user->gid) || setresgid(user->gid, user->gid, user->gid) || setresuid(user->uid, user->uid, user->uid))
			_exit(1);
		barred = first_barred(path);
		_exit(write(fd[1], &barred, sizeof(barred)) == (ssize_t)sizeof(barred) ? 0 : 1);
	}
	close(fd[1]);
	const ssize_t n = pid > 0 ? read(fd[0], &barred, sizeof(barred)) : -1;

	close(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(barred) ? (ssize_t)barred : -1;
}

int stb_server_place_check(const char *path, const struct stb_server_user *user, struct stb_err *err)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return stb_err_set(err, errno, "cannot resolve the directory `%s`", path);
	const ssize_t barred = user->drop ? first_barred_as(real, user) : (ssize_t)first_barred(real);

	if (barred == 0)
		return 0;
	if (barred < 0) {
		stb_err_set(err, 0, "cannot look at `%s` as user `%s`", real, user->name);
		stb_err_remedy(err, "run stb as an ordinary user, or give it the capabilities SETUID and SETGID");
		return -1;
	}
	stb_err_set(err, EACCES, "user `%s`, as whom the database server runs, cannot enter the directory `%.*s` above its data", user->name,
		(int)barred, real);
	stb_err_remedy(err, "use a directory that every user can reach (such as one below /var/tmp), or `chmod o+x %.*s`", (int)barred, real);
	return -1;
}

int stb_server_place_mkdir(const char *path, const struct stb_server_user *user, struct stb_err *err)
{
	if (mkdir(path, 0700))
		return stb_err_set(err, errno, "cannot make the directory `%s`", path);
	if (user->drop && lchown(path, user->uid, user->gid))
		return stb_err_set(err, errno, "cannot give the directory `%s` to user `%s`", path, user->name);
	return 0;
}

int stb_server_place_write(const char *path, const struct stb_server_user *user, const char *data, size_t len, struct stb_err *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = 0;

	if (fd < 0)
		return stb_err_set(err, errno, "cannot create `%s`", path);
	if (user->drop && fchown(fd, user->uid, user->gid))
		r = stb_err_set(err, errno, "cannot give `%s` to user `%s`", path, user->name);
	for (size_t done = 0; r == 0 && done < len;) {
		const ssize_t n = write(fd, data + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			r = stb_err_set(err, n ? errno : EIO, "cannot write `%s`", path);
	}
	if (close(fd) && r == 0)
		r = stb_err_set(err, errno, "cannot write `%s`", path);
	return r;
}

/* --- socket -------------------------------------------------------------------------------------------------------------------------- */

int stb_server_place_socket(char *out, bool *own_dir, const char *dir, const char *run_mark, const struct stb_server_user *user, struct stb_err *err)
{
	const char *tmp = getenv("TMPDIR");
	const char *const bases[] = {tmp && tmp[0] == '/' ? tmp : "/tmp", "/tmp"};
	char hash[STB_HASH_HEX];

	*own_dir = false;
	if (snprintf(out, STB_SOCKET_MAX + 1, "%s/mysql.sock", dir) <= (int)STB_SOCKET_MAX)
		return 0;
	*own_dir = true;
	stb_hash_hex(dir, strlen(dir), hash); /* two servers of one run differ in their directories */
	for (unsigned i = 0; i < STB_LEN(bases); i++) {
		struct stb_err ignored = {0};

		if (snprintf(out, STB_SOCKET_MAX + 1, "%s/stb-%s-%.8s/mysql.sock", bases[i], run_mark, hash) <= (int)STB_SOCKET_MAX &&
			stb_server_place_check(bases[i], user, &ignored) == 0)
			return 0;
	}
	stb_err_set(err, 0, "cannot place the server's socket: `%s/mysql.sock` is longer than the %zu bytes that a socket's path may have, and neither $TMPDIR nor /tmp can be used instead",
		dir, STB_SOCKET_MAX);
	stb_err_remedy(err, "use a storage directory with a shorter path, or set TMPDIR to a short one");
	return -1;
}

/* --- option file --------------------------------------------------------------------------------------------------------------------- */

static bool plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || *p == 0x7f)
			return false;
	return true;
}

/* Quoted, so that blanks and # stand for themselves. */
int stb_option_path(struct stb_buf *out, const char *name, const char *path, struct stb_err *err)
{
	if (!plain(path)) {
		stb_err_set(err, 0, "cannot write the server's option file: the path `%s` holds a quote, a backslash or a control character", path);
		stb_err_remedy(err, "use a storage directory with another name");
		return -1;
	}
	stb_buf_printf(out, "%s = \"%s\"\n", name, path);
	return 0;
}

static int put_option(struct stb_buf *out, const struct stb_plan_block *database, const struct stb_plan_attr *a, struct stb_err *err)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *name = a->name + strlen("options.");
	const char *value = a->val.str ? a->val.str : "";

	if (!name[0] || strlen(name) > 64 || strspn(name, letters) != strlen(name) || !plain(value)) {
		stb_err_set(err, 0, "database `%s` cannot have the option `%s`: its name or value cannot stand in an option file", database->name,
			name);
		if (a->span != STB_NONE)
			err->span = a->span + 1;
		return -1;
	}
	stb_buf_printf(out, "%s = \"%s\"\n", name, value);
	return 0;
}

bool stb_option_is_ours(const char *option)
{
	static const char *const ours[] = {"basedir", "datadir", "tmpdir", "socket", "pid_file", "log_error", "secure_file_priv",
		"skip_networking", "skip_log_bin",
		"innodb_log_group_home_dir", "log_bin", "relay_log", "bind_address", "port", "server_id", "gtid_mode", "gtid_strict_mode",
		"enforce_gtid_consistency", "read_only", "skip_slave_start", "skip_replica_start"};

	for (unsigned i = 0; i < STB_LEN(ours); i++) {
		const char *a = option, *b = ours[i];

		while (*a && (*a == *b || (*a == '-' && *b == '_')))
			a++, b++;
		if (!*a && !*b)
			return true;
	}
	return false;
}

/* Option files write a name with - or _. */
static bool of_plugin(const char *option)
{
	for (const char *p = "rpl_semi_sync_"; *p; p++, option++)
		if (*option != *p && !(*p == '_' && *option == '-'))
			return false;
	return true;
}

int stb_option_file(struct stb_buf *out, const struct stb_option_file *f, const struct stb_plan_block *database, struct stb_err *err)
{
	stb_buf_adds(out, "[mysqld]\n");
	for (uint32_t i = 0; i < database->n_attrs; i++)
		if (strncmp(database->attrs[i].name, "options.", 8) == 0 && !(f->without_plugins && of_plugin(database->attrs[i].name + 8)) &&
			put_option(out, database, &database->attrs[i], err))
			return -1;
	/* Of an option that stands twice the last one holds. */
	if (stb_role_options(out, f, err))
		return -1;
	stb_buf_adds(out, stb_dialect_of(f->mariadb)->always);
	if ((f->basedir && stb_option_path(out, "basedir", f->basedir, err)) || stb_option_path(out, "datadir", f->data_dir, err) ||
		stb_option_path(out, "tmpdir", f->tmp_dir, err) || stb_option_path(out, "secure-file-priv", f->tmp_dir, err) ||
		stb_option_path(out, "socket", f->socket, err) || stb_option_path(out, "pid-file", f->pid_file, err) ||
		stb_option_path(out, "log-error", f->error_log, err))
		return -1;
	return 0;
}

/* --- error log ----------------------------------------------------------------------------------------------------------------------- */

/* Skips "2026-11-30 10:41:00 0 " and MySQL's "2026-11-30T10:41:00.123456Z 0 ". */
static const char *skip_stamp(const char *line)
{
	const char *bracket = strchr(line, '[');

	return isdigit((unsigned char)line[0]) && bracket && bracket - line < 48 ? bracket : line;
}

enum { LOG_ERRORS, LOG_WARNINGS };

/*
 * Lines without a level are words of a crash or of the loader; the routine ones begin with "Version:". What follows every failure says nothing of
 * this one: "[ERROR] Aborting", MySQL's "[ERROR] [MY-010119] [Server] Aborting" and its words of the data directory that it leaves.
 */
static bool matters(const char *line, int level)
{
	if (level == LOG_ERRORS)
		return strstr(line, "[ERROR]") && !strstr(line, "] Aborting") && !strstr(line, "] The designated data directory");
	return !strstr(line, "[Note]") && !strstr(line, "[System]") && !strstr(line, "[ERROR]") && strncmp(line, "Version:", 8) != 0;
}

/* Joins lines with "; ": the first errors (the cause comes first), or the last warnings. Returns how many. */
static uint32_t join_lines(char *text, int level, char *out, size_t size)
{
	const char *picked[LOG_TAIL_LINES];
	uint32_t n = 0;
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!line[0] || !matters(line, level))
			continue;
		if (n == LOG_TAIL_LINES && level == LOG_ERRORS)
			break;
		if (n == LOG_TAIL_LINES)
			memmove(picked, picked + 1, sizeof(picked) - sizeof(picked[0]));
		picked[n < LOG_TAIL_LINES ? n++ : n - 1] = skip_stamp(line);
	}
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? "; " : "", picked[i]);
	return n;
}

void stb_log_tail(const char *path, char *out, size_t size)
{
	char *text = stb_xcalloc(2, LOG_TAIL_BYTES + 1), *copy = text + LOG_TAIL_BYTES + 1;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = 0;

	out[0] = '\0';
	if (fd >= 0) {
		if (lseek(fd, -(off_t)LOG_TAIL_BYTES, SEEK_END) < 0)
			(void)lseek(fd, 0, SEEK_SET);
		n = read(fd, text, LOG_TAIL_BYTES);
		close(fd);
	}
	for (ssize_t i = 0; i < n; i++) /* one line of text, whatever the log holds */
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
			text[i] = ' ';
	memcpy(copy, text, LOG_TAIL_BYTES + 1);
	if (n > 0 && join_lines(copy, LOG_ERRORS, out, size) == 0)
		(void)join_lines(text, LOG_WARNINGS, out, size);
	free(text);
}
