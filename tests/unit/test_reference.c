/* test_reference.c - what is generated from the tables: complete, and what is kept of it in the repository current. */
#include "compiler/driver/reference.h"
#include "compiler/reference.h"
#include "compiler/rule.h"
#include "runtime/base/metric.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(out);
	fclose(out);
	return text;
}

static char *contents(const char *path)
{
	char *text = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "r");

	cr_assert(f, "cannot read %s", path);
	if (getdelim(&text, &cap, '\0', f) < 0)
		text = strdup("");
	fclose(f);
	return text;
}

static void expect_same(const char *path, const char *is, const char *should)
{
	size_t line = 1;

	for (; *is && *is == *should; is++, should++)
		line += *is == '\n';
	cr_expect(*is == *should, "%s differs from the tables at line %zu; `make reference` writes it anew", path, line);
}

Test(reference, kept_documents_are_current)
{
	char *preface = contents("grammar/preface.md"), *tables = printed(stb_reference_markdown), *all;
	char *kept = contents("grammar/README.md"), *words = printed(stb_dictionary), *dict = contents("tests/fuzz/stb.dict");

	cr_assert(asprintf(&all, "%s%s", preface, tables) > 0);
	expect_same("grammar/README.md", kept, all);
	expect_same("tests/fuzz/stb.dict", dict, words);
	free(preface), free(tables), free(all), free(kept), free(words), free(dict);
}

static void expect_all(const char *text, const char *what)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++)
		cr_expect(strstr(text, rows[i].name), "%s has no attribute %s", what, rows[i].name);
	for (unsigned i = 0; i < STB_N_CODES; i++)
		cr_expect(strstr(text, stb_code_info((enum stb_code)i)->name), "%s has no code %s", what, stb_code_info((enum stb_code)i)->name);
	for (const char *const *name = stb_metric_names(); *name; name++)
		cr_expect(strstr(text, *name), "%s has no metric %s", what, *name);

	const struct stb_function *functions = stb_functions(&n);

	for (size_t i = 0; i < n; i++)
		cr_expect(strstr(text, functions[i].name), "%s has no function %s", what, functions[i].name);

	const struct stb_command *commands = stb_commands(&n);

	for (size_t i = 0; i < n; i++)
		cr_expect(strstr(text, commands[i].summary), "%s has no command %s", what, commands[i].name);
}

Test(reference, markdown_has_everything)
{
	char *text = printed(stb_reference_markdown);

	expect_all(text, "Markdown");
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) { /* a table's row ends in a bar */
		const size_t len = strcspn(line, "\n");

		if (*line == '|')
			cr_expect_eq(line[len - 1], '|', "%.*s", (int)len, line);
	}
	free(text);
}

/* Names with hyphens do not exist, so they can be looked for as they are. A line that begins with a dot is a request that man knows. */
Test(reference, manual_page_is_made_of_known_requests)
{
	static const char *const known[] = { ".TH ", ".SH ", ".SS ", ".PP\n", ".TP\n", ".br\n", ".nf\n", ".fi\n", ".B ", ".I " };
	char *text = printed(stb_reference_man);
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++)
		cr_expect(strstr(text, rows[i].name), "no attribute %s", rows[i].name);
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		bool is_known = *line != '.' && *line != '\'';

		for (size_t k = 0; k < STB_LEN(known); k++)
			is_known |= !strncmp(line, known[k], strlen(known[k]));
		cr_expect(is_known, "%.*s", (int)strcspn(line, "\n"), line);
	}
	free(text);
}

Test(reference, completion_knows_every_command_and_option)
{
	char *bash = printed(stb_completion_bash), *zsh = printed(stb_completion_zsh);
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	for (size_t i = 0; i < n; i++) {
		cr_expect(strstr(bash, all[i].name), "bash: %s", all[i].name);
		cr_expect(strstr(zsh, all[i].name), "zsh: %s", all[i].name);
		for (int o = 0; o < STB_N_OPTIONS; o++) {
			struct stb_option_text t;

			if (!stb_option_text(&all[i], (enum stb_option)o, &t))
				continue;
			cr_expect(strstr(bash, t.name), "bash: --%s", t.name);
			cr_expect(strstr(zsh, t.name), "zsh: --%s", t.name);
		}
	}
	free(bash), free(zsh);
}

/* An example shows its own code; those that no golden spec can have are named. */
Test(reference, codes_have_examples)
{
	for (unsigned i = 0; i < STB_N_CODES; i++) {
		const char *name = stb_code_info((enum stb_code)i)->name, *example = stb_code_example(name);

		if (!strcmp(name, "E0101") || !strcmp(name, "E0214") || !strcmp(name, "E0219"))
			continue;
		cr_expect(example && strstr(example, name), "%s has no example", name);
	}
	cr_expect_null(stb_code_example("E9999"));
}

Test(reference, every_rule_is_in_its_codes_explanation)
{
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	for (size_t i = 0; i < n; i++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cr_expect(stb_schema_explain(stb_code_info(rules[i].code)->name, out));
		fclose(out);
		cr_expect(strstr(text, rules[i].doc), "%s", rules[i].doc);
		free(text);
	}
}

/* What completion offers leads somewhere. */
Test(reference, every_topic_word_is_a_topic)
{
	size_t n;
	const char **words = stb_topic_words(&n);

	cr_expect_gt(n, 300);
	for (size_t i = 0; i < n; i++) {
		FILE *out = fopen("/dev/null", "w");

		cr_expect(stb_schema_explain(words[i], out), "%s", words[i]);
		fclose(out);
	}
	free(words);
}
