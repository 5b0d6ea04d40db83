/*
 * check.c - every block by itself: what stands in it, each thing once, in its place, with a value that can be.
 *
 * Attributes become settings (setting.c). Nested blocks are of two sorts: open maps and blocks of plain entries (schedule, steady_state), whose
 * entries become settings too, and those that only make sense with a matrix at hand (where, axis, override, ...): of these the form is checked
 * here, the meaning in expand.
 */
#include "compiler/check.h"

#include "compiler/eval.h"
#include "compiler/options.h"

#include <string.h>

enum { MAX_SETTINGS = 200 }; /* a plan's block holds at most 256 attributes, defaults included */

/* What was seen in one pair of braces, whether or not it was right. */
struct seen {
	const char *keys[MAX_SETTINGS];
	struct stb_span spans[MAX_SETTINGS];
	uint32_t n;
	bool full;
};

/* false: it stood there already, or there is too much; reported. */
static bool see(struct stb_model *m, struct seen *seen, const char *key, struct stb_span span)
{
	struct stb_sink *s = &m->c->sink;

	for (uint32_t i = 0; i < seen->n; i++) {
		if (strcmp(seen->keys[i], key) != 0)
			continue;
		struct stb_diag *d = stb_diag(s, STB_E0205, span, "`%s` is given twice", key);

		stb_diag_label(s, d, seen->spans[i], "first here");
		return false;
	}
	if (seen->n == MAX_SETTINGS) {
		if (!seen->full)
			stb_diag(s, STB_E0220, span, "a block holds at most %d attributes", MAX_SETTINGS);
		seen->full = true;
		return false;
	}
	seen->keys[seen->n] = key;
	seen->spans[seen->n++] = span;
	return true;
}

static bool has_seen(const struct seen *seen, const char *key)
{
	for (uint32_t i = 0; i < seen->n; i++) {
		if (strcmp(seen->keys[i], key) == 0)
			return true;
	}
	return false;
}

void stb_block_set(struct stb_model *m, struct stb_block *b, const struct stb_setting *t)
{
	const size_t n = strlen(t->key);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->n_settings; i++) {
		const char *key = b->settings[i].key;
		const bool beneath = t->val.type == STB_V_NONE && strncmp(key, t->key, n) == 0 && key[n] == '.';

		if (!beneath && strcmp(key, t->key) != 0)
			b->settings[kept++] = b->settings[i];
	}
	b->n_settings = kept;
	STB_ARENA_GROW(&m->c->arena, b->settings, b->n_settings, b->cap_settings);
	b->settings[b->n_settings++] = *t;
}

/* --- attributes ---------------------------------------------------------------------------------------------------------------------- */

/* The block that it starts from is known when all are read (like.c). */
static void take_like(struct stb_model *m, struct stb_block *b, const struct stb_setting *t)
{
	struct stb_diag *d;

	if (t->origin == STB_FROM_PROFILE) {
		d = stb_diag(&m->c->sink, STB_E0224, t->key_span, "`like` cannot stand in a profile");
		stb_diag_help(&m->c->sink, d, "it belongs to a declaration; an entry of a profile says what is different");
		return;
	}
	b->like = t->val.str;
	b->like_span = t->value_span;
}

/* prefix: the nested block's name for "schedule.days", or NULL. */
static void check_attribute(struct stb_model *m, struct stb_block *b, const char *prefix, struct stb_span prefix_span,
	const struct stb_stmt *attr, enum stb_origin origin, struct seen *seen)
{
	const struct stb_node *path = attr->path;
	struct stb_name names[8];
	uint32_t n = 0;
	struct stb_setting t;

	if (!path || path->kind != STB_N_PATH || path->n_names == 0)
		return;
	if (prefix)
		names[n++] = (struct stb_name){ prefix, prefix_span };
	for (uint32_t i = 0; i < path->n_names && n < STB_LEN(names); i++)
		names[n++] = path->names[i];
	if (!see(m, seen, path->text, path->span))
		return;
	if (!stb_setting_make(m, b->kind, b->type->type, names, n, attr->value, origin, &t))
		return;
	if (prefix)
		t.key_span = path->span;
	const struct stb_setting *other = stb_block_setting(b, t.key);

	if (other) { /* `options.x = 1` beside `options { x = 1 }` */
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0205, t.key_span, "`%s` is given twice", t.key);

		stb_diag_label(&m->c->sink, d, other->key_span, "first here");
	} else if (strcmp(t.key, "like") == 0) {
		take_like(m, b, &t);
	} else if (strcmp(t.key, "label") == 0 && t.val.type == STB_V_STRING) {
		b->label = t.val.str;
	} else if (strcmp(t.key, "note") == 0 && t.val.type == STB_V_STRING) {
		b->note = t.val.str;
	} else { /* also `label = none` of a profile */
		stb_block_set(m, b, &t);
	}
}

