/*
 * import_sysbench_option.c - what the options of a sysbench command line say: found, read, and each of them told of once. What is in force is the last
 * of a name, as in sysbench.
 */
#include "compiler/import_sysbench.h"
#include "compiler/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stb_sb_heed(struct stb_sb *s, const struct stb_sb_option *o, const char *why)
{
	stb_import_differs(s->im, o->span, o->words, "%s", why);
}

/* --- options ---------------------------------------------------------------------------------------------------------------------------- */

/* A script of the 0.5 kind reads the globals oltp_...: under the later name an option means nothing to it. */
static bool is_unread(const struct stb_sb_command *c, const struct stb_sb_option *o)
{
	return !strcmp(stb_sb_version(c), "0.5") && !strncmp(o->row->aliases, "oltp-", 5) && strncmp(o->name, "oltp-", 5) != 0;
}

/* The last one of a name holds, as in sysbench; NULL: it was not given. */
struct stb_sb_option *stb_sb_find(const struct stb_sb_command *c, const char *name)
{
	for (uint32_t i = c->n; i--;)
		if (c->options[i].row && !strcmp(c->options[i].row->name, name) && !is_unread(c, &c->options[i]))
			return &c->options[i];
	return NULL;
}

struct stb_sb_option *stb_sb_take(struct stb_sb *s, const char *name)
{
	struct stb_sb_option *o = stb_sb_find(s->c, name);

	if (o)
		o->done = true;
	return o;
}

/* Digits of the value; what sysbench makes of it is told where that is not what it says. false: no number, and told. */
bool stb_sb_number(struct stb_sb *s, const struct stb_sb_option *o, uint64_t *out)
{
	const size_t digits = strspn(o->value, "0123456789");
	const bool of_script = o->row->part == STB_SB_WORKLOAD && !stb_sb_has("threads events time rate", o->row->name);
	char *end;

	if (*o->value == '$') {
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return false;
	}
	if (!digits || digits > 18) {
		stb_import_refuse(s->im, o->span, o->words, digits ? "the number is too large" : "it is no number");
		return false;
	}
	*out = strtoull(o->value, &end, 10);
	if (!*end)
		return true;
	if (!of_script) {
		stb_import_refuse(s->im, o->span, o->words, "sysbench refuses it: no suffix and no fraction is taken here");
		return false;
	}
	stb_import_differs(s->im, o->span, o->words, "sysbench knows no suffix here and reads it as %.*s", (int)digits, o->value);
	return true;
}

/* What sysbench makes of an option that a script of this age does not have. */
void stb_sb_tell_version(struct stb_sb *s, const struct stb_sb_option *o)
{
	const bool old_name = !strncmp(o->name, "oltp-", 5);

	if (stb_sb_has(o->row->versions, s->version) && (strcmp(s->version, "1.0") || !old_name))
		return;
	if (!strcmp(s->version, "1.0") && old_name && stb_sb_has(o->row->versions, "1.0"))
		stb_import_differs(s->im, o->span, o->words, "the scripts of sysbench 1.0 refuse it; it is taken as --%s", o->row->name);
	else if (!strcmp(s->version, "1.0") && !strcmp(o->row->versions, "1.1"))
		stb_sb_heed(s, o, "sysbench 1.0.20 refuses it, later versions have it; it is taken as it was meant");
	else if (!strcmp(s->version, "0.5") && !strcmp(o->row->versions, "1.1"))
		stb_sb_heed(s, o, "sysbench 1.0.20 ignores it silently with a script of the 0.5 kind; it is taken as it was meant");
	else if (!strcmp(s->version, "1.0"))
		stb_sb_heed(s, o, "the scripts of sysbench 1.0 refuse it");
}

