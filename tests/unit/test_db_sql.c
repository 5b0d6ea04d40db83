/* test_db_sql.c - statement texts, row data, distributions: sysbench's, to the letter and to the shape. */
#include "runtime/db/dist.h"
#include "runtime/db/oltp.h"
#include "runtime/db/sql.h"

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

/* Share of draws in (from, to] of the range, in percent; asserts that every draw lies in it. */
static double share(const char *type, uint64_t n, double from, double to)
{
	struct stb_dist d;
	struct stb_rng rng;
	uint64_t inside = 0;

	cr_assert(stb_dist_init(&d, type, n));
	stb_rng_seed(&rng, 11);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t v = stb_dist_draw(&d, &rng);

		cr_assert(v >= 1 && v <= n, "%s: %lu of %lu", type, v, n);
		inside += (double)v > from * (double)n && (double)v <= to * (double)n;
	}
	return 100.0 * (double)inside / DRAWS;
}

static void check_share(const char *type, double from, double to, double expected)
{
	const double got = share(type, 1000000, from, to);

	cr_expect(fabs(got - expected) < 0.5, "%s: %.2f%% of the draws in (%g, %g], expected %.2f%%", type, got, from, to, expected);
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

Test(db_dist, small_tables_and_bad_names)
{
	static const char *const types[] = {"uniform", "gaussian", "special", "pareto"};
	struct stb_dist d;

	for (unsigned i = 0; i < STB_LEN(types); i++) {
		cr_assert_eq(share(types[i], 1, 0, 1), 100.0);
		cr_assert_eq(share(types[i], 2, 0, 1), 100.0);
		cr_assert_eq(share(types[i], INT32_MAX, 0, 1), 100.0);
	}
	cr_assert_not(stb_dist_init(&d, "zipfian", 10));
	cr_assert_not(stb_dist_init(&d, "", 10));
}

Test(db_dist, the_same_seed_draws_the_same)
{
	struct stb_dist d;
	struct stb_rng a, b;

	stb_dist_init(&d, "special", 10000);
	stb_rng_stream(&a, 1, 2, 3, 4, STB_RNG_KEYS);
	stb_rng_stream(&b, 1, 2, 3, 4, STB_RNG_KEYS);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(stb_dist_draw(&d, &a), stb_dist_draw(&d, &b));
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
