/*
 * ids.c - open addressing with linear probing, at most half full.
 */
#include "runtime/plan/ids.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 64 };

#define TAG_MASK 0xffffffff00000000ull

void stb_plan_ids_init(struct stb_plan_ids *t)
{
	memset(t, 0, sizeof(*t));
}

void stb_plan_ids_fini(struct stb_plan_ids *t)
{
	free(t->slots);
	stb_plan_ids_init(t);
}

/* Sixteen digits to 64 bits, of which every half is good. */
static uint64_t hash_of(const char *id)
{
	uint64_t a, b;

	memcpy(&a, id, sizeof(a));
	memcpy(&b, id + sizeof(a), sizeof(b));
	a = (a ^ (b << 4)) * 0x9e3779b97f4a7c15u;
	a = (a ^ (a >> 32) ^ b) * 0xd6e8feb86659fd93u;
	return a ^ (a >> 32);
}

void stb_plan_ids_reserve(struct stb_plan_ids *t, const struct stb_plan_cell *cells, uint32_t n)
{
	struct stb_plan_ids bigger = { .n = t->n, .cap = t->cap ? t->cap : FIRST_CAP };

	STB_ASSERT(n <= UINT32_MAX / 4);
	while (bigger.cap < n * 2)
		bigger.cap *= 2;
	if (bigger.cap == t->cap)
		return;
	bigger.slots = stb_xcalloc(bigger.cap, sizeof(*bigger.slots));
	for (uint32_t i = 0; i < t->cap; i++) {
		uint32_t to;

		if (!t->slots[i])
			continue;
		to = (uint32_t)hash_of(cells[(uint32_t)t->slots[i] - 1].id) & (bigger.cap - 1);
		while (bigger.slots[to])
			to = (to + 1) & (bigger.cap - 1);
		bigger.slots[to] = t->slots[i];
	}
	free(t->slots);
	*t = bigger;
}

void stb_plan_ids_expect(const struct stb_plan_ids *t, const struct stb_plan_cell *cell)
{
	if (t->cap)
		__builtin_prefetch(&t->slots[(uint32_t)hash_of(cell->id) & (t->cap - 1)], 1);
}

uint32_t stb_plan_ids_put(struct stb_plan_ids *t, const struct stb_plan_cell *cells, uint32_t index, size_t digits)
{
	const uint64_t hash = hash_of(cells[index].id), mine = (hash & TAG_MASK) | ((uint64_t)index + 1);

	stb_plan_ids_reserve(t, cells, t->n + 1);
	for (uint32_t i = (uint32_t)hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
		const uint32_t other = (uint32_t)t->slots[i] - 1;

		if (t->slots[i] && ((t->slots[i] & TAG_MASK) != (hash & TAG_MASK) || strncmp(cells[other].id, cells[index].id, digits)))
			continue;
		t->n += !t->slots[i];
		t->slots[i] = mine;
		return other; /* STB_NONE of a free slot */
	}
}
