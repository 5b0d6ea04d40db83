/*
 * options.c - mkfs_options and mount_options against the table in fsopts.def, whose head says how a list is read.
 */
#include "runtime/storage/volume.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum value_kind { NONE, NUMBER, SIZE, WORD, MAYBE };

struct option {
	const char *filesystem;
	enum stb_fs_where where;
	const char *name;
	enum value_kind value;
};

static const struct option options[] = {
#define MKFS STB_FS_MKFS
#define MOUNT STB_FS_MOUNT
#define STB_FSOPT(filesystem, where, option, value) { filesystem, where, option, value },
#include "runtime/storage/fsopts.def"
#undef STB_FSOPT
#undef MKFS
#undef MOUNT
};

#define MAX_WORDS 32u
#define MAX_WORD 64u

static bool refuse(struct stb_fs_words *w, const char *fmt, ...) STB_PRINTF(2, 3);
static bool refuse(struct stb_fs_words *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->error, sizeof(w->error), fmt, ap);
	va_end(ap);
	return false;
}

static const struct option *find(const char *filesystem, enum stb_fs_where where, const char *name)
{
	for (size_t i = 0; i < STB_LEN(options); i++) {
		if (options[i].where == where && !strcmp(options[i].filesystem, filesystem) && !strcmp(options[i].name, name))
			return &options[i];
	}
	return NULL;
}

/* Whether there are rows "-E NAME" for option "-E". */
static bool has_suboptions(const char *filesystem, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < STB_LEN(options); i++) {
		if (options[i].where == STB_FS_MKFS && !strcmp(options[i].filesystem, filesystem) && !strncmp(options[i].name, name, n) &&
			options[i].name[n] == ' ')
			return true;
	}
	return false;
}

static bool value_ok(enum value_kind kind, const char *value)
{
	const size_t n = strlen(value);
	size_t digits;

	switch (kind) {
	case NONE:
		return false;
	case NUMBER:
		return n && n <= 18 && strspn(value, "0123456789") == n;
	case SIZE:
		digits = strspn(value, "0123456789");
		return digits && digits <= 18 && (digits == n || (digits + 1 == n && strchr("kmgKMG", value[digits])));
	case WORD:
	case MAYBE:
		return n && value[0] != '-' &&
			strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_^.,:+-") == n;
	}
	return false;
}

/* NAME or NAME=VALUE; prefix is "-E " or "". */
static bool check_pair(struct stb_fs_words *w, const char *filesystem, enum stb_fs_where where, const char *prefix, const char *pair)
{
	char name[MAX_WORD + 8];
	const size_t n = strcspn(pair, "=");
	const char *value = pair[n] ? pair + n + 1 : NULL;
	const struct option *o;

	snprintf(name, sizeof(name), "%s%.*s", prefix, (int)n, pair);
	o = find(filesystem, where, name);
	if (!o)
		return refuse(w, "`%s` is not an option that %s may be given", name, filesystem);
	if (o->value == NONE && value)
		return refuse(w, "`%s` takes no value", name);
	if (o->value != NONE && (value ? !value_ok(o->value, value) : o->value != MAYBE))
		return refuse(w, "`%s` needs a value of the right form, as in %s=%s", name, name,
			o->value == WORD || o->value == MAYBE ? "word" : o->value == SIZE ? "64k" : "1");
	if (value && !stb_fs_value_among(stb_fs_option_words(filesystem, where, name), value))
		return refuse(w, "`%s` cannot have the value `%s`", name, value);
	return true;
}

static bool check_suboptions(struct stb_fs_words *w, const char *filesystem, const char *option, const char *list)
{
	char prefix[MAX_WORD + 2], pair[MAX_WORD + 1];

	snprintf(prefix, sizeof(prefix), "%s ", option);
	for (;;) {
		const size_t n = strcspn(list, ",");

		snprintf(pair, sizeof(pair), "%.*s", (int)n, list);
		if (!check_pair(w, filesystem, STB_FS_MKFS, prefix, pair))
			return false;
		if (!list[n])
			return true;
		list += n + 1;
	}
}

static bool check_mkfs(struct stb_fs_words *w, const char *filesystem)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const char *word = w->text[i];
		const char *value = i + 1 < w->n ? w->text[i + 1] : NULL;
		const struct option *o = find(filesystem, STB_FS_MKFS, word);
		const bool sub = !o && word[0] == '-' && has_suboptions(filesystem, word);

		if (word[0] != '-')
			return refuse(w, "`%s` is not an option (words that stand alone could name a device)", word);
		if (!o && !sub)
			return refuse(w, "`%s` is not an option that mkfs.%s may be given", word, filesystem);
		for (uint32_t k = 0; k < i; k++) {
			if (!strcmp(w->text[k], word))
				return refuse(w, "`%s` stands twice", word);
		}
		if (o && o->value == NONE)
			continue;
		if (!value)
			return refuse(w, "`%s` lacks its value", word);
		if (sub && !check_suboptions(w, filesystem, word, value))
			return false;
		if (o && (!value_ok(o->value, value) || !stb_fs_value_among(stb_fs_option_words(filesystem, STB_FS_MKFS, word), value)))
			return refuse(w, "`%s` cannot have the value `%s`", word, value);
		i++;
	}
	return true;
}

static bool add_word(struct stb_fs_words *w, const char *word, size_t n)
{
	if (w->n == MAX_WORDS)
		return refuse(w, "there are more than %u words", MAX_WORDS);
	if (n > MAX_WORD)
		return refuse(w, "a word is longer than %u bytes", MAX_WORD);
	memcpy(w->text[w->n], word, n);
	w->text[w->n][n] = 0;
	w->argv[w->n] = w->text[w->n];
	w->n++;
	w->argv[w->n] = NULL;
	return true;
}

static bool split(struct stb_fs_words *w, const char *item)
{
	while (*item) {
		const size_t blanks = strspn(item, " \t"), n = strcspn(item + blanks, " \t");

		if (n && !add_word(w, item + blanks, n))
			return false;
		item += blanks + n;
	}
	return true;
}

bool stb_fs_words(struct stb_fs_words *w, const char *filesystem, enum stb_fs_where where, const struct stb_val *list)
{
	w->n = 0;
	w->argv[0] = NULL;
	w->error[0] = 0;
	if (!list || list->n_items == 0)
		return true;
	if (!strcmp(filesystem, "none"))
		return refuse(w, "there is no file system to give options to");
	for (uint32_t i = 0; i < list->n_items; i++) {
		const char *item = list->items[i].str;

		if (!item || !*item)
			return refuse(w, "an item is empty or no text");
		if (where == STB_FS_MKFS ? !split(w, item) : !add_word(w, item, strlen(item)))
			return false;
	}
	if (where == STB_FS_MKFS)
		return check_mkfs(w, filesystem);
	for (uint32_t i = 0; i < w->n; i++) {
		if (strchr(w->text[i], ',') || !check_pair(w, filesystem, STB_FS_MOUNT, "", w->text[i]))
			return w->error[0] ? false : refuse(w, "`%s` holds a comma; make it two items", w->text[i]);
	}
	return true;
}
