/*
 * result.c - the result model in memory: rows, histograms, and one index over both.
 *
 * The index is a hash table with open addressing. Its keys:
 *
 *   (cell, slot, repetition, metric)   one row; refuses duplicates
 *   (cell, 0,    0,          metric)   head and tail of the list of rows that a figure is made of (slots and repetitions start at 1)
 *   (cell, slot, repetition, hist)     one histogram
 *   (cell, slot, repetition, rep_key)  one repetition; (cell, 0, 0, rep_key) the list of a cell's repetitions
 *
 * Metric names are interned and histograms are addresses of constants, so keys compare by pointer. Cells are always the first of equal ones, so
 * what was measured once is found from every matrix that asks for it. Rejected: sorting the rows once they are all there; exec adds rows
 * one repetition at a time and looks at them in between.
 */
#include "runtime/result/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 4096 };

struct stb_results_entry {
	const void *what; /* interned metric name or &hist_key[hist]; NULL: free */
	uint32_t cell, slot, repetition;
	uint32_t row, tail;
	struct stb_result_hist *hist;
};

static const char hist_key[STB_N_HISTS] = { 0 };
static const char rep_key[1] = { 0 };

static const char *const status_text[] = {
#define STB_X(sym, text, valid, meaning) text,
	STB_STATUSES(STB_X)
#undef STB_X
};

static const bool status_valid[] = {
#define STB_X(sym, text, valid, meaning) valid,
	STB_STATUSES(STB_X)
#undef STB_X
};

const char *stb_status_text(enum stb_status s)
{
	return status_text[s];
}

bool stb_status_valid(enum stb_status s)
{
	return status_valid[s];
}

bool stb_status_find(const char *text, enum stb_status *out)
{
	for (size_t i = 0; i < STB_LEN(status_text); i++) {
		if (!strcmp(status_text[i], text)) {
			*out = (enum stb_status)i;
			return true;
		}
	}
	return false;
}

const char *stb_part_stem(enum stb_part part)
{
	static const char *const stems[STB_N_PARTS] = {
#define STB_X(sym, stem, suffix, dir) stem,
		STB_PARTS(STB_X)
#undef STB_X
	};

	return stems[part];
}

/* Notes the percentile of a metric that a report or claim asks for, whatever it is of: "read.lat_p9999" -> "p9999". */
static void want_percentile(struct stb_results *r, const char *metric)
{
	const char *base = strrchr(metric, '_');
	struct stb_metric m;

	if (!base++ || !stb_metric_find(metric, &m) || !m.pct_num)
		return;
	for (size_t i = 0; i < r->n_percentiles; i++) {
		if (!strcmp(r->percentiles[i], base))
			return;
	}
	STB_ARENA_GROW(&r->arena, r->percentiles, r->n_percentiles, r->cap_percentiles);
	r->percentiles[r->n_percentiles++] = base;
}

/* --- runs that are compared ------------------------------------------------------------------------------------------------------------ */

static const struct stb_plan_axis *run_axis(const struct stb_plan_matrix *m, uint32_t *index)
{
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!strcmp(m->axes[i].kind, "run")) {
			*index = i;
			return &m->axes[i];
		}
	}
	return NULL;
}

const char *stb_results_run_of(const struct stb_plan *p, uint32_t cell)
{
	const struct stb_plan_cell *c = &p->cells[cell];
	uint32_t at = 0;
	const struct stb_plan_axis *axis = run_axis(&p->matrices[c->matrix], &at);

	return axis && c->point[at] != STB_NONE ? axis->values[c->point[at]].key : NULL;
}

struct twin {
	uint32_t same_as, cell;
	const char *run; /* "" where its matrix compares none */
};

static int by_twin(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;
	const int run = strcmp(x->run, y->run);

	if (x->same_as != y->same_as)
		return x->same_as < y->same_as ? -1 : 1;
	return run ? run : (x->cell > y->cell) - (x->cell < y->cell);
}

