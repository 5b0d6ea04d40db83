/*
 * figure.c - from rows to figures, and the arithmetic of comparing two of them (language.md section 9). No text but reasons.
 *
 * Repetitions that are not trustworthy are left out where others are there; a cell that has no other is invalid as a whole. What was not
 * measured has no row; a 0 is a figure like any other, also of a repetition that is not trustworthy.
 *
 * A latency percentile is taken from the merged histograms of its repetitions. If one of them has none, from the rows: their median, marked
 * where there is more than one. A mean of percentiles is never formed. Repetitions that are too short for a percentile each may be enough
 * together, so it is the repetitions' lat_mean rows, which each of them has, that lead to the histograms.
 */
#include "runtime/report/figure.h"
#include "runtime/result/number.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double aggregate(double *v, uint32_t n, enum stb_aggregate how)
{
	long double sum = 0;

	if (how == STB_AGG_MEDIAN) {
		qsort(v, n, sizeof(*v), by_value);
		return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
	}
	for (uint32_t i = 0; i < n; i++)
		sum += v[i];
	return (double)(sum / n);
}

static void note_row(struct stb_figure *f, const struct stb_result_row *row)
{
	if (!stb_status_valid(row->status)) {
		if (!f->n_invalid++)
			f->invalid = row->status;
		return;
	}
	f->n++;
	if (row->status == STB_STATUS_ENDED_BY_SIZE)
		f->ended_by_size = true;
	else
		f->ended_by_time = true;
}

/* Whether a row is one of those that the figure is made of. */
static bool counts(const struct stb_figure *f, const struct stb_result_row *row)
{
	return stb_status_valid(row->status) == (f->state == STB_FIGURE_OK);
}

static void from_rows(const struct stb_results *r, uint32_t cell, const char *metric, bool percentile, enum stb_aggregate how,
	struct stb_figure *f)
{
	const struct stb_result_row *first = stb_results_first(r, cell, metric), *row;
	uint32_t n = 0;
	double *v;

	memset(f, 0, sizeof(*f));
	for (row = first; row; row = stb_results_next(r, row))
		note_row(f, row);
	if (!f->n && !f->n_invalid)
		return;
	f->state = f->n ? STB_FIGURE_OK : STB_FIGURE_INVALID;
	v = stb_xcalloc(f->n ? f->n : f->n_invalid, sizeof(*v));
	for (row = first; row; row = stb_results_next(r, row)) {
		if (!counts(f, row))
			continue;
		f->least = n ? STB_MIN(f->least, row->value) : row->value;
		f->most = n ? STB_MAX(f->most, row->value) : row->value;
		v[n++] = row->value;
	}
	f->n_spread = n;
	f->median = percentile && n > 1;
	f->value = aggregate(v, n, percentile ? STB_AGG_MEDIAN : how);
	free(v);
}

/* "read.lat_p95": its histogram, and the name of the mean that stands beside it; false for what is no latency percentile. The caller frees *mean. */
static bool percentile_hist(const struct stb_plan *p, uint32_t cell, const char *metric, uint32_t *hist, struct stb_buf *mean)
{
	const char *end = strrchr(metric, '_');

	stb_buf_init(mean);
	if (!end || end[1] != 'p')
		return false;
	stb_buf_printf(mean, "%.*s_mean", (int)(end - metric), metric);
	return stb_hist_of(p, cell, stb_buf_str(mean), hist);
}

/* false: not every repetition has a histogram. */
static bool from_histograms(const struct stb_results *r, uint32_t cell, const char *metric, const struct stb_metric *m,
	struct stb_figure *f)
{
	struct stb_hist *h;
	struct stb_figure rows;
	bool complete = false, trusted;
	struct stb_buf mean;
	uint32_t hist;

