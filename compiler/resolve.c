/*
 * resolve.c - reads a spec with its includes and collects who is called what.
 *
 *   top file --parse--> statements --include--> statements of all files, in the order of reading --collect--> blocks, lets, profiles
 *
 * An include stands for the statements of its file, once: the second time it adds nothing. Files are told apart by their real path, which is
 * also what has to lie under the repository root. Nothing is opened but regular files, for reading.
 */
#include "compiler/resolve.h"

#include "compiler/eval.h"
#include "compiler/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_INCLUDE_DEPTH = 50, MAX_FILES = 1000, MAX_NAME = 128, MAX_PROFILES = 64 };

/* --- names --------------------------------------------------------------------------------------------------------------------------- */

enum { SLOT_LET = STB_N_KINDS, SLOT_PROFILE };

struct slot {
	const char *name; /* NULL: free */
	unsigned what;    /* enum stb_kind, SLOT_LET, SLOT_PROFILE */
	void *thing;
};

struct stb_names {
	struct slot *slots;
	size_t cap, n; /* cap is a power of two, at most half full */
};

static struct slot *find_slot(const struct stb_names *t, unsigned what, const char *name)
{
	uint64_t hash = 14695981039346656037u + what;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	for (size_t i = hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
		struct slot *slot = &t->slots[i];

		if (!slot->name || (slot->what == what && strcmp(slot->name, name) == 0))
			return slot;
	}
}

/* What is called so already, or NULL after entering thing. */
static void *enter(struct stb_model *m, unsigned what, const char *name, void *thing)
{
	struct stb_names *t = m->names;
	struct slot *slot;

	if (t->n * 2 >= t->cap) {
		struct stb_names bigger = { .cap = t->cap * 2, .n = t->n };

		bigger.slots = STB_NEW_ARRAY(&m->c->arena, struct slot, bigger.cap);
		for (size_t i = 0; i < t->cap; i++) {
			if (t->slots[i].name)
				*find_slot(&bigger, t->slots[i].what, t->slots[i].name) = t->slots[i];
		}
		*t = bigger;
	}
	slot = find_slot(t, what, name);
	if (slot->name)
		return slot->thing;
	*slot = (struct slot){ .name = name, .what = what, .thing = thing };
	t->n++;
	return NULL;
}

struct stb_block *stb_model_find(const struct stb_model *m, enum stb_kind kind, const char *name)
{
	return find_slot(m->names, kind, name)->thing;
}

struct stb_let *stb_let_find(const struct stb_model *m, const char *name)
{
	return find_slot(m->names, SLOT_LET, name)->thing;
}

const struct stb_setting *stb_block_setting(const struct stb_block *b, const char *key)
{
	for (uint32_t i = 0; i < b->n_settings; i++) {
		if (strcmp(b->settings[i].key, key) == 0)
			return &b->settings[i];
	}
	return NULL;
}

/* --- files --------------------------------------------------------------------------------------------------------------------------- */

struct opened {
	const char *real; /* NULL: the top file has no path (standard input, bytes) */
	uint32_t file;
	bool open;        /* being read: including it now is a cycle */
	struct stb_span from; /* the include that opened it */
	uint32_t parent;
};

struct reader {
	struct stb_model *m;
	const struct stb_loader *loader; /* NULL: the file system */
	bool follow;
	const char *root;   /* real path, no slash at the end ("" for /) */
	const char *prefix; /* of the names shown */
	struct opened *files;
	uint32_t n_files, cap_files;
};

/* The directory part of a path, "" for the root, "." for a bare name. */
static char *directory(struct stb_arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? stb_arena_strndup(a, path, (size_t)(slash - path)) : stb_arena_strdup(a, ".");
}

static bool beneath(const char *root, const char *path)
{
	const size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && path[n] == '/';
}

static bool exists(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	const int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	return n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0;
}

