/*
 * identity.c - what makes a cell itself, and which cells share provisioning. The exact form is a contract: resume,
 * reuse and diff key on it.
 *
 * Identity version 1. The id of a cell is the SHA-256, in lower-case hex, of this text, without blanks and without a
 * final newline:
 *
 *   {"blocks":[BLOCK,...],"fresh":"group","version":1}
 *   BLOCK = {"attrs":{"NAME":VALUE,...},"kind":"workload","name":"w","type":"io"}
 *
 * - Blocks are all that the cell uses, described ones too, sorted by kind (server, storage, volume, database, workload), then name.
 * - attrs are those whose schema row says `id` and whose effective value differs from the default, sorted by name; entries of an open map
 *   are "options.NAME". Where a value comes from (declaration, override, profile, axis, binding) does not show, nor do labels, notes, order
 *   or files.
 * - VALUE: true or false; a number as a string in base units, "4096" or, where it is a fraction, "7/10" (bytes, nanoseconds, of one, per
 *   second, minutes after midnight); text, words and references as strings; lists as arrays. Strings escape " and \ and, as \u00xx, bytes
 *   below 0x20; all other bytes stand as they are.
 * - The data set has no entry of its own: every attribute that says what is loaded is an `id` attribute of the workload.
 *
 * A changed default, or a change here, raises the version; a new attribute changes no id, since its default is left
 * out.
 *
 * A group id is the SHA-256 of {"blocks":[...],"dataset":{...},"version":1} with every effective attribute of all
 * blocks but the workload, and the attributes that say what the load writes (null without a data set; rand_* beside
 * rand_type where they differ from their defaults). A mix adds "parts":[DATASET,...], fills "prepare":[BLOCK,...] with
 * every effective attribute.
 */
#include "compiler/expand.h"

#include <stdlib.h>
#include <string.h>

static const char *const dataset_attrs[] = {
	"tables", "table_size", "auto_inc", "create_secondary", "storage_engine", "rand_type", "dataset", "rand_spec_iter",
	"rand_spec_pct", "rand_spec_res", "rand_pareto_h", "rand_zipfian_exp", "script", "threads", NULL,
};

const char *const *stb_dataset_attrs(void)
{
	return dataset_attrs;
}

bool stb_dataset_has(const struct stb_eblock *workload, const char *attr)
{
	const bool bulk = stb_eattr_is(workload, "script", "bulk_insert");

	if (!strcmp(attr, "dataset"))
		return true;
	if (!strcmp(attr, "script"))
		return bulk || (stb_eattr_is(workload, "script", "insert") && !stb_eattr_true(workload, "auto_inc"));
	if (!strcmp(attr, "threads"))
		return bulk;
	for (const char *const *name = dataset_attrs; *name && !bulk; name++) {
		if (!strcmp(*name, attr))
			return true;
	}
	return false;
}

static void add_string(struct stb_buf *b, const char *s)
{
	stb_buf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			stb_buf_printf(b, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			stb_buf_printf(b, "\\u%04x", (unsigned)*s);
		else
			stb_buf_addc(b, *s);
	}
	stb_buf_addc(b, '"');
}

/* Depth is that of the value as the parser let it in. */
static void add_value(struct stb_buf *b, const struct stb_val *v)
{
	switch (v->type) {
	case STB_V_NONE:
		stb_buf_adds(b, "null");
		return;
	case STB_V_BOOL:
		stb_buf_adds(b, v->num ? "true" : "false");
		return;
	case STB_V_COUNT:
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
	case STB_V_CLOCK:
		stb_buf_printf(b, "\"%lld", (long long)v->num);
		if (v->den > 1)
			stb_buf_printf(b, "/%lld", (long long)v->den);
		stb_buf_addc(b, '"');
		return;
	case STB_V_STRING:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
		add_string(b, v->str);
		return;
	case STB_V_LIST:
	case STB_V_RANGE:
	case STB_V_MAP:
		stb_buf_addc(b, '[');
		for (uint32_t i = 0; i < v->n_items; i++) {
			if (i)
				stb_buf_addc(b, ',');
			if (v->type == STB_V_MAP)
				add_string(b, v->keys[i]);
			if (v->type == STB_V_MAP)
				stb_buf_addc(b, ',');
			add_value(b, &v->items[i]);
		}
		stb_buf_addc(b, ']');
		return;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct stb_eattr *const *)a)->name, (*(const struct stb_eattr *const *)b)->name);
}

