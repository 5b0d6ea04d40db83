/*
 * affinity.h - the CPUs that a thread may run on, of machines of any size: a cpu_set_t ends at 1024, and there the kernel refuses to fill it.
 */
#ifndef STB_AFFINITY_H
#define STB_AFFINITY_H

#include "runtime/base/cpulist.h"

#include <sys/types.h>

/* thread: 0 is the calling one. 0, or -1 with errno and *out empty. */
STB_NODISCARD int stb_affinity_get(pid_t thread, struct stb_cpuset *out);
/* Binds the calling thread to one CPU. 0 or -1 with errno. */
int stb_affinity_bind(uint32_t cpu);
/* How many the calling thread may run on; 0: that is not known. */
uint32_t stb_affinity_count(void);

#endif
