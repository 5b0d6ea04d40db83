/*
 * units.c - the table of units and the reader of quantities.
 *
 * A quantity is read exactly: its digits become an integer mantissa over a power of ten, which is reduced against the unit before anything
 * is multiplied, so 2.5ms is 2500000 ns and 0.1B stays 1/10.
 */
#include "runtime/base/units.h"

#include <string.h>

struct unit {
	const char *name;
	enum stb_vtype type;
	int64_t num, den;
};

static const struct unit units[] = {
	{ "B", STB_V_BYTES, 1, 1 },
	{ "KiB", STB_V_BYTES, 1ll << 10, 1 },
	{ "MiB", STB_V_BYTES, 1ll << 20, 1 },
	{ "GiB", STB_V_BYTES, 1ll << 30, 1 },
	{ "TiB", STB_V_BYTES, 1ll << 40, 1 },
	{ "KB", STB_V_BYTES, 1000, 1 },
	{ "MB", STB_V_BYTES, 1000000, 1 },
	{ "GB", STB_V_BYTES, 1000000000, 1 },
	{ "TB", STB_V_BYTES, 1000000000000, 1 },
	{ "ns", STB_V_TIME, 1, 1 },
	{ "us", STB_V_TIME, 1000, 1 },
	{ "ms", STB_V_TIME, 1000000, 1 },
	{ "s", STB_V_TIME, 1000000000, 1 },
	{ "min", STB_V_TIME, 60000000000, 1 },
	{ "h", STB_V_TIME, 3600000000000, 1 },
	{ "d", STB_V_TIME, 86400000000000, 1 },
	{ "%", STB_V_SHARE, 1, 100 },
};

static const char *const all_names[] = { "B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "ns", "us", "ms", "s", "min", "h", "d",
	"%", "/s", NULL };

const char *const *stb_units_all(void)
{
	return all_names;
}

const char *stb_vtype_name(enum stb_vtype type)
{
	switch (type) {
	case STB_V_NONE:
		return "none";
	case STB_V_BOOL:
		return "boolean";
	case STB_V_COUNT:
		return "count";
	case STB_V_BYTES:
		return "bytes";
	case STB_V_TIME:
		return "time";
	case STB_V_SHARE:
		return "share";
	case STB_V_RATE:
		return "rate";
	case STB_V_BYTE_RATE:
		return "byte rate";
	case STB_V_CLOCK:
		return "time of day";
	case STB_V_STRING:
		return "text";
	case STB_V_WORD:
		return "word";
	case STB_V_REF:
		return "reference";
	case STB_V_SECRET:
		return "secret";
	case STB_V_LIST:
		return "list";
	case STB_V_RANGE:
		return "range";
	case STB_V_MAP:
		return "map";
	}
	STB_BUG("unknown value type");
}

static const struct unit *find_unit(const char *s, size_t len)
{
	for (size_t i = 0; i < STB_LEN(units); i++) {
		if (strlen(units[i].name) == len && !memcmp(units[i].name, s, len))
			return &units[i];
	}
	return NULL;
}

