/*
 * ast_build.h - what the grammar's actions call: the state of one parse, the constructors of nodes, and the slips that are reported and
 * forgiven. Internal to the parser (grammar/, compiler/{parse,scan,ast_build}.c).
 *
 * All nodes and lists live in the arena of the compilation. A constructor that gets a NULL list takes it as empty.
 */
#ifndef STB_AST_BUILD_H
#define STB_AST_BUILD_H

#include "compiler/ast.h"
#include "compiler/diag.h"

struct stb_nodes {
	struct stb_node **v;
	uint32_t n, cap;
};

struct stb_stmts {
	struct stb_stmt **v;
	uint32_t n, cap;
};

struct stb_names {
	struct stb_name *v;
	uint32_t n, cap;
};

struct stb_word_item {
	struct stb_word word;
	bool bare; /* a number, time, true or false: not a word of the language */
};

struct stb_words {
	struct stb_word_item *v;
	uint32_t n, cap;
};

struct stb_lexeme { /* a token that has passed the filter or the scanner */
	int kind;
	struct stb_span span;
	uint32_t line; /* 0-based */
};

struct stb_opener { /* a bracket that waits for its partner */
	int kind;
	struct stb_span span;
	uint32_t line, indent;
	struct stb_span suspect; /* a block inside that begins no further to the right: the `}` is missing before it */
};

struct stb_parser {
	struct stb_arena *arena;
	const struct stb_sources *src;
	struct stb_sink *sink;
	uint32_t file;

	/* the text as the scanner sees it, len bytes and a NUL */
	char *text;
	uint32_t len;
	uint32_t offset; /* of the scanner */
	uint32_t text_begin; /* of a text without quotes that is read piece by piece */
	void *scanner;
	struct stb_lexeme raw; /* the last token of the scanner */
	struct stb_span first_on_line; /* the first token of that token's line */
	struct stb_name last_word;     /* the last IDENT of the scanner, for secrets */

	/* the filter */
	int start;               /* the token that says what is read, 0 once it is out */
	struct stb_held *held;   /* a token that waits behind one that was put in */
	struct stb_lexeme last, before; /* what the grammar got last, and before that */
	struct stb_opener open[STB_AST_MAX_DEPTH];
	uint32_t depth;
	uint32_t minus_run;      /* `-` signs in a row */
	bool skipping;           /* after a syntax error, up to the next statement */
	uint32_t skip_line, skip_depth;
	bool keep;               /* the token at the error begins the next statement */
	struct stb_lexeme last_error; /* the token at the last syntax error: the same again is not kept */
	bool stopped;            /* nothing more is read: too deep, too large, too many errors, wrong version */
	bool *spoiled;           /* per line: it has an error, consequences on it are not reported */
	uint32_t unopened;       /* blocks whose `{` was missing (reported): as many `}` close nothing */
	bool outside;            /* an attribute outside of any block was reported: its `}` may follow */
	struct stb_span last_close; /* the last `}` that ended a block at the top */
	size_t arena_limit_bytes;

	/* results */
	struct stb_ast *ast;
	uint32_t cap_stmts;
	struct stb_node *value;
	struct stb_stmts *selector;
};

/* --- places and errors (parse.c) --- */

/* What the grammar would have taken at a syntax error. */
enum {
	STB_EXPECT_VALUE = 1 << 0,
	STB_EXPECT_NUMBER = 1 << 1,
	STB_EXPECT_STRING = 1 << 2,
	STB_EXPECT_NAME = 1 << 3,
	STB_EXPECT_EQUALS = 1 << 4,
	STB_EXPECT_LBRACE = 1 << 5,
	STB_EXPECT_RBRACE = 1 << 6,
	STB_EXPECT_RBRACKET = 1 << 7,
	STB_EXPECT_RPAREN = 1 << 8,
	STB_EXPECT_STATEMENT = 1 << 9,
	STB_EXPECT_END = 1 << 10,
	STB_EXPECT_HEADER = 1 << 11,
};

/* Drops the open `[` and `(` of a statement that is given up, and decides where to go on (filter.c). */
void stb_parser_resync(struct stb_parser *p);
uint32_t stb_parser_line(const struct stb_parser *p, uint32_t offset); /* 0-based */
/* Is this line spoiled already? Then what else the grammar finds on it is a consequence. */
bool stb_parser_quiet(const struct stb_parser *p, struct stb_span at);
/* Adds a diagnostic and marks its line. */
struct stb_diag *stb_parser_error(struct stb_parser *p, enum stb_code code, struct stb_span at, const char *fmt, ...) STB_PRINTF(4, 5);
/* The spelling of a place, made short enough for a message; lives in the arena. */
const char *stb_parser_spelling(struct stb_parser *p, struct stb_span at);
void stb_parser_unexpected(struct stb_parser *p, unsigned expected);
void stb_parser_too_deep(struct stb_parser *p, struct stb_span at);

