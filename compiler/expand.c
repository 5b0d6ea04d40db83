/*
 * expand.c - matrices to cells.
 *
 * Cells are walked in nesting order, one at a time; beside what the plan says about a cell nothing is kept but two
 * pointers. Most of a cell is what many others have too: its chain (the workload and what that works on) follows from
 * the workload, the settings in force and what axes offer, its env (all other blocks) from the chain and what axes
 * describe. Both are looked up by just that, so the work per cell is a few look-ups and the end of one hash. What can
 * be wrong in many cells at once (a reference that nothing binds, a setting that touches nothing, cells that are the
 * same) is counted while walking and told once, with the number of cells and the first of them.
 *
 * A cell's chain: workload io -> volume -> storage, or workload oltp -> database -> volume -> storage, with the database's other volumes;
 * beside it the server and its pin, the client and its pin, and whatever axes describe. A value of a described axis belongs to each of its cells even where
 * nothing takes it: it is what the figures are about, so it is part of the identity.
 *
 * A chain that is not complete, and one whose addresses say ${cell.AXIS}, is made anew for every cell.
 */
#include "compiler/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t default_max_cells = 100000;

const char *stb_xcell_label(const struct stb_expansion *x, uint32_t cell)
{
	const struct stb_plan_cell *c = &x->planned[cell];
	const struct stb_xmatrix *m = x->matrices[c->matrix];
	const char *text = NULL;

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (c->point[i] == STB_NONE || m->axes[i].run)
			continue;
		const char *key = m->axes[i].values[c->point[i]].key;

		text = text ? stb_arena_printf(x->arena, "%s / %s", text, key) : key;
	}
	return text ? text : m->block->name;
}

/* --- the cells of one matrix, in nesting order --- */

static void visit(struct stb_walk *w);

static bool walk_axis(struct stb_walk *w, uint32_t i)
{
	if (i == w->m->n_axes) {
		if (!w->counting)
			visit(w);
		return ++w->n <= w->limit;
	}
	const struct stb_xaxis *axis = &w->m->axes[i];

	if (!stb_xselect_match(&axis->where, w->m, w->point)) {
		w->point[i] = STB_NONE;
		return walk_axis(w, i + 1);
	}
	w->m->axes[i].holds = true;
	for (uint32_t v = 0; v < axis->n_values; v++) {
		w->point[i] = v;
		if (!walk_axis(w, i + 1))
			return false;
	}
	return true;
}

static const char *grouped(struct stb_arena *a, uint64_t n)
{
	char digits[32];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *out = stb_arena_alloc(a, (size_t)len * 2 + 1), *p = out;

	for (int i = 0; i < len; i++) {
		*p++ = digits[i];
		if (i + 1 < len && (len - i - 1) % 3 == 0)
			*p++ = ',';
	}
	return out;
}

/* Whether the product of the axes is within the limit, known before a single cell is made. */
static bool within_limit(struct stb_expansion *x, struct stb_xmatrix *m)
{
	const uint64_t limit = x->m->options->max_cells ? STB_MIN(x->m->options->max_cells, UINT32_MAX / 2) :
		default_max_cells;
	bool conditional = false, over = false;
	const char *axes = "";
	uint64_t product = 1;
	struct stb_diag *d;

	if (m->n_axes > STB_MAX_AXES) {
		stb_diag(x->sink, STB_E0505, m->block->span, "matrix `%s` has %u axes; %d is the most", m->block->name,
			m->n_axes, STB_MAX_AXES);
		return false;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		over = __builtin_mul_overflow(product, m->axes[i].n_values, &product) || over;
		conditional = conditional || m->axes[i].where.n;
		axes = stb_arena_printf(x->arena, "%s%s%s (%u)", axes, i ? " x " : "", m->axes[i].name,
			m->axes[i].n_values);
	}
	if (!over && product <= limit)
		return true;
	if (conditional) { /* the product is an upper bound only */
		struct stb_walk w = { .x = x, .m = m, .counting = true, .limit = limit };

		if (walk_axis(&w, 0))
			return true;
	}
	d = stb_diag(x->sink, STB_E0505, m->block->span,
		"matrix `%s` has %s%s cells, more than the %s that are allowed", m->block->name,
		conditional ? "up to " : "", over ? "over 10^18" : grouped(x->arena, product),
		grouped(x->arena, limit));
	stb_diag_note(x->sink, d, "its axes: %s = %s", axes, over ? "over 10^18" : grouped(x->arena, product));
	stb_diag_help(x->sink, d, "leave values out, or allow it with --max-cells %s",
		over ? "N" : stb_arena_printf(x->arena,
		"%" PRIu64, product));
	return false;
}

/* --- one cell --- */

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

/* A volume with its class: the volume as the file system it has. */
static const struct stb_eblock *resolve_volume(struct stb_walk *w, struct stb_eblock *volume, uint32_t cell,
	const struct stb_eblock **storage)
{
	struct stb_eblock *s = volume ? follow(w, volume, "storage", STB_K_STORAGE, cell) : NULL;

	*storage = s;
	return s ? stb_effective_volume(w->x, volume, s) : volume;
}

