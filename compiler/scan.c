/*
 * scan.c - what lexemes are worth: text, words, signs, times, strings. Quantities have hints enough for a file of their own
 * (scan_quantity.c).
 *
 * The file is gone through once before the scanner starts. A byte that is not text is reported there, a run of them once, and becomes
 * 0x01 in the scanner's copy, which is a blank to it and `?` inside strings. So offsets stay, and flex never sees a NUL (which it can
 * read, but at quadratic cost within one token).
 */
#include "compiler/scan.h"

#include "runtime/base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	NOT_TEXT = 1,
	MAX_RUNS = 5, /* of bytes that are not text: with more of them this is no spec, and the rest is not read */
};

/* --- the text ---------------------------------------------------------------------------------------------------------------------- */

static bool is_text(const char *s, uint32_t len, struct stb_glyph *g)
{
	*g = stb_glyph_at(s, len);
	if (g->printable || *s == '\n' || *s == '\t')
		return true;
	return *s == '\r' && len > 1 && s[1] == '\n';
}

static void report_bytes(struct stb_parser *p, struct stb_span at, const char *bytes, const struct stb_glyph *first)
{
	const unsigned count = at.end - at.begin;
	struct stb_diag *d;

	if (first->code_point == 0xFFFD) {
		d = stb_parser_error(p, STB_E0102, at, "invalid UTF-8: %s 0x%02X", count == 1 ? "byte" : "bytes from",
			(unsigned)(unsigned char)*bytes);
		stb_diag_help(p->sink, d, "save the file as UTF-8");
	} else if (first->code_point == 0) {
		d = stb_parser_error(p, STB_E0102, at, "%u NUL byte%s in the text", count, count == 1 ? "" : "s");
		stb_diag_help(p->sink, d, "is this a text file? UTF-16 looks like this; save it as UTF-8");
	} else if (first->code_point == '\r') {
		d = stb_parser_error(p, STB_E0102, at, "a carriage return without a line feed");
		stb_diag_help(p->sink, d, "end lines with LF or CR LF");
	} else {
		d = stb_parser_error(p, STB_E0102, at, "U+%04X, which does not show, in the text", first->code_point);
		stb_diag_help(p->sink, d, "remove it, or write \\u{%X} in a string if it is meant", first->code_point);
	}
}

char *stb_scan_text(struct stb_parser *p)
{
	const struct stb_source_file *f = &p->src->files[p->file];
	char *text = stb_xmalloc((size_t)f->len + 1);
	struct stb_glyph g;
	uint32_t i = 0, runs = 0;

	memcpy(text, f->bytes, f->len);
	text[f->len] = 0;
	/* A byte order mark at the very beginning says nothing that UTF-8 needs; editors put it in unseen, so it is passed over. */
	if (f->len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
		memset(text, NOT_TEXT, 3);
		i = 3;
	}
	while (i < f->len) {
		if ((text[i] >= ' ' && text[i] < 0x7F) || is_text(f->bytes + i, f->len - i, &g)) {
			i += (text[i] & 0x80) ? g.bytes : 1;
			continue;
		}
		const struct stb_glyph first = g;
		const uint32_t begin = i;

		do {
			memset(text + i, NOT_TEXT, g.bytes);
			i += g.bytes;
		} while (i < f->len && !is_text(f->bytes + i, f->len - i, &g) && g.code_point == first.code_point);
		report_bytes(p, (struct stb_span){ p->file, begin, i }, f->bytes + begin, &first);
		if (++runs == MAX_RUNS) {
			stb_parser_error(p, STB_E0102, (struct stb_span){ p->file, i, i }, "this is not a text file; reading stops here");
			p->stopped = true;
			break;
		}
	}
	return text;
}

/* --- words and signs --------------------------------------------------------------------------------------------------------------- */

