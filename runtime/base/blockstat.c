/* blockstat.c - see blockstat.h. */
#include "runtime/base/blockstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR 512u /* of the kernel's counters, whatever the device's is */

/* The start of a small file as text; false where it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	return true;
}

/* A partition's queue is its disk's. */
static bool counts(const char *dir)
{
	char path[STB_BLOCKSTAT_PATH + 32], text[8];

	snprintf(path, sizeof(path), "%s/queue/iostats", dir);
	if (read_text(path, text, sizeof(text)))
		return text[0] != '0';
	snprintf(path, sizeof(path), "%s/../queue/iostats", dir);
	return !read_text(path, text, sizeof(text)) || text[0] != '0';
}

void stb_blockstat_find(const char *root, const char *path, char out[STB_BLOCKSTAT_PATH])
{
	char dir[STB_BLOCKSTAT_PATH - 8];
	struct stat st;
	int n;

	out[0] = 0;
	if (stat(path, &st))
		return;
	const dev_t dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;

	n = snprintf(dir, sizeof(dir), "%s/sys/dev/block/%u:%u", root, major(dev), minor(dev));
	if (n < 0 || (size_t)n >= sizeof(dir) || !counts(dir))
		return;
	snprintf(out, STB_BLOCKSTAT_PATH, "%s/stat", dir);
	if (!stb_blockstat_read(out).known)
		out[0] = 0;
}

struct stb_blockstat stb_blockstat_read(const char *file)
{
	struct stb_blockstat s = { 0 };
	uint64_t field[7]; /* reads, merged, sectors, ms; writes, merged, sectors */
	char text[512], *at = text;

	if (!file[0] || !read_text(file, text, sizeof(text)))
		return s;
	for (size_t i = 0; i < STB_LEN(field); i++) {
		char *end;

		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return s;
		field[i] = strtoull(at, &end, 10);
		at = end;
	}
	return (struct stb_blockstat){ true, field[0], field[2] * SECTOR, field[4], field[6] * SECTOR };
}

struct stb_blockstat stb_blockstat_between(const struct stb_blockstat *from, const struct stb_blockstat *to)
{
	if (!from->known || !to->known || to->read_ios < from->read_ios || to->read_bytes < from->read_bytes || to->write_ios < from->write_ios ||
		to->write_bytes < from->write_bytes)
		return (struct stb_blockstat){ 0 };
	return (struct stb_blockstat){ true, to->read_ios - from->read_ios, to->read_bytes - from->read_bytes, to->write_ios - from->write_ios,
		to->write_bytes - from->write_bytes };
}
