/*
 * options.c - server options and file system options.
 *
 * Server options are an open map (there are hundreds, and they differ by version), so what is refused is a table. Names are compared as the
 * server compares them: `-` is `_`, case does not count, the prefixes loose_, skip_, enable_, disable_ and maximum_ fall away, and an
 * unambiguous beginning stands for the whole name. Values are the second wall: nothing that could be a path or another line gets through.
 * File system options are a closed table (runtime/storage/fsopts.def).
 */
#include "compiler/options.h"

#include "compiler/eval.h"

#include <ctype.h>
#include "runtime/storage/fsopts.h"

#include <string.h>
#include <strings.h>

enum { MAX_NAME = 128, MAX_VALUE = 4096 };

/* --- server options: names ----------------------------------------------------------------------------------------------------------- */

static const struct owned {
	const char *pattern; /* `*` at one end or both */
	const char *instead;
} owned[] = {
	{ "datadir", "the data directory lies on the database's `volume`" },
	{ "basedir", "stb uses the server that it finds; `version` says which one is right" },
	{ "version", "it would only change what the server calls itself; `version` of the database says which one is right" },
	{ "socket", "stb makes the socket itself; a server that runs already is a `database external` with `socket`" },
	{ "port", "a private server has no port; a server that runs already is a `database external` with `port`" },
	{ "bind_address", "a private server listens on its socket only" },
	{ "networking", "a private server listens on its socket only" },
	{ "admin_*", "a private server listens on its socket only" },
	{ "extra_port", "a private server listens on its socket only" },
	{ "mysqlx*", "a private server listens on its socket only" },
	{ "user", "stb chooses the account the server runs as; of a `database external`, `user` is an attribute" },
	{ "password", "the account of a private server is made by stb; of a `database external`, `password` is an attribute" },
	{ "pid_file", "stb keeps track of the server itself" },
	{ "*tmpdir", "temporary files lie on the database's `volume`, or its `tmp_volume`" },
	{ "chroot", "stb chooses where the server runs" },
	{ "*plugin*", "plugins load code, and a spec holds none" },
	{ "init_*", "a spec runs no statements or files at server start" },
	{ "wsrep_*", "a cluster library is code, and a spec loads none" },
	{ "feedback*", "a measured server reports to nobody" },
	{ "*keyring*", "key stores are files, and a spec names none" },
	{ "log_bin*", "the binary log is kept where `topology` has replicas, and off where it is single; it lies on `binlog_volume`" },
	{ "relay_log*", "stb names the files of a replica; where it lies, its volume says" },
	{ "report_*", "`topology` and `replicas` say which servers there are" },
	{ "server_id", "`topology` and `replicas` say which servers there are" },
	{ "gtid_strict_mode", "replicas follow by GTID, strictly" },
	{ "gtid_mode", "replicas follow by GTID" },
	{ "enforce_gtid_consistency", "replicas follow by GTID" },
	{ "rpl_semi_sync_master_enabled", "`topology = semisync_replica` asks for acknowledged commits" },
	{ "rpl_semi_sync_slave_enabled", "`topology = semisync_replica` asks for acknowledged commits" },
	{ "rpl_semi_sync_source_enabled", "`topology = semisync_replica` asks for acknowledged commits" },
	{ "rpl_semi_sync_replica_enabled", "`topology = semisync_replica` asks for acknowledged commits" },
	{ "read_only", "replicas are, and no other server" },
	{ "slave_start", "stb starts replication itself" },
	{ "replica_start", "stb starts replication itself" },
	{ "log_error*", "stb keeps the error log in the run directory" },
	{ "log_basename", "stb names the server's files" },
	{ "ssl*", "a private server is reached through its socket" },
	{ "tls_*", "a private server is reached through its socket" },
	{ "secure_file_priv", "a spec reads and writes no files through the server" },
	{ "grant_tables", "stb sets up the account that it logs in with" },
	{ "defaults_*", "stb writes the only option file that the server reads" },
	{ "debug", "it writes a trace file" },
	{ "bootstrap", "stb starts and initialises the server" },
	{ "initialize*", "stb starts and initialises the server" },
	{ "daemonize", "stb starts and initialises the server" },
	{ "*_file", "a spec names no files" },
	{ "*_dir", "a spec names no directories" },
	{ "*_directory", "a spec names no directories" },
	{ "*_path", "a spec names no paths" },
};

