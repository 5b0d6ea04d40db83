/*
 * setting.c - one attribute statement as a setting: looks its row up, folds its value, checks what a value by itself can be.
 */
#include "compiler/eval.h"
#include "compiler/fio_hint.h"
#include "compiler/options.h"

#include <string.h>

enum { MAX_SUGGESTIONS = 256 };

/* --- unknown names ------------------------------------------------------------------------------------------------------------------- */

/* "workload io", "volume". */
static const char *block_phrase(struct stb_model *m, enum stb_kind kind, const char *type)
{
	return type[0] ? stb_arena_printf(&m->c->arena, "%s %s", stb_kind_name(kind), type) : stb_kind_name(kind);
}

/* Rows that a user writes in a block of the kind and type: no rows of nested blocks. */
static bool is_own_row(const struct stb_schema_attr *row, enum stb_kind kind, const char *type)
{
	return row->kind == kind && stb_schema_applies(row, type) && !strchr(row->name, '.');
}

/* Which other blocks have the attribute: "workload oltp, database mysql"; NULL: none. */
static const char *owners(struct stb_model *m, const char *name)
{
	size_t n_types, n_found = 0;
	const struct stb_schema_type *types = stb_schema_types(&n_types);
	const char *text = NULL;

	for (size_t i = 0; i < n_types; i++) {
		if (!stb_schema_attr(types[i].kind, types[i].type, name))
			continue;
		if (++n_found > 4)
			return stb_arena_printf(&m->c->arena, "%s and others", text);
		const char *phrase = block_phrase(m, types[i].kind, types[i].type);

		text = text ? stb_arena_printf(&m->c->arena, "%s, %s", text, phrase) : phrase;
	}
	return text;
}

static bool report_unknown(struct stb_model *m, enum stb_kind kind, const char *type, const struct stb_name *name)
{
	struct stb_sink *s = &m->c->sink;
	const char *phrase = block_phrase(m, kind, type), *names[MAX_SUGGESTIONS], *where = owners(m, name->text);
	size_t n_rows, n = 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	struct stb_diag *d = stb_diag(s, where ? STB_E0204 : STB_E0203, name->span, "%s has no attribute `%s`", phrase, name->text);

	if (d == &s->scratch)
		return false;
	for (size_t i = 0; i < n_rows && n < MAX_SUGGESTIONS; i++) {
		if (is_own_row(&rows[i], kind, type))
			names[n++] = rows[i].name;
	}
	const char *near = stb_nearest(name->text, names, n);

	if (where)
		stb_diag_here(s, d, "belongs to %s", where);
	else if (kind == STB_K_WORKLOAD && strcmp(type, "io") == 0 && stb_fio_hint_attr(s, d, name->span, name->text))
		return false;
	if (near && !where)
		stb_diag_here(s, d, "did you mean `%s`?", near);
	else if (near)
		stb_diag_help(s, d, "did you mean `%s`?", near);
	if (near)
		stb_diag_fixit(s, d, name->span, "%s", near);
	else if (kind == STB_K_DATABASE && !where)
		stb_diag_help(s, d, "a server variable stands in options { %s = ... }", name->text);
	else
		stb_diag_help(s, d, "`stb explain %s` lists its attributes", phrase);
	return false;
}

/* --- values by themselves ------------------------------------------------------------------------------------------------------------ */

static bool refuse_text(struct stb_model *m, const struct stb_setting *t, enum stb_code code, const char *what, const char *here)
{
	struct stb_diag *d = stb_diag(&m->c->sink, code, t->value_span, "`%s` %s", t->row->name, what);

	if (here)
		stb_diag_here(&m->c->sink, d, "%s", here);
	return false;
}

/* A file beneath the volume: relative, no part of it empty or `..`. */
static bool check_filename(struct stb_model *m, const struct stb_setting *t)
{
	const char *path = t->val.str;

	if (path[0] == '/')
		return refuse_text(m, t, STB_E0319, "cannot be an absolute path", "name a file beneath the volume, such as \"stb.data\"");
	if (strlen(path) > 200)
		return refuse_text(m, t, STB_E0319, "is longer than 200 bytes", NULL);
	for (const char *p = path;;) {
		const size_t n = strcspn(p, "/");

		if (n == 2 && strncmp(p, "..", 2) == 0)
			return refuse_text(m, t, STB_E0319, "climbs out of its volume", "name a file beneath the volume");
		if (n == 0 || (n == 1 && p[0] == '.'))
			return refuse_text(m, t, STB_E0319, "has an empty part", "name a file beneath the volume, such as \"stb.data\"");
		if (!p[n])
			return true;
		p += n + 1;
	}
}

/*
 * A place on the machine (a storage's path, a database's socket). Relative, it would hang on the folder from which stb is called, and one
 * plan would mean another place for each caller.
 */
