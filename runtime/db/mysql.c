/*
 * mysql.c - the client library behind client.h; the only file that includes mysql.h, so that the two libraries' differences end here.
 *
 * MariaDB Connector/C and Oracle's libmysqlclient share most names and differ in the type of booleans, in the options for encryption and in
 * the macros that tell them apart. Both send the text of a statement and read its answer later. Connector/C can do that with a prepared one, too
 * (its public option for that, and the reader that its own batches use); libmysqlclient cannot, its non-blocking calls included, so there a thread
 * waits for each connection with prepared statements (crew.c), and the record says so. Connector/C defines MYSQL_VERSION_ID too, with the server's number, so its own macros are asked first.
 *
 * Nothing outside the address reaches a connection: no option file is read, socket, port and password are always passed (an absent password
 * as "", because NULL would let the MYSQL_PWD variable in), LOCAL INFILE is off (a server could ask for any file), a lost connection stays
 * lost (reconnecting would silently drop prepared statements), and no password is ever sent in clear text, which a server could ask for too.
 *
 * Encryption. Connector/C up to 3.3 takes "enforce" as "try": a server without TLS is spoken to in plain text unless its certificate is to be
 * verified. So it is looked at after connecting whether there is a cipher, whatever the library. With a file of authorities and the
 * comparison of the name switched off it still checks the chain, which is verify_ca; from 3.4 on switching the one off takes the other with it.
 */
#include "runtime/db/client.h"

#include <mysql.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MARIADB_PACKAGE_VERSION_ID) || defined(LIBMARIADB) || defined(MARIADB_BASE_VERSION)
#define CONNECTOR_C 1
typedef my_bool db_bool;
#else
#define CONNECTOR_C 0
typedef bool db_bool;
#endif

/* Whether a prepared statement can be sent now and its answer be read later. */
#if CONNECTOR_C && MARIADB_PACKAGE_VERSION_ID >= 30103
#define CAN_SPLIT 1
#else
#define CAN_SPLIT 0
#endif

#define NOT_ENCRYPTED "the server speaks no TLS, and the connection is to be encrypted"

struct stb_client {
	MYSQL my;
	bool split; /* executions return when they are sent */
	/* A failed call of a statement is remembered here: the library keeps it in the statement. */
	unsigned code;
	char text[512];
};

struct stb_stmt {
	struct stb_client *client;
	MYSQL_STMT *handle;
	bool has_rows;
	uint32_t n_params;
	MYSQL_BIND *bind;      /* [n_params]; the library keeps its own copy, and the lengths below are what it points to */
	unsigned long *length; /* [n_params] */
};

void stb_client_setup(void)
{
	(void)mysql_library_init(0, NULL, NULL);
}

void stb_client_thread_begin(void)
{
	(void)mysql_thread_init();
}

void stb_client_thread_end(void)
{
	mysql_thread_end();
}

/* Of the library that is loaded, which may be another one than the headers are of. */
void stb_db_client_library(char out[STB_CLIENT_LIBRARY_TEXT])
{
	snprintf(out, STB_CLIENT_LIBRARY_TEXT, "%s %s", CONNECTOR_C ? "MariaDB Connector/C" : "libmysqlclient", mysql_get_client_info());
}

const char *stb_db_client_prepared(void)
{
	return CAN_SPLIT ? "sent and received apart, by as many threads as there are CPUs" : "waited for, by one thread a connection";
}

bool stb_client_can_verify_ca(void)
{
	unsigned major = 0, minor = 0;

	if (!CONNECTOR_C)
		return true;
	return sscanf(mysql_get_client_info(), "%u.%u", &major, &minor) == 2 && major == 3 && minor < 4;
}

static void set_tls(MYSQL *my, const struct stb_db_address *addr)
{
#if CONNECTOR_C
	const db_bool enforce = addr->tls != STB_TLS_DISABLED, verify = addr->tls == STB_TLS_VERIFY_IDENTITY;

	mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &enforce);
	mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify); /* on by default from 3.4, and then fails on servers without TLS */
#elif MYSQL_VERSION_ID >= 50711
	static const unsigned modes[] = {[STB_TLS_DISABLED] = SSL_MODE_DISABLED, [STB_TLS_REQUIRED] = SSL_MODE_REQUIRED,
		[STB_TLS_VERIFY_CA] = SSL_MODE_VERIFY_CA, [STB_TLS_VERIFY_IDENTITY] = SSL_MODE_VERIFY_IDENTITY};

	mysql_options(my, MYSQL_OPT_SSL_MODE, &modes[addr->tls]);
