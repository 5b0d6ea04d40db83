/*
 * fmt.h - the one way to write a spec: what `stb fmt` prints.
 *
 * Pure: a text in, a text out. Only the form changes: the plan of the result differs in nothing but its `source` section.
 */
#ifndef STB_FMT_H
#define STB_FMT_H

#include "compiler/diag.h"
#include "runtime/base/buf.h"

/*
 * Appends the canonical form of a file to *out. false: the file has syntax errors, which are in the sink, and nothing was appended. Includes
 * are not followed, names and values are not judged.
 */
STB_NODISCARD bool stb_fmt(struct stb_arena *a, const struct stb_sources *src, uint32_t file, struct stb_sink *sink, struct stb_buf *out);

#endif
