/*
 * claim.c - what must hold, and whether it does.
 *
 * For every cell that the claim selects and every baseline of it (none: the value itself) there is one figure in the claim's form. Which one is
 * worst is told by its margin, the distance to the nearest bound of the claim (negative: outside); so the report shows the pair that decides.
 *
 * Figures are compared unrounded with a range, but at 15 significant digits: 68.00000000000001 from a division is 68. A single figure holds
 * when the result, rounded to the digits that were written, reads the same; ties round away from zero in decimal, as by hand.
 *
 * With a confidence a pair is judged by its interval (interval.c): it holds where the interval lies within the bounds, fails where it lies
 * outside, and is undecided where it does neither or too little was measured to have one.
 */
#include "runtime/report/figure.h"
#include "runtime/result/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How a pair stands, the worst last: of several pairs that one is shown. */
enum standing { HOLDS, UNDECIDED, FAILS };

struct check {
	const struct stb_results *r;
	const struct stb_plan_claim *claim;
	struct stb_metric metric;
	struct stb_arena arena;
	double low, high;   /* in the claim's form; infinite where open */
	double scale;       /* figure in the claim's form -> in the unit that the digits count in */
	bool single;
	uint32_t pairs, failed, missing, undecided;
	enum standing worst; /* of the worst so far, and its margin */
	double margin;
	struct stb_claim_result *out;
};

const char *stb_verdict_text(enum stb_verdict v)
{
	switch (v) {
	case STB_CLAIM_HOLDS:
		return "holds";
	case STB_CLAIM_FAILS:
		return "fails";
	case STB_CLAIM_UNDECIDED:
		return "undecided";
	case STB_CLAIM_NO_DATA:
		return "no data";
	case STB_CLAIM_NOT_ASSERTED:
		return "not asserted";
	}
	STB_BUG("unknown verdict");
}

/* The unit in which plans hold numbers of a type; NULL where there is none. */
static const char *base_unit(enum stb_vtype type)
{
	switch (type) {
	case STB_V_TIME:
		return "ns";
	case STB_V_BYTES:
		return "B";
	case STB_V_BYTE_RATE:
		return "B/s";
	case STB_V_RATE:
		return "1/s";
	case STB_V_NONE:
	case STB_V_BOOL:
	case STB_V_COUNT:
	case STB_V_SHARE:
	case STB_V_CLOCK:
	case STB_V_STRING:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		return NULL;
	}
	STB_BUG("unknown type");
}

/* An expected number in the claim's form: shares in %, others in the metric's unit. */
static double expected(const struct check *c, const struct stb_val *v)
{
	const char *base = base_unit(v->type);
	double x = stb_val_double(v);

	if (v->type == STB_V_SHARE)
		return x * 100;
	if (base)
		stb_metric_convert(x, base, c->metric.unit, &x);
	return x;
}

static void set_bounds(struct check *c)
{
	const struct stb_val *e = &c->claim->expect;
	double y;

	c->single = e->type != STB_V_RANGE;
	c->low = -INFINITY;
	c->high = INFINITY;
	c->scale = 1;
	if (c->single)
		c->low = c->high = expected(c, e);
	if (!c->single && e->n_items > 0 && e->items[0].type != STB_V_NONE)
		c->low = expected(c, &e->items[0]);
	if (!c->single && e->n_items > 1 && e->items[1].type != STB_V_NONE)
		c->high = expected(c, &e->items[1]);
	if (c->claim->form == STB_VIEW_VALUE && c->claim->unit && stb_metric_convert(1, c->metric.unit, c->claim->unit, &y))
		c->scale = y;
}

/* Reads the same as the expected figure at the digits written. */
static bool reads_same(const struct check *c, double x)
{
	struct stb_buf a, b;
	bool same;

	stb_buf_init(&a);
	stb_buf_init(&b);
	stb_number_fixed(&a, x * c->scale, (int)STB_MIN(c->claim->digits, 15u));
	stb_number_fixed(&b, c->low * c->scale, (int)STB_MIN(c->claim->digits, 15u));
	same = !strcmp(stb_buf_str(&a), stb_buf_str(&b));
	stb_buf_fini(&a);
	stb_buf_fini(&b);
	return same;
}

