/*
 * rules_oltp.c - rules of oltp workloads. Which statements a script has, and what a connection prepares, is sysbench
 * 1.0's.
 */
#include "compiler/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PREPARED = 16382, DEFAULT_CONNECTIONS = 151 };

static bool is_private(const struct stb_rules_run *r)
{
	return !strcmp(r->s->database->block->type->type, "mysql");
}

static const char *script(const struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "script");

	return a && a->val.str ? a->val.str : "";
}

/* A server option that is a whole number; fallback where it is not stated. */
static uint64_t option(const struct stb_rules_run *r, const char *name, uint64_t fallback)
{
	const struct stb_eattr *a = stb_eattr(r->s->database, name);

	return a && a->val.str && a->val.str[0] >= '0' && a->val.str[0] <= '9' ? strtoull(a->val.str, NULL, 10) :
		fallback;
}

static void oltp_end(struct stb_rules_run *r)
{
	struct stb_diag *d;

	if (stb_eattr(r->w, "time") || stb_eattr(r->w, "events"))
		return;
	d = stb_find(r, STB_E0430, r->w, NULL, NULL, NULL, "workload `%s` never ends: it has neither time nor events",
		r->w->block->name);
	if (d)
		stb_diag_help(r->x->sink, d, "state time = 60s, or events = 100_000 for all threads together");
}

struct count {
	const char *attr;
	const char *scripts; /* that have what it counts; sysbench fixes the number elsewhere (point_select has one) */
	bool statements;     /* it counts statements of an event */
	bool writes;         /* and they change rows */
};

static const struct count counts[] = {
	{ "point_selects", "read_only read_write", true, false },
	{ "simple_ranges", "read_only read_write", true, false },
	{ "sum_ranges", "read_only read_write", true, false },
	{ "order_ranges", "read_only read_write", true, false },
	{ "distinct_ranges", "read_only read_write", true, false },
	{ "range_size", "read_only read_write", false, false },
	{ "index_updates", "write_only read_write update_index", true, true },
	{ "non_index_updates", "write_only read_write update_non_index", true, true },
	{ "delete_inserts", "write_only read_write", true, true },
	{ "random_points", "select_random_points", false, false },
	{ "number_of_ranges", "select_random_ranges", false, false },
	{ "delta", "select_random_ranges", false, false },
};

static bool script_uses(const char *name, const struct count *c)
{
	const size_t n = strlen(name);

	for (const char *p = c->scripts; n && (p = strstr(p, name)); p += n) {
		if ((p == c->scripts || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	}
	return false;
}

static void statement_counts(struct stb_rules_run *r)
{
	const char *why = stb_arena_printf(r->x->arena, "script %s has no such statements", script(r));

	for (size_t i = 0; i < STB_LEN(counts); i++) {
		if (!script_uses(script(r), &counts[i]))
			stb_without_effect(r, STB_E0431, r->w, counts[i].attr, r->w, "script", why);
	}
}

/* sysbench's script makes tables of its own, one a thread, and has neither their sizes nor a distribution. */
static void bulk_tables(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "tables", "table_size", "auto_inc", "create_secondary", "storage_engine", "rand_type", "db_ps_mode" };

	for (size_t i = 0; i < STB_LEN(attrs) && !strcmp(script(r), "bulk_insert"); i++)
		stb_without_effect(r, STB_E0443, r->w, attrs[i], r->w, "script", "script bulk_insert makes one small table a thread, and fills it in text");
}

static void nothing_ignored(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "retry", "error_limit" };
	const struct stb_eattr *ignored = stb_eattr(r->w, "ignore_errors");

	for (size_t i = 0; i < STB_LEN(attrs) && ignored && !ignored->val.n_items; i++)
		stb_without_effect(r, STB_E0444, r->w, attrs[i], r->w, "ignore_errors", "the first error ends the measurement");
}

