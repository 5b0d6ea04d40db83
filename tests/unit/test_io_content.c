/*
 * What is written: how much of it is zeros, and that every kind of damage is found when it is read back.
 */
#include "runtime/base/crc32c.h"
#include "runtime/base/rng.h"
#include "runtime/io/content.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024u

Test(io_content, crc32c_is_the_one_of_rfc_3720)
{
	unsigned char buf[64];

	memset(buf, 0, 32);
	cr_expect_eq(stb_crc32c(0, buf, 32), 0x8a9136aau);
	memset(buf, 0xff, 32);
	cr_expect_eq(stb_crc32c(0, buf, 32), 0x62a8ab43u);
	for (int i = 0; i < 32; i++)
		buf[i] = (unsigned char)i;
	cr_expect_eq(stb_crc32c(0, buf, 32), 0x46dd794eu);
	cr_expect_eq(stb_crc32c(0, "123456789", 9), 0xe3069283u);
	for (size_t n = 0; n < sizeof(buf); n++) {
		cr_expect_eq(stb_crc32c(0, buf, n), stb_crc32c_table(0, buf, n), "%zu bytes", n);
		cr_expect_eq(stb_crc32c(stb_crc32c(0, buf, n / 2), buf + n / 2, n - n / 2), stb_crc32c(0, buf, n));
	}
}

static size_t zeros_of(const unsigned char *p, size_t n)
{
	size_t zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += !p[i];
	return zeros;
}

Test(io_content, the_asked_share_of_each_sector_is_zeros)
{
	static const struct {
		double share;
		uint32_t zeros;
	} cases[] = { { 0, 0 }, { 0.25, 128 }, { 0.33, 169 }, { 0.5, 256 }, { 0.99, 507 }, { 1, 512 } };
	unsigned char buf[64 * KIB];

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct stb_content c;

		stb_content_init(&c, STB_DIGEST_NONE, cases[i].share, 0, 1);
		stb_content_fill(&c, buf, 0, sizeof(buf));
		for (size_t at = 0; at < sizeof(buf); at += 512) {
			cr_assert_eq(zeros_of(buf + at + 512 - cases[i].zeros, cases[i].zeros), cases[i].zeros);
			/* random bytes are zero now and then: 1 in 256 */
			cr_assert(zeros_of(buf + at, 512 - cases[i].zeros) < 20);
		}
	}
}

Test(io_content, every_write_has_data_of_its_own)
{
	enum { N = 1000 };
	static const uint32_t lens[] = { 512, 4 * KIB, 1000, 7 };
	unsigned char a[4 * KIB], b[4 * KIB];
	struct stb_content c, again;

	stb_content_init(&c, STB_DIGEST_NONE, 0, 0, 9);
	stb_content_init(&again, STB_DIGEST_NONE, 0, 0, 9);
	for (int i = 0; i < N; i++) {
		const uint32_t len = lens[i % (int)STB_LEN(lens)];

		stb_content_fill(&c, a, 0, len);
		stb_content_fill(&again, b, 0, len);
		cr_assert(!memcmp(a, b, len), "the same seed gives the same data");
		if (len >= 512) {
			stb_content_fill(&c, b, 0, len);
			stb_content_fill(&again, b, 0, len);
			cr_assert(memcmp(a, b, len), "write %d is like the one before", i);
			for (uint32_t at = 512; at < len; at += 512)
				cr_assert(memcmp(a, a + at, 512), "two sectors are alike");
		}
	}
}

/* --- verify --- */

#define BASE 1000ull

struct image {
	struct stb_content c;
	unsigned char *data, *before;
	uint32_t blocks;
};

static void image_make(struct image *m, enum stb_digest digest, double compress, uint32_t block, uint32_t blocks)
{
	stb_content_init(&m->c, digest, compress, block, 77);
	m->blocks = blocks;
	m->data = malloc((size_t)block * blocks);
	m->before = malloc((size_t)block * blocks);
	m->c.generation = BASE + 1;
	stb_content_fill(&m->c, m->before, 0, block * blocks);
	m->c.generation = BASE + 2;
	stb_content_fill(&m->c, m->data, 0, block * blocks);
}

static void image_free(struct image *m)
{
	free(m->data);
	free(m->before);
}

static uint32_t bad_blocks(const struct image *m, struct stb_err *first)
{
	uint32_t bad = 0;

	stb_err_clear(first);
	for (uint32_t i = 0; i < m->blocks; i++) {
		struct stb_err err;

		stb_err_clear(&err);
		if (stb_content_check(&m->c, m->data + (size_t)i * m->c.block, (uint64_t)i * m->c.block, BASE + 2, BASE, "f", &err))
			continue;
		cr_assert(err.set);
		if (!bad++)
			*first = err;
	}
	return bad;
}

static const enum stb_digest digests[] = { STB_DIGEST_CRC32C, STB_DIGEST_MD5, STB_DIGEST_SHA256 };

