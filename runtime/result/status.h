/*
 * status.h - what a row of results.csv may say of itself: the one table of statuses, data only, known to reports and reference alike.
 */
#ifndef STB_STATUS_H
#define STB_STATUS_H

/* X(symbol, text in results.csv, valid in relative figures, meaning) */
#define STB_STATUSES(X)                                                                                               \
	X(OK, "ok", 1, "Ended as asked.") \
	X(ENDED_BY_SIZE, "ended_by_size", 1, "An io repetition that went through its size before its runtime was over, where time_based goes on; or one of a mix in which a workload did all of its size or events while others went on for more than 5% of the time.") \
	X(EARLY, "invalid:early", 0, "Stopped before 95% of the asked time.") \
	X(ERRORS, "invalid:errors", 0, "The workload met an error, or more of them than error_limit; what was counted until then is kept.") \
	X(RATE, "invalid:rate", 0, "The asked rate was not met within rate_tolerance.") \
	X(NOT_STEADY, "invalid:not_steady", 0, "Nothing was steady within the limit of steady_state; it was measured all the same.") \
	X(STALLED, "invalid:stalled", 0, "Beyond its time, no counter moved, or nothing completed at all.") \
	X(DISTURBED, "invalid:disturbed", 0, "Something else ended it: a server that died or never started, a process that was killed, a volume that could not be had.") \
	X(FALLBACK, "invalid:fallback", 0, "Measured in another way than asked: semi-synchronous replication was off, a commit went unacknowledged, or a loop device went through the page cache.")

enum stb_status {
#define STB_X(sym, text, valid, meaning) STB_STATUS_##sym,
	STB_STATUSES(STB_X)
#undef STB_X
};

#endif