/* --- nested blocks ------------------------------------------------------------------------------------------------------------------- */

struct form {
	const char *name;
	unsigned words;  /* names between it and its brace */
	bool many;       /* may stand more than once */
	bool selector;   /* holds AXIS = value */
	bool sets;       /* holds KIND.ATTRIBUTE = value besides its own */
};

static const struct form forms[] = {
	{ "axis", 1, true, false, false },     { "point", 1, true, false, true },      { "exclude", 0, true, false, false },
	{ "override", 0, true, false, true },  { "where", 0, false, true, false },     { "baseline", 0, false, true, false },
};

static const struct form *find_form(const char *name)
{
	for (size_t i = 0; i < STB_LEN(forms); i++) {
		if (strcmp(forms[i].name, name) == 0)
			return &forms[i];
	}
	return NULL;
}

static bool check_words(struct stb_model *m, const struct stb_stmt *stmt, unsigned words)
{
	struct stb_sink *s = &m->c->sink;
	const char *name = stmt->name.text;
	struct stb_diag *d;

	if (stmt->n_words == words && (words == 0 || stmt->words[0].kind == STB_W_IDENT))
		return true;
	if (stmt->n_words > words)
		d = stb_diag(s, STB_E0207, stmt->words[words].span, words ? "%s takes a name before its brace, nothing more" :
			"%s takes nothing before its brace", name);
	else if (stmt->n_words < words)
		d = stb_diag(s, STB_E0207, stmt->name.span, "%s lacks its name", name);
	else
		d = stb_diag(s, STB_E0207, stmt->words[0].span, "a name stands without quotes: letters, digits and _");
	stb_diag_help(s, d, "write %s %s{ ... }", name, words ? "NAME " : "");
	return false;
}

static void refuse_nested(struct stb_model *m, const struct stb_stmt *stmt, const char *within)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0216, stmt->name.span, "a `%s` block cannot stand inside %s", stmt->name.text, within);
	enum stb_kind kind;

	if (stb_kind_find(stmt->name.text, &kind))
		stb_diag_help(s, d, "%s blocks stand at the top of a file; is a closing brace missing before it?", stmt->name.text);
}

static void check_selector(struct stb_model *m, const struct stb_stmt *stmt)
{
	struct stb_sink *s = &m->c->sink;
	struct seen seen = { .n = 0 };

	for (uint32_t i = 0; i < stmt->n_body; i++) {
		const struct stb_stmt *term = stmt->body[i];

		if (term->kind == STB_S_BLOCK) {
			refuse_nested(m, term, stmt->name.text);
		} else if (term->kind == STB_S_ATTR && term->path && see(m, &seen, term->path->text, term->path->span) && term->path->n_names != 1) {
			struct stb_diag *d = stb_diag(s, STB_E0203, term->path->span, "`%s` is no axis", term->path->text);

			stb_diag_help(s, d, "%s says which cells: AXIS = value, AXIS = [values] or AXIS = range", stmt->name.text);
		}
	}
}

