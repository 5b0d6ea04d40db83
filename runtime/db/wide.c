/*
 * wide.c - see wide.h.
 *
 * As in sysbench, every worker of the random selects has a part of the values of k to itself, table_size / threads of them and the first of the
 * next part; so values begin at 0, and which rows are hot depends on how many workers there are. rand_type works within the part.
 *
 * bulk_insert counts appended rows as events. A run that follows another one on the same tables goes on where their rows end, where
 * sysbench would meet its own keys.
 */
#include "runtime/db/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (512 * 1024)
#define ROW_BYTES 48     /* "(n,n)" at its widest, and a comma */
#define NUMBER_BYTES 20
#define RANGE_BYTES (sizeof("k BETWEEN ? AND ? OR ") + 2 * NUMBER_BYTES)
#define POINT_BYTES (sizeof(", ") + NUMBER_BYTES)
#define FRAME_BYTES 64   /* around the values */

/* --- random selects ------------------------------------------------------------------------------------------------------------------- */

void stb_wide_init(struct stb_wide *w, const struct stb_oltp *o, uint32_t worker)
{
	const double len = (double)o->data.table_size / o->threads, from = len * worker;
	const bool points = o->script == STB_RANDOM_POINTS;

	*w = (struct stb_wide){.o = o, .n = points ? o->points : 2 * o->ranges, .first = (int64_t)from};
	stb_dist_init(&w->slice, &o->data.shape, (uint64_t)((int64_t)(from + len) - w->first + 1));
	w->values = stb_xcalloc(w->n, sizeof(*w->values));
	w->sql = stb_xmalloc(FRAME_BYTES + (points ? w->n * POINT_BYTES : w->n / 2 * RANGE_BYTES));
}

void stb_wide_fini(struct stb_wide *w)
{
	stb_stmt_close(w->stmt);
	free(w->values);
	free(w->sql);
	*w = (struct stb_wide){0};
}

static int64_t draw(const struct stb_wide *w, struct stb_rng *rng)
{
	return w->first + (int64_t)stb_dist_draw(&w->slice, rng) - 1;
}

void stb_wide_draw(struct stb_wide *w, struct stb_rng *rng)
{
	const bool points = w->o->script == STB_RANDOM_POINTS;

	for (uint32_t i = 0; i < w->n; i += points ? 1 : 2) {
		w->values[i] = draw(w, rng);
		if (!points)
			w->values[i + 1] = w->values[i] + (int64_t)w->o->delta;
	}
}

static char *put_text(char *at, const char *text)
{
	const size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

static char *put_value(char *at, int64_t value, bool literals)
{
	if (literals)
		return stb_sql_put_i64(at, value);
	*at = '?';
	return at + 1;
}

size_t stb_wide_format(struct stb_wide *w, bool literals)
{
	const bool points = w->o->script == STB_RANDOM_POINTS;
	char *at = put_text(w->sql, points ? "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (" : "SELECT count(k) FROM sbtest1 WHERE ");

	for (uint32_t i = 0; i < w->n; i += points ? 1 : 2) {
		if (i > 0)
			at = put_text(at, points ? ", " : " OR ");
		if (!points)
			at = put_text(at, "k BETWEEN ");
		at = put_value(at, w->values[i], literals);
		if (!points)
			at = put_value(put_text(at, " AND "), w->values[i + 1], literals);
	}
	if (points)
		at = put_text(at, ")");
	return (size_t)(at - w->sql);
}

int stb_wide_prepare(struct stb_wide *w, struct stb_client *c)
{
	const size_t len = stb_wide_format(w, false);
	struct stb_param *params;
	int r;

	if (w->stmt)
		return stb_stmt_reopen(w->stmt, w->sql, len);
	params = stb_xcalloc(w->n, sizeof(*params));
	for (uint32_t i = 0; i < w->n; i++)
		params[i].number = &w->values[i];
	r = stb_stmt_open(&w->stmt, c, w->sql, len, params, w->n);
	free(params);
	return r;
}

/* --- bulk inserts --------------------------------------------------------------------------------------------------------------------- */

void stb_bulk_init(struct stb_bulk *b, uint32_t table)
{
	*b = (struct stb_bulk){.table = table, .next = 1, .text = stb_xmalloc(BATCH_BYTES)};
	b->len = b->head = (size_t)snprintf(b->text, BATCH_BYTES, "INSERT INTO sbtest%u VALUES", table);
}

void stb_bulk_fini(struct stb_bulk *b)
{
	free(b->text);
	*b = (struct stb_bulk){0};
}

int stb_bulk_continue(struct stb_bulk *b, struct stb_client *c)
{
	char sql[64], cell[24];
	bool found;

	snprintf(sql, sizeof(sql), "SELECT MAX(id) FROM sbtest%u", b->table);
	if (stb_client_cell(c, sql, cell, sizeof(cell), &found))
		return -1;
	b->next = found ? strtoll(cell, NULL, 10) + 1 : 1;
	return 0;
}

bool stb_bulk_is_empty(const struct stb_bulk *b)
{
	return b->len == b->head;
}

bool stb_bulk_add(struct stb_bulk *b)
{
	char *at = b->text + b->len;

	if (b->len + ROW_BYTES > BATCH_BYTES)
		return false;
	if (b->len > b->head)
		*at++ = ',';
	*at++ = '(';
	at = stb_sql_put_i64(at, b->next);
	*at++ = ',';
	at = stb_sql_put_i64(at, b->next++);
	*at++ = ')';
	b->len = (size_t)(at - b->text);
	return true;
}

void stb_bulk_clear(struct stb_bulk *b)
{
	b->len = b->head;
}
