/*
 * expand.h - what the second half of the compiler works on: matrices read into axes and selectors, blocks with their
 * effective attributes, cells. Private to axes, selector, expand, identity, cost, rules and lower.
 *
 * Everything lies in the compilation's arena. Blocks, scopes and envs are interned by content: equal things are one
 * object, so a cell is two pointers beside what the plan says about it, and whatever is worked out about a block (its
 * canonical JSON, its findings) is worked out once, however many cells use it. A spec may have millions of cells.
 *
 *   model ---axes---> struct stb_xmatrix ---expand---> struct stb_xcell -> struct stb_env -> struct stb_eblock ...
 *                                                           `-> struct stb_chain -> struct stb_scope ---rules---> findings
 */
#ifndef STB_EXPAND_H
#define STB_EXPAND_H

#include "compiler/intern.h"
#include "compiler/model.h"
#include "compiler/rule.h"
#include "runtime/plan/ids.h"

/* --- settings of axes and overrides: known by path until it is known which blocks they touch --- */

struct stb_xsetting {
	enum stb_kind kind;
	const struct stb_schema_type *types; /* of the kind: n_types of them */
	uint32_t n_types;
	const char *block_name;       /* NULL: every block of the kind in the cell */
	struct stb_name *path;        /* behind KIND and NAME */
	uint32_t n_path;
	const char *text;             /* as written: "workload.iodepth" */
	struct stb_span span;         /* the path */
	const struct stb_node *value;
	enum stb_origin origin;       /* FROM_OVERRIDE, FROM_PROFILE (an override in a profile's entry) or FROM_AXIS */
	const char *axis;             /* its name, FROM_AXIS */
	struct stb_setting **made;    /* per type; NULL: the type has no such attribute, or the value is bad (reported) */
	uint32_t seen;                /* serial of the last cell whose block it touched */
	uint32_t missed, first_missed;/* cells in which it was in force and touched nothing */
};

struct stb_xsettings {
	struct stb_xsetting **items;
	uint32_t n, cap;
};

/* --- axes and selectors --- */

struct stb_xterm {
	uint32_t axis;
	uint8_t *allow; /* n_values + 1 of the axis; the last stands for cells without a value there */
};

struct stb_xselect {
	struct stb_xterm *terms;
	uint32_t n, cap;
	struct stb_span span;
	bool bad; /* reported; matches nothing is no news */
};

struct stb_xvalue {
	const char *key;
	const char *label;
	struct stb_span span;
	struct stb_val val;            /* own axis with set: the value as its attribute has it */
	const struct stb_block *block; /* binding axis */
	struct stb_xsettings settings; /* own axis */
};

struct stb_xaxis {
	const char *name;
	const char *label;
	int kind;                      /* enum stb_kind of a binding axis, -1 */
	bool run;                      /* `run`, from runs = [...]: the same cells, carried out once more */
	const struct stb_schema_attr *row; /* own axis with set: its attribute; NULL: points, or an open map */
	struct stb_span span;
	struct stb_xvalue *values;
	uint32_t n_values, cap_values;
	struct stb_xselect where;      /* own axis: no terms, every cell */
	bool described;                /* all values are external */
	bool taken;                    /* some block was bound by it */
	bool holds;                    /* in some cell */
};

struct stb_xoverride {
	struct stb_span span;
	struct stb_xselect where;
	struct stb_xsettings settings;
	uint32_t n_cells;
};

struct stb_xexclude {
	struct stb_span span;
	struct stb_xselect where;
	const char *reason;
	uint32_t n_cells;
};

struct stb_xmatrix {
	const struct stb_block *block;
	uint32_t index;
	struct stb_xaxis *axes;
	uint32_t n_axes, cap_axes;
	uint32_t n_leading;            /* those by kind are among these */
	struct stb_xoverride *overrides;
	uint32_t n_overrides, cap_overrides;
	struct stb_xexclude *excludes;
	uint32_t n_excludes, cap_excludes;
	enum stb_fresh fresh;
	uint32_t run_axis;             /* STB_NONE: none */
	uint32_t first_cell, n_cells;
	bool bad;                      /* an error in it was reported: it has no cells */
};

