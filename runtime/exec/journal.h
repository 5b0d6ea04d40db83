/*
 * journal.h - the append-only record of a run: one JSON object a line.
 *
 *   {"t":"...","ev":"start","mark":"...","pid":1,"pid_start":2,"plan":"<hash>","version":"..."}
 *   {"ev":"made","kind":"dir","object":"/var/tmp/stb-..."}      before it is made: a kill in between leaves at most an object too many
 *   {"ev":"gone","kind":"dir","object":"/var/tmp/stb-..."}      after it is undone
 *   {"ev":"begin","op":"measure","group":"..","cell":"..","slot":1,"repetition":1}     {"ev":"end", the same, "error":".."}
 *   {"ev":"result","cell":"..","slot":1,"repetition":1,"status":"ok","metrics":{"iops":..}}
 *   {"ev":"finish","exit":0}
 *
 * Every record is one write followed by fdatasync, so what a reader finds has happened or was about to happen. A torn last line (no line
 * end, or no JSON) is skipped: one record is lost at most. Written by the parent alone, never during a measured phase.
 */
#ifndef STB_JOURNAL_H
#define STB_JOURNAL_H

#include "runtime/base/buf.h"
#include "runtime/base/err.h"

#include <sys/types.h>

#define STB_MARK_LEN 12 /* hex digits: it is part of socket paths, which are short */

struct json_t;

struct stb_journal {
	int fd;            /* -1: closed */
	struct stb_err err;/* the first failure; .set once writing has failed */
};

/* Creates the file (create) or opens it for appending. 0 or -1 with *err. */
STB_NODISCARD int stb_journal_open(struct stb_journal *j, const char *path, bool create, struct stb_err *err);
void stb_journal_close(struct stb_journal *j);
/* Appends a record with the local time added and takes the reference. Failures are kept in j->err. */
void stb_journal_add(struct stb_journal *j, struct json_t *record);

struct stb_leftover {
	char *kind, *object;
};

struct stb_leftovers { /* in the order they were made */
	struct stb_leftover *items;
	size_t n, cap;
};

void stb_leftovers_note(struct stb_leftovers *l, int made, const char *kind, const char *object);
void stb_leftovers_fini(struct stb_leftovers *l);

/* What a journal tells about a run. */
struct stb_journal_story {
	char *mark;            /* STB_MARK_LEN hex digits; NULL: there is no start record with one */
	pid_t pid;
	uint64_t pid_start;    /* as stb_process_start() */
	bool finished;
	struct stb_leftovers left;
	size_t n_records, n_torn; /* torn: the last line, 0 or 1 */
	size_t good_bytes;     /* up to the torn line */
};

/* 0, or -1 with *err: unreadable, or a broken line before the last. */
STB_NODISCARD int stb_journal_read(struct stb_journal_story *s, const char *path, struct stb_err *err);
void stb_journal_story_fini(struct stb_journal_story *s);

/* When the process started, in clock ticks since boot (tells a reused pid); 0 where there is no such process. */
uint64_t stb_process_start(pid_t pid);

#endif
