/*
 * import_sysbench.c - `stb import sysbench`: a command line as a spec that says what sysbench did when it was given, in the order of its blocks.
 *
 * What is in force is written out where sysbench's own default is not stb's, or is hidden: the 10 s beside --events, the user sbtest, the
 * distribution, a retry without ROLLBACK. Where a flag was ignored by sysbench or says something else than it does, the spec has what sysbench
 * did, and a warning says what was probably meant.
 */
#include "compiler/import_sysbench.h"
#include "compiler/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sb {
	struct stb_import *im;
	struct stb_sb_command *c;
	const char *version; /* "0.4", "0.5", "1.0": of the script */
	bool program_1_0;    /* the program is 1.0 or later, whatever the script's age */
	const char *script;  /* as in a spec; NULL: unknown */
	const char *rand_type;
	bool prepares;       /* a prepare command stands on the line */
	bool no_ranges;      /* --range-selects=off */
};

/* --- the account ------------------------------------------------------------------------------------------------------------------------ */

static void heed_option(struct sb *s, const struct stb_sb_option *o, const char *why)
{
	stb_import_differs(s->im, o->span, o->words, "%s", why);
}

/* --- options ---------------------------------------------------------------------------------------------------------------------------- */

/* A script of the 0.5 kind reads the globals oltp_...: under the later name an option means nothing to it. */
static bool is_unread(const struct stb_sb_command *c, const struct stb_sb_option *o)
{
	return !strcmp(stb_sb_version(c), "0.5") && !strncmp(o->row->aliases, "oltp-", 5) && strncmp(o->name, "oltp-", 5) != 0;
}

/* The last one of a name holds, as in sysbench; NULL: it was not given. */
static struct stb_sb_option *find(const struct stb_sb_command *c, const char *name)
{
	for (uint32_t i = c->n; i--;)
		if (c->options[i].row && !strcmp(c->options[i].row->name, name) && !is_unread(c, &c->options[i]))
			return &c->options[i];
	return NULL;
}

static struct stb_sb_option *take(struct sb *s, const char *name)
{
	struct stb_sb_option *o = find(s->c, name);

	if (o)
		o->done = true;
	return o;
}

/* Digits of the value; what sysbench makes of it is told where that is not what it says. false: no number, and told. */
static bool number(struct sb *s, const struct stb_sb_option *o, uint64_t *out)
{
	const size_t digits = strspn(o->value, "0123456789");
	const bool of_script = o->row->part == STB_SB_WORKLOAD && !stb_sb_has("threads events time rate", o->row->name);
	char *end;

	if (*o->value == '$') {
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return false;
	}
	if (!digits || digits > 18) {
		stb_import_refuse(s->im, o->span, o->words, digits ? "the number is too large" : "it is no number");
		return false;
	}
	*out = strtoull(o->value, &end, 10);
	if (!*end)
		return true;
	if (!of_script) {
		stb_import_refuse(s->im, o->span, o->words, "sysbench refuses it: no suffix and no fraction is taken here");
		return false;
	}
	stb_import_differs(s->im, o->span, o->words, "sysbench knows no suffix here and reads it as %.*s", (int)digits, o->value);
	return true;
}

/* What sysbench makes of an option that a script of this age does not have. */
static void tell_version(struct sb *s, const struct stb_sb_option *o)
{
	const bool old_name = !strncmp(o->name, "oltp-", 5);

	if (stb_sb_has(o->row->versions, s->version) && (strcmp(s->version, "1.0") || !old_name))
		return;
	if (!strcmp(s->version, "1.0") && old_name && stb_sb_has(o->row->versions, "1.0"))
		stb_import_differs(s->im, o->span, o->words, "the scripts of sysbench 1.0 refuse it; it is taken as --%s", o->row->name);
	else if (!strcmp(s->version, "1.0") && !strcmp(o->row->versions, "1.1"))
		heed_option(s, o, "sysbench 1.0.20 refuses it, later versions have it; it is taken as it was meant");
	else if (!strcmp(s->version, "0.5") && !strcmp(o->row->versions, "1.1"))
		heed_option(s, o, "sysbench 1.0.20 ignores it silently with a script of the 0.5 kind; it is taken as it was meant");
	else if (!strcmp(s->version, "1.0"))
		heed_option(s, o, "the scripts of sysbench 1.0 refuse it");
}