bool stb_units_suffix(const char *s, size_t len, enum stb_vtype *type, int64_t *num, int64_t *den)
{
	const struct unit *u = find_unit(s, len);

	if (!u)
		return false;
	*type = u->type;
	*num = u->num;
	*den = u->den;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits with single underscores between them, appended to *mantissa. */
struct digits {
	unsigned __int128 mantissa;
	unsigned count;
	bool overflow, bad_underscore;
};

static size_t read_digits(const char *s, size_t len, struct digits *d)
{
	size_t i = 0;

	for (; i < len && (is_digit(s[i]) || s[i] == '_'); i++) {
		if (s[i] == '_') {
			if (!i || !is_digit(s[i - 1]) || i + 1 == len || !is_digit(s[i + 1]))
				d->bad_underscore = true;
			continue;
		}
		d->count++;
		if (d->mantissa > ((unsigned __int128)1 << 123))
			d->overflow = true;
		else
			d->mantissa = d->mantissa * 10 + (unsigned)(s[i] - '0');
	}
	return i;
}

static bool is_exponent(const char *s, size_t len)
{
	size_t i = 1;

	if (!len || (s[0] != 'e' && s[0] != 'E'))
		return false;
	if (i < len && (s[i] == '+' || s[i] == '-'))
		i++;
	return i == len || is_digit(s[i]);
}

/* k, K, M, G, T, P, alone or with an i: a size whose base is not said. m alone is no size: it may mean minutes. */
static bool is_bare_prefix(const char *s, size_t len)
{
	if (len == 2 && s[1] == 'i')
		len = 1;
	return len == 1 && strchr("kKMgGtTP", s[0]);
}

static unsigned __int128 gcd(unsigned __int128 a, unsigned __int128 b)
{
	while (b) {
		const unsigned __int128 r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* mantissa / 10^places * num / den in lowest terms; false where it does not fit. */
static bool scale(unsigned __int128 mantissa, unsigned places, int64_t num, int64_t den, enum stb_vtype type, struct stb_val *out)
{
	unsigned __int128 below = 1, over = (unsigned __int128)num, common;

	for (unsigned i = 0; i < places; i++)
		below *= 10;
	common = gcd(mantissa, below);
	mantissa /= common;
	below /= common;
	common = gcd(over, below);
	over /= common;
	below /= common;
	common = gcd(mantissa, (unsigned __int128)den);
	mantissa /= common;
	den = (int64_t)((unsigned __int128)den / common);
	if (mantissa > INT64_MAX / over || below > (unsigned __int128)INT64_MAX / (unsigned __int128)den)
		return false;
	*out = stb_val_num(type, (int64_t)(mantissa * over), (int64_t)(below * (unsigned __int128)den));
	return true;
}

static enum stb_units_status read_suffix(const char *s, size_t len, struct unit *out)
{
	const bool per_s = len >= 2 && s[len - 2] == '/' && s[len - 1] == 's';
	const size_t name_len = per_s ? len - 2 : len;
	const struct unit *u;

	if (!name_len) {
		*out = (struct unit){ .type = per_s ? STB_V_RATE : STB_V_COUNT, .num = 1, .den = 1 };
		return STB_UNITS_OK;
	}
	u = find_unit(s, name_len);
	if (!u) {
		if (is_exponent(s, name_len))
			return STB_UNITS_EXPONENT;
		return is_bare_prefix(s, name_len) ? STB_UNITS_BARE_PREFIX : STB_UNITS_UNKNOWN;
	}
	*out = *u;
	if (!per_s)
		return STB_UNITS_OK;
	if (u->type != STB_V_BYTES)
		return STB_UNITS_RATE_UNIT;
	out->type = STB_V_BYTE_RATE;
	return STB_UNITS_OK;
}

enum stb_units_status stb_units_parse(const char *s, size_t len, struct stb_val *out)
{
	struct digits d = { 0 };
	enum stb_units_status status;
	unsigned places = 0;
	struct unit u;
	size_t i;

	i = read_digits(s, len, &d);
	if (!d.count)
		return STB_UNITS_NO_DIGITS;
	if (d.count > 1 && s[0] == '0')
		return STB_UNITS_LEADING_ZERO;
	if (i < len && s[i] == '.') {
		const unsigned whole = d.count;

		i++;
		i += read_digits(s + i, len - i, &d);
		places = d.count - whole;
		if (!places)
			return STB_UNITS_NO_DIGITS;
	}
	if (d.bad_underscore)
		return STB_UNITS_UNDERSCORE;
	status = read_suffix(s + i, len - i, &u);
	if (status != STB_UNITS_OK)
		return status;
	if (d.overflow || places > 36 || !scale(d.mantissa, places, u.num, u.den, u.type, out))
		return STB_UNITS_OVERFLOW;
	return STB_UNITS_OK;
}
