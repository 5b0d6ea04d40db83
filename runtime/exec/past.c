/*
 * past.c - see past.h.
 *
 * The journal decides, never results.csv: its record is written last and is on the disk before the next step, and it holds every figure. So
 * results.csv can always be made from it, without duplicates and whole, wherever the process was killed; series and histograms are on the disk
 * before the record is, and what is in them without a record is taken away.
 */
#include "runtime/exec/past.h"
#include "runtime/host/differ.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_ID 16
#define MAX_INDEX 1000000000

int stb_past_gather(void *ctx, const json_t *record, struct stb_err *err)
{
	struct stb_past *past = ctx;
	const char *ev = json_string_value(json_object_get(record, "ev"));

	(void)err;
	if (!ev || (strcmp(ev, "start") && strcmp(ev, "result")))
		return 0;
	if (!past->records)
		past->records = json_array();
	json_array_append(past->records, (json_t *)record);
	if (!strcmp(ev, "start") && !past->start)
		past->start = json_incref((json_t *)record);
	return 0;
}

void stb_past_fini(struct stb_past *past)
{
	json_decref(past->start);
	json_decref(past->records);
	free(past->results);
	memset(past, 0, sizeof *past);
}

bool stb_past_stands(enum stb_status status)
{
	switch (status) {
	case STB_STATUS_OK:
	case STB_STATUS_ENDED_BY_SIZE:
	case STB_STATUS_RATE:
	case STB_STATUS_NOT_STEADY:
	case STB_STATUS_FALLBACK:
		return true;
	case STB_STATUS_EARLY:
	case STB_STATUS_ERRORS:
	case STB_STATUS_STALLED:
	case STB_STATUS_DISTURBED:
		return false;
	}
	STB_BUG("unknown status");
}

/* --- whose they are --- */

struct cell_id {
	const char *id;
	uint32_t cell;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct cell_id *)a)->id, ((const struct cell_id *)b)->id);
}

static struct cell_id *sort_ids(const struct stb_plan *p)
{
	struct cell_id *ids = stb_xcalloc((size_t)p->n_cells + 1, sizeof *ids);

	for (uint32_t i = 0; i < p->n_cells; i++)
		ids[i] = (struct cell_id){ p->cells[i].id, p->cells[i].same_as };
	qsort(ids, p->n_cells, sizeof *ids, by_id);
	return ids;
}

