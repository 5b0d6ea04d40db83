/* test_db_variables.c - whether an option of the spec is in force on a server, judged by its variables. */
#include "runtime/db/variables.h"

#include <criterion/criterion.h>
#include <string.h>

static struct stb_variable list[] = { /* sorted */
	{ .name = (char *)"innodb_adaptive_hash_index", .value = (char *)"OFF" },
	{ .name = (char *)"innodb_flush_log_at_trx_commit", .value = (char *)"3" },
	{ .name = (char *)"innodb_io_capacity", .value = (char *)"100" },
	{ .name = (char *)"innodb_io_capacity_max", .value = (char *)"2000" },
	{ .name = (char *)"log_bin", .value = (char *)"OFF" },
	{ .name = (char *)"optimizer_switch", .value = (char *)"index_merge=on,mrr=off" },
	{ .name = (char *)"skip_name_resolve", .value = (char *)"ON" },
	{ .name = (char *)"sql_mode", .value = (char *)"STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION" },
	{ .name = (char *)"tx_isolation", .value = (char *)"READ-COMMITTED" },
	{ .name = (char *)"version", .value = (char *)"10.11.19-MariaDB" },
};
static const struct stb_variables live = { list, STB_LEN(list), STB_LEN(list) };

Test(db_variables, values_are_compared_by_what_they_mean)
{
	static const char *const same[][2] = { { "134217728", "128M" }, { "ON", "1" }, { "OFF", "0" }, { "on", "TRUE" }, { "InnoDB", "innodb" },
		{ "/var/tmp/", "/var/tmp" }, { "100.000000", "100" }, { "0.500000", "0.5" }, { "A,B", "b,a" }, { "a=on,b=off", "b=off" },
		{ "1099511627776", "1T" }, { "", "" },
		{ "utf8mb3", "utf8" }, { "utf8mb3_general_ci", "UTF8_general_ci" } };
	static const char *const different[][2] = { { "3", "9" }, { "100", "1" }, { "ON", "0" }, { "a=on,b=off", "b=on" }, { "A,B", "A" },
		{ "10.11.19-MariaDB", "ON" }, { "1", "1M" }, { "", "x" }, { "100.500000", "100" }, { "1", "" },
		{ "latin1", "utf8" }, { "utf8mb3_bin", "utf8_general_ci" }, { "utf8mb4", "utf8mb3" } };

	for (size_t i = 0; i < STB_LEN(same); i++)
		cr_expect(stb_variable_agrees(same[i][0], same[i][1]), "%s and %s", same[i][0], same[i][1]);
	for (size_t i = 0; i < STB_LEN(different); i++)
		cr_expect_not(stb_variable_agrees(different[i][0], different[i][1]), "%s and %s", different[i][0], different[i][1]);
}

