/*
 * test_plan_forged.c - a plan.json whose attributes were changed by hand or by another version: each attribute of each block is left out, given
 * another type, and set to what nobody means. The plan is refused with an error, or it can be worked with; nothing ends the process.
 */
#include "runtime/plan/json.h"
#include "runtime/plan/json_read.h"
#include "tests/support/read_plan.h"
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every type of block that is carried out, with every attribute that may be left out stated somewhere. */
static const char spec[] =
	"storage directory disk { path = \"/srv\" size = 100GiB }\n"
	"storage tmpfs memory { size = 4GiB }\n"
	"storage loop image { path = \"/srv\" size = 8GiB filesystem = ext4 mkfs_options = [\"-m 0\"] mount_options = [\"noatime\"] }\n"
	"storage loop bare { size = 4GiB }\n"
	"storage external cloud { class_name = \"gp3\" limits { read_iops = 3000/s } }\n"
	"volume on_disk { storage = disk size = 64GiB }\n"
	"volume on_memory { storage = memory }\n"
	"volume on_image { storage = image size = 4GiB mkfs_options = [\"-m 0\"] mount_options = [\"noatime\"] }\n"
	"volume raw { storage = bare filesystem = none size = 2GiB }\n"
	"pin p { vcpus = 2 vcpu \"0-1\" { cpus = \"0-1\" } }\n"
	"server host here { cpus = 2 memory = 1GiB pin = p }\n"
	"server external there { cpus = 48 memory = 64GiB }\n"
	"database mysql private { volume = on_disk version = \"10\" options { innodb_buffer_pool_size = 64MiB  sync_binlog = 1 } }\n"
	"database external live { host = \"db\" port = 3307 user = \"stb\" password = env(\"STB_TEST_NOT_SET\") schema = \"sbtest\" version = \"10\" "
	"options { innodb_buffer_pool_size = 64MiB } }\n"
	"workload io plain { volume = on_disk size = 1GiB rw = randrw rwmixread = 70% bs = 4KiB ioengine = libaio iodepth = 8 iodepth_batch = 2 "
	"numjobs = 2 direct = true fsync = 8 end_fsync = true runtime = 10s time_based = true ramp_time = 1s offset = 1MiB error_limit = 3 "
	"random_distribution = zipf(1.2) rate_iops = 100/s rate_process = poisson }\n"
	"workload io sizes { volume = on_memory size = 1GiB rw = randread bs = [4KiB, 8KiB] bs_percent = [50%, 50%] rate = 1MiB/s }\n"
	"workload io checked { volume = on_image size = 1GiB rw = write verify = crc32c verify_fatal = true loops = 2 fallocate = none }\n"
	"workload io data { volume = on_disk size = 1GiB rw = write buffer_compress_percentage = 50% fdatasync = 4 sync = dsync }\n"
	"workload io ring { volume = on_disk size = 1GiB rw = randread ioengine = io_uring direct = true iodepth = 4 registerfiles = true "
	"fixedbufs = true sqpoll = true hipri = true prepare = [] }\n"
	"workload io on_raw { volume = raw size = 1GiB rw = write numjobs = 2 shared_file = true }\n"
	"workload oltp timed { database = private script = read_write time = 10s warmup_time = 1s threads = 4 tables = 2 table_size = 1000 "
	"rate = 100/s rate_tolerance = 5% error_limit = 5 rand_type = special rand_spec_iter = 4 ignore_errors = [1213, 1205] reconnect = 10 }\n"
	"workload oltp counted { database = live script = insert events = 100 }\n"
	"workload oltp bulk { database = live script = bulk_insert time = 1s }\n"
	"matrix ios { workload = [plain, sizes, checked, data, ring, on_raw] }\n"
	"matrix dbs { workload = [timed, counted, bulk] }\n";

static json_t *real_plan(void)
{
	struct planned p = { 0 };
	struct stb_err err = { 0 };
	json_t *json;
	char *text;

	planned_open(&p, spec);
	for (uint32_t i = 0; i < p.c.sink.n_diags && !p.plan; i++)
		fprintf(stderr, "%s: %s\n", stb_code_info(p.c.sink.diags[i]->code)->name, p.c.sink.diags[i]->text);
	cr_assert_not_null(p.plan);
	setenv("STB_TEST_NOT_SET", "secret", 1);
	cr_assert_eq(stb_test_read_plan(p.plan, &err), 0, "%s", err.what);
	text = planned_json(&p);
	json = json_loads(text, 0, NULL);
	cr_assert_not_null(json);
	free(text);
	planned_close(&p);
	return json;
}

