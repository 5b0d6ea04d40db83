/*
 * markdown.c - the document: head, one section a report, claims.
 *
 * How a report becomes tables:
 *
 *   split       a sub-heading and a table for each value
 *   no columns  one table: rows down, one column for each metric and view, side by side, so that a reader sees a figure beside its percentage;
 *               broken between metrics where more than nine columns of figures would stand side by side. n stands once where all metrics have the
 *               same
 *   columns     one table for each metric, since figures of different units do not compare within a row: the axis's values side by side, and
 *               under several views the views of one value next to each other. A column that holds nothing but the baseline's own `-` is
 *               left out. Rejected: all metrics in one table with grouped headings, which Markdown cannot span
 *   summary     a last row
 *
 * What is the same for all tables (fixed axes, folded axes, baseline, which direction is better, n) stands once, above them.
 */
#include "runtime/report/facts.h"
#include "runtime/report/sheet.h"
#include "runtime/report/text.h"

#include "runtime/result/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- words --- */

static const char *take(struct stb_arena *a, struct stb_buf *b)
{
	const char *s = stb_arena_strndup(a, stb_buf_str(b), b->len);

	stb_buf_fini(b);
	return s;
}

static const char *escaped(struct stb_arena *a, const char *s)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_md_text(&b, s);
	return take(a, &b);
}

static const char *axis_label(struct stb_sheet *s, uint32_t axis)
{
	return escaped(&s->arena, s->matrix->axes[axis].label);
}

static const char *value_label(struct stb_sheet *s, uint32_t axis, uint32_t value)
{
	if (value == STB_NONE)
		return "none";
	return escaped(&s->arena, s->matrix->axes[axis].values[value].label);
}

/* "read p99.9 latency" from the metric table, or what `headings` says; escaped. */
static const char *metric_heading(struct stb_sheet *s, const char *metric, bool *own)
{
	const struct stb_val *v = stb_map_get(&s->report->headings, metric);
	const char *dot = strchr(metric, '.'), *percent;
	struct stb_metric m;
	struct stb_buf b;

	*own = v && v->str;
	if (*own)
		return escaped(&s->arena, v->str);
	stb_buf_init(&b);
	if (!stb_metric_find(metric, &m)) {
		stb_md_text(&b, metric);
		return take(&s->arena, &b);
	}
	if (m.part_len) { /* of a mix: whose it is stands in front */
		stb_md_text(&b, stb_arena_strndup(&s->arena, metric, m.part_len - 1));
		stb_buf_addc(&b, ' ');
		metric += m.part_len;
		dot = strchr(metric, '.');
	}
	/* sync. and server. name metrics of their own; the others are directions of one */
	if (dot && strncmp(metric, "sync.", 5) && strncmp(metric, "server.", 7))
		stb_buf_printf(&b, "%.*s ", (int)(dot - metric), metric);
	percent = strstr(m.heading, "%s");
	if (percent) {
		stb_buf_add(&b, m.heading, (size_t)(percent - m.heading));
		stb_percentile_text(&m, &b);
		stb_buf_adds(&b, percent + 2);
	} else {
		stb_buf_adds(&b, m.heading);
	}
	return take(&s->arena, &b);
}

static const char *view_heading(struct stb_sheet *s, enum stb_view view)
{
	const struct stb_val *v = stb_map_get(&s->report->headings, stb_view_name(view));

	if (v && v->str)
		return escaped(&s->arena, v->str);
	if (view == STB_VIEW_VALUE)
		return NULL;
	return view == STB_VIEW_PERCENT ? "%" : stb_view_name(view);
}

/* "bandwidth (MB/s)", "bandwidth, ratio" */
static const char *heading(struct stb_sheet *s, const char *metric, enum stb_view view)
{
	const char *unit = stb_sheet_unit(s, metric, view), *name, *suffix = view_heading(s, view);
	bool own;

	name = metric_heading(s, metric, &own);
	if (suffix)
		return stb_arena_printf(&s->arena, "%s, %s", name, suffix);
	if (own || !*unit || !strcmp(unit, "1/s"))
		return name;
	return stb_arena_printf(&s->arena, "%s (%s)", name, unit);
}

