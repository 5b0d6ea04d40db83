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

/* However odd a block is: trims of a device are made in its blocks with or without direct, and one rule tells of it. */
Test(rules, blocks_of_trims_on_zram_are_told_once)
{
	static const char *const odd[] = { "bs = 1000B", "bs = 512B", "bs = [1000B, 4KiB]", "bs = [4KiB, 6KiB]" };
	static const char *const direct[] = { "", "direct = true" };
	char text[512];

	for (size_t i = 0; i < STB_LEN(odd); i++)
		for (size_t k = 0; k < STB_LEN(direct); k++) {
			snprintf(text, sizeof(text), "storage zram z { size = 1GiB }\nvolume data { storage = z filesystem = none }\n"
				"workload io fill { volume = data size = 12MB rw = write }\n"
				"workload io w { volume = data size = 12MB rw = trim prepare = [fill] %s %s }\nmatrix m { workload = w }\n", odd[i],
				direct[k]);
			cr_expect_eq(count(text, STB_E0403), 1, "%s %s", odd[i], direct[k]);
		}
}

/* What is described was measured elsewhere, in whatever they had there: also beside an external database. */
Test(rules, metrics_of_what_is_described_stand)
{
	static const char spec[] = "storage %s\nvolume data { storage = s size = 50GB }\n"
				   "database external db { host = \"db.example\" user = \"u\" volume = data }\n"
				   "workload oltp w { database = db script = read_only time = 60s }\nmatrix m { workload = w }\n"
				   "report r { from = m rows = workload metrics = [tps, replica_lag, server.cpu_ms, dev_read_ios, svc_p99] }\n";
	char text[1024];

	snprintf(text, sizeof(text), spec, "external s {}");
	cr_expect_eq(count(text, STB_E0606), 0);
	snprintf(text, sizeof(text), spec, "directory s { path = \"/srv\" }");
	cr_expect_eq(count(text, STB_E0606), 4);
}

/* A column that is empty in the bare spec stands where a profile may fill it, and only there. */
Test(rules, metrics_that_a_profile_brings_stand)
{
	static const struct {
		const char *profile;
		unsigned dead; /* of write.iops, clat_p99, svc_p99, sync.lat_p99, verify_errors */
	} cases[] = {
		{ "", 5 },
		{ "workload io w { size = 1MiB }", 5 },
		{ "workload io w { ioengine = io_uring direct = true }", 4 },
		{ "workload io * { rate_iops = 100/s }", 3 }, /* clat_p99 too: it depends on whether there is one */
		{ "workload io w { ioengine = io_uring direct = true rate_iops = 100/s }", 3 },
		{ "workload io w { rw = randwrite }", 4 },
		{ "workload io w { rw = randwrite fsync = 4 verify = md5 }", 2 },
		{ "matrix m { override { workload.ioengine = io_uring } }", 4 },
		{ "report r { where { rw = read } }", 5 },
	};
	char text[1024];

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		snprintf(text, sizeof(text), DISK "workload io w { volume = data size = 8MiB rw = randread }\nmatrix m { workload = w }\n"
			"report r { from = m rows = workload metrics = [iops, write.iops, clat_p99, svc_p99, sync.lat_p99, verify_errors] }\n"
			"profile p { %s }\n", cases[i].profile);
		cr_expect_eq(count(text, STB_E0606), cases[i].dead, "%s", cases[i].profile);
	}
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
	cr_expect_eq(count_oltp("script = read_only threads = 150", "", STB_E0435), 0);
	cr_expect_eq(count_oltp("script = read_only threads = 151", "", STB_E0435), 1);
	cr_expect_eq(count_oltp("script = read_only threads = 152", "options { max_connections = 153 }", STB_E0435), 0);
	/* replicas read by a connection each, and are watched by another; tables on an external server are held by one */
	cr_expect_eq(count_oltp("script = read_only threads = 152", "topology = async_replica replicas = 2 options { max_connections = 156 }", STB_E0435), 0);
	cr_expect_eq(count_oltp("script = read_only threads = 152", "topology = async_replica replicas = 2 options { max_connections = 155 }", STB_E0435), 1);
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

