/*
 * compare_print.c - a comparison of two runs for people, for a comment on a pull request, and for programs.
 *
 * Text and Markdown are one table of the same strings, so they cannot disagree. Texts come from specs and from the machines' own records: what
 * steers a terminal is replaced, what Markdown would read as markup is escaped.
 */
#include "compiler/driver/compare_print.h"

#include "runtime/report/report.h"
#include "runtime/report/text.h"
#include "runtime/result/number.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_COLS = 8, N_LEFT = 2, MAX_DIFFERENCES = 40 };

struct sheet {
	struct stb_arena arena;
	const struct stb_compare_view *v;
	const char *(*rows)[N_COLS];
	size_t n_rows, cap_rows;
	FILE *out;
	bool markdown;
};

/* --- words ------------------------------------------------------------------------------------------------------------------------------------ */

static const char *label_of(struct stb_arena *a, const struct stb_results *r, uint32_t cell)
{
	const char *label = stb_plan_cell_label(a, r->plan, cell);

	return *label ? label : "the cell";
}

/* Four digits, and never an exponent. */
static const char *figure(struct stb_arena *a, double v)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	stb_number_fixed(&b, v, v >= 1000 || v == 0 ? 0 : STB_MIN(STB_MAX(3 - (int)floor(log10(v)), 0), 9));
	text = stb_arena_strdup(a, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static const char *percent(struct stb_arena *a, double change)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	stb_view_format_figure(&b, STB_VIEW_CHANGE, change, 2);
	text = stb_arena_strdup(a, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static const char *verdict(struct stb_arena *a, const struct stb_compare_row *r, double threshold)
{
	if (r->why)
		return stb_arena_printf(a, "%s (%s)", stb_shift_text(r->shift), r->why);
	return stb_arena_printf(a, "%s%s", stb_shift_text(r->shift), stb_compare_is_regression(r, threshold) ? ", beyond the threshold" : "");
}

/* --- the table -------------------------------------------------------------------------------------------------------------------------------- */

static const char **new_row(struct sheet *s)
{
	STB_ARENA_GROW(&s->arena, s->rows, s->n_rows, s->cap_rows);
	for (int i = 0; i < N_COLS; i++)
		s->rows[s->n_rows][i] = "";
	return s->rows[s->n_rows++];
}

static void fill(struct sheet *s)
{
	static const char *const heads[N_COLS] = { "cell", "metric", "old", "new", "change", "95% interval", "n", "" };
	const struct stb_comparison *c = s->v->comparison;
	const char **t = new_row(s);

	memcpy(t, heads, sizeof heads);
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct stb_compare_row *r = &c->rows[i];

		t = new_row(s);
		t[0] = label_of(&s->arena, c->new_results, r->new_cell);
		t[1] = *r->unit ? stb_arena_printf(&s->arena, "%s (%s)", r->metric, r->unit) : r->metric;
		t[2] = r->has_old ? figure(&s->arena, r->old_value) : "-";
		t[3] = r->has_new ? figure(&s->arena, r->new_value) : "-";
		t[4] = r->has_change ? percent(&s->arena, r->change) : "n/a";
		if (r->has_interval)
			t[5] = stb_arena_printf(&s->arena, "%s..%s", percent(&s->arena, r->low), percent(&s->arena, r->high));
		t[6] = r->n_old == r->n_new ? stb_arena_printf(&s->arena, "%u", r->n_new) :
					      stb_arena_printf(&s->arena, "%u, %u", r->n_old, r->n_new);
		t[7] = verdict(&s->arena, r, s->v->threshold);
	}
}

/* A spec's words on a terminal. */
static const char *plain(struct stb_arena *a, const char *text)
{
	char *copy = stb_arena_strdup(a, text);

	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return copy;
}

static void print_text_table(struct sheet *s)
{
	size_t width[N_COLS] = { 0 };

	for (size_t i = 0; i < s->n_rows; i++)
		for (int k = 0; k < N_COLS; k++) {
			s->rows[i][k] = plain(&s->arena, s->rows[i][k]);
			width[k] = STB_MAX(width[k], stb_display_width(s->rows[i][k], strlen(s->rows[i][k])));
		}
	for (size_t i = 0; i < s->n_rows; i++) {
		for (int k = 0; k < N_COLS; k++) {
			const char *t = s->rows[i][k];
			const int pad = (int)(width[k] - stb_display_width(t, strlen(t)));

			if (k == N_COLS - 1)
				fprintf(s->out, "%s%s", *t ? "  " : "", t);
			else if (k < N_LEFT)
				fprintf(s->out, "%s%s%*s", k ? "  " : "", t, pad, "");
			else
				fprintf(s->out, "  %*s%s", pad, "", t);
		}
		fputc('\n', s->out);
	}
	fputc('\n', s->out);
}

static const char *marked(struct stb_arena *a, const char *text)
{
	struct stb_buf b;
	const char *out;

	stb_buf_init(&b);
	stb_md_untrusted(&b, text);
	out = stb_arena_strdup(a, stb_buf_str(&b));
	stb_buf_fini(&b);
	return out;
}

static void print_markdown_table(struct sheet *s)
{
	struct stb_table t;
	struct stb_buf b;

	stb_buf_init(&b);
	stb_table_init(&t, N_COLS, N_LEFT);
	for (size_t i = 0; i < s->n_rows; i++) {
		stb_table_row(&t);
		for (uint32_t k = 0; k < N_COLS; k++)
			stb_table_set(&t, k, marked(&s->arena, s->rows[i][k]));
	}
	stb_table_print(&t, &b);
	fwrite(stb_buf_str(&b), 1, b.len, s->out);
	stb_table_fini(&t);
	stb_buf_fini(&b);
}

/* --- around it -------------------------------------------------------------------------------------------------------------------------------- */

static void item(struct sheet *s, const char *text)
{
	fprintf(s->out, "%s%s\n", s->markdown ? "- " : "  ", s->markdown ? marked(&s->arena, text) : plain(&s->arena, text));
}

static void heading(struct sheet *s, const char *text)
{
	fprintf(s->out, s->markdown ? "### %s\n\n" : "%s:\n", text);
}

static void print_cells(struct sheet *s, const char *title, const struct stb_results *r, const uint32_t *cells, size_t n)
{
	if (!n)
		return;
	heading(s, title);
	for (size_t i = 0; i < n; i++)
		item(s, stb_arena_printf(&s->arena, "%s (%.16s)", label_of(&s->arena, r, cells[i]), r->plan->cells[cells[i]].id));
	fputc('\n', s->out);
}

static void print_means(struct sheet *s)
{
	const struct stb_comparison *c = s->v->comparison;

	if (!c->n_means)
		return;
	heading(s, "Geometric mean over common cells");
	for (size_t i = 0; i < c->n_means; i++) {
		const struct stb_compare_mean *m = &c->means[i];
		const char *missing = m->missing ? stb_arena_printf(&s->arena, ", %u missing", m->missing) : "";

		if (m->n)
			item(s, stb_arena_printf(&s->arena, "%s: %s over %u cell%s%s", m->metric, percent(&s->arena, m->change), m->n,
				m->n == 1 ? "" : "s", missing));
		else
			item(s, stb_arena_printf(&s->arena, "%s: n/a%s", m->metric, missing));
	}
	fputc('\n', s->out);
}

static void print_environment(struct sheet *s)
{
	const struct stb_differences *d = s->v->environment;

	heading(s, "Environment");
	if (!d)
		item(s, "not known: one of the runs has no environment.json that can be read");
	else if (!d->n)
		item(s, "the same in all that is recorded");
	for (size_t i = 0; d && i < d->n && i < MAX_DIFFERENCES; i++)
		item(s, stb_arena_printf(&s->arena, "%s%s: %.200s -> %.200s", d->items[i].matters ? "" : "(minor) ", d->items[i].what, d->items[i].was,
			d->items[i].is));
	if (d && d->n > MAX_DIFFERENCES)
		item(s, stb_arena_printf(&s->arena, "and %zu more", d->n - MAX_DIFFERENCES));
	fputc('\n', s->out);
}

static void print_counts(struct sheet *s)
{
	const struct stb_comparison *c = s->v->comparison;
	size_t judged, n = stb_compare_regressions(c, s->v->threshold, &judged);

	fprintf(s->out, "%zu comparison%s:", c->n_rows, c->n_rows == 1 ? "" : "s");
	for (int i = 0, first = 1; i < STB_N_SHIFTS; i++) {
		if (!c->count[i])
			continue;
		fprintf(s->out, "%s %zu %s", first ? "" : ",", c->count[i], stb_shift_text((enum stb_shift)i));
		first = 0;
	}
	fprintf(s->out, "%s. %zu %s worse by more than %g%% for sure, or lost.\n", c->n_rows ? "" : " none", n, n == 1 ? "is" : "are",
		s->v->threshold);
	if (judged >= 10)
		fprintf(s->out, "At 95%% about %zu of %zu would differ by chance alone.\n", (judged + 10) / 20 ? (judged + 10) / 20 : 1, judged);
}

static void print_people(struct sheet *s)
{
	const struct stb_comparison *c = s->v->comparison;

	if (s->markdown)
		fprintf(s->out, "## %s -> %s\n\n", marked(&s->arena, s->v->old_name), marked(&s->arena, s->v->new_name));
	else
		fprintf(s->out, "%s -> %s\n\n", s->v->old_name, s->v->new_name);
	if (c->n_rows) {
		fill(s);
		if (s->markdown)
			print_markdown_table(s);
		else
			print_text_table(s);
	}
	print_means(s);
	print_cells(s, "Only in the old run", c->old_results, c->only_old, c->n_only_old);
	print_cells(s, "Only in the new run", c->new_results, c->only_new, c->n_only_new);
	print_environment(s);
	print_counts(s);
}

/* --- JSON --------------------------------------------------------------------------------------------------------------------------------------- */

static json_t *number(bool there, double v)
{
	return there && isfinite(v) ? json_real(v) : json_null();
}

static json_t *row_json(struct sheet *s, const struct stb_compare_row *r)
{
	const struct stb_comparison *c = s->v->comparison;
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:I,s:I,s:o}", "cell", c->new_results->plan->cells[r->new_cell].id, "label",
		label_of(&s->arena, c->new_results, r->new_cell), "metric", r->metric, "unit", r->unit, "old", number(r->has_old, r->old_value),
		"new", number(r->has_new, r->new_value), "n_old", (json_int_t)r->n_old, "n_new", (json_int_t)r->n_new, "change_percent",
		number(r->has_change, r->change));

	json_object_set_new(o, "interval_percent", r->has_interval ? json_pack("[f,f]", r->low, r->high) : json_null());
	json_object_set_new(o, "verdict", json_string(stb_shift_text(r->shift)));
	json_object_set_new(o, "why", r->why ? json_string(r->why) : json_null());
	json_object_set_new(o, "regression", json_boolean(stb_compare_is_regression(r, s->v->threshold)));
	return o;
}

