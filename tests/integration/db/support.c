/* support.c - see support.h. */
#include "support.h"

#include "runtime/db/client.h"
#include "runtime/db/server.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

bool server_is_mariadb(void)
{
	struct stb_server_binary binary;
	struct stb_err err = {0};

	cr_assert_eq(stb_server_find(&binary, NULL, &err), 0, "%s", err.what);
	return binary.mariadb;
}

void server_init(struct server *s)
{
	memset(s, 0, sizeof(*s));
	stb_arena_init(&s->arena);
	const char *base = getenv("STB_ITEST_DIR");

	snprintf(s->dir, sizeof(s->dir), "%s/stb-itest-db-XXXXXX", base ? base : "/var/tmp");
	cr_assert(mkdtemp(s->dir), "no temporary directory");
	s->block = db_mysql(&s->arena);
	db_set(&s->arena, s->block, "options.innodb_buffer_pool_size", stb_val_str(STB_V_STRING, "33554432"));
	if (server_is_mariadb())
		db_set(&s->arena, s->block, "options.innodb_log_file_size", stb_val_str(STB_V_STRING, "8388608"));
	else
		db_set(&s->arena, s->block, "options.innodb_redo_log_capacity", stb_val_str(STB_V_STRING, "16777216"));
	db_set(&s->arena, s->block, "options.innodb_flush_log_at_trx_commit", stb_val_str(STB_V_STRING, "0"));
}

int server_try(struct server *s)
{
	const struct stb_mysqld_env env = {.run_dir = s->dir, .run_mark = "0123456789ab"};

	if (stb_mysqld_create(&s->mysqld, &env, s->block, s->dir, &s->err))
		return -1;
	return stb_mysqld_start(s->mysqld, &s->err);
}

void server_up(struct server *s)
{
	cr_assert_eq(server_try(s), 0, "%s; %s", s->err.what, s->err.remedy);
}

void server_down(struct server *s)
{
	stb_mysqld_free(s->mysqld);
	nftw(s->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	stb_arena_fini(&s->arena);
}

long server_pid(const struct server *s)
{
	char path[128];
	long pid = 0;

	snprintf(path, sizeof(path), "%s/mysql/mysqld.pid", s->dir);
	FILE *f = fopen(path, "r");

	cr_assert(f, "no pid file");
	cr_assert_eq(fscanf(f, "%ld", &pid), 1);
	fclose(f);
	return pid;
}

struct stb_phase *phase_new(uint32_t n_workers)
{
	struct stb_phase *p = mmap(NULL, stb_phase_size(n_workers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	p->n_workers = n_workers;
	return p;
}

struct stb_oltp_setup setup_of(struct server *s, const struct stb_plan_block *workload)
{
	return (struct stb_oltp_setup){.workload = workload, .dataset = db_dataset(&s->arena, workload),
		.addr = *stb_mysqld_address(s->mysqld), .run_mark = "abcdefabcdef",
		.private_server = true, .server_pid = stb_mysqld_pid(s->mysqld), .seed = 1, .cell = 7, .repetition = 1};
}

void load(struct server *s, const struct stb_plan_block *workload)
{
	const struct stb_oltp_setup setup = setup_of(s, workload);
	struct stb_phase *phase = phase_new(1);

	cr_assert_eq(stb_oltp_load(&setup, phase), 0, "%s; %s", phase->err.what, phase->err.remedy);
}

static struct stb_client *open_client(struct server *s)
{
	const struct stb_client_limits limits = {5, 60};
	struct stb_client *c;

	cr_assert_eq(stb_client_open(&c, stb_mysqld_address(s->mysqld), &limits, &s->err), 0, "%s", s->err.what);
	return c;
}

void query_text(struct server *s, const char *sql, char *out, size_t size)
{
	struct stb_client *c = open_client(s);
	bool found;

	cr_assert_eq(stb_client_cell(c, sql, out, size, &found), 0, "%s: %s", sql, stb_client_text(c));
	stb_client_close(c);
}

void query_rows(struct server *s, const char *sql, bool (*row)(void *ctx, const char *const *cells, uint32_t n_cells), void *ctx)
{
	struct stb_client *c = open_client(s);

	cr_assert_eq(stb_client_rows(c, sql, row, ctx), 0, "%s: %s", sql, stb_client_text(c));
	stb_client_close(c);
}

void execute(struct server *s, const char *sql)
{
	struct stb_client *c = open_client(s);
	struct stb_reply reply;

	cr_assert_eq(stb_client_query(c, sql, strlen(sql), &reply), 0, "%s: %s", sql, stb_client_text(c));
	stb_client_close(c);
}

static bool take_second(void *ctx, const char *const *cells, uint32_t n_cells)
{
	uint64_t *out = ctx;

	if (n_cells > 1 && cells[1])
		*out = strtoull(cells[1], NULL, 10);
	return false;
}

uint64_t status_of(struct server *s, const char *name)
{
	uint64_t value = 0;
	char sql[160];

	snprintf(sql, sizeof(sql), "SHOW GLOBAL STATUS LIKE '%s'", name);
	query_rows(s, sql, take_second, &value);
	return value;
}
