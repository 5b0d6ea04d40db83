/*
 * The engine that goes wrong on purpose; see io_faulty.h.
 */
#include "tests/unit/io_faulty.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct faulty_state {
	struct test_faulty *f;
	const struct stb_io_req *reqs;
	int fd;
	uint32_t n, n_late, taken; /* waiting; held back; submitted so far */
	uint32_t reaps;
	uint32_t *slots, *late;
};

static int faulty_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	(void)depth;
	(void)jobs;
	(void)err;
	return 0;
}

static int faulty_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct faulty_state *s = stb_xcalloc(1, sizeof(*s));

	(void)err;
	s->f = (struct test_faulty *)(uintptr_t)e->ops; /* the caller's own */
	s->f->flags = fcntl(o->fd, F_GETFL);
	s->f->trace = 0;
	s->reqs = o->reqs;
	s->fd = o->fd;
	s->slots = stb_xcalloc(o->depth, sizeof(*s->slots));
	s->late = stb_xcalloc(o->depth, sizeof(*s->late));
	e->state = s;
	return 0;
}

static bool nth(uint32_t n, uint32_t every)
{
	return every && n % every == 0;
}

static int faulty_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct faulty_state *s = e->state;

	if (s->f->submit_error && n)
		return -s->f->submit_error;
	for (uint32_t i = 0; i < n; i++) {
		s->f->trace = (s->f->trace ^ s->reqs[slots[i]].offset ^ s->reqs[slots[i]].dir) * 0x9e3779b97f4a7c15ull;
		if (nth(++s->taken, s->f->late_every))
			s->late[s->n_late++] = slots[i];
		else
			s->slots[s->n++] = slots[i];
	}
	return (int)n;
}

static int32_t carry_out(struct faulty_state *s, uint32_t slot, uint32_t count)
{
	const struct stb_io_req *r = &s->reqs[slot];
	uint32_t len = r->len;
	ssize_t got;

	if (nth(count, s->f->error_every))
		return -s->f->errnum;
	if (nth(count, s->f->short_every) && len >= 1024)
		len = len / 2 / 512 * 512;
	got = r->dir == STB_READ ? pread(s->fd, r->buf, len, (off_t)r->offset) : pwrite(s->fd, r->buf, len, (off_t)r->offset);
	return got < 0 ? -errno : (int32_t)got;
}

/* The latest first: completions come in another order than requests went. */
static int faulty_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct faulty_state *s = e->state;
	uint32_t got = 0;

	(void)wait_ns;
	if (s->f->reap_ns && (s->n || s->n_late))
		(void)stb_clock_sleep_until(stb_clock_ns() + s->f->reap_ns);
	if (++s->reaps == s->f->stall_at)
		(void)stb_clock_sleep_until(stb_clock_ns() + s->f->stall_ns);
	while (got < max && s->n) {
		const uint32_t slot = s->slots[--s->n];

		done[got] = (struct stb_io_done){ slot, carry_out(s, slot, s->taken - s->n) };
		got++;
	}
	while (got < min && got < max && s->n_late) {
		const uint32_t slot = s->late[--s->n_late];

		done[got++] = (struct stb_io_done){ slot, carry_out(s, slot, 1) };
	}
	return (int)got;
}

static int faulty_sync(struct stb_io_engine *e, bool data_only)
{
	struct faulty_state *s = e->state;

	if (s->f->sync_ns)
		(void)stb_clock_sleep_until(stb_clock_ns() + s->f->sync_ns);
	return (data_only ? fdatasync(s->fd) : fsync(s->fd)) ? -errno : 0;
}

static int faulty_cancel(struct stb_io_engine *e)
{
	(void)e;
	return 0;
}

static void faulty_close(struct stb_io_engine *e)
{
	struct faulty_state *s = e->state;

	free(s->slots);
	free(s->late);
	free(s);
	e->state = NULL;
}

void test_faulty_init(struct test_faulty *f)
{
	f->ops = (struct stb_io_ops){
		.probe = faulty_probe,
		.open = faulty_open,
		.submit = faulty_submit,
		.reap = faulty_reap,
		.sync = faulty_sync,
		.cancel = faulty_cancel,
		.close = faulty_close,
	};
	f->caps = (struct stb_io_caps){ .name = "faulty", .max_depth = 4096, .direct = true, .needs = "", .ops = &f->ops };
}
