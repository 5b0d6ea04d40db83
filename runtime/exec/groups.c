/*
 * groups.c - the life of a group: volumes, server, data set.
 *
 *   absent --provision--> volumes made, server initialised --start--> running --load--> loaded
 *      ^                                                      <--stop--                   |
 *      +--------------------------------- remove ----------------------------------------+
 *
 * Only the server under test runs: getting a group ready stops every other one. A server that dies makes its group broken; the next
 * repetition has it provisioned anew rather than restarted, because a server after crash recovery is not the one that was asked for. A
 * second death in one group, or a failure to provision, start or load, takes the group out of the run: its repetitions are recorded as
 * failed with that reason, and the rest of the matrix goes on.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/run.h"

#include "runtime/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEATHS 2
#define WORTH_A_LINE_NS (STB_NS_PER_S / 10)

static const struct stb_plan_block *database_of(const struct stb_run *run, uint32_t group)
{
	const uint32_t db = run->plan->groups[group].database;

	return db == STB_NONE ? NULL : &run->plan->blocks[db];
}

static bool is_private(const struct stb_plan_block *database)
{
	return database && strcmp(database->type, "external") != 0;
}

/* "storage disk, database fast": a group in words. */
static const char *group_name(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *g = &run->plan->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	struct stb_buf b;
	const char *name;

	stb_buf_init(&b);
	for (uint32_t i = 0; i < g->n_mounts; i++)
		stb_buf_printf(&b, "%sstorage %s", b.len ? ", " : "", run->plan->blocks[g->mounts[i].storage].name);
	if (db)
		stb_buf_printf(&b, "%sdatabase %s", b.len ? ", " : "", db->name);
	name = stb_arena_strdup(&run->arena, b.len ? stb_buf_str(&b) : "group");
	stb_buf_fini(&b);
	return name;
}

static void begin(struct stb_run *run, enum stb_op op, uint32_t group)
{
	stb_record_step(run, "begin", stb_op_name(op), group, NULL);
	run->what = stb_arena_strdup(&run->arena, group_name(run, group));
	stb_run_draw(run, stb_op_name(op), "");
}

/* Ends a step: says how long it took, or marks the group and takes it away. One that was interrupted has not failed: the walk ends with it. */
static void end(struct stb_run *run, enum stb_op op, uint32_t group, uint64_t since, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_buf took;

	stb_record_step(run, "end", stb_op_name(op), group, err);
	if (!err->set) {
		const uint64_t ns = stb_clock_ns() - since;

		if (run->progress.live || ns < WORTH_A_LINE_NS)
			return;
		stb_buf_init(&took);
		stb_text_duration(&took, ns);
		stb_progress_say(&run->progress, "        %s: %s (%s)", group_name(run, group), stb_op_name(op), stb_buf_str(&took));
		stb_buf_fini(&took);
		return;
	}
	if (stb_signals_check(&run->signals))
		return;
	g->failed = true;
	g->why = *err;
	stb_err_wrap(err, "%s of %s", stb_op_name(op), group_name(run, group));
	stb_run_say_error(run, err);
	stb_group_remove(run, group);
}

static int make_volumes(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	const struct stb_plan_group *g = &run->plan->groups[group];
	struct stb_group_run *state = &run->groups[group];
	struct stb_storage_env env = { run->plan, run->dir, run->mark, run, stb_record_leftover };

	if (!state->volumes)
		state->volumes = stb_arena_alloc_array(&run->arena, g->n_mounts, sizeof *state->volumes);
	for (uint32_t i = 0; i < g->n_mounts; i++)
		if (stb_volume_provision(&state->volumes[i], &env, &g->mounts[i], err))
			return -1;
	return 0;
}

static bool is_interrupted(void *ctx)
{
	struct stb_run *run = ctx;

	return stb_signals_check(&run->signals) != 0;
}

static const char *data_dir(const struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *g = &run->plan->groups[group];

	for (uint32_t i = 0; i < g->n_mounts; i++)
		if (!strcmp(g->mounts[i].role, "data") && run->groups[group].volumes)
			return stb_volume_dir(run->groups[group].volumes[i]);
	return NULL;
}

void stb_group_provision(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const uint64_t since = stb_clock_ns();
	struct stb_err err;

	if (g->failed || g->provisioned)
		return;
	stb_err_clear(&err);
	begin(run, STB_OP_PROVISION, group);
	g->provisioned = true; /* also half way: remove takes what is there */
	g->broken = false;
	if (db && !is_private(db)) {
		/* an external server is where it is; its storage is described */
		if (stb_db_external_address(db, &run->arena, &g->external, &err) || stb_db_external_assert(db, &g->external, &err))
			g->running = false;
	} else if (!make_volumes(run, group, &err) && db) {
		struct stb_mysqld_env env = { run->plan, run->dir, run->mark, run, stb_record_leftover, is_interrupted };
		const char *dir = data_dir(run, group);

		if (!dir)
			stb_err_set(&err, 0, "database `%s` has no directory to live in", db->name);
		else if (stb_mysqld_create(&g->mysqld, &env, db, dir, &err))
			g->mysqld = NULL;
	}
	end(run, STB_OP_PROVISION, group, since, &err);
}

static void stop_others(struct stb_run *run, uint32_t but)
{
	for (uint32_t i = 0; i < run->plan->n_groups; i++)
		if (i != but && run->groups[i].running)
			stb_group_stop(run, i);
}

