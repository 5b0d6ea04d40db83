/*
 * sheet.c - which cells fall into a field, and what the field says.
 *
 * A field holds one cell, or several where axes are folded. Its relative views are made of pairs (cell, baseline): each cell that is no
 * baseline itself against each of its baselines.
 *
 *   one pair          the view's formula; where it has no result: n/a and the reason
 *   several           the geometric mean of v/b over the pairs that have both, put through the formula, with the number missing
 *   only baselines    `-`
 *
 * A summary is the same over all cells of a column, however many there are, so that a column of two rows and its summary agree.
 */
#include "runtime/report/sheet.h"

#include "runtime/result/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct stb_val *stb_map_get(const struct stb_val *map, const char *key)
{
	if (map->type != STB_V_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->n_items; i++) {
		if (!strcmp(map->keys[i], key))
			return &map->items[i];
	}
	return NULL;
}

static void metric_of(const char *name, struct stb_metric *m)
{
	if (!stb_metric_find(name, m))
		*m = (struct stb_metric){ .unit = "", .direction = STB_NO_DIRECTION, .default_unit = "", .heading = name };
}

const char *stb_sheet_unit(const struct stb_sheet *s, const char *metric, enum stb_view view)
{
	const struct stb_val *v = stb_map_get(&s->report->units, metric);
	struct stb_metric m;
	double unused;

	switch (view) {
	case STB_VIEW_PERCENT:
	case STB_VIEW_CHANGE:
	case STB_VIEW_IMPROVEMENT:
	case STB_VIEW_RANGE:
	case STB_VIEW_CI:
		return "%";
	case STB_VIEW_RATIO:
		return "x";
	case STB_VIEW_N:
		return "";
	case STB_VIEW_VALUE:
		break;
	}
	metric_of(metric, &m);
	if (v && v->str && stb_metric_convert(0, m.unit, v->str, &unused))
		return v->str;
	return stb_metric_convert(0, m.unit, m.default_unit, &unused) ? m.default_unit : m.unit;
}

bool stb_sheet_states_decimals(const struct stb_sheet *s, const char *metric)
{
	return stb_map_get(&s->report->decimals, metric) || stb_map_get(&s->report->decimals, stb_view_name(STB_VIEW_VALUE));
}

int stb_sheet_decimals(const struct stb_sheet *s, const char *metric, enum stb_view view)
{
	const struct stb_val *v = NULL;
	struct stb_metric m;

	if (view == STB_VIEW_N)
		return 0;
	if (view == STB_VIEW_VALUE)
		v = stb_map_get(&s->report->decimals, metric);
	if (!v)
		v = stb_map_get(&s->report->decimals, stb_view_name(view));
	if (v && v->num >= 0 && v->den == 1)
		return (int)STB_MIN(v->num, 15);
	metric_of(metric, &m);
	return view == STB_VIEW_VALUE ? m.default_decimals : 2;
}

static void push(struct stb_arena *a, struct stb_cells *c, uint32_t cell)
{
	STB_ARENA_GROW(a, c->cell, c->n, c->cap);
	c->cell[c->n++] = cell;
}

void stb_sheet_init(struct stb_sheet *s, const struct stb_results *r, uint32_t report)
{
	const struct stb_plan *p = r->plan;

	memset(s, 0, sizeof(*s));
	stb_arena_init(&s->arena);
	s->r = r;
	s->report = &p->reports[report];
	s->matrix = &p->matrices[s->report->matrix];
	s->n_least = UINT32_MAX;
	for (uint32_t i = 0; i < s->report->n_views; i++)
		s->shows_value |= s->report->views[i] == STB_VIEW_VALUE;
	for (uint32_t c = s->matrix->first_cell; c < s->matrix->first_cell + s->matrix->n_cells; c++) {
		if (!stb_selector_match(&s->report->where, p->cells[c].point))
			continue;
		STB_ARENA_GROW(&s->arena, s->cells, s->n_cells, s->cap_cells);
		s->cells[s->n_cells++] = c;
		for (uint32_t i = 0; i < s->report->n_metrics; i++) {
			struct stb_figure f;

			stb_figure_get(r, c, s->report->metrics[i], s->report->aggregate, &f);
			if (f.state != STB_FIGURE_OK)
				continue;
			s->n_least = STB_MIN(s->n_least, f.n);
			s->n_most = STB_MAX(s->n_most, f.n);
		}
	}
	if (!s->n_most)
		s->n_least = 0;
}

