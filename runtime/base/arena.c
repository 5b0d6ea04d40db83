/*
 * arena.c - chunks in a list; an allocation takes the next aligned bytes of the first one.
 *
 * A request that is larger than a fresh chunk gets a chunk of its own behind the head, so that the head's free space is not lost.
 */
#include "runtime/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 4096, LAST_CHUNK = 1 << 20, PAGE = 4096 };

struct stb_arena_chunk {
	struct stb_arena_chunk *next;
	size_t size, used;
	STB_ALIGNED(16) unsigned char bytes[];
};

void stb_arena_init(struct stb_arena *a)
{
	a->head = NULL;
	a->used_bytes = 0;
}

void stb_arena_fini(struct stb_arena *a)
{
	for (struct stb_arena_chunk *c = a->head; c;) {
		struct stb_arena_chunk *next = c->next;

		free(c);
		c = next;
	}
	stb_arena_init(a);
}

/* The cells of a large plan are asked for at once and all used: one call spares a fault for each page. A hint, so it may fail. */
static void fault_in(void *p, size_t size)
{
	const uintptr_t begin = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	const uintptr_t end = ((uintptr_t)p + size) & ~(uintptr_t)(PAGE - 1);

	if (end > begin)
		(void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

static struct stb_arena_chunk *new_chunk(size_t size)
{
	struct stb_arena_chunk *c;

	if (size > SIZE_MAX - sizeof(*c))
		size = SIZE_MAX - sizeof(*c); /* refused by the allocator, with its message */
	c = stb_xmalloc(sizeof(*c) + size);
	if (size > 4 * LAST_CHUNK)
		fault_in(c, sizeof(*c) + size);
	c->size = size;
	c->used = 0;
	return c;
}

static struct stb_arena_chunk *chunk_for(struct stb_arena *a, size_t bytes)
{
	struct stb_arena_chunk *head = a->head, *c;
	size_t size = FIRST_CHUNK;

	if (head && head->size - head->used >= bytes)
		return head;
	if (head)
		size = STB_MIN(STB_MAX(head->size, (size_t)FIRST_CHUNK) * 2, (size_t)LAST_CHUNK);
	c = new_chunk(STB_MAX(size, bytes));
	if (head && bytes > size) {
		c->next = head->next;
		head->next = c;
	} else {
		c->next = head;
		a->head = c;
	}
	return c;
}

void *stb_arena_alloc(struct stb_arena *a, size_t bytes)
{
	struct stb_arena_chunk *c;
	size_t rounded = bytes ? bytes : 1;
	void *p;

	if (rounded <= SIZE_MAX - ALIGNMENT)
		rounded = (rounded + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	c = chunk_for(a, rounded);
	p = c->bytes + c->used;
	c->used += rounded;
	a->used_bytes += rounded;
	return memset(p, 0, rounded);
}

void *stb_arena_alloc_array(struct stb_arena *a, size_t count, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, bytes, &total))
		total = SIZE_MAX;
	return stb_arena_alloc(a, total);
}

char *stb_arena_strndup(struct stb_arena *a, const char *s, size_t len)
{
	char *copy = stb_arena_alloc(a, len + 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *stb_arena_strdup(struct stb_arena *a, const char *s)
{
	return stb_arena_strndup(a, s, strlen(s));
}

char *stb_arena_printf(struct stb_arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *text;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	STB_ASSERT(len >= 0);
	text = stb_arena_alloc(a, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return text;
}
