/* test_compare.c - two runs against each other: signs, claims, holes and zeros. */
#include "runtime/report/compare.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct stb_plan *plan_of(uint32_t cells)
{
	const struct stb_matrix_shape shape = { .groups = 1, .cells = cells, .repeat = 3, .order = STB_ORDER_DECLARED, .fresh = STB_FRESH_GROUP };

	return stb_test_plan(STB_TEST_NO_SERVER, &shape, 1);
}

/* n repetitions from the list. */
static void add(struct stb_results *r, uint32_t cell, const char *metric, const double *values, uint32_t n, enum stb_status status)
{
	struct stb_err err;

	stb_err_clear(&err);
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(stb_results_add(r, cell, 1, i + 1, metric, values[i], status, &err), 0, "%s", err.what);
}

#define ADD(r, cell, metric, ...) \
	add(r, cell, metric, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), STB_STATUS_OK)

struct pair {
	struct stb_plan *p;
	struct stb_results *was, *is;
	struct stb_comparison c;
};

static void open_pair(struct pair *t, uint32_t cells)
{
	t->p = plan_of(cells);
	t->was = stb_results_new(t->p);
	t->is = stb_results_new(t->p);
}

static void compare(struct pair *t, const char *metric)
{
	stb_compare(&t->c, t->was, t->is, &metric, 1);
}

static void close_pair(struct pair *t)
{
	stb_comparison_fini(&t->c);
	stb_results_free(t->was);
	stb_results_free(t->is);
	stb_plan_free(t->p);
}

/* One cell, three repetitions near each value. */
static struct stb_compare_row one(const char *metric, double was, double is)
{
	struct pair t;
	struct stb_compare_row row;

	open_pair(&t, 1);
	ADD(t.was, 0, metric, was * 0.999, was, was * 1.001);
	ADD(t.is, 0, metric, is * 0.999, is, is * 1.001);
	compare(&t, metric);
	cr_assert_eq(t.c.n_rows, 1u);
	row = t.c.rows[0];
	row.why = NULL;
	close_pair(&t);
	return row;
}

Test(compare, better_and_worse_follow_the_metric)
{
	struct stb_compare_row r = one("iops", 100, 80);

	cr_assert_float_eq(r.change, -20, 1e-9);
	cr_assert_eq(r.shift, STB_SHIFT_WORSE);
	cr_assert(r.low < r.change && r.change < r.high && r.high < 0);
	r = one("lat_mean", 10, 8);
	cr_assert_float_eq(r.change, -20, 1e-9, "the same sign, and another meaning");
	cr_assert_eq(r.shift, STB_SHIFT_BETTER);
	cr_assert_eq(one("iops", 80, 100).shift, STB_SHIFT_BETTER);
	cr_assert_eq(one("lat_mean", 8, 10).shift, STB_SHIFT_WORSE);
	cr_assert_eq(one("io_bytes", 8, 10).shift, STB_SHIFT_OTHER, "a metric that has no better");
	cr_assert_eq(one("iops", 100, 100.01).shift, STB_SHIFT_NONE);
	cr_assert_eq(one("iops", 100, 100).shift, STB_SHIFT_NONE);
}

Test(compare, fewer_than_three_repetitions_make_no_claim)
{
	struct pair t;

	open_pair(&t, 1);
	ADD(t.was, 0, "iops", 100, 100, 100);
	ADD(t.is, 0, "iops", 50);
	compare(&t, "iops");
	cr_assert_eq(t.c.rows[0].shift, STB_SHIFT_NO_CLAIM);
	cr_assert_str_eq(t.c.rows[0].why, "n = 1");
	cr_assert_float_eq(t.c.rows[0].change, -50, 1e-9, "the change is shown all the same");
	cr_assert_not(stb_compare_is_regression(&t.c.rows[0], 5));
	close_pair(&t);
}

