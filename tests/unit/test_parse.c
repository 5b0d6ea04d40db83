/*
 * test_parse.c - the parser: trees and syntax errors by golden files, limits and entry points by hand.
 */
#include "compiler/parse.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct stb_sources sources;
	struct stb_sink sink;
	struct stb_arena arena;
};

static void begin(struct fixture *f)
{
	stb_sources_init(&f->sources);
	stb_sink_init(&f->sink, &f->sources);
	stb_arena_init(&f->arena);
}

static void end(struct fixture *f)
{
	stb_arena_fini(&f->arena);
	stb_sink_fini(&f->sink);
	stb_sources_fini(&f->sources);
}

static struct stb_ast *parse(struct fixture *f, const char *text, size_t len)
{
	return stb_parse(&f->arena, &f->sources, stb_sources_add(&f->sources, "x.stb", text, len), &f->sink);
}

static uint32_t load(struct fixture *f, const char *path, const char *name)
{
	uint32_t file = 0;
	int err;

	cr_assert_eq(stb_sources_load(&f->sources, path, name, &file, &err), STB_SOURCE_OK, "%s cannot be read", path);
	return file;
}

static void print_tree(const char *path, const char *name, FILE *out)
{
	struct fixture f;

	begin(&f);
	stb_ast_print(stb_parse(&f.arena, &f.sources, load(&f, path, name), &f.sink), &f.sources, out);
	end(&f);
}

static void print_diagnostics(const char *path, const char *name, FILE *out)
{
	struct fixture f;

	begin(&f);
	stb_parse(&f.arena, &f.sources, load(&f, path, name), &f.sink);
	stb_sink_print(&f.sink, STB_DIAG_HUMAN, out);
	end(&f);
}

Test(parse, golden_trees)
{
	cr_expect_geq(golden_dir("tests/golden/ast", "ast", print_tree), 8);
}

Test(parse, golden_errors)
{
	cr_expect_geq(golden_dir("tests/golden/syntax", "diag", print_diagnostics), 30);
}

/* Every code of this room has a wrong spec that shows it (E0101 is the caller's). */
Test(parse, every_syntax_code_has_a_golden)
{
	for (int i = 0; i < STB_N_CODES; i++) {
		const char *name = stb_code_info((enum stb_code)i)->name;
		char command[128];

		if (strncmp(name, "E01", 3) || !strcmp(name, "E0101"))
			continue;
		snprintf(command, sizeof(command), "grep -q 'error\\[%s\\]' tests/golden/syntax/*.diag", name);
		cr_expect_eq(system(command), 0, "no golden file shows %s", name);
	}
}

/* What is legal stays legal, however odd it looks. */
Test(parse, legal_oddities)
{
	static const char *const texts[] = {
		"stb 1 a{b=c d=e}",
		"stb 1 a{x=\n b\n y=3}",
		"stb 1 a{x = max\n(1, 2) y = [\n\n1\n,\n]}",
		"stb 1 a{max = 5 min = 3 s = 4 d = 5 h = 6}",
		"stb 1 a{x = 30 s = 4}",
		"stb 1 a{x = 30 min.y = 4 B { }}",
		"stb 1 a{x = 10/size y = 10/s z = 3 / s}",
		"stb 1 a{x = 97%..* y = *..3 z = 1..2}",
		"stb 1 a{x = -1 - -2 y = a-b}",
		"stb 1 let _ = 3 a _ {}",
		"stb 1 a{x = \"// /* ' # \"}",
		"\xEF\xBB\xBFstb 1\r\n",
		"#!/usr/bin/stb\n\n# x\nstb 1",
	};

	for (size_t i = 0; i < STB_LEN(texts); i++) {
		struct fixture f;

		begin(&f);
		parse(&f, texts[i], strlen(texts[i]));
		cr_expect_eq(f.sink.n_errors, 0, "`%s` is legal", texts[i]);
		end(&f);
	}
}

/* n bytes of one text over and over behind a beginning: few diagnostics, and soon. */
static uint32_t errors_of_many(const char *start, const char *unit, size_t n)
{
	const size_t head = strlen(start), len = strlen(unit);
	char *text = malloc(head + n);
	struct fixture f;
	uint32_t errors;

	memcpy(text, start, head);
	for (size_t i = 0; i < n; i++)
		text[head + i] = unit[i % len];
	begin(&f);
	parse(&f, text, head + n);
	errors = f.sink.n_errors;
	cr_expect_leq(f.sink.n_diags, STB_DIAG_MAX_ERRORS);
	end(&f);
	free(text);
	return errors;
}

Test(parse, ten_megabytes_of_nonsense)
{
#ifdef STB_SANITIZE
	const size_t n = 1 << 20;
#else
	const size_t n = 10 << 20;
#endif

	cr_expect_eq(errors_of_many("", "{", n), 1);
	cr_expect_eq(errors_of_many("stb 1\n", "a{", n), 1);
	cr_expect_eq(errors_of_many("stb 1\na { b = ", "[", n), 1);
	cr_expect_eq(errors_of_many("stb 1\na { b = ", "(", n), 1);
	cr_expect_eq(errors_of_many("stb 1\na { b = ", "-", n), 1);
	cr_expect_eq(errors_of_many("stb 1\na { b = 1", "+1", n), 1);
	cr_expect_eq(errors_of_many("stb 1\n", "}", n), 1);
	cr_expect_leq(errors_of_many("stb 1\n* ", "//", n), 2);
	cr_expect_leq(errors_of_many("stb 1\n* ", "=//a", n), 3);
	cr_expect_leq(errors_of_many("stb 1\n* ", "/*/", n), 3);
	cr_expect_leq(errors_of_many("stb 1\n* ", "\xEF\xBC\x8C", n), 2);
	cr_expect_leq(errors_of_many("stb 1\na = ", "\xE2\x80\x9C", n), 3);
	cr_expect_leq(errors_of_many("stb 1\na = ", "a.", n), 3);
}