static size_t n_loaded; /* each test is a process of its own */

/* Whether it is refused; whatever becomes of it, it says so or can be printed. */
static bool is_refused(json_t *plan, struct stb_err *err)
{
	char *text = json_dumps(plan, JSON_COMPACT), *out = NULL;
	size_t len;
	struct stb_plan *p;
	bool refused = true;

	stb_err_clear(err);
	if (!stb_plan_parse_bytes(&p, "run/plan.json", text, strlen(text), err)) {
		FILE *f = open_memstream(&out, &len);

		n_loaded++;
		stb_plan_print_text(p, f);
		fclose(f);
		free(out);
		refused = stb_test_read_plan(p, err) != 0;
		stb_plan_free(p);
	}
	free(text);
	cr_assert_eq(refused, err->set && err->what[0]);
	return refused;
}

/* Calls forge on a copy of the plan for each attribute of each block. */
static void walk(void (*forge)(json_t *plan, json_t *attrs, json_t *block, const char *name))
{
	json_t *plan = real_plan(), *blocks = json_object_get(plan, "blocks"), *value;
	const char *name;
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(blocks); i++) {
		json_object_foreach(json_object_get(json_array_get(blocks, i), "attrs"), name, value) {
			json_t *copy = json_deep_copy(plan), *block = json_array_get(json_object_get(copy, "blocks"), i);

			json_object_set_new(json_object_get(copy, "source"), "spans", json_array()); /* they name attributes */
			forge(copy, json_object_get(block, "attrs"), block, name);
			json_decref(copy);
			n++;
		}
	}
	cr_assert_gt(n, 200);
	cr_assert_eq(n_loaded, n, "only %zu of %zu were loaded", n_loaded, n);
	json_decref(plan);
}

static void leave_out(json_t *plan, json_t *attrs, json_t *block, const char *name)
{
	static const char *const lists[] = { "default", "address", "no_id" };
	struct stb_err err;
	char quoted[80];
	size_t i;
	json_t *one;

	json_object_del(attrs, name);
	for (size_t k = 0; k < STB_LEN(lists); k++) {
		json_t *list = json_object_get(block, lists[k]);

		json_array_foreach(list, i, one) {
			if (strcmp(json_string_value(one), name))
				continue;
			json_array_remove(list, i);
			break;
		}
	}
	snprintf(quoted, sizeof(quoted), "`%s` is missing", name);
	if (!is_refused(plan, &err) || !strstr(err.what, "is missing"))
		return;
	/* without its script a data set is one of tables that bulk_insert has not */
	cr_expect(strstr(err.what, quoted) || !strcmp(name, "script"), "%s", err.what);
	cr_expect(strstr(err.what, "`run/plan.json`"), "%s", err.what);
	cr_expect(strstr(err.what, json_string_value(json_object_get(block, "name"))), "%s", err.what);
	cr_expect(strstr(err.remedy, "from its spec"), "%s", err.remedy);
}

Test(plan_forged, an_attribute_that_is_missing)
{
	walk(leave_out);
}

/* What is no attribute's meaning, in every type. */
static const char *const absurd[] = { "null", "true", "\"\"", "\"text\"", "{\"word\":\"\"}", "{\"word\":\"none\"}", "{\"ref\":\"x\"}",
	"{\"secret\":\"env:STB_TEST_NOT_SET\"}", "[]", "[0]", "[[]]", "[\"a\",{\"bytes\":0},null]", "[{\"bytes\":0}]", "[{\"percent\":0}]",
	"{\"from\":null,\"to\":0}", "{\"map\":{}}", "{\"map\":{\"x\":[]}}", "{\"at\":\"03:00\"}" };

