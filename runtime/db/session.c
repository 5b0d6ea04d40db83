/*
 * session.c - the transactions of the OLTP scripts: which statements, in which order, with which values.
 *
 * As in sysbench: a table is drawn once for each kind of statement in a transaction, an id for each statement; the upper end of a range is not
 * clamped to the table; DELETE and INSERT share table and id. Unlike sysbench, ROLLBACK is sent before a transaction is tried again (`retry =
 * sysbench` leaves it out): after a lock wait timeout (1205) the server has undone the statement only, and the next BEGIN would commit the
 * half-done rest.
 *
 * All tables' statements are bound to the same few variables, once: the parameter types then travel with the first execution only.
 */
#include "runtime/db/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECONNECT_PAUSE_NS 1000000
#define SHOWN_BYTES 120 /* of a wide statement, in messages */

static int fail(struct stb_session *s, const char *what, size_t what_len)
{
	snprintf(s->failure, sizeof(s->failure), "`%.*s` failed: %s (%u)", (int)what_len, what, stb_client_text(s->client),
		stb_client_code(s->client));
	return -1;
}

static struct stb_param param_of(const struct stb_session *s, enum stb_sql_slot slot)
{
	switch (slot) {
	case STB_SLOT_ID:
		return (struct stb_param){.number = &s->v.id};
	case STB_SLOT_HI:
		return (struct stb_param){.number = &s->v.hi};
	case STB_SLOT_K:
		return (struct stb_param){.number = &s->v.k};
	case STB_SLOT_C:
		return (struct stb_param){.text = s->v.c, .text_len = STB_C_LEN};
	case STB_SLOT_PAD:
		return (struct stb_param){.text = s->v.pad, .text_len = STB_PAD_LEN};
	}
	STB_BUG("no such slot");
}

static bool uses(const struct stb_oltp *o, enum stb_sql sql)
{
	return o->count[sql] > 0 || (sql == STB_SQL_INSERT && o->count[STB_SQL_DELETE] > 0 && o->script != STB_DELETE);
}

/* Prepares *stmt, for the first time or again. */
static int prepare(struct stb_session *s, struct stb_stmt **stmt, const char *sql, size_t len, const struct stb_param *params, uint32_t n)
{
	return *stmt ? stb_stmt_reopen(*stmt, sql, len) : stb_stmt_open(stmt, s->client, sql, len, params, n);
}

static int prepare_control(struct stb_session *s, struct stb_stmt **stmt, const char *sql)
{
	if (!*stmt && s->reconnect_count > 0)
		return 0; /* known from the first time */
	if (prepare(s, stmt, sql, strlen(sql), NULL, 0) == 0)
		return 0;
	if (stb_client_code(s->client) != STB_MYSQL_NOT_PREPARABLE)
		return fail(s, sql, strlen(sql));
	*stmt = NULL; /* sent as text: MySQL prepares no BEGIN */
	return 0;
}

static bool has_wide(const struct stb_oltp *o)
{
	return o->script == STB_RANDOM_POINTS || o->script == STB_RANDOM_RANGES;
}

/* The statement in its words, without what may be thousands of values. */
static int fail_wide(struct stb_session *s)
{
	const size_t len = stb_wide_format(&s->wide, false);

	return fail(s, s->wide.sql, STB_MIN(len, SHOWN_BYTES));
}

static int prepare_all(struct stb_session *s)
{
	const uint32_t tables = s->o->data.tables;

	if (has_wide(s->o))
		return stb_wide_prepare(&s->wide, s->client) ? fail_wide(s) : 0;

	for (unsigned sql = 0; sql < STB_N_SQL; sql++) {
		struct stb_param params[4];
		enum stb_sql_slot slots[4];
		const uint32_t n = stb_sql_slots((enum stb_sql)sql, slots);

		if (!uses(s->o, (enum stb_sql)sql))
			continue;
		for (uint32_t i = 0; i < n; i++)
			params[i] = param_of(s, slots[i]);
		for (uint32_t table = 1; table <= tables; table++) {
			const size_t len = stb_sql_format(s->sql, (enum stb_sql)sql, table, NULL);

			if (prepare(s, &s->stmt[sql * tables + table - 1], s->sql, len, params, n))
				return fail(s, s->sql, len);
		}
	}
	if (!s->o->transaction)
		return 0;
	return prepare_control(s, &s->begin, "BEGIN") || prepare_control(s, &s->commit, "COMMIT") ? -1 : 0;
}

int stb_session_open(struct stb_session *s)
{
	struct stb_err err = {0};

	if (stb_client_open(&s->client, s->addr, &s->limits, &err)) {
		snprintf(s->failure, sizeof(s->failure), "%s", err.what);
		return -1;
	}
	if (has_wide(s->o))
		stb_wide_init(&s->wide, s->o, s->worker);
	if (s->o->script == STB_BULK_INSERT) {
		stb_bulk_init(&s->bulk, s->worker + 1);
		if (stb_bulk_continue(&s->bulk, s->client))
			return fail(s, "SELECT MAX(id)", 14);
	}
	if (!s->o->prepared)
		return 0;
	s->stmt = stb_xcalloc((size_t)STB_N_SQL * s->o->data.tables, sizeof(struct stb_stmt *));
	return prepare_all(s);
}

