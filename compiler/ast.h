/*
 * ast.h - the syntax tree: exactly what was written, with a span on every node. No meaning yet.
 *
 * Nodes live in the arena of the compilation. The grammar calls the constructors; passes read. Plain data.
 */
#ifndef STB_AST_H
#define STB_AST_H

#include "compiler/source.h"
#include "runtime/base/val.h"

#include <stdio.h>

#define STB_AST_MAX_DEPTH 200 /* nesting of blocks and of values */

enum stb_node_kind {
	/* values */
	STB_N_QUANTITY, /* num: the value; text: as written */
	STB_N_STRING,   /* parts: literal text and ${name}; text: the whole of it where no part is a name, else NULL */
	STB_N_BOOL,     /* num */
	STB_N_TIME,     /* num: CLOCK, minutes */
	STB_N_LIST,     /* items */
	STB_N_PATH,     /* text "a.b.c"; names[] */
	STB_N_CALL,     /* text, names[0]: function; items: arguments */
	STB_N_NEG,      /* items[0] */
	STB_N_ADD, STB_N_SUB, STB_N_MUL, STB_N_DIV, /* items[0], items[1] */
	STB_N_RANGE,    /* items[0], items[1]; NULL for an open end (`*`) */
	STB_N_BAD,      /* a value that could not be read; already reported; passes skip it silently */
};

struct stb_string_part {
	const char *text;      /* literal bytes (escapes resolved), or the name inside ${...} */
	uint32_t len;
	bool is_name;
	struct stb_span span;
};

struct stb_name {
	const char *text;
	struct stb_span span;
};

struct stb_node {
	enum stb_node_kind kind;
	struct stb_span span;
	struct stb_val num;
	const char *text;
	uint32_t text_len;
	struct stb_name *names;
	uint32_t n_names;
	struct stb_string_part *parts;
	uint32_t n_parts;
	struct stb_node **items;
	uint32_t n_items;
	bool parens;           /* was written in parentheses */
	uint32_t depth;        /* nesting at and below, at most STB_AST_MAX_DEPTH */
};

enum stb_stmt_kind { STB_S_INCLUDE, STB_S_LET, STB_S_PARAM, STB_S_BLOCK, STB_S_ATTR };

enum stb_word_kind { STB_W_IDENT, STB_W_STRING, STB_W_STAR };

struct stb_word { /* between a block's kind and its brace */
	enum stb_word_kind kind;
	const char *text;
	struct stb_span span;
};

struct stb_stmt {
	enum stb_stmt_kind kind;
	struct stb_span span;      /* the whole statement */
	struct stb_name name;      /* LET, PARAM: name; BLOCK: its kind */
	struct stb_node *path;     /* ATTR: STB_N_PATH */
	struct stb_node *value;    /* ATTR, LET, PARAM; INCLUDE: the string */
	struct stb_word *words;    /* BLOCK */
	uint32_t n_words;
	struct stb_stmt **body;    /* BLOCK: attributes and blocks as written */
	uint32_t n_body;
	struct stb_span open;      /* BLOCK: the opening brace */
};

struct stb_ast {
	uint32_t file;
	int64_t version;           /* of `stb N`; 0 where it was missing (reported) */
	struct stb_span version_span;
	struct stb_stmt **stmts;
	uint32_t n_stmts;
};

/* For golden tests: one node a line, indented, spans as line:col-line:col. */
void stb_ast_print(const struct stb_ast *ast, const struct stb_sources *src, FILE *out);

#endif
