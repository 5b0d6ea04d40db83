/*
 * storage.c - a volume's life: looked at, provisioned step by step, removed in reverse. The layout on disk is drawn in volume.h.
 *
 * One file rather than one a type: the types share all but a step (directory: none; tmpfs: a mount; loop: image, device, mkfs, mount; zram:
 * device, mkfs, mount).
 */
#include "runtime/storage/volume.h"

#include "runtime/base/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB_UP(bytes) ((unsigned long long)(((bytes) + (1u << 20) - 1) >> 20))
#define MIB(bytes) ((unsigned long long)((bytes) >> 20))

/* --- preflight --- */

static int check_privilege(const struct stb_volume_spec *s, struct stb_err *err)
{
	if (s->type == STB_STORAGE_DIRECTORY || stb_has_capability(CAP_SYS_ADMIN))
		return 0;
	stb_err_set(err, EPERM, "cannot provision storage `%s`: %s needs root (CAP_SYS_ADMIN)", s->storage->name,
		s->type == STB_STORAGE_LOOP ? "attaching a loop device and mounting"
		: s->type == STB_STORAGE_ZRAM_DEVICE ? "adding a zram device and mounting"
						     : "mounting a tmpfs");
	stb_err_remedy(err, "run as root, or use a directory class (for memory: path = \"/dev/shm\")");
	stb_volume_blame(s, "size", err);
	return -1;
}

static int too_small(const struct stb_volume_spec *s, const char *where, uint64_t need, uint64_t have, const char *remedy,
	struct stb_err *err)
{
	stb_err_set(err, 0, "storage `%s` (%s) is too small: %llu MiB are needed and %llu MiB are there", s->storage->name, where,
		MIB_UP(need), MIB(have));
	stb_err_remedy(err, "%s", remedy);
	stb_volume_blame(s, "size", err);
	return -1;
}

static uint64_t memory_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	unsigned long long kib = 0;

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	}
	fclose(f);
	return kib ? kib << 10 : UINT64_MAX;
}

/* Takes memory rather than a place's space; data on zram may not compress. */
static bool in_memory(const struct stb_volume_spec *s)
{
	return s->type == STB_STORAGE_TMPFS || s->type == STB_STORAGE_ZRAM_DEVICE;
}

static int check_space(const struct stb_volume_spec *s, const char *place, uint64_t need, struct stb_err *err)
{
	char where[3100];
	uint64_t have;

	if (s->size_bytes && need > s->size_bytes)
		return too_small(s, "its size", need, s->size_bytes, "raise size, or let the workloads write less", err);
	if (in_memory(s)) {
		have = memory_available();
		if (need > have)
			return too_small(s, "free memory", need, have, "let the workloads write less, or free some memory", err);
		return 0;
	}
	have = stb_place_free_bytes(place);
	/* An image takes what is written to it and some for the file system's own tables. */
	if (s->type == STB_STORAGE_LOOP)
		need = STB_MIN(need + need / 20 + (16u << 20), s->size_bytes);
	snprintf(where, sizeof(where), "`%s`", place);
	if (need > have)
		return too_small(s, where, need, have, "free some space there, change path, or let the workloads write less", err);
	return 0;
}

static const char *place_of(const struct stb_storage_env *env, const struct stb_volume_spec *s)
{
	return s->path ? s->path : env->run_dir;
}

static const char *check_driver(const struct stb_volume_spec *s, struct stb_err *err)
{
	const bool loop = s->type == STB_STORAGE_LOOP;

	if (!stb_storage_is_device(s->type))
		return NULL;
	if (loop ? stb_loop_check(err) : stb_zram_check(err)) {
		stb_err_wrap(err, "storage `%s`", s->storage->name);
		stb_volume_blame(s, loop ? "path" : "size", err);
	}
	return loop ? "loop devices (/dev/loop-control)" : "zram devices (/sys/class/zram-control)";
}

const char *stb_volume_check(const struct stb_storage_env *env, const struct stb_plan_mount *m, uint64_t need_bytes, enum stb_volume_need need,
	struct stb_arena *a, struct stb_err *err)
{
	struct stb_volume_spec s;

