/*
 * hand.c - see hand.h. Cells get the hash of their place as identity.
 */
#include "tests/unit/hand.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct stb_plan *hand_plan(void)
{
	struct stb_plan *p = stb_plan_new();

	p->suite = "by_hand";
	return p;
}

/* Cuts the next word off *s at blanks; NULL at the end. */
static char *next_word(struct stb_arena *a, const char **s)
{
	size_t len;
	char *word;

	*s += strspn(*s, " ");
	len = strcspn(*s, " ");
	if (!len)
		return NULL;
	word = stb_arena_strndup(a, *s, len);
	*s += len;
	return word;
}

static char *blanks(char *s)
{
	for (char *p = s; *p; p++) {
		if (*p == '_')
			*p = ' ';
	}
	return s;
}

static uint32_t count_words(const char *s)
{
	uint32_t n = 0;

	for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
		n++;
		s += strcspn(s, " ");
	}
	return n;
}

static void make_axis(struct stb_plan *p, struct stb_plan_axis *axis, const char *text)
{
	static const char *const kinds[] = { "server", "storage", "volume", "database", "workload" };
	const char *colon = strchr(text, ':'), *rest = colon + 1;
	char *word;

	axis->name = axis->label = stb_arena_strndup(&p->arena, text, (size_t)(colon - text));
	axis->kind = "";
	for (size_t i = 0; i < STB_LEN(kinds); i++) {
		if (!strcmp(kinds[i], axis->name))
			axis->kind = kinds[i];
	}
	axis->values = STB_NEW_ARRAY(&p->arena, struct stb_plan_axis_value, count_words(rest));
	while ((word = next_word(&p->arena, &rest))) {
		char *label = strchr(word, '=');

		axis->values[axis->n_values].label = label ? blanks(label + 1) : word;
		if (label)
			*label = '\0';
		axis->values[axis->n_values++].key = word;
	}
}

static uint32_t make_block(struct stb_plan *p, const char *type)
{
	struct stb_plan_block *blocks = STB_NEW_ARRAY(&p->arena, struct stb_plan_block, p->n_blocks + 1);

	if (p->n_blocks)
		memcpy(blocks, p->blocks, p->n_blocks * sizeof(*blocks));
	blocks[p->n_blocks] = (struct stb_plan_block){ .kind = "workload", .type = type, .name = "load", .span = STB_NONE };
	p->blocks = blocks;
	return p->n_blocks++;
}

uint32_t hand_matrix(struct stb_plan *p, const char *name, const char *workload_type, const char *const *axes)
{
	struct stb_plan_matrix *all = STB_NEW_ARRAY(&p->arena, struct stb_plan_matrix, p->n_matrices + 1), *m = &all[p->n_matrices];
	struct stb_plan_cell *cells;
	const uint32_t workload = make_block(p, workload_type);
	uint32_t n = 1;

	if (p->n_matrices)
		memcpy(all, p->matrices, p->n_matrices * sizeof(*all));
	p->matrices = all;
	m->name = name;
	m->repeat = 1;
	m->span = STB_NONE;
	for (; axes[m->n_axes]; m->n_axes++)
		;
	m->axes = STB_NEW_ARRAY(&p->arena, struct stb_plan_axis, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		make_axis(p, &m->axes[i], axes[i]);
		n *= m->axes[i].n_values;
	}
	m->first_cell = p->n_cells;
	m->n_cells = n;
	cells = STB_NEW_ARRAY(&p->arena, struct stb_plan_cell, p->n_cells + n);
	if (p->n_cells)
		memcpy(cells, p->cells, p->n_cells * sizeof(*cells));
	p->cells = cells;
	for (uint32_t i = 0; i < n; i++) {
		struct stb_plan_cell *c = &cells[p->n_cells];
		const char *place = stb_arena_printf(&p->arena, "%s %u", name, i);
		uint32_t rest = i;

		stb_hash_hex(place, strlen(place), c->id);
		c->matrix = p->n_matrices;
		c->workload = workload;
		c->server = c->client = c->pin = c->client_pin = STB_NONE;
		c->same_as = p->n_cells++;
		c->point = STB_NEW_ARRAY(&p->arena, uint32_t, m->n_axes);
		for (uint32_t a = m->n_axes; a-- > 0; rest /= m->axes[a].n_values)
			c->point[a] = rest % m->axes[a].n_values;
	}
	return p->n_matrices++;
}

static uint32_t axis_index(const struct stb_plan_matrix *m, const char *name, size_t len)
{
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (strlen(m->axes[i].name) == len && !strncmp(m->axes[i].name, name, len))
			return i;
	}
	cr_assert_fail("no axis %.*s", (int)len, name);
	abort();
}

