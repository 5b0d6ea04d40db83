/*
 * test_interval.c - intervals of comparisons: Student's quantile against published tables, what counts as a sample, and the three verdicts of
 * a claim with a confidence.
 */
#include "runtime/report/figure.h"
#include "runtime/report/report.h"
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct pair {
	struct stb_plan *p;
	struct stb_results *r;
};

static void open_pair(struct pair *x, const char *metric)
{
	static const char *const axes[] = { "storage: base other", NULL };
	struct stb_plan_report *rep;

	*x = (struct pair){ .p = hand_plan() };
	hand_matrix(x->p, "m", "oltp", axes);
	rep = hand_report(x->p, "t", 0, metric, "percent ci");
	rep->rows = 0;
	rep->baseline = hand_select(x->p, 0, "storage=base");
	rep->has_baseline = true;
	x->r = stb_results_new(x->p);
}

static void close_pair(struct pair *x)
{
	stb_results_free(x->r);
	stb_plan_free(x->p);
}

static void put(struct pair *x, const char *key, uint32_t slot, uint32_t rep, const char *metric, double v, enum stb_status status)
{
	struct stb_err err;

	cr_assert(!stb_results_add(x->r, hand_cell(x->p, 0, key), slot, rep, metric, v, status, &err), "%s", err.what);
}

static void put_three(struct pair *x, const char *key, const char *metric, double a, double b, double c)
{
	put(x, key, 1, 1, metric, a, STB_STATUS_OK);
	put(x, key, 1, 2, metric, b, STB_STATUS_OK);
	put(x, key, 1, 3, metric, c, STB_STATUS_OK);
}

static void shows(struct pair *x, const char *text)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_report_markdown(x->r, &b);
	cr_expect(strstr(stb_buf_str(&b), text), "not in the report: %s\n%s", text, stb_buf_str(&b));
	stb_buf_fini(&b);
}

Test(interval, students_quantile_is_that_of_the_tables)
{
	static const struct {
		double confidence, df, t;
	} published[] = {
		{ 0.95, 1, 12.7062 }, { 0.90, 1, 6.3138 }, { 0.95, 2, 4.3027 },  { 0.99, 2, 9.9248 },  { 0.95, 4, 2.7764 },
		{ 0.95, 10, 2.2281 }, { 0.50, 5, 0.7267 }, { 0.99, 30, 2.7500 }, { 0.95, 1e6, 1.9600 },
	};

	for (size_t i = 0; i < STB_LEN(published); i++)
		cr_expect(fabs(stb_student_quantile(published[i].confidence, published[i].df) - published[i].t) < 6e-5, "%g with %g: %g",
			published[i].confidence, published[i].df, stb_student_quantile(published[i].confidence, published[i].df));
}

/* ln 1.1 +- t(2) x ln 1.1 / sqrt 3 */
Test(interval, is_of_logarithms)
{
	struct stb_interval ci;
	struct pair x;

	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 100, 100);
	put_three(&x, "other", "tps", 100, 110, 121);
	cr_expect_null(stb_interval_get(x.r, hand_cell(x.p, 0, "other"), hand_cell(x.p, 0, "base"), "tps", 0.95, &ci));
	cr_expect(fabs(ci.low - 0.868101) < 2e-5, "%.9g", ci.low);
	cr_expect(fabs(ci.high - 1.393848) < 2e-5, "%.9g", ci.high);
	cr_expect(fabs(ci.low * ci.high - 1.21) < 1e-9, "both ways alike");
	shows(&x, "86.81%..139.39%");
	close_pair(&x);
}

Test(interval, without_spread_it_is_a_point)
{
	struct pair x;

	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 100, 100);
	put_three(&x, "other", "tps", 50, 50, 50);
	shows(&x, "50.00%..50.00%");
	close_pair(&x);
}

Test(interval, two_repetitions_make_no_claim)
{
	struct pair x;

	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 101, 102);
	put(&x, "other", 1, 1, "tps", 50, STB_STATUS_OK);
	put(&x, "other", 1, 2, "tps", 51, STB_STATUS_OK);
	put(&x, "other", 1, 3, "tps", 5, STB_STATUS_DISTURBED); /* does not count */
	shows(&x, "no claim (n = 2)");
	close_pair(&x);
}

