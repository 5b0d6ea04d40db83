/*
 * undo.c - cleaning after a run that was killed: one announced object at a time, from the words of its journal.
 *
 * The journal is a file that somebody may have changed, so it is believed in nothing: an object is touched only if its path leads through a
 * real directory (no symlink) whose name carries the run's mark and whose mark file says the same.
 */
#include "runtime/storage/volume.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DETACH_STEPS 100
#define DETACH_STEP_NS 20000000u

/* A path cut at its base: <place> / stb-<mark>-<n> / rest. */
struct marked {
	char place[4096];
	char base[160];
	char rest[256]; /* "" for the base itself */
	int place_fd, base_fd; /* -1 when the base is not there any more */
};

static bool base_name_ok(const char *name, size_t n, const char *mark)
{
	char want[160];
	const int len = snprintf(want, sizeof(want), "stb-%s-", mark);

	if (n <= (size_t)len || n >= sizeof(want) || memcmp(name, want, (size_t)len))
		return false;
	return strspn(name + len, "0123456789") == n - (size_t)len;
}

/* Cuts object at the last component that is a base of this run. */
static bool cut(struct marked *m, const char *object, const char *mark)
{
	const char *found = NULL;
	size_t found_len = 0;

	if (object[0] != '/' || strlen(object) >= sizeof(m->place) || strstr(object, "/../"))
		return false;
	for (const char *p = object; *p; p += strcspn(p, "/")) {
		size_t n;

		p += *p == '/';
		n = strcspn(p, "/");
		if (base_name_ok(p, n, mark)) {
			found = p;
			found_len = n;
		}
		if (n == 0)
			break;
	}
	if (!found)
		return false;
	snprintf(m->place, sizeof(m->place), "%.*s", (int)(found - object), object);
	snprintf(m->base, sizeof(m->base), "%.*s", (int)found_len, found);
	if (found[found_len] == 0) {
		m->rest[0] = 0;
		return true;
	}
	/* Right below the base, nothing deeper is ever announced. */
	if (strchr(found + found_len + 1, '/') || strlen(found + found_len + 1) >= sizeof(m->rest))
		return false;
	snprintf(m->rest, sizeof(m->rest), "%s", found + found_len + 1);
	return true;
}