Test(rules, sizes_and_their_shares)
{
	cr_expect_eq(count_io("size = 1MiB rw = read bs = [4KiB, 64KiB] bs_percent = [50%, 50%]", STB_E0490), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read bs = [4KiB, 64KiB] bs_percent = [50%, 49.9%]", STB_E0490), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read bs = [4KiB, 8KiB, 16KiB] bs_percent = [100%/3, 100%/3, 100%/3]", STB_E0490), 0, "exact");
	cr_expect_eq(count_io("size = 64KiB rw = read bs = [4KiB, 64KiB] bs_percent = [50%, 50%]", STB_E0404), 0);
	cr_expect_eq(count_io("size = 60KiB rw = read bs = [4KiB, 64KiB] bs_percent = [50%, 50%]", STB_E0404), 1, "the greatest fits");
	cr_expect_eq(count_io("size = 1MiB rw = read bs = [4KiB]", STB_E0490), 0, "a list of one is one size");
}

Test(rules, a_rate_moves_one_block_at_least)
{
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 10s rate_iops = 0.1/s", STB_E0496), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 9999ms rate_iops = 0.1/s", STB_E0496), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 1s rate = 4KiB/s", STB_E0496), 0);
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 1s rate = 4095B/s", STB_E0496), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 1s rate = 1MiB / 4min", STB_E0496), 0, "typed arithmetic");
	cr_expect_eq(count_io("size = 1MiB rw = read runtime = 1s rate = 1MiB / 5min", STB_E0496), 1);
	cr_expect_eq(count_io("size = 1MiB rw = read rate = 1B/s", STB_E0496), 0, "the size ends it");
	cr_expect_eq(count_io("size = 1MiB rw = read bs = [4KiB, 64KiB] bs_percent = [50%, 50%] runtime = 1s rate = 63KiB/s", STB_E0496), 1);
}