static void empty_transaction(struct stb_rules_run *r)
{
	bool any = false;
	uint64_t n = 0;

	for (size_t i = 0; i < STB_LEN(counts); i++) {
		if (!counts[i].statements || !script_uses(script(r), &counts[i]))
			continue;
		any = true;
		n += stb_eattr_u64(r->w, counts[i].attr, 1);
	}
	if (any && !n)
		stb_find(r, STB_E0432, r->w, stb_eattr(r->w, "script"), NULL, NULL,
			"the transactions of workload `%s` are empty: every count is 0", r->w->block->name);
}

static void tell_prepared(struct stb_rules_run *r, enum stb_code code, uint64_t limit, const char *whose)
{
	const struct stb_eattr *threads = stb_eattr(r->w, "threads"), *tables = stb_eattr(r->w, "tables");
	const uint64_t n = stb_oltp_statements(r->w), need = n * stb_eattr_u64(r->w, "threads", 1);
	struct stb_diag *d = stb_find(r, code, r->w, threads, r->w, tables,
		"workload `%s` prepares %" PRIu64 " statements, and %s max_prepared_stmt_count is %" PRIu64,
		r->w->block->name, need, whose, limit);

	if (!d)
		return;
	stb_diag_note(r->x->sink, d, "%" PRIu64 " threads x %" PRIu64 " statements for %" PRIu64 " tables",
		stb_eattr_u64(r->w, "threads", 1), n, stb_eattr_u64(r->w, "tables", 1));
	stb_diag_help(r->x->sink, d,
		"state options { max_prepared_stmt_count = %" PRIu64 " } in database `%s`, or db_ps_mode = disable",
		need, r->s->database->block->name);
}

static bool too_many_prepared(struct stb_rules_run *r, uint64_t limit)
{
	/* At most 16,384 threads x (9 x 10,000 + 2) statements. */
	return stb_oltp_statements(r->w) * stb_eattr_u64(r->w, "threads", 1) > limit;
}

static void prepared_statements(struct stb_rules_run *r)
{
	const bool stated = stb_eattr(r->s->database, "options.max_prepared_stmt_count");
	const uint64_t limit = option(r, "options.max_prepared_stmt_count", DEFAULT_PREPARED);

	if ((is_private(r) || stated) && too_many_prepared(r, limit))
		tell_prepared(r, STB_E0433, limit, stated ? "the server's" : "the default");
}

static void prepared_statements_external(struct stb_rules_run *r)
{
	if (!is_private(r) && !stb_eattr(r->s->database, "options.max_prepared_stmt_count") &&
		too_many_prepared(r, DEFAULT_PREPARED))
		tell_prepared(r, STB_W0434, DEFAULT_PREPARED, "where nothing else is stated");
}

/* Those of stb itself, beside the threads of so many workloads on the database. */
static uint64_t own_connections(const struct stb_rules_run *r, uint32_t n_workloads, bool makes_tables)
{
	return stb_plan_own_connections(n_workloads, makes_tables && !is_private(r),
		is_private(r) ? (uint32_t)stb_eattr_u64(r->s->database, "replicas", 0) : 0);
}

static void connections(struct stb_rules_run *r)
{
	const struct stb_eattr *threads = stb_eattr(r->w, "threads"),
		*stated = stb_eattr(r->s->database, "options.max_connections");
	const uint64_t limit = option(r, "options.max_connections", DEFAULT_CONNECTIONS),
		n = stb_eattr_u64(r->w, "threads", 1), own = own_connections(r, 1, stb_eattr_is(r->w, "dataset", "create"));
	struct stb_diag *d;

	if ((!is_private(r) && !stated) || n + own <= limit)
		return;
	d = stb_find(r, STB_E0435, r->w, threads, r->s->database, stated,
		"workload `%s` opens %" PRIu64 " connections, stb has %" PRIu64 " of its own, and %s max_connections is %" PRIu64, r->w->block->name, n,
		own, stated ? "the server's" : "the default", limit);
	if (!d)
		return;
	if (stated)
		stb_find_other(r, d, r->s->database, stated, "it is set here");
	stb_diag_help(r->x->sink, d, "state options { max_connections = %" PRIu64 " } in database `%s`", n + own + 10,
		r->s->database->block->name);
}

