/*
 * preflight.c - what can be known of an io workload before anything is provisioned.
 */
#include "runtime/io/io.h"

#include "runtime/io/target.h"

#include <fcntl.h>
#include <unistd.h>

uint32_t stb_io_workers(const struct stb_plan_block *workload)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, "numjobs");
	const uint64_t jobs = a && a->val.den == 1 && a->val.num > 0 ? (uint64_t)a->val.num : 1;

	return (uint32_t)STB_MIN(jobs, (uint64_t)STB_IO_MAX_JOBS);
}

uint64_t stb_io_greatest_bs_of(const struct stb_plan_block *workload)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, "bs");
	uint64_t most = a && a->val.num > 0 && a->val.den == 1 ? (uint64_t)a->val.num : 1;

	for (uint32_t i = 0; a && i < a->val.n_items; i++) {
		if (a->val.items[i].den == 1 && a->val.items[i].num > 0)
			most = STB_MAX(most, (uint64_t)a->val.items[i].num);
	}
	return most;
}

int stb_io_preflight(const struct stb_plan_block *workload, struct stb_err *err)
{
	struct stb_io_config c;

	if (stb_io_config_read(&c, workload, err))
		return -1;
	if (c.engine->ops->probe(c.depth, c.jobs, err)) {
		stb_io_config_blame(&c, "ioengine", err);
		return -1;
	}
	if (c.ring.fixedbufs == STB_IO_YES && stb_io_uring_check_locked(stb_io_config_stride(&c) * c.depth * c.jobs, err)) {
		stb_io_config_blame(&c, "fixedbufs", err);
		return -1;
	}
	return 0;
}

static bool asks(const struct stb_plan_block *workload, const char *attr)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, attr);

	return a && a->val.type == STB_V_BOOL && a->val.num;
}

unsigned stb_io_asks_place(const struct stb_plan_block *workload)
{
	return (asks(workload, "direct") ? STB_IO_PLACE_DIRECT : 0) | (asks(workload, "hipri") ? STB_IO_PLACE_POLLS : 0);
}

int stb_io_preflight_place(const struct stb_plan_block *workload, enum stb_io_place what, const char *dir, struct stb_err *err)
{
	struct stb_io_config c;
	int at, ret = 0;

	if (stb_io_config_read(&c, workload, err))
		return -1;
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return 0; /* its volume says so */
	switch (what) {
	case STB_IO_PLACE_DIRECT:
		ret = stb_io_target_probe_direct(&c, dir, at, err);
		break;
	case STB_IO_PLACE_POLLS:
		ret = stb_io_uring_check_polling(at, "", err);
		if (ret)
			stb_io_config_blame(&c, "hipri", err);
		break;
	}
	close(at);
	return ret;
}

int stb_io_refuse_polls(const struct stb_plan_block *workload, const struct stb_plan_block *storage, struct stb_err *err)
{
	const struct stb_plan_attr *a = stb_plan_attr(workload, "hipri");

	stb_err_set(err, 0, "cannot poll for completions (hipri): storage `%s` is of type %s, which has no poll queues", storage->name, storage->type);
	stb_err_remedy(err, "set hipri = false, or put the volume on a device that can be polled, such as NVMe, with a directory class");
	err->span = a && a->span != STB_NONE ? a->span + 1 : 0;
	return -1;
}
