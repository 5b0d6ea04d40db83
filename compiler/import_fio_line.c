/*
 * import_fio_line.c - fio's command line: jobs written as options, and the job files that it names.
 *
 * An option is --NAME=VALUE, --NAME VALUE, or the same with one dash. --name begins a job (a name that begins with "global": options for all
 * behind it); options before the first --name are for all jobs. Other words are job files. Every file after the first, and every further
 * command, begins when all before it have ended, and knows nothing of their options.
 */
#include "compiler/import_fio.h"
#include "compiler/import_shell.h"

#include <string.h>

enum fate { LEFT, NOTHING_RUNS, REFUSED, CHOOSES };

/* What belongs to fio itself and to no job. `value`: it has one, in its own word or the next. */
static const struct general {
	const char *name;
	bool value;
	enum fate fate;
	const char *why;
} generals[] = {
	{ "output", true, LEFT, "a run writes into a directory of its own" },
	{ "output-format", true, LEFT, "results are CSV and JSON; `stb report` writes others" },
	{ "minimal", false, LEFT, "results are CSV and JSON; `stb report` writes others" },
	{ "append-terse", false, LEFT, "results are CSV and JSON; `stb report` writes others" },
	{ "terse-version", true, LEFT, "results are CSV and JSON; `stb report` writes others" },
	{ "bandwidth-log", false, LEFT, "figures over time are in series.csv" },
	{ "eta", true, LEFT, "it only shows progress" },
	{ "eta-interval", true, LEFT, "it only shows progress" },
	{ "eta-newline", true, LEFT, "it only shows progress" },
	{ "status-interval", true, LEFT, "figures over time are in series.csv" },
	{ "idle-prof", true, LEFT, "CPU time is always recorded" },
	{ "alloc-size", true, LEFT, "memory is taken as it is needed" },
	{ "max-jobs", true, LEFT, "numjobs has a limit of its own" },
	{ "warnings-fatal", false, LEFT, "warnings are warnings" },
	{ "debug", true, LEFT, "it only prints more" },
	{ "aux-path", true, LEFT, "a run writes into a directory of its own" },
	{ "readonly", false, LEFT, "a device is written to with the consent of `erase` only" },
	{ "inflate-log", true, NOTHING_RUNS, NULL },
	{ "parse-only", false, NOTHING_RUNS, NULL },
	{ "merge-blktrace-only", false, NOTHING_RUNS, NULL },
	{ "showcmd", false, NOTHING_RUNS, NULL },
	{ "cmdhelp", false, NOTHING_RUNS, NULL },
	{ "enghelp", false, NOTHING_RUNS, NULL },
	{ "help", false, NOTHING_RUNS, NULL },
	{ "version", false, NOTHING_RUNS, NULL },
	{ "crctest", false, NOTHING_RUNS, NULL },
	{ "cpuclock-test", false, NOTHING_RUNS, NULL },
	{ "server", false, NOTHING_RUNS, NULL },
	{ "daemonize", true, NOTHING_RUNS, NULL },
	{ "client", true, REFUSED, "stb measures the machine it runs on; run it there" },
	{ "remote-config", true, REFUSED, "stb measures the machine it runs on; run it there" },
	{ "trigger-file", true, REFUSED, "a spec runs no programs" },
	{ "trigger-timeout", true, REFUSED, "a spec runs no programs" },
	{ "trigger", true, REFUSED, "a spec runs no programs" },
	{ "trigger-remote", true, REFUSED, "a spec runs no programs" },
	{ "section", true, CHOOSES, NULL },
};

struct reader {
	struct stb_import *im;
	struct stb_fio_file *f;
	const struct stb_shell_command *c;
	uint32_t first;      /* section of the command */
	bool begun;          /* f's last section is of the command line */
	const char **chosen; /* by --section */
	uint32_t n_chosen, cap_chosen;
	const struct stb_shell_word **files;
	uint32_t n_files, cap_files;
};

static const struct general *find_general(const char *name)
{
	for (size_t i = 0; i < STB_LEN(generals); i++)
		if (!strcmp(generals[i].name, name))
			return &generals[i];
	return NULL;
}

/* --- options ---------------------------------------------------------------------------------------------------------------------------- */

struct option {
	const char *name, *value, *words; /* value: NULL, there is none */
	struct stb_span span;
};

static bool takes_word(const char *name)
{
	const struct stb_fio_row *row = stb_fio_find(name);
	const struct general *g = find_general(name);

	return row ? row->kind != STB_FIO_FLAG : g && g->value;
}

/* The option at word *i, which is moved to its last. */
static struct option read_option(struct reader *r, uint32_t *i)
{
	const struct stb_shell_word *w = &r->c->words[*i];
	const char *text = w->text + strspn(w->text, "-"), *sign = strchr(text, '=');
	struct stb_arena *a = &r->im->c->arena;
	struct option o = { .name = stb_arena_strndup(a, text, sign ? (size_t)(sign - text) : strlen(text)), .span = w->span };

	if (sign) {
		o.value = sign + 1;
	} else if (*i + 1 < r->c->n && takes_word(o.name)) {
		o.value = w[1].text;
		o.span = stb_span_join(w->span, w[1].span);
		++*i;
	}
	text = stb_arena_printf(a, "--%s%s%s", o.name, o.value ? "=" : "", o.value ? o.value : "");
	o.words = stb_import_quote(r->im, text, strlen(text));
	return o;
}

