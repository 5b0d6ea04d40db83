/*
 * dataset.h - inside this room: whose tables these are, and whether they are as the workload says.
 */
#ifndef STB_DB_DATASET_H
#define STB_DB_DATASET_H

#include "runtime/db/oltp.h"

/*
 * Makes room for tables sbtest1..N: drops those that the marker table says stb made, writes the marker. Tables of unknown origin, and those of a run
 * that goes on, make it fail before anything is changed. mark: of this run, which owns them from then on.
 */
STB_NODISCARD int stb_dataset_claim(struct stb_client *c, const struct stb_dataset *d, const char *mark, struct stb_err *err);
/* hold.c: whether the run of that mark goes on, and by which of the server's connections that is known. */
#define STB_HOLD_CONNECTION 32
bool stb_hold_is_held(struct stb_client *c, const char *mark, char connection[STB_HOLD_CONNECTION]);
/* Around looking whose a schema is and taking it. 0, or -1 with *err: somebody else is at it. Where the server has no locks nobody waits. */
STB_NODISCARD int stb_hold_turn_begin(struct stb_client *c, struct stb_err *err);
void stb_hold_turn_end(struct stb_client *c);
/* Notes in the marker that the load is complete. */
STB_NODISCARD int stb_dataset_seal(struct stb_client *c, const struct stb_dataset *d, struct stb_err *err);

enum { STB_ROWS_GONE = 1 };

/*
 * Columns, keys, engine and the bounds of the ids of every table. Never scans, never writes. exact: the ids are those that were loaded
 * (dataset = use); else, before a run, both ends are still there, as far as what ran before may have left them. 0, or -1 with *err, or,
 * not with exact, STB_ROWS_GONE with *err: a table lacks ids at an end, and is otherwise as the workload says.
 */
STB_NODISCARD int stb_dataset_check(struct stb_client *c, const struct stb_dataset *d, bool exact, struct stb_err *err);
/* A name between backticks. */
void stb_dataset_add_name(struct stb_buf *out, const char *name);
/* Drops the tables that the marker says this run made, and the marker. Those of another run are foreign. */
STB_NODISCARD enum stb_undo stb_dataset_drop(struct stb_client *c, const char *mark, struct stb_err *err);

#endif
