/* progress.c - see progress.h. */
#include "runtime/exec/progress.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_MAX 24
#define BAR_MIN 6
#define DEFAULT_COLUMNS 80

/* Bytes of the longest prefix of s that takes at most `columns`; never splits a character. */
static size_t prefix(const char *s, size_t columns)
{
	size_t len = 0;

	while (s[len]) {
		size_t n = 1;

		while ((s[len + n] & 0xc0) == 0x80)
			n++;
		if (stb_display_width(s, len + n) > columns)
			break;
		len += n;
	}
	return len;
}

static void add_bar(struct stb_buf *out, double share, size_t cells)
{
	const size_t full = (size_t)(STB_MIN(STB_MAX(share, 0.0), 1.0) * (double)cells);

	stb_buf_addc(out, '[');
	stb_buf_fill(out, '#', full);
	stb_buf_fill(out, '.', cells - full);
	stb_buf_adds(out, "] ");
}

static void add_left(struct stb_buf *out, const struct stb_progress_view *v)
{
	const uint64_t s = (v->left_ns + 999999999u) / 1000000000u;

	if (!v->left_known)
		return;
	if (s >= 3600)
		stb_buf_printf(out, "  %llu:%02llu:%02llu left", (unsigned long long)(s / 3600),
			(unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
	else
		stb_buf_printf(out, "  %llu:%02llu left", (unsigned long long)(s / 60), (unsigned long long)(s % 60));
}

void stb_progress_line(struct stb_buf *out, const struct stb_progress_view *v, size_t columns)
{
	struct stb_buf count, tail, left;
	size_t fixed, bar = 0, room;

	stb_buf_init(&count);
	stb_buf_init(&tail);
	stb_buf_init(&left);
	stb_buf_printf(&count, "%*llu/%llu", v->total > 99 ? 3 : v->total > 9 ? 2 : 1, (unsigned long long)v->done,
		(unsigned long long)v->total);
	add_left(&left, v);
	if (*v->phase)
		stb_buf_printf(&tail, "  %s", v->phase);
	if (*v->figure)
		stb_buf_printf(&tail, "  %s", v->figure);
	fixed = count.len + left.len + 1;
	/* phase and figure stay as long as eight columns remain for the name */
	if (fixed + stb_display_width(stb_buf_str(&tail), tail.len) + 8 > columns)
		stb_buf_clear(&tail);
	fixed += stb_display_width(stb_buf_str(&tail), tail.len);
	const size_t want = stb_display_width(v->what, strlen(v->what));

	if (fixed + want + BAR_MIN + 3 <= columns)
		bar = STB_MIN((size_t)BAR_MAX, columns - fixed - want - 3);
	if (bar)
		add_bar(out, v->share, bar);
	if (count.len <= columns)
		stb_buf_add(out, stb_buf_str(&count), count.len);
	room = columns > fixed ? columns - fixed : 0;
	if (want <= room || bar) {
		stb_buf_printf(out, " %s", v->what);
	} else if (room > 1) {
		stb_buf_addc(out, ' ');
		stb_buf_add(out, v->what, prefix(v->what, room - 1));
		stb_buf_adds(out, "\u2026");
	}
	if (fixed <= columns) {
		stb_buf_add(out, stb_buf_str(&tail), tail.len);
		stb_buf_add(out, stb_buf_str(&left), left.len);
	}
	stb_buf_fini(&left);
	stb_buf_fini(&tail);
	stb_buf_fini(&count);
}

void stb_progress_init(struct stb_progress *p, FILE *out)
{
	p->out = out;
	p->live = isatty(fileno(out)) == 1;
	p->drawn = false;
	stb_buf_init(&p->line);
}

void stb_progress_fini(struct stb_progress *p)
{
	stb_progress_clear(p);
	stb_buf_fini(&p->line);
}

static size_t terminal_columns(FILE *out)
{
	struct winsize w;

	if (ioctl(fileno(out), TIOCGWINSZ, &w) || !w.ws_col)
		return DEFAULT_COLUMNS;
	return w.ws_col;
}

void stb_progress_draw(struct stb_progress *p, const struct stb_progress_view *v)
{
	if (!p->live)
		return;
	stb_buf_clear(&p->line);
	stb_buf_adds(&p->line, "\r");
	/* the last column is left free: a full line wraps on some terminals */
	stb_progress_line(&p->line, v, terminal_columns(p->out) - 1);
	stb_buf_adds(&p->line, "\033[K");
	fwrite(stb_buf_str(&p->line), 1, p->line.len, p->out);
	fflush(p->out);
	p->drawn = true;
}

void stb_progress_clear(struct stb_progress *p)
{
	if (!p->drawn)
		return;
	fputs("\r\033[K", p->out);
	fflush(p->out);
	p->drawn = false;
}

void stb_progress_say(struct stb_progress *p, const char *fmt, ...)
{
	va_list ap;

	stb_progress_clear(p);
	va_start(ap, fmt);
	vfprintf(p->out, fmt, ap);
	va_end(ap);
	fputc('\n', p->out);
	fflush(p->out);
}
