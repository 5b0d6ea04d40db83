/*
 * metric.c - metrics by name. The table is metrics.def.
 *
 * A percentile has one name. pD (one digit) is D%, p100 is 100%; otherwise the first two digits are whole percents and the rest decimals:
 * p50, p999 = 99.9%, p001 = 0.1%. A longer spelling of the same (p990, p05, p00) is refused, so that a column has one name.
 */
#include "runtime/base/metric.h"

#include "runtime/base/units.h"

#include <string.h>

enum { MAX_PERCENTILE_DIGITS = 8 };

static const struct row {
	const char *name;
	const char *unit;
	enum stb_direction direction;
	unsigned families, needs;
	bool per_direction;
	int decimals;
	const char *default_unit;
	const char *heading;
	const char *meaning;
} rows[] = {
#define STB_METRIC(...) { __VA_ARGS__ },
#include "runtime/base/metrics.def"
#undef STB_METRIC
};

static const char *const names[] = {
#define STB_METRIC(name, ...) name,
#include "runtime/base/metrics.def"
#undef STB_METRIC
	NULL
};

const char *const *stb_metric_names(void)
{
	return names;
}

enum stb_metric_family stb_metric_family(const char *type)
{
	return !strcmp(type, "io") ? STB_METRIC_IO : !strcmp(type, "oltp") ? STB_METRIC_OLTP : STB_METRIC_MIX;
}

const char *stb_metric_types(unsigned families)
{
	static const char *const types[] = { "", "io", "oltp", "io, oltp", "mix", "io, mix", "oltp, mix", "io, oltp, mix" };

	return types[families % STB_LEN(types)];
}

const char *stb_metric_next_need(unsigned *needs)
{
	const unsigned bit = *needs & -*needs;

	*needs -= bit;
	switch ((enum stb_metric_need)bit) {
	case STB_NEEDS_READS:
		return "a workload that reads";
	case STB_NEEDS_WRITES:
		return "a workload that writes";
	case STB_NEEDS_TRIMS:
		return "a workload that trims";
	case STB_NEEDS_FLIGHT:
		return "an engine with I/Os in flight (libaio, io_uring) and no rate; lat_* is there with every engine";
	case STB_NEEDS_RATE:
		return "a workload with a rate";
	case STB_NEEDS_SYNC:
		return "a workload with fsync or fdatasync";
	case STB_NEEDS_VERIFY:
		return "a workload with verify";
	case STB_NEEDS_DEVICE:
		return "a volume on a block device, which tmpfs is not; of a database, of a private server's";
	case STB_NEEDS_OWN_SERVER:
		return "a private server (database mysql)";
	case STB_NEEDS_REPLICA:
		return "a private server with replicas (topology)";
	case STB_NEEDS_SEMISYNC:
		return "a private server with topology = semisync_replica";
	}
	return NULL;
}

static bool parse_percentile(const char *digits, uint64_t *num, uint64_t *den)
{
	const size_t len = strspn(digits, "0123456789");
	uint64_t value = 0, scale = 100;

	if (!len || digits[len] || len > MAX_PERCENTILE_DIGITS)
		return false;
	for (size_t i = 0; i < len; i++) {
		value = value * 10 + (uint64_t)(digits[i] - '0');
		if (i >= 2)
			scale *= 10;
	}
	if (!strcmp(digits, "100"))
		scale = 100;
	else if (len == 2 && digits[0] == '0')
		return false;
	else if (len > 2 && digits[len - 1] == '0')
		return false;
	if (!value) /* no sample lies below it; lat_min is the least */
		return false;
	*num = value;
	*den = scale;
	return true;
}

/* Whether name is the row's, with the percentile's fraction (0/1 where it has none). */
static bool matches(const struct row *row, const char *name, uint64_t *num, uint64_t *den)
{
	const size_t len = strlen(row->name);

	*num = 0;
	*den = 1;
	if (strcmp(row->name + len - 2, "NN"))
		return !strcmp(row->name, name);
	return !strncmp(row->name, name, len - 2) && parse_percentile(name + len - 2, num, den);
}

