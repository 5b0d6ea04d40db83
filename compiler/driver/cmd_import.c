/* cmd_import.c - `stb import`: another tool's job file or command line as a spec. One row of a table is a tool. */
#include "compiler/driver/driver.h"
#include "compiler/import.h"
#include "runtime/exec/outfile.h"

#include <string.h>

static const struct format {
	const char *name;
	const char *operands; /* behind the name */
	uint32_t min, max;    /* how many words */
	bool (*read)(struct stb_import *im, const char *const *words, uint32_t n);
} formats[] = {
	{ "fio", "FILE", 1, UINT32_MAX, stb_import_fio },
	{ "sysbench", "-- COMMAND...", 1, UINT32_MAX, stb_import_sysbench },
};

static const struct format *find_format(const char *name)
{
	const char *names[STB_LEN(formats)], *near;

	for (size_t i = 0; i < STB_LEN(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
		names[i] = formats[i].name;
	}
	near = stb_nearest(name, names, STB_LEN(names));
	fprintf(stderr, "stb: error: `stb import` does not read `%s`\n  what to do: ", name);
	if (near)
		fprintf(stderr, "did you mean `%s`?\n", near);
	else
		for (size_t i = 0; i < STB_LEN(formats); i++)
			fprintf(stderr, "%s`stb import %s %s`%s", i ? " or " : "write ", formats[i].name, formats[i].operands,
				i + 1 == STB_LEN(formats) ? "\n" : "");
	return NULL;
}

static int put(const struct stb_args *a, const struct stb_buf *spec)
{
	struct stb_err err;

	if (!a->output) {
		fwrite(stb_buf_str(spec), 1, spec->len, stdout);
		return STB_EXIT_OK;
	}
	stb_err_clear(&err);
	if (!stb_outfile_write(a->output, stb_buf_str(spec), spec->len, &err))
		return STB_EXIT_OK;
	stb_exec_print_error(NULL, &err, stderr);
	return STB_EXIT_ENVIRONMENT;
}

/* The spec is written also where something could not be translated: it says so itself, and the exit code is 1. */
int stb_cmd_import(const struct stb_args *a)
{
	const struct format *f = find_format(a->operands[0]);
	const uint32_t n = a->n_operands - 1;
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;
	int code = STB_EXIT_SPEC;

	if (!f)
		return STB_EXIT_USAGE;
	if (n < f->min || n > f->max) {
		fprintf(stderr, "stb: error: `stb import %s` takes %s\n  what to do: `stb import --help` shows what there is\n", f->name,
			f->operands);
		return STB_EXIT_USAGE;
	}
	stb_compilation_init(&c);
	stb_buf_init(&spec);
	stb_import_init(&im, &c, f->name);
	if (f->read(&im, a->operands + 1, n)) {
		const bool whole = stb_import_finish(&im, &spec);

		code = put(a, &spec);
		if (!code && (!whole || c.sink.n_errors))
			code = STB_EXIT_SPEC;
	}
	stb_sink_print(&c.sink, STB_DIAG_HUMAN, stderr);
	stb_import_fini(&im);
	stb_buf_fini(&spec);
	stb_compilation_fini(&c);
	return code;
}
