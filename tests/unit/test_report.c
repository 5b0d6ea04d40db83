/*
 * test_report.c - reports over plans and figures written by hand; the published comparisons to the digit.
 */
#include "runtime/report/text.h"
#include "tests/unit/report_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void formats_as(enum stb_view view, double v, double b, enum stb_direction dir, const char *text)
{
	struct stb_buf out;

	stb_buf_init(&out);
	stb_view_format(&out, view, v, b, dir, 2);
	cr_expect_str_eq(stb_buf_str(&out), text);
	stb_buf_fini(&out);
}

/* --- views --- */

Test(view, published_figures_to_the_digit)
{
	const enum stb_direction up = STB_HIGHER_IS_BETTER, down = STB_LOWER_IS_BETTER;

	formats_as(STB_VIEW_RATIO, 92000, 37000, up, "2.49x");
	formats_as(STB_VIEW_RATIO, 381e6, 153e6, up, "2.49x");
	formats_as(STB_VIEW_RATIO, 122156, 49812, up, "2.45x");
	formats_as(STB_VIEW_IMPROVEMENT, 1998, 1843, up, "+8.41%");
	formats_as(STB_VIEW_IMPROVEMENT, 1862, 1843, up, "+1.03%");
	formats_as(STB_VIEW_IMPROVEMENT, 248.83, 292.60, down, "+14.96%");
	formats_as(STB_VIEW_IMPROVEMENT, 277.21, 292.60, down, "+5.26%");
}

Test(view, signs_and_directions)
{
	formats_as(STB_VIEW_PERCENT, 17, 25, STB_HIGHER_IS_BETTER, "68.00%");
	formats_as(STB_VIEW_CHANGE, 80, 100, STB_HIGHER_IS_BETTER, "-20.00%");
	formats_as(STB_VIEW_CHANGE, 8, 10, STB_LOWER_IS_BETTER, "-20.00%");
	formats_as(STB_VIEW_IMPROVEMENT, 8, 10, STB_LOWER_IS_BETTER, "+20.00%");
	formats_as(STB_VIEW_RATIO, 8, 10, STB_LOWER_IS_BETTER, "1.25x");
	formats_as(STB_VIEW_CHANGE, 5, 5, STB_HIGHER_IS_BETTER, "+0.00%");
	formats_as(STB_VIEW_CHANGE, 99999.9, 100000, STB_HIGHER_IS_BETTER, "+0.00%"); /* no -0.00 */
	formats_as(STB_VIEW_CHANGE, 0, 3069448, STB_HIGHER_IS_BETTER, "-100.00%");
	formats_as(STB_VIEW_CHANGE, 12, 0, STB_HIGHER_IS_BETTER, "n/a");
	formats_as(STB_VIEW_RATIO, 0, 10, STB_LOWER_IS_BETTER, "n/a");
	formats_as(STB_VIEW_RATIO, 1, 10, STB_NO_DIRECTION, "n/a");
	formats_as(STB_VIEW_RATIO, 2485, 1000, STB_HIGHER_IS_BETTER, "2.49x");
	formats_as(STB_VIEW_VALUE, 1.005, 0, STB_HIGHER_IS_BETTER, "1.01");
}

/* --- tables --- */

Test(table, figures_beside_their_ratio)
{
	struct fixture f = { .p = hand_plan() };

	f.p->title = "NVM against SSD";
	f.p->source = "https://example.org/a_b";
	hand_matrix(f.p, "fio", "io", disks);
	relative(&f, 0, "iops bw_bytes", "value ratio", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 37000, STB_STATUS_OK);
	put(&f, 0, "ssd w", 1, "bw_bytes", 153e6, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 92000, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "bw_bytes", 381e6, STB_STATUS_OK);
	cr_expect_str_eq(markdown(&f),
		"# NVM against SSD\n"
		"\n"
		"- source: https://example.org/a_b\n"
		"\n"
		"## t\n"
		"\n"
		"Fixed: workload = random write 4 KiB. Baseline: storage = SSD cloud disk. Higher is better: IOPS, bandwidth. "
		"One measurement each (n = 1).\n"
		"\n"
		"| storage        |  IOPS | IOPS, ratio | bandwidth (MB/s) | bandwidth, ratio |\n"
		"| -------------- | ----: | ----------: | ---------------: | ---------------: |\n"
		"| SSD cloud disk | 37000 |           - |           153.00 |                - |\n"
		"| PMEM-LVM       | 92000 |       2.49x |           381.00 |            2.49x |\n");
	cr_expect_str_eq(csv(&f, 0),
		"split,row,column,metric,view,value,unit,note\n"
		",ssd,,iops,value,37000,1/s,\n"
		",ssd,,iops,ratio,,x,baseline\n"
		",pmem_lvm,,iops,value,92000,1/s,\n"
		",pmem_lvm,,iops,ratio,2.4864864864864864,x,\n"
		",ssd,,bw_bytes,value,153,MB/s,\n"
		",ssd,,bw_bytes,ratio,,x,baseline\n"
		",pmem_lvm,,bw_bytes,value,381,MB/s,\n"
		",pmem_lvm,,bw_bytes,ratio,2.4901960784313726,x,\n");
	fini(&f);
}

