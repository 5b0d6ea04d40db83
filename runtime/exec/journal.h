/*
 * journal.h - the append-only record of a run: one JSON object a line.
 *
 *   {"t":"...","ev":"start","mark":"...","pid":1,"pid_start":2,"boot":"...","plan":"<hash>","version":"..."}
 *   {"ev":"made","kind":"dir","object":"/var/tmp/stb-..."}      before it is made: a kill in between leaves at most an object too many
 *   {"ev":"gone","kind":"dir","object":"/var/tmp/stb-..."}      after it is undone
 *   {"ev":"begin","op":"measure","group":"..","cell":"..","slot":1,"repetition":1}     {"ev":"end", the same, "error":".."}
 *   {"ev":"result","cell":"..","slot":1,"repetition":1,"status":"ok","metrics":{"iops":..}}
 *   {"ev":"finish","exit":0}
 *
 * Each session of a run (the first, and every `stb resume`) begins with a start record and has a mark of its own; what it makes carries that
 * mark. Of several results of one repetition the last one counts: resume measures again what failed.
 *
 * Every record is one write followed by fdatasync, so what a reader finds has happened or was about to happen. A torn last line (no line
 * end, or no JSON) is skipped: one record is lost at most. Written by the parent alone, never during a measured phase. Whoever
 * has the journal open for writing holds a lock on it, so that a run, a resume and a clean of one directory exclude each other; the measuring
 * process inherits it, so the lock also says when the last one of a killed run has ended.
 */
#ifndef STB_JOURNAL_H
#define STB_JOURNAL_H

#include "runtime/base/buf.h"
#include "runtime/base/err.h"
#include "runtime/base/process.h"

#include <stdio.h>
#include <sys/types.h>

#define STB_MARK_LEN 12 /* hex digits: it is part of socket paths, which are short */

struct json_t;
struct stb_plan;

struct stb_journal {
	int fd;            /* -1: closed */
	char *path;        /* for messages */
	struct stb_err err;/* the first failure; .set once writing has failed */
};

/* Creates the file (create) or opens it for appending, and locks it. 0 or -1 with *err: also where another process has it open. */
STB_NODISCARD int stb_journal_open(struct stb_journal *j, const char *path, bool create, struct stb_err *err);
void stb_journal_close(struct stb_journal *j);
/* from is closed behind it. */
void stb_journal_move(struct stb_journal *to, struct stb_journal *from);
/* What to do where something of a run's directory cannot be written, by errno. */
void stb_run_dir_remedy(struct stb_err *err, int code);
/* Appends a record with the local time added and takes the reference. Failures are kept in j->err. */
void stb_journal_add(struct stb_journal *j, struct json_t *record);

struct stb_leftover {
	char *kind, *object;
	uint32_t session; /* which made it, where a journal tells: index into the story's marks */
};

struct stb_leftovers { /* in the order they were made */
	struct stb_leftover *items;
	size_t n, cap;
};

void stb_leftovers_note(struct stb_leftovers *l, int made, const char *kind, const char *object);
void stb_leftovers_fini(struct stb_leftovers *l);

/* What a journal tells about a run. */
struct stb_journal_story {
	char **marks;          /* of the sessions, STB_MARK_LEN hex digits each */
	uint32_t n_sessions, cap_sessions; /* 0: there is no start record with a mark */
	pid_t pid;             /* of the last session, as what follows */
	uint64_t pid_start;    /* as stb_process_start() */
	bool same_boot;        /* the machine was not started anew since; true where the record does not say */
	bool finished;
	struct stb_leftovers left;
	size_t n_records, n_torn; /* torn: the last line, 0 or 1 */
	size_t good_bytes;     /* up to the torn line */
};

/* Sees every record in order, each valid during the call; anything but 0 ends the reading (with *err set). */
typedef int stb_journal_fn(void *ctx, const struct json_t *record, struct stb_err *err);

/* fn may be NULL. 0, or -1 with *err: unreadable, a broken line before the last, or what fn said. */
STB_NODISCARD int stb_journal_read(struct stb_journal_story *s, const char *path, stb_journal_fn *fn, void *ctx, struct stb_err *err);
void stb_journal_story_fini(struct stb_journal_story *s);
/* Whether the process of the last session still works on it. */
bool stb_journal_running(const struct stb_journal_story *s);
/* Takes a torn last line away, or the next record would be glued to it. 0 or -1 with *err. */
STB_NODISCARD int stb_journal_mend(struct stb_journal *j, const struct stb_journal_story *s, struct stb_err *err);

/*
 * clean.c: the journal of the run in dir, read, locked for appending and mended. 0; or -1 with *err: it is none, or the run still goes on; then
 * there is nothing to close.
 */
STB_NODISCARD int stb_journal_take(struct stb_journal_story *s, struct stb_journal *j, const char *dir, stb_journal_fn *fn, void *ctx,
	struct stb_err *err);
/* clean.c: undoes what the sessions left, last made first, and records it; says so on out, and on standard error what cannot be. The number of those. p: the run's plan, NULL: without tables on a server that stays nobody asks for it. */
STB_NODISCARD size_t stb_journal_undo(struct stb_journal *j, const struct stb_journal_story *s, const struct stb_plan *p, FILE *out);

#endif
