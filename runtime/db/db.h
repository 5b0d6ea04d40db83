/*
 * db.h - database servers and OLTP workloads: what exec calls. mysql.h is included by db/mysql.c alone.
 */
#ifndef STB_DB_H
#define STB_DB_H

#include "runtime/base/buf.h"
#include "runtime/base/undo.h"
#include "runtime/plan/plan.h"
#include "runtime/result/measure.h"

#include <sys/types.h>

/* Whether a connection is encrypted, and what of the server is verified: nothing, who vouches for it, or its name too. */
enum stb_tls { STB_TLS_DISABLED, STB_TLS_REQUIRED, STB_TLS_VERIFY_CA, STB_TLS_VERIFY_IDENTITY };

struct stb_db_address {
	const char *host, *socket, *user, *password, *schema; /* socket NULL: TCP to host:port; password NULL: none */
	uint16_t port;
	enum stb_tls tls;
	const char *tls_ca, *tls_cert, *tls_key; /* files; NULL: none */
};

/* --- private server (database mysql) --- */

struct stb_mysqld; /* one private server: its directories, process, address */

/* What a private server is for. */
enum stb_mysqld_role {
	STB_MYSQLD_ALONE,   /* no binary log, no port */
	STB_MYSQLD_PRIMARY, /* writes a binary log with GTIDs, which replicas read over a port of 127.0.0.1 */
	STB_MYSQLD_REPLICA, /* follows the primary; read-only */
};

struct stb_mysqld_env {
	const struct stb_plan *plan;
	const char *run_dir; /* for the log that outlives the volume */
	const char *run_mark;
	const char *redo_dir, *binlog_dir, *tmp_dir; /* directories of volumes for that part; NULL: it lies with the data */
	enum stb_mysqld_role role;
	uint32_t number;     /* of a replica, from 1 */
	bool semi_sync;      /* commits wait for a replica's word */
	void *ctx;
	void (*leftover)(void *ctx, int made, const char *kind, const char *object); /* as in storage.h; kinds "pid", "socket" (a directory) */
	uint32_t (*stopped)(void *ctx); /* asked some times a second while a server is waited for: how often the run was told to stop; NULL: never */
};

/* The binary that would be used and its version text; -1 where none is found (where was looked; the package to install) or the prefix differs. */
STB_NODISCARD int stb_mysqld_preflight(const struct stb_plan_block *database, struct stb_err *err);
/*
 * Whether a private server gets the open files that it needs for the connections that are to be had; below that it lowers max_connections without a
 * word, or ends in the middle. *need: how many those are. 0, or -1 with *err.
 */
struct stb_db_room;
STB_NODISCARD int stb_mysqld_preflight_files(const struct stb_plan_block *database, const struct stb_db_room *r, uint64_t *need, struct stb_err *err);
/* The same binary's path and version, in the arena. */
STB_NODISCARD int stb_mysqld_binary(const struct stb_plan_block *database, struct stb_arena *a, const char **path, const char **version,
	struct stb_err *err);
/* What options a server binary knows, as it says itself. */
struct stb_server_options;

/* Asks the binary; NULL where it does not say. */
struct stb_server_options *stb_server_options_ask(const char *path);
/* The same from what `mariadbd --verbose --help` would print, for tests. */
struct stb_server_options *stb_server_options_read(const char *text);
void stb_server_options_free(struct stb_server_options *o);
/* 0, or -1 with *err for the first option of the block that the server would refuse; who is "/usr/sbin/mariadbd, 10.11.6". */
STB_NODISCARD int stb_server_options_check(const struct stb_server_options *o, const struct stb_plan_block *database, const char *who,
	struct stb_err *err);
/* Whether the user that the server runs as (mysql or nobody under root) can reach an existing directory; the first that bars the way is named. */
STB_NODISCARD int stb_mysqld_check_dir(const char *dir, struct stb_err *err);
/* Makes and initialises the data directory below dir (a volume's directory). This and start fail with "interrupted" where env->stopped says so. */
STB_NODISCARD int stb_mysqld_create(struct stb_mysqld **out, const struct stb_mysqld_env *env, const struct stb_plan_block *database,
	const char *dir, struct stb_err *err);
/* Also compares the spec's options with what is in force: a difference fails, both values are named, and the server is stopped. */
STB_NODISCARD int stb_mysqld_start(struct stb_mysqld *m, struct stb_err *err);
/*
 * Clean shutdown (innodb_fast_shutdown as configured), SIGKILL after a bounded wait; an unclean end is an error. Where the run was told to stop
 * the wait is short, and none at all where it was told twice: the data is thrown away.
 */
STB_NODISCARD int stb_mysqld_stop(struct stb_mysqld *m, struct stb_err *err);
/*
 * As stb_mysqld_stop, but all that the server would do later is done first (innodb_fast_shutdown = 0: purge, change buffer), however long it takes:
 * what its files hold then does not depend on when it was stopped.
 */
