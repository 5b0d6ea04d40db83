/*
 * rules.h - private to rules*.c: how a rule looks at a scope and tells what it found.
 */
#ifndef STB_RULES_H
#define STB_RULES_H

#include "compiler/expand.h"

struct stb_finding {
	enum stb_code code;
	struct stb_diag *diag;
	const struct stb_eattr *attrs[2];   /* what contradicts, for the exclusion that is offered; NULL: none */
	const struct stb_eblock *blocks[2]; /* theirs */
	const struct stb_xmatrix *matrix;
	uint32_t n_cells, first_cell;
	uint32_t last_cell; /* first cell of the scope that found it last: a mix has several for the same cells */
};

struct stb_rules_run {
	struct stb_expansion *x;
	const struct stb_scope *s;          /* at hand */
	const struct stb_eblock *w;         /* its workload */
	const struct stb_eblock *volume, *storage; /* at hand, of rules of volumes */
	struct stb_finding *findings;
	uint32_t n, cap;
	struct stb_intern known;            /* code, matrix, place and text -> finding number + 1 */
	struct stb_cost cost;               /* of s */
};

/*
 * Tells it once per place and text, and counts the cells. NULL: told before (the cells are counted), nothing to add. a
 * and b, which may be NULL, are attributes of blocks ba and bb; the place is a's line, or its block where the value is
 * a default.
 */
struct stb_diag *stb_find(struct stb_rules_run *r, enum stb_code code, const struct stb_eblock *ba,
	const struct stb_eattr *a, const struct stb_eblock *bb, const struct stb_eattr *b, const char *fmt, ...)
	STB_PRINTF(7, 8);
/* A label at the line of b, or, where it is a default, a note that says so. */
void stb_find_other(struct stb_rules_run *r, struct stb_diag *d, const struct stb_eblock *bb, const struct stb_eattr *b,
	const char *words);
/* `iodepth = 16` as the spec would say it. */
const char *stb_attr_text(struct stb_rules_run *r, const struct stb_eattr *a);
/* An error when the attribute was set to something other than its default although it has no effect: why says so. */
void stb_without_effect(struct stb_rules_run *r, enum stb_code code, const struct stb_eblock *b, const char *attr,
	const struct stb_eblock *because_of, const char *because, const char *why);

/* The sum of a list of shares; false: it is too fine to be computed. */
bool stb_shares_sum(const struct stb_val *list, struct stb_val *sum);

/* E0418: what is laid out or loaded against the size of the volume or its class. */
void stb_rule_fits(struct stb_rules_run *r, const struct stb_eattr *size, const char *what, bool plural);

/* Each looks at r->s with all rules of its table. io: volume and storage are there; oltp: the database is; volume: volume and storage are. */
void stb_rules_look_io(struct stb_rules_run *r);
void stb_rules_look_io_alone(struct stb_rules_run *r); /* those of io that need nothing but the workload */
void stb_rules_look_oltp(struct stb_rules_run *r);
void stb_rules_look_volume(struct stb_rules_run *r); /* r->volume and r->storage */
void stb_rules_look_place(struct stb_rules_run *r);
void stb_rules_look_mix(struct stb_rules_run *r);
/* rules_unused.c: blocks without a scope. */
void stb_rules_look_unused(struct stb_rules_run *r);

/* rules_rate.c: rates, pauses and steadiness, of io and oltp alike. */
void stb_rule_two_rates(struct stb_rules_run *r);
void stb_rule_rate_too_low(struct stb_rules_run *r);
void stb_rule_rate_of_class(struct stb_rules_run *r);
void stb_rule_without_rate(struct stb_rules_run *r);
void stb_rule_thinktime(struct stb_rules_run *r);
void stb_rule_long_pause(struct stb_rules_run *r);
void stb_rule_rate_total(struct stb_rules_run *r);
void stb_rule_steady_state(struct stb_rules_run *r);

/* rules_mix.c */
void stb_rule_raw_read(struct stb_rules_run *r);
void stb_rule_prepare(struct stb_rules_run *r);

/* rules_oltp.c, of mixes */
void stb_rule_mix_connections(struct stb_rules_run *r);
void stb_rule_mix_prepared(struct stb_rules_run *r);
void stb_rule_mix_prepared_external(struct stb_rules_run *r);

#endif
