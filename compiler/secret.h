/*
 * secret.h - secrets that were written into a spec, found in its text before any of it is quoted. The parser calls it.
 */
#ifndef STB_SECRET_H
#define STB_SECRET_H

#include "compiler/diag.h"

/* Whether an attribute of this name, or one near it, is likely to hold a secret. */
bool stb_secret_name(const char *name);
/* Masks the value that begins at or behind the offset, and the lets of the same file that it names. Cost: the file, for a bounded number. */
void stb_secret_mask(struct stb_sink *s, uint32_t file, uint32_t offset);

#endif
