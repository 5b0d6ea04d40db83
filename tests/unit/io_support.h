/*
 * io_support.h - what the io and storage tests share: plan blocks made by hand, a scratch directory, an io workload in one call.
 */
#ifndef STB_TEST_IO_SUPPORT_H
#define STB_TEST_IO_SUPPORT_H

#include "runtime/io/io.h"
#include "runtime/plan/plan.h"

struct test_block {
	struct stb_plan_block block;
	struct stb_plan_attr attrs[40];
};

static inline void test_set(struct test_block *t, const char *name, struct stb_val val)
{
	for (uint32_t i = 0; i < t->block.n_attrs; i++) {
		if (!__builtin_strcmp(t->attrs[i].name, name)) {
			t->attrs[i].val = val;
			return;
		}
	}
	t->attrs[t->block.n_attrs++] = (struct stb_plan_attr){ .name = name, .val = val, .span = STB_NONE };
}

#define test_bytes(t, name, n) test_set((t), (name), stb_val_num(STB_V_BYTES, (int64_t)(n), 1))
#define test_count(t, name, n) test_set((t), (name), stb_val_num(STB_V_COUNT, (int64_t)(n), 1))
#define test_ns(t, name, n) test_set((t), (name), stb_val_num(STB_V_TIME, (int64_t)(n), 1))
#define test_bool(t, name, on) test_set((t), (name), stb_val_bool(on))
#define test_word(t, name, w) test_set((t), (name), stb_val_str(STB_V_WORD, (w)))
#define test_string(t, name, s) test_set((t), (name), stb_val_str(STB_V_STRING, (s)))

static inline void test_block_init(struct test_block *t, const char *kind, const char *type, const char *name)
{
	*t = (struct test_block){ .block = { .kind = kind, .type = type, .name = name, .span = STB_NONE } };
	t->block.attrs = t->attrs;
}

/* A workload io with the schema's defaults: randread, 4 KiB, 1 MiB, psync. */
static inline void test_io_init(struct test_block *t)
{
	test_block_init(t, "workload", "io", "w");
	test_set(t, "volume", stb_val_str(STB_V_REF, "v"));
	test_string(t, "filename", "stb.data");
	test_bytes(t, "size", 1 << 20);
	test_word(t, "rw", "randread");
	test_set(t, "rwmixread", stb_val_num(STB_V_SHARE, 1, 2));
	test_bytes(t, "bs", 4096);
	test_word(t, "ioengine", "psync");
	test_count(t, "iodepth", 1);
	test_count(t, "numjobs", 1);
	test_bool(t, "shared_file", false);
	test_bool(t, "direct", false);
	test_count(t, "fsync", 0);
	test_count(t, "fdatasync", 0);
	test_bool(t, "end_fsync", false);
	test_bool(t, "time_based", false);
	test_ns(t, "ramp_time", 0);
	test_bool(t, "randrepeat", true);
	test_bool(t, "norandommap", false);
	test_bool(t, "invalidate", true);
	test_word(t, "fallocate", "native");
	test_count(t, "error_limit", 0);
}

/* Runs the workload in dir (NULL: on device). The phase is freed with free(). */
struct stb_phase *test_io_run(const struct test_block *t, const char *dir, const char *device, int *ret);

/* The run mark of volumes in tests. */
#define TEST_MARK "unit-20261130T000000Z"

/* A fresh directory, on /dev/shm when in_memory, else in TMPDIR or /var/tmp; removed by test_scratch_remove(), or by the next test after a
 * SIGKILL. */
void test_scratch_make(char *path, size_t size, bool in_memory);
void test_scratch_remove(const char *path);

#endif
