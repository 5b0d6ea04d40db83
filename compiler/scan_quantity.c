/*
 * scan_quantity.c - numbers with units. What a quantity is, runtime/base/units decides; here is what to say where it is none.
 */
#include "compiler/scan.h"

#include "runtime/base/units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_HINT = 48 }; /* longer spellings get no worked-out suggestion */

struct number { /* a spelling in its parts */
	const char *text;
	int len;
	int digits;       /* length of `12.5` in `12.5KiB/s` */
	const char *unit; /* NUL-terminated, without /s */
	bool per_s;
};

static struct number take_apart(struct stb_parser *p, struct stb_span at)
{
	struct number n = { .text = stb_arena_strndup(p->arena, p->text + at.begin, at.end - at.begin), .len = (int)(at.end - at.begin) };
	int unit_len;

	while (n.digits < n.len && (isdigit((unsigned char)n.text[n.digits]) || strchr("_.", n.text[n.digits])))
		n.digits++;
	unit_len = n.len - n.digits;
	if (unit_len >= 2 && !strcmp(n.text + n.len - 2, "/s")) {
		unit_len -= 2;
		n.per_s = true;
	}
	n.unit = stb_arena_strndup(p->arena, n.text + n.digits, (size_t)unit_len);
	return n;
}

/* `digits` + unit as a quantity; false where that is none either. */
static bool try(struct stb_parser *p, const struct number *n, const char *unit, char **text, struct stb_val *value)
{
	*text = stb_arena_printf(p->arena, "%.*s%s%s", n->digits, n->text, unit, n->per_s ? "/s" : "");
	return stb_units_parse(*text, strlen(*text), value) == STB_UNITS_OK;
}

/* Which of 4KiB and 4KB? Both with their bytes. */
static void hint_bare_prefix(struct stb_parser *p, struct stb_diag *d, const struct number *n)
{
	const char letter[2] = { (char)toupper((unsigned char)n->unit[0]), 0 };
	struct stb_val binary, decimal;
	char *binary_text, *decimal_text;

	if (!try(p, n, stb_arena_printf(p->arena, "%siB", letter), &binary_text, &binary) ||
		!try(p, n, stb_arena_printf(p->arena, "%sB", letter), &decimal_text, &decimal)) {
		stb_diag_here(p->sink, d, "the units of size are B KiB MiB GiB TiB KB MB GB TB");
		return;
	}
	if (n->unit[1] == 'i')
		stb_diag_here(p->sink, d, "write `%s`", binary_text);
	else if (binary.den == 1 && decimal.den == 1)
		stb_diag_here(p->sink, d, "write `%s` (%lld) or `%s` (%lld)", binary_text, (long long)binary.num, decimal_text,
			(long long)decimal.num);
	else
		stb_diag_here(p->sink, d, "write `%s` or `%s`", binary_text, decimal_text);
	if (n->unit[1] == 'i')
		stb_diag_fixit(p->sink, d, d->span, "%s", binary_text);
	else
		stb_diag_help(p->sink, d, "where the number stands for a count, write it out");
}

static const char *meant_unit(const char *unit)
{
	static const char *const aliases[][2] = {
		{ "sec", "s" }, { "secs", "s" }, { "second", "s" }, { "seconds", "s" }, { "minute", "min" }, { "minutes", "min" },
		{ "mins", "min" }, { "hour", "h" }, { "hours", "h" }, { "hr", "h" }, { "hrs", "h" }, { "day", "d" }, { "days", "d" },
		{ "msec", "ms" }, { "millis", "ms" }, { "usec", "us" }, { "nsec", "ns" }, { "\xC2\xB5s", "us" }, { "\xCE\xBCs", "us" },
		{ "byte", "B" }, { "bytes", "B" }, { "percent", "%" }, { "pct", "%" },
	};

	for (size_t i = 0; i < STB_LEN(aliases); i++)
		if (!strcasecmp(unit, aliases[i][0]))
			return aliases[i][1];
	for (const char *const *u = stb_units_all(); *u; u++)
		if (!strcasecmp(unit, *u))
			return *u;
	return NULL;
}