/* How far inside the bounds; negative outside. */
static double margin_of(const struct check *c, double x)
{
	const double low = stb_number_settle(c->low), high = stb_number_settle(c->high);

	x = stb_number_settle(x);
	if (c->single)
		return -fabs(x - low);
	return STB_MIN(x - low, high - x);
}

/* Copies text into a field of n bytes; what does not fit is cut between two characters. */
static void copy_cut(char *to, size_t n, const char *from)
{
	size_t len = strlen(from);

	if (len >= n) {
		len = n - 1;
		while (len && ((unsigned char)from[len] & 0xC0) == 0x80)
			len--;
	}
	memcpy(to, from, len);
	to[len] = '\0';
}

/* By labels, the run among them: a pair may differ in nothing else. */
static const char *cell_text(struct stb_arena *a, const struct stb_plan *p, uint32_t cell)
{
	const struct stb_plan_matrix *m = &p->matrices[p->cells[cell].matrix];
	const struct stb_plan_block *w = &p->blocks[p->cells[cell].workload];
	const char *text = "";

	for (uint32_t i = 0; i < m->n_axes; i++) {
		const uint32_t v = p->cells[cell].point[i];

		if (v != STB_NONE)
			text = stb_arena_printf(a, "%s%s%s", text, *text ? " / " : "", m->axes[i].values[v].label);
	}
	if (!*text)
		text = w->label ? w->label : w->name;
	return text;
}

void stb_claim_pair_print(struct stb_buf *out, const struct stb_plan *p, const struct stb_claim_pair *pair)
{
	struct stb_arena a;

	if (pair->cell == STB_NONE)
		return;
	stb_arena_init(&a);
	stb_buf_adds(out, cell_text(&a, p, pair->cell));
	if (pair->base != STB_NONE)
		stb_buf_printf(out, " against %s", cell_text(&a, p, pair->base));
	stb_arena_fini(&a);
}

static void missing(struct check *c, uint32_t cell, uint32_t base, const char *why)
{
	if (c->missing++)
		return;
	c->out->missing = (struct stb_claim_pair){ cell, base };
	copy_cut(c->out->reason, sizeof(c->out->reason), why);
}

/* The claim's form of a ratio v/b, or of a value. */
static bool form_of(const struct check *c, double g, double *out)
{
	*out = g;
	return c->claim->form == STB_VIEW_VALUE || !stb_relative_of(c->claim->form, c->metric.direction, g, out);
}

/* How a pair stands by its interval, which is noted in *one where there is one; else one->reason says why not. */
static enum standing judge(struct check *c, uint32_t cell, uint32_t base, struct stb_claim_result *one)
{
	struct stb_interval ci;
	const char *why;
	double ends[2];

	why = stb_interval_get(c->r, cell, base, c->claim->metric, stb_val_double(&c->claim->confidence), &ci);
	if (why && ci.n < 3)
		why = stb_arena_printf(&c->arena, "no claim (n = %u)", ci.n);
	if (!why && (!form_of(c, ci.low, &ends[0]) || !form_of(c, ci.high, &ends[1])))
		why = "the figures are too far apart";
	if (why) {
		copy_cut(one->reason, sizeof(one->reason), why);
		return UNDECIDED;
	}
	one->low = STB_MIN(ends[0], ends[1]); /* where less is better the greater ratio is the worse one */
	one->high = STB_MAX(ends[0], ends[1]);
	if (margin_of(c, one->low) >= 0 && margin_of(c, one->high) >= 0)
		return HOLDS;
	if (one->high < c->low || one->low > c->high)
		return FAILS;
	copy_cut(one->reason, sizeof(one->reason), "the interval reaches over a bound");
	return UNDECIDED;
}

/* The pair that decides: of those that stand worst, the one with the least margin. Where rounding tells a pair that fails from one that
 * holds, their margins may not. */
