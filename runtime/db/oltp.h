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
#define STB_OLTP_MAX_THREADS 16384 /* as the schema has it */
#define STB_OLTP_MAX_POINTS 10000
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
	STB_RANDOM_POINTS,
	STB_RANDOM_RANGES,
	STB_BULK_INSERT,
};

/* The tables, as the load makes them and as a run expects them. */
struct stb_dataset {
	uint32_t tables;
	uint64_t table_size;
	bool auto_inc, create_secondary;
	const char *engine;
	struct stb_dist_shape shape; /* of k at load, of id and k in the run */
	struct stb_dist keys;        /* that shape over a whole table */
	bool empty;                  /* insert without auto_inc: no rows are loaded */
	bool bulk;                   /* bulk_insert: one table a thread, of id and k; of the above only `tables` says something */
	bool use;                    /* dataset = use: look, never write */
};

struct stb_oltp {
	struct stb_dataset data;
	enum stb_script script;
	uint32_t threads;
	uint64_t time_ns;   /* UINT64_MAX: no limit */
	uint64_t events;    /* UINT64_MAX: no limit */
	uint64_t warmup_ns;
	double rate;        /* arrivals a second of all threads together; 0: the next begins when one ends */
	bool prepared;      /* server-side prepared statements */
	bool transaction;   /* BEGIN and COMMIT around the statements */
	uint64_t count[STB_N_SQL]; /* statements of each kind in an event; DELETE counts for the pair with INSERT */
	uint64_t range_size;
	uint32_t points, ranges;   /* values or ranges in one statement of STB_RANDOM_* */
	uint64_t delta;            /* from the lower to the upper end of such a range */
	uint64_t reconnect;        /* events after which a connection is given up for a new one; 0: never */
	bool rollback;             /* before an event is tried again */
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

/*
 * Looks at the server before a repetition: it can hold the connections and statements, the tables are those that the workload expects.
 * unique_start: as of stb_unique_start() where the script draws ids, else 0.
 */
STB_NODISCARD int stb_oltp_look(const struct stb_oltp_setup *setup, const struct stb_oltp *o, uint32_t *unique_start, struct stb_err *err);

#endif