#endif
	if (addr->tls_ca)
		mysql_options(my, MYSQL_OPT_SSL_CA, addr->tls_ca);
	if (addr->tls_cert)
		mysql_options(my, MYSQL_OPT_SSL_CERT, addr->tls_cert);
	if (addr->tls_key)
		mysql_options(my, MYSQL_OPT_SSL_KEY, addr->tls_key);
}

/* Every way to log in but those that send the password as it is (mysql_clear_password, dialog) or as good as that (mysql_old_password). */
static void set_authentication(MYSQL *my)
{
#if CONNECTOR_C && defined(MARIADB_PACKAGE_VERSION_ID) && MARIADB_PACKAGE_VERSION_ID >= 30300
	mysql_options(my, MARIADB_OPT_RESTRICTED_AUTH,
		"mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password,auth_gssapi_client");
#elif !CONNECTOR_C
	const db_bool off = 0;

	mysql_options(my, MYSQL_ENABLE_CLEARTEXT_PLUGIN, &off); /* a variable of the environment could have switched it on */
#else
	(void)my;
#endif
}

/* Whether executions return when they are sent. */
static void split(struct stb_client *c, bool on)
{
#if CAN_SPLIT
	const db_bool skip = on;

	if (c->split != on)
		mysql_optionsv(&c->my, MARIADB_OPT_SKIP_READ_RESPONSE, &skip);
#endif
	c->split = on;
}

static void set_options(MYSQL *my, const struct stb_db_address *addr, const struct stb_client_limits *limits)
{
	const unsigned connect_s = limits->connect_timeout_s, io_s = limits->io_timeout_s;
	const unsigned local_infile = 0;
	unsigned protocol = addr->socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;

	mysql_options(my, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	if (io_s) {
		mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &io_s);
		mysql_options(my, MYSQL_OPT_WRITE_TIMEOUT, &io_s);
	}
	mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &local_infile);
	set_tls(my, addr);
	set_authentication(my);
	mysql_options(my, MYSQL_OPT_PROTOCOL, &protocol); /* else "localhost" over TCP would become a socket */
#if CONNECTOR_C
	const db_bool off = 0;

	mysql_options(my, MYSQL_OPT_RECONNECT, &off);
#else
#if MYSQL_VERSION_ID >= 80003
	const db_bool on = 1;

	mysql_options(my, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &on); /* caching_sha2_password without TLS */
#endif
#endif
}

static void remember(struct stb_client *c, unsigned code, const char *text)
{
	c->code = code;
	snprintf(c->text, sizeof(c->text), "%s", text ? text : "");
}

static int fail_client(struct stb_client *c)
{
	remember(c, mysql_errno(&c->my), mysql_error(&c->my));
	return -1;
}

static int fail_stmt(struct stb_stmt *s)
{
	/* Some failures while rows are read are noted in the connection only. */
	if (mysql_stmt_errno(s->handle) == 0)
		return fail_client(s->client);
	remember(s->client, mysql_stmt_errno(s->handle), mysql_stmt_error(s->handle));
	return -1;
}

/* 0; -1: the library's own failure; 1: it connected, but not encrypted as it was to. */
static int connect_to(MYSQL *my, const struct stb_db_address *addr, const struct stb_client_limits *limits)
{
	const char *host = addr->socket ? "localhost" : addr->host;
	const char *schema = addr->schema && addr->schema[0] ? addr->schema : NULL;
	const char *password = addr->password ? addr->password : "";

	set_options(my, addr, limits);
	if (!mysql_real_connect(my, host, addr->user, password, schema, addr->socket ? 0 : addr->port, addr->socket, 0))
		return -1;
	return addr->tls != STB_TLS_DISABLED && !mysql_get_ssl_cipher(my) ? 1 : 0;
}

