/*
 * chain.c - what a cell is made of: its chain and its env.
 *
 * A cell's chain: workload io -> volume -> storage, or workload oltp -> database -> volume -> storage, with the database's other volumes;
 * beside it the server and its pin, the client and its pin. Its env is all blocks but the workloads: those of the chain, and whatever axes describe. A
 * value of a described axis belongs to each of its cells even where nothing takes it: it is what the figures are about, so it is part of the identity.
 *
 * Most of a cell is what many others have too: its chain follows from the workload, the settings in force and what axes offer, its env from the chain
 * and what axes describe. Both are looked up by just that, so the work per cell is a few look-ups and the end of one hash. A chain that is not
 * complete, and one whose addresses say ${cell.AXIS}, is made anew for every cell.
 */
#include "compiler/walk.h"

#include <string.h>

/* --- references ------------------------------------------------------------------------------------------------------------------------ */

static void lacks(struct stb_walk *w, const struct stb_eblock *b, const char *attr, uint32_t cell)
{
	const struct stb_schema_attr *row = stb_schema_attr(b->block->kind, b->block->type->type, attr);

	for (uint32_t i = 0; i < w->n_lacks; i++) {
		if (w->lacks[i].block == b->block && w->lacks[i].row == row) {
			w->lacks[i].n_cells++;
			return;
		}
	}
	STB_ARENA_GROW(w->x->arena, w->lacks, w->n_lacks, w->cap_lacks);
	w->lacks[w->n_lacks++] = (struct stb_lack){ b->block, row, 1, cell };
}

/* The block that an attribute names, with what is in force for it; NULL where nothing binds it (counted). */
static struct stb_eblock *follow(struct stb_walk *w, const struct stb_eblock *b, const char *attr, enum stb_kind kind,
	uint32_t cell)
{
	const struct stb_eattr *a = stb_eattr(b, attr);
	const struct stb_block *target = a && a->val.str ? stb_model_find(w->x->m, kind, a->val.str) : NULL;

	if (!target) {
		if (!a)
			lacks(w, b, attr, cell);
		return NULL;
	}
	/* Naming what the axis says anyway is no contradiction. */
	for (uint32_t i = 0; i < w->m->n_axes; i++) {
		if (w->m->axes[i].kind == (int)kind && w->m->axes[i].values[w->point[i]].block == target)
			w->m->axes[i].taken = true;
	}
	return stb_effective(w->x, target, &w->active, w->m, w->point, cell, true);
}

/* The same of a reference that no axis binds and that may be left out: NULL then. */
static struct stb_eblock *follow_written(struct stb_walk *w, const struct stb_eblock *b, const char *attr, enum stb_kind kind,
	uint32_t cell, bool bind)
{
	const struct stb_eattr *a = b ? stb_eattr(b, attr) : NULL;
	const struct stb_block *target = a && a->val.str ? stb_model_find(w->x->m, kind, a->val.str) : NULL;

	return target ? stb_effective(w->x, target, &w->active, w->m, w->point, cell, bind) : NULL;
}

/* A volume with its class: the volume as the file system it has. */
static const struct stb_eblock *resolve_volume(struct stb_walk *w, struct stb_eblock *volume, uint32_t cell,
	const struct stb_eblock **storage)
{
	struct stb_eblock *s = volume ? follow(w, volume, "storage", STB_K_STORAGE, cell) : NULL;

	*storage = s;
	return s ? stb_effective_volume(w->x, volume, s) : volume;
}

/* --- the blocks that a cell uses ------------------------------------------------------------------------------------------------------- */

static int kind_rank(enum stb_kind kind)
{
	static const enum stb_kind order[] = { STB_K_SERVER, STB_K_STORAGE, STB_K_VOLUME, STB_K_DATABASE,
		STB_K_PIN, STB_K_WORKLOAD };

	for (size_t i = 0; i < STB_LEN(order); i++) {
		if (order[i] == kind)
			return (int)i;
	}
	return (int)STB_LEN(order);
}

static bool before(const struct stb_eblock *a, const struct stb_eblock *b)
{
	const int ra = kind_rank(a->block->kind), rb = kind_rank(b->block->kind);

	return ra != rb ? ra < rb : strcmp(a->block->name, b->block->name) < 0;
}

struct used {
	const struct stb_eblock *items[STB_MAX_USED]; /* sorted by kind and name */
	uint32_t n;
};

