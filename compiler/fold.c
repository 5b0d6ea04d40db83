/*
 * fold.c - the value of an expression as an attribute wants it: its type, unit, range and words, with messages that name the attribute and
 * what to write instead.
 *
 * A bare word is looked for among the attribute's words (or the blocks it may name) and among the lets; both is an error, never a preference.
 */
#include "compiler/eval.h"
#include "compiler/fio_hint.h"
#include "compiler/options.h"
#include "runtime/base/metric.h"

#include <string.h>

enum { MAX_ITEMS = 4096 };

struct fold {
	struct stb_model *m;
	const struct stb_schema_attr *row;
	uint32_t *decimals;
};

static bool is_number(enum stb_vtype type)
{
	return type >= STB_V_COUNT && type <= STB_V_BYTE_RATE;
}

/* --- what to write instead ----------------------------------------------------------------------------------------------------------- */

/* A number without unit where one is needed, or with one where none is: the likely readings. NULL: nothing sensible comes to mind. */
static const char *spelling(struct stb_arena *a, enum stb_vtype want, const struct stb_val *v)
{
	struct stb_val n = *v;

	n.type = want;
	if (v->type != STB_V_COUNT || v->den != 1)
		return NULL;
	switch (want) {
	case STB_V_BYTES:
		return stb_val_text(a, &n);
	case STB_V_TIME:
		return stb_arena_printf(a, "%llds", (long long)v->num);
	case STB_V_SHARE:
		return stb_arena_printf(a, "%lld%%", (long long)v->num);
	case STB_V_RATE:
		return stb_arena_printf(a, "%lld/s", (long long)v->num);
	case STB_V_BYTE_RATE:
		return stb_arena_printf(a, "%s/s", stb_val_text(a, &(struct stb_val){ .type = STB_V_BYTES, .num = v->num, .den = 1 }));
	case STB_V_BOOL:
		return v->num ? "true" : "false";
	case STB_V_NONE:
	case STB_V_COUNT:
	case STB_V_CLOCK:
	case STB_V_STRING:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		return NULL;
	}
	return NULL;
}

static const char *example(enum stb_vtype want)
{
	switch (want) {
	case STB_V_BOOL:
		return "true or false";
	case STB_V_COUNT:
		return "a plain number, such as 16";
	case STB_V_BYTES:
		return "bytes with their unit, such as 4KiB or 1GB";
	case STB_V_TIME:
		return "a time with its unit, such as 30s or 5min";
	case STB_V_SHARE:
		return "a share, such as 70%";
	case STB_V_RATE:
		return "a rate, such as 500/s";
	case STB_V_BYTE_RATE:
		return "a byte rate, such as 100MiB/s";
	case STB_V_CLOCK:
		return "a time of day, such as 09:30";
	case STB_V_STRING:
		return "text in double quotes";
	case STB_V_SECRET:
		return "env(\"NAME\") or file(\"PATH\")";
	case STB_V_NONE:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		return NULL;
	}
	return NULL;
}

static bool has_let(const struct stb_node *node)
{
	return node->kind == STB_N_PATH;
}

/* E0301 with what to write: `bs = 4096` -> 4KiB or 4096B. v: what the value turned out to be. */
static bool refuse_type(struct fold *f, enum stb_vtype want, const struct stb_node *node, const struct stb_val *v)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_arena *a = &f->m->c->arena;
	const bool unitless = v->type == STB_V_COUNT && is_number(want);
	const char *text = stb_source_text(f->m, node->span), *write = spelling(a, want, v);
	struct stb_diag *d;

	if (unitless)
		d = stb_diag(s, STB_E0301, node->span, "`%s` is %s, and `%s` has no unit", f->row->name, stb_type_phrase(want), text);
	else
		d = stb_diag(s, STB_E0301, node->span, "`%s` is %s, but `%s` is %s", f->row->name, stb_type_phrase(want), text,
			stb_type_phrase(v->type));
	if (has_let(node)) {
		const struct stb_let *let = stb_let_find(f->m, node->text);

		if (let)
			stb_diag_label(s, d, let->span, "`%s` is %s here", let->name, stb_val_text(a, v));
		stb_diag_help(s, d, "write %s", example(want) ? example(want) : "a value of the right type");
		return false;
	}
	if (write && want == STB_V_BYTES && v->num < 512) {
		stb_diag_here(s, d, "%lldKiB, %lldMiB or %lldGiB?", (long long)v->num, (long long)v->num, (long long)v->num);
		stb_diag_help(s, d, "`stb explain units` lists the units");
		return false;
	}
	if (write && want == STB_V_BYTES && strcmp(write + strspn(write, "0123456789"), "B") != 0)
		stb_diag_here(s, d, "write %s or %lldB", write, (long long)v->num);
	else if (write)
		stb_diag_here(s, d, "write %s", write);
	if (write)
		stb_diag_fixit(s, d, node->span, "%s", write);
	else if (example(want))
		stb_diag_help(s, d, "write %s", example(want));
	return false;
}

