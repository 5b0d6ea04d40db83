/* test_check.c - names, attributes, words, text, options: what a block may hold. */
#include <criterion/criterion.h>

#include "compiler/options.h"
#include "tests/unit/spec.h"

#include <stdlib.h>
#include <string.h>

/* The body of a block gives exactly this code, once. */
static void refuse(const char *head, const char *body, enum stb_code code)
{
	char text[2048];
	struct spec s = { 0 };
	char *said;

	snprintf(text, sizeof(text), "stb 1\nlet four = 4\nlet name = psync\nvolume v { }\n%s { %s }\n", head, body);
	spec_open(&s, text);
	said = spec_text(&s, STB_DIAG_HUMAN);
	cr_expect_eq(spec_count(&s, code), 1, "%s { %s }: not %s but %s", head, body, stb_code_info(code)->name, said);
	cr_expect_eq(s.c.sink.n_errors, 1, "%s { %s }: %s", head, body, said);
	free(said);
	spec_close(&s);
}

static void accept(const char *head, const char *body)
{
	char text[2048];
	struct spec s = { 0 };
	char *said;

	snprintf(text, sizeof(text), "stb 1\nlet four = 4\nlet name = psync\nvolume v { }\n%s { %s }\n", head, body);
	spec_open(&s, text);
	said = spec_text(&s, STB_DIAG_HUMAN);
	cr_expect_eq(s.c.sink.n_errors, 0, "%s { %s }: %s", head, body, said);
	free(said);
	spec_close(&s);
}

Test(check, every_row_of_the_schema_can_be_read)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);
	struct stb_arena a;

	stb_arena_init(&a);
	for (size_t i = 0; i < n; i++) {
		struct stb_val v, low, high;

		if (stb_schema_default(&a, &rows[i], &v)) {
			cr_expect_eq(v.type, rows[i].type, "%s", rows[i].name);
			cr_expect_not(rows[i].flags & (STB_REQUIRED | STB_OPTIONAL), "%s has a default and a flag that says it has none", rows[i].name);
		} else {
			cr_expect(rows[i].flags & (STB_REQUIRED | STB_OPTIONAL), "%s has neither default nor flag", rows[i].name);
		}
		if (stb_schema_bound(rows[i].min, &low) && stb_schema_bound(rows[i].max, &high))
			cr_expect_lt(stb_val_cmp(&low, &high), 0, "%s", rows[i].name);
		cr_expect_eq(rows[i].doc[strlen(rows[i].doc) - 1] == '.' || strchr(rows[i].doc, ':'), true, "%s: %s", rows[i].name, rows[i].doc);
	}
	stb_arena_fini(&a);
}

Test(check, defaults_are_what_a_user_could_write)
{
	size_t n;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		char head[64], body[256];
		const char *type = strcmp(rows[i].types, "*") == 0 ? "" : rows[i].types;

		if (!rows[i].def || strchr(rows[i].name, '.') || rows[i].kind > STB_K_WORKLOAD)
			continue;
		snprintf(head, sizeof(head), "%s %.*s x", stb_kind_name(rows[i].kind), (int)strcspn(type, " "), type);
		snprintf(body, sizeof(body), "%s = %s", rows[i].name, rows[i].def);
		accept(head, body);
	}
}

Test(check, words_names_and_quotes)
{
	accept("workload io w", "ioengine = name");
	accept("workload io w", "volume = v  iodepth = four");
	refuse("workload io w", "ioengine = \"psync\"", STB_E0308);
	refuse("workload io w", "volume = \"v\"", STB_E0308);
	refuse("workload io w", "ioengine = posix", STB_E0304);
	refuse("workload io w", "ioengine = 4", STB_E0304);
	refuse("workload io w", "volume = w", STB_E0305);
	refuse("workload io w", "volume = v.x", STB_E0305);
	refuse("workload io w", "iodepth = five", STB_E0301);
	refuse("workload io w", "iodepth = five + 1", STB_E0305);
	refuse("workload io w", "rw = rand-read", STB_E0307);
	refuse("workload io w", "filename = my-file", STB_E0307);
	refuse("workload io w", "iodepth = my-depth", STB_E0307);
	refuse("workload io w", "filename = file", STB_E0308);
	refuse("workload io w", "filename = 7", STB_E0301);
	refuse("workload io w", "direct = on", STB_E0301);
	refuse("workload io w", "direct = 1", STB_E0301);
	refuse("workload io w", "direct = none", STB_E0704);
	refuse("workload io w", "bs = zipf(1.2)", STB_E0313);
}