bool stb_scan_wants_value(const struct stb_parser *p)
{
	switch (p->raw.kind) {
	case STB_T_EQUALS:
	case STB_T_WRONG_EQUALS:
	case STB_T_LBRACKET:
	case STB_T_LPAREN:
	case STB_T_COMMA:
	case STB_T_INCLUDE:
	case STB_T_START_VALUE:
		return true;
	default:
		return false;
	}
}

static bool spelled(const struct stb_parser *p, struct stb_span at, const char *word)
{
	const size_t len = strlen(word);

	return at.end - at.begin == len && !memcmp(p->text + at.begin, word, len);
}

static struct stb_name name_at(struct stb_parser *p, struct stb_span at)
{
	return (struct stb_name){ stb_arena_strndup(p->arena, p->text + at.begin, at.end - at.begin), at };
}

int stb_scan_word(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	static const struct {
		const char *word;
		int kind;
	} reserved[] = {
		{ "stb", STB_T_STB },
		{ "include", STB_T_INCLUDE },
		{ "let", STB_T_LET },
		{ "param", STB_T_PARAM },
	};
	const bool yes = spelled(p, at, "true");

	if (yes || spelled(p, at, "false")) {
		v->STB_T_BOOL = stb_build_node(p, STB_N_BOOL, at);
		v->STB_T_BOOL->num = stb_val_bool(yes);
		return STB_T_BOOL;
	}
	for (size_t i = 0; i < STB_LEN(reserved); i++)
		if (spelled(p, at, reserved[i].word))
			return reserved[i].kind;
	v->STB_T_IDENT = name_at(p, at);
	return STB_T_IDENT;
}

int stb_scan_sign(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	if (at.end - at.begin > 1)
		return p->text[at.begin] == '.' ? STB_T_DOTDOT : STB_T_WRONG_EQUALS;
	switch (p->text[at.begin]) {
	case '{':
		return STB_T_LBRACE;
	case '}':
		return STB_T_RBRACE;
	case '[':
		return STB_T_LBRACKET;
	case ']':
		return STB_T_RBRACKET;
	case '(':
		return STB_T_LPAREN;
	case ')':
		return STB_T_RPAREN;
	case '.':
		return STB_T_DOT;
	case ',':
		return STB_T_COMMA;
	case ';':
		return STB_T_SEMICOLON;
	case ':':
		return STB_T_WRONG_EQUALS;
	case '=':
		return STB_T_EQUALS;
	case '+':
		return STB_T_PLUS;
	case '-':
		return STB_T_MINUS;
	case '*':
		return STB_T_STAR;
	case '/':
		return STB_T_SLASH;
	default: /* `~` where no value is wanted */
		stb_scan_stray(p, at);
		v->STB_T_BAD = stb_build_bad(p, at);
		return STB_T_BAD;
	}
}

void stb_scan_stray(struct stb_parser *p, struct stb_span at)
{
	const char c = p->text[at.begin];
	struct stb_diag *d;

	if (p->skipping)
		return;
	d = stb_parser_error(p, STB_E0103, at, "`%s` has no meaning here", stb_parser_spelling(p, at));
	if (c == '<' || c == '>')
		stb_diag_help(p->sink, d, "a range says it: `64..*` is at least 64, `*..64` at most 64");
	else if (c == '!')
		stb_diag_help(p->sink, d, "there is no negation; name the values that are meant, or use `exclude`");
	else if (c == '%')
		stb_diag_help(p->sink, d, "a share is written `50%%`, the sign glued to its number");
	else if (c == '$')
		stb_diag_help(p->sink, d, "a let or param is named bare, or as \"${name}\" inside a string");
	else
		stb_diag_help(p->sink, d, "text that holds it stands in double quotes");
}

/* --- times ------------------------------------------------------------------------------------------------------------------------- */

static unsigned two_digits(const char *s)
{
	return (unsigned)(s[0] - '0') * 10 + (unsigned)(s[1] - '0');
}

