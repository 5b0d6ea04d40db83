/* test_db_sql.c - statement texts, row data, distributions: sysbench's, to the letter and to the shape. */
#include "runtime/db/arrivals.h"
#include "runtime/db/dist.h"
#include "runtime/db/oltp.h"
#include "runtime/db/sql.h"
#include "runtime/db/wide.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* --- texts --------------------------------------------------------------------------------------------------------------------------- */

static void check_text(enum stb_sql sql, uint32_t table, const struct stb_sql_values *v, const char *expected)
{
	char text[STB_SQL_MAX + 1];
	const size_t len = stb_sql_format(text, sql, table, v);

	cr_assert_leq(len, STB_SQL_MAX);
	text[len] = '\0';
	cr_expect_str_eq(text, expected);
}

Test(db_sql, statements_with_marks)
{
	check_text(STB_SQL_POINT, 1, NULL, "SELECT c FROM sbtest1 WHERE id=?");
	check_text(STB_SQL_SIMPLE_RANGE, 2, NULL, "SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ?");
	check_text(STB_SQL_SUM_RANGE, 3, NULL, "SELECT SUM(k) FROM sbtest3 WHERE id BETWEEN ? AND ?");
	check_text(STB_SQL_ORDER_RANGE, 4, NULL, "SELECT c FROM sbtest4 WHERE id BETWEEN ? AND ? ORDER BY c");
	check_text(STB_SQL_DISTINCT_RANGE, 10, NULL, "SELECT DISTINCT c FROM sbtest10 WHERE id BETWEEN ? AND ? ORDER BY c");
	check_text(STB_SQL_INDEX_UPDATE, 6, NULL, "UPDATE sbtest6 SET k=k+1 WHERE id=?");
	check_text(STB_SQL_NON_INDEX_UPDATE, 7, NULL, "UPDATE sbtest7 SET c=? WHERE id=?");
	check_text(STB_SQL_DELETE, 8, NULL, "DELETE FROM sbtest8 WHERE id=?");
	check_text(STB_SQL_INSERT, 9, NULL, "INSERT INTO sbtest9 (id, k, c, pad) VALUES (?, ?, ?, ?)");
}

Test(db_sql, statements_with_values)
{
	struct stb_sql_values v = {.id = 5, .hi = 104, .k = 77};
	struct stb_rng rng;
	char expected[STB_SQL_MAX];

	stb_rng_seed(&rng, 1);
	stb_sql_fill_c(v.c, &rng);
	stb_sql_fill_pad(v.pad, &rng);
	check_text(STB_SQL_SUM_RANGE, 3, &v, "SELECT SUM(k) FROM sbtest3 WHERE id BETWEEN 5 AND 104");
	snprintf(expected, sizeof(expected), "UPDATE sbtest1 SET c='%s' WHERE id=5", v.c);
	check_text(STB_SQL_NON_INDEX_UPDATE, 1, &v, expected);
	v.id = INT32_MIN;
	snprintf(expected, sizeof(expected), "INSERT INTO sbtest1 (id, k, c, pad) VALUES (-2147483648, 77, '%s', '%s')", v.c, v.pad);
	check_text(STB_SQL_INSERT, 1, &v, expected);
}

/* The longest of all: every number at its widest. */
Test(db_sql, the_longest_statement_fits)
{
	struct stb_sql_values v = {.id = INT64_MIN, .hi = INT64_MIN, .k = INT64_MIN};
	char text[STB_SQL_MAX];

	memset(v.c, '9', STB_C_LEN);
	memset(v.pad, '9', STB_PAD_LEN);
	for (int sql = 0; sql < STB_N_SQL; sql++)
		cr_assert_leq(stb_sql_format(text, (enum stb_sql)sql, UINT32_MAX, &v), STB_SQL_MAX);
}