static json_t *cells_json(struct sheet *s, const struct stb_results *r, const uint32_t *cells, size_t n)
{
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(out, json_pack("{s:s,s:s}", "cell", r->plan->cells[cells[i]].id, "label", label_of(&s->arena, r, cells[i])));
	return out;
}

static void print_json(struct sheet *s)
{
	const struct stb_comparison *c = s->v->comparison;
	const struct stb_differences *d = s->v->environment;
	json_t *rows = json_array(), *means = json_array(), *env = json_array(), *o;
	size_t judged;

	for (size_t i = 0; i < c->n_rows; i++)
		json_array_append_new(rows, row_json(s, &c->rows[i]));
	for (size_t i = 0; i < c->n_means; i++)
		json_array_append_new(means, json_pack("{s:s,s:o,s:I,s:I}", "metric", c->means[i].metric, "change_percent",
			number(c->means[i].n, c->means[i].change), "cells", (json_int_t)c->means[i].n, "missing", (json_int_t)c->means[i].missing));
	for (size_t i = 0; d && i < d->n; i++)
		json_array_append_new(env, json_pack("{s:s,s:s,s:s,s:b}", "what", d->items[i].what, "old", d->items[i].was, "new", d->items[i].is,
			"matters", d->items[i].matters));
	o = json_pack("{s:s,s:s,s:f,s:f,s:o,s:o}", "old", s->v->old_name, "new", s->v->new_name, "confidence", STB_COMPARE_CONFIDENCE,
		"threshold_percent", s->v->threshold, "rows", rows, "geomean", means);
	json_object_set_new(o, "regressions", json_integer((json_int_t)stb_compare_regressions(c, s->v->threshold, &judged)));
	json_object_set_new(o, "judged", json_integer((json_int_t)judged));
	json_object_set_new(o, "only_old", cells_json(s, c->old_results, c->only_old, c->n_only_old));
	json_object_set_new(o, "only_new", cells_json(s, c->new_results, c->only_new, c->n_only_new));
	json_object_set_new(o, "environment", d ? env : json_null());
	if (!d)
		json_decref(env);
	json_dumpf(o, s->out, JSON_INDENT(2));
	fputc('\n', s->out);
	json_decref(o);
}

void stb_compare_print(const struct stb_compare_view *v, enum stb_compare_format format, FILE *out)
{
	struct sheet s = { .v = v, .out = out, .markdown = format == STB_COMPARE_MARKDOWN };

	stb_arena_init(&s.arena);
	switch (format) {
	case STB_COMPARE_TEXT:
	case STB_COMPARE_MARKDOWN:
		print_people(&s);
		break;
	case STB_COMPARE_JSON:
		print_json(&s);
		break;
	}
	stb_arena_fini(&s.arena);
}
