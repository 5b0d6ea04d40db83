/*
 * mysqld.h - inside this room: what a private server is made of, for the files that carry its life.
 *
 *   mysqld_make.c   directories, option file, the empty data directory
 *   mysqld.c        start, stop, death
 *   mysqld_keep.c   its files set aside as they were after the load, and copies of them
 *   mysqld_fail.c   what is said when something of it fails
 */
#ifndef STB_DB_MYSQLD_H
#define STB_DB_MYSQLD_H

#include "runtime/base/clock.h"
#include "runtime/db/server.h"

#define STB_MYSQLD_LOOK_NS (STB_NS_PER_S / 10) /* how often the run is asked whether it is to stop */

struct stb_mysqld {
	struct stb_mysqld_env env;
	const struct stb_plan_block *block;
	struct stb_server_binary binary;
	struct stb_server_user user;
	char label[160];  /* "database `fast`", "replica 2 of database `fast`" */
	char *dir, *data_dir, *tmp_dir, *config, *error_log, *pid_file, *init_file;
	char *redo_dir;   /* NULL: in data_dir */
	char *binlog_dir, *binlog; /* of a primary: the directory, and what the names of the files begin with */
	char *relay_log;  /* of a replica */
	uint16_t port;    /* of a primary */
	char *socket_dir; /* NULL: the socket lies in dir */
	char socket[STB_SOCKET_MAX + 1];
	char password[STB_PASSWORD_HEX];
	char replica_password[STB_PASSWORD_HEX];
	struct stb_db_address address;
	bool has_account;
	bool kept;        /* its files are set aside: mysqld_keep.c */
	uint64_t stop_ns; /* that it has to shut down */
	pid_t pid;        /* 0: not running */
	int status;       /* of the last one that ended */
	bool died;        /* by itself; status and log say why */
	char saved_log[PATH_MAX]; /* "" : not copied */
	struct stb_buf unverified; /* names of options, a line each */
};

/* --- mysqld.c --- */

void stb_mysqld_announce(const struct stb_mysqld *m, int made, const char *kind, const char *object);
void stb_mysqld_announce_pid(const struct stb_mysqld *m, int made, pid_t pid);
/* "dir/name", malloced. */
char *stb_mysqld_join(const char *dir, const char *name);
/* Starts the server with at most two more arguments and its log as output. */
STB_NODISCARD int stb_mysqld_spawn(struct stb_mysqld *m, char *first, char *second, int stdin_fd, struct stb_err *err);
/* Kills what runs, for good. */
void stb_mysqld_kill(struct stb_mysqld *m);
/* How often the run was told to stop. */
uint32_t stb_mysqld_is_stopped(const struct stb_mysqld *m);
/* Since the run was told to stop. What was begun is nobody's any more: no log is kept of it. Returns -1. */
int stb_mysqld_give_up(struct stb_mysqld *m, struct stb_err *err, const char *when);

/* --- mysqld_make.c --- */

struct stb_option_file stb_mysqld_options(const struct stb_mysqld *m, const char *basedir);

/* --- mysqld_fail.c: they return -1 --- */

/* "what: last lines of the log", with where the log is kept as the remedy. */
int stb_mysqld_fail(struct stb_mysqld *m, struct stb_err *err, const char *what);
/* Of a server that ended by itself; m->status says how. */
int stb_mysqld_fail_dead(struct stb_mysqld *m, struct stb_err *err, const char *when);

#endif
