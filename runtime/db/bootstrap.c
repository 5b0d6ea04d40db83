/* bootstrap.c - the SQL that a new MariaDB is made from: its own files, one after the other, as one file without a name. */
#include "runtime/db/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int append_file(int fd, const char *path, struct stb_err *err)
{
	const int in = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[65536];
	ssize_t n;

	if (in < 0)
		return stb_err_set(err, errno, "cannot read the system tables of the database server, `%s`", path);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(fd, buffer, (size_t)n) != n)
			break;
	close(in);
	return n == 0 ? 0 : stb_err_set(err, errno, "cannot read the system tables of the database server, `%s`", path);
}

int stb_bootstrap_sql(const char *sql_dir, struct stb_err *err)
{
	static const char *const files[][2] = {{"mariadb_system_tables.sql", "mysql_system_tables.sql"},
		{"mariadb_performance_tables.sql", "mysql_performance_tables.sql"}};
	static const char head[] = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n";
	const int fd = memfd_create("stb-bootstrap", MFD_CLOEXEC);

	if (fd < 0 || write(fd, head, strlen(head)) != (ssize_t)strlen(head)) {
		stb_err_set(err, errno, "cannot hold the system tables of the database server in memory");
		goto fail;
	}
	for (unsigned i = 0; i < STB_LEN(files); i++) {
		char path[PATH_MAX];
		unsigned k = 0;

		while (k < 2 && (snprintf(path, sizeof(path), "%s/%s", sql_dir, files[i][k]) >= (int)sizeof(path) || access(path, R_OK)))
			k++;
		if (k < 2 && append_file(fd, path, err))
			goto fail;
	}
	if (lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	stb_err_set(err, errno, "cannot rewind the system tables of the database server");
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}
