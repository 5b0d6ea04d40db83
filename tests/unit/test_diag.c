/*
 * test_diag.c - the sink and its three formats. Whole outputs are compared.
 */
#include "compiler/diag.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct stb_sources sources;
	struct stb_sink sink;
};

static void begin(struct fixture *f, const char *text)
{
	stb_sources_init(&f->sources);
	stb_sources_add(&f->sources, "specs/x.stb", text, strlen(text));
	stb_sink_init(&f->sink, &f->sources);
}

static void end(struct fixture *f)
{
	stb_sink_fini(&f->sink);
	stb_sources_fini(&f->sources);
}

static char *printed(struct fixture *f, enum stb_diag_format format)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	stb_sink_print(&f->sink, format, out);
	fclose(out);
	char *copy = strdup(text); /* of its own: gcc takes what open_memstream fills for the local */

	free(text);
	return copy;
}

static void expect_printed(struct fixture *f, enum stb_diag_format format, const char *expected)
{
	char *text = printed(f, format);

	cr_expect_str_eq(text, expected);
	free(text);
}

/* The span of the first `word` in the file. */
static struct stb_span at(const struct fixture *f, uint32_t file, const char *word)
{
	const char *bytes = f->sources.files[file].bytes;
	const uint32_t begin_at = (uint32_t)(strstr(bytes, word) - bytes);

	return (struct stb_span){ file, begin_at, begin_at + (uint32_t)strlen(word) };
}

Test(diag, human_form)
{
	struct fixture f;
	struct stb_diag *d;

	begin(&f, "stb 1\n\nworkload io w {\n  iodeph = 4\n}\n");
	d = stb_diag(&f.sink, STB_E0107, at(&f, 0, "iodeph"), "workload io has no attribute `%s`", "iodeph");
	stb_diag_here(&f.sink, d, "did you mean `%s`?", "iodepth");
	stb_diag_label(&f.sink, d, at(&f, 0, "workload"), "in this block");
	stb_diag_help(&f.sink, d, "see `stb explain workload.io`");
	stb_diag_fixit(&f.sink, d, d->span, "iodepth");
	expect_printed(&f, STB_DIAG_HUMAN,
		"error[E0107]: workload io has no attribute `iodeph`\n"
		" --> specs/x.stb:4:3\n"
		"  |\n"
		"3 | workload io w {\n"
		"  | ~~~~~~~~ in this block\n"
		"4 |   iodeph = 4\n"
		"  |   ^^^^^^ did you mean `iodepth`?\n"
		"  |\n"
		"  = help: see `stb explain workload.io`\n"
		"\n");
	end(&f);
}

/* Wide characters take two carets, tabs stay, combining marks take none, control characters do not reach the terminal. */
Test(diag, carets_by_display_width)
{
	struct fixture f;

	begin(&f, "\t標準 = 容量e\xCC\x81 \x1B[2J x\n");
	stb_diag(&f.sink, STB_E0107, at(&f, 0, "容量e\xCC\x81"), "wide \x1B[2J");
	stb_diag(&f.sink, STB_E0107, at(&f, 0, "x"), "after");
	expect_printed(&f, STB_DIAG_HUMAN,
		"error[E0107]: wide \xEF\xBF\xBD[2J\n"
		" --> specs/x.stb:1:16\n"
		"  |\n"
		"1 | \t標準 = 容量e\xCC\x81 \xEF\xBF\xBD[2J x\n"
		"  | \t       ^^^^^\n"
		"\n"
		"error[E0107]: after\n"
		" --> specs/x.stb:1:27\n"
		"  |\n"
		"1 | \t標準 = 容量e\xCC\x81 \xEF\xBF\xBD[2J x\n"
		"  | \t                  ^\n"
		"\n");
	end(&f);
}

