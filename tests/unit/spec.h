/*
 * spec.h - specs in tests: a text compiled as far as the checked model, or to the end, and what was said about it.
 */
#ifndef STB_TEST_SPEC_H
#define STB_TEST_SPEC_H

#include "compiler/compile.h"
#include "compiler/model.h"

struct spec {
	struct stb_compilation c;
	struct stb_compile_options o;
	struct stb_model *m;
};

/* Parses, resolves, checks; with o.profile set, lays the profile over it. */
void spec_open(struct spec *s, const char *text);
void spec_close(struct spec *s);
/* The value of a setting as it is spelled, "-" where there is none. */
const char *spec_value(struct spec *s, enum stb_kind kind, const char *name, const char *key);
/* How often a code was reported. */
unsigned spec_count(const struct spec *s, enum stb_code code);
/* All diagnostics in one format; free() it. */
char *spec_text(struct spec *s, enum stb_diag_format format);

#endif
