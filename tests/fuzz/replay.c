/*
 * replay.c - main for fuzz targets in profiles without libFuzzer: runs the target on every file that is named, and on all files of every
 * directory that is named. One line at the end; a crash ends it before.
 *
 *   fuzz_parse tests/fuzz/corpus/parse
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned replay_file(const char *path, size_t len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	if (!f) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		exit(1);
	}
	data = malloc(len ? len : 1); /* exactly as large as the input: a read past the end is seen */
	if (!data || fread(data, 1, len, f) != len) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, len);
	free(data);
	return 1;
}

static unsigned replay(const char *path, int depth)
{
	unsigned n = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (stat(path, &st) < 0) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		exit(1);
	}
	if (S_ISREG(st.st_mode))
		return replay_file(path, (size_t)st.st_size);
	if (!S_ISDIR(st.st_mode) || depth > 4)
		return 0;
	d = opendir(path);
	while (d && (e = readdir(d))) {
		char inner[4096];

		if (e->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name) < sizeof(inner))
			n += replay(inner, depth + 1);
	}
	if (d)
		closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	unsigned n = 0;

	for (int i = 1; i < argc; i++)
		n += replay(argv[i], 0);
	printf("replayed %u inputs\n", n);
	return n == 0;
}
