/*
 * server.h - inside this room: the parts that a private server is started from (which binary, as whom, with what file, as which process).
 */
#ifndef STB_DB_SERVER_H
#define STB_DB_SERVER_H

#include "runtime/db/db.h"

#include <limits.h>
#include <sys/types.h>
#include <sys/un.h>

#define STB_SOCKET_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1) /* 107 bytes */

/* --- find.c --- */

struct stb_server_binary {
	char path[PATH_MAX];
	char version[128]; /* "10.11.19-MariaDB-0+deb12u1" */
	bool mariadb;
};

/* "10.11" matches 10.11.19 and not 10.1 or 10.110: a prefix ends where a number ends. */
bool stb_version_matches(const char *version, const char *prefix);
struct stb_server_user;

/*
 * What the binary, run as that user, writes when it is asked so (arguments after --no-defaults, NULL-terminated); cut off at size - 1 bytes. false:
 * it cannot be asked.
 */
bool stb_server_ask(const char *path, const struct stb_server_user *user, const char *const *arguments, char *out, size_t size);
/* The first server whose version matches (prefix NULL: any); -1 names where was looked and what was found. */
STB_NODISCARD int stb_server_find(struct stb_server_binary *out, const char *prefix, struct stb_err *err);
/* The directory of MariaDB's system tables as SQL, and the basedir that goes with it; out and basedir have room for PATH_MAX bytes. */
STB_NODISCARD int stb_server_find_sql(const struct stb_server_binary *b, char *out, char *basedir, struct stb_err *err);

/* --- bootstrap.c --- */

/* The SQL that makes MariaDB's system tables, as a file without a name, at its beginning; -1 with *err. */
STB_NODISCARD int stb_bootstrap_sql(const char *sql_dir, struct stb_err *err);

/* --- external.c --- */

/*
 * Whether the spec's options are in force on a live server; those of stb itself are passed over. *unknown gets the names of those that no
 * variable shows, a line each. 0, or -1 with *err.
 */
STB_NODISCARD int stb_db_options_in_force(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_buf *unknown,
	struct stb_err *err);

/* --- spawn.c --- */

struct stb_server_user {
	bool drop; /* we are root, and the server shall not be */
	uid_t uid;
	gid_t gid;
	char name[64];
};

/* `mysql` where that user exists, else `nobody`; ourselves where we are not root. */
STB_NODISCARD int stb_server_user(struct stb_server_user *out, struct stb_err *err);

/*
 * Starts path as that user, in a session of its own, with nothing inherited but stdin_fd (-1: /dev/null) and out_fd (as stdout and stderr).
 * The kernel kills it when the calling thread ends. *pid is a child of the caller.
 */
STB_NODISCARD int stb_spawn(pid_t *pid, const char *path, char *const argv[], const struct stb_server_user *user, int stdin_fd, int out_fd,
	struct stb_err *err);
/* Waits for a child, at most timeout_ns; 0 with *status, or 1 when the time is over. */
int stb_wait_child(pid_t pid, uint64_t timeout_ns, int *status);
/* "exited with status 1", "was killed by signal 9 (Killed)" */
void stb_status_words(int status, char *out, size_t size);

/* --- place.c --- */

/* Whether the user can enter every directory of the absolute path; -1 names the first that bars the way. */
STB_NODISCARD int stb_server_place_check(const char *path, const struct stb_server_user *user, struct stb_err *err);
/* Makes a directory of mode 0700 that belongs to the user. */
STB_NODISCARD int stb_server_place_mkdir(const char *path, const struct stb_server_user *user, struct stb_err *err);
/* Creates a file of mode 0600 that belongs to the user, with these bytes. It must not exist. */
STB_NODISCARD int stb_server_place_write(const char *path, const struct stb_server_user *user, const char *data, size_t len, struct stb_err *err);
/*
 * Where the socket lies: dir/mysql.sock when that is short enough, else in a directory of its own below $TMPDIR or /tmp. Then *own_dir is
 * true and the directory (out without "/mysql.sock") is still to be made. out has room for STB_SOCKET_MAX + 1 bytes.
 */
STB_NODISCARD int stb_server_place_socket(char *out, bool *own_dir, const char *dir, const char *run_mark, const struct stb_server_user *user,
	struct stb_err *err);

/* What a block of a private server asks for, as far as that can be judged without one. *version: NULL where any will do. */
STB_NODISCARD int stb_mysqld_read(const struct stb_plan_block *database, const char **version, struct stb_err *err);

/* The option file: the database's options, then those of stb, which win. -1 where a name or value cannot stand in one. */
struct stb_option_file {
	bool mariadb;
	const char *basedir; /* NULL: the server's own idea */
	const char *data_dir, *tmp_dir, *socket, *pid_file, *error_log;
	const char *redo_dir; /* NULL: in data_dir */
	const char *binlog;   /* of a primary: what the names of its files begin with */
	const char *relay_log;/* of a replica, likewise */
	enum stb_mysqld_role role;
	uint32_t server_id;
	bool semi_sync;
	bool without_plugins; /* options of the semi-synchronous plugin are left out: MySQL loads it only once there is a data directory */
};

/* --- mysqld.c, for replication.c --- */

/* "database `fast`", "replica 2 of database `fast`" */
const char *stb_mysqld_label(const struct stb_mysqld *m);
bool stb_mysqld_is_mariadb(const struct stb_mysqld *m);
/* Where replicas reach a running primary on 127.0.0.1, and the password of STB_REPLICA_ACCOUNT. */
uint16_t stb_mysqld_port(const struct stb_mysqld *m, const char **password);

/* --- role.c --- */

/* The lines of the option file that make a server what it is for. */
STB_NODISCARD int stb_role_options(struct stb_buf *out, const struct stb_option_file *f, struct stb_err *err);
#define STB_SERVER_SCHEMA "sbtest"
#define STB_SERVER_ACCOUNT "stb"
#define STB_REPLICA_ACCOUNT "stb_replica"
#define STB_PASSWORD_HEX 33 /* with the NUL */

STB_NODISCARD int stb_role_password(char out[STB_PASSWORD_HEX], struct stb_err *err);
/* The statements of a first start: the schema, the account of stb, that of replicas where there are any. Of secrets, in the clear. */
void stb_role_accounts(struct stb_buf *sql, bool mariadb, enum stb_mysqld_role role, const char *password, const char *replica_password);
/* A TCP port of 127.0.0.1 that nobody listens on at the moment; 0 with *err. */
uint16_t stb_role_port(struct stb_err *err);
/* Asks the running server whether redo log, binary log and temporary files lie where the option file put them. */
STB_NODISCARD int stb_role_places_in_force(const struct stb_option_file *f, const char *label, const struct stb_db_address *addr,
	struct stb_err *err);

/* Writes `name = "path"`; -1 where the path cannot stand in an option file. */
STB_NODISCARD int stb_option_path(struct stb_buf *out, const char *name, const char *path, struct stb_err *err);

/* Whether stb sets the option itself, so that the spec's is without effect. */
bool stb_option_is_ours(const char *option);
STB_NODISCARD int stb_option_file(struct stb_buf *out, const struct stb_option_file *f, const struct stb_plan_block *database,
	struct stb_err *err);

/*
 * What matters of the end of an error log (its errors, else its warnings; routine notes never), in one line of at most size bytes; "" where
 * there is nothing.
 */
void stb_log_tail(const char *path, char *out, size_t size);

#endif