/* With sysbench's default where it was not given; 0: then it is left to stb's, which is the same. */
static void put_number(struct sb *s, const char *name, const char *attr, uint64_t fallback)
{
	struct stb_sb_option *o = take(s, name);
	uint64_t n = fallback;

	if (o)
		tell_version(s, o);
	if (o ? number(s, o, &n) : fallback)
		stb_import_attr(s->im, attr, "%llu", (unsigned long long)n);
}

/* false: it is neither, and told. */
static bool boolean(struct sb *s, const struct stb_sb_option *o, bool *out)
{
	if (!o->has_value || stb_sb_has("on true 1", o->value)) {
		*out = true;
		return true;
	}
	if (stb_sb_has("off false 0", o->value)) {
		*out = false;
		return true;
	}
	stb_import_refuse(s->im, o->span, o->words, "sysbench takes on or off there");
	return false;
}

static bool boolean_of(struct sb *s, const char *name, bool fallback)
{
	struct stb_sb_option *o = take(s, name);
	bool on;

	return o && boolean(s, o, &on) ? on : fallback;
}

static bool is_neutral(const struct stb_sb_option *o)
{
	const struct stb_sb_row *r = o->row;

	if (!r->neutral)
		return false;
	if (r->arg == STB_SB_BOOL)
		return !strcmp(r->neutral, "on") ? !o->has_value || stb_sb_has("on true 1", o->value) : stb_sb_has("off false 0", o->value);
	if (!strcmp(r->name, "mysql-storage-engine"))
		return !strcasecmp(o->value, r->neutral);
	return !strcmp(o->value, r->neutral);
}

/* Digits, perhaps a point and more digits. */
static bool is_decimal(const char *s)
{
	const size_t whole = strspn(s, "0123456789"), rest = s[whole] == '.' ? strspn(s + whole + 1, "0123456789") : 0;

	return whole && whole + rest < 18 && (s[whole] == '.' ? rest && !s[whole + 1 + rest] : !s[whole]);
}

/* The value of a TAKE row in the language's spelling; NULL: it is none, and told. */
static const char *spelled(struct sb *s, const struct stb_sb_option *o)
{
	struct stb_arena *a = &s->im->c->arena;
	uint64_t n;
	bool on;

	switch (o->row->arg) {
	case STB_SB_COUNT:
		return number(s, o, &n) ? stb_arena_printf(a, "%llu", (unsigned long long)n) : NULL;
	case STB_SB_INT_SHARE:
		return number(s, o, &n) ? stb_arena_printf(a, "%llu%%", (unsigned long long)n) : NULL;
	case STB_SB_RATE:
		return number(s, o, &n) ? stb_arena_printf(a, "%llu/s", (unsigned long long)n) : NULL;
	case STB_SB_SECONDS:
		return number(s, o, &n) ? stb_arena_printf(a, "%llus", (unsigned long long)n) : NULL;
	case STB_SB_BOOL:
		return boolean(s, o, &on) ? (on ? "true" : "false") : NULL;
	case STB_SB_NUMBER:
		if (is_decimal(o->value))
			return o->value + STB_MIN(strspn(o->value, "0"), strcspn(o->value, ".") - 1);
		stb_import_refuse(s->im, o->span, o->words, "it is no number");
		return NULL;
	case STB_SB_WORD:
		if (stb_sb_has(stb_schema_attr(STB_K_WORKLOAD, "oltp", o->row->attr)->words, o->value))
			return o->value;
		stb_import_refuse(s->im, o->span, o->words, "it is none of the words there are");
		return NULL;
	case STB_SB_TEXT:
	case STB_SB_SECRET:
	case STB_SB_LIST:
		break;
	}
	STB_BUG("an option of a kind that has no spelling");
}

/* Distributions that a parameter says something to. */
static bool is_of_distribution(const struct sb *s, const char *attr)
{
	if (!strcmp(attr, "rand_spec_iter"))
		return stb_sb_has("gaussian special", s->rand_type);
	if (!strncmp(attr, "rand_spec_", 10))
		return !strcmp(s->rand_type, "special");
	if (!strcmp(attr, "rand_pareto_h"))
		return !strcmp(s->rand_type, "pareto");
	return strcmp(attr, "rand_zipfian_exp") || !strcmp(s->rand_type, "zipfian");
}

