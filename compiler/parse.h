/*
 * parse.h - one buffer to one tree. Reports all syntax errors it can find; never exits, never blocks, opens nothing.
 */
#ifndef STB_PARSE_H
#define STB_PARSE_H

#include "compiler/ast.h"
#include "compiler/diag.h"

/* The tree of a file (also of a broken one: what could be read). Success is sink->n_errors standing still. */
struct stb_ast *stb_parse(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink);

/* One value or one selector ("server = small4  threads = 64..256") from a buffer: for --set and --only. NULL where it is wrong. */
struct stb_node *stb_parse_value(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink);
/* Attributes only, as inside a `where { }`. */
struct stb_stmt **stb_parse_selector(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink,
	uint32_t *n);

#endif
