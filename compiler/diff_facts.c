/*
 * diff_facts.c - what is compared as text: how matrices are run, what reports and claims ask for, labels, privileges.
 *
 * Each thing is written down as a list of facts, name and text as a spec would say them; two lists are compared by name. A fact that a list
 * does not have is "not stated".
 */
#include "compiler/diff_parts.h"


#include <stdlib.h>
#include <string.h>

struct fact {
	const char *name, *text; /* text NULL: not stated */
};

struct facts {
	struct stb_diffing *x;
	bool is_before;
	struct fact *v;
	uint32_t n, cap;
};

static void fact(struct facts *f, const char *name, const char *text)
{
	if (!text)
		return;
	STB_ARENA_GROW(f->x->arena, f->v, f->n, f->cap);
	f->v[f->n++] = (struct fact){ name, text };
}

static void number(struct facts *f, const char *name, enum stb_vtype type, uint64_t n)
{
	const struct stb_val v = stb_val_num(type, n > INT64_MAX ? INT64_MAX : (int64_t)n, 1);

	fact(f, name, stb_val_text(f->x->arena, &v));
}

static void value(struct facts *f, const char *name, const struct stb_val *v)
{
	if (v->type != STB_V_NONE)
		fact(f, name, stb_val_text(f->x->arena, v));
}

static const char *quoted(struct stb_diffing *x, const char *s)
{
	const struct stb_val v = stb_val_str(STB_V_STRING, s);

	return s ? stb_val_text(x->arena, &v) : NULL;
}

/* --- pieces -------------------------------------------------------------------------------------------------------------------------- */

static const char *axis_name(const struct facts *f, uint32_t matrix, uint32_t axis)
{
	if (axis == STB_NONE)
		return NULL;
	return f->is_before ? stb_diff_axis_name(f->x, matrix, axis) : f->x->after->matrices[matrix].axes[axis].name;
}

static const char *value_key(const struct facts *f, uint32_t matrix, uint32_t axis, uint32_t v)
{
	const struct stb_plan_axis *a = &(f->is_before ? f->x->before : f->x->after)->matrices[matrix].axes[axis];

	if (v == STB_NONE)
		return "none";
	return f->is_before ? stb_diff_key(f->x, a, v) : a->values[v].key;
}

