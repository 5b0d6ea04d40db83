/*
 * diff_print.c - a comparison of two plans for people, for a comment on a pull request, and for programs.
 *
 * Every text may come from a spec that nobody has read: in the text form nothing reaches the terminal that it would obey, and in Markdown
 * nothing calls anybody, links anywhere or becomes markup. Both are short on purpose (long texts and long lists are cut); JSON has it all.
 */
#include "compiler/driver/diff_print.h"

#include "compiler/source.h"
#include "runtime/plan/text.h"
#include "runtime/report/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WIDTH = 100, MAX_ROWS = 200 };

struct printer {
	const struct stb_diff *d;
	const char *old_name, *new_name;
	FILE *out;
	struct stb_plan_printer scratch; /* for its texts of sizes and times */
};

/* --- words --------------------------------------------------------------------------------------------------------------------------- */

static const char *change_word(enum stb_change c)
{
	switch (c) {
	case STB_CHANGED:
		return "changed";
	case STB_RENAMED:
		return "renamed";
	case STB_ADDED:
		return "added";
	case STB_REMOVED:
		return "removed";
	}
	STB_BUG("unknown change");
}

static const char *of_word(enum stb_change_of of)
{
	switch (of) {
	case STB_OF_BLOCK:
		return "blocks";
	case STB_OF_MATRIX:
		return "matrices";
	case STB_OF_CELLS:
		return "cells";
	case STB_OF_REPORT:
		return "reports and claims";
	case STB_OF_NEEDS:
		return "needs";
	case STB_OF_TEXT:
		return "texts";
	case STB_N_CHANGE_OF:
		break;
	}
	STB_BUG("unknown subject");
}

