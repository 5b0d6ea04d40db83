/*
 * psync.c - pread and pwrite: the I/O is done inside submit, reap only hands its result over. One slot.
 *
 * A trim is BLKDISCARD of a device, as in fio, and of a file a hole where the blocks were: the file system gives them back, and discards them on
 * its device where it is mounted so.
 *
 * The system call is made without glibc's wrapper where its arguments are plain: the wrapper of a threaded program makes every pread a point
 * at which the thread could be cancelled, which is two locked instructions an I/O (glibc 2.36), and no thread here is ever cancelled.
 */
#include "runtime/io/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct psync_state {
	const struct stb_io_req *reqs;
	int fd;
	bool raw;
	bool pending;
	struct stb_io_done done;
};

static int psync_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	(void)depth;
	(void)jobs;
	(void)err;
	return 0;
}

static int psync_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct psync_state *s;

	if (o->depth != 1)
		return stb_err_set(err, EINVAL, "cannot open engine `psync` with depth %u", o->depth);
	s = stb_xcalloc(1, sizeof(*s));
	s->reqs = o->reqs;
	s->fd = o->fd;
	s->raw = o->raw;
	e->state = s;
	return 0;
}

static ssize_t trim(const struct psync_state *s, const struct stb_io_req *r)
{
	uint64_t range[2] = { r->offset, r->len };
	const int ret = s->raw ? ioctl(s->fd, BLKDISCARD, range)
			       : fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->offset, (off_t)r->len);

	return ret ? -1 : (ssize_t)r->len;
}

static inline ssize_t move(const struct psync_state *s, const struct stb_io_req *r)
{
	if (r->dir == STB_TRIM)
		return trim(s, r);
#if defined(__LP64__) && defined(SYS_pread64) && defined(SYS_pwrite64)
	return syscall(r->dir == STB_READ ? SYS_pread64 : SYS_pwrite64, s->fd, r->buf, (size_t)r->len, r->offset);
#else
	return r->dir == STB_READ ? pread(s->fd, r->buf, r->len, (off_t)r->offset) : pwrite(s->fd, r->buf, r->len, (off_t)r->offset);
#endif
}

static int32_t psync_perform(struct stb_io_engine *e, const struct stb_io_req *r)
{
	const struct psync_state *s = e->state;
	ssize_t got;

	do {
		got = move(s, r);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : (int32_t)got;
}

static int psync_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct psync_state *s = e->state;

	if (n == 0 || s->pending)
		return 0;
	s->done = (struct stb_io_done){ slots[0], psync_perform(e, &s->reqs[slots[0]]) };
	s->pending = true;
	return 1;
}

static int psync_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct psync_state *s = e->state;

	(void)min;
	(void)wait_ns;
	if (!s->pending || max == 0)
		return 0;
	s->pending = false;
	done[0] = s->done;
	return 1;
}

static int psync_sync(struct stb_io_engine *e, bool data_only)
{
	struct psync_state *s = e->state;

	return (data_only ? fdatasync(s->fd) : fsync(s->fd)) ? -errno : 0;
}

static int psync_cancel(struct stb_io_engine *e)
{
	(void)e;
	return 0;
}

static void psync_close(struct stb_io_engine *e)
{
	free(e->state);
	e->state = NULL;
}

const struct stb_io_ops stb_io_psync = {
	.probe = psync_probe,
	.open = psync_open,
	.submit = psync_submit,
	.reap = psync_reap,
	.perform = psync_perform,
	.sync = psync_sync,
	.cancel = psync_cancel,
	.close = psync_close,
};
