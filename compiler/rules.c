/*
 * rules.c - attributes against each other: what cannot mean what is written (errors), what is often misread (warnings),
 * what will happen (notes). The rules themselves are tables in rules_io.c, rules_rate.c, rules_oltp.c, rules_mix.c, rules_volume.c and
 * rules_place.c; `stb
 * explain` lists them.
 *
 * A rule looks at one scope, a distinct combination of effective blocks, not at a cell. What it finds is told once per
 * place and text, with the number of cells that have it; where only some cells of a matrix are impossible, the
 * exclusion that leaves them out is offered.
 *
 * "Without effect" is judged by value, never by writing: stating the value that would hold anyway is no error.
 */
#include "compiler/rules.h"

#include <stdarg.h>
#include <string.h>

static const struct stb_rule rules[] = {
#define TYPES_IO "workload io"
#define TYPES_OLTP "workload oltp"
#define TYPES_VOLUME "volume"
#define TYPES_MIX "workload mix"
#define TYPES_SERVER "server"
#define TYPES_DATABASE "database"
#define STB_RULE(table, code_, doc_, look) { .code = STB_##code_, .types = TYPES_##table, .doc = (doc_) },
#include "compiler/rules.def"
#undef STB_RULE
};

const struct stb_rule *stb_rules(size_t *n)
{
	*n = STB_LEN(rules);
	return rules;
}

const char *stb_attr_text(struct stb_rules_run *r, const struct stb_eattr *a)
{
	return stb_arena_printf(r->x->arena, "%s = %s", a->name, stb_val_text(r->x->arena, &a->val));
}

static struct stb_span place(const struct stb_eblock *b, const struct stb_eattr *a)
{
	return a && a->span.file != STB_NO_FILE ? a->span : b->block->span;
}

struct stb_diag *stb_find(struct stb_rules_run *r, enum stb_code code, const struct stb_eblock *ba,
	const struct stb_eattr *a, const struct stb_eblock *bb, const struct stb_eattr *b, const char *fmt, ...)
{
	const struct stb_span at = place(ba, a);
	struct stb_finding *f;
	uintptr_t known;
	va_list ap;
	char text[1024], key[1200];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A note is told once a workload: it says what will happen, and a sweep has many values that it happens with. */
	if (stb_code_info(code)->severity == STB_SEV_NOTE)
		snprintf(key, sizeof(key), "%d %u %s", (int)code, r->s->matrix->index, ba->block->name);
	else
		snprintf(key, sizeof(key), "%d %u %u %u %u %s", (int)code, r->s->matrix->index, at.file, at.begin,
			at.end, text);
	known = (uintptr_t)stb_intern_get(&r->known, key, (uint32_t)strlen(key));
	if (known) {
		struct stb_finding *again = &r->findings[known - 1];

		if (again->last_cell != r->s->first_cell)
			again->n_cells += r->s->n_cells;
		again->last_cell = r->s->first_cell;
		return NULL;
	}
	STB_ARENA_GROW(r->x->arena, r->findings, r->n, r->cap);
	f = &r->findings[r->n++];
	*f = (struct stb_finding){
		.code = code, .attrs = { a, b }, .blocks = { ba, bb }, .matrix = r->s->matrix,
		.n_cells = r->s->n_cells, .first_cell = r->s->first_cell,
		.last_cell = r->s->first_cell,
	};
	f->diag = stb_diag(r->x->sink, code, at, "%s", text);
	stb_intern_put(&r->known, key, (uint32_t)strlen(key), (void *)(uintptr_t)r->n); /* a number, not an address */
	return f->diag;
}

void stb_find_other(struct stb_rules_run *r, struct stb_diag *d, const struct stb_eblock *bb, const struct stb_eattr *b,
	const char *words)
{
	if (b->span.file != STB_NO_FILE)
		stb_diag_label(r->x->sink, d, b->span, "%s", words);
	else
		stb_diag_note(r->x->sink, d, "%s: `%s` is the default of %s `%s`", words, stb_attr_text(r, b),
			stb_kind_name(bb->block->kind), bb->block->name);
}

void stb_without_effect(struct stb_rules_run *r, enum stb_code code, const struct stb_eblock *b, const char *attr,
	const struct stb_eblock *because_of, const char *because, const char *why)
{
	const struct stb_eattr *a = stb_eattr(b, attr), *o = because ? stb_eattr(because_of, because) : NULL;
	struct stb_diag *d;

	if (!a || a->is_default || a->origin == STB_FROM_DEFAULT)
		return;
	d = stb_find(r, code, b, a, because_of, o, "`%s` has no effect: %s", stb_attr_text(r, a), why);
	if (!d)
		return;
	stb_diag_here(r->x->sink, d, "has no effect");
	if (o)
		stb_find_other(r, d, because_of, o, "because of this");
}

