/*
 * test_steps.c - the order of a run for each order and fresh, on plans made by hand.
 *
 * Steps are written as one line: W wait for slot, P provision, S start, L load, K keep (set data aside), R restore, M measure, X stop, D remove, C cool down; groups and cells by
 * their index, measurements as cell.repetition, slots from 0.
 */
#include "runtime/base/buf.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *walk(const struct stb_plan *p, const uint8_t *keep)
{
	static const char letters[] = { [STB_OP_WAIT_SLOT] = 'W', [STB_OP_PROVISION] = 'P', [STB_OP_START] = 'S', [STB_OP_LOAD] = 'L',
		[STB_OP_KEEP] = 'K', [STB_OP_RESTORE] = 'R', [STB_OP_MEASURE] = 'M', [STB_OP_STOP] = 'X', [STB_OP_DEPROVISION] = 'D', [STB_OP_COOLDOWN] = 'C' };
	struct stb_steps *it = stb_steps_new(p, keep);
	struct stb_step s;
	struct stb_buf b;

	stb_buf_init(&b);
	while (stb_steps_next(it, &s)) {
		stb_buf_printf(&b, "%s%c", b.len ? " " : "", letters[s.op]);
		if (s.op == STB_OP_MEASURE)
			stb_buf_printf(&b, "%u.%u", s.cell, s.repetition);
		else if (s.op == STB_OP_WAIT_SLOT)
			stb_buf_printf(&b, "%u/%u", s.matrix, s.slot);
		else if (s.op != STB_OP_COOLDOWN)
			stb_buf_printf(&b, "%u", s.group);
		cr_assert_eq(s.op == STB_OP_COOLDOWN, s.wait_ns > 0);
	}
	stb_steps_free(it);
	return stb_buf_take(&b);
}

static void expect(enum stb_server_kind server, const struct stb_matrix_shape *shapes, uint32_t n, const uint8_t *keep, const char *want)
{
	struct stb_plan *p = stb_test_plan(server, shapes, n);
	char *got = walk(p, keep);

	cr_assert_str_eq(got, want);
	free(got);
	stb_plan_free(p);
}

static void expect_one(enum stb_order order, enum stb_fresh fresh, const char *want)
{
	const struct stb_matrix_shape s = { .groups = 2, .cells = 3, .repeat = 2, .order = order, .fresh = fresh };

	expect(STB_TEST_NO_SERVER, &s, 1, NULL, want);
}

/* Cells 0 and 2 lie in group 0, cell 1 in group 1. */
Test(steps, interleaved)
{
	expect_one(STB_ORDER_INTERLEAVED, STB_FRESH_GROUP,
		"P0 M0.1 M2.1 D0 P1 M1.1 D1 P0 M0.2 M2.2 D0 P1 M1.2 D1");
	expect_one(STB_ORDER_INTERLEAVED, STB_FRESH_ONCE, "P0 M0.1 M2.1 P1 M1.1 M0.2 M2.2 M1.2 D1 D0");
	expect_one(STB_ORDER_INTERLEAVED, STB_FRESH_CELL,
		"P0 M0.1 D0 P0 M2.1 D0 P1 M1.1 D1 P0 M0.2 D0 P0 M2.2 D0 P1 M1.2 D1");
	expect_one(STB_ORDER_INTERLEAVED, STB_FRESH_REPETITION,
		"P0 M0.1 D0 P0 M2.1 D0 P1 M1.1 D1 P0 M0.2 D0 P0 M2.2 D0 P1 M1.2 D1");
}

