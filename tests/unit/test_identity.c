/*
 * test_identity.c - the id of a cell: what it depends on, what it does not, and the exact bytes that are hashed.
 */
#include "compiler/expand.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The id of the first cell; the plan must exist. */
static const char *first_id(const char *text, const char *profile, char out[STB_HASH_HEX])
{
	struct planned p = { .o.profile = profile };

	planned_open(&p, text);
	cr_assert(p.plan, "no plan of: %s", text);
	memcpy(out, p.plan->cells[0].id, STB_HASH_HEX);
	planned_close(&p);
	return out;
}

static const char base[] =
	"storage directory disk { path = \"/srv/a\" }\n"
	"volume data { storage = disk }\n"
	"workload io w { volume = data size = 1GiB rw = randwrite iodepth = 1 numjobs = 2 }\n"
	"matrix m { workload = w }\n";

static void expect_same(const char *text, const char *profile)
{
	char a[STB_HASH_HEX], b[STB_HASH_HEX];

	cr_expect_str_eq(first_id(base, NULL, a), first_id(text, profile, b), "differs: %s", text);
}

static void expect_other(const char *text)
{
	char a[STB_HASH_HEX], b[STB_HASH_HEX];

	cr_expect_str_neq(first_id(base, NULL, a), first_id(text, NULL, b), "is the same: %s", text);
}

Test(identity, version_1_hashes_these_bytes)
{
	static const char json[] =
		"{\"blocks\":[{\"attrs\":{},\"kind\":\"storage\",\"name\":\"disk\",\"type\":\"directory\"},"
		"{\"attrs\":{\"storage\":\"disk\"},\"kind\":\"volume\",\"name\":\"data\",\"type\":\"\"},"
		"{\"attrs\":{\"numjobs\":\"2\",\"rw\":\"randwrite\",\"size\":\"1073741824\",\"volume\":\"data\"},\"kind\":\"workload\","
		"\"name\":\"w\",\"type\":\"io\"}],\"fresh\":\"group\",\"version\":1}";
	char id[STB_HASH_HEX], expected[STB_HASH_HEX];

	stb_hash_hex(json, strlen(json), expected);
	cr_assert_str_eq(first_id(base, NULL, id), expected);
}

Test(identity, form_does_not_matter)
{
	/* order of blocks and attributes, comments, units, labels, notes, lets, unused blocks, names of matrices */
	expect_same("matrix other { note = \"n\" repeat = 3 order = declared seed = 7 cooldown = 1s workload = [w] }\n"
		    "workload io w { rw = randwrite # random\n numjobs = two label = \"W\" size = 1024MiB volume = data }\n"
		    "let two = 1 + 1\n"
		    "volume unused {}\n"
		    "volume data { storage = disk note = \"x\" }\n"
		    "storage directory disk { path = \"/srv/a\" label = \"Disk\" }\n", NULL);
}

Test(identity, defaults_and_addresses_do_not_matter)
{
	expect_same("storage directory disk { path = \"/elsewhere\" }\nvolume data { storage = disk }\n"
		    "workload io w { volume = data size = 1GiB rw = randwrite bs = 4KiB numjobs = 2 direct = false filename = \"stb.data\" }\n"
		    "matrix m { workload = w fresh = group }\n", NULL);
}

Test(identity, origin_does_not_matter)
{
	static const char head[] = "storage directory disk { path = \"/srv/a\" }\nvolume data {}\n"
				   "workload io w { size = 1GiB rw = randwrite %s }\n";
	static const char *const tails[] = {
		"matrix m { storage = disk volume = data workload = w axis jobs { set = workload.numjobs values = [2] } }\n",
		"matrix m { storage = disk volume = data workload = w override { workload.numjobs = 2 } }\n",
		"matrix m { storage = disk volume = data workload = w axis p { point x { workload.w.numjobs = 2 volume.storage = disk } } }\n",
		"param jobs = 2\nmatrix m { storage = disk volume = data workload = w override { workload.numjobs = jobs } }\n",
	};
	char text[1024];

	for (size_t i = 0; i < STB_LEN(tails); i++) {
		snprintf(text, sizeof(text), head, i == 1 ? "numjobs = 1" : "");
		strcat(text, tails[i]);
		expect_same(text, NULL);
	}
	snprintf(text, sizeof(text), head, "numjobs = 8 bs = 8KiB");
	strcat(text, "matrix m { storage = disk volume = data workload = w }\n"
		     "profile small { workload io * { numjobs = 2 bs = none } }\n");
	expect_same(text, "small");
}

Test(identity, what_is_measured_matters)
{
	static const char *const others[] = {
		"storage directory disk { path = \"/srv/a\" size = 8GiB }\nvolume data { storage = disk }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 }\nmatrix m { workload = w }\n",
		"storage tmpfs disk { size = 8GiB }\nvolume data { storage = disk }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 }\nmatrix m { workload = w }\n",
		"storage directory d { path = \"/srv/a\" }\nvolume data { storage = d }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 }\nmatrix m { workload = w }\n",
		"storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 bs = 8KiB }\nmatrix m { workload = w }\n",
		"storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 }\nmatrix m { workload = w fresh = cell }\n",
		"storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\nserver external big { cpus = 64 }\n"
		"workload io w { volume = data size = 1GiB rw = randwrite numjobs = 2 }\nmatrix m { workload = w server = big }\n",
	};

	for (size_t i = 0; i < STB_LEN(others); i++)
		expect_other(others[i]);
}

