/*
 * result.h - the one result model: rows as in results.csv, looked up by cell and metric.
 *
 * Made from measures (exec), from a run directory or from recorded CSV files; read by reports. Owns its arena. Not thread-safe.
 */
#ifndef STB_RESULT_H
#define STB_RESULT_H

#include "runtime/base/arena.h"
#include "runtime/base/metric.h"
#include "runtime/plan/plan.h"
#include "runtime/result/measure.h"
#include "runtime/result/status.h"

const char *stb_status_text(enum stb_status s);
bool stb_status_valid(enum stb_status s);
/* false: no status is written so. */
bool stb_status_find(const char *text, enum stb_status *out);

#define STB_HIST_FILE_NAME 160

/* Which latencies a histogram counts; histograms/ID-sSLOT-rREPETITION[-PART].csv, no part for all directions together. */
#define STB_PARTS_OF(X, sym, all, latency, suffix)                                                                    \
	X(all, latency "_", suffix, STB_N_DIRS)                                                                       \
	X(sym##READ, "read." latency "_", "-read" suffix, STB_READ)                                                   \
	X(sym##WRITE, "write." latency "_", "-write" suffix, STB_WRITE)                                               \
	X(sym##TRIM, "trim." latency "_", "-trim" suffix, STB_TRIM)
/* X(symbol, what its metrics begin with, the part of the file's name, of which direction: STB_N_DIRS for all) */
#define STB_PARTS(X)                                                                                                  \
	STB_PARTS_OF(X, , ALL, "lat", "")                                                                             \
	X(SYNC, "sync.lat_", "-sync", STB_N_DIRS)                                                                     \
	STB_PARTS_OF(X, SLAT_, SLAT, "slat", "-slat")                                                                 \
	STB_PARTS_OF(X, CLAT_, CLAT, "clat", "-clat")                                                                 \
	STB_PARTS_OF(X, SVC_, SVC, "svc", "-svc")

enum stb_part {
#define STB_X(sym, stem, suffix, dir) STB_PART_##sym,
	STB_PARTS(STB_X)
#undef STB_X
	STB_N_PARTS
};

/* A histogram of a repetition: a part, or, of member i of a mix (0 first), STB_HIST(i, part). */
#define STB_HIST(member, part) (((member) + 1) * (uint32_t)STB_N_PARTS + (uint32_t)(part))
#define STB_N_HISTS STB_HIST(STB_MAX_MEMBERS, 0)

/* What the names of its metrics begin with: "lat_", "read.lat_", "svc_"; "mean", "min", "p95" follow. */
const char *stb_part_stem(enum stb_part part);

struct stb_result_row {
	uint32_t cell;       /* plan->cells; of equal cells (of one run, where runs are compared) the first */
	uint32_t slot;       /* 1-based, as in the file */
	uint32_t repetition; /* 1-based */
	const char *metric;  /* interned: pointers compare within one stb_results */
	const char *unit;    /* the metric's own */
	double value;        /* finite, not negative */
	enum stb_status status;
	uint32_t next;       /* the next row of this cell and metric, or STB_NONE */
};

/* A histogram at rest: only the buckets that count something. */
struct stb_result_hist {
	uint32_t n_bins;
	uint64_t min, max; /* exact where they are known, else bounds of the outer buckets */
	struct {
		uint32_t index;
		uint64_t count;
	} bin[];
};

/* A repetition that is known of: it has rows, or a run says why it has none. */
struct stb_result_rep {
	uint32_t cell, slot, repetition; /* as in rows */
	bool has_rows;
	enum stb_status status;          /* of its rows */
	const char *reason;              /* what went wrong, as the run said it; NULL: nothing is known of */
	const char *origin;              /* the run that it was taken over from, in words; NULL: it was measured in the run that was read */
	double steady_after_s;           /* after so long it was steady, and measuring began; 0: it did not wait for that */
	double steady_found;             /* what was found then: see struct stb_steadiness */
	uint32_t next;                   /* the next repetition of this cell, or STB_NONE */
};

struct stb_results_entry; /* of the index: (cell, slot, repetition, metric or part) -> row or histogram */

struct stb_results {
	struct stb_arena arena;
	const struct stb_plan *plan; /* borrowed */
	uint32_t *first;             /* where runs are compared: per cell the first that equals it in the same run; NULL: same_as */
	const char *reading;         /* the run whose rows are read: see stb_results_reading() */
	struct stb_result_row *rows;
	size_t n_rows, cap_rows;
	struct stb_result_rep *reps;
	size_t n_reps, cap_reps;
	uint32_t n_sessions;         /* in which something was measured, the most of any of them: 2 and more where one was resumed */
	bool running;                /* one of them is still going on: what is missing may come */
	uint32_t n_runs;             /* run directories among what was read: stb_results_add_run() */
	const char *stopped;         /* why the first of them that did not carry out its whole plan ended; NULL: all did */
	uint8_t *selected;           /* plan->n_cells marks: what the runs were to measure; NULL: everything */
	char **notes;                /* what a reader of the reports should know about where the rows are from */
	size_t n_notes, cap_notes;
	struct stb_error_counts errors; /* that were retried, over all repetitions */
	const char **names;          /* interned metric names */
	size_t n_names, cap_names, last_name;
	const char **percentiles;    /* that reports and claims ask for, of any part: "p9999" */
	size_t n_percentiles, cap_percentiles;
	struct stb_results_entry *index; /* open addressing, a power of two */
	size_t n_index, cap_index;
};

struct stb_results *stb_results_new(const struct stb_plan *plan);
void stb_results_free(struct stb_results *r);

/*
 * Which of the runs that a matrix compares (an axis of kind "run") the rows are of that are read from now on: its name; "" for the first one of
 * each matrix; NULL, as at the start: not said, and rows of such a matrix are an error unless a column `run` says it. -1 with *err where no
 * matrix compares a run of that name.
 */
STB_NODISCARD int stb_results_reading(struct stb_results *r, const char *run, struct stb_err *err);
/* The run that a cell belongs to, NULL where its matrix compares none. */
const char *stb_results_run_of(const struct stb_plan *p, uint32_t cell);

/* Adds one row, its value in the metric's own unit. -1 with *err: an unknown metric, or the key is there already. */
STB_NODISCARD int stb_results_add(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *metric,
	double value, enum stb_status status, struct stb_err *err);
/*
 * Adds one repetition: every metric that the measure holds, and its histograms. Which rows a percentile gets: see measure.c. The key must
 * be new.
 */
void stb_results_add_measure(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition,
	const struct stb_measure *m, enum stb_status status);
/* The same of a member of the cell's mix: NAME.metric, without what counts for the mix. */
void stb_results_add_member(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member,
	const struct stb_measure *m, enum stb_status status);

/* What is of a mix and of none of its members. */
struct stb_mix_measure {
	uint64_t overlap_ns, all_ns;     /* from the start to the first and to the last end of a member; 0: not known */
	struct stb_blockstat device;     /* of all devices below its volumes */
	struct stb_server_change server; /* of its database */
	uint64_t events;                 /* of all oltp members */
};
void stb_results_add_mix(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_mix_measure *m,
	enum stb_status status);

/*
 * What a repetition, or a member of a mix (STB_NONE: there is none), got done before its measuring process was lost, from its live counters:
 * rates over window_ns and totals, no latencies. No row where window_ns is 0: then nothing was measured.
 */
void stb_results_add_partial(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member, uint64_t ops,
	uint64_t bytes, uint64_t errors, uint64_t window_ns, enum stb_status status);

/* The rows of a cell and metric in the order they were added; NULL after the last. */
const struct stb_result_row *stb_results_first(const struct stb_results *r, uint32_t cell, const char *metric);
const struct stb_result_row *stb_results_next(const struct stb_results *r, const struct stb_result_row *row);
/* Merges a repetition's histogram into *into; false where there is none. */
bool stb_results_merge_hist(const struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	struct stb_hist *into);
/* Keeps a copy of h for a repetition. */
void stb_results_add_hist(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	const struct stb_hist *h);
/* The repetitions of a cell that are known of, in the order they became known; NULL after the last. */
const struct stb_result_rep *stb_results_first_rep(const struct stb_results *r, uint32_t cell);
const struct stb_result_rep *stb_results_next_rep(const struct stb_results *r, const struct stb_result_rep *rep);
/* Says why a repetition failed, is not trustworthy or has no rows; the first reason stays. It is text of a log: any bytes, any length. */
void stb_results_set_reason(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *reason);
/* What was said of a repetition no longer holds: it was measured again. */
void stb_results_forget(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition);
/* Says that a repetition was taken over from another run. */
void stb_results_set_origin(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *origin);
/* Says that a repetition was measured once it had become steady. */
void stb_results_set_steady(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, double after_s, double found);
/*
 * Says what a run directory was to measure and whether it did. keep: plan->n_cells marks, NULL: all cells. stopped: why it ended before its
 * plan did ("interrupted by SIGINT", "it did not finish", "cannot write ..."), NULL: it carried out what it was to do.
 */
void stb_results_add_run(struct stb_results *r, const uint8_t *keep, const char *stopped);
/* Adds to r->notes. */
/* Errors that one repetition retried. */
void stb_results_count_errors(struct stb_results *r, const struct stb_error_counts *errors);
void stb_results_note(struct stb_results *r, const char *fmt, ...) STB_PRINTF(2, 3);
/* false: runs were read, and none of them was to measure the cell. */
bool stb_results_selected(const struct stb_results *r, uint32_t cell);
/* Whether any repetition of the matrix is known of. */
bool stb_results_has_matrix(const struct stb_results *r, uint32_t matrix);

/* Samples from which a percentile num/den is more than the greatest of them: at least one lies beyond it. lat_p999 needs 1000. */
uint64_t stb_percentile_needs(uint64_t num, uint64_t den);

/*
 * Reads a results.csv of a run (with `cell`) or recorded rows from elsewhere (axis columns, metric, unit, value, optionally slot,
 * repetition, status). path may be a run directory, whose histograms are then read too. Rows match cells by cell id where given, else by
 * axis values; a row that matches no cell, a bad number, an unknown metric or unit, a duplicate key is an error that names file and line.
 * 0 or -1 with *err; rows read before the error stay. Of a run directory the journal's reasons and what it says of the run are read too.
 * A last line that the run did not write to its end is left out, with a note.
 */
STB_NODISCARD int stb_results_read(struct stb_results *r, const char *path, struct stb_err *err);

/* The header line of results.csv for this plan (union of the axes of all matrices), and rows [from, n_rows) as lines. */
void stb_results_write_header(const struct stb_plan *p, FILE *out);
void stb_results_write_rows(const struct stb_results *r, size_t from, FILE *out);

/*
 * The histogram's path below the run directory: "histograms/0123456789abcdef-s1-r2-read.csv"; of a mix with the number and the name of
 * the member: "…-s1-r2-1-loader-read.csv".
 */
void stb_hist_file_name(const struct stb_plan *p, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	char out[STB_HIST_FILE_NAME]);
/*
 * Writes every histogram of a measure into run_dir/histograms, which must exist. member: of the cell's mix; STB_NONE: it is none. 0 or -1
 * with *err.
 */
STB_NODISCARD int stb_measure_save_hists(const struct stb_plan *p, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member,
	const struct stb_measure *m, const char *run_dir, struct stb_err *err);
/* Which histograms a repetition has is told by its rows, each by that of its mean; false: this metric tells of none. */
bool stb_hist_of(const struct stb_plan *p, uint32_t cell, const char *metric, uint32_t *hist);
/* Of which member of the cell's mix a metric is, and its name there; STB_NONE and the name itself: of none. */
uint32_t stb_metric_member(const struct stb_plan *p, uint32_t cell, const char *metric, const char **name);
/* Whether a histogram file is there, whole and readable, up to the greatest latency of its row. */
bool stb_hist_file_good(const char *path, double greatest_ms);
/* Histogram as CSV `lower_ns,count`. */
void stb_hist_write_csv(const struct stb_hist *h, FILE *out);

/* CSV field: quoted only when it must be (RFC 4180). */
void stb_csv_field(FILE *out, const char *s);

#endif
