/*
 * lower_matrix.c - matrices, places and files of the plan.
 */
#include "compiler/expand.h"

#include "runtime/base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t offer_from_ns = 10 * STB_NS_PER_S;

/* --- places --- */

static uint32_t lower_file(struct stb_lowering *l, uint32_t file)
{
	const struct stb_source_file *f = &l->x->m->c->sources.files[file];
	uintptr_t known = (uintptr_t)stb_intern_get(&l->files, &file, sizeof(file));

	if (!known) {
		STB_ARENA_GROW(l->a, l->plan->files, l->plan->n_files, l->cap_files);
		struct stb_plan_file *to = &l->plan->files[l->plan->n_files++];

		to->name = stb_lower_str(l, f->name);
		memcpy(to->sha256, f->sha256, sizeof(to->sha256));
		known = l->plan->n_files;
		stb_intern_put(&l->files, &file, sizeof(file), (void *)known); /* a number, not an address */
	}
	return (uint32_t)known - 1;
}

/* Columns of the underlined text, up to the end of its first line. */
static uint32_t width_of(const struct stb_source_file *f, struct stb_span s)
{
	uint32_t end = s.begin;

	while (end < s.end && end < f->len && f->bytes[end] != '\n' && f->bytes[end] != '\r')
		end++;
	return (uint32_t)stb_display_width(f->bytes + s.begin, end - s.begin);
}

uint32_t stb_lower_span(struct stb_lowering *l, struct stb_span s)
{
	const struct stb_sources *src = &l->x->m->c->sources;
	struct stb_position at;
	uintptr_t known;
	uint32_t file;

	if (s.file == STB_NO_FILE)
		return STB_NONE;
	file = lower_file(l, s.file);
	if (s.begin >= s.end)
		return STB_NONE;
	known = (uintptr_t)stb_intern_get(&l->spans, &s, sizeof(s));
	if (!known) {
		STB_ARENA_GROW(l->a, l->plan->spans, l->plan->n_spans, l->cap_spans);
		at = stb_sources_position(src, s.file, s.begin);
		l->plan->spans[l->plan->n_spans++] = (struct stb_plan_span){ file, at.line, at.column,
			width_of(&src->files[s.file], s) };
		known = l->plan->n_spans;
		stb_intern_put(&l->spans, &s, sizeof(s), (void *)known); /* a number, not an address */
	}
	return (uint32_t)known - 1;
}

/* --- matrices --- */

static uint64_t number(struct stb_lowering *l, const struct stb_block *b, const char *attr)
{
	const struct stb_setting *s = stb_block_setting(b, attr);
	struct stb_val v = { 0 };

	if (s && s->val.type != STB_V_NONE)
		v = s->val;
	else if (!stb_schema_default(l->x->arena, stb_schema_attr(b->kind, "", attr), &v))
		return 0;
	return v.num > 0 && v.den > 0 ? (uint64_t)(v.num / v.den) : 0;
}

static enum stb_order order_of(const struct stb_block *b)
{
	static const char *const words[] = { "interleaved", "balanced", "declared", "shuffled" };
	const struct stb_setting *s = stb_block_setting(b, "order");

	for (size_t i = 0; s && s->val.str && i < STB_LEN(words); i++) {
		if (!strcmp(words[i], s->val.str))
			return (enum stb_order)i;
	}
	return STB_ORDER_INTERLEAVED;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void lower_schedule(struct stb_lowering *l, const struct stb_block *b, struct stb_plan_matrix *to)
{
	const struct stb_setting *days = stb_block_setting(b, "schedule.days"),
		*at = stb_block_setting(b, "schedule.at");
	uint32_t n = 0;

	if (!days || !at || days->val.type == STB_V_NONE || at->val.type != STB_V_LIST || !at->val.n_items)
		return;
	to->schedule_days = (uint32_t)days->val.num;
	to->schedule_at = STB_NEW_ARRAY(l->a, uint32_t, at->val.n_items);
	for (uint32_t i = 0; i < at->val.n_items; i++)
		to->schedule_at[i] = (uint32_t)at->val.items[i].num;
	qsort(to->schedule_at, at->val.n_items, sizeof(*to->schedule_at), ascending);
	for (uint32_t i = 0; i < at->val.n_items; i++) {
		if (!i || to->schedule_at[i] != to->schedule_at[n - 1])
			to->schedule_at[n++] = to->schedule_at[i];
	}
	to->n_schedule_at = n;
}

static void lower_axis(struct stb_lowering *l, const struct stb_xaxis *from, struct stb_plan_axis *to)
{
	*to = (struct stb_plan_axis){
		.name = stb_lower_str(l, from->name),
		.label = stb_lower_str(l, from->label),
		.kind = from->run ? "run" : from->kind < 0 ? "" : stb_lower_str(l, stb_kind_name((enum stb_kind)from->kind)),
		.described = from->described,
		.values = STB_NEW_ARRAY(l->a, struct stb_plan_axis_value, from->n_values),
		.n_values = from->n_values,
	};
	for (uint32_t i = 0; i < from->n_values; i++)
		to->values[i] = (struct stb_plan_axis_value){ stb_lower_str(l, from->values[i].key),
			stb_lower_str(l, from->values[i].label) };
}

struct stb_selector stb_lower_select(struct stb_lowering *l, const struct stb_xmatrix *m, const struct stb_xselect *s)
{
	struct stb_selector out = { .n_terms = s->n };

