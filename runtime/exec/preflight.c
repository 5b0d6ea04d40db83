/*
 * preflight.c - everything that can be refused is refused here, before anything is touched: one message, what to do, exit 3.
 *
 * Needs are told one by one to a callback (needs.h): that of `run` keeps the first that is lacking, that of `doctor` prints each.
 *
 * The space of groups that live at the same time on one file system is summed by walking the steps: what a group needs counts from its
 * provisioning to its removal. Loop images are sparse, so they count as what will be written into them.
 */
#include "runtime/base/affinity.h"
#include "runtime/base/process.h"
#include "runtime/exec/demand.h"
#include "runtime/exec/message.h"
#include "runtime/exec/needs.h"
#include "runtime/exec/tables.h"
#include "runtime/io/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct needs {
	struct stb_run *run;
	bool connect;
	stb_need_fn *fn;
	void *ctx;
	const char *prefix, *binary; /* the server found last, for which version; asking one takes a process each */
	struct stb_server_options *options; /* that it knows; NULL: it does not say */
	bool *lacking; /* [n_blocks] databases external that are told of as such */
};

/* Hands a need on; the error is used up. */
static int tell(struct needs *n, const char *what, const char *need, const char *have, struct stb_err *err)
{
	const struct stb_need one = { .what = what, .need = need, .have = err->set ? NULL : have, .asked = true, .err = err };
	const int rc = n->fn(n->ctx, &one);

	stb_err_clear(err);
	return rc;
}

static const char *named(struct needs *n, const struct stb_plan_block *b)
{
	return stb_arena_printf(&n->run->arena, "%s %s", b->kind, b->name);
}

static void asked_at(struct stb_err *err, uint32_t span)
{
	if (!err->span && span != STB_NONE)
		err->span = span + 1;
}

/* The directory in which the run directory will be made. */
static const char *parent_of(const struct stb_run *run)
{
	const char *slash = strrchr(run->dir, '/');

	return slash == run->dir ? "/" : stb_arena_strndup((struct stb_arena *)&run->arena, run->dir, (size_t)(slash - run->dir));
}

/* Where a storage class takes its space from; NULL where that is not a directory (tmpfs takes memory). */
static const char *place_of(const struct stb_run *run, const struct stb_plan_block *storage)
{
	const struct stb_plan_attr *path = stb_plan_attr(storage, "path");

	if (path && path->val.str)
		return path->val.str;
	return strcmp(storage->type, "loop") ? NULL : parent_of(run);
}

static int need_matrices(struct needs *n, const bool *matrices)
{
	const struct stb_plan *p = n->run->plan;
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	for (uint32_t i = 0; i < p->n_matrices && !rc; i++) {
		const struct stb_plan_matrix *m = &p->matrices[i];

		if (!matrices[i] || !m->not_run)
			continue;
		stb_err_set(&err, 0, "matrix `%s` cannot be run: %s", m->name, m->not_run);
		stb_err_remedy(&err, "run it with a profile that says matrix %s { schedule = none }, or run another matrix with --only",
			m->name);
		asked_at(&err, m->not_run_span != STB_NONE ? m->not_run_span : m->span);
		rc = tell(n, stb_arena_printf(&n->run->arena, "matrix %s", m->name), "to be carried out by this version", NULL, &err);
	}
	return rc;
}

static int check_directory(const struct stb_run *run, struct stb_err *err)
{
	const char *parent = parent_of(run);
	struct stat st;

	if (run->resumed)
		return 0;
	if (!run->o->dir_may_change && !lstat(run->dir, &st))
		return stb_record_refuse_taken(run, err);
	if (stat(parent, &st)) {
		stb_err_set(err, errno, "the run directory `%s` cannot be made", run->dir);
		stb_err_remedy(err, "make `%s` first, or name another place with -o", parent);
		return -1;
	}
	if (!S_ISDIR(st.st_mode) || access(parent, W_OK | X_OK)) {
		stb_err_set(err, S_ISDIR(st.st_mode) ? errno : ENOTDIR, "the run directory `%s` cannot be made in `%s`", run->dir, parent);
		stb_err_remedy(err, "name a place that you can write to with -o");
		return -1;
	}
	return 0;
}

