/*
 * test_claim.c - claims over plans and figures written by hand: verdicts, the pair that is shown, and what --check says.
 */
#include "runtime/report/figure.h"
#include "tests/unit/report_fixture.h"

#include <math.h>

static struct stb_plan_claim *claim(struct fixture *f, const char *metric, enum stb_view form, const char *baseline)
{
	struct stb_plan_claim *c = hand_claim(f->p, "c", 0, metric, form);

	if (baseline) {
		c->baseline = hand_select(f->p, 0, baseline);
		c->has_baseline = true;
	}
	return c;
}

static void verdict_is(struct fixture *f, enum stb_verdict verdict, double worst, const char *pair)
{
	struct stb_claim_result res;

	if (!f->r)
		f->r = stb_results_new(f->p);
	stb_claim_check(f->r, f->p->n_claims - 1, &res);
	cr_expect(res.verdict == verdict, "%s", stb_verdict_text(res.verdict));
	if (isnan(worst))
		cr_expect(isnan(res.worst));
	else
		cr_expect(fabs(res.worst - worst) < 1e-9, "%.17g", res.worst);
	stb_buf_clear(&f->out);
	stb_claim_pair_print(&f->out, f->p, isnan(worst) ? &res.missing : &res.pair);
	cr_expect_str_eq(stb_buf_str(&f->out), pair);
	cr_expect((verdict == STB_CLAIM_NO_DATA) == (*res.reason != '\0'), "%s", res.reason);
}

static struct stb_val share(int64_t num, int64_t den)
{
	return stb_val_num(STB_V_SHARE, num, den);
}

static const struct stb_val open_end = { .type = STB_V_NONE };

static void three_disks(struct fixture *f, double std, double fast, double flash)
{
	static const char *const axes[] = { "storage: std fast flash", NULL };

	*f = (struct fixture){ .p = hand_plan() };
	hand_matrix(f->p, "m", "oltp", axes);
	put(f, 0, "std", 1, "tps", std, STB_STATUS_OK);
	put(f, 0, "fast", 1, "tps", fast, STB_STATUS_OK);
	put(f, 0, "flash", 1, "tps", flash, STB_STATUS_OK);
}

Test(claim, holds_for_every_pair_and_names_the_worst)
{
	struct fixture f;
	struct stb_plan_claim *c;

	three_disks(&f, 66, 100, 99);
	c = claim(&f, "tps", STB_VIEW_PERCENT, "storage=fast,flash");
	c->where = hand_select(f.p, 0, "storage=std");
	c->expect = hand_range(f.p, share(65, 100), share(68, 100));
	verdict_is(&f, STB_CLAIM_HOLDS, 66, "std against fast");
	c->expect = hand_range(f.p, share(65, 100), share(665, 1000));
	verdict_is(&f, STB_CLAIM_FAILS, 66.0 / 99 * 100, "std against flash");
	c->expect = hand_range(f.p, share(66, 100), open_end); /* ends are inclusive */
	verdict_is(&f, STB_CLAIM_HOLDS, 66, "std against fast");
	c->expect = hand_range(f.p, open_end, share(66, 100));
	verdict_is(&f, STB_CLAIM_FAILS, 66.0 / 99 * 100, "std against flash");
	fini(&f);
}

Test(claim, ranges_do_not_trip_over_binary_noise)
{
	struct fixture f;
	struct stb_plan_claim *c;

	three_disks(&f, 0.07, 0.1, 0.1); /* 0.07 / 0.1 * 100 is 70.00000000000001 */
	c = claim(&f, "tps", STB_VIEW_PERCENT, "storage=fast");
	c->where = hand_select(f.p, 0, "storage=std");
	c->expect = hand_range(f.p, share(65, 100), share(70, 100));
	verdict_is(&f, STB_CLAIM_HOLDS, 70, "std against fast");
	c->expect = hand_range(f.p, share(65, 100), share(69999, 100000));
	verdict_is(&f, STB_CLAIM_FAILS, 70, "std against fast");
	fini(&f);
}

