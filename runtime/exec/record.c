/*
 * record.c - the run directory: plan.json, environment.json, journal.jsonl, results.csv, series.csv, histograms/, and the reports at the
 * end. Rows are flushed after each repetition, so a run that is killed keeps everything but the repetition it was in.
 */
#include "runtime/base/clock.h"
#include "runtime/exec/outfile.h"
#include "runtime/exec/run.h"
#include "runtime/host/host.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_ID 16
#define MAX_DIRS 1000

static int refused(struct stb_err *err, int code, const char *path)
{
	stb_err_set(err, code, "cannot write `%s`", path);
	stb_err_remedy(err, "the run directory must lie on a file system that can be written to and has space");
	return -1;
}

static void fatal(struct stb_run *run, int code, const char *path)
{
	if (!run->fatal.set)
		refused(&run->fatal, code, path);
}

/* Words of a server's log may be no UTF-8; what can be kept of them is. */
static void add_text(json_t *record, const char *key, const char *text)
{
	json_t *v = json_string(text);

	if (!v) {
		char *ascii = stb_xstrdup(text);

		for (char *p = ascii; *p; p++)
			if ((unsigned char)*p >= 0x80)
				*p = '?';
		v = json_string(ascii);
		free(ascii);
	}
	json_object_set_new(record, key, v);
}

static char *in_dir(struct stb_run *run, const char *name)
{
	return stb_arena_printf(&run->arena, "%s/%s", run->dir, name);
}

static FILE *create(struct stb_run *run, const char *name, struct stb_err *err)
{
	char *path = in_dir(run, name);
	FILE *f = fopen(path, "wxe");

	if (!f)
		refused(err, errno, path);
	return f;
}

static int write_plan(struct stb_run *run, struct stb_err *err)
{
	char *data = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&data, &len);
	int rc;

	if (!mem)
		return refused(err, errno, in_dir(run, "plan.json"));
	stb_plan_print_json(run->plan, mem);
	rc = fclose(mem) ? refused(err, errno, in_dir(run, "plan.json")) : stb_outfile_write(in_dir(run, "plan.json"), data, len, err);
	free(data);
	return rc;
}

int stb_record_write_environment(struct stb_run *run, struct stb_err *err)
{
	char *text = json_dumps(run->environment, JSON_INDENT(2) | JSON_SORT_KEYS);
	size_t len;
	int rc;

	if (!text)
		return refused(err, EINVAL, in_dir(run, "environment.json"));
	len = strlen(text);
	text[len] = '\n';
	rc = stb_outfile_write(in_dir(run, "environment.json"), text, len + 1, err);
	free(text);
	return rc;
}

/* Where images without a path lie: in the run directory, or where it will be. */
static const char *run_place(const struct stb_run *run)
{
	struct stb_arena *a = (struct stb_arena *)&run->arena;
	const char *slash = strrchr(run->dir, '/');

	if (run->made_dir || run->resumed)
		return run->dir;
	return slash == run->dir ? "/" : stb_arena_strndup(a, run->dir, (size_t)(slash - run->dir));
}

/* Where the storage classes of the run lie: the paths whose file system and device go into the record. */
static json_t *describe_places(const struct stb_run *run)
{
	json_t *places = json_object();

	for (uint32_t i = 0; i < run->plan->n_blocks; i++) {
		const struct stb_plan_block *b = &run->plan->blocks[i];
		const struct stb_plan_attr *path = stb_plan_attr(b, "path");

		if (strcmp(b->kind, "storage") || !strcmp(b->type, "external") || !strcmp(b->type, "tmpfs") || !strcmp(b->type, "zram"))
			continue;
		json_object_set_new(places, b->name, stb_host_place("", path && path->val.str ? path->val.str : run_place(run)));
	}
	return places;
}

