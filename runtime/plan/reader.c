/*
 * reader.c - reads a block's attributes and remembers which, so that none is ignored silently.
 */
#include "runtime/plan/plan.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ATTRS = 256 };

STB_NORETURN static void misread(const struct stb_plan_block *b, const char *name, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "attribute `%s` of %s %s %s %s", name, b->kind, b->type, b->name, what);
	STB_BUG(text);
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
		misread(r->block, name, "is missing");
	return v;
}

bool stb_read_has(struct stb_reader *r, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(r->block, name);

	return a && a->val.type != STB_V_NONE;
}

static uint64_t as_u64(const struct stb_reader *r, const char *name, const struct stb_val *v)
{
	const bool fits = v->type == STB_V_COUNT || v->type == STB_V_BYTES || v->type == STB_V_TIME || v->type == STB_V_CLOCK;

	if (!fits || v->den != 1 || v->num < 0)
		misread(r->block, name, "is not a whole count, size or time");
	return (uint64_t)v->num;
}

uint64_t stb_read_u64(struct stb_reader *r, const char *name)
{
	return as_u64(r, name, must_read(r, name));
}

uint64_t stb_read_u64_or(struct stb_reader *r, const char *name, uint64_t fallback)
{
	const struct stb_val *v = read_val(r, name);

	return v ? as_u64(r, name, v) : fallback;
}

double stb_read_double_or(struct stb_reader *r, const char *name, double fallback)
{
	const struct stb_val *v = read_val(r, name);

	if (!v)
		return fallback;
	if (v->type != STB_V_SHARE && v->type != STB_V_RATE && v->type != STB_V_BYTE_RATE && v->type != STB_V_COUNT)
		misread(r->block, name, "is not a share, rate or count");
	return stb_val_double(v);
}

bool stb_read_bool(struct stb_reader *r, const char *name)
{
	const struct stb_val *v = must_read(r, name);

	if (v->type != STB_V_BOOL)
		misread(r->block, name, "is not a boolean");
	return v->num != 0;
}

static const char *as_str(const struct stb_reader *r, const char *name, const struct stb_val *v)
{
	if (v->type != STB_V_STRING && v->type != STB_V_WORD && v->type != STB_V_REF && v->type != STB_V_SECRET)
		misread(r->block, name, "is not text");
	return v->str;
}

const char *stb_read_str(struct stb_reader *r, const char *name)
{
	return as_str(r, name, must_read(r, name));
}

const char *stb_read_str_or(struct stb_reader *r, const char *name, const char *fallback)
{
	const struct stb_val *v = read_val(r, name);

	return v ? as_str(r, name, v) : fallback;
}

const struct stb_val *stb_read_list(struct stb_reader *r, const char *name)
{
	const struct stb_val *v = read_val(r, name);

	if (v && v->type != STB_V_LIST)
		misread(r->block, name, "is not a list");
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
		return a;
	}
	return NULL;
}

int stb_reader_done(const struct stb_reader *r, struct stb_err *err)
{
	const struct stb_plan_block *b = r->block;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *a = &b->attrs[i];

		if (is_marked(r, i) || a->is_default || a->val.type == STB_V_NONE)
			continue;
		stb_err_set(err, 0, "cannot carry out %s%s%s %s: this version does not act on its attribute `%s`", b->kind,
			*b->type ? " " : "", b->type, b->name, a->name);
		stb_err_remedy(err, "leave `%s` out, or use the version of stb that the spec was written for", a->name);
		err->span = a->span == STB_NONE ? 0 : a->span + 1;
		return -1;
	}
	return 0;
}
