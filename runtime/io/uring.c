/*
 * uring.c - io_uring. The only file that includes liburing.h.
 *
 * submit writes SQEs only, and publishes those of a submit before it; reap publishes the last ones and waits in one io_uring_enter, and takes
 * all completions straight from the mapped ring.
 * The ring is made by the worker that uses it, since SINGLE_ISSUER and DEFER_TASKRUN (completions run inside our own enter, no interrupts of
 * the worker) bind it to one task. What a kernel does not have is left out rung by rung, and said in struct stb_io_used:
 *
 *     defer_taskrun (6.1)  >  coop_taskrun (5.19)  >  plain        with sqpoll only single_issuer (6.0) > plain: nothing is deferred to us
 *     registered file      >  a reference per I/O                  registerfiles = true: an error instead
 *     registered buffers   >  pages pinned per I/O                 fixedbufs = true: an error instead
 *     registered ring (5.18) > a reference per enter
 *
 * None of these changes what is measured, only what it costs; hipri and sqpoll would, so there is no rung below them.
 *
 * A file or device that cannot do non-blocking I/O (zram, some of device-mapper, network file systems) is said in struct stb_io_used too: the
 * kernel has each I/O done by a worker thread, which costs more than all else here. Two things make it cost less. The vain attempt
 * beforehand is left out (IOSQE_ASYNC). And with more than one in flight the submitter is SCHED_BATCH, and by inheritance its workers: one
 * that is woken does not interrupt the other, so they share a CPU by turns where they would wake each other across CPUs for each I/O. Raw zram,
 * depth 32: 3.5 us of CPU an I/O so became 2.4, at equal IOPS and latencies; either alone gave next to nothing.
 *
 * Buffers are registered as one piece (pieces of at most 1 GiB, the kernel's limit), not one a slot: fewer look-ups.
 *
 * Built against liburing 2.1 and later: constants that old headers lack are kernel ABI and defined here.
 */
#include "runtime/io/engine.h"

#include "runtime/base/clock.h"
#include "runtime/base/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
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

/* -1 where the file cannot be read (kernels before 6.6 have no such sysctl). */
static int read_int(const char *path)
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
	const int disabled = errnum == EPERM ? read_int(sysctl_path) : -1;

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

int stb_io_uring_explain_buffers(int errnum, uint64_t bytes, uint64_t limit_bytes, struct stb_err *err)
{
	if (errnum == ENOMEM && limit_bytes != UINT64_MAX) {
		stb_err_set(err, ENOMEM,
			"cannot register %llu KiB of buffers with io_uring: the limit of locked memory (ulimit -l) is %llu KiB for all processes "
			"of this user",
			(unsigned long long)(bytes >> 10), (unsigned long long)(limit_bytes >> 10));
		stb_err_remedy(err, "raise the limit, lower iodepth, numjobs or bs, or set fixedbufs = false");
		return -1;
	}
	stb_err_set(err, errnum, "cannot register %llu KiB of buffers with io_uring", (unsigned long long)(bytes >> 10));
	stb_err_remedy(err, "set fixedbufs = false, or leave it out to use registered buffers where they can be had");
	return -1;
}

bool stb_io_uring_lock_limit(uint64_t *bytes)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_MEMLOCK, &lim) || lim.rlim_cur == RLIM_INFINITY || stb_has_capability(CAP_IPC_LOCK))
		return false;
	*bytes = lim.rlim_cur;
	return true;
}

int stb_io_uring_check_locked(uint64_t bytes, struct stb_err *err)
{
	uint64_t limit;

	if (!stb_io_uring_lock_limit(&limit) || bytes <= limit)
		return 0;
	return stb_io_uring_explain_buffers(ENOMEM, bytes, limit, err);
}

int stb_io_uring_check_polling(int fd, const char *root, struct stb_err *err)
{
	static const char *const queues[] = { "queue/io_poll", "../queue/io_poll" }; /* of a disk; of a partition's disk */
	struct stat st;
	char path[300];
	dev_t dev;

	if (fstat(fd, &st))
		return stb_err_set(err, errno, "cannot look at the file to be polled");
	dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	for (size_t i = 0; i < STB_LEN(queues); i++) {
		int polls;

		snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u/%s", root, major(dev), minor(dev), queues[i]);
		polls = read_int(path);
		if (polls == 1)
			return 0;
		if (polls == 0) {
			stb_err_set(err, 0, "cannot poll for completions (hipri): the device under the volume has no poll queues (`%s` is 0)", path);
			stb_err_remedy(err, "set hipri = false, or give the driver poll queues (nvme: poll_queues=N, virtio_blk: poll_queues=N)");
			return -1;
		}
	}
	stb_err_set(err, 0, "cannot poll for completions (hipri): there is no block device with poll queues under the volume");
	stb_err_remedy(err, "set hipri = false, or put the volume on a device that can be polled, such as NVMe");
	return -1;
}

