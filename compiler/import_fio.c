/*
 * import_fio.c - `stb import fio`: a job file, or a command line, as a spec.
 *
 *   sections -> jobs (options in force: the globals before it, then its own) -> phases (jobs between stonewalls)
 *   a phase of one job is a workload, one of several a mix of workloads; all phases are the workload axis of one matrix
 *   each directory is a storage class with a volume, each device a class with a raw volume
 *
 * Of every line there is an account: it is translated, refused, left out, wrong, or has no effect. A line of [global] is judged in each job
 * that has it, and told once, if it matters in one of them.
 */
#include "compiler/import_fio.h"

#include "compiler/expand.h"
#include "runtime/base/metric.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* --- the account ---------------------------------------------------------------------------------------------------------------------- */

STB_PRINTF(2, 0) static const char *vformat(struct stb_fio_import *x, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	return stb_arena_strdup(&x->im->c->arena, text);
}

/* In the four below: says nothing where `once` says that it was said. */
#define FORMATTED(text, once)                                                                                \
	va_list ap;                                                                                          \
	if (once)                                                                                            \
		return;                                                                                      \
	(once) = true;                                                                                       \
	va_start(ap, fmt);                                                                                   \
	const char *text = vformat(x, fmt, ap);                                                              \
	va_end(ap)

void stb_fio_refuse(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...)
{
	FORMATTED(why, o->told);
	stb_import_refuse(x->im, o->span, o->words, "%s", why);
}

void stb_fio_leave(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...)
{
	FORMATTED(why, o->told);
	stb_import_leave(x->im, o->span, o->words, "%s", why);
}

void stb_fio_bad(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...)
{
	FORMATTED(why, o->told);
	stb_import_bad(x->im, o->span, o->words, "%s", why);
}

void stb_fio_differs(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...)
{
	FORMATTED(how, o->noted);
	o->used = true;
	stb_import_differs(x->im, o->span, o->words, "%s", how);
}

void stb_fio_idle(struct stb_fio_option *o, const char *why)
{
	if (o)
		o->idle = why;
}

/* --- jobs ------------------------------------------------------------------------------------------------------------------------------ */

static struct stb_fio_option **slot(struct stb_fio_job *j, const struct stb_fio_row *row)
{
	uint32_t n;

	return row->sym >= 0 ? &j->sym[row->sym] : &j->row[row - stb_fio_rows(&n)];
}

static void unknown(struct stb_fio_import *x, struct stb_fio_option *o)
{
	const char *names[512];
	struct stb_diag *d;
	uint32_t n_rows;
	const struct stb_fio_row *rows = stb_fio_rows(&n_rows);
	const char *near;

	STB_ASSERT(n_rows <= STB_LEN(names));
	for (uint32_t i = 0; i < n_rows; i++)
		names[i] = stb_arena_strndup(&x->im->c->arena, rows[i].names, strcspn(rows[i].names, " "));
	near = stb_nearest(o->name, names, n_rows);
	o->told = true;
	d = stb_diag(&x->im->c->sink, STB_E0802, o->span, "fio 3.33 has no option `%s`", stb_import_quote(x->im, o->name, strlen(o->name)));
	if (near)
		stb_diag_here(&x->im->c->sink, d, "did you mean `%s`?", near);
	stb_import_comment(x->im, "NOT TRANSLATED, unknown: %s", o->words);
}

/* Lays the options of a section over what is in force. A line that another of the same section takes back is told. */
static void lay_over(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_section *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct stb_fio_option *o = &s->options[i], **in_force;

		if (!o->row)
			continue;
		in_force = slot(j, o->row);
		if (*in_force && *in_force >= s->options && *in_force < s->options + s->n)
			stb_fio_leave(x, *in_force, "`%s` behind it takes its place", o->words);
		*in_force = o;
	}
}

static struct stb_fio_job *new_job(struct stb_fio_import *x)
{
	struct stb_arena *a = &x->im->c->arena;
	uint32_t n_rows;

	stb_fio_rows(&n_rows);
	STB_ARENA_GROW(a, x->jobs, x->n_jobs, x->cap_jobs);
	x->jobs[x->n_jobs] = (struct stb_fio_job){ .row = STB_NEW_ARRAY(a, struct stb_fio_option *, n_rows) };
	return &x->jobs[x->n_jobs++];
}

/* Sets o->row, unless fio takes no such option, which is told. Names of logs may be left out. */
static void find_row(struct stb_fio_import *x, struct stb_fio_option *o)
{
	const struct stb_fio_row *row = stb_fio_find(o->name);
	const bool may_stand_alone = row && (row->kind == STB_FIO_FLAG || (row->kind == STB_FIO_TEXT && row->fate != STB_FIO_IS_TRANSLATED));

	if (!row)
		unknown(x, o);
	else if (!o->value && !may_stand_alone)
		stb_fio_bad(x, o, "it needs a value");
	else
		o->row = row;
}