static json_t *describe_addresses(const struct stb_run *run)
{
	json_t *out = json_object();
	static const char *const names[] = { "host", "port", "socket", "user", "schema", "password", "tls", "tls_ca", "tls_cert", "tls_key" };

	for (uint32_t i = 0; i < run->plan->n_blocks; i++) {
		const struct stb_plan_block *b = &run->plan->blocks[i];
		json_t *one;

		if (strcmp(b->kind, "database") || strcmp(b->type, "external"))
			continue;
		one = json_object();
		for (size_t k = 0; k < STB_LEN(names); k++) {
			const struct stb_plan_attr *at = stb_plan_attr(b, names[k]);

			if (!at)
				continue;
			/* a secret's value in the plan is where it lies, never what it is */
			if (at->val.str)
				json_object_set_new(one, names[k], json_string(at->val.str));
			else if (at->val.den)
				json_object_set_new(one, names[k], json_integer(at->val.num / at->val.den));
		}
		json_object_set_new(out, b->name, one);
	}
	return out;
}

/* The binaries that private servers of the run are started from. */
static json_t *describe_binaries(struct stb_run *run)
{
	json_t *out = json_object();

	for (uint32_t i = 0; i < run->plan->n_cells; i++) {
		const uint32_t db = run->plan->groups[run->plan->cells[i].group].database;
		const struct stb_plan_block *b = db == STB_NONE ? NULL : &run->plan->blocks[db];
		const char *path, *version;
		struct stb_err err;

		if (!b || strcmp(b->type, "mysql") || (run->o->keep && !run->o->keep[i]) || json_object_get(out, b->name))
			continue;
		stb_err_clear(&err);
		if (!stb_mysqld_binary(b, &run->arena, &path, &version, &err))
			json_object_set_new(out, b->name, json_pack("{s:s,s:s}", "path", path, "version", version));
	}
	return out;
}

json_t *stb_record_session(const struct stb_run *run)
{
	char now[26];

	stb_clock_rfc3339(now);
	return json_pack("{s:s,s:s,s:{s:s,s:s}}", "id", run->mark, "time", now, "stb", "version", run->o->version, "commit", run->o->commit);
}

json_t *stb_record_environment(struct stb_run *run)
{
	json_t *env = stb_host_describe("");
	json_t *secrets = json_array();
	char library[STB_CLIENT_LIBRARY_TEXT];

	for (uint32_t i = 0; i < run->plan->n_secrets; i++)
		json_array_append_new(secrets, json_string(run->plan->secrets[i]));
	json_object_set_new(env, "stb", json_pack("{s:s,s:s}", "version", run->o->version, "commit", run->o->commit));
	json_object_set_new(env, "spec", json_string(run->o->spec));
	json_object_set_new(env, "profile", run->plan->profile ? json_string(run->plan->profile) : json_null());
	json_object_set_new(env, "plan", json_string(run->plan->hash));
	json_object_set_new(env, "storage", describe_places(run));
	json_object_set_new(env, "addresses", describe_addresses(run));
	stb_db_client_library(library);
	json_object_set_new(env, "client_library", json_string(library));
	json_object_set_new(env, "client_prepared", json_string(stb_db_client_prepared()));
	json_object_set_new(env, "secrets", secrets);
	json_object_set_new(env, "binaries", describe_binaries(run));
	json_object_set_new(env, "databases", json_object());
	json_object_set_new(env, "sessions", json_pack("[o]", stb_record_session(run)));
	return env;
}

