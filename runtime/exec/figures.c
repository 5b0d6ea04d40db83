/*
 * figures.c - the figures of a repetition: rows of results.csv, its record in the journal, and what is said of it.
 *
 * When the measuring process is lost its own figures are lost with it. Then the samples of the series are summed: totals and rates, no
 * latencies, and results.csv agrees with series.csv.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/repetition.h"

#include <stdlib.h>
#include <string.h>

/* --- what is said ---------------------------------------------------------------------------------------------------------------------- */

/* "1234 IOPS, p95 0.21 ms" of the rows from `from` on. */
static void add_figures(const struct stb_run *run, const struct stb_work *w, size_t from, struct stb_buf *out)
{
	double rate = 0, p95 = 0;
	bool has_p95 = false, has_rate = false;

	for (size_t i = from; i < run->results->n_rows; i++) {
		const struct stb_result_row *r = &run->results->rows[i];
		const char *name;

		if (stb_metric_member(run->plan, w->of->cell, r->metric, &name) != w->member)
			continue;
		if (!strcmp(name, w->is_io ? "iops" : "tps"))
			rate = r->value, has_rate = true;
		if (!strcmp(name, "lat_p95"))
			has_p95 = stb_metric_convert(r->value, r->unit, "ms", &p95);
	}
	if (has_rate) {
		stb_text_figure(out, rate);
		stb_buf_adds(out, w->is_io ? " IOPS" : " tps");
	} else {
		stb_buf_adds(out, "nothing was measured");
	}
	if (has_p95) {
		stb_buf_adds(out, ", p95 ");
		stb_text_latency(out, p95);
	}
}

static void say_done(struct stb_run *run, const struct stb_repetition *r, size_t from, enum stb_status status)
{
	struct stb_buf b;

	stb_buf_init(&b);
	if (!r->n)
		stb_buf_adds(&b, "nothing was measured");
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->n > 1)
			stb_buf_printf(&b, "%s%s ", i ? "; " : "", r->works[i].workload->name);
		add_figures(run, &r->works[i], from, &b);
	}
	if (status != STB_STATUS_OK)
		stb_buf_printf(&b, "  [%s]", stb_status_text(status));
	stb_progress_say(&run->progress, "[%*llu/%llu] %s #%u: %s", run->n_measurements > 99 ? 3 : run->n_measurements > 9 ? 2 : 1,
		(unsigned long long)run->done, (unsigned long long)run->n_measurements, r->label, r->number, stb_buf_str(&b));
	stb_buf_fini(&b);
}

/* A repetition that could not even begin: nothing was measured, so there is no row; the journal tells of it. */
void stb_repetition_record_unrun(struct stb_run *run, const struct stb_repetition *r, const char *why)
{
	const size_t from = run->results->n_rows;

	stb_run_fail(run, r->cell, r->slot, r->number, "%s", why);
	stb_record_result(run, r->cell, r->slot, r->number, from, STB_STATUS_DISTURBED, why, NULL, NULL);
	run->done++;
	say_done(run, r, from, STB_STATUS_DISTURBED);
}

/* After a repetition of I/O that failed: what has become of its target, for whoever looks there, and for the cells that follow on it. */
static void say_target(const struct stb_run *run, const struct stb_work *w)
{
	const struct stb_plan_mount *mount = stb_plan_mount_of(run->plan, w->group, w->workload);
	const struct stb_plan_attr *rw = stb_plan_attr(w->workload, "rw");
	const struct stb_measure *m = &w->phase->result;
	const bool only_reads = rw && rw->val.str && strstr(rw->val.str, "read");
	const uint64_t written = m->ok[STB_WRITE] + m->ok[STB_TRIM];

	if (!mount)
		return;
	fprintf(stderr, "  state of the target: ");
	if (!m->issued)
		fprintf(stderr, "nothing was measured on it");
	else if (only_reads)
		fprintf(stderr, "it was only read");
	else
		fprintf(stderr, "%llu of %llu I/Os were done, %llu of them writes or trims", (unsigned long long)(m->ok[STB_READ] + written),
			(unsigned long long)m->issued, (unsigned long long)written);
	fprintf(stderr, "; volume `%s` stays as it is until it is provisioned anew or removed\n", run->plan->blocks[mount->volume].name);
}

