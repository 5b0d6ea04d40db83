/*
 * figure.h - what the rows of one cell say about one metric, and how two figures relate. Inside runtime/report only.
 */
#ifndef STB_FIGURE_H
#define STB_FIGURE_H

#include "runtime/report/report.h"

enum stb_figure_state {
	STB_FIGURE_NONE,    /* nothing was measured: no rows */
	STB_FIGURE_OK,
	STB_FIGURE_INVALID, /* rows, but none that can be trusted; value is what they say */
	STB_FIGURE_FEW,     /* a percentile of too few samples */
};

struct stb_figure {
	enum stb_figure_state state;
	double value;            /* in the metric's own unit */
	uint32_t n;              /* repetitions that it is made of, over all slots */
	uint32_t n_invalid;      /* left out beside them */
	uint32_t asked;          /* by the plan: repeat x slots */
	uint32_t known;          /* repetitions that have rows of any metric */
	enum stb_status invalid; /* of the first that is not trustworthy */
	const char *why;         /* and its reason, or that of one without rows; NULL: nothing is known of */
	uint32_t n_taken;        /* taken over from other runs; origin says of the first from which */
	const char *origin;
	uint32_t n_steady;       /* repetitions that were measured once they had become steady, and after how long */
	double steady_least_s, steady_most_s;
	double steady_worst;     /* the slope or deviation of the least steady of them, without its sign */
	uint32_t n_spread;       /* rows that least and most are of */
	double least, most;
	bool ended_by_size, ended_by_time;
	bool median;             /* a percentile over repetitions without histograms: the median of their percentiles */
	uint64_t samples, needs; /* STB_FIGURE_FEW */
};

void stb_figure_get(const struct stb_results *r, uint32_t cell, const char *metric, enum stb_aggregate how, struct stb_figure *out);

/* "stopped early", "failed, or errors over the limit", ... */
const char *stb_status_reason(enum stb_status s);
/* Why a figure is not there or cannot be trusted; NULL: it can. Plain text, one line. */
const char *stb_figure_trouble(struct stb_arena *a, const struct stb_results *r, uint32_t cell, const char *metric, const struct stb_figure *f);
/* "stopped early: the measurement ended after 3.0 s of 10.0 s", of those left out. */
const char *stb_figure_invalid(struct stb_arena *a, const struct stb_figure *f);
/* "2 of 4 measured: interrupted by SIGINT" where the plan asks for more than there is; else NULL. */
const char *stb_figure_missing(struct stb_arena *a, const struct stb_results *r, const struct stb_figure *f);
/* "measured once iops was steady: after 12 to 20 s, slope of 10 s at most 0.4% a second" of a cell that waits for that; else NULL. */
const char *stb_figure_steady(struct stb_arena *a, const struct stb_results *r, uint32_t cell, const struct stb_figure *f);
/* Of a mix whose workloads ended apart: for how much of the time all of them ran; NULL: there is nothing to tell. */
const char *stb_figure_apart(struct stb_arena *a, const struct stb_results *r, uint32_t cell);
/* Whether repetitions differ so much that their mean alone misleads: see report.h. */
bool stb_figure_spreads(const struct stb_figure *f);
/* "99.9" for lat_p999. */
void stb_percentile_text(const struct stb_metric *m, struct stb_buf *out);

/* The cells that are the baseline of a cell: equal on every axis but those that the selector names. */
uint32_t *stb_baselines(const struct stb_plan *p, uint32_t cell, const struct stb_selector *baseline, struct stb_arena *a, uint32_t *n);

/* v against b: percent, change and improvement in %, ratio bare. NULL, or the reason why there is none. */
const char *stb_relative(enum stb_view view, enum stb_direction dir, double v, double b, double *out);
/* The same from g = v/b, for geometric means. */
const char *stb_relative_of(enum stb_view view, enum stb_direction dir, double g, double *out);

/* "iops ratio = 2.49x", "tps percent 65%..68%" */
void stb_claim_expected(struct stb_buf *out, const struct stb_plan_claim *claim);
/* The worst figure, with two digits more than the claim has. */
void stb_claim_worst(struct stb_buf *out, const struct stb_plan_claim *claim, const struct stb_claim_result *res);

bool stb_view_is_relative(enum stb_view view);

/* Where v/b lies (base STB_NONE: v itself, in the metric's unit), at a confidence between 0 and 1. */
struct stb_interval {
	double low, high;
	uint32_t n; /* samples of the one that has fewer: slots, or repetitions where there are less than three slots */
};

/* NULL, or why there is none: "no claim" with fewer than three samples. */
const char *stb_interval_get(const struct stb_results *r, uint32_t cell, uint32_t base, const char *metric, double confidence,
	struct stb_interval *out);
/* The same where the baseline was measured in another run. */
const char *stb_interval_between(const struct stb_results *r, uint32_t cell, const struct stb_results *base_r, uint32_t base,
	const char *metric, double confidence, struct stb_interval *out);
/* t with P(|T| <= t) = confidence. */
double stb_student_quantile(double confidence, double df);

#endif
