/*
 * import_fio_facts.c - what a fio job is (direction, engine, depth, sizes of blocks), before anything is said about it: which options have an
 * effect in it hangs on that. Also how its options are read.
 */
#include "compiler/import_fio.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ, WRITE, TRIM };

static struct stb_arena *arena(struct stb_fio_import *x)
{
	return &x->im->c->arena;
}

/* --- values ---------------------------------------------------------------------------------------------------------------------------- */

static const char of_machine[] = "fio puts a figure of the machine in its place; a spec says the number";

static bool is_of_machine(const char *text)
{
	return strstr(text, "$ncpus") || strstr(text, "$pagesize") || strstr(text, "$mb_memory");
}

uint64_t stb_fio_peek(const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t fallback)
{
	const struct stb_fio_option *o = j->sym[sym];
	uint64_t n;

	if (!o)
		return fallback;
	if (!o->value) /* a flag: the others have one */
		return 1;
	return stb_fio_number(o->value, o->row->kind, j->kb_base, &n) ? n : fallback;
}

bool stb_fio_read_number(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_option *o, const char *text, uint64_t *out)
{
	if (is_of_machine(text)) {
		stb_fio_refuse(x, o, "%s", of_machine);
		return false;
	}
	if (!stb_fio_number(text, o->row->kind == STB_FIO_TEXT ? STB_FIO_BYTES : o->row->kind, j->kb_base, out)) {
		stb_fio_bad(x, o, *text ? "`%s` is no value of it" : "it needs a value%s", stb_import_quote(x->im, text, strlen(text)));
		return false;
	}
	if (stb_fio_reads_kib_as_kb(text, j->kb_base))
		stb_fio_differs(x, o, "fio reads `%s` by powers of ten, unless kb_base is 1000", stb_import_quote(x->im, text, strlen(text)));
	o->used = true;
	return true;
}

bool stb_fio_value(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t *out)
{
	struct stb_fio_option *o = j->sym[sym];

	if (!o)
		return false;
	if (!o->value) {
		*out = 1;
		o->used = true;
		return true;
	}
	return stb_fio_read_number(x, j, o, o->value, out);
}

const char *stb_fio_word(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym)
{
	struct stb_fio_option *o = j->sym[sym];

	if (!o)
		return NULL;
	if (!*o->value) {
		stb_fio_bad(x, o, "it needs a value");
		return NULL;
	}
	o->used = true;
	return o->value;
}

/* --- facts ----------------------------------------------------------------------------------------------------------------------------- */

static const struct stb_fio_direction directions[] = {
	{ "read", "read", NULL }, { "write", "write", NULL }, { "trim", "trim", NULL }, { "randread", "randread", NULL },
	{ "randwrite", "randwrite", NULL }, { "rw", "rw", NULL }, { "readwrite", "rw", NULL }, { "randrw", "randrw", NULL },
	{ "randtrim", "trim", "trims go over the region in order" }, { "trimwrite", "write", "a workload does not mix trims with writes" },
	{ "randtrimwrite", "randwrite", "a workload does not mix trims with writes" },
};

const struct stb_fio_direction *stb_fio_find_direction(const char *word, size_t len)
{
	for (size_t i = 0; i < STB_LEN(directions); i++)
		if (strlen(directions[i].fio) == len && !memcmp(directions[i].fio, word, len))
			return &directions[i];
	return NULL;
}

const struct stb_fio_direction *stb_fio_direction(const struct stb_fio_job *j, const char **sequencer)
{
	const struct stb_fio_option *o = j->sym[STB_FIO_RW];
	const char *text = o && o->value ? o->value : "read";
	const size_t n = strcspn(text, ":");

	*sequencer = text[n] ? text + n + 1 : NULL;
	return stb_fio_find_direction(text, n);
}

