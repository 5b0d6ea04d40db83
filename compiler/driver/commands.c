/* commands.c - the table of commands and the help that is made from it. */
#include "compiler/driver/driver.h"

#include <string.h>

#define BIT(o) (1u << STB_OPT_##o)
#define SPEC (BIT(HELP) | BIT(PROFILE) | BIT(SET))

static const struct stb_command table[] = {
	{ "check", stb_cmd_check, SPEC | BIT(FORMAT) | BIT(MAX_CELLS), "FILE...", 1, UINT32_MAX, "human json sarif github", false, NULL,
		"all diagnostics of a spec",
		"Reads each FILE and prints every error, warning and note: of the spec as it stands, and under each of its\n"
		"profiles. Touches nothing: safe on a spec from anywhere. `-` is standard input.\n" },
	{ "fmt", stb_cmd_fmt, BIT(HELP) | BIT(WRITE) | BIT(IN_FORM), "FILE...", 1, UINT32_MAX, NULL, false, NULL,
		"the canonical form of a spec",
		"Prints each FILE (`-`: standard input) in the one form that a spec has: an attribute a line, in the order of the\n"
		"reference, signs aligned, comments where they were. What the spec means does not change. A file with syntax errors is\n"
		"left as it is.\n" },
	{ "plan", stb_cmd_plan, SPEC | BIT(MAX_CELLS) | BIT(FORMAT) | BIT(OUTPUT) | BIT(ONLY) | BIT(TOPOLOGY), "FILE", 1, 1, "text json", false, "FILE",
		"cells, order, cost, space and privileges of a run, without running it",
		"Prints what `stb run` would do. The same spec gives the same bytes on every machine. Touches nothing.\n"
		"With --topology, pins are judged on the machine whose topology was saved there.\n"
		"With --only: the cost, cells, groups and order of that part. The hash stays the whole plan's, and so does JSON,\n"
		"which does not go with --only.\n" },
	{ "diff", stb_cmd_diff, SPEC | BIT(MAX_CELLS) | BIT(FORMAT) | BIT(EXIT_CODE), "OLD NEW", 2, 2, "text markdown json", false, NULL,
		"what changes in meaning between two specs",
		"OLD and NEW are files, or REV:PATH of git (`stb diff HEAD~1:specs/x.stb specs/x.stb`), whose includes come from the\n"
		"same revision. Shows cells that come, go or change, what it costs before and after, and which results stay valid.\n"
		"A reformat, a moved block or a comment is no change in meaning. Touches nothing.\n" },
	{ "run", stb_cmd_run, SPEC | BIT(MAX_CELLS) | BIT(OUTPUT) | BIT(ONLY) | BIT(REUSE), "FILE", 1, 1, NULL, false, "DIR",
		"carry a spec out and report",
		"Looks at everything that is needed first, then provisions, measures, cleans up and prints the report. What was\n"
		"measured lies in DIR (stb-run-<UTC time> where none is given), which must not exist. Ctrl-C stops the\n"
		"measurement, keeps what is done and cleans up.\n"
		"With --reuse: repetitions of the same cells that another run measured, and that ended as asked, are copied with their\n"
		"histograms and series instead of measured. Refuses a run of another machine, or by another version or\n"
		"build of stb; cells whose storage or database is another one now are measured. Reports and environment.json say\n"
		"what was taken over.\n" },
	{ "resume", stb_cmd_resume, BIT(HELP), "DIR", 1, 1, NULL, false, NULL,
		"go on where a run stopped",
		"Takes away what the run in DIR left behind, provisions anew what it needs, measures what is missing, and reports. A\n"
		"repetition that was interrupted or failed (early, errors, stalled, disturbed) is measured again; what ended as asked\n"
		"stands. Refuses a run that still goes on, a changed plan.json, another version or build of stb, and a machine on\n"
		"which figures would not belong into one table (kernel, processors, memory, device, mount options, database version). Harmless\n"
		"differences are said and kept in environment.json.\n" },
	{ "report", stb_cmd_report, SPEC | BIT(RESULTS) | BIT(OUTPUT) | BIT(FORMAT) | BIT(CHECK), "FILE", 1, 1, "md csv", true, "DIR",
		"tables and claims from results",
		"Makes the reports of FILE from the results of a run, or from numbers recorded elsewhere (a CSV with the axis\n"
		"columns, metric, unit, value). Without -o the Markdown goes to standard output.\n" },
	{ "compare", stb_cmd_compare, BIT(HELP) | BIT(METRIC) | BIT(FORMAT) | BIT(GATE) | BIT(THRESHOLD), "OLD NEW", 2, 2, "text markdown json", false,
		NULL, "two runs of one suite, with significance",
		"OLD and NEW are directories of runs. Cells belong together by their ids. A change is better or worse when its 95%\n"
		"interval (of the logarithms, over repetitions, or over slots where there are three) does not hold 0; with fewer than\n"
		"three repetitions on a side there is no claim. Invalid repetitions are left out; cells of one side, what is missing of\n"
		"a mean, and differences of the machines are listed. Touches nothing.\n" },
	{ "clean", stb_cmd_clean, BIT(HELP), "DIR", 1, 1, NULL, false, NULL,
		"remove what an interrupted run left behind",
		"Reads the journal of the run in DIR, and stops, unmounts and removes what that run made and could not take away\n"
		"again. The results in DIR stay. Refuses whatever does not carry the run's mark.\n" },
	{ "import", stb_cmd_import, BIT(HELP) | BIT(OUTPUT), "TOOL WORD...", 1, UINT32_MAX, NULL, false, "FILE",
		"a spec from another tool's job file or command line",
		"stb import fio FILE: a fio job file. stb import fio -- COMMAND...: a command line of fio, with jobs or job files.\n"
		"stb import sysbench -- COMMAND...: a command line of sysbench, of 1.0 or older, with prepare, run and cleanup. A command\n"
		"line is words, or one text with a whole script; the spec has what the tool did, and says where that is not what was\n"
		"written. A password is not copied. What changes the measurement and has no counterpart is an error and a comment in\n"
		"the spec, which is written all the same; what does not change it is a warning. The spec goes to standard output.\n" },
	{ "export", stb_cmd_export, SPEC | BIT(MAX_CELLS) | BIT(CELL) | BIT(TOPOLOGY) | BIT(OUTPUT), "FORMAT FILE", 2, 2, NULL, false, "FILE",
		"the same work for another tool",
		"stb export fio FILE: a job file with the I/O of a cell.\n"
		"stb export kubernetes FILE: storage classes and claims. stb export libvirt FILE: vcpupin, numatune and guest cells of a\n"
		"server's pin, on this machine's topology or a saved one. stb export sysbench FILE: a shell script that prepares, runs and\n"
		"cleans up an oltp cell with sysbench 1.0.20. Cells that differ need a choice, --cell, where the format is\n"
		"one document. What the other tool has no word for is told and stands in the text as a comment; where it changes what\n"
		"is measured, the exit code is 1. Passwords stay references. Touches nothing.\n" },
	{ "explain", stb_cmd_explain, SPEC | BIT(MAX_CELLS) | BIT(FORMAT), "[TOPIC | CELL FILE]", 0, 2, "text markdown man bash zsh dictionary", false, NULL,
		"the reference; of a cell, where each value comes from",
		"TOPIC is a block (`workload io`), an attribute (`io.bs`), the code of a diagnostic (`E0203`), a metric (`lat_p95`),\n"
		"a view or a function. Without one it lists the topics. CELL is a prefix of a cell's id or a selector\n"
		"(`storage = disk  threads = 4`): every value of the cell in FILE with the line, override, profile, axis or param that\n"
		"it comes from. The other formats are the whole reference, the manual page, completion for a shell, and the words for\n"
		"fuzzing.\n" },
	{ "topology", stb_cmd_topology, BIT(HELP) | BIT(TOPOLOGY) | BIT(SAVE), "", 0, 0, NULL, false, NULL,
		"NUMA nodes, processors and memory of this machine",
		"Shows what pins are judged by: nodes with their memory, pCPUs and distances, and how much of it this process may\n"
		"use. A saved topology lets `stb plan` judge a pin on another machine.\n" },
	{ "doctor", stb_cmd_doctor, SPEC | BIT(MAX_CELLS) | BIT(ONLY) | BIT(CONNECT) | BIT(FORMAT), "[FILE]", 0, 1, "text json", false, NULL,
		"what a spec needs that this machine lacks",
		"Looks at what `stb run FILE` would look at before it begins, and lists all of it: engines, privileges, directories,\n"
		"tools, servers, space, CPUs and pins; exit 3 when something is lacking. Without FILE: what stb itself can use here.\n"
		"Settings that disturb measurements are notes. Touches nothing and connects nowhere, unless --connect says so.\n" },
	{ "version", stb_cmd_version, BIT(HELP), "", 0, 0, NULL, false, NULL,
		"version, engines built in and why others are not", "" },
	{ "help", stb_cmd_help, BIT(HELP), "[COMMAND]", 0, 1, NULL, false, NULL, "this list, or a command's help", "" },
};

