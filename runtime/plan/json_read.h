/*
 * json_read.h - taking members and values out of JSON that nobody has vouched for. Private to runtime/plan.
 *
 * Every member is taken by name and type. The first thing that is wrong is kept as the error, and what is read after it is harmless (0, "",
 * empty), so that the code that reads has no error paths of its own. A member that nobody took is an error as well.
 */
#ifndef STB_PLAN_JSON_READ_H
#define STB_PLAN_JSON_READ_H

#include "runtime/plan/plan.h"

#include <jansson.h>

struct stb_json_reader {
	struct stb_arena *arena; /* where texts and values go */
	struct stb_err *err;
	const char *path;
	char where[64];          /* "cells[3]" */
	bool failed;
};

/* An object that is being read, and how many of its members have been taken. */
struct stb_json_object {
	json_t *json;
	size_t taken;
};

void stb_json_fail(struct stb_json_reader *l, const char *fmt, ...) STB_PRINTF(2, 3);
/* What is read now, for messages. */
void stb_json_at(struct stb_json_reader *l, const char *list, size_t index);

struct stb_json_object stb_json_enter(struct stb_json_reader *l, json_t *json);
/* Refuses members that were not taken. */
void stb_json_leave(struct stb_json_reader *l, const struct stb_json_object *o);

json_t *stb_json_take(struct stb_json_object *o, const char *key); /* NULL where it is not there */
json_t *stb_json_must_take(struct stb_json_reader *l, struct stb_json_object *o, const char *key);
const char *stb_json_take_str(struct stb_json_reader *l, struct stb_json_object *o, const char *key);
const char *stb_json_take_str_or_null(struct stb_json_reader *l, struct stb_json_object *o, const char *key);
bool stb_json_take_flag(struct stb_json_reader *l, struct stb_json_object *o, const char *key); /* true or left out */
uint64_t stb_json_take_u64(struct stb_json_reader *l, struct stb_json_object *o, const char *key);
uint32_t stb_json_take_u32(struct stb_json_reader *l, struct stb_json_object *o, const char *key); /* below STB_NONE */
uint32_t stb_json_take_index(struct stb_json_reader *l, struct stb_json_object *o, const char *key); /* STB_NONE where left out */
json_t *stb_json_take_array(struct stb_json_reader *l, struct stb_json_object *o, const char *key, uint32_t *n);
const char **stb_json_take_texts(struct stb_json_reader *l, struct stb_json_object *o, const char *key, uint32_t *n);
void stb_json_take_hash(struct stb_json_reader *l, struct stb_json_object *o, const char *key, char out[STB_HASH_HEX]);
struct stb_val stb_json_take_val(struct stb_json_reader *l, struct stb_json_object *o, const char *key); /* NONE where left out */

/* The same of a value in hand; key is for the message. */
const char *stb_json_text_of(struct stb_json_reader *l, json_t *v, const char *key);
uint64_t stb_json_u64_of(struct stb_json_reader *l, json_t *v, const char *key);
struct stb_val stb_json_load_val(struct stb_json_reader *l, json_t *json, int depth);
bool stb_json_load_clock(json_t *json, struct stb_val *out);

/* The enum whose name the member holds; name(i) for i < n. */
#define STB_JSON_TAKE_ENUM(l, o, key, name, n, out)                                                                   \
	do {                                                                                                 \
		const char *word_ = stb_json_take_str((l), (o), (key));                                               \
		unsigned i_ = 0;                                                                             \
		while (i_ < (n) && strcmp(word_, name(i_)))                                                  \
			i_++;                                                                                \
		if (i_ == (n))                                                                               \
			stb_json_fail((l), "`%s` is `%s`, which this version does not know", (key), word_);           \
		else                                                                                         \
			(out) = i_;                                                                          \
	} while (0)

#endif
