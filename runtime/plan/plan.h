/*
 * plan.h - the execution plan: the compiler's output, the runtime's and the reports' input. Plain data, nothing else is shared.
 *
 * A plan states every effective value, defaults included, so that the runtime has no defaults of its own. Attributes are kept as named,
 * typed values (val.h) rather than as struct fields: one schema row is then enough to check, print, save, load, compare and explain an
 * attribute. The rooms of the runtime read them through struct stb_reader (below), which notes what was read: an attribute that nobody
 * read is refused before anything is touched, so none can be ignored silently.
 *
 * Everything lives in one arena that the plan owns. Read-only once made; threads may share it.
 */
#ifndef STB_PLAN_H
#define STB_PLAN_H

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/hash.h"
#include "runtime/base/val.h"

#include <stdio.h>

#define STB_NONE UINT32_MAX /* "no such index" wherever an index is kept */
#define STB_UNBOUNDED UINT64_MAX /* bytes: as much as the target takes in the time */

enum { STB_MAX_MEMBERS = 8 }; /* of a mix */

/* cell x slot x repetition of one plan; at a second each this is 115 days. A plan beyond it does not verify. */
#define STB_MAX_MEASUREMENTS 10000000ull

enum stb_ident { STB_ID, STB_ADDRESS, STB_NO_ID }; /* language.md section 8 */

enum stb_origin { STB_FROM_DEFAULT, STB_FROM_LINE, STB_FROM_OVERRIDE, STB_FROM_PROFILE, STB_FROM_AXIS, STB_FROM_PARAM };

struct stb_plan_attr {
	const char *name;    /* "bs"; options are "options.NAME" */
	struct stb_val val;
	enum stb_ident ident;
	enum stb_origin origin;
	bool is_default;     /* equal to the schema's default, however it was written */
	uint32_t span;       /* plan->spans index, STB_NONE for a default */
};

/* One block with its effective attributes. A declared block that overrides or axes change stands here once per variant. */
struct stb_plan_block {
	const char *kind;  /* storage volume pin server database workload */
	const char *type;  /* directory, loop, io, oltp, mysql, ...; "" where the kind has none */
	const char *name;
	const char *label; /* NULL: use the name */
	const char *note;  /* NULL: none */
	struct stb_plan_attr *attrs; /* schema order */
	uint32_t n_attrs;
	uint32_t span;
	const char *not_run; /* NULL, or why `run` refuses what uses it: "this version of stb does not carry out `rate = 100/s`" */
	const char *not_run_attr; /* the attribute that it is about, the first where there are several; NULL: the block as a whole */
	const char *not_run_change; /* what would have to be written instead: "write one value for `bs`; leave `bs_percent` out" */
	const char *file;  /* where it was loaded from, for messages; NULL: it was made here. In no saved plan */
};

struct stb_plan_axis_value {
	const char *key;   /* as in results.csv: block name, point name, or the value's label */
	const char *label; /* for reports; never NULL */
};

struct stb_plan_axis {
	const char *name;  /* "storage", "threads" */
	const char *label; /* for reports; never NULL */
	const char *kind;  /* block kind of a binding axis, "run" for the runs that are compared, "" for an own axis */
	bool described;    /* all values are `external`: it describes, it is not carried out */
	struct stb_plan_axis_value *values;
	uint32_t n_values;
};

/* Which cells: per axis a list of allowed value indices. STB_NONE as a value index means "cells without a value there". */
struct stb_selector_term {
	uint32_t axis;
	uint32_t *values;
	uint32_t n_values;
};

struct stb_selector {
	struct stb_selector_term *terms; /* all must hold; no terms: every cell */
	uint32_t n_terms;
};

bool stb_selector_match(const struct stb_selector *s, const uint32_t *point);

/* Cells that the matrix leaves out, and why: for the fields of a report that stay empty. */
struct stb_plan_exclude {
	struct stb_selector where;
	const char *reason;
};

