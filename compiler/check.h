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
/* like.c: lays what is written in a block over the block that it names with `like`. */
void stb_like_apply(struct stb_model *m);
/* pins.c: a pin as it is declared, without a machine; nothing where the matrix has yet to say how many vCPUs there are. */
void stb_check_pin(struct stb_model *m, const struct stb_block *b);
/* Suites, matrices, reports and claims without what they need. */
void stb_check_required(struct stb_model *m, const struct stb_block *b);

#endif
