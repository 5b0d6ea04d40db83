/*
 * only.c - `--only` and `--cell`: a selector over the axes of the plan, or a prefix of a cell id.
 *
 * A term names an axis and says which of its values: one, a list, a range over numbers, or none (cells without a value there). Every term
 * must hold; in a matrix that lacks a named axis no cell has a value there. An axis or a value that no matrix has is an error, as is a selection of
 * nothing: a slip would otherwise run everything, or nothing.
 */
#include "compiler/driver/driver.h"

#include "compiler/parse.h"
#include "runtime/base/units.h"

#include <string.h>
#include <strings.h>

/* Nothing but hex digits is no selector, so it means an id, however short: `22`, `8f`, `22e4` as well. */
static bool is_id_prefix(const char *s)
{
	const size_t n = strlen(s);

	return n && n < STB_HASH_HEX && strspn(s, "0123456789abcdefABCDEF") == n;
}

static uint32_t keep_prefix(const struct stb_plan *p, const char *prefix, uint8_t *keep)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_cells; i++) {
		keep[i] = !strncasecmp(p->cells[i].id, prefix, strlen(prefix));
		n += keep[i];
	}
	return n;
}

/* How an axis key compares with a written value: text by its spelling, numbers by what they are worth. */
static bool key_is(struct stb_arena *a, const char *key, const struct stb_node *v)
{
	struct stb_val num;

	switch (v->kind) {
	case STB_N_QUANTITY:
	case STB_N_TIME:
		if (!strcmp(key, stb_val_label(a, &v->num)))
			return true;
		return stb_units_parse(key, strlen(key), &num) == STB_UNITS_OK && stb_val_equal(&num, &v->num);
	case STB_N_BOOL:
		return !strcmp(key, v->num.num ? "true" : "false");
	case STB_N_PATH:
		return !strcmp(key, v->text);
	case STB_N_STRING:
		return v->n_parts == 1 && !v->parts[0].is_name && strlen(key) == v->parts[0].len &&
			!memcmp(key, v->parts[0].text, v->parts[0].len);
	case STB_N_RANGE:
		if (stb_units_parse(key, strlen(key), &num) != STB_UNITS_OK)
			return false;
		for (int end = 0; end < 2; end++) {
			const struct stb_node *limit = v->items[end];

			if (!limit)
				continue;
			if (limit->kind != STB_N_QUANTITY || limit->num.type != num.type)
				return false;
			const int c = stb_val_cmp(&num, &limit->num);

			if (end == 0 ? c < 0 : c > 0)
				return false;
		}
		return true;
	case STB_N_LIST:
	case STB_N_CALL:
	case STB_N_NEG:
	case STB_N_ADD:
	case STB_N_SUB:
	case STB_N_MUL:
	case STB_N_DIV:
	case STB_N_BAD:
		break;
	}
	return false;
}

static bool is_none(const struct stb_node *v)
{
	return v->kind == STB_N_PATH && !strcmp(v->text, "none");
}

/* Whether the term holds for a value of the axis (STB_NONE: the cell has none there, axis may be NULL); `used` marks the items that matched something. */
static bool value_holds(struct stb_arena *a, const struct stb_plan_axis *axis, uint32_t value, const struct stb_node *want, uint64_t *used)
{
	struct stb_node *const *items = want->kind == STB_N_LIST ? want->items : (struct stb_node *const *)&want;
	const uint32_t n = want->kind == STB_N_LIST ? want->n_items : 1;
	bool holds = false;

	for (uint32_t i = 0; i < n; i++)
		if (value == STB_NONE ? is_none(items[i]) : key_is(a, axis->values[value].key, items[i])) {
			holds = true;
			if (i < 64)
				*used |= 1ull << i;
		}
	return holds;
}

static const struct stb_plan_axis *find_axis(const struct stb_plan_matrix *m, const char *name, uint32_t *index)
{
	for (uint32_t i = 0; i < m->n_axes; i++)
		if (!strcmp(m->axes[i].name, name)) {
			*index = i;
			return &m->axes[i];
		}
	return NULL;
}

