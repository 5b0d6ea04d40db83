/*
 * eval.c - the value of an expression by itself: names, arithmetic, text, functions.
 *
 * Lets are evaluated when first needed and remember that they are being evaluated, so a cycle is found where it closes. Depth over lets and
 * nesting together is limited (MAX_DEPTH): an expression is user-shaped and this is recursive.
 */
#include "compiler/eval.h"

#include "compiler/num.h"
#include "compiler/reference.h"
#include "runtime/base/units.h"

#include <string.h>

enum { MAX_DEPTH = 600, MAX_QUOTE = 48, MAX_SUGGESTIONS = 1000 };

enum { LET_NEW, LET_RUNNING, LET_DONE, LET_BAD };

/* One level deeper; false: too deep, reported. */
static bool enter(struct stb_model *m, const struct stb_node *node)
{
	if (m->depth >= MAX_DEPTH) {
		if (!m->too_deep)
			stb_diag(&m->c->sink, STB_E0322, node->span,
				"the expression is nested too deeply (more than %d levels, lets included)", MAX_DEPTH);
		m->too_deep = true;
		return false;
	}
	m->depth++;
	return true;
}

const char *stb_type_phrase(enum stb_vtype type)
{
	switch (type) {
	case STB_V_BOOL:
		return "true or false";
	case STB_V_COUNT:
		return "a count";
	case STB_V_BYTES:
		return "bytes";
	case STB_V_TIME:
		return "a time";
	case STB_V_SHARE:
		return "a share";
	case STB_V_RATE:
		return "a rate";
	case STB_V_BYTE_RATE:
		return "a byte rate";
	case STB_V_CLOCK:
		return "a time of day";
	case STB_V_STRING:
		return "text";
	case STB_V_WORD:
		return "a word";
	case STB_V_REF:
		return "the name of a block";
	case STB_V_SECRET:
		return "a secret";
	case STB_V_LIST:
		return "a list";
	case STB_V_RANGE:
		return "a range";
	case STB_V_MAP:
		return "a block";
	case STB_V_NONE:
		return "nothing";
	}
	return "a value";
}

const char *stb_source_text(const struct stb_model *m, struct stb_span span)
{
	struct stb_buf b;
	const char *text;

	if (span.file == STB_NO_FILE)
		return "";
	const struct stb_source_file *f = &m->c->sources.files[span.file];
	const uint32_t end = STB_MIN(span.end, f->len);

	stb_buf_init(&b);
	for (uint32_t i = span.begin; i < end; i++) {
		const unsigned char ch = (unsigned char)f->bytes[i];

		if (b.len >= MAX_QUOTE && (ch & 0xc0) != 0x80) { /* between characters */
			stb_buf_adds(&b, "...");
			break;
		}
		if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') {
			if (b.len && b.data[b.len - 1] != ' ')
				stb_buf_addc(&b, ' ');
		} else {
			stb_buf_addc(&b, (char)ch);
		}
	}
	text = stb_arena_strndup(&m->c->arena, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

const char *stb_doc_phrase(struct stb_arena *a, const struct stb_schema_attr *row)
{
	char *text = stb_arena_strdup(a, row->doc);
	const size_t n = strlen(text);

	if (n > 1 && text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z'))
		text[0] = (char)(text[0] - 'A' + 'a');
	if (n && text[n - 1] == '.')
		text[n - 1] = '\0';
	return text;
}

bool stb_takes_secret(const struct stb_schema_attr *row)
{
	return row && (row->type == STB_V_SECRET ||
		       (row->type == STB_V_STRING && row->ident == STB_ADDRESS && row->kind == STB_K_DATABASE));
}

/* --- names --------------------------------------------------------------------------------------------------------------------------- */

/* Names that a suggestion may come from; at most MAX_SUGGESTIONS. kind < 0: lets and params. */
static const char **known_names(struct stb_model *m, int kind, size_t *n)
{
	const uint32_t all = kind < 0 ? m->n_lets : m->n_blocks;
	const char **names = STB_NEW_ARRAY(&m->c->arena, const char *, STB_MIN(all, MAX_SUGGESTIONS));

	*n = 0;
	for (uint32_t i = 0; i < all && *n < MAX_SUGGESTIONS; i++) {
		if (kind < 0)
			names[(*n)++] = m->lets[i]->name;
		else if ((int)m->blocks[i]->kind == kind)
			names[(*n)++] = m->blocks[i]->name;
	}
	return names;
}

const char *stb_nearest_let(struct stb_model *m, const char *name)
{
	size_t n;
	const char **names = known_names(m, -1, &n);

	return stb_nearest(name, names, n);
}

void stb_report_unknown_name(struct stb_model *m, const struct stb_node *node, int kind)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0305, node->span, "there is no %s called `%s`",
		kind < 0 ? "let or param" : stb_kind_name((enum stb_kind)kind), node->text);
	const char **names, *near;
	struct stb_buf all;
	size_t n;

	if (d == &s->scratch) /* one of very many: nobody reads it */
		return;
	names = known_names(m, kind, &n);
	near = stb_nearest(node->text, names, n);
	if (near) {
		stb_diag_here(s, d, "did you mean `%s`?", near);
		stb_diag_fixit(s, d, node->span, "%s", near);
		return;
	}
	stb_buf_init(&all);
	for (size_t i = 0; i < n && i < 12; i++)
		stb_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	if (n > 12)
		stb_buf_adds(&all, ", ...");
	if (n)
		stb_diag_help(s, d, "declared: %s", stb_buf_str(&all));
	else
		stb_diag_help(s, d, "none is declared in this spec");
	stb_buf_fini(&all);
}

