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
	if (is_type(s->storage, "external"))
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

/* What a profile may bring to cells that lack it in the bare spec, by the attributes that it sets and the kinds whose blocks it may replace. */
static unsigned brings(const struct stb_stmt *stmt)
{
	enum { DIRECTIONS = STB_NEEDS_READS | STB_NEEDS_WRITES | STB_NEEDS_TRIMS, REPLICAS = STB_NEEDS_REPLICA | STB_NEEDS_SEMISYNC };
	static const struct {
		const char *word;
		unsigned attr, block;
	} words[] = {
		{ "rw", DIRECTIONS, 0 },
		{ "ioengine", STB_NEEDS_FLIGHT, 0 },
		{ "rate", STB_NEEDS_RATE | STB_NEEDS_FLIGHT, 0 },
		{ "rate_iops", STB_NEEDS_RATE | STB_NEEDS_FLIGHT, 0 },
		{ "fsync", STB_NEEDS_SYNC, 0 },
		{ "fdatasync", STB_NEEDS_SYNC, 0 },
		{ "verify", STB_NEEDS_VERIFY, 0 },
		{ "topology", REPLICAS, 0 },
		{ "storage", STB_NEEDS_DEVICE, STB_NEEDS_DEVICE },
		{ "database", STB_NEEDS_DEVICE | STB_NEEDS_OWN_SERVER | REPLICAS, STB_NEEDS_DEVICE | STB_NEEDS_OWN_SERVER | REPLICAS },
		{ "workload", ~0u, 0 }, /* others in a matrix, others in a mix, an axis of anything */
		{ "run", ~0u, 0 },
		{ "set", ~0u, 0 },
	};
	const bool attr = stmt->kind == STB_S_ATTR;
	const char *word = attr ? stmt->path->names[stmt->path->n_names - 1].text : stmt->name.text;
	unsigned out = 0;

	if (!attr && (!strcmp(word, "where") || !strcmp(word, "baseline"))) /* they choose cells */
		return 0;
	for (size_t i = 0; i < STB_LEN(words); i++)
		if (!strcmp(words[i].word, word))
			out |= attr ? words[i].attr : words[i].block;
	for (uint32_t i = 0; i < stmt->n_body; i++)
		out |= brings(stmt->body[i]);
	return out;
}

unsigned stb_profiles_bring(const struct stb_model *m)
{
	unsigned out = 0;

	for (uint32_t i = 0; i < m->n_profiles; i++)
		out |= brings(m->profiles[i].stmt);
	return out;
}
