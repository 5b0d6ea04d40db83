/*
 * rules_volume.c - rules of a volume and its class.
 */
#include "compiler/options.h"
#include "compiler/rules.h"

#include <string.h>

static const uint64_t least_xfs_bytes = 300u << 20, least_btrfs_bytes = 109u << 20,
	least_ext4_bytes = 2u << 20;

static const char *class_type(const struct stb_rules_run *r)
{
	return r->storage->block->type->type;
}

static void file_system_of_directory(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "filesystem", "mkfs_options", "mount_options" };
	const struct stb_eblock *v = r->volume;

	if (strcmp(class_type(r), "directory") && strcmp(class_type(r), "tmpfs"))
		return;
	for (size_t i = 0; i < STB_LEN(attrs); i++) {
		const struct stb_eattr *a = stb_eattr(v, attrs[i]);
		struct stb_diag *d;

		if (!a)
			continue;
		d = stb_find(r, STB_E0450, v, a, r->storage, NULL,
			"`%s` cannot be had on %s `%s`, which has its file system already", stb_attr_text(r, a),
			class_type(r), r->storage->block->name);
		if (!d)
			continue;
		stb_diag_label(r->x->sink, d, r->storage->block->span, "the class is here");
		stb_diag_help(r->x->sink, d, "leave it out, or take a class of another type, such as loop");
	}
}

static void file_system_options(struct stb_rules_run *r)
{
	static const char *const attrs[] = { "mkfs_options", "mount_options" };
	const struct stb_eblock *v = r->volume;
	const struct stb_eattr *fs = stb_eattr(v, "filesystem");

	if (!stb_is_block_class(r->storage) || !fs)
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
	const struct stb_eattr *v = stb_eattr(r->volume, "size"), *s = stb_eattr(r->storage, "size");
	struct stb_diag *d;

	if (!v || !s || stb_val_cmp(&v->val, &s->val) <= 0)
		return;
	d = stb_find(r, STB_E0452, r->volume, v, r->storage, s,
		"volume `%s` claims %s of storage `%s`, which has %s", r->volume->block->name,
		stb_val_label(r->x->arena, &v->val), r->storage->block->name, stb_val_label(r->x->arena, &s->val));
	if (d)
		stb_find_other(r, d, r->storage, s, "the class's size");
}

static void least_file_system(struct stb_rules_run *r)
{
	const struct stb_eattr *fs = stb_eattr(r->volume, "filesystem");
	const struct stb_eblock *limit = stb_eattr(r->volume, "size") ? r->volume : r->storage;
	const uint64_t have = stb_eattr_u64(limit, "size", STB_UNBOUNDED);
	struct stb_diag *d;
	uint64_t least;

	if (!stb_is_block_class(r->storage) || !fs || !strcmp(fs->val.str, "none"))
		return;
	least = !strcmp(fs->val.str, "xfs") ? least_xfs_bytes : !strcmp(fs->val.str, "btrfs") ? least_btrfs_bytes : least_ext4_bytes;
	if (have >= least)
		return;
	d = stb_find(r, STB_E0453, limit, stb_eattr(limit, "size"), r->volume, fs,
		"%s on %s: mkfs.%s makes none below %s", fs->val.str, stb_bytes_text(r->x->arena, have), fs->val.str,
		stb_bytes_text(r->x->arena, least));
	if (d)
		stb_find_other(r, d, r->volume, fs, "the file system");
}

/* --- the class --- */

static void which_device(struct stb_rules_run *r)
{
	const struct stb_eattr *serial = stb_eattr(r->storage, "serial"), *by_id = stb_eattr(r->storage, "by_id");
	const char *name = r->storage->block->name;
	struct stb_diag *d;

	if (strcmp(class_type(r), "device") || !serial != !by_id)
		return;
	if (!serial) {
		d = stb_find(r, STB_E0454, r->storage, NULL, NULL, NULL, "storage device `%s` does not say which device", name);
		if (d)
			stb_diag_help(r->x->sink, d, "write serial = \"...\" or by_id = \"...\": `ls /dev/disk/by-id` shows the names");
		return;
	}
	d = stb_find(r, STB_E0454, r->storage, by_id, r->storage, serial, "storage device `%s` has a serial number and a name under by-id; one says it", name);
	if (d)
		stb_find_other(r, d, r->storage, serial, "the serial number");
}