/* The nearest parent of the file with .git; NULL: there is none. */
static char *repository(struct stb_arena *a, const char *real)
{
	char *dir = directory(a, real);

	for (;;) {
		if (exists(dir, ".git"))
			return dir;
		if (!dir[0])
			return NULL;
		*strrchr(dir, '/') = '\0';
	}
}

char *stb_name_in_repository(struct stb_arena *a, const char *path)
{
	char *real = realpath(path, NULL), *root, *name = NULL;

	if (real && (root = repository(a, real)) != NULL)
		name = stb_arena_strdup(a, real + strlen(root) + 1);
	free(real);
	return name ? name : stb_arena_strdup(a, path);
}

/* realpath(), of the file system or of what stands in its place; in the arena. NULL with errno. */
static char *real_path(const struct reader *r, const char *path)
{
	struct stb_arena *a = &r->m->c->arena;
	char *real, *copy;

	if (r->loader)
		return r->loader->real(r->loader, a, path);
	real = realpath(path, NULL);
	if (!real)
		return NULL;
	copy = stb_arena_strdup(a, real);
	free(real);
	return copy;
}

static void find_root(struct reader *r, uint32_t top)
{
	struct stb_arena *a = &r->m->c->arena;
	const char *path = r->m->c->sources.files[top].path;
	char *real = path && strcmp(path, "-") != 0 && r->follow ? real_path(r, path) : NULL;
	char *dir;

	STB_ARENA_GROW(a, r->files, r->n_files, r->cap_files);
	r->files[r->n_files++] = (struct opened){ .real = real, .file = top, .from = STB_NO_SPAN };
	if (real && r->loader) {
		r->root = r->loader->root;
		r->prefix = "";
		return;
	}
	if (!real) { /* standard input: includes are relative to where we are */
		real = r->follow ? real_path(r, ".") : NULL;
		if (real)
			r->root = repository(a, stb_arena_printf(a, "%s/-", real));
		if (real && !r->root)
			r->root = stb_arena_strdup(a, strcmp(real, "/") == 0 ? "" : real);
		r->prefix = "";
		return;
	}
	r->root = repository(a, real);
	r->prefix = "";
	if (!r->root) {
		r->root = directory(a, real);
		dir = directory(a, path);
		if (strcmp(dir, ".") != 0 || strncmp(path, "./", 2) == 0)
			r->prefix = stb_arena_printf(a, "%s/", dir);
	}
}

/* The text of an include, NULL when it is none. */
static const char *include_text(struct reader *r, const struct stb_stmt *stmt)
{
	const struct stb_node *v = stmt->value;
	struct stb_sink *s = &r->m->c->sink;

	if (!v || v->kind != STB_N_STRING)
		return NULL; /* the grammar has reported it */
	for (uint32_t i = 0; i < v->n_parts; i++) {
		if (v->parts[i].is_name || memchr(v->parts[i].text, '\0', v->parts[i].len)) {
			stb_diag(s, STB_E0323, v->parts[i].span, "the path of an include is plain text, without %s",
				v->parts[i].is_name ? "${...}" : "NUL characters");
			return NULL;
		}
	}
	if (v->n_parts != 1 || !v->parts[0].len) {
		stb_diag(s, STB_E0323, v->span, "the path of an include cannot be empty");
		return NULL;
	}
	return stb_arena_strndup(&r->m->c->arena, v->parts[0].text, v->parts[0].len);
}

static void report_cycle(struct reader *r, const struct stb_stmt *stmt, uint32_t from, uint32_t to)
{
	struct stb_sink *s = &r->m->c->sink;
	struct stb_sources *src = &r->m->c->sources;
	struct stb_diag *d = stb_diag(s, STB_E0212, stmt->value->span, "`%s` includes itself", src->files[r->files[to].file].name);
	struct stb_buf chain;

	stb_buf_init(&chain);
	stb_buf_adds(&chain, src->files[r->files[to].file].name);
	for (uint32_t i = from; i != to; i = r->files[i].parent) {
		char *rest = stb_buf_take(&chain);

		stb_diag_label(s, d, r->files[i].from, "includes `%s`", src->files[r->files[i].file].name);
		stb_buf_printf(&chain, "%s -> %s", src->files[r->files[i].file].name, rest);
		free(rest);
	}
	if (from != to)
		stb_diag_note(s, d, "%s -> %s", src->files[r->files[to].file].name, stb_buf_str(&chain));
	stb_diag_help(s, d, "move what they share into a file that includes none of them");
	stb_buf_fini(&chain);
}

