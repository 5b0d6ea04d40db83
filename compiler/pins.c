/*
 * pins.c - a pin of a spec as the pin rules (runtime/base/pin.h) want it, and what they find as diagnostics at the place that is meant: inside
 * the text of a list, where that stands in the source as it reads.
 *
 * A declared pin is judged by itself, used or not; one that overrides, axes or a profile have changed is judged again where it is met. Without
 * a topology only what holds on every machine is told.
 */
#include "compiler/pins.h"

#include "compiler/check.h"

#include <string.h>

static const char rule_prefix[] = "vcpu.";

enum { PREFIX = sizeof(rule_prefix) - 1 };

/* --- reading ------------------------------------------------------------------------------------------------------------------------- */

/* The attributes of a pin, as declared, as in force, or as in a plan. */
struct source {
	struct stb_arena *arena;
	const struct stb_block *block;
	const struct stb_eblock *in_force; /* NULL: as declared */
	const struct stb_plan_block *planned; /* then neither of the others */
};

static uint32_t count(const struct source *s)
{
	if (s->planned)
		return s->planned->n_attrs;
	return s->in_force ? s->in_force->n_attrs : s->block->n_settings;
}

static const char *key_at(const struct source *s, uint32_t i)
{
	if (s->planned)
		return s->planned->attrs[i].name;
	return s->in_force ? s->in_force->attrs[i].name : s->block->settings[i].key;
}

static const struct stb_val *val_at(const struct source *s, uint32_t i)
{
	if (s->planned)
		return &s->planned->attrs[i].val;
	return s->in_force ? &s->in_force->attrs[i].val : &s->block->settings[i].val;
}

static const struct stb_val *value(const struct source *s, const char *key)
{
	for (uint32_t i = 0; i < count(s); i++) {
		const struct stb_val *v = val_at(s, i);

		if (!strcmp(key_at(s, i), key))
			return v->type == STB_V_NONE ? NULL : v;
	}
	return NULL;
}

static bool is_word(const struct source *s, const char *key, const char *word)
{
	const struct stb_val *v = value(s, key);

	return v && v->str && !strcmp(v->str, word);
}

static struct stb_pin_rule *rule_of(struct stb_pin_rule *rules, uint32_t *n, const char *list)
{
	for (uint32_t i = 0; i < *n; i++) {
		if (!strcmp(rules[i].vcpus, list))
			return &rules[i];
	}
	rules[*n] = (struct stb_pin_rule){ .vcpus = list, .node = STB_PIN_NO_NODE };
	return &rules[(*n)++];
}

static void read_rules(const struct source *s, struct stb_pin_spec *out)
{
	struct stb_pin_rule *rules = STB_NEW_ARRAY(s->arena, struct stb_pin_rule, count(s) + 1);

	for (uint32_t i = 0; i < count(s); i++) {
		const char *key = key_at(s, i), *what = strrchr(key, '.');
		const struct stb_val *v;
		struct stb_pin_rule *r;

		if (strncmp(key, rule_prefix, PREFIX) != 0 || what < key + PREFIX)
			continue;
		v = value(s, key);
		r = rule_of(rules, &out->n_rules, stb_arena_strndup(s->arena, key + PREFIX, (size_t)(what - key) - PREFIX));
		if (v && v->type == STB_V_COUNT)
			r->node = (uint64_t)v->num;
		else if (v)
			r->cpus = v->str;
	}
	out->rules = rules;
}

static void read_spec(const struct source *s, struct stb_pin_spec *out)
{
	const struct stb_val *vcpus = value(s, "vcpus"), *exclusive = value(s, "exclusive"), *memnodes = value(s, "memnodes");

	*out = (struct stb_pin_spec){
		.name = s->planned ? s->planned->name : s->block->name,
		.vcpus = vcpus ? (uint64_t)vcpus->num : 0,
		.strategy = is_word(s, "strategy", "smart") ? STB_PIN_SMART : STB_PIN_MANUAL,
		.memnodes = memnodes ? memnodes->str : NULL,
		.exclusive = exclusive && exclusive->num,
	};
	for (int m = STB_MEM_DEFAULT; stb_mempolicy_name((enum stb_mempolicy)m); m++) {
		if (is_word(s, "mempolicy", stb_mempolicy_name((enum stb_mempolicy)m)))
			out->mempolicy = (enum stb_mempolicy)m;
	}
	read_rules(s, out);
}

void stb_pin_read(struct stb_arena *a, const struct stb_eblock *pin, struct stb_pin_spec *out)
{
	const struct source s = { a, pin->block, pin, NULL };

	read_spec(&s, out);
}

void stb_pin_read_planned(struct stb_arena *a, const struct stb_plan_block *pin, struct stb_pin_spec *out)
{
	const struct source s = { a, NULL, NULL, pin };

	read_spec(&s, out);
}

/* --- places -------------------------------------------------------------------------------------------------------------------------- */

struct judging {
	struct stb_model *m;
	struct source s;
	struct stb_pin_spec spec;
};

/* The setting that says it; NULL where an axis or an override does. */
static const struct stb_setting *said_by(const struct source *s, const char *key)
{
	const struct stb_setting *t = stb_block_setting(s->block, key);
	const struct stb_val *v = value(s, key);

	return t && v && stb_val_equal(&t->val, v) ? t : NULL;
}

static struct stb_span anywhere(const struct source *s, const char *key)
{
	const struct stb_setting *t = said_by(s, key);
	const struct stb_eattr *a = s->in_force ? stb_eattr(s->in_force, key) : NULL;

	if (t)
		return stb_span_join(t->key_span, t->value_span);
	return a && a->span.file != STB_NO_FILE ? a->span : s->block->span;
}

