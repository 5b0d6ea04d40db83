/*
 * result.h - the one result model: rows as in results.csv, looked up by cell and metric.
 *
 * Made from measures (exec), from a run directory or from recorded CSV files; read by reports. Owns its arena.
 */
#ifndef STB_RESULT_H
#define STB_RESULT_H

#include "runtime/base/arena.h"
#include "runtime/base/metric.h"
#include "runtime/plan/plan.h"
#include "runtime/result/measure.h"

/* STB_STATUS(symbol, text in results.csv, valid in relative figures) */
#define STB_STATUSES(X)                                                                                      \
	X(OK, "ok", 1)                                                                                       \
	X(ENDED_BY_SIZE, "ended_by_size", 1)                                                                 \
	X(EARLY, "invalid:early", 0)                                                                         \
	X(ERRORS, "invalid:errors", 0)                                                                       \
	X(RATE, "invalid:rate", 0)                                                                           \
	X(NOT_STEADY, "invalid:not_steady", 0)                                                               \
	X(STALLED, "invalid:stalled", 0)                                                                     \
	X(DISTURBED, "invalid:disturbed", 0)                                                                 \
	X(FALLBACK, "invalid:fallback", 0)

enum stb_status {
#define STB_X(sym, text, valid) STB_STATUS_##sym,
	STB_STATUSES(STB_X)
#undef STB_X
};

const char *stb_status_text(enum stb_status s);
bool stb_status_valid(enum stb_status s);

struct stb_result_row {
	uint32_t cell;       /* plan->cells */
	uint32_t slot;       /* 1-based, as in the file */
	uint32_t repetition; /* 1-based */
	const char *metric;  /* interned: pointers compare within one stb_results */
	const char *unit;
	double value;
	enum stb_status status;
};

struct stb_results {
	struct stb_arena arena;
	const struct stb_plan *plan; /* borrowed */
	struct stb_result_row *rows;
	size_t n_rows, cap_rows;
	char **notes;                /* e.g. which file a matrix has no rows in */
	size_t n_notes, cap_notes;
};

struct stb_results *stb_results_new(const struct stb_plan *plan);
void stb_results_free(struct stb_results *r);

/* Adds one repetition: every metric that the measure holds. */
void stb_results_add_measure(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition,
	const struct stb_measure *m, enum stb_status status);

/*
 * Reads a results.csv of a run (with `cell`) or recorded rows from elsewhere (axis columns, metric, unit, value, optionally slot,
 * repetition, status). path may be a run directory. Rows match cells by cell id where given, else by axis values; a row that matches no
 * cell, a bad number, an unknown metric or unit, a duplicate key is an error that names file and line. 0 or -1 with *err.
 */
STB_NODISCARD int stb_results_read(struct stb_results *r, const char *path, struct stb_err *err);

/* The header line of results.csv for this plan (union of the axes of all matrices), and rows [from, n_rows) as lines. */
void stb_results_write_header(const struct stb_plan *p, FILE *out);
void stb_results_write_rows(const struct stb_results *r, size_t from, FILE *out);

/* Histogram as CSV `lower_ns,count`. */
void stb_hist_write_csv(const struct stb_hist *h, FILE *out);

/* CSV field: quoted only when it must be (RFC 4180). */
void stb_csv_field(FILE *out, const char *s);

#endif
