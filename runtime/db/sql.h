/*
 * sql.h - the statements of the OLTP scripts and the data in their rows: sysbench 1.0.20's texts and templates, as literal text or with
 * parameter marks.
 *
 * Pure functions over caller's memory; nothing here allocates, so they may stand in the measured phase.
 */
#ifndef STB_DB_SQL_H
#define STB_DB_SQL_H

#include "runtime/base/rng.h"

#define STB_C_LEN 119  /* ten groups of eleven digits, dashes between */
#define STB_PAD_LEN 59 /* five groups */
#define STB_SQL_MAX 512 /* bytes that any statement below takes, values included */

enum stb_sql {
	STB_SQL_POINT,
	STB_SQL_SIMPLE_RANGE,
	STB_SQL_SUM_RANGE,
	STB_SQL_ORDER_RANGE,
	STB_SQL_DISTINCT_RANGE,
	STB_SQL_INDEX_UPDATE,
	STB_SQL_NON_INDEX_UPDATE,
	STB_SQL_DELETE,
	STB_SQL_INSERT,
	STB_N_SQL,
};

/* The values that parameter marks stand for. One set a worker: every statement of every table is bound to it once. */
struct stb_sql_values {
	int64_t id, hi, k; /* hi: last id of a range */
	char c[STB_C_LEN + 1], pad[STB_PAD_LEN + 1];
};

enum stb_sql_slot { STB_SLOT_ID, STB_SLOT_HI, STB_SLOT_K, STB_SLOT_C, STB_SLOT_PAD };

/* The slots of a statement's parameters in order; returns how many (at most 4). */
uint32_t stb_sql_slots(enum stb_sql sql, enum stb_sql_slot out[4]);

/*
 * The statement's text for table sbtestTABLE (1-based) to out, which has room for STB_SQL_MAX bytes. values NULL: with `?` marks; else with
 * literals. Returns its length; not NUL-terminated.
 */
size_t stb_sql_format(char *out, enum stb_sql sql, uint32_t table, const struct stb_sql_values *values);

/* Random digits in groups of eleven: STB_C_LEN or STB_PAD_LEN bytes, no NUL. */
void stb_sql_fill_c(char *out, struct stb_rng *rng);
void stb_sql_fill_pad(char *out, struct stb_rng *rng);

/* Decimal; returns the end. At most 20 bytes. */
char *stb_sql_put_i64(char *out, int64_t v);

/* "CREATE TABLE sbtest3(...)" and "CREATE INDEX k_3 ON sbtest3(k)" to out of STB_SQL_MAX bytes, NUL-terminated. */
void stb_sql_create_table(char *out, uint32_t table, bool auto_inc, const char *engine);
void stb_sql_create_index(char *out, uint32_t table);
/* bulk_insert's own table: an id and a number. */
void stb_sql_create_bulk(char *out, uint32_t table);

#endif
