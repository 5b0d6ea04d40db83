/*
 * buf.c - text that is being put together, and how wide it is on a terminal.
 */
#include "runtime/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

void stb_buf_init(struct stb_buf *b)
{
	memset(b, 0, sizeof(*b));
}

void stb_buf_fini(struct stb_buf *b)
{
	free(b->data);
	stb_buf_init(b);
}

void stb_buf_clear(struct stb_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for `more` bytes and the NUL. */
static void reserve(struct stb_buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 64;

	if (__builtin_add_overflow(b->len, more, &need) || need > SIZE_MAX / 4)
		need = SIZE_MAX / 4; /* refused by the allocator, with its message */
	need++;
	if (need <= b->cap)
		return;
	while (cap < need)
		cap *= 2;
	b->data = stb_xrealloc(b->data, cap, 1);
	b->cap = cap;
}

void stb_buf_add(struct stb_buf *b, const char *s, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->data + b->len, s, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void stb_buf_adds(struct stb_buf *b, const char *s)
{
	stb_buf_add(b, s, strlen(s));
}

void stb_buf_addc(struct stb_buf *b, char c)
{
	stb_buf_add(b, &c, 1);
}

void stb_buf_fill(struct stb_buf *b, char c, size_t count)
{
	reserve(b, count);
	memset(b->data + b->len, c, count);
	b->len += count;
	b->data[b->len] = '\0';
}

void stb_buf_printf(struct stb_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	STB_ASSERT(len >= 0);
	reserve(b, (size_t)len);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
	va_end(again);
	b->len += (size_t)len;
}

char *stb_buf_room(struct stb_buf *b, size_t more)
{
	reserve(b, more);
	return b->data + b->len;
}

void stb_buf_filled(struct stb_buf *b, size_t more)
{
	STB_ASSERT(more < b->cap - b->len);
	b->len += more;
	b->data[b->len] = '\0';
}

const char *stb_buf_str(const struct stb_buf *b)
{
	return b->data ? b->data : "";
}

char *stb_buf_take(struct stb_buf *b)
{
	char *data = b->data ? b->data : stb_xstrdup("");

	stb_buf_init(b);
	return data;
}

size_t stb_utf8_next(const char *s, size_t len, int32_t *code)
{
	const utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, len > 4 ? 4 : (utf8proc_ssize_t)len, code);

	return n > 0 ? (size_t)n : 0;
}

size_t stb_display_width(const char *s, size_t len)
{
	size_t width = 0;

	while (len) {
		int32_t code;
		const size_t n = stb_utf8_next(s, len, &code);

		width += n ? (size_t)utf8proc_charwidth(code) : 1;
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	return width;
}
