/*
 * steps.c - the order of a run: a rule over the plan that is walked, never a list that is stored.
 *
 *   run    = blocks of (slot, matrix), by day and time of the slot, then by matrix; matrices without a schedule come first
 *   block  = [WAIT_SLOT] measurements, then everything but what `once` keeps is stopped and removed
 *   one    = [STOP DEPROVISION] [PROVISION START LOAD | START] [COOLDOWN] MEASURE
 *            [STOP DEPROVISION PROVISION START LOAD KEEP | STOP] RESTORE START [COOLDOWN] MEASURE     with a copy of what was loaded
 *
 * Order of the measurements of a block (n cells, r repetitions, "grouped" = cells sorted by the first appearance of their group):
 *
 *   declared      every repetition of the first cell, then of the second, ...: as written, whatever it costs in provisioning
 *   interleaved   passes over the grouped cells: repetition 1 of all, then 2, ...
 *   balanced      the same, every second pass backwards; passes are counted through the slots, so it also balances repeat = 1
 *   shuffled      passes; in each the groups, and the cells inside each group, are drawn anew from (seed, slot, pass). Cells of one group stay
 *                 together: a free shuffle would provision before nearly every measurement
 *
 * Provisioning is made anew where the thing that `fresh` names changes, in that order; every slot begins with nothing provisioned, so that all
 * slots see the same. Under `once` a group is provisioned at its first use and removed at the end of the run; only the database under test
 * runs. COOLDOWN stands directly before a measurement that follows another one without waiting for a slot between, so that what provisioning
 * wrote settles too. A group that a matrix with `once` keeps is removed first where another matrix wants it fresh.
 *
 * A group whose loaded files are set aside (copy_bytes) is not made anew for cells and repetitions, but given a copy, the first of them too, so
 * that all stand on the same. KEEP stops the server.
 *
 * A cell is measured where its id is met first (same_as); it is also measured when only a later twin is wanted.
 *
 * Invariants: at most one group is running; `up` is provisioned; every PROVISION has one DEPROVISION. Cost: a pass is prepared in O(n) for its
 * n measurements.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE = 16, MINUTES_PER_DAY = 24 * 60 };

struct segment {
	uint32_t start, n; /* of cells[] */
};

struct stb_steps {
	const struct stb_plan *plan;
	uint8_t *wanted;       /* per cell */
	uint8_t *held;         /* per group: provisioned by a matrix with `once` */
	uint32_t *rank_of;     /* per group: its segment in the block, valid where its stamp is the block's number */
	uint64_t *stamp, block;
	uint64_t *next_slot;   /* per matrix */
	uint32_t *n_wanted;    /* per matrix */
	/* the block */
	const struct stb_plan_matrix *matrix; /* NULL: none is open */
	uint32_t matrix_i, slot;
	uint32_t *cells, *pass; /* in order; pass: as drawn, of a shuffled matrix */
	uint32_t n_cells;
	struct segment *segments;
	uint32_t *segment_order;
	uint32_t n_segments;
	uint64_t done, total;
	/* the world as the steps so far have left it */
	uint32_t up, running;  /* groups or STB_NONE */
	uint32_t last_cell;
	bool measured;
	uint32_t end_group;    /* removal of held groups at the end: next candidate + 1 */
	struct stb_step queue[QUEUE];
	uint32_t head, n_queue;
};

static void push(struct stb_steps *it, enum stb_op op, uint32_t group)
{
	STB_ASSERT(it->n_queue < QUEUE);
	it->queue[it->n_queue++] = (struct stb_step){
		.op = op, .matrix = it->matrix_i, .slot = it->slot, .group = group, .cell = STB_NONE };
}

struct stb_steps *stb_steps_new(const struct stb_plan *p, const uint8_t *keep)
{
	struct stb_steps *it = stb_xcalloc(1, sizeof(*it));

	it->plan = p;
	it->wanted = stb_xcalloc(p->n_cells, 1);
	it->held = stb_xcalloc(p->n_groups, 1);
	it->rank_of = stb_xcalloc(p->n_groups, sizeof(*it->rank_of));
	it->stamp = stb_xcalloc(p->n_groups, sizeof(*it->stamp));
	it->next_slot = stb_xcalloc(p->n_matrices, sizeof(*it->next_slot));
	it->n_wanted = stb_xcalloc(p->n_matrices, sizeof(*it->n_wanted));
	it->cells = stb_xcalloc(p->n_cells, sizeof(*it->cells));
	it->pass = stb_xcalloc(p->n_cells, sizeof(*it->pass));
	it->segments = stb_xcalloc(p->n_groups, sizeof(*it->segments));
	it->segment_order = stb_xcalloc(p->n_groups, sizeof(*it->segment_order));
	it->up = it->running = it->last_cell = STB_NONE;
	it->end_group = p->n_groups;
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const uint32_t first = p->cells[i].same_as;

