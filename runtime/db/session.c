/*
 * session.c - the transactions of the OLTP scripts: which statements, in which order, with which values.
 *
 * As in sysbench: a table is drawn once for each kind of statement in a transaction, an id for each statement; the upper end of a range is not
 * clamped to the table; DELETE and INSERT share table and id. Unlike sysbench, ROLLBACK is sent before a transaction is tried again (`retry =
 * sysbench` leaves it out): after a lock wait timeout (1205) the server has undone the statement only, and the next BEGIN would commit the
 * half-done rest.
 *
 * An event is a short list of steps, made once from the script. That way it can be left after each statement that is sent and be gone on with
 * when the answer is there: a thread serves many connections (crew.c) without a stack for each. What is not the rule waits on the spot:
 * ROLLBACK, a connection that is opened again.
 *
 * All tables' statements are bound to the same few variables, once: the parameter types then travel with the first execution only.
 */
#include "runtime/db/session.h"

#include <poll.h>
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

static void add_step(struct stb_session *s, enum stb_oltp_step_kind kind, enum stb_sql sql, uint64_t times)
{
	if (times > 0)
		s->steps[s->n_steps++] = (struct stb_oltp_step){.kind = kind, .sql = sql, .times = times};
}

static void list_steps(struct stb_session *s)
{
	static const enum stb_sql order[] = {STB_SQL_POINT, STB_SQL_SIMPLE_RANGE, STB_SQL_SUM_RANGE, STB_SQL_ORDER_RANGE,
		STB_SQL_DISTINCT_RANGE, STB_SQL_INDEX_UPDATE, STB_SQL_NON_INDEX_UPDATE};
	const struct stb_oltp *o = s->o;

	s->n_steps = 0;
	if (o->script == STB_BULK_INSERT || has_wide(o)) {
		add_step(s, has_wide(o) ? STB_STEP_WIDE : STB_STEP_BULK, STB_N_SQL, 1);
		return;
	}
	if (o->script == STB_INSERT) {
		add_step(s, STB_STEP_SQL, STB_SQL_INSERT, 1);
		return;
	}
	add_step(s, STB_STEP_BEGIN, STB_N_SQL, o->transaction);
	for (unsigned i = 0; i < STB_LEN(order); i++)
		add_step(s, STB_STEP_SQL, order[i], o->count[order[i]]);
	if (o->script == STB_DELETE)
		add_step(s, STB_STEP_SQL, STB_SQL_DELETE, o->count[STB_SQL_DELETE]);
	else
		add_step(s, STB_STEP_PAIR, STB_SQL_DELETE, 2 * o->count[STB_SQL_DELETE]);
	add_step(s, STB_STEP_COMMIT, STB_N_SQL, o->transaction);
}

