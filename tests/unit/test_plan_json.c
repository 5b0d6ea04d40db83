/*
 * test_plan_json.c - the JSON form of a plan: what is printed loads as the same plan, and nothing that loads can hurt.
 */
#include "runtime/base/buf.h"
#include "runtime/base/rng.h"
#include "runtime/plan/json.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stb_plan *must_load(const char *json)
{
	struct stb_err err = { 0 };
	struct stb_plan *p;

	cr_assert_eq(stb_plan_load_bytes(&p, "plan.json", json, strlen(json), &err), 0, "%s", err.what);
	return p;
}

Test(plan_json, what_is_printed_loads_and_prints_the_same)
{
	struct stb_plan *p = stb_test_rich_plan(), *back;
	char *json = stb_test_json(p), *again, *text = stb_test_text(p), *text_again;
	struct stb_err err = { 0 };

	cr_assert_eq(stb_plan_verify(p, &err), 0, "%s", err.what);
	back = must_load(json);
	again = stb_test_json(back);
	text_again = stb_test_text(back);
	cr_assert_str_eq(json, again);
	cr_assert_str_eq(text, text_again);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		for (uint32_t k = 0; k < p->blocks[i].n_attrs; k++) {
			const struct stb_plan_attr *a = &p->blocks[i].attrs[k], *b = &back->blocks[i].attrs[k];

			cr_assert(stb_val_equal(&a->val, &b->val), "%s", a->name);
			cr_assert(a->ident == b->ident && a->is_default == b->is_default && a->origin == b->origin, "%s", a->name);
		}
	}
	cr_assert_eq(back->matrices[0].seed, UINT64_MAX);
	cr_assert_eq(back->cells[1].write_bytes, STB_UNBOUNDED);
	cr_assert_eq(back->cells[4].same_as, 0);
	cr_assert_eq(back->cells[2].point[1], STB_NONE);
	cr_assert_eq(back->spans[back->matrices[1].span].line, 9);
	cr_assert_str_eq(back->claims[0].unit, "%");
	free(json);
	free(again);
	free(text);
	free(text_again);
	stb_plan_free(p);
	stb_plan_free(back);
}

Test(plan_json, other_readers_understand_it)
{
	struct stb_plan *p = stb_test_rich_plan();
	char *json = stb_test_json(p), *line = strstr(json, "\"cells\":[\n");
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL), *cell;

	cr_assert(root);
	cr_assert_eq(json_array_size(json_object_get(root, "cells")), p->n_cells);
	cell = json_array_get(json_object_get(root, "cells"), 1);
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(cell, "axes"), "cell")), "v1");
	cr_assert_str_eq(json_string_value(json_object_get(cell, "write_bytes")), "unbounded");
	/* one cell a line */
	cr_assert(line);
	line = strchr(line, '\n') + 1;
	for (uint32_t i = 0; i < p->n_cells; i++, line = strchr(line, '\n') + 1)
		cr_assert(!strncmp(line, "{\"id\":\"", 7));
	json_decref(root);
	free(json);
	stb_plan_free(p);
}

Test(plan_json, hash_ignores_source_alone)
{
	struct stb_plan *p = stb_test_rich_plan();
	char before[STB_HASH_HEX];

	memcpy(before, p->hash, sizeof(before));
	p->spans[0].line = 77;
	p->files[0].name = "elsewhere.stb";
	p->blocks[3].attrs[2].origin = STB_FROM_LINE;
	stb_plan_seal(p);
	cr_assert_str_eq(p->hash, before);
	p->cells[0].measure_ns++;
	stb_plan_seal(p);
	cr_assert_str_neq(p->hash, before);
	stb_plan_free(p);
}

Test(plan_json, text_that_is_not_utf8_stays_json)
{
	struct stb_plan *p = stb_test_rich_plan(), *back;
	char *json;

	p->title = "bad \xFF\xC0\xAF \xED\xA0\x80 bytes";
	stb_plan_seal(p);
	json = stb_test_json(p);
	back = must_load(json);
	cr_assert(strstr(back->title, "\xEF\xBF\xBD"));
	free(json);
	stb_plan_free(p);
	stb_plan_free(back);
}