/* Whether the base's mark file holds the mark. */
static int check_mark(int base_fd, const char *mark)
{
	char text[128];
	int fd = openat(base_fd, STB_STORAGE_MARK_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n == (ssize_t)strlen(mark) && !memcmp(text, mark, (size_t)n) ? 0 : -EPERM;
}

static int open_marked(struct marked *m, const char *object, const char *mark, struct stb_err *err)
{
	m->base_fd = m->place_fd = -1;
	if (!cut(m, object, mark)) {
		stb_err_set(err, 0, "`%s` does not carry the mark of run `%s`: it was left alone", object, mark);
		stb_err_remedy(err, "if it is a leftover, remove it by hand");
		return -1;
	}
	m->place_fd = open(m->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->place_fd < 0)
		return errno == ENOENT ? 0 : stb_err_set(err, errno, "cannot open `%s`", m->place);
	m->base_fd = openat(m->place_fd, m->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (m->base_fd < 0 && errno != ENOENT) {
		stb_err_set(err, errno, "cannot open `%s%s`: it was left alone", m->place, m->base);
		close(m->place_fd);
		m->place_fd = -1;
		return -1;
	}
	return 0;
}

static void close_marked(struct marked *m)
{
	if (m->base_fd >= 0)
		close(m->base_fd);
	if (m->place_fd >= 0)
		close(m->place_fd);
}

static int undo_dir(struct marked *m, const char *mark, const char *object, struct stb_err *err)
{
	const int ret = check_mark(m->base_fd, mark);

	if (m->rest[0])
		return stb_err_set(err, 0, "`%s` is not a directory that stb announces: it was left alone", object);
	if (ret == -ENOENT) { /* killed between mkdir and mark: then it is empty */
		if (!unlinkat(m->place_fd, m->base, AT_REMOVEDIR))
			return 0;
		return stb_err_set(err, errno, "`%s` has no mark file: it was left alone", object);
	}
	if (ret)
		return stb_err_set(err, -ret, "the mark file in `%s` is not that of run `%s`: it was left alone", object, mark);
	return stb_tree_remove(m->place_fd, m->base, STB_STORAGE_MARK_FILE, object, err);
}

static enum stb_undo undo_zram(struct marked *m, const char *mark, const char *object, struct stb_err *err)
{
	const int ret = check_mark(m->base_fd, mark);
	enum stb_undo undone;

	if (ret || strcmp(m->rest, STB_STORAGE_ZRAM))
		return (enum stb_undo)stb_err_set(err, ret < 0 ? -ret : 0, "`%s` is not what run `%s` made: it was left alone", object, mark);
	undone = stb_zram_undo(m->base_fd, object, err);
	if (undone != STB_UNDO_FAILED && unlinkat(m->base_fd, m->rest, 0) && errno != ENOENT)
		return (enum stb_undo)stb_err_set(err, errno, "cannot remove `%s`", object);
	return undone;
}

static enum stb_undo undo_below(struct marked *m, const char *mark, const char *kind, const char *object, struct stb_err *err)
{
	const bool is_mount = !strcmp(kind, "mount");
	const int ret = check_mark(m->base_fd, mark);
	char path[320];

	if (ret || strcmp(m->rest, is_mount ? STB_STORAGE_VOL : STB_STORAGE_IMAGE))
		return (enum stb_undo)stb_err_set(err, ret < 0 ? -ret : 0, "`%s` is not what run `%s` made: it was left alone", object, mark);
	if (!is_mount) {
		if (!unlinkat(m->base_fd, m->rest, 0))
			return STB_UNDONE;
		return errno == ENOENT ? STB_UNDO_GONE : (enum stb_undo)stb_err_set(err, errno, "cannot remove `%s`", object);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", m->base_fd, m->rest);
	return stb_fs_is_mount(path) ? (enum stb_undo)stb_fs_unmount(path, object, err) : STB_UNDO_GONE;
}

/* Whether the device is attached to an image of this run; the image may be deleted by now. */
static bool serves_run(const char *device, const char *mark)
{
	char backing[4200];
	struct marked m;

	if (!stb_loop_backing(device, backing, sizeof(backing)))
		return false;
	if (strlen(backing) > 10 && !strcmp(backing + strlen(backing) - 10, " (deleted)"))
		backing[strlen(backing) - 10] = 0;
	return cut(&m, backing, mark) && !strcmp(m.rest, STB_STORAGE_IMAGE);
}

/* A device that is free, or serves another's file by now, is no leftover of ours. */
static enum stb_undo undo_loop(const char *mark, const char *object, struct stb_err *err)
{
	char backing[4200];
	const size_t n = strlen("/dev/loop");
	int fd;

	if (strncmp(object, "/dev/loop", n) || !object[n] || strlen(object) > 24 || strspn(object + n, "0123456789") != strlen(object + n))
		return (enum stb_undo)stb_err_set(err, 0, "`%s` is not a loop device: it was left alone", object);
	if (!stb_loop_backing(object, backing, sizeof(backing)))
		return STB_UNDO_GONE;
	if (!serves_run(object, mark))
		return STB_UNDO_FOREIGN;
	fd = open(object, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (enum stb_undo)stb_err_set(err, errno, "cannot open `%s`", object);
	if (ioctl(fd, LOOP_CLR_FD, 0) && errno != ENXIO) {
		stb_err_set(err, errno, "cannot detach `%s` from `%s`", object, backing);
		stb_err_remedy(err, "unmount what is on it, then run stb clean again");
		close(fd);
		return STB_UNDO_FAILED;
	}
	close(fd);
	/* while others have it open the call only asks for it, and succeeds */
	for (int i = 0; i < DETACH_STEPS && serves_run(object, mark); i++)
		(void)stb_clock_sleep_until(stb_clock_ns() + DETACH_STEP_NS);
	if (!serves_run(object, mark))
		return STB_UNDONE;
	stb_err_set(err, EBUSY, "loop device `%s` (`%s`) is still in use", object, backing);
	stb_err_remedy(err, "end what still has files open on it (fuser, lsof), then run stb clean again");
	return STB_UNDO_FAILED;
}

enum stb_undo stb_storage_undo(const char *run_mark, const char *kind, const char *object, struct stb_err *err)
{
	struct marked m;
	enum stb_undo ret;

	if (!stb_mark_valid(run_mark))
		return (enum stb_undo)stb_err_set(err, 0, "`%s` is not a run mark", run_mark);
	if (!strcmp(kind, "loop"))
		return undo_loop(run_mark, object, err);
	if (strcmp(kind, "dir") && strcmp(kind, "mount") && strcmp(kind, "file") && strcmp(kind, "zram"))
		return (enum stb_undo)stb_err_set(err, 0, "cannot undo `%s`: there is no kind `%s`", object, kind);
	if (open_marked(&m, object, run_mark, err))
		return STB_UNDO_FAILED;
	if (m.base_fd < 0)
		ret = STB_UNDO_GONE;
	else if (!strcmp(kind, "zram"))
		ret = undo_zram(&m, run_mark, object, err);
	else if (!strcmp(kind, "dir"))
		ret = (enum stb_undo)undo_dir(&m, run_mark, object, err);
	else
		ret = undo_below(&m, run_mark, kind, object, err);
	close_marked(&m);
	return ret;
}
