/*
 * test_plan_forged.c - a plan.json whose attributes were changed by hand or by another version: each attribute of each block is left out, given
 * another type, and set to what nobody means. The plan is refused with an error, or it can be worked with; nothing ends the process.
 */
#include "runtime/plan/json.h"
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
	cr_assert_geq(n_loaded, n, "%zu of %zu were not even loaded", n - n_loaded, n);
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

static void set_absurd(json_t *plan, json_t *attrs, json_t *block, const char *name)
{
	static const char *const numbers[] = { "0", "1", "-1", "9223372036854775807", "\"1/9223372036854775807\"", "\"18446744073709551615\"" };
	static const char *const units[] = { "count", "bytes", "ns", "percent", "per_s", "bytes_per_s", "share" };
	static const char *const others[] = { "null", "true", "\"\"", "\"text\"", "{\"word\":\"\"}", "{\"word\":\"none\"}", "{\"ref\":\"x\"}",
		"{\"secret\":\"env:STB_TEST_NOT_SET\"}", "[]", "[{\"count\":0}]", "[[]]", "[\"a\",{\"bytes\":0},null]",
		"[{\"bytes\":0}]", "[{\"percent\":0}]", "{\"from\":null,\"to\":{\"count\":0}}", "{\"map\":{}}", "{\"map\":{\"x\":[]}}", "{\"at\":\"03:00\"}" };
	struct stb_err err;
	char text[128];

	(void)block;
	for (size_t u = 0; u < STB_LEN(units); u++) {
		for (size_t k = 0; k < STB_LEN(numbers); k++) {
			snprintf(text, sizeof(text), "{\"%s\":%s}", units[u], numbers[k]);
			json_object_set_new(attrs, name, json_loads(text, 0, NULL));
			(void)is_refused(plan, &err);
		}
	}
	for (size_t k = 0; k < STB_LEN(others); k++) {
		json_object_set_new(attrs, name, json_loads(others[k], JSON_DECODE_ANY, NULL));
		(void)is_refused(plan, &err);
	}
}

Test(plan_forged, an_attribute_of_another_type_or_an_absurd_value)
{
	walk(set_absurd);
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
