/*
 * libaio.c - Linux native asynchronous I/O (io_submit, io_getevents). The only file that includes libaio.h.
 *
 * One context a worker. The iocbs are prepared once; a submission changes offset, length, buffer and opcode of the slots that go, and all
 * that go are handed over in one io_submit.
 *
 * The context's address is that of its completion ring, which the kernel maps into the process: what is complete is taken from there without
 * a system call where the ring says that it is the one known here (magic, no incompatible feature), and io_getevents is called only to wait.
 * The kernel allows it (it reads head again under its own lock) as long as one thread reaps, and the worker is that thread.
 */
#include "runtime/io/engine.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <stdatomic.h>
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

#define RING_MAGIC 0xa10a10a1u

/* struct aio_ring of the kernel's fs/aio.c: what an io_context_t points to. */
struct ring {
	unsigned id, nr;
	_Atomic unsigned head, tail;
	unsigned magic, compat_features, incompat_features, header_length;
	struct io_event events[];
};

struct libaio_state {
	io_context_t ctx;
	struct ring *ring;        /* NULL: not one that can be read here */
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
	s->ring = (struct ring *)s->ctx;
	if (s->ring->magic != RING_MAGIC || s->ring->incompat_features || s->ring->header_length != sizeof(struct ring))
		s->ring = NULL;
	if (o->used)
		stb_io_used_add(s->ring ? o->used->with : o->used->without, s->ring ? "reaping in user space"
			: "reaping in user space (this kernel's completion ring is not the one known)");
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

static inline void hand_over(struct libaio_state *s, const struct io_event *ev, struct stb_io_done *done)
{
	const uint32_t slot = (uint32_t)(uintptr_t)ev->data;

	s->flying[slot] = false;
	*done = (struct stb_io_done){ slot, (int32_t)(long)ev->res };
}

/* Takes up to max completions from the mapped ring. */
static inline uint32_t take(struct libaio_state *s, struct stb_io_done *done, uint32_t max)
{
	struct ring *ring = s->ring;
	unsigned head, tail;
	uint32_t got = 0;

	if (!ring)
		return 0;
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	while (head != tail && got < max) {
		hand_over(s, &ring->events[head], &done[got++]);
		if (++head == ring->nr)
			head = 0;
	}
	if (got)
		atomic_store_explicit(&ring->head, head, memory_order_release);
	return got;
}

static int libaio_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct libaio_state *s = e->state;
	struct timespec wait, *timeout = NULL;
	uint32_t got;
	int ret;

	min = STB_MIN(min, s->inflight);
	max = STB_MIN(max, s->depth);
	got = take(s, done, max);
	s->inflight -= got;
	if (got == max || s->inflight == 0 || (got >= min && s->ring))
		return (int)got;
	min = got < min ? min - got : 0;
	if (wait_ns && min) {
		wait.tv_sec = (time_t)(wait_ns / STB_NS_PER_S);
		wait.tv_nsec = (long)(wait_ns % STB_NS_PER_S);
		timeout = &wait;
	}
	ret = io_getevents(s->ctx, (long)min, (long)(max - got), s->events, timeout);
	if (ret == -EINTR)
		ret = 0;
	if (ret < 0)
		return got ? (int)got : ret;
	for (int i = 0; i < ret; i++)
		hand_over(s, &s->events[i], &done[got++]);
	s->inflight -= (uint32_t)ret;
	return (int)got;
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
