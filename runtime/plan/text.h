/*
 * text.h - what the parts of the text form of a plan share. For runtime/plan and for `stb diff`.
 */
#ifndef STB_PLAN_TEXT_H
#define STB_PLAN_TEXT_H

#include "runtime/base/buf.h"
#include "runtime/plan/plan.h"

struct stb_plan_printer {
	const struct stb_plan *p;
	const uint8_t *keep;      /* NULL: every cell; else those that are printed */
	uint8_t *runs;            /* of these, what is carried out and not only described */
	FILE *out;
	struct stb_arena scratch;
	uint32_t *variants;       /* per block: its number among those of its kind and name, 0 where it is the only one */
	/* from one walk over the steps */
	uint64_t *provisions;     /* per group: how often */
	uint64_t *restores;   /* per group */
	uint64_t *slot_ns;        /* per matrix: the longest slot */
	struct stb_plan_totals totals;
};

/* "400MB", "1.24GB", "3min 20s": at most three or so digits; arena-backed. */
const char *stb_plan_bytes_text(struct stb_plan_printer *t, uint64_t bytes);
const char *stb_plan_ns_text(struct stb_plan_printer *t, uint64_t ns);
/* "database mysql db", with "(variant 2)" where several blocks of the plan have the kind and name. */
const char *stb_plan_block_text(struct stb_plan_printer *t, uint32_t block);
/* s, then blanks up to the display width. */
void stb_plan_pad(FILE *out, const char *s, size_t width);
size_t stb_plan_width(const char *s);

/* Sections, each with an empty line before it. */
void stb_plan_print_cells(struct stb_plan_printer *t);
void stb_plan_print_groups(struct stb_plan_printer *t);
void stb_plan_print_order(struct stb_plan_printer *t);
void stb_plan_print_reports(struct stb_plan_printer *t);

#endif
