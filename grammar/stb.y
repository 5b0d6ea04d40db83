/*
 * stb.y - the grammar. Actions only build nodes (compiler/ast_build.h) and name slips.
 *
 * It is more generous than the language: rules marked "slip" accept what people often write instead, report it and go on. What is
 * missing at the end of a bracket or after a sign is put in by the token filter in front of it (compiler/parse.c), so that those slips
 * need no rules. What remains is a syntax error: the rest of the line is skipped and the next statement begins.
 *
 * Whatever is nested was counted by the filter before it came here, so the stack stays small; left recursion everywhere else.
 */
%code requires {
#include "compiler/ast_build.h"
}

%code {
#include "compiler/scan.h"

#undef yylex
#define yylex stb_parser_token

#define YYLLOC_DEFAULT(Current, Rhs, N)                                                                      \
	do {                                                                                                 \
		(Current).file = p->file;                                                                    \
		(Current).begin = (N) ? YYRHSLOC(Rhs, 1).begin : YYRHSLOC(Rhs, 0).end;                       \
		(Current).end = YYRHSLOC(Rhs, N).end;                                                        \
	} while (0)

static void stb_yyerror(const struct stb_span *at, struct stb_parser *p, const char *message);

/* After an error: goes on with the next statement, or gives up where nothing more will come. */
#define RESUME                                                                                               \
	do {                                                                                                 \
		if (p->stopped || (yychar == STB_T_END && p->depth > 0))                                     \
			YYABORT;                                                                             \
		if (!p->keep)                                                                                \
			yyclearin;                                                                           \
		yyerrok;                                                                                     \
	} while (0)
}

%define api.pure full
%define api.prefix {stb_yy}
%define api.token.prefix {STB_T_}
%define api.location.type {struct stb_span}
%define api.value.type union
%define parse.error custom
%define parse.lac full
%expect 0
%locations
%param { struct stb_parser *p }
%initial-action { @$ = (struct stb_span){ p->file, 0, 0 }; }

%token END 0
%token START_FILE START_VALUE START_SELECTOR /* the first token says what is read */
%token STB "stb" INCLUDE "include" LET "let" PARAM "param"
%token <struct stb_name> IDENT
%token <struct stb_node *> QUANTITY STRING TIME BOOL BAD
%token EQUALS "=" WRONG_EQUALS ":" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]" LPAREN "(" RPAREN ")"
%token UNOPENED /* a `}` that closes nothing */
%token COMMA "," SEMICOLON ";" DOT "." DOTDOT ".." PLUS "+" MINUS "-" STAR "*" SLASH "/"

/* A name or a string after `kind words` is one more word, not the next statement. */
%precedence NO_MORE_WORDS
%precedence IDENT STRING

%nterm <struct stb_stmts *> body
%nterm <struct stb_stmt *> statement block attribute slip
%nterm <struct stb_words *> words
%nterm <struct stb_word_item> word
%nterm <struct stb_names *> names
%nterm <struct stb_node *> path value sum product unary primary list call bare
%nterm <struct stb_nodes *> items

%start start

%%

start
	: START_FILE header statements
	| START_VALUE value                          { p->value = $value; }
	| START_SELECTOR body                        { p->selector = $body; }
	;

header
	: %empty                                     { stb_slip_no_header(p, @$); }
	| "stb"                                      { stb_slip_no_version(p, @$); }
	| "stb" QUANTITY                             { stb_build_header(p, @$, $QUANTITY); }
	;

statements
	: %empty
	| statements statement                       { stb_build_top(p, $statement); }
	| statements separator
	| statements UNOPENED                        { stb_slip_unopened(p, @UNOPENED); }
	| statements error                           { RESUME; }
	;

body
	: %empty                                     { $$ = stb_build_stmts(p); }
	| body[list] statement                       { $$ = stb_build_member(p, $list, $statement); }
	| body[list] separator                       { $$ = $list; }
	| body[list] UNOPENED                        { $$ = $list; stb_slip_unopened(p, @UNOPENED); }
	| body[list] error                           { $$ = $list; RESUME; }
	;

separator /* slip */
	: ","                                        { stb_slip_separator(p, @$); }
	| ";"                                        { stb_slip_separator(p, @$); }
	;

statement
	: "include" STRING                           { $$ = stb_build_include(p, @$, $STRING); }
	| "let" IDENT equals value                   { $$ = stb_build_binding(p, @$, STB_S_LET, $IDENT, $value); }
	| "param" IDENT equals value                 { $$ = stb_build_binding(p, @$, STB_S_PARAM, $IDENT, $value); }
	| block
	| attribute
	| slip
	;

block
	: IDENT "{"[open] body "}"                   { $$ = stb_build_block(p, @$, $IDENT, NULL, @open, $body); }
	| IDENT words "{"[open] body "}"             { $$ = stb_build_block(p, @$, $IDENT, $words, @open, $body); }
	;

words
	: word                                       { $$ = stb_build_words(p, NULL, $word); }
	| words[list] word                           { $$ = stb_build_words(p, $list, $word); }
	;

word
	: IDENT                                      { $$ = stb_build_word_ident(p, $IDENT); }
	| STRING                                     { $$ = stb_build_word_string(p, $STRING); }
	| "*"                                        { $$ = stb_build_word_star(p, @$); }
	| bare                                       { $$ = stb_slip_word(p, $bare); }
	| word[left] "-" IDENT[right]                { $$ = stb_slip_hyphen(p, @$, $left); (void)$right; }
	| word[left] "-" QUANTITY[right]             { $$ = stb_slip_hyphen(p, @$, $left); (void)$right; }
	;

