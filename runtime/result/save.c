/*
 * save.c - results.csv: its header and its rows.
 *
 * The axis columns are the union over all matrices: axes that bind a block first, in the order in which they nest, then own axes as they
 * first appear. A cell without a value on an axis leaves the field empty.
 */
#include "runtime/result/number.h"
#include "runtime/result/result.h"

#include <string.h>

static const char *const kinds[] = { "server", "storage", "volume", "database", "pin", "workload" };

struct columns {
	struct stb_arena arena;
	const char **name;
	uint32_t n, cap;
};

static void add_column(struct columns *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (!strcmp(c->name[i], name))
			return;
	}
	STB_ARENA_GROW(&c->arena, c->name, c->n, c->cap);
	c->name[c->n++] = name;
}

static void collect_columns(const struct stb_plan *p, struct columns *c)
{
	memset(c, 0, sizeof(*c));
	stb_arena_init(&c->arena);
	for (size_t k = 0; k < STB_LEN(kinds); k++) {
		for (uint32_t m = 0; m < p->n_matrices; m++) {
			for (uint32_t a = 0; a < p->matrices[m].n_axes; a++) {
				if (!strcmp(p->matrices[m].axes[a].kind, kinds[k]))
					add_column(c, p->matrices[m].axes[a].name);
			}
		}
	}
	for (uint32_t m = 0; m < p->n_matrices; m++) {
		for (uint32_t a = 0; a < p->matrices[m].n_axes; a++) {
			if (strcmp(p->matrices[m].axes[a].kind, "run")) /* which run these are, the report is told */
				add_column(c, p->matrices[m].axes[a].name);
		}
	}
}

void stb_results_write_header(const struct stb_plan *p, FILE *out)
{
	struct columns c;

	collect_columns(p, &c);
	fputs("cell,", out);
	for (uint32_t i = 0; i < c.n; i++) {
		stb_csv_field(out, c.name[i]);
		fputc(',', out);
	}
	fputs("slot,repetition,metric,unit,value,status\n", out);
	stb_arena_fini(&c.arena);
}

static const char *value_on(const struct stb_plan *p, uint32_t cell, const char *axis)
{
	const struct stb_plan_cell *c = &p->cells[cell];
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];

	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!strcmp(m->axes[i].name, axis))
			return c->point[i] == STB_NONE ? "" : m->axes[i].values[c->point[i]].key;
	}
	return "";
}

void stb_results_write_rows(const struct stb_results *r, size_t from, FILE *out)
{
	const struct stb_plan *p = r->plan;
	struct stb_buf number;
	struct columns c;

	collect_columns(p, &c);
	stb_buf_init(&number);
	for (size_t i = from; i < r->n_rows; i++) {
		const struct stb_result_row *row = &r->rows[i];

		fprintf(out, "%.16s,", p->cells[row->cell].id);
		for (uint32_t k = 0; k < c.n; k++) {
			stb_csv_field(out, value_on(p, row->cell, c.name[k]));
			fputc(',', out);
		}
		stb_buf_clear(&number);
		stb_number_shortest(&number, row->value);
		fprintf(out, "%u,%u,%s,%s,%s,%s\n", row->slot, row->repetition, row->metric, row->unit, stb_buf_str(&number),
			stb_status_text(row->status));
	}
	stb_buf_fini(&number);
	stb_arena_fini(&c.arena);
}
