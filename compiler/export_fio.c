/*
 * export_fio.c - an io cell as a fio job file that does the same I/O: one section, or one for each workload of a mix.
 *
 * Every attribute of a workload is in `rows`, in the order of the file, with the function that writes it; an attribute that is not there and
 * has another value than its default is refused, so that a new one cannot be left out in silence. What holds in stb and not by default in fio
 * is written for every job: threads, reporting together, removing the files.
 *
 * stb works in a subdirectory of its own; fio works in the directory itself, on files of the same names.
 */
#include "compiler/export.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct section {
	struct stb_export *e;
	const struct stb_plan_block *w, *volume, *storage;
	bool reads, writes, trims, random, raw;
	uint64_t jobs;
};

/* --- text ------------------------------------------------------------------------------------------------------------------------------ */

STB_PRINTF(3, 4) static void put(struct section *s, const char *option, const char *fmt, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	stb_buf_printf(&s->e->out, "%s=%s\n", option, value);
}

/* fio ends a value at ; and #, and takes blanks off its ends. false: the text cannot be said. */
static bool can_say(const char *text)
{
	const size_t len = strlen(text);

	if (!len || len > 900 || text[0] == ' ' || text[len - 1] == ' ' || strstr(text, "${"))
		return false;
	for (const char *p = text; *p; p++)
		if (*p == ';' || *p == '#' || (unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

/* A path in one of fio's lists, which `:` parts. */
static const char *escaped(struct section *s, const char *path)
{
	struct stb_buf b;
	const char *text;

	stb_buf_init(&b);
	for (; *path; path++)
		stb_buf_printf(&b, "%s%c", *path == ':' ? "\\" : "", *path);
	text = stb_arena_strdup(&s->e->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static const char *bytes_text(struct section *s, uint64_t n)
{
	static const char prefixes[] = "tgmk";

	for (unsigned i = 0; i < 4; i++) {
		const unsigned shift = 40 - 10 * i;

		if (n && n % (1ull << shift) == 0)
			return stb_arena_printf(&s->e->arena, "%" PRIu64 "%c", n >> shift, prefixes[i]);
	}
	return stb_arena_printf(&s->e->arena, "%" PRIu64, n);
}

/* Whole percent of a share; false: it is none. */
static bool percent(const struct stb_val *v, int64_t *out)
{
	if (v->den <= 0 || v->num < 0 || v->num > v->den || v->num * 100 % v->den)
		return false;
	*out = v->num * 100 / v->den;
	return true;
}

static const char *word(const struct section *s, const char *attr)
{
	return stb_export_str(s->w, attr, "");
}

static bool is_null(const struct section *s)
{
	return !strcmp(word(s, "ioengine"), "null");
}

/* --- attributes ------------------------------------------------------------------------------------------------------------------------ */

typedef void put_fn(struct section *s, const char *attr, const char *option, const struct stb_val *v);

static void put_count(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (v->den != 1 || v->num < 0)
		stb_export_refuse(s->e, s->w, attr, "fio takes whole numbers");
	else
		put(s, option, "%" PRId64, v->num);
}

static void put_flag(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	(void)attr;
	put(s, option, "%d", v->num != 0);
}

static void put_word(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	(void)attr;
	put(s, option, "%s", v->str);
}

static void put_bytes(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	(void)attr;
	put(s, option, "%s", bytes_text(s, (uint64_t)v->num));
}

static void put_percent(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	int64_t n;

	if (percent(v, &n))
		put(s, option, "%" PRId64, n);
	else
		stb_export_refuse(s->e, s->w, attr, "fio takes whole percent");
}

/* fio counts in microseconds. */
static void put_time(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (v->den != 1 || v->num % 1000)
		stb_export_refuse(s->e, s->w, attr, "fio counts in microseconds");
	else if (v->num % 1000000000 == 0)
		put(s, option, "%" PRId64 "s", v->num / 1000000000);
	else if (v->num % 1000000 == 0)
		put(s, option, "%" PRId64 "ms", v->num / 1000000);
	else
		put(s, option, "%" PRId64 "us", v->num / 1000);
}

static void put_mix(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (s->reads && s->writes)
		put_percent(s, attr, option, v);
}

/* Even shares of 1, 2, ... times the first size are a range. */
static bool is_range(const struct stb_val *sizes, const struct stb_val *shares)
{
	for (uint32_t i = 0; i < sizes->n_items; i++)
		if (sizes->items[i].num != (int64_t)(i + 1) * sizes->items[0].num || stb_val_cmp(&shares->items[i], &shares->items[0]))
			return false;
	return true;
}

static void put_sizes(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	const struct stb_val *shares = stb_export_val(s->w, "bs_percent");
	const char *split = "";

	if (v->type != STB_V_LIST) {
		put_bytes(s, attr, option, v);
		return;
	}
	if (!shares || shares->n_items != v->n_items)
		return; /* no plan that verifies */
	if (is_range(v, shares)) {
		put(s, "bsrange", "%s-%s", bytes_text(s, (uint64_t)v->items[0].num), bytes_text(s, (uint64_t)v->items[v->n_items - 1].num));
		return;
	}
	for (uint32_t i = 0; i < v->n_items; i++) {
		int64_t n;

		if (!percent(&shares->items[i], &n)) {
			stb_export_refuse(s->e, s->w, "bs_percent", "fio takes whole percent");
			return;
		}
		split = stb_arena_printf(&s->e->arena, "%s%s%s/%" PRId64, split, *split ? ":" : "", bytes_text(s, (uint64_t)v->items[i].num), n);
	}
	put(s, "bssplit", "%s", split);
}

/*
 * A turn of stb waits for so many completions, takes all that are there, and hands over as many new I/Os in one call. fio by itself takes one and
 * hands over one, and its iodepth_batch alone changes nothing of that; see import_fio_engine.c.
 */
static void put_batch(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	const uint64_t depth = stb_export_u64(s->w, "iodepth", 1);

	(void)attr;
	if (depth == 1)
		return;
	put(s, option, "%" PRIu64, depth);
	if (v->num > 1)
		put(s, "iodepth_batch_complete_min", "%" PRId64, v->num);
	put(s, "iodepth_batch_complete_max", "%" PRIu64, depth);
}

static void put_file(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (s->raw || is_null(s))
		return;
	if (!can_say(v->str))
		stb_export_refuse(s->e, s->w, attr, "a name in a job file ends at ; and #, and has no blanks at its ends");
	else if (s->jobs > 1 && !stb_export_true(s->w, "shared_file") && strchr(v->str, '$'))
		stb_export_refuse(s->e, s->w, attr, "fio puts something else in the place of what begins with $");
	else if (s->jobs > 1 && !stb_export_true(s->w, "shared_file"))
		put(s, "filename_format", "%s.$jobnum", v->str);
	else
		put(s, option, "%s", escaped(s, v->str));
	if (strchr(v->str, '/'))
		stb_export_leave(s->e, s->w, attr, "fio makes no directories for its files; make them before");
}

static void put_nothing(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	(void)s, (void)attr, (void)option, (void)v;
}

static void put_refusal(struct section *s, const char *attr, const char *why, const struct stb_val *v)
{
	(void)v;
	stb_export_refuse(s->e, s->w, attr, "%s", why);
}

/* zipf(1.2) is zipf:1.2, normal(10%) normal:10, zoned([60%, 10%], [40%, 90%]) zoned:60/10:40/90. */
static void put_distribution(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	struct stb_buf b;
	unsigned depth = 0;

	stb_buf_init(&b);
	for (const char *p = v->str; *p; p++) {
		if (*p == '(')
			stb_buf_addc(&b, ':');
		else if (*p == '[')
			depth++;
		else if (*p == ']')
			depth--;
		else if (*p == ',')
			stb_buf_addc(&b, depth ? '/' : ':');
		else if (!strchr(") %", *p))
			stb_buf_addc(&b, *p);
	}
	if (s->random)
		put(s, option, "%s", stb_buf_str(&b));
	if (s->random && !strncmp(v->str, "normal", 6))
		stb_export_leave(s->e, s->w, attr, "fio scatters the blocks that are drawn often over the region; in stb they lie in its middle");
	stb_buf_fini(&b);
}

static void put_if_random(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (s->random)
		put_flag(s, attr, option, v);
}

static void put_layout(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (s->writes && !s->reads && !s->raw && !is_null(s))
		put_word(s, attr, option, v);
}

/* fio holds each direction to a rate of its own. */
static void put_rate(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	const struct stb_val *mix = stb_export_val(s->w, "rwmixread");
	int64_t reads;

	if (v->den != 1) {
		stb_export_refuse(s->e, s->w, attr, "fio takes whole numbers");
		return;
	}
	if (!(s->reads && s->writes)) {
		put(s, option, "%" PRId64, v->num);
		return;
	}
	if (!mix || v->num > INT64_MAX / 100 || !percent(mix, &reads) || v->num * reads % 100 || reads == 0 || reads == 100)
		stb_export_refuse(s->e, s->w, attr, "fio has a rate for each direction, and the parts of this one are no whole numbers");
	else
		put(s, option, "%" PRId64 ",%" PRId64, v->num * reads / 100, v->num * (100 - reads) / 100);
}

static void put_errors(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	if (!v->num)
		return;
	put(s, option, "all");
	stb_export_leave(s->e, s->w, attr, "fio goes on after any number of errors, or after none");
}

/* fio looks for completions without sleeping while the kernel's thread submits; stb sleeps (runtime/io/uring.c). */
static void put_poller(struct section *s, const char *attr, const char *option, const struct stb_val *v)
{
	put_flag(s, attr, option, v);
	if (v->num)
		stb_export_heed(s->e, s->w, attr, "fio's jobs poll for completions while the kernel's threads poll for I/Os: with fewer than %" PRIu64 " CPUs they "
			"take them from each other, and fio is slow", 2 * s->jobs);
}

static void put_note(struct section *s, const char *attr, const char *option, const char *text)
{
	(void)attr;
	if (can_say(text))
		put(s, option, "%s", text);
	else
		stb_export_comment(s->e, "%s", text);
}

static const struct row {
	const char *attr;
	const char *option; /* of put_refusal: why */
	put_fn *put;
	bool default_too;   /* written also where the default holds */
} rows[] = {
	{ "filename", "filename", put_file, true },
	{ "size", "size", put_bytes, true },
	{ "offset", "offset", put_bytes, false },
	{ "rw", "rw", put_word, true },
	{ "rwmixread", "rwmixread", put_mix, true },
	{ "bs", "bs", put_sizes, true },
	{ "bs_percent", "", put_nothing, false },
	{ "ioengine", "ioengine", put_word, true },
	{ "iodepth", "iodepth", put_count, false },
	{ "iodepth_batch", "iodepth_batch", put_batch, true },
	{ "numjobs", "numjobs", put_count, false },
	{ "shared_file", "", put_nothing, false },
	{ "direct", "direct", put_flag, true },
	{ "sync", "sync", put_word, false },
	{ "fsync", "fsync", put_count, false },
	{ "fdatasync", "fdatasync", put_count, false },
	{ "end_fsync", "end_fsync", put_flag, false },
	{ "runtime", "runtime", put_time, true },
	{ "time_based", "time_based", put_flag, false },
	{ "ramp_time", "ramp_time", put_time, false },
	{ "loops", "loops", put_count, false },
	{ "randrepeat", "randrepeat", put_if_random, false },
	{ "norandommap", "norandommap", put_if_random, false },
	{ "random_distribution", "random_distribution", put_distribution, false },
	{ "refill_buffers", "refill_buffers", put_flag, false },
	{ "buffer_compress_percentage", "buffer_compress_percentage", put_percent, true },
	{ "invalidate", "invalidate", put_flag, false },
	{ "fallocate", "fallocate", put_layout, false },
	{ "verify", "verify", put_word, false },
	{ "verify_fatal", "verify_fatal", put_flag, false },
	{ "rate_iops", "rate_iops", put_rate, true },
	{ "rate", "rate", put_rate, true },
	{ "rate_process", "rate_process", put_word, false },
	{ "thinktime", "thinktime", put_time, false },
	{ "registerfiles", "registerfiles", put_flag, false },
	{ "fixedbufs", "fixedbufs", put_flag, false },
	{ "sqpoll", "sqthread_poll", put_poller, false },
	{ "hipri", "hipri", put_flag, false },
	{ "error_limit", "continue_on_error", put_errors, false },
	{ "rate_tolerance", "", put_nothing, false },
	{ "volume", "", put_nothing, false },
	{ "prepare", "", put_nothing, false },
	{ "steady_state.metric", "fio ends a job when it has become steady and reports all of it; it does not wait and then measure", put_refusal, true },
	{ "steady_state.slope", "", put_nothing, false },
	{ "steady_state.deviation", "", put_nothing, false },
	{ "steady_state.window", "", put_nothing, false },
	{ "steady_state.limit", "", put_nothing, false },
};

bool stb_export_fio_knows(const char *attr)
{
	for (size_t i = 0; i < STB_LEN(rows); i++)
		if (!strcmp(rows[i].attr, attr))
			return true;
	return false;
}

static uint64_t ramp_of(const struct stb_plan_block *w)
{
	return stb_export_u64(w, "ramp_time", 0);
}

/* What one word alone does not tell. */
static void put_differences(struct section *s)
{
	if (s->trims && !s->raw && !is_null(s))
		stb_export_refuse(s->e, s->w, "rw", "fio trims block devices only, and this is a file, in which stb makes holes");
	if (ramp_of(s->w) && !stb_export_true(s->w, "time_based"))
		stb_export_refuse(s->e, s->w, "ramp_time", "what fio does within it counts towards size: it measures what is left, or, where nothing is, has not warmed up");
}

static void put_attributes(struct section *s)
{
	for (size_t i = 0; i < STB_LEN(rows); i++) {
		const struct stb_plan_attr *a = stb_plan_attr(s->w, rows[i].attr);

		if (a && a->val.type != STB_V_NONE && (rows[i].default_too || !a->is_default))
			rows[i].put(s, rows[i].attr, rows[i].option, &a->val);
	}
	for (uint32_t i = 0; i < s->w->n_attrs; i++) {
		const struct stb_plan_attr *a = &s->w->attrs[i];

		if (!stb_export_fio_knows(a->name) && !a->is_default)
			stb_export_refuse(s->e, s->w, a->name, "fio has no word for it that stb knows");
	}
}

/* --- where ----------------------------------------------------------------------------------------------------------------------------- */

/* The block that a cell means by a name: of its group's mounts, else the only one of the plan. Two are told. */
static const struct stb_plan_block *find(struct stb_export *e, const struct stb_plan_block *from, const char *kind, const char *name)
{
	const struct stb_plan_group *g = &e->plan->groups[e->plan->cells[e->cell].group];
	const struct stb_plan_block *found = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_mounts; i++) {
		const struct stb_plan_block *v = &e->plan->blocks[g->mounts[i].volume], *c = &e->plan->blocks[g->mounts[i].storage];

		if (!strcmp(kind, "volume") && !strcmp(v->name, name))
			return v;
		if (!strcmp(kind, "storage") && !strcmp(c->name, name))
			return c;
	}
	for (uint32_t i = 0; i < e->plan->n_blocks; i++)
		if (!strcmp(e->plan->blocks[i].kind, kind) && !strcmp(e->plan->blocks[i].name, name)) {
			found = found ? found : &e->plan->blocks[i];
			n++;
		}
	if (n > 1)
		stb_export_refuse(e, from, NULL, "cells change %s `%s` in different ways; this is the first", kind, name);
	return found;
}

static void put_device(struct section *s)
{
	const char *by_id = stb_export_str(s->storage, "by_id", NULL);

	if (!s->raw)
		stb_export_refuse(s->e, s->storage, NULL, "fio makes no file system; mount one and name its directory");
	else if (by_id && can_say(by_id))
		put(s, "filename", "%s", escaped(s, stb_arena_printf(&s->e->arena, "/dev/disk/by-id/%s", by_id)));
	else
		stb_export_refuse(s->e, s->storage, by_id ? "by_id" : "serial", "fio knows devices by their path; name it in filename");
}

static void put_place(struct section *s)
{
	const char *type = s->storage ? s->storage->type : "", *path = stb_export_str(s->storage, "path", NULL);

	if (is_null(s))
		return;
	if (!strcmp(type, "directory") && path && can_say(path))
		put(s, "directory", "%s", escaped(s, path));
	else if (!strcmp(type, "directory"))
		stb_export_refuse(s->e, s->storage, "path", "a name in a job file ends at ; and #, and has no blanks at its ends");
	else if (!strcmp(type, "device"))
		put_device(s);
	else if (s->storage)
		stb_export_refuse(s->e, s->storage, NULL, "fio provisions no storage; make it and name it in %s", s->raw ? "filename" : "directory");
	if (s->storage && stb_export_val(s->storage, "limits.read_iops"))
		stb_export_refuse(s->e, s->storage, "limits.read_iops", "fio limits its own jobs, not a device");
	for (const char *const *p = (const char *const[]){ "limits.write_iops", "limits.read_bw", "limits.write_bw", NULL }; *p; p++)
		if (s->storage && stb_export_val(s->storage, *p))
			stb_export_refuse(s->e, s->storage, *p, "fio limits its own jobs, not a device");
}

/* --- CPUs ------------------------------------------------------------------------------------------------------------------------------ */

/* One vCPU whose rule is a list or a node; or several with a CPU each, ascending. */
static void put_pin(struct section *s, const struct stb_plan_block *pin)
{
	static const char *const policies[][2] = { { "preferred", "prefer" }, { "bind", "bind" }, { "interleave", "interleave" }, { "local", "local" } };
	const uint64_t n = stb_export_u64(pin, "vcpus", 0);
	const char *list = "", *policy = stb_export_str(pin, "mempolicy", "default"), *nodes = stb_export_str(pin, "memnodes", NULL);
	const struct stb_val *node = stb_export_val(pin, "vcpu.0.node");
	long last = -1;

	for (uint64_t i = 0; i < n && i < 4096; i++) {
		const char *cpus = stb_export_str(pin, stb_arena_printf(&s->e->arena, "vcpu.%" PRIu64 ".cpus", i), NULL);
		char *end;
		long cpu;

		if (!cpus)
			break;
		cpu = strtol(cpus, &end, 10);
		if (n > 1 && (*end || cpu <= last))
			break;
		last = cpu;
		list = stb_arena_printf(&s->e->arena, "%s%s%s", list, *list ? "," : "", cpus);
		if (i + 1 == n) {
			put(s, "cpus_allowed", "%s", list);
			if (n > 1)
				put(s, "cpus_allowed_policy", "split");
			node = NULL;
			list = NULL;
		}
	}
	if (list && n == 1 && node)
		put(s, "numa_cpu_nodes", "%" PRId64, node->num);
	else if (list)
		stb_export_refuse(s->e, pin, NULL, "fio pins jobs to one set of CPUs, or one CPU each in ascending order");
	for (size_t i = 0; i < STB_LEN(policies); i++)
		if (!strcmp(policies[i][0], policy))
			put(s, "numa_mem_policy", "%s%s%s", policies[i][1], nodes ? ":" : "", nodes ? nodes : "");
}

static void put_server(struct section *s)
{
	const struct stb_plan_block *server = stb_export_server(s->e);
	const uint32_t pin = s->e->plan->cells[s->e->cell].pin;

	if (!server)
		return;
	for (const char *const *p = (const char *const[]){ "cpus", "memory", NULL }; *p; p++)
		if (stb_export_val(server, *p))
			stb_export_refuse(s->e, server, *p, "fio holds itself to no part of a machine");
	if (pin != STB_NONE)
		put_pin(s, &s->e->plan->blocks[pin]);
}

/* --- sections -------------------------------------------------------------------------------------------------------------------------- */

static void open_section(struct section *s, struct stb_export *e, const struct stb_plan_block *w)
{
	const char *volume = stb_export_str(w, "volume", NULL), *rw = stb_export_str(w, "rw", "read");

	*s = (struct section){ .e = e, .w = w, .jobs = stb_export_u64(w, "numjobs", 1) };
	s->volume = volume ? find(e, w, "volume", volume) : NULL;
	s->storage = s->volume ? find(e, s->volume, "storage", stb_export_str(s->volume, "storage", "")) : NULL;
	s->raw = s->volume && !strcmp(stb_export_str(s->volume, "filesystem", ""), "none");
	s->trims = !strcmp(rw, "trim");
	s->random = !strncmp(rw, "rand", 4);
	s->reads = strstr(rw, "read") || strstr(rw, "rw");
	s->writes = strstr(rw, "write") || strstr(rw, "rw");
	stb_buf_printf(&e->out, "\n[%s]\n", w->name);
}

/* `last`: nothing behind it works on its files. */
static void put_section(struct stb_export *e, const struct stb_plan_block *w, bool stonewall, bool group, bool last)
{
	struct section s;

	open_section(&s, e, w);
	if (stonewall)
		stb_buf_adds(&e->out, "stonewall\n");
	if (group)
		stb_buf_adds(&e->out, "new_group\n");
	if (w->note)
		put_note(&s, "note", "description", w->note);
	put_place(&s);
	if (last && !s.raw && !is_null(&s))
		stb_buf_adds(&e->out, "unlink=1\n");
	put_attributes(&s);
	put_differences(&s);
	put_server(&s);
}

/* A fill that writes the measured workload's files from end to end is what fio calls overwrite. */
static bool is_overwrite(const struct stb_plan_block *w, const struct stb_plan_block *fill)
{
	const char *rw = stb_export_str(w, "rw", "");

	return (!strcmp(rw, "write") || !strcmp(rw, "randwrite")) && !strcmp(stb_export_str(fill, "rw", ""), "write") &&
		!strcmp(stb_export_str(fill, "filename", ""), stb_export_str(w, "filename", " ")) &&
		!strcmp(stb_export_str(fill, "volume", ""), stb_export_str(w, "volume", " ")) &&
		stb_export_true(fill, "shared_file") == stb_export_true(w, "shared_file") &&
		(stb_export_true(w, "shared_file") || stb_export_u64(fill, "numjobs", 1) == stb_export_u64(w, "numjobs", 1)) &&
		stb_export_u64(fill, "offset", 0) == 0 && !stb_export_val(fill, "runtime") &&
		stb_export_u64(fill, "size", 0) == stb_export_u64(w, "offset", 0) + stb_export_u64(w, "size", 0);
}

/* The workload with what fills its volume before. */
static void put_filled(struct stb_export *e, const struct stb_plan_block *w, bool stonewall, bool group)
{
	const struct stb_val *prepare = stb_export_val(w, "prepare");
	const struct stb_plan_block *fill = NULL;

	for (uint32_t i = 0; prepare && i < prepare->n_items; i++) {
		fill = find(e, w, "workload", prepare->items[i].str);
		if (!fill || (prepare->n_items == 1 && is_overwrite(w, fill)))
			break;
		put_section(e, fill, stonewall, false, false);
		stb_export_comment(e, "not measured in stb: it fills the volume");
		stb_buf_adds(&e->out, "stats=0\n");
		fill = NULL;
		stonewall = true;
	}
	put_section(e, w, stonewall, group, true);
	if (fill)
		stb_buf_adds(&e->out, "overwrite=1\n");
}

/* In stb all warm-ups of a mix end together, in fio they begin together: who has a shorter one begins later. */
static void put_delay(struct stb_export *e, const struct stb_plan_block *part)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(e->plan, e->cell);
	uint64_t longest = 0, own = ramp_of(part);

	for (uint32_t i = 0; i < mix->n; i++)
		longest = STB_MAX(longest, ramp_of(&e->plan->blocks[mix->members[i]]));
	if (longest > own)
		stb_buf_printf(&e->out, "startdelay=%" PRIu64 "us\n", (longest - own) / 1000);
}

static void put_part(struct stb_export *e, const struct stb_plan_block *part, bool group)
{
	const struct stb_val *prepare = stb_export_val(part, "prepare");
	const struct stb_plan_block *fill = prepare && prepare->n_items == 1 ? find(e, part, "workload", prepare->items[0].str) : NULL;
	const bool overwrite = fill && is_overwrite(part, fill);

	put_section(e, part, false, group, true);
	put_delay(e, part);
	if (overwrite)
		stb_buf_adds(&e->out, "overwrite=1\n");
	else if (prepare && prepare->n_items)
		stb_export_refuse(e, part, "prepare", "fio fills a volume in a job, and all jobs of a mix begin together");
}

bool stb_export_fio_applies(const struct stb_export *e)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(e->plan, e->cell);

	for (uint32_t i = 0; i < mix->n; i++)
		if (strcmp(e->plan->blocks[mix->members[i]].type, "io"))
			return false;
	return mix->n || !strcmp(stb_export_workload(e)->type, "io");
}

void stb_export_fio(struct stb_export *e)
{
	const struct stb_plan_mix *mix = stb_plan_mix_of(e->plan, e->cell);
	const struct stb_plan_block *w = stb_export_workload(e);

	stb_export_comment(e, "made by `stb export fio` from %s `%s`; for fio 3.33 or later", w->kind, w->name);
	stb_buf_adds(&e->out, "[global]\nthread\ngroup_reporting\n");
	if (!mix->n)
		put_filled(e, w, false, false);
	for (uint32_t i = 0; i < mix->n; i++)
		put_part(e, &e->plan->blocks[mix->members[i]], i > 0);
	stb_export_end(e);
}
