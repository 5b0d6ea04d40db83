/*
 * test_import_sysbench.c - command lines of every age as specs, byte for byte with what is said about them; and the table of options, row by row.
 */
#include "compiler/import_sysbench.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct imported {
	struct stb_compilation c;
	struct stb_buf spec;
	bool read;
};

static void import(struct imported *i, const char *const *words, uint32_t n)
{
	struct stb_import im;

	stb_compilation_init(&i->c);
	stb_buf_init(&i->spec);
	stb_import_init(&im, &i->c, "sysbench");
	i->read = stb_import_sysbench(&im, words, n);
	if (i->read)
		cr_expect(stb_import_finish(&im, &i->spec), "no spec came of `%s`", words[0]);
	stb_import_fini(&im);
}

static void drop(struct imported *i)
{
	stb_buf_fini(&i->spec);
	stb_compilation_fini(&i->c);
}

/* --- whole command lines ---------------------------------------------------------------------------------------------------------------- */

static void import_file(struct imported *i, const char *path)
{
	static char text[8192];
	const char *const word = text;
	FILE *f = fopen(path, "r");

	cr_assert(f, "cannot read %s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	import(i, &word, 1);
}

static void print_spec(const char *path, const char *name, FILE *out)
{
	struct imported i;

	(void)name;
	import_file(&i, path);
	fputs(stb_buf_str(&i.spec), out);
	drop(&i);
}

static void print_diags(const char *path, const char *name, FILE *out)
{
	struct imported i;

	(void)name;
	import_file(&i, path);
	stb_sink_print(&i.c.sink, STB_DIAG_HUMAN, out);
	drop(&i);
}

#define DIR "tests/golden/import/sysbench"

Test(import_sysbench, command_lines)
{
	cr_expect_geq(golden_dir_of(DIR, "cmd", "spec", print_spec), 15);
	cr_expect_geq(golden_dir_of(DIR, "cmd", "diag", print_diags), 15);
}

/* No secret of any of them, wherever it stood, is in what is written or said. */
Test(import_sysbench, no_secret_is_copied)
{
	static const char *const files[] = { "ack", "zstack", "v10_refused", "v10_config", "bad_nothing", "bad_quote", "bad_third_word" };
	static const char *const secrets[] = { "admin", "Qwert", "hidden", "secret" };

	for (size_t f = 0; f < STB_LEN(files); f++) {
		struct imported i;
		char path[128], *said = NULL;
		size_t len = 0;
		FILE *mem = open_memstream(&said, &len);

		snprintf(path, sizeof(path), "%s/%s.cmd", DIR, files[f]);
		import_file(&i, path);
		stb_sink_print(&i.c.sink, STB_DIAG_HUMAN, mem);
		stb_sink_print(&i.c.sink, STB_DIAG_JSON, mem);
		fclose(mem);
		for (size_t s = 0; s < STB_LEN(secrets); s++) {
			cr_expect_null(strstr(stb_buf_str(&i.spec), secrets[s]), "%s: %s in the spec", files[f], secrets[s]);
			cr_expect_null(strstr(said, secrets[s]), "%s: %s in the messages", files[f], secrets[s]);
		}
		free(said);
		drop(&i);
	}
}

/* --- the table -------------------------------------------------------------------------------------------------------------------------- */

static const char *a_value(const struct stb_sb_row *r)
{
	if (r->attr && !strcmp(r->attr, "db_ps_mode"))
		return "disable";
	switch (r->arg) {
	case STB_SB_COUNT:
	case STB_SB_SECONDS:
	case STB_SB_RATE:
	case STB_SB_LIST:
		return "7";
	case STB_SB_INT_SHARE:
		return "9";
	case STB_SB_NUMBER:
		return "0.3";
	case STB_SB_BOOL:
		return r->neutral && !strcmp(r->neutral, "on") ? "off" : "on";
	case STB_SB_WORD:
	case STB_SB_TEXT:
	case STB_SB_SECRET:
		break;
	}
	return "word";
}

static const char *rand_type_for(const struct stb_sb_row *r)
{
	if (r->attr && !strcmp(r->attr, "rand_pareto_h"))
		return "pareto";
	return r->attr && !strcmp(r->attr, "rand_zipfian_exp") ? "zipfian" : "special";
}

static const char *script_for(const struct stb_sb_row *r, const char *version)
{
	static char script[64];

	if (!strcmp(version, "0.5"))
		return r->scripts && !stb_sb_has(r->scripts, "read_write") && strstr(r->scripts, "random") ? r->scripts : "oltp.lua";
	snprintf(script, sizeof(script), "oltp_read_write");
	if (r->scripts && !stb_sb_has(r->scripts, "read_write"))
		snprintf(script, sizeof(script), "%s", r->scripts);
	return script;
}

/* One option on a command line of a version that has it; what is said of it and what the spec has. */
static void try_row(const struct stb_sb_row *r, const char *version)
{
	const bool old = !strcmp(version, "0.4");
	const char *spelling = strcmp(version, "1.0") && strstr(r->aliases, "oltp-") ? r->aliases : r->name;
	char text[512], said[300];
	const char *const word = text;
	struct imported i;
	unsigned n_said = 0;

	snprintf(said, sizeof(said), "sysbench: `--%s=%s`", spelling, r->arg == STB_SB_SECRET ? "***" : a_value(r));
	snprintf(text, sizeof(text), "sysbench %s %s%s --%s=%s run", old ? "--test=oltp" : script_for(r, version),
		old ? "" : "--rand-type=", old ? "" : rand_type_for(r), spelling, a_value(r));
	import(&i, &word, 1);
	cr_assert(i.read, "%s", text);
	for (uint32_t k = 0; k < i.c.sink.n_diags; k++) {
		const struct stb_diag *d = i.c.sink.diags[k];

		if (!strncmp(d->text, said, strlen(said)))
			n_said += d->code == STB_E0801 ? 100 : d->code == STB_W0801 ? 10 : 1;
	}
	switch (r->fate) {
	case STB_SB_TAKE:
		cr_expect_lt(n_said, 10, "%s is taken, but something is said", text);
		cr_expect(strstr(stb_buf_str(&i.spec), r->attr), "%s: no %s in the spec", text, r->attr);
		break;
	case STB_SB_LEAVE:
		cr_expect_eq(n_said / 10, 1, "%s: it is left out with one warning\n%s", text, stb_buf_str(&i.spec));
		break;
	case STB_SB_REFUSE:
		cr_expect_eq(n_said / 100, 1, "%s: it is refused once\n%s", text, stb_buf_str(&i.spec));
		cr_expect(strstr(stb_buf_str(&i.spec), "NOT TRANSLATED"), "%s: the spec keeps it", text);
		break;
	case STB_SB_OWN:
		break; /* the golden files */
	}
	drop(&i);
}

Test(import_sysbench, every_option_of_the_table)
{
	static const char *const versions[] = { "0.4", "0.5", "1.0" };
	size_t n;
	const struct stb_sb_row *rows = stb_sb_rows(&n);
	unsigned n_tried = 0;

	for (size_t i = 0; i < n; i++) {
		const struct stb_sb_row *r = &rows[i];

		cr_expect(r->fate == STB_SB_LEAVE || r->fate == STB_SB_REFUSE ? r->reason != NULL : r->reason == NULL || r->fate == STB_SB_OWN,
			"%s: a reason, and only where something is lost", r->name);
		cr_expect(r->fate != STB_SB_TAKE || r->attr, "%s becomes an attribute", r->name);
		for (size_t k = 0; k < STB_LEN(versions) && strcmp(r->name, "test") && strcmp(r->name, "config-file"); k++) {
			if (!stb_sb_has(r->versions, versions[k]) && !(k == 2 && !strcmp(r->versions, "1.1")))
				continue;
			try_row(r, versions[k]);
			n_tried++;
		}
		for (size_t j = 0; j < i; j++)
			cr_expect(strcmp(r->name, rows[j].name) || !stb_sb_has(rows[j].versions, r->versions), "%s stands twice", r->name);
	}
	cr_expect_gt(n_tried, 150);
}

/* Separate words and one text are the same command. */
Test(import_sysbench, words_and_text_are_one)
{
	const char *const words[] = { "sysbench", "oltp_read_only", "--mysql-user=a b", "--mysql-db=it-s", "--threads=4", "--time=5", "run" };
	const char *const text = "sysbench oltp_read_only --mysql-user='a b' --mysql-db=\"it-s\" --threads=4 --time=5 run";
	struct imported a, b;

	import(&a, words, STB_LEN(words));
	import(&b, &text, 1);
	cr_expect_str_eq(stb_buf_str(&a.spec), stb_buf_str(&b.spec));
	cr_expect_eq(a.c.sink.n_errors, 0);
	drop(&a);
	drop(&b);
}

/* The name may be left out: what stands there is one command. */
Test(import_sysbench, the_name_may_be_left_out)
{
	const char *const words[] = { "oltp_read_only", "--time=5", "run" };
	struct imported i;

	import(&i, words, STB_LEN(words));
	cr_expect(i.read);
	cr_expect_eq(i.c.sink.n_errors + i.c.sink.n_warnings, 0);
	drop(&i);
}
