/*
 * blockstat.h - what a block device has done since it is there: the kernel's own count, beside which a workload's shows the page cache.
 *
 * From /sys/dev/block/MAJOR:MINOR/stat of the device itself (a loop or zram device, a disk, a partition, a device mapper's) or of the one that the
 * file system of a directory lies on. tmpfs, overlayfs, btrfs and the network have none; nor has a device whose queue/iostats is off.
 */
#ifndef STB_BLOCKSTAT_H
#define STB_BLOCKSTAT_H

#include "runtime/base/base.h"

#define STB_BLOCKSTAT_PATH 256

struct stb_blockstat {
	bool known;
	uint64_t read_ios, read_bytes, write_ios, write_bytes; /* ios: as the device got them, merged or split */
};

/* The file that counts for path, a block device or anything in a file system; "" where there is none. root is "" but in tests. */
void stb_blockstat_find(const char *root, const char *path, char out[STB_BLOCKSTAT_PATH]);
/* What it counts now; not known where it cannot be read. Allocates nothing. */
struct stb_blockstat stb_blockstat_read(const char *file);
/* What was done from one to the other; not known where a counter went back, as after a reset. */
struct stb_blockstat stb_blockstat_between(const struct stb_blockstat *from, const struct stb_blockstat *to);

#endif
