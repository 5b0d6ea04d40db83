/*
 * reuse.c - `stb run --reuse DIR`: what another run has measured already is taken over and not measured again.
 *
 *   find   before anything is touched: of each run in the order given, the repetitions (cell x slot x repetition) that this run asks for, that
 *          ended as asked and are whole with their histograms. They are `present` from then on: not provisioned, not measured
 *   copy   into the new run directory, which then stands alone: rows, series, histograms, the record of their servers, and a result record
 *          each that says where they are from. Reports footnote them
 *
 * Figures of two machines or two builds of stb do not belong into one table: where the other run's machine was another in what matters
 * (host/differ.h), or another build measured it, the run is refused; where only a storage class or a database was, its cells are measured. What is taken over keeps its first origin.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/outfile.h"
#include "runtime/exec/past.h"
#include "runtime/exec/run.h"
#include "runtime/host/differ.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_ID 16

struct stb_reused {
	const char *dir;
	struct stb_journal_story story;
	struct stb_past past;       /* dropped: not taken */
	json_t *environment;
	struct stb_differences differences;
	struct stb_done taken;
	size_t n_elsewhere;         /* on a storage class or database that is another now */
};

/* --- find ----------------------------------------------------------------------------------------------------------------------------------- */

static int read_run(struct stb_run *run, struct stb_reused *s, struct stb_err *err)
{
	const char *journal = stb_arena_printf(&run->arena, "%s/journal.jsonl", s->dir);
	const char *environment = stb_arena_printf(&run->arena, "%s/environment.json", s->dir);
	json_error_t e;

	if (stb_journal_read(&s->story, journal, stb_past_gather, &s->past, err))
		return -1;
	if (!s->story.n_sessions) {
		stb_err_set(err, 0, "`%s` does not begin with the mark of a run", journal);
		stb_err_remedy(err, "name the directory of a run, as `stb run` printed it");
		return -1;
	}
	if (stb_journal_running(&s->story)) {
		stb_err_set(err, 0, "the run in `%s` is still going on (process %d)", s->dir, (int)s->story.pid);
		stb_err_remedy(err, "wait for its end");
		return -1;
	}
	s->environment = json_load_file(environment, JSON_REJECT_DUPLICATES, &e);
	if (!json_is_object(s->environment)) {
		stb_err_set(err, 0, "cannot read `%s`: %s", environment, s->environment ? "it is no JSON object" : e.text);
		stb_err_remedy(err, "without it nobody can tell whether that run was on this machine: measure anew, without --reuse");
		return -1;
	}
	if (stb_past_check_build(&s->past, s->dir, run->o->version, run->o->commit, err)) {
		stb_err_remedy(err, "go on with the build that measured it, or measure anew, without --reuse");
		return -1;
	}
	return stb_past_sort(&s->past, run->plan, false, err);
}

static int check_machine(struct stb_run *run, struct stb_reused *s, const json_t *now, struct stb_err *err)
{
	struct stb_buf text;

	stb_differences_find(&s->differences, s->environment, now, false);
	stb_buf_init(&text);
	for (size_t i = 0; i < s->differences.n; i++) {
		const struct stb_difference *d = &s->differences.items[i];

		if (d->matters && !d->kind)
			stb_buf_printf(&text, "%s%s was %.80s, is %.80s", text.len ? "; " : "", d->what, d->was, d->is);
	}
	if (text.len) {
		stb_err_set(err, 0, "results of `%s` cannot be taken over, since they were measured on another machine: %s", s->dir,
			stb_buf_str(&text));
		stb_err_remedy(err, "make the machine as it was, or measure anew, without --reuse");
	}
	stb_buf_fini(&text);
	(void)run;
	return err->set ? -1 : 0;
}

static bool differs(const struct stb_reused *s, const char *kind, const char *name)
{
	for (size_t i = 0; i < s->differences.n; i++) {
		const struct stb_difference *d = &s->differences.items[i];

		if (d->matters && d->kind && !strcmp(d->kind, kind) && !strcmp(d->name, name))
			return true;
	}
	return false;
}

/* Whether what the cell lies on is another one now. */
static bool is_elsewhere(const struct stb_run *run, const struct stb_reused *s, uint32_t cell)
{
	const struct stb_plan_group *g = &run->plan->groups[run->plan->cells[cell].group];

	for (uint32_t i = 0; i < g->n_mounts; i++)
		if (differs(s, "storage", run->plan->blocks[g->mounts[i].storage].name))
			return true;
	return g->database != STB_NONE && differs(s, "database", run->plan->blocks[g->database].name);
}

/* Per cell, the first of equal ones standing for all: whether this run measures it. */
static uint8_t *wanted_cells(const struct stb_run *run)
{
	uint8_t *out = stb_xcalloc((size_t)run->plan->n_cells + 1, 1);

	for (uint32_t i = 0; i < run->plan->n_cells; i++)
		if (!run->o->keep || run->o->keep[i])
			out[run->plan->cells[i].same_as] = 1;
	return out;
}

