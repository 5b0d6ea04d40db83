/* test_differ.c - two environment records: what is a difference, which of them matter, and what an old or thin record does. */
#include "runtime/host/differ.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#define MACHINE \
	"\"kernel\":\"6.1.0\",\"machine\":\"x86_64\",\"distribution\":\"Some Linux\",\"memory_bytes\":1000000000,\"swap_bytes\":0," \
	"\"huge_pages\":\"always [madvise] never\",\"cpu\":{\"model\":\"Some CPU\",\"online\":\"0-3\",\"usable\":4,\"allowed\":4,\"governor\":null}," \
	"\"stb\":{\"version\":\"1\",\"commit\":\"a\"},\"time\":\"then\""
#define DISK(device, options) \
	"{\"path\":\"/d\",\"filesystem\":\"ext4\",\"mount\":{\"type\":\"ext4\",\"options\":\"" options "\",\"point\":\"/d\",\"source\":\"/dev/x\"}," \
	"\"device\":" device "}"
#define SERIAL "{\"name\":\"sda\",\"model\":\"M\",\"serial\":\"S1\",\"size_bytes\":100}"

static json_t *json(const char *text)
{
	json_t *v = json_loads(text, 0, NULL);

	cr_assert_not_null(v, "%s", text);
	return v;
}

/* The one difference of two records: what and whether it matters; "" for none. */
static void expect(const char *was, const char *is, const char *what, bool matters)
{
	json_t *a = json(was), *b = json(is);
	struct stb_differences d;

	stb_differences_find(&d, a, b, true);
	cr_assert_eq(d.n, *what ? 1u : 0u, "%zu differences, the first %s", d.n, d.n ? d.items[0].what : "");
	if (*what) {
		cr_assert_str_eq(d.items[0].what, what);
		cr_assert_eq(d.items[0].matters, matters, "%s", what);
		cr_assert_eq(d.n_matter, matters ? 1u : 0u);
	}
	stb_differences_fini(&d);
	json_decref(a);
	json_decref(b);
}

Test(differ, the_same_machine_at_another_time)
{
	expect("{" MACHINE "}", "{" MACHINE ",\"time\":\"now\",\"databases\":{}}", "", false);
	expect("{}", "{}", "", false);
	expect("{\"cpu\":3,\"storage\":[],\"databases\":\"x\"}", "{\"cpu\":null,\"storage\":1}", "", false);
}

Test(differ, what_matters_and_what_is_told)
{
	static const struct { const char *was, *is, *what; bool matters; } cases[] = {
		{ "{\"kernel\":\"6.1\"}", "{\"kernel\":\"6.2\"}", "kernel", true },
		{ "{\"cpu\":{\"allowed\":4}}", "{\"cpu\":{\"allowed\":2}}", "cpu.allowed", true },
		{ "{\"memory_bytes\":1000000}", "{\"memory_bytes\":1001000}", "", false },
		{ "{\"memory_bytes\":1000000}", "{\"memory_bytes\":900000}", "memory_bytes", true },
		{ "{\"swap_bytes\":0}", "{\"swap_bytes\":5}", "swap_bytes", false },
		{ "{\"stb\":{\"version\":\"1\"}}", "{\"stb\":{\"version\":\"2\"}}", "stb.version", true },
		{ "{\"stb\":{\"commit\":\"a\"}}", "{\"stb\":{\"commit\":\"b\"}}", "stb.commit", true },
		{ "{\"stb\":{\"commit\":\"a\"}}", "{\"stb\":{\"commit\":\"unknown\"}}", "stb.commit", false },
		{ "{\"kernel\":\"6.1\"}", "{\"kernel\":null}", "kernel", false },
		{ "{}", "{\"cpu\":{\"governor\":\"performance\"}}", "cpu.governor", false },
		{ "{\"binaries\":{\"db\":{\"version\":\"10.11.6\"}}}", "{\"binaries\":{\"db\":{\"version\":\"10.11.7\"}}}",
			"server of database db: version", true },
		{ "{\"addresses\":{\"db\":{\"host\":\"a\"}}}", "{\"addresses\":{\"db\":{\"host\":\"b\"}}}", "address of database db: host", true },
		{ "{\"databases\":{\"db\":{\"variables\":{\"sync_binlog\":\"1\",\"port\":\"1\",\"datadir\":\"/a\"}}}}",
			"{\"databases\":{\"db\":{\"variables\":{\"sync_binlog\":\"0\",\"port\":\"2\",\"datadir\":\"/b\"}}}}",
			"database db: sync_binlog", false },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++)
		expect(cases[i].was, cases[i].is, cases[i].what, cases[i].matters);
}

Test(differ, a_disk_is_told_by_what_it_says_of_itself)
{
	const char *base = "{\"storage\":{\"d\":" DISK(SERIAL, "rw") "}}";

	expect(base, "{\"storage\":{\"d\":" DISK("{\"name\":\"sdb\",\"model\":\"M\",\"serial\":\"S1\",\"size_bytes\":100}", "rw") "}}",
		"storage d: device.name", false);
	expect(base, "{\"storage\":{\"d\":" DISK("{\"name\":\"sda\",\"model\":\"M\",\"serial\":\"S2\",\"size_bytes\":100}", "rw") "}}",
		"storage d: device.serial", true);
	expect(base, "{\"storage\":{\"d\":" DISK(SERIAL, "rw,sync") "}}", "storage d: mount.options", true);
	expect("{\"storage\":{\"d\":{\"device\":{\"name\":\"vda\"}}}}", "{\"storage\":{\"d\":{\"device\":{\"name\":\"vdb\"}}}}",
		"storage d: device.name", true);
	expect("{\"storage\":{\"d\":{\"mount\":{\"type\":\"overlay\",\"options\":\"a\"}}}}",
		"{\"storage\":{\"d\":{\"mount\":{\"type\":\"overlay\",\"options\":\"b\"}}}}", "storage d: mount.options", false);
	expect(base, "{\"storage\":{\"other\":{\"filesystem\":\"xfs\"}}}", "", false);
}
