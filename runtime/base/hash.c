/*
 * hash.c - SHA-256 through libcrypto, as hex digits.
 *
 * libcrypto's older interface, whose state is a plain struct: a plan has an id per cell, and with EVP to fork and to end a hash allocates,
 * which takes longer than hashing what differs between two cells.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "runtime/base/hash.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct stb_hash), "the state of SHA-256 fits");
_Static_assert(STB_HASH_HEX == 2 * SHA256_DIGEST_LENGTH + 1, "two digits a byte and a NUL");

static SHA256_CTX *context(struct stb_hash *h)
{
	return (SHA256_CTX *)(void *)h->state;
}

static void to_hex(const unsigned char *md, char out[STB_HASH_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i++) {
		out[2 * i] = digits[md[i] >> 4];
		out[2 * i + 1] = digits[md[i] & 15];
	}
	out[STB_HASH_HEX - 1] = '\0';
}

void stb_hash_begin(struct stb_hash *h)
{
	if (!SHA256_Init(context(h)))
		STB_BUG("libcrypto refuses SHA-256");
}

void stb_hash_add(struct stb_hash *h, const void *data, size_t len)
{
	if (!SHA256_Update(context(h), data, len))
		STB_BUG("libcrypto refuses SHA-256");
}

void stb_hash_end(struct stb_hash *h, char out[STB_HASH_HEX])
{
	unsigned char md[SHA256_DIGEST_LENGTH];

	if (!SHA256_Final(md, context(h)))
		STB_BUG("libcrypto refuses SHA-256");
	to_hex(md, out);
}

void stb_hash_hex(const void *data, size_t len, char out[STB_HASH_HEX])
{
	struct stb_hash h;

	stb_hash_begin(&h);
	stb_hash_add(&h, data, len);
	stb_hash_end(&h, out);
}

uint64_t stb_hash_u64(const char *hex)
{
	uint64_t v = 0;

	for (int i = 0; i < 16 && hex[i]; i++) {
		const char c = hex[i];

		v = v << 4 | (uint64_t)(c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0);
	}
	return v;
}

void stb_hash_sha256(const void *data, size_t len, unsigned char out[32])
{
	SHA256_CTX c;

	if (!SHA256_Init(&c) || !SHA256_Update(&c, data, len) || !SHA256_Final(out, &c))
		STB_BUG("libcrypto refuses SHA-256");
}

void stb_hash_md5(const void *data, size_t len, unsigned char out[16])
{
	MD5_CTX c;

	if (!MD5_Init(&c) || !MD5_Update(&c, data, len) || !MD5_Final(out, &c))
		STB_BUG("libcrypto refuses MD5");
}