static void hint_unknown_unit(struct stb_parser *p, struct stb_diag *d, const struct number *n)
{
	const char *meant = meant_unit(n->unit);
	struct stb_val value;
	char *text;

	if (meant && try(p, n, meant, &text, &value)) {
		stb_diag_here(p->sink, d, "write `%s`", text);
		stb_diag_fixit(p->sink, d, d->span, "%s", text);
	} else if (!strcasecmp(n->unit, "x")) {
		stb_diag_here(p->sink, d, "a ratio is a plain number: write `%.*s`", n->digits, n->text);
		stb_diag_fixit(p->sink, d, d->span, "%.*s", n->digits, n->text);
	} else if (!strcmp(n->unit, "m")) {
		stb_diag_here(p->sink, d, "write `%.*smin`, `%.*sms` or `%.*sMiB`", n->digits, n->text, n->digits, n->text, n->digits, n->text);
	} else if (isdigit((unsigned char)n->text[0]) && (p->raw.kind == STB_T_IDENT || p->raw.kind == STB_T_DOT)) {
		stb_diag_here(p->sink, d, "a name begins with a letter or `_`");
	} else {
		stb_diag_here(p->sink, d, "there is no unit `%s`", n->unit);
		stb_diag_help(p->sink, d, "the units are B KiB MiB GiB TiB KB MB GB TB, ns us ms s min h d, %% and /s");
	}
}

/* 1e6 -> 1_000_000, where the mantissa is whole and the result is of a size that one reads. */
static void hint_exponent(struct stb_parser *p, struct stb_diag *d, const struct number *n)
{
	const char *e = strpbrk(n->text, "eE");
	const long exponent = e ? strtol(e + 1, NULL, 10) : -1;
	char plain[MAX_HINT], grouped[MAX_HINT * 2];
	size_t len = 0, out = 0;

	if (!e || exponent < 0 || exponent > 15 || strchr(n->text, '.') || e - n->text > 15 || !isdigit((unsigned char)e[e[1] == '+' ? 2 : 1])) {
		stb_diag_here(p->sink, d, "write the number out");
		return;
	}
	for (const char *s = n->text; s < e; s++)
		if (*s != '_')
			plain[len++] = *s;
	for (long i = 0; i < exponent; i++)
		plain[len++] = '0';
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			grouped[out++] = '_';
		grouped[out++] = plain[i];
	}
	grouped[out] = 0;
	stb_diag_here(p->sink, d, "write `%s`", grouped);
	stb_diag_fixit(p->sink, d, d->span, "%s", grouped);
}

static void hint_leading_zero(struct stb_parser *p, struct stb_diag *d, const struct number *n)
{
	const char *s = n->text;
	struct stb_val value;

	while (*s == '0' || *s == '_')
		s++;
	if (!isdigit((unsigned char)*s) && s > n->text)
		s--;
	if (*s && stb_units_parse(s, strlen(s), &value) == STB_UNITS_OK) {
		stb_diag_here(p->sink, d, "write `%s`", s);
		stb_diag_fixit(p->sink, d, d->span, "%s", s);
	} else {
		stb_diag_here(p->sink, d, "a number is decimal and begins with no zero");
	}
}