static bool load(struct reader *r, const struct stb_stmt *stmt, const char *text, const char *real, uint32_t *file)
{
	struct stb_sink *s = &r->m->c->sink;
	struct stb_arena *a = &r->m->c->arena;
	const char *name = stb_arena_printf(a, "%s%s", r->prefix, real + strlen(r->root) + 1);
	const struct stb_span at = stmt->value->span;
	int code = 0;

	switch (r->loader ? r->loader->load(r->loader, &r->m->c->sources, real, name, file, &code) :
			    stb_sources_load(&r->m->c->sources, real, name, file, &code)) {
	case STB_SOURCE_OK:
		return true;
	case STB_SOURCE_ERRNO:
		stb_diag(s, STB_E0210, at, "cannot read `%s`: %s", text, strerror(code));
		return false;
	case STB_SOURCE_DIRECTORY:
		stb_diag_here(s, stb_diag(s, STB_E0213, at, "`%s` is a directory", text), "name a file in it");
		return false;
	case STB_SOURCE_NOT_A_FILE:
		stb_diag_help(s, stb_diag(s, STB_E0213, at, "`%s` is no regular file", text),
			"FIFOs, sockets and devices are never opened: reading them could block or never end");
		return false;
	case STB_SOURCE_TOO_LARGE:
		stb_diag(s, STB_E0214, at, "`%s` is larger than %u MiB", text, STB_SOURCE_MAX_BYTES >> 20);
		return false;
	}
	return false;
}

static void read_file(struct reader *r, uint32_t index);

static void include(struct reader *r, const struct stb_stmt *stmt, uint32_t from)
{
	struct stb_sink *s = &r->m->c->sink;
	struct stb_arena *a = &r->m->c->arena;
	const char *text = include_text(r, stmt);
	uint32_t depth = 0, file;
	char *real;

	if (!text)
		return;
	if (!r->follow || !r->root) {
		stb_diag(s, STB_E0219, stmt->value->span, "`%s` cannot be included: this text did not come from a file", text);
		return;
	}
	if (text[0] == '/') {
		struct stb_diag *d = stb_diag(s, STB_E0211, stmt->value->span, "`%s` is an absolute path", text);

		stb_diag_help(s, d, "an include is relative to the file that includes it, so that it means the same on every machine");
		return;
	}
	const char *dir = r->files[from].real ? directory(a, r->files[from].real) : ".";

	real = real_path(r, stb_arena_printf(a, "%s/%s", dir, text));
	if (!real) {
		const int code = errno;
		struct stb_diag *d = stb_diag(s, STB_E0210, stmt->value->span, "cannot read `%s`: %s", text, strerror(code));

		if (code == ENOENT)
			stb_diag_help(s, d, "the path is relative to the file that includes it");
		return;
	}
	if (strcmp(r->root, real) && !beneath(r->root, real)) { /* the root itself: loading says that it is a directory */
		struct stb_diag *d = stb_diag(s, STB_E0211, stmt->value->span, "`%s` lies outside of the repository", text);

		stb_diag_help(s, d, "an include stays beneath the nearest parent of the spec with a .git, else beneath the spec's folder");
		return;
	}
	for (uint32_t i = from; r->files[i].from.file != STB_NO_FILE; i = r->files[i].parent)
		depth++;
	for (uint32_t i = 0; i < r->n_files; i++) {
		if (!r->files[i].real || strcmp(r->files[i].real, real) != 0)
			continue;
		if (r->files[i].open)
			report_cycle(r, stmt, from, i);
		return;
	}
	if (r->n_files >= MAX_FILES || depth >= MAX_INCLUDE_DEPTH) {
		stb_diag(s, STB_E0214, stmt->value->span, "`%s` would be %s", text,
			depth >= MAX_INCLUDE_DEPTH ? "more than 50 includes deep" : "the 1000th file of the spec");
		return;
	}
	if (load(r, stmt, text, real, &file)) {
		STB_ARENA_GROW(a, r->files, r->n_files, r->cap_files);
		r->files[r->n_files++] = (struct opened){
			.real = real, .file = file, .from = stmt->value->span, .parent = from
		};
		read_file(r, r->n_files - 1);
	}
}

