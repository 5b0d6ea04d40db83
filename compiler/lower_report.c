/*
 * lower_report.c - reports and claims: checked against the cells that they are about, and put into the plan.
 *
 * Checked here rather than in check.c, because what can be wrong depends on the cells: whether an axis is there,
 * whether the selected cells have the metric, whether one field of a table would stand for several cells.
 */
#include "compiler/expand.h"
#include "runtime/base/metric.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct about { /* a report or claim at work */
	struct stb_lowering *l;
	const struct stb_block *b;
	const struct stb_xmatrix *m;
	struct stb_xselect where, baseline;
	const struct stb_stmt *baseline_stmt; /* NULL: there is none */
	unsigned families;                    /* STB_METRIC_* of the selected cells; STB_METRIC_MIX: what mixes have themselves */
	bool ok;
};

static const struct {
	const char *word;
	enum stb_view view;
	bool relative, directed;
} views[] = {
	{ "value", STB_VIEW_VALUE, false, false },        { "percent", STB_VIEW_PERCENT, true, false },
	{ "change", STB_VIEW_CHANGE, true, false },       { "improvement", STB_VIEW_IMPROVEMENT, true, true },
	{ "ratio", STB_VIEW_RATIO, true, true },          { "range", STB_VIEW_RANGE, true, false },
	{ "ci", STB_VIEW_CI, true, false },               { "n", STB_VIEW_N, false, false },
};

STB_PRINTF(4, 5) static struct stb_diag *wrong(struct about *a, enum stb_code code, struct stb_span span,
	const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	a->ok = false;
	return stb_diag(a->l->x->sink, code, span, "%s", text);
}

/* --- what it is about --- */

static const struct stb_xmatrix *find_matrix(struct about *a)
{
	const struct stb_expansion *x = a->l->x;
	const struct stb_setting *from = stb_block_setting(a->b, "from");
	struct stb_diag *d;

	for (uint32_t i = 0; i < x->n_matrices; i++) {
		if (from && from->val.str && !strcmp(x->matrices[i]->block->name, from->val.str))
			return x->matrices[i];
	}
	if (from && from->val.type != STB_V_NONE)
		return NULL; /* reported by check */
	if (x->n_matrices == 1)
		return x->matrices[0];
	d = wrong(a, STB_E0601, a->b->span, "%s `%s` does not say which matrix it is about", stb_kind_name(a->b->kind),
		a->b->name);
	if (x->n_matrices)
		stb_diag_help(x->sink, d, "write from = %s, or another one: the spec has %u matrices",
			x->matrices[0]->block->name, x->n_matrices);
	else
		stb_diag_help(x->sink, d, "the spec has no matrix");
	return NULL;
}

static const uint32_t *point_of(const struct about *a, uint32_t i)
{
	return a->l->x->planned[a->m->first_cell + i].point;
}

static const struct stb_block *workload_of(const struct about *a, uint32_t i)
{
	const uint32_t axis = stb_xmatrix_axis(a->m, "workload", a->m->n_axes);

	return a->m->axes[axis].values[point_of(a, i)[axis]].block;
}

static bool is_mix(const struct stb_block *w)
{
	return !strcmp(w->type->type, "mix");
}

/* What a part of that name measures in the selected mixes; 0: none has such a part. */
static unsigned part_family(const struct about *a, const char *name, size_t len)
{
	const char *text = stb_arena_strndup(a->l->x->arena, name, len);
	const struct stb_block *part = stb_model_find(a->l->x->m, STB_K_WORKLOAD, text);

	for (uint32_t i = 0; part && i < a->m->n_cells; i++) {
		const struct stb_block *w = workload_of(a, i);
		const struct stb_setting *run = is_mix(w) && stb_xselect_match(&a->where, a->m, point_of(a, i)) ?
			stb_block_setting(w, "run") : NULL;

		for (uint32_t k = 0; run && k < run->val.n_items; k++) {
			if (run->val.items[k].str && !strcmp(run->val.items[k].str, text))
				return stb_metric_family(part->type->type);
		}
	}
	return 0;
}

