/*
 * run.c - the walk over the plan.
 *
 *   preflight -> run directory -> steps, one after the other -> what still stands is removed -> reports
 *
 * A step that fails marks its cells and the walk goes on. A signal or a run directory that cannot be written ends the walk; clean-up and
 * reports follow in every case. Nothing here sleeps without watching for signals.
 */
#include "runtime/exec/run.h"

#include "runtime/base/clock.h"
#include "runtime/base/process.h"
#include "runtime/exec/message.h"
#include "runtime/exec/tables.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LISTED 20

/* --- progress --------------------------------------------------------------------------------------------------------------------------- */

static uint64_t step_estimate(const struct stb_plan *p, const struct stb_step *s)
{
	switch (s->op) {
	case STB_OP_PROVISION:
		return p->groups[s->group].provision_ns;
	case STB_OP_MEASURE:
		return p->cells[s->cell].measure_ns;
	case STB_OP_RESTORE:
		return p->groups[s->group].restore_ns;
	case STB_OP_COOLDOWN:
		return s->wait_ns;
	case STB_OP_WAIT_SLOT:
	case STB_OP_START:
	case STB_OP_LOAD:
	case STB_OP_KEEP:
	case STB_OP_STOP:
	case STB_OP_DEPROVISION:
		return 0; /* part of the group's estimate */
	}
	return 0;
}

void stb_run_draw(struct stb_run *run, const char *phase, const char *figure)
{
	const uint64_t gone = stb_clock_ns() - run->step_since_ns;
	const uint64_t passed = run->passed_ns + STB_MIN(gone, run->step_ns);

	stb_progress_draw(&run->progress, &(struct stb_progress_view){
		.share = run->estimate_ns ? (double)passed / (double)run->estimate_ns : 0,
		.done = run->done,
		.total = run->n_measurements,
		.what = run->what ? run->what : "",
		.phase = phase,
		.figure = figure,
		.left_ns = run->estimate_ns > passed ? run->estimate_ns - passed : 0,
		.left_known = run->estimate_ns > 0,
	});
}

void stb_run_say_error(struct stb_run *run, const struct stb_err *err)
{
	stb_progress_clear(&run->progress);
	stb_exec_print_error(run->plan, err, stderr);
}

