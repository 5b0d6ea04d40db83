/*
 * hash.c - SHA-256 through libcrypto, as hex digits.
 */
#include "runtime/base/hash.h"

#include <openssl/evp.h>

void stb_hash_hex(const void *data, size_t len, char out[STB_HASH_HEX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!EVP_Digest(data, len, md, &n, EVP_sha256(), NULL) || n * 2 + 1 != STB_HASH_HEX)
		STB_BUG("libcrypto refuses SHA-256");
	for (unsigned i = 0; i < n; i++) {
		out[2 * i] = digits[md[i] >> 4];
		out[2 * i + 1] = digits[md[i] & 15];
	}
	out[STB_HASH_HEX - 1] = '\0';
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
