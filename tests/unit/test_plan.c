/*
 * test_plan.c - look-ups, verification of plans that do not hold together, the reader that remembers, the text form.
 */
#include "runtime/base/buf.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

Test(plan, look_ups)
{
	struct stb_plan *p = stb_test_rich_plan();
	struct stb_arena a;

	stb_arena_init(&a);
	cr_assert_str_eq(stb_plan_cell_label(&a, p, 0), "v0 / v0");
	cr_assert_str_eq(stb_plan_cell_label(&a, p, 2), "v2");
	p->cells[2].point[0] = STB_NONE;
	cr_assert_str_eq(stb_plan_cell_label(&a, p, 2), "work");
	cr_assert_str_eq(stb_plan_where(&a, p, 1), "specs/common.stb:4:3");
	cr_assert_str_eq(stb_plan_where(&a, p, STB_NONE), "");
	cr_assert_null(stb_plan_attr(&p->blocks[0], "bs"));
	cr_assert_str_eq(stb_plan_attr(&p->blocks[2], "size")->name, "size");
	stb_arena_fini(&a);
	stb_plan_free(p);
}

Test(plan, selectors)
{
	uint32_t values[] = { 1, STB_NONE };
	struct stb_selector_term term = { .axis = 1, .values = values, .n_values = 2 };
	struct stb_selector s = { .terms = &term, .n_terms = 1 }, all = { 0 };
	const uint32_t in[] = { 0, 1 }, none[] = { 0, STB_NONE }, out[] = { 1, 0 };

	cr_assert(stb_selector_match(&s, in));
	cr_assert(stb_selector_match(&s, none));
	cr_assert(!stb_selector_match(&s, out));
	cr_assert(stb_selector_match(&all, out));
	term.n_values = 0;
	cr_assert(!stb_selector_match(&s, in));
}