	if (stb_volume_spec_read(&s, env->plan, m, err))
		return need == STB_VOLUME_SENSE ? "attributes that stb can carry out" : NULL;
	switch (need) {
	case STB_VOLUME_SENSE:
		return NULL;
	case STB_VOLUME_PRIVILEGE:
		if (s.type == STB_STORAGE_DIRECTORY)
			return NULL;
		(void)!check_privilege(&s, err);
		return "root (CAP_SYS_ADMIN)";
	case STB_VOLUME_PLACE:
		(void)!stb_place_check(&s, place_of(env, &s), err);
		return s.type == STB_STORAGE_TMPFS ? NULL : stb_arena_printf(a, "a directory to write to: %s", place_of(env, &s));
	case STB_VOLUME_DRIVER:
		return check_driver(&s, err);
	case STB_VOLUME_TOOLS:
		(void)!stb_fs_check_tools(&s, err);
		return stb_storage_is_device(s.type) && strcmp(s.filesystem, "none") ? stb_arena_printf(a, "mkfs.%s", s.filesystem) : NULL;
	case STB_VOLUME_SPACE:
		(void)!check_space(&s, place_of(env, &s), need_bytes, err);
		return stb_arena_printf(a, "%llu MiB free in %s", MIB_UP(need_bytes), in_memory(&s) ? "memory" : place_of(env, &s));
	case STB_N_VOLUME_NEEDS:
		break;
	}
	STB_BUG("unknown need");
}

int stb_volume_preflight(const struct stb_storage_env *env, const struct stb_plan_mount *m, uint64_t need_bytes, struct stb_err *err)
{
	struct stb_arena a;

	stb_arena_init(&a);
	for (int need = 0; need < STB_N_VOLUME_NEEDS && !err->set; need++)
		(void)!stb_volume_check(env, m, need_bytes, (enum stb_volume_need)need, &a, err);
	stb_arena_fini(&a);
	return err->set ? -1 : 0;
}

/* --- provisioning --- */

static int make_image(struct stb_volume *v, int *fd, struct stb_err *err)
{
	v->env.leftover(v->env.ctx, 1, "file", v->image);
	*fd = open(v->image, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0) {
		const int errnum = errno;

		v->env.leftover(v->env.ctx, 0, "file", v->image);
		return stb_err_set(err, errnum, "cannot make image `%s` of volume `%s`", v->image, v->spec.volume->name);
	}
	v->made_image = true;
	if (ftruncate(*fd, (off_t)v->spec.size_bytes)) {
		stb_err_set(err, errno, "cannot make image `%s` of volume `%s` %llu MiB large", v->image, v->spec.volume->name,
			MIB(v->spec.size_bytes));
		stb_err_remedy(err, "lower size, or choose a path whose file system can hold such a file");
		stb_volume_blame(&v->spec, "size", err);
		return -1;
	}
	return 0;
}

/* The device is there and empty: raw, or with a file system that is mounted. */
static int put_to_use(struct stb_volume *v, struct stb_err *err)
{
	if (!strcmp(v->spec.filesystem, "none")) {
		free(v->dir);
		v->dir = NULL;
		return 0;
	}
	if (stb_fs_make(v, err))
		return -1;
	return stb_fs_mount(v, err);
}

static int provision_loop(struct stb_volume *v, struct stb_err *err)
{
	int image = -1, ret;

	ret = make_image(v, &image, err);
	if (!ret)
		ret = stb_loop_attach(v, image, err);
	if (image >= 0)
		close(image);
	if (!ret)
		ret = stb_loop_guard(v, err);
	return ret ? -1 : put_to_use(v, err);
}

static int provision_zram(struct stb_volume *v, struct stb_err *err)
{
	return stb_zram_add(v, err) ? -1 : put_to_use(v, err);
}

static char *below(const char *base, const char *name)
{
	char *s;

	if (asprintf(&s, "%s/%s", base, name) < 0)
		STB_BUG("out of memory");
	return s;
}

