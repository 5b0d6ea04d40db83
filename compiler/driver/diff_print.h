/* diff_print.h - a comparison of two plans as text, as Markdown for a comment on a pull request, and as JSON. */
#ifndef STB_DIFF_PRINT_H
#define STB_DIFF_PRINT_H

#include "compiler/diff.h"

enum stb_diff_format { STB_DIFF_TEXT, STB_DIFF_MARKDOWN, STB_DIFF_JSON };

/* The names are those that the user gave: a file, or REV:PATH. */
void stb_diff_print(const struct stb_diff *d, const char *old_name, const char *new_name, enum stb_diff_format format, FILE *out);

#endif