/* --- blocks with their effective attributes --- */

struct stb_eattr {
	const struct stb_schema_attr *row;
	const char *name;
	struct stb_val val;
	enum stb_origin origin;
	bool is_default;
	const char *axis;     /* the axis that set or bound it, or NULL */
	struct stb_span span; /* the line that set it; STB_NO_SPAN for a default */
};

struct stb_shape;

struct stb_eblock {
	const struct stb_block *block;
	struct stb_eattr *attrs; /* schema order, options by name */
	uint32_t n_attrs;
	const struct stb_shape *shape;
	uint8_t *places;         /* per row of the shape: attribute + 1, or 0; NULL while the block is made */
	const char *id_json;     /* canonical form with what makes its identity */
	const char *content;     /* JSON with every effective attribute, full_len bytes; behind it where each value is from */
	uint32_t full_len;
	uint32_t plan_block;     /* lower: index, STB_NONE before */
};

const struct stb_eattr *stb_eattr(const struct stb_eblock *b, const char *name); /* NULL: no effective value */
uint64_t stb_eattr_u64(const struct stb_eblock *b, const char *name, uint64_t fallback);
bool stb_eattr_is(const struct stb_eblock *b, const char *name, const char *word);
bool stb_eattr_true(const struct stb_eblock *b, const char *name);

/* --- cells --- */

/* A mix holds STB_MAX_PARTS workloads, a workload STB_MAX_PARTS fills; each brings a chain of blocks at most. */
enum { STB_MAX_PARTS = STB_MAX_MEMBERS, STB_MAX_USED = 128 };

/* A volume beside the data volume: the database's redo log, binary log or temporary files, or that of an io workload of a mix. */
struct stb_xmount {
	const char *role;
	const struct stb_eblock *volume, *storage;
};

enum { STB_MAX_DB_MOUNTS = 3, STB_MAX_MOUNTS = STB_MAX_DB_MOUNTS + STB_MAX_PARTS };

/* What rules look at together. Interned; n_cells counts the cells that have it. */
struct stb_scope {
	const struct stb_xmatrix *matrix;
	/* NULL where there is none; of a mix, those of its parts: their database with its volume, else the volume of the first */
	const struct stb_eblock *workload, *database, *volume, *storage;
	const struct stb_eblock *server, *client, *pin, *client_pin;     /* NULL where there is none; pin: the server's */
	struct stb_xmount *mounts; /* NULL: none, else room for STB_MAX_MOUNTS */
	uint32_t n_mounts;
	const struct stb_scope *parts[STB_MAX_PARTS]; /* of a mix: the workloads that run at the same time */
	const struct stb_scope *fills[STB_MAX_PARTS]; /* of an io workload: its `prepare` */
	uint32_t n_parts, n_fills;
	uint32_t n_cells, first_cell;
	struct stb_lowered *lowered; /* lower: what the plan says about its cells, NULL before */
};

struct stb_lowered;

/* The blocks of a cell that are no workloads. Interned. */
struct stb_env {
	const struct stb_eblock **used; /* sorted by kind and name, the described ones among them */
	uint32_t n_used;
	uint32_t index;
	struct stb_hash begun;  /* what the ids of its cells begin with */
};

/* A cell's workload with what it works on. One per distinct set of what could matter to it, which is far fewer than cells. */
struct stb_chain {
	struct stb_scope *scope;
	const struct stb_env *base;       /* without what axes describe */
	const struct stb_eblock **loads;  /* the workloads, by name */
	uint32_t n_loads, n_touched;
	uint32_t index;
	const char *id_json;              /* what the ids of its cells end with: theirs, and the matrix's tail */
	uint32_t id_len;
	struct stb_xsetting **touched;    /* the settings in force that it takes */
};