int stb_scan_time(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	const char *s = p->text + at.begin;
	const uint32_t len = at.end - at.begin;
	struct stb_diag *d;

	if (len == 5 && s[2] == ':' && two_digits(s) < 24 && two_digits(s + 3) < 60) {
		v->STB_T_TIME = stb_build_node(p, STB_N_TIME, at);
		v->STB_T_TIME->num = stb_val_num(STB_V_CLOCK, two_digits(s) * 60 + two_digits(s + 3), 1);
		return STB_T_TIME;
	}
	v->STB_T_TIME = stb_build_bad(p, at);
	if (p->skipping)
		return STB_T_TIME;
	d = stb_parser_error(p, STB_E0114, at, "`%s` is not a time of day", stb_parser_spelling(p, at));
	if (len == 4 && s[1] == ':' && two_digits(s + 2) < 60) {
		stb_diag_here(p->sink, d, "write `0%.4s`", s);
		stb_diag_fixit(p->sink, d, at, "0%.4s", s);
	} else {
		stb_diag_here(p->sink, d, "HH:MM, from 00:00 to 23:59");
	}
	return STB_T_TIME;
}

/* --- strings ----------------------------------------------------------------------------------------------------------------------- */

struct string_reader {
	struct stb_parser *p;
	struct stb_buf literal;
	uint32_t literal_begin;
	struct stb_string_part *parts;
	uint32_t n_parts, cap_parts;
	bool bad;
};

static void escape_error(struct string_reader *r, uint32_t begin, uint32_t end, const char *what, const char *help)
{
	const struct stb_span at = { r->p->file, begin, end };
	struct stb_diag *d;

	r->bad = true;
	if (r->p->skipping)
		return;
	d = stb_parser_error(r->p, STB_E0105, at, "`%s` %s", stb_parser_spelling(r->p, at), what);
	stb_diag_help(r->p->sink, d, "%s", help);
}

static void add_part(struct string_reader *r, const char *text, size_t len, bool is_name, uint32_t begin, uint32_t end)
{
	STB_ARENA_GROW(r->p->arena, r->parts, r->n_parts, r->cap_parts);
	r->parts[r->n_parts++] = (struct stb_string_part){
		.text = stb_arena_strndup(r->p->arena, text, len),
		.len = (uint32_t)len,
		.is_name = is_name,
		.span = { r->p->file, begin, end },
	};
}

static void flush_literal(struct string_reader *r, uint32_t end)
{
	if (r->literal.len)
		add_part(r, stb_buf_str(&r->literal), r->literal.len, false, r->literal_begin, end);
	stb_buf_clear(&r->literal);
}

static void add_utf8(struct stb_buf *b, uint32_t c)
{
	if (c < 0x80) {
		stb_buf_addc(b, (char)c);
	} else if (c < 0x800) {
		stb_buf_addc(b, (char)(0xC0 | c >> 6));
		stb_buf_addc(b, (char)(0x80 | (c & 0x3F)));
	} else if (c < 0x10000) {
		stb_buf_addc(b, (char)(0xE0 | c >> 12));
		stb_buf_addc(b, (char)(0x80 | (c >> 6 & 0x3F)));
		stb_buf_addc(b, (char)(0x80 | (c & 0x3F)));
	} else {
		stb_buf_addc(b, (char)(0xF0 | c >> 18));
		stb_buf_addc(b, (char)(0x80 | (c >> 12 & 0x3F)));
		stb_buf_addc(b, (char)(0x80 | (c >> 6 & 0x3F)));
		stb_buf_addc(b, (char)(0x80 | (c & 0x3F)));
	}
}

