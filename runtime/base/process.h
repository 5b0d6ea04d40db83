/*
 * process.h - which process a number stands for: numbers are given out again, and a journal outlives the machine's start. And how many files
 * this one may open.
 */
#ifndef STB_PROCESS_H
#define STB_PROCESS_H

#include "runtime/base/base.h"

#include <sys/types.h>

enum { STB_BOOT_ID = 40 };
/* Which start of the machine this is; "" where the kernel does not say. */
void stb_boot_id(char out[STB_BOOT_ID]);

/*
 * When the process started, in clock ticks since boot (tells a reused pid); 0 where there is no such process, or where it has ended and nobody
 * has waited for it (a zombie): whether one lives is asked by this.
 */
uint64_t stb_process_start(pid_t pid);

/*
 * Raises the soft limit on open files, which is there for select() that nobody uses here, as far as the hard one allows; of the processes that are
 * started from here, too. Not beyond 65536: servers have been seen to make room for as many as they may. Once, before a run or what tells of one.
 */
void stb_process_raise_open_files(void);
/* How many this process may have; and how many a process that is started from here may raise that to. UINT64_MAX: no limit. */
uint64_t stb_process_open_files(void);
uint64_t stb_process_most_open_files(void);

#endif
