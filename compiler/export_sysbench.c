/*
 * export_sysbench.c - an OLTP cell as sysbench 1.0.20's command lines, in a shell script: prepare, run, cleanup.
 *
 * Values are shell words, quoted where they need it. A password stays a reference: "$NAME" of the environment, or a file that is read. A
 * private server has no address in a plan: the script connects to $MYSQL_SOCKET, and a comment says with which options it is to be started.
 */
#include "compiler/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

enum { WIDTH = 100 };

struct command {
	struct stb_export *e;
	const struct stb_plan_block *w, *db;
	const struct stb_plan_matrix *m;
	const char *script;       /* as in the spec */
	const char **common, **run; /* words of all three commands, and of the run alone */
	uint32_t n_common, cap_common, n_run, cap_run;
};

/* --- words ------------------------------------------------------------------------------------------------------------------------------ */

static const char *quoted(struct stb_arena *a, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@%+-";
	struct stb_buf b;
	const char *text;

	if (!s[strspn(s, plain)])
		return s;
	stb_buf_init(&b);
	stb_buf_addc(&b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			stb_buf_adds(&b, "'\\''");
		else
			stb_buf_addc(&b, *s);
	}
	stb_buf_addc(&b, '\'');
	text = stb_arena_strdup(a, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static void add(struct command *c, bool run_only, const char *word)
{
	if (run_only) {
		STB_ARENA_GROW(&c->e->arena, c->run, c->n_run, c->cap_run);
		c->run[c->n_run++] = word;
	} else {
		STB_ARENA_GROW(&c->e->arena, c->common, c->n_common, c->cap_common);
		c->common[c->n_common++] = word;
	}
}

static void add_text(struct command *c, bool run_only, const char *option, const char *value)
{
	add(c, run_only, stb_arena_printf(&c->e->arena, "--%s=%s", option, quoted(&c->e->arena, value)));
}

static void add_number(struct command *c, bool run_only, const char *option, uint64_t value)
{
	add(c, run_only, stb_arena_printf(&c->e->arena, "--%s=%" PRIu64, option, value));
}

static bool is_default(const struct command *c, const char *attr)
{
	const struct stb_plan_attr *a = stb_plan_attr(c->w, attr);

	return !a || a->val.type == STB_V_NONE || a->is_default;
}

/* --- the server ------------------------------------------------------------------------------------------------------------------------- */

static void put_password(struct command *c)
{
	const char *secret = stb_export_str(c->db, "password", NULL);
	struct stb_arena *a = &c->e->arena;

	if (!secret)
		return;
	if (!strncmp(secret, "env:", 4))
		add(c, false, stb_arena_printf(a, "--mysql-password=\"$%s\"", secret + 4));
	else if (!strncmp(secret, "file:", 5))
		add(c, false, stb_arena_printf(a, "--mysql-password=\"$(cat %s)\"", quoted(a, secret + 5)));
}

static void put_tls(struct command *c)
{
	static const char *const files[] = { "tls_ca", "tls_cert", "tls_key" };
	const char *tls = stb_export_str(c->db, "tls", "disabled");

	if (!strcmp(tls, "required")) {
		stb_export_leave(c->e, c->db, "tls", "sysbench also reads client-key.pem, client-cert.pem and cacert.pem where it stands, if they are there");
		add(c, false, "--mysql-ssl=on");
	} else if (strcmp(tls, "disabled") != 0) {
		stb_export_refuse(c->e, c->db, "tls", "sysbench verifies nothing");
		add(c, false, "--mysql-ssl=on");
	}
	for (size_t i = 0; i < STB_LEN(files); i++)
		if (stb_export_val(c->db, files[i]))
			stb_export_refuse(c->e, c->db, files[i], "sysbench takes no names of such files");
}

/* What the server is started with, or asserted to have. */
static void put_options(struct command *c)
{
	for (uint32_t i = 0; i < c->db->n_attrs; i++) {
		const struct stb_plan_attr *a = &c->db->attrs[i];

		if (!strncmp(a->name, "options.", 8))
			stb_export_leave(c->e, c->db, a->name, "a matter of the server, at which sysbench does not look");
	}
	if (stb_export_val(c->db, "version"))
		stb_export_leave(c->e, c->db, "version", "a matter of the server, at which sysbench does not look");
}

static void put_server(struct command *c)
{
	const char *socket = stb_export_str(c->db, "socket", NULL);

	if (!strcmp(c->db->type, "mysql")) {
		stb_export_leave(c->e, c->db, NULL, "stb starts this server by itself; start one with a database sbtest, and put its socket into the environment as MYSQL_SOCKET");
		if (strcmp(stb_export_str(c->db, "topology", "single"), "single") != 0)
			stb_export_leave(c->e, c->db, "topology", "a matter of the servers, which sysbench does not start");
		put_options(c);
		add(c, false, "--mysql-socket=\"$MYSQL_SOCKET\"");
		add(c, false, "--mysql-user=root");
		return;
	}
	put_options(c);
	if (socket) {
		add_text(c, false, "mysql-socket", socket);
	} else {
		add_text(c, false, "mysql-host", stb_export_str(c->db, "host", "localhost"));
		add_number(c, false, "mysql-port", stb_export_u64(c->db, "port", 3306));
	}
	add_text(c, false, "mysql-user", stb_export_str(c->db, "user", "root"));
	put_password(c);
	add_text(c, false, "mysql-db", stb_export_str(c->db, "schema", "sbtest"));
	put_tls(c);
}

/* --- the data set ----------------------------------------------------------------------------------------------------------------------- */

static void put_tables(struct command *c)
{
	if (!strcmp(c->script, "bulk_insert")) /* it reads no such option: a table for every thread */
		return;
	add_number(c, false, "tables", stb_export_u64(c->w, "tables", 1));
	add_number(c, false, "table-size", stb_export_u64(c->w, "table_size", 10000));
	if (!stb_export_true(c->w, "auto_inc"))
		add(c, false, "--auto-inc=off");
	if (!stb_export_true(c->w, "create_secondary"))
		add(c, false, "--create-secondary=off");
	if (!is_default(c, "storage_engine"))
		add_text(c, false, "mysql-storage-engine", stb_export_str(c->w, "storage_engine", "innodb"));
}

/* The column k is drawn at prepare time too. */
static void put_distribution(struct command *c)
{
	static const struct {
		const char *attr, *option;
	} params[] = { { "rand_spec_iter", "rand-spec-iter" }, { "rand_spec_pct", "rand-spec-pct" }, { "rand_spec_res", "rand-spec-res" },
		{ "rand_pareto_h", "rand-pareto-h" } };
	const char *type = stb_export_str(c->w, "rand_type", "special");

	if (!strcmp(type, "zipfian")) {
		stb_export_refuse(c->e, c->w, "rand_type", "sysbench has uniform, gaussian, special and pareto");
		return;
	}
	add_text(c, false, "rand-type", type);
	for (size_t i = 0; i < STB_LEN(params); i++) {
		const struct stb_val *v = stb_export_val(c->w, params[i].attr);
		struct stb_val percent;

		if (!v || is_default(c, params[i].attr))
			continue;
		if (v->type != STB_V_SHARE) {
			add_text(c, false, params[i].option, stb_val_text(&c->e->arena, v));
			continue;
		}
		percent = stb_val_num(STB_V_COUNT, v->num * 100, v->den);
		if (percent.den == 1)
			add_number(c, false, params[i].option, (uint64_t)percent.num);
		else
			stb_export_refuse(c->e, c->w, params[i].attr, "sysbench takes whole percentages");
	}
}

/* --- the run ---------------------------------------------------------------------------------------------------------------------------- */

static void put_limits(struct command *c)
{
	const uint64_t time_ns = stb_export_u64(c->w, "time", 0), events = stb_export_u64(c->w, "events", 0);

	if (time_ns % NS_PER_S)
		stb_export_refuse(c->e, c->w, "time", "sysbench takes whole seconds; the next is written");
	add_number(c, true, "time", (time_ns + NS_PER_S - 1) / NS_PER_S); /* 0: without its hidden 10 s */
	add_number(c, true, "events", events);
	if (stb_export_u64(c->w, "warmup_time", 0))
		stb_export_refuse(c->e, c->w, "warmup_time", "sysbench has no warm-up that is left out of the result");
}

static void put_rate(struct command *c)
{
	const struct stb_val *rate = stb_export_val(c->w, "rate");

	if (!rate)
		return;
	if (rate->den != 1) {
		stb_export_refuse(c->e, c->w, "rate", "sysbench takes whole numbers of transactions a second");
		return;
	}
	stb_export_leave(c->e, c->w, "rate", "sysbench counts latency from when an event was put into its queue, not from when it was due");
	add_number(c, true, "rate", (uint64_t)rate->num);
}

static void put_statements(struct command *c)
{
	static const char *const counts[] = { "point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges", "index_updates",
		"non_index_updates", "delete_inserts", "range_size", "random_points", "number_of_ranges", "delta" };

	for (size_t i = 0; i < STB_LEN(counts); i++)
		if (!is_default(c, counts[i]))
			add_number(c, true, stb_arena_strdup(&c->e->arena, counts[i]), stb_export_u64(c->w, counts[i], 0));
	if (stb_export_true(c->w, "skip_trx"))
		add(c, true, "--skip_trx=on");
	if (!is_default(c, "db_ps_mode"))
		add_text(c, true, "db-ps-mode", stb_export_str(c->w, "db_ps_mode", "auto"));
}

static void put_errors(struct command *c)
{
	const struct stb_val *list = stb_export_val(c->w, "ignore_errors");
	struct stb_buf b;

	if (strcmp(stb_export_str(c->w, "retry", "rollback"), "sysbench") != 0)
		stb_export_leave(c->e, c->w, "retry", "sysbench tries a failed transaction again without ROLLBACK; `retry = sysbench` does so too");
	if (stb_export_u64(c->w, "reconnect", 0))
		stb_export_refuse(c->e, c->w, "reconnect", "sysbench keeps its connections");
	if (!list || is_default(c, "ignore_errors"))
		return;
	stb_buf_init(&b);
	for (uint32_t i = 0; i < list->n_items; i++)
		stb_buf_printf(&b, "%s%" PRId64, i ? "," : "", list->items[i].num);
	add_text(c, true, "mysql-ignore-errors", stb_arena_strdup(&c->e->arena, stb_buf_str(&b)));
	stb_buf_fini(&b);
}

/* The whole percentile that a report of the matrix shows first; sysbench counts one. */
static uint64_t percentile(const struct command *c)
{
	const struct stb_plan *p = c->e->plan;

	for (uint32_t r = 0; r < p->n_reports; r++) {
		for (uint32_t i = 0; i < p->reports[r].n_metrics && &p->matrices[p->reports[r].matrix] == c->m; i++) {
			const char *metric = p->reports[r].metrics[i];

			if (!strncmp(metric, "lat_p", 5) && strlen(metric) <= 7 && strspn(metric + 5, "0123456789") == strlen(metric + 5))
				return strtoull(metric + 5, NULL, 10);
		}
	}
	return 95;
}

static void put_rest(struct command *c)
{
	static const char *const own[] = { "rate_tolerance", "error_limit" };

	for (size_t i = 0; i < STB_LEN(own); i++)
		if (!is_default(c, own[i]))
			stb_export_leave(c->e, c->w, own[i], "sysbench judges nothing; look at the figure");
	if (c->e->plan->cells[c->e->cell].client != STB_NONE)
		stb_export_leave(c->e, c->w, "client", "run the script there");
	if (c->m->repeat > 1)
		stb_export_comment(c->e, "The matrix measures every cell %" PRIu32 " times.", c->m->repeat);
	if (c->m->interval_ns % NS_PER_S == 0)
		add_number(c, true, "report-interval", c->m->interval_ns / NS_PER_S);
	if (c->m->seed != 1)
		add_number(c, true, "rand-seed", c->m->seed);
	add_number(c, true, "percentile", percentile(c));
}

/* --- commands --------------------------------------------------------------------------------------------------------------------------- */

static void put_words(struct command *c, size_t *column, const char *const *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (*column + strlen(words[i]) + 3 > WIDTH) {
			stb_buf_adds(&c->e->out, " \\\n ");
			*column = 2;
		}
		stb_buf_printf(&c->e->out, " %s", words[i]);
		*column += strlen(words[i]) + 1;
	}
}

static bool has_no_prefix(const char *script)
{
	return !strncmp(script, "select_random_", 14) || !strcmp(script, "bulk_insert");
}

static void put_command(struct command *c, uint64_t threads, const char *action, bool is_run)
{
	const char *last[] = { stb_arena_printf(&c->e->arena, "--threads=%" PRIu64, threads), action };
	const size_t begin = c->e->out.len;
	size_t column;

	stb_buf_printf(&c->e->out, "sysbench %s%s", has_no_prefix(c->script) ? "" : "oltp_", c->script);
	column = c->e->out.len - begin;
	put_words(c, &column, c->common, c->n_common);
	if (is_run)
		put_words(c, &column, c->run, c->n_run);
	put_words(c, &column, last, STB_LEN(last));
	stb_buf_addc(&c->e->out, '\n');
}

bool stb_export_sysbench_applies(const struct stb_export *e)
{
	return !strcmp(stb_export_workload(e)->type, "oltp") && stb_export_database(e);
}

void stb_export_sysbench(struct stb_export *e)
{
	struct command c = {
		.e = e, .w = stb_export_workload(e), .db = stb_export_database(e), .m = &e->plan->matrices[e->plan->cells[e->cell].matrix],
	};
	const uint64_t threads = stb_export_u64(c.w, "threads", 1), tables = stb_export_u64(c.w, "tables", 1);
	bool create;

	c.script = stb_export_str(c.w, "script", "read_write");
	create = !strcmp(stb_export_str(c.w, "dataset", "create"), "create");
	stb_buf_adds(&e->out, "#!/bin/sh\n");
	stb_export_comment(e, "workload %s on database %s, for sysbench 1.0.20", c.w->name, c.db->name);
	put_server(&c);
	put_tables(&c);
	put_distribution(&c);
	put_statements(&c);
	put_errors(&c);
	put_limits(&c);
	put_rate(&c);
	put_rest(&c);
	stb_buf_adds(&e->out, "set -eu\n");
	if (create)
		put_command(&c, strcmp(c.script, "bulk_insert") ? STB_MIN(threads, tables) : threads, "prepare", false);
	put_command(&c, threads, "run", true);
	if (create)
		put_command(&c, strcmp(c.script, "bulk_insert") ? 1 : threads, "cleanup", false);
	stb_export_end(e);
}
