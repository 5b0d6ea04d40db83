/*
 * import_sysbench.h - between the files of the sysbench importer: the command line as read, and the table of options.
 *
 *   import_sysbench_line.c   text -> commands and words, as a shell parts them; command -> options by the table
 *   import_sysbench.c        options -> blocks and attributes, with the account
 *
 * Everything lies in the compilation's arena.
 */
#ifndef STB_IMPORT_SYSBENCH_H
#define STB_IMPORT_SYSBENCH_H

#include "compiler/import.h"

enum stb_sb_arg {
	STB_SB_COUNT, STB_SB_INT_SHARE, STB_SB_NUMBER, STB_SB_SECONDS, STB_SB_RATE, STB_SB_BOOL, STB_SB_WORD, STB_SB_TEXT, STB_SB_SECRET,
	STB_SB_LIST,
};

enum stb_sb_part { STB_SB_DATABASE, STB_SB_WORKLOAD, STB_SB_MATRIX, STB_SB_REPORT };

enum stb_sb_fate { STB_SB_TAKE, STB_SB_OWN, STB_SB_LEAVE, STB_SB_REFUSE };

/* bulk_insert has a table of its own kind for every thread, and reads no option */
#define STB_SB_TABLES                                                                                                                   \
	"point_select read_only read_write write_only insert delete update_index update_non_index select_random_points select_random_ranges"

struct stb_sb_row { /* import_sysbench.def */
	const char *name, *aliases, *versions;
	enum stb_sb_arg arg;
	const char *scripts;
	enum stb_sb_part part;
	const char *attr, *neutral;
	enum stb_sb_fate fate;
	const char *reason;
};

const struct stb_sb_row *stb_sb_rows(size_t *n);
/* Whether a space-separated list has the word. */
bool stb_sb_has(const char *list, const char *word);

struct stb_sb_option {
	const struct stb_sb_row *row; /* NULL: sysbench has none of that name */
	const char *name;             /* as written, underscores as dashes */
	const char *value;            /* "" where none was written */
	bool has_value;
	bool parted;                  /* written as two words, which sysbench does not take */
	struct stb_span span;
	const char *words;            /* for the account; a secret is not in it */
	bool done;
};

struct stb_sb_command {
	struct stb_sb_option *options;
	uint32_t n, cap;
	const char *test, *action; /* NULL: not written */
	struct stb_span test_span, span;
	bool by_option;            /* the test was written as --test */
	const char *text;          /* as a comment may show it; secrets are not in it */
};

struct stb_sb_line {
	struct stb_sb_command *commands; /* those of sysbench */
	uint32_t n, cap;
};

/*
 * Reads what stands behind `stb import sysbench --`: the words of one command, or one word with a whole shell script. What belongs to the shell
 * is left out with a warning, or refused. false: the sink says why.
 */
STB_NODISCARD bool stb_sb_read(struct stb_import *im, const char *const *words, uint32_t n, struct stb_sb_line *out);

/* The version whose meaning an option has in a command: "0.4", "0.5", "1.0". */
const char *stb_sb_version(const struct stb_sb_command *c);

#endif
