/*
 * explain.c - the reference, made from the tables: schema, codes, metrics, views, engines. `stb explain TOPIC`.
 */
#include "compiler/diag.h"
#include "compiler/reference.h"
#include "compiler/rule.h"
#include "compiler/schema.h"

#include "runtime/base/metric.h"
#include "runtime/base/units.h"
#include "runtime/result/status.h"
#include "runtime/storage/fsopts.h"

#include <string.h>
#include <strings.h>

enum { WIDTH = 100 };

static const struct stb_view_doc views[] = {
	{ "value", "The figure itself, in the metric's unit." },
	{ "percent", "The figure as a share of its baseline's: v/b x 100." },
	{ "change", "How much larger it is than its baseline's: (v-b)/b, with a sign." },
	{ "improvement", "How much better it is: (v-b)/b where higher is better, (b-v)/b where lower is better, with a sign." },
	{ "ratio", "How many times as good it is: v/b where higher is better, b/v where lower is better, written 2.49x." },
	{ "range", "The least and the greatest percent over what is folded into the figure and over its baselines." },
	{ "ci", "Where percent lies with 95% confidence, by repetitions or, from three on, slots; under three: no claim." },
	{ "n", "How many repetitions stand behind the figure." },
};

static const struct engine {
	const char *name;
	bool sync;
	unsigned max_depth;
	bool direct;
	const char *needs;
} engines[] = {
#define STB_IO_ENGINE(symbol, name, sync, max_depth, direct, needs) { (name), (sync), (max_depth), (direct), (needs) },
#include "runtime/io/caps.def"
#undef STB_IO_ENGINE
};

static const struct element {
	const char *name, *group, *form, *doc;
} elements[] = {
#define STB_ELEMENT(name, group, form, doc) { (name), (group), (form), (doc) },
#include "compiler/language.def"
#undef STB_ELEMENT
};

static const struct status {
	const char *text;
	bool valid;
	const char *doc;
} statuses[] = {
#define STATUS(symbol, text, valid, doc) { (text), (valid), (doc) },
	STB_STATUSES(STATUS)
#undef STATUS
};

enum fsopt_value { NONE, NUMBER, SIZE, WORD, MAYBE };
enum fsopt_where { MKFS, MOUNT };

static const struct fsopt {
	const char *filesystem;
	enum fsopt_where where;
	const char *option;
	enum fsopt_value value;
} fsopts[] = {
#define STB_FSOPT(fs, where, option, value) { (fs), (where), (option), (value) },
#include "runtime/storage/fsopts.def"
#undef STB_FSOPT
};

/* --- text ---------------------------------------------------------------------------------------------------------------------------- */

