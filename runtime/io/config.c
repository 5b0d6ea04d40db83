/*
 * config.c - reads and checks the attributes of an io workload.
 *
 * The compiler has checked most of this already; a plan may also be loaded from a file, so nothing here is an assertion.
 */
#include "runtime/io/config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define STEADY_MAX_SAMPLES (7u * 24 * 3600)

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
	c->trims = !strcmp(rw, "trim");
	if (!c->reads && !c->writes && !c->trims) {
		stb_err_set(err, 0, "workload `%s` asks for rw = %s, which is none of read, write, rw, randread, randwrite, randrw, trim",
			c->block->name, rw);
		return blame(c, "rw", err);
	}
	if (c->trims && !c->engine->sync && !c->engine->ops->no_file) {
		stb_err_set(err, 0, "workload `%s` trims with engine `%s`; the kernel trims one range at a time", c->block->name, c->engine->name);
		stb_err_remedy(err, "use ioengine = psync");
		return blame(c, "ioengine", err);
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

/* bs and bs_percent into n_sizes, size_units, size_share and bs_bytes. */
static int read_sizes(struct stb_io_config *c, struct stb_reader *r, struct stb_err *err)
{
	const struct stb_plan_attr *a = stb_plan_attr(c->block, "bs");
	const bool several = a && a->val.type == STB_V_LIST;
	const struct stb_val *bs = several ? stb_read_list(r, "bs", STB_V_BYTES) : NULL, *shares = stb_read_list(r, "bs_percent", STB_V_SHARE);
	const uint64_t one = several ? 0 : stb_read_u64(r, "bs");
	uint64_t bytes[STB_SIZES], least, most;
	double sum = 0;

	if (stb_reader_fault(r, err))
		return -1;
	c->n_sizes = several ? bs->n_items : 1;
	if (several && (!shares || shares->n_items != bs->n_items || bs->n_items < 1 || bs->n_items > STB_SIZES)) {
		stb_err_set(err, 0, "workload `%s` has %u sizes in bs and %u shares in bs_percent; as many of both, 1 to %d, are possible",
			c->block->name, bs->n_items, shares ? shares->n_items : 0, STB_SIZES);
		return blame(c, "bs", err);
	}
	for (uint32_t i = 0; i < c->n_sizes; i++) {
		bytes[i] = !several ? one : bs->items[i].num > 0 && bs->items[i].den == 1 ? (uint64_t)bs->items[i].num : 0;
		c->size_share[i] = several ? stb_val_double(&shares->items[i]) : 1;
		sum += c->size_share[i];
		least = i ? STB_MIN(least, bytes[i]) : bytes[i];
		most = i ? STB_MAX(most, bytes[i]) : bytes[i];
		if (bytes[i] == 0 || bytes[i] > STB_IO_MAX_BS) {
			stb_err_set(err, 0, "workload `%s` asks for bs = %llu bytes; from 1 B to 1 GiB are possible", c->block->name,
				(unsigned long long)bytes[i]);
			return blame(c, "bs", err);
		}
	}
	if (sum < 1 - 1e-9 || sum > 1 + 1e-9) {
		stb_err_set(err, 0, "the shares in bs_percent of workload `%s` add up to %.4g%%", c->block->name, sum * 100);
		return blame(c, "bs_percent", err);
	}
	c->bs_bytes = (uint32_t)least;
	c->max_bs_bytes = (uint32_t)most;
	for (uint32_t i = 0; i < c->n_sizes; i++) {
		if (bytes[i] % least) {
			stb_err_set(err, 0, "workload `%s` has blocks of %llu bytes, which is no multiple of its least size, %llu", c->block->name,
				(unsigned long long)bytes[i], (unsigned long long)least);
			return blame(c, "bs", err);
		}
		c->size_units[i] = (uint32_t)(bytes[i] / least);
	}
	return 0;
}

/* Whether each block of a pass is touched exactly once in random order. */
static bool is_permuted(const struct stb_io_config *c)
{
	return c->random && !c->norandommap && c->skew.kind == STB_SKEW_NONE;
}

static int check_tiling(const struct stb_io_config *c, struct stb_err *err)
{
	for (uint32_t i = 0; i < c->n_sizes; i++) {
		if (c->max_bs_bytes / c->bs_bytes % c->size_units[i] == 0)
			continue;
		stb_err_set(err, 0, "workload `%s` cannot touch each block once with sizes of which %llu bytes do not divide %u", c->block->name,
			(unsigned long long)c->size_units[i] * c->bs_bytes, c->max_bs_bytes);
		stb_err_remedy(err, "use sizes that divide the greatest one, or norandommap = true");
		return blame(c, "bs", err);
	}
	if (c->size_bytes % c->max_bs_bytes == 0)
		return 0;
	stb_err_set(err, 0, "workload `%s` has a size of %llu bytes, which is no multiple of its greatest block, %u bytes", c->block->name,
		(unsigned long long)c->size_bytes, c->max_bs_bytes);
	stb_err_remedy(err, "make size a multiple of the greatest bs, or set norandommap = true");
	return blame(c, "size", err);
}

static int check_skew(const struct stb_io_config *c, struct stb_err *err)
{
	uint32_t zone;

	if (c->n_blocks > 1ull << 52) {
		stb_err_set(err, 0, "workload `%s` has %llu blocks, and random_distribution draws from up to 2^52", c->block->name,
			(unsigned long long)c->n_blocks);
		stb_err_remedy(err, "make bs larger or size smaller, or use random_distribution = random");
		return blame(c, "random_distribution", err);
	}
	if (stb_skew_fits(&c->skew, c->n_blocks, &zone))
		return 0;
	stb_err_set(err, 0, "zone %u of workload `%s` has no block of its own: it covers %.4g%% of %llu blocks", zone + 1, c->block->name,
		c->skew.region[zone] * 100, (unsigned long long)c->n_blocks);
	stb_err_remedy(err, "make size larger or bs smaller, or give the zone a greater share of the region");
	return blame(c, "random_distribution", err);
}

static int check_sizes(struct stb_io_config *c, struct stb_err *err)
{
	uint64_t end;

	if (c->size_bytes < c->max_bs_bytes || c->size_bytes > INT64_MAX) {
		stb_err_set(err, 0, "workload `%s` has a size of %llu bytes, less than one block of %u bytes", c->block->name,
			(unsigned long long)c->size_bytes, c->max_bs_bytes);
		if (c->size_bytes > INT64_MAX)
			stb_err_set(err, 0, "workload `%s` has a size beyond 2^63 bytes", c->block->name);
		stb_err_remedy(err, "make size a multiple of bs");
		return blame(c, "size", err);
	}
	c->n_blocks = c->size_bytes / c->bs_bytes;
	if (c->direct && c->bs_bytes % 512) {
		stb_err_set(err, 0, "workload `%s` asks for direct I/O with bs = %u bytes, which is no multiple of 512", c->block->name,
			c->bs_bytes);
		stb_err_remedy(err, "use a multiple of 512 B, or direct = false");
		return blame(c, "bs", err);
	}
	if (__builtin_add_overflow(c->offset_bytes, c->size_bytes, &end) || end > INT64_MAX || c->offset_bytes % c->bs_bytes) {
		stb_err_set(err, 0, "workload `%s` has an offset of %llu bytes, which is no multiple of bs, or beyond 2^63", c->block->name,
			(unsigned long long)c->offset_bytes);
		return blame(c, "offset", err);
	}
	if (c->skew.kind != STB_SKEW_NONE && check_skew(c, err))
		return -1;
	return c->n_sizes > 1 && is_permuted(c) ? check_tiling(c, err) : 0;
}

/* What makes a read-back meaningless; the compiler says it with the places in the spec. */
static int check_verify(const struct stb_io_config *c, struct stb_err *err)
{
	const char *why = NULL;

	if (c->verify == STB_DIGEST_NONE)
		return 0;
	if (!c->writes || c->reads)
		why = "it does not write each block that it covers";
	else if (c->engine->ops->no_file)
		why = "its engine moves no data";
	else if (c->shared_file && c->jobs > 1)
		why = "its jobs overwrite each other's blocks";
	else if (c->random && !is_permuted(c))
		why = "its blocks are overwritten in an order that nobody keeps";
	else if (c->error_limit)
		why = "after a failed write nobody knows what is in the block";
	else if (c->bs_bytes < STB_CONTENT_LEAST_BS)
		why = "its blocks are too small for a header";
	if (!why)
		return 0;
	stb_err_set(err, 0, "workload `%s` cannot be verified: %s", c->block->name, why);
	return blame(c, "verify", err);
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
	need = jobs * depth * c->max_bs_bytes; /* at most 2^12 * 2^12 * 2^30 */
	if (need > have) {
		stb_err_set(err, 0, "workload `%s` needs %llu MiB for buffers (numjobs x iodepth x bs), and half of the memory is %llu MiB",
			c->block->name, (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
		stb_err_remedy(err, "lower numjobs, iodepth or bs");
		return blame(c, "iodepth", err);
	}
	return 0;
}

/* How data is written, and whether it is read back. */
static int read_flags(struct stb_io_config *c, struct stb_reader *r, struct stb_err *err)
{
	const char *sync = stb_read_str_or(r, "sync", "none"), *verify = stb_read_str_or(r, "verify", "none");

	c->open_flags = !strcmp(sync, "sync") ? O_SYNC : !strcmp(sync, "dsync") ? O_DSYNC : 0;
	c->made = stb_read_has(r, "buffer_compress_percentage");
	c->compress = stb_read_double_or(r, "buffer_compress_percentage", 0);
	if (stb_read_has(r, "refill_buffers"))
		c->made |= stb_read_bool(r, "refill_buffers");
	if (stb_read_has(r, "verify_fatal"))
		c->verify_fatal = stb_read_bool(r, "verify_fatal");
	if (stb_reader_fault(r, err))
		return -1;
	if (!(c->compress >= 0 && c->compress <= 1)) {
		stb_err_set(err, 0, "workload `%s` asks for a buffer_compress_percentage outside 0%% to 100%%", c->block->name);
		return blame(c, "buffer_compress_percentage", err);
	}
	if (!stb_digest_find(verify, &c->verify)) {
		stb_err_set(err, 0, "workload `%s` asks for verify = %s, which is none of none, crc32c, md5, sha256", c->block->name, verify);
		return blame(c, "verify", err);
	}
	c->made |= c->verify != STB_DIGEST_NONE;
	return 0;
}

/* When I/Os start. rate_tolerance judges the result: exec/judge.c. */
static int read_load(struct stb_io_config *c, struct stb_reader *r, struct stb_err *err)
{
	const double iops = stb_read_double_or(r, "rate_iops", 0), bytes = stb_read_double_or(r, "rate", 0);

	c->poisson = !strcmp(stb_read_str_or(r, "rate_process", "linear"), "poisson");
	(void)stb_read_double_or(r, "rate_tolerance", 0);
	c->think_ns = stb_read_u64_or(r, "thinktime", 0);
	c->per_s = iops > 0 ? iops : bytes;
	c->per_s_bytes = iops == 0 && bytes > 0;
	if (stb_reader_fault(r, err))
		return -1;
	if (iops > 0 && bytes > 0) {
		stb_err_set(err, 0, "workload `%s` has two rates", c->block->name);
		return blame(c, "rate_iops", err);
	}
	if (c->per_s < 0 || (c->per_s > 0 && c->per_s < 0.001) || c->per_s > 0x1p50 || c->think_ns > INT64_MAX / 4) {
		stb_err_set(err, 0, "workload `%s` has a rate or a thinktime beyond what can be waited for", c->block->name);
		return blame(c, iops > 0 ? "rate_iops" : bytes > 0 ? "rate" : "thinktime", err);
	}
	return 0;
}

/* All of it, or nothing: the rules of compile see to that. */
static void read_steady(struct stb_io_config *c, struct stb_reader *r)
{
	static const char *const metrics[] = { [STB_STEADY_IOPS] = "iops", [STB_STEADY_BW] = "bw_bytes", [STB_STEADY_LAT] = "lat_mean" };
	const char *metric = stb_read_str_or(r, "steady_state.metric", "");
	const uint64_t window_ns = stb_read_u64_or(r, "steady_state.window", 0);
	struct stb_steady_ask *a = &c->steady;

	for (size_t i = STB_STEADY_IOPS; i < STB_LEN(metrics); i++) {
		if (!strcmp(metric, metrics[i]))
			a->metric = (enum stb_steady_metric)i;
	}
	a->slope = stb_read_has(r, "steady_state.slope");
	a->most = a->slope ? stb_read_double_or(r, "steady_state.slope", 0) : stb_read_double_or(r, "steady_state.deviation", 0);
	a->samples = (uint32_t)STB_MIN(window_ns / STB_STEADY_SAMPLE_NS, (uint64_t)UINT32_MAX);
	a->limit_ns = stb_read_u64_or(r, "steady_state.limit", 0);
}

static int check_steady(const struct stb_io_config *c, struct stb_err *err)
{
	const struct stb_steady_ask *a = &c->steady;

	if (a->metric == STB_STEADY_NONE && !a->samples && !a->limit_ns)
		return 0;
	if (a->metric != STB_STEADY_NONE && a->most > 0 && a->samples >= 2 && a->samples <= STEADY_MAX_SAMPLES && a->limit_ns < INT64_MAX / 4 &&
		a->limit_ns / STB_STEADY_SAMPLE_NS >= a->samples && c->time_based)
		return 0;
	stb_err_set(err, 0, "steady_state of workload `%s` needs a metric, a slope or a deviation, a window of 2 s to 7 d, a limit that is not shorter, and "
		"time_based", c->block->name);
	return blame(c, "steady_state.metric", err);
}

static enum stb_io_ask read_ask(struct stb_reader *r, const char *name)
{
	if (!stb_read_has(r, name))
		return STB_IO_IF_POSSIBLE;
	return stb_read_bool(r, name) ? STB_IO_YES : STB_IO_NO;
}

int stb_io_config_read(struct stb_io_config *c, const struct stb_plan_block *block, struct stb_err *err)
{
	struct stb_reader r;
	const char *rw, *engine, *fault, *skew;
	double mix;
	uint64_t depth, batch, jobs;

	*c = (struct stb_io_config){ .block = block };
	stb_reader_init(&r, block);
	stb_read_skip(&r, "volume"); /* exec binds it: stb_io_setup.dir or .device */
	c->filename = stb_read_str(&r, "filename");
	c->size_bytes = stb_read_u64(&r, "size");
	rw = stb_read_str(&r, "rw");
	mix = stb_read_double_or(&r, "rwmixread", 0.5);
	if (read_sizes(c, &r, err))
		return -1;
	c->offset_bytes = stb_read_u64_or(&r, "offset", 0);
	skew = stb_read_str_or(&r, "random_distribution", "random");
	engine = stb_read_str(&r, "ioengine");
	depth = stb_read_u64(&r, "iodepth");
	batch = stb_read_u64_or(&r, "iodepth_batch", 1);
	jobs = stb_read_u64(&r, "numjobs");
	c->ring.registerfiles = read_ask(&r, "registerfiles");
	c->ring.fixedbufs = read_ask(&r, "fixedbufs");
	c->ring.sqpoll = stb_read_has(&r, "sqpoll") && stb_read_bool(&r, "sqpoll");
	c->ring.hipri = stb_read_has(&r, "hipri") && stb_read_bool(&r, "hipri");
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
	c->known_filled = stb_read_has(&r, "prepare"); /* `[]` says so; what is listed has run before */
	stb_read_skip(&r, "prepare");
	if (read_flags(c, &r, err) || read_load(c, &r, err))
		return -1;
	read_steady(c, &r);
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
	if (check_steady(c, err))
		return -1;
	if (c->runtime_ns > INT64_MAX / 4 || c->ramp_ns > INT64_MAX / 4) {
		stb_err_set(err, 0, "workload `%s` asks for more than 70 years", block->name);
		return blame(c, "runtime", err);
	}
	if (!stb_skew_parse(skew, &c->skew)) {
		stb_err_set(err, 0, "workload `%s` asks for random_distribution = %s, which there is not", block->name, skew);
		return blame(c, "random_distribution", err);
	}
	if (read_direction(c, rw, mix, err) || check_sizes(c, err) || check_verify(c, err))
		return -1;
	return check_workers(c, depth, batch, jobs, err);
}