/* An attribute of a nested block: its own row ("axis.set"), or KIND.ATTRIBUTE where the form sets things. */
static void check_nested_attribute(struct stb_model *m, enum stb_kind kind, const struct form *form, const struct stb_stmt *attr,
	struct seen *seen)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_arena *a = &m->c->arena;
	const struct stb_schema_attr *row, *rows;
	const char *names[32];
	size_t n_rows, n = 0;
	struct stb_val ignored;

	if (!attr->path || attr->path->kind != STB_N_PATH || !see(m, seen, attr->path->text, attr->path->span))
		return;
	if (attr->path->n_names > 1 && form->sets)
		return; /* expand knows the blocks it may touch */
	row = attr->path->n_names == 1 ? stb_schema_attr(kind, "", stb_arena_printf(a, "%s.%s", form->name, attr->path->text)) : NULL;
	if (row && row->type == STB_V_STRING) {
		if (attr->value)
			(void)stb_fold(m, row, attr->value, &ignored, NULL);
		return;
	}
	if (row && !(row->flags & STB_STRUCTURAL))
		return; /* set, values: expand */
	if (row) {
		struct stb_diag *d = stb_diag(s, STB_E0215, attr->path->span, "`%s` is a block", attr->path->text);

		stb_diag_here(s, d, "write %s { ... }", attr->path->text);
		return;
	}
	struct stb_diag *d = stb_diag(s, STB_E0203, attr->path->span, "%s has no attribute `%s`", form->name, attr->path->text);
	const size_t prefix = strlen(form->name);

	rows = stb_schema_rows(&n_rows);
	for (size_t i = 0; i < n_rows && n < STB_LEN(names); i++) {
		if (rows[i].kind == kind && strncmp(rows[i].name, form->name, prefix) == 0 && rows[i].name[prefix] == '.')
			names[n++] = rows[i].name + prefix + 1;
	}
	const char *near = stb_nearest(attr->path->text, names, n);

	if (near) {
		stb_diag_here(s, d, "did you mean `%s`?", near);
		stb_diag_fixit(s, d, attr->path->span, "%s", near);
	} else if (form->sets) {
		stb_diag_help(s, d, "it sets attributes of blocks: KIND.ATTRIBUTE or KIND.NAME.ATTRIBUTE, as in workload.bs = 4KiB");
	}
}

static void check_nested(struct stb_model *m, enum stb_kind kind, const struct form *form, const struct stb_stmt *stmt);

static void check_nested_body(struct stb_model *m, enum stb_kind kind, const struct form *form, const struct stb_stmt *stmt)
{
	struct stb_arena *a = &m->c->arena;
	struct seen seen = { .n = 0 };
	size_t n_rows;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const size_t prefix = strlen(form->name);

	for (uint32_t i = 0; i < stmt->n_body; i++) {
		const struct stb_stmt *each = stmt->body[i];

		if (each->kind == STB_S_ATTR) {
			check_nested_attribute(m, kind, form, each, &seen);
			continue;
		}
		const struct stb_schema_attr *row = stb_schema_attr(kind, "", stb_arena_printf(a, "%s.%s", form->name, each->name.text));
		const struct form *inner = row && row->flags & STB_STRUCTURAL ? find_form(each->name.text) : NULL;

		if (!inner)
			refuse_nested(m, each, form->name);
		else if (inner->many || see(m, &seen, each->name.text, each->name.span))
			check_nested(m, kind, inner, each);
	}
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].kind != kind || !(rows[i].flags & STB_REQUIRED) || strncmp(rows[i].name, form->name, prefix) != 0 ||
			rows[i].name[prefix] != '.' || has_seen(&seen, rows[i].name + prefix + 1))
			continue;
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0217, stmt->name.span, "%s lacks `%s`", form->name, rows[i].name + prefix + 1);

		stb_diag_help(&m->c->sink, d, "`%s`: %s", rows[i].name, stb_doc_phrase(&m->c->arena, &rows[i]));
	}
}

static void check_nested(struct stb_model *m, enum stb_kind kind, const struct form *form, const struct stb_stmt *stmt)
{
	if (!check_words(m, stmt, form->words))
		return;
	if (form->selector)
		check_selector(m, stmt);
	else
		check_nested_body(m, kind, form, stmt);
}

/*
 * vcpu "0-31" { node = 1 }: entries are settings "vcpu.0-31.node". A profile's rules take the place of those of the block, as lists do: rules
 * add up, so beside the others they could never say less.
 */
static void check_by_text(struct stb_model *m, struct stb_block *b, const struct stb_schema_attr *row, const struct stb_stmt *stmt,
	enum stb_origin origin, struct seen *outer)
{
	struct stb_sink *s = &m->c->sink;
	struct seen seen = { .n = 0 };
	struct stb_diag *d;
	uint32_t n = 0;

