/*
 * steady.h - when a workload has become steady: a window of samples of one second each that slides on by one, and a criterion over it.
 *
 * The criteria are fio's (steadystate in its manual), relative to the mean of the window:
 *
 *   slope       the slope of the least-squares line through the samples, per sample: 0.1% is 0.1% of the mean a second, 3% over 30 s
 *   deviation   the greatest distance of any sample from the mean
 *
 * A window is steady where the criterion, without its sign, is below what is asked; at once when the first window is full. Unlike fio, which ends
 * the job there and reports all of it, what was done until then is warm-up: see run.c. A window whose mean is 0, or that has a second without
 * a completion where latency is looked at, is not steady: nothing says what it would be steady at.
 */
#ifndef STB_IO_STEADY_H
#define STB_IO_STEADY_H

#include "runtime/result/measure.h"

#define STB_STEADY_SAMPLE_NS 1000000000ull

enum stb_steady_metric { STB_STEADY_NONE, STB_STEADY_IOPS, STB_STEADY_BW, STB_STEADY_LAT };

struct stb_steady_ask {
	enum stb_steady_metric metric; /* STB_STEADY_NONE: measuring begins at once */
	bool slope;                    /* else the deviation */
	double most;                   /* share of the mean */
	uint32_t samples;              /* of a window, at least 2 */
	uint64_t limit_ns;
};

/* What had been counted at some time; latencies wrap around. */
struct stb_steady_counts {
	uint64_t ops, bytes, lat_ns;
};

/* Only for tests: other counts than those of the workers, and other samples than of a second. */
struct stb_steady_hook {
	uint64_t sample_ns;
	void *ctx;
	void (*count)(void *ctx, uint32_t sample, struct stb_steady_counts *out); /* at the end of each sample, from 1; 0 at the start */
};

struct stb_steady {
	struct stb_steady_ask ask;
	double *sample;  /* a ring */
	uint64_t n;      /* samples so far */
	uint64_t spent_ns;
	struct stb_steady_counts before;
};

/* Of n samples; not a number where there is no mean to relate them to. n is at least 2. */
double stb_steady_slope(const double *sample, uint32_t n, uint32_t oldest);
double stb_steady_deviation(const double *sample, uint32_t n);

/* Memory for the window. */
void stb_steady_init(struct stb_steady *s, const struct stb_steady_ask *ask);
void stb_steady_fini(struct stb_steady *s);
/* Starts to watch. */
void stb_steady_start(struct stb_steady *s, const struct stb_steady_counts *now, struct stb_steadiness *proof);
/* One more sample, of dt_ns. True: steady. What is known of it is in *proof. */
bool stb_steady_add(struct stb_steady *s, const struct stb_steady_counts *now, uint64_t dt_ns, struct stb_steadiness *proof);

#endif
