/*
 * wide.h - the scripts whose statements are as wide as the workload says: select_random_points and select_random_ranges with any number of
 * values, bulk_insert with as many rows as fit in 512 KiB.
 *
 * One each a worker. Memory is taken when a session is opened, sized for the widest values; nothing is allocated afterwards.
 */
#ifndef STB_DB_WIDE_H
#define STB_DB_WIDE_H

#include "runtime/db/oltp.h"

/* The select of STB_RANDOM_POINTS or STB_RANDOM_RANGES: always on the first table. */
struct stb_wide {
	const struct stb_oltp *o;
	struct stb_dist slice; /* of the values of k that this worker looks for: [first, first + slice.n - 1] */
	int64_t first;
	uint32_t n;            /* values in a statement */
	int64_t *values;       /* [n] */
	char *sql;             /* with literals, or with marks */
	struct stb_stmt *stmt; /* NULL in text mode */
};

/* worker: of o->threads, from 0. */
void stb_wide_init(struct stb_wide *w, const struct stb_oltp *o, uint32_t worker);
void stb_wide_fini(struct stb_wide *w); /* the statement is closed too */
void stb_wide_draw(struct stb_wide *w, struct stb_rng *rng);
/* The statement's text to w->sql, with marks or with the values; its length. */
size_t stb_wide_format(struct stb_wide *w, bool literals);
/* Prepares w->stmt, for the first time or again. The failure is the connection's. */
STB_NODISCARD int stb_wide_prepare(struct stb_wide *w, struct stb_client *c);

/* The rows of one worker of bulk_insert that wait to be sent: into its own table, (n, n) for n = next, next + 1, ... */
struct stb_bulk {
	uint32_t table;   /* 1-based */
	size_t head, len; /* bytes of "INSERT INTO ... VALUES" and of all there is */
	int64_t next;
	char *text;
};

void stb_bulk_init(struct stb_bulk *b, uint32_t table);
void stb_bulk_fini(struct stb_bulk *b);
/* Continues after the rows that are in the table already. The failure is the connection's. */
STB_NODISCARD int stb_bulk_continue(struct stb_bulk *b, struct stb_client *c);
bool stb_bulk_is_empty(const struct stb_bulk *b);
/* false: the statement is full, and must be sent and cleared first. */
bool stb_bulk_add(struct stb_bulk *b);
void stb_bulk_clear(struct stb_bulk *b);

#endif
