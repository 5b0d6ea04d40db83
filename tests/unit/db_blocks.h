/* db_blocks.h - blocks of a plan as the compiler would state them, for the tests of the database room. */
#ifndef DB_BLOCKS_H
#define DB_BLOCKS_H

#include "runtime/plan/plan.h"

/* A workload oltp with every default; 1 table of 1000 rows, 2 threads, time 1 s. */
struct stb_plan_block *db_workload(struct stb_arena *a, const char *script);
/* The data set that goes with it. Later changes of the workload are not seen. */
struct stb_plan_block *db_dataset(struct stb_arena *a, const struct stb_plan_block *workload);
/* A database mysql, without options. */
struct stb_plan_block *db_mysql(struct stb_arena *a);

void db_set(struct stb_arena *a, struct stb_plan_block *b, const char *name, struct stb_val val);
void db_set_count(struct stb_arena *a, struct stb_plan_block *b, const char *name, int64_t n);
void db_set_time(struct stb_arena *a, struct stb_plan_block *b, const char *name, int64_t ms);
void db_set_bool(struct stb_arena *a, struct stb_plan_block *b, const char *name, bool on);
void db_set_word(struct stb_arena *a, struct stb_plan_block *b, const char *name, const char *word);
void db_unset(struct stb_plan_block *b, const char *name);
void db_set_list(struct stb_arena *a, struct stb_plan_block *b, const char *name, const int64_t *items, uint32_t n);

#endif
