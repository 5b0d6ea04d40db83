/*
 * load.c - results.csv of a run, and recorded rows from elsewhere, into the result model.
 *
 * Two forms of header are taken:
 *
 *   cell,<anything>,slot,repetition,metric,unit,value,status    what stb writes. The cell id decides; axis names carry no identity, so a
 *                                                               renamed axis does not make an old run unreadable. But a row that names
 *                                                               another value of an axis than its cell has is refused.
 *   <axes>,metric,unit,value[,slot][,repetition][,status]       recorded rows, columns in any order. Every name must be known.
 *
 * Recorded rows match cells by a key: the values of the file's axis columns, in the order of the file, "" where a cell has no value. All
 * cells are put into one table sorted by that key, once per file; a row is one binary search. So an axis with one value may be left out of the file,
 * and a key that several different cells share is an error that names the columns which would tell them apart.
 *
 * A run that was killed or whose disk was full may leave a last line without an end in a file that it wrote. That line is left out; a note says what
 * is lost. Everything before it counts. A file from elsewhere may end so by custom: the line counts there, and a note says that nobody can tell.
 */
#include "runtime/result/csvfile.h"
#include "runtime/result/hists.h"
#include "runtime/result/number.h"
#include "runtime/result/result.h"
#include "runtime/result/story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum column { COL_CELL, COL_SLOT, COL_REPETITION, COL_METRIC, COL_UNIT, COL_VALUE, COL_STATUS, N_COLS };

static const char *const column_name[N_COLS] = { "cell", "slot", "repetition", "metric", "unit", "value", "status" };

enum { MAX_LISTED = 12 };

struct cell_key {
	const char *key;
	uint32_t cell;
};

struct loader {
	struct stb_results *r;
	struct stb_arena arena;    /* keys */
	bool have_header;
	bool from_run;             /* the header is one that stb writes */
	uint32_t n_fields;
	int32_t at[N_COLS];        /* field of each column, -1: absent */
	uint32_t n_axes;
	uint32_t axis_at[STB_CSV_MAX_FIELDS];   /* fields that are axes */
	const char *axis_name[STB_CSV_MAX_FIELDS];
	struct cell_key *keys;     /* by id or by axis values, sorted */
	struct stb_buf key;
	struct stb_csv_tail tail;
	uint32_t rows;
};

static const char *shown(const char *s, char out[64])
{
	return stb_csv_shown(s, strlen(s), out);
}

/* "a, b, c and 4 more" */
static void list_add(struct stb_buf *b, const char *word, uint32_t *n)
{
	if (!*word)
		return;
	for (const char *p = stb_buf_str(b); (p = strstr(p, word)); p++) {
		const char end = p[strlen(word)];

		if ((p == b->data || p[-1] == ' ') && (!end || end == ','))
			return;
	}
	if ((*n)++ < MAX_LISTED)
		stb_buf_printf(b, "%s%s", b->len ? ", " : "", word);
}

static void list_end(struct stb_buf *b, uint32_t n)
{
	if (n > MAX_LISTED)
		stb_buf_printf(b, " and %u more", n - MAX_LISTED);
	if (!b->len)
		stb_buf_adds(b, "none");
}

static const struct stb_plan_axis *axis_of(const struct stb_plan_matrix *m, const char *name, uint32_t *index)
{
	for (uint32_t i = 0; i < m->n_axes; i++) {
		if (!strcmp(m->axes[i].name, name)) {
			*index = i;
			return &m->axes[i];
		}
	}
	return NULL;
}

static bool is_axis(const struct stb_plan *p, const char *name)
{
	uint32_t index;

	for (uint32_t i = 0; i < p->n_matrices; i++) {
		if (axis_of(&p->matrices[i], name, &index))
			return true;
	}
	return false;
}

static void list_axes(const struct stb_plan *p, struct stb_buf *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_matrices; i++) {
		for (uint32_t k = 0; k < p->matrices[i].n_axes; k++)
			list_add(b, p->matrices[i].axes[k].name, &n);
	}
	list_end(b, n);
}

static void list_values(const struct stb_plan *p, const char *axis, struct stb_buf *b)
{
	uint32_t n = 0, index;

	for (uint32_t i = 0; i < p->n_matrices; i++) {
		const struct stb_plan_axis *a = axis_of(&p->matrices[i], axis, &index);

		for (uint32_t k = 0; a && k < a->n_values; k++)
			list_add(b, a->values[k].key, &n);
	}
	list_end(b, n);
}