void stb_sheet_fini(struct stb_sheet *s)
{
	stb_arena_fini(&s->arena);
}

static bool has_value(const struct stb_sheet *s, uint32_t axis, uint32_t value)
{
	for (uint32_t i = 0; i < s->n_cells; i++) {
		if (s->r->plan->cells[s->cells[i]].point[axis] == value)
			return true;
	}
	return false;
}

uint32_t *stb_sheet_values(struct stb_sheet *s, uint32_t axis, uint32_t *n)
{
	struct stb_cells out = { 0 };

	if (axis == STB_NONE) {
		push(&s->arena, &out, STB_ANY);
		*n = 1;
		return out.cell;
	}
	for (uint32_t v = 0; v < s->matrix->axes[axis].n_values; v++) {
		if (has_value(s, axis, v))
			push(&s->arena, &out, v);
	}
	if (has_value(s, axis, STB_NONE))
		push(&s->arena, &out, STB_NONE);
	*n = out.n;
	return out.cell;
}

static bool on(const struct stb_sheet *s, uint32_t cell, uint32_t axis, uint32_t value)
{
	return axis == STB_NONE || value == STB_ANY || s->r->plan->cells[cell].point[axis] == value;
}

struct stb_cells stb_sheet_cells(struct stb_sheet *s, uint32_t split, uint32_t row, uint32_t column)
{
	struct stb_cells out = { .split = split, .row = row, .column = column };

	for (uint32_t i = 0; i < s->n_cells; i++) {
		if (on(s, s->cells[i], s->report->split, split) && on(s, s->cells[i], s->report->rows, row) &&
			on(s, s->cells[i], s->report->columns, column))
			push(&s->arena, &out, s->cells[i]);
	}
	return out;
}

static bool allows(const struct stb_selector_term *t, uint32_t value)
{
	if (value == STB_ANY)
		return true;
	for (uint32_t i = 0; i < t->n_values; i++) {
		if (t->values[i] == value)
			return true;
	}
	return false;
}

/* Why the matrix has no cell at a point (STB_ANY: any value on that axis): the reason of the exclusion that covers it, or `otherwise`. */
static const char *why_no_cell(struct stb_sheet *s, const uint32_t *point, const char *otherwise)
{
	for (uint32_t i = 0; i < s->matrix->n_excludes; i++) {
		const struct stb_plan_exclude *e = &s->matrix->excludes[i];
		bool covers = true;

		for (uint32_t k = 0; k < e->where.n_terms; k++)
			covers &= allows(&e->where.terms[k], point[e->where.terms[k].axis]);
		if (covers)
			return stb_arena_printf(&s->arena, "excluded: %s", e->reason);
	}
	return otherwise;
}

/* The point of a field; axes that it does not fix take the one value that `where` leaves them. */
static uint32_t *field_point(struct stb_sheet *s, const struct stb_cells *cells)
{
	const struct stb_plan_report *r = s->report;
	uint32_t *point = STB_NEW_ARRAY(&s->arena, uint32_t, s->matrix->n_axes);

	for (uint32_t a = 0; a < s->matrix->n_axes; a++) {
		uint32_t n, *v;

		if (a == r->split || a == r->rows || a == r->columns)
			continue;
		v = stb_sheet_values(s, a, &n);
		point[a] = n == 1 ? v[0] : STB_ANY;
	}
	if (r->split != STB_NONE)
		point[r->split] = cells->split;
	if (r->rows != STB_NONE)
		point[r->rows] = cells->row;
	if (r->columns != STB_NONE)
		point[r->columns] = cells->column;
	return point;
}

/* The point of a cell's baseline. */
static uint32_t *baseline_point(struct stb_sheet *s, uint32_t cell)
{
	const struct stb_selector *b = &s->report->baseline;
	uint32_t *point = STB_NEW_ARRAY(&s->arena, uint32_t, s->matrix->n_axes);

	for (uint32_t a = 0; a < s->matrix->n_axes; a++)
		point[a] = s->r->plan->cells[cell].point[a];
	for (uint32_t i = 0; i < b->n_terms; i++)
		point[b->terms[i].axis] = b->terms[i].n_values == 1 ? b->terms[i].values[0] : STB_ANY;
	return point;
}

static void figure(const struct stb_sheet *s, uint32_t cell, const char *metric, struct stb_figure *f)
{
	stb_figure_get(s->r, cell, metric, s->report->aggregate, f);
}

