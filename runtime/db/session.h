/*
 * session.h - one worker's connection, its prepared statements and the transaction it repeats.
 *
 * Owned and used by one thread. After stb_session_open() nothing of ours is allocated.
 */
#ifndef STB_DB_SESSION_H
#define STB_DB_SESSION_H

#include "runtime/db/wide.h"
#include "runtime/result/measure.h"

#include <stdatomic.h>

/* WAITING: a statement is under way. */
enum stb_event { STB_EVENT_DONE, STB_EVENT_CANCELLED, STB_EVENT_FAILED, STB_EVENT_WAITING };

enum stb_oltp_step_kind {
	STB_STEP_BEGIN,
	STB_STEP_SQL,
	STB_STEP_PAIR, /* DELETE, then INSERT of the same id in the same table */
	STB_STEP_WIDE,
	STB_STEP_BULK,
	STB_STEP_COMMIT,
};

/* So many statements of a kind in a row; of one table, which is drawn for the step. */
struct stb_oltp_step {
	enum stb_oltp_step_kind kind;
	enum stb_sql sql; /* SQL, PAIR */
	uint64_t times;
};

struct stb_session {
	const struct stb_oltp *o;
	const struct stb_db_address *addr;
	struct stb_client_limits limits;
	struct stb_client *client;
	struct stb_rng rng;
	uint32_t worker;                /* which one it is, from 0 */
	struct stb_sql_values v;        /* what every prepared statement is bound to */
	struct stb_stmt **stmt;         /* [sql * tables + table - 1]; NULL where the script has no such statement, and in text mode */
	struct stb_stmt *begin, *commit;/* NULL: as text (text mode, or the server cannot prepare it) */
	struct stb_wide wide;           /* select_random_points and _ranges */
	struct stb_bulk bulk;           /* bulk_insert */
	struct stb_oltp_step steps[STB_N_SQL + 2]; /* of an event */
	uint32_t n_steps, step;         /* the one under way */
	uint64_t sent_of_step;          /* answered statements of it */
	uint32_t table;
	struct stb_stmt *under_way;     /* NULL: text */
	uint32_t generation;            /* connections opened before this one */
	uint64_t since_connect;         /* events on this connection */
	_Atomic uint32_t *unique;       /* next index of stb_unique_id(), shared by all workers; NULL with auto_inc */
	const _Atomic bool *quit;       /* give up instead of trying again */
	/* of the event under way; the caller clears them before it */
	uint64_t read_count, write_count, other_count, error_count, reconnect_count;
	struct stb_error_counts errors; /* error_count by code */
	/* why stb_session_open() or an event failed: one line with the statement */
	char failure[STB_ERR_TEXT];
	char sql[STB_SQL_MAX];
};

/* Connects and prepares. s->o, addr, limits, rng, worker, unique and quit are set by the caller, the rest is zero. 0, or -1 with s->failure. */
STB_NODISCARD int stb_session_open(struct stb_session *s);
/*
 * One event in pieces: begin sends its first statement, continue takes an answer (waiting for it, if the caller has not) and sends the next,
 * until one of them returns something else than WAITING. An event is tried again with new values after an error that is to be ignored
 * (ROLLBACK first, unless retry says otherwise). Cost besides the round trips: one random word per value, and in text mode the text.
 */
enum stb_event stb_session_begin(struct stb_session *s);
enum stb_event stb_session_continue(struct stb_session *s);
/* The whole event. */
enum stb_event stb_session_event(struct stb_session *s);
/* After the last event: sends what bulk_insert has appended and not sent yet, so that every row that counts is committed. */
enum stb_event stb_session_finish(struct stb_session *s);
void stb_session_close(struct stb_session *s);

#endif
