/*
 * json_print.c - writes a plan as canonical JSON, line by line; the form is described in json.h.
 */
#include "runtime/plan/json.h"
#include "runtime/plan/json_write.h"

#include <inttypes.h>
#include <string.h>

static void suite(struct stb_json_writer *w, const struct stb_plan *p)
{
	stb_json_raw(w, ",\n");
	w->first = true;
	stb_json_begin(w, "suite", "{");
	stb_json_put_str(w, "name", p->suite);
	stb_json_put_str(w, "title", p->title);
	stb_json_put_str(w, "description", p->description);
	stb_json_put_str(w, "source", p->source);
	stb_json_put_str(w, "licence", p->licence);
	stb_json_end(w, "}");
	stb_json_put_str(w, "profile", p->profile);
	stb_json_put_texts(w, "params", p->params, p->n_params);
}

static void name_label_note(struct stb_json_writer *w, const char *name, const char *label, const char *note)
{
	stb_json_put_str(w, "name", name);
	stb_json_put_str(w, "label", label);
	stb_json_put_str(w, "note", note);
}

/* The names of the attributes that `is` holds for. */
static void attr_names(struct stb_json_writer *w, const char *key, const struct stb_plan_block *b, bool (*is)(const struct stb_plan_attr *))
{
	bool any = false;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!is(&b->attrs[i]))
			continue;
		if (!any)
			stb_json_begin(w, key, "[");
		any = true;
		stb_json_put_str(w, NULL, b->attrs[i].name);
	}
	if (any)
		stb_json_end(w, "]");
}

static bool is_default(const struct stb_plan_attr *a)
{
	return a->is_default;
}

static bool is_address(const struct stb_plan_attr *a)
{
	return a->ident == STB_ADDRESS;
}

static bool is_no_id(const struct stb_plan_attr *a)
{
	return a->ident == STB_NO_ID;
}

static void block(struct stb_json_writer *w, const struct stb_plan_block *b)
{
	stb_json_open_line(w);
	stb_json_put_str(w, "kind", b->kind);
	if (b->not_run)
		stb_json_put_str(w, "not_run", b->not_run);
	if (b->not_run_attr)
		stb_json_put_str(w, "not_run_attr", b->not_run_attr);
	if (b->not_run_change)
		stb_json_put_str(w, "not_run_change", b->not_run_change);
	stb_json_put_str(w, "type", b->type);
	name_label_note(w, b->name, b->label, b->note);
	stb_json_begin(w, "attrs", "{");
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		stb_json_member(w, b->attrs[i].name);
		stb_json_value(w, &b->attrs[i].val);
	}
	stb_json_end(w, "}");
	attr_names(w, "default", b, is_default);
	attr_names(w, "address", b, is_address);
	attr_names(w, "no_id", b, is_no_id);
	stb_json_close_line(w);
}

static void axis(struct stb_json_writer *w, const struct stb_plan_axis *x)
{
	stb_json_begin(w, NULL, "{");
	stb_json_put_str(w, "name", x->name);
	stb_json_put_str(w, "label", x->label);
	stb_json_put_str(w, "kind", x->kind);
	stb_json_put_flag(w, "described", x->described);
	stb_json_begin(w, "values", "[");
	for (uint32_t i = 0; i < x->n_values; i++) {
		stb_json_begin(w, NULL, "{");
		stb_json_put_str(w, "key", x->values[i].key);
		stb_json_put_str(w, "label", x->values[i].label);
		stb_json_end(w, "}");
	}
	stb_json_end(w, "]");
	stb_json_end(w, "}");
}

static void selector(struct stb_json_writer *w, const char *key, const struct stb_plan_matrix *m, const struct stb_selector *s)
{
	stb_json_begin(w, key, "[");
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *t = &s->terms[i];

		stb_json_begin(w, NULL, "{");
		stb_json_put_str(w, "axis", m->axes[t->axis].name);
		stb_json_begin(w, "values", "[");
		for (uint32_t j = 0; j < t->n_values; j++) {
			stb_json_member(w, NULL);
			if (t->values[j] == STB_NONE)
				stb_json_raw(w, "null");
			else
				stb_json_string(w, m->axes[t->axis].values[t->values[j]].key);
		}
		stb_json_end(w, "]");
		stb_json_end(w, "}");
	}
	stb_json_end(w, "]");
}

