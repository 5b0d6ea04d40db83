/*
 * test_base.c - the small parts of the base: arena, buffers, display width, errors, hashes, random streams, wall clock.
 */
#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/hash.h"
#include "runtime/base/rng.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(arena, allocations_are_zeroed_aligned_and_apart)
{
	struct stb_arena a;
	struct stb_rng r;
	unsigned char *last = NULL;
	size_t last_size = 0;

	stb_arena_init(&a);
	stb_rng_seed(&r, 1);
	for (int i = 0; i < 5000; i++) {
		const size_t size = stb_rng_below(&r, i % 100 ? 200 : 300000);
		unsigned char *p = stb_arena_alloc(&a, size);

		cr_assert_eq((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < size; k++)
			cr_assert_eq(p[k], 0);
		memset(p, 0xEE, size);
		cr_assert(!last || p >= last + last_size || p + size <= last);
		last = p;
		last_size = size;
	}
	stb_arena_fini(&a);
	cr_assert_eq(a.used_bytes, 0);
}

Test(arena, grow_keeps_what_was_there)
{
	struct stb_arena a;
	uint32_t *list = NULL;
	size_t n = 0, cap = 0;

	stb_arena_init(&a);
	for (uint32_t i = 0; i < 1000; i++) {
		STB_ARENA_GROW(&a, list, n, cap);
		list[n++] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_eq(list[i], i);
	cr_assert_str_eq(stb_arena_printf(&a, "%s-%d", "x", 7), "x-7");
	cr_assert_str_eq(stb_arena_strndup(&a, "abcdef", 3), "abc");
	stb_arena_fini(&a);
}

Test(buf, grows_and_hands_over)
{
	struct stb_buf b;
	char *text;

	stb_buf_init(&b);
	cr_assert_str_eq(stb_buf_str(&b), "");
	stb_buf_add(&b, "", 0);
	for (int i = 0; i < 300; i++)
		stb_buf_printf(&b, "%d,", i % 10);
	stb_buf_fill(&b, '-', 5);
	cr_assert_eq(b.len, 605);
	cr_assert_str_eq(stb_buf_str(&b) + 598, "9,-----");
	text = stb_buf_take(&b);
	cr_assert_eq(strlen(text), 605);
	cr_assert_eq(b.len, 0);
	free(text);
	text = stb_buf_take(&b);
	cr_assert_str_eq(text, "");
	free(text);
}

Test(buf, display_width)
{
	cr_assert_eq(stb_display_width("abc", 3), 3);
	cr_assert_eq(stb_display_width("標準", strlen("標準")), 4);
	cr_assert_eq(stb_display_width("e\xCC\x81", 3), 1); /* combining acute */
	cr_assert_eq(stb_display_width("\xFF\xFE", 2), 2);
	cr_assert_eq(stb_display_width("\xE6\xA8", 2), 2); /* cut in the middle */
	cr_assert_eq(stb_display_width("", 0), 0);
}

Test(err, chain_reads_outermost_first)
{
	struct stb_err e = { 0 };

	cr_assert_eq(stb_err_set(&e, ENOENT, "cannot open `%s`", "x"), -1);
	cr_assert_str_eq(e.what, "cannot open `x`: No such file or directory");
	cr_assert(e.set && e.code == ENOENT && !e.remedy[0]);
	stb_err_remedy(&e, "make %s", "it");
	stb_err_wrap(&e, "cannot provision volume `%s`", "v");
	cr_assert_str_eq(e.what, "cannot provision volume `v`: cannot open `x`: No such file or directory");
	cr_assert_str_eq(e.remedy, "make it");
	stb_err_clear(&e);
	cr_assert(!e.set && !e.what[0]);
}

Test(err, long_texts_keep_the_reason_and_whole_characters)
{
	struct stb_err e = { 0 };
	char name[3 * STB_ERR_TEXT + 1];

	for (int shift = 0; shift < 3; shift++) {
		const char *end;
		int32_t code;

		memset(name, 'x', 3);
		for (size_t i = (size_t)shift; i + 3 < sizeof(name); i += 3)
			memcpy(name + i, "標", 3);
		name[sizeof(name) - 1 - 3] = '\0';
		stb_err_set(&e, EIO, "%s", name);
		end = strstr(e.what, ": Input/output error");
		cr_assert(end, "the reason is lost");
		for (const char *s = e.what; s < end;) {
			const size_t n = stb_utf8_next(s, (size_t)(end - s), &code);

			cr_assert(n > 0, "cut within a character");
			s += n;
		}
		stb_err_wrap(&e, "%s", name);
		cr_assert(strlen(e.what) < STB_ERR_TEXT);
	}
}

Test(hash, known_answers)
{
	char hex[STB_HASH_HEX];

	stb_hash_hex("abc", 3, hex);
	cr_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	cr_assert_eq(stb_hash_u64(hex), 0xba7816bf8f01cfea);
	stb_hash_hex("", 0, hex);
	cr_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* splitmix64 and xoshiro256** as published: the first outputs from seed 0, so that streams are the same in ten years. */
Test(rng, published_sequence)
{
	struct stb_rng r;

	stb_rng_seed(&r, 0);
	cr_assert_eq(r.s[0], 0xe220a8397b1dcdaf);
	cr_assert_eq(r.s[1], 0x6e789e6aa1b965f4);
	cr_assert_eq(stb_rng_next(&r), 0x99ec5f36cb75f2b4);
	cr_assert_eq(stb_rng_next(&r), 0xbf6e1f784956452a);
}

Test(rng, streams_part_in_every_argument)
{
	uint64_t first[7];
	struct stb_rng r;

	stb_rng_stream(&r, 1, 2, 3, 4, STB_RNG_OFFSET);
	first[0] = stb_rng_next(&r);
	stb_rng_stream(&r, 2, 2, 3, 4, STB_RNG_OFFSET);
	first[1] = stb_rng_next(&r);
	stb_rng_stream(&r, 1, 3, 3, 4, STB_RNG_OFFSET);
	first[2] = stb_rng_next(&r);
	stb_rng_stream(&r, 1, 2, 4, 4, STB_RNG_OFFSET);
	first[3] = stb_rng_next(&r);
	stb_rng_stream(&r, 1, 2, 3, 5, STB_RNG_OFFSET);
	first[4] = stb_rng_next(&r);
	stb_rng_stream(&r, 1, 2, 3, 4, STB_RNG_MIX);
	first[5] = stb_rng_next(&r);
	stb_rng_stream(&r, 1, 2, 4, 3, STB_RNG_OFFSET);
	first[6] = stb_rng_next(&r);
	for (int i = 0; i < 7; i++) {
		for (int j = 0; j < i; j++)
			cr_assert_neq(first[i], first[j], "%d and %d", i, j);
	}
	stb_rng_stream(&r, 1, 2, 3, 4, STB_RNG_OFFSET);
	cr_assert_eq(stb_rng_next(&r), first[0]);
}

Test(rng, below_stays_below)
{
	struct stb_rng r;
	unsigned seen[10] = { 0 };

	stb_rng_seed(&r, 5);
	for (int i = 0; i < 10000; i++) {
		const uint64_t v = stb_rng_below(&r, 10);

		cr_assert(v < 10);
		seen[v]++;
		cr_assert(stb_rng_unit(&r) < 1.0);
	}
	for (int i = 0; i < 10; i++)
		cr_assert(seen[i] > 800 && seen[i] < 1200, "%d: %u", i, seen[i]);
	cr_assert_eq(stb_rng_below(&r, 1), 0);
}

Test(clock, wall_clock_texts)
{
	char name[17], text[26];

	setenv("TZ", "IST-5:30", 1);
	tzset();
	stb_clock_utc_name(name);
	stb_clock_rfc3339(text);
	cr_assert_eq(strlen(name), 16);
	cr_assert(name[8] == 'T' && name[15] == 'Z');
	cr_assert_eq(strlen(text), 25);
	cr_assert_str_eq(text + 19, "+05:30");
	cr_assert_eq(stb_clock_sleep_until(0), 0);
}