Test(check, file_names_stay_beneath_their_volume)
{
	accept("workload io w", "filename = \"a/b/c.data\"");
	accept("workload io w", "filename = \"..a\"");
	refuse("workload io w", "filename = \"/etc/passwd\"", STB_E0319);
	refuse("workload io w", "filename = \"..\"", STB_E0319);
	refuse("workload io w", "filename = \"a/../../b\"", STB_E0319);
	refuse("workload io w", "filename = \"a//b\"", STB_E0319);
	refuse("workload io w", "filename = \"a/\"", STB_E0319);
	refuse("workload io w", "filename = \"./a\"", STB_E0319);
	refuse("workload io w", "filename = \"\"", STB_E0323);
	refuse("workload io w", "filename = \"a\\nb\"", STB_E0323);
	refuse("database external d", "schema = \"a`b\"", STB_E0323);
}

Test(check, structure)
{
	refuse("workload io w", "bs = 4KiB  bs = 4KiB", STB_E0205);
	refuse("workload io w", "database = v", STB_E0204);
	refuse("volume x", "innodb = 1", STB_E0203);
	refuse("volume x", "size.x = 1", STB_E0203);
	refuse("volume x", "size { }", STB_E0215);
	refuse("volume x", "where { }", STB_E0216);
	refuse("matrix x", "where = 3", STB_E0204);
	refuse("matrix x", "axis = 3", STB_E0215);
	refuse("matrix x", "axis { set = workload.bs }", STB_E0207);
	refuse("matrix x", "exclude x { reason = \"r\"  where { storage = v } }", STB_E0207);
	refuse("matrix x", "exclude { where { storage = v } }", STB_E0217);
	refuse("matrix x", "exclude { reason = 3  where { storage = v } }", STB_E0301);
	refuse("matrix x", "override { bs = 4KiB }", STB_E0203);
	refuse("matrix x", "override { workload.bs = 4KiB  workload.bs = 8KiB }", STB_E0205);
	refuse("matrix x", "axis a { point p { bs = 4KiB } }", STB_E0203);
	refuse("matrix x", "axis a { where { } where { } }", STB_E0205);
	refuse("matrix x", "override { where { a.b = 1 } }", STB_E0203);
	refuse("matrix x", "schedule { at = [03:00] }", STB_E0217);
	refuse("matrix x", "schedule { days = 3  at = [3] }", STB_E0301);
	refuse("matrix x", "volume = [v, v]", STB_E0321);
	refuse("claim c", "value = 3", STB_E0217);
	accept("claim c", "metric = tps  value = 97%..*");
	accept("claim c", "metric = tps  ratio = 2.49");
	refuse("claim c", "metric = tps  ratio = 3..2", STB_E0303);
	refuse("claim c", "metric = tps  percent = 65", STB_E0301);
	accept("report r", "metrics = tps  show = percent  units { read.lat_p95 = \"us\" }");
}

Test(check, a_block_has_a_limit)
{
	struct stb_buf b;
	struct spec s = { 0 };

	stb_buf_init(&b);
	stb_buf_adds(&b, "stb 1\ndatabase mysql d { options {\n");
	for (int i = 0; i < 3000; i++)
		stb_buf_printf(&b, "x%d = 1\n", i);
	stb_buf_adds(&b, "} }\n");
	spec_open(&s, stb_buf_str(&b));
	cr_expect_eq(spec_count(&s, STB_E0220), 1);
	stb_buf_fini(&b);
	spec_close(&s);
}

Test(check, many_names_take_no_quadratic_time)
{
	struct stb_buf b;
	struct spec s = { 0 };

	stb_buf_init(&b);
	stb_buf_adds(&b, "stb 1\n");
	for (int i = 0; i < 50000; i++)
		stb_buf_printf(&b, "let l%d = %d\nvolume v%d { size = 1GiB * l%d / l%d }\n", i, i + 1, i, i, i);
	spec_open(&s, stb_buf_str(&b));
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(spec_value(&s, STB_K_VOLUME, "v49999", "size"), "1GiB");
	stb_buf_fini(&b);
	spec_close(&s);
}

