/* test_db_undo.c - whose a process is that a journal names: gone, about to be gone, or another's. */
#include "runtime/db/db.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static enum stb_undo undo(pid_t pid)
{
	struct stb_err err;
	char text[24];

	stb_err_clear(&err);
	snprintf(text, sizeof(text), "%d", (int)pid);
	return stb_mysqld_undo("0123456789abcdef0123456789abcdef", "pid", text, &err);
}

Test(db_undo, a_process_that_is_ending_is_not_called_foreign)
{
	const pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	cr_assert_gt(pid, 0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0); /* ended and not waited for */
	cr_expect_eq(undo(pid), STB_UNDO_GONE);
	waitpid(pid, NULL, 0);
	cr_expect_eq(undo(pid), STB_UNDO_GONE);
}

Test(db_undo, another_process_is_left_alone)
{
	const pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	cr_assert_gt(pid, 0);
	cr_expect_eq(undo(pid), STB_UNDO_FOREIGN);
	cr_expect_eq(waitpid(pid, NULL, WNOHANG), 0, "it still runs");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
