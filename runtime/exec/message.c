/*
 * message.c - how the world's refusals and the run's figures read on a terminal.
 */
#include "runtime/exec/message.h"

#include <string.h>

void stb_exec_print_error(const struct stb_plan *p, const struct stb_err *err, FILE *out)
{
	fprintf(out, "stb: error: %s\n", err->what);
	if (p && err->span && err->span - 1 < p->n_spans) {
		struct stb_arena a;

		stb_arena_init(&a);
		fprintf(out, "  asked for at %s\n", stb_plan_where(&a, p, err->span - 1));
		stb_arena_fini(&a);
	}
	if (*err->remedy)
		fprintf(out, "  what to do: %s\n", err->remedy);
}

void stb_exec_print_notes(const struct stb_results *r, FILE *out)
{
	for (size_t i = 0; i < r->n_notes; i++)
		fprintf(out, "stb: warning: %s\n", r->notes[i]);
}

void stb_text_bytes(struct stb_buf *out, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < STB_LEN(units)) {
		v /= 1024;
		u++;
	}
	stb_buf_printf(out, u && v < 100 ? "%.1f%s" : "%.0f%s", v, units[u]);
}

void stb_text_duration(struct stb_buf *out, uint64_t ns)
{
	const uint64_t s = ns / 1000000000u;

	if (ns < 10000000000u)
		stb_buf_printf(out, "%.1fs", (double)ns / 1e9);
	else if (s < 60)
		stb_buf_printf(out, "%us", (unsigned)s);
	else if (s < 3600)
		stb_buf_printf(out, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else
		stb_buf_printf(out, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
}

void stb_text_figure(struct stb_buf *out, double v)
{
	if (v >= 1e6)
		stb_buf_printf(out, "%.2fM", v / 1e6);
	else if (v >= 10e3)
		stb_buf_printf(out, "%.1fk", v / 1e3);
	else
		stb_buf_printf(out, v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : "%.2f", v);
}

void stb_text_latency(struct stb_buf *out, double ms)
{
	if (ms >= 999.5)
		stb_buf_printf(out, "%.2f s", ms / 1e3);
	else if (ms >= 0.9995)
		stb_buf_printf(out, "%.3g ms", ms);
	else if (ms >= 0.0009995)
		stb_buf_printf(out, "%.3g us", ms * 1e3);
	else
		stb_buf_printf(out, "%.0f ns", ms * 1e6);
}
