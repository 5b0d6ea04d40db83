/*
 * look.c - what is looked at before a repetition: whether the server holds all connections and prepared statements, whether the tables are there
 * and are the ones that the workload expects, and which ids are free. A few look-ups through one connection, none of which warms a cache.
 */
#include "runtime/base/clock.h"
#include "runtime/db/dataset.h"

#include <stdlib.h>

#define CONNECT_TIMEOUT_S 20
#define IO_TIMEOUT_S 60

static int cannot_read(const struct stb_client *c, const char *sql, struct stb_err *err)
{
	stb_err_set(err, 0, "cannot read the server's limits (`%s`): %s (%u)", sql, stb_client_text(c), stb_client_code(c));
	stb_err_remedy(err, "see the server's error log: its volume may be full; an account needs no more than to connect for this");
	return -1;
}

static int read_number(struct stb_client *c, const char *sql, uint64_t *out, struct stb_err *err)
{
	char cell[32];
	bool found;

	if (stb_client_cell(c, sql, cell, sizeof(cell), &found))
		return cannot_read(c, sql, err);
	*out = found ? strtoull(cell, NULL, 10) : 0;
	return 0;
}

/* Other connections. Those of a repetition before may still be closing on the server's side: looked at again for a while if they are too many. */
static int read_connected(struct stb_client *c, uint64_t room, uint64_t *out, struct stb_err *err)
{
	static const char sql[] = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon' AND ID <> CONNECTION_ID()";
	const uint64_t give_up_ns = stb_clock_ns() + 2 * STB_NS_PER_S;

	for (;;) {
		if (read_number(c, sql, out, err))
			return -1;
		if (*out <= room || stb_clock_ns() > give_up_ns)
			return 0;
		(void)stb_clock_sleep_until(stb_clock_ns() + STB_NS_PER_S / 20);
	}
}

static bool take_second(void *ctx, const char *const *cells, uint32_t n_cells)
{
	uint64_t *out = ctx;

	if (n_cells > 1 && cells[1])
		*out = strtoull(cells[1], NULL, 10);
	return false;
}

/* The two families keep their status in different tables, and show it with the same words. */
static int read_prepared(struct stb_client *c, uint64_t *out, struct stb_err *err)
{
	static const char sql[] = "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'";

	*out = 0;
	if (stb_client_rows(c, sql, take_second, out))
		return cannot_read(c, sql, err);
	return 0;
}

static const char *where_to_set(const struct stb_oltp_setup *setup)
{
	return setup->private_server ? "set database option" : "raise the server's";
}

/* The server holds all connections and prepared statements, which it would otherwise refuse one by one in the middle of set-up. */
static int check_limits(struct stb_client *c, const struct stb_oltp_setup *setup, const struct stb_oltp *o, struct stb_err *err)
{
	const uint64_t handles = stb_oltp_handles(o) * o->threads;
	uint64_t max_connections, connected, max_prepared, prepared;

	if (read_number(c, "SELECT @@GLOBAL.max_connections", &max_connections, err) ||
		read_connected(c, max_connections > o->threads ? max_connections - o->threads : 0, &connected, err) ||
		read_number(c, "SELECT @@GLOBAL.max_prepared_stmt_count", &max_prepared, err))
		return -1;
	if (o->threads + connected > max_connections) {
		stb_err_set(err, 0, "cannot connect %u threads: the server allows %llu connections (max_connections), %llu are taken", o->threads,
			(unsigned long long)max_connections, (unsigned long long)connected);
		stb_err_remedy(err, "%s max_connections to at least %llu, or use fewer threads", where_to_set(setup),
			(unsigned long long)(o->threads + connected));
		return -1;
	}
	if (handles == 0)
		return 0;
	if (read_prepared(c, &prepared, err))
		return -1;
	if (handles + prepared > max_prepared) {
		stb_err_set(err, 0,
			"cannot prepare %llu statements (%u threads x %llu): the server allows %llu (max_prepared_stmt_count), %llu are taken",
			(unsigned long long)handles, o->threads, (unsigned long long)stb_oltp_handles(o), (unsigned long long)max_prepared,
			(unsigned long long)prepared);
		stb_err_remedy(err, "%s max_prepared_stmt_count to at least %llu, or use fewer threads or tables, or `db_ps_mode = disable`",
			where_to_set(setup), (unsigned long long)(handles + prepared));
		return -1;
	}
	return 0;
}

/* The rows were all there when they were loaded, so something that ran since has taken them: a script delete, as a rule. */
static void say_why_gone(const struct stb_oltp_setup *setup, const struct stb_oltp *o, struct stb_err *err)
{
	const struct stb_plan_matrix *m = setup->matrix;

	if (o->data.use) {
		stb_err_remedy(err, "load them anew, and measure what takes rows away on tables of stb's own (`dataset = create`): nothing restores these");
	} else if (m && m->fresh == STB_FRESH_REPETITION) {
		stb_err_remedy(err, "find out who else writes to these tables: they were loaded for this measurement alone");
	} else if (m) {
		stb_err_remedy(err, "set fresh = repetition in matrix `%s`: with fresh = %s it meets what the measurements before left of the rows", m->name,
			stb_fresh_name(m->fresh));
		err->span = m->span != STB_NONE ? m->span + 1 : 0;
	}
}

static int check_tables(struct stb_client *c, const struct stb_oltp_setup *setup, const struct stb_oltp *o, struct stb_err *err)
{
	struct stb_dataset data = o->data;
	int r;

	data.empty |= o->script == STB_DELETE; /* which takes rows away until none is left */
	r = stb_dataset_check(c, &data, false, err);
	if (r == STB_ROWS_GONE)
		say_why_gone(setup, o, err);
	return r ? -1 : 0;
}

int stb_oltp_look(const struct stb_oltp_setup *setup, const struct stb_oltp *o, uint32_t *unique_start, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_client *c;
	int r;

	*unique_start = 0;
	if (stb_client_open(&c, &setup->addr, &limits, err))
		return -1;
	r = check_limits(c, setup, o, err);
	if (r == 0)
		r = check_tables(c, setup, o, err);
	if (r == 0 && o->script == STB_INSERT && !o->data.auto_inc)
		r = stb_unique_start(c, o->data.tables, o->threads, unique_start, err);
	stb_client_close(c);
	return r;
}
