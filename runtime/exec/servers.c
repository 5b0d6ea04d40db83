/*
 * servers.c - whether servers that stb did not start are still the ones that earlier figures were measured on.
 *
 * A run that is resumed, or that takes results over, goes on with an external server as the record knows it: its version and all its variables
 * but those that say where it is at the moment. Another one is refused before anything is touched: one table would hold figures of both.
 * Private servers are made from the same binary and the same options, which host/differ.h and the plan see to.
 */
#include "runtime/exec/run.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LISTED 6

/* What moves while a server stays as it is. */
static bool is_moment(const char *name)
{
	static const char *const moments[] = { "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_slave_pos", "gtid_executed", "gtid_purged",
		"gtid_owned", "last_gtid", "timestamp", "rand_seed1", "rand_seed2", "pseudo_thread_id", "last_insert_id", "insert_id", "identity",
		"error_count", "warning_count", "innodb_buffer_pool_load_incomplete", "wsrep_trx_fragment_size", "in_transaction" };

	for (size_t i = 0; i < STB_LEN(moments); i++)
		if (!strcmp(name, moments[i]))
			return true;
	return false;
}

/* Of one server of a record: what differs from the others of its name wins. */
static const char *recorded(const json_t *database, const json_t *server, const char *name)
{
	const char *own = json_string_value(json_object_get(json_object_get(server, "differs"), name));

	return own ? own : json_string_value(json_object_get(json_object_get(database, "variables"), name));
}

struct changes {
	struct stb_buf text;
	size_t n;
};

static void note(struct changes *c, const char *name, const char *was, const char *is)
{
	if (c->n++ < MAX_LISTED)
		stb_buf_printf(&c->text, "%s`%s` was `%.80s`, is `%.80s`", c->text.len ? "; " : "", name, was, is);
}

/* Lines "name\tvalue\n" of the live one. */
static void compare(const json_t *database, const json_t *server, const char *live, struct changes *c)
{
	char name[128], value[1024];

	for (const char *p = live; *p; p += *p == '\n') {
		const size_t n = strcspn(p, "\t\n");
		const char *was;

		snprintf(name, sizeof name, "%.*s", (int)STB_MIN(n, sizeof name - 1), p);
		p += n;
		p += *p == '\t';
		snprintf(value, sizeof value, "%.*s", (int)STB_MIN(strcspn(p, "\n"), sizeof value - 1), p);
		p += strcspn(p, "\n");
		was = recorded(database, server, name);
		if (was && !is_moment(name) && strncmp(was, value, sizeof value - 1))
			note(c, name, was, value);
	}
}

/* Against every server that the record has under the block's name. */
static int check(const struct stb_plan_block *db, const json_t *environment, const char *dir, const char *live, struct stb_err *err)
{
	json_t *database = json_object_get(json_object_get(environment, "databases"), db->name), *server;
	struct changes c = { .n = 0 };
	const char *id;

	stb_buf_init(&c.text);
	json_object_foreach(json_object_get(database, "servers"), id, server) {
		if (json_object_get(server, "version")) /* what it said could be recorded */
			compare(database, server, live, &c);
		if (c.n)
			break;
	}
	if (c.n) {
		if (c.n > MAX_LISTED)
			stb_buf_printf(&c.text, "; and %zu more", c.n - MAX_LISTED);
		stb_err_set(err, 0, "database `%s` is not as it was when the figures in `%s` were measured: %s", db->name, dir, stb_buf_str(&c.text));
		stb_err_remedy(err, "make the server as it was, or measure anew: one table must not hold figures of both");
		err->span = db->span != STB_NONE ? db->span + 1 : 0;
	}
	stb_buf_fini(&c.text);
	return c.n ? -1 : 0;
}

static int check_all(struct stb_run *run, const struct stb_plan_block *db, struct stb_err *err)
{
	struct stb_db_address address;
	struct stb_buf live;
	int rc;

	memset(&address, 0, sizeof address);
	stb_buf_init(&live);
	rc = stb_db_external_address(db, &run->arena, &address, err) || stb_db_variables(&address, &live, err) ? -1 : 0;
	if (!rc && run->recorded)
		rc = check(db, run->recorded, run->shown_dir, stb_buf_str(&live), err);
	for (uint32_t i = 0; i < run->n_reused && !rc; i++)
		if (stb_reuse_takes(run, i))
			rc = check(db, stb_reuse_environment(run, i), stb_reuse_dir(run, i), stb_buf_str(&live), err);
	stb_buf_fini(&live);
	return rc;
}

int stb_servers_same(struct stb_run *run, const bool *groups, struct stb_err *err)
{
	const struct stb_plan *p = run->plan;
	bool *asked;
	int rc = 0;

	if (!run->recorded && !run->n_reused)
		return 0;
	asked = stb_xcalloc((size_t)p->n_blocks + 1, sizeof *asked);
	for (uint32_t i = 0; i < p->n_groups && !rc; i++) {
		const uint32_t db = p->groups[i].database;

		if (!groups[i] || db == STB_NONE || asked[db] || strcmp(p->blocks[db].type, "external"))
			continue;
		asked[db] = true;
		rc = check_all(run, &p->blocks[db], err);
	}
	free(asked);
	return rc;
}
