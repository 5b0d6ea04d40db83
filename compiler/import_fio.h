/*
 * import_fio.h - a fio job file on its way to a spec: its lines (import_fio_file.c), a command
 * line (import_fio_line.c), its jobs (import_fio.c), where they work (import_fio_places.c), what each of them is
 * (import_fio_facts.c), each as a workload (import_fio_job.c, import_fio_engine.c, import_fio_cpus.c), values as fio reads them (import_fio_value.c). What becomes
 * of each option is import_fio.def.
 *
 * Private to import_fio*.c and its tests. Everything lies in the compilation's arena; spans point into its sources.
 */
#ifndef STB_IMPORT_FIO_H
#define STB_IMPORT_FIO_H

#include "compiler/import.h"

/* --- the table --- */

enum stb_fio_sym {
#define STB_FIO_BECOMES(sym, ...) STB_FIO_##sym,
#define STB_FIO_ALSO(...)
#define STB_FIO_CHANGES(...)
#define STB_FIO_LEFT(...)
#include "compiler/import_fio.def"
#undef STB_FIO_BECOMES
#undef STB_FIO_ALSO
#undef STB_FIO_CHANGES
#undef STB_FIO_LEFT
	STB_FIO_N_SYMS
};

enum stb_fio_fate { STB_FIO_IS_TRANSLATED, STB_FIO_IS_REFUSED, STB_FIO_IS_LEFT };
enum stb_fio_kind { STB_FIO_FLAG, STB_FIO_BOOL, STB_FIO_INT, STB_FIO_SIGNED, STB_FIO_BYTES, STB_FIO_SECONDS, STB_FIO_MICROSECONDS, STB_FIO_TEXT };

/* In which jobs an option has an effect at all. */
enum stb_fio_when {
	STB_FIO_ALWAYS, STB_FIO_WRITES, STB_FIO_RANDOM, STB_FIO_BUFFERED, STB_FIO_DEEP, STB_FIO_CLONES, STB_FIO_PARALLEL, STB_FIO_LOOPED,
	STB_FIO_VERIFY_ON, STB_FIO_COMPRESSED, STB_FIO_RATED, STB_FIO_THINKS, STB_FIO_STEADY,
};

struct stb_fio_row {
	enum stb_fio_fate fate;
	int sym;             /* enum stb_fio_sym; -1: not translated */
	const char *names;   /* "bs blocksize" */
	enum stb_fio_kind kind;
	enum stb_fio_when when;
	const char *neutral; /* NULL: none */
	const char *sample;  /* lines of a job; of what is not translated, the value alone */
	const char *text;    /* what it becomes; or why it is not translated */
	const char *expect;  /* a line of the spec that the sample gives; NULL: none, or not translated */
};

const struct stb_fio_row *stb_fio_rows(uint32_t *n);
/* NULL: fio has none of that name. */
const struct stb_fio_row *stb_fio_find(const char *name);

/* --- lines --- */

struct stb_fio_option {
	const struct stb_fio_row *row; /* NULL: unknown */
	const char *name;
	const char *value;     /* NULL: the option stands alone */
	const char *words;     /* the whole, as a comment quotes it */
	struct stb_span span;
	bool told;             /* reported: refused, left out or wrong */
	bool noted;            /* that it is not quite the same */
	bool used;             /* it has an effect in some job */
	const char *idle;      /* why it had none in one */
};

struct stb_fio_section {
	const char *name;
	bool global;
	uint32_t group;        /* jobs of another group begin after those of the one before, and do not know its [global] */
	struct stb_span span;  /* [name] */
	struct stb_fio_option *options;
	uint32_t n, cap;
};

struct stb_fio_file {
	struct stb_fio_section *sections;
	uint32_t n, cap;
	uint32_t n_options, n_includes;
	uint32_t group;        /* of the sections that are added */
};

/* Adds what stands in `file`, one of the compilation's sources. false: it is no job file, or one that fio itself refuses; the sink says why. */
STB_NODISCARD bool stb_fio_read(struct stb_import *im, uint32_t file, struct stb_fio_file *f);
/* Adds the jobs of command lines, and of the job files that they name. Likewise. */
STB_NODISCARD bool stb_fio_read_line(struct stb_import *im, const char *const *words, uint32_t n, struct stb_fio_file *f);

/* NULL: there are too many, which is told. The section lies where it is until the next. */
struct stb_fio_section *stb_fio_add_section(struct stb_import *im, struct stb_fio_file *f, const char *name, struct stb_span span);
struct stb_fio_option *stb_fio_add_option(struct stb_import *im, struct stb_fio_file *f, struct stb_fio_section *s, struct stb_span span);

/* --- values: the whole text must be one --- */

/* Bytes and counts in ones, times in ns, flags and booleans 0 or 1. kibi: what fio's kb_base makes of k and KiB. */
bool stb_fio_number(const char *s, enum stb_fio_kind kind, uint32_t kb_base, uint64_t *out);
/* A decimal number in the spelling of a spec ("1.20" is 1.20, ".5" is 0.5), at most 12 digits; NULL: it is none. */
const char *stb_fio_decimal(struct stb_arena *a, const char *s, size_t len);
/* Whether it is written with an i (4KiB) and fio reads it by powers of ten. */
bool stb_fio_reads_kib_as_kb(const char *s, uint32_t kb_base);

/* --- jobs --- */