static uint32_t count_matches(const struct about *a, const struct stb_xselect *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->m->n_cells; i++)
		n += stb_xselect_match(s, a->m, point_of(a, i));
	return n;
}

static void read_selectors(struct about *a)
{
	struct stb_expansion *x = a->l->x;
	const struct stb_stmt *where = stb_nested(a->b, "where");

	a->baseline_stmt = stb_nested(a->b, "baseline");
	if (where && !stb_xselect_read(x, a->m, a->m->n_axes, where, &a->where))
		a->ok = false;
	if (a->baseline_stmt && !stb_xselect_read(x, a->m, a->m->n_axes, a->baseline_stmt, &a->baseline))
		a->ok = false;
	if (!a->ok)
		return;
	for (uint32_t i = 0; i < a->m->n_cells; i++) {
		if (!stb_xselect_match(&a->where, a->m, point_of(a, i)))
			continue;
		a->families |= stb_metric_family(workload_of(a, i)->type->type);
	}
	if (x->m->profile) /* selectors are judged on the bare spec */
		return;
	if (where && !a->families)
		wrong(a, STB_E0508, where->span, "the where of %s `%s` matches no cell of matrix `%s`",
			stb_kind_name(a->b->kind), a->b->name, a->m->block->name);
	if (a->baseline_stmt && !count_matches(a, &a->baseline))
		wrong(a, STB_E0508, a->baseline_stmt->span, "the baseline of %s `%s` matches no cell of matrix `%s`",
			stb_kind_name(a->b->kind), a->b->name, a->m->block->name);
}

/* --- the table --- */

static struct stb_span item_span(const struct stb_setting *s, uint32_t i)
{
	if (s->node && s->node->kind == STB_N_LIST && i < s->node->n_items)
		return s->node->items[i]->span;
	return s->value_span;
}

static void no_axis(struct about *a, struct stb_span span, const char *name)
{
	struct stb_expansion *x = a->l->x;
	const char **names = STB_NEW_ARRAY(x->arena, const char *, a->m->n_axes + 1);
	struct stb_diag *d = wrong(a, STB_E0602, span, "matrix `%s` has no axis `%s`", a->m->block->name, name);
	const char *near;

	for (uint32_t i = 0; i < a->m->n_axes; i++)
		names[i] = a->m->axes[i].name;
	near = stb_nearest(name, names, a->m->n_axes);
	if (near) {
		stb_diag_here(x->sink, d, "did you mean `%s`?", near);
		stb_diag_fixit(x->sink, d, span, "%s", near);
	}
}

/* Marks an axis as used in the table; STB_NONE: there is none, or it is used already (reported). */
static uint32_t use_axis(struct about *a, struct stb_span *used, struct stb_span span, const char *name)
{
	const uint32_t axis = stb_xmatrix_axis(a->m, name, a->m->n_axes);

	if (axis == STB_NONE) {
		no_axis(a, span, name);
		return STB_NONE;
	}
	if (used[axis].file != STB_NO_FILE) {
		struct stb_diag *d = wrong(a, STB_E0603, span, "axis `%s` has two places in report `%s`", name,
			a->b->name);

		stb_diag_label(a->l->x->sink, d, used[axis], "the other one is here");
		return STB_NONE;
	}
	used[axis] = span;
	return axis;
}

static uint32_t one_axis(struct about *a, struct stb_span *used, const char *attr)
{
	const struct stb_setting *s = stb_block_setting(a->b, attr);

	if (!s || !s->val.str)
		return STB_NONE;
	return use_axis(a, used, s->value_span, s->val.str);
}

