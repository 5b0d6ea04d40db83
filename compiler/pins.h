/*
 * pins.h - pins of a spec and the pin rules. stb_check_pin stands in check.h.
 */
#ifndef STB_PINS_H
#define STB_PINS_H

#include "compiler/expand.h"
#include "runtime/base/pin.h"

/* The pin in force as the pin rules take it; its texts lie in a or in the block. */
void stb_pin_read(struct stb_arena *a, const struct stb_eblock *pin, struct stb_pin_spec *out);
/* The same of a pin in a plan. */
void stb_pin_read_planned(struct stb_arena *a, const struct stb_plan_block *pin, struct stb_pin_spec *out);
/* Tells what is wrong with a pin in force that differs from its declaration, which was judged by check. */
void stb_pin_judge(struct stb_model *m, const struct stb_eblock *pin);

#endif
