/*
 * layout.c - what must be in the files before they are measured.
 *
 * Reading what was never written measures the file system's idea of a hole, so a file is filled with random data before its first read, and
 * kept as long as it has the size and no holes (unwritten extents count as holes). A raw device cannot be asked for holes; it counts as
 * filled when none of 256 blocks spread over the region is all zeros, the first and the last among them. Blocks that are trimmed are filled first
 * likewise: discarding what is not there measures nothing.
 */
#include "runtime/io/target.h"

#include "runtime/base/clock.h"
#include "runtime/base/fsname.h"
#include "runtime/base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CHUNK (1u << 20)
#define SAMPLE 4096u
#define N_SAMPLES 256u
#define MIB(bytes) ((unsigned long long)(((bytes) + (1u << 20) - 1) >> 20))

enum action { KEEP, FILL, RESERVE };

struct layout {
	const struct stb_io_config *c;
	const struct stb_io_setup *s;
	struct stb_phase *phase;
	struct stb_err *err;
	int dirfd; /* -1 on a raw volume */
	uint64_t from, bytes; /* the region of one file */
	unsigned char *chunk;
};

static bool stopped(const struct layout *l)
{
	return atomic_load_explicit(&l->phase->stop, memory_order_relaxed);
}

static bool needs_data(const struct layout *l)
{
	return l->c->reads || l->c->trims;
}

static bool has_holes(int fd, uint64_t from, uint64_t bytes)
{
	const off_t hole = lseek(fd, (off_t)from, SEEK_HOLE);

	return hole >= 0 && (uint64_t)hole < from + bytes;
}

static bool raw_is_filled(int fd, uint64_t from, uint64_t bytes, unsigned char *buf)
{
	static const unsigned char zeros[SAMPLE];
	const uint64_t blocks = bytes / SAMPLE;

	for (uint64_t i = 0; i < N_SAMPLES; i++) {
		const uint64_t block = blocks ? i * (blocks - 1) / (N_SAMPLES - 1) : 0;
		const uint32_t n = (uint32_t)STB_MIN((uint64_t)SAMPLE, bytes);

		if (pread(fd, buf, n, (off_t)(from + block * SAMPLE)) != (ssize_t)n || !memcmp(buf, zeros, n))
			return false;
	}
	return true;
}

static int no_space(const struct layout *l, uint64_t need, uint64_t have)
{
	stb_err_set(l->err, ENOSPC, "cannot lay out the files of workload `%s` in `%s`: they need %llu MiB and %llu MiB are free",
		l->c->block->name, l->s->dir ? l->s->dir : l->s->device, MIB(need), (unsigned long long)(have >> 20));
	stb_err_remedy(l->err, "lower size or numjobs, or give the volume more room");
	stb_io_config_blame(l->c, "size", l->err);
	return -1;
}

static uint64_t free_bytes(int fd)
{
	struct statvfs vfs;

	if (fstatvfs(fd, &vfs) || vfs.f_blocks == 0) /* ramfs and some network file systems do not tell */
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}

static int failed(const struct layout *l, uint32_t file, int errnum, const char *what, uint64_t left)
{
	char name[1400];

	if (errnum == ENOSPC && l->dirfd >= 0)
		return no_space(l, left, free_bytes(l->dirfd));
	stb_io_target_name(l->c, l->s, file, name, sizeof(name));
	stb_err_set(l->err, errnum, "cannot %s `%s` of workload `%s`", what, name, l->c->block->name);
	stb_io_config_blame(l->c, "filename", l->err);
	if (errnum == EIO)
		stb_err_remedy(l->err, "see the kernel log; a loop image reports this when the file system under it is full");
	if (errnum == EOPNOTSUPP)
		stb_err_remedy(l->err, "put the volume on a device or file system that can discard blocks");
	return -1;
}

