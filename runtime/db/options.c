/*
 * options.c - whether a server binary knows the options of a spec, asked before anything is made.
 *
 * `mariadbd --no-defaults --verbose --help` lists every option with those of its built-in plugins, among them "  -a, --ansi   Use ...", and after
 * that a table of what has a value. A name of the spec is looked up as the server would: `-` and `_` are the same, an unambiguous beginning
 * will do, and in front may stand skip, disable, enable, maximum and (of MariaDB) autoset, each before a name of that list. `loose` says that
 * an unknown name is to be passed over. Options of plugins that are loaded at run time are not in the list: those that stb itself loads are let through.
 */
#include "runtime/base/nearest.h"
#include "runtime/db/dialect.h"
#include "runtime/db/server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES (2u << 20)
#define NAME_BYTES 80
#define MANY_NAMES 50 /* less than that is no list of a server */

struct stb_server_options {
	bool mariadb;
	char **names; /* with `_` */
	size_t n, cap;
};

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

static void fold(char *name)
{
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
}

static void add_name(struct stb_server_options *o, const char *text)
{
	const size_t len = strspn(text, letters);

	if (len < 2 || len >= NAME_BYTES)
		return;
	STB_GROW(o->names, o->n, o->cap);
	o->names[o->n] = stb_xmalloc(len + 1);
	memcpy(o->names[o->n], text, len);
	o->names[o->n][len] = '\0';
	fold(o->names[o->n++]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "  --name[=#]", "  -a, --name ", and nothing of the words beside or below. */
static void take_line(struct stb_server_options *o, const char *line)
{
	const size_t blanks = strspn(line, " ");
	const char *at = line + blanks;

	if (blanks != 2)
		return;
	if (at[0] == '-' && at[1] && at[2] == ',' && at[3] == ' ')
		at += 4;
	if (at[0] == '-' && at[1] == '-')
		add_name(o, at + 2);
}

struct stb_server_options *stb_server_options_read(const char *text)
{
	struct stb_server_options *o = stb_xcalloc(1, sizeof(*o));
	size_t n = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		take_line(o, line);
	if (o->n < MANY_NAMES) {
		stb_server_options_free(o);
		return NULL;
	}
	o->mariadb = strstr(text, "MariaDB") != NULL;
	qsort(o->names, o->n, sizeof(*o->names), by_text);
	for (size_t i = 0; i < o->n; i++) {
		if (n && strcmp(o->names[n - 1], o->names[i]) == 0)
			free(o->names[i]);
		else
			o->names[n++] = o->names[i];
	}
	o->n = n;
	return o;
}

struct stb_server_options *stb_server_options_ask(const char *path)
{
	static const char *const arguments[] = {"--verbose", "--help", NULL};
	char *text = stb_xmalloc(TEXT_BYTES);
	struct stb_server_options *o = NULL;
	struct stb_server_user user;
	struct stb_err ignored = {0};

	/* not as root, to whom MySQL says nothing */
	if (stb_server_user(&user, &ignored) == 0 && stb_server_ask(path, &user, arguments, text, TEXT_BYTES))
		o = stb_server_options_read(text);
	free(text);
	return o;
}

void stb_server_options_free(struct stb_server_options *o)
{
	for (size_t i = 0; o && i < o->n; i++)
		free(o->names[i]);
	if (o)
		free(o->names);
	free(o);
}

/* Index of the first name that begins so, and how many do; an exact one alone counts as the only one. */
static size_t find(const struct stb_server_options *o, const char *name, size_t *count)
{
	const size_t len = strlen(name);
	size_t first = 0;

	*count = 0;
	for (size_t i = 0; i < o->n && len; i++) {
		if (strncmp(o->names[i], name, len) != 0)
			continue;
		if (!*count)
			first = i;
		++*count;
		if (o->names[i][len] == '\0') { /* sorted: it comes before those that it begins */
			*count = 1;
			break;
		}
	}
	return first;
}

static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = {"skip_", "disable_", "enable_", "maximum_", "autoset_"};

	for (unsigned i = 0; i < STB_LEN(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return name + strlen(prefixes[i]);
	return NULL;
}

/* 0: it knows it; else how many it may be. *first of them. */
static size_t lacks(const struct stb_server_options *o, const char *name, size_t *first, bool *known)
{
	const char *rest = without_prefix(name);
	size_t n, n_rest = 0;

	*first = find(o, name, &n);
	if (n == 0 && rest)
		*first = find(o, rest, &n_rest);
	n = STB_MAX(n, n_rest);
	*known = n == 1;
	return n;
}

static void refuse(const struct stb_server_options *o, const struct stb_plan_block *database, const struct stb_plan_attr *a, const char *name,
	size_t n, size_t first, const char *who, struct stb_err *err)
{
	const char *option = a->name + strlen("options."), *rest = without_prefix(name), *near;
	const char *instead = stb_dialect_instead(stb_dialect_of(o->mariadb), name);

	if (n > 1) {
		stb_err_set(err, 0, "database `%s` cannot have the option `%s`: it may be `%s`, `%s`%s of the server (%s)", database->name, option,
			o->names[first], o->names[first + 1], n > 2 ? " or another" : "", who);
		stb_err_remedy(err, "write its name in full");
	} else {
		near = stb_nearest(name, (const char *const *)o->names, o->n);
		if (!near && rest)
			near = stb_nearest(rest, (const char *const *)o->names, o->n);
		stb_err_set(err, 0, "database `%s` cannot have the option `%s`: the server (%s) knows none of that name", database->name, option, who);
		if (instead)
			stb_err_remedy(err, "it has %s", instead);
		else if (near)
			stb_err_remedy(err, "did you mean `%s`? else remove it from `options`", near);
		else
			stb_err_remedy(err, "remove it from `options`, or let `version` name a server that knows it");
	}
	if (a->span != STB_NONE)
		err->span = a->span + 1;
}

/* Semi-synchronous replication is a plugin of MySQL's that stb loads where it is wanted; of MariaDB's server it is a part. */
static bool is_loaded(const struct stb_server_options *o, const char *name)
{
	return !o->mariadb && strncmp(name, "rpl_semi_sync_", 14) == 0 && !stb_dialect_instead(stb_dialect_of(false), name);
}

int stb_server_options_check(const struct stb_server_options *o, const struct stb_plan_block *database, const char *who, struct stb_err *err)
{
	for (uint32_t i = 0; i < database->n_attrs; i++) {
		const struct stb_plan_attr *a = &database->attrs[i];
		char name[NAME_BYTES];
		size_t n, first;
		bool known;

		if (strncmp(a->name, "options.", 8) != 0)
			continue;
		snprintf(name, sizeof(name), "%s", a->name + 8);
		fold(name);
		n = lacks(o, name, &first, &known);
		if (known || strncmp(name, "loose_", 6) == 0 || is_loaded(o, name))
			continue;
		refuse(o, database, a, name, n, first, who, err);
		return -1;
	}
	return 0;
}
