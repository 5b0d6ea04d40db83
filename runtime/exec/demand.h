/*
 * demand.h - what the measurements of a run ask of each database: rights, connections, prepared statements.
 */
#ifndef STB_DEMAND_H
#define STB_DEMAND_H

#include "runtime/exec/run.h"

struct stb_demand {
	unsigned rights;        /* enum stb_right, of all measurements together; 0: there is none */
	struct stb_db_room room;/* the most that one of them has at the same time, of each */
	uint32_t connects, prepares; /* the workloads or mixes that have the most */
};

/* By database block, [n_blocks]; of what is still to be measured. The caller frees it. */
struct stb_demand *stb_demand_new(struct stb_run *run);

#endif