/* What the spec may say and this version checks and plans, but does not carry out. */
static int check_block(const struct stb_plan_block *b, struct stb_err *err)
{
	const struct stb_plan_attr *a = b->not_run_attr ? stb_plan_attr(b, b->not_run_attr) : NULL;

	if (!b->not_run)
		return 0;
	stb_err_set(err, 0, "%s%s%s `%s` cannot be run: %s", b->kind, *b->type ? " " : "", b->type, b->name, b->not_run);
	if (b->not_run_change)
		stb_err_remedy(err, "%s (in a profile: NAME = none, or another value), or leave its cells out with --only", b->not_run_change);
	else
		stb_err_remedy(err, "lay a profile over the spec that replaces it (--profile), or leave its cells out with --only");
	asked_at(err, a && a->span != STB_NONE ? a->span : b->span);
	return -1;
}

static int refuse_group(const struct stb_plan *p, const struct stb_plan_group *g, struct stb_err *err)
{
	const struct stb_plan_block *b = g->not_run_block == STB_NONE ? NULL : &p->blocks[g->not_run_block];

	if (b && b->not_run)
		return check_block(b, err);
	stb_err_set(err, 0, "this cannot be run here: %s", g->not_run);
	stb_err_remedy(err, "lay a profile over the spec that replaces it (--profile), or leave its cells out with --only");
	asked_at(err, b ? b->span : STB_NONE);
	return -1;
}

static int need_external(struct needs *n, const struct stb_plan_block *db)
{
	const struct stb_need unasked = { .what = named(n, db), .need = "a server that answers, with the version and options of the spec" };
	struct stb_db_address addr;
	struct stb_err err;

	if (!n->connect)
		return n->fn(n->ctx, &unasked);
	stb_err_clear(&err);
	memset(&addr, 0, sizeof addr);
	if (stb_db_external_address(db, &n->run->arena, &addr, &err) || stb_db_external_assert(db, &addr, &err))
		asked_at(&err, db->span);
	n->lacking[db - n->run->plan->blocks] = err.set;
	return tell(n, unasked.what, unasked.need, "it answers", &err);
}

/* "/usr/sbin/mariadbd, 10.11.6": NULL where there is none. */
static const char *server_words(struct needs *n, const struct stb_plan_block *db, const char *prefix)
{
	const char *path, *version;
	struct stb_err err;

	if (n->binary && !strcmp(n->prefix, prefix))
		return n->binary;
	stb_err_clear(&err);
	if (stb_mysqld_binary(db, &n->run->arena, &path, &version, &err))
		return NULL;
	stb_server_options_free(n->options);
	n->options = stb_server_options_ask(path);
	n->prefix = prefix;
	n->binary = stb_arena_printf(&n->run->arena, "%s, %s", path, version);
	return n->binary;
}

static int need_server(struct needs *n, const struct stb_plan_block *db)
{
	const struct stb_plan_attr *version = stb_plan_attr(db, "version");
	const char *prefix = version && version->val.str ? version->val.str : "";
	const char *words = NULL;
	struct stb_err err;
	int rc;

	stb_err_clear(&err);
	if (stb_mysqld_preflight(db, &err))
		asked_at(&err, db->span);
	else
		words = server_words(n, db, prefix);
	rc = tell(n, named(n, db), *prefix ? stb_arena_printf(&n->run->arena, "mariadbd or mysqld %s", prefix) : "mariadbd or mysqld", words, &err);
	if (rc || !words || !n->options)
		return rc;
	if (stb_server_options_check(n->options, db, words, &err))
		asked_at(&err, db->span);
	return tell(n, named(n, db), "options that the server knows", "yes", &err);
}

static int need_cpus(struct needs *n, const struct stb_plan_block *server)
{
	const struct stb_plan_attr *cpus = stb_plan_attr(server, "cpus");
	const uint32_t have = stb_affinity_count();
	struct stb_err err;

	if (strcmp(server->type, "host") || !cpus || cpus->val.type != STB_V_COUNT || !have)
		return 0;
	stb_err_clear(&err);
	if (stb_val_double(&cpus->val) > have) {
		stb_err_set(&err, 0, "server `%s` asks for more CPUs than this process may use, which are %u", server->name, have);
		stb_err_remedy(&err, "lay a profile over the spec with fewer cpus (--profile), or run it on a larger machine");
		asked_at(&err, cpus->span != STB_NONE ? cpus->span : server->span);
	}
	return tell(n, named(n, server), stb_arena_printf(&n->run->arena, "%.0f CPUs", stb_val_double(&cpus->val)),
		stb_arena_printf(&n->run->arena, "%u", have), &err);
}