static const struct stb_env *intern_env(struct stb_expansion *x, const struct used *used)
{
	struct stb_env *known;
	uint32_t len;

	x->n_key = 0;
	for (uint32_t i = 0; i < used->n; i++)
		stb_key_add(x, used->items[i]);
	stb_key_add(x, NULL); /* apart from the keys of find_env() */
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

/* All blocks of the cell but its workloads. chain may be NULL: then only what axes describe is followed. */
static const struct stb_env *find_env(struct stb_walk *w, const struct stb_chain *chain, uint32_t cell)
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

/* The settings of the cell's own axes and of the overrides that select it. */
static void gather_active(struct stb_walk *w)
{
	struct stb_xsettings *to = &w->active;

	to->n = 0;
	for (uint32_t i = 0; i < w->m->n_axes; i++) {
		if (w->point[i] == STB_NONE)
			continue;
		const struct stb_xsettings *from = &w->m->axes[i].values[w->point[i]].settings;

		for (uint32_t k = 0; k < from->n; k++) {
			STB_ARENA_GROW(w->x->arena, to->items, to->n, to->cap);
			to->items[to->n++] = from->items[k];
		}
	}
	for (uint32_t o = 0; o < w->m->n_overrides; o++) {
		struct stb_xoverride *over = &w->m->overrides[o];

		if (!stb_xselect_match(&over->where, w->m, w->point))
			continue;
		over->n_cells++;
		for (uint32_t k = 0; k < over->settings.n; k++) {
			STB_ARENA_GROW(w->x->arena, to->items, to->n, to->cap);
			to->items[to->n++] = over->settings.items[k];
		}
	}
}

static bool excluded(struct stb_walk *w)
{
	bool out = false;

	for (uint32_t i = 0; i < w->m->n_excludes; i++) {
		if (stb_xselect_match(&w->m->excludes[i].where, w->m, w->point)) {
			w->m->excludes[i].n_cells++;
			out = true;
		}
	}
	return out;
}

/* The same cells once more, of another run. */
static bool is_later_run(const struct stb_xmatrix *m, const struct stb_plan_cell *c)
{
	return m->run_axis != STB_NONE && c->point[m->run_axis];
}

/* Sixteen digits are what people see and type, so two cells of a matrix that share them are refused as well. */
static void note_id(struct stb_walk *w, uint32_t cell)
{
	struct stb_plan_cell *cells = w->x->planned;
	const uint32_t other = stb_plan_ids_put(&w->x->ids, cells, cell, 16);

	if (other == STB_NONE)
		return;
	if (!strcmp(cells[other].id, cells[cell].id))
		cells[cell].same_as = cells[other].same_as;
	if (cells[other].matrix != w->m->index || is_later_run(w->m, &cells[cell]))
		return;
	if (!w->n_same++) {
		w->same_a = is_later_run(w->m, &cells[other]) ? cells[other].same_as : other;
		w->same_b = cell;
	}
}

static void note_ids(struct stb_walk *w)
{
	const struct stb_plan_cell *cells = w->x->planned;

	for (uint32_t i = w->m->first_cell; i < w->x->n_cells; i++) {
		if (w->x->n_cells - i > STB_PLAN_IDS_AHEAD)
			stb_plan_ids_expect(&w->x->ids, &cells[i + STB_PLAN_IDS_AHEAD]);
		if (cells[i].id[0])
			note_id(w, i);
	}
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

static const struct stb_chain *find_chain(struct stb_walk *w, uint32_t cell)
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

static void resolve(struct stb_walk *w, uint32_t cell)
{
	const struct stb_chain *chain = find_chain(w, cell);
	const struct stb_env *env = find_env(w, chain, cell);

	for (uint32_t i = 0; i < w->active.n; i++) {
		struct stb_xsetting *s = w->active.items[i];

		if (s->seen != cell + 1 && !s->missed++)
			s->first_missed = cell;
	}
	w->x->cells[cell] = (struct stb_xcell){ chain ? chain->index : STB_NONE, env ? env->index : STB_NONE };
	if (chain && !w->n_lacks)
		stb_identity_cell(env, chain, w->x->planned[cell].id);
}

static void visit(struct stb_walk *w)
{
	struct stb_expansion *x = w->x;
	const uint32_t cell = x->n_cells;

	if (excluded(w))
		return;
	STB_ASSERT(cell < x->cap_cells);
	x->n_cells++;
	x->planned[cell] = (struct stb_plan_cell){ .matrix = w->m->index, .point = w->points, .same_as = cell };
	memcpy(w->points, w->point, w->m->n_axes * sizeof(*w->point));
	w->points += w->m->n_axes;
	w->m->n_cells++;
	gather_active(w);
	resolve(w, cell);
}

/* Room for all cells of the matrix: they are counted, because doubling would hold several copies. */
static void make_room(struct stb_walk *w)
{
	struct stb_walk count = { .x = w->x, .m = w->m, .counting = true, .limit = UINT64_MAX };
	struct stb_expansion *x = w->x;

	walk_axis(&count, 0);
	w->points = STB_NEW_ARRAY(x->plan_arena, uint32_t, count.n * w->m->n_axes);
	if (x->n_cells + count.n > x->cap_cells) {
		struct stb_plan_cell *planned = x->planned;
		struct stb_xcell *cells = x->cells;

		STB_ASSERT(count.n < UINT32_MAX / 4 && x->cap_cells < UINT32_MAX / 4);
		x->cap_cells = STB_MAX(x->n_cells + (uint32_t)count.n, x->cap_cells * 2);
		x->planned = STB_NEW_ARRAY(x->plan_arena, struct stb_plan_cell, x->cap_cells);
		x->cells = STB_NEW_ARRAY(x->arena, struct stb_xcell, x->cap_cells);
		if (x->n_cells) {
			memcpy(x->planned, planned, x->n_cells * sizeof(*planned));
			memcpy(x->cells, cells, x->n_cells * sizeof(*cells));
		}
	}
	stb_plan_ids_reserve(&x->ids, x->planned, x->n_cells + (uint32_t)count.n);
}

static bool only_io(const struct stb_model *model)
{
	for (uint32_t i = 0; i < model->n_blocks; i++) {
		if (model->blocks[i]->kind == STB_K_WORKLOAD && strcmp(model->blocks[i]->type->type, "io"))
			return false;
	}
	return true;
}

static bool list_has_others(const struct stb_xsettings *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i]->kind != STB_K_WORKLOAD)
			return true;
	}
	return false;
}

