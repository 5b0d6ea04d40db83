/*
 * find.c - which server binary: mariadbd or mysqld in PATH, then where distributions keep programs that are in nobody's PATH.
 *
 * The flavour is what the binary says of itself, not its name: Debian's mysqld is a link to mariadbd. When a version is asked for, every
 * binary found is asked, so that two installed servers can be told apart by the spec.
 */
#include "runtime/base/clock.h"
#include "runtime/db/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_TIMEOUT_NS (10 * STB_NS_PER_S)

static const char *const names[] = {"mariadbd", "mysqld"};
static const char *const fixed_dirs[] = {"/usr/sbin", "/usr/local/sbin", "/usr/libexec"};

bool stb_version_matches(const char *version, const char *prefix)
{
	const size_t len = strlen(prefix);

	if (strncmp(version, prefix, len) != 0)
		return false;
	return len == 0 || !isdigit((unsigned char)prefix[len - 1]) || !isdigit((unsigned char)version[len]);
}

/* Reads until the end, the time or the room is over. */
static size_t read_all(int fd, char *out, size_t size)
{
	const uint64_t until_ns = stb_clock_ns() + ANSWER_TIMEOUT_NS;
	size_t n = 0;

	while (n + 1 < size) {
		const uint64_t now = stb_clock_ns();
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (now >= until_ns)
			break;
		const int ready = poll(&p, 1, (int)((until_ns - now) / 1000000) + 1);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			break;
		const ssize_t got = read(fd, out + n, size - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	out[n] = '\0';
	return n;
}

/* "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)" */
static bool parse_version(struct stb_server_binary *b, const char *line)
{
	const char *at = strstr(line, "Ver ");

	if (!at)
		return false;
	at += 4;
	const size_t len = strcspn(at, " \t\r\n");

	if (len == 0 || len >= sizeof(b->version) || !isdigit((unsigned char)*at))
		return false;
	memcpy(b->version, at, len);
	b->version[len] = '\0';
	b->mariadb = strstr(line, "MariaDB") != NULL;
	return true;
}

bool stb_server_ask(const char *path, const struct stb_server_user *user, const char *const *arguments, char *out, size_t size)
{
	char *argv[6] = {(char *)(uintptr_t)path, (char[]){"--no-defaults"}};
	struct stb_err err = {0};
	int fd[2], status;
	pid_t pid;

	for (unsigned i = 0; arguments[i]; i++) {
		STB_ASSERT(i + 3 < STB_LEN(argv));
		argv[i + 2] = (char *)(uintptr_t)arguments[i]; /* exec changes none of them */
	}

	if (pipe2(fd, O_CLOEXEC))
		return false;
	const int r = stb_spawn(&pid, path, argv, user, -1, fd[1], &err);

	close(fd[1]);
	if (r == 0)
		read_all(fd[0], out, size);
	close(fd[0]);
	if (r)
		return false;
	if (stb_wait_child(pid, ANSWER_TIMEOUT_NS, &status)) {
		kill(pid, SIGKILL);
		stb_wait_child(pid, ANSWER_TIMEOUT_NS, &status);
	}
	return true;
}

/* As ourselves: nothing of ours is at stake, and the binary is one that we could start from a shell. */
static bool ask_version(struct stb_server_binary *b)
{
	const struct stb_server_user self = {.drop = false};
	static const char *const version[] = {"--version", NULL};
	char text[512];

	return stb_server_ask(b->path, &self, version, text, sizeof(text)) && parse_version(b, text);
}

struct search {
	const char *prefix;
	struct stb_server_binary *out;
	struct stb_buf looked; /* directories, for the message */
	struct stb_buf found;  /* binaries of other versions */
	dev_t dev[16];         /* binaries that were asked, to ask none twice */
	ino_t ino[16];
	uint32_t n_asked;
};

static bool asked_before(struct search *s, const struct stat *st)
{
	for (uint32_t i = 0; i < s->n_asked; i++)
		if (s->dev[i] == st->st_dev && s->ino[i] == st->st_ino)
			return true;
	if (s->n_asked < STB_LEN(s->dev)) {
		s->dev[s->n_asked] = st->st_dev;
		s->ino[s->n_asked++] = st->st_ino;
	}
	return false;
}

/* true: s->out is the one. */
static bool try_dir(struct search *s, const char *dir, size_t dir_len)
{
	/* A relative entry of PATH would run what lies in the current directory. */
	if (dir_len == 0 || dir[0] != '/' || dir_len > PATH_MAX - 16)
		return false;
	stb_buf_printf(&s->looked, "%s%.*s", s->looked.len ? ", " : "", (int)dir_len, dir);
	for (unsigned i = 0; i < STB_LEN(names); i++) {
		struct stat st;

		snprintf(s->out->path, sizeof(s->out->path), "%.*s/%s", (int)dir_len, dir, names[i]);
		if (stat(s->out->path, &st) || !S_ISREG(st.st_mode) || access(s->out->path, X_OK) || asked_before(s, &st))
			continue;
		if (!ask_version(s->out)) {
			stb_buf_printf(&s->found, "%s`%s` (tells no version)", s->found.len ? ", " : "", s->out->path);
			continue;
		}
		if (!s->prefix || stb_version_matches(s->out->version, s->prefix))
			return true;
		stb_buf_printf(&s->found, "%s`%s` (%s)", s->found.len ? ", " : "", s->out->path, s->out->version);
	}
	return false;
}

static bool try_all(struct search *s)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : ""; *at;) {
		const size_t len = strcspn(at, ":");

		if (try_dir(s, at, len))
			return true;
		at += len + (at[len] == ':');
	}
	for (unsigned i = 0; i < STB_LEN(fixed_dirs); i++)
		if (try_dir(s, fixed_dirs[i], strlen(fixed_dirs[i])))
			return true;
	return false;
}

