/*
 * null.c - the engine that does nothing and succeeds: what it measures is stb itself.
 */
#include "runtime/io/engine.h"

#include <stdlib.h>

struct null_state {
	const struct stb_io_req *reqs;
	uint32_t n; /* waiting to be reaped */
	uint32_t slot[];
};

static int null_probe(uint32_t depth, uint32_t jobs, struct stb_err *err)
{
	(void)depth;
	(void)jobs;
	(void)err;
	return 0;
}

static int null_open(struct stb_io_engine *e, const struct stb_io_open *o, struct stb_err *err)
{
	struct null_state *s = stb_xcalloc(1, sizeof(*s) + o->depth * sizeof(s->slot[0]));

	(void)err;
	s->reqs = o->reqs;
	e->state = s;
	return 0;
}

static int null_submit(struct stb_io_engine *e, const uint32_t *slots, uint32_t n)
{
	struct null_state *s = e->state;

	for (uint32_t i = 0; i < n; i++)
		s->slot[s->n++] = slots[i];
	return (int)n;
}

static int null_reap(struct stb_io_engine *e, struct stb_io_done *done, uint32_t min, uint32_t max, uint64_t wait_ns)
{
	struct null_state *s = e->state;
	uint32_t got = 0;

	(void)min;
	(void)wait_ns;
	while (got < max && s->n) {
		const uint32_t slot = s->slot[--s->n];

		done[got++] = (struct stb_io_done){ slot, (int32_t)s->reqs[slot].len };
	}
	return (int)got;
}

static int32_t null_perform(struct stb_io_engine *e, const struct stb_io_req *r)
{
	(void)e;
	return (int32_t)r->len;
}

static int null_sync(struct stb_io_engine *e, bool data_only)
{
	(void)e;
	(void)data_only;
	return 0;
}

static int null_cancel(struct stb_io_engine *e)
{
	(void)e;
	return 0;
}

static void null_close(struct stb_io_engine *e)
{
	free(e->state);
	e->state = NULL;
}

const struct stb_io_ops stb_io_null = {
	.probe = null_probe,
	.open = null_open,
	.submit = null_submit,
	.reap = null_reap,
	.perform = null_perform,
	.sync = null_sync,
	.cancel = null_cancel,
	.close = null_close,
	.no_file = true,
};
