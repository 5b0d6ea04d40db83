/*
 * libaio.c - Linux native asynchronous I/O (io_submit, io_getevents). The only file that includes libaio.h.
 *
 * One context a worker. The iocbs are prepared once; a submission changes offset, length, buffer and opcode of the slots that go.
 */
#include "runtime/io/engine.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if STB_HAVE_LIBAIO
#include <libaio.h>
#endif

static bool read_number(const char *dir, const char *name, unsigned long long *out)
{
	char path[256];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fscanf(f, "%llu", out) == 1;
	fclose(f);
	return ok;
}

int stb_io_libaio_explain(int errnum, uint64_t events, const char *aio_dir, struct stb_err *err)
{
	unsigned long long max = 0, used = 0;

	if (errnum == EAGAIN && read_number(aio_dir, "aio-max-nr", &max) && read_number(aio_dir, "aio-nr", &used)) {
		stb_err_set(err, EAGAIN,
			"cannot set up engine `libaio` for %llu events: %llu of the %llu that fs.aio-max-nr allows are in use",
			(unsigned long long)events, used, max);
		stb_err_remedy(err, "lower iodepth or numjobs, end other users of libaio, or raise fs.aio-max-nr");
		return -1;
	}
	if (errnum == ENOSYS) {
		stb_err_set(err, ENOSYS, "cannot use engine `libaio`: this kernel or sandbox has no io_setup");
		stb_err_remedy(err, "use ioengine = io_uring or psync");
		return -1;
	}
	stb_err_set(err, errnum, "cannot set up engine `libaio` for %llu events", (unsigned long long)events);
	stb_err_remedy(err, "use ioengine = io_uring or psync");
	return -1;
}

#if STB_HAVE_LIBAIO

struct libaio_state {
	io_context_t ctx;
	struct stb_io_req *reqs;
	int fd;
	uint32_t depth;
	uint32_t inflight;
	struct iocb *cbs;         /* a slot each */
	struct iocb **list;       /* to submit */
	struct io_event *events;
	bool *flying;             /* a slot each; for cancel */
};

static int libaio_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	io_context_t ctx = 0;
	const uint64_t events = (uint64_t)depth * jobs;
	unsigned long long max, used;
	int ret;

	/* Each context reserves its events for good, so what all jobs need together can be known now. */
	if (read_number("/proc/sys/fs", "aio-max-nr", &max) && read_number("/proc/sys/fs", "aio-nr", &used) && used + events > max)
		return stb_io_libaio_explain(EAGAIN, events, "/proc/sys/fs", err);
	ret = io_setup((int)depth, &ctx);
	if (ret < 0)
		return stb_io_libaio_explain(-ret, events, "/proc/sys/fs", err);
	io_destroy(ctx);
	return 0;
}

static int libaio_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct libaio_state *s = stb_xcalloc(1, sizeof(*s));
	int ret = io_setup((int)o->depth, &s->ctx);

	if (ret < 0) {
		free(s);
		return stb_io_libaio_explain(-ret, o->depth, "/proc/sys/fs", err);
	}
	s->fd = o->fd;
	s->depth = o->depth;
	s->reqs = o->reqs;
	s->cbs = stb_xcalloc(o->depth, sizeof(*s->cbs));
	s->list = stb_xcalloc(o->depth, sizeof(struct iocb *));
	s->events = stb_xcalloc(o->depth, sizeof(*s->events));
	s->flying = stb_xcalloc(o->depth, sizeof(*s->flying));
	for (uint32_t i = 0; i < o->depth; i++) {
		s->cbs[i].aio_fildes = o->fd;
		s->cbs[i].data = (void *)(uintptr_t)i;
	}
	e->state = s;
	return 0;
}

static int libaio_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct libaio_state *s = e->state;
	int ret;

	for (uint32_t i = 0; i < n; i++) {
		const struct stb_io_req *r = &s->reqs[slots[i]];
		struct iocb *cb = &s->cbs[slots[i]];

		cb->aio_lio_opcode = r->dir == STB_READ ? IO_CMD_PREAD : IO_CMD_PWRITE;
		cb->u.c.buf = r->buf;
		cb->u.c.nbytes = r->len;
		cb->u.c.offset = (long long)r->offset;
		s->list[i] = cb;
	}
	do {
		ret = io_submit(s->ctx, (long)n, s->list);
	} while (ret == -EINTR);
	if (ret == -EAGAIN && s->inflight)
		return 0;
	if (ret < 0)
		return ret;
	for (int i = 0; i < ret; i++)
		s->flying[slots[i]] = true;
	s->inflight += (uint32_t)ret;
	return ret;
}

static int libaio_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct libaio_state *s = e->state;
	struct timespec wait, *timeout = NULL;
	int ret;

	min = STB_MIN(min, s->inflight);
	max = STB_MIN(max, s->depth);
	if (max == 0 || s->inflight == 0)
		return 0;
	if (wait_ns && min) {
		wait.tv_sec = (time_t)(wait_ns / STB_NS_PER_S);
		wait.tv_nsec = (long)(wait_ns % STB_NS_PER_S);
		timeout = &wait;
	}
	ret = io_getevents(s->ctx, (long)min, (long)max, s->events, timeout);
	if (ret == -EINTR)
		return 0;
	if (ret < 0)
		return ret;
	for (int i = 0; i < ret; i++) {
		const uint32_t slot = (uint32_t)(uintptr_t)s->events[i].data;

		s->flying[slot] = false;
		done[i] = (struct stb_io_done){ slot, (int32_t)(long)s->events[i].res };
	}
	s->inflight -= (uint32_t)ret;
	return ret;
}

static int libaio_sync(struct stb_io_engine *e, bool data_only)
{
	struct libaio_state *s = e->state;

	return (data_only ? fdatasync(s->fd) : fsync(s->fd)) ? -errno : 0;
}

/* Of use for few kinds of file; what the kernel will not cancel completes in its own time. */
static int libaio_cancel(struct stb_io_engine *e)
{
	struct libaio_state *s = e->state;
	struct io_event unused;

	for (uint32_t i = 0; i < s->depth; i++) {
		if (s->flying[i])
			io_cancel(s->ctx, &s->cbs[i], &unused); /* the event comes through the ring either way */
	}
	return 0;
}

static void libaio_close(struct stb_io_engine *e)
{
	struct libaio_state *s = e->state;

	io_destroy(s->ctx);
	free(s->cbs);
	free(s->list);
	free(s->events);
	free(s->flying);
	free(s);
	e->state = NULL;
}

const struct stb_io_ops stb_io_libaio = {
	.probe = libaio_probe,
	.open = libaio_open,
	.submit = libaio_submit,
	.reap = libaio_reap,
	.sync = libaio_sync,
	.cancel = libaio_cancel,
	.close = libaio_close,
};

#else

static int libaio_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	(void)depth;
	(void)jobs;
	stb_err_set(err, 0, "cannot use engine `libaio`: stb was built without libaio.h");
	stb_err_remedy(err, "install libaio-dev and build again, or use ioengine = psync");
	return -1;
}

static int libaio_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	(void)e;
	return libaio_probe(o->depth, 1, err);
}

const struct stb_io_ops stb_io_libaio = { .probe = libaio_probe, .open = libaio_open };

#endif