enum stb_order { STB_ORDER_INTERLEAVED, STB_ORDER_BALANCED, STB_ORDER_DECLARED, STB_ORDER_SHUFFLED };
enum stb_fresh { STB_FRESH_ONCE, STB_FRESH_GROUP, STB_FRESH_CELL, STB_FRESH_REPETITION };

struct stb_plan_matrix {
	const char *name, *label, *note;
	struct stb_plan_axis *axes;
	uint32_t n_axes;
	uint32_t repeat;
	enum stb_order order;
	enum stb_fresh fresh;
	uint64_t seed;
	uint64_t cooldown_ns;
	uint64_t interval_ns;
	uint32_t schedule_days;  /* 0: no schedule, one slot */
	uint32_t *schedule_at;   /* minutes after midnight, ascending */
	uint32_t n_schedule_at;
	struct stb_plan_exclude *excludes;
	uint32_t n_excludes;
	uint32_t first_cell, n_cells; /* plan->cells */
	uint32_t span;
	const char *not_run;   /* NULL, or why `run` refuses it (it is planned all the same) */
	uint32_t not_run_span; /* the line that it is about; not kept in a saved plan */
};

/* Which volume serves what in a group. */
struct stb_plan_mount {
	const char *role;  /* "data": an io workload's volume or a database's volume; "redo", "binlog", "tmp"; "io": that of a mix's io workload */
	uint32_t volume;   /* blocks[] */
	uint32_t storage;  /* blocks[] */
	uint64_t space_bytes; /* needed on its volumes, one a server, while they live; 0 for data: that is the group's */
};

/* Cells that share provisioning. */
struct stb_plan_group {
	char id[STB_HASH_HEX];
	uint32_t server;     /* blocks[] or STB_NONE */
	uint32_t database;   /* blocks[] or STB_NONE */
	struct stb_plan_mount *mounts;
	uint32_t n_mounts;
	uint32_t dataset;    /* blocks[] of kind "dataset" (tables, table_size, ...: what the load writes), or STB_NONE */
	uint32_t *fills;     /* blocks[]: io workloads that run, unmeasured and in order, after provisioning */
	uint32_t n_fills;
	uint64_t load_bytes; /* written by provisioning: file layout, mkfs, data set */
	uint64_t space_bytes;/* needed on the data volumes, one a server, while they live */
	uint64_t provision_ns; /* estimate */
	uint64_t copy_bytes; /* of the servers' files as loaded, written by each restoring and needed beside space_bytes; 0: they are not set aside */
	uint64_t restore_ns; /* estimate, the restart included */
	const char *not_run; /* NULL, or why `run` refuses it: "storage external disk is described, not provisioned" */
	uint32_t not_run_block; /* blocks[], which it is about, or STB_NONE */
};

/* The workloads that a mix runs at the same time, in the order of `run`, as they are in some cells. */
struct stb_plan_mix {
	uint32_t n;
	uint32_t members[STB_MAX_MEMBERS]; /* blocks[] */
};

struct stb_plan_cell {
	char id[STB_HASH_HEX];
	uint32_t matrix;
	uint32_t *point;     /* per axis of the matrix: index into its values, STB_NONE where the cell has no value */
	uint32_t workload;   /* blocks[] */
	uint32_t server;     /* blocks[] or STB_NONE */
	uint32_t client;     /* blocks[] or STB_NONE */
	uint32_t pin;        /* blocks[] or STB_NONE: the server's */
	uint32_t client_pin; /* blocks[] or STB_NONE */
	uint32_t group;
	uint32_t same_as;    /* the first cell with this id (itself, mostly): equal cells of two matrices are measured once */
	uint32_t mix;        /* 0: its workload is none; else a number of mixes[], from 1. Read through stb_plan_mix_of() */
	uint64_t measure_ns; /* estimate of one repetition, ramp or warm-up included */
	uint64_t write_bytes;/* written by one repetition, or STB_UNBOUNDED */
};

enum stb_view { STB_VIEW_VALUE, STB_VIEW_PERCENT, STB_VIEW_CHANGE, STB_VIEW_IMPROVEMENT, STB_VIEW_RATIO, STB_VIEW_RANGE, STB_VIEW_CI, STB_VIEW_N };
enum stb_aggregate { STB_AGG_MEAN, STB_AGG_MEDIAN };

