/*
 * uring.c - io_uring. The only file that includes liburing.h.
 *
 * submit writes SQEs only; reap publishes and waits in one io_uring_enter. The ring is made by the worker that uses it, since
 * SINGLE_ISSUER and DEFER_TASKRUN (completions run inside our own enter, no interrupts of the worker) bind it to one task. Kernels that do
 * not know a flag answer EINVAL, and the next rung of the ladder is tried: COOP_TASKRUN (5.19), then plain. The file is registered, so an
 * I/O takes no reference on it.
 *
 * Built against liburing 2.1 and later: constants that old headers lack are kernel ABI and defined here.
 */
#include "runtime/io/engine.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if STB_HAVE_URING
#include <liburing.h>

#ifdef IORING_SETUP_SQE128 /* since 2.2, as is io_uring_register_ring_fd */
#define HAVE_RING_FD 1
#else
#define HAVE_RING_FD 0
#endif
#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#endif

#define SYSCTL_PATH "/proc/sys/kernel/io_uring_disabled"

/* -1 where the sysctl cannot be read (kernels before 6.6 have none). */
static int read_disabled(const char *path)
{
	FILE *f = fopen(path, "re");
	int value = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

int stb_io_uring_explain(int errnum, const char *sysctl_path, struct stb_err *err)
{
	const int disabled = errnum == EPERM ? read_disabled(sysctl_path) : -1;

	if (errnum == EPERM && (disabled == 1 || disabled == 2)) {
		stb_err_set(err, EPERM, "cannot use engine `io_uring`: it is switched off by kernel.io_uring_disabled = %d%s", disabled,
			disabled == 1 ? " (allowed to root and to the group kernel.io_uring_group only)" : " (for everyone)");
		stb_err_remedy(err, "%suse ioengine = libaio, or have an administrator set kernel.io_uring_disabled = 0",
			disabled == 1 ? "run as root, " : "");
		return -1;
	}
	if (errnum == EPERM) {
		stb_err_set(err, EPERM, "cannot use engine `io_uring`: a sandbox around stb forbids it (seccomp, as in containers)");
		stb_err_remedy(err, "use ioengine = libaio, or start the container with a seccomp profile that allows io_uring_setup");
		return -1;
	}
	if (errnum == ENOSYS) {
		stb_err_set(err, ENOSYS, "cannot use engine `io_uring`: this kernel has none (older than 5.1, or built without CONFIG_IO_URING)");
		stb_err_remedy(err, "use ioengine = libaio, or a newer kernel");
		return -1;
	}
	stb_err_set(err, errnum, "cannot set up engine `io_uring`");
	if (errnum == ENOMEM)
		stb_err_remedy(err, "raise the limit of locked memory (ulimit -l), or lower iodepth or numjobs");
	else
		stb_err_remedy(err, "use ioengine = libaio or psync");
	return -1;
}

#if STB_HAVE_URING

#define CANCEL_TAG (UINT64_MAX - 1) /* user_data of a cancel request itself */

struct uring_state {
	struct io_uring ring;
	struct stb_io_req *reqs;
	int fd;
	uint32_t depth;
	uint32_t inflight; /* taken and not reaped */
	uint8_t *flying;   /* a slot each; for cancel */
};

/* 0 or -errno. */
static int ring_setup(struct io_uring *ring, uint32_t depth)
{
	static const unsigned ladder[] = { IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN, 0 };
	int ret = -EINVAL;

	for (size_t i = 0; i < STB_LEN(ladder) && ret == -EINVAL; i++)
		ret = io_uring_queue_init(depth, ring, ladder[i]);
	return ret;
}

static int uring_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	struct io_uring ring;
	int ret = ring_setup(&ring, depth);
	bool timed_wait;

	(void)jobs;
	if (ret < 0)
		return stb_io_uring_explain(-ret, SYSCTL_PATH, err);
	timed_wait = ring.features & IORING_FEAT_EXT_ARG;
	io_uring_queue_exit(&ring);
	if (!timed_wait) {
		stb_err_set(err, 0, "cannot use engine `io_uring`: this kernel is older than 5.11");
		stb_err_remedy(err, "use ioengine = libaio, or a newer kernel");
		return -1;
	}
	return 0;
}

static int uring_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct uring_state *s = stb_xcalloc(1, sizeof(*s));
	int ret = ring_setup(&s->ring, o->depth);

	if (ret < 0) {
		free(s);
		return stb_io_uring_explain(-ret, SYSCTL_PATH, err);
	}
	ret = io_uring_register_files(&s->ring, &o->fd, 1);
	if (ret < 0) {
		io_uring_queue_exit(&s->ring);
		free(s);
		stb_err_set(err, -ret, "cannot register the file with io_uring");
		stb_err_remedy(err, "use ioengine = libaio or psync");
		return -1;
	}