Test(db_sql, numbers)
{
	static const struct {
		int64_t v;
		const char *text;
	} cases[] = {{0, "0"}, {-1, "-1"}, {10, "10"}, {INT64_MAX, "9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};

	for (unsigned i = 0; i < STB_LEN(cases); i++) {
		char out[24];

		*stb_sql_put_i64(out, cases[i].v) = '\0';
		cr_expect_str_eq(out, cases[i].text);
	}
}

Test(db_sql, tables)
{
	char sql[STB_SQL_MAX];

	stb_sql_create_table(sql, 3, true, "innodb");
	cr_assert_str_eq(sql, "CREATE TABLE sbtest3( id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, "
		"c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) ) /*! ENGINE = innodb */");
	stb_sql_create_table(sql, 3, false, "aria");
	cr_assert_str_eq(sql, "CREATE TABLE sbtest3( id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, "
		"c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) ) /*! ENGINE = aria */");
	stb_sql_create_bulk(sql, 3);
	cr_assert_str_eq(sql, "CREATE TABLE sbtest3 ( id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))");
	stb_sql_create_index(sql, 12);
	cr_assert_str_eq(sql, "CREATE INDEX k_12 ON sbtest12(k)");
}

Test(db_sql, templates)
{
	uint64_t seen[10] = {0};
	struct stb_rng rng;

	stb_rng_seed(&rng, 3);
	for (int n = 0; n < 2000; n++) {
		char c[STB_C_LEN + 1];

		c[STB_C_LEN] = 'x';
		stb_sql_fill_c(c, &rng);
		cr_assert_eq(c[STB_C_LEN], 'x', "written beyond the end");
		for (int i = 0; i < STB_C_LEN; i++) {
			if (i % 12 == 11) {
				cr_assert_eq(c[i], '-');
				continue;
			}
			cr_assert(c[i] >= '0' && c[i] <= '9');
			seen[c[i] - '0']++;
		}
	}
	/* 220,000 digits: 22,000 of each, sigma 141 */
	for (int d = 0; d < 10; d++)
		cr_expect(seen[d] > 21200 && seen[d] < 22800, "digit %d: %lu", d, seen[d]);
}

/* --- distributions ------------------------------------------------------------------------------------------------------------------- */

#define DRAWS 200000

static struct stb_dist_shape shape_of(const char *type)
{
	struct stb_dist_shape shape;

	cr_assert(stb_dist_shape_of(&shape, type), "%s", type);
	return shape;
}

/* Share of draws in (from, to] of the range, in percent; asserts that every draw lies in it. */
static double share_of(const struct stb_dist_shape *shape, uint64_t n, double from, double to)
{
	struct stb_dist d;
	struct stb_rng rng;
	uint64_t inside = 0;

	stb_dist_init(&d, shape, n);
	stb_rng_seed(&rng, 11);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t v = stb_dist_draw(&d, &rng);

		cr_assert(v >= 1 && v <= n, "%d: %lu of %lu", shape->type, v, n);
		inside += (double)v > from * (double)n && (double)v <= to * (double)n;
	}
	return 100.0 * (double)inside / DRAWS;
}

static double share(const char *type, uint64_t n, double from, double to)
{
	const struct stb_dist_shape shape = shape_of(type);

	return share_of(&shape, n, from, to);
}

static void check_shape(const struct stb_dist_shape *shape, double from, double to, double expected)
{
	const double got = share_of(shape, 1000000, from, to);

	cr_expect(fabs(got - expected) < 0.5, "%d: %.2f%% of the draws in (%g, %g], expected %.2f%%", shape->type, got, from, to, expected);
}

static void check_share(const char *type, double from, double to, double expected)
{
	const struct stb_dist_shape shape = shape_of(type);

	check_shape(&shape, from, to, expected);
}

Test(db_dist, uniform)
{
	check_share("uniform", 0, 0.1, 10);
	check_share("uniform", 0.9, 1, 10);
}

/* Mean of 12 uniforms: sigma is 1/12 of the range. */
Test(db_dist, gaussian)
{
	check_share("gaussian", 0.5 - 1.0 / 12, 0.5 + 1.0 / 12, 68.3);
	check_share("gaussian", 0, 0.5, 50);
	check_share("gaussian", 0.25, 0.75, 99.8);
}

/* Three quarters on 0.75% of the rows, off the centre; the rest a bell. */
Test(db_dist, special)
{
	check_share("special", 0.4975, 0.5050, 75 + 25 * 0.036);
	check_share("special", 0.4975, 0.50125, 37.5 + 25 * 0.018);
	check_share("special", 0.4950, 0.4974, 25 * 0.0115);
	check_share("special", 0, 0.4974, 25 * 0.4876);
}

/* 80% of the draws on the lowest 20%, and again within those. */
Test(db_dist, pareto)
{
	check_share("pareto", 0, 0.2, 80);
	check_share("pareto", 0, 0.04, 64);
}

/* Every parameter moves what it says it moves. */
Test(db_dist, parameters)
{
	struct stb_dist_shape shape = shape_of("gaussian");

	shape.iter = 1; /* no average: flat */
	check_shape(&shape, 0, 0.1, 10);
	shape.iter = 48; /* sigma 1/24 */
	check_shape(&shape, 0.5 - 1.0 / 24, 0.5 + 1.0 / 24, 68.3);
	shape = shape_of("special");
	shape.res = 50; /* u in [0.5, 1) falls on the upper half of the hot 1% */
	check_shape(&shape, 0.5, 0.505, 50 + 50 * 0.024);
	shape = shape_of("special");
	shape.pct = 20; /* u in [0.25, 1): from 40% + 5% to 60% */
	check_shape(&shape, 0.45, 0.6, 75 + 25 * (0.885 - 0.274));
	shape = shape_of("special");
	shape.res = 0;
	check_shape(&shape, 0, 0.5, 50);
	shape = shape_of("pareto");
	shape.h = 0.1;
	check_shape(&shape, 0, 0.1, 90);
}

/* Against the sum of k^-e itself, at the head, in the middle and for exponents with forms of their own: 0 (flat), 1 (the logarithm). */
Test(db_dist, zipfian)
{
	static const double exponents[] = {0, 0.5, 0.8, 0.999999999, 1, 1.5, 3, 10};
	static const uint64_t upto[] = {1, 2, 3, 10, 100, 1000};
	enum { N = 10000 };

	for (unsigned e = 0; e < STB_LEN(exponents); e++) {
		struct stb_dist_shape shape = shape_of("zipfian");
		double all = 0;

		shape.exponent = exponents[e];
		for (int k = 1; k <= N; k++)
			all += pow(k, -shape.exponent);
		for (unsigned i = 0; i < STB_LEN(upto); i++) {
			double some = 0;

			for (uint64_t k = 1; k <= upto[i]; k++)
				some += pow((double)k, -shape.exponent);
			const double expected = 100 * some / all, got = share_of(&shape, N, 0, ((double)upto[i] + 0.5) / N);

			/* 200,000 draws: sigma is at most 0.11% */
			cr_expect(fabs(got - expected) < 0.5, "exponent %g: %.2f%% in the first %lu, expected %.2f%%", shape.exponent, got,
				upto[i], expected);
		}
	}
	check_share("zipfian", 0, 1, 100);
}

Test(db_dist, small_tables_and_bad_names)
{
	static const char *const types[] = {"uniform", "gaussian", "special", "pareto", "zipfian"};
	struct stb_dist_shape shape;

	for (unsigned i = 0; i < STB_LEN(types); i++) {
		cr_assert_eq(share(types[i], 1, 0, 1), 100.0);
		cr_assert_eq(share(types[i], 2, 0, 1), 100.0);
		cr_assert_eq(share(types[i], INT32_MAX, 0, 1), 100.0);
	}
	cr_assert_not(stb_dist_shape_of(&shape, "zipf"));
	cr_assert_not(stb_dist_shape_of(&shape, ""));
}

Test(db_dist, the_same_seed_draws_the_same)
{
	const struct stb_dist_shape shape = shape_of("special");
	struct stb_dist d;
	struct stb_rng a, b;

	stb_dist_init(&d, &shape, 10000);
	stb_rng_stream(&a, 1, 2, 3, 4, STB_RNG_KEYS);
	stb_rng_stream(&b, 1, 2, 3, 4, STB_RNG_KEYS);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(stb_dist_draw(&d, &a), stb_dist_draw(&d, &b));
}

/* --- wide statements ----------------------------------------------------------------------------------------------------------------- */

static struct stb_oltp random_selects(enum stb_script script, uint32_t threads)
{
	struct stb_oltp o = {.script = script, .threads = threads, .points = 3, .ranges = 2, .delta = 5, .data = {.table_size = 1000}};

	o.data.shape = shape_of("uniform");
	return o;
}

static void check_wide(struct stb_wide *w, bool literals, const char *expected)
{
	const size_t len = stb_wide_format(w, literals);

	cr_expect(len == strlen(expected) && !memcmp(w->sql, expected, len), "%.*s", (int)len, w->sql);
}

Test(db_wide, texts)
{
	struct stb_oltp o = random_selects(STB_RANDOM_POINTS, 1);
	struct stb_wide w;

	stb_wide_init(&w, &o, 0);
	check_wide(&w, false, "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)");
	for (uint32_t i = 0; i < w.n; i++)
		w.values[i] = 10 * i;
	check_wide(&w, true, "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (0, 10, 20)");
	stb_wide_fini(&w);
	o.script = STB_RANDOM_RANGES;
	stb_wide_init(&w, &o, 0);
	check_wide(&w, false, "SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?");
	for (uint32_t i = 0; i < w.n; i++)
		w.values[i] = 10 * i;
	check_wide(&w, true, "SELECT count(k) FROM sbtest1 WHERE k BETWEEN 0 AND 10 OR k BETWEEN 20 AND 30");
	stb_wide_fini(&w);
}

/* The widest values in the largest number that can be asked for stay within the memory (the sanitizers look). */
Test(db_wide, the_widest_fits)
{
	for (int k = 0; k < 2; k++) {
		struct stb_oltp o = random_selects(k ? STB_RANDOM_RANGES : STB_RANDOM_POINTS, 1);
		struct stb_wide w;

		o.points = o.ranges = STB_OLTP_MAX_POINTS;
		stb_wide_init(&w, &o, 0);
		for (uint32_t i = 0; i < w.n; i++)
			w.values[i] = INT64_MIN;
		cr_expect_gt(stb_wide_format(&w, true), 20u * w.n);
		stb_wide_fini(&w);
	}
}

/* As in sysbench each worker has a part of the values, both its ends included, and 0 is one of the first's. */
Test(db_wide, every_worker_has_its_part)
{
	const struct stb_oltp o = random_selects(STB_RANDOM_RANGES, 3);

	for (uint32_t worker = 0; worker < 3; worker++) {
		const int64_t first = (int64_t)(1000 / 3.0 * worker), last = (int64_t)(1000 / 3.0 * worker + 1000 / 3.0);
		int64_t least = INT64_MAX, most = INT64_MIN;
		struct stb_wide w;
		struct stb_rng rng;

		stb_wide_init(&w, &o, worker);
		stb_rng_seed(&rng, 5);
		for (int i = 0; i < 20000; i++) {
			stb_wide_draw(&w, &rng);
			for (uint32_t k = 0; k < w.n; k += 2) {
				least = STB_MIN(least, w.values[k]);
				most = STB_MAX(most, w.values[k]);
				cr_assert_eq(w.values[k + 1], w.values[k] + 5);
			}
		}
		cr_expect_eq(least, first, "%ld", (long)least);
		cr_expect_eq(most, last, "%ld", (long)most);
		stb_wide_fini(&w);
	}
}

Test(db_wide, bulk_rows)
{
	static const char first[] = "INSERT INTO sbtest7 VALUES(1,1),(2,2),(3,3)";
	struct stb_bulk b;
	int64_t next;

	stb_bulk_init(&b, 7);
	cr_assert(stb_bulk_is_empty(&b));
	for (int i = 0; i < 3; i++)
		cr_assert(stb_bulk_add(&b));
	cr_assert_not(stb_bulk_is_empty(&b));
	cr_assert(b.len == strlen(first) && !memcmp(b.text, first, b.len), "%.*s", (int)b.len, b.text);
	while (stb_bulk_add(&b))
		cr_assert_leq(b.len, 512u * 1024);
	cr_assert_gt(b.len, 512u * 1024 - 64);
	next = b.next;
	cr_assert_not(stb_bulk_add(&b));
	cr_assert_eq(b.next, next, "a row that does not fit is not lost");
	stb_bulk_clear(&b);
	cr_assert(stb_bulk_is_empty(&b));
	cr_assert(stb_bulk_add(&b));
	cr_assert_eq(b.next, next + 1);
	stb_bulk_fini(&b);
}

/* --- arrivals ------------------------------------------------------------------------------------------------------------------------- */

/* A Poisson process: the gaps' mean and standard deviation are both 1/rate, and 1/e of them are longer than that. */
Test(db_arrivals, gaps_are_exponential)
{
	struct stb_arrivals a;
	struct stb_rng rng;
	double sum = 0, squares = 0;
	uint64_t before = 5000, n_long = 0;

	stb_rng_seed(&rng, 3);
	stb_arrivals_init(&a, 1000, &rng);
	stb_arrivals_start(&a, before);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t at = stb_arrivals_next(&a);

		cr_assert_geq(at, before);
		const double gap_ms = (double)(at - before) / 1e6;

		sum += gap_ms;
		squares += gap_ms * gap_ms;
		n_long += gap_ms > 1;
		before = at;
	}
	stb_arrivals_fini(&a);
	cr_expect(fabs(sum / DRAWS - 1) < 0.01, "mean %g", sum / DRAWS);
	cr_expect(fabs(squares / DRAWS - 2) < 0.05, "square %g", squares / DRAWS);
	cr_expect(fabs((double)n_long / DRAWS - 0.3679) < 0.005, "long %g", (double)n_long / DRAWS);
}

Test(db_unique, ids_are_negative_and_do_not_repeat)
{
	enum { N = 1 << 20 };
	uint8_t *seen = stb_xcalloc(1, (size_t)INT32_MAX / 8 + 2);

	for (uint32_t i = 0; i < N; i++) {
		const int64_t id = stb_unique_id(i);

		cr_assert(id < 0 && id >= INT32_MIN);
		const uint32_t bit = (uint32_t)(id - INT32_MIN);

		cr_assert_not(seen[bit / 8] >> (bit % 8) & 1, "id %ld twice", (long)id);
		seen[bit / 8] |= (uint8_t)(1u << (bit % 8));
	}
	free(seen);
}
