/*
 * meet.c - see meet.h.
 *
 * Waiting is sleeping for a moment and looking again: it happens some times a repetition and never while something is measured, and the parent
 * opens a line some time ahead, so that whoever waits for it sleeps to the instant itself. A futex in shared memory would have to be left by a
 * member that is killed.
 */
#include "runtime/result/meet.h"

#include "runtime/base/clock.h"

#define LOOK_NS 1000000u

void stb_meet_reach(struct stb_phase *phase, enum stb_line line)
{
	atomic_store(&phase->meet.reached, (uint32_t)line + 1);
}

uint64_t stb_meet_opens(const struct stb_phase *phase, enum stb_line line)
{
	return phase->meet.used ? atomic_load(&phase->meet.open_ns[line]) : stb_clock_ns();
}

uint64_t stb_meet_wait(struct stb_phase *phase, enum stb_line line)
{
	stb_meet_reach(phase, line);
	for (;;) {
		const uint64_t opens = stb_meet_opens(phase, line), now = stb_clock_ns();

		if (atomic_load(&phase->stop))
			return 0;
		if (opens && now >= opens)
			return opens;
		(void)stb_clock_sleep_until(opens && opens - now < LOOK_NS ? opens : now + LOOK_NS);
	}
}
