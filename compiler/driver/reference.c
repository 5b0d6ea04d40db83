/*
 * reference.c - the reference as headings, paragraphs and tables, in whichever form: what there is comes from the tables alone, in their order.
 */
#include "compiler/driver/reference.h"

#include "compiler/reference.h"
#include "compiler/rule.h"
#include "runtime/base/metric.h"
#include "runtime/base/units.h"

#include <stdlib.h>
#include <string.h>

/* --- blocks -------------------------------------------------------------------------------------------------------------------------- */

/* What may be written: type, words, bounds. */
static void value_text(const struct stb_schema_attr *row, struct stb_buf *b)
{
	struct stb_buf range;

	stb_row_type_text(row, b);
	for (const char *p = row->words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		stb_buf_printf(b, "%s`%.*s`", p == row->words ? ": " : " ", (int)strcspn(p, " "), p);
	stb_buf_init(&range);
	stb_row_range_text(row, &range);
	if (range.len)
		stb_buf_printf(b, ", %s", stb_buf_str(&range));
	stb_buf_fini(&range);
}

static void meaning_text(const struct stb_schema_attr *row, struct stb_buf *b)
{
	stb_buf_adds(b, row->doc);
	if (row->ident == STB_ADDRESS)
		stb_buf_adds(b, " Address.");
	stb_row_later_text(row, b);
}

static void attributes(const struct stb_reference_form *f, FILE *out, const struct stb_schema_type *t)
{
	static const char *const heads[] = { "attribute", "value", "default", "meaning" };
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		struct stb_buf name, value, def, meaning;

		if (rows[i].kind != t->kind || !stb_schema_applies(&rows[i], t->type))
			continue;
		if (!begun)
			f->table(out, heads, STB_LEN(heads));
		begun = true;
		stb_buf_init(&name), stb_buf_init(&value), stb_buf_init(&def), stb_buf_init(&meaning);
		stb_buf_printf(&name, "`%s`", rows[i].name);
		value_text(&rows[i], &value);
		if (rows[i].def)
			stb_buf_printf(&def, "`%s`", rows[i].def);
		else if (!(rows[i].flags & (STB_STRUCTURAL | STB_OPEN_MAP)))
			stb_buf_adds(&def, stb_row_default_text(&rows[i]));
		meaning_text(&rows[i], &meaning);
		f->row(out, heads, (const char *const[]){ stb_buf_str(&name), stb_buf_str(&value), stb_buf_str(&def), stb_buf_str(&meaning) },
			STB_LEN(heads));
		stb_buf_fini(&name), stb_buf_fini(&value), stb_buf_fini(&def), stb_buf_fini(&meaning);
	}
}

static void blocks(const struct stb_reference_form *f, FILE *out)
{
	size_t n;
	const struct stb_schema_type *types = stb_schema_types(&n);

	f->heading(out, 1, "Blocks");
	f->paragraph(out, "In the order in which `stb fmt` writes attributes. *Address*: recorded with a run, no part of a cell's identity. *Not yet*: "
			  STB_LATER_TEXT ", so that `stb run` refuses it before anything is touched.");
	for (size_t i = 0; i < n; i++) {
		struct stb_buf head;

		stb_buf_init(&head);
		stb_buf_printf(&head, "%s%s%s", stb_kind_name(types[i].kind), types[i].type[0] ? " " : "", types[i].type);
		f->heading(out, 2, stb_buf_str(&head));
		stb_buf_clear(&head);
		stb_buf_printf(&head, "`%s%s%s NAME { ... }`: %s%s", stb_kind_name(types[i].kind), types[i].type[0] ? " " : "", types[i].type,
			types[i].doc, types[i].later ? " Not yet." : "");
		f->paragraph(out, stb_buf_str(&head));
		attributes(f, out, &types[i]);
		stb_buf_fini(&head);
	}
}

/* --- functions, units, metrics, views ------------------------------------------------------------------------------------------------ */

static void functions(const struct stb_reference_form *f, FILE *out)
{
	static const char *const heads[] = { "function", "value" };
	size_t n;
	const struct stb_function *all = stb_functions(&n);

	f->heading(out, 1, "Functions");
	f->table(out, heads, STB_LEN(heads));
	for (size_t i = 0; i < n; i++) {
		struct stb_buf form;

		stb_buf_init(&form);
		stb_buf_printf(&form, "`%s`", all[i].form);
		f->row(out, heads, (const char *const[]){ stb_buf_str(&form), all[i].doc }, STB_LEN(heads));
		stb_buf_fini(&form);
	}
}

