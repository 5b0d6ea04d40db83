/*
 * hold.c - that a run goes on, told to others on the same external server.
 *
 * The marker table says whose the tables of a schema are, but not whether that run is still at work. So a run holds a lock of the server (GET_LOCK)
 * that has its mark for a name, on a connection that does nothing else; the server takes it back when the run ends, however it ends. Who finds the
 * mark of another run asks for its lock before it drops a table, and takes his turn with others who do the same.
 *
 * What can break that, and what comes of it:
 *   a server without such locks, or a proxy that keeps none     asked right afterwards whether the lock is held; if not, it is said
 *   the connection is lost in the middle (a restart, KILL)       looked at before each repetition: had anew, unless the tables are another's by then
 *   the machine of a run goes down without a word                the server holds the lock until it misses the connection: the refusal names it
 *   nodes of a cluster, of which each has locks of its own       not seen: runs that use different nodes are not told of each other
 */
#include "runtime/db/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_BYTES 200
#define TURN "CONCAT('stb.claim.', MD5(DATABASE()))" /* locks are of the server, not of a schema */

/* Short: nobody looks for signals meanwhile. */
static const struct stb_client_limits limits = {.connect_timeout_s = 10, .io_timeout_s = 10};

struct stb_hold {
	struct stb_client *client;
	struct stb_db_address addr;
	char mark[64];
	bool works; /* others were told; else it is not tried again */
};

/* A mark is ours where it is a word: it stands in SQL, and a marker table can be written by anybody. */
static bool is_word(const char *mark)
{
	return *mark && strspn(mark, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:_-") == strlen(mark);
}

bool stb_hold_is_held(struct stb_client *c, const char *mark, char connection[STB_HOLD_CONNECTION])
{
	char sql[SQL_BYTES];
	bool found = false;

	snprintf(sql, sizeof(sql), "SELECT IS_USED_LOCK('stb.%.60s')", mark);
	return is_word(mark) && !stb_client_cell(c, sql, connection, STB_HOLD_CONNECTION, &found) && found;
}

/* Whoever has it by then, others are told. */
static void take(struct stb_hold *h, char why[STB_HOLD_WHY])
{
	/* a year, the longest that is allowed: servers end a connection that is silent for as long as theirs says */
	static const char stay[] = "SET SESSION wait_timeout = 31536000";
	char sql[SQL_BYTES], cell[8], connection[STB_HOLD_CONNECTION];
	struct stb_reply reply;
	bool found = false;

	why[0] = '\0';
	(void)!stb_client_query(h->client, stay, sizeof(stay) - 1, &reply);
	snprintf(sql, sizeof(sql), "SELECT GET_LOCK('stb.%.60s', 0)", h->mark);
	if (stb_client_cell(h->client, sql, cell, sizeof(cell), &found))
		snprintf(why, STB_HOLD_WHY, "GET_LOCK: %.160s (%u)", stb_client_text(h->client), stb_client_code(h->client));
	else if (!stb_hold_is_held(h->client, h->mark, connection))
		snprintf(why, STB_HOLD_WHY, "GET_LOCK gives %s, and IS_USED_LOCK knows nobody who has the lock", found ? cell : "NULL");
	h->works = !why[0];
}

int stb_hold_begin(struct stb_hold **out, const struct stb_db_address *addr, const char *mark, char why[STB_HOLD_WHY], struct stb_err *err)
{
	struct stb_hold *h = stb_xcalloc(1, sizeof(*h));

	STB_ASSERT(is_word(mark));
	*out = NULL;
	why[0] = '\0';
	h->addr = *addr;
	snprintf(h->mark, sizeof(h->mark), "%.60s", mark);
	stb_client_setup();
	if (stb_client_open(&h->client, addr, &limits, err)) {
		free(h);
		return -1;
	}
	take(h, why);
	*out = h;
	return 0;
}

/* By the marker, which says so until another run has taken the tables over. */
static bool has_tables(const struct stb_hold *h)
{
	char owner[64];
	bool found = false;

	return stb_client_cell(h->client, "SELECT value FROM " STB_MARKER_TABLE " WHERE name = 'run'", owner, sizeof(owner), &found) ||
		(found && strcmp(owner, h->mark) == 0); /* one that cannot be asked says nothing */
}

int stb_hold_renew(struct stb_hold *h, char why[STB_HOLD_WHY], struct stb_err *err)
{
	char sql[SQL_BYTES], cell[8];
	bool found = false;

	why[0] = '\0';
	if (!h->works)
		return 0;
	snprintf(sql, sizeof(sql), "SELECT IS_USED_LOCK('stb.%.60s') = CONNECTION_ID()", h->mark);
	if (!stb_client_cell(h->client, sql, cell, sizeof(cell), &found) && found && !strcmp(cell, "1"))
		return 0;
	if (stb_client_reopen(h->client, &h->addr, &limits)) /* the next is tried as well: what cannot be reached now may be later */
		return 0;
	take(h, why);
	if (has_tables(h))
		return 0;
	stb_err_set(err, 0, "the tables in schema `%s` are not this run's any more: another one has taken them while the connection that held them was lost",
		h->addr.schema);
	stb_err_remedy(err, "find out what ends connections there (the server's error log, a proxy, KILL), and run it anew");
	return -1;
}

void stb_hold_end(struct stb_hold *h)
{
	if (!h)
		return;
	stb_client_close(h->client);
	free(h);
}

int stb_hold_turn_begin(struct stb_client *c, struct stb_err *err)
{
	char cell[STB_HOLD_CONNECTION];
	bool found = false;

	if (stb_client_cell(c, "SELECT GET_LOCK(" TURN ", 10)", cell, sizeof(cell), &found) || !found || strcmp(cell, "0") != 0)
		return 0;
	if (stb_client_cell(c, "SELECT IS_USED_LOCK(" TURN ")", cell, sizeof(cell), &found) || !found)
		return 0; /* it says no, and nobody has it */
	stb_err_set(err, 0, "cannot load the data set: another run of stb is about to take the schema, and has not done so for 10 s");
	stb_err_remedy(err, "wait for its end, or give the database another `schema`");
	return -1;
}

void stb_hold_turn_end(struct stb_client *c)
{
	static const char sql[] = "DO RELEASE_LOCK(" TURN ")";
	struct stb_reply reply;

	(void)!stb_client_query(c, sql, sizeof(sql) - 1, &reply);
}
