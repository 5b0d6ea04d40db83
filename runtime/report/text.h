/*
 * text.h - Markdown as text: escaping, and tables whose columns line up.
 */
#ifndef STB_TEXT_H
#define STB_TEXT_H

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"

/*
 * Text of a spec inside a line or a table field: what Markdown or HTML would read as markup is escaped, line ends become blanks, control
 * and direction characters are replaced, and an @ is kept from calling somebody by an invisible character behind it.
 */
void stb_md_text(struct stb_buf *out, const char *s);
/* The same for text of a stranger that will stand under our name (a comment on a pull request): addresses and #1 do not become links either. */
void stb_md_untrusted(struct stb_buf *out, const char *s);
/* The same for paragraphs: lines stay lines. Ends with a line end. */
void stb_md_prose(struct stb_buf *out, const char *s);

/* A table: row 0 is the heading; all texts are Markdown already. */
struct stb_table {
	struct stb_arena arena;
	uint32_t n_cols;
	uint32_t n_left;    /* the first columns are aligned left, the others right */
	const char ***rows;
	uint32_t n_rows, cap_rows;
	const char **notes;
	uint32_t n_notes, cap_notes;
};

void stb_table_init(struct stb_table *t, uint32_t n_cols, uint32_t n_left);
void stb_table_fini(struct stb_table *t);
/* Begins a row; its fields are empty. */
void stb_table_row(struct stb_table *t);
/* Sets a field of the row begun last. */
void stb_table_set(struct stb_table *t, uint32_t col, const char *text);
/* The number of a footnote; equal texts share one. */
uint32_t stb_table_note(struct stb_table *t, const char *text);
/* The table, a blank line, its footnotes as a list and a blank line. */
void stb_table_print(const struct stb_table *t, struct stb_buf *out);

#endif
