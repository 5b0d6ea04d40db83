/* test_journal.c - what a journal tells after a kill: leftovers in order, a torn last line, damage in the middle, marks that are none. */
#include "runtime/exec/journal.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define START "{\"ev\":\"start\",\"mark\":\"0123456789ab\",\"pid\":42,\"pid_start\":7}\n"

static char *file_with(const char *text)
{
	char *path = strdup("/tmp/stb-journal-XXXXXX");
	const int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static int read_text(const char *text, struct stb_journal_story *s, struct stb_err *err)
{
	char *path = file_with(text);
	int rc;

	stb_err_clear(err);
	rc = stb_journal_read(s, path, NULL, NULL, err);
	unlink(path);
	free(path);
	return rc;
}

Test(journal, what_is_written_is_read)
{
	char *path = file_with("");
	struct stb_journal j;
	struct stb_journal_story s;
	struct stb_err err;

	unlink(path);
	stb_err_clear(&err);
	cr_assert_eq(stb_journal_open(&j, path, true, &err), 0);
	stb_journal_add(&j, json_pack("{s:s,s:s,s:i,s:i}", "ev", "start", "mark", "0123456789ab", "pid", 42, "pid_start", 7));
	stb_journal_add(&j, json_pack("{s:s,s:s,s:s}", "ev", "made", "kind", "dir", "object", "/var/tmp/a \"b\"\nc"));
	stb_journal_close(&j);
	cr_assert_not(j.err.set);
	cr_assert_eq(stb_journal_open(&j, path, true, &err), -1, "an existing journal is not taken over");
	cr_assert_eq(stb_journal_read(&s, path, NULL, NULL, &err), 0);
	cr_assert_eq(s.n_sessions, 1u);
	cr_assert_str_eq(s.marks[0], "0123456789ab");
	cr_assert_eq(s.pid, 42);
	cr_assert_eq(s.pid_start, 7u);
	cr_assert_eq(s.left.n, 1u);
	cr_assert_str_eq(s.left.items[0].object, "/var/tmp/a \"b\"\nc");
	cr_assert_not(s.finished);
	stb_journal_story_fini(&s);
	unlink(path);
	free(path);
}

Test(journal, leftovers_are_what_was_made_and_did_not_go)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text(START "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/a\"}\n"
				     "{\"ev\":\"made\",\"kind\":\"mount\",\"object\":\"/a\"}\n"
				     "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/b\"}\n"
				     "{\"ev\":\"gone\",\"kind\":\"dir\",\"object\":\"/a\"}\n"
				     "{\"ev\":\"gone\",\"kind\":\"dir\",\"object\":\"/never\"}\n",
			     &s, &err),
		0);
	cr_assert_eq(s.left.n, 2u);
	cr_assert_str_eq(s.left.items[0].kind, "mount");
	cr_assert_str_eq(s.left.items[1].object, "/b");
	stb_journal_story_fini(&s);
}

Test(journal, a_torn_last_line_loses_itself_alone)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text(START "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/a\"}\n{\"ev\":\"gone\",\"ki", &s, &err), 0);
	cr_assert_eq(s.n_torn, 1u);
	cr_assert_eq(s.left.n, 1u);
	cr_assert_eq(s.n_records, 2u);
	cr_assert_eq(s.good_bytes, strlen(START "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/a\"}\n"));
	stb_journal_story_fini(&s);
}

Test(journal, a_last_line_without_its_end_is_torn_even_if_it_parses)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text(START "{\"ev\":\"finish\",\"exit\":0}", &s, &err), 0);
	cr_assert_eq(s.n_torn, 1u);
	cr_assert_not(s.finished);
	stb_journal_story_fini(&s);
}

Test(journal, damage_in_the_middle_is_an_error)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text(START "garbage\n{\"ev\":\"finish\",\"exit\":0}\n", &s, &err), -1);
	cr_assert_not_null(strstr(err.what, "line 2"));
}

Test(journal, no_mark_but_a_real_one_is_taken)
{
	static const char *const bad[] = { "", "0123456789a", "0123456789abc", "0123456789aB", "../../../etc" };

	for (size_t i = 0; i < STB_LEN(bad); i++) {
		struct stb_journal_story s;
		struct stb_err err;
		char text[200];

		snprintf(text, sizeof text, "{\"ev\":\"start\",\"mark\":\"%s\",\"pid\":1}\n", bad[i]);
		cr_assert_eq(read_text(text, &s, &err), 0);
		cr_assert_eq(s.n_sessions, 0u, "`%s`", bad[i]);
		stb_journal_story_fini(&s);
	}
}

