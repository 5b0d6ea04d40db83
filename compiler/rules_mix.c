/*
 * rules_mix.c - rules of workloads that name workloads: what a mix runs at the same time, and what fills a volume before it is measured.
 */
#include "compiler/rules.h"
#include "runtime/base/metric.h"

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

/* Whether two io workloads of a mix work on one file, and one of them writes it without saying that they share it. */
static bool collide(const struct stb_scope *a, const struct stb_scope *b)
{
	const struct stb_eblock *x = a->workload, *y = b->workload;

	if (!stb_io_same_file(a, b) || (!stb_io_writes(x) && !stb_io_writes(y) && !stb_io_trims(x) && !stb_io_trims(y)))
		return false;
	return !stb_eattr_true(x, "shared_file") || !stb_eattr_true(y, "shared_file");
}

/* Whether one reads back what the other overwrites. */
static bool spoils(const struct stb_scope *writer, const struct stb_scope *verifier)
{
	return stb_io_same_file(writer, verifier) && (stb_io_writes(writer->workload) || stb_io_trims(writer->workload)) &&
		!stb_eattr_is(verifier->workload, "verify", "none");
}

/* The first attribute in which the data sets of two oltp workloads differ; NULL: they want the same tables. */
static const char *other_tables(const struct stb_eblock *a, const struct stb_eblock *b)
{
	for (const char *const *name = stb_dataset_attrs(); *name; name++) {
		const struct stb_eattr *x = stb_dataset_has(a, *name) ? stb_eattr(a, *name) : NULL,
			*y = stb_dataset_has(b, *name) ? stb_eattr(b, *name) : NULL;

		/* how rows are drawn is each one's own; the tables are filled as the first has it */
		if (!strncmp(*name, "rand_", 5) || (!x && !y))
			continue;
		if (!x || !y || !stb_val_equal(&x->val, &y->val))
			return *name;
	}
	return NULL;
}

/* Both give rows the next free ids, counted from what the tables held before. */
static bool both_number(const struct stb_eblock *a, const struct stb_eblock *b)
{
	const char *const script = stb_eattr_is(a, "script", "bulk_insert") ? "bulk_insert" : "insert";

	return stb_eattr_is(a, "script", script) && stb_eattr_is(b, "script", script) &&
		(script[0] == 'b' || !stb_eattr_true(a, "auto_inc") || !stb_eattr_true(b, "auto_inc"));
}

static void look_tables(struct stb_rules_run *r, const struct stb_scope *a, const struct stb_scope *b)
{
	const char *x = a->workload->block->name, *y = b->workload->block->name, *differs = other_tables(a->workload, b->workload);

	if (a->database != b->database)
		refuse_mix(r, b->workload->block, "runs `%s` and `%s` on two databases; only one is under test at a time", x, y);
	else if (differs)
		refuse_mix(r, b->workload->block, "runs `%s` and `%s` on the same tables, and their `%s` says otherwise of them", x, y, differs);
	else if (both_number(a->workload, b->workload))
		refuse_mix(r, b->workload->block, "lets `%s` and `%s` insert rows of the same ids; one workload with more threads does that", x, y);
}

static void look_pairs(struct stb_rules_run *r)
{
	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct stb_scope *a = r->s->parts[j], *b = r->s->parts[i];
			const char *x = a->workload->block->name, *y = b->workload->block->name;

			if (a->database && b->database)
				look_tables(r, a, b);
			else if (collide(a, b))
				refuse_mix(r, b->workload->block,
					"lets `%s` and `%s` write one file; give them a filename each, or shared_file = true in both", x, y);
			else if (spoils(a, b) || spoils(b, a))
				refuse_mix(r, b->workload->block, "lets `%s` write what `%s` verifies; give them a filename each", spoils(a, b) ? x : y,
					spoils(a, b) ? y : x);
		}
	}
}

/* NAME.metric stands beside read.metric and metrics of the mix. */
static void look_names(struct stb_rules_run *r)
{
	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		const struct stb_block *part = r->s->parts[i]->workload->block;

		if (stb_metric_takes(part->name))
			refuse_mix(r, part, "runs a workload called `%s`, and names of metrics begin so: `%s.iops` would not be its own", part->name,
				part->name);
	}
}

static const struct stb_eattr *warm_up(const struct stb_scope *s)
{
	const struct stb_eattr *a = stb_eattr(s->workload, s->database ? "warmup_time" : "ramp_time");

	return a && a->val.num > 0 ? a : NULL;
}