Test(claim, a_single_figure_holds_at_its_digits)
{
	struct fixture f;
	struct stb_plan_claim *c;

	three_disks(&f, 2485, 1000, 1000); /* a tie: 2.49 by hand */
	c = claim(&f, "tps", STB_VIEW_RATIO, "storage=fast");
	c->where = hand_select(f.p, 0, "storage=std");
	c->expect = stb_val_num(STB_V_COUNT, 249, 100);
	c->digits = 2;
	verdict_is(&f, STB_CLAIM_HOLDS, 2.485, "std against fast");
	c->expect = stb_val_num(STB_V_COUNT, 248, 100);
	verdict_is(&f, STB_CLAIM_FAILS, 2.485, "std against fast");
	c->expect = stb_val_num(STB_V_COUNT, 25, 10);
	c->digits = 1;
	verdict_is(&f, STB_CLAIM_HOLDS, 2.485, "std against fast");
	c->digits = 2; /* 2.50 promises more than 2.5 */
	verdict_is(&f, STB_CLAIM_FAILS, 2.485, "std against fast");
	fini(&f);
}

Test(claim, published_relations)
{
	static const char *const axes[] = { "server: off on bound", NULL };
	static const struct {
		const char *metric, *server;
		int64_t basis_points;
	} published[] = { { "tps", "server=on", 841 }, { "tps", "server=bound", 103 }, { "lat_p95", "server=on", 1496 }, { "lat_p95", "server=bound", 526 } };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	put(&f, 0, "off", 1, "tps", 1843, STB_STATUS_OK);
	put(&f, 0, "off", 1, "lat_p95", 292.60, STB_STATUS_OK);
	put(&f, 0, "on", 1, "tps", 1998, STB_STATUS_OK);
	put(&f, 0, "on", 1, "lat_p95", 248.83, STB_STATUS_OK);
	put(&f, 0, "bound", 1, "tps", 1862, STB_STATUS_OK);
	put(&f, 0, "bound", 1, "lat_p95", 277.21, STB_STATUS_OK);
	for (size_t i = 0; i < STB_LEN(published); i++) {
		struct stb_plan_claim *c = claim(&f, published[i].metric, STB_VIEW_IMPROVEMENT, "server=off");

		c->where = hand_select(f.p, 0, published[i].server);
		c->expect = share(published[i].basis_points, 10000);
		c->digits = 2;
	}
	cr_expect(stb_claims_failed(f.r, NULL) == 0);
	shows(&f, "| c     | `tps improvement = 8.41%`      | +8.4102%  | on against off    | holds   |\n");
	f.p->claims[0].expect = share(842, 10000);
	shows(&f, "| c     | `tps improvement = 8.42%`      | +8.4102%  | on against off    | **fails** |\n");
	stb_buf_clear(&f.out);
	cr_expect(stb_claims_failed(f.r, &f.out) == 1);
	cr_expect_str_eq(stb_buf_str(&f.out), "claim `c` fails: tps improvement = 8.42%, worst +8.4102% (on against off)\n");
	fini(&f);
}