static int unknown_axis(const struct stb_plan *p, const char *option, const char *name, FILE *err)
{
	const char *names[64];
	size_t n = 0;

	for (uint32_t m = 0; m < p->n_matrices; m++)
		for (uint32_t i = 0; i < p->matrices[m].n_axes && n < STB_LEN(names); i++)
			names[n++] = p->matrices[m].axes[i].name;
	const char *near = stb_nearest(name, names, n);

	fprintf(err, "stb: error: %s names an axis `%s`, which no matrix has\n  what to do: ", option, name);
	if (near)
		fprintf(err, "did you mean `%s`?\n", near);
	else
		fprintf(err, "`stb plan` lists the axes\n");
	return STB_EXIT_USAGE;
}

/* Clears keep[] where the term does not hold. */
static int apply_term(struct stb_arena *a, const struct stb_plan *p, const char *option, const struct stb_stmt *term, uint8_t *keep, FILE *err)
{
	const struct stb_node *want = term->value;
	const uint32_t n_items = want->kind == STB_N_LIST ? want->n_items : 1;
	uint64_t used = 0;
	bool known = false;

	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct stb_plan_cell *cell = &p->cells[i];
		uint32_t index;
		const struct stb_plan_axis *axis = find_axis(&p->matrices[cell->matrix], term->path->text, &index);

		known |= axis != NULL;
		if (!value_holds(a, axis, axis ? cell->point[index] : STB_NONE, want, &used))
			keep[i] = 0;
	}
	if (!known)
		return unknown_axis(p, option, term->path->text, err);
	for (uint32_t i = 0; i < n_items && i < 64; i++)
		if (!(used >> i & 1)) {
			const struct stb_node *item = want->kind == STB_N_LIST ? want->items[i] : want;

			fprintf(err, "stb: error: %s asks for a value of `%s` that no cell has%s%s%s\n"
				"  what to do: `stb plan` lists the values of every axis\n", option, term->path->text,
				item->text ? ": `" : "", item->text ? item->text : "", item->text ? "`" : "");
			return STB_EXIT_USAGE;
		}
	return 0;
}

static int keep_selected(const struct stb_plan *p, const char *option, const char *only, uint8_t *keep, FILE *err)
{
	struct stb_compilation c;
	struct stb_stmt **terms;
	uint32_t file, n = 0;
	int code = 0;

	stb_compilation_init(&c);
	file = stb_sources_add(&c.sources, option, only, strlen(only));
	terms = stb_parse_selector(&c.arena, &c.sources, file, &c.sink, &n);
	if (c.sink.n_errors || !terms) {
		stb_sink_print(&c.sink, STB_DIAG_HUMAN, err);
		code = STB_EXIT_USAGE;
	}
	if (!code && !n) {
		fprintf(err, "stb: error: %s is empty\n  what to do: leave it out to have every cell\n", option);
		code = STB_EXIT_USAGE;
	}
	for (uint32_t i = 0; !code && i < n; i++) {
		if (terms[i]->kind != STB_S_ATTR) {
			fprintf(err, "stb: error: %s holds something that is no `axis = value`\n"
				"  what to do: write for example %s 'storage = disk  threads = 4..16'\n", option, option);
			code = STB_EXIT_USAGE;
			break;
		}
		code = apply_term(&c.arena, p, option, terms[i], keep, err);
	}
	stb_compilation_fini(&c);
	return code;
}

int stb_driver_only(const struct stb_plan *p, const char *option, const char *only, uint8_t *keep, FILE *err)
{
	uint32_t n = 0;

	if (is_id_prefix(only)) {
		if (keep_prefix(p, only, keep))
			return 0;
		fprintf(err, "stb: error: %s `%s` reads as the beginning of a cell id, and no cell's begins so\n"
			"  what to do: `stb plan` lists the cells with their ids; a selector names an axis, as in 'storage = disk'\n", option, only);
		return STB_EXIT_USAGE;
	}

	const int code = keep_selected(p, option, only, keep, err);

	if (code)
		return code;
	for (uint32_t i = 0; i < p->n_cells; i++)
		n += keep[i];
	if (n)
		return 0;
	fprintf(err, "stb: error: %s `%s` selects no cell\n  what to do: `stb plan` lists the cells with their ids\n", option, only);
	return STB_EXIT_USAGE;
}
