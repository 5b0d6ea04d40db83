/*
 * import.h - what the importers share: a spec that grows while another tool's words are read, and the account of what became of each word.
 *
 * Nothing of the source is dropped silently: a word is translated, refused (error: it changes what is measured and has no counterpart) or
 * left out (warning: it does not), and what is refused or left out also stands in the spec as a comment, where the reader of the spec looks.
 *
 * The texts that are read lie in the compilation's sources, so that messages show them. Single-threaded; the importers (import_fio.c,
 * import_sysbench.c) call it, the driver begins and ends it.
 */
#ifndef STB_IMPORT_H
#define STB_IMPORT_H

#include "compiler/compile.h"
#include "runtime/base/buf.h"

#define STB_IMPORT_MAX_QUOTE 160 /* bytes of the source that a comment or a message quotes */

struct stb_import {
	struct stb_compilation *c;
	const char *tool;        /* "fio": whose words are read */
	struct stb_buf spec;     /* so far, in no particular form */
	const char **names;      /* identifiers given out */
	uint32_t n_names, cap_names;
	uint32_t depth;          /* open blocks */
	bool sealed;             /* other files than the first are not opened: for fuzzing */
	const char *cwd;         /* the working directory that relative paths mean; NULL: the process's */
};

void stb_import_init(struct stb_import *im, struct stb_compilation *c, const char *tool);
void stb_import_fini(struct stb_import *im);

/* --- the spec --- */

void stb_import_open(struct stb_import *im, const char *fmt, ...) STB_PRINTF(2, 3); /* "workload io %s": the block's kind, type and name */
void stb_import_close(struct stb_import *im);
/* An attribute of the open block; the value in the language's spelling. */
void stb_import_attr(struct stb_import *im, const char *name, const char *fmt, ...) STB_PRINTF(3, 4);
/* The same with text, which is quoted and escaped; what is no UTF-8 in it becomes U+FFFD. */
void stb_import_text(struct stb_import *im, const char *name, const char *text);
/* A comment line; whatever the text holds, it stays one, and text. */
void stb_import_comment(struct stb_import *im, const char *fmt, ...) STB_PRINTF(2, 3);
/* An identifier made of any text; lies in the compilation's arena. */
const char *stb_import_ident(struct stb_import *im, const char *text);
/* The same, or with a number behind it, as no earlier call gave it out. */
const char *stb_import_name(struct stb_import *im, const char *text);
/* Text as a message or comment may quote it: printable, at most STB_IMPORT_MAX_QUOTE bytes and a word about the rest. In the arena. */
const char *stb_import_quote(struct stb_import *im, const char *text, size_t len);

/* Adds a file that the first one, or a command line, names to the compilation's sources. false: the sink says why. */
STB_NODISCARD bool stb_import_load(struct stb_import *im, const char *path, uint32_t *file);

/* UTF-8 without control characters or such that reorder the text: what a string of a spec can be. */
bool stb_import_is_text(const char *text);

/* Values in the language's spelling; they lie in the arena. */
const char *stb_import_bytes(struct stb_import *im, uint64_t bytes);
const char *stb_import_time(struct stb_import *im, uint64_t ns);

/* --- the account: a diagnostic, and a comment in the open block. `words` is what the comment quotes ("zonemode=zbd"). --- */

void stb_import_refuse(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...) STB_PRINTF(4, 5);
void stb_import_leave(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...) STB_PRINTF(4, 5);

/* A word of the source that the tool itself would not take as it stands. An error. */
void stb_import_bad(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...) STB_PRINTF(4, 5);
/* Translated, but not to quite the same, or not to what it seems to say. A warning. */
void stb_import_differs(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...) STB_PRINTF(4, 5);
/* Without effect in the tool too. A note. */
void stb_import_idle(struct stb_import *im, struct stb_span span, const char *words, const char *fmt, ...) STB_PRINTF(4, 5);

/* --- the end --- */

/*
 * Appends the spec in canonical form to *out, and checks it: what is wrong with it is reported like everything else. All blocks are closed.
 * false: the text is no spec, which is our fault and reported as well; *out holds it as it is.
 */
STB_NODISCARD bool stb_import_finish(struct stb_import *im, struct stb_buf *out);

/* --- the tools: words behind the tool's name on the command line. false: nothing could be read, and the sink says why. --- */

STB_NODISCARD bool stb_import_fio_file(struct stb_import *im, uint32_t file); /* a job file that is in the compilation's sources */
STB_NODISCARD bool stb_import_fio(struct stb_import *im, const char *const *words, uint32_t n); /* a job file, or command lines */
STB_NODISCARD bool stb_import_sysbench(struct stb_import *im, const char *const *words, uint32_t n);

#endif
