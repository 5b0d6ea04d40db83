/*
 * plan_fixture.h - plans made by hand for tests, without the compiler.
 */
#ifndef STB_PLAN_FIXTURE_H
#define STB_PLAN_FIXTURE_H

#include "runtime/plan/plan.h"

struct stb_matrix_shape {
	uint32_t groups, cells;   /* cell i lies in group i % groups, so that declared order changes group at each cell */
	uint32_t repeat;
	enum stb_order order;
	enum stb_fresh fresh;
	uint64_t cooldown_ns;
	uint32_t days, n_at;      /* slots at 03:00, 09:00, 15:00, 21:00 */
};

enum stb_server_kind { STB_TEST_NO_SERVER, STB_TEST_MYSQL, STB_TEST_EXTERNAL };

/* A plan of n matrices over the same groups; every matrix has an axis `cell` and one `other` that every third cell has no value on. */
struct stb_plan *stb_test_plan(enum stb_server_kind server, const struct stb_matrix_shape *shapes, uint32_t n);
/* A small plan that uses every field and value type, with Japanese labels, reports and claims. */
struct stb_plan *stb_test_rich_plan(void);

/* The plan's JSON and text, malloced. */
char *stb_test_json(const struct stb_plan *p);
char *stb_test_text(const struct stb_plan *p);

#endif
