/*
 * main.c - a map of the program.
 *
 *   argv --args.c--> struct stb_args --commands.c--> one of
 *
 *     stb check FILE...   cmd_check.c    what is wrong with a spec
 *     stb fmt FILE...     cmd_fmt.c      the canonical form
 *     stb plan FILE       cmd_plan.c     what a run would do
 *     stb diff OLD NEW    cmd_diff.c     what a change means (diff_print.c; git.c: a side from a revision)
 *     stb run FILE        cmd_run.c      carry it out (only.c: --only)
 *     stb resume DIR      cmd_run.c      go on where a run stopped
 *     stb report FILE     cmd_report.c   tables and claims from recorded results
 *     stb import TOOL ... cmd_import.c   a spec from another tool's words
 *     stb compare OLD NEW cmd_compare.c  two runs, with significance (compare_print.c)
 *     stb clean DIR       cmd_run.c      undo what a killed run left
 *     stb export F FILE   cmd_export.c   the same work for another tool
 *     stb explain TOPIC   cmd_explain.c  the reference (explain_cell.c: of a cell; reference.c, reference_md.c, reference_man.c, completion.c,
 *                                        dictionary.c: --format)
 *     stb topology        cmd_topology.c what this machine has, for pins
 *     stb doctor [FILE]   cmd_doctor.c   what is needed and lacking here
 *     stb version         version.c
 *
 * The compiler, spec to plan:
 *
 *   source.c -> scan.c, filter.c, ../grammar/ -> ast.c -> resolve.c -> check.c -> profile.c -> expand.c -> rules.c -> lower.c
 *   compile.c is their order
 *
 *   parse       parse.c (entry), scan.c and scan_quantity.c (tokens), filter.c (brackets), secret.c (hides secrets), slip.c (common slips), ast.c and ast_build.c
 *   names       resolve.c (includes, blocks, lets, params), like.c, profile.c
 *   values      setting.c (one attribute), fold.c (as its row wants it), eval.c, names.c and distribution.c (expressions), num.c (exact, with dimensions),
 *               options.c
 *   cells       axes.c, selector.c, effective.c (what is in force), expand.c, chain.c, expand_tell.c, identity.c, intern.c
 *   the form    fmt.c (statements), fmt_value.c, fmt_comment.c
 *   a change    diff.c (of two plans), diff_match.c (what belongs together), diff_facts.c
 *   imports     import.c (the spec writer and the account), import_fio.c (fio job files), import_fio_file.c (their
 *               lines), import_fio_line.c (command lines), import_fio_value.c (values), import_fio_hint.c (their words in messages), import_fio_facts.c, import_fio_places.c,
 *               import_fio_job.c, import_fio_engine.c and import_fio_cpus.c (a job); import_shell.c (words of a command line), import_sysbench.c, import_sysbench_line.c (its
 *               commands), import_sysbench_option.c, import_sysbench_script.c, import_sysbench_database.c and
 *               import_sysbench_workload.c
 *   judgement   check.c (each block), pins.c (pins by the pin rules), rules.c, rules_io.c, rules_rate.c, rules_oltp.c, rules_mix.c,
 *               rules_volume.c, rules_place.c (attributes against each other), rules_unused.c (blocks of no cell), cost.c
 *   the plan    lower.c, lower_copies.c, lower_matrix.c, lower_report.c (measured.c: which metrics a cell can have), lower_later.c (what a run does
 *               not carry out)
 *   exports     export.c (documents and what they cannot say), export_fio.c, export_kubernetes.c, export_libvirt.c, export_sysbench.c
 *   tables      schema.c (from schema.def), diag.c and diag_print.c, diag_sarif.c (codes.def), explain.c and reference.c (the reference)
 *
 * The runtime, plan to results to tables:
 *
 *   runtime/base      memory, text, units, random streams, histograms       runtime/plan     the plan: printed, verified, loaded, walked
 *   runtime/exec      the walk: preflight, children, journal, clean-up      runtime/host     what this machine is
 *   runtime/storage   volumes: directories, tmpfs, loop devices             runtime/io       engines and the measured loop
 *   runtime/db        private servers and OLTP                              runtime/result   what was measured, in memory and in files
 *   runtime/report    tables and claims
 *
 * What a command prints on standard output counts: when it cannot be written (closed, full), that is an error of its own. A reader that
 * went away (`stb plan x.stb | head`) has what it wanted: nothing is said, and the exit code is that of the command.
 */
#include "compiler/driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
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

/* Whether nobody will ever read what is written to standard output; the errno of a failed write may be long gone. */
static bool reader_went_away(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

static int finish_output(int code)
{
	const int failed = ferror(stdout);

	errno = 0;
	if ((!fflush(stdout) && !failed) || reader_went_away())
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
	signal(SIGPIPE, SIG_IGN);       /* a reader that went away is no death without clean-up */
	code = stb_args_parse(&args, argc, argv, stderr);
	if (!code && args.help)
		stb_help_command(args.command, stdout);
	else if (!code)
		code = args.command->run(&args);
	stb_args_fini(&args);
	return finish_output(code);
}
