/*
 * resolve.h - what resolve.c and profile.c share: the words between a block's kind and its brace.
 */
#ifndef STB_RESOLVE_H
#define STB_RESOLVE_H

#include "compiler/model.h"

struct stb_head {
	enum stb_kind kind;
	const struct stb_schema_type *type;
	const char *name; /* "*": every block of the kind and type */
	struct stb_span name_span;
	struct stb_span span; /* kind, type and name */
};

/* Reads and checks the words of a block. star: whether `*` may stand for the name. false: reported. */
bool stb_head_read(struct stb_model *m, const struct stb_stmt *stmt, bool star, struct stb_head *out);

/* The name under which a file is shown: relative to its repository where it lies in one, else as given. */
char *stb_name_in_repository(struct stb_arena *a, const char *path);

#endif
