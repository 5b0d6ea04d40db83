/*
 * import_fio.h - a fio job file as it is written: sections with their options in order, includes put in place, environment substituted.
 *
 * Private to import_fio*.c. Everything lies in the compilation's arena; spans point into its sources.
 */
#ifndef STB_IMPORT_FIO_H
#define STB_IMPORT_FIO_H

#include "compiler/import.h"

struct stb_fio_option {
	const char *name;
	const char *value;     /* NULL: the option stands alone */
	const char *words;     /* the whole, as a comment quotes it */
	struct stb_span span;
};

struct stb_fio_section {
	const char *name;
	bool global;
	struct stb_span span;  /* [name] */
	struct stb_fio_option *options;
	uint32_t n, cap;
};

struct stb_fio_file {
	const char *path;
	struct stb_fio_section *sections;
	uint32_t n, cap;
	uint32_t n_options, n_includes;
};

/* false: it is no job file, or one that fio itself refuses; the sink says why. */
STB_NODISCARD bool stb_fio_read(struct stb_import *im, const char *path, struct stb_fio_file *f);

#endif