static const struct {
	const char *prefix;
	enum stb_metric_need need;
} directions[] = { { "read.", STB_NEEDS_READS }, { "write.", STB_NEEDS_WRITES }, { "trim.", STB_NEEDS_TRIMS } };

/* The name behind its direction, and what that needs. */
static const char *skip_direction(const char *name, unsigned *needs)
{
	*needs = 0;
	for (size_t i = 0; i < STB_LEN(directions); i++) {
		const size_t len = strlen(directions[i].prefix);

		if (strncmp(name, directions[i].prefix, len))
			continue;
		*needs = directions[i].need;
		return name + len;
	}
	return name;
}

/* Whether names of metrics begin with these len bytes and a point: "read", "sync", "server". */
static bool is_prefix(const char *name, size_t len)
{
	bool found = false;

	for (size_t i = 0; i < STB_LEN(directions) && !found; i++)
		found = !strncmp(directions[i].prefix, name, len) && directions[i].prefix[len] == '.';
	for (size_t i = 0; i < STB_LEN(rows) && !found; i++)
		found = !strncmp(rows[i].name, name, len) && rows[i].name[len] == '.';
	return found;
}

/* Bytes of the name of a mix's part and its point; 0 where the name begins with none. */
static size_t part_len(const char *name)
{
	const size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return len && name[len] == '.' && !(name[0] >= '0' && name[0] <= '9') && !is_prefix(name, len) ? len + 1 : 0;
}

bool stb_metric_find(const char *name, struct stb_metric *out)
{
	const size_t part = part_len(name);
	unsigned of_direction;
	const char *base = skip_direction(name += part, &of_direction);

	for (size_t i = 0; i < STB_LEN(rows); i++) {
		const struct row *r = &rows[i];
		uint64_t num, den;

		if ((base != name && !r->per_direction) || (part && r->families & STB_METRIC_MIX) || !matches(r, base, &num, &den))
			continue;
		*out = (struct stb_metric){
			.unit = r->unit,
			.direction = r->direction,
			.families = base != name ? STB_METRIC_IO : r->families,
			.needs = r->needs | of_direction,
			.meaning = r->meaning,
			.pct_num = num,
			.pct_den = den,
			.default_decimals = r->decimals,
			.default_unit = r->default_unit,
			.heading = r->heading,
			.part_len = part,
		};
		return true;
	}
	return false;
}

bool stb_metric_takes(const char *name)
{
	return is_prefix(name, strlen(name));
}

/* The size of a unit of results and reports, and its dimension: bytes, time, share, each also per second; NONE for a bare number. */
static bool unit_size(const char *unit, enum stb_vtype *type, bool *per_s, double *size)
{
	size_t len = strlen(unit);
	int64_t num, den;

	*type = STB_V_NONE;
	*size = 1;
	*per_s = len >= 2 && !strcmp(unit + len - 2, "/s");
	if (*per_s)
		len -= 2;
	if (!len)
		return !*per_s;
	if (*per_s && len == 1 && unit[0] == '1')
		return true;
	if (!stb_units_suffix(unit, len, type, &num, &den) || (*per_s && *type != STB_V_BYTES))
		return false;
	*size = (double)num / (double)den;
	return true;
}

bool stb_metric_convert(double value, const char *from, const char *to, double *out)
{
	enum stb_vtype from_type, to_type;
	double from_size, to_size;
	bool from_per_s, to_per_s;

	if (!unit_size(from, &from_type, &from_per_s, &from_size) || !unit_size(to, &to_type, &to_per_s, &to_size))
		return false;
	if (from_type != to_type || from_per_s != to_per_s)
		return false;
	/* Equal units change no bit of the value; a larger one divides, so that whole ratios stay exact. */
	if (from_size >= to_size)
		*out = value * (from_size / to_size);
	else
		*out = value / (to_size / from_size);
	return true;
}
