/*
 * dataset.c - claiming a schema for a data set, and checking one that is already there.
 *
 * The marker is a table of its own, stb_dataset(name, value), written before the first table is made and dropped after the last one: `tables` is then the
 * most that stb may have made, and sbtest1..sbtestN of that N are its own, complete or not. Any other sbtest table, or a table of the
 * marker's name with other columns, belongs to somebody else and makes stb refuse the schema. `run` is the mark of the run that wrote the marker
 * last, and its part that did ("MARK.PART"): only that one drops the tables, at its end or through `stb clean`, and no other part of the same
 * run takes the schema over, since the run still measures on what is there.
 */
#include "runtime/db/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FORMAT "1"
#define BOUNDS_SLACK 100 /* a hundredth of the ids */

static int refuse_sql(struct stb_client *c, struct stb_err *err, const char *what)
{
	return stb_err_set(err, 0, "cannot %s: %s (%u)", what, stb_client_text(c), stb_client_code(c));
}

static int run(struct stb_client *c, const char *sql, struct stb_err *err)
{
	struct stb_reply reply;

	if (stb_client_query(c, sql, strlen(sql), &reply))
		return stb_err_set(err, 0, "`%s` failed: %s (%u)", sql, stb_client_text(c), stb_client_code(c));
	return 0;
}

/* --- what is there ------------------------------------------------------------------------------------------------------------------- */

struct found {
	bool marker;
	uint32_t n_tables, highest; /* sbtestK */
};

/* K of "sbtestK", 0 for any other name. */
static uint32_t table_number(const char *name)
{
	if (strncasecmp(name, "sbtest", 6) != 0 || name[6] < '1' || name[6] > '9' || strlen(name + 6) > 9 ||
		strspn(name + 6, "0123456789") != strlen(name + 6))
		return 0;
	return (uint32_t)strtoul(name + 6, NULL, 10);
}

static bool note_table(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct found *f = ctx;

	if (n_cells < 1 || !cells[0])
		return true;
	if (strcasecmp(cells[0], STB_MARKER_TABLE) == 0)
		f->marker = true;
	const uint32_t k = table_number(cells[0]);

	if (k) {
		f->n_tables++;
		f->highest = STB_MAX(f->highest, k);
	}
	return true;
}

static int look(struct stb_client *c, struct found *f, struct stb_err *err)
{
	memset(f, 0, sizeof(*f));
	if (stb_client_rows(c, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()", note_table, f))
		return refuse_sql(c, err, "list the tables of the schema");
	return 0;
}

#define MARK_BYTES 64 /* bytes for a run's mark */

/* The marker's number of tables, and the run that wrote it ("": none says so); refuses a marker that is not ours. */
static int read_marker(struct stb_client *c, uint32_t *tables, char mark[MARK_BYTES], struct stb_err *err)
{
	char format[16], count[16], rows[16];
	bool has_format = false, has_count = false, has_rows = false, has_mark = false;

	*tables = 0;
	mark[0] = '\0';
	/* a claim that was killed just after it made the marker */
	if (!stb_client_cell(c, "SELECT COUNT(name) + COUNT(value) FROM " STB_MARKER_TABLE, rows, sizeof(rows), &has_rows) && has_rows &&
		!strcmp(rows, "0"))
		return 0;
	if (stb_client_cell(c, "SELECT value FROM " STB_MARKER_TABLE " WHERE name = 'run'", mark, MARK_BYTES, &has_mark) || !has_mark)
		mark[0] = '\0';
	if (stb_client_cell(c, "SELECT value FROM " STB_MARKER_TABLE " WHERE name = 'format'", format, sizeof(format), &has_format) ||
		stb_client_cell(c, "SELECT value FROM " STB_MARKER_TABLE " WHERE name = 'tables'", count, sizeof(count), &has_count) ||
		!has_format || strcmp(format, FORMAT) != 0) {
		stb_err_set(err, 0, "cannot load the data set: table `" STB_MARKER_TABLE "` is there and was not written by this stb");
		stb_err_remedy(err, "name another schema, or drop that table by hand");
		return -1;
	}
	const unsigned long n = has_count ? strtoul(count, NULL, 10) : 0;

	*tables = n <= STB_OLTP_MAX_TABLES ? (uint32_t)n : 0;
	return 0;
}

/* --- claiming ------------------------------------------------------------------------------------------------------------------------ */

static int put(struct stb_client *c, const char *name, const char *value, struct stb_err *err)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "REPLACE INTO " STB_MARKER_TABLE " (name, value) VALUES ('%s', '%s')", name, value);
	return run(c, sql, err);
}

