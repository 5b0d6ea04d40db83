/*
 * compile.c - the passes in their order.
 *
 * A pass goes on as far as it can and reports all it finds; the next one starts only on a model without errors, so that nobody reads about
 * the consequences of a mistake. `check` compiles bare and then once more under each profile, from the same trees; what a profile has in
 * common with the bare spec was said already and is taken back.
 */
#include "compiler/compile.h"

#include "compiler/model.h"
#include "compiler/resolve.h"

#include <errno.h>
#include <string.h>

void stb_compilation_init(struct stb_compilation *c)
{
	stb_sources_init(&c->sources);
	stb_sink_init(&c->sink, &c->sources);
	stb_arena_init(&c->arena);
}

void stb_compilation_fini(struct stb_compilation *c)
{
	stb_sink_fini(&c->sink);
	stb_arena_fini(&c->arena);
	stb_sources_fini(&c->sources);
}

/* --- under each profile -------------------------------------------------------------------------------------------------------------- */

static bool same_span(struct stb_span a, struct stb_span b)
{
	return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

static bool said_before(const struct stb_sink *s, uint32_t n, const struct stb_diag *d)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct stb_diag *o = s->diags[i];

		if (o->code == d->code && same_span(o->span, d->span) && strcmp(o->text, d->text) == 0)
			return true;
	}
	return false;
}

/* Of the diagnostics from `first` on: takes back what was said before, names the profile in the others. */
static void attribute_to_profile(struct stb_sink *s, uint32_t first, const char *profile)
{
	uint32_t kept = first;

	for (uint32_t i = first; i < s->n_diags; i++) {
		struct stb_diag *d = s->diags[i];
		const enum stb_severity severity = stb_code_info(d->code)->severity;

		if (said_before(s, first, d)) {
			s->n_errors -= severity == STB_SEV_ERROR;
			s->n_warnings -= severity == STB_SEV_WARNING;
			s->n_kept[severity]--;
			continue;
		}
		stb_diag_note(s, d, "under profile `%s`", profile);
		s->diags[kept++] = d;
	}
	s->n_diags = kept;
}

static struct stb_plan *finish(struct stb_model *m)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_plan *plan;

	if (s->n_errors)
		return NULL;
	plan = stb_expand_and_lower(m);
	if (plan && s->n_errors) {
		stb_plan_free(plan);
		return NULL;
	}
	if (!plan)
		return NULL;
	stb_plan_seal(plan);
	return plan;
}

/*
 * One profile over a fresh model of the same trees. Errors of the bare matrices and of other profiles are counted in the sink already; they
 * are put aside, so that a profile is judged by its own.
 */
static void check_profile(const struct stb_model *bare, const char *profile)
{
	struct stb_sink *s = &bare->c->sink;
	const uint32_t first = s->n_diags, errors = s->n_errors;
	struct stb_model *m;
	struct stb_plan *plan;

	s->n_errors = 0;
	m = stb_resolve_again(bare);
	stb_check(m);
	stb_profile_apply(m, profile);
	plan = finish(m);
	if (plan)
		stb_plan_free(plan);
	s->n_errors += errors;
	attribute_to_profile(s, first, profile);
}

static struct stb_plan *compile(struct stb_compilation *c, uint32_t file, const struct stb_compile_options *o, bool follow)
{
	static const struct stb_compile_options none = { 0 };
	struct stb_plan *plan;
	struct stb_model *m;

	if (!o)
		o = &none;
	m = stb_resolve(c, file, o, follow);
	stb_check(m);
	if (c->sink.n_errors)
		return NULL;
	stb_profile_apply(m, o->profile);
	plan = finish(m);
	for (uint32_t i = 0; o->check_profiles && !o->profile && i < m->n_profiles; i++)
		check_profile(m, m->profiles[i].name);
	if (plan && c->sink.n_errors) {
		stb_plan_free(plan);
		plan = NULL;
	}
	return plan;
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

static enum stb_source_status load_through(struct stb_compilation *c, const char *path, const struct stb_loader *l, uint32_t *file, int *code)
{
	const char *real = l->real(l, &c->arena, path);

	*code = errno;
	if (!real)
		return STB_SOURCE_ERRNO;
	return l->load(l, &c->sources, real, real + strlen(l->root) + 1, file, code);
}

static enum stb_source_status load(struct stb_compilation *c, const char *path, const struct stb_loader *l, uint32_t *file, int *code)
{
	if (l)
		return load_through(c, path, l, file, code);
	c->sink.from_here = true;
	return stb_sources_load(&c->sources, path, strcmp(path, "-") ? stb_name_in_repository(&c->arena, path) : "<stdin>", file, code);
}

bool stb_compile_load(struct stb_compilation *c, const char *path, const struct stb_loader *l, uint32_t *file)
{
	struct stb_diag *d;
	int code = 0;

	switch (load(c, path, l, file, &code)) {
	case STB_SOURCE_OK:
		return true;
	case STB_SOURCE_ERRNO:
		stb_diag(&c->sink, STB_E0101, STB_NO_SPAN, "cannot read `%s`: %s", path, strerror(code));
		return false;
	case STB_SOURCE_DIRECTORY:
		d = stb_diag(&c->sink, STB_E0101, STB_NO_SPAN, "cannot read `%s`: it is a directory", path);
		stb_diag_help(&c->sink, d, "name a .stb file in it");
		return false;
	case STB_SOURCE_NOT_A_FILE:
		d = stb_diag(&c->sink, STB_E0101, STB_NO_SPAN, "cannot read `%s`: it is no regular file", path);
		stb_diag_help(&c->sink, d, "FIFOs, sockets and devices are never opened; `-` reads standard input");
		return false;
	case STB_SOURCE_TOO_LARGE:
		stb_diag(&c->sink, STB_E0101, STB_NO_SPAN, "cannot read `%s`: it is larger than %u MiB", path, STB_SOURCE_MAX_BYTES >> 20);
		return false;
	}
	return false;
}

struct stb_plan *stb_compile_file(struct stb_compilation *c, const char *path, const struct stb_compile_options *o)
{
	uint32_t file = 0;

	return stb_compile_load(c, path, o ? o->loader : NULL, &file) ? compile(c, file, o, true) : NULL;
}

struct stb_plan *stb_compile_bytes(struct stb_compilation *c, const char *name, const char *bytes, size_t len,
	const struct stb_compile_options *o)
{
	return compile(c, stb_sources_add(&c->sources, name, bytes, len), o, false);
}
