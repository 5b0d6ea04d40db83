/*
 * print_cells.c - the text form of a plan: cells, groups, order of steps, reports and claims.
 *
 * Cells are written as they are met, so that a plan of 100,000 needs no table in memory: column widths come from the axes, and from one pass
 * over the two figures.
 */
#include "runtime/plan/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_STEPS = 60 };

/* --- cells --------------------------------------------------------------------------------------------------------------------------- */

struct columns {
	size_t axes[16], time, writes;
	uint32_t n_axes; /* at most 16 get a column; more are joined in the last */
};

static const char *point_text(const struct stb_plan_matrix *m, const struct stb_plan_cell *c, uint32_t axis)
{
	return c->point[axis] == STB_NONE ? "-" : m->axes[axis].values[c->point[axis]].key;
}

static const char *writes_text(struct stb_plan_printer *t, const struct stb_plan_cell *c)
{
	return c->write_bytes == STB_UNBOUNDED ? "no bound" : stb_plan_bytes_text(t, c->write_bytes);
}

static bool is_printed(const struct stb_plan_printer *t, uint32_t cell)
{
	return !t->keep || t->keep[cell];
}

static const char *cell_time_text(struct stb_plan_printer *t, uint32_t cell)
{
	return t->runs[cell] ? stb_plan_ns_text(t, t->p->cells[cell].measure_ns) : "-";
}

static const char *cell_writes_text(struct stb_plan_printer *t, uint32_t cell)
{
	return t->runs[cell] ? writes_text(t, &t->p->cells[cell]) : "-";
}

static void measure_columns(struct stb_plan_printer *t, const struct stb_plan_matrix *m, struct columns *w)
{
	memset(w, 0, sizeof(*w));
	w->n_axes = STB_MIN(m->n_axes, (uint32_t)STB_LEN(w->axes));
	for (uint32_t i = 0; i < w->n_axes; i++) {
		w->axes[i] = stb_plan_width(m->axes[i].name);
		for (uint32_t j = 0; j < m->axes[i].n_values; j++)
			w->axes[i] = STB_MAX(w->axes[i], stb_plan_width(m->axes[i].values[j].key));
	}
	w->time = strlen("time");
	w->writes = strlen("writes");
	for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++) {
		if (!is_printed(t, i))
			continue;
		w->time = STB_MAX(w->time, strlen(cell_time_text(t, i)));
		w->writes = STB_MAX(w->writes, strlen(cell_writes_text(t, i)));
	}
}

static void print_cell(struct stb_plan_printer *t, const struct stb_plan_matrix *m, uint32_t index, const struct columns *w)
{
	const struct stb_plan_cell *c = &t->p->cells[index];

	fprintf(t->out, "  %.16s", c->id);
	for (uint32_t i = 0; i < w->n_axes; i++) {
		fputs("  ", t->out);
		stb_plan_pad(t->out, point_text(m, c, i), w->axes[i]);
	}
	for (uint32_t i = w->n_axes; i < m->n_axes; i++)
		fprintf(t->out, " / %s", point_text(m, c, i));
	fprintf(t->out, "  %5" PRIu32 "  %11" PRIu32 "  %*s  %*s", c->group + 1, m->repeat, (int)w->time, cell_time_text(t, index),
		(int)w->writes, cell_writes_text(t, index));
	if (!t->runs[index])
		fputs("  # not carried out", t->out);
	else if (c->same_as != index)
		fprintf(t->out, "  # measured in matrix %s", t->p->matrices[t->p->cells[c->same_as].matrix].name);
	fputc('\n', t->out);
}

void stb_plan_print_cells(struct stb_plan_printer *t)
{
	for (uint32_t k = 0; k < t->p->n_matrices; k++) {
		const struct stb_plan_matrix *m = &t->p->matrices[k];
		struct columns w;
		bool any = false;

		for (uint32_t i = m->first_cell; !any && i < m->first_cell + m->n_cells; i++)
			any = is_printed(t, i);
		if (!any)
			continue;
		measure_columns(t, m, &w);
		fprintf(t->out, "\ncells of %s (time and writes of one repetition)\n  %-16s", m->name, "id");
		for (uint32_t i = 0; i < w.n_axes; i++) {
			fputs("  ", t->out);
			stb_plan_pad(t->out, m->axes[i].name, w.axes[i]);
		}
		fprintf(t->out, "  group  repetitions  %*s  %*s\n", (int)w.time, "time", (int)w.writes, "writes");
		for (uint32_t i = m->first_cell; i < m->first_cell + m->n_cells; i++)
			if (is_printed(t, i))
				print_cell(t, m, i, &w);
	}
}

