/*
 * rules_mix.c - rules of workloads that name workloads: what a mix runs at the same time, and what fills a volume before it is measured.
 */
#include "compiler/rules.h"

#include <stdarg.h>
#include <string.h>

static const struct stb_block *listed(const struct stb_rules_run *r, const struct stb_eattr *a, uint32_t i)
{
	return stb_model_find(r->x->m, STB_K_WORKLOAD, a->val.items[i].str);
}

/* --- prepare --- */

static void refuse_fill(struct stb_rules_run *r, const struct stb_block *fill, const char *why)
{
	const struct stb_eattr *a = stb_eattr(r->w, "prepare");
	struct stb_diag *d = stb_find(r, STB_E0499, r->w, a, NULL, NULL, "workload `%s` cannot prepare workload `%s`: %s", fill->name,
		r->w->block->name, why);

	if (d && fill != r->w->block)
		stb_diag_label(r->x->sink, d, fill->span, "declared here");
}

void stb_rule_prepare(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "prepare");

	if (a && a->val.n_items > STB_MAX_PARTS)
		stb_find(r, STB_E0499, r->w, a, NULL, NULL, "workload `%s` lists %u workloads to prepare it; at most %d are run",
			r->w->block->name, a->val.n_items, STB_MAX_PARTS);
	for (uint32_t i = 0; a && i < a->val.n_items; i++) {
		const struct stb_block *fill = listed(r, a, i);

		if (!fill)
			continue;
		if (fill == r->w->block)
			refuse_fill(r, fill, "it is the workload itself");
		else if (strcmp(fill->type->type, "io"))
			refuse_fill(r, fill, "only io workloads fill a volume");
	}
	for (uint32_t i = 0; i < r->s->n_fills; i++) {
		const struct stb_eblock *fill = r->s->fills[i]->workload;
		const struct stb_eattr *own = stb_eattr(fill, "prepare");

		if (own && own->val.n_items)
			refuse_fill(r, fill->block, "it would have to be prepared itself");
		else if (r->s->fills[i]->volume != r->s->volume)
			refuse_fill(r, fill->block, "it works on another volume");
	}
}

void stb_rule_raw_read(struct stb_rules_run *r)
{
	const struct stb_eattr *rw = stb_eattr(r->w, "rw"), *fs = stb_eattr(r->s->volume, "filesystem");
	struct stb_diag *d;

	if (!rw || (!stb_io_reads(r->w) && !stb_io_trims(r->w)) || stb_eattr_is(r->w, "ioengine", "null") || !fs || strcmp(fs->val.str, "none") ||
		!strcmp(r->s->storage->block->type->type, "external") || stb_eattr(r->w, "prepare"))
		return;
	d = stb_find(r, STB_E0522, r->w, rw, r->s->volume, fs,
		"workload `%s` %s raw volume `%s`, and nothing says that it holds data", r->w->block->name,
		stb_io_trims(r->w) ? "trims" : "reads", r->s->volume->block->name);
	if (!d)
		return;
	stb_find_other(r, d, r->s->volume, fs, "the volume is raw here");
	stb_diag_note(r->x->sink, d, "blocks that were never written are read at the speed of memory");
	stb_diag_help(r->x->sink, d, "write prepare = [FILL], FILL being an io workload that writes it, or prepare = [] where it is known to be filled");
}

/* --- mix --- */

STB_PRINTF(3, 4) static void refuse_mix(struct stb_rules_run *r, const struct stb_block *part, const char *fmt, ...)
{
	const struct stb_eattr *a = stb_eattr(r->w, "run");
	struct stb_diag *d;
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	d = stb_find(r, STB_E0524, r->w, a, NULL, NULL, "mix `%s` %s", r->w->block->name, why);
	if (d && part)
		stb_diag_label(r->x->sink, d, part->span, "declared here");
}

static bool alone_in_file(const struct stb_eblock *w)
{
	return stb_eattr_u64(w, "numjobs", 1) == 1 || stb_eattr_true(w, "shared_file");
}

/* Whether two io workloads of a mix work on one file, and one of them writes it without saying that they share it. */
static bool collide(const struct stb_scope *a, const struct stb_scope *b)
{
	const struct stb_eblock *x = a->workload, *y = b->workload;
	const struct stb_eattr *name = stb_eattr(x, "filename");
	const bool raw = stb_eattr_is(a->volume, "filesystem", "none");

	if (a->volume != b->volume || !a->volume || (!stb_io_writes(x) && !stb_io_writes(y) && !stb_io_trims(x) && !stb_io_trims(y)))
		return false;
	if (stb_eattr_true(x, "shared_file") && stb_eattr_true(y, "shared_file"))
		return false;
	return raw || (name && stb_eattr_is(y, "filename", name->val.str) && alone_in_file(x) == alone_in_file(y));
}

static void look_pairs(struct stb_rules_run *r)
{
	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct stb_scope *a = r->s->parts[j], *b = r->s->parts[i];
			const char *x = a->workload->block->name, *y = b->workload->block->name;

			if (a->database && b->database && a->database != b->database)
				refuse_mix(r, b->workload->block, "runs `%s` and `%s` on two databases; only one is under test at a time", x, y);
			else if (!a->database && !b->database && collide(a, b))
				refuse_mix(r, b->workload->block,
					"lets `%s` and `%s` write one file; give them a filename each, or shared_file = true in both", x, y);
		}
	}
}

static void mix_of_workloads(struct stb_rules_run *r)
{
	const struct stb_eattr *a = stb_eattr(r->w, "run");

	if (!a || a->val.n_items < 2) {
		refuse_mix(r, NULL, "runs fewer than two workloads");
		return;
	}
	if (a->val.n_items > STB_MAX_PARTS)
		refuse_mix(r, NULL, "runs %u workloads; at most %d run at the same time", a->val.n_items, STB_MAX_PARTS);
	for (uint32_t i = 0; i < a->val.n_items; i++) {
		const struct stb_block *part = listed(r, a, i);

		if (part && !strcmp(part->type->type, "mix"))
			refuse_mix(r, part == r->w->block ? NULL : part, "runs mix `%s`; mixes do not nest", part->name);
	}
	look_pairs(r);
}

typedef void look_fn(struct stb_rules_run *r);

static look_fn *const table[] = {
#define LOOK_IO(look)
#define LOOK_OLTP(look)
#define LOOK_VOLUME(look)
#define LOOK_MIX(look) look,
#define LOOK_SERVER(look)
#define LOOK_DATABASE(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)
#include "compiler/rules.def"
#undef STB_RULE
};

void stb_rules_look_mix(struct stb_rules_run *r)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		table[i](r);
}