/* --- fields --- */

static void add_figure(struct stb_sheet *s, enum stb_view view, double x, int decimals, struct stb_buf *out)
{
	if (!stb_map_get(&s->report->decimals, stb_view_name(view)))
		decimals = stb_view_decimals(view, x, decimals);
	stb_view_format_figure(out, view, x, decimals);
}

static const char *field_text(struct stb_sheet *s, struct stb_table *t, const struct stb_field *f, enum stb_view view, int decimals)
{
	struct stb_buf b;

	stb_buf_init(&b);
	switch (f->kind) {
	case STB_FIELD_EMPTY:
		break;
	case STB_FIELD_OWN:
		stb_buf_addc(&b, '-');
		break;
	case STB_FIELD_NA:
		stb_buf_adds(&b, "n/a");
		break;
	case STB_FIELD_RANGE:
		add_figure(s, view, f->a, decimals, &b);
		stb_buf_adds(&b, "..");
		add_figure(s, view, f->b, decimals, &b);
		break;
	case STB_FIELD_NUMBER:
		add_figure(s, view, f->a, decimals, &b);
		break;
	}
	if (f->invalid)
		stb_buf_adds(&b, " (invalid)");
	for (uint32_t i = 0; i < f->n_notes; i++)
		stb_buf_printf(&b, " [%u]", stb_table_note(t, escaped(&s->arena, f->notes[i])));
	return take(&s->arena, &b);
}

/* --- one table --- */

/* A column of figures: which cells (by the value on the columns axis), which metric, which view. */
struct column {
	uint32_t value;
	const char *metric;
	enum stb_view view;
	const char *heading;
	int decimals;
	struct stb_field *fields; /* one a row, then the summary */
};

struct layout {
	struct stb_sheet *s;
	uint32_t split;
	uint32_t *rows, n_rows;
	struct column *cols;
	uint32_t n_cols, cap_cols;
	bool summary;
	bool row_head; /* a first column with the rows' labels */
};

static bool says_nothing(const struct layout *l, const struct column *c)
{
	const uint32_t n = l->n_rows + l->summary;

	if (!stb_view_is_relative(c->view))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (c->fields[i].kind != STB_FIELD_OWN && c->fields[i].kind != STB_FIELD_EMPTY)
			return false;
	}
	return true;
}

static void push_column(struct layout *l, const struct column *c)
{
	STB_ARENA_GROW(&l->s->arena, l->cols, l->n_cols, l->cap_cols);
	l->cols[l->n_cols++] = *c;
}

static void add_column(struct layout *l, uint32_t value, const char *metric, enum stb_view view, const char *head)
{
	struct stb_sheet *s = l->s;
	struct column c = { value, metric, view, head, stb_sheet_decimals(s, metric, view), NULL };

	c.fields = STB_NEW_ARRAY(&s->arena, struct stb_field, l->n_rows + 1);
	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct stb_cells cells = stb_sheet_cells(s, l->split, l->rows[i], value);

		stb_field_eval(s, &cells, metric, view, &c.fields[i]);
	}
	if (l->summary) {
		const struct stb_cells cells = stb_sheet_cells(s, l->split, STB_ANY, value);

		stb_summary_eval(s, &cells, metric, view, &c.fields[l->n_rows]);
	}
	if (s->report->columns != STB_NONE && says_nothing(l, &c))
		return;
	push_column(l, &c);
}

static bool any_median(const struct layout *l, const struct column *c)
{
	for (uint32_t i = 0; i < l->n_rows; i++) {
		if (c->fields[i].median)
			return true;
	}
	return false;
}

