/*
 * resume.c - goes on where a run stopped.
 *
 *   lock, journal -> plan.json is the plan it began with, begun by this build -> the machine is the one it began on
 *     -> what the sessions before left behind is taken away -> preflight of what is missing
 *     -> results.csv made anew from the journal; series and histograms of what is not in it go -> new session: start record, walk, reports
 *
 * Everything that refuses comes before anything is changed; nothing is lost by a kill at any point of it, since the journal is only added to.
 *
 * What is measured again: what has no result, what failed for what it stood on (past.c: early, errors, stalled, disturbed), and what has
 * lost its histograms. What stood there once is provisioned, loaded and warmed up anew before that, by the plan's steps (remaining.c).
 *
 * A machine that is not the same is refused: a table whose rows are from two kernels compares nothing. What host/differ.h calls harmless is said
 * and kept in environment.json with the session.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/outfile.h"
#include "runtime/exec/past.h"
#include "runtime/exec/run.h"
#include "runtime/host/differ.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LISTED 8

struct resume {
	const char *dir;
	const char *version, *commit;
	struct stb_arena arena;
	struct stb_plan *plan;
	struct stb_journal_story story;
	bool has_story;
	struct stb_journal journal;
	struct stb_past past;
	json_t *environment;   /* as recorded */
	uint8_t *keep;         /* NULL: every cell */
	struct stb_exec_options options;
	size_t n_failed, n_lost;
};

static const char *in_dir(struct resume *s, const char *name)
{
	return stb_arena_printf(&s->arena, "%s/%s", s->dir, name);
}

/* --- whether it is this run, and whole ------------------------------------------------------------------------------------------------------ */

static int check_plan(struct resume *s, struct stb_err *err)
{
	const char *hash = json_string_value(json_object_get(s->past.start, "plan"));

	if (stb_past_check_build(&s->past, s->dir, s->version, s->commit, err)) {
		stb_err_remedy(err, "finish it with the build that began it, or run the spec anew");
		return -1;
	}
	if (stb_plan_load(&s->plan, in_dir(s, "plan.json"), err)) {
		stb_err_remedy(err, err->code == ENOENT ? "the run was stopped before it began to measure: remove `%s` and run the spec anew" :
			"the plan of a run is not for changing: put back the file that the run wrote, or run the spec anew (`%s` keeps what it has)",
			s->dir);
		return -1;
	}
	if (hash && !strcmp(hash, s->plan->hash))
		return 0;
	stb_err_set(err, 0, "`%s` is not the plan that this run began with: its hash is %.16s, the journal says %.16s", in_dir(s, "plan.json"),
		s->plan->hash, hash ? hash : "nothing");
	stb_err_remedy(err, "put back the plan.json that the run wrote, or run the spec anew");
	return -1;
}

static int read_environment(struct resume *s, struct stb_err *err)
{
	const char *path = in_dir(s, "environment.json");
	json_error_t e;

	s->environment = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
	if (json_is_object(s->environment))
		return 0;
	stb_err_set(err, 0, "cannot read `%s`: %s", path, s->environment ? "it is no JSON object" : e.text);
	stb_err_remedy(err, "without it nobody can tell whether this is the machine that the run began on: run the spec anew");
	return -1;
}

static int read_selection(struct resume *s, struct stb_err *err)
{
	const struct stb_plan *p = s->plan;
	const json_t *cells = json_object_get(s->past.start, "cells");

	s->options.only = json_string_value(json_object_get(s->past.start, "only"));
	if (!json_is_array(cells) || !s->options.only)
		return 0;
	s->keep = stb_arena_alloc_array(&s->arena, (size_t)p->n_cells + 1, 1);
	return stb_past_select(cells, p, s->keep, err);
}

/* What differs and matters, in words. */
static void list_differences(const struct stb_differences *d, struct stb_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct stb_difference *x = &d->items[i];

		if (x->matters && n++ < MAX_LISTED)
			stb_buf_printf(out, "%s%s was %.80s, is %.80s", out->len ? "; " : "", x->what, x->was, x->is);
	}
	if (n > MAX_LISTED)
		stb_buf_printf(out, "; and %zu more", n - MAX_LISTED);
}