/* --- of a mix, whose oltp workloads are all connected to its one database at the same time --- */

static uint64_t threads_of(const struct stb_eblock *w)
{
	return stb_eattr_u64(w, "threads", 1);
}

static uint64_t prepared_of(const struct stb_eblock *w)
{
	return stb_oltp_statements(w) * threads_of(w);
}

struct limit {
	const char *attr;
	uint64_t fallback;
	uint64_t (*ask)(const struct stb_eblock *w);
	const char *of_what;
	bool has_own; /* stb itself has some, too */
};

static const struct limit limit_connections = { "options.max_connections", DEFAULT_CONNECTIONS, threads_of, "connections", true },
	limit_prepared = { "options.max_prepared_stmt_count", DEFAULT_PREPARED, prepared_of, "prepared statements", false };

static bool is_known(const struct stb_rules_run *r, const struct limit *l)
{
	return r->s->database && (is_private(r) || stb_eattr(r->s->database, l->attr));
}

/* What the workloads ask of an option of the server, all together; one alone is looked at by itself. */
static void fits_together(struct stb_rules_run *r, enum stb_code code, const struct limit *l)
{
	const struct stb_eblock *database = r->s->database;
	const struct stb_eattr *stated = stb_eattr(database, l->attr);
	const char *each = "", *name = strchr(l->attr, '.') + 1;
	const uint64_t limit = option(r, l->attr, l->fallback);
	struct stb_diag *d;
	uint64_t n = 0, own = 0;
	uint32_t n_parts = 0;
	bool makes_tables = false;

	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		const struct stb_eblock *w = r->s->parts[i]->workload;

		if (r->s->parts[i]->database != database)
			continue;
		n += l->ask(w);
		makes_tables |= stb_eattr_is(w, "dataset", "create");
		each = stb_arena_printf(r->x->arena, "%s%s%" PRIu64 " of `%s`", each, n_parts++ ? ", " : "", l->ask(w), w->block->name);
	}
	if (l->has_own) {
		own = own_connections(r, n_parts, makes_tables);
		each = stb_arena_printf(r->x->arena, "%s, %" PRIu64 " of stb itself", each, own);
	}
	n += own;
	if (n_parts < 2 || n <= limit)
		return;
	d = stb_find(r, code, r->w, stb_eattr(r->w, "run"), database, stated,
		"the workloads of mix `%s` have %" PRIu64 " %s at the same time, and %s %s is %" PRIu64, r->w->block->name, n, l->of_what,
		stated ? "the server's" : is_private(r) ? "the default" : "where nothing else is stated", name, limit);
	if (!d)
		return;
	if (stated)
		stb_find_other(r, d, database, stated, "it is set here");
	stb_diag_note(r->x->sink, d, "%s", each);
	stb_diag_help(r->x->sink, d, "state options { %s = %" PRIu64 " } in database `%s`, or lower threads", name, n + 10, database->block->name);
}

void stb_rule_mix_connections(struct stb_rules_run *r)
{
	if (is_known(r, &limit_connections))
		fits_together(r, STB_E0435, &limit_connections);
}

void stb_rule_mix_prepared(struct stb_rules_run *r)
{
	if (is_known(r, &limit_prepared))
		fits_together(r, STB_E0433, &limit_prepared);
}

void stb_rule_mix_prepared_external(struct stb_rules_run *r)
{
	if (r->s->database && !is_known(r, &limit_prepared))
		fits_together(r, STB_W0434, &limit_prepared);
}

/* --- of one --- */

static void skip_trx(struct stb_rules_run *r)
{
	if (stb_oltp_single(r->w))
		stb_without_effect(r, STB_E0436, r->w, "skip_trx", r->w, "script",
			stb_arena_printf(r->x->arena, "script %s has no transactions", script(r)));
}

/* Tables that somebody else made, on a server that stays. */
static bool uses_tables(const struct stb_rules_run *r)
{
	return !is_private(r) && stb_eattr_is(r->w, "dataset", "use");
}

