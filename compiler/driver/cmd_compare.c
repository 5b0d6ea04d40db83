/* cmd_compare.c - `stb compare`: two run directories against each other. Each brings its own plan, so no spec is needed. */
#include "compiler/driver/compare_print.h"
#include "compiler/driver/driver.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 5.0

struct side {
	const char *dir;
	struct stb_plan *plan;
	struct stb_results *results;
	json_t *environment; /* NULL: cannot be read */
};

static int open_side(struct side *s, const char *dir)
{
	struct stb_buf path;
	struct stb_err err;
	int rc = -1;

	s->dir = dir;
	stb_err_clear(&err);
	stb_buf_init(&path);
	stb_buf_printf(&path, "%s/plan.json", dir);
	if (stb_plan_load(&s->plan, stb_buf_str(&path), &err)) {
		if (err.code)
			stb_err_remedy(&err, "name the directory of a run, as `stb run` printed it");
		goto out;
	}
	s->results = stb_results_new(s->plan);
	if (stb_results_reading(s->results, "", &err) || stb_results_read(s->results, dir, &err))
		goto out;
	stb_buf_clear(&path);
	stb_buf_printf(&path, "%s/environment.json", dir);
	s->environment = json_load_file(stb_buf_str(&path), 0, NULL);
	for (size_t i = 0; i < s->results->n_notes; i++)
		fprintf(stderr, "stb: warning: %s\n", s->results->notes[i]);
	rc = 0;
out:
	if (rc)
		stb_exec_print_error(s->plan, &err, stderr);
	stb_buf_fini(&path);
	return rc;
}

static void close_side(struct side *s)
{
	json_decref(s->environment);
	stb_results_free(s->results);
	stb_plan_free(s->plan);
}

static enum stb_compare_format format_of(const struct stb_args *a)
{
	if (stb_args_format(a, "json"))
		return STB_COMPARE_JSON;
	return stb_args_format(a, "markdown") ? STB_COMPARE_MARKDOWN : STB_COMPARE_TEXT;
}

/* No figure stands against another. */
static void tell_of_nothing(const struct stb_args *a)
{
	if (a->n_metrics)
		fprintf(stderr, "stb: warning: nothing is compared: no cell of both runs has %s`%s`\n"
			"  what to do: name a metric that they have; that of a workload in a mix is `NAME.metric`\n", a->n_metrics > 1 ? "one of the metrics, as " : "",
			a->metrics[0]);
	else
		fputs("stb: warning: nothing is compared: the two runs have no cell in common\n"
		      "  what to do: compare runs of the same spec, or of specs that share cells\n", stderr);
}

/* --check: what fails, on standard error. */
static int check(const struct stb_comparison *c, double threshold)
{
	size_t judged;
	const size_t n = stb_compare_regressions(c, threshold, &judged);

	if (n) {
		fprintf(stderr, "stb: %zu of %zu comparisons are worse by more than %g%% for sure, or lost\n", n, c->n_rows, threshold);
		return STB_EXIT_CLAIM;
	}
	if (judged)
		return STB_EXIT_OK;
	if (!c->n_rows)
		return STB_EXIT_CLAIM;
	fprintf(stderr, "stb: nothing could be judged: no figure has three repetitions on both sides\n"
		"  what to do: measure with repeat = 3 or more, and compare runs of the same cells\n");
	return STB_EXIT_CLAIM;
}

int stb_cmd_compare(const struct stb_args *a)
{
	struct side old = { .dir = NULL }, new = { .dir = NULL };
	struct stb_differences differences;
	struct stb_comparison c;
	struct stb_compare_view v = { .comparison = &c, .old_name = a->operands[0], .new_name = a->operands[1],
		.threshold = a->has_threshold ? a->threshold : THRESHOLD };
	int code = STB_EXIT_ENVIRONMENT;

	for (uint32_t i = 0; i < a->n_metrics; i++) {
		struct stb_metric m;

		if (stb_metric_find(a->metrics[i], &m))
			continue;
		fprintf(stderr, "stb: error: there is no metric `%s`\n  what to do: `stb explain` lists them\n", a->metrics[i]);
		return STB_EXIT_USAGE;
	}
	if (open_side(&old, a->operands[0]) || open_side(&new, a->operands[1]))
		goto out;
	stb_compare(&c, old.results, new.results, a->n_metrics ? a->metrics : NULL, a->n_metrics);
	if (json_is_object(old.environment) && json_is_object(new.environment)) {
		stb_differences_find(&differences, old.environment, new.environment, true);
		v.environment = &differences;
	}
	stb_compare_print(&v, format_of(a), stdout);
	if (!c.n_rows)
		tell_of_nothing(a);
	code = a->check ? check(&c, v.threshold) : STB_EXIT_OK;
	if (v.environment)
		stb_differences_fini(&differences);
	stb_comparison_fini(&c);
out:
	close_side(&new);
	close_side(&old);
	return code;
}