Test(diag, other_files_and_gaps)
{
	struct fixture f;
	struct stb_diag *d;
	uint32_t other;

	begin(&f, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
	other = stb_sources_add(&f.sources, "other.stb", "volume q\n", 9);
	d = stb_diag(&f.sink, STB_E0107, at(&f, 0, "k"), "`k` is declared twice");
	stb_diag_label(&f.sink, d, at(&f, other, "q"), "and there");
	stb_diag_label(&f.sink, d, at(&f, 0, "a"), "first here");
	expect_printed(&f, STB_DIAG_HUMAN,
		"error[E0107]: `k` is declared twice\n"
		"  --> specs/x.stb:11:1\n"
		"   |\n"
		" 1 | a\n"
		"   | ~ first here\n"
		"   ...\n"
		"11 | k\n"
		"   | ^\n"
		"   |\n"
		"  ::: other.stb:1:8\n"
		"   |\n"
		" 1 | volume q\n"
		"   |        ~ and there\n"
		"\n");
	end(&f);
}

/* Spans of several lines show the first; spans past the end or without a file do no harm. */
Test(diag, odd_spans)
{
	struct fixture f;

	begin(&f, "ab {\n}\n");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 3, 6 }, "two lines");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 900, 1000 }, "past the end");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 5, 2 }, "backwards");
	stb_diag(&f.sink, STB_E0101, STB_NO_SPAN, "nowhere");
	expect_printed(&f, STB_DIAG_HUMAN,
		"error[E0101]: nowhere\n"
		"\n"
		"error[E0107]: two lines\n"
		" --> specs/x.stb:1:4\n"
		"  |\n"
		"1 | ab {\n"
		"  |    ^\n"
		"\n"
		"error[E0107]: backwards\n"
		" --> specs/x.stb:2:1\n"
		"  |\n"
		"2 | }\n"
		"  | ^\n"
		"\n"
		"error[E0107]: past the end\n"
		" --> specs/x.stb:3:1\n"
		"  |\n"
		"3 |\n"
		"  | ^\n"
		"\n");
	end(&f);
}

Test(diag, sorted_and_without_repetitions)
{
	struct fixture f;
	char *text;

	begin(&f, "abc\n");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 2, 3 }, "third");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 0, 1 }, "second");
	stb_diag(&f.sink, STB_E0103, (struct stb_span){ 0, 0, 1 }, "first");
	stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 2, 3 }, "third");
	text = printed(&f, STB_DIAG_GITHUB);
	cr_expect_str_eq(text,
		"::error file=specs/x.stb,line=1,col=1,endLine=1,endColumn=2,title=E0103::first\n"
		"::error file=specs/x.stb,line=1,col=1,endLine=1,endColumn=2,title=E0107::second\n"
		"::error file=specs/x.stb,line=1,col=3,endLine=1,endColumn=4,title=E0107::third\n");
	free(text);
	end(&f);
}

/* A workflow command must not be ended or forged by what a spec holds. */
Test(diag, github_escapes)
{
	struct fixture f;
	struct stb_diag *d;
	uint32_t file;

	begin(&f, "x\n");
	file = stb_sources_add(&f.sources, "a,b:c%.stb", "x\n", 2);
	d = stb_diag(&f.sink, STB_E0107, (struct stb_span){ file, 0, 1 }, "50%% of\r\n::error::forged");
	stb_diag_here(&f.sink, d, "a, b: c");
	stb_diag_note(&f.sink, d, "n");
	expect_printed(&f, STB_DIAG_GITHUB,
		"::error file=a%2Cb%3Ac%25.stb,line=1,col=1,endLine=1,endColumn=2,title=E0107::"
		"50%25 of\xEF\xBF\xBD\xEF\xBF\xBD::error::forged: a, b: c%0Anote: n\n");
	end(&f);
}

