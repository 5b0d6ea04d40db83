/*
 * test_scale.c - plans of many cells: what they hold, not how long they take.
 */
#include "compiler/compile.h"
#include "runtime/base/buf.h"
#include "runtime/plan/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* n servers (described) x 4 storages x 5 databases (described) x 5 x 5 x 5 x 4 values of a workload. */
static void spec(struct stb_buf *b, int n_servers)
{
	stb_buf_init(b);
	stb_buf_adds(b, "stb 1\nvolume data {\n}\nworkload io w { volume = data rw = randread size = 1MiB direct = true ioengine = io_uring }\n");
	for (int i = 0; i < n_servers; i++)
		stb_buf_printf(b, "server external s%d { model = \"%d\" }\n", i, i);
	for (int i = 0; i < 4; i++)
		stb_buf_printf(b, "storage loop t%d { size = %dGiB }\n", i, i + 8);
	for (int i = 0; i < 5; i++)
		stb_buf_printf(b, "database external d%d { version = \"10.%d\" }\n", i, i);
	stb_buf_adds(b, "matrix m {\n  server = [");
	for (int i = 0; i < n_servers; i++)
		stb_buf_printf(b, "%ss%d", i ? ", " : "", i);
	stb_buf_adds(b, "]\n  storage = [t0, t1, t2, t3]\n  database = [d0, d1, d2, d3, d4]\n  workload = w\n"
		"  axis bs { set = workload.bs values = [4KiB, 8KiB, 16KiB, 32KiB, 64KiB] }\n"
		"  axis depth { set = workload.iodepth values = [1, 2, 4, 8, 16] }\n"
		"  axis jobs { set = workload.numjobs values = [1, 2, 3, 4, 5] }\n"
		"  axis size { set = workload.size values = [1MiB, 2MiB, 3MiB, 4MiB] }\n}\n");
}

static struct stb_plan *plan_of(struct stb_compilation *c, int n_servers)
{
	struct stb_plan *p;
	struct stb_buf b;

	spec(&b, n_servers);
	stb_compilation_init(c);
	p = stb_compile_bytes(c, "scale.stb", stb_buf_str(&b), b.len, NULL);
	stb_buf_fini(&b);
	cr_assert(p, "%s", c->sink.n_diags ? c->sink.diags[0]->text : "no plan");
	return p;
}

Test(scale, memory_grows_by_a_little_a_cell)
{
	struct stb_compilation one, many;
	struct stb_plan *p = plan_of(&one, 1), *q = plan_of(&many, 4);
	size_t more;

	cr_assert_eq(p->n_cells, 10000);
	cr_assert_eq(q->n_cells, 40000);
	more = (many.arena.used_bytes - one.arena.used_bytes) + (q->arena.used_bytes - p->arena.used_bytes);
	cr_expect_lt(more, (q->n_cells - p->n_cells) * 400, "%zu bytes for %u cells more", more, q->n_cells - p->n_cells);
	cr_expect_eq(q->n_blocks - p->n_blocks, 3, "a server more is one block more");
	stb_plan_free(p);
	stb_plan_free(q);
	stb_compilation_fini(&one);
	stb_compilation_fini(&many);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct stb_plan_cell *)a)->id, ((const struct stb_plan_cell *)b)->id);
}

Test(scale, every_cell_has_an_id_of_its_own)
{
	struct stb_compilation c;
	struct stb_plan *p = plan_of(&c, 1);
	struct stb_plan_cell *sorted = malloc(p->n_cells * sizeof(*sorted));

	memcpy(sorted, p->cells, p->n_cells * sizeof(*sorted));
	qsort(sorted, p->n_cells, sizeof(*sorted), by_id);
	for (uint32_t i = 1; i < p->n_cells; i++)
		cr_assert_str_neq(sorted[i - 1].id, sorted[i].id);
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const uint32_t *point = p->cells[i].point;

		cr_assert_eq(((((point[1] * 5 + point[2]) * 5 + point[4]) * 5 + point[5]) * 5 + point[6]) * 4 + point[7], i);
		cr_assert_eq(p->cells[i].same_as, i);
		cr_assert_eq(stb_plan_attr(&p->blocks[p->cells[i].workload], "bs")->val.num, 4096ll << point[4]);
	}
	free(sorted);
	stb_plan_free(p);
	stb_compilation_fini(&c);
}

Test(scale, what_is_printed_is_loaded_again)
{
	struct stb_compilation c;
	struct stb_plan *p = plan_of(&c, 1), *back = NULL;
	char *json = NULL, *again = NULL;
	size_t len = 0, again_len = 0;
	FILE *out = open_memstream(&json, &len);
	struct stb_err err = { 0 };

	stb_plan_print_json(p, out);
	fclose(out);
	cr_assert_eq(stb_plan_load_bytes(&back, "scale.json", json, len, &err), 0, "%s", err.what);
	out = open_memstream(&again, &again_len);
	stb_plan_print_json(back, out);
	fclose(out);
	cr_expect(len == again_len && !memcmp(json, again, len));
	free(json);
	free(again);
	stb_plan_free(p);
	stb_plan_free(back);
	stb_compilation_fini(&c);
}
