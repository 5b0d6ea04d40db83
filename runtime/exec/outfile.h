/* outfile.h - files that appear whole or not at all. */
#ifndef STB_OUTFILE_H
#define STB_OUTFILE_H

#include "runtime/base/err.h"

/*
 * Writes len bytes to a temporary name beside path and renames it over path. What is no regular file (/dev/stdout, a FIFO) is written to
 * directly, and a symbolic link keeps pointing where it does. 0, or -1 with *err and path as it was.
 */
STB_NODISCARD int stb_outfile_write(const char *path, const char *data, size_t len, struct stb_err *err);
/* All of the bytes, or -1 with errno. */
STB_NODISCARD int stb_write_all(int fd, const char *data, size_t len);

#endif