/* With sysbench's default where it was not given; 0: then it is left to stb's, which is the same. */
void stb_sb_put_number(struct stb_sb *s, const char *name, const char *attr, uint64_t fallback)
{
	struct stb_sb_option *o = stb_sb_take(s, name);
	uint64_t n = fallback;

	if (o)
		stb_sb_tell_version(s, o);
	if (o ? stb_sb_number(s, o, &n) : fallback)
		stb_import_attr(s->im, attr, "%llu", (unsigned long long)n);
}

/* false: it is neither, and told. */
bool stb_sb_boolean(struct stb_sb *s, const struct stb_sb_option *o, bool *out)
{
	if (!o->has_value || stb_sb_has("on true 1", o->value)) {
		*out = true;
		return true;
	}
	if (stb_sb_has("off false 0", o->value)) {
		*out = false;
		return true;
	}
	stb_import_refuse(s->im, o->span, o->words, "sysbench takes on or off there");
	return false;
}

bool stb_sb_boolean_of(struct stb_sb *s, const char *name, bool fallback)
{
	struct stb_sb_option *o = stb_sb_take(s, name);
	bool on;

	return o && stb_sb_boolean(s, o, &on) ? on : fallback;
}

bool stb_sb_is_neutral(const struct stb_sb_option *o)
{
	const struct stb_sb_row *r = o->row;

	if (!r->neutral)
		return false;
	if (r->arg == STB_SB_BOOL)
		return !strcmp(r->neutral, "on") ? !o->has_value || stb_sb_has("on true 1", o->value) : stb_sb_has("off false 0", o->value);
	if (!strcmp(r->name, "mysql-storage-engine"))
		return !strcasecmp(o->value, r->neutral);
	return !strcmp(o->value, r->neutral);
}

/* Digits, perhaps a point and more digits. */
static bool is_decimal(const char *s)
{
	const size_t whole = strspn(s, "0123456789"), rest = s[whole] == '.' ? strspn(s + whole + 1, "0123456789") : 0;

	return whole && whole + rest < 18 && (s[whole] == '.' ? rest && !s[whole + 1 + rest] : !s[whole]);
}

/* The value of a TAKE row in the language's spelling; NULL: it is none, and told. */
static const char *spelled(struct stb_sb *s, const struct stb_sb_option *o)
{
	struct stb_arena *a = &s->im->c->arena;
	uint64_t n;
	bool on;

	switch (o->row->arg) {
	case STB_SB_COUNT:
		return stb_sb_number(s, o, &n) ? stb_arena_printf(a, "%llu", (unsigned long long)n) : NULL;
	case STB_SB_INT_SHARE:
		return stb_sb_number(s, o, &n) ? stb_arena_printf(a, "%llu%%", (unsigned long long)n) : NULL;
	case STB_SB_RATE:
		return stb_sb_number(s, o, &n) ? stb_arena_printf(a, "%llu/s", (unsigned long long)n) : NULL;
	case STB_SB_SECONDS:
		return stb_sb_number(s, o, &n) ? stb_arena_printf(a, "%llus", (unsigned long long)n) : NULL;
	case STB_SB_BOOL:
		return stb_sb_boolean(s, o, &on) ? (on ? "true" : "false") : NULL;
	case STB_SB_NUMBER:
		if (is_decimal(o->value))
			return o->value + STB_MIN(strspn(o->value, "0"), strcspn(o->value, ".") - 1);
		stb_import_refuse(s->im, o->span, o->words, "it is no number");
		return NULL;
	case STB_SB_WORD:
		if (stb_sb_has(stb_schema_attr(STB_K_WORKLOAD, "oltp", o->row->attr)->words, o->value))
			return o->value;
		stb_import_refuse(s->im, o->span, o->words, "it is none of the words there are");
		return NULL;
	case STB_SB_TEXT:
	case STB_SB_SECRET:
	case STB_SB_LIST:
		break;
	}
	STB_BUG("an option of a kind that has no spelling");
}