void stb_identity_block(struct stb_buf *out, const struct stb_eblock *b, bool only_id)
{
	const struct stb_eattr **sorted = stb_xcalloc(b->n_attrs + 1, sizeof(*sorted));
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!only_id || (b->attrs[i].row->ident == STB_ID && !b->attrs[i].is_default))
			sorted[n++] = &b->attrs[i];
	}
	qsort(sorted, n, sizeof(*sorted), by_name);
	stb_buf_adds(out, "{\"attrs\":{");
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			stb_buf_addc(out, ',');
		add_string(out, sorted[i]->name);
		stb_buf_addc(out, ':');
		add_value(out, &sorted[i]->val);
	}
	stb_buf_printf(out, "},\"kind\":\"%s\",\"name\":", stb_kind_name(b->block->kind));
	add_string(out, b->block->name);
	stb_buf_printf(out, ",\"type\":\"%s\"}", b->block->type->type);
	free(sorted);
}

static const char *fresh_name(enum stb_fresh fresh)
{
	switch (fresh) {
	case STB_FRESH_ONCE:
		return "once";
	case STB_FRESH_GROUP:
		return "group";
	case STB_FRESH_CELL:
		return "cell";
	case STB_FRESH_REPETITION:
		return "repetition";
	}
	STB_BUG("no such freshness");
}

void stb_identity_env(struct stb_env *e)
{
	const char *sep = "{\"blocks\":[";

	stb_hash_begin(&e->begun);
	for (uint32_t i = 0; i < e->n_used; i++, sep = ",") {
		stb_hash_add(&e->begun, sep, strlen(sep));
		stb_hash_add(&e->begun, e->used[i]->id_json, strlen(e->used[i]->id_json));
	}
	stb_hash_add(&e->begun, sep, strlen(sep)); /* a workload follows always */
}

const char *stb_identity_tail(struct stb_arena *a, enum stb_fresh fresh)
{
	return stb_arena_printf(a, "],\"fresh\":\"%s\",\"version\":%d}", fresh_name(fresh), STB_IDENTITY_VERSION);
}

void stb_identity_cell(const struct stb_env *e, const struct stb_chain *c, char out[STB_HASH_HEX])
{
	struct stb_hash h = e->begun;

	stb_hash_add(&h, c->id_json, c->id_len);
	stb_hash_end(&h, out);
}

/* Data set attributes that later versions brought: left out at their default, so that they change no group. */
static bool stated_since(const char *name)
{
	return !strncmp(name, "rand_", 5) && strcmp(name, "rand_type");
}

static void add_dataset(struct stb_buf *b, const struct stb_eblock *workload)
{
	const char *sep = "";

	if (strcmp(workload->block->type->type, "oltp")) {
		stb_buf_adds(b, "null");
		return;
	}
	stb_buf_addc(b, '{');
	for (const char *const *name = dataset_attrs; *name; name++) {
		const struct stb_eattr *a = stb_eattr(workload, *name);

		if (!a || !stb_dataset_has(workload, *name) || (a->is_default && stated_since(*name)))
			continue;
		stb_buf_printf(b, "%s\"%s\":", sep, *name);
		add_value(b, &a->val);
		sep = ",";
	}
	stb_buf_addc(b, '}');
}

static void add_fill_list(struct stb_buf *b, const struct stb_scope *s, const char **sep)
{
	for (uint32_t i = 0; i < s->n_fills; i++) {
		stb_buf_adds(b, *sep);
		stb_buf_add(b, s->fills[i]->workload->content, s->fills[i]->workload->full_len);
		*sep = ",";
	}
}

/* What fills the volumes before the first measurement; nothing where nothing does. */
static void add_fills(struct stb_buf *b, const struct stb_scope *s)
{
	const char *begin = ",\"prepare\":[", *sep = begin;

	add_fill_list(b, s, &sep);
	for (uint32_t i = 0; i < s->n_parts; i++)
		add_fill_list(b, s->parts[i], &sep);
	if (sep != begin)
		stb_buf_addc(b, ']');
}

const char *stb_identity_load(struct stb_arena *a, const struct stb_scope *s)
{
	const char *sep = ",\"parts\":[", *text;
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, ",\"dataset\":");
	add_dataset(&b, s->workload);
	for (uint32_t i = 0; i < s->n_parts; i++, sep = ",") {
		stb_buf_adds(&b, sep);
		add_dataset(&b, s->parts[i]->workload);
	}
	stb_buf_adds(&b, s->n_parts ? "]" : "");
	add_fills(&b, s);
	text = stb_arena_strndup(a, stb_buf_str(&b), b.len);
	stb_buf_fini(&b);
	return text;
}

void stb_identity_group(const struct stb_env *e, const char *load, char out[STB_HASH_HEX])
{
	const char *sep = "";
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, "{\"blocks\":[");
	for (uint32_t i = 0; i < e->n_used; i++, sep = ",") {
		stb_buf_adds(&b, sep);
		stb_buf_add(&b, e->used[i]->content, e->used[i]->full_len);
	}
	stb_buf_printf(&b, "]%s,\"version\":%d}", load, STB_IDENTITY_VERSION);
	stb_hash_hex(stb_buf_str(&b), b.len, out);
	stb_buf_fini(&b);
}
