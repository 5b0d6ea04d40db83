/*
 * gen.h - generated specs that are valid: for properties that must hold of every spec.
 *
 * A seed gives a spec; a look gives one of its many texts. Looks differ in nothing that means anything: layout, comments, order of
 * declaration, labels, which file a block stands in.
 */
#ifndef STB_TEST_GEN_H
#define STB_TEST_GEN_H

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/rng.h"

struct gen;

struct gen_look {
	uint64_t seed;
	bool tidy;        /* no odd layout, no comments */
	bool shuffled;    /* blocks and attributes in another order */
	bool other_texts; /* labels and notes */
	uint32_t n_files; /* 0, 1: all in one; else the first includes the others, which are "part1.stb", ... */
};

enum gen_change { /* one effective change; what it touches is the workload `w0` or the storage class `s0` */
	GEN_NONE,
	GEN_ATTRIBUTE,       /* w0 has another size */
	GEN_RENAME_WORKLOAD, /* w0 is called otherwise, everywhere */
	GEN_RENAME_STORAGE,  /* s0 likewise */
	GEN_N_CHANGES
};

struct gen *gen_new(uint64_t seed);
void gen_free(struct gen *g);
bool gen_can(const struct gen *g, enum gen_change change);
void gen_change(struct gen *g, enum gen_change change);
/* The text of one file; free() it. */
char *gen_text(const struct gen *g, const struct gen_look *look, uint32_t file, size_t *len);

#endif
