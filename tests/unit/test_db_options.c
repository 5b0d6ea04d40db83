/* test_db_options.c - names of options against the list that a server prints: as the server would look them up. */
#include "runtime/db/db.h"

#include "tests/unit/db_blocks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define WHO "/usr/sbin/mariadbd, 10.11"

static struct stb_server_options *known(void)
{
	struct stb_server_options *o;
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, "mariadbd  Ver 10.11\n\nStarts the MariaDB database server.\n\nUsage: mariadbd [OPTIONS]\n\n"
		"  -a, --ansi          Use ANSI SQL syntax instead of MySQL syntax. This mode\n"
		"                      --not-an-option is spoken of here\n"
		"  --autocommit        Set default value for autocommit (0 or 1)\n"
		"                      (Defaults to on; use --skip-autocommit to disable.)\n"
		"  --innodb-buffer-pool-size=# \n  --innodb-buffer-pool-size-auto-min[=#]\n  --innodb-doublewrite\n"
		"  --innodb-flush-log-at-trx-commit[=#] \n  --open-files-limit=# \n  --sort-buffer-size=# \n");
	for (int i = 0; i < 60; i++)
		stb_buf_printf(&b, "  --filler-%c%c-number=# \n", 'a' + i / 26, 'a' + i % 26);
	stb_buf_adds(&b, "\nVariables (--variable-name=value)\nin-the-table-only    TRUE\n");
	o = stb_server_options_read(stb_buf_str(&b));
	stb_buf_fini(&b);
	cr_assert(o);
	return o;
}

static int check(struct stb_arena *a, const struct stb_server_options *o, const char *option, struct stb_err *err)
{
	struct stb_plan_block *b = db_mysql(a);

	db_set(a, b, stb_arena_printf(a, "options.%s", option), stb_val_str(STB_V_STRING, "1"));
	stb_err_clear(err);
	return stb_server_options_check(o, b, WHO, err);
}

Test(db_options, names_are_looked_up_as_the_server_does)
{
	static const char *const good[] = {"ansi", "innodb_buffer_pool_size", "innodb-buffer-pool_size", "INNODB_DOUBLEWRITE", "innodb_flush_log",
		"innodb_doublewr", "skip_innodb_doublewrite", "skip-innodb-double", "disable_autocommit", "enable_autocommit", "maximum_sort_buffer_size",
		"autoset_open_files_limit", "loose_nothing", "loose-nothing-at-all", "filler_aa"};
	static const char *const bad[] = {"not_an_option", "in_the_table_only", "skip_nothing", "skip_", "maximum_", "innodb", "filler", "innodb_buffer",
		"autocommitt", "loose", "filler_number", "a"};
	struct stb_server_options *o = known();
	struct stb_arena a;
	struct stb_err err;

	stb_arena_init(&a);
	for (unsigned i = 0; i < STB_LEN(good); i++)
		cr_expect_eq(check(&a, o, good[i], &err), 0, "%s: %s", good[i], err.what);
	for (unsigned i = 0; i < STB_LEN(bad); i++)
		cr_expect_eq(check(&a, o, bad[i], &err), -1, "%s", bad[i]);
	stb_arena_fini(&a);
	stb_server_options_free(o);
}

Test(db_options, the_messages)
{
	static const char *const messages[][3] = {
		{"innodb_bufer_pool_size", "database `db` cannot have the option `innodb_bufer_pool_size`: the server (" WHO ") knows none of that name",
			"did you mean `innodb_buffer_pool_size`? else remove it from `options`"},
		{"skip_inodb_doublewrite", "database `db` cannot have the option `skip_inodb_doublewrite`: the server (" WHO ") knows none of that name",
			"did you mean `innodb_doublewrite`? else remove it from `options`"},
		{"quite_something_else", "database `db` cannot have the option `quite_something_else`: the server (" WHO ") knows none of that name",
			"remove it from `options`, or let `version` name a server that knows it"},
		{"innodb_buffer", "database `db` cannot have the option `innodb_buffer`: it may be `innodb_buffer_pool_size`, `innodb_buffer_pool_size_auto_min` of "
			"the server (" WHO ")", "write its name in full"},
		{"innodb_redo_log_capacity", "database `db` cannot have the option `innodb_redo_log_capacity`: the server (" WHO ") knows none of that name",
			"it has `innodb_log_file_size`"},
	};
	struct stb_server_options *o = known();
	struct stb_arena a;
	struct stb_err err;

	stb_arena_init(&a);
	for (unsigned i = 0; i < STB_LEN(messages); i++) {
		cr_expect_eq(check(&a, o, messages[i][0], &err), -1);
		cr_expect_str_eq(err.what, messages[i][1]);
		cr_expect_str_eq(err.remedy, messages[i][2]);
	}
	stb_arena_fini(&a);
	stb_server_options_free(o);
}

Test(db_options, semi_sync_is_a_plugin_of_mysql)
{
	struct stb_server_options *o;
	struct stb_arena a;
	struct stb_err err;
	struct stb_buf b;

	stb_arena_init(&a);
	stb_buf_init(&b);
	stb_buf_adds(&b, "mysqld  Ver 8.0.36 for Linux on x86_64\n");
	for (int i = 0; i < 60; i++)
		stb_buf_printf(&b, "  --filler-%c%c-number=# \n", 'a' + i / 26, 'a' + i % 26);
	o = stb_server_options_read(stb_buf_str(&b));
	stb_buf_fini(&b);
	cr_assert(o);
	cr_expect_eq(check(&a, o, "rpl_semi_sync_source_timeout", &err), 0, "%s", err.what);
	cr_expect_eq(check(&a, o, "rpl_semi_sync_master_timeout", &err), -1);
	cr_expect_str_eq(err.remedy, "it has `rpl_semi_sync_source_timeout`");
	stb_server_options_free(o);
	o = known();
	cr_expect_eq(check(&a, o, "rpl_semi_sync_source_timeout", &err), -1);
	stb_server_options_free(o);
	stb_arena_fini(&a);
}

Test(db_options, what_is_no_list_is_none)
{
	cr_expect_null(stb_server_options_read(""));
	cr_expect_null(stb_server_options_read("mysqld: cannot run as root\n  --help\n"));
	cr_expect_null(stb_server_options_ask("/bin/true"));
	cr_expect_null(stb_server_options_ask("/no/such/server"));
}