Test(table, columns_axis_gives_a_table_for_each_metric)
{
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "fio", "io", disks);
	r = relative(&f, 0, "iops lat_p95", "value change", "storage=ssd");
	r->columns = 0;
	put(&f, 0, "ssd w", 1, "iops", 200, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 300, STB_STATUS_OK);
	put(&f, 0, "ssd w", 1, "lat_p95", 2, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "lat_p95", 1.5, STB_STATUS_OK);
	shows(&f, "Higher is better: IOPS. Lower is better: p95 latency.");
	shows(&f,
		"**IOPS** by storage\n"
		"\n"
		"| SSD cloud disk | PMEM-LVM | PMEM-LVM, change |\n"
		"| -------------: | -------: | ---------------: |\n"
		"|            200 |      300 |          +50.00% |\n"
		"\n"
		"**p95 latency (ms)** by storage\n"
		"\n"
		"| SSD cloud disk | PMEM-LVM | PMEM-LVM, change |\n"
		"| -------------: | -------: | ---------------: |\n"
		"|          2.000 |    1.500 |          -25.00% |\n");
	fini(&f);
}

Test(table, wide_labels_line_up)
{
	static const char *const axes[] = { "disk: std=標準フラッシュ fast=高速ディスク", "server: a=小型4 b=vNUMA关闭", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "oltp", axes);
	f.p->matrices[0].axes[0].label = "ディスク";
	r = hand_report(f.p, "t", 0, "tps", "value");
	r->label = "ディスク比較";
	r->rows = 0;
	r->columns = 1;
	put(&f, 0, "std a", 1, "tps", 1, STB_STATUS_OK);
	put(&f, 0, "std b", 1, "tps", 22, STB_STATUS_OK);
	put(&f, 0, "fast a", 1, "tps", 333, STB_STATUS_OK);
	put(&f, 0, "fast b", 1, "tps", 4444, STB_STATUS_OK);
	shows(&f,
		"## ディスク比較\n"
		"\n"
		"One measurement each (n = 1).\n"
		"\n"
		"**transactions/s** by server\n"
		"\n"
		"| ディスク       |  小型4 | vNUMA关闭 |\n"
		"| -------------- | -----: | --------: |\n"
		"| 標準フラッシュ |   1.00 |     22.00 |\n"
		"| 高速ディスク   | 333.00 |   4444.00 |\n");
	fini(&f);
}

Test(table, split_units_decimals_headings)
{
	static const char *const axes[] = { "workload: r=read w=write", "storage: a=A b=B", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "io", axes);
	r = relative(&f, 0, "bw_bytes read.lat_p999", "value percent", "storage=a");
	r->split = 0;
	r->rows = 1;
	r->units = hand_map(f.p, STB_V_STRING, "bw_bytes=KiB/s read.lat_p999=us");
	r->decimals = hand_map(f.p, STB_V_COUNT, "bw_bytes=0 percent=1");
	r->headings = hand_map(f.p, STB_V_STRING, "bw_bytes=throughput,_KiB/s percent=of_A");
	put(&f, 0, "r a", 1, "bw_bytes", 586554368, STB_STATUS_OK);
	put(&f, 0, "r b", 1, "bw_bytes", 586554368 * 0.345, STB_STATUS_OK);
	put(&f, 0, "r a", 1, "read.lat_p999", 0.25, STB_STATUS_OK);
	put(&f, 0, "w a", 1, "bw_bytes", 1024, STB_STATUS_OK);
	shows(&f,
		"### workload: read\n"
		"\n"
		"| storage | throughput, KiB/s | throughput, KiB/s, of A | read p99.9 latency (us) | read p99.9 latency, of A |\n"
		"| ------- | ----------------: | ----------------------: | ----------------------: | -----------------------: |\n"
		"| A       |            572807 |                       - |                 250.000 |                        - |\n"
		"| B       |            197618 |                   34.5% |                 n/a [1] |                  n/a [1] |\n"
		"\n"
		"- [1] no result\n"
		"\n"
		"### workload: write\n");
	fini(&f);
}

/* users.md O12 */
Test(table, holes_and_zeros)
{
	static const char *const axes[] = { "test: a b c d", "side: base new", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "io", axes);
	r = relative(&f, 0, "iops", "value percent change", "side=base");
	r->rows = 0;
	r->columns = 1;
	r->geomean = true;
	put(&f, 0, "a base", 1, "iops", 100, STB_STATUS_OK);
	put(&f, 0, "a new", 1, "iops", 100, STB_STATUS_OK);
	put(&f, 0, "b base", 1, "iops", 10000, STB_STATUS_OK);
	put(&f, 0, "c base", 1, "iops", 0, STB_STATUS_OK);
	put(&f, 0, "c new", 1, "iops", 12, STB_STATUS_OK);
	put(&f, 0, "d new", 1, "iops", 5, STB_STATUS_OK);
	shows(&f,
		"| test           |    base |     new |      new, % | new, change |\n"
		"| -------------- | ------: | ------: | ----------: | ----------: |\n"
		"| a              |     100 |     100 |     100.00% |      +0.00% |\n"
		"| b              |   10000 | n/a [1] |     n/a [1] |     n/a [1] |\n"
		"| c              |       0 |      12 |     n/a [2] |     n/a [2] |\n"
		"| d              | n/a [1] |       5 |     n/a [3] |     n/a [3] |\n"
		"| geometric mean |         |         | 100.00% [4] |  +0.00% [4] |\n"
		"\n"
		"- [1] no result\n"
		"- [2] the baseline is 0\n"
		"- [3] baseline: no result\n"
		"- [4] over 1 common cell, 3 cells missing\n");
	fini(&f);
}

