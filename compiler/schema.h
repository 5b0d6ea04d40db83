/*
 * schema.h - the one table of block kinds, types and attributes: what may be written, what it means, what holds when it is left out.
 *
 * Rows come from schema.def. Checking, defaults, identity, `explain`, suggestions, the reference and the fuzz dictionary read them; nothing
 * else in the compiler knows an attribute by name except the rules between attributes (rules.c). Constant data, no state.
 */
#ifndef STB_SCHEMA_H
#define STB_SCHEMA_H

#include "runtime/plan/plan.h"

#include <stdio.h>

enum stb_kind {
	STB_K_SUITE,
	STB_K_STORAGE,
	STB_K_VOLUME,
	STB_K_PIN,
	STB_K_SERVER,
	STB_K_DATABASE,
	STB_K_WORKLOAD,
	STB_K_MATRIX,
	STB_K_REPORT,
	STB_K_CLAIM,
	STB_K_PROFILE,
	STB_N_KINDS
};

enum stb_row_flag {
	STB_REQUIRED = 1,  /* must have an effective value in every cell (in every block where the kind has no cells) */
	STB_BOUND = 2,     /* an axis of ref_kind binds it where the block leaves it out */
	STB_OPTIONAL = 4,  /* no default, may stay unset */
	STB_STRUCTURAL = 8,/* a nested block (where, baseline, axis, exclude, override, schedule, limits): not an attribute with a value */
	STB_OPEN_MAP = 16, /* options { }, units { }: keys are free */
	STB_INTERPOLATES_CELL = 32, /* ${cell.AXIS} is allowed (addresses) */
	STB_FIGURE = 64,   /* what a claim judges by: takes a range and a fraction */
	STB_FRACTION = 128, /* COUNT: need not be whole */
	STB_OR_LIST = 256, /* one value or a list of such values; a list of one is that value */
	STB_DISTRIBUTION = 512, /* WORD that may also be zipf(1.2), pareto(0.2), normal(10%), zoned([60%, 10%], ...) */
	STB_ENTRIES = 1024, /* a nested block whose entries are attributes "BLOCK.NAME" of the outer one; with STB_STRUCTURAL */
	STB_BY_TEXT = 2048, /* an open map whose entries are blocks with a text: vcpu "0-3" { node = 1 } is "vcpu.0-3.node" */
	STB_INNER = 4096,  /* stands in the braces of an entry of a STB_BY_TEXT map, not in the block itself: "vcpu.node" */
};

struct stb_schema_attr {
	enum stb_kind kind;
	const char *types;      /* "io", "mysql external" (space-separated), "*": every type of the kind */
	const char *name;
	enum stb_vtype type;
	enum stb_vtype elem;    /* LIST and MAP: type of the elements, STB_V_NONE: any */
	const char *words;      /* WORD (or LIST of WORD): "psync libaio io_uring null" */
	const char *def;        /* default in the language's own spelling, NULL: none */
	const char *min, *max;  /* bounds in the language's spelling, NULL: none */
	unsigned flags;         /* enum stb_row_flag */
	enum stb_ident ident;
	int ref_kind;           /* REF: enum stb_kind, else -1 */
	const char *later;      /* what this version checks and plans but does not carry out: "*" all but the default, "[]" lists, else words
	                           ("trim"), of a link types of what it names ("host"); NULL: it carries out all of it */
	const char *doc;        /* one sentence */
};

struct stb_schema_type {
	enum stb_kind kind;
	const char *type; /* "" where the kind has no types */
	const char *doc;
	bool later; /* checked and planned, not carried out by this version */
};

/* What explain and the reference say of `later`. */
#define STB_LATER_TEXT "checked, planned and compared; not carried out yet"

const char *stb_kind_name(enum stb_kind k);
bool stb_kind_find(const char *name, enum stb_kind *out);
bool stb_kind_has_types(enum stb_kind k);
const struct stb_schema_type *stb_schema_types(size_t *n);
const struct stb_schema_attr *stb_schema_rows(size_t *n); /* formatter order within a kind */
const struct stb_schema_type *stb_schema_type(enum stb_kind k, const char *type); /* NULL: there is none */
bool stb_schema_applies(const struct stb_schema_attr *row, const char *type);
/* NULL: there is none. "options.NAME" gives the row of the open map, "schedule.days" that of a nested block's attribute. */
const struct stb_schema_attr *stb_schema_attr(enum stb_kind k, const char *type, const char *name);
/* The default as a value; false: the row has none. Its text lies in a. */
bool stb_schema_default(struct stb_arena *a, const struct stb_schema_attr *row, struct stb_val *out);
/* A bound (row->min, row->max) as a number; false: it is NULL. */
bool stb_schema_bound(const char *bound, struct stb_val *out);

/* The reference on a topic: "workload", "workload io", "io.bs", "bs", "E0203", "lat_p95", "percent"; false when unknown. */
bool stb_schema_explain(const char *topic, FILE *out);
/* The topic nearest to one that is unknown, or NULL. */
const char *stb_schema_nearest_topic(const char *topic);

#endif