void stb_session_close(struct stb_session *s)
{
	const size_t n = (size_t)STB_N_SQL * s->o->data.tables;

	for (size_t i = 0; s->stmt && i < n; i++)
		stb_stmt_close(s->stmt[i]);
	stb_wide_fini(&s->wide);
	stb_bulk_fini(&s->bulk);
	stb_stmt_close(s->begin);
	stb_stmt_close(s->commit);
	free(s->stmt);
	stb_client_close(s->client);
	s->stmt = NULL;
	s->begin = s->commit = NULL;
	s->client = NULL;
}

/* --- statements ---------------------------------------------------------------------------------------------------------------------- */

static void count_reply(struct stb_session *s, const struct stb_reply *reply)
{
	if (reply->has_rows)
		s->read_count++;
	else if (reply->affected_rows > 0)
		s->write_count++;
	else
		s->other_count++;
}

static int control(struct stb_session *s, struct stb_stmt *stmt, const char *sql, size_t len)
{
	struct stb_reply reply;

	if (stmt ? stb_stmt_execute(stmt, &reply) : stb_client_query(s->client, sql, len, &reply))
		return fail(s, sql, len);
	count_reply(s, &reply);
	return 0;
}

static int execute(struct stb_session *s, enum stb_sql sql, uint32_t table)
{
	struct stb_reply reply;
	int r;

	if (s->o->prepared) {
		r = stb_stmt_execute(s->stmt[sql * s->o->data.tables + table - 1], &reply);
	} else {
		const size_t len = stb_sql_format(s->sql, sql, table, &s->v);

		r = stb_client_query(s->client, s->sql, len, &reply);
	}
	if (r) {
		const size_t len = stb_sql_format(s->sql, sql, table, NULL);

		return fail(s, s->sql, len);
	}
	count_reply(s, &reply);
	return 0;
}

static uint32_t draw_table(struct stb_session *s)
{
	return 1 + (uint32_t)stb_rng_below(&s->rng, s->o->data.tables);
}

static int64_t draw_key(struct stb_session *s)
{
	return (int64_t)stb_dist_draw(&s->o->data.keys, &s->rng);
}

/* The point selects, or one kind of range. */
static int select_rows(struct stb_session *s, enum stb_sql sql)
{
	const uint64_t n = s->o->count[sql];

	if (n == 0)
		return 0;
	const uint32_t table = draw_table(s);

	for (uint64_t i = 0; i < n; i++) {
		s->v.id = draw_key(s);
		s->v.hi = s->v.id + (int64_t)s->o->range_size - 1;
		if (execute(s, sql, table))
			return -1;
	}
	return 0;
}

static int update_rows(struct stb_session *s, enum stb_sql sql)
{
	const uint64_t n = s->o->count[sql];

	if (n == 0)
		return 0;
	const uint32_t table = draw_table(s);

	for (uint64_t i = 0; i < n; i++) {
		if (sql == STB_SQL_NON_INDEX_UPDATE)
			stb_sql_fill_c(s->v.c, &s->rng);
		s->v.id = draw_key(s);
		if (execute(s, sql, table))
			return -1;
	}
	return 0;
}

static int insert_row(struct stb_session *s, uint32_t table)
{
	s->v.k = draw_key(s);
	stb_sql_fill_c(s->v.c, &s->rng);
	stb_sql_fill_pad(s->v.pad, &s->rng);
	return execute(s, STB_SQL_INSERT, table);
}

static int replace_rows(struct stb_session *s)
{
	const uint64_t n = s->o->count[STB_SQL_DELETE];

	if (n == 0)
		return 0;
	const uint32_t table = draw_table(s);

	for (uint64_t i = 0; i < n; i++) {
		s->v.id = draw_key(s);
		if (execute(s, STB_SQL_DELETE, table) || (s->o->script != STB_DELETE && insert_row(s, table)))
			return -1;
	}
	return 0;
}

static int insert_event(struct stb_session *s)
{
	const uint32_t table = draw_table(s);

	s->v.id = s->unique ? stb_unique_id(atomic_fetch_add_explicit(s->unique, 1, memory_order_relaxed)) : 0;
	return insert_row(s, table);
}

static int wide_event(struct stb_session *s)
{
	struct stb_reply reply;
	int r;

	stb_wide_draw(&s->wide, &s->rng);
	if (s->wide.stmt)
		r = stb_stmt_execute(s->wide.stmt, &reply);
	else
		r = stb_client_query(s->client, s->wide.sql, stb_wide_format(&s->wide, true), &reply);
	if (r)
		return fail_wide(s);
	count_reply(s, &reply);
	return 0;
}

