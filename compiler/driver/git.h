/*
 * git.h - a revision of a git repository as a place to read specs from.
 *
 * Reads objects and nothing else: no checkout, no filter, no text conversion, no hook, nothing from the network, and what a name holds is
 * never an option of git's. One struct per revision, single-threaded.
 */
#ifndef STB_GIT_H
#define STB_GIT_H

#include "compiler/compile.h"

struct stb_git_entry;

struct stb_git {
	struct stb_loader loader; /* first: the loader's functions find the rest behind it */
	struct stb_arena arena;
	char tree[80];            /* object id of the revision's tree */
	struct stb_git_entry **entries; /* what was looked up */
	uint32_t n_entries, cap_entries;
};

/* Whether an operand is REV:PATH and no file of that name exists. *rev_len bytes are the revision. */
bool stb_git_is_revision(const char *operand, size_t *rev_len);
/*
 * Opens the revision of an operand; *path is the file in it, from the top of the repository. 0; or -1 with *err: no git, no repository here,
 * no such revision.
 */
STB_NODISCARD int stb_git_open(struct stb_git *g, const char *operand, const char **path, struct stb_err *err);
void stb_git_close(struct stb_git *g);

#endif
