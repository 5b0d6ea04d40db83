/*
 * val.h - one typed value: what an attribute holds, in the spec, the plan and the results alike.
 *
 * Numbers are exact fractions in base units: bytes, nanoseconds, plain counts, shares (70% is 7/10), units per second.
 * Plain data; strings and items are borrowed from the arena of whoever made the value.
 */
#ifndef STB_VAL_H
#define STB_VAL_H

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"

enum stb_vtype {
	STB_V_NONE,      /* unset */
	STB_V_BOOL,      /* num is 0 or 1 */
	STB_V_COUNT,     /* plain number */
	STB_V_BYTES,     /* bytes */
	STB_V_TIME,      /* nanoseconds */
	STB_V_SHARE,     /* fraction of one: 70% is 7/10 */
	STB_V_RATE,      /* per second */
	STB_V_BYTE_RATE, /* bytes per second */
	STB_V_CLOCK,     /* time of day, minutes after midnight */
	STB_V_STRING,    /* free text */
	STB_V_WORD,      /* one of an attribute's words: psync, randwrite */
	STB_V_REF,       /* the name of a block */
	STB_V_SECRET,    /* str is "env:NAME" or "file:PATH": where the secret is, never the secret */
	STB_V_LIST,      /* items */
	STB_V_RANGE,     /* items[0]..items[1], either may be STB_V_NONE for an open end */
	STB_V_MAP,       /* open map (options, units, decimals): keys[i] -> items[i] */
};

struct stb_val {
	enum stb_vtype type;
	int64_t num, den; /* numbers: num/den in lowest terms, den > 0 */
	const char *str;  /* STRING WORD REF SECRET */
	const char **keys;
	struct stb_val *items;
	uint32_t n_items;
};

struct stb_val stb_val_num(enum stb_vtype type, int64_t num, int64_t den); /* reduces */
struct stb_val stb_val_bool(bool on);
struct stb_val stb_val_str(enum stb_vtype type, const char *s);

/* Same type and same value, deeply. */
bool stb_val_equal(const struct stb_val *a, const struct stb_val *b);
/* -1, 0, 1 for two numbers of one type (compared exactly). */
int stb_val_cmp(const struct stb_val *a, const struct stb_val *b);
double stb_val_double(const struct stb_val *v);

/*
 * The canonical spelling, as `stb fmt` would write it: 4KiB, 30s, 70%, 1000/s, 16, true, psync, "text", [a, b], 2..3.
 * Bytes take the unit that leaves the smallest whole number, binary before decimal (4KiB, 2GB, 1536B); times the largest unit that
 * divides. A number that is no multiple of its base unit is written as an exact decimal of at most 18 places where there is one (2.5ms
 * is 2500us, but 0.5B), else as a division: 1B/3.
 */
void stb_val_print(struct stb_buf *b, const struct stb_val *v);
char *stb_val_text(struct stb_arena *a, const struct stb_val *v);

/*
 * How a value looks in axis columns, file names and messages: as stb_val_print, but text without quotes.
 */
char *stb_val_label(struct stb_arena *a, const struct stb_val *v);

#endif
