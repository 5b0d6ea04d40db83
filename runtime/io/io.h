/*
 * io.h - io workloads: layout, warm-up, measure, drain. What exec calls.
 */
#ifndef STB_IO_H
#define STB_IO_H

#include "runtime/plan/plan.h"
#include "runtime/result/measure.h"

struct stb_io_caps;
struct stb_steady_hook;

struct stb_io_setup {
	const struct stb_plan *plan;
	const struct stb_plan_block *workload;
	const char *dir;     /* the volume's directory, or NULL: raw */
	const char *device;  /* raw volume's device, when dir is NULL */
	const char *stat_file; /* that counts for the device below: base/blockstat.h; NULL or "": none */
	uint64_t seed;       /* the matrix's */
	uint64_t cell;       /* stb_hash_u64(cell id) */
	uint32_t repetition;
	const struct stb_io_caps *engine; /* NULL: the one the workload names; tests put one of their own here */
	const struct stb_steady_hook *steady_hook; /* NULL but in tests */
};

/* One engine of the table, for `stb version`. */
struct stb_io_engine_info {
	const char *name;
	bool available;
	char reason[STB_ERR_TEXT]; /* why not; empty when available */
};

/* Fills up to max entries in the order of caps.def and returns how many engines there are. Asks the kernel; touches no file. */
uint32_t stb_io_engines(struct stb_io_engine_info *out, uint32_t max);

/* The greatest size in bs, of a workload that may not have been checked; at least 1. */
uint64_t stb_io_greatest_bs_of(const struct stb_plan_block *workload);
/* Workers (threads) that the workload needs: the size of phase->live. */
uint32_t stb_io_workers(const struct stb_plan_block *workload);
/*
 * Everything that can be known before provisioning: the engine is built in and the kernel lets us use it (three causes, three messages for
 * io_uring), every attribute is understood. Touches no target.
 */
STB_NODISCARD int stb_io_preflight(const struct stb_plan_block *workload, struct stb_err *err);
/* What a workload may ask of the place its files lie on. */
enum stb_io_place { STB_IO_PLACE_DIRECT = 1, STB_IO_PLACE_POLLS = 2 };
/* Which of them it asks for. */
unsigned stb_io_asks_place(const struct stb_plan_block *workload);
/*
 * Whether it can be had of the file system that dir, a directory, lies on. Leaves nothing there (direct I/O is tried with a file without a name,
 * where the file system has such). 0 also where it cannot be known: then the first open tells.
 */
STB_NODISCARD int stb_io_preflight_place(const struct stb_plan_block *workload, enum stb_io_place what, const char *dir, struct stb_err *err);
/* Of hipri on a class whose own devices nobody can poll: says so, and returns -1. */
int stb_io_refuse_polls(const struct stb_plan_block *workload, const struct stb_plan_block *storage, struct stb_err *err);
/*
 * One repetition, in the calling process (exec forks first): lays files out where needed (stage LAYOUT), ramps (WARMUP), measures, drains.
 * Fills phase->result. 0, or -1 with phase->err; counters up to then are kept.
 */
int stb_io_run(const struct stb_io_setup *s, struct stb_phase *phase);

#endif
