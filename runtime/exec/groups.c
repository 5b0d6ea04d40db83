/*
 * groups.c - the life of a group: volumes, server, data set.
 *
 *   absent --provision--> volumes made, server initialised --start--> running --load--> loaded
 *      ^                                                      <--stop--                   |
 *      |                                     running <--start-- on a copy <--restore-- set aside <--keep--
 *      +--------------------------------- remove ----------------------------------------+
 *
 * Where cells want their data fresh, the loaded files are set aside and every cell gets a copy of them (db/mysqld_keep.c). Where there turns out
 * to be no room for that, the group is made and loaded anew instead, and its servers are restarted after the load all the same: what they cache
 * is then no other than with copies.
 *
 * With replicas "server" is all of them: they start after their primary, are pointed at it, and have caught up before anything is measured. Those
 * that do not count as a death.
 *
 * Only the server under test runs: getting a group ready stops every other one. A server that dies, or that gives no answer when a repetition is to
 * begin and so is killed, makes its group broken; the next repetition has it provisioned anew rather than restarted, because a server after crash
 * recovery is not the one that was asked for. A second death in one group, or a failure to provision, start or load, takes the group out of the run:
 * its repetitions are recorded as failed with that reason, and the rest of the matrix goes on.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/run.h"
#include "runtime/exec/tables.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEATHS 2
#define ECHO_STEPS 20
#define ECHO_STEP_NS (STB_NS_PER_S / 20)
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
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		bool told = false;

		for (uint32_t k = 0; k < i; k++)
			told |= g->mounts[k].storage == g->mounts[i].storage;
		if (!told)
			stb_buf_printf(&b, "%sstorage %s", b.len ? ", " : "", run->plan->blocks[g->mounts[i].storage].name);
	}
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

/* Where a mount's volume stands among a server's: a volume that serves two things is made once. */
static uint32_t first_mount_of(const struct stb_plan_group *g, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (g->mounts[k].volume == g->mounts[i].volume && g->mounts[k].storage == g->mounts[i].storage)
			return k;
	return i;
}

/* Every replica has its own copy of the server's volumes; the primary's come first, and those of a mix's io workloads are there once. */
static int make_volumes(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	const struct stb_plan_group *g = &run->plan->groups[group];
	struct stb_group_run *state = &run->groups[group];
	struct stb_storage_env env = { run->plan, run->dir, run->mark, run, stb_record_leftover };

	if (!state->volumes)
		state->volumes = stb_arena_alloc_array(&run->arena, (size_t)g->n_mounts * (1 + state->n_replicas), sizeof *state->volumes);
	for (uint32_t server = 0; server <= state->n_replicas; server++)
		for (uint32_t i = 0; i < g->n_mounts; i++)
			if (first_mount_of(g, i) == i && (!server || strcmp(g->mounts[i].role, "io")) &&
				stb_volume_provision(&state->volumes[server * g->n_mounts + i], &env, &g->mounts[i], err))
				return -1;
	return 0;
}

uint32_t stb_run_interrupted(void *ctx)
{
	struct stb_run *run = ctx;

	return stb_signals_check(&run->signals) ? run->signals.count : 0;
}

/* The directory of a role ("data", "redo"); NULL: there is no volume for it. */
static const char *dir_of(const struct stb_run *run, uint32_t group, uint32_t server, const char *role)
{
	const struct stb_plan_group *g = &run->plan->groups[group];

	for (uint32_t i = 0; i < g->n_mounts; i++)
		if (!strcmp(g->mounts[i].role, role) && run->groups[group].volumes)
			return stb_volume_dir(run->groups[group].volumes[server * g->n_mounts + first_mount_of(g, i)]);
	return NULL;
}