static void take_row(struct sb *s, const struct stb_sb_option *o)
{
	const char *value;

	if (o->row->attr && !is_of_distribution(s, o->row->attr)) {
		if (!is_neutral(o))
			stb_import_leave(s->im, o->span, o->words, "rand_type is %s, to which it means nothing", s->rand_type);
		return;
	}
	if (o->row->arg == STB_SB_TEXT) {
		if (*o->value)
			stb_import_text(s->im, o->row->attr, o->value);
		return;
	}
	if (is_neutral(o))
		return;
	value = spelled(s, o);
	if (value)
		stb_import_attr(s->im, o->row->attr, "%s", value);
}

/* Everything of a part of the spec that no function of its own has taken, in the order given. */
static void put_part(struct sb *s, enum stb_sb_part part)
{
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct stb_sb_option *o = &s->c->options[i];
		const struct stb_sb_option *last = o->row ? find(s->c, o->row->name) : o;

		if (o->done || !o->row || o->row->part != part)
			continue;
		o->done = true;
		if (is_unread(s->c, o)) {
			stb_import_leave(s->im, o->span, o->words, "a script of the 0.5 kind ignores it silently; it reads --%s", o->row->aliases);
			continue;
		}
		if (o != last) {
			if (strcmp(o->value, last->value) != 0)
				heed_option(s, o, "it is given again later, and the last holds");
			continue;
		}
		if (o->row->fate != STB_SB_TAKE && is_neutral(o))
			continue;
		if (o->row->fate == STB_SB_TAKE)
			tell_version(s, o);
		if (o->row->scripts && s->script && !stb_sb_has(o->row->scripts, s->script)) {
			if (!is_neutral(o))
				stb_import_leave(s->im, o->span, o->words, strcmp(s->script, "bulk_insert") ? "script %s has no such statements"
					: "script %s has a table for every thread, and reads no such option", s->script);
			continue;
		}
		switch (o->row->fate) {
		case STB_SB_TAKE:
			take_row(s, o);
			break;
		case STB_SB_OWN:
			break; /* taken by its function, or means nothing to this version */
		case STB_SB_LEAVE:
			stb_import_leave(s->im, o->span, o->words, "%s", o->row->reason);
			break;
		case STB_SB_REFUSE:
			stb_import_refuse(s->im, o->span, o->words, "%s", o->row->reason);
			break;
		}
	}
}

static void refuse_unknown(struct sb *s)
{
	const char *names[256], *near;
	size_t n_rows, n = 0;
	const struct stb_sb_row *rows = stb_sb_rows(&n_rows);

	for (size_t i = 0; i < n_rows && n < STB_LEN(names); i++)
		names[n++] = rows[i].name;
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct stb_sb_option *o = &s->c->options[i];

		if (o->row) {
			if (o->parted)
				stb_import_differs(s->im, o->span, o->words, "sysbench takes only `--%s=...`, in one word", o->name);
			continue;
		}
		near = stb_nearest(o->name, names, n);
		o->done = true;
		if (near)
			stb_import_refuse(s->im, o->span, o->words, "no version of sysbench has it for its OLTP tests; did you mean --%s?", near);
		else
			stb_import_refuse(s->im, o->span, o->words, "no version of sysbench has it for its OLTP tests");
	}
}

/* --- the database ----------------------------------------------------------------------------------------------------------------------- */

/* The first of a list; that there are more is refused. NULL: not given, or empty; *unknown: nobody knows. */
static const char *first_of(struct sb *s, const char *name, bool *unknown)
{
	const struct stb_sb_option *o = take(s, name);
	size_t len;

	if (!o || !*o->value)
		return NULL;
	if (*o->value == '$') {
		*unknown = true;
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return NULL;
	}
	len = strcspn(o->value, ",");
	if (o->value[len])
		stb_import_refuse(s->im, o->span, o->words, "sysbench spreads its connections over a list, stb loads one server; the first is taken");
	return stb_arena_strndup(&s->im->c->arena, o->value, len);
}

