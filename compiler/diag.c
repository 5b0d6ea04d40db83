/*
 * diag.c - the sink: takes diagnostics, bounds their number, sorts them. How they look is in diag_print.c.
 */
#include "compiler/diag.h"
#include "runtime/base/buf.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static const struct stb_code_info codes[] = {
#define STB_CODE(code, severity, title, explain) { #code, STB_SEV_##severity, title, explain },
#include "compiler/codes.def"
#undef STB_CODE
};

const struct stb_code_info *stb_code_info(enum stb_code code)
{
	STB_ASSERT((unsigned)code < STB_N_CODES);
	return &codes[code];
}

bool stb_code_find(const char *name, enum stb_code *out)
{
	for (unsigned i = 0; i < STB_N_CODES; i++) {
		if (!strcasecmp(codes[i].name, name)) {
			*out = (enum stb_code)i;
			return true;
		}
	}
	return false;
}

void stb_sink_init(struct stb_sink *s, const struct stb_sources *sources)
{
	*s = (struct stb_sink){ .sources = sources };
	stb_arena_init(&s->arena);
}

void stb_sink_fini(struct stb_sink *s)
{
	stb_arena_fini(&s->arena);
	*s = (struct stb_sink){ 0 };
}

__attribute__((format(printf, 2, 0))) static char *format(struct stb_sink *s, const char *fmt, va_list ap)
{
	struct stb_buf b;
	char small[512], *text;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		text = stb_arena_strndup(&s->arena, small, (size_t)n);
	} else {
		stb_buf_init(&b);
		stb_buf_fill(&b, ' ', n < 0 ? 0 : (size_t)n);
		if (n > 0)
			vsnprintf(b.data, (size_t)n + 1, fmt, again);
		text = stb_arena_strdup(&s->arena, stb_buf_str(&b));
		stb_buf_fini(&b);
	}
	va_end(again);
	return text;
}

#define FORMAT(s, fmt, text)                                                                                 \
	do {                                                                                                 \
		va_list ap_;                                                                                 \
		va_start(ap_, fmt);                                                                          \
		(text) = format((s), (fmt), ap_);                                                            \
		va_end(ap_);                                                                                 \
	} while (0)

struct stb_diag *stb_diag(struct stb_sink *s, enum stb_code code, struct stb_span span, const char *fmt, ...)
{
	const enum stb_severity severity = stb_code_info(code)->severity;
	struct stb_diag *d;
	char *text;

	s->n_errors += severity == STB_SEV_ERROR;
	s->n_warnings += severity == STB_SEV_WARNING;
	if (s->n_kept[severity] >= (severity == STB_SEV_ERROR ? STB_DIAG_MAX_ERRORS : STB_DIAG_MAX_OTHERS)) {
		s->n_dropped++;
		return &s->scratch;
	}
	s->n_kept[severity]++;
	FORMAT(s, fmt, text);
	d = STB_NEW(&s->arena, struct stb_diag);
	*d = (struct stb_diag){ .code = code, .span = span, .text = text, .mask = STB_NO_SPAN };
	STB_ARENA_GROW(&s->arena, s->diags, s->n_diags, s->cap_diags);
	s->diags[s->n_diags++] = d;
	return d;
}

void stb_diag_here(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...)
{
	char *text;

	if (d == &s->scratch)
		return;
	FORMAT(s, fmt, text);
	d->label = text;
}

void stb_diag_label(struct stb_sink *s, struct stb_diag *d, struct stb_span span, const char *fmt, ...)
{
	char *text;

	if (d == &s->scratch)
		return;
	FORMAT(s, fmt, text);
	STB_ARENA_GROW(&s->arena, d->labels, d->n_labels, d->cap_labels);
	d->labels[d->n_labels++] = (struct stb_label){ span, text };
}

static void add_note(struct stb_sink *s, struct stb_diag *d, const char *prefix, const char *text)
{
	STB_ARENA_GROW(&s->arena, d->notes, d->n_notes, d->cap_notes);
	d->notes[d->n_notes++] = stb_arena_printf(&s->arena, "%s%s", prefix, text);
}

void stb_diag_note(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...)
{
	char *text;

	if (d == &s->scratch)
		return;
	FORMAT(s, fmt, text);
	add_note(s, d, "note: ", text);
}

void stb_diag_help(struct stb_sink *s, struct stb_diag *d, const char *fmt, ...)
{
	char *text;

	if (d == &s->scratch)
		return;
	FORMAT(s, fmt, text);
	add_note(s, d, "help: ", text);
}

void stb_diag_fixit(struct stb_sink *s, struct stb_diag *d, struct stb_span span, const char *fmt, ...)
{
	char *text;

	if (d == &s->scratch)
		return;
	FORMAT(s, fmt, text);
	STB_ARENA_GROW(&s->arena, d->fixits, d->n_fixits, d->cap_fixits);
	d->fixits[d->n_fixits++] = (struct stb_fixit){ span, text };
}

void stb_sink_mask(struct stb_sink *s, struct stb_span span)
{
	if (span.file == STB_NO_FILE || span.begin >= span.end)
		return;
	for (uint32_t i = 0; i < s->n_masks; i++)
		if (s->masks[i].file == span.file && s->masks[i].begin == span.begin && s->masks[i].end == span.end)
			return;
	if (s->n_masks == STB_DIAG_MAX_MASKS) {
		s->masks_full = true;
		return;
	}
	STB_ARENA_GROW(&s->arena, s->masks, s->n_masks, s->cap_masks);
	s->masks[s->n_masks++] = span;
}

void stb_sink_mask_text(struct stb_sink *s, const char *text, size_t len)
{
	if (s->n_mask_texts == STB_DIAG_MAX_MASKS) {
		s->masks_full = true;
		return;
	}
	STB_ARENA_GROW(&s->arena, s->mask_texts, s->n_mask_texts, s->cap_mask_texts);
	s->mask_texts[s->n_mask_texts++] = stb_arena_strndup(&s->arena, text, len);
}
