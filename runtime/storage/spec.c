/*
 * spec.c - reads a storage class and a volume from the plan, and refuses what cannot be carried out.
 */
#include "runtime/storage/volume.h"

#include <string.h>

void stb_volume_blame(const struct stb_volume_spec *s, const char *attr, struct stb_err *err)
{
	const struct stb_plan_attr *a = stb_plan_attr(s->volume, attr);

	if (!a || a->span == STB_NONE)
		a = stb_plan_attr(s->storage, attr);
	if (a && a->span != STB_NONE)
		err->span = a->span + 1;
	else if (s->storage->span != STB_NONE)
		err->span = s->storage->span + 1;
}

static int read_type(struct stb_volume_spec *s, struct stb_err *err)
{
	const char *type = s->storage->type;

	if (!strcmp(type, "directory"))
		s->type = STB_STORAGE_DIRECTORY;
	else if (!strcmp(type, "tmpfs"))
		s->type = STB_STORAGE_TMPFS;
	else if (!strcmp(type, "loop"))
		s->type = STB_STORAGE_LOOP;
	else if (!strcmp(type, "zram"))
		s->type = STB_STORAGE_ZRAM_DEVICE;
	else {
		if (!strcmp(type, "external")) {
			stb_err_set(err, 0, "cannot provision storage `%s`: a class of type external is described, not provisioned",
				s->storage->name);
			stb_err_remedy(err, "run the cell on a directory, tmpfs, zram or loop class (a profile can replace it), "
					    "or give recorded results to stb report --results");
		} else {
			stb_err_set(err, 0, "cannot provision storage `%s`: there is no type `%s`", s->storage->name, type);
		}
		stb_volume_blame(s, "path", err);
		return -1;
	}
	return 0;
}

static int check_options(const struct stb_volume_spec *s, const char *attr, enum stb_fs_where where, const struct stb_val *list,
	struct stb_err *err)
{
	struct stb_fs_words w;

	if (stb_fs_words(&w, s->filesystem ? s->filesystem : "none", where, list))
		return 0;
	stb_err_set(err, 0, "volume `%s` cannot use its %s: %s", s->volume->name, attr, w.error);
	stb_err_remedy(err, "see `stb explain volume.%s` for what may stand there", attr);
	stb_volume_blame(s, attr, err);
	return -1;
}

static int check_filesystem(const struct stb_volume_spec *s, struct stb_err *err)
{
	if (!stb_storage_is_device(s->type) && s->filesystem) {
		stb_err_set(err, 0, "volume `%s` asks for filesystem = %s on storage `%s`, which brings its own", s->volume->name,
			s->filesystem, s->storage->name);
		stb_err_remedy(err, "leave filesystem out, or use a loop or zram class");
		stb_volume_blame(s, "filesystem", err);
		return -1;
	}
	if (stb_storage_is_device(s->type) && strcmp(s->filesystem, "ext4") && strcmp(s->filesystem, "xfs") && strcmp(s->filesystem, "none")) {
		stb_err_set(err, 0, "volume `%s` asks for filesystem = %s, which is none of ext4, xfs, none", s->volume->name, s->filesystem);
		stb_volume_blame(s, "filesystem", err);
		return -1;
	}
	if (s->filesystem && !strcmp(s->filesystem, "xfs") && s->size_bytes < STB_STORAGE_XFS_MIN) {
		stb_err_set(err, 0, "volume `%s` has %llu MiB, and xfs needs 300 MiB at least", s->volume->name,
			(unsigned long long)(s->size_bytes >> 20));
		stb_err_remedy(err, "make size larger, or use filesystem = ext4");
		stb_volume_blame(s, "size", err);
		return -1;
	}
	if (stb_storage_is_device(s->type) && (s->size_bytes < (1u << 20) || s->size_bytes % 4096)) {
		stb_err_set(err, 0, "volume `%s` has a size of %llu bytes; a device needs 1 MiB at least and a multiple of 4096 bytes",
			s->volume->name, (unsigned long long)s->size_bytes);
		stb_volume_blame(s, "size", err);
		return -1;
	}
	return 0;
}

int stb_volume_spec_read(struct stb_volume_spec *s, const struct stb_plan *plan, const struct stb_plan_mount *m, struct stb_err *err)
{
	struct stb_reader storage, volume;
	uint64_t storage_size, volume_size;

	*s = (struct stb_volume_spec){ .storage = &plan->blocks[m->storage], .volume = &plan->blocks[m->volume] };
	if (read_type(s, err))
		return -1;
	stb_reader_init(&storage, s->storage);
	stb_reader_init(&volume, s->volume);
	storage_size = stb_read_u64_or(&storage, "size", 0);
	/* The compiler has put the class's filesystem and options on the volume where the volume states none. */
	stb_read_skip(&storage, "filesystem");
	stb_read_skip(&storage, "mkfs_options");
	stb_read_skip(&storage, "mount_options");
	stb_read_skip(&volume, "storage"); /* m->storage */
	stb_read_skip(&volume, "access_modes"); /* of a claim in a cluster; here one mount that reads and writes, and check lets nothing else pass */
	volume_size = stb_read_u64_or(&volume, "size", 0);
	s->path = stb_read_str_or(&storage, "path", NULL);
	s->algorithm = stb_read_str_or(&storage, "algorithm", NULL);
	s->filesystem = stb_read_str_or(&volume, "filesystem", stb_storage_is_device(s->type) ? "ext4" : NULL);
	s->mkfs_options = stb_read_list(&volume, "mkfs_options", STB_V_STRING);
	s->mount_options = stb_read_list(&volume, "mount_options", STB_V_STRING);
	if (stb_reader_done(&storage, err) || stb_reader_done(&volume, err))
		return -1;
	s->size_bytes = volume_size ? volume_size : storage_size;
	if (storage_size && volume_size > storage_size) {
		stb_err_set(err, 0, "volume `%s` asks for %llu MiB of storage `%s`, which has %llu MiB", s->volume->name,
			(unsigned long long)(volume_size >> 20), s->storage->name, (unsigned long long)(storage_size >> 20));
		stb_err_remedy(err, "lower the volume's size or raise the class's");
		stb_volume_blame(s, "size", err);
		return -1;
	}
	if (s->type != STB_STORAGE_DIRECTORY && s->size_bytes == 0) {
		stb_err_set(err, 0, "storage `%s` has no size", s->storage->name);
		stb_volume_blame(s, "size", err);
		return -1;
	}
	if (check_filesystem(s, err))
		return -1;
	if (check_options(s, "mkfs_options", STB_FS_MKFS, s->mkfs_options, err))
		return -1;
	return check_options(s, "mount_options", STB_FS_MOUNT, s->mount_options, err);
}
