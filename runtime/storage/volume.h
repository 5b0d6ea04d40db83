/*
 * volume.h - what the files of this room share: a volume being made, and the steps that make and undo it.
 *
 *      <place>/stb-<mark>-<n>/         the base: made, marked and removed by us
 *                            mark      holds the run's mark
 *                            image     loop: the sparse image behind the device
 *                            zram      zram: which device was added
 *                            vol/      what the user of the volume gets: a plain directory or a mount point
 *
 * <place> is the class's directory, or the run directory. The base of a privileged run can be passed through (0711) but not listed, since a
 * database server that drops its privileges must reach what it is given below vol; otherwise it is 0700, as vol always is.
 */
#ifndef STB_STORAGE_VOLUME_H
#define STB_STORAGE_VOLUME_H

#include "runtime/base/tree.h"
#include "runtime/storage/fsopts.h"
#include "runtime/storage/storage.h"

#define STB_STORAGE_MARK_FILE "mark"
#define STB_STORAGE_IMAGE "image"
#define STB_STORAGE_VOL "vol"
#define STB_STORAGE_ZRAM "zram"
#define STB_STORAGE_XFS_MIN (300ull << 20)

enum stb_storage_type { STB_STORAGE_DIRECTORY, STB_STORAGE_TMPFS, STB_STORAGE_LOOP, STB_STORAGE_ZRAM_DEVICE };

/* Whether volumes of the type are a block device, raw or with a file system that we make. */
static inline bool stb_storage_is_device(enum stb_storage_type t)
{
	return t == STB_STORAGE_LOOP || t == STB_STORAGE_ZRAM_DEVICE;
}

/* A storage class and a volume, read from the plan. Strings are borrowed from it. */
struct stb_volume_spec {
	enum stb_storage_type type;
	const struct stb_plan_block *storage, *volume;
	const char *path;       /* NULL: the run directory */
	uint64_t size_bytes;    /* of the image or tmpfs; of a directory: what may be used, 0 unlimited */
	const char *algorithm;  /* zram: of compression; NULL: the kernel's own */
	const char *filesystem; /* "ext4" "xfs" "none"; NULL on directories and tmpfs */
	const struct stb_val *mkfs_options, *mount_options; /* NULL: none */
};

struct stb_volume {
	struct stb_storage_env env;
	struct stb_volume_spec spec;
	char *base;     /* absolute path */
	char *dir;      /* base/vol; NULL on a raw volume */
	char *image;    /* base/image */
	char *note;     /* base/zram */
	char device[32];/* "/dev/loop3" or "" */
	int loop_fd;    /* -1: none; holds the device, which clears itself with its last user */
	bool buffered;  /* loop: the image goes through the page cache, since direct I/O on it was refused */
	bool made_base, made_image, made_note, mounted;
};

/* spec.c */
STB_NODISCARD int stb_volume_spec_read(struct stb_volume_spec *s, const struct stb_plan *plan, const struct stb_plan_mount *m,
	struct stb_err *err);
void stb_volume_blame(const struct stb_volume_spec *s, const char *attr, struct stb_err *err);

/* place.c: the base directory */
STB_NODISCARD int stb_place_check(const struct stb_volume_spec *s, const char *place, struct stb_err *err);
STB_NODISCARD int stb_place_make(struct stb_volume *v, const char *place, struct stb_err *err);
bool stb_mark_valid(const char *mark);
/* Free bytes for an unprivileged writer at path or its nearest existing ancestor. */
uint64_t stb_place_free_bytes(const char *path);

/* loop.c */
STB_NODISCARD int stb_loop_check(struct stb_err *err);
STB_NODISCARD int stb_loop_attach(struct stb_volume *v, int image_fd, struct stb_err *err);
STB_NODISCARD int stb_loop_detach(struct stb_volume *v, struct stb_err *err);
/* That v->loop_fd is a loop device on our own image and that nothing is on it. */
STB_NODISCARD int stb_loop_guard(const struct stb_volume *v, struct stb_err *err);
/* Path of the file behind /dev/loopN, false when the device is free. */
bool stb_loop_backing(const char *device, char *out, size_t size);

/* zram.c */
STB_NODISCARD int stb_zram_check(struct stb_err *err);
/* Adds a device of the volume's size; v->device names it. After a failure stb_zram_remove takes away what was made. */
STB_NODISCARD int stb_zram_add(struct stb_volume *v, struct stb_err *err);
STB_NODISCARD int stb_zram_remove(struct stb_volume *v, struct stb_err *err);
/* Removes the device that the note in the base names, if it is still the same one. shown: the note's path, for messages. */
STB_NODISCARD enum stb_undo stb_zram_undo(int base_fd, const char *shown, struct stb_err *err);

/* filesystem.c */
struct stb_fs_words {
	char text[34][72];
	const char *argv[36]; /* NULL-terminated view of text */
	uint32_t n;
	char error[256];
};
/* Splits and checks an option list against fsopts.def. False: w->error says why. list may be NULL. */
bool stb_fs_words(struct stb_fs_words *w, const char *filesystem, enum stb_fs_where where, const struct stb_val *list);
STB_NODISCARD int stb_fs_check_tools(const struct stb_volume_spec *s, struct stb_err *err);
STB_NODISCARD int stb_fs_make(const struct stb_volume *v, struct stb_err *err);
STB_NODISCARD int stb_fs_mount(struct stb_volume *v, struct stb_err *err);
STB_NODISCARD int stb_fs_mount_tmpfs(struct stb_volume *v, struct stb_err *err);
/* Retries while busy, at last detaches lazily and says so. path may end in a /proc/self/fd name. */
STB_NODISCARD int stb_fs_unmount(const char *path, const char *shown, struct stb_err *err);
bool stb_fs_is_mount(const char *path);

#endif
