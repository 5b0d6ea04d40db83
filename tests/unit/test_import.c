/*
 * test_import.c - importers: what they make of another tool's files, byte for byte, and the account they give.
 *
 * tests/golden/import/NAME.fio is imported; NAME.diag is what is said about it, and a line with the exit code, NAME.spec the spec.
 */
#include "compiler/import.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct imported {
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;
	bool read, whole;
};

static void import_fio(struct imported *k, const char *path)
{
	*k = (struct imported){ 0 };
	stb_compilation_init(&k->c);
	stb_buf_init(&k->spec);
	stb_import_init(&k->im, &k->c, "fio");
	k->im.cwd = "/home/somebody";
	k->read = stb_import_fio(&k->im, &path, 1);
	k->whole = k->read && stb_import_finish(&k->im, &k->spec);
	cr_expect(!k->read || k->whole, "%s: the spec that is made cannot be read", path);
}

static void fini(struct imported *k)
{
	stb_import_fini(&k->im);
	stb_buf_fini(&k->spec);
	stb_compilation_fini(&k->c);
}

static void print_account(const char *path, const char *name, FILE *out)
{
	struct imported k;

	(void)name;
	import_fio(&k, path);
	stb_sink_print(&k.c.sink, STB_DIAG_HUMAN, out);
	fini(&k);
}

static void print_spec(const char *path, const char *name, FILE *out)
{
	struct imported k;

	(void)name;
	import_fio(&k, path);
	fwrite(stb_buf_str(&k.spec), 1, k.spec.len, out);
	fini(&k);
}

Test(import, each_file_is_told_as_it_should_be)
{
	setenv("STB_TEST_SIZE", "1m", 1);
	golden_dir_of("tests/golden/import", "fio", "diag", print_account);
}

Test(import, each_file_becomes_its_spec)
{
	setenv("STB_TEST_SIZE", "1m", 1);
	golden_dir_of("tests/golden/import", "fio", "spec", print_spec);
}
