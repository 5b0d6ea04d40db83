/*
 * driver.h - the command line: one table of commands and one of options drive dispatch, help and usage errors.
 *
 * Reads argv, owns nothing beyond struct stb_args. Single-threaded; the tables are constant.
 */
#ifndef STB_DRIVER_H
#define STB_DRIVER_H

#include "compiler/compile.h"
#include "runtime/exec/exec.h"

enum stb_option {
	STB_OPT_HELP,
	STB_OPT_PROFILE,
	STB_OPT_SET,
	STB_OPT_FORMAT,
	STB_OPT_MAX_CELLS,
	STB_OPT_OUTPUT,
	STB_OPT_ONLY,
	STB_OPT_RESULTS,
	STB_OPT_CHECK,
	STB_OPT_TOPOLOGY,
	STB_OPT_SAVE,
	STB_OPT_IN_FORM, /* --check of `fmt` */
	STB_OPT_WRITE,
	STB_OPT_EXIT_CODE,
	STB_OPT_GATE,    /* --check of `compare` */
	STB_OPT_THRESHOLD,
	STB_OPT_REUSE,
	STB_OPT_CONNECT,
	STB_OPT_METRIC,
	STB_OPT_CELL,
	STB_N_OPTIONS
};

struct stb_args;

struct stb_command {
	const char *name;
	int (*run)(const struct stb_args *args); /* an exit code of exec.h */
	unsigned options;        /* bits 1 << enum stb_option */
	const char *operands;    /* "FILE..." */
	unsigned min_operands, max_operands;
	const char *formats;     /* words of --format, the default first; NULL: the command has none */
	bool format_list;        /* --format takes several, separated by commas */
	const char *output;      /* what -o names: "FILE", "DIR" */
	const char *summary;     /* one line */
	const char *details;     /* paragraphs of --help */
};

struct stb_args {
	const struct stb_command *command;
	bool help;               /* the command's help is wanted; nothing else was checked */
	const char *profile;     /* NULL: bare */
	const char **set;        /* "name=value", as given */
	uint32_t n_set;
	const char *format;      /* one of the command's (or a checked list of them); NULL: not given */
	uint64_t max_cells;      /* 0: not given */
	const char *output, *only;
	const char *cell;        /* as --only; NULL: not given */
	const char **results;
	uint32_t n_results;
	const char *topology;    /* a saved topology; NULL: not given */
	const char *save;
	const char **reuse;
	uint32_t n_reuse;
	const char **metrics;    /* --metric, as given */
	uint32_t n_metrics;
	double threshold;        /* in %; see has_threshold */
	bool has_threshold;
	bool check, write, exit_code, connect;
	const char *const *operands;
	uint32_t n_operands;
};

const struct stb_command *stb_commands(size_t *n);
const struct stb_command *stb_command_find(const char *name);
/* The words that the first operand may be, for completion; NULL: it is something else. */
const char *stb_command_words(const struct stb_command *c);

/*
 * Reads argv[1] as the command and the rest as its options and operands (argv is reordered). 0; or STB_EXIT_USAGE after one message with
 * what to do on err. fini frees the lists.
 */
STB_NODISCARD int stb_args_parse(struct stb_args *a, int argc, char **argv, FILE *err);
void stb_args_fini(struct stb_args *a);
/* Whether `word` is in the comma-separated --format (the command's first format where none was given). */
bool stb_args_format(const struct stb_args *a, const char *word);

struct stb_option_text { /* an option as a command has it */
	const char *name;
	char letter;             /* 0: none */
	const char *operand;     /* NULL: takes none */
	char help[200];
};

/* false: the command has no such option. */
bool stb_option_text(const struct stb_command *c, enum stb_option option, struct stb_option_text *t);
const char *stb_exit_text(int code); /* NULL: there is none */

void stb_help(FILE *out);                                          /* all commands */
bool stb_help_option(const char *topic, FILE *out);                /* "--set" or "set": what it does and who has it; false: there is none */
void stb_help_command(const struct stb_command *c, FILE *out);     /* one */

/*
 * Compiles FILE with the profile and --set of the arguments, pins judged on the topology (NULL: on none); diagnostics go to standard error.
 * NULL: an error was printed.
 */
struct stb_plan *stb_driver_compile(struct stb_compilation *c, const struct stb_args *a, const char *path,
	const struct stb_topology *topology);

/*
 * --only and --cell: marks the cells that a selector ("storage = disk  workload = [a, b]") or a prefix of a cell id selects. keep has
 * plan->n_cells bytes; `option` is for messages. 0, or STB_EXIT_USAGE after a message.
 */
STB_NODISCARD int stb_driver_only(const struct stb_plan *p, const char *option, const char *only, uint8_t *keep, FILE *err);

int stb_cmd_help(const struct stb_args *a);
int stb_cmd_version(const struct stb_args *a);
int stb_cmd_check(const struct stb_args *a);
int stb_cmd_fmt(const struct stb_args *a);
int stb_cmd_compare(const struct stb_args *a);
int stb_cmd_diff(const struct stb_args *a);
int stb_cmd_plan(const struct stb_args *a);
int stb_cmd_explain(const struct stb_args *a);
int stb_cmd_run(const struct stb_args *a);
int stb_cmd_resume(const struct stb_args *a);
int stb_cmd_report(const struct stb_args *a);
int stb_cmd_clean(const struct stb_args *a);
int stb_cmd_import(const struct stb_args *a);
int stb_cmd_export(const struct stb_args *a);
int stb_cmd_doctor(const struct stb_args *a);
int stb_cmd_topology(const struct stb_args *a);

extern const char stb_version[], stb_commit[];

#endif
