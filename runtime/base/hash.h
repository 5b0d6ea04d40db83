/*
 * hash.h - SHA-256 (libcrypto), for identities of cells, plans and specs; and digests of blocks that are verified.
 */
#ifndef STB_HASH_H
#define STB_HASH_H

#include "runtime/base/base.h"

#define STB_HASH_HEX 65 /* 64 digits and a NUL */

/* A hash in the making; copying the struct forks it, so that what many hashes begin with is worked out once. */
struct stb_hash {
	STB_ALIGNED(8) unsigned char state[128];
};

void stb_hash_begin(struct stb_hash *h);
void stb_hash_add(struct stb_hash *h, const void *data, size_t len);
void stb_hash_end(struct stb_hash *h, char out[STB_HASH_HEX]);

void stb_hash_hex(const void *data, size_t len, char out[STB_HASH_HEX]);
/* Raw digests. They allocate nothing. */
void stb_hash_sha256(const void *data, size_t len, unsigned char out[32]);
void stb_hash_md5(const void *data, size_t len, unsigned char out[16]);
/* The first 8 bytes of a hex hash as a number (seed of random streams). */
uint64_t stb_hash_u64(const char *hex);

#endif