static void print_heading(struct layout *l, struct stb_table *t)
{
	struct stb_sheet *s = l->s;

	stb_table_row(t);
	if (l->row_head && s->report->rows != STB_NONE)
		stb_table_set(t, 0, axis_label(s, s->report->rows));
	for (uint32_t i = 0; i < l->n_cols; i++) {
		const char *head = l->cols[i].heading;

		if (any_median(l, &l->cols[i]))
			head = stb_arena_printf(&s->arena, "%s [%u]", head,
				stb_table_note(t, "median of the repetitions' percentiles: there are no histograms to merge"));
		stb_table_set(t, i + l->row_head, head);
	}
}

static void print_row(struct layout *l, struct stb_table *t, const char *label, uint32_t row)
{
	stb_table_row(t);
	if (l->row_head)
		stb_table_set(t, 0, label);
	for (uint32_t i = 0; i < l->n_cols; i++) {
		const struct column *c = &l->cols[i];

		stb_table_set(t, i + l->row_head, field_text(l->s, t, &c->fields[row], c->view, c->decimals));
	}
}

/*
 * Figures whose decimals nobody stated get more than usual where the least of them (of one metric, over the whole table) would show less than
 * two digits: a latency of 400 ns is 0.00040 ms and not 0.000. Six decimals are one nanosecond in ms.
 */
static void settle_decimals(struct layout *l)
{
	enum { MOST = 6 };

	for (uint32_t i = 0; i < l->n_cols; i++) {
		struct column *c = &l->cols[i];
		double least = INFINITY;

		if (c->view != STB_VIEW_VALUE || stb_sheet_states_decimals(l->s, c->metric))
			continue;
		for (uint32_t k = 0; k < l->n_cols; k++) {
			if (l->cols[k].view != STB_VIEW_VALUE || strcmp(l->cols[k].metric, c->metric))
				continue;
			for (uint32_t row = 0; row < l->n_rows; row++) {
				const struct stb_field *f = &l->cols[k].fields[row];

				if (f->kind == STB_FIELD_NUMBER && f->a > 0)
					least = STB_MIN(least, f->a);
			}
		}
		while (c->decimals < MOST && least < 1 && least * pow(10, c->decimals) < 10)
			c->decimals++;
	}
}

static void print_layout(struct layout *l, struct stb_buf *out)
{
	struct stb_sheet *s = l->s;
	struct stb_table t;

	settle_decimals(l);
	l->row_head = s->report->rows != STB_NONE || l->summary;
	stb_table_init(&t, l->n_cols + l->row_head, l->row_head);
	print_heading(l, &t);
	for (uint32_t i = 0; i < l->n_rows; i++)
		print_row(l, &t, s->report->rows == STB_NONE ? "" : value_label(s, s->report->rows, l->rows[i]), i);
	if (l->summary)
		print_row(l, &t, "geometric mean", l->n_rows);
	stb_table_print(&t, out);
	stb_table_fini(&t);
}

/* --- one report --- */

static bool has_relative(const struct stb_plan_report *r)
{
	for (uint32_t i = 0; i < r->n_views; i++) {
		if (stb_view_is_relative(r->views[i]))
			return true;
	}
	return false;
}

/* The rows that this split has cells for. */
static void find_rows(struct layout *l)
{
	uint32_t n, *all = stb_sheet_values(l->s, l->s->report->rows, &n);

	l->rows = STB_NEW_ARRAY(&l->s->arena, uint32_t, n);
	l->n_rows = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (stb_sheet_cells(l->s, l->split, all[i], STB_ANY).n)
			l->rows[l->n_rows++] = all[i];
	}
}

