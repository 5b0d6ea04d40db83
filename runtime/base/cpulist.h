/*
 * cpulist.h - sets of CPU (and of NUMA node) numbers, and their text form "1-7,^2,^3,^4,10".
 *
 * Plain data of a fixed size (8 KiB), no ownership. Pure.
 */
#ifndef STB_CPULIST_H
#define STB_CPULIST_H

#include "runtime/base/buf.h"

#define STB_CPU_MAX 65536u          /* numbers 0 to 65535 */
#define STB_CPU_NONE UINT32_MAX     /* "no such number" wherever one is kept */

struct stb_cpuset {
	uint64_t words[STB_CPU_MAX / 64];
};

struct stb_cpulist_error {
	uint32_t at, len;  /* bytes of the list that are meant; len 0: the place before `at` */
	bool too_large;    /* a number that is not below the limit */
	char reason[160];  /* "7-1 runs downward" */
	char remedy[120];  /* "write 1-7" */
};

/*
 * Reads a whole list: numbers and ranges, separated by commas; `^` in front of one takes it out again, wherever it stands. No blanks, no
 * leading zeros, numbers below `limit` (at most STB_CPU_MAX). A list that leaves nothing is an error. 0; or -1 with *err, and *out empty.
 */
STB_NODISCARD int stb_cpulist_parse(const char *s, size_t len, uint32_t limit, struct stb_cpuset *out, struct stb_cpulist_error *err);
/* The canonical form: ascending, neighbours joined, no `^`; "" for the empty set. */
void stb_cpulist_print(const struct stb_cpuset *s, struct stb_buf *out);

void stb_cpuset_clear(struct stb_cpuset *s);
void stb_cpuset_add(struct stb_cpuset *s, uint32_t cpu);                       /* cpu < STB_CPU_MAX */
void stb_cpuset_add_range(struct stb_cpuset *s, uint32_t first, uint32_t last); /* both inclusive */
void stb_cpuset_remove(struct stb_cpuset *s, uint32_t cpu);
bool stb_cpuset_has(const struct stb_cpuset *s, uint32_t cpu);                 /* false for every number out of range */
bool stb_cpuset_empty(const struct stb_cpuset *s);
uint32_t stb_cpuset_count(const struct stb_cpuset *s);
/* The least member that is >= from; STB_CPU_NONE where there is none. for (c = next(s, 0); c != STB_CPU_NONE; c = next(s, c + 1)) */
uint32_t stb_cpuset_next(const struct stb_cpuset *s, uint32_t from);
/* The run of members that begins at or after *first: sets *first and *last. False: none. */
bool stb_cpuset_next_range(const struct stb_cpuset *s, uint32_t *first, uint32_t *last);
void stb_cpuset_unite(struct stb_cpuset *s, const struct stb_cpuset *with);
void stb_cpuset_intersect(struct stb_cpuset *s, const struct stb_cpuset *with);
void stb_cpuset_subtract(struct stb_cpuset *s, const struct stb_cpuset *what);

#endif
