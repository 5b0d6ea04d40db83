/*
 * json_read.c - taking members and values out of JSON that nobody has vouched for.
 */
#include "runtime/plan/json_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 8 };

void stb_json_fail(struct stb_json_reader *l, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (l->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stb_err_set(l->err, 0, "cannot load plan `%s`: %s%s%s", l->path, l->where, *l->where ? ": " : "", text);
	stb_err_remedy(l->err, "make the plan again from its spec with `stb plan --format json`");
	l->failed = true;
}

void stb_json_at(struct stb_json_reader *l, const char *list, size_t index)
{
	if (!l->failed)
		snprintf(l->where, sizeof(l->where), "%s[%zu]", list, index);
}

/* --- members ------------------------------------------------------------------------------------------------------------------------- */

struct stb_json_object stb_json_enter(struct stb_json_reader *l, json_t *json)
{
	if (!json_is_object(json))
		stb_json_fail(l, "not an object");
	return (struct stb_json_object){ .json = json };
}

void stb_json_leave(struct stb_json_reader *l, const struct stb_json_object *o)
{
	if (json_object_size(o->json) != o->taken)
		stb_json_fail(l, "it has a member that this version does not know");
}

json_t *stb_json_take(struct stb_json_object *o, const char *key)
{
	json_t *v = json_object_get(o->json, key);

	o->taken += v != NULL;
	return v;
}

json_t *stb_json_must_take(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	json_t *v = stb_json_take(o, key);

	if (!v)
		stb_json_fail(l, "`%s` is missing", key);
	return v;
}

const char *stb_json_text_of(struct stb_json_reader *l, json_t *v, const char *key)
{
	if (!json_is_string(v)) {
		stb_json_fail(l, "`%s` is not a string", key);
		return "";
	}
	return stb_arena_strndup(l->arena, json_string_value(v), json_string_length(v));
}

const char *stb_json_take_str(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	return stb_json_text_of(l, stb_json_must_take(l, o, key), key);
}

const char *stb_json_take_str_or_null(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	json_t *v = stb_json_take(o, key);

	return v ? stb_json_text_of(l, v, key) : NULL;
}

bool stb_json_take_flag(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	json_t *v = stb_json_take(o, key);

	if (v && !json_is_true(v))
		stb_json_fail(l, "`%s` is not true", key);
	return v != NULL;
}

uint64_t stb_json_u64_of(struct stb_json_reader *l, json_t *v, const char *key)
{
	const char *s = json_string_value(v);
	char *end;
	uint64_t n;

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	if (s && *s >= '1' && *s <= '9') {
		errno = 0;
		n = strtoull(s, &end, 10);
		if (!errno && !*end && n > INT64_MAX)
			return n;
	}
	stb_json_fail(l, "`%s` is not a whole number from 0 on", key);
	return 0;
}

uint64_t stb_json_take_u64(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	return stb_json_u64_of(l, stb_json_must_take(l, o, key), key);
}

uint32_t stb_json_take_u32(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	const uint64_t n = stb_json_take_u64(l, o, key);

	if (n < STB_NONE)
		return (uint32_t)n;
	stb_json_fail(l, "`%s` is too large", key);
	return 0;
}

uint32_t stb_json_take_index(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	return json_object_get(o->json, key) ? stb_json_take_u32(l, o, key) : STB_NONE;
}

json_t *stb_json_take_array(struct stb_json_reader *l, struct stb_json_object *o, const char *key, uint32_t *n)
{
	json_t *v = stb_json_must_take(l, o, key);

	if (v && !json_is_array(v))
		stb_json_fail(l, "`%s` is not an array", key);
	*n = (uint32_t)json_array_size(v);
	return v;
}

const char **stb_json_take_texts(struct stb_json_reader *l, struct stb_json_object *o, const char *key, uint32_t *n)
{
	json_t *list = stb_json_take_array(l, o, key, n);
	const char **texts = STB_NEW_ARRAY(l->arena, const char *, *n);

	for (uint32_t i = 0; i < *n; i++)
		texts[i] = stb_json_text_of(l, json_array_get(list, i), key);
	return texts;
}

void stb_json_take_hash(struct stb_json_reader *l, struct stb_json_object *o, const char *key, char out[STB_HASH_HEX])
{
	const char *s = stb_json_take_str(l, o, key);

	if (strlen(s) != STB_HASH_HEX - 1)
		stb_json_fail(l, "`%s` is not a SHA-256 in hex", key);
	else
		memcpy(out, s, STB_HASH_HEX);
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

static bool parse_int(const char *s, char end, int64_t *out, const char **rest)
{
	char *stop;

	if (*s != '-' && (*s < '0' || *s > '9'))
		return false;
	errno = 0;
	*out = strtoll(s, &stop, 10);
	*rest = stop + 1;
	return !errno && stop != s && *stop == end;
}

/* An integer, or "num/den" in lowest terms with den > 1. */
static bool parse_number(json_t *json, int64_t *num, int64_t *den)
{
	const char *s = json_string_value(json);
	struct stb_val reduced;

	*num = json_integer_value(json);
	*den = 1;
	if (!s)
		return json_is_integer(json) && *num > INT64_MIN;
	if (!parse_int(s, '/', num, &s) || !parse_int(s, '\0', den, &s) || *num == INT64_MIN || *den < 2)
		return false;
	reduced = stb_val_num(STB_V_COUNT, *num, *den);
	return reduced.num == *num && reduced.den == *den;
}

static bool load_percent(json_t *json, struct stb_val *out)
{
	__int128 num, den, a, b;
	int64_t n, d;

	if (!parse_number(json, &n, &d))
		return false;
	num = n;
	den = (__int128)d * 100;
	for (a = num < 0 ? -num : num, b = den; b;) {
		const __int128 r = a % b;

		a = b;
		b = r;
	}
	if (den / a > INT64_MAX)
		return false;
	*out = stb_val_num(STB_V_SHARE, (int64_t)(num / a), (int64_t)(den / a));
	return true;
}

bool stb_json_load_clock(json_t *json, struct stb_val *out)
{
	const char *s = json_string_value(json);
	int hour, minute;

	if (!s || strlen(s) != 5 || s[2] != ':' || strspn(s, "0123456789") != 2 || strspn(s + 3, "0123456789") != 2)
		return false;
	hour = (s[0] - '0') * 10 + s[1] - '0';
	minute = (s[3] - '0') * 10 + s[4] - '0';
	if (hour > 23 || minute > 59)
		return false;
	*out = stb_val_num(STB_V_CLOCK, hour * 60 + minute, 1);
	return true;
}

static struct stb_val load_list(struct stb_json_reader *l, json_t *json, int depth)
{
	struct stb_val v = { .type = STB_V_LIST, .n_items = (uint32_t)json_array_size(json) };

	v.items = STB_NEW_ARRAY(l->arena, struct stb_val, v.n_items);
	for (uint32_t i = 0; i < v.n_items; i++)
		v.items[i] = stb_json_load_val(l, json_array_get(json, i), depth + 1);
	return v;
}

static struct stb_val load_map(struct stb_json_reader *l, json_t *json, int depth)
{
	struct stb_val v = { .type = STB_V_MAP, .n_items = (uint32_t)json_object_size(json) };
	uint32_t i = 0;
	const char *key;
	json_t *item;

	v.keys = STB_NEW_ARRAY(l->arena, const char *, v.n_items);
	v.items = STB_NEW_ARRAY(l->arena, struct stb_val, v.n_items);
	json_object_foreach(json, key, item) {
		v.keys[i] = stb_arena_strdup(l->arena, key);
		v.items[i++] = stb_json_load_val(l, item, depth + 1);
	}
	return v;
}

static struct stb_val load_range(struct stb_json_reader *l, json_t *json, int depth)
{
	struct stb_val v = { .type = STB_V_RANGE, .n_items = 2 };

	v.items = STB_NEW_ARRAY(l->arena, struct stb_val, 2);
	v.items[0] = stb_json_load_val(l, json_object_get(json, "from"), depth + 1);
	v.items[1] = stb_json_load_val(l, json_object_get(json, "to"), depth + 1);
	return v;
}

/* {"bytes": 4096} and its like: one member, whose key is the type. */
static bool load_tagged(struct stb_json_reader *l, const char *key, json_t *json, int depth, struct stb_val *out)
{
	static const struct {
		const char *key;
		enum stb_vtype type;
	} numbers[] = { { "count", STB_V_COUNT }, { "bytes", STB_V_BYTES }, { "ns", STB_V_TIME }, { "share", STB_V_SHARE },
		{ "per_s", STB_V_RATE }, { "bytes_per_s", STB_V_BYTE_RATE } },
	  texts[] = { { "word", STB_V_WORD }, { "ref", STB_V_REF }, { "secret", STB_V_SECRET } };
	int64_t num, den;

	for (size_t i = 0; i < STB_LEN(numbers); i++) {
		if (strcmp(key, numbers[i].key))
			continue;
		if (!parse_number(json, &num, &den))
			return false;
		*out = stb_val_num(numbers[i].type, num, den);
		return true;
	}
	for (size_t i = 0; i < STB_LEN(texts); i++) {
		if (strcmp(key, texts[i].key))
			continue;
		*out = stb_val_str(texts[i].type, stb_json_text_of(l, json, key));
		return true;
	}
	if (!strcmp(key, "percent"))
		return load_percent(json, out);
	if (!strcmp(key, "at"))
		return stb_json_load_clock(json, out);
	if (strcmp(key, "map") || !json_is_object(json))
		return false;
	*out = load_map(l, json, depth);
	return true;
}

static struct stb_val load_object(struct stb_json_reader *l, json_t *json, int depth)
{
	void *only = json_object_iter(json);
	struct stb_val v = { .type = STB_V_NONE };

	if (json_object_size(json) == 2 && json_object_get(json, "from") && json_object_get(json, "to"))
		return load_range(l, json, depth);
	if (json_object_size(json) != 1 || !load_tagged(l, json_object_iter_key(only), json_object_iter_value(only), depth, &v))
		stb_json_fail(l, "a value is malformed");
	return v;
}

struct stb_val stb_json_load_val(struct stb_json_reader *l, json_t *json, int depth)
{
	if (!json || depth > MAX_DEPTH) {
		stb_json_fail(l, "a value is missing or too deep");
		return (struct stb_val){ .type = STB_V_NONE };
	}
	switch (json_typeof(json)) {
	case JSON_NULL:
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		return stb_val_bool(json_is_true(json));
	case JSON_STRING:
		return stb_val_str(STB_V_STRING, stb_json_text_of(l, json, "value"));
	case JSON_ARRAY:
		return load_list(l, json, depth);
	case JSON_OBJECT:
		return load_object(l, json, depth);
	case JSON_INTEGER:
		if (json_integer_value(json) > INT64_MIN)
			return stb_val_num(STB_V_COUNT, json_integer_value(json), 1);
		stb_json_fail(l, "a number is too small");
		break;
	case JSON_REAL:
		stb_json_fail(l, "a number is written as a decimal");
		break;
	}
	return (struct stb_val){ .type = STB_V_NONE };
}

struct stb_val stb_json_take_val(struct stb_json_reader *l, struct stb_json_object *o, const char *key)
{
	json_t *v = stb_json_take(o, key);

	return v ? stb_json_load_val(l, v, 0) : (struct stb_val){ .type = STB_V_NONE };
}

