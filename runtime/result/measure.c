/*
 * measure.c - from what the workers of one repetition counted to rows.
 *
 * Which rows a repetition gets:
 *
 *   - None where nothing was measured (window_ns 0): the journal tells why.
 *   - Every metric of metrics.def that its workload has and that is defined for what was counted. Without a single completed operation
 *     there is no latency row; with one sample there is no standard deviation. A row that is not there is honest, a zero would not be.
 *   - lat_p50, p95, p99, p999, and what the plan's reports and claims ask for. A percentile whose row would only repeat the maximum because
 *     too few samples were taken is left out: num/den needs den/(den - num) samples, so that at least one lies beyond it (lat_p999 needs
 *     1000). Where all samples are equal every percentile is known and stands. The histogram is kept in any case: repetitions that are too
 *     short alone may be enough together.
 *   - slat_ and clat_ rows where an asynchronous engine tells them apart.
 *   - svc_ rows where the workload has a rate: beside the latency from when an event was due, that from when it began.
 *   - read. write. trim. rows where an io workload mixes directions, or where the plan asks for them; sync. rows where there were syncs.
 *
 * Of a mix each member gets its rows, NAME.metric. A member has a process of its own, so that its CPU time is its own; what a device and a server
 * count is everybody's, and gets rows of the mix.
 *
 * Rates are over the true window, drain and end_fsync included, never over the time that was asked for.
 */
#include "runtime/result/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS 1e6
#define NS_PER_SEC 1e9

struct row_ctx {
	struct stb_results *r;
	uint32_t cell, slot, repetition;
	enum stb_status status;
	const char *owner;  /* "loader." of a mix, else "" */
	const char *prefix;
};

static struct row_ctx rows_of(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member, enum stb_status status)
{
	const struct stb_plan *p = r->plan;
	struct row_ctx x = { r, cell, slot, repetition, status, "", "" };

	if (member != STB_NONE)
		x.owner = stb_arena_printf(&r->arena, "%s.", p->blocks[stb_plan_mix_of(p, cell)->members[member]].name);
	return x;
}

static const char *const usual_percentiles[] = { "p50", "p95", "p99", "p999" };
static const char *const dir_prefix[STB_N_DIRS] = { "read.", "write.", "trim." };
static const struct {
	const char *suffix;
	enum stb_dir dir;
} parts[STB_N_PARTS] = {
#define STB_X(sym, stem, suffix, dir) { suffix, dir },
	STB_PARTS(STB_X)
#undef STB_X
};

uint64_t stb_percentile_needs(uint64_t num, uint64_t den)
{
	if (num >= den)
		return 1;
	return (den + (den - num) - 1) / (den - num);
}

static void add(const struct row_ctx *x, const char *name, double value)
{
	struct stb_err err;
	struct stb_buf metric;

	stb_buf_init(&metric);
	stb_buf_printf(&metric, "%s%s%s", x->owner, x->prefix, name);
	/* The names are ours and the caller promises a new key. */
	STB_ASSERT(stb_results_add(x->r, x->cell, x->slot, x->repetition, stb_buf_str(&metric), value, x->status, &err) == 0);
	stb_buf_fini(&metric);
}

static void add_percentile(const struct row_ctx *x, const char *percentile, const struct stb_hist *h)
{
	struct stb_metric m;
	char metric[64];

	snprintf(metric, sizeof(metric), "%s%s", x->prefix, percentile);
	STB_ASSERT(stb_metric_find(metric, &m));
	if (h->count >= stb_percentile_needs(m.pct_num, m.pct_den) || h->min == h->max)
		add(x, percentile, (double)stb_hist_percentile(h, m.pct_num, m.pct_den) / NS_PER_MS);
}

