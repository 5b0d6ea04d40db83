/*
 * scan.h - between the scanner's patterns (grammar/stb.l) and tokens: what a lexeme is worth, and what is wrong with it.
 *
 * Every function gets the span of a match and returns a token kind, or a length that the pattern shall give back to.
 */
#ifndef STB_SCAN_H
#define STB_SCAN_H

#include "compiler/ast_build.h"
#include "stb.tab.h"

#ifndef YYSTYPE /* flex wants them under these names */
#define YYSTYPE STB_YYSTYPE
#define YYLTYPE struct stb_span
#endif

struct stb_held { /* a raw token that waits behind one that was put in */
	bool set;
	int kind;
	STB_YYSTYPE value;
	struct stb_span at;
};

/* The grammar's view of the scanner: brackets balanced, missing values put in. */
int stb_parser_token(STB_YYSTYPE *value, struct stb_span *at, struct stb_parser *p);

/* Copies the file for the scanner, with every byte that is not text reported and replaced by 0x01. free() it. */
char *stb_scan_text(struct stb_parser *p);

/* Does the next token begin a value (after `=`, `[`, `,` and the like)? */
bool stb_scan_wants_value(const struct stb_parser *p);

int stb_scan_word(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
int stb_scan_sign(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
int stb_scan_time(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
int stb_scan_quantity(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
int stb_scan_string(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
int stb_scan_open_string(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
/* Text that should have stood in double quotes; taken as the string that was meant. */
int stb_scan_unquoted(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);

/* `30 s`: the length up to the end of the unit where that is what was meant, else that of the number alone. */
uint32_t stb_scan_split_unit(const struct stb_parser *p, struct stb_span at);
/* `//`: is it the beginning of a bare path where a value is wanted, and no comment? */
bool stb_scan_bare_follows(struct stb_parser *p, struct stb_span at);
void stb_scan_foreign_comment(struct stb_parser *p, struct stb_span at);
/* A full-width sign or a blank that is not plain: it ends a text without quotes. */
bool stb_scan_lookalike_at(const struct stb_parser *p, uint32_t offset);
/* A text without quotes, or one look-alike. The kind is 0 where it was only a blank. */
int stb_scan_foreign(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at);
void stb_scan_stray(struct stb_parser *p, struct stb_span at);

#endif