static void put_address(struct sb *s)
{
	bool no_host = false, no_port = false, no_socket = false;
	const char *host = first_of(s, "mysql-host", &no_host), *port = first_of(s, "mysql-port", &no_port),
		*socket = first_of(s, "mysql-socket", &no_socket);
	const struct stb_sb_option *given = find(s->c, "mysql-host");

	if (socket) {
		stb_import_text(s->im, "socket", socket);
		if (given && host && strcmp(host, "localhost") != 0)
			heed_option(s, given, "with --mysql-socket sysbench connects to the socket");
		return;
	}
	if (!no_host && !no_socket)
		stb_import_text(s->im, "host", host ? host : "localhost");
	if (port && (!*port || strlen(port) > 9 || strspn(port, "0123456789") != strlen(port)))
		stb_import_refuse(s->im, find(s->c, "mysql-port")->span, find(s->c, "mysql-port")->words, "it is no number");
	else if (!no_port && !no_host && !no_socket)
		stb_import_attr(s->im, "port", "%lu", port ? strtoul(port, NULL, 10) : 3306);
}

/* The name in `$NAME`, `${NAME}` or `${NAME:-...}`; NULL: it is no reference. */
static const char *variable(struct sb *s, const char *value)
{
	const char *name = value + 1 + (value[1] == '{');
	size_t len = 0;

	if (*value != '$')
		return NULL;
	while ((name[len] >= 'A' && name[len] <= 'Z') || (name[len] >= 'a' && name[len] <= 'z') || name[len] == '_' ||
	       (len && name[len] >= '0' && name[len] <= '9'))
		len++;
	return len ? stb_arena_strndup(&s->im->c->arena, name, len) : NULL;
}

/* The path in `$(cat PATH)`; NULL: it is no such thing, or no path that a spec could name as it stands. */
static const char *file_read(struct sb *s, const char *value)
{
	static const char cat[] = "$(cat ";
	const size_t n = strlen(value), head = sizeof(cat) - 1;
	const bool quoted = n > head && value[head] == '\'';
	const size_t begin = head + quoted, end = n - 1 - quoted;

	if (strncmp(value, cat, head) != 0 || n < head + 2 + 2 * (size_t)quoted || value[n - 1] != ')' || (quoted && value[n - 2] != '\'') ||
		strcspn(value + begin, "'\"\\$\n") < end - begin)
		return NULL;
	return stb_arena_strndup(&s->im->c->arena, value + begin, end - begin);
}

static void put_password(struct sb *s)
{
	const struct stb_sb_option *o = take(s, "mysql-password");
	const char *name, *path;

	if (!o || !*o->value)
		return;
	path = file_read(s, o->value);
	if (path) {
		stb_import_attr(s->im, "password", "file(\"%s\")", path);
		return;
	}
	name = variable(s, o->value);
	if (!name) {
		name = "MYSQL_PASSWORD";
		stb_diag(&s->im->c->sink, STB_N0802, o->span, "the password is not copied: put it into the environment as %s before a run", name);
		stb_import_comment(s->im, "The password is not copied: put it into the environment.");
	}
	stb_import_attr(s->im, "password", "env(\"%s\")", name);
}

static void put_tls(struct sb *s)
{
	static const struct {
		const char *words, *tls;
	} modes[] = {
		{ "on true 1 required REQUIRED", "required" },
		{ "verify_ca VERIFY_CA", "verify_ca" },
		{ "verify_identity VERIFY_IDENTITY", "verify_identity" },
		{ "disabled DISABLED", "disabled" },
	};
	const struct stb_sb_option *o = take(s, "mysql-ssl");

	if (!o || is_neutral(o))
		return;
	for (size_t i = 0; i < STB_LEN(modes); i++) {
		if (!stb_sb_has(modes[i].words, o->has_value ? o->value : "on"))
			continue;
		stb_import_attr(s->im, "tls", "%s", modes[i].tls);
		if (!i)
			heed_option(s, o, "sysbench 1.0 also reads client-key.pem, client-cert.pem and cacert.pem where it stands; name such files as tls_key, "
				"tls_cert and tls_ca");
		return;
	}
	stb_import_refuse(s->im, o->span, o->words, "of the modes of TLS stb has disabled, required, verify_ca and verify_identity");
}

