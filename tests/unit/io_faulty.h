/*
 * io_faulty.h - an engine that goes wrong on purpose, for tests alone: short I/O, errors, delays, completions that come late and out of order. It also
 * remembers what it was given.
 *
 * Asynchronous with any depth; what it does is a pread or pwrite at reap. Its faults are data in front of its ops, so that tests can have
 * several of them at once:
 *
 *     struct test_faulty f = TEST_FAULTY(.short_every = 3);
 *     struct stb_io_setup s = { ..., .engine = &f.caps };      after test_faulty_init(&f)
 */
#ifndef STB_TEST_IO_FAULTY_H
#define STB_TEST_IO_FAULTY_H

#include "runtime/io/engine.h"

#include <stdatomic.h>

struct test_faulty {
	struct stb_io_ops ops;   /* first: an engine's ops lead to its faults */
	struct stb_io_caps caps;
	uint32_t short_every;    /* every so manieth request does only its first half; 0: none */
	uint32_t error_every;    /* every so manieth fails with errnum; 0: none */
	int errnum;
	uint32_t late_every;     /* every so manieth is held back until nothing else is there; 0: none */
	int submit_error;        /* submit itself fails with it; 0: it works */
	uint64_t reap_ns;        /* each reap that has something takes as long */
	uint64_t sync_ns;        /* and each sync */
	uint32_t stall_at;       /* the reap of this number takes stall_ns; 0: none */
	uint64_t stall_ns;
	/* what it has seen, of the last worker that opened it */
	_Atomic int flags;       /* of its file */
	_Atomic uint64_t trace;          /* a digest of offsets and directions in their order */
};

void test_faulty_init(struct test_faulty *f);

#endif