static int take(struct stb_run *run, struct stb_reused *s, struct stb_err *err)
{
	uint8_t *wanted = wanted_cells(run);

	for (size_t i = 0; i < s->past.n && !err->set; i++) {
		struct stb_past_result *one = &s->past.results[i];

		one->dropped = true;
		if (!stb_status_valid(one->status) || !wanted[one->cell] ||
			stb_done_has(&run->present, one->cell, one->slot, one->repetition))
			continue;
		if (is_elsewhere(run, s, one->cell)) {
			s->n_elsewhere++;
			continue;
		}
		if (!stb_past_has_histograms(one, run->plan, s->dir))
			continue;
		if (stb_past_add_rows(one, run->results, err)) {
			stb_err_wrap(err, "cannot take results of `%s` over", s->dir);
			break;
		}
		one->dropped = false;
		stb_done_add(&run->present, one->cell, one->slot, one->repetition);
		stb_done_add(&s->taken, one->cell, one->slot, one->repetition);
	}
	free(wanted);
	return err->set ? -1 : 0;
}

static void say(const struct stb_reused *s)
{
	fprintf(stderr, "stb: %zu repetition%s taken over from %s", s->taken.n, s->taken.n == 1 ? " is" : "s are", s->dir);
	if (s->n_elsewhere)
		fprintf(stderr, "; %zu not, since their storage or database is another one now", s->n_elsewhere);
	fputc('\n', stderr);
	for (size_t i = 0; i < s->differences.n; i++) {
		const struct stb_difference *d = &s->differences.items[i];

		fprintf(stderr, "stb: note: %s was %.80s, is %.80s\n", d->what, d->was, d->is);
	}
}

int stb_reuse_find(struct stb_run *run, struct stb_err *err)
{
	json_t *now = NULL;
	int rc = 0;

	if (!run->o->n_reuse)
		return 0;
	run->reused = stb_arena_alloc_array(&run->arena, run->o->n_reuse, sizeof *run->reused);
	now = stb_record_environment(run);
	for (uint32_t i = 0; i < run->o->n_reuse && !rc; i++) {
		struct stb_reused *s = &run->reused[run->n_reused++];
		char *real = realpath(run->o->reuse[i], NULL);

		s->dir = stb_arena_strdup(&run->arena, real ? real : run->o->reuse[i]);
		free(real);
		rc = read_run(run, s, err) || check_machine(run, s, now, err) || take(run, s, err) ? -1 : 0;
		if (!rc)
			say(s);
	}
	json_decref(now);
	return rc;
}

void stb_reuse_fini(struct stb_run *run)
{
	for (uint32_t i = 0; i < run->n_reused; i++) {
		stb_journal_story_fini(&run->reused[i].story);
		stb_past_fini(&run->reused[i].past);
		json_decref(run->reused[i].environment);
		if (run->reused[i].differences.arena.used_bytes)
			stb_differences_fini(&run->reused[i].differences);
		stb_done_fini(&run->reused[i].taken);
	}
	run->n_reused = 0;
}

bool stb_reuse_takes(const struct stb_run *run, uint32_t i)
{
	return run->reused[i].taken.n > 0;
}

const json_t *stb_reuse_environment(const struct stb_run *run, uint32_t i)
{
	return run->reused[i].environment;
}

const char *stb_reuse_dir(const struct stb_run *run, uint32_t i)
{
	return run->reused[i].dir;
}

/* --- copy ----------------------------------------------------------------------------------------------------------------------------------- */

static int copy_file(struct stb_run *run, const char *from_dir, const char *name, struct stb_err *err)
{
	const char *from = stb_arena_printf(&run->arena, "%s/%s", from_dir, name);
	const char *to = stb_arena_printf(&run->arena, "%s/%s", run->dir, name);
	FILE *in = fopen(from, "re");
	struct stb_buf text;
	char block[8192];
	size_t n;
	int rc;

	if (!in)
		return errno == ENOENT ? 0 : stb_err_set(err, errno, "cannot read `%s`", from);
	stb_buf_init(&text);
	while ((n = fread(block, 1, sizeof block, in)) > 0)
		stb_buf_add(&text, block, n);
	rc = ferror(in) ? stb_err_set(err, EIO, "cannot read `%s`", from) : stb_outfile_write(to, stb_buf_str(&text), text.len, err);
	fclose(in);
	stb_buf_fini(&text);
	return rc;
}

static int copy_histograms(struct stb_run *run, const struct stb_reused *s, const struct stb_past_result *one, struct stb_err *err)
{
	json_t *value;
	const char *metric;

	json_object_foreach(json_object_get(one->record, "metrics"), metric, value) {
		char name[STB_HIST_FILE_NAME];
		uint32_t hist;

		if (!stb_hist_of(run->plan, one->cell, metric, &hist))
			continue;
		stb_hist_file_name(run->plan, one->cell, one->slot, one->repetition, hist, name);
		if (copy_file(run, s->dir, name, err))
			return -1;
	}
	return 0;
}