bool stb_is_dashed_word(const struct stb_model *m, const struct stb_node *node)
{
	if (node->kind != STB_N_SUB || node->parens)
		return false;
	const struct stb_node *left = node->items[0], *right = node->items[1];

	if (left->span.end + 1 != right->span.begin || right->kind == STB_N_STRING)
		return false;
	if (left->kind == STB_N_PATH)
		return left->n_names > 1 || !stb_let_find(m, left->text);
	return stb_is_dashed_word(m, left);
}

void stb_report_dashed_word(struct stb_model *m, const struct stb_node *node, enum stb_dashed as)
{
	struct stb_sink *s = &m->c->sink;
	const char *text = stb_source_text(m, node->span);
	char *plain = stb_arena_strdup(&m->c->arena, text);

	for (char *p = plain; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	struct stb_diag *d = stb_diag(s, STB_E0307, node->span, "`%s` reads as a subtraction", text);

	switch (as) {
	case STB_DASHED_TEXT:
		stb_diag_here(s, d, "text stands in quotes: write \"%s\"", text);
		stb_diag_fixit(s, d, node->span, "\"%s\"", text);
		return;
	case STB_DASHED_NAME:
		stb_diag_here(s, d, "names hold no dash: write %s", plain);
		stb_diag_fixit(s, d, node->span, "%s", plain);
		return;
	case STB_DASHED_UNKNOWN:
		stb_diag_here(s, d, "quote it, or write %s", plain);
		return;
	}
}

static void report_cycle(struct stb_model *m, const struct stb_let *let)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0315, let->span, "`%s` is defined by itself", let->name);
	struct stb_buf chain;

	stb_buf_init(&chain);
	stb_buf_adds(&chain, let->name);
	for (const struct stb_let *p = m->evaluating; p && p != let; p = p->via) {
		struct stb_buf longer;

		stb_diag_label(s, d, p->span, "`%s` needs it", p->name);
		stb_buf_init(&longer);
		stb_buf_printf(&longer, "%s -> %s", p->name, stb_buf_str(&chain));
		stb_buf_fini(&chain);
		chain = longer;
		if (chain.len > 400)
			break;
	}
	stb_diag_note(s, d, "%s -> %s", let->name, stb_buf_str(&chain));
	stb_diag_help(s, d, "give one of them a value that does not need the others");
	stb_buf_fini(&chain);
}