/* --- groups -------------------------------------------------------------------------------------------------------------------------- */

static void print_group(struct stb_plan_printer *t, uint32_t index)
{
	const struct stb_plan_group *g = &t->p->groups[index];
	const char *between = "";

	fprintf(t->out, "  %" PRIu32 "  %.16s  ", index + 1, g->id);
	if (g->server != STB_NONE)
		fprintf(t->out, "%s", stb_plan_block_text(t, g->server)), between = ", ";
	if (g->database != STB_NONE)
		fprintf(t->out, "%s%s", between, stb_plan_block_text(t, g->database)), between = ", ";
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		const struct stb_plan_mount *m = &g->mounts[i];

		fprintf(t->out, "%s%s on %s of %s", between, m->role, stb_plan_block_text(t, m->volume), stb_plan_block_text(t, m->storage));
		between = ", ";
	}
	if (g->dataset != STB_NONE)
		fprintf(t->out, "%s%s", between, stb_plan_block_text(t, g->dataset));
	for (uint32_t i = 0; i < g->n_fills; i++)
		fprintf(t->out, "%s%s", i ? ", " : ", filled by ", stb_plan_block_text(t, g->fills[i]));
	fputc('\n', t->out);
	if (g->not_run) {
		fprintf(t->out, "     not carried out: %s\n", g->not_run);
		return;
	}
	fprintf(t->out, "     provisioned %" PRIu64 "x, about %s each; writes %s, needs %s of space\n", t->provisions[index],
		stb_plan_ns_text(t, g->provision_ns), stb_plan_bytes_text(t, g->load_bytes), stb_plan_bytes_text(t, stb_plan_group_space(g)));
	if (t->restores[index])
		fprintf(t->out, "     restored %" PRIu64 "x from a copy of the loaded files, about %s each; writes %s each, needs %s more of space\n",
			t->restores[index], stb_plan_ns_text(t, g->restore_ns), stb_plan_bytes_text(t, g->copy_bytes),
			stb_plan_bytes_text(t, g->copy_bytes));
}

void stb_plan_print_groups(struct stb_plan_printer *t)
{
	uint8_t *used = stb_xcalloc(t->p->n_groups, 1);

	fprintf(t->out, "\ngroups (cells that share provisioning)\n");
	for (uint32_t i = 0; i < t->p->n_cells; i++)
		used[t->p->cells[i].group] |= is_printed(t, i);
	for (uint32_t i = 0; i < t->p->n_groups; i++)
		if (used[i])
			print_group(t, i);
	free(used);
}

/* --- order --------------------------------------------------------------------------------------------------------------------------- */

static void print_step(struct stb_plan_printer *t, uint64_t number, const struct stb_step *s)
{
	const struct stb_plan_matrix *m = &t->p->matrices[s->matrix];

	fprintf(t->out, "  %4" PRIu64 "  %-14s", number, stb_op_name(s->op));
	switch (s->op) {
	case STB_OP_WAIT_SLOT:
		fprintf(t->out, "  slot %" PRIu32 " of %s: day %" PRIu32 ", %02" PRIu32 ":%02" PRIu32, s->slot + 1, m->name,
			s->slot / m->n_schedule_at + 1, m->schedule_at[s->slot % m->n_schedule_at] / 60,
			m->schedule_at[s->slot % m->n_schedule_at] % 60);
		break;
	case STB_OP_PROVISION:
	case STB_OP_START:
	case STB_OP_LOAD:
	case STB_OP_KEEP:
	case STB_OP_RESTORE:
	case STB_OP_STOP:
	case STB_OP_DEPROVISION:
		fprintf(t->out, "  group %" PRIu32, s->group + 1);
		break;
	case STB_OP_COOLDOWN:
		fprintf(t->out, "  %s", stb_plan_ns_text(t, s->wait_ns));
		break;
	case STB_OP_MEASURE:
		fprintf(t->out, "  %.16s  %s, repetition %" PRIu32, t->p->cells[s->cell].id,
			stb_plan_cell_label(&t->scratch, t->p, s->cell), s->repetition);
		break;
	}
	fputc('\n', t->out);
}

