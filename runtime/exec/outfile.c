/*
 * outfile.c - files that appear whole or not at all: temporary name, then rename.
 */
#include "runtime/exec/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int stb_write_all(int fd, const char *data, size_t len)
{
	while (len) {
		const ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int failed(struct stb_err *err, int code, const char *path)
{
	stb_err_set(err, code, "cannot write `%s`", path);
	stb_err_remedy(err, "name a file in a directory that exists, can be written to and has space");
	return -1;
}

static int write_direct(const char *path, const char *data, size_t len, struct stb_err *err)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd < 0)
		return failed(err, errno, path);
	rc = stb_write_all(fd, data, len) ? failed(err, errno, path) : 0;
	if (close(fd) && !rc)
		rc = failed(err, errno, path);
	return rc;
}

/* mode: of the file that is replaced, which the new one keeps whatever the umask; 0 for a new file. */
static int write_renamed(const char *target, const char *path, mode_t mode, const char *data, size_t len, struct stb_err *err)
{
	char *tmp = NULL;
	int fd = -1, rc = -1;

	if (asprintf(&tmp, "%s.tmp-%d", target, (int)getpid()) < 0)
		return failed(err, ENOMEM, path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode ? mode : 0666);
	if (fd < 0) {
		failed(err, errno, path);
		goto out;
	}
	/* on the disk before it takes the place of what was there */
	if ((mode && fchmod(fd, mode)) || stb_write_all(fd, data, len) || (fdatasync(fd) && errno != EINVAL)) {
		failed(err, errno, path);
		close(fd);
		unlink(tmp);
		goto out;
	}
	if (close(fd) || rename(tmp, target)) {
		failed(err, errno, path);
		unlink(tmp);
		goto out;
	}
	rc = 0;
out:
	free(tmp);
	return rc;
}

int stb_outfile_write(const char *path, const char *data, size_t len, struct stb_err *err)
{
	struct stat st;
	char *real;
	int rc;

	if (stat(path, &st))
		return errno == ENOENT ? write_renamed(path, path, 0, data, len, err) : failed(err, errno, path);
	if (S_ISDIR(st.st_mode))
		return failed(err, EISDIR, path);
	if (!S_ISREG(st.st_mode))
		return write_direct(path, data, len, err);
	real = realpath(path, NULL);
	if (!real)
		return failed(err, errno, path);
	rc = write_renamed(real, path, st.st_mode & 0777, data, len, err);
	free(real);
	return rc;
}