static int put_number(struct stb_client *c, const char *name, uint64_t value, struct stb_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return put(c, name, text, err);
}

static int drop_own(struct stb_client *c, uint32_t tables, struct stb_err *err)
{
	char sql[64];

	for (uint32_t i = 1; i <= tables; i++) {
		snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS sbtest%u", i);
		if (run(c, sql, err))
			return -1;
	}
	return 0;
}

/* "MARK.PART" of one run, and of two parts. */
static bool of_another_part(const char *owner, const char *mark)
{
	const size_t n = strcspn(owner, ".");

	return owner[n] && n == strcspn(mark, ".") && !strncmp(owner, mark, n) && strcmp(owner, mark) != 0;
}

static int claim(struct stb_client *c, const struct stb_dataset *d, const char *mark, struct stb_err *err)
{
	char other[MARK_BYTES] = "", connection[STB_HOLD_CONNECTION];
	struct found f;
	uint32_t own = 0;

	if (look(c, &f, err) || (f.marker && read_marker(c, &own, other, err)))
		return -1;
	if (of_another_part(other, mark)) {
		stb_err_set(err, 0, "cannot load the data set: the schema holds the tables of another group of this run");
		stb_err_remedy(err, "give each database a `schema` of its own, or say fresh = group");
		return -1;
	}
	if (strcmp(other, mark) != 0 && stb_hold_is_held(c, other, connection)) {
		stb_err_set(err, 0, "cannot load the data set: the tables of the schema are those of another run of stb, which goes on (connection %s of the server)",
			connection);
		stb_err_remedy(err, "wait for its end, or give the database another `schema`; if its machine went down, KILL %s on the server", connection);
		return -1;
	}
	if (f.highest > own) {
		stb_err_set(err, 0, "cannot load the data set: the schema has table `sbtest%u`, which stb did not make", f.highest);
		stb_err_remedy(err, "name an empty schema, or measure the tables that are there with `dataset = use`");
		return -1;
	}
	if (!f.marker && run(c, "CREATE TABLE " STB_MARKER_TABLE " (name VARCHAR(64) NOT NULL PRIMARY KEY, value VARCHAR(255) NOT NULL)", err))
		return -1;
	if (put(c, "format", FORMAT, err) || put(c, "run", mark, err))
		return -1;
	/* The larger number first, so that a load that is killed leaves no table outside of it. */
	if (put_number(c, "tables", STB_MAX(own, d->tables), err) || put(c, "complete", "0", err) || drop_own(c, own, err))
		return -1;
	return put_number(c, "tables", d->tables, err);
}

/* Of two runs at the same time one sees the other's marker whole. */
int stb_dataset_claim(struct stb_client *c, const struct stb_dataset *d, const char *mark, struct stb_err *err)
{
	int r;

	if (stb_hold_turn_begin(c, err))
		return -1;
	r = claim(c, d, mark, err);
	stb_hold_turn_end(c);
	return r;
}

enum stb_undo stb_dataset_drop(struct stb_client *c, const char *mark, struct stb_err *err)
{
	char owner[MARK_BYTES] = "";
	struct found f;
	uint32_t own = 0;

	if (look(c, &f, err))
		return STB_UNDO_FAILED;
	if (!f.marker)
		return STB_UNDO_GONE;
	if (read_marker(c, &own, owner, err))
		return STB_UNDO_FAILED;
	if (*owner ? strcmp(owner, mark) != 0 : own > 0 || f.n_tables > 0)
		return STB_UNDO_FOREIGN;
	/* The marker last, so that what is left when this is cut short is still known as stb's. */
	return drop_own(c, own, err) || run(c, "DROP TABLE " STB_MARKER_TABLE, err) ? STB_UNDO_FAILED : STB_UNDONE;
}