	if (stmt->n_words != 1 || stmt->words[0].kind != STB_W_STRING) {
		d = stb_diag(s, STB_E0207, stmt->n_words ? stmt->words[0].span : stmt->name.span, "`%s` takes one text before its brace", row->name);
		stb_diag_help(s, d, "write %s \"0-3\" { ... }", row->name);
		return;
	}
	if (!see(m, outer, stb_arena_printf(&m->c->arena, "%s \"%s\"", row->name, stmt->words[0].text), stmt->words[0].span))
		return;
	for (uint32_t i = 0; i < stmt->n_body; i++) {
		const struct stb_stmt *each = stmt->body[i];
		const struct stb_schema_attr *inner;
		struct stb_setting t;
		const char *name;

		if (each->kind == STB_S_BLOCK)
			refuse_nested(m, each, row->name);
		if (each->kind != STB_S_ATTR || !each->path || each->path->kind != STB_N_PATH || !each->value || each->value->kind == STB_N_BAD)
			continue;
		name = each->path->text;
		inner = stb_schema_attr(b->kind, b->type->type, stb_arena_printf(&m->c->arena, "%s.%s", row->name, name));
		if (!inner || !(inner->flags & STB_INNER)) {
			d = stb_diag(s, STB_E0203, each->path->span, "%s has no attribute `%s`", row->name, name);
			stb_diag_help(s, d, "`stb explain %s.%s` shows what stands in it", stb_kind_name(b->kind), row->name);
			continue;
		}
		if (!see(m, &seen, name, each->path->span))
			continue;
		t = (struct stb_setting){ .row = row, .origin = origin, .key_span = stb_span_join(stmt->words[0].span, each->path->span),
			.value_span = each->value->span, .node = each->value };
		t.key = stb_arena_printf(&m->c->arena, "%s.%s.%s", row->name, stmt->words[0].text, name);
		if (stb_fold(m, inner, each->value, &t.val, NULL))
			stb_block_set(m, b, &t);
		n++;
	}
	if (!n && !stmt->n_body) {
		d = stb_diag(s, STB_E0217, stmt->words[0].span, "this %s rule says nothing", row->name);
		stb_diag_help(s, d, "write %s", stb_doc_phrase(&m->c->arena, row));
	}
}

/* options, parameters, units, decimals, headings, schedule, limits and steady_state: entries are settings "NAME.entry". */
static void check_entries(struct stb_model *m, struct stb_block *b, const struct stb_stmt *stmt, enum stb_origin origin)
{
	struct seen seen = { .n = 0 };
	size_t n_rows;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const char *name = stmt->name.text;
	const size_t prefix = strlen(name);

	if (!check_words(m, stmt, 0))
		return;
	for (uint32_t i = 0; i < stmt->n_body; i++) {
		if (stmt->body[i]->kind == STB_S_BLOCK)
			refuse_nested(m, stmt->body[i], name);
		else if (stmt->body[i]->kind == STB_S_ATTR)
			check_attribute(m, b, name, stmt->name.span, stmt->body[i], origin, &seen);
	}
	for (size_t i = 0; i < n_rows && origin == STB_FROM_LINE; i++) {
		if (rows[i].kind == b->kind && rows[i].flags & STB_REQUIRED && strncmp(rows[i].name, name, prefix) == 0 &&
			rows[i].name[prefix] == '.' && !has_seen(&seen, rows[i].name + prefix + 1))
			stb_diag_help(&m->c->sink, stb_diag(&m->c->sink, STB_E0217, stmt->name.span, "%s lacks `%s`", name, rows[i].name + prefix + 1),
				"`%s`: %s", rows[i].name, stb_doc_phrase(&m->c->arena, &rows[i]));
	}
}