/* \u{...} at i, before end. The offset behind it. */
static uint32_t read_unicode(struct string_reader *r, uint32_t i, uint32_t end)
{
	static const char help[] = "\\u{...} holds one to six hexadecimal digits of a character, such as \\u{3bc}; not 0, not a surrogate";
	const char *s = r->p->text;
	uint32_t j = i + 2, c = 0;

	if (j >= end || s[j] != '{') {
		escape_error(r, i, j, "is not followed by `{`", help);
		return j;
	}
	for (j++; j < end && j < i + 10 && isxdigit((unsigned char)s[j]); j++)
		c = c * 16 + (uint32_t)(s[j] <= '9' ? s[j] - '0' : (s[j] | 0x20) - 'a' + 10);
	if (j >= end || s[j] != '}' || j == i + 3 || j > i + 9 || c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
		while (j < end && s[j] != '}' && isalnum((unsigned char)s[j]))
			j++;
		j += j < end && s[j] == '}';
		escape_error(r, i, j, "is not a character", help);
		return j;
	}
	add_utf8(&r->literal, c);
	return j + 1;
}

static uint32_t read_escape(struct string_reader *r, uint32_t i, uint32_t end)
{
	const char *s = r->p->text;

	switch (s[i + 1]) {
	case '"':
	case '\\':
	case '$':
		stb_buf_addc(&r->literal, s[i + 1]);
		return i + 2;
	case 'n':
		stb_buf_addc(&r->literal, '\n');
		return i + 2;
	case 't':
		stb_buf_addc(&r->literal, '\t');
		return i + 2;
	case 'u':
		return read_unicode(r, i, end);
	default:
		break;
	}
	const uint32_t next = i + 1 + stb_glyph_at(s + i + 1, end - i - 1).bytes;

	escape_error(r, i, next, "is not an escape", "the escapes are \\\" \\\\ \\n \\t \\$ and \\u{...}; a backslash itself is \\\\");
	return next;
}

/* ${name} or ${cell.AXIS} at i. The offset behind it. */
static uint32_t read_name(struct string_reader *r, uint32_t i, uint32_t end)
{
	const char *s = r->p->text;
	const uint32_t begin = i + 2;
	uint32_t j = begin;
	bool good = j < end && (isalpha((unsigned char)s[j]) || s[j] == '_');

	for (; j < end && (isalnum((unsigned char)s[j]) || s[j] == '_' || s[j] == '.'); j++)
		if (s[j] == '.')
			good = good && j + 1 < end && (isalpha((unsigned char)s[j + 1]) || s[j + 1] == '_');
	if (!good || j >= end || s[j] != '}') {
		while (j < end && s[j] != '}')
			j++;
		j += j < end && s[j] == '}';
		escape_error(r, i, j, "does not name a value", "write ${name} with the name of a let or param, or \\${ for these very characters");
		return j;
	}
	flush_literal(r, i);
	add_part(r, s + begin, j - begin, true, i, j + 1);
	r->literal_begin = j + 1;
	return j + 1;
}

/* The string between begin and end (its quotes left out). */
static struct stb_node *read_string(struct stb_parser *p, struct stb_span at, uint32_t begin, uint32_t end)
{
	struct string_reader r = { .p = p, .literal_begin = begin };
	struct stb_node *node;

	stb_buf_init(&r.literal);
	for (uint32_t i = begin; i < end;) {
		const char c = p->text[i];

		if (c == '\\' && i + 1 < end) {
			i = read_escape(&r, i, end);
		} else if (c == '$' && i + 1 < end && p->text[i + 1] == '{') {
			i = read_name(&r, i, end);
		} else {
			stb_buf_addc(&r.literal, c == NOT_TEXT ? '?' : c);
			i++;
		}
	}
	flush_literal(&r, end);
	node = r.bad ? stb_build_bad(p, at) : stb_build_node(p, STB_N_STRING, at);
	if (!r.bad) {
		node->parts = r.parts;
		node->n_parts = r.n_parts;
		if (r.n_parts == 0 || (r.n_parts == 1 && !r.parts[0].is_name)) {
			node->text = r.n_parts ? r.parts[0].text : "";
			node->text_len = r.n_parts ? r.parts[0].len : 0;
		}
	}
	stb_buf_fini(&r.literal);
	return node;
}

