/*
 * test_readings.c - the samples of a series by whenever its counters were read: nothing is moved to an interval in which it was not, and together they
 * hold what was counted.
 */
#include "runtime/exec/readings.h"

#include "runtime/base/base.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, INTERVAL = 1000 };

struct told {
	size_t n;
	struct stb_reading of[MOST];
	uint64_t dt_ns[MOST];
};

static void on_sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	struct told *told = ctx;
	const uint64_t before = told->n ? told->of[told->n - 1].t_ns : 0;

	cr_assert_lt(told->n, (size_t)MOST);
	cr_assert_gt(dt_ns, 0u);
	cr_assert_eq(t_ns, before + dt_ns, "samples follow each other without a gap");
	told->of[told->n] = (struct stb_reading){ *sum, t_ns };
	told->dt_ns[told->n++] = dt_ns;
}

static struct stb_reading reading(uint64_t t_ns, uint64_t ops)
{
	return (struct stb_reading){ { .ops = ops, .bytes = ops * 4096, .errors = ops / 10 }, t_ns };
}

/* "1000:10 2000:30": when a sample ends, and what had been counted. */
static void is_told(const char *name, const struct stb_reading *of, size_t n, struct stb_reading end, const char *want)
{
	const struct stb_readings r = { (struct stb_reading *)of, n, n };
	struct told told = { 0 };
	char text[512] = "";
	size_t len = 0;

	stb_readings_tell(&r, INTERVAL, &end, on_sample, &told);
	for (size_t i = 0; i < told.n; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu:%llu", i ? " " : "", (unsigned long long)told.of[i].t_ns,
			(unsigned long long)told.of[i].sum.ops);
	cr_expect_str_eq(text, want, "%s: %s", name, text);
}

#define IS_TOLD(name, end, want, ...)                                                                                                  \
	do {                                                                                                                           \
		const struct stb_reading of[] = { __VA_ARGS__ };                                                                       \
		is_told(name, of, STB_LEN(of), end, want);                                                                             \
	} while (0)

Test(readings, in_time)
{
	IS_TOLD("at the boundaries", reading(3000, 30), "1000:10 2000:20 3000:30", reading(1000, 10), reading(2000, 20), reading(3000, 30));
	IS_TOLD("a moment later", reading(3000, 303), "1000:100 2000:200 3000:303", reading(1010, 101), reading(2010, 202), reading(3010, 304));
	IS_TOLD("a stall is zeros", reading(5000, 20), "1000:10 2000:10 3000:10 4000:10 5000:20", reading(1000, 10), reading(2001, 10),
		reading(3001, 10), reading(4001, 10));
	is_told("no reading", NULL, 0, reading(700, 7), "700:7");
	is_told("nothing at all", NULL, 0, reading(0, 0), "");
}

/* A rest of its own from half an interval on. */
Test(readings, the_end)
{
	IS_TOLD("a rest", reading(2499, 25), "1000:10 2499:25", reading(1000, 10), reading(2000, 20));
	IS_TOLD("half an interval", reading(2500, 25), "1000:10 2000:20 2500:25", reading(1000, 10), reading(2000, 20));
	IS_TOLD("behind the end there is nothing", reading(2000, 25), "1000:10 2000:25", reading(1000, 10), reading(2000, 25), reading(3000, 40));
	IS_TOLD("read as it ended", reading(2600, 26), "1000:10 2600:26", reading(1000, 10), reading(2600, 30));
	IS_TOLD("more was seen than counts in the end", reading(3000, 20), "1000:10 2000:20 3000:20", reading(1000, 10), reading(2000, 29));
}

Test(readings, late)
{
	IS_TOLD("by less than half", reading(3000, 300), "1000:100 2000:200 3000:300", reading(1400, 140), reading(2000, 200));
	IS_TOLD("by more than half", reading(3000, 300), "2000:200 3000:300", reading(1600, 160), reading(2010, 201));
	IS_TOLD("by whole intervals", reading(6000, 900), "1000:100 4000:800 5000:850 6000:900", reading(1000, 100), reading(4000, 800),
		reading(5000, 850));
	IS_TOLD("until a moment before a boundary", reading(6000, 900), "1000:100 5000:850 6000:900", reading(1000, 100), reading(4900, 840),
		reading(5010, 851));
	IS_TOLD("until after the end", reading(6000, 900), "1000:100 6000:900", reading(1000, 100));
	IS_TOLD("until a moment before the end", reading(6000, 900), "1000:100 6000:900", reading(1000, 100), reading(5999, 900));
	is_told("from before the start", NULL, 0, reading(6000, 900), "6000:900");
	IS_TOLD("again and again", reading(9000, 90), "3000:30 6000:60 9000:90", reading(3000, 30), reading(6000, 60));
}

/* Readings at random of what was counted at random: a sample ends near a reading, between what was read before and behind; together they hold all. */
Test(readings, at_random)
{
	srand(1);
	for (int k = 0; k < 2000; k++) {
		struct stb_reading of[42] = { { .t_ns = 0 } }; /* the start, readings, and the end */
		struct told told = { 0 };
		size_t n = 1;

		for (;;) {
			const uint64_t t_ns = of[n - 1].t_ns + 1 + (uint64_t)rand() % (rand() % 4 ? 1200 : 5000);

			of[n] = reading(t_ns, of[n - 1].sum.ops + (rand() % 4 ? (uint64_t)rand() % 500 : 0));
			if (++n == STB_LEN(of) || t_ns > 20000)
				break;
		}
		const struct stb_readings r = { of + 1, n - 2, n - 2 };

		stb_readings_tell(&r, INTERVAL, &of[n - 1], on_sample, &told);
		cr_assert_gt(told.n, 0u);
		cr_assert_eq(memcmp(&told.of[told.n - 1], &of[n - 1], sizeof of[0]), 0, "all of it");
		for (size_t i = 0, j = 1; i + 1 < told.n; i++) {
			const uint64_t t_ns = told.of[i].t_ns, ops = told.of[i].sum.ops;

			while (of[j].t_ns < t_ns)
				j++;
			cr_assert_eq(t_ns % INTERVAL, 0u);
			cr_assert_lt(STB_MIN(t_ns - of[j - 1].t_ns, of[j].t_ns - t_ns), INTERVAL / 2u, "run %d: sample %zu", k, i);
			cr_assert(ops >= of[j - 1].sum.ops && ops <= of[j].sum.ops, "run %d: sample %zu", k, i);
		}
	}
}