/* One column of n for all metrics, where they agree in each row (a metric without a result agrees with any); false: they do not. */
static bool common_n(struct layout *l, struct column *out)
{
	struct stb_sheet *s = l->s;

	*out = (struct column){ .value = STB_ANY, .metric = s->report->metrics[0], .view = STB_VIEW_N };
	out->heading = view_heading(s, STB_VIEW_N);
	out->fields = STB_NEW_ARRAY(&s->arena, struct stb_field, l->n_rows + 1);
	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct stb_cells cells = stb_sheet_cells(s, l->split, l->rows[i], STB_ANY);

		for (uint32_t m = 0; m < s->report->n_metrics; m++) {
			struct stb_field f;

			stb_field_eval(s, &cells, s->report->metrics[m], STB_VIEW_N, &f);
			if (f.kind != STB_FIELD_NUMBER || (f.a > 0 && out->fields[i].a > 0 && f.a != out->fields[i].a))
				return false;
			if (!m || f.a > 0)
				out->fields[i] = f;
		}
	}
	return true;
}

/* Some metrics, side by side. */
static void one_table(struct stb_sheet *s, uint32_t split, const char *const *metrics, uint32_t n_metrics, struct stb_buf *out)
{
	const struct stb_plan_report *r = s->report;
	struct layout l = { .s = s, .split = split, .summary = r->geomean && has_relative(r) };
	bool shows_n = false, one_n;
	struct column n;

	find_rows(&l);
	one_n = common_n(&l, &n);
	for (uint32_t m = 0; m < n_metrics; m++) {
		for (uint32_t v = 0; v < r->n_views; v++) {
			shows_n |= r->views[v] == STB_VIEW_N;
			if (r->views[v] != STB_VIEW_N || !one_n)
				add_column(&l, STB_ANY, metrics[m], r->views[v], heading(s, metrics[m], r->views[v]));
		}
	}
	if (shows_n && one_n)
		push_column(&l, &n);
	print_layout(&l, out);
}

/* All metrics of a report without a columns axis: in one table, or in as few as need be to stay readable. */
static void tables_of_metrics(struct stb_sheet *s, uint32_t split, struct stb_buf *out)
{
	enum { MAX_COLUMNS = 9 };
	const struct stb_plan_report *r = s->report;
	const struct stb_cells cells = stb_sheet_cells(s, split, STB_ANY, STB_ANY);
	const uint32_t step = STB_MAX(MAX_COLUMNS / STB_MAX(r->n_views, 1u), 1u);

	stb_sheet_begin_table(s, &cells, r->metrics, r->n_metrics);
	for (uint32_t m = 0; m < r->n_metrics; m += step)
		one_table(s, split, &r->metrics[m], STB_MIN(step, r->n_metrics - m), out);
}

static void table_of_metric(struct stb_sheet *s, uint32_t split, const char *metric, struct stb_buf *out)
{
	const struct stb_plan_report *r = s->report;
	const struct stb_cells cells = stb_sheet_cells(s, split, STB_ANY, STB_ANY);
	struct layout l = { .s = s, .split = split, .summary = r->geomean && has_relative(r) };
	uint32_t n, *values = stb_sheet_values(s, r->columns, &n);

	find_rows(&l);
	stb_sheet_begin_table(s, &cells, &metric, 1);
	for (uint32_t i = 0; i < n; i++) {
		if (!stb_sheet_cells(s, split, STB_ANY, values[i]).n)
			continue;
		for (uint32_t v = 0; v < r->n_views; v++) {
			const char *label = value_label(s, r->columns, values[i]), *suffix = view_heading(s, r->views[v]);

			if (r->n_views > 1 && suffix)
				label = stb_arena_printf(&s->arena, "%s, %s", label, suffix);
			add_column(&l, values[i], metric, r->views[v], label);
		}
	}
	if (!l.n_cols)
		return;
	stb_buf_printf(out, "**%s** by %s\n\n", heading(s, metric, r->n_views == 1 ? r->views[0] : STB_VIEW_VALUE),
		axis_label(s, r->columns));
	print_layout(&l, out);
}

static void list_terms(struct stb_sheet *s, const struct stb_selector *sel, struct stb_buf *out)
{
	for (uint32_t i = 0; i < sel->n_terms; i++) {
		const struct stb_selector_term *t = &sel->terms[i];

		stb_buf_printf(out, "%s%s = ", i ? ", " : "", axis_label(s, t->axis));
		for (uint32_t k = 0; k < t->n_values; k++)
			stb_buf_printf(out, "%s%s", k ? " or " : "", value_label(s, t->axis, t->values[k]));
	}
}