Test(check, server_options_are_rendered_as_the_server_reads_them)
{
	struct spec s = { 0 };

	spec_open(&s, "stb 1\ndatabase mysql d { options { a = 128MiB  b = true  c = false  d = 7  e = \"READ-COMMITTED\"  f = 0.5  g = -1 } }\n");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.a"), "\"134217728\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.b"), "\"ON\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.c"), "\"OFF\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.d"), "\"7\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.e"), "\"READ-COMMITTED\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.f"), "\"0.5\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.g"), "\"-1\"");
	spec_close(&s);
}

Test(check, server_options_that_stb_owns_are_refused_however_they_are_spelled)
{
	static const char *const names[] = {
		"datadir", "DataDir", "DATADIR", "datad", "loose_datadir", "loose_skip_datadir", "maximum_port", "plugin_load_add",
		"early_plugin_load", "init_file", "INIT_CONNECT", "init_fil", "secure_file_priv", "general_log_file", "innodb_data_home_dir",
		"innodb_undo_directory", "innodb_data_file_path", "ssl_ca", "log_error", "log_bin", "skip_networking", "skip_grant_tables", "user",
		"tmpdir", "innodb_tmpdir", "socket", "sock", "pid_file", "chroot", "mysqlx_port", "basedir", "bind_address", "relay_log",
		"keyring_x", "wsrep_provider", "slow_query_log_file", "admin_address", "defaults_extra",
	};

	for (size_t i = 0; i < STB_LEN(names); i++) {
		char body[128];

		snprintf(body, sizeof(body), "options { %s = 1 }", names[i]);
		refuse("database mysql d", body, STB_E0316);
	}
	accept("database mysql d", "options { innodb_buffer_pool_size = 1GiB  sync_binlog = 1  log_output = \"TABLE\"  innodb_file_per_table = true }");
	accept("database mysql d", "options { innodb_flush_log_at_trx_commit = 2  max_prepared_stmt_count = 600000  skip_name_resolve = true }");
}

Test(check, server_option_values)
{
	refuse("database mysql d", "options { x = 30s }", STB_E0317);
	refuse("database mysql d", "options { x = 30% }", STB_E0317);
	refuse("database mysql d", "options { x = 30/s }", STB_E0317);
	refuse("database mysql d", "options { x = on }", STB_E0317);
	refuse("database mysql d", "options { x = [1] }", STB_E0317);
	refuse("database mysql d", "options { x = \"a/b\" }", STB_E0317);
	refuse("database mysql d", "options { x = \"..\" }", STB_E0317);
	refuse("database mysql d", "options { x = \"a\\nplugin_load=b\" }", STB_E0317);
	refuse("database mysql d", "options { x = env(\"A\") }", STB_E0313);
	refuse("database mysql d", "options { x = 1B / 3 }", STB_E0302);
	refuse("database mysql d", "options { x = read-committed }", STB_E0307);
	refuse("database mysql d", "options { a.datadir = 1 }", STB_E0203);
	refuse("database mysql d", "options { a { } }", STB_E0216);
}

static const char *problem(struct stb_arena *a, const char *fs, bool mkfs, const char *one, const char *two)
{
	struct stb_val items[2] = { stb_val_str(STB_V_STRING, one), stb_val_str(STB_V_STRING, two) };
	struct stb_val list = { .type = STB_V_LIST, .items = items, .n_items = two ? 2 : 1 };
	uint32_t item;

	return stb_fsopt_problem(a, fs, mkfs, &list, &item);
}

