/*
 * spawn.c - starts the server as a child that cannot outlive us, keeps nothing of ours and is nobody's superuser.
 *
 *   fork -> new session (Ctrl-C is ours alone) -> signals as at birth -> groups, gid, uid -> die with the parent -> files -> exec
 *
 * The order matters twice: a change of uid clears the parent-death signal, so that comes after it; and the parent may have died before, so
 * getppid() is asked after it. Whatever fails in the child comes back through a close-on-exec pipe as stage and errno. Between fork and
 * exec only system calls are made: other threads may have held any lock.
 */
#include "runtime/db/server.h"
#include "runtime/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum stage { STAGE_SESSION, STAGE_GROUPS, STAGE_GID, STAGE_UID, STAGE_DEATH_SIGNAL, STAGE_FILES, STAGE_EXEC };

struct failure {
	enum stage stage;
	int code;
};

int stb_server_user(struct stb_server_user *out, struct stb_err *err)
{
	static const char *const names[] = {"mysql", "nobody"};

	*out = (struct stb_server_user){.uid = geteuid(), .gid = getegid(), .name = "you"};
	if (geteuid() != 0)
		return 0;
	for (unsigned i = 0; i < STB_LEN(names); i++) {
		const struct passwd *pw = getpwnam(names[i]);

		if (!pw || pw->pw_uid == 0)
			continue;
		out->drop = true;
		out->uid = pw->pw_uid;
		out->gid = pw->pw_gid;
		snprintf(out->name, sizeof(out->name), "%s", names[i]);
		return 0;
	}
	stb_err_set(err, 0, "no user to run the database server as: it does not run as root, and neither `mysql` nor `nobody` exists");
	stb_err_remedy(err, "create a user `mysql` (useradd --system mysql), or run stb as an ordinary user");
	return -1;
}

/* --- the child: system calls only ---------------------------------------------------------------------------------------------------- */

STB_NORETURN static void give_up(int report_fd, enum stage stage)
{
	const struct failure f = {.stage = stage, .code = errno};
	const ssize_t n = write(report_fd, &f, sizeof(f));

	_exit(n == (ssize_t)sizeof(f) ? 126 : 127);
}

static void reset_signals(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &sa, NULL); /* fails for those that cannot be changed */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

STB_NORETURN static void child(const char *path, char *const argv[], const struct stb_server_user *user, int stdin_fd, int out_fd,
	int report_fd, pid_t parent)
{
	char env_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char env_locale[] = "LC_ALL=C";
	char *const env[] = {env_path, env_locale, NULL};

	report_fd = fcntl(report_fd, F_DUPFD_CLOEXEC, 3);
	if (setsid() < 0)
		give_up(report_fd, STAGE_SESSION);
	reset_signals();
	umask(077);
	if (user->drop) {
		if (setgroups(1, &user->gid))
			give_up(report_fd, STAGE_GROUPS);
		if (setresgid(user->gid, user->gid, user->gid))
			give_up(report_fd, STAGE_GID);
		if (setresuid(user->uid, user->uid, user->uid))
			give_up(report_fd, STAGE_UID);
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		give_up(report_fd, STAGE_DEATH_SIGNAL);
	if (getppid() != parent)
		_exit(127);
	if (stdin_fd < 0)
		stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Out of the way of 0, 1 and 2, should the caller have had those closed. */
	stdin_fd = fcntl(stdin_fd, F_DUPFD_CLOEXEC, 3);
	out_fd = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
	if (stdin_fd < 0 || dup2(stdin_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0)
		give_up(report_fd, STAGE_FILES);
	/* All of ours are close-on-exec anyway; a library's need not be. */
	syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
	execve(path, argv, env);
	give_up(report_fd, STAGE_EXEC);
}

/* --- the parent ---------------------------------------------------------------------------------------------------------------------- */

static int explain(const struct failure *f, const char *path, const struct stb_server_user *user, struct stb_err *err)
{
	switch (f->stage) {
	case STAGE_SESSION:
	case STAGE_DEATH_SIGNAL:
	case STAGE_FILES:
		return stb_err_set(err, f->code, "cannot start `%s`: its process cannot be set up", path);
	case STAGE_GROUPS:
	case STAGE_GID:
	case STAGE_UID:
		stb_err_set(err, f->code, "cannot start `%s`: its process cannot become user `%s`", path, user->name);
		stb_err_remedy(err, "run stb as an ordinary user, or give it the capabilities SETUID and SETGID");
		return -1;
	case STAGE_EXEC:
		return stb_err_set(err, f->code, "cannot start `%s`", path);
	}
	return -1;
}

int stb_spawn(pid_t *pid, const char *path, char *const argv[], const struct stb_server_user *user, int stdin_fd, int out_fd,
	struct stb_err *err)
{
	const pid_t parent = getpid();
	struct failure f;
	int report[2];
	ssize_t n;

	if (pipe2(report, O_CLOEXEC))
		return stb_err_set(err, errno, "cannot start `%s`: no pipe", path);
	*pid = fork();
	if (*pid == 0)
		child(path, argv, user, stdin_fd, out_fd, report[1], parent);
	const int code = errno;

	close(report[1]);
	if (*pid < 0) {
		close(report[0]);
		return stb_err_set(err, code, "cannot start `%s`: no process", path);
	}
	do
		n = read(report[0], &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n != (ssize_t)sizeof(f))
		return 0; /* closed by exec */
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	return explain(&f, path, user, err);
}

int stb_wait_child(pid_t pid, uint64_t timeout_ns, int *status)
{
	const uint64_t until_ns = stb_clock_ns() + timeout_ns;
	uint64_t pause_ns = 1000000;

	for (;;) {
		const pid_t r = waitpid(pid, status, WNOHANG);

		if (r == pid)
			return 0;
		if (r < 0 && errno != EINTR) {
			*status = 0; /* somebody else reaped it */
			return 0;
		}
		if (stb_clock_ns() >= until_ns)
			return 1;
		(void)stb_clock_sleep_until(stb_clock_ns() + pause_ns);
		pause_ns = STB_MIN(pause_ns * 2, 20 * 1000000ull);
	}
}

void stb_status_words(int status, char *out, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(out, size, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(out, size, "exited with status %d", WEXITSTATUS(status));
}
