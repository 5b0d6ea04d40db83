/*
 * place.c - the directory under which a volume is made: looked at first, then one marked subdirectory of our own in it.
 */
#include "runtime/storage/volume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool stb_mark_valid(const char *mark)
{
	size_t n = strlen(mark);

	if (n == 0 || n > 100)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char c = mark[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

/* The longest leading part of path that exists; path itself when all does. */
static void existing_part(const char *path, char *out, size_t size)
{
	snprintf(out, size, "%s", path);
	while (access(out, F_OK) && errno == ENOENT) {
		char *slash = strrchr(out, '/');

		if (!slash) {
			snprintf(out, size, ".");
			return;
		}
		if (slash == out) {
			out[1] = 0;
			return;
		}
		*slash = 0;
	}
}

uint64_t stb_place_free_bytes(const char *path)
{
	char part[4096];
	struct statvfs vfs;

	existing_part(path, part, sizeof(part));
	if (statvfs(part, &vfs) || vfs.f_blocks == 0) /* ramfs and some network file systems do not tell */
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}

int stb_place_check(const struct stb_volume_spec *s, const char *place, struct stb_err *err)
{
	char part[4096];
	struct stat st;

	if (strlen(place) > 3000)
		return stb_err_set(err, ENAMETOOLONG, "cannot use storage `%s`: its path has more than 3000 bytes", s->storage->name);
	if (stat(place, &st)) {
		const int errnum = errno;

		existing_part(place, part, sizeof(part));
		/* The run directory is made by the run. */
		if (errnum == ENOENT && !s->path && !access(part, W_OK | X_OK))
			return 0;
		stb_err_set(err, errnum, "cannot use directory `%s` of storage `%s`", place, s->storage->name);
		if (errnum == ENOENT)
			stb_err_remedy(err, "only `%s` exists: make the directory (mkdir -p), or change path", part);
		else
			stb_err_remedy(err, "every part of the path must be a directory that you may enter");
		stb_volume_blame(s, "path", err);
		return -1;
	}
	if (!S_ISDIR(st.st_mode)) {
		stb_err_set(err, 0, "cannot use `%s` of storage `%s`: it is not a directory", place, s->storage->name);
		stb_err_remedy(err, "path names the directory in which stb makes a subdirectory of its own");
		stb_volume_blame(s, "path", err);
		return -1;
	}
	if (faccessat(AT_FDCWD, place, W_OK | X_OK, AT_EACCESS)) {
		stb_err_set(err, errno, "cannot write in directory `%s` of storage `%s`", place, s->storage->name);
		stb_err_remedy(err, "give yourself write permission there, mount it read-write, or change path");
		stb_volume_blame(s, "path", err);
		return -1;
	}
	return 0;
}

static int write_mark(int basefd, const char *mark)
{
	const size_t n = strlen(mark);
	int fd = openat(basefd, STB_STORAGE_MARK_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, mark, n) != (ssize_t)n)
		ret = -(errno ? errno : EIO);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/* Makes stb-<mark>-<n> with the first n that is not there. */
static int make_base(struct stb_volume *v, int placefd, const char *place)
{
	const mode_t mode = geteuid() == 0 ? 0711 : 0700;
	char name[160];

	for (unsigned n = 1; n < 100000; n++) {
		int ret;

		snprintf(name, sizeof(name), "stb-%s-%u", v->env.run_mark, n);
		if (!faccessat(placefd, name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		free(v->base);
		if (asprintf(&v->base, "%s%s%s", place, !strcmp(place, "/") ? "" : "/", name) < 0)
			STB_BUG("out of memory");
		v->env.leftover(v->env.ctx, 1, "dir", v->base);
		ret = mkdirat(placefd, name, 0700) ? -errno : 0;
		if (ret == -EEXIST) {
			v->env.leftover(v->env.ctx, 0, "dir", v->base);
			continue;
		}
		if (ret) {
			v->env.leftover(v->env.ctx, 0, "dir", v->base);
			return ret;
		}
		v->made_base = true;
		return fchmodat(placefd, name, mode, 0) ? -errno : 0; /* whatever the umask was */
	}
	return -EEXIST;
}

int stb_place_make(struct stb_volume *v, const char *place, struct stb_err *err)
{
	char real[4096];
	int placefd, basefd = -1, ret;

	if (!realpath(place, real) || strlen(real) > 3000)
		return stb_err_set(err, errno, "cannot use directory `%s` of storage `%s`", place, v->spec.storage->name);
	placefd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (placefd < 0)
		return stb_err_set(err, errno, "cannot open directory `%s` of storage `%s`", real, v->spec.storage->name);
	ret = make_base(v, placefd, real);
	if (!ret) {
		basefd = openat(placefd, strrchr(v->base, '/') + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		ret = basefd < 0 ? -errno : write_mark(basefd, v->env.run_mark);
	}
	if (!ret && mkdirat(basefd, STB_STORAGE_VOL, 0700))
		ret = -errno;
	if (!ret && fchmodat(basefd, STB_STORAGE_VOL, 0700, 0))
		ret = -errno;
	if (basefd >= 0)
		close(basefd);
	close(placefd);
	if (!ret)
		return 0;
	stb_err_set(err, -ret, "cannot make a directory for volume `%s` in `%s` of storage `%s`", v->spec.volume->name, real,
		v->spec.storage->name);
	stb_err_remedy(err, ret == -ENOSPC ? "free some space there, or change path" : "see permissions and mount options of that directory");
	stb_volume_blame(&v->spec, "path", err);
	return -1;
}