bool stb_io_uring_blocks(int fd)
{
	const struct iovec nowhere = { NULL, 4096 }; /* refused before, or with EFAULT: nothing is read */

	return preadv2(fd, &nowhere, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
}

#if STB_HAVE_URING

#define CANCEL_TAG (UINT64_MAX - 1) /* user_data of a cancel request itself */
#define PIECE_BYTES (1ull << 30)    /* the most one registered buffer may have */

struct uring_state {
	struct io_uring ring;
	struct stb_io_req *reqs;
	int fd;
	uint32_t depth;
	uint32_t inflight; /* taken and not reaped */
	uint8_t *flying;   /* a slot each; for cancel */
	bool sqpoll;
	/* what an SQE begins with */
	int sqe_fd;
	uint8_t sqe_flags;
	/* registered buffers: [fixed, fixed + fixed_bytes) in pieces of piece_bytes */
	unsigned char *fixed;
	uint64_t fixed_bytes, piece_bytes;
};

struct rung {
	unsigned flags;
	const char *word;
};

/* 0 or -errno; *rung is what was had, NULL with the plainest. */
static int ring_setup(struct io_uring *ring, uint32_t depth, const struct stb_io_ring_ask *ask, const char **rung)
{
	static const struct rung usual[] = {
		{ IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, "defer_taskrun" },
		{ IORING_SETUP_COOP_TASKRUN, "coop_taskrun" },
		{ 0, NULL },
	};
	static const struct rung polled[] = { { IORING_SETUP_SINGLE_ISSUER, "single_issuer" }, { 0, NULL } };
	const struct rung *ladder = ask->sqpoll ? polled : usual;
	const size_t n = ask->sqpoll ? STB_LEN(polled) : STB_LEN(usual);
	const unsigned always = (ask->sqpoll ? IORING_SETUP_SQPOLL : 0) | (ask->hipri ? IORING_SETUP_IOPOLL : 0);
	int ret = -EINVAL;

	for (size_t i = 0; i < n && ret == -EINVAL; i++) {
		ret = io_uring_queue_init(depth, ring, ladder[i].flags | always);
		*rung = ladder[i].word;
	}
	return ret;
}

static int uring_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	static const struct stb_io_ring_ask nothing;
	struct io_uring ring;
	const char *rung;
	int ret = ring_setup(&ring, depth, &nothing, &rung);
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

static int register_file(struct uring_state *s, const struct stb_io_open *o, struct stb_io_used *used, struct stb_err *err)
{
	int ret;

	s->sqe_fd = o->fd;
	if (o->ring.registerfiles == STB_IO_NO)
		return 0;
	ret = io_uring_register_files(&s->ring, &o->fd, 1);
	if (ret >= 0) {
		s->sqe_fd = 0;
		s->sqe_flags = IOSQE_FIXED_FILE;
		stb_io_used_add(used->with, "registered file");
		return 0;
	}
	if (o->ring.registerfiles == STB_IO_YES) {
		stb_err_set(err, -ret, "cannot register the file with io_uring");
		stb_err_remedy(err, "set registerfiles = false, or leave it out to use a registered file where it can be had");
		return -1;
	}
	stb_io_used_add(used->without, "registered file (%s)", strerror(-ret));
	return 0;
}

static int register_buffers(struct uring_state *s, const struct stb_io_open *o, struct stb_io_used *used, struct stb_err *err)
{
	struct iovec *pieces;
	uint64_t limit;
	uint32_t n;
	int ret;

	if (o->ring.fixedbufs == STB_IO_NO || !o->buffers || o->stride > PIECE_BYTES)
		return 0;
	s->piece_bytes = PIECE_BYTES / o->stride * o->stride;
	n = (uint32_t)((o->buffer_bytes + s->piece_bytes - 1) / s->piece_bytes);
	pieces = stb_xcalloc(n, sizeof(*pieces));
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t at = i * s->piece_bytes;

		pieces[i] = (struct iovec){ o->buffers + at, (size_t)STB_MIN(s->piece_bytes, o->buffer_bytes - at) };
	}
	ret = io_uring_register_buffers(&s->ring, pieces, n);
	free(pieces);
	if (ret >= 0) {
		s->fixed = o->buffers;
		s->fixed_bytes = o->buffer_bytes;
		stb_io_used_add(used->with, "registered buffers");
		return 0;
	}
	if (o->ring.fixedbufs == STB_IO_YES)
		return stb_io_uring_explain_buffers(-ret, o->buffer_bytes, stb_io_uring_lock_limit(&limit) ? limit : UINT64_MAX, err);
	stb_io_used_add(used->without, "registered buffers (%s%s)", strerror(-ret), ret == -ENOMEM ? ": see ulimit -l" : "");
	return 0;
}

