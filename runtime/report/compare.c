/*
 * compare.c - see compare.h.
 *
 * A change is told for better or worse when its 95% interval (interval.c: on logarithms, over repetitions, or over slots where there are three)
 * does not hold "no change". Overlapping spreads say nothing, and neither does a single repetition: under three on either side there is no
 * claim. The figures themselves are those of the reports, so percentiles come from merged histograms and what is not trustworthy is left out.
 *
 * The mean over cells is geometric, over the cells that have a figure on both sides and over no other: what is missing is counted, never filled.
 */
#include "runtime/report/compare.h"
#include "runtime/report/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const io_metrics[] = { "iops", "bw_bytes", "lat_mean", "lat_p95", "lat_p99" };
static const char *const oltp_metrics[] = { "tps", "lat_mean", "lat_p95", "lat_p99" };

const char *stb_shift_text(enum stb_shift s)
{
	switch (s) {
	case STB_SHIFT_BETTER:
		return "better";
	case STB_SHIFT_WORSE:
		return "worse";
	case STB_SHIFT_OTHER:
		return "changed";
	case STB_SHIFT_NONE:
		return "no difference";
	case STB_SHIFT_NO_CLAIM:
		return "no claim";
	case STB_SHIFT_NA:
		return "n/a";
	case STB_N_SHIFTS:
		break;
	}
	STB_BUG("unknown shift");
}

/* --- which cells belong together --- */

struct cell_id {
	const char *id;
	uint32_t cell;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct cell_id *)a)->id, ((const struct cell_id *)b)->id);
}

static bool takes_part(const struct stb_results *r, uint32_t cell)
{
	return r->plan->cells[cell].same_as == cell && stb_results_selected(r, cell);
}

/* The cells of a run that it was to measure, sorted by id. */
static struct cell_id *ids_of(struct stb_comparison *c, const struct stb_results *r, uint32_t *n)
{
	struct cell_id *ids = STB_NEW_ARRAY(&c->arena, struct cell_id, (size_t)r->plan->n_cells + 1);

	*n = 0;
	for (uint32_t i = 0; i < r->plan->n_cells; i++)
		if (takes_part(r, i))
			ids[(*n)++] = (struct cell_id){ r->plan->cells[i].id, i };
	qsort(ids, *n, sizeof *ids, by_id);
	return ids;
}

static uint32_t counterpart(const struct cell_id *ids, uint32_t n, const char *id)
{
	const struct cell_id key = { id, 0 }, *found = n ? bsearch(&key, ids, n, sizeof *ids, by_id) : NULL;

	return found ? found->cell : STB_NONE;
}

/* --- one cell and metric --- */

static void judge(struct stb_comparison *c, struct stb_compare_row *row)
{
	struct stb_interval ci;
	const char *why = stb_interval_between(c->new_results, row->new_cell, c->old_results, row->old_cell, row->metric,
		STB_COMPARE_CONFIDENCE, &ci);

	if (why) {
		row->shift = STB_SHIFT_NO_CLAIM;
		row->why = ci.n < 3 ? stb_arena_printf(&c->arena, "n = %u", ci.n) : why;
		return;
	}
	row->has_interval = true;
	row->low = (ci.low - 1) * 100;
	row->high = (ci.high - 1) * 100;
	if (ci.low <= 1 && ci.high >= 1)
		row->shift = STB_SHIFT_NONE;
	else if (row->direction == STB_NO_DIRECTION)
		row->shift = STB_SHIFT_OTHER;
	else
		row->shift = (ci.low > 1) == (row->direction == STB_HIGHER_IS_BETTER) ? STB_SHIFT_BETTER : STB_SHIFT_WORSE;
}

static void compare_figures(struct stb_comparison *c, struct stb_compare_row *row, const struct stb_figure *was, const struct stb_figure *is)
{
	const char *why = stb_figure_trouble(&c->arena, c->old_results, row->old_cell, row->metric, was), *side = "old run";

	row->has_old = !why;
	row->old_value = was->value;
	row->n_old = was->n;
	if (!why) {
		why = stb_figure_trouble(&c->arena, c->new_results, row->new_cell, row->metric, is);
		side = "new run";
		row->lost = why != NULL;
	}
	row->has_new = is->state == STB_FIGURE_OK;
	row->new_value = is->value;
	row->n_new = is->n;
	row->shift = STB_SHIFT_NA;
	if (why) {
		row->why = stb_arena_printf(&c->arena, "%s: %s", side, why);
	} else if (was->value == 0) {
		row->why = is->value == 0 ? "both are 0" : "the old figure is 0";
	} else {
		row->has_change = true;
		row->change = (is->value - was->value) / was->value * 100;
		judge(c, row);
	}
}

static void compare_metric(struct stb_comparison *c, uint32_t old_cell, uint32_t new_cell, const char *metric)
{
	struct stb_compare_row row = { .old_cell = old_cell, .new_cell = new_cell, .metric = metric };
	struct stb_figure was, is;
	struct stb_metric m;

	if (!stb_metric_find(metric, &m))
		return;
	stb_figure_get(c->old_results, old_cell, metric, STB_AGG_MEAN, &was);
	stb_figure_get(c->new_results, new_cell, metric, STB_AGG_MEAN, &is);
	/* a metric that this workload does not have */
	if (was.state == STB_FIGURE_NONE && is.state == STB_FIGURE_NONE && (was.known || is.known))
		return;
	row.unit = stb_arena_strdup(&c->arena, m.unit);
	row.direction = m.direction;
	compare_figures(c, &row, &was, &is);
	STB_ARENA_GROW(&c->arena, c->rows, c->n_rows, c->cap_rows);
	c->rows[c->n_rows++] = row;
	c->count[row.shift]++;
}