/* Text in lines of at most WIDTH columns, each indented. The first line is begun already when started is not 0. */
static void wrap(FILE *out, const char *text, unsigned indent, unsigned started)
{
	unsigned column = started;

	while (*text) {
		const size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (column == 0) {
			fprintf(out, "%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, len, out);
		column += (unsigned)stb_display_width(text, len);
		text += len;
		text += *text == ' ';
	}
	fputc('\n', out);
}

/* A row of a two-column list. */
static void item(FILE *out, const char *name, unsigned width, const char *text)
{
	const size_t len = strlen(name);

	if (len > width) {
		fprintf(out, "  %s\n", name);
		wrap(out, text, width + 4, 0);
		return;
	}
	fprintf(out, "  %-*s  ", (int)width, name);
	wrap(out, text, width + 4, width + 4);
}

/* --- attributes ---------------------------------------------------------------------------------------------------------------------- */

void stb_row_type_text(const struct stb_schema_attr *row, struct stb_buf *b)
{
	if (row->flags & STB_STRUCTURAL)
		stb_buf_adds(b, "block");
	else if (row->flags & STB_OPEN_MAP && row->elem != STB_V_NONE)
		stb_buf_printf(b, "block of NAME = %s", stb_vtype_name(row->elem));
	else if (row->flags & STB_OPEN_MAP)
		stb_buf_adds(b, "block of NAME = value");
	else if (row->ref_kind >= 0)
		stb_buf_printf(b, "%s%s", row->type == STB_V_LIST ? "one or a list of: " : "name of a ", stb_kind_name((enum stb_kind)row->ref_kind));
	else if (row->type == STB_V_LIST)
		stb_buf_printf(b, "list%s%s", row->elem == STB_V_NONE ? "" : " of ", row->elem == STB_V_NONE ? "" : stb_vtype_name(row->elem));
	else if (row->type == STB_V_NONE)
		stb_buf_adds(b, row->flags & STB_FIGURE ? "number" : "path");
	else
		stb_buf_adds(b, stb_vtype_name(row->type));
	if (row->flags & STB_FIGURE)
		stb_buf_adds(b, " or a range");
}

static bool is_word_of(const struct stb_schema_attr *row, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = row->words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == n && memcmp(p, word, n) == 0)
			return true;
	return false;
}

const char *stb_row_default_text(const struct stb_schema_attr *row)
{
	if (row->def)
		return row->def;
	if (strcmp(row->name, "filesystem") == 0 && row->kind == STB_K_VOLUME)
		return "what its storage states; else ext4 on a loop class; directory and tmpfs have their own and take none";
	if (strcmp(row->name, "filesystem") == 0 && strcmp(row->types, "loop") == 0)
		return "what the volume states; else ext4";
	if (is_word_of(row, "none")) /* "none" would read as the word */
		return "not stated";
	if (row->flags & STB_BOUND)
		return row->flags & STB_REQUIRED ? "bound by an axis, else required" : "bound by an axis, else none";
	if (row->flags & STB_REQUIRED)
		return "none: required";
	return "none";
}

static const char *ident_text(enum stb_ident ident)
{
	switch (ident) {
	case STB_ID:
		return "part of a cell's identity: another value is another cell";
	case STB_ADDRESS:
		return "address: recorded with a run, no part of a cell's identity";
	case STB_NO_ID:
		return "no part of a cell's identity";
	}
	return "";
}

static void explain_engines(FILE *out)
{
	fputc('\n', out);
	for (size_t i = 0; i < STB_LEN(engines); i++) {
		struct stb_buf b;

		stb_buf_init(&b);
		if (engines[i].sync)
			stb_buf_adds(&b, "one I/O at a time");
		else
			stb_buf_printf(&b, "iodepth up to %u", engines[i].max_depth);
		stb_buf_printf(&b, "; direct %s", engines[i].direct ? "possible" : "not possible");
		if (engines[i].needs[0])
			stb_buf_printf(&b, "; needs %s", engines[i].needs);
		item(out, engines[i].name, 8, stb_buf_str(&b));
		stb_buf_fini(&b);
	}
}

/* The options of a file system; once all its names, then each with what it takes. */
static void explain_fsopts(enum fsopt_where where, FILE *out)
{
	static const char *const takes[] = { [NONE] = "", [NUMBER] = " NUMBER", [SIZE] = " SIZE", [WORD] = " WORD", [MAYBE] = "[=WORD]" };
	struct stb_buf b;

	stb_buf_init(&b);
	for (size_t i = 0; i < STB_LEN(fsopts); i++) {
		const struct fsopt *o = &fsopts[i];
		const bool pair = where == MOUNT || strchr(o->option, ' ');
		const bool named = o->value != NONE && o->value != MAYBE;
		const char *words = stb_fs_option_words(o->filesystem, where == MKFS ? STB_FS_MKFS : STB_FS_MOUNT, o->option);

		if (o->where != where)
			continue;
		if (b.len)
			stb_buf_adds(&b, ", ");
		stb_buf_printf(&b, "%s%s%s", o->option, pair && named ? "=" : "", takes[o->value] + (pair && named));
		if (words)
			stb_buf_printf(&b, " (%s)", words);
		if (i + 1 < STB_LEN(fsopts) && fsopts[i + 1].where == where && strcmp(fsopts[i + 1].filesystem, o->filesystem) == 0)
			continue;
		item(out, o->filesystem, 8, stb_buf_str(&b));
		stb_buf_clear(&b);
	}
	stb_buf_fini(&b);
	if (where == MKFS)
		wrap(out, "Each item of the list holds words as on a command line: [\"-m\", \"0\"] and [\"-m 0\"] are the same. An option takes its value as the "
			  "next word; where two words are listed the second is a suboption: [\"-E stride=16,stripe_width=64\"].", 2, 0);
	else
		wrap(out, "Each item of the list is one NAME or NAME=VALUE, without blanks or commas: [\"noatime\", \"commit=30\"].", 2, 0);
	wrap(out, "SIZE is digits with k, m or g behind them, or none. Nothing else is taken.", 2, 0);
}

static void explain_attr(const struct stb_schema_attr *row, FILE *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	fprintf(out, "%s%s%s: %s\n", stb_kind_name(row->kind), strcmp(row->types, "*") ? " " : "", strcmp(row->types, "*") ? row->types : "",
		row->name);
	wrap(out, row->doc, 2, 0);
	fputc('\n', out);
	stb_row_type_text(row, &b);
	item(out, "type", 8, stb_buf_str(&b));
	stb_buf_clear(&b);
	for (const char *p = row->words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		stb_buf_printf(&b, "%s%.*s", b.len ? " | " : "", (int)strcspn(p, " "), p);
	if (b.len)
		item(out, "words", 8, stb_buf_str(&b));
	if (!(row->flags & STB_STRUCTURAL))
		item(out, "default", 8, stb_row_default_text(row));
	stb_buf_clear(&b);
	stb_row_range_text(row, &b);
	if (b.len)
		item(out, "range", 8, stb_buf_str(&b));
	if (row->kind != STB_K_SUITE && row->kind != STB_K_REPORT && row->kind != STB_K_CLAIM && !(row->flags & STB_STRUCTURAL))
		item(out, "identity", 8, ident_text(row->ident));
	stb_buf_clear(&b);
	stb_row_later_text(row, &b);
	if (b.len) {
		stb_buf_adds(&b, " (" STB_LATER_TEXT ")");
		item(out, "run", 8, stb_buf_str(&b) + 1);
	}
	stb_buf_fini(&b);
	if (strcmp(row->name, "ioengine") == 0)
		explain_engines(out);
	if (strcmp(row->name, "mkfs_options") == 0)
		explain_fsopts(MKFS, out);
	if (strcmp(row->name, "mount_options") == 0)
		explain_fsopts(MOUNT, out);
}

/* --- blocks -------------------------------------------------------------------------------------------------------------------------- */

static void list_attrs(enum stb_kind kind, const char *type, FILE *out)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		struct stb_buf left, right;

		if (rows[i].kind != kind || !stb_schema_applies(&rows[i], type))
			continue;
		stb_buf_init(&left);
		stb_buf_init(&right);
		if (rows[i].flags & STB_STRUCTURAL)
			stb_buf_printf(&left, "%s { }", rows[i].name);
		else if (rows[i].flags & STB_OPEN_MAP)
			stb_buf_printf(&left, "%s { }", rows[i].name);
		else if (rows[i].def)
			stb_buf_printf(&left, "%s = %s", rows[i].name, rows[i].def);
		else
			stb_buf_printf(&left, "%s%s", rows[i].name, rows[i].flags & STB_REQUIRED ? " (required)" : "");
		stb_buf_adds(&right, rows[i].doc);
		stb_row_later_text(&rows[i], &right);
		item(out, stb_buf_str(&left), 26, stb_buf_str(&right));
		stb_buf_fini(&left);
		stb_buf_fini(&right);
	}
}