/* On all volumes of a mount. */
static uint64_t space_of(const struct stb_plan_group *g, const struct stb_plan_mount *m)
{
	return strcmp(m->role, "data") ? m->space_bytes : g->space_bytes;
}

/* On one of them: each replica has its own. */
static uint64_t space_of_one(const struct stb_plan *p, const struct stb_plan_group *g, const struct stb_plan_mount *m)
{
	bool semi_sync;

	if (!strcmp(m->role, "io")) /* of a mix: the server has none of it */
		return m->space_bytes;
	return space_of(g, m) / (1 + (g->database == STB_NONE ? 0 : stb_replication_of(&p->blocks[g->database], &semi_sync)));
}

static int need_volume(struct needs *n, const struct stb_plan_group *g, const struct stb_plan_mount *m)
{
	struct stb_run *run = n->run;
	const struct stb_plan_block *storage = &run->plan->blocks[m->storage];
	/* the run directory is not there yet: what would lie in it is looked for beside it */
	const struct stb_storage_env env = { run->plan, parent_of(run), run->mark, run, stb_record_leftover };
	const char *place = place_of(run, storage);
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	if (g->database != STB_NONE && place) {
		if (stb_mysqld_check_dir(place, &err))
			asked_at(&err, storage->span);
		rc = tell(n, named(n, storage), "a directory that the server's user can reach", place, &err);
	}
	for (int need = 0; need < STB_N_VOLUME_NEEDS && !rc; need++) {
		const char *words = stb_volume_check(&env, m, space_of_one(run->plan, g, m), (enum stb_volume_need)need, &run->arena,
			&err);

		if (err.set)
			asked_at(&err, storage->span);
		if (words || err.set)
			rc = tell(n, named(n, storage), words ? words : "a volume", "yes", &err);
	}
	return rc;
}

static int need_group(struct needs *n, uint32_t group)
{
	const struct stb_plan *p = n->run->plan;
	const struct stb_plan_group *g = &p->groups[group];
	const struct stb_plan_block *db = g->database == STB_NONE ? NULL : &p->blocks[g->database];
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	if (g->not_run) {
		(void)!refuse_group(p, g, &err);
		return tell(n, g->not_run_block != STB_NONE ? named(n, &p->blocks[g->not_run_block]) : "cells", "to be carried out by this version",
			NULL, &err);
	}
	if (g->server != STB_NONE)
		rc = need_cpus(n, &p->blocks[g->server]);
	if (!rc && db)
		rc = strcmp(db->type, "external") ? need_server(n, db) : need_external(n, db);
	for (uint32_t i = 0; i < g->n_mounts && !rc; i++)
		rc = need_volume(n, g, &g->mounts[i]);
	return rc;
}

static int check_workload(const struct stb_plan_block *w, struct stb_err *err)
{
	if (check_block(w, err))
		return -1;
	if (strcmp(w->type, "io") && strcmp(w->type, "oltp")) {
		stb_err_set(err, 0, "workload `%s` cannot be run: this version of stb runs no workload %s", w->name, w->type);
		asked_at(err, w->span);
		return -1;
	}
	if (!strcmp(w->type, "io") ? stb_io_preflight(w, err) : stb_oltp_preflight(w, err)) {
		asked_at(err, w->span);
		return -1;
	}
	return 0;
}

