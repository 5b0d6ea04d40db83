/*
 * diff_parts.h - what the parts of the comparison share. Internal to diff*.c.
 *
 *   before, after --diff_match.c--> renamed blocks and axes, cells in pairs --diff.c--> lines about blocks and cells
 *                                                                           --diff_facts.c--> lines about matrices, reports, texts
 */
#ifndef STB_DIFF_PARTS_H
#define STB_DIFF_PARTS_H

#include "compiler/diff.h"

#include "runtime/base/buf.h"

/* --- a map from text to numbers --- */

struct stb_diff_map {
	struct stb_arena *arena;
	const char **keys;
	uint32_t *values;
	size_t n, cap;
};

void stb_diff_map_init(struct stb_diff_map *m, struct stb_arena *a, size_t expected);
/* The value's place; *is_new says that the key was not there (it is copied, the value is STB_NONE). */
uint32_t *stb_diff_map_put(struct stb_diff_map *m, const char *key, bool *is_new);
bool stb_diff_map_has(const struct stb_diff_map *m, const char *key);
uint32_t stb_diff_map_get(const struct stb_diff_map *m, const char *key); /* STB_NONE: not there */

/* --- names --- */

struct stb_diff_rename {
	const char *kind; /* of a block; "axis MATRIX" of an axis, "matrix" of a matrix */
	const char *before, *after;
};

struct stb_diffing {
	struct stb_diff *d;
	struct stb_arena *arena; /* of d */
	const struct stb_plan *before, *after;
	struct stb_diff_rename *renames;
	uint32_t n_renames, cap_renames;
	uint32_t *matrix_partner; /* per matrix of after: of before, or STB_NONE */
};

/* What a name of `before` is called in `after`. kind NULL: any block. */
const char *stb_diff_name(const struct stb_diffing *x, const char *kind, const char *before);
const char *stb_diff_axis_name(const struct stb_diffing *x, uint32_t matrix_before, uint32_t axis);
const char *stb_diff_key(const struct stb_diffing *x, const struct stb_plan_axis *axis_before, uint32_t value);
/* A value of `before` with the names of `after`. */
struct stb_val stb_diff_renamed(const struct stb_diffing *x, const struct stb_val *v);

void stb_diff_match(struct stb_diffing *x);
void stb_diff_facts(struct stb_diffing *x);

struct stb_diff_line *stb_diff_line(struct stb_diffing *x, enum stb_change_of of, enum stb_change change, const char *what);
/* "x.stb:12", "" for STB_NONE. */
const char *stb_diff_where(struct stb_diffing *x, const struct stb_plan *p, uint32_t span);

#endif
