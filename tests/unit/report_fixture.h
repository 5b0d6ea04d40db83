/*
 * report_fixture.h - a plan and its results by hand, and what their report shows: shared by the tests of reports and of claims.
 */
#ifndef STB_TEST_REPORT_FIXTURE_H
#define STB_TEST_REPORT_FIXTURE_H

#include "runtime/report/report.h"
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const disks[] = { "storage: ssd=SSD_cloud_disk pmem_lvm=PMEM-LVM", "workload: w=random_write_4_KiB", NULL };

struct fixture {
	struct stb_plan *p;
	struct stb_results *r;
	struct stb_buf out;
};

static inline void fini(struct fixture *f)
{
	stb_buf_fini(&f->out);
	stb_results_free(f->r);
	stb_plan_free(f->p);
}

/* "ssd write" iops 37000: one figure of repetition `rep`. */
static inline void put(struct fixture *f, uint32_t matrix, const char *keys, uint32_t rep, const char *metric, double v, enum stb_status status)
{
	struct stb_err err;

	if (!f->r)
		f->r = stb_results_new(f->p);
	cr_assert(!stb_results_add(f->r, hand_cell(f->p, matrix, keys), 1, rep, metric, v, status, &err), "%s", err.what);
}

static inline const char *markdown(struct fixture *f)
{
	if (!f->r)
		f->r = stb_results_new(f->p);
	stb_buf_clear(&f->out);
	stb_report_markdown(f->r, &f->out);
	return stb_buf_str(&f->out);
}

static inline const char *csv(struct fixture *f, uint32_t report)
{
	stb_buf_clear(&f->out);
	stb_report_csv(f->r, report, &f->out);
	return stb_buf_str(&f->out);
}

static inline void shows(struct fixture *f, const char *text)
{
	const char *all = markdown(f);

	cr_expect(strstr(all, text), "not in the report: %s\n--- report:\n%s", text, all);
}

static inline void shows_not(struct fixture *f, const char *text)
{
	const char *all = markdown(f);

	cr_expect(!strstr(all, text), "in the report: %s\n--- report:\n%s", text, all);
}

static inline struct stb_plan_report *relative(struct fixture *f, uint32_t matrix, const char *metrics, const char *views, const char *baseline)
{
	struct stb_plan_report *r = hand_report(f->p, "t", matrix, metrics, views);

	r->baseline = hand_select(f->p, matrix, baseline);
	r->has_baseline = true;
	return r;
}

#endif
