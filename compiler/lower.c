/*
 * lower.c - cells to the plan: blocks with every effective attribute, groups that share provisioning, cells, matrices,
 * and what it all needs.
 *
 * Everything is copied into the plan's arena; the compilation may end before the plan does. The order of things in the
 * plan is that of the spec, or sorted where the spec's order means nothing (blocks, secrets, params), never that of a
 * hash table.
 */
#include "compiler/expand.h"

#include <stdlib.h>
#include <string.h>

/* A block of the plan to be: an effective block, or the data set that a workload loads. */
struct entry {
	const char *kind, *type, *name;
	const char *content; /* what blocks of one name are sorted by */
	struct stb_eblock *block;
	bool dataset;
	uint32_t *index;     /* where its place is told */
};

struct entries {
	struct entry *items;
	uint32_t n, cap;
	struct stb_intern datasets; /* content -> uint32_t* */
};

/* What a group lays out in one file name, so that two workloads on one file are not counted twice. */
struct laid {
	struct laid *next;
	const char *file; /* of struct stb_lowered */
	uint64_t layout_bytes, file_bytes;
};

struct stb_lowered {
	const struct stb_eblock *client; /* of a mix, that of the first part with one */
	uint32_t *dataset; /* where its place in the plan is told; NULL: none */
	const char *load;  /* stb_identity_load(); equal texts are one text */
	const char *file;  /* so is this one: whether one file serves all jobs, its volume and its name */
	struct stb_cost cost;
	uint32_t mix;      /* its number in the plan; 0: none yet, or it is no mix */
};

const char *stb_lower_str(struct stb_lowering *l, const char *s)
{
	return s ? stb_arena_strdup(l->a, s) : NULL;
}

/* Depth is that of the value as the parser let it in. */
struct stb_val stb_lower_val(struct stb_lowering *l, const struct stb_val *v)
{
	struct stb_val out = *v;

	out.str = stb_lower_str(l, v->str);
	if (v->n_items) {
		out.items = STB_NEW_ARRAY(l->a, struct stb_val, v->n_items);
		for (uint32_t i = 0; i < v->n_items; i++)
			out.items[i] = stb_lower_val(l, &v->items[i]);
	}
	if (v->keys) {
		out.keys = STB_NEW_ARRAY(l->a, const char *, v->n_items);
		for (uint32_t i = 0; i < v->n_items; i++)
			out.keys[i] = stb_lower_str(l, v->keys[i]);
	}
	return out;
}

/* Equal texts of the compilation's arena to one of them. */
static const char *one_text(struct stb_lowering *l, const char *text)
{
	const uint32_t len = (uint32_t)strlen(text);
	char *known = stb_intern_get(&l->texts, text, len);

	if (known)
		return known;
	stb_intern_lend(&l->texts, text, len, (void *)text);
	return text;
}

