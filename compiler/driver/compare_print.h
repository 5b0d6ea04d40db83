/* compare_print.h - two runs against each other as text, as Markdown for a comment on a pull request, and as JSON. */
#ifndef STB_COMPARE_PRINT_H
#define STB_COMPARE_PRINT_H

#include "runtime/host/differ.h"
#include "runtime/report/compare.h"

#include <stdio.h>

enum stb_compare_format { STB_COMPARE_TEXT, STB_COMPARE_MARKDOWN, STB_COMPARE_JSON };

struct stb_compare_view {
	const struct stb_comparison *comparison;
	const struct stb_differences *environment; /* NULL: one of the runs has no record of it */
	const char *old_name, *new_name;           /* the directories as given */
	double threshold;                          /* in %: a regression is worse by more */
};

void stb_compare_print(const struct stb_compare_view *v, enum stb_compare_format format, FILE *out);

#endif
