/*
 * fuzz_fmt.c - any bytes: format them. What comes out must be its own canonical form, hold as many comments, and be text.
 */
#include "compiler/fmt.h"
#include "compiler/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool format(const char *text, size_t len, struct stb_buf *out)
{
	struct stb_sources sources;
	struct stb_sink sink;
	struct stb_arena arena;
	bool done;

	stb_sources_init(&sources);
	stb_sink_init(&sink, &sources);
	stb_arena_init(&arena);
	done = stb_fmt(&arena, &sources, stb_sources_add(&sources, "fuzz.stb", text, len), &sink, out);
	STB_ASSERT(done == (sink.n_errors == 0));
	stb_arena_fini(&arena);
	stb_sink_fini(&sink);
	stb_sources_fini(&sources);
	return done;
}

/* Every `#` that is no comment stands in a string, and is printed there. */
static size_t signs(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '#';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct stb_buf once, twice;

	stb_buf_init(&once);
	stb_buf_init(&twice);
	if (format((const char *)data, len, &once)) {
		/* an escape \u{23} becomes the sign itself */
		STB_ASSERT(signs((const char *)data, len) == signs(once.data, once.len) || memmem(data, len, "\\u{", 3));
		STB_ASSERT(format(once.data, once.len, &twice));
		STB_ASSERT(once.len == twice.len && !memcmp(once.data, twice.data, once.len));
	}
	stb_buf_fini(&once);
	stb_buf_fini(&twice);
	return 0;
}