/* Server 0 is the primary or the only one. */
static int make_server(struct stb_run *run, uint32_t group, uint32_t server, struct stb_err *err)
{
	const struct stb_plan_block *db = database_of(run, group);
	struct stb_group_run *g = &run->groups[group];
	const char *dir = dir_of(run, group, server, "data");
	const struct stb_mysqld_env env = { .plan = run->plan, .run_dir = run->dir, .run_mark = run->mark,
		.redo_dir = dir_of(run, group, server, "redo"), .tmp_dir = dir_of(run, group, server, "tmp"),
		.binlog_dir = dir_of(run, group, server, "binlog"),
		.role = server ? STB_MYSQLD_REPLICA : g->n_replicas ? STB_MYSQLD_PRIMARY : STB_MYSQLD_ALONE,
		.number = server, .semi_sync = g->semi_sync, .ctx = run, .leftover = stb_record_leftover,
		.stopped = stb_run_interrupted };

	if (!dir)
		return stb_err_set(err, 0, "database `%s` has no directory to live in", db->name);
	return stb_mysqld_create(server ? &g->replicas[server - 1] : &g->mysqld, &env, db, dir, err);
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
	g->n_replicas = is_private(db) ? stb_replication_of(db, &g->semi_sync) : 0;
	g->provisioned = true; /* also half way: remove takes what is there */
	g->broken = false;
	if (db && !is_private(db)) {
		/* an external server is where it is; its storage is described */
		if (stb_db_external_address(db, &run->arena, &g->external, &err) || stb_db_external_assert(db, &g->external, &err))
			g->running = false;
		else if (make_volumes(run, group, &err)) /* of a mix's io workloads */
			g->running = false;
	} else if (!make_volumes(run, group, &err) && db) {
		for (uint32_t server = 0; server <= g->n_replicas; server++)
			if (make_server(run, group, server, &err))
				break;
	}
	end(run, STB_OP_PROVISION, group, since, &err);
}

static void stop_others(struct stb_run *run, uint32_t but)
{
	for (uint32_t i = 0; i < run->plan->n_groups; i++)
		if (i != but && run->groups[i].running)
			stb_group_stop(run, i);
}

/* 0 is the primary or the only one. */
static struct stb_mysqld *server_of(const struct stb_group_run *g, uint32_t i)
{
	return i ? g->replicas[i - 1] : g->mysqld;
}

static int start_servers(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_replication r;

	if (stb_mysqld_start(g->mysqld, err))
		return -1;
	for (uint32_t i = 0; i < g->n_replicas; i++)
		if (stb_mysqld_start(g->replicas[i], err))
			return -1;
	r = stb_group_replication(run, group);
	if (r.n && stb_replication_start(&r, err))
		return -1;
	for (uint32_t i = 0; i <= g->n_replicas; i++)
		if (stb_mysqld_wait_pool(server_of(g, i), err))
			return -1;
	return 0;
}

void stb_group_start(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const uint64_t since = stb_clock_ns();
	struct stb_err err;

	if (g->failed || g->broken || g->running || !g->provisioned || !db)
		return; /* a broken one is made anew: stb_group_ready() */
	if (is_private(db) && (!g->mysqld || (g->n_replicas && !g->replicas[g->n_replicas - 1])))
		return; /* interrupted while it was made */
	stop_others(run, group);
	stb_err_clear(&err);
	if (!is_private(db)) {
		stb_record_server(run, group, &g->external);
		g->running = true;
		return;
	}
	begin(run, STB_OP_START, group);
	if (!start_servers(run, group, &err)) {
		g->running = true;
		g->pristine = false;
		stb_record_server(run, group, stb_mysqld_address(g->mysqld));
		for (uint32_t i = 0; i < g->n_replicas; i++)
			stb_record_replica(run, group, i + 1);
	}
	end(run, STB_OP_START, group, since, &err);
}