void stb_record_make_mark(char *out)
{
	unsigned char bytes[STB_MARK_LEN / 2];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		STB_BUG("getrandom refused");
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

int stb_record_refuse_taken(const struct stb_run *run, struct stb_err *err)
{
	stb_err_set(err, 0, "the run directory `%s` exists already", run->dir);
	stb_err_remedy(err, "name another one with -o, or remove this one");
	return -1;
}

/* Two runs may want the same name at the same time: who makes it has it. */
static int make_dir(struct stb_run *run, struct stb_err *err)
{
	char *const dir = run->dir;
	const char *const shown = run->shown_dir;

	for (unsigned n = 2; mkdir(run->dir, 0755); n++) {
		if (errno != EEXIST)
			return refused(err, errno, run->dir);
		if (!run->o->dir_may_change || n > MAX_DIRS)
			return stb_record_refuse_taken(run, err);
		run->dir = stb_arena_printf(&run->arena, "%s-%u", dir, n);
		run->shown_dir = stb_arena_printf(&run->arena, "%s-%u", shown, n);
	}
	run->made_dir = true;
	return 0;
}

/* Takes a run directory away in which nothing was recorded yet; a retry would only find that it exists. */
static void unmake(struct stb_run *run)
{
	static const char *const files[] = { "series.csv", "results.csv", "environment.json", "plan.json", "journal.jsonl" };

	stb_record_close(run);
	for (size_t i = 0; i < STB_LEN(files); i++)
		(void)unlink(in_dir(run, files[i]));
	(void)rmdir(in_dir(run, "histograms"));
	(void)rmdir(run->dir);
	run->made_dir = false;
}

void stb_record_start(struct stb_run *run)
{
	json_t *cells, *r;
	char boot[STB_BOOT_ID];

	stb_boot_id(boot);
	r = json_pack("{s:s,s:s,s:i,s:I,s:s,s:s,s:s,s:s,s:I,s:I}", "ev", "start", "mark", run->mark, "pid", (int)getpid(), "pid_start",
		(json_int_t)stb_process_start(getpid()), "boot", boot, "plan", run->plan->hash, "version", run->o->version, "commit",
		run->o->commit, "planned", (json_int_t)run->n_measurements, "done", (json_int_t)run->done);
	if (!run->o->only) {
		stb_journal_add(&run->journal, r);
		return;
	}
	cells = json_array();
	for (uint32_t i = 0; i < run->plan->n_cells; i++)
		if (run->o->keep[i])
			json_array_append_new(cells, json_string(run->plan->cells[i].id));
	json_object_set_new(r, "only", json_string(run->o->only));
	json_object_set_new(r, "cells", cells);
	stb_journal_add(&run->journal, r);
}

static int make_files(struct stb_run *run, struct stb_err *err)
{
	if (stb_journal_open(&run->journal, in_dir(run, "journal.jsonl"), true, err))
		return -1;
	stb_record_start(run);
	if (run->journal.err.set) {
		*err = run->journal.err;
		return -1;
	}
	if (mkdir(in_dir(run, "histograms"), 0755))
		return refused(err, errno, in_dir(run, "histograms"));
	run->environment = stb_record_environment(run);
	if (write_plan(run, err) || stb_record_write_environment(run, err))
		return -1;
	run->results_csv = create(run, "results.csv", err);
	run->series_csv = run->results_csv ? create(run, "series.csv", err) : NULL;
	if (!run->series_csv)
		return -1;
	stb_results_write_header(run->plan, run->results_csv);
	fputs(STB_SERIES_HEADER, run->series_csv);
	if (fflush(run->results_csv) || fflush(run->series_csv))
		return refused(err, errno, run->dir);
	return 0;
}

int stb_record_open(struct stb_run *run, struct stb_err *err)
{
	stb_record_make_mark(run->mark);
	if (make_dir(run, err))
		return -1;
	if (!make_files(run, err))
		return 0;
	unmake(run);
	return -1;
}

void stb_record_close(struct stb_run *run)
{
	if (run->results_csv && fclose(run->results_csv))
		fatal(run, errno, in_dir(run, "results.csv"));
	if (run->series_csv && fclose(run->series_csv))
		fatal(run, errno, in_dir(run, "series.csv"));
	run->results_csv = run->series_csv = NULL;
	json_decref(run->environment);
	run->environment = NULL;
	stb_journal_close(&run->journal);
}

static json_t *text_or_words(const char *text, const char *words)
{
	json_t *v = json_string(text);

	return v ? v : json_string(words);
}

/* {"name": "value", ...} of the lines "name\tvalue", which are cut up. */
static json_t *variables_of(char *lines)
{
	json_t *out = json_object();

	for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, '\t');

		if (!value)
			continue;
		*value++ = '\0';
		json_object_set_new(out, line, text_or_words(value, "(not UTF-8)"));
	}
	return out;
}

