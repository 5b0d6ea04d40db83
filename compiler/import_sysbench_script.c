/*
 * import_sysbench_script.c - which script a sysbench command line runs: by its name, by the modes of 0.4, and what is to be told of its age.
 */
#include "compiler/import_sysbench.h"

#include "compiler/import_shell.h"

#include <stdio.h>
#include <string.h>

static const char *base_of(struct stb_sb *s)
{
	const char *slash = strrchr(s->c->test, '/'), *base = slash ? slash + 1 : s->c->test;
	const size_t n = strlen(base);

	return stb_arena_strndup(&s->im->c->arena, base, n > 4 && !strcmp(base + n - 4, ".lua") ? n - 4 : n);
}

/* As the user wrote it: that is where the message points. */
static const char *written(struct stb_sb *s)
{
	return stb_import_quote(s->im, s->c->test, strlen(s->c->test));
}

/* 0.4: one test, its modes. */
static const char *script_by_mode(struct stb_sb *s)
{
	static const struct {
		const char *mode, *script;
	} modes[] = { { "select", "point_select" }, { "update_key", "update_index" }, { "update_nokey", "update_non_index" }, { "insert", "insert" },
		{ "delete", "delete" } };
	const struct stb_sb_option *mode = stb_sb_take(s, "oltp-test-mode"), *statement = stb_sb_take(s, "oltp-nontrx-mode");
	const bool reads = stb_sb_boolean_of(s, "oltp-read-only", false);
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

const char *stb_sb_script(struct stb_sb *s)
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
		reads = stb_sb_take(s, "oltp-read-only");
	if (!strcmp(base, "oltp")) {
		bool only = false;

		return reads && stb_sb_boolean(s, reads, &only) && only ? "read_only" : "read_write";
	}
	if (reads && !stb_sb_is_neutral(reads))
		stb_import_leave(s->im, reads->span, reads->words, "only oltp.lua reads it; script `%s` says by itself what is run", base);
	for (size_t i = 0; i < STB_LEN(scripts); i++)
		if (!strcmp(base, scripts[i].name))
			return scripts[i].script;
	for (size_t i = 0; i < STB_LEN(others); i++) {
		if (strcmp(base, others[i]) != 0)
			continue;
		stb_import_differs(s->im, s->c->test_span, written(s), "sysbench has no script of that name; by its name it is taken as %s", others[i]);
		return others[i];
	}
	stb_import_refuse(s->im, s->c->test_span, written(s), "it is no script that comes with sysbench but the user's own; write the `script` that does what it does");
	return NULL;
}

void stb_sb_tell_script(struct stb_sb *s)
{
	static const char reading[] = "point_select read_only select_random_points select_random_ranges";
	const struct stb_sb_option *mode = strcmp(s->version, "0.4") ? stb_sb_find(s->c, "oltp-test-mode") : NULL;

	if (mode && s->script && !stb_sb_has("read_only read_write", s->script))
		stb_import_differs(s->im, s->c->test_span, written(s), "it is the script that says what is run, %s, whatever --oltp-test-mode=%s says%s",
			s->script, stb_import_quote(s->im, mode->value, strlen(mode->value)),
			stb_sb_has(reading, s->script) ? "; nothing is written" : "");
	if (!strcmp(s->version, "0.5") && s->script && stb_sb_has("read_only read_write", s->script))
		stb_import_differs(s->im, s->c->test_span, written(s), "scripts of the 0.5 kind take one table for a whole transaction; sysbench "
			"1.0 and stb draw one for each kind of statement, so figures are not interchangeable");
	if (!strcmp(s->version, "0.4"))
		stb_import_differs(s->im, s->c->test_span, "--test=oltp", "0.4 has rows of constant content and ranges that stop at the end of the "
			"table, so figures are not interchangeable with those of 1.0 and stb");
}

/* --- the version ------------------------------------------------------------------------------------------------------------------------ */

static bool ends_in_lua(const char *test)
{
	const size_t n = strlen(test);

	return n > 4 && !strcmp(test + n - 4, ".lua");
}

/*
 * The C test of 0.4 is --test=oltp and nothing else. Scripts of the 0.5 kind are known by their names, or by options that begin with oltp-, which
 * the scripts of 1.0 do not take; sysbench 1.0 runs them as well.
 */
const char *stb_sb_version(const struct stb_sb_command *c)
{
	static const char legacy[] = "oltp oltp_simple select insert delete update_index update_non_index parallel_prepare";
	static const char bundled[] = "oltp_delete oltp_insert oltp_point_select oltp_read_only oltp_read_write oltp_update_index "
				      "oltp_update_non_index oltp_write_only";
	const char *base = c->test ? stb_shell_base_name(c->test) : "";
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)STB_MIN(strlen(base) - (ends_in_lua(base) ? 4 : 0), sizeof(name) - 1), base);
	if (c->by_option && !strcmp(c->test, "oltp"))
		return "0.4";
	if (stb_sb_has(legacy, name))
		return "0.5";
	for (uint32_t i = 0; i < c->n && !stb_sb_has(bundled, name); i++)
		if (!strncmp(c->options[i].name, "oltp-", 5))
			return "0.5";
	return "1.0";
}
