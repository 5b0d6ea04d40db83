/*
 * clean.c - what a killed run left behind, undone by its journal in the reverse order of making.
 *
 * Only what the journal names is touched, and of that only what carries the run's mark: the rooms that made it look for the mark
 * themselves. A run that still works is left alone; its process is told by number and start time. `resume` does the same before it goes on.
 */
#include "runtime/db/db.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/journal.h"
#include "runtime/exec/tables.h"
#include "runtime/storage/storage.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_tables(const struct stb_leftover *l)
{
	return !strcmp(l->kind, "tables");
}

static enum stb_undo undo(const struct stb_journal_story *s, const struct stb_leftover *l, const struct stb_plan *p, struct stb_err *err)
{
	const char *mark = s->marks[l->session];

	if (!strcmp(l->kind, "pid") || !strcmp(l->kind, "socket"))
		return stb_mysqld_undo(mark, l->kind, l->object, err);
	if (is_tables(l))
		return stb_tables_undo(p, mark, l->object, err);
	return stb_storage_undo(mark, l->kind, l->object, err);
}

size_t stb_journal_undo(struct stb_journal *j, const struct stb_journal_story *s, const struct stb_plan *p, FILE *out)
{
	size_t n_failed = 0;
	struct stb_err err;

	for (size_t i = s->left.n; i-- > 0;) {
		const struct stb_leftover *l = &s->left.items[i];

		stb_err_clear(&err);
		switch (undo(s, l, p, &err)) {
		case STB_UNDO_FAILED:
			stb_exec_print_error(p, &err, stderr);
			if (is_tables(l))
				stb_tables_print_sql(p, l->object, "  ", stderr);
			n_failed++;
			continue;
		case STB_UNDONE:
			fprintf(out, "removed %s %s\n", l->kind, l->object);
			break;
		case STB_UNDO_GONE:
			fprintf(out, "gone already: %s %s\n", l->kind, l->object);
			break;
		case STB_UNDO_FOREIGN:
			fprintf(out, "left alone: %s %s is not this run's\n", l->kind, l->object);
			break;
		}
		fflush(out); /* else it would stand behind the errors that follow on it, where both go to one place */
		stb_journal_add(j, json_pack("{s:s,s:s,s:s}", "ev", "gone", "kind", l->kind, "object", l->object));
	}
	return n_failed;
}

int stb_journal_take(struct stb_journal_story *s, struct stb_journal *j, const char *dir, stb_journal_fn *fn, void *ctx, struct stb_err *err)
{
	char *path;
	int rc = -1;

	j->fd = -1;
	if (asprintf(&path, "%s/journal.jsonl", dir) < 0)
		STB_BUG("out of memory");
	/* looked at before it is locked, so that the process at work can be named, and read once nobody else writes */
	if (stb_journal_read(s, path, NULL, NULL, err))
		goto out;
	if (!s->n_sessions) {
		stb_err_set(err, 0, "`%s` does not begin with the mark of a run", path);
		stb_err_remedy(err, "name the directory of a run, as `stb run` printed it");
	} else if (stb_journal_running(s)) {
		stb_err_set(err, 0, "the run in `%s` is still going on (process %d)", dir, (int)s->pid);
		stb_err_remedy(err, "wait for its end, or stop it: kill %d", (int)s->pid);
	} else if (!stb_journal_open(j, path, false, err)) {
		stb_journal_story_fini(s);
		rc = stb_journal_read(s, path, fn, ctx, err);
		if (!rc && stb_journal_mend(j, s, err)) {
			stb_journal_story_fini(s);
			rc = -1;
		}
		if (rc)
			stb_journal_close(j);
		goto out;
	}
	stb_journal_story_fini(s);
out:
	free(path);
	return rc;
}

/* Only tables on a server that stays need it; the other things say themselves whose they are. NULL without it, which undo() then says. */
static struct stb_plan *load_plan(const struct stb_journal_story *s, const char *dir, struct stb_err *err)
{
	struct stb_plan *p = NULL;
	char *path;

	for (size_t i = 0; i < s->left.n && !p && !err->set; i++) {
		if (!is_tables(&s->left.items[i]))
			continue;
		if (asprintf(&path, "%s/plan.json", dir) < 0)
			STB_BUG("out of memory");
		if (stb_plan_load(&p, path, err))
			p = NULL;
		free(path);
	}
	return p;
}

int stb_exec_clean(const char *dir)
{
	struct stb_plan *p;
	struct stb_journal_story s;
	struct stb_journal j;
	struct stb_err err;
	size_t n_failed;
	bool journal_failed;

	stb_err_clear(&err);
	if (stb_journal_take(&s, &j, dir, NULL, NULL, &err)) {
		stb_exec_print_error(NULL, &err, stderr);
		return STB_EXIT_ENVIRONMENT;
	}
	p = load_plan(&s, dir, &err);
	if (err.set)
		stb_exec_print_error(NULL, &err, stderr);
	n_failed = stb_journal_undo(&j, &s, p, stdout);
	stb_plan_free(p);
	if (!s.left.n)
		printf("nothing is left of this run\n");
	if (n_failed)
		fprintf(stderr, "stb: error: %zu of %zu could not be removed\n", n_failed, s.left.n);
	if (j.err.set) /* it will be called gone already then */
		stb_exec_print_error(NULL, &j.err, stderr);
	journal_failed = j.err.set;
	stb_journal_close(&j);
	stb_journal_story_fini(&s);
	return n_failed || journal_failed ? STB_EXIT_LEFTOVERS : STB_EXIT_OK;
}