Test(table, a_figure_of_zero_is_a_figure)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "iops", "change improvement ratio", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 3069448, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 0, STB_STATUS_OK);
	shows(&f, "| PMEM-LVM       |     -100.00% |          -100.00% |       0.00x |\n");
	fini(&f);
}

/* users.md O11 */
Test(table, better_and_worse_by_direction)
{
	static const char *const axes[] = { "side: base=before new=after", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	relative(&f, 0, "tps lat_p99", "percent improvement ratio", "side=base")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "new", 1, "tps", 80, STB_STATUS_OK);
	put(&f, 0, "base", 1, "lat_p99", 10, STB_STATUS_OK);
	put(&f, 0, "new", 1, "lat_p99", 8, STB_STATUS_OK);
	shows(&f, "Higher is better: transactions/s. Lower is better: p99 latency.");
	shows(&f, "| after  |            80.00% |                     -20.00% |                 0.80x |         80.00% |"
		  "                  +20.00% |              1.25x |\n");
	fini(&f);
}

Test(table, untrustworthy_figures_are_marked_and_kept_out)
{
	static const char *const axes[] = { "side: base x y z", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	relative(&f, 0, "tps", "value percent n", "side=base")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "base", 2, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "x", 1, "tps", 50, STB_STATUS_EARLY);
	put(&f, 0, "x", 2, "tps", 70, STB_STATUS_EARLY);
	put(&f, 0, "y", 1, "tps", 110, STB_STATUS_OK);
	put(&f, 0, "y", 2, "tps", 1, STB_STATUS_ERRORS);
	put(&f, 0, "z", 1, "tps", 120, STB_STATUS_OK);
	shows(&f,
		"Mean of 1 to 2 measurements each.\n"
		"\n"
		"| side |      transactions/s | transactions/s, % |   n |\n");
	shows(&f, "| x    | 60.00 (invalid) [1] |");
	shows(&f, "| y    |          110.00 [3] |       110.00% [3] |   1 |\n");
	shows(&f, "| z    |          120.00 [4] |       120.00% [4] |   1 |\n");
	shows(&f,
		"- [1] not trustworthy (stopped early): kept out of every relative figure\n"
		"- [2] not trustworthy (stopped early)\n"
		"- [3] 1 of 2 repetitions left out as not trustworthy (failed, or errors over the limit)\n"
		"- [4] n = 1, where others have 2\n");
	fini(&f);
}

Test(table, an_untrustworthy_baseline_compares_with_nothing)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "iops", "value ratio", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 10, STB_STATUS_STALLED);
	put(&f, 0, "pmem_lvm w", 1, "iops", 20, STB_STATUS_OK);
	shows(&f, "| SSD cloud disk | 10 (invalid) [1] |           - |\n| PMEM-LVM       |               20 |     n/a [2] |\n");
	shows(&f, "- [2] baseline: not trustworthy (stalled)\n");
	fini(&f);
}

