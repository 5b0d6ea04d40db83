/*
 * filesystem.c - making, mounting and unmounting file systems. No shell: mkfs gets an argument vector built from the option table.
 */
#include "runtime/storage/volume.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUSY_NS (3 * STB_NS_PER_S)
#define NAP_NS 50000000ull

/* --- the tool --- */

static bool find_in(const char *dirs, const char *name, char *out, size_t size)
{
	while (*dirs) {
		const size_t n = strcspn(dirs, ":");

		if (n && dirs[0] == '/' && (size_t)snprintf(out, size, "%.*s/%s", (int)n, dirs, name) < size && !access(out, X_OK))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

static bool find_tool(const char *name, char *out, size_t size)
{
	const char *path = getenv("PATH");

	return (path && find_in(path, name, out, size)) || find_in("/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin", name, out, size);
}

int stb_fs_check_tools(const struct stb_volume_spec *s, struct stb_err *err)
{
	char tool[16], path[4096];

	if (!stb_storage_is_device(s->type) || !strcmp(s->filesystem, "none"))
		return 0;
	snprintf(tool, sizeof(tool), "mkfs.%.8s", s->filesystem);
	if (find_tool(tool, path, sizeof(path)))
		return 0;
	stb_err_set(err, 0, "cannot find `%s` in PATH, /usr/sbin or /sbin (volume `%s`)", tool, s->volume->name);
	stb_err_remedy(err, "install %s, or use filesystem = %s", !strcmp(s->filesystem, "xfs") ? "xfsprogs" : "e2fsprogs",
		!strcmp(s->filesystem, "xfs") ? "ext4" : "xfs");
	stb_volume_blame(s, "filesystem", err);
	return -1;
}

/* Runs path with argv; its output goes to *said, shortened. 0 or -1 with *err. */
static int run_tool(const char *path, const char *const *argv, struct stb_err *err)
{
	static const char *const environment[] = { "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	posix_spawn_file_actions_t fa;
	char said[600] = "";
	int out = memfd_create("stb-mkfs", MFD_CLOEXEC);
	int status = 0, ret;
	ssize_t n;
	pid_t pid;

	if (out < 0)
		return stb_err_set(err, errno, "cannot keep the output of `%s`", path);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, out, 2);
	ret = posix_spawn(&pid, path, &fa, NULL, (char *const *)argv, (char *const *)environment);
	posix_spawn_file_actions_destroy(&fa);
	if (ret) {
		close(out);
		return stb_err_set(err, ret, "cannot start `%s`", path);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n = pread(out, said, sizeof(said) - 1, 0);
	close(out);
	said[n > 0 ? n : 0] = 0;
	for (char *p = said; *p; p++) {
		if ((unsigned char)*p < 0x20)
			*p = ' ';
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return stb_err_set(err, 0, "`%s` was ended by signal %d", path, WTERMSIG(status));
	stb_err_set(err, 0, "`%s` failed with exit code %d: %s", path, WEXITSTATUS(status), said);
	stb_err_remedy(err, "see mkfs_options and size of the volume");
	return -1;
}

int stb_fs_make(const struct stb_volume *v, struct stb_err *err)
{
	const bool ext4 = !strcmp(v->spec.filesystem, "ext4");
	const char *argv[48];
	char tool[16], path[4096], extended[160];
	struct stb_fs_words w;
	uint32_t n = 0;

	snprintf(tool, sizeof(tool), "mkfs.%.8s", v->spec.filesystem);
	if (!find_tool(tool, path, sizeof(path)))
		return stb_fs_check_tools(&v->spec, err);
	if (!stb_fs_words(&w, v->spec.filesystem, STB_FS_MKFS, v->spec.mkfs_options))
		return stb_err_set(err, 0, "volume `%s` cannot use its mkfs_options: %s", v->spec.volume->name, w.error);
	argv[n++] = tool;
	argv[n++] = "-q";
	argv[n++] = ext4 ? "-F" : "-f"; /* no questions; that the device is ours and empty was asserted before */
	/* All tables are written now: nothing goes on in the background while something is measured. mkfs.ext4 heeds the last -E alone. */
	snprintf(extended, sizeof(extended), "lazy_itable_init=0,lazy_journal_init=0");
	for (uint32_t i = 0; i < w.n; i++) {
		if (ext4 && !strcmp(w.argv[i], "-E") && i + 1 < w.n) {
			const size_t len = strlen(extended);

			snprintf(extended + len, sizeof(extended) - len, ",%s", w.argv[++i]);
			continue;
		}
		argv[n++] = w.argv[i];
	}
	if (ext4) {
		argv[n++] = "-E";
		argv[n++] = extended;
	}
	argv[n++] = v->device;
	argv[n] = NULL;
	if (!run_tool(path, argv, err))
		return 0;
	stb_err_wrap(err, "cannot make %s for volume `%s`", v->spec.filesystem, v->spec.volume->name);
	stb_volume_blame(&v->spec, "filesystem", err);
	return -1;
}

/* --- mounting --- */

static int mount_failed(const struct stb_volume *v, const char *what, int errnum, struct stb_err *err)
{
	stb_err_set(err, errnum, "cannot mount %s on `%s` for volume `%s`", what, v->dir, v->spec.volume->name);
	if (errnum == EPERM || errnum == EACCES)
		stb_err_remedy(err, "run as root with the right to mount (CAP_SYS_ADMIN), or use a directory class");
	else if (errnum == EINVAL)
		stb_err_remedy(err, "see mount_options, and mkfs_options for what this kernel does not know; its log says which");
	else if (errnum == ENODEV)
		stb_err_remedy(err, "this kernel does not have that file system; load its module or choose another");
	else
		stb_err_remedy(err, "see the kernel log");
	stb_volume_blame(&v->spec, "mount_options", err);
	return -1;
}

static unsigned long flag_of(const char *option)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} flags[] = {
		{ "noatime", MS_NOATIME },   { "nodiratime", MS_NODIRATIME }, { "relatime", MS_RELATIME }, { "strictatime", MS_STRICTATIME },
		{ "lazytime", MS_LAZYTIME }, { "sync", MS_SYNCHRONOUS },      { "dirsync", MS_DIRSYNC },
	};

	for (size_t i = 0; i < STB_LEN(flags); i++) {
		if (!strcmp(flags[i].name, option))
			return flags[i].flag;
	}
	return 0;
}

/* Mounts and announces; the root of the mount becomes 0700. */
static int do_mount(struct stb_volume *v, const char *source, const char *type, unsigned long flags, const char *data, struct stb_err *err)
{
	v->env.leftover(v->env.ctx, 1, "mount", v->dir);
	if (mount(source, v->dir, type, MS_NOSUID | MS_NODEV | flags, data)) {
		const int errnum = errno;

		v->env.leftover(v->env.ctx, 0, "mount", v->dir);
		return mount_failed(v, type, errnum, err);
	}
	v->mounted = true;
	if (chmod(v->dir, 0700))
		return stb_err_set(err, errno, "cannot set the mode of `%s`", v->dir);
	return 0;
}

int stb_fs_mount(struct stb_volume *v, struct stb_err *err)
{
	struct stb_fs_words w;
	char data[34 * 72] = "";
	unsigned long flags = 0;
	size_t len = 0;

	if (!stb_fs_words(&w, v->spec.filesystem, STB_FS_MOUNT, v->spec.mount_options))
		return stb_err_set(err, 0, "volume `%s` cannot use its mount_options: %s", v->spec.volume->name, w.error);
	for (uint32_t i = 0; i < w.n; i++) {
		const unsigned long flag = flag_of(w.argv[i]);

		flags |= flag;
		if (!flag)
			len += (size_t)snprintf(data + len, sizeof(data) - len, "%s%s", len ? "," : "", w.argv[i]);
	}
	return do_mount(v, v->device, v->spec.filesystem, flags, len ? data : NULL, err);
}

int stb_fs_mount_tmpfs(struct stb_volume *v, struct stb_err *err)
{
	char data[64];

	snprintf(data, sizeof(data), "size=%llu,mode=0700", (unsigned long long)v->spec.size_bytes);
	return do_mount(v, "tmpfs", "tmpfs", 0, data, err);
}

bool stb_fs_is_mount(const char *path)
{
	struct statx sx;

	return !statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &sx) &&
		(sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) && (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

int stb_fs_unmount(const char *path, const char *shown, struct stb_err *err)
{
	const uint64_t limit = stb_clock_ns() + BUSY_NS;
	int errnum;

	while (umount2(path, UMOUNT_NOFOLLOW)) {
		errnum = errno;
		if (errnum == EINVAL || errnum == ENOENT) /* not mounted (any more) */
			return 0;
		if (errnum == EBUSY && stb_clock_ns() < limit) {
			(void)stb_clock_sleep_until(stb_clock_ns() + NAP_NS);
			continue;
		}
		if (errnum != EBUSY) {
			stb_err_set(err, errnum, "cannot unmount `%s`", shown);
			stb_err_remedy(err, "unmount it by hand (umount), then run stb clean");
			return -1;
		}
		if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW))
			return stb_err_set(err, errno, "cannot unmount `%s`", shown);
		stb_err_set(err, EBUSY, "`%s` was in use and could only be detached; it goes away with its last user", shown);
		stb_err_remedy(err, "end what still has files open there (fuser, lsof)");
		return -1;
	}
	return 0;
}
