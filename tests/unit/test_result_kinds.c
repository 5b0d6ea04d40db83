/*
 * test_result_kinds.c - every kind of workload measured to the full while reports ask for everything: a row that is written is one that is read.
 */
#include "runtime/result/result.h"
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const points[] = { "point: one two", NULL };
static const char *const owners[] = { "", "files.", "rows." };

static void fill(struct stb_hist *h)
{
	stb_hist_init(h);
	for (uint64_t i = 0; i < 2000; i++)
		stb_hist_add(h, 1000000 + i * 1000);
}

static struct stb_server_change all_counts(void)
{
	struct stb_server_change s = { .known = (1u << STB_N_SERVER_COUNTS) - 1, .has_cpu = true, .cpu_ns = 5000000 };

	for (int i = 0; i < STB_N_SERVER_COUNTS; i++)
		s.count[i] = 7;
	return s;
}

static const struct stb_blockstat device = { true, 1, 2, 3, 4 };

/* All that can be counted: of io in every direction, of oltp where events are. */
static struct stb_measure *full(bool io)
{
	struct stb_measure *m = stb_xcalloc(1, sizeof(*m));

	m->window_ns = 1000000000;
	m->scheduled = m->issued = 6000;
	m->device = device;
	stb_hist_init(&m->sync);
	for (int i = 0; i < STB_N_DIRS; i++) {
		stb_hist_init(&m->lat[i]);
		stb_hist_init(&m->slat[i]);
		stb_hist_init(&m->clat[i]);
		stb_hist_init(&m->svc[i]);
		if (!io && i)
			continue;
		m->ok[i] = 2000;
		fill(&m->lat[i]);
		fill(&m->svc[i]);
		if (!io)
			continue;
		m->bytes[i] = 2000 * 4096;
		fill(&m->slat[i]);
		fill(&m->clat[i]);
	}
	if (io) {
		m->verified = 5;
		fill(&m->sync);
	} else {
		m->queries_read = 4000;
		m->server = all_counts();
	}
	return m;
}

/* A report of every metric in every direction, by itself and of each member of the mix. */
static void ask_for_everything(struct stb_plan *p)
{
	static const char *const dirs[] = { "", "read.", "write.", "trim." };
	struct stb_buf list;

	stb_buf_init(&list);
	for (const char *const *name = stb_metric_names(); *name; name++) {
		const char *nn = strstr(*name, "NN");
		const int len = (int)(nn ? (size_t)(nn - *name) : strlen(*name));

		for (size_t i = 0; i < STB_LEN(owners) * STB_LEN(dirs); i++) {
			char metric[96];
			struct stb_metric m;

			snprintf(metric, sizeof(metric), "%s%s%.*s%s", owners[i / STB_LEN(dirs)], dirs[i % STB_LEN(dirs)], len, *name, nn ? "25" : "");
			if (stb_metric_find(metric, &m))
				stb_buf_printf(&list, "%s ", metric);
		}
	}
	hand_report(p, "t", 0, stb_arena_strdup(&p->arena, stb_buf_str(&list)), "value");
	stb_buf_fini(&list);
}

/* Matrices of io, of oltp and of a mix of both, in this order. */
static struct stb_plan *plan_of_kinds(void)
{
	struct stb_plan *p = hand_plan();
	struct stb_plan_mix mix = { .n = 2, .members = { 0, 1 } };

	hand_matrix(p, "i", "io", points);
	hand_matrix(p, "o", "oltp", points);
	hand_matrix(p, "x", "mix", points);
	p->blocks[0].name = "files";
	p->blocks[1].name = "rows";
	p->blocks[2].name = "both";
	p->cells[4].mix = p->cells[5].mix = stb_plan_add_mix(p, &mix);
	ask_for_everything(p);
	return p;
}

static struct stb_results *measure_kinds(const struct stb_plan *p)
{
	const struct stb_mix_measure whole = { .overlap_ns = 9, .all_ns = 10, .device = device, .server = all_counts(), .events = 2000 };
	struct stb_measure *io = full(true), *oltp = full(false);
	struct stb_results *r = stb_results_new(p);

	stb_results_add_measure(r, 0, 1, 1, io, STB_STATUS_OK);
	stb_results_add_measure(r, 2, 1, 1, oltp, STB_STATUS_OK);
	stb_results_add_member(r, 4, 1, 1, 0, io, STB_STATUS_OK);
	stb_results_add_member(r, 4, 1, 1, 1, oltp, STB_STATUS_OK);
	stb_results_add_mix(r, 4, 1, 1, &whole, STB_STATUS_OK);
	/* what is left of those whose process was lost */
	stb_results_add_partial(r, 1, 1, 1, STB_NONE, 1, 1, 1, 1000, STB_STATUS_STALLED);
	stb_results_add_partial(r, 3, 1, 1, STB_NONE, 1, 1, 1, 1000, STB_STATUS_STALLED);
	stb_results_add_partial(r, 5, 1, 1, 0, 1, 1, 1, 1000, STB_STATUS_STALLED);
	stb_results_add_partial(r, 5, 1, 1, 1, 1, 1, 1, 1000, STB_STATUS_STALLED);
	free(io);
	free(oltp);
	return r;
}

Test(result_kinds, what_is_written_can_be_read)
{
	char path[] = "/tmp/stb-test-XXXXXX";
	struct stb_plan *p = plan_of_kinds();
	struct stb_results *r = measure_kinds(p), *back = stb_results_new(p);
	struct stb_err err;
	const int fd = mkstemp(path);
	FILE *out;
	int rc;

	cr_assert(fd >= 0);
	out = fdopen(fd, "w");
	stb_results_write_header(p, out);
	stb_results_write_rows(r, 0, out);
	cr_assert(!fclose(out));
	stb_err_clear(&err);
	rc = stb_results_read(back, path, &err);
	unlink(path);
	cr_assert(!rc, "%s", err.what);
	cr_expect_eq(back->n_rows, r->n_rows);
	stb_results_free(r);
	stb_results_free(back);
	stb_plan_free(p);
}

Test(result_kinds, only_io_has_directions)
{
	static const char *const of_io[] = { "read.iops", "trim.lat_mean", "write.lat_p25", "read.slat_mean", "read.svc_mean", "sync.lat_mean" };
	static const char *const of_both[] = { "lat_mean", "lat_p25", "svc_mean", "rate_achieved" };
	struct stb_plan *p = plan_of_kinds();
	struct stb_results *r = measure_kinds(p);
	char metric[64];

	for (size_t i = 0; i < STB_LEN(of_io); i++) {
		cr_expect(stb_results_first(r, 0, of_io[i]) && !stb_results_first(r, 2, of_io[i]), "%s", of_io[i]);
		snprintf(metric, sizeof(metric), "files.%s", of_io[i]);
		cr_expect(stb_results_first(r, 4, metric), "%s", metric);
		snprintf(metric, sizeof(metric), "rows.%s", of_io[i]);
		cr_expect(!stb_results_first(r, 4, metric), "%s", metric);
	}
	for (size_t i = 0; i < STB_LEN(of_both); i++) {
		cr_expect(stb_results_first(r, 0, of_both[i]) && stb_results_first(r, 2, of_both[i]), "%s", of_both[i]);
		snprintf(metric, sizeof(metric), "rows.%s", of_both[i]);
		cr_expect(stb_results_first(r, 4, metric), "%s", metric);
	}
	stb_results_free(r);
	stb_plan_free(p);
}