Test(db_variables, enums_and_sets_by_number_beginning_and_order)
{
	static const struct {
		const char *words, *is, *asked;
		bool is_set, same;
	} cases[] = {
		{ "fsync,O_DSYNC,littlesync,O_DIRECT,O_DIRECT_NO_FSYNC", "fsync", "0", false, true },
		{ "fsync,O_DSYNC,littlesync,O_DIRECT,O_DIRECT_NO_FSYNC", "fsync", "1", false, false },
		{ "fsync,O_DSYNC,littlesync,O_DIRECT,O_DIRECT_NO_FSYNC", "O_DIRECT", "o_direct", false, true },
		{ "fsync,O_DSYNC,littlesync,O_DIRECT,O_DIRECT_NO_FSYNC", "O_DSYNC", "o_ds", false, true },
		{ "fsync,O_DSYNC,littlesync,O_DIRECT,O_DIRECT_NO_FSYNC", "fsync", "o_di", false, false },
		{ "fsync,O_DSYNC", "fsync", "64", false, false },
		{ "fsync,O_DSYNC", "fsync", "99999999999999999999999", false, false },
		{ "fsync,O_DSYNC", "fsync", "", false, false },
		{ "NO,SUPER,REPLICATION,YES", "YES", "3", false, true },
		{ "NO,SUPER,REPLICATION,YES", "SUPER", "1", false, true },
		{ "NO,SUPER,REPLICATION,YES", "YES", "1", false, false },
		{ "OFF,ON,DEMAND", "ON", "1", false, true },
		{ "OFF,ON,DEMAND", "ON", "true", false, true },
		{ "OFF,ON,DEMAND", "DEMAND", "ON", false, false },
		{ "NONE,FILE,TABLE", "FILE,TABLE", "table,File", true, true },
		{ "NONE,FILE,TABLE", "FILE,TABLE", "6", true, true },
		{ "NONE,FILE,TABLE", "FILE,TABLE", "file", true, false },
		{ "NONE,FILE,TABLE", "", "", true, true },
		{ "NONE,FILE,TABLE", "", "0", true, true },
		{ "NONE,FILE,TABLE", "FILE", "", true, false },
		{ "NONE,FILE,TABLE", "FILE", "no_such", true, false },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		const struct stb_variable v = { .name = (char *)"x", .value = (char *)cases[i].is, .words = (char *)cases[i].words,
			.is_set = cases[i].is_set };

		cr_expect_eq(stb_variable_holds(&v, cases[i].asked), cases[i].same, "%s of %s and %s", cases[i].is, cases[i].words, cases[i].asked);
	}
}

static enum stb_in_force judge(const char *option, const char *asked, const char *name, const char *is)
{
	struct stb_option_check c;
	const enum stb_in_force f = stb_option_in_force(&live, option, asked, &c);

	cr_expect_str_eq(c.name, name);
	if (is)
		cr_expect_str_eq(c.is, is);
	else
		cr_expect_null(c.is);
	return f;
}

Test(db_variables, what_the_server_clamps_or_ignores_is_not_in_force)
{
	cr_expect_eq(judge("innodb_flush_log_at_trx_commit", "9", "innodb_flush_log_at_trx_commit", "3"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("innodb-flush-log-at-trx-commit", "3", "innodb_flush_log_at_trx_commit", "3"), STB_IN_FORCE);
	cr_expect_eq(judge("innodb_io_capacity", "1", "innodb_io_capacity", "100"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("version", "ON", "version", "10.11.19-MariaDB"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("log_bin", "ON", "log_bin", "OFF"), STB_NOT_IN_FORCE);
}

Test(db_variables, options_with_prefixes_and_other_names)
{
	cr_expect_eq(judge("skip_name_resolve", "ON", "skip_name_resolve", "ON"), STB_IN_FORCE);
	cr_expect_eq(judge("skip_innodb_adaptive_hash_index", "ON", "innodb_adaptive_hash_index", "OFF"), STB_IN_FORCE);
	cr_expect_eq(judge("disable-log-bin", "OFF", "log_bin", "OFF"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("enable_log_bin", "ON", "log_bin", "OFF"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("loose_innodb_io_capacity", "1", "innodb_io_capacity", "100"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("loose_no_such", "1", "no_such", NULL), STB_IN_FORCE);
	cr_expect_eq(judge("no_such", "1", "no_such", NULL), STB_NO_VARIABLE);
	cr_expect_eq(judge("transaction_isolation", "read-committed", "tx_isolation", "READ-COMMITTED"), STB_IN_FORCE);
	/* a beginning is what option files take it for, where only one variable has it */
	cr_expect_eq(judge("innodb_flush_log_at", "9", "innodb_flush_log_at_trx_commit", "3"), STB_NOT_IN_FORCE);
	cr_expect_eq(judge("innodb_io", "1", "innodb_io", NULL), STB_NO_VARIABLE);
	cr_expect_eq(judge("loose_", "1", "loose_", NULL), STB_NO_VARIABLE);
}