/* The io workloads of `prepare`, one after the other. false: it failed, or was interrupted. */
static bool fill(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	const uint64_t since = stb_clock_ns();
	struct stb_err err;
	int rc = 0;

	stb_err_clear(&err);
	begin(run, STB_OP_LOAD, group);
	for (uint32_t i = 0; i < pg->n_fills && !rc; i++)
		rc = stb_run_fill(run, group, &run->plan->blocks[pg->fills[i]], &err);
	if (err.set && run->signals.first) /* interrupted, not failed */
		stb_record_step(run, "end", stb_op_name(STB_OP_LOAD), group, &err);
	else
		end(run, STB_OP_LOAD, group, since, &err);
	return !rc;
}

/* Before they are made, and also where it will be half of them. */
static void note_tables(struct stb_run *run, uint32_t group)
{
	const char *object = stb_tables_object(run->plan, group, &run->arena);

	if (object && !run->groups[group].made_tables)
		stb_record_leftover(run, 1, "tables", object);
	run->groups[group].made_tables = true;
}

/* Where a data set is asked for: by `dataset`, else by the workload; as stb_err has it. */
static uint32_t asked_at(const struct stb_plan_block *dataset)
{
	const struct stb_plan_attr *how = stb_plan_attr(dataset, "dataset");
	const uint32_t span = how && how->span != STB_NONE ? how->span : dataset->span;

	return span == STB_NONE ? 0 : span + 1;
}

static void say_unheld(struct stb_run *run, const struct stb_plan_block *db, const char *why)
{
	if (why[0])
		stb_progress_say(&run->progress, "stb: note: other runs of stb cannot be told that this one works in its schema of database `%s`, and would take "
			"its tables for those of a run that has ended: %s", db->name, why);
}

/* Those that are made there. 0, or -1 with *err. */
static int hold_tables(struct stb_run *run, uint32_t group, const struct stb_oltp_setup *s, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	char why[STB_HOLD_WHY];

	if (g->hold || !stb_oltp_tables(s->dataset))
		return 0;
	if (stb_hold_begin(&g->hold, &s->addr, s->run_mark, why, err))
		return -1;
	say_unheld(run, database_of(run, group), why);
	return 0;
}

void stb_group_load(struct stb_run *run, uint32_t group)
{
	const struct stb_plan_group *pg = &run->plan->groups[group];
	struct stb_group_run *g = &run->groups[group];
	const struct stb_plan_block *db = database_of(run, group);
	const uint64_t since = stb_clock_ns();
	char owner[STB_OWNER_TEXT];
	struct stb_err err;

	if (g->failed || g->loaded)
		return;
	if (pg->n_fills && g->provisioned && !g->filled)
		g->filled = fill(run, group);
	if (!db)
		g->loaded = g->filled;
	if (!db || pg->dataset == STB_NONE || g->filled != (pg->n_fills > 0))
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
	stb_tables_owner(run->plan, run->mark, group, owner);
	s.run_mark = owner;
	/* noted before the first may be made, and not where none can be: what is noted is looked for at the end */
	if (!is_private(db) && (stb_db_external_schema(db, &s.addr, &err) || hold_tables(run, group, &s, &err))) {
		end(run, STB_OP_LOAD, group, since, &err);
		return;
	}
	note_tables(run, group);
	if (!stb_run_load(run, &s, &err)) {
		g->loaded = true;
	} else {
		struct stb_err died;

		stb_err_clear(&died);
		if (stb_group_server_died(run, group, &died))
			err = died;
		else if (!err.span)
			err.span = asked_at(s.dataset);
	}
	end(run, STB_OP_LOAD, group, since, &err);
}

/* The first failure stays in *first. */
static void stop_server(struct stb_run *run, uint32_t group, struct stb_mysqld *m, struct stb_err *first)
{
	struct stb_err err;

	stb_err_clear(&err);
	if (!stb_mysqld_stop(m, &err))
		return;
	stb_err_wrap(&err, "stop of %s", group_name(run, group));
	stb_run_say_error(run, &err);
	run->trouble = true;
	if (!first->set)
		*first = err;
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
	for (uint32_t i = 0; i < g->n_replicas; i++)
		stop_server(run, group, g->replicas[i], &err);
	stop_server(run, group, g->mysqld, &err);
	stb_record_step(run, "end", stb_op_name(STB_OP_STOP), group, &err);
}