#define BROKEN(change, why)                                                                                  \
	do {                                                                                                 \
		struct stb_plan *p = stb_test_rich_plan();                                                   \
		struct stb_err err = { 0 };                                                                  \
		change;                                                                                      \
		cr_assert_eq(stb_plan_verify(p, &err), -1, "%s", #change);                                   \
		cr_assert(strstr(err.what, (why)), "%s gave: %s", #change, err.what);                        \
		stb_plan_free(p);                                                                            \
	} while (0)

Test(plan, verify_finds_what_does_not_hold_together)
{
	BROKEN(p->blocks[0].kind = "stowage", "unknown kind");
	BROKEN(p->blocks[0].name = "", "no name");
	BROKEN(p->blocks[0].span = 3, "place");
	BROKEN(p->blocks[2].attrs[1].name = "size", "twice");
	BROKEN(p->blocks[2].attrs[1].val.den = 0, "malformed value");
	BROKEN(p->blocks[2].attrs[1].val.type = 99, "malformed value");
	BROKEN(p->blocks[2].attrs[1].val = stb_val_str(STB_V_WORD, NULL), "malformed value");
	BROKEN(p->blocks[2].attrs[1].val = stb_val_str(STB_V_SECRET, "hunter2"), "malformed value");
	BROKEN(p->matrices[0].repeat = 0, "repetition");
	BROKEN(p->matrices[1].schedule_days = 0, "schedule");
	BROKEN(p->matrices[1].schedule_at[1] = 180, "ascending");
	BROKEN(p->matrices[1].schedule_at[2] = 1440, "ascending");
	BROKEN(p->matrices[1].schedule_days = UINT32_MAX, "measurements");
	BROKEN(p->matrices[1].excludes[0].reason = NULL, "exclusion");
	BROKEN(p->matrices[1].excludes[0].where.terms[0].axis = 2, "exclusion");
	BROKEN(p->matrices[1].excludes[0].where.terms[0].values[0] = 2, "exclusion");
	BROKEN(p->matrices[1].first_cell = 3, "do not follow");
	BROKEN(p->matrices[1].n_cells = 3, "do not follow");
	BROKEN(p->matrices[1].n_cells = 1, "belong to no matrix");
	BROKEN(p->matrices[1].name = "m0", "twice");
	BROKEN(p->matrices[0].axes[1].name = "cell", "twice");
	BROKEN(p->matrices[0].axes[0].values[1].key = "v0", "twice");
	BROKEN(p->matrices[0].axes[0].values[1].label = NULL, "without key or label");
	BROKEN(p->groups[0].mounts[0].volume = 0, "mount");
	BROKEN(p->groups[0].database = 2, "another kind");
	BROKEN(p->groups[0].id[0] = 'X', "no hash");
	BROKEN(memcpy(p->groups[0].id, p->groups[1].id, STB_HASH_HEX), "two groups");
	BROKEN(p->cells[0].group = 2, "group");
	BROKEN(p->cells[0].point[0] = 4, "axis `cell`");
	BROKEN(p->cells[0].matrix = 1, "another matrix");
	BROKEN(p->cells[0].workload = STB_NONE, "not there");
	BROKEN(p->cells[4].same_as = 4, "first cell");
	BROKEN(p->cells[3].same_as = 0, "first cell");
	BROKEN(memcpy(p->cells[1].id, p->cells[0].id, STB_HASH_HEX), "two cells");
	BROKEN(p->reports[0].rows = 2, "axis");
	BROKEN(p->reports[0].where.terms[0].axis = 2, "selects");
	BROKEN(p->reports[0].baseline.terms[0].values[0] = 4, "selects");
	BROKEN(p->reports[0].matrix = 2, "matrix");
	BROKEN(p->reports[0].decimals.items[0].num = 16, "decimals");
	BROKEN(p->reports[0].units.items[0].type = STB_V_COUNT, "units");
	BROKEN(p->claims[0].metric = "speed", "unknown metric");
	BROKEN(p->claims[0].form = STB_VIEW_N, "expectation");
	BROKEN(p->claims[0].expect.n_items = 1, "expectation");
	BROKEN(p->claims[0].expect.items[0] = stb_val_num(STB_V_TIME, 1, 1), "expectation");
	BROKEN(p->spans[0].file = 2, "file");
	BROKEN(p->files[0].sha256[64] = 'a', "hash");
	BROKEN(p->notes[0] = NULL; p->n_notes = 1, "note");
}

static struct stb_plan_block *sample_block(struct stb_plan *p)
{
	return &p->blocks[3];
}

Test(reader, reads_each_type)
{
	struct stb_plan *p = stb_test_rich_plan();
	struct stb_reader r;
	uint32_t pos = 0;

	stb_reader_init(&r, sample_block(p));
	cr_assert_eq(stb_read_u64(&r, "bytes"), 4096);
	cr_assert_eq(stb_read_u64(&r, "time"), 5000000000);
	cr_assert_eq(stb_read_u64(&r, "largest"), INT64_MAX);
	cr_assert_eq(stb_read_u64_or(&r, "absent", 7), 7);
	cr_assert_eq(stb_read_u64_or(&r, "none", 7), 7);
	cr_assert_eq(stb_read_double_or(&r, "share", 0), 0.7);
	cr_assert_eq(stb_read_double_or(&r, "half", 0), 2.5);
	cr_assert_eq(stb_read_double_or(&r, "absent", 0.5), 0.5);
	cr_assert(stb_read_bool(&r, "bool"));
	cr_assert_str_eq(stb_read_str(&r, "word"), "psync");
	cr_assert_null(stb_read_str_or(&r, "absent", NULL));
	stb_plan_attr(r.block, "list")->val.items[1] = stb_val_num(STB_V_COUNT, 1205, 1);
	cr_assert_eq(stb_read_list(&r, "list", STB_V_COUNT)->n_items, 2);
	cr_assert_null(stb_read_list(&r, "absent", STB_V_COUNT));
	cr_assert(stb_read_has(&r, "ref") && !stb_read_has(&r, "none") && !stb_read_has(&r, "absent"));
	cr_assert_str_eq(stb_read_option(&r, &pos)->name, "options.max_connections");
	cr_assert_null(stb_read_option(&r, &pos));
	stb_plan_free(p);
}

Test(reader, an_attribute_that_nobody_read_is_refused)
{
	struct stb_plan *p = stb_test_rich_plan();
	struct stb_plan_block *b = sample_block(p);
	struct stb_err err = { 0 };
	struct stb_reader r;

	stb_reader_init(&r, b);
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		/* left: one with a default value, one without a value, and `count`, whose line is known */
		if (i != 2 && i != 0 && !b->attrs[i].is_default)
			stb_read_skip(&r, b->attrs[i].name);
	}
	cr_assert_eq(stb_reader_done(&r, &err), -1);
	cr_assert(strstr(err.what, "`count`") && strstr(err.what, "database mysql db"), "%s", err.what);
	cr_assert_eq(err.span, 3);
	stb_read_skip(&r, "count");
	cr_assert_eq(stb_reader_done(&r, &err), 0);
	stb_plan_free(p);
}

Test(reader, the_first_fault_is_kept_and_what_is_read_is_harmless)
{
	struct stb_plan *p = stb_test_rich_plan();
	struct stb_err err = { 0 };
	struct stb_reader r;

	sample_block(p)->file = "run/plan.json";
	stb_reader_init(&r, sample_block(p));
	cr_assert_eq(stb_reader_fault(&r, &err), 0);
	cr_assert_eq(stb_read_u64(&r, "absent"), 0);
	cr_assert_eq(stb_read_u64(&r, "word"), 0);
	cr_assert_eq(stb_read_u64(&r, "count"), 0, "it is negative");
	cr_assert_eq(stb_read_u64(&r, "half"), 0);
	cr_assert_eq(stb_read_u64_or(&r, "bool", 7), 7);
	cr_assert_eq(stb_read_double_or(&r, "list", 0.5), 0.5);
	cr_assert_not(stb_read_bool(&r, "share"));
	cr_assert_not(stb_read_bool(&r, "absent"));
	cr_assert_str_eq(stb_read_str(&r, "bytes"), "");
	cr_assert_str_eq(stb_read_str(&r, "absent"), "");
	cr_assert_null(stb_read_str_or(&r, "list", NULL));
	cr_assert_null(stb_read_list(&r, "word", STB_V_WORD));
	cr_assert_null(stb_read_list(&r, "list", STB_V_SECRET));
	cr_assert_eq(stb_reader_fault(&r, &err), -1);
	cr_assert_eq(stb_reader_done(&r, &err), -1);
	cr_assert_str_eq(err.what, "cannot carry out database mysql db of plan `run/plan.json`: its attribute `absent` is missing");
	cr_assert(strstr(err.remedy, "make it again from its spec"));
	stb_plan_free(p);
}

Test(plan_text, a_reviewer_sees_cost_blocks_cells_and_order)
{
	static const char *const parts[] = {
		"of demo: 速い or 遅い\n",
		"under profile laptop\n",
		"with jobs=4\n",
		"  cells         6, 2 of them described or planned only, and not carried out, 1 of them equal to others and measured once, 10 measurements\n",
		"  privileges    root: mounts ext4 on a loop device (storage fast)\n",
		"  secrets       env:DB_PASSWORD\n",
		"  storage directory disk  \"磁気ディスク\"\n",
		"    size    = 64MiB\n",
		"    # size is per job: 4 jobs lay out 256MiB in all\n",
		"    defaults: shared_file = false\n",
		"count                   = -16  # profile\n",
		"    4 cells, repeat = 2, order = balanced, fresh = group, seed = 18446744073709551615, cooldown = 30s, interval = 1s\n",
		"    cell  = v0 (標準), v1, v2, v3  # described, not provisioned\n",
		"    6 slots in local time, 1 repetitions of every cell in each",
		"      slot 4: day 2, 03:00\n",
		"  # measured in matrix m0\n",
		"     not carried out: storage external disk is described, not provisioned\n",
		"  report speed: iops, read.lat_p999 of m0 as value, percent, rows cell, folded over other, where other = v0 | none",
		"  claim fast: value of iops is *..110%, where cell = v0 | none, with confidence 95%\n",
		"  - 第二\n",
	};
	struct stb_plan *p = stb_test_rich_plan();
	char *text = stb_test_text(p);

	for (size_t i = 0; i < STB_LEN(parts); i++)
		cr_assert(strstr(text, parts[i]), "lacks %s in:\n%s", parts[i], text);
	free(text);
	p->groups[1].not_run = NULL;
	text = stb_test_text(p);
	cr_expect(strstr(text, "  cells         6, 1 of them equal to others and measured once, 14 measurements\n"), "%s", text);
	cr_expect(strstr(text, "48KiB and as much as the targets take in the time by measuring\n"));
	cr_expect(strstr(text, "no bound\n"));
	free(text);
	stb_plan_free(p);
}

Test(plan_text, what_is_only_described_costs_nothing)
{
	struct stb_plan *p = stb_test_rich_plan();
	char *text;

	for (uint32_t i = 0; i < p->n_groups; i++)
		p->groups[i].not_run = "storage external disk is described, not provisioned";
	text = stb_test_text(p);
	cr_expect(strstr(text, "  cells         6, 6 of them described or planned only, and not carried out, 0 measurements\n"), "%s", text);
	cr_expect(strstr(text, "about 0s, 0 provisionings"));
	cr_expect(strstr(text, "  # not carried out\n"));
	cr_expect(strstr(text, "\norder\n  nothing: no cell of it is carried out\n"));
	cr_expect_null(strstr(text, "     provisioned "));
	free(text);
	stb_plan_free(p);
}

Test(plan_text, a_part_has_its_own_cost_and_order)
{
	struct stb_plan *p = stb_test_rich_plan();
	uint8_t *keep = stb_xcalloc(p->n_cells, 1);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < p->n_groups; i++)
		p->groups[i].not_run = NULL;
	keep[0] = 1;
	stb_plan_print_part(p, keep, out);
	fclose(out);
	cr_expect(strstr(text, "  cells         1 of the plan's 6 (--only), "), "%s", text);
	cr_expect(strstr(text, p->hash[0] ? "plan " : "plan"));
	for (uint32_t i = 1; i < p->n_cells; i++) {
		char id[20];

		snprintf(id, sizeof(id), "%.16s", p->cells[i].id);
		if (strncmp(p->cells[i].id, p->cells[0].id, 16))
			cr_expect_null(strstr(text, id), "cell %u is not kept", i);
	}
	free(text);
	free(keep);
	stb_plan_free(p);
}

