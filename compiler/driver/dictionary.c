/*
 * dictionary.c - the dictionary of the fuzz targets (tests/fuzz/stb.dict): every word of the language from the tables, then signs, and what
 * people write instead of either.
 */
#include "compiler/driver/reference.h"

#include "compiler/reference.h"
#include "runtime/base/units.h"

#include <stdlib.h>
#include <string.h>

static const char *const reserved[] = { "stb", "include", "let", "param", "true", "false", "none" };

/* As libFuzzer reads them: bytes outside of ASCII as \xNN. */
static const char *const others[] = {
	"stb 1\\x0a", "{", "}", "[", "]", "(", ")", "=", "==", ":=", "=>", ":", ";", ",", ".", "..", "*", "+", "-", "/", "//", "/*", "*/", "#", "\\x0a",
	"\\x0d\\x0a", "\\x09", "${", "${cell.threads}", "\\x5cu{3bc}", "\\x5cn", "\\x5c\\x22", "'", "\\x22", "\\x22x\\x22", "4KiB", "4k", "30s", "30 s", "70%",
	"500/s", "10MiB/s", "1e6", "010", "1.", "1..2", "97%..*", "*..5", "03:00", "25:61", "_", "~/x", "./x", "/data/x", "10.11.2", "\\xef\\xbc\\x9d",
	"\\xef\\xbd\\x9b", "\\xef\\xbd\\x9d", "\\xef\\xbc\\x8c", "\\xe2\\x80\\x9c", "\\xe2\\x80\\x9d", "\\xe6\\xa8\\x99\\xe6\\xba\\x96", "\\xe3\\x80\\x80",
	"\\xc2\\xa0", "\\xe2\\x80\\x93", "\\xe2\\x80\\xa6", "\\xc2\\xb5", "\\xef\\xbb\\xbf", "\\xe2\\x80\\xae", "a = ", "a { ", "a b { ", "let x = ", "\\xff",
	"\\x00", "\\xe2\\x80",
};

struct words {
	char **items;
	size_t n, cap;
};

static void add(struct words *w, const char *word, size_t len)
{
	STB_GROW(w->items, w->n, w->cap);
	w->items[w->n++] = strndup(word, len);
	if (!w->items[w->n - 1])
		STB_BUG("out of memory");
}

static void add_parts(struct words *w, const char *text, const char *separators)
{
	for (const char *p = text; p && *p; p += strspn(p, separators)) {
		const size_t len = strcspn(p, separators);

		if (len)
			add(w, p, len);
		p += len;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void stb_dictionary(FILE *out)
{
	struct words w = { 0 };
	size_t n;

	for (size_t i = 0; i < STB_LEN(reserved); i++)
		add(&w, reserved[i], strlen(reserved[i]));

	const char **topics = stb_topic_words(&n); /* codes are left out */

	for (size_t i = 0; i < n; i++)
		if (!strpbrk(topics[i], "0123456789"))
			add_parts(&w, topics[i], ".");
	free(topics);

	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++)
		add_parts(&w, rows[i].words, " ");
	for (const char *const *unit = stb_units_all(); *unit; unit++)
		add(&w, *unit, strlen(*unit));
	qsort(w.items, w.n, sizeof(*w.items), by_text);
	fputs("# Words and signs of the language, and what people write instead of them: `stb explain --format dictionary`.\n", out);
	for (size_t i = 0; i < w.n; i++) {
		if (!i || strcmp(w.items[i - 1], w.items[i]))
			fprintf(out, "\"%s\"\n", w.items[i]);
	}
	for (size_t i = 0; i < STB_LEN(others); i++)
		fprintf(out, "\"%s\"\n", others[i]);
	for (size_t i = 0; i < w.n; i++)
		free(w.items[i]);
	free(w.items);
}
