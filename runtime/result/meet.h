/*
 * meet.h - a workload at the lines of its mix: enum stb_line. Alone every line is open. Called in the child, by its main thread.
 */
#ifndef STB_MEET_H
#define STB_MEET_H

#include "runtime/result/measure.h"

/* Says that a line was reached, and with it those before. */
void stb_meet_reach(struct stb_phase *phase, enum stb_line line);
/* When the line opens or opened; 0: that is not known yet. Alone: now. */
uint64_t stb_meet_opens(const struct stb_phase *phase, enum stb_line line);
/* Reaches the line and sleeps until it opens. When that was, which is now or a moment ago; 0: the parent said stop. */
uint64_t stb_meet_wait(struct stb_phase *phase, enum stb_line line);

#endif