/* By the whole id, or by the digits that are shown. */
static uint32_t find_cell(const struct stb_plan *p, const struct cell_id *ids, const char *id, size_t len)
{
	uint32_t lo = 0, hi = p->n_cells;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (strncmp(ids[mid].id, id, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n_cells && !strncmp(ids[lo].id, id, len) ? ids[lo].cell : STB_NONE;
}

int stb_past_select(const json_t *array, const struct stb_plan *p, uint8_t *keep, struct stb_err *err)
{
	struct cell_id *ids = sort_ids(p);
	int rc = 0;

	for (size_t i = 0; i < json_array_size(array) && !rc; i++) {
		const char *id = json_string_value(json_array_get(array, i));
		const uint32_t cell = id && strlen(id) > SHOWN_ID ? find_cell(p, ids, id, strlen(id)) : STB_NONE;

		if (cell != STB_NONE) {
			keep[cell] = 1;
			continue;
		}
		rc = stb_err_set(err, 0, "the journal selects a cell that plan.json does not have (%.16s)", id ? id : "?");
		stb_err_remedy(err, "the two belong to different runs: run the spec anew");
	}
	/* of equal cells any */
	for (uint32_t i = 0; i < p->n_cells; i++)
		keep[i] = keep[p->cells[i].same_as];
	free(ids);
	return rc;
}

static uint32_t index_of(const json_t *record, const char *name)
{
	const json_int_t v = json_integer_value(json_object_get(record, name));

	return v > 0 && v <= MAX_INDEX ? (uint32_t)v : 0;
}

/* Whether the plan asks for the repetition. */
static bool is_asked(const struct stb_plan *p, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_plan_matrix *m = &p->matrices[p->cells[cell].matrix];

	return slot && repetition && slot <= stb_plan_slots(m) && repetition <= m->repeat;
}

static int take_result(struct stb_past *past, const struct stb_plan *p, const struct cell_id *ids, json_t *record, uint32_t session,
	bool strict, struct stb_err *err)
{
	const char *id = json_string_value(json_object_get(record, "cell"));
	const char *status = json_string_value(json_object_get(record, "status"));
	struct stb_past_result one = { .cell = id ? find_cell(p, ids, id, strlen(id)) : STB_NONE, .record = record, .session = session };

	one.slot = index_of(record, "slot");
	one.repetition = index_of(record, "repetition");
	if (one.cell != STB_NONE && strlen(id) == strlen(p->cells[one.cell].id) && is_asked(p, one.cell, one.slot, one.repetition) && status &&
		stb_status_find(status, &one.status) && json_is_object(json_object_get(record, "metrics"))) {
		STB_GROW(past->results, past->n, past->cap);
		past->results[past->n++] = one;
		return 0;
	}
	if (!strict)
		return 0;
	stb_err_set(err, 0, "the journal has a result that plan.json does not ask for (cell %.16s, slot %u, repetition %u)", id ? id : "?",
		one.slot, one.repetition);
	stb_err_remedy(err, "the two belong to different runs, or one was changed: run the spec anew");
	return -1;
}

static int by_key_then_age(const void *a, const void *b)
{
	const struct stb_past_result *x = a, *y = b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->repetition != y->repetition)
		return x->repetition < y->repetition ? -1 : 1;
	return x->session < y->session ? -1 : x->session > y->session;
}

static int by_age(const void *a, const void *b)
{
	const uint32_t x = ((const struct stb_past_result *)a)->session, y = ((const struct stb_past_result *)b)->session;

	return x < y ? -1 : x > y;
}

/* `session` holds the place in the journal while the last ones are looked for. */
static void keep_last(struct stb_past *past)
{
	size_t kept = 0;

	qsort(past->results, past->n, sizeof *past->results, by_key_then_age);
	for (size_t i = 0; i < past->n; i++) {
		const struct stb_past_result *one = &past->results[i], *next = one + 1;

		if (i + 1 < past->n && next->cell == one->cell && next->slot == one->slot && next->repetition == one->repetition)
			continue;
		past->results[kept++] = *one;
	}
	past->n = kept;
	qsort(past->results, past->n, sizeof *past->results, by_age);
}

int stb_past_sort(struct stb_past *past, const struct stb_plan *p, bool strict, struct stb_err *err)
{
	const size_t n = json_array_size(past->records);
	uint32_t *session = stb_xcalloc(n + 1, sizeof *session), sessions = 0;
	struct cell_id *ids = sort_ids(p);
	int rc = 0;

	past->n = 0;
	for (size_t i = 0; i < n && !rc; i++) {
		json_t *record = json_array_get(past->records, i);

		if (!strcmp(json_string_value(json_object_get(record, "ev")), "start"))
			sessions++;
		else
			rc = take_result(past, p, ids, record, (uint32_t)i, strict, err);
		session[i] = sessions ? sessions - 1 : 0;
	}
	if (past->n)
		keep_last(past);
	for (size_t i = 0; i < past->n; i++)
		past->results[i].session = session[past->results[i].session];
	free(session);
	free(ids);
	return rc;
}

/* --- by which build --- */

static int refuse_build(const char *dir, const char *version, const char *commit, const char *our_version, const char *our_commit,
	struct stb_err *err)
{
	if (!version)
		return stb_err_set(err, 0, "the run in `%s` does not say which version of stb measured it, and this is %s (commit %s)", dir, our_version,
			our_commit);
	return stb_err_set(err, 0, "the run in `%s` was begun by stb %s (commit %s), and this is %s (commit %s): figures of two builds are not mixed", dir,
		version, commit ? commit : "unknown", our_version, our_commit);
}

int stb_past_check_build(const struct stb_past *past, const char *dir, const char *version, const char *commit, struct stb_err *err)
{
	const size_t n = json_array_size(past->records);

	for (size_t i = 0; i < n; i++) {
		const json_t *record = json_array_get(past->records, i);
		const char *its_version, *its_commit;

		if (strcmp(json_string_value(json_object_get(record, "ev")), "start"))
			continue;
		its_version = json_string_value(json_object_get(record, "version"));
		its_commit = json_string_value(json_object_get(record, "commit"));
		if (!its_version || strcmp(its_version, version) ||
			(stb_commit_known(its_commit) && stb_commit_known(commit) && strcmp(its_commit, commit)))
			return refuse_build(dir, its_version, its_commit, version, commit, err);
	}
	return 0;
}

/* --- what they hold --- */

int stb_past_add_rows(const struct stb_past_result *one, struct stb_results *r, struct stb_err *err)
{
	json_t *metrics = json_object_get(one->record, "metrics"), *value;
	const char *name;

	json_object_foreach(metrics, name, value) {
		if (!json_is_number(value) || !(json_number_value(value) >= 0))
			return stb_err_set(err, 0, "the journal has no figure for `%.64s`", name);
		if (stb_results_add(r, one->cell, one->slot, one->repetition, name, json_number_value(value), one->status, err))
			return -1;
	}
	return 0;
}

bool stb_past_has_histograms(const struct stb_past_result *one, const struct stb_plan *p, const char *dir)
{
	json_t *metrics = json_object_get(one->record, "metrics"), *value;
	const char *metric;

	json_object_foreach(metrics, metric, value) {
		char name[STB_HIST_FILE_NAME];
		uint32_t hist;
		struct stb_buf path, max;
		bool good;

		if (!stb_hist_of(p, one->cell, metric, &hist))
			continue;
		stb_hist_file_name(p, one->cell, one->slot, one->repetition, hist, name);
		stb_buf_init(&path);
		stb_buf_printf(&path, "%s/%s", dir, name);
		stb_buf_init(&max); /* read.lat_mean: read.lat_max */
		stb_buf_printf(&max, "%.*smax", (int)(strlen(metric) - strlen("mean")), metric);
		good = stb_hist_file_good(stb_buf_str(&path), json_number_value(json_object_get(metrics, stb_buf_str(&max))));
		stb_buf_fini(&max);
		stb_buf_fini(&path);
		if (!good)
			return false;
	}
	return true;
}

/* --- files --- */

/* "NUMBER" up to `end`; *s moves behind it. */
static bool take_number(const char **s, char end, uint32_t *out)
{
	char *stop;
	unsigned long v;

	if (**s < '0' || **s > '9')
		return false;
	v = strtoul(*s, &stop, 10);
	if (*stop != end || !v || v > MAX_INDEX)
		return false;
	*out = (uint32_t)v;
	*s = stop + 1;
	return true;
}

/* A line "CELL,SLOT,REPETITION,..." that is whole. */
static bool series_key(const struct stb_plan *p, const struct cell_id *ids, const char *line, size_t len, struct stb_done_key *key)
{
	const char *s = line + SHOWN_ID + 1;
	uint32_t commas = 0;

	if (len < SHOWN_ID + 2 || line[len - 1] != '\n' || line[SHOWN_ID] != ',' || memchr(line, '\0', len))
		return false;
	for (size_t i = 0; i < len; i++)
		commas += line[i] == ',';
	key->cell = find_cell(p, ids, line, SHOWN_ID);
	return commas == 6 && key->cell != STB_NONE && take_number(&s, ',', &key->slot) && take_number(&s, ',', &key->repetition);
}

static FILE *open_regular(const char *path, struct stb_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &st))
		stb_err_set(err, errno, "cannot read `%s`", path);
	else if (!S_ISREG(st.st_mode))
		stb_err_set(err, 0, "cannot read `%s`: it is no regular file", path);
	else
		f = fdopen(fd, "r");
	if (err->set)
		stb_err_remedy(err, "it holds the series of the run: put it back, or move it away to go on without what it has");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

