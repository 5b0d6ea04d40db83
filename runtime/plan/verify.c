/*
 * verify.c - whether a plan holds together, so that everything behind it may index, compare and print without looking twice.
 *
 * After it: every index is in range and of the right kind, every text is there, every value is well formed, ids are hex and unique where they
 * must be, equal cells point at the first of them, and the number of measurements is within STB_MAX_MEASUREMENTS. It says nothing about which
 * attributes a type has: that is the compiler's schema.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/metric.h"
#include "runtime/plan/ids.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ATTRS = 256, MAX_MATRICES = 10000, MAX_AXES = 1000, MAX_DEPTH = 8, MAX_DECIMALS = 15, MAX_DIGITS = 18, MINUTES_PER_DAY = 24 * 60 };

/* Samples are taken at each interval, and times are added to a clock. */
#define LEAST_INTERVAL_NS 1000000u
#define MOST_NS ((uint64_t)INT64_MAX / 4)

struct check {
	const struct stb_plan *p;
	struct stb_err *err;
};

/* Always false, so that a check reads `return bad(...)`. */
STB_PRINTF(2, 3) static bool bad(struct check *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stb_err_set(c->err, 0, "plan is not consistent: %s", text);
	stb_err_remedy(c->err, "make the plan again from its spec with `stb plan`");
	return false;
}

static bool is_hex(const char *s)
{
	unsigned bad_digits = (unsigned char)s[STB_HASH_HEX - 1];

	for (int i = 0; i < STB_HASH_HEX - 1; i++) {
		const unsigned c = (unsigned char)s[i];

		bad_digits |= (c - '0' > 9) & (c - 'a' > 5);
	}
	return !bad_digits;
}

static bool is_named(const char *s)
{
	return s && *s;
}

static bool is_span(const struct check *c, uint32_t span)
{
	return span == STB_NONE || span < c->p->n_spans;
}

static bool check_val(const struct stb_val *v, int depth)
{
	if (depth > MAX_DEPTH)
		return false;
	switch (v->type) {
	case STB_V_NONE:
		return true;
	case STB_V_BOOL:
		return (v->num == 0 || v->num == 1) && v->den == 1;
	case STB_V_COUNT:
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
		return v->den > 0 && v->num > INT64_MIN;
	case STB_V_CLOCK:
		return v->den == 1 && v->num >= 0 && v->num < MINUTES_PER_DAY;
	case STB_V_STRING:
	case STB_V_WORD:
	case STB_V_REF:
		return v->str != NULL;
	case STB_V_SECRET:
		return v->str && (!strncmp(v->str, "env:", 4) || !strncmp(v->str, "file:", 5));
	case STB_V_RANGE:
		if (v->n_items != 2)
			return false;
		break;
	case STB_V_MAP:
		if (v->n_items && !v->keys)
			return false;
		break;
	case STB_V_LIST:
		break;
	default:
		return false;
	}
	if (v->n_items && !v->items)
		return false;
	for (uint32_t i = 0; i < v->n_items; i++) {
		if ((v->type == STB_V_MAP && !v->keys[i]) || !check_val(&v->items[i], depth + 1))
			return false;
	}
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A text that occurs twice among n, or NULL. Sorts texts. */
static const char *find_twin(const char **texts, size_t n)
{
	qsort(texts, n, sizeof(*texts), by_text);
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(texts[i - 1], texts[i]))
			return texts[i];
	}
	return NULL;
}

static bool check_attrs(struct check *c, const struct stb_plan_block *b, uint32_t index)
{
	const char *names[MAX_ATTRS], *twin;

	if (b->n_attrs > MAX_ATTRS)
		return bad(c, "block %u has %u attributes, more than %d", index, b->n_attrs, MAX_ATTRS);
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *a = &b->attrs[i];

		if (!is_named(a->name))
			return bad(c, "attribute %u of block %u has no name", i, index);
		if (!check_val(&a->val, 0))
			return bad(c, "attribute `%s` of block %u has a malformed value", a->name, index);
		if (a->ident > STB_NO_ID || a->origin > STB_FROM_PARAM || !is_span(c, a->span))
			return bad(c, "attribute `%s` of block %u has an unknown identity, origin or place", a->name, index);
		names[i] = a->name;
	}
	twin = find_twin(names, b->n_attrs);
	return twin ? bad(c, "block %u has attribute `%s` twice", index, twin) : true;
}