static void read_file(struct reader *r, uint32_t index)
{
	struct stb_model *m = r->m;
	struct stb_ast *ast;

	r->files[index].open = true;
	ast = stb_parse(&m->c->arena, &m->c->sources, r->files[index].file, &m->c->sink);
	for (uint32_t i = 0; i < ast->n_stmts; i++) {
		if (ast->stmts[i]->kind == STB_S_INCLUDE) {
			include(r, ast->stmts[i], index);
			continue;
		}
		STB_ARENA_GROW(&m->c->arena, m->stmts, m->n_stmts, m->cap_stmts);
		m->stmts[m->n_stmts++] = ast->stmts[i];
	}
	r->files[index].open = false;
}

/* --- heads of blocks ----------------------------------------------------------------------------------------------------------------- */

static const char *types_text(struct stb_model *m, enum stb_kind kind, const char **names, size_t *n_names)
{
	size_t n;
	const struct stb_schema_type *types = stb_schema_types(&n);
	const char *text = "";

	*n_names = 0;
	for (size_t i = 0; i < n; i++) {
		if (types[i].kind != kind)
			continue;
		names[(*n_names)++] = types[i].type;
		text = stb_arena_printf(&m->c->arena, "%s%s%s", text, text[0] ? ", " : "", types[i].type);
	}
	return text;
}

static bool wrong_words(struct stb_model *m, const struct stb_stmt *stmt, enum stb_kind kind, struct stb_span at, const char *what)
{
	struct stb_sink *s = &m->c->sink;
	const char *name = stb_kind_name(kind);
	struct stb_diag *d = stb_diag(s, STB_E0207, at, "%s", what);
	const char *types[16];
	size_t n;

	if (stb_kind_has_types(kind))
		stb_diag_help(s, d, "write %s TYPE NAME { ... }; types are %s", name, types_text(m, kind, types, &n));
	else
		stb_diag_help(s, d, "write %s NAME { ... }", name);
	(void)stmt;
	return false;
}

static bool check_name(struct stb_model *m, const struct stb_name *name)
{
	static const char *const refused[] = { "none", "cell", "run" };
	struct stb_sink *s = &m->c->sink;

	for (size_t i = 0; i < STB_LEN(refused); i++) {
		if (strcmp(name->text, refused[i]) == 0) {
			stb_diag(s, STB_E0218, name->span, "nothing can be called `%s`: the word has a meaning of its own", refused[i]);
			return false;
		}
	}
	if (strlen(name->text) > MAX_NAME) {
		stb_diag(s, STB_E0218, name->span, "a name has at most %d characters", MAX_NAME);
		return false;
	}
	return true;
}

static bool read_type(struct stb_model *m, const struct stb_stmt *stmt, enum stb_kind kind, const struct stb_schema_type **out)
{
	struct stb_sink *s = &m->c->sink;
	const struct stb_word *word = &stmt->words[0];
	const char *types[16], *text;
	struct stb_diag *d;
	size_t n;

	*out = word->kind == STB_W_IDENT ? stb_schema_type(kind, word->text) : NULL;
	if (*out)
		return true;
	text = types_text(m, kind, types, &n);
	const char *near = stb_nearest(word->text, types, n);

	d = stb_diag(s, STB_E0206, word->span, "%s has no type `%s`", stb_kind_name(kind), word->text);
	if (near) {
		stb_diag_here(s, d, "did you mean `%s`?", near);
		stb_diag_fixit(s, d, word->span, "%s", near);
	}
	stb_diag_help(s, d, "types of %s are %s", stb_kind_name(kind), text);
	return false;
}

