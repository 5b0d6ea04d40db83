/*
 * test_rules.c - rules between attributes at their boundaries: the last value that is right, the first that is wrong. What they say is kept
 * in tests/golden/diag.
 */
#include "compiler/rule.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define DISK "storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\n"

static unsigned count(const char *text, enum stb_code code)
{
	struct planned p = { 0 };
	unsigned n;

	planned_open(&p, text);
	n = planned_count(&p, code);
	cr_expect_eq(p.plan == NULL, p.c.sink.n_errors > 0);
	planned_close(&p);
	return n;
}

static unsigned count_io(const char *attrs, enum stb_code code)
{
	char text[2048];

	snprintf(text, sizeof(text), DISK "workload io w { volume = data %s }\nmatrix m { workload = w }\n", attrs);
	return count(text, code);
}

static unsigned count_oltp(const char *attrs, const char *options, enum stb_code code)
{
	char text[2048];

	snprintf(text, sizeof(text), DISK "database mysql db { volume = data %s }\nworkload oltp w { database = db time = 1s %s }\n"
		"matrix m { workload = w }\n", options, attrs);
	return count(text, code);
}

Test(rules, every_rule_has_a_code_and_a_sentence)
{
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	cr_assert_gt(n, 30);
	for (size_t i = 0; i < n; i++) {
		cr_expect(rules[i].doc && rules[i].doc[0] && rules[i].types[0]);
		cr_expect(strchr("EWN", stb_code_info(rules[i].code)->name[0]));
	}
}

Test(rules, stating_what_would_hold_anyway_is_no_error)
{
	cr_expect_eq(count_io("size = 1MiB rw = read iodepth = 1 rwmixread = 50% fsync = 0 end_fsync = false norandommap = false "
			      "randrepeat = true fallocate = native", STB_E0401), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read rwmixread = 50%", STB_E0408), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read rwmixread = 51%", STB_E0408), 1);
	cr_expect_eq(count_oltp("script = point_select point_selects = 10", "", STB_E0431), 0);
	cr_expect_eq(count_oltp("script = point_select point_selects = 9", "", STB_E0431), 1);
}

Test(rules, blocks)
{
	cr_expect_eq(count_io("size = 4KiB rw = read", STB_E0404), 0);
	cr_expect_eq(count_io("size = 4095B rw = read", STB_E0404), 1);
	cr_expect_eq(count_io("size = 4097B rw = read", STB_E0404), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read bs = 512B direct = true", STB_E0403), 0);
	cr_expect_eq(count_io("size = 1023B rw = read bs = 1023B direct = true", STB_E0403), 1);
	cr_expect_eq(count_io("size = 1023B rw = read bs = 1023B", STB_E0403), 0);
}

Test(rules, depth)
{
	cr_expect_eq(count_io("size = 1MiB rw = read ioengine = libaio iodepth = 4096 direct = true", STB_E0402), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read ioengine = libaio iodepth = 4097 direct = true", STB_E0402), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read ioengine = null iodepth = 64", STB_E0401), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read ioengine = null iodepth = 64", STB_W0405), 0);
}

Test(rules, prepared_statements_and_connections)
{
	/* 9 x 202 + 2 = 1820 handles a thread: 9 threads need 16380, 8 tables more 17028 */
	cr_expect_eq(count_oltp("script = read_write tables = 202 threads = 9", "", STB_E0433), 0);
	cr_expect_eq(count_oltp("script = read_write tables = 203 threads = 9", "", STB_E0433), 1);
	cr_expect_eq(count_oltp("script = read_write tables = 203 threads = 9 skip_trx = true", "", STB_E0433), 1);
	cr_expect_eq(count_oltp("script = read_write tables = 203 threads = 9 db_ps_mode = disable", "", STB_E0433), 0);
	cr_expect_eq(count_oltp("script = insert tables = 10000 threads = 100", "", STB_E0433), 0, "insert is text");
	cr_expect_eq(count_oltp("script = read_write tables = 203 threads = 9", "options { max_prepared_stmt_count = 20000 }", STB_E0433), 0);
	cr_expect_eq(count_oltp("script = read_only threads = 151", "", STB_E0435), 0);
	cr_expect_eq(count_oltp("script = read_only threads = 152", "", STB_E0435), 1);
	cr_expect_eq(count_oltp("script = read_only threads = 152", "options { max_connections = 152 }", STB_E0435), 0);
}

Test(rules, what_fits)
{
	static const char spec[] = "storage loop l { size = 1000MiB }\nvolume v { storage = l %s }\n"
				   "workload io w { volume = v size = %s rw = write %s }\nmatrix m { workload = w }\n";
	static const struct {
		const char *volume, *size, *more;
		unsigned errors;
	} cases[] = {
		{ "", "900MiB", "", 0 }, /* ext4 keeps a tenth */
		{ "", "901MiB", "", 1 },
		{ "filesystem = none", "1000MiB", "", 0 },
		{ "filesystem = none", "1001MiB", "", 1 },
		{ "filesystem = xfs", "916MiB", "", 0 }, /* 64 MiB and a fiftieth */
		{ "filesystem = xfs", "917MiB", "", 1 },
		{ "size = 500MiB", "450MiB", "", 0 },
		{ "size = 500MiB", "451MiB", "", 1 },
		{ "", "450MiB", "numjobs = 2", 0 },
		{ "", "451MiB", "numjobs = 2", 1 },
		{ "", "900MiB", "numjobs = 64 shared_file = true", 0 },
		{ "", "4096TiB", "numjobs = 4096", 1 },
		{ "", "4096TiB", "ioengine = null", 0 },
	};
	char text[1024];

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		snprintf(text, sizeof(text), spec, cases[i].volume, cases[i].size, cases[i].more);
		cr_expect_eq(count(text, STB_E0418), cases[i].errors, "%s", text);
	}
}

Test(rules, notes_and_warnings_are_no_errors)
{
	struct planned p = { 0 };

	planned_open(&p, DISK "workload io w { volume = data size = 1MiB rw = read runtime = 1s ioengine = libaio numjobs = 2 }\n"
		"matrix m { workload = w axis jobs { set = workload.bs values = [4KiB, 8KiB] } }\n");
	cr_assert(p.plan);
	cr_expect_eq(p.c.sink.n_warnings, 1);
	cr_expect_eq(p.plan->n_notes, 2, "size or runtime, jobs; each once for both cells");
	planned_close(&p);
}
