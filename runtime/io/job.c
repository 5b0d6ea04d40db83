/* job.c - see job.h. */
#include "runtime/io/job.h"

#include "runtime/io/custom.h"
#include "runtime/io/skew.h"
#include "runtime/io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

void stb_io_job_init(struct stb_io_job *j, const struct stb_io_config *c, const struct stb_io_setup *s, struct stb_phase *phase, uint32_t index)
{
	struct stb_io_worker *w = &j->w;

	j->setup = s;
	w->config = c;
	w->stop = &phase->stop;
	w->live = &phase->live[index];
	w->index = index;
	w->fd = -1;
	w->raw = !s->dir;
	w->base = c->offset_bytes;
	w->bs = c->bs_bytes;
	w->depth = c->depth;
	w->batch = c->batch;
	w->part = c->engine->ops->perform ? UINT32_MAX : STB_MAX(STB_IO_PART, w->batch);
	w->split = !c->engine->ops->perform && c->per_s == 0;
	w->direct = c->direct;
	w->tells_latency = c->steady.metric == STB_STEADY_LAT;
	w->read_below = c->read_below;
	w->fsync_every = c->fsync_every ? c->fsync_every : UINT64_MAX;
	w->fdatasync_every = c->fdatasync_every ? c->fdatasync_every : UINT64_MAX;
	w->pass_blocks = (c->time_based || c->loops > 1) && c->invalidate && !c->direct && !c->engine->ops->no_file ? c->n_blocks : UINT64_MAX;
	if (c->engine->ops->no_file)
		snprintf(w->name, sizeof(w->name), "nothing");
	else
		stb_io_target_name(c, s, index, w->name, sizeof(w->name));
}

static int get_buffers(struct stb_io_job *j)
{
	struct stb_io_worker *w = &j->w;
	struct stb_rng rng;

	w->stride = stb_io_config_stride(w->config);
	j->buffer_bytes = w->stride * w->depth;
	w->buffers = mmap(NULL, j->buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->buffers == MAP_FAILED) {
		w->buffers = NULL;
		return stb_err_set(&w->err, errno, "cannot get %llu KiB for the buffers of workload `%s`",
			(unsigned long long)(j->buffer_bytes >> 10), w->config->block->name);
	}
	stb_rng_stream(&rng, j->setup->seed, j->setup->cell, 0, w->index, STB_RNG_DATA);
	for (size_t i = 0; i < j->buffer_bytes; i += 8) { /* also for reads: the pages must be there */
		const uint64_t word = stb_rng_next(&rng);

		memcpy(w->buffers + i, &word, 8);
	}
	return 0;
}

static enum stb_offset_mode offset_mode(const struct stb_io_config *c)
{
	if (!c->random)
		return STB_OFFSET_SEQUENTIAL;
	if (c->skew.kind != STB_SKEW_NONE)
		return STB_OFFSET_SKEWED;
	return c->norandommap ? STB_OFFSET_UNIFORM : STB_OFFSET_PERMUTED;
}

static void stream(const struct stb_io_job *j, uint32_t worker, enum stb_rng_purpose purpose, struct stb_rng *rng)
{
	const struct stb_io_setup *s = j->setup;

	stb_rng_stream(rng, s->seed, s->cell, j->w.config->randrepeat ? 0 : s->repetition, worker, purpose);
}

/* Where I/Os go, how large they are, when they start and what they hold. */
static void make_streams(struct stb_io_job *j)
{
	struct stb_io_worker *w = &j->w;
	const struct stb_io_config *c = w->config;
	struct stb_rng rng, sizes, arrival, data;

	stream(j, w->index, STB_RNG_OFFSET, &rng);
	stb_offsets_init(&w->offsets, offset_mode(c), c->n_blocks, &rng);
	stream(j, w->index, STB_RNG_MIX, &w->mix);
	if (c->skew.kind != STB_SKEW_NONE && c->random) {
		w->skew = stb_xcalloc(1, sizeof(*w->skew));
		stream(j, c->shared_file ? 0 : w->index, STB_RNG_SCATTER, &rng); /* the hot blocks of a shared file are the same ones */
		stb_skew_init(w->skew, &c->skew, c->n_blocks, &rng);
		w->offsets.skew = w->skew;
	}
	if (!stb_io_custom_needed(c))
		return;
	stream(j, w->index, STB_RNG_SIZE, &sizes);
	stream(j, w->index, STB_RNG_ARRIVAL, &arrival);
	stb_rng_stream(&data, j->setup->seed, j->setup->cell, j->setup->repetition, w->index, STB_RNG_CONTENT);
	w->custom = stb_io_custom_new(w, stb_rng_next(&data), &sizes, &arrival);
}

int stb_io_job_prepare(struct stb_io_job *j)
{
	struct stb_io_worker *w = &j->w;
	const struct stb_io_config *c = w->config;
	struct stb_io_open o = { .fd = -1, .raw = w->raw, .depth = w->depth };

	w->reqs = stb_xcalloc(w->depth, sizeof(*w->reqs));
	w->free = stb_xcalloc(w->depth, sizeof(*w->free));
	w->ready = stb_xcalloc(w->depth, sizeof(*w->ready));
	w->done = stb_xcalloc(w->depth, sizeof(*w->done));
	for (uint32_t i = 0; i < w->depth; i++)
		w->free[w->n_free++] = w->depth - 1 - i;
	make_streams(j);
	if (c->per_s > 0 || c->think_ns)
		(void)prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0); /* of this thread: by default a sleep may end 50 us late */
	if (!c->engine->ops->no_file) {
		if (stb_io_target_open(c, j->setup, w->index, &w->fd, &w->err))
			return -1;
		if (c->invalidate && !c->direct)
			stb_io_target_invalidate(w->fd, w->raw);
		if (!c->direct && !w->raw)
			(void)posix_fadvise(w->fd, 0, 0, c->random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
	}
	if (get_buffers(j))
		return -1;
	stb_io_worker_choose(w);
	o.fd = w->fd;
	o.reqs = w->reqs;
	o.buffers = w->buffers;
	o.buffer_bytes = j->buffer_bytes;
	o.stride = w->stride;
	o.ring = c->ring;
	o.used = &j->used;
	w->engine.ops = c->engine->ops;
	if (w->engine.ops->open(&w->engine, &o, &w->err)) {
		stb_io_config_blame(c, c->ring.hipri ? "hipri" : c->ring.sqpoll ? "sqpoll" : c->ring.fixedbufs == STB_IO_YES ? "fixedbufs" : "ioengine",
			&w->err);
		return -1;
	}
	j->ready = true;
	return 0;
}

void stb_io_job_release(struct stb_io_job *j)
{
	struct stb_io_worker *w = &j->w;

	if (w->stuck)
		return; /* the kernel may still write there; the process is about to end */
	if (j->ready)
		w->engine.ops->close(&w->engine);
	if (w->buffers)
		munmap(w->buffers, j->buffer_bytes);
	if (w->fd >= 0)
		close(w->fd);
	free(w->reqs);
	free(w->free);
	free(w->ready);
	free(w->done);
	free(w->skew);
	stb_io_custom_free(w->custom);
}