static const struct stb_fio_engine engines[] = {
	{ "psync", "psync", NULL, true }, { "libaio", "libaio", NULL, true }, { "linuxaio", "libaio", NULL, true },
	{ "io_uring", "io_uring", NULL, true }, { "null", "null", NULL, true },
	{ "sync", "psync", "psync does the same with pread and pwrite instead of lseek, read and write", true },
	{ "pvsync", "psync", "psync does the same with pread and pwrite instead of preadv and pwritev", true },
	{ "pvsync2", "psync", "psync does the same with pread and pwrite instead of preadv2 and pwritev2", true },
	{ "vsync", "psync", "psync does not join neighbouring I/Os into one", false },
};

const struct stb_fio_engine *stb_fio_find_engine(const char *word)
{
	for (size_t i = 0; i < STB_LEN(engines); i++)
		if (!strcmp(engines[i].fio, word))
			return &engines[i];
	return NULL;
}

const struct stb_fio_engine *stb_fio_engine(const struct stb_fio_job *j)
{
	const struct stb_fio_option *o = j->sym[STB_FIO_IOENGINE];

	return stb_fio_find_engine(o && o->value ? o->value : "psync");
}

bool stb_fio_part(struct stb_fio_import *x, const struct stb_fio_job *j, const char *text, const char *fallback, const char **part)
{
	const char *parts[3] = { "", "", "" };
	uint32_t n = 0;
	bool same = true;

	for (const char *p = text; n < 3; p++) {
		const size_t len = strcspn(p, ",");

		parts[n++] = stb_arena_strndup(arena(x), p, len);
		p += len;
		if (!*p)
			break;
	}
	for (uint32_t i = 0; i < 3; i++)
		if (i >= n)
			parts[i] = parts[n - 1];
		else if (!*parts[i])
			parts[i] = fallback;
	*part = j->reads ? parts[READ] : j->writes ? parts[WRITE] : parts[TRIM];
	same = !(j->reads && j->writes) || !strcmp(parts[READ], parts[WRITE]);
	return same;
}

static bool size_of(const struct stb_fio_job *j, const char *text, size_t len, uint64_t *out)
{
	char copy[40];

	snprintf(copy, sizeof(copy), "%.*s", (int)STB_MIN(len, sizeof(copy) - 1), text);
	return len < sizeof(copy) && stb_fio_number(copy, STB_FIO_BYTES, j->kb_base, out) && *out;
}

/* "4k-64k", "4k:64k", in either order: all multiples of the least, equally often. */
static void read_range(const struct stb_fio_job *j, struct stb_fio_sizes *s)
{
	const size_t n = strcspn(s->told, "-:");
	uint64_t a, b, least, most;

	if (!s->told[n] || !size_of(j, s->told, n, &a) || !size_of(j, s->told + n + 1, strlen(s->told + n + 1), &b)) {
		s->bad = "a range is LEAST-MOST";
		return;
	}
	least = STB_MIN(a, b);
	most = STB_MAX(a, b);
	s->bytes[0] = least;
	s->n = 1;
	if (most / least > STB_FIO_MAX_SIZES) {
		s->refused = "the range holds more sizes than a list should; name some of them with bs and bs_percent";
		return;
	}
	if (most % least)
		s->refused = "its end is no multiple of its beginning, and a workload has sizes that are";
	for (; s->n < most / least; s->n++)
		s->bytes[s->n] = least * (s->n + 1);
}

/* Sizes without a share divide what is left, in whole percent; what is left after that has the one with the greatest share, as in fio. */
static void share_out(struct stb_fio_import *x, struct stb_fio_sizes *s, uint64_t percent[])
{
	uint64_t total = 0, blank = 0, greatest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		blank += percent[i] == UINT64_MAX;
		total += percent[i] == UINT64_MAX ? 0 : percent[i];
	}
	if (total > 100 || !s->n) {
		s->bad = "the shares add up to something else than 100";
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (percent[i] == UINT64_MAX)
			percent[i] = (100 - total) / blank;
	if (blank)
		total += (100 - total) / blank * blank;
	for (uint32_t i = 0; i < s->n; i++)
		if (percent[i] >= percent[greatest])
			greatest = i;
	percent[greatest] += 100 - total;
	if (total < 100 && !blank)
		s->note = "the shares add up to less than 100; fio gives the rest to the size with the greatest";
	for (uint32_t i = 0; i < s->n; i++)
		s->shares[i] = s->n > 1 ? stb_arena_printf(arena(x), "%" PRIu64 "%%", percent[i]) : NULL;
}