/* What --set says, read as the type of the default. Text needs no quotes there. */
static bool set_value(struct stb_model *m, struct stb_let *let, const struct stb_val *def, struct stb_val *out)
{
	struct stb_sink *s = &m->c->sink;

	if (def->type == STB_V_STRING && let->set_text[0] != '"') {
		*out = stb_val_str(STB_V_STRING, let->set_text);
		return true;
	}
	if (!let->set) /* could not be read: reported */
		return false;
	if (def->type == STB_V_SECRET && let->set->kind != STB_N_CALL) {
		stb_diag(s, STB_E0706, STB_NO_SPAN, "--set %s: a secret is given as env(\"NAME\") or file(\"PATH\")", let->name);
		return false;
	}
	if (!stb_eval(m, NULL, let->set, false, out))
		return false;
	if (out->type != def->type) {
		struct stb_diag *d = stb_diag(s, STB_E0706, let->set->span, "--set %s: `%s` is %s, but the param is %s", let->name,
			let->set_text, stb_type_phrase(out->type), stb_type_phrase(def->type));

		stb_diag_label(s, d, let->span, "its default is %s", stb_val_text(&m->c->arena, def));
		stb_diag_help(s, d, "write it like the default, with its unit: --set %s=%s", let->name, stb_val_text(&m->c->arena, def));
		return false;
	}
	return true;
}

bool stb_let_value(struct stb_model *m, struct stb_let *let, struct stb_val *out)
{
	const struct stb_let *outer = m->evaluating;
	bool ok;

	let->used = true;
	if (let->state == LET_RUNNING) {
		report_cycle(m, let);
		let->state = LET_BAD;
	}
	if (let->state == LET_DONE)
		*out = let->val;
	if (let->state != LET_NEW)
		return let->state == LET_DONE;

	let->state = LET_RUNNING;
	let->via = outer;
	m->evaluating = let;
	ok = stb_eval(m, NULL, let->node, false, out);
	if (ok && let->set_text) {
		const struct stb_val def = *out;

		ok = set_value(m, let, &def, out);
	}
	m->evaluating = outer;
	if (!ok || let->state == LET_BAD) {
		let->state = LET_BAD;
		return false;
	}
	let->state = LET_DONE;
	let->val = *out;
	return true;
}

static bool eval_path(struct stb_model *m, const struct stb_node *node, struct stb_val *out)
{
	struct stb_let *let = node->n_names == 1 ? stb_let_find(m, node->text) : NULL;

	if (let)
		return stb_let_value(m, let, out);
	*out = stb_val_str(STB_V_WORD, node->text);
	return true;
}

/* --- text ---------------------------------------------------------------------------------------------------------------------------- */

/* ${name}: the let's value as it is shown; ${cell.AXIS} stays for expand. */
static bool add_name(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_string_part *part, struct stb_buf *b)
{
	struct stb_sink *s = &m->c->sink;
	char *name = stb_arena_strndup(&m->c->arena, part->text, part->len);
	struct stb_let *let = stb_let_find(m, name);
	struct stb_val v;

	if (strncmp(name, "cell.", 5) == 0 && !strchr(name + 5, '.')) {
		if (row && row->flags & STB_INTERPOLATES_CELL) {
			stb_buf_printf(b, "${%s}", name);
			return true;
		}
		struct stb_diag *d = stb_diag(s, STB_E0320, part->span, "`${%s}` cannot stand here", name);

		stb_diag_here(s, d, "only in addresses: host, socket, user, schema, path");
		stb_diag_help(s, d, "an axis that sets this attribute, or an override, makes it differ from cell to cell");
		return false;
	}
	if (!let) {
		const struct stb_node fake = { .kind = STB_N_PATH, .span = part->span, .text = name };

		stb_report_unknown_name(m, &fake, -1);
		return false;
	}
	if (!stb_let_value(m, let, &v))
		return false;
	if (v.type == STB_V_SECRET) {
		struct stb_diag *d = stb_diag(s, STB_E0313, part->span, "the secret `%s` cannot stand inside text", name);

		stb_diag_help(s, d, "a secret is the whole value of an attribute such as password");
		return false;
	}
	stb_buf_adds(b, stb_val_label(&m->c->arena, &v));
	return true;
}