static void make_jobs(struct stb_fio_import *x)
{
	uint32_t n_rows;
	struct stb_fio_job global = { 0 };

	stb_fio_rows(&n_rows);
	global.row = STB_NEW_ARRAY(&x->im->c->arena, struct stb_fio_option *, n_rows);
	for (uint32_t i = 0; i < x->file.n; i++) {
		struct stb_fio_section *s = &x->file.sections[i];
		struct stb_fio_job *j;

		if (i && s->group != s[-1].group) {
			memset(global.sym, 0, sizeof(global.sym));
			memset(global.row, 0, n_rows * sizeof(*global.row));
		}
		for (uint32_t k = 0; k < s->n; k++)
			find_row(x, &s->options[k]);
		if (s->global) {
			lay_over(x, &global, s);
			continue;
		}
		j = new_job(x);
		memcpy(j->sym, global.sym, sizeof(j->sym));
		memcpy(j->row, global.row, n_rows * sizeof(*j->row));
		j->section = s;
		lay_over(x, j, s);
	}
}

static const char *fio_name(const struct stb_fio_job *j)
{
	const struct stb_fio_option *o = j->sym[STB_FIO_NAME];

	return o && o->value ? o->value : j->section->name;
}

/* --- phases ---------------------------------------------------------------------------------------------------------------------------- */

/* The job that `wait_for` names is all that runs before: that is a stonewall. */
static bool waits_for_phase(const struct stb_fio_import *x, const struct stb_fio_job *j, const char *name)
{
	uint32_t n = 0;
	bool found = false;

	for (const struct stb_fio_job *k = x->jobs; k < j; k++)
		if (k->phase == x->n_phases - 1) {
			n++;
			found = !strcmp(fio_name(k), name);
		}
	return n == 1 && found;
}

static void make_phases(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		struct stb_fio_job *j = &x->jobs[i];
		struct stb_fio_option *wait = j->sym[STB_FIO_WAIT_FOR], *wall = j->sym[STB_FIO_STONEWALL];
		bool begins = i == 0 || stb_fio_peek(j, STB_FIO_STONEWALL, 0) || j->section->group != j[-1].section->group;

		if (wall)
			wall->used = true;
		if (wait && wait->value && !begins) {
			wait->used = true;
			begins = waits_for_phase(x, j, wait->value);
			if (!begins)
				stb_fio_refuse(x, wait, "a workload waits for all that ran before it, or for nothing");
		} else {
			stb_fio_idle(wait, "everything before it has ended");
		}
		x->n_phases += begins;
		j->phase = x->n_phases - 1;
		j->rank = begins ? 0 : x->jobs[i - 1].rank + 1;
	}
}

uint32_t stb_fio_phase_size(const struct stb_fio_import *x, uint32_t phase)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_jobs; i++)
		n += x->jobs[i].phase == phase;
	return n;
}

/* --- what is not translated ------------------------------------------------------------------------------------------------------------ */

static bool is_neutral(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_option *o)
{
	const struct stb_fio_row *row = o->row;
	uint64_t is, neutral;

	if (row->kind == STB_FIO_TEXT)
		return row->neutral && o->value && !strcmp(o->value, row->neutral);
	if (!o->value) {
		is = 1;
	} else if (row->kind == STB_FIO_SIGNED && o->value[0] == '-' && stb_fio_number(o->value + 1, row->kind, j->kb_base, &is)) {
		if (is)
			return false; /* no option's neutral value is negative */
	} else if (!stb_fio_number(o->value, row->kind, j->kb_base, &is)) {
		stb_fio_bad(x, o, "that is no value of it");
		return false;
	}
	return row->neutral && stb_fio_number(row->neutral, row->kind, j->kb_base, &neutral) && is == neutral;
}

static void judge(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_option *o)
{
	const char *why = NULL;

	if (is_neutral(x, j, o))
		stb_fio_idle(o, "that is how it is anyway");
	else if (!stb_fio_has_effect(x, j, o->row->when, &why))
		stb_fio_idle(o, why);
	else if (o->row->fate == STB_FIO_IS_REFUSED)
		stb_fio_refuse(x, o, "%s", o->row->text);
	else
		stb_fio_leave(x, o, "%s", o->row->text);
}

