/*
 * loop.h - one worker of an io workload: all that its hot loop touches, and the loop.
 *
 * A worker belongs to its thread; others read `live` (relaxed) and, after the thread has arrived at a gate, the counters.
 */
#ifndef STB_IO_LOOP_H
#define STB_IO_LOOP_H

#include "runtime/base/clock.h"
#include "runtime/io/config.h"
#include "runtime/io/offset.h"

/* Why the loop is left; a failure stays, what is enough is taken back by the main thread when all have left. */
enum stb_io_abort { STB_IO_GO_ON, STB_IO_FAILED, STB_IO_ENOUGH };

/* What the workers of one repetition share; written only when something fails. */
struct stb_io_control {
	_Atomic uint32_t abort;    /* not 0: leave the loop; enum stb_io_abort */
	_Atomic uint32_t culprit;  /* 1 + index of the worker whose error counts; 0 none */
	_Atomic uint64_t failed;   /* failed I/Os of all workers, for error_limit */
	_Atomic uint32_t draining; /* workers that have left the measured loop */
} STB_ALIGNED(128);

struct stb_io_custom;

enum stb_io_loop_end { STB_IO_LOOP_TIME, STB_IO_LOOP_SIZE, STB_IO_LOOP_STOPPED, STB_IO_LOOP_ERROR };

struct stb_io_worker {
	/* set in prepare, read by the loop */
	struct stb_io_engine engine;
	void (*fill)(struct stb_io_worker *w, uint64_t now); /* free slots -> ready requests; stb_io_worker_choose */
	uint64_t (*singles)(struct stb_io_worker *w, uint64_t now, uint64_t deadline_ns); /* fill and turn for one at a time; NULL: not these */
	const struct stb_ticker *ticker;
	const _Atomic uint32_t *stop; /* the parent's */
	struct stb_io_control *control;
	struct stb_live *live;
	struct stb_io_req *reqs;      /* depth */
	uint32_t *free, *ready;       /* slots: stack of unused ones; to be submitted, in order */
	struct stb_io_done *done;     /* depth */
	unsigned char *buffers;       /* depth * stride, 4096-aligned */
	uint64_t stride;
	uint64_t read_below;
	uint64_t fsync_every, fdatasync_every; /* UINT64_MAX: never */
	uint64_t pass_blocks;         /* after so many I/Os drop the page cache; UINT64_MAX: never */
	uint64_t base;                /* where the region begins */
	uint32_t bs, depth;           /* bs: the least size, in which places, budget and passes are counted */
	uint32_t batch;               /* a turn waits for as many completions */
	uint32_t part;                /* the engine is given as many at once, at most */
	bool split;                   /* slat and clat are told apart: requests are in flight for a time */
	bool direct;
	bool tells_latency;           /* live->lat_ns is wanted */
	struct stb_io_custom *custom; /* NULL: the plain way */

	uint64_t since_ns;            /* when the stage began, the same for all workers: schedules count from it */

	/* changed by the loop */
	uint32_t n_free, n_ready, inflight;
	bool sync_due;
	uint64_t budget;              /* blocks that may still be issued */
	uint64_t pass_left, until_fsync, until_fdatasync;
	uint64_t stamp;
	struct stb_offsets offsets;
	struct stb_rng mix;
	uint64_t issued, failed, cancelled, ok[STB_N_DIRS];
	uint64_t end_ns;              /* when the stage's last I/O or sync was done */
	struct stb_hist lat[STB_N_DIRS], slat[STB_N_DIRS], clat[STB_N_DIRS], sync;

	/* cold */
	const struct stb_io_config *config;
	struct stb_skew *skew;        /* of offsets; NULL: none */
	uint64_t verified, mismatches; /* blocks read back */
	uint32_t index;
	int fd;                       /* -1: none */
	bool raw, end_fsync;
	bool engine_broken;           /* submit or reap itself failed */
	bool stuck;                   /* I/O never came back: its memory must outlive us */
	char name[1400];              /* of the file, for messages */
	enum stb_io_loop_end end;
	struct stb_err err;
} STB_ALIGNED(128);

#define STB_IO_PART 4u /* see loop.c */

/* Marks each sector of a write, so that no two sectors written are alike. */
static inline void stb_io_stamp(struct stb_io_worker *w, const struct stb_io_req *r)
{
	for (uint32_t i = 0; i + 16 <= r->len; i += 512) {
		const uint64_t word[2] = { r->offset + i, ++w->stamp * 0x9e3779b97f4a7c15ull };

		__builtin_memcpy(r->buf + i, word, sizeof(word));
	}
}

/*
 * Issues I/O until deadline_ns (UINT64_MAX: none), until `budget` blocks are issued (UINT64_MAX: no end), until stopped, or until an error;
 * then drains. Counters and histograms must be zero at the start. In w->end what ended it, in w->err the error.
 * on_drain is called once, when the loop is left and what is in flight is waited for.
 */
void stb_io_loop(struct stb_io_worker *w, uint64_t deadline_ns, uint64_t budget, void (*on_drain)(struct stb_io_worker *w));

/* Chooses w->fill and prepares the requests; all that is set in prepare is there, offsets too. Once, before the engine is opened. */
void stb_io_worker_choose(struct stb_io_worker *w);

/* Zeroes counters and histograms for a new stage. */
void stb_io_worker_reset(struct stb_io_worker *w);

/* The accounting identity of one stage; aborts when it is broken. */
void stb_io_worker_assert(const struct stb_io_worker *w);

#endif
