/*
 * fuzz_compile.c - any bytes as a spec, through all passes, bare and under each profile: there is a plan, or there are errors, never both and
 * never neither; what is said can be printed in every format.
 */
#include "compiler/compile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct stb_compile_options o = { .check_profiles = true, .max_cells = 500 };
	struct stb_compilation c;
	struct stb_plan *plan;
	char *text = NULL;
	size_t len;
	FILE *out;

	stb_compilation_init(&c);
	plan = stb_compile_bytes(&c, "fuzz.stb", (const char *)data, size, &o);
	STB_ASSERT((plan != NULL) == (c.sink.n_errors == 0));
	out = open_memstream(&text, &len);
	STB_ASSERT(out);
	stb_sink_print(&c.sink, STB_DIAG_HUMAN, out);
	stb_sink_print(&c.sink, STB_DIAG_JSON, out);
	stb_sink_print(&c.sink, STB_DIAG_GITHUB, out);
	stb_sink_print(&c.sink, STB_DIAG_SARIF, out);
	fclose(out);
	free(text);
	if (plan)
		stb_plan_free(plan);
	stb_compilation_fini(&c);
	return 0;
}
