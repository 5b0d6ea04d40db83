/*
 * args.c - argv to struct stb_args: getopt_long over the options that the command has.
 *
 * An option that the command lacks is a usage error that names it, and says which command has it or what was probably meant: nothing on the
 * command line is ignored. Long options may be shortened as long as they are unambiguous.
 */
#include "compiler/driver/driver.h"
#include "runtime/result/number.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
	const char *name;
	char letter;         /* 0: none */
	const char *operand; /* NULL: takes none; -o is the command's `output` */
	const char *help;
};

static const struct option_row rows[STB_N_OPTIONS] = {
	[STB_OPT_HELP] = { "help", 'h', NULL, "this text" },
	[STB_OPT_PROFILE] = { "profile", 0, "NAME", "lay a profile of the spec over it" },
	[STB_OPT_SET] = { "set", 0, "NAME=VALUE", "replace a param of the spec (may be repeated)" },
	[STB_OPT_FORMAT] = { "format", 0, "WORD", NULL },
	[STB_OPT_MAX_CELLS] = { "max-cells", 0, "N", "most cells that a matrix may have (100000)" },
	[STB_OPT_OUTPUT] = { "output", 'o', "FILE", NULL },
	[STB_OPT_ONLY] = { "only", 0, "SEL", "only the cells of a selector ('storage = disk  threads = 4..16') or of a cell-id prefix" },
	[STB_OPT_RESULTS] = { "results", 0, "[RUN=]PATH", "results to report on, a directory or a CSV file (may be repeated)" },
	[STB_OPT_TOPOLOGY] = { "topology", 0, "FILE", "take a saved topology instead of this machine's" },
	[STB_OPT_SAVE] = { "save", 0, "FILE", "write the topology to FILE instead of showing it" },
	[STB_OPT_CHECK] = { "check", 0, NULL, "exit 4 when a claim fails" },
	[STB_OPT_IN_FORM] = { "check", 0, NULL, "print the names of the files that would change, and exit 1 if there are any" },
	[STB_OPT_EXIT_CODE] = { "exit-code", 0, NULL, "exit 4 when the meaning changed" },
	[STB_OPT_CELL] = { "cell", 0, "SEL", "the cell of a cell-id prefix or of a selector ('storage = disk  threads = 4')" },
	[STB_OPT_REUSE] = { "reuse", 0, "DIR", "take over what the run in DIR has measured of these cells (may be repeated)" },
	[STB_OPT_CONNECT] = { "connect", 0, NULL, "also ask external databases, with the secrets that the spec refers to" },
	[STB_OPT_GATE] = { "check", 0, NULL, "exit 4 when a figure is worse for sure by more than the threshold, or lost, or none can be judged" },
	[STB_OPT_THRESHOLD] = { "threshold", 0, "P%", "how much worse a figure may be (5%)" },
	[STB_OPT_METRIC] = { "metric", 0, "NAME", "compare this metric (may be repeated) instead of those that the reports show" },
	[STB_OPT_WRITE] = { "write", 'w', NULL, "write the result back to FILE" },
};

static bool has(const struct stb_command *c, int option)
{
	return c->options >> option & 1;
}

bool stb_option_text(const struct stb_command *c, enum stb_option option, struct stb_option_text *t)
{
	const struct option_row *r = &rows[option];

	if (!has(c, (int)option))
		return false;
	*t = (struct stb_option_text){ .name = r->name, .letter = r->letter };
	t->operand = option == STB_OPT_OUTPUT ? c->output : r->operand;
	if (option == STB_OPT_FORMAT)
		snprintf(t->help, sizeof t->help, "%s: %s", c->format_list ? "one or several, with commas" : "one of", c->formats);
	else if (option == STB_OPT_OUTPUT)
		snprintf(t->help, sizeof t->help, "write to %s", t->operand);
	else
		snprintf(t->help, sizeof t->help, "%s", r->help);
	return true;
}

