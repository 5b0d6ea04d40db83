/*
 * rule.h - the table of rules between attributes, for the reference. The rules themselves are rules*.c.
 */
#ifndef STB_RULE_H
#define STB_RULE_H

#include "compiler/diag.h"

struct stb_rule {
	enum stb_code code;
	const char *types; /* "workload io", "volume": what it looks at */
	const char *doc;   /* what holds, in a sentence; severity and explanation are the code's */
};

/* In the order in which they are looked at. Several rules may share a code. */
const struct stb_rule *stb_rules(size_t *n);

#endif
