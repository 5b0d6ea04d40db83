/*
 * reference.h - what the reference knows besides the schema: functions, views, an example of every diagnostic; and how an attribute's row reads.
 *
 * `stb explain` (explain.c) and what is generated from the tables (driver/reference.c, driver/completion.c, driver/dictionary.c) say the same
 * words because they take them from here.
 */
#ifndef STB_REFERENCE_H
#define STB_REFERENCE_H

#include "compiler/diag.h"
#include "compiler/schema.h"

struct stb_function {
	const char *name;
	const char *form; /* "zipf(EXPONENT)" */
	const char *doc;
};

struct stb_view_doc {
	const char *name;
	const char *doc;
};

/* Every function of the language, in the order of the reference; the compiler takes the names for its suggestions from here. */
const struct stb_function *stb_functions(size_t *n);
const struct stb_function *stb_function_find(const char *name); /* NULL: there is none */

const struct stb_view_doc *stb_view_docs(size_t *n);

/* What stb prints where a wrong spec of tests/golden has this code; NULL: none has it. */
const char *stb_code_example(const char *code);
const char *stb_severity_name(enum stb_severity severity);

/* "bytes", "list of words", "name of a volume". */
void stb_row_type_text(const struct stb_schema_attr *row, struct stb_buf *b);
/* The default as it is spelled, or why there is none. */
const char *stb_row_default_text(const struct stb_schema_attr *row);
/* "from 1 to 64", "" without bounds. */
/* Appends " Not yet: lists." where the runtime does not carry out all of it. */
void stb_row_later_text(const struct stb_schema_attr *row, struct stb_buf *b);
void stb_row_range_text(const struct stb_schema_attr *row, struct stb_buf *b);

#endif
