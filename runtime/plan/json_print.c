/*
 * json_print.c - writes a plan as canonical JSON, line by line; the form is described in json.h.
 *
 * A writer of our own rather than a document of jansson's: a plan may have a million cells, and byte-identical output is the point. Text that is
 * not UTF-8 is written with U+FFFD in place of the bad bytes, so the output is always JSON.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/buf.h"
#include "runtime/plan/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FLUSH_BYTES = 64 * 1024 };

struct writer {
	struct stb_buf text;   /* not yet handed on */
	FILE *out;             /* where it goes, or NULL */
	struct stb_hash *hash; /* the same */
	bool first; /* no comma before the next member */
};

static void flush(struct writer *w)
{
	if (w->out)
		fwrite(stb_buf_str(&w->text), 1, w->text.len, w->out);
	if (w->hash)
		stb_hash_add(w->hash, stb_buf_str(&w->text), w->text.len);
	stb_buf_clear(&w->text);
}

static void flush_full(struct writer *w)
{
	if (w->text.len >= FLUSH_BYTES)
		flush(w);
}

static void raw(struct writer *w, const char *s)
{
	stb_buf_adds(&w->text, s);
}

/* Bytes at s that stand for themselves and need no look at their neighbours. */
static size_t plain(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x80 && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void string(struct writer *w, const char *s)
{
	size_t left = strlen(s);

	raw(w, "\"");
	while (left) {
		int32_t code;
		size_t n = plain(s, left);

		if (n) {
			stb_buf_add(&w->text, s, n);
			s += n;
			left -= n;
			continue;
		}
		n = stb_utf8_next(s, left, &code);
		if (!n) {
			n = 1;
			raw(w, "\xEF\xBF\xBD");
		} else if (code == '"' || code == '\\') {
			stb_buf_printf(&w->text, "\\%c", (char)code);
		} else if (code == '\n') {
			raw(w, "\\n");
		} else if (code < 0x20) {
			stb_buf_printf(&w->text, "\\u%04x", (unsigned)code);
		} else {
			stb_buf_add(&w->text, s, n);
		}
		s += n;
		left -= n;
	}
	raw(w, "\"");
}

enum { MAX_NUMBER = 24 }; /* bytes of number() */

/* Writes v, quoted where a signed reader could not hold it; returns the end. */
static char *number(char *to, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
		"555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	char digits[MAX_NUMBER];
	unsigned at = sizeof(digits);
	const bool quoted = v > INT64_MAX;

	if (quoted)
		digits[--at] = '"';
	for (; v >= 100; v /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + v % 100 * 2, 2);
	}
	if (v >= 10)
		digits[--at] = pairs[v * 2 + 1];
	digits[--at] = v >= 10 ? pairs[v * 2] : (char)('0' + v);
	if (quoted)
		digits[--at] = '"';
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + (sizeof(digits) - at);
}

static void put_digits(struct writer *w, uint64_t v)
{
	char text[MAX_NUMBER];

	stb_buf_add(&w->text, text, (size_t)(number(text, v) - text));
}

/* Comma where one is due; then "key": where there is a key. */
static void member(struct writer *w, const char *key)
{
	if (!w->first)
		raw(w, ",");
	w->first = false;
	if (key) {
		string(w, key);
		raw(w, ":");
	}
}

static void begin(struct writer *w, const char *key, const char *bracket)
{
	member(w, key);
	raw(w, bracket);
	w->first = true;
}

static void end(struct writer *w, const char *bracket)
{
	raw(w, bracket);
	w->first = false;
}

static void put_str(struct writer *w, const char *key, const char *s)
{
	if (!s)
		return;
	member(w, key);
	string(w, s);
}

static void put_u64(struct writer *w, const char *key, uint64_t v)
{
	member(w, key);
	put_digits(w, v);
}

static void put_index(struct writer *w, const char *key, uint32_t i)
{
	if (i != STB_NONE)
		put_u64(w, key, i);
}

static void put_flag(struct writer *w, const char *key, bool on)
{
	if (!on)
		return;
	member(w, key);
	raw(w, "true");
}

/* One line of a top-level array. */
static void open_line(struct writer *w)
{
	raw(w, w->first ? "\n" : ",\n");
	raw(w, "{");
	w->first = true;
}

static void close_line(struct writer *w)
{
	end(w, "}");
	flush_full(w);
}

static void open_lines(struct writer *w, const char *key)
{
	raw(w, ",\n");
	w->first = true;
	begin(w, key, "[");
}

