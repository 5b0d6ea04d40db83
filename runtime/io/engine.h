/*
 * engine.h - the engine contract: how one worker gets its I/O done. Known to the loop, the engines and their tests.
 *
 * An engine object belongs to one worker thread and is opened, used and closed by that thread alone (io_uring binds its ring to it).
 * The requests live in an array that the worker owns and passes at open; a request is named by its index there, the slot.
 *
 *   open    makes ready for up to `depth` requests in flight on one file
 *   submit  hands slots over. Returns how many were taken, from the front (0: none now, reap first), or -errno when none was taken and
 *           waiting would not help. May put the system call off until reap, so a taken request need not have started.
 *   reap    starts what was put off, then waits until at least `min` requests are complete, for wait_ns at most (0: as long as it takes;
 *           a span rather than an instant, so that no engine needs the clock); returns up to `max` of them, or -errno. Fewer than min, even
 *           none, after wait_ns or a signal. Does not wait with min 0, nor for more than is in flight.
 *   perform (engines that keep nothing in flight) does one request here and now and returns its result; what submit and reap do, in one step
 *   sync    fsync or fdatasync of the file. 0 or -errno. Waits for nothing that is in flight.
 *   cancel  asks for everything in flight to end. Every request still comes back through reap: with -ECANCELED, or done after all.
 *   close   nothing may be in flight; frees everything.
 *
 * A completion's result is what the system call would have returned: bytes done, which may be fewer than asked, or -errno. While a
 * request is in flight its fields and its buffer belong to the engine.
 */
#ifndef STB_IO_ENGINE_H
#define STB_IO_ENGINE_H

#include "runtime/base/err.h"
#include "runtime/result/measure.h"

#include <sys/types.h>

struct stb_io_req {
	uint64_t offset;   /* in the file */
	uint64_t start_ns, issue_ns; /* the loop's; engines leave them alone */
	unsigned char *buf;
	uint32_t len;
	uint8_t dir;       /* enum stb_dir; STB_TRIM only of synchronous engines, and of null */
};

struct stb_io_done {
	uint32_t slot;
	int32_t res;
};

struct stb_io_ops;

struct stb_io_engine {
	const struct stb_io_ops *ops;
	void *state; /* the engine's */
};

enum stb_io_ask { STB_IO_IF_POSSIBLE, STB_IO_YES, STB_IO_NO };

/* What the spec asks of a ring; engines without one ignore it (the compiler refuses it there). */
struct stb_io_ring_ask {
	enum stb_io_ask registerfiles, fixedbufs;
	bool sqpoll, hipri;
};

/* What an engine has come to use, for the record; words with ", " between them. What was asked for by name and cannot be had is an error. */
struct stb_io_used {
	char with[STB_IO_USED_TEXT];
	char without[STB_IO_USED_TEXT]; /* what it would have used where it can be had, and why it cannot; empty: nothing */
};

struct stb_io_open {
	int fd;                  /* -1 for an engine without a file */
	bool raw;                /* a block device: trims are discards, else holes */
	uint32_t depth;
	struct stb_io_req *reqs; /* depth of them; borrowed until close */
	unsigned char *buffers;  /* where all the requests' buffers lie, each `stride` long, so that they can be registered; NULL: anywhere */
	uint64_t buffer_bytes, stride;
	struct stb_io_ring_ask ring;
	struct stb_io_used *used; /* to be filled, or NULL */
};

struct stb_io_ops {
	/* 0: the engine can be used here, by this process. -1 with *err: why not, and what to do. Touches no file. depth and jobs are what
	 * will be asked of it. */
	int (*probe)(uint32_t depth, uint32_t jobs, struct stb_err *err);
	int (*open)(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err);
	int (*submit)(struct stb_io_engine *e, const uint32_t *slots, uint32_t n);
	int (*reap)(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns);
	/* NULL: requests are in flight for a time. Else none is, so that its latency has no parts. */
	int32_t (*perform)(struct stb_io_engine *e, const struct stb_io_req *r);
	int (*sync)(struct stb_io_engine *e, bool data_only);
	int (*cancel)(struct stb_io_engine *e);
	void (*close)(struct stb_io_engine *e);
	bool no_file; /* works without a target */
};

enum stb_io_engine_id {
#define STB_IO_ENGINE(sym, name, sync, max_depth, direct, needs) STB_IO_##sym,
#include "runtime/io/caps.def"
#undef STB_IO_ENGINE
	STB_IO_N_ENGINES
};

struct stb_io_caps {
	const char *name;
	bool sync;
	uint32_t max_depth;
	bool direct;
	const char *needs;
	const struct stb_io_ops *ops;
};

extern const struct stb_io_ops stb_io_psync, stb_io_libaio, stb_io_uring, stb_io_null;

/* Adds to one of the texts of struct stb_io_used; what does not fit is left out. */
void stb_io_used_add(char text[STB_IO_USED_TEXT], const char *fmt, ...) STB_PRINTF(2, 3);

const struct stb_io_caps *stb_io_caps(enum stb_io_engine_id id);
/* NULL where there is none of that name. */
const struct stb_io_caps *stb_io_caps_find(const char *name);

/* Why io_uring_setup failed with errnum (positive): switched off by sysctl, forbidden by a sandbox, not in the kernel, or something else.
 * sysctl_path is /proc/sys/kernel/io_uring_disabled, or a stand-in in tests. Returns -1. */
int stb_io_uring_explain(int errnum, const char *sysctl_path, struct stb_err *err);
/* Why buffers could not be registered with a ring. limit_bytes is RLIMIT_MEMLOCK (UINT64_MAX: none). */
int stb_io_uring_explain_buffers(int errnum, uint64_t bytes, uint64_t limit_bytes, struct stb_err *err);
/* Whether there is a limit of memory that may be locked for them, and which. */
bool stb_io_uring_lock_limit(uint64_t *bytes);
/* Whether so much memory may be locked for them at all; what other processes of the user have locked is not known. */
int stb_io_uring_check_locked(uint64_t bytes, struct stb_err *err);
/* Whether completions on the file's device can be polled for, by its queue in sysfs; root is "" or a stand-in in tests. */
int stb_io_uring_check_polling(int fd, const char *root, struct stb_err *err);
/* Whether a file, open for reading, cannot do non-blocking I/O (RWF_NOWAIT), so that the kernel has workers do it. Reads nothing. */
bool stb_io_uring_blocks(int fd);
/* The same for io_setup; aio_dir is /proc/sys/fs. */
int stb_io_libaio_explain(int errnum, uint64_t events, const char *aio_dir, struct stb_err *err);

#endif
