/*
 * measure.h - what the workers of one repetition count: the hand-over from a workload (io, db) to exec and the results.
 *
 * A measured phase runs in a forked child; everything here lies in one shared anonymous mapping, so that the parent can show progress and
 * sample the series, and nothing that was counted is lost when the child dies. The parent never writes but `stop` and, of a mix,
 * when its lines open.
 *
 * Accounting identity, asserted after each run: issued = ok + failed + cancelled; histogram count = ok; under a rate scheduled = issued + skipped.
 */
#ifndef STB_MEASURE_H
#define STB_MEASURE_H

#include "runtime/base/blockstat.h"
#include "runtime/base/err.h"
#include "runtime/base/hist.h"

#include <stdatomic.h>

enum stb_dir { STB_READ, STB_WRITE, STB_TRIM, STB_N_DIRS };

enum stb_end {
	STB_END_TIME,    /* the asked time is over */
	STB_END_SIZE,    /* all bytes were done */
	STB_END_EVENTS,  /* all events were done */
	STB_END_STOPPED, /* the parent said stop (signal) */
	STB_END_STALLED, /* what it waited for did not come; see err */
	STB_END_ERROR,   /* see err */
};

/* Live counters of one worker, since the start of the current stage; relaxed stores by the worker, relaxed loads by the parent. */
struct stb_live {
	_Atomic uint64_t ops;    /* I/Os or committed transactions */
	_Atomic uint64_t bytes;  /* io; queries for oltp */
	_Atomic uint64_t errors; /* failed I/Os or errors that were retried */
	_Atomic uint64_t lat_ns; /* io, where a steady latency is waited for: the sum of all latencies, which wraps around; else 0 */
	_Atomic uint64_t warm;   /* oltp: transactions of the warm-up, which may end after it did; not among ops */
} STB_ALIGNED(128);

enum stb_stage { STB_STAGE_SETUP, STB_STAGE_LAYOUT, STB_STAGE_WARMUP, STB_STAGE_SETTLE, STB_STAGE_MEASURE, STB_STAGE_DRAIN,
	STB_STAGE_VERIFY, STB_STAGE_DONE };

#define STB_TOGETHER_PERCENT 95 /* of the longest time of a mix: what ends before that ended apart, which is told */
#define STB_IO_USED_TEXT 240

/* oltp: errors that were retried, by the server's number. Beyond so many different ones the rest is counted together, as code 0. */
enum { STB_MAX_ERROR_CODES = 16 };

struct stb_error_counts {
	uint32_t n;
	struct {
		uint32_t code;
		uint64_t count;
	} of[STB_MAX_ERROR_CODES];
};

static inline void stb_error_counts_add(struct stb_error_counts *c, uint32_t code, uint64_t count)
{
	uint32_t i = 0;

	while (i < c->n && c->of[i].code != code)
		i++;
	if (i == c->n && c->n == STB_MAX_ERROR_CODES) { /* the last place is that of the rest */
		c->of[--i].code = 0;
	} else if (i == c->n) {
		c->of[c->n++].code = code;
		c->of[i].count = 0;
	}
	c->of[i].count += count;
}

/* oltp: over the threads, with the population's standard deviation, as sysbench has it. */
struct stb_fairness {
	double events_mean, events_stddev;
	double busy_mean_s, busy_stddev_s; /* time in events */
};

/* oltp: who served the connections. */
struct stb_client_threads {
	uint32_t n;
	bool near; /* each bound to a CPU, with the connections whose server threads are there */
};

/*
 * oltp: what the server did in the window, its own words: X(symbol, metric, status variables whose sum it is). Names of more than one version
 * stand side by side: a server has the one or the other. Where it has none of them there is no figure. Rows of scans (Handler_read_rnd_next) are
 * left out: SHOW STATUS is one. Of MySQL rows are what InnoDB counts (db/status.c).
 */
#define STB_SERVER_COUNTS(X)                                                                                                           \
	X(BUFFER_POOL_READS, "server.buffer_pool_reads", "Innodb_buffer_pool_reads")                                                   \
	X(BUFFER_POOL_READ_REQUESTS, "server.buffer_pool_read_requests", "Innodb_buffer_pool_read_requests")                           \
	X(DATA_READ, "server.data_read", "Innodb_data_read")                                                                           \
	X(DATA_WRITTEN, "server.data_written", "Innodb_data_written")                                                                  \
	X(DATA_FSYNCS, "server.data_fsyncs", "Innodb_data_fsyncs")                                                                     \
	X(LOG_WRITTEN, "server.log_written", "Innodb_os_log_written")                                                                  \
	X(LOG_FSYNCS, "server.log_fsyncs", "Innodb_os_log_fsyncs")                                                                     \
	X(LOG_WAITS, "server.log_waits", "Innodb_log_waits")                                                                           \
	X(LOCK_WAITS, "server.lock_waits", "Innodb_row_lock_waits")                                                                    \
	X(LOCK_TIME, "server.lock_time_ms", "Innodb_row_lock_time")                                                                    \
	X(ROWS_READ, "server.rows_read",                                                                                               \
		"Handler_read_first Handler_read_key Handler_read_last Handler_read_next Handler_read_prev Handler_read_rnd")            \
	X(ROWS_INSERTED, "server.rows_inserted", "Handler_write")                                                                      \
	X(ROWS_UPDATED, "server.rows_updated", "Handler_update")                                                                       \
	X(ROWS_DELETED, "server.rows_deleted", "Handler_delete")                                                                       \
	X(SEMISYNC_TX, "server.semisync_tx", "Rpl_semi_sync_master_yes_tx Rpl_semi_sync_source_yes_tx")                                \
	X(SEMISYNC_NO_TX, "server.semisync_no_tx", "Rpl_semi_sync_master_no_tx Rpl_semi_sync_source_no_tx")

