/*
 * tree.h - directory trees that are ours: removing one, copying one. No step follows a symlink or crosses a mount.
 *
 * Names are of a directory below the descriptor `at`. Everything returns 0, or -1 with *err.
 */
#ifndef STB_TREE_H
#define STB_TREE_H

#include "runtime/base/err.h"

/*
 * tree.c: removes it; it may be gone already. shown: its path, for messages. last: a file in it that goes when nothing else is left, so that whoever is
 * killed meanwhile leaves it for the next; NULL: none.
 */
STB_NODISCARD int stb_tree_remove(int at, const char *name, const char *last, const char *shown, struct stb_err *err);

/* tree_copy.c: asked while there is more to do; true ends it ("interrupted"). May be NULL. */
typedef bool stb_tree_stop_fn(void *ctx);

/* Adds the bytes that a copy of it would take. */
STB_NODISCARD int stb_tree_bytes(int at, const char *name, uint64_t *bytes, struct stb_err *err);
/*
 * Copies it to `to`, which must not exist, with owners and modes; what was copied is on disk and in no page cache afterwards, nor are the files it
 * was copied from. Where it fails, part of it is there. err->code is ENOSPC where there was no room.
 */
STB_NODISCARD int stb_tree_copy(int at, const char *name, const char *to, stb_tree_stop_fn *stop, void *ctx, struct stb_err *err);
/* Writes it to disk and lets the page cache forget it. */
STB_NODISCARD int stb_tree_forget(int at, const char *name, struct stb_err *err);

#endif