Test(parse, ten_megabytes_of_nul)
{
	char *text = calloc(1, 10 << 20);
	struct fixture f;

	begin(&f);
	parse(&f, text, 10 << 20);
	cr_expect_eq(f.sink.n_errors, 1);
	end(&f);
	free(text);
}

/* Nesting up to the limit is fine, one more is one diagnostic. */
Test(parse, depth_is_exact)
{
	for (int extra = 0; extra <= 1; extra++) {
		const int n = STB_AST_MAX_DEPTH + extra;
		struct fixture f;
		struct stb_buf b;

		stb_buf_init(&b);
		stb_buf_adds(&b, "stb 1\n");
		for (int i = 0; i < n; i++)
			stb_buf_adds(&b, "a {\n");
		stb_buf_fill(&b, '}', (size_t)n);
		begin(&f);
		parse(&f, stb_buf_str(&b), b.len);
		cr_expect_eq(f.sink.n_errors, (uint32_t)extra);
		end(&f);
		stb_buf_fini(&b);
	}
}

static struct stb_node *value_of(struct fixture *f, const char *text)
{
	return stb_parse_value(&f->arena, &f->sources, stb_sources_add(&f->sources, "--set", text, strlen(text)), &f->sink);
}

Test(parse, one_value)
{
	static const char *const wrong[] = { "", "3 4", "/data", "[1,", "a = 3", "{", "}", "4k", "\"x", "# only a comment" };
	struct fixture f;
	struct stb_node *n;

	begin(&f);
	n = value_of(&f, "4KiB");
	cr_assert(n);
	cr_expect_eq(n->kind, STB_N_QUANTITY);
	cr_expect_eq(n->num.num, 4096);
	n = value_of(&f, "[a, \"b\"]");
	cr_assert(n);
	cr_expect_eq(n->n_items, 2);
	cr_expect_eq(f.sink.n_errors, 0);
	for (size_t i = 0; i < STB_LEN(wrong); i++)
		cr_expect_null(value_of(&f, wrong[i]), "`%s` is no value", wrong[i]);
	cr_expect_geq(f.sink.n_errors, STB_LEN(wrong));
	end(&f);
}

Test(parse, one_selector)
{
	static const char *const wrong[] = { "a", "a = ", "a { b = 3 }", "threads > 3", "a = 3 }", "a = [b", "let a = 3" };
	struct fixture f;
	struct stb_stmt **list;
	uint32_t n;

	begin(&f);
	const char *text = "server = small4  threads = 64..256";

	list = stb_parse_selector(&f.arena, &f.sources, stb_sources_add(&f.sources, "--only", text, strlen(text)), &f.sink, &n);
	cr_assert(list);
	cr_assert_eq(n, 2);
	cr_expect_str_eq(list[1]->path->text, "threads");
	cr_expect_eq(list[1]->value->kind, STB_N_RANGE);
	list = stb_parse_selector(&f.arena, &f.sources, stb_sources_add(&f.sources, "--only", "", 0), &f.sink, &n);
	cr_expect(list && n == 0, "an empty selector selects all");
	for (size_t i = 0; i < STB_LEN(wrong); i++) {
		const uint32_t file = stb_sources_add(&f.sources, "--only", wrong[i], strlen(wrong[i]));

		cr_expect_null(stb_parse_selector(&f.arena, &f.sources, file, &f.sink, &n), "`%s` is no selector", wrong[i]);
	}
	end(&f);
}

/* Every token that stands for a value brings its node, also a sign without a meaning: a tree of it can be printed. */
Test(parse, what_is_no_value_still_has_a_node)
{
	static const char *const values[] = { "-~/x", "- ~", "1 + ~", "[a ~]", "--~/x\r--0", "(~)", "a / ~", "~..1", "1..~", "zipf(1 ~)" };

	for (size_t i = 0; i < STB_LEN(values); i++) {
		struct fixture f;
		char text[64], *tree = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&tree, &len);

		begin(&f);
		snprintf(text, sizeof(text), "stb 1\nvolume a {\n  x = %s\n}\n", values[i]);
		stb_ast_print(parse(&f, text, strlen(text)), &f.sources, out);
		fclose(out);
		cr_expect_gt(f.sink.n_errors, 0, "`%s` is reported", values[i]);
		cr_expect_null(strstr(tree, "(null)"));
		free(tree);
		end(&f);
	}
}

/* A spec cut off at any byte gives a tree or diagnostics; inside of an open block never silence. */
Test(parse, every_truncation)
{
	struct fixture whole;
	const struct stb_source_file *file;
	uint32_t last_block, number;

	begin(&whole);
	number = load(&whole, "tests/golden/ast/grammar.stb", NULL);
	file = &whole.sources.files[number];
	last_block = (uint32_t)(strstr(file->bytes, "* {") + 3 - file->bytes);
	cr_assert(strrchr(file->bytes, '}') == file->bytes + file->len - 2);
	for (uint32_t len = 0; len < file->len; len++) {
		char *copy = malloc(len + 1);
		struct fixture f;

		memcpy(copy, file->bytes, len);
		begin(&f);
		parse(&f, copy, len);
		if (len >= last_block && len < file->len - 1)
			cr_expect_gt(f.sink.n_errors, 0, "cut at byte %u", len);
		end(&f);
		free(copy);
	}
	end(&whole);
}