static void add_text(struct stb_lowering *l, const char ***texts, uint32_t *n, uint32_t *cap, const char *text)
{
	for (uint32_t i = 0; i < *n; i++) {
		if (!strcmp((*texts)[i], text))
			return;
	}
	STB_ARENA_GROW(l->a, *texts, *n, *cap);
	(*texts)[(*n)++] = stb_lower_str(l, text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --- blocks --- */

static struct entry *add_entry(struct stb_lowering *l, struct entries *e)
{
	STB_ARENA_GROW(l->x->arena, e->items, e->n, e->cap);
	return &e->items[e->n++];
}

static void add_block(struct stb_lowering *l, struct entries *e, const struct stb_eblock *b)
{
	struct stb_eblock *block = (struct stb_eblock *)b; /* ours; only its number in the plan changes */
	struct entry *x;

	if (block->plan_block != STB_NONE)
		return;
	block->plan_block = 0;
	x = add_entry(l, e);
	*x = (struct entry){ .kind = stb_kind_name(b->block->kind), .type = b->block->type->type, .name = b->block->name,
		.content = b->content, .block = block, .index = &block->plan_block };
}

static const char *dataset_content(struct stb_lowering *l, const struct stb_eblock *w)
{
	const char *text = "";

	for (const char *const *name = stb_dataset_attrs(); *name; name++) {
		const struct stb_eattr *a = stb_eattr(w, *name);

		if (a && stb_dataset_has(w, *name))
			text = stb_arena_printf(l->x->arena, "%s %s=%s", text, *name,
				stb_val_text(l->x->arena, &a->val));
	}
	return text;
}

/* Where the number of the workload's data set will be told; NULL for io. */
static uint32_t *add_dataset(struct stb_lowering *l, struct entries *e, const struct stb_eblock *w)
{
	const char *content;
	struct entry *x;
	uint32_t *index;

	if (strcmp(w->block->type->type, "oltp"))
		return NULL;
	content = dataset_content(l, w);
	index = stb_intern_get(&e->datasets, content, (uint32_t)strlen(content));
	if (index)
		return index;
	index = STB_NEW(l->x->arena, uint32_t);
	stb_intern_put(&e->datasets, content, (uint32_t)strlen(content), index);
	x = add_entry(l, e);
	*x = (struct entry){ .kind = "dataset", .type = "", .name = "sbtest", .content = content, .block = (struct stb_eblock *)w,
		.dataset = true, .index = index };
	return index;
}

/* What a workload needs and takes, alone or in a mix. */
static void lower_costs(struct stb_lowering *l, struct stb_scope *s)
{
	const struct stb_eattr *name = stb_eattr(s->workload, "filename");

	if (s->lowered)
		return;
	s->lowered = STB_NEW(l->x->arena, struct stb_lowered);
	s->lowered->file = one_text(l, stb_arena_printf(l->x->arena, "%d %s %s", stb_io_one_file(s->workload), s->volume ? s->volume->block->name : "",
		name ? name->val.str : ""));
	stb_cost(s, &s->lowered->cost);
}

/* What is worked out once a scope, however many cells have it. */
static void lower_scope(struct stb_lowering *l, struct entries *e, struct stb_scope *s)
{
	lower_costs(l, s);
	if (s->lowered->load)
		return;
	for (uint32_t i = 0; i < s->n_parts; i++)
		lower_costs(l, (struct stb_scope *)s->parts[i]); /* ours */
	s->lowered->client = s->client;
	for (uint32_t i = 0; i < s->n_parts && !s->lowered->client; i++)
		s->lowered->client = s->parts[i]->client;
	s->lowered->dataset = add_dataset(l, e, s->workload);
	for (uint32_t i = 0; i < s->n_parts && !s->lowered->dataset; i++)
		s->lowered->dataset = add_dataset(l, e, s->parts[i]->workload);
	s->lowered->load = one_text(l, stb_identity_load(l->x->arena, s));
}

static int by_name_content(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);

	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->type, y->type);
	return order ? order : strcmp(x->content, y->content);
}

static void lower_attr(struct stb_lowering *l, const struct stb_eattr *from, struct stb_plan_attr *to)
{
	*to = (struct stb_plan_attr){
		.name = stb_lower_str(l, from->name),
		.val = stb_lower_val(l, &from->val),
		.ident = from->row->ident,
		.origin = from->origin,
		.is_default = from->is_default,
		.span = stb_lower_span(l, from->span),
	};
	if (from->val.type == STB_V_SECRET && from->val.str)
		add_text(l, &l->plan->secrets, &l->plan->n_secrets, &l->cap_secrets, from->val.str);
}

static void lower_block(struct stb_lowering *l, const struct entry *e, struct stb_plan_block *to)
{
	const struct stb_eblock *b = e->block;

	*to = (struct stb_plan_block){
		.kind = stb_lower_str(l, e->kind),
		.type = stb_lower_str(l, e->type),
		.name = stb_lower_str(l, e->name),
		.label = e->dataset ? NULL : stb_lower_str(l, b->block->label),
		.note = e->dataset ? NULL : stb_lower_str(l, b->block->note),
		.attrs = STB_NEW_ARRAY(l->a, struct stb_plan_attr, b->n_attrs),
		.span = stb_lower_span(l, b->block->span),
	};
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!e->dataset || stb_dataset_has(b, b->attrs[i].name))
			lower_attr(l, &b->attrs[i], &to->attrs[to->n_attrs++]);
	}
	if (!e->dataset)
		stb_lower_later(l, b, to);
}