/* "4k/10:64k/50:32k" */
static void read_split(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_sizes *s)
{
	uint64_t percent[STB_FIO_MAX_SIZES];

	for (const char *p = s->told; *p; p += *p == ':') {
		const size_t len = strcspn(p, ":"), n = strcspn(p, "/");
		uint64_t share = UINT64_MAX;
		char *end;

		if (s->n == STB_FIO_MAX_SIZES) {
			s->refused = "that is more sizes than a list should have";
			break;
		}
		if (!size_of(j, p, STB_MIN(n, len), &s->bytes[s->n])) {
			s->bad = "a split is SIZE/PERCENT:SIZE/PERCENT";
			return;
		}
		if (n < len && n + 1 < len) {
			share = strtoull(p + n + 1, &end, 10);
			if (end != p + len || share > 100) {
				s->bad = "a share is a whole number of percent";
				return;
			}
		}
		percent[s->n] = share;
		s->n += share != 0; /* a size that is never drawn is none */
		p += len;
	}
	share_out(x, s, percent);
}

/* In bs without a comma fio parts the directions at a colon or a dash: "8k-64k" is "8k,64k", and no range. NULL: there is none. */
static const char *with_commas(struct stb_fio_import *x, const char *text)
{
	const char *at = strchr(text, ':') ? strchr(text, ':') : strchr(text, '-');

	if (!at || at == text || !at[1] || strchr(text, ','))
		return NULL;
	return stb_arena_printf(arena(x), "%.*s,%s", (int)(at - text), text, at + 1);
}

void stb_fio_read_sizes(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_sizes *s)
{
	struct stb_fio_option *range = j->sym[STB_FIO_BSRANGE], *split = j->sym[STB_FIO_BSSPLIT];

	*s = (struct stb_fio_sizes){ .o = split ? split : range ? range : j->sym[STB_FIO_BS] };
	const char *text = s->o && s->o->value ? s->o->value : "", *parted = split || range ? NULL : with_commas(x, text);

	if (parted)
		s->note = "fio takes the first size for reads and the second for writes and trims; bsrange makes a range of them";
	if (s->o && !stb_fio_part(x, j, parted ? parted : text, "4096", &s->told))
		s->refused = parted ? "fio takes the first size for reads and the second for writes, and a workload has the same for both; bsrange makes a range of them" :
			"reads and writes of one workload have the same sizes; the spec has those of the reads";
	if (s->o && s->told && is_of_machine(s->told)) {
		s->refused = of_machine;
	} else if (s->o && s->o == split) {
		read_split(x, j, s);
	} else if (s->o && s->o == range) {
		read_range(j, s);
	} else {
		s->n = 1;
		if (!s->o)
			s->bytes[0] = 4096;
		else if (!size_of(j, s->told, strlen(s->told), &s->bytes[0]))
			s->bad = "that is no size";
	}
	if (!s->n || s->bad) {
		s->n = 1;
		s->bytes[0] = 4096;
	}
}