/* "ioengine io_uring, iodepth 16, numjobs 4": what an engine is asked for. */
static const char *workload_words(struct needs *n, const struct stb_plan_block *w)
{
	static const char *const names[] = { "ioengine", "iodepth", "numjobs", "threads" };
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	for (size_t i = 0; i < STB_LEN(names); i++) {
		const struct stb_plan_attr *a = stb_plan_attr(w, names[i]);

		if (!a || a->val.type == STB_V_NONE)
			continue;
		stb_buf_printf(&b, "%s%s ", b.len ? ", " : "", names[i]);
		stb_val_print(&b, &a->val);
	}
	text = stb_arena_strdup(&n->run->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static int need_workload(struct needs *n, const struct stb_plan_block *w)
{
	struct stb_err err;

	stb_err_clear(&err);
	(void)!check_workload(w, &err);
	return tell(n, named(n, w), workload_words(n, w), "usable", &err);
}

/* --- space ----------------------------------------------------------------------------------------------------------------------------- */

struct filesystem {
	dev_t dev;
	const char *path;
	uint64_t free_bytes, now_bytes, peak_bytes;
	uint32_t n_now, n_peak;    /* groups with their data on it */
	const char *storage;       /* a class that lies there */
	uint32_t span;
};

struct space {
	struct filesystem *fs;
	size_t n, cap;
};

static struct filesystem *filesystem_of(struct stb_run *run, struct space *s, const struct stb_plan_mount *m)
{
	const struct stb_plan_block *storage = &run->plan->blocks[m->storage];
	const char *path = place_of(run, storage);
	struct statvfs vfs;
	struct stat st;

	if (!path || stat(path, &st) || statvfs(path, &vfs))
		return NULL; /* the volume's own preflight has said so */
	for (size_t i = 0; i < s->n; i++)
		if (s->fs[i].dev == st.st_dev)
			return &s->fs[i];
	STB_GROW(s->fs, s->n, s->cap);
	s->fs[s->n] = (struct filesystem){ .dev = st.st_dev, .path = path, .storage = storage->name, .span = storage->span };
	/* ramfs and others that know no size say 0 of 0 */
	s->fs[s->n].free_bytes = vfs.f_blocks ? (uint64_t)vfs.f_bavail * vfs.f_frsize : UINT64_MAX;
	return &s->fs[s->n++];
}

static void account(struct stb_run *run, struct space *s, uint32_t group, bool takes)
{
	const struct stb_plan_group *g = &run->plan->groups[group];

	for (uint32_t i = 0; i < g->n_mounts; i++) {
		struct filesystem *fs = filesystem_of(run, s, &g->mounts[i]);
		const uint64_t bytes = space_of(g, &g->mounts[i]);

		if (!fs || !bytes)
			continue;
		fs->now_bytes += takes ? bytes : -bytes;
		if (!strcmp(g->mounts[i].role, "data"))
			fs->n_now += takes ? 1 : -1u;
		if (fs->now_bytes > fs->peak_bytes) {
			fs->peak_bytes = fs->now_bytes;
			fs->n_peak = fs->n_now;
		}
	}
}

static int need_space(struct needs *n, const struct filesystem *fs)
{
	struct stb_buf need, have;
	struct stb_err err;
	int rc;

	stb_err_clear(&err);
	stb_buf_init(&need);
	stb_buf_init(&have);
	stb_text_bytes(&need, fs->peak_bytes);
	if (fs->free_bytes == UINT64_MAX)
		stb_buf_adds(&have, "as much as there is memory");
	else
		stb_text_bytes(&have, fs->free_bytes);
	if (fs->peak_bytes > fs->free_bytes) {
		stb_err_set(&err, 0, "not enough space on `%s` (storage %s): need %s%s, have %s", fs->path, fs->storage, stb_buf_str(&need),
			fs->n_peak > 1 ? " for what lives there at the same time" : "", stb_buf_str(&have));
		stb_err_remedy(&err, fs->n_peak > 1 ? "free space there, give smaller sizes, name another path, or say fresh = group"
						    : "free space there, give smaller sizes or name another path");
		asked_at(&err, fs->span);
	}
	rc = tell(n, stb_arena_printf(&n->run->arena, "space on %s", fs->path), stb_arena_printf(&n->run->arena, "%s free at once",
		stb_buf_str(&need)), stb_buf_str(&have), &err);
	stb_buf_fini(&have);
	stb_buf_fini(&need);
	return rc;
}

static int need_spaces(struct needs *n)
{
	struct stb_run *run = n->run;
	struct stb_remaining *it = stb_remaining_new(run->plan, run->o->keep, &run->present);
	uint8_t *alive = stb_xcalloc((size_t)run->plan->n_groups + 1, 1);
	struct space s = { 0 };
	struct stb_step step;
	int rc = 0;

	while (stb_remaining_next(it, &step)) {
		if ((step.op == STB_OP_PROVISION && !alive[step.group]) || (step.op == STB_OP_DEPROVISION && alive[step.group])) {
			alive[step.group] ^= 1;
			account(run, &s, step.group, alive[step.group]);
		}
	}
	for (size_t i = 0; i < s.n && !rc; i++)
		rc = need_space(n, &s.fs[i]);
	free(s.fs);
	free(alive);
	stb_remaining_free(it);
	return rc;
}

/* Of a mix its members. One that is not carried out as a whole is marked itself. */
static void mark_workloads(const struct stb_plan *p, uint32_t cell, bool *blocks)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, cell);

	for (uint32_t i = 0; i < mix->n; i++)
		blocks[mix->members[i]] = true;
	if (!mix->n || p->blocks[p->cells[cell].workload].not_run)
		blocks[p->cells[cell].workload] = true;
}