struct stb_fio_job {
	const struct stb_fio_section *section;
	const char *name;                              /* of the workload */
	struct stb_fio_option *sym[STB_FIO_N_SYMS];    /* in force; NULL: fio's default */
	struct stb_fio_option **row;                   /* per row of the table, of what is not translated */
	uint32_t kb_base, clones, depth, phase;
	uint32_t rank;                                 /* in its phase, from 0 */
	bool reads, writes, trims, random, direct, async, raw;
	const char *rw;                                /* the spec's word */
	const char *engine;
	const char *dir, *file;                        /* where it works; raw: dir is the device */
	bool shared;                                   /* clones or other jobs of its phase work on the same file */
	uint32_t place;                                /* of the import */
	uint64_t bs_least, bs_most;
};

struct stb_fio_place { const char *dir, *name; bool raw; };

struct stb_fio_import {
	struct stb_import *im;
	struct stb_fio_file file;
	struct stb_fio_job *jobs;
	uint32_t n_jobs, cap_jobs;
	uint32_t n_phases;
	struct stb_fio_place *places;
	uint32_t n_places, cap_places;
};

struct stb_fio_pin { /* what a job's CPU options say */
	uint32_t n_vcpus;          /* 0: nothing */
	const char *const *rules;  /* per vCPU, or one for all of them: `cpus = "0-3"` */
	const char *mempolicy, *memnodes; /* NULL: not said */
};

struct stb_fio_direction {
	const char *fio, *ours;
	const char *lack;     /* what ours does not do; NULL: it is the same */
};

struct stb_fio_engine {
	const char *fio, *ours;
	const char *how;      /* not quite the same; NULL: it is */
	bool same_work;       /* the I/Os are the same, only the system call is another one */
};

enum { STB_FIO_MAX_SIZES = 64 };

/* Sizes of blocks with their shares, as bs, bsrange or bssplit say them for the job's direction. */
struct stb_fio_sizes {
	struct stb_fio_option *o; /* NULL: fio's default */
	uint32_t n;
	uint64_t bytes[STB_FIO_MAX_SIZES];
	const char *shares[STB_FIO_MAX_SIZES]; /* NULL: even */
	const char *bad, *refused; /* what is wrong; the sizes are the nearest then */
	const char *note;         /* not what it seems to say */
	const char *told;         /* the part of the value that counts */
};

/* --- import_fio.c, import_fio_places.c --- */

uint32_t stb_fio_phase_size(const struct stb_fio_import *x, uint32_t phase); /* jobs */
void stb_fio_find_places(struct stb_fio_import *x);
void stb_fio_put_places(struct stb_fio_import *x);

/* --- import_fio_facts.c --- */

/* By fio's word; NULL: it is none, or has no counterpart. */
const struct stb_fio_direction *stb_fio_find_direction(const char *word, size_t len);
const struct stb_fio_engine *stb_fio_find_engine(const char *word);
const struct stb_fio_direction *stb_fio_direction(const struct stb_fio_job *j, const char **sequencer); /* NULL: that is none */
const struct stb_fio_engine *stb_fio_engine(const struct stb_fio_job *j); /* NULL: none that has a counterpart */
void stb_fio_read_sizes(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_sizes *s);
bool stb_fio_verifies(const struct stb_fio_job *j);
/* The part of "read,write,trim" that counts for the job. false: its directions say different things; the part is that of reads. */
bool stb_fio_part(struct stb_fio_import *x, const struct stb_fio_job *j, const char *text, const char *fallback, const char **part);
/* A number in an option's text; false: it is none, which is told. */
bool stb_fio_read_number(struct stb_fio_import *x, const struct stb_fio_job *j, struct stb_fio_option *o, const char *text, uint64_t *out);
/* The text of an option; NULL: the job has none, or it lacks its value, which is told. */
const char *stb_fio_word(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym);

/* --- import_fio_job.c, import_fio_engine.c, import_fio_cpus.c --- */

/* A flag whose default is fio's and ours. */
void stb_fio_put_flag(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, const char *attr);
/* A count that must lie in a range of the schema's. */
void stb_fio_put_count(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, const char *attr);
void stb_fio_put_engine(struct stb_fio_import *x, const struct stb_fio_job *j);

/* The workload block of a job, with the one that fills its file before where it wants that. */
void stb_fio_workload(struct stb_fio_import *x, struct stb_fio_job *j);
/* false: an option is refused or wrong, which is told. */
bool stb_fio_read_pin(struct stb_fio_import *x, struct stb_fio_job *j, struct stb_fio_pin *pin);
/* pin `fio_cpus` and the server `this_host` that has it. */
void stb_fio_put_pin(struct stb_fio_import *x, const struct stb_fio_pin *pin);
/* The metrics of the report: percentile_list of the jobs, or the usual ones. */
const char *stb_fio_metrics(struct stb_fio_import *x);
/* Direction, engine, clones, block sizes: what everything else hangs on; says nothing. */
void stb_fio_facts(struct stb_fio_import *x, struct stb_fio_job *j);
/* Whether an option of that kind has an effect in a job; else *why not. */
bool stb_fio_has_effect(const struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_when when, const char **why);

/* The account; each line is told once. */
void stb_fio_refuse(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_fio_leave(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_fio_bad(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_fio_differs(struct stb_fio_import *x, struct stb_fio_option *o, const char *fmt, ...) STB_PRINTF(3, 4);
void stb_fio_idle(struct stb_fio_option *o, const char *why); /* o may be NULL */
/* The value of an option as its kind reads it; false: it has none, or a bad one, which is told. */
bool stb_fio_value(struct stb_fio_import *x, const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t *out);
/* The same in silence, with fio's default. */
uint64_t stb_fio_peek(const struct stb_fio_job *j, enum stb_fio_sym sym, uint64_t fallback);

#endif
