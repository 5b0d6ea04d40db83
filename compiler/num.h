/*
 * num.h - exact arithmetic with dimensions: what `4KiB * 10`, `size / time` and `70% * table_size` are.
 *
 * A number is a fraction of 64-bit integers in bytes and seconds raised to small powers. Pure functions; every failure is a status, never
 * a rounded result.
 */
#ifndef STB_NUM_H
#define STB_NUM_H

#include "runtime/base/val.h"

struct stb_num {
	int64_t num, den; /* lowest terms, den > 0 */
	int bytes, time;  /* exponents of byte and second: a byte rate is 1, -1 */
	bool share;       /* no dimension, and written or made with % */
};

enum stb_num_status {
	STB_NUM_OK,
	STB_NUM_OVERFLOW, /* does not fit a fraction of 64-bit integers */
	STB_NUM_MISMATCH, /* the two cannot be added or compared; or the result is of no type (bytes times bytes) */
	STB_NUM_ZERO,     /* division by zero */
};

/* false: v is no number. */
bool stb_num_from(const struct stb_val *v, struct stb_num *out);
enum stb_num_status stb_num_add(const struct stb_num *a, const struct stb_num *b, struct stb_num *out);
enum stb_num_status stb_num_sub(const struct stb_num *a, const struct stb_num *b, struct stb_num *out);
enum stb_num_status stb_num_mul(const struct stb_num *a, const struct stb_num *b, struct stb_num *out);
enum stb_num_status stb_num_div(const struct stb_num *a, const struct stb_num *b, struct stb_num *out);
enum stb_num_status stb_num_to(const struct stb_num *n, struct stb_val *out);
/* The type that stb_num_to would give, STB_V_NONE where there is none. */
enum stb_vtype stb_num_type(const struct stb_num *n);

#endif
