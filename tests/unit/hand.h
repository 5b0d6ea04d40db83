/*
 * hand.h - plans written by hand, for tests of what reads plans: a matrix of axes, its product of cells, reports and claims over it.
 */
#ifndef STB_TEST_HAND_H
#define STB_TEST_HAND_H

#include "runtime/plan/plan.h"

struct stb_plan *hand_plan(void);
/*
 * A matrix whose cells are the full product of its axes, with one workload block of the type ("io", "oltp"). axes is
 * "name: key=Label key key; name: ...", NULL-terminated strings of one axis each; '_' in labels becomes a blank. Every axis is an own axis,
 * unless its name is a block kind. Returns the index.
 */
uint32_t hand_matrix(struct stb_plan *p, const char *name, const char *workload_type, const char *const *axes);
/* The cell "ssd rand_write": its keys in the order of the axes. */
uint32_t hand_cell(const struct stb_plan *p, uint32_t matrix, const char *keys);
/* "storage=ssd,hdd workload=none" */
struct stb_selector hand_select(struct stb_plan *p, uint32_t matrix, const char *text);
/* Metrics and views are separated by blanks; axes are left to the caller (STB_NONE). */
struct stb_plan_report *hand_report(struct stb_plan *p, const char *name, uint32_t matrix, const char *metrics, const char *views);
struct stb_plan_claim *hand_claim(struct stb_plan *p, const char *name, uint32_t matrix, const char *metric, enum stb_view form);
/* "a=1 b=2" as a map of COUNTs, or of STRINGs ('_' becomes a blank). */
struct stb_val hand_map(struct stb_plan *p, enum stb_vtype type, const char *text);
/* Low or high may be a value of type STB_V_NONE. */
struct stb_val hand_range(struct stb_plan *p, struct stb_val low, struct stb_val high);

#endif