Test(plan_text, variants_of_a_block_are_told_apart)
{
	struct stb_plan *p = stb_test_rich_plan();
	char *text;

	p->blocks[4] = p->blocks[3];
	p->blocks[4].n_attrs--;
	p->blocks[4].attrs = STB_NEW_ARRAY(&p->arena, struct stb_plan_attr, p->blocks[4].n_attrs);
	memcpy(p->blocks[4].attrs, p->blocks[3].attrs + 1, p->blocks[4].n_attrs * sizeof(*p->blocks[4].attrs));
	p->blocks[4].attrs[0].val = stb_val_bool(false);
	p->groups[0].dataset = p->groups[1].dataset = STB_NONE;
	p->groups[1].database = 4;
	text = stb_test_text(p);
	cr_assert(strstr(text, "\n  database mysql db (variant 1)\n"), "%s", text);
	cr_assert(strstr(text, "\n  database mysql db (variant 2), as variant 1 but\n    bool = false\n    none = none\n  server"));
	cr_assert(strstr(text, "  database mysql db (variant 2), data on volume data of storage directory disk\n"));
	free(text);
	stb_plan_free(p);
}

Test(plan_text, long_orders_are_summed_up)
{
	const struct stb_matrix_shape s = { .groups = 1, .cells = 100, .repeat = 1, .fresh = STB_FRESH_REPETITION };
	struct stb_plan *p = stb_test_plan(STB_TEST_NO_SERVER, &s, 1);
	char *text = stb_test_text(p);

	cr_assert(strstr(text, "\n    60  remove"));
	cr_assert(!strstr(text, "\n    61  "));
	cr_assert(strstr(text, "  and 240 more steps, with 80 measurements and 80 provisionings\n"), "%s", text);
	free(text);
	stb_plan_free(p);
}

/* A spec from a stranger must not drive the reviewer's terminal. */
Test(plan_text, control_characters_do_not_reach_the_terminal)
{
	struct stb_plan *p = stb_test_rich_plan();
	const char *notes[] = { "\x1b]0;owned\x07 \xC2\x9B""2J \x7F" };
	char *text;

	p->title = "a\x1b[2Jb\rc";
	p->notes = notes;
	p->n_notes = 1;
	text = stb_test_text(p);
	cr_assert(strstr(text, "a?[2Jb?c"));
	for (const char *s = text; *s; s++)
		cr_assert(((unsigned char)*s >= 0x20 || *s == '\n') && *s != 0x7F);
	cr_assert(!strstr(text, "\xC2\x9B"));
	free(text);
	stb_plan_free(p);
}