/* The plan's blocks; tells each scope the place of its data set. */
static void lower_blocks(struct stb_lowering *l)
{
	struct stb_expansion *x = l->x;
	struct entries e = { 0 };

	stb_intern_init(&e.datasets, x->arena);
	for (uint32_t i = 0; i < x->n_envs; i++) {
		for (uint32_t k = 0; k < x->envs[i]->n_used; k++)
			add_block(l, &e, x->envs[i]->used[k]);
	}
	for (uint32_t i = 0; i < x->n_chains; i++) {
		for (uint32_t k = 0; k < x->chains[i]->n_loads; k++)
			add_block(l, &e, x->chains[i]->loads[k]);
		lower_scope(l, &e, x->chains[i]->scope);
	}
	if (e.n)
		qsort(e.items, e.n, sizeof(*e.items), by_name_content);
	l->plan->blocks = STB_NEW_ARRAY(l->a, struct stb_plan_block, e.n);
	l->plan->n_blocks = e.n;
	for (uint32_t i = 0; i < e.n; i++) {
		lower_block(l, &e.items[i], &l->plan->blocks[i]);
		*e.items[i].index = i;
	}
}

/* --- groups --- */

static const struct stb_scope *scope_of(const struct stb_lowering *l, uint32_t cell)
{
	return l->x->chains[l->x->cells[cell].chain]->scope;
}

bool stb_on_external_database(const struct stb_scope *s)
{
	return s->database && strcmp(s->database->block->type->type, "mysql");
}

static bool is_host(const struct stb_eblock *server)
{
	return server && !strcmp(server->block->type->type, "host");
}

/* Each replica has the same once more. */
static uint64_t on_all_servers(const struct stb_scope *s, uint64_t one)
{
	const uint64_t servers = 1 + (stb_on_external_database(s) || !s->database ? 0 : stb_eattr_u64(s->database, "replicas", 0));
	uint64_t bytes;

	return __builtin_mul_overflow(one, servers, &bytes) ? UINT64_MAX : bytes;
}

/* Each replica has a redo log and temporary files of its own; the binary log is the primary's. */
static uint64_t mount_bytes(const struct stb_scope *s, const char *role)
{
	const struct stb_cost *c = &s->lowered->cost;

	if (!strcmp(role, "binlog"))
		return c->binlog_bytes;
	if (!strcmp(role, "io")) /* of a mix: what its workloads lay out there comes on top */
		return 0;
	return on_all_servers(s, !strcmp(role, "redo") ? c->redo_bytes : c->tmp_bytes);
}

static void add_mount(struct stb_plan_group *g, const char *role, const struct stb_eblock *volume, const struct stb_eblock *storage)
{
	g->mounts[g->n_mounts++] = (struct stb_plan_mount){ .role = role, .volume = volume->plan_block, .storage = storage->plan_block };
}

static void lower_mounts(struct stb_lowering *l, const struct stb_scope *s, struct stb_plan_group *g)
{
	g->mounts = STB_NEW_ARRAY(l->a, struct stb_plan_mount, 1 + s->n_mounts);
	if (s->volume && !stb_on_external_database(s))
		add_mount(g, "data", s->volume, s->storage);
	for (uint32_t i = 0; i < s->n_mounts; i++) {
		add_mount(g, s->mounts[i].role, s->mounts[i].volume, s->mounts[i].storage);
		g->mounts[g->n_mounts - 1].space_bytes = mount_bytes(s, s->mounts[i].role);
	}
}

/* --- what a run needs beside time and space --- */

static void needs(struct stb_lowering *l, const char *text)
{
	add_text(l, &l->plan->privileges, &l->plan->n_privileges, &l->cap_privileges, text);
}

static const char *class_text(struct stb_lowering *l, const struct stb_eblock *storage)
{
	return stb_arena_printf(l->a, "storage %s", storage->block->name);
}

