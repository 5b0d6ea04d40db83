/*
 * csv.c - CSV in and out; the one module that knows libcsv.
 *
 * libcsv splits fields; what it does not have is the line a record begins on and limits. So the file is handed over line by line, and the
 * fields of a record are collected here in one buffer until its end. Blanks around a field belong to it (RFC 4180), so libcsv's trimming is
 * switched off.
 */
#include "runtime/base/buf.h"
#include "runtime/result/csvfile.h"
#include "runtime/result/result.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reader {
	struct csv_parser parser;
	struct stb_csv_record rec;
	struct stb_buf text;                /* the fields of the record, each with its NUL */
	size_t start[STB_CSV_MAX_FIELDS];   /* of each field in text */
	size_t record_bytes;
	uint32_t line;
	bool inside;                        /* a record has begun and not ended */
	stb_csv_fn *fn;
	void *ctx;
	struct stb_csv_tail *tail;          /* NULL: nobody asks */
	struct stb_err *err;
	int rc;
};

int stb_csv_refuse(const struct stb_csv_record *rec, struct stb_err *err, const char *fmt, ...)
{
	struct stb_buf what;
	char text[STB_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stb_buf_init(&what);
	stb_buf_printf(&what, "%s:%u: %s", rec->path, rec->line, text);
	stb_err_set(err, 0, "%s", stb_buf_str(&what));
	stb_buf_fini(&what);
	return -1;
}

const char *stb_csv_shown(const char *s, size_t len, char out[64])
{
	size_t n = 0;

	for (; n < len && s[n] && n < 60; n++)
		out[n] = (unsigned char)s[n] < 0x20 || s[n] == 0x7f ? '?' : s[n];
	while (n < len && n && ((unsigned char)s[n] & 0xC0) == 0x80)
		n--; /* not in the middle of a character */
	out[n] = '\0';
	return out;
}

static int no_space(unsigned char c)
{
	(void)c;
	return 0;
}

static int refuse(struct reader *r, uint32_t line, const char *what, const char *remedy)
{
	if (!r->rc) {
		stb_err_set(r->err, 0, "%s:%u: %s", r->rec.path, line, what);
		stb_err_remedy(r->err, "%s", remedy);
	}
	r->rc = -1;
	return -1;
}

static void on_field(void *s, size_t len, void *ctx)
{
	struct reader *r = ctx;

	if (r->rc)
		return;
	if (r->rec.n == STB_CSV_MAX_FIELDS) {
		refuse(r, r->rec.line, "more than 256 fields in one record", "is it a results file?");
		return;
	}
	r->start[r->rec.n++] = r->text.len;
	if (len)
		stb_buf_add(&r->text, s, len);
	stb_buf_addc(&r->text, '\0');
}

static void on_record(int c, void *ctx)
{
	struct reader *r = ctx;

	(void)c;
	if (!r->rc) {
		for (uint32_t i = 0; i < r->rec.n; i++)
			r->rec.field[i] = r->text.data + r->start[i];
		r->rc = r->fn(r->ctx, &r->rec, r->err);
	}
	r->rec.n = 0;
	r->inside = false;
	stb_buf_clear(&r->text);
}

/* One line with its LF, or the last one without. */
static int feed(struct reader *r, const char *s, size_t len)
{
	r->line++;
	if (!r->inside) {
		r->rec.line = r->line;
		r->record_bytes = 0;
		r->inside = true;
	}
	r->record_bytes += len;
	if (memchr(s, '\0', len))
		return refuse(r, r->line, "a NUL byte", "the file must be UTF-8 text");
	if (r->record_bytes > STB_CSV_MAX_RECORD)
		return refuse(r, r->rec.line, "a record of more than 65536 bytes", "is a closing quote missing?");
	if (csv_parse(&r->parser, s, len, on_field, on_record, r) != len && !r->rc)
		return refuse(r, r->line, "a quote inside a field", "put the whole field into quotes and double those inside (RFC 4180)");
	/* An empty line is no record. */
	if (r->record_bytes == len && (!memcmp(s, "\n", 1) || (len == 2 && !memcmp(s, "\r\n", 2))))
		r->inside = false;
	return r->rc;
}

static int open_regular(const char *path, struct stb_err *err)
{
	/* O_NONBLOCK: a FIFO must not hold us up before it is refused. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0) {
		stb_err_set(err, errno, "cannot read `%s`", path);
		stb_err_remedy(err, "give a CSV file or a run directory that is there and may be read");
		return -1;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		stb_err_set(err, 0, "cannot read `%s`: it is no regular file", path);
		stb_err_remedy(err, "give a CSV file or a run directory");
		return -1;
	}
	return fd;
}

/* Bytes at the end of the file without a line end: whether they are known to be half a line. Then they are not a record. */
static bool is_torn(struct reader *r, const char *s, size_t len)
{
	if (!r->tail || r->inside)
		return false;
	r->tail->torn = r->tail->ended;
	r->tail->open = !r->tail->ended;
	r->tail->line = r->line + 1;
	stb_csv_shown(s, len, r->tail->text);
	return r->tail->torn;
}

/* Feeds every whole line of the buffer and moves the rest to its front; at the end of the file the rest is the last line. */
static int feed_lines(struct reader *r, char *buf, size_t *len, bool at_end)
{
	size_t from = 0;
	int rc = 0;

	while (!rc && from < *len) {
		const char *lf = memchr(buf + from, '\n', *len - from);
		const size_t end = lf ? (size_t)(lf - buf) + 1 : *len;

		if (!lf && !at_end && *len - from <= STB_CSV_MAX_RECORD)
			break; /* more of this line is to come */
		if (!r->line && end - from >= 3 && !memcmp(buf + from, "\xEF\xBB\xBF", 3))
			from += 3;
		if (end > from && (lf || !is_torn(r, buf + from, end - from)))
			rc = feed(r, buf + from, end - from);
		from = end;
	}
	*len -= from;
	memmove(buf, buf + from, *len);
	return rc;
}

static int read_lines(struct reader *r, int fd)
{
	const size_t cap = 2 * STB_CSV_MAX_RECORD;
	char *buf = stb_xmalloc(cap);
	size_t len = 0;
	int rc = 0;

	for (bool at_end = false; !rc && !at_end;) {
		const ssize_t n = read(fd, buf + len, cap - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = stb_err_set(r->err, errno, "cannot read `%s`", r->rec.path);
			break;
		}
		len += (size_t)n;
		at_end = n == 0;
		rc = feed_lines(r, buf, &len, at_end);
	}
	free(buf);
	return rc;
}

int stb_csv_read(const char *path, stb_csv_fn *fn, void *ctx, struct stb_csv_tail *tail, struct stb_err *err)
{
	struct reader *r = NULL;
	int fd, rc;

	fd = open_regular(path, err);
	if (fd < 0)
		return -1;
	r = stb_xcalloc(1, sizeof(*r));
	r->rec.path = path;
	r->fn = fn;
	r->ctx = ctx;
	r->tail = tail;
	r->err = err;
	csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI);
	csv_set_space_func(&r->parser, no_space);
	rc = read_lines(r, fd);
	if (!rc && csv_fini(&r->parser, on_field, on_record, r))
		rc = refuse(r, r->rec.line, "a quote that is never closed", "close it, or double it if it belongs to the text");
	if (!rc)
		rc = r->rc;
	csv_free(&r->parser);
	stb_buf_fini(&r->text);
	free(r);
	close(fd);
	return rc;
}

void stb_csv_field(FILE *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}
