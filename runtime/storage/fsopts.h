/*
 * fsopts.h - look-ups in the table of file system options (fsopts.def), pure: the compiler checks with it what the runtime will use.
 */
#ifndef STB_FSOPTS_H
#define STB_FSOPTS_H

#include "runtime/base/base.h"

enum stb_fs_where { STB_FS_MKFS, STB_FS_MOUNT };
/* The words that the value of an option may be, separated by blanks; NULL: any (fsopts.def). filesystem NULL: whichever has the option. */
const char *stb_fs_option_words(const char *filesystem, enum stb_fs_where where, const char *option);
/* Whether a value that may name several with commas consists of these words; words NULL: yes. */
bool stb_fs_value_among(const char *words, const char *value);

#endif