static bool has_later(const struct stb_schema_type *t)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == t->kind && rows[i].later && stb_schema_applies(&rows[i], t->type))
			return true;
	}
	return false;
}

static void explain_type(const struct stb_schema_type *t, FILE *out)
{
	fprintf(out, "%s %s%sNAME { ... }\n", stb_kind_name(t->kind), t->type, t->type[0] ? " " : "");
	wrap(out, t->doc, 2, 0);
	if (t->later)
		wrap(out, "Not yet (" STB_LATER_TEXT ").", 2, 0);
	fputc('\n', out);
	list_attrs(t->kind, t->type, out);
	if (!t->later && has_later(t))
		wrap(out, "Not yet: " STB_LATER_TEXT ".", 2, 0);
	if (t->kind == STB_K_PROFILE) {
		wrap(out, "Entries are `KIND TYPE NAME { ... }` or `KIND NAME { ... }`; `*` as a name reaches every block of that kind and type, and a named "
			  "entry wins over it. With another type an entry replaces the block; with the same it changes what it states. `x = none` takes a "
			  "value away.", 2, 0);
	}
}

static void list_type(const struct stb_schema_type *t, FILE *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_printf(&b, "%s%s", t->doc, t->later ? " Not yet." : "");
	item(out, t->type, 10, stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void explain_kind(enum stb_kind kind, FILE *out)
{
	size_t n;
	const struct stb_schema_type *types = stb_schema_types(&n);

	if (!stb_kind_has_types(kind)) {
		explain_type(stb_schema_type(kind, ""), out);
		return;
	}
	fprintf(out, "%s TYPE NAME { ... }\n\n", stb_kind_name(kind));
	for (size_t i = 0; i < n; i++) {
		if (types[i].kind == kind)
			list_type(&types[i], out);
	}
	fprintf(out, "\n`stb explain %s TYPE` lists the attributes of a type.\n", stb_kind_name(kind));
}

static void overview(FILE *out)
{
	fprintf(out, "A spec begins with `stb 1` and is made of blocks:\n\n");
	for (unsigned k = 0; k < STB_N_KINDS; k++) {
		const enum stb_kind kind = (enum stb_kind)k;
		size_t n;
		const struct stb_schema_type *types = stb_schema_types(&n);
		struct stb_buf b;

		stb_buf_init(&b);
		if (!stb_kind_has_types(kind))
			stb_buf_adds(&b, stb_schema_type(kind, "")->doc);
		for (size_t i = 0; i < n && stb_kind_has_types(kind); i++) {
			if (types[i].kind == kind)
				stb_buf_printf(&b, "%s%s", b.len ? ", " : "Types: ", types[i].type);
		}
		item(out, stb_kind_name(kind), 10, stb_buf_str(&b));
		stb_buf_fini(&b);
	}
	fprintf(out, "\nTopics: a block (`workload`), a type (`workload io` or `io`), an attribute (`bs`, `io.bs`), a code (`E0203`),\n"
		     "a metric (`lat_p95`), a view (`percent`), a statement, function or form of value (`include`, `zipf`, `range`),\n"
		     "a status of results (`ended_by_size`), an option (`--set`),\n"
		     "and the lists `language`, `functions`, `metrics`, `views`, `statuses`, `codes`, `rules`, `units`;\n"
		     "CELL FILE: where each value of a cell comes from (`stb explain 1f2e3d4c spec.stb`).\n");
}

/* --- metrics, views, codes, units ---------------------------------------------------------------------------------------------------- */

static const char *direction_text(enum stb_direction d)
{
	switch (d) {
	case STB_HIGHER_IS_BETTER:
		return "higher is better";
	case STB_LOWER_IS_BETTER:
		return "lower is better";
	case STB_NO_DIRECTION:
		return "neither higher nor lower is better";
	}
	return "";
}

static void explain_metric(const char *name, const struct stb_metric *metric, FILE *out)
{
	unsigned needs = metric->needs;

	fprintf(out, "metric %s\n", name);
	wrap(out, metric->meaning, 2, 0);
	fputc('\n', out);
	item(out, "unit", 9, metric->unit[0] ? metric->unit : "none (a plain number)");
	if (strcmp(metric->unit, metric->default_unit) != 0)
		item(out, "reports", 9, metric->default_unit);
	item(out, "direction", 9, direction_text(metric->direction));
	item(out, "workloads", 9, stb_metric_types(metric->families));
	for (const char *need; (need = stb_metric_next_need(&needs)); )
		item(out, "needs", 9, need);
}

static void list_metrics(FILE *out)
{
	for (const char *const *name = stb_metric_names(); *name; name++) {
		const size_t len = strlen(*name);
		const bool percentile = len > 2 && strcmp(*name + len - 2, "NN") == 0;
		struct stb_metric metric;
		char spelled[64];

		snprintf(spelled, sizeof(spelled), "%.*s%s", (int)(percentile ? len - 2 : len), *name, percentile ? "95" : "");
		if (stb_metric_find(spelled, &metric))
			item(out, *name, 18, metric.meaning);
	}
	wrap(out, "Per direction with read. or write. in front: read.iops, write.lat_p99. In a mix with the name of a workload in front: loader.iops, "
		"loader.read.iops; what a device or a server counts is of the whole mix.", 2, 0);
}

static void list_views(FILE *out)
{
	for (size_t i = 0; i < STB_LEN(views); i++)
		item(out, views[i].name, 12, views[i].doc);
}

static void list_codes(FILE *out)
{
	for (unsigned i = 0; i < STB_N_CODES; i++) {
		const struct stb_code_info *info = stb_code_info((enum stb_code)i);

		item(out, info->name, 6, info->title);
	}
}

static void list_rules(FILE *out)
{
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	for (size_t i = 0; i < n; i++) {
		const struct stb_code_info *info = stb_code_info(rules[i].code);

		fprintf(out, "  %s  %-8s %-14s %s\n", info->name, stb_severity_name(info->severity), rules[i].types, rules[i].doc);
	}
}

static void explain_code(enum stb_code code, FILE *out)
{
	const struct stb_code_info *info = stb_code_info(code);
	const char *example = stb_code_example(info->name);
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	fprintf(out, "%s: %s (%s)\n", info->name, info->title, stb_severity_name(info->severity));
	wrap(out, info->explain, 2, 0);
	for (size_t i = 0; i < n; i++) {
		if (rules[i].code == code)
			fprintf(out, "\n  rule for %s: %s\n", rules[i].types, rules[i].doc);
	}
	if (example)
		fprintf(out, "\n%s", example);
}

static void explain_function(const struct stb_function *f, FILE *out)
{
	fprintf(out, "function %s\n", f->form);
	wrap(out, f->doc, 2, 0);
}

static void list_functions(FILE *out)
{
	size_t n;
	const struct stb_function *all = stb_functions(&n);

	for (size_t i = 0; i < n; i++)
		item(out, all[i].form, 28, all[i].doc);
}

const struct stb_view_doc *stb_view_docs(size_t *n)
{
	*n = STB_LEN(views);
	return views;
}

static void list_units(FILE *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	for (const char *const *unit = stb_units_all(); *unit; unit++)
		stb_buf_printf(&b, "%s%s", b.len ? " " : "", *unit);
	wrap(out, stb_buf_str(&b), 2, 0);
	wrap(out, "A unit is glued to its number: 4KiB is 4096 bytes, 4KB is 4000. Rates carry /s (500/s, 100MiB/s), shares %. A number without a unit is "
		  "a count.", 2, 0);
	stb_buf_fini(&b);
}

static void part(FILE *out, bool *any)
{
	if (*any)
		fputc('\n', out);
	*any = true;
}

static void explain_status(const struct status *s, FILE *out)
{
	item(out, s->text, 18, s->doc);
}

static void list_statuses(FILE *out)
{
	for (size_t i = 0; i < STB_LEN(statuses); i++)
		explain_status(&statuses[i], out);
	wrap(out, "Rows with an invalid status are marked in reports and kept out of every relative figure and claim.", 2, 0);
}

static void list_elements(FILE *out)
{
	for (size_t i = 0; i < STB_LEN(elements); i++)
		item(out, elements[i].name, 10, elements[i].form);
}

/* Statements, functions, forms of values, and the statuses of results ("early" or "invalid:early"). */
static void explain_element(const char *topic, FILE *out, bool *any)
{
	for (size_t i = 0; i < STB_LEN(elements); i++) {
		if (strcmp(elements[i].name, topic) != 0)
			continue;
		part(out, any);
		fprintf(out, "%s %s: %s\n", elements[i].group, topic, elements[i].form);
		wrap(out, elements[i].doc, 2, 0);
	}
	for (size_t i = 0; i < STB_LEN(statuses); i++) {
		const char *colon = strchr(statuses[i].text, ':');

		if (strcmp(statuses[i].text, topic) != 0 && !(colon && strcmp(colon + 1, topic) == 0))
			continue;
		part(out, any);
		fprintf(out, "status %s of a result%s\n", statuses[i].text, statuses[i].valid ? "" : ": kept out of relative figures and claims");
		wrap(out, statuses[i].doc, 2, 0);
	}
}

/* --- topics -------------------------------------------------------------------------------------------------------------------------- */

/* "bs", "io.bs", "workload.bs", "workload.io.bs", "schedule.days", "matrix.schedule.days". */
static bool names_row(const struct stb_schema_attr *row, const char *topic)
{
	const char *rest = topic, *kind = stb_kind_name(row->kind);
	const size_t n = strlen(kind);

	if (strcmp(row->name, topic) == 0)
		return true;
	if (strncmp(rest, kind, n) == 0 && rest[n] == '.') {
		rest += n + 1;
		if (strcmp(row->name, rest) == 0)
			return true;
	}

	const char *dot = strchr(rest, '.');
	char type[32];

	if (!dot || (size_t)(dot - rest) >= sizeof(type))
		return false;
	memcpy(type, rest, (size_t)(dot - rest));
	type[dot - rest] = '\0';
	return stb_schema_type(row->kind, type) && stb_schema_applies(row, type) && strcmp(row->name, dot + 1) == 0;
}

static void explain_block(const char *topic, FILE *out, bool *any)
{
	size_t n;
	const struct stb_schema_type *types = stb_schema_types(&n);
	const char *split = strpbrk(topic, " .");
	enum stb_kind kind;

	if (stb_kind_find(topic, &kind)) {
		part(out, any);
		explain_kind(kind, out);
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = stb_kind_name(types[i].kind);
		const bool both = split && (size_t)(split - topic) == strlen(name) && strncmp(topic, name, strlen(name)) == 0 &&
				  strcmp(split + 1, types[i].type) == 0;

		if (types[i].type[0] && (both || strcmp(types[i].type, topic) == 0)) {
			part(out, any);
			explain_type(&types[i], out);
		}
	}
}

bool stb_schema_explain(const char *topic, FILE *out)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);
	struct stb_metric metric;
	enum stb_code code;
	enum stb_kind kind;
	bool any = false;

	if (!topic[0]) {
		overview(out);
		return true;
	}
	explain_block(topic, out, &any);
	for (size_t i = 0; i < n && !stb_kind_find(topic, &kind); i++) { /* `volume`: the block, not every reference to one */
		if (names_row(&rows[i], topic)) {
			part(out, &any);
			explain_attr(&rows[i], out);
		}
	}
	explain_element(topic, out, &any);
	if (stb_code_find(topic, &code)) {
		part(out, &any);
		explain_code(code, out);
	}
	if (stb_metric_find(topic, &metric)) {
		part(out, &any);
		explain_metric(topic, &metric, out);
	}
	for (size_t i = 0; i < STB_LEN(views); i++) {
		if (strcmp(views[i].name, topic) == 0) {
			part(out, &any);
			fprintf(out, "view %s\n", topic);
			wrap(out, views[i].doc, 2, 0);
		}
	}

	static const struct {
		const char *topic;
		void (*list)(FILE *out);
	} lists[] = { { "metrics", list_metrics }, { "views", list_views }, { "codes", list_codes }, { "rules", list_rules },
		{ "units", list_units }, { "quantities", list_units }, { "statuses", list_statuses }, { "status", list_statuses },
		{ "language", list_elements }, { "functions", list_functions } };

	for (size_t i = 0; i < STB_LEN(lists); i++) {
		if (strcmp(lists[i].topic, topic) == 0) {
			part(out, &any);
			lists[i].list(out);
		}
	}
	if (!any && stb_function_find(topic)) {
		part(out, &any);
		explain_function(stb_function_find(topic), out);
	}
	return any;
}

const char *stb_schema_nearest_topic(const char *topic)
{
	const char *names[512];
	size_t n_rows, n_types, n = 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const struct stb_schema_type *types = stb_schema_types(&n_types);

	for (unsigned k = 0; k < STB_N_KINDS; k++)
		names[n++] = stb_kind_name((enum stb_kind)k);
	for (size_t i = 0; i < n_types && n < STB_LEN(names); i++)
		names[n++] = types[i].type;
	for (size_t i = 0; i < n_rows && n < STB_LEN(names); i++)
		names[n++] = rows[i].name;
	for (const char *const *name = stb_metric_names(); *name && n < STB_LEN(names); name++)
		names[n++] = *name;
	for (size_t i = 0; i < STB_LEN(elements) && n < STB_LEN(names); i++)
		names[n++] = elements[i].name;
	for (size_t i = 0; i < STB_LEN(statuses) && n < STB_LEN(names); i++)
		names[n++] = statuses[i].text;
	for (size_t i = 0; i < STB_LEN(views) && n < STB_LEN(names); i++)
		names[n++] = views[i].name;
	return stb_nearest(topic, names, n);
}