static void texts(struct writer *w, const char *key, const char **list, uint32_t n)
{
	open_lines(w, key);
	for (uint32_t i = 0; i < n; i++) {
		raw(w, i ? ",\n" : "\n");
		string(w, list[i]);
	}
	end(w, "]");
	flush_full(w);
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

static void put_number(struct writer *w, const char *key, __int128 num, int64_t den)
{
	member(w, key);
	if (den == 1 && num >= 0)
		put_digits(w, (uint64_t)num);
	else if (den == 1)
		stb_buf_printf(&w->text, "%" PRId64, (int64_t)num);
	else
		stb_buf_printf(&w->text, "\"%" PRId64 "/%" PRId64 "\"", (int64_t)num, den);
}

static void share(struct writer *w, const struct stb_val *v)
{
	int64_t common = 100, percent;

	for (int64_t rest = v->den; rest;) {
		const int64_t next = common % rest;

		common = rest;
		rest = next;
	}
	if (__builtin_mul_overflow(v->num, 100 / common, &percent))
		stb_buf_printf(&w->text, "\"share\":\"%" PRId64 "/%" PRId64 "\"", v->num, v->den);
	else
		put_number(w, "percent", percent, v->den / common);
}

static void value(struct writer *w, const struct stb_val *v);

static void items(struct writer *w, const struct stb_val *v)
{
	w->first = true;
	for (uint32_t i = 0; i < v->n_items; i++) {
		member(w, v->type == STB_V_MAP ? v->keys[i] : v->type == STB_V_RANGE ? (i ? "to" : "from") : NULL);
		value(w, &v->items[i]);
	}
}

static void tagged(struct writer *w, const struct stb_val *v)
{
	raw(w, "{");
	w->first = true;
	switch (v->type) {
	case STB_V_COUNT:
		put_number(w, "count", v->num, v->den);
		break;
	case STB_V_BYTES:
		put_number(w, "bytes", v->num, v->den);
		break;
	case STB_V_TIME:
		put_number(w, "ns", v->num, v->den);
		break;
	case STB_V_SHARE:
		share(w, v);
		break;
	case STB_V_RATE:
		put_number(w, "per_s", v->num, v->den);
		break;
	case STB_V_BYTE_RATE:
		put_number(w, "bytes_per_s", v->num, v->den);
		break;
	case STB_V_CLOCK:
		stb_buf_printf(&w->text, "\"at\":\"%02d:%02d\"", (int)(v->num / 60), (int)(v->num % 60));
		break;
	case STB_V_WORD:
		put_str(w, "word", v->str);
		break;
	case STB_V_REF:
		put_str(w, "ref", v->str);
		break;
	case STB_V_SECRET:
		put_str(w, "secret", v->str);
		break;
	case STB_V_RANGE:
		items(w, v);
		break;
	case STB_V_MAP:
		begin(w, "map", "{");
		items(w, v);
		end(w, "}");
		break;
	case STB_V_NONE:
	case STB_V_BOOL:
	case STB_V_STRING:
	case STB_V_LIST:
		STB_BUG("untagged value");
	}
	end(w, "}");
}

static void value(struct writer *w, const struct stb_val *v)
{
	switch (v->type) {
	case STB_V_NONE:
		raw(w, "null");
		return;
	case STB_V_BOOL:
		raw(w, v->num ? "true" : "false");
		return;
	case STB_V_STRING:
		string(w, v->str);
		return;
	case STB_V_LIST:
		raw(w, "[");
		items(w, v);
		end(w, "]");
		return;
	case STB_V_COUNT:
		if (v->den == 1) {
			stb_buf_printf(&w->text, "%" PRId64, v->num);
			return;
		}
		tagged(w, v);
		return;
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
	case STB_V_CLOCK:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_RANGE:
	case STB_V_MAP:
		tagged(w, v);
		return;
	}
	STB_BUG("unknown value type");
}

static void put_val(struct writer *w, const char *key, const struct stb_val *v)
{
	if (v->type == STB_V_NONE)
		return;
	member(w, key);
	value(w, v);
}

/* --- parts of a plan ----------------------------------------------------------------------------------------------------------------- */

static void suite(struct writer *w, const struct stb_plan *p)
{
	raw(w, ",\n");
	w->first = true;
	begin(w, "suite", "{");
	put_str(w, "name", p->suite);
	put_str(w, "title", p->title);
	put_str(w, "description", p->description);
	put_str(w, "source", p->source);
	put_str(w, "licence", p->licence);
	end(w, "}");
	put_str(w, "profile", p->profile);
	texts(w, "params", p->params, p->n_params);
}

static void name_label_note(struct writer *w, const char *name, const char *label, const char *note)
{
	put_str(w, "name", name);
	put_str(w, "label", label);
	put_str(w, "note", note);
}

/* The names of the attributes that `is` holds for. */
static void attr_names(struct writer *w, const char *key, const struct stb_plan_block *b, bool (*is)(const struct stb_plan_attr *))
{
	bool any = false;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!is(&b->attrs[i]))
			continue;
		if (!any)
			begin(w, key, "[");
		any = true;
		put_str(w, NULL, b->attrs[i].name);
	}
	if (any)
		end(w, "]");
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

