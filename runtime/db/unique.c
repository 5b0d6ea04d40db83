/*
 * unique.c - ids for the insert script on tables without auto_inc: random-looking, never twice, also over several runs on one data set.
 *
 * Modulo a prime p = 3 (mod 4) every number below p/2 has another square, and p minus that square is no square: x -> x^2 for the lower half
 * and x -> p - x^2 for the upper half is therefore a permutation. Two of them with a shift between look random enough for a B-tree. The ids
 * are negative, so they cannot meet the loaded rows (1..table_size).
 *
 * A run takes indices in order from one counter. So all indices that earlier runs used form a prefix, but for a few that were in flight when a
 * run ended; where the prefix ends is found by doubling and halving over windows that are wider than what can be in flight. Nothing needs
 * to be remembered between runs, and a run that was killed leaves nothing wrong behind.
 */
#include "runtime/db/oltp.h"

#include <string.h>

#define PRIME 2147483647u /* 2^31 - 1 */
#define SHIFT 0x3c6ef372u

static uint32_t permute(uint32_t x)
{
	const uint32_t square = (uint32_t)((uint64_t)x * x % PRIME);

	return x <= PRIME / 2 ? square : PRIME - square;
}

int64_t stb_unique_id(uint32_t index)
{
	const uint32_t x = permute(index % PRIME);

	return (int64_t)permute((uint32_t)(((uint64_t)x + SHIFT) % PRIME)) + INT32_MIN;
}

/* 1: some id of the indices [first, first + n) is in a table; 0: none; -1 with *err. */
static int window_used(struct stb_client *c, uint32_t tables, uint32_t first, uint32_t n, struct stb_err *err)
{
	struct stb_buf ids, sql;
	int r = 0;

	stb_buf_init(&ids);
	stb_buf_init(&sql);
	for (uint32_t i = 0; i < n; i++)
		stb_buf_printf(&ids, "%s%lld", i ? "," : "", (long long)stb_unique_id(first + i));
	for (uint32_t table = 1; table <= tables && r == 0; table++) {
		char cell[24];
		bool found;

		stb_buf_clear(&sql);
		stb_buf_printf(&sql, "SELECT id FROM sbtest%u WHERE id IN (%s) LIMIT 1", table, stb_buf_str(&ids));
		if (stb_client_cell(c, stb_buf_str(&sql), cell, sizeof(cell), &found))
			r = stb_err_set(err, 0, "cannot look for ids that are in use in `sbtest%u`: %s (%u)", table, stb_client_text(c),
				stb_client_code(c));
		else if (found)
			r = 1;
	}
	stb_buf_fini(&sql);
	stb_buf_fini(&ids);
	return r;
}

int stb_unique_start(struct stb_client *c, uint32_t tables, uint32_t in_flight, uint32_t *start, struct stb_err *err)
{
	const uint32_t window = in_flight * 2 + 16;
	uint64_t used = 0, free_from = 0; /* windows: [0, used) are used, free_from is not */
	int r = window_used(c, tables, 0, window, err);

	for (uint64_t step = 1; r == 1; step *= 2) {
		used = free_from + 1;
		free_from += step;
		if ((free_from + 1) * window >= PRIME)
			return stb_err_set(err, 0, "cannot insert more rows without auto_inc: the ids of the tables are used up");
		r = window_used(c, tables, (uint32_t)(free_from * window), window, err);
	}
	while (r >= 0 && used < free_from) {
		const uint64_t middle = used + (free_from - used) / 2;

		r = window_used(c, tables, (uint32_t)(middle * window), window, err);
		if (r == 1)
			used = middle + 1;
		else
			free_from = middle;
	}
	*start = (uint32_t)(free_from * window);
	return r < 0 ? -1 : 0;
}
