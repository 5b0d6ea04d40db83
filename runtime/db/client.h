/*
 * client.h - one connection to a MySQL or MariaDB server: what the rest of this room needs of the client library.
 *
 * Owns the connection and its statements. One thread at a time per connection; the library itself is set up by stb_client_setup(), once,
 * before a second thread exists. Results are read whole: a caller that wants rows gets them one by one, nobody else sees the library's types.
 */
#ifndef STB_DB_CLIENT_H
#define STB_DB_CLIENT_H

#include "runtime/base/err.h"
#include "runtime/db/db.h"

struct stb_client;
struct stb_stmt;

/* What a statement did; the three classes of semantics.md A9. */
struct stb_reply {
	bool has_rows;          /* a result set came back, of any length */
	uint64_t affected_rows; /* of a statement without one */
};

struct stb_client_limits {
	uint32_t connect_timeout_s;
	uint32_t io_timeout_s; /* a read or write that takes longer loses the connection (2013); 0: none, which saves a timer a read */
};

/* Readies the library; safe to call again, from one thread. */
void stb_client_setup(void);
/* Around the life of every thread but the first that uses connections. */
void stb_client_thread_begin(void);
void stb_client_thread_end(void);

/* Whether the library can check who vouches for a server without also comparing its name (tls = verify_ca). */
bool stb_client_can_verify_ca(void);

/* No option file, no environment, no reconnection. Where the address wants encryption, a connection without it is a failure, whatever the library made of it. 0, or -1 with *err (its code is not an errno: see stb_client_failed()). */
STB_NODISCARD int stb_client_open(struct stb_client **out, const struct stb_db_address *addr, const struct stb_client_limits *limits,
	struct stb_err *err);
/* Whether the number is one of the library, so that no server has said anything. */
bool stb_client_is_own(unsigned code);
/* What to do about a failure to connect, by its number and text; NULL where that follows from neither. */
const char *stb_client_remedy(unsigned code, const char *text);
/* As stb_client_open, but a failure is only a number and a text of at most text_size bytes: for waiting until a server answers. */
STB_NODISCARD int stb_client_try(struct stb_client **out, const struct stb_db_address *addr, const struct stb_client_limits *limits,
	unsigned *code, char *text, size_t text_size);
/* The same again on the same memory, after the connection was lost: nothing of ours is allocated. Statements need stb_stmt_reopen(). */
STB_NODISCARD int stb_client_reopen(struct stb_client *c, const struct stb_db_address *addr, const struct stb_client_limits *limits);
void stb_client_close(struct stb_client *c);
/* "10.11.19-MariaDB-0+deb12u1" */
const char *stb_client_server_version(const struct stb_client *c);
bool stb_client_server_is_mariadb(const struct stb_client *c);

/* The last failed call's number (1213, 2013, ...) and text. */
unsigned stb_client_code(const struct stb_client *c);
const char *stb_client_text(const struct stb_client *c);

/* Text protocol. 0 or -1; rows are read and dropped. */
STB_NODISCARD int stb_client_query(struct stb_client *c, const char *sql, size_t len, struct stb_reply *reply);
/*
 * The same in two halves, for a thread that serves many connections: send returns when the statement is on its way; receive reads the answer
 * and waits for what of it is not there yet. Between the two the connection is good for nothing else. Where prepared statements cannot be
 * split (stb_client_can_split()), stb_stmt_send() waits, and the socket has nothing to tell afterwards.
 */
bool stb_client_can_split(void);
int stb_client_socket(const struct stb_client *c);
STB_NODISCARD int stb_client_send(struct stb_client *c, const char *sql, size_t len);
STB_NODISCARD int stb_client_receive(struct stb_client *c, struct stb_reply *reply);
/* Calls row for every row (cells as text, NULL for NULL) until it returns false; the rest is read and dropped. */
STB_NODISCARD int stb_client_rows(struct stb_client *c, const char *sql, bool (*row)(void *ctx, const char *const *cells, uint32_t n_cells),
	void *ctx);
/* The first cell of the first row copied to out (at most size bytes with the NUL); *found false where there is no row or it is NULL. */
STB_NODISCARD int stb_client_cell(struct stb_client *c, const char *sql, char *out, size_t size, bool *found);

/*
 * Server-side prepared statement; cursor type none. Parameters are bound once, to memory of the caller that outlives the statement: an
 * int64_t, or text of a fixed length.
 */
struct stb_param {
	const int64_t *number; /* or */
	const char *text;
	uint32_t text_len;
};

STB_NODISCARD int stb_stmt_open(struct stb_stmt **out, struct stb_client *c, const char *sql, size_t len, const struct stb_param *params,
	uint32_t n_params);
/* Prepares again after stb_client_reopen(); the parameters stay bound. */
STB_NODISCARD int stb_stmt_reopen(struct stb_stmt *s, const char *sql, size_t len);
void stb_stmt_close(struct stb_stmt *s);
/* One round trip in its two halves; rows are read whole and dropped, without decoding. The failure is the connection's stb_client_code(). */
STB_NODISCARD int stb_stmt_send(struct stb_stmt *s);
STB_NODISCARD int stb_stmt_receive(struct stb_stmt *s, struct stb_reply *reply);

/* Error numbers that this room decides on. */
enum {
	STB_MYSQL_SCHEMA_DENIED = 1044,
	STB_MYSQL_ACCESS_DENIED = 1045,
	STB_MYSQL_NO_SCHEMA = 1049,
	STB_MYSQL_TABLE_DENIED = 1142,
	STB_MYSQL_COLUMN_DENIED = 1143,
	STB_MYSQL_TOO_MANY_CONNECTIONS = 1040,
	STB_MYSQL_NO_VARIABLE = 1193,
	STB_MYSQL_USER_CONNECTIONS = 1203,
	STB_MYSQL_USER_LIMIT = 1226,
	STB_MYSQL_NOT_PREPARABLE = 1295,
	STB_MYSQL_LOCK_TIMEOUT = 1205,
	STB_MYSQL_DEADLOCK = 1213,
	STB_MYSQL_GONE_AWAY = 2006,
	STB_MYSQL_LOST = 2013,
	STB_MYSQL_PLUGIN = 2059,
	STB_MYSQL_PLUGIN_FAILED = 2061,
	STB_MYSQL_TLS = 2026, /* also ours: no encryption where there was to be some */
};

#endif
