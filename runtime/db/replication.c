/*
 * replication.c - a primary and the replicas that follow it: setting them up, waiting for them, looking at them.
 *
 * Replicas begin as servers of their own with empty tables and take everything from the primary's binary log, found by GTID; so there is no
 * copy to be made, and what they hold is what replication brought them. The two families of servers say the same in different words (dialect.h); the
 * columns of SHOW SLAVE STATUS and SHOW REPLICA STATUS stand in the same order, so they are read by position.
 *
 * A wait asks in steps of a second, so that a signal ends it.
 */
#include "runtime/base/clock.h"
#include "runtime/db/client.h"
#include "runtime/db/dialect.h"
#include "runtime/db/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_S 5
#define IO_TIMEOUT_S 10
#define PROBE_TIMEOUT_S 1
#define FOLLOW_NS (30 * STB_NS_PER_S)   /* until a replica is connected */
#define SETTLE_NS (300 * STB_NS_PER_S)  /* without a step of one that catches up */
#define SILENCE_NS (10 * STB_NS_PER_S)  /* that a replica may be silent, or not replicate, while it is waited for */
#define POLL_NS (STB_NS_PER_S / 20)
#define GTID_TEXT 4096

static const struct stb_dialect *words_of(const struct stb_mysqld *m)
{
	return stb_dialect_of(stb_mysqld_is_mariadb(m));
}

uint32_t stb_replication_of(const struct stb_plan_block *database, bool *semi_sync)
{
	const struct stb_plan_attr *topology = stb_plan_attr(database, "topology"), *n = stb_plan_attr(database, "replicas");

	*semi_sync = topology && topology->val.str && strcmp(topology->val.str, "semisync_replica") == 0;
	if (!topology || !topology->val.str || strcmp(topology->val.str, "single") == 0)
		return 0;
	return n && n->val.num > 0 && n->val.num <= STB_MAX_REPLICAS ? (uint32_t)n->val.num : 1;
}

/* --- one look ------------------------------------------------------------------------------------------------------------------------ */

/* Columns of SHOW SLAVE STATUS. */
enum { IO_RUNNING = 10, SQL_RUNNING = 11, LAG = 32, IO_ERROR = 35, SQL_ERROR = 37, N_COLUMNS = 38 };

struct follower {
	bool any, io, sql, has_lag;
	double lag_s;
	char error[200];
};

static bool take_follower(void *ctx, const char *const *cells, uint32_t n)
{
	struct follower *f = ctx;

	if (n < N_COLUMNS)
		return false;
	f->any = true;
	f->io = cells[IO_RUNNING] && strcmp(cells[IO_RUNNING], "Yes") == 0;
	f->sql = cells[SQL_RUNNING] && strcmp(cells[SQL_RUNNING], "Yes") == 0;
	f->has_lag = cells[LAG] != NULL;
	f->lag_s = f->has_lag ? strtod(cells[LAG], NULL) : 0;
	for (unsigned i = IO_ERROR; i <= SQL_ERROR && !f->error[0]; i += SQL_ERROR - IO_ERROR)
		if (cells[i] && cells[i][0])
			snprintf(f->error, sizeof(f->error), "%s", cells[i]);
	return false;
}

static bool take_semi_sync(void *ctx, const char *const *cells, uint32_t n)
{
	struct stb_replication_state *s = ctx;
	const char *name = cells[0];

	if (n < 2 || !name || !cells[1])
		return true;
	name += strncmp(name, "Rpl_semi_sync_master_", 21) == 0 ? 21 : strncmp(name, "Rpl_semi_sync_source_", 21) == 0 ? 21 : strlen(name);
	if (strcmp(name, "status") == 0)
		s->on = strcmp(cells[1], "ON") == 0;
	else if (strcmp(name, "clients") == 0)
		s->clients = (uint32_t)strtoul(cells[1], NULL, 10);
	else if (strcmp(name, "no_times") == 0)
		s->off_times = strtoull(cells[1], NULL, 10);
	else if (strcmp(name, "no_tx") == 0)
		s->no_tx = strtoull(cells[1], NULL, 10);
	else if (strcmp(name, "yes_tx") == 0)
		s->yes_tx = strtoull(cells[1], NULL, 10);
	return true;
}

struct stb_replication_probe {
	const struct stb_replication *r;
	struct stb_client *primary, *replicas[STB_MAX_REPLICAS]; /* NULL: opened at the next look */
};

struct stb_replication_probe *stb_replication_probe_new(const struct stb_replication *r)
{
	struct stb_replication_probe *p = stb_xcalloc(1, sizeof(*p));

