/*
 * export.h - what the exporters share: the texts for another tool that say what cells say, and the account of what they cannot say.
 *
 * An exporter (export_*.c) is a pure function over a plan and a topology: it writes documents and tells of every setting that the other tool
 * has no word for. refuse: it changes what is measured; leave: it does not. Both also stand in the document as a comment. Equal documents of
 * several cells are one. Single-threaded; the driver (driver/cmd_export.c) has the table of formats, begins and ends it.
 */
#ifndef STB_EXPORT_H
#define STB_EXPORT_H

#include "runtime/base/topology.h"
#include "runtime/plan/plan.h"

struct stb_export_doc {
	char *text, *account; /* account: lines for standard error */
	uint32_t n_refused;   /* in this document */
	uint32_t cell;        /* the first cell that it says */
};

struct stb_export {
	struct stb_arena arena;
	const struct stb_plan *plan;
	const struct stb_topology *topology; /* NULL: the format needs none */
	const char *tool;                    /* "sysbench 1.0.20", for messages */
	const char *comment, *comment_end;   /* "# ", "" */
	uint32_t cell;                       /* the one that is written */
	struct stb_buf out;                  /* the document so far */
	struct stb_buf account;
	uint32_t n_refused;
	const char **told;                   /* what the account holds already, so that it says everything once */
	uint32_t n_told, cap_told;
	struct stb_export_doc *docs;
	uint32_t n_docs, cap_docs;
};

void stb_export_init(struct stb_export *e, const struct stb_plan *p);
void stb_export_fini(struct stb_export *e);

/* The blocks of the cell that is written; NULL where it has none. */
const struct stb_plan_block *stb_export_workload(const struct stb_export *e);
const struct stb_plan_block *stb_export_server(const struct stb_export *e);
const struct stb_plan_block *stb_export_database(const struct stb_export *e);

/* The attribute with its effective value; NULL: it has none. "options.x" too. */
const struct stb_val *stb_export_val(const struct stb_plan_block *b, const char *name);
const char *stb_export_str(const struct stb_plan_block *b, const char *name, const char *fallback);
uint64_t stb_export_u64(const struct stb_plan_block *b, const char *name, uint64_t fallback);
bool stb_export_true(const struct stb_plan_block *b, const char *name);

/* A comment line of the document; whatever the text holds, it stays one. */
void stb_export_comment(struct stb_export *e, const char *fmt, ...) STB_PRINTF(2, 3);

/*
 * The account: what is not translated, what is left out, and what is there and surprises. `attr` is the attribute's name, NULL: it is about the
 * block as a whole.
 */
void stb_export_refuse(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...) STB_PRINTF(4, 5);
void stb_export_leave(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...) STB_PRINTF(4, 5);
void stb_export_heed(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...) STB_PRINTF(4, 5);

/* Ends the document; one that an earlier cell gave is dropped with its account. */
void stb_export_end(struct stb_export *e);

/* --- the formats: whether the cell is anything to them, and its documents --- */

bool stb_export_fio_applies(const struct stb_export *e);
void stb_export_fio(struct stb_export *e);
bool stb_export_fio_knows(const char *attr); /* an attribute of an io workload that it translates or refuses by name */
bool stb_export_kubernetes_applies(const struct stb_export *e);
void stb_export_kubernetes(struct stb_export *e);
bool stb_export_libvirt_applies(const struct stb_export *e);
void stb_export_libvirt(struct stb_export *e); /* needs the topology */
bool stb_export_sysbench_applies(const struct stb_export *e);
void stb_export_sysbench(struct stb_export *e);

#endif
