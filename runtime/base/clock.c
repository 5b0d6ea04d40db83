/*
 * clock.c - wall clock texts and sleeping to an instant.
 */
#include "runtime/base/clock.h"

#include <errno.h>
#include <stdio.h>

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