static void add_class_privileges(struct stb_lowering *l, const struct stb_eblock *volume, const struct stb_eblock *storage)
{
	static const struct {
		const char *type, *what;
	} devices[] = {
		{ "loop", "a loop device" }, { "device", "an existing device" }, { "lvm", "a logical volume" }, { "pmem", "persistent memory" },
		{ "zram", "a zram device" },
	};
	const char *type = storage->block->type->type, *class = class_text(l, storage);
	const struct stb_eattr *size = stb_eattr(volume, "size") ? stb_eattr(volume, "size") : stb_eattr(storage, "size");
	const struct stb_eattr *fs = stb_eattr(volume, "filesystem");
	bool limited = false;

	for (uint32_t i = 0; i < storage->n_attrs; i++)
		limited = limited || !strncmp(storage->attrs[i].name, "limits.", 7);
	if (!strcmp(type, "tmpfs"))
		needs(l, stb_arena_printf(l->a, "root: mounts a tmpfs of %s (%s)", size ? stb_val_label(l->a, &size->val) : "?", class));
	if (!strcmp(type, "kubernetes"))
		needs(l, stb_arena_printf(l->a, "a Kubernetes cluster: makes claims and pods in it (%s)", class));
	for (size_t i = 0; i < STB_LEN(devices); i++) {
		if (strcmp(type, devices[i].type))
			continue;
		if (fs && strcmp(fs->val.str, "none"))
			needs(l, stb_arena_printf(l->a, "root: mounts %s on %s (%s)", fs->val.str, devices[i].what, class));
		else if (i == 0)
			needs(l, stb_arena_printf(l->a, "root: attaches a loop device (%s)", class));
		else
			needs(l, stb_arena_printf(l->a, "root: writes to %s (%s)", devices[i].what, class));
	}
	if (limited && strcmp(type, "external"))
		needs(l, stb_arena_printf(l->a, "root: throttles a device through a cgroup (%s)", class));
}

/* "by-id nvme-X", "namespace0.0": existing devices by what they are called in the spec. */
static const char *device_text(struct stb_lowering *l, const struct stb_eblock *storage)
{
	const struct stb_eattr *serial = stb_eattr(storage, "serial"), *by_id = stb_eattr(storage, "by_id"),
		*namespace = stb_eattr(storage, "namespace"), *devices = stb_eattr(storage, "devices");
	const char *text = "";

	if (serial)
		return stb_arena_printf(l->a, "serial %s", serial->val.str);
	if (by_id)
		return stb_arena_printf(l->a, "by-id %s", by_id->val.str);
	if (namespace)
		return namespace->val.str;
	for (uint32_t i = 0; devices && i < devices->val.n_items; i++)
		text = stb_arena_printf(l->a, "%s%s%s", text, i ? ", " : "by-id ", devices->val.items[i].str);
	return text;
}

static void add_devices(struct stb_lowering *l, const struct stb_eblock *storage)
{
	if (!stb_is_existing_device(storage))
		return;
	add_text(l, &l->plan->devices, &l->plan->n_devices, &l->cap_devices, stb_arena_printf(l->a, "%s: %s (%s)", device_text(l, storage),
		stb_eattr(storage, "erase") ? "overwritten, with consent" : "no consent to overwrite", class_text(l, storage)));
}

static void add_server_privileges(struct stb_lowering *l, const struct stb_eblock *server)
{
	if (is_host(server) && (stb_eattr(server, "cpus") || stb_eattr(server, "memory") || stb_eattr(server, "pin")))
		needs(l, stb_arena_printf(l->a, "root or a delegated cgroup: holds work to its CPUs and memory (server %s)", server->block->name));
}

/* Also of what this version does not carry out; not of what is described. */
static void add_privileges(struct stb_lowering *l, const struct stb_scope *s)
{
	if (!stb_on_external_database(s)) {
		add_class_privileges(l, s->volume, s->storage);
		add_devices(l, s->storage);
	}
	for (uint32_t i = 0; i < s->n_mounts; i++) {
		add_class_privileges(l, s->mounts[i].volume, s->mounts[i].storage);
		add_devices(l, s->mounts[i].storage);
	}
	if (!stb_on_external_database(s) || s->n_mounts) /* where the I/O workers of a mix run */
		add_server_privileges(l, s->server);
	add_server_privileges(l, s->client);
}

static uint64_t sum3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || __builtin_add_overflow(sum, c, &sum) ? UINT64_MAX : sum;
}

static void add_fills(const struct stb_scope *s, struct stb_plan_group *g)
{
	for (uint32_t i = 0; i < s->n_fills; i++) {
		const uint32_t fill = s->fills[i]->workload->plan_block;
		bool there = false;

		for (uint32_t k = 0; k < g->n_fills && !there; k++)
			there = g->fills[k] == fill;
		if (!there)
			g->fills[g->n_fills++] = fill;
	}
}

/* Of a mix, those of its workloads; what fills for two of them fills once. */
static void lower_fills(struct stb_lowering *l, const struct stb_scope *s, struct stb_plan_group *g)
{
	uint32_t n = s->n_fills;

	for (uint32_t i = 0; i < s->n_parts; i++)
		n += s->parts[i]->n_fills;
	g->fills = STB_NEW_ARRAY(l->a, uint32_t, n);
	add_fills(s, g);
	for (uint32_t i = 0; i < s->n_parts; i++)
		add_fills(s->parts[i], g);
}

