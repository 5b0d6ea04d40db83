/* journal.c - see journal.h for the records and what they promise. */
#include "runtime/exec/journal.h"

#include "runtime/base/clock.h"
#include "runtime/exec/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_JOURNAL_BYTES (1u << 30)
#define LOCK_TRIES 30
#define LOCK_STEP_NS (STB_NS_PER_S / 10)

/* The measuring process of a run that was just killed may hold the lock for a moment longer. Where a file system has no locks, there is none. */
static int lock(int fd)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK)
			return 0;
		if (i >= LOCK_TRIES)
			return -1;
		(void)stb_clock_sleep_until(stb_clock_ns() + LOCK_STEP_NS);
	}
	return 0;
}

static int refused(struct stb_err *err, const char *what, const char *path, int code)
{
	stb_err_set(err, code, "cannot %s the journal `%s`", what, path);
	stb_run_dir_remedy(err, code);
	return -1;
}

void stb_run_dir_remedy(struct stb_err *err, int code)
{
	switch (code) {
	case EACCES:
	case EPERM:
	case EROFS:
		stb_err_remedy(err, "this writes to the run's directory: do it as the user who made the run, where its file system is mounted for writing");
		break;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		stb_err_remedy(err, "make space on the file system that the run's directory lies on");
		break;
	default:
		stb_err_remedy(err, "the run's directory must be whole, on a file system that can be written to and has space");
	}
}

int stb_journal_open(struct stb_journal *j, const char *path, bool create, struct stb_err *err)
{
	stb_err_clear(&j->err);
	j->path = NULL;
	j->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT | O_EXCL : 0), 0644);
	if (j->fd < 0)
		return refused(err, "open", path, errno);
	j->path = stb_xstrdup(path);
	if (!lock(j->fd))
		return 0;
	stb_err_set(err, 0, "another process is at work on the journal `%s`", path);
	stb_err_remedy(err, "wait until it has ended; `fuser '%s'` names it", path);
	stb_journal_close(j);
	return -1;
}

void stb_journal_move(struct stb_journal *to, struct stb_journal *from)
{
	*to = *from;
	from->fd = -1;
	from->path = NULL;
}

void stb_journal_close(struct stb_journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	j->fd = -1;
	j->path = NULL;
}

void stb_journal_add(struct stb_journal *j, struct json_t *record)
{
	char now[26], *line = NULL;
	size_t len;

	stb_clock_rfc3339(now);
	json_object_set_new(record, "t", json_string(now));
	line = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(record);
	if (!line) {
		stb_err_set(&j->err, 0, "cannot make a journal record");
		return;
	}
	len = strlen(line);
	line[len] = '\n'; /* over the NUL: one write is one line */
	if (j->fd >= 0 && (stb_write_all(j->fd, line, len + 1) || fdatasync(j->fd)) && !j->err.set)
		(void)refused(&j->err, "write", j->path, errno);
	free(line);
}

void stb_leftovers_note(struct stb_leftovers *l, int made, const char *kind, const char *object)
{
	if (made) {
		STB_GROW(l->items, l->n, l->cap);
		l->items[l->n++] = (struct stb_leftover){ stb_xstrdup(kind), stb_xstrdup(object), 0 };
		return;
	}
	for (size_t i = l->n; i-- > 0;) {
		if (strcmp(l->items[i].kind, kind) || strcmp(l->items[i].object, object))
			continue;
		free(l->items[i].kind);
		free(l->items[i].object);
		memmove(&l->items[i], &l->items[i + 1], (l->n - i - 1) * sizeof l->items[0]);
		l->n--;
		return;
	}
}

void stb_leftovers_fini(struct stb_leftovers *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].kind);
		free(l->items[i].object);
	}
	free(l->items);
	memset(l, 0, sizeof *l);
}

/* A mark selects what may be removed, so nothing else passes for one. */
static bool is_mark(const char *s)
{
	return s && strlen(s) == STB_MARK_LEN && strspn(s, "0123456789abcdef") == STB_MARK_LEN;
}

