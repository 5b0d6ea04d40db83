/* test_remaining.c - what is still to be done of a plan, for each order and fresh: nothing twice, nothing left out, nothing on ground that is not there. */
#include "runtime/exec/remaining.h"
#include "runtime/base/rng.h"
#include "tests/unit/plan_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool same(const struct stb_step *a, const struct stb_step *b)
{
	return a->op == b->op && a->slot == b->slot && a->group == b->group && a->cell == b->cell && a->repetition == b->repetition &&
		a->wait_ns == b->wait_ns;
}

static void check_all(const struct stb_plan *p)
{
	struct stb_steps *steps = stb_steps_new(p, NULL);
	struct stb_remaining *remaining = stb_remaining_new(p, NULL, NULL);
	struct stb_step a, b;

	while (stb_steps_next(steps, &a)) {
		cr_assert(stb_remaining_next(remaining, &b));
		cr_assert(same(&a, &b), "%s of group %u is %s of group %u", stb_op_name(a.op), a.group, stb_op_name(b.op), b.group);
	}
	cr_assert_not(stb_remaining_next(remaining, &b));
	stb_remaining_free(remaining);
	stb_steps_free(steps);
}

/* Walks what is to be done with the rules of a group's life, and counts what was measured on it. */
static void check_some(const struct stb_plan *p, struct stb_done *done, uint64_t n_all)
{
	struct stb_remaining *remaining = stb_remaining_new(p, NULL, done);
	bool *up = calloc(p->n_groups + 1, sizeof *up), *loaded = calloc(p->n_groups + 1, sizeof *loaded), slot_open = false;
	bool *kept = calloc(p->n_groups + 1, sizeof *kept), *restored = calloc(p->n_groups + 1, sizeof *restored);
	uint32_t running = STB_NONE;
	uint64_t n = 0;
	struct stb_step s, before = { .op = STB_OP_STOP };

	while (stb_remaining_next(remaining, &s)) {
		switch (s.op) {
		case STB_OP_WAIT_SLOT:
			cr_assert(!slot_open, "a slot is not waited for before the next one");
			slot_open = true;
			break;
		case STB_OP_PROVISION:
			cr_assert_not(up[s.group]);
			up[s.group] = true;
			break;
		case STB_OP_START:
			cr_assert(up[s.group]);
			cr_assert_eq(running, STB_NONE);
			running = s.group;
			break;
		case STB_OP_LOAD:
			cr_assert_eq(running, s.group);
			cr_assert_not(loaded[s.group]);
			loaded[s.group] = true;
			break;
		case STB_OP_KEEP:
			cr_assert_eq(running, s.group);
			cr_assert(loaded[s.group]);
			kept[s.group] = true;
			running = STB_NONE;
			break;
		case STB_OP_RESTORE:
			cr_assert_eq(running, STB_NONE);
			cr_assert(kept[s.group], "restored from what was not set aside");
			restored[s.group] = true;
			break;
		case STB_OP_MEASURE:
			cr_assert_not(stb_done_has(done, p->cells[s.cell].same_as, s.slot + 1, s.repetition));
			cr_assert_eq(running, s.group);
			cr_assert(loaded[s.group], "measured on a data set that is not there");
			cr_assert(!stb_plan_restores(p, s.matrix, s.group) || restored[s.group], "measured on a data set that was used");
			if (p->matrices[s.matrix].fresh == STB_FRESH_REPETITION)
				restored[s.group] = false;
			slot_open = false;
			n++;
			break;
		case STB_OP_STOP:
			cr_assert_eq(running, s.group);
			running = STB_NONE;
			break;
		case STB_OP_DEPROVISION:
			cr_assert(up[s.group]);
			cr_assert_neq(running, s.group);
			up[s.group] = loaded[s.group] = kept[s.group] = restored[s.group] = false;
			break;
		case STB_OP_COOLDOWN:
			cr_assert_neq(before.op, STB_OP_COOLDOWN);
			break;
		}
		before = s;
	}
	for (uint32_t i = 0; i < p->n_groups; i++)
		cr_assert_not(up[i]);
	cr_assert_eq(n + done->n, n_all);
	free(up);
	free(loaded);
	free(kept);
	free(restored);
	stb_remaining_free(remaining);
}

/* Leaves out about `of` of ten repetitions. */
static void check_without(const struct stb_plan *p, uint64_t seed, uint64_t of)
{
	struct stb_steps *steps = stb_steps_new(p, NULL);
	struct stb_done done = { 0 };
	uint64_t n_all = 0;
	struct stb_step s;
	struct stb_rng r;

	stb_rng_stream(&r, seed, 1, 2, 3, STB_RNG_ORDER);
	while (stb_steps_next(steps, &s)) {
		if (s.op != STB_OP_MEASURE)
			continue;
		n_all++;
		if (stb_rng_below(&r, 10) < of)
			stb_done_add(&done, p->cells[s.cell].same_as, s.slot + 1, s.repetition);
	}
	check_some(p, &done, n_all);
	stb_done_fini(&done);
	stb_steps_free(steps);
}

Test(remaining, for_every_order_and_fresh)
{
	for (int order = STB_ORDER_INTERLEAVED; order <= STB_ORDER_SHUFFLED; order++) {
		for (int way = 2 * STB_FRESH_ONCE; way <= 2 * STB_FRESH_REPETITION + 1; way++) {
			const bool copies = way % 2;
			const int fresh = way / 2;
			const struct stb_matrix_shape shapes[] = {
				{ .groups = 3, .cells = 7, .repeat = 3, .order = order, .fresh = fresh, .cooldown_ns = 5 },
				{ .groups = 3, .cells = 4, .repeat = 2, .order = order, .fresh = fresh, .days = 2, .n_at = 2 },
			};
			struct stb_plan *p = stb_test_plan(STB_TEST_MYSQL, shapes, 2);

			for (uint32_t i = 0; i < p->n_groups && copies; i++)
				p->groups[i].copy_bytes = 1000;
			check_all(p);
			for (uint64_t seed = 0; seed < 5; seed++) {
				check_without(p, seed, 1);
				check_without(p, seed, 5);
				check_without(p, seed, 9);
			}
			check_without(p, 1, 0);
			check_without(p, 1, 10);
			stb_plan_free(p);
		}
	}
}

Test(remaining, a_group_without_missing_repetitions_is_not_made)
{
	const struct stb_matrix_shape shape = { .groups = 2, .cells = 3, .repeat = 2, .order = STB_ORDER_DECLARED, .fresh = STB_FRESH_GROUP };
	struct stb_plan *p = stb_test_plan(STB_TEST_NO_SERVER, &shape, 1);
	struct stb_done done = { 0 };
	struct stb_remaining *remaining;
	struct stb_step s;

	stb_done_add(&done, 1, 1, 2);
	stb_done_add(&done, 1, 1, 1); /* cell 1 is the one of group 1 */
	remaining = stb_remaining_new(p, NULL, &done);
	while (stb_remaining_next(remaining, &s))
		cr_assert_neq(s.group, 1u, "%s", stb_op_name(s.op));
	stb_remaining_free(remaining);
	stb_done_fini(&done);
	stb_plan_free(p);
}
