/*
 * loop.c - the loop device behind a volume: attached, guarded, given back.
 *
 * The device is attached with LO_FLAGS_AUTOCLEAR: it frees itself when its last user is gone. While we live our descriptor holds it, and a
 * mount holds it too; so after a SIGKILL nothing is left but the mount, and of a raw volume nothing at all.
 *
 * The driver reads and writes the image with direct I/O, or what is measured would be the page cache between the two. Where that is refused the
 * device is attached all the same, so that the rest of a matrix can be looked at, and stb_volume_fell_back() says so: such figures are marked.
 *
 * Two runs may be given the same free number by LOOP_CTL_GET_FREE; LOOP_CONFIGURE is atomic, and who loses (EBUSY) asks again.
 */
#include "runtime/storage/volume.h"

#include "runtime/base/clock.h"
#include "runtime/base/fsname.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CONTROL "/dev/loop-control"
#define TRIES 64
#define LOOP_MAJOR_NR 7

int stb_loop_check(struct stb_err *err)
{
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	stb_err_set(err, errno, "cannot open `%s`", CONTROL);
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		stb_err_remedy(err, "load the loop driver (modprobe loop), or use a directory or tmpfs class");
	else
		stb_err_remedy(err, "run as root on a machine (or in a container) with loop devices, or use a directory class");
	return -1;
}

bool stb_loop_backing(const char *device, char *out, size_t size)
{
	char path[128];
	const char *name = strrchr(device, '/');
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", name ? name + 1 : device);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return true;
}

static void nap(uint64_t ns)
{
	(void)stb_clock_sleep_until(stb_clock_ns() + ns);
}

/* The node may come a moment after the number. */
static int open_node(const char *device)
{
	int fd = -1;

	for (int i = 0; i < 20 && fd < 0; i++) {
		fd = open(device, O_RDWR | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT && errno != ENXIO)
			return -errno;
		if (fd < 0)
			nap(50000000);
	}
	return fd < 0 ? -errno : fd;
}

static int configure(int fd, int image_fd, const char *image, uint32_t block_size, bool direct)
{
	struct loop_config cfg = { .fd = (uint32_t)image_fd, .block_size = block_size };
	struct loop_info64 info;
	const size_t len = strlen(image);

	cfg.info.lo_flags = LO_FLAGS_AUTOCLEAR | (direct ? LO_FLAGS_DIRECT_IO : 0);
	/* Only a label; it holds the end of the path when it cannot hold all. */
	snprintf((char *)cfg.info.lo_file_name, sizeof(cfg.info.lo_file_name), "%s",
		len >= LO_NAME_SIZE ? image + len - (LO_NAME_SIZE - 1) : image);
	if (ioctl(fd, LOOP_CONFIGURE, &cfg))
		return -errno;
	/* Some kernels fall back to buffered I/O without a word. */
	if (direct && (ioctl(fd, LOOP_GET_STATUS64, &info) || !(info.lo_flags & LO_FLAGS_DIRECT_IO))) {
		(void)ioctl(fd, LOOP_CLR_FD, 0);
		return -EINVAL;
	}
	return 0;
}

/* One device with one way of backing. 0; -EBUSY: lost a race; -EINVAL: not this way; other -errno. */
static int attach_once(struct stb_volume *v, int control, int image_fd, uint32_t block_size, bool direct)
{
	const int nr = ioctl(control, LOOP_CTL_GET_FREE);
	int fd, ret;

	if (nr < 0)
		return -errno;
	snprintf(v->device, sizeof(v->device), "/dev/loop%d", nr);
	v->env.leftover(v->env.ctx, 1, "loop", v->device);
	fd = open_node(v->device);
	ret = fd < 0 ? fd : configure(fd, image_fd, v->image, block_size, direct);
	if (ret) {
		if (fd >= 0)
			close(fd);
		v->env.leftover(v->env.ctx, 0, "loop", v->device);
		v->device[0] = 0;
		return ret;
	}
	v->loop_fd = fd;
	return 0;
}