/* Writes the whole region with random data; 1 when stopped early. */
static int fill(struct layout *l, int fd, uint32_t file)
{
	struct stb_rng rng;
	uint64_t at = 0;

	stb_rng_stream(&rng, l->s->seed, l->s->cell, 0, file, STB_RNG_DATA);
	if (l->dirfd >= 0 && ftruncate(fd, (off_t)l->from))
		return failed(l, file, errno, "truncate", 0);
	while (at < l->bytes) {
		const size_t n = (size_t)STB_MIN((uint64_t)CHUNK, l->bytes - at);
		size_t done = 0;

		if (stopped(l))
			return 1;
		for (size_t i = 0; i < n; i += 8) {
			const uint64_t word = stb_rng_next(&rng);

			memcpy(l->chunk + i, &word, 8);
		}
		while (done < n) {
			const ssize_t got = pwrite(fd, l->chunk + done, n - done, (off_t)(l->from + at + done));

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return failed(l, file, got ? errno : EIO, "lay out", l->bytes - at - done);
			done += (size_t)got;
		}
		at += n;
		atomic_fetch_add_explicit(&l->phase->progress_done, n, memory_order_relaxed);
	}
	if (fsync(fd))
		return failed(l, file, errno, "fsync", 0);
	stb_io_target_invalidate(fd, l->dirfd < 0);
	return 0;
}

static int reserve(struct layout *l, int fd, uint32_t file)
{
	char *without = l->phase->result.engine_without, type[64];
	int ret;

	do {
		ret = fallocate(fd, 0, (off_t)l->from, (off_t)l->bytes);
	} while (ret && errno == EINTR && !stopped(l));
	if (!ret || errno == EINTR)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return failed(l, file, errno, "reserve space for", l->bytes);
	stb_fs_name(fd, type, sizeof(type));
	if (!strstr(without, "space reserved"))
		stb_io_used_add(without, "space reserved for its files (%s has no fallocate)", type);
	return 0;
}

static int open_file(struct layout *l, uint32_t file, int *fd)
{
	char name[1400];

	stb_io_target_name(l->c, l->s, file, name, sizeof(name));
	if (l->dirfd < 0) {
		*fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		return *fd < 0 ? failed(l, file, errno, "open", 0) : 0;
	}
	*fd = stb_io_open_beneath(l->dirfd, name, O_RDWR | O_CREAT, 0600);
	if (*fd >= 0)
		return 0;
	if (*fd == -ELOOP)
		return failed(l, file, ELOOP, "open (a part of the path is a symbolic link, which stb does not follow)", 0);
	return failed(l, file, -*fd, *fd == -ENXIO ? "open (not a regular file)" : "create", l->bytes);
}

/* Discards of no bytes are not to be had; the queue says how many at most, and says 0 where there are none. */
static bool can_discard(int fd)
{
	char path[128];
	unsigned long long max = 1;
	struct stat st;
	FILE *f;

	if (fstat(fd, &st))
		return true; /* then the first trim tells */
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/discard_max_bytes", major(st.st_rdev), minor(st.st_rdev));
	f = fopen(path, "re");
	if (!f)
		return true; /* a partition has no queue of its own */
	if (fscanf(f, "%llu", &max) != 1)
		max = 1;
	fclose(f);
	return max > 0;
}