static void stripes(struct stb_rules_run *r)
{
	const struct stb_eblock *s = r->storage;
	const struct stb_eattr *n = stb_eattr(s, "stripes"), *size = stb_eattr(s, "stripe_size"), *devices = stb_eattr(s, "devices");
	struct stb_diag *d;

	if (strcmp(class_type(r), "lvm"))
		return;
	if (stb_eattr_is(s, "layout", "linear")) {
		stb_without_effect(r, STB_E0457, s, "stripes", s, "layout", "a linear volume has none");
		stb_without_effect(r, STB_E0457, s, "stripe_size", s, "layout", "a linear volume has no stripes");
		return;
	}
	if (n && devices && (uint64_t)n->val.num > devices->val.n_items) {
		d = stb_find(r, STB_E0457, s, n, s, devices, "%s stripes need as many devices, and storage `%s` has %u",
			stb_val_label(r->x->arena, &n->val), s->block->name, devices->val.n_items);
		if (d)
			stb_find_other(r, d, s, devices, "the devices");
	}
	if (devices && devices->val.n_items < 2) {
		d = stb_find(r, STB_E0457, s, stb_eattr(s, "layout"), s, devices, "a striped volume needs two devices or more, and storage `%s` has %u",
			s->block->name, devices->val.n_items);
		if (d)
			stb_find_other(r, d, s, devices, "the devices");
	}
	if (size && (size->val.num & (size->val.num - 1)))
		stb_find(r, STB_E0457, s, size, NULL, NULL, "`%s` is no power of two", stb_attr_text(r, size));
}

static void kubernetes_class(struct stb_rules_run *r)
{
	static const char *const made[] = { "reclaim_policy", "volume_binding_mode", "allow_volume_expansion" };
	const struct stb_eblock *s = r->storage;
	struct stb_diag *d;

	if (strcmp(class_type(r), "kubernetes"))
		return;
	if (!stb_eattr(s, "class_name") && !stb_eattr(s, "provisioner")) {
		d = stb_find(r, STB_E0458, s, NULL, NULL, NULL, "storage kubernetes `%s` says neither which class nor how one is made", s->block->name);
		if (d)
			stb_diag_help(r->x->sink, d, "write class_name = \"...\" of one that exists, or provisioner = \"...\" with its parameters");
	}
	for (size_t i = 0; !stb_eattr(s, "provisioner") && i < STB_LEN(made); i++)
		stb_without_effect(r, STB_E0458, s, made[i], s, "class_name", "the class exists already and says it");
	for (uint32_t i = 0; !stb_eattr(s, "provisioner") && i < s->n_attrs; i++) {
		if (!strncmp(s->attrs[i].name, "parameters.", 11))
			stb_without_effect(r, STB_E0458, s, s->attrs[i].name, s, "class_name", "the class exists already and says it");
	}
	if (stb_eattr(r->volume, "size"))
		return;
	d = stb_find(r, STB_E0458, r->volume, NULL, s, NULL, "volume `%s` claims no size of storage kubernetes `%s`", r->volume->block->name,
		s->block->name);
	if (d)
		stb_diag_help(r->x->sink, d, "write size = ...: a claim asks for an amount");
}

static void attribute_of_class(struct stb_rules_run *r)
{
	const struct stb_eattr *discard = stb_eattr(r->volume, "discard"), *modes = stb_eattr(r->volume, "access_modes");
	const char *type = class_type(r);
	bool shared = false;
	struct stb_diag *d;

	if (stb_eattr_true(r->volume, "discard") && !stb_is_block_class(r->storage) && strcmp(type, "external")) {
		d = stb_find(r, STB_E0460, r->volume, discard, r->storage, NULL, "`%s` cannot be had on %s `%s`, which is no block device",
			stb_attr_text(r, discard), type, r->storage->block->name);
		if (d)
			stb_diag_label(r->x->sink, d, r->storage->block->span, "the class is here");
	}
	for (uint32_t i = 0; modes && i < modes->val.n_items; i++)
		shared = shared || strncmp(modes->val.items[i].str, "ReadWriteOnce", strlen("ReadWriteOnce"));
	/* Elsewhere a volume is mounted once, for reading and writing: saying so is no contradiction. */
	if (!shared || !strcmp(type, "kubernetes") || !strcmp(type, "external"))
		return;
	d = stb_find(r, STB_E0460, r->volume, modes, r->storage, NULL, "`access_modes` says how a Kubernetes claim is mounted, and `%s` is of type %s",
		r->storage->block->name, type);
	if (d)
		stb_diag_label(r->x->sink, d, r->storage->block->span, "the class is here");
}

static void consent(struct stb_rules_run *r)
{
	struct stb_diag *d;

	if (!stb_is_existing_device(r->storage) || stb_eattr(r->storage, "erase"))
		return;
	d = stb_find(r, STB_N0477, r->storage, NULL, NULL, NULL, "storage %s `%s` has no `erase`: a run refuses to write to it", class_type(r),
		r->storage->block->name);
	if (d)
		stb_diag_help(r->x->sink, d, "erase = \"...\" with the identity of what may be overwritten is consent");
}

typedef void look_fn(struct stb_rules_run *r);

static look_fn *const table[] = {
#define LOOK_IO(look)
#define LOOK_OLTP(look)
#define LOOK_VOLUME(look) look,
#define LOOK_MIX(look)
#define LOOK_SERVER(look)
#define LOOK_DATABASE(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)
#include "compiler/rules.def"
#undef STB_RULE
};

void stb_rules_look_volume(struct stb_rules_run *r)
{
	for (size_t i = 0; i < STB_LEN(table); i++)
		table[i](r);
}