static bool matches(const char *pattern, const char *name)
{
	const size_t n = strlen(pattern), len = strlen(name);
	const bool front = pattern[0] == '*', back = n > 0 && pattern[n - 1] == '*';

	if (front && back) {
		char inner[32];

		STB_ASSERT(n < sizeof(inner));
		memcpy(inner, pattern + 1, n - 2);
		inner[n - 2] = '\0';
		return strstr(name, inner) != NULL;
	}
	if (front)
		return len >= n - 1 && strcmp(name + len - (n - 1), pattern + 1) == 0;
	if (back)
		return strncmp(name, pattern, n - 1) == 0 || (len > 1 && strncmp(pattern, name, len) == 0);
	return strcmp(name, pattern) == 0 || (len > 1 && strncmp(pattern, name, len) == 0);
}

/* As the server reads a name: folded, without the prefixes that only say how to take it. */
static void normalise(const char *name, char out[MAX_NAME])
{
	static const char *const prefixes[] = { "loose_", "skip_", "enable_", "disable_", "maximum_" };
	size_t n = 0;

	for (; name[n] && n < MAX_NAME - 1; n++)
		out[n] = name[n] == '-' ? '_' : (char)tolower((unsigned char)name[n]);
	out[n] = '\0';
	for (size_t i = 0; i < STB_LEN(prefixes); i++) {
		const size_t len = strlen(prefixes[i]);

		if (strncmp(out, prefixes[i], len) == 0 && out[len]) {
			memmove(out, out + len, strlen(out + len) + 1);
			i = (size_t)-1; /* they may stand before one another */
		}
	}
}

static const struct owned *find_owned(const char *name)
{
	static const struct owned loose = { "loose_*", "with this prefix the server ignores an option that it does not know; leave the prefix out" };
	char plain[MAX_NAME];

	normalise(name, plain);
	for (size_t i = 0; i < STB_LEN(owned); i++) {
		if (matches(owned[i].pattern, plain))
			return &owned[i];
	}
	return strncasecmp(name, "loose", 5) == 0 && (name[5] == '_' || name[5] == '-') ? &loose : NULL;
}

/* --- server options: values ---------------------------------------------------------------------------------------------------------- */

/* All of these give the text of a value; NULL: it can have none, and why was told. */

static const char *refuse_value(struct stb_model *m, const struct stb_node *value, const char *name, const char *what, const char *help)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d = stb_diag(s, STB_E0317, value->span, "option `%s` cannot be %s", name, what);

	if (help)
		stb_diag_help(s, d, "%s", help);
	return NULL;
}

/* paths: whether the value may look like one, as those that a provisioner far away reads. */
static const char *check_text(struct stb_model *m, const struct stb_node *value, const char *name, const char *text, bool paths)
{
	if (!paths && strchr(text, '/'))
		return refuse_value(m, value, name, "a text with `/`", "a spec names no paths; what the server stores lies on the database's volume");
	if (!paths && strstr(text, ".."))
		return refuse_value(m, value, name, "a text with `..`", "a spec names no paths; what the server stores lies on the database's volume");
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return refuse_value(m, value, name, "a text with a line break or control character", NULL);
	}
	if (strlen(text) > MAX_VALUE)
		return refuse_value(m, value, name, "as long as this", "an option's value has at most 4096 bytes");
	return text;
}

/* A number as the server reads it: whole, or with a decimal point. */
static const char *number_text(struct stb_model *m, const struct stb_val *v)
{
	struct stb_val n = *v;
	char *text;

	n.type = STB_V_COUNT;
	text = stb_val_text(&m->c->arena, &n);
	return strchr(text, '/') || (v->type == STB_V_BYTES && v->den != 1) ? NULL : text;
}

