/*
 * test_docs.c - examples in Markdown files are true: every ```stb block is compiled, every excerpt stands where it says.
 *
 * How a block is compiled is said in grammar/README.md ("Examples in documents").
 */
#include "compiler/compile.h"

#include <criterion/criterion.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

struct comment { /* what stands in <!-- ... --> on the line before a block */
	char prelude[200], expect[16], excerpt[200];
};

static char *contents(const char *path)
{
	char *text = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "r");

	cr_assert(f, "cannot read %s", path);
	if (getdelim(&text, &cap, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

static bool read_comment(const char *line, size_t len, struct comment *c)
{
	char text[256];

	if (len >= sizeof(text) || strncmp(line, "<!-- ", 5))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	return sscanf(text, "<!-- prelude: %199s -->", c->prelude) == 1 || sscanf(text, "<!-- expect: %15s -->", c->expect) == 1 ||
	       sscanf(text, "<!-- excerpt: %199s -->", c->excerpt) == 1;
}

static void expect_codes(const struct stb_compilation *c, const char *code, const char *where)
{
	bool found = false;

	for (uint32_t i = 0; i < c->sink.n_diags; i++) {
		const struct stb_code_info *info = stb_code_info(c->sink.diags[i]->code);

		found |= !strcmp(info->name, code);
		cr_expect(!strcmp(info->name, code) || info->severity == STB_SEV_NOTE, "%s: %s: %s", where, info->name, c->sink.diags[i]->text);
	}
	cr_expect(found || !*code, "%s: no %s", where, code);
}

/* A workload that no cell uses is not judged by the rules: a fragment without a matrix gets one that takes its workloads. */
static char *with_matrix(const char *text)
{
	struct stb_buf names, all;
	char *result;

	stb_buf_init(&names);
	stb_buf_init(&all);
	for (const char *p = text; (p = strstr(p, "workload ")); p++) {
		char type[32], name[64];

		if ((p == text || p[-1] == '\n') && sscanf(p, "workload %31s %63s {", type, name) == 2)
			stb_buf_printf(&names, "%s%s", names.len ? ", " : "", name);
	}
	stb_buf_adds(&all, text);
	if (names.len && !strstr(text, "\nmatrix "))
		stb_buf_printf(&all, "\nmatrix of_the_example {\n  storage = [disk]\n  workload = [%s]\n}\n", stb_buf_str(&names));
	stb_buf_fini(&names);
	result = stb_buf_take(&all);
	return result;
}

static void compile_block(const char *text, const struct comment *how, const char *where)
{
	const bool whole = !strncmp(text, "stb 1", 5);
	char *prelude = whole ? strdup("") : contents(*how->prelude ? how->prelude : "grammar/prelude.stb");
	char *body = whole ? strdup(text) : with_matrix(text), *all;
	struct stb_compile_options o = { .check_profiles = true };
	struct stb_compilation c;

	cr_assert(asprintf(&all, "%s%s", prelude, body) >= 0);
	stb_compilation_init(&c);

	struct stb_plan *p = stb_compile_bytes(&c, where, all, strlen(all), &o);

	expect_codes(&c, how->expect, where);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	free(prelude), free(body), free(all);
}

static void compare_excerpt(const char *text, const char *path, const char *where)
{
	char *file = contents(path);

	cr_expect(strstr(file, text), "%s is not in %s as it stands", where, path);
	free(file);
}

/* Returns the number of blocks that were looked at. */
static unsigned check_document(const char *path)
{
	char *text = contents(path), where[600];
	struct comment how = { 0 };
	unsigned line = 0, n = 0;

	for (char *p = text, *next; *p; p = next) {
		const size_t len = strcspn(p, "\n");
		char *end;

		next = p + len + (p[len] == '\n');
		line++;
		if (strncmp(p, "```", 3)) {
			if (!read_comment(p, len, &how))
				how = (struct comment){ 0 };
			continue;
		}
		for (end = next; *end && strncmp(end, "```", 3); end += strcspn(end, "\n"), end += *end == '\n')
			;
		cr_assert(*end, "%s:%u: a block without an end", path, line);
		snprintf(where, sizeof(where), "%s:%u", path, line);

		char *block = strndup(next, (size_t)(end - next));

		if (*how.excerpt)
			compare_excerpt(block, how.excerpt, where);
		if (len == 6 && !memcmp(p, "```stb", 6))
			compile_block(block, &how, where);
		n += *how.excerpt || (len == 6 && !memcmp(p, "```stb", 6));
		for (const char *b = p; b < end; b++)
			line += *b == '\n';
		next = end + strcspn(end, "\n");
		next += *next == '\n';
		how = (struct comment){ 0 };
		free(block);
	}
	free(text);
	return n;
}

Test(docs, every_example_compiles)
{
	char *const roots[] = { (char[]){ "." }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	unsigned n = 0;

	cr_assert_not_null(tree);
	for (FTSENT *e; (e = fts_read(tree));) {
		if (e->fts_info == FTS_D && e->fts_level > 0 && (e->fts_name[0] == '.' || !strcmp(e->fts_path, "./build") ||
			!strncmp(e->fts_name, "stb-run-", 8) || !strncmp(e->fts_name, "demo-run", 8)))
			fts_set(tree, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && e->fts_namelen > 3 && !strcmp(e->fts_name + e->fts_namelen - 3, ".md"))
			n += check_document(e->fts_path + 2);
	}
	fts_close(tree);
	cr_expect_geq(n, 5); /* README.md 1, preface and README of the grammar 3 each */
}
