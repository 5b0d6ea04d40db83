/*
 * test_agree.c - stb beside sysbench on one server: tables that each makes for the other, and what a transaction of each script costs the
 * server, counted by the server itself.
 *
 * Every run is done twice, with few events and with many; the difference leaves out whatever belongs to connecting, preparing and looking. What
 * is drawn is drawn evenly and k is the id, so that a number of rows does not depend on luck.
 */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW 4
#define MANY 1504
#define LUCK 60004
#define PERCENT 0.5

TestSuite(db_agree, .timeout = 300);

struct script {
	const char *stb, *sysbench;
	const char *ps_mode;
	int64_t tables, table_size;
	double percent; /* allowed, where it is more than PERCENT */
};

/* What sysbench says of a run, in queries. */
struct said {
	uint64_t reads, writes, others;
};

static void sysbench(struct server *s, const struct script *x, int events, const char *command, struct said *said)
{
	const struct stb_db_address *a = stb_mysqld_address(s->mysqld);
	const bool bulk = strcmp(x->sysbench, "bulk_insert") == 0;
	char line[1200], out[128], tables[64] = "";

	snprintf(out, sizeof(out), "%s/sysbench.out", s->dir);
	if (!bulk)
		snprintf(tables, sizeof(tables), "--tables=%ld --table-size=%ld", (long)x->tables, (long)x->table_size);
	snprintf(line, sizeof(line),
		"exec sysbench %s --db-driver=mysql --mysql-socket='%s' --mysql-user='%s' --mysql-password='%s' --mysql-db='%s' %s --threads=2 "
		"--time=0 --events=%d --rand-type=uniform --db-ps-mode=%s %s >'%s' 2>&1",
		x->sysbench, a->socket, a->user, a->password ? a->password : "", a->schema, tables, events, x->ps_mode, command, out);
	const int rc = system(line);
	FILE *f = fopen(out, "r");

	cr_assert(f);
	if (said)
		*said = (struct said){0};
	while (fgets(line, sizeof(line), f)) {
		if (rc)
			fprintf(stderr, "%s", line);
		if (!said)
			continue;
		(void)sscanf(line, " read: %lu", &said->reads);
		(void)sscanf(line, " write: %lu", &said->writes);
		(void)sscanf(line, " other: %lu", &said->others);
	}
	fclose(f);
	cr_assert_eq(rc, 0, "sysbench %s %s", x->sysbench, command);
}

static struct stb_plan_block *workload_of(struct server *s, const struct script *x, int events)
{
	struct stb_plan_block *w = db_workload(&s->arena, x->stb);

	db_set_count(&s->arena, w, "tables", x->tables);
	db_set_count(&s->arena, w, "table_size", x->table_size);
	db_set_count(&s->arena, w, "threads", 2);
	db_set_count(&s->arena, w, "events", events);
	db_set_word(&s->arena, w, "rand_type", "uniform");
	db_set_word(&s->arena, w, "db_ps_mode", x->ps_mode);
	db_unset(w, "time");
	return w;
}

static void stb(struct server *s, const struct script *x, int events, struct said *said)
{
	struct stb_oltp_setup setup = setup_of(s, workload_of(s, x, events));
	struct stb_phase *phase = phase_new(2);

	setup.repetition = (uint32_t)events; /* other values than in the run before */
	cr_assert_eq(stb_oltp_run(&setup, phase), 0, "%s: %s", x->stb, phase->err.what);
	cr_assert_eq(phase->result.ok[0], (uint64_t)events);
	*said = (struct said){phase->result.queries_read, phase->result.queries_write, phase->result.queries_other};
}

/* --- the tables ---------------------------------------------------------------------------------------------------------------------- */

static void drop_all(struct server *s)
{
	execute(s, "DROP TABLE IF EXISTS sbtest1, sbtest2, sbtest3, stb_dataset");
}

static bool second_cell(void *ctx, const char *const *cells, uint32_t n_cells)
{
	snprintf(ctx, 2048, "%s", n_cells > 1 && cells[1] ? cells[1] : "");
	return false;
}

/* SHOW CREATE TABLE of every table, one after the other; without the next id where that only tells what has been inserted. */
static void definitions(struct server *s, const struct script *x, int64_t tables, char *out, size_t size)
{
	out[0] = '\0';
	for (int64_t i = 1; i <= tables; i++) {
		char sql[64], text[2048];

		snprintf(sql, sizeof(sql), "SHOW CREATE TABLE sbtest%ld", (long)i);
		query_rows(s, sql, second_cell, text);
		snprintf(out + strlen(out), size - strlen(out), "%s: %s\n", x->stb, text);
	}
}

