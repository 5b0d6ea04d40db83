/* test_past.c - what a journal says was measured: of several results the last, none that the plan does not ask for, files without the rest. */
#include "runtime/exec/past.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct stb_plan *plan(void)
{
	const struct stb_matrix_shape shape = { .groups = 1, .cells = 2, .repeat = 2, .order = STB_ORDER_DECLARED, .fresh = STB_FRESH_GROUP };

	return stb_test_plan(STB_TEST_NO_SERVER, &shape, 1);
}

static void gather(struct stb_past *past, const char *ev, const char *id, int repetition, const char *status, double iops)
{
	json_t *r = json_pack("{s:s,s:s,s:i,s:i,s:s,s:{s:f}}", "ev", ev, "cell", id, "slot", 1, "repetition", repetition, "status", status,
		"metrics", "iops", iops);
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_past_gather(past, r, &err), 0);
	json_decref(r);
}

Test(past, the_last_result_of_a_repetition_counts)
{
	struct stb_plan *p = plan();
	struct stb_results *r = stb_results_new(p);
	struct stb_past past = { 0 };
	struct stb_err err;

	stb_err_clear(&err);
	gather(&past, "start", "", 0, "", 0);
	gather(&past, "result", p->cells[1].id, 2, "ok", 1);
	gather(&past, "result", p->cells[0].id, 1, "invalid:errors", 2);
	gather(&past, "end", p->cells[0].id, 2, "ok", 3);
	gather(&past, "start", "", 0, "", 0);
	gather(&past, "result", p->cells[0].id, 1, "ok", 4.5);
	cr_assert_eq(stb_past_sort(&past, p, true, &err), 0);
	cr_assert_eq(past.n, 2u);
	cr_assert_eq(past.results[0].cell, 1u, "in the order of the journal");
	cr_assert_eq(past.results[0].session, 0u);
	cr_assert_eq(past.results[1].cell, 0u);
	cr_assert_eq(past.results[1].status, STB_STATUS_OK);
	cr_assert_eq(past.results[1].session, 1u);
	cr_assert_eq(stb_past_add_rows(&past.results[1], r, &err), 0);
	cr_assert_eq(r->n_rows, 1u);
	cr_assert_eq(r->rows[0].value, 4.5);
	cr_assert_eq(stb_past_add_rows(&past.results[1], r, &err), -1, "never twice");
	stb_past_fini(&past);
	stb_results_free(r);
	stb_plan_free(p);
}

Test(past, what_the_plan_does_not_ask_for)
{
	struct stb_plan *p = plan();
	char shorter[20];
	const struct { const char *id; int repetition; const char *status; } bad[] = {
		{ "0000", 1, "ok" }, { "", 1, "ok" }, { shorter, 1, "ok" }, { p->cells[0].id, 3, "ok" }, { p->cells[0].id, 0, "ok" },
		{ p->cells[0].id, -1, "ok" }, { p->cells[0].id, 1, "fine" },
	};

	snprintf(shorter, sizeof shorter, "%.16s", p->cells[0].id);
	for (size_t i = 0; i < STB_LEN(bad); i++) {
		struct stb_past past = { 0 };
		struct stb_err err;

		stb_err_clear(&err);
		gather(&past, "result", bad[i].id, bad[i].repetition, bad[i].status, 1);
		cr_assert_eq(stb_past_sort(&past, p, true, &err), -1, "%zu", i);
		cr_assert_eq(stb_past_sort(&past, p, false, &err), 0);
		cr_assert_eq(past.n, 0u);
		stb_past_fini(&past);
	}
	stb_plan_free(p);
}

Test(past, figures_that_are_none)
{
	static const char *const bad[] = { "{\"iops\":\"1\"}", "{\"iops\":-1}", "{\"no_such_metric\":1}", "{\"iops\":null}" };
	struct stb_plan *p = plan();

	for (size_t i = 0; i < STB_LEN(bad); i++) {
		struct stb_results *r = stb_results_new(p);
		json_t *record = json_pack("{s:o}", "metrics", json_loads(bad[i], 0, NULL));
		struct stb_past_result one = { .slot = 1, .repetition = 1, .record = record };
		struct stb_err err;

		stb_err_clear(&err);
		cr_assert_eq(stb_past_add_rows(&one, r, &err), -1, "%s", bad[i]);
		json_decref(record);
		stb_results_free(r);
	}
	stb_plan_free(p);
}

Test(past, figures_of_two_builds_are_not_mixed)
{
	static const struct { const char *version, *commit, *later; bool refused; } cases[] = {
		{ "1", "a", "a", false }, { "1", "b", "a", true }, { "1", "a", "b", true }, { "2", "a", "a", true }, { "2", "unknown", "a", true },
		{ "1", "unknown", "a", false }, { "1", "", "a", false }, { "1", NULL, "a", false }, { NULL, "a", "a", true },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		json_t *first = json_pack("{s:s,s:s*,s:s*}", "ev", "start", "version", cases[i].version, "commit", cases[i].commit);
		json_t *second = json_pack("{s:s,s:s,s:s}", "ev", "start", "version", "1", "commit", cases[i].later);
		struct stb_past past = { 0 };
		struct stb_err err;

		stb_err_clear(&err);
		cr_assert_eq(stb_past_gather(&past, first, &err) || stb_past_gather(&past, second, &err), 0);
		cr_expect_eq(stb_past_check_build(&past, "run", "1", "a", &err), cases[i].refused ? -1 : 0, "%zu", i);
		cr_expect_eq(stb_past_check_build(&past, "run", "1", "unknown", &err), cases[i].version && *cases[i].version == '1' ? 0 : -1, "%zu", i);
		json_decref(first);
		json_decref(second);
		stb_past_fini(&past);
	}
}

Test(past, a_series_without_what_is_cut_off_or_gone)
{
	struct stb_plan *p = plan();
	struct stb_done keep = { 0 };
	char path[] = "/tmp/stb-past-XXXXXX";
	const int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct stb_buf out;
	struct stb_err err;
	char want[200];

	stb_err_clear(&err);
	stb_buf_init(&out);
	stb_done_add(&keep, 0, 1, 2);
	snprintf(want, sizeof want, "%.16s,1,2,0.100,iops,1/s,5.000\n", p->cells[0].id);
	fprintf(f, "cell,slot,repetition,t_s,metric,unit,value\n%s%.16s,1,1,0.1,iops,1/s,5\n%.16s,1,2,0.1,iops,1/s,5\n\n,,,,,,\nxyz\n", want,
		p->cells[0].id, p->cells[1].id);
	fprintf(f, "%.16s,1,2,0.1,io\n%.16s,1,2,0.2,iops,1/s,", p->cells[0].id, p->cells[0].id);
	fclose(f);
	cr_assert_eq(stb_past_series(path, p, &keep, &out, &err), 0);
	cr_assert_str_eq(stb_buf_str(&out), want);
	unlink(path);
	cr_assert_eq(stb_past_series(path, p, &keep, &out, &err), 0, "a file that is not there has no lines");
	cr_assert_eq(stb_past_series("/tmp", p, &keep, &out, &err), -1);
	stb_buf_fini(&out);
	stb_done_fini(&keep);
	stb_plan_free(p);
}