static uint32_t value_index(const struct stb_plan_axis *a, const char *key, size_t len)
{
	if (len == 4 && !strncmp(key, "none", 4))
		return STB_NONE;
	for (uint32_t i = 0; i < a->n_values; i++) {
		if (strlen(a->values[i].key) == len && !strncmp(a->values[i].key, key, len))
			return i;
	}
	cr_assert_fail("no value %.*s", (int)len, key);
	abort();
}

uint32_t hand_cell(const struct stb_plan *p, uint32_t matrix, const char *keys)
{
	const struct stb_plan_matrix *m = &p->matrices[matrix];

	for (uint32_t c = m->first_cell; c < m->first_cell + m->n_cells; c++) {
		const char *s = keys;
		bool same = true;

		for (uint32_t a = 0; a < m->n_axes; a++) {
			const size_t len = strcspn(s += strspn(s, " "), " ");

			same &= p->cells[c].point[a] == value_index(&m->axes[a], s, len);
			s += len;
		}
		if (same)
			return c;
	}
	cr_assert_fail("no cell %s", keys);
	abort();
}

struct stb_selector hand_select(struct stb_plan *p, uint32_t matrix, const char *text)
{
	struct stb_selector s = { STB_NEW_ARRAY(&p->arena, struct stb_selector_term, count_words(text)), 0 };
	char *word;

	while ((word = next_word(&p->arena, &text))) {
		struct stb_selector_term *t = &s.terms[s.n_terms++];
		const char *v = strchr(word, '=');

		t->axis = axis_index(&p->matrices[matrix], word, (size_t)(v - word));
		t->values = STB_NEW_ARRAY(&p->arena, uint32_t, strlen(v));
		while (*v) {
			const size_t len = strcspn(++v, ",");

			t->values[t->n_values++] = value_index(&p->matrices[matrix].axes[t->axis], v, len);
			v += len;
		}
	}
	return s;
}

static enum stb_view view_of(const char *name)
{
	static const char *const names[] = { "value", "percent", "change", "improvement", "ratio", "range", "ci", "n" };

	for (size_t i = 0; i < STB_LEN(names); i++) {
		if (!strcmp(names[i], name))
			return (enum stb_view)i;
	}
	cr_assert_fail("no view %s", name);
	abort();
}

struct stb_plan_report *hand_report(struct stb_plan *p, const char *name, uint32_t matrix, const char *metrics, const char *views)
{
	struct stb_plan_report *all = STB_NEW_ARRAY(&p->arena, struct stb_plan_report, p->n_reports + 1), *r = &all[p->n_reports];
	char *word;

	if (p->n_reports)
		memcpy(all, p->reports, p->n_reports * sizeof(*all));
	p->reports = all;
	p->n_reports++;
	r->name = name;
	r->matrix = matrix;
	r->split = r->rows = r->columns = STB_NONE;
	r->metrics = STB_NEW_ARRAY(&p->arena, const char *, count_words(metrics));
	while ((word = next_word(&p->arena, &metrics)))
		r->metrics[r->n_metrics++] = word;
	r->views = STB_NEW_ARRAY(&p->arena, enum stb_view, count_words(views));
	while ((word = next_word(&p->arena, &views)))
		r->views[r->n_views++] = view_of(word);
	r->span = STB_NONE;
	return r;
}

struct stb_plan_claim *hand_claim(struct stb_plan *p, const char *name, uint32_t matrix, const char *metric, enum stb_view form)
{
	struct stb_plan_claim *all = STB_NEW_ARRAY(&p->arena, struct stb_plan_claim, p->n_claims + 1), *c = &all[p->n_claims];

	if (p->n_claims)
		memcpy(all, p->claims, p->n_claims * sizeof(*all));
	p->claims = all;
	p->n_claims++;
	c->name = name;
	c->matrix = matrix;
	c->metric = metric;
	c->form = form;
	c->asserted = true;
	c->span = STB_NONE;
	return c;
}

struct stb_val hand_map(struct stb_plan *p, enum stb_vtype type, const char *text)
{
	const uint32_t n = count_words(text);
	struct stb_val v = { .type = STB_V_MAP, .den = 1 };
	char *word;

	v.keys = STB_NEW_ARRAY(&p->arena, const char *, n);
	v.items = STB_NEW_ARRAY(&p->arena, struct stb_val, n);
	while ((word = next_word(&p->arena, &text))) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		v.keys[v.n_items] = word;
		v.items[v.n_items++] = type == STB_V_COUNT ? stb_val_num(STB_V_COUNT, atoi(value), 1) : stb_val_str(type, blanks(value));
	}
	return v;
}

struct stb_val hand_range(struct stb_plan *p, struct stb_val low, struct stb_val high)
{
	struct stb_val v = { .type = STB_V_RANGE, .den = 1, .n_items = 2 };

	v.items = STB_NEW_ARRAY(&p->arena, struct stb_val, 2);
	v.items[0] = low;
	v.items[1] = high;
	return v;
}
