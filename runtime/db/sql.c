/* sql.c - see sql.h. The hand formatter exists because text mode builds a statement per query inside the measured phase. */
#include "runtime/db/sql.h"

#include <stdio.h>
#include <string.h>

#define GROUP_DIGITS 11

struct text {
	const char *text; /* # is the table's number, ? a parameter */
	uint8_t n_slots;
	enum stb_sql_slot slots[4];
};

static const struct text texts[STB_N_SQL] = {
	[STB_SQL_POINT] = {"SELECT c FROM sbtest# WHERE id=?", 1, {STB_SLOT_ID}},
	[STB_SQL_SIMPLE_RANGE] = {"SELECT c FROM sbtest# WHERE id BETWEEN ? AND ?", 2, {STB_SLOT_ID, STB_SLOT_HI}},
	[STB_SQL_SUM_RANGE] = {"SELECT SUM(k) FROM sbtest# WHERE id BETWEEN ? AND ?", 2, {STB_SLOT_ID, STB_SLOT_HI}},
	[STB_SQL_ORDER_RANGE] = {"SELECT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c", 2, {STB_SLOT_ID, STB_SLOT_HI}},
	[STB_SQL_DISTINCT_RANGE] = {"SELECT DISTINCT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c", 2, {STB_SLOT_ID, STB_SLOT_HI}},
	[STB_SQL_INDEX_UPDATE] = {"UPDATE sbtest# SET k=k+1 WHERE id=?", 1, {STB_SLOT_ID}},
	[STB_SQL_NON_INDEX_UPDATE] = {"UPDATE sbtest# SET c=? WHERE id=?", 2, {STB_SLOT_C, STB_SLOT_ID}},
	[STB_SQL_DELETE] = {"DELETE FROM sbtest# WHERE id=?", 1, {STB_SLOT_ID}},
	[STB_SQL_INSERT] = {"INSERT INTO sbtest# (id, k, c, pad) VALUES (?, ?, ?, ?)", 4,
		{STB_SLOT_ID, STB_SLOT_K, STB_SLOT_C, STB_SLOT_PAD}},
};

uint32_t stb_sql_slots(enum stb_sql sql, enum stb_sql_slot out[4])
{
	memcpy(out, texts[sql].slots, sizeof(texts[sql].slots));
	return texts[sql].n_slots;
}

char *stb_sql_put_i64(char *out, int64_t v)
{
	char digits[20];
	unsigned n = 0;
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	if (v < 0)
		*out++ = '-';
	do {
		digits[n++] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	while (n)
		*out++ = digits[--n];
	return out;
}

static char *put_quoted(char *out, const char *text, size_t len)
{
	*out++ = '\'';
	memcpy(out, text, len); /* digits and dashes: nothing to escape */
	out += len;
	*out++ = '\'';
	return out;
}

static char *put_value(char *out, enum stb_sql_slot slot, const struct stb_sql_values *v)
{
	switch (slot) {
	case STB_SLOT_ID:
		return stb_sql_put_i64(out, v->id);
	case STB_SLOT_HI:
		return stb_sql_put_i64(out, v->hi);
	case STB_SLOT_K:
		return stb_sql_put_i64(out, v->k);
	case STB_SLOT_C:
		return put_quoted(out, v->c, STB_C_LEN);
	case STB_SLOT_PAD:
		return put_quoted(out, v->pad, STB_PAD_LEN);
	}
	return out;
}

size_t stb_sql_format(char *out, enum stb_sql sql, uint32_t table, const struct stb_sql_values *values)
{
	const struct text *t = &texts[sql];
	const enum stb_sql_slot *slot = t->slots;
	char *at = out;

	for (const char *p = t->text; *p; p++) {
		if (*p == '#')
			at = stb_sql_put_i64(at, table);
		else if (*p == '?' && values)
			at = put_value(at, *slot++, values);
		else
			*at++ = *p;
	}
	return (size_t)(at - out);
}

/* One random word gives a group: its leading eleven decimal digits as a fraction; the bias is below 10^11 / 2^64. */
static char *put_group(char *out, struct stb_rng *rng)
{
	uint64_t fraction = stb_rng_next(rng);

	for (int i = 0; i < GROUP_DIGITS; i++) {
		const unsigned __int128 shifted = (unsigned __int128)fraction * 10;

		*out++ = (char)('0' + (unsigned)(shifted >> 64));
		fraction = (uint64_t)shifted;
	}
	return out;
}

static void fill_groups(char *out, unsigned n_groups, struct stb_rng *rng)
{
	out = put_group(out, rng);
	for (unsigned i = 1; i < n_groups; i++) {
		*out++ = '-';
		out = put_group(out, rng);
	}
}

void stb_sql_fill_c(char *out, struct stb_rng *rng)
{
	fill_groups(out, (STB_C_LEN + 1) / (GROUP_DIGITS + 1), rng);
}

void stb_sql_fill_pad(char *out, struct stb_rng *rng)
{
	fill_groups(out, (STB_PAD_LEN + 1) / (GROUP_DIGITS + 1), rng);
}

void stb_sql_create_table(char *out, uint32_t table, bool auto_inc, const char *engine)
{
	const int n = snprintf(out, STB_SQL_MAX,
		"CREATE TABLE sbtest%u( id INTEGER NOT NULL%s, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, "
		"pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) ) /*! ENGINE = %s */",
		table, auto_inc ? " AUTO_INCREMENT" : "", engine);

	STB_ASSERT(n > 0 && n < STB_SQL_MAX);
}

void stb_sql_create_index(char *out, uint32_t table)
{
	snprintf(out, STB_SQL_MAX, "CREATE INDEX k_%u ON sbtest%u(k)", table, table);
}

void stb_sql_create_bulk(char *out, uint32_t table)
{
	snprintf(out, STB_SQL_MAX, "CREATE TABLE sbtest%u ( id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))", table);
}