/* The cell's value on an axis as the file spells it; "" where it has none. */
static const char *cell_value(const struct stb_plan *p, uint32_t cell, const char *axis)
{
	const struct stb_plan_matrix *m = &p->matrices[p->cells[cell].matrix];
	uint32_t index;
	const struct stb_plan_axis *a = axis_of(m, axis, &index);

	return a && p->cells[cell].point[index] != STB_NONE ? a->values[p->cells[cell].point[index]].key : "";
}

static int by_key(const void *a, const void *b)
{
	const struct cell_key *x = a, *y = b;
	const int c = strcmp(x->key, y->key);

	return c ? c : x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void make_keys(struct loader *l)
{
	const struct stb_plan *p = l->r->plan;
	struct stb_buf b;

	stb_buf_init(&b);
	l->keys = STB_NEW_ARRAY(&l->arena, struct cell_key, p->n_cells);
	for (uint32_t c = 0; c < p->n_cells; c++) {
		l->keys[c].cell = c;
		l->keys[c].key = p->cells[c].id;
		if (l->from_run)
			continue;
		stb_buf_clear(&b);
		for (uint32_t i = 0; i < l->n_axes; i++)
			stb_buf_printf(&b, "%s\x1f", cell_value(p, c, l->axis_name[i]));
		l->keys[c].key = stb_arena_strdup(&l->arena, stb_buf_str(&b));
	}
	qsort(l->keys, p->n_cells, sizeof(*l->keys), by_key);
	stb_buf_fini(&b);
}

/* --- header --- */

/* Whether the header is cell,...,slot,repetition,metric,unit,value,status. */
static bool written_by_stb(const struct stb_csv_record *rec)
{
	if (rec->n < N_COLS || strcmp(rec->field[0], column_name[COL_CELL]))
		return false;
	for (uint32_t i = 1; i < N_COLS; i++) {
		if (strcmp(rec->field[rec->n - N_COLS + i], column_name[i]))
			return false;
	}
	return true;
}

static int unknown_column(const struct loader *l, const struct stb_csv_record *rec, const char *name, struct stb_err *err)
{
	struct stb_buf axes;
	char text[64];

	stb_buf_init(&axes);
	list_axes(l->r->plan, &axes);
	stb_csv_refuse(rec, err, "unknown column `%s`", shown(name, text));
	stb_err_remedy(err, "columns are the axes of the matrices (%s) and metric, unit, value, slot, repetition, status", stb_buf_str(&axes));
	stb_buf_fini(&axes);
	return -1;
}

static int take_column(struct loader *l, const struct stb_csv_record *rec, uint32_t i, struct stb_err *err)
{
	const char *name = rec->field[i];
	char text[64];

	for (uint32_t k = 0; k < i; k++) {
		if (!strcmp(rec->field[k], name))
			return stb_csv_refuse(rec, err, "column `%s` stands there twice", shown(name, text));
	}
	for (int k = COL_SLOT; k < N_COLS; k++) {
		if (!strcmp(name, column_name[k])) {
			l->at[k] = (int32_t)i;
			return 0;
		}
	}
	if (!is_axis(l->r->plan, name))
		return unknown_column(l, rec, name, err);
	l->axis_at[l->n_axes] = i;
	l->axis_name[l->n_axes++] = stb_arena_strdup(&l->arena, name);
	return 0;
}

static int read_header(struct loader *l, const struct stb_csv_record *rec, struct stb_err *err)
{
	l->have_header = true;
	l->n_fields = rec->n;
	l->from_run = l->tail.ended = written_by_stb(rec);
	for (int i = 0; i < N_COLS; i++)
		l->at[i] = -1;
	if (l->from_run) {
		l->at[COL_CELL] = 0;
		for (uint32_t i = 1; i < N_COLS; i++)
			l->at[i] = (int32_t)(rec->n - N_COLS + i);
		for (uint32_t i = 1; i <= rec->n - N_COLS; i++) {
			if (!is_axis(l->r->plan, rec->field[i]))
				continue;
			l->axis_at[l->n_axes] = i;
			l->axis_name[l->n_axes++] = stb_arena_strdup(&l->arena, rec->field[i]);
		}
	} else {
		for (uint32_t i = 0; i < rec->n; i++) {
			if (take_column(l, rec, i, err))
				return -1;
		}
	}
	for (int i = COL_METRIC; i <= COL_VALUE; i++) {
		if (l->at[i] >= 0)
			continue;
		stb_csv_refuse(rec, err, "the header has no column `%s`", column_name[i]);
		stb_err_remedy(err, "the first line names the columns: axes, metric, unit, value and optionally slot, repetition, status");
		return -1;
	}
	make_keys(l);
	return 0;
}

/* --- which cell --- */

static int no_cell(const struct loader *l, const struct stb_csv_record *rec, struct stb_err *err)
{
	struct stb_buf b;
	char text[64];

	stb_buf_init(&b);
	for (uint32_t i = 0; i < l->n_axes; i++) {
		const char *value = rec->field[l->axis_at[i]];
		bool known = !*value;

		for (uint32_t c = 0; !known && c < l->r->plan->n_cells; c++)
			known = !strcmp(cell_value(l->r->plan, c, l->axis_name[i]), value);
		if (known)
			continue;
		list_values(l->r->plan, l->axis_name[i], &b);
		stb_csv_refuse(rec, err, "`%s` is no value of axis `%s` in any cell", shown(value, text), l->axis_name[i]);
		stb_err_remedy(err, "values of `%s`: %s", l->axis_name[i], stb_buf_str(&b));
		goto done;
	}
	for (uint32_t i = 0; i < l->n_axes; i++)
		stb_buf_printf(&b, "%s%s = %s", i ? ", " : "", l->axis_name[i],
			*rec->field[l->axis_at[i]] ? shown(rec->field[l->axis_at[i]], text) : "none");
	stb_csv_refuse(rec, err, "no cell has %s", stb_buf_str(&b));
	stb_err_remedy(err, "each value is known, but not together: it is excluded, or belongs to another matrix; `stb plan` lists the cells");
done:
	stb_buf_fini(&b);
	return -1;
}

static int several_cells(const struct loader *l, const struct stb_csv_record *rec, uint32_t first, uint32_t other, struct stb_err *err)
{
	const struct stb_plan *p = l->r->plan;
	const uint32_t matrix[2] = { p->cells[first].matrix, p->cells[other].matrix };
	struct stb_buf b;
	uint32_t n = 0;

	stb_buf_init(&b);
	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < p->matrices[matrix[k]].n_axes; i++) {
			const char *name = p->matrices[matrix[k]].axes[i].name;

			if (strcmp(cell_value(p, first, name), cell_value(p, other, name)))
				list_add(&b, name, &n);
		}
	}
	if (n) {
		list_end(&b, n);
		stb_csv_refuse(rec, err, "the row fits several cells, which differ in %s", stb_buf_str(&b));
		stb_err_remedy(err, "add a column for %s", stb_buf_str(&b));
	} else {
		stb_csv_refuse(rec, err, "the row fits cells of matrices `%s` and `%s`", p->matrices[matrix[0]].name, p->matrices[matrix[1]].name);
		stb_err_remedy(err, "give the matrices an axis with different values");
	}
	stb_buf_fini(&b);
	return -1;
}

