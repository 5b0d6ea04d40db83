/* crc32c.c - see crc32c.h. */
#include "runtime/base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

/* One step of long division. */
#define BIT(x) (((x) >> 1) ^ ((x) & 1 ? POLYNOMIAL : 0))

/* Four bits a step: the way of machines without the instruction, where 64 bytes of table are enough. */
uint32_t stb_crc32c_table(uint32_t crc, const void *data, size_t len)
{
	static const uint32_t nibble[16] = {
#define NIBBLE(x) BIT(BIT(BIT(BIT((uint32_t)(x)))))
		NIBBLE(0), NIBBLE(1), NIBBLE(2), NIBBLE(3), NIBBLE(4), NIBBLE(5), NIBBLE(6), NIBBLE(7),
		NIBBLE(8), NIBBLE(9), NIBBLE(10), NIBBLE(11), NIBBLE(12), NIBBLE(13), NIBBLE(14), NIBBLE(15),
#undef NIBBLE
	};
	const unsigned char *p = data;

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		crc = (crc >> 4) ^ nibble[crc & 15];
		crc = (crc >> 4) ^ nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t len)
{
	uint64_t c = ~crc;

	for (; len >= 8; p += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c = _mm_crc32_u64(c, word);
	}
	for (; len; p++, len--)
		c = _mm_crc32_u8((uint32_t)c, *p);
	return ~(uint32_t)c;
}
#endif

uint32_t stb_crc32c(uint32_t crc, const void *data, size_t len)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, len);
#endif
	return stb_crc32c_table(crc, data, len);
}
