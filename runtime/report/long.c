/*
 * long.c - a report as CSV in long form: one line a field, for spreadsheets and plotting. Unrounded figures in the report's units; values
 * are named by their keys and not by their labels, so that they can be joined with results.csv.
 */
#include "runtime/report/sheet.h"
#include "runtime/result/number.h"

#include <string.h>

static void add_text(struct stb_buf *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		stb_buf_adds(out, s);
		return;
	}
	stb_buf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			stb_buf_addc(out, '"');
		stb_buf_addc(out, *s);
	}
	stb_buf_addc(out, '"');
}

static const char *key(const struct stb_sheet *s, uint32_t axis, uint32_t value)
{
	return axis == STB_NONE || value == STB_ANY || value == STB_NONE ? "" : s->matrix->axes[axis].values[value].key;
}

/* Where a field stands: split, row and column value, or `geomean` for the row. */
struct place {
	const char *split, *row, *column;
};

static void add_line(struct stb_sheet *s, const struct place *at, const char *metric, enum stb_view view, const char *suffix, const double *x,
	const struct stb_field *f, struct stb_buf *out)
{
	struct stb_buf note;

	add_text(out, at->split);
	stb_buf_addc(out, ',');
	add_text(out, at->row);
	stb_buf_addc(out, ',');
	add_text(out, at->column);
	stb_buf_printf(out, ",%s,%s%s,", metric, stb_view_name(view), suffix);
	if (x)
		stb_number_shortest(out, *x);
	stb_buf_printf(out, ",%s,", stb_sheet_unit(s, metric, view));
	stb_buf_init(&note);
	if (f->kind == STB_FIELD_OWN)
		stb_buf_adds(&note, "baseline");
	if (f->median)
		stb_buf_adds(&note, "median of the repetitions' percentiles");
	for (uint32_t i = 0; i < f->n_notes; i++)
		stb_buf_printf(&note, "%s%s", note.len ? "; " : "", f->notes[i]);
	add_text(out, stb_buf_str(&note));
	stb_buf_fini(&note);
	stb_buf_addc(out, '\n');
}

static void add_field(struct stb_sheet *s, const struct place *at, const char *metric, enum stb_view view, const struct stb_field *f,
	struct stb_buf *out)
{
	switch (f->kind) {
	case STB_FIELD_EMPTY:
		return;
	case STB_FIELD_OWN:
	case STB_FIELD_NA:
		add_line(s, at, metric, view, "", NULL, f, out);
		return;
	case STB_FIELD_NUMBER:
		if (view != STB_VIEW_RANGE && view != STB_VIEW_CI) {
			add_line(s, at, metric, view, "", &f->a, f, out);
			return;
		}
		add_line(s, at, metric, view, "_least", &f->a, f, out);
		add_line(s, at, metric, view, "_most", &f->a, f, out);
		return;
	case STB_FIELD_RANGE:
		add_line(s, at, metric, view, "_least", &f->a, f, out);
		add_line(s, at, metric, view, "_most", &f->b, f, out);
		return;
	}
	STB_BUG("unknown field");
}

/* One row of a metric; STB_ANY with `summary` is the last one. */
static void add_row(struct stb_sheet *s, uint32_t split, uint32_t row, bool summary, const char *metric, struct stb_buf *out)
{
	const struct stb_plan_report *r = s->report;
	uint32_t n, *cols = stb_sheet_values(s, r->columns, &n);
	struct stb_field f;

	for (uint32_t k = 0; k < n; k++) {
		const struct stb_cells cells = stb_sheet_cells(s, split, row, cols[k]);
		const struct place at = { key(s, r->split, split), summary ? "geomean" : key(s, r->rows, row), key(s, r->columns, cols[k]) };

		for (uint32_t v = 0; cells.n && v < r->n_views; v++) {
			if (summary)
				stb_summary_eval(s, &cells, metric, r->views[v], &f);
			else
				stb_field_eval(s, &cells, metric, r->views[v], &f);
			add_field(s, &at, metric, r->views[v], &f, out);
		}
	}
}

/* The tables of markdown.c: one for all metrics, or with a columns axis one for each. */
static void add_table(struct stb_sheet *s, uint32_t split, const char *const *metrics, uint32_t n_metrics, struct stb_buf *out)
{
	const struct stb_cells all = stb_sheet_cells(s, split, STB_ANY, STB_ANY);
	uint32_t n, *rows = stb_sheet_values(s, s->report->rows, &n);

	stb_sheet_begin_table(s, &all, metrics, n_metrics);
	for (uint32_t m = 0; m < n_metrics; m++) {
		for (uint32_t i = 0; i < n; i++)
			add_row(s, split, rows[i], false, metrics[m], out);
		if (s->report->geomean)
			add_row(s, split, STB_ANY, true, metrics[m], out);
	}
}

void stb_report_csv(const struct stb_results *r, uint32_t report, struct stb_buf *out)
{
	uint32_t n, *splits;
	struct stb_sheet s;

	stb_buf_adds(out, "split,row,column,metric,view,value,unit,note\n");
	if (!stb_results_has_matrix(r, r->plan->reports[report].matrix))
		return;
	stb_sheet_init(&s, r, report);
	splits = stb_sheet_values(&s, s.report->split, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_plan_report *rep = s.report;

		if (rep->columns == STB_NONE)
			add_table(&s, splits[i], rep->metrics, rep->n_metrics, out);
		for (uint32_t m = 0; rep->columns != STB_NONE && m < rep->n_metrics; m++)
			add_table(&s, splits[i], &rep->metrics[m], 1, out);
	}
	stb_sheet_fini(&s);
}
