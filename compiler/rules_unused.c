/*
 * rules_unused.c - blocks that no cell uses and lets that nothing uses: told, and held to the rules that need no cell.
 *
 * A rule looks at a scope, and a block that nothing uses has none: what contradicts itself within one io workload is found all the same, on a
 * scope that holds nothing else. A block that others start from (`like`) need not make sense by itself and is left alone. Under a profile
 * nothing is said: it uses fewer blocks by design.
 */
#include "compiler/rules.h"

#include <string.h>

struct uses {
	struct stb_intern blocks; /* pointer -> itself */
};

static void use(struct uses *u, const struct stb_eblock *e)
{
	if (e && !stb_intern_get(&u->blocks, &e->block, sizeof(e->block)))
		stb_intern_put(&u->blocks, &e->block, sizeof(e->block), (void *)(uintptr_t)1); /* a mark, not an address */
}

static bool is_used(struct uses *u, const struct stb_block *b)
{
	return stb_intern_get(&u->blocks, &b, sizeof(b)) != NULL;
}

static void use_scope(struct uses *u, const struct stb_scope *s)
{
	const struct stb_eblock *blocks[] = { s->workload, s->database, s->volume, s->storage, s->server, s->client, s->pin, s->client_pin };

	for (size_t i = 0; i < STB_LEN(blocks); i++)
		use(u, blocks[i]);
	for (uint32_t i = 0; i < s->n_mounts; i++) {
		use(u, s->mounts[i].volume);
		use(u, s->mounts[i].storage);
	}
}

static void find_uses(struct uses *u, struct stb_expansion *x)
{
	stb_intern_init(&u->blocks, x->arena);
	for (uint32_t i = 0; i < x->n_scopes; i++)
		use_scope(u, x->scopes[i]);
	for (uint32_t i = 0; i < x->n_envs; i++) {
		for (uint32_t k = 0; k < x->envs[i]->n_used; k++)
			use(u, x->envs[i]->used[k]);
	}
	for (uint32_t i = 0; i < x->n_chains; i++) {
		for (uint32_t k = 0; k < x->chains[i]->n_loads; k++)
			use(u, x->chains[i]->loads[k]);
	}
}

static bool is_part_of_cells(enum stb_kind kind)
{
	return kind == STB_K_STORAGE || kind == STB_K_VOLUME || kind == STB_K_PIN || kind == STB_K_SERVER || kind == STB_K_DATABASE ||
		kind == STB_K_WORKLOAD;
}

static bool is_start_of_others(const struct stb_model *m, const struct stb_block *b)
{
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		if (m->blocks[i]->kind == b->kind && m->blocks[i]->like && !strcmp(m->blocks[i]->like, b->name))
			return true;
	}
	return false;
}

static void look_alone(struct stb_rules_run *r, const struct stb_block *b)
{
	static const struct stb_xsettings none;
	struct stb_expansion *x = r->x;
	const struct stb_xmatrix *m = x->matrices[x->planned[0].matrix];
	struct stb_scope alone = { .matrix = m, .n_cells = m->n_cells };

	alone.workload = stb_effective(x, b, &none, m, x->planned[0].point, 0, false);
	if (!alone.workload)
		return;
	r->s = &alone;
	r->w = alone.workload;
	stb_rules_look_io_alone(r);
}

/* Also those that only a let uses which nothing uses are taken for used. */
static void look_lets(struct stb_rules_run *r)
{
	const struct stb_model *m = r->x->m;

	for (uint32_t i = 0; i < m->n_lets; i++) {
		const struct stb_let *let = m->lets[i];
		struct stb_diag *d;

		if (let->used)
			continue;
		d = stb_diag(r->x->sink, STB_N0220, let->span, "nothing uses %s `%s`", let->is_param ? "param" : "let", let->name);
		if (m->n_profiles)
			stb_diag_note(r->x->sink, d, "a profile may");
	}
}

void stb_rules_look_unused(struct stb_rules_run *r)
{
	struct stb_model *m = r->x->m;
	struct uses u;

	if (m->profile || !r->x->n_cells || r->x->sink->n_errors)
		return;
	look_lets(r);
	find_uses(&u, r->x);
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		const struct stb_block *b = m->blocks[i];
		struct stb_diag *d;

		if (!is_part_of_cells(b->kind) || is_used(&u, b) || is_start_of_others(m, b))
			continue;
		d = stb_diag(r->x->sink, STB_N0220, b->span, "no cell uses %s `%s`", stb_kind_name(b->kind), b->name);
		if (m->n_profiles)
			stb_diag_note(r->x->sink, d, "cells of a profile may");
		if (b->kind == STB_K_WORKLOAD && !strcmp(b->type->type, "io"))
			look_alone(r, b);
	}
}
