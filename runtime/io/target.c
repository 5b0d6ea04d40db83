/*
 * target.c - opening an io workload's files beneath the volume, and nothing outside it.
 *
 * The way to a file is walked component by component with O_NOFOLLOW, and the last step is an openat2 that the kernel itself holds to
 * "beneath, no symlinks". Either alone would do today; the walk works on kernels and in sandboxes without openat2.
 */
#include "runtime/io/target.h"

#include "runtime/base/fsname.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_last(int dirfd, const char *name, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	long fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(dirfd, name, (int)how.flags, mode);
	return fd < 0 ? -errno : (int)fd;
}

/* A descriptor of the directory that holds the last component, which *last points to. -errno. */
static int walk(int dirfd, const char *rel, bool create, const char **last)
{
	int fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (;;) {
		const size_t n = strcspn(rel, "/");
		char name[256];
		int next;

		if (!rel[n]) {
			*last = rel;
			return fd;
		}
		if (n >= sizeof(name)) {
			close(fd);
			return -ENAMETOOLONG;
		}
		memcpy(name, rel, n);
		name[n] = 0;
		if (create && mkdirat(fd, name, 0700) && errno != EEXIST) {
			next = -errno;
			close(fd);
			return next;
		}
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = errno == ENOTDIR ? -ELOOP : -errno;
		close(fd);
		if (next < 0)
			return next;
		fd = next;
		rel += n + 1;
	}
}

int stb_io_open_beneath(int dirfd, const char *rel, int flags, mode_t mode)
{
	const char *last = rel;
	struct stat st;
	int parent, fd;

	if (stb_io_filename_fault(rel))
		return -EXDEV;
	parent = walk(dirfd, rel, flags & O_CREAT, &last);
	if (parent < 0)
		return parent;
	fd = open_last(parent, last, flags, mode);
	close(parent);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENXIO;
	}
	/* O_NONBLOCK kept a FIFO from hanging the open; with io_uring it would turn waits into EAGAIN. */
	if (fcntl(fd, F_SETFL, flags & O_DIRECT) < 0) {
		const int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

void stb_io_target_name(const struct stb_io_config *c, const struct stb_io_setup *s, uint32_t job, char *out, size_t size)
{
	if (!s->dir)
		snprintf(out, size, "%s", s->device);
	else if (stb_io_config_files(c) == 1)
		snprintf(out, size, "%s", c->filename);
	else
		snprintf(out, size, "%s.%u", c->filename, job);
}

static int refuse_direct(const struct stb_io_config *c, int at, const char *place, const char *name, struct stb_err *err)
{
	char type[64];

	stb_fs_name(at, type, sizeof(type));
	stb_err_set(err, EINVAL, "cannot open `%s%s%s` for direct I/O: %s refuses O_DIRECT", place, *place ? "/" : "", name, type);
	stb_err_remedy(err, "set direct = false, or put the volume on a file system that supports direct I/O");
	stb_io_config_blame(c, "direct", err);
	return -1;
}

static int open_failed(const struct stb_io_config *c, const struct stb_io_setup *s, uint32_t job, int dirfd, int errnum, struct stb_err *err)
{
	char name[1400];
	const char *place = s->dir ? s->dir : "";

	stb_io_target_name(c, s, job, name, sizeof(name));
	if (errnum == EINVAL && c->direct)
		return refuse_direct(c, dirfd, place, name, err);
	stb_err_set(err, errnum, "cannot open `%s%s%s`%s", place, *place ? "/" : "", name,
		errnum == ELOOP ? ": a part of the path is a symbolic link, which stb does not follow"
		: errnum == ENXIO ? ": not a regular file"
				  : "");
	if (errnum == EMFILE || errnum == ENFILE)
		stb_err_remedy(err, "raise the limit of open files (ulimit -n), or lower numjobs");
	else if (errnum == ELOOP || errnum == ENXIO)
		stb_err_remedy(err, "name a file that does not exist yet or that an earlier cell of this run made");
	else
		stb_err_remedy(err, "see what else changes the volume during the run");
	stb_io_config_blame(c, "filename", err);
	return -1;
}

int stb_io_target_open(const struct stb_io_config *c, const struct stb_io_setup *s, uint32_t job, int *fd, struct stb_err *err)
{
	const int flags = (c->writes || c->trims ? O_RDWR : O_RDONLY) | (c->direct ? O_DIRECT : 0) | (c->writes ? c->open_flags : 0);
	char name[1400];
	int dirfd = -1, ret;

	stb_io_target_name(c, s, job, name, sizeof(name));
	if (!s->dir) {
		*fd = open(s->device, flags | O_CLOEXEC | O_NOFOLLOW);
		return *fd < 0 ? open_failed(c, s, job, -1, errno, err) : 0;
	}
	dirfd = open(s->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return stb_err_set(err, errno, "cannot open the volume's directory `%s`", s->dir);
	ret = stb_io_open_beneath(dirfd, name, flags, 0);
	if (ret < 0)
		open_failed(c, s, job, dirfd, -ret, err);
	close(dirfd);
	if (ret < 0)
		return -1;
	*fd = ret;
	return 0;
}

int stb_io_target_probe_direct(const struct stb_io_config *c, const char *dir, int at, struct stb_err *err)
{
	int fd = openat(at, ".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	bool refused = fd < 0 && errno == EINVAL;

	if (fd >= 0)
		close(fd);
	if (!refused)
		return 0;
	fd = openat(at, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* is it O_DIRECT that it did not like? */
	if (fd < 0)
		return 0;
	close(fd);
	return refuse_direct(c, at, dir, c->filename, err);
}

void stb_io_target_invalidate(int fd, bool raw)
{
	if (raw)
		(void)ioctl(fd, BLKFLSBUF, 0);
	else
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}