/* What will be measured: a walk over the steps, since a cell may stand for its twin in another matrix. The number of measurements. */
static uint64_t mark_used(struct stb_run *run, bool *matrices, bool *groups, bool *blocks)
{
	struct stb_remaining *it = stb_remaining_new(run->plan, run->o->keep, &run->present);
	struct stb_step s;
	uint64_t n = 0;

	while (stb_remaining_next(it, &s)) {
		if (s.op != STB_OP_MEASURE)
			continue;
		matrices[s.matrix] = groups[s.group] = true;
		mark_workloads(run->plan, s.cell, blocks);
		for (uint32_t i = 0; i < run->plan->groups[s.group].n_fills; i++)
			blocks[run->plan->groups[s.group].fills[i]] = true;
		n++;
	}
	stb_remaining_free(it);
	return n;
}

/* What stb itself makes for a volume of the class: nothing of it has poll queues. */
static bool makes_device(const struct stb_plan_block *storage)
{
	return !strcmp(storage->type, "loop") || !strcmp(storage->type, "zram") || !strcmp(storage->type, "tmpfs");
}

/* Where the files of a workload will lie is asked for what it needs of the place; once for each storage class. */
static int need_place(struct needs *n, uint32_t group, const struct stb_plan_block *workload, uint8_t *asked)
{
	static const struct {
		enum stb_io_place what;
		const char *words;
	} places[] = { { STB_IO_PLACE_DIRECT, "direct I/O" }, { STB_IO_PLACE_POLLS, "poll queues under it (hipri)" } };
	const struct stb_plan *p = n->run->plan;
	const struct stb_plan_mount *m = stb_plan_mount_of(p, group, workload);
	const struct stb_plan_block *storage = m ? &p->blocks[m->storage] : NULL;
	const struct stb_plan_attr *path = m && !strcmp(storage->type, "directory") ? stb_plan_attr(storage, "path") : NULL;
	const unsigned asks = !m || strcmp(workload->type, "io") ? 0 : stb_io_asks_place(workload) & ~(unsigned)asked[m->storage];
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	for (size_t k = 0; k < STB_LEN(places) && !rc; k++) {
		const bool refused = m && places[k].what == STB_IO_PLACE_POLLS && makes_device(storage);

		if (!(asks & (unsigned)places[k].what) || (!refused && !(path && path->val.str)))
			continue;
		asked[m->storage] |= (uint8_t)places[k].what;
		if (refused)
			(void)!stb_io_refuse_polls(workload, storage, &err);
		else
			(void)!stb_io_preflight_place(workload, places[k].what, path->val.str, &err);
		rc = tell(n, named(n, storage), places[k].words, "yes", &err);
	}
	return rc;
}