/* Adds this session to the record, with what is otherwise than at the beginning. */
static void add_session(struct stb_run *run, json_t *environment, const struct stb_differences *d)
{
	json_t *sessions = json_object_get(environment, "sessions"), *one = stb_record_session(run), *differs = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct stb_difference *x = &d->items[i];

		json_array_append_new(differs, json_pack("{s:s,s:s,s:s}", "what", x->what, "was", x->was, "is", x->is));
		fprintf(stderr, "stb: note: %s was %.80s, is %.80s\n", x->what, x->was, x->is);
	}
	json_object_set_new(one, "differs", differs);
	if (!json_is_array(sessions)) {
		sessions = json_array();
		json_object_set_new(environment, "sessions", sessions);
	}
	json_array_append_new(sessions, one);
}

static int check_machine(struct resume *s, struct stb_run *run, struct stb_err *err)
{
	json_t *now = stb_record_environment(run);
	struct stb_differences d;
	struct stb_buf text;
	int rc = 0;

	stb_differences_find(&d, s->environment, now, false);
	stb_buf_init(&text);
	if (d.n_matter) {
		list_differences(&d, &text);
		stb_err_set(err, 0, "this machine is not as it was when the run in `%s` began: %s", s->dir, stb_buf_str(&text));
		stb_err_remedy(err, "make it as it was, or run the spec anew: one table must not hold figures of both");
		rc = -1;
	} else {
		add_session(run, s->environment, &d);
	}
	stb_buf_fini(&text);
	stb_differences_fini(&d);
	json_decref(now);
	return rc;
}

/* --- what it has ---------------------------------------------------------------------------------------------------------------------------- */

/* Sets run->present and run->results: what stands, and is whole. */
static int take_present(struct resume *s, struct stb_run *run, struct stb_err *err)
{
	for (size_t i = 0; i < s->past.n; i++) {
		struct stb_past_result *one = &s->past.results[i];
		const char *reason = json_string_value(json_object_get(one->record, "reason"));

		if (!stb_past_stands(one->status)) {
			s->n_failed++;
			continue;
		}
		if (!stb_past_has_histograms(one, s->plan, run->dir)) {
			s->n_lost++;
			continue;
		}
		if (stb_past_add_rows(one, run->results, err))
			return -1;
		stb_done_add(&run->present, one->cell, one->slot, one->repetition);
		if (!stb_status_valid(one->status))
			stb_run_fail(run, one->cell, one->slot, one->repetition, "%s", reason ? reason : stb_status_text(one->status));
	}
	return 0;
}

static int write_text(struct stb_run *run, const char *name, const char *data, size_t len, struct stb_err *err)
{
	return stb_outfile_write(stb_arena_printf(&run->arena, "%s/%s", run->dir, name), data, len, err);
}

static int write_results(struct stb_run *run, struct stb_err *err)
{
	char *data = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&data, &len);
	int rc;

	if (!mem)
		return stb_err_set(err, errno, "cannot write results.csv");
	stb_results_write_header(run->plan, mem);
	stb_results_write_rows(run->results, 0, mem);
	rc = fclose(mem) ? stb_err_set(err, errno, "cannot write results.csv") : write_text(run, "results.csv", data, len, err);
	free(data);
	return rc;
}

static int write_series(struct stb_run *run, struct stb_err *err)
{
	struct stb_buf text;
	int rc = -1;

	stb_buf_init(&text);
	stb_buf_adds(&text, STB_SERIES_HEADER);
	if (!stb_past_series(stb_arena_printf(&run->arena, "%s/series.csv", run->dir), run->plan, &run->present, &text, err))
		rc = write_text(run, "series.csv", stb_buf_str(&text), text.len, err);
	stb_buf_fini(&text);
	return rc;
}

/* The files of the run directory hold what is present and nothing else, and are open for more. */
static int reopen(struct resume *s, struct stb_run *run, struct stb_err *err)
{
	const char *results = stb_arena_printf(&run->arena, "%s/results.csv", run->dir);
	const char *series = stb_arena_printf(&run->arena, "%s/series.csv", run->dir);

	run->environment = json_incref(s->environment);
	if (stb_past_prune_histograms(run->dir, run->plan, &run->present, err) || write_results(run, err) || write_series(run, err) ||
		stb_record_write_environment(run, err))
		return -1;
	run->results_csv = fopen(results, "ae");
	run->series_csv = run->results_csv ? fopen(series, "ae") : NULL;
	if (!run->series_csv) {
		const int code = errno;

		stb_err_set(err, code, "cannot open `%s`", run->results_csv ? series : results);
		stb_run_dir_remedy(err, code);
		return -1;
	}
	stb_record_start(run);
	if (run->journal.err.set) {
		*err = run->journal.err;
		return -1;
	}
	return 0;
}

