/*
 * test_properties.c - what holds of every spec, tried on thousands that are generated (tests/support/gen.h): form means nothing, and
 * everything else does.
 */
#include "compiler/compile.h"
#include "compiler/diff.h"
#include "compiler/fmt.h"
#include "tests/support/gen.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef STB_SANITIZE
enum { SPECS = 400 };
#else
enum { SPECS = 10000 };
#endif

struct compiled {
	struct stb_compilation c;
	struct stb_plan *plan;
};

static void fail(const struct stb_compilation *c, uint64_t seed, const char *text, const char *what)
{
	fprintf(stderr, "%s", text);
	stb_sink_print((struct stb_sink *)&c->sink, STB_DIAG_HUMAN, stderr);
	cr_assert(false, "seed %llu: %s", (unsigned long long)seed, what);
}

static void compile(struct compiled *k, uint64_t seed, const char *text, size_t len)
{
	stb_compilation_init(&k->c);
	k->plan = stb_compile_bytes(&k->c, "test.stb", text, len, NULL);
	if (!k->plan)
		fail(&k->c, seed, text, "the generated spec has errors");
}

static void drop(struct compiled *k)
{
	stb_plan_free(k->plan);
	stb_compilation_fini(&k->c);
}

static void format(uint64_t seed, const char *text, size_t len, struct stb_buf *out)
{
	struct stb_compilation c;

	stb_compilation_init(&c);
	stb_buf_init(out);
	if (!stb_fmt(&c.arena, &c.sources, stb_sources_add(&c.sources, "test.stb", text, len), &c.sink, out))
		fail(&c, seed, text, "fmt finds errors");
	stb_compilation_fini(&c);
}

static uint32_t lines_of_difference(const struct stb_plan *a, const struct stb_plan *b)
{
	struct stb_diff *d = stb_diff_plans(a, b);
	const uint32_t n = d->n_lines + d->n_added + d->n_gone + d->n_changed + d->reordered;

	stb_diff_free(d);
	return n;
}

Test(properties, form_means_nothing, .timeout = 300)
{
	for (uint64_t seed = 1; seed <= SPECS; seed++) {
		struct gen *g = gen_new(seed);
		const struct gen_look look = { .seed = seed * 7 };
		struct stb_buf once, twice;
		struct compiled before, after;
		size_t len;
		char *text = gen_text(g, &look, 0, &len);

		format(seed, text, len, &once);
		format(seed, once.data, once.len, &twice);
		if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
			cr_assert(false, "seed %llu: formatting twice is not formatting once\n%s\n---\n%s\n---\n%s", (unsigned long long)seed, text,
				once.data, twice.data);
		compile(&before, seed, text, len);
		compile(&after, seed, once.data, once.len);
		cr_assert_str_eq(before.plan->hash, after.plan->hash, "seed %llu: the plan changed", (unsigned long long)seed);
		cr_assert_eq(lines_of_difference(before.plan, before.plan), 0, "seed %llu: differs from itself", (unsigned long long)seed);
		cr_assert_eq(lines_of_difference(before.plan, after.plan), 0, "seed %llu", (unsigned long long)seed);
		drop(&before);
		drop(&after);
		stb_buf_fini(&once);
		stb_buf_fini(&twice);
		free(text);
		gen_free(g);
	}
}

/* --- several files ------------------------------------------------------------------------------------------------------------------- */

struct parts { /* a loader that has the files of one look */
	struct stb_loader loader;
	const struct gen *g;
	const struct gen_look *look;
};

static char *part_real(const struct stb_loader *l, struct stb_arena *a, const char *path)
{
	const char *name = strrchr(path, '/');

	(void)l;
	return stb_arena_printf(a, "/parts/%s", name ? name + 1 : path);
}

static enum stb_source_status part_load(const struct stb_loader *l, struct stb_sources *s, const char *real, const char *name, uint32_t *file,
	int *errno_out)
{
	const struct parts *p = (const struct parts *)l;
	unsigned number = 0;
	size_t len;
	char *text;

	if (sscanf(real, "/parts/part%u.stb", &number) != 1 && strcmp(real, "/parts/top.stb")) {
		*errno_out = ENOENT;
		return STB_SOURCE_ERRNO;
	}
	text = gen_text(p->g, p->look, number, &len);
	*file = stb_sources_add(s, name, text, len);
	free(text);
	return STB_SOURCE_OK;
}