struct stb_plan_report {
	const char *name, *label, *note;
	uint32_t matrix;
	struct stb_selector where, baseline;
	bool has_baseline;
	uint32_t split, rows, columns; /* axis index or STB_NONE */
	uint32_t *fold;
	uint32_t n_fold;
	const char **metrics;
	uint32_t n_metrics;
	enum stb_view *views;
	uint32_t n_views;
	enum stb_aggregate aggregate;
	bool geomean;            /* summary = geomean */
	const char *chart;       /* "bar", "line", ...; NULL: none */
	struct stb_val units;    /* MAP metric -> STRING unit, or NONE */
	struct stb_val decimals; /* MAP metric or view -> COUNT, or NONE */
	struct stb_val headings; /* MAP metric or view -> STRING, or NONE */
	uint32_t span;
};

struct stb_plan_claim {
	const char *name, *label, *note;
	uint32_t matrix;
	const char *metric;
	struct stb_selector where, baseline;
	bool has_baseline;
	enum stb_view form;      /* VALUE PERCENT CHANGE IMPROVEMENT RATIO */
	struct stb_val expect;   /* a number, or a RANGE */
	uint32_t digits;         /* decimals of a single figure as it was written */
	const char *unit;        /* the unit it was written in ("%", "ms", "GB/s", "" bare), which digits count in; NULL: the metric's own */
	enum stb_aggregate aggregate;
	struct stb_val confidence; /* SHARE: judged by the interval at this confidence; NONE: by the figure */
	bool asserted;           /* false under a profile that does not override the claim */
	uint32_t span;
};

struct stb_plan_span {
	uint32_t file, line, column; /* files[] index; 1-based */
	uint32_t width;              /* display columns of the underlined text */
};

struct stb_plan_file {
	const char *name;  /* relative to the repository */
	char sha256[STB_HASH_HEX];
};

struct stb_plan {
	struct stb_arena arena;
	const char *suite, *title, *description, *source, *licence; /* NULL where not stated */
	const char *profile;           /* NULL: bare */
	const char **params;           /* "name=value" of every --set, sorted */
	uint32_t n_params;
	struct stb_plan_block *blocks; /* sorted by kind, name, content: a moved block changes nothing */
	uint32_t n_blocks;
	struct stb_plan_matrix *matrices;
	uint32_t n_matrices;
	struct stb_plan_group *groups;
	uint32_t n_groups;
	struct stb_plan_cell *cells;
	uint32_t n_cells;
	struct stb_plan_mix *mixes;    /* what cells refer to; printed with them */
	uint32_t n_mixes, cap_mixes;
	struct stb_plan_report *reports;
	uint32_t n_reports;
	struct stb_plan_claim *claims;
	uint32_t n_claims;
	const char **privileges;       /* "root: mounts ext4 on a loop device (storage fast)" */
	uint32_t n_privileges;
	const char **devices;          /* existing ones that are written to: "serial S4EV: overwritten, with consent (storage fast)" */
	uint32_t n_devices;
	const char **secrets;          /* "env:DB_PASSWORD" */
	uint32_t n_secrets;
	const char **notes;            /* what will happen and is often misread; one sentence each */
	uint32_t n_notes;
	char hash[STB_HASH_HEX];       /* of the canonical JSON without `source` and `hash` */
	/* source: covered by no hash */
	struct stb_plan_file *files;
	uint32_t n_files;
	struct stb_plan_span *spans;
	uint32_t n_spans;
};

/* The words of the spec: "interleaved", "once", "improvement", "median"; origins as people read them ("profile"). */
const char *stb_order_name(enum stb_order order);
const char *stb_fresh_name(enum stb_fresh fresh);
const char *stb_view_name(enum stb_view view);
const char *stb_aggregate_name(enum stb_aggregate aggregate);
const char *stb_origin_name(enum stb_origin origin);

/* Slots of a matrix: days x times of its schedule, 1 without one. */
uint64_t stb_plan_slots(const struct stb_plan_matrix *m);

