/*
 * mysqld_fail.c - what is said of a private server that failed: how it ended, the lines of its log that matter, where the log is kept.
 */
#include "runtime/db/dialect.h"
#include "runtime/db/mysqld.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define FULL_BYTES (1024 * 1024) /* of free space, or less: no server can work */

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
int stb_mysqld_fail(struct stb_mysqld *m, struct stb_err *err, const char *what)
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

int stb_mysqld_fail_dead(struct stb_mysqld *m, struct stb_err *err, const char *when)
{
	char words[96], what[160];

	stb_status_words(m->status, words, sizeof(words));
	snprintf(what, sizeof(what), "the server %s %s", words, when);
	/* the others it catches itself, and says in its log what it was doing */
	if (WIFSIGNALED(m->status) && (WTERMSIG(m->status) == SIGKILL || WTERMSIG(m->status) == SIGTERM || WTERMSIG(m->status) == SIGXFSZ))
		return fail_killed(m, err, what);
	return stb_mysqld_fail(m, err, what);
}