/* What of `is` the other one says otherwise, or not at all. */
static json_t *differences(json_t *is, json_t *other)
{
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach(is, name, value) {
		if (!json_equal(value, json_object_get(other, name)))
			json_object_set(out, name, value);
	}
	return out;
}

static json_t *cells_of(const struct stb_run *run, uint32_t group)
{
	const struct stb_plan *p = run->plan;
	json_t *out = json_array();

	for (uint32_t i = 0; i < p->n_cells; i++)
		if (p->cells[i].group == group && p->cells[i].same_as == i && (!run->o->keep || run->o->keep[i]))
			json_array_append_new(out, json_stringn(p->cells[i].id, SHOWN_ID));
	return out;
}

static json_t *list_of(const char *lines)
{
	json_t *out = json_array();

	for (const char *p = lines; *p;) {
		const size_t n = strcspn(p, "\n");

		json_array_append_new(out, json_stringn(p, n));
		p += n + (p[n] == '\n');
	}
	return out;
}

static json_t *database_entry(struct stb_run *run, const char *name)
{
	json_t *all = json_object_get(run->environment, "databases"), *db = json_object_get(all, name);

	if (!db) {
		db = json_pack("{s:{},s:{}}", "variables", "servers");
		json_object_set_new(all, name, db);
	}
	return db;
}

/* What a server says otherwise than the first one of its name; that one's variables are spelt out. */
static void set_variables(json_t *db, json_t *one, json_t *variables)
{
	if (!json_object_size(json_object_get(db, "variables")))
		json_object_set(db, "variables", variables);
	json_object_set_new(one, "differs", differences(variables, json_object_get(db, "variables")));
}

void stb_record_server_entry(struct stb_run *run, const char *database, const char *group, json_t *one, json_t *variables)
{
	json_t *db = database_entry(run, database);

	set_variables(db, one, variables);
	json_object_set_new(json_object_get(db, "servers"), group, one);
}

/* An option that no variable shows may be in force or not: whoever reads the figures has to know, once a server. */
static void say_unverified(struct stb_run *run, const struct stb_plan_block *database, const char *lines)
{
	for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		char name[96];
		const struct stb_plan_attr *a;
		const char *where;

		snprintf(name, sizeof name, "options.%.*s", (int)STB_MIN(strcspn(p, "\n"), sizeof name - 16), p);
		a = stb_plan_attr(database, name);
		where = stb_plan_where(&run->arena, run->plan, a && a->span != STB_NONE ? a->span : database->span);
		stb_progress_say(&run->progress, "stb: warning: no variable of the server shows whether `%s` of database `%s` is in force%s%s%s",
			name + strlen("options."), database->name, *where ? " (" : "", where, *where ? ")" : "");
	}
}

/*
 * "databases": {NAME: {"variables": {of the first server of that name}, "servers": {GROUP: {"cells": [ids], "version", "differs":
 * {variables that are otherwise there than in "variables"}, "encryption": {"version", "cipher"} where connections are, "unverified": [options
 * that no variable shows]}}}}. A matrix of 100 variants
 * has 100 servers of 1000 variables, nearly all the same: so each one says in what it differs.
 */
static void add_encryption(json_t *one, const struct stb_db_address *address)
{
	char version[STB_TLS_TEXT], cipher[STB_TLS_TEXT];
	struct stb_err err;

	if (address->tls == STB_TLS_DISABLED)
		return;
	stb_err_clear(&err);
	if (stb_db_encryption(address, version, cipher, &err))
		json_object_set_new(one, "encryption_unknown", text_or_words(err.what, "the server gave no answer"));
	else
		json_object_set_new(one, "encryption", json_pack("{s:o,s:o}", "version", text_or_words(version, "unknown"), "cipher",
			text_or_words(cipher, "unknown")));
}