static const char *refuse_word(struct stb_model *m, const struct stb_node *value, const char *name, const char *word)
{
	struct stb_sink *s = &m->c->sink;
	struct stb_diag *d;

	if (strcasecmp(word, "on") == 0 || strcasecmp(word, "off") == 0) {
		const char *plain = strcasecmp(word, "on") == 0 ? "true" : "false";

		d = stb_diag(s, STB_E0317, value->span, "option `%s` cannot be the bare word `%s`", name, word);
		stb_diag_here(s, d, "write %s", plain);
		stb_diag_fixit(s, d, value->span, "%s", plain);
		return NULL;
	}
	d = stb_diag(s, STB_E0317, value->span, "option `%s` cannot be the bare word `%s`", name, word);
	stb_diag_here(s, d, "write \"%s\"", word);
	stb_diag_fixit(s, d, value->span, "\"%s\"", word);
	stb_diag_help(s, d, "there is no let or param of that name; text stands in quotes");
	return NULL;
}

static const char *render(struct stb_model *m, const struct stb_node *value, const char *name, const struct stb_val *v, bool paths)
{
	const char *text;

	switch (v->type) {
	case STB_V_STRING:
		return check_text(m, value, name, v->str, paths);
	case STB_V_BOOL:
		return v->num ? "ON" : "OFF";
	case STB_V_COUNT:
	case STB_V_BYTES:
		text = number_text(m, v);
		if (!text)
			stb_diag(&m->c->sink, STB_E0302, value->span, "option `%s` would be %s, which is no whole number%s", name,
				stb_val_text(&m->c->arena, v), v->type == STB_V_BYTES ? " of bytes" : "");
		return text;
	case STB_V_WORD:
		return refuse_word(m, value, name, v->str);
	case STB_V_TIME:
		return refuse_value(m, value, name, "a time",
			"servers count some times in seconds and some in milliseconds: write the plain number that this one wants");
	case STB_V_SHARE:
		return refuse_value(m, value, name, "a share", "write the plain number that the server wants, 75 for 75%");
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
		return refuse_value(m, value, name, "a rate", "write the plain number that the server wants");
	case STB_V_LIST:
		return refuse_value(m, value, name, "a list", "write one text, \"a,b\"");
	case STB_V_SECRET:
		return refuse_value(m, value, name, "a secret", "options go into the plan and the report");
	case STB_V_NONE:
	case STB_V_CLOCK:
	case STB_V_REF:
	case STB_V_RANGE:
	case STB_V_MAP:
		return refuse_value(m, value, name, stb_type_phrase(v->type), NULL);
	}
	return NULL;
}

bool stb_option_make(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_name *name, const struct stb_node *value,
	struct stb_val *out)
{
	const bool of_server = row->kind == STB_K_DATABASE; /* else the parameters of a provisioner */
	const struct owned *own = of_server ? find_owned(name->text) : NULL;
	const char *text;
	struct stb_val v;

	if (strlen(name->text) >= MAX_NAME) {
		stb_diag(&m->c->sink, STB_E0316, name->span, "no server has an option with so long a name");
		return false;
	}
	if (own) {
		struct stb_diag *d = stb_diag(&m->c->sink, STB_E0316, name->span, "option `%s` cannot be set in a spec", name->text);

		stb_diag_help(&m->c->sink, d, "%s", own->instead);
		return false;
	}
	if (stb_is_dashed_word(m, value)) {
		stb_report_dashed_word(m, value, STB_DASHED_TEXT);
		return false;
	}
	if (!stb_eval(m, row, value, false, &v))
		return false;
	text = render(m, value, name->text, &v, !of_server);
	if (!text)
		return false;
	*out = stb_val_str(STB_V_STRING, text);
	return true;
}

/* --- mkfs and mount ------------------------------------------------------------------------------------------------------------------ */

enum fsopt_value { NONE, NUMBER, SIZE, WORD, MAYBE };

enum fsopt_where { MKFS, MOUNT };

