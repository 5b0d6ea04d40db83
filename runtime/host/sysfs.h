/*
 * sysfs.h - the topology of this machine, as far as this process may use it.
 *
 * Reads below `root` ("" for the real /proc and /sys, a directory in tests). No state.
 */
#ifndef STB_SYSFS_H
#define STB_SYSFS_H

#include "runtime/base/topology.h"

/* NULL with *err where the kernel's files are missing or do not fit together. stb_topology_free() it. */
STB_NODISCARD struct stb_topology *stb_host_topology(const char *root, struct stb_err *err);

#endif
