/*
 * measured.c - whether a cell can be measured in a metric: what metrics.def says that it needs, against the effective values of the cell's blocks.
 *
 * Only what can never be is told: a device that has no counters, or a run too short for a percentile, is known when it was run.
 */
#include "compiler/expand.h"
#include "runtime/base/metric.h"

#include <string.h>

static bool is_type(const struct stb_eblock *b, const char *type)
{
	return b && !strcmp(b->block->type->type, type);
}

static bool has_rate(const struct stb_eblock *w)
{
	return stb_eattr(w, "rate") || stb_eattr(w, "rate_iops");
}

/* Requests that are with the kernel for a time, so that slat and clat are told apart (runtime/io/loop.c). */
static bool has_flight(const struct stb_eblock *w)
{
	static const struct {
		const char *name;
		bool sync;
	} engines[] = {
#define STB_IO_ENGINE(sym, name_, sync_, max_depth_, direct_, needs_) { name_, sync_ },
#include "runtime/io/caps.def"
#undef STB_IO_ENGINE
	};

	for (size_t i = 0; i < STB_LEN(engines); i++) {
		if (stb_eattr_is(w, "ioengine", engines[i].name))
			return !engines[i].sync && strcmp(engines[i].name, "null") && !has_rate(w);
	}
	return true;
}

static bool has_need(const struct stb_scope *s, enum stb_metric_need need)
{
	const struct stb_eblock *w = s->workload;
	const bool own = is_type(s->database, "mysql");

	switch (need) {
	case STB_NEEDS_READS:
		return stb_io_reads(w);
	case STB_NEEDS_WRITES:
		return stb_io_writes(w);
	case STB_NEEDS_TRIMS:
		return stb_io_trims(w);
	case STB_NEEDS_FLIGHT:
		return has_flight(w);
	case STB_NEEDS_RATE:
		return has_rate(w);
	case STB_NEEDS_SYNC:
		return stb_eattr_u64(w, "fsync", 0) || stb_eattr_u64(w, "fdatasync", 0);
	case STB_NEEDS_VERIFY:
		return !stb_eattr_is(w, "verify", "none");
	case STB_NEEDS_DEVICE:
		return (!s->database || own) && !is_type(s->storage, "tmpfs");
	case STB_NEEDS_OWN_SERVER:
		return own;
	case STB_NEEDS_REPLICA:
		return own && !stb_eattr_is(s->database, "topology", "single");
	case STB_NEEDS_SEMISYNC:
		return own && stb_eattr_is(s->database, "topology", "semisync_replica");
	}
	return true;
}

static unsigned lacks(const struct stb_scope *s, unsigned needs)
{
	unsigned out = 0;

	/* what is described was measured by others, in whatever they had; a direction it has or has not */
	if (is_type(s->storage, "external") && !s->database)
		needs &= STB_NEEDS_READS | STB_NEEDS_WRITES | STB_NEEDS_TRIMS;
	for (unsigned left = needs; left; left &= left - 1) {
		if (!has_need(s, (enum stb_metric_need)(left & -left)))
			out |= left & -left;
	}
	return out;
}

unsigned stb_scope_lacks(const struct stb_scope *s, const char *name, const struct stb_metric *metric)
{
	const enum stb_metric_family family = stb_metric_family(s->workload->block->type->type);
	const size_t part = metric->part_len ? metric->part_len - 1 : 0;
	unsigned least = STB_UNMEASURED;

	if (family != STB_METRIC_MIX)
		return part || !(metric->families & family) ? STB_UNMEASURED : lacks(s, metric->needs);
	if (!part && !(metric->families & STB_METRIC_MIX))
		return STB_UNMEASURED;
	for (uint32_t i = 0; i < s->n_parts && least; i++) { /* what a mix has itself, it has from any of them */
		const char *member = s->parts[i]->workload->block->name;

		if (!part || (!strncmp(member, name, part) && !member[part]))
			least = STB_MIN(least, lacks(s->parts[i], metric->needs));
	}
	return least;
}
