/*
 * number.h - figures as text: one strict way in, two ways out. Never depends on the locale.
 */
#ifndef STB_NUMBER_H
#define STB_NUMBER_H

#include "runtime/base/buf.h"

/* All of the len bytes are digits with an optional sign, fraction and exponent: no blanks, hex, inf or nan; and the value is finite. */
bool stb_number_parse(const char *s, size_t len, double *out);
/* The shortest decimal text that reads back as the same double ("92000", "292.6", "0.1"). v is finite. */
void stb_number_shortest(struct stb_buf *out, double v);
/*
 * v at `decimals` digits after the point (0..20), ties away from zero. What is rounded is v at 15 significant digits, which is what people
 * computed by hand: 2485 / 1000 is a tie and gives 2.49, although the double nearest to it lies below. v is finite; there is no -0.
 */
void stb_number_fixed(struct stb_buf *out, double v, int decimals);
/* v without the noise of its last bits: at 15 significant digits, as stb_number_fixed() takes it. */
double stb_number_settle(double v);

#endif
