/*
 * facts.c - what stands below the tables of a report because it decides how their figures compare: from which rows OLTP workloads drew, and
 * which errors were tried again.
 */
#include "runtime/report/facts.h"

#include "runtime/report/text.h"

#include <string.h>

/* Parameters that act on a distribution; what a plan states of the others has no effect. */
static const struct {
	const char *type, *parameter;
} parameters[] = {
	{"gaussian", "rand_spec_iter"}, {"special", "rand_spec_iter"}, {"special", "rand_spec_pct"}, {"special", "rand_spec_res"},
	{"pareto", "rand_pareto_h"},    {"zipfian", "rand_zipfian_exp"},
};

/* "special (rand_spec_iter = 12, ...)" */
static char *distribution(struct stb_arena *a, const struct stb_plan_block *w)
{
	const struct stb_plan_attr *type = stb_plan_attr(w, "rand_type"), *script = stb_plan_attr(w, "script");
	const char *sep = " (";
	char *text;

	if (!type || !type->val.str || (script && script->val.str && !strcmp(script->val.str, "bulk_insert")))
		return NULL;
	text = stb_arena_strdup(a, type->val.str);
	for (size_t i = 0; i < STB_LEN(parameters); i++) {
		const struct stb_plan_attr *p = stb_plan_attr(w, parameters[i].parameter);

		if (strcmp(parameters[i].type, type->val.str) || !p)
			continue;
		text = stb_arena_printf(a, "%s%s%s = %s", text, sep, p->name, stb_val_text(a, &p->val));
		sep = ", ";
	}
	return *sep == ',' ? stb_arena_printf(a, "%s)", text) : text;
}

/* Per distribution the workloads that draw by it; a workload of several variants may stand at more than one. */
static void print_distributions(const struct stb_plan *p, struct stb_arena *a, struct stb_buf *out)
{
	char **texts = STB_NEW_ARRAY(a, char *, p->n_blocks + 1);

	for (uint32_t i = 0; i < p->n_blocks; i++)
		texts[i] = strcmp(p->blocks[i].kind, "workload") || strcmp(p->blocks[i].type, "oltp") ? NULL : distribution(a, &p->blocks[i]);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const char *last = "";

		if (!texts[i])
			continue;
		stb_buf_adds(out, "- rows are drawn by ");
		stb_md_text(out, texts[i]);
		stb_buf_adds(out, " in ");
		for (uint32_t k = p->n_blocks; k-- > i;) {
			if (!texts[k] || strcmp(texts[k], texts[i]) || k == i)
				continue;
			if (strcmp(p->blocks[k].name, p->blocks[i].name) && strcmp(p->blocks[k].name, last)) {
				stb_md_text(out, p->blocks[k].name);
				stb_buf_adds(out, ", ");
			}
			last = p->blocks[k].name;
			texts[k] = NULL;
		}
		stb_md_text(out, p->blocks[i].name);
		stb_buf_addc(out, '\n');
	}
}

static const char *error_name(uint32_t code)
{
	static const struct {
		uint32_t code;
		const char *name;
	} names[] = {{1213, "deadlock"}, {1205, "lock wait timeout"}, {1020, "record changed"}, {1062, "duplicate key"}, {2006, "connection lost"},
		{2013, "connection lost"}, {2055, "connection lost"}};

	for (size_t i = 0; i < STB_LEN(names); i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}

static void print_errors(const struct stb_error_counts *errors, struct stb_buf *out)
{
	if (!errors->n)
		return;
	stb_buf_adds(out, "- errors that were tried again, over all repetitions:");
	for (uint32_t i = 0; i < errors->n; i++) {
		const char *name = error_name(errors->of[i].code);

		stb_buf_printf(out, "%s %llu x ", i ? "," : "", (unsigned long long)errors->of[i].count);
		if (errors->of[i].code)
			stb_buf_printf(out, "%u%s%s%s", errors->of[i].code, name ? " (" : "", name ? name : "", name ? ")" : "");
		else
			stb_buf_adds(out, "others");
	}
	stb_buf_addc(out, '\n');
}

void stb_report_facts(const struct stb_results *r, struct stb_buf *out)
{
	struct stb_arena a;

	stb_arena_init(&a);
	if (r->n_runs) /* figures from elsewhere may be of other rows than the spec that describes them would draw */
		print_distributions(r->plan, &a, out);
	print_errors(&r->errors, out);
	stb_arena_fini(&a);
}