static void read_shape(struct about *a, struct stb_plan_report *r, struct stb_span *used)
{
	const struct stb_setting *fold = stb_block_setting(a->b, "fold");

	r->split = one_axis(a, used, "split");
	r->rows = one_axis(a, used, "rows");
	r->columns = one_axis(a, used, "columns");
	if (!fold || fold->val.type != STB_V_LIST)
		return;
	r->fold = STB_NEW_ARRAY(a->l->a, uint32_t, fold->val.n_items);
	for (uint32_t i = 0; i < fold->val.n_items; i++) {
		const uint32_t axis = fold->val.items[i].str ?
			use_axis(a, used, item_span(fold, i), fold->val.items[i].str) : STB_NONE;

		if (axis != STB_NONE)
			r->fold[r->n_fold++] = axis;
	}
}

struct field { /* the selected cells of one field, folded axes apart */
	uint32_t n, first, second;
};

/* Every axis is shown, fixed or folded: no field of the table may stand for two cells that differ elsewhere. */
static void check_fields(struct about *a, const struct stb_span *used)
{
	struct stb_expansion *x = a->l->x;
	uint32_t *key = STB_NEW_ARRAY(x->arena, uint32_t, a->m->n_axes + 1);
	const struct field *worst = NULL;
	struct stb_intern fields;
	const char *names = NULL;
	struct stb_diag *d;

	stb_intern_init(&fields, x->arena);
	for (uint32_t i = 0; i < a->m->n_cells; i++) {
		const uint32_t *point = point_of(a, i);
		struct field *f;

		if (!stb_xselect_match(&a->where, a->m, point))
			continue;
		for (uint32_t k = 0; k < a->m->n_axes; k++)
			key[k] = used[k].file != STB_NO_FILE ? point[k] : 0;
		f = stb_intern_get(&fields, key, a->m->n_axes * (uint32_t)sizeof(*key));
		if (!f) {
			f = STB_NEW(x->arena, struct field);
			f->first = i;
			stb_intern_put(&fields, key, a->m->n_axes * (uint32_t)sizeof(*key), f);
		}
		if (f->n++ == 1)
			f->second = i;
		if (!worst || f->n > worst->n)
			worst = f;
	}
	if (!worst || worst->n < 2)
		return;
	for (uint32_t k = 0; k < a->m->n_axes; k++) {
		if (used[k].file == STB_NO_FILE && point_of(a, worst->first)[k] != point_of(a, worst->second)[k])
			names = stb_arena_printf(x->arena, "%s%s`%s`", names ? names : "", names ? ", " : "",
				a->m->axes[k].name);
	}
	d = wrong(a, STB_E0604, a->b->span,
		"%u cells fall into one field of report `%s`: %s %s neither shown, fixed nor folded", worst->n,
		a->b->name, names, strchr(names, ',') ? "are" : "is");
	stb_diag_note(x->sink, d, "for example %s and %s", stb_xcell_label(x, a->m->first_cell + worst->first),
		stb_xcell_label(x, a->m->first_cell + worst->second));
	stb_diag_help(x->sink, d, "show it with rows, columns or split, fix it with where { %.*s = VALUE }, or fold it",
		(int)strcspn(names + 1, "`"), names + 1);
}

/* --- metrics and views --- */

/* PART.metric of what no part has by itself: a device or a server counts for all of them. */
static bool whole_mix(struct about *a, const char *name, struct stb_span span)
{
	const char *dot = strchr(name, '.');
	struct stb_metric m;
	struct stb_diag *d;

	if (!dot || !part_family(a, name, (size_t)(dot - name)) || !stb_metric_find(dot + 1, &m) || !(m.families & STB_METRIC_MIX))
		return false;
	d = wrong(a, STB_E0642, span, "`%s` counts for the whole mix, not for `%.*s`", dot + 1, (int)(dot - name), name);
	stb_diag_help(a->l->x->sink, d, "write `%s` by itself", dot + 1);
	return true;
}