/* Equal cells share what was measured, but not over runs. */
static void find_firsts(struct stb_results *r)
{
	const struct stb_plan *p = r->plan;
	struct twin *twins;
	bool any = false;
	uint32_t at;

	for (uint32_t i = 0; i < p->n_matrices; i++)
		any = any || run_axis(&p->matrices[i], &at);
	if (!any)
		return;
	r->first = STB_NEW_ARRAY(&r->arena, uint32_t, p->n_cells);
	twins = stb_xcalloc((size_t)p->n_cells + 1, sizeof(*twins));
	for (uint32_t c = 0; c < p->n_cells; c++) {
		const char *run = stb_results_run_of(p, c);

		twins[c] = (struct twin){ p->cells[c].same_as, c, run ? run : "" };
	}
	qsort(twins, p->n_cells, sizeof(*twins), by_twin);
	for (uint32_t i = 0, first = 0; i < p->n_cells; i++) {
		if (twins[i].same_as != twins[first].same_as || strcmp(twins[i].run, twins[first].run))
			first = i;
		r->first[twins[i].cell] = twins[first].cell;
	}
	free(twins);
}

int stb_results_reading(struct stb_results *r, const char *run, struct stb_err *err)
{
	const struct stb_plan *p = r->plan;
	uint32_t at;

	r->reading = run;
	if (!run || !*run)
		return 0;
	for (uint32_t i = 0; i < p->n_matrices; i++) {
		const struct stb_plan_axis *axis = run_axis(&p->matrices[i], &at);

		for (uint32_t k = 0; axis && k < axis->n_values; k++) {
			if (!strcmp(axis->values[k].key, run))
				return 0;
		}
	}
	stb_err_set(err, 0, "no matrix of the spec compares a run `%.60s`", run);
	stb_err_remedy(err, "name one that stands in `runs = [...]` of a matrix");
	return -1;
}

struct stb_results *stb_results_new(const struct stb_plan *plan)
{
	struct stb_results *r = stb_xcalloc(1, sizeof(*r));

	stb_arena_init(&r->arena);
	r->plan = plan;
	find_firsts(r);
	for (uint32_t i = 0; i < plan->n_reports; i++) {
		for (uint32_t k = 0; k < plan->reports[i].n_metrics; k++)
			want_percentile(r, plan->reports[i].metrics[k]);
	}
	for (uint32_t i = 0; i < plan->n_claims; i++)
		want_percentile(r, plan->claims[i].metric);
	return r;
}