/* a repetition that failed before it measured has no row */
Test(table, what_was_not_measured_says_why)
{
	static const char *const axes[] = { "side: base x y z w", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	relative(&f, 0, "tps", "value percent", "side=base")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	stb_results_set_reason(f.r, hand_cell(f.p, 0, "x"), 1, 1, "cannot mount `/dev/loop0` | <b>\nthe log's second line");
	stb_results_set_reason(f.r, hand_cell(f.p, 0, "y"), 1, 1, "the server died");
	put(&f, 0, "z", 1, "tps", 0, STB_STATUS_ERRORS);
	put(&f, 0, "w", 1, "tps", 9, STB_STATUS_EARLY);
	stb_results_set_reason(f.r, hand_cell(f.p, 0, "w"), 1, 1, "the measurement ended after 1.0 s of 9.0 s");
	shows(&f, "| x    |            n/a [1] |           n/a [1] |\n"
		  "| y    |            n/a [2] |           n/a [2] |\n"
		  "| z    | 0.00 (invalid) [3] |           n/a [4] |\n"
		  "| w    | 9.00 (invalid) [5] |           n/a [6] |\n");
	shows(&f, "- [1] not measured: cannot mount \\`/dev/loop0\\` \\| &lt;b&gt;\n"
		  "- [2] not measured: the server died\n"
		  "- [3] not trustworthy (failed, or errors over the limit): kept out of every relative figure\n"
		  "- [4] not trustworthy (failed, or errors over the limit)\n"
		  "- [5] not trustworthy (stopped early: the measurement ended after 1.0 s of 9.0 s): kept out of every relative figure\n"
		  "- [6] not trustworthy (stopped early: the measurement ended after 1.0 s of 9.0 s)\n");
	shows_not(&f, "second line");
	cr_expect(strstr(csv(&f, 0), ",y,,tps,value,,1/s,not measured: the server died\n"));
	fini(&f);
}

/* 0 is a figure like any other: of every metric, with every status */
Test(table, a_0_is_measured)
{
	static const char *const axes[] = { "side: x", NULL };

	for (int status = 0; status <= STB_STATUS_FALLBACK; status++) {
		for (const char *const *metric = stb_metric_names(); *metric; metric++) {
			struct stb_plan_report *rep;
			struct stb_metric m;
			struct fixture f;
			char text[96];

			if (!stb_metric_find(*metric, &m))
				continue;
			f = (struct fixture){ .p = hand_plan() };
			hand_matrix(f.p, "m", "oltp", axes);
			f.p->matrices[0].repeat = 2;
			rep = hand_report(f.p, "t", 0, *metric, "value");
			rep->rows = 0;
			put(&f, 0, "x", 1, *metric, 0, (enum stb_status)status);
			put(&f, 0, "x", 2, *metric, 1, (enum stb_status)status);
			shows_not(&f, "of 2 measured");
			shows_not(&f, "not measured");
			snprintf(text, sizeof(text), ",x,,%s,value,0.5,", *metric);
			if (stb_status_valid((enum stb_status)status) && strcmp(m.default_unit, "MB") && strcmp(m.default_unit, "MB/s"))
				cr_expect(strstr(csv(&f, 0), text), "%s: %s", *metric, csv(&f, 0));
			shows_not(&f, "| 1.0");
			fini(&f);
		}
	}
}

Test(table, reasons_are_clipped_between_characters)
{
	static const char *const axes[] = { "side: x", NULL };
	struct fixture f = { .p = hand_plan() };
	char text[301 + 1];

	hand_matrix(f.p, "m", "oltp", axes);
	hand_report(f.p, "t", 0, "tps", "value")->rows = 0;
	f.r = stb_results_new(f.p);
	text[0] = 'a';
	for (int i = 0; i < 100; i++)
		memcpy(text + 1 + 3 * i, "\xE3\x81\x82", 3);
	text[301] = '\0';
	stb_results_set_reason(f.r, 0, 1, 1, text);
	shows(&f, "\xE3\x81\x82...\n"); /* 1 + 66 * 3 = 199 bytes */
	fini(&f);
}

Test(table, repetitions_that_are_missing_are_counted)
{
	static const char *const axes[] = { "side: base x y z", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	f.p->matrices[0].repeat = 3;
	relative(&f, 0, "tps", "value percent", "side=base")->rows = 0;
	for (uint32_t rep = 1; rep <= 3; rep++)
		put(&f, 0, "base", rep, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "x", 1, "tps", 50, STB_STATUS_OK);
	put(&f, 0, "y", 1, "tps", 50, STB_STATUS_OK);
	put(&f, 0, "y", 2, "tps", 50, STB_STATUS_OK);
	stb_results_set_reason(f.r, hand_cell(f.p, 0, "y"), 1, 3, "connection refused");
	put(&f, 0, "z", 1, "tps", 50, STB_STATUS_OK);
	put(&f, 0, "z", 2, "tps", 50, STB_STATUS_OK);
	put(&f, 0, "z", 3, "qps", 50, STB_STATUS_OK);
	shows(&f, "| base |         100.00 |                 - |\n"
		  "| x    |      50.00 [1] |        50.00% [1] |\n"
		  "| y    |      50.00 [2] |        50.00% [2] |\n"
		  "| z    |      50.00 [3] |        50.00% [3] |\n");
	shows(&f, "- [1] 1 of 3 measured\n"
		  "- [2] 2 of 3 measured: connection refused\n"
		  "- [3] 2 of 3 repetitions have this figure\n");
	shows_not(&f, "> Incomplete"); /* rows from elsewhere promise nothing as a whole */
	fini(&f);
}

Test(document, a_run_that_ended_early_says_so)
{
	static const char *const axes[] = { "side: base x", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	f.p->matrices[0].repeat = 2;
	relative(&f, 0, "tps", "value percent", "side=base")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "base", 2, "tps", 1, STB_STATUS_EARLY);
	stb_results_add_run(f.r, NULL, "interrupted by SIGINT");
	shows(&f, "# by_hand\n\n> Incomplete: 2 of 4 repetitions are measured, 1 of them not trustworthy; the run ended early: interrupted by "
		  "SIGINT.\n\n");
	shows(&f, "| x    |        n/a [2] |           n/a [2] |\n");
	shows(&f, "- [2] not measured: the run ended early (interrupted by SIGINT)\n");
	fini(&f);
}

Test(document, a_whole_run_says_nothing_of_it)
{
	static const char *const axes[] = { "side: base x", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	relative(&f, 0, "tps", "value percent", "side=base")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "x", 1, "tps", 100, STB_STATUS_OK);
	stb_results_add_run(f.r, NULL, NULL);
	shows_not(&f, "\n> ");
	shows_not(&f, "[1]");
	fini(&f);
}

Test(document, what_only_left_out_is_told_from_what_is_missing)
{
	static const char *const axes[] = { "side: base x y", NULL };
	struct fixture f = { .p = hand_plan() };
	uint8_t keep[6] = { 1, 1 };

	hand_matrix(f.p, "m", "oltp", axes);
	hand_matrix(f.p, "other", "oltp", axes);
	relative(&f, 0, "tps", "value", "side=base")->rows = 0;
	hand_report(f.p, "u", 1, "tps", "value")->rows = 0;
	put(&f, 0, "base", 1, "tps", 100, STB_STATUS_OK);
	stb_results_add_run(f.r, keep, NULL);
	shows(&f, "> Partial: 2 of 6 cells were to be measured (--only).\n\n> Incomplete: 1 of 2 repetitions are measured.\n\n");
	shows(&f, "| x    |        n/a [1] |\n| y    |        n/a [2] |\n");
	shows(&f, "- [1] no result\n- [2] left out of this run (--only)\n");
	shows(&f, "Report u is left out: --only selected no cell of matrix other.\n");
	stb_results_add_run(f.r, NULL, NULL); /* another run was to measure the rest */
	shows_not(&f, "--only");
	fini(&f);
}

/* the plain rule of report.h: beyond 10% of the figure */
Test(table, repetitions_that_differ_show_from_where_to_where)
{
	static const char *const axes[] = { "storage: base=Disk b c", NULL };
	struct fixture f = { .p = hand_plan() };
	const double base[] = { 288, 500, 896 }, b[] = { 96, 100, 105 }, c[] = { 0.0001, 0.0002, 0.0003 };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "io", axes);
	f.p->matrices[0].repeat = 3;
	r = relative(&f, 0, "iops lat_mean", "value ratio", "storage=base");
	r->rows = 0;
	for (uint32_t rep = 1; rep <= 3; rep++) {
		put(&f, 0, "base", rep, "iops", base[rep - 1], STB_STATUS_OK);
		put(&f, 0, "b", rep, "iops", b[rep - 1], STB_STATUS_OK);
		put(&f, 0, "c", rep, "lat_mean", c[rep - 1], STB_STATUS_OK);
	}
	shows(&f, "| Disk    | 561 [1] |           - |");
	shows(&f, "| b       |     100 |       0.18x |"); /* 9% */
	shows(&f, "- [1] 3 repetitions from 288 to 896/s\n");
	shows(&f, " 3 repetitions from 0.00010 to 0.00030 ms\n");
	r->n_views = 1;
	r->views[0] = STB_VIEW_RATIO; /* nothing else shows it */
	shows(&f, "| b       |   0.18x [1] |");
	shows(&f, "- [1] baseline: 3 repetitions from 288 to 896/s\n");
	fini(&f);
}

Test(table, different_ends_are_footnoted)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "iops", "value ratio", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 10, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 20, STB_STATUS_ENDED_BY_SIZE);
	shows(&f, "| PMEM-LVM       | 20 [1] |   2.00x [2] |\n");
	shows(&f, "- [1] ended when its size was done, others in this table when their time was over\n"
		  "- [2] ended when its size was done, the baseline when its time was over\n");
	stb_results_free(f.r);
	f.r = NULL;
	put(&f, 0, "ssd w", 1, "iops", 10, STB_STATUS_ENDED_BY_SIZE);
	put(&f, 0, "pmem_lvm w", 1, "iops", 20, STB_STATUS_ENDED_BY_SIZE);
	shows_not(&f, "[1]");
	fini(&f);
}