/* --- words and names ----------------------------------------------------------------------------------------------------------------- */

/* The space-separated words of a row as an array. */
static const char **split_words(struct stb_arena *a, const char *words, size_t *n)
{
	const char **list = STB_NEW_ARRAY(a, const char *, strlen(words) / 2 + 1);

	*n = 0;
	for (const char *p = words; *p;) {
		const size_t len = strcspn(p, " ");

		list[(*n)++] = stb_arena_strndup(a, p, len);
		p += len;
		p += *p == ' ';
	}
	return list;
}

static bool has_word(struct stb_arena *a, const char *words, const char *word)
{
	size_t n;
	const char **list = split_words(a, words, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], word) == 0)
			return true;
	}
	return false;
}

static bool refuse_word(struct fold *f, const struct stb_node *node, const char *word)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_arena *a = &f->m->c->arena;
	size_t n;
	const char **list = split_words(a, f->row->words, &n);
	const char *near = stb_nearest(word, list, n);
	const struct stb_let *let = node->kind == STB_N_PATH ? stb_let_find(f->m, node->text) : NULL;
	struct stb_diag *d = stb_diag(s, STB_E0304, node->span, "`%s` cannot be `%s`", f->row->name, word);
	struct stb_buf all;

	if (d == &s->scratch)
		return false;
	if (let)
		stb_diag_label(s, d, let->span, "which `%s` stands for", let->name);
	if (!let && f->row->kind == STB_K_WORKLOAD && stb_fio_hint_word(s, d, node->span, f->row->name, word))
		near = NULL;
	if (near) {
		stb_diag_here(s, d, "did you mean `%s`?", near);
		if (!let)
			stb_diag_fixit(s, d, node->span, "%s", near);
	}
	stb_buf_init(&all);
	for (size_t i = 0; i < n; i++)
		stb_buf_printf(&all, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", list[i]);
	if (f->row->flags & STB_DISTRIBUTION)
		stb_buf_adds(&all, ", zipf(1.2), pareto(0.2), normal(10%) or zoned([60%, 10%], ...)");
	stb_diag_help(s, d, "%s is %s", f->row->name, stb_buf_str(&all));
	stb_buf_fini(&all);
	return false;
}

static void refuse_ambiguous(struct fold *f, const struct stb_node *node, const struct stb_let *let, const char *other)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0306, node->span, "`%s` is both %s and a %s", node->text, other, let->is_param ? "param" : "let");

	stb_diag_label(s, d, let->span, "the %s", let->is_param ? "param" : "let");
	stb_diag_help(s, d, "rename the %s", let->is_param ? "param" : "let");
}

/* Text or a dashed word where a bare word or name belongs; true: reported. */
static bool refuse_misquoted(struct fold *f, const struct stb_node *node, bool is_word, bool known)
{
	struct stb_sink *s = &f->m->c->sink;

	if (stb_is_dashed_word(f->m, node)) {
		stb_report_dashed_word(f->m, node, STB_DASHED_NAME);
		return true;
	}
	if (node->kind != STB_N_STRING)
		return false;
	const char *text = node->n_parts == 1 && !node->parts[0].is_name ? stb_arena_strndup(&f->m->c->arena, node->parts[0].text, node->parts[0].len) : NULL;
	struct stb_diag *d = stb_diag(s, STB_E0308, node->span, "`%s` takes %s without quotes", f->row->name, is_word ? "a word" : "a name");

	if (text && known) {
		stb_diag_here(s, d, "write %s", text);
		stb_diag_fixit(s, d, node->span, "%s", text);
	}
	return true;
}

static const char *literal_text(struct fold *f, const struct stb_node *node)
{
	if (node->kind != STB_N_STRING || node->n_parts != 1 || node->parts[0].is_name)
		return "";
	return stb_arena_strndup(&f->m->c->arena, node->parts[0].text, node->parts[0].len);
}

