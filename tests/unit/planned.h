/*
 * planned.h - a spec text compiled to its plan, for tests of what comes behind the checked model.
 */
#ifndef STB_TEST_PLANNED_H
#define STB_TEST_PLANNED_H

#include "compiler/compile.h"

struct planned {
	struct stb_compilation c;
	struct stb_compile_options o;
	struct stb_plan *plan; /* NULL where there is an error */
};

/* text without its `stb 1`. */
void planned_open(struct planned *p, const char *text);
void planned_close(struct planned *p);
/* How often a code was reported. */
unsigned planned_count(const struct planned *p, enum stb_code code);
/* The plan as JSON; free() it. */
char *planned_json(const struct planned *p);
/* The attribute of a cell's workload, or of the first block of that kind and name; "-" where there is none. */
const char *planned_workload(struct planned *p, uint32_t cell, const char *attr);
const char *planned_block(struct planned *p, const char *kind, const char *name, const char *attr);

#endif