static bool eval_string(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, struct stb_val *out)
{
	struct stb_buf b;
	bool ok = true;

	stb_buf_init(&b);
	for (uint32_t i = 0; i < node->n_parts; i++) {
		const struct stb_string_part *part = &node->parts[i];

		if (part->is_name) {
			ok &= add_name(m, row, part, &b);
		} else if (memchr(part->text, '\0', part->len)) {
			stb_diag(&m->c->sink, STB_E0323, part->span, "text cannot hold a NUL character");
			ok = false;
		} else {
			stb_buf_add(&b, part->text, part->len);
		}
	}
	if (ok)
		*out = stb_val_str(STB_V_STRING, stb_arena_strndup(&m->c->arena, stb_buf_str(&b), b.len));
	stb_buf_fini(&b);
	return ok;
}

/* --- arithmetic ---------------------------------------------------------------------------------------------------------------------- */

static const char *operand_phrase(enum stb_vtype type)
{
	return type == STB_V_NONE ? "a product of no type" : stb_type_phrase(type);
}

static void report_status(struct stb_model *m, const struct stb_node *node, const struct stb_val *a, const struct stb_val *b,
	enum stb_num_status status)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d;

	switch (status) {
	case STB_NUM_OK:
		return;
	case STB_NUM_OVERFLOW:
		d = stb_diag(s, STB_E0311, node->span, "`%s` is too large to be computed exactly", stb_source_text(m, node->span));
		stb_diag_here(s, d, "does not fit 64 bits");
		return;
	case STB_NUM_ZERO:
		d = stb_diag(s, STB_E0312, node->span, "division by zero");
		stb_diag_label(s, d, node->items[1]->span, "this is 0");
		return;
	case STB_NUM_MISMATCH:
		d = stb_diag(s, STB_E0310, node->span, "`%s` mixes what does not go together", stb_source_text(m, node->span));
		if (b) {
			stb_diag_label(s, d, node->items[0]->span, "this is %s", operand_phrase(a->type));
			stb_diag_label(s, d, node->items[1]->span, "this is %s", operand_phrase(b->type));
		}
		stb_diag_help(s, d, "only like is added to or compared with like; a share times X is an X, a count over a time a rate");
		return;
	}
}

/* One side of an operation; must be a number. */
static bool operand(struct stb_model *m, const struct stb_node *op, const struct stb_node *side, struct stb_val *v, struct stb_num *n)
{
	if (!stb_eval(m, NULL, side, false, v))
		return false;
	if (stb_num_from(v, n))
		return true;
	if (v->type == STB_V_WORD && side->kind == STB_N_PATH && strcmp(v->str, side->text) == 0) {
		stb_report_unknown_name(m, side, -1);
	} else {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0310, op->span, "cannot compute with %s", stb_type_phrase(v->type));

		stb_diag_label(&m->c->sink, d, side->span, "this is %s", stb_type_phrase(v->type));
	}
	return false;
}

/* A result that has no type yet (bytes x bytes) may still become one further up: it is kept as a number until the whole is known. */
static bool eval_num(struct stb_model *m, const struct stb_node *node, struct stb_num *out)
{
	struct stb_num a, b;
	struct stb_val va = { .type = STB_V_NONE }, vb = { .type = STB_V_NONE };
	enum stb_num_status status = STB_NUM_OK;
	bool ok = true;

	if (stb_is_dashed_word(m, node)) {
		stb_report_dashed_word(m, node, STB_DASHED_UNKNOWN);
		return false;
	}
	if (node->kind == STB_N_NEG) {
		if (!operand(m, node, node->items[0], &va, &a))
			return false;
		*out = a;
		out->num = -a.num; /* never INT64_MIN, see num.c */
		return true;
	}
	for (int i = 0; i < 2; i++) {
		const struct stb_node *side = node->items[i];
		struct stb_num *n = i ? &b : &a;

		if (side->kind == STB_N_MUL || side->kind == STB_N_DIV) {
			if (!enter(m, side))
				return false;
			ok = eval_num(m, side, n) && ok;
			m->depth--;
			(i ? &vb : &va)->type = ok ? stb_num_type(n) : STB_V_NONE;
		} else {
			ok = operand(m, node, side, i ? &vb : &va, n) && ok;
		}
	}
	if (!ok)
		return false;
	switch ((int)node->kind) {
	case STB_N_ADD:
		status = stb_num_add(&a, &b, out);
		break;
	case STB_N_SUB:
		status = stb_num_sub(&a, &b, out);
		break;
	case STB_N_MUL:
		status = stb_num_mul(&a, &b, out);
		break;
	case STB_N_DIV:
		status = stb_num_div(&a, &b, out);
		break;
	default:
		STB_BUG("not an operation");
	}
	report_status(m, node, &va, &vb, status);
	return status == STB_NUM_OK;
}