/* A word of the row's list; where it has none, any word (metrics and axes, which later passes know). */
static bool fold_word(struct fold *f, const struct stb_node *node, struct stb_val *out)
{
	struct stb_model *m = f->m;
	const char *words = f->row->words;
	struct stb_let *let;
	bool own;

	if (refuse_misquoted(f, node, true, !words || has_word(&m->c->arena, words, literal_text(f, node))))
		return false;
	if (node->kind != STB_N_PATH) {
		struct stb_val v;

		if (!stb_eval(m, f->row, node, false, &v))
			return false;
		if (words && v.type != STB_V_WORD)
			return refuse_word(f, node, stb_source_text(m, node->span));
		return v.type == STB_V_WORD ? (*out = v, true) : refuse_type(f, STB_V_WORD, node, &v);
	}
	let = node->n_names == 1 ? stb_let_find(m, node->text) : NULL;
	if (words) {
		own = has_word(&m->c->arena, words, node->text);
	} else {
		struct stb_metric metric;

		own = !let || stb_metric_find(node->text, &metric);
	}
	if (own && let) {
		char *what = stb_arena_printf(&m->c->arena, words ? "a value of `%s`" : "a metric (`%s`)", f->row->name);

		refuse_ambiguous(f, node, let, what);
		return false;
	}
	if (own) {
		*out = stb_val_str(STB_V_WORD, node->text);
		return true;
	}
	if (!let)
		return refuse_word(f, node, node->text);
	if (!stb_let_value(m, let, out))
		return false;
	if (out->type != STB_V_WORD)
		return refuse_type(f, STB_V_WORD, node, out);
	if (f->row->flags & STB_DISTRIBUTION && strchr(out->str, '('))
		return true;
	return !words || has_word(&m->c->arena, words, out->str) ? true : refuse_word(f, node, out->str);
}

static bool fold_ref(struct fold *f, const struct stb_node *node, struct stb_val *out)
{
	struct stb_model *m = f->m;
	const enum stb_kind kind = (enum stb_kind)f->row->ref_kind;
	struct stb_let *let;
	struct stb_val v;

	if (refuse_misquoted(f, node, false, stb_model_find(m, kind, literal_text(f, node)) != NULL))
		return false;
	if (node->kind != STB_N_PATH)
		return stb_eval(m, f->row, node, false, &v) ? refuse_type(f, STB_V_REF, node, &v) : false;

	let = node->n_names == 1 ? stb_let_find(m, node->text) : NULL;
	v = stb_val_str(STB_V_WORD, node->text);
	if (let && stb_model_find(m, kind, node->text)) {
		refuse_ambiguous(f, node, let, stb_arena_printf(&m->c->arena, "a %s", stb_kind_name(kind)));
		return false;
	}
	if (let && !stb_let_value(m, let, &v))
		return false;
	if (v.type != STB_V_WORD)
		return refuse_type(f, STB_V_REF, node, &v);
	if (!stb_model_find(m, kind, v.str)) {
		const struct stb_node name = { .kind = STB_N_PATH, .span = node->span, .text = v.str };

		stb_report_unknown_name(m, &name, (int)kind);
		return false;
	}
	*out = stb_val_str(STB_V_REF, v.str);
	return true;
}

/* --- text and secrets ---------------------------------------------------------------------------------------------------------------- */

static bool fold_string(struct fold *f, const struct stb_node *node, struct stb_val *out)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_val v;

	if (stb_is_dashed_word(f->m, node)) {
		stb_report_dashed_word(f->m, node, STB_DASHED_TEXT);
		return false;
	}
	if (!stb_eval(f->m, f->row, node, false, &v))
		return false;
	if (v.type == STB_V_STRING || (v.type == STB_V_SECRET && stb_takes_secret(f->row))) {
		*out = v;
		return true;
	}
	if (v.type == STB_V_WORD && node->kind == STB_N_PATH && strcmp(v.str, node->text) == 0) {
		struct stb_diag *d = stb_diag(s, STB_E0308, node->span, "`%s` is text, which stands in quotes", f->row->name);

		stb_diag_here(s, d, "write \"%s\"", node->text);
		stb_diag_fixit(s, d, node->span, "\"%s\"", node->text);
		stb_diag_help(s, d, "there is no let or param called `%s`", node->text);
		return false;
	}
	return refuse_type(f, STB_V_STRING, node, &v);
}