/* Whether none of the selected cells can ever have it, in the bare spec (as selectors are judged) or with what a profile brings. */
static bool is_dead(struct about *a, const char *name, const struct stb_metric *metric, struct stb_span span)
{
	const struct stb_expansion *x = a->l->x;
	const unsigned brought = stb_profiles_bring(x->m);
	unsigned lacks = 0;
	struct stb_diag *d;

	for (uint32_t i = 0; i < a->m->n_cells && !x->m->profile; i++) {
		const uint32_t chain = x->cells[a->m->first_cell + i].chain;
		const unsigned one = chain == STB_NONE ? 0 : stb_scope_lacks(x->chains[chain]->scope, name, metric);

		if (one == STB_UNMEASURED || !stb_xselect_match(&a->where, a->m, point_of(a, i)))
			continue;
		if (!(one & ~brought))
			return false;
		lacks |= one;
	}
	if (!lacks)
		return false;
	d = wrong(a, STB_E0606, span, "no cell of %s `%s` can have the metric `%s`", stb_kind_name(a->b->kind), a->b->name, name);
	for (const char *need; (need = stb_metric_next_need(&lacks)); )
		stb_diag_note(x->sink, d, "it needs %s", need);
	return true;
}

static bool find_metric(struct about *a, const char *name, struct stb_span span, struct stb_metric *out)
{
	struct stb_expansion *x = a->l->x;
	const char *const *names = stb_metric_names();
	struct stb_diag *d;
	const char *near;
	size_t n = 0;

	if (!stb_metric_find(name, out) && whole_mix(a, name, span))
		return false;
	if (!stb_metric_find(name, out)) {
		while (names[n])
			n++;
		near = stb_nearest(name, names, n);
		d = wrong(a, STB_E0605, span, "there is no metric `%s`", name);
		if (near)
			stb_diag_here(x->sink, d, "did you mean `%s`?", near);
		stb_diag_help(x->sink, d,
			"`stb explain metrics` lists them; percentiles are lat_p95, lat_p999 and so on");
		return false;
	}
	if (out->part_len) {
		const unsigned of = part_family(a, name, out->part_len - 1);

		if (of & out->families)
			return !is_dead(a, name, out, span);
		d = wrong(a, STB_E0642, span, of ? "`%.*s` does not measure `%s`" : "no selected mix runs a workload `%.*s` that would measure `%s`",
			(int)out->part_len - 1, name, name + out->part_len);
		stb_diag_help(x->sink, d, "metrics of a mix are PART.metric, PART being a workload of its run");
		return false;
	}
	if (a->families == STB_METRIC_MIX && !(out->families & STB_METRIC_MIX)) {
		d = wrong(a, STB_E0642, span, "`%s` does not say which workload of the mix it is of", name);
		stb_diag_help(x->sink, d, "write PART.%s, PART being a workload of its run", name);
		return false;
	}
	if (a->families && !(a->families & out->families)) {
		d = wrong(a, STB_E0606, span, "no cell of %s `%s` has the metric `%s`", stb_kind_name(a->b->kind),
			a->b->name, name);
		stb_diag_note(x->sink, d, "it belongs to workloads of type %s, and these cells are of type %s", stb_metric_types(out->families),
			stb_metric_types(a->families));
		return false;
	}
	return !is_dead(a, name, out, span);
}

static void read_metrics(struct about *a, struct stb_plan_report *r)
{
	const struct stb_setting *s = stb_block_setting(a->b, "metrics");
	struct stb_metric metric;

	if (!s || s->val.type != STB_V_LIST || !s->val.n_items) {
		struct stb_diag *d = wrong(a, STB_E0605, s ? s->value_span : a->b->span, "report `%s` shows no metric",
			a->b->name);

		stb_diag_help(a->l->x->sink, d, "write metrics = [iops, lat_p95], or [tps, lat_p95] for oltp");
		return;
	}
	r->metrics = STB_NEW_ARRAY(a->l->a, const char *, s->val.n_items);
	for (uint32_t i = 0; i < s->val.n_items; i++) {
		if (s->val.items[i].str && find_metric(a, s->val.items[i].str, item_span(s, i), &metric))
			r->metrics[r->n_metrics++] = stb_lower_str(a->l, s->val.items[i].str);
	}
}

