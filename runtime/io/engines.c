/*
 * engines.c - the table of engines: capabilities from caps.def beside the operations of each.
 */
#include "runtime/io/engine.h"
#include "runtime/io/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STB_IO_OPS_PSYNC &stb_io_psync
#define STB_IO_OPS_LIBAIO &stb_io_libaio
#define STB_IO_OPS_IO_URING &stb_io_uring
#define STB_IO_OPS_NULLIO &stb_io_null

static const struct stb_io_caps table[STB_IO_N_ENGINES] = {
#define STB_IO_ENGINE(sym, name, sync, max_depth, direct, needs)                                             \
	[STB_IO_##sym] = { (name), (sync), (max_depth), (direct), (needs), STB_IO_OPS_##sym },
#include "runtime/io/caps.def"
#undef STB_IO_ENGINE
};

const struct stb_io_caps *stb_io_caps(enum stb_io_engine_id id)
{
	return &table[id];
}

const struct stb_io_caps *stb_io_caps_find(const char *name)
{
	for (uint32_t i = 0; i < STB_IO_N_ENGINES; i++) {
		if (!strcmp(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

void stb_io_used_add(char text[STB_IO_USED_TEXT], const char *fmt, ...)
{
	const size_t len = strlen(text), from = len ? len + 2 : 0;
	va_list ap;
	int n = -1;

	va_start(ap, fmt);
	if (from < STB_IO_USED_TEXT)
		n = vsnprintf(text + from, STB_IO_USED_TEXT - from, fmt, ap);
	va_end(ap);
	if (n < 0 || from + (size_t)n >= STB_IO_USED_TEXT)
		text[len] = '\0'; /* no room: whole words only */
	else if (len)
		memcpy(text + len, ", ", 2);
}

uint32_t stb_io_engines(struct stb_io_engine_info *out, uint32_t max)
{
	struct stb_err err;

	for (uint32_t i = 0; i < STB_IO_N_ENGINES && i < max; i++) {
		stb_err_clear(&err);
		out[i].name = table[i].name;
		out[i].available = table[i].ops->probe(1, 1, &err) == 0;
		memset(out[i].reason, 0, sizeof(out[i].reason));
		if (!out[i].available)
			memcpy(out[i].reason, err.what, strnlen(err.what, sizeof(out[i].reason) - 1));
	}
	return STB_IO_N_ENGINES;
}
