/*
 * role.c - what makes a private server a single one, a primary or a replica: its options, its port, and whether its parts lie where they should.
 *
 * A primary is reached by its replicas over TCP on 127.0.0.1, since neither server follows another through a socket. Which port is free
 * the kernel says; that it still is when the server asks for it a moment later only the server can say, so the caller tries again.
 * A replica keeps no binary log of its own: nobody follows it, and it would be paid for.
 */
#include "runtime/db/client.h"
#include "runtime/db/dialect.h"
#include "runtime/db/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_S 10
#define IO_TIMEOUT_S 60
#define PASSWORD_BYTES ((STB_PASSWORD_HEX - 1) / 2)

int stb_role_options(struct stb_buf *out, const struct stb_option_file *f, struct stb_err *err)
{
	const struct stb_dialect *words = stb_dialect_of(f->mariadb);

	if (f->redo_dir && stb_option_path(out, "innodb-log-group-home-dir", f->redo_dir, err))
		return -1;
	switch (f->role) {
	case STB_MYSQLD_ALONE:
		stb_buf_adds(out, "skip-networking\nskip-log-bin\n");
		return 0;
	case STB_MYSQLD_PRIMARY:
		stb_buf_adds(out, "bind-address = 127.0.0.1\n");
		if (stb_option_path(out, "log-bin", f->binlog, err))
			return -1;
		break;
	case STB_MYSQLD_REPLICA:
		stb_buf_printf(out, "skip-networking\nskip-log-bin\nread-only = ON\n%s", words->waits);
		if (stb_option_path(out, "relay-log", f->relay_log, err))
			return -1;
		break;
	}
	stb_buf_printf(out, "server-id = %u\n%s", f->server_id, words->gtid);
	if (f->semi_sync)
		stb_buf_adds(out, f->role == STB_MYSQLD_PRIMARY ? words->semi_primary : words->semi_replica);
	return 0;
}

int stb_role_password(char out[STB_PASSWORD_HEX], struct stb_err *err)
{
	unsigned char bytes[PASSWORD_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return stb_err_set(err, errno, "cannot make a password: the kernel has no random bytes");
	for (int i = 0; i < PASSWORD_BYTES; i++)
		snprintf(out + i * 2, 3, "%02x", bytes[i]);
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

void stb_role_accounts(struct stb_buf *sql, bool mariadb, enum stb_mysqld_role role, const char *password, const char *replica_password)
{
	if (role == STB_MYSQLD_PRIMARY) /* each server has accounts of its own */
		stb_buf_printf(sql,
			"SET SESSION sql_log_bin = 0;\n"
			"CREATE USER IF NOT EXISTS '" STB_REPLICA_ACCOUNT "'@'127.0.0.1' IDENTIFIED BY '%s';\n"
			"GRANT REPLICATION SLAVE ON *.* TO '" STB_REPLICA_ACCOUNT "'@'127.0.0.1';\n",
			replica_password);
	stb_buf_printf(sql,
		"CREATE DATABASE IF NOT EXISTS " STB_SERVER_SCHEMA ";\n"
		"CREATE USER IF NOT EXISTS '" STB_SERVER_ACCOUNT "'@'localhost' IDENTIFIED BY '%s';\n"
		"GRANT ALL PRIVILEGES ON *.* TO '" STB_SERVER_ACCOUNT "'@'localhost';\n",
		password);
	stb_buf_adds(sql, stb_dialect_of(mariadb)->accounts);
}

uint16_t stb_role_port(struct stb_err *err)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint16_t port = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || getsockname(fd, (struct sockaddr *)&a, &len))
		stb_err_set(err, errno, "cannot have a TCP port of 127.0.0.1, which replicas reach their primary through");
	else
		port = ntohs(a.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

/* Whether two paths name one file or directory; either may end in a slash. */
static bool same_place(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	while (n > 1 && a[n - 1] == '/')
		n--;
	while (m > 1 && b[m - 1] == '/')
		m--;
	return n == m && memcmp(a, b, n) == 0;
}

int stb_role_places_in_force(const struct stb_option_file *f, const char *label, const struct stb_db_address *addr, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	const struct {
		const char *sql, *name, *path;
	} places[] = {{"SELECT @@GLOBAL.innodb_log_group_home_dir", "redo log", f->redo_dir},
		{"SELECT @@GLOBAL.tmpdir", "temporary files", f->tmp_dir}, {"SELECT @@GLOBAL.log_bin_basename", "binary log", f->binlog}};
	struct stb_db_address server = *addr;
	struct stb_client *c;
	int r = 0;

	server.schema = NULL;
	if (stb_client_open(&c, &server, &limits, err))
		return -1;
	for (unsigned i = 0; i < STB_LEN(places) && r == 0; i++) {
		char cell[PATH_MAX];
		bool found;

		if (!places[i].path)
			continue;
		if (stb_client_cell(c, places[i].sql, cell, sizeof(cell), &found))
			r = stb_err_set(err, 0, "%s: cannot ask where its %s lies: %s (%u)", label, places[i].name, stb_client_text(c),
				stb_client_code(c));
		else if (!found || !same_place(cell, places[i].path))
			r = stb_err_set(err, 0, "%s: its %s lies at `%s`, not at `%s`", label, places[i].name, found ? cell : "", places[i].path);
	}
	stb_client_close(c);
	return r;
}
