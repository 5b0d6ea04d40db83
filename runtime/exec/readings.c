/* readings.c - see readings.h. */
#include "runtime/exec/readings.h"

#include "runtime/base/clock.h"

#include <stdlib.h>

#define TAKES_NS 1000000u /* longer than this, and somebody was held up between the clock and the counters: their time is not known */
#define MOST_TAKES 3

struct stb_live_sum stb_phase_sum(const struct stb_phase *phase)
{
	struct stb_live_sum s = { 0 };

	for (uint32_t i = 0; i < phase->n_workers; i++) {
		s.ops += atomic_load_explicit(&phase->live[i].ops, memory_order_relaxed);
		s.bytes += atomic_load_explicit(&phase->live[i].bytes, memory_order_relaxed);
		s.errors += atomic_load_explicit(&phase->live[i].errors, memory_order_relaxed);
		s.warm += atomic_load_explicit(&phase->live[i].warm, memory_order_relaxed);
	}
	return s;
}

void stb_readings_take(struct stb_readings *r, const struct stb_phase *phase, uint64_t since_ns)
{
	struct stb_live_sum sum;
	uint64_t before, now = stb_clock_ns();

	for (uint32_t i = 0; i < MOST_TAKES; i++) {
		before = now;
		sum = stb_phase_sum(phase);
		now = stb_clock_ns();
		if (now - before < TAKES_NS)
			break;
	}
	STB_GROW(r->of, r->n, r->cap);
	r->of[r->n++] = (struct stb_reading){ sum, now > since_ns ? now - since_ns : 0 };
}

void stb_readings_fini(struct stb_readings *r)
{
	free(r->of);
	*r = (struct stb_readings){ 0 };
}

static uint64_t between(uint64_t from, uint64_t to, uint64_t part, uint64_t whole)
{
	return from + (to > from ? (uint64_t)((unsigned __int128)(to - from) * part / whole) : 0);
}

/* What had been counted at t_ns, which lies behind a and not behind b. */
static struct stb_live_sum counted_at(const struct stb_reading *a, const struct stb_reading *b, uint64_t t_ns)
{
	const uint64_t part = t_ns - a->t_ns, whole = b->t_ns - a->t_ns;

	return (struct stb_live_sum){ .ops = between(a->sum.ops, b->sum.ops, part, whole), .bytes = between(a->sum.bytes, b->sum.bytes, part, whole),
		.errors = between(a->sum.errors, b->sum.errors, part, whole) };
}

/* A reading as far as there was something to read. */
static struct stb_reading up_to(const struct stb_reading *r, const struct stb_reading *end)
{
	if (r->t_ns >= end->t_ns)
		return *end;
	return (struct stb_reading){ { .ops = STB_MIN(r->sum.ops, end->sum.ops), .bytes = STB_MIN(r->sum.bytes, end->sum.bytes),
		.errors = STB_MIN(r->sum.errors, end->sum.errors) }, r->t_ns };
}

void stb_readings_tell(const struct stb_readings *r, uint64_t interval_ns, const struct stb_reading *end, stb_sample_fn *tell, void *ctx)
{
	const uint64_t near_ns = STB_MAX(interval_ns / 2, 1u);
	struct stb_reading before = { .t_ns = 0 }, after = { .t_ns = 0 };
	uint64_t told_ns = 0;
	size_t i = 0;

	for (uint64_t t = interval_ns; t < end->t_ns && end->t_ns - t >= near_ns; t += interval_ns) {
		struct stb_live_sum sum;

		while (after.t_ns < t) {
			before = after;
			after = i < r->n ? up_to(&r->of[i++], end) : *end;
		}
		if (STB_MIN(t - before.t_ns, after.t_ns - t) >= near_ns)
			continue;
		sum = counted_at(&before, &after, t);
		tell(ctx, &sum, t, t - told_ns);
		told_ns = t;
	}
	if (end->t_ns > told_ns)
		tell(ctx, &end->sum, end->t_ns, end->t_ns - told_ns);
}