struct stb_xcell {
	uint32_t chain; /* of x->chains; STB_NONE: it has none, which was reported */
	uint32_t env;   /* of x->envs */
};

enum { STB_MAX_BOUND = 8 };

/* What blocks of a type may have, defaults read once. */
struct stb_shape {
	const struct stb_schema_type *type;
	const struct stb_schema_attr **rows; /* no nested blocks, no label and note */
	struct stb_val *defaults;            /* STB_V_NONE: none */
	uint8_t slots[256];                  /* by a hash of the name: row + 1, or 0 */
	int bound[STB_MAX_BOUND];            /* kinds of the rows that an axis may bind */
	uint32_t n_bound;
	uint32_t n_rows;
};

struct stb_relevant { /* a setting that touches the block at hand */
	const struct stb_xsetting *from;
	const struct stb_setting *made;
};

struct stb_expansion {
	struct stb_model *m;
	struct stb_arena *arena;
	struct stb_sink *sink;
	struct stb_xmatrix **matrices;
	uint32_t n_matrices, cap_matrices;
	struct stb_xcell *cells;
	struct stb_plan_cell *planned; /* the same cells: matrix, point, id and same_as are known here, lower adds the rest */
	struct stb_arena *plan_arena;  /* theirs */
	uint32_t n_cells, cap_cells;
	struct stb_plan_ids ids;
	struct stb_scope **scopes;
	uint32_t n_scopes, cap_scopes;
	struct stb_chain **chains;
	uint32_t n_chains, cap_chains;
	struct stb_env **envs;
	uint32_t n_envs, cap_envs;
	const char **fallen;          /* overrides that fell away because the profile replaced their block */
	uint32_t n_fallen, cap_fallen;
	struct stb_intern by_source;  /* settings that apply -> eblock */
	struct stb_intern by_content; /* canonical text -> eblock */
	struct stb_intern by_scope, by_env;
	struct stb_intern texts;      /* of cells' identities */
	struct stb_intern reported;   /* code and place, so that a contradiction is told once */
	struct stb_shape *shapes;     /* by schema type */
	struct stb_relevant *relevant;/* scratch of effective.c */
	uint32_t cap_relevant;
	const void **key;             /* scratch: what is looked up */
	uint32_t n_key, cap_key;
};

/* axes.c: reads the matrix; errors are in the sink and m->bad is set. */
struct stb_xmatrix *stb_xmatrix_read(struct stb_expansion *x, const struct stb_block *block);
/* The setting as the block's type has it; NULL: the type has no such attribute, or it is bad. */
struct stb_setting *stb_xsetting_for(const struct stb_xsetting *s, const struct stb_block *block);

/*
 * selector.c: reads `where { }` against the axes [0, n_axes) of a matrix. false: reported. In what is written for the
 * whole spec but compiled under a profile, a value that the profile took away matches nothing and is no error.
 */
bool stb_xselect_read(struct stb_expansion *x, const struct stb_xmatrix *m, uint32_t n_axes,
	const struct stb_stmt *where, struct stb_xselect *out);
bool stb_xselect_match(const struct stb_xselect *s, const struct stb_xmatrix *m, const uint32_t *point);
const struct stb_xterm *stb_xselect_term(const struct stb_xselect *s, uint32_t axis); /* NULL: not restricted */
uint32_t stb_xmatrix_axis(const struct stb_xmatrix *m, const char *name, uint32_t n_axes); /* STB_NONE: there is none */
/* The nested block of that name, of the profile's entry first; NULL: none. */
const struct stb_stmt *stb_nested(const struct stb_block *b, const char *name);

/* expand.c: the cells of all matrices. */
void stb_expand(struct stb_expansion *x);
/* "small4 / std_flash / 64": the values of a cell, for messages. */
const char *stb_xcell_label(const struct stb_expansion *x, uint32_t cell);
/* Adds "in N of M cells, first: ..." where the matrix has several. */
void stb_tell_cells(struct stb_expansion *x, struct stb_diag *d, const struct stb_xmatrix *m, uint32_t n,
	uint32_t first);

