/*
 * completion.c - completion for bash and zsh, from the tables of commands, options and topics. Names of profiles and params are read from the
 * specs that stand on the line.
 */
#include "compiler/driver/reference.h"

#include <stdlib.h>
#include <string.h>

static void print_topics(FILE *out)
{
	size_t n;
	const char **words = stb_topic_words(&n);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	free(words);
}

static bool is_spec(const struct stb_command *c)
{
	return !strncmp(c->operands, "FILE", 4);
}

/* --- bash ---------------------------------------------------------------------------------------------------------------------------- */

static void bash_options(FILE *out, const struct stb_command *c)
{
	const char *between = "";

	for (int o = 0; o < STB_N_OPTIONS; o++) {
		struct stb_option_text t;

		if (!stb_option_text(c, (enum stb_option)o, &t))
			continue;
		fprintf(out, "%s--%s", between, t.name);
		if (t.letter)
			fprintf(out, " -%c", t.letter);
		between = " ";
	}
}

void stb_completion_bash(FILE *out)
{
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	fputs("# Completion of stb for bash: made by `stb explain --format bash`.\n\n"
	      "# Names that the specs on the line declare: _stb_names KEYWORD\n"
	      "_stb_names()\n{\n"
	      "\tlocal word\n"
	      "\tfor word in \"${COMP_WORDS[@]:2}\"; do\n"
	      "\t\t[[ $word == *.stb && -f $word ]] &&\n"
	      "\t\t\tsed -n \"s/^[[:blank:]]*$1[[:blank:]]\\{1,\\}\\([A-Za-z_][A-Za-z0-9_]*\\).*/\\1/p\" \"$word\" 2>/dev/null\n"
	      "\tdone\n"
	      "}\n\n"
	      "_stb_files()\n{\n"
	      "\tlocal IFS=$'\\n'\n"
	      "\tCOMPREPLY=($(compgen -f -X '!*.stb' -- \"$cur\") $(compgen -d -- \"$cur\"))\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "}\n\n"
	      "_stb()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} options= formats=\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", all[i].name);
	fputs("\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $command in\n", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\t%s) options=\"", all[i].name);
		bash_options(out, &all[i]);
		fprintf(out, "\" formats=\"%s\" ;;\n", all[i].formats ? all[i].formats : "");
	}
	fputs("\t*) return ;;\n\tesac\n"
	      "\tcase $prev in\n"
	      "\t--format) COMPREPLY=($(compgen -W \"$formats\" -- \"$cur\")) && return ;;\n"
	      "\t--profile) COMPREPLY=($(compgen -W \"$(_stb_names profile)\" -- \"$cur\")) && return ;;\n"
	      "\t--set) COMPREPLY=($(compgen -S = -W \"$(_stb_names param)\" -- \"$cur\")) && compopt -o nospace 2>/dev/null; return ;;\n"
	      "\t--only | --cell | --max-cells) return ;;\n"
	      "\t-o | --output | --results | --topology | --save) COMPREPLY=($(compgen -f -- \"$cur\")) && compopt -o filenames 2>/dev/null; return ;;\n"
	      "\tesac\n"
	      "\tif [[ $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $command in\n"
	      "\thelp) COMPREPLY=($(compgen -W \"", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", all[i].name);
	fputs("\" -- \"$cur\")) ;;\n\texplain)\n\t\tCOMPREPLY=($(compgen -W \"", out);
	print_topics(out);
	fputs("\" -- \"$cur\"))\n"
	      "\t\t((COMP_CWORD > 2)) && [[ ${#COMPREPLY[@]} == 0 ]] && _stb_files\n"
	      "\t\t;;\n", out);
	for (size_t i = 0; i < n; i++)
		if (stb_command_words(&all[i]))
			fprintf(out, "\t%s)\n\t\tif ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); else _stb_files; fi\n\t\t;;\n",
				all[i].name, stb_command_words(&all[i]));
	fputs("\tclean) COMPREPLY=($(compgen -d -- \"$cur\")) && compopt -o filenames 2>/dev/null ;;\n"
	      "\ttopology | version) ;;\n"
	      "\t*) _stb_files ;;\n\tesac\n}\n\ncomplete -F _stb stb\n", out);
}

/* --- zsh ----------------------------------------------------------------------------------------------------------------------------- */

/* Inside '...' of an _arguments specification: quotes end it, brackets and colons part it. */
static void zsh_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *s))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

static const char *zsh_action(const struct stb_command *c, enum stb_option option)
{
	if (option == STB_OPT_PROFILE || option == STB_OPT_SET || option == STB_OPT_MAX_CELLS || option == STB_OPT_ONLY || option == STB_OPT_CELL)
		return "";
	if (option == STB_OPT_OUTPUT && c->output && !strcmp(c->output, "DIR"))
		return "_files -/";
	return "_files";
}

static void zsh_option(FILE *out, const struct stb_command *c, enum stb_option option)
{
	struct stb_option_text t;

	if (!stb_option_text(c, option, &t))
		return;
	const bool several = option == STB_OPT_SET || option == STB_OPT_RESULTS;

	if (t.letter)
		fprintf(out, " \\\n\t\t\t'(-%c --%s)'{-%c,--%s}'[", t.letter, t.name, t.letter, t.name);
	else
		fprintf(out, " \\\n\t\t\t'%s--%s[", several ? "*" : "", t.name);
	zsh_text(out, t.help);
	fputc(']', out);
	if (t.operand) {
		fputc(':', out);
		zsh_text(out, t.operand);
		if (option == STB_OPT_FORMAT)
			fprintf(out, ":(%s)", c->formats);
		else
			fprintf(out, ":%s", zsh_action(c, option));
	}
	fputc('\'', out);
}

static void zsh_operands(FILE *out, const struct stb_command *c, const struct stb_command *all, size_t n)
{
	if (!strcmp(c->name, "explain")) {
		fputs(" \\\n\t\t\t'1:topic or cell:(", out);
		print_topics(out);
		fputs(")' '2:type or file:_files'", out);
	} else if (stb_command_words(c)) {
		fprintf(out, " \\\n\t\t\t'1:tool:(%s)' '*:file:_files'", stb_command_words(c));
	} else if (!strcmp(c->name, "help")) {
		fputs(" \\\n\t\t\t'1:command:(", out);
		for (size_t i = 0; i < n; i++)
			fprintf(out, "%s%s", i ? " " : "", all[i].name);
		fputs(")'", out);
	} else if (is_spec(c) || c->max_operands > 1) {
		fputs(" \\\n\t\t\t'*:spec:_files -g \"*.stb(-.)\"'", out);
	} else if (c->max_operands) {
		fputs(" \\\n\t\t\t'*:directory:_files -/'", out);
	}
}

void stb_completion_zsh(FILE *out)
{
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	fputs("#compdef stb\n# Completion of stb for zsh: made by `stb explain --format zsh`.\n\n_stb()\n{\n\tlocal -a commands\n\tcommands=(\n", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\t\t'%s:", all[i].name);
		zsh_text(out, all[i].summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe -t commands command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments", all[i].name);
		for (int o = 0; o < STB_N_OPTIONS; o++)
			zsh_option(out, &all[i], (enum stb_option)o);
		zsh_operands(out, &all[i], all, n);
		fputs("\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n\n_stb \"$@\"\n", out);
}
