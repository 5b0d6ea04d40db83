/*
 * clock.h - time as nanoseconds of CLOCK_MONOTONIC; wall clock only for names and records.
 */
#ifndef STB_CLOCK_H
#define STB_CLOCK_H

#include "runtime/base/base.h"

#include <time.h>

#define STB_NS_PER_S 1000000000ull

static inline uint64_t stb_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * STB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* "20261130T102215Z" of now: for the names of run directories. out has room for 17 bytes. */
void stb_clock_utc_name(char out[17]);
/* RFC 3339 in local time with its offset, "2026-11-30T11:22:15+01:00". out has room for 26 bytes. */
void stb_clock_rfc3339(char out[26]);
/* Sleeps until the CLOCK_MONOTONIC instant; returns early only on a signal (then -EINTR). */
int stb_clock_sleep_until(uint64_t at_ns);

#endif
