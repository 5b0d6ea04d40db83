/*
 * past.h - what the journal of a run says that was measured: the last result of every repetition, in the order of the journal.
 *
 * Read by `stb resume` (the run's own past) and `stb run --reuse` (another run's). Owns the records.
 */
#ifndef STB_PAST_H
#define STB_PAST_H

#include "runtime/exec/journal.h"
#include "runtime/exec/remaining.h"
#include "runtime/result/result.h"

struct stb_past_result {
	uint32_t cell, slot, repetition; /* the first of equal cells */
	enum stb_status status;
	struct json_t *record;           /* the journal's */
	uint32_t session;                /* index into the story's marks */
	bool dropped;                    /* its files are not what they should be */
};

struct stb_past {
	struct json_t *start;            /* the first start record; NULL: none was read */
	struct json_t *records;          /* every start and result record */
	struct stb_past_result *results;
	size_t n, cap;
};

/* For stb_journal_read(); ctx is a zeroed struct stb_past. */
int stb_past_gather(void *ctx, const struct json_t *record, struct stb_err *err);
/*
 * Which cells and repetitions of the plan the records are about; records of other cells are passed over, or refused (strict). 0 or -1 with *err.
 */
STB_NODISCARD int stb_past_sort(struct stb_past *past, const struct stb_plan *p, bool strict, struct stb_err *err);
void stb_past_fini(struct stb_past *past);
/*
 * Whether version and commit measured all of it: figures of two builds do not belong into one table. A commit that one side does not know says
 * nothing. 0, or -1 with *err, which says what the run in dir was measured by and what this is; the remedy is the caller's.
 */
STB_NODISCARD int stb_past_check_build(const struct stb_past *past, const char *dir, const char *version, const char *commit, struct stb_err *err);
/* Marks the cells of a JSON array of ids in keep (plan->n_cells bytes). 0, or -1 with *err: an id that the plan does not have. */
STB_NODISCARD int stb_past_select(const struct json_t *ids, const struct stb_plan *p, uint8_t *keep, struct stb_err *err);

/* Whether a repetition stands as it is: it ended as asked, or it is a finding. The others failed for what it stood on, and are measured again. */
bool stb_past_stands(enum stb_status status);

/* Adds the rows of a result to r, as results.csv has them. 0 or -1 with *err: a metric that nobody knows, or a value that is none. */
STB_NODISCARD int stb_past_add_rows(const struct stb_past_result *one, struct stb_results *r, struct stb_err *err);
/* Whether every histogram that its rows tell of is in dir/histograms, whole. */
bool stb_past_has_histograms(const struct stb_past_result *one, const struct stb_plan *p, const char *dir);

/*
 * The lines of a series file that are about repetitions of `keep`, without its header, into out. What is cut off or about others is left out. 0; or -1
 * with *err where the file cannot be read. A file that is not there has no lines.
 */
STB_NODISCARD int stb_past_series(const char *path, const struct stb_plan *p, struct stb_done *keep, struct stb_buf *out, struct stb_err *err);
/* Removes from dir/histograms the files of repetitions of the plan that are not in `keep`. 0 or -1 with *err. */
STB_NODISCARD int stb_past_prune_histograms(const char *dir, const struct stb_plan *p, struct stb_done *keep, struct stb_err *err);

#endif
