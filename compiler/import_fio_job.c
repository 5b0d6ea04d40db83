/*
 * import_fio_job.c - one fio job as a workload: the attributes, each from its option, with an account of what the option says that a spec cannot.
 *
 * An option without effect in this job (rwmixread of a job that only reads) leaves no attribute, which would be an error in a spec, and counts
 * as idle.
 */
#include "compiler/import_fio.h"

#include "compiler/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ATTR(...) stb_import_attr(x->im, __VA_ARGS__)

static struct stb_arena *arena(struct stb_fio_import *x)
{
	return &x->im->c->arena;
}

static bool in_words(const char *words, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = words; *p; p += strspn(p, " ")) {
		const size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}

void stb_fio_put_flag(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, const char *attr)
{
	uint64_t on;

	if (stb_fio_value(x, j, sym, &on))
		ATTR(attr, "%s", on ? "true" : "false");
}

void stb_fio_put_count(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, const char *attr)
{
	const struct stb_schema_attr *row = stb_schema_attr(STB_K_WORKLOAD, "io", attr);
	struct stb_val least, most;
	uint64_t n;

	if (!stb_fio_value(x, j, sym, &n))
		return;
	if ((stb_schema_bound(row->min, &least) && (int64_t)n < least.num) || (stb_schema_bound(row->max, &most) && (int64_t)n > most.num))
		stb_fio_refuse(x, j->sym[sym], "%s is from %s to %s", attr, row->min, row->max);
	else
		ATTR(attr, "%" PRIu64, n);
}

/* --- what is done ---------------------------------------------------------------------------------------------------------------------- */

static void put_direction(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_RW], *mix = j->sym[STB_FIO_RWMIX];
	const char *sequencer;
	const struct stb_fio_direction *d = stb_fio_direction(j, &sequencer);
	uint64_t percent;

	if (o)
		o->used = true;
	if (!d)
		stb_fio_bad(x, o, "that is no direction");
	else if (d->lack)
		stb_fio_refuse(x, o, "%s", d->lack);
	else if (sequencer)
		stb_fio_refuse(x, o, j->random ? "every I/O has an offset of its own" : "a sequential workload leaves no holes");
	ATTR("rw", "%s", j->rw);
	if (!(j->reads && j->writes)) {
		stb_fio_idle(mix, "the job goes in one direction");
	} else if (stb_fio_value(x, j, STB_FIO_RWMIX, &percent)) {
		if (percent > 100)
			stb_fio_bad(x, mix, "a share is from 0 to 100");
		else
			ATTR("rwmixread", "%" PRIu64 "%%", !strcmp(mix->name, "rwmixwrite") ? 100 - percent : percent);
	}
}

static void put_sizes(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *align = j->sym[STB_FIO_BLOCKALIGN];
	struct stb_buf sizes, shares;
	uint64_t aligned;
	struct stb_fio_sizes s;

	stb_fio_read_sizes(x, j, &s);
	if (s.o)
		s.o->used = true;
	if (s.o != j->sym[STB_FIO_BS])
		stb_fio_idle(j->sym[STB_FIO_BS], "bsrange or bssplit says it");
	if (s.o != j->sym[STB_FIO_BSRANGE])
		stb_fio_idle(j->sym[STB_FIO_BSRANGE], "bssplit says it");
	if (s.bad)
		stb_fio_bad(x, s.o, "%s", s.bad);
	else if (s.refused)
		stb_fio_refuse(x, s.o, "%s", s.refused);
	else if (s.note)
		stb_fio_differs(x, s.o, "%s", s.note);
	else if (s.o && strcasestr(s.told, "ib") && j->kb_base != 1000)
		stb_fio_differs(x, s.o, "fio reads an i in a unit as powers of ten, unless kb_base is 1000: 4KiB is 4000 bytes");
	stb_buf_init(&sizes);
	stb_buf_init(&shares);
	for (uint32_t i = 0; i < s.n; i++) {
		stb_buf_printf(&sizes, "%s%s", i ? ", " : "", stb_import_bytes(x->im, s.bytes[i]));
		if (s.shares[i])
			stb_buf_printf(&shares, "%s%s", i ? ", " : "", s.shares[i]);
		else if (100 % s.n == 0)
			stb_buf_printf(&shares, "%s%u%%", i ? ", " : "", 100 / s.n);
		else
			stb_buf_printf(&shares, "%s100%% / %u", i ? ", " : "", s.n);
	}
	ATTR("bs", s.n > 1 ? "[%s]" : "%s", stb_buf_str(&sizes));
	if (s.n > 1)
		ATTR("bs_percent", "[%s]", stb_buf_str(&shares));
	stb_buf_fini(&sizes);
	stb_buf_fini(&shares);
	if (align && align->value && j->random && stb_fio_read_number(x, j, align, align->value, &aligned) && aligned != j->bs_least)
		stb_fio_refuse(x, align, "random offsets are multiples of the size of a block");
	else if (align && !j->random)
		stb_fio_idle(align, "the job is sequential");
}

