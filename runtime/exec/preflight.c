/*
 * preflight.c - everything that can be refused is refused here, before anything is touched: one message, what to do, exit 3.
 *
 * The space of groups that live at the same time on one file system is summed by walking the steps: what a group needs counts from its
 * provisioning to its removal. Loop images are sparse, so they count as what will be written into them.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/run.h"
#include "runtime/io/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

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

static int check_matrices(const struct stb_run *run, const bool *matrices, struct stb_err *err)
{
	for (uint32_t i = 0; i < run->plan->n_matrices; i++) {
		const struct stb_plan_matrix *m = &run->plan->matrices[i];

		if (!matrices[i] || !m->not_run)
			continue;
		stb_err_set(err, 0, "matrix `%s` cannot be run: %s", m->name, m->not_run);
		stb_err_remedy(err, "run it with a profile that says matrix %s { schedule = none }, or run another matrix with --only",
			m->name);
		asked_at(err, m->not_run_span != STB_NONE ? m->not_run_span : m->span);
		return -1;
	}
	return 0;
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

static int check_group(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	const struct stb_plan_group *g = &run->plan->groups[group];
	const struct stb_plan_block *db = g->database == STB_NONE ? NULL : &run->plan->blocks[g->database];
	/* the run directory is not there yet: what would lie in it is looked for beside it */
	struct stb_storage_env env = { run->plan, parent_of(run), run->mark, run, stb_record_leftover };

	if (g->not_run)
		return refuse_group(run->plan, g, err);
	if (db && !strcmp(db->type, "external")) {
		struct stb_db_address addr;

		memset(&addr, 0, sizeof addr);
		if (!stb_db_external_address(db, &run->arena, &addr, err) && !stb_db_external_assert(db, &addr, err))
			return 0;
		asked_at(err, db->span);
		return -1;
	}
	if (db && stb_mysqld_preflight(db, err)) {
		asked_at(err, db->span);
		return -1;
	}
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		const char *place = place_of(run, &run->plan->blocks[g->mounts[i].storage]);

		if (db && place && stb_mysqld_check_dir(place, err)) {
			asked_at(err, run->plan->blocks[g->mounts[i].storage].span);
			return -1;
		}
		if (stb_volume_preflight(&env, &g->mounts[i], strcmp(g->mounts[i].role, "data") ? 0 : g->space_bytes, err)) {
			asked_at(err, run->plan->blocks[g->mounts[i].storage].span);
			return -1;
		}
	}
	return 0;
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

/* --- space ----------------------------------------------------------------------------------------------------------------------------- */

struct filesystem {
	dev_t dev;
	const char *path;
	uint64_t free_bytes, now_bytes, peak_bytes;
	uint32_t n_now, n_peak;    /* groups on it */
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
		struct filesystem *fs = strcmp(g->mounts[i].role, "data") ? NULL : filesystem_of(run, s, &g->mounts[i]);

		if (!fs)
			continue;
		fs->now_bytes += takes ? g->space_bytes : -g->space_bytes;
		fs->n_now += takes ? 1 : -1u;
		if (fs->now_bytes > fs->peak_bytes) {
			fs->peak_bytes = fs->now_bytes;
			fs->n_peak = fs->n_now;
		}
	}
}

static int refuse_space(const struct filesystem *fs, struct stb_err *err)
{
	struct stb_buf need, have;

	stb_buf_init(&need);
	stb_buf_init(&have);
	stb_text_bytes(&need, fs->peak_bytes);
	stb_text_bytes(&have, fs->free_bytes);
	stb_err_set(err, 0, "not enough space on `%s` (storage %s): need %s%s, have %s", fs->path, fs->storage, stb_buf_str(&need),
		fs->n_peak > 1 ? " for what lives there at the same time" : "", stb_buf_str(&have));
	stb_err_remedy(err, fs->n_peak > 1 ? "free space there, give smaller sizes, name another path, or say fresh = group"
					   : "free space there, give smaller sizes or name another path");
	asked_at(err, fs->span);
	stb_buf_fini(&have);
	stb_buf_fini(&need);
	return -1;
}

static int check_space(struct stb_run *run, struct stb_err *err)
{
	struct stb_todo *it = stb_todo_new(run->plan, run->o->keep, &run->present);
	uint8_t *alive = stb_xcalloc((size_t)run->plan->n_groups + 1, 1);
	struct space s = { 0 };
	struct stb_step step;
	int rc = 0;

	while (stb_todo_next(it, &step)) {
		if ((step.op == STB_OP_PROVISION && !alive[step.group]) || (step.op == STB_OP_DEPROVISION && alive[step.group])) {
			alive[step.group] ^= 1;
			account(run, &s, step.group, alive[step.group]);
		}
	}
	for (size_t i = 0; i < s.n && !rc; i++)
		if (s.fs[i].peak_bytes > s.fs[i].free_bytes)
			rc = refuse_space(&s.fs[i], err);
	free(s.fs);
	free(alive);
	stb_todo_free(it);
	return rc;
}

/* What will be measured: a walk over the steps, since a cell may stand for its twin in another matrix. The number of measurements. */
static uint64_t mark_used(struct stb_run *run, bool *matrices, bool *groups, bool *blocks)
{
	struct stb_todo *it = stb_todo_new(run->plan, run->o->keep, &run->present);
	struct stb_step s;
	uint64_t n = 0;

	while (stb_todo_next(it, &s)) {
		if (s.op != STB_OP_MEASURE)
			continue;
		matrices[s.matrix] = groups[s.group] = blocks[run->plan->cells[s.cell].workload] = true;
		n++;
	}
	stb_todo_free(it);
	return n;
}

int stb_run_preflight(struct stb_run *run, struct stb_err *err)
{
	const struct stb_plan *p = run->plan;
	bool *matrices = stb_xcalloc((size_t)p->n_matrices + 1, sizeof *matrices);
	bool *groups = stb_xcalloc((size_t)p->n_groups + 1, sizeof *groups);
	bool *blocks = stb_xcalloc((size_t)p->n_blocks + 1, sizeof *blocks);
	int rc = -1;

	if (!mark_used(run, matrices, groups, blocks) && !run->present.n) {
		stb_err_set(err, 0, "there is nothing to run: the spec has no matrix with cells");
		stb_err_remedy(err, "write a matrix, or see what there is with `stb plan`");
		goto out;
	}
	if (check_matrices(run, matrices, err) || check_directory(run, err))
		goto out;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (blocks[i] && check_workload(&p->blocks[i], err))
			goto out;
	for (uint32_t i = 0; i < p->n_groups; i++)
		if (groups[i] && check_group(run, i, err))
			goto out;
	rc = check_space(run, err);
out:
	free(blocks);
	free(groups);
	free(matrices);
	return rc;
}
