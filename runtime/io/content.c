/* content.c - see content.h. */
#include "runtime/io/content.h"

#include "runtime/base/crc32c.h"
#include "runtime/base/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECTOR 512u
#define MAGIC 0x6b636f6c62627473ull /* "stbblock", least byte first */
#define GOLDEN 0x9e3779b97f4a7c15ull

struct header {
	uint64_t magic, offset, generation, seed;
	uint32_t length, kind;
	unsigned char digest[32];
	uint32_t zero, check;
};

_Static_assert(sizeof(struct header) == 80, "no padding: all of it is written");

bool stb_digest_find(const char *word, enum stb_digest *out)
{
	static const char *const words[] = { [STB_DIGEST_NONE] = "none", [STB_DIGEST_CRC32C] = "crc32c", [STB_DIGEST_MD5] = "md5",
		[STB_DIGEST_SHA256] = "sha256" };

	for (size_t i = 0; i < STB_LEN(words); i++) {
		if (!strcmp(words[i], word)) {
			*out = (enum stb_digest)i;
			return true;
		}
	}
	return false;
}

void stb_content_init(struct stb_content *c, enum stb_digest digest, double compress, uint32_t block, uint64_t seed)
{
	STB_ASSERT(digest == STB_DIGEST_NONE || block >= STB_CONTENT_LEAST_BS);
	*c = (struct stb_content){ .digest = digest, .random_bytes = SECTOR - (uint32_t)lround(compress * SECTOR), .block = block, .seed = seed };
}

/* splitmix64 (Steele, Lea, Flood): a bijection of its counter, good enough that nothing compresses. */
static inline uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline unsigned char *random_run(unsigned char *p, uint32_t n, uint64_t *state)
{
	uint64_t word;

	for (; n >= 8; p += 8, n -= 8) {
		word = mix(*state += GOLDEN);
		memcpy(p, &word, 8);
	}
	if (n) {
		word = mix(*state += GOLDEN);
		memcpy(p, &word, n);
	}
	return p + n;
}

static void payload(const struct stb_content *c, unsigned char *buf, uint32_t len, uint64_t seed)
{
	uint64_t state = seed;

	if (c->random_bytes == SECTOR) {
		(void)random_run(buf, len, &state);
		return;
	}
	for (uint32_t at = 0; at < len; at += SECTOR) {
		const uint32_t n = STB_MIN(SECTOR, len - at);
		/* of a last, shorter chunk the same share */
		const uint32_t keep = n == SECTOR ? c->random_bytes : (uint32_t)((uint64_t)n * c->random_bytes / SECTOR);
		unsigned char *rest = random_run(buf + at, keep, &state);

		memset(rest, 0, n - keep);
	}
}

static void digest_of(enum stb_digest kind, const void *data, size_t len, unsigned char out[32])
{
	uint32_t crc;

	memset(out, 0, 32);
	switch (kind) {
	case STB_DIGEST_NONE:
		break;
	case STB_DIGEST_CRC32C:
		crc = stb_crc32c(0, data, len);
		memcpy(out, &crc, sizeof(crc));
		break;
	case STB_DIGEST_MD5:
		stb_hash_md5(data, len, out);
		break;
	case STB_DIGEST_SHA256:
		stb_hash_sha256(data, len, out);
		break;
	}
}

static uint64_t seed_of(const struct stb_content *c, uint64_t offset, uint64_t generation)
{
	return mix(c->seed ^ mix(offset + GOLDEN * generation));
}

static void verified_block(const struct stb_content *c, unsigned char *buf, uint64_t offset, uint64_t generation)
{
	struct header h = { .magic = MAGIC, .offset = offset, .generation = generation, .seed = seed_of(c, offset, generation),
		.length = c->block, .kind = c->digest };

	payload(c, buf, c->block, h.seed);
	digest_of(c->digest, buf + sizeof(h), c->block - sizeof(h), h.digest);
	h.check = stb_crc32c(0, &h, offsetof(struct header, check));
	memcpy(buf, &h, sizeof(h));
}

void stb_content_fill(struct stb_content *c, unsigned char *buf, uint64_t offset, uint32_t len)
{
	if (c->digest == STB_DIGEST_NONE) {
		payload(c, buf, len, mix(c->seed + GOLDEN * ++c->count));
		return;
	}
	for (uint32_t at = 0; at < len; at += c->block)
		verified_block(c, buf + at, offset + at, c->generation);
}

