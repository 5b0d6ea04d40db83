/*
 * reader.c - reads a block's attributes and remembers which, so that none is ignored silently.
 */
#include "runtime/plan/plan.h"

#include <string.h>

enum { MAX_ATTRS = 256 };

/* Keeps the first fault; what was asked for after it may only be its echo. */
static void misread(struct stb_reader *r, const char *name, const char *why)
{
	if (r->fault)
		return;
	r->fault = name;
	r->fault_why = why;
}

void stb_reader_init(struct stb_reader *r, const struct stb_plan_block *b)
{
	memset(r, 0, sizeof(*r));
	r->block = b;
	STB_ASSERT(b->n_attrs <= MAX_ATTRS);
}

static void mark(struct stb_reader *r, const struct stb_plan_attr *a)
{
	const size_t i = (size_t)(a - r->block->attrs);

	r->seen[i / 64] |= 1ull << (i % 64);
}

static bool is_marked(const struct stb_reader *r, uint32_t i)
{
	return r->seen[i / 64] >> (i % 64) & 1;
}

/* The attribute, marked as read; NULL where the block has no effective value. */
static const struct stb_val *read_val(struct stb_reader *r, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(r->block, name);

	if (!a)
		return NULL;
	mark(r, a);
	return a->val.type == STB_V_NONE ? NULL : &a->val;
}

static const struct stb_val *must_read(struct stb_reader *r, const char *name)
{
	const struct stb_val *v = read_val(r, name);

	if (!v)
		misread(r, name, "is missing");
	return v;
}

bool stb_read_has(struct stb_reader *r, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(r->block, name);

	return a && a->val.type != STB_V_NONE;
}

/* The forms below take v = NULL for an attribute that is not there. */

static uint64_t as_u64(struct stb_reader *r, const char *name, const struct stb_val *v, uint64_t fallback)
{
	if (!v)
		return fallback;
	if (v->type != STB_V_COUNT && v->type != STB_V_BYTES && v->type != STB_V_TIME && v->type != STB_V_CLOCK)
		misread(r, name, "is not a count, size or time");
	else if (v->den != 1 || v->num < 0)
		misread(r, name, "is negative or not whole");
	else
		return (uint64_t)v->num;
	return fallback;
}

uint64_t stb_read_u64(struct stb_reader *r, const char *name)
{
	return as_u64(r, name, must_read(r, name), 0);
}

uint64_t stb_read_u64_or(struct stb_reader *r, const char *name, uint64_t fallback)
{
	return as_u64(r, name, read_val(r, name), fallback);
}

double stb_read_double_or(struct stb_reader *r, const char *name, double fallback)
{
	const struct stb_val *v = read_val(r, name);

	if (!v)
		return fallback;
	if (v->type == STB_V_SHARE || v->type == STB_V_RATE || v->type == STB_V_BYTE_RATE || v->type == STB_V_COUNT)
		return stb_val_double(v);
	misread(r, name, "is not a share, rate or count");
	return fallback;
}

bool stb_read_bool(struct stb_reader *r, const char *name)
{
	const struct stb_val *v = must_read(r, name);

	if (v && v->type != STB_V_BOOL)
		misread(r, name, "is neither true nor false");
	return v && v->type == STB_V_BOOL && v->num != 0;
}

static const char *as_str(struct stb_reader *r, const char *name, const struct stb_val *v, const char *fallback)
{
	if (!v)
		return fallback;
	if (v->type == STB_V_STRING || v->type == STB_V_WORD || v->type == STB_V_REF || v->type == STB_V_SECRET)
		return v->str;
	misread(r, name, "is not text");
	return fallback;
}

const char *stb_read_str(struct stb_reader *r, const char *name)
{
	return as_str(r, name, must_read(r, name), "");
}

const char *stb_read_str_or(struct stb_reader *r, const char *name, const char *fallback)
{
	return as_str(r, name, read_val(r, name), fallback);
}

const struct stb_val *stb_read_list(struct stb_reader *r, const char *name, enum stb_vtype elem)
{
	const struct stb_val *v = read_val(r, name);

	if (v && v->type != STB_V_LIST) {
		misread(r, name, "is not a list");
		return NULL;
	}
	for (uint32_t i = 0; v && i < v->n_items; i++) {
		if (v->items[i].type != elem) {
			misread(r, name, "has an item of another type than it can have");
			return NULL;
		}
	}
	return v;
}

void stb_read_skip(struct stb_reader *r, const char *name)
{
	read_val(r, name);
}

const struct stb_plan_attr *stb_read_option(struct stb_reader *r, uint32_t *pos)
{
	while (*pos < r->block->n_attrs) {
		const struct stb_plan_attr *a = &r->block->attrs[(*pos)++];

		if (strncmp(a->name, "options.", strlen("options.")))
			continue;
		mark(r, a);
		if (a->val.type != STB_V_STRING)
			misread(r, a->name, "is not text");
		return a;
	}
	return NULL;
}

static void blame(const struct stb_plan_block *b, const struct stb_plan_attr *a, struct stb_err *err)
{
	const uint32_t span = a && a->span != STB_NONE ? a->span : b->span;

	err->span = span == STB_NONE ? 0 : span + 1;
}

int stb_reader_fault(const struct stb_reader *r, struct stb_err *err)
{
	const struct stb_plan_block *b = r->block;

	if (!r->fault)
		return 0;
	stb_err_set(err, 0, "cannot carry out %s%s%s %s%s%s%s: its attribute `%s` %s", b->kind, *b->type ? " " : "", b->type, b->name,
		b->file ? " of plan `" : "", b->file ? b->file : "", b->file ? "`" : "", r->fault, r->fault_why);
	stb_err_remedy(err, "the plan was made by another version of stb or changed by hand: make it again from its spec");
	blame(b, stb_plan_attr(b, r->fault), err);
	return -1;
}

int stb_reader_done(const struct stb_reader *r, struct stb_err *err)
{
	const struct stb_plan_block *b = r->block;

	if (stb_reader_fault(r, err))
		return -1;
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *a = &b->attrs[i];

		if (is_marked(r, i) || a->is_default || a->val.type == STB_V_NONE)
			continue;
		stb_err_set(err, 0, "cannot carry out %s%s%s %s: this version does not act on its attribute `%s`", b->kind,
			*b->type ? " " : "", b->type, b->name, a->name);
		stb_err_remedy(err, "leave `%s` out", a->name);
		blame(b, a, err);
		return -1;
	}
	return 0;
}