bool stb_head_read(struct stb_model *m, const struct stb_stmt *stmt, bool star, struct stb_head *out)
{
	struct stb_sink *s = &m->c->sink;
	const char *kinds[STB_N_KINDS];
	struct stb_head h;

	if (!stb_kind_find(stmt->name.text, &h.kind)) {
		struct stb_diag *d = stb_diag(s, STB_E0202, stmt->name.span, "there is no block called `%s`", stmt->name.text);

		for (unsigned i = 0; i < STB_N_KINDS; i++)
			kinds[i] = stb_kind_name((enum stb_kind)i);
		const char *near = stb_nearest(stmt->name.text, kinds, STB_N_KINDS);

		if (near) {
			stb_diag_here(s, d, "did you mean `%s`?", near);
			stb_diag_fixit(s, d, stmt->name.span, "%s", near);
		} else {
			stb_diag_help(s, d, "blocks are suite, storage, volume, pin, server, database, workload, matrix, report, claim and profile");
		}
		return false;
	}

	const uint32_t want = stb_kind_has_types(h.kind) ? 2 : 1;
	const char *kind = stb_kind_name(h.kind);

	if (stmt->n_words > want)
		return wrong_words(m, stmt, h.kind, stmt->words[want].span,
			stb_arena_printf(&m->c->arena, "%s takes %s before its brace, nothing more", kind, want == 2 ? "a type and a name" : "a name"));
	if (stmt->n_words < want) {
		const bool typed = want == 2 && stmt->n_words == 1 && !stb_schema_type(h.kind, stmt->words[0].text);

		return wrong_words(m, stmt, h.kind, stmt->n_words ? stmt->words[0].span : stmt->name.span,
			stb_arena_printf(&m->c->arena, "%s lacks its %s", kind, want == 1 ? "name" : stmt->n_words == 0 ? "type and name" : typed ? "type" : "name"));
	}

	const struct stb_word *name = &stmt->words[want - 1];

	if (name->kind == STB_W_STRING)
		return wrong_words(m, stmt, h.kind, name->span, "a name stands without quotes: letters, digits and _");
	if (name->kind == STB_W_STAR && !star)
		return wrong_words(m, stmt, h.kind, name->span, "`*` stands for a name in the entries of a profile only");
	if (want == 2 && !read_type(m, stmt, h.kind, &h.type))
		return false;
	if (want == 1)
		h.type = stb_schema_type(h.kind, "");
	h.name = name->kind == STB_W_STAR ? "*" : name->text;
	h.name_span = name->span;
	h.span = stb_span_join(stmt->name.span, name->span);
	if (name->kind == STB_W_IDENT && !check_name(m, &(struct stb_name){ name->text, name->span }))
		return false;
	*out = h;
	return true;
}

/* --- collecting ---------------------------------------------------------------------------------------------------------------------- */

static void report_twice(struct stb_model *m, const char *what, const char *name, struct stb_span second, struct stb_span first)
{
	struct stb_diag *d = stb_diag(&m->c->sink, STB_E0208, second, "%s `%s` is declared twice", what, name);

	stb_diag_label(&m->c->sink, d, first, "first here");
	stb_diag_help(&m->c->sink, d, "names are unique over all files of a spec; a profile changes a block without declaring it again");
}