static void no_leftover(void *ctx, int made, const char *kind, const char *object)
{
	(void)ctx;
	(void)made;
	(void)kind;
	(void)object;
}

int stb_volume_provision(struct stb_volume **out, const struct stb_storage_env *env, const struct stb_plan_mount *m, struct stb_err *err)
{
	struct stb_volume *v = stb_xcalloc(1, sizeof(*v));
	struct stb_err second;
	int ret;

	*out = NULL;
	v->env = *env;
	if (!v->env.leftover)
		v->env.leftover = no_leftover;
	v->loop_fd = -1;
	STB_ASSERT(stb_mark_valid(env->run_mark));
	ret = stb_volume_spec_read(&v->spec, env->plan, m, err);
	if (!ret)
		ret = stb_place_check(&v->spec, place_of(env, &v->spec), err);
	if (!ret)
		ret = stb_place_make(v, place_of(env, &v->spec), err);
	if (!ret) {
		v->dir = below(v->base, STB_STORAGE_VOL);
		v->image = below(v->base, STB_STORAGE_IMAGE);
		v->note = below(v->base, STB_STORAGE_ZRAM);
		switch (v->spec.type) {
		case STB_STORAGE_DIRECTORY:
			break;
		case STB_STORAGE_TMPFS:
			ret = stb_fs_mount_tmpfs(v, err);
			break;
		case STB_STORAGE_LOOP:
			ret = provision_loop(v, err);
			break;
		case STB_STORAGE_ZRAM_DEVICE:
			ret = provision_zram(v, err);
			break;
		}
	}
	if (ret) {
		stb_err_clear(&second);
		if (stb_volume_remove(v, &second)) /* what is left stays announced; the first error is the one to tell */
			stb_err_remedy(err, "run stb clean, since something is left: %.800s", second.what);
		return -1;
	}
	*out = v;
	return 0;
}

const char *stb_volume_dir(const struct stb_volume *v)
{
	return v->dir;
}

const char *stb_volume_device(const struct stb_volume *v)
{
	return v->device[0] ? v->device : NULL;
}

/* --- removing --- */

/* Keeps the first error. */
static void note(int ret, struct stb_err *err, struct stb_err *one, int *failed)
{
	if (ret && !*failed)
		*err = *one;
	if (ret)
		*failed = -1;
	stb_err_clear(one);
}

static int remove_image(struct stb_volume *v, struct stb_err *err)
{
	if (unlink(v->image) && errno != ENOENT)
		return stb_err_set(err, errno, "cannot remove image `%s`", v->image);
	v->env.leftover(v->env.ctx, 0, "file", v->image);
	return 0;
}

static int remove_base(struct stb_volume *v, struct stb_err *err)
{
	char *slash = strrchr(v->base, '/');
	int place, ret;

	*slash = 0;
	place = open(*v->base ? v->base : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	if (place < 0)
		return stb_err_set(err, errno, "cannot open the directory of `%s`", v->base);
	ret = stb_tree_remove(place, slash + 1, STB_STORAGE_MARK_FILE, v->base, err);
	close(place);
	if (!ret)
		v->env.leftover(v->env.ctx, 0, "dir", v->base);
	return ret;
}

int stb_volume_remove(struct stb_volume *v, struct stb_err *err)
{
	struct stb_err one;
	int failed = 0, ret;

	stb_err_clear(&one);
	if (v->mounted) {
		ret = stb_fs_unmount(v->dir, v->dir, &one);
		if (!ret || !stb_fs_is_mount(v->dir))
			v->env.leftover(v->env.ctx, 0, "mount", v->dir);
		note(ret, err, &one, &failed);
	}
	if (v->loop_fd >= 0)
		note(stb_loop_detach(v, &one), err, &one, &failed);
	if (v->made_note)
		note(stb_zram_remove(v, &one), err, &one, &failed);
	if (v->made_image)
		note(remove_image(v, &one), err, &one, &failed);
	if (v->made_base)
		note(remove_base(v, &one), err, &one, &failed);
	free(v->base);
	free(v->dir);
	free(v->image);
	free(v->note);
	free(v);
	return failed;
}
