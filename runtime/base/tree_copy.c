/*
 * tree_copy.c - copying a directory of data files so that each copy is worth the same to whoever measures on it.
 *
 * Blocks are copied, never shared: with FICLONE, or copy_file_range() where it comes to the same (xfs, btrfs), the first write to every block
 * would be a copy-on-write inside the measurement. Where a file has all its blocks, which a database server sees to with fallocate() for its
 * logs, so has the copy; holes stay holes. Afterwards nothing is left to be written back, and neither the files nor their copies are cached, as
 * far as the kernel grants it (tmpfs cannot forget).
 *
 * Only directories and regular files are known: anything else among a server's files is none of ours.
 */
#include "runtime/base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 16
#define CHUNK_BYTES (1u << 20)
#define STAT_BLOCK 512 /* what st_blocks counts, whatever the file system */

enum task { COUNT, COPY, FORGET };

struct copying {
	enum task task;
	uint64_t bytes;      /* COUNT */
	char *chunk;         /* COPY: CHUNK_BYTES */
	stb_tree_stop_fn *stop;
	void *ctx;
	char culprit[256];   /* the entry that a failure is about */
	dev_t dev;           /* of the tree: another one is another mount */
};

static bool is_stopped(const struct copying *c)
{
	return c->stop && c->stop(c->ctx);
}

/* 0 or -errno. */
static int copy_range(const struct copying *c, int in, int out, off_t from, off_t end)
{
	while (from < end) {
		const size_t want = (size_t)STB_MIN(end - from, (off_t)CHUNK_BYTES);
		const ssize_t got = pread(in, c->chunk, want, from);

		if (is_stopped(c))
			return -EINTR;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO; /* shorter than it was */
		for (ssize_t done = 0; done < got;) {
			const ssize_t n = pwrite(out, c->chunk + done, (size_t)(got - done), from + done);

			if (n < 0 && errno != EINTR)
				return -errno;
			done += n > 0 ? n : 0;
		}
		from += got;
	}
	return 0;
}

/* A file system that knows of no holes has data everywhere. */
static off_t next_data(int fd, off_t at, off_t size)
{
	const off_t data = lseek(fd, at, SEEK_DATA);

	return data >= 0 ? data : errno == ENXIO ? size : at;
}

static off_t next_hole(int fd, off_t at, off_t size)
{
	const off_t hole = lseek(fd, at, SEEK_HOLE);

	return hole > at && hole < size ? hole : size;
}

static int copy_bytes(const struct copying *c, int in, int out, const struct stat *st)
{
	int r = 0;

	if ((off_t)st->st_blocks * STAT_BLOCK >= st->st_size && st->st_size > 0 && fallocate(out, 0, 0, st->st_size) && errno == ENOSPC)
		return -ENOSPC;
	if (ftruncate(out, st->st_size))
		return -errno;
	for (off_t at = 0; at < st->st_size && r == 0;) {
		const off_t data = next_data(in, at, st->st_size), end = data < st->st_size ? next_hole(in, data, st->st_size) : data;

		r = copy_range(c, in, out, data, end);
		at = end;
	}
	return r;
}

static int own_as(int fd, const struct stat *st)
{
	if ((st->st_uid != geteuid() || st->st_gid != getegid()) && fchown(fd, st->st_uid, st->st_gid))
		return -errno;
	return fchmod(fd, st->st_mode & 0777) ? -errno : 0;
}

/* Written back first: what is dirty cannot be forgotten. */
static int forget(int fd)
{
	if (fdatasync(fd))
		return -errno;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* tmpfs: it has no other place */
	return 0;
}

static int copy_file(const struct copying *c, int in, const struct stat *st, int to, const char *name)
{
	const int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (out < 0)
		return -errno;
	r = own_as(out, st);
	if (r == 0)
		r = copy_bytes(c, in, out, st);
	if (r == 0)
		r = forget(out);
	if (close(out) && r == 0)
		r = -errno;
	return r;
}