static void check_block_inside(struct stb_model *m, struct stb_block *b, const struct stb_stmt *stmt, enum stb_origin origin, struct seen *seen)
{
	struct stb_sink *s = &m->c->sink;
	const struct stb_schema_attr *row = stb_schema_attr(b->kind, b->type->type, stmt->name.text);
	const struct form *form = find_form(stmt->name.text);
	const char *within = b->type->type[0] ? stb_arena_printf(&m->c->arena, "%s %s", stb_kind_name(b->kind), b->type->type) :
						stb_kind_name(b->kind);

	if (row && !(row->flags & (STB_STRUCTURAL | STB_OPEN_MAP))) {
		struct stb_diag *d = stb_diag(s, STB_E0215, stmt->name.span, "`%s` is an attribute of %s, not a block", row->name, within);

		if (row->type == STB_V_SECRET)
			stb_sink_mask(s, (struct stb_span){ stmt->span.file, stmt->name.span.end, stmt->span.end });

		stb_diag_here(s, d, "write %s = ...", row->name);
		return;
	}
	if (!row) {
		refuse_nested(m, stmt, within);
		return;
	}
	if (row->flags & STB_BY_TEXT) {
		check_by_text(m, b, row, stmt, origin, seen);
		return;
	}
	if (!(form && form->many) && !see(m, seen, stmt->name.text, stmt->name.span))
		return;
	if (row->flags & (STB_OPEN_MAP | STB_ENTRIES))
		check_entries(m, b, stmt, origin);
	else if (form)
		check_nested(m, b->kind, form, stmt);
}

void stb_check_body(struct stb_model *m, struct stb_block *b, const struct stb_stmt *stmt, enum stb_origin origin)
{
	struct seen seen = { .n = 0 };

	for (uint32_t i = 0; i < stmt->n_body; i++) {
		if (stmt->body[i]->kind == STB_S_ATTR)
			check_attribute(m, b, NULL, STB_NO_SPAN, stmt->body[i], origin, &seen);
		else if (stmt->body[i]->kind == STB_S_BLOCK)
			check_block_inside(m, b, stmt->body[i], origin, &seen);
	}
	if (b->n_settings > MAX_SETTINGS)
		stb_diag(&m->c->sink, STB_E0220, b->span, "a block holds at most %d attributes and options", MAX_SETTINGS);
}

/* --- the whole ----------------------------------------------------------------------------------------------------------------------- */

/* Whether the block says something of that name, right or wrong: an attribute that was refused is not missing as well. */
static bool is_stated(const struct stb_block *b, const char *name)
{
	const struct stb_setting *t = stb_block_setting(b, name);

	if (t)
		return t->val.type != STB_V_NONE;
	for (uint32_t i = 0; b->stmt && i < b->stmt->n_body; i++) {
		const struct stb_stmt *each = b->stmt->body[i];

		if (each->kind == STB_S_ATTR && each->path && strcmp(each->path->text, name) == 0)
			return true;
	}
	return false;
}

void stb_check_required(struct stb_model *m, const struct stb_block *b)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	if (b->kind != STB_K_SUITE && b->kind != STB_K_MATRIX && b->kind != STB_K_REPORT && b->kind != STB_K_CLAIM)
		return;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind != b->kind || !(rows[i].flags & STB_REQUIRED) || strchr(rows[i].name, '.') || is_stated(b, rows[i].name))
			continue;
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0217, b->span, "%s `%s` lacks `%s`", stb_kind_name(b->kind), b->name, rows[i].name);

		stb_diag_help(&m->c->sink, d, "`%s`: %s", rows[i].name, stb_doc_phrase(&m->c->arena, &rows[i]));
	}
}

/* mkfs and mount options, of the file system that the block itself states; where it states none, right for any will do. */
static void check_fsopts(struct stb_model *m, const struct stb_block *b)
{
	static const char *const lists[] = { "mkfs_options", "mount_options" };
	const struct stb_setting *fs = stb_block_setting(b, "filesystem");

	for (size_t i = 0; i < STB_LEN(lists); i++) {
		const struct stb_setting *t = stb_block_setting(b, lists[i]);
		const bool stated = fs && fs->val.type == STB_V_WORD;
		struct stb_diag *d;

		if (!t || t->val.type != STB_V_LIST)
			continue;
		d = stb_report_fsopt(m, t, stated ? fs->val.str : NULL);
		if (d && stated)
			stb_diag_label(&m->c->sink, d, fs->value_span, "the file system");
	}
}

void stb_check(struct stb_model *m)
{
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		struct stb_block *b = m->blocks[i];

		stb_check_body(m, b, b->stmt, STB_FROM_LINE);
	}
	stb_like_apply(m);
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		stb_check_required(m, m->blocks[i]);
		check_fsopts(m, m->blocks[i]);
		stb_check_pin(m, m->blocks[i]);
	}
}