/* --- constructors (ast_build.c) --- */

struct stb_node *stb_build_node(struct stb_parser *p, enum stb_node_kind kind, struct stb_span at);
struct stb_node *stb_build_bad(struct stb_parser *p, struct stb_span at);

void stb_build_header(struct stb_parser *p, struct stb_span at, const struct stb_node *version);
void stb_build_top(struct stb_parser *p, struct stb_stmt *s);
struct stb_stmts *stb_build_stmts(struct stb_parser *p);
struct stb_stmts *stb_build_member(struct stb_parser *p, struct stb_stmts *list, struct stb_stmt *s);
struct stb_stmt *stb_build_include(struct stb_parser *p, struct stb_span at, struct stb_node *path);
struct stb_stmt *stb_build_binding(struct stb_parser *p, struct stb_span at, enum stb_stmt_kind kind, struct stb_name name,
	struct stb_node *value);
struct stb_stmt *stb_build_block(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words,
	struct stb_span open, const struct stb_stmts *body);
struct stb_stmt *stb_build_attribute(struct stb_parser *p, struct stb_span at, struct stb_node *path, struct stb_node *value);

struct stb_words *stb_build_words(struct stb_parser *p, struct stb_words *list, struct stb_word_item word);
struct stb_word_item stb_build_word_ident(struct stb_parser *p, struct stb_name name);
struct stb_word_item stb_build_word_string(struct stb_parser *p, const struct stb_node *string);
struct stb_word_item stb_build_word_star(struct stb_parser *p, struct stb_span at);

struct stb_names *stb_build_names(struct stb_parser *p, struct stb_names *list, struct stb_name name);
struct stb_node *stb_build_path(struct stb_parser *p, struct stb_span at, const struct stb_names *names);
struct stb_nodes *stb_build_items(struct stb_parser *p, struct stb_nodes *list, struct stb_node *item);
struct stb_node *stb_build_list(struct stb_parser *p, struct stb_span at, const struct stb_nodes *items);
struct stb_node *stb_build_call(struct stb_parser *p, struct stb_span at, struct stb_name function, const struct stb_nodes *arguments);
struct stb_node *stb_build_range(struct stb_parser *p, struct stb_span at, struct stb_node *low, struct stb_node *high);
struct stb_node *stb_build_binary(struct stb_parser *p, struct stb_span at, enum stb_node_kind kind, struct stb_node *a, struct stb_node *b);
struct stb_node *stb_build_negative(struct stb_parser *p, struct stb_span at, struct stb_node *a);
struct stb_node *stb_build_parens(struct stb_span at, struct stb_node *inner);

/* --- slips (slip.c): reported, then taken for what was meant --- */

void stb_slip_no_header(struct stb_parser *p, struct stb_span at);
void stb_slip_no_version(struct stb_parser *p, struct stb_span at);
void stb_slip_unopened(struct stb_parser *p, struct stb_span at);
void stb_slip_separator(struct stb_parser *p, struct stb_span at);
void stb_slip_sign(struct stb_parser *p, struct stb_span at);
struct stb_stmt *stb_slip_sign_before_block(struct stb_parser *p, struct stb_span at, const struct stb_node *path, struct stb_span sign,
	struct stb_span open, const struct stb_stmts *body);
struct stb_stmt *stb_slip_no_sign(struct stb_parser *p, struct stb_span at, struct stb_node *path, struct stb_node *value);
struct stb_stmt *stb_slip_quoted_name(struct stb_parser *p, struct stb_span at, const struct stb_node *name, struct stb_node *value);
struct stb_stmt *stb_slip_words(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words);
/* `a b c = value` or `a b c.rest = value`: the last word is the attribute's. */
struct stb_stmt *stb_slip_words_before_sign(struct stb_parser *p, struct stb_span at, struct stb_name kind, const struct stb_words *words,
	const struct stb_names *rest, struct stb_node *value);
struct stb_word_item stb_slip_word(struct stb_parser *p, const struct stb_node *bare);
struct stb_word_item stb_slip_hyphen(struct stb_parser *p, struct stb_span at, struct stb_word_item left);
struct stb_node *stb_slip_range(struct stb_parser *p, struct stb_span at, const char *reason);
struct stb_node *stb_slip_star(struct stb_parser *p, struct stb_span at);
struct stb_nodes *stb_slip_no_comma(struct stb_parser *p, struct stb_nodes *list, struct stb_node *item);

#endif
