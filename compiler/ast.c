/*
 * ast.c - the syntax tree as text, for golden tests.
 */
#include "compiler/ast.h"

#include "runtime/base/buf.h"

struct printer {
	const struct stb_sources *src;
	FILE *out;
};

static void begin_line(const struct printer *pr, unsigned indent, const char *what)
{
	fprintf(pr->out, "%*s%s", (int)(2 * indent), "", what);
}

static void end_line(const struct printer *pr, struct stb_span span)
{
	const struct stb_position from = stb_sources_position(pr->src, span.file, span.begin);
	const struct stb_position to = stb_sources_position(pr->src, span.file, span.end);

	fprintf(pr->out, " %u:%u-%u:%u\n", from.line, from.column, to.line, to.column);
}

/* In quotes, with everything that would spoil a line written as \xNN. */
static void quoted(const struct printer *pr, const char *s, size_t len)
{
	fputc('"', pr->out);
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			fprintf(pr->out, "\\%c", c);
		else if (c < 0x20 || c == 0x7F)
			fprintf(pr->out, "\\x%02x", c);
		else
			fputc(c, pr->out);
	}
	fputc('"', pr->out);
}

static const char *kind_name(enum stb_node_kind kind)
{
	switch (kind) {
	case STB_N_QUANTITY:
		return "quantity";
	case STB_N_STRING:
		return "string";
	case STB_N_BOOL:
		return "bool";
	case STB_N_TIME:
		return "time";
	case STB_N_LIST:
		return "list";
	case STB_N_PATH:
		return "path";
	case STB_N_CALL:
		return "call";
	case STB_N_NEG:
		return "negative";
	case STB_N_ADD:
		return "add";
	case STB_N_SUB:
		return "subtract";
	case STB_N_MUL:
		return "multiply";
	case STB_N_DIV:
		return "divide";
	case STB_N_RANGE:
		return "range";
	case STB_N_BAD:
		return "bad";
	}
	STB_BUG("unknown node kind");
}

static void print_detail(const struct printer *pr, const struct stb_node *n)
{
	struct stb_buf b;

	switch (n->kind) {
	case STB_N_QUANTITY:
	case STB_N_BOOL:
	case STB_N_TIME:
		stb_buf_init(&b);
		stb_val_print(&b, &n->num);
		fprintf(pr->out, " %s", stb_buf_str(&b));
		stb_buf_fini(&b);
		return;
	case STB_N_STRING:
		for (uint32_t i = 0; i < n->n_parts; i++) {
			fputs(n->parts[i].is_name ? " $" : " ", pr->out);
			quoted(pr, n->parts[i].text, n->parts[i].len);
		}
		return;
	case STB_N_PATH:
	case STB_N_CALL:
		fprintf(pr->out, " %s", n->text);
		return;
	case STB_N_LIST:
	case STB_N_NEG:
	case STB_N_ADD:
	case STB_N_SUB:
	case STB_N_MUL:
	case STB_N_DIV:
	case STB_N_RANGE:
	case STB_N_BAD:
		return;
	}
}

/* Recursion is bounded by STB_AST_MAX_DEPTH. */
static void print_node(const struct printer *pr, unsigned indent, const struct stb_node *n)
{
	if (!n) {
		begin_line(pr, indent, "open\n");
		return;
	}
	begin_line(pr, indent, kind_name(n->kind));
	print_detail(pr, n);
	if (n->parens)
		fputs(" parens", pr->out);
	end_line(pr, n->span);
	for (uint32_t i = 0; i < n->n_items; i++)
		print_node(pr, indent + 1, n->items[i]);
}

static void print_words(const struct printer *pr, const struct stb_stmt *s)
{
	for (uint32_t i = 0; i < s->n_words; i++) {
		fputc(' ', pr->out);
		switch (s->words[i].kind) {
		case STB_W_IDENT:
		case STB_W_STAR:
			fputs(s->words[i].text, pr->out);
			break;
		case STB_W_STRING:
			quoted(pr, s->words[i].text, __builtin_strlen(s->words[i].text));
			break;
		}
	}
}

static void print_stmt(const struct printer *pr, unsigned indent, const struct stb_stmt *s)
{
	switch (s->kind) {
	case STB_S_INCLUDE:
		begin_line(pr, indent, "include");
		break;
	case STB_S_LET:
		begin_line(pr, indent, "let");
		fprintf(pr->out, " %s", s->name.text);
		break;
	case STB_S_PARAM:
		begin_line(pr, indent, "param");
		fprintf(pr->out, " %s", s->name.text);
		break;
	case STB_S_BLOCK:
		begin_line(pr, indent, "block");
		fprintf(pr->out, " %s", s->name.text);
		print_words(pr, s);
		break;
	case STB_S_ATTR:
		begin_line(pr, indent, "attribute");
		fprintf(pr->out, " %s", s->path->text);
		break;
	}
	end_line(pr, s->span);
	if (s->value)
		print_node(pr, indent + 1, s->value);
	for (uint32_t i = 0; i < s->n_body; i++)
		print_stmt(pr, indent + 1, s->body[i]);
}

void stb_ast_print(const struct stb_ast *ast, const struct stb_sources *src, FILE *out)
{
	const struct printer pr = { src, out };

	fprintf(out, "stb %lld", (long long)ast->version);
	end_line(&pr, ast->version_span);
	for (uint32_t i = 0; i < ast->n_stmts; i++)
		print_stmt(&pr, 0, ast->stmts[i]);
}