static int take_file(struct copying *c, int from, const char *name, const struct stat *st, int to)
{
	int fd, r;

	if (c->task == COUNT) {
		c->bytes += (uint64_t)st->st_blocks * STAT_BLOCK; /* holes take no room */
		return 0;
	}
	fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = c->task == COPY ? copy_file(c, fd, st, to, name) : 0;
	if (r == 0)
		r = forget(fd);
	close(fd);
	return r;
}

static int take_dir(struct copying *c, int from, const char *name, int to, const char *as, int depth);

static int take_entry(struct copying *c, int from, const char *name, int to, int depth)
{
	struct stat st;

	snprintf(c->culprit, sizeof(c->culprit), "%s", name);
	if (is_stopped(c))
		return -EINTR;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return take_dir(c, from, name, to, name, depth + 1);
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	return take_file(c, from, name, &st, to);
}

/* Opens directory name, which must lie on the tree's device. -errno. */
static int open_dir(struct copying *c, int from, const char *name, struct stat *st, int depth)
{
	const int fd = depth > MAX_DEPTH ? -1 : openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return depth > MAX_DEPTH ? -ELOOP : -errno;
	if (fstat(fd, st) == 0 && (depth == 0 || st->st_dev == c->dev)) {
		c->dev = st->st_dev;
		return fd;
	}
	close(fd);
	return -EXDEV;
}

/* The copy of a directory that was just made; -errno. */
static int make_dir(int to, const char *as, const struct stat *st)
{
	int fd, r;

	if (mkdirat(to, as, 0700))
		return -errno;
	fd = openat(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = own_as(fd, st);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static int take_dir(struct copying *c, int from, const char *name, int to, const char *as, int depth)
{
	struct stat st;
	int fd, sub = -1, r = 0;
	struct dirent *d;
	DIR *dir;

	fd = open_dir(c, from, name, &st, depth);
	if (fd < 0)
		return fd;
	if (c->task == COPY && (sub = make_dir(to, as, &st)) < 0) {
		close(fd);
		return sub;
	}
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		close(fd);
		goto out;
	}
	while (r == 0 && (errno = 0, d = readdir(dir)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = take_entry(c, fd, d->d_name, sub, depth);
	if (r == 0 && errno)
		r = -errno;
	closedir(dir);
out:
	if (sub >= 0) {
		if (r == 0 && fsync(sub))
			r = -errno;
		close(sub);
	}
	return r;
}

static int carry_out(struct copying *c, int at, const char *name, const char *to, const char *verb, struct stb_err *err)
{
	int r;

	snprintf(c->culprit, sizeof(c->culprit), "%s", name);
	r = take_dir(c, at, name, at, to, 0);
	if (r == 0)
		return 0;
	if (r == -EINTR)
		return stb_err_set(err, 0, "interrupted");
	stb_err_set(err, -r, "cannot %s `%s` of `%s`%s", verb, c->culprit, name, r == -EXDEV ? ": something else is mounted there" : "");
	return -1;
}

int stb_tree_bytes(int at, const char *name, uint64_t *bytes, struct stb_err *err)
{
	struct copying c = {.task = COUNT};
	const int r = carry_out(&c, at, name, NULL, "look at", err);

	*bytes += c.bytes;
	return r;
}

int stb_tree_copy(int at, const char *name, const char *to, stb_tree_stop_fn *stop, void *ctx, struct stb_err *err)
{
	struct copying c = {.task = COPY, .stop = stop, .ctx = ctx, .chunk = stb_xmalloc(CHUNK_BYTES)};
	const int r = carry_out(&c, at, name, to, "copy", err);

	free(c.chunk);
	return r;
}

int stb_tree_forget(int at, const char *name, struct stb_err *err)
{
	struct copying c = {.task = FORGET};

	return carry_out(&c, at, name, NULL, "write back", err);
}
