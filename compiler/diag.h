/*
 * diag.h - what is wrong with a spec: diagnostics in a sink, many per run, sorted and deduplicated, rendered once at the end.
 *
 * Codes are stable names (codes.def). The sink never exits and never prints; a caller renders it. Owns its arena.
 */
#ifndef STB_DIAG_H
#define STB_DIAG_H

#include "compiler/source.h"
#include "runtime/base/nearest.h"

#include <stdio.h>

#define STB_DIAG_MAX_ERRORS 100 /* then one last line says that more were left out */
#define STB_DIAG_MAX_OTHERS 1000 /* warnings, and notes */
#define STB_DIAG_MAX_MASKS 1000 /* each is looked for in everything that is shown */

enum stb_severity { STB_SEV_ERROR, STB_SEV_WARNING, STB_SEV_NOTE };

enum stb_code {
#define STB_CODE(code, severity, title, explain) STB_##code,
#include "compiler/codes.def"
#undef STB_CODE
	STB_N_CODES
};

struct stb_code_info {
	const char *name;    /* "E0203" */
	enum stb_severity severity;
	const char *title;   /* a short phrase */
	const char *explain; /* what it means and what to do, a few sentences: `stb explain E0203` */
};

const struct stb_code_info *stb_code_info(enum stb_code code);
bool stb_code_find(const char *name, enum stb_code *out);

struct stb_label { /* a further place, with its own words */
	struct stb_span span;
	const char *text;
};

struct stb_fixit { /* replace span by text */
	struct stb_span span;
	const char *text;
};

struct stb_diag {
	enum stb_code code;
	struct stb_span span;    /* primary: ^^^^ */
	const char *text;        /* no capital, no full stop; quotes the subject */
	const char *label;       /* words beside the carets, or NULL */
	struct stb_label *labels;/* secondary: ~~~~ */
	uint32_t n_labels, cap_labels;
	const char **notes;      /* "= note: ..." or "= help: ..." lines, prefix included */
	uint32_t n_notes, cap_notes;
	struct stb_fixit *fixits;
	uint32_t n_fixits, cap_fixits;
	struct stb_span mask;    /* bytes that are never quoted (a secret literal), STB_NO_SPAN otherwise */
};

struct stb_sink {
	struct stb_arena arena;
	const struct stb_sources *sources;
	struct stb_diag **diags;
	uint32_t n_diags, cap_diags;
	uint32_t n_errors, n_warnings;
	uint32_t n_dropped; /* over these limits */
	uint32_t n_kept[3]; /* by severity */
	struct stb_span *masks; /* bytes that no line of any diagnostic may show, besides each diagnostic's own mask */
	uint32_t n_masks, cap_masks;
	const char **mask_texts; /* the same as text, where a string was written with escapes */
	uint32_t n_mask_texts, cap_mask_texts;
	bool from_here;  /* its files were opened from the working directory: people see the path that opens there, programs the name */
	bool masks_full; /* more than are looked for: nothing of any spec is quoted */
	struct stb_diag scratch; /* takes the refinements of a dropped diagnostic */
};

void stb_sink_init(struct stb_sink *s, const struct stb_sources *sources);
void stb_sink_fini(struct stb_sink *s);

/* Adds one; the result can be refined with the functions below (never NULL, also when it was dropped). */
struct stb_diag *stb_diag(struct stb_sink *s, enum stb_code code, struct stb_span span, const char *fmt, ...) STB_PRINTF(4, 5);
void stb_diag_here(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...) STB_PRINTF(3, 4); /* words at the carets */
void stb_diag_label(struct stb_sink *s, struct stb_diag *d, struct stb_span span, const char *fmt, ...) STB_PRINTF(4, 5);
void stb_diag_note(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_diag_help(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_diag_fixit(struct stb_sink *s, struct stb_diag *d, struct stb_span span, const char *fmt, ...) STB_PRINTF(4, 5);

/* These bytes (a secret literal) are never shown, in whichever diagnostic's source line or text they would appear. */
void stb_sink_mask(struct stb_sink *s, struct stb_span span);
void stb_sink_mask_text(struct stb_sink *s, const char *text, size_t len);

enum stb_diag_format { STB_DIAG_HUMAN, STB_DIAG_JSON, STB_DIAG_GITHUB, STB_DIAG_SARIF };

/*
 * Sorts by file, offset, code; drops exact repetitions; prints.
 *
 *   error[E0203]: workload io has no attribute `iodeph`
 *     --> specs/x.stb:12:3
 *      |
 *   12 |   iodeph = 4
 *      |   ^^^^^^ did you mean `iodepth`?
 *      |
 *      = help: ...
 *      = fix: write `iodepth`          (only where neither label nor notes say so)
 *
 * Carets stand under the text by display width; tabs are kept. JSON: one array of objects {code, severity, message, file, line, column,
 * end_line, end_column, label, labels, notes, fixits}. GitHub: workflow commands (::error file=..,line=..::message).
 * SARIF: a log with one run.
 * Control characters of the spec are shown as U+FFFD, long lines are clipped around the span, masked bytes are `***`.
 * Diagnostics without a place come first. Where some were dropped, a last one says so.
 */
void stb_sink_print(struct stb_sink *s, enum stb_diag_format format, FILE *out);

#endif