static bool is_own(const struct stb_sheet *s, uint32_t cell)
{
	return s->report->has_baseline && stb_selector_match(&s->report->baseline, s->r->plan->cells[cell].point);
}

static uint32_t *baselines(struct stb_sheet *s, uint32_t cell, uint32_t *n)
{
	*n = 0;
	return s->report->has_baseline ? stb_baselines(s->r->plan, cell, &s->report->baseline, &s->arena, n) : NULL;
}

static void see_end(struct stb_sheet *s, uint32_t cell, const char *metric, bool *size, bool *time)
{
	struct stb_figure f;

	figure(s, cell, metric, &f);
	*size |= f.ended_by_size;
	*time |= f.ended_by_time;
}

void stb_sheet_begin_table(struct stb_sheet *s, const struct stb_cells *cells, const char *const *metrics, uint32_t n_metrics)
{
	bool size = false, time = false;

	for (uint32_t i = 0; i < cells->n; i++) {
		for (uint32_t m = 0; m < n_metrics; m++)
			see_end(s, cells->cell[i], metrics[m], &size, &time);
	}
	s->mixed_end = size && time;
}

STB_PRINTF(3, 4) static void note(struct stb_sheet *s, struct stb_field *out, const char *fmt, ...)
{
	va_list ap, again;
	char *text;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	text = stb_arena_alloc(&s->arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	va_end(ap);
	for (uint32_t i = 0; i < out->n_notes; i++) {
		if (!strcmp(out->notes[i], text))
			return;
	}
	if (out->n_notes < STB_FIELD_NOTES)
		out->notes[out->n_notes++] = text;
}

/* Why a figure cannot stand in a relative view; NULL: it can. whose is "" for the cell itself. */
static const char *unusable(struct stb_sheet *s, uint32_t cell, const struct stb_figure *f, const char *metric, const char *whose)
{
	const char *why = stb_figure_trouble(&s->arena, s->r, cell, metric, f);

	return why && *whose ? stb_arena_printf(&s->arena, "%s%s", whose, why) : why;
}

static void note_missing(struct stb_sheet *s, const struct stb_figure *f, const char *whose, struct stb_field *out)
{
	const char *text = stb_figure_missing(&s->arena, s->r, f);

	if (text)
		note(s, out, "%s%s", whose, text);
}

/* What a reader must know about a figure that stands there. */
static void note_figure(struct stb_sheet *s, uint32_t cell, const struct stb_figure *f, const char *whose, struct stb_field *out)
{
	if (f->n_invalid)
		note(s, out, "%s%u of %u repetitions left out as not trustworthy (%s)", whose, f->n_invalid, f->n + f->n_invalid,
			stb_figure_invalid(&s->arena, f));
	note_missing(s, f, whose, out);
	if (!f->n_invalid && f->n >= f->asked && f->n != s->n_most && s->n_most)
		note(s, out, "%sn = %u, where others have %u", whose, f->n, s->n_most);
	if (f->n_taken)
		note(s, out, "%s%u of %u repetitions taken over from %s", whose, f->n_taken, f->known, f->origin);
	if (stb_figure_steady(&s->arena, s->r, cell, f))
		note(s, out, "%s%s", whose, stb_figure_steady(&s->arena, s->r, cell, f));
	if (stb_figure_apart(&s->arena, s->r, cell))
		note(s, out, "%s%s", whose, stb_figure_apart(&s->arena, s->r, cell));
	out->median |= f->median;
}

/* The least and greatest repetition in the report's unit, with digits for the least. */
static void note_spread(struct stb_sheet *s, const struct stb_figure *f, const char *metric, const char *whose, struct stb_field *out)
{
	const char *unit = stb_sheet_unit(s, metric, STB_VIEW_VALUE);
	int decimals = stb_sheet_decimals(s, metric, STB_VIEW_VALUE);
	double least = f->least, most = f->most;
	struct stb_metric m;
	struct stb_buf b;

	if (!stb_figure_spreads(f))
		return;
	metric_of(metric, &m);
	stb_metric_convert(f->least, m.unit, unit, &least);
	stb_metric_convert(f->most, m.unit, unit, &most);
	while (!stb_sheet_states_decimals(s, metric) && decimals < 6 && least > 0 && least * pow(10, decimals) < 9.5)
		decimals++;
	stb_buf_init(&b);
	stb_buf_printf(&b, "%s%u repetitions from ", whose, f->n_spread);
	stb_number_fixed(&b, least, decimals);
	stb_buf_adds(&b, " to ");
	stb_number_fixed(&b, most, decimals);
	if (*unit)
		stb_buf_printf(&b, strcmp(unit, "1/s") ? " %s" : "/s", unit);
	note(s, out, "%s", stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void eval_value(struct stb_sheet *s, uint32_t cell, const char *metric, struct stb_field *out)
{
	struct stb_metric m;
	struct stb_figure f;

	figure(s, cell, metric, &f);
	metric_of(metric, &m);
	switch (f.state) {
	case STB_FIGURE_NONE:
	case STB_FIGURE_FEW:
		out->kind = STB_FIELD_NA;
		note(s, out, "%s", unusable(s, cell, &f, metric, ""));
		return;
	case STB_FIGURE_INVALID:
		out->invalid = true;
		note(s, out, "not trustworthy (%s): kept out of every relative figure", stb_figure_invalid(&s->arena, &f));
		note_missing(s, &f, "", out);
		break;
	case STB_FIGURE_OK:
		note_figure(s, cell, &f, "", out);
		note_spread(s, &f, metric, "", out);
		if (s->mixed_end && f.ended_by_size)
			note(s, out, "ended when its size was done, others in this table when their time was over");
		break;
	}
	out->kind = STB_FIELD_NUMBER;
	out->a = f.value;
	stb_metric_convert(f.value, m.unit, stb_sheet_unit(s, metric, STB_VIEW_VALUE), &out->a);
}

static void eval_n(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, struct stb_field *out)
{
	for (uint32_t i = 0; i < cells->n; i++) {
		struct stb_figure f;

		figure(s, cells->cell[i], metric, &f);
		out->a = i ? STB_MIN(out->a, f.n) : f.n;
		out->b = i ? STB_MAX(out->b, f.n) : f.n;
	}
	out->kind = out->a < out->b ? STB_FIELD_RANGE : STB_FIELD_NUMBER;
}

/* Pairs of a field or a summary, added up. */
struct pairs {
	uint32_t used, missing, own;
	const char *why;      /* of the first that is missing */
	long double log_sum;
	bool zero;            /* a figure of 0: so is the geometric mean */
	double v, b;          /* of the last used */
	uint32_t cell, base;  /* likewise */
	double least, most;   /* percent */
};

/* alone: the field has no other pair. */
static void add_pair(struct stb_sheet *s, uint32_t cell, uint32_t base, const char *metric, bool alone, struct pairs *sum,
	struct stb_field *out)
{
	struct stb_figure v, b;
	double percent;
	const char *why;

	figure(s, cell, metric, &v);
	figure(s, base, metric, &b);
	why = unusable(s, cell, &v, metric, "");
	if (!why)
		why = unusable(s, base, &b, metric, "baseline: ");
	if (!why)
		why = stb_relative(STB_VIEW_PERCENT, STB_NO_DIRECTION, v.value, b.value, &percent);
	if (why) {
		sum->missing++;
		sum->why = sum->why ? sum->why : why;
		return;
	}
	note_figure(s, cell, &v, "", out);
	note_figure(s, base, &b, "baseline: ", out);
	if (!s->shows_value && alone) {
		note_spread(s, &v, metric, "", out);
		note_spread(s, &b, metric, "baseline: ", out);
	}
	if (v.ended_by_size != b.ended_by_size)
		note(s, out, v.ended_by_size ? "ended when its size was done, the baseline when its time was over" :
					       "ended when its time was over, the baseline when its size was done");
	sum->least = sum->used ? STB_MIN(sum->least, percent) : percent;
	sum->most = sum->used ? STB_MAX(sum->most, percent) : percent;
	sum->used++;
	sum->cell = cell;
	sum->base = base;
	sum->v = v.value;
	sum->b = b.value;
	sum->zero |= v.value == 0;
	if (v.value > 0)
		sum->log_sum += logl((long double)v.value) - logl((long double)b.value);
}

static void add_cells(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, struct pairs *sum, struct stb_field *out)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < cells->n; i++) {
		uint32_t n, *base;

		if (is_own(s, cells->cell[i])) {
			sum->own++;
			continue;
		}
		base = baselines(s, cells->cell[i], &n);
		for (uint32_t k = 0; k < n; k++)
			add_pair(s, cells->cell[i], base[k], metric, cells->n == 1 && n == 1, sum, out);
		if (!n) {
			sum->missing++;
			if (!sum->why)
				sum->why = why_no_cell(s, baseline_point(s, cells->cell[i]), "the matrix has no baseline for it");
		}
	}
}

/* The geometric mean of the pairs through the view's formula. */
static const char *mean_of(const struct pairs *sum, enum stb_view view, enum stb_direction dir, double *out)
{
	if (sum->used == 1)
		return stb_relative(view, dir, sum->v, sum->b, out);
	return stb_relative_of(view, dir, sum->zero ? 0 : (double)expl(sum->log_sum / sum->used), out);
}

static void not_there(struct stb_sheet *s, struct stb_field *out, const char *why)
{
	out->kind = STB_FIELD_NA;
	out->n_notes = 0;
	note(s, out, "%s", why);
}

/* The interval of a field's one pair. Of several there is none: they share baselines, so that they do not vary by themselves. */
static const char *eval_ci(struct stb_sheet *s, const struct pairs *sum, const char *metric, struct stb_field *out)
{
	struct stb_interval ci;
	const char *why;

	if (sum->used + sum->missing > 1)
		return stb_arena_printf(&s->arena, "%u pairs of cell and baseline: an interval is of one", sum->used + sum->missing);
	why = stb_interval_get(s->r, sum->cell, sum->base, metric, 0.95, &ci);
	if (why && ci.n < 3)
		return stb_arena_printf(&s->arena, "no claim (n = %u): an interval needs three repetitions or slots of cell and baseline", ci.n);
	if (why)
		return why;
	out->a = ci.low * 100;
	out->b = ci.high * 100;
	out->kind = STB_FIELD_RANGE;
	return NULL;
}

static void eval_relative(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, enum stb_view view, struct stb_field *out)
{
	struct stb_metric m;
	struct pairs sum;
	const char *why = NULL;

	metric_of(metric, &m);
	if (!s->report->has_baseline) {
		not_there(s, out, "the report has no baseline");
		return;
	}
	add_cells(s, cells, metric, &sum, out);
	if (!sum.used && !sum.missing) {
		out->kind = STB_FIELD_OWN;
		return;
	}
	if (!sum.used) {
		not_there(s, out, sum.why);
		return;
	}
	out->kind = STB_FIELD_NUMBER;
	if (view == STB_VIEW_CI) {
		why = eval_ci(s, &sum, metric, out);
	} else if (view == STB_VIEW_RANGE) {
		out->a = sum.least;
		out->b = sum.most;
		out->kind = sum.least < sum.most ? STB_FIELD_RANGE : STB_FIELD_NUMBER;
	} else {
		why = mean_of(&sum, view, m.direction, &out->a);
	}
	if (why)
		not_there(s, out, why);
	else if (sum.missing)
		note(s, out, "over %u of %u: %u missing (%s)", sum.used, sum.used + sum.missing, sum.missing, sum.why);
}

void stb_field_eval(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, enum stb_view view, struct stb_field *out)
{
	memset(out, 0, sizeof(*out));
	if (!cells->n) {
		not_there(s, out, why_no_cell(s, field_point(s, cells), "not in the matrix, or not selected"));
	} else if (view == STB_VIEW_N) {
		eval_n(s, cells, metric, out);
	} else if (view != STB_VIEW_VALUE) {
		eval_relative(s, cells, metric, view, out);
	} else if (cells->n > 1) {
		not_there(s, out, stb_arena_printf(&s->arena, "%u cells fall into this field", cells->n));
	} else {
		eval_value(s, cells->cell[0], metric, out);
	}
}

void stb_summary_eval(struct stb_sheet *s, const struct stb_cells *cells, const char *metric, enum stb_view view, struct stb_field *out)
{
	struct stb_metric m;
	struct pairs sum;
	const char *why;

	memset(out, 0, sizeof(*out));
	if (!stb_view_is_relative(view) || view == STB_VIEW_RANGE || view == STB_VIEW_CI || !s->report->has_baseline)
		return;
	metric_of(metric, &m);
	add_cells(s, cells, metric, &sum, out);
	out->n_notes = 0; /* they stand at the figures themselves */
	if (!sum.used && !sum.missing) {
		out->kind = STB_FIELD_OWN;
		return;
	}
	why = sum.used ? mean_of(&sum, view, m.direction, &out->a) : sum.why;
	if (why) {
		not_there(s, out, why);
		return;
	}
	out->kind = STB_FIELD_NUMBER;
	if (sum.missing)
		note(s, out, "over %u common cell%s, %u cell%s missing", sum.used, sum.used == 1 ? "" : "s", sum.missing,
			sum.missing == 1 ? "" : "s");
}