void stb_group_start(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const uint64_t since = stb_clock_ns();
	struct stb_err err;

	if (g->failed || g->running || !g->provisioned || !db)
		return;
	if (is_private(db) && !g->mysqld)
		return; /* interrupted while it was made */
	stop_others(run, group);
	stb_err_clear(&err);
	if (!is_private(db)) {
		stb_record_server(run, group, &g->external);
		g->running = true;
		return;
	}
	begin(run, STB_OP_START, group);
	if (!stb_mysqld_start(g->mysqld, &err)) {
		g->running = true;
		stb_record_server(run, group, stb_mysqld_address(g->mysqld));
	}
	end(run, STB_OP_START, group, since, &err);
}

/* The io workloads of `prepare`, one after the other. */
static void fill(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	const uint64_t since = stb_clock_ns();
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	begin(run, STB_OP_LOAD, group);
	for (uint32_t i = 0; i < pg->n_fills && !rc; i++)
		rc = stb_run_fill(run, group, &run->plan->blocks[pg->fills[i]], &err);
	run->groups[group].loaded = !rc;
	if (err.set && run->signals.first) { /* interrupted, not failed */
		stb_record_step(run, "end", stb_op_name(STB_OP_LOAD), group, &err);
		return;
	}
	end(run, STB_OP_LOAD, group, since, &err);
}

void stb_group_load(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const uint64_t since = stb_clock_ns();
	struct stb_err err;

	if (g->failed || g->loaded)
		return;
	if (pg->n_fills && !db && g->provisioned)
		fill(run, group);
	if (!db || pg->dataset == STB_NONE)
		return;
	stb_group_start(run, group);
	if (g->failed || !g->running)
		return;
	stb_err_clear(&err);
	begin(run, STB_OP_LOAD, group);

	struct stb_oltp_setup s = { .plan = run->plan, .dataset = &run->plan->blocks[pg->dataset], .private_server = is_private(db),
		.addr = is_private(db) ? *stb_mysqld_address(g->mysqld) : g->external };

	/* the data depends on what it is, not on the cell that happens to come first */
	s.seed = 1;
	s.cell = stb_hash_u64(pg->id);
	g->made_tables = true; /* also half of them */
	if (!stb_run_load(run, &s, &err)) {
		g->loaded = true;
	} else {
		struct stb_err died;

		stb_err_clear(&died);
		if (stb_group_server_died(run, group, &died))
			err = died;
	}
	end(run, STB_OP_LOAD, group, since, &err);
}

void stb_group_stop(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_err err;

	if (!g->running)
		return;
	g->running = false;
	if (!g->mysqld)
		return;
	stb_err_clear(&err);
	begin(run, STB_OP_STOP, group);
	if (stb_mysqld_stop(g->mysqld, &err)) {
		stb_err_wrap(&err, "stop of %s", group_name(run, group));
		stb_run_say_error(run, &err);
		run->trouble = true;
	}
	stb_record_step(run, "end", stb_op_name(STB_OP_STOP), group, &err);
}

/* On a server that stays the tables that were made there go; a private one takes its own with it. */
static int drop_tables(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const struct stb_plan_attr *dataset = pg->dataset == STB_NONE ? NULL : stb_plan_attr(&run->plan->blocks[pg->dataset], "dataset");

	if (!g->made_tables || !db || is_private(db) || !dataset || !dataset->val.str || strcmp(dataset->val.str, "create"))
		return 0;
	g->made_tables = false;

	const struct stb_oltp_setup s = { .plan = run->plan, .dataset = &run->plan->blocks[pg->dataset], .addr = g->external };

	return stb_oltp_cleanup(&s, err);
}

void stb_group_remove(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	struct stb_group_run *g = &run->groups[group];
	struct stb_err err, first;

	if (!g->provisioned)
		return;
	stb_err_clear(&first);
	stb_group_stop(run, group);
	begin(run, STB_OP_DEPROVISION, group);
	if (drop_tables(run, group, &first))
		stb_run_say_error(run, &first);
	if (g->mysqld)
		stb_mysqld_free(g->mysqld);
	g->mysqld = NULL;
	for (uint32_t i = pg->n_mounts; i-- > 0;) {
		if (!g->volumes || !g->volumes[i])
			continue;
		stb_err_clear(&err);
		if (stb_volume_remove(g->volumes[i], &err)) {
			stb_run_say_error(run, &err);
			if (!first.set)
				first = err;
		}
		g->volumes[i] = NULL;
	}
	g->provisioned = g->loaded = false;
	stb_record_step(run, "end", stb_op_name(STB_OP_DEPROVISION), group, &first);
}

bool stb_group_server_died(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];

	if (!g->mysqld || !g->running || stb_mysqld_alive(g->mysqld, err))
		return false;
	g->running = false;
	g->broken = true;
	g->deaths++;
	return true;
}

bool stb_group_ready(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];

	/* it may have died while nothing was asked of it */
	if (g->running && !g->failed) {
		struct stb_err err;

		stb_err_clear(&err);
		if (stb_group_server_died(run, group, &err))
			stb_run_say_error(run, &err);
	}
	if (g->broken && !g->failed) {
		if (g->deaths >= MAX_DEATHS) {
			g->failed = true;
			stb_err_set(&g->why, 0, "the server of %s died %u times", group_name(run, group), g->deaths);
		}
		stb_group_remove(run, group);
		g->broken = false;
	}
	stop_others(run, group);
	stb_group_provision(run, group);
	stb_group_start(run, group);
	stb_group_load(run, group);
	return !g->failed;
}