static size_t view_of(const char *word)
{
	size_t i = 0;

	while (i < STB_LEN(views) && strcmp(views[i].word, word))
		i++;
	return i;
}

static void check_view(struct about *a, const struct stb_plan_report *r, size_t view, struct stb_span span)
{
	struct stb_metric metric;

	if (views[view].relative && !a->baseline_stmt) {
		struct stb_diag *d = wrong(a, STB_E0608, span, "`%s` compares, and report `%s` has no baseline",
			views[view].word, a->b->name);

		stb_diag_help(a->l->x->sink, d, "state one: baseline { %s = %s }", a->m->axes[0].name,
			a->m->axes[0].values[0].key);
	}
	if (views[view].view == STB_VIEW_VALUE && r->n_fold) {
		struct stb_diag *d = wrong(a, STB_E0611, span,
			"report `%s` folds cells, and their values make no figure", a->b->name);

		stb_diag_help(a->l->x->sink, d, "show relative views of folded cells: show = [percent]");
	}
	if (views[view].view == STB_VIEW_CI && r->n_fold) {
		struct stb_diag *d = wrong(a, STB_E0640, span, "report `%s` folds cells, and an interval is of one", a->b->name);

		stb_diag_help(a->l->x->sink, d, "show range of folded cells, or fold nothing");
	}
	for (uint32_t i = 0; i < r->n_metrics && views[view].directed; i++) {
		if (!stb_metric_find(r->metrics[i], &metric) || metric.direction != STB_NO_DIRECTION)
			continue;
		struct stb_diag *d = wrong(a, STB_E0607, span,
			"`%s` needs to know whether more is better, and `%s` does not say", views[view].word,
			r->metrics[i]);

		stb_diag_help(a->l->x->sink, d, "show percent or change of it");
	}
}

static void read_views(struct about *a, struct stb_plan_report *r)
{
	const struct stb_setting *s = stb_block_setting(a->b, "show");
	const uint32_t n = s && s->val.type == STB_V_LIST ? s->val.n_items : 0;
	bool relative = false;

	r->views = STB_NEW_ARRAY(a->l->a, enum stb_view, n + 1);
	if (!n) {
		r->views[r->n_views++] = STB_VIEW_VALUE;
		check_view(a, r, 0, a->b->span);
	}
	for (uint32_t i = 0; i < n; i++) {
		const size_t view = s->val.items[i].str ? view_of(s->val.items[i].str) : STB_LEN(views);

		if (view == STB_LEN(views)) /* reported by check */
			continue;
		check_view(a, r, view, item_span(s, i));
		r->views[r->n_views++] = views[view].view;
		relative = relative || views[view].relative;
	}
	if (a->baseline_stmt && !relative) {
		struct stb_diag *d = wrong(a, STB_E0615, a->baseline_stmt->name.span,
			"report `%s` has a baseline, and nothing is compared with it", a->b->name);

		stb_diag_help(a->l->x->sink, d, "add a view to it: show = [value, percent]");
	}
	if (r->geomean && !relative)
		wrong(a, STB_E0616, stb_block_setting(a->b, "summary")->value_span,
			"report `%s` has a summary, and no relative view to sum up", a->b->name);
}

/* --- units, decimals, headings --- */

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct stb_setting *const *)a)->key, (*(const struct stb_setting *const *)b)->key);
}

static bool is_shown(const struct stb_plan_report *r, const char *name, bool also_views)
{
	const size_t view = view_of(name);

	for (uint32_t i = 0; i < r->n_metrics; i++) {
		if (!strcmp(r->metrics[i], name))
			return true;
	}
	for (uint32_t i = 0; also_views && view < STB_LEN(views) && i < r->n_views; i++) {
		if (r->views[i] == views[view].view)
			return true;
	}
	return false;
}