void stb_dataset_add_name(struct stb_buf *out, const char *name)
{
	stb_buf_addc(out, '`');
	for (const char *p = name; *p; p++) {
		if (*p == '`')
			stb_buf_addc(out, '`');
		stb_buf_addc(out, *p);
	}
	stb_buf_addc(out, '`');
}

void stb_oltp_drop_sql(struct stb_buf *out, const char *schema, uint32_t tables)
{
	stb_buf_adds(out, "DROP TABLE IF EXISTS ");
	for (uint32_t i = 1; i <= tables + 1; i++) {
		if (schema) {
			stb_dataset_add_name(out, schema);
			stb_buf_addc(out, '.');
		}
		if (i <= tables)
			stb_buf_printf(out, "sbtest%u, ", i);
	}
	stb_buf_adds(out, STB_MARKER_TABLE ";");
}

int stb_dataset_seal(struct stb_client *c, const struct stb_dataset *d, struct stb_err *err)
{
	if (d->bulk)
		return put(c, "script", "bulk_insert", err) || put(c, "complete", "1", err) ? -1 : 0;
	return put_number(c, "table_size", d->table_size, err) || put_number(c, "auto_inc", d->auto_inc, err) ||
			put_number(c, "create_secondary", d->create_secondary, err) || put(c, "storage_engine", d->engine, err) ||
			put(c, "complete", "1", err)
		? -1
		: 0;
}

/* --- checking ------------------------------------------------------------------------------------------------------------------------ */

struct shape {
	char text[512]; /* "id int,k int,c char(120),pad char(60)" */
};

static bool add_column(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct shape *s = ctx;
	const size_t len = strlen(s->text);

	if (n_cells == 3 && cells[0] && cells[1])
		snprintf(s->text + len, sizeof(s->text) - len, "%s%s %s%s%s%s", len ? ", " : "", cells[0], cells[1], cells[2] ? "(" : "",
			cells[2] ? cells[2] : "", cells[2] ? ")" : "");
	return true;
}

static bool add_key(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct shape *s = ctx;
	const size_t len = strlen(s->text);

	if (n_cells == 2 && cells[0] && cells[1])
		snprintf(s->text + len, sizeof(s->text) - len, "%s%s", len ? ", " : "",
			strcasecmp(cells[0], "PRIMARY") == 0 ? "primary key" : cells[1]);
	return true;
}

static int differs(struct stb_err *err, uint32_t table, const char *what, const char *is, const char *expected)
{
	stb_err_set(err, 0, "cannot use the data set: `sbtest%u` has %s %s, the workload says %s", table, what, is, expected);
	stb_err_remedy(err, "let the workload say what is there, or load anew with `dataset = create` in a schema of stb's own");
	return -1;
}

static int check_columns(struct stb_client *c, const struct stb_dataset *d, uint32_t table, struct stb_err *err)
{
	const char *expected = d->bulk ? "id int, k int" : "id int, k int, c char(120), pad char(60)";
	struct shape s = {{0}};
	char sql[STB_SQL_MAX];

	snprintf(sql, sizeof(sql),
		"SELECT LOWER(COLUMN_NAME), LOWER(DATA_TYPE), CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS "
		"WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sbtest%u' ORDER BY ORDINAL_POSITION",
		table);
	if (stb_client_rows(c, sql, add_column, &s))
		return refuse_sql(c, err, "read the columns of the data set");
	if (!s.text[0]) {
		stb_err_set(err, 0, "cannot use the data set: table `sbtest%u` does not exist", table);
		stb_err_remedy(err, "load it first (`sysbench ... prepare`), or use `dataset = create`");
		return -1;
	}
	return strcmp(s.text, expected) == 0 ? 0 : differs(err, table, "columns", s.text, expected);
}