	out.terms = STB_NEW_ARRAY(l->a, struct stb_selector_term, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t n = m->axes[s->terms[i].axis].n_values;
		struct stb_selector_term *t = &out.terms[i];

		t->axis = s->terms[i].axis;
		t->values = STB_NEW_ARRAY(l->a, uint32_t, n + 1);
		for (uint32_t v = 0; v <= n; v++) {
			if (s->terms[i].allow[v])
				t->values[t->n_values++] = v == n ? STB_NONE : v;
		}
	}
	return out;
}

static void lower_excludes(struct stb_lowering *l, const struct stb_xmatrix *from, struct stb_plan_matrix *to)
{
	to->n_excludes = from->n_excludes;
	to->excludes = STB_NEW_ARRAY(l->a, struct stb_plan_exclude, from->n_excludes);
	for (uint32_t i = 0; i < from->n_excludes; i++) {
		to->excludes[i].where = stb_lower_select(l, from, &from->excludes[i].where);
		to->excludes[i].reason = stb_lower_str(l, from->excludes[i].reason);
	}
}

struct provisioning { /* of one matrix: as planned, and if every group were provisioned once */
	uint64_t n, ns;
	uint64_t n_once, once_ns, once_bytes;
};

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t out;

	return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

static void count_once(struct stb_lowering *l, const struct stb_plan_matrix *m, const uint8_t *runs, struct provisioning *p)
{
	uint8_t *seen = STB_NEW_ARRAY(l->x->arena, uint8_t, l->plan->n_groups + 1);

	for (uint32_t i = 0; i < m->n_cells; i++) {
		const uint32_t group = l->plan->cells[m->first_cell + i].group;
		const struct stb_plan_group *g = &l->plan->groups[group];

		if (!runs[m->first_cell + i] || seen[group]++)
			continue;
		p->n_once++;
		p->once_ns = sum(p->once_ns, g->provision_ns);
		p->once_bytes = sum(p->once_bytes, g->space_bytes);
	}
}

/*
 * Where groups are provisioned again and again although they could stand side by side, `once` is offered: what it saves
 * and what it needs. Not for what takes no time.
 */
void stb_lower_offers(struct stb_lowering *l, const char **notes, uint32_t *n_notes)
{
	const struct stb_plan *plan = l->plan;
	struct provisioning *all = STB_NEW_ARRAY(l->x->arena, struct provisioning, plan->n_matrices + 1);
	uint8_t *runs = stb_plan_runnable(plan, NULL);
	struct stb_steps *it = stb_steps_new(plan, runs);
	struct stb_step s;

	while (stb_steps_next(it, &s)) {
		if (s.op != STB_OP_PROVISION)
			continue;
		all[s.matrix].n++;
		all[s.matrix].ns = sum(all[s.matrix].ns, plan->groups[s.group].provision_ns);
	}
	stb_steps_free(it);
	for (uint32_t m = 0; m < plan->n_matrices; m++) {
		struct provisioning *p = &all[m];

		if (plan->matrices[m].fresh != STB_FRESH_GROUP)
			continue;
		count_once(l, &plan->matrices[m], runs, p);
		if (p->n <= p->n_once || p->ns < sum(p->once_ns, offer_from_ns))
			continue;
		notes[(*n_notes)++] = stb_arena_printf(l->x->arena,
			"matrix `%s` provisions %" PRIu64 " times, about %" PRIu64 "s in all; fresh = once would do it %" PRIu64
			" times, about %" PRIu64 "s, and need %s side by side",
			plan->matrices[m].name, p->n, p->ns / (uint64_t)STB_NS_PER_S, p->n_once,
			p->once_ns / (uint64_t)STB_NS_PER_S, stb_bytes_text(l->x->arena, p->once_bytes));
	}
	free(runs);
}

static void check_count(struct stb_lowering *l, const struct stb_xmatrix *from, const struct stb_plan_matrix *to)
{
	const unsigned __int128 n = (unsigned __int128)to->n_cells * to->repeat * stb_plan_slots(to);

	if (n > STB_MAX_MEASUREMENTS)
		stb_diag(l->x->sink, STB_E0526, from->block->span,
			"matrix `%s` has %u cells x %u repetitions x %" PRIu64 " slots, more measurements than can be counted", from->block->name,
			to->n_cells, to->repeat, (uint64_t)stb_plan_slots(to));
}

void stb_lower_matrices(struct stb_lowering *l)
{
	struct stb_plan *p = l->plan;

	p->n_matrices = l->x->n_matrices;
	p->matrices = STB_NEW_ARRAY(l->a, struct stb_plan_matrix, p->n_matrices);
	for (uint32_t i = 0; i < p->n_matrices; i++) {
		const struct stb_xmatrix *from = l->x->matrices[i];
		const struct stb_block *b = from->block;
		struct stb_plan_matrix *to = &p->matrices[i];

		*to = (struct stb_plan_matrix){
			.name = stb_lower_str(l, b->name),
			.label = stb_lower_str(l, b->label),
			.note = stb_lower_str(l, b->note),
			.axes = STB_NEW_ARRAY(l->a, struct stb_plan_axis, from->n_axes),
			.n_axes = from->n_axes,
			.repeat = (uint32_t)number(l, b, "repeat"),
			.order = order_of(b),
			.fresh = from->fresh,
			.seed = number(l, b, "seed"),
			.cooldown_ns = number(l, b, "cooldown"),
			.interval_ns = number(l, b, "interval"),
			.first_cell = from->first_cell,
			.n_cells = from->n_cells,
			.span = stb_lower_span(l, b->span),
		};
		for (uint32_t k = 0; k < from->n_axes; k++)
			lower_axis(l, &from->axes[k], &to->axes[k]);
		lower_schedule(l, b, to);
		stb_lower_matrix_later(l, b, to);
		lower_excludes(l, from, to);
		check_count(l, from, to);
	}
}
