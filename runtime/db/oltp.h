/*
 * oltp.h - inside this room: what a workload oltp and a data set ask for, as plain fields.
 */
#ifndef STB_DB_OLTP_H
#define STB_DB_OLTP_H

#include "runtime/db/client.h"
#include "runtime/db/dist.h"
#include "runtime/db/sql.h"

#define STB_OLTP_MAX_IGNORED 64
#define STB_OLTP_MAX_TABLES 100000
#define STB_OLTP_MAX_THREADS 10000
#define STB_MARKER_TABLE "stb_dataset"

enum stb_script {
	STB_POINT_SELECT,
	STB_READ_ONLY,
	STB_READ_WRITE,
	STB_WRITE_ONLY,
	STB_INSERT,
	STB_DELETE,
	STB_UPDATE_INDEX,
	STB_UPDATE_NON_INDEX,
};

/* The tables, as the load makes them and as a run expects them. */
struct stb_dataset {
	uint32_t tables;
	uint64_t table_size;
	bool auto_inc, create_secondary;
	const char *engine;
	struct stb_dist keys; /* of k at load, of id and k in the run */
	bool use;             /* dataset = use: look, never write */
};

struct stb_oltp {
	struct stb_dataset data;
	enum stb_script script;
	uint32_t threads;
	uint64_t time_ns;   /* UINT64_MAX: no limit */
	uint64_t events;    /* UINT64_MAX: no limit */
	uint64_t warmup_ns;
	bool prepared;      /* server-side prepared statements */
	bool transaction;   /* BEGIN and COMMIT around the statements */
	uint64_t count[STB_N_SQL]; /* statements of each kind in an event; DELETE counts for the pair with INSERT */
	uint64_t range_size;
	uint32_t ignore[STB_OLTP_MAX_IGNORED];
	uint32_t n_ignore;
};

/* Read from blocks of the plan; strings are borrowed from it. 0 or -1 with *err. */
STB_NODISCARD int stb_oltp_read(struct stb_oltp *o, const struct stb_plan_block *workload, struct stb_err *err);
STB_NODISCARD int stb_dataset_read(struct stb_dataset *d, const struct stb_plan_block *dataset, struct stb_err *err);

/* Prepared statements that one connection holds. */
uint64_t stb_oltp_handles(const struct stb_oltp *o);

/*
 * Ids for `insert` without auto_inc: a permutation of 31-bit numbers shifted below zero, so that they neither repeat nor meet the loaded
 * rows. index counts from 0; see unique.c.
 */
int64_t stb_unique_id(uint32_t index);
/* The first index from which on no id is in any of the tables. 0, or -1 with *err. */
STB_NODISCARD int stb_unique_start(struct stb_client *c, uint32_t tables, uint32_t in_flight, uint32_t *start, struct stb_err *err);

#endif