Test(io_content, clean_data_verifies)
{
	static const uint32_t blocks[] = { 128, 512, 520, 4 * KIB, 64 * KIB };
	static const double shares[] = { 0, 0.5, 1 };
	struct stb_err err;

	for (size_t d = 0; d < STB_LEN(digests); d++) {
		for (size_t b = 0; b < STB_LEN(blocks); b++) {
			for (size_t s = 0; s < STB_LEN(shares); s++) {
				struct image m;

				image_make(&m, digests[d], shares[s], blocks[b], 50);
				cr_expect_eq(bad_blocks(&m, &err), 0, "%s", err.what);
				image_free(&m);
			}
		}
	}
}

enum damage { BIT, BYTES, ZEROS, STALE, MOVED, SWAPPED, TORN, HEADER, N_DAMAGES };

static void injure(struct image *m, enum damage how, struct stb_rng *rng, uint32_t at)
{
	const uint32_t block = m->c.block;
	unsigned char *p = m->data + (size_t)at * block, *q = m->before + (size_t)at * block;
	const uint32_t byte = (uint32_t)stb_rng_below(rng, block), other = (at + 1 + (uint32_t)stb_rng_below(rng, m->blocks - 1)) % m->blocks;

	switch (how) {
	case BIT:
		p[byte] ^= (unsigned char)(1u << stb_rng_below(rng, 8));
		break;
	case BYTES:
		for (uint32_t i = byte; i < block && i < byte + 64; i++)
			p[i] = (unsigned char)~p[i];
		break;
	case ZEROS:
		memset(p, 0, block);
		break;
	case STALE:
		memcpy(p, q, block);
		break;
	case MOVED:
	case SWAPPED:
		memcpy(p, m->data + (size_t)other * block, block);
		break;
	case TORN: /* the first sectors are new, the rest is old */
		memcpy(p + 512, q + 512, block - 512);
		break;
	case HEADER:
		p[stb_rng_below(rng, 80)] ^= 0x10;
		break;
	case N_DAMAGES:
		break;
	}
}

/* 1,000 corruptions a digest, of every kind, one at a time: each is found, and nothing else. */
Test(io_content, each_of_a_thousand_corruptions_is_found, .timeout = 60)
{
	enum { BLOCK = 4096, BLOCKS = 16, TIMES = 1000 };
	struct stb_err err;
	struct stb_rng rng;

	stb_rng_seed(&rng, 2026);
	for (size_t d = 0; d < STB_LEN(digests); d++) {
		unsigned char *clean = malloc((size_t)BLOCK * BLOCKS);
		struct image m;

		image_make(&m, digests[d], 0, BLOCK, BLOCKS);
		memcpy(clean, m.data, (size_t)BLOCK * BLOCKS);
		for (int i = 0; i < TIMES; i++) {
			const uint32_t at = (uint32_t)stb_rng_below(&rng, BLOCKS);

			injure(&m, (enum damage)(i % N_DAMAGES), &rng, at);
			cr_assert_eq(bad_blocks(&m, &err), 1, "corruption %d of kind %d", i, i % N_DAMAGES);
			memcpy(m.data, clean, (size_t)BLOCK * BLOCKS);
		}
		free(clean);
		image_free(&m);
	}
}

static void says(const struct image *m, const char *text)
{
	struct stb_err err;

	cr_expect_eq(bad_blocks(m, &err), 1);
	cr_expect_not_null(strstr(err.what, text), "%s", err.what);
}

Test(io_content, a_mismatch_names_offset_expected_and_found)
{
	enum { BLOCK = 4096 };
	struct stb_rng rng;
	struct image m;

	stb_rng_seed(&rng, 1);
	image_make(&m, STB_DIGEST_CRC32C, 0, BLOCK, 4);
	m.data[BLOCK + 100] = (unsigned char)(m.data[BLOCK + 100] == 0x42 ? 0x43 : 0x42);
	says(&m, "at offset 4096 of `f` is damaged: expected byte 0x");
	says(&m, "at offset 4196, found 0x42");
	image_free(&m);

	image_make(&m, STB_DIGEST_CRC32C, 0, BLOCK, 4);
	injure(&m, STALE, &rng, 2);
	says(&m, "at offset 8192 of `f` is stale: expected the data of pass 2, found that of pass 1");
	image_free(&m);

	image_make(&m, STB_DIGEST_CRC32C, 0, BLOCK, 4);
	memcpy(m.data + 3 * BLOCK, m.data, BLOCK);
	says(&m, "at offset 12288 of `f` is in the wrong place: expected offset 12288 in its header, found 0");
	image_free(&m);

	image_make(&m, STB_DIGEST_CRC32C, 0, BLOCK, 4);
	m.c.generation = BASE - 5;
	stb_content_fill(&m.c, m.data, 0, BLOCK);
	says(&m, "found that of an earlier run");
	memset(m.data, 0, BLOCK);
	says(&m, "was lost: expected the data of pass 2, found zeros");
	memset(m.data, 'x', BLOCK);
	says(&m, "is no block of stb: expected 0x6b636f6c62627473 at its beginning, found 0x7878787878787878");
	image_free(&m);
}