/* --- where and how much ---------------------------------------------------------------------------------------------------------------- */

/* Bytes of an option that may also be a share of the file; false: it says nothing that a spec can. */
static bool bytes_of(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t *out)
{
	struct stb_fio_option *o = j->sym[sym];
	const size_t len = o && o->value ? strlen(o->value) : 0;

	if (!o)
		return false;
	if (len && o->value[len - 1] == '%') {
		stb_fio_refuse(x, o, "a share of a file or device; a spec says how many bytes");
		return false;
	}
	return stb_fio_read_number(x, j, o, len ? o->value : "", out);
}

/* A region holds whole blocks; fio leaves the rest out too. */
static uint64_t whole_blocks(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_option *o, uint64_t bytes)
{
	const uint64_t least = j->bs_least == j->bs_most ? j->bs_most : 1, whole = bytes / least * least;

	if (whole != bytes && whole)
		stb_fio_differs(x, o, "fio leaves out the last %" PRIu64 " bytes, which are no whole block", bytes - whole);
	return whole ? whole : bytes;
}

static void put_amount(struct stb_fio_import *x, const struct stb_fio_job *j, uint64_t size)
{
	struct stb_fio_option *amount = j->sym[STB_FIO_IO_SIZE], *loops = j->sym[STB_FIO_LOOPS];
	const bool endless = stb_fio_peek(j, STB_FIO_TIME_BASED, 0);
	uint64_t n, times = 1;

	if (endless) {
		stb_fio_idle(amount, "the runtime ends the job");
		stb_fio_idle(loops, "the runtime ends the job");
		return;
	}
	if (bytes_of(x, j, STB_FIO_IO_SIZE, &n) && n != size) {
		if (!size || n % size)
			stb_fio_refuse(x, amount, "a job goes over its region a whole number of times; the spec has once");
		else
			times = n / size;
	}
	if (stb_fio_value(x, j, STB_FIO_LOOPS, &n))
		times *= STB_MAX(n, 1);
	if (loops && !stb_fio_peek(j, STB_FIO_LOOPS, 1)) {
		loops->used = false;
		stb_fio_idle(loops, "fio goes over a file once, as with loops=1");
	}
	if (loops && times > 1 && stb_fio_verifies(j))
		stb_fio_differs(x, loops, "fio reads back after each loop, a workload once, after the last");
	if (times > 1)
		ATTR("loops", "%" PRIu64, times);
}

static void put_region(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_SIZE], *filesize = j->sym[STB_FIO_FILESIZE];
	uint64_t size = 0, file, offset;
	bool known = bytes_of(x, j, STB_FIO_SIZE, &size) && size;

	if (bytes_of(x, j, STB_FIO_FILESIZE, &file)) {
		if (!known)
			size = file, o = filesize, known = true;
		else if (file != size)
			stb_fio_refuse(x, filesize, "a file is as large as the region of its job");
	}
	if (known) {
		size = whole_blocks(x, j, o, size);
		ATTR("size", "%s", stb_import_bytes(x->im, size));
	} else {
		if (!o || !o->told)
			stb_import_refuse(x->im, o ? o->span : j->section->span, o ? o->words : stb_arena_printf(arena(x), "[%s]",
				stb_import_quote(x->im, j->section->name, strlen(j->section->name))),
				"its size is that of the file or device, as fio finds it; a spec says it");
		stb_import_comment(x->im, "size = HOW MUCH");
		if (o)
			o->told = true;
	}
	if (bytes_of(x, j, STB_FIO_OFFSET, &offset)) {
		if (offset % j->bs_least)
			stb_fio_refuse(x, j->sym[STB_FIO_OFFSET], "a region begins at a whole block");
		else
			ATTR("offset", "%s", stb_import_bytes(x->im, offset));
	}
	put_amount(x, j, size);
}