int stb_session_open(struct stb_session *s)
{
	struct stb_err err = {0};

	if (stb_client_open(&s->client, s->addr, &s->limits, &err)) {
		snprintf(s->failure, sizeof(s->failure), "%s", err.what);
		return -1;
	}
	list_steps(s);
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

/* A whole round trip, outside the order of the event. */
static int query(struct stb_session *s, const char *sql, size_t len, size_t shown)
{
	struct stb_reply reply;

	if (stb_client_query(s->client, sql, len, &reply))
		return fail(s, sql, shown);
	count_reply(s, &reply);
	return 0;
}

static const char *control_text(const struct stb_oltp_step *step)
{
	return step->kind == STB_STEP_BEGIN ? "BEGIN" : "COMMIT";
}

/* Which of the statements that have a table; of a pair in its turn. */
static enum stb_sql sql_of(const struct stb_session *s, const struct stb_oltp_step *step)
{
	return step->kind == STB_STEP_PAIR && s->sent_of_step % 2 ? STB_SQL_INSERT : step->sql;
}

/* The failure of the statement that is under way: its words with marks, without values. */
static int fail_statement(struct stb_session *s)
{
	const struct stb_oltp_step *step = &s->steps[s->step];

	switch (step->kind) {
	case STB_STEP_BEGIN:
	case STB_STEP_COMMIT:
		return fail(s, control_text(step), strlen(control_text(step)));
	case STB_STEP_SQL:
	case STB_STEP_PAIR:
		return fail(s, s->sql, stb_sql_format(s->sql, sql_of(s, step), s->table, NULL));
	case STB_STEP_WIDE:
		return fail_wide(s);
	case STB_STEP_BULK:
		return fail(s, s->bulk.text, s->bulk.head);
	}
	STB_BUG("no such step");
}

static int send_text(struct stb_session *s, const char *sql, size_t len)
{
	s->under_way = NULL;
	return stb_client_send(s->client, sql, len) ? fail_statement(s) : 0;
}

static int send_prepared(struct stb_session *s, struct stb_stmt *stmt)
{
	s->under_way = stmt;
	return stb_stmt_send(stmt) ? fail_statement(s) : 0;
}

static int64_t draw_key(struct stb_session *s)
{
	return (int64_t)stb_dist_draw(&s->o->data.keys, &s->rng);
}

/* DELETE and INSERT of a pair share the id. */
static void draw_values(struct stb_session *s, enum stb_sql sql)
{
	switch (sql) {
	case STB_SQL_POINT:
	case STB_SQL_SIMPLE_RANGE:
	case STB_SQL_SUM_RANGE:
	case STB_SQL_ORDER_RANGE:
	case STB_SQL_DISTINCT_RANGE:
		s->v.id = draw_key(s);
		s->v.hi = s->v.id + (int64_t)s->o->range_size - 1;
		return;
	case STB_SQL_NON_INDEX_UPDATE:
		stb_sql_fill_c(s->v.c, &s->rng);
		s->v.id = draw_key(s);
		return;
	case STB_SQL_INDEX_UPDATE:
	case STB_SQL_DELETE:
		s->v.id = draw_key(s);
		return;
	case STB_SQL_INSERT:
		if (s->o->script == STB_INSERT)
			s->v.id = s->unique ? stb_unique_id(atomic_fetch_add_explicit(s->unique, 1, memory_order_relaxed)) : 0;
		s->v.k = draw_key(s);
		stb_sql_fill_c(s->v.c, &s->rng);
		stb_sql_fill_pad(s->v.pad, &s->rng);
		return;
	case STB_N_SQL:
		break;
	}
	STB_BUG("no such statement");
}

static int send_sql(struct stb_session *s, enum stb_sql sql)
{
	const uint32_t tables = s->o->data.tables;

	if (s->sent_of_step == 0)
		s->table = 1 + (uint32_t)stb_rng_below(&s->rng, tables);
	draw_values(s, sql);
	if (s->o->prepared)
		return send_prepared(s, s->stmt[sql * tables + s->table - 1]);
	return send_text(s, s->sql, stb_sql_format(s->sql, sql, s->table, &s->v));
}

static int send_control(struct stb_session *s, struct stb_stmt *stmt, const struct stb_oltp_step *step)
{
	const char *text = control_text(step);

	return stmt ? send_prepared(s, stmt) : send_text(s, text, strlen(text));
}

static int send_wide(struct stb_session *s)
{
	stb_wide_draw(&s->wide, &s->rng);
	return s->wide.stmt ? send_prepared(s, s->wide.stmt) : send_text(s, s->wide.sql, stb_wide_format(&s->wide, true));
}

static int send_statement(struct stb_session *s)
{
	const struct stb_oltp_step *step = &s->steps[s->step];

	switch (step->kind) {
	case STB_STEP_BEGIN:
		return send_control(s, s->begin, step);
	case STB_STEP_COMMIT:
		return send_control(s, s->commit, step);
	case STB_STEP_SQL:
	case STB_STEP_PAIR:
		return send_sql(s, sql_of(s, step));
	case STB_STEP_WIDE:
		return send_wide(s);
	case STB_STEP_BULK:
		return send_text(s, s->bulk.text, s->bulk.len);
	}
	STB_BUG("no such step");
}

static int receive(struct stb_session *s)
{
	struct stb_reply reply;

	if (s->under_way ? stb_stmt_receive(s->under_way, &reply) : stb_client_receive(s->client, &reply))
		return fail_statement(s);
	count_reply(s, &reply);
	return 0;
}

/* --- the order of an event ----------------------------------------------------------------------------------------------------------- */

/* The statement before is answered: goes to the next. false: there is none. */
static bool advance(struct stb_session *s)
{
	if (++s->sent_of_step < s->steps[s->step].times)
		return true;
	s->sent_of_step = 0;
	return ++s->step < s->n_steps;
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
	s->generation++;
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
	if (s->o->rollback && query(s, "ROLLBACK", 8, 8))
		return STB_EVENT_FAILED;
	return quitting(s) ? STB_EVENT_CANCELLED : STB_EVENT_DONE;
}

/* The connection has served as many events as it was to: another one takes its place. */
static enum stb_event renew(struct stb_session *s)
{
	if (stb_client_reopen(s->client, s->addr, &s->limits)) {
		(void)fail(s, "reconnect", 9);
		return STB_EVENT_FAILED;
	}
	s->since_connect = 0;
	s->generation++;
	s->reconnect_count++;
	return s->o->prepared && prepare_all(s) ? STB_EVENT_FAILED : STB_EVENT_DONE;
}

/* Sends the event's first statement, for the first time or again after an error. */
static enum stb_event from_the_top(struct stb_session *s)
{
	s->step = 0;
	s->sent_of_step = 0;
	while (send_statement(s)) {
		const enum stb_event r = recover(s);

		if (r != STB_EVENT_DONE)
			return r;
	}
	return STB_EVENT_WAITING;
}

enum stb_event stb_session_begin(struct stb_session *s)
{
	if (s->o->reconnect && s->since_connect++ == s->o->reconnect) {
		const enum stb_event r = renew(s);

		if (r != STB_EVENT_DONE)
			return r;
		s->since_connect = 1;
	}
	/* The statement that is full goes first, so that an event that is tried again sends the same rows and adds none twice. */
	if (s->o->script == STB_BULK_INSERT && stb_bulk_add(&s->bulk))
		return STB_EVENT_DONE;
	return from_the_top(s);
}

enum stb_event stb_session_continue(struct stb_session *s)
{
	if (receive(s) == 0) {
		if (s->o->script == STB_BULK_INSERT) {
			stb_bulk_clear(&s->bulk);
			return stb_bulk_add(&s->bulk) ? STB_EVENT_DONE : STB_EVENT_FAILED;
		}
		if (!advance(s))
			return STB_EVENT_DONE;
		if (send_statement(s) == 0)
			return STB_EVENT_WAITING;
	}
	const enum stb_event r = recover(s);

	return r == STB_EVENT_DONE ? from_the_top(s) : r;
}

/* The library would first try to read, in vain, and then wait: waiting here is a system call less. */
static void await_answer(const struct stb_session *s)
{
	struct pollfd p = {.fd = stb_client_socket(s->client), .events = POLLIN};

	if (p.fd >= 0 && (!s->under_way || stb_client_can_split()))
		(void)poll(&p, 1, -1);
}

enum stb_event stb_session_event(struct stb_session *s)
{
	enum stb_event r = stb_session_begin(s);

	while (r == STB_EVENT_WAITING) {
		await_answer(s);
		r = stb_session_continue(s);
	}
	return r;
}

enum stb_event stb_session_finish(struct stb_session *s)
{
	if (s->o->script != STB_BULK_INSERT || stb_bulk_is_empty(&s->bulk))
		return STB_EVENT_DONE;
	while (query(s, s->bulk.text, s->bulk.len, s->bulk.head)) {
		const enum stb_event r = recover(s);

		if (r != STB_EVENT_DONE)
			return r;
	}
	stb_bulk_clear(&s->bulk);
	return STB_EVENT_DONE;
}
