/*
 * fuzz_import_sysbench.c - any text as a sysbench command line: import_line.h.
 */
#include "tests/fuzz/import_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	import_line("sysbench", "", data, len, stb_import_sysbench);
	return 0;
}
