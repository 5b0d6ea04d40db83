/*
 * fuzz_import.c - any bytes as a fio job file: what comes out is a spec that can be read, in canonical form, or there is an error; the account
 * can be printed in every format. Other files are not opened.
 */
#include "compiler/fmt.h"
#include "compiler/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_canonical(struct stb_compilation *c, const struct stb_buf *spec)
{
	const uint32_t file = stb_sources_add(&c->sources, "again", stb_buf_str(spec), spec->len);
	struct stb_buf again;

	stb_buf_init(&again);
	STB_ASSERT(stb_fmt(&c->arena, &c->sources, file, &c->sink, &again));
	STB_ASSERT(again.len == spec->len && !memcmp(again.data, spec->data, spec->len));
	stb_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (memmem(data, size, "${", 2))
		return 0;
	stb_compilation_init(&c);
	stb_buf_init(&spec);
	stb_import_init(&im, &c, "fio");
	im.cwd = "/srv";
	im.sealed = true;
	if (stb_import_fio_file(&im, stb_sources_add(&c.sources, "fuzz.fio", (const char *)data, size))) {
		STB_ASSERT(stb_import_finish(&im, &spec));
		expect_canonical(&c, &spec);
	} else {
		STB_ASSERT(c.sink.n_errors);
	}
	out = open_memstream(&text, &len);
	STB_ASSERT(out);
	stb_sink_print(&c.sink, STB_DIAG_HUMAN, out);
	stb_sink_print(&c.sink, STB_DIAG_JSON, out);
	fclose(out);
	free(text);
	stb_import_fini(&im);
	stb_buf_fini(&spec);
	stb_compilation_fini(&c);
	return 0;
}