static bool check_blocks(struct check *c)
{
	static const char *const kinds[] = { "storage", "volume", "pin", "server", "database", "workload", "dataset" };

	for (uint32_t i = 0; i < c->p->n_blocks; i++) {
		const struct stb_plan_block *b = &c->p->blocks[i];
		bool known = false;

		for (size_t k = 0; b->kind && k < STB_LEN(kinds); k++)
			known |= !strcmp(b->kind, kinds[k]);
		if (!known)
			return bad(c, "block %u is of unknown kind `%s`", i, b->kind ? b->kind : "");
		if (!b->type || !is_named(b->name))
			return bad(c, "block %u has no type or no name", i);
		if (!is_span(c, b->span))
			return bad(c, "block %u has a place that is not listed", i);
		if (!check_attrs(c, b, i))
			return false;
	}
	return true;
}

static bool is_block(const struct check *c, uint32_t i, const char *kind)
{
	return i < c->p->n_blocks && !strcmp(c->p->blocks[i].kind, kind);
}

static bool is_block_or_none(const struct check *c, uint32_t i, const char *kind)
{
	return i == STB_NONE || is_block(c, i, kind);
}

static bool check_axis(struct check *c, const struct stb_plan_matrix *m, const struct stb_plan_axis *x)
{
	const char **keys, *twin;

	if (!is_named(x->name) || !x->label || !x->kind)
		return bad(c, "matrix `%s` has an axis without name, label or kind", m->name);
	for (uint32_t i = 0; i < x->n_values; i++) {
		if (!x->values[i].key || !x->values[i].label)
			return bad(c, "axis `%s` of matrix `%s` has a value without key or label", x->name, m->name);
	}
	keys = stb_xcalloc(x->n_values, sizeof(*keys));
	for (uint32_t i = 0; i < x->n_values; i++)
		keys[i] = x->values[i].key;
	twin = find_twin(keys, x->n_values);
	free(keys);
	return twin ? bad(c, "axis `%s` of matrix `%s` has value `%s` twice", x->name, m->name, twin) : true;
}

static bool check_schedule(struct check *c, const struct stb_plan_matrix *m)
{
	if (!m->schedule_days != !m->n_schedule_at)
		return bad(c, "matrix `%s` has a schedule without days or without times", m->name);
	for (uint32_t i = 0; i < m->n_schedule_at; i++) {
		if (m->schedule_at[i] >= MINUTES_PER_DAY || (i && m->schedule_at[i] <= m->schedule_at[i - 1]))
			return bad(c, "matrix `%s` has times that are not of a day or not ascending", m->name);
	}
	return true;
}

static bool check_axes(struct check *c, const struct stb_plan_matrix *m)
{
	if (m->n_axes > MAX_AXES)
		return bad(c, "matrix `%s` has more than %d axes", m->name, MAX_AXES);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!check_axis(c, m, &m->axes[i]))
			return false;
		for (uint32_t j = 0; j < i; j++) {
			if (!strcmp(m->axes[i].name, m->axes[j].name))
				return bad(c, "matrix `%s` has axis `%s` twice", m->name, m->axes[i].name);
		}
	}
	return true;
}

static bool is_selector(const struct stb_plan_matrix *m, const struct stb_selector *s)
{
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *t = &s->terms[i];

		if (t->axis >= m->n_axes)
			return false;
		for (uint32_t j = 0; j < t->n_values; j++) {
			if (t->values[j] != STB_NONE && t->values[j] >= m->axes[t->axis].n_values)
				return false;
		}
	}
	return true;
}

static bool check_excludes(struct check *c, const struct stb_plan_matrix *m)
{
	for (uint32_t i = 0; i < m->n_excludes; i++) {
		if (!is_selector(m, &m->excludes[i].where) || !m->excludes[i].reason)
			return bad(c, "matrix `%s` has an exclusion of axes or values that are not there, or without a reason", m->name);
	}
	return true;
}

static bool check_matrix(struct check *c, const struct stb_plan_matrix *m, uint32_t first_cell)
{
	if (!is_named(m->name))
		return bad(c, "a matrix has no name");
	if (m->order > STB_ORDER_SHUFFLED || m->fresh > STB_FRESH_REPETITION || !m->repeat || !is_span(c, m->span) || !is_span(c, m->not_run_span))
		return bad(c, "matrix `%s` has an unknown order, fresh or place, or no repetition", m->name);
	if ((m->interval_ns && m->interval_ns < LEAST_INTERVAL_NS) || m->interval_ns > MOST_NS || m->cooldown_ns > MOST_NS)
		return bad(c, "matrix `%s` has an interval below 1 ms, or an interval or cooldown of more than 70 years", m->name);
	if (m->first_cell != first_cell || m->n_cells > c->p->n_cells - first_cell)
		return bad(c, "the cells of matrix `%s` do not follow those of the matrix before", m->name);
	return check_axes(c, m) && check_schedule(c, m) && check_excludes(c, m);
}