Test(table, repetitions_and_slots_make_one_figure)
{
	struct fixture f = { .p = hand_plan() };
	struct stb_err err;
	const double tps[] = { 1, 2, 30 };

	hand_matrix(f.p, "m", "oltp", disks);
	hand_report(f.p, "t", 0, "tps", "value")->rows = 0;
	f.r = stb_results_new(f.p);
	for (uint32_t slot = 1; slot <= 3; slot++) {
		cr_assert(!stb_results_add(f.r, 0, slot, 1, "tps", tps[slot - 1], STB_STATUS_OK, &err));
		cr_assert(!stb_results_add(f.r, 1, slot, 1, "tps", 1, STB_STATUS_OK, &err));
	}
	shows(&f, "Mean of 3 measurements each.");
	shows(&f, "| SSD cloud disk |      11.00 [1] |\n");
	shows(&f, "- [1] 3 repetitions from 1.00 to 30.00/s\n");
	f.p->reports[0].aggregate = STB_AGG_MEDIAN;
	shows(&f, "Median of 3 measurements each.");
	shows(&f, "| SSD cloud disk |       2.00 [1] |\n");
	fini(&f);
}

Test(table, folds)
{
	static const char *const axes[] = { "storage: base a b", "threads: 1 4 16", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "oltp", axes);
	r = relative(&f, 0, "tps", "value percent range", "storage=base");
	r->rows = 0;
	r->fold = STB_NEW_ARRAY(&f.p->arena, uint32_t, 1);
	r->fold[r->n_fold++] = 1;
	put(&f, 0, "base 1", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "base 4", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "base 16", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "a 1", 1, "tps", 50, STB_STATUS_OK);
	put(&f, 0, "a 4", 1, "tps", 200, STB_STATUS_OK);
	put(&f, 0, "a 16", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "b 1", 1, "tps", 65, STB_STATUS_OK);
	put(&f, 0, "b 4", 1, "tps", 68, STB_STATUS_OK);
	shows(&f, "Folded into each figure: threads. Baseline: storage = base.");
	shows(&f, "| base    |        n/a [1] |                 - |                     - |\n"
		  "| a       |        n/a [1] |           100.00% |       50.00%..200.00% |\n"
		  "| b       |        n/a [1] |        66.48% [2] |    65.00%..68.00% [2] |\n");
	shows(&f, "- [1] 3 cells fall into this field\n- [2] over 2 of 3: 1 missing (no result)\n");
	fini(&f);
}

