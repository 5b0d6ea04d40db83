/*
 * io_faulty.h - an engine that goes wrong on purpose, for tests alone: short I/O, errors, completions that come late and out of order.
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

struct test_faulty {
	struct stb_io_ops ops;   /* first: an engine's ops lead to its faults */
	struct stb_io_caps caps;
	uint32_t short_every;    /* every so manieth request does only its first half; 0: none */
	uint32_t error_every;    /* every so manieth fails with errnum; 0: none */
	int errnum;
	uint32_t late_every;     /* every so manieth is held back until nothing else is there; 0: none */
	int submit_error;        /* submit itself fails with it; 0: it works */
};

void test_faulty_init(struct test_faulty *f);

#endif