/* A group with what all its cells share; files come on top (add_costs). */
static void new_group(struct stb_lowering *l, const struct stb_scope *s, const char *id)
{
	const struct stb_cost cost = s->lowered->cost;
	const uint64_t bytes = on_all_servers(s, sum3(cost.mkfs_bytes, cost.dataset_bytes, cost.server_bytes));
	struct stb_plan_group *g;

	STB_ARENA_GROW(l->a, l->plan->groups, l->plan->n_groups, l->cap_groups);
	g = &l->plan->groups[l->plan->n_groups++];
	*g = (struct stb_plan_group){
		.server = s->server ? s->server->plan_block : STB_NONE,
		.database = s->database ? s->database->plan_block : STB_NONE,
		.dataset = s->lowered->dataset ? *s->lowered->dataset : STB_NONE,
		.load_bytes = bytes,
		.space_bytes = bytes,
		.copy_bytes = on_all_servers(s, cost.copy_bytes),
		.restore_ns = cost.restore_ns,
		.not_run_block = STB_NONE,
	};
	memcpy(g->id, id, STB_HASH_HEX);
	lower_fills(l, s, g);
	stb_lower_group_later(l, s, g);
	lower_mounts(l, s, g);
	add_privileges(l, s);
}

static void raise_to(uint64_t *sum, uint64_t *was, uint64_t now)
{
	if (now > *was) {
		if (__builtin_add_overflow(*sum, now - *was, sum))
			*sum = UINT64_MAX;
		*was = now;
	}
}

/* Where the space of a file counts beside the group's: the volume of an io workload of a mix. */
static uint64_t *io_bytes_of(const struct stb_scope *s, struct stb_plan_group *g)
{
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		if (!strcmp(g->mounts[i].role, "io") && s->volume && g->mounts[i].volume == s->volume->plan_block)
			return &g->mounts[i].space_bytes;
	}
	return NULL;
}

/* Adds what a workload lays out in its volume. */
static void add_costs(struct stb_lowering *l, struct laid **laid, const struct stb_scope *scope, struct stb_plan_group *g)
{
	const struct stb_lowered *s = scope->lowered;
	uint64_t *beside = io_bytes_of(scope, g);

	g->provision_ns = STB_MAX(g->provision_ns, s->cost.provision_ns);
	if (scope->n_parts) {
		for (uint32_t i = 0; i < scope->n_parts; i++)
			add_costs(l, laid, scope->parts[i], g);
		return;
	}
	while (*laid && (*laid)->file != s->file)
		laid = &(*laid)->next;
	if (!*laid) {
		*laid = STB_NEW(l->x->arena, struct laid);
		(*laid)->file = s->file;
	}
	raise_to(&g->load_bytes, &(*laid)->layout_bytes, s->cost.layout_bytes);
	raise_to(beside ? beside : &g->space_bytes, &(*laid)->file_bytes, s->cost.file_bytes);
}

struct grouping {
	struct stb_intern by_cause; /* env and load -> group + 1 */
	struct stb_intern by_id;    /* -> group + 1 */
	struct laid **laid;         /* per group */
	uint32_t n_laid, cap_laid;
};

static uint32_t find_group(struct stb_lowering *l, struct grouping *gs, const struct stb_scope *s, const struct stb_env *env)
{
	const void *cause[2] = { env, s->lowered->load };
	uintptr_t known = (uintptr_t)stb_intern_get(&gs->by_cause, cause, sizeof(cause));
	char id[STB_HASH_HEX];

	if (known)
		return (uint32_t)known - 1;
	stb_identity_group(env, s->lowered->load, id);
	known = (uintptr_t)stb_intern_get(&gs->by_id, id, STB_HASH_HEX);
	if (!known) {
		new_group(l, s, id);
		STB_ARENA_GROW(l->x->arena, gs->laid, gs->n_laid, gs->cap_laid);
		gs->laid[gs->n_laid++] = NULL;
		known = l->plan->n_groups;
		stb_intern_put(&gs->by_id, id, STB_HASH_HEX, (void *)known); /* a number, not an address */
	}
	stb_intern_put(&gs->by_cause, cause, sizeof(cause), (void *)known);
	return (uint32_t)known - 1;
}