static void put_text_or(struct sb *s, const char *option, const char *attr, const char *fallback)
{
	const struct stb_sb_option *o = take(s, option);

	if (o && *o->value == '$') {
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return;
	}
	stb_import_text(s->im, attr, o ? o->value : fallback);
}

static void put_database(struct sb *s)
{
	stb_import_open(s->im, "database external server");
	put_address(s);
	put_text_or(s, "mysql-user", "user", "sbtest");
	put_password(s);
	put_text_or(s, "mysql-db", "schema", "sbtest");
	put_tls(s);
	put_part(s, STB_SB_DATABASE);
	stb_import_close(s->im);
}

/* --- the script ------------------------------------------------------------------------------------------------------------------------- */

static const char *base_of(struct sb *s)
{
	const char *slash = strrchr(s->c->test, '/'), *base = slash ? slash + 1 : s->c->test;
	const size_t n = strlen(base);

	return stb_arena_strndup(&s->im->c->arena, base, n > 4 && !strcmp(base + n - 4, ".lua") ? n - 4 : n);
}

/* 0.4: one test, its modes. */
static const char *script_by_mode(struct sb *s)
{
	static const struct {
		const char *mode, *script;
	} modes[] = { { "select", "point_select" }, { "update_key", "update_index" }, { "update_nokey", "update_non_index" }, { "insert", "insert" },
		{ "delete", "delete" } };
	const struct stb_sb_option *mode = take(s, "oltp-test-mode"), *statement = take(s, "oltp-nontrx-mode");
	const bool reads = boolean_of(s, "oltp-read-only", false);
	const char *what = statement ? statement->value : "select";

	if (!mode || !strcmp(mode->value, "complex"))
		return reads ? "read_only" : "read_write";
	if (!strcmp(mode->value, "simple"))
		return "point_select";
	for (size_t i = 0; i < STB_LEN(modes) && !strcmp(mode->value, "nontrx"); i++)
		if (!strcmp(what, modes[i].mode))
			return modes[i].script;
	stb_import_refuse(s->im, mode->span, mode->words, "stb has no script of that kind");
	return NULL;
}

static const char *script_of(struct sb *s)
{
	static const struct {
		const char *name, *script;
	} scripts[] = {
		{ "oltp_point_select", "point_select" }, { "oltp_read_only", "read_only" }, { "oltp_read_write", "read_write" },
		{ "oltp_write_only", "write_only" }, { "oltp_insert", "insert" }, { "oltp_delete", "delete" },
		{ "oltp_update_index", "update_index" }, { "oltp_update_non_index", "update_non_index" },
		{ "select_random_points", "select_random_points" }, { "select_random_ranges", "select_random_ranges" },
		{ "bulk_insert", "bulk_insert" }, { "oltp_simple", "point_select" }, { "select", "point_select" }, { "insert", "insert" },
		{ "delete", "delete" }, { "update_index", "update_index" }, { "update_non_index", "update_non_index" },
	};
	static const char *const others[] = { "point_select", "read_only", "read_write", "write_only" };
	const struct stb_sb_option *reads = NULL;
	const char *base = base_of(s);

	if (!strcmp(s->version, "0.4"))
		return script_by_mode(s);
	if (!strcmp(s->version, "0.5"))
		reads = take(s, "oltp-read-only");
	if (!strcmp(base, "oltp")) {
		bool only = false;

		return reads && boolean(s, reads, &only) && only ? "read_only" : "read_write";
	}
	if (reads && !is_neutral(reads))
		stb_import_leave(s->im, reads->span, reads->words, "only oltp.lua reads it; script `%s` says by itself what is run", base);
	for (size_t i = 0; i < STB_LEN(scripts); i++)
		if (!strcmp(base, scripts[i].name))
			return scripts[i].script;
	for (size_t i = 0; i < STB_LEN(others); i++) {
		if (strcmp(base, others[i]) != 0)
			continue;
		stb_import_differs(s->im, s->c->test_span, base, "sysbench has no script of that name; by its name it is taken as %s", others[i]);
		return others[i];
	}
	stb_import_refuse(s->im, s->c->test_span, base, "it is no script that comes with sysbench but the user's own; write the `script` that does what it does");
	return NULL;
}

