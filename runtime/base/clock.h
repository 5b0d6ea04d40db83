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

/*
 * The clock of hot loops: the time-stamp counter, scaled to nanoseconds of CLOCK_MONOTONIC, where the processor says that it never stops and
 * the kernel has found no fault in it; clock_gettime everywhere else. Read-only once it is set up, so threads may share it. Within a few
 * parts in a million of CLOCK_MONOTONIC, so instants of the two may differ by microseconds a second: compare like with like.
 */
struct stb_ticker {
	uint64_t mult; /* ns = base_ns + ((counter - base) * mult >> 32); 0: clock_gettime */
	uint64_t base, base_ns;
};

/* Calibrates for about 10 ms. */
void stb_ticker_init(struct stb_ticker *t);
/* The same from counts taken by hand; for tests. False: they make no rate, and the ticker is clock_gettime. */
bool stb_ticker_scale(struct stb_ticker *t, uint64_t counter0, uint64_t ns0, uint64_t counter1, uint64_t ns1);

static inline uint64_t stb_ticker_at(const struct stb_ticker *t, uint64_t counter)
{
	return t->base_ns + (uint64_t)(((unsigned __int128)(counter - t->base) * t->mult) >> 32);
}

static inline uint64_t stb_ticker_ns(const struct stb_ticker *t)
{
#if defined(__x86_64__)
	if (__builtin_expect(t->mult != 0, 1))
		return stb_ticker_at(t, __builtin_ia32_rdtsc());
#endif
	return stb_clock_ns();
}

/* "20261130T102215Z" of now: for the names of run directories. out has room for 17 bytes. */
void stb_clock_utc_name(char out[17]);
/* RFC 3339 in local time with its offset, "2026-11-30T11:22:15+01:00". out has room for 26 bytes. */
void stb_clock_rfc3339(char out[26]);
/* Sleeps until the CLOCK_MONOTONIC instant; returns early only on a signal (then -EINTR). */
int stb_clock_sleep_until(uint64_t at_ns);

#endif