Test(db_agree, tables_of_either_are_the_same_and_serve_the_other)
{
	static const struct script scripts[] = {
		{"read_write", "oltp_read_write", "auto", 3, 5000, 0},
		{"insert", "oltp_insert", "auto", 2, 3000, 0},
		{"select_random_points", "select_random_points", "auto", 1, 5000, 0},
		{"select_random_ranges", "select_random_ranges", "disable", 1, 5000, 0},
		{"bulk_insert", "bulk_insert", "auto", 2, 0, 0},
	};
	static char theirs[16384], ours[16384];
	struct server s;
	struct said said;

	server_init(&s);
	server_up(&s);
	for (unsigned i = 0; i < STB_LEN(scripts); i++) {
		const struct script *x = &scripts[i];
		const struct stb_plan_block *w;

		sysbench(&s, x, FEW, "prepare", NULL);
		definitions(&s, x, x->tables, theirs, sizeof(theirs));
		w = workload_of(&s, x, FEW);
		db_set_word(&s.arena, (struct stb_plan_block *)w, "dataset", "use");
		load(&s, w); /* which looks only */
		stb(&s, x, 200, &said);
		drop_all(&s);

		load(&s, workload_of(&s, x, FEW));
		definitions(&s, x, x->tables, ours, sizeof(ours));
		cr_expect_str_eq(ours, theirs);
		sysbench(&s, x, 200, "run", &said);
		drop_all(&s);
	}
	server_down(&s);
}

/* --- the work ------------------------------------------------------------------------------------------------------------------------- */

static const char *const counters[] = {"Com_select", "Com_insert", "Com_update", "Com_delete", "Com_begin", "Com_commit", "Com_rollback",
	"Com_stmt_execute", "Handler_read_key", "Handler_read_next", "Handler_read_first", "Handler_update", "Handler_delete", "Handler_write",
	"Handler_tmp_write", "Rows_read", "Rows_sent", "Sort_rows", /* MySQL's: */ "Innodb_rows_read", "Innodb_rows_inserted",
	"Innodb_rows_updated", "Innodb_rows_deleted"};

struct cost {
	double counter[STB_LEN(counters)]; /* a transaction */
	double reads, writes, others;
};

static void take(struct server *s, uint64_t out[STB_LEN(counters)])
{
	for (unsigned i = 0; i < STB_LEN(counters); i++)
		out[i] = status_of(s, counters[i]);
}

static void measure(struct server *s, const struct script *x, bool ours, int events, uint64_t delta[STB_LEN(counters)], struct said *said)
{
	uint64_t before[STB_LEN(counters)];

	take(s, before);
	if (ours)
		stb(s, x, events, said);
	else
		sysbench(s, x, events, "run", said);
	take(s, delta);
	for (unsigned i = 0; i < STB_LEN(counters); i++)
		delta[i] -= before[i];
}

static struct cost cost_of(struct server *s, const struct script *x, bool ours)
{
	/* how many rows random values meet is luck: so many draws that it evens out */
	const int n = strncmp(x->stb, "select_random", 13) ? MANY : LUCK;
	uint64_t few[STB_LEN(counters)], many[STB_LEN(counters)];
	struct said said_few, said_many;
	struct cost c;

	drop_all(s);
	load(s, workload_of(s, x, FEW));
	if (strncmp(x->stb, "select_random", 13) == 0)
		execute(s, "UPDATE sbtest1 SET k = id");
	measure(s, x, ours, FEW, few, &said_few); /* the first opens the tables */
	measure(s, x, ours, FEW, few, &said_few);
	measure(s, x, ours, n, many, &said_many);
	for (unsigned i = 0; i < STB_LEN(counters); i++)
		c.counter[i] = ((double)many[i] - (double)few[i]) / (double)(n - FEW);
	c.reads = ((double)said_many.reads - (double)said_few.reads) / (double)(n - FEW);
	c.writes = ((double)said_many.writes - (double)said_few.writes) / (double)(n - FEW);
	c.others = ((double)said_many.others - (double)said_few.others) / (double)(n - FEW);
	return c;
}

static void agree(const struct script *x, const char *what, double ours, double theirs)
{
	/* counters that hardly move: one statement in a hundred transactions is nobody's */
	const double allowed = STB_MAX(x->percent, PERCENT) / 100 * STB_MAX(ours, theirs) + 0.01;

	cr_expect(fabs(ours - theirs) <= allowed, "%s (%s): %s a transaction: stb %.4f, sysbench %.4f", x->stb, x->ps_mode, what, ours, theirs);
}