STB_NODISCARD int stb_mysqld_stop_for_good(struct stb_mysqld *m, struct stb_err *err);
/*
 * Sets the files of stopped servers aside (data, redo log, binary log), to be copied from by stb_mysqld_restore(). 0; 1 where there is no room for
 * the copies: then *err says so and the files are where they were; -1 with *err.
 */
STB_NODISCARD int stb_mysqld_keep(struct stb_mysqld *const *servers, uint32_t n, struct stb_err *err);
/*
 * Replaces the files of a stopped server by copies of those set aside; where none are, what is there is only written back. Neither is in the page
 * cache afterwards. 0, or -1 with *err: then the server has no files to start on (err->code ENOSPC: for want of room).
 */
STB_NODISCARD int stb_mysqld_restore(struct stb_mysqld *m, struct stb_err *err);
/* Waits until a running server has read in what it dumped of its buffer pool when it was stopped. 0, or -1 with *err: interrupted, or it died. */
STB_NODISCARD int stb_mysqld_wait_pool(struct stb_mysqld *m, struct stb_err *err);
/* True while the process lives; when it has died, *err (if given) has its exit and the tail of its error log. */
bool stb_mysqld_alive(struct stb_mysqld *m, struct stb_err *err);
/* Whether it lives and answers. One that gives no answer for half a minute is killed; *err as of one that has died. */
STB_NODISCARD bool stb_mysqld_answers(struct stb_mysqld *m, struct stb_err *err);
const struct stb_db_address *stb_mysqld_address(const struct stb_mysqld *m);
/* Of the process that runs; 0: none. */
pid_t stb_mysqld_pid(const struct stb_mysqld *m);
const char *stb_mysqld_version(const struct stb_mysqld *m);
/* The options that no variable of the running server shows, a line each: the server took them, nobody can tell as what. */
const char *stb_mysqld_unverified(const struct stb_mysqld *m);
/* Stops if running, forgets. The data directory goes with the volume. */
void stb_mysqld_free(struct stb_mysqld *m);
/* Undoes one announced leftover ("pid", "socket") of an earlier run; refuses what does not carry run_mark. */
STB_NODISCARD enum stb_undo stb_mysqld_undo(const char *run_mark, const char *kind, const char *object, struct stb_err *err);

/* --- replicas --- */

#define STB_MAX_REPLICAS 16

/* How many replicas a database mysql has, and whether commits wait for one's word. */
uint32_t stb_replication_of(const struct stb_plan_block *database, bool *semi_sync);

/* A primary and its replicas; borrowed, all of them run. */
struct stb_replication {
	struct stb_mysqld *primary;
	struct stb_mysqld **replicas;
	uint32_t n;
	bool semi_sync;
	uint32_t (*stop)(void *ctx); /* asked while something is waited for: anything but 0 ends the wait; may be NULL */
	void *ctx;
};

/* How it stands at a moment. */
struct stb_replication_state {
	bool heard[STB_MAX_REPLICAS];     /* of each replica: it answered, and both its threads run */
	double lag_s;       /* of the replica that is furthest behind, as it says itself; of those that were heard */
	char trouble[256];  /* of the first that was not: why; "" where all were */
	bool known;         /* the primary answered; what follows is its word */
	bool on;            /* semi-synchronous replication */
	uint32_t clients;   /* replicas that acknowledge */
	uint64_t off_times; /* how often it fell back to asynchronous since the start */
	uint64_t no_tx, yes_tx; /* commits without and with an acknowledgement since the start */
};

/* Points every replica at the primary and waits until all follow it. 0, or -1 with *err. */
STB_NODISCARD int stb_replication_start(const struct stb_replication *r, struct stb_err *err);
/*
 * Waits until every replica has carried out what the primary had committed when this was called and, with semi_sync, every one acknowledges.
 * 0, or -1 with *err: which one did not, and why.
 */
STB_NODISCARD int stb_replication_settle(const struct stb_replication *r, struct stb_err *err);

/* Connections to look again and again through. A process that was forked opens its own. */
struct stb_replication_probe;

struct stb_replication_probe *stb_replication_probe_new(const struct stb_replication *r);
void stb_replication_look(struct stb_replication_probe *p, struct stb_replication_state *out);
void stb_replication_probe_free(struct stb_replication_probe *p);

/* Address of a database external; the secret is resolved here (environment, file) and held in memory only. */
STB_NODISCARD int stb_db_external_address(const struct stb_plan_block *database, struct stb_arena *a, struct stb_db_address *out,
	struct stb_err *err);
/* Version prefix and options asserted against a live server, and that the schema can be entered; nothing is changed. */
STB_NODISCARD int stb_db_external_assert(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_err *err);
/* Of that the schema alone, entered as a load enters it. */
STB_NODISCARD int stb_db_external_schema(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_err *err);
/*
 * hold.c: tells others on an external server that the run of a mark (stb_oltp_setup.run_mark) goes on, so that they leave its tables alone, until the
 * end or that of this process. 0, or -1 with *err: no connection. why: "", or for what reason others are not told.
 */