/* --- which metrics --- */

struct names {
	const char **name;
	uint32_t n, cap;
};

static void add_name(struct stb_comparison *c, struct names *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return;
	STB_ARENA_GROW(&c->arena, l->name, l->n, l->cap);
	l->name[l->n++] = name;
}

/* Where no report says what is of interest. owner: what stands in front in a mix. */
static void add_usual(struct stb_comparison *c, const struct stb_plan_block *w, const char *owner, struct names *out)
{
	const bool is_io = !strcmp(w->type, "io");
	const char *const *usual = is_io ? io_metrics : oltp_metrics;

	for (size_t i = 0; i < (is_io ? STB_LEN(io_metrics) : STB_LEN(oltp_metrics)); i++)
		add_name(c, out, stb_arena_printf(&c->arena, "%s%s", owner, usual[i]));
}

static void names_of_matrix(struct stb_comparison *c, const struct stb_plan *p, uint32_t cell, struct names *out)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);

	for (uint32_t i = 0; i < p->n_reports; i++)
		for (uint32_t k = 0; p->reports[i].matrix == p->cells[cell].matrix && k < p->reports[i].n_metrics; k++)
			add_name(c, out, p->reports[i].metrics[k]);
	if (out->n)
		return;
	if (!mix->n)
		add_usual(c, &p->blocks[p->cells[cell].workload], "", out);
	for (uint32_t i = 0; i < mix->n; i++)
		add_usual(c, &p->blocks[mix->members[i]], stb_arena_printf(&c->arena, "%s.", p->blocks[mix->members[i]].name), out);
}

/* --- means --- */

static void add_mean(struct stb_comparison *c, const char *metric)
{
	struct stb_compare_mean mean = { .metric = metric };
	double sum = 0;

	for (size_t i = 0; i < c->n_means; i++)
		if (!strcmp(c->means[i].metric, metric))
			return;
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct stb_compare_row *r = &c->rows[i];

		if (strcmp(r->metric, metric))
			continue;
		if (r->has_change && r->new_value > 0 && r->old_value > 0) {
			sum += log(r->new_value / r->old_value);
			mean.n++;
		} else {
			mean.missing++;
		}
	}
	mean.change = mean.n ? expm1(sum / mean.n) * 100 : 0;
	STB_ARENA_GROW(&c->arena, c->means, c->n_means, c->cap_means);
	c->means[c->n_means++] = mean;
}

void stb_compare(struct stb_comparison *c, const struct stb_results *old_results, const struct stb_results *new_results,
	const char *const *metrics, uint32_t n_metrics)
{
	struct cell_id *old_ids, *new_ids;
	uint32_t n_old, n_new;

	memset(c, 0, sizeof *c);
	stb_arena_init(&c->arena);
	c->old_results = old_results;
	c->new_results = new_results;
	old_ids = ids_of(c, old_results, &n_old);
	new_ids = ids_of(c, new_results, &n_new);
	for (uint32_t i = 0; i < new_results->plan->n_cells; i++) {
		struct names names = { (const char **)metrics, n_metrics, n_metrics };
		uint32_t other;

		if (!takes_part(new_results, i))
			continue;
		other = counterpart(old_ids, n_old, new_results->plan->cells[i].id);
		if (other == STB_NONE) {
			STB_ARENA_GROW(&c->arena, c->only_new, c->n_only_new, c->cap_only_new);
			c->only_new[c->n_only_new++] = i;
			continue;
		}
		if (!metrics)
			names_of_matrix(c, new_results->plan, i, &names);
		for (uint32_t k = 0; k < names.n; k++)
			compare_metric(c, other, i, names.name[k]);
	}
	for (uint32_t i = 0; i < old_results->plan->n_cells; i++) {
		if (!takes_part(old_results, i) || counterpart(new_ids, n_new, old_results->plan->cells[i].id) != STB_NONE)
			continue;
		STB_ARENA_GROW(&c->arena, c->only_old, c->n_only_old, c->cap_only_old);
		c->only_old[c->n_only_old++] = i;
	}
	for (size_t i = 0; i < c->n_rows; i++)
		add_mean(c, c->rows[i].metric);
}

void stb_comparison_fini(struct stb_comparison *c)
{
	stb_arena_fini(&c->arena);
}

bool stb_compare_is_regression(const struct stb_compare_row *row, double threshold)
{
	return row->lost || (row->shift == STB_SHIFT_WORSE && fabs(row->change) > threshold);
}

size_t stb_compare_regressions(const struct stb_comparison *c, double threshold, size_t *judged)
{
	size_t n = 0;

	*judged = 0;
	for (size_t i = 0; i < c->n_rows; i++) {
		n += stb_compare_is_regression(&c->rows[i], threshold);
		*judged += c->rows[i].has_interval;
	}
	return n;
}