bool stb_help_option(const char *topic, FILE *out)
{
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	for (int i = 0; i < STB_N_OPTIONS; i++) {
		const struct option_row *r = &rows[i];

		if (strcmp(r->name, topic + strspn(topic, "-")) != 0)
			continue;
		fprintf(out, "option --%s%s%s\n", r->name, r->operand ? " " : "", r->operand ? r->operand : "");
		if (r->help)
			fprintf(out, "  %s\n", r->help);
		for (size_t k = 0; k < n; k++)
			if (has(&all[k], i) && i == STB_OPT_FORMAT)
				fprintf(out, "  stb %-8s %s\n", all[k].name, all[k].formats);
			else if (has(&all[k], i) && i == STB_OPT_OUTPUT)
				fprintf(out, "  stb %-8s writes to %s\n", all[k].name, all[k].output);
			else if (has(&all[k], i))
				fprintf(out, "  stb %s\n", all[k].name);
		return true;
	}
	return false;
}

void stb_help_command(const struct stb_command *c, FILE *out)
{
	fprintf(out, "usage: stb %s%s%s%s\n\n%s\n", c->name, c->options & ~1u ? " [OPTION]..." : "", *c->operands ? " " : "",
		c->operands, c->summary);
	if (*c->details)
		fprintf(out, "\n%s", c->details);
	fputc('\n', out);
	for (int i = 0; i < STB_N_OPTIONS; i++) {
		struct stb_option_text t;
		char left[64];

		if (!stb_option_text(c, (enum stb_option)i, &t))
			continue;
		if (t.letter)
			snprintf(left, sizeof left, "-%c, --%s%s%s", t.letter, t.name, t.operand ? " " : "", t.operand ? t.operand : "");
		else
			snprintf(left, sizeof left, "    --%s%s%s", t.name, t.operand ? " " : "", t.operand ? t.operand : "");
		fprintf(out, "  %-26s %s\n", left, t.help);
	}
}

static int usage(FILE *err, const struct stb_command *c, const char *remedy)
{
	if (remedy)
		fprintf(err, "  what to do: %s\n", remedy);
	else if (c)
		fprintf(err, "  what to do: `stb %s --help` shows what there is\n", c->name);
	else
		fprintf(err, "  what to do: `stb help` lists the commands\n");
	return STB_EXIT_USAGE;
}

/* An option that getopt did not find among the command's: known elsewhere, misspelt, or ambiguous. */
static int unknown_option(FILE *err, const struct stb_command *c, const char *given, char letter)
{
	char word[80], remedy[200];

	if (letter) {
		snprintf(word, sizeof word, "-%c", letter);
		fprintf(err, "stb: error: `stb %s` has no option `%s`\n", c->name, word);
		return usage(err, c, NULL);
	}
	snprintf(word, sizeof word, "%.*s", (int)STB_MIN(strcspn(given, "="), sizeof word - 1), given);

	if (!strcmp(c->name, "import")) { /* a word of the other tool's, most likely */
		fprintf(err, "stb: error: `stb import` has no option `%s`\n", word);
		return usage(err, c, "write `--` in front of another tool's command line: `stb import sysbench -- oltp_read_write --tables=8 run`");
	}

	const char *name = word + strspn(word, "-");
	const char *names[STB_N_OPTIONS];
	size_t n_names = 0;
	unsigned matching = 0;

	for (int i = 0; i < STB_N_OPTIONS; i++) {
		if (!has(c, i))
			continue;
		names[n_names++] = rows[i].name;
		matching += *name && !strncmp(rows[i].name, name, strlen(name));
	}
	if (matching > 1) {
		fprintf(err, "stb: error: option `%s` is ambiguous:", word);
		for (size_t i = 0; i < n_names; i++)
			if (!strncmp(names[i], name, strlen(name)))
				fprintf(err, " --%s", names[i]);
		fputc('\n', err);
		return usage(err, c, "write the option out");
	}
	fprintf(err, "stb: error: `stb %s` has no option `%s`\n", c->name, word);
	for (int i = 0; i < STB_N_OPTIONS; i++) {
		size_t n_commands;
		const struct stb_command *all = stb_commands(&n_commands);

		if (strcmp(rows[i].name, name))
			continue;
		if (c->run == stb_cmd_explain) {
			snprintf(remedy, sizeof remedy, "`stb explain %s` explains it", name);
			return usage(err, c, remedy);
		}
		int len = snprintf(remedy, sizeof remedy, "leave it out; it belongs to");
		const int begin = len;

		for (size_t k = 0; k < n_commands; k++)
			if (has(&all[k], i) && (size_t)len < sizeof remedy)
				len += snprintf(remedy + len, sizeof remedy - (size_t)len, "%s `stb %s`", len > begin ? " and" : "", all[k].name);
		return usage(err, c, remedy);
	}
	const char *near = stb_nearest(name, names, n_names);

	if (!near && c->run == stb_cmd_import)
		return usage(err, c, "put `--` in front of another tool's command line: stb import sysbench -- sysbench ...");
	if (!near)
		return usage(err, c, NULL);
	snprintf(remedy, sizeof remedy, "did you mean `--%s`?", near);
	return usage(err, c, remedy);
}

