/* cmd_fmt.c - `stb fmt`: the canonical form, printed, written back (-w) or asked for (--check). */
#include "compiler/driver/driver.h"
#include "compiler/fmt.h"
#include "runtime/exec/outfile.h"

#include <string.h>

/* 0 and the text before and after; or an exit code after a message. The caller frees c and after. */
static int format_file(struct stb_compilation *c, const char *path, const struct stb_source_file **before, struct stb_buf *after)
{
	uint32_t file = 0;
	const bool done = stb_compile_load(c, path, NULL, &file) && stb_fmt(&c->arena, &c->sources, file, &c->sink, after);

	if (!done) {
		stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
		return STB_EXIT_SPEC;
	}
	*before = &c->sources.files[file];
	return STB_EXIT_OK;
}

static int put(const struct stb_args *a, const char *path, const struct stb_source_file *before, const struct stb_buf *after)
{
	const bool same = before->len == after->len && !memcmp(before->bytes, after->data, after->len);
	struct stb_err err;

	if (a->check) {
		if (!same)
			printf("%s\n", path);
		return same ? STB_EXIT_OK : STB_EXIT_SPEC;
	}
	if (!a->write) {
		fwrite(after->data, 1, after->len, stdout);
		return STB_EXIT_OK;
	}
	if (same)
		return STB_EXIT_OK;
	stb_err_clear(&err);
	if (!stb_outfile_write(path, after->data, after->len, &err))
		return STB_EXIT_OK;
	stb_exec_print_error(NULL, &err, stderr);
	return STB_EXIT_ENVIRONMENT;
}

static int one_file(const struct stb_args *a, const char *path)
{
	const struct stb_source_file *before = NULL;
	struct stb_compilation c;
	struct stb_buf after;
	int code;

	stb_compilation_init(&c);
	stb_buf_init(&after);
	code = format_file(&c, path, &before, &after);
	if (!code)
		code = put(a, path, before, &after);
	stb_buf_fini(&after);
	stb_compilation_fini(&c);
	return code;
}

/* Goes on after a file that is wrong; the first trouble decides the exit code. */
int stb_cmd_fmt(const struct stb_args *a)
{
	int code = STB_EXIT_OK;

	if (a->write && a->check) {
		fprintf(stderr, "stb: error: `--write` and `--check` exclude each other\n"
			"  what to do: --check says which files would change, --write changes them\n");
		return STB_EXIT_USAGE;
	}
	for (uint32_t i = 0; a->write && i < a->n_operands; i++) {
		if (strcmp(a->operands[i], "-"))
			continue;
		fprintf(stderr, "stb: error: `--write` cannot write to standard input\n"
			"  what to do: leave it out; the canonical form goes to standard output\n");
		return STB_EXIT_USAGE;
	}
	for (uint32_t i = 0; i < a->n_operands; i++) {
		const int one = one_file(a, a->operands[i]);

		if (!code)
			code = one;
	}
	return code;
}
