/*
 * undo.c - what a killed run leaves of its private servers: a process (rarely: it dies with its parent) and, where the volume's path was too
 * long for a socket, a directory for that. Both are told by the run's mark; what does not carry it is left alone.
 */
#include "runtime/db/db.h"

#include "runtime/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TERM_STEPS 300 /* of 0.1 s: a clean shutdown */
#define KILL_STEPS 100

/* Whether the process has the mark in its command line, where its option file's path stands. */
static bool process_has_mark(pid_t pid, const char *mark)
{
	char path[40], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && memmem(text, (size_t)n, mark, strlen(mark));
}

static bool end_within(pid_t pid, const char *mark, int signal, int steps)
{
	const struct timespec step = { 0, 100000000 };

	kill(pid, signal);
	for (int i = 0; i < steps && process_has_mark(pid, mark); i++)
		nanosleep(&step, NULL);
	return !process_has_mark(pid, mark);
}

/*
 * A process that has given its memory back has no command line any more, and so no mark: a server of ours that is about to be gone. Waits for
 * that. false: it is something else.
 */
static bool was_ending(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 50000000 };
	char path[64], c;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	for (int i = 0; i < 100; i++) {
		const int fd = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t n = fd < 0 ? -1 : read(fd, &c, 1);

		if (fd >= 0)
			close(fd);
		if (n < 0)
			return true;
		if (n > 0)
			return false;
		if (!stb_process_start(pid))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

static enum stb_undo undo_pid(const char *mark, const char *object, struct stb_err *err)
{
	char *end;
	const long pid = strtol(object, &end, 10);

	if (end == object || *end || pid <= 1 || pid > INT32_MAX)
		return (enum stb_undo)stb_err_set(err, 0, "`%s` is no process number", object);
	if (!process_has_mark((pid_t)pid, mark)) /* it has ended, or the number belongs to another by now */
		return was_ending((pid_t)pid) ? STB_UNDO_GONE : STB_UNDO_FOREIGN;
	if (end_within((pid_t)pid, mark, SIGTERM, TERM_STEPS) ||
		end_within((pid_t)pid, mark, SIGKILL, KILL_STEPS))
		return STB_UNDONE;
	stb_err_set(err, 0, "database server %ld does not end", pid);
	stb_err_remedy(err, "see what it waits for: cat /proc/%ld/stack", pid);
	return STB_UNDO_FAILED;
}

/* ".../stb-MARK-XXXXXXXX" with eight hex digits: see stb_server_place_socket(). */
static bool is_socket_dir(const char *mark, const char *object)
{
	const char *name = strrchr(object, '/');
	const size_t n = strlen(mark);

	return *object == '/' && name && !strncmp(name, "/stb-", 5) && !strncmp(name + 5, mark, n) && name[5 + n] == '-' &&
		strlen(name + 6 + n) == 8 && strspn(name + 6 + n, "0123456789abcdef") == 8;
}

static enum stb_undo undo_socket_dir(const char *mark, const char *object, struct stb_err *err)
{
	enum stb_undo rc = STB_UNDONE;
	int fd;

	if (!is_socket_dir(mark, object)) {
		stb_err_set(err, 0, "`%s` is no socket directory of run `%s`: it was left alone", object, mark);
		stb_err_remedy(err, "if it is a leftover, remove it by hand");
		return STB_UNDO_FAILED;
	}
	fd = open(object, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? STB_UNDO_GONE : (enum stb_undo)stb_err_set(err, errno, "cannot open `%s`: it was left alone", object);
	(void)unlinkat(fd, "mysql.sock", 0);
	(void)unlinkat(fd, "mysql.sock.lock", 0);
	if (rmdir(object) && errno != ENOENT)
		rc = (enum stb_undo)stb_err_set(err, errno, "cannot remove `%s`", object);
	close(fd);
	return rc;
}

enum stb_undo stb_mysqld_undo(const char *run_mark, const char *kind, const char *object, struct stb_err *err)
{
	if (!*run_mark)
		return (enum stb_undo)stb_err_set(err, 0, "a run without a mark has nothing to undo");
	if (!strcmp(kind, "pid"))
		return undo_pid(run_mark, object, err);
	if (!strcmp(kind, "socket"))
		return undo_socket_dir(run_mark, object, err);
	return (enum stb_undo)stb_err_set(err, 0, "cannot undo `%s`: there is no kind `%s`", object, kind);
}