static void use(struct used *c, const struct stb_eblock *b)
{
	uint32_t at = c->n;

	if (!b)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->items[i]->block == b->block)
			return;
	}
	STB_ASSERT(c->n < STB_MAX_USED);
	for (; at && before(b, c->items[at - 1]); at--)
		c->items[at] = c->items[at - 1];
	c->items[at] = b;
	c->n++;
}

static const struct stb_env *intern_env(struct stb_expansion *x, const struct used *used)
{
	struct stb_env *known;
	uint32_t len;

	x->n_key = 0;
	for (uint32_t i = 0; i < used->n; i++)
		stb_key_add(x, used->items[i]);
	stb_key_add(x, NULL); /* apart from the keys of stb_env_find() */
	len = x->n_key * (uint32_t)sizeof(*x->key);
	known = stb_intern_get(&x->by_env, x->key, len);
	if (known)
		return known;
	known = STB_NEW(x->arena, struct stb_env);
	known->used = STB_NEW_ARRAY(x->arena, const struct stb_eblock *, used->n);
	known->n_used = used->n;
	memcpy(known->used, used->items, used->n * sizeof(*known->used));
	stb_identity_env(known);
	stb_intern_put(&x->by_env, x->key, len, known);
	STB_ARENA_GROW(x->arena, x->envs, x->n_envs, x->cap_envs);
	known->index = x->n_envs;
	x->envs[x->n_envs++] = known;
	return known;
}

/* --- chains ---------------------------------------------------------------------------------------------------------------------------- */

static struct stb_scope *intern_scope(struct stb_expansion *x, const struct stb_scope *s)
{
	enum { FIXED = 9 };
	const void *key[FIXED + 2 * STB_MAX_MOUNTS + 2 * STB_MAX_PARTS] = { s->matrix, s->workload, s->database, s->volume, s->storage, s->server,
		s->client, s->pin, s->client_pin };
	uint32_t n = FIXED, len;
	struct stb_scope *known;

	for (uint32_t i = 0; i < s->n_mounts; i++) { /* which role it has, the database says */
		key[n++] = s->mounts[i].volume;
		key[n++] = s->mounts[i].storage;
	}
	for (uint32_t i = 0; i < s->n_parts; i++)
		key[n++] = s->parts[i];
	for (uint32_t i = 0; i < s->n_fills; i++)
		key[n++] = s->fills[i];
	len = n * (uint32_t)sizeof(*key);

	known = stb_intern_get(&x->by_scope, key, len);
	if (!known) {
		known = STB_NEW(x->arena, struct stb_scope);
		*known = *s;
		known->n_cells = 0;
		stb_intern_put(&x->by_scope, key, len, known);
		STB_ARENA_GROW(x->arena, x->scopes, x->n_scopes, x->cap_scopes);
		x->scopes[x->n_scopes++] = known;
	}
	known->n_cells++;
	return known;
}

/* Whether the chain reached its end; where it did not, someone has reported why. */
static bool complete(const struct stb_scope *s)
{
	if (!strcmp(s->workload->block->type->type, "mix"))
		return true; /* what it lacks was reported, or is found by its rule */
	if (!strcmp(s->workload->block->type->type, "oltp") &&
		(!s->database || strcmp(s->database->block->type->type, "mysql")))
		return s->database;
	return s->volume && s->storage;
}

static void add_mount(struct stb_expansion *x, struct stb_scope *s, struct stb_xmount m)
{
	if (!s->mounts)
		s->mounts = STB_NEW_ARRAY(x->arena, struct stb_xmount, STB_MAX_MOUNTS);
	s->mounts[s->n_mounts++] = m;
}

/* The volumes of a private database beside its data volume. */
static void resolve_mounts(struct stb_walk *w, struct stb_scope *s, uint32_t cell)
{
	static const struct {
		const char *attr, *role;
	} rows[STB_MAX_DB_MOUNTS] = { { "redo_volume", "redo" }, { "binlog_volume", "binlog" }, { "tmp_volume", "tmp" } };

	for (size_t i = 0; s->database && i < STB_LEN(rows); i++) {
		struct stb_eblock *volume = follow_written(w, s->database, rows[i].attr, STB_K_VOLUME, cell, true);
		struct stb_xmount m = { .role = rows[i].role };

		if (!volume)
			continue;
		m.volume = resolve_volume(w, volume, cell, &m.storage);
		add_mount(w->x, s, m);
	}
}