static void matrix(struct stb_json_writer *w, const struct stb_plan_matrix *m)
{
	stb_json_open_line(w);
	name_label_note(w, m->name, m->label, m->note);
	stb_json_begin(w, "axes", "[");
	for (uint32_t i = 0; i < m->n_axes; i++)
		axis(w, &m->axes[i]);
	stb_json_end(w, "]");
	stb_json_put_u64(w, "repeat", m->repeat);
	stb_json_put_str(w, "order", stb_order_name(m->order));
	stb_json_put_str(w, "fresh", stb_fresh_name(m->fresh));
	stb_json_put_u64(w, "seed", m->seed);
	stb_json_put_u64(w, "cooldown_ns", m->cooldown_ns);
	stb_json_put_u64(w, "interval_ns", m->interval_ns);
	if (m->not_run)
		stb_json_put_str(w, "not_run", m->not_run);
	if (m->schedule_days) {
		stb_json_put_u64(w, "schedule_days", m->schedule_days);
		stb_json_begin(w, "schedule_at", "[");
		for (uint32_t i = 0; i < m->n_schedule_at; i++) {
			stb_json_member(w, NULL);
			stb_buf_printf(&w->text, "\"%02u:%02u\"", m->schedule_at[i] / 60, m->schedule_at[i] % 60);
		}
		stb_json_end(w, "]");
	}
	if (m->n_excludes) {
		stb_json_begin(w, "excludes", "[");
		for (uint32_t i = 0; i < m->n_excludes; i++) {
			stb_json_begin(w, NULL, "{");
			selector(w, "where", m, &m->excludes[i].where);
			stb_json_put_str(w, "reason", m->excludes[i].reason);
			stb_json_end(w, "}");
		}
		stb_json_end(w, "]");
	}
	stb_json_put_u64(w, "first_cell", m->first_cell);
	stb_json_put_u64(w, "n_cells", m->n_cells);
	stb_json_close_line(w);
}

static void group(struct stb_json_writer *w, const struct stb_plan_group *g)
{
	stb_json_open_line(w);
	stb_json_put_str(w, "id", g->id);
	stb_json_put_index(w, "server", g->server);
	stb_json_put_index(w, "database", g->database);
	stb_json_begin(w, "mounts", "[");
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		stb_json_begin(w, NULL, "{");
		stb_json_put_str(w, "role", g->mounts[i].role);
		stb_json_put_u64(w, "volume", g->mounts[i].volume);
		stb_json_put_u64(w, "storage", g->mounts[i].storage);
		if (g->mounts[i].space_bytes)
			stb_json_put_u64(w, "space_bytes", g->mounts[i].space_bytes);
		stb_json_end(w, "}");
	}
	stb_json_end(w, "]");
	stb_json_put_index(w, "dataset", g->dataset);
	if (g->n_fills) {
		stb_json_begin(w, "fills", "[");
		for (uint32_t i = 0; i < g->n_fills; i++)
			stb_json_put_u64(w, NULL, g->fills[i]);
		stb_json_end(w, "]");
	}
	stb_json_put_u64(w, "load_bytes", g->load_bytes);
	stb_json_put_u64(w, "space_bytes", g->space_bytes);
	stb_json_put_u64(w, "provision_ns", g->provision_ns);
	if (g->copy_bytes) {
		stb_json_put_u64(w, "copy_bytes", g->copy_bytes);
		stb_json_put_u64(w, "restore_ns", g->restore_ns);
	}
	stb_json_put_str(w, "not_run", g->not_run);
	if (g->not_run)
		stb_json_put_index(w, "not_run_block", g->not_run_block);
	stb_json_close_line(w);
}

/* --- cells: most of a plan, and most of a cell's line is the same in many others ------------------------------------------------------- */

struct piece {
	const char *text;
	size_t len;
};

/* What the lines of a matrix's cells are put together from. */
struct cell_form {
	struct stb_arena arena;
	const struct stb_plan_matrix *matrix;
	struct piece begin;    /* behind the id, up to the axes */
	struct piece **values; /* per axis and value: `"bs":"4KiB"` */
	size_t longest;        /* of a line, at most */
};

static const char before_id[] = "{\"id\":\"";

static struct piece cut(struct stb_json_writer *w, struct cell_form *f)
{
	const struct piece p = { stb_arena_strndup(&f->arena, stb_buf_str(&w->text), w->text.len), w->text.len };

	stb_buf_clear(&w->text);
	return p;
}

