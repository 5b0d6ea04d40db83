/*
 * test_import_fio.c - the table of fio's options, walked: each row is translated as it says, or told as it says; and values as fio reads them.
 */
#include "compiler/import_fio.h"
#include "compiler/schema.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct imported {
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec; /* blanks squeezed */
	bool read;
};

/* One blank for several, none at the beginning of a line: alignment is the formatter's affair. */
static void squeeze(const struct stb_buf *from, struct stb_buf *to)
{
	const char *s = stb_buf_str(from);

	stb_buf_addc(to, '\n');
	for (size_t i = 0; i < from->len; i++)
		if (s[i] != ' ' || (to->data[to->len - 1] != '\n' && to->data[to->len - 1] != ' '))
			stb_buf_addc(to, s[i]);
}

static void import(struct imported *k, const char *text)
{
	struct stb_buf spec;
	uint32_t file;

	*k = (struct imported){ 0 };
	stb_compilation_init(&k->c);
	stb_buf_init(&k->spec);
	stb_buf_init(&spec);
	stb_import_init(&k->im, &k->c, "fio");
	k->im.cwd = "/home/somebody";
	file = stb_sources_add(&k->c.sources, "t.fio", text, strlen(text));
	k->read = stb_import_fio_file(&k->im, file);
	if (k->read)
		cr_expect(stb_import_finish(&k->im, &spec), "no spec comes out of:\n%s", text);
	squeeze(&spec, &k->spec);
	stb_buf_fini(&spec);
}

static void fini(struct imported *k)
{
	stb_import_fini(&k->im);
	stb_buf_fini(&k->spec);
	stb_compilation_fini(&k->c);
}

static bool spec_has(const struct imported *k, const char *line)
{
	char *whole = NULL;
	bool has;

	cr_assert(asprintf(&whole, "\n%s\n", line) > 0);
	has = strstr(stb_buf_str(&k->spec), whole);
	free(whole);
	return has;
}

/* How often a code was said. */
static unsigned said(const struct imported *k, enum stb_code code)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < k->c.sink.n_diags; i++)
		n += k->c.sink.diags[i]->code == code;
	return n;
}

static unsigned said_errors(const struct imported *k)
{
	return k->c.sink.n_errors;
}

static const char *first_name(const struct stb_fio_row *r)
{
	static char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(r->names, " "), r->names);
	return name;
}

/* What a job must be for an option to have an effect in it. */
static const char *where_it_matters(enum stb_fio_when when)
{
	switch (when) {
	case STB_FIO_ALWAYS:
	case STB_FIO_WRITES:
	case STB_FIO_RANDOM:
	case STB_FIO_BUFFERED:
	case STB_FIO_PARALLEL:
	case STB_FIO_STEADY:
		return "";
	case STB_FIO_DEEP:
		return "ioengine=io_uring\niodepth=8\n";
	case STB_FIO_CLONES:
		return "numjobs=2\n";
	case STB_FIO_LOOPED:
		return "loops=2\n";
	case STB_FIO_VERIFY_ON:
		return "rw=write\nverify=crc32c\n";
	case STB_FIO_COMPRESSED:
		return "buffer_compress_percentage=50\n";
	case STB_FIO_RATED:
		return "rate_iops=100\n";
	case STB_FIO_THINKS:
		return "thinktime=1000\n";
	}
	return "";
}

static const char base[] = "[global]\ndirectory=/srv\nsize=8m\nrw=randrw\n[first]\nfilename=first\n[t]\n";
static const char alone[] = "[global]\ndirectory=/srv\nsize=8m\nrw=randrw\n[t]\n";
static const char idle_base[] = "[t]\ndirectory=/srv\nsize=8m\nrw=read\ndirect=1\n";

Test(import_fio, every_name_is_found_once)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++)
		for (const char *p = rows[i].names; *p; p += strspn(p, " ")) {
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
			cr_expect_eq(stb_fio_find(name), &rows[i], "`%s` stands in two rows", name);
			p += strcspn(p, " ");
		}
	cr_expect_null(stb_fio_find("iodeph"));
	cr_expect_null(stb_fio_find(""));
}

/* Whether a value of fio's is said in the same way in a spec, but for its unit. */
static bool same_value(const char *fio, const char *ours)
{
	const size_t digits = strspn(fio, "0123456789");

	if (!strcmp(ours, "true") || !strcmp(ours, "false"))
		return !strcmp(fio, *ours == 't' ? "1" : "0");
	return digits ? strspn(ours, "0123456789") == digits && !strncmp(fio, ours, digits) : !strcmp(fio, ours);
}