static void note_pair(struct check *c, const struct stb_claim_result *one, enum standing standing, double margin)
{
	c->failed += standing == FAILS;
	c->undecided += standing == UNDECIDED;
	if (c->pairs++ && (standing == c->worst ? margin >= c->margin : standing < c->worst))
		return;
	c->margin = margin;
	c->worst = standing;
	c->out->worst = one->worst;
	c->out->low = one->low;
	c->out->high = one->high;
	c->out->pair = one->pair;
	if (!c->missing)
		memcpy(c->out->reason, one->reason, sizeof(one->reason));
}

static void check_pair(struct check *c, uint32_t cell, uint32_t base)
{
	struct stb_claim_result one = { .low = NAN, .high = NAN, .pair = { cell, base } };
	struct stb_figure v, b = { 0 };
	enum standing standing;
	const char *why;
	double x, margin;

	stb_figure_get(c->r, cell, c->claim->metric, c->claim->aggregate, &v);
	why = stb_figure_trouble(&c->arena, c->r, cell, c->claim->metric, &v);
	if (!why && base != STB_NONE) {
		stb_figure_get(c->r, base, c->claim->metric, c->claim->aggregate, &b);
		why = stb_figure_trouble(&c->arena, c->r, base, c->claim->metric, &b);
		if (why)
			why = stb_arena_printf(&c->arena, "baseline: %s", why);
	}
	x = v.value;
	if (!why && c->claim->form != STB_VIEW_VALUE)
		why = base == STB_NONE ? "the claim has no baseline" :
					 stb_relative(c->claim->form, c->metric.direction, v.value, b.value, &x);
	if (why) {
		missing(c, cell, base, why);
		return;
	}
	one.worst = x;
	margin = margin_of(c, x);
	standing = (c->single ? reads_same(c, x) : margin >= 0) ? HOLDS : FAILS;
	if (c->claim->confidence.type == STB_V_SHARE)
		standing = judge(c, cell, base, &one);
	note_pair(c, &one, standing, margin);
}

static void check_cell(struct check *c, uint32_t cell)
{
	uint32_t n, *base;

	if (!c->claim->has_baseline) {
		check_pair(c, cell, STB_NONE);
		return;
	}
	if (stb_selector_match(&c->claim->baseline, c->r->plan->cells[cell].point))
		return;
	base = stb_baselines(c->r->plan, cell, &c->claim->baseline, &c->arena, &n);
	for (uint32_t i = 0; i < n; i++)
		check_pair(c, cell, base[i]);
	if (!n)
		missing(c, cell, STB_NONE, "the matrix has no baseline for it");
}

void stb_claim_check(const struct stb_results *r, uint32_t claim, struct stb_claim_result *out)
{
	const struct stb_plan *p = r->plan;
	struct check c = { .r = r, .claim = &p->claims[claim], .out = out };
	const struct stb_plan_matrix *m = &p->matrices[c.claim->matrix];

	memset(out, 0, sizeof(*out));
	out->worst = out->low = out->high = NAN;
	out->pair = out->missing = (struct stb_claim_pair){ STB_NONE, STB_NONE };
	if (!stb_metric_find(c.claim->metric, &c.metric))
		c.metric = (struct stb_metric){ .unit = "", .direction = STB_NO_DIRECTION };
	stb_arena_init(&c.arena);
	set_bounds(&c);
	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++) {
		if (stb_selector_match(&c.claim->where, p->cells[i].point))
			check_cell(&c, i);
	}
	if (c.failed) {
		out->verdict = STB_CLAIM_FAILS;
		out->missing = (struct stb_claim_pair){ STB_NONE, STB_NONE };
		out->reason[0] = '\0';
	} else if (c.missing || !c.pairs) {
		out->verdict = STB_CLAIM_NO_DATA;
		if (!c.missing)
			copy_cut(out->reason, sizeof(out->reason), "no cell is compared with a baseline other than itself");
	} else if (c.undecided) {
		out->verdict = STB_CLAIM_UNDECIDED;
		out->missing = out->pair;
	} else {
		out->verdict = STB_CLAIM_HOLDS;
	}
	if (!c.claim->asserted)
		out->verdict = STB_CLAIM_NOT_ASSERTED;
	stb_arena_fini(&c.arena);
}

