/*
 * fsname.h - the name of the file system that a file lies on, for messages and the environment record.
 */
#ifndef STB_FSNAME_H
#define STB_FSNAME_H

#include "runtime/base/base.h"

/* "ext4", "tmpfs", ...; "file system type 0x..." where the magic number (statfs(2)) is not known. ext2 and ext3 share ext4's. */
void stb_fs_name(int fd, char *type, size_t size);

#endif
