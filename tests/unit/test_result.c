/*
 * test_result.c - rows from measures, results.csv there and back, recorded rows and every way in which they can be wrong.
 */
#include "runtime/result/number.h"
#include "runtime/result/result.h"
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const disks[] = { "storage: ssd pmem", "workload: write read", NULL };

static char *write_file(const char *text, size_t len)
{
	char *path = stb_xstrdup("/tmp/stb-test-XXXXXX");
	const int fd = mkstemp(path);

	cr_assert(fd >= 0);
	cr_assert(write(fd, text, len) == (ssize_t)len);
	close(fd);
	return path;
}

static int read_text(struct stb_results *r, const char *text, struct stb_err *err)
{
	char *path = write_file(text, strlen(text));
	const int rc = stb_results_read(r, path, err);
	char *at;

	/* messages name the file; tests compare what follows it */
	if (rc && (at = strstr(err->what, path)))
		memmove(at, at + strlen(path), strlen(at + strlen(path)) + 1);
	unlink(path);
	free(path);
	return rc;
}

/* Reads text into fresh results over the disks plan and expects this message and remedy. */
static void refuses(const char *text, const char *what, const char *remedy)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	struct stb_err err;

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	stb_err_clear(&err);
	cr_assert(read_text(r, text, &err) == -1, "taken: %s", text);
	cr_expect_str_eq(err.what, what);
	cr_expect_str_eq(err.remedy, remedy);
	stb_results_free(r);
	stb_plan_free(p);
}

static void takes(struct stb_results *r, const char *text)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert(read_text(r, text, &err) == 0, "%s", err.what);
}

static double value_of(const struct stb_results *r, uint32_t cell, const char *metric)
{
	const struct stb_result_row *row = stb_results_first(r, cell, metric);

	cr_assert(row, "no %s", metric);
	return row->value;
}

static bool has(const struct stb_results *r, const char *metric)
{
	return stb_results_first(r, 0, metric) != NULL;
}

/* --- numbers --- */

Test(number, reads_plain_decimals_only)
{
	static const char *const bad[] = { "", " 1", "1 ", "+", "-", ".", "1.", ".5", "1e", "1e+", "nan", "inf", "Infinity", "0x10", "1,5",
		"1_000", "1e999", "--1", "1.2.3", "1d" };
	static const struct {
		const char *text;
		double v;
	} good[] = { { "0", 0 }, { "292.60", 292.6 }, { "-1.5", -1.5 }, { "+2", 2 }, { "1e3", 1000 }, { "1.5E-3", 0.0015 }, { "007", 7 } };
	double v = 42;

	for (size_t i = 0; i < STB_LEN(bad); i++)
		cr_expect(!stb_number_parse(bad[i], strlen(bad[i]), &v), "%s", bad[i]);
	cr_expect(!stb_number_parse("1\0", 2, &v));
	cr_expect(v == 42);
	for (size_t i = 0; i < STB_LEN(good); i++)
		cr_expect(stb_number_parse(good[i].text, strlen(good[i].text), &v) && v == good[i].v, "%s", good[i].text);
}

static void shortest_is(double v, const char *text)
{
	struct stb_buf b;
	double back;

	stb_buf_init(&b);
	stb_number_shortest(&b, v);
	cr_expect_str_eq(stb_buf_str(&b), text);
	cr_expect(stb_number_parse(stb_buf_str(&b), b.len, &back) && back == v, "%s", text);
	stb_buf_fini(&b);
}

Test(number, shortest_text_reads_back)
{
	shortest_is(0, "0");
	shortest_is(0.1, "0.1");
	shortest_is(92000, "92000");
	shortest_is(292.60, "292.6");
	shortest_is(1.0 / 3, "0.3333333333333333");
	shortest_is(2.0 / 3, "0.6666666666666666");
	shortest_is(5e-324, "4.94065645841247e-324");
	shortest_is(1.7976931348623157e308, "1.7976931348623157e308");
	shortest_is(123456789012345680.0, "123456789012345680");
	shortest_is(0.00001, "0.00001");
	shortest_is(-12.5, "-12.5");
}

static void fixed_is(double v, int decimals, const char *text)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_number_fixed(&b, v, decimals);
	cr_expect_str_eq(stb_buf_str(&b), text, "%.17g at %d: %s, not %s", v, decimals, stb_buf_str(&b), text);
	stb_buf_fini(&b);
}

