/*
 * rules_rate.c - rules of rates, pauses and steadiness. Everything is computed as a spec's own arithmetic is (num.c): a rate times a time is a
 * count, whole or not, and never a rounded one.
 */
#include "compiler/num.h"
#include "compiler/rules.h"

#include <inttypes.h>
#include <string.h>

static bool is_oltp(const struct stb_rules_run *r)
{
	return !strcmp(r->w->block->type->type, "oltp");
}

/* a x b as a value; false: it does not fit, or has no type. */
static bool times(const struct stb_val *a, const struct stb_val *b, struct stb_val *out)
{
	struct stb_num x, y, product;

	return stb_num_from(a, &x) && stb_num_from(b, &y) && stb_num_mul(&x, &y, &product) == STB_NUM_OK &&
		stb_num_to(&product, out) == STB_NUM_OK;
}

bool stb_shares_sum(const struct stb_val *list, struct stb_val *sum)
{
	struct stb_num total = { 0, 1, 0, 0, true };

	for (uint32_t i = 0; i < list->n_items; i++) {
		struct stb_num n, next;

		if (!stb_num_from(&list->items[i], &n) || stb_num_add(&total, &n, &next) != STB_NUM_OK)
			return false;
		total = next;
	}
	return stb_num_to(&total, sum) == STB_NUM_OK;
}

void stb_rule_two_rates(struct stb_rules_run *r)
{
	const struct stb_eattr *iops = stb_eattr(r->w, "rate_iops"), *rate = stb_eattr(r->w, "rate");
	struct stb_diag *d;

	if (!iops || !rate)
		return;
	d = stb_find(r, STB_E0495, r->w, iops, r->w, rate, "workload `%s` has two rates: `%s` and `%s`", r->w->block->name,
		stb_attr_text(r, iops), stb_attr_text(r, rate));
	if (!d)
		return;
	stb_find_other(r, d, r->w, rate, "the other one");
	stb_diag_help(r->x->sink, d, "only the lower one would ever hold; leave the other out");
}

/* Less than one transaction or I/O in the time that the run has: nothing would be measured, or the first wait would outlast it. */
static void too_low(struct stb_rules_run *r, const struct stb_eattr *rate, const struct stb_eattr *time, const struct stb_val *least,
	const char *what)
{
	struct stb_val moved;
	struct stb_diag *d;

	if (!rate || !time || !times(&rate->val, &time->val, &moved) || moved.type != least->type || stb_val_cmp(&moved, least) >= 0)
		return;
	d = stb_find(r, STB_E0496, r->w, rate, r->w, time, "`%s` over %s is %s, less than one %s", stb_attr_text(r, rate),
		stb_val_label(r->x->arena, &time->val), stb_val_label(r->x->arena, &moved), what);
	if (!d)
		return;
	stb_find_other(r, d, r->w, time, "the time it has");
	stb_diag_help(r->x->sink, d, "raise the rate, or give it more time");
}

void stb_rule_rate_too_low(struct stb_rules_run *r)
{
	const struct stb_val one = stb_val_num(STB_V_COUNT, 1, 1),
		block = stb_val_num(STB_V_BYTES, (int64_t)stb_io_greatest_bs(r->w), 1);
	const struct stb_eattr *time = stb_eattr(r->w, is_oltp(r) ? "time" : "runtime");

	if (is_oltp(r)) {
		too_low(r, stb_eattr(r->w, "rate"), time, &one, "transaction");
		return;
	}
	too_low(r, stb_eattr(r->w, "rate_iops"), time, &one, "I/O");
	too_low(r, stb_eattr(r->w, "rate"), time, &block, stb_arena_printf(r->x->arena, "block of %s",
		stb_bytes_text(r->x->arena, stb_io_greatest_bs(r->w))));
}

/* A rate of all jobs, the part of it that goes in one direction. */
static bool directed(const struct stb_rules_run *r, const struct stb_eattr *rate, bool read, struct stb_val *out)
{
	const struct stb_val jobs = stb_val_num(STB_V_COUNT, (int64_t)stb_eattr_u64(r->w, "numjobs", 1), 1);
	const struct stb_eattr *mix = stb_eattr(r->w, "rwmixread");
	struct stb_val share = stb_val_num(STB_V_SHARE, 1, 1), all;

	if (!(read ? stb_io_reads(r->w) : stb_io_writes(r->w)) || !times(&rate->val, &jobs, &all))
		return false;
	if (mix && stb_io_reads(r->w) && stb_io_writes(r->w))
		share = read ? mix->val : stb_val_num(STB_V_SHARE, mix->val.den - mix->val.num, mix->val.den);
	return times(&all, &share, out);
}

