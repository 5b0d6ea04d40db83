/*
 * signals.h - SIGINT, SIGTERM and SIGHUP of a run: noted, never acted upon at once, so that clean-up always happens.
 *
 * They are blocked and read from a descriptor; one that was ignored when we started (nohup, a background job of a shell without job control)
 * stays ignored. A second one does not skip clean-up: it takes the patience with a private server away.
 */
#ifndef STB_SIGNALS_H
#define STB_SIGNALS_H

#include "runtime/base/err.h"

#include <signal.h>

struct stb_signals {
	int fd;          /* readable when one has come */
	sigset_t before; /* the mask that children get back */
	int first;       /* the first that came, 0: none */
	uint32_t count;
};

STB_NODISCARD int stb_signals_open(struct stb_signals *s, struct stb_err *err);
/* Reads what has come; the first signal's number, 0 while there was none. */
int stb_signals_check(struct stb_signals *s);
/* In a forked child: the mask of before. */
void stb_signals_child(const struct stb_signals *s);
void stb_signals_close(struct stb_signals *s);

#endif
