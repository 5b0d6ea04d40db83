/*
 * number.c - figures as text, in and out.
 *
 * Everything goes through the digits that printf("%e") gives: they are correctly rounded, and only the decimal point between them depends on
 * the locale, which is skipped. Rounding for display works on those decimal digits and not on the binary value (see number.h).
 */
#include "runtime/result/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 17, SETTLED_DIGITS = 15, MAX_DECIMALS = 20, MAX_TEXT = 400 };

/* value = 0.DIGITS x 10^point, DIGITS without trailing zeros; zero has no digits. */
struct decimal {
	bool negative;
	char digit[MAX_DIGITS + 1];
	int n;
	int point;
};

static void decompose(double v, int significant, struct decimal *d)
{
	char text[64];
	const char *p = text;

	memset(d, 0, sizeof(*d));
	if (v == 0)
		return;
	snprintf(text, sizeof(text), "%.*e", significant - 1, fabs(v));
	d->negative = v < 0;
	for (; *p && *p != 'e'; p++) {
		if (*p >= '0' && *p <= '9')
			d->digit[d->n++] = *p;
	}
	d->point = (int)strtol(p + (*p == 'e'), NULL, 10) + 1;
	while (d->n && d->digit[d->n - 1] == '0')
		d->n--;
	d->digit[d->n] = '\0';
}

static double read_c(const char *text)
{
	/* The "C" locale object is a constant of the library: nothing is allocated, nothing needs freeing. */
	return strtod_l(text, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static double compose(const struct decimal *d)
{
	char text[64];

	if (!d->n)
		return 0;
	snprintf(text, sizeof(text), "%s0.%se%d", d->negative ? "-" : "", d->digit, d->point);
	return read_c(text);
}

bool stb_number_parse(const char *s, size_t len, double *out)
{
	static const char digits[] = "0123456789";
	char text[MAX_TEXT + 1];
	const char *p = text;
	size_t n;
	double v;

	if (!len || len > MAX_TEXT || memchr(s, '\0', len))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	p += *p == '-' || *p == '+';
	n = strspn(p, digits);
	if (!n)
		return false;
	p += n;
	if (*p == '.') {
		n = strspn(++p, digits);
		if (!n)
			return false;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '-' || *p == '+';
		n = strspn(p, digits);
		if (!n)
			return false;
		p += n;
	}
	if (*p)
		return false;
	v = read_c(text);
	if (!isfinite(v))
		return false;
	*out = v;
	return true;
}

void stb_number_shortest(struct stb_buf *out, double v)
{
	struct decimal d;

	STB_ASSERT(isfinite(v));
	for (int significant = SETTLED_DIGITS; significant <= MAX_DIGITS; significant++) {
		decompose(v, significant, &d);
		if (compose(&d) == v)
			break;
	}
	if (!d.n) {
		stb_buf_addc(out, '0');
		return;
	}
	if (d.negative)
		stb_buf_addc(out, '-');
	if (d.point < -5 || d.point > 20) {
		stb_buf_addc(out, d.digit[0]);
		if (d.n > 1)
			stb_buf_printf(out, ".%s", d.digit + 1);
		stb_buf_printf(out, "e%d", d.point - 1);
	} else if (d.point <= 0) {
		stb_buf_adds(out, "0.");
		stb_buf_fill(out, '0', (size_t)-d.point);
		stb_buf_adds(out, d.digit);
	} else if (d.point >= d.n) {
		stb_buf_adds(out, d.digit);
		stb_buf_fill(out, '0', (size_t)(d.point - d.n));
	} else {
		stb_buf_add(out, d.digit, (size_t)d.point);
		stb_buf_printf(out, ".%s", d.digit + d.point);
	}
}

/* Keeps `keep` digits (may be 0 or less), half away from zero. */
static void round_digits(struct decimal *d, int keep)
{
	bool up;
	int i;

	if (keep >= d->n)
		return;
	up = keep >= 0 && d->digit[keep] >= '5';
	d->n = keep > 0 ? keep : 0;
	for (i = d->n - 1; up && i >= 0; i--) {
		up = d->digit[i] == '9';
		d->digit[i] = up ? '0' : (char)(d->digit[i] + 1);
	}
	if (up) { /* 9.99 -> 10.0: all kept digits are zeros now */
		memmove(d->digit + 1, d->digit, (size_t)d->n);
		d->digit[0] = '1';
		d->n++;
		d->point++;
	}
	while (d->n && d->digit[d->n - 1] == '0')
		d->n--;
	d->digit[d->n] = '\0';
}

static char digit_at(const struct decimal *d, int i)
{
	return i >= 0 && i < d->n ? d->digit[i] : '0';
}

void stb_number_fixed(struct stb_buf *out, double v, int decimals)
{
	struct decimal d;

	STB_ASSERT(isfinite(v));
	decimals = STB_MIN(STB_MAX(decimals, 0), (int)MAX_DECIMALS);
	/* Counts and bytes beyond 10^15 keep what digits they have. */
	decompose(v, fabs(v) < 1e15 ? SETTLED_DIGITS : MAX_DIGITS, &d);
	round_digits(&d, d.point + decimals);
	if (d.negative && d.n)
		stb_buf_addc(out, '-');
	if (d.point <= 0 || !d.n)
		stb_buf_addc(out, '0');
	else
		for (int i = 0; i < d.point; i++)
			stb_buf_addc(out, digit_at(&d, i));
	if (!decimals)
		return;
	stb_buf_addc(out, '.');
	for (int i = 0; i < decimals; i++)
		stb_buf_addc(out, d.n ? digit_at(&d, d.point + i) : '0');
}

double stb_number_settle(double v)
{
	struct decimal d;

	if (!isfinite(v))
		return v;
	decompose(v, SETTLED_DIGITS, &d);
	return compose(&d);
}
