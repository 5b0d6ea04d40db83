/*
 * reference_md.c - the reference as Markdown, for grammar/README.md: what stands behind grammar/preface.md.
 */
#include "compiler/driver/reference.h"

#include <string.h>

/* Text of a paragraph or a table's field. Signs that Markdown would take for its own are escaped outside of `code`; in a field | always is. */
static void text(FILE *out, const char *s, bool field)
{
	bool code = false;

	for (; *s; s++) {
		if (*s == '`')
			code = !code;
		if (*s == '\n')
			fputc(' ', out);
		else if (*s == '|' && field)
			fputs("\\|", out);
		else if (!code && strchr("\\[]", *s))
			fprintf(out, "\\%c", *s);
		else if (!code && *s == '*' && s[1] == ' ') /* *emphasis* stays, a lonely star does not */
			fputs("\\*", out);
		else if (!code && *s == '<')
			fputs("&lt;", out);
		else
			fputc(*s, out);
	}
}

static void heading(FILE *out, unsigned level, const char *s)
{
	fprintf(out, "\n%s ", level == 1 ? "##" : "###");
	text(out, s, false);
	fputc('\n', out);
}

static void paragraph(FILE *out, const char *s)
{
	fputc('\n', out);
	text(out, s, false);
	fputc('\n', out);
}

static void line(FILE *out, const char *const *cells, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? " | " : "| ", out);
		text(out, cells[i], true);
	}
	fputs(" |\n", out);
}

static void table(FILE *out, const char *const *heads, unsigned n)
{
	fputc('\n', out);
	line(out, heads, n);
	for (unsigned i = 0; i < n; i++)
		fputs(i ? " | ---" : "| ---", out);
	fputs(" |\n", out);
}

static void row(FILE *out, const char *const *heads, const char *const *cells, unsigned n)
{
	(void)heads;
	line(out, cells, n);
}

void stb_reference_markdown(FILE *out)
{
	static const struct stb_reference_form form = { heading, paragraph, table, row };

	stb_reference_language(&form, out);
	stb_reference_judgement(&form, out);
	stb_reference_commands(&form, out);
}