static void check_entry(struct about *a, const struct stb_plan_report *r, const char *map, const char *name,
	const struct stb_setting *s)
{
	const bool units = !strcmp(map, "units");
	struct stb_metric metric;
	struct stb_diag *d;
	double y;

	if (!is_shown(r, name, !units)) {
		d = wrong(a, STB_E0610, s->key_span, "`%s` is no metric%s of report `%s`", name,
			units ? "" : " or view", a->b->name);
		stb_diag_help(a->l->x->sink, d, "it can be stated for what stands in metrics%s",
			units ? "" : " or show");
		return;
	}
	if (units && stb_metric_find(name, &metric) && !stb_metric_convert(1, metric.unit, s->val.str, &y)) {
		d = wrong(a, STB_E0609, s->value_span, "`%s` cannot be shown in \"%s\"", name, s->val.str);
		stb_diag_note(a->l->x->sink, d, "it is measured in %s", metric.unit[0] ? metric.unit : "plain numbers");
	}
}

static struct stb_val read_map(struct about *a, const struct stb_plan_report *r, const char *map)
{
	const size_t len = strlen(map);
	const struct stb_setting **found = STB_NEW_ARRAY(a->l->x->arena, const struct stb_setting *,
		a->b->n_settings + 1);
	struct stb_val out = { .type = STB_V_MAP, .den = 1 };

	for (uint32_t i = 0; i < a->b->n_settings; i++) {
		const struct stb_setting *s = &a->b->settings[i];

		if (!strncmp(s->key, map, len) && s->key[len] == '.' && s->val.type != STB_V_NONE)
			found[out.n_items++] = s;
	}
	if (!out.n_items)
		return (struct stb_val){ 0 };
	qsort(found, out.n_items, sizeof(*found), by_key);
	out.keys = STB_NEW_ARRAY(a->l->a, const char *, out.n_items);
	out.items = STB_NEW_ARRAY(a->l->a, struct stb_val, out.n_items);
	for (uint32_t i = 0; i < out.n_items; i++) {
		check_entry(a, r, map, found[i]->key + len + 1, found[i]);
		out.keys[i] = stb_lower_str(a->l, found[i]->key + len + 1);
		out.items[i] = stb_lower_val(a->l, &found[i]->val);
	}
	return out;
}

/* --- into the plan --- */

static bool word_is(const struct stb_block *b, const char *attr, const char *word)
{
	const struct stb_setting *s = stb_block_setting(b, attr);

	return s && s->val.str && !strcmp(s->val.str, word);
}

static const char *chart_of(struct stb_lowering *l, const struct stb_block *b)
{
	const struct stb_setting *s = stb_block_setting(b, "chart");

	return s && s->val.str && strcmp(s->val.str, "none") ? stb_lower_str(l, s->val.str) : NULL;
}

static struct about begin(struct stb_lowering *l, const struct stb_block *b)
{
	struct about a = { .l = l, .b = b, .ok = true };

	a.m = find_matrix(&a);
	if (a.m && !a.m->bad)
		read_selectors(&a);
	else
		a.ok = false;
	return a;
}

static void lower_report(struct stb_lowering *l, const struct stb_block *b)
{
	struct about a = begin(l, b);
	struct stb_plan_report r = {
		.name = stb_lower_str(l, b->name),
		.label = stb_lower_str(l, b->label),
		.note = stb_lower_str(l, b->note),
		.aggregate = word_is(b, "aggregate", "median") ? STB_AGG_MEDIAN : STB_AGG_MEAN,
		.geomean = word_is(b, "summary", "geomean"),
		.chart = chart_of(l, b),
		.span = stb_lower_span(l, b->span),
	};
	struct stb_span *used;

	if (!a.ok)
		return;
	used = STB_NEW_ARRAY(l->x->arena, struct stb_span, a.m->n_axes + 1);
	for (uint32_t i = 0; i < a.m->n_axes; i++)
		used[i] = STB_NO_SPAN;
	read_shape(&a, &r, used);
	if (a.ok)
		check_fields(&a, used);
	read_metrics(&a, &r);
	read_views(&a, &r);
	if (a.ok) {
		r.units = read_map(&a, &r, "units");
		r.decimals = read_map(&a, &r, "decimals");
		r.headings = read_map(&a, &r, "headings");
	}
	r.matrix = a.m->index;
	r.where = stb_lower_select(a.l, a.m, &a.where);
	r.baseline = stb_lower_select(a.l, a.m, &a.baseline);
	r.has_baseline = a.baseline_stmt != NULL;
	STB_ARENA_GROW(l->a, l->plan->reports, l->plan->n_reports, l->cap_reports);
	l->plan->reports[l->plan->n_reports++] = r;
}

