/*
 * run.h - the state of one run, shared by the files of exec; nobody else includes it.
 *
 *   run.c        the walk over the plan's steps, and the order of things around it
 *   remaining.c       the steps that are still to be carried out
 *   reuse.c      results of other runs that are taken over
 *   resume.c     a run that stopped: what it has, what it lacks, and on
 *   doctor.c     the needs of a run as a list
 *   demand.c     what is asked of each database
 *   servers.c    external servers against what earlier figures were measured on
 *   preflight.c  all that can be refused before anything is touched
 *   groups.c     provision, start, load, stop, remove: the life of a group
 *   replicas.c   the replicas of a group, and the watch over them in a repetition
 *   measure.c    one repetition: its set-up and its children
 *   live.c       what is seen of it while it runs
 *   judge.c      what one of its workloads is worth
 *   verdict.c    what it is worth
 *   figures.c    its rows and its record
 *   mix.c        the workloads of a mix, at the same time
 *   record.c     what is written into the run directory
 */
#ifndef STB_RUN_H
#define STB_RUN_H

#include "runtime/db/db.h"
#include "runtime/exec/child.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/journal.h"
#include "runtime/exec/progress.h"
#include "runtime/exec/signals.h"
#include "runtime/exec/remaining.h"
#include "runtime/storage/storage.h"

struct stb_group_run {
	struct stb_volume **volumes;    /* n_mounts for each server; NULL entries are not there, or are an earlier mount's volume */
	struct stb_mysqld *mysqld;
	struct stb_mysqld *replicas[STB_MAX_REPLICAS];
	uint32_t n_replicas;            /* as planned */
	bool semi_sync;
	struct stb_db_address external; /* database external; host and socket NULL until resolved */
	struct stb_hold *hold;          /* from the first load on an external server */
	bool provisioned, running, loaded;
	bool set_aside;                 /* the step was taken: kept says whether there was room */
	bool kept;                      /* copies of the loaded files can be had */
	bool no_room;                   /* there was none: what is to be fresh is loaded anew */
	bool pristine;                  /* stopped after the load, and not started since */
	bool filled;                    /* by the io workloads of `prepare` */
	bool made_tables;               /* a load was begun: on an external server they are dropped at the end */
	bool broken;                    /* its server died: provisioned anew before the next repetition */
	uint32_t deaths;
	bool failed;                    /* out of this run; why says for what */
	struct stb_err why;
};

struct stb_failure {
	uint32_t cell, slot, repetition;
	char *text;
};

struct stb_run {
	const struct stb_exec_options *o;
	const struct stb_plan *plan;
	struct stb_arena arena;
	char *dir;                      /* absolute */
	const char *shown_dir;          /* as the user knows it */
	bool made_dir;
	bool resumed;                   /* the directory is there already, and so is what `present` names */
	struct stb_done present;        /* repetitions that are not measured again */
	struct stb_reused *reused;      /* the runs that some of them are taken over from */
	uint32_t n_reused;
	char mark[STB_MARK_LEN + 1];
	struct stb_journal journal;
	struct stb_leftovers left;      /* made and not gone */
	struct stb_signals signals;
	struct stb_progress progress;
	struct stb_results *results;
	FILE *results_csv, *series_csv;
	struct json_t *environment;
	const struct json_t *recorded;  /* environment.json as a run that is resumed left it; NULL: it is not */
	struct stb_group_run *groups;   /* plan->n_groups */
	struct stb_failure *failures;
	size_t n_failures, cap_failures;
	bool trouble;                   /* something went wrong that is no repetition's */
	struct stb_err fatal;           /* the run directory cannot be written: the walk stops */
	/* progress */
	uint64_t n_measurements, done;
	uint64_t estimate_ns, passed_ns;/* of all steps; of the finished ones */
	uint64_t step_ns, step_since_ns;/* of the current one */
	char *what;                     /* the current step in words */
};

/* run.c */
struct stb_run *stb_run_new(const struct stb_exec_options *o);
void stb_run_free(struct stb_run *run);
/* Sums up what is to be done: n_measurements and the estimate. */
void stb_run_count(struct stb_run *run);
/* The walk, clean-up and reports. An enum stb_exit. */
int stb_run_carry_out(struct stb_run *run);

/* preflight.c: 0, or -1 with *err. Nothing is touched. */
STB_NODISCARD int stb_run_preflight(struct stb_run *run, struct stb_err *err);

/* groups.c */
/* How many signals have asked the run (ctx) to stop. */
uint32_t stb_run_interrupted(void *ctx);
/* A failure marks the group, prints why, and takes away what was made. */
void stb_group_provision(struct stb_run *run, uint32_t group);
void stb_group_start(struct stb_run *run, uint32_t group);
void stb_group_load(struct stb_run *run, uint32_t group);
/* Stops the servers and sets their loaded files aside. */
void stb_group_keep(struct stb_run *run, uint32_t group);
/* Leaves the servers stopped, on a copy of the files that were set aside; where there was no room for that they are made and loaded anew. */
void stb_group_restore(struct stb_run *run, uint32_t group);
void stb_group_stop(struct stb_run *run, uint32_t group);
void stb_group_remove(struct stb_run *run, uint32_t group);
/* Provisioned, loaded, its server running and no other one, as its matrix wants it; a broken group is made anew. false: it is marked, why says for what. */
bool stb_group_ready(struct stb_run *run, uint32_t matrix, uint32_t group);
/* Whether a server of the group has died; then the group is broken and *err has the tail of the log. */
bool stb_group_server_died(struct stb_run *run, uint32_t group, struct stb_err *err);
/* The same of one that is suspected: waits a moment, since connections are lost before a process has ended. */
bool stb_group_server_ends(struct stb_run *run, uint32_t group, struct stb_err *err);

