/*
 * test_export.c - what `stb export` writes of whole specs, byte for byte: the documents of all cells that a format can say, then the account
 * of what it cannot. Golden files in tests/golden/export/FORMAT.
 */
#include "compiler/compile.h"
#include "compiler/export.h"
#include "compiler/import.h"
#include "compiler/schema.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct kind {
	bool (*applies)(const struct stb_export *e);
	void (*write)(struct stb_export *e);
	const char *tool, *comment, *comment_end, *between;
};

static const struct kind kubernetes = { stb_export_kubernetes_applies, stb_export_kubernetes, "Kubernetes", "# ", "", "---\n" };

static const struct kind fio = { stb_export_fio_applies, stb_export_fio, "fio", "# ", "", "=== and\n" };

static const struct kind libvirt = { stb_export_libvirt_applies, stb_export_libvirt, "libvirt", "<!-- ", " -->", "=== and\n" };

static const struct kind sysbench = { stb_export_sysbench_applies, stb_export_sysbench, "sysbench 1.0.20", "# ", "", "=== and\n" };

static struct stb_plan *compile(struct stb_compilation *c, const char *path)
{
	struct stb_plan *p;

	stb_compilation_init(c);
	p = stb_compile_file(c, path, NULL);
	if (!p)
		stb_sink_print(&c->sink, STB_DIAG_HUMAN, stderr);
	cr_assert_not_null(p, "%s has errors", path);
	return p;
}

static void print(const char *path, const struct kind *k, const struct stb_topology *t, FILE *out)
{
	struct stb_compilation c;
	struct stb_plan *p = compile(&c, path);
	struct stb_export e;

	stb_export_init(&e, p);
	e.topology = t;
	e.tool = k->tool;
	e.comment = k->comment;
	e.comment_end = k->comment_end;
	for (e.cell = 0; e.cell < p->n_cells; e.cell++)
		if (k->applies(&e))
			k->write(&e);
	for (uint32_t i = 0; i < e.n_docs; i++)
		fprintf(out, "%s%s", i ? k->between : "", e.docs[i].text);
	for (uint32_t i = 0; i < e.n_docs; i++)
		fprintf(out, "%s%s", *e.docs[i].account ? "=== account\n" : "", e.docs[i].account);
	stb_export_fini(&e);
	stb_plan_free(p);
	stb_compilation_fini(&c);
}

static void print_kubernetes(const char *path, const char *name, FILE *out)
{
	(void)name;
	print(path, &kubernetes, NULL, out);
}

static void print_fio(const char *path, const char *name, FILE *out)
{
	(void)name;
	print(path, &fio, NULL, out);
}

/* On the saved topology of the same name. */
static void print_libvirt(const char *path, const char *name, FILE *out)
{
	char topology[256];
	struct stb_topology *t;
	struct stb_err err;

	snprintf(topology, sizeof(topology), "tests/golden/topology/%.*s.json", (int)strcspn(name, "."), name);
	t = stb_topology_load(topology, &err);
	cr_assert_not_null(t, "%s does not load", topology);
	print(path, &libvirt, t, out);
	stb_topology_free(t);
}

Test(export, libvirt)
{
	cr_expect_geq(golden_dir("tests/golden/export/libvirt", "xml", print_libvirt), 1);
}

static void print_sysbench(const char *path, const char *name, FILE *out)
{
	(void)name;
	print(path, &sysbench, NULL, out);
}

/* --- back again ------------------------------------------------------------------------------------------------------------------------- */

/* What the spec that came back says of a block, and what the first said. */
static void expect_same(const struct stb_plan_block *a, const struct stb_plan_block *b)
{
	for (uint32_t i = 0; i < a->n_attrs; i++) {
		const struct stb_plan_attr *x = &a->attrs[i], *y = stb_plan_attr(b, x->name);

		cr_expect(y && stb_val_equal(&x->val, &y->val), "%s `%s`: %s does not come back", a->kind, a->name, x->name);
	}
	cr_expect_eq(a->n_attrs, b->n_attrs, "%s `%s` has %u attributes, %u come back", a->kind, a->name, a->n_attrs, b->n_attrs);
}

static void round_trip(struct stb_export *e, const char *script)
{
	struct stb_compilation c;
	struct stb_import im;
	struct stb_buf spec;
	struct stb_plan *p;

	stb_compilation_init(&c);
	stb_buf_init(&spec);
	stb_import_init(&im, &c, "sysbench");
	cr_assert(stb_import_sysbench(&im, &script, 1), "%s", script);
	cr_assert(stb_import_finish(&im, &spec));
	cr_expect_eq(c.sink.n_errors, 0, "%s", script);
	p = stb_compile_bytes(&c, "back.stb", stb_buf_str(&spec), spec.len, NULL);
	cr_assert(p && p->n_cells == 1, "%s", stb_buf_str(&spec));
	expect_same(stb_export_workload(e), &p->blocks[p->cells[0].workload]);
	expect_same(stb_export_database(e), &p->blocks[p->groups[p->cells[0].group].database]);
	stb_plan_free(p);
	stb_import_fini(&im);
	stb_buf_fini(&spec);
	stb_compilation_fini(&c);
}

/* import(export(cell)) has the same effective attributes, for every script. */
Test(export, sysbench_comes_back)
{
	struct stb_compilation c;
	struct stb_plan *p = compile(&c, "tests/golden/export/sysbench/every_script.stb");
	struct stb_export e;

	stb_export_init(&e, p);
	for (e.cell = 0; e.cell < p->n_cells; e.cell++) {
		stb_export_sysbench(&e);
		cr_expect_str_eq(e.docs[e.cell].account, "");
		round_trip(&e, e.docs[e.cell].text);
	}
	cr_expect_geq(e.n_docs, 12);
	stb_export_fini(&e);
	stb_plan_free(p);
	stb_compilation_fini(&c);
}

Test(export, sysbench)
{
	cr_expect_geq(golden_dir("tests/golden/export/sysbench", "sh", print_sysbench), 3);
}

Test(export, kubernetes)
{
	cr_expect_geq(golden_dir("tests/golden/export/kubernetes", "yaml", print_kubernetes), 3);
}

Test(export, fio)
{
	cr_expect_geq(golden_dir("tests/golden/export/fio", "job", print_fio), 2);
}

/* A new attribute of io workloads is translated or refused, never left out in silence. */
Test(export, fio_knows_every_attribute)
{
	size_t n, seen = 0;
	const struct stb_schema_attr *rows = stb_schema_rows(&n);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind != STB_K_WORKLOAD || !stb_schema_applies(&rows[i], "io") || rows[i].ident != STB_ID ||
			(rows[i].flags & STB_STRUCTURAL))
			continue;
		cr_expect(stb_export_fio_knows(rows[i].name), "export_fio.c has no row for %s", rows[i].name);
		seen++;
	}
	cr_expect_gt(seen, 40);
}