/* A message puts the attribute in the place of fio's name, so that the value stays: where the row is an attribute's name alone. */
Test(import_fio, an_attribute_alone_takes_the_value_as_it_is)
{
	uint32_t n, n_same = 0;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		const struct stb_fio_row *r = &rows[i];

		if (r->fate != STB_FIO_IS_TRANSLATED || !strcmp(r->names, r->text) || !stb_schema_attr(STB_K_WORKLOAD, "io", r->text))
			continue;
		cr_assert(r->expect && strrchr(r->sample, '=') && strstr(r->expect, " = "), "%s", r->names);
		cr_expect(same_value(strrchr(r->sample, '=') + 1, strstr(r->expect, " = ") + 3), "%s: %s", r->names, r->expect);
		n_same++;
	}
	cr_expect_geq(n_same, 5);
}

/* The sample of a row that is translated, with one of its names where it has another. */
static void put_sample(char *out, size_t size, const struct stb_fio_row *r, const char *name, size_t len)
{
	size_t at = 0;

	for (const char *p = r->sample; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, "=\n"), p);
		if (stb_fio_find(word) == r)
			snprintf(word, sizeof(word), "%.*s", (int)len, name);
		at += (size_t)snprintf(out + at, size - at, "%s%.*s\n", word, (int)(strcspn(p, "\n") - strcspn(p, "=\n")), p + strcspn(p, "=\n"));
	}
}

static void expect_translated(const struct stb_fio_row *r, const char *text)
{
	struct imported k;

	import(&k, text);
	cr_expect(!r->expect || spec_has(&k, r->expect), "no `%s` of\n%s\nin\n%s", r->expect, text, stb_buf_str(&k.spec));
	for (uint32_t d = 0; d < k.c.sink.n_diags; d++) {
		const enum stb_code code = k.c.sink.diags[d]->code;

		cr_expect(code != STB_E0801 && code != STB_E0802 && code != STB_E0803 && code != STB_W0801, "%s: %s", text, k.c.sink.diags[d]->text);
	}
	cr_expect_eq(said_errors(&k), 0, "%s: %s", text, k.c.sink.n_diags ? k.c.sink.diags[0]->text : "");
	fini(&k);
}

Test(import_fio, what_is_translated_is_in_the_spec)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		char text[1024], sample[512];

		if (rows[i].fate != STB_FIO_IS_TRANSLATED)
			continue;
		for (const char *p = rows[i].names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
			put_sample(sample, sizeof(sample), &rows[i], p, strcspn(p, " "));
			snprintf(text, sizeof(text), "%s%s", rows[i].sym == STB_FIO_WAIT_FOR || rows[i].sym == STB_FIO_STONEWALL ? base : alone, sample);
			expect_translated(&rows[i], text);
		}
	}
}

static void expect_told(const char *name, const char *text, const char *value, enum stb_code code)
{
	struct imported k;
	char words[300];

	import(&k, text);
	snprintf(words, sizeof(words), "%s=%.*s", name, (int)strcspn(value, "\n"), value);
	cr_expect_eq(said(&k, code), 1 + (strstr(value, "ss_dur") && code == STB_W0801), "%s: %u times %s in\n%s", words, said(&k, code),
		stb_code_info(code)->name, stb_buf_str(&k.spec));
	cr_expect(strstr(stb_buf_str(&k.spec), words), "%s: no comment in\n%s", words, stb_buf_str(&k.spec));
	for (uint32_t d = 0; d < k.c.sink.n_diags; d++)
		cr_expect(k.c.sink.diags[d]->code == code || stb_code_info(k.c.sink.diags[d]->code)->severity != STB_SEV_ERROR, "%s: %s", words,
			k.c.sink.diags[d]->text);
	fini(&k);
}

Test(import_fio, what_is_not_translated_is_told)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		const struct stb_fio_row *r = &rows[i];
		char text[1024];

		if (r->fate == STB_FIO_IS_TRANSLATED)
			continue;
		for (const char *p = r->names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
			snprintf(text, sizeof(text), "%s%s%s=%s\n", base, where_it_matters(r->when), name, r->sample);
			expect_told(name, text, r->sample, r->fate == STB_FIO_IS_REFUSED ? STB_E0801 : STB_W0801);
		}
	}
}

/* At a value that says what holds anyway, and in a job in which it does nothing, it is a note. */
Test(import_fio, what_does_nothing_is_a_note)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		const struct stb_fio_row *r = &rows[i];
		char text[1024];

		if (r->fate == STB_FIO_IS_TRANSLATED)
			continue;
		if (r->neutral) {
			snprintf(text, sizeof(text), "%s%s=%s\n", idle_base, first_name(r), r->neutral);
			expect_told(first_name(r), text, r->neutral, STB_N0801);
		}
		if (r->when != STB_FIO_ALWAYS) {
			snprintf(text, sizeof(text), "%s%s=%.*s\n", idle_base, first_name(r), (int)strcspn(r->sample, "\n"), r->sample);
			expect_told(first_name(r), text, r->sample, STB_N0801);
		}
	}
}