static int check_keys(struct stb_client *c, const struct stb_dataset *d, uint32_t table, struct stb_err *err)
{
	const char *expected = d->create_secondary && !d->bulk ? "primary key, k" : "primary key";
	struct shape s = {{0}};
	char sql[STB_SQL_MAX];

	snprintf(sql, sizeof(sql),
		"SELECT INDEX_NAME, LOWER(COLUMN_NAME) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND "
		"TABLE_NAME = 'sbtest%u' ORDER BY INDEX_NAME = 'PRIMARY' DESC, INDEX_NAME, SEQ_IN_INDEX",
		table);
	if (stb_client_rows(c, sql, add_key, &s))
		return refuse_sql(c, err, "read the keys of the data set");
	return strcmp(s.text, expected) == 0 ? 0 : differs(err, table, "keys", s.text[0] ? s.text : "none", expected);
}

static int check_engine(struct stb_client *c, const struct stb_dataset *d, uint32_t table, struct stb_err *err)
{
	char sql[STB_SQL_MAX], engine[64];
	bool found;

	snprintf(sql, sizeof(sql), "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sbtest%u'",
		table);
	if (stb_client_cell(c, sql, engine, sizeof(engine), &found))
		return refuse_sql(c, err, "read the engine of the data set");
	return strcasecmp(engine, d->engine) == 0 ? 0 : differs(err, table, "storage_engine", engine, d->engine);
}

/* Whether the server gives ids by itself. */
static int check_auto_inc(struct stb_client *c, const struct stb_dataset *d, uint32_t table, struct stb_err *err)
{
	char sql[STB_SQL_MAX], extra[64];
	bool found;

	snprintf(sql, sizeof(sql),
		"SELECT IF(EXTRA LIKE '%%auto_increment%%', 'true', 'false') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND "
		"TABLE_NAME = 'sbtest%u' AND COLUMN_NAME = 'id'",
		table);
	if (stb_client_cell(c, sql, extra, sizeof(extra), &found))
		return refuse_sql(c, err, "read the columns of the data set");
	return strcmp(extra, d->auto_inc ? "true" : "false") == 0 ? 0 : differs(err, table, "auto_inc", extra, d->auto_inc ? "true" : "false");
}

struct bounds {
	bool any;
	int64_t least, most;
};

static bool take_bounds(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct bounds *b = ctx;

	b->any = n_cells == 2 && cells[0] && cells[1];
	if (b->any) {
		b->least = strtoll(cells[0], NULL, 10);
		b->most = strtoll(cells[1], NULL, 10);
	}
	return false;
}

/* Both ends of the primary key are two look-ups. A count would read the table, and warm the cache with it. */
static int check_bounds(struct stb_client *c, const struct stb_dataset *d, uint32_t table, bool exact, struct stb_err *err)
{
	/* a transaction that failed between its statements may have taken the first or last rows; inserts may have added some */
	const int64_t size = (int64_t)d->table_size, slack = exact ? 0 : size / BOUNDS_SLACK;
	struct bounds b = {0};
	char sql[STB_SQL_MAX], is[64], expected[64];

	snprintf(sql, sizeof(sql), "SELECT MIN(id), MAX(id) FROM sbtest%u", table);
	if (stb_client_rows(c, sql, take_bounds, &b))
		return refuse_sql(c, err, "read the ids of the data set");
	if (b.any && b.least <= 1 + slack && b.most >= size - slack && (!exact || (b.least == 1 && b.most == size)))
		return 0;
	snprintf(expected, sizeof(expected), "1..%lld", (long long)size);
	if (b.any)
		snprintf(is, sizeof(is), "%lld..%lld", (long long)b.least, (long long)b.most);
	else
		snprintf(is, sizeof(is), "none (it is empty)");
	(void)differs(err, table, "ids", is, expected);
	return exact ? -1 : STB_ROWS_GONE;
}

static int check_table(struct stb_client *c, const struct stb_dataset *d, uint32_t table, bool exact, struct stb_err *err)
{
	if (check_columns(c, d, table, err) || check_keys(c, d, table, err))
		return -1;
	if (d->bulk)
		return 0;
	if (check_engine(c, d, table, err) || check_auto_inc(c, d, table, err))
		return -1;
	return d->empty ? 0 : check_bounds(c, d, table, exact, err);
}

int stb_dataset_check(struct stb_client *c, const struct stb_dataset *d, bool exact, struct stb_err *err)
{
	int r = 0;

	for (uint32_t table = 1; table <= d->tables && r == 0; table++)
		r = check_table(c, d, table, exact, err);
	return r;
}
