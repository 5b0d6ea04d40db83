/* fsname.c - see fsname.h. */
#include "runtime/base/fsname.h"

#include <stdio.h>
#include <sys/vfs.h>

void stb_fs_name(int fd, char *type, size_t size)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} known[] = {
		{ 0xef53, "ext4" },       { 0x58465342, "xfs" },	 { 0x9123683e, "btrfs" }, { 0x01021994, "tmpfs" },
		{ 0x858458f6, "ramfs" },  { 0x794c7630, "overlayfs" }, { 0x6969, "nfs" },	  { 0x2fc12fc1, "zfs" },
		{ 0x65735546, "fuse" },	  { 0xf2f52010, "f2fs" },	 { 0xff534d42, "cifs" },  { 0x01021997, "9p" },
	};
	struct statfs fs;

	if (fstatfs(fd, &fs)) {
		snprintf(type, size, "an unknown file system");
		return;
	}
	for (size_t i = 0; i < STB_LEN(known); i++) {
		if ((uint32_t)fs.f_type == known[i].magic) {
			snprintf(type, size, "%s", known[i].name);
			return;
		}
	}
	snprintf(type, size, "file system type 0x%x", (uint32_t)fs.f_type);
}