int stb_scan_string(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	v->STB_T_STRING = read_string(p, at, at.begin + 1, at.end - 1);
	return STB_T_STRING;
}

int stb_scan_open_string(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	struct stb_diag *d;

	while (at.end > at.begin + 1 && isspace((unsigned char)p->text[at.end - 1]))
		at.end--;
	v->STB_T_STRING = stb_build_bad(p, at);
	if (p->skipping)
		return STB_T_STRING;
	d = stb_parser_error(p, STB_E0105, at, "the string is not closed on its line");
	stb_diag_here(p->sink, d, "a closing `\"` is missing");
	if (p->text[at.end - 1] == '\\')
		stb_diag_help(p->sink, d, "a line is not continued by a backslash; a line break inside a string is \\n");
	return STB_T_STRING;
}

/* --- text without double quotes ---------------------------------------------------------------------------------------------------- */

int stb_scan_unquoted(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	const char *s = p->text;
	const uint32_t quote = s[at.begin] == '\'' ? 1 : !strncmp(s + at.begin, "\xe2\x80\x9c", 3) ? 3 : 0;
	uint32_t begin, end;
	struct stb_diag *d;

	while (at.end > at.begin + 1 && isspace((unsigned char)s[at.end - 1]))
		at.end--;
	begin = at.begin + quote;
	end = at.end;
	if (quote == 1 && end - begin > 0 && s[end - 1] == '\'')
		end -= 1;
	else if (quote == 3 && end - begin >= 3 && !memcmp(s + end - 3, "\xe2\x80\x9d", 3))
		end -= 3;
	v->STB_T_STRING = stb_build_node(p, STB_N_STRING, at);
	v->STB_T_STRING->text = stb_arena_strndup(p->arena, s + begin, end - begin);
	v->STB_T_STRING->text_len = end - begin;
	if (end > begin) {
		v->STB_T_STRING->parts = STB_NEW(p->arena, struct stb_string_part);
		*v->STB_T_STRING->parts = (struct stb_string_part){ v->STB_T_STRING->text, end - begin, false, { p->file, begin, end } };
		v->STB_T_STRING->n_parts = 1;
	}
	if (p->skipping)
		return STB_T_STRING;
	if (quote)
		d = stb_parser_error(p, STB_E0110, at, "text stands in double quotes, not in %s", quote == 1 ? "single ones" : "curly ones");
	else
		d = stb_parser_error(p, STB_E0110, at, "`%s` needs quotes", stb_parser_spelling(p, at));
	const char *inner = stb_parser_spelling(p, (struct stb_span){ p->file, begin, end });

	stb_diag_here(p->sink, d, "write `\"%s\"`", inner);
	if (end - begin < 40 && !memchr(s + begin, '"', end - begin) && !memchr(s + begin, '\\', end - begin))
		stb_diag_fixit(p->sink, d, at, "\"%s\"", inner);
	return STB_T_STRING;
}

void stb_scan_foreign_comment(struct stb_parser *p, struct stb_span at)
{
	const struct stb_span sign = { p->file, at.begin, at.begin + 2 };
	const char *s = p->text + at.begin;
	const uint32_t len = at.end - at.begin;
	struct stb_diag *d;

	if (p->skipping)
		return;
	d = stb_parser_error(p, STB_E0113, sign, "a comment begins with `#`");
	if (s[1] == '/') {
		stb_diag_here(p->sink, d, "write `#`");
		stb_diag_fixit(p->sink, d, sign, "#");
	} else if (len < 4 || s[len - 2] != '*' || s[len - 1] != '/') {
		stb_diag_here(p->sink, d, "this one is not closed either: all that follows was passed over");
	} else {
		stb_diag_here(p->sink, d, "begin each of its lines with `#`");
	}
}

