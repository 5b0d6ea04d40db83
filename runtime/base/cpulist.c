/*
 * cpulist.c - reads and prints CPU lists.
 *
 *   list = item { "," item }      item = [ "^" ] NUMBER [ "-" NUMBER ]
 *
 * Two sets are collected, what is named and what is taken out, and subtracted at the end: so an exclusion wins wherever it stands. The form is
 * stricter than what the kernel or libvirt take (no blanks, no leading zeros, no strides), since one list shall be one text.
 */
#include "runtime/base/cpulist.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS (STB_CPU_MAX / 64)

/* --- sets ---------------------------------------------------------------------------------------------------------------------------- */

void stb_cpuset_clear(struct stb_cpuset *s)
{
	memset(s, 0, sizeof(*s));
}

void stb_cpuset_add(struct stb_cpuset *s, uint32_t cpu)
{
	STB_ASSERT(cpu < STB_CPU_MAX);
	s->words[cpu / 64] |= 1ull << cpu % 64;
}

void stb_cpuset_add_range(struct stb_cpuset *s, uint32_t first, uint32_t last)
{
	STB_ASSERT(last < STB_CPU_MAX);
	for (uint32_t i = first / 64; first <= last && i <= last / 64; i++) {
		uint64_t w = ~0ull;

		if (i == first / 64)
			w &= ~0ull << first % 64;
		if (i == last / 64)
			w &= ~0ull >> (63 - last % 64);
		s->words[i] |= w;
	}
}

void stb_cpuset_remove(struct stb_cpuset *s, uint32_t cpu)
{
	if (cpu < STB_CPU_MAX)
		s->words[cpu / 64] &= ~(1ull << cpu % 64);
}

bool stb_cpuset_has(const struct stb_cpuset *s, uint32_t cpu)
{
	return cpu < STB_CPU_MAX && s->words[cpu / 64] >> cpu % 64 & 1;
}

bool stb_cpuset_empty(const struct stb_cpuset *s)
{
	return stb_cpuset_next(s, 0) == STB_CPU_NONE;
}

uint32_t stb_cpuset_count(const struct stb_cpuset *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		n += (uint32_t)__builtin_popcountll(s->words[i]);
	return n;
}

/* The least number >= from that is a member (flip 0) or is none (flip all ones); STB_CPU_MAX where there is none. */
static uint32_t next_of(const struct stb_cpuset *s, uint32_t from, uint64_t flip)
{
	for (uint32_t i = from / 64; i < WORDS; i++) {
		uint64_t w = s->words[i] ^ flip;

		if (i == from / 64)
			w &= ~0ull << from % 64;
		if (w)
			return i * 64 + (uint32_t)__builtin_ctzll(w);
	}
	return STB_CPU_MAX;
}

uint32_t stb_cpuset_next(const struct stb_cpuset *s, uint32_t from)
{
	const uint32_t cpu = next_of(s, from, 0);

	return cpu < STB_CPU_MAX ? cpu : STB_CPU_NONE;
}

bool stb_cpuset_next_range(const struct stb_cpuset *s, uint32_t *first, uint32_t *last)
{
	*first = next_of(s, *first, 0);
	if (*first >= STB_CPU_MAX)
		return false;
	*last = next_of(s, *first, ~0ull) - 1;
	return true;
}

void stb_cpuset_unite(struct stb_cpuset *s, const struct stb_cpuset *with)
{
	for (uint32_t i = 0; i < WORDS; i++)
		s->words[i] |= with->words[i];
}

void stb_cpuset_intersect(struct stb_cpuset *s, const struct stb_cpuset *with)
{
	for (uint32_t i = 0; i < WORDS; i++)
		s->words[i] &= with->words[i];
}

void stb_cpuset_subtract(struct stb_cpuset *s, const struct stb_cpuset *what)
{
	for (uint32_t i = 0; i < WORDS; i++)
		s->words[i] &= ~what->words[i];
}

/* --- text ---------------------------------------------------------------------------------------------------------------------------- */

struct reader {
	const char *s;
	size_t len, at;
	uint32_t limit;
	struct stb_cpulist_error *err;
};

STB_PRINTF(4, 5) static bool refuse(struct reader *r, size_t at, size_t len, const char *fmt, ...)
{
	va_list ap;

	*r->err = (struct stb_cpulist_error){ .at = (uint32_t)at, .len = (uint32_t)len };
	va_start(ap, fmt);
	vsnprintf(r->err->reason, sizeof(r->err->reason), fmt, ap);
	va_end(ap);
	return false;
}

STB_PRINTF(2, 3) static void remedy(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->err->remedy, sizeof(r->err->remedy), fmt, ap);
	va_end(ap);
}

static bool at_digit(const struct reader *r)
{
	return r->at < r->len && isdigit((unsigned char)r->s[r->at]);
}

static bool at_char(const struct reader *r, char c)
{
	return r->at < r->len && r->s[r->at] == c;
}