static bool check_place(struct stb_model *m, const struct stb_setting *t)
{
	if (t->val.str[0] == '/')
		return true;
	refuse_text(m, t, STB_E0319, "is not an absolute path", t->val.str[0] == '~' ? "write the directory out, `~` is not expanded" :
		"write it from the root, such as \"/var/tmp\"");
	return false;
}

/* The name of a database: what can stand between backquotes in every version, and in a directory's name. */
static bool check_schema_name(struct stb_model *m, const struct stb_setting *t)
{
	const char *name = t->val.str;
	const char *cell = strstr(name, "${cell.");

	if (strlen(name) > 64 && !cell)
		return refuse_text(m, t, STB_E0323, "has at most 64 characters", NULL);
	if (!cell && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$-")] != '\0')
		return refuse_text(m, t, STB_E0323, "is the name of a database", "letters, digits, _, $ and -");
	return true;
}

/* What a device is called under /dev/disk/by-id, or where it lies in a list of such names: never a path. */
static bool check_device_name(struct stb_model *m, const struct stb_setting *t, struct stb_span span, const char *name)
{
	struct stb_diag *d;

	if (name[0] && !strchr(name, '/') && strcmp(name, "..") != 0)
		return true;
	d = stb_diag(&m->c->sink, STB_E0330, span, "`%s` takes the name of a device, not a path", t->row->name);
	if (strncmp(name, "/dev/disk/by-id/", 16) == 0 && name[16] && !strchr(name + 16, '/')) {
		stb_diag_here(&m->c->sink, d, "write \"%s\"", name + 16);
		stb_diag_fixit(&m->c->sink, d, span, "\"%s\"", name + 16);
	} else {
		stb_diag_help(&m->c->sink, d, "names such as /dev/nvme0n1 change from boot to boot; `ls /dev/disk/by-id` shows those that stay");
	}
	return false;
}

static bool names_device(const struct stb_schema_attr *row)
{
	static const char *const rows[] = { "serial", "by_id", "erase", "namespace", "devices" };

	for (size_t i = 0; row->kind == STB_K_STORAGE && i < STB_LEN(rows); i++) {
		if (strcmp(rows[i], row->name) == 0)
			return true;
	}
	return false;
}

static bool check_names(struct stb_model *m, const struct stb_setting *t)
{
	bool ok = true;

	for (uint32_t i = 0; i < t->val.n_items; i++) {
		const bool itself = t->node && t->node->kind == STB_N_LIST && i < t->node->n_items;
		const struct stb_span span = itself ? t->node->items[i]->span : t->value_span;

		ok &= check_device_name(m, t, span, t->val.items[i].str);
	}
	return ok;
}

static bool check_text(struct stb_model *m, const struct stb_setting *t)
{
	const struct stb_schema_attr *row = t->row;
	const bool free_text = row->ident == STB_NO_ID;

	if (!free_text && !t->val.str[0])
		return refuse_text(m, t, STB_E0323, "cannot be empty",
			row->flags & STB_REQUIRED ? NULL : "leave it out where it does not apply");
	for (const char *p = t->val.str; !free_text && *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return refuse_text(m, t, STB_E0323, "holds a line break or control character", NULL);
	}
	if (row->kind == STB_K_WORKLOAD && strcmp(row->name, "filename") == 0)
		return check_filename(m, t);
	if ((row->kind == STB_K_STORAGE && strcmp(row->name, "path") == 0) ||
		(row->kind == STB_K_DATABASE && strcmp(row->name, "socket") == 0))
		return check_place(m, t);
	if (row->kind == STB_K_DATABASE && strcmp(row->name, "schema") == 0)
		return check_schema_name(m, t);
	if (names_device(row))
		return check_device_name(m, t, t->value_span, t->val.str);
	return true;
}

static bool check_value(struct stb_model *m, const struct stb_setting *t)
{
	if (t->val.type == STB_V_STRING)
		return check_text(m, t);
	if (t->val.type == STB_V_LIST && t->row->elem == STB_V_STRING && t->row->ident == STB_ADDRESS)
		return check_names(m, t);
	if (t->val.type == STB_V_LIST && t->row->elem == STB_V_STRING && t->origin != STB_FROM_LINE && t->origin != STB_FROM_PARAM)
		return !stb_report_fsopt(m, t, NULL); /* of a declared block, check.c knows the file system */
	return true;
}

/* --- the statement ------------------------------------------------------------------------------------------------------------------- */

/* Whether a param that --set replaced is part of the value. */
static bool uses_set(const struct stb_model *m, const struct stb_node *node, unsigned depth)
{
	if (!node || depth > 16)
		return false;
	if (node->kind == STB_N_PATH && node->n_names == 1) {
		const struct stb_let *let = stb_let_find(m, node->text);

		return let && (let->set_text || uses_set(m, let->node, depth + 1));
	}
	for (uint32_t i = 0; i < node->n_items && i < 64; i++) {
		if (uses_set(m, node->items[i], depth + 1))
			return true;
	}
	return false;
}

static bool has_word(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = words; p && *p; p += strcspn(p, " "), p += *p == ' ') {
		if (strcspn(p, " ") == n && strncmp(p, word, n) == 0)
			return true;
	}
	return false;
}

