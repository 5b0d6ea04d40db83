/*
 * view.c - how a figure of a view is written: 68.00%, +8.41%, 2.49x. The one place that decides on signs and suffixes.
 */
#include "runtime/report/figure.h"
#include "runtime/result/number.h"

#include <math.h>

static void with_sign(struct stb_buf *out, double x, int decimals)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_number_fixed(&b, x, decimals);
	if (stb_buf_str(&b)[0] != '-')
		stb_buf_addc(out, '+');
	stb_buf_adds(out, stb_buf_str(&b));
	stb_buf_fini(&b);
}

void stb_view_format_figure(struct stb_buf *out, enum stb_view view, double figure, int decimals)
{
	switch (view) {
	case STB_VIEW_VALUE:
	case STB_VIEW_N:
		stb_number_fixed(out, figure, decimals);
		return;
	case STB_VIEW_PERCENT:
	case STB_VIEW_RANGE:
	case STB_VIEW_CI:
		stb_number_fixed(out, figure, decimals);
		stb_buf_addc(out, '%');
		return;
	case STB_VIEW_CHANGE:
	case STB_VIEW_IMPROVEMENT:
		with_sign(out, figure, decimals);
		stb_buf_addc(out, '%');
		return;
	case STB_VIEW_RATIO:
		stb_number_fixed(out, figure, decimals);
		stb_buf_addc(out, 'x');
		return;
	}
	STB_BUG("unknown view");
}

int stb_view_decimals(enum stb_view view, double figure, int decimals)
{
	enum { MOST = 15 };

	switch (view) {
	case STB_VIEW_PERCENT:
	case STB_VIEW_RANGE:
	case STB_VIEW_RATIO:
	case STB_VIEW_CI:
		break;
	case STB_VIEW_VALUE:
	case STB_VIEW_CHANGE:
	case STB_VIEW_IMPROVEMENT:
	case STB_VIEW_N:
		return decimals;
	}
	figure = fabs(figure);
	if (figure == 0 || figure * pow(10, decimals) >= 0.5)
		return decimals;
	while (decimals < MOST && figure * pow(10, decimals) < 9.5)
		decimals++;
	return decimals;
}

void stb_view_format(struct stb_buf *out, enum stb_view view, double v, double b, enum stb_direction dir, int decimals)
{
	double x = v;

	if (stb_view_is_relative(view) && stb_relative(view, dir, v, b, &x)) {
		stb_buf_adds(out, "n/a");
		return;
	}
	stb_view_format_figure(out, view, x, decimals);
}
