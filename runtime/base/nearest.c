/* nearest.c - see nearest.h. */
#include "runtime/base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { NEAREST_MAX = 64 };

/* `-` and `_` and the cases of a letter are one and the same slip of the finger. */
static char folded(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; both at most NEAREST_MAX long. */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][NEAREST_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			const unsigned same = folded(a[i - 1]) == folded(b[j - 1]) ? 0 : 1;
			unsigned best = STB_MIN(above[j - 1] + same, STB_MIN(above[j], row[j - 1]) + 1);

			if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
				best = STB_MIN(best, before[j - 2] + 1);
			row[j] = best;
		}
		unsigned *spare = before;

		before = above;
		above = row;
		row = spare;
	}
	return above[m];
}

const char *stb_nearest(const char *word, const char *const *candidates, size_t n)
{
	const size_t len = strlen(word);
	/* none in words of two letters, which are all near each other */
	const unsigned limit = len <= 2 ? 0 : len <= 5 ? 1 : len <= 8 ? 2 : 3;
	const char *best = NULL;
	unsigned best_distance = limit + 1;

	if (len == 0 || len > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const size_t m = candidates[i] ? strlen(candidates[i]) : 0;

		if (m == 0 || m > NEAREST_MAX || (m > len ? m - len : len - m) > limit)
			continue;
		const unsigned d = edit_distance(word, len, candidates[i], m);

		if (d < best_distance) {
			best = candidates[i];
			best_distance = d;
		}
	}
	return best;
}
