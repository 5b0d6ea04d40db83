/*
 * storage_rig.h - one storage class, one volume on it, and a scratch directory: for the tests of runtime/storage.
 */
#ifndef STB_TEST_STORAGE_RIG_H
#define STB_TEST_STORAGE_RIG_H

#include "runtime/storage/volume.h"
#include "tests/unit/io_support.h"

#define MIB (1ull << 20)

/* A plan of one storage class and one volume, with what was announced and not withdrawn. */
struct rig {
	char dir[128];
	struct test_block storage, volume;
	struct stb_plan_block blocks[2];
	struct stb_plan plan;
	struct stb_plan_mount mount;
	struct stb_storage_env env;
	int n_left;
	char left[16][2][300]; /* kind, object */
};

/* type: directory, tmpfs, loop, external. The test may set attributes before the volume is provisioned. */
void rig_init(struct rig *r, const char *type);
void rig_fini(struct rig *r);
/* Of the blocks as they are now. */
const struct stb_storage_env *rig_env(struct rig *r);
/* Preflight and provision, which must succeed; remove, after which nothing that was announced may be left. */
struct stb_volume *rig_provision(struct rig *r);
void rig_remove(struct rig *r, struct stb_volume *v);
/* Preflight refuses, and says so with these words. */
void rig_preflight_says(struct rig *r, uint64_t need, const char *want);

/* Skips the test where there is no root or no loop device. */
void rig_need_loop(void);
bool rig_file_holds(const char *path, const char *text);
/* Neither a mount nor a loop device below dir. */
void rig_left_nothing(const char *dir);
int rig_entries(const char *dir);
void rig_write_file(const char *dir, const char *name, const char *text);

#endif
