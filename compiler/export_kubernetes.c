/*
 * export_kubernetes.c - storage classes and claims of cells as Kubernetes manifests (YAML, one document each).
 *
 * A class with a provisioner becomes a StorageClass; one that has only a name is said to exist in the cluster, and nothing is written for it.
 * Each volume on such a class becomes a PersistentVolumeClaim VOLUME-CLASS. File system and mount options are properties of a class there,
 * not of a claim, so volumes that differ in them cannot share one.
 */
#include "compiler/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	SUBDOMAIN_MAX = 253, /* RFC 1123, as Kubernetes takes it */
	LABEL_MAX = 63,
};

static const char parameters[] = "parameters.", fstype[] = "csi.storage.k8s.io/fstype";

struct claim { /* a volume on a class */
	struct stb_export *e;
	const struct stb_plan_block *volume, *storage;
};

/* --- YAML ---------------------------------------------------------------------------------------------------------------------------- */

/* What every reader takes for a string without quotes: no number, boolean, null, date, and no sign with a meaning. */
static bool is_plain(const char *s)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf" };

	if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
		return false;
	if (s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")])
		return false;
	for (size_t i = 0; i < STB_LEN(words); i++)
		if (!strcasecmp(s, words[i]))
			return false;
	return true;
}

static void put_string(struct stb_buf *b, const char *s)
{
	if (is_plain(s)) {
		stb_buf_adds(b, s);
		return;
	}
	stb_buf_addc(b, '"');
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			stb_buf_printf(b, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			stb_buf_printf(b, "\\x%02x", c);
		else
			stb_buf_addc(b, *s);
	}
	stb_buf_addc(b, '"');
}

static void put_pair(struct stb_buf *b, unsigned indent, const char *key, const char *value)
{
	stb_buf_fill(b, ' ', indent);
	put_string(b, key);
	stb_buf_adds(b, ": ");
	put_string(b, value);
	stb_buf_addc(b, '\n');
}

/* --- names and quantities ------------------------------------------------------------------------------------------------------------ */

/* Any text as labels of RFC 1123 joined by dots: small letters, digits and dashes that stand between others, at most 63 bytes each. */
static const char *subdomain(struct stb_arena *a, const char *text)
{
	char *name = stb_arena_alloc(a, strlen(text) + 2);
	size_t n = 0, label = 0;

	for (; *text && n < SUBDOMAIN_MAX; text++) {
		const char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
		const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (c == '.') {
			while (label && name[n - 1] == '-')
				n--, label--;
			if (label)
				name[n++] = '.';
			label = 0;
		} else if (label < LABEL_MAX && (good || (label && name[n - 1] != '-'))) {
			name[n++] = good ? c : '-';
			label++;
		}
	}
	while (n && (name[n - 1] == '-' || name[n - 1] == '.'))
		n--;
	if (!n)
		name[n++] = 'x';
	name[n] = '\0';
	return name;
}

static const char *class_name(const struct claim *c)
{
	return stb_export_str(c->storage, "class_name", NULL) ? stb_export_str(c->storage, "class_name", NULL)
							      : subdomain(&c->e->arena, c->storage->name);
}

static const char *quantity(struct stb_arena *a, uint64_t bytes)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti" };
	size_t u = 0;

	while (bytes && bytes % 1024 == 0 && u + 1 < STB_LEN(units)) {
		bytes /= 1024;
		u++;
	}
	return stb_arena_printf(a, "%" PRIu64 "%s", bytes, units[u]);
}

/* --- what a volume and its class say together ------------------------------------------------------------------------------------------- */

/* What the spec says of the volume or of its class (a volume of the plan states what it inherits); NULL where only a default holds. */
static const struct stb_val *stated(const struct stb_plan_block *volume, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(volume, name);

	return a && a->val.type != STB_V_NONE && a->origin != STB_FROM_DEFAULT ? &a->val : NULL;
}

static bool same(const struct stb_val *a, const struct stb_val *b)
{
	return a == b || (a && b && stb_val_equal(a, b));
}