void stb_plan_print_order(struct stb_plan_printer *t)
{
	struct stb_steps *it = stb_steps_new(t->p, t->runs);
	uint64_t n = 0, measures = 0, provisions = 0;
	struct stb_step s;

	fprintf(t->out, "\norder\n");
	while (stb_steps_next(it, &s)) {
		if (++n <= LISTED_STEPS) {
			print_step(t, n, &s);
			continue;
		}
		measures += s.op == STB_OP_MEASURE;
		provisions += s.op == STB_OP_PROVISION;
	}
	if (n > LISTED_STEPS)
		fprintf(t->out, "  and %" PRIu64 " more steps, with %" PRIu64 " measurements and %" PRIu64 " provisionings\n", n - LISTED_STEPS,
			measures, provisions);
	if (!n)
		fputs("  nothing: no cell of it is carried out\n", t->out);
	stb_steps_free(it);
}

/* --- reports and claims -------------------------------------------------------------------------------------------------------------- */

static void print_selector(struct stb_plan_printer *t, const struct stb_plan_matrix *m, const char *word, const struct stb_selector *s)
{
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *term = &s->terms[i];

		fprintf(t->out, "%s %s = ", i ? "," : word, m->axes[term->axis].name);
		for (uint32_t j = 0; j < term->n_values; j++)
			fprintf(t->out, "%s%s", j ? " | " : "",
				term->values[j] == STB_NONE ? "none" : m->axes[term->axis].values[term->values[j]].key);
	}
}

static void print_axis_of(struct stb_plan_printer *t, const struct stb_plan_matrix *m, const char *word, uint32_t axis)
{
	if (axis != STB_NONE)
		fprintf(t->out, ", %s %s", word, m->axes[axis].name);
}

static void print_report(struct stb_plan_printer *t, const struct stb_plan_report *r)
{
	const struct stb_plan_matrix *m = &t->p->matrices[r->matrix];

	fprintf(t->out, "  report %s: ", r->name);
	for (uint32_t i = 0; i < r->n_metrics; i++)
		fprintf(t->out, "%s%s", i ? ", " : "", r->metrics[i]);
	fprintf(t->out, " of %s as ", m->name);
	for (uint32_t i = 0; i < r->n_views; i++)
		fprintf(t->out, "%s%s", i ? ", " : "", stb_view_name(r->views[i]));
	print_axis_of(t, m, "split by", r->split);
	print_axis_of(t, m, "rows", r->rows);
	print_axis_of(t, m, "columns", r->columns);
	for (uint32_t i = 0; i < r->n_fold; i++)
		print_axis_of(t, m, "folded over", r->fold[i]);
	print_selector(t, m, ", where", &r->where);
	print_selector(t, m, ", against", &r->baseline);
	if (r->chart)
		fprintf(t->out, ", chart %s (not drawn by this version of stb)", r->chart);
	fputc('\n', t->out);
}

static void print_claim(struct stb_plan_printer *t, const struct stb_plan_claim *c)
{
	const struct stb_plan_matrix *m = &t->p->matrices[c->matrix];

	fprintf(t->out, "  claim %s: %s of %s is %s", c->name, stb_view_name(c->form), c->metric, stb_val_text(&t->scratch, &c->expect));
	print_selector(t, m, ", where", &c->where);
	print_selector(t, m, ", against", &c->baseline);
	if (c->confidence.type != STB_V_NONE)
		fprintf(t->out, ", with confidence %s", stb_val_text(&t->scratch, &c->confidence));
	fprintf(t->out, "%s\n", c->asserted ? "" : "  # not asserted under this profile");
}

void stb_plan_print_reports(struct stb_plan_printer *t)
{
	if (t->p->n_reports || t->p->n_claims)
		fprintf(t->out, "\nreports and claims\n");
	for (uint32_t i = 0; i < t->p->n_reports; i++)
		print_report(t, &t->p->reports[i]);
	for (uint32_t i = 0; i < t->p->n_claims; i++)
		print_claim(t, &t->p->claims[i]);
}