void stb_fio_facts(struct stb_fio_import *x, struct stb_fio_job *j)
{
	const char *sequencer;
	const struct stb_fio_direction *d = stb_fio_direction(j, &sequencer);
	const struct stb_fio_engine *e = stb_fio_engine(j);
	const struct stb_fio_option *direct = j->sym[STB_FIO_DIRECT];
	struct stb_fio_sizes s;

	if (j->sym[STB_FIO_KB_BASE])
		j->sym[STB_FIO_KB_BASE]->used = true;
	j->kb_base = stb_fio_peek(j, STB_FIO_KB_BASE, 1024) == 1000 ? 1000 : 1024;
	j->rw = d ? d->ours : "read";
	j->random = !strncmp(j->rw, "rand", 4);
	j->trims = !strcmp(j->rw, "trim");
	j->reads = strstr(j->rw, "read") || strstr(j->rw, "rw");
	j->writes = strstr(j->rw, "write") || strstr(j->rw, "rw");
	j->engine = e ? e->ours : "psync";
	j->async = strcmp(j->engine, "psync");
	j->clones = (uint32_t)STB_MIN(stb_fio_peek(j, STB_FIO_NUMJOBS, 1), (uint64_t)UINT32_MAX);
	j->depth = j->async ? (uint32_t)STB_MIN(stb_fio_peek(j, STB_FIO_IODEPTH, 1), (uint64_t)UINT32_MAX) : 1;
	j->direct = direct && stb_fio_peek(j, STB_FIO_DIRECT, 0) != (direct->name[0] == 'b');
	stb_fio_read_sizes(x, j, &s);
	j->bs_least = UINT64_MAX;
	for (uint32_t i = 0; i < s.n; i++) {
		j->bs_least = STB_MIN(j->bs_least, s.bytes[i]);
		j->bs_most = STB_MAX(j->bs_most, s.bytes[i]);
	}
}

static bool other_jobs_run(const struct stb_fio_import *x, const struct stb_fio_job *j)
{
	for (uint32_t i = 0; i < x->n_jobs; i++)
		if (&x->jobs[i] != j && x->jobs[i].phase == j->phase)
			return true;
	return false;
}

bool stb_fio_verifies(const struct stb_fio_job *j)
{
	const struct stb_fio_option *o = j->sym[STB_FIO_VERIFY];

	return o && o->value && strcmp(o->value, "none") && strcmp(o->value, "0");
}

static bool is_steady(const struct stb_fio_job *j)
{
	uint32_t n;
	const struct stb_fio_option *o = j->row[stb_fio_find("steadystate_duration") - stb_fio_rows(&n)];
	uint64_t ns;

	return o && o->value && stb_fio_number(o->value, STB_FIO_SECONDS, j->kb_base, &ns) && ns;
}

static bool when(bool holds, const char *otherwise, const char **why)
{
	*why = otherwise;
	return holds;
}

bool stb_fio_has_effect(const struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_when w, const char **why)
{
	switch (w) {
	case STB_FIO_ALWAYS:
		return true;
	case STB_FIO_WRITES:
		return when(j->writes, "the job writes nothing", why);
	case STB_FIO_RANDOM:
		return when(j->random, "the job is sequential", why);
	case STB_FIO_BUFFERED:
		return when(!j->direct, "direct I/O does not go through the page cache", why);
	case STB_FIO_DEEP:
		return when(j->depth > 1, "the job has one I/O in flight", why);
	case STB_FIO_CLONES:
		return when(j->clones > 1, "there is one job", why);
	case STB_FIO_PARALLEL:
		return when(other_jobs_run(x, j), "the job runs alone", why);
	case STB_FIO_LOOPED:
		return when(stb_fio_peek(j, STB_FIO_LOOPS, 1) > 1, "the job goes over its file once", why);
	case STB_FIO_VERIFY_ON:
		return when(stb_fio_verifies(j), "nothing is verified", why);
	case STB_FIO_COMPRESSED:
		return when(j->writes && j->sym[STB_FIO_COMPRESS], "no data is made compressible", why);
	case STB_FIO_RATED:
		return when(j->sym[STB_FIO_RATE] || j->sym[STB_FIO_RATE_IOPS], "the job has no rate", why);
	case STB_FIO_THINKS:
		return when(stb_fio_peek(j, STB_FIO_THINKTIME, 0) > 0, "the job does not pause", why);
	case STB_FIO_STEADY:
		return when(is_steady(j), "without steadystate_duration nothing is watched", why);
	}
	return true;
}
