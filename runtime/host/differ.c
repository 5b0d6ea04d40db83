/*
 * differ.c - see differ.h. One table of what is looked at and what it means; the rest walks it.
 *
 * A value that one side does not know is a difference to be told, not one that refuses: a record made by another user has no serials.
 */
#include "runtime/host/differ.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum rule {
	MATTERS,
	TOLD,
	BUILD,      /* matters where both know it: built outside of a repository nobody does */
	NEARLY,     /* matters where two numbers are more than 2% apart */
	OF_OVERLAY, /* matters, but on overlay, whose options are those of one container */
	NAME,       /* matters where nothing better tells a device */
};

struct row {
	const char *path; /* keys with dots */
	enum rule rule;
};

static const struct row of_machine[] = {
	{ "kernel", MATTERS },
	{ "machine", MATTERS },
	{ "distribution", TOLD },
	{ "cpu.model", MATTERS },
	{ "cpu.online", MATTERS },
	{ "cpu.usable", MATTERS },
	{ "cpu.allowed", MATTERS },
	{ "cpu.governor", MATTERS },
	{ "memory_bytes", NEARLY },
	{ "swap_bytes", TOLD },
	{ "huge_pages", MATTERS },
	{ "stb.version", MATTERS },
	{ "stb.commit", BUILD },
};

static const struct row of_storage[] = {
	{ "path", TOLD },
	{ "filesystem", MATTERS },
	{ "mount.type", MATTERS },
	{ "mount.options", OF_OVERLAY },
	{ "mount.point", TOLD },
	{ "mount.source", TOLD },
	{ "device.model", MATTERS },
	{ "device.serial", MATTERS },
	{ "device.size_bytes", MATTERS },
	{ "device.rotational", MATTERS },
	{ "device.scheduler", MATTERS },
	{ "device.write_cache", MATTERS },
	{ "device.logical_block_bytes", MATTERS },
	{ "device.name", NAME },
};

static const struct row of_address[] = {
	{ "host", MATTERS },
	{ "port", MATTERS },
	{ "socket", MATTERS },
	{ "schema", TOLD },
	{ "user", TOLD },
};

static const struct row of_binary[] = {
	{ "version", MATTERS },
	{ "path", TOLD },
};

/* Variables that say where a server is or since when, never how it works. */
static const char *const no_setting[] = {
	"datadir", "general_log_file", "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_executed", "gtid_purged",
	"gtid_slave_pos", "hostname", "identity", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory",
	"innodb_buffer_pool_load_now", "insert_id", "last_gtid", "last_insert_id", "log_bin_basename", "log_bin_index", "log_error", "pid_file",
	"port", "pseudo_thread_id", "rand_seed1", "rand_seed2", "relay_log", "relay_log_basename", "relay_log_index", "relay_log_info_file",
	"report_port", "server_uid", "server_uuid", "slave_load_tmpdir", "replica_load_tmpdir", "slow_query_log_file", "socket", "timestamp",
	"tmpdir", "wsrep_node_name", "wsrep_data_home_dir", "aria_log_dir_path", "auto_generate_certs", "error_count", "warning_count",
};

static const json_t *at(const json_t *v, const char *path)
{
	char key[64];

	while (v && *path) {
		const size_t n = strcspn(path, ".");

		if (n >= sizeof key)
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		v = json_object_get(v, key);
		path += n + (path[n] == '.');
	}
	return v && !json_is_null(v) ? v : NULL;
}

static const char *words(struct stb_differences *d, const json_t *v)
{
	const char *s;
	char *text;

	if (!v)
		return "not known";
	s = json_string_value(v);
	if (s)
		return *s ? stb_arena_strdup(&d->arena, s) : "empty";
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	s = stb_arena_strdup(&d->arena, text ? text : "?");
	free(text);
	return s;
}

/* What a difference is about. */
struct subject {
	const char *kind, *name, *words; /* "database", "db", "server of database db"; all NULL: the machine */
};

static void add(struct stb_differences *d, const struct subject *of, const char *what, const json_t *was, const json_t *is, bool matters)
{
	STB_ARENA_GROW(&d->arena, d->items, d->n, d->cap);
	matters = matters && was && is;
	if (of->words)
		what = stb_arena_printf(&d->arena, "%s: %s", of->words, what);
	d->items[d->n++] = (struct stb_difference){ what, words(d, was), words(d, is), of->kind, of->name, matters };
	d->n_matter += matters;
}