static const struct fsopt {
	const char *filesystem;
	enum fsopt_where where;
	const char *option; /* "-m", "-E stride", "noatime" */
	enum fsopt_value value;
} fsopts[] = {
#define STB_FSOPT(fs, where, option, value) { (fs), (where), (option), (value) },
#include "runtime/storage/fsopts.def"
#undef STB_FSOPT
};

enum { MAX_WORDS = 32, MAX_WORD = 64 };

static const struct fsopt *find_fsopt(const char *fs, enum fsopt_where where, const char *option)
{
	for (size_t i = 0; i < STB_LEN(fsopts); i++) {
		if (fsopts[i].where == where && (!fs || strcmp(fsopts[i].filesystem, fs) == 0) && strcmp(fsopts[i].option, option) == 0)
			return &fsopts[i];
	}
	return NULL;
}

/* Whether the option has suboptions ("-E"): a row begins with it and a blank. */
static bool has_suboptions(const char *fs, const char *option)
{
	const size_t n = strlen(option);

	for (size_t i = 0; i < STB_LEN(fsopts); i++) {
		if (fsopts[i].where == MKFS && (!fs || strcmp(fsopts[i].filesystem, fs) == 0) &&
			strncmp(fsopts[i].option, option, n) == 0 && fsopts[i].option[n] == ' ')
			return true;
	}
	return false;
}