static void collect_block(struct stb_model *m, const struct stb_stmt *stmt)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_head h;
	struct stb_block *b, *other;

	if (!stb_head_read(m, stmt, false, &h))
		return;
	if (h.kind == STB_K_PROFILE) {
		struct stb_profile *p = STB_NEW(&m->c->arena, struct stb_profile);

		*p = (struct stb_profile){ .name = h.name, .stmt = stmt, .span = h.span };
		const struct stb_profile *first = enter(m, SLOT_PROFILE, h.name, p);

		if (first) {
			report_twice(m, "profile", h.name, h.span, first->span);
			return;
		}
		if (m->n_profiles == MAX_PROFILES) { /* each is checked by itself, over the whole spec */
			stb_diag(s, STB_E0220, h.span, "a spec holds at most %d profiles", MAX_PROFILES);
			return;
		}
		STB_ARENA_GROW(&m->c->arena, m->profiles, m->n_profiles, m->cap_profiles);
		m->profiles[m->n_profiles++] = *p;
		return;
	}
	b = STB_NEW(&m->c->arena, struct stb_block);
	*b = (struct stb_block){ .kind = h.kind, .type = h.type, .name = h.name, .span = h.span, .stmt = stmt };
	other = enter(m, h.kind, h.name, b);
	if (other) {
		report_twice(m, stb_kind_name(h.kind), h.name, h.span, other->span);
		return;
	}
	for (uint32_t i = 0; h.kind == STB_K_SUITE && i < m->n_blocks; i++) {
		if (m->blocks[i]->kind == STB_K_SUITE) {
			struct stb_diag *d = stb_diag(s, STB_E0209, h.span, "a spec has at most one suite");

			stb_diag_label(s, d, m->blocks[i]->span, "the other");
			return;
		}
	}
	STB_ARENA_GROW(&m->c->arena, m->blocks, m->n_blocks, m->cap_blocks);
	m->blocks[m->n_blocks++] = b;
}

static void collect_let(struct stb_model *m, const struct stb_stmt *stmt)
{
	struct stb_let *let, *other;

	if (!check_name(m, &stmt->name))
		return;
	let = STB_NEW(&m->c->arena, struct stb_let);
	*let = (struct stb_let){ .name = stmt->name.text, .is_param = stmt->kind == STB_S_PARAM, .span = stmt->name.span, .node = stmt->value };
	other = enter(m, SLOT_LET, let->name, let);
	if (other) {
		report_twice(m, let->is_param ? "param" : "let", let->name, let->span, other->span);
		return;
	}
	STB_ARENA_GROW(&m->c->arena, m->lets, m->n_lets, m->cap_lets);
	m->lets[m->n_lets++] = let;
}

/* --- --set --------------------------------------------------------------------------------------------------------------------------- */

static const char *set_name(struct stb_model *m, const char *set, const char **value)
{
	const char *equals = strchr(set, '=');

	*value = equals ? equals + 1 : NULL;
	return equals ? stb_arena_strndup(&m->c->arena, set, (size_t)(equals - set)) : set;
}

static void report_unknown_param(struct stb_model *m, const char *name, const struct stb_let *let)
{
	struct stb_sink *s = &m->c->sink;
	const char **params = STB_NEW_ARRAY(&m->c->arena, const char *, m->n_lets);
	struct stb_diag *d;
	size_t n = 0;

	if (let) {
		d = stb_diag(s, STB_E0705, let->span, "--set cannot change `%s`, which is a let", name);
		stb_diag_here(s, d, "a constant");
		stb_diag_help(s, d, "declare it as `param %s = ...` to let --set replace its value", name);
		return;
	}
	for (uint32_t i = 0; i < m->n_lets; i++) {
		if (m->lets[i]->is_param)
			params[n++] = m->lets[i]->name;
	}
	const char *near = stb_nearest(name, params, n);

	d = stb_diag(s, STB_E0705, STB_NO_SPAN, "--set names a param `%s`, which the spec does not have", name);
	if (near)
		stb_diag_help(s, d, "did you mean `%s`?", near);
	else if (n == 0)
		stb_diag_help(s, d, "the spec has no params; one is declared as `param NAME = value`");
	for (size_t i = 0; !near && i < n && i < 8; i++)
		stb_diag_help(s, d, "there is `%s`", params[i]);
}

