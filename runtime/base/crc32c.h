/*
 * crc32c.h - the CRC of Castagnoli (iSCSI, ext4, btrfs; RFC 3720): polynomial 0x1edc6f41, reflected, start and end inverted.
 *
 * By the CPU's own instruction where it has one, else by a small table, four bits a step. libcrypto has no CRC, and a library for thirty
 * lines would be one more to install.
 */
#ifndef STB_CRC32C_H
#define STB_CRC32C_H

#include "runtime/base/base.h"

/* Continues with crc, 0 at the start. */
uint32_t stb_crc32c(uint32_t crc, const void *data, size_t len);
/* The same without the CPU's instruction; for tests. */
uint32_t stb_crc32c_table(uint32_t crc, const void *data, size_t len);

#endif
