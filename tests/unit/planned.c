/* planned.c - compiles a text as `stb plan` does and keeps what came of it; see planned.h. */
#include "tests/unit/planned.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

void planned_open(struct planned *p, const char *text)
{
	const char *spec;

	stb_compilation_init(&p->c);
	spec = stb_arena_printf(&p->c.arena, "stb 1\n%s", text);
	p->plan = stb_compile_bytes(&p->c, "test.stb", spec, strlen(spec), &p->o);
}

void planned_close(struct planned *p)
{
	if (p->plan)
		stb_plan_free(p->plan);
	stb_compilation_fini(&p->c);
}

unsigned planned_count(const struct planned *p, enum stb_code code)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->c.sink.n_diags; i++)
		n += p->c.sink.diags[i]->code == code;
	return n;
}

char *planned_json(const struct planned *p)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	stb_plan_print_json(p->plan, f);
	fclose(f);
	return text;
}

static const char *attr_text(struct planned *p, const struct stb_plan_block *b, const char *attr)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, attr);

	return a ? stb_val_label(&p->c.arena, &a->val) : "-";
}

const char *planned_workload(struct planned *p, uint32_t cell, const char *attr)
{
	cr_assert(p->plan && cell < p->plan->n_cells);
	return attr_text(p, &p->plan->blocks[p->plan->cells[cell].workload], attr);
}

const char *planned_block(struct planned *p, const char *kind, const char *name, const char *attr)
{
	cr_assert(p->plan);
	for (uint32_t i = 0; i < p->plan->n_blocks; i++) {
		if (!strcmp(p->plan->blocks[i].kind, kind) && !strcmp(p->plan->blocks[i].name, name))
			return attr_text(p, &p->plan->blocks[i], attr);
	}
	return "-";
}