		if ((keep && !keep[i]) || it->wanted[first])
			continue;
		it->wanted[first] = 1;
		it->n_wanted[p->cells[first].matrix]++;
	}
	return it;
}

void stb_steps_free(struct stb_steps *it)
{
	if (!it)
		return;
	free(it->wanted);
	free(it->held);
	free(it->rank_of);
	free(it->stamp);
	free(it->next_slot);
	free(it->n_wanted);
	free(it->cells);
	free(it->pass);
	free(it->segments);
	free(it->segment_order);
	free(it);
}

/* When a slot is due, as a number that sorts; 0: at once. */
static uint64_t due(const struct stb_plan_matrix *m, uint64_t slot)
{
	if (!m->schedule_days)
		return 0;
	return 1 + slot / m->n_schedule_at * MINUTES_PER_DAY + m->schedule_at[slot % m->n_schedule_at];
}

static uint32_t next_matrix(const struct stb_steps *it)
{
	uint32_t best = STB_NONE;

	for (uint32_t i = 0; i < it->plan->n_matrices; i++) {
		const struct stb_plan_matrix *m = &it->plan->matrices[i];

		if (!it->n_wanted[i] || it->next_slot[i] >= stb_plan_slots(m))
			continue;
		if (best == STB_NONE || due(m, it->next_slot[i]) < due(&it->plan->matrices[best], it->next_slot[best]))
			best = i;
	}
	return best;
}

/* Counts the wanted cells of each group into segments, in the order in which the groups appear. */
static void find_segments(struct stb_steps *it)
{
	const struct stb_plan_matrix *m = it->matrix;
	uint32_t start = 0;

	it->n_segments = 0;
	it->block++;
	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++) {
		const uint32_t g = it->plan->cells[i].group;

		if (!it->wanted[i])
			continue;
		if (it->stamp[g] != it->block) {
			it->stamp[g] = it->block;
			it->rank_of[g] = it->n_segments;
			it->segments[it->n_segments++] = (struct segment){ 0 };
		}
		it->segments[it->rank_of[g]].n++;
	}
	for (uint32_t i = 0; i < it->n_segments; i++) {
		it->segments[i].start = start;
		start += it->segments[i].n;
		it->segments[i].n = 0;
		it->segment_order[i] = i;
	}
}

/* Lists the wanted cells: as declared, or segment by segment. */
static void list_cells(struct stb_steps *it)
{
	const struct stb_plan_matrix *m = it->matrix;

	it->n_cells = 0;
	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++) {
		struct segment *s;

		if (!it->wanted[i])
			continue;
		s = &it->segments[it->rank_of[it->plan->cells[i].group]];
		it->cells[m->order == STB_ORDER_DECLARED ? it->n_cells : s->start + s->n] = i;
		s->n++;
		it->n_cells++;
	}
}

static void open_block(struct stb_steps *it, uint32_t matrix)
{
	const struct stb_plan_matrix *m = &it->plan->matrices[matrix];

	it->matrix = m;
	it->matrix_i = matrix;
	it->slot = (uint32_t)it->next_slot[matrix]++;
	it->done = 0;
	it->total = (uint64_t)it->n_wanted[matrix] * m->repeat;
	find_segments(it);
	list_cells(it);
	if (m->schedule_days) {
		push(it, STB_OP_WAIT_SLOT, STB_NONE);
		it->measured = false;
	}
}

static void shuffle(struct stb_rng *r, uint32_t *items, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t j = (uint32_t)stb_rng_below(r, i), kept = items[i - 1];

		items[i - 1] = items[j];
		items[j] = kept;
	}
}

static void draw_pass(struct stb_steps *it, uint32_t pass)
{
	struct stb_rng r;
	uint32_t n = 0;

	stb_rng_stream(&r, it->matrix->seed, it->slot, pass, 0, STB_RNG_ORDER);
	shuffle(&r, it->segment_order, it->n_segments);
	for (uint32_t i = 0; i < it->n_segments; i++) {
		const struct segment *s = &it->segments[it->segment_order[i]];

		memcpy(it->pass + n, it->cells + s->start, s->n * sizeof(*it->pass));
		shuffle(&r, it->pass + n, s->n);
		n += s->n;
	}
}

/* The measurement at position it->done of the block: its cell, and its repetition (1-based). */
static uint32_t pick(struct stb_steps *it, uint32_t *repetition)
{
	const struct stb_plan_matrix *m = it->matrix;
	const uint32_t pass = (uint32_t)(it->done / it->n_cells), k = (uint32_t)(it->done % it->n_cells);

	*repetition = pass + 1;
	switch (m->order) {
	case STB_ORDER_DECLARED:
		*repetition = (uint32_t)(it->done % m->repeat) + 1;
		return it->cells[it->done / m->repeat];
	case STB_ORDER_INTERLEAVED:
		return it->cells[k];
	case STB_ORDER_BALANCED:
		return ((uint64_t)it->slot * m->repeat + pass) % 2 ? it->cells[it->n_cells - 1 - k] : it->cells[k];
	case STB_ORDER_SHUFFLED:
		if (!k)
			draw_pass(it, pass);
		return it->pass[k];
	}
	STB_BUG("unknown order");
}

