/*
 * units.h - quantities as text: the one table of units, used by the scanner, by printing and by reports.
 */
#ifndef STB_UNITS_H
#define STB_UNITS_H

#include "runtime/base/val.h"

enum stb_units_status {
	STB_UNITS_OK,
	STB_UNITS_LEADING_ZERO, /* 010 */
	STB_UNITS_EXPONENT,     /* 1e6 */
	STB_UNITS_NO_DIGITS,    /* 1. */
	STB_UNITS_UNDERSCORE,   /* 1__0, 1_ */
	STB_UNITS_BARE_PREFIX,  /* 4k, 4K, 4M, 4Ki: which of 4KiB and 4KB? */
	STB_UNITS_UNKNOWN,      /* 2.5x */
	STB_UNITS_RATE_UNIT,    /* 4s/s, 5%/s */
	STB_UNITS_OVERFLOW,     /* does not fit 63 bits in base units */
};

/*
 * Reads one whole quantity, e.g. "4KiB", "1_000", "2.5ms", "30%", "500/s", "10MiB/s": all of the len bytes must belong to it.
 * On STB_UNITS_OK *out is a COUNT, BYTES, TIME, SHARE, RATE or BYTE_RATE. Otherwise *out is untouched.
 */
enum stb_units_status stb_units_parse(const char *s, size_t len, struct stb_val *out);

/* "bytes", "time", "count", "share", "rate", "byte rate", "text", ...: the type as messages name it. */
const char *stb_vtype_name(enum stb_vtype type);

/* A suffix without "/s": its type (BYTES, TIME, SHARE) and its size num/den in base units ("KiB" 1024/1, "%" 1/100). */
bool stb_units_suffix(const char *s, size_t len, enum stb_vtype *type, int64_t *num, int64_t *den);

/* All unit suffixes in the order of the reference ("B KiB ... %"), NULL-terminated: for documentation and dictionaries. */
const char *const *stb_units_all(void);

#endif