static void form_open(struct cell_form *f, const struct stb_plan_matrix *m, uint32_t index)
{
	struct stb_json_writer w = { .first = false };

	*f = (struct cell_form){ .matrix = m, .longest = 256 + STB_HASH_HEX + (10 + STB_MAX_MEMBERS) * STB_JSON_NUMBER + m->n_axes };
	stb_arena_init(&f->arena);
	stb_buf_init(&w.text);
	stb_json_raw(&w, "\"");
	stb_json_put_u64(&w, "matrix", index);
	stb_json_begin(&w, "axes", "{");
	f->begin = cut(&w, f);
	f->longest += f->begin.len;
	f->values = STB_NEW_ARRAY(&f->arena, struct piece *, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		size_t longest = 0;

		f->values[i] = STB_NEW_ARRAY(&f->arena, struct piece, m->axes[i].n_values);
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			w.first = true;
			stb_json_put_str(&w, m->axes[i].name, m->axes[i].values[v].key);
			f->values[i][v] = cut(&w, f);
			longest = STB_MAX(longest, f->values[i][v].len);
		}
		f->longest += longest;
	}
	stb_buf_fini(&w.text);
}

static void form_close(struct cell_form *f)
{
	stb_arena_fini(&f->arena);
}

static char *put(char *to, const char *s, size_t len)
{
	memcpy(to, s, len);
	return to + len;
}

static char *put_named(char *to, const char *before, uint64_t v)
{
	return stb_json_number(put(to, before, strlen(before)), v);
}

static char *cell_axes(char *to, const struct cell_form *f, const uint32_t *point)
{
	const char *const begun = to;

	for (uint32_t i = 0; i < f->matrix->n_axes; i++) {
		const struct piece *p;

		if (point[i] == STB_NONE)
			continue;
		p = &f->values[i][point[i]];
		if (to != begun)
			*to++ = ',';
		to = put(to, p->text, p->len);
	}
	return to;
}

static void cell(struct stb_json_writer *w, const struct cell_form *f, const struct stb_plan *p, uint32_t index)
{
	static const char unbounded[] = "\"unbounded\"";
	const struct stb_plan_cell *c = &p->cells[index];
	const struct stb_plan_mix *mix = stb_plan_mix_of(p, index);
	char *const line = stb_buf_room(&w->text, f->longest), *to = line;

	if (!w->first)
		*to++ = ',';
	*to++ = '\n';
	w->first = false;
	to = put(to, before_id, sizeof(before_id) - 1);
	to = put(to, c->id, strnlen(c->id, STB_HASH_HEX - 1));
	to = put(to, f->begin.text, f->begin.len);
	to = cell_axes(to, f, c->point);
	to = put_named(to, "},\"workload\":", c->workload);
	for (uint32_t i = 0; i < mix->n; i++)
		to = put_named(to, i ? "," : ",\"members\":[", mix->members[i]);
	if (mix->n)
		*to++ = ']';
	if (c->server != STB_NONE)
		to = put_named(to, ",\"server\":", c->server);
	if (c->client != STB_NONE)
		to = put_named(to, ",\"client\":", c->client);
	if (c->pin != STB_NONE)
		to = put_named(to, ",\"pin\":", c->pin);
	if (c->client_pin != STB_NONE)
		to = put_named(to, ",\"client_pin\":", c->client_pin);
	to = put_named(to, ",\"group\":", c->group);
	if (c->same_as != index)
		to = put_named(to, ",\"same_as\":", c->same_as);
	to = put_named(to, ",\"measure_ns\":", c->measure_ns);
	to = put(to, ",\"write_bytes\":", strlen(",\"write_bytes\":"));
	if (c->write_bytes == STB_UNBOUNDED)
		to = put(to, unbounded, sizeof(unbounded) - 1);
	else
		to = stb_json_number(to, c->write_bytes);
	*to++ = '}';
	stb_buf_filled(&w->text, (size_t)(to - line));
	stb_json_flush_full(w);
}

/* Cells follow their matrices. */
static void cells(struct stb_json_writer *w, const struct stb_plan *p)
{
	for (uint32_t m = 0; m < p->n_matrices; m++) {
		const uint32_t first = p->matrices[m].first_cell;
		struct cell_form f;

		form_open(&f, &p->matrices[m], m);
		for (uint32_t i = first; i < first + p->matrices[m].n_cells; i++)
			cell(w, &f, p, i);
		form_close(&f);
	}
}