static void put_time(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *endless = j->sym[STB_FIO_TIME_BASED];
	uint64_t runtime = 0, ns, on;

	if (stb_fio_value(x, j, STB_FIO_RUNTIME, &runtime) && runtime)
		ATTR("runtime", "%s", stb_import_time(x->im, runtime));
	if (stb_fio_value(x, j, STB_FIO_TIME_BASED, &on) && on) {
		if (runtime)
			ATTR("time_based", "true");
		else
			stb_fio_bad(x, endless, "it needs a runtime");
	}
	if (stb_fio_value(x, j, STB_FIO_RAMP_TIME, &ns) && ns) {
		if (!stb_fio_value(x, j, STB_FIO_TIME_BASED, &on) || !on)
			stb_fio_differs(x, j->sym[STB_FIO_RAMP_TIME], "what fio does within it counts towards size, which may be done before it is over; a workload's "
				"size begins behind it");
		ATTR("ramp_time", "%s", stb_import_time(x->im, ns));
	}
}

/* --- syncs, cache, layout -------------------------------------------------------------------------------------------------------------- */

static void put_direct(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_DIRECT];
	uint64_t n;

	if (o && stb_fio_value(x, j, STB_FIO_DIRECT, &n))
		ATTR("direct", "%s", j->direct ? "true" : "false");
	if (j->direct)
		stb_fio_idle(j->sym[STB_FIO_INVALIDATE], "direct I/O does not go through the page cache");
	else
		stb_fio_put_flag(x, j, STB_FIO_INVALIDATE, "invalidate");
}

static void put_syncs(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	static const enum stb_fio_sym all[] = { STB_FIO_SYNC, STB_FIO_FSYNC, STB_FIO_FDATASYNC, STB_FIO_END_FSYNC };
	const char *sync;

	for (size_t i = 0; i < STB_LEN(all) && !j->writes; i++)
		stb_fio_idle(j->sym[all[i]], "the job writes nothing");
	if (!j->writes)
		return;
	sync = stb_fio_word(x, j, STB_FIO_SYNC);
	if (sync && (!strcmp(sync, "1") || !strcmp(sync, "sync")))
		ATTR("sync", "sync");
	else if (sync && !strcmp(sync, "dsync"))
		ATTR("sync", "dsync");
	else if (sync && strcmp(sync, "0") && strcmp(sync, "none"))
		stb_fio_bad(x, j->sym[STB_FIO_SYNC], "that is none of none, sync and dsync");
	stb_fio_put_count(x, j, STB_FIO_FSYNC, "fsync");
	stb_fio_put_count(x, j, STB_FIO_FDATASYNC, "fdatasync");
	stb_fio_put_flag(x, j, STB_FIO_END_FSYNC, "end_fsync");
}

static void put_layout(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_FALLOCATE];
	const char *how;

	if (j->reads || j->raw || j->trims || !strcmp(j->engine, "null")) {
		stb_fio_idle(o, j->raw ? "a device is not laid out" : "a file that is read is filled before");
		return;
	}
	how = stb_fio_word(x, j, STB_FIO_FALLOCATE);
	if (!how)
		return;
	if (!strcmp(how, "none") || !strcmp(how, "0"))
		ATTR("fallocate", "none");
	else if (!strcmp(how, "keep") || !strcmp(how, "truncate"))
		stb_fio_refuse(x, o, "a file is reserved at its size, or grows");
	else if (!strcmp(how, "posix") || !strcmp(how, "1"))
		stb_fio_differs(x, o, "space is reserved with fallocate, which writes nothing where the file system does not have it");
	else if (strcmp(how, "native"))
		stb_fio_bad(x, o, "that is none of native, posix, keep, truncate and none");
	else
		ATTR("fallocate", "native");
}

