/*
 * story.c - the journal of a run directory as reports need it: why repetitions failed, what was to be measured, and whether it came to that.
 *
 * Tolerant where the journal of exec is strict: `clean` must not misread a record, while a report may do without one. What is no record,
 * names no cell of the plan or has the wrong shape is passed over. Records used:
 *
 *   start   cells (ids of the selected ones; absent: all); one for each session: a run that was resumed has several
 *   result  cell, slot, repetition, reason; steady_state (reached, after_s, found: see record.c); from (dir, session: the run it was taken over from). The last one of a repetition counts
 *   finish  stopped (why the plan was not carried out to its end; absent: it was)
 */
#include "runtime/result/story.h"
#include "runtime/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RECORD (64u << 20) /* a start record lists the cells of its selection */
#define MAX_INDEX 1000000000

struct cell_id {
	const char *id;
	uint32_t cell;
};

struct reader {
	struct stb_results *r;
	struct cell_id *ids;  /* sorted; of equal cells all */
	uint8_t *keep;        /* NULL: all cells */
	char *stopped;        /* as in the last finish record */
	uint32_t n_sessions;
	bool any_session, measured; /* this session has measured something */
	bool finished, same_boot;
	pid_t pid;            /* of the last session, and when it started */
	uint64_t pid_start;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct cell_id *)a)->id, ((const struct cell_id *)b)->id);
}

/* The first of the cells that are equal to this one; STB_NONE where the plan has none. */
static uint32_t find_cell(const struct reader *s, const json_t *id)
{
	const struct cell_id key = { json_string_value(id), 0 };
	const struct cell_id *found = NULL;

	if (key.id && s->r->plan->n_cells)
		found = bsearch(&key, s->ids, s->r->plan->n_cells, sizeof *s->ids, by_id);
	return found ? s->r->plan->cells[found->cell].same_as : STB_NONE;
}

static uint32_t index_of(const json_t *record, const char *name)
{
	const json_int_t v = json_integer_value(json_object_get(record, name));

	return v > 0 && v <= MAX_INDEX ? (uint32_t)v : 0;
}

static void take_selection(struct reader *s, const json_t *cells)
{
	const struct stb_plan *p = s->r->plan;

	if (!json_is_array(cells))
		return;
	free(s->keep);
	s->keep = stb_xcalloc((size_t)p->n_cells + 1, 1);
	for (size_t i = 0; i < json_array_size(cells); i++) {
		const uint32_t cell = find_cell(s, json_array_get(cells, i));

		if (cell != STB_NONE)
			s->keep[cell] = 1;
	}
	for (uint32_t i = 0; i < p->n_cells; i++)
		s->keep[i] = s->keep[p->cells[i].same_as];
}

static void take_origin(struct reader *s, const json_t *from, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const char *dir = json_string_value(json_object_get(from, "dir")), *session = json_string_value(json_object_get(from, "session"));
	struct stb_buf b;

	if (!dir || !session)
		return;
	stb_buf_init(&b);
	stb_buf_printf(&b, "%s (session %s)", dir, session);
	stb_results_set_origin(s->r, cell, slot, repetition, stb_buf_str(&b));
	stb_buf_fini(&b);
}

/* {"1213": 12, "other": 3} */
static void take_errors(struct reader *s, json_t *errors)
{
	struct stb_error_counts counts = { 0 };
	const char *code;
	json_t *n;

	json_object_foreach(errors, code, n) {
		const json_int_t count = json_integer_value(n);

		if (count > 0 && strlen(code) <= 5)
			stb_error_counts_add(&counts, (uint32_t)strtoul(code, NULL, 10), (uint64_t)count);
	}
	stb_results_count_errors(s->r, &counts);
}

static void take_steadiness(struct reader *s, const json_t *steady, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const double after_s = json_number_value(json_object_get(steady, "after_s")), found = json_number_value(json_object_get(steady, "found"));

	if (json_is_true(json_object_get(steady, "reached")) && after_s > 0)
		stb_results_set_steady(s->r, cell, slot, repetition, after_s, found);
}

/* Of a mix each member has its own. */
static void take_members(struct reader *s, const json_t *members, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_plan_block *steady = stb_plan_steady(s->r->plan, cell);
	const char *name;
	json_t *one;

	json_object_foreach((json_t *)members, name, one) {
		if (steady && !strcmp(steady->name, name))
			take_steadiness(s, json_object_get(one, "steady_state"), cell, slot, repetition);
	}
}

/* Retried errors of a repetition, and of the members of a mix. */
static void take_all_errors(struct reader *s, const json_t *record)
{
	const char *name;
	json_t *one;

	take_errors(s, json_object_get(record, "errors"));
	json_object_foreach(json_object_get(record, "members"), name, one)
		take_errors(s, json_object_get(one, "errors"));
}

