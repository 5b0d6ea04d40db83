/*
 * zram.c - a compressed block device in memory: one of our own, added for the volume and removed after it. An existing one is never touched.
 *
 * A zram device has no room for a mark, and its number is given again once it is removed. So what was added is written down in the volume's
 * marked base, in a file that names the device and what cannot come back: the boot, and the inode of its directory in sysfs, which is new with
 * every hot_add. A device is removed only if both are still the same.
 *
 *      <base>/zram     "zram3 <inode> <boot id>"
 *
 * The file is announced before the device is added. A kill between the addition and the line leaves an empty device that nobody can tell from
 * another's; it takes no memory.
 */
#include "runtime/storage/volume.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CONTROL "/sys/class/zram-control"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define STEP_NS 20000000u
#define STEPS 100

struct identity {
	char name[16]; /* "zram3" */
	unsigned long long inode;
	char boot[64];
};

/* The first line without its end; false: cannot be read (errno). */
static bool read_line(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	if (n < 0)
		return false;
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return true;
}

/* 0 or -errno. */
static int write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int set(const char *name, const char *attr, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attr);
	return write_line(path, value);
}

static bool identify(const char *name, struct identity *id)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/block/%.15s/", name);
	if (stat(path, &st) || !read_line(BOOT_ID, id->boot, sizeof(id->boot)))
		return false;
	snprintf(id->name, sizeof(id->name), "%.15s", name);
	id->inode = (unsigned long long)st.st_ino;
	return true;
}

int stb_zram_check(struct stb_err *err)
{
	if (!access(CONTROL "/hot_add", R_OK) && !access(CONTROL "/hot_remove", W_OK))
		return 0;
	stb_err_set(err, errno, "cannot add a zram device through `%s`", CONTROL);
	if (errno == ENOENT)
		stb_err_remedy(err, "load the driver (modprobe zram), or use a tmpfs or loop class");
	else
		stb_err_remedy(err, "run as root on a machine (or in a container) that may write there, or use a directory class");
	return -1;
}

/* 0 or -errno. The device may be busy for a moment, since others look at new devices. */
static int take_away(const char *name)
{
	int ret = -EBUSY;

	for (int i = 0; i < STEPS && ret == -EBUSY; i++) {
		if (i)
			(void)stb_clock_sleep_until(stb_clock_ns() + STEP_NS);
		ret = set(name, "reset", "1");
		if (!ret)
			ret = write_line(CONTROL "/hot_remove", name + 4);
	}
	return ret;
}

static int write_identity(const struct stb_volume *v, const struct identity *id)
{
	char text[128];
	const int n = snprintf(text, sizeof(text), "%s %llu %s\n", id->name, id->inode, id->boot);
	int fd = open(v->note, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)n) != n)
		ret = -(errno ? errno : EIO);
	close(fd);
	return ret;
}

/* Adds a device and writes down which. 0 or -errno. */
static int add(struct stb_volume *v, struct identity *id)
{
	char number[16], name[16];
	int ret;

	v->env.leftover(v->env.ctx, 1, "zram", v->note);
	v->made_note = true;
	if (!read_line(CONTROL "/hot_add", number, sizeof(number))) /* reading it adds a device and gives its number */
		return -errno;
	if (!*number || strspn(number, "0123456789") != strlen(number) || strlen(number) > 8)
		return -EPROTO;
	snprintf(name, sizeof(name), "zram%.8s", number);
	snprintf(v->device, sizeof(v->device), "/dev/%s", name);
	ret = identify(name, id) ? write_identity(v, id) : -errno;
	if (ret) {
		(void)take_away(name);
		v->device[0] = 0;
	}
	return ret;
}