static bool is_raw(const struct stb_plan_block *volume)
{
	return !strcmp(stb_export_str(volume, "filesystem", ""), "none");
}

/* Another volume of the plan on the same class that wants the class to be different; NULL: there is none. */
static const struct stb_plan_block *differs(const struct claim *c, const char *name)
{
	const struct stb_plan *p = c->e->plan;
	const struct stb_val *mine = stated(c->volume, name);

	for (uint32_t g = 0; g < p->n_groups; g++) {
		for (uint32_t m = 0; m < p->groups[g].n_mounts; m++) {
			const struct stb_plan_mount *mount = &p->groups[g].mounts[m];
			const struct stb_plan_block *storage = &p->blocks[mount->storage], *volume = &p->blocks[mount->volume];
			const struct stb_val *other = stated(volume, name);

			if (!strcmp(storage->type, "kubernetes") && !strcmp(storage->name, c->storage->name) && !same(mine, other) &&
				!is_raw(c->volume) && !is_raw(volume))
				return volume;
		}
	}
	return NULL;
}

static void judge_class(const struct claim *c, bool made)
{
	static const char *const of_class[] = { "filesystem", "mount_options" };

	for (size_t i = 0; i < STB_LEN(of_class); i++) {
		const char *name = of_class[i];
		const struct stb_val *v = stated(c->volume, name);
		const struct stb_plan_block *other = made ? differs(c, name) : NULL;

		if (!made && v && !is_raw(c->volume))
			stb_export_refuse(c->e, c->volume, name, "class %s exists in the cluster and has its own; give the storage a provisioner to make one",
				class_name(c));
		else if (other)
			stb_export_refuse(c->e, c->volume, name, "it belongs to the class, which volume `%s` wants different; give each a storage of its own",
				other->name);
	}
	if (stated(c->volume, "mkfs_options"))
		stb_export_refuse(c->e, c->volume, "mkfs_options", "what makes the file system is the provisioner's own; see its parameters");
	for (uint32_t i = 0; i < c->storage->n_attrs; i++)
		if (!strncmp(c->storage->attrs[i].name, "limits.", 7))
			stb_export_refuse(c->e, c->storage, c->storage->attrs[i].name, "a class throttles nothing; see the provisioner's parameters");
	if (stb_export_val(c->storage, "size"))
		stb_export_leave(c->e, c->storage, "size", "a class has no capacity of its own");
}

/* --- documents ----------------------------------------------------------------------------------------------------------------------- */

static void put_head(const struct claim *c, const char *api, const char *kind, const char *name)
{
	struct stb_buf *b = &c->e->out;

	stb_buf_printf(b, "apiVersion: %s\nkind: %s\nmetadata:\n", api, kind);
	put_pair(b, 2, "name", name);
}

/* A parameter is text whatever it looks like. */
static const char *parameter_text(struct stb_arena *a, const struct stb_val *v)
{
	if (v->type == STB_V_BOOL)
		return v->num ? "ON" : "OFF";
	if (v->type == STB_V_BYTES && v->den == 1)
		return stb_arena_printf(a, "%" PRId64, v->num);
	return stb_val_label(a, v);
}

static void put_parameters(const struct claim *c)
{
	const struct stb_val *filesystem = stated(c->volume, "filesystem");
	struct stb_buf *b = &c->e->out;
	bool begun = false, has_fstype = false;

	for (uint32_t i = 0; i < c->storage->n_attrs; i++) {
		const struct stb_plan_attr *a = &c->storage->attrs[i];

		if (strncmp(a->name, parameters, sizeof(parameters) - 1) != 0)
			continue;
		if (!begun)
			stb_buf_adds(b, "parameters:\n");
		begun = true;
		has_fstype |= !strcmp(a->name + sizeof(parameters) - 1, fstype);
		put_pair(b, 2, a->name + sizeof(parameters) - 1, parameter_text(&c->e->arena, &a->val));
	}
	if (!filesystem || is_raw(c->volume) || has_fstype)
		return;
	stb_buf_adds(b, begun ? "" : "parameters:\n");
	put_pair(b, 2, fstype, filesystem->str);
}

