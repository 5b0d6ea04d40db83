/*
 * external.c - a database that stb did not start: its address, with the secret read at the last moment, and what the spec asserts about it.
 *
 * A secret is named in the plan by where it is ("env:NAME", "file:PATH"). Its bytes go into the address and nowhere else; messages name
 * the reference.
 */
#include "runtime/db/client.h"
#include "runtime/db/server.h"
#include "runtime/db/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_MAX 4096
#define CONNECT_TIMEOUT_S 10
#define IO_TIMEOUT_S 60

static const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};

/* --- secrets ------------------------------------------------------------------------------------------------------------------------- */

/* what: "password", for messages. */
static int read_secret_file(const char *what, const char *path, struct stb_arena *a, const char **out, struct stb_err *err)
{
	char *text = stb_arena_alloc(a, SECRET_MAX + 2);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
	size_t n = 0;
	ssize_t got = 0;

	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		stb_err_set(err, errno, "cannot read the %s from file `%s`", what, path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		stb_err_set(err, 0, "cannot read the %s from `%s`: it is no regular file", what, path);
		goto fail;
	}
	while (n <= SECRET_MAX && (got = read(fd, text + n, SECRET_MAX + 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0) {
		stb_err_set(err, errno, "cannot read the %s from file `%s`", what, path);
		goto fail;
	}
	if (n > SECRET_MAX) {
		stb_err_set(err, 0, "cannot read the %s from file `%s`: it holds more than %d bytes", what, path, SECRET_MAX);
		goto fail;
	}
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n > 0 && text[n - 1] == '\r')
		n--;
	text[n] = '\0';
	if (memchr(text, '\n', n)) {
		stb_err_set(err, 0, "cannot read the %s from file `%s`: it has more than one line", what, path);
		goto fail;
	}
	if (strlen(text) != n) {
		stb_err_set(err, 0, "cannot read the %s from file `%s`: it holds a NUL byte", what, path);
		goto fail;
	}
	close(fd);
	*out = text;
	return 0;
fail:
	stb_err_remedy(err, "name a file that you can read and that holds the %s in one line, or take it from env(...)", what);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int resolve_secret(const char *what, const char *reference, struct stb_arena *a, const char **out, struct stb_err *err)
{
	if (strncmp(reference, "env:", 4) == 0) {
		const char *value = getenv(reference + 4);

		if (!value) {
			stb_err_set(err, 0, "cannot read the %s: environment variable `%s` is not set", what, reference + 4);
			stb_err_remedy(err, "set it for this run (it is not recorded)");
			return -1;
		}
		*out = stb_arena_strdup(a, value);
		return 0;
	}
	if (strncmp(reference, "file:", 5) == 0)
		return read_secret_file(what, reference + 5, a, out, err);
	return stb_err_set(err, 0, "cannot read the %s: `%s` is neither env:NAME nor file:PATH", what, reference);
}

/* An address that the spec takes from the environment or a file (`host = env("DB_HOST")`) becomes what is there. */
static int resolve_address(const struct stb_plan_block *database, const char *name, struct stb_arena *a, const char **value,
	struct stb_err *err)
{
	const struct stb_plan_attr *attr = stb_plan_attr(database, name);

	return attr && attr->val.type == STB_V_SECRET ? resolve_secret(name, attr->val.str, a, value, err) : 0;
}

/* What the library would only say in its own words, or in the middle of a handshake. */
static int check_tls(const struct stb_plan_block *database, const struct stb_db_address *a, struct stb_err *err)
{
	const struct {
		const char *name, *path;
	} files[] = {{"tls_ca", a->tls_ca}, {"tls_cert", a->tls_cert}, {"tls_key", a->tls_key}};

	if (a->tls == STB_TLS_VERIFY_CA && !stb_client_can_verify_ca()) {
		char library[STB_CLIENT_LIBRARY_TEXT];

		stb_db_client_library(library);
		stb_err_set(err, 0, "database `%s` cannot be reached with `tls = verify_ca`: %s checks a server's authority only together with its name",
			database->name, library);
		stb_err_remedy(err, "write `tls = verify_identity`, which checks both");
		return -1;
	}
	for (uint32_t i = 0; i < STB_LEN(files); i++) {
		if (!files[i].path || access(files[i].path, R_OK) == 0)
			continue;
		stb_err_set(err, errno, "cannot read `%s` of database `%s` from `%s`", files[i].name, database->name, files[i].path);
		stb_err_remedy(err, "name a file in PEM format that you can read");
		return -1;
	}
	return 0;
}

static int read_tls(struct stb_reader *r, const struct stb_plan_block *database, struct stb_db_address *out, struct stb_err *err)
{
	static const char *const modes[] = {[STB_TLS_DISABLED] = "disabled", [STB_TLS_REQUIRED] = "required",
		[STB_TLS_VERIFY_CA] = "verify_ca", [STB_TLS_VERIFY_IDENTITY] = "verify_identity"};
	const char *mode = stb_read_str_or(r, "tls", "disabled");
	uint32_t i = 0;

	while (i < STB_LEN(modes) && strcmp(modes[i], mode) != 0)
		i++;
	if (i == STB_LEN(modes))
		return stb_err_set(err, 0, "database `%s` has no address: `tls = %s` is none of disabled, required, verify_ca, verify_identity",
			database->name, mode);
	out->tls = (enum stb_tls)i;
	out->tls_ca = stb_read_str_or(r, "tls_ca", NULL);
	out->tls_cert = stb_read_str_or(r, "tls_cert", NULL);
	out->tls_key = stb_read_str_or(r, "tls_key", NULL);
	return check_tls(database, out, err);
}

int stb_db_external_address(const struct stb_plan_block *database, struct stb_arena *a, struct stb_db_address *out, struct stb_err *err)
{
	struct stb_reader r;
	uint32_t pos = 0;

	stb_reader_init(&r, database);
	memset(out, 0, sizeof(*out));
	out->host = stb_read_str_or(&r, "host", NULL);
	out->socket = stb_read_str_or(&r, "socket", NULL);
	out->user = stb_read_str_or(&r, "user", "root");
	out->schema = stb_read_str_or(&r, "schema", "sbtest");
	const uint64_t port = stb_read_u64_or(&r, "port", 3306);
	const char *secret = stb_read_str_or(&r, "password", NULL);

	if (read_tls(&r, database, out, err))
		return -1;
	(void)stb_read_str_or(&r, "version", NULL); /* asserted by stb_db_external_assert() */
	stb_read_skip(&r, "volume");  /* described only */
	while (stb_read_option(&r, &pos))
		; /* asserted by stb_db_external_assert() */
	if (stb_reader_done(&r, err) || resolve_address(database, "host", a, &out->host, err) ||
		resolve_address(database, "socket", a, &out->socket, err) || resolve_address(database, "user", a, &out->user, err) ||
		resolve_address(database, "schema", a, &out->schema, err))
		return -1;
	if (port < 1 || port > 65535)
		stb_err_set(err, 0, "database `%s` has no address: port %llu lies outside of 1..65535", database->name, (unsigned long long)port);
	else if (!out->host && !out->socket)
		stb_err_set(err, 0, "database `%s` has no address: neither `host` nor `socket` is stated", database->name);
	else if (out->socket && strlen(out->socket) > STB_SOCKET_MAX)
		stb_err_set(err, 0, "database `%s` has no address: `socket` is longer than %zu bytes", database->name, STB_SOCKET_MAX);
	if (err->set)
		return -1;
	out->port = (uint16_t)port;
	return secret ? resolve_secret("password", secret, a, &out->password, err) : 0;
}

/* --- variables ----------------------------------------------------------------------------------------------------------------------- */

/* Without the schema, which stb_db_external_schema() has words of its own for. */
static int connect_to_server(struct stb_client **c, const struct stb_db_address *addr, struct stb_err *err)
{
	struct stb_db_address server = *addr;

	server.schema = NULL;
	stb_client_setup();
	return stb_client_open(c, &server, &limits, err);
}

int stb_db_variables(const struct stb_db_address *addr, struct stb_buf *out, struct stb_err *err)
{
	struct stb_variables v = {0};
	struct stb_client *c;
	int r;

	if (connect_to_server(&c, addr, err))
		return -1;
	r = stb_variables_read(c, &v, err);
	for (size_t i = 0; i < v.n && r == 0; i++) {
		char *value = v.list[i].value;

		for (char *p = value; *p; p++)
			if (*p == '\n' || *p == '\t')
				*p = ' ';
		stb_buf_printf(out, "%s\t%s\n", v.list[i].name, value);
	}
	stb_variables_free(&v);
	stb_client_close(c);
	return r;
}

static bool take_second(void *ctx, const char *const *cells, uint32_t n)
{
	if (n >= 2 && cells[1])
		snprintf(ctx, STB_TLS_TEXT, "%s", cells[1]);
	return false;
}

int stb_db_encryption(const struct stb_db_address *addr, char version[STB_TLS_TEXT], char cipher[STB_TLS_TEXT], struct stb_err *err)
{
	struct stb_client *c;
	int r = 0;

	version[0] = cipher[0] = '\0';
	if (connect_to_server(&c, addr, err))
		return -1;
	if (stb_client_rows(c, "SHOW SESSION STATUS LIKE 'Ssl_version'", take_second, version) ||
		stb_client_rows(c, "SHOW SESSION STATUS LIKE 'Ssl_cipher'", take_second, cipher))
		r = stb_err_set(err, 0, "cannot ask how the connection is encrypted: %s (%u)", stb_client_text(c), stb_client_code(c));
	stb_client_close(c);
	return r;
}

/* --- assertions ---------------------------------------------------------------------------------------------------------------------- */

/* *unknown: names of options that no variable shows; NULL: those are an error. The connection may have another sql_mode afterwards. */
static int compare_options(struct stb_client *client, const struct stb_plan_block *database, const struct stb_variables *v, struct stb_buf *unknown,
	struct stb_err *err)
{
	for (uint32_t i = 0; i < database->n_attrs; i++) {
		const struct stb_plan_attr *option = &database->attrs[i];
		struct stb_option_check c;

		if (strncmp(option->name, "options.", 8) != 0 || (unknown && stb_option_is_ours(option->name + 8)))
			continue;
		switch (stb_option_in_force(v, option->name + 8, option->val.str ? option->val.str : "", &c)) {
		case STB_IN_FORCE:
			continue;
		case STB_NO_VARIABLE:
			if (unknown) {
				stb_buf_printf(unknown, "%s%s", unknown->len ? "\n" : "", c.name);
				continue;
			}
			stb_err_set(err, 0, "database `%s` is not as the spec says: the server has no variable `%s`", database->name, c.name);
			break;
		case STB_NOT_IN_FORCE:
			if (!strcmp(c.name, "sql_mode") && stb_variables_same_sql_mode(client, c.is, c.asked))
				continue;
			stb_err_set(err, 0, "database `%s` is not as the spec says: `%s` is `%s` there, the spec says `%s`", database->name,
				c.name, c.is, c.asked);
			break;
		}
		if (unknown)
			stb_err_remedy(err, "the server took another value than it was given: write the one that it can have");
		else
			stb_err_remedy(err, "set it on the server (stb changes nothing on an external one), or correct the spec");
		if (option->span != STB_NONE)
			err->span = option->span + 1;
		return -1;
	}
	return 0;
}

int stb_db_options_in_force(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_buf *unknown,
	struct stb_err *err)
{
	struct stb_variables v = {0};
	struct stb_client *c;
	int r;

	if (connect_to_server(&c, addr, err))
		return -1;
	r = stb_variables_read(c, &v, err);
	if (r == 0)
		r = compare_options(c, database, &v, unknown, err);
	stb_variables_free(&v);
	stb_client_close(c);
	return r;
}

int stb_db_external_schema(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_err *err)
{
	const struct stb_plan_attr *schema = stb_plan_attr(database, "schema");
	struct stb_client *c;
	char text[512];
	unsigned code;

	stb_client_setup();
	if (!stb_client_try(&c, addr, &limits, &code, text, sizeof(text))) {
		stb_client_close(c);
		return 0;
	}
	if (code != STB_MYSQL_NO_SCHEMA && code != STB_MYSQL_SCHEMA_DENIED) {
		if (stb_client_open(&c, addr, &limits, err)) /* once more, for its words */
			return -1;
		stb_client_close(c);
		return 0;
	}
	stb_err_set(err, 0, "database `%s` cannot be used: user `%s` cannot enter schema `%s`: %s (%u)", database->name, addr->user, addr->schema,
		text, code);
	if (code == STB_MYSQL_NO_SCHEMA)
		stb_err_remedy(err, "make the schema on the server (stb makes none there), or correct `schema`");
	else
		stb_err_remedy(err, "grant the user the rights to it on the server, or correct `schema` or `user`");
	if (schema && schema->span != STB_NONE)
		err->span = schema->span + 1;
	return -1;
}

int stb_db_external_assert(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_err *err)
{
	const struct stb_plan_attr *version = stb_plan_attr(database, "version");
	struct stb_variables v = {0};
	struct stb_client *c;
	int r;

	if (connect_to_server(&c, addr, err))
		return -1;
	r = stb_variables_read(c, &v, err);
	if (r == 0 && version && version->val.str && !stb_version_matches(stb_client_server_version(c), version->val.str)) {
		r = stb_err_set(err, 0, "database `%s` is not as the spec says: its version is `%s`, the spec says `%s`", database->name,
			stb_client_server_version(c), version->val.str);
		stb_err_remedy(err, "measure the server that is meant, or correct `version`");
		if (version->span != STB_NONE)
			err->span = version->span + 1;
	}
	if (r == 0)
		r = compare_options(c, database, &v, NULL, err);
	stb_variables_free(&v);
	stb_client_close(c);
	return r ? r : stb_db_external_schema(database, addr, err);
}