static void take_process(struct reader *s, const json_t *start)
{
	const char *boot = json_string_value(json_object_get(start, "boot"));
	char now[STB_BOOT_ID];

	stb_boot_id(now);
	s->any_session = true;
	s->measured = s->finished = false;
	s->pid = (pid_t)json_integer_value(json_object_get(start, "pid"));
	s->pid_start = (uint64_t)json_integer_value(json_object_get(start, "pid_start"));
	s->same_boot = !boot || !*boot || !strcmp(boot, now);
}

/* As stb_journal_running() tells it. */
static bool is_running(const struct reader *s)
{
	return !s->finished && s->same_boot && s->pid_start && stb_process_start(s->pid) == s->pid_start;
}

static void take_record(struct reader *s, const json_t *record)
{
	const char *ev = json_string_value(json_object_get(record, "ev"));
	const char *reason = json_string_value(json_object_get(record, "reason"));
	const char *stopped = json_string_value(json_object_get(record, "stopped"));
	const uint32_t cell = find_cell(s, json_object_get(record, "cell"));
	const uint32_t slot = index_of(record, "slot"), repetition = index_of(record, "repetition");

	if (!ev)
		return;
	if (!strcmp(ev, "result") && cell != STB_NONE) {
		/* what was taken over from another run was not measured here */
		if (!s->measured && !json_object_get(record, "from")) {
			s->measured = true;
			s->n_sessions++;
		}
		take_all_errors(s, record);
	}
	if (!strcmp(ev, "start")) {
		take_process(s, record);
		take_selection(s, json_object_get(record, "cells"));
	} else if (!strcmp(ev, "result") && cell != STB_NONE && slot && repetition) {
		stb_results_forget(s->r, cell, slot, repetition);
		if (reason)
			stb_results_set_reason(s->r, cell, slot, repetition, reason);
		take_steadiness(s, json_object_get(record, "steady_state"), cell, slot, repetition);
		take_members(s, json_object_get(record, "members"), cell, slot, repetition);
		take_origin(s, json_object_get(record, "from"), cell, slot, repetition);
	} else if (!strcmp(ev, "finish")) {
		s->finished = true;
		free(s->stopped);
		s->stopped = stopped ? stb_xstrdup(stopped) : NULL;
	}
}

static FILE *refused(struct stb_err *err, int code, const char *path)
{
	stb_err_set(err, code, code ? "cannot read `%s`" : "cannot read `%s`: it is no regular file", path);
	stb_err_remedy(err, "the journal of a run is read with its results: put it back as the run left it, where it may be read");
	return NULL;
}

/* The journal opened for reading; NULL without *err where there is none. */
static FILE *open_journal(const char *path, struct stb_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *f;

	if (fd < 0)
		return errno == ENOENT ? NULL : refused(err, errno, path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return refused(err, 0, path);
	}
	f = fdopen(fd, "r");
	if (!f) {
		(void)refused(err, errno, path);
		close(fd);
	}
	return f;
}

static void read_records(struct reader *s, FILE *in)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, in)) > 0) {
		json_t *record = n <= (ssize_t)MAX_RECORD ? json_loadb(line, (size_t)n, 0, NULL) : NULL;

		if (json_is_object(record))
			take_record(s, record);
		json_decref(record);
	}
	free(line);
}

int stb_story_read(struct stb_results *r, const char *dir, struct stb_err *err)
{
	const struct stb_plan *p = r->plan;
	struct reader s = { .r = r };
	struct stb_buf path;
	struct stb_err failed;
	FILE *in;

	stb_err_clear(&failed);
	stb_buf_init(&path);
	stb_buf_printf(&path, "%s/journal.jsonl", dir);
	in = open_journal(stb_buf_str(&path), &failed);
	stb_buf_fini(&path);
	if (!in) {
		if (failed.set)
			*err = failed;
		return failed.set ? -1 : 0;
	}
	s.ids = stb_xcalloc((size_t)p->n_cells + 1, sizeof *s.ids);
	for (uint32_t i = 0; i < p->n_cells; i++)
		s.ids[i] = (struct cell_id){ p->cells[i].id, i };
	qsort(s.ids, p->n_cells, sizeof *s.ids, by_id);
	read_records(&s, in);
	fclose(in);
	r->n_sessions = STB_MAX(r->n_sessions, s.n_sessions);
	r->running |= is_running(&s);
	if (s.any_session)
		stb_results_add_run(r, s.keep, s.finished ? s.stopped : is_running(&s) ? NULL : "it did not finish");
	free(s.stopped);
	free(s.keep);
	free(s.ids);
	return 0;
}
