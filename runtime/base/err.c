/*
 * err.c - puts error texts together in the caller's storage; text that is too long is cut between two characters.
 */
#include "runtime/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void stb_err_clear(struct stb_err *e)
{
	e->code = 0;
	e->set = false;
	e->span = 0;
	e->what[0] = '\0';
	e->remedy[0] = '\0';
}

/* Drops a UTF-8 sequence that a cut left unfinished at the end. */
static void trim_partial(char *s)
{
	const size_t len = strlen(s);
	size_t i = len, need;
	unsigned char lead;

	while (i && len - i < 3 && ((unsigned char)s[i - 1] & 0xC0) == 0x80)
		i--;
	if (!i)
		return;
	lead = (unsigned char)s[i - 1];
	need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	if (need > 1 && len - (i - 1) < need)
		s[i - 1] = '\0';
}

STB_PRINTF(2, 0) static void format(char out[STB_ERR_TEXT], const char *fmt, va_list ap)
{
	if (vsnprintf(out, STB_ERR_TEXT, fmt, ap) >= STB_ERR_TEXT)
		trim_partial(out);
}

int stb_err_set(struct stb_err *e, int code, const char *fmt, ...)
{
	char text[STB_ERR_TEXT], reason[128] = "";
	va_list ap;

	va_start(ap, fmt);
	format(text, fmt, ap);
	va_end(ap);
	if (code)
		snprintf(reason, sizeof(reason), ": %s", strerrordesc_np(code) ? strerrordesc_np(code) : "unknown error");
	if (strlen(text) + strlen(reason) >= STB_ERR_TEXT) {
		text[STB_ERR_TEXT - 1 - strlen(reason)] = '\0';
		trim_partial(text);
	}
	e->code = code;
	e->set = true;
	e->span = 0;
	e->remedy[0] = '\0';
	memcpy(e->what, text, strlen(text) + 1);
	memcpy(e->what + strlen(text), reason, strlen(reason) + 1);
	return -1;
}

int stb_err_wrap(struct stb_err *e, const char *fmt, ...)
{
	char context[STB_ERR_TEXT], old[STB_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	format(context, fmt, ap);
	va_end(ap);
	memcpy(old, e->what, sizeof(old));
	if (snprintf(e->what, sizeof(e->what), "%s: %s", context, old) >= (int)sizeof(e->what))
		trim_partial(e->what);
	e->set = true;
	return -1;
}

void stb_err_remedy(struct stb_err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format(e->remedy, fmt, ap);
	va_end(ap);
}