/* --- claims --- */

/* Whether the number is what the form takes: shares, a plain number, or the metric's own type. */
static bool fits_form(const struct stb_metric *metric, enum stb_view form, const struct stb_val *v)
{
	double y;

	if (v->type == STB_V_NONE)
		return true;
	if (form == STB_VIEW_RATIO)
		return v->type == STB_V_COUNT;
	if (form != STB_VIEW_VALUE)
		return v->type == STB_V_SHARE;
	if (stb_metric_convert(1, metric->unit, "ns", &y))
		return v->type == STB_V_TIME;
	if (stb_metric_convert(1, metric->unit, "B", &y))
		return v->type == STB_V_BYTES;
	if (stb_metric_convert(1, metric->unit, "B/s", &y))
		return v->type == STB_V_BYTE_RATE;
	if (!strcmp(metric->unit, "1/s"))
		return v->type == STB_V_RATE || v->type == STB_V_COUNT;
	if (!strcmp(metric->unit, "%"))
		return v->type == STB_V_SHARE;
	return v->type == STB_V_COUNT;
}

/* The unit that a single figure was written in: "ms" of 292.60ms; NULL where it is no plain quantity. */
static const char *unit_of(struct about *a, const struct stb_setting *s)
{
	const struct stb_node *n = s->node;

	while (n && n->kind == STB_N_NEG && n->n_items == 1)
		n = n->items[0];
	if (!n || n->kind != STB_N_QUANTITY || !n->text)
		return NULL;
	return stb_lower_str(a->l, n->text + strspn(n->text, "0123456789_."));
}

static const struct stb_setting *figure_of(struct about *a, enum stb_view *form)
{
	const struct stb_setting *found = NULL;

	for (size_t i = 0; i < STB_LEN(views); i++) {
		const struct stb_setting *s = stb_schema_attr(STB_K_CLAIM, "", views[i].word) ?
			stb_block_setting(a->b, views[i].word) : NULL;
		struct stb_diag *d;

		if (!s || s->val.type == STB_V_NONE)
			continue;
		if (found) {
			d = wrong(a, STB_E0612, s->key_span, "claim `%s` states two figures", a->b->name);
			stb_diag_label(a->l->x->sink, d, found->key_span, "the other one is here");
			stb_diag_help(a->l->x->sink, d, "make two claims of it");
			return NULL;
		}
		found = s;
		*form = views[i].view;
	}
	if (!found)
		stb_diag_help(a->l->x->sink, wrong(a, STB_E0612, a->b->span, "claim `%s` states no figure", a->b->name),
			"state one of value, percent, change, improvement, ratio; for example ratio = 2..3");
	return found;
}

