/*
 * report.h - tables and claims from results. Reads results only, never live state, so any report can be made again.
 */
#ifndef STB_REPORT_H
#define STB_REPORT_H

#include "runtime/result/result.h"

/*
 * All reports and claims of the plan as one Markdown document; a report whose matrix has no rows is left out with a note. Columns line up by
 * display width. Texts that come from specs are escaped for Markdown tables (| and newlines) and HTML.
 */
void stb_report_markdown(const struct stb_results *r, struct stb_buf *out);
/* One report's tables as CSV (long form: split, row, column, metric, view, value, unit, note). */
void stb_report_csv(const struct stb_results *r, uint32_t report, struct stb_buf *out);

enum stb_verdict { STB_CLAIM_HOLDS, STB_CLAIM_FAILS, STB_CLAIM_UNDECIDED, STB_CLAIM_NO_DATA, STB_CLAIM_NOT_ASSERTED };

struct stb_claim_result {
	enum stb_verdict verdict;
	double worst;            /* in the claim's form; NaN with no data */
	char pair[256];          /* the (cell, baseline) pair that gave it */
};

void stb_claim_check(const struct stb_results *r, uint32_t claim, struct stb_claim_result *out);

/* Formats one view of v against baseline b as the tables do (`-` and n/a rules are the caller's): "2.49x", "+8.41%", "68.00%". */
void stb_view_format(struct stb_buf *out, enum stb_view view, double v, double b, enum stb_direction dir, int decimals);

#endif
