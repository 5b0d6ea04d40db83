/*
 * reference.h - documents that are generated from the tables: schema, rules, codes, metrics, units, functions, commands, options.
 *
 *   tables --reference.c--> headings, paragraphs, tables --reference_md.c--> grammar/README.md (behind grammar/preface.md)
 *                                                        `-reference_man.c-> stb.1
 *   tables --completion.c--> completion for bash and zsh
 *   tables --dictionary.c--> tests/fuzz/stb.dict
 */
#ifndef STB_DRIVER_REFERENCE_H
#define STB_DRIVER_REFERENCE_H

#include "compiler/driver/driver.h"

/* One form of the reference. Text has `code` between backquotes and is otherwise plain. */
struct stb_reference_form {
	void (*heading)(FILE *out, unsigned level, const char *text); /* 1 a chapter, 2 a section of it */
	void (*paragraph)(FILE *out, const char *text);
	/* A table: its heads, then its rows, n cells each. The first cell names the row, the last describes it. */
	void (*table)(FILE *out, const char *const *heads, unsigned n);
	void (*row)(FILE *out, const char *const *heads, const char *const *cells, unsigned n);
};

void stb_reference_language(const struct stb_reference_form *form, FILE *out); /* blocks, functions, units, metrics, views */
void stb_reference_judgement(const struct stb_reference_form *form, FILE *out); /* rules and codes */
void stb_reference_commands(const struct stb_reference_form *form, FILE *out); /* commands, options, exit codes */

void stb_reference_markdown(FILE *out);
void stb_reference_man(FILE *out);
void stb_completion_bash(FILE *out);
void stb_completion_zsh(FILE *out);
void stb_dictionary(FILE *out);

/* Every word that `stb explain` takes as a topic of its own, each once; the list is the caller's (free), the words are not. */
const char **stb_topic_words(size_t *n);

/* `stb explain CELL FILE`: each cell that CELL (a prefix of its id, or a selector) names, its blocks and where each value is from. */
int stb_explain_cell(const struct stb_args *a, const char *cell, const char *path);

#endif