static void record_server(struct stb_run *run, uint32_t group, uint32_t replica, const struct stb_mysqld *m, const struct stb_db_address *address)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	const char *name = run->plan->blocks[pg->database].name;
	json_t *db = database_entry(run, name), *servers, *one;
	char id[SHOWN_ID + 32];
	struct stb_buf text;
	struct stb_err err;

	servers = json_object_get(db, "servers");
	if (replica)
		snprintf(id, sizeof id, "%.*s replica %u", SHOWN_ID, pg->id, replica);
	else
		snprintf(id, sizeof id, "%.*s", SHOWN_ID, pg->id);
	one = json_object_get(servers, id);
	if (one && !json_object_get(one, "from"))
		return;
	one = json_pack("{s:o}", "cells", cells_of(run, group));
	json_object_set_new(servers, id, one);
	stb_buf_init(&text);
	stb_err_clear(&err);
	if (stb_db_variables(address, &text, &err)) {
		json_object_set_new(one, "variables_unknown", text_or_words(err.what, "the server gave no answer"));
	} else {
		json_t *variables = variables_of(text.data);

		json_object_set(one, "version", json_object_get(variables, "version"));
		set_variables(db, one, variables);
		json_decref(variables);
	}
	add_encryption(one, address);
	if (m)
		json_object_set_new(one, "unverified", list_of(stb_mysqld_unverified(m)));
	if (m && !replica)
		say_unverified(run, &run->plan->blocks[pg->database], stb_mysqld_unverified(m));
	stb_buf_fini(&text);
	stb_err_clear(&err);
	if (stb_record_write_environment(run, &err) && !run->fatal.set)
		run->fatal = err;
}

void stb_record_server(struct stb_run *run, uint32_t group, const struct stb_db_address *address)
{
	record_server(run, group, 0, run->groups[group].mysqld, address);
}

void stb_record_replica(struct stb_run *run, uint32_t group, uint32_t number)
{
	const struct stb_mysqld *m = run->groups[group].replicas[number - 1];

	record_server(run, group, number, m, stb_mysqld_address(m));
}

void stb_record_leftover(void *ctx, int made, const char *kind, const char *object)
{
	struct stb_run *run = ctx;

	stb_leftovers_note(&run->left, made, kind, object);
	stb_journal_add(&run->journal, json_pack("{s:s,s:s,s:s}", "ev", made ? "made" : "gone", "kind", kind, "object", object));
}

void stb_record_step(struct stb_run *run, const char *ev, const char *op, uint32_t group, const struct stb_err *err)
{
	json_t *r = json_pack("{s:s,s:s,s:s%}", "ev", ev, "op", op, "group", run->plan->groups[group].id, (size_t)SHOWN_ID);

	if (err && err->set)
		add_text(r, "error", err->what);
	stb_journal_add(&run->journal, r);
}

void stb_record_cell(struct stb_run *run, const char *ev, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_err *err)
{
	json_t *r = json_pack("{s:s,s:s,s:s,s:i,s:i}", "ev", ev, "op", "measure", "cell", run->plan->cells[cell].id, "slot", (int)slot,
		"repetition", (int)repetition);

	if (err && err->set)
		add_text(r, "error", err->what);
	stb_journal_add(&run->journal, r);
}

/* What the machine gave the engine, which no spec says: environment.json has each way once. Returns whether this one is new. */
static bool note_engine(struct stb_run *run, const char *engine, const struct stb_measure *m)
{
	json_t *all = json_object_get(run->environment, "engines"), *one, *known;
	struct stb_err err;
	size_t i;

	one = json_pack("{s:s,s:s,s:s}", "engine", engine, "with", m->engine_with, "without", m->engine_without);
	if (!all) {
		all = json_array();
		json_object_set_new(run->environment, "engines", all);
	}
	json_array_foreach(all, i, known) {
		if (json_equal(known, one)) {
			json_decref(one);
			return false;
		}
	}
	json_array_append_new(all, one);
	stb_err_clear(&err);
	if (stb_record_write_environment(run, &err) && !run->fatal.set)
		run->fatal = err;
	return true;
}