/* A line of [global] is told once, whatever number of jobs has it, and counts where it matters in one of them. */
Test(import_fio, a_global_line_is_told_once)
{
	struct imported k;

	import(&k, "[global]\ndirectory=/srv\nsize=8m\ndedupe_percentage=50\nrwmixread=70\nnrfiles=4\nunlink=0\n"
		   "[a]\nrw=read\nstonewall\n[b]\nrw=write\nstonewall\n[c]\nrw=randwrite\nstonewall\n");
	cr_expect_eq(said(&k, STB_E0801), 2); /* dedupe_percentage, nrfiles */
	cr_expect_eq(said(&k, STB_W0801), 1); /* unlink */
	cr_expect_eq(said(&k, STB_N0801), 1); /* rwmixread: no job mixes */
	fini(&k);
	import(&k, "[global]\ndirectory=/srv\nsize=8m\nrwmixread=70\n[a]\nrw=read\nstonewall\n[b]\nrw=randrw\nstonewall\n");
	cr_expect_eq(said(&k, STB_N0801), 0);
	cr_expect(spec_has(&k, "rwmixread = 70%"));
	cr_expect_eq(said_errors(&k), 0);
	fini(&k);
}

/* Whatever a job is called, its workload has a name that a spec takes, and the spec is right, alone and beside another. */
Test(import_fio, any_name_of_a_job_will_do)
{
	static const char *const names[] = { "read", "write", "sync", "trim", "workload", "true", "none", "10", "-", "\xE6\x97\xA5\xE6\x9C\xAC", "a b",
		"stb.data", "jobs", "all", "together", "read.iops", "io", "matrix", "\"x\"", "${", "read-", "sync!", "server", "iops", "tps", "events", "overlap",
		"lat-p95" };

	for (size_t i = 0; i < STB_LEN(names); i++)
		for (int walls = 0; walls < 2; walls++) {
			struct imported k;
			char text[512];

			snprintf(text, sizeof(text), "[global]\ndirectory=/srv\nsize=1m\n%s[%s]\nrw=write\n[other]\nrw=read\n",
				walls ? "stonewall\n" : "", names[i]);
			import(&k, text);
			cr_expect(k.read && !said_errors(&k), "`%s`: %s", names[i], k.c.sink.n_diags ? k.c.sink.diags[0]->text : "");
			fini(&k);
		}
}

Test(import_fio, more_jobs_at_once_than_a_mix_has_are_told)
{
	struct imported k;
	struct stb_buf text;

	stb_buf_init(&text);
	stb_buf_adds(&text, "[global]\ndirectory=/srv\nsize=1m\n");
	for (int i = 0; i < 8; i++)
		stb_buf_printf(&text, "[job%d]\n", i);
	import(&k, stb_buf_str(&text));
	cr_expect_eq(said_errors(&k), 0, "%s", k.c.sink.n_diags ? k.c.sink.diags[0]->text : "");
	fini(&k);
	stb_buf_adds(&text, "[job8]\n[job9]\n");
	import(&k, stb_buf_str(&text));
	cr_expect_eq(said(&k, STB_E0801), 2);
	cr_expect(spec_has(&k, "run = [job0, job1, job2, job3, job4, job5, job6, job7]"), "%s", stb_buf_str(&k.spec));
	fini(&k);
	stb_buf_fini(&text);
}

Test(import_fio, a_path_that_is_no_text_is_wrong)
{
	struct imported k;

	import(&k, "[a]\ndirectory=/srv/\xff\xfe\nsize=1m\n");
	cr_expect_eq(said(&k, STB_E0803), 1);
	fini(&k);
	import(&k, "[a]\ndirectory=/srv\nfilename=\xff\nsize=1m\n");
	cr_expect_eq(said(&k, STB_E0803), 1);
	fini(&k);
}

Test(import_fio, what_may_be_negative_is_read_as_a_number)
{
	static const struct { const char *line; enum stb_code code; } cases[] = {
		{ "nice=5", STB_E0801 }, { "nice=-5", STB_E0801 }, { "flow=-8", STB_E0801 }, { "nice=--5", STB_E0803 }, { "nice=-", STB_E0803 },
		{ "nrfiles=-4", STB_E0803 },
	};
	struct imported k;

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		char text[128];

		snprintf(text, sizeof text, "[a]\ndirectory=/srv\nsize=1m\n%s\n", cases[i].line);
		import(&k, text);
		cr_expect_eq(said_errors(&k), 1, "%s", cases[i].line);
		cr_expect_eq(said(&k, cases[i].code), 1, "%s", cases[i].line);
		fini(&k);
	}
	import(&k, "[a]\ndirectory=/srv\nsize=1m\nnice=-0\n");
	cr_expect_eq(said_errors(&k), 0);
	fini(&k);
}

struct number_case {
	const char *text;
	enum stb_fio_kind kind;
	uint32_t kb_base;
	int64_t is; /* -1: no number */
};

