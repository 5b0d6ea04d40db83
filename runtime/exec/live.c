/*
 * live.c - what is seen of the workloads of a repetition from outside: lines of the series, and figures that are drawn while it runs.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/repetition.h"

#include "runtime/base/clock.h"

#include <stdio.h>

/* Seconds to the nanosecond, with three decimals or as many as it takes: rounded times of short intervals would meet or drift. */
static void add_seconds(struct stb_buf *b, uint64_t ns)
{
	char digits[16];
	size_t n = 9;

	snprintf(digits, sizeof digits, "%09llu", (unsigned long long)(ns % STB_NS_PER_S));
	while (n > 3 && digits[n - 1] == '0')
		n--;
	stb_buf_printf(b, "%llu.%.*s", (unsigned long long)(ns / STB_NS_PER_S), (int)n, digits);
}

/* "CELL,SLOT,REPETITION,T,": what a line of the series begins with. */
static void begin_point(struct stb_work *w, uint64_t t_ns)
{
	struct stb_repetition *r = w->of;

	stb_buf_printf(&r->series, "%.16s,%u,%u,", w->run->plan->cells[r->cell].id, r->slot, r->number);
	add_seconds(&r->series, t_ns);
}

/* The rate over dt_ns, with so many decimals that times dt_ns it is the count again. */
static void add_point(struct stb_work *w, uint64_t t_ns, const char *metric, uint64_t now, uint64_t before, uint64_t dt_ns)
{
	const uint64_t count = now > before ? now - before : 0;
	const bool member = w->member != STB_NONE;
	struct stb_metric m;

	begin_point(w, t_ns);
	stb_buf_printf(&w->of->series, ",%s%s%s,%s,%.*f\n", member ? w->workload->name : "", member ? "." : "", metric,
		stb_metric_find(metric, &m) ? m.unit : "", dt_ns < 500 * STB_NS_PER_S ? 3 : 9, (double)count * 1e9 / (double)dt_ns);
}

/*
 * Of the server, by the samples of the workloads on it: those of a mix tell theirs one after the other as they end, so each goes on from where the one
 * before came to. Less than half an interval more than that is no interval of its own.
 */
static void add_lag(struct stb_work *w, uint64_t t_ns, uint64_t dt_ns)
{
	struct stb_repetition *r = w->of;
	double lag_s;

	if (w->is_io || t_ns <= r->lag_ns || !stb_replica_watch_lag(r->replicas, STB_MAX(t_ns - dt_ns, r->lag_ns), t_ns, &lag_s))
		return;
	r->lag_s = STB_MAX(r->lag_s, lag_s);
	if (t_ns - r->lag_ns < STB_MIN(dt_ns, w->job.interval_ns) / 2)
		return;
	begin_point(w, t_ns);
	stb_buf_printf(&r->series, ",replica_lag,s,%.3f\n", lag_s);
	r->lag_ns = t_ns;
}

void stb_live_sample(void *ctx, const struct stb_live_sum *sum, uint64_t t_ns, uint64_t dt_ns)
{
	struct stb_work *w = ctx;

	add_point(w, t_ns, w->is_io ? "iops" : "tps", sum->ops, w->total.ops, dt_ns);
	add_point(w, t_ns, w->is_io ? "bw_bytes" : "qps", sum->bytes, w->total.bytes, dt_ns);
	if (!w->is_io)
		add_point(w, t_ns, "errors_per_s", sum->errors, w->total.errors, dt_ns);
	add_lag(w, t_ns, dt_ns);
	w->total = *sum;
	w->sampled_ns = t_ns;
}

static const char *stage_name(uint32_t stage)
{
	static const char *const names[] = {
		[STB_STAGE_SETUP] = "set up",
		[STB_STAGE_LAYOUT] = "lay out",
		[STB_STAGE_WARMUP] = "warm up",
		[STB_STAGE_SETTLE] = "wait until steady",
		[STB_STAGE_MEASURE] = "measure",
		[STB_STAGE_DRAIN] = "drain",
		[STB_STAGE_VERIFY] = "verify",
		[STB_STAGE_DONE] = "done",
	};

	return stage < STB_LEN(names) ? names[stage] : "";
}

/* The live figure: completions a second since the figure before, or the share that is laid out. */
static void look_at(struct stb_work *w)
{
	const struct stb_phase *phase = w->phase;
	const uint32_t stage = atomic_load(&phase->stage);
	const uint64_t now = stb_clock_ns(), total = atomic_load(&phase->progress_total);
	const struct stb_live_sum sum = stb_phase_sum(phase);
	struct stb_buf text;

	stb_buf_init(&text);
	if ((stage == STB_STAGE_LAYOUT || stage == STB_STAGE_VERIFY) && total) {
		stb_buf_printf(&text, "%.0f%%", 100.0 * (double)atomic_load(&phase->progress_done) / (double)total);
	} else if ((stage == STB_STAGE_MEASURE || stage == STB_STAGE_SETTLE || stage == STB_STAGE_WARMUP) && stage == w->shown_stage &&
		sum.ops + sum.warm >= w->shown.ops + w->shown.warm) {
		stb_text_figure(&text, (double)(sum.ops + sum.warm - w->shown.ops - w->shown.warm) * 1e9 / (double)STB_MAX(now - w->shown_at, 1u));
		stb_buf_adds(&text, w->is_io ? " IOPS" : " tps");
	}
	w->shown = sum;
	w->shown_at = now;
	w->shown_stage = stage;
	snprintf(w->figure, sizeof w->figure, "%s", stb_buf_str(&text));
	stb_buf_fini(&text);
}

void stb_live_tick(void *ctx, const struct stb_phase *phase)
{
	struct stb_work *w = ctx;
	uint32_t stage;
	struct stb_buf text;

	(void)phase;
	look_at(w);
	if (!w->of || w->of->n == 1) {
		stb_run_draw(w->run, stage_name(w->shown_stage), w->figure);
		return;
	}
	stb_buf_init(&text);
	stage = w->shown_stage; /* of a mix, that of who is least far */
	for (uint32_t i = 0; i < w->of->n; i++) {
		const struct stb_work *other = &w->of->works[i];

		stage = STB_MIN(stage, other->shown_stage);
		if (other->figure[0])
			stb_buf_printf(&text, "%s%s %s", text.len ? ", " : "", other->workload->name, other->figure);
	}
	stb_run_draw(w->run, stage_name(stage), stb_buf_str(&text));
	stb_buf_fini(&text);
}
