/* dialect.c - see dialect.h. Words of MariaDB 10.5 and later and of MySQL 8.0.26 and later. */
#include "runtime/db/dialect.h"

#include "runtime/base/base.h"

#include <string.h>

static const struct stb_dialect mariadb = {
	.name = "MariaDB",
	.initialise = "--bootstrap",
	.always = "",
	.waits = "skip-slave-start\n",
	.gtid = "gtid-strict-mode = ON\n",
	.semi_primary = "rpl-semi-sync-master-enabled = ON\n",
	.semi_replica = "rpl-semi-sync-slave-enabled = ON\n",
	.accounts = "",
	.change = "CHANGE MASTER TO",
	.prefix = "MASTER",
	.more = "MASTER_USE_GTID = slave_pos",
	.start = "START SLAVE",
	.status = "SHOW SLAVE STATUS",
	.position = "SELECT @@GLOBAL.gtid_binlog_pos",
	.applied = "SELECT @@GLOBAL.gtid_slave_pos",
	.wait = "MASTER_GTID_WAIT",
};

/* On every server, since the spec's options are: each side's options are known to its plugin alone. */
#define SEMI_SYNC_PLUGINS "plugin-load-add = semisync_source.so\nplugin-load-add = semisync_replica.so\n"

static const struct stb_dialect mysql = {
	.name = "MySQL",
	.initialise = "--initialize-insecure",
	.always = "loose-mysqlx = OFF\n", /* it would open a port */
	.waits = "skip-replica-start\n",
	.gtid = "gtid-mode = ON\nenforce-gtid-consistency = ON\n",
	/* loose: without the plugin, as when the data directory is made, the server does not know it; that it is on is looked at */
	.semi_primary = SEMI_SYNC_PLUGINS "loose-rpl-semi-sync-source-enabled = ON\n",
	.semi_replica = SEMI_SYNC_PLUGINS "loose-rpl-semi-sync-replica-enabled = ON\n",
	.accounts = "ALTER USER 'root'@'localhost' ACCOUNT LOCK;\n", /* it was made without a password */
	.change = "CHANGE REPLICATION SOURCE TO",
	.prefix = "SOURCE",
	.more = "SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1",
	.start = "START REPLICA",
	.status = "SHOW REPLICA STATUS",
	.position = "SELECT @@GLOBAL.gtid_executed",
	.applied = "SELECT @@GLOBAL.gtid_executed",
	.wait = "WAIT_FOR_EXECUTED_GTID_SET",
};

const struct stb_dialect *stb_dialect_of(bool is_mariadb)
{
	return is_mariadb ? &mariadb : &mysql;
}

const char *stb_dialect_instead(const struct stb_dialect *d, const char *option)
{
	static const struct {
		const struct stb_dialect *lacks;
		const char *option, *instead;
	} options[] = {
		{&mysql, "innodb_log_file_size", "`innodb_redo_log_capacity`, the size of the whole redo log"},
		{&mysql, "innodb_log_files_in_group", "`innodb_redo_log_capacity`, the size of the whole redo log"},
		{&mysql, "rpl_semi_sync_master_timeout", "`rpl_semi_sync_source_timeout`"},
		{&mysql, "rpl_semi_sync_master_wait_point", "`rpl_semi_sync_source_wait_point`"},
		{&mariadb, "innodb_redo_log_capacity", "`innodb_log_file_size`"},
		{&mariadb, "rpl_semi_sync_source_timeout", "`rpl_semi_sync_master_timeout`"},
		{&mariadb, "rpl_semi_sync_source_wait_point", "`rpl_semi_sync_master_wait_point`"},
	};

	for (unsigned i = 0; i < STB_LEN(options); i++)
		if (options[i].lacks == d && strcmp(option, options[i].option) == 0)
			return options[i].instead;
	return NULL;
}
