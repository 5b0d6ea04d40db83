/*
 * exec.h - carries a plan out: everything between `stb run` and the results.
 *
 * Single-threaded; measured phases run in forked children. Writes the run directory and what its storage classes say, and removes all of it
 * but the run directory. Called by the driver.
 */
#ifndef STB_EXEC_H
#define STB_EXEC_H

#include "runtime/result/result.h"

#include <stdio.h>

enum stb_exit { /* language.md section 12 */
	STB_EXIT_OK = 0,
	STB_EXIT_SPEC = 1,
	STB_EXIT_USAGE = 2,
	STB_EXIT_ENVIRONMENT = 3, /* refused before anything was touched, or output that could not be written */
	STB_EXIT_CLAIM = 4,
	STB_EXIT_CELLS = 5,       /* ran, but some cells failed, are not trustworthy or were interrupted, or the report could not be written */
	STB_EXIT_LEFTOVERS = 6,   /* measured, but clean-up is incomplete */
};

struct stb_exec_options {
	const struct stb_plan *plan;
	const uint8_t *keep;  /* plan->n_cells marks, NULL: all */
	const char *only;     /* the selection as it was given, NULL: none */
	const char *dir;      /* the run directory; must not exist */
	bool dir_may_change;  /* nobody asked for this name: where it is taken, -2, -3, ... is appended */
	const char *spec;     /* as given, for the record */
	const char *version, *commit;
	const char *const *reuse; /* directories of runs whose results are taken over where they fit */
	uint32_t n_reuse;
};

/* Preflight, run, clean-up, report. Messages on standard error, the tables on standard output. An enum stb_exit. */
STB_NODISCARD int stb_exec_run(const struct stb_exec_options *o);
/* Goes on where the run in dir stopped; see resume.c. An enum stb_exit. */
STB_NODISCARD int stb_exec_resume(const char *dir, const char *version, const char *commit);
/*
 * What the plan (stb itself) needs and what this machine lacks of it, a line each on standard output, or as JSON. connect: external databases are
 * asked. pins: whether the spec's pins can be had here, which the compiler judges. STB_EXIT_ENVIRONMENT where something is lacking.
 */
STB_NODISCARD int stb_exec_doctor(const struct stb_exec_options *o, bool pins, bool connect, bool json);
STB_NODISCARD int stb_exec_doctor_self(bool json);
/* Undoes what the run in dir left behind, by its journal. An enum stb_exit. */
STB_NODISCARD int stb_exec_clean(const char *dir);

/*
 * report.md (md) and report-NAME.csv (csv) of every report of the plan, into dir, which is made if it is not there. 0 or -1 with *err.
 */
STB_NODISCARD int stb_exec_write_report(const struct stb_results *r, const char *dir, bool md, bool csv, struct stb_err *err);

/*
 * stb: error: <what>
 *   asked for at specs/x.stb:12:3
 *   what to do: <remedy>
 * p may be NULL (then there is no place to name).
 */
void stb_exec_print_error(const struct stb_plan *p, const struct stb_err *err, FILE *out);
/* stb: warning: <note>, of each note about where the rows are from */
void stb_exec_print_notes(const struct stb_results *r, FILE *out);

#endif