void stb_record_engine(struct stb_run *run, const struct stb_plan_block *workload, const struct stb_measure *m)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, "ioengine");
	const char *engine = a && a->val.str ? a->val.str : "";

	if (!m->engine_with[0] && !m->engine_without[0])
		return;
	if (note_engine(run, engine, m) && m->engine_without[0])
		stb_progress_say(&run->progress, "note: engine `%s` runs without %s", engine, m->engine_without);
}

/*
 * Of an OLTP repetition: what was tried again, by the server's number ("other": too many different ones), whether threads were served alike, and by how
 * many of ours.
 */
static void add_counts(json_t *record, const struct stb_measure *m)
{
	json_t *codes;

	if (m->codes.n) {
		codes = json_object();
		for (uint32_t i = 0; i < m->codes.n; i++) {
			char code[16] = "other";

			if (m->codes.of[i].code)
				snprintf(code, sizeof code, "%u", m->codes.of[i].code);
			json_object_set_new(codes, code, json_integer((json_int_t)m->codes.of[i].count));
		}
		json_object_set_new(record, "errors", codes);
	}
	if (m->fairness.events_mean > 0)
		json_object_set_new(record, "fairness", json_pack("{s:f,s:f,s:f,s:f}", "events_mean", m->fairness.events_mean,
			"events_stddev", m->fairness.events_stddev, "busy_s_mean", m->fairness.busy_mean_s, "busy_s_stddev",
			m->fairness.busy_stddev_s));
	if (m->clients.n)
		json_object_set_new(record, "client", json_pack("{s:i,s:b}", "threads", (int)m->clients.n, "near_server_threads", m->clients.near));
}

/* Of an io repetition with steady_state: the proof. `found` is the slope a second or the deviation of the window that ended at found_at_s. */
static void add_steadiness(json_t *record, const struct stb_steadiness *s)
{
	json_t *o;

	if (!s->asked)
		return;
	o = json_pack("{s:b,s:f}", "reached", s->reached, "after_s", (double)s->after_ns / 1e9);
	if (s->judged) {
		json_object_set_new(o, "found", json_real(s->found));
		json_object_set_new(o, "mean", json_real(s->mean));
		json_object_set_new(o, "found_at_s", json_real((double)s->found_at_ns / 1e9));
	}
	json_object_set_new(record, "steady_state", o);
}

/* What a workload's measure tells beside its metrics. */
static void add_measure(struct stb_run *run, json_t *record, const struct stb_measure *m)
{
	if (m->engine_with[0] || m->engine_without[0])
		json_object_set_new(record, "engine", json_pack("{s:s,s:s}", "with", m->engine_with, "without", m->engine_without));
	add_counts(record, m);
	stb_results_count_errors(run->results, &m->codes);
	add_steadiness(record, &m->steady);
}

/* The same of a mix: "members": {NAME: {...}} of those that have something to tell. */
static void add_members(struct stb_run *run, json_t *record, const struct stb_plan_mix *mix, const struct stb_measure *const *measures)
{
	json_t *members = json_object();

	for (uint32_t i = 0; i < mix->n; i++) {
		json_t *one = json_object();

		add_measure(run, one, measures[i]);
		if (json_object_size(one))
			json_object_set(members, run->plan->blocks[mix->members[i]].name, one);
		json_decref(one);
	}
	if (json_object_size(members))
		json_object_set(record, "members", members);
	json_decref(members);
}

static int save_hists(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_measure *const *measures,
	struct stb_err *err)
{
	const uint32_t n = stb_plan_mix_of(run->plan, cell)->n;

	if (!n)
		return stb_measure_save_hists(run->plan, cell, slot, repetition, STB_NONE, measures[0], run->dir, err);
	for (uint32_t i = 0; i < n; i++)
		if (stb_measure_save_hists(run->plan, cell, slot, repetition, i, measures[i], run->dir, err))
			return -1;
	return 0;
}