/* --- offsets and data ------------------------------------------------------------------------------------------------------------------ */

static const char *share_text(struct stb_fio_import *x, const char *s, size_t len)
{
	const char *n = stb_fio_decimal(arena(x), s, len);

	return n ? stb_arena_printf(arena(x), "%s%%", n) : NULL;
}

/* "60/10:40/90" */
static const char *zones(struct stb_fio_import *x, const char *s)
{
	struct stb_buf b;
	const char *all = NULL;

	stb_buf_init(&b);
	for (const char *p = s; *p; p += *p == ':') {
		const size_t len = strcspn(p, ":"), n = strcspn(p, "/");
		const char *access = n < len ? share_text(x, p, n) : NULL, *size = n < len ? share_text(x, p + n + 1, len - n - 1) : NULL;

		if (!access || !size)
			goto out;
		stb_buf_printf(&b, "%s[%s, %s]", b.len ? ", " : "", access, size);
		p += len;
	}
	if (b.len)
		all = stb_arena_printf(arena(x), "zoned(%s)", stb_buf_str(&b));
out:
	stb_buf_fini(&b);
	return all;
}

static void put_distribution(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_DISTRIBUTION];
	const char *text = stb_fio_word(x, j, STB_FIO_DISTRIBUTION), *param, *shape = NULL;
	size_t n, len;

	if (!text || !stb_fio_part(x, j, text, "random", &text)) {
		if (text)
			stb_fio_refuse(x, o, "reads and writes of one workload are distributed alike");
		return;
	}
	n = strcspn(text, ":");
	param = text[n] ? text + n + 1 : "";
	len = strlen(param);
	if (!strcmp(text, "random"))
		return;
	if (!strncmp(text, "zipf", n) && n == 4)
		shape = !len ? "zipf(1.1)" : (shape = stb_fio_decimal(arena(x), param, len)) ? stb_arena_printf(arena(x), "zipf(%s)", shape) : NULL;
	else if (!strncmp(text, "pareto", n) && n == 6)
		shape = !len ? "pareto(0.2)" : (shape = stb_fio_decimal(arena(x), param, len)) ? stb_arena_printf(arena(x), "pareto(%s)", shape) : NULL;
	else if (!strncmp(text, "normal", n) && n == 6)
		shape = (shape = share_text(x, param, len)) ? stb_arena_printf(arena(x), "normal(%s)", shape) : NULL;
	else if (!strncmp(text, "zoned", n) && n == 5)
		shape = zones(x, param);
	if (shape)
		ATTR("random_distribution", "%s", shape);
	if (shape && n == 6 && !strncmp(text, "normal", n))
		stb_fio_differs(x, o, "fio scatters the blocks that are drawn often over the region; a workload has them in its middle");
	if (!shape)
		stb_fio_refuse(x, o, "distributions are zipf(1.2), pareto(0.2), normal(10%%) and zoned([60%%, 10%%], ...), without a centre");
}

static void put_offsets(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	static const enum stb_fio_sym all[] = { STB_FIO_RANDREPEAT, STB_FIO_NORANDOMMAP, STB_FIO_DISTRIBUTION };

	for (size_t i = 0; i < STB_LEN(all) && !j->random; i++)
		stb_fio_idle(j->sym[all[i]], "the job is sequential");
	if (!j->random)
		return;
	stb_fio_put_flag(x, j, STB_FIO_RANDREPEAT, "randrepeat");
	stb_fio_put_flag(x, j, STB_FIO_NORANDOMMAP, "norandommap");
	put_distribution(x, j);
}

static void put_verify(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	const struct stb_schema_attr *row = stb_schema_attr(STB_K_WORKLOAD, "io", "verify");
	struct stb_fio_option *o = j->sym[STB_FIO_VERIFY];
	const char *method, *ours;

	if (!stb_fio_verifies(j)) {
		stb_fio_idle(o, "that is how it is anyway");
		stb_fio_idle(j->sym[STB_FIO_VERIFY_FATAL], "nothing is verified");
		return;
	}
	method = ours = o->value;
	o->used = true;
	if (!strcmp(method, "crc32c-intel"))
		ours = "crc32c";
	if (!j->writes) {
		stb_fio_refuse(x, o, "a workload compares what it wrote itself, and this job writes nothing");
	} else if (!in_words(row->words, ours)) {
		stb_fio_refuse(x, o, "checksums are: %s", row->words);
	} else {
		ATTR("verify", "%s", ours);
		stb_fio_put_flag(x, j, STB_FIO_VERIFY_FATAL, "verify_fatal");
		return;
	}
	stb_fio_idle(j->sym[STB_FIO_VERIFY_FATAL], "nothing is verified");
}

