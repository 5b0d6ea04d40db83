/*
 * diag_sarif.c - diagnostics as SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a change.
 *
 * Every code is a rule, in the order of codes.def, so that logs of several files can be put together without numbering anew. Places are
 * lines and columns in code points (columnKind says so), other than the display columns that people read. Names are relative to the
 * repository; as URIs they are escaped. Each fix is one replacement, and a fix that would hold a secret is left out.
 */
#include "compiler/diag_parts.h"

#include <ctype.h>
#include <string.h>

static json_t *message(const struct stb_sink *s, const char *text)
{
	json_t *j = json_object();

	json_object_set_new(j, "text", stb_diag_json_text(s, text));
	return j;
}

/* Lines and columns, both from 1, in code points. */
static void set_point(json_t *region, const struct stb_source_file *f, uint32_t offset, const char *line_key, const char *column_key)
{
	uint32_t low = 0, high = f->n_lines;
	json_int_t column = 1;

	while (high - low > 1) {
		const uint32_t mid = low + (high - low) / 2;

		if (f->lines[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	for (uint32_t i = f->lines[low]; i < offset; column++)
		i += stb_glyph_at(f->bytes + i, offset - i).bytes;
	json_object_set_new(region, line_key, json_integer(low + 1));
	json_object_set_new(region, column_key, json_integer(column));
}

static json_t *region(const struct stb_sink *s, struct stb_span span)
{
	const struct stb_source_file *f = &s->sources->files[span.file];
	json_t *j = json_object();

	span.begin = STB_MIN(span.begin, f->len);
	span.end = STB_MAX(span.begin, STB_MIN(span.end, f->len));
	set_point(j, f, span.begin, "startLine", "startColumn");
	set_point(j, f, span.end, "endLine", "endColumn");
	return j;
}

/* RFC 3986: what is not unreserved is escaped; a name that is absolute is a file URI, any other one is relative to the repository. */
static json_t *artifact(const struct stb_sink *s, uint32_t file)
{
	const char *name = s->sources->files[file].name;
	json_t *j = json_object();
	struct stb_buf shown, uri;

	stb_buf_init(&shown);
	stb_buf_init(&uri);
	stb_diag_show(s, &shown, name);
	if (*name == '/')
		stb_buf_adds(&uri, "file://");
	for (const char *p = stb_buf_str(&shown); *p; p++) {
		if (isalnum((unsigned char)*p) || strchr("-._~/", *p))
			stb_buf_addc(&uri, *p);
		else
			stb_buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*p);
	}
	json_object_set_new(j, "uri", json_stringn(stb_buf_str(&uri), uri.len));
	if (*name != '/')
		json_object_set_new(j, "uriBaseId", json_string("%SRCROOT%"));
	stb_buf_fini(&uri);
	stb_buf_fini(&shown);
	return j;
}

static json_t *location(const struct stb_sink *s, struct stb_span span)
{
	json_t *j = json_object(), *physical = json_object();

	json_object_set_new(physical, "artifactLocation", artifact(s, span.file));
	json_object_set_new(physical, "region", region(s, span));
	json_object_set_new(j, "physicalLocation", physical);
	return j;
}

static bool has_place(const struct stb_sink *s, struct stb_span span)
{
	return span.file < s->sources->n_files;
}

static void add_related(const struct stb_sink *s, const struct stb_diag *d, json_t *result)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->n_labels; i++) {
		json_t *place;

		if (!has_place(s, d->labels[i].span))
			continue;
		place = location(s, d->labels[i].span);
		json_object_set_new(place, "id", json_integer((json_int_t)json_array_size(list) + 1));
		json_object_set_new(place, "message", message(s, d->labels[i].text));
		json_array_append_new(list, place);
	}
	if (json_array_size(list))
		json_object_set(result, "relatedLocations", list);
	json_decref(list);
}

static json_t *fix(const struct stb_sink *s, const struct stb_fixit *f)
{
	json_t *j = json_object(), *change = json_object(), *replacement = json_object();

	json_object_set_new(replacement, "deletedRegion", region(s, f->span));
	if (*f->text)
		json_object_set_new(replacement, "insertedContent", message(s, f->text));
	json_object_set_new(change, "artifactLocation", artifact(s, f->span.file));
	json_object_set_new(change, "replacements", json_pack("[o]", replacement));
	json_object_set_new(j, "description", json_pack("{s:s}", "text", *f->text ? "write what is meant" : "take it out"));
	json_object_set_new(j, "artifactChanges", json_pack("[o]", change));
	return j;
}

static void add_fixes(const struct stb_sink *s, const struct stb_diag *d, json_t *result)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->n_fixits; i++)
		if (has_place(s, d->fixits[i].span) && !stb_diag_is_masked(s, d->fixits[i].text))
			json_array_append_new(list, fix(s, &d->fixits[i]));
	if (json_array_size(list))
		json_object_set(result, "fixes", list);
	json_decref(list);
}

/* The words, those at the carets and the notes: a reader of the host's page sees no more than the message. */
static json_t *whole_message(const struct stb_sink *s, const struct stb_diag *d)
{
	struct stb_buf b;
	json_t *j;

	stb_buf_init(&b);
	stb_buf_adds(&b, d->text);
	if (d->label)
		stb_buf_printf(&b, ": %s", d->label);
	j = json_object();
	json_t *text = stb_diag_json_text(s, stb_buf_str(&b));

	for (uint32_t i = 0; i < d->n_notes; i++) {
		json_t *note = stb_diag_json_text(s, d->notes[i]);
		json_t *longer = json_sprintf("%s\n%s", json_string_value(text), json_string_value(note));

		json_decref(note);
		json_decref(text);
		text = longer;
	}
	json_object_set_new(j, "text", text);
	stb_buf_fini(&b);
	return j;
}

static json_t *result(const struct stb_sink *s, const struct stb_diag *d)
{
	const struct stb_code_info *info = stb_code_info(d->code);
	json_t *j = json_object(), *locations = json_array();

	json_object_set_new(j, "ruleId", json_string(info->name));
	json_object_set_new(j, "ruleIndex", json_integer((json_int_t)d->code));
	json_object_set_new(j, "level", json_string(stb_diag_severity(info->severity)));
	json_object_set_new(j, "message", whole_message(s, d));
	if (has_place(s, d->span))
		json_array_append_new(locations, location(s, d->span));
	json_object_set_new(j, "locations", locations);
	add_related(s, d, j);
	add_fixes(s, d, j);
	return j;
}

static json_t *rules(void)
{
	json_t *list = json_array();

	for (int i = 0; i < STB_N_CODES; i++) {
		const struct stb_code_info *info = stb_code_info((enum stb_code)i);
		json_t *rule = json_object();

		json_object_set_new(rule, "id", json_string(info->name));
		json_object_set_new(rule, "shortDescription", json_pack("{s:s}", "text", info->title));
		json_object_set_new(rule, "fullDescription", json_pack("{s:s}", "text", info->explain));
		json_object_set_new(rule, "defaultConfiguration", json_pack("{s:s}", "level", stb_diag_severity(info->severity)));
		json_array_append_new(list, rule);
	}
	return list;
}

json_t *stb_diag_sarif(const struct stb_sink *s, const struct stb_diag *const *diags, uint32_t n)
{
	json_t *results = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(results, result(s, diags[i]));
	return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:o}}, s:s, s:{s:{s:{s:s}}}, s:o}]}",
		"$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
		"runs", "tool", "driver", "name", "stb", "rules", rules(),
		"columnKind", "unicodeCodePoints",
		"originalUriBaseIds", "%SRCROOT%", "description", "text", "the root of the repository",
		"results", results);
}