int stb_loop_attach(struct stb_volume *v, int image_fd, struct stb_err *err)
{
	static const struct {
		uint32_t block_size;
		bool direct; /* image opened with O_DIRECT by the driver: no second cache */
	} ways[] = { { 512, true }, { 4096, true }, { 512, false } };
	int control = open(CONTROL, O_RDWR | O_CLOEXEC);
	int ret = -EINVAL;

	if (control < 0)
		return stb_loop_check(err);
	for (size_t w = 0; w < STB_LEN(ways) && ret == -EINVAL; w++) {
		ret = -EBUSY;
		for (int i = 0; i < TRIES && ret == -EBUSY; i++) {
			if (i)
				nap(10000000);
			ret = attach_once(v, control, image_fd, ways[w].block_size, ways[w].direct);
			v->buffered = !ret && !ways[w].direct;
		}
	}
	close(control);
	if (!ret)
		return 0;
	stb_err_set(err, -ret, "cannot attach `%s` to a loop device", v->image);
	stb_err_remedy(err, "see that /dev has its loop nodes and that root may use them, or use a directory class");
	stb_volume_blame(&v->spec, "path", err);
	return -1;
}

bool stb_volume_fell_back(const struct stb_volume *v, struct stb_err *why)
{
	char type[64];
	int fd;

	if (!v->buffered)
		return false;
	fd = open(v->image, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	stb_fs_name(fd, type, sizeof(type));
	if (fd >= 0)
		close(fd);
	stb_err_set(why, 0, "loop device `%s` of volume `%s` reads and writes its image through the page cache: %s refuses O_DIRECT on `%s`", v->device,
		v->spec.volume->name, type, v->image);
	stb_err_remedy(why, "give storage `%s` a path on a file system with direct I/O, or use a tmpfs or zram class for memory", v->spec.storage->name);
	stb_volume_blame(&v->spec, "path", why);
	return true;
}

int stb_loop_guard(const struct stb_volume *v, struct stb_err *err)
{
	struct stat device, image;
	struct loop_info64 info;
	blkid_probe probe;
	const char *type = NULL;
	int ret;

	if (fstat(v->loop_fd, &device) || stat(v->image, &image) || ioctl(v->loop_fd, LOOP_GET_STATUS64, &info))
		return stb_err_set(err, errno, "cannot look at `%s` before writing to it", v->device);
	if (!S_ISBLK(device.st_mode) || major(device.st_rdev) != LOOP_MAJOR_NR || info.lo_inode != image.st_ino ||
		info.lo_offset != 0)
		return stb_err_set(err, 0, "`%s` is not the loop device that stb attached to `%s`: nothing was written to it", v->device,
			v->image);
	probe = blkid_new_probe();
	if (!probe || blkid_probe_set_device(probe, v->loop_fd, 0, 0)) {
		blkid_free_probe(probe);
		return stb_err_set(err, 0, "cannot look for signatures on `%s`", v->device);
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_enable_partitions(probe, 1);
	ret = blkid_do_safeprobe(probe);
	if (ret == 0)
		(void)blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
	if (ret != 1) {
		stb_err_set(err, 0, "`%s` is not empty%s%s: nothing was written to it", v->device, type ? ", it holds " : "", type ? type : "");
		stb_err_remedy(err, "stb only writes to images that it has made; report this");
	}
	blkid_free_probe(probe);
	return ret == 1 ? 0 : -1;
}

int stb_loop_detach(struct stb_volume *v, struct stb_err *err)
{
	char backing[4200];
	bool ours = true;

	if (v->loop_fd < 0)
		return 0;
	close(v->loop_fd); /* autoclear: the last close frees it, a moment later */
	v->loop_fd = -1;
	for (int i = 0; i < 100 && ours; i++) {
		ours = stb_loop_backing(v->device, backing, sizeof(backing)) && !strncmp(backing, v->image, strlen(v->image));
		if (ours)
			nap(20000000);
	}
	if (ours)
		return stb_err_set(err, EBUSY, "loop device `%s` (`%s`) is still in use; it frees itself with its last user", v->device,
			v->image);
	v->env.leftover(v->env.ctx, 0, "loop", v->device);
	return 0;
}
