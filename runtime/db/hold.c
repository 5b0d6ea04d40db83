/*
 * hold.c - that a run goes on, told to others on the same external server.
 *
 * The marker table says whose the tables of a schema are, but not whether that run is still at work. So a run holds a lock of the server (GET_LOCK)
 * that has its mark for a name, on a connection that does nothing else; the server takes it back when the run ends, however it ends. Who finds the
 * mark of another run asks for its lock before it drops a table. Servers without such locks (some clusters) answer with an error or NULL: there it
 * is as if nobody held any.
 */
#include "runtime/db/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_S 20
#define SQL_BYTES 160

struct stb_hold {
	struct stb_client *client;
};

/* A mark is ours where it is a word: it stands in SQL, and a marker table can be written by anybody. */
static bool is_word(const char *mark)
{
	return *mark && strspn(mark, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:_-") == strlen(mark);
}

int stb_hold_begin(struct stb_hold **out, const struct stb_db_address *addr, const char *mark, struct stb_err *err)
{
	/* a year, the longest that is allowed: servers end a connection that is silent for as long as theirs says */
	static const char stay[] = "SET SESSION wait_timeout = 31536000";
	const struct stb_client_limits limits = {.connect_timeout_s = CONNECT_TIMEOUT_S};
	struct stb_hold *h = stb_xcalloc(1, sizeof(*h));
	char sql[SQL_BYTES], cell[8];
	struct stb_reply reply;
	bool found;

	*out = NULL;
	stb_client_setup();
	if (stb_client_open(&h->client, addr, &limits, err)) {
		free(h);
		return -1;
	}
	(void)!stb_client_query(h->client, stay, sizeof(stay) - 1, &reply);
	snprintf(sql, sizeof(sql), "SELECT GET_LOCK('stb.%.60s', 0)", mark);
	if (is_word(mark))
		(void)!stb_client_cell(h->client, sql, cell, sizeof(cell), &found);
	*out = h;
	return 0;
}

void stb_hold_end(struct stb_hold *h)
{
	if (!h)
		return;
	stb_client_close(h->client);
	free(h);
}

bool stb_hold_is_held(struct stb_client *c, const char *mark)
{
	char sql[SQL_BYTES], cell[32];
	bool found = false;

	snprintf(sql, sizeof(sql), "SELECT IS_USED_LOCK('stb.%.60s')", mark);
	return is_word(mark) && !stb_client_cell(c, sql, cell, sizeof(cell), &found) && found;
}