static bool is_folded(const struct stb_plan_report *r, uint32_t axis)
{
	for (uint32_t i = 0; i < r->n_fold; i++) {
		if (r->fold[i] == axis)
			return true;
	}
	return false;
}

static void say_axes(struct stb_sheet *s, struct stb_buf *out)
{
	const struct stb_plan_report *r = s->report;
	uint32_t fixed = 0;

	for (uint32_t a = 0; a < s->matrix->n_axes; a++) {
		uint32_t n, *v;

		if (a == r->split || a == r->rows || a == r->columns || is_folded(r, a))
			continue;
		v = stb_sheet_values(s, a, &n);
		if (n == 1)
			stb_buf_printf(out, "%s%s = %s", fixed++ ? ", " : "Fixed: ", axis_label(s, a), value_label(s, a, v[0]));
	}
	if (fixed)
		stb_buf_adds(out, ". ");
	for (uint32_t i = 0; i < r->n_fold; i++)
		stb_buf_printf(out, "%s%s", i ? ", " : "Folded into each figure: ", axis_label(s, r->fold[i]));
	if (r->n_fold)
		stb_buf_adds(out, ". ");
}

static void say_direction(struct stb_sheet *s, enum stb_direction dir, const char *words, struct stb_buf *out)
{
	bool own, any = false;

	for (uint32_t i = 0; i < s->report->n_metrics; i++) {
		struct stb_metric m;

		if (!stb_metric_find(s->report->metrics[i], &m) || m.direction != dir)
			continue;
		stb_buf_printf(out, "%s%s", any ? ", " : words, metric_heading(s, s->report->metrics[i], &own));
		any = true;
	}
	if (any)
		stb_buf_adds(out, ". ");
}

static void say_n(struct stb_sheet *s, struct stb_buf *out)
{
	const char *how = s->report->aggregate == STB_AGG_MEDIAN ? "Median" : "Mean";

	if (s->n_most == 1)
		stb_buf_adds(out, "One measurement each (n = 1).");
	else if (s->n_most && s->n_least == s->n_most)
		stb_buf_printf(out, "%s of %u measurements each.", how, s->n_most);
	else if (s->n_most)
		stb_buf_printf(out, "%s of %u to %u measurements each.", how, s->n_least, s->n_most);
}

