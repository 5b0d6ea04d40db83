/*
 * fuzz_import_sysbench.c - any text as a sysbench command line: a spec comes of it, however odd, or an error that says why not.
 */
#include "compiler/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	const char *word = text;
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;

	memcpy(text, data, len);
	text[len] = '\0';
	stb_compilation_init(&c);
	stb_buf_init(&spec);
	stb_import_init(&im, &c, "sysbench");
	im.sealed = true;
	if (stb_import_sysbench(&im, &word, 1)) {
		STB_ASSERT(stb_import_finish(&im, &spec));
	} else {
		STB_ASSERT(c.sink.n_errors);
	}
	stb_import_fini(&im);
	stb_buf_fini(&spec);
	stb_compilation_fini(&c);
	free(text);
	return 0;
}
