/*
 * look.c - what is looked at before a repetition: whether the server holds all connections and prepared statements, whether the tables are there
 * and are the ones that the workload expects, and which ids are free. A few look-ups through one connection, none of which warms a cache. An
 * external server is asked for the first before the run, too.
 */
#include "runtime/base/clock.h"
#include "runtime/db/dataset.h"

#include <stdio.h>
#include <stdlib.h>

#define CONNECT_TIMEOUT_S 20
#define IO_TIMEOUT_S 60

static int cannot_read(const struct stb_client *c, const char *sql, struct stb_err *err)
{
	stb_err_set(err, 0, "cannot read the server's limits (`%s`): %s (%u)", sql, stb_client_text(c), stb_client_code(c));
	stb_err_remedy(err, "see the server's error log: its volume may be full; an account needs no more than to connect for this");
	return -1;
}

/* A limit; UINT64_MAX where the server has none: it is 0, or there is no such variable (servers that only speak the protocol). */
static int read_limit(struct stb_client *c, const char *sql, uint64_t *out, struct stb_err *err)
{
	char cell[32];
	bool found = false;

	if (stb_client_cell(c, sql, cell, sizeof(cell), &found) && stb_client_code(c) != STB_MYSQL_NO_VARIABLE)
		return cannot_read(c, sql, err);
	*out = found ? strtoull(cell, NULL, 10) : 0;
	if (*out == 0)
		*out = UINT64_MAX;
	return 0;
}

static bool take_second(void *ctx, const char *const *cells, uint32_t n_cells)
{
	uint64_t *out = ctx;

	if (n_cells > 1 && cells[1])
		*out = strtoull(cells[1], NULL, 10);
	return false;
}

/* The two families keep their status in different tables, and show it with the same words. Every account may ask. */
static int read_status(struct stb_client *c, const char *sql, uint64_t *out, struct stb_err *err)
{
	*out = 0;
	return stb_client_rows(c, sql, take_second, out) ? cannot_read(c, sql, err) : 0;
}

/* Other connections. Those of a repetition before may still be closing on the server's side: looked at again for a while if they are too many. */
static int read_connected(struct stb_client *c, uint64_t room, uint64_t *out, struct stb_err *err)
{
	const uint64_t give_up_ns = stb_clock_ns() + 2 * STB_NS_PER_S;

	for (;;) {
		if (read_status(c, "SHOW GLOBAL STATUS LIKE 'Threads_connected'", out, err))
			return -1;
		*out -= *out > 0; /* this one */
		if (*out <= room || stb_clock_ns() > give_up_ns)
			return 0;
		(void)stb_clock_sleep_until(stb_clock_ns() + STB_NS_PER_S / 20);
	}
}

/*
 * What one account may have, where it has a limit of its own. That of the server for all accounts is shown in its place where it has none, and does not
 * hold for some who have great rights: nothing is refused by it.
 */
static int check_account(struct stb_client *c, const struct stb_db_room *r, struct stb_err *err)
{
	uint64_t own, all;

	if (read_limit(c, "SELECT @@SESSION.max_user_connections", &own, err) || read_limit(c, "SELECT @@GLOBAL.max_user_connections", &all, err))
		return -1;
	if (own == all || r->threads + r->own <= own)
		return 0;
	stb_err_set(err, 0, "cannot connect %llu threads: the server allows the user %llu connections (max_user_connections), and stb has %llu of its own",
		(unsigned long long)r->threads, (unsigned long long)own, (unsigned long long)r->own);
	stb_err_remedy(err, "allow the user at least %llu on the server (ALTER USER ... WITH MAX_USER_CONNECTIONS), or use fewer threads",
		(unsigned long long)(r->threads + r->own));
	return -1;
}

static const char *where_to_set(bool private_server)
{
	return private_server ? "set database option" : "raise the server's";
}

/* The server holds all connections, which it would otherwise refuse one by one in the middle of set-up. */
static int check_connections(struct stb_client *c, const struct stb_db_room *r, bool private_server, struct stb_err *err)
{
	const uint64_t need = r->threads + r->own;
	uint64_t most, connected;

	if (read_limit(c, "SELECT @@GLOBAL.max_connections", &most, err) || read_connected(c, most > need ? most - need : 0, &connected, err))
		return -1;
	if (most == UINT64_MAX || need + connected <= most)
		return private_server ? 0 : check_account(c, r, err);
	stb_err_set(err, 0, "cannot connect %llu threads: the server allows %llu connections (max_connections), stb has %llu of its own, %llu are taken",
		(unsigned long long)r->threads, (unsigned long long)most, (unsigned long long)r->own, (unsigned long long)connected);
	stb_err_remedy(err, "%s max_connections to at least %llu, or use fewer threads", where_to_set(private_server),
		(unsigned long long)(need + connected));
	return -1;
}

/* how: "10 threads x 11". */
static int check_prepared(struct stb_client *c, uint64_t handles, const char *how, bool private_server, struct stb_err *err)
{
	uint64_t most, prepared;

	if (handles == 0)
		return 0;
	if (read_limit(c, "SELECT @@GLOBAL.max_prepared_stmt_count", &most, err) ||
		read_status(c, "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'", &prepared, err))
		return -1;
	if (most == UINT64_MAX || handles + prepared <= most)
		return 0;
	stb_err_set(err, 0, "cannot prepare %llu statements (%s): the server allows %llu (max_prepared_stmt_count), %llu are taken",
		(unsigned long long)handles, how, (unsigned long long)most, (unsigned long long)prepared);
	stb_err_remedy(err, "%s max_prepared_stmt_count to at least %llu, or use fewer threads or tables, or `db_ps_mode = disable`",
		where_to_set(private_server), (unsigned long long)(handles + prepared));
	return -1;
}

static int check_limits(struct stb_client *c, const struct stb_oltp_setup *setup, const struct stb_oltp *o, struct stb_err *err)
{
	const struct stb_db_room room = {.threads = o->threads, .own = stb_plan_own_connections(1, false, 0)}; /* the others of its own are there */
	char how[64];

	snprintf(how, sizeof(how), "%u threads x %llu", o->threads, (unsigned long long)stb_oltp_handles(o));
	if (check_connections(c, &room, setup->private_server, err))
		return -1;
	return check_prepared(c, stb_oltp_handles(o) * o->threads, how, setup->private_server, err);
}

static int open_server(struct stb_client **c, const struct stb_db_address *addr, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};

	stb_client_setup();
	return stb_client_open(c, addr, &limits, err);
}

int stb_db_external_connections(const struct stb_db_address *addr, const struct stb_db_room *r, struct stb_err *err)
{
	struct stb_client *c;

	if (open_server(&c, addr, err))
		return -1;
	const int rc = check_connections(c, r, false, err);

	stb_client_close(c);
	return rc;
}

int stb_db_external_prepared(const struct stb_db_address *addr, const struct stb_db_room *r, struct stb_err *err)
{
	struct stb_client *c;

	if (open_server(&c, addr, err))
		return -1;
	const int rc = check_prepared(c, r->prepared, "of all threads", false, err);

	stb_client_close(c);
	return rc;
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
	struct stb_client *c;
	int r;

	*unique_start = 0;
	if (open_server(&c, &setup->addr, err))
		return -1;
	r = check_limits(c, setup, o, err);
	if (r == 0)
		r = check_tables(c, setup, o, err);
	if (r == 0 && o->script == STB_INSERT && !o->data.auto_inc)
		r = stb_unique_start(c, o->data.tables, o->threads, unique_start, err);
	stb_client_close(c);
	return r;
}