void stb_record_result(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition, size_t from, enum stb_status status,
	const char *reason, const struct stb_measure *const *measures, const struct stb_buf *series)
{
	json_t *metrics = json_object(), *record;
	struct stb_err err;

	for (size_t i = from; i < run->results->n_rows; i++)
		json_object_set_new(metrics, run->results->rows[i].metric, json_real(run->results->rows[i].value));
	stb_err_clear(&err);
	if (measures && save_hists(run, cell, slot, repetition, measures, &err) && !run->fatal.set)
		run->fatal = err;
	stb_results_write_rows(run->results, from, run->results_csv);
	if (series)
		fwrite(stb_buf_str(series), 1, series->len, run->series_csv);
	/* before the record that says that they are there */
	if (fflush(run->results_csv) || fdatasync(fileno(run->results_csv)))
		fatal(run, errno, in_dir(run, "results.csv"));
	if (fflush(run->series_csv) || fdatasync(fileno(run->series_csv)))
		fatal(run, errno, in_dir(run, "series.csv"));
	record = json_pack("{s:s,s:s,s:i,s:i,s:s,s:o}", "ev", "result", "cell", run->plan->cells[cell].id, "slot", (int)slot, "repetition",
		(int)repetition, "status", stb_status_text(status), "metrics", metrics);
	if (reason)
		add_text(record, "reason", reason);
	if (measures && stb_plan_mix_of(run->plan, cell)->n)
		add_members(run, record, stb_plan_mix_of(run->plan, cell), measures);
	else if (measures)
		add_measure(run, record, measures[0]);
	stb_journal_add(&run->journal, record);
	if (run->journal.err.set && !run->fatal.set)
		run->fatal = run->journal.err;
}

void stb_record_finish(struct stb_run *run, int exit_code, const char *stopped)
{
	json_t *r = json_pack("{s:s,s:i,s:I,s:I}", "ev", "finish", "exit", exit_code, "planned", (json_int_t)run->n_measurements, "done",
		(json_int_t)run->done);

	if (stopped)
		add_text(r, "stopped", stopped);
	stb_journal_add(&run->journal, r);
}

static int make_report_dir(const char *dir, bool *made, struct stb_err *err)
{
	struct stat st;

	*made = !mkdir(dir, 0755);
	if (!*made && errno != EEXIST) {
		stb_err_set(err, errno, "cannot make the directory `%s`", dir);
		stb_err_remedy(err, "its parent must exist and be writable, on a file system that has space; name another place with -o");
		return -1;
	}
	if (stat(dir, &st) || S_ISDIR(st.st_mode))
		return 0;
	stb_err_set(err, ENOTDIR, "cannot write reports into `%s`", dir);
	stb_err_remedy(err, "name a directory with -o, or what does not exist yet");
	return -1;
}

/* Letters of a report's name are those of an identifier, so it is a file name as it stands. */
int stb_exec_write_report(const struct stb_results *r, const char *dir, bool md, bool csv, struct stb_err *err)
{
	struct stb_arena a;
	struct stb_buf text;
	bool made = false;
	int rc = -1;

	stb_arena_init(&a);
	stb_buf_init(&text);
	if (make_report_dir(dir, &made, err))
		goto out;
	if (md) {
		stb_report_markdown(r, &text);
		if (stb_outfile_write(stb_arena_printf(&a, "%s/report.md", dir), stb_buf_str(&text), text.len, err))
			goto out;
	}
	for (uint32_t i = 0; csv && i < r->plan->n_reports; i++) {
		stb_buf_clear(&text);
		stb_report_csv(r, i, &text);
		if (stb_outfile_write(stb_arena_printf(&a, "%s/report-%s.csv", dir, r->plan->reports[i].name), stb_buf_str(&text),
			    text.len, err))
			goto out;
	}
	rc = 0;
out:
	if (rc && made) /* unless some are in it */
		(void)rmdir(dir);
	stb_buf_fini(&text);
	stb_arena_fini(&a);
	return rc;
}