static bool check_matrices(struct check *c)
{
	const struct stb_plan *p = c->p;
	unsigned __int128 n_measurements = 0;
	uint32_t first_cell = 0;

	if (p->n_matrices > MAX_MATRICES)
		return bad(c, "it has more than %d matrices", MAX_MATRICES);
	for (uint32_t i = 0; i < p->n_matrices; i++) {
		const struct stb_plan_matrix *m = &p->matrices[i];

		if (!check_matrix(c, m, first_cell))
			return false;
		first_cell += m->n_cells;
		n_measurements += (unsigned __int128)m->n_cells * m->repeat * stb_plan_slots(m);
		for (uint32_t j = 0; j < i; j++) {
			if (!strcmp(m->name, p->matrices[j].name))
				return bad(c, "matrix `%s` is there twice", m->name);
		}
	}
	if (first_cell != p->n_cells)
		return bad(c, "%u cells belong to no matrix", p->n_cells - first_cell);
	if (n_measurements > STB_MAX_MEASUREMENTS)
		return bad(c, "it has more than %llu measurements", STB_MAX_MEASUREMENTS);
	return true;
}

static bool check_mounts(struct check *c, const struct stb_plan_group *g, uint32_t index)
{
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		const struct stb_plan_mount *m = &g->mounts[i];

		if (!is_named(m->role) || !is_block(c, m->volume, "volume") || !is_block(c, m->storage, "storage"))
			return bad(c, "group %u has a mount without role, volume or storage", index);
	}
	return true;
}

static bool good_fills(const struct check *c, const struct stb_plan_group *g)
{
	for (uint32_t i = 0; i < g->n_fills; i++) {
		const struct stb_plan_block *b = g->fills[i] < c->p->n_blocks ? &c->p->blocks[g->fills[i]] : NULL;

		if (!b || strcmp(b->kind, "workload") || strcmp(b->type, "io"))
			return false;
	}
	return true;
}

static bool check_groups(struct check *c)
{
	const char **ids = stb_xcalloc(c->p->n_groups, sizeof(*ids)), *twin;

	for (uint32_t i = 0; i < c->p->n_groups; i++) {
		const struct stb_plan_group *g = &c->p->groups[i];
		bool good = true;

		if (!is_hex(g->id))
			good = bad(c, "group %u has an id that is no hash", i);
		else if (!is_block_or_none(c, g->server, "server") || !is_block_or_none(c, g->database, "database") ||
			!is_block_or_none(c, g->dataset, "dataset") || (g->not_run_block != STB_NONE && g->not_run_block >= c->p->n_blocks))
			good = bad(c, "group %u refers to a block that is not there or of another kind", i);
		if (good && !good_fills(c, g))
			good = bad(c, "group %u is filled by what is no io workload", i);
		if (!good || !check_mounts(c, g, i)) {
			free(ids);
			return false;
		}
		ids[i] = g->id;
	}
	twin = find_twin(ids, c->p->n_groups);
	free(ids);
	return twin ? bad(c, "two groups have the id %.16s", twin) : true;
}

/* A mix has two members or more, of different names, and nothing else has any. */
static bool good_members(const struct check *c, uint32_t index)
{
	const struct stb_plan_block *blocks = c->p->blocks;
	const bool is_mix = !strcmp(blocks[c->p->cells[index].workload].type, "mix");
	const struct stb_plan_mix *mix;

	if (c->p->cells[index].mix > c->p->n_mixes || is_mix != (c->p->cells[index].mix > 0))
		return false;
	mix = stb_plan_mix_of(c->p, index);
	if (is_mix && (mix->n < 2 || mix->n > STB_MAX_MEMBERS))
		return false;
	for (uint32_t i = 0; i < mix->n; i++) {
		const struct stb_plan_block *b = is_block(c, mix->members[i], "workload") ? &blocks[mix->members[i]] : NULL;

		if (!b || (strcmp(b->type, "io") && strcmp(b->type, "oltp")))
			return false;
		for (uint32_t k = 0; k < i; k++) {
			if (!strcmp(b->name, blocks[mix->members[k]].name))
				return false;
		}
	}
	return true;
}

