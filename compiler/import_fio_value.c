/*
 * import_fio_value.c - the option table and numbers as fio reads them.
 *
 * Prefixes of sizes depend on kb_base. At its default of 1024 plain prefixes are powers of two (4k and 4kB are 4096) and those with an i are
 * powers of ten (4KiB is 4000); at 1000 it is the other way round. fio ignores what stands behind a suffix; here that is no number.
 */
#include "compiler/import_fio.h"

#include <string.h>
#include <strings.h>

static const struct stb_fio_row rows[] = {
#define STB_FIO_BECOMES(sym, names, kind, what, sample, expect) \
	{ STB_FIO_IS_TRANSLATED, STB_FIO_##sym, names, STB_FIO_##kind, STB_FIO_ALWAYS, NULL, sample, what, expect },
#define STB_FIO_ALSO STB_FIO_BECOMES
#define STB_FIO_CHANGES(names, kind, when, neutral, sample, reason) \
	{ STB_FIO_IS_REFUSED, -1, names, STB_FIO_##kind, STB_FIO_##when, neutral, sample, reason, NULL },
#define STB_FIO_LEFT(names, kind, when, neutral, sample, reason) \
	{ STB_FIO_IS_LEFT, -1, names, STB_FIO_##kind, STB_FIO_##when, neutral, sample, reason, NULL },
#include "compiler/import_fio.def"
#undef STB_FIO_BECOMES
#undef STB_FIO_ALSO
#undef STB_FIO_CHANGES
#undef STB_FIO_LEFT
};

const struct stb_fio_row *stb_fio_rows(uint32_t *n)
{
	*n = STB_LEN(rows);
	return rows;
}

const struct stb_fio_row *stb_fio_find(const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < STB_LEN(rows); i++) {
		for (const char *p = rows[i].names; *p; p += strspn(p, " ")) {
			const size_t n = strcspn(p, " ");

			if (n == len && !memcmp(p, name, len))
				return &rows[i];
			p += n;
		}
	}
	return NULL;
}

/* --- numbers ------------------------------------------------------------------------------------------------------------------------- */

/* Digits, decimal or 0x; *end behind them. */
static bool read_digits(const char *s, uint64_t *out, const char **end)
{
	const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const uint64_t base = hex ? 16 : 10;
	const char *p = hex ? s + 2 : s, *first = p;
	uint64_t n = 0;

	for (;; p++) {
		uint64_t digit;

		if (*p >= '0' && *p <= '9')
			digit = (uint64_t)(*p - '0');
		else if (hex && strchr("abcdef", *p | 0x20) && *p)
			digit = (uint64_t)((*p | 0x20) - 'a') + 10;
		else
			break;
		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*out = n;
	*end = p;
	return p > first;
}

static bool byte_scale(const char *suffix, uint32_t kb_base, uint64_t *scale)
{
	static const char prefixes[] = "kmgtp";
	const char *at = *suffix ? strchr(prefixes, *suffix | 0x20) : NULL;
	const bool i = !strcasecmp(suffix + (at != NULL), "ib");
	const uint64_t base = i ? (kb_base == 1000 ? 1024 : 1000) : kb_base;

	*scale = 1;
	if (!*suffix || !strcasecmp(suffix, "b"))
		return true;
	if (!at || !(i || !suffix[1] || !strcasecmp(suffix + 1, "b") || !strcasecmp(suffix + 1, "i")))
		return false;
	for (const char *p = prefixes; p <= at; p++)
		*scale *= base;
	return true;
}

static bool time_scale(const char *suffix, enum stb_fio_kind kind, uint64_t *scale)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "usec", 1000 }, { "ms", 1000000 }, { "msec", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 }, { "d", 86400000000000 } };

	*scale = kind == STB_FIO_SECONDS ? 1000000000 : 1000;
	for (size_t i = 0; *suffix && i < STB_LEN(units); i++)
		if (!strcasecmp(units[i].name, suffix)) {
			*scale = units[i].ns;
			return true;
		}
	return !*suffix;
}

/* [[DD:]HH:]MM:SS */
static bool read_clock(const char *s, uint64_t *ns)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	uint64_t parts[4], total = 0;
	unsigned n = 0;

	for (;; s++) {
		if (n == 4 || !read_digits(s, &parts[n++], &s) || (*s && *s != ':'))
			return false;
		if (!*s)
			break;
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t t;

		if (__builtin_mul_overflow(parts[n - 1 - i], seconds[i] * 1000000000, &t) || __builtin_add_overflow(total, t, &total))
			return false;
	}
	*ns = total;
	return true;
}

bool stb_fio_number(const char *s, enum stb_fio_kind kind, uint32_t kb_base, uint64_t *out)
{
	const bool is_time = kind == STB_FIO_SECONDS || kind == STB_FIO_MICROSECONDS;
	uint64_t n, scale;
	const char *end;

	if (is_time && strchr(s, ':'))
		return read_clock(s, out);
	if (!read_digits(s, &n, &end))
		return false;
	if (!(is_time ? time_scale(end, kind, &scale) : byte_scale(end, kb_base, &scale)) || __builtin_mul_overflow(n, scale, &n) ||
		n > INT64_MAX)
		return false;
	if ((kind == STB_FIO_FLAG || kind == STB_FIO_BOOL) && n > 1)
		return false;
	*out = n;
	return true;
}

bool stb_fio_reads_kib_as_kb(const char *s, uint32_t kb_base)
{
	const size_t digits = strspn(s, "0123456789");

	return kb_base != 1000 && digits && s[digits] && !strcasecmp(s + digits + 1, "ib");
}

const char *stb_fio_decimal(struct stb_arena *a, const char *s, size_t len)
{
	size_t whole = 0, n;

	while (whole < len && s[whole] >= '0' && s[whole] <= '9')
		whole++;
	n = whole + (whole < len && s[whole] == '.');
	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	if (n != len || len == 0 || len > 13 || (len == 1 && *s == '.'))
		return NULL;
	while (whole > 1 && *s == '0') /* 01 is no number of a spec */
		s++, whole--, len--;
	if (s[len - 1] == '.')
		len--;
	return whole ? stb_arena_strndup(a, s, len) : stb_arena_printf(a, "0%.*s", (int)len, s);
}