Test(import_fio, numbers_are_read_as_fio_reads_them)
{
	static const struct number_case cases[] = {
		{ "0", STB_FIO_INT, 1024, 0 }, { "4096", STB_FIO_BYTES, 1024, 4096 }, { "0x1000", STB_FIO_BYTES, 1024, 4096 },
		{ "4k", STB_FIO_BYTES, 1024, 4096 }, { "4K", STB_FIO_BYTES, 1024, 4096 }, { "4kB", STB_FIO_BYTES, 1024, 4096 },
		{ "4Ki", STB_FIO_BYTES, 1024, 4096 }, { "4KiB", STB_FIO_BYTES, 1024, 4000 }, { "1MiB", STB_FIO_BYTES, 1024, 1000000 },
		{ "4k", STB_FIO_BYTES, 1000, 4000 }, { "4kB", STB_FIO_BYTES, 1000, 4000 }, { "4KiB", STB_FIO_BYTES, 1000, 4096 },
		{ "2t", STB_FIO_BYTES, 1024, 2ll << 40 }, { "1p", STB_FIO_BYTES, 1024, 1ll << 50 }, { "7b", STB_FIO_BYTES, 1024, 7 },
		{ "4 k", STB_FIO_BYTES, 1024, -1 }, { "4kfoo", STB_FIO_BYTES, 1024, -1 }, { "k", STB_FIO_BYTES, 1024, -1 }, { "", STB_FIO_BYTES, 1024, -1 },
		{ "0x", STB_FIO_BYTES, 1024, -1 }, { "-1", STB_FIO_INT, 1024, -1 }, { "1.5k", STB_FIO_BYTES, 1024, -1 },
		{ "(1+1)k", STB_FIO_BYTES, 1024, -1 }, { "99999999999999999999", STB_FIO_INT, 1024, -1 }, { "9000000t", STB_FIO_BYTES, 1024, -1 },
		{ "10%", STB_FIO_BYTES, 1024, -1 }, { "1", STB_FIO_BOOL, 1024, 1 }, { "2", STB_FIO_BOOL, 1024, -1 }, { "true", STB_FIO_BOOL, 1024, -1 },
		{ "30", STB_FIO_SECONDS, 1024, 30000000000 }, { "2m", STB_FIO_SECONDS, 1024, 120000000000 }, { "500ms", STB_FIO_SECONDS, 1024, 500000000 },
		{ "1d", STB_FIO_SECONDS, 1024, 86400000000000 }, { "90", STB_FIO_MICROSECONDS, 1024, 90000 }, { "1:30", STB_FIO_SECONDS, 1024, 90000000000 },
		{ "1:00:00", STB_FIO_SECONDS, 1024, 3600000000000 }, { "1:2:3:4:5", STB_FIO_SECONDS, 1024, -1 }, { "1:", STB_FIO_SECONDS, 1024, -1 },
		{ "5k", STB_FIO_SECONDS, 1024, -1 }, { "99999999999d", STB_FIO_SECONDS, 1024, -1 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const struct number_case *c = &cases[i];
		uint64_t n = 0;
		const bool good = stb_fio_number(c->text, c->kind, c->kb_base, &n);

		cr_expect_eq(good, c->is >= 0, "`%s`", c->text);
		cr_expect(!good || (int64_t)n == c->is, "`%s` is %llu", c->text, (unsigned long long)n);
	}
}

Test(import_fio, decimals_in_the_spelling_of_a_spec)
{
	static const char *const cases[][2] = { { "1.2", "1.2" }, { ".5", "0.5" }, { "01.50", "1.50" }, { "3.", "3" }, { "0", "0" }, { "00", "0" },
		{ "", NULL }, { ".", NULL }, { "1.2.3", NULL }, { "1e3", NULL }, { "-1", NULL }, { "12345678901234", NULL } };
	struct stb_arena a;

	stb_arena_init(&a);
	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const char *s = stb_fio_decimal(&a, cases[i][0], strlen(cases[i][0]));

		cr_expect((s == NULL) == (cases[i][1] == NULL), "`%s`", cases[i][0]);
		cr_expect(!s || !cases[i][1] || !strcmp(s, cases[i][1]), "`%s` is `%s`", cases[i][0], s);
	}
	stb_arena_fini(&a);
}

/* Files that fio takes in a way that nobody meant, and files that are no job files. */
Test(import_fio, what_is_no_job_file_is_refused)
{
	static const char *const cases[] = { "", "\n; nothing\n", "bs=4k\n[a]\n", "[a\n", "[]\n", "[", "[a] b\n", "[a]\n=3\n", "[global]\nrw=read\n",
		"[a]\ninclude\n", "[a]\nsize=${STB_NEVER_SET_ANYWHERE}\n", "include x\n[a]\n", "[a]\ninclude /nowhere/at/all\n", "[a]\ninclude /dev/zero\n",
		"[a]\ninclude /tmp\n" };
	char *lines;

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct imported k;

		import(&k, cases[i]);
		cr_expect(said_errors(&k) > 0, "no error about:\n%s", cases[i]);
		cr_expect(!k.read || strstr(cases[i], "include\n"), "read:\n%s", cases[i]);
		fini(&k);
	}
	lines = malloc(16 * 20001 + 8);
	cr_assert(lines);
	strcpy(lines, "[a]\n");
	for (int i = 0; i < 20000; i++)
		strcat(lines + 4 + (size_t)i * 6, "bs=4k\n");
	struct imported k;

	import(&k, lines);
	cr_expect(!k.read);
	cr_expect_eq(said(&k, STB_E0804), 1);
	fini(&k);
	free(lines);
}