static int copy_series(struct stb_run *run, struct stb_reused *s, struct stb_err *err)
{
	struct stb_buf text;
	int rc;

	stb_buf_init(&text);
	rc = stb_past_series(stb_arena_printf(&run->arena, "%s/series.csv", s->dir), run->plan, &s->taken, &text, err);
	if (!rc)
		fwrite(stb_buf_str(&text), 1, text.len, run->series_csv);
	stb_buf_fini(&text);
	return rc;
}

/* The result record as it was, and where it is from. */
static void record_result(struct stb_run *run, const struct stb_reused *s, const struct stb_past_result *one)
{
	json_t *record = json_copy(one->record);

	if (!json_object_get(record, "from"))
		json_object_set_new(record, "from", json_pack("{s:s,s:s,s:O?}", "dir", s->dir, "session", s->story.marks[one->session], "t",
			json_object_get(one->record, "t")));
	json_object_del(record, "t");
	stb_journal_add(&run->journal, record);
}

/* What the variables of one server are, whichever of the databases' servers the record spells out. */
static json_t *variables_of(const json_t *database, const json_t *server)
{
	json_t *all = json_deep_copy(json_object_get(database, "variables"));

	if (!json_is_object(all)) {
		json_decref(all);
		all = json_object();
	}
	if (json_is_object(json_object_get(server, "differs")))
		json_object_update(all, json_object_get(server, "differs"));
	return all;
}

static bool has_cell_of(const struct stb_run *run, const struct stb_reused *s, const char *group)
{
	for (size_t i = 0; i < s->taken.n; i++)
		if (!strncmp(run->plan->groups[run->plan->cells[s->taken.keys[i].cell].group].id, group, SHOWN_ID))
			return true;
	return false;
}

/* The servers that what was taken over was measured on. */
static void copy_servers(struct stb_run *run, const struct stb_reused *s)
{
	json_t *databases = json_object_get(s->environment, "databases"), *database;
	const char *name;

	json_object_foreach(databases, name, database) {
		json_t *server;
		const char *group;

		json_object_foreach(json_object_get(database, "servers"), group, server) {
			if (strlen(group) != SHOWN_ID || !has_cell_of(run, s, group))
				continue;

			json_t *copy = json_deep_copy(server), *variables = variables_of(database, server);

			json_object_set_new(copy, "from", json_string(s->dir));
			stb_record_server_entry(run, name, group, copy, variables);
			json_decref(variables);
		}
	}
}

static void describe(struct stb_run *run, const struct stb_reused *s)
{
	json_t *all = json_object_get(run->environment, "reused"), *one, *sessions = json_array(), *differs = json_array();

	if (!all) {
		all = json_array();
		json_object_set_new(run->environment, "reused", all);
	}
	for (uint32_t i = 0; i < s->story.n_sessions; i++)
		json_array_append_new(sessions, json_string(s->story.marks[i]));
	for (size_t i = 0; i < s->differences.n; i++)
		json_array_append_new(differs, json_pack("{s:s,s:s,s:s}", "what", s->differences.items[i].what, "was", s->differences.items[i].was,
			"is", s->differences.items[i].is));
	one = json_pack("{s:s,s:o,s:I,s:o}", "dir", s->dir, "sessions", sessions, "repetitions", (json_int_t)s->taken.n, "differs", differs);
	json_object_set(one, "plan", json_object_get(s->environment, "plan"));
	json_object_set(one, "time", json_object_get(s->environment, "time"));
	json_array_append_new(all, one);
}

int stb_reuse_copy(struct stb_run *run, struct stb_err *err)
{
	if (!run->n_reused)
		return 0;
	for (uint32_t i = 0; i < run->n_reused; i++) {
		struct stb_reused *s = &run->reused[i];

		for (size_t k = 0; k < s->past.n; k++)
			if (!s->past.results[k].dropped && copy_histograms(run, s, &s->past.results[k], err))
				return -1;
		if (copy_series(run, s, err))
			return -1;
		copy_servers(run, s);
		describe(run, s);
	}
	stb_results_write_rows(run->results, 0, run->results_csv);
	if (fflush(run->results_csv) || fdatasync(fileno(run->results_csv)) || fflush(run->series_csv) || fdatasync(fileno(run->series_csv)))
		return stb_err_set(err, errno, "cannot write what was taken over to `%s`", run->dir);
	if (stb_record_write_environment(run, err))
		return -1;
	/* last: what has a record is there */
	for (uint32_t i = 0; i < run->n_reused; i++)
		for (size_t k = 0; k < run->reused[i].past.n; k++)
			if (!run->reused[i].past.results[k].dropped)
				record_result(run, &run->reused[i], &run->reused[i].past.results[k]);
	if (run->journal.err.set)
		*err = run->journal.err;
	return err->set ? -1 : 0;
}
