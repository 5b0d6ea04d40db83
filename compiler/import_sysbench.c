/*
 * import_sysbench.c - `stb import sysbench`: a command line as a spec that says what sysbench did when it was given, in the order of its blocks.
 *
 * What is in force is written out where sysbench's own default is not stb's, or is hidden: the 10 s beside --events, the user sbtest, the
 * distribution, a retry without ROLLBACK. Where a flag was ignored by sysbench or says something else than it does, the spec has what sysbench
 * did, and a warning says what was probably meant.
 */
#include "compiler/import_sysbench.h"

#include <string.h>

/* --- matrix and report ------------------------------------------------------------------------------------------------------------------ */

static void put_matrix(struct stb_sb *s)
{
	stb_import_open(s->im, "matrix sysbench");
	stb_import_attr(s->im, "database", "[server]");
	stb_import_attr(s->im, "workload", "[%s]", s->script ? s->script : "unknown");
	stb_sb_put_part(s, STB_SB_MATRIX);
	stb_import_close(s->im);
}

/* What sysbench prints at the end. */
static void put_report(struct stb_sb *s)
{
	const struct stb_sb_option *o = stb_sb_take(s, "percentile");
	const char *percentile = ", lat_p95";
	uint64_t n;

	stb_import_open(s->im, "report sysbench");
	if (o && stb_sb_number(s, o, &n)) {
		if (n > 100)
			stb_import_refuse(s->im, o->span, o->words, "sysbench takes whole percentages from 0 to 100");
		percentile = !n || n >= 100 ? "" : stb_arena_printf(&s->im->c->arena, ", lat_p%llu", (unsigned long long)n);
	}
	stb_import_attr(s->im, "metrics", "[tps, qps, errors_per_s, reconnects_per_s, lat_min, lat_mean, lat_max%s]", percentile);
	stb_sb_put_part(s, STB_SB_REPORT);
	stb_import_close(s->im);
}

/* --- entry ------------------------------------------------------------------------------------------------------------------------------ */

static bool is_action(const struct stb_sb_command *c, const char *action)
{
	return c->action && !strcmp(c->action, action);
}

/* The run, else the prepare, which tells as much of the data set. NULL: there is neither, and told. */
static struct stb_sb_command *main_command(struct stb_import *im, const struct stb_sb_line *line)
{
	struct stb_sb_command *run = NULL, *prepare = NULL;

	for (uint32_t i = 0; i < line->n; i++) {
		struct stb_sb_command *c = &line->commands[i];

		if (is_action(c, "run") && run)
			stb_import_refuse(im, c->span, "run", "it is the second run; import each by itself, and put the workloads into one matrix");
		if (is_action(c, "run") && !run)
			run = c;
		if (is_action(c, "prepare") && !prepare)
			prepare = c;
	}
	if (!run && !prepare)
		stb_diag(&im->c->sink, STB_E0804, line->commands[0].span, "nothing is measured: the command is %s",
			line->commands[0].action ? line->commands[0].action : "not written (prepare, run, cleanup)");
	return run ? run : prepare;
}

static bool is_oltp(struct stb_import *im, const struct stb_sb_command *c)
{
	if (!c->test) {
		stb_diag(&im->c->sink, STB_E0804, c->span, "no test is named: oltp_read_write, /usr/share/sysbench/oltp_read_only.lua, --test=oltp");
		return false;
	}
	if (!stb_sb_has("fileio cpu memory threads mutex", c->test))
		return true;
	stb_diag_help(&im->c->sink, stb_diag(&im->c->sink, STB_E0804, c->test_span, "`%s` is no test of a database", c->test),
		strcmp(c->test, "fileio") ? "stb measures storage and databases" : "write it as a workload io: `stb explain workload io`");
	return false;
}

/* What another command of the line says of the data set has to be the same. */
static void compare_prepare(struct stb_sb *s, const struct stb_sb_command *other)
{
	static const char *const of_data[] = { "mysql-host", "mysql-port", "mysql-socket", "mysql-db", "tables", "table-size", "auto-inc", "secondary",
		"create-secondary", "mysql-storage-engine", "rand-type" };
	const size_t n = is_action(other, "prepare") ? STB_LEN(of_data) : 5; /* of a cleanup: where it is */

	for (size_t i = 0; i < n; i++) {
		const struct stb_sb_option *mine = stb_sb_find(s->c, of_data[i]), *theirs = stb_sb_find(other, of_data[i]);

		if ((mine || theirs) && strcmp(mine ? mine->value : "", theirs ? theirs->value : "") != 0)
			stb_import_differs(s->im, theirs ? theirs->span : mine->span, theirs ? theirs->words : mine->words, "%s and %s do not say the same; what %s "
				"says is taken", other->action, s->c->action, s->c->action);
	}
}

static void put_head(struct stb_sb *s, const struct stb_sb_line *line)
{
	stb_import_comment(s->im, "Made by `stb import sysbench` from");
	for (uint32_t i = 0; i < line->n; i++) {
		const char *p = line->commands[i].text;

		for (size_t n; *p; p += n + (p[n] == '\n')) {
			n = strcspn(p, "\n");
			stb_import_comment(s->im, "  %.*s", (int)n, p);
		}
	}
}

bool stb_import_sysbench(struct stb_import *im, const char *const *words, uint32_t n)
{
	struct stb_sb_line line;
	struct stb_sb s = { .im = im, .rand_type = "special" };
	const size_t begin = im->spec.len;
	const char *told;

	if (!stb_sb_read(im, words, n, &line))
		return false;
	told = stb_arena_strdup(&im->c->arena, stb_buf_str(&im->spec) + begin);
	s.c = main_command(im, &line);
	if (!s.c || !is_oltp(im, s.c))
		return false;
	s.version = stb_sb_version(s.c);
	s.program_1_0 = !s.c->by_option || !strcmp(s.version, "1.0") || stb_sb_find(s.c, "time") || stb_sb_find(s.c, "events") || stb_sb_find(s.c, "rand-pareto-h");
	for (uint32_t i = 0; i < s.c->n; i++)
		s.program_1_0 = s.program_1_0 || !strcmp(s.c->options[i].name, "threads");
	im->spec.len = begin; /* the head comes first */
	put_head(&s, &line);
	stb_buf_adds(&im->spec, told);
	for (uint32_t i = 0; i < line.n; i++) {
		s.prepares = s.prepares || is_action(&line.commands[i], "prepare");
		if (&line.commands[i] != s.c)
			compare_prepare(&s, &line.commands[i]);
	}
	s.script = stb_sb_script(&s);
	stb_sb_put_database(&s);
	stb_sb_put_workload(&s);
	put_matrix(&s);
	put_report(&s);
	return true;
}