static void put_data(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	static const enum stb_fio_sym all[] = { STB_FIO_REFILL, STB_FIO_COMPRESS, STB_FIO_ZERO_BUFFERS };
	const bool none = !j->writes || !strcmp(j->engine, "null");
	uint64_t n;

	for (size_t i = 0; i < STB_LEN(all) && none; i++)
		stb_fio_idle(j->sym[all[i]], "the job writes nothing");
	if (none)
		return;
	stb_fio_put_flag(x, j, STB_FIO_REFILL, "refill_buffers");
	if (stb_fio_value(x, j, STB_FIO_ZERO_BUFFERS, &n) && n) {
		ATTR("buffer_compress_percentage", "100%%");
		stb_fio_idle(j->sym[STB_FIO_COMPRESS], "zero_buffers writes zeros only");
	} else if (stb_fio_value(x, j, STB_FIO_COMPRESS, &n)) {
		if (n > 100)
			stb_fio_bad(x, j->sym[STB_FIO_COMPRESS], "a share is from 0 to 100");
		else
			ATTR("buffer_compress_percentage", "%" PRIu64 "%%", n);
	}
}

/* --- pace ------------------------------------------------------------------------------------------------------------------------------ */

/*
 * fio holds each direction to a rate of its own, and lets the mix go where they lead. A workload has one rate, which its mix divides: the same
 * where the two rates stand to each other as the mix does.
 */
static bool rate_of(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t *out)
{
	struct stb_fio_option *o = j->sym[sym];
	const char *text = stb_fio_word(x, j, sym), *part;
	const struct stb_fio_option *mix = j->sym[STB_FIO_RWMIX];
	uint64_t reads = stb_fio_peek(j, STB_FIO_RWMIX, 50), a, b;
	struct stb_fio_job one = *j;

	if (!text)
		return false;
	if (mix && !strcmp(mix->name, "rwmixwrite"))
		reads = 100 - STB_MIN(reads, 100u);
	one.writes = one.trims = false;
	one.reads = true;
	(void)stb_fio_part(x, &one, text, "0", &part);
	if (!stb_fio_read_number(x, j, o, part, &a))
		return false;
	one.reads = false;
	one.writes = true;
	(void)stb_fio_part(x, &one, text, "0", &part);
	if (!stb_fio_read_number(x, j, o, part, &b))
		return false;
	if (j->trims) {
		one.writes = false;
		one.trims = true;
		(void)stb_fio_part(x, &one, text, "0", &part);
		if (!stb_fio_read_number(x, j, o, part, &b))
			return false;
	}
	*out = j->reads && j->writes ? a + b : j->reads ? a : b;
	if (j->reads && j->writes && (a > UINT32_MAX || b > UINT32_MAX || a * (100 - reads) != b * reads)) {
		stb_fio_refuse(x, o, "a workload has one rate, which its mix divides; these rates change the mix");
		return false;
	}
	return *out > 0;
}

static void put_pace(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *process = j->sym[STB_FIO_RATE_PROCESS];
	uint64_t n;
	bool rated = false;
	const char *how;

	if (rate_of(x, j, STB_FIO_RATE_IOPS, &n)) {
		ATTR("rate_iops", "%" PRIu64 "/s", n);
		rated = true;
		if (j->sym[STB_FIO_RATE])
			stb_fio_refuse(x, j->sym[STB_FIO_RATE], "a workload has one rate; the spec has rate_iops");
	} else if (rate_of(x, j, STB_FIO_RATE, &n)) {
		ATTR("rate", "%s/s", stb_import_bytes(x->im, n));
		rated = true;
	}
	if (!rated)
		stb_fio_idle(process, "the job has no rate");
	else if ((how = stb_fio_word(x, j, STB_FIO_RATE_PROCESS))) {
		if (strcmp(how, "linear") && strcmp(how, "poisson"))
			stb_fio_bad(x, process, "that is none of linear and poisson");
		else
			ATTR("rate_process", "%s", how);
	}
	if (stb_fio_value(x, j, STB_FIO_THINKTIME, &n) && n)
		ATTR("thinktime", "%s", stb_import_time(x->im, n));
}