static void tell_script(struct sb *s)
{
	static const char reading[] = "point_select read_only select_random_points select_random_ranges";
	const struct stb_sb_option *mode = strcmp(s->version, "0.4") ? find(s->c, "oltp-test-mode") : NULL;

	if (mode && s->script && !stb_sb_has("read_only read_write", s->script))
		stb_import_differs(s->im, s->c->test_span, base_of(s), "it is the script that says what is run, %s, whatever --oltp-test-mode=%s says%s",
			s->script, stb_import_quote(s->im, mode->value, strlen(mode->value)),
			stb_sb_has(reading, s->script) ? "; nothing is written" : "");
	if (!strcmp(s->version, "0.5") && s->script && stb_sb_has("read_only read_write", s->script))
		stb_import_differs(s->im, s->c->test_span, base_of(s), "scripts of the 0.5 kind take one table for a whole transaction; sysbench "
			"1.0 and stb draw one for each kind of statement, so figures are not interchangeable");
	if (!strcmp(s->version, "0.4"))
		stb_import_differs(s->im, s->c->test_span, "--test=oltp", "0.4 has rows of constant content and ranges that stop at the end of the "
			"table, so figures are not interchangeable with those of 1.0 and stb");
}

/* --- the workload ----------------------------------------------------------------------------------------------------------------------- */

/* A limit under its name of 1.0 or the older one, which wins where it is not 0; UINT64_MAX: neither is given. */
static uint64_t limit(struct sb *s, const char *name, const char *older)
{
	struct stb_sb_option *given = take(s, name), *old = take(s, older);
	uint64_t n = UINT64_MAX, m = 0;

	if (given && !number(s, given, &n))
		n = UINT64_MAX;
	if (!old || !number(s, old, &m) || (!m && given))
		return n;
	if (given && m != n)
		stb_import_differs(s->im, given->span, given->words, "--%s=%s, the older name of the same, wins over it", older, old->value);
	return m;
}

static void put_limits(struct sb *s)
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

