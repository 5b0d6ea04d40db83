/*
 * source.c - reading spec files and finding places in them.
 *
 * A spec may come from anyone, so a path is looked at before it is opened: a FIFO would block, a device may act on being opened. What
 * was read is copied once and never changes; every span of every later pass is a pair of offsets into these bytes.
 */
#include "compiler/source.h"
#include "runtime/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stb_span stb_span_join(struct stb_span a, struct stb_span b)
{
	if (a.file == STB_NO_FILE)
		return b;
	if (b.file != a.file)
		return a;
	return (struct stb_span){ a.file, STB_MIN(a.begin, b.begin), STB_MAX(a.end, b.end) };
}

void stb_sources_init(struct stb_sources *s)
{
	*s = (struct stb_sources){ 0 };
	stb_arena_init(&s->arena);
}

void stb_sources_fini(struct stb_sources *s)
{
	stb_arena_fini(&s->arena);
	*s = (struct stb_sources){ 0 };
}

static void index_lines(struct stb_arena *a, struct stb_source_file *f)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < f->len; i++)
		n += f->bytes[i] == '\n';
	f->lines = STB_NEW_ARRAY(a, uint32_t, n);
	f->n_lines = n;
	n = 1;
	for (uint32_t i = 0; i < f->len; i++)
		if (f->bytes[i] == '\n')
			f->lines[n++] = i + 1;
}

static uint32_t add_file(struct stb_sources *s, const char *path, const char *name, const char *bytes, size_t len)
{
	struct stb_source_file *f;

	STB_ASSERT(len <= STB_SOURCE_MAX_BYTES);
	STB_ARENA_GROW(&s->arena, s->files, s->n_files, s->cap_files);
	f = &s->files[s->n_files];
	*f = (struct stb_source_file){
		.path = stb_arena_strdup(&s->arena, path),
		.name = stb_arena_strdup(&s->arena, name),
		.bytes = stb_arena_strndup(&s->arena, bytes, len),
		.len = (uint32_t)len,
	};
	index_lines(&s->arena, f);
	stb_hash_hex(f->bytes, f->len, f->sha256);
	return s->n_files++;
}

uint32_t stb_sources_add(struct stb_sources *s, const char *name, const char *bytes, size_t len)
{
	return add_file(s, name, name, bytes, STB_MIN(len, (size_t)STB_SOURCE_MAX_BYTES));
}

static enum stb_source_status kind_of(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return STB_SOURCE_DIRECTORY;
	if (!S_ISREG(st->st_mode))
		return STB_SOURCE_NOT_A_FILE;
	return st->st_size > (off_t)STB_SOURCE_MAX_BYTES ? STB_SOURCE_TOO_LARGE : STB_SOURCE_OK;
}

/* Looks first and again after opening; the file may have been replaced between the two. */
static enum stb_source_status open_regular(const char *path, int *fd)
{
	enum stb_source_status status;
	struct stat st;

	if (stat(path, &st) < 0)
		return STB_SOURCE_ERRNO;
	status = kind_of(&st);
	if (status != STB_SOURCE_OK)
		return status;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0)
		return STB_SOURCE_ERRNO;
	if (fstat(*fd, &st) < 0)
		return STB_SOURCE_ERRNO;
	return kind_of(&st);
}

/* Everything up to the cap; the size that stat gives is not trusted (files in /proc have none). */
static enum stb_source_status read_all(int fd, struct stb_buf *b)
{
	char *chunk = stb_xmalloc(1 << 16);
	enum stb_source_status status = STB_SOURCE_OK;

	for (;;) {
		const ssize_t n = read(fd, chunk, 1 << 16);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			status = errno == EISDIR ? STB_SOURCE_DIRECTORY : STB_SOURCE_ERRNO;
			break;
		}
		if (b->len + (size_t)n > STB_SOURCE_MAX_BYTES) {
			status = STB_SOURCE_TOO_LARGE;
			break;
		}
		stb_buf_add(b, chunk, (size_t)n);
	}
	const int saved = errno;

	free(chunk);
	errno = saved;
	return status;
}