bare
	: QUANTITY
	| TIME
	| BOOL
	;

attribute
	: path equals value                          { $$ = stb_build_attribute(p, @$, $path, $value); }
	;

slip
	: path equals[sign] "{"[open] body "}"       { $$ = stb_slip_sign_before_block(p, @$, $path, @sign, @open, $body); }
	| path list                                  { $$ = stb_slip_no_sign(p, @$, $path, $list); }
	| STRING equals value                        { $$ = stb_slip_quoted_name(p, @$, $STRING, $value); }
	| IDENT words %prec NO_MORE_WORDS            { $$ = stb_slip_words(p, @$, $IDENT, $words); }
	| IDENT words equals value                   { $$ = stb_slip_words_before_sign(p, @$, $IDENT, $words, NULL, $value); }
	| IDENT words "." names equals value         { $$ = stb_slip_words_before_sign(p, @$, $IDENT, $words, $names, $value); }
	;

equals
	: "="
	| ":"                                        { stb_slip_sign(p, @$); }
	;

path
	: names                                      { $$ = stb_build_path(p, @$, $names); }
	;

names
	: IDENT                                      { $$ = stb_build_names(p, NULL, $IDENT); }
	| names[list] "." IDENT                      { $$ = stb_build_names(p, $list, $IDENT); }
	;

value
	: sum
	| sum[low] ".." sum[high]                    { $$ = stb_build_range(p, @$, $low, $high); }
	| sum[low] ".." "*"                          { $$ = stb_build_range(p, @$, $low, NULL); }
	| "*" ".." sum[high]                         { $$ = stb_build_range(p, @$, NULL, $high); }
	| "*" ".." "*"                               { $$ = stb_slip_range(p, @$, "both ends are open"); }
	| ".." sum[high]                             { $$ = stb_slip_range(p, @$, "the lower end is missing"); (void)$high; }
	| "*"                                        { $$ = stb_slip_star(p, @$); }
	;

sum
	: product
	| sum[a] "+" product[b]                      { $$ = stb_build_binary(p, @$, STB_N_ADD, $a, $b); }
	| sum[a] "-" product[b]                      { $$ = stb_build_binary(p, @$, STB_N_SUB, $a, $b); }
	;

product
	: unary
	| product[a] "*" unary[b]                    { $$ = stb_build_binary(p, @$, STB_N_MUL, $a, $b); }
	| product[a] "/" unary[b]                    { $$ = stb_build_binary(p, @$, STB_N_DIV, $a, $b); }
	;

unary
	: primary
	| "-" unary[a]                               { $$ = stb_build_negative(p, @$, $a); }
	;

primary
	: QUANTITY
	| STRING
	| TIME
	| BOOL
	| BAD
	| list
	| path
	| call
	| "(" sum ")"                                { $$ = stb_build_parens(@$, $sum); }
	;

list
	: "[" "]"                                    { $$ = stb_build_list(p, @$, NULL); }
	| "[" items "]"                              { $$ = stb_build_list(p, @$, $items); }
	| "[" items "," "]"                          { $$ = stb_build_list(p, @$, $items); }
	;

call
	: IDENT "(" ")"                              { $$ = stb_build_call(p, @$, $IDENT, NULL); }
	| IDENT "(" items ")"                        { $$ = stb_build_call(p, @$, $IDENT, $items); }
	| IDENT "(" items "," ")"                    { $$ = stb_build_call(p, @$, $IDENT, $items); }
	;

items
	: value                                      { $$ = stb_build_items(p, NULL, $value); }
	| items[list] "," value                      { $$ = stb_build_items(p, $list, $value); }
	| items[list] bare                           { $$ = stb_slip_no_comma(p, $list, $bare); }
	| items[list] STRING                         { $$ = stb_slip_no_comma(p, $list, $STRING); }
	| items[list] path                           { $$ = stb_slip_no_comma(p, $list, $path); }
	;

%%

static unsigned expectation(yysymbol_kind_t kind)
{
	switch ((int)kind) {
	case YYSYMBOL_QUANTITY:
		return STB_EXPECT_NUMBER;
	case YYSYMBOL_STRING:
		return STB_EXPECT_STRING;
	case YYSYMBOL_IDENT:
		return STB_EXPECT_NAME;
	case YYSYMBOL_BAD: /* stands wherever a value may begin, and nowhere else */
		return STB_EXPECT_VALUE;
	case YYSYMBOL_STB:
		return STB_EXPECT_HEADER;
	case YYSYMBOL_EQUALS:
		return STB_EXPECT_EQUALS;
	case YYSYMBOL_LBRACE:
		return STB_EXPECT_LBRACE;
	case YYSYMBOL_RBRACE:
		return STB_EXPECT_RBRACE;
	case YYSYMBOL_RBRACKET:
		return STB_EXPECT_RBRACKET;
	case YYSYMBOL_RPAREN:
		return STB_EXPECT_RPAREN;
	case YYSYMBOL_LET:
		return STB_EXPECT_STATEMENT;
	case YYSYMBOL_YYEOF: /* END */
		return STB_EXPECT_END;
	default:
		return 0;
	}
}

static int yyreport_syntax_error(const yypcontext_t *context, struct stb_parser *p)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	const int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
	unsigned expected = 0;

	for (int i = 0; i < n; i++)
		expected |= expectation(kinds[i]);
	stb_parser_unexpected(p, expected);
	return 0;
}

/* Only for a stack that cannot grow. */
static void stb_yyerror(const struct stb_span *at, struct stb_parser *p, const char *message)
{
	(void)message;
	stb_parser_too_deep(p, *at);
}
