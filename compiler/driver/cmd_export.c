/*
 * cmd_export.c - `stb export FORMAT FILE`: the same work for another tool. One row of a table is a format.
 *
 * Every cell that --cell leaves and that the format can say is written; equal documents are one. A format that is one document cannot say
 * cells that differ: then the choices are listed. What the other tool has no word for is told, stands in the text as a comment, and makes
 * the exit code 1 where it changes what is measured.
 */
#include "compiler/driver/driver.h"
#include "compiler/export.h"
#include "runtime/exec/outfile.h"
#include "runtime/host/sysfs.h"

#include <stdlib.h>
#include <string.h>

struct format {
	const char *name;
	const char *tool;         /* for messages */
	const char *comment, *comment_end;
	const char *between;      /* what parts documents; NULL: there is one */
	bool topology;            /* asks for this machine's, or a saved one */
	const char *wants;        /* what a cell needs to have: "an oltp workload" */
	bool (*applies)(const struct stb_export *e);
	void (*write)(struct stb_export *e); /* ends each document with stb_export_end */
};

static const struct format formats[] = {
	{ "fio", "fio", "# ", "", NULL, false, "an io workload", stb_export_fio_applies, stb_export_fio },
	{ "kubernetes", "Kubernetes", "# ", "", "---\n", false, "a volume on a storage class of type kubernetes",
		stb_export_kubernetes_applies, stb_export_kubernetes },
	{ "libvirt", "libvirt", "<!-- ", " -->", NULL, true, "a server with a pin", stb_export_libvirt_applies, stb_export_libvirt },
	{ "sysbench", "sysbench 1.0.20", "# ", "", NULL, false, "an oltp workload", stb_export_sysbench_applies, stb_export_sysbench },
};

static const struct format *find_format(const char *name)
{
	const char *names[STB_LEN(formats)], *near;

	for (size_t i = 0; i < STB_LEN(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
		names[i] = formats[i].name;
	}
	near = stb_nearest(name, names, STB_LEN(names));
	fprintf(stderr, "stb: error: `stb export` does not write `%s`\n  what to do: ", name);
	if (near)
		fprintf(stderr, "did you mean `%s`?\n", near);
	for (size_t i = 0; !near && i < STB_LEN(formats); i++)
		fprintf(stderr, "%s%s%s", i ? ", " : "choose from: ", formats[i].name, i + 1 == STB_LEN(formats) ? "\n" : "");
	return NULL;
}

/* --- cells --------------------------------------------------------------------------------------------------------------------------- */

/* The cells of `keep` that the format can say; equal cells of two matrices are one. */
static uint32_t narrow(struct stb_export *e, const struct format *f, uint8_t *keep)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->plan->n_cells; i++) {
		e->cell = i;
		keep[i] = keep[i] && (e->plan->cells[i].same_as == i || !keep[e->plan->cells[i].same_as]) && f->applies(e);
		n += keep[i];
	}
	return n;
}

static int no_cell(const struct stb_args *a, const struct format *f)
{
	fprintf(stderr, "stb: error: `stb export %s`: no cell%s%s%s%s has %s\n  what to do: `stb plan` lists the cells\n", f->name,
		a->cell ? " of " : "", a->cell ? "--cell `" : "", a->cell ? a->cell : "", a->cell ? "`" : "", f->wants);
	return STB_EXIT_SPEC;
}

/* ": --cell 'storage = disk'": the first axis on which the first cell is one of several. */
static const char *example(struct stb_export *e)
{
	const struct stb_plan_cell *c = &e->plan->cells[e->docs[0].cell];
	const struct stb_plan_matrix *m = &e->plan->matrices[c->matrix];

	for (uint32_t i = 0; i < m->n_axes; i++)
		if (m->axes[i].n_values > 1 && c->point[i] != STB_NONE)
			return stb_arena_printf(&e->arena, ": --cell '%s = %s'", m->axes[i].name, m->axes[i].values[c->point[i]].key);
	return "";
}

