/*
 * diff.h - what a change of a spec means: two plans compared, not two texts.
 *
 * Pure: reads two plans, which must outlive the result; owns what it made. Single-threaded.
 */
#ifndef STB_DIFF_H
#define STB_DIFF_H

#include "runtime/plan/plan.h"

enum stb_change { STB_CHANGED, STB_RENAMED, STB_ADDED, STB_REMOVED };

/* What a line is about. The order is that of the output. */
enum stb_change_of {
	STB_OF_BLOCK,  /* an attribute of what cells use, or its name */
	STB_OF_MATRIX, /* how often and in which order */
	STB_OF_CELLS,  /* cells that come and go */
	STB_OF_REPORT, /* reports and claims */
	STB_OF_NEEDS,  /* privileges and secrets */
	STB_OF_TEXT,   /* labels, notes, titles: read by people only */
	STB_N_CHANGE_OF
};

struct stb_diff_line {
	enum stb_change_of of;
	enum stb_change change;
	const char *what;          /* "workload a, b", "matrix m"; NULL where `attribute` says it all */
	const char *attribute;     /* NULL: the thing itself */
	const char *before, *after;/* as in a spec; NULL: there was or is none */
	bool address;              /* where things are, not what they are: results stay valid */
	uint32_t n_cells;          /* that it touches; 0 where it touches none */
	const char *where;         /* "x.stb:12", in NEW, or in OLD for what is gone; several with commas; "" unknown */
};

struct stb_diff {
	struct stb_arena arena;
	const struct stb_plan *before, *after;
	struct stb_diff_line *lines;
	uint32_t n_lines, cap_lines;
	struct stb_plan_totals cost_before, cost_after;
	/* per cell of `after`: its partner in `before` and whether a result of `before` serves it */
	uint32_t *partner;         /* STB_NONE: it is new */
	bool *kept;                /* its id is in `before` */
	uint32_t *gone;            /* cells of `before` without a partner */
	uint32_t n_gone, n_added, n_changed, n_kept;
	bool reordered;            /* matrices are the same but run in another order */
};

/* Frees with stb_diff_free(). n_lines is 0 where nothing changed in meaning. */
STB_NODISCARD struct stb_diff *stb_diff_plans(const struct stb_plan *before, const struct stb_plan *after);
void stb_diff_free(struct stb_diff *d);

#endif