static void block(struct writer *w, const struct stb_plan_block *b)
{
	open_line(w);
	put_str(w, "kind", b->kind);
	if (b->not_run)
		put_str(w, "not_run", b->not_run);
	if (b->not_run_attr)
		put_str(w, "not_run_attr", b->not_run_attr);
	if (b->not_run_change)
		put_str(w, "not_run_change", b->not_run_change);
	put_str(w, "type", b->type);
	name_label_note(w, b->name, b->label, b->note);
	begin(w, "attrs", "{");
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		member(w, b->attrs[i].name);
		value(w, &b->attrs[i].val);
	}
	end(w, "}");
	attr_names(w, "default", b, is_default);
	attr_names(w, "address", b, is_address);
	attr_names(w, "no_id", b, is_no_id);
	close_line(w);
}

static void axis(struct writer *w, const struct stb_plan_axis *x)
{
	begin(w, NULL, "{");
	put_str(w, "name", x->name);
	put_str(w, "label", x->label);
	put_str(w, "kind", x->kind);
	put_flag(w, "described", x->described);
	begin(w, "values", "[");
	for (uint32_t i = 0; i < x->n_values; i++) {
		begin(w, NULL, "{");
		put_str(w, "key", x->values[i].key);
		put_str(w, "label", x->values[i].label);
		end(w, "}");
	}
	end(w, "]");
	end(w, "}");
}

static void selector(struct writer *w, const char *key, const struct stb_plan_matrix *m, const struct stb_selector *s)
{
	begin(w, key, "[");
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct stb_selector_term *t = &s->terms[i];

		begin(w, NULL, "{");
		put_str(w, "axis", m->axes[t->axis].name);
		begin(w, "values", "[");
		for (uint32_t j = 0; j < t->n_values; j++) {
			member(w, NULL);
			if (t->values[j] == STB_NONE)
				raw(w, "null");
			else
				string(w, m->axes[t->axis].values[t->values[j]].key);
		}
		end(w, "]");
		end(w, "}");
	}
	end(w, "]");
}

static void matrix(struct writer *w, const struct stb_plan_matrix *m)
{
	open_line(w);
	name_label_note(w, m->name, m->label, m->note);
	begin(w, "axes", "[");
	for (uint32_t i = 0; i < m->n_axes; i++)
		axis(w, &m->axes[i]);
	end(w, "]");
	put_u64(w, "repeat", m->repeat);
	put_str(w, "order", stb_order_name(m->order));
	put_str(w, "fresh", stb_fresh_name(m->fresh));
	put_u64(w, "seed", m->seed);
	put_u64(w, "cooldown_ns", m->cooldown_ns);
	put_u64(w, "interval_ns", m->interval_ns);
	if (m->not_run)
		put_str(w, "not_run", m->not_run);
	if (m->schedule_days) {
		put_u64(w, "schedule_days", m->schedule_days);
		begin(w, "schedule_at", "[");
		for (uint32_t i = 0; i < m->n_schedule_at; i++) {
			member(w, NULL);
			stb_buf_printf(&w->text, "\"%02u:%02u\"", m->schedule_at[i] / 60, m->schedule_at[i] % 60);
		}
		end(w, "]");
	}
	if (m->n_excludes) {
		begin(w, "excludes", "[");
		for (uint32_t i = 0; i < m->n_excludes; i++) {
			begin(w, NULL, "{");
			selector(w, "where", m, &m->excludes[i].where);
			put_str(w, "reason", m->excludes[i].reason);
			end(w, "}");
		}
		end(w, "]");
	}
	put_u64(w, "first_cell", m->first_cell);
	put_u64(w, "n_cells", m->n_cells);
	close_line(w);
}