Test(steps, balanced_turns_every_second_pass)
{
	expect_one(STB_ORDER_BALANCED, STB_FRESH_GROUP, "P0 M0.1 M2.1 D0 P1 M1.1 M1.2 D1 P0 M2.2 M0.2 D0");
	expect_one(STB_ORDER_BALANCED, STB_FRESH_CELL,
		"P0 M0.1 D0 P0 M2.1 D0 P1 M1.1 M1.2 D1 P0 M2.2 D0 P0 M0.2 D0");
	expect_one(STB_ORDER_BALANCED, STB_FRESH_REPETITION,
		"P0 M0.1 D0 P0 M2.1 D0 P1 M1.1 D1 P1 M1.2 D1 P0 M2.2 D0 P0 M0.2 D0");
	expect_one(STB_ORDER_BALANCED, STB_FRESH_ONCE, "P0 M0.1 M2.1 P1 M1.1 M1.2 M2.2 M0.2 D1 D0");
}

Test(steps, declared_is_as_written)
{
	expect_one(STB_ORDER_DECLARED, STB_FRESH_GROUP, "P0 M0.1 M0.2 D0 P1 M1.1 M1.2 D1 P0 M2.1 M2.2 D0");
	expect_one(STB_ORDER_DECLARED, STB_FRESH_ONCE, "P0 M0.1 M0.2 P1 M1.1 M1.2 M2.1 M2.2 D1 D0");
	expect_one(STB_ORDER_DECLARED, STB_FRESH_CELL, "P0 M0.1 M0.2 D0 P1 M1.1 M1.2 D1 P0 M2.1 M2.2 D0");
	expect_one(STB_ORDER_DECLARED, STB_FRESH_REPETITION,
		"P0 M0.1 D0 P0 M0.2 D0 P1 M1.1 D1 P1 M1.2 D1 P0 M2.1 D0 P0 M2.2 D0");
}

Test(steps, a_private_server_runs_only_while_it_is_measured)
{
	const struct stb_matrix_shape group = { .groups = 2, .cells = 2, .repeat = 2, .fresh = STB_FRESH_GROUP, .cooldown_ns = 5 };
	const struct stb_matrix_shape once = { .groups = 2, .cells = 2, .repeat = 2, .fresh = STB_FRESH_ONCE, .cooldown_ns = 5 };

	expect(STB_TEST_MYSQL, &group, 1, NULL,
		"P0 S0 L0 M0.1 X0 D0 P1 S1 L1 C M1.1 X1 D1 P0 S0 L0 C M0.2 X0 D0 P1 S1 L1 C M1.2 X1 D1");
	expect(STB_TEST_MYSQL, &once, 1, NULL, "P0 S0 L0 M0.1 X0 P1 S1 L1 C M1.1 X1 S0 C M0.2 X0 S1 C M1.2 X1 D1 D0");
	expect(STB_TEST_EXTERNAL, &once, 1, NULL, "P0 L0 M0.1 P1 L1 C M1.1 C M0.2 C M1.2 D1 D0");
}

static void expect_copies(const struct stb_matrix_shape *shapes, uint32_t n, const char *want)
{
	struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, shapes, n);
	char *got;

	for (uint32_t i = 0; i < p->n_groups; i++)
		p->groups[i].copy_bytes = 1000;
	got = walk(p, NULL);
	cr_assert_str_eq(got, want);
	free(got);
	stb_plan_free(p);
}

Test(steps, what_was_loaded_is_restored_where_cells_are_fresh)
{
	const struct stb_matrix_shape cell = { .groups = 2, .cells = 3, .repeat = 2, .fresh = STB_FRESH_CELL };
	const struct stb_matrix_shape repetition = { .groups = 1, .cells = 1, .repeat = 3, .fresh = STB_FRESH_REPETITION, .cooldown_ns = 5 };
	const struct stb_matrix_shape group = { .groups = 1, .cells = 2, .repeat = 1, .fresh = STB_FRESH_GROUP };
	const struct stb_matrix_shape both[] = { group, { .groups = 1, .cells = 2, .repeat = 1, .fresh = STB_FRESH_CELL } };

	expect_copies(&cell, 1, "P0 S0 L0 K0 R0 S0 M0.1 X0 R0 S0 M2.1 X0 D0 P1 S1 L1 K1 R1 S1 M1.1 X1 D1 "
		"P0 S0 L0 K0 R0 S0 M0.2 X0 R0 S0 M2.2 X0 D0 P1 S1 L1 K1 R1 S1 M1.2 X1 D1");
	expect_copies(&repetition, 1, "P0 S0 L0 K0 R0 S0 M0.1 X0 R0 S0 C M0.2 X0 R0 S0 C M0.3 X0 D0");
	expect_copies(&group, 1, "P0 S0 L0 M0.1 M1.1 X0 D0");
	expect_copies(both, 2, "P0 S0 L0 M0.1 M1.1 X0 D0 P0 S0 L0 K0 R0 S0 M2.1 X0 R0 S0 M3.1 X0 D0");
}