static const char *selector(const struct facts *f, uint32_t matrix, const struct stb_selector *s)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	stb_buf_adds(&b, "{");
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *t = &s->terms[i];

		stb_buf_printf(&b, "%s %s = %s", i ? " " : "", axis_name(f, matrix, t->axis), t->n_values == 1 ? "" : "[");
		for (uint32_t k = 0; k < t->n_values; k++)
			stb_buf_printf(&b, "%s%s", k ? ", " : "", value_key(f, matrix, t->axis, t->values[k]));
		stb_buf_adds(&b, t->n_values == 1 ? "" : "]");
	}
	stb_buf_adds(&b, s->n_terms ? " }" : "}");
	text = stb_arena_strndup(f->x->arena, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

static const char *list(struct stb_diffing *x, const char *const *texts, uint32_t n)
{
	const char *text = "[";

	for (uint32_t i = 0; i < n; i++)
		text = stb_arena_printf(x->arena, "%s%s%s", text, i ? ", " : "", texts[i]);
	return stb_arena_printf(x->arena, "%s]", text);
}

/* --- things -------------------------------------------------------------------------------------------------------------------------- */

static void matrix_facts(struct facts *f, const struct stb_plan_matrix *m)
{
	struct stb_buf b;

	number(f, "repeat", STB_V_COUNT, m->repeat);
	fact(f, "order", stb_order_name(m->order));
	fact(f, "fresh", stb_fresh_name(m->fresh));
	number(f, "seed", STB_V_COUNT, m->seed);
	number(f, "cooldown", STB_V_TIME, m->cooldown_ns);
	number(f, "interval", STB_V_TIME, m->interval_ns);
	if (!m->schedule_days)
		return;
	stb_buf_init(&b);
	stb_buf_printf(&b, "%u day%s at ", m->schedule_days, m->schedule_days == 1 ? "" : "s");
	for (uint32_t i = 0; i < m->n_schedule_at; i++)
		stb_buf_printf(&b, "%s%02u:%02u", i ? ", " : "", m->schedule_at[i] / 60, m->schedule_at[i] % 60);
	fact(f, "schedule", stb_arena_strndup(f->x->arena, stb_buf_str(&b), b.len));
	stb_buf_fini(&b);
}

/* What people read of a matrix. */
static void matrix_texts(struct facts *f, uint32_t matrix, const struct stb_plan_matrix *m)
{
	struct stb_diffing *x = f->x;

	fact(f, "label", quoted(x, m->label));
	fact(f, "note", quoted(x, m->note));
	for (uint32_t i = 0; i < m->n_axes; i++) {
		const struct stb_plan_axis *a = &m->axes[i];
		const char *name = axis_name(f, matrix, i);

		if (strcmp(a->label, a->name)) /* where none is stated it is the name */
			fact(f, stb_arena_printf(x->arena, "label of axis %s", name), quoted(x, a->label));
		for (uint32_t k = 0; k < a->n_values && !*a->kind; k++)
			fact(f, stb_arena_printf(x->arena, "label of %s = %s", name, a->values[k].key), quoted(x, a->values[k].label));
	}
	for (uint32_t i = 0; i < m->n_excludes; i++)
		fact(f, stb_arena_printf(x->arena, "reason to exclude %s", selector(f, matrix, &m->excludes[i].where)),
			quoted(x, m->excludes[i].reason));
}

static void report_facts(struct facts *f, const struct stb_plan_report *r)
{
	struct stb_diffing *x = f->x;
	const struct stb_plan *p = f->is_before ? x->before : x->after;
	const char **texts = STB_NEW_ARRAY(x->arena, const char *, STB_MAX(r->n_fold, r->n_views));

	fact(f, "from", f->is_before ? stb_diff_name(x, "matrix", p->matrices[r->matrix].name) : p->matrices[r->matrix].name);
	fact(f, "where", r->where.n_terms ? selector(f, r->matrix, &r->where) : NULL);
	fact(f, "split", axis_name(f, r->matrix, r->split));
	fact(f, "rows", axis_name(f, r->matrix, r->rows));
	fact(f, "columns", axis_name(f, r->matrix, r->columns));
	for (uint32_t i = 0; i < r->n_fold; i++)
		texts[i] = axis_name(f, r->matrix, r->fold[i]);
	fact(f, "fold", list(x, texts, r->n_fold));
	fact(f, "metrics", list(x, r->metrics, r->n_metrics));
	for (uint32_t i = 0; i < r->n_views; i++)
		texts[i] = stb_view_name(r->views[i]);
	fact(f, "show", list(x, texts, r->n_views));
	fact(f, "baseline", r->has_baseline ? selector(f, r->matrix, &r->baseline) : NULL);
	fact(f, "summary", r->geomean ? "geomean" : "none");
	fact(f, "aggregate", stb_aggregate_name(r->aggregate));
	value(f, "units", &r->units);
	value(f, "decimals", &r->decimals);
	value(f, "headings", &r->headings);
	fact(f, "chart", r->chart);
}

static void claim_facts(struct facts *f, const struct stb_plan_claim *c)
{
	struct stb_diffing *x = f->x;
	const struct stb_plan *p = f->is_before ? x->before : x->after;

	fact(f, "from", f->is_before ? stb_diff_name(x, "matrix", p->matrices[c->matrix].name) : p->matrices[c->matrix].name);
	fact(f, "metric", c->metric);
	fact(f, "where", c->where.n_terms ? selector(f, c->matrix, &c->where) : NULL);
	fact(f, "baseline", c->has_baseline ? selector(f, c->matrix, &c->baseline) : NULL);
	value(f, stb_view_name(c->form), &c->expect);
	fact(f, "unit", c->unit);
	number(f, "digits", STB_V_COUNT, c->digits);
	value(f, "confidence", &c->confidence);
	fact(f, "aggregate", stb_aggregate_name(c->aggregate));
	fact(f, "asserted", c->asserted ? "true" : "false");
}

/* --- comparing ----------------------------------------------------------------------------------------------------------------------- */

static const char *find(const struct facts *f, const char *name)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].name, name))
			return f->v[i].text;
	return NULL;
}

struct subject {
	enum stb_change_of of;
	const char *what;
	const char *where;
	uint32_t n_cells;
};

static void say(struct stb_diffing *x, const struct subject *s, const char *name, const char *before, const char *after)
{
	struct stb_diff_line *l;

	if (before == after || (before && after && !strcmp(before, after)))
		return;
	l = stb_diff_line(x, s->of, STB_CHANGED, s->what);
	l->attribute = name;
	l->before = before;
	l->after = after;
	l->where = s->where;
	l->n_cells = s->n_cells;
}

