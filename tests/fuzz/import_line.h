/*
 * import_line.h - one text as the command line of a tool that stb imports: a spec comes of it, however odd, or an error that says why not. No file
 * is opened.
 */
#ifndef STB_FUZZ_IMPORT_LINE_H
#define STB_FUZZ_IMPORT_LINE_H

#include "compiler/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* before: what is put in front of the text. */
static inline void import_line(const char *tool, const char *before, const uint8_t *data, size_t len,
	bool (*import)(struct stb_import *im, const char *const *words, uint32_t n))
{
	const size_t n = strlen(before);
	char *text = malloc(n + len + 1);
	const char *word = text;
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;

	memcpy(text, before, n);
	memcpy(text + n, data, len);
	text[n + len] = '\0';
	stb_compilation_init(&c);
	stb_buf_init(&spec);
	stb_import_init(&im, &c, tool);
	im.cwd = "/srv";
	im.sealed = true;
	if (import(&im, &word, 1))
		STB_ASSERT(stb_import_finish(&im, &spec));
	else
		STB_ASSERT(c.sink.n_errors);
	stb_import_fini(&im);
	stb_buf_fini(&spec);
	stb_compilation_fini(&c);
	free(text);
}

#endif