/* What a string says, apart from how it was written: other lines may write it another way. */
static void mask_parts(struct stb_sink *s, const struct stb_node *node)
{
	for (uint32_t i = 0; i < node->n_parts; i++)
		if (!node->parts[i].is_name)
			stb_sink_mask_text(s, node->parts[i].text, node->parts[i].len);
	for (uint32_t i = 0; i < node->n_items; i++)
		if (node->items[i])
			mask_parts(s, node->items[i]);
}

/* Whatever stands where a secret belongs and is no reference to one: not a byte of it is shown. */
static bool refuse_literal_secret(struct fold *f, const struct stb_node *node, const struct stb_let *let)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_diag *d;

	stb_sink_mask(s, let ? let->node->span : node->span);
	d = stb_diag(s, STB_E0314, node->span, "`%s` is written into the spec", f->row->name);
	d->mask = let ? let->node->span : node->span;
	mask_parts(s, let ? let->node : node);
	stb_diag_here(s, d, let ? "this let holds it" : "say where it is, not what it is");
	if (let)
		stb_diag_label(s, d, let->span, "written here");
	stb_diag_help(s, d, "write %s = env(\"NAME\") or %s = file(\"PATH\")", f->row->name, f->row->name);
	return false;
}

static bool fold_secret(struct fold *f, const struct stb_node *node, struct stb_val *out)
{
	struct stb_let *let = node->kind == STB_N_PATH && node->n_names == 1 ? stb_let_find(f->m, node->text) : NULL;

	if (node->kind == STB_N_CALL && (strcmp(node->text, "env") == 0 || strcmp(node->text, "file") == 0))
		return stb_eval(f->m, f->row, node, false, out);
	if (!let)
		return refuse_literal_secret(f, node, NULL);
	if (let->node->kind != STB_N_CALL && let->node->kind != STB_N_PATH)
		return refuse_literal_secret(f, node, let);
	if (!stb_let_value(f->m, let, out))
		return false;
	return out->type == STB_V_SECRET ? true : refuse_literal_secret(f, node, let);
}

/* --- numbers ------------------------------------------------------------------------------------------------------------------------- */

static uint32_t digits_behind_point(const struct stb_node *node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->text_len; i++) {
		if (node->text[i] != '.')
			continue;
		for (i++; i < node->text_len && (node->text[i] == '_' || (node->text[i] >= '0' && node->text[i] <= '9')); i++)
			n += node->text[i] != '_';
		break;
	}
	return n;
}

static uint32_t written_decimals(const struct stb_model *m, const struct stb_node *node, unsigned depth)
{
	uint32_t n = 0;

	if (!node || depth > 8)
		return 0;
	switch ((int)node->kind) {
	case STB_N_QUANTITY:
		return digits_behind_point(node);
	case STB_N_NEG:
	case STB_N_RANGE:
		for (uint32_t i = 0; i < node->n_items; i++) {
			const uint32_t each = written_decimals(m, node->items[i], depth + 1);

			n = STB_MAX(n, each);
		}
		return n;
	case STB_N_PATH: {
		const struct stb_let *let = node->n_names == 1 ? stb_let_find(m, node->text) : NULL;

		return let ? written_decimals(m, let->node, depth + 1) : 0;
	}
	default:
		return 0;
	}
}

static bool check_whole(struct fold *f, const struct stb_node *node, const struct stb_val *v)
{
	struct stb_sink *s = &f->m->c->sink;
	const bool counts = v->type == STB_V_COUNT || v->type == STB_V_BYTES || v->type == STB_V_TIME;
	struct stb_diag *d;

	if (!counts || v->den == 1 || f->row->flags & (STB_FIGURE | STB_FRACTION))
		return true;
	d = stb_diag(s, STB_E0302, node->span, "`%s` is %s, and `%s` is no whole number%s", f->row->name, stb_type_phrase(v->type),
		stb_source_text(f->m, node->span),
		v->type == STB_V_BYTES ? " of bytes" : v->type == STB_V_TIME ? " of nanoseconds" : "");
	if (node->kind != STB_N_QUANTITY)
		stb_diag_here(s, d, "this is %s", stb_val_text(&f->m->c->arena, v));
	return false;
}