#if HAVE_RING_FD
	(void)io_uring_register_ring_fd(&s->ring); /* saves a reference per enter; kernels before 5.18 do without */
#endif
	s->fd = o->fd;
	s->depth = o->depth;
	s->reqs = o->reqs;
	s->flying = stb_xcalloc(o->depth, 1);
	e->state = s;
	return 0;
}

static int uring_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct uring_state *s = e->state;
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct stb_io_req *r = &s->reqs[slots[i]];
		struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

		if (!sqe)
			break;
		io_uring_prep_rw(r->dir == STB_READ ? IORING_OP_READ : IORING_OP_WRITE, sqe, 0, r->buf, r->len, r->offset);
		sqe->flags = IOSQE_FIXED_FILE;
		sqe->user_data = slots[i];
		s->flying[slots[i]] = 1;
	}
	s->inflight += i;
	return (int)i;
}

/* Publishes what is prepared and waits for `min` completions in one system call. 0 or -errno. */
static int enter(struct uring_state *s, uint32_t min, uint64_t wait_ns)
{
	int ret;

	if (wait_ns && min) {
		struct __kernel_timespec ts = { (long long)(wait_ns / STB_NS_PER_S), (long long)(wait_ns % STB_NS_PER_S) };
		struct io_uring_cqe *cqe = NULL;

		ret = io_uring_submit_and_wait_timeout(&s->ring, &cqe, min, &ts, NULL);
	} else {
		ret = io_uring_submit_and_wait(&s->ring, min);
	}
	/* An interrupted or timed-out wait returns what there is; EBUSY and EAGAIN ask to reap first. */
	if (ret == -EINTR || ret == -ETIME || ret == -EAGAIN || ret == -EBUSY)
		return 0;
	return ret < 0 ? ret : 0;
}

static int uring_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct uring_state *s = e->state;
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0;
	uint32_t got = 0;
	int ret;

	min = STB_MIN(min, s->inflight);
	if (io_uring_sq_ready(&s->ring) || io_uring_cq_ready(&s->ring) < STB_MAX(min, 1u)) {
		ret = enter(s, min, wait_ns);
		if (ret < 0)
			return ret;
	}
	io_uring_for_each_cqe(&s->ring, head, cqe) {
		if (got == max)
			break;
		seen++;
		if (cqe->user_data == CANCEL_TAG)
			continue;
		s->flying[cqe->user_data] = 0;
		done[got++] = (struct stb_io_done){ (uint32_t)cqe->user_data, cqe->res };
	}
	io_uring_cq_advance(&s->ring, seen);
	s->inflight -= got;
	return (int)got;
}

static int uring_sync(struct stb_io_engine *e, bool data_only)
{
	struct uring_state *s = e->state;

	return (data_only ? fdatasync(s->fd) : fsync(s->fd)) ? -errno : 0;
}

static int uring_cancel(struct stb_io_engine *e)
{
	struct uring_state *s = e->state;
	int ret = io_uring_submit(&s->ring);

	for (uint32_t i = 0; i < s->depth && ret >= 0; i++) {
		struct io_uring_sqe *sqe;

		if (!s->flying[i])
			continue;
		sqe = io_uring_get_sqe(&s->ring);
		if (!sqe)
			break;
		io_uring_prep_rw(IORING_OP_ASYNC_CANCEL, sqe, -1, (void *)(uintptr_t)i, 0, 0); /* addr: the user_data to end */
		sqe->user_data = CANCEL_TAG;
		ret = io_uring_submit(&s->ring);
	}
	return ret < 0 ? ret : 0;
}

static void uring_close(struct stb_io_engine *e)
{
	struct uring_state *s = e->state;

	io_uring_queue_exit(&s->ring);
	free(s->flying);
	free(s);
	e->state = NULL;
}

const struct stb_io_ops stb_io_uring = {
	.probe = uring_probe,
	.open = uring_open,
	.submit = uring_submit,
	.reap = uring_reap,
	.sync = uring_sync,
	.cancel = uring_cancel,
	.close = uring_close,
};

#else

static int uring_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	(void)depth;
	(void)jobs;
	stb_err_set(err, 0, "cannot use engine `io_uring`: stb was built without liburing.h");
	stb_err_remedy(err, "install liburing-dev and build again, or use ioengine = libaio");
	return -1;
}

static int uring_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	(void)e;
	return uring_probe(o->depth, 1, err);
}

const struct stb_io_ops stb_io_uring = { .probe = uring_probe, .open = uring_open };

#endif
