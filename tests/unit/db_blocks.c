/* db_blocks.c - see db_blocks.h. */
#include "db_blocks.h"

#include <string.h>

#define MAX_ATTRS 64

static struct stb_plan_block *new_block(struct stb_arena *a, const char *kind, const char *type, const char *name)
{
	struct stb_plan_block *b = STB_NEW(a, struct stb_plan_block);

	*b = (struct stb_plan_block){.kind = kind, .type = type, .name = name, .span = STB_NONE};
	b->attrs = STB_NEW_ARRAY(a, struct stb_plan_attr, MAX_ATTRS);
	return b;
}

void db_set(struct stb_arena *a, struct stb_plan_block *b, const char *name, struct stb_val val)
{
	uint32_t i = 0;

	while (i < b->n_attrs && strcmp(b->attrs[i].name, name) != 0)
		i++;
	STB_ASSERT(i < MAX_ATTRS);
	if (i == b->n_attrs)
		b->n_attrs++;
	b->attrs[i] = (struct stb_plan_attr){.name = stb_arena_strdup(a, name), .val = val, .origin = STB_FROM_LINE, .span = STB_NONE};
}

void db_set_count(struct stb_arena *a, struct stb_plan_block *b, const char *name, int64_t n)
{
	db_set(a, b, name, stb_val_num(STB_V_COUNT, n, 1));
}

void db_set_time(struct stb_arena *a, struct stb_plan_block *b, const char *name, int64_t ms)
{
	db_set(a, b, name, stb_val_num(STB_V_TIME, ms * 1000000, 1));
}

void db_set_bool(struct stb_arena *a, struct stb_plan_block *b, const char *name, bool on)
{
	db_set(a, b, name, stb_val_bool(on));
}

void db_set_word(struct stb_arena *a, struct stb_plan_block *b, const char *name, const char *word)
{
	db_set(a, b, name, stb_val_str(STB_V_WORD, stb_arena_strdup(a, word)));
}

void db_unset(struct stb_plan_block *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (strcmp(b->attrs[i].name, name) != 0)
			continue;
		memmove(&b->attrs[i], &b->attrs[i + 1], (b->n_attrs - i - 1) * sizeof(b->attrs[0]));
		b->n_attrs--;
		return;
	}
}

void db_set_list(struct stb_arena *a, struct stb_plan_block *b, const char *name, const int64_t *items, uint32_t n)
{
	struct stb_val list = {.type = STB_V_LIST, .n_items = n};

	list.items = STB_NEW_ARRAY(a, struct stb_val, n);
	for (uint32_t i = 0; i < n; i++)
		list.items[i] = stb_val_num(STB_V_COUNT, items[i], 1);
	db_set(a, b, name, list);
}

struct stb_plan_block *db_workload(struct stb_arena *a, const char *script)
{
	static const struct {
		const char *name;
		int64_t value;
	} counts[] = {{"tables", 1}, {"table_size", 1000}, {"threads", 2}, {"point_selects", 10}, {"simple_ranges", 1}, {"sum_ranges", 1},
		{"order_ranges", 1}, {"distinct_ranges", 1}, {"index_updates", 1}, {"non_index_updates", 1}, {"delete_inserts", 1},
		{"range_size", 100}, {"random_points", 10}, {"number_of_ranges", 10}, {"delta", 5}, {"reconnect", 0}};
	struct stb_plan_block *b = new_block(a, "workload", "oltp", "load");

	db_set(a, b, "database", stb_val_str(STB_V_REF, "db"));
	db_set_word(a, b, "script", script);
	for (unsigned i = 0; i < STB_LEN(counts); i++)
		db_set_count(a, b, counts[i].name, counts[i].value);
	db_set_time(a, b, "time", 1000);
	db_set_time(a, b, "warmup_time", 0);
	db_set_word(a, b, "db_ps_mode", "auto");
	db_set_word(a, b, "rand_type", "special");
	db_set_bool(a, b, "skip_trx", false);
	db_set_bool(a, b, "auto_inc", true);
	db_set_bool(a, b, "create_secondary", true);
	db_set_word(a, b, "storage_engine", "innodb");
	db_set_list(a, b, "ignore_errors", (const int64_t[]){1213, 1020, 1205}, 3);
	db_set_word(a, b, "retry", "rollback");
	db_set_word(a, b, "dataset", "create");
	return b;
}

/* As the compiler does it: the script where the tables depend on it, and of bulk_insert little else. */
struct stb_plan_block *db_dataset(struct stb_arena *a, const struct stb_plan_block *workload)
{
	static const char *const tables[] = {"tables", "table_size", "auto_inc", "create_secondary", "storage_engine", "rand_type", "dataset", NULL};
	static const char *const empty[] = {"tables", "table_size", "auto_inc", "create_secondary", "storage_engine", "rand_type", "dataset", "script", NULL};
	static const char *const bulk[] = {"script", "threads", "dataset", NULL};
	const char *script = stb_plan_attr(workload, "script")->val.str;
	const bool own_ids = strcmp(script, "insert") == 0 && !stb_plan_attr(workload, "auto_inc")->val.num;
	const char *const *names = strcmp(script, "bulk_insert") == 0 ? bulk : own_ids ? empty : tables;
	struct stb_plan_block *b = new_block(a, "dataset", "", "data");

	for (; *names; names++)
		db_set(a, b, *names, stb_plan_attr(workload, *names)->val);
	return b;
}

struct stb_plan_block *db_mysql(struct stb_arena *a)
{
	struct stb_plan_block *b = new_block(a, "database", "mysql", "db");

	db_set(a, b, "volume", stb_val_str(STB_V_REF, "v"));
	db_set_word(a, b, "topology", "single");
	return b;
}