Test(steps, a_dataset_that_is_there_is_not_loaded)
{
	const struct stb_matrix_shape s = { .groups = 1, .cells = 1, .repeat = 1 };
	struct stb_plan *p = stb_test_plan(STB_TEST_EXTERNAL, &s, 1);
	char *got;

	p->blocks[p->groups[0].dataset].attrs[0].val.str = "use";
	got = walk(p, NULL);
	cr_assert_str_eq(got, "P0 M0.1 D0");
	free(got);
	stb_plan_free(p);
}

Test(steps, slots_of_all_matrices_come_by_time)
{
	const struct stb_matrix_shape shapes[] = {
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_GROUP, .days = 2, .n_at = 1, .cooldown_ns = 9 },
		{ .groups = 1, .cells = 1, .repeat = 2, .fresh = STB_FRESH_GROUP, .days = 2, .n_at = 2, .cooldown_ns = 9 },
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_GROUP, .cooldown_ns = 9 },
	};

	expect(STB_TEST_NO_SERVER, shapes, 3, NULL,
		"P0 M2.1 D0 W0/0 P0 M0.1 D0 W1/0 P0 M1.1 C M1.2 D0 W1/1 P0 M1.1 C M1.2 D0 W0/1 P0 M0.1 D0 W1/2 P0 M1.1 C M1.2 D0 "
		"W1/3 P0 M1.1 C M1.2 D0");
}

Test(steps, once_outlives_slots_and_matrices)
{
	const struct stb_matrix_shape shapes[] = {
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_ONCE, .days = 1, .n_at = 2 },
		{ .groups = 2, .cells = 2, .repeat = 1, .fresh = STB_FRESH_ONCE, .days = 1, .n_at = 1 },
	};

	expect(STB_TEST_MYSQL, shapes, 2, NULL,
		"W0/0 P0 S0 L0 M0.1 X0 W1/0 S0 M1.1 X0 P1 S1 L1 M2.1 X1 W0/1 S0 M0.1 X0 D1 D0");
}

Test(steps, a_kept_group_is_removed_before_another_matrix_wants_it_fresh)
{
	const struct stb_matrix_shape shapes[] = {
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_ONCE },
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_GROUP },
		{ .groups = 1, .cells = 1, .repeat = 1, .fresh = STB_FRESH_ONCE },
	};

	expect(STB_TEST_NO_SERVER, shapes, 3, NULL, "P0 M0.1 D0 P0 M1.1 D0 P0 M2.1 D0");
}

Test(steps, only_what_is_kept_is_measured)
{
	const struct stb_matrix_shape s = { .groups = 2, .cells = 4, .repeat = 1, .fresh = STB_FRESH_GROUP };
	const uint8_t some[] = { 0, 0, 1, 1 }, none[] = { 0, 0, 0, 0 };

	expect(STB_TEST_NO_SERVER, &s, 1, some, "P0 M2.1 D0 P1 M3.1 D1");
	expect(STB_TEST_NO_SERVER, &s, 1, none, "");
}