/* The line `line` of a job, and how what there was before its comment is told. NULL: as if the comment were not there. */
struct comment_case { const char *line, *same_as, *told; };

/* A comment in every place of a job file. That fio takes them so is seen in the integration tests. */
Test(import_fio, comments_stand_anywhere)
{
	static const struct comment_case cases[] = {
		{ "[t];x", "[t]", NULL }, { "[t]#x", "[t]", NULL }, { " [t] \t; x]", "[t]", NULL }, { "; [x]\n[t]", "[t]", NULL }, { " # [x]\n[t]", "[t]", NULL },
		{ "[t]\n;bs=8k", "[t]", NULL }, { "[t]\n \t#bs=8k", "[t]", NULL }, { "[t]\nbs=8k;bs=4k", "[t]\nbs=8k", NULL },
		{ "[t]\nbs=8k # don't \"quote", "[t]\nbs=8k", NULL }, { "[t]\nfilename=x;y", "[t]\nfilename=x", NULL },
		{ "[t]\nfilename=x#y", "[t]\nfilename=x", NULL }, { "[t]\ntime_based;=0\nruntime=1", "[t]\ntime_based\nruntime=1", NULL },
		{ "[t]\nfilename=x\\;y", "[t]\nfilename=x\\", "`;` begins a comment" }, { "[t]\nfilename=\"x#y\"", "[t]\nfilename=\"x", "`#` begins a comment" },
		{ "[t]\ndescription=5\" disk ; old", "[t]\ndescription=5\" disk", NULL },
		{ "[a]b]", "[a]b]", NULL }, { "[a [b]", "[a [b]", NULL }, { "[a;b]", NULL, "`;` begins a comment in a section's name too; fio would call it ``" },
		{ "[ab#c]", NULL, "`#` begins a comment in a section's name too; fio would call it `a`" }, { "[;b]", NULL, "begins a comment" },
		{ "[ab;", NULL, "section without its `]`" }, { "[ab;c", NULL, "section without its `]`" }, { "[a] ;b]\n[", NULL, "section without its `]`" },
		{ "[t]\nrw;=read", NULL, "it needs a value" }, { "[t]\nsi;ze=1m", NULL, "no option `si`" }, { "[t]\n=;x", NULL, "no name before" },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		static const char head[] = "[global]\ndirectory=/srv\nsize=1m\n";
		struct imported with, without;
		char text[256];

		snprintf(text, sizeof text, "%s%s\n", head, cases[i].line);
		import(&with, text);
		if (cases[i].told)
			cr_expect(with.c.sink.n_diags == 1 && strstr(with.c.sink.diags[0]->text, cases[i].told), "%s: %s", cases[i].line,
				with.c.sink.n_diags ? with.c.sink.diags[0]->text : "nothing is said");
		if (cases[i].same_as) {
			snprintf(text, sizeof text, "%s%s\n", head, cases[i].same_as);
			import(&without, text);
			cr_expect(with.read && without.read, "%s", cases[i].line);
			cr_expect(cases[i].told || with.c.sink.n_diags == without.c.sink.n_diags, "%s: %s", cases[i].line,
				with.c.sink.n_diags ? with.c.sink.diags[0]->text : "");
			if (!cases[i].told)
				cr_expect_str_eq(stb_buf_str(&with.spec), stb_buf_str(&without.spec), "%s", cases[i].line);
			fini(&without);
		} else {
			cr_expect_gt(said_errors(&with), 0, "%s", cases[i].line);
		}
		fini(&with);
	}
}

/* An option that stands alone, of every kind that fio refuses so: it is wrong, and never the default in silence. */
Test(import_fio, what_needs_a_value_has_one)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		const bool flag = rows[i].kind == STB_FIO_FLAG, log = rows[i].kind == STB_FIO_TEXT && rows[i].fate != STB_FIO_IS_TRANSLATED;
		struct imported k;
		char text[256];

		snprintf(text, sizeof text, "%s%s\n", base, first_name(&rows[i]));
		import(&k, text);
		cr_expect_eq(flag || log || said(&k, STB_E0803) == 1, true, "%s", first_name(&rows[i]));
		fini(&k);
	}
}

