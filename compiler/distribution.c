/*
 * distribution.c - distributions of offsets as values: a word with its parameter, zipf(1.2), in one spelling, so that equal ones compare as equal.
 */
#include "compiler/eval.h"

#include "compiler/num.h"

#include <string.h>

static const struct distribution {
	const char *name;
	enum stb_vtype type;
	struct stb_val above, below; /* its parameter lies between them, both excluded */
	const char *bounds, *example;
} distributions[] = {
	{ "zipf", STB_V_COUNT, { STB_V_COUNT, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_COUNT, 10, 1, NULL, NULL, NULL, 0 },
		"the exponent lies between 0 and 10 and is not 1", "zipf(1.2)" },
	{ "pareto", STB_V_COUNT, { STB_V_COUNT, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_COUNT, 1, 1, NULL, NULL, NULL, 0 },
		"the parameter lies between 0 and 1", "pareto(0.2)" },
	{ "normal", STB_V_SHARE, { STB_V_SHARE, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_SHARE, 1, 1, NULL, NULL, NULL, 0 },
		"the deviation is a share of the region between 0% and 100%", "normal(10%)" },
	{ "zoned", STB_V_LIST, { STB_V_NONE, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_NONE, 0, 1, NULL, NULL, NULL, 0 },
		"each zone is [share of the I/O, share of the region], and both add up to 100%",
		"zoned([60%, 10%], [40%, 90%])" },
};

static const struct distribution *find_distribution(const char *name)
{
	for (size_t i = 0; i < STB_LEN(distributions); i++) {
		if (strcmp(distributions[i].name, name) == 0)
			return &distributions[i];
	}
	return NULL;
}

static bool refuse_distribution(struct stb_model *m, const struct stb_node *call, const struct distribution *dist, const char *why)
{
	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0351, call->span, "`%s` is no distribution", stb_source_text(m, call->span));

	if (why)
		stb_diag_here(&m->c->sink, d, "%s", why);
	stb_diag_help(&m->c->sink, d, "%s: %s", dist->bounds, dist->example);
	return false;
}

/* One zone, [60%, 10%], added to the sums. */
static bool eval_zone(struct stb_model *m, const struct stb_node *node, struct stb_num sums[2], struct stb_val *out)
{
	if (node->kind != STB_N_LIST || node->n_items != 2 || !stb_eval(m, NULL, node, false, out))
		return false;
	for (int i = 0; i < 2; i++) {
		struct stb_num n, sum;

		if (out->items[i].type != STB_V_SHARE || out->items[i].num <= 0 || !stb_num_from(&out->items[i], &n) ||
			stb_num_add(&sums[i], &n, &sum) != STB_NUM_OK)
			return false;
		sums[i] = sum;
	}
	return true;
}

static bool eval_zones(struct stb_model *m, const struct stb_node *call, const struct distribution *dist, struct stb_val *out)
{
	struct stb_num sums[2] = { { 0, 1, 0, 0, true }, { 0, 1, 0, 0, true } };
	struct stb_buf b;

	if (call->n_items > 256)
		return refuse_distribution(m, call, dist, "more than 256 zones");
	stb_buf_init(&b);
	for (uint32_t i = 0; i < call->n_items; i++) {
		struct stb_val zone;

		if (!eval_zone(m, call->items[i], sums, &zone)) {
			stb_buf_fini(&b);
			return refuse_distribution(m, call, dist, NULL);
		}
		stb_buf_printf(&b, "%s%s", i ? ", " : "", stb_val_text(&m->c->arena, &zone));
	}
	*out = stb_val_str(STB_V_WORD, stb_arena_printf(&m->c->arena, "zoned(%s)", stb_buf_str(&b)));
	stb_buf_fini(&b);
	for (int i = 0; i < 2; i++) {
		if (sums[i].num != sums[i].den)
			return refuse_distribution(m, call, dist, i ? "the zones do not cover the region" :
				"the I/O of the zones does not add up to 100%");
	}
	return true;
}

bool stb_is_distribution(const char *name)
{
	return find_distribution(name) != NULL;
}

bool stb_eval_distribution(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call, struct stb_val *out)
{
	const struct distribution *dist = find_distribution(call->text);
	struct stb_val v;

	if (row && !(row->flags & STB_DISTRIBUTION)) {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0313, call->span, "%s() cannot give `%s`", call->text, row->name);

		stb_diag_here(&m->c->sink, d, "a distribution says how random offsets are drawn");
		return false;
	}
	if (dist->type == STB_V_LIST)
		return eval_zones(m, call, dist, out);
	if (call->n_items != 1)
		return refuse_distribution(m, call, dist, "it has one parameter");
	if (!stb_eval(m, NULL, call->items[0], false, &v))
		return false;
	if (v.type != dist->type || stb_val_cmp(&v, &dist->above) <= 0 || stb_val_cmp(&v, &dist->below) >= 0 ||
		(strcmp(dist->name, "zipf") == 0 && v.num == v.den))
		return refuse_distribution(m, call, dist, NULL);
	*out = stb_val_str(STB_V_WORD, stb_arena_printf(&m->c->arena, "%s(%s)", dist->name, stb_val_text(&m->c->arena, &v)));
	return true;
}