static bool is_private_server(const struct stb_plan *p, uint32_t group)
{
	const uint32_t db = p->groups[group].database;

	return db != STB_NONE && !strcmp(p->blocks[db].type, "mysql");
}

static bool loads(const struct stb_plan *p, uint32_t group)
{
	const uint32_t set = p->groups[group].dataset;
	const struct stb_plan_attr *how;

	if (p->groups[group].n_fills)
		return true;
	if (set == STB_NONE)
		return false;
	how = stb_plan_attr(&p->blocks[set], "dataset");
	return !how || how->val.type != STB_V_WORD || !strcmp(how->val.str, "create");
}

bool stb_plan_restores(const struct stb_plan *p, uint32_t matrix, uint32_t group)
{
	return p->matrices[matrix].fresh >= STB_FRESH_CELL && p->groups[group].copy_bytes && is_private_server(p, group) && loads(p, group);
}

static void restore(struct stb_steps *it, uint32_t group)
{
	push(it, STB_OP_RESTORE, group);
	push(it, STB_OP_START, group);
	it->running = group;
}

static void leave_group(struct stb_steps *it)
{
	if (it->running != STB_NONE)
		push(it, STB_OP_STOP, it->running);
	if (it->up != STB_NONE && !it->held[it->up])
		push(it, STB_OP_DEPROVISION, it->up);
	it->running = it->up = STB_NONE;
}

static void enter_group(struct stb_steps *it, uint32_t group)
{
	const bool once = it->matrix->fresh == STB_FRESH_ONCE, kept = it->held[group];

	if (kept && !once)
		push(it, STB_OP_DEPROVISION, group);
	if (!kept || !once)
		push(it, STB_OP_PROVISION, group);
	if (is_private_server(it->plan, group)) {
		push(it, STB_OP_START, group);
		it->running = group;
	}
	if ((!kept || !once) && loads(it->plan, group))
		push(it, STB_OP_LOAD, group);
	if (stb_plan_restores(it->plan, it->matrix_i, group)) {
		push(it, STB_OP_KEEP, group);
		restore(it, group);
	}
	it->held[group] = once;
	it->up = group;
}

static bool is_stale(const struct stb_steps *it, uint32_t cell, uint32_t group)
{
	if (it->up != group)
		return true;
	switch (it->matrix->fresh) {
	case STB_FRESH_ONCE:
	case STB_FRESH_GROUP:
		return false;
	case STB_FRESH_CELL:
		return cell != it->last_cell;
	case STB_FRESH_REPETITION:
		return true;
	}
	STB_BUG("unknown fresh");
}

static void measure_next(struct stb_steps *it)
{
	uint32_t repetition;
	const uint32_t cell = pick(it, &repetition), group = it->plan->cells[cell].group;

	if (is_stale(it, cell, group) && it->up == group && stb_plan_restores(it->plan, it->matrix_i, group)) {
		push(it, STB_OP_STOP, group);
		restore(it, group);
	} else if (is_stale(it, cell, group)) {
		leave_group(it);
		enter_group(it, group);
	}
	if (it->measured && it->matrix->cooldown_ns) {
		push(it, STB_OP_COOLDOWN, STB_NONE);
		it->queue[it->n_queue - 1].wait_ns = it->matrix->cooldown_ns;
	}
	push(it, STB_OP_MEASURE, group);
	it->queue[it->n_queue - 1].cell = cell;
	it->queue[it->n_queue - 1].repetition = repetition;
	it->last_cell = cell;
	it->measured = true;
	it->done++;
}

/* Removes the next group that `once` kept; false when none is left. */
static bool remove_held(struct stb_steps *it)
{
	while (it->end_group) {
		const uint32_t g = --it->end_group;

		if (!it->held[g])
			continue;
		it->held[g] = 0;
		push(it, STB_OP_DEPROVISION, g);
		return true;
	}
	return false;
}

/* Queues what comes next; false at the end of the run. */
static bool refill(struct stb_steps *it)
{
	uint32_t matrix;

	it->head = it->n_queue = 0;
	while (!it->n_queue) {
		if (it->matrix && it->done < it->total) {
			measure_next(it);
			continue;
		}
		if (it->matrix) {
			leave_group(it);
			it->matrix = NULL;
			continue;
		}
		matrix = next_matrix(it);
		if (matrix == STB_NONE)
			return remove_held(it);
		open_block(it, matrix);
	}
	return true;
}

bool stb_steps_next(struct stb_steps *it, struct stb_step *out)
{
	if (it->head == it->n_queue && !refill(it))
		return false;
	*out = it->queue[it->head++];
	return true;
}