/* The name of a value that is new or gone is no news: its cells are. */
static bool comes_with_cells(const char *name)
{
	return !strncmp(name, "label of ", 9) && strncmp(name, "label of axis ", 14);
}

static void compare(const struct facts *before, const struct facts *after, const struct subject *s)
{
	for (uint32_t i = 0; i < after->n; i++) {
		const char *name = after->v[i].name, *old = find(before, name);

		if (old || !comes_with_cells(name))
			say(after->x, s, name, old, after->v[i].text);
	}
	for (uint32_t i = 0; i < before->n; i++)
		if (!find(after, before->v[i].name) && !comes_with_cells(before->v[i].name))
			say(after->x, s, before->v[i].name, before->v[i].text, NULL);
}

static void come_and_gone(struct stb_diffing *x, enum stb_change change, const struct subject *s)
{
	struct stb_diff_line *l = stb_diff_line(x, s->of, change, s->what);

	l->where = s->where;
	l->n_cells = s->n_cells;
}

static void matrices(struct stb_diffing *x)
{
	for (uint32_t i = 0; i < x->after->n_matrices; i++) {
		const uint32_t k = x->matrix_partner[i];
		const struct stb_plan_matrix *m = &x->after->matrices[i];
		struct subject s = { STB_OF_MATRIX, stb_arena_printf(x->arena, "matrix %s", m->name), stb_diff_where(x, x->after, m->span),
			m->n_cells };
		struct facts before = { .x = x, .is_before = true }, after = { .x = x };

		if (k == STB_NONE) {
			come_and_gone(x, STB_ADDED, &s);
			continue;
		}
		if (strcmp(x->before->matrices[k].name, m->name)) {
			struct stb_diff_line *l = stb_diff_line(x, STB_OF_MATRIX, STB_RENAMED, "matrix");

			l->before = x->before->matrices[k].name;
			l->after = m->name;
			l->where = s.where;
		}
		matrix_facts(&before, &x->before->matrices[k]);
		matrix_facts(&after, m);
		compare(&before, &after, &s);
		before.n = after.n = 0;
		matrix_texts(&before, k, &x->before->matrices[k]);
		matrix_texts(&after, i, m);
		s.of = STB_OF_TEXT;
		s.n_cells = 0;
		compare(&before, &after, &s);
	}
	for (uint32_t k = 0; k < x->before->n_matrices; k++) {
		const struct stb_plan_matrix *m = &x->before->matrices[k];
		const struct subject s = { STB_OF_MATRIX, stb_arena_printf(x->arena, "matrix %s", m->name), stb_diff_where(x, x->before, m->span),
			m->n_cells };
		bool stays = false;

		for (uint32_t i = 0; i < x->after->n_matrices; i++)
			stays |= x->matrix_partner[i] == k;
		if (!stays)
			come_and_gone(x, STB_REMOVED, &s);
	}
	for (uint32_t i = 0; i < x->n_renames; i++) {
		struct stb_diff_line *l;

		if (strncmp(x->renames[i].kind, "axis ", 5))
			continue;
		l = stb_diff_line(x, STB_OF_MATRIX, STB_RENAMED, "axis");
		l->before = x->renames[i].before;
		l->after = x->renames[i].after;
	}
}

static void reports(struct stb_diffing *x)
{
	for (uint32_t i = 0; i < x->after->n_reports; i++) {
		const struct stb_plan_report *r = &x->after->reports[i], *old = NULL;
		struct subject s = { STB_OF_REPORT, stb_arena_printf(x->arena, "report %s", r->name), stb_diff_where(x, x->after, r->span), 0 };
		struct facts before = { .x = x, .is_before = true }, after = { .x = x };

		for (uint32_t k = 0; k < x->before->n_reports && !old; k++)
			if (!strcmp(x->before->reports[k].name, r->name))
				old = &x->before->reports[k];
		if (!old) {
			come_and_gone(x, STB_ADDED, &s);
			continue;
		}
		report_facts(&before, old);
		report_facts(&after, r);
		compare(&before, &after, &s);
		s.of = STB_OF_TEXT;
		say(x, &s, "label", quoted(x, old->label), quoted(x, r->label));
		say(x, &s, "note", quoted(x, old->note), quoted(x, r->note));
	}
	for (uint32_t i = 0; i < x->before->n_reports; i++) {
		const struct stb_plan_report *r = &x->before->reports[i];
		const struct subject s = { STB_OF_REPORT, stb_arena_printf(x->arena, "report %s", r->name), stb_diff_where(x, x->before, r->span), 0 };
		bool stays = false;

		for (uint32_t k = 0; k < x->after->n_reports; k++)
			stays |= !strcmp(x->after->reports[k].name, r->name);
		if (!stays)
			come_and_gone(x, STB_REMOVED, &s);
	}
}