/* Of one section alone: what [global] says is told at the top of the spec, what a job says in its workload. */
static void judge_section(struct stb_fio_import *x, const struct stb_fio_job *j, const struct stb_fio_section *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct stb_fio_option *o = &s->options[i];

		if (o->row && o->row->sym < 0 && j->row[o->row - stb_fio_rows(&(uint32_t){ 0 })] == o)
			judge(x, j, o);
	}
}

static void judge_globals(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->file.n; i++)
		for (uint32_t k = 0; k < x->n_jobs && x->file.sections[i].global; k++)
			judge_section(x, &x->jobs[k], &x->file.sections[i]);
}

/* What was in force in no job, or had no effect in any. */
static void tell_idle(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->file.n; i++)
		for (uint32_t k = 0; k < x->file.sections[i].n; k++) {
			struct stb_fio_option *o = &x->file.sections[i].options[k];

			if (o->told || o->used)
				continue;
			stb_import_idle(x->im, o->span, o->words, "%s", o->idle ? o->idle : "every job says something else, or has ended before it");
		}
}

/* --- pins ------------------------------------------------------------------------------------------------------------------------------ */

/* All jobs have the CPU options of the first: they are those of the server. Else they are refused. */
static bool put_pin(struct stb_fio_import *x)
{
	static const enum stb_fio_sym syms[] = { STB_FIO_CPUS, STB_FIO_CPUS_POLICY, STB_FIO_NUMA_NODES, STB_FIO_NUMA_POLICY };
	bool same = true, good = true;
	struct stb_fio_pin pin;

	for (uint32_t i = 0; i < x->n_jobs; i++)
		for (size_t k = 0; k < STB_LEN(syms); k++) {
			const struct stb_fio_option *a = x->jobs[0].sym[syms[k]], *b = x->jobs[i].sym[syms[k]];

			same = same && (a == b || (a && b && a->value && b->value && !strcmp(a->value, b->value)));
		}
	for (uint32_t i = 0; i < x->n_jobs && !same; i++)
		for (size_t k = 0; k < STB_LEN(syms); k++)
			if (x->jobs[i].sym[syms[k]])
				stb_fio_refuse(x, x->jobs[i].sym[syms[k]], "all workloads of a matrix run on one server with one pin, and the jobs differ");
	if (!same)
		return false;
	for (uint32_t i = 0; i < x->n_jobs; i++)
		good = stb_fio_read_pin(x, &x->jobs[i], &pin) && good;
	if (!good || !pin.n_vcpus)
		return false;
	stb_fio_put_pin(x, &pin);
	return true;
}

/* --- matrix ---------------------------------------------------------------------------------------------------------------------------- */

/* A mix has a limit, and jobs beyond it are told. */
static bool is_in_mix(const struct stb_fio_job *j, uint32_t phase)
{
	return j->phase == phase && j->rank < STB_MAX_PARTS;
}

static void add_word(struct stb_buf *list, const char *word)
{
	stb_buf_printf(list, "%s%s", list->len ? ", " : "", word);
}

/* Of a mix each metric belongs to one of its workloads. */
static void put_mix_report(struct stb_fio_import *x, uint32_t phase, const char *mix)
{
	const char *metrics = stb_fio_metrics(x);
	struct stb_buf all;

	stb_buf_init(&all);
	for (uint32_t i = 0; i < x->n_jobs; i++)
		for (const char *p = metrics; is_in_mix(&x->jobs[i], phase) && *p; p += strspn(p, ", ")) {
			const size_t n = strcspn(p, ",");

			add_word(&all, stb_arena_printf(&x->im->c->arena, "%s.%.*s", x->jobs[i].name, (int)n, p));
			p += n;
		}
	stb_import_open(x->im, "report %s", mix);
	stb_buf_printf(&x->im->spec, "where { workload = %s }\n", mix);
	stb_import_attr(x->im, "rows", "workload");
	stb_import_attr(x->im, "metrics", "[%s]", stb_buf_str(&all));
	stb_import_close(x->im);
	stb_buf_fini(&all);
}

static const char *put_mix(struct stb_fio_import *x, uint32_t phase)
{
	const char *mix = stb_import_name(x->im, x->n_phases > 1 ? "together" : "all");
	struct stb_buf run;

	stb_buf_init(&run);
	stb_import_open(x->im, "workload mix %s", mix);
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		const struct stb_fio_job *j = &x->jobs[i];

		if (is_in_mix(j, phase))
			add_word(&run, j->name);
		else if (j->phase == phase)
			stb_import_refuse(x->im, j->section->span, stb_arena_printf(&x->im->c->arena, "[%s]",
				stb_import_quote(x->im, j->section->name, strlen(j->section->name))),
				"at most %d workloads run at the same time; equal ones are one workload with numjobs", STB_MAX_PARTS);
	}
	stb_import_comment(x->im, "no stonewall lies between these jobs: they run at the same time");
	stb_import_attr(x->im, "run", "[%s]", stb_buf_str(&run));
	stb_import_close(x->im);
	stb_buf_fini(&run);
	return mix;
}

