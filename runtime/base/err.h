/*
 * err.h - the world refuses: what was being done, to what, why not, and what to do about it.
 *
 * An error is a chain, outermost first: {operation, object, reason, remedy}. It lives in the caller's storage with inline text, so
 * that it can cross a fork in shared memory. Plain data, no ownership.
 */
#ifndef STB_ERR_H
#define STB_ERR_H

#include "runtime/base/base.h"

#define STB_ERR_TEXT 1024

struct stb_err {
	int code;          /* positive errno, or 0 where none applies; stb_err_set() makes .set true either way */
	bool set;
	uint32_t span;     /* index into the plan's spans + 1: the spec line that asked for it; 0 unknown */
	char what[STB_ERR_TEXT];   /* "cannot mount /dev/loop3 on /run/x (ext4): Operation not permitted" */
	char remedy[STB_ERR_TEXT]; /* "run as root, or use a directory storage class"; may be empty */
};

void stb_err_clear(struct stb_err *e);
/* Sets operation + object + reason; appends ": strerror(code)" when code is not 0. Returns -1, so `return stb_err_set(...)`. */
int stb_err_set(struct stb_err *e, int code, const char *fmt, ...) STB_PRINTF(3, 4);
/* Puts "context: " in front of what is there already. Returns -1. */
int stb_err_wrap(struct stb_err *e, const char *fmt, ...) STB_PRINTF(2, 3);
void stb_err_remedy(struct stb_err *e, const char *fmt, ...) STB_PRINTF(2, 3);

#endif