static bool eval_operation(struct stb_model *m, const struct stb_node *node, struct stb_val *out)
{
	struct stb_num n;
	enum stb_num_status status;

	if (!eval_num(m, node, &n))
		return false;
	status = stb_num_to(&n, out);
	report_status(m, node, NULL, NULL, status);
	return status == STB_NUM_OK;
}

/* --- functions ----------------------------------------------------------------------------------------------------------------------- */

static bool eval_least(struct stb_model *m, const struct stb_node *call, struct stb_val *out)
{
	const bool want_min = strcmp(call->text, "min") == 0;
	struct stb_num best = { 0 };

	if (!call->n_items) {
		stb_diag(&m->c->sink, STB_E0313, call->span, "%s() needs at least one value", call->text);
		return false;
	}
	for (uint32_t i = 0; i < call->n_items; i++) {
		struct stb_val v;
		struct stb_num n, diff;
		enum stb_num_status status;

		if (!operand(m, call, call->items[i], &v, &n))
			return false;
		if (i > 0) {
			status = stb_num_sub(&n, &best, &diff);
			if (status != STB_NUM_OK) {
				report_status(m, call, NULL, NULL, status);
				return false;
			}
			if ((diff.num < 0) != want_min)
				continue;
		}
		best = n;
		*out = v;
	}
	return true;
}

static bool is_variable_name(const char *s)
{
	if (!s[0] || (s[0] >= '0' && s[0] <= '9'))
		return false;
	return s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool eval_secret(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call, struct stb_val *out)
{
	struct stb_sink *s = &m->c->sink;
	const bool is_env = strcmp(call->text, "env") == 0;
	struct stb_diag *d;
	struct stb_val arg;

	if (row && !stb_takes_secret(row)) {
		d = stb_diag(s, STB_E0313, call->span, "%s() cannot give `%s`", call->text, row->name);
		stb_diag_here(s, d, "only secrets and addresses of external servers come from outside");
		stb_diag_help(s, d, "what a run measures stands in the spec; a param that --set replaces is for what changes from run to run");
		return false;
	}
	if (call->n_items != 1 || call->items[0]->kind != STB_N_STRING) {
		d = stb_diag(s, STB_E0313, call->span, "%s() takes one text", call->text);
		stb_diag_here(s, d, is_env ? "write env(\"NAME\")" : "write file(\"PATH\")");
		return false;
	}
	if (!eval_string(m, NULL, call->items[0], &arg))
		return false;
	if (is_env ? !is_variable_name(arg.str) : !arg.str[0]) {
		stb_diag(s, STB_E0313, call->items[0]->span,
			is_env ? "this is not the name of an environment variable" : "the path of a secret cannot be empty");
		return false;
	}
	*out = stb_val_str(STB_V_SECRET, stb_arena_printf(&m->c->arena, "%s:%s", call->text, arg.str));
	return true;
}

/* --- distributions: a word with its parameter, zipf(1.2), in one spelling --- */

static const struct distribution {
	const char *name;
	enum stb_vtype type;
	struct stb_val above, below; /* its parameter lies between them, both excluded */
	const char *bounds, *example;
} distributions[] = {
	{ "zipf", STB_V_COUNT, { STB_V_COUNT, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_COUNT, 10, 1, NULL, NULL, NULL, 0 },
		"the exponent lies between 0 and 10 and is not 1", "zipf(1.2)" },
	{ "pareto", STB_V_COUNT, { STB_V_COUNT, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_COUNT, 1, 1, NULL, NULL, NULL, 0 },
		"the parameter lies between 0 and 1", "pareto(0.2)" },
	{ "normal", STB_V_SHARE, { STB_V_SHARE, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_SHARE, 1, 1, NULL, NULL, NULL, 0 },
		"the deviation is a share of the region between 0% and 100%", "normal(10%)" },
	{ "zoned", STB_V_LIST, { STB_V_NONE, 0, 1, NULL, NULL, NULL, 0 }, { STB_V_NONE, 0, 1, NULL, NULL, NULL, 0 },
		"each zone is [share of the I/O, share of the region], and both add up to 100%",
		"zoned([60%, 10%], [40%, 90%])" },
};

static const struct distribution *find_distribution(const char *name)
{
	for (size_t i = 0; i < STB_LEN(distributions); i++) {
		if (strcmp(distributions[i].name, name) == 0)
			return &distributions[i];
	}
	return NULL;
}

static bool refuse_distribution(struct stb_model *m, const struct stb_node *call, const struct distribution *dist, const char *why)
{
	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0351, call->span, "`%s` is no distribution", stb_source_text(m, call->span));

	if (why)
		stb_diag_here(&m->c->sink, d, "%s", why);
	stb_diag_help(&m->c->sink, d, "%s: %s", dist->bounds, dist->example);
	return false;
}