/* x->prefix is the part's stem here. */
static void add_latencies(const struct row_ctx *x, const struct stb_hist *h)
{
	if (!h->count)
		return;
	add(x, "mean", stb_hist_mean(h) / NS_PER_MS);
	if (h->count > 1)
		add(x, "stddev", stb_hist_stddev(h) / NS_PER_MS);
	add(x, "min", (double)h->min / NS_PER_MS);
	add(x, "max", (double)h->max / NS_PER_MS);
	for (size_t i = 0; i < STB_LEN(usual_percentiles); i++)
		add_percentile(x, usual_percentiles[i], h);
	for (size_t i = 0; i < x->r->n_percentiles; i++) {
		bool usual = false;

		for (size_t k = 0; k < STB_LEN(usual_percentiles); k++)
			usual |= !strcmp(usual_percentiles[k], x->r->percentiles[i]);
		if (!usual)
			add_percentile(x, x->r->percentiles[i], h);
	}
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Also of a member of a mix. */
static bool asks_for(const char *metric, const char *prefix)
{
	struct stb_metric m;

	return starts_with(metric + (stb_metric_find(metric, &m) ? m.part_len : 0), prefix);
}

static bool asked_for(const struct stb_plan *p, const char *prefix)
{
	for (uint32_t i = 0; i < p->n_reports; i++) {
		for (uint32_t k = 0; k < p->reports[i].n_metrics; k++) {
			if (asks_for(p->reports[i].metrics[k], prefix))
				return true;
		}
	}
	for (uint32_t i = 0; i < p->n_claims; i++) {
		if (asks_for(p->claims[i].metric, prefix))
			return true;
	}
	return false;
}

/* Whether a direction is more than the whole: several were counted, or somebody asks for this one. */
static bool has_dir(const struct stb_plan *p, const struct stb_measure *m, enum stb_dir dir)
{
	int used = 0;

	for (int i = 0; i < STB_N_DIRS; i++)
		used += m->ok[i] > 0;
	return m->ok[dir] && (used > 1 || asked_for(p, dir_prefix[dir]));
}

static enum stb_metric_family family(const struct stb_plan *p, uint32_t cell, uint32_t member)
{
	return stb_metric_family(p->blocks[member == STB_NONE ? p->cells[cell].workload : stb_plan_mix_of(p, cell)->members[member]].type);
}

/* Only what the workload can be measured in, by the table that readers go by: an event of oltp has no direction, whoever asks for one. */
static bool has_part(const struct stb_plan *p, uint32_t cell, uint32_t member, const struct stb_measure *m, enum stb_part part)
{
	struct stb_metric of;
	char metric[64];

	snprintf(metric, sizeof(metric), "%smean", stb_part_stem(part));
	STB_ASSERT(stb_metric_find(metric, &of));
	return of.families & family(p, cell, member) && (parts[part].dir == STB_N_DIRS || has_dir(p, m, parts[part].dir));
}

/* The histograms that a part is of, one a direction. */
static const struct stb_hist *part_hists(const struct stb_measure *m, enum stb_part part)
{
	return part >= STB_PART_SVC ? m->svc : part >= STB_PART_CLAT ? m->clat : part >= STB_PART_SLAT ? m->slat : m->lat;
}

/* The histogram of a part, which may be empty; all directions are merged into *whole, which the caller lends. */
static const struct stb_hist *part_hist(const struct stb_measure *m, enum stb_part part, struct stb_hist *whole)
{
	const struct stb_hist *of = part_hists(m, part);

	if (part == STB_PART_SYNC)
		return &m->sync;
	if (parts[part].dir != STB_N_DIRS)
		return &of[parts[part].dir];
	stb_hist_init(whole);
	for (int i = 0; i < STB_N_DIRS; i++)
		stb_hist_merge(whole, &of[i]);
	return whole;
}

/* A rate over the window. */
static void add_rate(const struct row_ctx *x, const char *name, double count, double window_s)
{
	if (window_s > 0)
		add(x, name, count / window_s);
}

static void add_throughput(const struct row_ctx *x, uint64_t ops, uint64_t bytes, double window_s)
{
	add_rate(x, "iops", (double)ops, window_s);
	add_rate(x, "bw_bytes", (double)bytes, window_s);
	add(x, "io_bytes", (double)bytes);
}

/* How long all I/Os together were in flight. Under a rate latency begins before that, when an I/O was due, and service time when it was made. */
static double in_flight_ns(const struct stb_measure *m)
{
	const struct stb_hist *of = m->scheduled ? m->svc : m->lat;
	double sum = 0;

	for (int i = 0; i < STB_N_DIRS; i++)
		sum += (double)of[i].sum;
	return sum;
}

static void add_io(const struct row_ctx *x, const struct stb_measure *m)
{
	const double window_ns = (double)m->window_ns, window_s = window_ns / NS_PER_SEC;
	uint64_t ops = 0, bytes = 0;

	for (int i = 0; i < STB_N_DIRS; i++) {
		ops += m->ok[i];
		bytes += m->bytes[i];
	}
	add_throughput(x, ops, bytes, window_s);
	add(x, "runtime_ms", window_ns / NS_PER_MS);
	if (window_ns > 0) {
		add(x, "depth_mean", in_flight_ns(m) / window_ns);
		add(x, "cpu_usr", (double)m->cpu_user_ns * 100 / window_ns);
		add(x, "cpu_sys", (double)m->cpu_sys_ns * 100 / window_ns);
	}
	if (ops)
		add(x, "cpu_ns_per_io", ((double)m->cpu_user_ns + (double)m->cpu_sys_ns) / (double)ops);
	for (int i = 0; i < STB_N_DIRS; i++) {
		struct row_ctx sub = *x;

		if (!has_dir(x->r->plan, m, (enum stb_dir)i))
			continue;
		sub.prefix = dir_prefix[i];
		add_throughput(&sub, m->ok[i], m->bytes[i], window_s);
	}
}

static void add_device(const struct row_ctx *x, const struct stb_blockstat *d)
{
	if (!d->known)
		return;
	add(x, "dev_read_ios", (double)d->read_ios);
	add(x, "dev_read_bytes", (double)d->read_bytes);
	add(x, "dev_write_ios", (double)d->write_ios);
	add(x, "dev_write_bytes", (double)d->write_bytes);
}

/* What came of a rate, and of reading back. */
static void add_outcome(const struct row_ctx *x, const struct stb_measure *m)
{
	uint64_t ok = 0;

	for (int i = 0; i < STB_N_DIRS; i++)
		ok += m->ok[i];
	if (m->scheduled)
		add_rate(x, "rate_achieved", (double)ok, (double)m->window_ns / NS_PER_SEC);
	if (m->verified)
		add(x, "verify_errors", (double)m->mismatches);
}

static void add_server(const struct row_ctx *x, const struct stb_server_change *s, uint64_t events)
{
	static const char *const metrics[] = {
#define STB_X(symbol, metric, variables) metric,
		STB_SERVER_COUNTS(STB_X)
#undef STB_X
	};

	if (s->has_cpu)
		add(x, "server.cpu_ms", (double)s->cpu_ns / NS_PER_MS);
	if (s->has_cpu && events)
		add(x, "server.cpu_us_per_event", (double)s->cpu_ns / 1000 / (double)events);
	/* a server that has no replicas counts them all the same */
	const bool semi_sync = s->count[STB_SERVER_SEMISYNC_TX] || s->count[STB_SERVER_SEMISYNC_NO_TX];

	for (uint32_t i = 0; i < STB_N_SERVER_COUNTS; i++)
		if (s->known & 1u << i && (i < STB_SERVER_SEMISYNC_TX || semi_sync))
			add(x, metrics[i], (double)s->count[i]);
}

static void add_oltp(const struct row_ctx *x, const struct stb_measure *m)
{
	const double window_s = (double)m->window_ns / NS_PER_SEC;

	add_rate(x, "tps", (double)m->ok[0], window_s);
	add_rate(x, "qps", (double)m->queries_read + (double)m->queries_write + (double)m->queries_other, window_s);
	add(x, "events", (double)m->ok[0]);
	add_rate(x, "errors_per_s", (double)m->errors, window_s);
	add_rate(x, "reconnects_per_s", (double)m->reconnects, window_s);
}

static bool is_io(const struct stb_plan *p, uint32_t cell, uint32_t member)
{
	return family(p, cell, member) == STB_METRIC_IO;
}

static uint32_t hist_number(uint32_t member, int part)
{
	return member == STB_NONE ? (uint32_t)part : STB_HIST(member, part);
}

static void add_rows(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member, const struct stb_measure *m,
	enum stb_status status)
{
	struct stb_hist *whole = stb_xmalloc(sizeof(*whole));
	struct row_ctx x = rows_of(r, cell, slot, repetition, member, status);

	if (!m->window_ns) { /* never got to measuring: there is no figure, and a 0 would pass for one */
		free(whole);
		return;
	}
	if (is_io(r->plan, cell, member))
		add_io(&x, m);
	else
		add_oltp(&x, m);
	if (member == STB_NONE && !is_io(r->plan, cell, member))
		add_server(&x, &m->server, m->ok[0]);
	if (member == STB_NONE)
		add_device(&x, &m->device);
	add_outcome(&x, m);
	if (m->steady.reached && (member == STB_NONE || stb_plan_steady(r->plan, cell) == &r->plan->blocks[stb_plan_mix_of(r->plan, cell)->members[member]]))
		stb_results_set_steady(r, cell, slot, repetition, (double)m->steady.after_ns / NS_PER_SEC, m->steady.found);
	for (int part = 0; part < STB_N_PARTS; part++) {
		const struct stb_hist *h;

		if (!has_part(r->plan, cell, member, m, (enum stb_part)part))
			continue;
		h = part_hist(m, (enum stb_part)part, whole);
		x.prefix = stb_part_stem((enum stb_part)part);
		add_latencies(&x, h);
		stb_results_add_hist(r, cell, slot, repetition, hist_number(member, part), h);
	}
	free(whole);
}

void stb_results_add_measure(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_measure *m,
	enum stb_status status)
{
	add_rows(r, cell, slot, repetition, STB_NONE, m, status);
}

void stb_results_add_member(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member,
	const struct stb_measure *m, enum stb_status status)
{
	add_rows(r, cell, slot, repetition, member, m, status);
}

void stb_results_add_mix(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_mix_measure *m,
	enum stb_status status)
{
	const struct row_ctx x = rows_of(r, cell, slot, repetition, STB_NONE, status);

	if (m->overlap_ns)
		add(&x, "overlap", 100 * (double)m->overlap_ns / (double)m->all_ns);
	add_server(&x, &m->server, m->events);
	add_device(&x, &m->device);
}

void stb_results_add_partial(struct stb_results *r, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member, uint64_t ops,
	uint64_t bytes, uint64_t errors, uint64_t window_ns, enum stb_status status)
{
	const struct row_ctx x = rows_of(r, cell, slot, repetition, member, status);
	const double window_s = (double)window_ns / NS_PER_SEC;

	if (!window_ns)
		return;
	if (is_io(r->plan, cell, member)) {
		add_throughput(&x, ops, bytes, window_s);
		add(&x, "runtime_ms", (double)window_ns / NS_PER_MS);
		return;
	}
	add(&x, "tps", (double)ops / window_s);
	add(&x, "qps", (double)bytes / window_s);
	add(&x, "events", (double)ops);
	add(&x, "errors_per_s", (double)errors / window_s);
}

void stb_hist_file_name(const struct stb_plan *p, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t hist,
	char out[STB_HIST_FILE_NAME])
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);
	const uint32_t member = hist / STB_N_PARTS; /* from 1 */
	char owner[64] = "";

	STB_ASSERT(member <= mix->n);
	if (member) /* letters of a name are those of an identifier; the number tells long ones apart */
		snprintf(owner, sizeof(owner), "-%u-%.40s", member, p->blocks[mix->members[member - 1]].name);
	snprintf(out, STB_HIST_FILE_NAME, "histograms/%.16s-s%u-r%u%s%s.csv", p->cells[cell].id, slot, repetition, owner, parts[hist % STB_N_PARTS].suffix);
}

