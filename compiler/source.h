/*
 * source.h - the texts of one compilation: immutable buffers with explicit length, and places in them.
 *
 * Owns the bytes. Files are numbered in the order they were added. Single-threaded.
 */
#ifndef STB_SOURCE_H
#define STB_SOURCE_H

#include "runtime/base/arena.h"
#include "runtime/base/hash.h"

#define STB_SOURCE_MAX_BYTES (64u << 20)

/* Bytes [begin, end) of a file. A span of no file (STB_NO_FILE) stands for "nowhere in particular". */
struct stb_span {
	uint32_t file, begin, end;
};

#define STB_NO_FILE UINT32_MAX
#define STB_NO_SPAN ((struct stb_span){ STB_NO_FILE, 0, 0 })

/* The smallest span that covers both (same file). */
struct stb_span stb_span_join(struct stb_span a, struct stb_span b);

struct stb_source_file {
	const char *path;  /* as opened */
	const char *name;  /* as shown: relative to the repository where it lies in one, else as given */
	const char *bytes; /* len bytes; a NUL is an ordinary character */
	uint32_t len;
	uint32_t *lines;   /* offset of each line's first byte */
	uint32_t n_lines;
	char sha256[STB_HASH_HEX];
};

struct stb_sources {
	struct stb_arena arena;
	struct stb_source_file *files;
	uint32_t n_files, cap_files;
};

struct stb_position {
	uint32_t line;   /* 1-based */
	uint32_t column; /* 1-based, in display columns, a tab goes to the next multiple of 8 */
};

void stb_sources_init(struct stb_sources *s);
void stb_sources_fini(struct stb_sources *s);

/* Adds bytes that the caller has (they are copied); never fails. */
uint32_t stb_sources_add(struct stb_sources *s, const char *name, const char *bytes, size_t len);

enum stb_source_status {
	STB_SOURCE_OK,
	STB_SOURCE_ERRNO,     /* errno_out says why */
	STB_SOURCE_DIRECTORY,
	STB_SOURCE_NOT_A_FILE,/* FIFO, device, socket: never opened for reading */
	STB_SOURCE_TOO_LARGE,
};

/* Opens (regular files only; never blocks) and reads. "-" is standard input, up to the cap. A name of NULL is the path. */
enum stb_source_status stb_sources_load(struct stb_sources *s, const char *path, const char *name, uint32_t *file, int *errno_out);

struct stb_position stb_sources_position(const struct stb_sources *s, uint32_t file, uint32_t offset);
/* Bytes of a line without its end (neither LF nor CRLF). A line past the last is empty. */
const char *stb_sources_line(const struct stb_sources *s, uint32_t file, uint32_t line, uint32_t *len);

/* One character of text as it is shown. */
struct stb_glyph {
	uint32_t code_point; /* 0xFFFD for a byte that is no UTF-8 */
	uint32_t bytes;      /* 1 to 4 */
	uint32_t width;      /* columns, 0 for combining marks; 1 where it is not printable; a tab counts 1 here */
	bool printable;      /* false: not UTF-8, a control character or one that reorders text; shown as U+FFFD */
};

/* The character at s (len > 0 bytes there). */
struct stb_glyph stb_glyph_at(const char *s, size_t len);

#endif