const struct stb_command *stb_commands(size_t *n)
{
	*n = STB_LEN(table);
	return table;
}

const char *stb_command_words(const struct stb_command *c)
{
	if (c->run == stb_cmd_export)
		return "fio kubernetes libvirt sysbench";
	return c->run == stb_cmd_import ? "fio sysbench" : NULL;
}

const struct stb_command *stb_command_find(const char *name)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

void stb_help(FILE *out)
{
	fputs("stb runs storage and database benchmarks that are written down in .stb files.\n\nusage: stb COMMAND ...\n\n", out);
	for (size_t i = 0; i < STB_LEN(table); i++) {
		const struct stb_command *c = &table[i];
		const int used = (int)(strlen(c->name) + 1 + strlen(c->operands));

		fprintf(out, "  %s %s%*s%s\n", c->name, c->operands, used < 18 ? 18 - used : 1, "", c->summary);
	}
	fputs("\n`stb COMMAND --help` shows the options of a command; `stb explain` is the reference.\n\nexit:", out);
	for (int code = 0; stb_exit_text(code); code++)
		fprintf(out, "%s%d %s\n", code ? "      " : " ", code, stb_exit_text(code));
}

const char *stb_exit_text(int code)
{
	static const char *const texts[] = {
		[STB_EXIT_OK] = "done",
		[STB_EXIT_SPEC] = "the spec is wrong",
		[STB_EXIT_USAGE] = "usage",
		[STB_EXIT_ENVIRONMENT] = "the environment refuses: nothing was touched",
		[STB_EXIT_CLAIM] = "a claim or a check for regressions failed",
		[STB_EXIT_CELLS] = "ran, but some cells failed or are not trustworthy",
		[STB_EXIT_LEFTOVERS] = "measured, but clean-up is incomplete (what is left is listed)",
	};

	return code >= 0 && (size_t)code < STB_LEN(texts) ? texts[code] : NULL;
}

int stb_cmd_help(const struct stb_args *a)
{
	if (!a->n_operands) {
		stb_help(stdout);
		return STB_EXIT_OK;
	}
	const struct stb_command *c = stb_command_find(a->operands[0]);

	if (!c) {
		fprintf(stderr, "stb: error: there is no command `%s`\n  what to do: `stb help` lists the commands\n",
			a->operands[0]);
		return STB_EXIT_USAGE;
	}
	stb_help_command(c, stdout);
	return STB_EXIT_OK;
}
