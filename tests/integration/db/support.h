/*
 * support.h - a private server in a temporary directory, for the integration tests of the database room.
 *
 * Directories lie below $STB_ITEST_DIR (db.sh makes it and removes it, also when a test fails), else below /var/tmp.
 */
#ifndef ITEST_DB_SUPPORT_H
#define ITEST_DB_SUPPORT_H

#include "runtime/db/db.h"
#include "tests/unit/db_blocks.h"

struct server {
	struct stb_arena arena;
	char dir[64];                   /* stands for a volume's directory */
	struct stb_plan_block *block;
	struct stb_mysqld *mysqld;
	struct stb_err err;
};

/* A directory and a block; the test may set options before server_up(). */
void server_init(struct server *s);
/* Creates and starts; fails the test where that fails. */
void server_up(struct server *s);
/* Stops, and removes the directory. */
void server_down(struct server *s);
/* The whole of create and start, with its result. */
int server_try(struct server *s);
long server_pid(const struct server *s);

struct stb_phase *phase_new(uint32_t n_workers);
/* load and run against s with a phase of their own; fail the test where they fail. */
void load(struct server *s, const struct stb_plan_block *workload);
struct stb_oltp_setup setup_of(struct server *s, const struct stb_plan_block *workload);
/* Whether the server that would be found is MariaDB. */
bool server_is_mariadb(void);
/* Sum of Com_* and Handler_* counters etc.: one number of SHOW GLOBAL STATUS, 0 where the server has none of that name. */
uint64_t status_of(struct server *s, const char *name);
void query_text(struct server *s, const char *sql, char *out, size_t size);
void query_rows(struct server *s, const char *sql, bool (*row)(void *ctx, const char *const *cells, uint32_t n_cells), void *ctx);
void execute(struct server *s, const char *sql);

#endif