/* Replaces the first `from` in the rich plan's JSON by `to` and gives the error. */
static void refused(const char *from, const char *to, const char *why)
{
	struct stb_plan *p = stb_test_rich_plan(), *back = NULL;
	char *json = stb_test_json(p), *spot = strstr(json, from);
	struct stb_err err = { 0 };
	struct stb_buf b;

	cr_assert(spot, "fixture lacks %s", from);
	stb_buf_init(&b);
	stb_buf_add(&b, json, (size_t)(spot - json));
	stb_buf_adds(&b, to);
	stb_buf_adds(&b, spot + strlen(from));
	cr_assert_eq(stb_plan_load_bytes(&back, "plan.json", b.data, b.len, &err), -1, "%s was accepted", to);
	cr_assert(strstr(err.what, why), "%s gave: %s", to, err.what);
	cr_assert(!strncmp(err.what, "cannot load plan `plan.json`", 28) && err.remedy[0]);
	cr_assert_null(back);
	stb_buf_fini(&b);
	free(json);
	stb_plan_free(p);
}

Test(plan_json, broken_plans_are_refused_with_the_place)
{
	refused("\"repeat\":2", "\"repeat\":3", "it was changed after it was made");
	refused("\"stb_plan\":1", "\"stb_plan\":2", "another version");
	refused("\"repeat\":2", "\"repeat\":2.5", "matrices[0]: `repeat` is not a whole number");
	refused("\"repeat\":2", "\"repeat\":-2", "`repeat` is not a whole number");
	refused("\"repeat\":2", "\"repeat\":0", "no repetition");
	refused("\"repeat\":2", "\"repeat\":4294967295", "`repeat` is too large");
	refused("\"repeat\":2", "\"repeat\":99999999999999999999999", "too big integer");
	refused("\"repeat\":2", "\"repeat\":4294967294", "more than 10000000 measurements");
	refused("\"order\":\"balanced\"", "\"order\":\"random\"", "`order` is `random`");
	refused("\"matrix\":0", "\"matrix\":7", "cells[0]: `matrix` is not there");
	refused("\"matrix\":0", "\"matrix\":1", "of another matrix");
	refused("\"cell\":\"v0\"", "\"cell\":\"v9\"", "cells[0]: there is no axis value `v9`");
	refused("\"cell\":\"v0\"", "\"sell\":\"v0\"", "cells[0]: there is no axis `sell`");
	refused("\"cell\":\"v0\"", "\"cell\":null", "cells[0]: there is no axis value");
	refused("\"workload\":2", "\"workload\":3", "another kind");
	refused("\"workload\":2", "\"workload\":99", "not there");
	refused("\"group\":0", "\"group\":2", "of a group that is not there");
	refused("\"workload\":2", "\"workload\":2,\"extra\":1", "cells[0]: it has a member that this version does not know");
	refused("\"workload\":2", "\"workload\":2,\"workload\":2", "duplicate object key");
	refused("\"same_as\":0", "\"same_as\":1", "does not name the first cell");
	refused("\"kind\":\"volume\"", "\"kind\":\"vault\"", "unknown kind");
	refused("\"bytes\":4096", "\"bytes\":\"4096/1\"", "a value is malformed");
	refused("\"bytes\":4096", "\"bytes\":\"2/4\"", "a value is malformed");
	refused("\"bytes\":4096", "\"bytes\":\"1/-3\"", "a value is malformed");
	refused("\"bytes\":4096", "\"bytes\":\"1/0\"", "a value is malformed");
	refused("\"bytes\":4096", "\"bytes\":true", "a value is malformed");
	refused("\"bytes\":4096", "\"feet\":4096", "a value is malformed");
	refused("\"bytes\":4096", "\"bytes\":4096,\"ns\":1", "a value is malformed");
	refused("\"at\":\"03:03\"", "\"at\":\"24:00\"", "a value is malformed");
	refused("\"at\":\"03:03\"", "\"at\":\"3:003\"", "a value is malformed");
	refused("env:DB_PASSWORD", "hunter2", "malformed value");
	refused("-16", "-9223372036854775808", "too small");
	refused("[1213,\"x\"]", "[[[[[[[[[[[1]]]]]]]]]]]", "too deep");
	refused("\"default\":[\"bytes\"", "\"default\":[\"feet\"", "names no attribute");
	refused("\"axis\":\"cell\"", "\"axis\":\"sell\"", "matrices[1]: there is no axis `sell`");
	refused("\"axis\":\"other\"", "\"axis\":\"another\"", "reports[0]: there is no axis `another`");
	refused("\"show\":[\"value\"", "\"show\":[\"vlaue\"", "there is no view `vlaue`");
	refused("\"read.lat_p999\"", "\"read.lat_p990\"", "unknown metric");
	refused("blocks[3].bool", "blocks[3].boot", "there is no `blocks[3].boot`");
	refused("blocks[3].bool", "blocks[99999999999999999999].bool", "there is no");
	refused("\"file\":1", "\"file\":2", "in a file that is not listed");
	refused("specs/x.stb", "specs/y.stb", "`source.spec` is not the hash");
	refused("\"notes\":[", "\"notes\":{", "line ");
	refused("{\n", "[\n", "line ");
}

