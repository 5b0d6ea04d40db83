/*
 * main.c - a map of the program.
 *
 *   argv --args.c--> struct stb_args --commands.c--> one of
 *
 *     stb check FILE...   cmd_check.c    compiler/compile.h -> compiler/diag.h
 *     stb plan FILE       cmd_plan.c     compiler/compile.h -> runtime/plan/plan.h
 *     stb run FILE        cmd_run.c      compile -> plan -> runtime/exec/exec.h -> results -> report
 *     stb report FILE     cmd_report.c   compile -> plan; recorded results -> runtime/report/report.h
 *     stb clean DIR       cmd_run.c      runtime/exec/exec.h: the journal of a run
 *     stb explain TOPIC   cmd_check.c    compiler/schema.h
 *     stb version         version.c
 *
 * Text goes one way: spec -> tree -> plan -> results -> report. What a command prints on standard output counts: when it cannot be written
 * (closed, full, a reader that went away), that is an error of its own.
 */
#include "compiler/driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A closed standard stream would be taken by the first file that is opened, and output meant for people would go into it. */
static void guard_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* the lowest free number is this one; read-only on standard output, so that writing there fails and is reported */
		if (open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0)
			_exit(STB_EXIT_ENVIRONMENT);
	}
}

static int finish_output(int code)
{
	const int failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return code;
	fprintf(stderr, "stb: error: cannot write to standard output%s%s\n"
		"  what to do: send the output to a place that takes it\n", errno ? ": " : "", errno ? strerror(errno) : "");
	return code == STB_EXIT_OK ? STB_EXIT_ENVIRONMENT : code;
}

int main(int argc, char **argv)
{
	struct stb_args args;
	int code;

	guard_standard_streams();
	setlocale(LC_CTYPE, "C.UTF-8"); /* numbers stay with dots whatever the user's locale */
	signal(SIGPIPE, SIG_IGN);       /* a reader that went away is an error message, not a death without clean-up */
	code = stb_args_parse(&args, argc, argv, stderr);
	if (!code && args.help)
		stb_help_command(args.command, stdout);
	else if (!code)
		code = args.command->run(&args);
	stb_args_fini(&args);
	return finish_output(code);
}
