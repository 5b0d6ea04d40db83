/*
 * clock.c - wall clock texts, sleeping to an instant, the calibration of the counter that hot loops read.
 */
#include "runtime/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATE_NS 10000000u
#define TRIES 5

void stb_clock_utc_name(char out[17])
{
	const time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	if (!strftime(out, 17, "%Y%m%dT%H%M%SZ", &tm))
		out[0] = '\0';
}

void stb_clock_rfc3339(char out[26])
{
	const time_t now = time(NULL);
	char date[20], zone[8];
	struct tm tm;

	localtime_r(&now, &tm);
	if (!strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) || !strftime(zone, sizeof(zone), "%z", &tm)) {
		out[0] = '\0';
		return;
	}
	snprintf(out, 26, "%.19s%.3s:%.2s", date, zone, zone + 3);
}

int stb_clock_sleep_until(uint64_t at_ns)
{
	const struct timespec at = { .tv_sec = (time_t)(at_ns / STB_NS_PER_S), .tv_nsec = (long)(at_ns % STB_NS_PER_S) };

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

bool stb_ticker_scale(struct stb_ticker *t, uint64_t counter0, uint64_t ns0, uint64_t counter1, uint64_t ns1)
{
	unsigned __int128 mult;

	*t = (struct stb_ticker){ 0, 0, 0 };
	if (counter1 <= counter0 || ns1 <= ns0)
		return false;
	mult = ((unsigned __int128)(ns1 - ns0) << 32) / (counter1 - counter0);
	if (mult == 0 || mult >> 40) /* slower than 4 MHz: no such counter */
		return false;
	*t = (struct stb_ticker){ (uint64_t)mult, counter1, ns1 };
	return true;
}

#if defined(__x86_64__)

/* The processor promises a rate that never changes (AMD and Intel: invariant TSC), and the kernel has not marked the counter unstable. */
static bool counter_is_trusted(void)
{
	unsigned a, b, c, d = 0;
	char line[256] = "";
	bool ok;
	FILE *f;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
		return false;
	f = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
	if (!f)
		return false;
	ok = fgets(line, sizeof(line), f) && (!strncmp(line, "tsc ", 4) || strstr(line, " tsc"));
	fclose(f);
	return ok;
}

/* Counter and clock at one instant: of a few tries the one that was interrupted least. */
static void both(uint64_t *counter, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = __builtin_ia32_rdtsc();
		const uint64_t now = stb_clock_ns();
		const uint64_t after = __builtin_ia32_rdtsc();

		if (after - before < best) {
			best = after - before;
			*counter = before + best / 2;
			*ns = now;
		}
	}
}

void stb_ticker_init(struct stb_ticker *t)
{
	uint64_t counter0 = 0, counter1 = 0, ns0 = 0, ns1 = 0;

	*t = (struct stb_ticker){ 0, 0, 0 };
	if (!counter_is_trusted())
		return;
	both(&counter0, &ns0);
	(void)stb_clock_sleep_until(ns0 + CALIBRATE_NS);
	both(&counter1, &ns1);
	(void)stb_ticker_scale(t, counter0, ns0, counter1, ns1);
}

#else

void stb_ticker_init(struct stb_ticker *t)
{
	*t = (struct stb_ticker){ 0, 0, 0 };
}

#endif