static bool is_type(const struct stb_eblock *b, const char *type)
{
	return b && !strcmp(b->block->type->type, type);
}

/*
 * What the parts of a mix work on: the database, whose volume is then the data volume, and the volumes of the io workloads. The volume of an
 * external database is described, so that those stand beside it.
 */
static void join_parts(struct stb_scope *s)
{
	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct stb_scope *part = s->parts[i];

		if (!part->database || s->database)
			continue;
		s->database = part->database;
		s->volume = part->volume;
		s->storage = part->storage;
	}
	for (uint32_t i = 0; i < s->n_parts && !s->database && !s->volume; i++) {
		s->volume = s->parts[i]->volume;
		s->storage = s->parts[i]->storage;
	}
}

static void join_volumes(struct stb_expansion *x, struct stb_scope *s)
{
	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct stb_scope *part = s->parts[i];
		bool there = part->database || !part->volume || (part->volume == s->volume && !is_type(s->database, "external"));

		for (uint32_t k = 0; k < s->n_mounts && !there; k++)
			there = !strcmp(s->mounts[k].role, "io") && s->mounts[k].volume == part->volume;
		if (!there)
			add_mount(x, s, (struct stb_xmount){ "io", part->volume, part->storage });
	}
}

/* The server of the cell with its pin, which an axis may bind, and that of the client, which none does. */
static void resolve_servers(struct stb_walk *w, struct stb_scope *s, uint32_t cell)
{
	const uint32_t axis = stb_xmatrix_axis(w->m, "server", w->m->n_axes);

	if (axis != STB_NONE) {
		struct stb_eblock *server = stb_effective(w->x, w->m->axes[axis].values[w->point[axis]].block, &w->active, w->m,
			w->point, cell, true);

		s->server = server;
		/* I/O workers and private servers run in it; a server that runs elsewhere does not */
		if (!is_type(s->database, "external") || s->n_mounts)
			w->m->axes[axis].taken = true;
		if (stb_eattr(server, "pin"))
			s->pin = follow(w, server, "pin", STB_K_PIN, cell);
	}
	s->client = follow_written(w, s->workload, "client", STB_K_SERVER, cell, false);
	if (s->client && s->server && s->client->block == s->server->block)
		s->client = s->server;
	s->client_pin = s->client == s->server ? s->pin : follow_written(w, s->client, "pin", STB_K_PIN, cell, false);
	if (!s->client)
		s->client_pin = NULL;
}

static void use_scope(struct used *c, const struct stb_scope *s)
{
	use(c, s->storage);
	use(c, s->volume);
	for (uint32_t i = 0; i < s->n_mounts; i++) {
		use(c, s->mounts[i].storage);
		use(c, s->mounts[i].volume);
	}
	use(c, s->database);
	use(c, s->workload);
	use(c, s->server);
	use(c, s->pin);
	use(c, s->client);
	use(c, s->client_pin);
}

static void chain(struct stb_walk *w, const struct stb_block *workload, uint32_t cell, struct used *used, struct stb_scope *scope);

/* The workloads that an attribute lists, each with its own chain: the parts of a mix, the fills of an io workload. */
static uint32_t chain_list(struct stb_walk *w, const struct stb_eblock *of, const char *attr, uint32_t cell, struct used *used,
	const struct stb_scope **to)
{
	const struct stb_eattr *a = stb_eattr(of, attr);
	uint32_t n = 0;

	for (uint32_t i = 0; a && i < a->val.n_items && n < STB_MAX_PARTS; i++) {
		const struct stb_block *b = stb_model_find(w->x->m, STB_K_WORKLOAD, a->val.items[i].str);
		struct stb_scope part;

		/* Lists do not nest, whatever is written: rules_mix.c says so. */
		if (!b || !strcmp(b->type->type, "mix") || b == of->block)
			continue;
		chain(w, b, cell, used, &part);
		if (!w->n_lacks && complete(&part))
			to[n++] = intern_scope(w->x, &part);
	}
	return n;
}

