/*
 * rights.c - whether the user of a server that stb did not start may do there what a workload does, asked before anything is touched.
 *
 * The server itself is asked: it looks at privileges when it prepares a statement, and one that nobody executes changes nothing. So roles, patterns,
 * rights of everybody and rights revoked in part all count as they will later; SHOW GRANTS and information_schema tell of them differently from
 * server to server, and not of all. A refusal is certain. What a server looks at no earlier than when it executes is left to that: what CREATE INDEX
 * needs, and on MySQL, which has no CREATE OR REPLACE TABLE to ask by, what DROP TABLE does.
 */
#include "runtime/db/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_S 10
#define IO_TIMEOUT_S 60

static const struct {
	enum stb_right right;
	const char *name;
	const char *sql; /* NULL: nobody tells beforehand */
} rights_of_server[] = {
	{STB_RIGHT_SELECT, "SELECT", "SELECT id FROM sbtest1"},
	{STB_RIGHT_INSERT, "INSERT", "INSERT INTO sbtest1 (id) VALUES (1)"},
	{STB_RIGHT_UPDATE, "UPDATE", "UPDATE sbtest1 SET k = 1"},
	{STB_RIGHT_DELETE, "DELETE", "DELETE FROM sbtest1"},
	{STB_RIGHT_CREATE, "CREATE", "CREATE TABLE sbtest1 (id INT)"},
	{STB_RIGHT_DROP, "DROP", "CREATE OR REPLACE TABLE sbtest1 (id INT)"},
	{STB_RIGHT_INDEX, "INDEX", NULL},
};

unsigned stb_oltp_rights(const struct stb_plan_block *workload)
{
	unsigned rights = STB_RIGHT_SELECT; /* tables are looked at before they are worked on */
	struct stb_err ignored;
	struct stb_oltp o;

	if (stb_oltp_read(&o, workload, &ignored))
		return 0;
	if (!o.data.use)
		rights |= STB_RIGHT_CREATE | STB_RIGHT_DROP | STB_RIGHT_INSERT | STB_RIGHT_DELETE; /* the marker's rows are replaced */
	if (!o.data.use && !o.data.bulk && o.data.create_secondary)
		rights |= STB_RIGHT_INDEX;
	if (o.count[STB_SQL_INDEX_UPDATE] || o.count[STB_SQL_NON_INDEX_UPDATE])
		rights |= STB_RIGHT_UPDATE;
	if (o.count[STB_SQL_DELETE])
		rights |= STB_RIGHT_DELETE;
	if (o.script == STB_INSERT || o.script == STB_BULK_INSERT || (o.script != STB_DELETE && o.count[STB_SQL_DELETE]))
		rights |= STB_RIGHT_INSERT;
	return rights;
}

enum answer { MAY, DENIED, NONE };

static enum answer ask(struct stb_client *c, const char *sql)
{
	struct stb_stmt *s;

	if (!stb_stmt_open(&s, c, sql, strlen(sql), NULL, 0)) {
		stb_stmt_close(s);
		return MAY;
	}
	const unsigned code = stb_client_code(c);

	if (stb_client_is_own(code))
		return NONE;
	return code == STB_MYSQL_TABLE_DENIED || code == STB_MYSQL_COLUMN_DENIED || code == STB_MYSQL_SCHEMA_DENIED ? DENIED : MAY;
}

/* Those of the rights that are denied; first: the server's words for the first of them. NONE where the server answers no more. */
static enum answer ask_all(struct stb_client *c, unsigned rights, unsigned *lacks, char *first, size_t size)
{
	*lacks = 0;
	for (size_t i = 0; i < STB_LEN(rights_of_server); i++) {
		const enum stb_right right = rights_of_server[i].right;

		if (!(rights & right) || !rights_of_server[i].sql || (right == STB_RIGHT_DROP && (*lacks & STB_RIGHT_CREATE)))
			continue;
		const enum answer a = ask(c, rights_of_server[i].sql);

		if (a == NONE)
			return NONE;
		if (a == DENIED && !*lacks)
			snprintf(first, size, "%s (%u)", stb_client_text(c), stb_client_code(c));
		if (a == DENIED)
			*lacks |= right;
	}
	return *lacks ? DENIED : MAY;
}

static void add_names(struct stb_buf *out, unsigned rights)
{
	for (size_t i = 0; i < STB_LEN(rights_of_server); i++)
		if (rights & rights_of_server[i].right)
			stb_buf_printf(out, "%s%s", out->len ? ", " : "", rights_of_server[i].name);
}

/* "GRANT ... ON `schema`.* TO `user`@`host`", for the account that the server took the user for. */
static void add_grant(struct stb_client *c, const char *schema, unsigned rights, struct stb_buf *out)
{
	char account[512] = "", *at;
	struct stb_buf names;
	bool found;

	stb_buf_init(&names);
	add_names(&names, rights);
	stb_buf_printf(out, "GRANT %s ON ", stb_buf_str(&names));
	stb_dataset_add_name(out, schema);
	stb_buf_adds(out, ".* TO ");
	if (stb_client_cell(c, "SELECT CURRENT_USER()", account, sizeof(account), &found) || !found || !(at = strrchr(account, '@'))) {
		stb_buf_adds(out, "it");
	} else {
		*at = '\0';
		stb_dataset_add_name(out, account);
		stb_buf_addc(out, '@');
		stb_dataset_add_name(out, at + 1);
	}
	stb_buf_fini(&names);
}

int stb_db_external_rights(const struct stb_plan_block *database, const struct stb_db_address *addr, unsigned rights, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	const struct stb_plan_attr *user = stb_plan_attr(database, "user");
	struct stb_buf denied, grant;
	struct stb_client *c;
	char first[512] = "";
	unsigned lacks;

	stb_client_setup();
	if (stb_client_open(&c, addr, &limits, err))
		return -1;
	stb_buf_init(&denied);
	stb_buf_init(&grant);
	const enum answer a = ask_all(c, rights, &lacks, first, sizeof(first));

	if (a == NONE) {
		stb_err_set(err, 0, "database `%s` cannot be used: what user `%s` may do in schema `%s` could not be asked: %s (%u)", database->name,
			addr->user, addr->schema, stb_client_text(c), stb_client_code(c));
		stb_err_remedy(err, "look at the server's error log, and try again when it keeps its connections");
	} else if (a == DENIED) {
		add_names(&denied, lacks);
		stb_err_set(err, 0, "database `%s` cannot be used: user `%s` lacks %s in schema `%s`: %s", database->name, addr->user,
			stb_buf_str(&denied), addr->schema, first);
		add_grant(c, addr->schema, rights, &grant);
		stb_err_remedy(err, "say on the server: %s; or name another `user`", stb_buf_str(&grant));
		if (user && user->span != STB_NONE)
			err->span = user->span + 1;
	}
	stb_buf_fini(&grant);
	stb_buf_fini(&denied);
	stb_client_close(c);
	return a == MAY ? 0 : -1;
}