static bool in_words(const char *words, const char *word, size_t len)
{
	for (const char *p = words; *p; p += strspn(p, " ")) {
		const size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, word, len))
			return true;
		p += n;
	}
	return false;
}

static int check_format(FILE *err, const struct stb_command *c, const char *text)
{
	for (const char *p = text;; p++) {
		const size_t n = c->format_list ? strcspn(p, ",") : strlen(p);

		if (!in_words(c->formats, p, n)) {
			fprintf(err, "stb: error: `stb %s` has no format `%.*s`\n  what to do: choose from: %s\n", c->name, (int)n, p,
				c->formats);
			return STB_EXIT_USAGE;
		}
		p += n;
		if (!*p)
			return 0;
	}
}

/* "5%", "0.5%" */
static bool read_percent(const char *s, double *out)
{
	const size_t len = strlen(s);

	return len > 1 && s[len - 1] == '%' && stb_number_parse(s, len - 1, out) && *out >= 0;
}

static int set_option(struct stb_args *a, int option, const char *value, FILE *err)
{
	char *end;

	switch ((enum stb_option)option) {
	case STB_OPT_HELP:
		a->help = true;
		return 0;
	case STB_OPT_PROFILE:
		a->profile = value;
		return 0;
	case STB_OPT_SET:
		if (!strchr(value, '=') || *value == '=') {
			fprintf(err, "stb: error: `--set %s` has no `name=value`\n", value);
			return usage(err, a->command, "write --set name=value, for example --set runtime=5s");
		}
		a->set[a->n_set++] = value;
		return 0;
	case STB_OPT_FORMAT:
		a->format = value;
		return check_format(err, a->command, value);
	case STB_OPT_MAX_CELLS:
		errno = 0;
		a->max_cells = strtoull(value, &end, 10);
		if (*value < '0' || *value > '9' || *end || errno || !a->max_cells) {
			fprintf(err, "stb: error: `--max-cells %s` is no number of cells\n", value);
			return usage(err, a->command, "give a whole number from 1");
		}
		return 0;
	case STB_OPT_OUTPUT:
		if (!*value) {
			fprintf(err, "stb: error: `--output` has an empty name\n");
			return usage(err, a->command, NULL);
		}
		a->output = value;
		return 0;
	case STB_OPT_ONLY:
		a->only = value;
		return 0;
	case STB_OPT_CELL:
		a->cell = value;
		return 0;
	case STB_OPT_RESULTS:
		a->results[a->n_results++] = value;
		return 0;
	case STB_OPT_CONNECT:
		a->connect = true;
		return 0;
	case STB_OPT_REUSE:
		a->reuse[a->n_reuse++] = value;
		return 0;
	case STB_OPT_METRIC:
		a->metrics[a->n_metrics++] = value;
		return 0;
	case STB_OPT_THRESHOLD:
		if (!read_percent(value, &a->threshold)) {
			fprintf(err, "stb: error: `--threshold %s` is no share\n", value);
			return usage(err, a->command, "write it in percent, for example --threshold 5%");
		}
		a->has_threshold = true;
		return 0;
	case STB_OPT_GATE:
	case STB_OPT_CHECK:
	case STB_OPT_IN_FORM:
		a->check = true;
		return 0;
	case STB_OPT_TOPOLOGY:
		a->topology = value;
		return 0;
	case STB_OPT_SAVE:
		a->save = value;
		return 0;
	case STB_OPT_EXIT_CODE:
		a->exit_code = true;
		return 0;
	case STB_OPT_WRITE:
		a->write = true;
		return 0;
	case STB_N_OPTIONS:
		break;
	}
	STB_BUG("option without a meaning");
}