static bool check_cell(struct check *c, uint32_t matrix, uint32_t index)
{
	const struct stb_plan_matrix *m = &c->p->matrices[matrix];
	const struct stb_plan_cell *x = &c->p->cells[index];

	if (!is_hex(x->id))
		return bad(c, "cell %u has an id that is no hash", index);
	if (x->matrix != matrix || x->group >= c->p->n_groups)
		return bad(c, "cell %u is of another matrix, or of a group that is not there", index);
	if (!is_block(c, x->workload, "workload") || !is_block_or_none(c, x->server, "server") ||
		!is_block_or_none(c, x->client, "server") || !is_block_or_none(c, x->pin, "pin") || !is_block_or_none(c, x->client_pin, "pin"))
		return bad(c, "cell %u refers to a block that is not there or of another kind", index);
	if (!good_members(c, index))
		return bad(c, "cell %u does not name the workloads of a mix", index);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (x->point[i] != STB_NONE && x->point[i] >= m->axes[i].n_values)
			return bad(c, "cell %u has a value on axis `%s` that is not there", index, m->axes[i].name);
	}
	return true;
}

/* Whether two cells of one matrix are one cell of two runs that are compared. */
static bool other_run(const struct check *c, const struct stb_plan_cell *a, const struct stb_plan_cell *b)
{
	const struct stb_plan_matrix *m = &c->p->matrices[a->matrix];

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!strcmp(m->axes[i].kind, "run") && a->point[i] != b->point[i])
			return true;
	}
	return false;
}

/* Every cell's same_as is the first cell with its id, and no matrix has an id twice. */
static bool check_twin(struct check *c, struct stb_plan_ids *ids, uint32_t index)
{
	const struct stb_plan_cell *cells = c->p->cells, *x = &cells[index];
	const uint32_t twin = stb_plan_ids_put(ids, cells, index, STB_HASH_HEX - 1);

	if (twin != STB_NONE && cells[twin].matrix == x->matrix && !other_run(c, x, &cells[twin]))
		return bad(c, "matrix `%s` has two cells with the id %.16s", c->p->matrices[x->matrix].name, x->id);
	if (x->same_as != (twin == STB_NONE ? index : cells[twin].same_as))
		return bad(c, "cell %u does not name the first cell that equals it", index);
	return true;
}

static bool check_cells(struct check *c)
{
	const struct stb_plan *p = c->p;
	struct stb_plan_ids ids;
	bool good = true;

	stb_plan_ids_init(&ids);
	stb_plan_ids_reserve(&ids, p->cells, p->n_cells);
	for (uint32_t m = 0; good && m < p->n_matrices; m++) {
		const uint32_t first = p->matrices[m].first_cell;

		for (uint32_t i = first; good && i < first + p->matrices[m].n_cells; i++) {
			if (p->n_cells - i > STB_PLAN_IDS_AHEAD)
				stb_plan_ids_expect(&ids, &p->cells[i + STB_PLAN_IDS_AHEAD]);
			good = check_cell(c, m, i) && check_twin(c, &ids, i);
		}
	}
	stb_plan_ids_fini(&ids);
	return good;
}

static bool is_map_of(const struct stb_val *v, enum stb_vtype type)
{
	if (v->type == STB_V_NONE)
		return true;
	if (v->type != STB_V_MAP || !check_val(v, 0))
		return false;
	for (uint32_t i = 0; i < v->n_items; i++) {
		const struct stb_val *x = &v->items[i];

		if (x->type != type || (type == STB_V_COUNT && (x->den != 1 || x->num < 0 || x->num > MAX_DECIMALS)))
			return false;
	}
	return true;
}

static bool check_shape(struct check *c, const struct stb_plan_report *r)
{
	const struct stb_plan_matrix *m = &c->p->matrices[r->matrix];
	const uint32_t shown[] = { r->split, r->rows, r->columns };

	for (size_t i = 0; i < STB_LEN(shown); i++) {
		if (shown[i] != STB_NONE && shown[i] >= m->n_axes)
			return bad(c, "report `%s` shows an axis that is not there", r->name);
	}
	for (uint32_t i = 0; i < r->n_fold; i++) {
		if (r->fold[i] >= m->n_axes)
			return bad(c, "report `%s` folds an axis that is not there", r->name);
	}
	if (!is_selector(m, &r->where) || !is_selector(m, &r->baseline))
		return bad(c, "report `%s` selects by an axis or value that is not there", r->name);
	return true;
}