/* Each I/O of this file is going to be done by a worker. */
static void use_workers(struct uring_state *s, const struct stb_io_open *o, struct stb_io_used *used)
{
	static const struct sched_param none;

	s->sqe_flags |= IOSQE_ASYNC;
	stb_io_used_add(used->without, "non-blocking I/O (the file or device has none: kernel workers do each I/O)");
	if (o->depth > 1 && !o->ring.sqpoll && sched_getscheduler(0) == SCHED_OTHER && !sched_setscheduler(0, SCHED_BATCH, &none))
		stb_io_used_add(used->with, "sched_batch");
}

static int setup_failed(const struct stb_io_ring_ask *ask, int errnum, struct stb_err *err)
{
	if ((ask->sqpoll && errnum == EPERM) || ((ask->sqpoll || ask->hipri) && errnum == EINVAL)) {
		stb_err_set(err, errnum, "cannot set up engine `io_uring` with %s%s%s", ask->sqpoll ? "sqpoll" : "",
			ask->sqpoll && ask->hipri ? " and " : "", ask->hipri ? "hipri" : "");
		stb_err_remedy(err, "set %s = false, or use a newer kernel", ask->sqpoll ? "sqpoll" : "hipri");
		return -1;
	}
	return stb_io_uring_explain(errnum, SYSCTL_PATH, err);
}

static int uring_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct uring_state *s;
	struct stb_io_used scratch = { "", "" }, *used = o->used ? o->used : &scratch;
	const char *rung = NULL;
	int ret;

	if (o->ring.hipri && stb_io_uring_check_polling(o->fd, "", err))
		return -1;
	s = stb_xcalloc(1, sizeof(*s));
	ret = ring_setup(&s->ring, o->depth, &o->ring, &rung);
	if (ret < 0) {
		free(s);
		return setup_failed(&o->ring, -ret, err);
	}
	if (rung)
		stb_io_used_add(used->with, "%s", rung);
	if (!o->ring.sqpoll && (!rung || strcmp(rung, "defer_taskrun")))
		stb_io_used_add(used->without, "defer_taskrun (this kernel is older than 6.1)");
	if (o->ring.sqpoll)
		stb_io_used_add(used->with, "sqpoll");
	if (o->ring.hipri)
		stb_io_used_add(used->with, "hipri");
	if (register_file(s, o, used, err) || register_buffers(s, o, used, err)) {
		io_uring_queue_exit(&s->ring);
		free(s);
		return -1;
	}
	if (!o->ring.hipri && stb_io_uring_blocks(o->fd))
		use_workers(s, o, used);
#if HAVE_RING_FD
	if (io_uring_register_ring_fd(&s->ring) == 1)
		stb_io_used_add(used->with, "registered ring");
	else
		stb_io_used_add(used->without, "registered ring (this kernel is older than 5.18)");
#else
	stb_io_used_add(used->without, "registered ring (stb was built with a liburing older than 2.2)");
#endif
	s->fd = o->fd;
	s->depth = o->depth;
	s->reqs = o->reqs;
	s->sqpoll = o->ring.sqpoll;
	s->flying = stb_xcalloc(o->depth, 1);
	e->state = s;
	return 0;
}

static inline void prepare(const struct uring_state *s, struct io_uring_sqe *sqe, uint32_t slot)
{
	const struct stb_io_req *r = &s->reqs[slot];
	const uint64_t at = (uint64_t)(r->buf - s->fixed); /* wraps to something great where it is not in the registered buffers */
	const bool fixed = at < s->fixed_bytes;

	if (r->dir == STB_READ)
		io_uring_prep_rw(fixed ? IORING_OP_READ_FIXED : IORING_OP_READ, sqe, s->sqe_fd, r->buf, r->len, r->offset);
	else
		io_uring_prep_rw(fixed ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE, sqe, s->sqe_fd, r->buf, r->len, r->offset);
	if (__builtin_expect(fixed && s->fixed_bytes > s->piece_bytes, 0))
		sqe->buf_index = (uint16_t)(at / s->piece_bytes);
	sqe->flags = s->sqe_flags;
	sqe->user_data = slot;
}

static int uring_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct uring_state *s = e->state;
	uint32_t i;

	/* A full completion ring says EBUSY or EAGAIN: then it all waits for the reap. */
	if (io_uring_sq_ready(&s->ring))
		(void)io_uring_submit(&s->ring);
	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

		if (!sqe && s->sqpoll) { /* the kernel's thread has not yet taken what is there */
			(void)io_uring_submit(&s->ring);
			(void)io_uring_sqring_wait(&s->ring);
			sqe = io_uring_get_sqe(&s->ring);
		}
		if (!sqe)
			break;
		prepare(s, sqe, slots[i]);
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
		if (__builtin_expect(cqe->user_data == CANCEL_TAG, 0))
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
