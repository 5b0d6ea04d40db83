/*
 * check.h - what check.c and profile.c share: the body of a block, or of a profile's entry, as settings.
 */
#ifndef STB_CHECK_H
#define STB_CHECK_H

#include "compiler/model.h"

/* Reads stmt's body into b's settings, label and note; b has its kind and type. Everything wrong is reported. */
void stb_check_body(struct stb_model *m, struct stb_block *b, const struct stb_stmt *stmt, enum stb_origin origin);
/* Adds a setting; one of the same key is replaced. STB_V_NONE also removes what stands beneath the key ("schedule.days"). */
void stb_block_set(struct stb_model *m, struct stb_block *b, const struct stb_setting *s);
/* Suites, matrices, reports and claims without what they need. */
void stb_check_required(struct stb_model *m, const struct stb_block *b);

#endif
