/*
 * import_sysbench.h - between the files of the sysbench importer: the command line as read, and the table of options.
 *
 *   import_sysbench_line.c       words -> options by the table (import_sysbench.def)
 *   import_sysbench_option.c     what an option says; what is told of those that no one asks for
 *   import_sysbench_script.c     which script it is, of which age
 *   import_sysbench_database.c, import_sysbench_workload.c   the blocks
 *   import_sysbench.c            the whole, with matrix and report
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

/* Reads what stands behind `stb import sysbench --`. false: the sink says why. */
STB_NODISCARD bool stb_sb_read(struct stb_import *im, const char *const *words, uint32_t n, struct stb_sb_line *out);

/* --- one command on its way to a spec --- */

struct stb_sb {
	struct stb_import *im;
	struct stb_sb_command *c;
	const char *version; /* "0.4", "0.5", "1.0": of the script */
	bool program_1_0;    /* the program is 1.0 or later, whatever the script's age */
	const char *script;  /* as in a spec; NULL: unknown */
	const char *rand_type;
	bool prepares;       /* a prepare command stands on the line */
};

/* The version whose meaning an option has in a command: "0.4", "0.5", "1.0". */
const char *stb_sb_version(const struct stb_sb_command *c);
/* As a spec calls it; NULL: none that stb has, which is told. */
const char *stb_sb_script(struct stb_sb *s);
/* What is to be told of it: a flag that says something else, and its age. */
void stb_sb_tell_script(struct stb_sb *s);

/* The last one of a name, which holds; NULL: it was not given. take: it is accounted for. */
struct stb_sb_option *stb_sb_find(const struct stb_sb_command *c, const char *name);
struct stb_sb_option *stb_sb_take(struct stb_sb *s, const char *name);
/* What it says; false: nothing that sysbench takes, which is told. */
bool stb_sb_number(struct stb_sb *s, const struct stb_sb_option *o, uint64_t *out);
bool stb_sb_boolean(struct stb_sb *s, const struct stb_sb_option *o, bool *out);
bool stb_sb_boolean_of(struct stb_sb *s, const char *name, bool fallback);
/* It says what holds anyway. */
bool stb_sb_is_neutral(const struct stb_sb_option *o);
/* That it does not do quite what it says. */
void stb_sb_heed(struct stb_sb *s, const struct stb_sb_option *o, const char *why);
/* What sysbench makes of an option that a script of this age does not have. */
void stb_sb_tell_version(struct stb_sb *s, const struct stb_sb_option *o);
/* With sysbench's default where it was not given; 0: then it is left to stb's, which is the same. */
void stb_sb_put_number(struct stb_sb *s, const char *name, const char *attr, uint64_t fallback);
/* Everything of a part of the spec that no function of its own has taken, in the order given. */
void stb_sb_put_part(struct stb_sb *s, enum stb_sb_part part);
void stb_sb_refuse_unknown(struct stb_sb *s);

void stb_sb_put_database(struct stb_sb *s);
void stb_sb_put_workload(struct stb_sb *s);

#endif