Test(rules, steady_state)
{
	static const char spec[] = "size = 1MiB rw = read runtime = 1s %s steady_state { metric = iops %s window = %s limit = %s }";
	static const struct {
		const char *time_based, *how, *window, *limit;
		unsigned errors;
	} cases[] = {
		{ "time_based = true", "slope = 5%", "30s", "30s", 0 },
		{ "time_based = true", "slope = 5%", "30s", "29s", 1 },
		{ "time_based = true", "deviation = 5%", "30s", "1min", 0 },
		{ "", "slope = 5%", "30s", "30s", 1 },
		{ "time_based = true", "", "30s", "30s", 1 },
		{ "time_based = true", "slope = 5% deviation = 5%", "30s", "30s", 1 },
		{ "time_based = true", "slope = 5%", "2500ms", "30s", 1 },
		{ "time_based = true", "slope = 5%", "3000ms", "2500ms", 1 },
		{ "time_based = true", "slope = 5%", "3000ms", "3500ms", 0 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		char attrs[512];

		snprintf(attrs, sizeof(attrs), spec, cases[i].time_based, cases[i].how, cases[i].window, cases[i].limit);
		cr_expect_eq(count_io(attrs, STB_E0498), cases[i].errors, "%s", attrs);
	}
}

Test(rules, scripts_have_their_own_counts)
{
	cr_expect_eq(count_oltp("script = update_index index_updates = 3", "", STB_E0431), 0);
	cr_expect_eq(count_oltp("script = update_index non_index_updates = 3", "", STB_E0431), 1);
	cr_expect_eq(count_oltp("script = select_random_ranges number_of_ranges = 3 delta = 9", "", STB_E0431), 0);
	cr_expect_eq(count_oltp("script = select_random_points number_of_ranges = 3 delta = 9", "", STB_E0431), 2);
	cr_expect_eq(count_oltp("script = delete range_size = 9", "", STB_E0431), 1);
	cr_expect_eq(count_oltp("script = bulk_insert tables = 10000 threads = 100", "", STB_E0433), 0, "it prepares nothing");
	cr_expect_eq(count_oltp("script = delete tables = 164 threads = 100", "", STB_E0433), 1);
	cr_expect_eq(count_oltp("script = select_random_points tables = 164 threads = 100", "", STB_E0433), 0, "the first table only");
	cr_expect_eq(count_oltp("script = read_only rand_type = gaussian rand_spec_iter = 6", "", STB_E0529), 0);
	cr_expect_eq(count_oltp("script = read_only rand_type = zipfian rand_zipfian_exp = 1.1 rand_spec_pct = 2%", "", STB_E0529), 1);
}

#define RAW "storage loop l { size = 4GiB }\nvolume v { storage = l filesystem = none }\n"
#define FILL "workload io fill { volume = v size = 1GiB rw = write }\n"

Test(rules, a_raw_volume_is_filled_or_known_to_be)
{
	cr_expect_eq(count(RAW "workload io w { volume = v size = 1GiB rw = read }\nmatrix m { workload = w }", STB_E0522), 1);
	cr_expect_eq(count(RAW "workload io w { volume = v size = 1GiB rw = write }\nmatrix m { workload = w }", STB_E0522), 0);
	cr_expect_eq(count(RAW "workload io w { volume = v size = 1GiB rw = rw prepare = [] }\nmatrix m { workload = w }", STB_E0522), 0);
	cr_expect_eq(count(RAW FILL "workload io w { volume = v size = 1GiB rw = read prepare = fill }\nmatrix m { workload = w }", STB_E0522), 0);
}

/* The steps of prepare are part of what a group is; a list without fills is not. */
Test(rules, fills_and_parts_belong_to_cell_and_group)
{
	static const char *const specs[] = {
		RAW FILL "workload io w { volume = v size = 1GiB rw = read prepare = [fill] }\nmatrix m { workload = w }",
		RAW "workload io fill { volume = v size = 1GiB rw = write bs = 1MiB }\n"
		    "workload io w { volume = v size = 1GiB rw = read prepare = [fill] }\nmatrix m { workload = w }",
		RAW FILL "workload io w { volume = v size = 1GiB rw = read prepare = [] }\nmatrix m { workload = w }",
	};
	char cells[STB_LEN(specs)][STB_HASH_HEX], groups[STB_LEN(specs)][STB_HASH_HEX];

	for (size_t i = 0; i < STB_LEN(specs); i++) {
		struct planned p = { 0 };

		planned_open(&p, specs[i]);
		cr_assert(p.plan);
		memcpy(cells[i], p.plan->cells[0].id, STB_HASH_HEX);
		memcpy(groups[i], p.plan->groups[0].id, STB_HASH_HEX);
		cr_expect_eq(p.plan->groups[0].load_bytes, i == 2 ? 0 : 1u << 30, "%zu: %llu", i, (unsigned long long)p.plan->groups[0].load_bytes);
		planned_close(&p);
		for (size_t k = 0; k < i; k++) {
			cr_expect_str_neq(cells[i], cells[k]);
			cr_expect_str_neq(groups[i], groups[k]);
		}
	}
}

Test(rules, what_is_planned_only_says_so)
{
	static const struct {
		const char *attrs, *attr;
	} cases[] = {
		{ "rate_iops = 5/s", NULL },      { "bs = [4KiB, 8KiB] bs_percent = [50%, 50%]", NULL }, { "bs = 8KiB", NULL },
		{ "bs = [8KiB]", NULL },          { "rate_tolerance = 5%", NULL },                    { "prepare = []", NULL },
		{ "thinktime = 1ms", NULL },      { "offset = 4KiB", NULL },                          { "rate = 1MiB/s rate_process = poisson", NULL },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct planned p = { 0 };
		char text[1024];

		snprintf(text, sizeof(text), DISK "workload io w { volume = data size = 1MiB rw = read %s }\nmatrix m { workload = w }\n", cases[i].attrs);
		planned_open(&p, text);
		cr_assert(p.plan, "%s", cases[i].attrs);
		for (uint32_t b = 0; b < p.plan->n_blocks; b++) {
			if (strcmp(p.plan->blocks[b].kind, "workload"))
				continue;
			cr_expect_eq(!p.plan->blocks[b].not_run, !cases[i].attr, "%s", cases[i].attrs);
			if (cases[i].attr)
				cr_expect_str_eq(p.plan->blocks[b].not_run_attr, cases[i].attr);
		}
		planned_close(&p);
	}
}