Test(table, several_baselines)
{
	static const char *const axes[] = { "storage: std fast flash", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	relative(&f, 0, "tps", "range", "storage=fast,flash")->rows = 0;
	put(&f, 0, "std", 1, "tps", 66, STB_STATUS_OK);
	put(&f, 0, "fast", 1, "tps", 100, STB_STATUS_OK);
	put(&f, 0, "flash", 1, "tps", 99, STB_STATUS_OK);
	shows(&f, "Baseline: storage = fast or flash.");
	shows(&f, "| std     |        66.00%..66.67% |\n| fast    |                     - |\n");
	fini(&f);
}

Test(table, the_baseline_is_looked_up_in_the_whole_matrix)
{
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "io", disks);
	r = relative(&f, 0, "iops", "percent", "storage=ssd");
	r->rows = 0;
	r->where = hand_select(f.p, 0, "storage=pmem_lvm");
	put(&f, 0, "ssd w", 1, "iops", 8, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 4, STB_STATUS_OK);
	shows(&f, "| storage  | IOPS, % |\n| -------- | ------: |\n| PMEM-LVM |  50.00% |\n");
	fini(&f);
}

Test(table, cells_without_a_value_on_an_axis)
{
	static const char *const axes[] = { "threads: 1 4", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", axes);
	f.p->cells[0].point[0] = STB_NONE;
	relative(&f, 0, "tps", "value percent", "threads=none")->rows = 0;
	f.r = stb_results_new(f.p);
	put(&f, 0, "none", 1, "tps", 2, STB_STATUS_OK);
	put(&f, 0, "4", 1, "tps", 3, STB_STATUS_OK);
	shows(&f, "Baseline: threads = none.");
	shows(&f, "| 4       |           3.00 |           150.00% |\n| none    |           2.00 |                 - |\n");
	fini(&f);
}

Test(table, decimals_grow_where_nobody_stated_them)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "lat_p95 iops", "value", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "lat_p95", 1.5, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "lat_p95", 0.0004, STB_STATUS_OK);
	put(&f, 0, "ssd w", 1, "iops", 5, STB_STATUS_OK);
	shows(&f, "| SSD cloud disk |          1.50000 |       5 |\n| PMEM-LVM       |          0.00040 | n/a [1] |\n");
	f.p->reports[0].decimals = hand_map(f.p, STB_V_COUNT, "lat_p95=1");
	shows(&f, "| PMEM-LVM       |              0.0 | n/a [1] |\n");
	fini(&f);
}

/* a bare 0.00% would say that nothing is left; +0.00% says that nothing changed, which is true to the digits shown */
Test(table, a_share_that_is_not_nothing_does_not_read_as_nothing)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "lat_p95", "percent ratio change range", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "lat_p95", 100, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "lat_p95", 0.0039, STB_STATUS_OK);
	shows(&f, "| PMEM-LVM       |        0.0039% |          25641.03x |            -100.00% |            0.0039% |\n");
	f.p->reports[0].decimals = hand_map(f.p, STB_V_COUNT, "percent=2 range=3");
	shows(&f, "| PMEM-LVM       |          0.00% |          25641.03x |            -100.00% |             0.004% |\n");
	fini(&f);
	f = (struct fixture){ .p = hand_plan() };
	hand_matrix(f.p, "m", "io", disks);
	relative(&f, 0, "iops", "ratio percent change", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 1e6, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "iops", 996, STB_STATUS_OK);
	shows(&f, "| PMEM-LVM       |     0.0010x |   0.10% |      -99.90% |\n");
	fini(&f);
}

Test(table, many_metrics_are_broken_into_tables)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "oltp", disks);
	relative(&f, 0, "tps qps lat_p50 lat_p95", "value percent change n", "storage=ssd")->rows = 0;
	put(&f, 0, "ssd w", 1, "tps", 1, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "tps", 2, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 1, "lat_p95", 2, STB_STATUS_OK);
	shows(&f, "transactions/s, change | queries/s | queries/s, % | queries/s, change |   n |\n");
	shows(&f, "p50 latency, change | p95 latency (ms) | p95 latency, % | p95 latency, change |   n |\n");
	put(&f, 0, "ssd w", 2, "tps", 1, STB_STATUS_OK);
	put(&f, 0, "pmem_lvm w", 2, "tps", 2, STB_STATUS_OK);
	shows(&f, "transactions/s, change | transactions/s, n | queries/s |"); /* they no longer agree */
	fini(&f);
}

