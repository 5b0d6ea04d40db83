/* fsopts.c - see fsopts.h. */
#include "runtime/storage/fsopts.h"

#include <string.h>

static const struct words {
	const char *filesystem;
	enum stb_fs_where where;
	const char *option, *words;
} words_of[] = {
#define MKFS STB_FS_MKFS
#define MOUNT STB_FS_MOUNT
#define STB_FSWORDS(filesystem, where, option, words) { filesystem, where, option, words },
#include "runtime/storage/fsopts.def"
#undef STB_FSWORDS
#undef MKFS
#undef MOUNT
};

const char *stb_fs_option_words(const char *filesystem, enum stb_fs_where where, const char *option)
{
	for (size_t i = 0; i < STB_LEN(words_of); i++) {
		if (words_of[i].where == where && !strcmp(words_of[i].option, option) &&
			(!filesystem || !strcmp(words_of[i].filesystem, filesystem)))
			return words_of[i].words;
	}
	return NULL;
}

static bool is_word_of(const char *words, const char *word, size_t len)
{
	for (const char *p = words; *p; p += strspn(p, " ")) {
		const size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}

bool stb_fs_value_among(const char *words, const char *value)
{
	for (const char *p = value; words; p++) {
		size_t n;

		p += *p == '^';
		n = strcspn(p, ",");
		if (!is_word_of(words, p, n))
			return false;
		p += n;
		if (!*p)
			break;
	}
	return true;
}
