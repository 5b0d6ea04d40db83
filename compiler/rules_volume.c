/*
 * rules_volume.c - rules of a volume and its class.
 */
#include "compiler/options.h"
#include "compiler/rules.h"

#include <string.h>

static const uint64_t least_xfs_bytes = 300u << 20, least_ext4_bytes = 2u << 20;

static const char *class_type(const struct stb_rules_run *r)
{
	return r->s->storage->block->type->type;
}

static void file_system_of_directory(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "filesystem", "mkfs_options", "mount_options" };
	const struct stb_eblock *v = r->s->volume;

	if (strcmp(class_type(r), "directory") && strcmp(class_type(r), "tmpfs"))
		return;
	for (size_t i = 0; i < STB_LEN(attrs); i++) {
		const struct stb_eattr *a = stb_eattr(v, attrs[i]);
		struct stb_diag *d;

		if (!a)
			continue;
		d = stb_find(r, STB_E0450, v, a, r->s->storage, NULL,
			"`%s` cannot be had on %s `%s`, which has its file system already", stb_attr_text(r, a),
			class_type(r), r->s->storage->block->name);
		if (!d)
			continue;
		stb_diag_label(r->x->sink, d, r->s->storage->block->span, "the class is here");
		stb_diag_help(r->x->sink, d, "leave it out, or take a class of type loop");
	}
}

static void file_system_options(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "mkfs_options", "mount_options" };
	const struct stb_eblock *v = r->s->volume;
	const struct stb_eattr *fs = stb_eattr(v, "filesystem");

	if (strcmp(class_type(r), "loop") || !fs)
		return;
	for (size_t i = 0; i < STB_LEN(attrs); i++) {
		const struct stb_eattr *a = stb_eattr(v, attrs[i]);
		const char *problem;
		uint32_t item;
		struct stb_diag *d;

		if (!a || !a->val.n_items)
			continue;
		if (!strcmp(fs->val.str, "none")) {
			stb_without_effect(r, STB_E0451, v, attrs[i], v, "filesystem", "the volume is a raw device");
			continue;
		}
		problem = stb_fsopt_problem(r->x->arena, fs->val.str, i == 0, &a->val, &item);
		if (!problem)
			continue;
		d = stb_find(r, STB_E0451, v, a, v, fs, "`%s` in %s of volume `%s`: %s", a->val.items[item].str,
			attrs[i], v->block->name, problem);
		if (d)
			stb_find_other(r, d, v, fs, "the file system");
	}
}

static void volume_of_class(struct stb_rules_run *r)
{
	const struct stb_eattr *v = stb_eattr(r->s->volume, "size"), *s = stb_eattr(r->s->storage, "size");
	struct stb_diag *d;

	if (!v || !s || stb_val_cmp(&v->val, &s->val) <= 0)
		return;
	d = stb_find(r, STB_E0452, r->s->volume, v, r->s->storage, s,
		"volume `%s` claims %s of storage `%s`, which has %s", r->s->volume->block->name,
		stb_val_label(r->x->arena, &v->val), r->s->storage->block->name, stb_val_label(r->x->arena, &s->val));
	if (d)
		stb_find_other(r, d, r->s->storage, s, "the class's size");
}

static void least_file_system(struct stb_rules_run *r)
{
	const struct stb_eattr *fs = stb_eattr(r->s->volume, "filesystem");
	const struct stb_eblock *limit = stb_eattr(r->s->volume, "size") ? r->s->volume : r->s->storage;
	const uint64_t have = stb_eattr_u64(limit, "size", STB_UNBOUNDED);
	struct stb_diag *d;
	uint64_t least;

	if (strcmp(class_type(r), "loop") || !fs || !strcmp(fs->val.str, "none"))
		return;
	least = !strcmp(fs->val.str, "xfs") ? least_xfs_bytes : least_ext4_bytes;
	if (have >= least)
		return;
	d = stb_find(r, STB_E0453, limit, stb_eattr(limit, "size"), r->s->volume, fs,
		"%s on %s: mkfs.%s makes none below %s", fs->val.str, stb_bytes_text(r->x->arena, have), fs->val.str,
		stb_bytes_text(r->x->arena, least));
	if (d)
		stb_find_other(r, d, r->s->volume, fs, "the file system");
}

typedef void look_fn(struct stb_rules_run *r);

static look_fn *const table[] = {
#define LOOK_IO(look)
#define LOOK_OLTP(look)
#define LOOK_VOLUME(look) look,
#define LOOK_MIX(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)
#include "compiler/rules.def"
#undef STB_RULE
};

void stb_rules_look_volume(struct stb_rules_run *r)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		table[i](r);
}
