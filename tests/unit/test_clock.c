/*
 * The counter that hot loops read, against the clock that it stands for.
 */
#include "runtime/base/clock.h"

#include <criterion/criterion.h>

Test(clock, ticker_scales_counts_to_nanoseconds)
{
	struct stb_ticker t;

	cr_expect(stb_ticker_scale(&t, 1000, 5000, 1000 + 2600000000ull, 5000 + 1000000000ull)); /* 2.6 GHz */
	cr_expect_eq(stb_ticker_at(&t, 1000 + 2600000000ull), 1000005000ull);
	cr_expect(stb_ticker_at(&t, 1000 + 2 * 2600000000ull) - 2000005000ull + 1 <= 2);
	/* a month later: no overflow, and off by less than a part in a thousand million */
	cr_expect(stb_ticker_at(&t, 1000 + 2600000000ull * 86400 * 30) > 86400ull * 30 * 1000000000 - 3000000);
	cr_expect(stb_ticker_at(&t, 1000 + 2600000000ull * 86400 * 30) <= 86400ull * 30 * 1000000000 + 5000);
}

Test(clock, ticker_takes_no_rate_from_counts_that_make_none)
{
	struct stb_ticker t;

	cr_expect_not(stb_ticker_scale(&t, 10, 0, 10, 1000));
	cr_expect_eq(t.mult, 0);
	cr_expect_not(stb_ticker_scale(&t, 20, 0, 10, 1000));
	cr_expect_not(stb_ticker_scale(&t, 10, 1000, 20, 1000));
	cr_expect_not(stb_ticker_scale(&t, 0, 0, 1, 1000000), "a counter of 1 kHz");
}

/* Without a trusted counter it is the clock itself. */
Test(clock, ticker_without_a_rate_is_the_clock)
{
	const struct stb_ticker t = { 0, 0, 0 };
	const uint64_t before = stb_clock_ns(), ticked = stb_ticker_ns(&t), after = stb_clock_ns();

	cr_expect(before <= ticked && ticked <= after);
}

Test(clock, ticker_goes_with_the_clock)
{
	struct stb_ticker t;
	uint64_t last = 0, ticks, ns;

	stb_ticker_init(&t);
	ticks = stb_ticker_ns(&t);
	ns = stb_clock_ns();
	for (int i = 0; i < 100000; i++) {
		const uint64_t now = stb_ticker_ns(&t);

		cr_assert_geq(now, last);
		last = now;
	}
	(void)stb_clock_sleep_until(ns + 50000000);
	ticks = stb_ticker_ns(&t) - ticks;
	ns = stb_clock_ns() - ns;
	cr_expect(ticks > ns / 2 && ticks < ns * 2, "%llu ticks in %llu ns", (unsigned long long)ticks, (unsigned long long)ns);
}