int stb_server_find(struct stb_server_binary *out, const char *prefix, struct stb_err *err)
{
	struct search s = {.prefix = prefix, .out = out};
	int r = 0;

	stb_buf_init(&s.looked);
	stb_buf_init(&s.found);
	if (!try_all(&s)) {
		if (s.found.len && prefix)
			r = stb_err_set(err, 0, "no database server of version `%s` was found, only %s", prefix, stb_buf_str(&s.found));
		else if (s.found.len)
			r = stb_err_set(err, 0, "no database server can be used, only found %s", stb_buf_str(&s.found));
		else
			r = stb_err_set(err, 0, "no database server was found: neither mariadbd nor mysqld lies in %s", stb_buf_str(&s.looked));
		if (s.found.len && prefix)
			stb_err_remedy(err, "install that version and put its directory into PATH, or change `version`");
		else
			stb_err_remedy(err, "install mariadb-server-core (apt-get install mariadb-server-core), or put the server's directory into PATH");
	}
	stb_buf_fini(&s.looked);
	stb_buf_fini(&s.found);
	return r;
}

/* dir/mariadb_system_tables.sql, or mysql_system_tables.sql before 11. */
static bool has_system_tables(const char *dir)
{
	static const char *const files[] = {"mariadb_system_tables.sql", "mysql_system_tables.sql"};
	char path[PATH_MAX];

	for (unsigned i = 0; i < STB_LEN(files); i++)
		if (snprintf(path, sizeof(path), "%s/%s", dir, files[i]) < (int)sizeof(path) && access(path, R_OK) == 0)
			return true;
	return false;
}

int stb_server_find_sql(const struct stb_server_binary *b, char *out, char *basedir, struct stb_err *err)
{
	static const char *const below[] = {"share/mysql", "share/mariadb", "share"};

	/* /opt/mariadb/bin/mariadbd -> /opt/mariadb */
	if (!realpath(b->path, basedir))
		return stb_err_set(err, errno, "cannot resolve `%s`", b->path);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(basedir, '/');

		if (slash)
			*slash = '\0';
	}
	for (unsigned i = 0; i < STB_LEN(below); i++)
		if (snprintf(out, PATH_MAX, "%s/%s", basedir, below[i]) < PATH_MAX && has_system_tables(out))
			return 0;
	stb_err_set(err, 0, "cannot initialise a data directory for `%s`: its system tables (mysql_system_tables.sql) lie in none of `%s/share/mysql`, `%s/share/mariadb`, `%s/share`",
		b->path, basedir, basedir, basedir);
	stb_err_remedy(err, "install mariadb-server-core completely");
	return -1;
}