Test(import_fio, a_long_name_is_told)
{
	char text[400] = "[";
	struct imported k;

	for (size_t n = 254; n <= 255; n++) {
		memset(text + 1, 'x', n);
		strcpy(text + 1 + n, "]\nsize=1m\ndirectory=/srv\n");
		import(&k, text);
		cr_expect_eq(k.read, n == 254);
		fini(&k);
	}
}

Test(import_fio, a_nul_byte_and_a_long_line_are_refused)
{
	struct stb_compilation c;
	struct stb_import im;
	const size_t len = 10 << 20;
	char *text = malloc(len);

	cr_assert(text);
	memset(text, 'x', len);
	memcpy(text, "[a]\n", 4);
	for (int nul = 0; nul < 2; nul++) {
		stb_compilation_init(&c);
		stb_import_init(&im, &c, "fio");
		text[100] = nul ? '\0' : 'x';
		cr_expect(!stb_import_fio_file(&im, stb_sources_add(&c.sources, "t.fio", text, len)));
		cr_expect_eq(c.sink.n_errors, 1);
		cr_expect_eq(c.sink.diags[0]->code, STB_E0804);
		stb_import_fini(&im);
		stb_compilation_fini(&c);
	}
	free(text);
}

static char *write_temporary(const char *dir, const char *name, const char *text)
{
	char *path = NULL;
	FILE *f;

	cr_assert(asprintf(&path, "%s/%s", dir, name) > 0);
	f = fopen(path, "w");
	cr_assert(f);
	fputs(text, f);
	fclose(f);
	return path;
}

Test(import_fio, includes_are_found_beside_the_file_and_may_not_cycle)
{
	char dir[] = "/tmp/stb-import.XXXXXX", *files[3];
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;
	const char *path;

	cr_assert(mkdtemp(dir));
	files[0] = write_temporary(dir, "job.fio", "[a]\ndirectory=/srv\nsize=1m\ninclude common.inc\nrw=write\n");
	files[1] = write_temporary(dir, "common.inc", "bs=8k # shared\ndirect=1\n");
	files[2] = write_temporary(dir, "cycle.fio", "[a]\ninclude cycle.fio\n");
	stb_compilation_init(&c);
	stb_import_init(&im, &c, "fio");
	stb_buf_init(&spec);
	path = files[0];
	cr_expect(stb_import_fio(&im, &path, 1));
	cr_expect(stb_import_finish(&im, &spec));
	cr_expect(strstr(stb_buf_str(&spec), "= 8KiB") && strstr(stb_buf_str(&spec), "direct   = true"), "%s", stb_buf_str(&spec));
	cr_expect_eq(c.sink.n_errors, 0);
	stb_import_fini(&im);
	stb_compilation_fini(&c);
	stb_compilation_init(&c);
	stb_import_init(&im, &c, "fio");
	path = files[2];
	cr_expect(!stb_import_fio(&im, &path, 1));
	cr_expect(strstr(c.sink.diags[0]->text, "includes itself"));
	stb_import_fini(&im);
	stb_compilation_fini(&c);
	stb_buf_fini(&spec);
	for (size_t i = 0; i < STB_LEN(files); i++) {
		cr_expect_eq(remove(files[i]), 0);
		free(files[i]);
	}
	cr_expect_eq(remove(dir), 0);
}

/* --- what fio does with several options together: seen with fio 3.33 under strace and in its own reports ---------------------------------- */

struct account_case {
	const char *lines, *spec; /* a line that the spec has; NULL: it has no iodepth_batch */
	enum stb_code code;       /* said once; STB_N_CODES: nothing is */
};

static void expect_account(const char *job, const struct account_case *c, const char *attr)
{
	struct imported k;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s\n", job, c->lines);
	import(&k, text);
	if (c->spec)
		cr_expect(spec_has(&k, c->spec), "no `%s` of\n%s\nin\n%s", c->spec, c->lines, stb_buf_str(&k.spec));
	else
		cr_expect_null(strstr(stb_buf_str(&k.spec), attr), "%s of\n%s\nin\n%s", attr, c->lines, stb_buf_str(&k.spec));
	for (uint32_t i = 0; i < k.c.sink.n_diags; i++)
		cr_expect_eq(k.c.sink.diags[i]->code, c->code, "%s: %s", c->lines, k.c.sink.diags[i]->text);
	cr_expect_eq(k.c.sink.n_diags, c->code != STB_N_CODES, "%s: %u messages", c->lines, k.c.sink.n_diags);
	fini(&k);
}