struct stb_hold;
#define STB_HOLD_WHY 256
STB_NODISCARD int stb_hold_begin(struct stb_hold **out, const struct stb_db_address *addr, const char *mark, char why[STB_HOLD_WHY],
	struct stb_err *err);
/* Between the repetitions: takes it anew where it was lost, why as before. -1 with *err: the tables are another run's by now. */
STB_NODISCARD int stb_hold_renew(struct stb_hold *h, char why[STB_HOLD_WHY], struct stb_err *err);
void stb_hold_end(struct stb_hold *h);

/* What a user of a server may do in a schema. */
enum stb_right {
	STB_RIGHT_SELECT = 1 << 0,
	STB_RIGHT_INSERT = 1 << 1,
	STB_RIGHT_UPDATE = 1 << 2,
	STB_RIGHT_DELETE = 1 << 3,
	STB_RIGHT_CREATE = 1 << 4,
	STB_RIGHT_DROP = 1 << 5,
	STB_RIGHT_INDEX = 1 << 6,
};

/* What is on a server at the same time. */
struct stb_db_room {
	uint64_t threads;  /* connections of theirs */
	uint64_t own;      /* and of stb itself: stb_plan_own_connections() */
	uint64_t prepared; /* statements */
};

/* Adds what a workload has; nothing where the block cannot be read. */
void stb_oltp_add_room(struct stb_db_room *r, const struct stb_plan_block *workload);
/*
 * Whether the server has room for that beside what is there already: max_connections, max_user_connections of the account, max_prepared_stmt_count.
 * 0, or -1 with *err.
 */
STB_NODISCARD int stb_db_external_connections(const struct stb_db_address *addr, const struct stb_db_room *r, struct stb_err *err);
STB_NODISCARD int stb_db_external_prepared(const struct stb_db_address *addr, const struct stb_db_room *r, struct stb_err *err);

/* What a workload and its data set need, ORed; 0 where the block cannot be read. */
unsigned stb_oltp_rights(const struct stb_plan_block *workload);
/* Whether the server lets the user do that in the schema, as far as it tells without anything being done; nothing is changed. 0, or -1 with *err. */
STB_NODISCARD int stb_db_external_rights(const struct stb_plan_block *database, const struct stb_db_address *addr, unsigned rights,
	struct stb_err *err);

/* Variables of a live server ("name\tvalue\n", sorted), for environment.json. */
STB_NODISCARD int stb_db_variables(const struct stb_db_address *addr, struct stb_buf *out, struct stb_err *err);

#define STB_TLS_TEXT 64
/* What a connection to it is encrypted with ("TLSv1.3", "TLS_AES_256_GCM_SHA384"), as its server says; "" where it is not. */
STB_NODISCARD int stb_db_encryption(const struct stb_db_address *addr, char version[STB_TLS_TEXT], char cipher[STB_TLS_TEXT], struct stb_err *err);

/* --- oltp --- */

struct stb_oltp_setup {
	const struct stb_plan *plan;
	const struct stb_plan_block *workload; /* for run */
	const struct stb_plan_block *dataset;  /* for load and check */
	const struct stb_plan_matrix *matrix;  /* for run: whose `fresh` says what it finds in the tables; NULL: not known */
	struct stb_db_address addr;
	const char *run_mark;                  /* for load and cleanup: whose the tables are */
	bool private_server;
	pid_t server_pid; /* of a private server; 0: not known, its CPU time is not told */
	const char *stat_file; /* that counts for the device under a private server's data: base/blockstat.h; NULL or "": none */
	uint64_t seed, cell;
	uint32_t repetition;
};

uint32_t stb_oltp_workers(const struct stb_plan_block *workload);
STB_NODISCARD int stb_oltp_preflight(const struct stb_plan_block *workload, struct stb_err *err);
/* Creates and fills the tables (stage LAYOUT, progress in rows). In the calling process; exec forks first. */
int stb_oltp_load(const struct stb_oltp_setup *s, struct stb_phase *phase);
/* Drops the tables that the marker says the run of s->run_mark made, and the marker. Without a marker they are gone; another run's are foreign. */
STB_NODISCARD enum stb_undo stb_oltp_cleanup(const struct stb_oltp_setup *s, struct stb_err *err);
/* How many tables a data set has that is to be created; 0: it is not. */
uint32_t stb_oltp_tables(const struct stb_plan_block *dataset);
/* What does the same by hand, marker and all. schema NULL: the current one. */
void stb_oltp_drop_sql(struct stb_buf *out, const char *schema, uint32_t tables);
/* One repetition: connect, prepare, WARMUP, MEASURE, DRAIN. */
int stb_oltp_run(const struct stb_oltp_setup *s, struct stb_phase *phase);

#define STB_CLIENT_LIBRARY_TEXT 64
/* "MariaDB Connector/C 3.3.20" or "libmysqlclient 8.0.36": for stb version and the record. */
void stb_db_client_library(char out[STB_CLIENT_LIBRARY_TEXT]);
/* How it serves prepared statements, which decides how many threads a workload has: "sent and received apart, ..." */
const char *stb_db_client_prepared(void);

#endif