/* The character at `at` has no place there; `wanted` is what has. */
static bool misplaced(struct reader *r, const char *wanted)
{
	int32_t code;
	const char c = r->s[r->at];
	size_t n = stb_utf8_next(r->s + r->at, r->len - r->at, &code);

	if (!n || (unsigned char)c < ' ' || c == 127) {
		refuse(r, r->at, 1, "byte 0x%02x stands where %s was expected", (unsigned char)c, wanted);
		return false;
	}
	refuse(r, r->at, n, "`%.*s` stands where %s was expected", (int)n, r->s + r->at, wanted);
	if (c == ' ')
		remedy(r, "write the list without blanks");
	else if (c == ';')
		remedy(r, "separate with `,`");
	else if (c == '.' || c == ':')
		remedy(r, "a range is written with `-`, as in 0-3");
	else if (c == '!' || c == '~')
		remedy(r, "exclude with `^`, as in 0-7,^3");
	return false;
}

static bool number(struct reader *r, uint32_t *out)
{
	const size_t start = r->at;
	uint64_t v = 0;

	while (at_digit(r)) {
		if (v < STB_CPU_MAX)
			v = v * 10 + (uint64_t)(r->s[r->at] - '0');
		r->at++;
	}
	const int shown = (int)STB_MIN(r->at - start, 20);

	if (r->s[start] == '0' && r->at - start > 1) {
		refuse(r, start, r->at - start, "`%.*s` begins with a zero", shown, r->s + start);
		remedy(r, "write the number without leading zeros");
		return false;
	}
	if (v >= r->limit) {
		refuse(r, start, r->at - start, "%.*s is too large", shown, r->s + start);
		r->err->too_large = true;
		remedy(r, "the highest number is %u", r->limit - 1);
		return false;
	}
	*out = (uint32_t)v;
	return true;
}

/* NUMBER [ "-" NUMBER ] into the set. */
static bool range(struct reader *r, struct stb_cpuset *set)
{
	const size_t start = r->at;
	uint32_t first, last;

	if (!number(r, &first))
		return false;
	last = first;
	if (at_char(r, '-')) {
		r->at++;
		if (r->at == r->len || at_char(r, ',')) {
			refuse(r, start, r->at - start, "the range from %u has no end", first);
			remedy(r, "write its last number, as in %u-%u", first, STB_MIN(first + 3, r->limit - 1));
			return false;
		}
		if (!at_digit(r))
			return misplaced(r, "a number");
		if (!number(r, &last))
			return false;
	}
	if (last < first) {
		refuse(r, start, r->at - start, "%u-%u runs downward", first, last);
		remedy(r, "write %u-%u", last, first);
		return false;
	}
	stb_cpuset_add_range(set, first, last);
	return true;
}

static bool item(struct reader *r, struct stb_cpuset *named, struct stb_cpuset *taken)
{
	const bool out = at_char(r, '^');

	r->at += out;
	if (r->at == r->len || at_char(r, ',')) {
		if (out)
			return refuse(r, r->at - 1, 1, "`^` excludes nothing");
		refuse(r, r->at, at_char(r, ','), "a number is missing %s", r->at == r->len ? "at the end" : "before `,`");
		remedy(r, "leave the `,` out, or write the number");
		return false;
	}
	if (!at_digit(r))
		return misplaced(r, "a number");
	return range(r, out ? taken : named);
}

static bool list(struct reader *r, struct stb_cpuset *named, struct stb_cpuset *taken)
{
	if (!r->len) {
		refuse(r, 0, 0, "the list is empty");
		remedy(r, "write numbers and ranges, as in 0-3,8");
		return false;
	}
	for (;;) {
		if (!item(r, named, taken))
			return false;
		if (r->at == r->len)
			break;
		if (!at_char(r, ','))
			return misplaced(r, "`,`");
		r->at++;
	}
	stb_cpuset_subtract(named, taken);
	if (stb_cpuset_empty(named)) {
		refuse(r, 0, r->len, "the exclusions leave nothing");
		remedy(r, "name more than is excluded");
		return false;
	}
	return true;
}

int stb_cpulist_parse(const char *s, size_t len, uint32_t limit, struct stb_cpuset *out, struct stb_cpulist_error *err)
{
	struct stb_cpuset taken;
	struct reader r = { s, len, 0, STB_MIN(limit, STB_CPU_MAX), err };

	stb_cpuset_clear(out);
	stb_cpuset_clear(&taken);
	if (list(&r, out, &taken))
		return 0;
	stb_cpuset_clear(out);
	return -1;
}

void stb_cpulist_print(const struct stb_cpuset *s, struct stb_buf *out)
{
	const char *comma = "";
	uint32_t last = 0;

	for (uint32_t first = 0; stb_cpuset_next_range(s, &first, &last); first = last + 1) {
		stb_buf_printf(out, "%s%u", comma, first);
		if (last > first)
			stb_buf_printf(out, "-%u", last);
		comma = ",";
	}
}