/* One zone, [60%, 10%], added to the sums. */
static bool eval_zone(struct stb_model *m, const struct stb_node *node, struct stb_num sums[2], struct stb_val *out)
{
	if (node->kind != STB_N_LIST || node->n_items != 2 || !stb_eval(m, NULL, node, false, out))
		return false;
	for (int i = 0; i < 2; i++) {
		struct stb_num n, sum;

		if (out->items[i].type != STB_V_SHARE || out->items[i].num <= 0 || !stb_num_from(&out->items[i], &n) ||
			stb_num_add(&sums[i], &n, &sum) != STB_NUM_OK)
			return false;
		sums[i] = sum;
	}
	return true;
}

static bool eval_zones(struct stb_model *m, const struct stb_node *call, const struct distribution *dist, struct stb_val *out)
{
	struct stb_num sums[2] = { { 0, 1, 0, 0, true }, { 0, 1, 0, 0, true } };
	struct stb_buf b;

	if (call->n_items > 256)
		return refuse_distribution(m, call, dist, "more than 256 zones");
	stb_buf_init(&b);
	for (uint32_t i = 0; i < call->n_items; i++) {
		struct stb_val zone;

		if (!eval_zone(m, call->items[i], sums, &zone)) {
			stb_buf_fini(&b);
			return refuse_distribution(m, call, dist, NULL);
		}
		stb_buf_printf(&b, "%s%s", i ? ", " : "", stb_val_text(&m->c->arena, &zone));
	}
	*out = stb_val_str(STB_V_WORD, stb_arena_printf(&m->c->arena, "zoned(%s)", stb_buf_str(&b)));
	stb_buf_fini(&b);
	for (int i = 0; i < 2; i++) {
		if (sums[i].num != sums[i].den)
			return refuse_distribution(m, call, dist, i ? "the zones do not cover the region" :
				"the I/O of the zones does not add up to 100%");
	}
	return true;
}

static bool eval_distribution(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call,
	const struct distribution *dist, struct stb_val *out)
{
	struct stb_val v;

	if (row && !(row->flags & STB_DISTRIBUTION)) {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0313, call->span, "%s() cannot give `%s`", call->text, row->name);

		stb_diag_here(&m->c->sink, d, "a distribution says how random offsets are drawn");
		return false;
	}
	if (dist->type == STB_V_LIST)
		return eval_zones(m, call, dist, out);
	if (call->n_items != 1)
		return refuse_distribution(m, call, dist, "it has one parameter");
	if (!stb_eval(m, NULL, call->items[0], false, &v))
		return false;
	if (v.type != dist->type || stb_val_cmp(&v, &dist->above) <= 0 || stb_val_cmp(&v, &dist->below) >= 0 ||
		(strcmp(dist->name, "zipf") == 0 && v.num == v.den))
		return refuse_distribution(m, call, dist, NULL);
	*out = stb_val_str(STB_V_WORD, stb_arena_printf(&m->c->arena, "%s(%s)", dist->name, stb_val_text(&m->c->arena, &v)));
	return true;
}