static bool check_report(struct check *c, const struct stb_plan_report *r)
{
	struct stb_metric metric;

	if (!is_named(r->name) || r->matrix >= c->p->n_matrices || !is_span(c, r->span))
		return bad(c, "a report has no name, or a matrix or place that is not there");
	if (!check_shape(c, r))
		return false;
	for (uint32_t i = 0; i < r->n_metrics; i++) {
		if (!r->metrics[i] || !stb_metric_find(r->metrics[i], &metric))
			return bad(c, "report `%s` asks for an unknown metric", r->name);
	}
	for (uint32_t i = 0; i < r->n_views; i++) {
		if (r->views[i] > STB_VIEW_N)
			return bad(c, "report `%s` has an unknown view", r->name);
	}
	if (r->aggregate > STB_AGG_MEDIAN || !is_map_of(&r->units, STB_V_STRING) || !is_map_of(&r->headings, STB_V_STRING) ||
		!is_map_of(&r->decimals, STB_V_COUNT))
		return bad(c, "report `%s` has malformed aggregate, units, headings or decimals", r->name);
	return true;
}

static bool is_expectation(const struct stb_val *v)
{
	if (!check_val(v, 0))
		return false;
	if (v->type != STB_V_RANGE)
		return v->type >= STB_V_COUNT && v->type <= STB_V_BYTE_RATE;
	for (uint32_t i = 0; i < 2; i++) {
		if (v->items[i].type != STB_V_NONE && (v->items[i].type < STB_V_COUNT || v->items[i].type > STB_V_BYTE_RATE))
			return false;
	}
	return v->items[0].type == STB_V_NONE || v->items[1].type == STB_V_NONE || v->items[0].type == v->items[1].type;
}

static bool check_claim(struct check *c, const struct stb_plan_claim *x)
{
	struct stb_metric metric;

	if (!is_named(x->name) || x->matrix >= c->p->n_matrices || !is_span(c, x->span))
		return bad(c, "a claim has no name, or a matrix or place that is not there");
	if (!x->metric || !stb_metric_find(x->metric, &metric))
		return bad(c, "claim `%s` is about an unknown metric", x->name);
	if (!is_selector(&c->p->matrices[x->matrix], &x->where) || !is_selector(&c->p->matrices[x->matrix], &x->baseline))
		return bad(c, "claim `%s` selects by an axis or value that is not there", x->name);
	if (x->confidence.type != STB_V_NONE && (x->confidence.type != STB_V_SHARE || x->confidence.den <= 0 || x->confidence.num <= 0 ||
		x->confidence.num >= x->confidence.den))
		return bad(c, "claim `%s` has a confidence that is no share below 100%%", x->name);
	if (x->form > STB_VIEW_RATIO || x->aggregate > STB_AGG_MEDIAN || x->digits > MAX_DIGITS || !is_expectation(&x->expect))
		return bad(c, "claim `%s` has a malformed expectation", x->name);
	return true;
}

static bool check_reports(struct check *c)
{
	for (uint32_t i = 0; i < c->p->n_reports; i++) {
		if (!check_report(c, &c->p->reports[i]))
			return false;
	}
	for (uint32_t i = 0; i < c->p->n_claims; i++) {
		if (!check_claim(c, &c->p->claims[i]))
			return false;
	}
	return true;
}

static bool check_texts(struct check *c, const char *what, const char **texts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!texts[i])
			return bad(c, "%s %u is missing", what, i);
	}
	return true;
}

static bool check_sources(struct check *c)
{
	const struct stb_plan *p = c->p;

	for (uint32_t i = 0; i < p->n_files; i++) {
		if (!p->files[i].name || !is_hex(p->files[i].sha256))
			return bad(c, "source file %u has no name or no hash", i);
	}
	for (uint32_t i = 0; i < p->n_spans; i++) {
		if (p->spans[i].file >= p->n_files)
			return bad(c, "place %u is in a file that is not listed", i);
	}
	return check_texts(c, "parameter", p->params, p->n_params) && check_texts(c, "privilege", p->privileges, p->n_privileges) &&
		check_texts(c, "device", p->devices, p->n_devices) && check_texts(c, "secret", p->secrets, p->n_secrets) && check_texts(c, "note", p->notes, p->n_notes);
}

int stb_plan_verify(const struct stb_plan *p, struct stb_err *err)
{
	struct check c = { .p = p, .err = err };

	if (!check_sources(&c) || !check_blocks(&c) || !check_matrices(&c) || !check_groups(&c) || !check_cells(&c) || !check_reports(&c))
		return -1;
	return 0;
}
