/*
 * hists.h - the histograms that a run directory holds beside its rows. Inside runtime/result only.
 */
#ifndef STB_HISTS_H
#define STB_HISTS_H

#include "runtime/result/result.h"

/* Those of rows [from, n_rows), which were read from the directory. 0, or -1 with *err. */
STB_NODISCARD int stb_results_read_hists(struct stb_results *r, const char *dir, size_t from, struct stb_err *err);

#endif