Test(number, rounds_as_people_do)
{
	fixed_is(2485.0 / 1000, 2, "2.49"); /* the double lies below the tie */
	fixed_is(1.005, 2, "1.01");
	fixed_is(0.285, 2, "0.29");
	fixed_is(-2.485, 2, "-2.49");
	fixed_is(9.995, 2, "10.00");
	fixed_is(0.5, 0, "1");
	fixed_is(0.05, 1, "0.1");
	fixed_is(0.049, 1, "0.0");
	fixed_is(-0.001, 2, "0.00");
	fixed_is(0, 2, "0.00");
	fixed_is(1e15, 1, "1000000000000000.0");
	fixed_is(12345678901234568.0, 0, "12345678901234568");
	fixed_is(1e-300, 3, "0.000");
	fixed_is(99.999, 0, "100");
	cr_expect(stb_number_settle(0.68 * 100) == 68);
}

Test(number, does_not_depend_on_the_locale)
{
	double v;

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "C.UTF-8"))
		cr_skip("no other locale is installed");
	cr_expect(stb_number_parse("1.5", 3, &v) && v == 1.5);
	shortest_is(1.5, "1.5");
	fixed_is(1.25, 1, "1.3");
}

/* --- measures --- */

static struct stb_measure *new_measure(void)
{
	struct stb_measure *m = calloc(1, sizeof(*m));

	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_init(&m->lat[i]);
	stb_hist_init(&m->sync);
	return m;
}

static void did(struct stb_measure *m, enum stb_dir dir, uint64_t n, uint64_t lat_ns)
{
	for (uint64_t i = 0; i < n; i++)
		stb_hist_add(&m->lat[dir], lat_ns);
	m->ok[dir] += n;
	m->bytes[dir] += n * 4096;
	m->issued += n;
}

static struct stb_results *measured(struct stb_plan *p, const char *type, const struct stb_measure *m)
{
	struct stb_results *r;

	hand_matrix(p, "m", type, disks);
	r = stb_results_new(p);
	stb_results_add_measure(r, 0, 1, 1, m, STB_STATUS_OK);
	return r;
}