/* --- reports and claims -------------------------------------------------------------------------------------------------------------- */

static void put_axis(struct stb_json_writer *w, const char *key, const struct stb_plan_matrix *m, uint32_t i)
{
	if (i != STB_NONE)
		stb_json_put_str(w, key, m->axes[i].name);
}

static void report(struct stb_json_writer *w, const struct stb_plan *p, const struct stb_plan_report *r)
{
	const struct stb_plan_matrix *m = &p->matrices[r->matrix];

	stb_json_open_line(w);
	name_label_note(w, r->name, r->label, r->note);
	stb_json_put_u64(w, "matrix", r->matrix);
	selector(w, "where", m, &r->where);
	if (r->has_baseline)
		selector(w, "baseline", m, &r->baseline);
	put_axis(w, "split", m, r->split);
	put_axis(w, "rows", m, r->rows);
	put_axis(w, "columns", m, r->columns);
	stb_json_begin(w, "fold", "[");
	for (uint32_t i = 0; i < r->n_fold; i++)
		put_axis(w, NULL, m, r->fold[i]);
	stb_json_end(w, "]");
	stb_json_begin(w, "metrics", "[");
	for (uint32_t i = 0; i < r->n_metrics; i++)
		stb_json_put_str(w, NULL, r->metrics[i]);
	stb_json_end(w, "]");
	stb_json_begin(w, "show", "[");
	for (uint32_t i = 0; i < r->n_views; i++)
		stb_json_put_str(w, NULL, stb_view_name(r->views[i]));
	stb_json_end(w, "]");
	stb_json_put_str(w, "aggregate", stb_aggregate_name(r->aggregate));
	stb_json_put_flag(w, "geomean", r->geomean);
	if (r->chart)
		stb_json_put_str(w, "chart", r->chart);
	stb_json_put_val(w, "units", &r->units);
	stb_json_put_val(w, "decimals", &r->decimals);
	stb_json_put_val(w, "headings", &r->headings);
	stb_json_close_line(w);
}

static void claim(struct stb_json_writer *w, const struct stb_plan *p, const struct stb_plan_claim *c)
{
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];

	stb_json_open_line(w);
	name_label_note(w, c->name, c->label, c->note);
	stb_json_put_u64(w, "matrix", c->matrix);
	stb_json_put_str(w, "metric", c->metric);
	selector(w, "where", m, &c->where);
	if (c->has_baseline)
		selector(w, "baseline", m, &c->baseline);
	stb_json_put_str(w, "form", stb_view_name(c->form));
	stb_json_put_val(w, "expect", &c->expect);
	stb_json_put_u64(w, "digits", c->digits);
	stb_json_put_str(w, "unit", c->unit);
	stb_json_put_str(w, "aggregate", stb_aggregate_name(c->aggregate));
	if (c->confidence.type != STB_V_NONE)
		stb_json_put_val(w, "confidence", &c->confidence);
	stb_json_put_flag(w, "asserted", c->asserted);
	stb_json_close_line(w);
}

/* Everything that the plan's hash covers. */
static void body(struct stb_json_writer *w, const struct stb_plan *p)
{
	stb_json_raw(w, "{\n");
	w->first = true;
	stb_json_put_u64(w, "stb_plan", STB_PLAN_FORM);
	suite(w, p);
	stb_json_open_lines(w, "blocks");
	for (uint32_t i = 0; i < p->n_blocks; i++)
		block(w, &p->blocks[i]);
	stb_json_end(w, "]");
	stb_json_open_lines(w, "matrices");
	for (uint32_t i = 0; i < p->n_matrices; i++)
		matrix(w, &p->matrices[i]);
	stb_json_end(w, "]");
	stb_json_open_lines(w, "groups");
	for (uint32_t i = 0; i < p->n_groups; i++)
		group(w, &p->groups[i]);
	stb_json_end(w, "]");
	stb_json_open_lines(w, "cells");
	cells(w, p);
	stb_json_end(w, "]");
	stb_json_open_lines(w, "reports");
	for (uint32_t i = 0; i < p->n_reports; i++)
		report(w, p, &p->reports[i]);
	stb_json_end(w, "]");
	stb_json_open_lines(w, "claims");
	for (uint32_t i = 0; i < p->n_claims; i++)
		claim(w, p, &p->claims[i]);
	stb_json_end(w, "]");
	stb_json_put_texts(w, "privileges", p->privileges, p->n_privileges);
	stb_json_put_texts(w, "devices", p->devices, p->n_devices);
	stb_json_put_texts(w, "secrets", p->secrets, p->n_secrets);
	stb_json_put_texts(w, "notes", p->notes, p->n_notes);
}