/* Rows_read of ranges: 64.5 or 69.6 a transaction were seen of either client, from run to run, while Handler_read_next was the same. */
static bool is_moody(const struct script *x, const char *counter)
{
	return strcmp(x->stb, "select_random_ranges") == 0 && strcmp(counter, "Rows_read") == 0;
}

static void compare(struct server *s, const struct script *x)
{
	const struct cost theirs = cost_of(s, x, false), ours = cost_of(s, x, true);

	cr_expect(theirs.reads + theirs.writes + theirs.others > 0.9, "%s: sysbench counted nothing", x->stb);
	for (unsigned i = 0; i < STB_LEN(counters); i++)
		if (!is_moody(x, counters[i]))
			agree(x, counters[i], ours.counter[i], theirs.counter[i]);
	agree(x, "reads", ours.reads, theirs.reads);
	agree(x, "writes", ours.writes, theirs.writes);
	agree(x, "others", ours.others, theirs.others);
}

Test(db_agree, scripts_that_read_cost_the_server_the_same)
{
	static const struct script scripts[] = {
		{"point_select", "oltp_point_select", "auto", 2, 10000, 0},
		{"point_select", "oltp_point_select", "disable", 2, 10000, 0},
		{"read_only", "oltp_read_only", "auto", 2, 10000, 0},
		{"read_only", "oltp_read_only", "disable", 2, 10000, 0},
		{"select_random_points", "select_random_points", "auto", 1, 10000, 0},
		{"select_random_points", "select_random_points", "disable", 1, 10000, 0},
		{"select_random_ranges", "select_random_ranges", "auto", 1, 10000, 0},
		{"select_random_ranges", "select_random_ranges", "disable", 1, 10000, 0},
	};
	struct server s;

	server_init(&s);
	server_up(&s);
	for (unsigned i = 0; i < STB_LEN(scripts); i++)
		compare(&s, &scripts[i]);
	server_down(&s);
}

Test(db_agree, scripts_that_write_cost_the_server_the_same)
{
	static const struct script scripts[] = {
		{"read_write", "oltp_read_write", "auto", 2, 10000, 0},
		{"read_write", "oltp_read_write", "disable", 2, 10000, 0},
		{"write_only", "oltp_write_only", "auto", 2, 10000, 0},
		{"write_only", "oltp_write_only", "disable", 2, 10000, 0},
		{"update_index", "oltp_update_index", "auto", 2, 10000, 0},
		{"update_non_index", "oltp_update_non_index", "auto", 2, 10000, 0},
		{"insert", "oltp_insert", "auto", 2, 10000, 0},
		/* a row that is gone already is not deleted again: how often depends on luck, less so in large tables */
		{"delete", "oltp_delete", "auto", 2, 50000, 1},
	};
	struct server s;

	server_init(&s);
	server_up(&s);
	for (unsigned i = 0; i < STB_LEN(scripts); i++)
		compare(&s, &scripts[i]);
	server_down(&s);
}

/* By rows: how many fit in a statement is the same too, but 200,000 rows are few statements. */
Test(db_agree, bulk_inserts_are_the_same_rows)
{
	static const struct script x = {"bulk_insert", "bulk_insert", "auto", 2, 0, 0};
	static const char rows[] = "SELECT CONCAT_WS(' ', COUNT(*), SUM(id = k), COUNT(DISTINCT id)) FROM (SELECT * FROM sbtest1 UNION ALL "
		"SELECT * FROM sbtest2) t";
	enum { N = 200000 };
	char cell[64];
	unsigned long n, equal, distinct;
	struct said said;
	struct server s;

	server_init(&s);
	server_up(&s);
	for (int ours = 0; ours < 2; ours++) {
		drop_all(&s);
		load(&s, workload_of(&s, &x, N));
		if (ours)
			stb(&s, &x, N, &said);
		else
			sysbench(&s, &x, N, "run", &said);
		query_text(&s, rows, cell, sizeof(cell));
		cr_assert_eq(sscanf(cell, "%lu %lu %lu", &n, &equal, &distinct), 3);
		cr_expect_eq(n, N);
		cr_expect_eq(equal, N, "id and number of each row are one");
		cr_expect(distinct >= N / 2 && distinct <= N, "each table counts from 1: %lu", distinct);
	}
	server_down(&s);
}
