/*
 * storage.h - turns a storage class and a volume of the plan into a place to write, and takes it away again.
 *
 * Owns: the directory, mount, loop device and image of each volume it made, and nothing else. Every acquisition is announced through
 * `leftover` before it happens and withdrawn after it is undone, so that a killed run can be cleaned. Called by exec, from one thread.
 */
#ifndef STB_STORAGE_H
#define STB_STORAGE_H

#include "runtime/base/undo.h"
#include "runtime/plan/plan.h"

struct stb_volume;

struct stb_storage_env {
	const struct stb_plan *plan;
	const char *run_dir; /* absolute; images of loop classes without a path lie in it */
	const char *run_mark;/* unique name of this run: part of every directory we make ("stb-<mark>-<n>") */
	void *ctx;
	/* made: 1 before something is made, 0 after it is gone. kind: "dir", "mount", "loop", "zram", "file"; object: path or device. */
	void (*leftover)(void *ctx, int made, const char *kind, const char *object);
};

/*
 * Whether the volume can be had, looked at without touching anything: the class's directory exists and can be written, privileges, tools
 * (mkfs.ext4, mkfs.xfs), free space against need_bytes. 0 or -1 with *err (need and have are both named).
 */
STB_NODISCARD int stb_volume_preflight(const struct stb_storage_env *env, const struct stb_plan_mount *m, uint64_t need_bytes,
	struct stb_err *err);

/* The same one by one, for whoever lists what a volume needs. */
enum stb_volume_need {
	STB_VOLUME_SENSE,     /* attributes that this room understands; where they are not, the others cannot be asked */
	STB_VOLUME_PRIVILEGE, /* root */
	STB_VOLUME_PLACE,     /* its directory */
	STB_VOLUME_DRIVER,    /* /dev/loop-control, zram-control */
	STB_VOLUME_TOOLS,     /* mkfs */
	STB_VOLUME_SPACE,
	STB_N_VOLUME_NEEDS
};
/* The need in words ("mkfs.xfs"), NULL: the volume has no such need; *err is set where it is lacking. */
const char *stb_volume_check(const struct stb_storage_env *env, const struct stb_plan_mount *m, uint64_t need_bytes, enum stb_volume_need need,
	struct stb_arena *a, struct stb_err *err);

STB_NODISCARD int stb_volume_provision(struct stb_volume **out, const struct stb_storage_env *env, const struct stb_plan_mount *m,
	struct stb_err *err);
const char *stb_volume_dir(const struct stb_volume *v);    /* absolute, mode 0700; NULL on a raw volume */
const char *stb_volume_device(const struct stb_volume *v); /* raw or backing device, e.g. /dev/loop3; NULL on directories */
/* Whether the volume works in another way than it should, so that no figure of it can be trusted; then *why says which and what to do. */
bool stb_volume_fell_back(const struct stb_volume *v, struct stb_err *why);
/* Unmounts, detaches, removes; goes on after a failure and reports the first. Frees v either way. */
STB_NODISCARD int stb_volume_remove(struct stb_volume *v, struct stb_err *err);

/* Undoes one announced leftover of an earlier run by kind and object; refuses what does not carry run_mark. */
STB_NODISCARD enum stb_undo stb_storage_undo(const char *run_mark, const char *kind, const char *object, struct stb_err *err);

#endif