/* Printable, and not longer than a line. */
static const char *shown(struct printer *p, const char *s)
{
	struct stb_buf b;
	const char *text;
	size_t left = strlen(s);
	uint32_t width = 0;

	stb_buf_init(&b);
	while (left) {
		const struct stb_glyph g = stb_glyph_at(s, left);

		width += g.width;
		if (width > MAX_WIDTH) {
			stb_buf_adds(&b, "...");
			break;
		}
		if (g.printable)
			stb_buf_add(&b, s, g.bytes);
		else
			stb_buf_adds(&b, *s == '\n' || *s == '\t' ? " " : "\xEF\xBF\xBD");
		s += g.bytes;
		left -= g.bytes;
	}
	text = stb_arena_strndup(&p->scratch.scratch, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

static const char *count(struct printer *p, uint64_t n, const char *one)
{
	return stb_arena_printf(&p->scratch.scratch, "%" PRIu64 " %s%s", n, one, n == 1 ? "" : "s");
}

/* --- cost ---------------------------------------------------------------------------------------------------------------------------- */

struct cost {
	const char *name, *before, *after;
};

static const char *written(struct printer *p, const struct stb_plan_totals *t)
{
	uint64_t sum;

	if (__builtin_add_overflow(t->load_bytes, t->write_bytes, &sum))
		sum = UINT64_MAX;
	return stb_arena_printf(&p->scratch.scratch, "%s%s", stb_plan_bytes_text(&p->scratch, sum),
		t->write_unbounded ? " and what the targets take" : "");
}

enum { N_COSTS = 5 };

static void costs(struct printer *p, struct cost c[N_COSTS])
{
	const struct stb_plan_totals *a = &p->d->cost_before, *b = &p->d->cost_after;
	struct stb_arena *s = &p->scratch.scratch;

	c[0] = (struct cost){ "measurements", stb_arena_printf(s, "%" PRIu64, a->n_measurements),
		stb_arena_printf(s, "%" PRIu64, b->n_measurements) };
	c[1] = (struct cost){ "provisionings", stb_arena_printf(s, "%" PRIu64, a->n_provisions),
		stb_arena_printf(s, "%" PRIu64, b->n_provisions) };
	c[2] = (struct cost){ "time", stb_plan_ns_text(&p->scratch, a->time_ns), stb_plan_ns_text(&p->scratch, b->time_ns) };
	c[3] = (struct cost){ "written", written(p, a), written(p, b) };
	c[4] = (struct cost){ "space", stb_plan_bytes_text(&p->scratch, a->peak_space_bytes),
		stb_plan_bytes_text(&p->scratch, b->peak_space_bytes) };
}

static const char *results(struct printer *p)
{
	const uint32_t n = p->d->after->n_cells, kept = p->d->n_kept;

	if (kept == n)
		return stb_arena_printf(&p->scratch.scratch, "all of %s keep their results", count(p, n, "cell"));
	return stb_arena_printf(&p->scratch.scratch, "%s of %s keep%s their results; %" PRIu32 " %s to be measured%s",
		kept ? stb_arena_printf(&p->scratch.scratch, "%" PRIu32, kept) : "none", count(p, n, "cell"), kept == 1 ? "s" : "", n - kept,
		n - kept == 1 ? "is" : "are", p->d->before->n_cells ? " anew" : "");
}

/* --- text ---------------------------------------------------------------------------------------------------------------------------- */

static void print_line(struct printer *p, const struct stb_diff_line *l)
{
	fprintf(p->out, "  %s", shown(p, l->what));
	if (l->attribute)
		fprintf(p->out, ": %s", shown(p, l->attribute));
	if (l->of == STB_OF_CELLS || l->of == STB_OF_NEEDS || l->of == STB_OF_REPORT) {
		const char *text = l->after ? l->after : l->before;

		if (l->change != STB_CHANGED && text)
			fprintf(p->out, ": %s", shown(p, text));
	}
	if (l->change == STB_CHANGED || l->change == STB_RENAMED) {
		fprintf(p->out, " %s ->", l->before ? shown(p, l->before) : "(unset)");
		fprintf(p->out, " %s", l->after ? shown(p, l->after) : "(unset)");
	}
	if (l->n_cells)
		fprintf(p->out, ", %s%s", l->of == STB_OF_CELLS || l->change == STB_ADDED || l->change == STB_REMOVED ? "" : "in ", count(p, l->n_cells, "cell"));
	if (l->address)
		fputs(", results stay valid", p->out);
	if (*l->where)
		fprintf(p->out, " (%s)", shown(p, l->where));
	fputc('\n', p->out);
}

static void print_text(struct printer *p)
{
	const struct stb_diff *d = p->d;
	struct cost c[N_COSTS];
	size_t width = 6;

	fprintf(p->out, "%s -> %s\n", shown(p, p->old_name), shown(p, p->new_name));
	if (!d->n_lines) {
		fprintf(p->out, "no change in meaning\n");
		if (d->reordered)
			fprintf(p->out, "matrices run in another order\n");
		return;
	}
	for (uint32_t i = 0; i < d->n_lines; i++) {
		const struct stb_diff_line *l = &d->lines[i];

		if (!i || l->of != l[-1].of || l->change != l[-1].change)
			fprintf(p->out, "\n%s %s\n", of_word(l->of), change_word(l->change));
		print_line(p, l);
	}
	if (d->reordered)
		fprintf(p->out, "\nmatrices run in another order\n");
	costs(p, c);
	for (size_t i = 0; i < N_COSTS; i++)
		width = STB_MAX(width, stb_plan_width(c[i].before));
	fprintf(p->out, "\n%-15s  %-*s  after\n", "cost", (int)width, "before");
	for (size_t i = 0; i < N_COSTS; i++)
		fprintf(p->out, "  %-13s  %-*s  %s\n", c[i].name, (int)width, c[i].before, c[i].after);
	if (d->after->n_cells)
		fprintf(p->out, "\nresults: %s\n", results(p));
}

/* --- Markdown ------------------------------------------------------------------------------------------------------------------------ */

static const char *md(struct printer *p, const char *s)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	stb_md_untrusted(&b, shown(p, s));
	text = stb_arena_strndup(&p->scratch.scratch, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

static void md_line(struct printer *p, struct stb_table *t, const struct stb_diff_line *l)
{
	const char *what = md(p, l->what);

	stb_table_row(t);
	stb_table_set(t, 0, change_word(l->change));
	stb_table_set(t, 1, l->attribute ? stb_arena_printf(&p->scratch.scratch, "%s: %s", what, md(p, l->attribute)) : what);
	stb_table_set(t, 2, l->before ? md(p, l->before) : "");
	stb_table_set(t, 3, l->after ? md(p, l->after) : "");
	if (l->n_cells)
		stb_table_set(t, 4, stb_arena_printf(&p->scratch.scratch, "%" PRIu32, l->n_cells));
	stb_table_set(t, 5, l->address ? stb_arena_printf(&p->scratch.scratch, "%s (results stay valid)", md(p, l->where)) : md(p, l->where));
}

static void head(struct stb_table *t, const char *const *names, uint32_t n)
{
	stb_table_row(t);
	for (uint32_t i = 0; i < n; i++)
		stb_table_set(t, i, names[i]);
}

static void print_markdown(struct printer *p)
{
	static const char *const changes[] = { "", "what", "before", "after", "cells", "where" }, *const cost[] = { "cost", "before", "after" };
	const struct stb_diff *d = p->d;
	struct cost c[N_COSTS];
	struct stb_table t;
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_printf(&b, "### %s: %s\n\n", md(p, p->new_name), d->n_lines ? "what changes in meaning" : "no change in meaning");
	if (d->reordered)
		stb_buf_adds(&b, "Matrices run in another order.\n\n");
	if (d->n_lines) {
		stb_table_init(&t, STB_LEN(changes), STB_LEN(changes));
		head(&t, changes, STB_LEN(changes));
		for (uint32_t i = 0; i < d->n_lines && i < MAX_ROWS; i++)
			md_line(p, &t, &d->lines[i]);
		stb_table_print(&t, &b);
		stb_table_fini(&t);
		if (d->n_lines > MAX_ROWS)
			stb_buf_printf(&b, "and %u more.\n\n", d->n_lines - MAX_ROWS);
		costs(p, c);
		stb_table_init(&t, STB_LEN(cost), STB_LEN(cost));
		head(&t, cost, STB_LEN(cost));
		for (size_t i = 0; i < N_COSTS; i++) {
			stb_table_row(&t);
			stb_table_set(&t, 0, c[i].name);
			stb_table_set(&t, 1, c[i].before);
			stb_table_set(&t, 2, c[i].after);
		}
		stb_table_print(&t, &b);
		stb_table_fini(&t);
		if (d->after->n_cells)
			stb_buf_printf(&b, "Results: %s.\n", results(p));
	}
	fwrite(stb_buf_str(&b), 1, b.len, p->out);
	stb_buf_fini(&b);
}

/* --- JSON ---------------------------------------------------------------------------------------------------------------------------- */

/* A name of a file need not be UTF-8, which JSON is. */
static json_t *json_text(struct printer *p, const char *s)
{
	json_t *text = s ? json_string(s) : json_null();

	return text ? text : json_string(shown(p, s));
}

static json_t *json_cost(const struct stb_plan_totals *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:I}", "measurements", (json_int_t)t->n_measurements, "provisionings",
		(json_int_t)t->n_provisions, "time_ns", (json_int_t)t->time_ns, "load_bytes", (json_int_t)t->load_bytes, "write_bytes",
		(json_int_t)t->write_bytes, "write_unbounded", t->write_unbounded, "space_bytes", (json_int_t)t->peak_space_bytes);
}

static json_t *json_cell(struct printer *p, const struct stb_plan *plan, uint32_t cell)
{
	const struct stb_plan_cell *c = &plan->cells[cell];
	const struct stb_plan_matrix *m = &plan->matrices[c->matrix];
	json_t *axes = json_object();

	for (uint32_t i = 0; i < m->n_axes; i++)
		if (c->point[i] != STB_NONE)
			json_object_set_new(axes, m->axes[i].name, json_text(p, m->axes[i].values[c->point[i]].key));
	return json_pack("{s:s, s:o, s:o}", "id", c->id, "matrix", json_text(p, m->name), "axes", axes);
}

static json_t *json_cells(struct printer *p)
{
	json_t *added = json_array(), *removed = json_array(), *changed = json_array();
	const struct stb_diff *d = p->d;

	for (uint32_t i = 0; i < d->after->n_cells; i++) {
		const struct stb_plan_cell *c = &d->after->cells[i];
		json_t *cell;

		if (d->partner[i] == STB_NONE) {
			json_array_append_new(added, json_cell(p, d->after, i));
		} else if (strcmp(d->before->cells[d->partner[i]].id, c->id)) {
			cell = json_cell(p, d->after, i);
			json_object_set_new(cell, "id_before", json_string(d->before->cells[d->partner[i]].id));
			json_array_append_new(changed, cell);
		}
	}
	for (uint32_t i = 0; i < d->n_gone; i++)
		json_array_append_new(removed, json_cell(p, d->before, d->gone[i]));
	return json_pack("{s:i, s:i, s:o, s:o, s:o}", "before", (int)d->before->n_cells, "after", (int)d->after->n_cells, "added", added,
		"removed", removed, "changed", changed);
}

static json_t *json_results(const struct stb_diff *d)
{
	json_t *anew = json_array();

	for (uint32_t i = 0; i < d->after->n_cells; i++)
		if (!d->kept[i])
			json_array_append_new(anew, json_string(d->after->cells[i].id));
	return json_pack("{s:i, s:o}", "kept", (int)d->n_kept, "new", anew);
}

static void print_json(struct printer *p)
{
	const struct stb_diff *d = p->d;
	json_t *changes = json_array(), *all;

	for (uint32_t i = 0; i < d->n_lines; i++) {
		const struct stb_diff_line *l = &d->lines[i];

		json_array_append_new(changes, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:b}", "of", of_word(l->of), "change",
			change_word(l->change), "what", json_text(p, l->what), "attribute", json_text(p, l->attribute), "before",
			json_text(p, l->before), "after", json_text(p, l->after), "cells", (int)l->n_cells, "where", json_text(p, l->where),
			"address", l->address));
	}
	all = json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:{s:o, s:o}, s:o}", "old", json_text(p, p->old_name), "new", json_text(p, p->new_name),
		"changed", d->n_lines > 0, "reordered", d->reordered, "changes", changes, "cells", json_cells(p), "cost", "before",
		json_cost(&d->cost_before), "after", json_cost(&d->cost_after), "results", json_results(d));
	json_dumpf(all, p->out, JSON_INDENT(2));
	fputc('\n', p->out);
	json_decref(all);
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

void stb_diff_print(const struct stb_diff *d, const char *old_name, const char *new_name, enum stb_diff_format format, FILE *out)
{
	struct printer p = { .d = d, .old_name = old_name, .new_name = new_name, .out = out };

	stb_arena_init(&p.scratch.scratch);
	switch (format) {
	case STB_DIFF_TEXT:
		print_text(&p);
		break;
	case STB_DIFF_MARKDOWN:
		print_markdown(&p);
		break;
	case STB_DIFF_JSON:
		print_json(&p);
		break;
	}
	stb_arena_fini(&p.scratch.scratch);
}
