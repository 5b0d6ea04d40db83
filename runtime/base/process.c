/* process.c - see process.h. */
#include "runtime/base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ENOUGH_FILES 65536

void stb_boot_id(char out[STB_BOOT_ID])
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, out, STB_BOOT_ID - 1);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

uint64_t stb_process_start(pid_t pid)
{
	char path[40], text[1024], *p;
	unsigned long long start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name before it may hold anything */
	if (!p)
		return 0;
	p++;
	p += strspn(p, " ");
	if (*p == 'Z' || *p == 'X') /* nobody has waited for it, and where process 1 waits for nobody, nobody ever will */
		return 0;
	/* fields 3..21 stand between; starttime is field 22 (proc(5)) */
	for (int field = 3; field < 22 && *p; field++) {
		p += strspn(p, " ");
		p += strcspn(p, " ");
	}
	start = strtoull(p, NULL, 10);
	return start;
}

void stb_process_raise_open_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	const rlim_t wanted = STB_MIN(lim.rlim_max, (rlim_t)ENOUGH_FILES);

	if (lim.rlim_cur >= wanted)
		return;
	lim.rlim_cur = wanted;
	(void)setrlimit(RLIMIT_NOFILE, &lim); /* what is still too few is told by who counts them, or by the open that fails */
}

static uint64_t limit_of(bool hard)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return UINT64_MAX;
	const rlim_t n = hard ? lim.rlim_max : lim.rlim_cur;

	return n == RLIM_INFINITY ? UINT64_MAX : n;
}

uint64_t stb_process_open_files(void)
{
	return limit_of(false);
}

uint64_t stb_process_most_open_files(void)
{
	return limit_of(true);
}
