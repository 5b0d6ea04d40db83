/*
 * fuzz_plan.c - a plan.json that nobody has vouched for: it is refused with an error, or it prints, walks and loads again, and
 * what a run reads of it is refused with an error or can be worked with.
 */
#include "runtime/plan/json.h"
#include "tests/support/read_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct stb_plan *p, void (*how)(const struct stb_plan *, FILE *), char **text, size_t *len)
{
	FILE *f = open_memstream(text, len);

	STB_ASSERT(f);
	how(p, f);
	fclose(f);
}

/* Walking millions of steps is no fault, but it is slow. */
static bool is_small(const struct stb_plan *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n_matrices; i++)
		n += (uint64_t)p->matrices[i].n_cells * p->matrices[i].repeat * stb_plan_slots(&p->matrices[i]);
	return n < 10000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stb_plan *p, *again = NULL;
	struct stb_err err = { 0 };
	char *text = NULL, *json = NULL;
	size_t len;

	if (stb_plan_parse_bytes(&p, "plan.json", (const char *)data, size, &err)) {
		STB_ASSERT(err.set && err.what[0]);
		return 0;
	}
	stb_plan_seal(p);
	STB_ASSERT(!stb_test_read_plan(p, &err) || err.set);
	stb_err_clear(&err);
	if (is_small(p)) {
		print(p, stb_plan_print_text, &text, &len);
		free(text);
	}
	print(p, stb_plan_print_json, &json, &len);
	STB_ASSERT(!stb_plan_load_bytes(&again, "plan.json", json, len, &err));
	STB_ASSERT(!strcmp(p->hash, again->hash));
	free(json);
	stb_plan_free(again);
	stb_plan_free(p);
	return 0;
}
