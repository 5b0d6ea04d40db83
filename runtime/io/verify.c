/*
 * verify.c - the read-back pass. Blocks are read in order and in large pieces, whatever order and engine they were written with: what is asked is
 * what the volume holds, not how fast.
 *
 * Without direct the page cache would answer for the device, so it is written out and dropped first.
 */
#include "runtime/io/verify.h"

#include "runtime/io/custom.h"
#include "runtime/io/target.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE (1u << 20)

static int cannot(struct stb_io_worker *w, int errnum, const char *what, uint64_t offset)
{
	stb_err_set(&w->err, errnum, "cannot %s `%s` (workload `%s`) at offset %llu to verify it", what, w->name, w->config->block->name,
		(unsigned long long)offset);
	stb_err_remedy(&w->err, errnum ? "see the kernel log for the device under the volume" : "the file became shorter; see what else writes to it");
	stb_io_config_blame(w->config, "verify", &w->err);
	return -1;
}

/* 0 or -1 with w->err. */
static int read_piece(struct stb_io_worker *w, unsigned char *buf, uint64_t offset, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		const ssize_t got = pread(w->fd, buf + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return cannot(w, got ? errno : 0, "read back", offset + done);
		done += (size_t)got;
	}
	return 0;
}

static void compare(struct stb_io_worker *w, const unsigned char *buf, uint64_t unit, uint64_t units)
{
	const struct stb_io_custom *x = w->custom;

	for (uint64_t i = 0; i < units && !(w->mismatches && w->config->verify_fatal); i++) {
		const uint64_t offset = w->base + (unit + i) * w->bs;
		struct stb_err err;
		uint64_t generation;

		if (!stb_io_custom_generation(w, unit + i, &generation))
			continue;
		stb_err_clear(&err);
		w->verified++;
		if (stb_content_check(&x->content, buf + i * w->bs, offset, generation, x->first_generation, w->name, &err))
			continue;
		if (!w->mismatches++) {
			w->err = err;
			stb_err_remedy(&w->err, "see the kernel log for the device under the volume; nothing that was measured there counts");
			stb_io_config_blame(w->config, "verify", &w->err);
		}
	}
}

/* Of a first pass that was cut short only the blocks that were written are there: one by one, since the file may end between them. */
static int read_written(struct stb_io_worker *w, unsigned char *buf, uint64_t unit, uint64_t units)
{
	for (uint64_t i = unit; i < unit + units; i++) {
		uint64_t generation;

		if (!stb_io_custom_generation(w, i, &generation))
			continue;
		if (read_piece(w, buf, w->base + i * w->bs, w->bs))
			return -1;
		compare(w, buf, i, 1);
	}
	return 0;
}

static int read_all(struct stb_io_worker *w, struct stb_phase *phase, unsigned char *buf, uint64_t at_once)
{
	const bool whole = stb_io_custom_passes(w) > 0;

	for (uint64_t unit = 0; unit < w->config->n_blocks; unit += at_once) {
		const uint64_t units = STB_MIN(at_once, w->config->n_blocks - unit);

		if (atomic_load_explicit(&phase->stop, memory_order_relaxed) || (w->mismatches && w->config->verify_fatal))
			return 0;
		if (!whole) {
			if (read_written(w, buf, unit, units))
				return -1;
		} else {
			if (read_piece(w, buf, w->base + unit * w->bs, units * w->bs))
				return -1;
			compare(w, buf, unit, units);
		}
		atomic_fetch_add_explicit(&phase->progress_done, units * w->bs, memory_order_relaxed);
	}
	return 0;
}

int stb_io_verify(struct stb_io_worker *w, struct stb_phase *phase)
{
	const uint64_t at_once = STB_MAX(PIECE / w->bs, 1u);
	const size_t bytes = at_once * w->bs;
	unsigned char *buf;
	int ret;

	if (fdatasync(w->fd))
		return cannot(w, errno, "sync", 0);
	stb_io_target_invalidate(w->fd, w->raw);
	buf = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return cannot(w, errno, "get memory to read", 0);
	ret = read_all(w, phase, buf, at_once);
	munmap(buf, bytes);
	return ret || w->mismatches ? -1 : 0;
}
