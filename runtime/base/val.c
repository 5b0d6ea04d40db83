/*
 * val.c - exact numbers and how values are spelled.
 */
#include "runtime/base/val.h"

#include "runtime/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 18, MAX_DEPTH = 32 };

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* The nearest that fits: only INT64_MIN / -1 and its like are out of range after reducing. */
static int64_t saturate(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

struct stb_val stb_val_num(enum stb_vtype type, int64_t num, int64_t den)
{
	const bool negative = (num < 0) != (den < 0);
	uint64_t n = magnitude(num), d = magnitude(den), common;
	struct stb_val v = { .type = type };

	STB_ASSERT(den != 0);
	common = gcd(n, d);
	n /= common;
	d /= common;
	v.num = negative ? -saturate(n) : saturate(n);
	v.den = saturate(d);
	return v;
}

struct stb_val stb_val_bool(bool on)
{
	return (struct stb_val){ .type = STB_V_BOOL, .num = on, .den = 1 };
}

struct stb_val stb_val_str(enum stb_vtype type, const char *s)
{
	return (struct stb_val){ .type = type, .str = s };
}

static bool is_number(enum stb_vtype type)
{
	return type >= STB_V_BOOL && type <= STB_V_CLOCK;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool equal(const struct stb_val *a, const struct stb_val *b, int depth)
{
	if (a->type != b->type || depth > MAX_DEPTH)
		return false;
	if (is_number(a->type))
		return a->num == b->num && a->den == b->den;
	if (!same_text(a->str, b->str) || a->n_items != b->n_items)
		return false;
	for (uint32_t i = 0; i < a->n_items; i++) {
		if (a->type == STB_V_MAP && strcmp(a->keys[i], b->keys[i]))
			return false;
		if (!equal(&a->items[i], &b->items[i], depth + 1))
			return false;
	}
	return true;
}

bool stb_val_equal(const struct stb_val *a, const struct stb_val *b)
{
	return equal(a, b, 0);
}

int stb_val_cmp(const struct stb_val *a, const struct stb_val *b)
{
	const __int128 left = (__int128)a->num * b->den, right = (__int128)b->num * a->den;

	return left < right ? -1 : left > right;
}

double stb_val_double(const struct stb_val *v)
{
	return v->den ? (double)((long double)v->num / (long double)v->den) : 0;
}

static void print_u128(struct stb_buf *b, unsigned __int128 v)
{
	char digits[40];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	stb_buf_add(b, digits + i, sizeof(digits) - i);
}

/* Places of the exact decimal of 1/den, or -1 where there is none of at most MAX_PLACES. */
static int decimal_places(uint64_t den)
{
	int twos = 0, fives = 0;

	for (; den % 2 == 0; den /= 2)
		twos++;
	for (; den % 5 == 0; den /= 5)
		fives++;
	return den == 1 && STB_MAX(twos, fives) <= MAX_PLACES ? STB_MAX(twos, fives) : -1;
}

/* num/den with its unit: 16, 0.5B, 1B/3. */
static void print_exact(struct stb_buf *b, unsigned __int128 num, uint64_t den, const char *unit)
{
	const int places = decimal_places(den);
	unsigned __int128 rest = num % den;

	if (places < 0) {
		print_u128(b, num);
		stb_buf_printf(b, "%s/%" PRIu64, unit, den);
		return;
	}
	print_u128(b, num / den);
	if (places)
		stb_buf_addc(b, '.');
	for (int i = 0; i < places; i++) {
		rest *= 10;
		stb_buf_addc(b, (char)('0' + (int)(rest / den)));
		rest %= den;
	}
	stb_buf_adds(b, unit);
}

static const char *const binary_units[] = { "TiB", "GiB", "MiB", "KiB" };
static const char *const decimal_units[] = { "TB", "GB", "MB", "KB" };
static const char *const time_units[] = { "d", "h", "min", "s", "ms", "us" };

/* The size of the first unit that divides v, and its name; 1 where none does. */
static uint64_t dividing_unit(uint64_t v, const char *const *names, size_t n, const char **name)
{
	for (size_t i = 0; v && i < n; i++) {
		enum stb_vtype type;
		int64_t num = 1, den = 1;

		if (!stb_units_suffix(names[i], strlen(names[i]), &type, &num, &den))
			STB_BUG("unit table lacks a unit");
		if (v % (uint64_t)num == 0) {
			*name = names[i];
			return (uint64_t)num;
		}
	}
	return 1;
}

static void print_bytes(struct stb_buf *b, uint64_t v)
{
	const char *binary = "B", *decimal = "B";
	const uint64_t by_binary = dividing_unit(v, binary_units, STB_LEN(binary_units), &binary);
	const uint64_t by_decimal = dividing_unit(v, decimal_units, STB_LEN(decimal_units), &decimal);

	if (by_binary >= by_decimal)
		stb_buf_printf(b, "%" PRIu64 "%s", v / by_binary, binary);
	else
		stb_buf_printf(b, "%" PRIu64 "%s", v / by_decimal, decimal);
}

static void print_quantity(struct stb_buf *b, const struct stb_val *v)
{
	const uint64_t num = magnitude(v->num), den = magnitude(v->den);
	const char *unit = "ns";
	uint64_t size;

	if (v->num < 0)
		stb_buf_addc(b, '-');
	if (v->type == STB_V_SHARE) {
		const uint64_t common = gcd(100, den);

		print_exact(b, (unsigned __int128)num * (100 / common), den / common, "%");
	} else if (v->type == STB_V_COUNT || v->type == STB_V_RATE) {
		print_exact(b, num, den, v->type == STB_V_RATE ? "/s" : "");
	} else if (v->type == STB_V_TIME && den == 1) {
		size = dividing_unit(num, time_units, STB_LEN(time_units), &unit);
		if (num)
			stb_buf_printf(b, "%" PRIu64 "%s", num / size, unit);
		else
			stb_buf_adds(b, "0s");
	} else if (v->type == STB_V_TIME) {
		print_exact(b, num, den, "ns");
	} else if (den == 1) {
		print_bytes(b, num);
		stb_buf_adds(b, v->type == STB_V_BYTE_RATE ? "/s" : "");
	} else {
		print_exact(b, num, den, v->type == STB_V_BYTE_RATE ? "B/s" : "B");
	}
}

static void print_quoted(struct stb_buf *b, const char *s)
{
	stb_buf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			stb_buf_printf(b, "\\%c", *s);
		else if (*s == '\n')
			stb_buf_adds(b, "\\n");
		else if (*s == '\t')
			stb_buf_adds(b, "\\t");
		else if (*s == '$' && s[1] == '{')
			stb_buf_adds(b, "\\$");
		else if ((unsigned char)*s < 0x20 || *s == 0x7F)
			stb_buf_printf(b, "\\u{%x}", (unsigned)(unsigned char)*s);
		else
			stb_buf_addc(b, *s);
	}
	stb_buf_addc(b, '"');
}

static void print(struct stb_buf *b, const struct stb_val *v, bool quotes, int depth);

static void print_secret(struct stb_buf *b, const char *where)
{
	const char *name = strchr(where, ':');

	stb_buf_add(b, where, name ? (size_t)(name - where) : strlen(where));
	stb_buf_addc(b, '(');
	print_quoted(b, name ? name + 1 : "");
	stb_buf_addc(b, ')');
}

static void print_items(struct stb_buf *b, const struct stb_val *v, bool quotes, int depth)
{
	const bool map = v->type == STB_V_MAP;

	stb_buf_adds(b, map ? "{ " : "[");
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (i)
			stb_buf_adds(b, map ? "  " : ", ");
		if (map)
			stb_buf_printf(b, "%s = ", v->keys[i]);
		print(b, &v->items[i], quotes, depth + 1);
	}
	stb_buf_adds(b, map ? " }" : "]");
}