/* Three slots or more: their means are the samples, however many repetitions they hold. Two slots: the repetitions. */
Test(interval, slots_are_samples_where_there_are_three)
{
	struct stb_interval ci;
	struct pair x;

	open_pair(&x, "tps");
	for (uint32_t slot = 1; slot <= 3; slot++) {
		for (uint32_t rep = 1; rep <= 4; rep++) {
			put(&x, "base", slot, rep, "tps", 100, STB_STATUS_OK);
			put(&x, "other", slot, rep, "tps", (rep % 2 ? 90 : 110) + slot, STB_STATUS_OK);
		}
	}
	cr_expect_null(stb_interval_get(x.r, hand_cell(x.p, 0, "other"), STB_NONE, "tps", 0.95, &ci));
	cr_expect_eq(ci.n, 3);
	cr_expect(ci.high - ci.low < 6, "slots differ by 1, repetitions by 20: %g to %g", ci.low, ci.high);
	close_pair(&x);
	open_pair(&x, "tps");
	for (uint32_t slot = 1; slot <= 2; slot++) {
		for (uint32_t rep = 1; rep <= 2; rep++)
			put(&x, "other", slot, rep, "tps", 100 + slot + rep, STB_STATUS_OK);
	}
	cr_expect_null(stb_interval_get(x.r, hand_cell(x.p, 0, "other"), STB_NONE, "tps", 0.95, &ci));
	cr_expect_eq(ci.n, 4);
	close_pair(&x);
}

Test(interval, zero_has_no_logarithm)
{
	struct pair x;

	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 101, 102);
	put_three(&x, "other", "tps", 1, 0, 1);
	shows(&x, "a figure is 0");
	close_pair(&x);
}

static enum stb_verdict verdict(struct pair *x, enum stb_view form, const char *metric, struct stb_val low, struct stb_val high)
{
	struct stb_plan_claim *c = hand_claim(x->p, "c", 0, metric, form);
	struct stb_claim_result res;

	c->where = hand_select(x->p, 0, "storage=other");
	if (form != STB_VIEW_VALUE) {
		c->baseline = hand_select(x->p, 0, "storage=base");
		c->has_baseline = true;
	}
	c->expect = hand_range(x->p, low, high);
	c->confidence = stb_val_num(STB_V_SHARE, 95, 100);
	stb_claim_check(x->r, x->p->n_claims - 1, &res);
	cr_expect_eq(res.verdict == STB_CLAIM_UNDECIDED, *res.reason != '\0', "%s", res.reason);
	return res.verdict;
}

static struct stb_val share(int64_t pct)
{
	return stb_val_num(STB_V_SHARE, pct, 100);
}

Test(interval, a_claim_holds_fails_or_is_undecided)
{
	const struct stb_val open_end = { .type = STB_V_NONE };
	struct pair x;

	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 101, 99);
	put_three(&x, "other", "tps", 150, 151, 149);
	cr_expect_eq(verdict(&x, STB_VIEW_PERCENT, "tps", share(140), share(160)), STB_CLAIM_HOLDS);
	cr_expect_eq(verdict(&x, STB_VIEW_PERCENT, "tps", share(160), open_end), STB_CLAIM_FAILS);
	cr_expect_eq(verdict(&x, STB_VIEW_PERCENT, "tps", share(150), open_end), STB_CLAIM_UNDECIDED, "the figure is 150%%");
	cr_expect_eq(verdict(&x, STB_VIEW_IMPROVEMENT, "tps", share(40), open_end), STB_CLAIM_HOLDS);
	cr_expect_eq(verdict(&x, STB_VIEW_VALUE, "tps", stb_val_num(STB_V_COUNT, 140, 1), open_end), STB_CLAIM_HOLDS);
	close_pair(&x);
	/* the greater ratio of a latency is the lesser improvement */
	open_pair(&x, "lat_mean");
	put_three(&x, "base", "lat_mean", 10, 10.1, 9.9);
	put_three(&x, "other", "lat_mean", 5, 5.05, 4.95);
	cr_expect_eq(verdict(&x, STB_VIEW_IMPROVEMENT, "lat_mean", share(45), share(55)), STB_CLAIM_HOLDS);
	cr_expect_eq(verdict(&x, STB_VIEW_IMPROVEMENT, "lat_mean", share(55), share(60)), STB_CLAIM_FAILS);
	close_pair(&x);
	/* one measurement decides nothing */
	open_pair(&x, "tps");
	put_three(&x, "base", "tps", 100, 101, 99);
	put(&x, "other", 1, 1, "tps", 500, STB_STATUS_OK);
	cr_expect_eq(verdict(&x, STB_VIEW_PERCENT, "tps", share(140), open_end), STB_CLAIM_UNDECIDED);
	close_pair(&x);
}