static void take_start(struct stb_journal_story *s, const json_t *r)
{
	const char *mark = json_string_value(json_object_get(r, "mark")), *boot = json_string_value(json_object_get(r, "boot"));
	char now[STB_BOOT_ID];

	if (!is_mark(mark))
		return;
	stb_boot_id(now);
	STB_GROW(s->marks, s->n_sessions, s->cap_sessions);
	s->marks[s->n_sessions++] = stb_xstrdup(mark);
	s->pid = (pid_t)json_integer_value(json_object_get(r, "pid"));
	s->pid_start = (uint64_t)json_integer_value(json_object_get(r, "pid_start"));
	s->same_boot = !boot || !*boot || !strcmp(boot, now);
	s->finished = false;
}

static void take_record(struct stb_journal_story *s, const json_t *r)
{
	const char *ev = json_string_value(json_object_get(r, "ev"));
	const char *kind = json_string_value(json_object_get(r, "kind"));
	const char *object = json_string_value(json_object_get(r, "object"));

	s->n_records++;
	if (!ev)
		return;
	if (!strcmp(ev, "start")) {
		take_start(s, r);
	} else if (!strcmp(ev, "made") && kind && object && s->n_sessions) {
		stb_leftovers_note(&s->left, 1, kind, object);
		s->left.items[s->left.n - 1].session = s->n_sessions - 1;
	} else if (!strcmp(ev, "gone") && kind && object) {
		stb_leftovers_note(&s->left, 0, kind, object);
	} else if (!strcmp(ev, "finish")) {
		s->finished = true;
	}
}

static char *read_file(const char *path, size_t *len, struct stb_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *data = NULL;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &st)) {
		stb_err_set(err, errno, "cannot read the journal `%s`", path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_JOURNAL_BYTES) {
		stb_err_set(err, 0, "`%s` is no journal: not a regular file of at most 1GiB", path);
		goto fail;
	}
	data = stb_xmalloc((size_t)st.st_size + 1);
	while (got < (size_t)st.st_size) {
		const ssize_t n = read(fd, data + got, (size_t)st.st_size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			stb_err_set(err, errno, "cannot read the journal `%s`", path);
			goto fail;
		}
		if (!n)
			break;
		got += (size_t)n;
	}
	close(fd);
	data[got] = '\0';
	*len = got;
	return data;
fail:
	stb_err_remedy(err, "name the directory of a run, as `stb run` printed it");
	free(data);
	if (fd >= 0)
		close(fd);
	return NULL;
}

int stb_journal_read(struct stb_journal_story *s, const char *path, stb_journal_fn *fn, void *ctx, struct stb_err *err)
{
	size_t len = 0, line = 0;
	char *data;
	int rc = 0;

	memset(s, 0, sizeof *s);
	data = read_file(path, &len, err);
	if (!data)
		return -1;
	for (size_t at = 0; at < len && !rc;) {
		const char *nl = memchr(data + at, '\n', len - at);
		const size_t n = nl ? (size_t)(nl - (data + at)) : len - at;
		json_t *r = nl ? json_loadb(data + at, n, 0, NULL) : NULL;
		const bool last = at + n + 1 >= len;

		line++;
		if (json_is_object(r)) {
			take_record(s, r);
			rc = fn ? fn(ctx, r, err) : 0;
		} else if (last) {
			s->n_torn = 1;
			s->good_bytes = at;
		} else {
			rc = stb_err_set(err, 0, "journal `%s` is damaged at line %zu", path, line);
			stb_err_remedy(err, "remove by hand what its lines with \"made\" name");
		}
		json_decref(r);
		at += n + 1;
	}
	if (!s->n_torn)
		s->good_bytes = len;
	free(data);
	if (rc)
		stb_journal_story_fini(s);
	return rc;
}

void stb_journal_story_fini(struct stb_journal_story *s)
{
	for (uint32_t i = 0; i < s->n_sessions; i++)
		free(s->marks[i]);
	free(s->marks);
	stb_leftovers_fini(&s->left);
	memset(s, 0, sizeof *s);
}

bool stb_journal_running(const struct stb_journal_story *s)
{
	return !s->finished && s->same_boot && s->pid_start && stb_process_start(s->pid) == s->pid_start;
}

int stb_journal_mend(struct stb_journal *j, const struct stb_journal_story *s, struct stb_err *err)
{
	if (!s->n_torn || !ftruncate(j->fd, (off_t)s->good_bytes))
		return 0;
	return refused(err, "take the torn last line out of", j->path, errno);
}