/* Bytes flipped, cut, numbers blown up, values swapped: an error, or a plan that prints, walks and loads again. */
Test(plan_json, survives_mutations, .timeout = 120)
{
	static const char *const tokens[] = { "null", "-1", "0", "4294967295", "9223372036854775807", "\"\"", "[]", "{}", "true", "1e9",
		"\"18446744073709551615\"", "[[[[", "\"\\u0000\"", "\"-9223372036854775808/3\"" };
	struct stb_plan *p = stb_test_rich_plan();
	char *json = stb_test_json(p);
	const size_t len = strlen(json);
	struct stb_rng r;
	int loaded = 0;

	stb_rng_seed(&r, 42);
	for (int round = 0; round < 4000; round++) {
		const size_t at = stb_rng_below(&r, len);
		struct stb_plan *back = NULL;
		struct stb_err err = { 0 };
		struct stb_buf b;

		stb_buf_init(&b);
		stb_buf_add(&b, json, len);
		switch (round % 4) {
		case 0:
			b.data[at] = (char)stb_rng_next(&r);
			break;
		case 1:
			b.len = at;
			break;
		case 2: { /* a whole value for another */
			const size_t stop = at + strcspn(json + at, ",]}\n"), start = stop - at > 40 ? stop - 1 : at;
			const char *token = tokens[stb_rng_below(&r, STB_LEN(tokens))];

			b.len = start;
			stb_buf_adds(&b, token);
			stb_buf_adds(&b, json + stop);
			break;
		}
		case 3: { /* a digit for another: still JSON, mostly */
			size_t i = at;

			while (i < len && (json[i] < '0' || json[i] > '9'))
				i++;
			if (i < len)
				b.data[i] = (char)('0' + stb_rng_below(&r, 10));
			break;
		}
		}
		if (!stb_plan_parse_bytes(&back, "plan.json", stb_buf_str(&b), b.len, &err)) {
			char *text = stb_test_text(back), *again;
			struct stb_plan *sealed = NULL;

			stb_plan_seal(back);
			again = stb_test_json(back);
			cr_assert_eq(stb_plan_load_bytes(&sealed, "plan.json", again, strlen(again), &err), 0, "%s", err.what);
			stb_plan_free(sealed);
			free(text);
			free(again);
			loaded++;
		} else {
			cr_assert(err.set && err.what[0]);
		}
		stb_plan_free(back);
		stb_buf_fini(&b);
	}
	cr_assert(loaded > 100, "only %d mutations loaded: they are too wild to test anything", loaded);
	free(json);
	stb_plan_free(p);
}

Test(plan_json, loads_regular_files_only)
{
	char dir[] = "/tmp/stb-unit-XXXXXX", path[64];
	struct stb_plan *p = stb_test_rich_plan(), *back = NULL;
	struct stb_err err = { 0 };
	FILE *f;

	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/plan.json", dir);
	cr_assert_eq(stb_plan_load(&back, path, &err), -1);
	cr_assert(strstr(err.what, "No such file"), "%s", err.what);
	cr_assert_eq(stb_plan_load(&back, "/dev/zero", &err), -1);
	cr_assert(strstr(err.what, "not a regular file"));
	cr_assert_eq(stb_plan_load(&back, dir, &err), -1);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(stb_plan_load(&back, path, &err), -1);
	unlink(path);
	f = fopen(path, "w");
	stb_plan_print_json(p, f);
	fclose(f);
	cr_assert_eq(stb_plan_load(&back, path, &err), 0, "%s", err.what);
	cr_assert_str_eq(back->hash, p->hash);
	unlink(path);
	rmdir(dir);
	stb_plan_free(back);
	stb_plan_free(p);
}
