/*
 * json_write.h - JSON as json_print.c puts it together: text and numbers, commas, the values of attributes. Private to runtime/plan.
 *
 * A writer of our own rather than a document of jansson's: a plan may have a million cells, and byte-identical output is the point.
 */
#ifndef STB_PLAN_JSON_WRITE_H
#define STB_PLAN_JSON_WRITE_H

#include "runtime/base/buf.h"
#include "runtime/base/hash.h"
#include "runtime/plan/plan.h"

#include <stdio.h>

struct stb_json_writer {
	struct stb_buf text;   /* not yet handed on */
	FILE *out;             /* where it goes, or NULL */
	struct stb_hash *hash; /* the same */
	bool first;            /* no comma before the next member */
};

/* Hands on what there is; what there is once that is much. */
void stb_json_flush(struct stb_json_writer *w);
void stb_json_flush_full(struct stb_json_writer *w);

void stb_json_raw(struct stb_json_writer *w, const char *s);
void stb_json_string(struct stb_json_writer *w, const char *s); /* quoted */

enum { STB_JSON_NUMBER = 24 }; /* bytes of stb_json_number() */
/* Writes v to memory, quoted where a signed reader could not hold it; returns the end. */
char *stb_json_number(char *to, uint64_t v);

/* Comma where one is due; then "key": where there is a key. */
void stb_json_member(struct stb_json_writer *w, const char *key);
/* A member that is an array or an object: with its bracket, up to the one that closes it. */
void stb_json_begin(struct stb_json_writer *w, const char *key, const char *bracket);
void stb_json_end(struct stb_json_writer *w, const char *bracket);

/* Members, left out where there is nothing to say: NULL, STB_NONE, false, a value of no type. */
void stb_json_put_str(struct stb_json_writer *w, const char *key, const char *s);
void stb_json_put_u64(struct stb_json_writer *w, const char *key, uint64_t v);
void stb_json_put_index(struct stb_json_writer *w, const char *key, uint32_t i);
void stb_json_put_flag(struct stb_json_writer *w, const char *key, bool on);
void stb_json_put_val(struct stb_json_writer *w, const char *key, const struct stb_val *v);
/* A value without a key. */
void stb_json_value(struct stb_json_writer *w, const struct stb_val *v);

/* A top-level array, and an object in it, which has a line of its own. */
void stb_json_open_lines(struct stb_json_writer *w, const char *key);
void stb_json_open_line(struct stb_json_writer *w);
void stb_json_close_line(struct stb_json_writer *w);
/* A top-level array of texts, each on a line of its own. */
void stb_json_put_texts(struct stb_json_writer *w, const char *key, const char **list, uint32_t n);

#endif
