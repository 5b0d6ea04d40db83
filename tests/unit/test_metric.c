/*
 * test_metric.c - metric names, percentile spelling, units of one dimension.
 */
#include "runtime/base/metric.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(metric, percentile_names)
{
	static const struct {
		const char *name;
		uint64_t num, den;
	} good[] = { { "lat_p50", 50, 100 }, { "lat_p95", 95, 100 }, { "lat_p999", 999, 1000 }, { "lat_p9999", 9999, 10000 },
		{ "lat_p5", 5, 100 }, { "lat_p9", 9, 100 }, { "lat_p10", 10, 100 }, { "lat_p100", 100, 100 },
		{ "lat_p001", 1, 1000 }, { "read.lat_p99", 99, 100 }, { "trim.lat_p99", 99, 100 }, { "sync.lat_p999", 999, 1000 } };
	static const char *const bad[] = { "lat_p", "lat_pNN", "lat_p990", "lat_p05", "lat_p00", "lat_p0", "lat_p1000", "lat_p101x", "lat_p-1",
		"lat_p9.5", "lat_p9999999999999999999999", "read.sync.lat_p99", "sync.read.lat_p99", "read.read.lat_p50", "LAT_P50" };
	struct stb_metric m;

	for (size_t i = 0; i < STB_LEN(good); i++) {
		cr_assert(stb_metric_find(good[i].name, &m), "%s", good[i].name);
		cr_assert(m.pct_num == good[i].num && m.pct_den == good[i].den, "%s", good[i].name);
		cr_assert_str_eq(m.unit, "ms");
		cr_assert_eq(m.direction, STB_LOWER_IS_BETTER);
	}
	for (size_t i = 0; i < STB_LEN(bad); i++)
		cr_assert(!stb_metric_find(bad[i], &m), "%s", bad[i]);
}

Test(metric, families_and_prefixes)
{
	struct stb_metric m;

	cr_assert(stb_metric_find("iops", &m) && m.families == STB_METRIC_IO && m.pct_den == 1 && m.pct_num == 0);
	cr_assert(stb_metric_find("tps", &m) && m.families == STB_METRIC_OLTP && m.direction == STB_HIGHER_IS_BETTER);
	cr_assert(stb_metric_find("lat_mean", &m) && m.families == (STB_METRIC_IO | STB_METRIC_OLTP));
	cr_assert(stb_metric_find("write.lat_mean", &m) && m.families == STB_METRIC_IO);
	cr_assert(stb_metric_find("read.iops", &m));
	cr_assert(stb_metric_find("bw_bytes", &m) && !strcmp(m.default_unit, "MB/s"));
	cr_assert(!stb_metric_find("read.tps", &m));
	cr_assert(stb_metric_find("trx.tps", &m) && m.part_len == 4 && m.families == STB_METRIC_OLTP);
	cr_assert(stb_metric_find("log.read.lat_p99", &m) && m.part_len == 4 && m.pct_num == 99);
	cr_assert(stb_metric_find("overlap", &m) && m.families == STB_METRIC_MIX);
	cr_assert(stb_metric_find("dev_read_ios", &m) && !stb_metric_find("trx.dev_read_ios", &m) && !stb_metric_find("trx.server.cpu_ms", &m));
	cr_assert(!stb_metric_find("a.b.iops", &m) && !stb_metric_find("0a.iops", &m) && !stb_metric_find(".iops", &m));
	cr_assert(!stb_metric_find("read.cpu_usr", &m));
	cr_assert(!stb_metric_find("", &m));
	cr_assert(!stb_metric_find("read.", &m));
}

Test(metric, what_it_needs)
{
	struct stb_metric m;
	unsigned needs;

	cr_assert(stb_metric_find("iops", &m) && !m.needs);
	cr_assert(stb_metric_find("log.write.svc_p99", &m) && m.needs == (STB_NEEDS_WRITES | STB_NEEDS_RATE));
	cr_assert(stb_metric_find("server.semisync_tx", &m) && m.needs == STB_NEEDS_SEMISYNC);
	needs = STB_NEEDS_WRITES | STB_NEEDS_RATE;
	cr_assert_str_eq(stb_metric_next_need(&needs), "a workload that writes");
	cr_assert_str_eq(stb_metric_next_need(&needs), "a workload with a rate");
	cr_assert(!stb_metric_next_need(&needs));
	for (unsigned bit = STB_NEEDS_READS; bit <= STB_NEEDS_SEMISYNC; bit <<= 1) {
		needs = bit;
		cr_assert(stb_metric_next_need(&needs) && !needs);
	}
}

Test(metric, words_that_no_workload_of_a_mix_may_be_called)
{
	static const char *const taken[] = { "read", "write", "trim", "sync", "server" };
	static const char *const free_[] = { "reader", "rea", "lat", "io", "server_", "database", "overlap", "lat_p95", "iops", "tps", "" };

	for (size_t i = 0; i < STB_LEN(taken); i++)
		cr_expect(stb_metric_takes(taken[i]), "%s", taken[i]);
	for (size_t i = 0; i < STB_LEN(free_); i++)
		cr_expect(!stb_metric_takes(free_[i]), "%s", free_[i]);
	for (const char *const *name = stb_metric_names(); *name; name++) { /* what a metric begins with is none of a workload's */
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(*name, "."), *name);
		cr_expect_eq(stb_metric_takes(word), strchr(*name, '.') != NULL, "%s", word);
	}
}

Test(metric, every_listed_metric_is_there)
{
	size_t n = 0;

	for (const char *const *name = stb_metric_names(); *name; name++, n++) {
		struct stb_metric m;
		double same;
		char sample[64];

		strcpy(sample, *name);
		if (strstr(sample, "NN"))
			memcpy(strstr(sample, "NN"), "99", 2);
		cr_assert(stb_metric_find(sample, &m), "%s", sample);
		cr_assert(stb_metric_convert(1, m.unit, m.default_unit, &same), "%s: %s and %s", sample, m.unit, m.default_unit);
		cr_assert_eq(strstr(m.heading, "%s") != NULL, strstr(*name, "NN") != NULL);
		cr_assert(m.meaning[0]);
	}
	cr_assert_eq(n, 64);
}

Test(metric, conversions)
{
	double out;

	cr_assert(stb_metric_convert(1048576, "B/s", "MiB/s", &out) && out == 1);
	cr_assert(stb_metric_convert(2.5, "ms", "us", &out) && out == 2500);
	cr_assert(stb_metric_convert(2500, "us", "ms", &out) && out == 2.5);
	cr_assert(stb_metric_convert(1, "min", "s", &out) && out == 60);
	cr_assert(stb_metric_convert(400, "MB", "B", &out) && out == 400e6);
	cr_assert(stb_metric_convert(0.1, "ms", "ms", &out) && out == 0.1);
	cr_assert(stb_metric_convert(7, "", "", &out) && out == 7);
	cr_assert(stb_metric_convert(7, "1/s", "1/s", &out) && out == 7);
	cr_assert(stb_metric_convert(7, "%", "%", &out) && out == 7);
	cr_assert(!stb_metric_convert(1, "B", "B/s", &out));
	cr_assert(!stb_metric_convert(1, "ms", "MB", &out));
	cr_assert(!stb_metric_convert(1, "1/s", "B/s", &out));
	cr_assert(!stb_metric_convert(1, "", "%", &out));
	cr_assert(!stb_metric_convert(1, "ms/s", "ms/s", &out));
	cr_assert(!stb_metric_convert(1, "/s", "/s", &out));
	cr_assert(!stb_metric_convert(1, "parsec", "parsec", &out));
}