Test(steps, equal_cells_are_measured_once_where_they_are_met_first)
{
	const struct stb_matrix_shape shapes[] = {
		{ .groups = 1, .cells = 2, .repeat = 1, .fresh = STB_FRESH_GROUP },
		{ .groups = 1, .cells = 2, .repeat = 1, .fresh = STB_FRESH_GROUP },
	};
	struct stb_plan *p = stb_test_plan(STB_TEST_NO_SERVER, shapes, 2);
	const uint8_t twin[] = { 0, 0, 1, 0 };
	char *got;

	p->cells[2].same_as = 1;
	got = walk(p, NULL);
	cr_assert_str_eq(got, "P0 M0.1 M1.1 D0 P0 M3.1 D0");
	free(got);
	got = walk(p, twin);
	cr_assert_str_eq(got, "P0 M1.1 D0");
	free(got);
	stb_plan_free(p);
}

Test(steps, shuffled_measures_everything_once_a_pass_and_keeps_groups_together)
{
	const struct stb_matrix_shape s = { .groups = 3, .cells = 30, .repeat = 8, .order = STB_ORDER_SHUFFLED, .fresh = STB_FRESH_GROUP };
	struct stb_plan *p = stb_test_plan(STB_TEST_NO_SERVER, &s, 1);
	char *first = walk(p, NULL), *again = walk(p, NULL), *other;
	struct stb_steps *it = stb_steps_new(p, NULL);
	uint32_t seen[30] = { 0 }, provisions = 0;
	struct stb_step step;

	cr_assert_str_eq(first, again);
	p->matrices[0].seed = 2;
	other = walk(p, NULL);
	cr_assert_str_neq(first, other);
	while (stb_steps_next(it, &step)) {
		provisions += step.op == STB_OP_PROVISION;
		if (step.op == STB_OP_MEASURE)
			cr_assert_eq(++seen[step.cell], step.repetition);
	}
	for (int i = 0; i < 30; i++)
		cr_assert_eq(seen[i], 8);
	cr_assert(provisions > 8 && provisions <= 24);
	stb_steps_free(it);
	free(first);
	free(again);
	free(other);
	stb_plan_free(p);
}

/* Whatever the order: provisioned before use, removed once, one server at a time, every repetition of every cell in every slot. */
static void check_invariants(const struct stb_plan *p)
{
	uint32_t *counts = stb_xcalloc(p->n_cells, sizeof(*counts)), running = STB_NONE;
	bool *up = stb_xcalloc(p->n_groups, sizeof(*up)), *loaded = stb_xcalloc(p->n_groups, sizeof(*loaded));
	struct stb_steps *it = stb_steps_new(p, NULL);
	struct stb_step s;

	while (stb_steps_next(it, &s)) {
		switch (s.op) {
		case STB_OP_PROVISION:
			cr_assert(!up[s.group]);
			up[s.group] = true;
			break;
		case STB_OP_START:
			cr_assert(up[s.group] && running == STB_NONE);
			running = s.group;
			break;
		case STB_OP_LOAD:
			cr_assert(running == s.group && !loaded[s.group]);
			loaded[s.group] = true;
			break;
		case STB_OP_KEEP:
			cr_assert(running == s.group && loaded[s.group]);
			running = STB_NONE;
			break;
		case STB_OP_RESTORE:
			cr_assert(up[s.group] && running == STB_NONE && loaded[s.group]);
			break;
		case STB_OP_MEASURE:
			cr_assert(running == s.group && loaded[s.group] && p->cells[s.cell].group == s.group);
			counts[s.cell]++;
			break;
		case STB_OP_STOP:
			cr_assert(running == s.group);
			running = STB_NONE;
			break;
		case STB_OP_DEPROVISION:
			cr_assert(up[s.group] && running != s.group);
			up[s.group] = loaded[s.group] = false;
			break;
		case STB_OP_WAIT_SLOT:
			cr_assert_eq(running, STB_NONE);
			break;
		case STB_OP_COOLDOWN:
			break;
		}
	}
	for (uint32_t i = 0; i < p->n_groups; i++)
		cr_assert(!up[i]);
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct stb_plan_matrix *m = &p->matrices[p->cells[i].matrix];

		cr_assert_eq(counts[i], m->repeat * stb_plan_slots(m));
	}
	stb_steps_free(it);
	free(counts);
	free(up);
	free(loaded);
}