/* A workload with what it works on; every block of it is used by the cell. */
static void chain(struct stb_walk *w, const struct stb_block *workload, uint32_t cell, struct used *used, struct stb_scope *scope)
{
	struct stb_eblock *e = stb_effective(w->x, workload, &w->active, w->m, w->point, cell, true), *volume = NULL;

	*scope = (struct stb_scope){ .matrix = w->m, .workload = e, .first_cell = cell };
	if (!strcmp(workload->type->type, "mix")) {
		scope->n_parts = chain_list(w, e, "run", cell, used, scope->parts);
		join_parts(scope);
	} else if (!strcmp(workload->type->type, "oltp")) {
		struct stb_eblock *db = follow(w, e, "database", STB_K_DATABASE, cell);

		scope->database = db;
		if (db && (!strcmp(db->block->type->type, "mysql") || stb_eattr(db, "volume")))
			volume = follow(w, db, "volume", STB_K_VOLUME, cell);
	} else {
		volume = follow(w, e, "volume", STB_K_VOLUME, cell);
	}
	if (volume)
		scope->volume = resolve_volume(w, volume, cell, &scope->storage);
	resolve_mounts(w, scope, cell);
	join_volumes(w->x, scope);
	resolve_servers(w, scope, cell);
	use_scope(used, scope);
	/* A fill has no fills of its own, so this ends. */
	if (!strcmp(workload->type->type, "io") && !w->filling && stb_eattr(e, "prepare")) {
		w->filling = true;
		scope->n_fills = chain_list(w, e, "prepare", cell, used, scope->fills);
		w->filling = false;
	}
}

/* One more cell has the scope. */
static void count_scope(const struct stb_scope *scope)
{
	struct stb_scope *s = (struct stb_scope *)scope; /* ours; only its number of cells changes */

	s->n_cells++;
	for (uint32_t i = 0; i < s->n_parts; i++)
		count_scope(s->parts[i]);
	for (uint32_t i = 0; i < s->n_fills; i++)
		count_scope(s->fills[i]);
}

static void split_used(struct stb_walk *w, const struct used *used, struct stb_chain *c)
{
	struct stb_expansion *x = w->x;
	struct used others = { .n = 0 };
	struct stb_buf json;

	while (others.n < used->n && used->items[others.n]->block->kind != STB_K_WORKLOAD) {
		others.items[others.n] = used->items[others.n];
		others.n++;
	}
	c->base = intern_env(x, &others);
	c->n_loads = used->n - others.n; /* workloads come last */
	c->loads = STB_NEW_ARRAY(x->arena, const struct stb_eblock *, c->n_loads);
	memcpy(c->loads, used->items + others.n, c->n_loads * sizeof(*c->loads));
	stb_buf_init(&json);
	for (uint32_t i = 0; i < c->n_loads; i++) {
		stb_buf_adds(&json, i ? "," : "");
		stb_buf_adds(&json, c->loads[i]->id_json);
	}
	stb_buf_add(&json, w->tail, w->tail_len);
	c->id_len = (uint32_t)json.len;
	c->id_json = stb_intern_get(&x->texts, stb_buf_str(&json), c->id_len);
	if (!c->id_json) {
		c->id_json = stb_arena_strndup(x->arena, stb_buf_str(&json), json.len);
		stb_intern_lend(&x->texts, c->id_json, c->id_len, (void *)c->id_json);
	}
	stb_buf_fini(&json);
}

/* NULL: it is not complete. */
static struct stb_chain *make_chain(struct stb_walk *w, const struct stb_block *workload, uint32_t cell)
{
	struct stb_expansion *x = w->x;
	struct used used;
	struct stb_scope scope;
	struct stb_chain *c;

	used.n = 0;
	chain(w, workload, cell, &used, &scope);
	if (w->n_lacks || !complete(&scope))
		return NULL;
	c = STB_NEW(x->arena, struct stb_chain);
	c->scope = intern_scope(x, &scope);
	split_used(w, &used, c);
	c->touched = STB_NEW_ARRAY(x->arena, struct stb_xsetting *, w->active.n);
	for (uint32_t i = 0; i < w->active.n; i++) {
		if (w->active.items[i]->seen == cell + 1)
			c->touched[c->n_touched++] = w->active.items[i];
	}
	STB_ARENA_GROW(x->arena, x->chains, x->n_chains, x->cap_chains);
	c->index = x->n_chains;
	x->chains[x->n_chains++] = c;
	return c;
}