static void put_matrix(struct stb_fio_import *x, bool pinned)
{
	const char **names = STB_NEW_ARRAY(&x->im->c->arena, const char *, x->n_phases);
	bool *is_mix = STB_NEW_ARRAY(&x->im->c->arena, bool, x->n_phases);
	struct stb_buf all, single;

	stb_buf_init(&all);
	stb_buf_init(&single);
	for (uint32_t i = x->n_jobs; i-- > 0;)
		names[x->jobs[i].phase] = x->jobs[i].name;
	for (uint32_t phase = 0; phase < x->n_phases; phase++) {
		is_mix[phase] = stb_fio_phase_size(x, phase) > 1;
		if (is_mix[phase])
			names[phase] = put_mix(x, phase);
		else
			add_word(&single, names[phase]);
		add_word(&all, names[phase]);
	}
	stb_import_open(x->im, "matrix jobs");
	if (pinned)
		stb_import_attr(x->im, "server", "[this_host]");
	stb_import_attr(x->im, "workload", "[%s]", stb_buf_str(&all));
	stb_import_close(x->im);
	if (single.len) {
		stb_import_open(x->im, "report jobs");
		if (single.len < all.len)
			stb_buf_printf(&x->im->spec, "where { workload = [%s] }\n", stb_buf_str(&single));
		stb_import_attr(x->im, "rows", "workload");
		stb_import_attr(x->im, "metrics", "[%s]", stb_fio_metrics(x));
		stb_import_close(x->im);
	}
	for (uint32_t phase = 0; phase < x->n_phases; phase++)
		if (is_mix[phase])
			put_mix_report(x, phase, names[phase]);
	stb_buf_fini(&all);
	stb_buf_fini(&single);
}

/* --- all ------------------------------------------------------------------------------------------------------------------------------- */

static void name_jobs(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		struct stb_fio_job *j = &x->jobs[i];
		struct stb_fio_option *o = j->sym[STB_FIO_NAME];
		const char *name = stb_import_ident(x->im, fio_name(j));

		if (o)
			o->used = true;
		if (stb_fio_phase_size(x, j->phase) > 1 && stb_metric_takes(name))
			name = stb_arena_printf(&x->im->c->arena, "%s_job", name);
		j->name = stb_import_name(x->im, name);
	}
}

static void translate(struct stb_fio_import *x)
{
	bool pinned;

	for (uint32_t i = 0; i < x->n_jobs; i++)
		stb_fio_facts(x, &x->jobs[i]);
	make_phases(x);
	name_jobs(x);
	stb_fio_find_places(x);
	judge_globals(x);
	stb_fio_put_places(x);
	pinned = put_pin(x);
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		struct stb_fio_job *j = &x->jobs[i];

		stb_import_open(x->im, "workload io %s", j->name);
		if (strcmp(j->name, fio_name(j)))
			stb_import_text(x->im, "label", fio_name(j));
		judge_section(x, j, j->section);
		stb_fio_workload(x, j);
	}
	put_matrix(x, pinned);
	tell_idle(x);
}

static bool import(struct stb_fio_import *x)
{
	make_jobs(x);
	if (!x->n_jobs) {
		stb_diag(&x->im->c->sink, STB_E0804, STB_NO_SPAN, "no job: there are [global] sections only, or options before a --name");
		return false;
	}
	translate(x);
	return true;
}

bool stb_import_fio_file(struct stb_import *im, uint32_t file)
{
	struct stb_fio_import x = { .im = im };
	const char *name = im->c->sources.files[file].name;

	if (!stb_fio_read(im, file, &x.file))
		return false;
	stb_import_comment(im, "made by `stb import fio %s`", stb_import_quote(im, name, strlen(name)));
	return import(&x);
}

/* One word that is the name of a file, or cannot be a command: a blank or a dash makes one. */
static bool is_file(const char *word)
{
	return *word != '-' && (access(word, F_OK) == 0 || !strpbrk(word, " \t\r\n"));
}

bool stb_import_fio(struct stb_import *im, const char *const *words, uint32_t n)
{
	struct stb_fio_import x = { .im = im };
	uint32_t file;

	if (n == 1 && is_file(words[0]))
		return stb_import_load(im, words[0], &file) && stb_import_fio_file(im, file);
	return stb_fio_read_line(im, words, n, &x.file) && import(&x);
}
