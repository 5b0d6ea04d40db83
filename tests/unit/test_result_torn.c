/*
 * test_result_torn.c - a run directory whose files end in the middle, as a full disk or a kill leaves them: cut at every byte, what was written
 * whole is read, and what is lost is said.
 */
#include "runtime/report/report.h"
#include "runtime/result/result.h"
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const disks[] = { "storage: ssd pmem", "workload: write read", NULL };

struct dir {
	struct stb_plan *p;
	char path[64], results[96], hist[64 + STB_HIST_FILE_NAME];
	char *rows, *bins; /* the files as a run writes them */
};

static void put(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	cr_assert(f && fwrite(text, 1, len, f) == len);
	cr_assert(!fclose(f));
}

static char *get(const char *path)
{
	char *text = stb_xcalloc(1, 1 << 16);
	FILE *f = fopen(path, "r");

	cr_assert(f && fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

/* A run directory with one repetition of three latencies. */
static void make(struct dir *d)
{
	struct stb_measure *m = stb_xcalloc(1, sizeof(*m));
	char name[STB_HIST_FILE_NAME];
	struct stb_results *r;
	struct stb_err err;
	FILE *f;

	d->p = hand_plan();
	hand_matrix(d->p, "m", "io", disks);
	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_init(&m->lat[i]);
	stb_hist_init(&m->sync);
	for (uint64_t ns = 1234567; ns < 999999999; ns *= 17) {
		stb_hist_add(&m->lat[STB_READ], ns);
		m->ok[STB_READ]++;
		m->bytes[STB_READ] += 4096;
	}
	m->issued = m->ok[STB_READ];
	m->window_ns = 1000000000;
	r = stb_results_new(d->p);
	stb_results_add_measure(r, 0, 1, 1, m, STB_STATUS_OK);
	strcpy(d->path, "/tmp/stb-test-torn-XXXXXX");
	cr_assert(mkdtemp(d->path));
	snprintf(d->hist, sizeof(d->hist), "%s/histograms", d->path);
	cr_assert(!mkdir(d->hist, 0700));
	cr_assert(!stb_measure_save_hists(d->p, 0, 1, 1, STB_NONE, m, d->path, &err), "%s", err.what);
	stb_hist_file_name(d->p, 0, 1, 1, STB_PART_ALL, name);
	snprintf(d->hist, sizeof(d->hist), "%s/%s", d->path, name);
	snprintf(d->results, sizeof(d->results), "%s/results.csv", d->path);
	f = fopen(d->results, "w");
	stb_results_write_header(d->p, f);
	stb_results_write_rows(r, 0, f);
	fclose(f);
	d->rows = get(d->results);
	d->bins = get(d->hist);
	stb_results_free(r);
	free(m);
}

static void unmake(struct dir *d)
{
	unlink(d->hist);
	*strrchr(d->hist, '/') = '\0';
	rmdir(d->hist);
	unlink(d->results);
	cr_expect(!rmdir(d->path));
	free(d->rows);
	free(d->bins);
	stb_plan_free(d->p);
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

Test(torn, results_are_read_up_to_the_last_whole_line)
{
	struct dir d;
	size_t len, head;

	make(&d);
	len = strlen(d.rows);
	head = strcspn(d.rows, "\n") + 1;
	for (size_t cut = head; cut <= len; cut++) {
		struct stb_results *r = stb_results_new(d.p);
		const bool whole = d.rows[cut - 1] == '\n';
		const size_t n = count_lines(d.rows, cut);
		struct stb_buf text;
		char place[160];
		struct stb_err err;

		stb_err_clear(&err);
		put(d.results, d.rows, cut);
		cr_assert(!stb_results_read(r, d.path, &err), "cut at %zu: %s", cut, err.what);
		cr_expect_eq(r->n_rows, n - 1, "cut at %zu", cut);
		cr_assert_eq(r->n_notes, whole ? 0u : 1u, "cut at %zu", cut);
		snprintf(place, sizeof(place), "%s:%zu: the last line was not written to its end (`", d.results, n + 1);
		if (!whole)
			cr_expect(!strncmp(r->notes[0], place, strlen(place)), "%s", r->notes[0]);
		stb_buf_init(&text);
		stb_report_markdown(r, &text);
		cr_expect_eq(strstr(stb_buf_str(&text), "> Warning: ") != NULL, !whole, "the report says so too");
		stb_buf_fini(&text);
		stb_results_free(r);
	}
	unmake(&d);
}

/* NUL bytes are what some file systems make of a last block that was never written. */
Test(torn, a_last_line_of_any_bytes_is_left_out)
{
	static const struct {
		const char *tail;
		size_t len;
	} tails[] = { { "\0\0\0\0", 4 }, { "\"", 1 }, { "\"a\"b", 4 }, { "\xff\xfe\x1b[31m", 7 }, { "x", 1 } };
	struct dir d;

	make(&d);
	for (size_t i = 0; i < STB_LEN(tails); i++) {
		struct stb_results *r = stb_results_new(d.p);
		struct stb_buf b;
		struct stb_err err;

		stb_buf_init(&b);
		stb_buf_adds(&b, d.rows);
		stb_buf_add(&b, tails[i].tail, tails[i].len);
		put(d.results, b.data, b.len);
		stb_err_clear(&err);
		cr_expect(!stb_results_read(r, d.path, &err), "%zu: %s", i, err.what);
		cr_expect_eq(r->n_notes, 1u, "%zu", i);
		cr_expect(!strpbrk(r->n_notes ? r->notes[0] : "", "\x1b\n"), "%zu", i);
		stb_buf_fini(&b);
		stb_results_free(r);
	}
	unmake(&d);
}

Test(torn, a_torn_line_in_the_middle_is_an_error)
{
	struct dir d;
	struct stb_results *r;
	struct stb_buf b;
	struct stb_err err;
	size_t head;

	make(&d);
	head = strcspn(d.rows, "\n") + 1;
	r = stb_results_new(d.p);
	stb_buf_init(&b);
	stb_buf_add(&b, d.rows, head + 30);
	stb_buf_addc(&b, '\n');
	stb_buf_adds(&b, d.rows + head);
	put(d.results, b.data, b.len);
	stb_err_clear(&err);
	cr_expect_eq(stb_results_read(r, d.path, &err), -1);
	cr_expect(strstr(err.what, "results.csv:2: "), "%s", err.what);
	stb_results_free(r);

	/* a quote that swallows what follows is not a torn last line either */
	r = stb_results_new(d.p);
	stb_buf_clear(&b);
	stb_buf_add(&b, d.rows, head);
	stb_buf_adds(&b, "\"");
	stb_buf_adds(&b, d.rows + head);
	put(d.results, b.data, b.len);
	stb_err_clear(&err);
	cr_expect_eq(stb_results_read(r, d.path, &err), -1);
	cr_expect(strstr(err.what, "results.csv:2: "), "%s", err.what);
	stb_buf_fini(&b);
	stb_results_free(r);
	unmake(&d);
}

/* A histogram without its end would make percentiles better than they were: it counts whole or not at all. */
Test(torn, a_histogram_counts_whole_or_not_at_all)
{
	struct stb_hist *h = stb_xmalloc(sizeof(*h));
	struct dir d;
	size_t len;

	make(&d);
	len = strlen(d.bins);
	for (size_t cut = 0; cut <= len; cut++) {
		struct stb_results *r = stb_results_new(d.p);
		struct stb_err err;
		bool there;

		stb_err_clear(&err);
		put(d.hist, d.bins, cut);
		cr_assert(!stb_results_read(r, d.path, &err), "cut at %zu: %s", cut, err.what);
		stb_hist_init(h);
		there = stb_results_merge_hist(r, 0, 1, 1, STB_PART_ALL, h);
		cr_expect_eq(there, cut == len, "cut at %zu", cut);
		cr_expect_eq(r->n_notes, cut == len ? 0u : 1u, "cut at %zu", cut);
		if (r->n_notes)
			cr_expect(!strncmp(r->notes[0], d.hist, strlen(d.hist)) && r->notes[0][strlen(d.hist)] == ':', "%s", r->notes[0]);
		stb_results_free(r);
	}
	free(h);
	unmake(&d);
}

/* A file from elsewhere may end without LF, as RFC 4180 lets it. The row counts, but it may be half a number: that is said. */
Test(torn, recorded_rows_need_no_last_line_end)
{
	char path[] = "/tmp/stb-test-torn-XXXXXX";
	static const char text[] = "storage,workload,metric,unit,value\nssd,write,iops,1/s,5\nssd,read,iops,1/s,7";
	struct stb_plan *p = hand_plan();
	struct stb_results *r;
	struct stb_err err;

	hand_matrix(p, "m", "io", disks);
	r = stb_results_new(p);
	close(mkstemp(path));
	put(path, text, strlen(text));
	stb_err_clear(&err);
	cr_expect(!stb_results_read(r, path, &err), "%s", err.what);
	cr_expect_eq(r->n_rows, 2u);
	cr_assert_eq(r->n_notes, 1u);
	cr_expect(strstr(r->notes[0], ":3: the last line (`ssd,read,iops,1/s,7`) has no line end"), "%s", r->notes[0]);
	cr_expect_eq(strncmp(r->notes[0], path, strlen(path)), 0, "%s", r->notes[0]);
	unlink(path);
	stb_results_free(r);
	stb_plan_free(p);
}