/* --- fresh data ---------------------------------------------------------------------------------------------------------------------- */

/* Replicas first, once they have all that the primary wrote. */
static int stop_for_good(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];

	if (stb_group_settle(run, group, err))
		return -1;
	g->running = false;
	for (uint32_t i = g->n_replicas + 1; i-- > 0;)
		if (stb_mysqld_stop_for_good(server_of(g, i), err))
			return -1;
	return 0;
}

/* 0, or -1 with *err; no_room where there is none, which is said once. */
static int set_aside(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_mysqld *servers[1 + STB_MAX_REPLICAS];
	int r;

	for (uint32_t i = 0; i <= g->n_replicas; i++)
		servers[i] = server_of(g, i);
	r = g->no_room ? 1 : stb_mysqld_keep(servers, 1 + g->n_replicas, err);
	g->kept = r == 0;
	if (r != 1)
		return r;
	if (!g->no_room)
		stb_progress_say(&run->progress, "stb: note: %s: %s; so it is loaded anew for each that wants it fresh", group_name(run, group), err->what);
	g->no_room = true;
	stb_err_clear(err);
	return 0;
}

void stb_group_keep(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	const uint64_t since = stb_clock_ns();
	struct stb_err err;

	if (g->failed || g->set_aside || !g->loaded || !g->running || !g->mysqld)
		return;
	stb_err_clear(&err);
	begin(run, STB_OP_KEEP, group);
	if (!stop_for_good(run, group, &err) && !set_aside(run, group, &err))
		g->set_aside = g->pristine = true;
	end(run, STB_OP_KEEP, group, since, &err);
}

/* Up to the stop after the load. */
static void load_anew(struct stb_run *run, uint32_t group)
{
	stb_group_remove(run, group);
	stb_group_provision(run, group);
	stb_group_start(run, group);
	stb_group_load(run, group);
	stb_group_keep(run, group);
}

static int give_fresh(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];

	for (uint32_t i = 0; i <= g->n_replicas; i++)
		if (stb_mysqld_restore(server_of(g, i), err))
			return -1;
	return 0;
}

void stb_group_restore(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_err err;

	if (g->failed || g->broken || !g->provisioned || !g->set_aside)
		return; /* made anew, all of it, before the next measurement: stb_group_ready() */
	stb_group_stop(run, group);
	for (;;) {
		if (!g->kept && !g->pristine)
			load_anew(run, group);
		if (g->failed || !g->set_aside || stb_signals_check(&run->signals))
			return;

		const uint64_t since = stb_clock_ns();

		stb_err_clear(&err);
		begin(run, STB_OP_RESTORE, group);
		if (!give_fresh(run, group, &err) || !g->kept || err.code != ENOSPC) {
			end(run, STB_OP_RESTORE, group, since, &err);
			return;
		}
		stb_record_step(run, "end", stb_op_name(STB_OP_RESTORE), group, &err);
		stb_progress_say(&run->progress, "stb: note: %s: %s; so it is loaded anew for each that wants it fresh", group_name(run, group), err.what);
		g->no_room = true;
		g->kept = g->pristine = false;
	}
}

