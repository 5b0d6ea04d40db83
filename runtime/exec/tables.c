/* tables.c - see tables.h. */
#include "runtime/exec/tables.h"

#include "runtime/db/db.h"

#include <string.h>

/* A value, or where it is to be found ("env:NAME"). */
static const char *text_of(const struct stb_plan_block *db, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(db, name);

	return a ? a->val.str : NULL;
}

static const struct stb_plan_block *database_of(const struct stb_plan *p, uint32_t group)
{
	const uint32_t db = p->groups[group].database;

	return db == STB_NONE || strcmp(p->blocks[db].type, "external") ? NULL : &p->blocks[db];
}

static uint32_t tables_of(const struct stb_plan *p, uint32_t group)
{
	const uint32_t dataset = p->groups[group].dataset;

	return dataset == STB_NONE ? 0 : stb_oltp_tables(&p->blocks[dataset]);
}

static void add_place(struct stb_buf *b, const struct stb_plan_block *db)
{
	const struct stb_plan_attr *port = stb_plan_attr(db, "port");
	const char *socket = text_of(db, "socket"), *host = text_of(db, "host");

	if (socket)
		stb_buf_adds(b, socket);
	else
		stb_buf_printf(b, "%s:%.0f", host ? host : "?", port ? stb_val_double(&port->val) : 3306.0);
}

const char *stb_tables_object(const struct stb_plan *p, uint32_t group, struct stb_arena *a)
{
	const struct stb_plan_block *db = database_of(p, group);
	const uint32_t n = db ? tables_of(p, group) : 0;
	const char *schema, *words;
	struct stb_buf b;

	if (!n)
		return NULL;
	schema = text_of(db, "schema");
	stb_buf_init(&b);
	stb_buf_adds(&b, "sbtest1");
	if (n > 1)
		stb_buf_printf(&b, "..sbtest%u", n);
	stb_buf_printf(&b, " in schema %s of database %s (", schema ? schema : "sbtest", db->name);
	add_place(&b, db);
	stb_buf_addc(&b, ')');
	words = stb_arena_strdup(a, stb_buf_str(&b));
	stb_buf_fini(&b);
	return words;
}

void stb_tables_owner(const struct stb_plan *p, const char *mark, uint32_t group, char out[STB_OWNER_TEXT])
{
	snprintf(out, STB_OWNER_TEXT, "%.16s.%.8s", mark, p->groups[group].id);
}

bool stb_tables_clash(const struct stb_plan *p, uint32_t a, uint32_t b)
{
	const struct stb_plan_block *x = database_of(p, a), *y = database_of(p, b);
	struct stb_buf one, other;
	bool same;

	if (!x || !y || !tables_of(p, a) || !tables_of(p, b))
		return false;
	stb_buf_init(&one);
	stb_buf_init(&other);
	add_place(&one, x);
	add_place(&other, y);
	stb_buf_printf(&one, " %s", text_of(x, "schema") ? text_of(x, "schema") : "sbtest");
	stb_buf_printf(&other, " %s", text_of(y, "schema") ? text_of(y, "schema") : "sbtest");
	same = !strcmp(stb_buf_str(&one), stb_buf_str(&other));
	stb_buf_fini(&one);
	stb_buf_fini(&other);
	return same;
}

/* The first one from `group` on. */
static uint32_t find(const struct stb_plan *p, const char *object, uint32_t group)
{
	struct stb_arena a;

	stb_arena_init(&a);
	for (; group < p->n_groups; group++) {
		const char *words = stb_tables_object(p, group, &a);

		if (words && !strcmp(words, object))
			break;
	}
	stb_arena_fini(&a);
	return group < p->n_groups ? group : STB_NONE;
}

enum stb_undo stb_tables_undo(const struct stb_plan *p, const char *mark, const char *object, struct stb_err *err)
{
	uint32_t group = p ? find(p, object, 0) : STB_NONE;
	char owner[STB_OWNER_TEXT];
	struct stb_oltp_setup s = { .plan = p, .run_mark = owner };
	enum stb_undo rc = STB_UNDO_FAILED;
	const struct stb_plan_block *db;
	struct stb_arena a;

	if (group == STB_NONE) {
		stb_err_set(err, 0, "the plan knows nothing of %s: they were left alone", object);
		stb_err_remedy(err, "the plan.json of the run is wanted as the run wrote it; or drop them by hand");
		return STB_UNDO_FAILED;
	}
	db = database_of(p, group);
	s.dataset = &p->blocks[p->groups[group].dataset];
	stb_arena_init(&a);
	if (!stb_db_external_address(db, &a, &s.addr, err)) {
		do {
			stb_tables_owner(p, mark, group, owner);
			rc = stb_oltp_cleanup(&s, err);
			group = find(p, object, group + 1);
		} while (rc == STB_UNDO_FOREIGN && group != STB_NONE);
	}
	stb_arena_fini(&a);
	if (rc != STB_UNDO_FAILED)
		return rc;
	stb_err_wrap(err, "%s are still there", object);
	if (!err->span && db->span != STB_NONE)
		err->span = db->span + 1;
	return rc;
}

void stb_tables_print_line(const struct stb_plan *p, const char *object, const char *indent, FILE *out)
{
	const uint32_t group = p ? find(p, object, 0) : STB_NONE;
	struct stb_arena a;

	if (group == STB_NONE || database_of(p, group)->span == STB_NONE)
		return;
	stb_arena_init(&a);
	fprintf(out, "%sasked for at %s\n", indent, stb_plan_where(&a, p, database_of(p, group)->span));
	stb_arena_fini(&a);
}

void stb_tables_print_sql(const struct stb_plan *p, const char *object, const char *indent, FILE *out)
{
	const uint32_t group = p ? find(p, object, 0) : STB_NONE;
	const struct stb_plan_attr *schema;
	struct stb_buf sql;
	bool known;

	if (group == STB_NONE)
		return;
	schema = stb_plan_attr(database_of(p, group), "schema");
	known = !schema || schema->val.type != STB_V_SECRET;
	stb_buf_init(&sql);
	stb_oltp_drop_sql(&sql, !known ? NULL : schema && schema->val.str ? schema->val.str : "sbtest", tables_of(p, group));
	fprintf(out, "%sby hand: %s\n", indent, stb_buf_str(&sql));
	stb_buf_fini(&sql);
}
