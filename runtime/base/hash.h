/*
 * hash.h - SHA-256 (libcrypto), for identities of cells, plans and specs.
 */
#ifndef STB_HASH_H
#define STB_HASH_H

#include "runtime/base/base.h"

#define STB_HASH_HEX 65 /* 64 digits and a NUL */

void stb_hash_hex(const void *data, size_t len, char out[STB_HASH_HEX]);
/* The first 8 bytes of a hex hash as a number (seed of random streams). */
uint64_t stb_hash_u64(const char *hex);

#endif
