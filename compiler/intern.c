/*
 * intern.c - open addressing with linear probing, at most half full; the hash takes eight bytes at a time, and the rest by FNV-1a.
 */
#include "compiler/intern.h"

#include <string.h>

void stb_intern_init(struct stb_intern *t, struct stb_arena *arena)
{
	*t = (struct stb_intern){ .arena = arena };
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ (h >> 32);
}

/* Eight bytes at a time: keys are mostly addresses, a dozen of them a cell. */
static uint64_t hash_bytes(const void *key, uint32_t len)
{
	const unsigned char *p = key;
	uint64_t h = 0xcbf29ce484222325u ^ len, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= (uint32_t)sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h ^ word);
	}
	for (uint32_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return mix(h);
}

static struct stb_intern_slot *find(const struct stb_intern *t, uint64_t hash, const void *key, uint32_t len)
{
	for (uint32_t i = (uint32_t)hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
		struct stb_intern_slot *s = &t->slots[i];

		if (!s->val || (s->hash == hash && s->len == len && !memcmp(s->key, key, len)))
			return s;
	}
}

void *stb_intern_get(const struct stb_intern *t, const void *key, uint32_t len)
{
	return t->cap ? find(t, hash_bytes(key, len), key, len)->val : NULL;
}

static void grow(struct stb_intern *t)
{
	struct stb_intern bigger = *t;

	bigger.cap = t->cap ? t->cap * 2 : 64;
	bigger.slots = STB_NEW_ARRAY(t->arena, struct stb_intern_slot, bigger.cap);
	for (uint32_t i = 0; i < t->cap; i++) {
		if (t->slots[i].val)
			*find(&bigger, t->slots[i].hash, t->slots[i].key, t->slots[i].len) = t->slots[i];
	}
	*t = bigger;
}

void stb_intern_put(struct stb_intern *t, const void *key, uint32_t len, void *val)
{
	stb_intern_lend(t, stb_arena_strndup(t->arena, key, len), len, val);
}

void stb_intern_lend(struct stb_intern *t, const void *key, uint32_t len, void *val)
{
	if (t->n * 2 >= t->cap)
		grow(t);
	const uint64_t hash = hash_bytes(key, len);
	struct stb_intern_slot *s = find(t, hash, key, len);

	STB_ASSERT(!s->val && val);
	*s = (struct stb_intern_slot){ hash, key, len, val };
	t->n++;
}