static void units(const struct stb_reference_form *f, FILE *out)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, "Glued to their number:");
	for (const char *const *unit = stb_units_all(); *unit; unit++)
		stb_buf_printf(&b, " `%s`", *unit);
	stb_buf_adds(&b, "; and `/s` behind a plain number or a unit of bytes. `4KiB` is 4096 bytes, `4KB` is 4000. A number without a unit is a count.");
	f->heading(out, 1, "Units");
	f->paragraph(out, stb_buf_str(&b));
	stb_buf_fini(&b);
}

static const char *direction(enum stb_direction d)
{
	switch (d) {
	case STB_HIGHER_IS_BETTER:
		return "higher";
	case STB_LOWER_IS_BETTER:
		return "lower";
	case STB_NO_DIRECTION:
		return "neither";
	}
	return "";
}

static void metrics(const struct stb_reference_form *f, FILE *out)
{
	static const char *const heads[] = { "metric", "workloads", "unit", "better", "meaning" };

	f->heading(out, 1, "Metrics");
	f->paragraph(out, "`NN` stands for a percentile: `lat_p50`, `lat_p95`, `lat_p999` for 99.9%. Where it says so, `read.`, `write.` or `trim.` in front gives "
			  "one direction; in a mix the name of a workload does, as in `loader.iops`.");
	f->table(out, heads, STB_LEN(heads));
	for (const char *const *name = stb_metric_names(); *name; name++) {
		const size_t len = strlen(*name);
		const bool percentile = len > 2 && !strcmp(*name + len - 2, "NN");
		struct stb_metric metric;
		char spelled[64], quoted[72], prefixed[80];
		struct stb_buf meaning;

		snprintf(spelled, sizeof(spelled), "%.*s%s", (int)(percentile ? len - 2 : len), *name, percentile ? "95" : "");
		if (!stb_metric_find(spelled, &metric))
			continue;
		snprintf(quoted, sizeof(quoted), "`%s`", *name);
		stb_buf_init(&meaning);
		stb_buf_adds(&meaning, metric.meaning);
		snprintf(prefixed, sizeof(prefixed), "read.%s", spelled);
		if (stb_metric_find(prefixed, &metric))
			stb_buf_adds(&meaning, "; per direction too");
		stb_metric_find(spelled, &metric);
		f->row(out, heads, (const char *const[]){ quoted, stb_metric_types(metric.families), metric.unit[0] ? metric.unit : "-",
			direction(metric.direction), stb_buf_str(&meaning) }, STB_LEN(heads));
		stb_buf_fini(&meaning);
	}
}

static void views(const struct stb_reference_form *f, FILE *out)
{
	static const char *const heads[] = { "view", "meaning" };
	size_t n;
	const struct stb_view_doc *all = stb_view_docs(&n);

	f->heading(out, 1, "Views");
	f->paragraph(out, "What a report's `show` makes of a figure; v is the cell's, b its baseline's.");
	f->table(out, heads, STB_LEN(heads));
	for (size_t i = 0; i < n; i++) {
		char quoted[48];

		snprintf(quoted, sizeof(quoted), "`%s`", all[i].name);
		f->row(out, heads, (const char *const[]){ quoted, all[i].doc }, STB_LEN(heads));
	}
}

void stb_reference_language(const struct stb_reference_form *f, FILE *out)
{
	blocks(f, out);
	functions(f, out);
	units(f, out);
	metrics(f, out);
	views(f, out);
}

/* --- rules and codes ----------------------------------------------------------------------------------------------------------------- */

void stb_reference_judgement(const struct stb_reference_form *f, FILE *out)
{
	static const char *const rule_heads[] = { "code", "severity", "of", "what holds" };
	static const char *const code_heads[] = { "code", "severity", "what is wrong", "what it means" };
	size_t n;
	const struct stb_rule *rules = stb_rules(&n);

	f->heading(out, 1, "Rules between attributes");
	f->paragraph(out, "Looked at once for each combination that a cell has. An *error* cannot mean what is written; a *warning* runs but is often misread; "
			  "a *note* says what will happen. A spec without errors and warnings is clean.");
	f->table(out, rule_heads, STB_LEN(rule_heads));
	for (size_t i = 0; i < n; i++) {
		const struct stb_code_info *info = stb_code_info(rules[i].code);

		f->row(out, rule_heads, (const char *const[]){ info->name, stb_severity_name(info->severity), rules[i].types, rules[i].doc },
			STB_LEN(rule_heads));
	}
	f->heading(out, 1, "Diagnostics");
	f->paragraph(out, "`stb explain CODE` shows an example of each.");
	f->table(out, code_heads, STB_LEN(code_heads));
	for (unsigned i = 0; i < STB_N_CODES; i++) {
		const struct stb_code_info *info = stb_code_info((enum stb_code)i);

		f->row(out, code_heads, (const char *const[]){ info->name, stb_severity_name(info->severity), info->title, info->explain },
			STB_LEN(code_heads));
	}
}

