/*
 * import_sysbench_database.c - the server of a sysbench command line, as an external database. A password is never copied.
 */
#include "compiler/import_sysbench.h"

#include <stdlib.h>
#include <string.h>

/* The first of a list; that there are more is refused. NULL: not given, or empty; *unknown: nobody knows. */
static const char *first_of(struct stb_sb *s, const char *name, bool *unknown)
{
	const struct stb_sb_option *o = stb_sb_take(s, name);
	size_t len;

	if (!o || !*o->value)
		return NULL;
	if (*o->value == '$') {
		*unknown = true;
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return NULL;
	}
	len = strcspn(o->value, ",");
	if (o->value[len])
		stb_import_refuse(s->im, o->span, o->words, "sysbench spreads its connections over a list, stb loads one server; the first is taken");
	return stb_arena_strndup(&s->im->c->arena, o->value, len);
}

static void put_address(struct stb_sb *s)
{
	bool no_host = false, no_port = false, no_socket = false;
	const char *host = first_of(s, "mysql-host", &no_host), *port = first_of(s, "mysql-port", &no_port),
		*socket = first_of(s, "mysql-socket", &no_socket);
	const struct stb_sb_option *given = stb_sb_find(s->c, "mysql-host");

	if (socket) {
		stb_import_text(s->im, "socket", socket);
		if (given && host && strcmp(host, "localhost") != 0)
			stb_sb_heed(s, given, "with --mysql-socket sysbench connects to the socket");
		return;
	}
	if (!no_host && !no_socket)
		stb_import_text(s->im, "host", host ? host : "localhost");
	if (port && (!*port || strlen(port) > 9 || strspn(port, "0123456789") != strlen(port)))
		stb_import_refuse(s->im, stb_sb_find(s->c, "mysql-port")->span, stb_sb_find(s->c, "mysql-port")->words, "it is no number");
	else if (!no_port && !no_host && !no_socket)
		stb_import_attr(s->im, "port", "%lu", port ? strtoul(port, NULL, 10) : 3306);
}

/* The name in `$NAME`, `${NAME}` or `${NAME:-...}`; NULL: it is no reference. */
static const char *variable(struct stb_sb *s, const char *value)
{
	const char *name = value + 1 + (value[1] == '{');
	size_t len = 0;

	if (*value != '$')
		return NULL;
	while ((name[len] >= 'A' && name[len] <= 'Z') || (name[len] >= 'a' && name[len] <= 'z') || name[len] == '_' ||
	       (len && name[len] >= '0' && name[len] <= '9'))
		len++;
	return len ? stb_arena_strndup(&s->im->c->arena, name, len) : NULL;
}

/* The path in `$(cat PATH)`; NULL: it is no such thing, or no path that a spec could name as it stands. */
static const char *file_read(struct stb_sb *s, const char *value)
{
	static const char cat[] = "$(cat ";
	const size_t n = strlen(value), head = sizeof(cat) - 1;
	const bool quoted = n > head && value[head] == '\'';
	const size_t begin = head + quoted, end = n - 1 - quoted;

	if (strncmp(value, cat, head) != 0 || n < head + 2 + 2 * (size_t)quoted || value[n - 1] != ')' || (quoted && value[n - 2] != '\'') ||
		strcspn(value + begin, "'\"\\$\n") < end - begin)
		return NULL;
	return stb_arena_strndup(&s->im->c->arena, value + begin, end - begin);
}

static void put_password(struct stb_sb *s)
{
	const struct stb_sb_option *o = stb_sb_take(s, "mysql-password");
	const char *name, *path;

	if (!o || !*o->value)
		return;
	path = file_read(s, o->value);
	if (path) {
		stb_import_attr(s->im, "password", "file(\"%s\")", path);
		return;
	}
	name = variable(s, o->value);
	if (!name) {
		name = "MYSQL_PASSWORD";
		stb_diag(&s->im->c->sink, STB_N0802, o->span, "the password is not copied: put it into the environment as %s before a run", name);
		stb_import_comment(s->im, "The password is not copied: put it into the environment.");
	}
	stb_import_attr(s->im, "password", "env(\"%s\")", name);
}

static void put_tls(struct stb_sb *s)
{
	static const struct {
		const char *words, *tls;
	} modes[] = {
		{ "on true 1 required REQUIRED", "required" },
		{ "verify_ca VERIFY_CA", "verify_ca" },
		{ "verify_identity VERIFY_IDENTITY", "verify_identity" },
		{ "disabled DISABLED", "disabled" },
	};
	const struct stb_sb_option *o = stb_sb_take(s, "mysql-ssl");

	if (!o || stb_sb_is_neutral(o))
		return;
	for (size_t i = 0; i < STB_LEN(modes); i++) {
		if (!stb_sb_has(modes[i].words, o->has_value ? o->value : "on"))
			continue;
		stb_import_attr(s->im, "tls", "%s", modes[i].tls);
		if (!i)
			stb_sb_heed(s, o, "sysbench 1.0 also reads client-key.pem, client-cert.pem and cacert.pem where it stands; name such files as tls_key, "
				"tls_cert and tls_ca");
		return;
	}
	stb_import_refuse(s->im, o->span, o->words, "of the modes of TLS stb has disabled, required, verify_ca and verify_identity");
}

static void put_text_or(struct stb_sb *s, const char *option, const char *attr, const char *fallback)
{
	const struct stb_sb_option *o = stb_sb_take(s, option);

	if (o && *o->value == '$') {
		stb_import_refuse(s->im, o->span, o->words, "it is a variable of the shell; write its value");
		return;
	}
	stb_import_text(s->im, attr, o ? o->value : fallback);
}

void stb_sb_put_database(struct stb_sb *s)
{
	stb_import_open(s->im, "database external server");
	put_address(s);
	put_text_or(s, "mysql-user", "user", "sbtest");
	put_password(s);
	put_text_or(s, "mysql-db", "schema", "sbtest");
	put_tls(s);
	stb_sb_put_part(s, STB_SB_DATABASE);
	stb_import_close(s->im);
}