static void claims(struct stb_diffing *x)
{
	for (uint32_t i = 0; i < x->after->n_claims; i++) {
		const struct stb_plan_claim *c = &x->after->claims[i], *old = NULL;
		struct subject s = { STB_OF_REPORT, stb_arena_printf(x->arena, "claim %s", c->name), stb_diff_where(x, x->after, c->span), 0 };
		struct facts before = { .x = x, .is_before = true }, after = { .x = x };

		for (uint32_t k = 0; k < x->before->n_claims && !old; k++)
			if (!strcmp(x->before->claims[k].name, c->name))
				old = &x->before->claims[k];
		if (!old) {
			come_and_gone(x, STB_ADDED, &s);
			continue;
		}
		claim_facts(&before, old);
		claim_facts(&after, c);
		compare(&before, &after, &s);
		s.of = STB_OF_TEXT;
		say(x, &s, "label", quoted(x, old->label), quoted(x, c->label));
		say(x, &s, "note", quoted(x, old->note), quoted(x, c->note));
	}
	for (uint32_t i = 0; i < x->before->n_claims; i++) {
		const struct stb_plan_claim *c = &x->before->claims[i];
		const struct subject s = { STB_OF_REPORT, stb_arena_printf(x->arena, "claim %s", c->name), stb_diff_where(x, x->before, c->span), 0 };
		bool stays = false;

		for (uint32_t k = 0; k < x->after->n_claims; k++)
			stays |= !strcmp(x->after->claims[k].name, c->name);
		if (!stays)
			come_and_gone(x, STB_REMOVED, &s);
	}
}

static void block_texts(struct stb_diffing *x)
{
	const struct stb_plan *p = x->after;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct stb_plan_block *b = &p->blocks[i], *old = NULL;
		struct subject s = { STB_OF_TEXT, stb_arena_printf(x->arena, "%s %s", b->kind, b->name), stb_diff_where(x, p, b->span), 0 };

		if (i && !strcmp(b[-1].kind, b->kind) && !strcmp(b[-1].name, b->name))
			continue; /* another variant */
		for (uint32_t k = 0; k < x->before->n_blocks && !old; k++) {
			const struct stb_plan_block *o = &x->before->blocks[k];

			if (!strcmp(o->kind, b->kind) && !strcmp(stb_diff_name(x, o->kind, o->name), b->name))
				old = o;
		}
		if (!old)
			continue;
		say(x, &s, "label", quoted(x, old->label), quoted(x, b->label));
		say(x, &s, "note", quoted(x, old->note), quoted(x, b->note));
	}
}

static void suite(struct stb_diffing *x)
{
	const struct stb_plan *a = x->before, *b = x->after;
	const struct subject s = { STB_OF_TEXT, "suite", "", 0 };

	say(x, &s, "name", a->suite, b->suite);
	say(x, &s, "title", quoted(x, a->title), quoted(x, b->title));
	say(x, &s, "description", quoted(x, a->description), quoted(x, b->description));
	say(x, &s, "source", quoted(x, a->source), quoted(x, b->source));
	say(x, &s, "licence", quoted(x, a->licence), quoted(x, b->licence));
}

static bool in_list(const char *const *texts, uint32_t n, const char *text)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(texts[i], text))
			return true;
	return false;
}

static void needs(struct stb_diffing *x, const char *what, const char **before, uint32_t n_before, const char **after, uint32_t n_after)
{
	for (uint32_t i = 0; i < n_after; i++)
		if (!in_list(before, n_before, after[i]))
			stb_diff_line(x, STB_OF_NEEDS, STB_ADDED, what)->after = after[i];
	for (uint32_t i = 0; i < n_before; i++)
		if (!in_list(after, n_after, before[i]))
			stb_diff_line(x, STB_OF_NEEDS, STB_REMOVED, what)->before = before[i];
}

void stb_diff_facts(struct stb_diffing *x)
{
	const struct stb_plan *a = x->before, *b = x->after;

	matrices(x);
	reports(x);
	claims(x);
	needs(x, "privilege", a->privileges, a->n_privileges, b->privileges, b->n_privileges);
	needs(x, "device", a->devices, a->n_devices, b->devices, b->n_devices);
	needs(x, "secret", a->secrets, a->n_secrets, b->secrets, b->n_secrets);
	block_texts(x);
	suite(x);
}
