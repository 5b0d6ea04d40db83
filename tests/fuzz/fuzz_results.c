/*
 * fuzz_results.c - recorded results as bytes: read, reported on, written and read back.
 *
 * The plan is a fixed one of two storage classes and two workloads, with every view. What was read must be read again from what is written,
 * figure by figure.
 */
#include "runtime/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct stb_plan_axis_value storages[] = { { "ssd", "ssd" }, { "pmem", "pmem" } };
static struct stb_plan_axis_value workloads[] = { { "w", "w" }, { "r", "r" } };
static struct stb_plan_axis axes[] = {
	{ .name = "storage", .label = "storage", .kind = "storage", .values = storages, .n_values = 2 },
	{ .name = "workload", .label = "workload", .kind = "workload", .values = workloads, .n_values = 2 },
};
static uint32_t points[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
static uint32_t ssd[] = { 0 };
static struct stb_selector_term is_ssd = { .axis = 0, .values = ssd, .n_values = 1 };
static const char *metrics[] = { "iops", "lat_p95", "sync.lat_p999", "bw_bytes", "io_bytes" };
static enum stb_view views[] = { STB_VIEW_VALUE, STB_VIEW_PERCENT, STB_VIEW_CHANGE, STB_VIEW_IMPROVEMENT, STB_VIEW_RATIO, STB_VIEW_RANGE, STB_VIEW_N };

static struct stb_plan_report report(uint32_t split, uint32_t rows, uint32_t columns)
{
	return (struct stb_plan_report){ .name = "t", .baseline = { &is_ssd, 1 }, .has_baseline = true, .split = split, .rows = rows,
		.columns = columns, .metrics = metrics, .n_metrics = STB_LEN(metrics), .views = views, .n_views = STB_LEN(views), .geomean = true };
}

static struct stb_plan *make_plan(void)
{
	struct stb_plan *p = stb_plan_new();

	p->n_blocks = p->n_matrices = p->n_claims = 1;
	p->blocks = STB_NEW(&p->arena, struct stb_plan_block);
	*p->blocks = (struct stb_plan_block){ .kind = "workload", .type = "io", .name = "w" };
	p->matrices = STB_NEW(&p->arena, struct stb_plan_matrix);
	*p->matrices = (struct stb_plan_matrix){ .name = "m", .axes = axes, .n_axes = 2, .repeat = 1, .n_cells = 4 };
	p->n_cells = 4;
	p->cells = STB_NEW_ARRAY(&p->arena, struct stb_plan_cell, 4);
	for (uint32_t i = 0; i < 4; i++) {
		p->cells[i] = (struct stb_plan_cell){ .point = points[i], .same_as = i };
		stb_hash_hex(&i, sizeof(i), p->cells[i].id);
	}
	p->n_reports = 3;
	p->reports = STB_NEW_ARRAY(&p->arena, struct stb_plan_report, 3);
	p->reports[0] = report(STB_NONE, 0, 1);
	p->reports[1] = report(1, 0, STB_NONE);
	p->reports[2] = report(STB_NONE, 1, STB_NONE); /* storage falls into one field */
	p->claims = STB_NEW(&p->arena, struct stb_plan_claim);
	*p->claims = (struct stb_plan_claim){ .name = "c", .metric = "iops", .baseline = { &is_ssd, 1 }, .has_baseline = true,
		.form = STB_VIEW_RATIO, .expect = stb_val_num(STB_V_COUNT, 249, 100), .digits = 2, .asserted = true };
	return p;
}

/* Reads bytes as a results file; r keeps what was read before an error. */
static int read_bytes(struct stb_results *r, const void *data, size_t size, struct stb_err *err)
{
	const int fd = memfd_create("results", MFD_CLOEXEC);
	char path[64];
	int rc;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = stb_results_read(r, path, err);
	close(fd);
	return rc;
}

static void there_and_back(const struct stb_results *r)
{
	struct stb_results *back = stb_results_new(r->plan);
	struct stb_err err = { 0 };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	stb_results_write_header(r->plan, out);
	stb_results_write_rows(r, 0, out);
	fclose(out);
	if (read_bytes(back, text, len, &err) || back->n_rows != r->n_rows)
		abort();
	for (size_t i = 0; i < r->n_rows; i++) {
		if (r->rows[i].value != back->rows[i].value || strcmp(r->rows[i].metric, back->rows[i].metric))
			abort();
	}
	stb_results_free(back);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stb_plan *p = make_plan();
	struct stb_results *r = stb_results_new(p);
	struct stb_err err = { 0 };
	struct stb_buf text;

	if (read_bytes(r, data, size, &err) && !err.set)
		abort();
	stb_buf_init(&text);
	stb_report_markdown(r, &text);
	for (uint32_t i = 0; i < p->n_reports; i++)
		stb_report_csv(r, i, &text);
	stb_claims_failed(r, &text);
	stb_buf_fini(&text);
	there_and_back(r);
	stb_results_free(r);
	stb_plan_free(p);
	return 0;
}
