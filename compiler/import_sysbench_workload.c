/*
 * import_sysbench_workload.c - the workload of a sysbench command line, with what is in force where sysbench hides it.
 */
#include "compiler/import_sysbench.h"

#include <string.h>

/* A limit under its name of 1.0 or the older one, which wins where it is not 0; UINT64_MAX: neither is given. */
static uint64_t limit(struct stb_sb *s, const char *name, const char *older)
{
	struct stb_sb_option *given = stb_sb_take(s, name), *old = stb_sb_take(s, older);
	uint64_t n = UINT64_MAX, m = 0;

	if (given && !stb_sb_number(s, given, &n))
		n = UINT64_MAX;
	if (!old || !stb_sb_number(s, old, &m) || (!m && given))
		return n;
	if (given && m != n)
		stb_import_differs(s->im, given->span, given->words, "--%s=%s, the older name of the same, wins over it", older, old->value);
	return m;
}

static void put_limits(struct stb_sb *s)
{
	uint64_t time = limit(s, "time", "max-time"), events = limit(s, "events", "max-requests");
	const bool bounded = events != UINT64_MAX && events;

	if (time == UINT64_MAX && s->program_1_0) {
		time = 10;
		if (bounded)
			stb_import_differs(s->im, s->c->span, "--time", "it is 10 s where it is not given, also beside --events; whichever comes first "
				"ends the run");
	}
	if (events == UINT64_MAX && !s->program_1_0) {
		events = 10000;
		stb_import_differs(s->im, s->c->span, "--max-requests", "it is 10,000 where it is not given, in the versions before 1.0; whichever "
			"limit comes first ends the run");
	}
	if (time && time != UINT64_MAX)
		stb_import_attr(s->im, "time", "%llus", (unsigned long long)time);
	if (events && events != UINT64_MAX)
		stb_import_attr(s->im, "events", "%llu", (unsigned long long)events);
	if ((!time || time == UINT64_MAX) && (!events || events == UINT64_MAX))
		stb_import_refuse(s->im, s->c->span, "--time=0", "sysbench would run until it is stopped; write a time or a number of events");
}

static void put_distribution(struct stb_sb *s)
{
	static const char words[] = "uniform gaussian special pareto zipfian";
	const struct stb_sb_option *o = stb_sb_take(s, !strcmp(s->version, "0.4") ? "oltp-dist-type" : "rand-type");

	s->rand_type = "special";
	if (o && stb_sb_has(words, o->value))
		s->rand_type = stb_arena_strdup(&s->im->c->arena, o->value);
	else if (o)
		stb_import_refuse(s->im, o->span, o->words, "sysbench has uniform, gaussian, special, pareto and (later) zipfian");
	if (!strcmp(s->rand_type, "zipfian"))
		stb_sb_heed(s, o, "sysbench 1.0.20 refuses it, later versions have it");
	stb_import_attr(s->im, "rand_type", "%s", s->rand_type);
}

/* Without leading zeros, which a spec does not take: nobody writes them. */
static bool is_list_of_numbers(const char *s)
{
	for (;;) {
		const size_t n = strspn(s, "0123456789");

		if (!n || n > 9 || *s == '0' || (s[n] && s[n] != ','))
			return false;
		if (!s[n])
			return true;
		s += n + 1;
	}
}

static void put_errors(struct stb_sb *s)
{
	const struct stb_sb_option *o = stb_sb_take(s, "mysql-ignore-errors");

	stb_import_attr(s->im, "retry", "sysbench");
	if (!o)
		return;
	if (!*o->value)
		stb_import_attr(s->im, "ignore_errors", "[]");
	else if (!strcmp(o->value, "all"))
		stb_import_refuse(s->im, o->span, o->words, "every error would count as nothing; list those that may happen as ignore_errors");
	else if (!is_list_of_numbers(o->value))
		stb_import_refuse(s->im, o->span, o->words, "it is no list of error numbers");
	else
		stb_import_attr(s->im, "ignore_errors", "[%s]", o->value);
}

static void put_no_ranges(struct stb_sb *s)
{
	static const char *const ranges[] = { "simple-ranges", "sum-ranges", "order-ranges", "distinct-ranges" };
	static const char *const attrs[] = { "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges" };

	if (stb_sb_boolean_of(s, "range-selects", true))
		return;
	if (s->script && !stb_sb_has("read_only read_write", s->script)) {
		stb_import_leave(s->im, stb_sb_find(s->c, "range-selects")->span, "--range-selects=off", "script %s has no such statements", s->script);
		return;
	}
	for (size_t i = 0; i < STB_LEN(ranges); i++) {
		const struct stb_sb_option *o = stb_sb_take(s, ranges[i]);

		if (o && !stb_sb_is_neutral(o) && strcmp(o->value, "0") != 0)
			stb_import_leave(s->im, o->span, o->words, "--range-selects=off leaves all range selects out");
		stb_import_attr(s->im, attrs[i], "0");
	}
}

static void put_warmup(struct stb_sb *s)
{
	const struct stb_sb_option *o = stb_sb_take(s, "warmup-time");
	uint64_t n;

	if (!o || stb_sb_is_neutral(o))
		return;
	stb_sb_tell_version(s, o);
	if (stb_sb_number(s, o, &n))
		stb_import_attr(s->im, "warmup_time", "%llus", (unsigned long long)n);
}

void stb_sb_put_workload(struct stb_sb *s)
{
	stb_import_open(s->im, "workload oltp %s", s->script ? s->script : "unknown");
	stb_sb_refuse_unknown(s);
	stb_import_attr(s->im, "database", "server");
	if (s->script)
		stb_import_attr(s->im, "script", "%s", s->script);
	stb_sb_tell_script(s);
	if (!s->script || strcmp(s->script, "bulk_insert") != 0) {
		stb_sb_put_number(s, "tables", "tables", 0);
		stb_sb_put_number(s, "table-size", "table_size", 10000);
	}
	stb_sb_put_number(s, "threads", "threads", 1);
	put_limits(s);
	put_warmup(s);
	if (!strcmp(s->version, "0.5"))
		stb_import_attr(s->im, "db_ps_mode", "disable");
	put_distribution(s);
	put_no_ranges(s);
	put_errors(s);
	stb_sb_put_part(s, STB_SB_WORKLOAD);
	if (!s->prepares)
		stb_import_comment(s->im, "The command ran on tables that a prepare had made before; dataset = create has stb make them.");
	stb_import_attr(s->im, "dataset", s->prepares ? "create" : "use");
	stb_import_close(s->im);
}
