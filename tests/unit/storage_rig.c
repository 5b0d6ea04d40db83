/* storage_rig.c - see storage_rig.h. */
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void announce(void *ctx, int made, const char *kind, const char *object)
{
	struct rig *r = ctx;

	if (made) {
		cr_assert_lt(r->n_left, 16);
		snprintf(r->left[r->n_left][0], 300, "%s", kind);
		snprintf(r->left[r->n_left++][1], 300, "%s", object);
		return;
	}
	for (int i = r->n_left - 1; i >= 0; i--) {
		if (!strcmp(r->left[i][0], kind) && !strcmp(r->left[i][1], object)) {
			memmove(&r->left[i], &r->left[i + 1], sizeof(r->left[0]) * (size_t)(r->n_left - i - 1));
			r->n_left--;
			return;
		}
	}
	cr_assert_fail("%s %s was withdrawn and never announced", kind, object);
}

void rig_init(struct rig *r, const char *type)
{
	memset(r, 0, sizeof(*r));
	test_scratch_make(r->dir, sizeof(r->dir), false);
	test_block_init(&r->storage, "storage", type, "disk");
	test_block_init(&r->volume, "volume", "", "vol");
	test_set(&r->volume, "storage", stb_val_str(STB_V_REF, "disk"));
	if (!strcmp(type, "directory"))
		test_string(&r->storage, "path", r->dir);
	else
		test_bytes(&r->storage, "size", 64 * MIB);
	r->mount = (struct stb_plan_mount){ .role = "data", .volume = 1, .storage = 0 };
}

const struct stb_storage_env *rig_env(struct rig *r)
{
	r->blocks[0] = r->storage.block;
	r->blocks[1] = r->volume.block;
	r->blocks[0].attrs = r->storage.attrs;
	r->blocks[1].attrs = r->volume.attrs;
	r->plan.blocks = r->blocks;
	r->plan.n_blocks = 2;
	r->env = (struct stb_storage_env){ .plan = &r->plan, .run_dir = r->dir, .run_mark = TEST_MARK, .ctx = r, .leftover = announce };
	return &r->env;
}

void rig_fini(struct rig *r)
{
	test_scratch_remove(r->dir);
}

struct stb_volume *rig_provision(struct rig *r)
{
	struct stb_volume *v = NULL;
	struct stb_err err;

	stb_err_clear(&err);
	cr_assert_eq(stb_volume_preflight(rig_env(r), &r->mount, 1 * MIB, &err), 0, "%s", err.what);
	cr_assert_eq(stb_volume_provision(&v, rig_env(r), &r->mount, &err), 0, "%s", err.what);
	return v;
}

void rig_remove(struct rig *r, struct stb_volume *v)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_expect_eq(stb_volume_remove(v, &err), 0, "%s", err.what);
	cr_expect_eq(r->n_left, 0, "%s %s is left", r->left[0][0], r->left[0][1]);
}

bool rig_file_holds(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text);
	if (f)
		fclose(f);
	return found;
}

void rig_left_nothing(const char *dir)
{
	char backing[4200], device[32];

	cr_expect_not(rig_file_holds("/proc/self/mounts", dir), "something is mounted below %s", dir);
	for (int i = 0; i < 64; i++) {
		snprintf(device, sizeof(device), "/dev/loop%d", i);
		if (stb_loop_backing(device, backing, sizeof(backing)))
			cr_expect_null(strstr(backing, dir), "%s serves %s", device, backing);
	}
}

int rig_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	cr_assert_not_null(d, "%s", dir);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

void rig_write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	cr_assert_not_null(f, "%s: %s", path, strerror(errno));
	fputs(text, f);
	fclose(f);
}

void rig_need_loop(void)
{
	struct stb_err err;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	stb_err_clear(&err);
	if (stb_loop_check(&err))
		cr_skip_test("needs loop devices");
}

void rig_preflight_says(struct rig *r, uint64_t need, const char *want)
{
	struct stb_err err;

	stb_err_clear(&err);
	cr_expect_eq(stb_volume_preflight(rig_env(r), &r->mount, need, &err), -1, "%s", want);
	cr_expect_not_null(strstr(err.what, want), "%s, not: %s", err.what, want);
}