enum stb_server_count {
#define STB_X(symbol, metric, variables) STB_SERVER_##symbol,
	STB_SERVER_COUNTS(STB_X)
#undef STB_X
	STB_N_SERVER_COUNTS
};

struct stb_server_change {
	uint32_t known;                      /* bits 1 << enum stb_server_count */
	uint64_t count[STB_N_SERVER_COUNTS];
	bool has_cpu;                        /* of a server whose process is known */
	uint64_t cpu_ns;                     /* user and system time of all its threads */
};

/* io with steady_state: what came of waiting for it, before the window. */
struct stb_steadiness {
	bool asked, reached;
	bool judged;           /* at least one window could be */
	uint64_t after_ns;     /* of watching, which begins after ramp_time: until it was steady, or given up */
	uint64_t found_at_ns;  /* when the window ended that found and mean are of: the steady one, or the steadiest there was */
	double found;          /* its slope a second (with its sign) or deviation, as a share of its mean */
	double mean;           /* in the metric's own unit */
};

struct stb_measure {
	uint64_t window_ns;              /* the true measured window, drain and end_fsync included */
	uint64_t cpu_user_ns, cpu_sys_ns;/* of the whole child in the window */
	enum stb_end end;
	uint64_t issued, failed, cancelled;
	uint64_t ok[STB_N_DIRS];         /* io: per direction; oltp: [0] committed events */
	uint64_t bytes[STB_N_DIRS];      /* io */
	struct stb_hist lat[STB_N_DIRS]; /* ns; oltp: [0]; under a rate from the intended start */
	struct stb_hist slat[STB_N_DIRS], clat[STB_N_DIRS]; /* io with an asynchronous engine: lat = slat + clat; else empty */
	struct stb_hist svc[STB_N_DIRS]; /* under a rate: from the real start; else empty */
	uint64_t scheduled, skipped;     /* under a rate: starts that were intended, and those of them that came to nothing; else 0 */
	struct stb_steadiness steady;
	struct stb_blockstat device;     /* what the block device below did in the window, for whomever; not known: there is none */
	uint64_t verified, mismatches;   /* blocks read back after the window; 0 without verify */
	struct stb_hist sync;            /* fsync/fdatasync latency, io */
	char engine_with[STB_IO_USED_TEXT], engine_without[STB_IO_USED_TEXT]; /* io: see struct stb_io_used */
	uint64_t queries_read, queries_write, queries_other; /* oltp */
	uint64_t errors, reconnects;     /* oltp: retried failures, connections opened again */
	struct stb_error_counts codes;   /* errors by code */
	struct stb_fairness fairness;
	struct stb_client_threads clients;
	struct stb_server_change server; /* oltp */
};

/*
 * Where the workloads of a mix, each a process of its own, wait for each other: exec/mix.c. A member says which line it has reached; when all are
 * there the parent says at which instant that line opens.
 */
enum stb_line {
	STB_LINE_READY,  /* laid out, connected: its warm-up may begin */
	STB_LINE_STEADY, /* its warm-up is done; where one waits until it is steady the others go on */
	STB_LINE_START,  /* all are measured from here on */
	STB_LINE_END,    /* none is measured any more: what was written may be read back */
	STB_N_LINES
};

struct stb_meet {
	bool used;                 /* set before the fork; not set: there is no mix, and every line is open */
	bool settles;              /* some member has steady_state */
	_Atomic uint32_t reached;  /* by the child: how many lines */
	_Atomic uint64_t open_ns[STB_N_LINES]; /* by the parent: CLOCK_MONOTONIC; 0: not yet */
};

struct stb_phase {
	/* written by the child */
	_Atomic uint32_t stage;           /* enum stb_stage */
	_Atomic uint64_t stage_since_ns;  /* CLOCK_MONOTONIC when the stage began */
	_Atomic uint64_t measure_since_ns, measure_until_ns; /* of the measure stage, drain included, for whoever did not see it; 0: it has not begun, or not ended */
	_Atomic uint64_t progress_done, progress_total; /* LAYOUT, VERIFY and loading: bytes or rows; 0 total: unknown */
	struct stb_err err;
	struct stb_measure result;
	uint64_t alloc_calls;             /* allocations by our code between warm-up and drain: 0, or it is a bug */
	struct stb_meet meet;
	/* written by the parent */
	_Atomic uint32_t stop;            /* 1: finish now */
	uint32_t n_workers;
	struct stb_live live[];           /* n_workers */
};

/* By the child: a stage that began at since_ns. */
static inline void stb_phase_enter(struct stb_phase *phase, enum stb_stage stage, uint64_t since_ns)
{
	if (stage == STB_STAGE_MEASURE)
		atomic_store(&phase->measure_since_ns, since_ns);
	else if (stage > STB_STAGE_DRAIN && atomic_load(&phase->measure_since_ns) && !atomic_load(&phase->measure_until_ns))
		atomic_store(&phase->measure_until_ns, since_ns);
	atomic_store(&phase->stage_since_ns, since_ns);
	atomic_store(&phase->stage, (uint32_t)stage);
}

static inline size_t stb_phase_size(uint32_t n_workers)
{
	return sizeof(struct stb_phase) + (size_t)n_workers * sizeof(struct stb_live);
}

#endif