	STB_ASSERT(r->n <= STB_MAX_REPLICAS);
	p->r = r;
	return p;
}

/* Rows of a statement; the connection is opened where there is none, and given up where it fails. -1 with words in text. */
static int ask(struct stb_client **c, const struct stb_mysqld *m, const char *sql, bool (*row)(void *, const char *const *, uint32_t), void *ctx,
	char *text, size_t size)
{
	const struct stb_client_limits limits = {PROBE_TIMEOUT_S, PROBE_TIMEOUT_S};
	struct stb_db_address server = *stb_mysqld_address(m);
	unsigned code;

	server.schema = NULL;
	if (!*c && stb_client_try(c, &server, &limits, &code, text, size)) {
		*c = NULL;
		return -1;
	}
	if (stb_client_rows(*c, sql, row, ctx) == 0)
		return 0;
	snprintf(text, size, "%s", stb_client_text(*c));
	stb_client_close(*c);
	*c = NULL;
	return -1;
}

static void look_at_replica(struct stb_replication_probe *p, uint32_t i, struct stb_replication_state *out)
{
	const struct stb_mysqld *m = p->r->replicas[i];
	struct follower f = {0};
	char text[200] = "";

	if (ask(&p->replicas[i], m, words_of(m)->status, take_follower, &f, text, sizeof(text)) == 0 && f.any && f.io && f.sql && f.has_lag) {
		out->heard[i] = true;
		out->lag_s = STB_MAX(out->lag_s, f.lag_s);
		return;
	}
	if (out->trouble[0])
		return;
	if (text[0])
		snprintf(out->trouble, sizeof(out->trouble), "%s does not answer: %s", stb_mysqld_label(m), text);
	else
		snprintf(out->trouble, sizeof(out->trouble), "%s does not follow%s%s", stb_mysqld_label(m), f.error[0] ? ": " : "", f.error);
}

void stb_replication_look(struct stb_replication_probe *p, struct stb_replication_state *out)
{
	char text[200] = "";

	memset(out, 0, sizeof(*out));
	out->known = ask(&p->primary, p->r->primary, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%'", take_semi_sync, out, text, sizeof(text)) == 0;
	for (uint32_t i = 0; i < p->r->n; i++)
		look_at_replica(p, i, out);
}

void stb_replication_probe_free(struct stb_replication_probe *p)
{
	if (!p)
		return;
	if (p->primary)
		stb_client_close(p->primary);
	for (uint32_t i = 0; i < p->r->n; i++)
		if (p->replicas[i])
			stb_client_close(p->replicas[i]);
	free(p);
}

/* --- setting up and waiting ---------------------------------------------------------------------------------------------------------- */

static bool stopped(const struct stb_replication *r)
{
	return r->stop && r->stop(r->ctx);
}

static int fail_sql(const struct stb_mysqld *m, const char *what, const struct stb_client *c, struct stb_err *err)
{
	return stb_err_set(err, 0, "%s: cannot %s: %s (%u)", stb_mysqld_label(m), what, stb_client_text(c), stb_client_code(c));
}

static int open_client(struct stb_client **c, const struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_db_address server = *stb_mysqld_address(m);

	server.schema = NULL;
	if (stb_client_open(c, &server, &limits, err) == 0)
		return 0;
	stb_err_wrap(err, "%s", stb_mysqld_label(m));
	return -1;
}

static int point_at_primary(const struct stb_replication *r, struct stb_mysqld *replica, struct stb_err *err)
{
	const struct stb_dialect *w = words_of(replica);
	const char *password;
	const uint16_t port = stb_mysqld_port(r->primary, &password);
	struct stb_client *c;
	struct stb_reply reply;
	struct stb_buf sql;
	int rc = 0;

	if (open_client(&c, replica, err))
		return -1;
	stb_buf_init(&sql);
	stb_buf_printf(&sql, "%s %s_HOST = '127.0.0.1', %s_PORT = %u, %s_USER = '" STB_REPLICA_ACCOUNT "', %s_PASSWORD = '%s', %s_CONNECT_RETRY = 1, %s",
		w->change, w->prefix, w->prefix, (unsigned)port, w->prefix, w->prefix, password, w->prefix, w->more);
	if (stb_client_query(c, sql.data, sql.len, &reply))
		rc = fail_sql(replica, "be pointed at its primary", c, err);
	else if (stb_client_query(c, w->start, strlen(w->start), &reply))
		rc = fail_sql(replica, "start replication", c, err);
	explicit_bzero(sql.data, sql.len);
	stb_buf_fini(&sql);
	stb_client_close(c);
	return rc;
}

/* Until all is as it should be between the servers. */
static int wait_linked(const struct stb_replication *r, uint64_t limit_ns, struct stb_err *err)
{
	const uint64_t until_ns = stb_clock_ns() + limit_ns;
	struct stb_replication_probe *p = stb_replication_probe_new(r);
	struct stb_replication_state s;
	int rc = -1;

	for (;;) {
		stb_replication_look(p, &s);
		if (!s.trouble[0] && s.known && (!r->semi_sync || (s.on && s.clients == r->n))) {
			rc = 0;
			break;
		}
		if (stopped(r) || stb_clock_ns() >= until_ns)
			break;
		(void)stb_clock_sleep_until(stb_clock_ns() + POLL_NS);
	}
	stb_replication_probe_free(p);
	if (rc == 0)
		return 0;
	if (s.trouble[0])
		stb_err_set(err, 0, "%s", s.trouble);
	else if (!s.known)
		stb_err_set(err, 0, "%s does not answer", stb_mysqld_label(r->primary));
	else
		stb_err_set(err, 0, "%s: semi-synchronous replication is %s, with %u of %u replicas", stb_mysqld_label(r->primary), s.on ? "on" : "off",
			s.clients, r->n);
	stb_err_remedy(err, "look at the servers' error logs");
	return -1;
}

int stb_replication_start(const struct stb_replication *r, struct stb_err *err)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (point_at_primary(r, r->replicas[i], err))
			return -1;
	return wait_linked(r, FOLLOW_NS, err);
}

