/*
 * intern.h - a map from bytes to pointers, for giving equal things one address.
 *
 * Arena-backed, grows, never forgets. Iteration is not offered on purpose: nothing may depend on the order of a hash table.
 */
#ifndef STB_INTERN_H
#define STB_INTERN_H

#include "runtime/base/arena.h"

struct stb_intern_slot {
	uint64_t hash;
	const void *key;
	uint32_t len;
	void *val; /* NULL: free slot */
};

struct stb_intern {
	struct stb_arena *arena;
	struct stb_intern_slot *slots;
	uint32_t n, cap;
};

void stb_intern_init(struct stb_intern *t, struct stb_arena *arena);
void *stb_intern_get(const struct stb_intern *t, const void *key, uint32_t len); /* NULL: not there */
/* Adds a copy of the key; it must not be there yet. */
void stb_intern_put(struct stb_intern *t, const void *key, uint32_t len, void *val);
/* The same with a key that lives as long as the table. */
void stb_intern_lend(struct stb_intern *t, const void *key, uint32_t len, void *val);

#endif