/* The paragraph above the tables. */
static void say(struct stb_sheet *s, struct stb_buf *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	say_axes(s, &b);
	if (has_relative(s->report) && s->report->has_baseline) {
		stb_buf_adds(&b, "Baseline: ");
		list_terms(s, &s->report->baseline, &b);
		stb_buf_adds(&b, ". ");
		say_direction(s, STB_HIGHER_IS_BETTER, "Higher is better: ", &b);
		say_direction(s, STB_LOWER_IS_BETTER, "Lower is better: ", &b);
	}
	say_n(s, &b);
	while (b.len && b.data[b.len - 1] == ' ')
		b.data[--b.len] = '\0';
	if (b.len)
		stb_buf_printf(out, "%s\n\n", stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void print_report(const struct stb_results *r, uint32_t report, struct stb_buf *out)
{
	const struct stb_plan_report *rep = &r->plan->reports[report];
	uint32_t n, *splits;
	struct stb_sheet s;

	stb_buf_adds(out, "## ");
	stb_md_text(out, rep->label ? rep->label : rep->name);
	stb_buf_adds(out, "\n\n");
	if (rep->note) {
		stb_md_prose(out, rep->note);
		stb_buf_addc(out, '\n');
	}
	stb_sheet_init(&s, r, report);
	say(&s, out);
	if (rep->chart) {
		stb_buf_adds(out, "*Asked for as a chart (");
		stb_md_text(out, rep->chart);
		stb_buf_adds(out, "): this version of stb draws none. The tables have its figures.*\n\n");
	}
	splits = stb_sheet_values(&s, rep->split, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (rep->split != STB_NONE)
			stb_buf_printf(out, "### %s: %s\n\n", axis_label(&s, rep->split), value_label(&s, rep->split, splits[i]));
		if (rep->columns == STB_NONE) {
			tables_of_metrics(&s, splits[i], out);
			continue;
		}
		for (uint32_t m = 0; m < rep->n_metrics; m++)
			table_of_metric(&s, splits[i], rep->metrics[m], out);
	}
	stb_sheet_fini(&s);
}

/* --- head, claims, notes --- */

static void print_fact(struct stb_buf *out, const char *what, const char *text)
{
	if (!text)
		return;
	stb_buf_printf(out, "- %s: ", what);
	stb_md_text(out, text);
	stb_buf_addc(out, '\n');
}

/* What run directories were to do and did not; rows from elsewhere promise nothing as a whole. */
static void print_incomplete(const struct stb_results *r, struct stb_buf *out)
{
	const struct stb_plan *p = r->plan;
	uint64_t cells = 0, selected = 0, asked = 0, measured = 0, doubtful = 0;

	if (!r->n_runs)
		return;
	for (uint32_t c = 0; c < p->n_cells; c++) {
		const struct stb_plan_matrix *m = &p->matrices[p->cells[c].matrix];

		if (p->cells[c].same_as != c)
			continue;
		cells++;
		if (!stb_results_selected(r, c))
			continue;
		selected++;
		asked += stb_plan_slots(m) * m->repeat;
		for (const struct stb_result_rep *rep = stb_results_first_rep(r, c); rep; rep = stb_results_next_rep(r, rep)) {
			measured += rep->has_rows;
			doubtful += rep->has_rows && !stb_status_valid(rep->status);
		}
	}
	if (selected < cells)
		stb_buf_printf(out, "> Partial: %llu of %llu cells were to be measured (--only).\n\n", (unsigned long long)selected,
			(unsigned long long)cells);
	if (measured >= asked && !doubtful && !r->stopped && !r->running)
		return;
	stb_buf_printf(out, "> Incomplete: %llu of %llu repetitions are measured", (unsigned long long)measured, (unsigned long long)asked);
	if (doubtful)
		stb_buf_printf(out, ", %llu of them not trustworthy", (unsigned long long)doubtful);
	if (r->running)
		stb_buf_adds(out, "; the run is still going on");
	if (r->stopped) {
		stb_buf_adds(out, "; the run ended early: ");
		stb_md_text(out, r->stopped);
	}
	stb_buf_adds(out, ".\n\n");
}

static void print_head(const struct stb_results *r, struct stb_buf *out)
{
	const struct stb_plan *p = r->plan;

	stb_buf_adds(out, "# ");
	stb_md_text(out, p->title ? p->title : p->suite ? p->suite : "Results");
	stb_buf_adds(out, "\n\n");
	if (p->profile) {
		stb_buf_adds(out, "> Made under profile ");
		stb_md_text(out, p->profile);
		stb_buf_adds(out, ": not the published environment.\n\n");
	}
	print_incomplete(r, out);
	for (size_t i = 0; i < r->n_notes; i++) {
		stb_buf_adds(out, "> Warning: ");
		stb_md_text(out, r->notes[i]);
		stb_buf_adds(out, ".\n\n");
	}
	if (p->description) {
		stb_md_prose(out, p->description);
		stb_buf_addc(out, '\n');
	}
	print_fact(out, "source", p->source);
	print_fact(out, "licence", p->licence);
	if (*p->hash)
		stb_buf_printf(out, "- plan: `%.16s`\n", p->hash);
	print_fact(out, "profile", p->profile);
	for (uint32_t i = 0; i < p->n_params; i++)
		print_fact(out, "parameter", p->params[i]);
	if (r->n_sessions > 1)
		stb_buf_printf(out, "- resumed: measured in %u sessions; what was provisioned before an interruption was provisioned anew after it\n",
			r->n_sessions);
	if (out->data[out->len - 2] != '\n')
		stb_buf_addc(out, '\n');
}

/* By labels, escaped. */
static const char *pair_text(struct stb_table *t, const struct stb_plan *p, const struct stb_claim_pair *pair)
{
	const char *text;
	struct stb_buf b;

	stb_buf_init(&b);
	stb_claim_pair_print(&b, p, pair);
	text = escaped(&t->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static void print_claims(const struct stb_results *r, struct stb_buf *out)
{
	static const char *const head[] = { "claim", "expected", "worst", "where", "verdict" };
	const struct stb_plan *p = r->plan;
	struct stb_table t;

	if (!p->n_claims)
		return;
	stb_buf_adds(out, "## Claims\n\n");
	stb_table_init(&t, STB_LEN(head), STB_LEN(head));
	stb_table_row(&t);
	for (uint32_t i = 0; i < STB_LEN(head); i++)
		stb_table_set(&t, i, head[i]);
	for (uint32_t i = 0; i < p->n_claims; i++) {
		const struct stb_plan_claim *c = &p->claims[i];
		struct stb_claim_result res;
		struct stb_buf b;

		stb_claim_check(r, i, &res);
		stb_table_row(&t);
		stb_table_set(&t, 0, escaped(&t.arena, c->label ? c->label : c->name));
		stb_buf_init(&b);
		stb_buf_addc(&b, '`');
		stb_claim_expected(&b, c);
		stb_buf_addc(&b, '`');
		if (c->confidence.type != STB_V_NONE)
			stb_buf_printf(&b, " with confidence %s", stb_val_text(&t.arena, &c->confidence));
		stb_table_set(&t, 1, stb_buf_str(&b));
		stb_buf_clear(&b);
		stb_claim_worst(&b, c, &res);
		stb_table_set(&t, 2, stb_buf_str(&b));
		stb_table_set(&t, 3, pair_text(&t, p, res.pair.cell == STB_NONE ? &res.missing : &res.pair));
		stb_buf_clear(&b);
		stb_buf_printf(&b, res.verdict == STB_CLAIM_FAILS ? "**%s**" : "%s", stb_verdict_text(res.verdict));
		if (*res.reason)
			stb_buf_printf(&b, " [%u]", stb_table_note(&t, stb_arena_printf(&t.arena, "%s%s%s",
				pair_text(&t, p, &res.missing), res.missing.cell == STB_NONE ? "" : ": ", escaped(&t.arena, res.reason))));
		stb_table_set(&t, 4, stb_buf_str(&b));
		stb_buf_fini(&b);
	}
	stb_table_print(&t, out);
	stb_table_fini(&t);
}

static bool selects_matrix(const struct stb_results *r, uint32_t matrix)
{
	const struct stb_plan_matrix *m = &r->plan->matrices[matrix];

	for (uint32_t c = m->first_cell; c < m->first_cell + m->n_cells; c++) {
		if (stb_results_selected(r, c))
			return true;
	}
	return !m->n_cells;
}

void stb_report_markdown(const struct stb_results *r, struct stb_buf *out)
{
	const struct stb_plan *p = r->plan;

	print_head(r, out);
	for (uint32_t i = 0; i < p->n_reports; i++) {
		const struct stb_plan_report *rep = &p->reports[i];

		if (stb_results_has_matrix(r, rep->matrix)) {
			print_report(r, i, out);
			continue;
		}
		stb_buf_adds(out, "Report ");
		stb_md_text(out, rep->label ? rep->label : rep->name);
		stb_buf_adds(out, selects_matrix(r, rep->matrix) ? " is left out: the results have no rows of matrix " :
								   " is left out: --only selected no cell of matrix ");
		stb_md_text(out, p->matrices[rep->matrix].name);
		stb_buf_adds(out, ".\n\n");
	}
	print_claims(r, out);
	stb_report_facts(r, out);
	while (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n')
		out->data[--out->len] = '\0';
}
