/*
 * config.c - reads and checks the attributes of an io workload.
 *
 * The compiler has checked most of this already; a plan may also be loaded from a file, so nothing here is an assertion.
 */
#include "runtime/io/config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void stb_io_config_blame(const struct stb_io_config *c, const char *attr, struct stb_err *err)
{
	const struct stb_plan_attr *a = stb_plan_attr(c->block, attr);

	if (a && a->span != STB_NONE)
		err->span = a->span + 1;
	else if (c->block->span != STB_NONE)
		err->span = c->block->span + 1;
}

static int blame(const struct stb_io_config *c, const char *attr, struct stb_err *err)
{
	stb_io_config_blame(c, attr, err);
	return -1;
}

const char *stb_io_filename_fault(const char *name)
{
	const char *p = name;

	if (!*name)
		return "it is empty";
	if (*name == '/')
		return "it is absolute";
	if (strlen(name) > 1024)
		return "it is longer than 1024 bytes";
	for (;;) {
		const size_t n = strcspn(p, "/");

		if (n == 0)
			return "it has an empty component";
		if (n > 200)
			return "it has a component of more than 200 bytes";
		if (n == 1 && p[0] == '.')
			return "it has a component `.`";
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return "it climbs out with `..`";
		for (size_t i = 0; i < n; i++) {
			if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
				return "it has a control character";
		}
		if (!p[n])
			return NULL;
		p += n + 1;
	}
}

static int read_direction(struct stb_io_config *c, const char *rw, double mix, struct stb_err *err)
{
	const bool random = !strncmp(rw, "rand", 4);
	const char *dir = random ? rw + 4 : rw;

	c->random = random;
	c->reads = !strcmp(dir, "read") || !strcmp(dir, "rw");
	c->writes = !strcmp(dir, "write") || !strcmp(dir, "rw");
	if (!c->reads && !c->writes) {
		stb_err_set(err, 0, "workload `%s` asks for rw = %s, which is none of read, write, rw, randread, randwrite, randrw",
			c->block->name, rw);
		return blame(c, "rw", err);
	}
	if (!c->writes)
		c->read_below = STB_IO_ALWAYS;
	else if (!c->reads)
		c->read_below = 0;
	else if (mix < 0 || mix > 1) {
		stb_err_set(err, 0, "workload `%s` asks for a rwmixread outside 0%% to 100%%", c->block->name);
		return blame(c, "rwmixread", err);
	} else {
		c->read_below = (uint64_t)(mix * (double)STB_IO_ALWAYS);
	}
	return 0;
}

static int check_sizes(struct stb_io_config *c, uint64_t bs, struct stb_err *err)
{
	if (bs == 0 || bs > STB_IO_MAX_BS) {
		stb_err_set(err, 0, "workload `%s` asks for bs = %llu bytes; from 1 B to 1 GiB are possible", c->block->name,
			(unsigned long long)bs);
		return blame(c, "bs", err);
	}
	c->bs_bytes = (uint32_t)bs;
	if (c->size_bytes < bs || c->size_bytes > INT64_MAX) {
		stb_err_set(err, 0, "workload `%s` has a size of %llu bytes, less than one block of %llu bytes", c->block->name,
			(unsigned long long)c->size_bytes, (unsigned long long)bs);
		if (c->size_bytes > INT64_MAX)
			stb_err_set(err, 0, "workload `%s` has a size beyond 2^63 bytes", c->block->name);
		stb_err_remedy(err, "make size a multiple of bs");
		return blame(c, "size", err);
	}
	c->n_blocks = c->size_bytes / bs;
	if (c->direct && bs % 512) {
		stb_err_set(err, 0, "workload `%s` asks for direct I/O with bs = %llu bytes, which is no multiple of 512", c->block->name,
			(unsigned long long)bs);
		stb_err_remedy(err, "use a multiple of 512 B, or direct = false");
		return blame(c, "bs", err);
	}
	return 0;
}

