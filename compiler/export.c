/* export.c - documents and their account; see export.h. */
#include "compiler/export.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stb_export_init(struct stb_export *e, const struct stb_plan *p)
{
	*e = (struct stb_export){ .plan = p, .comment = "# ", .comment_end = "", .tool = "" };
	stb_arena_init(&e->arena);
	stb_buf_init(&e->out);
	stb_buf_init(&e->account);
}

void stb_export_fini(struct stb_export *e)
{
	for (uint32_t i = 0; i < e->n_docs; i++) {
		free(e->docs[i].text);
		free(e->docs[i].account);
	}
	free(e->docs);
	stb_buf_fini(&e->out);
	stb_buf_fini(&e->account);
	stb_arena_fini(&e->arena);
}

/* --- the cell ------------------------------------------------------------------------------------------------------------------------ */

static const struct stb_plan_block *block(const struct stb_export *e, uint32_t i)
{
	return i == STB_NONE ? NULL : &e->plan->blocks[i];
}

const struct stb_plan_block *stb_export_workload(const struct stb_export *e)
{
	return block(e, e->plan->cells[e->cell].workload);
}

const struct stb_plan_block *stb_export_server(const struct stb_export *e)
{
	return block(e, e->plan->cells[e->cell].server);
}

const struct stb_plan_block *stb_export_database(const struct stb_export *e)
{
	return block(e, e->plan->groups[e->plan->cells[e->cell].group].database);
}

const struct stb_val *stb_export_val(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = b ? stb_plan_attr(b, name) : NULL;

	return a && a->val.type != STB_V_NONE ? &a->val : NULL;
}

const char *stb_export_str(const struct stb_plan_block *b, const char *name, const char *fallback)
{
	const struct stb_val *v = stb_export_val(b, name);

	return v && v->str ? v->str : fallback;
}

uint64_t stb_export_u64(const struct stb_plan_block *b, const char *name, uint64_t fallback)
{
	const struct stb_val *v = stb_export_val(b, name);

	return v && v->den == 1 && v->num >= 0 ? (uint64_t)v->num : fallback;
}

bool stb_export_true(const struct stb_plan_block *b, const char *name)
{
	const struct stb_val *v = stb_export_val(b, name);

	return v && v->type == STB_V_BOOL && v->num;
}

/* --- the account --------------------------------------------------------------------------------------------------------------------- */

static const char *vformat(struct stb_export *e, const char *fmt, va_list ap) STB_PRINTF(2, 0);
static const char *vformat(struct stb_export *e, const char *fmt, va_list ap)
{
	va_list again;
	int len;
	char *s;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	STB_ASSERT(len >= 0);
	s = stb_arena_alloc(&e->arena, (size_t)len + 1);
	vsnprintf(s, (size_t)len + 1, fmt, ap);
	return s;
}

/* Two dashes would end an XML comment, a line's end any other. */
static void put_comment(struct stb_export *e, const char *text)
{
	const bool xml = *e->comment_end != '\0';
	char before = ' ';

	stb_buf_adds(&e->out, e->comment);
	for (const char *p = text; *p; before = *p++) {
		if (xml && *p == '-' && before == '-')
			stb_buf_addc(&e->out, ' ');
		stb_buf_addc(&e->out, (unsigned char)*p < ' ' ? ' ' : *p);
	}
	if (xml && before == '-')
		stb_buf_addc(&e->out, ' ');
	stb_buf_adds(&e->out, e->comment_end);
	stb_buf_addc(&e->out, '\n');
}

void stb_export_comment(struct stb_export *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_comment(e, vformat(e, fmt, ap));
	va_end(ap);
}

static void say_once(struct stb_export *e, const char *line)
{
	for (uint32_t i = 0; i < e->n_told; i++)
		if (!strcmp(e->told[i], line))
			return;
	STB_ARENA_GROW(&e->arena, e->told, e->n_told, e->cap_told);
	e->told[e->n_told++] = line;
	stb_buf_adds(&e->account, line);
}

enum kind { REFUSED, LEFT, HEED };

static void tell(struct stb_export *e, const struct stb_plan_block *b, const char *attr, enum kind kind, const char *why)
{
	static const char *const labels[] = { [REFUSED] = "NOT TRANSLATED, changes what is measured", [LEFT] = "left out", [HEED] = "heed" };
	const struct stb_plan_attr *a = attr ? stb_plan_attr(b, attr) : NULL;
	const char *what = attr, *where = stb_plan_where(&e->arena, e->plan, a && a->span != STB_NONE ? a->span : b->span);

	if (a)
		what = stb_arena_printf(&e->arena, "%s = %s", attr, stb_val_text(&e->arena, &a->val));
	say_once(e, stb_arena_printf(&e->arena, "stb: %s: %s%s%s `%s`%s%s%s: %s\n%s%s%s", kind == REFUSED ? "error" : "warning", b->kind,
		*b->type ? " " : "", b->type, b->name, what ? ": `" : "", what ? what : "", what ? "`" : "", why, *where ? "  --> " : "", where,
		*where ? "\n" : ""));
	put_comment(e, stb_arena_printf(&e->arena, "%s: %s %s%s%s: %s", labels[kind], b->kind, b->name, what ? ": " : "", what ? what : "", why));
	e->n_refused += kind == REFUSED;
}

void stb_export_refuse(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(e, b, attr, REFUSED, vformat(e, fmt, ap));
	va_end(ap);
}

void stb_export_leave(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(e, b, attr, LEFT, vformat(e, fmt, ap));
	va_end(ap);
}

void stb_export_heed(struct stb_export *e, const struct stb_plan_block *b, const char *attr, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(e, b, attr, HEED, vformat(e, fmt, ap));
	va_end(ap);
}

/* --- documents ----------------------------------------------------------------------------------------------------------------------- */

static bool is_known(const struct stb_export *e)
{
	for (uint32_t i = 0; i < e->n_docs; i++)
		if (!strcmp(e->docs[i].text, stb_buf_str(&e->out)))
			return true;
	return false;
}

void stb_export_end(struct stb_export *e)
{
	if (!is_known(e)) {
		STB_GROW(e->docs, e->n_docs, e->cap_docs);
		e->docs[e->n_docs++] = (struct stb_export_doc){
			.text = stb_xstrdup(stb_buf_str(&e->out)),
			.account = stb_xstrdup(stb_buf_str(&e->account)),
			.n_refused = e->n_refused,
			.cell = e->cell,
		};
	}
	stb_buf_clear(&e->out);
	stb_buf_clear(&e->account);
	e->n_refused = 0;
}
