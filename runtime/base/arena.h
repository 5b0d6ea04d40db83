/*
 * arena.h - memory that lives and dies together (one arena a compilation, one a plan).
 *
 * Owns its chunks. Not thread-safe: one owner at a time. Never returns NULL.
 */
#ifndef STB_ARENA_H
#define STB_ARENA_H

#include "runtime/base/base.h"

struct stb_arena_chunk;

struct stb_arena {
	struct stb_arena_chunk *head;
	size_t used_bytes; /* handed out so far, for limits and statistics */
};

void stb_arena_init(struct stb_arena *a);
void stb_arena_fini(struct stb_arena *a);

/* Zeroed memory, aligned for any type. A size of 0 gives a valid pointer. */
STB_NODISCARD void *stb_arena_alloc(struct stb_arena *a, size_t bytes);
STB_NODISCARD void *stb_arena_alloc_array(struct stb_arena *a, size_t count, size_t bytes);
STB_NODISCARD char *stb_arena_strndup(struct stb_arena *a, const char *s, size_t len);
STB_NODISCARD char *stb_arena_strdup(struct stb_arena *a, const char *s);
STB_NODISCARD char *stb_arena_printf(struct stb_arena *a, const char *fmt, ...) STB_PRINTF(2, 3);

#define STB_NEW(a, type) ((type *)stb_arena_alloc((a), sizeof(type)))
#define STB_NEW_ARRAY(a, type, n) ((type *)stb_arena_alloc_array((a), (n), sizeof(type)))

/* Doubles an arena-backed array when it is full (the old copy stays in the arena). */
#define STB_ARENA_GROW(a, arr, n, cap)                                                                       \
	do {                                                                                                 \
		if ((n) >= (cap)) {                                                                          \
			size_t stb_new_cap_ = (cap) ? (size_t)(cap) * 2 : 8;                                 \
			void *stb_new_arr_ = stb_arena_alloc_array((a), stb_new_cap_, sizeof(*(arr)));       \
			if (n)                                                                               \
				__builtin_memcpy(stb_new_arr_, (arr), (size_t)(n) * sizeof(*(arr)));         \
			(arr) = stb_new_arr_;                                                                \
			(cap) = stb_new_cap_;                                                                \
		}                                                                                            \
	} while (0)

#endif