Test(compare, holes_are_counted_and_never_filled)
{
	struct pair t;

	open_pair(&t, 2);
	ADD(t.was, 0, "iops", 100, 100, 100);
	ADD(t.is, 0, "iops", 100, 100, 100);
	ADD(t.was, 1, "iops", 10000, 10000, 10000);
	compare(&t, "iops");
	cr_assert_eq(t.c.n_means, 1u);
	cr_assert_float_eq(t.c.means[0].change, 0, 1e-9);
	cr_assert_eq(t.c.means[0].n, 1u);
	cr_assert_eq(t.c.means[0].missing, 1u);
	cr_assert_eq(t.c.rows[1].shift, STB_SHIFT_NA);
	cr_assert(t.c.rows[1].lost);
	cr_assert(stb_compare_is_regression(&t.c.rows[1], 5), "what was measured and is not any more does not pass a check");
	close_pair(&t);
}

Test(compare, zeros)
{
	struct pair t;

	open_pair(&t, 3);
	ADD(t.was, 0, "iops", 0, 0, 0);
	ADD(t.is, 0, "iops", 12, 12, 12);
	ADD(t.was, 1, "iops", 3069448, 3069448, 3069448);
	ADD(t.is, 1, "iops", 0, 0, 0);
	ADD(t.was, 2, "iops", 0, 0, 0);
	ADD(t.is, 2, "iops", 0, 0, 0);
	compare(&t, "iops");
	cr_assert_eq(t.c.rows[0].shift, STB_SHIFT_NA);
	cr_assert_not(t.c.rows[0].has_change);
	cr_assert_float_eq(t.c.rows[1].change, -100, 1e-9);
	cr_assert_eq(t.c.rows[2].shift, STB_SHIFT_NA);
	cr_assert_eq(t.c.means[0].n, 0u);
	cr_assert_eq(t.c.means[0].missing, 3u);
	for (size_t i = 0; i < t.c.n_rows; i++)
		cr_assert(isfinite(t.c.rows[i].change));
	close_pair(&t);
}

Test(compare, what_is_not_trustworthy_is_kept_out)
{
	const double wrong[] = { 1, 1, 1 };
	struct pair t;

	open_pair(&t, 2);
	ADD(t.was, 0, "iops", 100, 101, 102);
	add(t.is, 0, "iops", wrong, 3, STB_STATUS_ERRORS);
	add(t.was, 1, "iops", wrong, 3, STB_STATUS_EARLY);
	ADD(t.is, 1, "iops", 100, 101, 102);
	compare(&t, "iops");
	cr_assert_eq(t.c.rows[0].shift, STB_SHIFT_NA);
	cr_assert_not_null(strstr(t.c.rows[0].why, "new run: not trustworthy"));
	cr_assert(t.c.rows[0].lost);
	cr_assert_not_null(strstr(t.c.rows[1].why, "old run: not trustworthy"));
	cr_assert_not(t.c.rows[1].lost, "nothing was lost that could be trusted");
	close_pair(&t);
}

Test(compare, cells_of_one_side_are_listed)
{
	struct pair t;
	struct stb_plan *more = plan_of(3);
	uint8_t keep[3] = { 1, 1, 0 };
	struct stb_results *selected = stb_results_new(more);
	const char *metric = "iops";
	size_t judged;

	open_pair(&t, 2);
	strcpy(more->cells[1].id, "ffff");
	stb_results_add_run(selected, keep, NULL);
	ADD(t.was, 0, "iops", 1, 2, 3);
	ADD(selected, 0, "iops", 1, 2, 3);
	stb_compare(&t.c, t.was, selected, &metric, 1);
	cr_assert_eq(t.c.n_rows, 1u);
	cr_assert_eq(t.c.n_only_old, 1u);
	cr_assert_eq(t.c.only_old[0], 1u);
	cr_assert_eq(t.c.n_only_new, 1u, "what was not selected is on neither side");
	cr_assert_eq(t.c.only_new[0], 1u);
	cr_assert_eq(stb_compare_regressions(&t.c, 5, &judged), 0u);
	cr_assert_eq(judged, 1u);
	stb_results_free(selected);
	close_pair(&t);
	stb_plan_free(more);
}

Test(compare, a_threshold_is_one_of_the_figure)
{
	struct stb_compare_row r = one("iops", 100, 94);

	cr_assert(stb_compare_is_regression(&r, 5));
	cr_assert_not(stb_compare_is_regression(&r, 7));
	r = one("lat_mean", 100, 106);
	cr_assert(stb_compare_is_regression(&r, 5));
	r = one("lat_mean", 100, 50);
	cr_assert_not(stb_compare_is_regression(&r, 5), "better is no regression");
}
