/*
 * import_fio_engine.c - how a fio job hands over its I/O: engine, depth, batches, io_uring's ways.
 *
 * Four options of fio meet in one loop. It queues I/Os until its depth is full, and hands over each iodepth_batch of them; then it takes
 * completions, iodepth_batch_complete_min to _max at a time, until no more than iodepth_low are in flight; then it queues again. What is queued
 * is handed over before it waits. So once it is under way a turn waits for a number of completions and hands over as many new I/Os, in calls of
 * iodepth_batch at most: that number is a workload's iodepth_batch. With iodepth_batch alone it is 1, whatever that says (io_submit under
 * strace; fio's own iodepth_submit shows it as well).
 */
#include "compiler/import_fio.h"

#include <inttypes.h>
#include <string.h>

#define ATTR(...) stb_import_attr(x->im, __VA_ARGS__)

/* --- batches --------------------------------------------------------------------------------------------------------------------------- */

struct batches { /* as fio sets them right */
	uint64_t submit, least, most, low;
};

static struct batches batches_of(const struct stb_fio_job *j)
{
	const uint64_t depth = j->depth;
	struct batches b = {
		.submit = stb_fio_peek(j, STB_FIO_IODEPTH_BATCH, 1), .least = stb_fio_peek(j, STB_FIO_COMPLETE_MIN, 1),
		.most = stb_fio_peek(j, STB_FIO_COMPLETE_MAX, 0), .low = stb_fio_peek(j, STB_FIO_IODEPTH_LOW, 0),
	};

	if (!b.submit || b.submit > depth)
		b.submit = depth;
	if (!b.low || b.low > depth)
		b.low = depth;
	b.least = STB_MIN(b.least, depth);
	b.most = STB_MAX(b.most, b.least);
	return b;
}

/* For so many completions a turn waits. */
static uint64_t turn_of(const struct batches *b, uint64_t depth)
{
	const uint64_t least = STB_MAX(b->least, 1);

	return b->low == depth ? least : STB_MIN(depth, (depth - b->low + least - 1) / least * least);
}

static void tell_calls(struct stb_fio_import *x, const struct stb_fio_job *j, uint64_t turn, uint64_t submit)
{
	struct stb_fio_option *o = j->sym[STB_FIO_IODEPTH_BATCH];

	if (!o)
		o = j->sym[STB_FIO_COMPLETE_MIN] ? j->sym[STB_FIO_COMPLETE_MIN] : j->sym[STB_FIO_IODEPTH_LOW];
	if (o && submit < turn)
		stb_fio_differs(x, o, "fio waits for %" PRIu64 " completions and hands over as many I/Os %" PRIu64 " a call, a workload all in one",
			turn, submit);
}

static void put_batches(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	static const enum stb_fio_sym all[] = { STB_FIO_IODEPTH_BATCH, STB_FIO_COMPLETE_MIN, STB_FIO_COMPLETE_MAX, STB_FIO_IODEPTH_LOW };
	struct stb_fio_option *submit = j->sym[STB_FIO_IODEPTH_BATCH], *most = j->sym[STB_FIO_COMPLETE_MAX];
	const struct batches b = batches_of(j);
	const uint64_t turn = turn_of(&b, j->depth);
	uint64_t n;

	for (size_t i = 0; i < STB_LEN(all); i++) {
		if (j->depth == 1)
			stb_fio_idle(j->sym[all[i]], "the job has one I/O in flight");
		else
			(void)stb_fio_value(x, j, all[i], &n); /* what is no value is told */
	}
	if (j->depth == 1)
		return;
	if (!b.least)
		stb_fio_refuse(x, j->sym[STB_FIO_COMPLETE_MIN], "completions are waited for, not looked for again and again");
	if (turn > 1)
		ATTR("iodepth_batch", "%" PRIu64, turn);
	tell_calls(x, j, turn, b.submit);
	if (submit && turn == 1 && b.most <= 1 && b.submit > 1) {
		submit->used = false;
		stb_fio_idle(submit, "fio hands over what is queued before it waits for one completion, so one I/O at a time; iodepth_batch_complete_min = "
			"the same number makes batches");
	}
	if (submit && turn > 1 && b.submit > turn && b.submit < j->depth && b.most <= turn) {
		submit->used = false;
		stb_fio_idle(submit, "fio hands over no more I/Os than it has waited for completions, which are fewer");
	}
	if (most && b.most < j->depth)
		stb_fio_leave(x, most, "all completions that are there are taken at once");
}

/* --- engines --------------------------------------------------------------------------------------------------------------------------- */

static void put_ring(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	static const struct {
		enum stb_fio_sym sym;
		const char *attr;
	} flags[] = { { STB_FIO_REGISTERFILES, "registerfiles" }, { STB_FIO_FIXEDBUFS, "fixedbufs" }, { STB_FIO_SQPOLL, "sqpoll" },
		{ STB_FIO_HIPRI, "hipri" } };

	for (size_t i = 0; i < STB_LEN(flags); i++) {
		struct stb_fio_option *o = j->sym[flags[i].sym];

		if (!strcmp(j->engine, "io_uring"))
			stb_fio_put_flag(x, j, flags[i].sym, flags[i].attr);
		else if (o && flags[i].sym == STB_FIO_HIPRI && j->sym[STB_FIO_IOENGINE] && !strcmp(j->sym[STB_FIO_IOENGINE]->value, "pvsync2") &&
			stb_fio_peek(j, STB_FIO_HIPRI, 0))
			stb_fio_refuse(x, o, "only io_uring polls for completions");
		else
			stb_fio_idle(o, "only io_uring has it");
	}
}

static void put_synchronous(const struct stb_fio_job *j)
{
	static const enum stb_fio_sym all[] = { STB_FIO_IODEPTH_BATCH, STB_FIO_COMPLETE_MIN, STB_FIO_COMPLETE_MAX, STB_FIO_IODEPTH_LOW };

	stb_fio_idle(j->sym[STB_FIO_IODEPTH], "a synchronous engine has one I/O in flight, whatever it says");
	for (size_t i = 0; i < STB_LEN(all); i++)
		stb_fio_idle(j->sym[all[i]], "a synchronous engine has one I/O in flight");
}

void stb_fio_put_engine(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_IOENGINE];
	const struct stb_fio_engine *e = stb_fio_engine(j);

	if (o)
		o->used = true;
	if (!e)
		stb_fio_refuse(x, o, "engines are psync, libaio, io_uring and null; the spec has psync");
	else if (e->how && !e->same_work)
		stb_fio_refuse(x, o, "%s", e->how);
	else if (e->how)
		stb_fio_differs(x, o, "%s", e->how);
	ATTR("ioengine", "%s", j->engine);
	if (j->async) {
		stb_fio_put_count(x, j, STB_FIO_IODEPTH, "iodepth");
		put_batches(x, j);
	} else {
		put_synchronous(j);
	}
	put_ring(x, j);
}