void stb_run_fail(struct stb_run *run, uint32_t cell, uint32_t slot, uint32_t repetition, const char *fmt, ...)
{
	char text[STB_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	STB_GROW(run->failures, run->n_failures, run->cap_failures);
	run->failures[run->n_failures++] = (struct stb_failure){ cell, slot, repetition, stb_arena_strdup(&run->arena, text) };
	stb_results_set_reason(run->results, cell, slot, repetition, text);
}

/* --- the walk --------------------------------------------------------------------------------------------------------------------------- */

static void cool_down(struct stb_run *run, uint64_t ns)
{
	const uint64_t until = stb_clock_ns() + ns;

	run->what = NULL;
	for (;;) {
		const uint64_t now = stb_clock_ns();
		struct pollfd fd = { .fd = run->signals.fd, .events = POLLIN };

		if (now >= until || stb_signals_check(&run->signals))
			return;
		stb_run_draw(run, "cool down", "");
		poll(&fd, 1, (int)STB_MIN((until - now) / 1000000u + 1, 500u));
	}
}

static void take_step(struct stb_run *run, const struct stb_step *s)
{
	switch (s->op) {
	case STB_OP_WAIT_SLOT:
		return; /* matrices with a schedule were refused */
	case STB_OP_PROVISION:
		stb_group_provision(run, s->group);
		return;
	case STB_OP_START:
		stb_group_start(run, s->group);
		return;
	case STB_OP_LOAD:
		stb_group_load(run, s->group);
		return;
	case STB_OP_KEEP:
		stb_group_keep(run, s->group);
		return;
	case STB_OP_RESTORE:
		stb_group_restore(run, s->group);
		return;
	case STB_OP_MEASURE:
		stb_run_measure(run, s->cell, s->slot + 1, s->repetition);
		return;
	case STB_OP_STOP:
		stb_group_stop(run, s->group);
		return;
	case STB_OP_DEPROVISION:
		stb_group_remove(run, s->group);
		return;
	case STB_OP_COOLDOWN:
		cool_down(run, s->wait_ns);
		return;
	}
}

void stb_run_count(struct stb_run *run)
{
	struct stb_remaining *it = stb_remaining_new(run->plan, run->o->keep, &run->present);
	struct stb_step s;

	run->n_measurements = run->done = run->present.n;
	while (stb_remaining_next(it, &s)) {
		run->estimate_ns += step_estimate(run->plan, &s);
		run->n_measurements += s.op == STB_OP_MEASURE;
	}
	stb_remaining_free(it);
}

static void walk(struct stb_run *run)
{
	struct stb_remaining *it = stb_remaining_new(run->plan, run->o->keep, &run->present);
	struct stb_step s;

	while (!stb_signals_check(&run->signals) && !run->fatal.set && stb_remaining_next(it, &s)) {
		run->step_ns = step_estimate(run->plan, &s);
		run->step_since_ns = stb_clock_ns();
		take_step(run, &s);
		run->passed_ns += run->step_ns;
		run->step_ns = 0;
		if (run->journal.err.set && !run->fatal.set)
			run->fatal = run->journal.err;
	}
	stb_remaining_free(it);
	for (uint32_t i = run->plan->n_groups; i-- > 0;)
		stb_group_remove(run, i);
}

/* --- afterwards ------------------------------------------------------------------------------------------------------------------------- */

static void list_failures(const struct stb_run *run)
{
	struct stb_arena a;

	if (!run->n_failures)
		return;
	stb_arena_init(&a);
	fprintf(stderr, "stb: %zu of %llu repetitions failed or are not trustworthy:\n", run->n_failures,
		(unsigned long long)run->n_measurements);
	for (size_t i = 0; i < run->n_failures && i < MAX_LISTED; i++) {
		const struct stb_failure *f = &run->failures[i];
		const bool again = i && !strcmp(f->text, f[-1].text);

		fprintf(stderr, "  %s #%u: %.200s\n", stb_plan_cell_label(&a, run->plan, f->cell), f->repetition,
			again ? "the same" : f->text);
	}
	if (run->n_failures > MAX_LISTED)
		fprintf(stderr, "  and %zu more: see results.csv\n", run->n_failures - MAX_LISTED);
	stb_arena_fini(&a);
}

static void list_leftovers(const struct stb_run *run)
{
	if (!run->left.n)
		return;
	fprintf(stderr, "stb: error: clean-up is incomplete; this is left:\n");
	for (size_t i = 0; i < run->left.n; i++) {
		fprintf(stderr, "  %s %s\n", run->left.items[i].kind, run->left.items[i].object);
		if (strcmp(run->left.items[i].kind, "tables"))
			continue;
		stb_tables_print_line(run->plan, run->left.items[i].object, "    ", stderr);
		stb_tables_print_sql(run->plan, run->left.items[i].object, "    ", stderr);
	}
	fprintf(stderr, "  what to do: stb clean '%s'\n", run->dir);
}

/* Why the plan was not carried out to its end; NULL: it was. */
static const char *stopped(const struct stb_run *run)
{
	if (run->fatal.set)
		return run->fatal.what;
	if (run->signals.first && run->done < run->n_measurements)
		return stb_arena_printf((struct stb_arena *)&run->arena, "interrupted by SIG%s", sigabbrev_np(run->signals.first));
	return NULL;
}

/* Whether the run directory still holds all that was measured. */
static bool kept_everything(const struct stb_run *run)
{
	char *path = stb_arena_printf((struct stb_arena *)&run->arena, "%s/results.csv", run->dir);

	return !run->fatal.set && !access(path, R_OK);
}

/* Said in words that are true of what could be written. */
static void say_where(const struct stb_run *run, bool complete, bool written)
{
	const char *dir = run->shown_dir;

	if (complete && written)
		printf("\nThe tables are in %s/report.md, every repetition in %s/results.csv.\n", dir, dir);
	else if (complete)
		printf("\nEvery repetition is in %s/results.csv; these tables could not be written.\n", dir);
	else
		printf("\nNot everything could be written to %s: these tables hold all that was measured, its files may not.\n", dir);
}

/* From the files, as `stb report` would do it, so the tables here and the tables made later are the same; from memory where they are lost. */
static void report(struct stb_run *run)
{
	struct stb_results *files = stb_results_new(run->plan), *r = run->results;
	bool complete = kept_everything(run), written = false;
	struct stb_err err;
	struct stb_buf text;

	stb_err_clear(&err);
	stb_buf_init(&text);
	/* which of the runs that a matrix compares this is, nobody knows yet: it is shown as the first */
	if (complete && (stb_results_reading(files, "", &err) || stb_results_read(files, run->dir, &err))) {
		stb_run_say_error(run, &err);
		complete = false;
	}
	stb_exec_print_notes(files, stderr);
	if (complete)
		r = files;
	else
		stb_results_add_run(r, run->o->only ? run->o->keep : NULL, stopped(run));
	stb_err_clear(&err);
	if (!access(run->dir, F_OK)) {
		written = !stb_exec_write_report(r, run->dir, true, true, &err);
		if (!written)
			stb_run_say_error(run, &err);
	}
	run->trouble |= !complete || !written;
	stb_report_markdown(r, &text);
	fwrite(stb_buf_str(&text), 1, text.len, stdout);
	say_where(run, complete, written);
	/* no fault of what was measured: the driver says so, where somebody still wanted to read */
	if (fflush(stdout) || ferror(stdout))
		fprintf(stderr, complete ? "stb: the tables were not read to their end on standard output; the results are complete all the same, in %s\n"
			: "stb: the tables were not read to their end on standard output; what could be kept is in %s\n", run->shown_dir);
	stb_buf_clear(&text);
	if (stb_claims_failed(r, &text))
		fprintf(stderr, "stb: not every claim holds; `stb report %s --results %s --check` makes that its exit code\n", run->o->spec,
			run->shown_dir);
	stb_buf_fini(&text);
	stb_results_free(files);
}

static int exit_code(const struct stb_run *run)
{
	if (run->left.n)
		return STB_EXIT_LEFTOVERS;
	if (run->n_failures || run->trouble || run->signals.first || run->fatal.set)
		return STB_EXIT_CELLS;
	return STB_EXIT_OK;
}

static int finish(struct stb_run *run)
{
	stb_record_finish(run, exit_code(run), stopped(run));
	stb_record_close(run);
	stb_progress_clear(&run->progress);
	if (run->results->n_rows || run->n_failures)
		report(run);
	if (run->fatal.set)
		stb_run_say_error(run, &run->fatal);
	list_failures(run);
	if (run->signals.first)
		fprintf(stderr, "stb: interrupted by SIG%s: %llu of %llu repetitions are done\n", sigabbrev_np(run->signals.first),
			(unsigned long long)run->done, (unsigned long long)run->n_measurements);
	list_leftovers(run);
	return exit_code(run);
}

static char *absolute(struct stb_arena *a, const char *path)
{
	char *cwd, *out;
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (*path == '/')
		return stb_arena_strndup(a, path, n);
	cwd = getcwd(NULL, 0);
	out = stb_arena_printf(a, "%s/%.*s", cwd ? cwd : ".", (int)n, path);
	free(cwd);
	return out;
}

struct stb_run *stb_run_new(const struct stb_exec_options *o)
{
	struct stb_run *run = stb_xcalloc(1, sizeof *run);

	run->o = o;
	run->plan = o->plan;
	run->journal.fd = run->signals.fd = -1;
	stb_process_raise_open_files(); /* for workers, connections and servers */
	stb_arena_init(&run->arena);
	run->dir = absolute(&run->arena, o->dir);
	run->shown_dir = o->dir;
	run->groups = stb_arena_alloc_array(&run->arena, (size_t)o->plan->n_groups + 1, sizeof *run->groups);
	run->results = stb_results_new(o->plan);
	stb_progress_init(&run->progress, stderr);
	return run;
}

void stb_run_free(struct stb_run *run)
{
	stb_record_close(run);
	stb_signals_close(&run->signals);
	stb_progress_fini(&run->progress);
	stb_leftovers_fini(&run->left);
	stb_results_free(run->results);
	stb_done_fini(&run->present);
	stb_reuse_fini(run);
	free(run->failures);
	stb_arena_fini(&run->arena);
	free(run);
}

int stb_run_carry_out(struct stb_run *run)
{
	run->step_since_ns = stb_clock_ns();
	walk(run);
	return finish(run);
}

int stb_exec_run(const struct stb_exec_options *o)
{
	struct stb_run *run = stb_run_new(o);
	struct stb_err err;
	int code = STB_EXIT_ENVIRONMENT;

	stb_err_clear(&err);
	if (stb_reuse_find(run, &err) || stb_run_preflight(run, &err) || stb_signals_open(&run->signals, &err)) {
		stb_run_say_error(run, &err);
		goto out;
	}
	stb_run_count(run);
	if (stb_record_open(run, &err)) {
		stb_run_say_error(run, &err);
		goto out;
	}
	if (stb_reuse_copy(run, &err)) /* the directory cannot be written: the walk does not begin */
		run->fatal = err;
	code = stb_run_carry_out(run);
out:
	stb_run_free(run);
	return code;
}
