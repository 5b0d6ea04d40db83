/*
 * sheet.h - one report laid out: which cells fall into which field, and what the field says. Inside runtime/report only.
 *
 * Knows no Markdown and no CSV; both forms are printed from here, so they cannot disagree.
 */
#ifndef STB_SHEET_H
#define STB_SHEET_H

#include "runtime/report/figure.h"

/* As a value index: any value (the report has no such axis). STB_NONE: the cells without a value. */
#define STB_ANY (UINT32_MAX - 1)

enum stb_field_kind {
	STB_FIELD_EMPTY,  /* the view has nothing to say here (value in a summary) */
	STB_FIELD_NUMBER, /* a */
	STB_FIELD_RANGE,  /* a..b */
	STB_FIELD_OWN,    /* the baseline itself */
	STB_FIELD_NA,     /* see notes */
};

enum { STB_FIELD_NOTES = 6 };

struct stb_field {
	enum stb_field_kind kind;
	double a, b;     /* value: in the report's unit; percent, change, improvement, range in %; ratio bare */
	bool invalid;    /* a value that is not trustworthy */
	bool median;     /* see struct stb_figure */
	uint32_t n_notes;
	const char *notes[STB_FIELD_NOTES]; /* plain text without markup */
};

struct stb_sheet {
	struct stb_arena arena;
	const struct stb_results *r;
	const struct stb_plan_report *report;
	const struct stb_plan_matrix *matrix;
	uint32_t *cells;   /* that `where` selects, in plan order */
	uint32_t n_cells, cap_cells;
	uint32_t n_least, n_most; /* repetitions behind a figure, over all cells and metrics that have one */
	bool shows_value;  /* among the views: then what is to be known of a figure stands there */
	bool mixed_end;    /* of the table at hand: some cells ended by size, others by time */
};

struct stb_cells {
	uint32_t *cell;
	uint32_t n, cap;
	uint32_t split, row, column; /* where they were looked for */
};

void stb_sheet_init(struct stb_sheet *s, const struct stb_results *r, uint32_t report);
void stb_sheet_fini(struct stb_sheet *s);

/* The values that the selected cells have on an axis, in the axis's order, STB_NONE last; {STB_ANY} for axis STB_NONE. */
uint32_t *stb_sheet_values(struct stb_sheet *s, uint32_t axis, uint32_t *n);
/* The selected cells with these values (STB_ANY where it does not matter). */
struct stb_cells stb_sheet_cells(struct stb_sheet *s, uint32_t split, uint32_t row, uint32_t column);
/* Begins a table over these cells: sets mixed_end. */
void stb_sheet_begin_table(struct stb_sheet *s, const struct stb_cells *cells, const char *const *metrics, uint32_t n_metrics);

void stb_field_eval(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, enum stb_view view, struct stb_field *out);
/* The geometric mean over all cells of a column that have figure and baseline. */
void stb_summary_eval(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, enum stb_view view, struct stb_field *out);

/* Unit and decimals in which the report shows a metric's view. */
const char *stb_sheet_unit(const struct stb_sheet *s, const char *metric, enum stb_view view);
int stb_sheet_decimals(const struct stb_sheet *s, const char *metric, enum stb_view view);
/* Whether the spec states the decimals of a metric's values. */
bool stb_sheet_states_decimals(const struct stb_sheet *s, const char *metric);
/* The entry of a MAP value, or NULL. */
const struct stb_val *stb_map_get(const struct stb_val *map, const char *key);

#endif