	if (!percentile_hist(r->plan, cell, metric, &hist, &mean))
		goto out;
	from_rows(r, cell, metric, true, STB_AGG_MEDIAN, &rows);
	from_rows(r, cell, stb_buf_str(&mean), false, STB_AGG_MEAN, f);
	f->n_spread = rows.state == f->state ? rows.n_spread : 0;
	f->least = rows.least;
	f->most = rows.most;
	if (f->state == STB_FIGURE_NONE)
		goto out;
	complete = true;
	trusted = f->state == STB_FIGURE_OK;
	h = stb_xmalloc(sizeof(*h));
	stb_hist_init(h);
	for (const struct stb_result_row *row = stb_results_first(r, cell, stb_buf_str(&mean)); row && complete; row = stb_results_next(r, row)) {
		if (counts(f, row))
			complete = stb_results_merge_hist(r, cell, row->slot, row->repetition, hist, h);
	}
	if (complete) {
		f->value = (double)stb_hist_percentile(h, m->pct_num, m->pct_den) / 1e6;
		f->samples = h->count;
		f->needs = stb_percentile_needs(m->pct_num, m->pct_den);
		if (trusted && f->samples < f->needs && h->min != h->max)
			f->state = STB_FIGURE_FEW;
	}
	free(h);
out:
	stb_buf_fini(&mean);
	return complete;
}

static void note_steady(struct stb_figure *f, const struct stb_result_rep *rep)
{
	f->steady_least_s = f->n_steady ? STB_MIN(f->steady_least_s, rep->steady_after_s) : rep->steady_after_s;
	f->steady_most_s = STB_MAX(f->steady_most_s, rep->steady_after_s);
	f->steady_worst = STB_MAX(f->steady_worst, fabs(rep->steady_found));
	f->n_steady++;
}

/* What the plan asked for, what is known of beside this metric's rows, and the first reason. */
static void note_reps(const struct stb_results *r, uint32_t cell, struct stb_figure *f)
{
	const struct stb_plan_matrix *m = &r->plan->matrices[r->plan->cells[r->plan->cells[cell].same_as].matrix];
	const bool left_out = f->n_invalid;

	f->asked = (uint32_t)STB_MIN(stb_plan_slots(m) * m->repeat, (uint64_t)UINT32_MAX);
	for (const struct stb_result_rep *rep = stb_results_first_rep(r, cell); rep; rep = stb_results_next_rep(r, rep)) {
		f->known += rep->has_rows;
		f->n_taken += rep->origin && rep->has_rows;
		f->origin = f->origin ? f->origin : rep->origin;
		if (rep->steady_after_s > 0 && rep->has_rows && stb_status_valid(rep->status))
			note_steady(f, rep);
		/* of several statuses, the reason that goes with the one that is named */
		if (!f->why && (left_out ? rep->has_rows && rep->status == f->invalid : !rep->has_rows))
			f->why = rep->reason;
	}
}

void stb_figure_get(const struct stb_results *r, uint32_t cell, const char *metric, enum stb_aggregate how, struct stb_figure *out)
{
	struct stb_metric m;

	memset(out, 0, sizeof(*out));
	if (!stb_metric_find(metric, &m))
		return;
	if (!m.pct_num || !from_histograms(r, cell, metric, &m, out))
		from_rows(r, cell, metric, m.pct_num != 0, how, out);
	note_reps(r, cell, out);
}

const char *stb_figure_steady(struct stb_arena *a, const struct stb_results *r, uint32_t cell, const struct stb_figure *f)
{
	const struct stb_plan_block *w = stb_plan_steady(r->plan, cell);
	const struct stb_plan_attr *metric = w ? stb_plan_attr(w, "steady_state.metric") : NULL, *window = w ? stb_plan_attr(w, "steady_state.window") : NULL;
	const bool slope = w && stb_plan_attr(w, "steady_state.slope") != NULL;
	char after[64];

	if (!f->n_steady || !metric || !window || window->val.type != STB_V_TIME)
		return NULL;
	if (round(f->steady_least_s) < round(f->steady_most_s))
		snprintf(after, sizeof(after), "%.0f to %.0f s", f->steady_least_s, f->steady_most_s);
	else
		snprintf(after, sizeof(after), "%.0f s", f->steady_most_s);
	return stb_arena_printf(a, "measured once %s%s%s was steady: after %s, %s over %.0f s %s%.3g%%%s",
		stb_plan_mix_of(r->plan, cell)->n ? w->name : "", stb_plan_mix_of(r->plan, cell)->n ? "." : "", metric->val.str, after, slope ? "slope" : "deviation",
		stb_val_double(&window->val) / 1e9, f->n_steady > 1 ? "at most " : "", 100 * f->steady_worst, slope ? " a second" : "");
}