static int check_workers(struct stb_io_config *c, uint64_t depth, uint64_t batch, uint64_t jobs, struct stb_err *err)
{
	const uint64_t have = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	uint64_t need;

	if (depth == 0 || depth > c->engine->max_depth) {
		stb_err_set(err, 0, "workload `%s` asks for iodepth = %llu; engine `%s` can have 1 to %u", c->block->name,
			(unsigned long long)depth, c->engine->name, c->engine->max_depth);
		stb_err_remedy(err, c->engine->sync ? "use ioengine = io_uring or libaio, or iodepth = 1" : "lower iodepth");
		return blame(c, "iodepth", err);
	}
	if (jobs == 0 || jobs > STB_IO_MAX_JOBS) {
		stb_err_set(err, 0, "workload `%s` asks for numjobs = %llu; 1 to %d are possible", c->block->name, (unsigned long long)jobs,
			STB_IO_MAX_JOBS);
		return blame(c, "numjobs", err);
	}
	if (batch == 0 || batch > depth) {
		stb_err_set(err, 0, "workload `%s` asks for iodepth_batch = %llu; with iodepth = %llu it can be 1 to %llu", c->block->name,
			(unsigned long long)batch, (unsigned long long)depth, (unsigned long long)depth);
		return blame(c, "iodepth_batch", err);
	}
	c->depth = (uint32_t)depth;
	c->batch = (uint32_t)batch;
	c->jobs = (uint32_t)jobs;
	need = jobs * depth * c->bs_bytes; /* at most 2^12 * 2^12 * 2^30 */
	if (need > have) {
		stb_err_set(err, 0, "workload `%s` needs %llu MiB for buffers (numjobs x iodepth x bs), and half of the memory is %llu MiB",
			c->block->name, (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
		stb_err_remedy(err, "lower numjobs, iodepth or bs");
		return blame(c, "iodepth", err);
	}
	return 0;
}

int stb_io_config_read(struct stb_io_config *c, const struct stb_plan_block *block, struct stb_err *err)
{
	struct stb_reader r;
	const char *rw, *engine, *fault, *sync;
	double mix;
	uint64_t bs, depth, batch, jobs;

	*c = (struct stb_io_config){ .block = block };
	stb_reader_init(&r, block);
	stb_read_skip(&r, "volume"); /* exec binds it: stb_io_setup.dir or .device */
	c->filename = stb_read_str(&r, "filename");
	c->size_bytes = stb_read_u64(&r, "size");
	rw = stb_read_str(&r, "rw");
	mix = stb_read_double_or(&r, "rwmixread", 0.5);
	if (stb_plan_attr(block, "bs") && stb_plan_attr(block, "bs")->val.type == STB_V_LIST) {
		stb_err_set(err, 0, "workload `%s` draws its blocks from several sizes, which this version of stb does not do", block->name);
		return blame(c, "bs", err);
	}
	bs = stb_read_u64(&r, "bs");
	engine = stb_read_str(&r, "ioengine");
	depth = stb_read_u64(&r, "iodepth");
	batch = stb_read_u64_or(&r, "iodepth_batch", 1);
	jobs = stb_read_u64(&r, "numjobs");
	c->shared_file = stb_read_bool(&r, "shared_file");
	c->direct = stb_read_bool(&r, "direct");
	c->fsync_every = stb_read_u64(&r, "fsync");
	c->fdatasync_every = stb_read_u64(&r, "fdatasync");
	c->end_fsync = stb_read_bool(&r, "end_fsync");
	c->runtime_ns = stb_read_u64_or(&r, "runtime", 0);
	c->time_based = stb_read_bool(&r, "time_based");
	c->ramp_ns = stb_read_u64(&r, "ramp_time");
	c->randrepeat = stb_read_bool(&r, "randrepeat");
	c->norandommap = stb_read_bool(&r, "norandommap");
	c->invalidate = stb_read_bool(&r, "invalidate");
	c->fallocate = !strcmp(stb_read_str(&r, "fallocate"), "native");
	c->error_limit = stb_read_u64(&r, "error_limit");
	c->loops = stb_read_u64_or(&r, "loops", 1);
	sync = stb_read_str_or(&r, "sync", "none");
	c->open_flags = !strcmp(sync, "sync") ? O_SYNC : !strcmp(sync, "dsync") ? O_DSYNC : 0;
	if (stb_read_has(&r, "prepare")) {
		const struct stb_val *fills = stb_read_list(&r, "prepare");

		if (fills && fills->n_items) {
			stb_err_set(err, 0, "workload `%s` is prepared by others, which this version of stb does not run", block->name);
			return blame(c, "prepare", err);
		}
		c->known_filled = true;
	}
	if (stb_reader_done(&r, err))
		return -1;

	fault = stb_io_filename_fault(c->filename);
	if (fault) {
		stb_err_set(err, 0, "workload `%s` cannot use filename `%s`: %s", block->name, c->filename, fault);
		stb_err_remedy(err, "name a file inside the volume, such as `stb.data`");
		return blame(c, "filename", err);
	}
	c->engine = stb_io_caps_find(engine);
	if (!c->engine) {
		stb_err_set(err, 0, "workload `%s` asks for ioengine = %s, which there is not", block->name, engine);
		return blame(c, "ioengine", err);
	}
	if (!c->loops || c->loops > 1000000) {
		stb_err_set(err, 0, "workload `%s` asks for loops = %llu; 1 to 1000000 are possible", block->name, (unsigned long long)c->loops);
		return blame(c, "loops", err);
	}
	if (c->time_based && !c->runtime_ns) {
		stb_err_set(err, 0, "workload `%s` is time_based without a runtime", block->name);
		stb_err_remedy(err, "state runtime, such as 30s");
		return blame(c, "time_based", err);
	}
	if (c->runtime_ns > INT64_MAX / 4 || c->ramp_ns > INT64_MAX / 4) {
		stb_err_set(err, 0, "workload `%s` asks for more than 70 years", block->name);
		return blame(c, "runtime", err);
	}
	if (read_direction(c, rw, mix, err) || check_sizes(c, bs, err))
		return -1;
	return check_workers(c, depth, batch, jobs, err);
}