Test(measure, io_rows_are_over_the_true_window)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	did(m, STB_WRITE, 1000, 2000000);
	m->window_ns = 4000000000;
	m->cpu_user_ns = 1000000000;
	m->cpu_sys_ns = 500000000;
	r = measured(p, "io", m);
	cr_expect(value_of(r, 0, "iops") == 250);
	cr_expect(value_of(r, 0, "bw_bytes") == 1024000);
	cr_expect(value_of(r, 0, "io_bytes") == 4096000);
	cr_expect(value_of(r, 0, "runtime_ms") == 4000);
	cr_expect(value_of(r, 0, "depth_mean") == 0.5);
	cr_expect(value_of(r, 0, "cpu_usr") == 25);
	cr_expect(value_of(r, 0, "cpu_sys") == 12.5);
	cr_expect(value_of(r, 0, "cpu_ns_per_io") == 1500000);
	cr_expect(value_of(r, 0, "lat_mean") == 2);
	cr_expect(value_of(r, 0, "lat_stddev") == 0);
	cr_expect(value_of(r, 0, "lat_p999") == 2, "all samples are equal");
	cr_expect(!has(r, "write.iops"), "one direction needs no prefix");
	cr_expect(!has(r, "sync.lat_mean"));
	cr_expect(!has(r, "tps"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

/* One job that is a second late at each of its I/Os has one in flight nevertheless, and not as many as waited to be made. */
Test(measure, depth_under_a_rate_is_of_what_was_in_flight)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	did(m, STB_READ, 300, 1001000000);
	did(m, STB_WRITE, 100, 1002000000);
	for (int i = 0; i < 400; i++)
		stb_hist_add(&m->svc[i < 300 ? STB_READ : STB_WRITE], i < 300 ? 1000000 : 2000000);
	m->scheduled = 400;
	m->window_ns = 1000000000;
	r = measured(p, "io", m);
	cr_expect_float_eq(value_of(r, 0, "depth_mean"), 0.5, 1e-9);
	cr_expect(value_of(r, 0, "lat_mean") > 1000);
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

Test(measure, mixed_directions_and_syncs_have_their_own_rows)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	did(m, STB_READ, 300, 1000000);
	did(m, STB_WRITE, 100, 3000000);
	stb_hist_add(&m->sync, 7000000);
	m->window_ns = 1000000000;
	r = measured(p, "io", m);
	cr_expect(value_of(r, 0, "iops") == 400);
	cr_expect(value_of(r, 0, "read.iops") == 300);
	cr_expect(value_of(r, 0, "write.iops") == 100);
	cr_expect(value_of(r, 0, "lat_mean") == 1.5);
	cr_expect(value_of(r, 0, "write.lat_max") == 3);
	cr_expect(value_of(r, 0, "sync.lat_mean") == 7);
	cr_expect(!has(r, "trim.iops"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

Test(measure, oltp_rows)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	did(m, STB_READ, 50, 1000000);
	m->window_ns = 500000000;
	m->queries_read = 700;
	m->queries_write = 200;
	m->queries_other = 100;
	m->errors = 5;
	r = measured(p, "oltp", m);
	cr_expect(value_of(r, 0, "tps") == 100);
	cr_expect(value_of(r, 0, "qps") == 2000);
	cr_expect(value_of(r, 0, "events") == 50);
	cr_expect(value_of(r, 0, "errors_per_s") == 10);
	cr_expect(value_of(r, 0, "reconnects_per_s") == 0);
	cr_expect(!has(r, "iops") && !has(r, "io_bytes"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

/* users.md O9 */
Test(measure, percentiles_never_leave_the_samples)
{
	struct stb_plan *p = hand_plan(), *q = hand_plan();
	struct stb_measure *one = new_measure(), *slow = new_measure();
	struct stb_results *r;

	did(one, STB_READ, 1, 241470000);
	one->window_ns = 1000000000;
	r = measured(p, "oltp", one);
	cr_expect(value_of(r, 0, "lat_p50") == 241.47);
	cr_expect(value_of(r, 0, "lat_p999") == 241.47);
	cr_expect(!has(r, "lat_stddev"), "one sample has none");
	stb_results_free(r);

	for (int i = 0; i < 40; i++)
		did(slow, STB_READ, 1, 149000000000 + (uint64_t)i * 50000000);
	slow->window_ns = 200000000000;
	r = measured(q, "oltp", slow);
	cr_expect(value_of(r, 0, "lat_p95") >= 149000 && value_of(r, 0, "lat_p95") <= value_of(r, 0, "lat_max"));
	stb_results_free(r);
	stb_plan_free(p);
	stb_plan_free(q);
	free(one);
	free(slow);
}

Test(measure, too_few_samples_give_no_percentile)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	cr_expect(stb_percentile_needs(999, 1000) == 1000);
	cr_expect(stb_percentile_needs(95, 100) == 20);
	cr_expect(stb_percentile_needs(50, 100) == 2);
	cr_expect(stb_percentile_needs(100, 100) == 1);
	cr_expect(stb_percentile_needs(0, 100) == 1);
	for (int i = 0; i < 20; i++)
		did(m, STB_READ, 1, 1000000 + (uint64_t)i * 1000);
	m->window_ns = 1000000000;
	r = measured(p, "oltp", m);
	cr_expect(has(r, "lat_p95"));
	cr_expect(!has(r, "lat_p99"));
	cr_expect(!has(r, "lat_p999"));
	cr_expect(has(r, "lat_max"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

/* users.md O10 */
Test(measure, workers_merge_by_histogram)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_hist *other = malloc(sizeof(*other));
	struct stb_results *r;

	did(m, STB_READ, 9900, 1000000);
	did(m, STB_READ, 100, 10000000);
	stb_hist_init(other);
	for (int i = 0; i < 100; i++)
		stb_hist_add(other, 100000000);
	stb_hist_merge(&m->lat[STB_READ], other);
	m->ok[STB_READ] += 100;
	m->window_ns = 1000000000;
	r = measured(p, "oltp", m);
	cr_expect(value_of(r, 0, "lat_p99") > 9.9 && value_of(r, 0, "lat_p99") < 10.1);
	cr_expect(value_of(r, 0, "lat_max") == 100);
	cr_expect(value_of(r, 0, "events") == 10100);
	stb_results_free(r);
	stb_plan_free(p);
	free(other);
	free(m);
}

Test(measure, percentiles_that_the_plan_asks_for)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r;

	hand_report(p, "t", 0, "lat_p25 read.iops", "value");
	for (int i = 0; i < 100; i++)
		did(m, STB_READ, 1, 1000000 + (uint64_t)i * 1000);
	m->window_ns = 1000000000;
	r = measured(p, "io", m);
	cr_expect(has(r, "lat_p25"));
	cr_expect(has(r, "read.iops"), "asked for, although it is the only direction");
	cr_expect(has(r, "read.lat_p25"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

Test(measure, nothing_measured_is_no_row)
{
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_results *r = measured(p, "io", m);

	stb_results_add_measure(r, 1, 1, 1, m, STB_STATUS_ERRORS);
	stb_results_add_partial(r, 1, 1, 1, STB_NONE, 0, 0, 0, 0, STB_STATUS_STALLED);
	cr_expect_eq(r->n_rows, 0, "without a window nothing was measured: a 0 would pass for a figure");
	m->window_ns = 1000000000;
	stb_results_add_measure(r, 1, 1, 1, m, STB_STATUS_STALLED);
	cr_expect(value_of(r, 1, "iops") == 0, "nothing in a second is a figure");
	cr_expect(!stb_results_first(r, 1, "lat_mean"));
	stb_results_free(r);
	stb_plan_free(p);
	free(m);
}

Test(measure, what_live_counters_tell_is_kept)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;

	hand_matrix(p, "m", "oltp", disks);
	r = stb_results_new(p);
	stb_results_add_partial(r, 1, 1, 1, STB_NONE, 300, 6000, 2, 2000000000, STB_STATUS_STALLED);
	cr_expect(value_of(r, 1, "events") == 300 && value_of(r, 1, "tps") == 150 && value_of(r, 1, "qps") == 3000);
	cr_expect(!stb_results_first(r, 1, "lat_mean"), "no latencies are known");
	cr_expect_eq(stb_results_first(r, 1, "tps")->status, STB_STATUS_STALLED);
	stb_results_free(r);
	stb_plan_free(p);
}

/* --- results.csv --- */

static char *written(const struct stb_results *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	stb_results_write_header(r->plan, out);
	stb_results_write_rows(r, 0, out);
	fclose(out);
	return text;
}

Test(results, there_and_back)
{
	static const char *const more[] = { "threads: 1 16", "server: \"a,b\"", NULL };
	struct stb_plan *p = hand_plan();
	struct stb_results *r, *back;
	struct stb_err err;
	char *text, *again;
	uint32_t m2;

	hand_matrix(p, "m", "io", disks);
	m2 = hand_matrix(p, "n", "oltp", more);
	r = stb_results_new(p);
	cr_assert(!stb_results_add(r, hand_cell(p, 0, "pmem write"), 1, 2, "lat_p95", 1.0 / 3, STB_STATUS_ENDED_BY_SIZE, &err));
	cr_assert(!stb_results_add(r, hand_cell(p, m2, "16 \"a,b\""), 2, 1, "tps", 1843, STB_STATUS_EARLY, &err));
	text = written(r);
	cr_expect(!strncmp(text, "cell,server,storage,workload,threads,slot,repetition,metric,unit,value,status\n", 78), "%s", text);
	cr_expect(strstr(text, ",,pmem,write,,1,2,lat_p95,ms,0.3333333333333333,ended_by_size\n"), "%s", text);
	cr_expect(strstr(text, ",\"\"\"a,b\"\"\",,,16,2,1,tps,1/s,1843,invalid:early\n"), "%s", text);
	back = stb_results_new(p);
	takes(back, text);
	again = written(back);
	cr_expect_str_eq(text, again);
	free(text);
	free(again);
	stb_results_free(r);
	stb_results_free(back);
	stb_plan_free(p);
}

Test(results, recorded_rows_match_by_axes)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	uint32_t cell;

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	takes(r, "\xEF\xBB\xBFunit,value,metric,workload,storage\r\nKiB/s,572807,bw_bytes,write,ssd\r\n\r\nus,5,lat_p95,write,ssd\r\n");
	cell = hand_cell(p, 0, "ssd write");
	cr_expect(value_of(r, cell, "bw_bytes") == 586554368);
	cr_expect(value_of(r, cell, "lat_p95") == 0.005);
	/* several files add up, the last line may lack its end */
	takes(r, "storage,workload,metric,unit,value,status,repetition\nssd,write,bw_bytes,B/s,1,ok,2");
	cr_expect(r->n_rows == 3);
	cr_expect(stb_results_has_matrix(r, 0));
	stb_results_free(r);
	stb_plan_free(p);
}

Test(results, an_axis_with_one_value_may_be_left_out)
{
	static const char *const axes[] = { "storage: ssd pmem", "workload: write", NULL };
	struct stb_plan *p = hand_plan();
	struct stb_results *r;

	hand_matrix(p, "m", "io", axes);
	r = stb_results_new(p);
	takes(r, "storage,metric,unit,value\npmem,iops,1/s,7\n");
	cr_expect(value_of(r, hand_cell(p, 0, "pmem write"), "iops") == 7);
	stb_results_free(r);
	stb_plan_free(p);
}

Test(results, equal_cells_of_two_matrices_share_their_rows)
{
	static const char *const axes[] = { "storage: ssd", NULL };
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	struct stb_err err;

	hand_matrix(p, "m", "io", axes);
	hand_matrix(p, "n", "io", axes);
	memcpy(p->cells[1].id, p->cells[0].id, sizeof(p->cells[0].id));
	p->cells[1].same_as = 0;
	r = stb_results_new(p);
	takes(r, "storage,metric,unit,value\nssd,iops,1/s,7\n");
	cr_expect(value_of(r, 1, "iops") == 7);
	cr_expect(stb_results_has_matrix(r, 1));
	cr_expect(stb_results_add(r, 1, 1, 1, "iops", 8, STB_STATUS_OK, &err) == -1);
	stb_results_free(r);
	stb_plan_free(p);
}

#define HEAD "storage,workload,metric,unit,value\n"
#define COLUMNS "the first line names the columns: axes, metric, unit, value and optionally slot, repetition, status"

Test(results, bad_rows_are_refused_by_line)
{
	refuses("", "cannot use ``: it is empty", COLUMNS);
	refuses("storage,workload,metric,unit\n", ":1: the header has no column `value`", COLUMNS);
	refuses("storage,worklaod,metric,unit,value\n", ":1: unknown column `worklaod`",
		"columns are the axes of the matrices (storage, workload) and metric, unit, value, slot, repetition, status");
	refuses("storage,storage,metric,unit,value\n", ":1: column `storage` stands there twice", "");
	refuses(HEAD "ssd,write,iops,1/s\n", ":2: 4 fields where the header has 5", "");
	refuses(HEAD "hdd,write,iops,1/s,1\n", ":2: `hdd` is no value of axis `storage` in any cell", "values of `storage`: ssd, pmem");
	refuses(HEAD "ssd,,iops,1/s,1\n", ":2: no cell has storage = ssd, workload = none",
		"each value is known, but not together: it is excluded, or belongs to another matrix; `stb plan` lists the cells");
	refuses("storage,metric,unit,value\nssd,iops,1/s,1\n", ":2: the row fits several cells, which differ in workload",
		"add a column for workload");
	refuses(HEAD "ssd,write,iops,1/s,nan\n", ":2: `nan` is no number", "write plain digits with a dot, as in 292.60");
	refuses(HEAD "ssd,write,iops,1/s,\n", ":2: `` is no number", "write plain digits with a dot, as in 292.60");
	refuses(HEAD "ssd,write,iops,1/s,-1\n", ":2: `-1` is negative, which `iops` never is", "");
	refuses(HEAD "ssd,write,iops,ms,1\n", ":2: `ms` is no unit of `iops`", "write `1/s`");
	refuses(HEAD "ssd,write,lat_p95,B,1\n", ":2: `B` is no unit of `lat_p95`", "write `ms` or another unit of the same kind");
	refuses(HEAD "ssd,write,depth_mean,1/s,1\n", ":2: `1/s` is no unit of `depth_mean`", "leave the field empty: it is a plain number");
	refuses("storage,workload,metric,unit,value,slot\nssd,write,iops,1/s,1,0\n", ":2: `0` is no slot: a whole number from 1 up", "");
	refuses("storage,workload,metric,unit,value,status\nssd,write,iops,1/s,1,good\n", ":2: unknown status `good`",
		"it is one of ok, ended_by_size, invalid:early, invalid:errors, invalid:rate, invalid:not_steady, invalid:stalled, "
		"invalid:disturbed, invalid:fallback");
	refuses(HEAD "ssd,write,iops,1/s,\"1\"2\n", ":2: a quote inside a field",
		"put the whole field into quotes and double those inside (RFC 4180)");
	refuses(HEAD "ssd,write,iops,1/s,\"1\n", ":2: a quote that is never closed", "close it, or double it if it belongs to the text");
}

/* Each metric on the kind of workload that does not have it; one that both have is taken by both. */
Test(results, metrics_of_another_kind_of_workload_are_refused)
{
	static const char *const types[] = { "io", "oltp" };
	static const unsigned family[] = { STB_METRIC_IO, STB_METRIC_OLTP };

	for (const char *const *name = stb_metric_names(); *name; name++) {
		for (size_t k = 0; k < STB_LEN(types); k++) {
			struct stb_plan *p;
			struct stb_results *r;
			struct stb_metric m;
			struct stb_err err;
			char text[256];

			if (!stb_metric_find(*name, &m))
				continue;
			p = hand_plan();
			hand_matrix(p, "m", types[k], disks);
			r = stb_results_new(p);
			snprintf(text, sizeof(text), HEAD "ssd,write,%s,%s,1\n", *name, m.unit);
			stb_err_clear(&err);
			if (m.families & family[k]) {
				cr_expect(!read_text(r, text, &err), "%s: %s", *name, err.what);
			} else {
				cr_expect(read_text(r, text, &err), "%s of %s", *name, types[k]);
				cr_expect(strstr(err.what, ":2: `") && strstr(err.what, "is no metric of workload"), "%s", err.what);
			}
			stb_results_free(r);
			stb_plan_free(p);
		}
	}
}

/* The id of one cell with the axes of another: refused in every column. A name that no value has any more was another one in that run. */
Test(results, an_id_and_axes_that_contradict_each_other_are_refused)
{
	static const struct {
		const char *axes;
		bool good;
	} rows[] = { { "ssd,write", true }, { "pmem,write", false }, { "ssd,read", false }, { "pmem,read", false }, { "old_name,write", true },
		{ ",", true }, { "old_name,read", false } };

	for (size_t i = 0; i < STB_LEN(rows); i++) {
		struct stb_plan *p = hand_plan();
		struct stb_results *r;
		struct stb_err err;
		char text[256];

		hand_matrix(p, "m", "io", disks);
		r = stb_results_new(p);
		snprintf(text, sizeof(text), "cell,storage,workload,slot,repetition,metric,unit,value,status\n%.16s,%s,1,1,iops,1/s,5,ok\n",
			p->cells[hand_cell(p, 0, "ssd write")].id, rows[i].axes);
		stb_err_clear(&err);
		cr_expect_eq(!read_text(r, text, &err), rows[i].good, "%s: %s", rows[i].axes, err.what);
		if (!rows[i].good)
			cr_expect(strstr(err.what, ":2: cell `") && strstr(err.what, ", and the row says "), "%s", err.what);
		stb_results_free(r);
		stb_plan_free(p);
	}
}

Test(results, duplicates_are_refused)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	struct stb_err err;
	char want[256];

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	takes(r, HEAD "ssd,write,iops,1/s,1\n");
	stb_err_clear(&err);
	cr_assert(read_text(r, "\n" HEAD "pmem,write,iops,1/s,1\nssd,write,iops,1/s,1\n", &err) == -1);
	snprintf(want, sizeof(want), ":4: cell %.16s has a figure of `iops` for slot 1, repetition 1 already",
		p->cells[hand_cell(p, 0, "ssd write")].id);
	cr_expect_str_eq(err.what, want);
	cr_expect_str_eq(err.remedy, "number repeated measurements in a column `repetition`");
	stb_results_free(r);
	stb_plan_free(p);
}

Test(results, rows_of_another_plan_are_refused)
{
	refuses("cell,renamed,slot,repetition,metric,unit,value,status\n0123456789abcdef,x,1,1,iops,1/s,1,ok\n",
		":2: no cell of the spec has the id `0123456789abcdef`",
		"the spec or profile has changed since that run: report with the spec, profile and parameters it ran with");
	refuses("cell,slot,repetition,metric,unit,value,status\nabc,1,1,iops,1/s,1,ok\n",
		":2: `abc` is no cell id: 16 hex digits or more", "");
}

Test(results, unreadable_files)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	char fifo[] = "/tmp/stb-test-fifo-XXXXXX", *path;
	struct stb_err err;

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	cr_expect(stb_results_read(r, "/nonexistent.csv", &err) == -1);
	cr_expect_str_eq(err.what, "cannot read `/nonexistent.csv`: No such file or directory");
	cr_expect(stb_results_read(r, "/dev/zero", &err) == -1);
	cr_expect_str_eq(err.what, "cannot read `/dev/zero`: it is no regular file");
	close(mkstemp(fifo));
	unlink(fifo);
	cr_assert(!mkfifo(fifo, 0600));
	cr_expect(stb_results_read(r, fifo, &err) == -1, "and does not wait");
	unlink(fifo);
	path = write_file("metric\0x,unit\n", 14);
	cr_expect(stb_results_read(r, path, &err) == -1);
	cr_expect(strstr(err.what, ":1: a NUL byte"), "%s", err.what);
	unlink(path);
	free(path);
	stb_results_free(r);
	stb_plan_free(p);
}

Test(results, endless_records_are_refused)
{
	struct stb_plan *p = hand_plan();
	const size_t len = 300000;
	char *text = malloc(len + 1);
	struct stb_results *r;
	struct stb_err err;

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	memset(text, ',', len);
	text[len] = '\0';
	cr_expect(read_text(r, text, &err) == -1);
	cr_expect_str_eq(err.what, ":1: a record of more than 65536 bytes");
	text[40000] = '\n'; /* short enough, but too many fields */
	cr_expect(read_text(r, text, &err) == -1);
	cr_expect_str_eq(err.what, ":1: more than 256 fields in one record");
	memset(text, '\n', len); /* nothing but empty lines, then one quoted field over many lines */
	text[10] = '"';
	cr_expect(read_text(r, text, &err) == -1);
	cr_expect_str_eq(err.what, ":11: a record of more than 65536 bytes");
	free(text);
	stb_results_free(r);
	stb_plan_free(p);
}

/* --- a run directory --- */

Test(results, run_directory_brings_its_histograms)
{
	char dir[] = "/tmp/stb-test-run-XXXXXX", sub[64], file[320], name[STB_HIST_FILE_NAME], *text;
	struct stb_plan *p = hand_plan();
	struct stb_measure *m = new_measure();
	struct stb_hist *h = malloc(sizeof(*h));
	struct stb_results *r, *back;
	struct stb_err err;
	FILE *out;

	did(m, STB_READ, 10, 1234567);
	did(m, STB_WRITE, 1, 99999999);
	m->window_ns = 1000000000;
	r = measured(p, "io", m);
	cr_assert(mkdtemp(dir));
	snprintf(sub, sizeof(sub), "%s/histograms", dir);
	cr_assert(!mkdir(sub, 0700));
	cr_assert(!stb_measure_save_hists(p, 0, 1, 1, STB_NONE, m, dir, &err), "%s", err.what);
	snprintf(file, sizeof(file), "%s/results.csv", dir);
	text = written(r);
	out = fopen(file, "w");
	fputs(text, out);
	fclose(out);

	back = stb_results_new(p);
	cr_assert(!stb_results_read(back, dir, &err), "%s", err.what);
	stb_hist_init(h);
	cr_assert(stb_results_merge_hist(back, 0, 1, 1, STB_PART_ALL, h));
	cr_expect(h->count == 11 && h->min == 1234567 && h->max == 99999999, "exact bounds come from the rows");
	stb_hist_init(h);
	cr_assert(stb_results_merge_hist(back, 0, 1, 1, STB_PART_WRITE, h));
	cr_expect(h->count == 1);
	cr_expect(!stb_results_merge_hist(back, 0, 1, 1, STB_PART_SYNC, h));
	stb_results_free(back);

	stb_hist_file_name(p, 0, 1, 1, STB_PART_READ, name);
	snprintf(file, sizeof(file), "%s/%s", dir, name);
	out = fopen(file, "w");
	fputs("lower_ns,count\n1048577,3\n", out);
	fclose(out);
	back = stb_results_new(p);
	cr_expect(stb_results_read(back, dir, &err) == -1);
	cr_expect(strstr(err.what, "-read.csv:2: `1048577,3` is no bucket, or stands there twice"), "%s", err.what);
	stb_results_free(back);

	snprintf(file, sizeof(file), "rm -r %s", dir);
	cr_expect(system(file) == 0);
	free(text);
	free(h);
	free(m);
	stb_results_free(r);
	stb_plan_free(p);
}

/* --- the journal of a run directory --- */

/* Reads a run directory with this journal and no rows. */
static struct stb_results *read_story(const struct stb_plan *p, const char *journal)
{
	char dir[] = "/tmp/stb-test-story-XXXXXX", file[80];
	struct stb_results *r = stb_results_new(p);
	struct stb_err err;
	FILE *out;

	stb_err_clear(&err);
	cr_assert(mkdtemp(dir));
	snprintf(file, sizeof file, "%s/results.csv", dir);
	out = fopen(file, "w");
	stb_results_write_header(p, out);
	fclose(out);
	snprintf(file, sizeof file, "%s/journal.jsonl", dir);
	out = fopen(file, "w");
	fputs(journal, out);
	fclose(out);
	cr_assert(!stb_results_read(r, dir, &err), "%s", err.what);
	unlink(file);
	snprintf(file, sizeof file, "%s/results.csv", dir);
	unlink(file);
	rmdir(dir);
	return r;
}

Test(story, tells_why_repetitions_failed_and_the_run_stopped)
{
	struct stb_plan *p = hand_plan();
	const struct stb_result_rep *rep;
	struct stb_results *r;
	char text[1024];

	hand_matrix(p, "m", "io", disks);
	snprintf(text, sizeof text,
		"{\"ev\":\"start\"}\n"
		"{\"ev\":\"result\",\"cell\":\"%s\",\"slot\":1,\"repetition\":2,\"status\":\"invalid:stalled\",\"reason\":\"it stood\"}\n"
		"{\"ev\":\"result\",\"cell\":\"%s\",\"slot\":1,\"repetition\":1,\"status\":\"ok\"}\n"
		"not a record\n{\"ev\":\"result\",\"cell\":7,\"slot\":-1,\"reason\":1}\n[]\n"
		"{\"ev\":\"finish\",\"exit\":5,\"stopped\":\"interrupted by SIGTERM\"}\n{\"ev\":\"res", p->cells[1].id, p->cells[0].id);
	r = read_story(p, text);
	cr_expect_eq(r->n_runs, 1);
	cr_expect_str_eq(r->stopped, "interrupted by SIGTERM");
	rep = stb_results_first_rep(r, 1);
	cr_assert(rep && rep->repetition == 2 && !rep->has_rows);
	cr_expect_str_eq(rep->reason, "it stood");
	cr_expect(!stb_results_next_rep(r, rep) && !stb_results_first_rep(r, 0));
	cr_expect(stb_results_selected(r, 3));
	stb_results_free(r);

	r = read_story(p, "{\"ev\":\"start\"}\n{\"ev\":\"fini");
	cr_expect_str_eq(r->stopped, "it did not finish", "a killed run has no end");
	stb_results_free(r);
	r = read_story(p, "");
	cr_expect_eq(r->n_runs, 0, "a journal without a start is none");
	stb_results_free(r);
	stb_plan_free(p);
}

Test(story, tells_cells_that_were_left_out_from_those_that_failed)
{
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	char text[512];

	hand_matrix(p, "m", "io", disks);
	snprintf(text, sizeof text, "{\"ev\":\"start\",\"cells\":[\"%s\",\"no such cell\",3]}\n{\"ev\":\"finish\",\"exit\":0}\n",
		p->cells[2].id);
	r = read_story(p, text);
	cr_expect(!stb_results_selected(r, 0) && !stb_results_selected(r, 1) && stb_results_selected(r, 2) && !stb_results_selected(r, 3));
	cr_expect_null(r->stopped);
	stb_results_free(r);
	stb_plan_free(p);
}
