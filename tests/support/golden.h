/*
 * golden.h - golden tests: for each NAME.stb of a directory, what a function prints about it is compared with NAME.EXT, whole.
 *
 * STB_UPDATE_GOLDEN=1 in the environment writes the files instead. A .stb without its golden file fails, and so does a golden file whose
 * .stb is gone. Paths are relative to the repository, from where the tests run. For use inside Criterion tests.
 */
#ifndef STB_TEST_GOLDEN_H
#define STB_TEST_GOLDEN_H

#include <stddef.h>
#include <stdio.h>

/* path is DIR/NAME.stb, name is NAME.stb: for messages that shall not hang on where the tests lie. */
typedef void golden_fn(const char *path, const char *name, FILE *out);

/* Fails the running test once for each difference and returns the number of inputs (0 fails too). */
size_t golden_dir(const char *dir, const char *ext, golden_fn *produce);
/* The same where the inputs end in something else than .stb. */
size_t golden_dir_of(const char *dir, const char *input_ext, const char *ext, golden_fn *produce);

#endif
