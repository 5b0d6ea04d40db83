/*
 * base.h - the C dialect of this project: attributes, small macros, assertion.
 *
 * Included first by every header of ours. Owns nothing, has no state.
 */
#ifndef STB_BASE_H
#define STB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define STB_NODISCARD __attribute__((warn_unused_result))
#define STB_NORETURN __attribute__((noreturn))
#define STB_UNUSED __attribute__((unused))
#define STB_ALIGNED(n) __attribute__((aligned(n)))

#define STB_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define STB_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STB_MAX(a, b) ((a) > (b) ? (a) : (b))

/* We are wrong: never reachable from input. Names function, file and line, then aborts. */
STB_NORETURN void stb_bug(const char *func, const char *file, int line, const char *what);
#define STB_BUG(what) stb_bug(__func__, __FILE__, __LINE__, (what))
#define STB_ASSERT(cond) ((cond) ? (void)0 : STB_BUG("assertion failed: " #cond))

/* Memory that has run out ends the program with one line; callers never see NULL. */
STB_NODISCARD void *stb_xmalloc(size_t bytes);
STB_NODISCARD void *stb_xcalloc(size_t count, size_t bytes);
STB_NODISCARD void *stb_xrealloc(void *old, size_t count, size_t bytes);
STB_NODISCARD char *stb_xstrdup(const char *s);

/* The number of calls to stb_x*alloc by this process so far; the measured phase asserts that it stands still. */
uint64_t stb_alloc_count(void);

/* Grows an array to hold at least n + 1 elements; doubles the capacity. */
#define STB_GROW(arr, n, cap)                                                                                \
	do {                                                                                                 \
		if ((n) >= (cap)) {                                                                          \
			(cap) = (cap) ? (cap) * 2 : 8;                                                       \
			(arr) = stb_xrealloc((arr), (cap), sizeof(*(arr)));                                  \
		}                                                                                            \
	} while (0)

#endif
