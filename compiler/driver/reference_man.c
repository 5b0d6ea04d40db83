/*
 * reference_man.c - the manual page stb.1: the commands first, then the language, in man(7) macros.
 */
#include "compiler/driver/reference.h"

#include <ctype.h>
#include <string.h>

/* Text in which roff reads no request, no escape and no hyphen; `code` is bold. */
static void text(FILE *out, const char *s)
{
	bool code = false, begin = true;

	for (; *s; s++) {
		const bool first = begin;

		begin = *s == '\n';
		if (*s == '`') {
			code = !code;
			fputs(code ? "\\fB" : "\\fR", out);
		} else if (*s == '\\') {
			fputs("\\e", out);
		} else if (*s == '-') {
			fputs("\\-", out);
		} else if (*s == '*' && !code && (isalpha((unsigned char)s[1]) || (s[1] && strchr(":,; ", s[1])))) {
			continue; /* *emphasis* */
		} else {
			fprintf(out, "%s%c", first && (*s == '.' || *s == '\'') ? "\\&" : "", *s);
		}
	}
	if (code)
		fputs("\\fR", out);
}

static void heading(FILE *out, unsigned level, const char *s)
{
	fprintf(out, level == 1 ? ".SH " : ".SS ");
	for (; *s; s++) {
		if (*s == '-')
			fputs("\\-", out);
		else
			fputc(level == 1 ? toupper((unsigned char)*s) : *s, out);
	}
	fputc('\n', out);
}

static void paragraph(FILE *out, const char *s)
{
	fputs(".PP\n", out);
	text(out, s);
	fputc('\n', out);
}

static void preformatted(FILE *out, const char *s)
{
	fputs(".PP\n.nf\n", out);
	text(out, s);
	fputs(".fi\n", out);
}

static void table(FILE *out, const char *const *heads, unsigned n)
{
	(void)out, (void)heads, (void)n; /* rows name their cells */
}

static void row(FILE *out, const char *const *heads, const char *const *cells, unsigned n)
{
	const char *between = "\n.br\n";

	fputs(".TP\n\\fB", out);
	for (const char *s = cells[0]; *s; s++) /* code is bold as it is */
		if (*s == '-')
			fputs("\\-", out);
		else if (*s == '\\')
			fputs("\\e", out);
		else if (*s != '`')
			fputc(*s, out);
	fputs("\\fR\n", out);
	text(out, cells[n - 1]);
	for (unsigned i = 1; i + 1 < n; i++) {
		if (!cells[i][0])
			continue;
		fprintf(out, "%s%s: ", between, heads[i]);
		text(out, cells[i]);
		between = "; ";
	}
	fputc('\n', out);
}

void stb_reference_man(FILE *out)
{
	static const struct stb_reference_form form = { heading, paragraph, table, row };

	fprintf(out, ".TH STB 1 \"\" \"stb %s\" \"User commands\"\n", stb_version);
	fputs(".SH NAME\nstb \\- storage and database benchmarks that are written down\n"
	      ".SH SYNOPSIS\n.B stb\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
	      ".SH DESCRIPTION\n", out);
	text(out, "A comparison of disks or databases is a file: storage, servers, databases, workloads, the matrix of what is combined, the tables that are "
		  "published and the claims that must hold. `stb check` says what is wrong with it, `stb plan` what a run would do, `stb run` does it and "
		  "`stb report` makes the tables.\n");
	preformatted(out, "stb 1\n\nstorage directory disk   { path = \"/var/tmp\" }\nstorage directory memory { path = \"/dev/shm\" }\nvolume data { }\n\n"
			  "workload io small_writes {\n  volume  = data\n  size    = 64MiB\n  rw      = randwrite\n  runtime = 3s\n}\n\n"
			  "matrix io {\n  storage  = [disk, memory]\n  workload = small_writes\n}\n");
	stb_reference_commands(&form, out);
	stb_reference_language(&form, out);
	stb_reference_judgement(&form, out);
	fputs(".SH FILES\n.TP\n.I stb-run-<UTC time>/\nWhat a run leaves: plan.json, environment.json, journal.jsonl, results.csv, series.csv, histograms/, "
	      "report.md.\n", out);
}