static bool writes(const struct stb_rules_run *r)
{
	if (!strcmp(script(r), "insert") || !strcmp(script(r), "bulk_insert") || !strcmp(script(r), "delete"))
		return true;
	for (size_t i = 0; i < STB_LEN(counts); i++)
		if (counts[i].writes && script_uses(script(r), &counts[i]) && stb_eattr_u64(r->w, counts[i].attr, 1))
			return true;
	return false;
}

static void changed_tables(struct stb_rules_run *r)
{
	struct stb_diag *d;

	if (!uses_tables(r) || !writes(r))
		return;
	d = stb_find(r, STB_W0439, r->w, stb_eattr(r->w, "dataset"), r->w, stb_eattr(r->w, "script"),
		"workload `%s` changes the rows of tables that stb did not make, and nothing restores them", r->w->block->name);
	if (d)
		stb_diag_help(r->x->sink, d, "write dataset = create and a `schema` for it in database `%s`, or take a script that only reads; "
			"`fresh` does not restore these tables", r->s->database->block->name);
}

static void growing_data(struct stb_rules_run *r)
{
	const struct stb_xmatrix *m = r->s->matrix;
	const struct stb_setting *repeat = stb_block_setting(m->block, "repeat");
	const bool repeated = repeat && repeat->val.num > 1, shrinks = !strcmp(script(r), "delete");
	struct stb_diag *d;

	if (uses_tables(r)) /* no fresh restores those: changed_tables() */
		return;
	if ((strcmp(script(r), "insert") && strcmp(script(r), "bulk_insert") && !shrinks) || m->fresh == STB_FRESH_REPETITION ||
		(!repeated && (m->fresh == STB_FRESH_CELL || m->n_cells < 2)))
		return;
	d = stb_find(r, STB_W0437, r->w, stb_eattr(r->w, "script"), NULL, NULL,
		shrinks ? "workload `%s` empties its tables, so later measurements meet fewer rows than earlier ones" :
		"workload `%s` makes its tables grow, so later measurements meet more rows than earlier ones",
		r->w->block->name);
	if (!d)
		return;
	stb_diag_label(r->x->sink, d, m->block->span, "fresh = %s keeps the data between them",
		m->fresh == STB_FRESH_ONCE ? "once" : m->fresh == STB_FRESH_GROUP ? "group" : "cell");
	stb_diag_help(r->x->sink, d, "set fresh = repetition in matrix `%s`", m->block->name);
}

/* --- distribution, tables, threads --- */

static void other_distribution(struct stb_rules_run *r)
{
	static const struct {
		const char *attr, *type, *also;
	} parameters[] = {
		{ "rand_spec_iter", "special", "gaussian" }, { "rand_spec_pct", "special", NULL },   { "rand_spec_res", "special", NULL },
		{ "rand_pareto_h", "pareto", NULL },         { "rand_zipfian_exp", "zipfian", NULL },
	};

	for (size_t i = 0; i < STB_LEN(parameters); i++) {
		if (stb_eattr_is(r->w, "rand_type", parameters[i].type) ||
			(parameters[i].also && stb_eattr_is(r->w, "rand_type", parameters[i].also)))
			continue;
		stb_without_effect(r, STB_E0529, r->w, parameters[i].attr, r->w, "rand_type",
			stb_arena_printf(r->x->arena, "it is a parameter of %s%s%s", parameters[i].type, parameters[i].also ? " and " : "",
				parameters[i].also ? parameters[i].also : ""));
	}
}

static void first_table_only(struct stb_rules_run *r)
{
	const struct stb_eattr *tables = stb_eattr(r->w, "tables");
	struct stb_diag *d;

	if (strncmp(script(r), "select_random_", 14) || stb_eattr_u64(r->w, "tables", 1) < 2)
		return;
	d = stb_find(r, STB_W0490, r->w, tables, r->w, stb_eattr(r->w, "script"), "`%s`, but script %s works on the first one only",
		stb_attr_text(r, tables), script(r));
	if (d)
		stb_diag_help(r->x->sink, d, "write tables = 1, with as many rows as it shall have in table_size");
}