static bool eval_call(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call, struct stb_val *out)
{
	const struct distribution *dist = find_distribution(call->text);

	if (strcmp(call->text, "env") == 0 || strcmp(call->text, "file") == 0)
		return eval_secret(m, row, call, out);
	if (strcmp(call->text, "min") == 0 || strcmp(call->text, "max") == 0)
		return eval_least(m, call, out);
	if (dist)
		return eval_distribution(m, row, call, dist, out);

	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0313, call->span, "there is no function `%s`", call->text);
	const char *names[16], *near;
	size_t n;
	const struct stb_function *functions = stb_functions(&n);

	for (size_t i = 0; i < n && i < STB_LEN(names); i++)
		names[i] = functions[i].name;
	near = stb_nearest(call->text, names, STB_MIN(n, STB_LEN(names)));

	if (near)
		stb_diag_here(&m->c->sink, d, "did you mean `%s`?", near);
	stb_diag_help(&m->c->sink, d, "functions are env(\"NAME\"), file(\"PATH\"), min(...), max(...) and distributions such as zipf(1.2)");
	return false;
}

/* --- the whole ----------------------------------------------------------------------------------------------------------------------- */

static bool eval_list(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, struct stb_val *out)
{
	struct stb_val list = { .type = STB_V_LIST, .den = 1, .n_items = node->n_items };
	bool ok = true;

	list.items = STB_NEW_ARRAY(&m->c->arena, struct stb_val, node->n_items);
	for (uint32_t i = 0; i < node->n_items; i++)
		ok &= stb_eval(m, row, node->items[i], false, &list.items[i]);
	*out = list;
	return ok;
}

static bool eval_range(struct stb_model *m, const struct stb_node *node, struct stb_val *out)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_val range = { .type = STB_V_RANGE, .den = 1, .n_items = 2, .items = STB_NEW_ARRAY(&m->c->arena, struct stb_val, 2) };
	struct stb_num ends[2];
	struct stb_num diff;

	for (int i = 0; i < 2; i++) {
		if (node->items[i] && !operand(m, node, node->items[i], &range.items[i], &ends[i]))
			return false;
	}
	if (node->items[0] && node->items[1]) {
		if (stb_num_sub(&ends[1], &ends[0], &diff) != STB_NUM_OK) {
			report_status(m, node, &range.items[0], &range.items[1], STB_NUM_MISMATCH);
			return false;
		}
		if (diff.num < 0) {
			struct stb_diag *d = stb_diag(s, STB_E0303, node->span, "the range `%s` is empty", stb_source_text(m, node->span));

			stb_diag_here(s, d, "write the smaller end first");
			return false;
		}
	}
	*out = range;
	return true;
}

static bool eval(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, bool ranges, struct stb_val *out)
{
	switch (node->kind) {
	case STB_N_QUANTITY:
	case STB_N_BOOL:
	case STB_N_TIME:
		*out = node->num;
		return true;
	case STB_N_STRING:
		return eval_string(m, row, node, out);
	case STB_N_LIST:
		return eval_list(m, row, node, out);
	case STB_N_PATH:
		return eval_path(m, node, out);
	case STB_N_CALL:
		return eval_call(m, row, node, out);
	case STB_N_NEG:
	case STB_N_ADD:
	case STB_N_SUB:
	case STB_N_MUL:
	case STB_N_DIV:
		return eval_operation(m, node, out);
	case STB_N_RANGE:
		if (ranges)
			return eval_range(m, node, out);
		stb_diag_help(&m->c->sink, stb_diag(&m->c->sink, STB_E0309, node->span, "a range cannot stand here"),
			"ranges stand in selectors (where, --only) and in claims");
		return false;
	case STB_N_BAD:
		return false;
	}
	return false;
}

bool stb_eval(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *node, bool ranges, struct stb_val *out)
{
	bool ok;

	if (!enter(m, node))
		return false;
	ok = eval(m, row, node, ranges, out);
	m->depth--;
	return ok;
}
