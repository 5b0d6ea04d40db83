/*
 * eval.c - the value of an expression by itself: arithmetic, text, functions. Names are in names.c, distributions in distribution.c.
 *
 * Depth over lets and nesting together is limited (MAX_DEPTH): an expression is user-shaped and this is recursive.
 */
#include "compiler/eval.h"

#include "compiler/num.h"
#include "compiler/reference.h"
#include "runtime/base/units.h"

#include <string.h>

enum { MAX_DEPTH = 600, MAX_QUOTE = 48 };

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

static bool eval_call(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *call, struct stb_val *out)
{
	if (strcmp(call->text, "env") == 0 || strcmp(call->text, "file") == 0)
		return eval_secret(m, row, call, out);
	if (strcmp(call->text, "min") == 0 || strcmp(call->text, "max") == 0)
		return eval_least(m, call, out);
	if (stb_is_distribution(call->text))
		return stb_eval_distribution(m, row, call, out);

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