int stb_past_series(const char *path, const struct stb_plan *p, struct stb_done *keep, struct stb_buf *out, struct stb_err *err)
{
	struct cell_id *ids = NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *in = open_regular(path, err);

	if (!in)
		return err->set ? -1 : 0;
	ids = sort_ids(p);
	while ((n = getline(&line, &cap, in)) > 0) {
		struct stb_done_key key;

		if (series_key(p, ids, line, (size_t)n, &key) && stb_done_has(keep, key.cell, key.slot, key.repetition))
			stb_buf_add(out, line, (size_t)n);
	}
	free(line);
	free(ids);
	fclose(in);
	return 0;
}

/* "0123456789abcdef-s1-r2-read.csv"; false: of no repetition of this plan. */
static bool hist_key(const struct stb_plan *p, const struct cell_id *ids, const char *name, struct stb_done_key *key)
{
	const char *s = name + SHOWN_ID + 2;

	if (strlen(name) < SHOWN_ID + 2 || strncmp(name + SHOWN_ID, "-s", 2) || !take_number(&s, '-', &key->slot) || *s++ != 'r')
		return false;
	key->repetition = (uint32_t)strtoul(s, NULL, 10);
	key->cell = find_cell(p, ids, name, SHOWN_ID);
	return key->cell != STB_NONE && key->repetition;
}

int stb_past_prune_histograms(const char *dir, const struct stb_plan *p, struct stb_done *keep, struct stb_err *err)
{
	struct cell_id *ids = sort_ids(p);
	struct stb_buf path;
	struct dirent *e;
	DIR *d;
	int rc = -1;

	stb_buf_init(&path);
	stb_buf_printf(&path, "%s/histograms", dir);
	d = opendir(stb_buf_str(&path));
	if (!d) {
		stb_err_set(err, errno, "cannot read `%s`", stb_buf_str(&path));
		stb_run_dir_remedy(err, err->code);
		goto out;
	}
	while ((e = readdir(d))) {
		struct stb_done_key key;

		if (!hist_key(p, ids, e->d_name, &key) || stb_done_has(keep, key.cell, key.slot, key.repetition))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) && errno != ENOENT) {
			stb_err_set(err, errno, "cannot remove `%s/%s`", stb_buf_str(&path), e->d_name);
			stb_run_dir_remedy(err, err->code);
			goto out;
		}
	}
	rc = 0;
out:
	if (d)
		closedir(d);
	stb_buf_fini(&path);
	free(ids);
	return rc;
}