void stb_hist_write_csv(const struct stb_hist *h, FILE *out)
{
	fputs("lower_ns,count\n", out);
	for (uint32_t i = 0; i < STB_HIST_BUCKETS; i++) {
		if (h->bucket[i])
			fprintf(out, "%llu,%llu\n", (unsigned long long)stb_hist_lower(i), (unsigned long long)h->bucket[i]);
	}
}

static int save_hist(const struct stb_hist *h, const char *dir, const char *name, struct stb_err *err)
{
	struct stb_buf path;
	bool failed;
	FILE *out;
	int rc = -1;

	stb_buf_init(&path);
	stb_buf_printf(&path, "%s/%s", dir, name);
	out = fopen(stb_buf_str(&path), "we");
	if (!out) {
		stb_err_set(err, errno, "cannot create `%s`", stb_buf_str(&path));
		goto done;
	}
	stb_hist_write_csv(h, out);
	/* on the disk before the journal says that the repetition is done: a power loss must not leave half of one behind */
	failed = fflush(out) || ferror(out) || (fdatasync(fileno(out)) && errno != EINVAL && errno != EROFS);
	if (fclose(out) || failed) {
		stb_err_set(err, errno, "cannot write `%s`", stb_buf_str(&path));
		stb_err_remedy(err, "make room on the file system of the run directory");
		goto done;
	}
	rc = 0;
done:
	stb_buf_fini(&path);
	return rc;
}

int stb_measure_save_hists(const struct stb_plan *p, uint32_t cell, uint32_t slot, uint32_t repetition, uint32_t member,
	const struct stb_measure *m, const char *run_dir, struct stb_err *err)
{
	struct stb_hist *whole = stb_xmalloc(sizeof(*whole));
	int rc = 0;

	for (int part = 0; !rc && part < STB_N_PARTS; part++) {
		char name[STB_HIST_FILE_NAME];
		const struct stb_hist *h;

		if (!has_part(p, cell, member, m, (enum stb_part)part))
			continue;
		h = part_hist(m, (enum stb_part)part, whole);
		if (!h->count)
			continue;
		stb_hist_file_name(p, cell, slot, repetition, hist_number(member, part), name);
		rc = save_hist(h, run_dir, name, err);
	}
	free(whole);
	return rc;
}