static int need_places(struct needs *n)
{
	struct stb_run *run = n->run;
	const struct stb_plan *p = run->plan;
	struct stb_remaining *it = stb_remaining_new(p, run->o->keep, &run->present);
	uint8_t *asked = stb_xcalloc((size_t)p->n_blocks + 1, 1);
	struct stb_step s;
	int rc = 0;

	while (!rc && stb_remaining_next(it, &s)) {
		const struct stb_plan_group *g = &p->groups[s.group];
		const struct stb_plan_mix *mix;

		if (s.op != STB_OP_MEASURE)
			continue;
		mix = stb_plan_mix_of(p, s.cell);
		if (!mix->n)
			rc = need_place(n, s.group, &p->blocks[p->cells[s.cell].workload], asked);
		for (uint32_t i = 0; i < mix->n && !rc; i++)
			rc = need_place(n, s.group, &p->blocks[mix->members[i]], asked);
		for (uint32_t i = 0; i < g->n_fills && !rc; i++)
			rc = need_place(n, s.group, &p->blocks[g->fills[i]], asked);
	}
	free(asked);
	stb_remaining_free(it);
	return rc;
}

static int need_directory(struct needs *n)
{
	struct stb_err err;

	stb_err_clear(&err);
	(void)!check_directory(n->run, &err);
	return tell(n, "run directory", stb_arena_printf(&n->run->arena, "to be made in %s", parent_of(n->run)), "it can be", &err);
}

/* Groups that live at the same time make no tables in one schema. */
static int need_schemas(struct needs *n)
{
	const struct stb_plan *p = n->run->plan;
	struct stb_remaining *it = stb_remaining_new(p, n->run->o->keep, &n->run->present);
	bool *loaded = stb_xcalloc((size_t)p->n_groups + 1, sizeof *loaded);
	struct stb_step step;
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	while (!err.set && stb_remaining_next(it, &step)) {
		if (step.op == STB_OP_DEPROVISION)
			loaded[step.group] = false;
		if (step.op != STB_OP_LOAD)
			continue;
		loaded[step.group] = true;
		for (uint32_t i = 0; i < p->n_groups && !err.set; i++) {
			if (i == step.group || !loaded[i] || !stb_tables_clash(p, i, step.group))
				continue;
			stb_err_set(&err, 0, "two groups of this run would have their tables in one schema of database `%s` at the same time",
				p->blocks[p->groups[i].database].name);
			stb_err_remedy(&err, "say fresh = group, or give each a `schema` of its own");
			asked_at(&err, p->blocks[p->groups[step.group].database].span);
		}
	}
	if (err.set)
		rc = tell(n, "external databases", "a schema for the tables of each group", NULL, &err);
	free(loaded);
	stb_remaining_free(it);
	return rc;
}

/* One thing that all workloads together ask of an external server. */
static int need_of_server(struct needs *n, uint32_t db, const char *need, const char *have, struct stb_err *err)
{
	if (err->set)
		asked_at(err, n->run->plan->blocks[db].span);
	return tell(n, named(n, &n->run->plan->blocks[db]), need, have, err);
}

static int need_room(struct needs *n, uint32_t db, const struct stb_db_address *addr, const struct stb_demand *d)
{
	const struct stb_plan *p = n->run->plan;
	struct stb_arena *a = &n->run->arena;
	const unsigned long long connections = d->room.threads + d->room.own, prepared = d->room.prepared;
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	if (stb_db_external_connections(addr, &d->room, &err)) {
		stb_err_wrap(&err, "workload `%s` on database `%s`", p->blocks[d->connects].name, p->blocks[db].name);
		asked_at(&err, p->blocks[d->connects].span);
	}
	rc = need_of_server(n, db, stb_arena_printf(a, "%llu connections", connections), "there is room", &err);
	if (rc || !prepared)
		return rc;
	if (stb_db_external_prepared(addr, &d->room, &err)) {
		stb_err_wrap(&err, "workload `%s` on database `%s`", p->blocks[d->prepares].name, p->blocks[db].name);
		asked_at(&err, p->blocks[d->prepares].span);
	}
	return need_of_server(n, db, stb_arena_printf(a, "%llu prepared statements", prepared), "there is room", &err);
}

/* Of an external server: a user that may do what all workloads do there, and room for their connections. */
static int need_of_external(struct needs *n, uint32_t db, const struct stb_demand *d)
{
	struct stb_db_address addr;
	struct stb_err err;
	bool known;
	int rc;

	if (!n->connect || n->lacking[db])
		return 0;
	stb_err_clear(&err);
	known = !stb_db_external_address(&n->run->plan->blocks[db], &n->run->arena, &addr, &err);
	if (known)
		(void)!stb_db_external_rights(&n->run->plan->blocks[db], &addr, d->rights, &err);
	rc = need_of_server(n, db, "a user with the rights that the workloads need", "it has them", &err);
	return rc || !known ? rc : need_room(n, db, &addr, d);
}