static void write_class(const struct claim *c, const char *provisioner)
{
	const struct stb_val *options = stated(c->volume, "mount_options");
	struct stb_buf *b = &c->e->out;

	judge_class(c, true);
	put_head(c, "storage.k8s.io/v1", "StorageClass", class_name(c));
	put_pair(b, 0, "provisioner", provisioner);
	put_parameters(c);
	if (options && options->n_items) {
		stb_buf_adds(b, "mountOptions:\n");
		for (uint32_t i = 0; i < options->n_items; i++) {
			stb_buf_adds(b, "  - ");
			put_string(b, options->items[i].str);
			stb_buf_addc(b, '\n');
		}
	}
	put_pair(b, 0, "reclaimPolicy", stb_export_str(c->storage, "reclaim_policy", "Delete"));
	put_pair(b, 0, "volumeBindingMode", stb_export_str(c->storage, "volume_binding_mode", "Immediate"));
	stb_buf_printf(b, "allowVolumeExpansion: %s\n", stb_export_true(c->storage, "allow_volume_expansion") ? "true" : "false");
	stb_export_end(c->e);
}

static void put_access_modes(const struct claim *c)
{
	const struct stb_val *modes = stb_export_val(c->volume, "access_modes");
	struct stb_buf *b = &c->e->out;

	stb_buf_adds(b, "  accessModes:\n");
	if (!modes || !modes->n_items)
		stb_buf_adds(b, "    - ReadWriteOnce\n");
	for (uint32_t i = 0; modes && i < modes->n_items; i++)
		stb_buf_printf(b, "    - %s\n", modes->items[i].str);
}

static void write_claim(const struct claim *c)
{
	const uint64_t size = stb_export_u64(c->volume, "size", 0); /* a rule demands it */
	struct stb_arena *a = &c->e->arena;
	struct stb_buf *b = &c->e->out;

	if (stb_export_true(c->volume, "discard"))
		stb_export_refuse(c->e, c->volume, "discard", "a claim has no word for it");
	put_head(c, "v1", "PersistentVolumeClaim", subdomain(a, stb_arena_printf(a, "%s-%s", c->volume->name, class_name(c))));
	stb_buf_adds(b, "spec:\n");
	put_access_modes(c);
	put_pair(b, 2, "storageClassName", class_name(c));
	put_pair(b, 2, "volumeMode", is_raw(c->volume) ? "Block" : "Filesystem");
	stb_buf_printf(b, "  resources:\n    requests:\n      storage: %s\n", quantity(a, size));
	stb_export_end(c->e);
}

static void write_mount(struct stb_export *e, const struct stb_plan_mount *m)
{
	const struct claim c = { e, &e->plan->blocks[m->volume], &e->plan->blocks[m->storage] };
	const char *provisioner = stb_export_str(c.storage, "provisioner", NULL), *name = class_name(&c);

	if (strcmp(c.storage->type, "kubernetes") != 0)
		return;
	if (strcmp(name, subdomain(&e->arena, name)) != 0)
		stb_export_refuse(e, c.storage, "class_name", "no name for an object: small letters, digits, `-` and `.`, as in `%s`", subdomain(&e->arena, name));
	if (provisioner) {
		write_class(&c, provisioner);
	} else {
		stb_export_comment(e, "Storage class %s exists in the cluster.", name);
		judge_class(&c, false);
	}
	write_claim(&c);
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

static const struct stb_plan_group *group_of(const struct stb_export *e)
{
	return &e->plan->groups[e->plan->cells[e->cell].group];
}

bool stb_export_kubernetes_applies(const struct stb_export *e)
{
	const struct stb_plan_group *g = group_of(e);

	for (uint32_t i = 0; i < g->n_mounts; i++)
		if (!strcmp(e->plan->blocks[g->mounts[i].storage].type, "kubernetes"))
			return true;
	return false;
}

void stb_export_kubernetes(struct stb_export *e)
{
	const struct stb_plan_group *g = group_of(e);

	for (uint32_t i = 0; i < g->n_mounts; i++)
		write_mount(e, &g->mounts[i]);
}