/* The mix of a scope: the same for all its cells. */
static uint32_t lower_mix(struct stb_lowering *l, const struct stb_scope *s)
{
	struct stb_plan_mix mix = { .n = s->n_parts };

	if (!s->n_parts || s->lowered->mix)
		return s->lowered->mix;
	for (uint32_t i = 0; i < s->n_parts; i++)
		mix.members[i] = s->parts[i]->workload->plan_block;
	return s->lowered->mix = stb_plan_add_mix(l->plan, &mix);
}

/* Completes the cells, and makes their groups. */
static void lower_cells(struct stb_lowering *l)
{
	struct grouping gs = { .laid = NULL };
	struct stb_plan *p = l->plan;

	stb_intern_init(&gs.by_cause, l->x->arena);
	stb_intern_init(&gs.by_id, l->x->arena);
	p->n_cells = l->x->n_cells;
	p->cells = l->x->planned;
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct stb_scope *s = scope_of(l, i);
		struct stb_plan_cell *to = &p->cells[i];

		to->group = find_group(l, &gs, s, l->x->envs[l->x->cells[i].env]);
		add_costs(l, &gs.laid[to->group], s, &p->groups[to->group]);
		to->workload = s->workload->plan_block;
		to->mix = lower_mix(l, s);
		to->server = s->server ? s->server->plan_block : STB_NONE;
		to->client = s->lowered->client ? s->lowered->client->plan_block : STB_NONE;
		to->pin = s->pin ? s->pin->plan_block : STB_NONE;
		to->client_pin = s->client_pin ? s->client_pin->plan_block : STB_NONE;
		to->measure_ns = s->lowered->cost.measure_ns;
		to->write_bytes = s->lowered->cost.write_bytes;
	}
}

/* Under fresh = once two groups cannot both have a device to themselves. */
static void check_devices(struct stb_lowering *l, const struct stb_xmatrix *m)
{
	struct stb_intern owners; /* device -> group + 1 */
	bool told = false;

	stb_intern_init(&owners, l->x->arena);
	for (uint32_t i = 0; m->fresh == STB_FRESH_ONCE && i < m->n_cells && !told; i++) {
		const struct stb_scope *s = scope_of(l, m->first_cell + i);
		const uint32_t group = l->plan->cells[m->first_cell + i].group;

		for (uint32_t k = stb_on_external_database(s) || !s->storage ? 1 : 0; k <= s->n_mounts && !told; k++) {
			const struct stb_eblock *storage = k ? s->mounts[k - 1].storage : s->storage;
			const char *device = stb_device_of(storage);
			struct stb_diag *d;
			uintptr_t other;

			if (!device)
				continue;
			other = (uintptr_t)stb_intern_get(&owners, device, (uint32_t)strlen(device));
			if (!other)
				stb_intern_put(&owners, device, (uint32_t)strlen(device), (void *)((uintptr_t)group + 1)); /* a number, not an address */
			if (!other || other == (uintptr_t)group + 1)
				continue;
			d = stb_diag(l->x->sink, STB_E0456, m->block->span, "two groups of matrix `%s` want device `%s` at the same time", m->block->name,
				device);
			stb_diag_label(l->x->sink, d, storage->block->span, "the device");
			stb_diag_note(l->x->sink, d, "fresh = once keeps every group's volumes side by side");
			stb_diag_help(l->x->sink, d, "set fresh = group, or give each a device of its own");
			told = true;
		}
	}
}

/* fresh = once keeps all groups of a matrix side by side: together they have to fit in their class. */
static void check_once(struct stb_lowering *l, const struct stb_xmatrix *m)
{
	uint64_t *sums = STB_NEW_ARRAY(l->x->arena, uint64_t, l->plan->n_blocks + 1);
	uint8_t *seen = STB_NEW_ARRAY(l->x->arena, uint8_t, l->plan->n_groups + 1);

	for (uint32_t i = 0; m->fresh == STB_FRESH_ONCE && i < m->n_cells; i++) {
		const struct stb_scope *s = scope_of(l, m->first_cell + i);
		const uint32_t group = l->plan->cells[m->first_cell + i].group;
		const struct stb_plan_group *g = &l->plan->groups[group];
		const struct stb_eattr *size;
		uint64_t *sum, before;
		struct stb_diag *d;

		if (seen[group]++)
			continue;
		size = g->n_mounts && !stb_on_external_database(s) ? stb_eattr(s->storage, "size") : NULL;
		if (!size || g->not_run)
			continue;
		sum = &sums[s->storage->plan_block];
		before = *sum;
		if (__builtin_add_overflow(*sum, g->space_bytes, sum))
			*sum = UINT64_MAX;
		if (*sum <= (uint64_t)size->val.num || before > (uint64_t)size->val.num || !before)
			continue;
		d = stb_diag(l->x->sink, STB_E0523, size->span,
			"the volumes of matrix `%s` need %s or more of storage `%s` at once", m->block->name,
			stb_bytes_text(l->x->arena, *sum), s->storage->block->name);
		stb_diag_label(l->x->sink, d, m->block->span, "fresh = once keeps every group's side by side");
		stb_diag_help(l->x->sink, d, "set fresh = group, or raise the size");
	}
}