/* Of one that stb starts: open files for as many connections; where none is found that has been said. */
static int need_of_private(struct needs *n, uint32_t db, const struct stb_demand *d)
{
	const uint64_t have = stb_process_most_open_files();
	struct stb_arena *a = &n->run->arena;
	struct stb_err err;
	uint64_t need;

	stb_err_clear(&err);
	if (stb_mysqld_preflight_files(&n->run->plan->blocks[db], &d->room, &need, &err) && !need)
		return 0;
	return need_of_server(n, db, stb_arena_printf(a, "%llu open files", (unsigned long long)need),
		have == UINT64_MAX ? "as many as it wants" : stb_arena_printf(a, "%llu", (unsigned long long)have), &err);
}

static int need_of_servers(struct needs *n)
{
	const struct stb_plan *p = n->run->plan;
	struct stb_demand *demand = stb_demand_new(n->run);
	int rc = 0;

	for (uint32_t i = 0; i < p->n_blocks && !rc; i++)
		if (demand[i].rights)
			rc = strcmp(p->blocks[i].type, "external") ? need_of_private(n, i, &demand[i]) : need_of_external(n, i, &demand[i]);
	free(demand);
	return rc;
}

static int need_same_servers(struct needs *n, const bool *groups)
{
	struct stb_err err;

	if (!n->connect || (!n->run->recorded && !n->run->n_reused))
		return 0;
	stb_err_clear(&err);
	(void)!stb_servers_same(n->run, groups, &err);
	return tell(n, "external databases", "to be as they were", "they are", &err);
}

static int need_cells(struct needs *n)
{
	struct stb_err err;

	stb_err_clear(&err);
	stb_err_set(&err, 0, "there is nothing to run: the spec has no matrix with cells");
	stb_err_remedy(&err, "write a matrix, or see what there is with `stb plan`");
	return tell(n, "spec", "cells", NULL, &err);
}

int stb_run_needs(struct stb_run *run, bool connect, stb_need_fn *fn, void *ctx)
{
	struct needs n = { .run = run, .connect = connect, .fn = fn, .ctx = ctx };
	const struct stb_plan *p = run->plan;
	bool *matrices = stb_xcalloc((size_t)p->n_matrices + 1, sizeof *matrices);
	bool *groups = stb_xcalloc((size_t)p->n_groups + 1, sizeof *groups);
	bool *blocks = stb_xcalloc((size_t)p->n_blocks + 1, sizeof *blocks);
	int rc = 0;

	n.lacking = stb_xcalloc((size_t)p->n_blocks + 1, sizeof *n.lacking);
	if (!mark_used(run, matrices, groups, blocks) && !run->present.n)
		rc = need_cells(&n);
	if (!rc)
		rc = need_matrices(&n, matrices);
	if (!rc)
		rc = need_directory(&n);
	for (uint32_t i = 0; i < p->n_blocks && !rc; i++)
		if (blocks[i])
			rc = need_workload(&n, &p->blocks[i]);
	for (uint32_t i = 0; i < p->n_groups && !rc; i++)
		if (groups[i])
			rc = need_group(&n, i);
	if (!rc)
		rc = need_places(&n);
	if (!rc)
		rc = need_schemas(&n);
	if (!rc)
		rc = need_of_servers(&n);
	if (!rc)
		rc = need_same_servers(&n, groups);
	if (!rc)
		rc = need_spaces(&n);
	stb_server_options_free(n.options);
	free(n.lacking);
	free(blocks);
	free(groups);
	free(matrices);
	return rc;
}

/* Keeps the first that is lacking. */
static int refuse(void *ctx, const struct stb_need *need)
{
	if (!need->err || !need->err->set)
		return 0;
	*(struct stb_err *)ctx = *need->err;
	return -1;
}

int stb_run_preflight(struct stb_run *run, struct stb_err *err)
{
	return stb_run_needs(run, true, refuse, err);
}