Test(check, file_system_options_are_from_their_table)
{
	struct stb_arena a;

	stb_arena_init(&a);
	cr_expect_null(problem(&a, "ext4", true, "-m", "0"));
	cr_expect_null(problem(&a, "ext4", true, "-m 0", "-E stride=16,stripe_width=64"));
	cr_expect_null(problem(&a, "xfs", true, "-d su=64k,sw=4", "-K"));
	cr_expect_null(problem(&a, "ext4", false, "noatime", "commit=30"));
	cr_expect_null(problem(&a, NULL, false, "allocsize=1m", NULL));
	cr_expect_not_null(problem(&a, "ext4", false, "allocsize=1m", NULL));
	cr_expect_not_null(problem(&a, "ext4", true, "/dev/sda", NULL));
	cr_expect_not_null(problem(&a, "ext4", true, "-m", NULL), "the value is missing");
	cr_expect_not_null(problem(&a, "ext4", true, "-m", "-F"));
	cr_expect_not_null(problem(&a, "ext4", true, "-m 0 /dev/sda", NULL));
	cr_expect_not_null(problem(&a, "ext4", true, "-J device=/dev/sda", NULL));
	cr_expect_not_null(problem(&a, "ext4", true, "-E stride=16,", NULL));
	cr_expect_not_null(problem(&a, "ext4", true, "-d /etc", NULL));
	cr_expect_not_null(problem(&a, "xfs", true, "-l logdev=/dev/sdb", NULL));
	cr_expect_not_null(problem(&a, "xfs", false, "logdev=/dev/sdb", NULL));
	cr_expect_not_null(problem(&a, "ext4", false, "noatime,suid", NULL));
	cr_expect_not_null(problem(&a, "ext4", false, "", NULL));
	cr_expect_not_null(problem(&a, "ext4", false, "errors=-x", NULL));
	cr_expect_not_null(problem(&a, "none", true, "-K", NULL));
	stb_arena_fini(&a);
}

Test(check, text_takes_lets_and_only_addresses_take_cells)
{
	struct spec s = { 0 };

	spec_open(&s, "stb 1\nlet n = 4KiB\nsuite x { title = \"bs ${n} \\${n}\" }\n"
		      "database external d { host = \"db-${cell.storage}.example\"  user = env(\"DB_USER\") }\n");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(spec_value(&s, STB_K_SUITE, "x", "title"), "\"bs 4KiB \\${n}\"");
	cr_expect(strstr(spec_value(&s, STB_K_DATABASE, "d", "host"), "{cell.storage}"));
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "user"), "env(\"DB_USER\")");
	spec_close(&s);
	refuse("workload io w", "filename = \"${cell.storage}\"", STB_E0320);
	refuse("workload io w", "filename = \"${nobody}\"", STB_E0305);
	refuse("storage directory s", "path = env(\"SCRATCH\")", STB_E0313);
}

/* --- secrets ------------------------------------------------------------------------------------------------------------------------- */

static void never_shown(const char *text)
{
	struct spec s = { 0 };

	spec_open(&s, text);
	cr_expect_gt(s.c.sink.n_errors, 0, "%s", text);
	for (int format = STB_DIAG_HUMAN; format <= STB_DIAG_SARIF; format++) {
		char *said = spec_text(&s, (enum stb_diag_format)format);

		cr_expect_null(strstr(said, "hunter"), "%s", said);
		free(said);
	}
	spec_close(&s);
}

Test(check, a_secret_is_never_shown)
{
	never_shown("stb 1\ndatabase external d { password = \"hunter2\" }\n");
	never_shown("stb 1\ndatabase external d { password = hunter2 }\n");
	never_shown("stb 1\ndatabase external d { password = hunter-2 }\n");
	never_shown("stb 1\ndatabase external d { password = [\"hunter2\"] }\n");
	never_shown("stb 1\nlet pw = \"hunter2\"\ndatabase external d { password = pw }\n");
	never_shown("stb 1\nlet a = \"hunter2\"\nlet pw = a\ndatabase external d { password = pw }\n");
	never_shown("stb 1\ndatabase external d { password = \"hunter2\"  password = \"hunter3\" }\n");
	never_shown("stb 1\ndatabase external d { password = \"hunter2  prot = 3 }\n");
	never_shown("stb 1\ndatabase external d { password: \"hunter2\" }\n");
	never_shown("stb 1\ndatabase external d { prot = 3  password = \"hunter2\" }\n");
	never_shown("stb 1\nvolume v { password = \"hunter2\" }\n");
	never_shown("stb 1\nlet db_password = \"hunter2\" + 1\n");
}

Test(check, a_secret_by_reference_is_kept_as_one)
{
	struct spec s = { 0 };

	spec_open(&s, "stb 1\nlet pw = env(\"DB_PASSWORD\")\ndatabase external a { password = pw }\ndatabase external b { password = file(\"/run/pw\") }\n");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "a", "password"), "env(\"DB_PASSWORD\")");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "b", "password"), "file(\"/run/pw\")");
	spec_close(&s);
	refuse("workload io w", "filename = env(\"A\")", STB_E0313);
	refuse("database external d", "password = env(A)", STB_E0313);
	refuse("database external d", "password = env(\"A B\")", STB_E0313);
}
