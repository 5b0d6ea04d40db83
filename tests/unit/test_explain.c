/* test_explain.c - the reference: every topic that it names leads somewhere. */
#include <criterion/criterion.h>

#include "compiler/diag.h"
#include "compiler/schema.h"
#include "runtime/base/metric.h"

#include <stdlib.h>
#include <string.h>

static char *explain(const char *topic, bool *found)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*found = stb_schema_explain(topic, out);
	fclose(out);
	return text;
}

static void leads_to(const char *topic, const char *says)
{
	bool found;
	char *text = explain(topic, &found);

	cr_expect(found, "%s", topic);
	cr_expect(strstr(text, says), "%s: %s", topic, text);
	free(text);
}

Test(explain, every_topic_leads_somewhere)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);
	const struct stb_schema_type *types;

	for (size_t i = 0; i < n; i++) {
		char topic[128];

		snprintf(topic, sizeof(topic), "%s.%s", stb_kind_name(rows[i].kind), rows[i].name);
		leads_to(topic, rows[i].name);
	}
	types = stb_schema_types(&n);
	for (size_t i = 0; i < n; i++) {
		char topic[64];

		snprintf(topic, sizeof(topic), "%s%s%s", stb_kind_name(types[i].kind), types[i].type[0] ? " " : "", types[i].type);
		leads_to(topic, stb_kind_name(types[i].kind));
	}
	for (unsigned i = 0; i < STB_N_CODES; i++)
		leads_to(stb_code_info((enum stb_code)i)->name, stb_code_info((enum stb_code)i)->title);
}

Test(explain, an_attribute_tells_what_a_user_needs)
{
	leads_to("io.bs", "from 1B to 1GiB");
	leads_to("iodepth", "default   1");
	leads_to("workload.io.rw", "read | write | randread");
	leads_to("rw", "none: required");
	leads_to("host", "no part of a cell's identity");
	leads_to("ioengine", "io_uring");
	leads_to("lat_p999", "lower is better");
	leads_to("percent", "view percent");
	leads_to("percent", "claim: percent");
	leads_to("", "Topics:");
	leads_to("metrics", "lat_pNN");
	leads_to("codes", "E0203");
}

Test(explain, what_is_unknown_is_answered_with_the_nearest)
{
	bool found;
	char *text = explain("iodeph", &found);

	cr_expect_not(found);
	cr_expect_str_eq(text, "");
	cr_expect_str_eq(stb_schema_nearest_topic("iodeph"), "iodepth");
	cr_expect_null(stb_schema_nearest_topic("zzzzzzzzzz"));
	free(text);
}

/* What stands in a spec and is no attribute, and what stands in results. */
Test(explain, the_language_itself)
{
	leads_to("include", "include \"PATH\"");
	leads_to("let", "A constant");
	leads_to("param", "--set");
	leads_to("env", "environment variable");
	leads_to("min", "The least");
	leads_to("points", "point A");
	leads_to("status", "ended_by_size");
	leads_to("invalid:early", "95%");
	leads_to("stalled", "kept out of relative figures");
	leads_to("quantities", "4KiB is 4096 bytes");
	leads_to("language", "include");
	leads_to("fold", "cannot be shown");
	cr_expect_str_eq(stb_schema_nearest_topic("inclde"), "include");
}

Test(explain, file_systems_and_their_options)
{
	leads_to("volume.filesystem", "default   what its storage states; else ext4");
	leads_to("external.filesystem", "default   not stated");
	leads_to("mkfs_options", "-E stride=NUMBER");
	leads_to("mkfs_options", "[\"-m 0\"]");
	leads_to("mount_options", "data=WORD");
	leads_to("storage.loop.mount_options", "logbsize=SIZE");
}
