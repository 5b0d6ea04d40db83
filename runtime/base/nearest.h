/* nearest.h - what somebody may have meant who wrote a word that is not known. Pure. */
#ifndef STB_NEAREST_H
#define STB_NEAREST_H

#include "runtime/base/base.h"

/* The nearest of n candidates to a word, or NULL when none is near (edit distance scaled by length; `-` is `_`). */
const char *stb_nearest(const char *word, const char *const *candidates, size_t n);

#endif