static uint32_t absurd_values(struct stb_arena *a, struct stb_val *out)
{
	static const enum stb_vtype types[] = { STB_V_COUNT, STB_V_BYTES, STB_V_TIME, STB_V_SHARE, STB_V_RATE, STB_V_BYTE_RATE };
	static const int64_t numbers[][2] = { { 0, 1 }, { 1, 1 }, { -1, 1 }, { INT64_MAX, 1 }, { 1, INT64_MAX }, { INT64_MAX, 2 }, { UINT32_MAX, 1 } };
	struct stb_err err = { 0 };
	struct stb_json_reader r = { .arena = a, .err = &err, .path = "test" };
	uint32_t n = 0;

	for (size_t i = 0; i < STB_LEN(absurd); i++) {
		json_t *json = json_loads(absurd[i], JSON_DECODE_ANY, NULL);

		out[n++] = stb_json_load_val(&r, json, 0);
		cr_assert_not(err.set, "%s: %s", absurd[i], err.what);
		json_decref(json);
	}
	for (size_t t = 0; t < STB_LEN(types); t++) {
		for (size_t i = 0; i < STB_LEN(numbers); i++)
			out[n++] = stb_val_num(types[t], numbers[i][0], numbers[i][1]);
	}
	return n;
}

Test(plan_forged, an_attribute_of_another_type_or_an_absurd_value)
{
	struct planned p = { 0 };
	struct stb_val values[STB_LEN(absurd) + 64];
	struct stb_arena a;
	struct stb_err err;

	stb_arena_init(&a);
	setenv("STB_TEST_NOT_SET", "secret", 1);
	planned_open(&p, spec);
	cr_assert_not_null(p.plan);

	const uint32_t n = absurd_values(&a, values);

	for (uint32_t b = 0; b < p.plan->n_blocks; b++) {
		for (uint32_t k = 0; k < p.plan->blocks[b].n_attrs; k++) {
			struct stb_plan_attr *attr = &p.plan->blocks[b].attrs[k];
			const struct stb_val was = attr->val;

			for (uint32_t i = 0; i < n; i++) {
				attr->val = values[i];
				stb_err_clear(&err);
				if (stb_plan_verify(p.plan, &err) || stb_test_read_plan(p.plan, &err))
					cr_expect(err.set && err.what[0], "%s", attr->name);
			}
			attr->val = was;
		}
	}
	stb_arena_fini(&a);
	planned_close(&p);
}

/* A wrong type is said as such, not as its echo. */
static void expect_fault(const char *name, const char *attr, const char *value, const char *why)
{
	json_t *plan = real_plan(), *blocks = json_object_get(plan, "blocks"), *block;
	struct stb_err err;
	size_t i;

	json_array_foreach(blocks, i, block) {
		if (!strcmp(json_string_value(json_object_get(block, "name")), name) && json_object_get(json_object_get(block, "attrs"), attr))
			json_object_set_new(json_object_get(block, "attrs"), attr, json_loads(value, JSON_DECODE_ANY, NULL));
	}
	cr_expect(is_refused(plan, &err), "%s of %s = %s is not refused", attr, name, value);
	cr_expect(strstr(err.what, why) && strstr(err.what, attr), "%s of %s = %s: %s", attr, name, value, err.what);
	json_decref(plan);
}

Test(plan_forged, a_fault_is_said_and_not_its_echo)
{
	expect_fault("plain", "bs", "true", "is not a count, size or time");
	expect_fault("plain", "iodepth", "\"8\"", "is not a count, size or time");
	expect_fault("sizes", "bs", "[true]", "an item of another type");
	expect_fault("checked", "verify", "7", "is not text");
	expect_fault("plain", "rate_iops", "\"fast\"", "is not a share, rate or count");
	expect_fault("timed", "threads", "\"4\"", "is not a count, size or time");
	expect_fault("timed", "skip_trx", "0", "is neither true nor false");
	expect_fault("timed", "rate_tolerance", "[]", "is not a share, rate or count");
	expect_fault("timed", "ignore_errors", "[\"1213\"]", "an item of another type");
	expect_fault("private", "options.sync_binlog", "1", "is not text");
	expect_fault("live", "version", "10", "is not text");
	expect_fault("on_image", "mount_options", "\"noatime\"", "is not a list");
}

static void expect_matrix_fault(const char *member, json_t *value)
{
	json_t *plan = real_plan();
	struct stb_err err;

	json_object_set_new(json_array_get(json_object_get(plan, "matrices"), 0), member, value);
	cr_expect(is_refused(plan, &err), "%s", member);
	cr_expect(strstr(err.what, "run/plan.json") && strstr(err.what, "interval"), "%s", err.what);
	json_decref(plan);
}

Test(plan_forged, times_of_a_matrix_that_cannot_be_waited_for)
{
	expect_matrix_fault("interval_ns", json_integer(1));
	expect_matrix_fault("interval_ns", json_string("18446744073709551615"));
	expect_matrix_fault("cooldown_ns", json_string("18446744073709551615"));
}