static void group(struct writer *w, const struct stb_plan_group *g)
{
	open_line(w);
	put_str(w, "id", g->id);
	put_index(w, "server", g->server);
	put_index(w, "database", g->database);
	begin(w, "mounts", "[");
	for (uint32_t i = 0; i < g->n_mounts; i++) {
		begin(w, NULL, "{");
		put_str(w, "role", g->mounts[i].role);
		put_u64(w, "volume", g->mounts[i].volume);
		put_u64(w, "storage", g->mounts[i].storage);
		if (g->mounts[i].space_bytes)
			put_u64(w, "space_bytes", g->mounts[i].space_bytes);
		end(w, "}");
	}
	end(w, "]");
	put_index(w, "dataset", g->dataset);
	if (g->n_fills) {
		begin(w, "fills", "[");
		for (uint32_t i = 0; i < g->n_fills; i++)
			put_u64(w, NULL, g->fills[i]);
		end(w, "]");
	}
	put_u64(w, "load_bytes", g->load_bytes);
	put_u64(w, "space_bytes", g->space_bytes);
	put_u64(w, "provision_ns", g->provision_ns);
	if (g->copy_bytes) {
		put_u64(w, "copy_bytes", g->copy_bytes);
		put_u64(w, "restore_ns", g->restore_ns);
	}
	put_str(w, "not_run", g->not_run);
	if (g->not_run)
		put_index(w, "not_run_block", g->not_run_block);
	close_line(w);
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

static struct piece cut(struct writer *w, struct cell_form *f)
{
	const struct piece p = { stb_arena_strndup(&f->arena, stb_buf_str(&w->text), w->text.len), w->text.len };

	stb_buf_clear(&w->text);
	return p;
}

static void form_open(struct cell_form *f, const struct stb_plan_matrix *m, uint32_t index)
{
	struct writer w = { .first = false };

	*f = (struct cell_form){ .matrix = m, .longest = 256 + STB_HASH_HEX + (10 + STB_MAX_MEMBERS) * MAX_NUMBER + m->n_axes };
	stb_arena_init(&f->arena);
	stb_buf_init(&w.text);
	raw(&w, "\"");
	put_u64(&w, "matrix", index);
	begin(&w, "axes", "{");
	f->begin = cut(&w, f);
	f->longest += f->begin.len;
	f->values = STB_NEW_ARRAY(&f->arena, struct piece *, m->n_axes);
	for (uint32_t i = 0; i < m->n_axes; i++) {
		size_t longest = 0;

		f->values[i] = STB_NEW_ARRAY(&f->arena, struct piece, m->axes[i].n_values);
		for (uint32_t v = 0; v < m->axes[i].n_values; v++) {
			w.first = true;
			put_str(&w, m->axes[i].name, m->axes[i].values[v].key);
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
	return number(put(to, before, strlen(before)), v);
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

static void cell(struct writer *w, const struct cell_form *f, const struct stb_plan *p, uint32_t index)
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
		to = number(to, c->write_bytes);
	*to++ = '}';
	stb_buf_filled(&w->text, (size_t)(to - line));
	flush_full(w);
}

/* Cells follow their matrices. */
static void cells(struct writer *w, const struct stb_plan *p)
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

static void put_axis(struct writer *w, const char *key, const struct stb_plan_matrix *m, uint32_t i)
{
	if (i != STB_NONE)
		put_str(w, key, m->axes[i].name);
}

static void report(struct writer *w, const struct stb_plan *p, const struct stb_plan_report *r)
{
	const struct stb_plan_matrix *m = &p->matrices[r->matrix];

	open_line(w);
	name_label_note(w, r->name, r->label, r->note);
	put_u64(w, "matrix", r->matrix);
	selector(w, "where", m, &r->where);
	if (r->has_baseline)
		selector(w, "baseline", m, &r->baseline);
	put_axis(w, "split", m, r->split);
	put_axis(w, "rows", m, r->rows);
	put_axis(w, "columns", m, r->columns);
	begin(w, "fold", "[");
	for (uint32_t i = 0; i < r->n_fold; i++)
		put_axis(w, NULL, m, r->fold[i]);
	end(w, "]");
	begin(w, "metrics", "[");
	for (uint32_t i = 0; i < r->n_metrics; i++)
		put_str(w, NULL, r->metrics[i]);
	end(w, "]");
	begin(w, "show", "[");
	for (uint32_t i = 0; i < r->n_views; i++)
		put_str(w, NULL, stb_view_name(r->views[i]));
	end(w, "]");
	put_str(w, "aggregate", stb_aggregate_name(r->aggregate));
	put_flag(w, "geomean", r->geomean);
	if (r->chart)
		put_str(w, "chart", r->chart);
	put_val(w, "units", &r->units);
	put_val(w, "decimals", &r->decimals);
	put_val(w, "headings", &r->headings);
	close_line(w);
}

static void claim(struct writer *w, const struct stb_plan *p, const struct stb_plan_claim *c)
{
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];

	open_line(w);
	name_label_note(w, c->name, c->label, c->note);
	put_u64(w, "matrix", c->matrix);
	put_str(w, "metric", c->metric);
	selector(w, "where", m, &c->where);
	if (c->has_baseline)
		selector(w, "baseline", m, &c->baseline);
	put_str(w, "form", stb_view_name(c->form));
	put_val(w, "expect", &c->expect);
	put_u64(w, "digits", c->digits);
	put_str(w, "unit", c->unit);
	put_str(w, "aggregate", stb_aggregate_name(c->aggregate));
	if (c->confidence.type != STB_V_NONE)
		put_val(w, "confidence", &c->confidence);
	put_flag(w, "asserted", c->asserted);
	close_line(w);
}

/* Everything that the plan's hash covers. */
static void body(struct writer *w, const struct stb_plan *p)
{
	raw(w, "{\n");
	w->first = true;
	put_u64(w, "stb_plan", STB_PLAN_FORM);
	suite(w, p);
	open_lines(w, "blocks");
	for (uint32_t i = 0; i < p->n_blocks; i++)
		block(w, &p->blocks[i]);
	end(w, "]");
	open_lines(w, "matrices");
	for (uint32_t i = 0; i < p->n_matrices; i++)
		matrix(w, &p->matrices[i]);
	end(w, "]");
	open_lines(w, "groups");
	for (uint32_t i = 0; i < p->n_groups; i++)
		group(w, &p->groups[i]);
	end(w, "]");
	open_lines(w, "cells");
	cells(w, p);
	end(w, "]");
	open_lines(w, "reports");
	for (uint32_t i = 0; i < p->n_reports; i++)
		report(w, p, &p->reports[i]);
	end(w, "]");
	open_lines(w, "claims");
	for (uint32_t i = 0; i < p->n_claims; i++)
		claim(w, p, &p->claims[i]);
	end(w, "]");
	texts(w, "privileges", p->privileges, p->n_privileges);
	texts(w, "devices", p->devices, p->n_devices);
	texts(w, "secrets", p->secrets, p->n_secrets);
	texts(w, "notes", p->notes, p->n_notes);
}

/* --- where things were written ------------------------------------------------------------------------------------------------------- */

static void place(struct writer *w, const struct stb_plan *p, const char *list, uint32_t index, const struct stb_plan_attr *a, uint32_t span)
{
	const bool has_origin = a && a->origin != STB_FROM_DEFAULT;
	struct stb_buf owner;

	if (span == STB_NONE && !has_origin)
		return;
	stb_buf_init(&owner);
	stb_buf_printf(&owner, "%s[%" PRIu32 "]%s%s", list, index, a ? "." : "", a ? a->name : "");
	open_line(w);
	put_str(w, "owner", stb_buf_str(&owner));
	stb_buf_fini(&owner);
	if (has_origin)
		put_str(w, "origin", stb_origin_name(a->origin));
	if (span != STB_NONE) {
		put_u64(w, "file", p->spans[span].file);
		put_u64(w, "line", p->spans[span].line);
		put_u64(w, "column", p->spans[span].column);
		put_u64(w, "width", p->spans[span].width);
	}
	close_line(w);
}

static void places(struct writer *w, const struct stb_plan *p)
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

static void sources(struct writer *w, const struct stb_plan *p)
{
	char spec[STB_HASH_HEX];

	stb_plan_spec_hash(p, spec);
	raw(w, ",\n");
	w->first = true;
	begin(w, "source", "{");
	put_str(w, "spec", spec);
	begin(w, "files", "[");
	for (uint32_t i = 0; i < p->n_files; i++) {
		open_line(w);
		put_str(w, "name", p->files[i].name);
		put_str(w, "sha256", p->files[i].sha256);
		close_line(w);
	}
	end(w, "]");
	open_lines(w, "spans");
	places(w, p);
	end(w, "]");
	end(w, "}");
}

void stb_plan_print_json(const struct stb_plan *p, FILE *out)
{
	struct writer w = { .out = out };

	stb_buf_init(&w.text);
	body(&w, p);
	raw(&w, ",\n");
	w.first = true;
	put_str(&w, "hash", p->hash);
	sources(&w, p);
	raw(&w, "\n}\n");
	flush(&w);
	stb_buf_fini(&w.text);
}

void stb_plan_seal(struct stb_plan *p)
{
	struct stb_hash hash;
	struct writer w = { .hash = &hash };

	stb_hash_begin(&hash);
	stb_buf_init(&w.text);
	body(&w, p);
	raw(&w, "\n}\n");
	flush(&w);
	stb_hash_end(&hash, p->hash);
	stb_buf_fini(&w.text);
}
