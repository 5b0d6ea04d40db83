/*
 * tree.c - removing a directory tree that is ours, and nothing else.
 *
 * Every step is relative to a directory descriptor opened with O_NOFOLLOW, so a name that is swapped for a symlink meanwhile leads nowhere.
 * A directory on another mount than the root of the tree is an error, not emptied. Depth is bounded by the array of descriptors.
 */
#include "runtime/base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 64
#define MAX_PASSES 16 /* over a directory in which somebody puts things */
#define MAX_LAST 256  /* bytes of the file that goes last */

struct level {
	DIR *dir;
	char name[256]; /* of this directory in its parent */
	unsigned passes;
};

struct mount_id {
	uint64_t id;
	uint32_t major, minor;
};

static int mount_of(int fd, struct mount_id *m)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &sx))
		return -errno;
	*m = (struct mount_id){ sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0, sx.stx_dev_major, sx.stx_dev_minor };
	return 0;
}

/* Opens directory name below fd, on the same mount as *same if given. -errno; -EXDEV for another mount. */
static int push(struct level *levels, int *n, int fd, const char *name, struct mount_id *same,
	bool first)
{
	struct mount_id m;
	int sub, ret;

	if (*n == MAX_DEPTH)
		return -ELOOP;
	sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0)
		return -errno;
	ret = mount_of(sub, &m);
	if (!ret && first)
		*same = m;
	else if (!ret && (m.id != same->id || m.major != same->major || m.minor != same->minor))
		ret = -EXDEV;
	if (!ret) {
		levels[*n].dir = fdopendir(sub);
		if (!levels[*n].dir)
			ret = -errno;
	}
	if (ret) {
		close(sub);
		return ret;
	}
	snprintf(levels[*n].name, sizeof(levels[*n].name), "%s", name);
	levels[*n].passes = 0;
	(*n)++;
	return 0;
}

/* Whether there is more than the file that goes last: entries that came meanwhile, or that were passed over when others went. Begins anew. */
static bool has_others(DIR *dir, const char *last)
{
	struct dirent *d;
	bool others = false;

	rewinddir(dir);
	while (!others && (d = readdir(dir)))
		others = strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 && strcmp(d->d_name, last) != 0;
	rewinddir(dir);
	return others;
}

/* The file that goes last, and the directory with it: where somebody has put something beside it in that moment it is there again. */
static int take_last(int dir, const char *last, int at, const char *name)
{
	char text[MAX_LAST];
	int fd = openat(dir, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret = 0;
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	if (unlinkat(dir, last, 0) && errno != ENOENT)
		return -errno;
	if (!unlinkat(at, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	ret = -errno;
	fd = n > 0 ? openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		if (write(fd, text, (size_t)n) != n)
			ret = -EIO;
		close(fd);
	}
	return ret;
}

/* Takes one entry of the topmost directory, or the directory itself when it is empty. 0 or -errno with the name in culprit. */
static int step(struct level *levels, int *n, int at, const char *last, struct mount_id *same, char *culprit, size_t size)
{
	const bool root = *n == 1;
	struct level *top = &levels[*n - 1];
	struct dirent *d;
	int ret;

	errno = 0;
	d = readdir(top->dir);
	if (!d) {
		ret = errno ? -errno : 0;
		snprintf(culprit, size, "%s", top->name);
		if (!ret && root && last && has_others(top->dir, last))
			return ++top->passes < MAX_PASSES ? 0 : -ENOTEMPTY;
		if (!ret && root && last)
			ret = take_last(dirfd(top->dir), last, at, top->name);
		closedir(top->dir);
		(*n)--;
		if (ret || (root && last))
			return ret;
		return unlinkat(*n ? dirfd(levels[*n - 1].dir) : at, top->name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
	}
	if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || (root && last && !strcmp(d->d_name, last)))
		return 0;
	snprintf(culprit, size, "%s", d->d_name);
	if (!unlinkat(dirfd(top->dir), d->d_name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM) /* EPERM: what POSIX says for a directory */
		return -errno;
	ret = push(levels, n, dirfd(top->dir), d->d_name, same, false);
	return ret == -ENOENT ? 0 : ret; /* gone meanwhile is as good */
}

int stb_tree_remove(int at, const char *name, const char *last, const char *shown, struct stb_err *err)
{
	struct level levels[MAX_DEPTH];
	struct mount_id same = { 0, 0, 0 };
	char culprit[256];
	int n = 0, ret;

	snprintf(culprit, sizeof(culprit), "%s", name);
	ret = push(levels, &n, at, name, &same, true);
	if (ret == -ENOENT)
		return 0;
	while (n && !ret)
		ret = step(levels, &n, at, last, &same, culprit, sizeof(culprit));
	while (n)
		closedir(levels[--n].dir);
	if (!ret)
		return 0;
	stb_err_set(err, -ret, "cannot remove `%s` (at `%s`)%s", shown, culprit,
		ret == -EXDEV	? ": something else is mounted there"
		: ret == -ELOOP ? ": a symbolic link, or directories nested deeper than 64"
				: "");
	stb_err_remedy(err, "look at what is there and remove it by hand; it is a directory of stb and nothing else needs it");
	return -1;
}