Test(table, exclusions_say_why)
{
	static const char *const axes[] = { "database: single ha", "workload: rw wo", NULL };
	struct stb_plan_exclude exclude = { .reason = "write-only was measured on *single* only" };
	struct fixture f = { .p = hand_plan() };
	struct stb_plan_report *r;

	hand_matrix(f.p, "m", "oltp", axes);
	f.p->matrices[0].n_cells = f.p->n_cells = 3; /* ha wo is the last */
	exclude.where = hand_select(f.p, 0, "database=ha workload=wo");
	f.p->matrices[0].excludes = &exclude;
	f.p->matrices[0].n_excludes = 1;
	r = relative(&f, 0, "tps", "value percent", "database=ha");
	r->rows = 0;
	r->columns = 1;
	put(&f, 0, "single rw", 1, "tps", 2, STB_STATUS_OK);
	put(&f, 0, "single wo", 1, "tps", 3, STB_STATUS_OK);
	put(&f, 0, "ha rw", 1, "tps", 4, STB_STATUS_OK);
	shows(&f, "| single   | 2.00 | 50.00% |    3.00 | n/a [1] |\n| ha       | 4.00 |      - | n/a [1] | n/a [1] |\n");
	shows(&f, "- [1] excluded: write-only was measured on \\*single\\* only\n");
	fini(&f);
}

/* --- percentiles over repetitions --- */

static void add_hist(struct fixture *f, uint32_t rep, uint32_t n, uint64_t ns)
{
	struct stb_hist *h = malloc(sizeof(*h));

	stb_hist_init(h);
	for (uint32_t i = 0; i < n; i++)
		stb_hist_add(h, ns);
	stb_results_add_hist(f->r, 0, 1, rep, STB_PART_ALL, h);
	free(h);
}

Test(table, percentiles_come_from_merged_histograms)
{
	static const char *const axes[] = { "storage: ssd", NULL };
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", axes);
	hand_report(f.p, "t", 0, "lat_p99", "value")->rows = 0;
	for (uint32_t rep = 1; rep <= 2; rep++) {
		put(&f, 0, "ssd", rep, "lat_mean", 1, STB_STATUS_OK);
		put(&f, 0, "ssd", rep, "lat_p99", rep == 1 ? 1 : 100, STB_STATUS_OK);
	}
	shows(&f, "| storage | p99 latency (ms) [1] |\n| ------- | -------------------: |\n| ssd     |           50.500 [2] |\n");
	shows(&f, "- [1] median of the repetitions' percentiles: there are no histograms to merge\n");
	add_hist(&f, 1, 9950, 1000000);
	add_hist(&f, 2, 50, 100000000);
	shows(&f, "| storage | p99 latency (ms) |\n| ------- | ---------------: |\n");
	shows_not(&f, "median");
	shows_not(&f, "50.500");
	shows(&f, "| ssd     |        1.00");
	shows(&f, "- [1] 2 repetitions from 1.000 to 100.000 ms\n");
	fini(&f);
}

static void save_run(struct fixture *f, const char *dir, struct stb_measure *m)
{
	char path[128];
	struct stb_err err;
	FILE *out;

	snprintf(path, sizeof(path), "%s/histograms", dir);
	cr_assert(!mkdir(path, 0700));
	f->r = stb_results_new(f->p);
	for (uint32_t rep = 1; rep <= 2; rep++) {
		const uint32_t n = rep == 1 ? 9950 : 100;

		stb_hist_init(&m->lat[STB_READ]);
		for (uint32_t i = 0; i < n; i++)
			stb_hist_add(&m->lat[STB_READ], (rep == 1 ? 1000000 : 50000000) + i);
		m->ok[STB_READ] = n;
		stb_results_add_measure(f->r, 0, 1, rep, m, STB_STATUS_OK);
		cr_assert(!stb_measure_save_hists(f->p, 0, 1, rep, STB_NONE, m, dir, &err));
	}
	snprintf(path, sizeof(path), "%s/results.csv", dir);
	out = fopen(path, "w");
	cr_assert(out);
	stb_results_write_header(f->p, out);
	stb_results_write_rows(f->r, 0, out);
	fclose(out);
}