/* effective.c */
const struct stb_shape *stb_shape(struct stb_expansion *x, const struct stb_schema_type *type);
/* Parts of the key x->key: an address or number; the block of the kind that an axis offers to be bound. */
void stb_key_add(struct stb_expansion *x, const void *part);
void stb_key_add_offer(struct stb_expansion *x, const struct stb_xmatrix *m, const uint32_t *point, enum stb_kind kind);
/* Whether what is in force may depend on the whole point, because an address says ${cell.AXIS}. */
bool stb_wants_cell(const struct stb_setting *s);
/* The block with all that is in force for it; interned. bind: whether axes by kind bind what it leaves out. */
struct stb_eblock *stb_effective(struct stb_expansion *x, const struct stb_block *block,
	const struct stb_xsettings *active, const struct stb_xmatrix *m, const uint32_t *point, uint32_t cell, bool bind);
/* Whether volumes of the class are block devices, so that a file system is made on them unless they stay raw. */
bool stb_is_block_class(const struct stb_eblock *storage);
/* Whether a volume takes the attribute from its class where it does not state it itself. */
bool stb_is_from_class(const struct stb_schema_attr *row);
/* Whether it lies on existing devices, which are overwritten only with consent. */
bool stb_is_existing_device(const struct stb_eblock *storage);
/* What a device or a namespace is called in the spec: two classes of one name are one device. NULL: the class is no single device. */
const char *stb_device_of(const struct stb_eblock *storage);
/* The volume with the file system that it has from its class. */
struct stb_eblock *stb_effective_volume(struct stb_expansion *x, struct stb_eblock *volume, struct stb_eblock *storage);

/* identity.c */
#define STB_IDENTITY_VERSION 1
/* Appends the block's JSON: with what makes its identity, or with all of it. */
void stb_identity_block(struct stb_buf *out, const struct stb_eblock *b, bool only_id);
/* Fills begun of an env. */
void stb_identity_env(struct stb_env *e);
/* What the ids of a matrix's cells end with. */
const char *stb_identity_tail(struct stb_arena *a, enum stb_fresh fresh);
void stb_identity_cell(const struct stb_env *e, const struct stb_chain *c, char out[STB_HASH_HEX]);
/* What a scope adds to the identity of its groups. */
const char *stb_identity_load(struct stb_arena *a, const struct stb_scope *s);
void stb_identity_group(const struct stb_env *e, const char *load, char out[STB_HASH_HEX]);
/* The attributes of oltp workloads that may say what the load writes, NULL-terminated. */
const char *const *stb_dataset_attrs(void);
/*
 * Whether the attribute says so in this one. Tables do not depend on the script but for two: bulk_insert has one table a thread and nothing
 * else to say of it, insert without auto_inc starts from empty tables.
 */
bool stb_dataset_has(const struct stb_eblock *workload, const char *attr);