/* Every required attribute has a value in every cell; references were followed by expand. */
static void look_required(struct stb_rules_run *r)
{
	const struct stb_scope *s = r->s;
	const struct stb_eblock *blocks[8 + 2 * STB_MAX_MOUNTS] = { s->workload, s->database, s->volume, s->storage, s->server, s->pin, s->client,
		s->client_pin };

	for (uint32_t i = 0; i < s->n_mounts; i++) {
		blocks[8 + 2 * i] = s->mounts[i].volume;
		blocks[9 + 2 * i] = s->mounts[i].storage;
	}

	for (size_t k = 0; k < STB_LEN(blocks); k++) {
		const struct stb_shape *shape = blocks[k] ? stb_shape(r->x, blocks[k]->block->type) : NULL;

		for (uint32_t i = 0; shape && i < shape->n_rows; i++) {
			const struct stb_schema_attr *row = shape->rows[i];
			const struct stb_block *b = blocks[k]->block;
			struct stb_diag *d;

			if (!(row->flags & STB_REQUIRED) || row->ref_kind >= 0 || stb_eattr(blocks[k], row->name))
				continue;
			d = stb_find(r, STB_E0525, blocks[k], NULL, NULL, NULL, "%s `%s` has no `%s`",
				stb_kind_name(b->kind), b->name, row->name);
			if (d)
				stb_diag_help(r->x->sink, d,
					"write `%s = ...` in it, or set it in the matrix with an axis or an override",
					row->name);
		}
	}
}

static void look_volume(struct stb_rules_run *r, const struct stb_eblock *volume, const struct stb_eblock *storage)
{
	r->volume = volume;
	r->storage = storage;
	if (volume && storage)
		stb_rules_look_volume(r);
}

static void look(struct stb_rules_run *r)
{
	const char *type = r->s->workload->block->type->type;

	r->w = r->s->workload;
	stb_cost(r->s, &r->cost);
	if (!strcmp(type, "mix")) { /* its parts are scopes of their own */
		stb_rules_look_mix(r);
		return;
	}
	look_required(r);
	if (!strcmp(type, "oltp"))
		stb_rules_look_oltp(r);
	else
		stb_rules_look_io(r);
	look_volume(r, r->s->volume, r->s->storage);
	for (uint32_t i = 0; i < r->s->n_mounts; i++)
		look_volume(r, r->s->mounts[i].volume, r->s->mounts[i].storage);
	stb_rules_look_place(r);
}

/* "engine = psync  depth = 16": the axes that made the attributes what they are, in the first cell; NULL where none did. */
static const char *exclusion(struct stb_rules_run *r, const struct stb_finding *f)
{
	const struct stb_xmatrix *m = f->matrix;
	const uint32_t *point = r->x->planned[f->first_cell].point;
	const char *text = NULL;

	for (uint32_t axis = 0; axis < m->n_axes; axis++) {
		bool concerned = false;

		for (size_t i = 0; i < STB_LEN(f->attrs); i++) {
			const char *name = f->attrs[i] && f->attrs[i]->axis ? f->attrs[i]->axis :
				f->attrs[i] && f->blocks[i] ? stb_kind_name(f->blocks[i]->block->kind) : "";

			concerned = concerned || !strcmp(m->axes[axis].name, name);
		}
		if (concerned && point[axis] != STB_NONE && m->axes[axis].n_values > 1)
			text = stb_arena_printf(r->x->arena, "%s%s%s = %s", text ? text : "", text ? "  " : "",
				m->axes[axis].name, m->axes[axis].values[point[axis]].key);
	}
	return text;
}

static void finish(struct stb_rules_run *r, const struct stb_finding *f)
{
	const char *where;

	stb_tell_cells(r->x, f->diag, f->matrix, f->n_cells, f->first_cell);
	if (stb_code_info(f->code)->severity != STB_SEV_ERROR || f->n_cells == f->matrix->n_cells)
		return;
	where = exclusion(r, f);
	if (where)
		stb_diag_help(r->x->sink, f->diag,
			"or leave such cells out: exclude { reason = \"...\"  where { %s } }", where);
}

void stb_rules_run(struct stb_expansion *x, const char ***notes, uint32_t *n_notes)
{
	struct stb_rules_run r = { .x = x };
	uint32_t n = 0;

	stb_intern_init(&r.known, x->arena);
	for (uint32_t i = 0; i < x->n_scopes; i++) {
		r.s = x->scopes[i];
		look(&r);
	}
	stb_rules_look_unused(&r);
	*notes = STB_NEW_ARRAY(x->arena, const char *, r.n + x->n_fallen + 1);
	for (uint32_t i = 0; i < r.n; i++) {
		finish(&r, &r.findings[i]);
		if (stb_code_info(r.findings[i].code)->severity == STB_SEV_NOTE)
			(*notes)[n++] = r.findings[i].diag->text;
	}
	for (uint32_t i = 0; i < x->n_fallen; i++)
		(*notes)[n++] = x->fallen[i];
	*n_notes = n;
}