static uint32_t chain_key(struct stb_walk *w, const struct stb_block *workload)
{
	w->x->n_key = 0;
	stb_key_add(w->x, workload);
	stb_key_add_offer(w->x, w->m, w->point, STB_K_STORAGE);
	stb_key_add_offer(w->x, w->m, w->point, STB_K_VOLUME);
	stb_key_add_offer(w->x, w->m, w->point, STB_K_SERVER);
	stb_key_add_offer(w->x, w->m, w->point, STB_K_PIN);
	if (!w->only_io)
		stb_key_add_offer(w->x, w->m, w->point, STB_K_DATABASE);
	for (uint32_t i = 0; i < w->active.n; i++)
		stb_key_add(w->x, w->active.items[i]);
	return w->x->n_key * (uint32_t)sizeof(*w->x->key);
}

const struct stb_chain *stb_chain_find(struct stb_walk *w, uint32_t cell)
{
	const struct stb_block *workload = w->m->axes[w->workload].values[w->point[w->workload]].block;
	struct stb_chain *c;
	uint32_t len;

	if (w->by_cell)
		return make_chain(w, workload, cell);
	len = chain_key(w, workload);
	c = stb_intern_get(&w->chains, w->x->key, len);
	if (!c) {
		c = make_chain(w, workload, cell);
		len = chain_key(w, workload);
		if (c)
			stb_intern_put(&w->chains, w->x->key, len, c);
		return c;
	}
	count_scope(c->scope);
	for (uint32_t i = 0; i < c->n_touched; i++)
		c->touched[i]->seen = cell + 1;
	return c;
}

/* --- envs ------------------------------------------------------------------------------------------------------------------------------ */

/* What axes describe in the cell, as found: up to three blocks an axis. */
static void find_described(struct stb_walk *w, uint32_t cell, struct used *found)
{
	found->n = 0;
	for (uint32_t i = 0; i < w->m->n_leading; i++) {
		const struct stb_xaxis *axis = &w->m->axes[i];
		const struct stb_eblock *storage = NULL, *volume = NULL, *b;
		struct stb_eblock *e;

		if (axis->kind < 0 || axis->kind == STB_K_WORKLOAD || !axis->described)
			continue;
		e = stb_effective(w->x, axis->values[w->point[i]].block, &w->active, w->m, w->point, cell, true);
		b = e;
		if (axis->kind == STB_K_VOLUME)
			b = resolve_volume(w, e, cell, &storage);
		else if (axis->kind == STB_K_DATABASE && stb_eattr(e, "volume"))
			volume = resolve_volume(w, follow(w, e, "volume", STB_K_VOLUME, cell), cell, &storage);
		found->items[found->n++] = volume;
		found->items[found->n++] = b;
		found->items[found->n++] = storage;
	}
}

static uint32_t env_key(struct stb_expansion *x, const struct stb_chain *chain, const struct used *found)
{
	x->n_key = 0;
	stb_key_add(x, chain->base);
	for (uint32_t i = 0; i < found->n; i++)
		stb_key_add(x, found->items[i]);
	stb_key_add(x, x); /* apart from the keys of intern_env() */
	return x->n_key * (uint32_t)sizeof(*x->key);
}

const struct stb_env *stb_env_find(struct stb_walk *w, const struct stb_chain *chain, uint32_t cell)
{
	const size_t leading = w->m->n_leading * sizeof(*w->point);
	struct stb_expansion *x = w->x;
	const struct stb_env *env;
	struct used found, all;

	if (chain && chain->base == w->last_base && !memcmp(w->last_point, w->point, leading))
		return w->last_env;
	find_described(w, cell, &found);
	if (!chain)
		return NULL;
	env = chain->base;
	if (found.n) {
		const uint32_t len = env_key(x, chain, &found); /* x->key may move */

		env = stb_intern_get(&x->by_env, x->key, len);
	}
	if (!env) {
		uint32_t len;

		all.n = chain->base->n_used;
		memcpy(all.items, chain->base->used, all.n * sizeof(*all.items));
		for (uint32_t i = 0; i < found.n; i++)
			use(&all, found.items[i]);
		env = intern_env(x, &all);
		len = env_key(x, chain, &found);
		stb_intern_put(&x->by_env, x->key, len, (void *)env);
	}
	if (w->only_loads && !w->by_cell && !w->n_lacks) {
		w->last_base = chain->base;
		w->last_env = env;
		memcpy(w->last_point, w->point, leading);
	}
	return env;
}