static bool check_bounds(struct fold *f, const struct stb_node *node, const struct stb_val *v)
{
	struct stb_sink *s = &f->m->c->sink;
	const struct stb_schema_attr *row = f->row;
	struct stb_val min, max;
	struct stb_diag *d;
	const bool low = stb_schema_bound(row->min, &min) && min.type == v->type && stb_val_cmp(v, &min) < 0;
	const bool high = stb_schema_bound(row->max, &max) && max.type == v->type && stb_val_cmp(v, &max) > 0;

	if (!low && !high)
		return true;
	d = stb_diag(s, STB_E0303, node->span, "`%s` cannot be %s", row->name, stb_val_text(&f->m->c->arena, v));
	if (row->min && row->max)
		stb_diag_here(s, d, "from %s to %s", row->min, row->max);
	else
		stb_diag_here(s, d, low ? "at least %s" : "at most %s", low ? row->min : row->max);
	return false;
}

static bool check_number(struct fold *f, enum stb_vtype want, const struct stb_node *node, const struct stb_val *v)
{
	if (want != STB_V_NONE && v->type != want)
		return refuse_type(f, want, node, v);
	return !is_number(v->type) || (check_whole(f, node, v) && check_bounds(f, node, v));
}

static bool report_no_number(struct fold *f, enum stb_vtype want, const struct stb_node *node, const struct stb_val *v)
{
	struct stb_sink *s = &f->m->c->sink;

	if (v->type == STB_V_WORD && node->kind == STB_N_PATH && strcmp(v->str, node->text) == 0) {
		const char *names[] = { "true", "false" };
		struct stb_diag *d = stb_diag(s, STB_E0301, node->span, "`%s` is %s, but `%s` is a word", f->row->name, stb_type_phrase(want), node->text);

		if (d == &s->scratch)
			return false;
		const char *near = want == STB_V_BOOL ? stb_nearest(node->text, names, 2) : stb_nearest_let(f->m, node->text);

		if (want == STB_V_BOOL && !near && (strcmp(node->text, "yes") == 0 || strcmp(node->text, "on") == 0))
			near = "true";
		if (want == STB_V_BOOL && !near && (strcmp(node->text, "no") == 0 || strcmp(node->text, "off") == 0))
			near = "false";
		if (near)
			stb_diag_here(s, d, want == STB_V_BOOL ? "write %s" : "did you mean `%s`?", near);
		if (near)
			stb_diag_fixit(s, d, node->span, "%s", near);
		else
			stb_diag_help(s, d, "write %s; there is no let or param called `%s`", example(want), node->text);
		return false;
	}
	return refuse_type(f, want, node, v);
}

/* BOOL, CLOCK, numbers, and NONE: any number (a claim's value). */
static bool fold_number(struct fold *f, enum stb_vtype want, const struct stb_node *node, struct stb_val *out)
{
	const bool figure = f->row->flags & STB_FIGURE;
	struct stb_val v;

	if (!stb_eval(f->m, f->row, node, figure, &v))
		return false;
	if (f->decimals)
		*f->decimals = written_decimals(f->m, node, 0);
	if (v.type == STB_V_RANGE) {
		for (int i = 0; i < 2; i++) {
			if (v.items[i].type != STB_V_NONE && !check_number(f, want, node->items[i] ? node->items[i] : node, &v.items[i]))
				return false;
		}
		*out = v;
		return true;
	}
	if (want == STB_V_NONE ? !is_number(v.type) : v.type != want && !is_number(v.type))
		return report_no_number(f, want == STB_V_NONE ? STB_V_COUNT : want, node, &v);
	if (!check_number(f, want, node, &v))
		return false;
	*out = v;
	return true;
}

/* --- one value, lists ---------------------------------------------------------------------------------------------------------------- */

static bool fold_one(struct fold *f, enum stb_vtype want, const struct stb_node *node, struct stb_val *out)
{
	struct stb_sink *s = &f->m->c->sink;

	if (node->kind == STB_N_BAD)
		return false;
	if (node->kind == STB_N_LIST && want != STB_V_SECRET) {
		struct stb_diag *d = stb_diag(s, STB_E0301, node->span, "`%s` takes one value, not a list", f->row->name);

		if (f->row->type != STB_V_LIST && f->row->kind != STB_K_MATRIX)
			stb_diag_help(s, d, "an axis of a matrix runs several values: axis NAME { set = %s.%s  values = [...] }",
				stb_kind_name(f->row->kind), f->row->name);
		return false;
	}
	switch (want) {
	case STB_V_WORD:
		return fold_word(f, node, out);
	case STB_V_REF:
		return fold_ref(f, node, out);
	case STB_V_STRING:
		return fold_string(f, node, out);
	case STB_V_SECRET:
		return fold_secret(f, node, out);
	case STB_V_NONE:
	case STB_V_BOOL:
	case STB_V_COUNT:
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
	case STB_V_CLOCK:
		return fold_number(f, want, node, out);
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		break;
	}
	STB_BUG("a row of a type that no expression has");
}