void stb_claim_expected(struct stb_buf *out, const struct stb_plan_claim *claim)
{
	const struct stb_val *e = &claim->expect;
	const char *base = base_unit(e->type);
	const int digits = (int)STB_MIN(claim->digits, 15u);
	double x;

	stb_buf_printf(out, "%s %s ", claim->metric, stb_view_name(claim->form));
	if (e->type != STB_V_RANGE)
		stb_buf_adds(out, "= ");
	if (base && claim->unit && stb_metric_convert(stb_val_double(e), base, claim->unit, &x)) {
		stb_number_fixed(out, x, digits);
		stb_buf_adds(out, claim->unit);
	} else if (e->type == STB_V_COUNT || e->type == STB_V_SHARE) {
		x = stb_val_double(e) * (e->type == STB_V_SHARE ? 100 : 1);
		stb_number_fixed(out, x, digits);
		stb_buf_adds(out, e->type == STB_V_SHARE ? "%" : claim->form == STB_VIEW_RATIO ? "x" : "");
	} else {
		stb_val_print(out, e);
	}
}

/* A figure in the claim's form and unit, with two digits more than the claim has, or as many as it takes to be other than 0. */
static void print_figure(struct stb_buf *out, const struct stb_plan_claim *claim, double x)
{
	int decimals = claim->expect.type == STB_V_RANGE ? 2 : (int)STB_MIN(claim->digits, 13u) + 2;
	enum stb_view like = claim->form;
	const char *unit = "";
	struct stb_metric m;

	if (claim->form == STB_VIEW_VALUE && stb_metric_find(claim->metric, &m)) {
		like = STB_VIEW_RATIO; /* 0.00032ms, not 0.00ms */
		unit = m.unit;
		if (claim->unit && stb_metric_convert(x, m.unit, claim->unit, &x))
			unit = claim->unit;
	}
	stb_view_format_figure(out, claim->form, x, stb_view_decimals(like, x, decimals));
	stb_buf_adds(out, strcmp(unit, "1/s") ? unit : "/s");
}

void stb_claim_worst(struct stb_buf *out, const struct stb_plan_claim *claim, const struct stb_claim_result *res)
{
	struct stb_arena a;

	if (isnan(res->worst)) {
		stb_buf_adds(out, "n/a");
		return;
	}
	print_figure(out, claim, res->worst);
	if (isnan(res->low))
		return;
	stb_arena_init(&a);
	stb_buf_printf(out, " (%s interval ", stb_val_text(&a, &claim->confidence));
	print_figure(out, claim, res->low);
	stb_buf_adds(out, " to ");
	print_figure(out, claim, res->high);
	stb_buf_addc(out, ')');
	stb_arena_fini(&a);
}

uint32_t stb_claims_failed(const struct stb_results *r, struct stb_buf *why)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < r->plan->n_claims; i++) {
		const struct stb_plan_claim *claim = &r->plan->claims[i];
		const struct stb_claim_pair *pair;
		struct stb_claim_result res;

		stb_claim_check(r, i, &res);
		if (res.verdict == STB_CLAIM_HOLDS || res.verdict == STB_CLAIM_NOT_ASSERTED)
			continue;
		failed++;
		if (!why)
			continue;
		stb_buf_printf(why, "claim `%s` %s: ", claim->name, res.verdict == STB_CLAIM_NO_DATA ? "has no data" : stb_verdict_text(res.verdict));
		stb_claim_expected(why, claim);
		if (res.verdict != STB_CLAIM_NO_DATA) {
			stb_buf_adds(why, ", worst ");
			stb_claim_worst(why, claim, &res);
			if (*res.reason)
				stb_buf_printf(why, ", %s", res.reason);
		} else {
			stb_buf_printf(why, ", but %s", res.reason);
		}
		pair = res.verdict == STB_CLAIM_NO_DATA ? &res.missing : &res.pair;
		if (pair->cell != STB_NONE) {
			stb_buf_adds(why, " (");
			stb_claim_pair_print(why, r->plan, pair);
			stb_buf_addc(why, ')');
		}
		stb_buf_addc(why, '\n');
	}
	return failed;
}