/* --- commands ------------------------------------------------------------------------------------------------------------------------ */

static void options(const struct stb_reference_form *f, FILE *out, const struct stb_command *c)
{
	static const char *const heads[] = { "option", "meaning" };

	f->table(out, heads, STB_LEN(heads));
	for (int o = 0; o < STB_N_OPTIONS; o++) {
		struct stb_option_text text;
		char left[80];

		if (!stb_option_text(c, (enum stb_option)o, &text))
			continue;
		snprintf(left, sizeof(left), "`%s%.1s%s--%s%s%s`", text.letter ? "-" : "", &text.letter, text.letter ? ", " : "", text.name,
			text.operand ? " " : "", text.operand ? text.operand : "");
		f->row(out, heads, (const char *const[]){ left, text.help }, STB_LEN(heads));
	}
}

void stb_reference_commands(const struct stb_reference_form *f, FILE *out)
{
	static const char *const heads[] = { "exit code", "meaning" };
	size_t n;
	const struct stb_command *all = stb_commands(&n);

	f->heading(out, 1, "Commands");
	for (size_t i = 0; i < n; i++) {
		const struct stb_command *c = &all[i];
		struct stb_buf b;

		stb_buf_init(&b);
		stb_buf_printf(&b, "stb %s%s%s%s", c->name, c->options & ~1u ? " [OPTION]..." : "", *c->operands ? " " : "", c->operands);
		f->heading(out, 2, stb_buf_str(&b));
		stb_buf_clear(&b);
		stb_buf_printf(&b, "%s%s%s", c->summary, *c->details ? ". " : ".", c->details);
		for (size_t k = 0; k < b.len; k++) /* details are broken for a terminal */
			if (b.data[k] == '\n')
				b.data[k] = ' ';
		while (b.len && b.data[b.len - 1] == ' ')
			b.data[--b.len] = '\0';
		f->paragraph(out, stb_buf_str(&b));
		options(f, out, c);
		stb_buf_fini(&b);
	}
	f->heading(out, 1, "Exit codes");
	f->table(out, heads, STB_LEN(heads));
	for (int code = 0; stb_exit_text(code); code++) {
		char number[8];

		snprintf(number, sizeof(number), "%d", code);
		f->row(out, heads, (const char *const[]){ number, stb_exit_text(code) }, STB_LEN(heads));
	}
}

/* --- words --------------------------------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **stb_topic_words(size_t *n)
{
	static const char *const lists[] = { "metrics", "views", "functions", "codes", "rules", "units" };
	size_t n_rows, n_types, n_views, n_functions, n_metrics = 0, count = 0, kept = 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const struct stb_schema_type *types = stb_schema_types(&n_types);
	const struct stb_view_doc *view = stb_view_docs(&n_views);
	const struct stb_function *function = stb_functions(&n_functions);
	const char *const *metric = stb_metric_names();
	const char **words;

	while (metric[n_metrics])
		n_metrics++;
	words = stb_xcalloc(STB_N_KINDS + n_types + n_rows + n_views + n_functions + n_metrics + STB_N_CODES + STB_LEN(lists), sizeof(*words));
	for (unsigned k = 0; k < STB_N_KINDS; k++)
		words[count++] = stb_kind_name((enum stb_kind)k);
	for (size_t i = 0; i < n_types; i++)
		if (types[i].type[0])
			words[count++] = types[i].type;
	for (size_t i = 0; i < n_rows; i++)
		words[count++] = rows[i].name;
	for (size_t i = 0; i < n_views; i++)
		words[count++] = view[i].name;
	for (size_t i = 0; i < n_functions; i++)
		words[count++] = function[i].name;
	for (size_t i = 0; i < n_metrics; i++)
		if (!strstr(metric[i], "NN"))
			words[count++] = metric[i];
	for (unsigned i = 0; i < STB_N_CODES; i++)
		words[count++] = stb_code_info((enum stb_code)i)->name;
	for (size_t i = 0; i < STB_LEN(lists); i++)
		words[count++] = lists[i];
	qsort(words, count, sizeof(*words), by_text);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(words[kept - 1], words[i]))
			words[kept++] = words[i];
	*n = kept;
	return words;
}