enum stb_source_status stb_sources_load(struct stb_sources *s, const char *path, const char *name, uint32_t *file, int *errno_out)
{
	const bool from_stdin = strcmp(path, "-") == 0;
	enum stb_source_status status = STB_SOURCE_OK;
	struct stb_buf b;
	int fd = -1;

	stb_buf_init(&b);
	if (from_stdin)
		fd = STDIN_FILENO;
	else
		status = open_regular(path, &fd);
	if (status == STB_SOURCE_OK)
		status = read_all(fd, &b);
	*errno_out = status == STB_SOURCE_ERRNO ? errno : 0;
	if (status == STB_SOURCE_OK)
		*file = add_file(s, path, name ? name : from_stdin ? "standard input" : path, stb_buf_str(&b), b.len);
	if (fd >= 0 && !from_stdin)
		close(fd);
	stb_buf_fini(&b);
	return status;
}

/* Characters that reorder the text around them could make a spec read other than it runs. */
static bool reorders(uint32_t c)
{
	return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* The length of the character at s, 0 where it is not UTF-8: cut off, overlong, a surrogate or beyond U+10FFFF. */
static uint32_t decode(const unsigned char *s, size_t len, uint32_t *code_point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint32_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
	uint32_t c = s[0] & (0x7Fu >> n);

	if (s[0] < 0xC2 || s[0] > 0xF4 || n > len)
		return 0;
	for (uint32_t i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3F);
	}
	if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 0;
	*code_point = c;
	return n;
}

struct stb_glyph stb_glyph_at(const char *s, size_t len)
{
	const unsigned char first = (unsigned char)*s;
	uint32_t c = 0, n;

	if (first < 0x80)
		return (struct stb_glyph){ first, 1, 1, first >= 0x20 && first != 0x7F };
	n = decode((const unsigned char *)s, len, &c);
	if (n == 0)
		return (struct stb_glyph){ 0xFFFD, 1, 1, false };
	if (c < 0xA0 || c == 0x2028 || c == 0x2029 || reorders(c))
		return (struct stb_glyph){ c, n, 1, false };
	return (struct stb_glyph){ c, n, (uint32_t)stb_display_width(s, n), true };
}

/* The number of the line (0-based) that holds the offset. */
static uint32_t line_of(const struct stb_source_file *f, uint32_t offset)
{
	uint32_t low = 0, high = f->n_lines;

	while (high - low > 1) {
		const uint32_t mid = low + (high - low) / 2;

		if (f->lines[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

struct stb_position stb_sources_position(const struct stb_sources *s, uint32_t file, uint32_t offset)
{
	if (file >= s->n_files)
		return (struct stb_position){ 1, 1 };

	const struct stb_source_file *f = &s->files[file];
	const uint32_t end = STB_MIN(offset, f->len);
	const uint32_t line = line_of(f, end);
	uint32_t column = 0;

	for (uint32_t i = f->lines[line]; i < end;) {
		if (f->bytes[i] == '\t') {
			column = (column / 8 + 1) * 8;
			i++;
			continue;
		}
		const struct stb_glyph g = stb_glyph_at(f->bytes + i, end - i);

		column += g.width;
		i += g.bytes;
	}
	return (struct stb_position){ line + 1, column + 1 };
}

const char *stb_sources_line(const struct stb_sources *s, uint32_t file, uint32_t line, uint32_t *len)
{
	*len = 0;
	if (file >= s->n_files || line == 0 || line > s->files[file].n_lines)
		return "";

	const struct stb_source_file *f = &s->files[file];
	const uint32_t begin = f->lines[line - 1];
	uint32_t end = line < f->n_lines ? f->lines[line] - 1 : f->len;

	if (end > begin && line < f->n_lines && f->bytes[end - 1] == '\r')
		end--;
	*len = end - begin;
	return f->bytes + begin;
}
