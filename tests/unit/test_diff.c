/*
 * test_diff.c - what a change means. Goldens: NAME.old against NAME.stb, as text, Markdown and JSON.
 */
#include "compiler/compile.h"
#include "compiler/diff.h"
#include "compiler/driver/diff_print.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct sides {
	struct stb_compilation old, new;
	struct stb_plan *before, *after;
	struct stb_diff *d;
};

static struct stb_plan *plan_of(struct stb_compilation *c, const char *path)
{
	struct stb_plan *p;

	stb_compilation_init(c);
	p = stb_compile_file(c, path, NULL);
	if (!p)
		stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
	cr_assert(p, "%s has errors", path);
	return p;
}

static void compare_files(struct sides *s, const char *path)
{
	char old[512];

	snprintf(old, sizeof(old), "%.*s.old", (int)(strlen(path) - 4), path);
	s->before = plan_of(&s->old, old);
	s->after = plan_of(&s->new, path);
	s->d = stb_diff_plans(s->before, s->after);
}

static void close_sides(struct sides *s)
{
	stb_diff_free(s->d);
	stb_plan_free(s->before);
	stb_plan_free(s->after);
	stb_compilation_fini(&s->old);
	stb_compilation_fini(&s->new);
}

static void print_as(const char *path, FILE *out, enum stb_diff_format format)
{
	struct sides s;

	compare_files(&s, path);
	stb_diff_print(s.d, "old.stb", "new.stb", format, out);
	close_sides(&s);
}

static void print_text(const char *path, const char *name, FILE *out)
{
	(void)name;
	print_as(path, out, STB_DIFF_TEXT);
}

static void print_markdown(const char *path, const char *name, FILE *out)
{
	(void)name;
	print_as(path, out, STB_DIFF_MARKDOWN);
}

static void print_json(const char *path, const char *name, FILE *out)
{
	(void)name;
	print_as(path, out, STB_DIFF_JSON);
}

Test(diff, goldens)
{
	cr_expect_geq(golden_dir("tests/golden/diff", "text", print_text), 15);
	cr_expect_geq(golden_dir("tests/golden/diff", "md", print_markdown), 15);
	cr_expect_geq(golden_dir("tests/golden/diff", "json", print_json), 15);
}

Test(diff, form_alone_is_no_change)
{
	static const char *const same[] = { "reformat", "moved_block", "default_stated" };

	for (size_t i = 0; i < STB_LEN(same); i++) {
		char path[100];
		struct sides s;

		snprintf(path, sizeof(path), "tests/golden/diff/%s.stb", same[i]);
		compare_files(&s, path);
		cr_expect_eq(s.d->n_lines, 0, "%s", same[i]);
		cr_expect_eq(s.d->n_kept, s.after->n_cells, "%s", same[i]);
		cr_expect_eq(s.d->n_added + s.d->n_gone + s.d->n_changed, 0, "%s", same[i]);
		close_sides(&s);
	}
}

Test(diff, one_line_of_a_spec_is_one_line_of_output)
{
	struct sides s;

	compare_files(&s, "tests/golden/diff/one_line_300_cells.stb");
	cr_assert_eq(s.d->n_lines, 1);
	cr_expect_eq(s.d->lines[0].n_cells, 300);
	cr_expect_str_eq(s.d->lines[0].before, "4KiB");
	cr_expect_str_eq(s.d->lines[0].after, "8KiB");
	cr_expect_eq(s.d->n_kept, s.after->n_cells - 300);
	close_sides(&s);
	compare_files(&s, "tests/golden/diff/storage_options_reach_volumes.stb");
	cr_expect_eq(s.d->n_lines, 1, "a class's options are said once, not once more for each volume");
	close_sides(&s);
}

Test(diff, an_address_keeps_results)
{
	struct sides s;

	compare_files(&s, "tests/golden/diff/address.stb");
	cr_assert_eq(s.d->n_lines, 1);
	cr_expect(s.d->lines[0].address);
	cr_expect_eq(s.d->n_kept, s.after->n_cells);
	close_sides(&s);
}

/* Nothing that a forge would link, call or run comes through. */
Test(diff, a_comment_on_a_pull_request_is_harmless)
{
	struct sides s;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	compare_files(&s, "tests/golden/diff/hostile_texts.stb");
	stb_diff_print(s.d, "main:x.stb", "@me/www.example.org:x.stb", STB_DIFF_MARKDOWN, out);
	fclose(out);
	for (const char *p = text; *p; p++) {
		cr_expect(*p != '@' || !strncmp(p + 1, "\xE2\x80\x8B", 3), "somebody is called: %.20s", p);
		cr_expect(strncmp(p, "://", 3), "a link: %.20s", p);
		cr_expect(strncmp(p, "www.", 4), "a link: %.20s", p);
		cr_expect(*p != '<', "HTML: %.20s", p);
		cr_expect(*p != '#' || p[1] < '0' || p[1] > '9', "a reference: %.20s", p);
		cr_expect(*p != '\033', "a control character");
	}
	free(text);
	close_sides(&s);
}
