/*
 * test_units.c - quantities as text and back: the table, the slips that get a hint, and exactness at the borders of 63 bits.
 */
#include "runtime/base/rng.h"
#include "runtime/base/units.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static enum stb_units_status parse(const char *s, struct stb_val *out)
{
	return stb_units_parse(s, strlen(s), out);
}

Test(units, reads_every_unit_exactly)
{
	static const struct {
		const char *text;
		enum stb_vtype type;
		int64_t num, den;
	} cases[] = {
		{ "0", STB_V_COUNT, 0, 1 },
		{ "1_000_000", STB_V_COUNT, 1000000, 1 },
		{ "2.5", STB_V_COUNT, 5, 2 },
		{ "4KiB", STB_V_BYTES, 4096, 1 },
		{ "4KB", STB_V_BYTES, 4000, 1 },
		{ "1TiB", STB_V_BYTES, 1ll << 40, 1 },
		{ "1.5KiB", STB_V_BYTES, 1536, 1 },
		{ "0.1B", STB_V_BYTES, 1, 10 },
		{ "2.5ms", STB_V_TIME, 2500000, 1 },
		{ "1d", STB_V_TIME, 86400000000000, 1 },
		{ "1min", STB_V_TIME, 60000000000, 1 },
		{ "70%", STB_V_SHARE, 7, 10 },
		{ "8.41%", STB_V_SHARE, 841, 10000 },
		{ "500/s", STB_V_RATE, 500, 1 },
		{ "10MiB/s", STB_V_BYTE_RATE, 10485760, 1 },
		{ "9223372036854775807", STB_V_COUNT, INT64_MAX, 1 },
		{ "8388607TiB", STB_V_BYTES, 8388607ll << 40, 1 },
		{ "0.000000000000000001", STB_V_COUNT, 1, 1000000000000000000 },
		{ "9223372036.854775807s", STB_V_TIME, INT64_MAX, 1 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct stb_val v = { 0 };

		cr_assert_eq(parse(cases[i].text, &v), STB_UNITS_OK, "%s", cases[i].text);
		cr_assert_eq(v.type, cases[i].type, "%s", cases[i].text);
		cr_assert(v.num == cases[i].num && v.den == cases[i].den, "%s gave %" PRId64 "/%" PRId64, cases[i].text, v.num, v.den);
	}
}

Test(units, names_each_slip)
{
	static const struct {
		const char *text;
		enum stb_units_status status;
	} cases[] = {
		{ "010", STB_UNITS_LEADING_ZERO },     { "00", STB_UNITS_LEADING_ZERO },   { "0_1", STB_UNITS_LEADING_ZERO },
		{ "1e6", STB_UNITS_EXPONENT },         { "1E-3", STB_UNITS_EXPONENT },     { "1.5e6", STB_UNITS_EXPONENT },
		{ "1.", STB_UNITS_NO_DIGITS },         { "1.s", STB_UNITS_NO_DIGITS },     { "", STB_UNITS_NO_DIGITS },
		{ "s", STB_UNITS_NO_DIGITS },          { "1_", STB_UNITS_UNDERSCORE },     { "1__0", STB_UNITS_UNDERSCORE },
		{ "1_KiB", STB_UNITS_UNDERSCORE },     { "1.5_", STB_UNITS_UNDERSCORE },   { "1._5", STB_UNITS_UNDERSCORE },
		{ "4k", STB_UNITS_BARE_PREFIX },       { "4K", STB_UNITS_BARE_PREFIX },    { "4Ki", STB_UNITS_BARE_PREFIX },
		{ "4M", STB_UNITS_BARE_PREFIX },       { "10G/s", STB_UNITS_BARE_PREFIX }, { "2.5x", STB_UNITS_UNKNOWN },
		{ "5m", STB_UNITS_UNKNOWN },           { "4kb", STB_UNITS_UNKNOWN },       { "4kib", STB_UNITS_UNKNOWN },
		{ "4KIB", STB_UNITS_UNKNOWN },         { "4 KiB", STB_UNITS_UNKNOWN },     { "1/", STB_UNITS_UNKNOWN },
		{ "4s/s", STB_UNITS_RATE_UNIT },       { "5%/s", STB_UNITS_RATE_UNIT },    { "1/s/s", STB_UNITS_UNKNOWN },
		{ "9223372036854775808", STB_UNITS_OVERFLOW },
		{ "8388608TiB", STB_UNITS_OVERFLOW },
		{ "99999999999999999999999999999999999999999999", STB_UNITS_OVERFLOW },
		{ "0.0000000000000000001", STB_UNITS_OVERFLOW },
		{ "1.0000000000000000000000000000000000000000001", STB_UNITS_OVERFLOW },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct stb_val v = { .type = STB_V_CLOCK, .num = 77 };

		cr_assert_eq(parse(cases[i].text, &v), cases[i].status, "%s gave %d", cases[i].text, parse(cases[i].text, &v));
		cr_assert(v.type == STB_V_CLOCK && v.num == 77, "%s touched the value", cases[i].text);
	}
}

Test(units, reads_only_len_bytes)
{
	struct stb_val v;

	cr_assert_eq(stb_units_parse("4KiB", 1, &v), STB_UNITS_OK);
	cr_assert(v.type == STB_V_COUNT && v.num == 4);
	cr_assert_eq(stb_units_parse("4\0KiB", 5, &v), STB_UNITS_UNKNOWN);
}

/* What print writes, parse reads as the same value; a division is read by its two sides. */
static void round_trip(const struct stb_val *v)
{
	struct stb_val back = { 0 };
	struct stb_buf b;
	const char *text;
	char *slash, *end;
	int64_t den = 1;

	stb_buf_init(&b);
	stb_val_print(&b, v);
	text = stb_buf_str(&b);
	slash = strrchr(b.data, '/');
	if (slash && slash[1] != 's') {
		den = strtoll(slash + 1, &end, 10);
		cr_assert(!*end && den > 1, "%s", text);
		*slash = '\0';
	}
	cr_assert_eq(parse(text, &back), STB_UNITS_OK, "%s of type %d, %" PRId64 "/%" PRId64, text, v->type, v->num, v->den);
	if (den > 1) {
		cr_assert_eq(back.den % den == 0 || INT64_MAX / den > back.den, true, "%s", text);
		back = stb_val_num(back.type, back.num, back.den * den);
	}
	cr_assert(stb_val_equal(&back, v), "%s of %" PRId64 "/%" PRId64 " came back as %" PRId64 "/%" PRId64, text, v->num, v->den,
		back.num, back.den);
	stb_buf_fini(&b);
}

Test(units, print_and_parse_are_inverse)
{
	static const enum stb_vtype types[] = { STB_V_COUNT, STB_V_BYTES, STB_V_TIME, STB_V_SHARE, STB_V_RATE, STB_V_BYTE_RATE };
	static const int64_t dens[] = { 1, 1, 1, 2, 3, 7, 10, 100, 125, 1000, 1024, 1000000, 1ll << 18, 97 };
	struct stb_rng r;

	stb_rng_seed(&r, 20261130);
	for (int i = 0; i < 60000; i++) {
		const int shift = (int)stb_rng_below(&r, 63);
		int64_t num = (int64_t)(stb_rng_next(&r) >> 1) >> shift;
		struct stb_val v;

		if (i % 3 == 0)
			num = 1ll << shift;
		if (i % 7 == 0)
			num = (int64_t)stb_rng_below(&r, 10000) * 1000000;
		v = stb_val_num(types[i % 6], num, dens[stb_rng_below(&r, STB_LEN(dens))]);
		/* a percentage beyond 63 bits prints, but does not fit when read without its division */
		if (v.type == STB_V_SHARE && v.num > INT64_MAX / 100)
			continue;
		round_trip(&v);
	}
}

Test(units, table_and_list_agree)
{
	for (const char *const *u = stb_units_all(); *u; u++) {
		enum stb_vtype type;
		int64_t num, den;

		if (!strcmp(*u, "/s"))
			continue;
		cr_assert(stb_units_suffix(*u, strlen(*u), &type, &num, &den), "%s", *u);
		cr_assert(num > 0 && den > 0);
	}
}