Test(journal, records_of_the_wrong_shape_are_skipped)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text("{}\n{\"ev\":3}\n{\"ev\":\"made\"}\n{\"ev\":\"made\",\"kind\":1,\"object\":[]}\n", &s, &err), 0);
	cr_assert_eq(s.left.n, 0u);
	cr_assert_eq(s.n_sessions, 0u);
	stb_journal_story_fini(&s);
}

Test(journal, what_is_no_file_is_refused)
{
	struct stb_journal_story s;
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_journal_read(&s, "/dev/zero", NULL, NULL, &err), -1);
	stb_err_clear(&err);
	cr_assert_eq(stb_journal_read(&s, "/tmp", NULL, NULL, &err), -1);
	stb_err_clear(&err);
	cr_assert_eq(stb_journal_read(&s, "/tmp/stb-there-is-none/journal.jsonl", NULL, NULL, &err), -1);
}

Test(journal, start_of_a_process_tells_it_from_another)
{
	cr_assert_gt(stb_process_start(getpid()), 0u);
	cr_assert_eq(stb_process_start(getpid()), stb_process_start(getpid()));
	cr_assert_eq(stb_process_start(0), 0u);
}

Test(journal, a_process_that_nobody_has_waited_for_is_not_the_run)
{
	struct stb_journal_story s = { .same_boot = true };
	siginfo_t info;
	int hold[2];
	char c;

	cr_assert_eq(pipe(hold), 0);
	s.pid = fork();
	cr_assert(s.pid >= 0);
	if (!s.pid) {
		close(hold[1]);
		_exit(read(hold[0], &c, 1) < 0);
	}
	s.pid_start = stb_process_start(s.pid);
	const bool lived = stb_journal_running(&s);

	close(hold[1]);
	close(hold[0]);
	cr_expect_eq(waitid(P_PID, (id_t)s.pid, &info, WEXITED | WNOWAIT), 0); /* it has ended and is still there */
	cr_expect_eq(kill(s.pid, 0), 0);
	cr_expect_eq(stb_process_start(s.pid), 0u);
	cr_expect_not(stb_journal_running(&s));
	cr_expect_eq(waitpid(s.pid, NULL, 0), s.pid);
	cr_expect(lived);
}

Test(journal, each_session_has_its_mark_and_its_leftovers)
{
	struct stb_journal_story s;
	struct stb_err err;

	cr_assert_eq(read_text(START "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/a\"}\n{\"ev\":\"finish\",\"exit\":5}\n"
				     "{\"ev\":\"start\",\"mark\":\"ba9876543210\",\"pid\":43,\"pid_start\":8,\"boot\":\"another\"}\n"
				     "{\"ev\":\"made\",\"kind\":\"dir\",\"object\":\"/b\"}\n",
			     &s, &err),
		0);
	cr_assert_eq(s.n_sessions, 2u);
	cr_assert_eq(s.left.items[0].session, 0u);
	cr_assert_eq(s.left.items[1].session, 1u);
	cr_assert_str_eq(s.marks[1], "ba9876543210");
	cr_assert_eq(s.pid, 43);
	cr_assert_not(s.finished, "the finish is that of the first session");
	cr_assert_not(s.same_boot);
	stb_journal_story_fini(&s);
}

Test(journal, a_process_of_another_start_of_the_machine_is_not_the_run)
{
	struct stb_journal_story s = { .pid = getpid(), .pid_start = stb_process_start(getpid()), .same_boot = true };

	cr_assert(stb_journal_running(&s));
	s.same_boot = false;
	cr_assert_not(stb_journal_running(&s));
	s.same_boot = true;
	s.pid_start++;
	cr_assert_not(stb_journal_running(&s), "the number belongs to another process now");
	s.pid_start--;
	s.finished = true;
	cr_assert_not(stb_journal_running(&s));
}

Test(journal, is_written_by_one_at_a_time)
{
	char *path = file_with(START);
	struct stb_journal a, b;
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_journal_open(&a, path, false, &err), 0);
	cr_assert_eq(stb_journal_open(&b, path, false, &err), -1);
	cr_assert_not_null(strstr(err.what, "another process"));
	stb_journal_close(&a);
	cr_assert_eq(stb_journal_open(&b, path, false, &err), 0);
	stb_journal_close(&b);
	unlink(path);
	free(path);
}