/* What is steady is the load of the whole mix, so that all of it has to run before it is measured. */
static void look_steady(struct stb_rules_run *r)
{
	const struct stb_scope *steady = NULL;

	for (uint32_t i = 0; i < r->s->n_parts && !steady; i++)
		steady = stb_eattr(r->s->parts[i]->workload, "steady_state.metric") ? r->s->parts[i] : NULL;
	for (uint32_t i = 0; i < r->s->n_parts && steady; i++) {
		const struct stb_scope *part = r->s->parts[i];

		if (stb_eattr(part->workload, "steady_state.metric") || warm_up(part))
			continue;
		refuse_mix(r, part->workload->block,
			"waits until `%s` is steady, and `%s` would not be there: it has no %s, so that it begins with the measurement",
			steady->workload->block->name, part->workload->block->name, part->database ? "warmup_time" : "ramp_time");
	}
}

/* --- how it ends --- */

static const struct stb_eattr *time_limit(const struct stb_scope *s)
{
	const struct stb_eattr *a = stb_eattr(s->workload, s->database ? "time" : "runtime");

	return a && a->val.num > 0 ? a : NULL;
}

static bool ends_by_size(const struct stb_scope *s)
{
	return s->database ? stb_eattr_u64(s->workload, "events", 0) > 0 : !stb_eattr_true(s->workload, "time_based");
}

static void mix_of_times(struct stb_rules_run *r)
{
	const struct stb_scope *first = NULL;

	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		const struct stb_scope *part = r->s->parts[i];
		const struct stb_eattr *limit = time_limit(part), *other = first ? time_limit(first) : NULL;
		struct stb_diag *d;

		first = first || !limit ? first : part;
		if (!limit || !other || !stb_val_cmp(&limit->val, &other->val))
			continue;
		d = stb_find(r, STB_W0524, r->w, stb_eattr(r->w, "run"), part->workload, limit,
			"mix `%s` runs `%s` for %s and `%s` for %s: the longer one is measured without the other for the rest", r->w->block->name,
			first->workload->block->name, stb_val_label(r->x->arena, &other->val), part->workload->block->name,
			stb_val_label(r->x->arena, &limit->val));
		if (d)
			stb_diag_help(r->x->sink, d, "give them the same time, so that every figure is one of the mix");
	}
}

static void mix_of_sizes(struct stb_rules_run *r)
{
	const char *names = NULL;

	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		if (ends_by_size(r->s->parts[i]))
			names = stb_arena_printf(r->x->arena, "%s%s`%s`", names ? names : "", names ? ", " : "", r->s->parts[i]->workload->block->name);
	}
	if (names)
		stb_find(r, STB_N0524, r->w, stb_eattr(r->w, "run"), NULL, NULL,
			"in mix `%s` %s may end by size before the others, which go on alone; overlap says for how much of the time all of them ran", r->w->block->name,
			names);
}

/* --- what it needs --- */

/* Each volume holds what all workloads of the mix lay out there. */
static void fits_mix(struct stb_rules_run *r)
{
	for (uint32_t i = 0; i < r->s->n_parts; i++) {
		struct stb_scope on = *r->s->parts[i];
		const struct stb_eblock *limit;
		struct stb_cost c;
		struct stb_diag *d;
		uint32_t before = 0;

		if (!on.volume || !on.storage || stb_on_external_database(&on))
			continue;
		on.n_parts = on.n_fills = 0;
		for (uint32_t k = 0; k < r->s->n_parts; k++) {
			const struct stb_scope *part = r->s->parts[k];

			if (part->volume != on.volume || stb_on_external_database(part))
				continue;
			before += k < i;
			on.parts[on.n_parts++] = part;
		}
		if (before || on.n_parts < 2)
			continue;
		on.workload = r->w;
		stb_cost(&on, &c);
		if (c.have_bytes == STB_UNBOUNDED || (c.need_bytes <= c.have_bytes && c.have_bytes - c.need_bytes >= c.reserve_bytes))
			continue;
		limit = stb_eattr(on.volume, "size") ? on.volume : on.storage;
		d = stb_find(r, STB_E0418, r->w, stb_eattr(r->w, "run"), limit, stb_eattr(limit, "size"),
			"the workloads of mix `%s` need %s together, and %s `%s` has %s%s%s", r->w->block->name, stb_bytes_text(r->x->arena, c.need_bytes),
			stb_kind_name(limit->block->kind), limit->block->name, stb_bytes_text(r->x->arena, c.have_bytes),
			c.reserve_bytes ? " less a reserve of " : "", c.reserve_bytes ? stb_bytes_text(r->x->arena, c.reserve_bytes) : "");
		if (d)
			stb_find_other(r, d, limit, stb_eattr(limit, "size"), "the size is here");
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
	look_names(r);
	look_pairs(r);
	look_steady(r);
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
