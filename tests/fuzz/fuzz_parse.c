/*
 * fuzz_parse.c - any bytes: parse, print the tree and the diagnostics in all three forms. Then the same bytes as a value and a selector.
 *
 * Beside what the sanitizers see: output must be UTF-8 without control characters, whatever the input was.
 */
#include "compiler/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_output(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		const struct stb_glyph g = stb_glyph_at(text + i, len - i);

		STB_ASSERT(g.printable || text[i] == '\n' || text[i] == '\t');
		i += g.bytes;
	}
}

static void print_all(struct stb_sink *sink, const struct stb_ast *ast, const struct stb_sources *sources)
{
	for (int format = STB_DIAG_HUMAN; format <= STB_DIAG_GITHUB; format++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		stb_sink_print(sink, (enum stb_diag_format)format, out);
		fclose(out);
		check_output(text, len);
		free(text);
	}
	if (ast) {
		FILE *out = fopen("/dev/null", "w");

		stb_ast_print(ast, sources, out);
		fclose(out);
	}
}

/* What to read the bytes as: 0 a file, 1 a value, 2 a selector. */
static void read_as(int what, const uint8_t *data, size_t len)
{
	struct stb_sources sources;
	struct stb_sink sink;
	struct stb_arena arena;
	const struct stb_ast *ast = NULL;
	uint32_t file, n;

	stb_sources_init(&sources);
	stb_sink_init(&sink, &sources);
	stb_arena_init(&arena);
	file = stb_sources_add(&sources, "fuzz.stb", (const char *)data, len);
	if (what == 0)
		ast = stb_parse(&arena, &sources, file, &sink);
	else if (what == 1)
		STB_ASSERT((stb_parse_value(&arena, &sources, file, &sink) != NULL) == (sink.n_errors == 0));
	else
		STB_ASSERT((stb_parse_selector(&arena, &sources, file, &sink, &n) != NULL) == (sink.n_errors == 0));
	print_all(&sink, ast, &sources);
	stb_arena_fini(&arena);
	stb_sink_fini(&sink);
	stb_sources_fini(&sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	for (int what = 0; what < 3; what++)
		read_as(what, data, len);
	return 0;
}