/* Files are put in the place of others: that needs the directories. */
static int check_writable(struct resume *s, struct stb_err *err)
{
	static const char *const dirs[] = { "", "/histograms" };

	for (size_t i = 0; i < STB_LEN(dirs); i++) {
		const char *dir = stb_arena_printf(&s->arena, "%s%s", s->dir, dirs[i]);

		if (!faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
			continue;
		const int code = errno;

		stb_err_set(err, code, "cannot write to `%s`, which the run goes on in", dir);
		stb_run_dir_remedy(err, code);
		return -1;
	}
	return 0;
}

/* --- and on --------------------------------------------------------------------------------------------------------------------------------- */

static int undo_left(struct resume *s, struct stb_err *err)
{
	const size_t n = stb_journal_undo(&s->journal, &s->story, s->plan, stderr);

	if (!n)
		return 0;
	stb_err_set(err, 0, "%zu of %zu things that the run in `%s` left behind could not be removed", n, s->story.left.n, s->dir);
	stb_err_remedy(err, "see the messages before; then try again");
	return -1;
}

/* Only where the last session came to its end: what a kill left half written is written anew. */
static bool is_whole(const struct resume *s, const struct stb_run *run)
{
	return s->story.finished && run->done == run->n_measurements;
}

static int say_nothing_to_do(const struct resume *s, const struct stb_run *run)
{
	fprintf(stderr, "stb: nothing to do: %llu of %llu repetitions of the run in `%s` are there, and nothing was changed\n",
		(unsigned long long)run->done, (unsigned long long)run->n_measurements, s->dir);
	return run->n_failures ? STB_EXIT_CELLS : STB_EXIT_OK;
}

static void say_plan(const struct resume *s, const struct stb_run *run)
{
	fprintf(stderr, "stb: %llu of %llu repetitions are there, %llu are to be done", (unsigned long long)run->done,
		(unsigned long long)run->n_measurements, (unsigned long long)(run->n_measurements - run->done));
	if (s->n_failed)
		fprintf(stderr, "; %zu of them failed before", s->n_failed);
	if (s->n_lost)
		fprintf(stderr, "; %zu of them have lost their histograms", s->n_lost);
	fputc('\n', stderr);
}

/* An enum stb_exit; *err set where it refuses. */
static int carry_on(struct resume *s, struct stb_err *err)
{
	struct stb_run *run;
	int code = STB_EXIT_ENVIRONMENT;

	s->options = (struct stb_exec_options){ .plan = s->plan, .dir = s->dir, .version = s->version, .commit = s->commit,
		.spec = json_string_value(json_object_get(s->environment, "spec")) };
	if (!s->options.spec)
		s->options.spec = "SPEC";
	if (read_selection(s, err))
		return code;
	s->options.keep = s->keep;
	run = stb_run_new(&s->options);
	run->resumed = true;
	stb_record_make_mark(run->mark);
	if (take_present(s, run, err))
		goto out;
	stb_run_count(run);
	if (is_whole(s, run)) {
		if (!undo_left(s, err))
			code = say_nothing_to_do(s, run);
		goto out;
	}
	if (run->present.n)
		run->recorded = s->environment;
	if (check_machine(s, run, err) || check_writable(s, err) || undo_left(s, err) || stb_run_preflight(run, err))
		goto out;
	if (stb_signals_open(&run->signals, err))
		goto out;
	stb_journal_move(&run->journal, &s->journal);
	say_plan(s, run);
	if (!reopen(s, run, err))
		code = stb_run_carry_out(run);
out:
	stb_run_free(run);
	return code;
}

int stb_exec_resume(const char *dir, const char *version, const char *commit)
{
	struct resume s = { .dir = dir, .version = version, .commit = commit, .journal.fd = -1 };
	struct stb_err err;
	int code = STB_EXIT_ENVIRONMENT;

	stb_err_clear(&err);
	stb_arena_init(&s.arena);
	s.has_story = !stb_journal_take(&s.story, &s.journal, dir, stb_past_gather, &s.past, &err);
	if (s.has_story && !check_plan(&s, &err) && !read_environment(&s, &err) && !stb_past_sort(&s.past, s.plan, true, &err))
		code = carry_on(&s, &err);
	if (err.set)
		stb_exec_print_error(s.plan, &err, stderr);
	stb_journal_close(&s.journal);
	if (s.has_story)
		stb_journal_story_fini(&s.story);
	stb_past_fini(&s.past);
	json_decref(s.environment);
	stb_plan_free(s.plan);
	stb_arena_fini(&s.arena);
	return code;
}
