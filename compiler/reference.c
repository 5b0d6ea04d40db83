/*
 * reference.c - the functions of the language, and an example of every diagnostic.
 *
 * The examples are what the golden tests compare with (build/gen/examples.inc, made by examples.awk from tests/golden), so that none can say
 * what stb no longer prints.
 */
#include "compiler/reference.h"

#include <string.h>

static const struct stb_function functions[] = {
	{ "env", "env(\"NAME\")", "The value of an environment variable when the spec is run: in addresses and secrets only. Plan and results name the "
				  "variable, never what a secret is worth." },
	{ "file", "file(\"PATH\")", "The one line of a file when the spec is run: in addresses and secrets only. A file of several lines is an error. "
				   "A relative path is relative to the directory that stb is run in." },
	{ "min", "min(A, B, ...)", "The least of its arguments, which are of one type: min(4GiB, 2 * size)." },
	{ "max", "max(A, B, ...)", "The greatest of its arguments, which are of one type." },
	{ "zipf", "zipf(EXPONENT)", "A random_distribution: the block of rank k is drawn in proportion to 1/k^EXPONENT, as in zipf(1.2)." },
	{ "pareto", "pareto(H)", "A random_distribution: the nearer H is to 0, the fewer blocks take most I/Os, as in pareto(0.2)." },
	{ "normal", "normal(DEVIATION)", "A random_distribution: offsets are spread around the middle of the region with this standard deviation, as a share of "
					 "the region: normal(10%)." },
	{ "zoned", "zoned([ACCESS, REGION], ...)", "A random_distribution: each zone takes a share of the I/Os and covers a share of the region, in order: "
						   "zoned([60%, 10%], [40%, 90%])." },
};

const struct stb_function *stb_functions(size_t *n)
{
	*n = STB_LEN(functions);
	return functions;
}

const struct stb_function *stb_function_find(const char *name)
{
	for (size_t i = 0; i < STB_LEN(functions); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

const char *stb_code_example(const char *code)
{
	static const struct {
		const char *code, *text;
	} examples[] = {
#include "examples.inc"
		{ NULL, NULL },
	};

	for (size_t i = 0; examples[i].code; i++)
		if (!strcmp(examples[i].code, code))
			return examples[i].text;
	return NULL;
}

const char *stb_severity_name(enum stb_severity severity)
{
	switch (severity) {
	case STB_SEV_ERROR:
		return "error";
	case STB_SEV_WARNING:
		return "warning";
	case STB_SEV_NOTE:
		return "note";
	}
	return "";
}

void stb_row_later_text(const struct stb_schema_attr *row, struct stb_buf *b)
{
	if (!row->later)
		return;
	if (!strcmp(row->later, "*"))
		stb_buf_adds(b, row->def ? " Not yet: all but the default." : " Not yet.");
	else if (!strcmp(row->later, "[]"))
		stb_buf_adds(b, " Not yet: lists.");
	else
		stb_buf_printf(b, " Not yet: %s%s.", row->ref_kind >= 0 ? "of type " : "", row->later);
}

void stb_row_range_text(const struct stb_schema_attr *row, struct stb_buf *b)
{
	if (row->min)
		stb_buf_printf(b, "from %s", row->min);
	if (row->max)
		stb_buf_printf(b, "%s%s", row->min ? " to " : "up to ", row->max);
}