/* First key that is not less than `key` by its first len bytes, the NUL counted where len reaches it. */
static uint32_t lower_bound(const struct loader *l, const char *key, size_t len)
{
	uint32_t lo = 0, hi = l->r->plan->n_cells;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (strncmp(l->keys[mid].key, key, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of the cells with the key at `i`, which equal each other but for their run, the one of the run that is read. */
static int cell_of_run(const struct loader *l, const struct stb_csv_record *rec, uint32_t i, uint32_t *cell, struct stb_err *err)
{
	const struct stb_plan *p = l->r->plan;
	const char *reading = l->r->reading, *key = l->keys[i].key;
	bool column = false;

	*cell = l->keys[i].cell;
	for (uint32_t k = 0; !l->from_run && k < l->n_axes; k++)
		column = column || !strcmp(l->axis_name[k], "run");
	if (!stb_results_run_of(p, *cell) || column || (reading && !*reading))
		return 0;
	if (!reading) {
		stb_csv_refuse(rec, err, "matrix `%s` compares runs, and nothing says which one this is", p->matrices[p->cells[*cell].matrix].name);
		stb_err_remedy(err, "name it: --results RUN=DIR, with a RUN of its `runs = [...]`");
		return -1;
	}
	for (; i < p->n_cells && !strcmp(l->keys[i].key, key); i++) {
		const char *run = stb_results_run_of(p, l->keys[i].cell);

		*cell = l->keys[i].cell;
		if (!run || !strcmp(run, reading))
			return 0;
	}
	stb_csv_refuse(rec, err, "matrix `%s` does not compare a run `%s`", p->matrices[p->cells[*cell].matrix].name, reading);
	return -1;
}

static bool is_value(const struct stb_plan_axis *a, const char *key)
{
	for (uint32_t i = 0; i < a->n_values; i++) {
		if (!strcmp(a->values[i].key, key))
			return true;
	}
	return false;
}

/* The first column in which a row says another value of an axis than the cell has; STB_NONE: it says none. */
static uint32_t contradiction(const struct loader *l, const struct stb_csv_record *rec, uint32_t cell)
{
	const struct stb_plan *p = l->r->plan;

	for (uint32_t k = 0; k < l->n_axes; k++) {
		const char *value = rec->field[l->axis_at[k]];
		uint32_t index;
		const struct stb_plan_axis *a = axis_of(&p->matrices[p->cells[cell].matrix], l->axis_name[k], &index);

		if (a && strcmp(a->kind, "run") && is_value(a, value) && strcmp(cell_value(p, cell, l->axis_name[k]), value))
			return k;
	}
	return STB_NONE;
}

/*
 * The id decides, since a name may have changed since that run; but a row that names one value of an axis and has the id of another was
 * put together by hand, and nobody can tell which of the two its figure is of. Equal cells may stand for one another.
 */
static int check_axes(const struct loader *l, const struct stb_csv_record *rec, uint32_t i, struct stb_err *err)
{
	const struct stb_plan *p = l->r->plan;
	const char *key = l->keys[i].key;
	const uint32_t cell = l->keys[i].cell, k = contradiction(l, rec, cell);
	char id[64], value[64];

	if (k == STB_NONE)
		return 0;
	for (uint32_t j = i + 1; j < p->n_cells && !strcmp(l->keys[j].key, key); j++) {
		if (contradiction(l, rec, l->keys[j].cell) == STB_NONE)
			return 0;
	}
	stb_csv_refuse(rec, err, "cell `%s` has %s = %s, and the row says %s", shown(rec->field[l->at[COL_CELL]], id), l->axis_name[k],
		cell_value(p, cell, l->axis_name[k]), shown(rec->field[l->axis_at[k]], value));
	stb_err_remedy(err, "was the row edited? leave results.csv of a run as it is; rows from elsewhere have no column `cell`");
	return -1;
}

static int cell_by_id(const struct loader *l, const struct stb_csv_record *rec, uint32_t *cell, struct stb_err *err)
{
	const char *id = rec->field[l->at[COL_CELL]];
	const size_t len = strlen(id);
	const uint32_t i = lower_bound(l, id, len);
	char text[64];

	if (len < 16)
		return stb_csv_refuse(rec, err, "`%s` is no cell id: 16 hex digits or more", shown(id, text));
	if (i == l->r->plan->n_cells || strncmp(l->keys[i].key, id, len)) {
		stb_csv_refuse(rec, err, "no cell of the spec has the id `%s`", shown(id, text));
		stb_err_remedy(err, "the spec or profile has changed since that run: report with the spec, profile and parameters it ran with");
		return -1;
	}
	return check_axes(l, rec, i, err) || cell_of_run(l, rec, i, cell, err) ? -1 : 0;
}

static int cell_by_axes(struct loader *l, const struct stb_csv_record *rec, uint32_t *cell, struct stb_err *err)
{
	const struct stb_plan *p = l->r->plan;
	uint32_t i;

	stb_buf_clear(&l->key);
	for (uint32_t k = 0; k < l->n_axes; k++)
		stb_buf_printf(&l->key, "%s\x1f", rec->field[l->axis_at[k]]);
	i = lower_bound(l, stb_buf_str(&l->key), l->key.len + 1);
	if (i == p->n_cells || strcmp(l->keys[i].key, stb_buf_str(&l->key)))
		return no_cell(l, rec, err);
	if (cell_of_run(l, rec, i, cell, err))
		return -1;
	for (i++; i < p->n_cells && !strcmp(l->keys[i].key, stb_buf_str(&l->key)); i++) {
		if (p->cells[l->keys[i].cell].same_as != p->cells[*cell].same_as)
			return several_cells(l, rec, *cell, l->keys[i].cell, err);
	}
	return 0;
}

/* --- the figure --- */

/* A whole number from 1 up; 1 where the column is absent. */
static int read_index(const struct loader *l, const struct stb_csv_record *rec, enum column col, uint32_t *out, struct stb_err *err)
{
	const char *s = l->at[col] < 0 ? "1" : rec->field[l->at[col]];
	const size_t len = strlen(s);
	char text[64];

	if (!len || len > 9 || strspn(s, "0123456789") != len || *s == '0')
		return stb_csv_refuse(rec, err, "`%s` is no %s: a whole number from 1 up", shown(s, text), column_name[col]);
	*out = (uint32_t)strtoul(s, NULL, 10);
	return 0;
}

static int unknown_metric(const struct stb_csv_record *rec, const char *metric, struct stb_err *err)
{
	struct stb_buf b;
	char text[64];

	stb_buf_init(&b);
	for (const char *const *n = stb_metric_names(); *n; n++)
		stb_buf_printf(&b, "%s%s", b.len ? ", " : "", *n);
	stb_csv_refuse(rec, err, "unknown metric `%s`", shown(metric, text));
	stb_err_remedy(err, "metrics are %s", stb_buf_str(&b));
	stb_buf_fini(&b);
	return -1;
}

static int read_value(const struct loader *l, const struct stb_csv_record *rec, const char **metric, double *value, struct stb_err *err)
{
	const char *s = rec->field[l->at[COL_VALUE]], *unit = rec->field[l->at[COL_UNIT]];
	char text[64];
	struct stb_metric m;

	*metric = rec->field[l->at[COL_METRIC]];
	if (!stb_metric_find(*metric, &m))
		return unknown_metric(rec, *metric, err);
	if (!stb_number_parse(s, strlen(s), value)) {
		stb_csv_refuse(rec, err, "`%s` is no number", shown(s, text));
		stb_err_remedy(err, "write plain digits with a dot, as in 292.60");
		return -1;
	}
	if (*value < 0)
		return stb_csv_refuse(rec, err, "`%s` is negative, which `%s` never is", shown(s, text), *metric);
	if (!stb_metric_convert(*value, unit, m.unit, value)) {
		stb_csv_refuse(rec, err, "`%s` is no unit of `%s`", shown(unit, text), *metric);
		if (*m.unit)
			stb_err_remedy(err, "write `%s`%s", m.unit, strcmp(m.unit, "1/s") ? " or another unit of the same kind" : "");
		else
			stb_err_remedy(err, "leave the field empty: it is a plain number");
		return -1;
	}
	return 0;
}

/* What the cell's workload can be measured in; of a mix's part, what that part can. */
static unsigned families(const struct stb_plan *p, uint32_t cell, const char *metric, size_t part_len)
{
	unsigned of_part = 0;

	for (uint32_t i = 0; part_len && i < p->n_blocks; i++) {
		const struct stb_plan_block *b = &p->blocks[i];

		if (!strcmp(b->kind, "workload") && strlen(b->name) == part_len - 1 && !strncmp(b->name, metric, part_len - 1))
			of_part |= stb_metric_family(b->type);
	}
	return of_part ? of_part : stb_metric_family(p->blocks[p->cells[cell].workload].type);
}

/* A metric of another kind of workload would be kept and never shown. */
static int check_family(const struct loader *l, const struct stb_csv_record *rec, uint32_t cell, const char *metric, struct stb_err *err)
{
	const struct stb_plan *p = l->r->plan;
	const struct stb_plan_block *w = &p->blocks[p->cells[cell].workload];
	struct stb_metric m;

	if (!stb_metric_find(metric, &m) || (m.families & families(p, cell, metric, m.part_len)))
		return 0;
	stb_csv_refuse(rec, err, "`%s` is no metric of workload `%s`, which is of type %s", metric, w->name, w->type);
	stb_err_remedy(err, "`%s` is measured of %s workloads; `stb explain %s` says what it is%s", metric, stb_metric_types(m.families),
		metric + m.part_len, strcmp(w->type, "mix") ? "" : "; in a mix the name of one of its workloads stands in front");
	return -1;
}

static int read_status(const struct loader *l, const struct stb_csv_record *rec, enum stb_status *out, struct stb_err *err)
{
	const char *s = l->at[COL_STATUS] < 0 ? "ok" : rec->field[l->at[COL_STATUS]];
	struct stb_buf b;
	char text[64];

	if (stb_status_find(s, out))
		return 0;
	stb_buf_init(&b);
#define STB_X(sym, name, valid, meaning) stb_buf_printf(&b, "%s%s", b.len ? ", " : "", name);
	STB_STATUSES(STB_X)
#undef STB_X
	stb_csv_refuse(rec, err, "unknown status `%s`", shown(s, text));
	stb_err_remedy(err, "it is one of %s", stb_buf_str(&b));
	stb_buf_fini(&b);
	return -1;
}

static int read_record(void *ctx, const struct stb_csv_record *rec, struct stb_err *err)
{
	struct loader *l = ctx;
	uint32_t cell = STB_NONE, slot, repetition;
	enum stb_status status;
	const char *metric;
	double value;

	if (!l->have_header)
		return read_header(l, rec, err);
	if (rec->n != l->n_fields)
		return stb_csv_refuse(rec, err, "%u fields where the header has %u", rec->n, l->n_fields);
	if (l->from_run ? cell_by_id(l, rec, &cell, err) : cell_by_axes(l, rec, &cell, err))
		return -1;
	if (read_index(l, rec, COL_SLOT, &slot, err) || read_index(l, rec, COL_REPETITION, &repetition, err) ||
		read_value(l, rec, &metric, &value, err) || check_family(l, rec, cell, metric, err) || read_status(l, rec, &status, err))
		return -1;
	if (stb_results_add(l->r, cell, slot, repetition, metric, value, status, err)) {
		stb_err_wrap(err, "%s:%u", rec->path, rec->line);
		stb_err_remedy(err, l->at[COL_REPETITION] < 0 ? "number repeated measurements in a column `repetition`" :
			"each cell, slot, repetition and metric may stand once over all --results");
		return -1;
	}
	l->rows++;
	return 0;
}

static int read_file(struct stb_results *r, const char *path, struct stb_err *err)
{
	struct loader *l = stb_xcalloc(1, sizeof(*l));
	int rc;

	l->r = r;
	stb_arena_init(&l->arena);
	rc = stb_csv_read(path, read_record, l, &l->tail, err);
	if (!rc && !l->have_header) {
		stb_err_set(err, 0, "cannot use `%s`: it is empty", path);
		stb_err_remedy(err, "the first line names the columns: axes, metric, unit, value and optionally slot, repetition, status");
		rc = -1;
	}
	if (!rc && l->tail.torn)
		stb_results_note(r, "%s:%u: the last line was not written to its end (`%s`): it is left out, and what the run had measured after "
			"that is lost", path, l->tail.line, l->tail.text);
	if (!rc && l->tail.open)
		stb_results_note(r, "%s:%u: the last line (`%s`) has no line end: it counts, but if the file was cut off, so was the figure; end it "
			"with a line end if it is whole", path, l->tail.line, l->tail.text);
	stb_buf_fini(&l->key);
	stb_arena_fini(&l->arena);
	free(l);
	return rc;
}

int stb_results_read(struct stb_results *r, const char *path, struct stb_err *err)
{
	const size_t from = r->n_rows;
	struct stb_buf file;
	struct stat st;
	int rc;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return read_file(r, path, err);
	stb_buf_init(&file);
	stb_buf_printf(&file, "%s/results.csv", path);
	rc = read_file(r, stb_buf_str(&file), err);
	if (!rc)
		rc = stb_results_read_hists(r, path, from, err) || stb_story_read(r, path, err) ? -1 : 0;
	else if (err->code == ENOENT)
		stb_err_remedy(err, "is it a run directory? `stb run` makes one, `stb resume` completes one");
	stb_buf_fini(&file);
	return rc;
}
