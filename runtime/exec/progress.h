/*
 * progress.h - what a run shows while it works: on a terminal one redrawn line, otherwise one plain line a step.
 *
 *   [######..............]  7/24 disk / randwrite_4k #2  measure  12.3k IOPS  0:42 left
 */
#ifndef STB_PROGRESS_H
#define STB_PROGRESS_H

#include "runtime/base/buf.h"

#include <stdio.h>

struct stb_progress_view {
	double share;          /* of the estimated time, 0..1 */
	uint64_t done, total;  /* measurements */
	const char *what;      /* "disk / randwrite_4k #2" */
	const char *phase;     /* "measure" */
	const char *figure;    /* "12.3k IOPS", "" for none */
	uint64_t left_ns;
	bool left_known;
};

/*
 * One line of at most `columns` display columns, without a line end. What is too long is left out from the least important on: the bar
 * shrinks, then `what` is cut with an ellipsis, then figure and phase go.
 */
void stb_progress_line(struct stb_buf *out, const struct stb_progress_view *v, size_t columns);

struct stb_progress {
	FILE *out;
	bool live;      /* a terminal */
	bool drawn;     /* a line without line end stands there */
	struct stb_buf line;
};

void stb_progress_init(struct stb_progress *p, FILE *out);
void stb_progress_fini(struct stb_progress *p);
/* Redraws; nothing on what is no terminal. */
void stb_progress_draw(struct stb_progress *p, const struct stb_progress_view *v);
/* A line that stays, in both forms. */
void stb_progress_say(struct stb_progress *p, const char *fmt, ...) STB_PRINTF(2, 3);
/* Takes the redrawn line away, before something else is printed. */
void stb_progress_clear(struct stb_progress *p);

#endif