static void threads_share_tables(struct stb_rules_run *r)
{
	const uint64_t threads = stb_eattr_u64(r->w, "threads", 1), tables = stb_eattr_u64(r->w, "tables", 1);

	if (threads > tables && stb_eattr_is(r->w, "dataset", "create") && strcmp(script(r), "bulk_insert"))
		stb_find(r, STB_N0490, r->w, stb_eattr(r->w, "threads"), r->w, stb_eattr(r->w, "tables"),
			"workload `%s` has %" PRIu64 " threads and %" PRIu64 " table%s: several work on one table; loading has "
			"connections of its own", r->w->block->name, threads, tables, tables == 1 ? "" : "s");
}

static void insert_without_auto_inc(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "auto_inc");

	if (!strcmp(script(r), "insert") && a && !stb_eattr_true(r->w, "auto_inc"))
		stb_find(r, STB_N0438, r->w, a, r->w, stb_eattr(r->w, "script"),
			"workload `%s` starts from empty tables: without auto_inc, insert draws its own keys and nothing is loaded", r->w->block->name);
}

static void use_on_private(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "dataset");
	struct stb_diag *d;

	if (!stb_eattr_is(r->w, "dataset", "use") || !is_private(r))
		return;
	d = stb_find(r, STB_E0439, r->w, a, r->s->database, NULL,
		"`dataset = use` on database `%s`: a private server starts empty", r->s->database->block->name);
	if (!d)
		return;
	stb_diag_label(r->x->sink, d, r->s->database->block->span, "stb makes this server for the run");
	stb_diag_help(r->x->sink, d, "write dataset = create");
}

static void made_tables(struct stb_rules_run *r)
{
	if (!stb_eattr_is(r->w, "dataset", "use"))
		return;
	stb_without_effect(r, STB_E0440, r->w, "create_secondary", r->w, "dataset", "the tables are there already");
	stb_without_effect(r, STB_E0440, r->w, "storage_engine", r->w, "dataset", "the tables are there already");
}

static void host_and_socket(struct stb_rules_run *r)
{
	const struct stb_eattr *host = stb_eattr(r->s->database, "host"), *socket = stb_eattr(r->s->database, "socket");
	struct stb_diag *d;

	if (!host || !socket)
		return;
	d = stb_find(r, STB_E0441, r->s->database, socket, r->s->database, host,
		"database `%s` has a host and a socket; only one can be used", r->s->database->block->name);
	if (d)
		stb_find_other(r, d, r->s->database, host, "the host");
}

static void database_on_raw(struct stb_rules_run *r)
{
	const struct stb_eattr *fs = r->s->volume ? stb_eattr(r->s->volume, "filesystem") : NULL;
	struct stb_diag *d;

	if (!is_private(r) || !fs || strcmp(fs->val.str, "none"))
		return;
	d = stb_find(r, STB_E0442, r->s->volume, fs, r->s->database, NULL,
		"database `%s` cannot lie on raw volume `%s`", r->s->database->block->name, r->s->volume->block->name);
	if (d)
		stb_diag_help(r->x->sink, d, "give the volume a file system: ext4 or xfs");
}

static void fits_oltp(struct stb_rules_run *r)
{
	if (is_private(r) && r->s->volume)
		stb_rule_fits(r, stb_eattr(r->w, "table_size"), "the database", false);
}

typedef void look_fn(struct stb_rules_run *r);

static look_fn *const table[] = {
#define LOOK_IO(look)
#define LOOK_OLTP(look) look,
#define LOOK_VOLUME(look)
#define LOOK_MIX(look)
#define LOOK_SERVER(look)
#define LOOK_DATABASE(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)
#include "compiler/rules.def"
#undef STB_RULE
};

void stb_rules_look_oltp(struct stb_rules_run *r)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		table[i](r);
}
