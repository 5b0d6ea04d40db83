/*
 * metric.h - what can be measured: name, unit, direction, meaning. Pure functions over names; known to compiler and reports alike.
 *
 * A full name is [PREFIX.]BASE[_pNN]: read.lat_p95, iops, sync.lat_mean. lat_p95 is 95%, lat_p999 is 99.9%, lat_p50 50%, lat_p9999 99.99%.
 * lat_p5 is 5%, lat_p001 0.1%, lat_p100 the maximum; each percentile has one spelling (no p990, p05). The table is metrics.def.
 */
#ifndef STB_METRIC_H
#define STB_METRIC_H

#include "runtime/base/base.h"

enum stb_direction { STB_HIGHER_IS_BETTER, STB_LOWER_IS_BETTER, STB_NO_DIRECTION };

/* Bits: which workload types have it. What a mix has itself (MIX) none of its workloads has: a device, a server counts for all of them. */
enum stb_metric_family { STB_METRIC_IO = 1, STB_METRIC_OLTP = 2, STB_METRIC_MIX = 4 };

/* Bits: what has to be so for it to be measured at all. read. write. and trim. need their direction. */
enum stb_metric_need {
	STB_NEEDS_READS = 1, STB_NEEDS_WRITES = 2, STB_NEEDS_TRIMS = 4, STB_NEEDS_FLIGHT = 8, STB_NEEDS_RATE = 16, STB_NEEDS_SYNC = 32,
	STB_NEEDS_VERIFY = 64, STB_NEEDS_DEVICE = 128, STB_NEEDS_OWN_SERVER = 256, STB_NEEDS_REPLICA = 512, STB_NEEDS_SEMISYNC = 1024
};

struct stb_metric {
	const char *unit;      /* as in results.csv: "1/s", "B/s", "ms", "B", "%", "ns", "" */
	enum stb_direction direction;
	unsigned families;     /* STB_METRIC_* bits */
	unsigned needs;        /* STB_NEEDS_* bits */
	const char *meaning;   /* one sentence */
	uint64_t pct_num, pct_den; /* a percentile's fraction, 0/1 otherwise */
	int default_decimals;  /* in reports */
	const char *default_unit; /* in reports: "MB/s" for bw_bytes, "ms" for lat_* */
	const char *heading;   /* "IOPS", "p95 latency"; may hold one %s for the percentile */
	size_t part_len;       /* of a mix's part, "trx.tps": bytes of `trx.`; whether there is such a part is the caller's question. 0: none */
};

/* false: there is no such metric. "PART.metric" is one, whatever PART is but the word of a direction. */
bool stb_metric_find(const char *name, struct stb_metric *out);
/* Whether a workload of a mix may not be called so, because names of metrics begin with it and a point ("read", "server"). */
bool stb_metric_takes(const char *name);
/* Names of all base metrics in table order, NULL-terminated, for docs and suggestions ("lat_pNN" stands for the percentiles). */
const char *const *stb_metric_names(void);
/* The family of a workload's type ("io", "oltp", "mix"): what it is measured in has this bit. */
enum stb_metric_family stb_metric_family(const char *type);
/* "io, oltp, mix": the types of workloads that have it. */
const char *stb_metric_types(unsigned families);
/* "a workload that writes": what the lowest bit of needs asks for, which is taken out of it. NULL: there is none. */
const char *stb_metric_next_need(unsigned *needs);
/* Converts between the units of one dimension ("B/s" -> "MiB/s", "ms" -> "us"); false where they do not belong together. */
bool stb_metric_convert(double value, const char *from, const char *to, double *out);

#endif
