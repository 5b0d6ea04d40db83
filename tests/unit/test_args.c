/* test_args.c - the command line: every command through the one table, every slip a usage error that names what was wrong. */
#include "compiler/driver/driver.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *message; /* of the last parse() */
static char words[400], *argv[64];

static void drop(void)
{
	free(message);
	message = NULL;
}

TestSuite(args, .fini = drop);

/* Splits at blanks; the words stay until the next call. */
static int parse(struct stb_args *a, const char *line)
{
	size_t len;
	int argc = 0, rc;
	FILE *mem;

	drop();
	mem = open_memstream(&message, &len);
	snprintf(words, sizeof words, "%s", line);
	for (char *save = NULL, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	rc = stb_args_parse(a, argc, argv, mem);
	fclose(mem);
	return rc;
}

static void refused(const char *line, const char *expected)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, line), STB_EXIT_USAGE, "`%s`", line);
	cr_assert_not_null(strstr(message, expected), "`%s`: %s", line, message);
	stb_args_fini(&a);
}

Test(args, options_and_operands_in_any_order)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, "stb run x.stb --profile laptop -o out --set a=1 --set b=2 --only storage=disk"), 0);
	cr_assert_str_eq(a.command->name, "run");
	cr_assert_str_eq(a.profile, "laptop");
	cr_assert_str_eq(a.output, "out");
	cr_assert_eq(a.n_set, 2u);
	cr_assert_str_eq(a.set[1], "b=2");
	cr_assert_str_eq(a.only, "storage=disk");
	cr_assert_eq(a.n_operands, 1u);
	cr_assert_str_eq(a.operands[0], "x.stb");
	stb_args_fini(&a);
}

Test(args, double_dash_ends_the_options)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, "stb check -- --profile"), 0);
	cr_assert_str_eq(a.operands[0], "--profile");
	stb_args_fini(&a);
	cr_assert_eq(parse(&a, "stb check -"), 0);
	cr_assert_str_eq(a.operands[0], "-");
	stb_args_fini(&a);
}

Test(args, help_needs_nothing_else)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, "stb run --help"), 0);
	cr_assert(a.help);
	stb_args_fini(&a);
	cr_assert_eq(parse(&a, "stb --help"), 0);
	cr_assert_str_eq(a.command->name, "help");
	stb_args_fini(&a);
	cr_assert_eq(parse(&a, "stb --version"), 0);
	cr_assert_str_eq(a.command->name, "version");
	stb_args_fini(&a);
}

Test(args, commands_that_are_none)
{
	refused("stb", "usage");
	refused("stb rnu x.stb", "did you mean `stb run`");
	refused("stb frobnicate", "no command `frobnicate`");
}

Test(args, options_that_the_command_lacks)
{
	refused("stb check x.stb --only a=b", "`stb check` has no option `--only`");
	refused("stb check x.stb --only a=b", "belongs to `stb plan` and `stb run`");
	refused("stb run x.stb --profil3 a", "did you mean `--profile`");
	refused("stb run x.stb --format json", "`stb run` has no option `--format`");
	refused("stb run x.stb -x", "no option `-x`");
	refused("stb check --check=1 x.stb", "no option `--check`");
	refused("stb report x.stb --check=1", "takes no value");
	refused("stb run --profile", "needs a value");
	refused("stb check x.stb -o y", "no option `-o`");
}

Test(args, shortened_options)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, "stb run x.stb --prof p"), 0);
	cr_assert_str_eq(a.profile, "p");
	stb_args_fini(&a);
	refused("stb plan x.stb --=", "no option");
	refused("stb run x.stb --o y", "ambiguous: --output --only");
}

Test(args, values_that_are_wrong)
{
	refused("stb plan x.stb --max-cells 0", "--max-cells 0");
	refused("stb plan x.stb --max-cells -1", "--max-cells -1");
	refused("stb plan x.stb --max-cells 10k", "--max-cells 10k");
	refused("stb plan x.stb --max-cells 99999999999999999999", "no number");
	refused("stb plan x.stb --set runtime", "no `name=value`");
	refused("stb plan x.stb --set =5", "no `name=value`");
	refused("stb plan x.stb --format yaml", "no format `yaml`");
	refused("stb plan x.stb --format text,json", "no format");
	refused("stb report x.stb --format md,", "no format ``");
	refused("stb check x.stb --format js", "no format `js`");
}

Test(args, operands_are_counted)
{
	refused("stb run", "needs FILE");
	refused("stb run a.stb b.stb", "cannot use `b.stb`");
	refused("stb version x", "cannot use `x`");
	refused("stb clean", "needs DIR");
}

Test(args, formats_are_words_or_lists)
{
	struct stb_args a;

	cr_assert_eq(parse(&a, "stb report x.stb --format csv,md -o d"), 0);
	cr_assert(stb_args_format(&a, "csv"));
	cr_assert(stb_args_format(&a, "md"));
	cr_assert_not(stb_args_format(&a, "m"));
	stb_args_fini(&a);
	cr_assert_eq(parse(&a, "stb check x.stb"), 0);
	cr_assert(stb_args_format(&a, "human"));
	cr_assert_not(stb_args_format(&a, "json"));
	stb_args_fini(&a);
}

Test(args, every_command_has_help_that_names_its_options)
{
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	for (size_t i = 0; i < n; i++) {
		char *text;
		size_t len;
		FILE *mem = open_memstream(&text, &len);

		stb_help_command(&all[i], mem);
		fclose(mem);
		cr_assert_not_null(strstr(text, all[i].name));
		cr_assert_not_null(strstr(text, "--help"));
		if (all[i].output)
			cr_assert_not_null(strstr(text, "-o, --output"), "%s", all[i].name);
		free(text);
	}
}
