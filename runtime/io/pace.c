/* pace.c - see pace.h. */
#include "runtime/io/pace.h"

#include "runtime/base/clock.h"

#include <math.h>

#define MOST_NS 0x1p62 /* from the epoch of the clock: 146 years */

static unsigned __int128 fixed(double ns)
{
	const double whole = floor(STB_MIN(ns, MOST_NS));

	return ((unsigned __int128)whole << 64) + (unsigned __int128)((STB_MIN(ns, MOST_NS) - whole) * 0x1p64);
}

void stb_pace_init(struct stb_pace *p, double per_s, bool poisson, const struct stb_rng *rng)
{
	*p = (struct stb_pace){ .poisson = poisson, .rng = *rng, .gap = fixed((double)STB_NS_PER_S / per_s) };
}

/* The time of so many units, at most MOST_NS. */
static unsigned __int128 span(const struct stb_pace *p, double units)
{
	const double ns = (double)p->gap * 0x1p-64 * units;

	return fixed(ns);
}

static unsigned __int128 draw(struct stb_pace *p, double units)
{
	return span(p, units * -log(1 - stb_rng_unit(&p->rng)));
}

static void advance(struct stb_pace *p, unsigned __int128 by)
{
	const unsigned __int128 most = (unsigned __int128)1 << 126;

	p->next = p->next > most - by ? most : p->next + by;
}

void stb_pace_start(struct stb_pace *p, uint64_t now_ns, double mean_units)
{
	p->next = (unsigned __int128)now_ns << 64;
	p->issued = 0;
	if (p->poisson)
		advance(p, draw(p, mean_units));
}

void stb_pace_take(struct stb_pace *p, uint32_t units)
{
	p->issued++;
	if (p->poisson)
		advance(p, draw(p, units));
	else if ((p->gap >> 64) < (1u << 30))
		advance(p, p->gap * units); /* at most 2^94 x 2^32 */
	else
		advance(p, span(p, units));
}

uint64_t stb_pace_skipped(const struct stb_pace *p, uint64_t end_ns, double mean_units)
{
	const unsigned __int128 end = (unsigned __int128)end_ns << 64;

	if (end < p->next)
		return 0;
	if (mean_units == 1 && p->gap)
		return (uint64_t)((end - p->next) / p->gap) + 1;
	return (uint64_t)((double)(end - p->next) / ((double)p->gap * mean_units)) + 1;
}
