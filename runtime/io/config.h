/*
 * config.h - an io workload's attributes as the numbers that the loop works with. Read once, before anything is touched.
 */
#ifndef STB_IO_CONFIG_H
#define STB_IO_CONFIG_H

#include "runtime/io/content.h"
#include "runtime/io/engine.h"
#include "runtime/io/sizes.h"
#include "runtime/io/skew.h"
#include "runtime/io/steady.h"
#include "runtime/plan/plan.h"

#define STB_IO_MAX_JOBS 4096
#define STB_IO_MAX_BS (1ull << 30)
#define STB_IO_ALWAYS (1ull << 53) /* a threshold that 53 random bits are always below */

struct stb_io_config {
	const struct stb_plan_block *block;
	const struct stb_io_caps *engine;
	const char *filename;
	uint64_t size_bytes; /* of one job, as written */
	uint64_t offset_bytes; /* where its region begins */
	uint64_t n_blocks;   /* size / bs, the rest left out; at least 1 */
	uint32_t bs_bytes;   /* with several sizes the least one, of which all are multiples */
	uint32_t max_bs_bytes;
	uint32_t n_sizes;    /* 1, or those of a list */
	uint32_t size_units[STB_SIZES]; /* by bs_bytes */
	double size_share[STB_SIZES];
	struct stb_skew_spec skew;
	uint32_t depth, batch, jobs;
	struct stb_io_ring_ask ring;
	bool reads, writes, trims, random;
	uint64_t read_below; /* an I/O reads when 53 random bits are below this; STB_IO_ALWAYS, 0 never */
	bool shared_file, direct, end_fsync, time_based, randrepeat, norandommap, invalidate, fallocate;
	uint64_t fsync_every, fdatasync_every; /* writes; 0 never */
	uint64_t runtime_ns; /* 0: bounded by size alone */
	uint64_t ramp_ns;
	struct stb_steady_ask steady;
	uint64_t error_limit;
	uint64_t loops;    /* passes over the region */
	int open_flags;    /* O_SYNC, O_DSYNC */
	bool known_filled; /* `prepare = []`, or prepared: a raw volume is read as it is */
	bool made;         /* written data is made anew for each write */
	double compress;   /* share of zeros in it */
	enum stb_digest verify;
	bool verify_fatal;
	double per_s;      /* rate of one job, 0: none */
	bool per_s_bytes, poisson;
	uint64_t think_ns;
};

/* 0, or -1 with *err naming the attribute and its spec line. The strings are borrowed from the block. */
STB_NODISCARD int stb_io_config_read(struct stb_io_config *c, const struct stb_plan_block *block, struct stb_err *err);
/* Puts the spec line of an attribute on an error. */
void stb_io_config_blame(const struct stb_io_config *c, const char *attr, struct stb_err *err);
/* Files of the workload: 1 when shared, else one a job. */
static inline uint32_t stb_io_config_files(const struct stb_io_config *c)
{
	return c->shared_file ? 1 : c->jobs;
}

/* Bytes of the buffer of one request: whole pages. */
static inline uint64_t stb_io_config_stride(const struct stb_io_config *c)
{
	return ((uint64_t)c->max_bs_bytes + 4095) / 4096 * 4096;
}

/* A relative path of plain components: not empty, not absolute, none of them "", "." or "..", nothing but printable bytes. NULL, or why not. */
const char *stb_io_filename_fault(const char *name);

#endif
