/*
 * content.h - what is in the blocks that are written: fresh random data, compressible data, and data that can be verified.
 *
 * The plain case (one random buffer a slot, each sector with a stamp) is in the loop; this is refill_buffers, buffer_compress_percentage and
 * verify. Payload is a stream of splitmix64 from a seed a block, so that it can be made again when a block is read back.
 *
 * Compressible: of each 512 bytes the last P% are zeros (fio's buffer_compress_chunk of 512).
 *
 * Verified: each block (of the least bs, with several sizes) begins with a header:
 *
 *      magic      "stbblock"
 *      offset     where in the file it was meant to go         a block at the wrong offset
 *      generation a number that grows with each pass and run   a block that was not overwritten: a lost write, a stale copy
 *      seed       of the payload
 *      length     of the block, header included
 *      kind       of the digest
 *      digest     of all bytes after the header                damage
 *      check      crc32c of the header so far                  damage of the header itself
 *
 * Nobody keeps a map of what was written: where each pass covers each block once, the position in the present pass says which generation a
 * block must have (run.c). The seed follows from offset and generation, so the block that ought to be there can be made, and the first byte that
 * is otherwise be named.
 */
#ifndef STB_IO_CONTENT_H
#define STB_IO_CONTENT_H

#include "runtime/base/err.h"

#define STB_CONTENT_LEAST_BS 128u /* of a verified block: the header and something besides */

enum stb_digest { STB_DIGEST_NONE, STB_DIGEST_CRC32C, STB_DIGEST_MD5, STB_DIGEST_SHA256 };

struct stb_content {
	enum stb_digest digest;
	uint32_t random_bytes; /* of each 512, the rest are zeros */
	uint32_t block;        /* verified blocks: bytes */
	uint64_t seed;
	uint64_t count;        /* blocks made: of unverified ones the seed follows from it */
	uint64_t generation;   /* of what is written now */
};

/* false: no such word ("none" is one). */
bool stb_digest_find(const char *word, enum stb_digest *out);

/* compress: the share of zeros, 0 to 1. block is used where digest is not NONE, and at least STB_CONTENT_LEAST_BS. */
void stb_content_init(struct stb_content *c, enum stb_digest digest, double compress, uint32_t block, uint64_t seed);
/* Fills len bytes that go to offset; of verified content both are multiples of block. 0.2 to 1 ns a byte. */
void stb_content_fill(struct stb_content *c, unsigned char *buf, uint64_t offset, uint32_t len);

/*
 * Whether buf holds what was written to offset in that generation. On false *err says what was expected and what was found; name is the file's.
 * base: the generation before the first one of this repetition, so that generations can be named as passes.
 */
bool stb_content_check(const struct stb_content *c, const unsigned char *buf, uint64_t offset, uint64_t generation, uint64_t base,
	const char *name, struct stb_err *err);

#endif