/* 9950 samples of 1 ms and 100 of 50 ms: p95 of all is 1 ms, the median of both repetitions' p95 25.5 ms */
Test(table, a_run_directory_gives_merged_percentiles_and_its_csv_alone_a_marked_median)
{
	static const char *const axes[] = { "storage: ssd", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_measure *m = calloc(1, sizeof(*m));
	char dir[] = "/tmp/stb-report-XXXXXX", path[64];
	struct stb_err err;

	hand_matrix(f.p, "m", "io", axes);
	f.p->matrices[0].repeat = 2;
	hand_report(f.p, "t", 0, "lat_p95", "value")->rows = 0;
	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_init(&m->lat[i]);
	stb_hist_init(&m->sync);
	m->window_ns = 1000000000;
	cr_assert(mkdtemp(dir));
	save_run(&f, dir, m);
	stb_results_free(f.r);
	f.r = stb_results_new(f.p);
	cr_assert(!stb_results_read(f.r, dir, &err), "%s", err.what);
	shows(&f, "| storage | p95 latency (ms) |\n");
	shows(&f, "| ssd     |        1.0");
	stb_results_free(f.r);
	f.r = stb_results_new(f.p);
	snprintf(path, sizeof(path), "%s/results.csv", dir);
	cr_assert(!stb_results_read(f.r, path, &err), "%s", err.what);
	shows(&f, "| storage | p95 latency (ms) [1] |\n");
	shows(&f, "| ssd     |           25.");
	shows(&f, "- [1] median of the repetitions' percentiles: there are no histograms to merge\n");
	unlink(path);
	for (uint32_t rep = 1; rep <= 2; rep++) {
		char name[STB_HIST_FILE_NAME], file[256];

		stb_hist_file_name(f.p, 0, 1, rep, STB_PART_ALL, name);
		snprintf(file, sizeof(file), "%s/%s", dir, name);
		unlink(file);
	}
	snprintf(path, sizeof(path), "%s/histograms", dir);
	rmdir(path);
	rmdir(dir);
	free(m);
	fini(&f);
}

/* users.md O9: p99.9 of 20 samples is no figure, neither alone nor against another */
Test(table, percentiles_of_too_few_samples_are_blank)
{
	static const char *const axes[] = { "storage: ssd pmem", NULL };
	struct fixture f = { .p = hand_plan() };
	struct stb_measure *m = calloc(1, sizeof(*m));

	hand_matrix(f.p, "m", "io", axes);
	relative(&f, 0, "lat_p999", "value percent", "storage=ssd")->rows = 0;
	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_init(&m->lat[i]);
	stb_hist_init(&m->sync);
	for (uint64_t i = 0; i < 20; i++)
		stb_hist_add(&m->lat[STB_READ], 1000000 + i * 10000);
	m->ok[STB_READ] = 20;
	m->window_ns = 1000000000;
	f.r = stb_results_new(f.p);
	stb_results_add_measure(f.r, 0, 1, 1, m, STB_STATUS_OK);
	stb_results_add_measure(f.r, 1, 1, 1, m, STB_STATUS_OK);
	shows(&f, "| ssd     |            n/a [1] |                - |\n| pmem    |            n/a [1] |          n/a [1] |\n");
	shows(&f, "- [1] n too small: p99.9 needs 1000 samples, there are 20\n");
	free(m);
	fini(&f);
}

/* --- the document --- */

Test(document, says_where_it_is_from)
{
	struct fixture f = { .p = hand_plan() };
	static const char *params[] = { "size=1" };

	f.p->title = "A <b>title</b> | `x` @all";
	f.p->description = "First line.\n# no heading\nC:\\dir *and* snake_case _em_";
	f.p->licence = "CC-BY-4.0";
	f.p->profile = "laptop";
	f.p->params = params;
	f.p->n_params = 1;
	strcpy(f.p->hash, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	cr_expect_str_eq(markdown(&f),
		"# A &lt;b&gt;title&lt;/b&gt; \\| \\`x\\` @\xE2\x80\x8B"
		"all\n"
		"\n"
		"> Made under profile laptop: not the published environment.\n"
		"\n"
		"First line.\n"
		"\\# no heading\n"
		"C:\\\\dir \\*and\\* snake_case \\_em\\_\n"
		"\n"
		"- licence: CC-BY-4.0\n"
		"- plan: `0123456789abcdef`\n"
		"- profile: laptop\n"
		"- parameter: size=1\n");
	fini(&f);
}

Test(document, reports_without_rows_are_left_out)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "fio", "io", disks);
	hand_matrix(f.p, "mysql", "oltp", disks);
	hand_report(f.p, "a", 0, "iops", "value")->rows = 0;
	hand_report(f.p, "b", 1, "tps", "value")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 1, STB_STATUS_OK);
	shows(&f, "## a\n");
	shows_not(&f, "## b\n");
	shows(&f, "Report b is left out: the results have no rows of matrix mysql.\n");
	cr_expect_str_eq(csv(&f, 1), "split,row,column,metric,view,value,unit,note\n");
	fini(&f);
}

Test(document, labels_cannot_break_a_table)
{
	struct fixture f = { .p = hand_plan() };

	hand_matrix(f.p, "m", "io", disks);
	f.p->matrices[0].axes[0].values[0].label = "a|b\nc\x1b[31m\xE2\x80\xAE";
	hand_report(f.p, "t", 0, "iops", "value")->rows = 0;
	put(&f, 0, "ssd w", 1, "iops", 1, STB_STATUS_OK);
	shows(&f, "| a\\|b c\xEF\xBF\xBD\\[31m\xEF\xBF\xBD |       1 |\n");
	fini(&f);
}