bool stb_commit_known(const char *commit)
{
	return commit && *commit && strcmp(commit, "unknown");
}

static bool far_apart(const json_t *a, const json_t *b)
{
	const double x = json_number_value(a), y = json_number_value(b);

	return fabs(x - y) > 0.02 * fmax(fabs(x), fabs(y));
}

static bool is_told_better(const json_t *a, const json_t *b)
{
	return (at(a, "device.serial") && at(b, "device.serial")) || (at(a, "device.model") && at(b, "device.model"));
}

static bool matters(const struct row *r, const json_t *was, const json_t *is, const json_t *a, const json_t *b)
{
	const char *type;

	switch (r->rule) {
	case MATTERS:
		return true;
	case TOLD:
		return false;
	case BUILD:
		return stb_commit_known(json_string_value(was)) && stb_commit_known(json_string_value(is));
	case NEARLY:
		return far_apart(was, is);
	case OF_OVERLAY:
		type = json_string_value(at(a, "mount.type"));
		return !type || strcmp(type, "overlay");
	case NAME:
		return !is_told_better(a, b);
	}
	STB_BUG("unknown rule");
}

static void compare(struct stb_differences *d, const struct subject *of, const struct row *rows, size_t n, const json_t *a, const json_t *b)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *was = at(a, rows[i].path), *is = at(b, rows[i].path);

		if ((!was && !is) || (was && is && json_equal(was, is)))
			continue;
		if (rows[i].rule == NEARLY && was && is && !far_apart(was, is))
			continue;
		add(d, of, rows[i].path, was, is, matters(&rows[i], was, is, a, b));
	}
}

/* What both of them name. phrase: "server of database". */
static void compare_named(struct stb_differences *d, const char *kind, const char *phrase, const char *key, const struct row *rows, size_t n, const json_t *was,
	const json_t *is)
{
	json_t *of_was = json_object_get(was, key), *of_is = json_object_get(is, key), *a;
	const char *name;

	json_object_foreach(of_was, name, a) {
		const json_t *b = json_object_get(of_is, name);
		const struct subject of = { kind, stb_arena_strdup(&d->arena, name), stb_arena_printf(&d->arena, "%s %s", phrase, name) };

		if (b)
			compare(d, &of, rows, n, a, b);
	}
}

static bool is_setting(const char *name)
{
	for (size_t i = 0; i < STB_LEN(no_setting); i++)
		if (!strcmp(name, no_setting[i]))
			return false;
	return true;
}

static void compare_variables(struct stb_differences *d, const char *database, const json_t *a, const json_t *b)
{
	const struct subject of = { "database", stb_arena_strdup(&d->arena, database), stb_arena_printf(&d->arena, "database %s", database) };
	const char *name;
	json_t *was;

	json_object_foreach((json_t *)a, name, was) {
		const json_t *is = json_object_get(b, name);

		if (is_setting(name) && is && !json_equal(was, is))
			add(d, &of, stb_arena_strdup(&d->arena, name), was, is, !strcmp(name, "version") || !strcmp(name, "version_comment"));
	}
}

void stb_differences_find(struct stb_differences *d, const json_t *was, const json_t *is, bool variables)
{
	json_t *databases = json_object_get(was, "databases"), *a;
	const struct subject machine = { NULL, NULL, NULL };
	const char *name;

	memset(d, 0, sizeof *d);
	stb_arena_init(&d->arena);
	compare(d, &machine, of_machine, STB_LEN(of_machine), was, is);
	compare_named(d, "storage", "storage", "storage", of_storage, STB_LEN(of_storage), was, is);
	compare_named(d, "database", "address of database", "addresses", of_address, STB_LEN(of_address), was, is);
	compare_named(d, "database", "server of database", "binaries", of_binary, STB_LEN(of_binary), was, is);
	if (!variables)
		return;
	json_object_foreach(databases, name, a)
		compare_variables(d, name, json_object_get(a, "variables"),
			json_object_get(json_object_get(json_object_get(is, "databases"), name), "variables"));
}

void stb_differences_fini(struct stb_differences *d)
{
	stb_arena_fini(&d->arena);
}
