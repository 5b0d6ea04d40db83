/*
 * test_import_fio.c - the table of fio's options, walked: each row is translated as it says, or told as it says; and values as fio reads them.
 */
#include "compiler/import_fio.h"

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

Test(import_fio, what_is_translated_is_in_the_spec)
{
	uint32_t n;
	const struct stb_fio_row *rows = stb_fio_rows(&n);

	for (uint32_t i = 0; i < n; i++) {
		struct imported k;
		char text[1024];

		if (rows[i].fate != STB_FIO_IS_TRANSLATED)
			continue;
		snprintf(text, sizeof(text), "%s%s\n", rows[i].sym == STB_FIO_WAIT_FOR || rows[i].sym == STB_FIO_STONEWALL ? base : alone,
			rows[i].sample);
		import(&k, text);
		cr_expect(!rows[i].expect || spec_has(&k, rows[i].expect), "%s: no `%s` in\n%s", first_name(&rows[i]), rows[i].expect,
			stb_buf_str(&k.spec));
		for (uint32_t d = 0; d < k.c.sink.n_diags; d++) {
			const enum stb_code code = k.c.sink.diags[d]->code;

			cr_expect(code != STB_E0801 && code != STB_E0802 && code != STB_E0803 && code != STB_W0801, "%s: %s", first_name(&rows[i]),
				k.c.sink.diags[d]->text);
		}
		cr_expect_eq(said_errors(&k), 0, "%s: %s", first_name(&rows[i]), k.c.sink.n_diags ? k.c.sink.diags[0]->text : "");
		fini(&k);
	}
}

static void expect_told(const struct stb_fio_row *r, const char *text, const char *value, enum stb_code code)
{
	struct imported k;
	char words[300];

	import(&k, text);
	snprintf(words, sizeof(words), "%s=%.*s", first_name(r), (int)strcspn(value, "\n"), value);
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
		snprintf(text, sizeof(text), "%s%s%s=%s\n", base, where_it_matters(r->when), first_name(r), r->sample);
		expect_told(r, text, r->sample, r->fate == STB_FIO_IS_REFUSED ? STB_E0801 : STB_W0801);
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
			expect_told(r, text, r->neutral, STB_N0801);
		}
		if (r->when != STB_FIO_ALWAYS) {
			snprintf(text, sizeof(text), "%s%s=%.*s\n", idle_base, first_name(r), (int)strcspn(r->sample, "\n"), r->sample);
			expect_told(r, text, r->sample, STB_N0801);
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
		"stb.data", "jobs", "all", "together", "read.iops", "io", "matrix", "\"x\"", "${" };

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
	static const char *const cases[] = { "", "\n; nothing\n", "bs=4k\n[a]\n", "[a\n", "[]\n", "[a] b\n", "[a]\n=3\n", "[global]\nrw=read\n",
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