void stb_rule_rate_of_class(struct stb_rules_run *r)
{
	static const struct {
		const char *rate, *limit;
		bool read;
	} pairs[] = {
		{ "rate_iops", "limits.read_iops", true }, { "rate_iops", "limits.write_iops", false },
		{ "rate", "limits.read_bw", true },        { "rate", "limits.write_bw", false },
	};

	for (size_t i = 0; i < STB_LEN(pairs); i++) {
		const struct stb_eattr *rate = stb_eattr(r->w, pairs[i].rate), *limit = stb_eattr(r->s->storage, pairs[i].limit);
		struct stb_val asked;
		struct stb_diag *d;

		if (!rate || !limit || !directed(r, rate, pairs[i].read, &asked) || asked.type != limit->val.type ||
			stb_val_cmp(&asked, &limit->val) <= 0)
			continue;
		d = stb_find(r, STB_W0492, r->w, rate, r->s->storage, limit, "workload `%s` asks for %s of %s, and storage `%s` is limited to %s",
			r->w->block->name, stb_val_label(r->x->arena, &asked), pairs[i].read ? "reads" : "writes", r->s->storage->block->name,
			stb_val_label(r->x->arena, &limit->val));
		if (!d)
			continue;
		stb_find_other(r, d, r->s->storage, limit, "the limit");
		stb_diag_help(r->x->sink, d, "the rate will not be met, and its measurements not count; lower it, or raise the limit");
	}
}

void stb_rule_without_rate(struct stb_rules_run *r)
{
	if (stb_eattr(r->w, "rate") || stb_eattr(r->w, "rate_iops"))
		return;
	stb_without_effect(r, STB_E0497, r->w, "rate_process", NULL, NULL, "the workload has no rate");
	stb_without_effect(r, STB_E0497, r->w, "rate_tolerance", NULL, NULL, "the workload has no rate");
}

void stb_rule_thinktime(struct stb_rules_run *r)
{
	const struct stb_eattr *pause = stb_eattr(r->w, "thinktime"), *iops = stb_eattr(r->w, "rate_iops"), *rate = stb_eattr(r->w, "rate");
	struct stb_diag *d;

	if (!pause || pause->val.num == 0 || (!iops && !rate))
		return;
	d = stb_find(r, STB_W0491, r->w, pause, r->w, iops ? iops : rate, "`%s` beside `%s`: what a pause delays, the rate makes up for",
		stb_attr_text(r, pause), stb_attr_text(r, iops ? iops : rate));
	if (!d)
		return;
	stb_find_other(r, d, r->w, iops ? iops : rate, "the rate");
	stb_diag_help(r->x->sink, d, "leave one of them out; with both, I/Os come in bursts and their latency counts the pauses");
}

void stb_rule_long_pause(struct stb_rules_run *r)
{
	const struct stb_eattr *pause = stb_eattr(r->w, "thinktime"), *time = stb_eattr(r->w, "runtime");
	struct stb_diag *d;

	if (!pause || !time || stb_val_cmp(&pause->val, &time->val) < 0)
		return;
	d = stb_find(r, STB_W0495, r->w, pause, r->w, time, "`%s` lasts for all of %s: a job does one I/O and then pauses to the end",
		stb_attr_text(r, pause), stb_val_label(r->x->arena, &time->val));
	if (!d)
		return;
	stb_find_other(r, d, r->w, time, "the time it has");
	stb_diag_help(r->x->sink, d, "a pause is much shorter than the run, such as thinktime = 1ms");
}

void stb_rule_rate_total(struct stb_rules_run *r)
{
	const struct stb_eattr *iops = stb_eattr(r->w, "rate_iops"), *rate = iops ? iops : stb_eattr(r->w, "rate");
	const uint64_t jobs = stb_eattr_u64(r->w, "numjobs", 1);
	const struct stb_val n = stb_val_num(STB_V_COUNT, (int64_t)jobs, 1);
	struct stb_val all;

	if (rate && jobs > 1 && times(&rate->val, &n, &all))
		stb_find(r, STB_N0493, r->w, rate, NULL, NULL, "`%s` of workload `%s` is per job: its %" PRIu64 " jobs make %s",
			stb_attr_text(r, rate), r->w->block->name, jobs, stb_val_label(r->x->arena, &all));
}

void stb_rule_steady_state(struct stb_rules_run *r)
{
	const struct stb_eattr *metric = stb_eattr(r->w, "steady_state.metric"), *slope = stb_eattr(r->w, "steady_state.slope"),
		*deviation = stb_eattr(r->w, "steady_state.deviation"), *window = stb_eattr(r->w, "steady_state.window"),
		*limit = stb_eattr(r->w, "steady_state.limit"), *at = metric ? metric : slope ? slope : deviation ? deviation : window ? window :
		limit;
	const char *why = NULL;
	struct stb_diag *d;

	if (!at)
		return;
	if (!metric)
		why = "lacks `metric`";
	else if (!slope && !deviation)
		why = "lacks `slope` or `deviation`";
	else if (slope && deviation)
		why = "has both `slope` and `deviation`";
	else if (!window)
		why = "lacks `window`";
	else if (!limit)
		why = "lacks `limit`: without it an unsteady device is waited for without end";
	else if (window->val.den != 1 || window->val.num % 1000000000)
		why = "has a `window` that is not a whole number of seconds, which is what is looked at";
	else if (stb_val_cmp(&limit->val, &window->val) < 0)
		why = "has a `limit` that is shorter than its `window`";
	else if (!stb_eattr_true(r->w, "time_based"))
		why = "needs time_based: a job that ends with its size may end before it is steady";
	if (!why)
		return;
	d = stb_find(r, STB_E0498, r->w, at, NULL, NULL, "steady_state of workload `%s` %s", r->w->block->name, why);
	if (d)
		stb_diag_help(r->x->sink, d,
			"for example steady_state { metric = iops  slope = 5%%  window = 30s  limit = 10min } with time_based = true");
}