/* Bytes of a text between quotes; all of it where it does not stand in the source as it reads. */
static struct stb_span within(struct stb_span quoted, size_t text_len, const struct stb_pin_diag *d)
{
	struct stb_span at = quoted;

	if ((!d->at && !d->len) || quoted.end - quoted.begin != text_len + 2)
		return quoted;
	at.begin += 1 + STB_MIN(d->at, (uint32_t)text_len);
	at.end = STB_MIN(at.begin + STB_MAX(d->len, 1u), quoted.end);
	return at;
}

static struct stb_span of_text(const struct source *s, const char *key, const struct stb_pin_diag *d)
{
	const struct stb_setting *t = said_by(s, key);

	if (!t || !t->node || t->node->kind != STB_N_STRING || !t->val.str)
		return anywhere(s, key);
	return within(t->value_span, strlen(t->val.str), d);
}

static struct stb_span of_number(const struct source *s, const char *key)
{
	const struct stb_setting *t = said_by(s, key);

	return t ? t->value_span : anywhere(s, key);
}

static struct stb_span of_header(const struct judging *j, const struct stb_pin_rule *r, const struct stb_pin_diag *d)
{
	static const char *const parts[] = { "node", "cpus" };

	for (size_t i = 0; i < STB_LEN(parts); i++) {
		const char *key = stb_arena_printf(j->s.arena, "%s%s.%s", rule_prefix, r->vcpus, parts[i]);
		const struct stb_setting *t = stb_block_setting(j->s.block, key);

		if (t) { /* its key span begins with the text */
			struct stb_span quoted = t->key_span;

			quoted.end = quoted.begin + (uint32_t)strlen(r->vcpus) + 2;
			return within(quoted, strlen(r->vcpus), d);
		}
	}
	return j->s.block->span;
}

static struct stb_span place(const struct judging *j, const struct stb_pin_diag *d)
{
	const struct stb_pin_rule *r = d->rule < j->spec.n_rules ? &j->spec.rules[d->rule] : NULL;

	switch (d->field) {
	case STB_PIN_AT_BLOCK:
		break;
	case STB_PIN_AT_VCPUS:
		return anywhere(&j->s, "vcpus");
	case STB_PIN_AT_STRATEGY:
		return anywhere(&j->s, "strategy");
	case STB_PIN_AT_MEMPOLICY:
		return anywhere(&j->s, "mempolicy");
	case STB_PIN_AT_MEMNODES:
		return of_text(&j->s, "memnodes", d);
	case STB_PIN_AT_RULE:
		if (r)
			return of_header(j, r, d);
		break;
	case STB_PIN_AT_RULE_NODE:
		if (r)
			return of_number(&j->s, stb_arena_printf(j->s.arena, "%s%s.node", rule_prefix, r->vcpus));
		break;
	case STB_PIN_AT_RULE_CPUS:
		if (r)
			return of_text(&j->s, stb_arena_printf(j->s.arena, "%s%s.cpus", rule_prefix, r->vcpus), d);
		break;
	}
	return j->s.block->span;
}

static enum stb_code code_of(enum stb_pin_code code)
{
	switch (code) {
	case STB_PIN_BAD_LIST:
		return STB_E0331;
	case STB_PIN_BAD_VCPUS:
	case STB_PIN_NO_SUCH_VCPU:
		return STB_E0461;
	case STB_PIN_RULE_FORM:
		return STB_E0462;
	case STB_PIN_UNBOUND:
		return STB_E0463;
	case STB_PIN_SEVERAL_NODES:
		return STB_E0464;
	case STB_PIN_NO_SUCH_CPU:
		return STB_E0465;
	case STB_PIN_NO_SUCH_NODE:
		return STB_E0466;
	case STB_PIN_MEMNODES:
		return STB_E0467;
	case STB_PIN_NO_MEMORY:
		return STB_E0468;
	case STB_PIN_OVERCOMMIT:
		return STB_W0469;
	case STB_PIN_FAR_MEMORY:
		return STB_W0470;
	case STB_PIN_TOO_LARGE:
		return STB_E0526;
	case STB_N_PIN_CODES:
		break;
	}
	STB_BUG("a finding of the pin rules without a code");
}

static void say(void *arg, const struct stb_pin_diag *d)
{
	struct judging *j = arg;
	struct stb_diag *diag = stb_diag(&j->m->c->sink, code_of(d->code), place(j, d), "pin `%s`: %s", j->s.block->name, d->text);

	if (d->remedy)
		stb_diag_help(&j->m->c->sink, diag, "%s", d->remedy);
}

static bool judge(struct stb_model *m, struct source s)
{
	struct judging j = { .m = m, .s = s };

	read_spec(&s, &j.spec);
	return stb_pin_resolve(&j.spec, m->options->topology, NULL, say, &j) == 0;
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

void stb_check_pin(struct stb_model *m, const struct stb_block *b)
{
	const struct stb_setting *vcpus = b->kind == STB_K_PIN ? stb_block_setting(b, "vcpus") : NULL;

	if (vcpus && vcpus->val.type == STB_V_COUNT)
		(void)judge(m, (struct source){ &m->c->arena, b, NULL, NULL });
}

void stb_pin_judge(struct stb_model *m, const struct stb_eblock *pin)
{
	bool changed = false;

	for (uint32_t i = 0; i < pin->n_attrs; i++) {
		const enum stb_origin from = pin->attrs[i].origin;

		changed = changed || from == STB_FROM_OVERRIDE || from == STB_FROM_PROFILE || from == STB_FROM_AXIS;
	}
	if (stb_eattr(pin, "vcpus") && (changed || !stb_block_setting(pin->block, "vcpus")))
		(void)judge(m, (struct source){ &m->c->arena, pin->block, pin, NULL });
}