static bool refuse_repetition(struct fold *f, const struct stb_node *list, uint32_t first, uint32_t second, const struct stb_val *v)
{
	struct stb_sink *s = &f->m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0321, list->items[second]->span, "`%s` names %s twice", f->row->name, stb_val_label(&f->m->c->arena, v));

	stb_diag_label(s, d, list->items[first]->span, "first here");
	return false;
}

/* A list that a let holds: its items as if they stood here. */
static bool fold_let_list(struct fold *f, const struct stb_node *node, bool *handled, struct stb_val *out)
{
	struct stb_let *let = node->kind == STB_N_PATH && node->n_names == 1 ? stb_let_find(f->m, node->text) : NULL;
	struct stb_val ignored;

	*handled = let && let->node->kind == STB_N_LIST && !let->set_text;
	if (!*handled)
		return false;
	return stb_let_value(f->m, let, &ignored) && stb_fold(f->m, f->row, let->node, out, f->decimals);
}

static bool fold_list(struct fold *f, const struct stb_node *node, struct stb_val *out)
{
	const bool may_repeat = f->row->elem == STB_V_STRING || f->row->elem == STB_V_SHARE; /* words of a command line, equal shares */
	struct stb_val list = { .type = STB_V_LIST, .den = 1 };
	bool ok = true, handled;

	ok = fold_let_list(f, node, &handled, out);
	if (handled)
		return ok;
	ok = node->kind != STB_N_BAD;
	list.n_items = node->kind == STB_N_LIST ? node->n_items : 1;
	if (list.n_items > MAX_ITEMS) {
		stb_diag(&f->m->c->sink, STB_E0303, node->span, "`%s` has %u items; at most %d are read", f->row->name, list.n_items, MAX_ITEMS);
		return false;
	}
	list.items = STB_NEW_ARRAY(&f->m->c->arena, struct stb_val, list.n_items);
	for (uint32_t i = 0; i < list.n_items; i++) {
		const struct stb_node *item = node->kind == STB_N_LIST ? node->items[i] : node;

		if (!fold_one(f, f->row->elem, item, &list.items[i])) {
			ok = false;
			continue;
		}
		for (uint32_t j = 0; ok && !may_repeat && j < i; j++) {
			if (stb_val_equal(&list.items[i], &list.items[j]))
				ok = refuse_repetition(f, node, j, i, &list.items[i]);
		}
	}
	*out = list;
	return ok;
}

/* A row that takes one value or several: a list of one is that value, so that both are one cell. */
static bool fold_several(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, struct stb_val *out)
{
	struct stb_schema_attr several = *row;
	struct fold f = { .m = m, .row = &several };

	several.type = STB_V_LIST;
	several.elem = row->type;
	if (!fold_list(&f, node, out))
		return false;
	if (!out->n_items) {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0350, node->span, "`%s` has no value", row->name);

		stb_diag_here(&m->c->sink, d, "the list is empty");
		return false;
	}
	if (out->n_items == 1)
		*out = out->items[0];
	return true;
}

static bool is_list(const struct stb_model *m, const struct stb_node *node)
{
	const struct stb_let *let = node->kind == STB_N_PATH && node->n_names == 1 ? stb_let_find(m, node->text) : NULL;

	return node->kind == STB_N_LIST || (let && let->node->kind == STB_N_LIST && !let->set_text);
}

bool stb_fold(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, struct stb_val *out, uint32_t *decimals)
{
	struct fold f = { .m = m, .row = row, .decimals = decimals };

	if (decimals)
		*decimals = 0;
	STB_ASSERT(row->type != STB_V_MAP && !(row->flags & STB_STRUCTURAL));
	if (row->type == STB_V_LIST)
		return fold_list(&f, node, out);
	if (row->flags & STB_OR_LIST && is_list(m, node))
		return fold_several(m, row, node, out);
	return fold_one(&f, row->type, node, out);
}

bool stb_fold_any(struct stb_model *m, const struct stb_node *node, struct stb_val *out, uint32_t *decimals)
{
	if (decimals)
		*decimals = written_decimals(m, node, 0);
	return stb_eval(m, NULL, node, true, out);
}
