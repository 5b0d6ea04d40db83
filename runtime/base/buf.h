/*
 * buf.h - a growing byte buffer for text that is being put together.
 *
 * Owns its bytes; always NUL-terminated, but the length counts. Not thread-safe.
 */
#ifndef STB_BUF_H
#define STB_BUF_H

#include "runtime/base/base.h"

struct stb_buf {
	char *data; /* NULL until the first append; use stb_buf_str() to read */
	size_t len;
	size_t cap;
};

void stb_buf_init(struct stb_buf *b);
void stb_buf_fini(struct stb_buf *b);
void stb_buf_clear(struct stb_buf *b);
void stb_buf_add(struct stb_buf *b, const char *s, size_t len);
void stb_buf_adds(struct stb_buf *b, const char *s);
void stb_buf_addc(struct stb_buf *b, char c);
void stb_buf_fill(struct stb_buf *b, char c, size_t count);
void stb_buf_printf(struct stb_buf *b, const char *fmt, ...) STB_PRINTF(2, 3);
/* Room for more bytes behind the text, for writing many small things at once: fill it, then say how many there are. */
char *stb_buf_room(struct stb_buf *b, size_t more);
void stb_buf_filled(struct stb_buf *b, size_t more);
const char *stb_buf_str(const struct stb_buf *b);
/* Hands the bytes over (free() them); the buffer is empty afterwards. */
STB_NODISCARD char *stb_buf_take(struct stb_buf *b);

/* Bytes of the UTF-8 character at s, 0 where there is none; its code point goes to *code. */
size_t stb_utf8_next(const char *s, size_t len, int32_t *code);

/* Columns that a terminal needs for UTF-8 text: East Asian wide characters count two, combining marks none,
 * invalid bytes one each. */
size_t stb_display_width(const char *s, size_t len);

#endif
