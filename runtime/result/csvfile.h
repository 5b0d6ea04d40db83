/*
 * csvfile.h - reads a CSV file record by record. Inside runtime/result only.
 */
#ifndef STB_CSVFILE_H
#define STB_CSVFILE_H

#include "runtime/base/err.h"

enum { STB_CSV_MAX_FIELDS = 256, STB_CSV_MAX_RECORD = 65536 };

struct stb_csv_record {
	const char *path;
	uint32_t line;  /* 1-based, where the record begins */
	uint32_t n;
	const char *field[STB_CSV_MAX_FIELDS]; /* NUL-terminated, no NUL inside, valid during the call */
};

/* Sees every record in order, the header first; anything but 0 ends the reading (with *err set). */
typedef int stb_csv_fn(void *ctx, const struct stb_csv_record *rec, struct stb_err *err);

/* What an interrupted writer leaves at the end of a file of whose lines each ends with LF: see stb_csv_read(). */
struct stb_csv_tail {
	bool ended;    /* in: every line of this file ends with LF. The callback may set it, once it has seen whose file it is. */
	bool torn;     /* out: the last line has no LF; it was not handed over */
	bool open;     /* out: the last line has no LF in a file that need not have one; it was handed over */
	uint32_t line; /* of the torn or open one */
	char text[64]; /* how it begins, fit to be shown */
};

/*
 * RFC 4180; LF or CRLF, a byte order mark and empty lines are passed over. Refuses what is no regular file, NUL bytes, bad quoting and records beyond
 * the limits above. tail NULL: the last line may lack its LF. 0, or -1 with *err.
 */
STB_NODISCARD int stb_csv_read(const char *path, stb_csv_fn *fn, void *ctx, struct stb_csv_tail *tail, struct stb_err *err);
/* "FILE:LINE: ..." into *err; returns -1. */
int stb_csv_refuse(const struct stb_csv_record *rec, struct stb_err *err, const char *fmt, ...) STB_PRINTF(3, 4);
/* Text of a file as messages show it: short, and without control characters. */
const char *stb_csv_shown(const char *s, size_t len, char out[64]);

#endif