static int check_operands(const struct stb_args *a, FILE *err)
{
	const struct stb_command *c = a->command;

	if (a->n_operands < c->min_operands) {
		fprintf(err, "stb: error: `stb %s` needs %s\n", c->name, c->operands);
		return usage(err, c, NULL);
	}
	if (a->n_operands > c->max_operands) {
		fprintf(err, "stb: error: `stb %s` takes %s and cannot use `%s`\n", c->name, *c->operands ? c->operands : "no operand",
			a->operands[c->max_operands]);
		return usage(err, c, NULL);
	}
	return 0;
}

static int find_command(struct stb_args *a, const char *word, FILE *err)
{
	size_t n;
	const struct stb_command *all = stb_commands(&n);
	const char *names[32];
	char remedy[100];

	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		word = "help";
	if (!strcmp(word, "--version"))
		word = "version";
	a->command = stb_command_find(word);
	if (a->command)
		return 0;
	for (size_t i = 0; i < n; i++)
		names[i] = all[i].name;
	fprintf(err, "stb: error: there is no command `%s`\n", word);

	const char *near = stb_nearest(word, names, n);

	if (!near)
		return usage(err, NULL, NULL);
	snprintf(remedy, sizeof remedy, "did you mean `stb %s`?", near);
	return usage(err, NULL, remedy);
}

int stb_args_parse(struct stb_args *a, int argc, char **argv, FILE *err)
{
	struct option longs[STB_N_OPTIONS + 1] = { 0 };
	char shorts[2 * STB_N_OPTIONS + 2] = ":";
	size_t n_longs = 0, n_shorts = 1;

	memset(a, 0, sizeof *a);
	if (argc < 2) {
		stb_help(err);
		return STB_EXIT_USAGE;
	}
	if (find_command(a, argv[1], err))
		return STB_EXIT_USAGE;
	a->set = stb_xcalloc((size_t)argc, sizeof *a->set);
	a->results = stb_xcalloc((size_t)argc, sizeof *a->results);
	a->reuse = stb_xcalloc((size_t)argc, sizeof *a->reuse);
	a->metrics = stb_xcalloc((size_t)argc, sizeof *a->metrics);
	for (int i = 0; i < STB_N_OPTIONS; i++) {
		const struct option_row *r = &rows[i];

		if (!has(a->command, i))
			continue;
		longs[n_longs++] = (struct option){ r->name, r->operand ? required_argument : no_argument, NULL, 256 + i };
		if (r->letter) {
			shorts[n_shorts++] = r->letter;
			if (r->operand)
				shorts[n_shorts++] = ':';
		}
	}
	optind = 0; /* glibc: start anew, whatever was read before */
	opterr = 0;
	for (;;) {
		int got = getopt_long(argc - 1, argv + 1, shorts, longs, NULL);
		/* Options are taken from the word at optind - 1, also when operands were skipped on the way. */
		const char *word = argv[STB_MIN(optind, argc - 1)];

		if (got < 0)
			break;
		if (got == '?' && optopt && optopt < 256)
			return unknown_option(err, a->command, word, (char)optopt);
		if (got == '?' && optopt >= 256) {
			fprintf(err, "stb: error: option `--%s` takes no value\n", rows[optopt - 256].name);
			return usage(err, a->command, NULL);
		}
		if (got == '?')
			return unknown_option(err, a->command, word, 0);
		if (got == ':') {
			fprintf(err, "stb: error: option `%s` needs a value\n", word);
			return usage(err, a->command, NULL);
		}
		for (int i = 0; got < 256 && i < STB_N_OPTIONS; i++)
			if (rows[i].letter == got)
				got = 256 + i;
		if (set_option(a, got - 256, optarg, err))
			return STB_EXIT_USAGE;
	}
	a->operands = (const char *const *)argv + 1 + optind;
	a->n_operands = (uint32_t)(argc - 1 - optind);
	return a->help ? 0 : check_operands(a, err);
}

void stb_args_fini(struct stb_args *a)
{
	free(a->set);
	free(a->results);
	free(a->metrics);
	free(a->reuse);
	memset(a, 0, sizeof *a);
}

bool stb_args_format(const struct stb_args *a, const char *word)
{
	const char *p = a->format;

	if (!p)
		return in_words(a->command->formats, word, strlen(word)) &&
			!strncmp(a->command->formats, word, strlen(word));
	for (;; p++) {
		const size_t n = strcspn(p, ",");

		if (n == strlen(word) && !memcmp(p, word, n))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}
