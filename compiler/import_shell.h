/*
 * import_shell.h - a command line as people publish it, or a shell script with several, parted into the commands of one program.
 *
 * What belongs to the shell or to other programs is left out with a warning, or refused where it holds the program to something. Everything
 * lies in the compilation's arena; spans point into its sources, as file <command line>.
 */
#ifndef STB_IMPORT_SHELL_H
#define STB_IMPORT_SHELL_H

#include "compiler/import.h"

struct stb_shell_word {
	const char *text; /* without its quotes */
	struct stb_span span;
};

struct stb_shell_command {
	const struct stb_shell_word *words; /* behind the program's name */
	uint32_t n;
	struct stb_span span; /* all of it */
};

struct stb_shell {
	const char *program; /* "sysbench": which commands are wanted; with one command its name may be left out */
	const char *hold;    /* what to say of something in front of it that holds it to CPUs or the like */
	bool (*is_secret)(struct stb_import *im, const char *name, size_t len); /* of an option, without its --; NULL: none is */
	uint32_t file;
	struct stb_shell_command *commands;
	uint32_t n, cap;
};

/*
 * Reads what stands behind `stb import TOOL --`: the words of one command, or one word with a whole script. Secrets are masked before anything
 * is said of the text. false: the sink says why.
 */
STB_NODISCARD bool stb_shell_read(struct stb_import *im, struct stb_shell *s, const char *const *words, uint32_t n);

/* What stands behind the last slash. */
const char *stb_shell_base_name(const char *path);

#endif