/* That the node is the device we added, that it is as empty as a new one, and that nothing is on it. */
static int guard(const struct stb_volume *v, const struct identity *id, struct stb_err *err)
{
	char path[64], text[64];
	unsigned maj, min;
	struct stat st;
	int fd = -1;

	for (int i = 0; i < STEPS && fd < 0; i++) { /* the node may come a moment after the number */
		fd = open(v->device, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 && errno != ENOENT && errno != ENXIO)
			break;
		if (fd < 0)
			(void)stb_clock_sleep_until(stb_clock_ns() + STEP_NS);
	}
	if (fd < 0)
		return stb_err_set(err, errno, "cannot open `%s`, which was just added", v->device);
	snprintf(path, sizeof(path), "/sys/block/%s/dev", id->name);
	if (fstat(fd, &st) || !S_ISBLK(st.st_mode) || !read_line(path, text, sizeof(text)) || sscanf(text, "%u:%u", &maj, &min) != 2 ||
		makedev(maj, min) != st.st_rdev) {
		close(fd);
		return stb_err_set(err, 0, "`%s` is not the zram device that stb has added: nothing was written to it", v->device);
	}
	close(fd);
	return 0;
}

static int refuse(const struct stb_volume *v, const char *attr, int errnum, const char *what, struct stb_err *err)
{
	stb_err_set(err, errnum, "cannot %s zram device `%s` for volume `%s`", what, v->device, v->spec.volume->name);
	stb_volume_blame(&v->spec, attr, err);
	return -1;
}

static int set_algorithm(const struct stb_volume *v, const char *name, struct stb_err *err)
{
	char path[64], known[256] = "";
	const int ret = set(name, "comp_algorithm", v->spec.algorithm);

	if (!ret)
		return 0;
	snprintf(path, sizeof(path), "/sys/block/%s/comp_algorithm", name);
	(void)read_line(path, known, sizeof(known));
	stb_err_set(err, -ret, "cannot compress volume `%s` with algorithm `%s`", v->spec.volume->name, v->spec.algorithm);
	stb_err_remedy(err, "this kernel has: %s", known);
	stb_volume_blame(&v->spec, "algorithm", err);
	return -1;
}

int stb_zram_add(struct stb_volume *v, struct stb_err *err)
{
	struct identity id;
	char bytes[32];
	int ret = add(v, &id);

	if (ret) {
		stb_err_set(err, -ret, "cannot add a zram device for volume `%s`", v->spec.volume->name);
		stb_err_remedy(err, "see the kernel log, or use a tmpfs or loop class");
		return -1;
	}
	if (v->spec.algorithm && set_algorithm(v, id.name, err))
		return -1;
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)v->spec.size_bytes);
	ret = set(id.name, "disksize", bytes); /* EBUSY: it had a size already, so it is not new */
	if (ret)
		return refuse(v, "size", -ret, "set the size of", err);
	return guard(v, &id, err);
}

/* What the note in the base says; false: nothing that can be believed. */
static bool read_note(int base_fd, struct identity *id)
{
	char text[160];
	int fd = openat(base_fd, STB_STORAGE_ZRAM, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	return sscanf(text, "%15s %llu %63s", id->name, &id->inode, id->boot) == 3 && !strncmp(id->name, "zram", 4) && id->name[4] &&
		strspn(id->name + 4, "0123456789") == strlen(id->name + 4);
}

enum stb_undo stb_zram_undo(int base_fd, const char *shown, struct stb_err *err)
{
	struct identity noted, now;
	int ret;

	if (!read_note(base_fd, &noted) || !identify(noted.name, &now))
		return STB_UNDO_GONE;
	if (noted.inode != now.inode || strcmp(noted.boot, now.boot)) /* removed, and the number given to somebody else */
		return STB_UNDO_FOREIGN;
	ret = take_away(noted.name);
	if (ret) {
		stb_err_set(err, -ret, "cannot remove zram device `/dev/%s` (`%s`)", noted.name, shown);
		stb_err_remedy(err, "end what still uses it (fuser, lsof, mount), then run stb clean");
		return STB_UNDO_FAILED;
	}
	return STB_UNDONE;
}

int stb_zram_remove(struct stb_volume *v, struct stb_err *err)
{
	int base = open(v->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum stb_undo ret = STB_UNDO_GONE;

	if (base < 0)
		return stb_err_set(err, errno, "cannot open `%s`", v->base);
	if (v->device[0])
		ret = stb_zram_undo(base, v->note, err);
	close(base);
	if (ret == STB_UNDO_FAILED)
		return -1;
	if (unlink(v->note) && errno != ENOENT)
		return stb_err_set(err, errno, "cannot remove `%s`", v->note);
	v->env.leftover(v->env.ctx, 0, "zram", v->note);
	return 0;
}