/* On a server that stays the tables that were made there go; a private one takes its own with it. */
static int drop_tables(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	const char *object = g->made_tables ? stb_tables_object(run->plan, group, &run->arena) : NULL;

	g->made_tables = false;
	const enum stb_undo undone = object ? stb_tables_undo(run->plan, run->mark, object, err) : STB_UNDONE;

	stb_hold_end(g->hold);
	g->hold = NULL;
	if (undone == STB_UNDO_FAILED)
		return -1;
	if (object)
		stb_record_leftover(run, 0, "tables", object);
	return 0;
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
	for (uint32_t i = 0; i < STB_MAX_REPLICAS; i++) {
		stb_mysqld_free(g->replicas[i]);
		g->replicas[i] = NULL;
	}
	stb_mysqld_free(g->mysqld);
	g->mysqld = NULL;
	for (uint32_t i = pg->n_mounts * (1 + g->n_replicas); i-- > 0;) {
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
	g->provisioned = g->filled = g->loaded = g->set_aside = g->kept = g->pristine = false;
	stb_record_step(run, "end", stb_op_name(STB_OP_DEPROVISION), group, &first);
}

/* It is made anew before the next repetition. */
static void note_death(struct stb_group_run *g)
{
	g->running = false;
	g->broken = true;
	g->deaths++;
}

bool stb_group_server_died(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];
	bool alive;

	if (!g->mysqld || !g->running)
		return false;
	alive = stb_mysqld_alive(g->mysqld, err);
	for (uint32_t i = 0; i < g->n_replicas && alive; i++)
		alive = stb_mysqld_alive(g->replicas[i], err);
	if (!alive)
		note_death(g);
	return !alive;
}

/* May have happened while nothing was asked of it: it died, or stands still, and has been ended then. */
static bool came_to_nothing(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	struct stb_group_run *g = &run->groups[group];

	for (uint32_t i = 0; g->mysqld && g->running && i <= g->n_replicas; i++)
		if (!stb_mysqld_answers(server_of(g, i), err)) {
			note_death(g);
			return true;
		}
	return false;
}

bool stb_group_server_ends(struct stb_run *run, uint32_t group, struct stb_err *err)
{
	for (int i = 0; i < ECHO_STEPS; i++) {
		stb_err_clear(err);
		if (stb_group_server_died(run, group, err))
			return true;
		(void)stb_clock_sleep_until(stb_clock_ns() + ECHO_STEP_NS);
	}
	return false;
}

/* Takes a broken group down, and out of the run where it broke too often. */
static void mend(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];

	if (!g->broken || g->failed)
		return;
	if (g->deaths >= MAX_DEATHS) {
		g->failed = true;
		stb_err_set(&g->why, 0, "a server of %s died or came to nothing %u times", group_name(run, group), g->deaths);
	}
	stb_group_remove(run, group);
	g->broken = false;
}

/* Replicas that do not catch up are none: the group is made anew. */
static bool settled(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	struct stb_err err, died;

	stb_err_clear(&err);
	if (g->failed || run->signals.first || !stb_group_settle(run, group, &err))
		return true;
	if (stb_signals_check(&run->signals))
		return true;
	if (stb_group_server_ends(run, group, &died)) { /* counted there */
		stb_run_say_error(run, &died);
		return false;
	}
	stb_run_say_error(run, &err);
	g->broken = true;
	g->deaths++;
	return false;
}

/* Its tables on a server that stays are held still; a group whose tables went to another run is out of this one. */
static void renew_hold(struct stb_run *run, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];
	char why[STB_HOLD_WHY];
	struct stb_err err;

	stb_err_clear(&err);
	if (!g->hold || g->failed || !g->loaded)
		return;
	if (!stb_hold_renew(g->hold, why, &err)) {
		say_unheld(run, database_of(run, group), why);
		return;
	}
	g->failed = true;
	g->why = err;
	stb_run_say_error(run, &err);
	stb_group_remove(run, group);
}

bool stb_group_ready(struct stb_run *run, uint32_t matrix, uint32_t group)
{
	struct stb_group_run *g = &run->groups[group];

	do {
		struct stb_err err;

		stb_err_clear(&err);
		if (!g->failed && came_to_nothing(run, group, &err))
			stb_run_say_error(run, &err);
		mend(run, group);
		stop_others(run, group);
		stb_group_provision(run, group);
		stb_group_start(run, group);
		stb_group_load(run, group);
		if (!g->set_aside && stb_plan_restores(run->plan, matrix, group)) {
			stb_group_keep(run, group);
			stb_group_restore(run, group);
			stb_group_start(run, group);
		}
	} while (!settled(run, group));
	renew_hold(run, group);
	return !g->failed;
}