/* What the primary has committed, as its GTIDs; blanks and line ends are no part of it. */
static int read_position(const struct stb_replication *r, char out[GTID_TEXT - 64], struct stb_err *err)
{
	struct stb_client *c;
	bool found;
	int rc = 0;
	size_t n = 0;

	if (open_client(&c, r->primary, err))
		return -1;
	if (stb_client_cell(c, words_of(r->primary)->position, out, GTID_TEXT - 64, &found))
		rc = fail_sql(r->primary, "tell how far it is", c, err);
	else if (!found)
		out[0] = '\0';
	for (const char *p = out; rc == 0 && *p; p++)
		if (strchr("0123456789abcdefABCDEF-:,", *p))
			out[n++] = *p;
	out[rc == 0 ? n : 0] = '\0';
	stb_client_close(c);
	return rc;
}

/* As long as it gets on: how much there is to be carried out is not known. */
static int wait_for_position(const struct stb_replication *r, struct stb_mysqld *replica, const char *position, struct stb_err *err)
{
	char *sql = stb_xmalloc(3 * GTID_TEXT), *now = sql + GTID_TEXT, *last = now + GTID_TEXT, cell[32];
	uint64_t moved_ns = stb_clock_ns();
	struct stb_client *c;
	bool found, any;
	int rc = -1;

	last[0] = '\0';
	snprintf(sql, GTID_TEXT, "SELECT %s('%s', 1)", words_of(replica)->wait, position);
	if (open_client(&c, replica, err))
		goto out;
	for (;;) {
		if (stb_client_cell(c, sql, cell, sizeof(cell), &found) ||
			stb_client_cell(c, words_of(replica)->applied, now, GTID_TEXT, &any)) {
			fail_sql(replica, "tell how far it is", c, err);
			break;
		}
		if (found && strcmp(cell, "0") == 0) {
			rc = 0;
			break;
		}
		if (strcmp(now, last) != 0)
			moved_ns = stb_clock_ns();
		strcpy(last, now);
		if (!stopped(r) && stb_clock_ns() < moved_ns + SETTLE_NS) {
			(void)stb_clock_sleep_until(stb_clock_ns() + POLL_NS);
			continue;
		}
		stb_err_set(err, 0, "%s does not catch up with its primary: nothing was carried out for %llu s", stb_mysqld_label(replica),
			SETTLE_NS / STB_NS_PER_S);
		stb_err_remedy(err, "look at its error log and its storage");
		break;
	}
	stb_client_close(c);
out:
	free(sql);
	return rc;
}

int stb_replication_settle(const struct stb_replication *r, struct stb_err *err)
{
	char position[GTID_TEXT - 64];

	if (wait_linked(r, SILENCE_NS, err) || read_position(r, position, err))
		return -1;
	for (uint32_t i = 0; i < r->n && position[0]; i++)
		if (wait_for_position(r, r->replicas[i], position, err))
			return -1;
	return 0;
}