/* More than one document where the format is one: the cells, each with what tells it apart. */
static int list_choices(struct stb_export *e, const struct format *f, const uint8_t *keep, uint32_t n)
{
	enum { SHOWN = 20 };
	uint32_t shown = 0;

	fprintf(stderr, "stb: error: `stb export %s` writes one cell, and these %u are not the same work for %s:\n", f->name, n, f->tool);
	for (uint32_t i = 0; i < e->plan->n_cells && shown < SHOWN; i++) {
		if (!keep[i])
			continue;
		fprintf(stderr, "  %.16s  %s\n", e->plan->cells[i].id, stb_plan_cell_label(&e->arena, e->plan, i));
		shown++;
	}
	if (n > shown)
		fprintf(stderr, "  ... and %u more\n", n - shown);
	fprintf(stderr, "  what to do: choose one with --cell ID, or with a selector%s\n", example(e));
	return STB_EXIT_USAGE;
}

/* --- output -------------------------------------------------------------------------------------------------------------------------- */

static int put(const struct stb_args *a, const struct stb_export *e, const struct format *f)
{
	struct stb_buf text;
	struct stb_err err;
	uint32_t n_refused = 0;
	int code = STB_EXIT_OK;

	stb_buf_init(&text);
	stb_err_clear(&err);
	for (uint32_t i = 0; i < e->n_docs; i++) {
		stb_buf_adds(&text, i ? f->between : "");
		stb_buf_adds(&text, e->docs[i].text);
		fputs(e->docs[i].account, stderr);
		n_refused += e->docs[i].n_refused;
	}
	if (!a->output) {
		fwrite(stb_buf_str(&text), 1, text.len, stdout);
	} else if (stb_outfile_write(a->output, stb_buf_str(&text), text.len, &err)) {
		stb_exec_print_error(NULL, &err, stderr);
		code = STB_EXIT_ENVIRONMENT;
	}
	stb_buf_fini(&text);
	return code ? code : n_refused ? STB_EXIT_SPEC : STB_EXIT_OK;
}

static int write_cells(const struct stb_args *a, struct stb_export *e, const struct format *f, uint8_t *keep)
{
	const uint32_t n = narrow(e, f, keep);

	if (!n)
		return no_cell(a, f);
	for (uint32_t i = 0; i < e->plan->n_cells && (f->between || e->n_docs < 2); i++) {
		e->cell = i;
		if (keep[i])
			f->write(e);
	}
	if (!f->between && e->n_docs > 1)
		return list_choices(e, f, keep, n);
	return put(a, e, f);
}

/* --- entry --------------------------------------------------------------------------------------------------------------------------- */

static int export_plan(const struct stb_args *a, const struct stb_plan *p, const struct stb_topology *t, const struct format *f)
{
	uint8_t *keep = stb_xmalloc((size_t)p->n_cells + 1);
	struct stb_export e;
	int code = 0;

	stb_export_init(&e, p);
	e.topology = t;
	e.tool = f->tool;
	e.comment = f->comment;
	e.comment_end = f->comment_end;
	memset(keep, 1, (size_t)p->n_cells + 1);
	if (a->cell)
		code = stb_driver_only(p, "--cell", a->cell, keep, stderr);
	if (!code)
		code = write_cells(a, &e, f, keep);
	stb_export_fini(&e);
	free(keep);
	return code;
}

int stb_cmd_export(const struct stb_args *a)
{
	const struct format *f = find_format(a->operands[0]);
	struct stb_topology *topology = NULL;
	struct stb_compilation c;
	struct stb_plan *p;
	struct stb_err err;
	int code = STB_EXIT_SPEC;

	if (!f)
		return STB_EXIT_USAGE;
	if (a->topology && !f->topology) {
		fprintf(stderr, "stb: error: `stb export %s` has no use for `--topology`\n  what to do: leave it out\n", f->name);
		return STB_EXIT_USAGE;
	}
	stb_err_clear(&err);
	if (f->topology) {
		topology = a->topology ? stb_topology_load(a->topology, &err) : stb_host_topology("", &err);
		if (!topology) {
			stb_exec_print_error(NULL, &err, stderr);
			return STB_EXIT_ENVIRONMENT;
		}
	}
	stb_compilation_init(&c);
	p = stb_driver_compile(&c, a, a->operands[1], topology);
	if (p)
		code = export_plan(a, p, topology, f);
	stb_plan_free(p);
	stb_compilation_fini(&c);
	stb_topology_free(topology);
	return code;
}