/* What a file needs, and in *grow how many more bytes the file system must have for it. */
static int decide(struct layout *l, int fd, uint32_t file, enum action *action, uint64_t *grow)
{
	struct stat st;
	uint64_t size, have;

	*grow = 0;
	if (fstat(fd, &st))
		return failed(l, file, errno, "stat", 0);
	if (l->dirfd < 0) {
		if (ioctl(fd, BLKGETSIZE64, &size))
			return failed(l, file, errno, "read the size of", 0);
		if (size < l->from + l->bytes) {
			stb_err_set(l->err, 0, "workload `%s` needs a device of %llu MiB and `%s` has %llu MiB", l->c->block->name,
				MIB(l->from + l->bytes), l->s->device, (unsigned long long)(size >> 20));
			stb_err_remedy(l->err, "lower size, or make the volume larger");
			stb_io_config_blame(l->c, "size", l->err);
			return -1;
		}
		if (l->c->trims && !can_discard(fd))
			return failed(l, file, EOPNOTSUPP, "trim (discard)", 0);
		*action = needs_data(l) && !l->c->known_filled && !raw_is_filled(fd, l->from, l->bytes, l->chunk) ? FILL : KEEP;
		return 0;
	}
	size = (uint64_t)st.st_size;
	have = (uint64_t)st.st_blocks * 512;
	/* beyond the end nothing is there to lose */
	if (l->c->trims && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)STB_MAX(size, l->from + l->bytes), SAMPLE))
		return failed(l, file, errno, "trim (punch holes into)", 0);
	if (needs_data(l))
		*action = size >= l->from + l->bytes && !has_holes(fd, l->from, l->bytes) ? KEEP : FILL;
	else
		*action = size < l->from + l->bytes && l->c->fallocate ? RESERVE : KEEP;
	if (*action != KEEP && have < l->bytes)
		*grow = l->bytes - have;
	return 0;
}

/* First pass: what is to be done, and is there room for all of it; nothing is written but empty files. */
static int survey(struct layout *l, enum action *actions, uint32_t n)
{
	uint64_t need = 0, total = 0, have;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t grow;
		int fd, ret;

		if (open_file(l, i, &fd))
			return -1;
		ret = decide(l, fd, i, &actions[i], &grow);
		close(fd);
		if (ret)
			return -1;
		need += grow;
		total += actions[i] == FILL ? l->bytes : 0;
	}
	atomic_store_explicit(&l->phase->progress_done, 0, memory_order_relaxed);
	atomic_store_explicit(&l->phase->progress_total, total, memory_order_relaxed);
	if (l->dirfd >= 0 && need) {
		have = free_bytes(l->dirfd);
		if (need > have)
			return no_space(l, need, have);
	}
	return 0;
}

static int carry_out(struct layout *l, const enum action *actions, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int fd, ret = 0;

		if (actions[i] == KEEP)
			continue;
		if (atomic_load_explicit(&l->phase->stage, memory_order_relaxed) != STB_STAGE_LAYOUT)
			stb_phase_enter(l->phase, STB_STAGE_LAYOUT, stb_clock_ns());
		if (open_file(l, i, &fd))
			return -1;
		switch (actions[i]) {
		case KEEP:
			break;
		case FILL:
			ret = fill(l, fd, i);
			break;
		case RESERVE:
			ret = reserve(l, fd, i);
			break;
		}
		close(fd);
		if (ret)
			return ret < 0 ? -1 : 0;
	}
	return 0;
}

int stb_io_layout(const struct stb_io_config *c, const struct stb_io_setup *s, struct stb_phase *phase, struct stb_err *err)
{
	struct layout l = { .c = c, .s = s, .phase = phase, .err = err, .dirfd = -1, .from = c->offset_bytes,
		.bytes = c->n_blocks * c->bs_bytes };
	const uint32_t n = s->dir ? stb_io_config_files(c) : 1;
	enum action *actions = stb_xcalloc(n, sizeof(*actions));
	int ret = -1;

	l.chunk = stb_xmalloc(CHUNK);
	if (!s->dir && c->jobs > 1 && !c->shared_file) {
		stb_err_set(err, 0, "workload `%s` has numjobs = %u on a raw volume, where all jobs meet on one device", c->block->name, c->jobs);
		stb_err_remedy(err, "set shared_file = true, or numjobs = 1");
		stb_io_config_blame(c, "numjobs", err);
		goto out;
	}
	if (s->dir) {
		l.dirfd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (l.dirfd < 0) {
			stb_err_set(err, errno, "cannot open the volume's directory `%s`", s->dir);
			goto out;
		}
	}
	ret = survey(&l, actions, n);
	if (!ret)
		ret = carry_out(&l, actions, n);
	if (l.dirfd >= 0)
		close(l.dirfd);
out:
	free(l.chunk);
	free(actions);
	return ret;
}