static bool value_fits(enum fsopt_value kind, const char *v)
{
	const size_t digits = strspn(v, "0123456789"), len = strlen(v);

	switch (kind) {
	case NONE:
		return false;
	case NUMBER:
		return digits > 0 && digits == len;
	case SIZE:
		return digits > 0 && (digits == len || (digits + 1 == len && strchr("kmgKMG", v[digits])));
	case WORD:
	case MAYBE:
		return len > 0 && v[0] != '-' &&
		       strspn(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_^.,:+-") == len;
	}
	return false;
}

static const char *value_phrase(enum fsopt_value kind)
{
	switch (kind) {
	case NONE:
		return "no value";
	case NUMBER:
		return "a number";
	case SIZE:
		return "a size such as 64k or 1g";
	case WORD:
		return "a plain word";
	case MAYBE:
		return "a plain word or nothing";
	}
	return "";
}

static const char *check_value(struct stb_arena *a, const struct fsopt *o, const char *value)
{
	if (!value && (o->value == NONE || o->value == MAYBE))
		return NULL;
	if (value && value_fits(o->value, value)) {
		const char *words = stb_fs_option_words(o->filesystem, o->where == MKFS ? STB_FS_MKFS : STB_FS_MOUNT, o->option);

		return stb_fs_value_among(words, value) ? NULL :
			stb_arena_printf(a, "`%s` cannot have the value `%s`; `stb explain %s` lists what it may name", o->option, value,
				o->where == MKFS ? "mkfs_options" : "mount_options");
	}
	return stb_arena_printf(a, "`%s` takes %s", o->option, value_phrase(o->value));
}

static const char *unknown(struct stb_arena *a, const char *fs, bool mkfs, const char *option)
{
	const char *names[STB_LEN(fsopts)];
	size_t n = 0;

	for (size_t i = 0; i < STB_LEN(fsopts); i++) {
		if ((fsopts[i].where == MKFS) == mkfs && (!fs || strcmp(fsopts[i].filesystem, fs) == 0))
			names[n++] = fsopts[i].option;
	}
	const char *near = stb_nearest(option, names, n);

	return stb_arena_printf(a, "`%s` is not among the %s options of %s%s%s%s", option, mkfs ? "mkfs" : "mount", fs ? fs : "any file system",
		near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}

/* One NAME or NAME=VALUE; prefix is "-E " for suboptions, "" for mount options. */
static const char *check_pair(struct stb_arena *a, const char *fs, bool mkfs, const char *prefix, const char *pair, size_t len)
{
	const char *equals = memchr(pair, '=', len);
	const size_t n = equals ? (size_t)(equals - pair) : len;
	const char *option = stb_arena_printf(a, "%s%.*s", prefix, (int)n, pair);
	const struct fsopt *o = find_fsopt(fs, mkfs ? MKFS : MOUNT, option);

	if (!o)
		return unknown(a, fs, mkfs, option);
	return check_value(a, o, equals ? stb_arena_strndup(a, equals + 1, len - n - 1) : NULL);
}

static const char *check_suboptions(struct stb_arena *a, const char *fs, const char *option, const char *word)
{
	const char *prefix = stb_arena_printf(a, "%s ", option);
	const char *problem = NULL;

	for (const char *p = word; !problem; p++) {
		const size_t len = strcspn(p, ",");

		problem = check_pair(a, fs, true, prefix, p, len);
		p += len;
		if (!*p)
			break;
	}
	return problem;
}

/* mkfs: words one after another, whichever items they stand in. */
static const char *check_mkfs(struct stb_arena *a, const char *fs, const struct stb_val *list, uint32_t *item)
{
	const char *pending = NULL; /* an option that waits for its value */
	uint32_t n_words = 0;

	for (uint32_t i = 0; i < list->n_items; i++) {
		const char *p = list->items[i].str;

		*item = i;
		for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
			const size_t len = strcspn(p, " ");
			const char *word = stb_arena_strndup(a, p, len), *problem = NULL;

			p += len;
			if (++n_words > MAX_WORDS || len > MAX_WORD)
				return stb_arena_printf(a, "there are more than %d words, or one of more than %d bytes", MAX_WORDS, MAX_WORD);
			if (pending) {
				const struct fsopt *o = find_fsopt(fs, MKFS, pending);

				problem = o ? check_value(a, o, word) : check_suboptions(a, fs, pending, word);
				pending = NULL;
			} else if (word[0] != '-') {
				problem = stb_arena_printf(a, "`%s` is a word of its own, where a device or path would stand", word);
			} else if (has_suboptions(fs, word)) {
				pending = word;
			} else {
				const struct fsopt *o = find_fsopt(fs, MKFS, word);

				if (!o)
					return unknown(a, fs, true, word);
				pending = o->value == NONE ? NULL : word;
			}
			if (problem)
				return problem;
		}
	}
	return pending ? stb_arena_printf(a, "`%s` lacks its value", pending) : NULL;
}

const char *stb_fsopt_problem(struct stb_arena *a, const char *filesystem, bool mkfs, const struct stb_val *list, uint32_t *item)
{
	const char *problem = NULL;

	*item = 0;
	if (filesystem && strcmp(filesystem, "none") == 0)
		return list->n_items ? "a raw volume (`filesystem = none`) is neither made nor mounted" : NULL;
	if (list->n_items > MAX_WORDS)
		return stb_arena_printf(a, "there are more than %d of them", MAX_WORDS);
	if (mkfs)
		return check_mkfs(a, filesystem, list, item);
	for (uint32_t i = 0; i < list->n_items && !problem; i++) {
		const char *text = list->items[i].str;

		*item = i;
		problem = strlen(text) > MAX_WORD ? "an option has at most 64 bytes" : check_pair(a, filesystem, false, "", text, strlen(text));
	}
	return problem;
}

struct stb_diag *stb_report_fsopt(struct stb_model *m, const struct stb_setting *list, const char *filesystem)
{
	const bool mkfs = strcmp(list->row->name, "mkfs_options") == 0;
	const struct stb_node *node = list->node;
	struct stb_span at = list->value_span;
	struct stb_diag *d;
	uint32_t item;
	const char *problem = stb_fsopt_problem(&m->c->arena, filesystem, mkfs, &list->val, &item);

	if (!problem)
		return NULL;
	if (node && node->kind == STB_N_LIST && item < node->n_items)
		at = node->items[item]->span;
	d = stb_diag(&m->c->sink, STB_E0318, at, "`%s`: %s", list->row->name, problem);
	stb_diag_help(&m->c->sink, d, "options are words from a table per file system; none names a device or a path");
	return d;
}
