/*
 * target.h - the files (or the raw device) that an io workload works on: opened safely, laid out before they are read.
 */
#ifndef STB_IO_TARGET_H
#define STB_IO_TARGET_H

#include "runtime/io/config.h"
#include "runtime/io/io.h"

/*
 * Opens rel beneath the directory dirfd, through no symlink and out of no ".."; with O_CREAT missing parents are made (0700). Regular files
 * only. Returns the descriptor, or -errno (-ELOOP: a symlink on the way, -EINVAL also where the file system refuses O_DIRECT).
 */
int stb_io_open_beneath(int dirfd, const char *rel, int flags, mode_t mode);

/* Opens the target of one job for measuring, as the workload asks (direct, read-only where nothing is written). -1 with *err. */
STB_NODISCARD int stb_io_target_open(const struct stb_io_config *c, const struct stb_io_setup *s, uint32_t job, int *fd, struct stb_err *err);
/* Whether files in the directory at can be opened for direct I/O, as far as a file without a name tells. 0 or -1 with *err. */
STB_NODISCARD int stb_io_target_probe_direct(const struct stb_io_config *c, const char *dir, int at, struct stb_err *err);
/* Drops what the page cache holds of it. Best effort, as in fio. */
void stb_io_target_invalidate(int fd, bool raw);

/*
 * Makes every file ready before it is measured: random data where the workload reads and the file is missing, short or has holes; space
 * reserved where it only writes and fallocate is native (where there is no such thing phase->result.engine_without says so).
 * Progress goes to the phase (stage LAYOUT, entered only if there is work); a stop of the parent ends it early with 0. -1 with *err; lack of
 * space names need and have.
 */
STB_NODISCARD int stb_io_layout(const struct stb_io_config *c, const struct stb_io_setup *s, struct stb_phase *phase, struct stb_err *err);

/* The name of a job's file for messages: "stb.data.3", or the device. */
void stb_io_target_name(const struct stb_io_config *c, const struct stb_io_setup *s, uint32_t job, char *out, size_t size);

#endif
