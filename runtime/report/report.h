/*
 * report.h - tables and claims from results. Reads results only, never live state, so any report can be made again.
 */
#ifndef STB_REPORT_H
#define STB_REPORT_H

#include "runtime/result/result.h"

/*
 * Repetitions whose least and greatest lie further apart than this share of their figure are footnoted with both: "3 repetitions from 288 to
 * 896". A plain rule and no estimate: two or three repetitions bear none. Below it a reader may take the figure as it stands.
 */
#define STB_SPREAD_PERCENT 10

/*
 * All reports and claims of the plan as one Markdown document; a report whose matrix has no rows is left out with a note. Columns line up by
 * display width. What the plan asked for and is not there is said at the top (of run directories) and at the figures. Texts that come from specs are escaped for Markdown tables (| and newlines) and HTML.
 */
void stb_report_markdown(const struct stb_results *r, struct stb_buf *out);
/* One report's tables as CSV (long form: split, row, column, metric, view, value, unit, note). */
void stb_report_csv(const struct stb_results *r, uint32_t report, struct stb_buf *out);

enum stb_verdict { STB_CLAIM_HOLDS, STB_CLAIM_FAILS, STB_CLAIM_UNDECIDED, STB_CLAIM_NO_DATA, STB_CLAIM_NOT_ASSERTED };

/* A cell and its baseline (STB_NONE where a value is claimed, or the matrix has none); cell STB_NONE: unset. */
struct stb_claim_pair {
	uint32_t cell, base;
};

struct stb_claim_result {
	enum stb_verdict verdict;
	double worst;            /* in the claim's form: percent, change, improvement in %; ratio bare; value in the metric's unit; NaN without data */
	double low, high;        /* the interval of that pair, in the same form; NaN without a confidence, or where there is none */
	struct stb_claim_pair pair;    /* that decides: figure and interval are its own; unset without a figure */
	struct stb_claim_pair missing; /* NO_DATA: the first without data; UNDECIDED: as pair; unset where there is no pair at all */
	char reason[320];        /* NO_DATA, UNDECIDED: why; else empty */
};

/*
 * A claim holds when it holds for every (cell, baseline) pair. One pair that fails decides; else one pair without data makes NO_DATA: nothing
 * was shown to hold; with a confidence, one that is undecided makes UNDECIDED. Under a profile that does not override the claim the verdict is NOT_ASSERTED, whatever the figures.
 */
void stb_claim_check(const struct stb_results *r, uint32_t claim, struct stb_claim_result *out);
/* "std / rw against fast / rw", by labels, as tables have it. Nothing for a pair that is unset. */
void stb_claim_pair_print(struct stb_buf *out, const struct stb_plan *p, const struct stb_claim_pair *pair);
/* "holds", "fails", "undecided", "no data", "not asserted" */
const char *stb_verdict_text(enum stb_verdict v);
/*
 * What `stb report --check` asks: the number of claims that fail or have no data, each with a line in *why (may be NULL):
 * "claim `pmem` fails: iops ratio = 2.49, worst 2.31x (pmem_lvm / rand_write_4k against ssd / rand_write_4k)".
 */
uint32_t stb_claims_failed(const struct stb_results *r, struct stb_buf *why);

/* Formats one view of v against baseline b as the tables do (`-` and n/a rules are the caller's): "2.49x", "+8.41%", "68.00%". */
void stb_view_format(struct stb_buf *out, enum stb_view view, double v, double b, enum stb_direction dir, int decimals);
/* The same where the view's figure is at hand: percent, change, improvement in %, ratio bare. */
void stb_view_format_figure(struct stb_buf *out, enum stb_view view, double figure, int decimals);
/*
 * Decimals where the spec states none: as many more than `decimals` as show two digits of a percentage or ratio that would read as 0
 * (0.0039% and not 0.00%). A change that reads as +0.00% is left so: that is how "the same" reads.
 */
int stb_view_decimals(enum stb_view view, double figure, int decimals);

#endif
