/*
 * base.c - the end of the road: our own bugs, and memory that has run out.
 *
 * Both end the program with one line. Nothing above this layer has a code path for a failed allocation, so none can be wrong.
 */
#include "runtime/base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t stb_alloc_calls;

void stb_bug(const char *func, const char *file, int line, const char *what)
{
	fprintf(stderr, "stb: bug in %s at %s:%d: %s\n", func, file, line, what);
	abort();
}

STB_NORETURN static void out_of_memory(size_t count, size_t bytes)
{
	fprintf(stderr, "stb: out of memory: cannot get %zu x %zu bytes; end other programs or make the spec smaller\n", count,
		bytes);
	exit(3);
}

void *stb_xmalloc(size_t bytes)
{
	void *p;

	atomic_fetch_add_explicit(&stb_alloc_calls, 1, memory_order_relaxed);
	p = malloc(bytes ? bytes : 1);
	if (!p)
		out_of_memory(1, bytes);
	return p;
}

void *stb_xcalloc(size_t count, size_t bytes)
{
	void *p;

	atomic_fetch_add_explicit(&stb_alloc_calls, 1, memory_order_relaxed);
	p = count && bytes ? calloc(count, bytes) : calloc(1, 1);
	if (!p)
		out_of_memory(count, bytes);
	return p;
}

void *stb_xrealloc(void *old, size_t count, size_t bytes)
{
	size_t total;
	void *p;

	atomic_fetch_add_explicit(&stb_alloc_calls, 1, memory_order_relaxed);
	if (__builtin_mul_overflow(count, bytes, &total))
		out_of_memory(count, bytes);
	p = realloc(old, total ? total : 1);
	if (!p)
		out_of_memory(count, bytes);
	return p;
}

char *stb_xstrdup(const char *s)
{
	const size_t bytes = strlen(s) + 1;

	return memcpy(stb_xmalloc(bytes), s, bytes);
}

uint64_t stb_alloc_count(void)
{
	return atomic_load_explicit(&stb_alloc_calls, memory_order_relaxed);
}