static void put_errors(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	const char *what = stb_fio_word(x, j, STB_FIO_CONTINUE);

	if (!what || !strcmp(what, "none"))
		return;
	if (!strcmp(what, "all") || !strcmp(what, "io"))
		ATTR("error_limit", "1000000000");
	else
		stb_fio_refuse(x, j->sym[STB_FIO_CONTINUE], "error_limit counts errors of all directions");
}

/* --- the workload ---------------------------------------------------------------------------------------------------------------------- */

/* overwrite=1: the file holds data before it is written to. Another workload writes it. */
static const char *fill_name(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_OVERWRITE];
	uint64_t on;

	if (j->raw || !j->writes || j->reads || !strcmp(j->engine, "null")) {
		stb_fio_idle(o, j->reads ? "a file that is read is filled before" : "nothing is written to a file");
		return NULL;
	}
	return stb_fio_value(x, j, STB_FIO_OVERWRITE, &on) && on ? stb_import_name(x->im, stb_arena_printf(arena(x), "%s_fill", j->name)) : NULL;
}

static void put_file(struct stb_fio_import *x, const struct stb_fio_job *j)
{
	ATTR("volume", "%s", x->places[j->place].name);
	if (!j->raw)
		stb_import_text(x->im, "filename", j->file);
	if (j->shared || (j->raw && j->clones > 1))
		ATTR("shared_file", "true");
}

static void put_fill(struct stb_fio_import *x, const struct stb_fio_job *j, const char *name)
{
	uint64_t size = stb_fio_peek(j, STB_FIO_SIZE, 0) + stb_fio_peek(j, STB_FIO_OFFSET, 0);
	const uint64_t bs = size % (1u << 20) == 0 ? 1u << 20 : j->bs_least;

	stb_import_open(x->im, "workload io %s", name);
	stb_import_comment(x->im, "fills the files of %s, which overwrites them", j->name);
	put_file(x, j);
	if (size)
		ATTR("size", "%s", stb_import_bytes(x->im, size / bs * bs));
	ATTR("rw", "write");
	ATTR("bs", "%s", stb_import_bytes(x->im, bs));
	if (j->clones > 1 && !j->shared)
		ATTR("numjobs", "%u", j->clones);
	ATTR("end_fsync", "true");
	stb_import_close(x->im);
}

void stb_fio_workload(struct stb_fio_import *x, struct stb_fio_job *j)
{
	const char *fill, *note = stb_fio_word(x, j, STB_FIO_DESCRIPTION);
	uint64_t kb_base;

	if (note)
		stb_import_text(x->im, "note", note);
	stb_fio_idle(j->sym[STB_FIO_THREAD], "jobs are threads anyway");
	if (stb_fio_value(x, j, STB_FIO_KB_BASE, &kb_base) && kb_base != 1000 && kb_base != 1024)
		stb_fio_bad(x, j->sym[STB_FIO_KB_BASE], "that is none of 1000 and 1024");
	put_file(x, j);
	put_direction(x, j);
	put_sizes(x, j);
	put_region(x, j);
	stb_fio_put_engine(x, j);
	stb_fio_put_count(x, j, STB_FIO_NUMJOBS, "numjobs");
	put_direct(x, j);
	put_syncs(x, j);
	put_time(x, j);
	put_offsets(x, j);
	put_data(x, j);
	put_layout(x, j);
	put_verify(x, j);
	put_pace(x, j);
	put_errors(x, j);
	fill = fill_name(x, j);
	if (fill)
		ATTR("prepare", "[%s]", fill);
	else if (j->raw && j->reads) {
		stb_import_comment(x->im, "fio reads what is there; [] says that the device is known to be filled");
		ATTR("prepare", "[]");
	}
	stb_import_close(x->im);
	if (fill)
		put_fill(x, j, fill);
}
