/*
 * clean.c - what a killed run left behind, undone by its journal in the reverse order of making.
 *
 * Only what the journal names is touched, and of that only what carries the run's mark: the rooms that made it look for the mark
 * themselves. A run that still works is left alone; its process is told by number and start time.
 */
#include "runtime/db/db.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/journal.h"
#include "runtime/storage/storage.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum stb_undo undo(const struct stb_journal_story *s, const struct stb_leftover *l, struct stb_err *err)
{
	if (!strcmp(l->kind, "pid") || !strcmp(l->kind, "socket"))
		return stb_mysqld_undo(s->mark, l->kind, l->object, err);
	return stb_storage_undo(s->mark, l->kind, l->object, err);
}

static int refuse(const struct stb_err *err)
{
	stb_exec_print_error(NULL, err, stderr);
	return STB_EXIT_ENVIRONMENT;
}

static int undo_all(struct stb_journal_story *s, const char *path)
{
	struct stb_journal j;
	struct stb_err err;
	size_t n_failed = 0;
	const size_t n = s->left.n;

	stb_err_clear(&err);
	if (stb_journal_open(&j, path, false, &err))
		return refuse(&err);
	/* a torn last line goes, or the next record would be glued to it */
	if (s->n_torn && ftruncate(j.fd, (off_t)s->good_bytes)) {
		stb_err_set(&err, errno, "cannot write the journal `%s`", path);
		stb_journal_close(&j);
		return refuse(&err);
	}
	for (size_t i = n; i-- > 0;) {
		const struct stb_leftover *l = &s->left.items[i];

		stb_err_clear(&err);
		switch (undo(s, l, &err)) {
		case STB_UNDO_FAILED:
			stb_exec_print_error(NULL, &err, stderr);
			n_failed++;
			continue;
		case STB_UNDONE:
			printf("removed %s %s\n", l->kind, l->object);
			break;
		case STB_UNDO_GONE:
			printf("gone already: %s %s\n", l->kind, l->object);
			break;
		case STB_UNDO_FOREIGN:
			printf("left alone: %s %s is not this run's\n", l->kind, l->object);
			break;
		}
		stb_journal_add(&j, json_pack("{s:s,s:s,s:s}", "ev", "gone", "kind", l->kind, "object", l->object));
	}
	stb_journal_close(&j);
	if (!n)
		printf("nothing is left of this run\n");
	if (n_failed)
		fprintf(stderr, "stb: error: %zu of %zu could not be removed\n", n_failed, n);
	return n_failed ? STB_EXIT_LEFTOVERS : STB_EXIT_OK;
}

int stb_exec_clean(const char *dir)
{
	struct stb_journal_story s;
	struct stb_err err;
	char *path;
	int code;

	stb_err_clear(&err);
	if (asprintf(&path, "%s/journal.jsonl", dir) < 0)
		STB_BUG("out of memory");
	if (stb_journal_read(&s, path, &err)) {
		code = refuse(&err);
		goto out;
	}
	if (!s.mark) {
		stb_err_set(&err, 0, "`%s` does not begin with the mark of a run", path);
		stb_err_remedy(&err, "name the directory of a run, as `stb run` printed it");
		code = refuse(&err);
	} else if (!s.finished && s.pid_start && stb_process_start(s.pid) == s.pid_start) {
		stb_err_set(&err, 0, "the run in `%s` is still going on (process %d)", dir, (int)s.pid);
		stb_err_remedy(&err, "stop it first: kill %d", (int)s.pid);
		code = refuse(&err);
	} else {
		code = undo_all(&s, path);
	}
	stb_journal_story_fini(&s);
out:
	free(path);
	return code;
}
