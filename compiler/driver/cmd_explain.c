/* cmd_explain.c - `stb explain`: a topic of the reference, the values of a cell, or the whole reference in one of its forms. Nothing is touched. */
#include "compiler/driver/reference.h"

#include "compiler/schema.h"

#include <string.h>

static int explain_topic(const struct stb_args *a)
{
	char topic[200];

	/* `explain workload io` is one topic in two words */
	snprintf(topic, sizeof topic, "%s%s%s", a->n_operands ? a->operands[0] : "", a->n_operands > 1 ? " " : "",
		a->n_operands > 1 ? a->operands[1] : "");
	if (*topic != '-' && stb_schema_explain(topic, stdout))
		return STB_EXIT_OK;
	if (stb_help_option(topic, stdout))
		return STB_EXIT_OK;
	const char *near = stb_schema_nearest_topic(topic);

	fprintf(stderr, "stb: error: there is nothing known as `%s`\n", topic);
	if (near)
		fprintf(stderr, "  what to do: did you mean `stb explain %s`?\n", near);
	else
		fprintf(stderr, "  what to do: `stb explain` lists the topics\n");
	return STB_EXIT_USAGE;
}

int stb_cmd_explain(const struct stb_args *a)
{
	static const struct {
		const char *format;
		void (*print)(FILE *out);
	} forms[] = { { "markdown", stb_reference_markdown }, { "man", stb_reference_man }, { "bash", stb_completion_bash },
		{ "zsh", stb_completion_zsh }, { "dictionary", stb_dictionary } };
	enum stb_kind kind;

	for (size_t i = 0; i < STB_LEN(forms); i++) {
		if (!stb_args_format(a, forms[i].format))
			continue;
		if (a->n_operands) {
			fprintf(stderr, "stb: error: `--format %s` is of the whole reference and takes no topic\n"
				"  what to do: leave `%s` out, or --format\n", forms[i].format, a->operands[0]);
			return STB_EXIT_USAGE;
		}
		forms[i].print(stdout);
		return STB_EXIT_OK;
	}
	if (a->n_operands == 2 && !stb_kind_find(a->operands[0], &kind))
		return stb_explain_cell(a, a->operands[0], a->operands[1]);
	if (a->profile || a->n_set || a->max_cells) {
		fprintf(stderr, "stb: error: --profile, --set and --max-cells say how a cell's spec is read\n"
			"  what to do: write `stb explain CELL FILE`, or leave them out\n");
		return STB_EXIT_USAGE;
	}
	return explain_topic(a);
}