/* --- where things were written ------------------------------------------------------------------------------------------------------- */

static void place(struct stb_json_writer *w, const struct stb_plan *p, const char *list, uint32_t index, const struct stb_plan_attr *a, uint32_t span)
{
	const bool has_origin = a && a->origin != STB_FROM_DEFAULT;
	struct stb_buf owner;

	if (span == STB_NONE && !has_origin)
		return;
	stb_buf_init(&owner);
	stb_buf_printf(&owner, "%s[%" PRIu32 "]%s%s", list, index, a ? "." : "", a ? a->name : "");
	stb_json_open_line(w);
	stb_json_put_str(w, "owner", stb_buf_str(&owner));
	stb_buf_fini(&owner);
	if (has_origin)
		stb_json_put_str(w, "origin", stb_origin_name(a->origin));
	if (span != STB_NONE) {
		stb_json_put_u64(w, "file", p->spans[span].file);
		stb_json_put_u64(w, "line", p->spans[span].line);
		stb_json_put_u64(w, "column", p->spans[span].column);
		stb_json_put_u64(w, "width", p->spans[span].width);
	}
	stb_json_close_line(w);
}

static void places(struct stb_json_writer *w, const struct stb_plan *p)
{
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		place(w, p, "blocks", i, NULL, p->blocks[i].span);
		for (uint32_t j = 0; j < p->blocks[i].n_attrs; j++)
			place(w, p, "blocks", i, &p->blocks[i].attrs[j], p->blocks[i].attrs[j].span);
	}
	for (uint32_t i = 0; i < p->n_matrices; i++)
		place(w, p, "matrices", i, NULL, p->matrices[i].span);
	for (uint32_t i = 0; i < p->n_reports; i++)
		place(w, p, "reports", i, NULL, p->reports[i].span);
	for (uint32_t i = 0; i < p->n_claims; i++)
		place(w, p, "claims", i, NULL, p->claims[i].span);
}

void stb_plan_spec_hash(const struct stb_plan *p, char out[STB_HASH_HEX])
{
	struct stb_buf b;

	stb_buf_init(&b);
	for (uint32_t i = 0; i < p->n_files; i++)
		stb_buf_printf(&b, "%s  %s\n", p->files[i].sha256, p->files[i].name);
	stb_hash_hex(stb_buf_str(&b), b.len, out);
	stb_buf_fini(&b);
}

static void sources(struct stb_json_writer *w, const struct stb_plan *p)
{
	char spec[STB_HASH_HEX];

	stb_plan_spec_hash(p, spec);
	stb_json_raw(w, ",\n");
	w->first = true;
	stb_json_begin(w, "source", "{");
	stb_json_put_str(w, "spec", spec);
	stb_json_begin(w, "files", "[");
	for (uint32_t i = 0; i < p->n_files; i++) {
		stb_json_open_line(w);
		stb_json_put_str(w, "name", p->files[i].name);
		stb_json_put_str(w, "sha256", p->files[i].sha256);
		stb_json_close_line(w);
	}
	stb_json_end(w, "]");
	stb_json_open_lines(w, "spans");
	places(w, p);
	stb_json_end(w, "]");
	stb_json_end(w, "}");
}

void stb_plan_print_json(const struct stb_plan *p, FILE *out)
{
	struct stb_json_writer w = { .out = out };

	stb_buf_init(&w.text);
	body(&w, p);
	stb_json_raw(&w, ",\n");
	w.first = true;
	stb_json_put_str(&w, "hash", p->hash);
	sources(&w, p);
	stb_json_raw(&w, "\n}\n");
	stb_json_flush(&w);
	stb_buf_fini(&w.text);
}

void stb_plan_seal(struct stb_plan *p)
{
	struct stb_hash hash;
	struct stb_json_writer w = { .hash = &hash };

	stb_hash_begin(&hash);
	stb_buf_init(&w.text);
	body(&w, p);
	stb_json_raw(&w, "\n}\n");
	stb_json_flush(&w);
	stb_hash_end(&hash, p->hash);
	stb_buf_fini(&w.text);
}
