/*
 * schema.c - looks things up in the attribute table.
 *
 * Defaults and bounds are kept in the table as a user would write them, so that the reference prints them as they stand and they are read by
 * the same code as a spec's quantities. A row that cannot be read is our bug; a unit test reads every one.
 */
#include "compiler/schema.h"

#include "runtime/base/units.h"

#include <string.h>

static const struct stb_schema_type types[] = {
#define STB_TYPE(kind_, type_, ...) { .kind = STB_K_##kind_, .type = (type_), .doc = __VA_ARGS__ },
#define STB_ATTR(...)
#define STB_LINK(...)
#include "compiler/schema.def"
#undef STB_TYPE
#undef STB_ATTR
#undef STB_LINK
};

/* The last macro argument is always there (", doc"), so that rows without further fields need no empty one. */
static const struct stb_schema_attr rows[] = {
#define STB_TYPE(...)
#define STB_ATTR(kind_, types_, name_, type_, ident_, ...)                                                                     \
	{ .kind = STB_K_##kind_, .types = (types_), .name = (name_), .type = STB_V_##type_, .ident = STB_##ident_, .ref_kind = -1, \
	  .doc = __VA_ARGS__ },
#define STB_LINK(kind_, types_, name_, type_, target_, ident_, ...)                                                            \
	{ .kind = STB_K_##kind_, .types = (types_), .name = (name_), .type = STB_V_##type_, .ident = STB_##ident_,                 \
	  .ref_kind = STB_K_##target_, .doc = __VA_ARGS__ },
#include "compiler/schema.def"
#undef STB_TYPE
#undef STB_ATTR
#undef STB_LINK
};

static const char *const kind_names[STB_N_KINDS] = {
	[STB_K_SUITE] = "suite",       [STB_K_STORAGE] = "storage",   [STB_K_VOLUME] = "volume", [STB_K_SERVER] = "server",
	[STB_K_DATABASE] = "database", [STB_K_WORKLOAD] = "workload", [STB_K_MATRIX] = "matrix", [STB_K_REPORT] = "report",
	[STB_K_CLAIM] = "claim",       [STB_K_PROFILE] = "profile",   [STB_K_PIN] = "pin",
};

const char *stb_kind_name(enum stb_kind k)
{
	STB_ASSERT(k >= 0 && k < STB_N_KINDS);
	return kind_names[k];
}

bool stb_kind_find(const char *name, enum stb_kind *out)
{
	for (unsigned i = 0; i < STB_N_KINDS; i++) {
		if (strcmp(kind_names[i], name) == 0) {
			*out = (enum stb_kind)i;
			return true;
		}
	}
	return false;
}

bool stb_kind_has_types(enum stb_kind k)
{
	return stb_schema_type(k, "") == NULL;
}

const struct stb_schema_type *stb_schema_types(size_t *n)
{
	*n = STB_LEN(types);
	return types;
}

const struct stb_schema_attr *stb_schema_rows(size_t *n)
{
	*n = STB_LEN(rows);
	return rows;
}

const struct stb_schema_type *stb_schema_type(enum stb_kind k, const char *type)
{
	for (size_t i = 0; i < STB_LEN(types); i++) {
		if (types[i].kind == k && strcmp(types[i].type, type) == 0)
			return &types[i];
	}
	return NULL;
}

/* Whether a space-separated list holds a word. */
static bool holds(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; n > 0 && (p = strstr(p, word)) != NULL; p += n) {
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	}
	return false;
}

bool stb_schema_applies(const struct stb_schema_attr *row, const char *type)
{
	return strcmp(row->types, "*") == 0 || holds(row->types, type);
}

static const struct stb_schema_attr *find(enum stb_kind k, const char *type, const char *name, size_t len)
{
	for (size_t i = 0; i < STB_LEN(rows); i++) {
		const struct stb_schema_attr *row = &rows[i];

		if (row->kind == k && strncmp(row->name, name, len) == 0 && row->name[len] == '\0' && stb_schema_applies(row, type))
			return row;
	}
	return NULL;
}

const struct stb_schema_attr *stb_schema_attr(enum stb_kind k, const char *type, const char *name)
{
	const struct stb_schema_attr *row = find(k, type, name, strlen(name));
	const char *dot = strchr(name, '.');

	if (!row && dot) {
		row = find(k, type, name, (size_t)(dot - name));
		if (row && !(row->flags & STB_OPEN_MAP))
			row = NULL;
	}
	return row;
}

/* One value of the table: a quantity, true or false, "text", or a word. */
static struct stb_val scalar(struct stb_arena *a, const struct stb_schema_attr *row, enum stb_vtype want, const char *s, size_t len)
{
	struct stb_val v;

	switch (want) {
	case STB_V_BOOL:
		return stb_val_bool(len == 4 && memcmp(s, "true", 4) == 0);
	case STB_V_STRING:
		STB_ASSERT(len >= 2 && s[0] == '"' && s[len - 1] == '"');
		return stb_val_str(STB_V_STRING, stb_arena_strndup(a, s + 1, len - 2));
	case STB_V_WORD:
		v = stb_val_str(STB_V_WORD, stb_arena_strndup(a, s, len));
		STB_ASSERT(!row->words || holds(row->words, v.str));
		return v;
	case STB_V_COUNT:
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
		STB_ASSERT(stb_units_parse(s, len, &v) == STB_UNITS_OK && v.type == want);
		return v;
	case STB_V_NONE:
	case STB_V_CLOCK:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		break;
	}
	STB_BUG("a schema row with a default of a type that has none");
}

bool stb_schema_default(struct stb_arena *a, const struct stb_schema_attr *row, struct stb_val *out)
{
	if (!row->def)
		return false;
	if (row->type != STB_V_LIST) {
		*out = scalar(a, row, row->type, row->def, strlen(row->def));
		return true;
	}

	const char *p = row->def + 1; /* behind [ */
	uint32_t cap = 0;

	*out = (struct stb_val){ .type = STB_V_LIST, .den = 1 };
	while (*p && *p != ']') {
		size_t len = strcspn(p, ",]");

		STB_ARENA_GROW(a, out->items, out->n_items, cap);
		out->items[out->n_items++] = scalar(a, row, row->elem, p, len);
		p += len;
		p += strspn(p, ", ");
	}
	return true;
}

bool stb_schema_bound(const char *bound, struct stb_val *out)
{
	if (!bound)
		return false;
	STB_ASSERT(stb_units_parse(bound, strlen(bound), out) == STB_UNITS_OK);
	return true;
}
