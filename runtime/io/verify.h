/*
 * verify.h - reading back what a worker has written, after the measured window.
 */
#ifndef STB_IO_VERIFY_H
#define STB_IO_VERIFY_H

#include "runtime/io/loop.h"

/*
 * Syncs, drops the page cache, reads every block that was written and compares. Counts in w->verified and w->mismatches; the first mismatch, or what
 * kept it from reading, is in w->err. Progress goes to the phase; a stop of the parent ends it early. 0, or -1 with w->err.
 */
STB_NODISCARD int stb_io_verify(struct stb_io_worker *w, struct stb_phase *phase);

#endif