static bool take_general(struct reader *r, const struct general *g, const struct option *o)
{
	switch (g->fate) {
	case LEFT:
		stb_import_leave(r->im, o->span, o->words, "%s", g->why);
		return true;
	case REFUSED:
		stb_import_refuse(r->im, o->span, o->words, "%s", g->why);
		return true;
	case NOTHING_RUNS:
		stb_diag(&r->im->c->sink, STB_E0804, o->span, "nothing is measured: with `%s` fio does no I/O of its own", o->words);
		return false;
	case CHOOSES:
		STB_ARENA_GROW(&r->im->c->arena, r->chosen, r->n_chosen, r->cap_chosen);
		r->chosen[r->n_chosen++] = o->value ? o->value : "";
		return true;
	}
	return false;
}

/* The shell's own `$NAME`; `$jobname` and the like are fio's. */
static bool is_variable(const struct option *o)
{
	const char *sign = o->value && strcmp(o->name, "filename_format") ? strchr(o->value, '$') : NULL;

	return sign && sign[1] && strncmp(sign, "$ncpus", 6) && strncmp(sign, "$pagesize", 9) && strncmp(sign, "$mb_memory", 10);
}

static bool take_option(struct reader *r, const struct option *given)
{
	const bool begins = !strcmp(given->name, "name");
	struct stb_fio_section *s;
	struct stb_fio_option *o;

	if (begins || !r->begun) {
		if (begins && (!given->value || !*given->value)) {
			stb_diag(&r->im->c->sink, STB_E0804, given->span, "--name without a name");
			return false;
		}
		r->begun = true;
		s = stb_fio_add_section(r->im, r->f, begins ? given->value : "global", given->span);
		if (begins || !s)
			return s;
	}
	s = &r->f->sections[r->f->n - 1];
	o = stb_fio_add_option(r->im, r->f, s, given->span);
	if (!o)
		return false;
	o->name = given->name;
	o->value = given->value;
	o->words = given->words;
	if (is_variable(given)) {
		stb_import_bad(r->im, o->span, o->words, "it is a variable of the shell; write its value");
		o->told = true;
	}
	return true;
}

static bool read_words(struct reader *r)
{
	bool options = true;

	for (uint32_t i = 0; i < r->c->n; i++) {
		const struct stb_shell_word *w = &r->c->words[i];
		const struct general *g;
		struct option o;

		if (options && !strcmp(w->text, "--")) {
			options = false;
		} else if (options && w->text[0] == '-' && w->text[1]) {
			o = read_option(r, &i);
			g = find_general(o.name);
			if (!(g ? take_general(r, g, &o) : take_option(r, &o)))
				return false;
		} else {
			STB_ARENA_GROW(&r->im->c->arena, r->files, r->n_files, r->cap_files);
			r->files[r->n_files++] = w;
		}
	}
	return true;
}

/* --- files ------------------------------------------------------------------------------------------------------------------------------ */

static bool read_files(struct reader *r)
{
	for (uint32_t i = 0; i < r->n_files; i++) {
		const struct stb_shell_word *w = r->files[i];
		uint32_t file;

		if (!strcmp(w->text, "-")) {
			stb_diag(&r->im->c->sink, STB_E0804, w->span, "standard input is not read; name the job file");
			return false;
		}
		r->f->group += i > 0;
		if (!stb_import_load(r->im, w->text, &file) || !stb_fio_read(r->im, file, r->f))
			return false;
	}
	return true;
}

static bool is_chosen(const struct reader *r, const struct stb_fio_section *s)
{
	for (uint32_t i = 0; i < r->n_chosen; i++)
		if (!strcmp(r->chosen[i], s->name))
			return true;
	return s->global || !r->n_chosen;
}

static void choose(struct reader *r)
{
	uint32_t kept = r->first;

	for (uint32_t i = r->first; i < r->f->n; i++)
		if (is_chosen(r, &r->f->sections[i]))
			r->f->sections[kept++] = r->f->sections[i];
	r->f->n = kept;
}

/* --- commands --------------------------------------------------------------------------------------------------------------------------- */

static void put_command(struct stb_import *im, const struct stb_shell_command *c)
{
	enum { WIDTH = 110 };
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, "  fio");
	for (uint32_t i = 0; i < c->n; i++) {
		const char *word = stb_import_quote(im, c->words[i].text, strlen(c->words[i].text));

		if (b.len + strlen(word) > WIDTH) {
			stb_import_comment(im, "%s", stb_buf_str(&b));
			stb_buf_clear(&b);
			stb_buf_adds(&b, "     ");
		}
		stb_buf_printf(&b, " %s", word);
	}
	stb_import_comment(im, "%s", stb_buf_str(&b));
	stb_buf_fini(&b);
}

bool stb_fio_read_line(struct stb_import *im, const char *const *words, uint32_t n, struct stb_fio_file *f)
{
	struct stb_shell s = { .program = "fio", .hold = "it holds fio to something; give the matrix a server with cpus or a pin" };

	if (!stb_shell_read(im, &s, words, n))
		return false;
	stb_import_comment(im, "made by `stb import fio` from");
	for (uint32_t i = 0; i < s.n; i++)
		put_command(im, &s.commands[i]);
	for (uint32_t i = 0; i < s.n; i++) {
		struct reader r = { .im = im, .f = f, .c = &s.commands[i], .first = f->n };

		f->group += i > 0;
		if (!read_words(&r) || !read_files(&r))
			return false;
		choose(&r);
	}
	return true;
}