/* --- rows ------------------------------------------------------------------------------------------------------------------------------ */

static void add_device(struct stb_blockstat *to, const struct stb_blockstat *from)
{
	to->known = true;
	to->read_ios += from->read_ios;
	to->read_bytes += from->read_bytes;
	to->write_ios += from->write_ios;
	to->write_bytes += from->write_bytes;
}

/* Of the workloads on one device, the one that was measured longest tells what the device did. */
static bool tells_of_device(const struct stb_repetition *r, uint32_t index)
{
	const struct stb_work *w = &r->works[index];

	if (!w->phase->result.device.known)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_work *other = &r->works[i];
		const uint64_t mine = w->phase->result.window_ns, its = other->phase->result.window_ns;

		if (i != index && !strcmp(other->stat_file, w->stat_file) && (its > mine || (its == mine && i < index)))
			return false;
	}
	return true;
}

static void sum_up_mix(const struct stb_repetition *r, struct stb_mix_measure *out)
{
	const struct stb_measure *on_server = NULL; /* of who was measured longest, and with it the events of all */

	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_measure *m = &r->works[i].phase->result;

		out->overlap_ns = i ? STB_MIN(out->overlap_ns, m->window_ns) : m->window_ns;
		out->all_ns = STB_MAX(out->all_ns, m->window_ns);
		out->events += r->works[i].is_io ? 0 : m->ok[0];
		if (tells_of_device(r, i))
			add_device(&out->device, &m->device);
		if (!r->works[i].is_io && (!on_server || m->window_ns > on_server->window_ns))
			on_server = m;
	}
	if (on_server)
		out->server = on_server->server;
}

static void add_rows(struct stb_run *run, struct stb_repetition *r, enum stb_status status)
{
	struct stb_mix_measure mix;
	struct stb_err err;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct stb_work *w = &r->works[i];
		const struct stb_measure *m = &w->phase->result;

		if (!m->window_ns)
			stb_results_add_partial(run->results, r->cell, r->slot, r->number, w->member, w->total.ops, w->total.bytes, w->total.errors,
				w->sampled_ns, status);
		else if (w->member == STB_NONE)
			stb_results_add_measure(run->results, r->cell, r->slot, r->number, m, status);
		else
			stb_results_add_member(run->results, r->cell, r->slot, r->number, w->member, m, status);
	}
	if (r->n > 1) {
		sum_up_mix(r, &mix);
		stb_results_add_mix(run->results, r->cell, r->slot, r->number, &mix, status);
	}
	stb_err_clear(&err);
	if (r->lag_s >= 0 && stb_results_add(run->results, r->cell, r->slot, r->number, "replica_lag", r->lag_s, status, &err))
		STB_BUG("the key of a repetition is there already");
}

void stb_repetition_record(struct stb_run *run, struct stb_repetition *r, struct stb_outcome *o)
{
	const size_t from = run->results->n_rows;
	const struct stb_measure *measures[STB_MAX_MEMBERS];

	for (uint32_t i = 0; i < r->n; i++) {
		measures[i] = &r->works[i].phase->result;
		if (r->works[i].is_io)
			stb_record_engine(run, r->works[i].workload, measures[i]);
	}
	stb_record_cell(run, "end", r->cell, r->slot, r->number, &o->err);
	add_rows(run, r, o->status);
	stb_record_result(run, r->cell, r->slot, r->number, from, o->status, stb_status_valid(o->status) ? NULL : o->err.what, measures, &r->series);
	run->done++;
	say_done(run, r, from, o->status);
	if (!stb_status_valid(o->status)) {
		stb_run_fail(run, r->cell, r->slot, r->number, "%s", o->err.what);
		stb_run_say_error(run, &o->err);
		if (o->status == STB_STATUS_ERRORS && o->blamed != STB_NONE && r->works[o->blamed].is_io)
			say_target(run, &r->works[o->blamed]);
	}
	for (uint32_t i = 0; i < r->n; i++)
		if (r->works[i].phase->alloc_calls)
			stb_progress_say(&run->progress, "stb: bug: %llu allocations in the measured phase of %s",
				(unsigned long long)r->works[i].phase->alloc_calls, r->label);
}