/* replicas.c */
struct stb_replica_watch; /* of one repetition: a process that looks at the replicas, what it has seen, how the primary stood before */

/* Asks a signal to end a wait. */
struct stb_replication stb_group_replication(struct stb_run *run, uint32_t group);
/* Waits until the replicas have caught up. 0, also where there are none; -1 with *err. */
STB_NODISCARD int stb_group_settle(struct stb_run *run, uint32_t group, struct stb_err *err);
/* Begins to watch during a repetition; the phases tell how far it is. *out is NULL where the group has no replicas. 0 or -1 with *err. */
STB_NODISCARD int stb_replica_watch_begin(struct stb_replica_watch **out, struct stb_run *run, uint32_t group,
	const struct stb_phase *const *phases, uint32_t n_phases, uint64_t interval_ns, struct stb_err *err);
/* The greatest lag in seconds that was seen in (from_ns, to_ns] of the measure stage; where nobody looked then, the one before. false: none is known. */
bool stb_replica_watch_lag(const struct stb_replica_watch *w, uint64_t from_ns, uint64_t to_ns, double *lag_s);
/* After the repetition: what it is worth, STB_STATUS_OK where the replicas did as they should; *err says why not. */
enum stb_status stb_replica_watch_end(struct stb_replica_watch *w, struct stb_err *err);
void stb_replica_watch_free(struct stb_replica_watch *w);

/* reuse.c */
/* Which results of other runs are taken over: sets run->present, adds their rows. 0 or -1 with *err. */
STB_NODISCARD int stb_reuse_find(struct stb_run *run, struct stb_err *err);
/* Puts them into the run directory. 0 or -1 with *err. */
STB_NODISCARD int stb_reuse_copy(struct stb_run *run, struct stb_err *err);
void stb_reuse_fini(struct stb_run *run);
/* Of the i-th run that is looked at: whether something is taken over, its record, its directory. */
bool stb_reuse_takes(const struct stb_run *run, uint32_t i);
const struct json_t *stb_reuse_environment(const struct stb_run *run, uint32_t i);
const char *stb_reuse_dir(const struct stb_run *run, uint32_t i);

/* servers.c: the external servers of the marked groups are as the records say that earlier figures are from. 0 or -1 with *err. */
STB_NODISCARD int stb_servers_same(struct stb_run *run, const bool *groups, struct stb_err *err);

/* measure.c: one repetition. Never fails: what went wrong is in the results and in run->failures. */
void stb_run_measure(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition);
/* Watches a load in a child. 0 or -1 with *err. */
/* Runs an io workload on the group's volume, unmeasured. 0 or -1 with *err. */
STB_NODISCARD int stb_run_fill(struct stb_run *run, uint32_t group, const struct stb_plan_block *workload, struct stb_err *err);
STB_NODISCARD int stb_run_load(struct stb_run *run, const struct stb_oltp_setup *setup, struct stb_err *err);

/* record.c */
#define STB_SERIES_HEADER "cell,slot,repetition,t_s,metric,unit,value\n"
/* Makes the directory and its files; takes them away again where that fails. */
STB_NODISCARD int stb_record_open(struct stb_run *run, struct stb_err *err);
void stb_record_close(struct stb_run *run);
/* The parts of it that a resumed run has otherwise: a new mark, the start record, this machine, the entry of a session (the caller owns both). */
void stb_record_make_mark(char *out);
void stb_record_start(struct stb_run *run);
struct json_t *stb_record_environment(struct stb_run *run);
struct json_t *stb_record_session(const struct stb_run *run);
STB_NODISCARD int stb_record_write_environment(struct stb_run *run, struct stb_err *err);
/* The server of a group as it runs: the cells that it serves, its version and variables. Once a group. */
void stb_record_server(struct stb_run *run, uint32_t group, const struct stb_db_address *address);
/* The same of a replica, by its number from 1. */
void stb_record_replica(struct stb_run *run, uint32_t group, uint32_t number);
/* An entry of "servers" with the server's variables; takes `one`. */
void stb_record_server_entry(struct stb_run *run, const char *database, const char *group, struct json_t *one, struct json_t *variables);
void stb_record_step(struct stb_run *run, const char *ev, const char *op, uint32_t group, const struct stb_err *err);
void stb_record_cell(struct stb_run *run, const char *ev, uint32_t cell, uint32_t slot, uint32_t repetition, const struct stb_err *err);
/* The leftover callback of storage and db; ctx is the run. */
void stb_record_leftover(void *ctx, int made, const char *kind, const char *object);
/* What the engine of a repetition has come to use goes into environment.json; what it does without is said once. */
void stb_record_engine(struct stb_run *run, const struct stb_plan_block *workload, const struct stb_measure *m);
/*
 * Rows [from, n_rows) of run->results, the histograms of the measures (NULL: none; one, or of a mix one for each member), the series (CSV lines;
 * NULL: none) and, of a failure, the reason.
 */
void stb_record_result(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition, size_t from, enum stb_status status,
	const char *reason, const struct stb_measure *const *measures, const struct stb_buf *series);
/* Says that the run directory is there already. Returns -1. */
int stb_record_refuse_taken(const struct stb_run *run, struct stb_err *err);
/* stopped: why the plan was not carried out to its end, NULL: it was. */
void stb_record_finish(struct stb_run *run, int exit_code, const char *stopped);

/* run.c */
void stb_run_draw(struct stb_run *run, const char *phase, const char *figure);
void stb_run_say_error(struct stb_run *run, const struct stb_err *err);
void stb_run_fail(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition, const char *fmt, ...) STB_PRINTF(5, 6);

#endif
