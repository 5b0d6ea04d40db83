/*
 * fuzz_import_line.c - any text as a fio command line: import_line.h.
 */
#include "tests/fuzz/import_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	import_line("fio", "fio ", data, len, stb_import_fio);
	return 0;
}