struct stb_plan *stb_plan_new(void);
void stb_plan_free(struct stb_plan *p);

/*
 * Steps: a rule over the plan, not a list. For every slot and matrix, in the order carried out; provisioning appears where `fresh` puts it.
 * The rules are in steps.c.
 */
enum stb_op {
#define STB_OP(sym, text) STB_OP_##sym,
#include "runtime/plan/ops.def"
#undef STB_OP
};

const char *stb_op_name(enum stb_op op);

/* What a group needs at one time on all its volumes; saturates. */
uint64_t stb_plan_group_space(const struct stb_plan_group *g);

struct stb_step {
	enum stb_op op;
	uint32_t matrix;
	uint32_t slot;       /* 0-based */
	uint32_t group;      /* PROVISION LOAD START STOP DEPROVISION KEEP RESTORE MEASURE */
	uint32_t cell;       /* MEASURE */
	uint32_t repetition; /* MEASURE, 1-based */
	uint64_t wait_ns;    /* COOLDOWN */
};

/* Whether a matrix gives its cells of that group copies of the files as they were loaded, instead of loading anew. */
bool stb_plan_restores(const struct stb_plan *p, uint32_t matrix, uint32_t group);

struct stb_steps; /* iterator */

/* Iterates over the steps of the cells that keep[] marks (n_cells bytes; NULL: all). Cost per step: O(1) amortised. */
struct stb_steps *stb_steps_new(const struct stb_plan *p, const uint8_t *keep);
bool stb_steps_next(struct stb_steps *it, struct stb_step *out);
void stb_steps_free(struct stb_steps *it);

/* Totals for the head of the plan. */
struct stb_plan_totals {
	uint64_t n_measurements; /* cell x slot x repetition */
	uint64_t n_provisions;   /* provisionings over the whole run */
	uint64_t n_restores;     /* of data sets from copies of their files */
	uint64_t time_ns;        /* estimate, waiting for slots left out */
	uint64_t load_bytes;     /* written by provisioning */
	uint64_t write_bytes;    /* written by measurements that are bounded by size or events */
	bool write_unbounded;    /* some measurement writes as much as the target takes */
	uint64_t peak_space_bytes;
};
/* Of the cells that keep[] marks (NULL: all), carried out or not: stb_plan_runnable leaves out what is only described. */
void stb_plan_totals(const struct stb_plan *p, const uint8_t *keep, struct stb_plan_totals *out);
/* The cells of keep[] (NULL: all) that a run can carry out, as n_cells marks; the caller frees it. */
uint8_t *stb_plan_runnable(const struct stb_plan *p, const uint8_t *keep);

/* Internal consistency: every index in range, ids unique per matrix, attributes named. 0, or -1 with *err. Loaded plans pass it first. */
STB_NODISCARD int stb_plan_verify(const struct stb_plan *p, struct stb_err *err);
/* Canonical JSON, one cell a line; byte-identical on every machine. */
void stb_plan_print_json(const struct stb_plan *p, FILE *out);
/* For people: head, blocks with what differs from defaults, cells, order, cost, privileges, notes. */
void stb_plan_print_text(const struct stb_plan *p, FILE *out);
/* The same for a run of the cells that keep[] marks: totals, cells, groups and order are theirs, hash, blocks and matrices the whole plan's. */
void stb_plan_print_part(const struct stb_plan *p, const uint8_t *keep, FILE *out);
/* Fills p->hash. */
void stb_plan_seal(struct stb_plan *p);
STB_NODISCARD int stb_plan_load(struct stb_plan **out, const char *path, struct stb_err *err);
/* The same from bytes; path is for messages. */
STB_NODISCARD int stb_plan_load_bytes(struct stb_plan **out, const char *path, const char *bytes, size_t len, struct stb_err *err);

/*
 * Connections to a database that a run has beside those of the threads: one a workload on it, which looks at the server's status; one that tells others
 * that the tables made there are in use (external servers); one that watches over replicas, and one of each replica.
 */