Test(claim, values_compare_in_their_unit)
{
	static const char *const axes[] = { "server: off", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_claim *c;

	hand_matrix(f.p, "m", "oltp", axes);
	put(&f, 0, "off", 1, "lat_p95", 4.9996, STB_STATUS_OK);
	c = claim(&f, "lat_p95", STB_VIEW_VALUE, NULL);
	c->expect = hand_range(f.p, open_end, stb_val_num(STB_V_TIME, 5000000, 1));
	verdict_is(&f, STB_CLAIM_HOLDS, 4.9996, "off");
	c->expect = hand_range(f.p, open_end, stb_val_num(STB_V_TIME, 4999599, 1));
	verdict_is(&f, STB_CLAIM_FAILS, 4.9996, "off");
	c->expect = stb_val_num(STB_V_TIME, 5000000, 1); /* 5ms */
	c->unit = "ms";
	verdict_is(&f, STB_CLAIM_HOLDS, 4.9996, "off");
	c->unit = "us"; /* 5000us */
	verdict_is(&f, STB_CLAIM_HOLDS, 4.9996, "off");
	c->digits = 1; /* 5000.0us */
	verdict_is(&f, STB_CLAIM_FAILS, 4.9996, "off");
	shows(&f, "| c     | `lat_p95 value = 5000.0us` | 4999.600us | off   | **fails** |\n");
	fini(&f);
}

Test(claim, without_data_nothing_was_shown)
{
	struct fixture f;
	struct stb_plan_claim *c;
	const char *all;

	three_disks(&f, 66, 100, 0);
	c = claim(&f, "tps", STB_VIEW_PERCENT, "storage=fast,flash");
	c->where = hand_select(f.p, 0, "storage=std");
	c->expect = hand_range(f.p, share(65, 100), share(68, 100));
	verdict_is(&f, STB_CLAIM_NO_DATA, 66, "std against fast");
	all = markdown(&f);
	cr_expect(strstr(all, "| 66.00% | std against fast | no data [1] |"), "figure and place belong together: %s", all);
	cr_expect(strstr(all, "- [1] std against flash: the baseline is 0\n"), "%s", all);
	stb_buf_clear(&f.out);
	cr_expect(stb_claims_failed(f.r, &f.out) == 1, "--check does not pass what was not shown");
	cr_expect_str_eq(stb_buf_str(&f.out),
		"claim `c` has no data: tps percent 65%..68%, but the baseline is 0 (std against flash)\n");
	c->expect = hand_range(f.p, share(67, 100), open_end); /* a pair that fails decides */
	verdict_is(&f, STB_CLAIM_FAILS, 66, "std against fast");
	c->where = hand_select(f.p, 0, "storage=fast"); /* nothing but the baseline itself */
	verdict_is(&f, STB_CLAIM_NO_DATA, NAN, "");
	fini(&f);
}

/* the pair without data comes first, between or last: the row is of one pair */
Test(claim, a_row_is_of_one_pair)
{
	static const char *const axes[] = { "storage: ssd=SSD hdd=HDD", "workload: w1=write w2 w3=trim", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_claim *c;
	struct stb_claim_result res;

	hand_matrix(f.p, "m", "io", axes);
	put(&f, 0, "ssd w1", 1, "iops", 37000, STB_STATUS_OK);
	put(&f, 0, "hdd w1", 1, "iops", 0, STB_STATUS_OK);
	put(&f, 0, "ssd w2", 1, "iops", 50000, STB_STATUS_OK);
	put(&f, 0, "hdd w2", 1, "iops", 1000, STB_STATUS_OK);
	c = claim(&f, "iops", STB_VIEW_RATIO, "storage=hdd");
	c->where = hand_select(f.p, 0, "storage=ssd");
	c->expect = hand_range(f.p, stb_val_num(STB_V_COUNT, 2, 1), open_end);
	verdict_is(&f, STB_CLAIM_NO_DATA, 50, "SSD / w2 against HDD / w2");
	shows(&f, "| 50.00x | SSD / w2 against HDD / w2 | no data [1] |\n");
	shows(&f, "- [1] SSD / write against HDD / write: the baseline is 0\n");
	c->expect = hand_range(f.p, stb_val_num(STB_V_COUNT, 51, 1), open_end);
	verdict_is(&f, STB_CLAIM_FAILS, 50, "SSD / w2 against HDD / w2");
	stb_claim_check(f.r, 0, &res);
	cr_expect(res.missing.cell == STB_NONE, "a claim that fails has its pair, and no other");
	fini(&f);
}

/* 2.45 and 2.55 are equally far from 2.5, but one reads as 2.6 */
Test(claim, what_fails_is_shown_and_not_what_holds)
{
	struct fixture f;
	struct stb_plan_claim *c;

	three_disks(&f, 1, 2.45, 2.55);
	c = claim(&f, "tps", STB_VIEW_RATIO, "storage=std");
	c->expect = stb_val_num(STB_V_COUNT, 25, 10);
	c->digits = 1;
	verdict_is(&f, STB_CLAIM_FAILS, 2.55, "flash against std");
	fini(&f);
}

Test(claim, untrustworthy_figures_show_nothing)
{
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_claim *c;

	hand_matrix(f.p, "m", "io", disks);
	put(&f, 0, "ssd w", 1, "iops", 10, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 20, STB_STATUS_FALLBACK);
	c = claim(&f, "iops", STB_VIEW_RATIO, "storage=ssd");
	c->expect = stb_val_num(STB_V_COUNT, 2, 1);
	verdict_is(&f, STB_CLAIM_NO_DATA, NAN, "PMEM-LVM / random write 4 KiB against SSD cloud disk / random write 4 KiB");
	fini(&f);
}

Test(claim, a_profile_does_not_assert)
{
	struct fixture f;
	struct stb_plan_claim *c;

	three_disks(&f, 1, 100, 100);
	c = claim(&f, "tps", STB_VIEW_PERCENT, "storage=fast");
	c->where = hand_select(f.p, 0, "storage=std");
	c->expect = share(66, 100);
	c->asserted = false;
	verdict_is(&f, STB_CLAIM_NOT_ASSERTED, 1, "std against fast");
	cr_expect(stb_claims_failed(f.r, NULL) == 0);
	fini(&f);
}

/* One cell hardly moves and its interval lies across the bound, the other is worse by its mean: figure, interval and pair are of one. */
Test(claim, figure_interval_and_cell_are_of_the_pair_that_decides)
{
	static const char *const axes[] = { "storage: disk", "workload: w w2", "run: base branch", NULL };
	static const double figures[4][3] = { { 100, 101, 102 }, { 147, 149, 151 }, { 100, 101, 102 }, { 60, 100, 140 } };
	static const char *const keys[] = { "disk w base", "disk w branch", "disk w2 base", "disk w2 branch" };
	struct fixture f = { .p = hand_plan() };
	struct stb_claim_result res;
	struct stb_plan_claim *c;
	const char *table;
	struct stb_buf one;

	hand_matrix(f.p, "m", "io", axes);
	f.p->matrices[0].axes[2].kind = "run";
	for (int k = 0; k < 4; k++)
		for (uint32_t rep = 0; rep < 3; rep++)
			put(&f, 0, keys[k], rep + 1, "iops", figures[k][rep], STB_STATUS_OK);
	c = claim(&f, "iops", STB_VIEW_PERCENT, "run=base");
	c->where = hand_select(f.p, 0, "run=branch");
	c->expect = hand_range(f.p, share(99, 100), open_end);
	c->confidence = share(95, 100);
	stb_claim_check(f.r, 0, &res);
	cr_expect_eq(res.verdict, STB_CLAIM_UNDECIDED);
	cr_expect(res.low < res.worst && res.worst < res.high, "%g %g %g", res.low, res.worst, res.high);
	cr_expect_eq(res.pair.cell, hand_cell(f.p, 0, "disk w2 branch"));
	cr_expect_eq(res.pair.base, hand_cell(f.p, 0, "disk w2 base"));
	stb_buf_init(&one);
	stb_claim_worst(&one, c, &res);
	stb_buf_clear(&f.out);
	cr_expect_eq(stb_claims_failed(f.r, &f.out), 1u);
	cr_expect(strstr(stb_buf_str(&f.out), stb_buf_str(&one)), "%s\n%s", stb_buf_str(&f.out), stb_buf_str(&one));
	cr_expect(strstr(stb_buf_str(&f.out), "(disk / w2 / branch against disk / w2 / base)"), "%s", stb_buf_str(&f.out));
	table = markdown(&f);
	cr_expect(strstr(table, stb_buf_str(&one)), "%s\n%s", table, stb_buf_str(&one));
	cr_expect(strstr(table, "disk / w2 / branch against disk / w2 / base"), "%s", table);
	cr_expect(strstr(stb_buf_str(&one), "% interval ") && strstr(stb_buf_str(&one), "% to "), "%s", stb_buf_str(&one));
	/* a pair that fails outright decides over one that is undecided and lies further out by its mean */
	c->expect = hand_range(f.p, open_end, share(120, 100));
	stb_claim_check(f.r, 0, &res);
	cr_expect_eq(res.verdict, STB_CLAIM_FAILS);
	cr_expect_eq(res.pair.cell, hand_cell(f.p, 0, "disk w branch"));
	stb_buf_fini(&one);
	fini(&f);
}

/* 320 ns against 5 ms reads as itself in every unit */
Test(claim, a_small_value_does_not_read_as_0)
{
	static const char *const axes[] = { "side: x", NULL };
	static const char *const units[] = { "ms", "s", NULL };

	for (size_t i = 0; i < STB_LEN(units); i++) {
		struct fixture f = { .p = hand_plan() };
		struct stb_plan_claim *c;
		struct stb_claim_result res;

		hand_matrix(f.p, "m", "io", axes);
		put(&f, 0, "x", 1, "lat_p95", 0.00032, STB_STATUS_OK);
		c = claim(&f, "lat_p95", STB_VIEW_VALUE, NULL);
		c->expect = hand_range(f.p, open_end, stb_val_num(STB_V_TIME, 5000000, 1));
		c->unit = units[i];
		stb_claim_check(f.r, 0, &res);
		stb_buf_clear(&f.out);
		stb_claim_worst(&f.out, c, &res);
		cr_expect(strspn(stb_buf_str(&f.out), "0.") && strstr(stb_buf_str(&f.out), "32"), "%s", stb_buf_str(&f.out));
		fini(&f);
	}
}