void stb_results_free(struct stb_results *r)
{
	if (!r)
		return;
	free(r->rows);
	free(r->reps);
	free(r->index);
	stb_arena_fini(&r->arena);
	free(r);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* The entry of the key, or the free one where it belongs. */
static struct stb_results_entry *probe(struct stb_results_entry *index, size_t cap, const void *what, uint32_t cell, uint32_t slot,
	uint32_t repetition)
{
	uint64_t h = mix(mix(mix((uintptr_t)what, cell), slot), repetition);

	for (size_t i = h & (cap - 1);; i = (i + 1) & (cap - 1)) {
		struct stb_results_entry *e = &index[i];

		if (!e->what || (e->what == what && e->cell == cell && e->slot == slot && e->repetition == repetition))
			return e;
	}
}

static const struct stb_results_entry *find(const struct stb_results *r, const void *what, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_results_entry *e;

	if (!r->cap_index)
		return NULL;
	e = probe(r->index, r->cap_index, what, cell, slot, repetition);
	return e->what ? e : NULL;
}

static void grow_index(struct stb_results *r)
{
	const size_t cap = r->cap_index ? r->cap_index * 2 : 256;
	struct stb_results_entry *index = stb_xcalloc(cap, sizeof(*index));

	for (size_t i = 0; i < r->cap_index; i++) {
		const struct stb_results_entry *e = &r->index[i];

		if (e->what)
			*probe(index, cap, e->what, e->cell, e->slot, e->repetition) = *e;
	}
	free(r->index);
	r->index = index;
	r->cap_index = cap;
}

/* The entry of the key, made where it is new: then row is STB_NONE and hist is NULL. */
static struct stb_results_entry *enter(struct stb_results *r, const void *what, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	struct stb_results_entry *e;

	if (2 * (r->n_index + 1) > r->cap_index)
		grow_index(r);
	e = probe(r->index, r->cap_index, what, cell, slot, repetition);
	if (!e->what) {
		*e = (struct stb_results_entry){ what, cell, slot, repetition, STB_NONE, STB_NONE, NULL };
		r->n_index++;
	}
	return e;
}

/* NULL where the name was never added. Rows come in the same order of metrics again and again: the search starts after the last hit. */
static const char *known_name(const struct stb_results *r, const char *name, size_t *at)
{
	for (size_t k = 0; k < r->n_names; k++) {
		const size_t i = (*at + 1 + k) % r->n_names;

		if (!strcmp(r->names[i], name)) {
			*at = i;
			return r->names[i];
		}
	}
	return NULL;
}

static uint32_t first_equal(const struct stb_results *r, uint32_t cell)
{
	return r->first ? r->first[cell] : r->plan->cells[cell].same_as;
}

/* The record of a repetition, made where it is new. The cell is the first of equal ones. Valid until the next one is made. */
static struct stb_result_rep *rep_of(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	struct stb_results_entry *e = enter(r, rep_key, cell, slot, repetition);
	uint32_t rep = e->row;

	if (rep != STB_NONE)
		return &r->reps[rep];
	rep = e->row = (uint32_t)r->n_reps;
	STB_GROW(r->reps, r->n_reps, r->cap_reps);
	r->reps[r->n_reps++] = (struct stb_result_rep){ .cell = cell, .slot = slot, .repetition = repetition, .status = STB_STATUS_OK,
		.next = STB_NONE };
	e = enter(r, rep_key, cell, 0, 0);
	if (e->row == STB_NONE)
		e->row = rep;
	else
		r->reps[e->tail].next = rep;
	e->tail = rep;
	return &r->reps[rep];
}

const struct stb_result_rep *stb_results_first_rep(const struct stb_results *r, uint32_t cell)
{
	const struct stb_results_entry *e = find(r, rep_key, first_equal(r, cell), 0, 0);

	return e ? &r->reps[e->row] : NULL;
}

const struct stb_result_rep *stb_results_next_rep(const struct stb_results *r, const struct stb_result_rep *rep)
{
	return rep->next == STB_NONE ? NULL : &r->reps[rep->next];
}

void stb_results_set_reason(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *reason)
{
	struct stb_result_rep *rep;

	STB_ASSERT(cell < r->plan->n_cells && slot && repetition);
	rep = rep_of(r, first_equal(r, cell), slot, repetition);
	if (!rep->reason && *reason)
		rep->reason = stb_arena_strdup(&r->arena, reason);
}

void stb_results_forget(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_results_entry *e = find(r, rep_key, first_equal(r, cell), slot, repetition);

	if (e)
		r->reps[e->row].reason = r->reps[e->row].origin = NULL;
	if (e)
		r->reps[e->row].steady_after_s = 0;
}

void stb_results_set_origin(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *origin)
{
	STB_ASSERT(cell < r->plan->n_cells && slot && repetition);
	rep_of(r, first_equal(r, cell), slot, repetition)->origin = stb_arena_strdup(&r->arena, origin);
}

void stb_results_set_steady(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, double after_s, double found)
{
	struct stb_result_rep *rep;

	STB_ASSERT(cell < r->plan->n_cells && slot && repetition);
	rep = rep_of(r, first_equal(r, cell), slot, repetition);
	rep->steady_after_s = after_s;
	rep->steady_found = found;
}

void stb_results_add_run(struct stb_results *r, const uint8_t *keep, const char *stopped)
{
	const struct stb_plan *p = r->plan;

	if (keep && !r->n_runs) {
		r->selected = STB_NEW_ARRAY(&r->arena, uint8_t, p->n_cells);
		memset(r->selected, 0, p->n_cells);
	}
	if (!keep)
		r->selected = NULL;
	for (uint32_t c = 0; r->selected && c < p->n_cells; c++)
		r->selected[p->cells[c].same_as] |= keep[c];
	r->n_runs++;
	if (stopped && !r->stopped)
		r->stopped = stb_arena_strdup(&r->arena, stopped);
}

void stb_results_count_errors(struct stb_results *r, const struct stb_error_counts *errors)
{
	for (uint32_t i = 0; i < errors->n; i++)
		stb_error_counts_add(&r->errors, errors->of[i].code, errors->of[i].count);
}

void stb_results_note(struct stb_results *r, const char *fmt, ...)
{
	char text[STB_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	STB_ARENA_GROW(&r->arena, r->notes, r->n_notes, r->cap_notes);
	r->notes[r->n_notes++] = stb_arena_strdup(&r->arena, text);
}

bool stb_results_selected(const struct stb_results *r, uint32_t cell)
{
	return !r->selected || r->selected[r->plan->cells[cell].same_as];
}

uint32_t stb_metric_member(const struct stb_plan *p, uint32_t cell, const char *metric, const char **name)
{
	struct stb_metric m;
	const uint32_t member = stb_metric_find(metric, &m) && m.part_len ? stb_plan_member(p, cell, metric, m.part_len - 1) : STB_NONE;

	*name = member == STB_NONE ? metric : metric + m.part_len;
	return member;
}

int stb_results_add(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *metric, double value,
	enum stb_status status, struct stb_err *err)
{
	const char *name = known_name(r, metric, &r->last_name);
	struct stb_results_entry *e;
	struct stb_result_rep *rep;
	struct stb_metric m;
	uint32_t row;

	STB_ASSERT(cell < r->plan->n_cells && slot && repetition);
	if (!stb_metric_find(metric, &m) || (m.part_len && stb_plan_member(r->plan, cell, metric, m.part_len - 1) == STB_NONE))
		return stb_err_set(err, 0, "unknown metric `%.60s`", metric);
	if (!isfinite(value) || value < 0)
		return stb_err_set(err, 0, "the value of `%s` is no finite number from 0 up", metric);
	if (r->n_names >= MAX_NAMES || r->n_rows >= STB_NONE - 1)
		return stb_err_set(err, 0, "too many %s in the results", r->n_names >= MAX_NAMES ? "different metrics" : "rows");
	cell = first_equal(r, cell);
	if (!name) {
		STB_ARENA_GROW(&r->arena, r->names, r->n_names, r->cap_names);
		r->last_name = r->n_names;
		name = r->names[r->n_names++] = stb_arena_strdup(&r->arena, metric);
	}
	e = enter(r, name, cell, slot, repetition);
	if (e->row != STB_NONE)
		return stb_err_set(err, 0, "cell %.16s has a figure of `%s` for slot %u, repetition %u already", r->plan->cells[cell].id,
			metric, slot, repetition);
	row = e->row = (uint32_t)r->n_rows;
	STB_GROW(r->rows, r->n_rows, r->cap_rows);
	r->rows[r->n_rows++] = (struct stb_result_row){ cell, slot, repetition, name, m.unit, value, status, STB_NONE };
	e = enter(r, name, cell, 0, 0);
	if (e->row == STB_NONE)
		e->row = row;
	else
		r->rows[e->tail].next = row;
	e->tail = row;
	rep = rep_of(r, cell, slot, repetition);
	if (!rep->has_rows || !stb_status_valid(status))
		rep->status = status;
	rep->has_rows = true;
	return 0;
}

const struct stb_result_row *stb_results_first(const struct stb_results *r, uint32_t cell, const char *metric)
{
	size_t at = 0;
	const char *name = known_name(r, metric, &at);
	const struct stb_results_entry *e = name ? find(r, name, first_equal(r, cell), 0, 0) : NULL;

	return e ? &r->rows[e->row] : NULL;
}

const struct stb_result_row *stb_results_next(const struct stb_results *r, const struct stb_result_row *row)
{
	return row->next == STB_NONE ? NULL : &r->rows[row->next];
}

bool stb_results_has_matrix(const struct stb_results *r, uint32_t matrix)
{
	const struct stb_plan_matrix *m = &r->plan->matrices[matrix];

	for (uint32_t c = m->first_cell; c < m->first_cell + m->n_cells; c++) {
		if (stb_results_first_rep(r, c))
			return true;
	}
	return false;
}

void stb_results_add_hist(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	const struct stb_hist *h)
{
	struct stb_results_entry *e;
	struct stb_result_hist *rest;
	uint32_t n = 0;

	STB_ASSERT(cell < r->plan->n_cells && hist < STB_N_HISTS);
	if (!h->count)
		return;
	for (uint32_t i = 0; i < STB_HIST_BUCKETS; i++)
		n += h->bucket[i] != 0;
	rest = stb_arena_alloc(&r->arena, sizeof(*rest) + n * sizeof(rest->bin[0]));
	rest->min = h->min;
	rest->max = h->max;
	for (uint32_t i = 0; i < STB_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		rest->bin[rest->n_bins].index = i;
		rest->bin[rest->n_bins++].count = h->bucket[i];
	}
	e = enter(r, &hist_key[hist], first_equal(r, cell), slot, repetition);
	e->hist = rest;
}

bool stb_results_merge_hist(const struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	struct stb_hist *into)
{
	const struct stb_results_entry *e = find(r, &hist_key[hist], first_equal(r, cell), slot, repetition);

	if (!e || !e->hist)
		return false;
	for (uint32_t i = 0; i < e->hist->n_bins; i++) {
		into->bucket[e->hist->bin[i].index] += e->hist->bin[i].count;
		into->count += e->hist->bin[i].count;
	}
	into->min = STB_MIN(into->min, e->hist->min);
	into->max = STB_MAX(into->max, e->hist->max);
	return true;
}