/* cost.c: estimates; the constants are documented there. */
struct stb_cost {
	uint64_t layout_bytes;  /* files written before they are read */
	uint64_t dataset_bytes; /* data set as loaded */
	uint64_t file_bytes;    /* files at their greatest */
	uint64_t server_bytes;  /* an empty server, on its data volume */
	uint64_t redo_bytes;    /* its redo log, wherever that lies */
	uint64_t binlog_bytes;  /* the load in the binary log of a primary */
	uint64_t tmp_bytes;     /* temporary files */
	uint64_t reserve_bytes; /* what the file system keeps for itself */
	uint64_t mkfs_bytes;
	uint64_t need_bytes;    /* what must fit on the volume, without the reserve */
	uint64_t have_bytes;    /* size of the volume or its class; STB_UNBOUNDED: not stated */
	uint64_t measure_ns;
	uint64_t write_bytes;   /* STB_UNBOUNDED: as much as the target takes */
	uint64_t provision_ns;
	uint64_t copy_bytes;    /* of the server's files as loaded, one server; 0: there is none, or no room for a copy */
	uint64_t restore_ns;    /* of all servers */
};
void stb_cost(const struct stb_scope *s, struct stb_cost *out);
/* What the volume has: its own size, or that of its class; STB_UNBOUNDED: not stated. */
uint64_t stb_volume_bytes(const struct stb_eblock *volume, const struct stb_eblock *storage);
bool stb_io_reads(const struct stb_eblock *workload);
bool stb_io_writes(const struct stb_eblock *workload);
bool stb_io_random(const struct stb_eblock *workload);
bool stb_io_one_file(const struct stb_eblock *workload); /* all its jobs work on one */
bool stb_io_same_file(const struct stb_scope *a, const struct stb_scope *b); /* two io workloads; of a raw volume that is the file */
bool stb_io_permuted(const struct stb_eblock *workload); /* each block once a pass, in random order */
bool stb_io_trims(const struct stb_eblock *workload);
uint64_t stb_io_greatest_bs(const struct stb_eblock *workload); /* 0: it has none */
bool stb_oltp_writes(const struct stb_eblock *workload);
bool stb_oltp_single(const struct stb_eblock *workload); /* one statement an event, which commits by itself */
/* Statement handles of one connection in ps mode. */
uint64_t stb_oltp_statements(const struct stb_eblock *workload);
/* "4GiB", for messages; of n that no unit divides, the nearest in binary units and the exact bytes. */
const char *stb_bytes_text(struct stb_arena *a, uint64_t n);

/*
 * measured.c: what a cell lacks to be measured in a metric (of a mix: of its member, where the name begins with one); STB_NEEDS_* bits, 0: it can
 * have it. STB_UNMEASURED: it is not of the metric's family, or the mix has no such member.
 */
struct stb_metric;
#define STB_UNMEASURED (~0u)
unsigned stb_scope_lacks(const struct stb_scope *s, const char *name, const struct stb_metric *metric);
/* What profiles may bring of it. */
unsigned stb_profiles_bring(const struct stb_model *m);

/* rules.c: diagnostics into the sink; *notes are those of severity note, for the plan. */
void stb_rules_run(struct stb_expansion *x, const char ***notes, uint32_t *n_notes);

/* lower.c, lower_matrix.c, lower_report.c */
struct stb_lowering {
	struct stb_expansion *x;
	struct stb_plan *plan;
	struct stb_arena *a;      /* the plan's */
	struct stb_intern spans, files, texts;
	uint32_t cap_spans, cap_files, cap_groups, cap_reports, cap_claims, cap_secrets, cap_privileges, cap_devices, cap_notes;
};
uint32_t stb_lower_span(struct stb_lowering *l, struct stb_span span);
const char *stb_lower_str(struct stb_lowering *l, const char *s); /* NULL stays NULL */
struct stb_val stb_lower_val(struct stb_lowering *l, const struct stb_val *v);
struct stb_selector stb_lower_select(struct stb_lowering *l, const struct stb_xmatrix *m, const struct stb_xselect *s);
void stb_lower_matrices(struct stb_lowering *l);
bool stb_on_external_database(const struct stb_scope *s);
/* lower_later.c: what a run does not carry out of a block, of a group (its blocks are lowered), of a matrix. */
void stb_lower_later(struct stb_lowering *l, const struct stb_eblock *b, struct stb_plan_block *to);
void stb_lower_group_later(struct stb_lowering *l, const struct stb_scope *s, struct stb_plan_group *g);
void stb_lower_matrix_later(struct stb_lowering *l, const struct stb_block *b, struct stb_plan_matrix *to);
void stb_lower_offers(struct stb_lowering *l, const char **notes, uint32_t *n_notes); /* room for one a matrix */
/* lower_copies.c: takes copy_bytes, which new groups have wherever it could be, away from those that are not restored from copies. */
void stb_lower_copies(struct stb_lowering *l, const char **notes, uint32_t *n_notes); /* room for one a matrix */
void stb_lower_reports(struct stb_lowering *l);

#endif
