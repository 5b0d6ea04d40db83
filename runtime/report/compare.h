/*
 * compare.h - two runs of one suite against each other: what changed, for better or worse, and how sure that is.
 *
 * Reads results only. Cells belong together by their ids, so a cell whose meaning changed is one that only one side has.
 */
#ifndef STB_COMPARE_H
#define STB_COMPARE_H

#include "runtime/result/result.h"

#define STB_COMPARE_CONFIDENCE 0.95

enum stb_shift {
	STB_SHIFT_BETTER,
	STB_SHIFT_WORSE,
	STB_SHIFT_OTHER,    /* changed, of a metric that has no better */
	STB_SHIFT_NONE,     /* the interval holds "no change" */
	STB_SHIFT_NO_CLAIM, /* too little was measured to say; why says what */
	STB_SHIFT_NA,       /* there is no pair of figures; why says for what */
	STB_N_SHIFTS
};

/* "better", "worse", "changed", "no difference", "no claim", "n/a" */
const char *stb_shift_text(enum stb_shift s);

struct stb_compare_row {
	uint32_t old_cell, new_cell; /* of each side's plan */
	const char *metric, *unit;
	enum stb_direction direction;
	bool has_old, has_new;
	double old_value, new_value; /* in the metric's unit */
	uint32_t n_old, n_new;       /* repetitions */
	bool has_change, has_interval;
	double change, low, high;    /* in % of the old one, and its interval */
	enum stb_shift shift;
	const char *why;             /* NO_CLAIM, NA; else NULL */
	bool lost;                   /* NA: the old run has a figure that can be trusted, and the new one was to measure it */
};

struct stb_compare_mean { /* geometric, over the cells that both sides have figures of */
	const char *metric;
	uint32_t n, missing;
	double change;               /* in %; n is not 0 */
};

struct stb_comparison {
	struct stb_arena arena;
	const struct stb_results *old_results, *new_results; /* borrowed */
	struct stb_compare_row *rows; /* by cell in the new run's order, then metric */
	size_t n_rows, cap_rows;
	uint32_t *only_old, *only_new; /* cells that the other side does not have or did not select */
	size_t n_only_old, cap_only_old, n_only_new, cap_only_new;
	struct stb_compare_mean *means;
	size_t n_means, cap_means;
	size_t count[STB_N_SHIFTS];
};

/*
 * metrics: names, NULL: those that the reports of the new run's plan show of the cell's matrix; where there are none, the rate, bandwidth and
 * latencies of its workload.
 */
void stb_compare(struct stb_comparison *c, const struct stb_results *old_results, const struct stb_results *new_results,
	const char *const *metrics, uint32_t n_metrics);
void stb_comparison_fini(struct stb_comparison *c);

/*
 * What `--check` asks: rows that are worse for sure and by more than threshold (in %), and those that were lost. *judged: rows about which there is
 * a claim at all.
 */
size_t stb_compare_regressions(const struct stb_comparison *c, double threshold, size_t *judged);
bool stb_compare_is_regression(const struct stb_compare_row *row, double threshold);

#endif