static bool only_loads(const struct stb_xmatrix *m)
{
	for (uint32_t i = 0; i < m->n_overrides; i++) {
		if (list_has_others(&m->overrides[i].settings))
			return false;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			if (list_has_others(&m->axes[i].values[v].settings))
				return false;
		}
	}
	return true;
}

static bool list_wants_cell(const struct stb_xsettings *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		for (uint32_t t = 0; t < list->items[i]->n_types; t++) {
			if (list->items[i]->made[t] && stb_wants_cell(list->items[i]->made[t]))
				return true;
		}
	}
	return false;
}

static bool wants_cell(const struct stb_model *model, const struct stb_xmatrix *m)
{
	for (uint32_t i = 0; i < model->n_blocks; i++) {
		for (uint32_t k = 0; k < model->blocks[i]->n_settings; k++) {
			if (stb_wants_cell(&model->blocks[i]->settings[k]))
				return true;
		}
	}
	for (uint32_t i = 0; i < m->n_overrides; i++) {
		if (list_wants_cell(&m->overrides[i].settings))
			return true;
	}
	for (uint32_t i = 0; i < m->n_axes; i++) {
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			if (list_wants_cell(&m->axes[i].values[v].settings))
				return true;
		}
	}
	return false;
}

static void expand_matrix(struct stb_expansion *x, const struct stb_block *block)
{
	struct stb_xmatrix *m = stb_xmatrix_read(x, block);
	struct stb_walk w = { .x = x, .m = m, .limit = UINT64_MAX };

	m->index = x->n_matrices;
	m->first_cell = x->n_cells;
	STB_ARENA_GROW(x->arena, x->matrices, x->n_matrices, x->cap_matrices);
	x->matrices[x->n_matrices++] = m;
	if (m->bad)
		return;
	if (!within_limit(x, m)) {
		m->bad = true;
		return;
	}
	stb_intern_init(&w.chains, x->arena);
	w.workload = stb_xmatrix_axis(m, "workload", m->n_axes);
	w.tail = stb_identity_tail(x->arena, m->fresh);
	w.tail_len = strlen(w.tail);
	w.only_io = only_io(x->m);
	w.only_loads = only_loads(m);
	w.by_cell = wants_cell(x->m, m);
	make_room(&w);
	w.n_errors_before = x->sink->n_errors;
	walk_axis(&w, 0);
	note_ids(&w);
	stb_walk_tell(&w);
	if (!m->n_cells)
		stb_diag(x->sink, STB_E0519, block->span,
			"no cell of matrix `%s` is left: its exclusions cover all of them", block->name);
	if (w.n_lacks)
		m->bad = true;
}

void stb_expand(struct stb_expansion *x)
{
	stb_plan_ids_init(&x->ids);
	stb_intern_init(&x->by_source, x->arena);
	stb_intern_init(&x->by_content, x->arena);
	stb_intern_init(&x->by_scope, x->arena);
	stb_intern_init(&x->by_env, x->arena);
	stb_intern_init(&x->texts, x->arena);
	stb_intern_init(&x->reported, x->arena);
	for (uint32_t i = 0; i < x->m->n_blocks; i++) {
		if (x->m->blocks[i]->kind == STB_K_MATRIX)
			expand_matrix(x, x->m->blocks[i]);
	}
	stb_plan_ids_fini(&x->ids);
}