int stb_client_try(struct stb_client **out, const struct stb_db_address *addr, const struct stb_client_limits *limits, unsigned *code,
	char *text, size_t text_size)
{
	struct stb_client *c = stb_xcalloc(1, sizeof(*c));

	*out = NULL;
	*code = 0;
	if (!mysql_init(&c->my)) {
		*code = 2008; /* out of memory, as the library numbers it */
		snprintf(text, text_size, "the client library cannot be initialised");
		free(c);
		return -1;
	}
	const int failed = connect_to(&c->my, addr, limits);

	if (failed) {
		*code = failed > 0 ? STB_MYSQL_TLS : mysql_errno(&c->my);
		snprintf(text, text_size, "%s", failed > 0 ? NOT_ENCRYPTED : mysql_error(&c->my));
		stb_client_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

int stb_client_reopen(struct stb_client *c, const struct stb_db_address *addr, const struct stb_client_limits *limits)
{
	mysql_close(&c->my); /* detaches the statements */
	c->split = false;
	if (!mysql_init(&c->my)) {
		remember(c, 2008, "the client library cannot be initialised");
		return -1;
	}
	const int failed = connect_to(&c->my, addr, limits);

	if (failed > 0)
		remember(c, STB_MYSQL_TLS, NOT_ENCRYPTED);
	return failed < 0 ? fail_client(c) : failed ? -1 : 0;
}

bool stb_client_is_own(unsigned code)
{
	return code >= 2000 && code < 3000;
}

/* The library writes an errno behind what it could not do: "Can't create UNIX socket (24)". */
static bool failed_for(const char *text, int errno_is)
{
	char number[16];

	snprintf(number, sizeof(number), "(%d)", errno_is);
	return strstr(text, number) != NULL;
}

const char *stb_client_remedy(unsigned code, const char *text)
{
	if (stb_client_is_own(code) && failed_for(text, EMFILE))
		return "raise the limit on open files (ulimit -n), or use fewer threads";
	if (stb_client_is_own(code) && failed_for(text, ENFILE))
		return "this machine has no more open files to give: end what holds them, or use fewer threads";
	switch (code) {
	case STB_MYSQL_ACCESS_DENIED:
		return "check user, password and the host that the account is for";
	case STB_MYSQL_TOO_MANY_CONNECTIONS:
		return "raise the server's max_connections, or use fewer threads";
	case STB_MYSQL_USER_CONNECTIONS:
		return "raise the server's max_user_connections, or use fewer threads";
	case STB_MYSQL_USER_LIMIT: /* of connections, or of queries, updates or connections an hour */
		return strstr(text, "connections") ? "allow the user more of them on the server (ALTER USER ... WITH), or use fewer threads" :
			"allow the user more of them on the server (ALTER USER ... WITH)";
	case STB_MYSQL_TLS:
		return "see that the server has a certificate (for its host name, where that is verified) from what `tls_ca` names, or change `tls`";
	case STB_MYSQL_PLUGIN:
	case STB_MYSQL_PLUGIN_FAILED:
		return "install the client plugin that the account's authentication needs, or give the account another one";
	default:
		return NULL;
	}
}

int stb_client_open(struct stb_client **out, const struct stb_db_address *addr, const struct stb_client_limits *limits, struct stb_err *err)
{
	unsigned code;
	char text[512];

	if (stb_client_try(out, addr, limits, &code, text, sizeof(text)) == 0)
		return 0;
	if (addr->socket)
		stb_err_set(err, 0, "cannot connect to the database as `%s` through socket `%s`: %s (%u)", addr->user, addr->socket, text, code);
	else
		stb_err_set(err, 0, "cannot connect to the database as `%s` at `%s:%u`: %s (%u)", addr->user, addr->host, addr->port, text,
			code);
	const char *remedy = stb_client_remedy(code, text);

	stb_err_remedy(err, "%s", remedy ? remedy : "see that the server runs there and lets this machine in, or correct host, port or socket");
	return -1;
}

void stb_client_close(struct stb_client *c)
{
	if (!c)
		return;
	mysql_close(&c->my);
	free(c);
}

const char *stb_client_server_version(const struct stb_client *c)
{
	/* The library's functions take no const, and change nothing. */
	const char *text = mysql_get_server_info((MYSQL *)&c->my);

	/* MariaDB before 11 says "5.5.5-10.6.1-MariaDB", for the sake of old replicas; its own library takes the prefix away. */
	return strncmp(text, "5.5.5-", 6) == 0 && strstr(text, "MariaDB") ? text + 6 : text;
}

bool stb_client_server_is_mariadb(const struct stb_client *c)
{
	return strstr(stb_client_server_version(c), "MariaDB") != NULL;
}

unsigned stb_client_code(const struct stb_client *c)
{
	return c->code;
}

const char *stb_client_text(const struct stb_client *c)
{
	return c->text;
}

bool stb_client_can_split(void)
{
	return CAN_SPLIT;
}

int stb_client_socket(const struct stb_client *c)
{
#if CONNECTOR_C
	return (int)mysql_get_socket((MYSQL *)&c->my); /* takes no const, and changes nothing */
#else
	return (int)c->my.net.fd;
#endif
}

int stb_client_send(struct stb_client *c, const char *sql, size_t len)
{
	return mysql_send_query(&c->my, sql, (unsigned long)len) ? fail_client(c) : 0;
}

int stb_client_receive(struct stb_client *c, struct stb_reply *reply)
{
	if (mysql_read_query_result(&c->my))
		return fail_client(c);
	reply->has_rows = mysql_field_count(&c->my) > 0;
	reply->affected_rows = 0;
	if (!reply->has_rows) {
		reply->affected_rows = mysql_affected_rows(&c->my);
		return 0;
	}
	MYSQL_RES *res = mysql_use_result(&c->my);

	if (!res)
		return fail_client(c);
	mysql_free_result(res); /* reads the rows that are left, all of them; what ends them early stands in the connection */
	return mysql_errno(&c->my) ? fail_client(c) : 0;
}

int stb_client_query(struct stb_client *c, const char *sql, size_t len, struct stb_reply *reply)
{
	return stb_client_send(c, sql, len) ? -1 : stb_client_receive(c, reply);
}

int stb_client_rows(struct stb_client *c, const char *sql, bool (*row)(void *ctx, const char *const *cells, uint32_t n_cells), void *ctx)
{
	split(c, false);
	if (mysql_real_query(&c->my, sql, (unsigned long)strlen(sql)))
		return fail_client(c);
	MYSQL_RES *res = mysql_store_result(&c->my);

	if (!res)
		return mysql_errno(&c->my) ? fail_client(c) : 0;
	const uint32_t n_cells = mysql_num_fields(res);
	MYSQL_ROW cells;

	while ((cells = mysql_fetch_row(res)))
		if (!row(ctx, (const char *const *)cells, n_cells))
			break;
	mysql_free_result(res);
	return 0;
}

struct cell {
	char *out;
	size_t size;
	bool found;
};

static bool take_cell(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct cell *cell = ctx;

	if (n_cells > 0 && cells[0]) {
		snprintf(cell->out, cell->size, "%s", cells[0]);
		cell->found = true;
	}
	return false;
}

int stb_client_cell(struct stb_client *c, const char *sql, char *out, size_t size, bool *found)
{
	struct cell cell = {.out = out, .size = size};

	out[0] = '\0';
	if (stb_client_rows(c, sql, take_cell, &cell))
		return -1;
	*found = cell.found;
	return 0;
}

static void bind_param(struct stb_stmt *s, uint32_t i, const struct stb_param *param)
{
	MYSQL_BIND *b = &s->bind[i];

	if (param->number) {
		b->buffer_type = MYSQL_TYPE_LONGLONG;
		b->buffer = (void *)param->number;
		return;
	}
	s->length[i] = param->text_len;
	b->buffer_type = MYSQL_TYPE_VAR_STRING;
	b->buffer = (void *)param->text;
	b->buffer_length = param->text_len;
	b->length = &s->length[i];
}

int stb_stmt_open(struct stb_stmt **out, struct stb_client *c, const char *sql, size_t len, const struct stb_param *params,
	uint32_t n_params)
{
	struct stb_stmt *s = stb_xcalloc(1, sizeof(*s));

	*out = NULL;
	s->client = c;
	s->n_params = n_params;
	s->bind = stb_xcalloc(n_params, sizeof(*s->bind));
	s->length = stb_xcalloc(n_params, sizeof(*s->length));
	for (uint32_t i = 0; i < n_params; i++)
		bind_param(s, i, &params[i]);
	if (stb_stmt_reopen(s, sql, len)) {
		stb_stmt_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

int stb_stmt_reopen(struct stb_stmt *s, const char *sql, size_t len)
{
	if (s->handle)
		mysql_stmt_close(s->handle);
	split(s->client, false); /* preparing would return unread, too */
	s->handle = mysql_stmt_init(&s->client->my);
	if (!s->handle)
		return fail_client(s->client);
	if (mysql_stmt_prepare(s->handle, sql, (unsigned long)len) || (s->n_params && mysql_stmt_bind_param(s->handle, s->bind)))
		return fail_stmt(s);
	s->has_rows = mysql_stmt_field_count(s->handle) > 0;
	return 0;
}

void stb_stmt_close(struct stb_stmt *s)
{
	if (!s)
		return;
	if (s->handle)
		mysql_stmt_close(s->handle);
	free(s->bind);
	free(s->length);
	free(s);
}

int stb_stmt_send(struct stb_stmt *s)
{
	split(s->client, CAN_SPLIT);
	return mysql_stmt_execute(s->handle) ? fail_stmt(s) : 0;
}

int stb_stmt_receive(struct stb_stmt *s, struct stb_reply *reply)
{
#if CAN_SPLIT
	if (s->client->my.methods->db_read_execute_response(s->handle))
		return fail_stmt(s);
#endif
	reply->has_rows = s->has_rows;
	reply->affected_rows = 0;
	if (!s->has_rows) {
		reply->affected_rows = mysql_stmt_affected_rows(s->handle);
		return 0;
	}
#if CONNECTOR_C
	/* Reads the rows that are left, all of them, into nothing; what ends them early stands in the connection. */
	(void)mysql_stmt_free_result(s->handle);
	return mysql_errno(&s->client->my) ? fail_client(s->client) : 0;
#else
	if (mysql_stmt_store_result(s->handle))
		return fail_stmt(s);
	(void)mysql_stmt_free_result(s->handle);
	return 0;
#endif
}
