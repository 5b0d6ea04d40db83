/*
 * process.h - which process a number stands for: numbers are given out again, and a journal outlives the machine's start.
 */
#ifndef STB_PROCESS_H
#define STB_PROCESS_H

#include "runtime/base/base.h"

#include <sys/types.h>

enum { STB_BOOT_ID = 40 };
/* Which start of the machine this is; "" where the kernel does not say. */
void stb_boot_id(char out[STB_BOOT_ID]);

/* When the process started, in clock ticks since boot (tells a reused pid); 0 where there is no such process. */
uint64_t stb_process_start(pid_t pid);

#endif