static void print_range(struct stb_buf *b, const struct stb_val *v, bool quotes, int depth)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			stb_buf_adds(b, "..");
		if (i >= v->n_items || v->items[i].type == STB_V_NONE)
			stb_buf_addc(b, '*');
		else
			print(b, &v->items[i], quotes, depth + 1);
	}
}

static void print(struct stb_buf *b, const struct stb_val *v, bool quotes, int depth)
{
	if (depth > MAX_DEPTH) {
		stb_buf_adds(b, "...");
		return;
	}
	switch (v->type) {
	case STB_V_NONE:
		stb_buf_adds(b, "none");
		return;
	case STB_V_BOOL:
		stb_buf_adds(b, v->num ? "true" : "false");
		return;
	case STB_V_COUNT:
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
		print_quantity(b, v);
		return;
	case STB_V_CLOCK:
		stb_buf_printf(b, "%02" PRId64 ":%02" PRId64, v->num / 60, v->num % 60);
		return;
	case STB_V_STRING:
		if (quotes)
			print_quoted(b, v->str);
		else
			stb_buf_adds(b, v->str);
		return;
	case STB_V_WORD:
	case STB_V_REF:
		stb_buf_adds(b, v->str);
		return;
	case STB_V_SECRET:
		print_secret(b, v->str);
		return;
	case STB_V_LIST:
	case STB_V_MAP:
		print_items(b, v, quotes, depth);
		return;
	case STB_V_RANGE:
		print_range(b, v, quotes, depth);
		return;
	}
	STB_BUG("unknown value type");
}

void stb_val_print(struct stb_buf *b, const struct stb_val *v)
{
	print(b, v, true, 0);
}

static char *to_arena(struct stb_arena *a, const struct stb_val *v, bool quotes)
{
	struct stb_buf b;
	char *text;

	stb_buf_init(&b);
	print(&b, v, quotes, 0);
	text = stb_arena_strndup(a, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

char *stb_val_text(struct stb_arena *a, const struct stb_val *v)
{
	return to_arena(a, v, true);
}

char *stb_val_label(struct stb_arena *a, const struct stb_val *v)
{
	return to_arena(a, v, false);
}
