/*
 * fmt_parts.h - what the parts of the formatter share: comments, the pieces that they belong to, and values as text. Internal to fmt*.c.
 *
 * The tree holds no comments. They are found in the text once, sorted by place, and each belongs to the innermost container around it: the
 * file, the body of a block, the brackets of a list or a call. A container is a row of pieces; within it a comment has one of these roles:
 *
 *     {  # OPEN                      on the line of the opening bracket
 *       # LEAD of a                  on lines of their own before a piece: they move with it
 *       a = # INNER of a             between the words of a piece
 *         1  # TRAIL of a            behind it on its line
 *            # TRAIL of a            and what goes on right beneath, at the same column
 *       # TAIL                       before the closing bracket
 *     }
 *
 * Invariant: every comment has exactly one role in exactly one container, so that none is lost or printed twice.
 */
#ifndef STB_FMT_PARTS_H
#define STB_FMT_PARTS_H

#include "compiler/ast.h"
#include "compiler/fmt.h"

enum { STB_FMT_INDENT = 2, STB_FMT_COLUMNS = 100, STB_FMT_COMMENT_GAP = 2, STB_FMT_COMMENT_COLUMN = 60 };

struct stb_comment {
	uint32_t begin, end; /* from `#`, blanks at the end left out */
	uint32_t line;       /* 0-based */
	uint32_t column;     /* display column */
	bool own_line;
	bool blank_before;   /* own_line: a blank line stands before it */
	bool continues;      /* the one before it, which stands behind something on the line above */
	uint32_t inner_of;   /* INNER: where its piece begins (no two pieces around a place begin at the same byte), else UINT32_MAX */
};

struct stb_comments { /* some of them, in order; a range of the formatter's */
	uint32_t first, end;
};

struct stb_fmt_piece { /* what a container holds: a statement or a value */
	uint32_t begin, end;
	const struct stb_stmt *stmt;
	const struct stb_node *node;
	struct stb_comments lead, within, trail; /* within: its INNER ones, and those of containers in it */
	bool blank_before;                       /* between lead and the piece itself */
};

struct stb_fmt {
	struct stb_arena *arena;
	const struct stb_sources *src;
	const struct stb_source_file *file;
	struct stb_comment *comments;
	uint32_t n_comments, cap_comments;
};

/* --- fmt_comment.c --- */

void stb_fmt_find_comments(struct stb_fmt *f);
bool stb_fmt_has_comments(const struct stb_fmt *f, uint32_t begin, uint32_t end);
/* Whether a blank line stands right above the line that begins with the byte at offset. */
bool stb_fmt_blank_before(const struct stb_fmt *f, uint32_t offset);
/*
 * Finds the comments of a container's pieces. open: the place behind the opening bracket (0 for the file, which has none); close: that of the
 * closing one.
 */
void stb_fmt_attach(struct stb_fmt *f, struct stb_fmt_piece *pieces, uint32_t n, uint32_t open, uint32_t close,
	struct stb_comments *opening, struct stb_comments *tail);
/* INNER comments go before the piece, or, one alone where `free` says that nothing stands there, behind it (true, and which it is). */
bool stb_fmt_inner_goes_behind(const struct stb_fmt *f, const struct stb_fmt_piece *p, bool free, struct stb_comments *which);

/*
 * Comments on lines of their own. Each begins with the end of the line before it; *fresh says that nothing stands in the container yet, so
 * that no blank line does.
 */
void stb_fmt_own_lines(const struct stb_fmt *f, struct stb_buf *out, struct stb_comments range, uint32_t indent, bool *fresh);
void stb_fmt_inner_lines(const struct stb_fmt *f, struct stb_buf *out, const struct stb_fmt_piece *p, uint32_t indent, bool *fresh);
/* Comments behind the text of a line, at a column. */
void stb_fmt_behind(const struct stb_fmt *f, struct stb_buf *out, struct stb_comments range, uint32_t column);

/* --- fmt_value.c --- */

/* Whether a comment inside a value belongs to one of its lists or calls. */
bool stb_fmt_in_brackets(const struct stb_fmt *f, const struct stb_node *n, uint32_t offset);
void stb_fmt_string(struct stb_buf *out, const char *text, size_t len);
/* A value whose first character stands at `column` (0-based) of a line that is indented by `indent`; may take several lines. */
void stb_fmt_value(struct stb_fmt *f, struct stb_buf *out, const struct stb_node *n, uint32_t indent, uint32_t column);

/* The display columns of the last line of a text. */
uint32_t stb_fmt_last_width(const char *text, size_t len);
void stb_fmt_newline(struct stb_buf *out, uint32_t indent);

#endif