/* --- the whole --- */

static const char *suite_text(struct stb_lowering *l, const struct stb_block *suite, const char *attr)
{
	const struct stb_setting *s = stb_block_setting(suite, attr);

	return s ? stb_lower_str(l, s->val.str) : NULL;
}

static void lower_head(struct stb_lowering *l)
{
	const struct stb_model *m = l->x->m;
	struct stb_plan *p = l->plan;

	for (uint32_t i = 0; i < m->n_blocks; i++) {
		const struct stb_block *b = m->blocks[i];

		if (b->kind != STB_K_SUITE)
			continue;
		p->suite = stb_lower_str(l, b->name);
		p->title = suite_text(l, b, "title");
		p->description = suite_text(l, b, "description");
		p->source = suite_text(l, b, "source");
		p->licence = suite_text(l, b, "licence");
	}
	p->profile = stb_lower_str(l, m->profile);
	p->params = STB_NEW_ARRAY(l->a, const char *, m->options->n_set);
	for (uint32_t i = 0; i < m->options->n_set; i++)
		p->params[p->n_params++] = stb_lower_str(l, m->options->set[i]);
	if (p->n_params)
		qsort(p->params, p->n_params, sizeof(*p->params), by_text);
	/* The spec itself is the first file, whatever is referred to. */
	(void)stb_lower_span(l, (struct stb_span){ m->top_file, 0, 0 });
}

struct stb_plan *stb_expand_and_lower(struct stb_model *m)
{
	struct stb_expansion x = { .m = m, .arena = &m->c->arena, .sink = &m->c->sink };
	struct stb_lowering l = { .x = &x };
	uint32_t n_notes, n_offers = 0;
	const char **notes, **offers;
	struct stb_err err = { 0 };

	l.plan = stb_plan_new();
	l.a = x.plan_arena = &l.plan->arena;
	stb_expand(&x);
	stb_rules_run(&x, &notes, &n_notes);
	stb_intern_init(&l.spans, x.arena);
	stb_intern_init(&l.files, x.arena);
	stb_intern_init(&l.texts, x.arena);
	lower_head(&l);
	stb_lower_reports(&l);
	if (x.sink->n_errors)
		goto fail;
	lower_blocks(&l);
	lower_cells(&l);
	stb_lower_matrices(&l);
	for (uint32_t i = 0; i < x.n_matrices; i++) {
		check_once(&l, x.matrices[i]);
		check_devices(&l, x.matrices[i]);
	}
	if (x.sink->n_errors)
		goto fail;
	offers = STB_NEW_ARRAY(x.arena, const char *, 2 * (size_t)x.n_matrices + 1);
	stb_lower_copies(&l, offers, &n_offers);
	stb_lower_offers(&l, offers, &n_offers);
	for (uint32_t i = 0; i < n_notes; i++)
		add_text(&l, &l.plan->notes, &l.plan->n_notes, &l.cap_notes, notes[i]);
	for (uint32_t i = 0; i < n_offers; i++)
		add_text(&l, &l.plan->notes, &l.plan->n_notes, &l.cap_notes, offers[i]);
	if (l.plan->n_secrets)
		qsort(l.plan->secrets, l.plan->n_secrets, sizeof(*l.plan->secrets), by_text);
	if (!stb_plan_verify(l.plan, &err))
		return l.plan;
	stb_diag(x.sink, STB_E0526, STB_NO_SPAN, "%s", err.what);
fail:
	stb_plan_free(l.plan);
	return NULL;
}
