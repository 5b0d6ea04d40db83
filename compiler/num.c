/*
 * num.c - exact arithmetic with dimensions.
 *
 * Invariant: every struct stb_num that leaves this file is in lowest terms and fits 64 bits, so that products of two of them fit 128 bits
 * and are reduced before they are judged. Floating point was rejected: `70% * 10` has to be 7, and a plan has to be byte-identical on
 * every machine.
 *
 *   share x X is an X; X / share is an X; share / share is a count; share + count does not go together (is 50% + 1 a half or one and a half?)
 */
#include "compiler/num.h"

enum { NS_PER_S = 1000000000, MAX_POWER = 8 };

typedef __int128 wide;

static wide wide_gcd(wide a, wide b)
{
	while (b) {
		const wide t = a % b;

		a = b;
		b = t;
	}
	return a < 0 ? -a : a;
}

/* Sets the fraction of out; the rest of it stays. */
static enum stb_num_status set(struct stb_num *out, wide num, wide den)
{
	wide g = wide_gcd(num, den);

	if (den < 0)
		g = -g;
	num /= g;
	den /= g;
	if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX)
		return STB_NUM_OVERFLOW;
	out->num = (int64_t)num;
	out->den = (int64_t)den;
	return STB_NUM_OK;
}

bool stb_num_from(const struct stb_val *v, struct stb_num *out)
{
	struct stb_num n = { .num = v->num, .den = v->den };

	switch (v->type) {
	case STB_V_COUNT:
		break;
	case STB_V_BYTES:
		n.bytes = 1;
		break;
	case STB_V_TIME:
		n.time = 1;
		/* ns to s: 1ns is 1/1000000000. A den that no longer fits is a time below 1e-18 s, which nothing can write. */
		if (set(&n, v->num, (wide)v->den * NS_PER_S) != STB_NUM_OK)
			return false;
		break;
	case STB_V_SHARE:
		n.share = true;
		break;
	case STB_V_RATE:
		n.time = -1;
		break;
	case STB_V_BYTE_RATE:
		n.bytes = 1;
		n.time = -1;
		break;
	case STB_V_NONE:
	case STB_V_BOOL:
	case STB_V_CLOCK:
	case STB_V_STRING:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		return false;
	}
	*out = n;
	return true;
}

static bool same_dimension(const struct stb_num *a, const struct stb_num *b)
{
	return a->bytes == b->bytes && a->time == b->time && a->share == b->share;
}

enum stb_num_status stb_num_add(const struct stb_num *a, const struct stb_num *b, struct stb_num *out)
{
	if (!same_dimension(a, b))
		return STB_NUM_MISMATCH;
	*out = *a;
	return set(out, (wide)a->num * b->den + (wide)b->num * a->den, (wide)a->den * b->den);
}

enum stb_num_status stb_num_sub(const struct stb_num *a, const struct stb_num *b, struct stb_num *out)
{
	struct stb_num minus = *b;

	minus.num = -minus.num; /* never INT64_MIN, see set() and stb_units_parse() */
	return stb_num_add(a, &minus, out);
}

static enum stb_num_status power(struct stb_num *n, int bytes, int time)
{
	n->bytes = bytes;
	n->time = time;
	return bytes > MAX_POWER || bytes < -MAX_POWER || time > MAX_POWER || time < -MAX_POWER ? STB_NUM_MISMATCH : STB_NUM_OK;
}

enum stb_num_status stb_num_mul(const struct stb_num *a, const struct stb_num *b, struct stb_num *out)
{
	struct stb_num n = { .share = a->share && b->share };

	if (power(&n, a->bytes + b->bytes, a->time + b->time) != STB_NUM_OK)
		return STB_NUM_MISMATCH;
	const enum stb_num_status status = set(&n, (wide)a->num * b->num, (wide)a->den * b->den);
	*out = n;
	return status;
}

enum stb_num_status stb_num_div(const struct stb_num *a, const struct stb_num *b, struct stb_num *out)
{
	const bool b_is_count = !b->bytes && !b->time && !b->share;
	struct stb_num n = { .share = a->share && b_is_count };

	if (b->num == 0)
		return STB_NUM_ZERO;
	if (power(&n, a->bytes - b->bytes, a->time - b->time) != STB_NUM_OK)
		return STB_NUM_MISMATCH;
	const enum stb_num_status status = set(&n, (wide)a->num * b->den, (wide)a->den * b->num);
	*out = n;
	return status;
}

enum stb_vtype stb_num_type(const struct stb_num *n)
{
	if (n->bytes == 0 && n->time == 0)
		return n->share ? STB_V_SHARE : STB_V_COUNT;
	if (n->bytes == 1 && n->time == 0)
		return STB_V_BYTES;
	if (n->bytes == 0 && n->time == 1)
		return STB_V_TIME;
	if (n->bytes == 0 && n->time == -1)
		return STB_V_RATE;
	if (n->bytes == 1 && n->time == -1)
		return STB_V_BYTE_RATE;
	return STB_V_NONE;
}

enum stb_num_status stb_num_to(const struct stb_num *n, struct stb_val *out)
{
	const enum stb_vtype type = stb_num_type(n);
	struct stb_num r = *n;

	if (type == STB_V_NONE)
		return STB_NUM_MISMATCH;
	if (type == STB_V_TIME && set(&r, (wide)n->num * NS_PER_S, n->den) != STB_NUM_OK)
		return STB_NUM_OVERFLOW;
	*out = stb_val_num(type, r.num, r.den);
	return STB_NUM_OK;
}