bool stb_scan_bare_follows(struct stb_parser *p, struct stb_span at)
{
	p->text_begin = at.begin;
	return stb_scan_wants_value(p) && isalnum((unsigned char)p->text[at.end]);
}

/* --- letters and signs outside of ASCII -------------------------------------------------------------------------------------------- */

static const struct lookalike {
	const char *bytes;
	const char *plain;
	int kind; /* 0: a blank */
} lookalikes[] = {
	{ "\xEF\xBC\x9D", "=", STB_T_EQUALS },   { "\xEF\xBD\x9B", "{", STB_T_LBRACE },   { "\xEF\xBD\x9D", "}", STB_T_RBRACE },
	{ "\xEF\xBC\xBB", "[", STB_T_LBRACKET }, { "\xEF\xBC\xBD", "]", STB_T_RBRACKET }, { "\xEF\xBC\x88", "(", STB_T_LPAREN },
	{ "\xEF\xBC\x89", ")", STB_T_RPAREN },   { "\xEF\xBC\x8C", ",", STB_T_COMMA },	  { "\xE3\x80\x81", ",", STB_T_COMMA },
	{ "\xEF\xBC\x9A", ":", STB_T_WRONG_EQUALS }, { "\xE2\x88\x92", "-", STB_T_MINUS }, { "\xE2\x80\x93", "-", STB_T_MINUS },
	{ "\xE3\x80\x80", " ", 0 },		 { "\xE2\x80\xA6", "..", STB_T_DOTDOT },
};

static const struct lookalike *lookalike_at(const char *s, size_t len)
{
	for (size_t i = 0; i < STB_LEN(lookalikes); i++)
		if (len >= 3 && !memcmp(s, lookalikes[i].bytes, 3))
			return &lookalikes[i];
	return NULL;
}

/* U+00A0, the blank that does not break a line. */
static bool no_break_space_at(const char *s, size_t len)
{
	return len >= 2 && !memcmp(s, "\xC2\xA0", 2);
}

bool stb_scan_lookalike_at(const struct stb_parser *p, uint32_t offset)
{
	const char *s = p->text + offset;
	const size_t len = p->len - offset;

	return (*s & 0x80) && (lookalike_at(s, len) || no_break_space_at(s, len));
}

static bool has_high_byte(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] & 0x80)
			return true;
	return false;
}

int stb_scan_foreign(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	const char *s = p->text + at.begin;
	const uint32_t len = at.end - at.begin;
	const struct lookalike *l = lookalike_at(s, len);
	const bool blank = (l && !l->kind) || no_break_space_at(s, len);
	struct stb_diag *d;

	if (!l && !blank) {
		if (isdigit((unsigned char)*s))
			return stb_scan_quantity(p, v, at);
		if (strchr("/~.", *s) || (has_high_byte(s, len) && stb_scan_wants_value(p)))
			return stb_scan_unquoted(p, v, at);
		if (!has_high_byte(s, len)) /* a word in front of a look-alike */
			return stb_scan_word(p, v, at);
		v->STB_T_IDENT = name_at(p, at);
	}
	if (p->skipping)
		return l ? l->kind : blank ? 0 : STB_T_IDENT;
	if (blank)
		d = stb_parser_error(p, STB_E0103, at, "a blank that is not a plain one");
	else if (l)
		d = stb_parser_error(p, STB_E0103, at, "`%s` is not the plain `%s`", stb_parser_spelling(p, at), l->plain);
	else
		d = stb_parser_error(p, STB_E0103, at, "`%s` is not a name", stb_parser_spelling(p, at));
	if (l || blank) {
		stb_diag_here(p->sink, d, "write %s", blank ? "a space" : l->plain);
		stb_diag_fixit(p->sink, d, at, "%s", blank ? " " : l->plain);
		return l ? l->kind : 0;
	}
	stb_diag_help(p->sink, d, "names are made of A-Z, a-z, 0-9 and _; a label = \"...\" may be in any language");
	return STB_T_IDENT;
}
