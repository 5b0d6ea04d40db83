/*
 * job.h - one job of an io workload: its worker with all that it needs before its first I/O - file, buffers, random streams, engine. Inside
 * runtime/io; run.c has the stages of its life.
 *
 * Prepared and released in the thread that runs it, so that memory lies where the thread does.
 */
#ifndef STB_IO_JOB_H
#define STB_IO_JOB_H

#include "runtime/io/io.h"
#include "runtime/io/loop.h"

struct stb_io_job {
	struct stb_io_worker w;
	const struct stb_io_setup *setup;
	bool ready; /* file, buffers and engine are there */
	size_t buffer_bytes;
	struct stb_io_used used;
};

/* From zeroed memory; nothing is had yet. The caller sets w.control and w.ticker. c, s and phase are borrowed. */
void stb_io_job_init(struct stb_io_job *j, const struct stb_io_config *c, const struct stb_io_setup *s, struct stb_phase *phase, uint32_t index);
/* 0, or -1 with j->w.err; to be released in either case. */
STB_NODISCARD int stb_io_job_prepare(struct stb_io_job *j);
void stb_io_job_release(struct stb_io_job *j);

#endif