static bool is_none(const struct stb_schema_attr *row, const struct stb_node *value)
{
	return value->kind == STB_N_PATH && value->n_names == 1 && strcmp(value->text, "none") == 0 &&
	       !((row->type == STB_V_WORD || row->elem == STB_V_WORD) && has_word(row->words, "none"));
}

/* `= none`: in a profile it unsets. */
static bool make_none(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_node *value, struct stb_setting *out)
{
	if (out->origin == STB_FROM_PROFILE) {
		out->val = (struct stb_val){ .type = STB_V_NONE, .den = 1 };
		return true;
	}
	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0704, value->span, "`%s` cannot be `none` here", row->name);

	stb_diag_here(&m->c->sink, d, "leave the attribute out");
	stb_diag_help(&m->c->sink, d, "`= none` takes a value away, in the entries of a profile only");
	return false;
}

static const char *key_of(struct stb_model *m, const struct stb_name *path, uint32_t n_path)
{
	const char *key = path[0].text;

	for (uint32_t i = 1; i < n_path; i++)
		key = stb_arena_printf(&m->c->arena, "%s.%s", key, path[i].text);
	return key;
}

static const struct stb_schema_attr *find_row(struct stb_model *m, enum stb_kind kind, const char *type, const struct stb_name *path,
	uint32_t n_path, const char *key)
{
	const struct stb_schema_attr *row = n_path <= 8 ? stb_schema_attr(kind, type, key) : NULL;
	const struct stb_schema_attr *first = n_path > 1 ? stb_schema_attr(kind, type, path[0].text) : NULL;
	const bool part = row && first && first->flags & STB_ENTRIES;
	/* options have plain names; those of a provisioner may be dotted */
	const bool dotted = row && (row->elem != STB_V_NONE || row->kind == STB_K_STORAGE);
	const bool entry = row && row->flags & STB_OPEN_MAP && !(row->flags & STB_BY_TEXT) && (n_path == 2 || dotted);

	if (row && (n_path == 1 || entry || part))
		return row;
	if (n_path > 1 && first) {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0203, path[1].span, "`%s` has no part `%s`", path[0].text, path[1].text);

		if (first->flags & STB_STRUCTURAL)
			stb_diag_help(&m->c->sink, d, "`stb explain %s.%s` shows what stands in it", stb_kind_name(kind), path[0].text);
		return NULL;
	}
	report_unknown(m, kind, type, &path[0]);
	return NULL;
}

bool stb_setting_make(struct stb_model *m, enum stb_kind kind, const char *type, const struct stb_name *path, uint32_t n_path,
	const struct stb_node *value, enum stb_origin origin, struct stb_setting *out)
{
	struct stb_sink *s = &m->c->sink;
	const char *key = key_of(m, path, n_path);
	const struct stb_schema_attr *row = find_row(m, kind, type, path, n_path, key);

	if (!row || !value || value->kind == STB_N_BAD)
		return false;
	*out = (struct stb_setting){
		.row = row, .key = key, .origin = origin, .key_span = stb_span_join(path[0].span, path[n_path - 1].span),
		.value_span = value->span, .node = value,
	};
	if (origin == STB_FROM_LINE && uses_set(m, value, 0))
		out->origin = STB_FROM_PARAM;
	if (is_none(row, value))
		return make_none(m, row, value, out);
	if ((row->flags & STB_STRUCTURAL || row->flags & STB_OPEN_MAP) && n_path == 1) {
		struct stb_diag *d = stb_diag(s, STB_E0215, out->key_span, "`%s` is a block", row->name);

		stb_diag_here(s, d, "write %s { ... }", row->name);
		return false;
	}
	if (row->flags & STB_OPEN_MAP && row->elem == STB_V_NONE)
		return stb_option_make(m, row, &path[n_path - 1], value, &out->val);
	if (row->flags & STB_OPEN_MAP) {
		struct stb_schema_attr entry = *row; /* one entry of the map, named by its own key in messages */

		entry.type = row->elem;
		entry.name = path[n_path - 1].text;
		return stb_fold(m, &entry, value, &out->val, &out->decimals);
	}
	return stb_fold(m, row, value, &out->val, &out->decimals) && check_value(m, out);
}