/* --- reading back --- */

static const char *pass_text(uint64_t generation, uint64_t base, char *out, size_t size)
{
	if (generation > base && generation - base < (1ull << 40))
		snprintf(out, size, "pass %llu", (unsigned long long)(generation - base));
	else
		snprintf(out, size, "%s", generation <= base ? "an earlier run" : "a later run");
	return out;
}

static bool all_zeros(const unsigned char *p, size_t n)
{
	return n && !p[0] && !memcmp(p, p + 1, n - 1);
}

/*
 * The first byte that is otherwise, by making the block again, piece by piece on the stack. Of the header nothing but what follows from its
 * other fields is compared: it is only looked for where the header's own check failed.
 */
static uint32_t first_difference(const struct stb_content *c, const unsigned char *buf, uint64_t offset, uint64_t generation,
	unsigned char *want, unsigned char *have)
{
	unsigned char piece[SECTOR];
	uint64_t state = seed_of(c, offset, generation);

	for (uint32_t at = 0; at < c->block; at += SECTOR) {
		const uint32_t n = STB_MIN(SECTOR, c->block - at);
		const uint32_t keep = c->random_bytes == SECTOR ? n : n == SECTOR ? c->random_bytes : (uint32_t)((uint64_t)n * c->random_bytes / SECTOR);

		memset(piece, 0, sizeof(piece));
		(void)random_run(piece, keep, &state);
		for (uint32_t i = at ? 0 : (uint32_t)sizeof(struct header); i < n; i++) {
			if (piece[i] != buf[at + i]) {
				*want = piece[i];
				*have = buf[at + i];
				return at + i;
			}
		}
	}
	return 0;
}

static bool damaged(const struct stb_content *c, const unsigned char *buf, uint64_t offset, uint64_t generation, const char *name,
	struct stb_err *err)
{
	unsigned char want = 0, have = 0;
	const uint32_t at = first_difference(c, buf, offset, generation, &want, &have);
	struct header h;

	if (at) {
		stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` is damaged: expected byte 0x%02x at offset %llu, found 0x%02x", c->block,
			(unsigned long long)offset, name, want, (unsigned long long)(offset + at), have);
		return false;
	}
	memcpy(&h, buf, sizeof(h));
	stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` is damaged: expected a header with checksum 0x%08x, found 0x%08x", c->block,
		(unsigned long long)offset, name, stb_crc32c(0, &h, offsetof(struct header, check)), h.check);
	return false;
}

bool stb_content_check(const struct stb_content *c, const unsigned char *buf, uint64_t offset, uint64_t generation, uint64_t base,
	const char *name, struct stb_err *err)
{
	unsigned char digest[32];
	char want[32], have[32];
	struct header h;

	memcpy(&h, buf, sizeof(h));
	if (h.magic != MAGIC && all_zeros(buf, c->block)) {
		stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` was lost: expected the data of %s, found zeros", c->block,
			(unsigned long long)offset, name, pass_text(generation, base, want, sizeof(want)));
		return false;
	}
	if (h.magic != MAGIC) {
		stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` is no block of stb: expected 0x%016llx at its beginning, found 0x%016llx",
			c->block, (unsigned long long)offset, name, (unsigned long long)MAGIC, (unsigned long long)h.magic);
		return false;
	}
	if (h.check != stb_crc32c(0, &h, offsetof(struct header, check)))
		return damaged(c, buf, offset, generation, name, err);
	if (h.offset != offset) {
		stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` is in the wrong place: expected offset %llu in its header, found %llu",
			c->block, (unsigned long long)offset, name, (unsigned long long)offset, (unsigned long long)h.offset);
		return false;
	}
	if (h.generation != generation) {
		stb_err_set(err, 0, "block of %u bytes at offset %llu of `%s` is stale: expected the data of %s, found that of %s", c->block,
			(unsigned long long)offset, name, pass_text(generation, base, want, sizeof(want)),
			pass_text(h.generation, base, have, sizeof(have)));
		return false;
	}
	digest_of(c->digest, buf + sizeof(h), c->block - sizeof(h), digest);
	if (h.length != c->block || h.kind != c->digest || h.seed != seed_of(c, offset, generation) || memcmp(digest, h.digest, sizeof(digest)))
		return damaged(c, buf, offset, generation, name, err);
	return true;
}