/* Distributions that a parameter says something to. */
static bool is_of_distribution(const struct stb_sb *s, const char *attr)
{
	if (!strcmp(attr, "rand_spec_iter"))
		return stb_sb_has("gaussian special", s->rand_type);
	if (!strncmp(attr, "rand_spec_", 10))
		return !strcmp(s->rand_type, "special");
	if (!strcmp(attr, "rand_pareto_h"))
		return !strcmp(s->rand_type, "pareto");
	return strcmp(attr, "rand_zipfian_exp") || !strcmp(s->rand_type, "zipfian");
}

static void take_row(struct stb_sb *s, const struct stb_sb_option *o)
{
	const char *value;

	if (o->row->attr && !is_of_distribution(s, o->row->attr)) {
		if (!stb_sb_is_neutral(o))
			stb_import_leave(s->im, o->span, o->words, "rand_type is %s, to which it means nothing", s->rand_type);
		return;
	}
	if (o->row->arg == STB_SB_TEXT) {
		if (*o->value)
			stb_import_text(s->im, o->row->attr, o->value);
		return;
	}
	if (stb_sb_is_neutral(o))
		return;
	value = spelled(s, o);
	if (value)
		stb_import_attr(s->im, o->row->attr, "%s", value);
}

/* Everything of a part of the spec that no function of its own has taken, in the order given. */
void stb_sb_put_part(struct stb_sb *s, enum stb_sb_part part)
{
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct stb_sb_option *o = &s->c->options[i];
		const struct stb_sb_option *last = o->row ? stb_sb_find(s->c, o->row->name) : o;

		if (o->done || !o->row || o->row->part != part)
			continue;
		o->done = true;
		if (is_unread(s->c, o)) {
			stb_import_leave(s->im, o->span, o->words, "a script of the 0.5 kind ignores it silently; it reads --%s", o->row->aliases);
			continue;
		}
		if (o != last) {
			if (strcmp(o->value, last->value) != 0)
				stb_sb_heed(s, o, "it is given again later, and the last holds");
			continue;
		}
		if (o->row->fate != STB_SB_TAKE && stb_sb_is_neutral(o))
			continue;
		if (o->row->fate == STB_SB_TAKE)
			stb_sb_tell_version(s, o);
		if (o->row->scripts && s->script && !stb_sb_has(o->row->scripts, s->script)) {
			if (!stb_sb_is_neutral(o))
				stb_import_leave(s->im, o->span, o->words, strcmp(s->script, "bulk_insert") ? "script %s has no such statements"
					: "script %s has a table for every thread, and reads no such option", s->script);
			continue;
		}
		switch (o->row->fate) {
		case STB_SB_TAKE:
			take_row(s, o);
			break;
		case STB_SB_OWN:
			break; /* taken by its function, or means nothing to this version */
		case STB_SB_LEAVE:
			stb_import_leave(s->im, o->span, o->words, "%s", o->row->reason);
			break;
		case STB_SB_REFUSE:
			stb_import_refuse(s->im, o->span, o->words, "%s", o->row->reason);
			break;
		}
	}
}

void stb_sb_refuse_unknown(struct stb_sb *s)
{
	const char *names[256], *near;
	size_t n_rows, n = 0;
	const struct stb_sb_row *rows = stb_sb_rows(&n_rows);

	for (size_t i = 0; i < n_rows && n < STB_LEN(names); i++)
		names[n++] = rows[i].name;
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct stb_sb_option *o = &s->c->options[i];

		if (o->row) {
			if (o->parted)
				stb_import_differs(s->im, o->span, o->words, "sysbench takes only `--%s=...`, in one word", o->name);
			continue;
		}
		near = stb_nearest(o->name, names, n);
		o->done = true;
		if (near)
			stb_import_refuse(s->im, o->span, o->words, "no version of sysbench has it for its OLTP tests; did you mean --%s?", near);
		else
			stb_import_refuse(s->im, o->span, o->words, "no version of sysbench has it for its OLTP tests");
	}
}
