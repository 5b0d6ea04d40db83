/*
 * secret.c - finding the bytes of secrets that were written into a spec.
 *
 * A literal behind `password =` is refused by a pass that knows types; but a syntax error on its line, or on that of a let that it names,
 * would quote it before. So this looks at the text alone, and rather hides too much: a value is what stands behind the sign, over operators
 * and brackets, a bare word the rest of its line. env("NAME") and file("PATH") say where a secret is, and are shown.
 */
#include "compiler/secret.h"

#include <ctype.h>
#include <string.h>

enum {
	MAX_CHAIN = 8,   /* of lets that name each other */
	MAX_WALKED_BYTES = 1 << 28, /* each let that is looked for costs a walk over the file */
};

struct text {
	struct stb_sink *sink;
	uint32_t file;
	const char *s;
	uint32_t len;
};

bool stb_secret_name(const char *name)
{
	static const char *const parts[] = { "password", "passwd", "passphrase", "secret", "token", "pwd" };
	static const char *const near[] = { "password", "passphrase" };

	for (size_t i = 0; i < STB_LEN(parts); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return !strcasecmp(name, "pass") || stb_nearest(name, near, STB_LEN(near));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static uint32_t word_end(const struct text *t, uint32_t i)
{
	while (i < t->len && is_word(t->s[i]))
		i++;
	return i;
}

static uint32_t pass_spaces(const struct text *t, uint32_t i)
{
	while (i < t->len && (t->s[i] == ' ' || t->s[i] == '\t'))
		i++;
	return i;
}

static uint32_t line_end(const struct text *t, uint32_t i)
{
	while (i < t->len && t->s[i] != '\n' && t->s[i] != '\r')
		i++;
	return i;
}

/* Blanks, line ends and comments. */
static uint32_t pass_all(const struct text *t, uint32_t i)
{
	for (; i < t->len; i++) {
		if (t->s[i] == '#')
			i = line_end(t, i);
		if (i < t->len && !isspace((unsigned char)t->s[i]))
			break;
	}
	return i;
}

/* Behind the closing quote, or at the end of the line. */
static uint32_t string_end(const struct text *t, uint32_t i)
{
	const char quote = t->s[i];

	for (i++; i < t->len && t->s[i] != '\n' && t->s[i] != quote; i++)
		if (t->s[i] == '\\' && i + 1 < t->len && t->s[i + 1] != '\n')
			i++;
	return i < t->len && t->s[i] == quote ? i + 1 : STB_MIN(i, t->len);
}

/* Behind the partner of the bracket at i; where it has none, at the end of its line. */
static uint32_t bracket_end(const struct text *t, uint32_t i)
{
	uint32_t depth = 0, k = i;

	while (k < t->len) {
		switch (t->s[k]) {
		case '(':
		case '[':
			depth++;
			break;
		case ')':
		case ']':
			if (--depth == 0)
				return k + 1;
			break;
		case '"':
			k = string_end(t, k);
			continue;
		case '#':
			k = line_end(t, k);
			continue;
		case '{':
		case '}':
		case '=':
			return line_end(t, i);
		default:
			break;
		}
		k++;
	}
	return line_end(t, i);
}

static void mask_value(const struct text *t, uint32_t i, uint32_t chain);

/* The values of `let NAME =` and `param NAME =`. */
static void mask_let(const struct text *t, const char *name, uint32_t n, uint32_t chain)
{
	if (chain >= MAX_CHAIN || (uint64_t)t->sink->n_masks * t->len > MAX_WALKED_BYTES)
		return;
	for (uint32_t i = 0; i < t->len; i++) {
		const uint32_t end = is_word(t->s[i]) ? word_end(t, i) : i;
		const bool declares = (end - i == 3 && !memcmp(t->s + i, "let", 3)) || (end - i == 5 && !memcmp(t->s + i, "param", 5));
		const uint32_t at = declares ? pass_all(t, end) : 0;

		if (declares && word_end(t, at) - at == n && !memcmp(t->s + at, name, n)) {
			const uint32_t sign = pass_all(t, at + n);

			if (sign < t->len && (t->s[sign] == '=' || t->s[sign] == ':'))
				mask_value(t, sign + 1, chain + 1);
		}
		i = STB_MAX(i, end);
	}
}

static void mask_names_in(const struct text *t, uint32_t begin, uint32_t end, uint32_t chain)
{
	for (uint32_t i = begin; i + 2 < end; i++)
		if (t->s[i] == '$' && t->s[i + 1] == '{')
			mask_let(t, t->s + i + 2, word_end(t, i + 2) - (i + 2), chain);
}

/* env("NAME") or file("PATH"), with one string: anything else there may be the secret itself. */
static bool refers(const struct text *t, uint32_t i, uint32_t end)
{
	const bool known = (end - i == 3 && !memcmp(t->s + i, "env", 3)) || (end - i == 4 && !memcmp(t->s + i, "file", 4));
	const uint32_t arg = known ? pass_all(t, pass_spaces(t, end) + 1) : t->len;
	uint32_t close;

	if (arg >= t->len || t->s[arg] != '"')
		return false;
	close = pass_all(t, string_end(t, arg));
	return close < t->len && t->s[close] == ')';
}

/* One operand; *whole: nothing of the expression can follow it. */
static uint32_t operand_end(const struct text *t, uint32_t i, uint32_t chain, bool *whole)
{
	uint32_t end;

	switch (t->s[i]) {
	case '"':
	case '\'':
		end = string_end(t, i);
		mask_names_in(t, i, end, chain);
		return end;
	case '(':
	case '[':
		end = bracket_end(t, i);
		mask_names_in(t, i, end, chain);
		return end;
	default:
		break;
	}
	end = word_end(t, i);
	if (end > i && pass_spaces(t, end) < t->len && t->s[pass_spaces(t, end)] == '(') {
		*whole = refers(t, i, end);
		return *whole ? i : bracket_end(t, pass_spaces(t, end));
	}
	if (end > i && !isdigit((unsigned char)t->s[i]))
		mask_let(t, t->s + i, end - i, chain);
	*whole = true;
	end = i;
	while (end < t->len && !strchr("\r\n}", t->s[end]))
		end++;
	return end;
}

static void mask_value(const struct text *t, uint32_t i, uint32_t chain)
{
	const uint32_t begin = pass_all(t, i);
	uint32_t at = begin, end = begin;
	bool whole = begin >= t->len || t->s[begin] == '}';

	while (!whole) {
		end = operand_end(t, at, chain, &whole);
		at = pass_spaces(t, end);
		whole = whole || at >= t->len || !strchr("+-*/,.", t->s[at]);
		if (!whole)
			at = pass_all(t, at + 1);
		whole = whole || at >= t->len;
	}
	stb_sink_mask(t->sink, (struct stb_span){ t->file, begin, end });
}

void stb_secret_mask(struct stb_sink *s, uint32_t file, uint32_t offset)
{
	const struct stb_source_file *f = &s->sources->files[file];
	const struct text t = { .sink = s, .file = file, .s = f->bytes, .len = f->len };

	mask_value(&t, offset, 0);
}
