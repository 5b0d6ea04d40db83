/*
 * eval.h - the value of an expression by itself, without an attribute that wants it to be something. For fold.c, options.c and resolve.c.
 */
#ifndef STB_EVAL_H
#define STB_EVAL_H

#include "compiler/model.h"

/*
 * The value of an expression. A bare name is a let or param, else a WORD (a dotted one always). RANGE only where ranges is true. row may be
 * NULL; it says whether ${cell.AXIS}, env() and file() may stand there. false: reported.
 */
bool stb_eval(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, bool ranges, struct stb_val *out);

/* distribution.c: zipf(1.2) and the like, which are words. row as above; false: reported. */
bool stb_is_distribution(const char *name);
bool stb_eval_distribution(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call, struct stb_val *out);

/* --- names.c --- */

struct stb_let *stb_let_find(const struct stb_model *m, const char *name); /* resolve.c */
/* false: it is bad or defined by itself (reported once). */
bool stb_let_value(struct stb_model *m, struct stb_let *let, struct stb_val *out);

/* `a-b` without blanks, its first name known to nobody. */
bool stb_is_dashed_word(const struct stb_model *m, const struct stb_node *node);
enum stb_dashed { STB_DASHED_NAME, STB_DASHED_TEXT, STB_DASHED_UNKNOWN }; /* what was wanted there */
void stb_report_dashed_word(struct stb_model *m, const struct stb_node *node, enum stb_dashed as);
/* No block of the kind (enum stb_kind), or no let or param (kind < 0), is called so. */
void stb_report_unknown_name(struct stb_model *m, const struct stb_node *node, int kind);
const char *stb_nearest_let(struct stb_model *m, const char *name); /* NULL: none is near */

/* --- words for messages --- */

/* The source of a span in one line, clipped, for messages. Never call it on what may be a secret. */
const char *stb_source_text(const struct stb_model *m, struct stb_span span);
/* "bytes", "a time", "text": how a message says that something is of that type. */
const char *stb_type_phrase(enum stb_vtype type);
/* A row's sentence as the tail of another one: no capital, no full stop. */
const char *stb_doc_phrase(struct stb_arena *a, const struct stb_schema_attr *row);
/* Whether env() and file() may give the attribute's value. */
bool stb_takes_secret(const struct stb_schema_attr *row);

#endif