static int send_bulk(struct stb_session *s)
{
	struct stb_reply reply;

	if (stb_client_query(s->client, s->bulk.text, s->bulk.len, &reply))
		return fail(s, s->bulk.text, s->bulk.head);
	stb_bulk_clear(&s->bulk);
	count_reply(s, &reply);
	return 0;
}

/* The statement that is full goes first, so that an event that is tried again sends the same rows and adds none twice. */
static int bulk_event(struct stb_session *s)
{
	if (stb_bulk_add(&s->bulk))
		return 0;
	if (send_bulk(s))
		return -1;
	return stb_bulk_add(&s->bulk) ? 0 : -1;
}

/* Kinds that a script does not use have count 0, so one order serves all of them. */
static int transaction(struct stb_session *s)
{
	static const enum stb_sql reads[] = {STB_SQL_POINT, STB_SQL_SIMPLE_RANGE, STB_SQL_SUM_RANGE, STB_SQL_ORDER_RANGE,
		STB_SQL_DISTINCT_RANGE};

	if (s->o->script == STB_INSERT)
		return insert_event(s);
	if (s->o->script == STB_BULK_INSERT)
		return bulk_event(s);
	if (has_wide(s->o))
		return wide_event(s);
	if (s->o->transaction && control(s, s->begin, "BEGIN", 5))
		return -1;
	for (unsigned i = 0; i < STB_LEN(reads); i++)
		if (select_rows(s, reads[i]))
			return -1;
	if (update_rows(s, STB_SQL_INDEX_UPDATE) || update_rows(s, STB_SQL_NON_INDEX_UPDATE) || replace_rows(s))
		return -1;
	return s->o->transaction ? control(s, s->commit, "COMMIT", 6) : 0;
}

/* --- errors -------------------------------------------------------------------------------------------------------------------------- */

static bool ignored(const struct stb_oltp *o, unsigned code)
{
	for (uint32_t i = 0; i < o->n_ignore; i++)
		if (o->ignore[i] == code)
			return true;
	return false;
}

static bool lost(unsigned code)
{
	return code == STB_MYSQL_GONE_AWAY || code == STB_MYSQL_LOST || code == 2011 || code == 2055;
}

static bool quitting(const struct stb_session *s)
{
	return atomic_load_explicit(s->quit, memory_order_relaxed);
}

/* A server that is away may stay away: what ends the waiting is the end of the run. */
static enum stb_event reconnect(struct stb_session *s)
{
	const struct timespec pause = {.tv_nsec = RECONNECT_PAUSE_NS};

	while (stb_client_reopen(s->client, s->addr, &s->limits)) {
		if (quitting(s))
			return STB_EVENT_CANCELLED;
		nanosleep(&pause, NULL);
	}
	s->reconnect_count++;
	if (s->o->prepared && prepare_all(s))
		return lost(stb_client_code(s->client)) ? STB_EVENT_CANCELLED : STB_EVENT_FAILED;
	return STB_EVENT_DONE;
}

static void count_error(struct stb_session *s, unsigned code)
{
	s->error_count++;
	stb_error_counts_add(&s->errors, code, 1);
}

/* DONE: try the event again. */
static enum stb_event recover(struct stb_session *s)
{
	const unsigned code = stb_client_code(s->client);

	if (!ignored(s->o, code))
		return STB_EVENT_FAILED;
	count_error(s, code);
	if (lost(code))
		return reconnect(s);
	if (s->o->rollback && control(s, NULL, "ROLLBACK", 8))
		return STB_EVENT_FAILED;
	return STB_EVENT_DONE;
}

/* The connection has served as many events as it was to: another one takes its place. */
static enum stb_event renew(struct stb_session *s)
{
	if (stb_client_reopen(s->client, s->addr, &s->limits)) {
		(void)fail(s, "reconnect", 9);
		return STB_EVENT_FAILED;
	}
	s->since_connect = 0;
	s->reconnect_count++;
	return s->o->prepared && prepare_all(s) ? STB_EVENT_FAILED : STB_EVENT_DONE;
}

/* Calls do_it until it succeeds or the event is to be given up. */
static enum stb_event retry(struct stb_session *s, int (*do_it)(struct stb_session *s))
{
	while (do_it(s)) {
		const enum stb_event r = recover(s);

		if (r != STB_EVENT_DONE)
			return r;
		if (quitting(s))
			return STB_EVENT_CANCELLED;
	}
	return STB_EVENT_DONE;
}

enum stb_event stb_session_event(struct stb_session *s)
{
	if (s->o->reconnect && s->since_connect++ == s->o->reconnect) {
		const enum stb_event r = renew(s);

		if (r != STB_EVENT_DONE)
			return r;
		s->since_connect = 1;
	}
	return retry(s, transaction);
}

enum stb_event stb_session_finish(struct stb_session *s)
{
	if (s->o->script != STB_BULK_INSERT || stb_bulk_is_empty(&s->bulk))
		return STB_EVENT_DONE;
	return retry(s, send_bulk);
}