static inline uint32_t stb_plan_own_connections(uint32_t n_workloads, bool makes_tables, uint32_t n_replicas)
{
	return n_workloads + makes_tables + (n_replicas ? 1 + n_replicas : 0);
}

/* The group's mount of the volume that a workload names (its data volume, where it names none); NULL: there is none. */
const struct stb_plan_mount *stb_plan_mount_of(const struct stb_plan *p, uint32_t group, const struct stb_plan_block *workload);
/* The workload of the cell that waits until it is steady, of a mix the first one; NULL: none does. */
const struct stb_plan_block *stb_plan_steady(const struct stb_plan *p, uint32_t cell);
/* The members of the cell's mix; of another cell an empty one. */
const struct stb_plan_mix *stb_plan_mix_of(const struct stb_plan *p, uint32_t cell);
/* Adds a mix; its number for cells. */
uint32_t stb_plan_add_mix(struct stb_plan *p, const struct stb_plan_mix *mix);
/* Which member of the cell's mix has that name; STB_NONE: none has, or it is no mix. */
uint32_t stb_plan_member(const struct stb_plan *p, uint32_t cell, const char *name, size_t len);

/* Attribute lookup; NULL where the block has none of that name. */
const struct stb_plan_attr *stb_plan_attr(const struct stb_plan_block *b, const char *name);
/* "small4 / std_flash / read_write": the axis values of a cell, for messages and headings. */
char *stb_plan_cell_label(struct stb_arena *a, const struct stb_plan *p, uint32_t cell);
/* "specs/x.stb:12:3", or "" for STB_NONE. */
char *stb_plan_where(struct stb_arena *a, const struct stb_plan *p, uint32_t span);

/*
 * A reader of one block's attributes that remembers which were read. A plan from a file may be older or forged: where an attribute is missing
 * (the compiler states every value; the _or forms take the fallback) or has another type, the first such fault is kept, the read gives what
 * is harmless (0, false, "", no list, the fallback), and stb_reader_done() refuses the block. So reading has no error paths; but nothing may
 * be divided by, counted up to or indexed with before the fault was asked for or the value was judged.
 */
struct stb_reader {
	const struct stb_plan_block *block;
	uint64_t seen[4]; /* bit per attribute; a block has at most 256 */
	const char *fault;     /* name of the first attribute that could not be read; NULL: none */
	const char *fault_why; /* "is missing", "is not text" */
};

void stb_reader_init(struct stb_reader *r, const struct stb_plan_block *b);
bool stb_read_has(struct stb_reader *r, const char *name); /* does not count as read */
uint64_t stb_read_u64(struct stb_reader *r, const char *name);           /* COUNT BYTES TIME(ns) CLOCK, whole */
uint64_t stb_read_u64_or(struct stb_reader *r, const char *name, uint64_t fallback);
double stb_read_double_or(struct stb_reader *r, const char *name, double fallback); /* SHARE (0..1) RATE BYTE_RATE COUNT */
bool stb_read_bool(struct stb_reader *r, const char *name);
const char *stb_read_str(struct stb_reader *r, const char *name);        /* STRING WORD REF SECRET */
const char *stb_read_str_or(struct stb_reader *r, const char *name, const char *fallback);
/* Its items are all of type `elem`; NULL where there is none. */
const struct stb_val *stb_read_list(struct stb_reader *r, const char *name, enum stb_vtype elem);
void stb_read_skip(struct stb_reader *r, const char *name);              /* read elsewhere, and the caller says where in a comment */
/* Marks and returns the next "options.*" attribute after *pos (start with 0), or NULL. One that is no STRING is a fault. */
const struct stb_plan_attr *stb_read_option(struct stb_reader *r, uint32_t *pos);
/* 0, or -1 and *err says which attribute could not be read: for who computes with what it read, before stb_reader_done(). */
STB_NODISCARD int stb_reader_fault(const struct stb_reader *r, struct stb_err *err);
/* 0 when all reads were good and every attribute with a non-default value was read; else -1 and *err names the first, with its span. */
STB_NODISCARD int stb_reader_done(const struct stb_reader *r, struct stb_err *err);

#endif