static void put_distribution(struct sb *s)
{
	static const char words[] = "uniform gaussian special pareto zipfian";
	const struct stb_sb_option *o = take(s, !strcmp(s->version, "0.4") ? "oltp-dist-type" : "rand-type");

	s->rand_type = "special";
	if (o && stb_sb_has(words, o->value))
		s->rand_type = stb_arena_strdup(&s->im->c->arena, o->value);
	else if (o)
		stb_import_refuse(s->im, o->span, o->words, "sysbench has uniform, gaussian, special, pareto and (later) zipfian");
	if (!strcmp(s->rand_type, "zipfian"))
		heed_option(s, o, "sysbench 1.0.20 refuses it, later versions have it");
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

static void put_errors(struct sb *s)
{
	const struct stb_sb_option *o = take(s, "mysql-ignore-errors");

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

static void put_no_ranges(struct sb *s)
{
	static const char *const ranges[] = { "simple-ranges", "sum-ranges", "order-ranges", "distinct-ranges" };
	static const char *const attrs[] = { "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges" };

	if (boolean_of(s, "range-selects", true))
		return;
	if (s->script && !stb_sb_has("read_only read_write", s->script)) {
		stb_import_leave(s->im, find(s->c, "range-selects")->span, "--range-selects=off", "script %s has no such statements", s->script);
		return;
	}
	for (size_t i = 0; i < STB_LEN(ranges); i++) {
		const struct stb_sb_option *o = take(s, ranges[i]);

		if (o && !is_neutral(o) && strcmp(o->value, "0") != 0)
			stb_import_leave(s->im, o->span, o->words, "--range-selects=off leaves all range selects out");
		stb_import_attr(s->im, attrs[i], "0");
	}
}

static void put_warmup(struct sb *s)
{
	const struct stb_sb_option *o = take(s, "warmup-time");
	uint64_t n;

	if (!o || is_neutral(o))
		return;
	tell_version(s, o);
	if (number(s, o, &n))
		stb_import_attr(s->im, "warmup_time", "%llus", (unsigned long long)n);
}

static void put_workload(struct sb *s)
{
	stb_import_open(s->im, "workload oltp %s", s->script ? s->script : "unknown");
	refuse_unknown(s);
	stb_import_attr(s->im, "database", "server");
	if (s->script)
		stb_import_attr(s->im, "script", "%s", s->script);
	tell_script(s);
	if (!s->script || strcmp(s->script, "bulk_insert") != 0) {
		put_number(s, "tables", "tables", 0);
		put_number(s, "table-size", "table_size", 10000);
	}
	put_number(s, "threads", "threads", 1);
	put_limits(s);
	put_warmup(s);
	if (!strcmp(s->version, "0.5"))
		stb_import_attr(s->im, "db_ps_mode", "disable");
	put_distribution(s);
	put_no_ranges(s);
	put_errors(s);
	put_part(s, STB_SB_WORKLOAD);
	if (!s->prepares)
		stb_import_comment(s->im, "The command ran on tables that a prepare had made before; dataset = create has stb make them.");
	stb_import_attr(s->im, "dataset", s->prepares ? "create" : "use");
	stb_import_close(s->im);
}

/* --- matrix and report ------------------------------------------------------------------------------------------------------------------ */

static void put_matrix(struct sb *s)
{
	stb_import_open(s->im, "matrix sysbench");
	stb_import_attr(s->im, "database", "[server]");
	stb_import_attr(s->im, "workload", "[%s]", s->script ? s->script : "unknown");
	put_part(s, STB_SB_MATRIX);
	stb_import_close(s->im);
}

/* What sysbench prints at the end. */
static void put_report(struct sb *s)
{
	const struct stb_sb_option *o = take(s, "percentile");
	const char *percentile = ", lat_p95";
	uint64_t n;

	stb_import_open(s->im, "report sysbench");
	if (o && number(s, o, &n)) {
		if (n > 100)
			stb_import_refuse(s->im, o->span, o->words, "sysbench takes whole percentages from 0 to 100");
		percentile = !n || n >= 100 ? "" : stb_arena_printf(&s->im->c->arena, ", lat_p%llu", (unsigned long long)n);
	}
	stb_import_attr(s->im, "metrics", "[tps, qps, errors_per_s, reconnects_per_s, lat_min, lat_mean, lat_max%s]", percentile);
	put_part(s, STB_SB_REPORT);
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
static void compare_prepare(struct sb *s, const struct stb_sb_command *other)
{
	static const char *const of_data[] = { "mysql-host", "mysql-port", "mysql-socket", "mysql-db", "tables", "table-size", "auto-inc", "secondary",
		"create-secondary", "mysql-storage-engine", "rand-type" };
	const size_t n = is_action(other, "prepare") ? STB_LEN(of_data) : 5; /* of a cleanup: where it is */

	for (size_t i = 0; i < n; i++) {
		const struct stb_sb_option *mine = find(s->c, of_data[i]), *theirs = find(other, of_data[i]);

		if ((mine || theirs) && strcmp(mine ? mine->value : "", theirs ? theirs->value : "") != 0)
			stb_import_differs(s->im, theirs ? theirs->span : mine->span, theirs ? theirs->words : mine->words, "%s and %s do not say the same; what %s "
				"says is taken", other->action, s->c->action, s->c->action);
	}
}

static void put_head(struct sb *s, const struct stb_sb_line *line)
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
	struct sb s = { .im = im, .rand_type = "special" };
	const size_t begin = im->spec.len;
	const char *told;

	if (!stb_sb_read(im, words, n, &line))
		return false;
	told = stb_arena_strdup(&im->c->arena, stb_buf_str(&im->spec) + begin);
	s.c = main_command(im, &line);
	if (!s.c || !is_oltp(im, s.c))
		return false;
	s.version = stb_sb_version(s.c);
	s.program_1_0 = !s.c->by_option || !strcmp(s.version, "1.0") || find(s.c, "time") || find(s.c, "events") || find(s.c, "rand-pareto-h");
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
	s.script = script_of(&s);
	put_database(&s);
	put_workload(&s);
	put_matrix(&s);
	put_report(&s);
	return true;
}