Test(import_fio, batches_are_what_fio_makes_of_them)
{
	static const struct account_case cases[] = {
		{ "iodepth=16", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_batch=1", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_batch=8", NULL, STB_N0801 }, /* one completion, so one I/O at a time */
		{ "iodepth=16\niodepth_batch=16\niodepth_batch_complete_max=16", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_batch=0\niodepth_batch_complete_max=16", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_batch_complete_max=16", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_batch=8\niodepth_batch_complete_min=8", "iodepth_batch = 8", STB_N_CODES },
		{ "iodepth=16\niodepth_batch_submit=4\niodepth_batch_complete_min=2", "iodepth_batch = 2", STB_N0801 }, /* never 4 to hand over */
		{ "iodepth=16\niodepth_batch=8\niodepth_batch_complete=8", "iodepth_batch = 8", STB_N_CODES },
		{ "iodepth=16\niodepth_batch=16\niodepth_batch_complete_min=4\niodepth_batch_complete_max=16", "iodepth_batch = 4", STB_N_CODES },
		{ "iodepth=16\niodepth_batch_complete_min=8", "iodepth_batch = 8", STB_W0803 }, /* waits for 8, hands over 8 times 1 */
		{ "iodepth=16\niodepth_batch=4\niodepth_batch_complete_min=8\niodepth_batch_complete_max=16", "iodepth_batch = 8", STB_W0803 },
		{ "iodepth=16\niodepth_batch=16\niodepth_batch_complete_min=99", "iodepth_batch = 16", STB_N_CODES },
		{ "iodepth=16\niodepth_batch_complete_max=8", NULL, STB_W0801 },
		{ "iodepth=16\niodepth_low=16", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_low=0", NULL, STB_N_CODES },
		{ "iodepth=16\niodepth_low=8", "iodepth_batch = 8", STB_W0803 },
		{ "iodepth=16\niodepth_low=8\niodepth_batch=16", "iodepth_batch = 8", STB_N_CODES },
		{ "iodepth=16\niodepth_low=8\niodepth_batch=16\niodepth_batch_complete_min=3", "iodepth_batch = 9", STB_N_CODES },
		{ "iodepth=16\niodepth_batch_complete_min=0", NULL, STB_E0801 },
		{ "iodepth=1\niodepth_batch=8", NULL, STB_N0801 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++)
		expect_account("[t]\ndirectory=/srv\nsize=8m\nrw=randread\nioengine=io_uring\ndirect=1\n", &cases[i], "iodepth_batch =");
}

Test(import_fio, sizes_are_drawn_as_fio_draws_them)
{
	static const struct account_case cases[] = {
		{ "bsrange=4k-16k", "bs_percent = [25%, 25%, 25%, 25%]", STB_N_CODES },
		{ "bsrange=4k:16k", "bs = [4KiB, 8KiB, 12KiB, 16KiB]", STB_N_CODES },
		{ "bsrange=16k-4k", "bs = [4KiB, 8KiB, 12KiB, 16KiB]", STB_N_CODES },
		{ "bsrange=3k-12k", "bs = [3KiB, 6KiB, 9KiB, 12KiB]", STB_N_CODES },
		{ "bsrange=4k-10k", "bs = [4KiB, 8KiB]", STB_E0801 },
		{ "bssplit=4k/50:8k/20", "bs_percent = [80%, 20%]", STB_W0803 },
		{ "bssplit=4k:8k:16k", "bs_percent = [33%, 33%, 34%]", STB_N_CODES },
		{ "bssplit=4k/10:64k/50:32k/40", "bs_percent = [10%, 50%, 40%]", STB_N_CODES },
		{ "bssplit=4k/50:8k/", "bs_percent = [50%, 50%]", STB_N_CODES },
		{ "bssplit=4k/100:8k/0", "bs = 4KiB", STB_N_CODES },
		{ "bssplit=4k/60:8k/60", "bs = 4KiB", STB_E0803 },
		{ "bs=8k,4k", "bs = 8KiB", STB_N_CODES },
		{ "rw=read\nbs=8k-64k", "bs = 8KiB", STB_W0803 },
		{ "rw=write\nbs=4k:8k", "bs = 8KiB", STB_W0803 },
		{ "rw=rw\nbs=8k-64k", "bs = 8KiB", STB_E0801 },
		{ "bs=8k-", "bs = 4KiB", STB_E0803 },
		{ "bs=-8k", "bs = 4KiB", STB_E0803 },
		{ "bs=4k/8k", "bs = 4KiB", STB_E0803 },
		{ "bs=(4*1024)", "bs = 4KiB", STB_E0803 },
		{ "bs=$pagesize", "bs = 4KiB", STB_E0801 },
		{ "random_distribution=normal:10\nrw=randread\nbs=4k", "random_distribution = normal(10%)", STB_W0803 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++)
		expect_account("[t]\ndirectory=/srv\nsize=48m\n", &cases[i], "bs =");
}

/* A section that is called like a device, and names no file, works on the device. */
Test(import_fio, a_section_may_be_called_like_a_device)
{
	struct imported k;

	import(&k, "[/dev/sdb]\nsize=1g\nrw=randread\n");
	cr_expect_eq(said(&k, STB_E0801), 1, "%s", stb_buf_str(&k.spec));
	cr_expect(strstr(stb_buf_str(&k.spec), "storage device sdb"), "%s", stb_buf_str(&k.spec));
	fini(&k);
	import(&k, "[/dev/disk/by-id/nvme-x]\nsize=1g\nrw=randread\n");
	cr_expect_eq(said_errors(&k), 0, "%s", k.c.sink.n_diags ? k.c.sink.diags[0]->text : "");
	fini(&k);
}

/* --- command lines ------------------------------------------------------------------------------------------------------------------------ */

static void import_line(struct imported *k, const char *line)
{
	struct stb_buf spec;

	*k = (struct imported){ 0 };
	stb_compilation_init(&k->c);
	stb_buf_init(&k->spec);
	stb_buf_init(&spec);
	stb_import_init(&k->im, &k->c, "fio");
	k->im.cwd = "/home/somebody";
	k->im.sealed = true;
	k->read = stb_import_fio(&k->im, &line, 1);
	if (k->read)
		cr_expect(stb_import_finish(&k->im, &spec), "no spec comes out of:\n%s", line);
	squeeze(&spec, &k->spec);
	stb_buf_fini(&spec);
}

/* Without the comments at its top: where it came from. */
static const char *blocks(const struct imported *k)
{
	const char *s = strstr(stb_buf_str(&k->spec), "\nstorage");

	return s ? s : stb_buf_str(&k->spec);
}

Test(import_fio, a_command_line_is_the_job_file_it_stands_for)
{
	static const char *const cases[][2] = {
		{ "fio --name=a --directory=/srv --rw=randread --size=1m --ioengine=libaio --direct=1 --iodepth=8",
			"[a]\ndirectory=/srv\nrw=randread\nsize=1m\nioengine=libaio\ndirect=1\niodepth=8\n" },
		{ "fio -directory /srv -size 1m -rw write -bs 8k -name=a\n--name=b --stonewall --bs=4k",
			"[global]\ndirectory=/srv\nsize=1m\nrw=write\nbs=8k\n[a]\n[b]\nstonewall\nbs=4k\n" },
		{ "fio --name=global --directory=/srv --size=1m --name=a --name=b", "[global]\ndirectory=/srv\nsize=1m\n[a]\n[b]\n" },
		{ "fio --name=a --directory=/srv --size=1m; fio --name=b --directory=/srv --size=1m",
			"[a]\ndirectory=/srv\nsize=1m\n[b]\nstonewall\ndirectory=/srv\nsize=1m\n" },
		{ "fio --section=b --directory=/srv --size=1m --name=a --name=b", "[global]\ndirectory=/srv\nsize=1m\n[b]\n" },
		{ "--name=a --directory=/srv --size=1m --filename='a b'", "[a]\ndirectory=/srv\nsize=1m\nfilename=a b\n" },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct imported line, file;

		import_line(&line, cases[i][0]);
		import(&file, cases[i][1]);
		cr_expect(line.read && file.read, "%s", cases[i][0]);
		cr_expect_str_eq(blocks(&line), blocks(&file), "%s", cases[i][0]);
		cr_expect_eq(line.c.sink.n_diags, file.c.sink.n_diags, "%s", cases[i][0]);
		fini(&line);
		fini(&file);
	}
}

Test(import_fio, what_belongs_to_fio_and_the_shell_is_told)
{
	static const struct {
		const char *words;
		enum stb_code code;
		bool read;
	} cases[] = {
		{ "--output=x", STB_W0801, true }, { "--output-format json", STB_W0801, true }, { "--eta=never", STB_W0801, true },
		{ "--client=there", STB_E0801, true }, { "--trigger=reboot", STB_E0801, true }, { "--directory=$HOME", STB_E0803, true },
		{ "--showcmd", STB_E0804, false }, { "--help", STB_E0804, false }, { "--iodeph=3", STB_E0802, true }, { ">log", STB_W0801, true },
		{ "| tee log", STB_W0801, true }, { "--bs=$BS", STB_E0803, true }, { "-", STB_E0804, false }, { "other.fio", STB_E0804, false },
		{ "--name", STB_E0804, false },
	};
	struct imported k;

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		char line[256];

		snprintf(line, sizeof(line), "fio --name=a --size=1m --directory=/srv %s", cases[i].words);
		import_line(&k, line);
		cr_expect_eq(k.read, cases[i].read, "%s", line);
		cr_expect_geq(said(&k, cases[i].code), 1, "%s: %s", line, k.c.sink.n_diags ? k.c.sink.diags[0]->text : "nothing is said");
		fini(&k);
	}
	import_line(&k, "numactl -N 0 fio --name=a --size=1m --directory=/srv");
	cr_expect_eq(said(&k, STB_E0801), 1);
	fini(&k);
	import_line(&k, "fio --size=1m --rw=read");
	cr_expect(!k.read);
	cr_expect_eq(said(&k, STB_E0804), 1);
	fini(&k);
}