Test(diag, json_is_valid_whatever_is_quoted)
{
	struct fixture f;
	struct stb_diag *d;
	json_t *array, *j;
	char *text;

	begin(&f, "a \xFF \"x\"\n");
	d = stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 2, 3 }, "byte \xFF and \x01 and \"quotes\"");
	stb_diag_label(&f.sink, d, (struct stb_span){ 0, 4, 7 }, "there");
	stb_diag_help(&f.sink, d, "h");
	stb_diag_fixit(&f.sink, d, d->span, "%s", "");
	stb_diag(&f.sink, STB_E0101, STB_NO_SPAN, "nowhere");
	text = printed(&f, STB_DIAG_JSON);
	array = json_loads(text, 0, NULL);
	cr_assert(json_is_array(array));
	cr_assert_eq(json_array_size(array), 2);
	cr_expect(json_is_null(json_object_get(json_array_get(array, 0), "file")));
	j = json_array_get(array, 1);
	cr_expect_str_eq(json_string_value(json_object_get(j, "code")), "E0107");
	cr_expect_str_eq(json_string_value(json_object_get(j, "severity")), "error");
	cr_expect_str_eq(json_string_value(json_object_get(j, "message")), "byte \xEF\xBF\xBD and \xEF\xBF\xBD and \"quotes\"");
	cr_expect_eq(json_integer_value(json_object_get(j, "column")), 3);
	cr_expect_eq(json_integer_value(json_object_get(j, "end_column")), 4);
	cr_expect(json_is_null(json_object_get(j, "label")));
	cr_expect_eq(json_array_size(json_object_get(j, "labels")), 1);
	cr_expect_eq(json_array_size(json_object_get(j, "notes")), 1);
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(j, "fixits"), 0), "text")), "");
	json_decref(array);
	free(text);
	end(&f);
}

Test(diag, an_empty_sink)
{
	struct fixture f;

	begin(&f, "x");
	expect_printed(&f, STB_DIAG_HUMAN, "");
	expect_printed(&f, STB_DIAG_JSON, "[]\n");
	expect_printed(&f, STB_DIAG_GITHUB, "");
	char *text = printed(&f, STB_DIAG_SARIF);
	json_t *log = json_loads(text, 0, NULL);

	cr_expect_eq(json_array_size(json_object_get(json_array_get(json_object_get(log, "runs"), 0), "results")), 0);
	cr_expect(json_is_array(json_object_get(json_array_get(json_object_get(log, "runs"), 0), "results")));
	json_decref(log);
	free(text);
	end(&f);
}

/* A masked literal shows in no format: not in its line, not in another diagnostic's line, not in a message that quotes it. */
Test(diag, secrets_stay_masked)
{
	struct fixture f;
	struct stb_diag *d;

	begin(&f, "password = \"hunter2\" 3\n");
	d = stb_diag(&f.sink, STB_E0107, at(&f, 0, "\"hunter2\""), "`hunter2` is a literal");
	d->mask = d->span;
	stb_diag_fixit(&f.sink, d, d->span, "hunter2");
	d = stb_diag(&f.sink, STB_E0107, at(&f, 0, "3"), "unexpected `3`");
	stb_diag_note(&f.sink, d, "after hunter2");
	stb_diag_label(&f.sink, d, at(&f, 0, "hunter2"), "hunter2!");
	for (int format = STB_DIAG_HUMAN; format <= STB_DIAG_SARIF; format++) {
		char *text = printed(&f, (enum stb_diag_format)format);

		cr_expect_null(strstr(text, "hunter"), "format %d shows it:\n%s", format, text);
		cr_expect(strstr(text, "***"));
		free(text);
	}
	expect_printed(&f, STB_DIAG_HUMAN,
		"error[E0107]: `***` is a literal\n"
		" --> specs/x.stb:1:12\n"
		"  |\n"
		"1 | password = *** 3\n"
		"  |            ^^^\n"
		"\n"
		"error[E0107]: unexpected `3`\n"
		" --> specs/x.stb:1:22\n"
		"  |\n"
		"1 | password = *** 3\n"
		"  |            ~~~ ***!\n"
		"  |                ^\n"
		"  |\n"
		"  = note: after ***\n"
		"\n");
	end(&f);
}

