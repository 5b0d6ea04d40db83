/*
 * external.c - a database that stb did not start: its address, with the secret read at the last moment, and what the spec asserts about it.
 *
 * A secret is named in the plan by where it is ("env:NAME", "file:PATH"). Its bytes go into the address and nowhere else; messages name
 * the reference.
 */
#include "runtime/db/client.h"
#include "runtime/db/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

	if (fd < 0)
		return stb_err_set(err, errno, "cannot read the %s from file `%s`", what, path);
	while (n <= SECRET_MAX && (got = read(fd, text + n, SECRET_MAX + 1 - n)) > 0)
		n += (size_t)got;
	const int code = errno;

	close(fd);
	if (got < 0)
		return stb_err_set(err, code, "cannot read the %s from file `%s`", what, path);
	if (n > SECRET_MAX)
		return stb_err_set(err, 0, "cannot read the %s from file `%s`: it holds more than %d bytes", what, path, SECRET_MAX);
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n > 0 && text[n - 1] == '\r')
		n--;
	text[n] = '\0';
	if (strlen(text) != n)
		return stb_err_set(err, 0, "cannot read the %s from file `%s`: it holds a NUL byte", what, path);
	*out = text;
	return 0;
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

	stb_read_skip(&r, "version"); /* asserted by stb_db_external_assert() */
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

struct variable {
	char *name, *value;
};

struct variables {
	struct variable *list;
	size_t n, cap;
};

static bool add_variable(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct variables *v = ctx;

	if (n_cells < 2 || !cells[0])
		return true;
	STB_GROW(v->list, v->n, v->cap);
	v->list[v->n++] = (struct variable){stb_xstrdup(cells[0]), stb_xstrdup(cells[1] ? cells[1] : "")};
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

static void free_variables(struct variables *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->list[i].name);
		free(v->list[i].value);
	}
	free(v->list);
}

static int read_variables(struct stb_client *c, struct variables *v, struct stb_err *err)
{
	if (stb_client_rows(c, "SHOW GLOBAL VARIABLES", add_variable, v))
		return stb_err_set(err, 0, "cannot read the server's variables: %s (%u)", stb_client_text(c), stb_client_code(c));
	if (v->n)
		qsort(v->list, v->n, sizeof(*v->list), by_name);
	return 0;
}

/* Without the schema, which may not exist yet. */
static int connect_to_server(struct stb_client **c, const struct stb_db_address *addr, struct stb_err *err)
{
	struct stb_db_address server = *addr;

	server.schema = NULL;
	stb_client_setup();
	return stb_client_open(c, &server, &limits, err);
}

int stb_db_variables(const struct stb_db_address *addr, struct stb_buf *out, struct stb_err *err)
{
	struct variables v = {0};
	struct stb_client *c;
	int r;

	if (connect_to_server(&c, addr, err))
		return -1;
	r = read_variables(c, &v, err);
	for (size_t i = 0; i < v.n && r == 0; i++) {
		char *value = v.list[i].value;

		for (char *p = value; *p; p++)
			if (*p == '\n' || *p == '\t')
				*p = ' ';
		stb_buf_printf(out, "%s\t%s\n", v.list[i].name, value);
	}
	free_variables(&v);
	stb_client_close(c);
	return r;
}

/* --- assertions ---------------------------------------------------------------------------------------------------------------------- */

/* "128M" is 134217728, "ON" is 1: both ways of writing a value in an option file. false: it is a word. */
static bool as_number(const char *text, int64_t *out)
{
	static const struct {
		const char *word;
		int64_t value;
	} words[] = {{"ON", 1}, {"YES", 1}, {"TRUE", 1}, {"OFF", 0}, {"NO", 0}, {"FALSE", 0}};
	char *end;

	for (unsigned i = 0; i < STB_LEN(words); i++) {
		if (strcasecmp(text, words[i].word) == 0) {
			*out = words[i].value;
			return true;
		}
	}
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (end == text || errno)
		return false;
	const char *const units = "KMGT";
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	if (unit && end[1] == '\0')
		return !__builtin_mul_overflow(*out, (int64_t)1 << (10 * (unit - units + 1)), out);
	return *end == '\0';
}

static bool values_agree(const char *a, const char *b)
{
	int64_t x, y;

	if (as_number(a, &x) && as_number(b, &y))
		return x == y;
	return strcasecmp(a, b) == 0;
}

static int assert_option(const struct stb_plan_block *database, const struct stb_plan_attr *option, const struct variables *v,
	struct stb_err *err)
{
	const char *expected = option->val.str ? option->val.str : "";
	char name[80];

	snprintf(name, sizeof(name), "%s", option->name + strlen("options."));
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	const struct variable key = {.name = name};
	const struct variable *found = v->n ? bsearch(&key, v->list, v->n, sizeof(*v->list), by_name) : NULL;

	if (found && values_agree(found->value, expected))
		return 0;
	if (found)
		stb_err_set(err, 0, "database `%s` is not as the spec says: `%s` is `%s` there, the spec says `%s`", database->name, name,
			found->value, expected);
	else
		stb_err_set(err, 0, "database `%s` is not as the spec says: the server has no variable `%s`", database->name, name);
	stb_err_remedy(err, "set it on the server (stb changes nothing on an external one), or correct the spec");
	if (option->span != STB_NONE)
		err->span = option->span + 1;
	return -1;
}

int stb_db_external_assert(const struct stb_plan_block *database, const struct stb_db_address *addr, struct stb_err *err)
{
	const struct stb_plan_attr *version = stb_plan_attr(database, "version");
	struct variables v = {0};
	struct stb_client *c;
	int r;

	if (connect_to_server(&c, addr, err))
		return -1;
	r = read_variables(c, &v, err);
	if (r == 0 && version && version->val.str && !stb_version_matches(stb_client_server_version(c), version->val.str)) {
		r = stb_err_set(err, 0, "database `%s` is not as the spec says: its version is `%s`, the spec says `%s`", database->name,
			stb_client_server_version(c), version->val.str);
		stb_err_remedy(err, "measure the server that is meant, or correct `version`");
		if (version->span != STB_NONE)
			err->span = version->span + 1;
	}
	for (uint32_t i = 0; i < database->n_attrs && r == 0; i++)
		if (strncmp(database->attrs[i].name, "options.", 8) == 0)
			r = assert_option(database, &database->attrs[i], &v, err);
	free_variables(&v);
	stb_client_close(c);
	return r;
}