Test(steps, invariants_hold_for_every_order_and_fresh)
{
	for (unsigned order = 0; order <= STB_ORDER_SHUFFLED; order++) {
		for (unsigned fresh = 0; fresh <= STB_FRESH_REPETITION; fresh++) {
			const struct stb_matrix_shape shapes[] = {
				{ .groups = 3, .cells = 7, .repeat = 3, .order = order, .fresh = fresh, .cooldown_ns = 1 },
				{ .groups = 2, .cells = 4, .repeat = 2, .order = order, .fresh = (fresh + 1) % 4, .days = 2, .n_at = 3 },
				{ .groups = 1, .cells = 1, .repeat = 5, .order = order, .fresh = fresh },
			};
			struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, shapes, STB_LEN(shapes));
			struct stb_plan_totals t;

			check_invariants(p);
			for (uint32_t i = 0; i < p->n_groups; i++)
				p->groups[i].copy_bytes = 1000;
			check_invariants(p);
			stb_plan_totals(p, NULL, &t);
			cr_assert_eq(t.n_measurements, 7 * 3 + 4 * 2 * 6 + 5);
			stb_plan_free(p);
		}
	}
}

Test(steps, an_empty_plan_has_none)
{
	struct stb_plan *p = stb_plan_new();
	char *got = walk(p, NULL);

	cr_assert_str_eq(got, "");
	free(got);
	stb_plan_free(p);
}

Test(totals, copies_cost_their_writing_and_their_space)
{
	const struct stb_matrix_shape s = { .groups = 1, .cells = 2, .repeat = 2, .fresh = STB_FRESH_REPETITION };
	struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, &s, 1);
	struct stb_plan_totals t;

	p->groups[0].copy_bytes = 3000000;
	p->groups[0].restore_ns = 1000000000;
	stb_plan_totals(p, NULL, &t);
	cr_assert_eq(t.n_provisions, 1);
	cr_assert_eq(t.n_restores, 4);
	cr_assert_eq(t.load_bytes, 1000000 + 4 * 3000000);
	cr_assert_eq(t.peak_space_bytes, 5000000 + 3000000);
	cr_assert_eq(t.time_ns, 2000000000ull + 4 * 1000000000ull + 4 * 10000000000ull);
	stb_plan_free(p);
}

Test(totals, cost_follows_fresh)
{
	struct stb_matrix_shape s = { .groups = 2, .cells = 4, .repeat = 3, .fresh = STB_FRESH_GROUP, .cooldown_ns = 1000000000 };
	struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, &s, 1);
	struct stb_plan_totals t;

	stb_plan_totals(p, NULL, &t);
	cr_assert_eq(t.n_measurements, 12);
	cr_assert_eq(t.n_provisions, 6);
	cr_assert_eq(t.load_bytes, 6000000);
	cr_assert_eq(t.write_bytes, 12 * 4096);
	cr_assert_eq(t.peak_space_bytes, 5000000);
	cr_assert_eq(t.time_ns, 143000000000);
	cr_assert(!t.write_unbounded);
	p->cells[3].write_bytes = STB_UNBOUNDED;
	p->matrices[0].fresh = STB_FRESH_ONCE;
	stb_plan_totals(p, NULL, &t);
	cr_assert_eq(t.n_provisions, 2);
	cr_assert_eq(t.peak_space_bytes, 10000000);
	cr_assert_eq(t.write_bytes, 9 * 4096);
	cr_assert(t.write_unbounded);
	p->cells[0].measure_ns = UINT64_MAX;
	stb_plan_totals(p, NULL, &t);
	cr_assert_eq(t.time_ns, UINT64_MAX);
	stb_plan_free(p);
}