/* Values were parsed once, when the model was first made: kept in the options' order. */
static void apply_sets(struct stb_model *m)
{
	struct stb_sink *s = &m->c->sink;
	const struct stb_compile_options *o = m->options;

	for (uint32_t i = 0; o && i < o->n_set; i++) {
		const char *value, *name = set_name(m, o->set[i], &value);
		struct stb_let *let = stb_let_find(m, name);
		const bool secret = let && let->node && let->node->kind == STB_N_CALL;

		if (!value || !name[0]) {
			stb_diag_help(s, stb_diag(s, STB_E0706, STB_NO_SPAN, "--set needs NAME=VALUE"), "write --set NAME=VALUE");
			continue;
		}
		if (!let || !let->is_param) {
			report_unknown_param(m, name, let);
			continue;
		}
		if (let->set_text) {
			stb_diag(s, STB_E0706, STB_NO_SPAN, "--set gives `%s` twice", name);
			continue;
		}
		let->set_text = stb_arena_strdup(&m->c->arena, value);
		if (m->set_nodes[i].read) {
			let->set = m->set_nodes[i].node;
			continue;
		}
		m->set_nodes[i].read = true;
		if (let->node && let->node->kind == STB_N_STRING && value[0] != '"')
			continue; /* text as it stands */
		const uint32_t file = stb_sources_add(&m->c->sources, stb_arena_printf(&m->c->arena, "--set %s", name), value, strlen(value));

		if (secret)
			stb_sink_mask(s, (struct stb_span){ file, 0, (uint32_t)strlen(value) });
		let->set = m->set_nodes[i].node = stb_parse_value(&m->c->arena, &m->c->sources, file, s);
	}
}

/* --- the whole ----------------------------------------------------------------------------------------------------------------------- */

static struct stb_model *new_model(struct stb_compilation *c, const struct stb_compile_options *o, uint32_t top)
{
	struct stb_model *m = STB_NEW(&c->arena, struct stb_model);

	*m = (struct stb_model){ .c = c, .options = o, .top_file = top };
	m->names = STB_NEW(&c->arena, struct stb_names);
	m->names->cap = 64;
	m->names->slots = STB_NEW_ARRAY(&c->arena, struct slot, m->names->cap);
	return m;
}

static void collect(struct stb_model *m)
{
	for (uint32_t i = 0; i < m->n_stmts; i++) {
		const struct stb_stmt *stmt = m->stmts[i];

		switch (stmt->kind) {
		case STB_S_BLOCK:
			collect_block(m, stmt);
			break;
		case STB_S_LET:
		case STB_S_PARAM:
			if (stmt->value)
				collect_let(m, stmt);
			break;
		case STB_S_INCLUDE:
		case STB_S_ATTR: /* outside of a block: the grammar reports it */
			break;
		}
	}
	apply_sets(m);
	for (uint32_t i = 0; i < m->n_lets; i++) {
		const bool used = m->lets[i]->used;
		struct stb_val ignored;

		stb_let_value(m, m->lets[i], &ignored); /* unused lets are checked too */
		m->lets[i]->used = used;
	}
}

struct stb_model *stb_resolve(struct stb_compilation *c, uint32_t file, const struct stb_compile_options *o, bool follow_includes)
{
	struct stb_model *m = new_model(c, o, file);
	struct reader r = { .m = m, .loader = o ? o->loader : NULL, .follow = follow_includes };

	m->set_nodes = STB_NEW_ARRAY(&c->arena, struct stb_set_node, o ? o->n_set : 0);
	find_root(&r, file);
	read_file(&r, 0);
	collect(m);
	return m;
}

struct stb_model *stb_resolve_again(const struct stb_model *first)
{
	struct stb_model *m = new_model(first->c, first->options, first->top_file);

	m->stmts = first->stmts;
	m->n_stmts = first->n_stmts;
	m->set_nodes = first->set_nodes;
	collect(m);
	return m;
}