static void report(struct stb_parser *p, struct stb_span at, enum stb_units_status status)
{
	const struct number n = take_apart(p, at);
	const char *shown = stb_parser_spelling(p, at);
	struct stb_diag *d;

	switch (status) {
	case STB_UNITS_OK:
		return;
	case STB_UNITS_LEADING_ZERO:
		d = stb_parser_error(p, STB_E0104, at, "`%s` begins with a zero", shown);
		hint_leading_zero(p, d, &n);
		return;
	case STB_UNITS_EXPONENT:
		d = stb_parser_error(p, STB_E0104, at, "`%s` has an exponent", shown);
		hint_exponent(p, d, &n);
		return;
	case STB_UNITS_NO_DIGITS:
		d = stb_parser_error(p, STB_E0104, at, "`%s` has no digits after the point", shown);
		stb_diag_here(p->sink, d, "write `%.*s` or `%.*s.0`", STB_MAX(n.digits - 1, 0), n.text, STB_MAX(n.digits - 1, 0), n.text);
		return;
	case STB_UNITS_UNDERSCORE:
		d = stb_parser_error(p, STB_E0104, at, "`%s` has a `_` that does not stand between digits", shown);
		stb_diag_here(p->sink, d, "one `_` between two digits, as in 1_000");
		return;
	case STB_UNITS_BARE_PREFIX:
		d = stb_parser_error(p, STB_E0104, at, "`%s` does not say which size it is", shown);
		hint_bare_prefix(p, d, &n);
		return;
	case STB_UNITS_UNKNOWN:
		d = stb_parser_error(p, STB_E0104, at, "`%s` is not a quantity", shown);
		hint_unknown_unit(p, d, &n);
		return;
	case STB_UNITS_RATE_UNIT:
		d = stb_parser_error(p, STB_E0104, at, "`%s` is not a rate", shown);
		stb_diag_here(p->sink, d, "`/s` follows a plain number or a size: 500/s, 10MiB/s");
		return;
	case STB_UNITS_OVERFLOW:
		d = stb_parser_error(p, STB_E0104, at, "`%s` is too large", shown);
		stb_diag_here(p->sink, d, "in base units (bytes, ns) it has to stay below 2^63");
		return;
	}
}

int stb_scan_quantity(struct stb_parser *p, STB_YYSTYPE *v, struct stb_span at)
{
	const char *s = p->text + at.begin;
	const uint32_t len = at.end - at.begin;
	uint32_t digits = 0, gap;
	enum stb_units_status status;
	struct stb_val value;

	while (digits < len && s[digits] != ' ' && s[digits] != '\t')
		digits++;
	for (gap = digits; gap < len && (s[gap] == ' ' || s[gap] == '\t'); gap++)
		;
	if (gap > digits) { /* a unit that stands apart */
		const char *joined = stb_arena_printf(p->arena, "%.*s%.*s", (int)digits, s, (int)(len - gap), s + gap);

		status = stb_units_parse(joined, strlen(joined), &value);
		if (!p->skipping) {
			struct stb_diag *d = stb_parser_error(p, STB_E0104, at, "the unit stands apart from its number");

			stb_diag_here(p->sink, d, "write `%s`", joined);
			stb_diag_fixit(p->sink, d, at, "%s", joined);
		}
	} else {
		status = stb_units_parse(s, len, &value);
		if (status != STB_UNITS_OK && !p->skipping)
			report(p, at, status);
	}
	v->STB_T_QUANTITY = status == STB_UNITS_OK ? stb_build_node(p, STB_N_QUANTITY, at) : stb_build_bad(p, at);
	v->STB_T_QUANTITY->text = stb_arena_strndup(p->arena, s, len);
	v->STB_T_QUANTITY->text_len = len;
	if (status == STB_UNITS_OK)
		v->STB_T_QUANTITY->num = value;
	return STB_T_QUANTITY;
}

static bool is_unit(const char *s, size_t len)
{
	for (const char *const *u = stb_units_all(); *u; u++)
		if (strlen(*u) == len && !memcmp(*u, s, len))
			return true;
	return false;
}

/*
 * A unit word may also be the name of the next attribute (`max = 5 min = 3` on one line): then `=`, `.`, `{`, `(` or a string follows.
 */
uint32_t stb_scan_split_unit(const struct stb_parser *p, struct stb_span at)
{
	const char *s = p->text;
	uint32_t digits = at.begin, unit, end;

	while (s[digits] != ' ' && s[digits] != '\t')
		digits++;
	for (unit = digits; s[unit] == ' ' || s[unit] == '\t'; unit++)
		;
	for (end = unit; end < at.end && s[end] != '/'; end++)
		;
	if (!is_unit(s + unit, end - unit) || isalnum((unsigned char)s[end]) || s[end] == '_')
		return digits - at.begin;
	if (end < at.end && !isalnum((unsigned char)s[at.end]) && s[at.end] != '_')
		end = at.end; /* with its /s */

	uint32_t next = end;

	while (s[next] == ' ' || s[next] == '\t')
		next++;
	if (s[next] && strchr("=:.({\"", s[next]))
		return digits - at.begin;
	return end - at.begin;
}