Test(identity, described_blocks_are_part_of_it)
{
	struct planned p = { 0 };

	planned_open(&p, "storage external ssd { size = 1TiB }\nstorage external pmem {}\n"
			 "database external db { host = \"192.0.2.1\" }\n"
			 "workload oltp w { database = db script = read_only time = 10s }\n"
			 "matrix m { storage = [ssd, pmem] workload = w }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_cells, 2);
	cr_expect_str_neq(p.plan->cells[0].id, p.plan->cells[1].id);
	cr_expect(p.plan->matrices[0].axes[0].described);
	cr_expect_str_eq(planned_block(&p, "storage", "ssd", "size"), "1TiB");
	planned_close(&p);
}

Test(identity, equal_cells_of_two_matrices_are_one)
{
	struct planned p = { 0 };

	planned_open(&p, "storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\n"
			 "workload io w { volume = data size = 1GiB rw = randwrite }\n"
			 "matrix a { workload = w axis bs { set = workload.bs values = [8KiB, 4KiB] } }\n"
			 "matrix b { workload = w }\n");
	cr_assert(p.plan);
	cr_assert_eq(p.plan->n_cells, 3);
	cr_expect_eq(p.plan->cells[2].same_as, 1);
	cr_expect_eq(p.plan->cells[1].same_as, 1);
	cr_expect_eq(p.plan->cells[2].group, p.plan->cells[0].group, "provisioning is the same");
	planned_close(&p);
}

Test(identity, text_is_escaped)
{
	char a[STB_HASH_HEX], b[STB_HASH_HEX];
	static const char head[] = "storage directory disk { path = \"/srv/a\" }\nvolume data { storage = disk }\n";
	char one[512], two[512];

	/* a quote and what it would look like if nobody escaped it */
	snprintf(one, sizeof(one), "%sworkload io w { volume = data size = 1GiB rw = randwrite filename = \"a\\\",\\\"b\" }\nmatrix m { workload = w }\n", head);
	snprintf(two, sizeof(two), "%sworkload io w { volume = data size = 1GiB rw = randwrite filename = \"a\\\\\" }\nmatrix m { workload = w }\n", head);
	cr_expect_str_neq(first_id(one, NULL, a), first_id(two, NULL, b));
}

/* --- by the schema ------------------------------------------------------------------------------------------------------------------- */

/* What of a block with one attribute goes into the ids of its cells; free() it. */
static char *hashed(const struct stb_schema_type *type, const char *name, const struct stb_schema_attr *row, struct stb_val v, bool is_default)
{
	struct stb_block block = { .kind = type->kind, .type = type, .name = name };
	struct stb_eattr attr = { .row = row, .name = row->name, .val = v, .is_default = is_default };
	const struct stb_eblock b = { .block = &block, .attrs = &attr, .n_attrs = 1 };
	struct stb_buf out;

	stb_buf_init(&out);
	stb_identity_block(&out, &b, true);
	return stb_buf_take(&out);
}

static bool is_used_by_cells(enum stb_kind k)
{
	return k != STB_K_SUITE && k != STB_K_MATRIX && k != STB_K_REPORT && k != STB_K_CLAIM && k != STB_K_PROFILE;
}

/* Every attribute that the schema marks `id`, of every type that has it; and the name and the type of the block themselves. */
Test(identity, every_attribute_by_its_row)
{
	size_t n_rows, n_types, n = 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	const struct stb_schema_type *types = stb_schema_types(&n_types);

	for (size_t t = 0; t < n_types; t++) {
		for (size_t i = 0; i < n_rows; i++) {
			char *one, *two, *none, *renamed;

			if (!is_used_by_cells(types[t].kind) || rows[i].kind != types[t].kind || !stb_schema_applies(&rows[i], types[t].type))
				continue;
			one = hashed(&types[t], "x", &rows[i], stb_val_num(STB_V_COUNT, 1, 1), false);
			two = hashed(&types[t], "x", &rows[i], stb_val_num(STB_V_COUNT, 2, 1), false);
			none = hashed(&types[t], "x", &rows[i], stb_val_num(STB_V_COUNT, 1, 1), true);
			renamed = hashed(&types[t], "y", &rows[i], stb_val_num(STB_V_COUNT, 1, 1), false);
			cr_expect_eq(strcmp(one, two) != 0, rows[i].ident == STB_ID, "%s %s.%s", stb_kind_name(types[t].kind), types[t].type, rows[i].name);
			cr_expect_eq(strcmp(one, none) != 0, rows[i].ident == STB_ID, "%s: a default is no part of it", rows[i].name);
			cr_expect_str_neq(one, renamed, "%s", rows[i].name);
			for (size_t k = 0; k < n_types; k++) {
				char *other;

				if (types[k].kind != types[t].kind || k == t)
					continue;
				other = hashed(&types[k], "x", &rows[i], stb_val_num(STB_V_COUNT, 1, 1), false);
				cr_expect_str_neq(one, other, "%s %s", types[k].type, rows[i].name);
				free(other);
			}
			free(one);
			free(two);
			free(none);
			free(renamed);
			n++;
		}
	}
	cr_expect_gt(n, 150);
}