static void check_figure(struct about *a, const struct stb_plan_claim *c, const struct stb_metric *metric,
	const struct stb_setting *s)
{
	const struct stb_val *v = &s->val;
	const size_t view = view_of(s->row->name);
	struct stb_diag *d;
	bool ok;

	if (v->type == STB_V_RANGE)
		ok = fits_form(metric, c->form, &v->items[0]) && fits_form(metric, c->form, &v->items[1]);
	else
		ok = fits_form(metric, c->form, v);
	if (!ok) {
		d = wrong(a, STB_E0613, s->value_span, "`%s` of %s cannot be %s", s->row->name, c->metric,
			stb_val_label(a->l->x->arena, v));
		stb_diag_help(a->l->x->sink, d, c->form == STB_VIEW_RATIO ? "a ratio is a plain number: 2.49" :
			c->form != STB_VIEW_VALUE ? "it is a share: 8.41%%" : "it has the metric's unit, which is %s",
			metric->unit[0] ? metric->unit : "none");
	}
	if (view < STB_LEN(views) && views[view].directed && metric->direction == STB_NO_DIRECTION)
		wrong(a, STB_E0607, s->key_span, "`%s` needs to know whether more is better, and `%s` does not say",
			s->row->name, c->metric);
	if (c->confidence.type != STB_V_NONE && v->type != STB_V_RANGE) {
		d = wrong(a, STB_E0641, s->value_span, "claim `%s` has a confidence, and no interval lies within one figure", a->b->name);
		stb_diag_help(a->l->x->sink, d, "claim a range: %s = %s..*", s->row->name, stb_val_label(a->l->x->arena, v));
	}
	if (c->form != STB_VIEW_VALUE && !a->baseline_stmt) {
		d = wrong(a, STB_E0614, s->key_span, "claim `%s` compares, and has no baseline", a->b->name);
		stb_diag_help(a->l->x->sink, d, "state one: baseline { %s = %s }", a->m->axes[0].name,
			a->m->axes[0].values[0].key);
	}
	if (c->form == STB_VIEW_VALUE && a->baseline_stmt)
		wrong(a, STB_E0615, a->baseline_stmt->name.span,
			"claim `%s` has a baseline, and a value is compared with nothing", a->b->name);
}

static void lower_claim(struct stb_lowering *l, const struct stb_block *b)
{
	struct about a = begin(l, b);
	const struct stb_setting *metric = stb_block_setting(b, "metric"), *confidence = stb_block_setting(b, "confidence"), *figure;
	struct stb_plan_claim c = {
		.name = stb_lower_str(l, b->name),
		.label = stb_lower_str(l, b->label),
		.note = stb_lower_str(l, b->note),
		.aggregate = word_is(b, "aggregate", "median") ? STB_AGG_MEDIAN : STB_AGG_MEAN,
		.asserted = !l->x->m->profile || b->profile_stmt,
		.span = stb_lower_span(l, b->span),
	};
	struct stb_metric found;

	if (!a.m || a.m->bad || !metric || !metric->val.str)
		return;
	if (confidence && confidence->val.type == STB_V_SHARE)
		c.confidence = confidence->val;
	figure = figure_of(&a, &c.form);
	if (!find_metric(&a, metric->val.str, metric->value_span, &found) || !figure)
		return;
	c.metric = stb_lower_str(l, metric->val.str);
	check_figure(&a, &c, &found, figure);
	if (!a.ok)
		return;
	c.matrix = a.m->index;
	c.where = stb_lower_select(a.l, a.m, &a.where);
	c.baseline = stb_lower_select(a.l, a.m, &a.baseline);
	c.has_baseline = a.baseline_stmt != NULL;
	c.expect = stb_lower_val(l, &figure->val);
	c.digits = figure->decimals;
	c.unit = unit_of(&a, figure);
	STB_ARENA_GROW(l->a, l->plan->claims, l->plan->n_claims, l->cap_claims);
	l->plan->claims[l->plan->n_claims++] = c;
}

void stb_lower_reports(struct stb_lowering *l)
{
	const struct stb_model *m = l->x->m;

	for (uint32_t i = 0; i < m->n_blocks; i++) {
		if (m->blocks[i]->kind == STB_K_REPORT)
			lower_report(l, m->blocks[i]);
		else if (m->blocks[i]->kind == STB_K_CLAIM)
			lower_claim(l, m->blocks[i]);
	}
}
