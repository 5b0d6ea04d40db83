/*
 * hists.c - the histograms of a run directory, read back.
 *
 * Every repetition that has latencies has a row lat_mean, of a mix one for each member: those rows lead to the files, and the rows beside them have the
 * exact ends. A histogram that is not whole, as a kill or a full disk leaves it, is left out, since its percentiles would be too good; a note
 * says so.
 */
#include "runtime/result/hists.h"

#include "runtime/result/csvfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct hist_loader {
	struct stb_hist hist;
	bool have_header;
	struct stb_csv_tail tail;
};

static int read_bin(void *ctx, const struct stb_csv_record *rec, struct stb_err *err)
{
	struct hist_loader *l = ctx;
	uint64_t v[2];

	if (!l->have_header) {
		l->have_header = true;
		if (rec->n != 2 || strcmp(rec->field[0], "lower_ns") || strcmp(rec->field[1], "count"))
			return stb_csv_refuse(rec, err, "the header is not lower_ns,count");
		return 0;
	}
	for (uint32_t i = 0; i < 2; i++) {
		const char *s = i < rec->n ? rec->field[i] : "";
		char *end;

		errno = 0;
		v[i] = strtoull(s, &end, 10);
		if (rec->n != 2 || *s < '0' || *s > '9' || *end || errno)
			return stb_csv_refuse(rec, err, "not two whole numbers");
	}
	const uint32_t index = stb_hist_index(v[0]);

	if (!v[1] || stb_hist_lower(index) != v[0] || l->hist.bucket[index] || v[1] > UINT64_MAX - l->hist.count)
		return stb_csv_refuse(rec, err, "`%s,%s` is no bucket, or stands there twice", rec->field[0], rec->field[1]);
	l->hist.bucket[index] = v[1];
	l->hist.count += v[1];
	l->hist.min = STB_MIN(l->hist.min, v[0]);
	l->hist.max = STB_MAX(l->hist.max, stb_hist_upper(index));
	return 0;
}

/* The exact least or greatest latency of a repetition from its row, in ns; fallback where there is none. */
static uint64_t exact_ns(const struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const char *metric,
	uint64_t fallback)
{
	for (const struct stb_result_row *row = stb_results_first(r, cell, metric); row; row = stb_results_next(r, row)) {
		if (row->slot == slot && row->repetition == repetition && row->value < 1e12)
			return (uint64_t)(row->value * 1e6 + 0.5);
	}
	return fallback;
}

/* What says that a histogram is not whole; NULL: nothing does. greatest is the greatest latency by its row, 0: there is none. */
static const char *cut_off(const struct hist_loader *l, uint64_t greatest)
{
	if (l->tail.torn)
		return "its last line was not written to its end";
	if (!l->hist.count)
		return "it has no buckets";
	/* rows round to less than a bucket is wide */
	if (stb_hist_index(greatest) > stb_hist_index(l->hist.max) + 1)
		return "it ends before the greatest latency";
	return NULL;
}

/* "read.lat_mean" with another end: "read.lat_max". */
static const char *beside_mean(struct stb_arena *a, const char *metric, const char *end)
{
	return stb_arena_printf(a, "%.*s%s", (int)(strlen(metric) - strlen("mean")), metric, end);
}

static int read_hist(struct stb_results *r, const char *dir, const struct stb_result_row *row, uint32_t hist, struct stb_err *err)
{
	char name[STB_HIST_FILE_NAME];
	struct hist_loader *l;
	struct stb_buf path;
	struct stb_arena a;
	const char *least, *greatest;
	struct stat st;
	int rc = 0;

	stb_hist_file_name(r->plan, row->cell, row->slot, row->repetition, hist, name);
	stb_arena_init(&a);
	least = beside_mean(&a, row->metric, "min");
	greatest = beside_mean(&a, row->metric, "max");
	stb_buf_init(&path);
	stb_buf_printf(&path, "%s/%s", dir, name);
	l = stb_xcalloc(1, sizeof(*l));
	l->tail.ended = true;
	stb_hist_init(&l->hist);
	if (!stat(stb_buf_str(&path), &st)) {
		rc = stb_csv_read(stb_buf_str(&path), read_bin, l, &l->tail, err);

		const uint64_t max = exact_ns(r, row->cell, row->slot, row->repetition, greatest, l->hist.max);
		const char *why = rc ? NULL : cut_off(l, max);

		l->hist.min = exact_ns(r, row->cell, row->slot, row->repetition, least, l->hist.min);
		l->hist.max = max;
		if (why)
			stb_results_note(r, "%s:%u: %s: the histogram is left out, and percentiles over repetitions are medians of their rows",
				stb_buf_str(&path), l->tail.torn ? l->tail.line : 1, why);
		else if (!rc)
			stb_results_add_hist(r, row->cell, row->slot, row->repetition, hist, &l->hist);
	}
	free(l);
	stb_buf_fini(&path);
	stb_arena_fini(&a);
	return rc;
}

bool stb_hist_of(const struct stb_plan *p, uint32_t cell, const char *metric, uint32_t *hist)
{
	const char *name;
	const uint32_t member = stb_metric_member(p, cell, metric, &name);

	for (int i = 0; i < STB_N_PARTS; i++) {
		const char *stem = stb_part_stem((enum stb_part)i);

		if (strncmp(name, stem, strlen(stem)) || strcmp(name + strlen(stem), "mean"))
			continue;
		*hist = member == STB_NONE ? (uint32_t)i : STB_HIST(member, i);
		return true;
	}
	return false;
}

bool stb_hist_file_good(const char *path, double greatest_ms)
{
	struct hist_loader *l = stb_xcalloc(1, sizeof(*l));
	struct stb_err err;
	bool good;

	stb_err_clear(&err);
	stb_hist_init(&l->hist);
	l->tail.ended = true;
	good = !stb_csv_read(path, read_bin, l, &l->tail, &err) && !cut_off(l, greatest_ms < 1e12 ? (uint64_t)(greatest_ms * 1e6 + 0.5) : 0);
	free(l);
	return good;
}

int stb_results_read_hists(struct stb_results *r, const char *dir, size_t from, struct stb_err *err)
{
	uint32_t hist;

	for (size_t i = from; i < r->n_rows; i++)
		if (stb_hist_of(r->plan, r->rows[i].cell, r->rows[i].metric, &hist) && read_hist(r, dir, &r->rows[i], hist, err))
			return -1;
	return 0;
}