const char *stb_figure_apart(struct stb_arena *a, const struct stb_results *r, uint32_t cell)
{
	struct stb_figure overlap;

	if (!stb_plan_mix_of(r->plan, cell)->n)
		return NULL;
	stb_figure_get(r, cell, "overlap", STB_AGG_MEAN, &overlap);
	if (overlap.state != STB_FIGURE_OK || overlap.value >= STB_TOGETHER_PERCENT)
		return NULL;
	return stb_arena_printf(a, "all workloads of the mix ran for %.3g%% of its time only", overlap.value);
}

bool stb_figure_spreads(const struct stb_figure *f)
{
	return f->n_spread > 1 && f->most - f->least > f->value * STB_SPREAD_PERCENT / 100;
}

void stb_percentile_text(const struct stb_metric *m, struct stb_buf *out)
{
	stb_number_shortest(out, (double)m->pct_num * 100 / (double)m->pct_den);
}

const char *stb_status_reason(enum stb_status s)
{
	switch (s) {
	case STB_STATUS_OK:
	case STB_STATUS_ENDED_BY_SIZE:
		return "";
	case STB_STATUS_EARLY:
		return "stopped early";
	case STB_STATUS_ERRORS:
		return "failed, or errors over the limit";
	case STB_STATUS_RATE:
		return "rate not met";
	case STB_STATUS_NOT_STEADY:
		return "not steady";
	case STB_STATUS_STALLED:
		return "stalled";
	case STB_STATUS_DISTURBED:
		return "disturbed";
	case STB_STATUS_FALLBACK:
		return "ran with a fallback";
	}
	STB_BUG("unknown status");
}

/* A reason comes from a log: its first line, cut between two characters, without what steers a terminal. */
static const char *clipped(struct stb_arena *a, const char *reason)
{
	enum { MOST = 200 };
	size_t len = strcspn(reason, "\r\n");
	char *text;

	if (len > MOST) {
		for (len = MOST; len && ((unsigned char)reason[len] & 0xC0) == 0x80; len--)
			;
		text = stb_arena_printf(a, "%.*s...", (int)len, reason);
	} else {
		text = stb_arena_strndup(a, reason, len);
	}
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
	}
	return text;
}

const char *stb_figure_invalid(struct stb_arena *a, const struct stb_figure *f)
{
	if (!f->why)
		return stb_status_reason(f->invalid);
	/* the status of what failed says no more than its reason */
	if (f->invalid == STB_STATUS_ERRORS)
		return clipped(a, f->why);
	return stb_arena_printf(a, "%s: %s", stb_status_reason(f->invalid), clipped(a, f->why));
}

static const char *nothing(struct stb_arena *a, const struct stb_results *r, uint32_t cell, const struct stb_figure *f)
{
	if (f->why)
		return stb_arena_printf(a, "not measured: %s", clipped(a, f->why));
	if (!f->known && !stb_results_selected(r, cell))
		return "left out of this run (--only)";
	if (!f->known && r->running)
		return "not measured yet: the run is still going on";
	if (!f->known && r->stopped)
		return stb_arena_printf(a, "not measured: the run ended early (%s)", clipped(a, r->stopped));
	return "no result";
}

const char *stb_figure_trouble(struct stb_arena *a, const struct stb_results *r, uint32_t cell, const char *metric, const struct stb_figure *f)
{
	struct stb_metric m;
	struct stb_buf p;
	const char *text;

	switch (f->state) {
	case STB_FIGURE_OK:
		return NULL;
	case STB_FIGURE_NONE:
		return nothing(a, r, cell, f);
	case STB_FIGURE_INVALID:
		return stb_arena_printf(a, "not trustworthy (%s)", stb_figure_invalid(a, f));
	case STB_FIGURE_FEW:
		stb_buf_init(&p);
		if (stb_metric_find(metric, &m))
			stb_percentile_text(&m, &p);
		text = stb_arena_printf(a, "n too small: p%s needs %llu samples, there are %llu", stb_buf_str(&p),
			(unsigned long long)f->needs, (unsigned long long)f->samples);
		stb_buf_fini(&p);
		return text;
	}
	STB_BUG("unknown state");
}