Test(diag, the_hundredth_error_is_the_last)
{
	struct fixture f;
	char *text;

	begin(&f, "x\n");
	for (int i = 0; i < STB_DIAG_MAX_ERRORS + 50; i++) {
		struct stb_diag *d = stb_diag(&f.sink, STB_E0107, (struct stb_span){ 0, 0, 1 }, "number %d", i);

		stb_diag_here(&f.sink, d, "here");
		stb_diag_label(&f.sink, d, STB_NO_SPAN, "label");
		stb_diag_note(&f.sink, d, "note");
		stb_diag_fixit(&f.sink, d, STB_NO_SPAN, "fix");
	}
	cr_expect_eq(f.sink.n_errors, STB_DIAG_MAX_ERRORS + 50);
	cr_expect_eq(f.sink.n_diags, STB_DIAG_MAX_ERRORS);
	cr_expect_eq(f.sink.n_dropped, 50);
	text = printed(&f, STB_DIAG_GITHUB);
	cr_expect_null(strstr(text, "number 100"));
	cr_expect(strstr(text, "title=E0115::"));
	free(text);
	end(&f);
}

Test(diag, long_lines_are_clipped_around_the_span)
{
	char line[4096] = { 0 };
	struct fixture f;
	char *text, *shown;

	memset(line, 'a', 4000);
	memcpy(line + 3000, " HERE ", 6);
	begin(&f, line);
	stb_diag(&f.sink, STB_E0107, at(&f, 0, "HERE"), "m");
	text = printed(&f, STB_DIAG_HUMAN);
	shown = strstr(text, "1 | ");
	cr_assert(shown);
	cr_expect_lt(strcspn(shown, "\n"), 130);
	cr_expect(strstr(shown, "HERE"));
	/* the caret is under the span: one column of the ellipsis is three bytes */
	char *carets = strchr(shown, '\n') + 1;

	cr_expect_eq(strcspn(carets, "^"), (size_t)(strstr(shown, "HERE") - shown) - 2);
	free(text);
	end(&f);
}

Test(diag, nearest)
{
	static const char *const names[] = { "iodepth", "iodepth_batch", "bs", "rw", "runtime", "ramp_time", "size", "sync" };
	static const char *const cases[][2] = {
		{ "iodeph", "iodepth" }, { "io_depth", "iodepth" }, { "iodpeth", "iodepth" }, { "IODEPTH", "iodepth" },
		{ "ramp-time", "ramp_time" }, { "runtimes", "runtime" }, { "sise", "size" }, { "BS", "bs" },
		{ "bw", NULL }, { "x", NULL }, { "", NULL }, { "completely_else", NULL }, { "sz", NULL },
	};
	char longest[300];

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const char *found = stb_nearest(cases[i][0], names, STB_LEN(names));

		cr_expect(found == cases[i][1] || (found && cases[i][1] && !strcmp(found, cases[i][1])), "%s is near %s", cases[i][0],
			found ? found : "nothing");
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	cr_expect_null(stb_nearest(longest, names, STB_LEN(names)));
	cr_expect_null(stb_nearest("size", names, 0));
}

/* Every code: unique, named by the pattern, with a title that is a phrase and an explanation that is sentences. */
Test(diag, the_table_of_codes)
{
	enum stb_code found;

	for (int i = 0; i < STB_N_CODES; i++) {
		const struct stb_code_info *info = stb_code_info((enum stb_code)i);

		cr_expect(stb_code_find(info->name, &found) && (int)found == i, "%s is there twice", info->name);
		cr_expect(strlen(info->name) == 5 && strchr("EWN", info->name[0]) && strspn(info->name + 1, "0123456789") == 4, "%s", info->name);
		cr_expect((info->severity == STB_SEV_ERROR) == (info->name[0] == 'E'), "%s", info->name);
		cr_expect(*info->title && info->title[strlen(info->title) - 1] != '.', "%s", info->name);
		cr_expect(strlen(info->explain) > 40 && info->explain[strlen(info->explain) - 1] == '.', "%s", info->name);
	}
	cr_expect(stb_code_find("e0107", &found));
	cr_expect_not(stb_code_find("E9999", &found));
}
