/*
 * model.h - the resolved spec: blocks by name with typed values, names looked up, includes read, the profile laid over. Made by resolve and
 * check, read by expand, rules and lower.
 *
 * Plain data in the compilation's arena.
 *
 *   AST --resolve--> blocks, scope --check--> typed settings --profile--> --expand--> cells with effective settings --rules--> --lower--> plan
 */
#ifndef STB_MODEL_H
#define STB_MODEL_H

#include "compiler/ast.h"
#include "compiler/compile.h"
#include "compiler/diag.h"
#include "compiler/schema.h"

/* One value that something sets: a line, an override, a profile, a point. */
struct stb_setting {
	const struct stb_schema_attr *row;
	const char *key;            /* row->name ("schedule.days" inside a nested block), or "options.NAME", "units.NAME" in an open map */
	struct stb_val val;         /* STB_V_NONE after `= none` in a profile: unset */
	enum stb_origin origin;
	struct stb_span key_span, value_span;
	uint32_t decimals;          /* of the number as written (claims) */
	const struct stb_node *node;/* the expression, or NULL for a default */
};

struct stb_block {
	enum stb_kind kind;
	const struct stb_schema_type *type;
	const char *name;
	struct stb_span span;       /* kind, type and name: what messages underline */
	const char *label, *note;   /* NULL where not stated */
	const char *like;           /* the block that it starts from, NULL: none; laid under its settings by check */
	struct stb_span like_span;
	int like_state;             /* like.c */
	struct stb_setting *settings; /* only what is written (or laid over by the profile); each key once */
	uint32_t n_settings, cap_settings;
	const struct stb_stmt *stmt;  /* as declared, for nested blocks: where, axis, point, override, ... */
	const struct stb_stmt *profile_stmt; /* the profile's entry that merged into it, or NULL */
	bool replaced;              /* by the profile, with another type: overrides written for it fall away */
};

struct stb_let {
	const char *name;
	bool is_param;
	struct stb_span span;
	const struct stb_node *node;
	struct stb_val val;         /* evaluated; STB_V_NONE while it is being evaluated (cycle) or when it is bad */
	int state;                  /* 0 new, 1 in evaluation, 2 done, 3 bad */
	const struct stb_let *via;  /* in evaluation: the one that needs it (for the chain of a cycle) */
	const struct stb_node *set; /* what --set gives it, or NULL */
	const char *set_text;
	bool used;                  /* something asked for its value */
};

struct stb_profile {
	const char *name;
	const struct stb_stmt *stmt;
	struct stb_span span;
};

struct stb_set_node { /* the value of one --set, parsed once */
	bool read;
	struct stb_node *node;
};

struct stb_model {
	struct stb_compilation *c;
	const struct stb_compile_options *options;
	uint32_t top_file;
	struct stb_block **blocks;  /* all kinds but profile, in source order */
	uint32_t n_blocks, cap_blocks;
	struct stb_let **lets;
	uint32_t n_lets, cap_lets;
	struct stb_profile *profiles; /* declared; `check` tries each */
	uint32_t n_profiles, cap_profiles;
	const char *profile;        /* the one in force, or NULL */
	struct stb_stmt **stmts;    /* of all files, an include's in its place: what the blocks were collected from */
	uint32_t n_stmts, cap_stmts;
	struct stb_set_node *set_nodes; /* one each of options->set */
	struct stb_names *names;    /* resolve.c: blocks and lets by name */
	const struct stb_let *evaluating; /* eval.c */
	uint32_t depth;
	bool too_deep; /* said once: where one chain is too long, its parts are too */
};

/* resolve.c: parses the top file and its includes, collects names. Always returns a model; errors are in the sink. */
struct stb_model *stb_resolve(struct stb_compilation *c, uint32_t file, const struct stb_compile_options *o, bool follow_includes);
/* A fresh model of the same trees, for another profile; reports what resolve reported once more. */
struct stb_model *stb_resolve_again(const struct stb_model *m);
/*
 * profile.c: lays one profile over the checked model (NULL: nothing to do). `schedule = none` and the like leave a setting of that name with
 * the value STB_V_NONE; nested blocks of an entry are left in profile_stmt and win over those of stmt.
 */
void stb_profile_apply(struct stb_model *m, const char *profile);
/*
 * check.c: every attribute of every block: known, once, in place, type, unit, range, words; references exist. Attributes become settings;
 * so do those of options, units, decimals, headings ("units.NAME") and schedule ("schedule.days"). Of the other nested blocks (where,
 * baseline, axis, point, exclude, override) it has seen to names, words and duplicates; expand reads them from stmt. A required attribute
 * is missed here in suites, matrices, reports and claims only; in the other kinds an axis or an override may still give it.
 */
void stb_check(struct stb_model *m);

/*
 * fold.c: the value of an expression as a schema row wants it (type, unit, range, words), with diagnostics that name the row. A bare word is a
 * word or block name of the expected type, else a let or param; both is an error. false: reported.
 */
bool stb_fold(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, struct stb_val *out,
	uint32_t *decimals);
/* The value of an expression of no particular type (lets, selectors). */
bool stb_fold_any(struct stb_model *m, const struct stb_node *node, struct stb_val *out, uint32_t *decimals);
/*
 * One setting from an attribute statement inside block kind/type (also from override, profile and point paths once their target is known):
 * looks the row up, folds, checks; "options.x" goes to the open map. false: reported.
 */
bool stb_setting_make(struct stb_model *m, enum stb_kind kind, const char *type, const struct stb_name *path, uint32_t n_path,
	const struct stb_node *value, enum stb_origin origin, struct stb_setting *out);

struct stb_block *stb_model_find(const struct stb_model *m, enum stb_kind kind, const char *name); /* NULL: none */
const struct stb_setting *stb_block_setting(const struct stb_block *b, const char *key);            /* NULL: not written */

/*
 * expand.c: matrices to cells; selectors, exclusions, overrides, binding, strength order. rules.c: attributes against each other, once per
 * distinct combination. lower.c: the plan.
 */
struct stb_plan *stb_expand_and_lower(struct stb_model *m);

#endif