static void compile_look(struct compiled *k, const struct gen *g, const struct gen_look *look, uint64_t seed)
{
	struct parts p = { .loader = { .root = "/parts", .real = part_real, .load = part_load }, .g = g, .look = look };
	const struct stb_compile_options o = { .loader = &p.loader };

	stb_compilation_init(&k->c);
	k->plan = stb_compile_file(&k->c, "top.stb", &o);
	if (!k->plan)
		fail(&k->c, seed, "(of several files)\n", "the generated spec has errors");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All ids of a plan, sorted, one after the other; free() it. */
static char *ids(const struct stb_plan *p)
{
	const char **v = stb_xcalloc(p->n_cells + 1, sizeof(*v));
	struct stb_buf b;

	for (uint32_t i = 0; i < p->n_cells; i++)
		v[i] = p->cells[i].id;
	qsort(v, p->n_cells, sizeof(*v), by_text);
	stb_buf_init(&b);
	for (uint32_t i = 0; i < p->n_cells; i++)
		stb_buf_printf(&b, "%s\n", v[i]);
	free(v);
	return stb_buf_take(&b);
}

Test(properties, identity_is_what_is_measured_and_nothing_else, .timeout = 300)
{
	for (uint64_t seed = 1; seed <= SPECS / 2; seed++) {
		struct gen *g = gen_new(seed);
		const struct gen_look plain = { .seed = 1, .tidy = true };
		const struct gen_look other = { .seed = seed, .shuffled = true, .other_texts = true, .n_files = (uint32_t)(seed % 4) };
		struct compiled a, b;
		char *one, *two;

		compile_look(&a, g, &plain, seed);
		compile_look(&b, g, &other, seed);
		one = ids(a.plan);
		two = ids(b.plan);
		cr_assert_str_eq(one, two, "seed %llu: ids depend on order, labels, comments or files", (unsigned long long)seed);
		free(one);
		free(two);
		drop(&a);
		drop(&b);
		gen_free(g);
	}
}

/* Does a cell use w0 (changes of the workload) or s0? */
static bool is_touched(const struct stb_plan *p, const struct stb_plan_cell *c, enum gen_change change)
{
	const struct stb_plan_matrix *m = &p->matrices[c->matrix];

	for (uint32_t i = 0; i < m->n_axes; i++) {
		const char *key = c->point[i] == STB_NONE ? "" : m->axes[i].values[c->point[i]].key;

		if (change == GEN_RENAME_STORAGE ? !strcmp(key, "s0") : !strcmp(key, "w0") || !strcmp(key, "mx"))
			return true;
	}
	return false;
}

static bool has_id(const struct stb_plan *p, const char *id)
{
	for (uint32_t i = 0; i < p->n_cells; i++)
		if (!strcmp(p->cells[i].id, id))
			return true;
	return false;
}

Test(properties, every_effective_change_changes_ids, .timeout = 300)
{
	const struct gen_look plain = { .seed = 1, .tidy = true };

	for (uint64_t seed = 1; seed <= SPECS / 2; seed++) {
		const enum gen_change change = (enum gen_change)(1 + seed % (GEN_N_CHANGES - 1));
		struct gen *g = gen_new(seed);
		struct compiled a, b;
		struct stb_diff *d;
		uint32_t touched = 0;

		if (!gen_can(g, change)) {
			gen_free(g);
			continue;
		}
		compile_look(&a, g, &plain, seed);
		gen_change(g, change);
		compile_look(&b, g, &plain, seed);
		for (uint32_t i = 0; i < a.plan->n_cells; i++) {
			const bool is = is_touched(a.plan, &a.plan->cells[i], change);

			touched += is;
			cr_assert_eq(has_id(b.plan, a.plan->cells[i].id), !is, "seed %llu: cell %u", (unsigned long long)seed, i);
		}
		cr_assert(touched > 0, "seed %llu", (unsigned long long)seed);
		d = stb_diff_plans(a.plan, b.plan);
		cr_assert(d->n_lines > 0, "seed %llu: the change is passed over", (unsigned long long)seed);
		cr_assert_eq(d->n_added + d->n_gone, 0, "seed %llu: a change is no coming and going", (unsigned long long)seed);
		cr_assert_eq(d->n_changed, touched, "seed %llu", (unsigned long long)seed);
		cr_assert_eq(d->n_kept, a.plan->n_cells - touched, "seed %llu", (unsigned long long)seed);
		if (change != GEN_ATTRIBUTE)
			cr_assert_eq(d->lines[0].change, STB_RENAMED, "seed %llu", (unsigned long long)seed);
		stb_diff_free(d);
		drop(&a);
		drop(&b);
		gen_free(g);
	}
}
