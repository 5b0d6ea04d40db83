/*
 * plan.c - making, freeing and looking things up in a plan; the words of its enums.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/buf.h"

#include <stdlib.h>
#include <string.h>

struct stb_plan *stb_plan_new(void)
{
	struct stb_plan *p = stb_xcalloc(1, sizeof(*p));

	stb_arena_init(&p->arena);
	return p;
}

void stb_plan_free(struct stb_plan *p)
{
	if (!p)
		return;
	stb_arena_fini(&p->arena);
	free(p);
}

const char *stb_op_name(enum stb_op op)
{
	static const char *const names[] = {
#define STB_OP(sym, text) [STB_OP_##sym] = text,
#include "runtime/plan/ops.def"
#undef STB_OP
	};

	return names[op];
}

const char *stb_order_name(enum stb_order order)
{
	switch (order) {
	case STB_ORDER_INTERLEAVED:
		return "interleaved";
	case STB_ORDER_BALANCED:
		return "balanced";
	case STB_ORDER_DECLARED:
		return "declared";
	case STB_ORDER_SHUFFLED:
		return "shuffled";
	}
	STB_BUG("unknown order");
}

const char *stb_fresh_name(enum stb_fresh fresh)
{
	switch (fresh) {
	case STB_FRESH_ONCE:
		return "once";
	case STB_FRESH_GROUP:
		return "group";
	case STB_FRESH_CELL:
		return "cell";
	case STB_FRESH_REPETITION:
		return "repetition";
	}
	STB_BUG("unknown fresh");
}

const char *stb_view_name(enum stb_view view)
{
	switch (view) {
	case STB_VIEW_VALUE:
		return "value";
	case STB_VIEW_PERCENT:
		return "percent";
	case STB_VIEW_CHANGE:
		return "change";
	case STB_VIEW_IMPROVEMENT:
		return "improvement";
	case STB_VIEW_RATIO:
		return "ratio";
	case STB_VIEW_RANGE:
		return "range";
	case STB_VIEW_CI:
		return "ci";
	case STB_VIEW_N:
		return "n";
	}
	STB_BUG("unknown view");
}

const char *stb_aggregate_name(enum stb_aggregate aggregate)
{
	switch (aggregate) {
	case STB_AGG_MEAN:
		return "mean";
	case STB_AGG_MEDIAN:
		return "median";
	}
	STB_BUG("unknown aggregate");
}

const char *stb_origin_name(enum stb_origin origin)
{
	switch (origin) {
	case STB_FROM_DEFAULT:
		return "default";
	case STB_FROM_LINE:
		return "declaration";
	case STB_FROM_OVERRIDE:
		return "override";
	case STB_FROM_PROFILE:
		return "profile";
	case STB_FROM_AXIS:
		return "axis";
	case STB_FROM_PARAM:
		return "parameter";
	}
	STB_BUG("unknown origin");
}

uint64_t stb_plan_slots(const struct stb_plan_matrix *m)
{
	return m->schedule_days ? (uint64_t)m->schedule_days * m->n_schedule_at : 1;
}

bool stb_selector_match(const struct stb_selector *s, const uint32_t *point)
{
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *t = &s->terms[i];
		bool hit = false;

		for (uint32_t j = 0; j < t->n_values && !hit; j++)
			hit = t->values[j] == point[t->axis];
		if (!hit)
			return false;
	}
	return true;
}

const struct stb_plan_mount *stb_plan_mount_of(const struct stb_plan *p, uint32_t group, const struct stb_plan_block *workload)
{
	const struct stb_plan_group *g = &p->groups[group];
	const struct stb_plan_attr *volume = stb_plan_attr(workload, "volume");

	for (uint32_t i = 0; i < g->n_mounts; i++) {
		const struct stb_plan_mount *m = &g->mounts[i];

		if (volume && volume->val.str ? !strcmp(p->blocks[m->volume].name, volume->val.str) : !strcmp(m->role, "data"))
			return m;
	}
	return NULL;
}

const struct stb_plan_mix *stb_plan_mix_of(const struct stb_plan *p, uint32_t cell)
{
	static const struct stb_plan_mix none = { 0 };

	return p->cells[cell].mix ? &p->mixes[p->cells[cell].mix - 1] : &none;
}

uint32_t stb_plan_add_mix(struct stb_plan *p, const struct stb_plan_mix *mix)
{
	STB_ARENA_GROW(&p->arena, p->mixes, p->n_mixes, p->cap_mixes);
	p->mixes[p->n_mixes++] = *mix;
	return p->n_mixes;
}

const struct stb_plan_block *stb_plan_steady(const struct stb_plan *p, uint32_t cell)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);

	for (uint32_t i = 0; i <= mix->n; i++) {
		const struct stb_plan_block *b = &p->blocks[i ? mix->members[i - 1] : p->cells[cell].workload];

		if (stb_plan_attr(b, "steady_state.metric"))
			return b;
	}
	return NULL;
}

uint32_t stb_plan_member(const struct stb_plan *p, uint32_t cell, const char *name, size_t len)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);

	for (uint32_t i = 0; i < mix->n; i++) {
		const char *member = p->blocks[mix->members[i]].name;

		if (strlen(member) == len && !strncmp(member, name, len))
			return i;
	}
	return STB_NONE;
}

const struct stb_plan_attr *stb_plan_attr(const struct stb_plan_block *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!strcmp(b->attrs[i].name, name))
			return &b->attrs[i];
	}
	return NULL;
}

char *stb_plan_cell_label(struct stb_arena *a, const struct stb_plan *p, uint32_t cell)
{
	const struct stb_plan_cell *c = &p->cells[cell];
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];
	struct stb_buf b;
	char *text;

	stb_buf_init(&b);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (c->point[i] == STB_NONE || !strcmp(m->axes[i].kind, "run")) /* a cell is the same in all runs */
			continue;
		stb_buf_adds(&b, b.len ? " / " : "");
		stb_buf_adds(&b, m->axes[i].values[c->point[i]].key);
	}
	if (!b.len)
		stb_buf_adds(&b, p->blocks[c->workload].name);
	text = stb_arena_strndup(a, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

char *stb_plan_where(struct stb_arena *a, const struct stb_plan *p, uint32_t span)
{
	const struct stb_plan_span *s;

	if (span >= p->n_spans)
		return stb_arena_strdup(a, "");
	s = &p->spans[span];
	return stb_arena_printf(a, "%s:%u:%u", p->files[s->file].name, s->line, s->column);
}
