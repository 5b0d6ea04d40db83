/*
 * remaining.c - leaves steps out, and keeps what the remaining ones stand on.
 *
 * What makes a group ready (PROVISION, START, LOAD, KEEP, RESTORE), a slot's wait and a cooldown are put off until a measurement follows that is to be
 * done; what undoes a group that was never made goes with what made it. So whatever was provisioned once and is lost is provisioned, loaded
 * and settled anew before its first missing repetition, in the order that the plan has, and a group all of whose repetitions are there is
 * not made at all.
 *
 *   PROVISION START LOAD | COOLDOWN MEASURE(done) | COOLDOWN MEASURE(missing) | STOP DEPROVISION
 *                          `------- left out ---'
 *
 * Where nothing is done, the steps are exactly those of the plan.
 */
#include "runtime/exec/remaining.h"

#include <stdlib.h>
#include <string.h>

enum { PUT_PROVISION = 1, PUT_START = 2, PUT_LOAD = 4, PUT_KEEP = 8, PUT_RESTORE = 16, QUEUE = 12 };

struct stb_remaining {
	struct stb_steps *steps;
	const struct stb_plan *plan;
	struct stb_done *done;
	uint8_t *put_off;        /* per group: PUT_ bits */
	struct stb_step wait, cooldown; /* put off; op is that of another step where there is none */
	struct stb_step queue[QUEUE];
	uint32_t head, n;
};

/* --- the set --- */

static int by_key(const void *a, const void *b)
{
	const struct stb_done_key *x = a, *y = b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->repetition < y->repetition ? -1 : x->repetition > y->repetition;
}

void stb_done_add(struct stb_done *d, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	STB_GROW(d->keys, d->n, d->cap);
	d->keys[d->n++] = (struct stb_done_key){ cell, slot, repetition };
	d->sorted = false;
}

bool stb_done_has(struct stb_done *d, uint32_t cell, uint32_t slot, uint32_t repetition)
{
	const struct stb_done_key key = { cell, slot, repetition };

	if (!d->n)
		return false;
	if (!d->sorted)
		qsort(d->keys, d->n, sizeof *d->keys, by_key);
	d->sorted = true;
	return bsearch(&key, d->keys, d->n, sizeof *d->keys, by_key) != NULL;
}

void stb_done_fini(struct stb_done *d)
{
	free(d->keys);
	memset(d, 0, sizeof *d);
}

/* --- the steps --- */

struct stb_remaining *stb_remaining_new(const struct stb_plan *p, const uint8_t *keep, struct stb_done *done)
{
	struct stb_remaining *t = stb_xcalloc(1, sizeof *t);

	t->steps = stb_steps_new(p, keep);
	t->plan = p;
	t->done = done;
	t->put_off = stb_xcalloc((size_t)p->n_groups + 1, 1);
	t->wait.op = t->cooldown.op = STB_OP_MEASURE;
	return t;
}

void stb_remaining_free(struct stb_remaining *t)
{
	if (!t)
		return;
	stb_steps_free(t->steps);
	free(t->put_off);
	free(t);
}

static void push(struct stb_remaining *t, struct stb_step s)
{
	STB_ASSERT(t->n < QUEUE);
	t->queue[t->n++] = s;
}

static void push_as(struct stb_remaining *t, const struct stb_step *measure, enum stb_op op)
{
	struct stb_step s = *measure;

	s.op = op;
	s.cell = STB_NONE;
	s.repetition = 0;
	push(t, s);
}

static void take_measure(struct stb_remaining *t, const struct stb_step *s)
{
	uint8_t *put_off = &t->put_off[s->group];

	if (t->done && stb_done_has(t->done, t->plan->cells[s->cell].same_as, s->slot + 1, s->repetition)) {
		t->cooldown.op = STB_OP_MEASURE;
		return;
	}
	if (t->wait.op == STB_OP_WAIT_SLOT)
		push(t, t->wait);
	if (*put_off & PUT_PROVISION)
		push_as(t, s, STB_OP_PROVISION);
	if (*put_off & PUT_KEEP) { /* which stops the server: its start before the load is no longer noted */
		push_as(t, s, STB_OP_START);
		push_as(t, s, STB_OP_LOAD);
		push_as(t, s, STB_OP_KEEP);
		*put_off &= (uint8_t)~PUT_LOAD;
	}
	if (*put_off & PUT_RESTORE)
		push_as(t, s, STB_OP_RESTORE);
	if (*put_off & PUT_START)
		push_as(t, s, STB_OP_START);
	if (*put_off & PUT_LOAD)
		push_as(t, s, STB_OP_LOAD);
	if (t->cooldown.op == STB_OP_COOLDOWN)
		push(t, t->cooldown);
	push(t, *s);
	*put_off = 0;
	t->wait.op = t->cooldown.op = STB_OP_MEASURE;
}

static void take_step(struct stb_remaining *t, const struct stb_step *s)
{
	switch (s->op) {
	case STB_OP_WAIT_SLOT:
		t->wait = *s;
		return;
	case STB_OP_COOLDOWN:
		t->cooldown = *s;
		return;
	case STB_OP_PROVISION:
		t->put_off[s->group] = PUT_PROVISION;
		return;
	case STB_OP_START:
		t->put_off[s->group] |= PUT_START;
		return;
	case STB_OP_LOAD:
		t->put_off[s->group] |= PUT_LOAD;
		return;
	case STB_OP_KEEP:
		t->put_off[s->group] |= PUT_KEEP;
		return;
	case STB_OP_RESTORE:
		t->put_off[s->group] |= PUT_RESTORE;
		return;
	case STB_OP_STOP:
		if (t->put_off[s->group] & PUT_START)
			t->put_off[s->group] &= (uint8_t)~PUT_START;
		else
			push(t, *s);
		return;
	case STB_OP_DEPROVISION:
		if (!(t->put_off[s->group] & PUT_PROVISION))
			push(t, *s);
		t->put_off[s->group] = 0;
		return;
	case STB_OP_MEASURE:
		take_measure(t, s);
		return;
	}
}

bool stb_remaining_next(struct stb_remaining *t, struct stb_step *out)
{
	struct stb_step s;

	while (t->head == t->n) {
		t->head = t->n = 0;
		if (!stb_steps_next(t->steps, &s))
			return false;
		take_step(t, &s);
	}
	*out = t->queue[t->head++];
	return true;
}