const char *stb_figure_missing(struct stb_arena *a, const struct stb_results *r, const struct stb_figure *f)
{
	const uint32_t have = f->n + f->n_invalid;
	const char *why = NULL;

	if (have >= f->asked)
		return NULL;
	if (f->known > have)
		return stb_arena_printf(a, "%u of %u repetitions have this figure", have, f->asked);
	if (f->why && !f->n_invalid)
		why = clipped(a, f->why);
	else if (r->running)
		why = "the run is still going on";
	else if (r->stopped)
		why = stb_arena_printf(a, "the run ended early (%s)", clipped(a, r->stopped));
	return stb_arena_printf(a, "%u of %u measured%s%s", have, f->asked, why ? ": " : "", why ? why : "");
}

static bool names_axis(const struct stb_selector *s, uint32_t axis)
{
	for (uint32_t i = 0; i < s->n_terms; i++) {
		if (s->terms[i].axis == axis)
			return true;
	}
	return false;
}

static bool is_baseline_of(const struct stb_plan_matrix *m, const uint32_t *point, const uint32_t *other, const struct stb_selector *baseline)
{
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (point[i] != other[i] && !names_axis(baseline, i))
			return false;
	}
	return stb_selector_match(baseline, other);
}

uint32_t *stb_baselines(const struct stb_plan *p, uint32_t cell, const struct stb_selector *baseline, struct stb_arena *a, uint32_t *n)
{
	const struct stb_plan_matrix *m = &p->matrices[p->cells[cell].matrix];
	uint32_t *found = NULL, cap = 0;

	*n = 0;
	for (uint32_t c = m->first_cell; c < m->first_cell + m->n_cells; c++) {
		if (!is_baseline_of(m, p->cells[cell].point, p->cells[c].point, baseline))
			continue;
		STB_ARENA_GROW(a, found, *n, cap);
		found[(*n)++] = c;
	}
	return found;
}

static const char *needs_direction(enum stb_view view, enum stb_direction dir)
{
	if ((view == STB_VIEW_IMPROVEMENT || view == STB_VIEW_RATIO) && dir == STB_NO_DIRECTION)
		return "neither higher nor lower is better";
	return NULL;
}

const char *stb_relative(enum stb_view view, enum stb_direction dir, double v, double b, double *out)
{
	const bool lower = dir == STB_LOWER_IS_BETTER;
	const char *why = needs_direction(view, dir);
	double x = 0;

	if (why)
		return why;
	if (b == 0)
		return "the baseline is 0";
	switch (view) {
	case STB_VIEW_PERCENT:
	case STB_VIEW_RANGE:
	case STB_VIEW_CI:
		x = v / b * 100;
		break;
	case STB_VIEW_CHANGE:
		x = (v - b) / b * 100;
		break;
	case STB_VIEW_IMPROVEMENT:
		x = (lower ? b - v : v - b) / b * 100;
		break;
	case STB_VIEW_RATIO:
		if (lower && v == 0)
			return "the figure is 0";
		x = lower ? b / v : v / b;
		break;
	case STB_VIEW_VALUE:
	case STB_VIEW_N:
		STB_BUG("not a relative view");
	}
	if (!isfinite(x))
		return "the figures are too far apart";
	*out = x;
	return NULL;
}

const char *stb_relative_of(enum stb_view view, enum stb_direction dir, double g, double *out)
{
	return stb_relative(view, dir, g, 1, out);
}

bool stb_view_is_relative(enum stb_view view)
{
	switch (view) {
	case STB_VIEW_PERCENT:
	case STB_VIEW_CHANGE:
	case STB_VIEW_IMPROVEMENT:
	case STB_VIEW_RATIO:
	case STB_VIEW_RANGE:
	case STB_VIEW_CI:
		return true;
	case STB_VIEW_VALUE:
	case STB_VIEW_N:
		return false;
	}
	STB_BUG("unknown view");
}
