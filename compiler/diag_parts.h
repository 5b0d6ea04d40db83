/*
 * diag_parts.h - what the forms of diagnostics share: nothing of a spec is shown but through stb_diag_show. For diag_*.c only.
 */
#ifndef STB_DIAG_PARTS_H
#define STB_DIAG_PARTS_H

#include "compiler/diag.h"
#include "runtime/base/buf.h"

#include <jansson.h>

/* Appends text with masked and unprintable parts replaced. */
void stb_diag_show(const struct stb_sink *s, struct stb_buf *b, const char *text);
/* Whether showing it would hide a secret: such a fix must not be applied by a program. */
bool stb_diag_is_masked(const struct stb_sink *s, const char *text);
json_t *stb_diag_json_text(const struct stb_sink *s, const char *text);
const char *stb_diag_severity(enum stb_severity severity);

/* One SARIF log with one run; `diags` are sorted. The caller owns it. */
json_t *stb_diag_sarif(const struct stb_sink *s, const struct stb_diag *const *diags, uint32_t n);

#endif
