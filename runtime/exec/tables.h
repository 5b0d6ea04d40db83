/*
 * tables.h - the data set that a run makes on a server that stays: how the journal names it, how it goes, and what to say where it cannot.
 *
 * The journal's object is words made from the plan, with references in the place of what the spec takes from the environment or a file. Whoever
 * undoes it finds the group of the plan that has these words and takes the address from there, so no journal can name a table.
 */
#ifndef STB_TABLES_H
#define STB_TABLES_H

#include "runtime/base/undo.h"
#include "runtime/plan/plan.h"

#include <stdio.h>

/* "sbtest1..sbtest4 in schema sbtest of database server (127.0.0.1:3306)"; NULL where the group makes no tables that outlive it. */
const char *stb_tables_object(const struct stb_plan *p, uint32_t group, struct stb_arena *a);
#define STB_OWNER_TEXT 32
/* Whose the tables are, as their marker says: "MARK.GROUP", since two groups of a run own nothing together. */
void stb_tables_owner(const struct stb_plan *p, const char *mark, uint32_t group, char out[STB_OWNER_TEXT]);
/* Whether both groups make tables in one schema of one server, as far as the plan tells. */
bool stb_tables_clash(const struct stb_plan *p, uint32_t a, uint32_t b);
/* Connects anew, with the references resolved anew, and drops what the run of that mark made, whichever of its groups that have these words did. */
STB_NODISCARD enum stb_undo stb_tables_undo(const struct stb_plan *p, const char *mark, const char *object, struct stb_err *err);
/* The spec's line; the statement that drops them by hand. Nothing where the plan does not know them. */
void stb_tables_print_line(const struct stb_plan *p, const char *object, const char *indent, FILE *out);
void stb_tables_print_sql(const struct stb_plan *p, const char *object, const char *indent, FILE *out);

#endif
